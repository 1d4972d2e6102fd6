// Requests that are dealt out of the schemas, at real bars: whatever span, interval, market or time they name, the answer
// is one that is documented, and none is the server's own fault. A long run asks 30,000; `SEED=7 RUNS=100000 bun test …` so many.

import { describe, expect, test } from 'bun:test'
import { seriesKey } from '../../src/market/bar-store.ts'
import { type BarRange, selectBars } from '../../src/market/bars.ts'
import { loadSamples } from '../../src/market/sample.ts'
import { Dealer, DEALT, type Market, OF_SPANS } from './dealt-requests.ts'
import { isLong } from '../long.ts'
import { testServer, unlimited } from './server.ts'

const SEED = Number(Bun.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const RUNS = Number(Bun.env['RUNS'] ?? (isLong ? 30_000 : 800))
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** What providers answer, in turn. */
const PROVIDED = ['[]', '{}', '{"result":[]}', '', 'null', '<html>', '[[1,"1"]]']
let provided = 0
const network = {
  http: async () => new Response(PROVIDED[provided++ % PROVIDED.length]),
  openSocket: () => {
    throw new Error('no sockets in this test')
  },
}
const { call, signUp, services } = testServer(unlimited, { engine: 'real', network })
const headers = await signUp()
const markets = await storedMarkets()

/** The samples, and of them: one bar, contracts of a future, and two markets that have no day in common. */
async function storedMarkets(): Promise<readonly Market[]> {
  const { bars } = services
  await loadSamples(bars)
  const apple = await bars.read(seriesKey('NASDAQ', 'AAPL', '1d'))
  const day = (n: number) => apple.time[n]!
  const parts: readonly (readonly [exchange: string, symbol: string, interval: string, range: BarRange])[] = [
    ['ONE', 'BAR', '1h', { last: 1 }],
    ['CME', 'ESH2015', '1d', { from: day(400), to: day(460) }],
    ['CME', 'ESM2015', '1d', { from: day(430), to: day(520) }],
    ['E', 'EARLY', '1d', { to: day(50) }],
    ['L', 'LATE', '1d', { from: day(900) }],
  ]
  for (const [exchange, symbol, interval, range] of parts)
    await bars.upsert(seriesKey(exchange, symbol, interval), selectBars(apple, range))
  const stored: readonly Market[] = await bars.store.list()
  const named = [
    'CME ES1!',
    'SPREAD SP:SPX/NASDAQ:AAPL',
    'SPREAD E:EARLY-L:LATE',
    'BINANCE BTCUSDT',
    'NO WHERE',
  ]
  const made = named.map((name) => {
    const [exchange = '', symbol = ''] = name.split(' ')
    return { ...stored.at(-1)!, exchange, symbol }
  })
  return [...stored, ...made]
}

describe('a span', () => {
  const apple = markets.find(({ symbol }) => symbol === 'AAPL')!
  const { first, last } = apple
  const spans: readonly (readonly [what: string, start: number | null, end: number | null, bars: number])[] =
    [
      ['before all bars', null, first - 1, 0],
      ['before all bars, from a time', first - DAY, first - 1, 0],
      ['behind all bars', last + 1, null, 0],
      ['long behind', 4e12, 4e12, 0],
      ['of the first bar', first, first, 1],
      ['of the last bar', last, last, 1],
      ['between two bars', first + HOUR, first + 2 * HOUR, 0],
      ['up to the first bar', null, first, 1],
      ['from the last bar', last, null, 1],
      ['of all bars', first, last, apple.count],
    ]
  const query = (start: number | null, end: number | null) =>
    Object.entries({ start, end })
      .flatMap(([name, time]) => (time === null ? [] : [`&${name}=${new Date(time).toISOString()}`]))
      .join('')
  const ask = (path: string) => call('GET', `/api/platform/${path}`, { headers })

  test.each(spans.map((span) => [...span] as const))('%s', async (_what, start, end, bars) => {
    const of = `symbol=AAPL&exchange=NASDAQ&interval=1d${query(start, end)}`
    const { replay, warnings } = (await ask(`replay?${of}`)).json
    const columns = (await ask(`bars?${of}`)).json
    const file = await ask(`bars/export?${of}`)
    expect([
      replay.bars.time.length,
      columns.bars.time.length,
      file.text.trim().split('\n').length - 1,
    ]).toEqual([bars, bars, bars])
    const iso = (time: number) => new Date(time).toISOString()
    expect([replay.start, replay.end]).toEqual([
      iso(start ?? (bars > 0 ? first : end!)),
      iso(end ?? (bars > 0 ? last : start!)),
    ])
    const said =
      bars > 0
        ? undefined
        : [
            {
              code: 'no_bars_in_span',
              message: 'NASDAQ:AAPL 1d has bars from 2013-05-13T13:30 to 2018-05-11T13:30 (UTC).',
            },
          ]
    expect([warnings, columns.warnings]).toEqual([said, said])
  })

  test.each(['1w', '1M', '12M', '52w', '7d'])(
    'of %s has no bar before the first or behind the last',
    async (interval) => {
      for (const path of ['replay', 'bars'])
        for (const [start, end] of [
          [null, first - 400 * DAY],
          [last + 400 * DAY, null],
        ] as const) {
          const { status, json } = await ask(
            `${path}?symbol=AAPL&exchange=NASDAQ&interval=${interval}${query(start, end)}`,
          )
          expect([status, (json.replay ?? json).bars.time, json.warnings.length]).toEqual([200, [], 1])
        }
    },
  )

  test('of series that have no day in common is not found, by runs and replays', async () => {
    const market = { symbol: 'E:EARLY-L:LATE', exchange: 'SPREAD', interval: '1d' }
    const run = { name: 'x', ...market, bars: 9, source: '//@version=6\nstrategy("s")' }
    const answers = [
      await call('POST', '/api/platform/backtests', { headers, body: run }),
      await call('POST', '/api/platform/backtests/preview', { headers, body: run }),
      await call('POST', '/api/platform/portfolios', { headers, body: { name: 'x', parts: [run] } }),
      await call('POST', '/api/platform/sweeps', {
        headers,
        body: { ...run, space: [{ property: 'initial_capital', values: [1, 2] }] },
      }),
      await ask(`replay?${new URLSearchParams(market).toString()}`),
    ]
    for (const { json } of answers)
      expect(json.error).toMatchObject({
        code: 'bars_not_found',
        message: expect.stringContaining(
          'begins (2016-12-06T14:30) after another has ended (2013-07-23T13:30)',
        ),
      })
  })
})

test('an alert on a formula whose parts are not there is refused as any on a formula', async () => {
  const alert = { interval: '1h', kind: 'price', op: 'above', price: 1, channels: ['email'] }
  const body = { ...alert, exchange: 'SPREAD', symbol: 'NO:ONE-NO:OTHER' }
  const { status, json } = await call('POST', '/api/platform/alerts', { headers, body })
  expect([status, json.error]).toEqual([
    422,
    expect.objectContaining({ fields: [expect.objectContaining({ path: '/symbol' })] }),
  ])
})

test(
  `no request is answered by a fault of the server, SEED=${SEED}`,
  async () => {
    const dealer = new Dealer(SEED, markets)
    const done = new Set<string>()
    for (let run = 0; run < RUNS; run++) {
      // Some requests remove series.
      if (run % 1000 === 999) await storedMarkets()
      const operation = run % 2 === 0 ? dealer.any() : OF_SPANS[(run >> 1) % OF_SPANS.length]!
      const { method, path, body, headers: also } = dealer.deal(operation)
      const answer = await call(method, path, {
        // Who signs in anew is signed out before.
        headers: { ...(operation[1].access !== 'none' && headers), ...also },
        ...(body !== undefined && { body }),
      })
      const code = answer.json?.error?.code
      // Providers answer nothing of use here.
      if (answer.status >= 500 && code !== 'provider_unavailable')
        throw new Error(
          `request ${run}: ${method} ${path} ${JSON.stringify(body)} was answered ${answer.text}`,
        )
      if (answer.status < 300) done.add(operation[0])
      dealer.learn(answer.text)
    }
    // It deals what can be done, and not refusals alone.
    expect(done.size).toBeGreaterThan(Math.min(RUNS / 20, DEALT.length * 0.6))
  },
  isLong ? 3_600_000 : 600_000,
)
