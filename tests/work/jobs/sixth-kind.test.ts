// A kind of long work is one class: this one counts to a number, and has what all kinds have.

import { expect, test } from 'bun:test'
import { idSource } from '../../../src/lib/ids.ts'
import { silentLog } from '../../../src/lib/log.ts'
import type { Key, Kv } from '../../../src/store/kv.ts'
import type { LiveJob } from '../../../src/work/jobs/live-jobs.ts'
import { recordsOf, type KeptJob } from '../../../src/work/jobs/records.ts'
import { StoredJobs, type StoredJob } from '../../../src/work/jobs/stored-jobs.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { rejection } from '../../rejection.ts'
import { testKv } from '../../store/test-store.ts'

interface Count extends StoredJob {
  readonly reached: number
}
type Progress = Pick<Count, 'state' | 'reached'>

const counts = recordsOf<Count>('counts', 3)
const textKey = (id: string): Key => ['count-text', id]

class Counts extends StoredJobs<Count, Progress, { readonly to: number }> {
  readonly #step: (reached: number) => Promise<void>
  readonly #newId = idSource({ clock: new HandClock(), random: { bytes: (n) => new Uint8Array(n).fill(1) } })

  constructor(kv: Kv, step: (reached: number) => Promise<void> = () => Promise.resolve()) {
    const deps = { kv, clock: new HandClock(), newId: () => 'x', log: silentLog }
    const scriptKey = (id: string): Key => ['count-script', id]
    super(deps, { one: 'count', many: 'counts', missing: 'sweep_not_found', records: counts, scriptKey })
    this.#step = step
  }

  protected override progressOf({ state, reached }: Count): Progress {
    return { state, reached }
  }

  protected override keysOf({ id }: Count): Key[] {
    return [textKey(id)]
  }

  create(userId: string, to: number): Promise<Count> {
    const times = { startedAt: null, finishedAt: null, error: null }
    return this.add({ id: this.#newId('ct'), userId, state: 'queued', reached: 0, ...times }, { to })
  }

  again(job: Count): Promise<Count> {
    return this.restart(job, (before) => ({ ...before, state: 'queued', reached: 0, finishedAt: null }))
  }

  protected override async work(id: string, live: LiveJob<Count, Progress>): Promise<void> {
    const { to } = await this.scriptOf(id)
    let count = await this.started(id)
    while (count && count.reached < to) {
      await this.#step(count.reached)
      live.signal.throwIfAborted()
      count = await this.change(
        id,
        (before) => ({ ...before, reached: before.reached + 1 }),
        ({ reached }) => ({ sets: [{ key: textKey(id), value: 'I'.repeat(reached) }] }),
      )
      if (count) live.tell(this.progressOf(count))
    }
    await this.done(id)
  }
}

const NEVER = new AbortController().signal

async function endOf(jobs: Counts, { userId, id }: KeptJob): Promise<Progress[]> {
  const told: Progress[] = []
  await jobs.watch(userId, id, NEVER, (progress) => told.push(progress))
  return told
}

test('a new kind is stored, watched to its end, done again, and removed with all that it left', async () => {
  const kv = testKv()
  const jobs = new Counts(kv)
  const job = await jobs.create('u', 3)
  expect((await endOf(jobs, job)).at(-1)).toEqual({ state: 'done', reached: 3 })
  expect(await jobs.script('u', job.id)).toEqual({ to: 3 })
  expect(await rejection(jobs.get('v', job.id))).toMatchObject({ code: 'sweep_not_found' })
  await jobs.again(await jobs.get('u', job.id))
  expect((await endOf(jobs, job)).at(-1)).toEqual({ state: 'done', reached: 3 })
  const stored = async () => (await kv.list({ prefix: [] }, { limit: 100 })).map(({ key }) => key[0])
  expect(await stored()).toContain('count-text')
  await jobs.remove('u', job.id)
  expect(await stored()).toEqual([])
})

test('what a server leaves, the next one goes on with, and what was cancelled it does not', async () => {
  const kv = testKv()
  const reached = Promise.withResolvers<void>()
  const end = Promise.withResolvers<never>()
  end.promise.catch(() => undefined)
  const first = new Counts(kv, async (at) => {
    if (at < 2) return
    reached.resolve()
    await end.promise
  })
  const job = await first.create('u', 5)
  await reached.promise
  const stopped = first.stop()
  end.reject(new Error('stopped'))
  await stopped
  expect(await counts(kv).get(job.id)).toMatchObject({ state: 'running', reached: 2 })
  const steps: number[] = []
  const second = new Counts(kv, async (at) => void steps.push(at))
  await second.recover()
  expect((await endOf(second, job)).at(-1)).toEqual({ state: 'done', reached: 5 })
  expect(steps).toEqual([2, 3, 4])
  await second.recover()
  expect(await second.cancel('u', job.id)).toMatchObject({ state: 'done' })
})
