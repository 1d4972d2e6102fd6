// `UPDATE=1 bun test`: what came out takes the place of what was expected, and nothing else changes.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'

const folder = mkdtempSync(`${tmpdir()}/chartroom-update-`)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const FILE = `import { test } from 'bun:test'
import { expectList, expectText } from '${import.meta.dir}/../expected.ts'
const check = (input: string, expected: string) =>
  expectText(import.meta.path, input, input.toUpperCase(), expected)
test('texts', () => {
  // nobody's apostrophe
  const name = \`\${1} 'a\`
  check('as it is', 'AS IT IS')
  check('a "b"\\n[c\\'', 'old')
  check("second", \`old\`)
})
const ROWS = [
  { rule: 'one: [odd', trades: ['x ] y'], positions: [1, 2] },
  { rule: 'two', trades: ['kept'], positions: [0] },
]
for (const { rule, trades, positions } of ROWS)
  test(rule, () => {
    expectList(import.meta.path, rule, 'trades', rule === 'two' ? ['kept'] : ["it's", 'new'], trades)
    expectList(import.meta.path, rule, 'positions', rule === 'two' ? [0] : [], positions)
  })
`

async function run(update: string): Promise<number> {
  const env = { ...process.env, UPDATE: update }
  return Bun.spawn([process.execPath, 'test', `${folder}/a.test.ts`], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'ignore'],
  }).exited
}

test('wrong sides fail, are written, and pass', async () => {
  writeFileSync(`${folder}/a.test.ts`, FILE)
  expect(await run('')).not.toBe(0)
  expect(readFileSync(`${folder}/a.test.ts`, 'utf8')).toBe(FILE)
  expect(await run('1')).toBe(0)
  expect(readFileSync(`${folder}/a.test.ts`, 'utf8')).toBe(
    FILE.replace(`[c\\'', 'old')`, `[c\\'', 'A "B"\\n[C\\'')`)
      .replace('`old`', `'SECOND'`)
      .replace(`['x ] y'], positions: [1, 2]`, `['it\\'s', 'new'], positions: []`),
  )
  expect(await run('')).toBe(0)
})
