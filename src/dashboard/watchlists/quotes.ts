// Last price and change of listed symbols, from cached bars. Kept for a minute, and requested a few at a time.

import type { SymbolFacts } from '../../wire/bars.ts'
import { signal } from '@preact/signals'
import { ApiError, call } from '../api-client.ts'
import { nameOf, type Named } from '../format.ts'

export type { SymbolFacts }

export type Quote = NonNullable<Awaited<ReturnType<typeof quoteOf>>>
const KEPT_MS = 60_000
const AT_ONCE = 4
/** By `EXCHANGE:SYMBOL`; null = no bars of it are cached. */
export const quotes = signal<ReadonlyMap<string, Quote | null>>(new Map())
let symbols: Promise<readonly SymbolFacts[]> | null = null
let symbolsAt = 0
const asked = new Map<string, number>()

export function allSymbols(): Promise<readonly SymbolFacts[]> {
  if (!symbols || Date.now() - symbolsAt > KEPT_MS) {
    symbolsAt = Date.now()
    symbols = call('GET /api/platform/symbols').then((answer) => answer.symbols)
    symbols.catch(() => (symbols = null))
  }
  return symbols
}

/** The symbols with their exchanges; none if they cannot be loaded, since a symbol without bars may be named too. */
export async function namesOfAll(): Promise<readonly string[]> {
  return (await allSymbols().catch(() => [])).map(nameOf)
}

/** What somebody means who typed `AAPL` or `NASDAQ:AAPL`: the first of the names that fits. Without one, the exchange is ''. */
export function namedBy(typed: string, names: readonly string[]): Named {
  const wanted = typed.trim().toUpperCase()
  const full = names.find((one) => one === wanted || one.endsWith(`:${wanted}`)) ?? wanted
  const colon = full.indexOf(':')
  return { exchange: full.slice(0, Math.max(0, colon)), symbol: full.slice(colon + 1) }
}

export function forgetSymbols(): void {
  symbols = null
  asked.clear()
}

/** Drops a symbol's quote when new bars of it arrive. */
export function forgetQuote(symbol: string): void {
  for (const key of asked.keys()) if (key.endsWith(`:${symbol}`)) asked.delete(key)
}

/** Intervals to take a quote from, best first: the day's change needs daily bars, or the nearest to them. */
const preferred = ['1d', '12h', '4h', '1h', '30m', '15m', '5m', '1m', '1w', '1M']
const rank = (interval: string) => (preferred.indexOf(interval) + 20) % 20

export async function loadQuotes(items: readonly Named[]): Promise<void> {
  const now = Date.now()
  const wanted = items.filter((item) => now - (asked.get(nameOf(item)) ?? 0) > KEPT_MS)
  for (const item of wanted) asked.set(nameOf(item), now)
  if (wanted.length === 0) return
  const known = await allSymbols()
  const queue = [...wanted]
  const work = async () => {
    for (let item = queue.shift(); item; item = queue.shift()) {
      const quote = await quoteOf(item, known)
      // It may have been asked for again since, as new bars had come.
      if ((asked.get(nameOf(item)) ?? now) === now)
        quotes.value = new Map(quotes.value).set(nameOf(item), quote)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** `change`: since the close of the bar before, as a fraction; `at`: when the bar of the last price began. */
async function quoteOf({ exchange: named, symbol }: Named, known: readonly SymbolFacts[]) {
  // A list may have a symbol without an exchange.
  const facts = known.find((one) => one.symbol === symbol && (named === '' || one.exchange === named))
  const series = facts?.series.toSorted((a, b) => rank(a.interval) - rank(b.interval))[0]
  if (!facts || !series) return null
  const { exchange, mintick } = facts
  const { interval } = series
  try {
    const query = { exchange, symbol, interval, limit: 40 }
    const { time, close: closes } = (await call('GET /api/platform/bars', { query })).bars
    const [at, last, before] = [time.at(-1), closes.at(-1), closes.at(-2)]
    if (at === undefined || last === undefined) return null
    return { last, at, change: before ? last / before - 1 : null, exchange, interval, mintick, closes }
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
