// Who watches a long job is told of its end, whenever the watching begins and however the job ends.

import { expect, test } from 'bun:test'
import type { KeptJob } from '../../../src/work/jobs/records.ts'
import { UserJobs, type UserJobsOptions } from '../../../src/work/jobs/user-jobs.ts'
import { Problem } from '../../../src/lib/problem.ts'
import { HandClock } from '../../lib/hand-clock.ts'

const NEVER = new AbortController().signal

/** Jobs that end when the test says so. */
function playedJobs(over: (job: KeptJob) => void = () => undefined) {
  const records = new Map<string, KeptJob>()
  const ends = new Map<string, () => void>()
  const jobs = new UserJobs<KeptJob, Pick<KeptJob, 'state'>>({
    noun: ['job', 'jobs'],
    clock: new HandClock(),
    log: () => undefined,
    find: async (id) => records.get(id) ?? null,
    isOurs: () => true,
    countUnderWay: async () => 0,
    progressOf: ({ state }) => ({ state }),
    work: (id) => new Promise<void>((resolve) => ends.set(id, resolve)),
    fail: async () => undefined,
    over,
  })
  const record = (id: string, state: KeptJob['state']) => {
    const job = { id, userId: 'usr_1', state }
    records.set(id, job)
    return job
  }
  return {
    jobs,
    record,
    finish(id: string) {
      record(id, 'done')
      ends.get(id)?.()
    },
  }
}

test('a watcher that comes at the very end is told of the end', async () => {
  const states: string[] = []
  const watched: Promise<void>[] = []
  const told = Promise.withResolvers<void>()
  const { jobs, record, finish } = playedJobs((job) => {
    // Told, and not yet put away.
    watched.push(jobs.watch(job, NEVER, ({ state }) => states.push(state)))
    told.resolve()
  })
  jobs.begin(record('a', 'queued'))
  await Promise.resolve()
  finish('a')
  await told.promise
  await Promise.all(watched)
  expect(states).toEqual(['done'])
})

test('a watcher is told of the end of a job that is ended while it waits behind another', async () => {
  const { jobs, record, finish } = playedJobs()
  jobs.begin(record('a', 'queued'))
  const waiting = record('b', 'queued')
  jobs.begin(waiting)
  const states: string[] = []
  const watched = jobs.watch(waiting, NEVER, ({ state }) => states.push(state))
  record('b', 'cancelled')
  jobs.end('b')
  await Promise.resolve()
  finish('a')
  await watched
  expect(states).toEqual(['queued', 'cancelled'])
})

test('twenty jobs of a user wait or run, however many are sent at once, and a failed one gives its place back', async () => {
  const { jobs, record } = playedJobs()
  const send = (id: string, store: () => Promise<KeptJob | null> = async () => record(id, 'queued')) =>
    jobs.admit({ id, userId: 'usr_1', state: 'queued' }, store).then(
      (job) => job?.id ?? 'none',
      (error: Error & { code?: string }) => error.code ?? error.message,
    )
  const failed = await Promise.all([
    send('x', () => Promise.reject(new Error('disk full'))),
    send('y', async () => null),
  ])
  expect(failed).toEqual(['disk full', 'none'])
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => send(`job_${i}`)))
  expect(answers.filter((answer) => answer === 'concurrency_limited')).toHaveLength(10)
  expect(answers.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, i) => `job_${i}`))
})

/** A job over a store that is away until the test says so, for the steps that it names. */
function jobsOver(
  away: Set<'work' | 'fail' | 'find'>,
  error: Error | null = null,
  refusal: Error = new Problem(503, 'store_unavailable', 'The database does not answer.'),
) {
  const clock = new HandClock()
  const told: string[] = []
  const tries = { work: 0, fail: 0, find: 0 }
  const held = { isOurs: true }
  let record: KeptJob & { code?: string } = { id: 'a', userId: 'usr_1', state: 'running' }
  const ask = (step: 'work' | 'fail' | 'find') => {
    tries[step]++
    if (away.has(step)) throw refusal
  }
  const jobs = new UserJobs<KeptJob, Pick<KeptJob, 'state'>>({
    noun: ['job', 'jobs'],
    clock,
    log: () => undefined,
    async find() {
      ask('find')
      return record
    },
    isOurs: () => held.isOurs,
    countUnderWay: async () => 0,
    progressOf: ({ state }) => ({ state }),
    async work() {
      ask('work')
      if (error) throw error
      record = { ...record, state: 'done' }
    },
    async fail(_id, { code }) {
      ask('fail')
      record = { ...record, state: 'failed', code }
    },
  } satisfies UserJobsOptions<KeptJob, Pick<KeptJob, 'state'>>)
  const watched = () => jobs.watch(record, NEVER, ({ state }) => told.push(state))
  return { jobs, clock, told, tries, held, watched, record: () => record }
}

test.each(['work', 'find'] as const)(
  'a job goes on from its record once the store is back: %p',
  async (step) => {
    const away = new Set([step])
    const { jobs, clock, told, tries, watched, record } = jobsOver(away)
    jobs.begin(record())
    const watching = watched()
    await clock.pass(60_000)
    expect(told).toEqual(['running'])
    // Asked again and again, but not without a pause.
    expect(tries[step]).toBeGreaterThan(5)
    expect(tries[step]).toBeLessThan(15)
    away.clear()
    await clock.pass(10_000)
    await watching
    expect(told).toEqual(['running', 'done'])
    expect(record()).toEqual({ id: 'a', userId: 'usr_1', state: 'done' })
  },
)

test('a job fails of its own fault, also if the store is away when that is to be written', async () => {
  const away = new Set(['fail' as const])
  const own = new Problem(422, 'script_runtime_error', 'Division by zero.')
  const { jobs, clock, told, tries, watched, record } = jobsOver(away, own)
  jobs.begin(record())
  const watching = watched()
  await clock.pass(30_000)
  expect(told).toEqual(['running'])
  away.clear()
  await clock.pass(10_000)
  await watching
  expect(told).toEqual(['running', 'failed'])
  expect([record().code, tries.work]).toEqual(['script_runtime_error', 1])
})

test('a job that waits for the store is left to the server whose it is now', async () => {
  const { jobs, clock, told, tries, held, watched, record } = jobsOver(new Set(['work' as const]))
  jobs.begin(record())
  void watched()
  await clock.pass(30_000)
  const tried = tries.work
  expect([...jobs.underWay()]).toEqual([record().userId])
  held.isOurs = false
  await jobs.giveUp()
  expect([...jobs.underWay()]).toEqual([])
  await clock.pass(60_000)
  expect([tries.work, tries.fail, new Set(told)]).toEqual([tried, 0, new Set(['running'])])
  expect(clock.asleep).toBe(0)
})

test('a watcher who has read the record before the job ended is told of the end', async () => {
  const { jobs, record, finish } = playedJobs()
  const read = record('a', 'running')
  jobs.begin(read)
  await Promise.resolve()
  finish('a')
  await jobs.settled()
  const states: string[] = []
  await jobs.watch(read, NEVER, ({ state }) => states.push(state))
  expect(states).toEqual(['done'])
})

test('a watcher is let go when the job is left to another server', async () => {
  const { jobs, record } = playedJobs()
  const live = jobs.enter(record('a', 'queued'))
  const watching = jobs.watch(live.job, NEVER, () => undefined)
  jobs.leave(live)
  await watching
  expect(jobs.get('a')).toBeUndefined()
})

test('what a stopping server leaves is handed back if the kind says how, and fails in no case', async () => {
  const done: string[] = []
  for (const interrupt of [undefined, async (id: string) => void done.push(`${id} is given back`)]) {
    const record = { id: 'a', userId: 'usr_1', state: 'running' } as const
    const jobs = new UserJobs<KeptJob, Pick<KeptJob, 'state'>>({
      noun: ['job', 'jobs'],
      clock: new HandClock(),
      log: (level) => void done.push(level),
      find: async () => record,
      isOurs: () => true,
      countUnderWay: async () => 0,
      progressOf: ({ state }) => ({ state }),
      work: () => Promise.reject(new Problem(503, 'shutting_down', 'The server is stopping.')),
      fail: async () => void done.push('failed'),
      ...(interrupt && { interrupt }),
    })
    jobs.begin(record)
    await jobs.settled()
    done.push('settled')
  }
  expect(done).toEqual(['settled', 'a is given back', 'settled'])
})

test.each([
  ['a disk that fails', new Error('EIO: i/o error, write')],
  ['a full disk', new Problem(507, 'storage_full', 'The disk is full.')],
])('that a job has failed is stored as soon as %s takes it', async (_, refusal) => {
  const away = new Set(['fail'] as const)
  const { jobs, clock, told, tries, watched, record } = jobsOver(away, new Error('broken'), refusal)
  jobs.begin(record())
  const watching = watched()
  await clock.pass(60_000)
  expect([told, record().state]).toEqual([['running'], 'running'])
  expect(tries.work).toBe(1)
  expect(tries.fail).toBeGreaterThan(5)
  away.clear()
  await clock.pass(10_000)
  await watching
  expect(record()).toMatchObject({ state: 'failed', code: 'internal_error' })
  expect(told).toEqual(['running', 'failed'])
})
