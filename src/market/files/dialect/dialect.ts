// What a dialect of CSV is: which program writes it, which column has what, how times and numbers are written.

import type { Zone } from '../../zone.ts'
import type { SideWords } from '../sides.ts'
import type { DateOrder, TimeUnit } from '../time-format.ts'
import { words } from '../../../lib/words.ts'

/**
 * What a column holds. Trades have a price, a quantity and perhaps a side, quotes a bid and an ask instead of open to close; of
 * bars some tell what of the volume was bought, and some have the volume in two columns.
 */
export const ROLES = words(
  'time clock open high low close volume price quantity bid ask ticker side bought down',
)

export type Role = (typeof ROLES)[number]

export const ROW_KINDS = ['bars', 'trades', 'quotes'] as const

export type RowKind = (typeof ROW_KINDS)[number]

export const DECIMALS = ['.', ','] as const

export type DecimalSign = (typeof DECIMALS)[number]

/** What a user says of a file where its lines do not, or not rightly. */
export interface Hints {
  readonly delimiter?: string | undefined
  readonly decimal?: string | undefined
  readonly unit?: string | undefined
  readonly dates?: string | undefined
  /** The zone of times that do not state an offset. */
  readonly timesIn?: string | undefined
  /** Which column has which value, where names do not tell: `time=Index,open=First` by names or by numbers from 1. */
  readonly columns?: string | undefined
  /** The rows to take of a file of several symbols. */
  readonly ticker?: string | undefined
  /** `start` or `end`: what the time of a bar is; if it is missing, the file tells. */
  readonly dated?: string | undefined
}

export interface Dialect {
  /** The program that writes files like this; null if many do. */
  readonly origin: string | null
  readonly kind: RowKind
  readonly delimiter: string
  readonly decimal: DecimalSign
  /** The line with the names of the columns, from 1; 0 if there is none. */
  readonly header: number
  readonly names: readonly string[]
  readonly columns: Readonly<Partial<Record<Role, number>>>
  /** How the column of sides tells; null if there is none. */
  readonly sides: SideWords | null
  /** `epoch` counts from 1970; the others are written out. */
  readonly times: (typeof TIME_KINDS)[number]
  /** What the numbers count where times are an `epoch`; null where they are not. */
  readonly unit: TimeUnit | null
  /** The user said the unit, so no number's size overrules it. */
  readonly isUnitGiven: boolean
  readonly order: DateOrder
  readonly zone: Zone
  /** Why that zone: it does not matter, it stands in the file, the program is known for it, the user said so, or nobody did. */
  readonly zoneBy: (typeof ZONE_REASONS)[number]
  /** The text of the first time, whose shape the others have. */
  readonly sample: string
  /** Makes what a row means of the numbers that stand there; null where they mean what they say. */
  readonly adjust: Adjust | null
  /** The program dates a bar by its end, so that rows are moved by so many minutes, 0 if that is not certain; null of others. */
  readonly byEnd: number | null
}

/** Changes the numbers of a row, which stand in the order of `slotsOf`. */
export type Adjust = (values: Float64Array) => void

export const TIME_KINDS = ['epoch', 'date', 'date and time'] as const

export const ZONE_REASONS = ['offsets', 'file', 'format', 'user', 'assumed'] as const

export type Shape = Pick<Dialect, 'origin' | 'kind' | 'header' | 'names' | 'columns' | 'adjust'> & {
  /** The zone that the program is known for. */
  readonly zone: string | null
  readonly order: DateOrder | null
}

/** A dialect as it is told to people and programs. */
export interface DialectTold extends Pick<
  Dialect,
  'origin' | 'delimiter' | 'decimal' | 'header' | 'times' | 'unit' | 'order' | 'zoneBy'
> {
  /** The name of the column that has each value, or its number if columns have no names. */
  readonly columns: Readonly<Partial<Record<Role, string>>>
  /** The names of the others, the first hundred. */
  readonly unused: readonly string[]
  readonly timezone: string
}

export function toldOf(dialect: Dialect): DialectTold {
  const { origin, delimiter, decimal, header, times, unit, order, zoneBy, names, columns, zone } = dialect
  const told = Object.entries(columns).map(([role, index]) => [role, names[index] || String(index + 1)])
  return {
    origin,
    delimiter,
    decimal,
    header,
    times,
    unit,
    order,
    zoneBy,
    columns: Object.fromEntries(told) as DialectTold['columns'],
    unused: unusedAmong(names, Object.values(columns)),
    timezone: zone.name,
  }
}

/** As much of them as people read. */
const UNUSED_MAX = 100

export function unusedAmong(names: readonly string[], used: readonly number[]): string[] {
  const unused = names.filter((name, index) => name !== '' && !used.includes(index))
  return unused.slice(0, UNUSED_MAX).map((name) => name.slice(0, UNUSED_MAX))
}

/** Whether rows may tell what was bought. */
export function hasSides({ columns, adjust }: Pick<Dialect, 'columns' | 'adjust'>): boolean {
  return (columns.side ?? columns.bought) !== undefined || adjust === sideOfSign
}

export function sideOfSign(values: Float64Array): void {
  values[3] = Math.sign(values[2]!)
  values[2] = Math.abs(values[2]!)
}
