// Which dialect of CSV a file is written in: found in its first lines, and said before anything is stored.
//
// Every program that exports bars has its own delimiter, decimal sign, order of columns and idea of time. Some name their
// columns, others leave that to a manual: those are known by the shape of a row. What the lines do not tell, such as the
// zone of a clock, is what the program is documented to mean, and the user can say otherwise. What stays ambiguous (is
// 03/04 a day in April?) is asked for rather than guessed.

import { parseTimeText } from '../time-format.ts'
import { sidesIn } from './columns.ts'
import { decimalOf } from './decimals.ts'
import type { Adjust, Dialect, Hints } from './dialect.ts'
import { headless, leanOfDay } from './headless.ts'
import {
  delimiterIn,
  delimiterNamed,
  isData,
  type Line,
  linesOf,
  withoutCaption,
  withoutTickers,
} from './lines.ts'
import { named } from './named.ts'
import { notRead } from './refusals.ts'
import { timeText, withTimes } from './times.ts'

/**
 * The dialect of a file that begins with `text`, which ends at the end of a line. Throws Problem 422 if nobody could know
 * it; `fileName` tells where two programs write alike.
 */
export function dialectOf(text: string, hints: Hints, fileName = ''): Dialect {
  const delimiter = hints.delimiter === undefined ? delimiterIn(text) : delimiterNamed(hints.delimiter)
  const lines = withoutTickers(withoutCaption(linesOf(text, delimiter)))
  const [first] = lines
  if (!first) throw notRead(1, 'there are no rows, the file is empty')
  if (first.cells.length === 1)
    throw notRead(
      first.row,
      'expected several columns, found one; say what is between them, such as delimiter=semicolon (--delimiter)',
    )
  if (!isData(first.cells) && hints.columns === undefined) requireNames(first, lines.slice(1))
  const ofDay = leanOfDay(lines, fileName, hints)
  const shape =
    ofDay ??
    (isData(first.cells)
      ? headless(lines, delimiter, fileName, hints)
      : named(first, lines.slice(1), hints.columns))
  const rows = shape.header > 0 ? lines.slice(1) : lines
  const times = rows.map(({ cells }) => timeText(cells, shape.columns, delimiter)).filter((one) => one !== '')
  const decimal = decimalOf(hints.decimal, rows, shape, delimiter)
  const dialect = {
    delimiter,
    decimal,
    sides: sidesIn(shape),
    ...withTimes(shape, times, ofDay ? { ...hints, unit: 'ms' } : hints),
    ...ofDay?.clock,
  }
  const byEnd = hints.dated === undefined ? minutesByEnd(dialect, times, shape.zone !== null) : null
  const { adjust } = dialect
  if (!byEnd) return { ...dialect, byEnd }
  const fromEnd: Adjust = (values) => {
    adjust?.(values)
    values[0]! -= byEnd * 60_000
  }
  return { ...dialect, byEnd, adjust: fromEnd }
}

/** Throws Problem 422 if all rows have more cells than there are names, so that nobody knows which is whose. */
function requireNames({ row, cells: { length } }: Line, rows: readonly Line[]): void {
  const isWider = ({ cells }: Line) =>
    cells.length > length && cells.slice(length).some((cell) => cell.trim() !== '')
  if (rows.length === 0 || !rows.every(isWider)) return
  const found = `line ${row} names ${length} columns, but the rows have ${rows[0]!.cells.length}`
  throw notRead(
    row,
    `${found}: say which has what, such as columns=time=1,open=2,high=3,low=4,close=5 (--columns)`,
  )
}

/**
 * NinjaTrader exports minutes, where its name is what it is known by. TradeStation's bars are as long as most of them are
 * apart; longer ones may be cut short by the end of a session, so that nobody knows where each begins.
 */
function minutesByEnd(
  { origin: by, kind, times: written, order, zone }: Omit<Dialect, 'byEnd'>,
  times: readonly string[],
  isNamed: boolean,
): number | null {
  if (kind !== 'bars' || written !== 'date and time') return null
  if (by === 'NinjaTrader' && isNamed) return 1
  if (by !== 'TradeStation') return null
  const at = times.map((text) => parseTimeText(text, { unit: null, order, zone, calendar: null }) / 60_000)
  const counts = new Map<number, number>()
  for (let i = 1; i < at.length; i++) {
    const minutes = Math.abs(at[i]! - at[i - 1]!)
    counts.set(minutes, (counts.get(minutes) ?? 0) + 1)
  }
  const [most = 0] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? []
  if (most >= 1440) return null
  return most <= 30 && 60 % most === 0 ? most : 0
}
