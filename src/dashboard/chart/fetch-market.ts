// Fetches bars of a market for the first time, and follows it where one may.
//
// They are fetched in parts, oldest first, so that the page knows how far it is, and one that is broken off goes on where it was.

import { intervalMs, parseInterval } from '../../market/interval.ts'
import { call } from '../api-client.ts'
import { user } from '../session.ts'
import type { Market } from '../workspace.ts'
import { loadSymbols } from './cell.ts'

const PARTS = 5
const BARS_A_PART = 1000

/** `told` hears the done fraction. Rejects with what the server says. */
export async function fetchMarket(market: Market, told: (fraction: number) => void): Promise<void> {
  const { exchange, symbol, interval } = market
  const known = parseInterval(interval)
  const part = known ? intervalMs(known) * BARS_A_PART : 0
  const now = Date.now()
  for (let i = 0; i < PARTS; i++) {
    told(i / PARTS)
    const from = Math.max(0, now - (PARTS - i) * part)
    // The last one has no end: what is new by then comes too.
    const to = i === PARTS - 1 ? {} : { to: Math.max(0, now - (PARTS - 1 - i) * part) }
    if ('to' in to && to.to === 0) continue
    await call('POST /api/platform/bars/fetch', { body: { exchange, symbol, interval, from, ...to } })
  }
  if (user.peek()?.role !== 'member') await follow(market)
  told(1)
  await loadSymbols()
}

/** Its bars are there, whether or not it can be followed. */
async function follow({ exchange, symbol, interval }: Market): Promise<void> {
  await call('POST /api/platform/feeds', { body: { exchange, symbol, interval } }).catch(() => undefined)
}
