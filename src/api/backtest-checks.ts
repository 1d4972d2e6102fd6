// Two questions about a finished backtest: does it come out the same today, and does TradingView agree.

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { COMPARED_FIELDS, compareTrades } from '../backtest/compare.ts'
import { compareReports } from '../backtest/report/difference.ts'
import type { Report } from '../backtest/report/report.ts'
import { parseTradeList } from '../backtest/trade-csv.ts'
import { invalidField, Problem } from '../lib/problem.ts'
import { zoneOf } from '../market/zone.ts'
import { access, type ApiDeps } from './access.ts'
import { doc, nullable, oneOf, Text, Time } from './schemas.ts'

const CSV_BYTES = 32 * 1024 * 1024

const Verification = Type.Object(
  {
    equal: Type.Boolean(),
    hash: Type.String(),
    difference: nullable(Type.String()),
    ranOnOther: Type.Boolean(),
  },
  { $id: 'Verification' },
)
const cell = Type.Union([Type.String(), Type.Number(), Type.Null()])
const comparedTrade = {
  n: Type.Integer(),
  agrees: Type.Boolean(),
  differences: Type.Array(
    Type.Object({ field: oneOf([...COMPARED_FIELDS, 'missing', 'extra']), expected: cell, found: cell }),
  ),
}
const Comparison = Type.Object(
  {
    timezone: Type.String(),
    timezoneDetected: Type.Boolean(),
    expected: Type.Integer(),
    found: Type.Integer(),
    exact: Type.Integer(),
    firstDivergence: nullable(Type.Object({ ...comparedTrade, bar: Type.Integer(), time: Time })),
    trades: Type.Array(Type.Object(comparedTrade)),
  },
  { $id: 'Comparison' },
)

export function backtestCheckRoutes(deps: ApiDeps) {
  const { runs, bars } = deps
  const storedReport = (userId: string, id: string): Report => {
    const text = runs.report(userId, id)
    if (text === null) throw new Problem(409, 'conflict', 'The backtest is not done: it has no report.')
    return JSON.parse(text) as Report
  }
  return new Elysia({ prefix: '/api/platform/backtests', tags: ['Backtests'], normalize: false })
    .use(access(deps))
    .post(
      '/:id/verify',
      async ({ caller, params: { id }, request, server }) => {
        server?.timeout(request, 0)
        const stored = storedReport(caller.user.id, id)
        const again = await runs.again(caller.user.id, id, request.signal)
        const verification = compareReports(stored, JSON.parse(again.report) as Report)
        // The hash covers all that the numbers come from: script, inputs, bars, symbol, settings, engine.
        const ranOnOther = verification.hash !== stored.hash
        return { id, verification: { ...verification, ranOnOther } }
      },
      {
        access: { to: 'session backtests:read', rate: 'backtests' },
        detail: doc(
          'Run a backtest again and compare every byte',
          { id: Type.String(), verification: Verification },
          '`difference` is where the reports differ first. `ranOnOther`: bars, symbol or engine are not what they were, so other numbers prove nothing.',
        ),
      },
    )
    .post(
      '/:id/compare',
      ({ caller, params: { id }, body }) => {
        const report = storedReport(caller.user.id, id)
        const timezone = body.timezone ?? null
        if (timezone !== null && zoneOf(timezone) === null)
          throw invalidField(
            '/timezone',
            'timezone',
            'Expected a time zone such as America/New_York or UTC+8.',
          )
        const { trades, problems } = parseTradeList(body.csv)
        if (trades.length === 0)
          throw invalidField(
            '/csv',
            'no_trades',
            problems[0]
              ? `Row ${problems[0].row}: ${problems[0].message}`
              : 'No trade was found in it. Export the "List of trades" as CSV.',
          )
        const { timezone: exchangeTimezone } = bars.symbol(report.exchange, report.symbol, caller.user.id)
        const comparison = compareTrades(trades, report.trades, runs.barsOf(caller.user.id, id), {
          mintick: report.mintick,
          timezone,
          exchangeTimezone,
        })
        const warnings = problems
          .slice(0, 20)
          .map(({ row, message }) => ({ code: 'unreadable_row', message: `Row ${row}: ${message}` }))
        return { id, comparison, ...(warnings.length > 0 && { warnings }) }
      },
      {
        access: { to: 'session backtests:read', bodyBytes: CSV_BYTES },
        body: Type.Object({ csv: Text(CSV_BYTES), timezone: Type.Optional(nullable(Text(60))) }),
        detail: doc(
          "Compare with TradingView's list of trades",
          { id: Type.String(), comparison: Comparison },
          'The CSV as it was exported, in any language; its time zone is detected unless it is given.',
        ),
      },
    )
}
