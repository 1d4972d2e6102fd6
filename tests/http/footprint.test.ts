// Trades that are imported as bars of seconds and of minutes, and a script that asks what traded at each price: by every way in
// which a script is run.

import { expect, test } from 'bun:test'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { testServer, unlimited } from './server.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 100_000)
console.log(`footprints of imported trades SEED=${SEED}`)

const START = Date.UTC(2024, 2, 5, 10)
const MINUTES_5 = 300_000
const BARS = 24
const MARKET = { exchange: 'BINANCE', symbol: 'BTCUSDT' }

interface Trade {
  readonly at: number
  /** A whole number: a row is as high as 1. */
  readonly price: number
  readonly amount: number
  readonly bought: boolean
}

/** One a second at most, so that seconds stand within a row. */
function randomTrades(): Trade[] {
  const random = seededRandom(SEED)
  let price = 60_000
  return Array.from({ length: BARS * 300 }, (_, second) => ({
    at: START + second * 1000 + random.below(1000),
    price: (price += random.below(5) - 2),
    amount: 1 + random.below(9),
    bought: random.below(2) === 0,
  })).filter((_, second) => second % 300 === 0 || random.below(4) === 0)
}

/** Of each bar the lower price of its busiest row, what was bought there less what was sold, and how many rows there are. */
function busiest(trades: readonly Trade[]): number[][] {
  return [...Map.groupBy(trades, ({ at }) => Math.floor(at / MINUTES_5)).values()].map((bar) => {
    const totals = new Map<number, [number, number]>()
    for (const { price, amount, bought } of bar) {
      const [total, delta] = totals.get(price) ?? [0, 0]
      totals.set(price, [total + amount, delta + (bought ? amount : -amount)])
    }
    const prices = [...totals.keys()].toSorted((a, b) => a - b)
    const [low = 0, high = 0] = [prices[0], prices.at(-1)]
    const away = (price: number) => Math.abs(price - (low + high) / 2)
    const [poc = 0] = prices.toSorted(
      (a, b) => totals.get(b)![0] - totals.get(a)![0] || away(a) - away(b) || a - b,
    )
    return [poc, totals.get(poc)![1], high - low + 1]
  })
}

const ROWS =
  'f = request.footprint(int(math.round(1 / syminfo.mintick)))\nvolume_row p = na\nint count = na\nif not na(f)\n    p := f.poc()\n    if not na(p)\n        count := f.rows().size()\n'
const INDICATOR = `//@version=6\nindicator("rows")\n${ROWS}plot(p.down_price(), "poc")\nplot(p.delta(), "delta")\nplot(count, "count")\n`
const STRATEGY = `//@version=6\nstrategy("rows", calc_on_order_fills = false)\nover = input.int(0, "Over")\n${ROWS}if p.delta() > over\n    strategy.entry("L", strategy.long, comment = str.tostring(p.down_price()))\nelse\n    strategy.close("L")\nplot(p.down_price(), "poc")\n`
const ALERT = `//@version=6\nindicator("busy")\n${ROWS}if p.delta() > 0\n    alert(str.tostring(p.down_price()))\n`
const csv = (trades: readonly Trade[]) =>
  `time,price,amount,side\n${trades.map(({ at, price, amount, bought }) => `${at},${price},${amount},${bought ? 'buy' : 'sell'}\n`).join('')}`

async function open(trades: readonly Trade[], intervals: readonly string[]) {
  const server = testServer(unlimited, { engine: 'real' })
  const cookie = await server.signUp()
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await server.call(method, `/api/platform${path}`, {
      headers: cookie,
      ...(body !== undefined && { body }),
    })
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.anything()])
    return answer.json
  }
  const bring = async (some: readonly Trade[], interval: string) => {
    const query = new URLSearchParams({ ...MARKET, interval }).toString()
    const { status, text } = await server.call('POST', `/api/platform/bars/import?${query}`, {
      headers: { ...cookie, 'content-type': 'text/csv' },
      body: csv(some),
    })
    expect([status, text.slice(0, 300)]).toEqual([200, expect.anything()])
  }
  for (const interval of intervals) await bring(trades, interval)
  return { ...server, call, bring }
}

const RUN = { name: 'rows', ...MARKET, interval: '5m', bars: 500 }

interface Told {
  readonly report: { readonly warnings: readonly { readonly code: string }[] }
  readonly tracks: readonly { readonly id: string; readonly data?: readonly (number | null)[] }[]
}

function plotsOf({ tracks }: Told): (number | null)[][] {
  const [poc, delta, count] = ['poc', 'delta', 'count'].map(
    (name) => tracks.find(({ id }) => id === name)?.data,
  )
  return poc!.map((one, i) => [one, delta![i]!, count![i]!])
}

test('an indicator on the chart has the rows of the trades, whether its bars were imported or are built', async () => {
  const trades = randomTrades()
  for (const intervals of [['1s', '5m'], ['1s']]) {
    const { call } = await open(trades, intervals)
    const { result } = await call('POST', '/backtests/preview', { ...RUN, source: INDICATOR })
    expect(plotsOf(result)).toEqual(busiest(trades))
    expect(result.report.warnings).toEqual([])
  }
})

test('without bars of seconds it has none, and is told what to import', async () => {
  const { call, bring } = await open(randomTrades(), ['5m'])
  const preview = async () => (await call('POST', '/backtests/preview', { ...RUN, source: INDICATOR })).result
  const { report } = await preview()
  expect(report.warnings).toMatchObject([{ code: 'no-sided-bars', message: expect.stringContaining('`1s`') }])
  await bring(randomTrades(), '1s')
  expect(plotsOf(await preview())).toEqual(busiest(randomTrades()))
})

test('backtests, sweeps, forward runs and alerts have them too', async () => {
  const trades = randomTrades()
  const until = (bar: number) => trades.filter(({ at }) => at < START + bar * MINUTES_5)
  const { call, bring, services } = await open(until(15), ['1s', '5m'])
  const { id: forward } = await call('POST', '/forward-runs', { ...RUN, source: STRATEGY, warmup: 15 })
  const { id: scriptId } = await call('POST', '/scripts', { name: 'busy', source: ALERT })
  const fired = { kind: 'script', scriptId, channels: ['email'], frequency: 'once_per_bar' }
  await call('POST', '/alerts', { ...MARKET, interval: '5m', name: 'busy', ...fired })
  // Bars of seconds come first, else the looks would find none.
  for (const bar of [18, 19, BARS]) {
    await bring(until(bar), '1s')
    await bring(until(bar), '5m')
    await services.features.forwardRuns.advanceAll()
    await services.features.looks.settle()
  }
  const expected = busiest(trades)
  const { firings } = await call('GET', '/alerts/firings')
  const bars = firings.map(({ barTime }: { barTime: number }) => (barTime - START) / MINUTES_5)
  expect(bars.toSorted((a: number, b: number) => a - b)).toEqual(
    expected.flatMap(([, delta = 0], bar) => (bar >= 15 && delta > 0 ? [bar] : [])),
  )
  const { result } = await call('POST', '/backtests', { ...RUN, source: STRATEGY })
  const poc = result.tracks.find(({ id }: { id: string }) => id === 'poc').data
  expect(poc).toEqual(expected.map(([price]) => price))
  const { report } = await call('GET', `/forward-runs/${forward}/report`)
  expect(report.range.bars).toBe(BARS)
  expect(report.trades.length).toBeGreaterThan(0)
  expect(report.trades).toEqual(result.report.trades)
  const space = [{ input: 'Over', min: 0, max: 1, step: 1 }]
  const { id: sweep } = await call('POST', '/sweeps', { ...RUN, source: STRATEGY, space })
  const [{ value } = { value: '' }] = await services.kv.list({ prefix: ['sweeps', 'id'] }, { limit: 1 })
  const { userId } = JSON.parse(value) as { userId: string }
  await services.features.sweeps.watch(userId, sweep, new AbortController().signal, () => {})
  const { trials } = await call('GET', `/sweeps/${sweep}/results`)
  const { trades: count, netProfit } = report.summary
  expect(trials.find(({ choices }: { choices: number[] }) => choices[0] === 0).figures).toMatchObject({
    trades: count,
    netProfit,
  })
})
