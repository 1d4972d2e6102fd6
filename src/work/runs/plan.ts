// What a run takes, worked out before a worker has it: the series that its user sees, its bars, and the script.

import type { RunJob } from '../workers/job.ts'
import type { JobPool } from '../workers/pool.ts'
import type { JobOptions, Lane } from '../workers/task.ts'
import { cancelled } from '../workers/limits.ts'
import type { LiveJob } from '../jobs/live-jobs.ts'
import { givenOf, type JobScript } from '../jobs/records.ts'
import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import { barsNotFound, type BarCache } from '../../market/bar-cache.ts'
import { ownerOf, seriesKey, seriesName, type SeriesKey } from '../../market/bar-store.ts'
import type { Bars } from '../../market/bars.ts'
import { requireInterval } from '../../market/interval.ts'
import { barsSeenBy, seriesOf } from '../../market/seen-bars.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import { askedDay } from '../../language/behaviour.ts'
import type { Limits } from '../../language/runtime/limits.ts'
import type { Kv } from '../../store/kv.ts'
import type { RunningNow } from '../../wire/backtest.ts'
import type { JobState } from '../../wire/job-state.ts'
import { BarHashes } from './bar-hashes.ts'
import { hostFor, type Library } from './host.ts'
import { barsGone, scriptOf, type Run, type RunRequest } from './records.ts'

export interface PlanDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
  readonly bars: BarCache
  readonly pool: JobPool
  readonly limits: Limits
  /** Source of a library that this user may import, for `import user/library/version`; null = there is none. */
  readonly libraryFor: (userId: string) => Library
}

export interface Plan {
  readonly run: Run
  readonly script: JobScript
  readonly key: SeriesKey
  readonly symbol: SymbolInfo
  readonly bars: Bars
  readonly warnings: readonly RunWarning[]
  /** The kinds of tracks to answer; without it, all. */
  readonly tracks?: RunJob['tracks']
  readonly asColumns?: boolean
}

export interface RunWarning {
  readonly code: string
  readonly message: string
}

/** How far a run has come, as its watchers see it. */
export interface RunProgress {
  readonly state: JobState
  readonly bar: number
  readonly bars: number
}

export type LiveRun = LiveJob<Run, RunProgress>

/** [] of one that is over. */
export function runningNow({ job, progress: { state, bar, bars } }: LiveRun): RunningNow[] {
  if (state !== 'queued' && state !== 'running') return []
  const { name, exchange, symbol, interval } = job
  return [{ name, exchange, symbol, interval, state, bar, bars }]
}

export class RunPlans {
  readonly #deps: PlanDeps
  readonly #hashes = new BarHashes()

  constructor(deps: PlanDeps) {
    this.#deps = deps
  }

  /** Checks everything that can be refused without a worker. */
  async asked(userId: string, request: RunRequest, lane: Lane = 'long'): Promise<Plan> {
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
    const asOf = askedDay(request.asOf, clock.now())
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
      asOf,
      given: givenOf(request),
      range: null,
    }
    const few = {
      code: 'fewer_bars',
      message: `Only ${bars.length} bars of ${seriesName(key)} are cached; it ran on those.`,
    }
    const warnings = bars.length < request.bars ? [few] : []
    return { run, script: { source, inputs, overrides, asOf }, key, symbol, bars, warnings }
  }

  /** Of a run that is stored and has not begun. */
  async queued(run: Run): Promise<Plan> {
    const { kv, bars: cache } = this.#deps
    const script = await scriptOf(kv, run.id)
    // It was removed together with the run.
    if (script === null) throw cancelled()
    const seen = barsSeenBy(cache, run.userId)
    return this.#planOf(run, script, await seen.read(keyOf(run), { last: run.bars }))
  }

  /** Of a finished run, on the bars that it ran on as they are now. */
  async again(run: Run, script: JobScript, bars: Bars): Promise<Plan> {
    const plan = await this.#planOf(run, script, bars)
    this.#deps.pool.assertRoom(run.userId)
    return plan
  }

  async #planOf(run: Run, script: JobScript, bars: Bars): Promise<Plan> {
    const seen = barsSeenBy(this.#deps.bars, run.userId)
    const key = keyOf(run)
    if (bars.length === 0) throw await barsGone(seen, run)
    return { run, script, key, symbol: await seen.symbol(key.exchange, key.symbol), bars, warnings: [] }
  }

  jobOf({ script, key, symbol, bars, tracks = null, asColumns = false }: Plan): RunJob {
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

  /** The hash of a plan's bars, which a worker has found. */
  noteHash({ bars }: Plan, hash: string | null): void {
    if (hash !== null) this.#hashes.note(bars, hash)
  }

  optionsFor(live: LiveRun, { run, key, bars }: Plan, lane: Lane): JobOptions {
    const { bars: cache, limits, libraryFor } = this.#deps
    return {
      user: run.userId,
      lane,
      budget: limits,
      host: hostFor(barsSeenBy(cache, run.userId), libraryFor(run.userId), key, bars),
      signal: live.signal,
      progress: (bar) => live.tell({ state: 'running', bar, bars: bars.length }),
    }
  }
}

export const keyOf = (run: Run): SeriesKey => seriesOf(run, run.seriesOwner ?? '')
