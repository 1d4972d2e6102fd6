// Who watches a long job is told of its end, whenever the watching begins and however the job ends.

import { expect, test } from 'bun:test'
import { UserJobs, type KeptJob } from '../../src/jobs/user-jobs.ts'

const NEVER = new AbortController().signal

/** Jobs that end when the test says so. */
function playedJobs(over: (job: KeptJob) => void = () => undefined) {
  const records = new Map<string, KeptJob>()
  const ends = new Map<string, () => void>()
  const jobs = new UserJobs<KeptJob, Pick<KeptJob, 'state'>>({
    noun: ['job', 'jobs'],
    log: () => undefined,
    find: async (id) => records.get(id) ?? null,
    isOurs: () => true,
    countUnderWay: async () => 0,
    progressOf: ({ state }) => ({ state }),
    work: (id) => new Promise((resolve) => ends.set(id, resolve)),
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
    jobs.admit('usr_1', store).then(
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
