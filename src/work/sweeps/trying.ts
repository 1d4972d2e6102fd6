// Runs choices of a sweep in the workers: first on the rungs of halving, and what is left of them on all of the bars. A batch is
// split among the workers, and put together again in order.

import { rowLayout, type Measured, type TrialInputs } from '../../broker/measured.ts'
import { barsHash } from '../../broker/report/hash.ts'
import type { VariedAmongTrials } from '../../broker/trial-columns.ts'
import type { ScriptHost } from '../workers/desk.ts'
import type { TrialsJob, TrialsOutput } from '../workers/job.ts'
import type { JobPool } from '../workers/pool.ts'
import { inParts } from '../jobs/parts.ts'
import type { JobScript } from '../jobs/records.ts'
import { Problem } from '../../lib/problem.ts'
import type { BarCache } from '../../market/bar-cache.ts'
import type { SeriesKey } from '../../market/bar-store.ts'
import { sliceBars, type Bars } from '../../market/bars.ts'
import { barsRunOn, barsSeenBy, seriesOf, type SeenBars } from '../../market/seen-bars.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import type { Limits } from '../../language/runtime/limits.ts'
import { measuredOn, rungsOf, survivors } from './halving.ts'
import { joined } from './joined.ts'
import type { Rows } from './rows.ts'
import type { Tried } from './offers.ts'
import type { Sweep } from './records.ts'
import { spaceOf, type Choices, type Space } from './space.ts'

export interface TryDeps {
  readonly bars: BarCache
  readonly pool: JobPool
  readonly limits: Limits
  /** What a script of this user may ask for while it runs on these bars. */
  readonly hostFor: (seen: SeenBars, userId: string, key: SeriesKey, bars: Bars) => ScriptHost
  /** The most batches that may be with the workers at a time. */
  readonly atOnce: number
}

/** How long a part of a batch takes, so that others soon get their turn. */
const PART_MS = 400
const PART_FIRST = 2
/** The choices of a piece of a batch, until it is known how long one takes. */
const PIECE_FIRST = 50
const PART_MAX = 100

export interface Rung {
  /** What to run, with only the first of the bars. */
  readonly material: Material
  readonly measured: Measured
  readonly keep: number
}

export function rungsFor({ halving, measured }: Sweep, material: Material): Rung[] {
  if (!halving) return []
  return rungsOf(halving, measured.inside.to - measured.inside.from).map((bars) => ({
    material: { ...material, bars: sliceBars(material.bars, 0, bars) },
    measured: measuredOn(bars, measured),
    keep: halving.keep,
  }))
}

export interface Material {
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
  /** What halving runs before all of the bars. */
  readonly rungs: readonly Rung[]
}

/** How many trials a worker is given at a time. */
export function partOf({ trialMs }: Material): number {
  return trialMs === null ? PART_FIRST : Math.min(PART_MAX, Math.max(1, Math.floor(PART_MS / trialMs)))
}

/** How many trials keep a server's workers busy for as long as a part takes. */
export function pieceOf({ trialMs }: Material, workers: number): number {
  return trialMs === null ? PIECE_FIRST : Math.max(1, Math.floor(PART_MS / trialMs)) * workers
}

export class SweepTrials {
  readonly #deps: TryDeps
  /** How many times a sweep began or went on. */
  #begun = 0

  constructor(deps: TryDeps) {
    this.#deps = deps
  }

  async materialOf(sweep: Sweep, script: JobScript): Promise<Material> {
    const seen = barsSeenBy(this.#deps.bars, sweep.userId)
    const key = seriesOf(sweep, sweep.seriesOwner)
    const bars = await this.barsOf(sweep)
    const material = {
      name: `${sweep.id} ${++this.#begun}`,
      varied: {
        inputs: sweep.space.flatMap(({ input = [] }) => input),
        settings: sweep.space.some(({ property }) => property !== undefined),
      },
      key,
      bars,
      seen,
      symbol: await seen.symbol(key.exchange, key.symbol),
      script,
      space: spaceOf(sweep.space, sweep.where),
      trialMs: null,
      rows: null,
      rungs: [],
    }
    return { ...material, rungs: rungsFor(sweep, material) }
  }

  /** Throws Problem 409 if they are not the bars that the sweep began on. */
  async barsOf(sweep: Sweep): Promise<Bars> {
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

  /** What became of choices of a batch; `ran` is told how many more have run. */
  async try(
    sweep: Sweep,
    material: Material,
    choices: Choices,
    signal: AbortSignal,
    ran: (count: number) => void = () => {},
  ): Promise<Tried> {
    const { left, out } = await this.#sorted(sweep, material, choices, signal)
    return { left, out, found: await this.#tryBatch(sweep, material, left, signal, ran) }
  }

  /** The choices of a batch that get through all rungs, and the names by which the ledger knows the others. */
  async #sorted(
    sweep: Sweep,
    { rungs }: Material,
    choices: Choices,
    signal: AbortSignal,
  ): Promise<{ readonly left: Choices; readonly out: readonly string[] }> {
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
    choices: Choices,
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
      ...this.jobOf(material),
      points,
      measured: sweep.measured,
      columns: { name: `${material.name} ${material.bars.length}`, ...material.varied },
    }
    return pool.do('trials', job, this.optionsFor(sweep, material, points.length, signal))
  }

  jobOf({ script, bars, symbol, key }: Material) {
    return { ...script, bars, symbol, interval: key.interval, limits: this.#deps.limits }
  }

  /** A part has as much time as its trials would have as single runs. */
  optionsFor(sweep: Pick<Sweep, 'userId'>, { seen, key, bars }: Material, runs: number, signal: AbortSignal) {
    const { limits, hostFor } = this.#deps
    return {
      user: sweep.userId,
      lane: 'sweeps' as const,
      budget: { timeMs: limits.timeMs * runs, memoryBytes: limits.memoryBytes },
      host: hostFor(seen, sweep.userId, key, bars),
      signal,
    }
  }
}

export function scoresOf(rows: Float64Array, measured: Measured): (number | null)[] {
  const { width, score } = rowLayout(measured)
  return Array.from({ length: rows.length / width }, (_, i) => {
    const found = rows[i * width + score]!
    return Number.isNaN(found) ? null : found
  })
}
