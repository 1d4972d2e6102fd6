// The page that says how exact the engine is.

import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileAll } from '../../src/tools/scoreboard/corpus.ts'
import { boardOf } from '../../src/tools/scoreboard.ts'

const folder = mkdtempSync(join(tmpdir(), 'corpus-'))
afterAll(() => rmSync(folder, { recursive: true }))

const GOOD = '//@version=6\nindicator("x")\nplot(close)\n'

test('a corpus is compiled, each text once, and what stops a script is counted', () => {
  mkdirSync(join(folder, 'inner'))
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text)
  put('good.pine', GOOD)
  put('inner/again.pine', GOOD)
  put('page.md', `# A script\n\n\`\`\`pinescript\n/*backtest\nstart: x\n*/\n${GOOD}plot(open)\n\`\`\`\n`)
  put('bad.txt', '//@version=5\nindicator("x")\nplot(cloze)\n')
  put('piece.pine', '//@version=5\nx = close\n')
  put('orders.pine', '//@version=5\nindicator("x")\nstrategy.entry("a", strategy.long)\n')
  put('notes.txt', 'This is no script.')
  expect(compileAll(folder)).toEqual({
    scripts: 5,
    compile: 2,
    foreign: 2,
    stops: new Map([['undeclared-name', 1]]),
  })
})

test('a difference has a reason, or is said to have none', () => {
  const board = boardOf(
    [
      {
        kind: 'cases',
        name: 'a source',
        results: [
          { suite: 's', id: 'fine', exact: 3, total: 3, first: null, ms: 1 },
          { suite: 's', id: 'ltf-numeric-float-ratio15-01', exact: 1, total: 2, first: 'trade 2', ms: 1 },
          { suite: 's', id: 'other', exact: 0, total: 1000, first: 'trade 1: missing', ms: 1 },
        ],
      },
      {
        kind: 'scripts',
        name: 'scripts',
        compiled: { scripts: 5, compile: 2, foreign: 2, stops: new Map([['undeclared-name', 1]]) },
      },
      {
        kind: 'facts',
        results: [
          { suite: 'facts: A', id: 'holds', exact: 1, total: 1, first: null, ms: 1 },
          { suite: 'facts: A', id: 'fails', exact: 0, total: 1, first: 'x on bar 1', ms: 1 },
          { suite: 'facts: B', id: 'holds too', exact: 1, total: 1, first: null, ms: 1 },
        ],
      },
      { kind: 'absent', source: { repository: 'mihakralj/pinescript', what: 'scripts', licence: 'MIT' } },
    ],
    '1.2.3',
    '2026-01-01',
  )
  expect(board).toContain('Chartroom 1.2.3, 2026-01-01.')
  expect(board).toContain('| a source | 4 | 1,005 | 0.398 % | 1 of 3 |')
  expect(board).toContain('| scripts | 2 | 3 | 66.667 % | 2 |')
  expect(board).toContain('2 of 3 hold.')
  expect(board).toContain('| A | 1 | 2 |')
  expect(board).toContain('- `fails`: x on bar 1.')
  expect(board).toContain('- 1 at `undeclared-name`')
  expect(board).toContain('`ltf-numeric-float-ratio15-01` (1 of 2): reads 1-minute bars')
  expect(board).toContain('`other` (0 of 1,000): no reason is known; trade 1: missing.')
  expect(board).toMatch(/mihakralj\/pinescript .*not measured this time/)
})

test('the board that is kept names a reason for every difference', () => {
  const board = readFileSync(`${import.meta.dir}/../parity/SCOREBOARD.md`, 'utf8')
  expect(board).toContain('## Differences, by name')
  expect(board).not.toContain('no reason is known')
})
