// The shape of a file whose columns have names.

import { columnsOf, NAMES, plainName, present, PRICES } from './columns.ts'
import type { Adjust, Dialect, Role, RowKind, Shape } from './dialect.ts'
import type { Line } from './lines.ts'
import { originOf } from './origins.ts'
import { notRead } from './refusals.ts'
import { isTimeText, timeText, zoneInName } from './times.ts'

/** The columns of a table whose columns have names and no lines to look at. */
export function shapeOfNames(
  names: readonly string[],
  told: string | undefined,
): Pick<Dialect, 'origin' | 'kind' | 'names' | 'columns' | 'adjust'> {
  return named({ row: 1, cells: names }, [], told)
}

export function named(head: Line, rows: readonly Line[], columnsTold: string | undefined): Shape {
  const names = withoutSymbol(head.cells.map(plainName), head.row)
  const told = columnsOf(columnsTold, head.cells, rows[0]?.cells.length)
  const named = (role: Role) => NAMES[role].map((name) => names.indexOf(name)).filter((index) => index >= 0)
  const find = (role: Role) => told[role] ?? named(role)[0] ?? -1
  const byName = told.time ?? zonedTime(names) ?? named('time').find((index) => !areCounted(rows, index))
  const nameless = byName ?? timeByContent(names, rows)
  const time = nameless < 0 ? find('time') : nameless
  const base = { header: head.row, names: head.cells.map((cell) => cell.trim()), adjust: null }
  const prices = Object.fromEntries(PRICES.map((role) => [role, find(role)]))
  const isTold = told.price !== undefined || told.bid !== undefined
  const hasBars = !isTold && PRICES.slice(0, 3).every((role) => (prices[role] ?? -1) >= 0)
  const timing = told.clock === undefined ? dateAndClock(names, time) : { time, clock: told.clock }
  if (!hasBars && time >= 0) {
    const bid = told.price === undefined ? find('bid') : -1
    const ticks = { price: find('price'), quantity: find('quantity'), bid, ask: find('ask') }
    if (bid >= 0)
      return {
        ...base,
        ...originOf(names),
        kind: 'quotes',
        columns: present({ ...timing, ...ticks }),
      }
    if (ticks.price >= 0 && (isTold || !PRICES.slice(0, 3).some((role) => (prices[role] ?? -1) >= 0))) {
      const action = names.indexOf('action')
      const order = rows.find(({ cells }) => action >= 0 && cells[action] !== 'T')
      if (order) throw notRead(order.row, 'this is an order and no trade; export the trades alone')
      return {
        ...base,
        ...originOf(names),
        kind: 'trades',
        columns: present({ ...timing, ...ticks, side: find('side'), ticker: find('ticker') }),
        adjust: fixedPoint(names, rows, 'trades', ticks.price),
      }
    }
  }
  const missing = [...(time < 0 ? ['time'] : []), ...PRICES.filter((role) => (prices[role] ?? -1) < 0)]
  if (missing.length > 0) {
    const remedy = `say which they are, such as columns=${missing.map((role) => `${role}=…`).join(',')} (--columns)`
    throw notRead(head.row, `the header has no column ${missing.join(', ')}: ${remedy}`)
  }
  const volume = told.volume ?? volumeAmong(names, rows)
  if (areTicks(rows, timing, prices))
    return {
      ...base,
      ...originOf(names),
      kind: 'trades',
      columns: present({ ...timing, price: prices['close'] ?? -1, quantity: volume, ticker: find('ticker') }),
    }
  const columns = present({
    ...timing,
    ...prices,
    volume,
    ticker: find('ticker'),
    bought: find('bought'),
  })
  const [up, down] = [names.indexOf('up'), find('down')]
  // TradeStation has the volume of upticks and that of downticks.
  const isSplit = columns.volume === undefined && up >= 0 && down >= 0
  return {
    ...base,
    ...originOf(names),
    kind: 'bars',
    columns: withoutIdleClock(isSplit ? { ...columns, volume: up, down } : columns, names, rows),
    adjust: isSplit ? addDown : fixedPoint(names, rows, 'bars', prices['close']),
  }
}

/** Single trades that are written as bars: times with parts of seconds, and one price in each row. */
function areTicks(
  rows: readonly Line[],
  timing: Dialect['columns'],
  prices: Readonly<Record<string, number>>,
): boolean {
  const at = Object.values(prices)
  return (
    rows.length > 1 &&
    rows.some(({ cells }) => /:\d\d[.,]\d*[1-9]/.test(timeText(cells, timing))) &&
    rows.every(({ cells }) => at.every((index) => cells[index] === cells[at[0]!]))
  )
}

/** Rows that are counted from 0 or 1, as pandas numbers them, have no times there. Excel's days have five digits. */
function areCounted(rows: readonly Line[], index: number): boolean {
  const first = Number(rows[0]?.cells[index] || Number.NaN)
  return (
    rows.length > 1 &&
    first < 10_000 &&
    rows.every(({ cells }, i) => Number(cells[index] || Number.NaN) === first + i)
  )
}

/**
 * R's quantmod writes `AAPL.Open`, others `Open_AAPL`; with bid and ask the bars are of the bid. Throws Problem 422 where
 * there are several symbols side by side.
 */
function withoutSymbol(names: readonly string[], row: number): readonly string[] {
  const all = new Set(names)
  if (all.has('open')) return names
  const found = names.flatMap((name) => {
    const at = name.indexOf('open')
    const [before, behind] = [name.slice(0, at), name.slice(at + 4)]
    const isAll = at >= 0 && PRICES.every((role) => all.has(before + role + behind))
    return isAll ? [{ before, behind }] : []
  })
  const only = found.length === 1 ? found[0] : found.find((one) => `${one.before}${one.behind}` === 'bid')
  if (only)
    return names.map((name) =>
      name.startsWith(only.before) && name.endsWith(only.behind)
        ? name.slice(only.before.length, name.length - only.behind.length)
        : name,
    )
  if (found.length === 0) return names
  const symbols = found.map(({ before, behind }) => `${before}…${behind}`).join(', ')
  throw notRead(
    row,
    `there are several symbols, ${symbols.slice(0, 200)}: say which, such as columns=open=… (--columns)`,
  )
}

function addDown(values: Float64Array): void {
  values[5]! += values[7]! || 0
}

/** Databento's prices are billionths, unless they are written with a point. */
function fixedPoint(
  names: readonly string[],
  rows: readonly Line[],
  kind: RowKind,
  price = -1,
): Adjust | null {
  const isFixed = rows.length > 0 && rows.every(({ cells }) => /^-?\d+$/.test(cells[price] ?? ''))
  if (!isFixed || originOf(names).origin !== 'Databento') return null
  const prices = kind === 'bars' ? 4 : 1
  return (values) => {
    for (let slot = 1; slot <= prices; slot++) values[slot]! /= 1e9
  }
}

/** A time whose name states its zone: `Time (EET)`, `Date (UTC+2)`. */
function zonedTime(names: readonly string[]): number | null {
  const index = names.findIndex((name) => zoneInName(name) !== null)
  return index < 0 ? null : index
}

/**
 * pandas writes its index without a name, and calls a column that it has read without one `Unnamed: 0`; others name it for what
 * is dated, as Tushare's `trade_date`. The index may be the numbers of rows, which are shorter than any time.
 */
function timeByContent(names: readonly string[], rows: readonly Line[]): number {
  const isTime = (cell = '') => cell.length >= 8 && isTimeText(cell.trim())
  const holdsTimes = (index: number) => rows.length > 0 && rows.every(({ cells }) => isTime(cells[index]))
  const found = (pattern: RegExp) => names.findIndex((name, index) => pattern.test(name) && holdsTimes(index))
  const nameless = found(/^(?:unnamed:\d+)?$/)
  return nameless < 0 ? found(/(?:date|time|日期|时间)$/) : nameless
}

/** MetaTrader and Stooq keep the time of day in a column of its own. */
function dateAndClock(
  names: readonly string[],
  time: number,
): { readonly time: number; readonly clock?: number } {
  const date = names.findIndex((name) => ['date', 'дата', 'datum', 'data', 'fecha'].includes(name))
  const clock = names.findIndex((name) => NAMES.clock.includes(name))
  return date >= 0 && clock > date ? { time: date, clock } : { time }
}

/** Stooq's days have a clock that says 000000, TradeStation's the close of the session. */
function withoutIdleClock(
  columns: Dialect['columns'],
  names: readonly string[],
  rows: readonly Line[],
): Dialect['columns'] {
  const { clock, ...others } = columns
  const per = names.indexOf('per')
  const ofDay = (cells: readonly string[]) =>
    per < 0 ? cells[clock ?? -1] === rows[0]?.cells[clock ?? -1] : /^[DWM]$/i.test((cells[per] ?? '').trim())
  const hasPeriod = per >= 0 || names.includes('oi')
  const isDaily = hasPeriod && rows.length > 0 && rows.every(({ cells }) => ofDay(cells))
  return clock !== undefined && isDaily ? others : columns
}

/** MetaTrader writes two volumes, of which that of deals is 0 where nobody counts them. */
function volumeAmong(names: readonly string[], rows: readonly Line[]): number {
  const candidates = [
    ...NAMES.volume.map((name) => names.indexOf(name)).filter((index) => index >= 0),
    ...names.flatMap((name, index) => (name.startsWith('volume') ? [index] : [])),
  ]
  const isIdle = (index: number) => rows.every(({ cells }) => Number((cells[index] ?? '0').trim() || 0) === 0)
  return candidates.find((index) => rows.length > 0 && !isIdle(index)) ?? candidates[0] ?? -1
}
