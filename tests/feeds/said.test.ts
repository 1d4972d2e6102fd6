import { expect, test } from 'bun:test'
import { saidOf } from '../../src/feeds/said.ts'
import type { FeedStatus } from '../../src/market/providers/poller.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4)
const FEED: FeedStatus = {
  key: { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1m' },
  state: 'waiting',
  provider: 'Binance',
  lastSuccessAt: AT,
  lastError: null,
  failures: 0,
  nextAt: null,
  newestBar: null,
}
const STREAM = { liveSince: AT, heardAt: AT, cuts: 0, lastCut: null, mended: 0 }
const lastCut = { at: AT, reason: 'nothing was heard for 75 s' }

test.each<[Partial<FeedStatus>, string]>([
  [{}, 'Waits for its first bars of Binance.'],
  [{ state: 'fresh' }, 'Asked for by turns, the last time at 2026-01-02 03:04 UTC.'],
  [
    { state: 'retrying', lastError: 'Binance answered 503: it is not available.' },
    'Binance answered 503: it is not available. It is asked again.',
  ],
  [
    { state: 'stopped', lastError: 'No provider has symbols of NOWHERE.' },
    'No provider has symbols of NOWHERE.',
  ],
  [{ stream: STREAM }, 'Waits for its stream of Binance.'],
  [{ state: 'live', stream: STREAM }, 'A stream of Binance since 2026-01-02 03:04 UTC.'],
  [
    { state: 'live', stream: { ...STREAM, cuts: 2, lastCut, mended: 1 } },
    'A stream of Binance since 2026-01-02 03:04 UTC. 2 cuts, the last at 2026-01-02 03:04 UTC: nothing was heard for 75 s. 1 bar mended by a request.',
  ],
  [
    { state: 'retrying', lastError: 'The stream was cut: refused', stream: { ...STREAM, liveSince: null } },
    'The stream was cut: refused. The stream is tried again; until then bars are fetched as they end.',
  ],
])('a feed says how it goes, %#', (change, said) => {
  expect(saidOf({ ...FEED, ...change })).toBe(said)
})
