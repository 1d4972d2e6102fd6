// A followed series from its stream to whoever waits for its bars: charts and alerts.

import { expect, test } from 'bun:test'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { STREAMED_EXCHANGES } from '../../src/market/live/streamed.ts'
import { LIVE_PROVIDERS } from '../../src/market/live/live-providers.ts'
import { HandClock } from '../lib/hand-clock.ts'
import { binanceDialect } from '../market/live/dialects.ts'
import { FakeVenue, MINUTE, rowOf } from '../market/live/fake-venue.ts'
import { underWay } from '../store/under-way.ts'
import { FakeClock, testServer, unlimited } from './server.ts'

/** Turned by the test, and by nobody who sleeps. */
class TurnedClock extends FakeClock {
  readonly hand = new HandClock()
  override now(): number {
    return this.hand.now()
  }
  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.hand.sleep(ms, signal)
  }
}

const SERIES = { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1m' }
interface Told {
  readonly barTime: number
  readonly message: string
  readonly firedAt: number
}

const query = (interval: string) => new URLSearchParams({ ...SERIES, interval }).toString()

async function live(engine: 'real' | 'stand-in' = 'stand-in') {
  const clock = new TurnedClock()
  const venue = new FakeVenue(binanceDialect, clock, seededRandom(3))
  const server = testServer(unlimited, {
    clock,
    engine,
    network: {
      http: venue.http,
      openSocket: venue.open,
    },
  })
  const run = server.pool.do.bind(server.pool) as (...job: unknown[]) => Promise<never>
  // The clock waits for the engine, which works in threads of its own.
  server.pool.do = (...job: unknown[]) => underWay(run(...job))
  const cookie = await server.signUp()
  const stop = new AbortController()
  const running = [server.services.features.start(stop.signal), venue.run(stop.signal)]
  const call = (method: string, path: string, body?: unknown) =>
    server.call(method, `/api/platform${path}`, { headers: cookie, ...(body !== undefined && { body }) })
  return {
    ...server,
    call,
    bring: (body: string) =>
      server.call('POST', `/api/platform/bars/import?${query('1m')}`, {
        headers: { ...cookie, 'content-type': 'text/csv' },
        body,
      }),
    clock,
    venue,
    pass: (ms: number) => clock.hand.pass(ms),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await clock.hand.settle()
      await Promise.all(running)
      server.pool.close()
    },
  }
}

test('an alert by itself asks nobody; once its provider is chosen, its series comes too', async () => {
  await using it = await live()
  const alert = { ...SERIES, kind: 'price', op: 'crossing_up', price: 1e9, channels: ['email'] }
  const why =
    'Nobody has chosen Binance here yet. Follow or fetch one of its series, and it is asked for this one too.'
  const warned = async () => {
    const { warnings = [] } = (await it.call('POST', '/alerts', alert)).json
    return warnings.flatMap(({ code, message }: Record<string, string>) =>
      code === 'no_new_bars' ? [message] : [],
    )
  }
  expect(await warned()).toEqual([`No new bars come: there are none of BINANCE:BTCUSDT 1m yet. ${why}`])
  await it.bring('time,open,high,low,close,volume\n2024-05-05T00:00:00Z,1,2,1,2,3\n')
  const old = 'No new bars come: the newest of BINANCE:BTCUSDT 1m is of 2024-05-05.'
  expect(await warned()).toEqual([`${old} ${why}`])
  await it.pass(61_000)
  expect([it.venue.requests, it.venue.connections]).toEqual([0, 0])
  const [feed] = (await it.call('GET', '/feeds')).json.feeds
  expect(feed).toMatchObject({
    ...SERIES,
    state: 'stopped',
    followed: false,
    way: 'stream',
    cuts: 0,
    mended: 0,
  })
  expect(feed.said).toBe(why)
  await it.call('POST', '/feeds', { ...SERIES, symbol: 'ETHUSDT' })
  expect(await warned()).toEqual([])
  await it.pass(5000)
  const feeds = (await it.call('GET', '/feeds')).json.feeds
  expect(feeds.map(({ symbol }: { symbol: string }) => symbol).sort()).toEqual(['BTCUSDT', 'ETHUSDT'])
  expect(it.venue.connections).toBe(1)
})

test('of a provider that cannot be reached, whoever makes an alert is told why no bar comes', async () => {
  await using it = await live()
  it.venue.isDown = true
  await it.call('POST', '/feeds', SERIES)
  await it.pass(5000)
  const alert = { ...SERIES, kind: 'price', op: 'crossing_up', price: 1e9, channels: ['email'] }
  const { warnings } = (await it.call('POST', '/alerts', alert)).json
  expect(warnings.map(({ message }: { message: string }) => message)).toContain(
    'No new bars come: there are none of BINANCE:BTCUSDT 1m yet. Binance cannot be reached: connect ECONNREFUSED.',
  )
})

test('a price alert fires on the forming bar, which no store has, and the closed bar follows it', async () => {
  await using it = await live()
  await it.call('POST', '/feeds', SERIES)
  await it.pass(3 * MINUTE + 1000)
  const began = it.venue.bars.length
  const price = rowOf(it.venue.bars.at(-1)!)[4] + 0.3
  await it.call('POST', '/alerts', {
    ...SERIES,
    kind: 'price',
    op: 'crossing_up',
    price,
    channels: ['email'],
  })
  const fired = async () => (await it.call('GET', '/alerts/firings')).json.firings as { firedAt: number }[]
  for (let i = 0; i < 400 && (await fired()).length === 0; i++) await it.pass(5000)
  const [told] = await fired()
  const hit = it.venue.bars.slice(began).find((bar) => rowOf(bar)[2] >= price)!
  // Within the bar, not after it.
  expect(told!.firedAt).toBeLessThan(hit.time + MINUTE)
  const stored = await it.services.bars.read(SERIES, { from: 0 })
  expect(stored.time.at(-1)).toBeLessThan(hit.time)
  await it.pass(2 * MINUTE)
  const after = await it.services.bars.read(SERIES, { from: hit.time, to: hit.time + 1 })
  expect(after.high[0]).toBe(rowOf(it.venue.bars.find(({ time }) => time === hit.time)!)[2])
  expect(await fired()).toHaveLength(1)
})

test.each(['once', 'every_time', 'once_per_bar', 'once_per_bar_close'])(
  'a script alert, %s, is told of a bar once, by its close',
  async (frequency) => {
    await using it = await live('real')
    await it.call('POST', '/feeds', SERIES)
    await it.pass(3 * MINUTE + 20_000)
    const script = await it.call('POST', '/scripts', {
      name: 'Volume',
      source:
        '//@version=6\nindicator("Volume")\nif barstate.isconfirmed\n    alert("v=" + str.tostring(volume), alert.freq_once_per_bar_close)\n',
    })
    const made = it.venue.bars.at(-1)!.time
    const { json } = await it.call('POST', '/alerts', {
      ...SERIES,
      kind: 'script',
      scriptId: script.json.id,
      frequency,
      channels: ['email'],
    })
    expect(json.alert.state).toBe('active')
    for (let i = 0; i < 24; i++) await it.pass(10_000)
    const fired = (await it.call('GET', '/alerts/firings')).json.firings as Told[]
    const told = fired
      .toSorted((a, b) => a.barTime - b.barTime)
      .map(({ barTime, message }) => [barTime, message])
    const bars = it.venue.bars.filter(({ time }) => time >= made && time + MINUTE < it.clock.now() - 10_000)
    expect(bars.length).toBeGreaterThan(3)
    const each = bars.map((bar) => [bar.time, `v=${rowOf(bar)[5]}`] as const)
    expect(told.slice(0, each.length)).toEqual((frequency === 'once' ? each.slice(0, 1) : each) as never)
    for (const { barTime, firedAt } of fired) expect(firedAt).toBeGreaterThanOrEqual(barTime + MINUTE)
  },
)

test('charts are told of the forming bar of what they show, and of intervals that are built of it', async () => {
  await using it = await live()
  await it.call('POST', '/feeds', SERIES)
  await it.pass(7 * MINUTE + 50_000)
  // A fetch by hand stores no forming bar either, where a stream brings the closed ones.
  expect((await it.call('POST', '/bars/fetch', SERIES)).json).toMatchObject({ inserted: 0 })
  const stored = await it.services.bars.read(SERIES, { last: 1 })
  expect(stored.time[0]).toBeLessThan(it.venue.bars.at(-1)!.time)
  const { json } = await it.call('GET', `/bars/forming?${query('1m')}`)
  const [time, open, high, low, close, volume] = rowOf(it.venue.bars.at(-1)!)
  expect(json).toEqual({ ...SERIES, ok: true, live: true, bar: { time, open, high, low, close, volume } })
  const five = (await it.call('GET', `/bars/forming?${query('5m')}`)).json.bar
  const rows = it.venue.bars.slice(-3).map(rowOf)
  expect(five).toMatchObject({
    time: time - 2 * MINUTE,
    open: rows[0]![1],
    high: Math.max(...rows.map((row) => row[2])),
    low: Math.min(...rows.map((row) => row[3])),
    close,
  })
  const told: string[] = []
  it.services.features.live.onForming(({ key, row }) => told.push(`${key.interval} ${row[0] % (5 * MINUTE)}`))
  await it.pass(9000)
  expect(new Set(told)).toEqual(new Set(['1m 120000', '5m 0']))
  // Nobody looks any more.
  await it.pass(3 * MINUTE)
  const before = told.length
  await it.pass(MINUTE)
  expect(told.length).toBe(before)
  expect((await it.call('GET', `/bars/forming?${query('2h')}`)).json.live).toBe(true)
  const other = await it.call('GET', '/bars/forming?exchange=NASDAQ&symbol=AAPL&interval=1d')
  expect(other.json).toMatchObject({ live: false, bar: null })
})

test('the page knows the exchanges that stream', () => {
  const names = LIVE_PROVIDERS.flatMap(({ rest }) => rest.exchanges)
  expect([...names].sort()).toEqual([...STREAMED_EXCHANGES].sort())
})
