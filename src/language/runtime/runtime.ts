// What a built-in may ask of the run it is executed in.
//
// The script has one Runtime, and so has each symbol and interval on which request.* evaluates an expression, with bars,
// symbol and interval of its own. `run-context.ts` implements it.

import type { Bars } from '../../market/bars.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import type { Broker } from '../broker.ts'
import type { RunWarning } from '../messages/message.ts'
import type { Series } from '../environment.ts'
import type { Drawings } from './drawings.ts'
import type { Footprints } from './footprint.ts'
import type { Budget } from './budget.ts'
import type { PineVersion } from './executable.ts'
import type { Limits } from './limits.ts'
import type { Grids } from './grids.ts'

export interface Runtime {
  readonly version: PineVersion
  readonly bars: Bars
  /** Index of the bar being executed. */
  bar: number
  /** Index of the last bar known. What a script makes of it changes when the next bar comes (see `unsettle`). */
  readonly lastBar: number
  /** Whether the bar being executed is the last one known. */
  readonly isLast: boolean
  /** UTC ms a bar closes at: the next bar's boundary by interval and session. One entry a bar. */
  readonly timeClose: Float64Array
  readonly symbol: SymbolInfo
  /** Our spelling: `15m`, `1d`; `market/interval.ts` converts to TradingView's. */
  readonly interval: string
  /** The script's own, also where request.* evaluates on others. */
  readonly main: { readonly symbol: SymbolInfo; readonly interval: string }
  /** The periods of time that bars belong to. */
  readonly grids: Grids
  /** IANA zone of the exchange. */
  readonly timezone: string
  /** What `timenow` answers: the close of the last bar, since a run never reads the clock. */
  readonly now: number
  readonly broker: Broker
  readonly drawings: Drawings
  /** What the script's variables hold at this moment. */
  readonly held: () => ReadonlySet<unknown>
  readonly footprints: Footprints
  readonly limits: Limits
  /** What the run has taken so far, and its limits. */
  readonly budget: Budget
  /** The declaration's arguments (`strategy(…)`), v6 names. */
  readonly declaration: Readonly<Record<string, number | string | boolean | null>>
  /** Bars that were not handed in with the run's own; null = there are none. Throws SeriesNeeded if they have to be loaded. */
  series(exchange: string, symbol: string, interval: string): Series | null
  /** What the script makes of the bar being executed may change when more bars come. */
  unsettle(): void
  /** Shown once in the report, however many times it is called. */
  warn(warning: RunWarning): void
  log(level: 'info' | 'warning' | 'error', message: string): void
  /** `freq`: `all`, `once_per_bar`, `once_per_bar_close`. */
  alert(message: string, freq: string): void
}

/** request.* needs bars that were not handed in. The host loads them and starts the run again. */
export class SeriesNeeded extends Error {
  readonly exchange: string
  readonly symbol: string
  readonly interval: string
  constructor(exchange: string, symbol: string, interval: string) {
    super(`bars of ${exchange}:${symbol} ${interval} are needed`)
    this.name = 'SeriesNeeded'
    this.exchange = exchange
    this.symbol = symbol
    this.interval = interval
  }
}
