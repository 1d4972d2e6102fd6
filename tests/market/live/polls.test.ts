// Polls of all providers under the faults that polls have: what is stored is what the provider's REST service has.

import { describe, expect, test } from 'bun:test'
import type { Clock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { BarCache } from '../../../src/market/bar-cache.ts'
import { seriesKey } from '../../../src/market/bar-store.ts'
import { calendarOf } from '../../../src/market/calendar.ts'
import { FormingBars } from '../../../src/market/live/forming-bars.ts'
import { Keeper } from '../../../src/market/live/keeper.ts'
import { KEYED_PROVIDERS } from '../../../src/market/providers/keyed/keyed-providers.ts'
import type { BarRow, Provider } from '../../../src/market/providers/provider.ts'
import { yahoo } from '../../../src/market/providers/yahoo.ts'
import { defaultSymbol } from '../../../src/market/symbols.ts'
import { testBars } from '../../store/test-store.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { POLL_FAULTS, PolledVenue, type Rules } from './polled-venue.ts'
import { rounds } from '../../long.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const LIMIT_MS = 600_000
/** A Friday in New York, where the clocks go forward on Sunday: its afternoon, and that of London. */
const FRIDAY = Date.UTC(2026, 2, 6, 18, 30)
const IN_LONDON = Date.UTC(2026, 2, 6, 13, 30)

const keyed = (name: string): Provider =>
  KEYED_PROVIDERS.find((one) => one.name === name)!.make({ key: 'akey', secret: 'asecret' }).provider

interface Venue {
  readonly exchange: string
  readonly symbol: string
  readonly provider: () => Provider
  readonly rules: Rules
}
const prompt = { delayMs: 0, limits: [], isDated: true }
const VENUES: readonly (readonly [name: string, Venue])[] = [
  ['Yahoo', { exchange: 'NASDAQ', symbol: 'AAPL', provider: () => yahoo, rules: prompt }],
  [
    'Yahoo of London',
    {
      exchange: 'LSE',
      symbol: 'AAPL',
      provider: () => yahoo,
      rules: { ...prompt, delayMs: 20 * MINUTE },
    },
  ],
  [
    'Alpaca',
    {
      exchange: 'NASDAQ',
      symbol: 'AAPL',
      provider: () => keyed('Alpaca'),
      rules: { ...prompt, limits: [{ count: 200, perMs: MINUTE }] },
    },
  ],
  [
    'Massive',
    {
      exchange: 'NYSE',
      symbol: 'AAPL',
      provider: () => keyed('Massive'),
      rules: { ...prompt, delayMs: 15 * MINUTE, limits: [{ count: 5, perMs: MINUTE }] },
    },
  ],
  [
    'Tiingo',
    {
      exchange: 'NASDAQ',
      symbol: 'AAPL',
      provider: () => keyed('Tiingo'),
      rules: {
        ...prompt,

        limits: [
          { count: 50, perMs: HOUR },
          { count: 1000, perMs: DAY },
        ],
      },
    },
  ],
  [
    'Twelve Data',
    {
      exchange: 'NASDAQ',
      symbol: 'AAPL',
      provider: () => keyed('Twelve Data'),
      rules: {
        ...prompt,

        limits: [
          { count: 8, perMs: MINUTE },
          { count: 800, perMs: DAY },
        ],
      },
    },
  ],
]

/** Followed series of a venue, on a clock that the test turns. */
function followed({ exchange, symbol, provider: make, rules }: Venue, seed: number, symbols = [symbol]) {
  const clock = new HandClock()
  clock.time = exchange === 'LSE' ? IN_LONDON : FRIDAY
  const random = seededRandom(seed)
  const calendar = calendarOf(defaultSymbol(exchange, symbol))
  const venue = new PolledVenue(rules, clock, random, calendar)
  const store = testBars()
  const early: number[] = []
  const cache = new BarCache({
    ...store,
    upsert(key, bars) {
      for (const time of bars.time) if (time + MINUTE + rules.delayMs > clock.now()) early.push(time)
      return store.upsert(key, bars)
    },
  })
  const ours = { skewMs: 0 }
  const skewed: Clock = {
    now: () => clock.now() + ours.skewMs,
    sleep: (ms, signal) => clock.sleep(ms, signal),
  }
  const forming = new FormingBars(0)
  const current = { provider: make() }
  const keeper = new Keeper({
    cache,
    http: (...request) => venue.http(...request),
    clock: skewed,
    log: silentLog,
    open: () => {
      throw new Error('nobody has a stream')
    },
    spread: () => random.uniform(),
    forming,
    providers: [],
    providerOf: () => current.provider,
  })
  const stop = new AbortController()
  const keys = symbols.map((one) => seriesKey(exchange, one, '1m'))
  for (const key of keys) keeper.follow(key)
  const running = Promise.all([venue.run(stop.signal, symbols), keeper.run(stop.signal)])
  return {
    clock,
    calendar,
    random,
    venue,
    cache,
    keeper,
    forming,
    keys,
    ours,
    current,
    /** Times of bars that were stored before they were over. */
    early,
    status: async () => (await keeper.status())[0]!,
    async stored(key = keys[0]!): Promise<BarRow[]> {
      const bars = await cache.read(key, { from: 0 })
      return [...bars.time].map((time, i) => [
        time,
        bars.open[i]!,
        bars.high[i]!,
        bars.low[i]!,
        bars.close[i]!,
        bars.volume[i]!,
      ])
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await clock.settle()
      await running
    },
  }
}

describe.each(VENUES)('%s', (_, venue) => {
  test(
    'a bar is stored when it is over, and told of while it forms',
    async () => {
      await using live = followed(venue, 1)
      await live.clock.pass(2 * HOUR)
      expect(await live.status()).toMatchObject({ state: 'fresh', failures: 0, lastError: null })
      const stored = await live.stored()
      const closed = live.venue.closed(venue.symbol)
      expect(stored.length).toBeGreaterThan(60)
      expect(stored).toEqual(closed.slice(0, stored.length))
      const { everyMs } = (await live.status()).poll!
      expect(closed.length - stored.length).toBeLessThanOrEqual(Math.ceil(everyMs / MINUTE))
      expect(live.early).toEqual([])
      const row = live.forming.get(live.keys[0]!)?.row
      expect(row?.[0]).toBeGreaterThanOrEqual(stored.at(-1)![0] + MINUTE)
      expect(live.venue.refused).toBe(0)
    },
    LIMIT_MS,
  )

  test(
    'after cuts, refusals, repetitions, reorderings, old answers and late corrections the stored bars are those of REST',
    async () => {
      const seed = Number(process.env['SEED'] ?? 7)
      await using live = followed(venue, seed)
      const cuts = Number(process.env['CUTS'] ?? rounds(170))
      for (let cut = 0; cut < cuts;) {
        await live.clock.pass(Math.floor(live.random.uniform() * 60_000))
        if (!live.calendar.isOpen(live.clock.now())) {
          await live.clock.pass(HOUR)
          continue
        }
        cut++
        const fault = POLL_FAULTS[Math.floor(live.random.uniform() * POLL_FAULTS.length)]!
        if (fault === 'corrected') live.venue.correct(venue.symbol)
        else live.venue.fault = fault
        if (live.random.uniform() < 0.1)
          live.ours.skewMs = Math.floor((live.random.uniform() - 0.5) * 120_000)
        await live.clock.pass(Math.floor(live.random.uniform() * 90_000))
        live.venue.fault = null
      }
      live.ours.skewMs = 0
      while (live.calendar.isOpen(live.clock.now())) await live.clock.pass(HOUR)
      await live.clock.pass(2 * HOUR)
      expect([seed, await live.stored()]).toEqual([seed, live.venue.closed(venue.symbol)])
      expect(live.early).toEqual([])
      expect(await live.status()).toMatchObject({ state: 'fresh', failures: 0 })
    },
    LIMIT_MS,
  )
})
