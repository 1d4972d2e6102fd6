// What a script may ask for while it runs: other series that its user sees, finer bars, and libraries.

import type { ScriptHost } from '../workers/desk.ts'
import { marketName } from '../../lib/market-name.ts'
import { seriesKey, type SeriesInfo, type SeriesKey } from '../../market/bar-store.ts'
import type { Bars } from '../../market/bars.ts'
import { compareIntervals, normalizeInterval, parseInterval } from '../../market/interval.ts'
import type { SeenBars } from '../../market/seen-bars.ts'
import { sidedBars } from '../../market/sided-bars.ts'
import type { Series } from '../../language/environment.ts'

export type Library = (user: string, library: string, version: number) => Promise<string | null>

/** Answers what a script that runs on these bars may request: other series and libraries. */
export function hostFor(seen: SeenBars, library: Library, key: SeriesKey, bars: Bars): ScriptHost {
  return {
    library,
    series: (exchange, symbol, interval) => seriesFor(seen, exchange, symbol, interval),
    finer: () => finerSeries(seen, key, bars),
  }
}

/** The same for many markets at a time. It has no finer bars, since it is not known for which of the markets. */
export function scanHost(seen: SeenBars, library: Library): ScriptHost {
  return {
    library,
    series: (exchange, symbol, interval) => seriesFor(seen, exchange, symbol, interval),
    finer: () => null,
  }
}

/** The bars of a symbol, on the exchange with most of them if none is named; null if there are none. */
export async function seriesFor(
  seen: SeenBars,
  exchange: string,
  symbol: string,
  interval: string,
): Promise<Series | null> {
  const sided = await sidedBars(seen, exchange, symbol, interval)
  if (sided !== undefined) return sided && { ...sided, symbol: await seen.symbol(exchange, symbol) }
  const normal = normalizeInterval(interval)
  if (normal === null) return null
  const key = exchange === '' ? await anyExchange(seen, symbol, normal) : seriesKey(exchange, symbol, normal)
  const bars = await seen.read(key)
  if (bars.length === 0) return null
  return { bars, symbol: await seen.symbol(key.exchange, key.symbol), interval: normal }
}

/** For a symbol without an exchange, mostly a currency pair: the series with most bars. */
async function anyExchange(seen: SeenBars, symbol: string, interval: string): Promise<SeriesKey> {
  const wanted = marketName(symbol)
  const [most] = (await seen.list())
    .filter((info) => info.symbol === wanted)
    .sort((a, b) => b.count - a.count)
  return seriesKey(most?.exchange ?? '', wanted, interval)
}

/** The finest cached series of the symbol that covers the time of the bars. */
export async function finerSeries(
  seen: SeenBars,
  key: SeriesKey,
  bars: Bars,
): Promise<{ bars: Bars; interval: string } | null> {
  const own = parseInterval(key.interval)
  if (!own || bars.length === 0) return null
  const finer = (await seen.list())
    .filter(({ exchange, symbol }: SeriesInfo) => exchange === key.exchange && symbol === key.symbol)
    .flatMap((info) => {
      const interval = parseInterval(info.interval)
      return interval && compareIntervals(interval, own) < 0 ? [{ info, interval }] : []
    })
    .sort((a, b) => compareIntervals(a.interval, b.interval))[0]
  if (!finer) return null
  const found = await seen.read(finer.info, { from: bars.time[0] ?? 0 })
  return found.length === 0 ? null : { bars: found, interval: finer.info.interval }
}
