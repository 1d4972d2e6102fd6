// A sweep that runs here: batch after batch, until the plan has nothing more to try, and then the verdict.
//
// The plan and the outcomes alone decide what is tried, never which worker was faster: so one worker or eight, or a server
// that was killed in between, end with the same bytes.

import { rowLayout } from '../../broker/measured.ts'
import type { TrialsOutput } from '../workers/job.ts'
import type { LiveJob } from '../jobs/live-jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import { Problem } from '../../lib/problem.ts'
import { turn } from '../../lib/turn.ts'
import type { Kv } from '../../store/kv.ts'
import type { Also } from '../../store/transaction.ts'
import { judged, type JudgeDeps } from './judging.ts'
import { offersIn, SharedBatches, type Tried } from './offers.ts'
import type { Plan } from './plan.ts'
import {
  batchesOf,
  batchKey,
  decodeRows,
  encodeRows,
  ledgerOf,
  stitchedKey,
  verdictKey,
  type Batch,
  type Sweep,
  type SweepState,
} from './records.ts'
import { allOf } from './rows.ts'
import type { Choices } from './space.ts'
import { pieceOf, scoresOf, type Material } from './trying.ts'

export interface SweepProgress {
  readonly state: SweepState
  readonly tried: number
  /** Trials that have run here, and are kept with the others of their batches. */
  readonly trying: number
  /** What halving sorted out. */
  readonly filtered: number
  readonly planned: number
  readonly failed: number
  readonly best: Sweep['best']
  /** Trials a second since the sweep last began; null before the first batch. */
  readonly perSecond: number | null
}

/** Samplers whose next choice depends on the outcomes of earlier ones. */
export const LEARNING: ReadonlySet<Sweep['sampler']> = new Set(['tpe', 'cmaes'])

export interface RunningDeps extends JudgeDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
  /** Changes the record of a sweep that is under way: see `KeptJobs`. */
  readonly change: (id: string, change: (sweep: Sweep) => Sweep, also?: Also<Sweep>) => Promise<Sweep | null>
  /** Whether no other sweep runs here. */
  readonly isAlone: () => boolean
}

/** Loaded with the first sweep: the samplers bring a library of statistics. */
export const plans = () => import('./plan.ts')

const seenOf = ({ tried, filtered = 0 }: Sweep) => tried + filtered

export class RunningSweep {
  readonly shared: SharedBatches
  readonly #deps: RunningDeps
  readonly #material: Material
  readonly #plan: Plan
  readonly #live: LiveJob<Sweep, SweepProgress>
  readonly #learns: boolean
  /** Aborts when the sweep is ended, or is over. */
  readonly #signal: AbortSignal
  readonly #stop = new AbortController()
  /** How many have run of each batch that is not kept yet. */
  readonly #ran = new Map<Choices, number>()
  /** When it began or went on, and where. */
  #from = { at: 0, seen: 0 }
  /** Batches that were begun, in order. */
  readonly #underWay: { readonly choices: Choices; readonly tried: Promise<Tried> }[] = []
  #sweep: Sweep
  /** Whether the plan has nothing more, and whether all of it is done. */
  #isPlanned = false
  #isTried = false

  private constructor(
    deps: RunningDeps,
    sweep: Sweep,
    material: Material,
    plan: Plan,
    live: LiveJob<Sweep, SweepProgress>,
  ) {
    this.#deps = deps
    this.#sweep = sweep
    this.#material = material
    this.#plan = plan
    this.#live = live
    this.#learns = LEARNING.has(sweep.sampler)
    this.#signal = AbortSignal.any([live.signal, this.#stop.signal])
    this.shared = this.#sharing(sweep)
  }

  static async of(
    deps: RunningDeps,
    sweep: Sweep,
    material: Material,
    live: LiveJob<Sweep, SweepProgress>,
  ): Promise<RunningSweep> {
    const { planOf } = await plans()
    const { pool, trials, clock } = deps
    const plan = planOf(
      material.space,
      sweep,
      () => clock.now(),
      (job) => pool.do('propose', job, trials.optionsFor(sweep, material, 1, live.signal)),
    )
    return new RunningSweep(deps, sweep, material, plan, live)
  }

  /** How many trials have run and are not kept yet. */
  get trying(): number {
    return this.#signal.aborted ? 0 : [...this.#ran.values()].reduce((sum, count) => sum + count, 0)
  }

  #sharing(sweep: Sweep): SharedBatches {
    const { kv, newId, nodes = null, atOnce, isAlone, trials } = this.#deps
    const material = this.#material
    return new SharedBatches({
      kv,
      offers: offersIn(kv),
      newId,
      nodes,
      sweepId: sweep.id,
      // A sampler that does not learn need not wait for the outcomes of one batch to begin the next.
      batchesMax: this.#learns ? 1 : 2,
      // Where others may do them, they do not wait here while workers have other sweeps to do. A part of the verdict is one
      // worker's.
      hereMax: () =>
        !isAlone() && nodes && nodes.members.length > 1
          ? 1
          : this.#isTried
            ? atOnce + 1
            : this.#learns
              ? 1
              : 2,
      // Halving compares the trials of a whole batch.
      pieceMax: () => (this.#learns || sweep.halving ? Infinity : pieceOf(material, atOnce)),
      here: (choices, ran) => trials.try(sweep, material, choices, this.#signal, ran),
      signal: this.#signal,
    })
  }

  async run(): Promise<void> {
    await this.#catchUp()
    this.#from = { at: this.#deps.clock.now(), seen: seenOf(this.#sweep) }
    this.#live.tell(progressOf(this.#sweep, 0, null))
    await this.shared.begin()
    try {
      await this.#begin()
      for (let first = this.#underWay.shift(); first; first = this.#underWay.shift())
        if (!(await this.#finish(first.choices, await first.tried))) return
      this.#isTried = true
      await this.#judge()
    } finally {
      this.#stop.abort()
      // Their offers are gone with them.
      await this.shared.ended()
    }
  }

  /** Tells the plan what is stored. */
  async #catchUp(): Promise<void> {
    const { measured } = this.#sweep
    for await (const stored of batchesOf(this.#deps.kv, this.#sweep)) {
      const choices = await this.#next()
      assertSame(choices, stored.choices)
      this.#plan.tell(scoresOfAll(choices, stored.choices, scoresOf(decodeRows(stored.rows), measured)))
    }
  }

  /** Asks the plan, which may have to search for long; others get their turn meanwhile. */
  async #next(): Promise<Choices> {
    for (;;) {
      this.#live.signal.throwIfAborted()
      const choices = this.#plan.next()
      if (choices) return choices
      await (this.#plan.pending ?? this.#deps.clock.sleep(0))
    }
  }

  /** Begins as many batches as there is room for. */
  async #begin(): Promise<void> {
    while (!this.#isPlanned && this.#underWay.length < (this.#learns ? 1 : this.shared.room)) {
      const choices = await this.#next()
      this.#isPlanned = choices.length === 0
      if (this.#isPlanned) return
      if (!this.#learns) this.#plan.tell(choices.map(() => null))
      const tried = this.shared.do(choices, (more) => {
        this.#ran.set(choices, (this.#ran.get(choices) ?? 0) + more)
        this.#told()
      })
      tried.catch(() => undefined)
      this.#underWay.push({ choices, tried })
    }
  }

  /** Keeps a batch. Answers false if the sweep was cancelled or removed meanwhile. */
  async #finish(choices: Choices, { left, out, found }: Tried): Promise<boolean> {
    // Each of these is a turn of its own, so that others are answered in between.
    await turn()
    const { tried, measured } = this.#sweep
    const batch = batchIn(left, found, tried)
    if (this.#learns) this.#plan.tell(scoresOfAll(choices, left, scoresOf(found.rows, measured)))
    // The workers go on while this batch is written.
    const next = this.#begin()
    next.catch(() => undefined)
    const changed = await this.#keep(batch, found, out)
    if (!changed) return false
    this.#sweep = changed
    this.#ran.delete(choices)
    this.#told()
    await next
    return true
  }

  /** Commits batch, record and ledger together. Answers null if the sweep was cancelled or removed meanwhile. */
  async #keep(batch: Batch, found: TrialsOutput, out: readonly string[]): Promise<Sweep | null> {
    const sweep = this.#sweep
    const scores = scoresOf(found.rows, sweep.measured)
    const failed = batch.failures.length
    // Counted first: a server that dies in between tries them again, and a trial counts once.
    await this.#count(found, out)
    const changed = await this.#deps.change(
      sweep.id,
      (before) => ({
        ...before,
        batches: before.batches + 1,
        tried: before.tried + batch.choices.length,
        failed: before.failed + failed,
        filtered: (before.filtered ?? 0) + out.length,
        best: betterOf(before.best, scores, before.tried),
        script: found.script,
      }),
      (after) => ({
        sets: [{ key: batchKey(after.id, after.batches - 1), value: JSON.stringify(batch) }],
      }),
    )
    // If every trial of the first batch failed, the rest will fail too.
    if (changed && changed.tried > 0 && changed.failed === changed.tried && changed.batches === 1)
      throw new Problem(
        422,
        'script_runtime_error',
        `No trial of the first ${changed.tried} could be run. The first said: ${batch.failures[0]?.message ?? ''}${changed.space.some(isAnyNumber) ? ' A range without a step is of any number between its ends; a whole number needs one.' : ''}`,
      )
    return changed
  }

  /** Also counts the trials that halving sorted out, by their names. */
  #count({ script, names, rows, formerly }: TrialsOutput, out: readonly string[]): Promise<void> {
    const of = { ...ledgerOf({ ...this.#sweep, script }), formerly }
    const { width, sharpe } = rowLayout(this.#sweep.measured)
    const tried = names.flatMap((trial, i) =>
      trial === '' ? [] : [{ ...of, trial, sharpe: rows[i * width + sharpe]! }],
    )
    return this.#deps.ledger.add([...out.map((trial) => ({ ...of, trial })), ...tried])
  }

  async #judge(): Promise<void> {
    const { kv, clock, change } = this.#deps
    const { id } = this.#sweep
    const all = await allOf(kv, this.#sweep)
    const { verdict, stitched } = await judged(
      this.#deps,
      this.#sweep,
      this.#material,
      all,
      this.shared,
      this.#signal,
    )
    await change(
      id,
      (before) => ({ ...before, state: 'done', finishedAt: clock.now(), sentence: verdict.sentence }),
      () => ({
        sets: [
          { key: verdictKey(id), value: JSON.stringify(verdict) },
          ...stitched.map((one, cell) => ({ key: stitchedKey(id, cell), value: JSON.stringify(one) })),
        ],
      }),
    )
  }

  /** Trials have run that are not kept yet, or a batch was kept. */
  #told(): void {
    if (this.#signal.aborted) return
    const seconds = (this.#deps.clock.now() - this.#from.at) / 1000
    const seen = seenOf(this.#sweep) + this.trying - this.#from.seen
    this.#live.tell(progressOf(this.#sweep, this.trying, seconds > 0 && seen > 0 ? seen / seconds : null))
  }
}

/** Throws if a stored batch is not of these choices: another version of this program began the sweep. */
function assertSame(choices: Choices, stored: Choices): void {
  const names = new Set(choices.map((one) => JSON.stringify(one)))
  if (stored.every((one) => names.has(JSON.stringify(one)))) return
  throw new Problem(
    409,
    'conflict',
    'This sweep was begun by a version of Chartroom that chose its trials in another way, so it cannot go on as if it had never stopped. Its trials are kept; start a new one.',
  )
}

function isAnyNumber({ values, step }: Sweep['space'][number]): boolean {
  return values === undefined && step === undefined
}

function batchIn(choices: Choices, found: TrialsOutput, tried: number): Batch {
  return {
    choices,
    rows: encodeRows(found.rows),
    failures: found.failures,
    winners: found.winners.map((winner) => winner && { ...winner, trial: winner.trial + tried }),
  }
}

/** The scores of all choices of a batch, of which only some were run to the end. */
function scoresOfAll(choices: Choices, run: Choices, scores: readonly (number | null)[]): (number | null)[] {
  if (run.length === choices.length) return [...scores]
  const known = new Map(run.map((one, i) => [JSON.stringify(one), scores[i]!]))
  return choices.map((one) => known.get(JSON.stringify(one)) ?? null)
}

function betterOf(best: Sweep['best'], scores: readonly (number | null)[], from: number): Sweep['best'] {
  let found = best
  for (const [i, score] of scores.entries())
    if (score !== null && (found === null || score > found.score)) found = { trial: from + i, score }
  return found
}

export function progressOf(sweep: Sweep, trying: number, perSecond: number | null): SweepProgress {
  const { state, tried, filtered = 0, trials: planned, failed, best } = sweep
  return { state, tried, trying, filtered, planned, failed, best, perSecond }
}
