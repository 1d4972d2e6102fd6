// TradingView's list of trades against a report. The request's body comes as bytes: it may be 32 MiB of one text.

import { compareTrades } from '../backtest/compare.ts'
import type { Report } from '../wire/report.ts'
import { parseTradeList } from '../backtest/trade-csv.ts'
import { jsonExcess } from '../lib/json-bounds.ts'
import { invalidField, Problem } from '../lib/problem.ts'
import { zoneOf } from '../market/zone.ts'
import type { CompareJob, CompareOutput } from './job.ts'
import { storedValue } from './stored-text.ts'
import type { Desk } from './worker-loop.ts'

const FIELDS: readonly string[] = ['csv', 'timezone']
const ZONE_CHARACTERS = 60
/** The body is an object of two texts. */
const BOUNDS = { depth: 8, values: 1000 }
const WARNINGS_MAX = 20

export async function compareJob(
  { body, bars, exchangeTimezone }: CompareJob,
  { host }: Desk,
): Promise<CompareOutput> {
  const fields = fieldsOf(body)
  // The bytes, and the text they were, are as large as what was made of them.
  Bun.gc(true)
  const csv = textOf(fields, 'csv', 1, Infinity)
  const timezone = fields['timezone'] == null ? null : textOf(fields, 'timezone', 1, ZONE_CHARACTERS)
  if (timezone !== null && zoneOf(timezone) === null)
    throw invalidField('/timezone', 'timezone', 'Expected a time zone such as America/New_York or UTC+8.')
  const { trades, problems } = parseTradeList(csv)
  if (trades.length === 0)
    throw invalidField(
      '/csv',
      'no_trades',
      problems[0]
        ? `Row ${problems[0].row}: ${problems[0].message}`
        : 'No trade was found in it. Export the "List of trades" as CSV.',
    )
  const report = (await storedValue(host, 'report')) as Report
  const comparison = compareTrades(trades, report.trades, bars, {
    mintick: report.mintick,
    timezone,
    exchangeTimezone,
  })
  const warnings = problems
    .slice(0, WARNINGS_MAX)
    .map(({ row, message }) => ({ code: 'unreadable_row', message: `Row ${row}: ${message}` }))
  const unknown = Object.keys(fields).filter((name) => !FIELDS.includes(name))
  return { comparison: JSON.stringify(comparison), warnings, unknown: unknown.map((name) => `/${name}`) }
}

function fieldsOf(body: readonly Uint8Array[]): Readonly<Record<string, unknown>> {
  const bytes = body.length === 1 && body[0] ? body[0] : Buffer.concat(body)
  const excess = jsonExcess(bytes, BOUNDS)
  if (excess !== null) throw new Problem(400, 'malformed_json', `The body ${excess}`)
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    const what = error instanceof SyntaxError ? 'valid JSON' : 'UTF-8'
    throw new Problem(400, 'malformed_json', `The body is not ${what}.`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Problem(400, 'body_not_object', 'The body must be a JSON object.')
  return value as Record<string, unknown>
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
    throw invalidField(`/${name}`, 'min_length', 'expected a text, found an empty string')
  if (value.length > most) throw invalidField(`/${name}`, 'max_length', `expected at most ${most} characters`)
  if (!value.isWellFormed()) throw new Problem(400, 'malformed_json', 'A text has half of a surrogate pair.')
  return value
}
