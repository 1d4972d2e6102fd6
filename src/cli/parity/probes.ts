// Cases of a repository of probes: validation/NAME/{strategy.pine,tv_trades.csv} and data/*.csv, and in inputs.json, where there
// is one, what else the list was exported with.

import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { compareTrades } from '../../broker/compare.ts'
import type { ComparedField } from '../../wire/backtest.ts'
import { type ExportedTrade, parseTradeList } from '../../broker/exported/trade-list.ts'
import { lowerBound, sliceBars, type Bars } from '../../market/bars.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import type { ReportTrade } from '../../wire/report.ts'
import { compile, inputViews } from '../../language/compile.ts'
import { type ParityCase, requestFor } from './case.ts'
import { readBars } from './files.ts'

const DAY = 86_400_000
const MINUTE = 60_000
const QUARTER_HOUR = 15 * MINUTE
/** The wall clock of the exports. */
const PROBE_ZONE = 'UTC+8'
/** What needs bars of a minute, which are too many to read for nothing. */
const LOOKS_WITHIN = /use_bar_magnifier\s*=\s*true|security_lower_tf/
const NO_MINUTES = 'reads bars of a minute, which this copy of the corpus does not have'
const FIELDS: readonly ComparedField[] = ['side', 'entryTime', 'exitTime', 'entryPrice', 'exitPrice']

export function probeCases(dir: string): ParityCase[] {
  const folder = join(dir, 'validation')
  const names = readdirSync(folder)
    .filter((name) => isProbe(join(folder, name)))
    .sort()
  const all = longestBars(join(dir, 'data'), QUARTER_HOUR)
  if (all === null) return []
  const lists = new Map(
    names.map((name) => [name, parseTradeList(readFileSync(listOf(join(folder, name)), 'utf8')).trades]),
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
    const looksWithin = LOOKS_WITHIN.test(source)
    const minutes = looksWithin ? longestBars(join(dir, 'data'), MINUTE) : null
    const list = lists.get(name) ?? []
    const window = windowOf(list, windows)
    const within = (some: Bars) =>
      sliceBars(some, lowerBound(some.time, window.from), lowerBound(some.time, window.to + 1))
    const bars = within(all)
    // A list that begins weeks after its range and ends more than a week before it does was exported over a shorter
    // stretch. Trades outside that stretch cannot be judged.
    const short =
      window.to === Infinity ||
      (firstDay(list) > window.from + 14 * DAY && lastTime(list) < window.to - 7 * DAY)
    const judged = (trade: ReportTrade) =>
      !short || (trade.entryTime >= firstDay(list) && trade.exitTime <= lastTime(list))
    // Sizes given as a share of equity depend on TradingView's USDT rate; only fixed sizes have to be equal.
    const sized = /default_qty_type\s*=\s*strategy\.(percent_of_equity|cash)/.test(source)
    return {
      suite: 'probes',
      id: name,
      request: {
        ...requestFor(source, bars, symbol, '15', minutes && within(minutes)),
        inputs: inputsOf(join(folder, name), source),
      },
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
          ...(looksWithin && minutes === null && { reason: NO_MINUTES }),
        }
      },
    }
  })
}

/** A folder with an empty script or list has nothing to measure. */
function isProbe(folder: string): boolean {
  return [join(folder, 'strategy.pine'), listOf(folder)].every(
    (file) => existsSync(file) && statSync(file).size > 0,
  )
}

/** The file of the list that a probe's inputs.json names: one of several modes was exported under other names. */
function listOf(folder: string): string {
  const name = saidOf(folder)['tv_trades_csv']
  return join(folder, typeof name === 'string' ? basename(name) : 'tv_trades.csv')
}

/** The script's own inputs, by their titles, as a probe's inputs.json says that it was exported with. */
function inputsOf(folder: string, source: string): Readonly<Record<string, unknown>> {
  const said = Object.entries(saidOf(folder))
  // Most probes say nothing, and compiling all of them for that would cost as much as half of a run.
  if (said.length === 0) return {}
  const { script } = compile(source)
  const titles = new Set(script ? inputViews(script.program).map(({ label }) => label) : [])
  return Object.fromEntries(said.filter(([title]) => titles.has(title)))
}

function saidOf(folder: string): Readonly<Record<string, unknown>> {
  const file = join(folder, 'inputs.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : {}
}

interface Window {
  readonly from: number
  readonly to: number
}

/**
 * The ranges that the lists were exported over, which no file states. A list with an open position ends where its range
 * does, so most ends are known, and a list belongs to the first end that is not before its last row. A range starts at the
 * UTC midnight before the earliest entry of its lists, and is at least a year long. TradingView's chart bars start there
 * too (a moving average over 152 bars is na for its first 152).
 */
function exportWindows(lists: readonly (readonly ExportedTrade[])[]): Window[] {
  const ends = [...new Set(lists.flat().flatMap((trade) => (trade.open ? [utc(trade.exit.wall)] : [])))]
  const windows = ends.sort((a, b) => a - b).map((to) => ({ from: Math.floor(to / DAY - 365) * DAY, to }))
  for (const list of lists) {
    const window = windows.find(({ to }) => to >= lastTime(list))
    if (window) window.from = Math.min(window.from, firstDay(list))
  }
  // Lists behind every known end belong to one more range, whose end is unknown.
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

/** The file of bars of `ms` that begins first: TradingView's charts have history before what a list covers. */
function longestBars(folder: string, ms: number): Bars | null {
  const [found] = readdirSync(folder)
    .filter((name) => name.endsWith('.csv'))
    .map((name) => ({ file: join(folder, name), times: firstTimes(join(folder, name)) }))
    .filter(({ times: [first = NaN, second = NaN] }) => second - first === ms)
    .sort((a, b) => a.times[0]! - b.times[0]!)
  return found ? readBars(found.file) : null
}

/** The first two times of a file of bars, which may be a hundred megabytes long. */
function firstTimes(file: string): number[] {
  const head = Buffer.alloc(1000)
  const open = openSync(file, 'r')
  readSync(open, head)
  closeSync(open)
  const [, ...rows] = head.toString('latin1').split('\n')
  return rows.slice(0, 2).map((row) => Number(row.split(',')[0]))
}
