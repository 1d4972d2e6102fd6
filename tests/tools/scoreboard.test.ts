// The page that says how exact the engine is.

import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clonesIn, compileAll } from '../../src/tools/scoreboard/corpus.ts'
import { SOURCES } from '../../src/tools/scoreboard/sources.ts'
import { boardOf, withTable } from '../../src/tools/scoreboard.ts'

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
  put(
    'import.pine',
    '//@version=6\nindicator("x")\nimport TradingView/ta/7 as tv\nplot(tv.rma2(close, 3.0))\n',
  )
  put('other.pine', '//@version=6\nindicator("x")\nimport nobody/Lib/1 as n\nplot(n.x())\n')
  put('equal.pine', '//@version=6\nindicator("x")\na = array.from(1)\nplot(a == a ? 1 : 0)\n')
  expect(compileAll(folder)).toEqual({
    scripts: 8,
    compile: 3,
    foreign: 2,
    stops: new Map([
      ['undeclared-name', 1],
      ['library-not-found', 1],
      ['compares-objects (CE10123)', 1],
    ]),
    libraries: new Map([
      ['nobody/Lib', [1, 0]],
      ['TradingView/ta', [1, 1]],
    ]),
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
        compiled: {
          scripts: 5,
          compile: 2,
          foreign: 2,
          stops: new Map([['undeclared-name', 1]]),
          libraries: new Map([['TradingView/ta', [3, 2] as const]]),
        },
      },
      {
        kind: 'facts',
        results: [
          { suite: 'facts: A', id: 'holds', exact: 1, total: 1, first: null, ms: 1 },
          { suite: 'facts: A', id: 'fails', exact: 0, total: 1, first: 'x on bar 1', ms: 1 },
          { suite: 'facts: B', id: 'holds too', exact: 1, total: 1, first: null, ms: 1 },
        ],
      },
    ],
    '1.2.3',
    '2026-01-01',
  )
  expect(board).toContain('Chartroom 1.2.3, 2026-01-01,')
  expect(board).toContain('| a source | 4 | 1,005 | 0.398 % | 1 of 3 |')
  expect(board).toContain('| scripts | 2 | 3 | 66.667 % | 2 |')
  expect(board).toContain('| TradingView/ta | 3 | 2 |')
  expect(board).toContain('facts: 2 of 3, by source.')
  expect(board).toContain('| A | 1 | 2 |')
  expect(board).toContain('- `fails`: x on bar 1.')
  expect(board).toContain('- 1 at `undeclared-name`')
  expect(board).toContain('`ltf-numeric-float-ratio15-01` (1 of 2): reads 1-minute bars')
  expect(board).toContain('`other` (0 of 1,000): no reason is known; trade 1: missing.')
  expect(board).toMatch(/mihakralj\/pinescript .*not measured this time/)
})

test('clones are known by their origin, else by what is in them, whatever they are called', () => {
  const corpora = mkdtempSync(join(tmpdir(), 'corpora-'))
  const make = (name: string, ...files: readonly string[]) => {
    for (const file of files) {
      mkdirSync(join(corpora, name, file, '..'), { recursive: true })
      writeFileSync(join(corpora, name, file), '[remote "origin"]\n\turl = https://github.com/Some/one.git\n')
    }
  }
  make('a', '.git/config', 'x.pine')
  make('b', 'validation/anomaly-equity-mirror-strategy-equity-01/strategy.pine', 'data/bars.csv')
  make('c', '40in1.md')
  make('d', 'nothing.txt')
  const found = (dir: string) => clonesIn(dir).map(({ name, what }) => `${name} ${what}`)
  // The order does not hang on names of folders, and what is no clone is left out.
  expect(found(corpora)).toEqual([
    'pineforge-4pass/pineforge-corpus trades',
    'Alorse/pinescript-strategies scripts',
    'Some/one scripts',
  ])
  expect(found(join(corpora, 'b'))).toEqual(['pineforge-4pass/pineforge-corpus trades'])
  expect(found(join(corpora, 'a'))).toEqual(['Some/one scripts'])
  expect(found(join(corpora, 'd'))).toEqual(['d scripts'])
  expect(new Set(SOURCES.map(({ knownBy }) => knownBy)).size).toBe(SOURCES.length)
  rmSync(corpora, { recursive: true })
})

const textOf = (file: string) => readFileSync(`${import.meta.dir}/../../${file}`, 'utf8')

test('the board that is kept names a reason for every difference', () => {
  const board = textOf('tests/parity/SCOREBOARD.md')
  expect(board).toContain('## Differences, by name')
  expect(board).not.toContain('no reason is known')
  expect(board).not.toContain('not measured this time')
})

test('the table of the README is that of the board', () => {
  const board = textOf('tests/parity/SCOREBOARD.md')
  const readme = textOf('README.md')
  expect(withTable(readme, board)).toBe(readme)
  expect(withTable(readme, board.replace('370,492', '370,493'))).not.toBe(readme)
  expect(withTable(readme, board.replace(/, 20\d\d-\d\d-\d\d,/, ', 2031-01-01,'))).toContain('of 2031-01-01')
})
