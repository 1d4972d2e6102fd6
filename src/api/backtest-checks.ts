// Two questions about a finished backtest: does it come out the same today, and does TradingView agree.

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { COMPARED_FIELDS } from '../backtest/compare.ts'
import { Problem } from '../lib/problem.ts'
import { access, type ApiDeps } from './access.ts'
import { bodyBytes } from './body.ts'
import { JsonText } from './json-text.ts'
import { doc, nullable, oneOf, Text, Time, Raw } from './schemas.ts'

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

const compareBody: object = Type.Object({ csv: Raw(CSV_BYTES), timezone: Type.Optional(nullable(Text(60))) })

export function backtestCheckRoutes(deps: ApiDeps) {
  const { runs, bars } = deps
  const { texts } = deps.rooms
  return new Elysia({ prefix: '/api/platform/backtests', tags: ['Backtests'], normalize: false })
    .use(access(deps))
    .post(
      '/:id/verify',
      async ({ caller, params: { id }, request, server }) => {
        server?.timeout(request, 0)
        return { id, verification: { ...(await runs.verify(caller.user.id, id, request.signal)) } }
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
      async ({ caller, params: { id }, request, visit }) => {
        const run = runs.get(caller.user.id, id)
        const report = runs.report(caller.user.id, id)
        if (report === null) throw new Problem(409, 'conflict', 'The backtest is not done: it has no report.')
        const job = {
          body: await bodyBytes(request, CSV_BYTES),
          bars: runs.barsOf(caller.user.id, id),
          exchangeTimezone: bars.symbol(run.exchange, run.symbol, caller.user.id).timezone,
        }
        const { comparison, warnings, unknown } = await texts.compare(
          caller.user.id,
          job,
          { report: report.parts },
          request.signal,
        )
        visit.unknownFields.push(...unknown)
        return {
          id,
          comparison: new JsonText(comparison),
          ...(warnings.length > 0 && { warnings }),
        }
      },
      {
        // Up to 32 MiB of one text, which are not looked into here.
        access: { to: 'session backtests:read', streams: true },
        detail: {
          ...doc(
            "Compare with TradingView's list of trades",
            { id: Type.String(), comparison: Comparison },
            'The CSV as it was exported, in any language; its time zone is detected unless it is given. At most 32 MiB.',
          ),
          requestBody: { required: true, content: { 'application/json': { schema: compareBody } } },
        },
      },
    )
}
