// Rows of bars or trades from columns, as Parquet and Arrow have them: their names are those that CSV has, their times
// have types.

import { turn } from '../../lib/turn.ts'
import { calendarOf } from '../calendar.ts'
import type { SymbolInfo } from '../symbol.ts'
import { zoneOf } from '../zone.ts'
import type { RowSink } from './csv.ts'
import { sidesIn } from './dialect/columns.ts'
import {
  type DialectTold,
  hasSides,
  type Hints,
  type Role,
  type RowKind,
  unusedAmong,
} from './dialect/dialect.ts'
import { shapeOfNames } from './dialect/named.ts'
import { notRead, otherTicker } from './dialect/refusals.ts'
import { rowValues, slotsOf } from './plain-rows.ts'
import { sideOfText } from './sides.ts'
import { epochIn, parseTimeText, TIME_UNITS, type TimeMeaning, type TimeUnit, unitOf } from './time-format.ts'

/** How a column's values are to be read as times: an instant or a wall clock in ms, days since 1970, an epoch, a text. */
export type TimeType = 'instant' | 'clock' | 'day' | 'number' | 'text'

export interface TableColumn {
  readonly name: string
  readonly time: TimeType
}

/** Some rows; the columns are those that were asked for, in that order. */
export interface ColumnBatch {
  readonly length: number
  readonly columns: readonly ArrayLike<unknown>[]
}

export interface Table {
  readonly columns: readonly TableColumn[]
  /** Reads the columns of these numbers. */
  readonly batches: (columns: readonly number[]) => AsyncIterable<ColumnBatch>
}

export interface TableOptions {
  readonly symbol: SymbolInfo
  readonly hints: Hints
  /** `hasSides`: the rows may tell what was bought. */
  readonly begin: (kind: RowKind, hasSides: boolean) => RowSink
  readonly between: () => Promise<void>
}

/** What a row may lack. */
const EXTRAS: ReadonlySet<Role> = new Set(['side', 'bought', 'down', 'ticker'])
const nothing = rowValues()

/** How many rows are read before others get their turn. */
const STEP_ROWS = 16_384

/** Reads all rows, and answers how. Row 1 is the first. */
export async function readTable(
  { columns, batches }: Table,
  { symbol, hints, begin, between }: TableOptions,
): Promise<DialectTold> {
  const names = columns.map(({ name }) => name)
  const shape = shapeOfNames(names, hints.columns)
  const { kind } = shape
  const slotted: readonly Role[] = slotsOf(kind)
  const roles = [...slotted, 'ticker' as const].filter((role) => shape.columns[role] !== undefined)
  const places = roles.map((role) => shape.columns[role] ?? 0)
  const time = columns[shape.columns.time ?? 0]
  if (!time) throw notRead(1, 'there is no column time')
  const { meaning, told } = timesOf(time, symbol, hints)
  const sink = begin(kind, hasSides(shape))
  const values = rowValues()
  const sides = sidesIn(shape)
  const needed = roles.filter((role) => role !== 'volume' && !EXTRAS.has(role)).length - 1
  const slots = roles.map((role) => slotted.indexOf(role))
  const isWanted = tickerFilter(roles.indexOf('ticker'), hints, sink)
  let row = 0
  let sample: number | null = null
  // A column may have several roles, and is read once.
  const once = [...new Set(places)]
  for await (const { length, columns: found } of batches(once)) {
    const read = places.map((place) => found[once.indexOf(place)] ?? [])
    const times = read[0]
    sample ??= typeof times?.[0] === 'bigint' || typeof times?.[0] === 'number' ? Number(times[0]) : null
    for (let i = 0; i < length; i++) {
      row++
      if (!isWanted(row, read, i)) continue
      values.set(nothing)
      values[0] = instantOf(times?.[i], time.time, meaning)
      let missing = 0
      for (let column = 1; column < read.length; column++) {
        const value = read[column]?.[i]
        const slot = slots[column] ?? 0
        const role = roles[column] ?? 'time'
        if (role === 'ticker') continue
        if (role === 'side') {
          values[slot] = sides === null ? 0 : sideOfText(value, sides)
          continue
        }
        const isVolume = role === 'volume' || role === 'quantity'
        if ((value === null || value === undefined) && !isVolume && !EXTRAS.has(role)) missing++
        values[slot] = numberOf(value, isVolume)
        // Fixed-point prices are the only ones of whole numbers.
        if (typeof value === 'bigint' && shape.origin === 'Databento' && !isVolume)
          values[slot] = Number(value) / 1e9
      }
      shape.adjust?.(values)
      if (missing >= needed) sink.skip(row)
      else sink.add(row, values)
      if (sink.full) return said()
      if (i % STEP_ROWS === STEP_ROWS - 1) {
        await between()
        await turn()
      }
    }
    await between()
    await turn()
  }
  return said()

  function said(): DialectTold {
    const unit = time?.time === 'number' && sample !== null ? (meaning.unit ?? unitOf(sample)) : null
    const found = roles.map((role, i): [Role, string] => [role, names[places[i] ?? 0] ?? ''])
    return {
      ...told,
      unit,
      columns: Object.fromEntries(found) as DialectTold['columns'],
      unused: unusedAmong(names, places),
    }
  }
}

/** Whether a row is of the ticker that the user named, or of that of the first row; a row of another one is a mistake then. */
function tickerFilter(column: number, { ticker: wanted }: Hints, sink: RowSink) {
  let ticker: unknown = wanted
  return (row: number, columns: readonly ArrayLike<unknown>[], at: number): boolean => {
    if (column < 0) return true
    const found = columns[column]?.[at]
    ticker ??= found
    if (found === ticker) return true
    if (wanted === undefined) sink.fail(row, otherTicker(String(found)))
    return false
  }
}

/** What times of a type mean, and what is told of them. */
export function timesOf(
  { time }: TableColumn,
  symbol: SymbolInfo,
  { timesIn, unit }: Hints,
): { readonly meaning: TimeMeaning; readonly told: Omit<DialectTold, 'columns' | 'unused'> } {
  const given = timesIn === undefined ? null : zoneOf(timesIn)
  if (timesIn !== undefined && !given) throw notRead(1, 'timesIn is no time zone')
  const zone = given ?? zoneOf('UTC')
  if (!zone) throw new Error('assertion failed: UTC is always known')
  const isStated = time === 'instant' || time === 'number'
  return {
    meaning: {
      unit: TIME_UNITS.find((one): one is TimeUnit => one === unit) ?? null,
      order: 'ymd',
      zone,
      calendar: calendarOf(symbol),
    },
    told: {
      origin: null,
      delimiter: '',
      decimal: '.',
      header: 0,
      times: time === 'number' ? 'epoch' : time === 'day' ? 'date' : 'date and time',
      unit: null,
      order: 'ymd',
      timezone: isStated ? 'UTC' : zone.name,
      zoneBy: isStated ? 'offsets' : given ? 'user' : 'assumed',
    },
  }
}

function instantOf(value: unknown, type: TimeType, meaning: TimeMeaning): number {
  if (value === null || value === undefined) return Number.NaN
  if (typeof value === 'string') return parseTimeText(value, meaning)
  const number = Number(value)
  if (type === 'number') return epochIn(number, meaning.unit)
  if (type === 'day') return meaning.calendar?.open(number) ?? Number.NaN
  return type === 'clock' ? meaning.zone.toUtc(number) : number
}

function numberOf(value: unknown, isVolume: boolean): number {
  if (value === null || value === undefined) return isVolume ? 0 : Number.NaN
  const number = Number(value)
  return isVolume && Number.isNaN(number) ? 0 : number
}
