// Runs: stored backtests, from the request to the commit that stores their report.
//
// Nothing is written while a run goes on, unless the caller does not wait for it: then the record is there from the
// start, so that it can be found. At the end record, report, tracks and what others add (a delivery for each
// webhook receiver) are one commit: a report exists if and only if its event does.

import { wholeRun } from '../../broker/measured.ts'
import type { TextBytes } from '../workers/answer.ts'
import type { BacktestOutput, Jobs, RunJob, VerifyOutput } from '../workers/job.ts'
import { storedHost } from '../workers/stored-text.ts'
import { cancelled, type JobOptions, type JobPool, type Lane } from '../workers/pool.ts'
import { withLuck } from '../workers/verdict.ts'
import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { Problem } from '../../lib/problem.ts'
import { barsNotFound, type BarCache } from '../../market/bar-cache.ts'
import { ownerOf, seriesKey, seriesName, type SeriesKey } from '../../market/bar-store.ts'
import type { Bars } from '../../market/bars.ts'
import { requireInterval } from '../../market/interval.ts'
import { barsRunOn, barsSeenBy, seriesOf } from '../../market/seen-bars.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import type { Limits } from '../../language/runtime/runtime.ts'
import type { Kv } from '../../store/kv.ts'
import { dropDrafts, dropText, stageText, type LargeText } from '../../store/large-text.ts'
import { transact, type Also, type Changes, type Tx } from '../../store/transaction.ts'
import type { Backtest } from '../../wire/backtest.ts'
import { isUnderWay } from '../../wire/job-state.ts'
import type { ReportSummary } from '../../wire/report.ts'
import type { Verdict } from '../../wire/sweep.ts'
import type { Trials } from '../../wire/trials.ts'
import { BarHashes } from './bar-hashes.ts'
import { whyGone } from './gone.ts'
import { hostFor, type Library } from './host.ts'
import { LiveRuns, tell, type LiveRun, type RunningNow, type RunProgress } from './live.ts'
import {
  RUNS_MAX,
  barsGone,
  keepScript,
  labelsOf,
  madeWay,
  notFound,
  removal,
  removeRuns,
  reportKey,
  reportOf,
  runs,
  scriptOf,
  tracksKey,
  tracksOf,
  type RemovedHook,
  type Run,
  type RunRequest,
  type RunScript,
} from './records.ts'

/** How many servers may begin a run: the first may have died by chance, but the second probably died of it. */
const BEGUN_MAX = 2
/** How many runs that wait for any server are looked at in one go. */
const OPEN_MAX = 50
/** The most rows of a list for which no limit is given. */
const LIST_MAX = 9999
/** The most bars before a run's first among which an earlier beginning is looked for. */
const EARLIER_MAX = 100_000

/** The servers that share a store. */
export interface RunNodes {
  /** This one. */
  readonly node: string
  aliveNodes(): Promise<ReadonlySet<string>>
}

export interface RunDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
  readonly log: Log
  readonly bars: BarCache
  readonly pool: JobPool
  readonly limits: Limits
  /** Most runs a user may keep; 0 = as many as they like. */
  readonly maxRuns: number
  /** Called when a run is done, for further changes in the same commit; `written` is called after it. */
  readonly onFinished: readonly FinishedHook[]
  /** Counts every script that was run, stored or not, with its choice of values, and answers what the count says of it. */
  readonly tried?: (run: DoneRun, tried: BacktestOutput['tried']) => Promise<Trials>
  /** Source of a library that this user may import, for `import user/library/version`; null = there is none. */
  readonly libraryFor: (userId: string) => Library
  /** null: no other server works on the store. */
  readonly nodes?: RunNodes | null
}

export interface FinishedHook extends RemovedHook {
  readonly changes: (tx: Tx, run: Run & { readonly summary: ReportSummary }) => Promise<readonly Changes[]>
  readonly written?: (run: Run, script: RunScript) => void
  /** Called after a run was removed. */
  readonly gone?: (run: Run) => void
  readonly changed?: (run: Run) => Promise<void>
}

/** A run that knows on which bars it ran. */
export type DoneRun = Run & { readonly range: NonNullable<Run['range']> }

export interface RunWarning {
  readonly code: string
  readonly message: string
}

export interface QueuedRun {
  readonly run: Run
  readonly warnings: readonly RunWarning[]
}

export interface FinishedRun extends QueuedRun, Trying {
  readonly output: BacktestOutput
}

export interface Trying {
  /** null where nobody counts. */
  readonly trials: Trials | null
}

export interface Preview<Output> extends Trying {
  readonly output: Output
  readonly warnings: readonly RunWarning[]
}

export class Runs {
  readonly #deps: RunDeps
  readonly #live = new LiveRuns()
  readonly #hashes = new BarHashes()
  /** Runs whose caller does not wait, while their outcome is not stored yet. */
  readonly #later = new Set<Promise<unknown>>()

  constructor(deps: RunDeps) {
    this.#deps = deps
  }

  /** The most that a user may keep; 0: no limit. */
  get keptMax(): number {
    return this.#deps.maxRuns
  }

  /** Rows of a list that gives no limit: all that a user may have, or as many as fit on one page. */
  get listMax(): number {
    return Math.min(this.#deps.maxRuns || RUNS_MAX, LIST_MAX)
  }

  get running(): number {
    return this.#deps.pool.running
  }

  get waiting(): number {
    return this.#deps.pool.waiting
  }

  /** Runs and waits. The run is stored if it succeeds; a failure is answered and not stored. */
  async runNow(
    userId: string,
    request: RunRequest & Pick<RunJob, 'asColumns'>,
    signal: AbortSignal,
    also?: Also<FinishedRun>,
  ): Promise<FinishedRun> {
    const { asColumns = false } = request
    const plan = { ...(await this.#plan(userId, request)), asColumns }
    await madeWay(this.#deps, userId, this.#deps.kv)
    return this.#attended(plan, signal, (live) => this.#execute(live, plan, null, also))
  }

  /** Runs, waits and stores nothing: for trying one input after another. Answers texts (`run`), or packed columns. */
  async preview<K extends 'run' | 'preview'>(
    kind: K,
    userId: string,
    request: RunRequest & { readonly tracks?: RunJob['tracks'] },
    signal: AbortSignal,
  ): Promise<Preview<Jobs[K]['answer']>> {
    const { tracks = null } = request
    const plan = { ...(await this.#plan(userId, request, 'prompt')), tracks }
    const { output, trials } = await this.#attended(plan, signal, (live) =>
      this.#compute(kind, live, plan, 'prompt'),
    )
    return { output, trials, warnings: plan.warnings }
  }

  /** Does `work` for a caller who waits; when they disconnect, it is stopped. */
  async #attended<R>({ run }: Plan, signal: AbortSignal, work: (live: LiveRun) => Promise<R>): Promise<R> {
    const live = this.#live.enter(run)
    const stop = () => live.abort.abort()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      return await work(live)
    } finally {
      signal.removeEventListener('abort', stop)
      this.#live.leave(live)
    }
  }

  /** Stores the run as queued and returns; it runs after the answer. */
  async runLater(userId: string, request: RunRequest, also?: Also<QueuedRun>): Promise<QueuedRun> {
    const plan = await this.#plan(userId, request)
    const { kv, onFinished, nodes, pool } = this.#deps
    const isHere = !nodes || pool.hasFreeWorker
    const live = this.#live.enter(plan.run)
    const here = nodes && { node: isHere ? nodes.node : null, begun: isHere ? 1 : 0 }
    let made: readonly Run[] = []
    try {
      await transact(kv, async (tx) => {
        made = await madeWay(this.#deps, userId, tx)
        return [
          ...(await removal(this.#deps, tx, made, 'room', onFinished)),
          runs(kv).insert({ ...plan.run, ...here }),
          keepScript(plan),
          also?.(plan, tx),
        ]
      })
    } catch (error) {
      this.#live.leave(live)
      throw error
    }
    this.#gone(made)
    if (isHere) this.#goOn(live, () => Promise.resolve(plan))
    else this.#live.leave(live)
    return { run: plan.run, warnings: plan.warnings }
  }

  /** Runs what is stored already; nobody waits for it. */
  #goOn(live: LiveRun, planned: () => Promise<Plan>): void {
    const { log } = this.#deps
    const { run } = live
    const done = planned()
      .then((plan) => this.#execute(live, plan, run))
      .then(() => undefined)
      .catch((error: unknown) => this.#fail(live, error))
      .catch((error: unknown) => log('error', 'a failed run could not be stored', { error: String(error) }))
      .finally(() => this.#live.leave(live))
    this.#later.add(done)
    void done.then(() => this.#later.delete(done))
  }

  /**
   * Where several servers share the store: begins runs that no server does, as long as there is a free worker. Answers
   * whether some may be left.
   */
  async takeUp(): Promise<boolean> {
    const { kv, nodes, pool } = this.#deps
    if (!nodes) return false
    const { items } = await runs(kv).list('unfinished', [], { limit: OPEN_MAX, reverse: false })
    // The outcome of one that is this server's and is not under way here was lost: the store was away for too long.
    const isFree = ({ id, node }: Run) => node === null || (node === nodes.node && !this.#live.has(id))
    const open = items.filter(isFree)
    for (const { id } of open) {
      if (!pool.hasFreeWorker) return true
      const mine = await runs(kv).update(id, (run) =>
        isFree(run) && isUnderWay(run) ? { ...run, node: nodes.node, begun: (run.begun ?? 0) + 1 } : null,
      )
      if (mine?.node !== nodes.node || this.#live.has(id)) continue
      const { node: _node, begun: _begun, ...run } = mine
      this.#goOn(this.#live.enter(run), () => this.#planStored(run))
    }
    return false
  }

  async #planStored(run: Run): Promise<Plan> {
    const { kv, bars: cache } = this.#deps
    const script = await scriptOf(kv, run.id)
    // It was removed together with the run.
    if (script === null) throw cancelled()
    const seen = barsSeenBy(cache, run.userId)
    const key = seriesOf(run, run.seriesOwner ?? '')
    const bars = await seen.read(key, { last: run.bars })
    if (bars.length === 0) throw await barsGone(seen, run)
    return { run, script, key, symbol: await seen.symbol(key.exchange, key.symbol), bars, warnings: [] }
  }

  /** Runs a finished backtest again on its bars, as they are now, and compares the reports. Stores nothing. */
  async verify(userId: string, id: string, signal: AbortSignal): Promise<VerifyOutput> {
    const plan = await this.#planAgain(userId, id)
    const stored = await reportOf(this.#deps.kv, id)
    // It was removed together with the run.
    if (stored === null) throw notFound()
    return this.#attended(plan, signal, (live) => {
      const options = this.#optionsFor(live, plan, 'long')
      const host = { ...options.host, ...storedHost({ report: stored.parts }) }
      return this.#deps.pool.do('verify', this.#jobOf(plan), { ...options, host })
    })
  }

  /**
   * The verdict on a finished backtest: what is left of it without luck, given how many trials were made. Runs it again,
   * stores nothing.
   */
  async verdict(
    userId: string,
    id: string,
    signal: AbortSignal,
    tried: { readonly counted: number; readonly deviation: number },
  ): Promise<Verdict> {
    const { pool } = this.#deps
    const plan = await this.#planAgain(userId, id)
    return this.#attended(plan, signal, async (live) => {
      const job = {
        ...this.#jobOf(plan),
        points: [{ inputs: {}, overrides: {} }],
        measured: wholeRun(plan.bars.length),
      }
      const options = this.#optionsFor(live, plan, 'long')
      const { rows, failures } = await pool.do('trials', job, options)
      const [failure] = failures
      if (failure) throw new Problem(422, 'script_runtime_error', failure.message)
      const alone = { steps: new Int32Array(0), axes: [], cells: [], winners: [], failed: 0, seed: 1 }
      const judge = { ...job, ...alone, ...tried, rows, luck: 'here' as const }
      const { judged, luck } = await pool.do('judge', judge, options)
      return withLuck(judged, luck)
    })
  }

  /** JSON text of where a finished backtest sees the future or repaints (`broker/repaint.ts`). Stores nothing. */
  async repaint(userId: string, id: string, signal: AbortSignal): Promise<string> {
    const plan = await this.#planAgain(userId, id)
    return this.#attended(plan, signal, (live) =>
      this.#deps.pool.do('repaint', this.#jobOf(plan), this.#optionsFor(live, plan, 'long')),
    )
  }

  /** JSON text of why a finished backtest differs from an export; `null` if it does not. Stores nothing. */
  async explain(
    userId: string,
    id: string,
    list: { readonly exported: string; readonly timezone: string | null },
    signal: AbortSignal,
  ): Promise<string> {
    const plan = await this.#planAgain(userId, id)
    const earlier = await this.#earlierBars(plan)
    return this.#attended(plan, signal, (live) => {
      const job = { ...this.#jobOf(plan), ...list, earlier }
      return this.#deps.pool.do('explain', job, this.#optionsFor(live, plan, 'long'))
    })
  }

  /** JSON text of what may be published of a finished backtest (`work/workers/publish-job.ts`). Stores nothing. */
  async published(userId: string, id: string, signal: AbortSignal): Promise<TextBytes> {
    const { kv, pool } = this.#deps
    const { run, range } = await this.#done(userId, id)
    const bars = await this.barsOf(userId, id)
    if (bars.length !== range.bars)
      throw new Problem(
        409,
        'conflict',
        'The bars of this backtest have changed since. Run it again, and publish that one.',
      )
    const [report, tracks] = [await reportOf(kv, id), await tracksOf(kv, id)]
    // They were removed together with the run.
    if (!report || !tracks) throw notFound()
    const host = storedHost({ report: report.parts, tracks: tracks.parts })
    return pool.do(
      'publish',
      { bars },
      { user: run.userId, lane: 'prompt', budget: this.#deps.limits, host, signal },
    )
  }

  /** All bars up to a run's last; null where it had them all. */
  async #earlierBars({ run, key, bars }: Plan): Promise<Bars | null> {
    const range = { to: (bars.time.at(-1) ?? 0) + 1, last: bars.length + EARLIER_MAX }
    const all = await barsRunOn(this.#deps.bars, run.userId, key, range)
    return all.length > bars.length ? all : null
  }

  /** A plan that runs a finished backtest again on the same bars. */
  async #planAgain(userId: string, id: string): Promise<Plan> {
    const { bars: cache, pool, kv } = this.#deps
    const run = await this.get(userId, id)
    const key = seriesOf(run, run.seriesOwner ?? '')
    const bars = await this.barsOf(userId, id)
    if (bars.length === 0) throw await barsGone(barsSeenBy(cache, userId), run)
    pool.assertRoom(userId)
    const script = await scriptOf(kv, id)
    // It was removed together with the run.
    if (script === null) throw notFound()
    const symbol = await barsSeenBy(cache, userId).symbol(key.exchange, key.symbol)
    return { run, script, key, symbol, bars, warnings: [] }
  }

  /** The bars that a finished backtest ran on, as they are now. */
  async barsOf(userId: string, id: string): Promise<Bars> {
    const { run, range } = await this.#done(userId, id)
    const key = seriesOf(run, run.seriesOwner ?? '')
    return barsRunOn(this.#deps.bars, userId, key, { from: range.from, to: range.to + 1 })
  }

  async #done(userId: string, id: string) {
    const run = await this.get(userId, id)
    if (!run.range) throw new Problem(409, 'conflict', 'The backtest is not done: it has no report.')
    return { run, range: run.range }
  }

  async get(userId: string, id: string): Promise<Run> {
    const run = await this.find(userId, id)
    if (!run) throw await whyGone(this.#deps.kv, userId, id)
    return run
  }

  /** null if there is none. */
  async find(userId: string, id: string): Promise<Run | null> {
    const run = await runs(this.#deps.kv).get(id)
    return run?.userId === userId ? this.#live.asItIs(run) : null
  }

  async list(userId: string, page: { readonly limit: number; readonly cursor?: string }) {
    const found = await runs(this.#deps.kv).list('user', [userId], page)
    return { ...found, items: found.items.map((run) => this.#live.asItIs(run)) }
  }

  /** The user's runs that wait or run here, previews too, with how far they are; the newest last. */
  underWay(userId: string): readonly RunningNow[] {
    return this.#live.underWay(userId)
  }

  async script(userId: string, id: string): Promise<RunScript> {
    await this.get(userId, id)
    const script = await scriptOf(this.#deps.kv, id)
    if (!script) throw notFound()
    return script
  }

  /** JSON text of the report; null while there is none. */
  async report(userId: string, id: string): Promise<LargeText | null> {
    await this.get(userId, id)
    return reportOf(this.#deps.kv, id)
  }

  async tracks(userId: string, id: string): Promise<LargeText | null> {
    await this.get(userId, id)
    return tracksOf(this.#deps.kv, id)
  }

  /** Stops a run if it is not finished, and removes it with everything that belongs to it. */
  async remove(userId: string, id: string): Promise<void> {
    await this.get(userId, id)
    await this.removeAll(userId, [id])
  }

  /** The same for several, in one commit. Returns how many there were: unknown ids and those of other users' runs are skipped. */
  async removeAll(userId: string, ids: readonly string[]): Promise<number> {
    const { onFinished } = this.#deps
    const found = await removeRuns(this.#deps, userId, ids, onFinished)
    for (const { id } of found) this.#live.end(id)
    this.#gone(found)
    return found.length
  }

  /** Changes what a user may change: the name, and whether it is pinned. */
  async change(userId: string, id: string, fields: Partial<Pick<Run, 'name' | 'pinned'>>): Promise<Run> {
    await this.get(userId, id)
    const changed = await runs(this.#deps.kv).update(id, (run) => ({ ...run, ...fields }))
    if (!changed) throw notFound()
    for (const { changed: tellOf } of this.#deps.onFinished) await tellOf?.(changed)
    return changed
  }

  #gone(removed: readonly Run[]): void {
    for (const run of removed) for (const { gone } of this.#deps.onFinished) gone?.(run)
  }

  /** Calls `watch` with the run's current progress and with every change, until it is finished or the signal aborts. */
  async watch(
    userId: string,
    id: string,
    signal: AbortSignal,
    watch: (progress: RunProgress) => void,
  ): Promise<void> {
    await this.get(userId, id)
    await this.#live.watch(id, signal, watch, () => this.find(userId, id))
  }

  /** Another process has changed a run, or removed it. */
  heard(id: string, run: Run | null): void {
    this.#live.heard(id, run)
  }

  /** Resolves when the outcomes of runs without a waiting caller are stored; call it once the pool has ended all jobs. */
  async settled(): Promise<void> {
    await Promise.all(this.#later)
  }

  /**
   * Called at the start, and when another server has gone. What that one had begun is given to any that is still there, or
   * marked as failed where there can be no others.
   */
  async recover(): Promise<void> {
    const { kv, clock, nodes } = this.#deps
    const alive = await nodes?.aliveNodes()
    if (!alive || alive.size === 1) await dropDrafts(kv)
    for await (const { id, node } of runs(kv).each('unfinished')) {
      if (nodes && node === null) continue
      // Asked again, since a server that came after the last answer may have begun the run.
      if (nodes && typeof node === 'string' && (await nodes.aliveNodes()).has(node)) continue
      await runs(kv).update(id, (run) => {
        if (!isUnderWay(run) || run.node !== node) return null
        return nodes && (run.begun ?? BEGUN_MAX) < BEGUN_MAX
          ? { ...run, node: null, state: 'queued' }
          : { ...run, state: 'failed', finishedAt: clock.now(), error: INTERRUPTED }
      })
    }
  }

  /** Checks everything that can be refused without a worker. */
  async #plan(userId: string, request: RunRequest, lane: Lane = 'long'): Promise<Plan> {
    const { clock, newId, bars: cache, pool } = this.#deps
    const interval = requireInterval(request.interval)
    const seen = barsSeenBy(cache, userId)
    const key = await seen.resolve(seriesKey(request.exchange, request.symbol, interval))
    if (!(await seen.source(key))) throw await barsNotFound(seen, key)
    pool.assertRoom(userId, lane)
    const symbol = await seen.symbol(key.exchange, key.symbol)
    const bars = await seen.read(key, { last: request.bars })
    if (bars.length === 0) throw await barsNotFound(seen, key)
    // Check again: further runs may have been added while the bars were read.
    pool.assertRoom(userId, lane)
    const { name, bars: wanted, source, inputs, overrides } = request
    const run: Run = {
      name,
      bars: wanted,
      ...seriesOf(key, ''),
      seriesOwner: ownerOf(key),
      id: newId('bt'),
      userId,
      state: 'queued',
      createdAt: clock.now(),
      startedAt: null,
      finishedAt: null,
      error: null,
      summary: null,
      pinned: false,
      currency: null,
      range: null,
    }
    const warnings =
      bars.length < request.bars
        ? [
            {
              code: 'fewer_bars',
              message: `Only ${bars.length} bars of ${seriesName(key)} are cached; it ran on those.`,
            },
          ]
        : []
    return { run, script: { source, inputs, overrides }, key, symbol, bars, warnings }
  }

  /** `kept` is the record if it is stored already, otherwise null. */
  async #execute(
    live: LiveRun,
    plan: Plan,
    kept: Run | null,
    also?: Also<FinishedRun>,
  ): Promise<FinishedRun> {
    const { run, bars, warnings } = plan
    const { kv, clock, onFinished } = this.#deps
    const { output, trials, startedAt } = await this.#compute('run', live, plan, 'long')
    const done = {
      ...run,
      state: 'done' as const,
      startedAt,
      finishedAt: clock.now(),
      summary: output.summary,
      currency: output.currency,
      tried: output.tried.script,
      moments: output.tried.moments,
      range: rangeOf(bars),
    }
    const finished = { run: done, output, trials, warnings }
    let made: readonly Run[] = []
    const texts = [
      { key: reportKey(run.id), text: output.report },
      { key: tracksKey(run.id), text: output.tracks },
    ]
    try {
      const staged: Changes[] = []
      for (const { key, text } of texts) staged.push(await stageText(kv, key, text))
      await transact(kv, async (tx) => {
        const stored = kept && (await runs(kv).at(tx).stored(run.id))
        // It was removed while it ran, a moment too late to be cancelled.
        if (kept && !stored) throw cancelled()
        made = stored ? [] : await madeWay(this.#deps, run.userId, tx)
        return [
          ...(await removal(this.#deps, tx, made, 'room', onFinished)),
          ...(stored
            ? [runs(kv).replace(stored, { ...done, ...labelsOf(stored.record) })]
            : [runs(kv).insert(done), keepScript(plan)]),
          ...staged,
          ...(await Promise.all(onFinished.map(({ changes }) => changes(tx, done)))).flat(),
          also?.(finished, tx),
        ]
      })
    } catch (error) {
      for (const { key } of texts) await dropText(kv, key)
      throw error
    }
    this.#gone(made)
    for (const { written } of onFinished) written?.(done, plan.script)
    tell(live, { state: 'done', bar: bars.length, bars: bars.length })
    return finished
  }

  /** Hands the run to a worker. */
  async #compute<K extends 'run' | 'preview'>(kind: K, live: LiveRun, plan: Plan, lane: Lane) {
    const { clock, pool } = this.#deps
    let startedAt = plan.run.createdAt
    const output = await pool.do(kind, this.#jobOf(plan), {
      ...this.#optionsFor(live, plan, lane),
      started: () => {
        startedAt = clock.now()
        tell(live, { state: 'running', bar: 0, bars: plan.bars.length })
      },
    })
    if (output.barsHash !== null) this.#hashes.note(plan.bars, output.barsHash)
    const { run, bars } = plan
    const trials = (await this.#deps.tried?.({ ...run, range: rangeOf(bars) }, output.tried)) ?? null
    return { output, trials, startedAt }
  }

  #jobOf({ script, key, symbol, bars, tracks = null, asColumns = false }: Plan): RunJob {
    const { limits } = this.#deps
    return {
      ...script,
      bars,
      barsHash: this.#hashes.of(bars),
      symbol,
      interval: key.interval,
      limits,
      tracks,
      asColumns,
    }
  }

  #optionsFor(live: LiveRun, { run, key, bars }: Plan, lane: Lane): JobOptions {
    const { bars: cache, limits, libraryFor } = this.#deps
    return {
      user: run.userId,
      lane,
      budget: limits,
      host: hostFor(barsSeenBy(cache, run.userId), libraryFor(run.userId), key, bars),
      signal: live.abort.signal,
      progress: (bar) => tell(live, { state: 'running', bar, bars: bars.length }),
    }
  }

  async #fail(live: LiveRun, error: unknown): Promise<void> {
    const { kv, clock, log, nodes } = this.#deps
    const known = error instanceof Problem ? error : null
    if (nodes && known?.code === 'shutting_down') {
      // This server stops, so another one may do the run.
      await runs(kv).update(live.run.id, (run) =>
        isUnderWay(run) ? { ...run, node: null, begun: 0, state: 'queued' } : null,
      )
      return
    }
    if (!known) log('error', 'a backtest failed', { id: live.run.id, error: String(error) })
    const state = live.abort.signal.aborted ? 'cancelled' : 'failed'
    const diagnostics = known?.details.diagnostics
    const stopped = known?.code === 'shutting_down' ? INTERRUPTED : null
    await runs(kv).update(live.run.id, (run) => ({
      ...run,
      state,
      finishedAt: clock.now(),
      error: stopped ?? {
        code: known?.code ?? 'internal_error',
        message: known?.message ?? 'Something went wrong on our side.',
        ...(diagnostics && { diagnostics }),
      },
    }))
    tell(live, { ...live.progress, state })
  }
}

const INTERRUPTED: NonNullable<Backtest['error']> = {
  code: 'interrupted',
  message: 'The server stopped while this ran. Run it again.',
}

const rangeOf = ({ time, length }: Bars) => ({ from: time[0] ?? 0, to: time.at(-1) ?? 0, bars: length })

interface Plan {
  readonly run: Run
  readonly script: RunScript
  readonly key: SeriesKey
  readonly symbol: SymbolInfo
  readonly bars: Bars
  readonly warnings: readonly RunWarning[]
  /** The kinds of tracks to answer; without it, all. */
  readonly tracks?: RunJob['tracks']
  readonly asColumns?: boolean
}
