// Manifests: what anybody brings to hold the engine against TradingView's numbers of their own.

import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureParity } from '../../src/cli/parity.ts'

const folder = mkdtempSync(join(tmpdir(), 'manifest-'))
afterAll(() => rmSync(folder, { recursive: true }))

const HOUR = 3_600_000
const START = Date.UTC(2024, 0, 1)
const put = (name: string, text: string) => writeFileSync(join(folder, name), text)

// Bar n opens at 100 + n and closes one higher; an order is filled at the next open.
const bars = Array.from({ length: 10 }, (_, n) => [START + n * HOUR, 100 + n, 102 + n, 99 + n, 101 + n, 5])
put('bars.csv', ['time,open,high,low,close,volume', ...bars].join('\n'))
const LONG = `//@version=6
strategy("s")
amount = input.int(1, "Amount")
if bar_index == 2
    strategy.entry("in", strategy.long, qty = amount)
if bar_index == 5
    strategy.close("in")
plot(close * 2, "twice")`
put('long.pine', LONG)
const HEAD = 'Trade #,Type,Date/Time,Signal,Price USD,Quantity,Net P&L USD'
const list = (quantity: number, exit = 106) =>
  [
    HEAD,
    `1,Exit long,2024-01-01 06:00,Close entry(s) order in,${exit},${quantity},${quantity * (exit - 103)}`,
    `1,Entry long,2024-01-01 03:00,in,103,${quantity},${quantity * (exit - 103)}`,
  ].join('\n')
put('list.csv', list(1))
put('list-of-three.csv', list(3))
put('wrong.csv', list(1, 107))
put('empty.csv', HEAD)
put('values.csv', ['time,twice', ...bars.map(([time], n) => `${time},${2 * (101 + n)}`)].join('\n'))

const CASE = {
  id: 'one',
  script: 'long.pine',
  bars: 'bars.csv',
  interval: '1h',
  symbol: { symbol: 'X:ABC' },
  trades: 'list.csv',
  zone: 'UTC',
}
const MANIFEST = { origin: 'made here', licence: 'Apache-2.0' }

/** What the command prints, and whether all was exact. */
function measure(manifest: unknown): { lines: string[]; whole: boolean } {
  put('manifest.json', typeof manifest === 'string' ? manifest : JSON.stringify(manifest))
  const lines: string[] = []
  const whole = measureParity(join(folder, 'manifest.json'), {}, (line) => lines.push(line))
  return { lines, whole }
}
const one = (fields: object) => measure({ ...MANIFEST, cases: [{ ...CASE, ...fields }] })

describe('a manifest', () => {
  test('names a script, bars and the trades that TradingView made of them', () => {
    expect(one({})).toEqual({
      lines: ['✓ manifest/one 1/1', 'manifest: 1 of 1 exact (100.000 %), 1 of 1 cases wholly'],
      whole: true,
    })
  })

  test('says of a trade that differs where and how', () => {
    const { lines, whole } = one({ trades: 'wrong.csv' })
    expect(whole).toBe(false)
    expect(lines[0]).toBe(
      '✗ manifest/one 0/1 · trade 1 (bar 3, 2024-01-01T03:00:00.000Z): exitPrice 107 expected, 106 found; profit 4 expected, 3 found',
    )
  })

  test('counts the fields that it names, and no others', () => {
    expect(one({ trades: 'wrong.csv', fields: ['side', 'entryTime', 'entryPrice'] }).whole).toBe(true)
  })

  test('runs with inputs and settings of its own', () => {
    expect(one({ trades: 'list-of-three.csv' }).whole).toBe(false)
    expect(one({ trades: 'list-of-three.csv', inputs: { Amount: 3 } }).whole).toBe(true)
    expect(one({ overrides: { process_orders_on_close: true } }).whole).toBe(false)
  })

  test('runs as of the day of its export; where it says none, of before TradingView changed its defaults', () => {
    put('unsized.pine', LONG.replace(', qty = amount', ''))
    expect(one({ script: 'unsized.pine' }).whole).toBe(true)
    expect(one({ script: 'unsized.pine', asOf: '2026-09-23' }).whole).toBe(true)
    expect(one({ script: 'unsized.pine', asOf: '2026-09-24' }).whole).toBe(false)
    expect(() => one({ asOf: '2020-01-01' })).toThrow('one: asOf: How TradingView behaved before')
  })

  test('runs on the bars of its window alone', () => {
    // Without the first bar everything happens an hour later.
    expect(one({ window: { from: '2024-01-01T01:00:00Z' } }).lines[0]).toContain('missing')
  })

  test('judges the trades of a stretch', () => {
    expect(one({ judged: { to: '2024-01-01T06:00:00Z' } }).whole).toBe(true)
    expect(one({ judged: { to: '2024-01-01T05:00:00Z' } }).lines[0]).toContain('missing')
  })

  test('names values a bar instead', () => {
    const { trades: _, ...rest } = CASE
    const { lines } = measure({ ...MANIFEST, cases: [{ ...rest, values: 'values.csv' }] })
    expect(lines[0]).toBe('✓ manifest/one 10/10')
  })

  test('counts no case that expects nothing, and says so', () => {
    const cases = [CASE, { ...CASE, id: 'none', trades: 'empty.csv' }]
    expect(measure({ ...MANIFEST, cases }).lines).toEqual([
      '– none: its list has no closed trade; it does not count',
      '✓ manifest/one 1/1',
      'manifest: 1 of 1 exact (100.000 %), 1 of 1 cases wholly',
    ])
  })

  test('brings other series that a script asks for', () => {
    put('other.pine', '//@version=6\nindicator("o")\nplot(request.security("X:OTHER", "60", close), "other")')
    put(
      'other.csv',
      ['time,open,high,low,close,volume', ...bars.map(([time], n) => `${time},1,1,1,${n},1`)].join('\n'),
    )
    put('other-values.csv', ['time,other', ...bars.map(([time], n) => `${time},${n}`)].join('\n'))
    const { trades: _, ...rest } = CASE
    const feeds = [{ symbol: { symbol: 'X:OTHER' }, interval: '1h', bars: 'other.csv' }]
    const asked = { ...rest, script: 'other.pine', values: 'other-values.csv', feeds }
    expect(measure({ ...MANIFEST, cases: [asked] }).whole).toBe(true)
    expect(measure({ ...MANIFEST, cases: [{ ...asked, feeds: [] }] }).whole).toBe(false)
  })

  test.each([
    ['no JSON', '{', 'The manifest is no JSON'],
    ['no cases', { ...MANIFEST, cases: [] }, '/cases'],
    [
      'a field that it does not know',
      { ...MANIFEST, cases: [{ ...CASE, intervall: '1h' }] },
      '/cases/0/intervall',
    ],
    ['no origin', { licence: 'MIT', cases: [CASE] }, 'cases/0 (one): say its origin'],
    ['no licence', { origin: 'here', cases: [CASE] }, 'cases/0 (one): say its licence'],
    ['a file that is missing', { ...MANIFEST, cases: [{ ...CASE, bars: 'gone.csv' }] }, 'no file gone.csv'],
    [
      'trades and values',
      { ...MANIFEST, cases: [{ ...CASE, values: 'values.csv' }] },
      'either `trades` or `values`',
    ],
    [
      'a date that is none',
      { ...MANIFEST, cases: [{ ...CASE, window: { from: 'May' } }] },
      'May is no ISO 8601',
    ],
  ])('with %s is refused, naming it', (_what, manifest, said) => {
    expect(() => measure(manifest)).toThrow(said)
  })
})
