// A market as programs hand it over: bars of one symbol and interval, with what the symbol trades in.

import { invalidField } from '../lib/problem.ts'
import { marketName } from '../lib/market-name.ts'
import type { Series } from '../language/environment.ts'
import { type BarRow, type Bars, barsOf } from '../market/bars.ts'
import { calendarOf } from '../market/calendar.ts'
import { inferInterval, readBars, type ReadHints } from '../market/import.ts'
import {
  canBuild,
  compareIntervals,
  formatInterval,
  type Interval,
  normalizeInterval,
  parseInterval,
} from '../market/interval.ts'
import { resample } from '../market/resample.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import { defaultSymbol, withSymbolFields } from '../market/symbols.ts'
import * as given from './given.ts'

/** Bars of one symbol and interval. */
export interface Market {
  readonly bars: Bars
  readonly symbol: SymbolInfo
  /** `1m`, `15m`, `1h`, `1d`, `1w`, `1M` … */
  readonly interval: string
}

/** What nobody can read off the bars themselves. */
export interface MarketOptions {
  /** `NASDAQ:AAPL`, or a ticker alone. The exchange tells session, time zone, currency, tick and lot. `BARS` if not given. */
  readonly symbol?: string
  /** `15m`, `1h`, `1d` or as TradingView writes it: `15`, `D`. Found out by the distance between bars if not given. */
  readonly interval?: string
  /** Facts of the symbol that differ from what its exchange tells: `mintick`, `pointValue`, `session`, `timezone`, … */
  readonly facts?: Partial<SymbolInfo>
}

/** Where a file does not say it itself. */
export interface CsvOptions extends MarketOptions {
  /** The time zone of its times, such as `America/New_York`. */
  readonly timezone?: string
  /** How it writes numbers. */
  readonly decimal?: '.' | ','
  /** The order of its dates. */
  readonly dateOrder?: 'ymd' | 'dmy' | 'mdy'
  /** Some programs tell the symbol or the zone in the name of the file alone. */
  readonly fileName?: string
}

/** A text, bytes, what yields either piece by piece, such as a stream of Node, or what has bytes, such as a `File` of a browser. */
export type CsvFile =
  | string
  | Uint8Array
  | ArrayBuffer
  | AsyncIterable<Uint8Array | string>
  | { readonly arrayBuffer: () => Promise<ArrayBuffer> }

async function* piecesOf(file: CsvFile): AsyncGenerator<Uint8Array> {
  if (typeof file === 'string') yield new TextEncoder().encode(file)
  else if (file instanceof Uint8Array) yield file
  else if (file instanceof ArrayBuffer) yield new Uint8Array(file)
  else if (typeof file !== 'object' || file === null) throw notRead()
  // Before what yields pieces: Safari's streams yield none.
  else if ('arrayBuffer' in file) yield new Uint8Array(await file.arrayBuffer())
  else if (!(Symbol.asyncIterator in file)) throw notRead()
  else
    for await (const piece of file) {
      if (typeof piece !== 'string' && !(piece instanceof Uint8Array)) throw notRead()
      yield typeof piece === 'string' ? new TextEncoder().encode(piece) : piece
    }
}

const notRead = () => given.wrong('file', 'a text, bytes, a stream of them or a File')

const OF_MARKET = { symbol: true, interval: true, facts: true } as const
const MARKET_OPTIONS = given.fieldsOf<MarketOptions>(OF_MARKET)
const CSV_OPTIONS = given.fieldsOf<CsvOptions>({
  ...OF_MARKET,
  timezone: true,
  decimal: true,
  dateOrder: true,
  fileName: true,
})

export async function marketOfFile(file: CsvFile, asked: CsvOptions): Promise<Market> {
  given.named(asked, 'options', CSV_OPTIONS)
  const { fileName, timezone, decimal, dateOrder, ...options } = asked
  const hints: ReadHints = {
    ...(timezone !== undefined && { timesIn: timezone }),
    ...(decimal !== undefined && { decimal }),
    ...(dateOrder !== undefined && { dates: dateOrder }),
  }
  const interval = options.interval === undefined ? undefined : intervalOf(options.interval)
  const symbol = symbolOf(options, null)
  const bars = await readBars(piecesOf(file), {
    symbol,
    hints,
    ...(interval !== undefined && { interval }),
    ...(fileName !== undefined && { fileName }),
  })
  return marketOf(bars, options)
}

export function marketOfRows(rows: readonly BarRow[], options: MarketOptions): Market {
  given.named(options, 'options', MARKET_OPTIONS)
  given.list(rows, 'rows', 'bars')
  for (const [i, row] of rows.entries()) {
    const at = `/rows/${i}`
    if (!Array.isArray(row) || row.length < 6 || row.length > 7 || !row.every(Number.isFinite))
      throw invalidField(
        at,
        'invalid_bar',
        `Row ${i}: a bar is [time in UTC ms, open, high, low, close, volume].`,
      )
    const [time, open, high, low, close] = row
    if (low > Math.min(open, close) || high < Math.max(open, close))
      throw invalidField(at, 'invalid_bar', `Row ${i}: open and close lie between low and high.`)
    if (i > 0 && time <= rows[i - 1]![0])
      throw invalidField(at, 'unordered', `Row ${i}: bars are sorted by time, and no two have the same.`)
  }
  const unit = otherUnit(rows)
  if (unit !== null)
    throw invalidField(
      '/rows/0',
      'invalid_bar',
      `Row 0: times are in milliseconds, and these look like ${unit}.`,
    )
  return marketOf(barsOf(rows), options)
}

/** Of times that in milliseconds would all lie in the first months of 1970, or beyond the year 5000. */
function otherUnit(rows: readonly BarRow[]): string | null {
  const first = rows[0]?.[0] ?? 0
  const last = rows.at(-1)?.[0] ?? 0
  return first > 1e8 && last < 1e10 ? 'seconds' : first > 1e14 ? 'microseconds' : null
}

/** Ticks that the exchange does not tell are read off the prices. */
function marketOf(bars: Bars, options: MarketOptions): Market {
  if (bars.length === 0) throw invalidField('/bars', 'required', 'There are no bars in it.')
  const found = inferInterval(bars)
  const interval =
    options.interval === undefined ? found && formatInterval(found) : intervalOf(options.interval)
  if (interval === null)
    throw invalidField(
      '/interval',
      'required',
      'One bar does not tell its interval. Give `interval`, such as 1d.',
    )
  return { bars, symbol: symbolOf(options, bars), interval }
}

function symbolOf({ symbol = 'BARS', facts = {} }: MarketOptions, bars: Bars | null): SymbolInfo {
  const [prefix = '', ticker, ...more] = given.text(symbol, 'symbol').split(':')
  if ((ticker ?? prefix) === '' || more.length > 0) throw given.wrong('symbol', 'a name such as NASDAQ:AAPL')
  const known = ticker === undefined ? defaultSymbol('', prefix, bars) : defaultSymbol(prefix, ticker, bars)
  given.named(facts, 'facts', Object.keys(known))
  return withSymbolFields(known, facts)
}

function intervalOf(text: string): string {
  const interval = normalizeInterval(given.text(text, 'interval'))
  if (interval === null)
    throw invalidField('/interval', 'interval', 'This is no interval. Write 15m, 1h, 1d, 1w or 1M.')
  return interval
}

/** Answers request.*: these markets, and the coarser intervals that can be built of them; null for all else. */
export function seriesOf(
  markets: readonly Market[],
): (exchange: string, symbol: string, interval: string) => Series | null {
  return (exchange, symbol, asked) => {
    const interval = normalizeInterval(asked)
    const wanted = interval === null ? null : parseInterval(interval)
    if (interval === null || wanted === null) return null
    const own = markets.filter(
      (one) =>
        one.symbol.symbol === marketName(symbol) &&
        (exchange === '' || one.symbol.exchange === marketName(exchange)),
    )
    return own.find((one) => one.interval === interval) ?? built(own, wanted)
  }
}

/** Of the coarsest bars that they can be made of, as the server makes them. */
function built(markets: readonly Market[], wanted: Interval): Series | null {
  const [finer] = markets
    .flatMap((market) => {
      const of = parseInterval(market.interval)
      return of && compareIntervals(of, wanted) < 0 && canBuild(wanted, of) ? [{ market, of }] : []
    })
    .sort((a, b) => compareIntervals(b.of, a.of))
  if (!finer) return null
  const { bars, symbol } = finer.market
  return {
    bars: resample(bars, finer.of, wanted, calendarOf(symbol)),
    symbol,
    interval: formatInterval(wanted),
  }
}
