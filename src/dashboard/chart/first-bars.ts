// The newest bars of the chart, which may be requested before the chart's code is loaded.

import { call } from '../api-client.ts'
import { firstBars } from '../first-requests.ts'
import type { Market } from '../charts.ts'

type NewestBars = ReturnType<typeof ask>

let early: { readonly market: Market; readonly bars: NewestBars } | null = null

function ask(market: Market, signal?: AbortSignal) {
  return call('GET /api/platform/bars', { query: firstBars(market), signal })
}

/** Sends early the request that `newestBars` will make first. */
export function askEarly(market: Market): void {
  early = { market, bars: ask(market) }
  // The code that takes the answer handles a failure, but perhaps none does.
  early.bars.catch(() => undefined)
}

export function newestBars(market: Market, signal: AbortSignal): NewestBars {
  const asked = early
  early = null
  return asked?.market === market ? asked.bars : ask(market, signal)
}
