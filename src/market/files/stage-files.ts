// From the bytes of a file, whatever it is, to bars on a stage, with a report of how it was read.
//
// Content decides, not a name: an archive is opened, and each file in it is recognised by its first bytes. Several files of
// one series are read one after the other, each in its own dialect; files of different series are refused.

import { joinedBytes } from '../../lib/bytes.ts'
import { Problem } from '../../lib/problem.ts'
import type { BarStage } from '../bar-stage.ts'
import { calendarOf } from '../calendar.ts'
import { parseInterval } from '../interval.ts'
import { stageJson } from '../json-bars.ts'
import type { SymbolInfo } from '../symbol.ts'
import { readCsv, type RowSink } from './csv.ts'
import {
  type Dialect,
  type DialectTold,
  hasSides,
  type Hints,
  type RowKind,
  toldOf,
} from './dialect/dialect.ts'
import { badHint } from './dialect/refusals.ts'
import type { FileFormat } from './file-format.ts'
import { seriesTold, wordsOf } from './file-market.ts'
import { arrowTable, isArrow } from './arrow.ts'
import { parquetTable, slicesOf, wholeOf } from './parquet.ts'
import { readTable, type Table, timesOf } from './table.ts'
import { TradeBars, VolumeBars } from './trade-bars.ts'
import { type NamedFile, type Packing, unpacked, UNPACKED_MAX } from './unpack.ts'

/** As `TextDecoder` names them: MetaTrader's programs write UTF-16, and Excel on a German Windows the other. */
type Encoding = 'utf-16le' | 'utf-16be' | 'windows-1252'

/** How one file was read. */
export interface FileReading {
  readonly name: string
  readonly packing: readonly Packing[]
  readonly format: FileFormat
  readonly kind: RowKind
  /** How its text is written, where that is not UTF-8. */
  readonly encoding?: Encoding
  /** What it says of itself, if it is CSV. */
  readonly dialect: DialectTold | null
  readonly rows: number
}

export interface FileOptions {
  /** Its sessions are what dates without a time of day mean. */
  readonly symbol: SymbolInfo
  /** What trades are made into. */
  readonly interval: string
  readonly hints: Hints
  /** A number; undefined: bars of the interval are made of trades. */
  readonly volumePerBar: string | undefined
  /** The input may end anywhere: only the beginning of the file is there. */
  readonly isPart: boolean
  /** All files are said to be of this format. */
  readonly format?: FileFormat | undefined
  readonly progress?: ((bytes: number) => void) | undefined
  /**
   * There are others whose files are read in turn with these: what gives nobody a turn, and may never come back, is not read
   * here but answered as it is. Told of all bytes that are kept for it.
   */
  readonly aside?: ((bytes: number) => void | Promise<void>) | undefined
}

/** Files whose readings are told one by one; those of further ones are like them. */
const READINGS_MAX = 50

/** A file that was taken out of what it is packed in, to be read where it can hold up nobody. */
export interface FileAside {
  readonly name: string
  readonly packing: readonly Packing[]
  readonly whole: SharedArrayBuffer
}

/** All files of an import are to be read elsewhere. */
export class SetAside extends Error {
  readonly files: readonly FileAside[]

  constructor(files: readonly FileAside[]) {
    super('these files are read elsewhere')
    this.files = files
  }
}

/** Files that were set aside, where they are read. */
export function filesAside(files: readonly FileAside[]): NamedFile[] {
  return files.map(({ name, packing, whole }) => ({
    name,
    packing,
    bytes: (async function* () {
      yield new Uint8Array(whole)
    })(),
    slices: slicesOf(whole),
  }))
}

/** What all files together were read as. */
export interface Reading {
  readonly files: readonly FileReading[]
  readonly fileCount: number
  /** Of all files. */
  readonly rows: number
  readonly skipped: number
  /** Two files whose names may be of different series, where nobody can know; null if there are none. */
  readonly doubt: readonly [string, string] | null
  /** The first file whose bars are dated by their end. */
  readonly ends: Pick<Dialect, 'origin' | 'byEnd'> | null
}

/** Reads rows into the stage. Throws Problem 422 if a file is none that anybody could read, or `SetAside`. */
export async function stageFiles(
  files: AsyncIterable<NamedFile> | Iterable<NamedFile>,
  stage: BarStage,
  options: FileOptions,
): Promise<Reading> {
  const readings: FileReading[] = []
  let fileCount = 0
  let rows = 0
  let skipped = 0
  let first: Told | null = null
  let worded: string | null = null
  let doubt: Reading['doubt'] = null
  let ends: Reading['ends'] = null
  const tickers = new Set<string>()
  let bytes = 0
  let contents = 0
  const counted = counting((size) => options.progress?.((bytes += size)))
  const bounded = counting((size) => {
    contents += size
    if (contents > UNPACKED_MAX)
      throw unreadable(null, `the archive holds more than ${UNPACKED_MAX / 2 ** 30} GiB`)
  })
  const asides: FileAside[] = []
  const made: BarsUnderWay = { of: null }
  for await (const packed of files)
    for await (const file of unpacked({ ...packed, bytes: counted(packed.bytes) }, options)) {
      stage.enter(file.name)
      const isOneOf = file.packing.includes('zip') || (Array.isArray(files) && files.length > 1)
      const reads = stageFile({ ...file, bytes: bounded(file.bytes) }, stage, { ...options, made })
      const read = await (isOneOf ? reads.catch((error) => passedOver(error, file.name)) : reads)
      if (read === null) continue
      if ('whole' in read) {
        asides.push(read)
        continue
      }
      const { skipped: empty, ticker = null, byEnd = null, ...reading } = read
      if (stage.full) break
      if (ticker !== null) tickers.add(ticker)
      if (tickers.size > 1) throw severalTickers(tickers)
      if (first) requireSame(first, reading)
      first ??= reading
      if (byEnd !== null) ends ??= { origin: reading.dialect?.origin ?? null, byEnd }
      const words = seriesTold(file.name) === null ? wordsOf(file.name) : ''
      if (words !== '') worded ??= file.name
      if (words !== '' && worded !== null && wordsOf(worded) !== words) doubt ??= [worded, file.name]
      fileCount++
      rows += reading.rows
      skipped += empty
      if (readings.length < READINGS_MAX) readings.push(reading)
    }
  made.of?.end()
  if (asides.length > 0 && fileCount === 0) throw new SetAside(asides)
  if (asides.length > 0)
    throw unreadable(null, 'some files are Parquet and some are not; import them one by one')
  if (options.hints.ticker !== undefined && rows === 0 && stage.errors.length === 0)
    throw unreadable(null, `no row is of ${options.hints.ticker.slice(0, 40)}`)
  if (fileCount === 0 && stage.errors.length === 0)
    throw unreadable(null, 'there are no files with rows in the archive')
  return { files: readings, fileCount, rows, skipped, doubt, ends }
}

type Told = Pick<FileReading, 'name' | 'kind'>

/** Files of one archive or folder are of one series. */
function requireSame(first: Told, other: Told): void {
  if (first.kind !== other.kind)
    throw unreadable(
      null,
      `some files are of ${first.kind} and some of ${other.kind}; import them one by one`,
    )
  const [a, b] = [seriesTold(first.name), seriesTold(other.name)]
  if (a !== null && b !== null && a !== b)
    throw unreadable(
      null,
      `the files are of different series, by their names ${a} and ${b}; import them one by one`,
    )
}

function severalTickers(tickers: ReadonlySet<string>): Problem {
  const names = [...tickers].map((ticker) => ticker.slice(0, 100)).join(' and ')
  return unreadable(null, `the files are of different symbols, ${names}; import them one by one`)
}

/** What makes bars of trades, over all files; null before the first. */
interface BarsUnderWay {
  of: TradeBars | VolumeBars | null
}

interface OneFileOptions extends FileOptions {
  readonly made: BarsUnderWay
}

interface StagedFile extends FileReading {
  readonly skipped: number
  readonly ticker?: string | null
  readonly byEnd?: number | null
}

async function stageFile(
  file: NamedFile,
  stage: BarStage,
  options: OneFileOptions,
): Promise<FileAside | StagedFile> {
  const head = await headOf(file.bytes)
  const { name, packing } = file
  const isTable = isParquet(head.first) || isArrow(head.first)
  if (!isTable) refuseForeign(file, head.first)
  const encoding = isTable ? null : encodingOf(head.first)
  const input = encoding === null ? head.all : inUtf8(encoding, head.all)
  const written = encoding === null ? {} : { encoding }
  const rowsBefore = stage.added
  if (
    options.format === 'json' ||
    /^[\s\uFEFF]*[[{]/.test(new TextDecoder().decode(head.first.subarray(0, 100)))
  ) {
    if (options.hints.columns !== undefined)
      throw unreadable(null, 'columns can be said of CSV, Parquet and Arrow, and not of JSON')
    const { meaning, told } = timesOf({ name: '', time: 'text' }, options.symbol, options.hints)
    const { symbol, hints } = options
    const read = await stageJson(texts(input), stage, calendarOf(symbol), meaning.zone, hints.ticker)
    return {
      name,
      packing,
      format: 'json',
      kind: 'bars',
      ...written,
      dialect: read.isLocal ? { ...told, columns: {}, unused: [] } : null,
      rows: stage.added - rowsBefore,
      skipped: read.skipped,
    }
  }
  if (isParquet(head.first) && options.aside)
    return { name, packing, whole: await wholeOf(head.all, options.aside) }
  if (isParquet(head.first))
    return { name, packing, format: 'parquet', ...(await stageParquet(file, head.all, stage, options)) }
  if (isArrow(head.first)) {
    return {
      name,
      packing,
      format: 'arrow',
      ...(await stageTable(await arrowTable(head.all, options), stage, options)),
    }
  }
  return { name, packing, format: 'csv', ...written, ...(await stageCsv(input, name, stage, options)) }
}

function isParquet(first: Uint8Array): boolean {
  return first[0] === 0x50 && first[1] === 0x41 && first[2] === 0x52 && first[3] === 0x31
}

async function stageParquet(
  { slices }: NamedFile,
  bytes: AsyncGenerator<Uint8Array>,
  stage: BarStage,
  options: OneFileOptions,
) {
  if (slices) await bytes.return(undefined)
  return stageTable(await parquetTable(slices ?? slicesOf(await wholeOf(bytes))), stage, options)
}

async function stageTable(table: Table, stage: BarStage, options: OneFileOptions) {
  const { symbol, hints } = options
  const before = stage.added
  const rows = new SinkOf(stage, options)
  const dialect = await readTable(table, {
    symbol,
    hints,
    begin: (kind, hasSides) => rows.begin(kind, hasSides),
    between: () => stage.spill(),
  })
  return { dialect, ...rows.end(stage.added - before) }
}

/** Bars go to the stage as they are; of trades and quotes bars are made. */
class SinkOf {
  readonly #stage: BarStage
  readonly #options: OneFileOptions
  readonly #volumePerBar: number | null
  readonly #bars: BarRows
  #trades: TradeBars | VolumeBars | null = null
  #before = { count: 0, skipped: 0 }
  #kind: RowKind = 'bars'

  constructor(stage: BarStage, options: OneFileOptions) {
    this.#stage = stage
    this.#options = options
    this.#volumePerBar = volumeOf(options.volumePerBar)
    this.#bars = new BarRows(stage)
  }

  /** `hasSides`: the rows may tell what was bought. */
  begin(kind: RowKind, hasSides: boolean): RowSink {
    this.#kind = kind
    if (hasSides) this.#stage.expectSides()
    const volumePerBar = this.#volumePerBar
    if (volumePerBar !== null && kind !== 'trades')
      throw unreadable(null, 'volumePerBar needs a file of trades, with price and quantity of each')
    if (kind === 'bars') return this.#bars
    const interval = parseInterval(this.#options.interval)
    if (!interval) throw unreadable(null, 'trades need an interval to be made into bars of')
    const { made, symbol } = this.#options
    const trades = (made.of ??=
      volumePerBar === null
        ? new TradeBars(this.#stage, calendarOf(symbol), interval, kind)
        : new VolumeBars(this.#stage, volumePerBar))
    this.#before = { count: trades.count, skipped: trades.skipped }
    return (this.#trades = trades)
  }

  /** `added` rows proved to be bars. */
  end(added: number): Pick<FileReading, 'kind' | 'rows'> & { readonly skipped: number } {
    this.#trades?.leave()
    const { count, skipped } = this.#trades ?? { count: added, skipped: this.#bars.skipped }
    return { kind: this.#kind, rows: count - this.#before.count, skipped: skipped - this.#before.skipped }
  }
}

async function stageCsv(
  input: AsyncIterable<Uint8Array>,
  name: string,
  stage: BarStage,
  options: OneFileOptions,
) {
  const { symbol, hints, isPart } = options
  const before = stage.added
  const rows = new SinkOf(stage, options)
  const told: DialectTold[] = []
  let byEnd: number | null = null
  const ticker = await readCsv(
    input,
    {
      calendar: calendarOf(symbol),
      hints,
      fileName: name,
      begin(dialect) {
        told.push(toldOf(dialect))
        byEnd = dialect.byEnd
        return rows.begin(dialect.kind, hasSides(dialect))
      },
      between: () => stage.spill(),
    },
    { isPart },
  )
  return { dialect: told[0] ?? null, ticker, byEnd, ...rows.end(stage.added - before) }
}

/** Throws Problem 422. */
function volumeOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const volume = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (volume > 0 && Number.isFinite(volume)) return volume
  throw badHint('volumePerBar', 'must be a number greater than 0, such as 1000')
}

class BarRows implements RowSink {
  readonly #stage: BarStage
  skipped = 0

  constructor(stage: BarStage) {
    this.#stage = stage
  }

  get full(): boolean {
    return this.#stage.full
  }

  add(row: number, values: Float64Array): void {
    this.#stage.addFrom(row, values)
  }

  fail(row: number, message: string): void {
    this.#stage.fail(row, message)
  }

  skip(): void {
    this.skipped++
  }
}

/** The first bytes, and all of them. */
async function headOf(bytes: AsyncIterable<Uint8Array>) {
  const source = bytes[Symbol.asyncIterator]()
  const chunks: Uint8Array[] = []
  for (let size = 0; size < 4096;) {
    const { done, value } = await source.next()
    if (done) break
    chunks.push(value)
    size += value.length
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks.splice(0)
      for (let next = await source.next(); !next.done; next = await source.next()) yield next.value
    } finally {
      await source.return?.()
    }
  }
  return { first: joinedBytes(chunks).subarray(0, 65_536), all: all() }
}

/** What people send by mistake, named so that they see it. */
function refuseForeign({ name }: NamedFile, first: Uint8Array): void {
  const text = new TextDecoder('latin1').decode(first.subarray(0, 512))
  if (/(?:^|\/)\[Content_Types\]\.xml$/.test(name))
    throw unreadable(null, 'this is a workbook; save its sheet as CSV')
  if (/^\s*(?:<!doctype html|<html)/i.test(text))
    throw unreadable(
      name,
      'this is a web page instead of a table; the download was refused, or needs a sign-in',
    )
  if (text.startsWith('DBN'))
    throw unreadable(
      name,
      'this is DBN; ask Databento for CSV, or write it as CSV or Parquet by its own library',
    )
  const isWide = (first[0] === 0xff && first[1] === 0xfe) || (first[0] === 0xfe && first[1] === 0xff)
  if (!isWide && first.subarray(0, 4096).includes(0)) throw unreadable(name, 'this is no text')
}

/** Null for UTF-8. The names of columns, which alone have other letters, stand in the first bytes. */
function encodingOf(first: Uint8Array): Encoding | null {
  if (first[0] === 0xff && first[1] === 0xfe) return 'utf-16le'
  if (first[0] === 0xfe && first[1] === 0xff) return 'utf-16be'
  try {
    // These may end within a letter.
    new TextDecoder('utf-8', { fatal: true }).decode(first, { stream: true })
    return null
  } catch {
    return 'windows-1252'
  }
}

async function* inUtf8(encoding: Encoding, all: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding)
  const encoder = new TextEncoder()
  for await (const chunk of all) yield encoder.encode(decoder.decode(chunk, { stream: true }))
}

async function* texts(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const chunk of input) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

function counting(tell: (size: number) => void) {
  return async function* (input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of input) {
      tell(chunk.length)
      yield chunk
    }
  }
}

/** HistData's report of gaps, which lies beside its rows, is no data. Of other files the one that nobody could read is named. */
function passedOver(error: unknown, name: string): null {
  if (!(error instanceof Problem)) throw error
  const { status, code, message, details } = error
  const isUnread = message.includes('imported: row ')
  if (isUnread && /(?:^|\/)DAT_[A-Z]+_[^/]+\.txt$/i.test(name)) return null
  if (!isUnread) throw error
  throw new Problem(
    status,
    code,
    message.replace('row ', () => `${titleOf(name)}row `),
    details,
  )
}

const titleOf = (name: string) => `${(name.split('/').at(-1) ?? '').slice(0, 100)}: `

function unreadable(name: string | null, message: string): Problem {
  const of = name ? titleOf(name) : ''
  return new Problem(422, 'validation_failed', `Nothing was imported: ${of}${message}.`, {
    fields: [{ in: 'body', path: '/rows/1', code: 'invalid_bar', message }],
  })
}
