// A change to a run that might bring it closer to an export: settings of the declaration, facts of the symbol, or the
// number of bars.

import { selectBars, type Bars } from '../../market/bars.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import type { ExplanationCause } from '../../wire/explanation.ts'
import type { BacktestRequest } from '../backtest.ts'

export type SymbolChange = Partial<
  Pick<
    SymbolInfo,
    'mintick' | 'priceScale' | 'minMove' | 'minQuantity' | 'pointValue' | 'session' | 'timezone'
  >
>
export type CauseKind = ExplanationCause['kind']

export interface ExplainedChange {
  readonly kind: CauseKind
  /** Describes the change in the words of TradingView's dialog. */
  readonly message: string
  readonly overrides?: Readonly<Record<string, number | string | boolean>>
  readonly symbol?: SymbolChange
  /** Values of inputs, by their labels. */
  readonly inputs?: Readonly<Record<string, number | string | boolean>>
  /** Reads the script as one of this version of Pine. */
  readonly pine?: number
  /** Runs only on this many of the newest bars. */
  readonly bars?: number
  /** Runs as TradingView was on this day. */
  readonly asOf?: string
}

/** What can be changed about a run besides its settings. */
export interface Room {
  /** All bars up to the run's last one; null = the run had them all. */
  readonly earlier: Bars | null
  /** Finer bars, in case the magnifier was on. */
  readonly finer: NonNullable<BacktestRequest['finer']> | null
}

/** Identifies a run: two sets of changes with the same effect have the same name. */
export function nameOf(changes: readonly ExplainedChange[]): string {
  const merged = mergedOf(changes)
  return JSON.stringify([
    ...[merged.overrides, merged.symbol, merged.inputs].map(sorted),
    merged.bars,
    merged.asOf,
    changes.find(({ pine }) => pine)?.pine ?? null,
  ])
}

function sorted(values: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.keys(values)
    .toSorted()
    .map((name) => [name, values[name]])
}

export function mergedOf(changes: readonly ExplainedChange[]) {
  const overrides: Record<string, number | string | boolean> = {}
  const symbol: Record<string, number | string> = {}
  const inputs: Record<string, number | string | boolean> = {}
  let bars: number | null = null
  let asOf: string | null = null
  for (const change of changes) {
    Object.assign(overrides, change.overrides)
    Object.assign(symbol, change.symbol)
    Object.assign(inputs, change.inputs)
    bars = change.bars ?? bars
    asOf = change.asOf ?? asOf
  }
  return { overrides, symbol, inputs, bars, asOf }
}

const VERSION = /^\s*\/\/\s*@version\s*=\s*\d+/m

export function changed(
  request: BacktestRequest,
  { earlier, finer }: Room,
  changes: readonly ExplainedChange[],
): BacktestRequest {
  const { overrides, symbol, inputs, bars, asOf } = mergedOf(changes)
  const pine = changes.find((one) => one.pine)?.pine
  const all = earlier ?? request.bars
  return {
    ...request,
    overrides: { ...request.overrides, ...overrides },
    inputs: { ...request.inputs, ...inputs },
    ...(asOf !== null && { asOf }),
    ...(pine !== undefined && { source: request.source.replace(VERSION, `//@version=${pine}`) }),
    symbol: { ...request.symbol, ...(symbol as SymbolChange) },
    bars: bars === null ? request.bars : selectBars(all, { last: bars }),
    finer: request.finer ?? (overrides['use_bar_magnifier'] === true ? finer : null),
  }
}

export function asCause(change: ExplainedChange): ExplanationCause {
  return { kind: change.kind, message: change.message, ...mergedOf([change]) }
}
