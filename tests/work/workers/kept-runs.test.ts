// Kept runs: shared by equal ones, the one asked for longest ago goes first, and an answer never hangs on any of it.

import { describe, expect, test } from 'bun:test'
import { advance } from '../../../src/broker/advance.ts'
import { advanceJob } from '../../../src/work/workers/advance-job.ts'
import type { AdvanceJob, AdvanceOutput } from '../../../src/work/workers/job.ts'
import { KeptRuns } from '../../../src/work/workers/kept-runs.ts'
import type { JobPool } from '../../../src/work/workers/pool.ts'
import type { JobOptions } from '../../../src/work/workers/task.ts'
import type { Desk } from '../../../src/work/workers/desk.ts'
import { sliceBars } from '../../../src/market/bars.ts'
import { scriptRequest } from '../../../src/tools/incremental.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'

const OPTIONS: JobOptions = { user: 'u', lane: 'alerts', budget: { timeMs: 1000, memoryBytes: 1e9 } }
const DESK = {
  host: { library: async () => null, series: async () => null, finer: async () => null },
  progress: () => {},
  used: () => {},
} as unknown as Desk

/** A pool that does the job at once, and notes where it went on from. */
function poolOf(positions: (number | null)[]): Pick<JobPool, 'do'> {
  const work = (_kind: string, job: AdvanceJob) => {
    positions.push(job.kept?.position ?? null)
    return advanceJob(job, DESK)
  }
  return { do: work }
}

const source = (n: number) =>
  `//@version=6\nindicator("x")\nvar total = 0.0\ntotal += close * ${n}\nif close > open\n    alert(str.tostring(total))\nplot(ta.sma(total, 5))\n`

function jobOf(n: number, length: number, from = length - 1): Omit<AdvanceJob, 'kept' | 'trusted'> {
  const { bars, symbol, interval, limits } = scriptRequest(source(n), 300, 5)
  const run = { source: source(n), inputs: {}, overrides: {}, bars: sliceBars(bars, 0, length) }
  return { ...run, symbol, interval, limits, from }
}

/** Numbers as text: of two na the bits may differ. */
function inWords({ plots, ...answer }: Omit<AdvanceOutput, 'kept'>): unknown {
  return { ...answer, plots: plots.map(([title, values]) => [title, Array.from(values, String)]) }
}

describe('kept runs', () => {
  test('a run goes on from before the newest bar, for everybody with the same script and bars', async () => {
    const positions: (number | null)[] = []
    const kept = new KeptRuns(poolOf(positions))
    await kept.advance('a', jobOf(1, 200), OPTIONS)
    await kept.advance('a', jobOf(1, 200), OPTIONS)
    await kept.advance('a', jobOf(1, 202), OPTIONS)
    await kept.advance('a', jobOf(1, 202), OPTIONS)
    await kept.advance('b', jobOf(1, 202), OPTIONS)
    expect(positions).toEqual([null, 199, 199, 201, null])
    expect(kept.count).toBe(2)
  })

  test('runs as of different days share nothing', async () => {
    const positions: (number | null)[] = []
    const kept = new KeptRuns(poolOf(positions))
    for (const asOf of [undefined, '2026-09-23', '2026-09-24', undefined, '2026-09-24'])
      await kept.advance('a', { ...jobOf(1, 200), asOf }, OPTIONS)
    expect(positions).toEqual([null, null, null, 199, 199])
  })

  test('the one that was asked for longest ago goes first, and the sum is never above the most', async () => {
    const alone = new KeptRuns(poolOf([]))
    await alone.advance('a', jobOf(1, 200), OPTIONS)
    const positions: (number | null)[] = []
    const kept = new KeptRuns(poolOf(positions), 2.5 * alone.bytes)
    for (const n of [1, 2, 1, 3, 1, 2]) {
      await kept.advance('a', jobOf(n, 200), OPTIONS)
      expect(kept.bytes).toBeLessThanOrEqual(2.5 * alone.bytes)
    }
    expect(positions).toEqual([null, null, 199, null, 199, null])
  })

  test('an earlier bar that was corrected, an input or a symbol that changed make a run start again', async () => {
    const positions: (number | null)[] = []
    const kept = new KeptRuns(poolOf(positions))
    const job = jobOf(1, 200)
    await kept.advance('a', job, OPTIONS)
    const bars = { ...job.bars, close: job.bars.close.slice() }
    bars.close[50]! += 1
    const corrected = await kept.advance('a', { ...job, bars }, OPTIONS)
    const { kept: _, ...fresh } = advance({ ...job, bars, series: () => null }, null, 199)
    expect(inWords(corrected)).toEqual(inWords(fresh))
    await kept.advance('a', { ...job, symbol: { ...job.symbol, mintick: 5 } }, OPTIONS)
    await kept.advance('a', { ...job, overrides: {}, inputs: {} }, OPTIONS)
    expect(positions).toEqual([null, 199, null, 199])
  })

  test('a script that throws says so, and leaves what is kept of others', async () => {
    const kept = new KeptRuns(poolOf([]))
    await kept.advance('a', jobOf(1, 200), OPTIONS)
    const throws = {
      ...jobOf(1, 200),
      source: '//@version=6\nindicator("x")\nif bar_index == 199\n    runtime.error("no")\n',
    }
    expect(kept.advance('a', throws, OPTIONS)).rejects.toThrow('no')
    expect(kept.count).toBe(1)
  })

  test('whatever comes how, evicted or not, the answers are those of runs over all bars', async () => {
    const seed = Number(Bun.env['SEED'] ?? Date.now() % 100_000)
    console.log(`kept runs seed ${seed}`)
    const random = seededRandom(seed).uniform
    const alone = new KeptRuns(poolOf([]))
    await alone.advance('a', jobOf(1, 200), OPTIONS)
    const kept = new KeptRuns(poolOf([]), 1.5 * alone.bytes)
    for (let look = 0, length = 50; look < 40; look++) {
      length = Math.min(300, length + (random() < 0.8 ? Math.floor(random() * 3) : Math.floor(random() * 40)))
      const job = jobOf(
        1 + Math.floor(random() * 3),
        length,
        Math.max(0, length - 1 - Math.floor(random() * (random() < 0.2 ? 200 : 70))),
      )
      const bars = { ...job.bars, close: job.bars.close.slice() }
      if (random() < 0.4) bars.close[length - 1]! += 1
      if (random() < 0.1) bars.close[Math.floor(random() * length)]! += 1
      const answer = await kept.advance('a', { ...job, bars }, OPTIONS)
      const { kept: _, ...fresh } = advance({ ...job, bars, series: () => null }, null, job.from)
      expect(inWords(answer)).toEqual(inWords(fresh))
    }
  })
})
