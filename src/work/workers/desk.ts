// What a job has of the server while it runs: questions that it may ask, and calls that say how far it is and what it takes.

import type { CompiledScripts } from '../../broker/compiled-scripts.ts'
import type { BarRange, Bars } from '../../market/bars.ts'
import type { Series } from '../../language/environment.ts'
import type { LastAnswer } from './answer.ts'
import type { KeptColumns } from './kept-columns.ts'

/** What a job may ask of the server while it runs. */
export interface Host extends ScriptHost, ImportHost, StoredHost {}

export interface ScriptHost {
  /** The source of a library that the user may import; null = there is none. */
  library(user: string, library: string, version: number): string | null | Promise<string | null>
  /** The bars that request.* asks for; null = there are none. */
  series(exchange: string, symbol: string, interval: string): Series | null | Promise<Series | null>
  /** The finest bars of the symbol, or of a portfolio's part, for the bar magnifier; null = there are none. */
  finer(part?: number): FinerBars | null | Promise<FinerBars | null>
}

interface ImportHost {
  /** The next piece of the input; null = the end. */
  piece(): Promise<Uint8Array | null>
  /** Adds bars to a draft of the store; the job numbers its drafts. */
  addBars(draft: number, bars: Bars): Promise<void>
  readBars(draft: number, range: BarRange): Bars | Promise<Bars>
  /** Asks for room for so many bytes that are kept until the import is over. Refused if there is none. */
  keep(bytes: number): void
}

export interface StoredHost {
  /** The next part of the JSON text of a stored report or of its tracks; null = the end. */
  part(what: StoredText): string | null | Promise<string | null>
}
export type StoredText = 'report' | 'tracks'

export interface FinerBars {
  readonly bars: Bars
  readonly interval: string
}

/** What a job can use of the server: questions to ask, and calls that report its progress and what it takes. */
export interface Desk {
  /** The host's functions; each call goes to the server and back. */
  readonly host: {
    readonly [N in keyof Host]: (...args: Parameters<Host[N]>) => Promise<Awaited<ReturnType<Host[N]>>>
  }
  readonly progress: (bar: number) => void
  readonly used: (bytes: number) => void
  /** The scripts that this thread compiled last. */
  readonly scripts?: CompiledScripts
  /** The same of those that go on bar by bar. */
  readonly alertScripts?: CompiledScripts
  readonly last?: LastAnswer
  /** The columns that it keeps for the sweep that it works for. */
  readonly columns?: KeptColumns
}
