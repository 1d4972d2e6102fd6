// The queue of looks: takes up the notes that the store keeps of new bars, and looks at the alerts of their series.
//
// A note stays until every lane has looked and no newer bars have come meanwhile, so that neither a stop nor a failure
// loses one. Alerts with a script have a lane of their own, since plain ones should not wait for them. Within a lane, a series
// is looked at by one look at a time, a few series go side by side, and a series that has made a step goes to the end of the line.

import { createLoop } from '../../lib/loop.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { ALL_SHARDS, type Shards } from '../../lib/shards.ts'
import { ownerOf, type BarNote, type SeriesKey } from '../../market/bar-store.ts'
import { Lane, type Job, type Look } from './look-lane.ts'

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
  /** Series whose forming bar has changed since this was last asked, of which no note tells; `isAny`: whether one is. */
  readonly stirred?: { due(): Iterable<SeriesKey>; readonly isAny: boolean }
  /** The functions that look, in short steps. */
  readonly lanes: readonly Look[]
}

/** The time at which a bar of a series ends, for alerts that wait for its close even if no other bar follows. */
export interface Closing {
  readonly key: SeriesKey
  readonly at: number
}

/** The longest pause before notes are read again, since another process may have imported bars. */
const NAP_MS = 1000
/** The longest pause where servers share the work, and therefore hear of each other's bars. */
const TOLD_NAP_MS = 15_000
/** An end is waited for to this, at best. */
const END_MS = 10
const RETRY_MOST_MS = 5000
/** How many series are asked at the start for their forming bar before others get their turn. */
const FORMING_STEP = 100

export class LookQueue {
  readonly #deps: LookQueueDeps
  readonly #shards: Shards
  readonly #jobs = new Map<string, Job>()
  readonly #closings = new Map<string, Closing>()
  readonly #lanes: readonly Lane[]
  /** A store that cannot be read for a while must not end the looks. */
  readonly #loop
  #begun = false
  #stopped = false
  /** When notes were read last; -∞: they are to be read. */
  #readAt = -Infinity
  /** Who waits for a step of any lane to have been made. */
  readonly #waiting: (() => void)[] = []
  /** What went to another server. If the series comes back, it begins again: a look may not go on from what it once read. */
  readonly #given = new WeakSet<Job>()

  constructor(deps: LookQueueDeps) {
    this.#deps = deps
    this.#shards = deps.shards ?? ALL_SHARDS
    const host = {
      clock: deps.clock,
      log: deps.log,
      isStopped: () => this.#stopped,
      keeps: (job: Job) => this.#keeps(job),
      looked: (job: Job) => this.#looked(job),
      stepped: (isLast: boolean) => {
        if (isLast) this.wake()
        for (const tell of this.#waiting.splice(0)) tell()
      },
    }
    this.#lanes = deps.lanes.map((look, i) => new Lane(host, look, i))
    this.#loop = createLoop(deps, 'looking at alerts', (signal) => this.#round(signal), {
      mostMs: RETRY_MOST_MS,
    })
    this.#shards.onGained(() => {
      this.#begun = false
      this.wake()
    })
    const stepping = () => this.#lanes.flatMap((lane) => [...lane.stepping])
    this.#shards.beforeGiving(
      async () => {
        while (stepping().some(({ key }) => !this.#isOurs(key))) await this.#nextStep()
      },
      () => stepping().map(({ key }) => symbolShard(key)),
    )
  }

  #nextStep(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Bars came. */
  wake(): void {
    this.#readAt = -Infinity
    this.#loop.wake()
  }

  /** A forming bar has changed. */
  stirred(): void {
    this.#loop.wake()
  }

  /** Looks at a series as if bars had come: another server has changed its alerts. */
  lookAgain(key: SeriesKey): void {
    this.#wantAnyway(key)
    this.wake()
  }

  /** Looks at a series when its bar is over. Remembers only the earliest end for each; that look then finds the next one. */
  lookAtEnd(closing: Closing): void {
    const name = nameOf(closing.key)
    const before = this.#closings.get(name)
    if (before && before.at <= closing.at) return
    this.#closings.set(name, closing)
    this.#loop.wake()
  }

  /** Looks once at everything that has notes. */
  async settle(): Promise<void> {
    this.#stopped = false
    this.#readAt = -Infinity
    await this.#start()
    await this.#whenIdle()
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#stopped = false
    signal.addEventListener('abort', () => (this.#stopped = true), { once: true })
    await this.#loop.run(signal)
    this.#stopped = true
    await this.#whenIdle()
  }

  async #whenIdle(): Promise<void> {
    while (this.#lanes.some((lane) => lane.isBusy)) await this.#nextStep()
  }

  #isOurs(key: SeriesKey): boolean {
    return this.#shards.holds(symbolShard(key))
  }

  #want(note: BarNote): void {
    if (!this.#isOurs(note.key)) return
    const name = nameOf(note.key)
    const done = this.#lanes.map(() => Number.NEGATIVE_INFINITY)
    const job = this.#jobs.get(name) ?? { key: note.key, note, done }
    if (note.change > job.note.change) job.note = note
    this.#jobs.set(name, job)
    for (const lane of this.#lanes) lane.want(job)
  }

  /** Without a note that bars came. */
  #wantAnyway(key: SeriesKey): void {
    this.#want({ key, from: 0, to: 0, change: 0 })
  }

  async #looked(job: Job): Promise<void> {
    const { note } = job
    if (job.done.some((change) => change < note.change)) return
    if (note.change > 0) await this.#deps.clear(note)
    if (job.note === note) this.#jobs.delete(nameOf(job.key))
  }

  #keeps(job: Job): boolean {
    if (!this.#given.has(job) && this.#isOurs(job.key)) return true
    // Another server goes on with it, from what is stored.
    this.#given.add(job)
    if (this.#jobs.get(nameOf(job.key)) === job) this.#jobs.delete(nameOf(job.key))
    return false
  }

  async #round(signal: AbortSignal): Promise<number> {
    if (!this.#begun) await this.#begin(signal)
    await this.#start()
    return this.#napMs()
  }

  /** Where servers hear of each other's bars nothing is due before the next bar ends, unless it is woken. */
  #napMs(): number {
    const { stirred, clock } = this.#deps
    if (this.#shards === ALL_SHARDS || this.#jobs.size > 0 || stirred?.isAny === true) return NAP_MS
    const ends = this.#closings.values().map(({ at }) => at - clock.now())
    return Math.max(END_MS, Math.min(TOLD_NAP_MS, ...ends))
  }

  async #begin(signal: AbortSignal): Promise<void> {
    // Set first: symbols that come while this reads begin it again.
    this.#begun = true
    try {
      for await (const key of this.#deps.unsettled()) this.#wantAnyway(key)
      await this.#start()
      await this.#findForming(signal)
    } catch (error) {
      this.#begun = false
      throw error
    }
  }

  /** Starts as many looks as may run now. */
  async #start(): Promise<void> {
    const { stirred, clock } = this.#deps
    await this.#read()
    for (const key of stirred?.due() ?? []) this.#wantAnyway(key)
    for (const [name, { key, at }] of this.#closings) {
      if (!this.#isOurs(key)) this.#closings.delete(name)
      // A look that is running may have seen the bar before its end, so ask for another one after it.
      if (at > clock.now() || this.#jobs.has(name)) continue
      this.#closings.delete(name)
      this.#wantAnyway(key)
    }
    // Failed looks wait for their next attempt, even if their note is listed again.
    for (const job of this.#jobs.values()) for (const lane of this.#lanes) lane.want(job)
    for (const lane of this.#lanes) lane.pump()
  }

  async #read(): Promise<void> {
    const { notes, clock } = this.#deps
    const isTold = this.#shards !== ALL_SHARDS
    if (isTold && Math.abs(clock.now() - this.#readAt) < TOLD_NAP_MS) return
    this.#readAt = clock.now()
    try {
      for (const note of await notes()) this.#want(note)
    } catch (error) {
      this.#readAt = -Infinity
      throw error
    }
  }

  async #findForming(signal: AbortSignal): Promise<void> {
    let steps = 0
    for await (const closing of this.#deps.forming()) {
      if (signal.aborted) return
      if (closing) this.lookAtEnd(closing)
      if (++steps % FORMING_STEP === 0) await this.#deps.clock.sleep(0)
    }
  }
}

/** All series of a symbol are one server's. */
export function symbolShard(key: SeriesKey): string {
  return `${ownerOf(key)}\0${key.exchange}\0${key.symbol}`
}

function nameOf(key: SeriesKey): string {
  return `${ownerOf(key)}\0${key.exchange}\0${key.symbol}\0${key.interval}`
}
