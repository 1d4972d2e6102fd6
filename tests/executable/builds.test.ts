// The executable is made wherever the source lies, and is the same one. `TEST_LONG=1` makes two, which takes its time.

import { expect, test } from 'bun:test'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { builtExecutable } from './built.ts'

const root = resolve(import.meta.dir, '../..')
/** What a tarball of the source has that the build is made of. */
const SOURCE = [
  'src',
  'data/indicators',
  'data/samples',
  'package.json',
  'bun.lock',
  'bunfig.toml',
  'tsconfig.json',
  'NOTICE',
  'LICENSE',
  '.npmrc',
]
const isBuilt = existsSync(builtExecutable)

test.skipIf(!isBuilt)('it names no folder of the machine that it was built on', () => {
  expect(readFileSync(builtExecutable).includes(root)).toBe(false)
})

test.skipIf(!isBuilt)('it has at most 128 MB, and no stretch of zeros that the system could make', () => {
  const file = readFileSync(builtExecutable)
  expect(file.length).toBeLessThanOrEqual(128_000_000)
  expect(file.includes(Buffer.alloc(500_000))).toBe(false)
})

if (process.env['TEST_LONG'] === '1')
  test('two builds at once, of a source that is only read, below `build`, blanks and Cyrillic, without git, are the same', async () => {
    const above = mkdtempSync(`${tmpdir()}/chartroom-`)
    const folder = `${above}/сборка a build/chart room`
    const ran = async (...command: string[]) => {
      const child = Bun.spawn(command, { cwd: folder, stdout: 'pipe', stderr: 'pipe' })
      const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
      expect([command, await child.exited, err]).toEqual([command, 0, ''])
      return out
    }
    try {
      mkdirSync(folder, { recursive: true })
      for (const part of SOURCE) cpSync(`${root}/${part}`, `${folder}/${part}`, { recursive: true })
      await ran(process.execPath, 'install', '--frozen-lockfile', '--silent')
      const parts = [...new Bun.Glob('{src,data}/**').scanSync({ cwd: folder, onlyFiles: false }), '.']
      for (const part of parts) chmodSync(`${folder}/${part}`, 0o555)
      const outfiles = ['one', 'other'].map((name) => `${above}/${name}/chartroom`)
      const built = outfiles.map((outfile) =>
        ran(process.execPath, 'src/tools/build.ts', '--outfile', outfile),
      )
      await Promise.all(built)
      const [one, other] = outfiles.map((outfile) => readFileSync(outfile))
      expect(one!.equals(other!)).toBe(true)
      if (isBuilt) expect(one!.equals(readFileSync(builtExecutable))).toBe(true)
      expect(await ran(outfiles[0]!, '--version')).toStartWith('chartroom ')
    } finally {
      if (existsSync(folder)) chmodSync(folder, 0o755)
      rmSync(above, { recursive: true, force: true })
    }
  }, 600_000)
