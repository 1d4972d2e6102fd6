// Lists of symbols, as providers publish them: which tickers they have, and what these are called.
//
// A list only knows where it is published and how to read it. What all of them share is in `fetch-list.ts` (limits, retries,
// what is no list), and how they are searched is in `directory.ts`. The names are TradingView's: `BTCUSDT` and not `BTC-USDT`,
// and `BTCUSDT.P` for a perpetual contract.

import { marketName } from '../../lib/market-name.ts'
import { MARKET_NAME_MAX } from '../../lib/text.ts'
import type { SymbolType } from '../../lib/symbol-type.ts'

export interface Listing {
  readonly exchange: string
  readonly symbol: string
  readonly name: string
  readonly type: SymbolType
}

export interface ListRequest {
  readonly url: string
  /** What is posted, as JSON; without it the address is got. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Asks for one part of a list; answers what it says, or throws ProviderError. */
export interface ListPages {
  json(request: ListRequest): Promise<unknown>
  bytes(request: ListRequest): Promise<Uint8Array>
}

export interface SymbolList {
  /** Who is asked, by the name that is chosen. */
  readonly provider: string
  readonly exchanges: readonly string[]
  /** The minimum time between two requests. */
  readonly gapMs: number
  read(pages: ListPages): AsyncGenerator<readonly Listing[]>
}

const NAME_MAX = 120
/** What our series can be called: one that has a space or a slash in its name could never be asked for. */
const TICKER = /^[\p{L}\p{N}._!&$^-]+$/u

/** A listing, if both names can be ours. What a provider says of itself is not trusted to have no lines or tabs in it. */
export function listing(exchange: unknown, symbol: unknown, name: unknown, type: SymbolType): Listing | null {
  if (typeof exchange !== 'string' || typeof symbol !== 'string') return null
  const ticker = marketName(symbol)
  if (!TICKER.test(ticker) || ticker.length > MARKET_NAME_MAX) return null
  const text = typeof name === 'string' ? name.replaceAll(/[\s\p{C}]+/gu, ' ').trim() : ''
  return { exchange: marketName(exchange), symbol: ticker, name: text.slice(0, NAME_MAX) || ticker, type }
}

export const listings = (all: readonly (Listing | null)[]): Listing[] => all.filter((one) => one !== null)
