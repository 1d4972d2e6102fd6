// What a backtest is asked for, what it answers, and how one is held while it is under way.

import type { AsOf } from '../language/behaviour.ts'
import type { ScriptRun, Series, SharedColumns } from '../language/environment.ts'
import type { Program } from '../language/2-check/program.ts'
import type { Limits } from '../language/runtime/limits.ts'
import type { Bars } from '../market/bars.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import type { Report } from '../wire/report.ts'
import type { Track } from '../wire/track.ts'
import type { CompiledScripts } from './compiled-scripts.ts'
import type { BrokerEmulator } from './emulator/broker.ts'
import type { Pot } from './emulator/pot.ts'
import type { DeclarationArgs } from './emulator/settings.ts'
import type { Results } from './report/build.ts'
import type { Moments } from './statistics/moments.ts'
import type { TrackKinds } from './tracks.ts'

export interface BacktestRequest {
  readonly source: string
  readonly inputs: Readonly<Record<string, unknown>>
  /** How many scripts stand between this one and the one that was asked for, each reading a plot of the next. */
  readonly plottedFor?: number
  readonly bars: Bars
  /** The hash of all these bars if it is known: hashing a million takes 30 ms. */
  readonly barsHash?: string | null
  readonly symbol: SymbolInfo
  readonly interval: string
  /** Finer bars for the bar magnifier and security_lower_tf; null = none are cached. */
  readonly finer?: { readonly bars: Bars; readonly interval: string } | null
  readonly limits: Limits
  readonly series: (exchange: string, symbol: string, interval: string) => Series | null | undefined
  readonly library?: (user: string, library: string, version: number) => string | null
  /** Scripts that may be compiled already, for callers that run a script more than once. */
  readonly scripts?: CompiledScripts
  readonly progress?: (bar: number) => void
  /** The run advances bar by bar with kept state (see `advance.ts`), and needs no report or tracks. */
  readonly stepwise?: boolean
  /** Records nothing that only charts show, for callers that read only `results`. */
  readonly figuresOnly?: boolean
  /** The columns that trials share because their inputs leave them equal. */
  readonly shared?: SharedColumns
  /** The last bar of coarser intervals counts as still forming, as on a live chart. */
  readonly developing?: boolean
  /** Called now and then with the number of bytes that the run holds, by its own count. */
  readonly used?: (bytes: number) => void
  /** Called when the run has found much garbage. */
  readonly collect?: () => void
  /** Arguments that replace those of the script's declaration (initial_capital, commission_value, …). */
  readonly overrides?: Readonly<Record<string, number | string | boolean>>
  /** The day of whose TradingView it is; without one, as runs were before they had a day (`language/behaviour.ts`). */
  readonly asOf?: AsOf
  /** Nobody has run this yet: overrides that older runs have, and that are no longer taken, are refused. */
  readonly isNew?: boolean
  /** The money that the parts of a portfolio trade with. */
  readonly pot?: Pot
  /** A clock in milliseconds, for `timings` and `limits.timeMs`; without it, there are no timings and no limit. */
  readonly now?: () => number
  /** Processor time of this thread in milliseconds, which `limits.timeMs` counts if it is given. */
  readonly spent?: () => number
}

export interface BacktestResult {
  /**
   * Its `trades` and `orders` become objects when first read. Spread it before you make JSON of it, since getters are slow
   * there.
   */
  readonly report: Report
  /** Hash of the request's bars; null if the run used a part of them. */
  readonly barsHash: string | null
  /** Of its returns a bar; null if nothing was traded. Ask for it before `columns`, which gives the equity away. */
  moments(): Moments | null
  /**
   * The equity in multiples of the initial capital, to 4 digits behind the point, at the closes of up to 24 bars evenly apart,
   * the last of which is the run's last; null if nothing was traded, or it began with nothing. It needs `columns` as `moments`
   * does.
   */
  curve(): number[] | null
  /** Made when first read: for a million bars, that takes longer than the run. */
  readonly tracks: readonly Track[]
  /** The JSON texts of both, made piece by piece, with at most a few dozen items of a list in memory. */
  reportTexts(): Iterable<string>
  /** A piece of bytes is to be used before the next one is asked for. */
  trackTexts(kinds?: TrackKinds): Iterable<string | Uint8Array>
  /** Report and tracks with their columns as the run left them, for `packGiven`. */
  columns(kinds?: TrackKinds): { readonly report: object; readonly tracks: readonly object[] }
  /**
   * Nothing is read any more but what has been answered: the memory of lists and tracks serves the next run of the thread. Of 53,929
   * bars with 34,000 fills, asking for it anew was a quarter of the time. Who does not call it leaves it to the collector.
   */
  release(): void
}

export interface Snapshot {
  readonly run: Uint8Array
  readonly broker: Uint8Array
  /** The series read so far, in this order: a fresh run that goes on may ask for none of them again, and its hash tells of all. */
  readonly read: readonly SeriesName[]
}

/** The names by which a script asks for it. */
export type SeriesName = readonly [exchange: string, symbol: string, interval: string]

/** A backtest in progress: advance it in one go or bar by bar, with snapshots in between, for the same result. */
export interface Backtest {
  /** The bars it runs over: the request's, or the last calc_bars_count of them. */
  readonly bars: Bars
  readonly run: ScriptRun
  readonly broker: BrokerEmulator
  /** `ahead` as in `ScriptRun`. */
  advance(end: number, ahead?: number): void
  /** The whole state of the run: `restore` puts this run, or a fresh one of the same request, back into it. */
  snapshot(): Snapshot
  restore(snapshot: Snapshot): void
  /** A snapshot without what a report needs: see `ScriptRun.essence`. */
  essence(bars: number): Snapshot
  /** The first bar whose results may change when another bar arrives; Infinity = none. */
  readonly unsettledFrom: number
  /** The result for the bars done so far. */
  result(): BacktestResult
  /** The numbers of the report without the report itself. */
  results(): Results
  /** It is over: nothing but a `result()` is read any more, and its memory serves the thread's next run. */
  release(): void
  /** The arguments of the declaration, after replacements. */
  readonly settings: DeclarationArgs
  readonly program: Program
}
