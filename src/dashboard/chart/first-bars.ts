// The newest bars of the chart, which may be asked for before its code is there.

import { call } from '../api-client.ts'
import type { Market } from '../workspace.ts'

/** More than fit on any screen at the zoom that a chart begins with. */
export const FIRST_PAGE = 1000

type NewestBars = ReturnType<typeof ask>

let early: { readonly market: Market; readonly bars: NewestBars } | null = null

function ask(market: Market, signal?: AbortSignal) {
  return call('GET /api/platform/bars', { query: { ...market, limit: FIRST_PAGE }, signal })
}

/** Asks for what `newestBars` will be asked for first. */
export function askEarly(market: Market): void {
  early = { market, bars: ask(market) }
  // Whoever takes it hears of a failure; nobody may.
  early.bars.catch(() => undefined)
}

export function newestBars(market: Market, signal: AbortSignal): NewestBars {
  const asked = early
  early = null
  return asked?.market === market ? asked.bars : ask(market, signal)
}
