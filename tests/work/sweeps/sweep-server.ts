// A server with bars and a strategy to sweep, for tests.

import type { SweepBody } from '../../../src/wire/sweep.ts'
import { testServer } from '../../http/server.ts'

export const CROSS = `//@version=6
strategy("cross", initial_capital=10000, default_qty_type=strategy.fixed, default_qty_value=1)
fast = input.int(5, "Fast")
slow = input.int(20, "Slow")
kind = input.string("both", "Kind", options=["both", "long"])
f = ta.sma(close, fast)
s = ta.sma(close, slow)
if ta.crossover(f, s)
    strategy.entry("L", strategy.long)
if ta.crossunder(f, s)
    if kind == "both"
        strategy.entry("S", strategy.short)
    else
        strategy.close("L")
`

/** A price that wanders, the same each time. */
export function barsCsv(count: number, seed = 7): string {
  let state = seed
  let price = 100
  const rows = Array.from({ length: count }, (_, i) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    const open = price
    price = Math.max(10, price + (state / 0x7fffffff - 0.5) * 2)
    const [high, low] = [Math.max(open, price) + 0.2, Math.min(open, price) - 0.2]
    return [Date.UTC(2020, 0, 1) + i * 3_600_000, open, high, low, price, 5].join(',')
  })
  return `time,open,high,low,close,volume\n${rows.join('\n')}`
}

export const SWEEP: SweepBody = {
  name: 'crosses',
  symbol: 'ABC',
  interval: '1h',
  exchange: 'X',
  bars: 600,
  source: CROSS,
  space: [
    { input: 'Fast', min: 2, max: 10, step: 2 },
    { input: 'slow', min: 5, max: 25, step: 5 },
  ],
  where: ['Fast < slow'],
}

export async function sweepServer(
  {
    signedUp,
    ...options
  }: Parameters<typeof testServer>[1] & { readonly signedUp?: { readonly cookie: string } } = {},
  bars = 600,
) {
  const server = testServer(() => ({}), { engine: 'real', ...options })
  const cookie = signedUp ?? (await server.signUp())
  const call = (method: string, path: string, body?: unknown, headers = cookie) =>
    server.call(method, path, { headers, ...(body !== undefined && { body }) })
  if (!signedUp)
    await server.call('POST', '/api/platform/bars/import?symbol=ABC&exchange=X&interval=1h', {
      body: barsCsv(bars),
      headers: { ...cookie, 'content-type': 'text/csv' },
    })
  /** Resolves with what a sweep came to. */
  async function ended(id: string) {
    const { sweeps } = server.services.features
    const { userId } = (await server.services.kv.list({ prefix: ['sweeps', 'id'] }, { limit: 50 }))
      .map(({ value }) => JSON.parse(value) as { id: string; userId: string })
      .find((sweep) => sweep.id === id)!
    await sweeps.watch(userId, id, new AbortController().signal, () => {})
    return (await call('GET', `/api/platform/sweeps/${id}`)).json
  }
  const sweep = async (change: Partial<SweepBody> = {}) => {
    const made = await call('POST', '/api/platform/sweeps', { ...SWEEP, ...change })
    if (made.status !== 200) throw new Error(made.text)
    return ended(made.json.id)
  }
  const trials = async (id: string) => (await call('GET', `/api/platform/sweeps/${id}/results`)).json.trials
  return { ...server, cookie, call, sweep, ended, trials }
}
