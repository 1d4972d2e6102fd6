// Compares TradingView's export with a report. The request's body comes as bytes, since it may be one text of 32 MiB.

import { compareTrades } from '../../broker/compare.ts'
import { heldAgainst, untilOf } from '../../broker/exported/held.ts'
import { plotsHeld } from '../../broker/exported/plots.ts'
import { isChartExport } from '../../market/files/chart-export.ts'
import { readExport, type TesterExport } from '../../broker/exported/read-export.ts'
import type { Bars } from '../../market/bars.ts'
import type { Report } from '../../wire/report.ts'
import type { Track } from '../../wire/track.ts'
import { parseTradeList, type ExportedList } from '../../broker/exported/trade-list.ts'
import { jsonExcess } from '../../lib/json-bounds.ts'
import { invalidField, Problem } from '../../lib/problem.ts'
import { zoneOf } from '../../market/zone.ts'
import type { CompareJob, CompareOutput } from './job.ts'
import { storedValue } from './stored-text.ts'
import type { Desk } from './desk.ts'

const FIELDS: readonly string[] = ['csv', 'xlsx', 'timezone']
const ZONE_CHARACTERS = 60
/** The body is an object of texts. */
const BOUNDS = { depth: 8, values: 1000 }
const WARNINGS_MAX = 20
/** TradingView itself keeps 9,000. */
const EXPLAINED_MAX = 20_000

export async function compareJob(
  { body, bars, exchangeTimezone }: CompareJob,
  { host }: Desk,
): Promise<CompareOutput> {
  const fields = fieldsOf(body)
  Bun.gc(true)
  const { csv } = fields
  if (typeof csv === 'string' && isChartExport(csv)) return chartCompared(csv, bars, host)
  const { list, tester, at } = await exportIn(fields)
  const timezone = fields['timezone'] == null ? null : textOf(fields, 'timezone', 1, ZONE_CHARACTERS)
  if (timezone !== null && zoneOf(timezone) === null)
    throw invalidField('/timezone', 'timezone', 'Expected a time zone such as America/New_York or UTC+8.')
  const { trades, problems, lost } = list
  if (trades.length === 0)
    throw invalidField(
      at,
      'no_trades',
      problems[0]
        ? `Row ${problems[0].row}: ${problems[0].message}`
        : 'No trade was found in it. Export the "List of trades" as CSV, or the whole report as XLSX.',
    )
  const report = (await storedValue(host, 'report')) as Report
  const comparison = compareTrades(trades, report.trades, bars, {
    mintick: report.mintick,
    timezone,
    exchangeTimezone,
    until: tester ? untilOf(tester) : undefined,
    lost: lost.trades,
  })
  const zone = zoneOf(comparison.timezone)
  const held = tester && zone && heldAgainst(tester, report, bars, zone)
  const unknown = Object.keys(fields).filter((name) => !FIELDS.includes(name))
  const { exact, expected, found, unreadable } = comparison
  // Trades of the run without a partner may be those that could not be read.
  const isWhole = exact === expected - unreadable && found >= exact && found <= expected
  const isExplained = !isWhole && trades.length <= EXPLAINED_MAX
  return {
    comparison: JSON.stringify(comparison),
    exported: isExplained ? JSON.stringify(trades) : '',
    lost: unreadable,
    timezone,
    settings: JSON.stringify(held?.settings ?? null),
    figures: JSON.stringify(held?.figures ?? null),
    warnings: warningsOf(list),
    unknown: unknown.map((name) => `/${name}`),
  }
}

/** A chart has no trades: its plots are figures, one a column. */
async function chartCompared(csv: string, bars: Bars, host: Desk['host']): Promise<CompareOutput> {
  const tracks = (await storedValue(host, 'tracks')) as readonly Track[]
  const held = plotsHeld(csv, tracks, bars)
  if (held.bars === 0)
    throw invalidField(
      '/csv',
      'no_bars',
      'No row of it is at the time of a bar of this run. Run the script on the same market, interval and range.',
    )
  if (held.figures.length === 0)
    throw invalidField(
      '/csv',
      'no_plots',
      `No column of it is called as a plot of this run: it has ${held.unknown.map((name) => `"${name.slice(0, 60)}"`).join(', ') || 'bars alone'}.`,
    )
  const message = (name: string) =>
    `No plot of this run is called "${name.slice(0, 60)}": that column is left out.`
  return {
    comparison: JSON.stringify(compareTrades([], [], bars, { mintick: 1, timezone: 'UTC' })),
    exported: '',
    lost: 0,
    timezone: null,
    settings: 'null',
    figures: JSON.stringify(held.figures),
    warnings: held.unknown
      .slice(0, WARNINGS_MAX)
      .map((name) => ({ code: 'unknown_heading', message: message(name) })),
    unknown: [],
  }
}

interface AskedExport {
  readonly list: ExportedList
  /** null for a CSV, which has a list alone. */
  readonly tester: TesterExport | null
  /** The field that it came in. */
  readonly at: '/csv' | '/xlsx'
}

async function exportIn(fields: Readonly<Record<string, unknown>>): Promise<AskedExport> {
  if (fields['xlsx'] === undefined)
    return { list: parseTradeList(textOf(fields, 'csv', 1, Infinity)), tester: null, at: '/csv' }
  const at = '/xlsx'
  if (fields['csv'] !== undefined) throw invalidField(at, 'either', 'comes instead of csv: send one of both')
  const base64 = textOf(fields, 'xlsx', 1, Infinity)
  let bytes: Uint8Array
  try {
    bytes = Uint8Array.fromBase64(base64)
  } catch {
    throw invalidField(at, 'base64', 'expected the file in base64')
  }
  const tester = await readExport(bytes).catch((error: unknown) => {
    throw error instanceof Problem ? invalidField(at, 'unreadable', error.message) : error
  })
  return { list: tester.list, tester, at }
}

function warningsOf({ problems, lost, unknown }: ExportedList): { code: string; message: string }[] {
  const headings = unknown.map((heading) => ({
    code: 'unknown_heading',
    message: `The heading "${heading.slice(0, 60)}" is not understood: its column is left out.`,
  }))
  const rows = problems.map(({ row, message }) => ({
    code: 'unreadable_row',
    message: `Row ${row}: ${message}`,
  }))
  const shown = [...headings, ...rows].slice(0, WARNINGS_MAX)
  const rest = headings.length + lost.rows - shown.length
  if (rest > 0)
    shown.push({ code: 'unreadable_row', message: `${rest.toLocaleString('en')} more could not be read.` })
  return shown
}

/**
 * Reads the body's fields, and empties `body` on the way. Its parts, their joined bytes, the text and the parsed value are
 * all of the same size, a hundred megabytes together for a large body, so each is released as soon as the next but one is
 * made.
 */
function fieldsOf(body: Uint8Array[]): Readonly<Record<string, unknown>> {
  const text = jsonText(body)
  Bun.gc(true)
  const value = valueOf(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Problem(400, 'body_not_object', 'The body must be a JSON object.')
  return value as Record<string, unknown>
}

function jsonText(body: Uint8Array[]): string {
  const bytes = body.length === 1 && body[0] ? body[0] : Buffer.concat(body)
  body.length = 0
  Bun.gc(true)
  const excess = jsonExcess(bytes, BOUNDS)
  if (excess !== null) throw new Problem(400, 'malformed_json', `The body ${excess}`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Problem(400, 'malformed_json', 'The body is not UTF-8.')
  }
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem(400, 'malformed_json', 'The body is not valid JSON.')
  }
}

function textOf(
  fields: Readonly<Record<string, unknown>>,
  name: string,
  least: number,
  most: number,
): string {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (value === undefined) throw invalidField(`/${name}`, 'required', 'is required: expected a string')
  if (typeof value !== 'string') throw invalidField(`/${name}`, 'type', 'expected a string')
  if (value.length < least)
    throw invalidField(
      `/${name}`,
      'min_length',
      name === 'timezone' ? 'Name a time zone, or leave it away.' : 'The file is empty.',
    )
  if (value.length > most) throw invalidField(`/${name}`, 'max_length', `expected at most ${most} characters`)
  if (!value.isWellFormed()) throw new Problem(400, 'malformed_json', 'A text has half of a surrogate pair.')
  return value
}
