// Moving in: files that TradingView lets somebody export, each told by what is in it, and what is made of each.
//
// Watchlists, scripts, and alerts on a price become the same here. Of the rest it is said where it can be used, or why not.
// Bars are left to who takes them: they are looked at before anything is stored.

import { csvRows, delimiterOf } from '../../lib/csv-rows.ts'
import { normalizeInterval } from '../interval.ts'
import { filesOfZip, isZip, type SmallFile } from './small-zip.ts'
import { isWatchlist, parseWatchlist } from './watchlist-text.ts'

/** A request that makes something, as the API takes it. */
export interface MakingAsk {
  readonly operation:
    'POST /api/platform/watchlists/import' | 'POST /api/platform/scripts' | 'POST /api/platform/alerts'
  readonly body: Readonly<Record<string, unknown>>
  /** It is made paused. */
  readonly paused?: boolean
  readonly name: string
}

export interface FoundFile {
  readonly name: string
  readonly kind: 'watchlist' | 'script' | 'alerts' | 'log of alerts' | 'bars' | 'list of trades' | 'unknown'
  readonly asks: readonly MakingAsk[]
  /** What of it cannot come, and why. */
  readonly left: readonly string[]
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** A line of the report. */
export interface MovedFile extends Pick<FoundFile, 'name' | 'kind' | 'left'> {
  /** The names of what was made. */
  readonly came: readonly string[]
}

/** What is sent whole as text; what is larger is bars. */
const TEXT_MAX = 8 << 20
const SCRIPT_MAX = 1 << 20
const LEFT_MAX = 50

/** Files as they were given, with those of archives in place of these. */
export async function foundFiles(files: readonly SmallFile[]): Promise<FoundFile[]> {
  const found: FoundFile[] = []
  for (const file of files) {
    if (!isZip(file.bytes)) {
      found.push(foundFile(file))
      continue
    }
    try {
      const inner = await filesOfZip(file.bytes)
      const isWorkbook = inner.some(({ name }) => name === 'xl/workbook.xml')
      if (isWorkbook) found.push({ ...file, kind: 'list of trades', asks: [], left: [TRADES] })
      else if (inner.length > 0) found.push(...inner.map(foundFile))
      else found.push(unknown(file, 'The archive is empty.'))
    } catch (error) {
      // One of bars may be larger than what is read here.
      found.push(unknown(file, error instanceof Error ? error.message : String(error)))
    }
  }
  return found
}

const TRADES =
  'A list of trades is held against a run: run the script on its market here, open the run, and choose Compare.'

const unknown = (file: SmallFile, why: string): FoundFile => ({
  ...file,
  kind: 'unknown',
  asks: [],
  left: [why],
})

function foundFile(file: SmallFile): FoundFile {
  const { name, bytes } = file
  if (isZip(bytes)) return unknown(file, 'It is an archive within an archive. Unpack the outer one.')
  const text = textOf(bytes)
  if (text === null) return { ...file, kind: 'bars', asks: [], left: [] }
  if (text.trim() === '') return unknown(file, 'It is empty.')
  if (/\.pine$/i.test(name) || SCRIPT.test(text)) return script(file, text)
  const delimiter = delimiterOf(text)
  const [header] = csvRows(text.slice(0, 4096).split(/\r?\n/, 1)[0] ?? '', delimiter)
  const columns = (header?.cells ?? []).map((cell) => cell.trim().toLowerCase())
  if (columns.includes('ticker') && columns.some((one) => CONDITION.includes(one)))
    return alerts(file, text, delimiter, columns)
  if (/^trade (?:#|number)$/.test(columns[0] ?? ''))
    return { ...file, kind: 'list of trades', asks: [], left: [TRADES] }
  if (isWatchlist(text)) return watchlist(file, text)
  return { ...file, kind: 'bars', asks: [], left: [] }
}

/** null if it is no text, or more than lists and scripts are. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.length > TEXT_MAX) return null
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe
  try {
    const text = new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}

const SCRIPT = /^\s*\/\/\s*@version\s*=\s*\d|^(?:indicator|strategy|library|study)\s*\(/m
const TITLE = /^(?:indicator|strategy|library|study)\s*\(\s*(?:title\s*=\s*)?(["'])(.{1,200}?)\1/m

const baseName = (name: string) =>
  name
    .replace(/^.*[/\\]/, '')
    .replace(/\.[^.]*$/, '')
    .trim()
    .slice(0, 200)

function script(file: SmallFile, source: string): FoundFile {
  if (file.bytes.length > SCRIPT_MAX) return unknown(file, 'It is larger than a script may be (1 MB).')
  const name = TITLE.exec(source)?.[2]?.trim() || baseName(file.name) || 'Script'
  return {
    ...file,
    kind: 'script',
    asks: [{ operation: 'POST /api/platform/scripts', body: { name, source }, name }],
    left: [],
  }
}

function watchlist(file: SmallFile, text: string): FoundFile {
  const { rows, problem } = parseWatchlist(text)
  if (problem !== null) return unknown(file, problem)
  const name = baseName(file.name) || 'Watchlist'
  const items = rows.map(({ symbol, exchange, note }) => ({ symbol, exchange, note }))
  const ask: MakingAsk = { operation: 'POST /api/platform/watchlists/import', body: { name, items }, name }
  return { ...file, kind: 'watchlist', asks: [ask], left: [] }
}

const CONDITION: readonly string[] = ['description', 'condition', 'message']
const OPERATORS: Readonly<Record<string, string>> = {
  crossing: 'crossing',
  'crossing up': 'crossing_up',
  'crossing down': 'crossing_down',
  'greater than': 'above',
  'less than': 'below',
  'entering channel': 'entering_channel',
  'exiting channel': 'exiting_channel',
  'inside channel': 'inside_channel',
  'outside channel': 'outside_channel',
}
/** `AAPL Crossing Up 150.00`, `Entering Channel 100 and 110`: what TradingView writes itself, and nothing behind it. */
const PRICE_CONDITION =
  /^(?:\S{1,60}(?:, ?\w{1,6})?\s+)?(crossing(?: up| down)?|greater than|less than|(?:entering|exiting|inside|outside) channel)\s+([\d.,]+)(?:\s*(?:and|to|;|–|-)\s*([\d.,]+))?\.?$/i

/** A log has a row for each time that an alert fired, so each of its alerts is taken once. */
function alerts(file: SmallFile, text: string, delimiter: string, columns: readonly string[]): FoundFile {
  const at = (...names: readonly string[]) => columns.findIndex((column) => names.includes(column))
  const [id, ticker, title, said] = [at('alert id', 'id'), at('ticker'), at('name'), at(...CONDITION)]
  const isLog = at('time') >= 0
  const asks = new Map<string, MakingAsk>()
  const left = new Map<string, string>()
  for (const { cells, row } of [...csvRows(text, delimiter)].slice(1)) {
    const cell = (column: number) => (cells[column] ?? '').trim()
    const key = id >= 0 && cell(id) !== '' ? cell(id) : `${cell(ticker)} ${cell(said)}`
    if (asks.has(key) || left.has(key)) continue
    const called = cell(title) || cell(said).slice(0, 80)
    const made = priceAlert(cell(ticker), cell(said), cell(title))
    if (made === null) left.set(key, `Row ${row}, “${called}”: ${WHY}`)
    else asks.set(key, { operation: 'POST /api/platform/alerts', body: made, paused: isLog, name: called })
  }
  const [reasons, more] = [[...left.values()], Math.max(0, left.size - LEFT_MAX)]
  return {
    ...file,
    kind: isLog ? 'log of alerts' : 'alerts',
    asks: [...asks.values()],
    left: [...reasons.slice(0, LEFT_MAX), ...(more > 0 ? [`${more} more alerts.`] : [])],
  }
}

const WHY =
  'its text names no price that it waits for. An alert on a script or an indicator is set anew: Add alert… in its menu.'

function priceAlert(ticker: string, said: string, name: string): Readonly<Record<string, unknown>> | null {
  const [, exchange = '', symbol = '', shown = ''] = /^([^:\s,]+):([^\s,]+)(?:,\s*(\w+))?$/.exec(ticker) ?? []
  const [, words = '', first, second] = PRICE_CONDITION.exec(said) ?? []
  const op = OPERATORS[words.toLowerCase().replace(/\s+/g, ' ')]
  const [price, price2] = [numberOf(first), numberOf(second)]
  if (symbol === '' || op === undefined || price === null) return null
  if (op.endsWith('channel') !== (price2 !== null)) return null
  return {
    name: name.slice(0, 200),
    exchange,
    symbol,
    // Where nothing tells, the level counts on any interval.
    interval: normalizeInterval(shown) ?? '1d',
    kind: 'price',
    op,
    price,
    ...(price2 !== null && { price2 }),
    channels: ['email'],
  }
}

function numberOf(text: string | undefined): number | null {
  const number = Number((text ?? '').replace(/,(?=\d{3}\b)/g, ''))
  return text === undefined || text === '' || !Number.isFinite(number) ? null : number
}

/** How what was found is made. Rejects with an error whose sentence is for the user. */
export interface Maker {
  /** Answers its id. What is asked for twice under one key is made once. */
  readonly make: (ask: MakingAsk, key: string) => Promise<string>
  readonly pause: (alertId: string) => Promise<unknown>
}

export async function moved({ name, kind, asks, left }: FoundFile, maker: Maker): Promise<MovedFile> {
  const came: string[] = []
  const refused: string[] = []
  for (const ask of asks)
    try {
      const id = await maker.make(ask, keyOf(ask))
      if (ask.paused) await maker.pause(id)
      came.push(ask.name)
    } catch (error) {
      refused.push(`${ask.name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  return { name, kind, came, left: [...left, ...refused] }
}

/** The same for the same content, so that files that are given again within a day are made once. */
function keyOf({ operation, body }: MakingAsk): string {
  let [a, b] = [0x811c9dc5, 0x01000193]
  for (const char of `${operation} ${JSON.stringify(body)}`) {
    const code = char.codePointAt(0) ?? 0
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x85ebca6b) ^ (b >>> 13)
  }
  return `move-in ${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}`
}

const NOUNS = {
  watchlist: 'watchlist',
  script: 'script',
  alerts: 'alert',
  'log of alerts': 'alert, made paused',
} as const

/** What came of a file, in a line. */
export function cameText({ kind, came }: Pick<MovedFile, 'kind' | 'came'>): string {
  if (came.length === 0) return ''
  const noun = kind in NOUNS ? NOUNS[kind as keyof typeof NOUNS] : kind
  if (came.length === 1) return `${noun}: ${came[0]}`
  return `${came.length} ${noun.replace('alert', 'alerts')}: ${came.slice(0, 5).join(', ')}${came.length > 5 ? ' …' : ''}`
}
