// The steps of forward runs, as jobs: what they run on, from where, and the state of the engine that is held between them.
//
// That state is in memory alone: without it a step begins at the first bar, with the same result.

import type { ForwardState } from '../../broker/forward.ts'
import type { ScriptHost } from '../workers/desk.ts'
import type { FollowOutput, ForwardOutput } from '../workers/job.ts'
import type { JobPool } from '../workers/pool.ts'
import type { JobScript } from '../jobs/records.ts'
import type { Clock } from '../../lib/clock.ts'
import { Problem } from '../../lib/problem.ts'
import type { BarCache } from '../../market/bar-cache.ts'
import { ownerOf, type SeriesInfo, type SeriesKey } from '../../market/bar-store.ts'
import { type BarRange, barsOf, type Bars, rowsOf, selectBars, sliceBars } from '../../market/bars.ts'
import { calendarOf } from '../../market/calendar.ts'
import { parseInterval } from '../../market/interval.ts'
import { streams } from '../../market/live/live-providers.ts'
import { barsRunOn, barsSeenBy, seriesOf, type SeenBars } from '../../market/seen-bars.ts'
import type { Limits } from '../../language/runtime/limits.ts'
import type { Kv } from '../../store/kv.ts'
import { tapeOf, type ForwardRun, type TapeRow } from './records.ts'

export interface StepDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly bars: BarCache
  readonly pool: Pick<JobPool, 'do'>
  readonly limits: Limits
  readonly hostFor: (seen: SeenBars, userId: string, key: SeriesKey, bars: Bars) => ScriptHost
  /** The bar of a series that is not over, if it is known. */
  readonly forming?: (key: SeriesKey) => Promise<TapeRow | null>
  /** Processor time of a turn. */
  readonly turnMs?: number
}

/** No further step of a turn is begun after so much processor time: all users' runs share a thread or two. */
const TURN_MS = 50
/** States and tapes of so many runs are held in memory. */
const HELD_MAX = 200

export interface Held {
  readonly rows: TapeRow[]
  readonly state: ForwardState | null
}

/** Whose script runs on which series. */
export interface Stepping {
  readonly userId: string
  readonly key: SeriesKey
  readonly script: JobScript
}

export class Steps {
  readonly #deps: StepDeps
  readonly #held = new Map<string, Held>()

  constructor(deps: StepDeps) {
    this.#deps = deps
  }

  /** A step of all bars from `from` on; `isNew`: refuses what a new backtest would. */
  async step(
    of: Stepping,
    held: Held,
    from: number,
    {
      wants = null,
      isNew = false,
    }: { readonly wants?: 'report' | 'tracks' | null; readonly isNew?: boolean } = {},
  ): Promise<ForwardOutput> {
    const { job, options } = await this.#jobOf(of, held)
    return this.#deps.pool.do('forward', { ...job, from, wants, isNew }, options)
  }

  /** A step of each bar from `from` on, as many as a turn has time for. */
  async follow(of: Stepping, held: Held, from: number): Promise<FollowOutput> {
    const { pool, turnMs = TURN_MS } = this.#deps
    const { job, options } = await this.#jobOf(of, held)
    return pool.do('follow', { ...job, from, forMs: turnMs }, options)
  }

  async #jobOf({ userId, key, script }: Stepping, { rows, state }: Held) {
    const { bars: cache, limits, hostFor } = this.#deps
    const seen = barsSeenBy(cache, userId)
    const bars = barsOf(rows, { shared: true })
    const symbol = await seen.symbol(key.exchange, key.symbol)
    const host = hostFor(seen, userId, key, bars)
    return {
      job: { ...script, bars, symbol, interval: key.interval, limits, kept: state },
      options: { user: userId, lane: 'alerts', budget: limits, host },
    } as const
  }

  async heldOf(run: ForwardRun): Promise<Held> {
    const held = this.#held.get(run.id)
    const length = run.warmup + run.bars
    if (held?.rows.length === length) return held
    const rows = await tapeOf(this.#deps.kv, run.id, length)
    if (rows.length < length) throw removed()
    return { rows, state: null }
  }

  hold(id: string, held: Held): void {
    this.#held.delete(id)
    this.#held.set(id, held)
    const [oldest] = this.#held.keys()
    if (this.#held.size > HELD_MAX && oldest !== undefined) this.#held.delete(oldest)
  }

  letGo(id: string): void {
    this.#held.delete(id)
  }

  letAllGo(): void {
    this.#held.clear()
  }

  /** The bars that are stored today where the run saw `rows`. */
  async storedRows(run: ForwardRun, rows: readonly TapeRow[]): Promise<TapeRow[]> {
    const range = { from: rows[0]![0]!, to: run.last + 1 }
    return rowsOf(await barsRunOn(this.#deps.bars, run.userId, keyOf(run), range))
  }

  /**
   * The closed bars of a range, from what answers for the series. A stream stores only those; of others the newest may be
   * forming, and nobody says when it is as it stays, so it counts once the next one is there.
   */
  async closed(
    userId: string,
    key: SeriesKey,
    source: SeriesInfo | null,
    range: BarRange,
    most: number,
  ): Promise<Bars> {
    const { bars: cache, clock } = this.#deps
    const bars = await barsRunOn(cache, userId, key, range, source)
    const interval = parseInterval(key.interval)
    const newest = bars.time.at(-1)
    if (!source || !interval || newest === undefined) return bars
    const { end } = calendarOf(await barsSeenBy(cache, userId).symbol(key.exchange, key.symbol)).period(
      newest,
      interval,
    )
    const isOwn = source.interval === key.interval
    const forming = ownerOf(key) === '' ? await this.#deps.forming?.(key) : null
    // Behind a bar that is told of while it forms, or where only closed ones are stored, it stays as it is.
    const isBehind = forming ? forming[0]! >= end : false
    const isOver = isBehind || (isOwn && streams(source) ? end <= clock.now() : source.last >= end)
    const closed = isOver ? bars : sliceBars(bars, 0, bars.length - 1)
    return selectBars(closed, { last: most })
  }
}

export const keyOf = (run: ForwardRun): SeriesKey => seriesOf(run, run.seriesOwner)

/** Between reading its record and its tape. */
const removed = () => new Problem(404, 'forward_run_not_found', 'There is no such forward run.')
