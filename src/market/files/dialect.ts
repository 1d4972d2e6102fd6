// Which dialect of CSV a file is written in: found in its first lines, and said before anything is stored.
//
// Every program that exports bars has its own delimiter, decimal sign, order of columns and idea of time. Some name their
// columns, others leave that to a manual: those are known by the shape of a row. What the lines do not tell, such as the
// zone of a clock, is what the program is documented to mean, and the user can say otherwise. What stays ambiguous (is
// 03/04 a day in April?) is asked for rather than guessed.

import { Problem } from '../../lib/problem.ts'
import { splitCsvLine } from '../../lib/csv-rows.ts'
import { type Zone, zoneOf } from '../zone.ts'
import { SIDE_NAMES, type SideWords, sideWordsOf } from './sides.ts'
import {
  DATE_ORDERS,
  type DateOrder,
  datePartsOf,
  parseTimeText,
  TIME_UNITS,
  type TimeUnit,
  isExcelTime,
  unitOf,
} from './time-format.ts'

/**
 * What a column holds. Trades have a price, a quantity and perhaps a side, quotes a bid and an ask instead of open to close; of
 * bars some tell what of the volume was bought, and some have the volume in two columns.
 */
export const ROLES = [
  'time',
  'clock',
  'open',
  'high',
  'low',
  'close',
  'volume',
  'price',
  'quantity',
  'bid',
  'ask',
  'ticker',
  'side',
  'bought',
  'down',
] as const
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
type Adjust = (values: Float64Array) => void

export const TIME_KINDS = ['epoch', 'date', 'date and time'] as const
export const ZONE_REASONS = ['offsets', 'file', 'format', 'user', 'assumed'] as const

/** A dialect as it is told to people and programs. */
export interface DialectTold extends Pick<
  Dialect,
  'origin' | 'delimiter' | 'decimal' | 'header' | 'times' | 'unit' | 'order' | 'zoneBy'
> {
  /** The name of the column that has each value, or its number if columns have no names. */
  readonly columns: Readonly<Partial<Record<Role, string>>>
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
    timezone: zone.name,
  }
}

const DELIMITERS = [',', ';', '\t', '|'] as const
export const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  pipe: '|',
}

/** The names of columns, compared in lower case and without brackets, quotes and spaces; the first found counts. */
const NAMES: Readonly<Record<Role, readonly string[]>> = {
  time: words(
    'time opentime timeopen start timestamp transacttime unix datetime date gmttime localtime time(utc) time(eet) time(gmt) date(utc) date(gmt)',
    'windowstart createdtime tradetime tsrecv tsevent ts t startdate starttime begin indexlevel0 index day',
    'дата datum data fecha tarih 日期 时间 日付 날짜 일자',
  ),
  clock: words('time время uhrzeit czas'),
  open: words(
    'open o openprice открытие откр откр. eröffnung eröffn. erster ouv. ouverture apertura abertura opening 开盘 开盘价',
    'otwarcie açılış 始値 시가',
  ),
  high: words(
    'high h highprice максимум макс макс. hoch plushaut máximo máxima massimo 最高 最高价 najwyzszy najwyższy',
    'haut yüksek 高値 고가 max',
  ),
  low: words(
    'low l lowprice минимум мин мин. tief plusbas mínimo mínima minimo 最低 最低价 najnizszy najniższy',
    'bas düşük 安値 저가 min',
  ),
  close: words(
    'close c closelast close/last last latest closeprice закрытие закр закр. price цена schluss schlusskurs letzter 收盘 收盘价',
    'zamkniecie zamknięcie zuletzt dernier último ultimo fechamento clôture cloture şimdi 終値 종가',
  ),
  volume: words(
    'volume vol vol. v tickvol tickvolume basevolume объем объём volumen wolumen stücke stuecke umsatz hac. 成交量 出来高 거래량',
  ),
  price: words('price p last rate цена'),
  quantity: words('qty quantity size amount volume vol v q объем'),
  bid: words('bid bidprice'),
  ask: words('ask askprice'),
  ticker: words('ticker symbol instrumentname instrumentid tscode code 股票代码 name тикер'),
  side: SIDE_NAMES,
  bought: words(
    'bought takerbuyvolume takerbuybasevolume takerbuybaseassetvolume takerbuybaseasset takerbuybase',
  ),
  down: words('down'),
}

// Texts in a list take more room in the executable than one text that is split.
function words(...lines: readonly string[]): string[] {
  return lines.join(' ').split(' ')
}
const PRICES = ['open', 'high', 'low', 'close'] as const

/** The zones that clocks of these programs are documented to show. */
const EASTERN_STANDARD = 'UTC-5'
const NEW_YORK = 'America/New_York'
const STOOQ = 'Europe/Warsaw'

/** How many lines of a sample are looked at. */
const LINES = 200

interface Line {
  readonly row: number
  readonly cells: readonly string[]
}

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

/** Whether rows may tell what was bought. */
export function hasSides({ columns, adjust }: Pick<Dialect, 'columns' | 'adjust'>): boolean {
  return (columns.side ?? columns.bought) !== undefined || adjust === sideOfSign
}

export function sidesIn({ columns, names, origin }: Pick<Dialect, 'columns' | 'names' | 'origin'>) {
  const { side } = columns
  return side === undefined ? null : sideWordsOf(names[side] && plainName(names[side]), origin)
}

type Shape = Pick<Dialect, 'origin' | 'kind' | 'header' | 'names' | 'columns' | 'adjust'> & {
  /** The zone that the program is known for. */
  readonly zone: string | null
  readonly order: DateOrder | null
}

function withTimes(shape: Shape, times: readonly string[], hints: Hints) {
  const { zone: known, order: usual, ...rest } = shape
  const [sample = ''] = times
  // Who says the unit says that these are numbers, however short.
  const epoch = hints.unit === undefined ? /^-?\d{9,}(?:\.\d+)?$/ : /^-?\d+(?:\.\d+)?$/
  const isEpoch = times.length > 0 && times.every((text) => epoch.test(text))
  const isExcel = hints.unit === undefined && times.length > 0 && times.every(isExcelTime)
  if (
    hints.unit === undefined &&
    !isExcel &&
    times.length > 0 &&
    times.every((text) => /^-?\d{1,7}(?:\.\d+)?$/.test(text))
  )
    throw new Problem(
      422,
      'validation_failed',
      `Nothing was imported: the times, such as ${sample}, are too short for dates and for seconds since 1970. Say what they count, such as unit=s (--unit), or which column has the times: columns=time=… (--columns).`,
      { fields: [{ in: 'query', path: '/unit', code: 'required', message: 'say what the times count' }] },
    )
  const order = orderOf(hints.dates, times, usual)
  const { zone, zoneBy } = zoneOfTimes(hints.timesIn, known, times, isEpoch, rest.names)
  const unit = isEpoch ? unitNamed(hints.unit, sample) : null
  return {
    ...rest,
    origin: isExcel ? 'Excel' : rest.origin,
    times: isEpoch ? 'epoch' : times.some(hasClock) ? 'date and time' : 'date',
    unit,
    isUnitGiven: hints.unit !== undefined,
    order,
    zone,
    zoneBy,
    sample,
  } as const
}

/** The text of a row's time; date and clock of two cells with what stands between them. */
export function timeText(
  cells: readonly string[],
  { time = -1, clock = -1 }: Dialect['columns'],
  between = ' ',
): string {
  const date = (cells[time] ?? '').trim()
  if (clock < 0) return date
  const rest = (cells[clock] ?? '').trim()
  return rest === '' ? date : `${date}${clock === time + 1 ? between : ' '}${rest}`
}

function linesOf(text: string, delimiter: string): Line[] {
  const lines: Line[] = []
  let row = 0
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)) {
    row++
    if (line.trim() === '') continue
    // Some vendors put a link above the names.
    if (lines.length === 0 && /^"?https?:/i.test(line)) continue
    lines.push({ row, cells: splitCsvLine(line, delimiter) })
    if (lines.length === LINES) break
  }
  return lines
}

/** What stands in a cell of its own above the names, as the market or the day of the download, is none of them. */
function withoutCaption(lines: readonly Line[]): readonly Line[] {
  const at = lines.findIndex(({ cells }) => cells.length > 1)
  return at > 0 && at < lines.length - 1 && !isData(lines[at]!.cells) ? lines.slice(at) : lines
}

/** yfinance writes `Price,Close,High,…`, `Ticker,AAPL,AAPL,…` and `Date,,,…` above its rows: one line of names of three. */
function withoutTickers(lines: readonly Line[]): readonly Line[] {
  const [names, tickers, times, ...rows] = lines
  const isHead =
    names?.cells[0] === 'Price' &&
    tickers?.cells[0] === 'Ticker' &&
    times !== undefined &&
    times.cells.slice(1).every((cell) => cell.trim() === '')
  if (!isHead) return lines
  if (new Set(tickers.cells.slice(1)).size > 1)
    throw notRead(tickers.row, 'there are several symbols; write a file for each')
  return [{ row: times.row, cells: [times.cells[0] ?? '', ...names.cells.slice(1)] }, ...rows]
}

/** The delimiter that cuts the most lines into the same number of cells, two or more. */
function delimiterIn(text: string): string {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .filter((line) => line.trim() !== '' && !/^"?https?:/i.test(line))
    .slice(0, LINES)
  let best: { readonly delimiter: string; readonly score: number } = { delimiter: ',', score: 0 }
  for (const delimiter of DELIMITERS) {
    const counts = new Map<number, number>()
    for (const line of lines) {
      const { length } = splitCsvLine(line, delimiter)
      counts.set(length, (counts.get(length) ?? 0) + 1)
    }
    const [most] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])
    if (!most || most[0] < 2) continue
    // Lines that agree count most, then the number of cells: `1,5;2,5;3,5` has four commas and two semicolons.
    const score = (most[1] / lines.length) * 1000 + Math.min(most[0], 50) + (delimiter === ',' ? 0 : 10)
    if (score > best.score) best = { delimiter, score }
  }
  return best.delimiter
}

function delimiterNamed(text: string): string {
  const found = DELIMITER_NAMES[text] ?? text
  if (DELIMITERS.some((one) => one === found)) return found
  throw badHint('delimiter', `must be one of ${Object.keys(DELIMITER_NAMES).join(', ')}`)
}

/** Whether a row is data rather than names: most of its cells are numbers, and one of the first is a time or an id. */
function isData(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => cell.trim() !== '')
  const numbers = filled.filter((cell) => /^[-+]?[\d.,\s:/-]*\d[\d.,eE+-]*$/.test(cell.trim()))
  return numbers.length >= Math.max(2, filled.length / 2)
}

function plainName(cell: string): string {
  return cell
    .normalize()
    .toLowerCase()
    .replace(/[<>[\]\s_"]/g, '')
}

/** How far behind others a name of JSON stands among those of a role; -1 if it is none. A capital letter is another name. */
export function rankOfName(name: string, role: Role): number {
  return NAMES[role].indexOf(name.length === 1 ? name : plainName(name))
}

/** The columns of a table whose columns have names and no lines to look at. */
export function shapeOfNames(
  names: readonly string[],
  told: string | undefined,
): Pick<Dialect, 'origin' | 'kind' | 'names' | 'columns' | 'adjust'> {
  return named({ row: 1, cells: names }, [], told)
}

function named(head: Line, rows: readonly Line[], columnsTold: string | undefined): Shape {
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

/** The numbers of the columns that the user named. Throws Problem 422 if the file has none of that name. */
function columnsOf(told = '', cells: readonly string[], width = cells.length): Dialect['columns'] {
  const columns: Partial<Record<Role, number>> = {}
  for (const one of told === '' ? [] : told.split(ROLE_BEGINS)) {
    const [, word = '', name = ''] = /^\s*(\w+)=(.*)$/.exec(one) ?? []
    const role = ROLES.find((known) => known === word)
    if (role === undefined)
      throw badHint('columns', `must be like time=Date,open=First; known are ${ROLES.join(', ')}`)
    const same = cells.findIndex((cell) => plainName(cell) === plainName(name))
    const index = same < 0 && /^[1-9]\d{0,4}$/.test(name) ? Number(name) - 1 : same
    if (index < 0 || index >= width) {
      const known = cells.map((cell) => cell.trim()).join(', ')
      throw badHint('columns', `names ${name.slice(0, 100)}, but the columns are ${known.slice(0, 400)}`)
    }
    columns[role] = index
  }
  return columns
}

/** A name may have commas of its own. */
const ROLE_BEGINS = new RegExp(`[,;](?=\\s*(?:${ROLES.join('|')})=)`)

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

/** The columns that there are. */
function present(columns: Readonly<Partial<Record<Role, number>>>): Dialect['columns'] {
  return Object.fromEntries(Object.entries(columns).filter(([, index]) => index >= 0))
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

function zoneInName(name: string): Zone | null {
  const match = /^(?:time|date|datetime|timestamp)\(([\w+:/-]+)\)$/.exec(plainName(name))
  return match ? zoneOf((match[1] ?? '').toUpperCase()) : null
}

/** MetaTrader and Stooq keep the time of day in a column of its own. */
function dateAndClock(
  names: readonly string[],
  time: number,
): { readonly time: number; readonly clock?: number } {
  const date = names.findIndex((name) => ['date', 'дата', 'datum', 'data'].includes(name))
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

type Origin = Pick<Shape, 'origin' | 'zone' | 'order'>
/**
 * Who names its columns like this: the program, the zone of its clock and the order of its dates if those are known, and all
 * names as a pattern. Coinbase's stand in any order; without `time` they are of those that name the side of the taker.
 */
const ORIGINS = `
Stooq;${STOOQ};;^ticker,per,date,time,open,high,low,close,vol,openint$
Stooq;${STOOQ};;^data,(czas,)?otwarcie,najwy[zż]szy,najni[zż]szy,zamkni[eę]cie(,wolumen)?$
Yahoo Finance;;;^date,open,high,low,close,adjclose[*]{0,2},volume$
Binance;;;^opentime,open,high,low,close,volume,closetime,
Binance;;;^(aggtradeid|id),price,(qty|quantity),
Coinbase;;;^(?=(.*,)?time(,|$))(?=(.*,)?tradeid(,|$))(?=(.*,)?size(,|$))(?=(.*,)?side(,|$))
OKX;;;^(instrumentname,)?tradeid,side,(price,size|size,price),createdtime(,|$)
Databento;;;(^|,)rtype,publisherid,instrumentid,
Barchart;;;^(symbol,)?time,open,high,low,(last|latest),change,%ch(g|ange),volume
TradeStation;;;^date,time,open,high,low,close,(up,down|vol,oi)(,|$)
MetaTrader 5;;;^date,(time,)?open,high,low,close,tickvol,vol,spread$
MetaTrader 5;;;^date,time,bid,ask,last,volume(,flags)?$
Dukascopy;UTC;dmy;^gmttime,(open,high,low,close,volume|ask,bid,askvolume,bidvolume)$
Dukascopy;;dmy;^localtime,open,high,low,close,volume$
Dukascopy;;dmy;^time[(](eet|utc|gmt)[)],(open,high,low,close,volume|ask,bid,askvolume,bidvolume)$
Finam;Europe/Moscow;;^(ticker,per,)?date,time,open,high,low,close,vol$`
  .split('\n')
  .map((line) => line.split(';'))

function origin(name: string | null, zone: string | null = null, order: DateOrder | null = null): Origin {
  return { origin: name, zone, order }
}

function originOf(names: readonly string[]): Origin {
  const line = names.join(',')
  const [name = '', zone, order] = ORIGINS.find((one) => one[3] && new RegExp(one[3]).test(line)) ?? []
  return origin(name || null, zone || null, DATE_ORDERS.find((one) => one === order) ?? null)
}

/** Rows without names, as far as one row says what they are. */
interface Headless {
  readonly lines: readonly Line[]
  readonly delimiter: string
  readonly count: number
  cell(index: number): string
  /** Whether the cells of all rows look so. */
  every(index: number, pattern: RegExp): boolean
}

/** The shape of rows without names, by their number of cells and what these look like. */
function headless(lines: readonly Line[], delimiter: string, fileName: string, hints: Hints): Shape {
  const cells = lines[0]?.cells ?? []
  const every = (index: number, pattern: RegExp) =>
    lines.every((line) => pattern.test((line.cells[index] ?? '').trim()))
  const rows = {
    lines,
    delimiter,
    count: cells.length,
    cell: (index: number) => (cells[index] ?? '').trim(),
    every,
  }
  const refused = (what: string) => notRead(lines[0]?.row ?? 1, what)
  if (hints.columns !== undefined)
    return numbered(
      columnsOf(
        hints.columns,
        cells.map(() => ''),
      ),
    )
  const flagged = flaggedTrades(rows)
  if (flagged) return flagged
  if (!isTimeText(rows.cell(0))) throw refused('there are no names of columns, and the first cell is no time')
  const known = ofExchange(rows) ?? ofProgram(rows, fileName, hints)
  if (known) return known
  if (rows.count < 5) throw refused('expected time, open, high, low, close')
  const columns = barColumns(rows, 0)
  return isJesses(rows)
    ? shapeOf('bars', { ...columns, high: 3, low: 4, close: 2 }, origin('jesse'))
    : shapeOf('bars', columns, origin(null))
}

/** Rows whose columns the user told by their numbers. */
function numbered(columns: Dialect['columns']): Shape {
  const kind = columns.bid !== undefined ? 'quotes' : columns.price !== undefined ? 'trades' : 'bars'
  const needed = { bars: PRICES, trades: ['price', 'quantity'], quotes: ['bid'] } as const
  const missing = ['time' as const, ...needed[kind]].filter((role) => columns[role] === undefined)
  if (missing.length > 0)
    throw badHint('columns', `has no ${missing.join(', ')}; rows without names need all`)
  return shapeOf(kind, columns, origin(null))
}

/** jesse's arrays: time, open, close, high, low, volume, of which two rows or more are no bars in the usual order. */
function isJesses({ lines, count }: Headless): boolean {
  const isBar = ({ cells }: Line, [high, low, close]: readonly [number, number, number]) => {
    const [o, h, l, c] = [1, high, low, close].map((at) => Number(cells[at])) as [
      number,
      number,
      number,
      number,
    ]
    return l <= Math.min(o, c) && h >= Math.max(o, c)
  }
  const usual = lines.filter((line) => isBar(line, [2, 3, 4]))
  return count === 6 && lines.length - usual.length > 1 && lines.every((line) => isBar(line, [3, 4, 2]))
}

function shapeOf(
  kind: RowKind,
  columns: Dialect['columns'],
  { origin: name, zone, order }: Origin,
  adjust: Adjust | null = null,
): Shape {
  return { kind, columns, origin: name, zone, order, header: 0, names: [], adjust }
}

function barColumns({ count }: Headless, time: number, at = time + 1, clock = -1): Dialect['columns'] {
  const volume = count > at + 4 ? at + 4 : -1
  return present({ time, clock, open: at, high: at + 1, low: at + 2, close: at + 3, volume })
}

/** Binance: id, price, quantity, …, time, whether the buyer was the maker, whether it was the best match. */
function flaggedTrades({ count, cell }: Headless): Shape | null {
  const isFlag = (index: number) => /^(?:true|false|[01])$/i.test(cell(index))
  for (const [at, least] of [
    [4, 6],
    [5, 7],
  ] as const)
    if (
      count >= least &&
      count <= at + 3 &&
      /^\d{1,15}$/.test(cell(0)) &&
      isEpochText(cell(at)) &&
      isFlag(at + 1)
    )
      return shapeOf('trades', { time: at, price: 1, quantity: 2, side: at + 1 }, origin('Binance'))
  return null
}

/** Lean writes shares in ten-thousandths of a dollar, on the clock of New York. */
const LEAN = 1e4

function fromLean(values: Float64Array): void {
  for (let slot = 1; slot <= 4; slot++) values[slot]! /= LEAN
}

type Clock = Pick<Dialect, 'zone' | 'zoneBy'>

/**
 * A day of Lean's minutes or seconds: milliseconds since midnight, and the day in the name of the file. Shares have New York's
 * clock, coins UTC; of the exchange of others only the user knows.
 */
function leanOfDay(
  lines: readonly Line[],
  fileName: string,
  { timesIn }: Hints,
): (Shape & { readonly clock: Clock }) | null {
  const [, year, month, day, kind] =
    /(?:^|[/\\])(\d{4})(\d\d)(\d\d)_[^/\\]+_(?:minute|second)_(\w+)\.csv$/i.exec(fileName) ?? []
  const isCounted = lines.every(({ cells }) => /^\d{1,8}$/.test(cells[0] ?? ''))
  if (kind === undefined || !isCounted) return null
  if (kind.toLowerCase() !== 'trade')
    throw notRead(1, 'of Lean’s days only those of trades are read; of quotes import the days and hours')
  const areShares = lines.every(({ cells }) => cells.slice(1, 5).every((cell) => /^\d+$/.test(cell)))
  const zone = zoneOf(timesIn ?? (areShares ? NEW_YORK : 'UTC'))
  if (!zone) throw badHint('timesIn', 'must be a time zone such as America/New_York or UTC-5')
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day))
  const rows = { count: lines[0]!.cells.length } as Headless
  const shape = shapeOf('bars', barColumns(rows, 0), origin('Lean'), (values) => {
    if (areShares) fromLean(values)
    values[0] = zone.toUtc(midnight + values[0]!)
  })
  const zoneBy = timesIn !== undefined ? 'user' : areShares ? 'format' : 'assumed'
  return { ...shape, clock: { zone, zoneBy } }
}

/** Rows that begin with seconds since 1970 or parts of them. */
function ofExchange(rows: Headless): Shape | null {
  const { count, cell, every } = rows
  if (!isEpochText(cell(0))) return null
  if (count === 12 && isEpochText(cell(6)))
    return shapeOf('bars', { ...barColumns(rows, 0), bought: 9 }, origin('Binance'))
  if (count === 3) return shapeOf('trades', { time: 0, price: 1, quantity: 2 }, origin('Kraken'))
  if (count === 7) return shapeOf('bars', barColumns(rows, 0), origin('Kraken'))
  // Gate.io: the id of each trade behind its microsecond. Of contracts the quantity is negative where they were sold.
  if (!every(0, /^\d{10}\.\d{6}$/) || !every(1, /^\d+$/)) return null
  if (count === 5 && every(4, /^[12]$/))
    return shapeOf('trades', { time: 0, price: 2, quantity: 3, side: 4 }, origin('Gate.io'))
  return count === 4 && every(3, /^-?\d+$/)
    ? shapeOf('trades', { time: 0, price: 2, quantity: 3 }, origin('Gate.io'), sideOfSign)
    : null
}

/** Rows that begin with a date, by how it is written. */
function ofProgram(rows: Headless, fileName: string, { dates }: Hints): Shape | null {
  const { lines, delimiter, count, cell } = rows
  const historical = origin('HistData', EASTERN_STANDARD)
  const isHistorical = /(?:^|\/)DAT_[A-Z]+_/i.test(fileName)
  if (/^\d{8} \d{6}(?: \d{7})?$/.test(cell(0)) && delimiter === ';') {
    // HistData writes NinjaTrader's rows, but knows no volume. The names are those that NinjaTrader gives to exported files.
    const volume = count === 3 ? 2 : count - 1
    const isEmpty = lines.every((line) => Number(line.cells[volume]) === 0)
    const isNinjas = /\.(?:last|bid|ask)\.\w+$/i.test(fileName)
    const ninja = origin('NinjaTrader', isNinjas ? 'UTC' : null)
    const by = isHistorical || (isEmpty && !isNinjas) ? historical : ninja
    if (count === 3 && by === historical) return shapeOf('quotes', { time: 0, bid: 1 }, by)
    // Of ticks the last price is followed by bid and ask, or by nothing but the volume.
    if (count === 3 || (count === 5 && cell(0).length > 15))
      return shapeOf('trades', { time: 0, price: 1, quantity: volume }, by)
    return shapeOf('bars', barColumns(rows, 0), by)
  }
  if (/^\d{8} \d{9}$/.test(cell(0)) && count >= 3)
    return shapeOf('quotes', { time: 0, bid: 1, ask: 2 }, historical)
  const areWhole = [1, 2, 3, 4].every((index) => rows.every(index, /^\d+$/))
  if (/^\d{8} \d{2}:\d{2}$/.test(cell(0)) && delimiter === ',' && count === 6 && areWhole)
    return shapeOf('bars', barColumns(rows, 0), origin('Lean', NEW_YORK), fromLean)
  if (!/^\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/.test(cell(1))) return null
  // Only Kibot begins with the month. Seconds are of its ticks: price, bid, ask and size.
  const isKibot =
    cell(0).includes('/') &&
    delimiter === ',' &&
    dates !== 'dmy' &&
    lines.every((line) => (datePartsOf(line.cells[0] ?? '')?.[0] ?? 13) <= 12)
  const kibot = origin('Kibot', NEW_YORK)
  if (isKibot && count === 6 && cell(1).length > 5)
    return shapeOf('trades', { time: 0, clock: 1, price: 2, quantity: 5 }, kibot)
  const metaTrader = /^\d{4}\./.test(cell(0)) ? origin('MetaTrader 4') : origin(null)
  return shapeOf('bars', barColumns(rows, 0, 2, 1), isHistorical ? historical : isKibot ? kibot : metaTrader)
}

function sideOfSign(values: Float64Array): void {
  values[3] = Math.sign(values[2]!)
  values[2] = Math.abs(values[2]!)
}

function isEpochText(text: string): boolean {
  return /^\d{9,19}(?:\.\d+)?$/.test(text)
}

function isTimeText(text: string): boolean {
  if (isEpochText(text)) return true
  const utc = zoneOf('UTC')
  return (
    utc !== null &&
    (['dmy', 'mdy'] as const).some((order) =>
      Number.isFinite(parseTimeText(text, { unit: null, order, zone: utc, calendar: null })),
    )
  )
}

/** `1 142,40` and `1’142.40` without what stands between thousands. */
export function withoutSpaces(text: string): string {
  return text.replace(/(\d)[ \u00A0\u202F'’](?=\d{3}(?!\d))/g, '$1')
}

/** Whether prices have a decimal comma. Where commas are also the delimiter, only a quoted price can show one. */
function decimalOf(
  given: string | undefined,
  rows: readonly Line[],
  { columns }: Shape,
  delimiter: string,
): DecimalSign {
  if (given !== undefined) {
    if (given === 'comma' || given === ',') return ','
    if (given === 'point' || given === '.') return '.'
    throw badHint('decimal', 'must be point or comma')
  }
  const prices = (['open', 'high', 'low', 'close', 'price', 'bid'] as const).flatMap(
    (role) => columns[role] ?? [],
  )
  const cells = rows.flatMap((row) => prices.map((index) => withoutSpaces((row.cells[index] ?? '').trim())))
  const isComma = (text: string) =>
    /^-?\d{1,3}(?:\.\d{3})+,\d+$/.test(text) ||
    (/^-?\d+,\d+$/.test(text) && (delimiter !== ',' || !/^-?\d{1,3},\d{3}$/.test(text)))
  const commas = cells.filter(isComma).length
  const points = cells.filter((text) => /^-?[\d,]*\.\d+$/.test(text))
  if (commas > points.length) return ','
  // Each price is like `115.592`, which may be in thousands: then a volume such as `18,86M` tells.
  const areUnclear = commas === 0 && points.every((text) => /^-?\d{1,3}(?:\.\d{3})+$/.test(text))
  const volume = columns.volume ?? -1
  return areUnclear && rows.some((row) => /^\d+,\d{1,2}[kmb]$/i.test(row.cells[volume]?.trim() ?? ''))
    ? ','
    : '.'
}

function hasClock(text: string): boolean {
  return isExcelTime(text) ? /[.,]/.test(text) : /\d[T ,;\t|]+\d{1,2}:\d|^\d{8}[ ,;\t|]\d{4}/.test(text)
}

function unitNamed(given: string | undefined, sample: string): TimeUnit {
  if (given === undefined) return unitOf(Number(sample))
  const unit = TIME_UNITS.find((one) => one === given)
  if (unit) return unit
  throw badHint('unit', `must be one of ${TIME_UNITS.join(', ')}`)
}

/** Which of the three numbers of a date is the day. Throws if the lines allow both. */
function orderOf(given: string | undefined, times: readonly string[], usual: DateOrder | null): DateOrder {
  if (given !== undefined) {
    const order = DATE_ORDERS.find((one) => one === given)
    if (order) return order
    throw badHint('dates', `must be one of ${DATE_ORDERS.join(', ')}`)
  }
  const parts = times.map(datePartsOf).filter((one) => one !== null)
  const [first] = parts
  if (!first || first[0] > 31) return 'ymd'
  if (usual) return usual
  // Nobody writes the month first and puts points behind it.
  if (times.some((text) => /^\d{1,2}\.\d{1,2}\.\d{4}/.test(text))) return 'dmy'
  if (parts.some(([a]) => a > 12)) return 'dmy'
  if (parts.some(([, b]) => b > 12)) return 'mdy'
  const steps = (order: 'dmy' | 'mdy') => {
    const days = parts.map(([a, b, c]) => (order === 'dmy' ? Date.UTC(c, b - 1, a) : Date.UTC(c, a - 1, b)))
    return days.reduce((sum, day, i) => (i === 0 ? 0 : sum + Math.abs(day - (days[i - 1] ?? 0))), 0)
  }
  // Bars come day by day: read the wrong way round, twelve days of a month are a year.
  const [dmy, mdy] = [steps('dmy'), steps('mdy')]
  if (dmy * 4 < mdy) return 'dmy'
  if (mdy * 4 < dmy) return 'mdy'
  throw new Problem(
    422,
    'validation_failed',
    'Nothing was imported: the dates may have the day first or the month first. Say which: dates=dmy or dates=mdy.',
    { fields: [{ in: 'query', path: '/dates', code: 'required', message: 'say dmy or mdy' }] },
  )
}

function zoneOfTimes(
  given: string | undefined,
  known: string | null,
  times: readonly string[],
  isEpoch: boolean,
  names: readonly string[],
): Pick<Dialect, 'zone' | 'zoneBy'> {
  const utc = zoneOf('UTC')
  if (!utc) throw new Error('assertion failed: UTC is always known')
  if (given !== undefined) {
    const zone = zoneOf(given)
    if (!zone) throw badHint('timesIn', 'must be a time zone such as America/New_York or UTC-5')
    if (!isEpoch) return { zone, zoneBy: 'user' }
  }
  const isStated = (text: string) =>
    /(?:Z|UTC|GMT|\d[ ]?(?:GMT|UTC)?[+-]\d{1,2}:?\d{2})$/i.test(text) && hasClock(text)
  if (isEpoch || (times.length > 0 && times.every(isStated))) return { zone: utc, zoneBy: 'offsets' }
  const stated = names.map(zoneInName).find((zone) => zone !== null)
  if (stated) return { zone: stated, zoneBy: 'file' }
  const zone = known === null ? null : zoneOf(known)
  if (zone && times.some(hasClock)) return { zone, zoneBy: 'format' }
  return { zone: utc, zoneBy: 'assumed' }
}

export function badHint(name: string, message: string): Problem {
  return new Problem(422, 'validation_failed', `The parameter ${name} ${message}.`, {
    fields: [{ in: 'query', path: `/${name}`, code: 'invalid', message }],
  })
}

/** A file that nobody could read. */
export function notRead(row: number, message: string): Problem {
  return new Problem(422, 'validation_failed', `Nothing was imported: row ${row}: ${message}.`, {
    fields: [{ in: 'body', path: `/rows/${row}`, code: 'invalid_bar', message: `row ${row}: ${message}` }],
  })
}

/** What is said of a row of another symbol. */
export function otherTicker(text: string): string {
  return `is of another symbol than the rows above, ${text.slice(0, 40)}`
}
