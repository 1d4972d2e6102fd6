// The page that says how exact the engine is.

import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCase } from '../../src/cli/parity/case.ts'
import { probeCases } from '../../src/cli/parity/probes.ts'
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
          { suite: 's', id: 'mtf-htf-60-close-roll-01', exact: 1, total: 2, first: 'trade 2', ms: 1 },
          { suite: 's', id: 'within', exact: 1, total: 3, first: 'trade 3', reason: 'has no minutes', ms: 1 },
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
  expect(board).toContain('| a source | 5 | 1,008 | 0.496 % | 1 of 4 |')
  expect(board).toContain('| scripts | 2 | 3 | 66.667 % | 2 |')
  expect(board).toContain('| TradingView/ta | 3 | 2 |')
  expect(board).toContain('facts: 2 of 3, by source.')
  expect(board).toContain('| A | 1 | 2 |')
  expect(board).toContain('- `fails`: x on bar 1.')
  expect(board).toContain('- 1 at `undeclared-name`')
  expect(board).toContain('`mtf-htf-60-close-roll-01` (1 of 2): its list begins three weeks after')
  expect(board).toContain('`within` (1 of 3): has no minutes.')
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

test('a probe runs with the inputs of its inputs.json, and is held against the list that it names', () => {
  const clone = mkdtempSync(join(tmpdir(), 'probes-'))
  const write = (file: string, text: string) => {
    mkdirSync(join(clone, file, '..'), { recursive: true })
    writeFileSync(join(clone, file), text)
  }
  const start = Date.UTC(2024, 0, 1)
  const rows = Array.from(
    { length: 200 },
    (_, i) => `${start + i * 900_000},${[0, 0, 0, 0].map(() => 100 + i).join()},1`,
  )
  write('data/bars.csv', `time,open,high,low,close,volume\n${rows.join('\n')}\n`)
  // Bought at the open of the bar after, in the exports' hours, and sold two bars later.
  const list = (bar: number) => {
    const at = (i: number) =>
      new Date(start + i * 900_000 + 8 * 3_600_000).toISOString().slice(0, 16).replace('T', ' ')
    const row = (kind: string, i: number) => `1,${kind} long,${at(i)},,${100 + i},1,2`
    const head = 'Trade #,Type,Date/Time,Signal,Price USDT,Contracts,Profit USDT'
    return `${head}\n${row('Exit', bar + 3)}\n${row('Entry', bar + 1)}\n`
  }
  const source = `//@version=5
strategy("s", default_qty_value = 1)
at = input.int(10, "At bar")
if bar_index == at
    strategy.entry("L", strategy.long)
if bar_index == at + 2
    strategy.close("L")
`
  const probe = (name: string, file: string, bar: number, said: object | null) => {
    write(`validation/${name}/strategy.pine`, source)
    write(`validation/${name}/${file}`, list(bar))
    if (said) write(`validation/${name}/inputs.json`, JSON.stringify(said))
  }
  probe('a-own', 'tv_trades.csv', 10, null)
  probe('b-set', 'tv_trades.csv', 50, { 'At bar': 50, _comment: 'no input' })
  probe('c-named', 'trades-90.csv', 90, { 'At bar': 90, tv_trades_csv: 'trades-90.csv' })
  const found = probeCases(clone).map((one) => [one.id, runCase(one).first])
  expect(found).toEqual([
    ['a-own', null],
    ['b-set', null],
    ['c-named', null],
  ])
  rmSync(clone, { recursive: true })
})

test('a probe of the bar magnifier or of a lower timeframe has the bars of one minute that a corpus brings', () => {
  const clone = mkdtempSync(join(tmpdir(), 'probes-'))
  const write = (file: string, text: string) => {
    mkdirSync(join(clone, file, '..'), { recursive: true })
    writeFileSync(join(clone, file), text)
  }
  const start = Date.UTC(2024, 0, 1)
  const barsOf = (ms: number, count: number, prices: (i: number) => string) =>
    `time,open,high,low,close,volume\n${Array.from({ length: count }, (_, i) => `${start + i * ms},${prices(i)},1`).join('\n')}\n`
  // Each quarter of an hour falls to its low at once and then rises, which its open, next to its high, does not tell.
  write(
    'data/quarters.csv',
    barsOf(900_000, 20, () => '105,110,90,100'),
  )
  write(
    'data/minutes.csv',
    barsOf(60_000, 300, (i) => (i % 15 < 2 ? '105,105,90,90' : '90,110,90,100')),
  )
  const list = (entry: number, exit: number, price: number) => {
    const at = (i: number) =>
      new Date(start + i * 900_000 + 8 * 3_600_000).toISOString().slice(0, 16).replace('T', ' ')
    const head = 'Trade #,Type,Date/Time,Signal,Price USDT,Contracts,Profit USDT'
    return `${head}\n1,Exit long,${at(exit)},,${price},1,2\n1,Entry long,${at(entry)},,105,1,2\n`
  }
  const orders = `if bar_index == 3
    strategy.entry("L", strategy.long)
    strategy.exit("X", "L", stop = 95, limit = 108)
`
  const header = (magnified: boolean) =>
    `//@version=5\nstrategy("s", default_qty_value = 1, use_bar_magnifier = ${magnified})\n`
  write('validation/a-assumed/strategy.pine', header(false) + orders)
  write('validation/a-assumed/tv_trades.csv', list(4, 4, 108))
  write('validation/b-magnified/strategy.pine', header(true) + orders)
  write('validation/b-magnified/tv_trades.csv', list(4, 4, 95))
  const minutes = 'request.security_lower_tf(syminfo.tickerid, "1", low)'
  write(
    'validation/c-minutes/strategy.pine',
    `${header(false)}lows = ${minutes}
if bar_index == 3 and array.size(lows) == 15
    strategy.entry("L", strategy.long)
if bar_index == 5
    strategy.close("L")
`,
  )
  write('validation/c-minutes/tv_trades.csv', list(4, 6, 105))
  expect(probeCases(clone).map((one) => [one.id, runCase(one).first])).toEqual([
    ['a-assumed', null],
    ['b-magnified', null],
    ['c-minutes', null],
  ])
  rmSync(join(clone, 'data/minutes.csv'))
  const why = 'reads bars of a minute, which this copy of the corpus does not have'
  expect(probeCases(clone).map((one) => runCase(one).reason)).toEqual([undefined, why, why])
  rmSync(clone, { recursive: true })
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
  expect(withTable(readme, board.replace('371,933', '371,934'))).not.toBe(readme)
  expect(withTable(readme, board.replace(/, 20\d\d-\d\d-\d\d,/, ', 2031-01-01,'))).toContain('of 2031-01-01')
})
