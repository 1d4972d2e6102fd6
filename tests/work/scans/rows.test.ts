// Rows of a scan, chosen and put in order by names, and the markets it looks at.

import { describe, expect, test } from 'bun:test'
import type { Problem } from '../../../src/lib/problem.ts'
import { BarCache } from '../../../src/market/bar-cache.ts'
import { emptyBars } from '../../../src/market/bars.ts'
import { namedMarket, Markets } from '../../../src/work/scans/markets.ts'
import type { Scan } from '../../../src/work/scans/records.ts'
import { choosing, csvHead, csvLine, type Choosing } from '../../../src/work/scans/rows.ts'
import { ReportSummary } from '../../../src/wire/report.ts'
import type { ScanRow } from '../../../src/wire/scan.ts'
import { testBars } from '../../store/test-store.ts'

const scanOf = (kind: Scan['kind'], more: Partial<Scan> = {}) =>
  ({
    values: ['Average', 'close'],
    conditions: [
      { title: 'Up', holds: 0 },
      { title: 'Two words', holds: 0 },
    ],
    kind,
    ...more,
  }) as unknown as Scan

const row = (symbol: string, more: Partial<ScanRow> = {}): ScanRow => ({
  exchange: 'X',
  symbol,
  bars: 5,
  time: 0,
  close: 10,
  change: 0.5,
  values: [1, 100],
  holds: [],
  summary: null,
  position: null,
  error: null,
  ...more,
})

const INDICATOR = scanOf('indicator')
function chosen(rows: readonly ScanRow[], by: Choosing, scan = INDICATOR): string[] {
  const { holds, compare } = choosing(scan, by)
  const found = rows.filter(holds)
  return (compare ? found.toSorted(compare) : found).map(({ symbol }) => symbol)
}

describe('rows', () => {
  const rows = [
    row('B', { values: [2, 7], holds: [0] }),
    row('A', { values: [null, 9], holds: [1] }),
    row('C', { values: [3, 8], holds: [0, 1], bars: 9, time: 5, change: null }),
    row('D', { values: [], error: { code: 'bars_not_found', message: 'No bars.' }, close: null }),
  ]
  test('are all there, in the order of the scan, where nothing is asked for', () => {
    expect(chosen(rows, {})).toEqual(['B', 'A', 'C', 'D'])
    expect(choosing(INDICATOR, {}).compare).toBeNull()
  })
  test('stand by texts from A, by numbers from the greatest, and the other way round when asked', () => {
    expect(chosen(rows, { sort: 'symbol' })).toEqual(['A', 'B', 'C', 'D'])
    expect(chosen(rows, { sort: 'symbol', order: 'desc' })).toEqual(['D', 'C', 'B', 'A'])
    expect(chosen(rows, { sort: 'bars', where: 'Average > 1' })[0]).toBe('C')
    // What has no value comes last either way, in the order it came.
    expect(chosen(rows, { sort: 'Average' })).toEqual(['C', 'B', 'A', 'D'])
    expect(chosen(rows, { sort: 'Average', order: 'asc' })).toEqual(['B', 'C', 'A', 'D'])
    expect(chosen(rows, { sort: 'exchange' })).toEqual(['B', 'A', 'C', 'D'])
    expect(chosen(rows, { sort: 'time' })[0]).toBe('C')
    expect(chosen(rows, { sort: 'change' }).at(-1)).toBe('C')
    // A condition that holds is more than one that does not; of a market that failed nothing is known.
    expect(chosen(rows, { sort: 'Up' })).toEqual(['B', 'C', 'A', 'D'])
    expect(chosen(rows, { sort: 'Up', order: 'asc' })).toEqual(['A', 'B', 'C', 'D'])
  })
  test('are read by the script’s own names before the fields that every row has', () => {
    expect(chosen(rows, { where: 'close > 7' })).toEqual(['A', 'C'])
    expect(chosen(rows, { where: 'close > 7' }, scanOf('indicator', { values: ['Average'] }))).toEqual([
      'B',
      'A',
      'C',
    ])
    expect(chosen(rows, { where: 'Up and not "Two words"' })).toEqual(['B'])
    expect(chosen(rows, { where: 'Average > 0' })).toEqual(['B', 'C'])
  })
  test('of a strategy have its position and the head of its report', () => {
    const summary = { netProfit: 5 } as unknown as NonNullable<ScanRow['summary']>
    const held = [row('A', { summary, position: -1 }), row('B', { position: 2 })]
    const strategy = scanOf('strategy')
    expect(chosen(held, { where: 'position < 0' }, strategy)).toEqual(['A'])
    expect(chosen(held, { where: 'netProfit > 4' }, strategy)).toEqual(['A'])
    expect(chosen(held, { sort: 'netProfit', order: 'asc' }, strategy)).toEqual(['A', 'B'])
  })

  function refusal(by: Choosing, scan = INDICATOR) {
    try {
      choosing(scan, by)
      return null
    } catch (error) {
      const { status, details } = error as Problem
      return [
        status,
        ...(details.fields ?? []).map((one) => `${one.in} ${one.path} ${one.code}: ${one.message}`),
      ]
    }
  }
  test('cannot be asked for by a name that nothing has, which is told with those there are', () => {
    const names = 'Average, close, Up, "Two words", symbol, exchange, close, change, time, bars'
    expect(refusal({ sort: 'netProfit' })).toEqual([
      422,
      `query /sort unknown_name: Nothing is called "netProfit" here. There are: ${names}.`,
    ])
    expect(refusal({ where: 'position > 1' })?.[1]).toStartWith(
      'query /where unknown_name: Nothing is called "position" here.',
    )
    expect(refusal({ sort: 'x' }, scanOf('strategy'))?.[1]).toContain(
      `${names}, position, ${Object.keys(ReportSummary.properties).join(', ')}.`,
    )
    expect(refusal({ where: 'close >' })?.[1]).toStartWith('query /where expression: At character 8: ')
    // Before the script has run its names are unknown, so that any may be one.
    expect(refusal({ sort: 'x', where: 'netProfit > 1' }, scanOf(null))).toBeNull()
  })

  test('as a table have a cell for every name, guarded against formulas', () => {
    expect(csvHead(INDICATOR)).toBe('exchange,symbol,bars,time,close,change,Average,close,Up,Two words,error')
    expect(csvLine(INDICATOR, rows[1]!)).toBe('X,A,5,1970-01-01T00:00:00.000Z,10,0.5,,9,false,true,')
    expect(csvLine(INDICATOR, { ...rows[3]!, symbol: '=D', time: null, change: null })).toBe(
      "X,'=D,5,,,,,,,,No bars.",
    )
    const figures = Object.keys(ReportSummary.properties)
    expect(
      csvHead(scanOf('strategy'))
        .split(',')
        .slice(-figures.length - 2),
    ).toEqual(['position', ...figures, 'error'])
    const summary = Object.fromEntries(figures.map((name, i) => [name, i])) as unknown as NonNullable<
      ScanRow['summary']
    >
    expect(
      csvLine(scanOf('strategy'), row('S', { summary, position: 3 }))
        .split(',')
        .slice(10),
    ).toEqual(['3', ...figures.map((_, i) => String(i)), ''])
    expect(csvLine(scanOf('strategy'), row('S')).split(',').slice(10)).toEqual([
      '',
      ...figures.map(() => ''),
      '',
    ])
  })
})

describe('a market', () => {
  test('is named with its exchange in front, beside it, or not at all', () => {
    expect(namedMarket({ symbol: 'nasdaq: aapl ' })).toEqual({ exchange: 'NASDAQ', symbol: 'AAPL' })
    expect(namedMarket({ symbol: 'aapl', exchange: ' nasdaq' })).toEqual({
      exchange: 'NASDAQ',
      symbol: 'AAPL',
    })
    expect(namedMarket({ symbol: 'a:b', exchange: 'x' })).toEqual({ exchange: 'X', symbol: 'A:B' })
    expect(namedMarket({ symbol: 'a:b', exchange: '' })).toEqual({ exchange: 'A', symbol: 'B' })
    expect(namedMarket({ symbol: 'aapl' })).toEqual({ exchange: '', symbol: 'AAPL' })
  })

  async function cached() {
    const cache = new BarCache(testBars())
    const put = async (exchange: string, symbol: string, interval: string, owner?: string) => {
      const bars = emptyBars(4)
      for (let i = 0; i < 4; i++) bars.time[i] = Date.UTC(2026, 0, 1) + i * 3_600_000
      for (const field of ['open', 'high', 'low', 'close'] as const)
        bars[field].fill(interval === '1h' ? 1 : 2)
      await cache.upsert({ ...(owner !== undefined && { owner }), exchange, symbol, interval }, bars)
    }
    await put('X', 'A', '1h')
    await put('X', 'A', '4h')
    await put('Y', 'A', '1h')
    await put('X', 'W', '1d')
    await put('Z', 'OWN', '1h', 'ann')
    return cache
  }
  const names = (markets: readonly { exchange: string; symbol: string }[]) =>
    markets.map(({ exchange, symbol }) => `${exchange}:${symbol}`)

  test('is looked at once where its bars are of the interval or can be put together to it', async () => {
    const cache = await cached()
    expect(names((await Markets.seenBy(cache, 'bob', '4h')).all).toSorted()).toEqual(['X:A', 'Y:A'])
    expect(names((await Markets.seenBy(cache, 'bob', '1d')).all).toSorted()).toEqual(['X:A', 'X:W', 'Y:A'])
    expect(names((await Markets.seenBy(cache, 'ann', '1h')).all).toSorted()).toEqual(['X:A', 'Y:A', 'Z:OWN'])
    expect(Markets.byName(cache, 'ann', '1h').all).toEqual([])
  })
  test('without an exchange is every one of the symbol, each once, and one that nobody has stays as it was named', async () => {
    const markets = await Markets.seenBy(await cached(), 'bob', '1h')
    const named = (...list: string[]) => names(markets.named(list.map((symbol) => namedMarket({ symbol }))))
    expect(named('A', 'Y:A', 'B', 'X:W')).toEqual(['X:A', 'Y:A', ':B', 'X:W'])
    expect(named('Y:A', 'Y:A')).toEqual(['Y:A'])
  })
  test('is read from its own bars where they are stored, else from finer ones; an unknown one has none', async () => {
    const cache = await cached()
    const markets = await Markets.seenBy(cache, 'ann', '4h')
    const read = async (name: string, last: number, from = markets) => {
      const { bars } = await from.read(namedMarket({ symbol: name }), last)
      return [bars.length, bars.close[0], bars.close.buffer instanceof SharedArrayBuffer]
    }
    expect(await read('X:A', 2)).toEqual([2, 2, true])
    expect((await read('Y:A', 2)).slice(0, 2)).toEqual([1, 1])
    expect((await read('Z:OWN', 9)).slice(0, 2)).toEqual([1, 1])
    expect((await read('N:ONE', 9)).slice(0, 2)).toEqual([0, undefined])
    expect((await read('Z:OWN', 9, await Markets.seenBy(cache, 'bob', '4h')))[0]).toBe(0)
    expect((await read('X:A', 3, Markets.byName(cache, 'bob', '4h'))).slice(0, 2)).toEqual([3, 2])
  })
})
