// A market as programs hand it over: bars of one symbol and interval, with what the symbol trades in.

import { invalidField } from '../lib/problem.ts'
import { marketName } from '../lib/text.ts'
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

export async function marketOfFile(
  file: string | Uint8Array | AsyncIterable<Uint8Array>,
  { fileName, timezone, decimal, dateOrder, ...options }: CsvOptions = {},
): Promise<Market> {
  const input =
    typeof file === 'string' ? [new TextEncoder().encode(file)] : file instanceof Uint8Array ? [file] : file
  const hints: ReadHints = {
    ...(timezone !== undefined && { timesIn: timezone }),
    ...(decimal !== undefined && { decimal }),
    ...(dateOrder !== undefined && { dates: dateOrder }),
  }
  const interval = options.interval === undefined ? undefined : intervalOf(options.interval)
  const symbol = symbolOf(options, null)
  const bars = await readBars(input, {
    symbol,
    hints,
    ...(interval !== undefined && { interval }),
    ...(fileName !== undefined && { fileName }),
  })
  return marketOf(bars, options)
}

export function marketOfRows(rows: readonly BarRow[], options: MarketOptions): Market {
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
  return marketOf(barsOf(rows), options)
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
  const [prefix = '', ticker] = symbol.split(':')
  const known = ticker === undefined ? defaultSymbol('', prefix, bars) : defaultSymbol(prefix, ticker, bars)
  return withSymbolFields(known, facts)
}

function intervalOf(text: string): string {
  const interval = normalizeInterval(text)
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
