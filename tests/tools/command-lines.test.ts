// What the tools say of themselves, and of arguments that are none of theirs.

import { describe, expect, test } from 'bun:test'
import process from 'node:process'

const tools = `${import.meta.dir}/../../src/tools`

async function run(tool: string, ...args: string[]) {
  const child = Bun.spawn([process.execPath, `${tools}/${tool}.ts`, ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

describe.each([
  ['torture', '--only A,B', '--rounds', 'x'],
  ['mutate', '--count N', 'nowhere', ''],
  ['incremental', '--bars N', '/nowhere', ''],
  ['bench', 'engine', 'nothing', ''],
  ['build', '--outfile PATH', '--target', '--outfile'],
])('%s', (tool, option, ...wrong) => {
  test('--help shows its options', async () => {
    const { code, out, err } = await run(tool, '--help')
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(option)
  })
  test.each([[['--nothing-of-the-kind']], [wrong.filter((text) => text !== '')]])(
    'answers %j with a sentence and the options',
    async (args) => {
      const { code, out, err } = await run(tool, ...args)
      expect([code, out]).toEqual([2, ''])
      expect(err).toContain(option)
      expect(err).not.toMatch(/^\s+at |\.ts:\d/m)
    },
  )
})
