// Reads the cases of a manifest: a JSON file, beside scripts, bars and TradingView's results.
//
//     { "origin": "https://…", "licence": "MIT", "cases": [{
//         "id": "my-strategy", "script": "my.pine", "bars": "bars.csv", "interval": "1h",
//         "symbol": { "symbol": "BINANCE:BTCUSDT", "mintick": 0.01, "timezone": "UTC", "session": "24x7" },
//         "trades": "list.csv", "zone": "America/New_York" }] }
//
// `trades` is TradingView's own export of the list of trades; `values` is a CSV with a column for each plot. Paths are
// relative to the manifest. A case that expects nothing proves nothing, so it is reported and left out.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { compareTrades } from '../../broker/compare.ts'
import { COMPARED_FIELDS } from '../../wire/backtest.ts'
import { parseTradeList, type ExportedTrade } from '../../broker/exported/trade-list.ts'
import { dayRefusal } from '../../language/behaviour.ts'
import { Problem } from '../../lib/problem.ts'
import { lowerBound, sliceBars, type Bars } from '../../market/bars.ts'
import { normalizeInterval } from '../../market/interval.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import type { ReportTrade } from '../../wire/report.ts'
import { oneOf } from '../../wire/schema.ts'
import { checkColumns, type ParityCase, requestFor, symbolOf, type CaseVerdict } from './case.ts'
import { readBars, rowsOf } from './files.ts'

const maybe = <S extends TSchema>(schema: S) => Type.Optional(schema)
const exact = { additionalProperties: false }
const Scalar = Type.Union([Type.Number(), Type.String(), Type.Boolean()])

/** `symbol` is EXCHANGE:TICKER; missing facts are those of a crypto market. */
const Facts = Type.Object(
  {
    symbol: Type.String({ pattern: '^[^:]+:.+$' }),
    type: maybe(Type.String()),
    currency: maybe(Type.String()),
    basecurrency: maybe(Type.String()),
    mintick: maybe(Type.Number({ exclusiveMinimum: 0 })),
    pricescale: maybe(Type.Number()),
    minmove: maybe(Type.Number()),
    pointvalue: maybe(Type.Number()),
    mincontract: maybe(Type.Number()),
    timezone: maybe(Type.String()),
    session: maybe(Type.String()),
    volumetype: maybe(Type.String()),
  },
  exact,
)
const Feed = Type.Object({ symbol: Facts, interval: Type.String(), bars: Type.String() }, exact)
const Range = Type.Object({ from: maybe(Type.String()), to: maybe(Type.String()) }, exact)

const Case = Type.Object(
  {
    id: Type.String({ minLength: 1 }),
    script: Type.String(),
    bars: Type.String(),
    interval: Type.String(),
    symbol: Facts,
    inputs: maybe(Type.Record(Type.String(), Scalar)),
    overrides: maybe(Type.Record(Type.String(), Scalar)),
    /** The day on which TradingView was asked; default: before the first change that is known. */
    asOf: maybe(Type.String()),
    /** Finer bars of the symbol, for the bar magnifier. */
    finer: maybe(Type.Object({ interval: Type.String(), bars: Type.String() }, exact)),
    /** Other series that the script requests. */
    feeds: maybe(Type.Array(Feed)),
    /** The bars that TradingView had; earlier and later ones are not run. */
    window: maybe(Range),
    /** Only trades entered from, and left until, these times are judged. */
    judged: maybe(Range),
    trades: maybe(Type.String()),
    values: maybe(Type.String()),
    /** Which columns of `values` count and how close they have to be; default: all, to 1e-8. */
    columns: maybe(
      Type.Record(
        Type.String(),
        Type.Object({
          tolerance: maybe(Type.Object({ rel: maybe(Type.Number()), abs: maybe(Type.Number()) })),
        }),
      ),
    ),
    /** The wall clock of the exported list; default: it is inferred. */
    zone: maybe(Type.String()),
    /** The fields of a trade that count; default: all. */
    fields: maybe(Type.Array(oneOf(COMPARED_FIELDS))),
    origin: maybe(Type.String()),
    licence: maybe(Type.String()),
  },
  exact,
)
type Case = Static<typeof Case>

const Manifest = Type.Object(
  {
    /** Where the material comes from and under which licence, unless a case says otherwise. */
    origin: maybe(Type.String()),
    licence: maybe(Type.String()),
    cases: Type.Array(Case, { minItems: 1 }),
  },
  exact,
)

/** Throws a Problem that names the field, or the missing file. `left` is called with each case that expects nothing. */
export function manifestCases(file: string, left: (line: string) => void): ParityCase[] {
  const manifest = readManifest(file)
  const folder = dirname(file)
  return manifest.cases.flatMap((one, at) => {
    const where = `cases/${at} (${one.id})`
    for (const [field, text] of [
      ['origin', one.origin ?? manifest.origin],
      ['licence', one.licence ?? manifest.licence],
    ] as const)
      if (text === undefined) throw refused(`${where}: say its ${field}, or one for the whole manifest.`)
    const found = caseOf(one, (path) => {
      const whole = join(folder, path)
      if (!existsSync(whole)) throw refused(`${where}: there is no file ${path}.`)
      return whole
    })
    if (typeof found !== 'string') return [found]
    left(`– ${one.id}: ${found}; it does not count`)
    return []
  })
}

function readManifest(file: string): Static<typeof Manifest> {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw refused(`The manifest is no JSON: ${error instanceof Error ? error.message : String(error)}.`)
  }
  const wrong = Value.Errors(Manifest, value).First()
  if (wrong) throw refused(`The manifest at ${wrong.path || '/'}: ${wrong.message}.`)
  return value as Static<typeof Manifest>
}

const refused = (message: string) => new Problem(422, 'validation_failed', message)

type Find = (path: string) => string

/** Answers why a case proves nothing if it does not. */
function caseOf(one: Case, find: Find): ParityCase | string {
  if ((one.trades === undefined) === (one.values === undefined))
    throw refused(`${one.id}: name either \`trades\` or \`values\`.`)
  const symbol = symbolOf(one.symbol)
  const bars = within(readBars(find(one.bars)), one.window)
  const check = one.trades === undefined ? valuesCheck(one, find) : tradesCheck(one, find, bars, symbol)
  if (typeof check === 'string') return check
  const refusal = one.asOf === undefined ? null : dayRefusal(one.asOf, Infinity)
  if (refusal !== null) throw refused(`${one.id}: asOf: ${refusal}`)
  const base = requestFor(readFileSync(find(one.script), 'utf8'), bars, symbol, one.interval)
  const feeds = (one.feeds ?? []).map((feed) => ({
    symbol: symbolOf(feed.symbol),
    interval: normalizeInterval(feed.interval) ?? feed.interval,
    bars: readBars(find(feed.bars)),
  }))
  return {
    suite: 'manifest',
    id: one.id,
    request: {
      ...base,
      inputs: one.inputs ?? {},
      overrides: one.overrides ?? {},
      asOf: one.asOf,
      finer: one.finer
        ? {
            interval: normalizeInterval(one.finer.interval) ?? one.finer.interval,
            bars: within(readBars(find(one.finer.bars)), one.window),
          }
        : null,
      series: (exchange, name, interval) =>
        feeds.find(
          (feed) =>
            feed.symbol.symbol === name &&
            (exchange === '' || feed.symbol.exchange === exchange) &&
            feed.interval === interval,
        ) ?? base.series(exchange, name, interval),
    },
    check,
  }
}

type Check = ParityCase['check']

function valuesCheck(one: Case, find: Find): Check | string {
  const rows = rowsOf(find(one.values ?? ''))
  const names = Object.keys(rows[0] ?? {}).filter((name) => name !== 'time')
  const columns = one.columns ?? Object.fromEntries(names.map((name) => [name, {}]))
  if (rows.length === 0 || Object.keys(columns).length === 0) return 'it expects no values'
  return ({ plots }) => checkColumns(columns, rows, plots)
}

function tradesCheck(one: Case, find: Find, bars: Bars, symbol: SymbolInfo): Check | string {
  const { trades: list, problems } = parseTradeList(readFileSync(find(one.trades ?? ''), 'utf8'))
  if (!list.some(({ open }) => !open))
    return problems[0] ? `its list cannot be read (${problems[0].message})` : 'its list has no closed trade'
  const judged = judgedBy(one.judged)
  return ({ trades }) => verdictOf(list, trades.filter(judged), bars, symbol, one)
}

function verdictOf(
  list: readonly ExportedTrade[],
  trades: readonly ReportTrade[],
  bars: Bars,
  symbol: SymbolInfo,
  { zone, fields }: Case,
): CaseVerdict {
  const comparison = compareTrades(list, trades, bars, {
    timezone: zone ?? null,
    exchangeTimezone: symbol.timezone,
    mintick: symbol.mintick,
    ...(fields && { fields }),
  })
  const { firstDivergence: first, exact, expected, found } = comparison
  return {
    exact,
    total: Math.max(expected, found),
    first:
      first &&
      `trade ${first.n} (bar ${first.bar}, ${new Date(first.time).toISOString()}): ${first.differences
        .map((one) => `${one.field} ${one.expected} expected, ${one.found} found`)
        .join('; ')}`,
  }
}

function judgedBy(range: Case['judged']): (trade: ReportTrade) => boolean {
  const from = momentOf(range?.from, -Infinity)
  const to = momentOf(range?.to, Infinity)
  return ({ entryTime, exitTime }) => entryTime >= from && (exitTime ?? entryTime) <= to
}

function within(bars: Bars, range: Case['window']): Bars {
  const from = lowerBound(bars.time, momentOf(range?.from, -Infinity))
  return sliceBars(bars, from, lowerBound(bars.time, momentOf(range?.to, Infinity)))
}

function momentOf(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw refused(`${text} is no ISO 8601 date.`)
  return time
}
