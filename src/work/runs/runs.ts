// Runs: stored backtests, from the request to the commit that stores their report.
//
// Nothing is written while a run goes on, unless the caller does not wait for it: then the record is there from the
// start, so that it can be found. At the end record, report, tracks and what others add (a delivery for each
// webhook receiver) are one commit: a report exists if and only if its event does.

import type { BacktestOutput, Jobs, RunJob } from '../workers/job.ts'
import type { Lane } from '../workers/task.ts'
import { UserQueue } from '../jobs/queue.ts'
import { KeptJobs } from '../jobs/records.ts'
import { UserJobs } from '../jobs/user-jobs.ts'
import { Listeners } from '../../lib/listeners.ts'
import type { Log } from '../../lib/log.ts'
import { Problem } from '../../lib/problem.ts'
import type { Bars } from '../../market/bars.ts'
import { encodeCursor, positionAt, type Page, type PageOptions } from '../../store/collection.ts'
import { dropDrafts, type LargeText } from '../../store/large-text.ts'
import type { Also } from '../../store/transaction.ts'
import type { Backtest, RunningNow } from '../../wire/backtest.ts'
import { isUnderWay } from '../../wire/job-state.ts'
import type { ReportSummary } from '../../wire/report.ts'
import type { Trials } from '../../wire/trials.ts'
import { whyGone } from './gone.ts'
import { RunLooks, type DoneRun } from './looks.ts'
import {
  runningNow,
  RunPlans,
  type LiveRun,
  type Plan,
  type PlanDeps,
  type RunProgress,
  type RunWarning,
} from './plan.ts'
import {
  madeWay,
  removeRuns,
  storeFinished,
  storeQueued,
  type FinishedHook,
  type FinishedRun,
  type QueuedRun,
  type Trying,
} from './commits.ts'
import {
  RUNS_MAX,
  notFound,
  withoutResult,
  reportOf,
  runs,
  scriptKey,
  tracksOf,
  type Run,
  type RunRequest,
} from './records.ts'

export interface ChosenRuns {
  readonly sort?: keyof ReportSummary | undefined
  readonly order?: 'asc' | 'desc' | undefined
  readonly since?: number | undefined
}

/** How many servers may begin a run: the first may have died by chance, but the second probably died of it. */
const BEGUN_MAX = 2
/** How many runs that wait for any server are looked at in one go. */
const OPEN_MAX = 50
/** The most rows of a list for which no limit is given. */
const LIST_MAX = 9999
/** The servers that share a store. */
export interface RunNodes {
  /** This one. */
  readonly node: string
  aliveNodes(): Promise<ReadonlySet<string>>
}

export interface RunDeps extends PlanDeps {
  readonly log: Log
  /** Most runs a user may keep; 0 = as many as they like. */
  readonly maxRuns: number
  /** Called when a run is done, for further changes in the same commit; `written` is called after it. */
  readonly onFinished: readonly FinishedHook[]
  /** Counts every script that was run, stored or not, with its choice of values, and answers what the count says of it. */
  readonly tried?: (run: DoneRun, tried: BacktestOutput['tried']) => Promise<Trials>
  /** null: no other server works on the store. */
  readonly nodes?: RunNodes | null
}

export interface Preview<Output> extends Trying {
  readonly output: Output
  readonly warnings: readonly RunWarning[]
}

export class Runs extends KeptJobs<Run> {
  readonly looks: RunLooks
  readonly #deps: RunDeps
  readonly #plans: RunPlans
  readonly #left = new Listeners<[]>()
  /** Runs that wait or run here, previews too; those whose caller does not wait are in its queue. */
  readonly #jobs: UserJobs<Run, RunProgress>

  constructor(deps: RunDeps) {
    super(deps.kv, {
      one: 'backtest',
      many: 'backtests',
      missing: 'backtest_not_found',
      records: runs,
      scriptKey,
    })
    this.#deps = deps
    this.#plans = new RunPlans(deps)
    this.looks = new RunLooks(deps, this.#plans, this)
    const { clock, log, nodes } = deps
    this.#jobs = new UserJobs<Run, RunProgress>({
      noun: ['backtest', 'backtests'],
      clock,
      log,
      queue: new UserQueue({ isTogether: true }),
      find: (id) => this.records.get(id),
      progressOf: ({ state, range, bars }, before) => ({
        state,
        bar: range?.bars ?? before?.bar ?? 0,
        bars: range?.bars ?? before?.bars ?? bars,
      }),
      isOurs: ({ node }) => !nodes || node === nodes.node,
      // Whoever plans a run is refused one too many: see `RunPlans`.
      countUnderWay: () => Promise.resolve(0),
      work: (_id, live) => this.#goOn(live),
      fail: (id, error) => this.#fail(id, error),
      interrupt: (id) => this.#interrupt(id),
    })
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
    const plan = { ...(await this.#plans.asked(userId, request)), asColumns }
    await madeWay(this.#deps, userId, this.#deps.kv)
    return this.attended(plan.run, signal, (live) => this.#execute(live, plan, false, also))
  }

  /** Runs, waits and stores nothing: for trying one input after another. Answers texts (`run`), or packed columns. */
  async preview<K extends 'run' | 'preview'>(
    kind: K,
    userId: string,
    request: RunRequest & { readonly tracks?: RunJob['tracks'] },
    signal: AbortSignal,
  ): Promise<Preview<Jobs[K]['answer']>> {
    const { tracks = null } = request
    const plan = { ...(await this.#plans.asked(userId, request, 'prompt')), tracks }
    const { output, trials } = await this.attended(plan.run, signal, (live) =>
      this.#compute(kind, live, plan, 'prompt'),
    )
    return { output, trials, warnings: plan.warnings }
  }

  /** Does `work` for a caller who waits; when they disconnect, it is stopped. */
  async attended<R>(run: Run, signal: AbortSignal, work: (live: LiveRun) => Promise<R>): Promise<R> {
    const live = this.#jobs.enter(run, { state: 'queued', bar: 0, bars: run.bars })
    const stop = () => live.end()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      return await work(live)
    } finally {
      signal.removeEventListener('abort', stop)
      this.#jobs.leave(live)
    }
  }

  /** Stores the run as queued and returns; it runs after the answer. */
  async runLater(userId: string, request: RunRequest, also?: Also<QueuedRun>): Promise<QueuedRun> {
    const plan = await this.#plans.asked(userId, request)
    const { nodes, pool } = this.#deps
    const isHere = !nodes || pool.hasFreeWorker
    const live = this.#jobs.enter(plan.run)
    const here = nodes && { node: isHere ? nodes.node : null, begun: isHere ? 1 : 0 }
    try {
      this.#gone(await storeQueued(this.#deps, plan, here ?? {}, also))
    } catch (error) {
      this.#jobs.leave(live)
      throw error
    }
    if (isHere) this.#jobs.start(live, () => this.#execute(live, plan, true))
    else {
      this.#jobs.leave(live)
      this.#left.tell()
    }
    return { run: plan.run, warnings: plan.warnings }
  }

  /** `listener` is called when this server has left a run to whichever has a worker free. */
  onLeft(listener: () => void): void {
    this.#left.add(listener)
  }

  async #goOn(live: LiveRun): Promise<void> {
    const { node: _node, begun: _begun, ...run } = live.job
    await this.#execute(live, await this.#plans.queued(run), true)
  }

  /**
   * Where several servers share the store: begins runs that no server does, as long as there is a free worker. Answers
   * whether some may be left.
   */
  async takeUp(): Promise<boolean> {
    const { nodes, pool } = this.#deps
    if (!nodes) return false
    const { items } = await this.records.list('unfinished', [], { limit: OPEN_MAX, reverse: false })
    // The outcome of one that is this server's and is not under way here was lost: the store was away for too long.
    const isFree = ({ id, node }: Run) => node === null || (node === nodes.node && !this.#jobs.get(id))
    const open = items.filter(isFree)
    for (const { id } of open) {
      if (!pool.hasFreeWorker) return true
      const mine = await this.change(id, (run) =>
        isFree(run) ? { ...run, node: nodes.node, begun: (run.begun ?? 0) + 1 } : null,
      )
      if (mine) this.#jobs.resume(mine)
    }
    return false
  }

  async done(userId: string, id: string): Promise<DoneRun> {
    const run = await this.get(userId, id)
    if (!run.range) throw withoutResult(run)
    return { ...run, range: run.range }
  }

  protected override missing(userId?: string, id?: string): Problem | Promise<Problem> {
    return userId !== undefined && id !== undefined ? whyGone(this.#deps.kv, userId, id) : super.missing()
  }

  override async find(userId: string, id: string): Promise<Run | null> {
    const run = await super.find(userId, id)
    return run && this.#asItIs(run)
  }

  /** Only this process knows whether the run waits or runs; only the record says how it ended. */
  #asItIs(run: Run): Run {
    const live = this.#jobs.get(run.id)
    return live && run.finishedAt === null && isUnderWay(live.progress)
      ? { ...run, state: live.progress.state }
      : run
  }

  override async list(userId: string, page: PageOptions) {
    const found = await super.list(userId, page)
    return { ...found, items: found.items.map((run) => this.#asItIs(run)) }
  }

  /** Those made after `since`, by a figure; those that have none come last. The newest first, and also among equals. */
  async chosen(
    userId: string,
    page: PageOptions,
    { sort, order, since = -Infinity }: ChosenRuns,
  ): Promise<Page<Run>> {
    if (sort === undefined && since === -Infinity) return this.list(userId, page)
    const chosen: Run[] = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const { items, nextCursor } = await this.list(userId, { limit: LIST_MAX, cursor })
      chosen.push(...items.filter(({ createdAt }) => createdAt > since))
      // Ids are in the order of time.
      cursor = (items.at(-1)?.createdAt ?? since) > since ? nextCursor : null
    }
    if (sort !== undefined) {
      const sign = order === 'asc' ? 1 : -1
      const figure = ({ summary }: Run) => (summary ? sign * summary[sort] : Infinity)
      chosen.sort((a, b) => (figure(a) === figure(b) ? 0 : figure(a) - figure(b)))
    }
    const from = positionAt(page.cursor ?? undefined)
    const next = from + page.limit
    return {
      items: chosen.slice(from, next),
      nextCursor: next < chosen.length ? encodeCursor([next]) : null,
    }
  }

  /** The user's runs that wait or run here, previews too, with how far they are; the newest last. */
  underWay(userId: string): readonly RunningNow[] {
    return this.#jobs.of(userId).flatMap(runningNow)
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
    for (const { id } of found) this.#jobs.end(id)
    this.#gone(found)
    return found.length
  }

  /** Changes what a user may change: the name, and whether it is pinned. */
  async label(userId: string, id: string, fields: Partial<Pick<Run, 'name' | 'pinned'>>): Promise<Run> {
    await this.get(userId, id)
    const changed = await this.records.update(id, (run) => ({ ...run, ...fields }))
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
    await this.#jobs.watch(await this.get(userId, id), signal, watch)
  }

  /** Another process has changed a run, or removed it. */
  heard(id: string, run: Run | null): void {
    this.#jobs.heard(id, run)
  }

  /** Resolves when the outcomes of runs without a waiting caller are stored; call it once the pool has ended all jobs. */
  settled(): Promise<void> {
    return this.#jobs.settled()
  }

  /**
   * Called at the start, and when another server has gone. What that one had begun is given to any that is still there, or
   * marked as failed where there can be no others.
   */
  async recover(): Promise<void> {
    const { kv, clock, nodes } = this.#deps
    const alive = await nodes?.aliveNodes()
    if (!alive || alive.size === 1) await dropDrafts(kv)
    for await (const { id, node } of this.records.each('unfinished')) {
      if (nodes && node === null) continue
      // Asked again, since a server that came after the last answer may have begun the run.
      if (nodes && typeof node === 'string' && (await nodes.aliveNodes()).has(node)) continue
      await this.change(id, (run) => {
        if (run.node !== node) return null
        return nodes && (run.begun ?? BEGUN_MAX) < BEGUN_MAX
          ? { ...run, node: null, state: 'queued' }
          : { ...run, state: 'failed', finishedAt: clock.now(), error: INTERRUPTED }
      })
    }
    this.#left.tell()
  }

  /** `isKept`: its record is stored already. */
  async #execute(live: LiveRun, plan: Plan, isKept: boolean, also?: Also<FinishedRun>): Promise<FinishedRun> {
    const { run, bars, warnings } = plan
    const { clock, onFinished } = this.#deps
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
      lags: output.tried.lags,
      curve: output.curve,
      range: rangeOf(bars),
    }
    const finished = { run: done, output, trials, warnings }
    this.#gone(await storeFinished(this.#deps, finished, plan.script, isKept, also))
    for (const { written } of onFinished) written?.(done, plan.script)
    return finished
  }

  /** Hands the run to a worker. */
  async #compute<K extends 'run' | 'preview'>(kind: K, live: LiveRun, plan: Plan, lane: Lane) {
    const { clock, pool } = this.#deps
    let startedAt = plan.run.createdAt
    const output = await pool.do(kind, this.#plans.jobOf(plan), {
      ...this.#plans.optionsFor(live, plan, lane),
      started: () => {
        startedAt = clock.now()
        live.tell({ state: 'running', bar: 0, bars: plan.bars.length })
      },
    })
    this.#plans.noteHash(plan, output.barsHash)
    const { run, bars } = plan
    const trials = (await this.#deps.tried?.({ ...run, range: rangeOf(bars) }, output.tried)) ?? null
    return { output, trials, startedAt }
  }

  #fail(id: string, error: Backtest['error']): Promise<Run | null> {
    const { clock } = this.#deps
    return this.change(id, (run) => ({ ...run, state: 'failed', finishedAt: clock.now(), error }))
  }

  /** This server stops, so another one may do the run, if there is one. */
  #interrupt(id: string): Promise<Run | null> {
    if (!this.#deps.nodes) return this.#fail(id, INTERRUPTED)
    return this.change(id, (run) => ({ ...run, node: null, begun: 0, state: 'queued' }))
  }
}

const INTERRUPTED: NonNullable<Backtest['error']> = {
  code: 'interrupted',
  message: 'The server stopped while this ran. Run it again.',
}

const rangeOf = ({ time, length }: Bars) => ({ from: time[0] ?? 0, to: time.at(-1) ?? 0, bars: length })
