// Follows forward runs: takes up the bars that have closed since, and tells of the one that has not.
//
// Each bar is a step of its own, and one commit has a step or, of a run that is behind, several: the bars on the tape, the
// record with what the strategy has then, and the events of its orders with their deliveries. So after a stop it goes on
// behind the last bar that it has seen, tells nothing twice, and its report is always that of a backtest of the tape.

import type { FollowOutput, ForwardOutput } from '../workers/job.ts'
import { KeptJobs } from '../jobs/records.ts'
import { Problem } from '../../lib/problem.ts'
import { ALL_SHARDS, type Shards } from '../../lib/shards.ts'
import { rowsOf } from '../../market/bars.ts'
import { merged, type Changes, type Tx } from '../../store/transaction.ts'
import type { ForwardOrder } from '../../wire/forward-run.ts'
import { eventsBetween, stepped } from './events.ts'
import { foreseenEvents, retracted } from './foreseen.ts'
import { eventSets, forwardRuns, scriptKey, tapeSets, type ForwardRun, type TapeRow } from './records.ts'
import type { Pass } from './rounds.ts'
import { keyOf, Steps, type Held, type StepDeps, type Stepping } from './steps.ts'

export interface FollowDeps extends StepDeps {
  /** The users whose runs this server advances. */
  readonly shards?: Shards
  /** Deliveries of the events of a step, for its commit. */
  readonly deliver: (tx: Tx, run: ForwardRun, events: readonly ForwardOrder[]) => Promise<readonly Changes[]>
  /** Called after that commit. */
  readonly told: (run: ForwardRun) => void
}

/** How often bars that are not over are looked at, where somebody has asked for it. */
export const FORESEE_MS = 2000
/** The most bars of a run that are taken up in its turn, after a long stop. */
const STEPS_MAX = 50
/** A commit ends with the bar that brings so many events, or so many letters of them; each may be a delivery or ten. */
const EVENTS_AT_ONCE = 200
const LETTERS_AT_ONCE = 200_000

export class FollowedRuns extends KeptJobs<ForwardRun> {
  protected readonly steps: Steps
  readonly #deps: FollowDeps
  /** The bar that is not over, as each run saw it last. */
  readonly #looked = new Map<string, string>()

  constructor(deps: FollowDeps) {
    super(deps.kv, {
      one: 'forward run',
      many: 'forward runs',
      missing: 'forward_run_not_found',
      records: forwardRuns,
      scriptKey,
    })
    this.#deps = deps
    this.steps = new Steps(deps)
  }

  protected async steppingOf(run: ForwardRun): Promise<Stepping> {
    return { userId: run.userId, key: keyOf(run), script: await this.scriptOf(run.id) }
  }

  /** A turn of a run. Answers whether there is more to take up. */
  protected async advance(run: ForwardRun, { foreseenAt }: Pass): Promise<boolean> {
    const after = await this.#takeUp(run)
    if (after?.isBehind) return true
    const now = this.#deps.clock.now()
    if (after?.run.provisional && now - (foreseenAt.get(run.id) ?? -Infinity) >= FORESEE_MS) {
      foreseenAt.set(run.id, now)
      await this.#foresee(after.run)
    }
    return false
  }

  /** A run that is over retracts what it told of a bar that it will not see closed. */
  protected async end(
    id: string,
    state: 'stopped' | 'failed',
    error: ForwardRun['error'] = null,
  ): Promise<void> {
    const stoppedAt = this.#deps.clock.now()
    await this.#goOn(id, (run) => {
      const events = retracted(run.foreseen ?? [])
      const after = { ...run, state, stoppedAt, error, foreseen: [], events: run.events + events.length }
      return { after, events }
    })
    this.steps.letGo(id)
    this.#looked.delete(id)
  }

  /** A turn: takes up closed bars of a run. Answers null if it is over, or another server's. */
  async #takeUp(run: ForwardRun): Promise<{ readonly run: ForwardRun; readonly isBehind: boolean } | null> {
    const key = keyOf(run)
    const source = await this.#deps.bars.source(key)
    if (!source || source.last <= run.last) return { run, isBehind: false }
    const range = { from: run.last + 1, first: STEPS_MAX }
    const news = await this.steps.closed(run.userId, key, source, range, STEPS_MAX)
    if (news.length === 0) return { run, isBehind: false }
    const after = await this.#follow(run, rowsOf(news))
    const taken = after ? after.bars - run.bars : 0
    return after && { run: after, isBehind: taken < news.length || news.length === STEPS_MAX }
  }

  /** Tells what the bar that is not over would do if it closed now. Nothing of it is kept but what was told. */
  async #foresee(run: ForwardRun): Promise<void> {
    // Only what everybody sees comes live.
    const row = run.seriesOwner === '' ? ((await this.#deps.forming?.(keyOf(run))) ?? null) : null
    if (!row || row[0]! <= run.last || this.#looked.get(run.id) === row.join(' ')) return
    const { rows: seen, state } = await this.steps.heldOf(run)
    let step: ForwardOutput
    try {
      step = await this.steps.step(await this.steppingOf(run), { rows: [...seen, row], state }, seen.length)
    } catch (error) {
      // A script that fails on it may not fail on the closed bar.
      if (isOfScript(error)) return
      throw error
    }
    this.#looked.set(run.id, row.join(' '))
    const foreseen = eventsBetween(run.waiting, step, row[0]!)
    const events = foreseenEvents(run.foreseen ?? [], foreseen)
    if (events.length === 0) return
    const after: ForwardRun = { ...run, foreseen, events: run.events + events.length }
    const isWritten = await this.#goOn(run.id, ({ last, events: told }) =>
      last === run.last && told === run.events ? { after, events } : null,
    )
    if (!isWritten) this.#looked.delete(run.id)
  }

  /** The first of these bars, as many as the turn has time for. Answers null if the run is over, or another server's. */
  async #follow(run: ForwardRun, news: readonly TapeRow[]): Promise<ForwardRun | null> {
    let held: Held
    let rows: TapeRow[]
    let followed: FollowOutput
    const from = run.warmup + run.bars
    try {
      held = await this.steps.heldOf(run)
      if (held.state === null) await this.#begin(run)
      rows = [...held.rows, ...news]
      followed = await this.steps.follow(await this.steppingOf(run), { rows, state: held.state }, from)
    } catch (error) {
      if (!isOfScript(error)) throw error
      const { code, message } = error
      await this.end(run.id, 'failed', { code, message })
      return null
    }
    const { steps, kept } = followed
    let before = run
    const { begun: _, ...done } = run
    let after: ForwardRun = done
    let events: ForwardOrder[] = []
    let letters = 0
    for (const [i, step] of steps.entries()) {
      const one = stepped(after, step, rows[from + i]!)
      after = one.run
      events = events.concat(one.events)
      letters += JSON.stringify(one.events).length
      const isLast = i === steps.length - 1
      if (!isLast && events.length < EVENTS_AT_ONCE && letters < LETTERS_AT_ONCE) continue
      const seen = rows.slice(0, from + i + 1)
      if (!(await this.#write(before, after, seen, events))) {
        this.steps.letGo(run.id)
        return null
      }
      // The new state is of the last step, and is no use before that is written.
      this.steps.hold(run.id, { rows: seen, state: isLast ? (kept ?? held.state) : held.state })
      before = after
      events = []
      letters = 0
    }
    return after
  }

  async #begin({ id, last, turn = 0 }: ForwardRun): Promise<void> {
    await this.change(id, (one) => (one.last === last ? { ...one, begun: turn } : null))
  }

  /** Commits the steps that lead from `before` to `after`. Answers whether the run still was as before, and is this server's. */
  async #write(
    before: ForwardRun,
    after: ForwardRun,
    rows: readonly TapeRow[],
    events: readonly ForwardOrder[],
  ): Promise<boolean> {
    const { shards = ALL_SHARDS } = this.#deps
    if (!shards.holds(before.userId)) return false
    return this.#goOn(
      before.id,
      ({ last }) => (last === before.last ? { after, events } : null),
      tapeSets(before.id, rows, before.warmup + before.bars),
    )
  }

  /** Commits what `next` makes of a run that is not over, with the newest of its events, and tells of them. Answers whether. */
  async #goOn(
    id: string,
    next: (
      run: ForwardRun,
    ) => { readonly after: ForwardRun; readonly events: readonly ForwardOrder[] } | null,
    sets: Changes['sets'] = [],
  ): Promise<boolean> {
    const { deliver, told } = this.#deps
    let events: readonly ForwardOrder[] = []
    const changed = await this.change(
      id,
      (run) => {
        const found = next(run)
        events = found?.events ?? []
        return found && found.after
      },
      async (run, tx) =>
        merged([
          { sets: [...sets, ...eventSets(id, run.events - events.length, events)] },
          ...(events.length > 0 ? await deliver(tx, run, events) : []),
        ]),
    )
    if (changed && events.length > 0) told(changed)
    return changed !== null
  }
}

/** Whether the run is to blame, and would fail again. */
const isOfScript = (error: unknown): error is Problem =>
  error instanceof Problem && error.status < 500 && error.code !== 'concurrency_limited'
