// Fetches bars of a market for the first time, and follows it where one may.
//
// They are fetched in parts, oldest first, so that the page knows how far it is, and one that is broken off goes on where it was.

import { call } from '../api-client.ts'
import { seriesOf, type Market } from '../charts.ts'
import { user } from '../session.ts'
import { barMsOf } from './bars.ts'
import { loadSymbols } from './cell.ts'

const PARTS = 5
const BARS_A_PART = 1000

/** `told` hears the done fraction. Rejects with what the server says. */
export async function fetchMarket(market: Market, told: (fraction: number) => void): Promise<void> {
  const series = seriesOf(market)
  const part = barMsOf(market.interval) * BARS_A_PART
  const now = Date.now()
  for (let i = 0; i < PARTS; i++) {
    told(i / PARTS)
    const from = Math.max(0, now - (PARTS - i) * part)
    // The last one has no end: what is new by then comes too.
    const to = i === PARTS - 1 ? {} : { to: Math.max(0, now - (PARTS - 1 - i) * part) }
    if ('to' in to && to.to === 0) continue
    await call('POST /api/platform/bars/fetch', { body: { ...series, from, ...to } })
  }
  // Its bars are there, whether or not it can be followed.
  if (user.peek()?.role !== 'member')
    await call('POST /api/platform/feeds', { body: series }).catch(() => undefined)
  told(1)
  await loadSymbols()
}
