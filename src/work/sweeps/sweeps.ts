// Sweeps: a script over many choices of its inputs, from the request to the verdict.
//
// A plan says what is tried next. Its batches are split among the workers, put together again in order, and written.

import { Listeners } from '../../lib/listeners.ts'
import { canonicalJson } from '../../broker/report/hash.ts'
import type { ScriptHost } from '../workers/desk.ts'
import type { LiveJob } from '../jobs/live-jobs.ts'
import type { JobScript } from '../jobs/records.ts'
import { StoredJobs, type JobDeps } from '../jobs/stored-jobs.ts'
import { invalidField, pointerToken, Problem } from '../../lib/problem.ts'
import { barsNotFound } from '../../market/bar-cache.ts'
import { ownerOf, seriesKey } from '../../market/bar-store.ts'
import { requireInterval } from '../../market/interval.ts'
import { barsSeenBy, seriesOf } from '../../market/seen-bars.ts'
import { areAlike, askedDay } from '../../language/behaviour.ts'
import type { Also } from '../../store/transaction.ts'
import type { Key } from '../../store/kv.ts'
import type { StitchedEquity, SweepBody, SweepTrial, Verdict } from '../../wire/sweep.ts'
import { isUnderWay } from '../../wire/job-state.ts'
import { askedSweep } from './asked.ts'
import { SweepHelp } from './helping.ts'
import type { Ledger } from './ledger.ts'
import type { SweepNodes } from './offers.ts'
import {
  batchKey,
  batchOf,
  decodeRows,
  ledgerOf,
  scriptKey,
  sweeps,
  stitchedKey,
  verdictKey,
  type Sweep,
} from './records.ts'
import { LEARNING, plans, progressOf, RunningSweep, type SweepProgress } from './running.ts'
import { BATCH, spaceOf } from './space.ts'
import { shownTrial } from './trials.ts'
import { SweepTrials, type TryDeps } from './trying.ts'
import { CELLS_MAX } from './windows.ts'

export type { Sweep } from './records.ts'

export interface SweepDeps extends JobDeps, TryDeps {
  readonly ledger: Ledger
  /** The servers that may do batches for each other; null or missing = there is one. */
  readonly nodes?: SweepNodes | null
}

const RESULTS_PAGE_MAX = 1000

export class Sweeps extends StoredJobs<Sweep, SweepProgress> {
  readonly #deps: SweepDeps
  readonly #trials: SweepTrials
  readonly #help: SweepHelp
  readonly #running = new Map<string, RunningSweep>()
  readonly #listeners = new Listeners<[sweep: Sweep]>()

  constructor(deps: SweepDeps) {
    super(deps, {
      one: 'sweep',
      many: 'sweeps',
      missing: 'sweep_not_found',
      records: sweeps,
      scriptKey,
    })
    this.#deps = deps
    this.#trials = new SweepTrials(deps)
    this.#help = new SweepHelp({
      ...deps,
      trials: this.#trials,
      materialOf: async (sweep) => this.#trials.materialOf(sweep, await this.scriptOf(sweep.id)),
    })
    deps.nodes?.onBuried(() => {
      for (const { shared } of this.#running.values())
        shared.buried().catch((error: unknown) =>
          deps.log('error', 'batches of a server that is gone could not be taken back', {
            error: String(error),
          }),
        )
    })
  }

  protected override progressOf(sweep: Sweep): SweepProgress {
    return progressOf(sweep, 0, null)
  }

  /** How many trials of the sweep have run on this server and are not kept yet. */
  trying(id: string): number {
    return this.#running.get(id)?.trying ?? 0
  }

  protected override keysOf({ id, batches }: Sweep): Key[] {
    return [
      verdictKey(id),
      ...Array.from({ length: batches }, (_, batch) => batchKey(id, batch)),
      ...Array.from({ length: CELLS_MAX }, (_, cell) => stitchedKey(id, cell)),
    ]
  }

  protected override over(sweep: Sweep): void {
    this.#listeners.tell(sweep)
  }

  /** Checks what can be checked without a worker, stores the sweep as queued, and returns. */
  async create(userId: string, body: SweepBody, also?: Also<Sweep>): Promise<Sweep> {
    const { clock, newId, bars: cache, hostFor } = this.#deps
    const asOf = askedDay(body.asOf, clock.now())
    const space = spaceOf(body.space, body.where ?? [])
    const interval = requireInterval(body.interval)
    const seen = barsSeenBy(cache, userId)
    const key = await seen.resolve(seriesKey(body.exchange, body.symbol, interval))
    if (!(await seen.source(key))) throw await barsNotFound(seen, key)
    const bars = await seen.read(key, { last: body.bars })
    if (bars.length === 0) throw await barsNotFound(seen, key)
    const owned = { id: newId('sw'), userId, createdAt: clock.now(), ...seriesOf(key, '') }
    const sweep = askedSweep({ ...owned, seriesOwner: ownerOf(key), asOf }, body, space, bars)
    const { planOf } = await plans()
    // Throws if the sampler cannot use the space.
    planOf(space, sweep, () => clock.now())
    const script: JobScript = {
      source: body.source,
      inputs: body.inputs ?? {},
      overrides: body.overrides ?? {},
      asOf,
    }
    await this.#assertTakes(sweep, script, hostFor(seen, userId, key, bars))
    return this.add(sweep, script, also)
  }

  /**
   * Throws Problem 422 that names an input that the script does not have, or a commission that a new run would refuse. What
   * else is wrong with a script fails the sweep, with its diagnostics.
   */
  async #assertTakes(
    sweep: Sweep,
    { source, inputs, overrides }: JobScript,
    host: ScriptHost,
  ): Promise<void> {
    const { userId, space } = sweep
    const { pool, limits } = this.#deps
    const names = [...space.flatMap(({ input = [] }) => input), ...Object.keys(inputs)]
    const budget = { timeMs: limits.timeMs, memoryBytes: limits.memoryBytes }
    const options = { user: userId, lane: 'quick' as const, budget, host }
    const varied = { space, where: sweep.where }
    const check = await pool.do('checkAsked', { source, names, overrides, varied }, options)
    const unknown = check?.unknown
    if (!unknown) return
    const at = space.findIndex(({ input }) => input === unknown.input)
    const path = at < 0 ? `/inputs/${pointerToken(unknown.input)}` : `/space/${at}/input`
    throw invalidField(path, 'invalid_input', unknown.message)
  }

  async verdict(userId: string, id: string): Promise<Verdict | null> {
    await this.get(userId, id)
    return this.valueAt(verdictKey(id))
  }

  /** null if there is no such cell, while the sweep is under way, and for sweeps from before it was stored. */
  async stitched(userId: string, id: string, cell: number): Promise<StitchedEquity | null> {
    await this.get(userId, id)
    return this.valueAt(stitchedKey(id, cell))
  }

  /** The number of the trial that ran the same; null if none did. */
  async trialOf(sweep: Sweep, { source, inputs, overrides, asOf }: JobScript): Promise<number | null> {
    const own = await this.scriptOf(sweep.id)
    const { point, rest } = takenApart(sweep, { inputs, overrides })
    const others = takenApart(sweep, own).rest
    if (source !== own.source || !areAlike(asOf, own.asOf) || canonicalJson(rest) !== canonicalJson(others))
      return null
    for (let batch = 0, at = 0; batch < sweep.batches; batch++) {
      const { choices = [] } = (await batchOf(this.#deps.kv, sweep.id, batch)) ?? {}
      const place = choices.findIndex((one) => JSON.stringify(one) === JSON.stringify(point))
      if (place >= 0) return at + place
      at += choices.length
    }
    return null
  }

  /** The number of distinct trials of the sweep's script on its market; null before any was made: its name is not known. */
  async counted(sweep: Sweep): Promise<number | null> {
    return sweep.script === '' ? null : this.#deps.ledger.count(ledgerOf(sweep))
  }

  /** A page of trials in the order in which they were made. */
  async results(
    userId: string,
    id: string,
    { limit, from }: { readonly limit: number; readonly from: number },
  ): Promise<{ readonly sweep: Sweep; readonly trials: SweepTrial[] }> {
    const sweep = await this.get(userId, id)
    const trials: SweepTrial[] = []
    const most = Math.min(limit, RESULTS_PAGE_MAX)
    // Samplers that do not learn fill every batch.
    const isEven = !LEARNING.has(sweep.sampler) && !sweep.halving
    const first = isEven ? Math.floor(from / BATCH) : 0
    for (let batch = first, at = first * BATCH; batch < sweep.batches && trials.length < most; batch++) {
      const found = await batchOf(this.#deps.kv, id, batch)
      if (!found) break
      const { choices } = found
      if (at + choices.length > from) {
        const rows = decodeRows(found.rows)
        for (let i = Math.max(0, from - at); i < choices.length && trials.length < most; i++)
          trials.push(shownTrial(sweep, found, rows, i, at + i))
      }
      at += choices.length
    }
    return { sweep, trials }
  }

  async resume(userId: string, id: string): Promise<Sweep> {
    const sweep = await this.get(userId, id)
    if (isUnderWay(sweep)) return sweep
    if (sweep.state === 'done')
      throw new Problem(409, 'conflict', 'The sweep is done: there is nothing left to try.')
    await this.#trials.barsOf(sweep)
    return this.restart(sweep, (before) => ({ ...before, state: 'queued', finishedAt: null, error: null }))
  }

  /** `listener` is told of every sweep that is over. */
  onOver(listener: (sweep: Sweep) => void): void {
    this.#listeners.add(listener)
  }

  override async stop(): Promise<void> {
    this.#help.stop()
    await super.stop()
    await this.#deps.ledger.settled()
  }

  /** How many batches were done for other servers. */
  get helped(): number {
    return this.#help.count
  }

  /** Another server has offered a batch, or has done one for this. */
  async offerHeard(id: string): Promise<void> {
    for (const { shared } of this.#running.values()) await shared.heard(id)
    await this.#help.heard(id)
  }

  /** See `Helping.help`. */
  help(done: () => void): Promise<boolean> {
    return this.#help.help(done)
  }

  protected override async work(id: string, live: LiveJob<Sweep, SweepProgress>): Promise<void> {
    const sweep = await this.started(id)
    if (!sweep) return
    const material = await this.#trials.materialOf(sweep, await this.scriptOf(id))
    const deps = {
      ...this.#deps,
      trials: this.#trials,
      change: this.change.bind(this),
      isAlone: () => this.#running.size < 2,
    }
    const running = await RunningSweep.of(deps, sweep, material, live)
    this.#running.set(id, running)
    try {
      await running.run()
    } finally {
      this.#running.delete(id)
    }
  }
}

/** The values that a sweep varies, and all others. */
function takenApart({ space }: Sweep, { inputs, overrides }: Omit<JobScript, 'source'>) {
  const names = (kind: 'input' | 'property') => new Set(space.flatMap((one) => one[kind] ?? []))
  const without = (values: object, taken: ReadonlySet<string>) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !taken.has(name)))
  return {
    point: space.map(({ input, property }) =>
      input === undefined ? overrides[property ?? ''] : inputs[input],
    ),
    rest: { inputs: without(inputs, names('input')), overrides: without(overrides, names('property')) },
  }
}
