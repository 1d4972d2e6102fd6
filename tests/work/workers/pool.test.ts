import { afterEach, expect, test } from 'bun:test'
import type { TextBytes } from '../../../src/work/workers/answer.ts'
import type { Host } from '../../../src/work/workers/desk.ts'
import { USED, type BacktestOutput, type ToWorker } from '../../../src/work/workers/job.ts'
import { JobPool, type PoolOptions } from '../../../src/work/workers/pool.ts'
import type { WorkerThread, JobOptions } from '../../../src/work/workers/task.ts'
import { ownThread, ownThreadMs, threadMs } from '../../../src/work/workers/thread-time.ts'
import { emptyBars } from '../../../src/market/bars.ts'
import { defaultSymbol } from '../../../src/market/symbols.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import { rejection } from '../../rejection.ts'

const symbol = defaultSymbol('X', 'Y')
const clock = { now: () => performance.now(), sleep: (ms: number) => Bun.sleep(ms) }
let pool: JobPool

interface Asked extends Partial<JobOptions> {
  readonly limits?: Partial<typeof DEFAULT_LIMITS>
  readonly series?: Host['series']
}

/** On a machine that is busy with other tests a thread may wait long for its time. */
const byTheClock: PoolOptions['threadMs'] = () => null
const textOf = (bytes: TextBytes) => Buffer.concat(bytes).toString()
const rss = () => process.memoryUsage.rss()

function open(
  workers = 1,
  { memory = rss, spawn = standIn, time = byTheClock, now = clock.now, processors = 64 } = {},
) {
  pool = new JobPool({
    workers,
    processors,
    clock: { ...clock, now },
    spawn,
    threadMs: time,
    memory,
    memoryMax: Infinity,
  })
  return (
    source: string,
    { limits = {}, series = () => null, ...options }: Asked = {},
  ): Promise<BacktestOutput> => {
    const bars = emptyBars(20_000, { shared: true })
    bars.close.fill(0.5)
    const all = { ...DEFAULT_LIMITS, ...limits }
    const job = {
      source,
      inputs: { length: 3 },
      bars,
      symbol,
      interval: '1d',
      overrides: {},
      limits: all,
    }
    return pool.do('run', job, {
      user: 'u1',
      lane: 'long',
      budget: all,
      host: { library: () => null, series, finer: () => null },
      ...options,
    })
  }
}
const standIn = () => new Worker(new URL('./fake-worker.ts', import.meta.url).href)
const check = (user: string, source = 'x = 1') =>
  pool.do(
    'check',
    { source },
    {
      user,
      lane: 'quick',
      budget: DEFAULT_LIMITS,
      host: { library: () => null },
    },
  )
afterEach(() => pool.close())

test('a job reads shared bars, tells its progress and answers JSON text', async () => {
  const run = open()
  const bars: number[] = []
  const { report, tracks, summary } = await run('sum', { progress: (bar: number) => bars.push(bar) })
  expect(JSON.parse(textOf(report))).toMatchObject({ sum: 10_000, inputs: { length: 3 } })
  expect(JSON.parse(textOf(tracks))).toHaveLength(1)
  expect(summary.trades).toBe(0)
  // Every 5,000 bars, and where they take long in between.
  const steps = [...bars, 20_000].map((bar, i) => bar - (bars[i - 1] ?? 0))
  expect(bars.length).toBeGreaterThanOrEqual(4)
  expect(Math.min(...steps)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...steps)).toBeLessThanOrEqual(5000)
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
  expect(textOf((await run('sum')).report)).toContain('sum')
})

test('a script that never ends is stopped and named, and the next one runs', async () => {
  // Time passes as other work goes on.
  let ticks = 0
  const run = open(1, { now: () => 5 * ticks })
  // A thread that a busy machine takes seconds to start has done nothing, which is another answer.
  await run('sum')
  const stopped = rejection(run('for ever', { limits: { timeMs: 100 } }))
  const next = run('sum')
  const timer = setInterval(() => ticks++, 5)
  expect(await stopped).toMatchObject({
    status: 422,
    code: 'script_limit_exceeded',
    message: expect.stringContaining('0.1 s'),
  })
  clearInterval(timer)
  expect(textOf((await next).report)).toContain('sum')
})

test('a job’s time is that in which its thread had a processor', async () => {
  const asked: number[] = []
  // What the system says of the thread: that it waited, three times, and then that it worked.
  const time = (thread: number) => {
    asked.push(thread)
    return asked.length < 4 ? 0 : Infinity
  }
  const run = open(1, { time })
  const stopped = await rejection(run('for ever', { limits: { timeMs: 1000 } }))
  expect(stopped).toMatchObject({ status: 422, code: 'script_limit_exceeded' })
  expect(asked).toHaveLength(4)
})

test('a job that never gets a processor is given up, and not for its own fault', async () => {
  const run = open(1, { time: () => 0 })
  const stopped = await rejection(run('for ever', { limits: { timeMs: 1 } }))
  expect(stopped).toMatchObject({ status: 503, code: 'overloaded', details: { retryAfter: 10 } })
})

test('a thread’s time is counted from inside as from outside', () => {
  if (process.platform !== 'linux') return
  const inside = ownThreadMs()
  const outside = threadMs(ownThread() ?? 0)
  expect(Math.abs((outside ?? 0) - inside)).toBeLessThan(1000)
  expect(threadMs(0)).toBeNull()
})

test('a script that counts more memory than its budget is stopped, and its thread is not used again', async () => {
  let spawned = 0
  const run = open(1, { spawn: () => (spawned++, standIn()) })
  await run('sum')
  const stopped = await rejection(run('hoard', { limits: { memoryBytes: 200 * 2 ** 20 } }))
  expect(stopped).toMatchObject({ code: 'script_limit_exceeded', message: expect.stringContaining('200 MB') })
  expect(textOf((await run('sum')).report)).toContain('sum')
  expect(spawned).toBe(2)
})

test('a thread is used again after a large job, unless much of it stays on its heap', async () => {
  const [threads, ended] = [[] as Worker[], [] as Worker[]]
  const spawn = () => {
    const worker = standIn()
    const { terminate } = worker
    worker.terminate = () => {
      ended.push(worker)
      terminate.call(worker)
    }
    threads.push(worker)
    return worker
  }
  const run = open(1, { spawn })
  await run('took 100 MB')
  await run('sum')
  expect([threads.length, ended.length]).toEqual([1, 0])
  await run('keeps 100 MB')
  // What is left it tells after its answer; it may have the next job by then.
  while (!ended.includes(threads[0]!)) await run('sum')
  await run('sum')
  expect([threads.length, ended.length]).toEqual([2, 1])
})

test('somebody else’s memory stops nobody: the last brake is for the job that counts most', async () => {
  let process = 0
  const run = open(3, { memory: () => process })
  // On a busy machine its second may be over before the other has taken anything.
  const innocent = rejection(run('for ever', { user: 'u1', limits: { timeMs: 1000 } }))
  const greedy = run('takes 50 MB for ever', {
    user: 'u2',
    limits: { memoryBytes: 64 * 2 ** 20 },
    // By now it has counted what it took. More than all budgets together, and a gigabyte.
    progress: () => (process = 4 * 2 ** 30),
  })
  expect(await rejection(greedy)).toMatchObject({ message: expect.stringContaining('64 MB') })
  process = 0
  expect(await innocent).toMatchObject({ message: expect.stringContaining('1 s') })
})

test('bars that request.* asks for are handed over and the script starts again', async () => {
  const run = open()
  const series = () => ({
    bars: emptyBars(1, { shared: true }),
    symbol: defaultSymbol('X', 'OTHER'),
    interval: '1d',
  })
  expect(JSON.parse(textOf((await run('other series', { series })).report)).other).toBe('X:OTHER 1d')
  expect(JSON.parse(textOf((await run('other series')).report)).other).toBeNull()
})

test('a user has one run at a time and ten waiting; another user is not held up', async () => {
  const run = open(3)
  const abort = new AbortController()
  const first = rejection(run('for ever', { signal: abort.signal }))
  const waiting = Array.from({ length: 10 }, () => rejection(run('sum', { signal: abort.signal })))
  expect(() => pool.assertRoom('u1')).toThrow('10 waiting')
  expect(textOf((await run('sum', { user: 'u2' })).report)).toContain('sum')
  expect([pool.running, pool.waiting]).toEqual([1, 10])
  abort.abort()
  for (const error of [await first, ...(await Promise.all(waiting))])
    expect(error).toMatchObject({ message: 'The backtest was cancelled.' })
  expect([pool.running, pool.waiting]).toEqual([0, 0])
})

test('with one worker a check and a preview are answered while a run goes on for ever', async () => {
  const run = open(1)
  const endless = rejection(run('for ever'))
  expect((await check('u1')).kind).toBe('draft')
  expect(textOf((await run('sum', { lane: 'prompt' })).report)).toContain('sum')
  expect(pool.running).toBe(1)
  pool.close()
  expect(await endless).toMatchObject({ status: 503, code: 'shutting_down' })
})

test('with one worker an indicator is not held up by a slow script of its user, nor two of them by a third', async () => {
  let later = 0
  const run = open(1, { now: () => performance.now() + later })
  const slow = [rejection(run('for ever', { lane: 'prompt' }))]
  const indicator = run('sum', { lane: 'prompt' })
  expect([pool.running, pool.waiting]).toEqual([1, 1])
  later += 2000
  expect(textOf((await indicator).report)).toContain('sum')
  slow.push(rejection(run('for ever', { lane: 'prompt' })))
  later += 2000
  slow.push(rejection(run('for ever', { lane: 'prompt' })))
  expect((await check('u1')).kind).toBe('draft')
  expect([pool.running, pool.waiting]).toEqual([2, 1])
  pool.close()
  for (const stopped of slow) expect(await stopped).toMatchObject({ code: 'shutting_down' })
})

test('checks are answered while previews that never end hold all their threads', async () => {
  const run = open(2)
  const endless = ['a', 'b', 'c', 'd'].map((user) => rejection(run('for ever', { user, lane: 'prompt' })))
  expect((await check('a')).kind).toBe('draft')
  expect([pool.running, pool.waiting]).toEqual([2, 2])
  pool.close()
  for (const stopped of endless) expect(await stopped).toMatchObject({ code: 'shutting_down' })
})

test('users take turns: who asks once waits for one job of who asks ten times', async () => {
  const run = open(1)
  const order: string[] = []
  const note = (user: string) => () => order.push(user)
  const jobs = [
    ...Array.from({ length: 5 }, () => run('sum', { user: 'many', started: note('many') })),
    run('sum', { user: 'one', started: note('one') }),
    run('sum', { user: 'two', started: note('two') }),
  ]
  await Promise.all(jobs)
  expect(order).toEqual(['many', 'one', 'two', 'many', 'many', 'many', 'many'])
})

test('scripts of alerts take turns with runs, and hold up no check', async () => {
  const run = open(1)
  const order: string[] = []
  const note = (what: string) => () => order.push(what)
  const jobs = [
    ...['a', 'b', 'c'].map((user) => run('sum', { user, started: note('run') })),
    ...['a', 'b', 'c'].map((user) => run('sum', { user, lane: 'alerts', started: note('alert') })),
  ]
  await Promise.all(jobs)
  expect(order).toEqual(['run', 'alert', 'run', 'alert', 'run', 'alert'])
})

test('sweeps leave a processor to whoever asks for something else, and take it again a second later', async () => {
  let now = 0
  const run = open(4, { now: () => now, processors: 2 })
  const begun: number[] = []
  const part = (n: number) => {
    const stop = new AbortController()
    const started = Promise.withResolvers<void>()
    const over = run('for ever', {
      lane: 'sweeps',
      signal: stop.signal,
      started() {
        begun.push(n)
        started.resolve()
      },
    }).catch(() => {})
    return { started: started.promise, end: () => (stop.abort(), over) }
  }
  const parts = [1, 2, 3].map(part)
  expect(begun).toEqual([1, 2, 3])
  await Promise.all(parts.map(({ end }) => end()))
  pool.asked()
  const [first, second, third] = [4, 5, 6].map(part)
  expect(begun).toEqual([1, 2, 3, 4])
  // Whatever else is long is not held back.
  await run('sum', { user: 'u2' })
  await first!.end()
  expect(begun).toEqual([1, 2, 3, 4, 5])
  now = 1000
  await third!.started
  await Promise.all([second!.end(), third!.end()])
})

test('previews beside a sweep cost neither of them its thread', async () => {
  let spawned = 0
  const run = open(1, {
    spawn() {
      spawned++
      return standIn()
    },
  })
  for (let i = 0; i < 3; i++) {
    const part = run('sum', { lane: 'sweeps' })
    const preview = run('sum', { user: 'u2', lane: 'prompt' })
    await Promise.all([part, preview])
    await run('sum', { lane: 'sweeps' })
  }
  expect(spawned).toBe(2)
})

test('a server that stops refuses what waits at once, takes nothing new, and ends what runs when it is closed', async () => {
  const run = open(1)
  const [running, waiting] = [rejection(run('for ever')), rejection(run('sum', { user: 'u2' }))]
  pool.drain()
  const refused = { status: 503, code: 'shutting_down', details: { retryAfter: 5 } }
  expect(await waiting).toMatchObject(refused)
  expect(await rejection(run('sum', { user: 'u3' }))).toMatchObject(refused)
  pool.close()
  expect(await running).toMatchObject(refused)
})

test('a thread of imports that starts slowly is not taken for a stuck one', async () => {
  const sent: ToWorker[] = []
  const thread: WorkerThread = {
    onmessage: null,
    onerror: null,
    postMessage: (message) => void sent.push(message),
    terminate() {},
  }
  let passed = 0
  let look = Promise.withResolvers<void>()
  // Other suites of this process may take memory meanwhile.
  open(1, {
    now: () => (look.resolve(), passed),
    spawn: () => thread as Worker,
    time: () => 400,
    memory: () => 0,
  })
  const looked = async () => {
    for (let i = 0; i < 2; i++) {
      look = Promise.withResolvers()
      await look.promise
    }
  }
  const imported = pool.do(
    'import',
    { symbol },
    { user: 'u1', lane: 'imports', budget: { timeMs: 300, memoryBytes: 1 } },
  )
  for (passed of [1000, 60_000]) await looked()
  const [job] = sent
  if (job?.to !== 'job') throw new Error('nothing was sent to the thread')
  job.used[USED.thread] = 7
  for (passed of [60_100, 120_000]) await looked()
  const answer = { aside: [] }
  thread.onmessage?.(new MessageEvent('message', { data: { task: job.task, from: 'done', answer } }))
  expect(await imported).toEqual(answer)
})

test('a thread that dies fails its own job only', async () => {
  const threads: WorkerThread[] = []
  const run = open(1, {
    spawn: () => {
      const thread = standIn()
      threads.push(thread)
      return thread
    },
  })
  const lost = rejection(
    run('for ever', {
      started: () =>
        setTimeout(() => threads[0]?.onerror?.(new ErrorEvent('error', { message: 'gone' })), 10),
    }),
  )
  const next = run('sum', { user: 'u2' })
  expect(await lost).toMatchObject({ message: expect.stringContaining('gone') })
  expect(textOf((await next).report)).toContain('sum')
})
