// The parity runner: bars and Pine text in, TradingView's own numbers expected.
//
//     bun src/tools/parity.ts DIR [--only A,B] [--jsonl]
//
// DIR is a folder in our own layout (lists.json, micro.json, ta.json, other.json) or in that of a repository of probes
// (validation/<name>/{strategy.pine,tv_trades.csv} and data/*.csv). Every case says how many of its trades or values
// are exact, and the first that is not.

import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Papa from 'papaparse'
import { compareTrades, type ComparedField } from '../backtest/compare.ts'
import type { ReportTrade } from '../wire/report.ts'
import { openBacktest, type BacktestRequest } from '../backtest/run.ts'
import { parseTradeList, type ExportedTrade } from '../backtest/trade-csv.ts'
import { emptyBars, lowerBound, sliceBars, type Bars } from '../market/bars.ts'
import { calendarOf } from '../market/calendar.ts'
import { normalizeInterval, parseInterval } from '../market/interval.ts'
import { resample } from '../market/resample.ts'
import type { SymbolInfo, SymbolType } from '../market/symbol.ts'
import { Problem } from '../lib/problem.ts'
import { DEFAULT_LIMITS } from '../pine/runtime/runtime.ts'

export interface ParityCase {
  readonly suite: string
  readonly id: string
  readonly request: BacktestRequest
  /** Compares what ran with what is expected. */
  check(ran: Ran): Verdict
}

export interface Ran {
  readonly trades: readonly ReportTrade[]
  readonly plots: ReadonlyMap<string, Float64Array>
  readonly positions: readonly number[]
}

export interface Verdict {
  readonly exact: number
  readonly total: number
  /** The first divergence in words; null = none. */
  readonly first: string | null
}

export interface ParityResult extends Verdict {
  readonly suite: string
  readonly id: string
  readonly ms: number
}

const DAY = 86_400_000

/** All cases of a folder, in either layout. */
export function parityCases(dir: string, only: readonly string[] = []): ParityCase[] {
  const cases = existsSync(join(dir, 'validation'))
    ? probeCases(dir)
    : [...listCases(dir), ...microCases(dir), ...columnCases(dir, 'ta'), ...columnCases(dir, 'other')]
  return only.length === 0 ? cases : cases.filter((one) => only.some((name) => one.id.startsWith(name)))
}

export function runCase(one: ParityCase): ParityResult {
  const started = performance.now()
  const verdict = attempt(one)
  return { suite: one.suite, id: one.id, ...verdict, ms: performance.now() - started }
}

function attempt(one: ParityCase): Verdict {
  try {
    const backtest = openBacktest(one.request)
    const positions: number[] = []
    if (one.suite === 'micro' || one.id === 'slippage_pyramiding')
      for (let bar = 0; bar < backtest.bars.length; bar++) {
        backtest.advance(bar + 1)
        positions.push(backtest.broker.account.positionSize)
      }
    else backtest.advance(backtest.bars.length)
    const { report } = backtest.result()
    const plots = new Map<string, Float64Array>()
    for (const plot of backtest.run.plots) {
      const column = plot.columns['series'] ?? Object.values(plot.columns)[0]
      if (column) plots.set(plot.title, column)
    }
    return one.check({ trades: report.trades, plots, positions })
  } catch (error) {
    return { exact: 0, total: 1, first: failure(error) }
  }
}

function failure(error: unknown): string {
  if (error instanceof Problem) {
    const diagnostics = (error.details.diagnostics ?? []) as { line: number; code: string; message: string }[]
    const found = diagnostics.slice(0, 3).map((one) => `line ${one.line} ${one.code}: ${one.message}`)
    return [`${error.code}: ${error.message}`, ...found].join(' | ')
  }
  return error instanceof Error
    ? (error.stack ?? error.message).split('\n').slice(0, 4).join(' ')
    : String(error)
}

// ——— our own layout ———

interface SymbolFacts {
  readonly symbol?: string
  readonly prefix?: string
  readonly ticker?: string
  readonly type?: string
  readonly currency?: string
  readonly basecurrency?: string
  readonly mintick?: number
  readonly pricescale?: number
  readonly minmove?: number
  readonly pointvalue?: number
  readonly mincontract?: number
  readonly timezone?: string
  readonly session?: string
  readonly interval?: string
  readonly period?: string
  readonly volumetype?: string
}

function symbolOf(facts: SymbolFacts): SymbolInfo {
  const [prefix = '', ticker = ''] = (
    facts.symbol ?? `${facts.prefix ?? 'TEST'}:${facts.ticker ?? 'TEST'}`
  ).split(':')
  const mintick = facts.mintick ?? 0.01
  const minMove = facts.minmove ?? 1
  const session = facts.session ?? '24x7'
  return {
    exchange: facts.prefix ?? prefix,
    symbol: facts.ticker ?? ticker.split(' ')[0] ?? '',
    description: '',
    type: (facts.type ?? 'crypto') as SymbolType,
    currency: facts.currency ?? 'USD',
    baseCurrency: facts.basecurrency ?? '',
    mintick,
    priceScale: facts.pricescale ?? Math.round(minMove / mintick),
    minMove,
    pointValue: facts.pointvalue ?? 1,
    minQuantity: facts.mincontract ?? 1,
    timezone: facts.timezone ?? 'UTC',
    session: /1700|17:00/.test(session) && /Sun/.test(session) ? '1700-1700:23456' : session,
    volumeType: facts.volumetype ?? 'base',
  }
}

function requestFor(source: string, bars: Bars, symbol: SymbolInfo, timeframe: string): BacktestRequest {
  const interval = normalizeInterval(timeframe) ?? timeframe
  return {
    source,
    inputs: {},
    bars,
    symbol,
    interval,
    limits: { ...DEFAULT_LIMITS, timeMs: 600_000 },
    series: seriesFrom(bars, symbol, interval),
  }
}

/** Coarser bars of the same symbol are built from the chart's; nothing else is there. */
function seriesFrom(bars: Bars, symbol: SymbolInfo, interval: string): BacktestRequest['series'] {
  const built = new Map<string, Bars>()
  return (exchange, name, wanted) => {
    if (name !== symbol.symbol || (exchange !== '' && exchange !== symbol.exchange)) return null
    if (wanted === interval) return { bars, symbol, interval }
    const [from, to] = [parseInterval(interval), parseInterval(wanted)]
    if (!from || !to) return null
    let coarse = built.get(wanted)
    if (!coarse) {
      try {
        coarse = resample(bars, from, to, calendarOf(symbol))
      } catch {
        return null
      }
      built.set(wanted, coarse)
    }
    return { bars: coarse, symbol, interval: wanted }
  }
}

interface ListCase {
  readonly id: string
  readonly pine: string
  readonly bars: string
  readonly expected: string
  readonly expected_series?: string
  readonly syminfo: SymbolFacts
}

function listCases(dir: string): ParityCase[] {
  const file = join(dir, 'lists.json')
  if (!existsSync(file)) return []
  const { lists } = JSON.parse(readFileSync(file, 'utf8')) as { lists: readonly ListCase[] }
  return lists.map((list) => ({
    suite: 'lists',
    id: list.id,
    request: requestFor(
      readFileSync(join(dir, list.pine), 'utf8'),
      readBars(join(dir, list.bars)),
      symbolOf(list.syminfo),
      list.syminfo.interval ?? '60',
    ),
    check: ({ trades, positions }) => {
      const verdict = checkList(rowsOf(join(dir, list.expected)), trades)
      if (!list.expected_series || verdict.first !== null) return verdict
      const series = rowsOf(join(dir, 'lists/slippage_pyramiding_series.csv'))
      const wrong = series.findIndex(
        (row, i) => Math.abs(Number(row['position_size']) - (positions[i] ?? NaN)) > 1e-6,
      )
      return wrong < 0 ? verdict : { ...verdict, first: `position_size differs on bar ${wrong}` }
    },
  }))
}

type Row = Readonly<Record<string, string>>

function checkList(expected: readonly Row[], found: readonly ReportTrade[]): Verdict {
  const rows = expected.filter((row) => row['open'] !== '1')
  const trades = found.filter((trade) => trade.status === 'closed')
  let exact = 0
  let first: string | null = null
  for (let i = 0; i < Math.max(rows.length, trades.length); i++) {
    const difference = listDifference(rows[i], trades[i])
    if (difference === null) exact++
    else first ??= `trade ${i + 1}: ${difference}`
  }
  return { exact, total: rows.length, first }
}

function listDifference(row: Row | undefined, trade: ReportTrade | undefined): string | null {
  if (!row) return `extra trade at ${new Date(trade!.entryTime).toISOString()}`
  if (!trade) return 'missing'
  const number = (name: string) => Number(row[name])
  const say = (name: string, got: unknown) => `${name} ${row[name]} expected, ${String(got)} found`
  const near = (a: number, b: number, slack: number) => Math.abs(a - b) <= slack
  if (row['side'] !== trade.side) return say('side', trade.side)
  if (number('entry_time') !== trade.entryTime) return say('entry_time', trade.entryTime)
  if (number('exit_time') !== trade.exitTime) return say('exit_time', trade.exitTime)
  if (!near(number('entry_price'), trade.entryPrice, 1e-8)) return say('entry_price', trade.entryPrice)
  if (!near(number('exit_price'), trade.exitPrice, 1e-8)) return say('exit_price', trade.exitPrice)
  const entrySignal = trade.entryComment || trade.entryId
  if (row['entry_signal'] !== entrySignal) return say('entry_signal', entrySignal)
  const exitSignal = trade.exitComment || trade.exitId
  if (row['exit_signal'] !== exitSignal) return say('exit_signal', exitSignal)
  if (!near(number('qty'), trade.qty, 1e-6 * Math.max(1, number('qty')))) return say('qty', trade.qty)
  const digits = /\.(\d+)/.exec(row['profit'] ?? '')?.[1]?.length ?? 0
  if (!near(number('profit'), trade.profit, 0.51 * 10 ** -digits)) return say('profit', trade.profit)
  return null
}

interface MicroCase {
  readonly id: string
  readonly pine: string
  readonly syminfo: SymbolFacts
  readonly bars: readonly (readonly number[])[]
  readonly sub_bars: readonly (readonly number[])[] | null
  readonly expected: {
    readonly trades: readonly {
      readonly entry_id: string
      readonly entry_bar: number
      readonly entry_price: number
      readonly exit_id: string | null
      readonly exit_comment: string
      readonly exit_bar: number
      readonly exit_price: number
      readonly size: number
      readonly profit: number
      readonly commission: number
    }[]
    readonly position_size: readonly number[]
  }
}

function microCases(dir: string): ParityCase[] {
  const file = join(dir, 'micro.json')
  if (!existsSync(file)) return []
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly MicroCase[] }
  return cases.map((micro) => {
    const finer = micro.sub_bars && barsOf(micro.sub_bars)
    const symbol = symbolOf(micro.syminfo)
    const timeframe = micro.syminfo.period ?? '1'
    const interval = parseInterval(normalizeInterval(timeframe) ?? timeframe)
    const minute = parseInterval('1m')
    const bars =
      finer && interval && minute ? resample(finer, minute, interval, calendarOf(symbol)) : barsOf(micro.bars)
    return {
      suite: 'micro',
      id: micro.id,
      request: {
        ...requestFor(micro.pine, bars, symbol, timeframe),
        finer: finer && { bars: finer, interval: '1m' },
      },
      check: ({ trades, positions }) => checkMicro(micro, trades, positions),
    }
  })
}

function checkMicro(micro: MicroCase, found: readonly ReportTrade[], positions: readonly number[]): Verdict {
  const trades = found.filter((trade) => trade.status === 'closed')
  const wanted = micro.expected.trades
  const differences: string[] = []
  for (let i = 0; i < Math.max(wanted.length, trades.length); i++) {
    const [want, got] = [wanted[i], trades[i]]
    if (!want || !got) {
      differences.push(`trade ${i + 1}: ${want ? 'missing' : 'extra'}`)
      continue
    }
    const pairs: [string, number | string, number | string][] = [
      ['entry_id', want.entry_id, got.entryId],
      ['entry_bar', want.entry_bar, got.entryBar],
      ['entry_price', want.entry_price, got.entryPrice],
      ['exit_id', want.exit_id ?? got.exitId, got.exitId],
      ['exit_comment', want.exit_comment, got.exitComment ?? ''],
      ['exit_bar', want.exit_bar, got.exitBar],
      ['exit_price', want.exit_price, got.exitPrice],
      ['size', want.size, got.side === 'long' ? got.qty : -got.qty],
      ['profit', want.profit, got.profit],
      ['commission', want.commission, got.commission],
    ]
    for (const [name, a, b] of pairs)
      if (
        typeof a === 'number' && typeof b === 'number'
          ? !(Math.abs(a - b) <= 1e-8 * Math.max(1, Math.abs(a)))
          : a !== b
      )
        differences.push(`trade ${i + 1}: ${name} ${a} expected, ${b} found`)
  }
  const bar = micro.expected.position_size.findIndex(
    (size, i) => !(Math.abs(size - (positions[i] ?? NaN)) <= 1e-8 * Math.max(1, Math.abs(size))),
  )
  if (bar >= 0)
    differences.push(
      `position_size ${JSON.stringify(micro.expected.position_size)} expected, ${JSON.stringify(positions)} found`,
    )
  return { exact: differences.length === 0 ? 1 : 0, total: 1, first: differences[0] ?? null }
}

interface ColumnSpec {
  readonly tolerance?: { readonly rel?: number; readonly abs?: number }
}

interface ColumnCase {
  readonly file: string
  readonly pine: string
  readonly syminfo: SymbolFacts
  readonly columns: Readonly<Record<string, ColumnSpec>>
}

/** ta.json and other.json: a value a bar in each column. */
function columnCases(dir: string, suite: 'ta' | 'other'): ParityCase[] {
  const file = join(dir, `${suite}.json`)
  if (!existsSync(file)) return []
  const files = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, ColumnCase>>
  return Object.entries(files)
    .filter(([, one]) => typeof one === 'object' && 'pine' in one)
    .map(([id, one]) => ({
      suite,
      id,
      request: requestFor(
        readFileSync(join(dir, one.pine), 'utf8'),
        readBars(join(dir, one.file)),
        symbolOf(one.syminfo),
        one.syminfo.interval ?? '60',
      ),
      check: ({ plots }) => checkColumns(one, rowsOf(join(dir, one.file)), plots),
    }))
}

function checkColumns(
  one: ColumnCase,
  rows: readonly Row[],
  plots: ReadonlyMap<string, Float64Array>,
): Verdict {
  let exact = 0
  let total = 0
  let first: string | null = null
  for (const [name, { tolerance }] of Object.entries(one.columns)) {
    const column = plots.get(name)
    for (const [bar, row] of rows.entries()) {
      const text = row[name]
      if (text === undefined) continue
      total++
      const want = text === 'na' || text === '' || text === 'NaN' ? NaN : Number(text)
      const got = column?.[bar] ?? NaN
      const slack = Math.max(tolerance?.abs ?? 1e-8, (tolerance?.rel ?? 1e-8) * Math.abs(want))
      if (Number.isNaN(want) ? Number.isNaN(got) : Math.abs(want - got) <= slack) exact++
      else first ??= `${name} on bar ${bar}: ${text} expected, ${got} found`
    }
  }
  return { exact, total, first }
}

// ——— a repository of probes ———

/** Wall clock of the exports. */
const PROBE_ZONE = 'UTC+8'
const FIELDS: readonly ComparedField[] = ['side', 'entryTime', 'exitTime', 'entryPrice', 'exitPrice']

function probeCases(dir: string): ParityCase[] {
  const folder = join(dir, 'validation')
  const names = readdirSync(folder)
    .filter((name) => isProbe(join(folder, name)))
    .sort()
  const data = readdirSync(join(dir, 'data')).find((name) => name.endsWith('.csv'))
  if (!data) return []
  const all = readBars(join(dir, 'data', data))
  const lists = new Map(
    names.map((name) => [
      name,
      parseTradeList(readFileSync(join(folder, name, 'tv_trades.csv'), 'utf8')).trades,
    ]),
  )
  const windows = exportWindows([...lists.values()])
  const symbol: SymbolInfo = {
    exchange: 'BINANCE',
    symbol: 'ETHUSDT.P',
    description: 'ETHUSDT Perpetual',
    type: 'swap',
    currency: 'USDT',
    baseCurrency: 'ETH',
    mintick: 0.01,
    priceScale: 100,
    minMove: 1,
    pointValue: 1,
    minQuantity: 0.0001,
    timezone: 'UTC',
    session: '24x7',
    volumeType: 'base',
  }
  return names.map((name) => {
    const source = readFileSync(join(folder, name, 'strategy.pine'), 'utf8')
    const list = lists.get(name) ?? []
    const window = windowOf(list, windows)
    const bars = sliceBars(all, lowerBound(all.time, window.from), lowerBound(all.time, window.to + 1))
    // A list that begins weeks after its range and ends more than a week before it does was exported over a shorter
    // stretch of it: what traded outside of that stretch cannot be judged.
    const short =
      window.to === Infinity ||
      (firstDay(list) > window.from + 14 * DAY && lastTime(list) < window.to - 7 * DAY)
    const judged = (trade: ReportTrade) =>
      !short || (trade.entryTime >= firstDay(list) && trade.exitTime <= lastTime(list))
    // Sizes of a share of equity contain TradingView's USDT rate; fixed ones have to be equal.
    const sized = /default_qty_type\s*=\s*strategy\.(percent_of_equity|cash)/.test(source)
    return {
      suite: 'probes',
      id: name,
      request: requestFor(source, bars, symbol, '15'),
      check: ({ trades }) => {
        const fields = sized ? FIELDS : [...FIELDS, 'qty' as const]
        const comparison = compareTrades(list, trades.filter(judged), bars, {
          timezone: PROBE_ZONE,
          mintick: symbol.mintick,
          fields,
        })
        const { firstDivergence: first } = comparison
        return {
          exact: comparison.exact,
          total: Math.max(comparison.expected, comparison.found),
          first:
            first &&
            `trade ${first.n} (bar ${first.bar}, ${new Date(first.time).toISOString()}): ${first.differences
              .map((one) => `${one.field} ${one.expected} expected, ${one.found} found`)
              .join('; ')}`,
        }
      },
    }
  })
}

/** A folder whose script or list is empty holds nothing to measure. */
function isProbe(folder: string): boolean {
  return ['strategy.pine', 'tv_trades.csv'].every((name) => {
    const file = join(folder, name)
    return existsSync(file) && statSync(file).size > 0
  })
}

interface Window {
  readonly from: number
  readonly to: number
}

/**
 * The ranges the lists were exported over, which no file names. A list with a position still open ends where its range
 * does, so most ends are known, and a list belongs to the first end that is not before its last row. A range starts at
 * the UTC midnight before the earliest entry of its lists, and is a year long at least. TradingView's chart bars start
 * there too (a moving average over 152 bars is na for its first 152).
 */
function exportWindows(lists: readonly (readonly ExportedTrade[])[]): Window[] {
  const ends = [...new Set(lists.flat().flatMap((trade) => (trade.open ? [utc(trade.exit.wall)] : [])))]
  const windows = ends.sort((a, b) => a - b).map((to) => ({ from: Math.floor(to / DAY - 365) * DAY, to }))
  for (const list of lists) {
    const window = windows.find(({ to }) => to >= lastTime(list))
    if (window) window.from = Math.min(window.from, firstDay(list))
  }
  // Lists behind every known end: of one more range, whose end is not known.
  const rest = lists.filter((list) => !windows.some(({ to }) => to >= lastTime(list)))
  if (rest.length > 0) windows.push({ from: Math.min(...rest.map(firstDay)), to: Infinity })
  return windows
}

function windowOf(list: readonly ExportedTrade[], windows: readonly Window[]): Window {
  return windows.find(({ to }) => to >= lastTime(list)) ?? { from: 0, to: Infinity }
}

function firstDay(list: readonly ExportedTrade[]): number {
  return list.reduce((first, { entry }) => Math.min(first, Math.floor(utc(entry.wall) / DAY) * DAY), Infinity)
}

function lastTime(list: readonly ExportedTrade[]): number {
  return list.reduce((last, { exit }) => Math.max(last, utc(exit.wall)), 0)
}

function utc(wall: number): number {
  return wall - 8 * 3_600_000
}

// ——— files ———

function rowsOf(file: string): Row[] {
  return Papa.parse<Record<string, string>>(readFileSync(file, 'utf8').trim(), { header: true }).data
}

const loaded = new Map<string, Bars>()

function readBars(file: string): Bars {
  const known = loaded.get(file)
  if (known) return known
  const rows = Papa.parse<Record<string, string>>(readFileSync(file, 'utf8').trim(), { header: true }).data
  const bars = barsOf(
    rows.map((row) =>
      [
        row['time'] ?? row['timestamp'],
        row['open'],
        row['high'],
        row['low'],
        row['close'],
        row['volume'],
      ].map(Number),
    ),
  )
  loaded.set(file, bars)
  return bars
}

export function barsOf(rows: readonly (readonly number[])[]): Bars {
  const bars = emptyBars(rows.length)
  for (const [i, row] of rows.entries()) {
    bars.time[i] = row[0]!
    bars.open[i] = row[1]!
    bars.high[i] = row[2]!
    bars.low[i] = row[3]!
    bars.close[i] = row[4]!
    bars.volume[i] = row[5] ?? 0
  }
  return bars
}

/** The command: prints each case as it is done and a line a suite; true = all exact. */
export function parityCommand(args: readonly string[], print: (line: string) => void): boolean {
  const dir = args.find((arg) => !arg.startsWith('--')) ?? '../shared/parity'
  const onlyAt = args.indexOf('--only')
  const only = onlyAt >= 0 ? (args[onlyAt + 1] ?? '').split(',') : []
  const jsonl = args.includes('--jsonl')
  const suites = new Map<string, { exact: number; total: number; whole: number; cases: number }>()
  for (const one of parityCases(dir === only.join(',') ? '../shared/parity' : dir, only)) {
    const result = runCase(one)
    const sum = suites.get(one.suite) ?? { exact: 0, total: 0, whole: 0, cases: 0 }
    sum.exact += result.exact
    sum.total += result.total
    sum.cases++
    if (result.first === null) sum.whole++
    suites.set(one.suite, sum)
    if (jsonl) print(JSON.stringify(result))
    else
      print(
        `${result.first === null ? '✓' : '✗'} ${result.suite}/${result.id} ${result.exact}/${result.total}${result.first === null ? '' : ` · ${result.first}`}`,
      )
  }
  let whole = true
  for (const [suite, sum] of suites) {
    whole &&= sum.whole === sum.cases
    if (!jsonl)
      print(
        `${suite}: ${sum.exact} of ${sum.total} exact (${((100 * sum.exact) / Math.max(1, sum.total)).toFixed(3)} %), ${sum.whole} of ${sum.cases} cases wholly`,
      )
  }
  return whole
}

if (import.meta.main) {
  const whole = parityCommand(process.argv.slice(2), (line) => {
    console.log(line)
  })
  process.exitCode = whole ? 0 : 1
}
