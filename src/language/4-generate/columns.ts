// Columns in generated code: their entries read and written, and those of the bars themselves.

import { assert } from '../../lib/assert.ts'
import type { Type } from '../2-check/types.ts'
import type { PlannedColumn } from '../3-plan/plan.ts'
import { decodeBool, encodeBool } from '../runtime/operators.ts'
import { ColumnValue, indexOf, js, simple, type Back, type Code, type CodePart } from './code.ts'
import type { Module } from './module.ts'

/** An entry of a column of the plan's, on the bar being executed or before it. */
export function entry(module: Module, column: PlannedColumn, back: Back = 0): ColumnValue {
  if (back !== 0) module.readPast(column, back === 'o' ? Infinity : back)
  return new ColumnValue(`c${column.index}`, column.kind, back, column.index, module)
}

/** An entry of a column as a value. */
export function decode(module: Module, of: ColumnValue, type: Type): Code {
  if (of.kind === 'u8') return module.threeState ? js`${module.constant(decodeBool)}(${of})` : js`(${of}===1)`
  if (of.kind === 'any') return type.kind === 'bool' ? of : js`(${of}??null)`
  return of
}

/** Enters a value in a column on the bar being executed. */
export function assignment(module: Module, column: PlannedColumn, value: CodePart): Code {
  return js`${entry(module, column)}=${encode(module, column, value)}`
}

function encode(module: Module, column: PlannedColumn, value: CodePart): CodePart {
  if (column.kind !== 'u8') return value
  return module.threeState ? js`${module.constant(encodeBool)}(${value})` : js`(${value}?1:0)`
}

/** A bar column's entry at an index known to be in range. */
export function barColumn(module: Module, name: string, back: Back = 0): Code {
  const bar = (field: string) => new ColumnValue(module.bar(field), 'f64', back)
  if (BAR_COLUMNS.has(name)) return bar(name)
  if (name === 'time_close') return bar('timeClose')
  if (name === 'bar_index' || name === 'n') return simple(indexOf(back))
  const derived = DERIVED[name]
  assert(derived, `bar column ${name} is known`)
  return derived(bar)
}

const DERIVED: Readonly<Record<string, (bar: (name: string) => ColumnValue) => Code>> = {
  hl2: (bar) => js`((${bar('high')}+${bar('low')})/2)`,
  hlc3: (bar) => js`((${bar('high')}+${bar('low')}+${bar('close')})/3)`,
  ohlc4: (bar) => js`((${bar('open')}+${bar('high')}+${bar('low')}+${bar('close')})/4)`,
  hlcc4: (bar) => js`((${bar('high')}+${bar('low')}+2*${bar('close')})/4)`,
}

const BAR_COLUMNS: ReadonlySet<string> = new Set(['open', 'high', 'low', 'close', 'volume', 'time'])
