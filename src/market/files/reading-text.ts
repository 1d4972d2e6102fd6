// Says in words how files were read, for the command line and the page.

import type { DialectTold } from './dialect/dialect.ts'
import type { FileReading } from './stage-files.ts'
import type { TimeUnit } from './time-format.ts'

const DELIMITERS: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
}
const FORMATS: Readonly<Record<FileReading['format'], string>> = {
  csv: 'CSV',
  json: 'JSON',
  parquet: 'Parquet',
  arrow: 'Arrow',
}
const LETTERS = { 'utf-16le': 'UTF-16', 'utf-16be': 'UTF-16', 'windows-1252': 'Windows-1252' } as const
const UNITS: Readonly<Record<TimeUnit, string>> = {
  s: 'seconds',
  ms: 'milliseconds',
  us: 'microseconds',
  ns: 'nanoseconds',
}
const ORDERS = { ymd: 'year, month, day', dmy: 'day, month, year', mdy: 'month, day, year' } as const

/** All of it in one sentence. */
export function readingText(file: FileReading): string {
  const phrases = file.dialect ? dialectPhrases(file.dialect) : []
  return `${formatText(file)}${phrases.length > 0 ? `: ${phrases.join('; ')}` : ''}.`
}

/** `CSV as Binance writes it, in a zip`. */
function formatText({ format, dialect, packing, kind, encoding }: FileReading): string {
  const of = kind === 'bars' ? '' : ` of ${kind}`
  const by = dialect?.origin ? ` as ${dialect.origin} writes it` : ''
  const letters = encoding ? `, in the letters of ${LETTERS[encoding]}` : ''
  const inside = packing.length > 0 ? `, packed as ${packing.join(' in ')}` : ''
  return `${FORMATS[format]}${of}${by}${letters}${inside}`
}

/** What was found out about the text of a file, a phrase each. */
function dialectPhrases(dialect: DialectTold): string[] {
  const { delimiter, decimal, header, columns, unused } = dialect
  const text = [
    `columns separated by ${DELIMITERS[delimiter] ?? delimiter}`,
    decimal === ',' ? 'decimal commas' : 'decimal points',
    header > 0 ? `names in line ${header}` : 'no line with names',
  ]
  return [
    // Tables have columns without any text between them.
    ...(delimiter === '' ? [] : text),
    timesText(dialect),
    columnsText(columns),
    unusedText(unused),
  ].filter((phrase) => phrase !== '')
}

function timesText({ times, unit, timezone, zoneBy, order, origin }: DialectTold): string {
  if (times === 'epoch') return `times in ${unit ? UNITS[unit] : 'numbers'} since 1970, UTC`
  const days = origin === 'Excel' ? 'day numbers' : null
  if (times === 'date' && days) return `times as ${days}, each a session of the symbol`
  if (times === 'date') return `dates as ${ORDERS[order]}, each a session of the symbol`
  const written = `times as ${days ?? `${ORDERS[order]} and clock`}`
  const why: Readonly<Record<DialectTold['zoneBy'], string>> = {
    offsets: ', with the zone',
    file: ` in ${timezone}, as the file says`,
    format: ` in ${timezone}, as ${origin ?? 'the program'} writes them`,
    user: ` in ${timezone}, as you say`,
    assumed: ` in ${timezone}, which the file does not say`,
  }
  return written + why[zoneBy]
}

const UNUSED_SHOWN = 12

function unusedText(names: readonly string[]): string {
  if (names.length === 0) return ''
  const more = names.length - UNUSED_SHOWN
  return `not used: ${names.slice(0, UNUSED_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function columnsText(columns: DialectTold['columns']): string {
  return Object.entries(columns)
    .map(([role, name]) =>
      /^\d+$/.test(name)
        ? `${role} in column ${name}`
        : name.toLowerCase() === role
          ? role
          : `${role} from ${name}`,
    )
    .join(', ')
}
