// The columns that the trials of a sweep share.
//
// A grid of 20 fast and 10 slow averages has 200 trials but only 30 averages. The script tells which inputs a column
// depends on (`language/3-plan/shared.ts`). Columns are kept here by the values of those inputs, as many as there is room for;
// the one unused for longest goes first, and one that a thousand trials did not use goes at once. A column that depends
// on everything that the sweep varies is useless to other trials, so the next one reuses its memory.

import { Spares } from '../lib/spares.ts'
import type { SharedColumn, SharedColumns } from '../language/environment.ts'
import type { ColumnShare } from '../language/runtime/executable.ts'
import type { TrialInputs } from './measured.ts'

/** The limit for one worker: 160 columns of 50,000 bars. */
const KEPT_BYTES_MAX = 64 * 2 ** 20

/** In a grid the averages of the outer input are never needed again, and would only fill the memory up to its limit. */
const UNUSED_TRIALS_MAX = 1000

/**
 * What is handed to the next sweep of the thread: to have the system find and clear the memory of forty averages took up to a
 * sixth of 400 trials.
 */
const LEFT_BYTES_MAX = 24 * 2 ** 20
const spares = new Spares<{ readonly bars: number; readonly columns: readonly Float64Array[] }>(1)

interface Kept {
  readonly columns: readonly SharedColumn[]
  /** The number of the trial that used them last. */
  readonly usedBy: number
}

/** What differs among the trials. */
export interface VariedAmongTrials {
  /** Titles or names of inputs. */
  readonly inputs: readonly string[]
  /** Whether arguments of the declaration do. */
  readonly settings: boolean
}

export class TrialColumns implements SharedColumns {
  readonly #bars: number
  readonly #most: number
  readonly #varied: VariedAmongTrials
  /** A script that was compiled again has shares of its own, whatever their order in it. */
  readonly #numbers = new WeakMap<ColumnShare, number>()
  #numbered = 0
  /** The one unused for longest comes first. */
  readonly #kept = new Map<string, Kept>()
  #trial = 0
  #bytes = 0
  readonly #spare = { f64: [] as Float64Array[], u8: [] as Uint8Array[] }
  /** The columns given to the present trial. */
  #given = new Set<SharedColumn>()

  constructor(bars: number, varied: VariedAmongTrials, most = KEPT_BYTES_MAX) {
    this.#bars = bars
    this.#most = most
    this.#varied = varied
    const left = spares.take()
    if (left?.bars === bars) this.#spare.f64.push(...left.columns)
  }

  find(share: ColumnShare, values: readonly unknown[]): readonly SharedColumn[] | null {
    const key = this.#keyOf(share, values)
    const found = this.#kept.get(key)
    if (!found) return null
    this.#kept.delete(key)
    this.#kept.set(key, { ...found, usedBy: this.#trial })
    return found.columns
  }

  room(_: number, kind: 'f64' | 'u8'): SharedColumn {
    const room =
      this.#spare[kind].pop() ?? (kind === 'u8' ? new Uint8Array(this.#bars) : new Float64Array(this.#bars))
    this.#given.add(room)
    return room
  }

  keep(share: ColumnShare, values: readonly unknown[], columns: readonly SharedColumn[]): void {
    if (!this.#isOfUse(share)) return
    for (const column of columns) {
      this.#given.delete(column)
      this.#bytes += column.byteLength
    }
    this.#kept.set(this.#keyOf(share, values), { columns, usedBy: this.#trial })
    for (const [oldest, dropped] of this.#kept) {
      if (this.#bytes <= this.#most && this.#trial - dropped.usedBy <= UNUSED_TRIALS_MAX) break
      this.#kept.delete(oldest)
      for (const column of dropped.columns) {
        this.#bytes -= column.byteLength
        this.#given.add(column)
      }
    }
  }

  /** Call it when a trial is over and its figures are made. */
  next(): void {
    this.#trial++
    for (const room of this.#given) {
      if (room instanceof Float64Array) this.#spare.f64.push(room)
      else this.#spare.u8.push(room)
    }
    this.#given.clear()
  }

  /** The sweep is over: nobody reads a column of it any more. */
  leave(): void {
    const columns = [...this.#kept.values()].flatMap((kept) => kept.columns)
    const own = [...this.#spare.f64, ...columns.filter((column) => column instanceof Float64Array)]
    spares.take()
    spares.leave({ bars: this.#bars, columns: own.slice(0, Math.floor(LEFT_BYTES_MAX / 8 / this.#bars)) })
    this.#kept.clear()
    this.#spare.f64.length = 0
    this.#bytes = 0
  }

  #isOfUse({ inputs }: ColumnShare): boolean {
    const { inputs: varied, settings } = this.#varied
    if (settings || varied.length === 0) return true
    return !varied.every((name) => inputs.some((input) => input.label === name || input.name === name))
  }

  #keyOf(share: ColumnShare, values: readonly unknown[]): string {
    let number = this.#numbers.get(share)
    if (number === undefined) this.#numbers.set(share, (number = this.#numbered++))
    return `${number} ${JSON.stringify(share.inputs.map(({ index }) => values[index]))}`
  }
}

/** What differs among trials that are there already. */
export function variedAmong(points: readonly TrialInputs[]): VariedAmongTrials {
  return {
    inputs: differingNames(points.map(({ inputs }) => inputs)),
    settings: differingNames(points.map(({ overrides }) => overrides)).length > 0,
  }
}

function differingNames(choices: readonly Readonly<Record<string, unknown>>[]): string[] {
  const names = new Set(choices.flatMap((choice) => Object.keys(choice)))
  return [...names].filter((name) => new Set(choices.map((choice) => JSON.stringify(choice[name]))).size > 1)
}
