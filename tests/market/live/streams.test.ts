// Streams of all live providers under the faults that streams have: what is stored is what the provider's REST service has.

import { describe, expect, test } from 'bun:test'
import { silentLog } from '../../../src/lib/log.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { BarCache } from '../../../src/market/bar-cache.ts'
import { seriesKey } from '../../../src/market/bar-store.ts'
import { type BarRow, barsOf, rowsOf } from '../../../src/market/bars.ts'
import { calendarOf } from '../../../src/market/calendar.ts'
import { parseInterval } from '../../../src/market/interval.ts'
import { FormingBars } from '../../../src/market/live/forming-bars.ts'
import { Keeper } from '../../../src/market/live/keeper.ts'
import { LIVE_PROVIDERS } from '../../../src/market/live/live-providers.ts'
import { LiveSeries } from '../../../src/market/live/live-series.ts'
import { providerOf } from '../../../src/market/providers/fetch-bars.ts'
import { barsSeenBy } from '../../../src/market/seen-bars.ts'
import { sidedBars, sidedBetween } from '../../../src/market/sided-bars.ts'
import { defaultSymbol } from '../../../src/market/symbols.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import {
  binanceDialect,
  bybitDialect,
  coinbaseDialect,
  hyperliquidDialect,
  krakenDialect,
  okxDialect,
} from './dialects.ts'
import { type Dialect, FakeVenue, type Faults, MINUTE, NO_FAULTS } from './fake-venue.ts'
import { testBars } from '../../store/test-store.ts'

const VENUES: readonly (readonly [exchange: string, symbol: string, Dialect])[] = [
  ['BINANCE', 'BTCUSDT', binanceDialect],
  ['BYBIT', 'BTCUSDT', bybitDialect],
  ['COINBASE', 'BTCUSD', coinbaseDialect],
  ['HYPERLIQUID', 'BTCUSDC.P', hyperliquidDialect],
  ['KRAKEN', 'BTCUSD', krakenDialect],
  ['OKX', 'BTCUSDT', okxDialect],
]

const FAULTS: Faults = { twice: 0.05, late: 0.05, lost: 0.02, garbled: 0.02, refused: 0.05, corrected: 0.05 }

/** A followed series of a venue, on a clock that the test turns. */
function followed([exchange, symbol, dialect]: (typeof VENUES)[number], seed: number) {
  const clock = new HandClock()
  const random = seededRandom(seed)
  const venue = new FakeVenue(dialect, clock, random)
  const store = testBars()
  const early: number[] = []
  const holes: string[] = []
  let isFull = false
  let writeMs = 0
  let answerMs = 0
  let newest = Infinity
  const cache = new BarCache({
    ...store,
    async upsert(key, bars) {
      if (writeMs > 0) await clock.sleep(writeMs)
      if (isFull) throw new Error('the disk is full')
      for (const time of bars.time) if (time + MINUTE > clock.now()) early.push(time)
      noteHole('stored', bars.time[0]!)
      const stored = await store.upsert(key, bars)
      newest = (await store.info(key))!.last
      return stored
    },
  })
  const noteHole = (what: string, time: number) => {
    if (time > newest + MINUTE && venue.closed().some(([opens]) => opens > newest && opens < time))
      holes.push(`${what} ${(time - newest) / MINUTE} minutes behind the newest stored bar`)
  }
  const forming = new FormingBars(0)
  forming.onChange((of) => {
    if (of === key) noteHole('shown', forming.get(key)!.row[0])
  })
  const key = seriesKey(exchange, symbol, '1m')
  const keeper = new Keeper({
    cache,
    async http(...request) {
      const answer = await venue.http(...request)
      if (answerMs > 0) await clock.sleep(answerMs)
      return answer
    },
    clock,
    log: silentLog,
    open: venue.open,
    spread: () => random.uniform(),
    forming,
    providers: LIVE_PROVIDERS,
    providerOf,
  })
  const stop = new AbortController()
  keeper.follow(key)
  const running = Promise.all([venue.run(stop.signal), keeper.run(stop.signal)])
  return {
    clock,
    random,
    venue,
    cache,
    forming,
    key,
    keeper,
    /** Times of bars that were stored before they were over. */
    early,
    /** What was stored or shown although bars before it were not stored. */
    holes,
    fails: (does: boolean) => (isFull = does),
    /** REST's answers are so old when they come. */
    answersIn: (ms: number) => (answerMs = ms),
    /** Each write takes so long. */
    writesIn: (ms: number) => (writeMs = ms),
    /** Goes on to the middle of a minute, when nothing is still to be settled. */
    middle: () => clock.pass(MINUTE - (clock.now() % MINUTE) + MINUTE / 2),
    status: async () => (await keeper.status())[0]!,
    async stored(): Promise<BarRow[]> {
      return rowsOf(await cache.read(key, { from: 0 }))
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await clock.settle()
      await running
    },
  }
}

describe.each(VENUES)('%s', (...of) => {
  test('a closed bar is stored as it closes, without a request, and the forming one is not stored', async () => {
    await using live = followed(of, 1)
    await live.clock.pass(3 * MINUTE + 30_000)
    const asked = live.venue.requests
    await live.clock.pass(20_000)
    expect(await live.status()).toMatchObject({ state: 'live', failures: 0, lastError: null })
    const row = live.forming.get(live.key)?.row
    expect(row?.[0]).toBe(live.venue.bars.at(-1)?.time)
    // What a stream without a flag has closed is compared after ten seconds.
    expect(live.venue.requests).toBe(asked)
    expect(live.early).toEqual([])
    await live.clock.pass(10 * MINUTE)
    await live.middle()
    expect(await live.stored()).toEqual(live.venue.closed())
  })

  test('after cuts, repetitions, reorderings, losses and late corrections the stored bars are those of REST', async () => {
    const seed = Number(process.env['SEED'] ?? 7)
    await using live = followed(of, seed)
    live.venue.faults = FAULTS
    const cuts = Number(process.env['CUTS'] ?? 170)
    for (let cut = 0; cut < cuts; cut++) {
      await live.clock.pass(Math.floor(live.random.uniform() * 90_000))
      live.venue.cut()
    }
    live.venue.faults = NO_FAULTS
    await live.clock.pass(65 * MINUTE)
    await live.middle()
    expect([seed, await live.stored()]).toEqual([seed, live.venue.closed().slice(-5000)])
    expect([live.early, live.holes]).toEqual([[], []])
    const { stream, state } = await live.status()
    expect(state).toBe('live')
    expect(stream?.cuts).toBeGreaterThan(cuts / 3)
  })
})

describe('what was bought', () => {
  const known = (rows: readonly BarRow[]) => rows.filter(({ length }) => length === 7).length

  test('is of the forming bar as of the closed ones', async () => {
    await using live = followed(VENUES[0]!, 14)
    await live.clock.pass(10 * MINUTE + 30_000)
    const { volume, bought, time } = live.venue.bars.at(-1)!
    expect(bought).toBeGreaterThan(0)
    expect(bought).toBeLessThan(volume)
    expect(live.forming.get(live.key)?.row).toMatchObject({ 0: time, 5: volume / 1000, 6: bought / 1000 })
    expect(known(await live.stored())).toBe((await live.stored()).length)
  })

  test('comes to bars that were stored without it where they are asked for again, and only to those', async () => {
    await using live = followed(VENUES[0]!, 15)
    await live.clock.pass(90 * MINUTE + 30_000)
    live.keeper.unfollow(live.key)
    const rows = (await live.stored()).map((row) => row.slice(0, 6))
    await live.cache.upsert(live.key, barsOf(rows))
    expect(known(await live.stored())).toBe(0)
    const asked = live.venue.requests
    live.keeper.follow(live.key)
    await live.clock.pass(45 * MINUTE)
    await live.middle()
    expect(known(await live.stored())).toBeLessThan(100)
    expect((await live.stored()).slice(-45)).toEqual(live.venue.closed().slice(-45))
    expect(live.venue.requests - asked).toBeLessThan(6)
  })

  test('is known of longer bars where it is of all their minutes, on another server as well', async () => {
    await using live = followed(VENUES[0]!, 17)
    const five = seriesKey('BINANCE', 'BTCUSDT', '5m')
    await live.clock.pass(60 * MINUTE)
    live.keeper.unfollow(live.key)
    await live.cache.upsert(live.key, barsOf((await live.stored()).map((row) => row.slice(0, 6))))
    const other = new BarCache(live.cache.store)
    const caches = [live.cache, other]
    for (const cache of caches) expect(known(rowsOf(await cache.read(five)))).toBe(0)
    live.venue.refusesStreams = true
    await live.clock.pass(20 * MINUTE)
    live.keeper.follow(live.key)
    await live.clock.pass(20 * MINUTE)
    live.venue.refusesStreams = false
    await live.clock.pass(20 * MINUTE)
    await live.middle()
    const minutes = await live.stored()
    const sumIn = (from: number) =>
      minutes
        .filter(([time]) => time >= from && time < from + 5 * MINUTE)
        .reduce((sum, row) => sum + (row[6] ?? Number.NaN), 0)
    for (const cache of caches) {
      const bars = await cache.read(five)
      expect([...bars.bought!]).toEqual([...bars.time].map(sumIn))
      expect(known(rowsOf(bars))).toBeGreaterThan(12)
      expect(known(rowsOf(bars))).toBeLessThan(bars.length)
      const seen = barsSeenBy(cache, null)
      const sided = await sidedBars(seen, 'BINANCE', 'BTCUSDT', sidedBetween(null, '5m', 0))
      expect(sided && [sided.interval, ...rowsOf(sided.bars)]).toEqual(['1m', ...minutes])
    }
  })

  test('of an import is kept where the provider tells nothing of it', async () => {
    await using live = followed(VENUES[1]!, 16)
    await live.clock.pass(20 * MINUTE + 30_000)
    const rows = (await live.stored()).map((row) => [...row, row[5] / 2])
    await live.cache.upsert(live.key, barsOf(rows))
    await live.clock.pass(70 * MINUTE)
    await live.middle()
    const after = await live.stored()
    expect(after.slice(0, rows.length) as readonly (readonly number[])[]).toEqual(rows)
    expect(known(after)).toBe(rows.length)
  })
})

test('a stream that cannot be reached is fetched as bars end, and says so; it comes back by itself', async () => {
  await using live = followed(VENUES[0]!, 5)
  await live.clock.pass(2 * MINUTE)
  live.venue.refusesStreams = true
  live.venue.cut('gone')
  await live.clock.pass(10 * MINUTE)
  await live.middle()
  expect(await live.stored()).toEqual(live.venue.closed())
  const status = await live.status()
  expect(status).toMatchObject({ state: 'retrying', stream: { cuts: 1, liveSince: null } })
  expect(status.lastError).toBe('The stream was cut: refused.')
  expect(live.forming.get(live.key)?.row[0]).toBe(live.venue.bars.at(-1)?.time)
  live.venue.refusesStreams = false
  await live.clock.pass(2 * MINUTE)
  expect((await live.status()).state).toBe('live')
  expect(live.early).toEqual([])
})

test('nothing at all can be reached: it is asked more and more rarely, and the gap is filled afterwards', async () => {
  await using live = followed(VENUES[0]!, 6)
  await live.clock.pass(2 * MINUTE)
  live.venue.isDown = true
  live.venue.cut('gone')
  const [asked, opened] = [live.venue.requests, live.venue.connections]
  await live.clock.pass(60 * MINUTE)
  expect(live.venue.requests - asked).toBeLessThan(100)
  expect(live.venue.connections - opened).toBeLessThan(80)
  expect(await live.status()).toMatchObject({ state: 'retrying' })
  live.venue.isDown = false
  await live.clock.pass(20 * MINUTE)
  await live.middle()
  expect(await live.stored()).toEqual(live.venue.closed())
  expect((await live.status()).state).toBe('live')
})

test('a stream that freezes without a word is cut and opened again, and nothing is missing', async () => {
  await using live = followed(VENUES[0]!, 8)
  await live.clock.pass(2 * MINUTE)
  live.venue.freeze()
  await live.clock.pass(5 * MINUTE)
  await live.middle()
  expect(await live.status()).toMatchObject({
    state: 'live',
    stream: { cuts: 1, lastCut: { reason: 'nothing was heard for 75 s' } },
  })
  expect(await live.stored()).toEqual(live.venue.closed())
})

test('one stream serves all series that are made of it, and ends with the last of them', async () => {
  await using live = followed(VENUES[2]!, 9)
  const [exchange, symbol] = VENUES[2]!
  const five = seriesKey(exchange, symbol, '5m')
  await live.clock.pass(MINUTE)
  live.keeper.follow(five)
  live.keeper.follow(five)
  await live.clock.pass(MINUTE)
  expect((await live.keeper.status()).map(({ key, state }) => [key.interval, state])).toEqual([
    ['1m', 'live'],
    ['5m', 'live'],
  ])
  expect(live.venue.connections).toBe(1)
  live.keeper.unfollow(live.key)
  await live.clock.pass(MINUTE)
  expect(live.venue.isConnected).toBe(true)
  live.keeper.unfollow(five)
  await live.clock.settle()
  expect([live.venue.isConnected, live.forming.get(five), live.forming.get(live.key)]).toEqual([
    false,
    null,
    null,
  ])
})

test('a store that fails for a while loses nothing', async () => {
  await using live = followed(VENUES[0]!, 10)
  await live.clock.pass(2 * MINUTE)
  live.fails(true)
  await live.clock.pass(5 * MINUTE)
  expect(await live.status()).toMatchObject({ lastError: 'the disk is full' })
  live.fails(false)
  await live.clock.pass(20 * MINUTE)
  await live.middle()
  expect(await live.stored()).toEqual(live.venue.closed())
})

test('of what waits to be written when a series is unfollowed nothing is written', async () => {
  await using live = followed(VENUES[0]!, 13)
  await live.clock.pass(3 * MINUTE)
  // Bars close faster than they are written.
  live.writesIn(100_000)
  await live.clock.pass(10 * MINUTE)
  const { length } = await live.stored()
  expect(live.venue.closed().length - length).toBeGreaterThan(2)
  live.keeper.unfollow(live.key)
  await live.clock.pass(30 * MINUTE)
  // One was being written.
  expect((await live.stored()).length).toBeLessThanOrEqual(length + 1)
})

test('of a series that is unfollowed while it is asked for, or written, nothing more is told', async () => {
  for (const [refused, afterMs] of [
    [0, 3000],
    [1, 3000],
    [0, 7000],
  ] as const) {
    await using live = followed(VENUES[0]!, 18)
    await live.clock.pass(3 * MINUTE)
    live.keeper.unfollow(live.key)
    await live.clock.pass(5 * MINUTE)
    const told: string[] = []
    live.keeper.onAsked(({ state }) => told.push(state))
    live.answersIn(5000)
    live.writesIn(5000)
    live.venue.faults = { ...NO_FAULTS, refused }
    const asked = live.venue.requests
    live.keeper.follow(live.key)
    await live.clock.pass(afterMs)
    expect(live.venue.requests).toBe(asked + 1)
    live.keeper.unfollow(live.key)
    told.length = 0
    await live.clock.pass(MINUTE)
    expect(told).toEqual([])
  }
})

test('a bar of trades that waits for one that REST is slow to tell is not taken for one without a trade', () => {
  const stored: BarRow[] = []
  const series = new LiveSeries({
    interval: parseInterval('1m')!,
    closing: 'trades',
    store: (rows) => void stored.push(...rows),
    forming: () => {},
  })
  const calendar = calendarOf(defaultSymbol('COINBASE', 'BTCUSD'))
  const rowAt = (minute: number): BarRow => [minute * MINUTE, 1, 1, 1, 1, 1]
  const answer = (minutes: readonly number[], from: number | null, said: number) =>
    series.filled(minutes.map(rowAt), from, { asked: said, said }, calendar)
  const trade = (id: number, minute: number) => {
    const time = minute * MINUTE + 500
    series.heard({ kind: 'trade', topic: '', id, time, price: '1', size: '1' }, time)
  }
  series.subscribed()
  answer([8, 9], null, 10 * MINUTE + 5000)
  // Nobody knows what of the tenth minute came before the stream.
  for (const minute of [10, 11, 12]) trade(minute, minute)
  expect(answer([10], 10 * MINUTE, 12 * MINUTE + 1000)).toEqual([rowAt(10)])
  trade(13, 13)
  // What a stream says once more is the same trade.
  trade(13, 13)
  expect(stored).toEqual([])
  expect(series.askFrom(13 * MINUTE + 500)).toBe(11 * MINUTE)
  answer([11, 12], 11 * MINUTE, 13 * MINUTE + 5000)
  trade(14, 14)
  expect(stored).toEqual([rowAt(13)])
})

test('a bar that closes while REST is asked is stored behind those of the answer', async () => {
  await using live = followed(VENUES[0]!, 12)
  const beforeEnd = () => live.clock.pass(2 * MINUTE - 1000 - (live.clock.now() % MINUTE))
  await beforeEnd()
  live.keeper.unfollow(live.key)
  await beforeEnd()
  await beforeEnd()
  live.answersIn(2000)
  live.keeper.follow(live.key)
  await live.clock.pass(3000)
  expect(live.holes).toEqual([])
  expect((await live.stored()).at(-1)).toEqual(live.venue.closed().at(-1))
})

test.each(VENUES)(
  '%s: no bar is shown or stored before all bars that come before it',
  async (exchange, symbol, dialect) => {
    await using live = followed([exchange, symbol, dialect], 11)
    await live.clock.pass(2 * MINUTE)
    for (const fails of [false, true]) {
      live.writesIn(100_000)
      await live.clock.pass(5 * MINUTE)
      live.fails(fails)
      await live.clock.pass(5 * MINUTE)
      live.fails(false)
      live.writesIn(0)
      await live.clock.pass(5 * MINUTE)
      expect(live.holes).toEqual([])
    }
    await live.clock.pass(15 * MINUTE)
    await live.middle()
    expect(await live.stored()).toEqual(live.venue.closed())
    for (let i = 0; i < 60 && live.forming.get(live.key) === null; i++) await live.clock.pass(1000)
    expect(live.forming.get(live.key)).not.toBeNull()
  },
)
