import { expect, test } from 'bun:test'
import { saidOf } from '../../../src/people/feeds/said.ts'
import type { FeedStatus, PollStatus } from '../../../src/market/live/feed-status.ts'

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

const NOW = AT + 12_000
const POLL: PollStatus = { everyMs: 15_000, sharedBy: null, delayMs: 0, aheadMs: 0, mended: 0 }
const polled = (poll: Partial<PollStatus> = {}, rest: Partial<FeedStatus> = {}): Partial<FeedStatus> => ({
  state: 'fresh',
  poll: { ...POLL, ...poll },
  nextAt: NOW + 3000,
  ...rest,
})

test.each<[Partial<FeedStatus>, string]>([
  [{}, 'Waits for its first bars of Binance.'],
  [polled(), 'Asks Binance every 15 s; the last answer 12 s ago.'],
  [
    polled({ everyMs: 60_000, delayMs: 900_000, mended: 2 }),
    'Asks Binance every 60 s; the last answer 12 s ago. Its bars are up to 15 min late. 2 bars mended by a request.',
  ],
  [
    polled(
      { everyMs: 12_000_000, sharedBy: 1000 },
      { lastSuccessAt: NOW - 9_000_000, nextAt: NOW + 3_000_000 },
    ),
    'Asks Binance every 3 h, since 1000 series share what Binance allows; the last answer 3 h ago.',
  ],
  [
    polled({ everyMs: 86_400, sharedBy: 1, aheadMs: 31_000 }),
    'Asks Binance every 86 s, as often as its key allows; the last answer 12 s ago. The clock of this server is 31 s ahead of that of Binance.',
  ],
  [
    polled({}, { nextAt: NOW + 1_800_000, lastSuccessAt: NOW }),
    'Asks Binance every 15 s; the last answer just now. It is asked again in 30 min.',
  ],
  [
    polled({}, { state: 'waiting', lastSuccessAt: null, nextAt: NOW }),
    'Waits for its first bars of Binance. It is asked now.',
  ],
  [
    polled(
      {},
      { state: 'retrying', lastError: 'Binance answered 503: it is not available.', nextAt: NOW + 9e4 },
    ),
    'Binance answered 503: it is not available. It is asked again in 90 s. Until now: the last answer 12 s ago.',
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
  [
    { state: 'retrying', failures: 2, lastError: 'Nobody answers.', stream: { ...STREAM, liveSince: null } },
    'Nobody answers. It is tried again.',
  ],
])('a feed says how it goes, %#', (change, said) => {
  expect(saidOf({ ...FEED, ...change }, NOW)).toBe(said)
})
