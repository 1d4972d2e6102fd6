// Sweeps: from the request, over batches of trials in the workers, to the verdict.
//
// A plan says what is tried next. Its batches are split among the workers, put together again in order, and written. The
// plan and the outcomes alone decide what is tried, never which worker was faster: so one worker or eight, or a server that
// was killed in between, end with the same bytes.

import { checkFigures, namesOf } from '../../broker/figures.ts'
import type { VariedAmongTrials } from '../../broker/trial-columns.ts'
import {
  rowLayout,
  type Measured,
  type RowLayout,
  type TrialInputs,
  type WindowWinner,
} from '../../broker/measured.ts'
import { barsHash, canonicalJson } from '../../broker/report/hash.ts'
import type { ScriptHost } from '../workers/desk.ts'
import type { TrialsJob, TrialsOutput } from '../workers/job.ts'
import type { JudgeJob } from '../workers/job.ts'
import { luckParts, type LuckFound, type LuckPart } from '../workers/luck.ts'
import type { JobPool } from '../workers/pool.ts'
import { withLuck } from '../workers/verdict.ts'
import { inParts } from '../jobs/parts.ts'
import type { LiveJob } from '../jobs/live-jobs.ts'
import type { JobScript } from '../jobs/records.ts'
import { StoredJobs, type JobDeps } from '../jobs/stored-jobs.ts'
import { invalidField, pointerToken, Problem } from '../../lib/problem.ts'
import { turn } from '../../lib/turn.ts'
import { barsNotFound, type BarCache } from '../../market/bar-cache.ts'
import { ownerOf, seriesKey, seriesName, type SeriesKey } from '../../market/bar-store.ts'
import { sliceBars, type Bars } from '../../market/bars.ts'
import { requireInterval } from '../../market/interval.ts'
import { barsRunOn, barsSeenBy, seriesOf, type SeenBars } from '../../market/seen-bars.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import { askedDay } from '../../language/behaviour.ts'
import type { Limits } from '../../language/runtime/runtime.ts'
import type { Also } from '../../store/transaction.ts'
import type { Key } from '../../store/kv.ts'
import type { StitchedEquity, SweepBody, SweepTrial, Verdict } from '../../wire/sweep.ts'
import { halvingOf, measuredOn, rungsOf, survivors } from './halving.ts'
import { joined } from './joined.ts'
import { Ledger } from './ledger.ts'
import type { Plan } from './plan.ts'
import {
  batchKey,
  decodeRows,
  encodeRows,
  scriptKey,
  sweeps,
  stitchedKey,
  verdictKey,
  type Batch,
  type Sweep,
  type SweepState,
} from './records.ts'
import { BATCH, expressionAt, spaceOf, type Choice, type Space } from './space.ts'
import { shownTrial } from './trials.ts'
import { CELLS_MAX, cellsOf, heldOut } from './windows.ts'
import { isUnderWay } from '../../wire/job-state.ts'
import {
  HELPED_MAX,
  offersIn,
  outcomeOf,
  outcomeOfLuck,
  SharedBatches,
  type Offer,
  type SweepNodes,
  type Tried,
} from './offers.ts'

export type { Sweep } from './records.ts'

export interface SweepDeps extends JobDeps {
  readonly bars: BarCache
  readonly pool: JobPool
  readonly limits: Limits
  readonly ledger: Ledger
  /** What a script of this user may ask for while it runs on these bars. */
  readonly hostFor: (seen: SeenBars, userId: string, key: SeriesKey, bars: Bars) => ScriptHost
  /** The most batches that may be with the workers at a time. */
  readonly atOnce: number
  /** The servers that may do batches for each other; null or missing = there is one. */
  readonly nodes?: SweepNodes | null
}

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

const OFFERS_PAGE = 20
/** Of so many sweeps of others bars and script are kept. */
const MATERIALS_MAX = 4
const TRIALS = 1000
/** Samplers whose next choice depends on the outcomes of earlier ones. */
const LEARNING: ReadonlySet<Sweep['sampler']> = new Set(['tpe', 'cmaes'])
/** TPE looks at all earlier trials before each choice. */
const TPE_TRIALS_MAX = 2000
/** How long a part of a batch takes, so that others soon get their turn. */
const PART_MS = 400
const PART_FIRST = 2
/** The choices of a piece of a batch, until it is known how long one takes. */
const PIECE_FIRST = 50
const PART_MAX = 100
const STANDARD_FIGURES = [
  'trades',
  'netProfit',
  'netProfitPct',
  'winRate',
  'profitFactor',
  'maxDrawdownPct',
  'sharpe',
]
const RESULTS_PAGE_MAX = 1000
/** As many trials are looked at in a turn of the server when a sweep is judged. */
const TURN_TRIALS = 500

/** Loaded with the first sweep: the samplers bring a library of statistics. */
const plans = () => import('./plan.ts')

export class Sweeps extends StoredJobs<Sweep, SweepProgress> {
  readonly #deps: SweepDeps
  readonly #listeners = new Set<(sweep: Sweep) => void>()
  /** Of each sweep that runs here, the batches under way. */
  readonly #shared = new Set<SharedBatches>()
  /** Batches of other servers' sweeps that are done here. */
  readonly #helping = new Map<string, AbortController>()
  #helped = 0
  /** Whether one of them could not be given back. */
  #owes = false
  /** What the batches of the sweeps that were helped with last have in common, by sweep. */
  readonly #materials = new Map<string, Promise<Material>>()
  /** How many times a sweep began or went on. */
  #begun = 0
  readonly #trying = new Map<string, number>()

  constructor(deps: SweepDeps) {
    super(deps, {
      one: 'sweep',
      many: 'sweeps',
      missing: 'sweep_not_found',
      records: sweeps,
      scriptKey,
    })
    this.#deps = deps
    deps.nodes?.onBuried(() => {
      for (const shared of this.#shared)
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
    return this.#trying.get(id) ?? 0
  }

  protected override keysOf({ id, batches }: Sweep): Key[] {
    return [
      verdictKey(id),
      ...Array.from({ length: batches }, (_, batch) => batchKey(id, batch)),
      ...Array.from({ length: CELLS_MAX }, (_, cell) => stitchedKey(id, cell)),
    ]
  }

  protected override over(sweep: Sweep): void {
    for (const listener of this.#listeners) listener(sweep)
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
    const sampler = body.sampler ?? (space.size === null ? 'random' : 'grid')
    const trials = Math.min(
      body.trials ?? (sampler === 'grid' ? (space.size ?? TRIALS) : TRIALS),
      space.size ?? Infinity,
    )
    assertTrials(sampler, trials)
    const windows = body.windows ?? { kind: 'none' as const }
    const measured = measuredOf(body, windows, bars.length)
    const sweep: Sweep = {
      id: newId('sw'),
      userId,
      name: body.name,
      bars: body.bars,
      ...seriesOf(key, ''),
      seriesOwner: ownerOf(key),
      state: 'queued',
      createdAt: clock.now(),
      startedAt: null,
      finishedAt: null,
      space: body.space,
      where: body.where ?? [],
      sampler,
      trials,
      seed: body.seed ?? 1,
      objective: measured.objective,
      constraints: measured.constraints,
      windows,
      halving: halvingOf(body, sampler, measured.inside.to - measured.inside.from),
      range: { from: bars.time[0] ?? 0, to: bars.time.at(-1) ?? 0, bars: bars.length },
      barsHash: barsHash(bars),
      measured,
      batches: 0,
      tried: 0,
      failed: 0,
      filtered: 0,
      best: null,
      script: '',
      sentence: null,
      asOf,
      error: null,
    }
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
    if (source !== own.source || asOf !== own.asOf || canonicalJson(rest) !== canonicalJson(others))
      return null
    for (let batch = 0, at = 0; batch < sweep.batches; batch++) {
      const { choices = [] } = (await this.#batch(sweep.id, batch)) ?? {}
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
      const found = await this.#batch(id, batch)
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
    await this.#barsOf(sweep)
    return this.restart(sweep, (before) => ({ ...before, state: 'queued', finishedAt: null, error: null }))
  }

  /** `listener` is told of every sweep that is over. */
  onOver(listener: (sweep: Sweep) => void): void {
    this.#listeners.add(listener)
  }

  override async stop(): Promise<void> {
    for (const helping of this.#helping.values()) helping.abort()
    await super.stop()
    await this.#deps.ledger.settled()
  }

  /** How many batches were done for other servers. */
  get helped(): number {
    return this.#helped
  }

  /** Another server has offered a batch, or has done one for this. */
  async offerHeard(id: string): Promise<void> {
    for (const shared of this.#shared) await shared.heard(id)
    // It was taken back, or its sweep has ended.
    const helping = this.#helping.get(id)
    if (helping && (await offersIn(this.#deps.kv).get(id)) === null) helping.abort()
  }

  /** Takes batches that other servers offer while this one has a free worker; `done` is called after each of them. */
  async help(done: () => void): Promise<void> {
    const { kv, nodes, pool } = this.#deps
    if (!nodes) return
    const offers = offersIn(kv)
    if (this.#owes) await this.#giveBack(nodes.node)
    const isFree = () =>
      this.#helping.size === 0 ? pool.hasFreeWorker : this.#helping.size < HELPED_MAX && pool.waiting === 0
    if (!isFree()) return
    const { items } = await offers.list('open', [], { limit: OFFERS_PAGE, reverse: false })
    if (items.length === 0 && this.#helping.size === 0) this.#materials.clear()
    for (const { id, lender, refusedBy } of items) {
      if (lender === nodes.node || refusedBy.includes(nodes.node)) continue
      if (!isFree()) return
      const taken = await offers.update(id, (offer) =>
        offer.node === null && offer.outcome === null ? { ...offer, node: nodes.node } : null,
      )
      if (!taken) continue
      const stop = new AbortController()
      this.#helping.set(id, stop)
      void this.#help(taken, nodes.node, stop.signal).finally(() => {
        this.#helping.delete(id)
        done()
      })
    }
  }

  async #help(offer: Offer, node: string, signal: AbortSignal): Promise<void> {
    const offers = offersIn(this.#deps.kv)
    const change = (more: Partial<Offer>) =>
      offers.update(offer.id, (before) =>
        before.node === node && before.outcome === null ? { ...before, ...more } : null,
      )
    try {
      const sweep = await sweeps(this.#deps.kv).get(offer.sweepId)
      if (!sweep || !isUnderWay(sweep)) {
        // The server that offered it was killed before it could take it back.
        await offers.delete(offer.id)
        return
      }
      const material = await this.#materialToHelp(sweep)
      if (await change({ outcome: await this.#outcomeOf(sweep, offer, material, signal) })) this.#helped++
    } catch (error) {
      if (signal.aborted) return
      this.#deps.log('warn', 'a batch of another server could not be done', { error: String(error) })
      try {
        await change({ node: null, refusedBy: [...offer.refusedBy, node] })
      } catch {
        this.#owes = true
      }
    }
  }

  async #outcomeOf(sweep: Sweep, { choices, part }: Offer, material: Material, signal: AbortSignal) {
    if (!part)
      return outcomeOf(
        choices,
        await this.#sortedAndTried(sweep, material, rungsFor(sweep, material), choices, signal),
      )
    // All trials are stored before the first part is offered.
    material.rows ??= this.#allOf(sweep)
    return outcomeOfLuck(await this.#luckIn(sweep, material, await material.rows, part, signal))
  }

  /** Batches that this server has taken and does not do. */
  async #giveBack(node: string): Promise<void> {
    const offers = offersIn(this.#deps.kv)
    const { items } = await offers.list('taken', [node], { limit: OFFERS_PAGE })
    for (const { id } of items)
      if (!this.#helping.has(id))
        await offers.update(id, (offer) =>
          offer.node === node && offer.outcome === null ? { ...offer, node: null } : null,
        )
    this.#owes = items.length === OFFERS_PAGE
  }

  #materialToHelp(sweep: Sweep): Promise<Material> {
    const material = this.#materials.get(sweep.id) ?? this.#materialOf(sweep)
    // The one used last is forgotten last.
    this.#materials.delete(sweep.id)
    this.#materials.set(sweep.id, material)
    material.catch(() => this.#materials.delete(sweep.id))
    const [oldest] = this.#materials.keys()
    if (this.#materials.size > MATERIALS_MAX && oldest !== undefined) this.#materials.delete(oldest)
    return material
  }

  protected override async work(id: string, live: LiveJob<Sweep, SweepProgress>): Promise<void> {
    const { clock, atOnce, nodes = null } = this.#deps
    const { signal } = live
    const started = await this.started(id)
    if (!started) return
    let sweep = started
    const material = await this.#materialOf(sweep)
    const { space } = material
    const { planOf } = await plans()
    const plan = planOf(
      space,
      sweep,
      () => clock.now(),
      (job) => this.#deps.pool.do('propose', job, this.#optionsFor(sweep, material, 1, signal)),
    )
    for (let batch = 0; batch < sweep.batches; batch++) {
      const stored = await this.#batch(id, batch)
      if (!stored) throw new Error(`batch ${batch} of ${id} is missing`)
      const choices = await this.#nextOf(plan, signal)
      assertSame(choices, stored.choices)
      plan.tell(scoresOfAll(choices, stored.choices, scoresOf(decodeRows(stored.rows), sweep.measured)))
    }
    const rungs = rungsFor(sweep, material)
    const seenOf = ({ tried, filtered = 0 }: Sweep) => tried + filtered
    const from = { at: clock.now(), seen: seenOf(sweep) }
    live.tell(progressOf(sweep, 0, null))
    const learns = LEARNING.has(sweep.sampler)
    let isTried = false
    const stop = new AbortController()
    const either = AbortSignal.any([signal, stop.signal])
    const ran = new Ran((count) => {
      if (either.aborted) return
      this.#trying.set(id, count)
      const seconds = (clock.now() - from.at) / 1000
      const seen = seenOf(sweep) + count - from.seen
      live.tell(progressOf(sweep, count, seconds > 0 && seen > 0 ? seen / seconds : null))
    })
    const shared = new SharedBatches({
      kv: this.#deps.kv,
      offers: offersIn(this.#deps.kv),
      newId: this.#deps.newId,
      nodes,
      sweepId: id,
      // A sampler that does not learn need not wait for the outcomes of one batch to begin the next.
      batchesMax: learns ? 1 : 2,
      // Where others may do them, they do not wait here while workers have other sweeps to do. A part of the verdict is one
      // worker's.
      hereMax: () =>
        this.#shared.size > 1 && nodes && nodes.members.length > 1
          ? 1
          : isTried
            ? atOnce + 1
            : learns
              ? 1
              : 2,
      // Halving compares the trials of a whole batch.
      pieceMax: () => (learns || sweep.halving ? Infinity : pieceOf(material, atOnce)),
      here: (choices, ran) => this.#sortedAndTried(started, material, rungs, choices, either, ran),
      signal: either,
    })
    await shared.begin()
    this.#shared.add(shared)
    /** Batches that were begun, in order. */
    const underWay: { readonly choices: readonly (readonly Choice[])[]; readonly tried: Promise<Tried> }[] =
      []
    let isOver = false
    const begin = async () => {
      while (!isOver && underWay.length < (learns ? 1 : shared.room)) {
        const choices = await this.#nextOf(plan, signal)
        isOver = choices.length === 0
        if (isOver) return
        if (!learns) plan.tell(choices.map(() => null))
        const tried = shared.do(choices, ran.counting(choices))
        tried.catch(() => undefined)
        underWay.push({ choices, tried })
      }
    }
    try {
      await begin()
      for (let first = underWay.shift(); first; first = underWay.shift()) {
        const { left, out, found } = await first.tried
        // Each of these is a turn of its own, so that others are answered in between.
        await turn()
        const batch = batchOf(left, found, sweep.tried)
        if (learns) plan.tell(scoresOfAll(first.choices, left, scoresOf(found.rows, sweep.measured)))
        // The workers go on while this batch is written.
        const next = begin()
        next.catch(() => undefined)
        const changed = await this.#keep(sweep, batch, found, out)
        if (!changed) return
        sweep = changed
        ran.kept(first.choices)
        await next
      }
      isTried = true
      await this.#judge(sweep, material, await this.#allOf(sweep), shared, either)
    } finally {
      this.#shared.delete(shared)
      this.#trying.delete(id)
      stop.abort()
      // Their offers are gone with them.
      await shared.ended()
    }
  }

  /** Asks the plan, which may have to search for long; others get their turn meanwhile. */
  async #nextOf(plan: Plan, signal: AbortSignal): Promise<readonly (readonly Choice[])[]> {
    for (;;) {
      signal.throwIfAborted()
      const choices = plan.next()
      if (choices) return choices
      await (plan.pending ?? this.#deps.clock.sleep(0))
    }
  }

  async #materialOf(sweep: Sweep): Promise<Material> {
    const { bars: cache } = this.#deps
    const seen = barsSeenBy(cache, sweep.userId)
    const key = seriesOf(sweep, sweep.seriesOwner)
    const bars = await this.#barsOf(sweep)
    return {
      name: `${sweep.id} ${++this.#begun}`,
      varied: {
        inputs: sweep.space.flatMap(({ input = [] }) => input),
        settings: sweep.space.some(({ property }) => property !== undefined),
      },
      key,
      bars,
      seen,
      symbol: await seen.symbol(key.exchange, key.symbol),
      script: await this.scriptOf(sweep.id),
      space: spaceOf(sweep.space, sweep.where),
      trialMs: null,
      rows: null,
    }
  }

  /** Throws Problem 409 if they are not the bars that the sweep began on. */
  async #barsOf(sweep: Sweep): Promise<Bars> {
    const key = seriesOf(sweep, sweep.seriesOwner)
    const range = { from: sweep.range.from, to: sweep.range.to + 1 }
    const bars = await barsRunOn(this.#deps.bars, sweep.userId, key, range)
    if (barsHash(bars) === sweep.barsHash) return bars
    throw new Problem(
      409,
      'conflict',
      'The bars that this sweep ran on have changed since. Start a new one on the current bars.',
    )
  }

  async #sortedAndTried(
    sweep: Sweep,
    material: Material,
    rungs: readonly Rung[],
    choices: readonly (readonly Choice[])[],
    signal: AbortSignal,
    ran: (count: number) => void = () => {},
  ): Promise<Tried> {
    const { left, out } = await this.#sorted(sweep, rungs, choices, signal)
    return { left, out, found: await this.#tryBatch(sweep, material, left, signal, ran) }
  }

  /** The choices of a batch that get through all rungs, and the names by which the ledger knows the others. */
  async #sorted(
    sweep: Sweep,
    rungs: readonly Rung[],
    choices: readonly (readonly Choice[])[],
    signal: AbortSignal,
  ): Promise<{ readonly left: readonly (readonly Choice[])[]; readonly out: readonly string[] }> {
    let left = choices
    const out: string[] = []
    for (const { material, measured, keep } of rungs) {
      const { rows, names } = await this.#tryBatch({ ...sweep, measured }, material, left, signal)
      const places = new Set(survivors(scoresOf(rows, measured), keep))
      out.push(...names.filter((name, place) => name !== '' && !places.has(place)))
      left = left.filter((_, place) => places.has(place))
    }
    return { left, out }
  }

  async #tryBatch(
    sweep: Pick<Sweep, 'userId' | 'measured'>,
    material: Material,
    choices: readonly (readonly Choice[])[],
    signal: AbortSignal,
    ran: (count: number) => void = () => {},
  ): Promise<TrialsOutput> {
    const { atOnce } = this.#deps
    const points = choices.map((one) => material.space.pointOf(one))
    const parts = await inParts({
      count: points.length,
      atOnce,
      size: (left) => Math.min(partOf(material), Math.ceil(left / atOnce)),
      signal,
      work: async (from, to) => {
        const part = await this.#tryPart(sweep, material, points.slice(from, to), signal)
        material.trialMs = Math.max(0.1, part.tookMs / part.names.length)
        ran(to - from)
        return part
      },
    })
    return joined(parts.map(({ part }) => part))
  }

  #tryPart(
    sweep: Pick<Sweep, 'userId' | 'measured'>,
    material: Material,
    points: readonly TrialInputs[],
    signal: AbortSignal,
  ): Promise<TrialsOutput> {
    const { pool } = this.#deps
    const job: TrialsJob = {
      ...this.#jobOf(material),
      points,
      measured: sweep.measured,
      columns: { name: `${material.name} ${material.bars.length}`, ...material.varied },
    }
    return pool.do('trials', job, this.#optionsFor(sweep, material, points.length, signal))
  }

  #jobOf({ script, bars, symbol, key }: Material) {
    return { ...script, bars, symbol, interval: key.interval, limits: this.#deps.limits }
  }

  /** A part has as much time as its trials would have as single runs. */
  #optionsFor(
    sweep: Pick<Sweep, 'userId'>,
    { seen, key, bars }: Material,
    runs: number,
    signal: AbortSignal,
  ) {
    const { limits, hostFor } = this.#deps
    return {
      user: sweep.userId,
      lane: 'sweeps' as const,
      budget: { timeMs: limits.timeMs * runs, memoryBytes: limits.memoryBytes },
      host: hostFor(seen, sweep.userId, key, bars),
      signal,
    }
  }

  /** Commits batch, record and ledger together. Answers null if the sweep was cancelled or removed meanwhile. */
  async #keep(
    sweep: Sweep,
    batch: Batch,
    found: TrialsOutput,
    out: readonly string[],
  ): Promise<Sweep | null> {
    const scores = scoresOf(found.rows, sweep.measured)
    const failed = batch.failures.length
    // Counted first: a server that dies in between tries them again, and a trial counts once.
    await this.#count({ ...sweep, script: found.script }, found, out)
    const changed = await this.change(
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
  #count(sweep: Sweep, { names, rows, formerly }: TrialsOutput, out: readonly string[]): Promise<void> {
    const of = { ...ledgerOf(sweep), formerly }
    const { width, sharpe } = rowLayout(sweep.measured)
    const tried = names.flatMap((trial, i) =>
      trial === '' ? [] : [{ ...of, trial, sharpe: rows[i * width + sharpe]! }],
    )
    return this.#deps.ledger.add([...out.map((trial) => ({ ...of, trial })), ...tried])
  }

  /** Read from the store at the end: kept until then they would be ten megabytes for ten thousand trials. */
  async #allOf(sweep: Sweep): Promise<Rows> {
    const all = new Rows(sweep)
    const layout = rowLayout(sweep.measured)
    for (let batch = 0; batch < sweep.batches; batch++) {
      const stored = await this.#batch(sweep.id, batch)
      if (!stored) throw new Error(`batch ${batch} of ${sweep.id} is missing`)
      all.add(stored, layout)
      await turn()
    }
    return all
  }

  async #judge(
    sweep: Sweep,
    material: Material,
    all: Rows,
    shared: SharedBatches,
    signal: AbortSignal,
  ): Promise<void> {
    const { pool, clock, ledger, atOnce, nodes } = this.#deps
    const { space } = material
    const { count, deviation: deviationOfAll } = await ledger.counted(ledgerOf(sweep))
    const counted = Math.max(sweep.tried - sweep.failed, count)
    const steps = new Int32Array(all.choices.length * space.axes.length)
    const numbers = space.axes.map(() => new Map<Choice, number>())
    for (const [axis] of space.axes.entries()) {
      const values = [...new Set(all.choices.map((choices) => choices[axis]!))]
      const sorted = values.every((value) => typeof value === 'number')
        ? values.toSorted((a, b) => a - b)
        : values
      for (const [i, value] of sorted.entries()) numbers[axis]!.set(value, i)
    }
    const points: TrialInputs[] = []
    for (const [trial, choices] of all.choices.entries()) {
      if (trial % TURN_TRIALS === 0) await turn()
      points.push(space.pointOf(choices))
      for (const [axis, { count }] of space.axes.entries())
        steps[trial * space.axes.length + axis] = count === null ? -1 : numbers[axis]!.get(choices[axis]!)!
    }
    const cells = cellsOf(sweep.windows, material.bars.length).map(({ share, runs }) => ({ share, runs }))
    const isShared = atOnce > 1 || (nodes?.members.length ?? 1) > 1
    const parts = luckParts({ ...sweep, rows: all.rows }, isShared)
    const isWhole = parts.length === 1
    const job: JudgeJob = {
      ...this.#jobOf(material),
      measured: sweep.measured,
      rows: all.rows,
      steps,
      axes: space.axes.map(({ ordered }) => ({ ordered })),
      points,
      counted,
      deviationOfAll,
      failed: sweep.failed,
      seed: sweep.seed,
      cells,
      winners: all.winners,
      luck: isWhole ? 'here' : 'elsewhere',
    }
    const { own, luck } = await shared.judge(
      () =>
        pool.do('judge', job, this.#optionsFor(sweep, material, 20 + sweep.measured.windows.length, signal)),
      isWhole ? [] : parts,
      (part) => this.#luckIn(sweep, material, all, part, signal),
    )
    const { judged, stitched } = own
    const verdict = withLuck(judged, isWhole ? own.luck : luck)
    await this.change(
      sweep.id,
      (before) => ({ ...before, state: 'done', finishedAt: clock.now(), sentence: verdict.sentence }),
      () => ({
        sets: [
          { key: verdictKey(sweep.id), value: JSON.stringify(verdict) },
          ...stitched.map((one, cell) => ({ key: stitchedKey(sweep.id, cell), value: JSON.stringify(one) })),
        ],
      }),
    )
  }

  #luckIn(
    sweep: Sweep,
    material: Material,
    { rows }: Rows,
    part: LuckPart,
    signal: AbortSignal,
  ): Promise<LuckFound> {
    const { measured, seed } = sweep
    return this.#deps.pool.do(
      'luck',
      { measured, seed, rows, part },
      this.#optionsFor(sweep, material, 20, signal),
    )
  }

  async #batch(id: string, batch: number): Promise<Batch | null> {
    const entry = await this.#deps.kv.get(batchKey(id, batch))
    return entry && (JSON.parse(entry.value) as Batch)
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

/** Throws if a stored batch is not of these choices: another version of this program began the sweep. */
function assertSame(choices: readonly (readonly Choice[])[], stored: readonly (readonly Choice[])[]): void {
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

/** Counts the trials of batches that are not kept yet; `told` is called with every change. */
class Ran {
  readonly #counts = new Map<readonly (readonly Choice[])[], number>()
  readonly #told: (count: number) => void

  constructor(told: (count: number) => void) {
    this.#told = told
  }

  /** Call it when a batch begins; what it answers, with how many more have run. */
  counting(batch: readonly (readonly Choice[])[]): (count: number) => void {
    this.#counts.set(batch, 0)
    return (count) => {
      this.#counts.set(batch, (this.#counts.get(batch) ?? 0) + count)
      this.#tell()
    }
  }

  kept(batch: readonly (readonly Choice[])[]): void {
    this.#counts.delete(batch)
    this.#tell()
  }

  #tell(): void {
    this.#told([...this.#counts.values()].reduce((sum, count) => sum + count, 0))
  }
}

interface Rung {
  /** What to run, with only the first of the bars. */
  readonly material: Material
  readonly measured: Measured
  readonly keep: number
}

function rungsFor({ halving, measured }: Sweep, material: Material): Rung[] {
  if (!halving) return []
  return rungsOf(halving, measured.inside.to - measured.inside.from).map((bars) => ({
    material: { ...material, bars: sliceBars(material.bars, 0, bars) },
    measured: measuredOn(bars, measured),
    keep: halving.keep,
  }))
}

interface Material {
  /** A new name each time the sweep goes on, under which workers keep what its parts have in common. */
  readonly name: string
  readonly varied: VariedAmongTrials
  readonly key: SeriesKey
  readonly bars: Bars
  readonly seen: SeenBars
  readonly symbol: SymbolInfo
  readonly script: JobScript
  readonly space: Space
  /** How long the last trials took each. This changes only how many a worker is given at a time, not what is tried. */
  trialMs: number | null
  /** All trials, once a part of the verdict is done for another server. */
  rows: Promise<Rows> | null
}

/** How many trials a worker is given at a time. */
function partOf({ trialMs }: Material): number {
  return trialMs === null ? PART_FIRST : Math.min(PART_MAX, Math.max(1, Math.floor(PART_MS / trialMs)))
}

/** How many trials keep a server's workers busy for as long as a part takes. */
function pieceOf({ trialMs }: Material, workers: number): number {
  return trialMs === null ? PIECE_FIRST : Math.max(1, Math.floor(PART_MS / trialMs)) * workers
}

/** All trials of a sweep, as its judge reads them. The rows are in shared memory, which a worker reads without a copy. */
class Rows {
  readonly choices: (readonly Choice[])[] = []
  readonly rows: Float64Array
  readonly winners: (WindowWinner | null)[]

  constructor({ measured, tried }: Pick<Sweep, 'measured' | 'tried'>) {
    this.rows = new Float64Array(new SharedArrayBuffer(8 * tried * rowLayout(measured).width))
    this.winners = measured.windows.map(() => null)
  }

  add({ choices, rows, winners }: Batch, { width }: RowLayout): void {
    this.rows.set(decodeRows(rows), this.choices.length * width)
    this.choices.push(...choices)
    for (const [window, winner] of winners.entries()) {
      const before = this.winners[window]
      // Of equal trials the first wins, whatever batches they were tried in.
      if (winner && (!before || winner.score > before.score)) this.winners[window] = winner
    }
  }
}

function measuredOf(body: SweepBody, windows: NonNullable<SweepBody['windows']>, bars: number): Measured {
  const objective = body.objective ?? 'netProfit'
  const constraints = body.constraints ?? []
  const { inside, outside } = heldOut(windows, bars)
  const spans = windows.kind !== 'none'
  const wanted = expressionAt(objective, '/objective')
  checkFigures(wanted.names, '/objective', { spans })
  const limits = constraints.map((text, i) => {
    const limit = expressionAt(text, `/constraints/${i}`)
    checkFigures(limit.names, `/constraints/${i}`, { spans })
    return limit
  })
  const length = inside.to - inside.from
  // Blocks are long enough for a meaningful Sharpe ratio of one block.
  const blocks = [16, 8, 4, 2].find((count) => length >= count * 10) ?? 2
  return {
    objective,
    constraints,
    figures: [...new Set([...STANDARD_FIGURES, ...namesOf([wanted, ...limits])])],
    inside,
    outside,
    windows: cellsOf(windows, bars).flatMap((cell) => cell.windows),
    blocks,
    pieces: Math.min(64, length),
  }
}

function assertTrials(sampler: Sweep['sampler'], trials: number): void {
  const most = sampler === 'tpe' ? TPE_TRIALS_MAX : 20_000
  if (trials > most)
    throw invalidField(
      '/trials',
      'too_many_trials',
      sampler === 'grid'
        ? `The grid would have ${trials.toLocaleString('en')} trials; ${most.toLocaleString('en')} are allowed. Take larger steps, or the sampler sobol.`
        : `This sampler makes at most ${most.toLocaleString('en')} trials.`,
    )
}

function batchOf(choices: readonly (readonly Choice[])[], found: TrialsOutput, tried: number): Batch {
  return {
    choices,
    rows: encodeRows(found.rows),
    failures: found.failures,
    winners: found.winners.map((winner) => winner && { ...winner, trial: winner.trial + tried }),
  }
}

function scoresOf(rows: Float64Array, measured: Measured): (number | null)[] {
  const { width, score } = rowLayout(measured)
  return Array.from({ length: rows.length / width }, (_, i) => {
    const found = rows[i * width + score]!
    return Number.isNaN(found) ? null : found
  })
}

/** The scores of all choices of a batch, of which only some were run to the end. */
function scoresOfAll(
  choices: readonly (readonly Choice[])[],
  run: readonly (readonly Choice[])[],
  scores: readonly (number | null)[],
): (number | null)[] {
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

const ledgerOf = ({ userId, script, exchange, symbol, interval }: Sweep) => ({
  userId,
  script,
  market: seriesName({ exchange, symbol, interval }),
})

function progressOf(sweep: Sweep, trying: number, perSecond: number | null): SweepProgress {
  const { state, tried, filtered = 0, trials: planned, failed, best } = sweep
  return { state, tried, trying, filtered, planned, failed, best, perSecond }
}
