// Which markets a scan looks at, and their bars.
//
// All series that the user sees are listed at once: asking the store for each of four thousand names would take longer than
// running the script on them. Bars are read past the cache, which would otherwise drop what open charts use.

import { marketName } from '../../lib/market-name.ts'
import type { BarCache } from '../../market/bar-cache.ts'
import type { SeriesKey } from '../../market/bar-store.ts'
import { BAR_FIELDS, type Bars } from '../../market/bars.ts'
import { canBuild, parseInterval } from '../../market/interval.ts'
import { barsSeenBy, seriesOf, type SeenBars } from '../../market/seen-bars.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import { ownerOf } from '../../market/bar-store.ts'
import type { NamedMarket } from './records.ts'

export const MARKETS_MAX = 10_000

export class Markets {
  readonly seen: SeenBars
  readonly #cache: BarCache
  readonly #interval: string
  /** Series stored under exactly this name and interval. */
  readonly #stored: ReadonlyMap<string, SeriesKey>
  /** Every market with usable bars, sorted by name. */
  readonly all: readonly NamedMarket[]

  private constructor(cache: BarCache, userId: string, interval: string, list: readonly SeriesKey[]) {
    this.seen = barsSeenBy(cache, userId)
    this.#cache = cache
    this.#interval = interval
    this.#stored = new Map(list.filter((one) => one.interval === interval).map((one) => [nameOf(one), one]))
    const wanted = parseInterval(interval)
    const serves = (text: string) => {
      const finer = parseInterval(text)
      return text === interval || (wanted !== null && finer !== null && canBuild(wanted, finer))
    }
    const names = new Map<string, NamedMarket>()
    for (const one of list)
      if (serves(one.interval)) names.set(nameOf(one), { exchange: one.exchange, symbol: one.symbol })
    this.all = [...names.values()]
  }

  static async seenBy(cache: BarCache, userId: string, interval: string): Promise<Markets> {
    return new Markets(cache, userId, interval, await barsSeenBy(cache, userId).list())
  }

  /** For reading markets whose names are known; its `all` is empty. */
  static byName(cache: BarCache, userId: string, interval: string): Markets {
    return new Markets(cache, userId, interval, [])
  }

  /**
   * The markets named, each once. A name without an exchange means every market of the symbol, or stays as it is if there
   * is none.
   */
  named(names: readonly NamedMarket[]): NamedMarket[] {
    const found = new Map<string, NamedMarket>()
    for (const one of names) {
      const all = one.exchange === '' ? this.all.filter(({ symbol }) => symbol === one.symbol) : []
      for (const market of all.length > 0 ? all : [one]) found.set(nameOf(market), market)
    }
    return [...found.values()]
  }

  /** The last bars of a market in shared memory; an unknown market has none. */
  async read(
    market: NamedMarket,
    last: number,
  ): Promise<{ readonly bars: Bars; readonly symbol: SymbolInfo }> {
    const { exchange, symbol: ticker } = market
    const symbol = await this.seen.symbol(exchange, ticker)
    const stored = this.#stored.get(nameOf(market))
    if (stored) {
      const key = seriesOf(stored, ownerOf(stored))
      const { bars } = await this.#cache.store.read(key, { last }, sharedColumns)
      return { bars, symbol }
    }
    return {
      bars: await this.seen.read({ exchange, symbol: ticker, interval: this.#interval }, { last }),
      symbol,
    }
  }
}

/** `NASDAQ:AAPL`, or a symbol and an exchange, which may be empty. */
export function namedMarket(name: {
  readonly symbol: string
  readonly exchange?: string | undefined
}): NamedMarket {
  const at = name.exchange ? -1 : name.symbol.indexOf(':')
  const [exchange, symbol] =
    at < 0 ? [name.exchange ?? '', name.symbol] : [name.symbol.slice(0, at), name.symbol.slice(at + 1)]
  return { exchange: marketName(exchange.trim()), symbol: marketName(symbol.trim()) }
}

const nameOf = ({ exchange, symbol }: NamedMarket) => `${exchange}\0${symbol}`

/** Makes all columns in one buffer, so that a message to a worker refers to one instead of six. */
function sharedColumns(length: number): Bars {
  const all = new SharedArrayBuffer(length * 8 * BAR_FIELDS.length)
  const column = (at: number) => new Float64Array(all, at * length * 8, length)
  return {
    length,
    time: column(0),
    open: column(1),
    high: column(2),
    low: column(3),
    close: column(4),
    volume: column(5),
  }
}
