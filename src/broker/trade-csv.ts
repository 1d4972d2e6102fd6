// TradingView's "List of trades" export: two rows for each trade, in the language of the account that exported it.
//
// Columns are recognised by their names in the languages we know or, failing that, by their position: every export begins
// with number and type, then date and signal in either order, price and size. Entry rows and sides are recognised by words
// or, if the words are unknown, by the times of the two rows.

import { csvRows, delimiterOf } from '../lib/csv-rows.ts'

export interface ExportedTrade {
  readonly n: number
  readonly side: 'long' | 'short'
  readonly entry: ExportedFill
  readonly exit: ExportedFill
  readonly qty: number | null
  /** The profit, and the number of digits shown. */
  readonly profit: { readonly value: number; readonly digits: number } | null
  /** The position was still open: the exit row shows the last price. */
  readonly open: boolean
}

interface ExportedFill {
  /** Wall-clock time to the minute, in ms as if it were UTC. */
  readonly wall: number
  /** The row has a date only (daily bars). */
  readonly dateOnly: boolean
  readonly price: number
  readonly digits: number
  readonly signal: string
}

export interface ExportedList {
  readonly trades: readonly ExportedTrade[]
  /** What was wrong with rows that are not trades. */
  readonly problems: readonly { readonly row: number; readonly message: string }[]
}

/** Lower-case header words in English, German, French, Spanish, Portuguese, Italian, Russian, Turkish, Polish, CJK. */
const HEADERS = {
  number:
    /^(trade\s*(#|number|num|no\.?)|#|n\.?\s*[º°]|n\.?(?=\s|$)|№|trade-?nr|trade nr\.?|nr\.?|сделка\s*(№|#)?|№ сделки|取引番号|トレード番号|トレード\s*(#|no)|交易\s*#?|交易编号|交易編號|거래\s*(#|번호)|işlem\s*(#|no)|n(um|úm).*(trade|operaci|opera[çc])|operaci[oó]n\s*#?|opera[çc][aã]o\s*#?|operazione\s*#?)/,
  type: /^(type|typ|tipo|тип|tür|タイプ|種類|类型|類型|유형|종류|rodzaj|jenis|loại)/,
  signal: /^(signal|se[nñ]al|sinal|segnale|сигнал|sinyal|シグナル|信号|訊號|信號|신호|시그널|sygna[lł])/,
  date: /(date|datum|fecha|data|дата|tarih|日付|日時|日期|时间|時間|날짜|일시|tanggal|ngày|zeit|time)/,
  price:
    /^(price|preis|kurs|prix|cours|precio|pre[cç]o|prezzo|цена|fiyat|価格|价格|價格|가격|cena|harga|giá)/,
  quantity:
    /(qty|quantity|contracts?\b|anzahl|menge|kontrakte|quantit|cantidad|contratos|contratti|количество|контракт|miktar|kontrat|数量|數量|合约|合約|수량|계약|ilo[sś][cć]|kontrakt|jumlah|số lượng|taille|gr[oö](ß|ss)e|tama[nñ]|dimension|размер|boyut|サイズ|规模|크기)/,
  value: /(value|wert|valeur|valor|valore|стоимость|değer|金額|価値|价值|價值|가치|값|wartość)/,
  profit:
    /(p&l|pnl|profit|gewinn|g&v|guv|b[eé]n[eé]fice|ganancia|beneficio|lucro|profitto|прибыль|приб|пр\/уб|kâr|kar\b|k&z|損益|盈亏|盈虧|利润|利潤|손익|수익|zysk|laba|lợi nhuận|p\/l)/,
  cumulative: /(cum|kum|acum|кум|накоп|совокуп|küm|累|누적|skum|toplam|積)/,
} as const

const LONG =
  /long|kauf|achat|largo|compra|comprado|длин|лонг|покуп|uzun|alış|al[ıi]m|ロング|買|买|做多|多头|多頭|롱|매수|d[lł]ug|mua|beli|acquist|rialz|شراء|لونج|לונג|קני|lång/i
const SHORT =
  /short|verkauf|leer|vente|d[eé]couvert|corto|venta|vend|корот|шорт|прода|kısa|sat[ıi]|ショート|売|卖|賣|做空|空头|空頭|숏|매도|kr[oó]t|bán|jual|ribass|بيع|شورت|שורט|מכיר|kort/i
const ENTRY =
  /entry|enter|entr[eé]|einstieg|eintritt|entrada|entrata|ingresso|вход|giriş|エントリー|新規|进场|進場|入场|入場|开仓|開倉|진입|wej[sś]ci|masuk|vào|دخول|כניסה/i
const EXIT =
  /exit|sortie|ausstieg|austritt|salida|sa[ií]da|uscita|выход|çıkış|エグジット|決済|イグジット|出场|出場|离场|離場|平仓|平倉|청산|wyj[sś]ci|keluar|thoát|ra\b|خروج|יציאה/i
const OPEN =
  /^(open|öppen|مفتوح|פתוח|offen|ouvert|abiert|abert|apert|открыт|açık|オープン|未平仓|未平倉|开仓|미결|otwart)/i

interface Columns {
  readonly number: number
  readonly type: number
  readonly signal: number
  readonly date: number
  readonly price: number
  readonly quantity: number
  readonly profit: number
}

/** How many rows are looked at to recognise columns whose names are unknown. */
const SAMPLE_ROWS = 40
const PROBLEMS_MAX = 1000

interface CsvRow {
  readonly row: number
  readonly cells: string[]
}

/** Never throws: what cannot be read is listed in `problems`. */
export function parseTradeList(csv: string): ExportedList {
  const text = csv.replace(/^\uFEFF/, '').trim()
  const rows = csvRows(text, delimiterOf(text))
  const header = rows.next().value?.cells
  const sample: CsvRow[] = []
  for (const row of rows) if (sample.push(row) >= SAMPLE_ROWS) break
  if (!header || sample.length === 0)
    return { trades: [], problems: [{ row: 1, message: 'The file has no rows.' }] }
  if (OWN_COLUMNS.every((name) => header.includes(name)))
    return ownTrades(header, csvRows(text, delimiterOf(text)))
  const columns = findColumns(
    header,
    sample.map(({ cells }) => cells),
  )
  if (!columns)
    return {
      trades: [],
      problems: [{ row: 1, message: 'No columns for number, type, date and price were found.' }],
    }
  return tradesOf(csvRows(text, delimiterOf(text)), columns)
}

/** Chartroom writes one row for each trade, with instants. */
const OWN_COLUMNS = ['n', 'side', 'entry_time', 'entry_price', 'exit_time', 'exit_price', 'qty', 'profit']

function ownTrades(header: readonly string[], rows: Generator<CsvRow>): ExportedList {
  const trades: ExportedTrade[] = []
  const problems: { row: number; message: string }[] = []
  // Skips the header.
  rows.next()
  for (const { row, cells } of rows) {
    const cell = (name: string) => cells[header.indexOf(name)] ?? ''
    const fill = (name: 'entry' | 'exit') => ({
      wall: Number(cell(`${name}_time`)),
      dateOnly: false,
      price: numberOf(cell(`${name}_price`)),
      digits: digitsOf(cell(`${name}_price`)),
      signal: cell(`${name}_signal`),
    })
    const [entry, exit, profit, side] = [fill('entry'), fill('exit'), numberOf(cell('profit')), cell('side')]
    const numbers = [numberOf(cell('n')), numberOf(cell('qty')), profit, entry.price, exit.price]
    const isDated = [entry, exit].every(({ wall }) => Number.isInteger(wall) && wall > 0 && wall < 8.64e15)
    if ((side === 'long' || side === 'short') && isDated && numbers.every(Number.isFinite))
      trades.push({
        n: numbers[0]!,
        side,
        entry,
        exit,
        qty: numbers[1]!,
        profit: { value: profit, digits: digitsOf(cell('profit')) },
        open: cell('status') === 'open',
      })
    else if (problems.length < PROBLEMS_MAX)
      problems.push({ row, message: 'A number, a time or the side is missing.' })
  }
  return { trades, problems }
}

function tradesOf(rows: Generator<CsvRow>, columns: Columns): ExportedList {
  const problems: { row: number; message: string }[] = []
  const fail = (row: number, message: string) => {
    if (problems.length < PROBLEMS_MAX) problems.push({ row, message })
  }
  const byNumber = new Map<number, CsvRow[]>()
  // Skips the header.
  rows.next()
  for (const { row, cells } of rows) {
    const n = numberOf(cells[columns.number] ?? '')
    if (!Number.isInteger(n)) {
      fail(row, 'The first column should be the number of a trade.')
      continue
    }
    const group = byNumber.get(n)
    // A trade has two rows; further ones of the same number are ignored.
    if (!group) byNumber.set(n, [{ row, cells }])
    else if (group.length < ROWS_A_TRADE) group.push({ row, cells })
  }
  const trades: ExportedTrade[] = []
  for (const [n, pair] of byNumber) {
    const trade = tradeOf(n, pair, columns)
    if (typeof trade === 'string') fail(pair[0]!.row, trade)
    else trades.push(trade)
  }
  return { trades: trades.sort((a, b) => a.n - b.n), problems }
}

/** An export has two; some tools write each row twice. */
const ROWS_A_TRADE = 8

function findColumns(header: readonly string[], rows: readonly string[][]): Columns | null {
  const names = header.map((name) => name.trim().toLowerCase())
  const find = (pattern: RegExp, not?: RegExp) =>
    names.findIndex((name) => pattern.test(name) && !(not?.test(name) ?? false))
  const sample = rows.slice(0, 40)
  const dates = names.findIndex((_, i) => sample.every((row) => wallOf(row[i] ?? '') !== null))
  const date = dates >= 0 ? dates : find(HEADERS.date)
  if (date < 0) return null
  const number = Math.max(0, find(HEADERS.number))
  const type = find(HEADERS.type) >= 0 ? find(HEADERS.type) : 1
  // The signal is next to the date: before it in older exports, after it in newer ones.
  const signal = find(HEADERS.signal) >= 0 ? find(HEADERS.signal) : date === 2 ? 3 : 2
  const price = find(HEADERS.price) >= 0 ? find(HEADERS.price) : Math.max(date, signal) + 1
  const quantity = find(HEADERS.quantity, HEADERS.value)
  const profits = names.flatMap((name, i) =>
    HEADERS.profit.test(name) && !name.includes('%') && !HEADERS.cumulative.test(name) ? [i] : [],
  )
  return {
    number,
    type,
    signal,
    date,
    price,
    quantity: quantity < 0 ? price + 1 : quantity,
    profit: profits[0] ?? -1,
  }
}

function tradeOf(
  n: number,
  pair: readonly { row: number; cells: readonly string[] }[],
  columns: Columns,
): ExportedTrade | string {
  const fills = pair.map(({ cells }) => ({
    cells,
    type: cells[columns.type] ?? '',
    fill: fillOf(cells, columns),
  }))
  const known = fills.flatMap((one) => (one.fill ? [{ ...one, fill: one.fill }] : []))
  if (known.length === 0) return `Trade ${n} has no row with a date and a price.`
  const entry =
    known.find((one) => ENTRY.test(one.type) && !EXIT.test(one.type)) ??
    [...known].sort((a, b) => a.fill.wall - b.fill.wall)[0]!
  const exit = known.find((one) => one !== entry) ?? entry
  const words = `${entry.type} ${exit.type}`
  const short = SHORT.test(words)
  const long = LONG.test(words)
  if (short === long && !/long|short/i.test(words))
    return `Trade ${n}: "${entry.type}" says neither long nor short.`
  const side = /short/i.test(words) || (short && !/long/i.test(words)) ? 'short' : 'long'
  const qty = numberOf(entry.cells[columns.quantity] ?? '')
  const profitText = columns.profit < 0 ? '' : (exit.cells[columns.profit] ?? '')
  const profit = numberOf(profitText)
  return {
    n,
    side,
    entry: entry.fill,
    exit: exit.fill,
    qty: Number.isNaN(qty) ? null : Math.abs(qty),
    profit: Number.isNaN(profit) ? null : { value: profit, digits: digitsOf(profitText) },
    open: exit === entry || OPEN.test(exit.fill.signal),
  }
}

function fillOf(cells: readonly string[], columns: Columns): ExportedFill | null {
  const date = wallOf(cells[columns.date] ?? '')
  const text = cells[columns.price] ?? ''
  const price = numberOf(text)
  if (!date || Number.isNaN(price)) return null
  return { ...date, price, digits: digitsOf(text), signal: (cells[columns.signal] ?? '').trim() }
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** `2025-03-31 17:45`, `2025-03-31`, `31.03.2025 17:45`, `Mar 31, 2025, 17:45`, `2025/03/31 5:45 PM`, or an instant. */
export function wallOf(text: string): { wall: number; dateOnly: boolean } | null {
  const clock = /(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([ap]\.?m\.?)?/i.exec(text)
  const date =
    /(\d{4})[-/.年년]\s*(\d{1,2})[-/.月월]\s*(\d{1,2})/.exec(text) ??
    swap(/(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})/.exec(text)) ??
    named(text)
  if (!date) return null
  const [year, month, day] = [Number(date[1]), Number(date[2]), Number(date[3])]
  if (month < 1 || month > 12 || day < 1 || day > 31) return null
  let hour = clock ? Number(clock[1]) : 0
  const half = clock?.[4]?.toLowerCase()
  if (half?.startsWith('p') && hour < 12) hour += 12
  if (half?.startsWith('a') && hour === 12) hour = 0
  const wall = Date.UTC(year, month - 1, day, hour, clock ? Number(clock[2]) : 0, Number(clock?.[3] ?? 0))
  return { wall, dateOnly: clock === null }
}

/** The day comes first in all formats with numbers only; the month is first only if the day could not be a month. */
function swap(match: RegExpExecArray | null): string[] | null {
  if (!match) return null
  const [first, second] = [Number(match[1]), Number(match[2])]
  return second > 12
    ? ['', match[3]!, String(first), String(second)]
    : ['', match[3]!, String(second), String(first)]
}

function named(text: string): string[] | null {
  const match = /([a-z]{3})[a-z]*\.?\s+(\d{1,2}),?\s+(\d{4})/i.exec(text)
  const month = match ? MONTHS.indexOf(match[1]!.toLowerCase()) + 1 : 0
  return match && month > 0 ? ['', match[3]!, String(month), match[2]!] : null
}

/** `1,234.5`, `1 234,5`, `−0.4`, `12.5 USD`; NaN if there is no number. */
export function numberOf(text: string): number {
  let digits = text.replace(/[−–]/g, '-').replace(/[\s\u00A0\u202F']/g, '')
  const match = /[-+]?[\d.,]+(?:e[-+]?\d+)?/i.exec(digits)
  if (!match) return NaN
  digits = match[0]
  const comma = digits.lastIndexOf(',')
  const point = digits.lastIndexOf('.')
  if (comma >= 0 && point >= 0)
    digits = comma > point ? digits.replaceAll('.', '').replace(',', '.') : digits.replaceAll(',', '')
  else if (comma >= 0)
    digits = /^[-+]?\d{1,3}(,\d{3}){2,}$/.test(digits) ? digits.replaceAll(',', '') : digits.replace(',', '.')
  return Number(digits)
}

/** Digits behind the decimal mark as shown. */
export function digitsOf(text: string): number {
  const match = /[.,](\d+)\D*$/.exec(text.trim())
  return match ? match[1]!.length : 0
}
