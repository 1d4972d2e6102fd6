// What a run receives, and what it returns.

import type { Bars } from '../market/bars.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import type { Broker } from './broker.ts'
import type { Budget } from './runtime/budget.ts'
import type { Drawings } from './runtime/drawings.ts'
import type { PlotSource } from './runtime/inputs.ts'
import type { PlotTrack } from './runtime/plots.ts'
import type { ColumnShare } from './runtime/executable.ts'
import type { Limits } from './runtime/limits.ts'

/** A named series that request.* may read. */
export interface Series {
  readonly bars: Bars
  readonly symbol: SymbolInfo
  readonly interval: string
}

/** Columns of runs of one script over the same bars, handed from one to the next. */
export interface SharedColumns {
  /** The columns of a share, if an earlier run has computed them for these values of its inputs. */
  find(share: ColumnShare, values: readonly unknown[]): readonly SharedColumn[] | null
  /** Memory for a column, whatever it contains. */
  room(column: number, kind: 'f64' | 'u8'): SharedColumn
  /** Takes columns that are computed up to the last bar. */
  keep(share: ColumnShare, values: readonly unknown[], columns: readonly SharedColumn[]): void
}

export type SharedColumn = Float64Array | Uint8Array

export interface RunEnvironment extends Series {
  /** Set if only figures are made of this run and others like it: nothing is plotted, and all bars are run in one go. */
  readonly shared?: SharedColumns
  /** The script's own symbol and interval, for runs that request.* opens on others; without it these are its own. */
  readonly main?: Pick<Series, 'symbol' | 'interval'>
  /** What the user chose, by the input's title or variable name. */
  readonly inputs: Readonly<Record<string, unknown>>
  /** The values, up to the bar `end` at least, of a plot that a source input reads; without it no input may name one. */
  readonly plotSource?: (of: PlotSource, end: number) => Float64Array
  readonly broker: Broker
  readonly limits: Limits
  /**
   * Bars for request.*: null = there are none (na or a run-time error), undefined = not loaded (throws SeriesNeeded). In the
   * place of an interval may stand one of `market/sided-bars.ts`.
   */
  readonly series: (exchange: string, symbol: string, interval: string) => Series | null | undefined
  /** Called now and then with the bar reached; throw from it to stop the run. */
  readonly progress?: (bar: number) => void
  /** Runs what a request evaluates only as far as it is needed, so that it can be kept with the run. */
  readonly stepwise?: boolean
  /** On the last bar a coarser interval is shown as it is forming, as a live chart does. */
  readonly developing?: boolean
  /**
   * The broker shows each bar as it is being made, and runs the script on each of its ticks. `finished`: the bars as they
   * were when they had closed, for what a request evaluates.
   */
  readonly ticks?: { readonly finished: Bars; readonly isDeveloping: boolean } | null
  /** Called by the run of a slice when it answers something that a bar to come may change. */
  readonly unsettle?: () => void
  /** Told now and then how many bytes the run counts as its own; never more than `limits.memoryBytes`. */
  readonly used?: (bytes: number) => void
  /** The budget of the run that opened this one for request.*, which both of them use up. */
  readonly budget?: Budget
  /**
   * Called every few hundred bars and every 1,024 rounds of a loop: throws when the run's time is over, else answers the ms
   * since the last call.
   */
  readonly watch?: () => number | void
  /** Called when a run has found that much of what it counted is garbage. */
  readonly collect?: () => void
}

export interface AlertEvent {
  readonly bar: number
  readonly time: number
  /** alertcondition's title; '' for alert(). */
  readonly title: string
  readonly message: string
}

export interface LogEntry {
  readonly bar: number
  readonly time: number
  readonly level: 'info' | 'warning' | 'error'
  readonly message: string
}

export interface ScriptRun {
  /**
   * Runs the bars up to `end` (exclusive). They may be passed one at a time: batch equals incremental. If it is certain that
   * the bars up to `ahead` come next, unchanged, then what does not hang on orders is computed for blocks of them.
   */
  advance(end: number, ahead?: number): void
  /** Number of bars done. */
  readonly position: number
  readonly plots: readonly PlotTrack[]
  /** The values of plot() by title; the first value belongs to bar `from`. */
  plotsFrom(from: number): readonly (readonly [title: string, values: Float64Array])[]
  readonly drawings: Drawings
  readonly alerts: readonly AlertEvent[]
  readonly logs: readonly LogEntry[]
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
  /** Resolved input values by title, as the report shows them. */
  readonly inputs: Readonly<Record<string, unknown>>
  /**
   * All of the script's state, and nothing of the broker's: restore() of it brings this run, or a fresh one of the same
   * script, inputs and earlier bars, to this bar.
   */
  snapshot(): Uint8Array
  restore(snapshot: Uint8Array): void
  /**
   * The same without what the script can no longer see, but for the plots, alerts and drawings of the last `bars`: how
   * large it is does not depend on how many bars the run has behind it. A report cannot be made of it.
   */
  essence(bars: number): Uint8Array
  /** The first bar from where on another bar to come may change what the script does; Infinity = none. */
  readonly unsettledFrom: number
  /**
   * It goes on no more: its memory serves the thread's next run, that of what is shown only with `shown`, when nobody reads plots any
   * more.
   */
  release(shown: boolean): void
}
