// What people see at a terminal: colours where they are wanted, times of the exchange, and the name they meant.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { runBacktest } from '../../src/broker/run.ts'
import { diagnosticLines } from '../../src/cli/diagnostics-text.ts'
import { inkFor, PLAIN } from '../../src/cli/ink.ts'
import { reportLines } from '../../src/cli/report-text.ts'
import { formatTime, right, tableLines } from '../../src/cli/table.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { chartroom, temporaryFolder, withInput } from './run.ts'

const COLOURED = inkFor(true, {})
const bare = (text: string) => Bun.stripANSI(text)

test('a terminal gets colours unless it is asked not to, and nothing else does', () => {
  expect(COLOURED.bad('no')).toBe('\x1b[31mno\x1b[39m')
  expect(COLOURED.good('')).toBe('')
  expect(inkFor(true, { NO_COLOR: '' }).bad('no')).toBe('\x1b[31mno\x1b[39m')
  for (const plain of [inkFor(false, {}), inkFor(true, { NO_COLOR: '1' }), inkFor(true, { TERM: 'dumb' })])
    expect(plain).toBe(PLAIN)
})

test('a coloured table stands as straight as a bare one', () => {
  const columns = ['Name', right('Profit')]
  const rows = (ink: typeof PLAIN) => [
    ['a', ink.good('1,000')],
    ['longer', ink.bad('-5')],
  ]
  const coloured = tableLines(columns, rows(COLOURED), COLOURED)
  expect(coloured.map(bare)).toEqual(tableLines(columns, rows(PLAIN)))
  expect(coloured.join('')).toContain('\x1b[31m-5')
})

test('a diagnostic is the same text in colour', () => {
  const place = { line: 1, column: 1, endLine: 1, endColumn: 4 }
  const diagnostic = {
    ...place,
    severity: 'error' as const,
    code: 'CE1',
    message: 'No such name.',
    hint: null,
  }
  const lines = diagnosticLines('a.pine', 'foo()', [diagnostic], COLOURED)
  expect(lines.map(bare)).toEqual(diagnosticLines('a.pine', 'foo()', [diagnostic]))
  expect(lines[0]).toContain('\x1b[31merror:')
  expect(lines[2]).toContain('\x1b[31m^^^')
})

test('times are of the zone, over a change of its clocks too', () => {
  const summer = Date.UTC(2024, 6, 1, 13, 30)
  const winter = Date.UTC(2024, 0, 2, 14, 30)
  for (const time of [summer, winter])
    expect(formatTime(time, { zone: 'America/New_York' }).slice(11)).toBe('09:30')
  expect(formatTime(summer)).toBe('2024-07-01 13:30')
  expect(formatTime(Date.UTC(2024, 0, 1, 20), { zone: 'UTC+8', date: true })).toBe('2024-01-02')
})

test('a report says its times in the zone it is given, and wins and losses in their colours', () => {
  const length = 6
  const close = Float64Array.of(10, 12, 11, 9, 9, 9)
  const time = Float64Array.from({ length }, (_, i) => Date.UTC(2024, 0, 2 + i, 14, 30))
  const bars = { length, time, open: close, high: close, low: close, close, volume: close }
  const source = `//@version=6
strategy("S")
if bar_index == 0 or bar_index == 2
    strategy.entry("In" + str.tostring(bar_index), strategy.long)
if bar_index == 1 or bar_index == 3
    strategy.close_all()
`
  const { report } = runBacktest({
    source,
    bars,
    symbol: defaultSymbol('TEST', 'COIN'),
    interval: '1d',
    inputs: {},
    limits: DEFAULT_LIMITS,
    series: () => null,
  })
  const lines = reportLines(report, { ink: COLOURED, tries: [], zone: 'America/New_York' })
  expect(bare(lines.join('\n'))).toContain('Time (America/New_York)')
  const trades = lines.filter((line) => /In[02]/.test(line))
  expect(trades.map((line) => line.includes('\x1b[31m-'))).toEqual([true, false])
  expect(bare(trades[0] ?? '')).toContain('2024-01-03 09:30')
})

test('backtest tells times of the exchange, with --utc those of UTC', async () => {
  const folder = temporaryFolder()
  const rows = [10, 12, 11].map(
    (close, i) => `${Date.UTC(2024, 0, 2 + i, 14, 30)},${close},${close},${close},${close},1`,
  )
  writeFileSync(`${folder}/bars.csv`, ['time,open,high,low,close,volume', ...rows].join('\n'))
  writeFileSync(`${folder}/facts.json`, '{"timezone": "America/New_York"}')
  const source =
    '//@version=6\nstrategy("S", default_qty_type = strategy.fixed, default_qty_value = 1)\nif bar_index == 0\n    strategy.entry("In", strategy.long)\n'
  const flags = ['--bars', `${folder}/bars.csv`, '--syminfo', `${folder}/facts.json`]
  const shown = async (...more: string[]) =>
    (await withInput(source, folder, 'backtest', '-', ...flags, ...more)).out
  expect(await shown()).toMatch(/Time \(America\/New_York\)[\s\S]*2024-01-03 09:30/)
  expect(await shown('--utc')).toMatch(/Time \(UTC\)[\s\S]*2024-01-03 14:30/)
})

test.each([
  [['bactest'], 'There is no command "bactest". Did you mean backtest?'],
  [['bars', 'lsit'], 'There is no "bars lsit". Did you mean list?'],
  [['bars', 'constructor'], 'There is no "bars constructor".'],
  [['bars'], 'Say what: bars list, '],
  [['bars', 'list', '--data-dri', 'x'], 'There is no flag --data-dri here. Did you mean --data-dir?'],
  [['serve', '--data', '/srv'], 'There is no flag --data here. Did you mean --data-dir?'],
  [['serve', '--data-dir'], '--data-dir wants a value: --data-dir VALUE.'],
  [['serve', '--data-dir', '--port', '1'], '--data-dir wants a value: --data-dir VALUE.'],
  [['serve', '--new-key=1'], '--new-key takes no value.'],
  [['serve', 'port'], 'but "port" does. Did you mean --port?'],
  [['check', '--qqqqqqqq'], 'There is no flag --qqqqqqqq here.\n'],
] as const)('%p is answered with the name that was meant', async (args, words) => {
  const { code, err } = await chartroom(temporaryFolder(), ...args)
  expect([code, err]).toEqual([2, expect.stringContaining(words)])
})
