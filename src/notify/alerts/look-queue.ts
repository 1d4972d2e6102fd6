// The queue of looks: takes up the notes that the store keeps of new bars, and looks at the alerts of their series.
//
// A note stays until every lane has looked and no newer bars have come meanwhile, so that neither a stop nor a failure
// loses one. Alerts with a script have a lane of their own, since plain ones should not wait for them. Within a lane, a series
// is looked at by one look at a time, a few series go side by side, and a series that has made a step goes to the end of the line.

import { Backoff } from '../../lib/backoff.ts'
import { createLoop } from '../../lib/loop.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { ALL_SHARDS, type Shards } from '../../lib/shards.ts'
import { ownerOf, seriesName, type BarNote, type SeriesKey } from '../../market/bar-store.ts'

export interface LookQueueDeps {
  readonly clock: Clock
  readonly log: Log
  /** The symbols whose alerts this server looks at. */
  readonly shards?: Shards
  readonly notes: () => Promise<readonly BarNote[]>
  readonly clear: (note: BarNote) => Promise<void>
  /** Series to look at when the server starts, even without a note. */
  readonly unsettled: () => AsyncIterable<SeriesKey>
  /** When the server starts, the bars whose end alerts wait for; null for a step that found none. */
  readonly forming: () => AsyncIterable<Closing | null>
  /** Series whose forming bar has changed since this was last asked, of which no note tells. */
  readonly stirred?: () => Iterable<SeriesKey>
  /** The functions that look, in short steps. */
  readonly lanes: readonly Look[]
}

/** The time at which a bar of a series ends, for alerts that wait for its close even if no other bar follows. */
export interface Closing {
  readonly key: SeriesKey
  readonly at: number
}

type Look = (source: SeriesKey) => AsyncGenerator<void>

interface Job {
  readonly key: SeriesKey
  /** The newest note of the series. */
  note: BarNote
  /** For each lane, the change up to which the series was looked at. */
  readonly done: number[]
}

interface Turn {
  readonly job: Job
  steps: AsyncGenerator<void> | null
  /** The change that will have been looked at after the remaining steps. */
  covers: number
  readonly backoff: Backoff
  state: 'idle' | 'ready' | 'running' | 'failed'
}

/** The longest pause before notes are read again, since another process may have imported bars. */
const NAP_MS = 1000
const RETRY_MOST_MS = 5000
/** How many series are asked at the start for their forming bar before others get their turn. */
const FORMING_STEP = 100
/**
 * How many series of a lane are looked at side by side: a look mostly waits for a worker or the disk, and their commits go
 * together.
 */
const PARALLEL = 16

export type LookQueue = ReturnType<typeof createLookQueue>

export function createLookQueue(deps: LookQueueDeps) {
  const { clock, shards = ALL_SHARDS } = deps
  const jobs = new Map<string, Job>()
  const closings = new Map<string, Closing>()
  const lanes = deps.lanes.map((look, i) => lane(look, i))
  let begun = false
  /** A store that cannot be read for a while must not end the looks. */
  const loop = createLoop(
    deps,
    'looking at alerts',
    async (signal) => {
      if (!begun) await begin(signal)
      await start()
      return NAP_MS
    },
    { mostMs: RETRY_MOST_MS },
  )
  const waiting: (() => void)[] = []
  /** Turns of any lane that make a step now, and who waits for any of them to have made it. */
  const stepping = new Set<Turn>()
  const waitingForStep: (() => void)[] = []
  /** What went to another server. If the series comes back, it begins again: a look may not go on from what it once read. */
  const given = new WeakSet<Job>()
  let stopped = false
  const isOurs = (key: SeriesKey) => shards.holds(symbolShard(key))
  shards.onGained(() => {
    begun = false
    loop.wake()
  })
  shards.beforeGiving(
    async () => {
      while ([...stepping].some(({ job }) => !isOurs(job.key)))
        await new Promise<void>((resolve) => waitingForStep.push(resolve))
    },
    () => stepping.values().map(({ job }) => symbolShard(job.key)),
  )

  function want(note: BarNote): void {
    if (!isOurs(note.key)) return
    const name = nameOf(note.key)
    const job = jobs.get(name) ?? {
      key: note.key,
      note,
      done: lanes.map(() => Number.NEGATIVE_INFINITY),
    }
    if (note.change > job.note.change) job.note = note
    jobs.set(name, job)
    for (const one of lanes) one.want(job)
  }

  async function finish(job: Job): Promise<void> {
    const { note } = job
    if (job.done.some((change) => change < note.change)) return
    if (note.change > 0) await deps.clear(note)
    if (job.note === note) jobs.delete(nameOf(job.key))
  }

  function lane(look: Look, index: number) {
    const turns = new Map<Job, Turn>()
    const line: Turn[] = []
    let running = 0

    function want(job: Job): void {
      const turn = turns.get(job) ?? {
        job,
        steps: null,
        covers: 0,
        backoff: new Backoff(deps, `looking at the alerts of ${seriesName(job.key)}`),
        state: 'idle' as const,
      }
      turns.set(job, turn)
      const isDue = turn.state === 'failed' && turn.backoff.waitMs === 0
      if ((turn.state === 'idle' && isBehind(job)) || isDue) enqueue(turn)
    }

    const isBehind = (job: Job) => (job.done[index] ?? 0) < job.note.change

    function enqueue(turn: Turn): void {
      turn.state = 'ready'
      line.push(turn)
    }

    function pump(): void {
      if (stopped) return
      while (running < PARALLEL) {
        const turn = line.shift()
        if (!turn) return
        running++
        turn.state = 'running'
        stepping.add(turn)
        void step(turn).finally(() => {
          stepping.delete(turn)
          for (const tell of waitingForStep.splice(0)) tell()
          running--
          pump()
          if (running > 0) return
          loop.wake()
          for (const tell of waiting.splice(0)) tell()
        })
      }
    }

    async function step(turn: Turn): Promise<void> {
      const { job } = turn
      if (given.has(job) || !isOurs(job.key)) {
        // Another server goes on with it, from what is stored.
        given.add(job)
        turns.delete(job)
        if (jobs.get(nameOf(job.key)) === job) jobs.delete(nameOf(job.key))
        return
      }
      try {
        if (!turn.steps) {
          turn.covers = job.note.change
          turn.steps = look(job.key)
        }
        const { done } = await turn.steps.next()
        if (!done) {
          // Gives requests their turn.
          await clock.sleep(0)
          return enqueue(turn)
        }
        turn.steps = null
        job.done[index] = turn.covers
        await finish(job)
        turn.backoff.worked()
        turn.state = 'idle'
        if (isBehind(job)) enqueue(turn)
        else turns.delete(job)
      } catch (error) {
        failed(turn, error)
      }
    }

    function failed(turn: Turn, error: unknown): void {
      turn.steps = null
      turn.state = 'failed'
      // The note stays, and the look is repeated.
      turn.job.done[index] = Number.NEGATIVE_INFINITY
      turn.backoff.failed(error)
    }

    return { want, pump, isBusy: () => running > 0 || (line.length > 0 && !stopped) }
  }

  async function begin(signal: AbortSignal): Promise<void> {
    // Set first: symbols that come while this reads begin it again.
    begun = true
    try {
      for await (const key of deps.unsettled()) want({ key, from: 0, to: 0, change: 0 })
      await start()
      await findForming(signal)
    } catch (error) {
      begun = false
      throw error
    }
  }

  /** Starts as many looks as may run now. */
  async function start(): Promise<void> {
    for (const note of await deps.notes()) want(note)
    for (const key of deps.stirred?.() ?? []) want({ key, from: 0, to: 0, change: 0 })
    for (const [name, { key, at }] of closings) {
      if (!isOurs(key)) closings.delete(name)
      // A look that is running may have seen the bar before its end, so ask for another one after it.
      if (at > clock.now() || jobs.has(name)) continue
      closings.delete(name)
      want({ key, from: 0, to: 0, change: 0 })
    }
    // Failed looks wait for their next attempt, even if their note is listed again.
    for (const job of jobs.values()) for (const one of lanes) one.want(job)
    for (const one of lanes) one.pump()
  }

  /** Remembers only the earliest end for each series; that look then finds the next one. */
  function lookAtEnd(closing: Closing): void {
    const name = nameOf(closing.key)
    const before = closings.get(name)
    if (!before || before.at > closing.at) closings.set(name, closing)
  }

  async function findForming(signal: AbortSignal): Promise<void> {
    let steps = 0
    for await (const closing of deps.forming()) {
      if (signal.aborted) return
      if (closing) lookAtEnd(closing)
      if (++steps % FORMING_STEP === 0) await clock.sleep(0)
    }
  }

  async function whenIdle(): Promise<void> {
    while (lanes.some((one) => one.isBusy())) await new Promise<void>((resolve) => waiting.push(resolve))
  }

  return {
    /** Bars came. */
    wake: () => loop.wake(),
    /** Looks at a series as if bars had come: another server has changed its alerts. */
    lookAgain(key: SeriesKey): void {
      want({ key, from: 0, to: 0, change: 0 })
      loop.wake()
    },
    /** Looks at a series when its bar is over. */
    lookAtEnd,
    /** Looks once at everything that has notes. */
    async settle(): Promise<void> {
      stopped = false
      await start()
      await whenIdle()
    },
    async run(signal: AbortSignal): Promise<void> {
      stopped = false
      signal.addEventListener('abort', () => (stopped = true), { once: true })
      await loop.run(signal)
      stopped = true
      await whenIdle()
    },
  }
}

/** All series of a symbol are one server's. */
export function symbolShard(key: SeriesKey): string {
  return `${ownerOf(key)}\0${key.exchange}\0${key.symbol}`
}

function nameOf(key: SeriesKey): string {
  return `${ownerOf(key)}\0${key.exchange}\0${key.symbol}\0${key.interval}`
}
