// Continuous backup of a data directory: whatever a commit has written is in another place less than a second later.
//
// Somewhat more often than once a second it takes the pages that are newer than the last step (`pages.ts`) and puts them away as the
// next step. Snapshots are steps from the beginning, and are made beside that, so that no write waits for one. Every so many
// steps a wide one stands for them, so that a restore reads few. What fails is tried again; the next step is then a longer one,
// and nothing has to be kept in memory for it.
//
// A line of steps may go on only in the file that it began with, as long as nothing can have taken transactions out of it: a
// machine that is switched off can, and so can a person who puts an older copy back. Then a new line begins.

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Backoff } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { Problem } from '../../lib/problem.ts'
import type { Random } from '../../lib/random.ts'
import { turn } from '../../lib/turn.ts'
import { saidByBucket } from '../bucket.ts'
import { writeWhole } from '../files.ts'
import { chainTo, databaseOf, ID_LETTERS, lineName, outdated, partName, type Step, stepsOf } from './chain.ts'
import { type Moment, PageFile } from './pages.ts'
import { PartWriter } from './parts.ts'
import type { Place } from './place.ts'

/** Which line of steps a data directory goes on with. */
export const LINE_FILE = 'backup.json'

/** What was written right after a look has been put away before this has passed: a rest, and the steps before and after it. */
const BEHIND_MS = 900
/** How long to rest between two looks. Pages that change again meanwhile are put away once, and a step costs more than its pages. */
const [REST_LEAST_MS, REST_MOST_MS] = [100, 800]
/** After so many narrow steps one stands for them all. */
const WIDE_STEPS = 120
/** A backup that is behind by more than this is said to be late, and then to fail. */
const [LATE_MS, FAILING_MS] = [2000, 60_000]
const PRUNE_MS = 3600_000
/** After a failure. */
const PRUNE_AGAIN_MS = 60_000
/** How long to wait before a snapshot that failed is begun again. */
const AGAIN_MS = 15_000
/** How long the last step may take when the server stops. */
const LAST_MS = 3000

export interface BackupSource {
  /** The file of the database. */
  readonly path: string
  /** The number of the newest transaction. */
  newest(): number
  /** Keeps every page of the present state, and of later ones, until it is called off. */
  pin(): () => void
}

export interface BackupDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly source: BackupSource
  readonly place: Place
  /** The data directory, for the file that names the line. */
  readonly directory: string
  /** The id of the database. */
  readonly instance: string
  /** How often a new snapshot is made. */
  readonly everyMs: number
  /** How far back one can go. */
  readonly keepMs: number
}

interface BackupStatus {
  /** starting: there is no whole snapshot yet, from which a restore could begin. */
  readonly state: 'starting' | 'ok' | 'late' | 'failing'
  /** How long the oldest change has waited that is not put away yet; 0: all is. */
  readonly lagSeconds: number
  /** The time of the newest state that can be restored; null: none. */
  readonly lastAt: number | null
  /** Where it goes, without the key to it. */
  readonly place: string
  /** Why it is late, or fails; null: it does neither. */
  readonly problem: string | null
  /** The time since which it is late, or fails. */
  readonly since: number | null
}

interface Trouble {
  readonly said: string
  readonly since: number
  /** The place did not answer, or has too much to do: that is only late until it has lasted. */
  readonly mayPass: boolean
}

interface Line {
  readonly name: string
  /** When this server began to go on with it. */
  readonly startedAt: number
  /** Steps lead up to this transaction. */
  at: number
  /** Where the next wide step begins. */
  wideFrom: number
  narrow: number
  /** Of the newest snapshot; null: there is no whole one. */
  snapshotAt: number | null
  snapshotBytes: number
  bytesSince: number
}

export class Backup {
  readonly #deps: BackupDeps
  readonly #backoff: Backoff
  #line: Line | null = null
  #unsavedSince: number | null = null
  #lastAt: number | null = null
  #problem: Trouble | null = null
  #prunedAt = 0
  #pruning: Promise<void> | null = null
  /** What was found wrong while outdated objects were looked for. */
  #pruneProblem: Trouble | null = null
  /** Since when it has been late or failed, whatever has been put away meanwhile. */
  #since: number | null = null
  /** The snapshot or wide step that is made beside the narrow ones. */
  #beside: Promise<void> | null = null
  #besideFailedAt = -Infinity
  #isStopped = false
  #file: PageFile | null = null
  /** Of the narrow steps, one after the other. */
  readonly #writer = new PartWriter()
  /** How long a step takes of late. */
  #stepMs = 0

  constructor(deps: BackupDeps) {
    this.#deps = deps
    this.#backoff = new Backoff(deps, 'continuous backup', { mostMs: 15_000 })
  }

  status(): BackupStatus {
    const { clock, place } = this.#deps
    const lagMs = this.#unsavedSince === null ? 0 : Math.max(0, clock.now() - this.#unsavedSince)
    const hasSnapshot = (this.#line?.snapshotAt ?? null) !== null
    const lasts = (trouble: Trouble | null) =>
      trouble?.mayPass && clock.now() - trouble.since <= FAILING_MS ? null : trouble
    const failing =
      lasts(this.#problem) ?? lasts(this.#pruneProblem) ?? (lagMs > FAILING_MS ? this.#behind() : null)
    const late = failing ?? (hasSnapshot && lagMs > LATE_MS ? this.#behind() : null)
    this.#since = late && (this.#since ?? late.since)
    return {
      state: failing ? 'failing' : !hasSnapshot ? 'starting' : late ? 'late' : 'ok',
      lagSeconds: lagMs / 1000,
      lastAt: hasSnapshot ? this.#lastAt : null,
      place: place.address,
      problem: late?.said ?? null,
      since: this.#since,
    }
  }

  /** Nothing has failed for good: what was tried again has taken its time, or there is too much to copy. */
  #behind(): Trouble | null {
    const since = this.#unsavedSince
    if (since === null) return null
    const failure = this.#deps.place.lastFailure()
    const isOfNow = failure !== null && failure.at >= since
    const said = isOfNow ? saidByBucket(failure.error) : 'It is slower than what is written'
    return { said, since, mayPass: true }
  }

  /** Resolves once the signal has aborted and the last step has been put away, or could not be. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    while (!signal.aborted) {
      await this.look()
      const rest = Math.min(REST_MOST_MS, Math.max(REST_LEAST_MS, BEHIND_MS - 2 * this.#stepMs))
      await clock.sleep(Math.max(rest, this.#backoff.waitMs), signal)
    }
    this.#isStopped = true
    const last = async () => {
      await this.#beside
      await this.look()
    }
    // A place that does not answer keeps no server from stopping; the next start goes on from there.
    const given = new AbortController()
    await Promise.race([last(), clock.sleep(LAST_MS, given.signal)])
    given.abort()
    this.#file?.close()
    this.#file = null
  }

  /** Puts away what has changed since the last look. Never throws. */
  async look(): Promise<void> {
    try {
      this.#line ??= await this.#begun()
      await this.#goOn(this.#line)
      this.#beginPruning(this.#line)
      if (this.#besideFailedAt === -Infinity) this.#problem = null
      this.#backoff.worked()
    } catch (error) {
      this.#failed(error)
    }
    // Whether nobody asks now or not: what is late after this is late anew.
    this.status()
  }

  /** Resolves when what is under way beside the steps is done. */
  async settled(): Promise<void> {
    await this.#beside
    await this.#pruning
  }

  #failed(error: unknown): void {
    const { clock, place } = this.#deps
    this.#problem = {
      said: saidByBucket(error),
      since: this.#problem?.since ?? clock.now(),
      mayPass: error instanceof Problem,
    }
    this.#backoff.failed(`${place.address}: ${this.#problem.said}`)
  }

  /** The line to go on with, or a new one. */
  async #begun(): Promise<Line> {
    const { place, source, directory, clock, random, instance } = this.#deps
    // An address that cannot be used is found out before anything is read for it.
    const steps = stepsOf(await place.list(''))
    const other = steps.find((step) => databaseOf(step.line) !== instance.slice(0, ID_LETTERS))
    if (other)
      throw new Error(`the backup of another database is there (${other.line}): name a place of its own`)
    const known = this.#knownLine()
    if (known !== null) {
      const chain = chainTo(steps.filter((step) => step.line === known))
      const last = chain?.at(-1)
      if (chain && last && last.to <= source.newest()) {
        this.#lastAt = last.time
        return {
          name: known,
          startedAt: clock.now(),
          at: last.to,
          wideFrom: last.to,
          narrow: 0,
          snapshotAt: chain[0]?.time ?? null,
          // About what a snapshot comes to, where nobody has counted.
          snapshotBytes: statSync(source.path).size / 2,
          bytesSince: 0,
        }
      }
    }
    const name = lineName(clock.now(), instance, random.bytes(4))
    writeWhole(join(directory, LINE_FILE), Buffer.from(JSON.stringify({ line: name, ...this.#identity() })))
    const none = { at: 0, wideFrom: 0, narrow: 0, snapshotAt: null, snapshotBytes: 0, bytesSince: 0 }
    return { name, startedAt: clock.now(), ...none }
  }

  #knownLine(): string | null {
    try {
      const kept = JSON.parse(readFileSync(join(this.#deps.directory, LINE_FILE), 'utf8')) as LineFile
      const { file, boot } = this.#identity()
      return kept.file === file && kept.boot === boot && boot !== '' ? kept.line : null
    } catch {
      return null
    }
  }

  #identity(): Omit<LineFile, 'line'> {
    const { dev, ino, birthtimeMs } = statSync(this.#deps.source.path)
    return { file: `${dev}:${ino}:${birthtimeMs}`, boot: bootId() }
  }

  async #goOn(line: Line): Promise<void> {
    const { source, clock } = this.#deps
    if (line.at === 0) {
      // Steps begin where the first snapshot does, and go on while it is made.
      if (this.#mayTryBeside()) this.#beginBeside(line, 0)
      return
    }
    if (source.newest() === line.at) {
      this.#unsavedSince = null
    } else {
      this.#unsavedSince ??= clock.now()
      const step = await this.#step(line, line.at)
      line.at = step.to
      line.narrow++
      line.bytesSince += step.bytes
      this.#unsavedSince = source.newest() === step.to ? null : step.time
      this.#lastAt = step.time
    }
    if (!this.#mayTryBeside()) return
    if (this.#isSnapshotDue(line)) this.#beginBeside(line, 0)
    else if (line.narrow >= WIDE_STEPS) this.#beginBeside(line, line.wideFrom)
  }

  #mayTryBeside(): boolean {
    const hasJustFailed = Math.abs(this.#deps.clock.now() - this.#besideFailedAt) < AGAIN_MS
    return !this.#isStopped && !this.#beside && !hasJustFailed
  }

  #isSnapshotDue({ snapshotAt, snapshotBytes, bytesSince }: Line): boolean {
    if (snapshotAt === null) return true
    return (
      this.#deps.clock.now() - snapshotAt >= this.#deps.everyMs ||
      bytesSince > Math.max(BYTES_MOST, 2 * snapshotBytes)
    )
  }

  #beginBeside(line: Line, from: number): void {
    const { clock } = this.#deps
    const isFirst = line.at === 0
    const began = ({ transaction }: Moment) => {
      // The first snapshot settles where steps begin.
      if (isFirst) Object.assign(line, { at: transaction, wideFrom: transaction })
      if (isFirst) this.#lastAt = clock.now()
    }
    this.#beside = this.#stepOf(line, from, { began, isBeside: true })
      .then((step) => {
        if (step === null) return
        this.#besideFailedAt = -Infinity
        if (from === 0)
          Object.assign(line, { snapshotAt: step.time, snapshotBytes: step.bytes, bytesSince: 0 })
        Object.assign(line, { narrow: 0, wideFrom: step.to })
      })
      .catch((error: unknown) => {
        this.#besideFailedAt = clock.now()
        this.#failed(error)
      })
      .finally(() => (this.#beside = null))
  }

  async #step(line: Line, from: number): Promise<Taken> {
    const began = performance.now()
    const step = await this.#stepOf(line, from, { began: () => {}, isBeside: false })
    if (step === null) throw new Error('a step was stopped')
    this.#stepMs = Math.max(performance.now() - began, this.#stepMs * LATE_FADES)
    return step
  }

  /** Puts away what is newer than `from`, in parts. null: the server stops, and it was given up half-way. */
  async #stepOf(
    line: Line,
    from: number,
    { began, isBeside }: { readonly began: (moment: Moment) => void; readonly isBeside: boolean },
  ): Promise<Taken | null> {
    const { source, clock, place } = this.#deps
    let unpin: (() => void) | null = source.pin()
    const all = from === 0 ? new PageFile(source.path, 'read') : null
    try {
      const file = all ?? (this.#file ??= new PageFile(source.path, 'mapped'))
      const time = clock.now()
      const moment = file.newest()
      began(moment)
      const name = { from, to: moment.transaction, time }
      const writer = isBeside ? new PartWriter() : this.#writer
      writer.clear()
      let [part, bytes] = [0, 0]
      const send = async (isLast: boolean) => {
        const packed = await writer.finished(moment)
        await place.put(partName(line.name, name, part++, isLast), packed)
        bytes += packed.length
      }
      let heldSince = performance.now()
      for (const run of file.changed(moment, from)) {
        writer.add(run, (target, to) => file.read(run, moment, target, to))
        if (writer.isFull) await send(false)
        if (isBeside && this.#isStopped) return null
        if (performance.now() - heldSince < TURN_MS) continue
        await turn()
        heldSince = performance.now()
      }
      // All has been read: however long the place takes, writers may have the pages.
      unpin()
      unpin = null
      await send(true)
      return { to: moment.transaction, time, bytes }
    } finally {
      unpin?.()
      all?.close()
    }
  }

  /** Beside the steps, which would wait for thousands of answers. */
  #beginPruning(line: Line): void {
    const now = this.#deps.clock.now()
    if (this.#pruning || line.snapshotAt === null || Math.abs(now - this.#prunedAt) < PRUNE_MS) return
    this.#prunedAt = now
    this.#pruning = this.#pruned(line, now)
      .catch((error: unknown) => {
        this.#prunedAt = now - PRUNE_MS + PRUNE_AGAIN_MS
        const said = `What is outdated cannot be deleted (${saidByBucket(error)})`
        this.#pruneFailed(said, error instanceof Problem)
        this.#deps.log('warn', 'continuous backup', { problem: this.#pruneProblem?.said })
      })
      .finally(() => (this.#pruning = null))
  }

  async #pruned(line: Line, now: number): Promise<void> {
    const { place, keepMs } = this.#deps
    const steps = stepsOf(await place.list(''))
    const gone = outdated(steps, { now, keepMs, line: line.name })
    const one = async () => {
      for (let name = gone.pop(); name !== undefined && !this.#isStopped; name = gone.pop())
        await place.delete(name)
    }
    await Promise.all(Array.from({ length: DELETES }, one))
    if (isSharedWith(steps, line, now))
      this.#pruneFailed('Another server copies the same database to this place: only one of them may go on')
    else this.#pruneProblem = null
  }

  #pruneFailed(said: string, mayPass = false): void {
    this.#pruneProblem = { said, since: this.#pruneProblem?.since ?? this.#deps.clock.now(), mayPass }
  }
}

/** Whether somebody else goes on with another line of the database. Clocks may differ a little. */
const isSharedWith = (steps: readonly Step[], { name, startedAt }: Line, now: number) =>
  steps.some(({ line, time }) => line !== name && time > Math.max(startedAt + SKEW_MS, now - 2 * PRUNE_MS))
const SKEW_MS = 300_000
/** So many objects are deleted at once. */
const DELETES = 8

interface Taken {
  readonly to: number
  readonly time: number
  readonly bytes: number
}

interface LineFile {
  readonly line: string
  readonly file: string
  readonly boot: string
}

/** Steps of this size together are worth a snapshot. */
const BYTES_MOST = 256 << 20
/** A step that took long counts less with each that did not. */
const LATE_FADES = 0.9
/** How long the walk through the pages may hold others up. */
const TURN_MS = 2

/** '' where the system does not say. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return ''
  }
}
