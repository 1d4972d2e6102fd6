// The smoke test that a release is put through on each machine, here against what was built, and with `TEST_LONG=1` against an
// executable for arm64 in an emulator, where Debian's `qemu-user-static` and `libstdc++6-arm64-cross` are.

import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isLong } from '../long.ts'
import { executable, isMissing } from './server.ts'

const tools = `${import.meta.dir}/../../src/tools`
const folder = mkdtempSync(`${tmpdir()}/chartroom-smoke-test-`)
afterAll(() => rmSync(folder, { recursive: true }))

async function run(...args: string[]) {
  const child = Bun.spawn([process.execPath, ...args], { stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, out, err }
}

test.skipIf(isMissing('executable'))(
  'the executable answers all that the contract promises',
  async () => {
    const { code, out, err } = await run(`${tools}/smoke.ts`, executable)
    expect([code, err]).toEqual([0, ''])
    expect(out.match(/^ok +(?:GET|POST|DELETE) \/api\//gm)).toHaveLength(22)
    expect(out).toContain('a signed backtest.reportReady')
  },
  60_000,
)

test('what is no executable of ours fails in a sentence', async () => {
  const { code, err } = await run(`${tools}/smoke.ts`, process.execPath)
  expect(code).toBe(1)
  expect(err).toMatch(/^FAILED \S+: assertion failed: --version .*\n/)
})

const emulator = Bun.which('qemu-aarch64-static')
const libraries = '/usr/aarch64-linux-gnu'
const isEmulated =
  process.arch === 'x64' && emulator !== null && existsSync(`${libraries}/lib/libstdc++.so.6`)

if (isLong)
  test.skipIf(!isEmulated)(
    'one that is built here for arm64 does so, too',
    async () => {
      const outfile = `${folder}/chartroom`
      const built = await run(`${tools}/build.ts`, '--target', 'linux-arm64', '--outfile', outfile)
      expect([built.code, built.out]).toEqual([0, expect.stringContaining('for bun-linux-arm64')])
      const through = `${emulator} -L ${libraries}`
      expect(await run(`${tools}/smoke.ts`, outfile, '--through', through)).toMatchObject({
        code: 0,
        err: '',
      })
    },
    300_000,
  )
