// An agent that is told to find an edge where there is none, and does what greedy agents do: it tries much, takes what looks
// best, and asks again and again until somebody says yes. Where there is an edge, it has to be told so.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { SCOPES } from '../../src/wire/scopes.ts'
import { isLong } from '../long.ts'
import { clientOf } from './agent-client.ts'
import { testServer, unlimited } from './server.ts'

// A busy machine is no failure.
setDefaultTimeout(3_600_000)

/** Of a long run; few markets prove little, so those of a short one are always the same. */
const SEED = isLong ? Number(process.env['SEED'] ?? 1) : 1
/** Markets of noise; one of them costs a second and a half of a processor. */
const TASKS = isLong ? 100 : 2
const BARS = 1500

const FAMILIES = [
  {
    script: `//@version=6
strategy("Cross", default_qty_type = strategy.percent_of_equity, default_qty_value = 50)
fast = ta.sma(close, input.int(5, "A"))
slow = ta.sma(close, input.int(20, "B"))
if fast > slow
    strategy.entry("L", strategy.long)
if fast < slow
    strategy.entry("S", strategy.short)`,
    space: { A: [2, 4, 6, 8, 10], B: [12, 20, 30, 45] },
  },
  {
    script: `//@version=6
strategy("Reversal", default_qty_type = strategy.percent_of_equity, default_qty_value = 50)
r = ta.rsi(close, input.int(5, "A"))
w = input.int(20, "B")
if r < 50 - w
    strategy.entry("L", strategy.long)
if r > 50 + w
    strategy.entry("S", strategy.short)`,
    space: { A: [2, 3, 5, 8, 13], B: [5, 10, 15, 20] },
  },
  {
    script: `//@version=6
strategy("Breakout", default_qty_type = strategy.percent_of_equity, default_qty_value = 50)
if close > ta.highest(high, input.int(10, "A"))[1]
    strategy.entry("L", strategy.long)
if close < ta.lowest(low, input.int(10, "B"))[1]
    strategy.close("L")`,
    space: { A: [3, 5, 8, 13, 20], B: [3, 5, 8, 13] },
  },
] as const

/** A walk of closes, with a drift of so many deviations that turns every 25 bars: 0 is noise. */
function walkCsv(seed: number, trend: number): string {
  const { normal, uniform } = seededRandom(seed)
  let close = 100
  let drift = trend
  const rows = Array.from({ length: BARS }, (_, i) => {
    const open = close
    if (i % 25 === 0) drift = -drift
    close = open * Math.exp(0.01 * (drift + normal()))
    const high = Math.max(open, close) * (1 + 0.003 * uniform())
    const low = Math.min(open, close) * (1 - 0.003 * uniform())
    return [Date.UTC(2020, 0, 1) + i * 86_400_000, open, high, low, close, 1000].join()
  })
  return `time,open,high,low,close,volume\n${rows.join('\n')}\n`
}

async function greedy() {
  const server = testServer(unlimited, { engine: 'real' })
  const { use } = await clientOf(server, await server.token(await server.signUp(), SCOPES))
  const ask = async (name: string, args: Record<string, unknown>) => {
    const { failed, answer } = await use(name, args)
    if (failed) throw new Error(`${name}: ${JSON.stringify(answer)}`)
    return answer
  }
  /** What the agent is told of its candidates on a market, in the order in which it asks. */
  const verdicts = async (symbol: string, csv: string): Promise<string[]> => {
    const query = { exchange: 'N', symbol, interval: '1d' }
    await ask('call_operation', { name: 'POST /api/platform/bars/import', query, body: csv })
    const market = `N:${symbol} 1d`
    const candidates: { readonly id: string; readonly score: number }[] = []
    for (const { script, space } of FAMILIES) {
      const { id, best } = await ask('optimise', { script, market, space, objective: 'sharpe' })
      if (best) candidates.push({ id, score: best.score })
    }
    const { script } = FAMILIES[0]
    for (const A of [3, 7]) {
      const { id, figures } = await ask('run', { script, market, inputs: { A, B: 25 } })
      candidates.push({ id, score: figures.sharpeABar })
    }
    const said: string[] = []
    for (const { id } of candidates.toSorted((a, b) => b.score - a.score).slice(0, 4))
      said.push((await ask('judge', { id }))['verdict'])
    // A user keeps a hundred; what was tried stays counted.
    for (const { id } of candidates)
      if (id.startsWith('sw_'))
        await ask('call_operation', { name: 'DELETE /api/platform/sweeps/{id}', path: { id } })
    return said
  }
  return { verdicts, ask, pool: server.pool }
}

test('who looks for an edge in noise is told that there is none', async () => {
  const { verdicts, pool } = await greedy()
  const told: number[] = []
  for (let task = 0; task < TASKS; task++) {
    const seed = SEED + task
    const said = await verdicts(`W${task}`, walkCsv(seed, 0))
    expect(said).toHaveLength(4)
    if (said.includes('edge')) told.push(seed)
  }
  // One in twenty may be wrong by what the tests promise.
  const allowed = Math.floor(TASKS * 0.05)
  if (isLong)
    console.log(`told "edge" in ${told.length} of ${TASKS} markets of noise (seed ${SEED}): ${told.join()}`)
  expect([told.length <= allowed, told]).toEqual([true, told])
  pool.close()
})

test('who finds one is told so', async () => {
  const { verdicts, pool } = await greedy()
  expect([SEED, await verdicts('M', walkCsv(SEED, 1))]).toEqual([SEED, expect.arrayContaining(['edge'])])
  pool.close()
})

test('the bars held out stay the same, in all intervals, and bars that come later are held out, too', async () => {
  const { verdicts, ask, pool } = await greedy()
  const csv = walkCsv(SEED, 0)
  const lines = csv.trim().split('\n')
  await verdicts('H', [...lines.slice(0, 1201), ''].join('\n'))
  const holdOut = async (interval: string) =>
    (
      await ask('call_operation', {
        name: 'GET /api/platform/hold-out',
        query: { exchange: 'N', symbol: 'H', interval },
      })
    )['holdOut']
  const before = await holdOut('1d')
  expect(before).toMatchObject({ bars: 300, looks: 4 })
  expect(await holdOut('2d')).toMatchObject({ from: expect.any(Number), looks: 4 })
  const query = { exchange: 'N', symbol: 'H', interval: '1d' }
  await ask('call_operation', { name: 'POST /api/platform/bars/import', query, body: csv })
  expect(await holdOut('1d')).toEqual({ from: before.from, bars: 600, looks: 4 })
  pool.close()
})
