// A server with a day's work of a trader in it, the same on every machine: the clock stands still, and randomness repeats.
// It prints one line of JSON, and ends when its input does.

import { BarCache } from '../../src/market/bar-cache.ts'
import { loadSamples } from '../../src/market/sample.ts'
import { serveFiles } from '../../src/server/assets.ts'
import { bundleDashboard } from '../../src/server/source/dashboard-bundle.ts'
import { testServer, unlimited } from '../http/server.ts'
import { testBars, testKv } from '../store/test-store.ts'

const HOUR = 3_600_000
/** What the clocks of server and pages show. */
const NOW = Date.parse(process.env['NOW'] ?? '2026-01-01')

const CROSS = await Bun.file(`${import.meta.dir}/../../data/samples/sma-cross.pine`).text()
const RSI = await Bun.file(`${import.meta.dir}/../../data/samples/rsi-reversal.pine`).text()
const SUPERTREND = await Bun.file(`${import.meta.dir}/../../data/samples/supertrend.pine`).text()
const SCREEN = `//@version=6
indicator("Screen")
average = ta.sma(close, 50)
plot(average, "Average 50")
plot(ta.rsi(close, 14), "RSI")
alertcondition(close > average, "Above it")
alertcondition(ta.rsi(close, 14) < 40, "Weak")
`
const SPX = { exchange: 'SP', symbol: 'SPX', interval: '1d' }
const COINS = [
  ['BTCUSDT', 60_000, 3],
  ['ETHUSDT', 3000, 77],
  ['SOLUSDT', 150, 9],
] as const

const files = await bundleDashboard()
const bars = new BarCache(testBars())
await loadSamples(bars)
const server = testServer((base) => ({ ...unlimited(base), dashboard: serveFiles('', files) }), {
  engine: 'real',
  kv: testKv(),
  bars,
})
server.clock.time = NOW
const { cookie } = await server.signUp('olga@example.com')
const loops = server.services.features.start(new AbortController().signal)
loops.catch((error: unknown) => console.error(error))
const ids = await seed(server, cookie)
server.app.listen({ port: 0, hostname: '127.0.0.1' })
// What waits on it now would turn it on.
server.clock.now = () => NOW
const script = { id: ids.scripts[0], name: 'SMA cross', source: CROSS }
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.app.server?.port}`, cookie, ids, script }))
await Bun.stdin.text()
process.exit(0)

async function seed(server: ReturnType<typeof testServer>, cookie: string) {
  const call = async (method: string, path: string, body?: unknown, type = 'application/json') => {
    const headers = { cookie, 'content-type': type }
    const answer = await server.call(method, `/api/platform${path}`, {
      headers,
      ...(body !== undefined && { body }),
    })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.json
  }
  const post = (path: string, body?: unknown) => call('POST', path, body)
  const ended = async (path: string, name: string) => {
    for (;;) {
      const { [name]: job } = await call('GET', path)
      if (!['queued', 'running'].includes(job.state)) return job
      await Bun.sleep(20)
    }
  }
  for (const [symbol, price, number] of COINS)
    await call(
      'POST',
      `/bars/import?exchange=BINANCE&symbol=${symbol}&interval=1h`,
      walk(3000, price, number),
      'text/csv',
    )
  const scripts: string[] = []
  for (const [name, source, visibility] of [
    ['SMA cross', CROSS, 'private'],
    ['RSI reversal', RSI, 'public'],
    ['Screen', SCREEN, 'private'],
  ])
    scripts.push((await post('/scripts', { name, source, visibility })).id)
  const backtests: string[] = []
  for (const [name, market, source, bars] of [
    ['SMA cross', SPX, CROSS, 2000],
    ['SuperTrend', { exchange: 'NASDAQ', symbol: 'AAPL', interval: '1d' }, SUPERTREND, 1200],
    ['RSI reversal', { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1h' }, RSI, 2000],
    ['SMA cross', { exchange: 'BINANCE', symbol: 'ETHUSDT', interval: '1h' }, CROSS, 2000],
  ] as const) {
    server.clock.advance(-7 * 60_000)
    backtests.push((await post('/backtests', { name, ...market, source, bars })).id)
  }
  const hook = await post('/webhooks', {
    name: 'Orders',
    url: 'https://hooks.example.com/orders',
    events: ['backtest.reportReady', 'alert.triggered'],
  })
  await post(`/webhooks/${hook.id}/test`)
  const watchlist = await post('/watchlists/import', {
    name: 'Mornings',
    items: [
      { ...SPX, note: 'The market itself', interval: undefined },
      { exchange: 'NASDAQ', symbol: 'AAPL', note: null },
      ...COINS.map(([symbol]) => ({ exchange: 'BINANCE', symbol, note: null })),
      { exchange: 'NYSE', symbol: 'IBM', note: 'no bars yet' },
    ],
  })
  for (const alert of [
    { ...SPX, kind: 'price', op: 'crossing_up', price: 3400, channels: ['email'], name: 'A new high' },
    {
      exchange: 'BINANCE',
      symbol: 'BTCUSDT',
      interval: '1h',
      kind: 'price',
      op: 'below',
      price: 1_000_000,
      channels: ['email', 'webhook'],
      message: 'BTC fell to {{close}}',
    },
    {
      exchange: 'BINANCE',
      symbol: 'ETHUSDT',
      interval: '1h',
      kind: 'change',
      op: 'moving_down_pct',
      percent: 5,
      bars: 24,
      channels: ['email'],
      frequency: 'once_per_bar_close',
    },
  ])
    await post('/alerts', alert)
  const sweep = await post('/sweeps', {
    ...SPX,
    name: 'SMA cross',
    source: CROSS,
    bars: 1500,
    space: [
      { input: 'Fast length', min: 5, max: 25, step: 5 },
      { input: 'Slow length', min: 30, max: 80, step: 10 },
    ],
    sampler: 'grid',
    seed: 1,
  })
  await ended(`/sweeps/${sweep.id}`, 'sweep')
  const scan = await post('/scans', {
    name: 'Screen',
    interval: '1h',
    bars: 500,
    source: SCREEN,
    symbols: COINS.map(([symbol]) => ({ exchange: 'BINANCE', symbol })),
  })
  await ended(`/scans/${scan.id}`, 'scan')
  const portfolio = await post('/portfolios', {
    name: 'Both',
    capital: 20_000,
    parts: [
      { ...SPX, name: 'Cross', bars: 1500, source: CROSS },
      {
        exchange: 'NASDAQ',
        symbol: 'AAPL',
        interval: '1d',
        name: 'SuperTrend',
        bars: 1200,
        source: SUPERTREND,
      },
    ],
  })
  await ended(`/portfolios/${portfolio.id}`, 'portfolio')
  const [from, to] = [Math.floor(NOW / HOUR) * HOUR - 90 * HOUR, Math.floor(NOW / HOUR) * HOUR - 20 * HOUR]
  const between = (a: number, b: number) => [
    { time: from, price: a },
    { time: to, price: b },
  ]
  await call('PATCH', '/drawings', {
    exchange: 'BINANCE',
    symbol: 'BTCUSDT',
    put: [
      {
        id: 'a',
        tool: 'trend-line',
        points: between(56_000, 58_500),
        style: { color: '#2962ff', lineWidth: 2 },
      },
      { id: 'b', tool: 'fib-retracement', points: between(61_000, 57_000), style: {} },
      { id: 'c', tool: 'rectangle', points: between(55_500, 56_500), style: { color: '#f57c00' } },
      {
        id: 'd',
        tool: 'horizontal-line',
        points: [{ time: to, price: 60_000 }],
        style: { color: '#ab47bc' },
      },
    ],
    remove: [],
  })
  const idea = await post('/ideas', {
    title: 'Averages that cross',
    body: 'The **20** over the 50, on the index alone.\n\n- long above\n- flat below\n',
    tags: ['trend', 'index'],
    visibility: 'public',
    ...SPX,
    backtestId: backtests[0],
  })
  await call('PUT', `/ideas/${idea.id}/snapshot`, {})
  await post('/ideas', {
    title: 'Ether lags',
    body: 'A day behind, most of the time.',
    tags: ['crypto'],
    visibility: 'private',
    exchange: 'BINANCE',
    symbol: 'ETHUSDT',
    interval: '1h',
  })
  return {
    scripts,
    backtests,
    watchlist: watchlist.id as string,
    webhook: hook.id as string,
    sweep: sweep.id as string,
    scan: scan.id as string,
    portfolio: portfolio.id as string,
    idea: idea.id as string,
  }
}

/** Bars of an hour that end when the clock stands still, as CSV. */
function walk(count: number, first: number, number: number): string {
  let state = number
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const end = Math.floor(NOW / HOUR) * HOUR - HOUR
  let price = first
  const rows = Array.from({ length: count }, (_, i) => {
    const open = price
    price = Math.max(1, price * (1 + (random() - 0.497) * 0.012))
    const high = Math.max(open, price) * (1 + random() * 0.004)
    const low = Math.min(open, price) * (1 - random() * 0.004)
    const time = (end - (count - 1 - i) * HOUR) / 1000
    return `${time},${[open, high, low, price].map((one) => one.toFixed(2)).join(',')},${Math.round(random() * 1000)}`
  })
  return ['time,open,high,low,close,volume', ...rows].join('\n')
}
