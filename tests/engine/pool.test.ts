import { afterEach, expect, test } from 'bun:test'
import type { BacktestJob } from '../../src/engine/job.ts'
import { BacktestPool, type RunOptions } from '../../src/engine/pool.ts'
import { emptyBars } from '../../src/market/bars.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { DEFAULT_LIMITS } from '../../src/pine/runtime/runtime.ts'
import { rejection } from '../rejection.ts'

const symbol = defaultSymbol('X', 'Y')
const clock = { now: () => performance.now(), sleep: (ms: number) => Bun.sleep(ms) }
let pool: BacktestPool

function open(workers = 1) {
  pool = new BacktestPool({
    workers,
    clock,
    spawn: () => new Worker(new URL('./fake-worker.ts', import.meta.url).href),
    memory: () => process.memoryUsage.rss(),
  })
  return (
    source: string,
    { limits = {}, ...options }: Partial<RunOptions> & { limits?: Partial<BacktestJob['limits']> } = {},
  ) => {
    const bars = emptyBars(20_000, { shared: true })
    bars.close.fill(0.5)
    const job: BacktestJob = {
      source,
      inputs: { length: 3 },
      bars,
      symbol,
      interval: '1d',
      finer: null,
      overrides: {},
      libraries: {},
      limits: { ...DEFAULT_LIMITS, ...limits },
    }
    return pool.run(job, { user: 'u1', series: () => null, ...options })
  }
}
afterEach(() => pool.close())

test('a job reads shared bars, tells its progress and answers JSON text', async () => {
  const run = open()
  const bars: number[] = []
  const { report, tracks, summary } = await run('sum', { progress: (bar) => bars.push(bar) })
  expect(JSON.parse(report)).toMatchObject({ sum: 10_000, inputs: { length: 3 } })
  expect(JSON.parse(tracks)).toHaveLength(1)
  expect(summary.trades).toBe(0)
  expect(bars).toEqual([5000, 10_000, 15_000, 20_000])
})

test('what a script did wrong comes back as it was thrown; what we did wrong does not look like it', async () => {
  const run = open()
  expect(await rejection(run('invalid'))).toMatchObject({
    code: 'script_invalid',
    details: { diagnostics: [{ line: 1 }] },
  })
  expect(await rejection(run('crash'))).toMatchObject({
    message: expect.stringContaining('not caught by the engine'),
  })
  expect((await run('sum')).report).toContain('sum')
})

test('a script that never ends is stopped and named, and the next one runs', async () => {
  const run = open()
  const stopped = rejection(run('for ever', { limits: { timeMs: 100 } }))
  const next = run('sum')
  let ticks = 0
  const timer = setInterval(() => ticks++, 5)
  expect(await stopped).toMatchObject({
    status: 422,
    code: 'script_limit_exceeded',
    message: expect.stringContaining('0.1 s'),
  })
  clearInterval(timer)
  // Other work went on meanwhile.
  expect(ticks).toBeGreaterThan(20)
  expect((await next).report).toContain('sum')
})

test('a script that hoards memory is stopped before the process runs out of it', async () => {
  const run = open()
  await run('sum')
  const stopped = await rejection(run('hoard', { limits: { memoryBytes: 200 * 2 ** 20 } }))
  expect(stopped).toMatchObject({ code: 'script_limit_exceeded', message: expect.stringContaining('200 MB') })
  expect((await run('sum')).report).toContain('sum')
})

test('bars that request.* asks for are handed over and the script starts again', async () => {
  const run = open()
  const series = () => ({
    bars: emptyBars(1, { shared: true }),
    symbol: defaultSymbol('X', 'OTHER'),
    interval: '1d',
  })
  expect(JSON.parse((await run('other series', { series })).report).other).toBe('X:OTHER 1d')
  expect(JSON.parse((await run('other series')).report).other).toBeNull()
})

test('a user has one job running and ten waiting; another user is not held up', async () => {
  const run = open(2)
  const abort = new AbortController()
  const first = rejection(run('for ever', { signal: abort.signal }))
  const waiting = Array.from({ length: 10 }, () => rejection(run('sum', { signal: abort.signal })))
  expect(() => pool.assertRoom('u1')).toThrow('10 waiting')
  expect((await run('sum', { user: 'u2' })).report).toContain('sum')
  expect([pool.running, pool.waiting]).toEqual([1, 10])
  abort.abort()
  for (const error of [await first, ...(await Promise.all(waiting))])
    expect(error).toMatchObject({ message: 'The backtest was cancelled.' })
  expect([pool.running, pool.waiting]).toEqual([0, 0])
})
