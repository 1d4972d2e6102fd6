// `chartroom bars import`: files and folders of bars, whatever wrote them. What was found out about them is said before
// anything is stored; `--dry-run` says no more than that.

import { createReadStream, type Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Problem } from '../lib/problem.ts'
import { DUPLICATES } from '../market/bar-stage.ts'
import { seriesName, type SeriesKey } from '../market/bar-store.ts'
import { BAR_FIELDS } from '../market/bars.ts'
import { marketTold } from '../market/files/file-market.ts'
import type { FileFormat } from '../market/files/file-format.ts'
import { readingText } from '../market/files/reading-text.ts'
import { isWanted, type NamedFile } from '../market/files/unpack.ts'
import {
  importBars,
  type ImportResult,
  inspectBars,
  type ReadFiles,
  stageNamed,
  type ReadHints,
  type StageBars,
} from '../market/import.ts'
import { ChartTap, keepPlots } from '../people/charts/imported-charts.ts'
import { type CommandContext, parseArguments, UsageError, switched, valued } from './command.ts'
import { DATA_FLAGS, withData } from './data.ts'
import { tickerOf } from './script-bars.ts'
import { formatBytes, formatNumber, formatTime, progressBar, right, tableLines } from './table.ts'

export const FILE_FLAGS = {
  ...DATA_FLAGS,
  ...valued('exchange', 'symbol', 'interval', 'format', 'session', 'timezone', 'times-in', 'unit'),
  ...valued('dates', 'delimiter', 'decimal', 'duplicates', 'columns', 'ticker', 'dated'),
  ...valued('volume-per-bar'),
  ...switched('widen', 'dry-run'),
}

type KeyOf = (flags: {
  readonly exchange?: string | undefined
  readonly symbol?: string | undefined
  readonly interval?: string | undefined
}) => SeriesKey

/** `keyOf` reads the flags that name a series. */
export async function importFiles(context: CommandContext, keyOf: KeyOf): Promise<number> {
  const { flags, positionals } = parseArguments(context.args, FILE_FLAGS)
  if (positionals.length === 0) throw new UsageError('Name a file to import, or a folder.')
  const format = formatOf(flags.format)
  const files = await filesIn(positionals)
  const key = keyOf({ ...told(files), ...named(flags) })
  const duplicates = duplicatesOf(flags.duplicates, files.length)
  const { unit, dates, delimiter, decimal, columns, ticker, dated } = flags
  const volumePerBar = flags['volume-per-bar']
  const hints: ReadHints = {
    timesIn: flags['times-in'],
    unit,
    dates,
    delimiter,
    decimal,
    duplicates,
    columns,
    ticker,
    dated,
    widen: flags.widen === true ? 'true' : undefined,
    volumePerBar,
  }
  const tap = new ChartTap()
  const tapped = (file: DiskFile): NamedFile => {
    const { bytes, ...named } = opened(file)
    return { ...named, bytes: files.length === 1 ? tap.through(bytes) : bytes }
  }
  const all = files.reduce((sum, { size }) => sum + size, 0)
  let shown = 0
  const options = {
    format,
    hints,
    facts: { session: flags.session, timezone: flags.timezone },
    progress: (bytes: number) => {
      if (bytes - shown < 1 << 20) return
      shown = bytes
      context.progress?.(`${all > 0 ? `${progressBar(bytes / all)}  ` : ''}${formatBytes(bytes)}`)
    },
    stage: ((_, reading, open) => stageNamed(files.map(tapped), reading, open)) satisfies StageBars,
  }
  return withData(context, flags, async ({ bars, kv }) => {
    if (flags['dry-run'] === true) {
      const read = await inspectBars(bars, key, [], options).finally(() => context.progress?.(null))
      for (const line of [...readLines(read), ...sampleLines(read)]) context.print(line)
      for (const { message } of read.warnings) context.warn(`warning: ${message}`)
      return 0
    }
    const onRead = (read: ReadFiles) => {
      context.progress?.(null)
      for (const line of readLines(read)) context.print(line)
    }
    const result = await importBars(bars, key, [], { ...options, onRead }).finally(() =>
      context.progress?.(null),
    )
    for (const line of importLines(key, result)) context.print(line)
    for (const { message } of result.warnings) context.warn(`warning: ${message}`)
    const { plots, warnings } = await keepPlots({ ...context, kv }, key, tap, nameOf(files))
    if (plots.length > 0) context.print(`Its plots are kept with them: ${plots.join(', ')}.`)
    for (const { message } of warnings) context.warn(`warning: ${message}`)
    return 0
  })
}

/** Of the file that may be a chart. */
const nameOf = ([file]: readonly DiskFile[]) => (file && file.path !== '-' ? basename(file.path) : '')

function formatOf(text: string | undefined): FileFormat | undefined {
  if (text === undefined || text === 'csv' || text === 'json') return text
  throw new UsageError('--format is csv or json.')
}

interface DiskFile {
  /** '-' for standard input. */
  readonly path: string
  readonly size: number
}

/** The files that the arguments name, folders with all that is in them, in the order of their names. */
async function filesIn(paths: readonly string[]): Promise<DiskFile[]> {
  const found: DiskFile[] = []
  for (const path of paths) {
    if (path === '-') {
      found.push({ path, size: 0 })
      continue
    }
    const info = await stat(path).catch(() => null)
    if (!info) throw new UsageError(`There is no file ${path}.`)
    if (!info.isDirectory()) found.push({ path, size: info.size })
    else {
      const inside = await readdir(path, { recursive: true, withFileTypes: true })
      const names = inside.filter((one) => one.isFile() && isWanted(one.name)).map(fullName)
      for (const name of names.toSorted()) found.push({ path: name, size: (await stat(name)).size })
      if (names.length === 0) throw new UsageError(`There are no files in ${path}.`)
    }
  }
  return found
}

function fullName({ parentPath, name }: Dirent): string {
  return `${parentPath}/${name}`
}

/** A file as the import reads it; one with a CHECKSUM file beside it is checked against that. */
function opened({ path, size }: DiskFile): NamedFile {
  const bytes = path === '-' ? Bun.stdin.stream() : createReadStream(path, { highWaterMark: 1 << 20 })
  if (path === '-') return { name: '', bytes, packing: [] }
  const slice = (from: number, to?: number) => Bun.file(path).slice(from, to).arrayBuffer()
  return { name: path, bytes: summed(path, bytes), packing: [], slices: { size, slice } }
}

async function* summed(path: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const file = Bun.file(`${path}.CHECKSUM`)
  const expected = (await file.exists()) ? /\b[0-9a-f]{64}\b/i.exec(await file.text())?.[0] : undefined
  const hash = new Bun.CryptoHasher('sha256')
  for await (const chunk of bytes) {
    if (expected !== undefined) hash.update(chunk)
    yield chunk
  }
  if (expected !== undefined && hash.digest('hex') !== expected.toLowerCase())
    throw new Problem(
      422,
      'validation_failed',
      'Nothing was imported: a file does not agree with its CHECKSUM; download it again.',
    )
}

/** The series that the files' names tell. */
function told(files: readonly DiskFile[]) {
  const market = marketTold(files[0]?.path ?? '')
  return market
    ? {
        ...(market.exchange !== '' && { exchange: market.exchange }),
        symbol: market.symbol,
        interval: market.interval,
      }
    : {}
}

/** The flags that are given, with the exchange that may stand before the symbol. */
function named(flags: Parameters<KeyOf>[0]) {
  const { exchange, symbol } = tickerOf(flags)
  return {
    ...(exchange !== '' && { exchange }),
    ...(symbol !== '' && { symbol }),
    ...(flags.interval !== undefined && { interval: flags.interval }),
  }
}

/** Files of one series overlap now and then, and the later one knows better; within a file a second row is a mistake. */
function duplicatesOf(text: string | undefined, files: number): ReadHints['duplicates'] {
  if (text === undefined) return files > 1 ? 'last' : undefined
  const found = DUPLICATES.find((one) => one === text)
  if (found) return found
  throw new UsageError(`--duplicates is one of ${DUPLICATES.join(', ')}.`)
}

/** Files of which each gets a line. */
const FILES_SHOWN = 5

function readLines({ files, fileCount, findings }: ReadFiles): string[] {
  const shown = files.slice(0, FILES_SHOWN).map((file) => {
    const of = fileCount > 1 ? `${file.name.split('/').at(-1) ?? ''}: ` : ''
    return `Read ${of}${readingText(file)}`
  })
  const more = fileCount - shown.length
  return [
    ...shown,
    ...(more > 0 ? [`… and ${formatNumber(more, 0)} more ${more === 1 ? 'file' : 'files'}.`] : []),
    // A zone in doubt is among the warnings.
    ...findings.filter(({ kind }) => kind !== 'unknown_zone').map(findingLine),
  ]
}

function findingLine({ message, done, examples }: ReadFiles['findings'][number]): string {
  const places = examples
    .slice(0, 3)
    .map(({ time, text }) => `${formatTime(time)}${text === '' ? '' : `: ${text}`}`)
  return `- ${message}; ${done}${places.length > 0 ? ` (${places.join('; ')}${examples.length > 3 ? '; …' : ''})` : ''}.`
}

function sampleLines({ sample, count, first, last }: ReadFiles): string[] {
  const rows = Array.from({ length: sample.length }, (_, i) => [
    formatTime(sample.time[i] ?? 0),
    ...BAR_FIELDS.slice(1).map((field) => String(sample[field][i] ?? 0)),
  ])
  return [
    ...tableLines(['TIME (UTC)', ...['OPEN', 'HIGH', 'LOW', 'CLOSE', 'VOLUME'].map(right)], rows),
    `${barsText(count)} from ${formatTime(first)} to ${formatTime(last)} UTC. Nothing was stored.`,
  ]
}

/** `1 bar`, `2 bars`. */
export function barsText(count: number): string {
  return `${formatNumber(count, 0)} ${count === 1 ? 'bar' : 'bars'}`
}

function importLines(key: SeriesKey, { series, symbol, inserted, updated }: ImportResult): string[] {
  return [
    `${seriesName(key)}: ${barsText(inserted)} added, ${formatNumber(updated, 0)} replaced.`,
    `Now ${barsText(series.count)} from ${formatTime(series.first)} to ${formatTime(series.last)} UTC.`,
    `Tick ${symbol.mintick}, session ${symbol.session} ${symbol.timezone}, currency ${symbol.currency}.`,
  ]
}
