// Portfolios: several scripts, each on a market, that trade with the same money.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { Report } from './report.ts'
import { Track } from './track.ts'
import {
  asksDay,
  hasDay,
  hasError,
  hasScript,
  idOf,
  Listed,
  nullable,
  oneOf,
  PageQuery,
  Raw,
  Setting,
  Text,
  Time,
  type Wire,
} from './schema.ts'
import { JOB_STATES } from './job-state.ts'

const number = (description: string) => Type.Number({ description })
const maybe = (description: string) => nullable(Type.Number({ description }))

const Part = {
  name: Text(200),
  symbol: Text(64),
  interval: Text(16),
  exchange: Text(64),
  bars: Type.Integer({ minimum: 1, maximum: 2_000_000 }),
}

const Priority = Type.Integer({
  minimum: 1,
  maximum: 100,
  description: 'The highest goes first where the money does not do for all, and is called for margin last.',
})

const PartBody = Type.Object({
  ...Part,
  source: Raw(1 << 20),
  inputs: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  overrides: Type.Optional(Type.Record(Type.String(), Setting)),
  priority: Type.Optional(Priority),
})

const PortfolioBody = Type.Object({
  name: Text(200),
  capital: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1e15,
      description: 'What all of them begin with; the initial capital of the first part if not given.',
    }),
  ),
  currency: Type.Optional(
    Type.String({
      pattern: '^[A-Z]{3,5}$',
      description: 'Of the account; that of the first part if not given.',
    }),
  ),
  ...asksDay,
  parts: Type.Array(PartBody, { minItems: 1, maxItems: 20 }),
})
export type PortfolioBody = Wire<typeof PortfolioBody>

const Portfolio = Type.Object(
  {
    id: idOf('pf'),
    name: Type.String(),
    state: oneOf(JOB_STATES),
    createdAt: Time,
    startedAt: nullable(Time),
    finishedAt: nullable(Time),
    capital: nullable(Type.Number({ description: 'Null until it has run, where none was given.' })),
    currency: nullable(Type.String()),
    ...hasDay,
    parts: Type.Array(
      Type.Object({
        name: Type.String(),
        symbol: Type.String(),
        exchange: Type.String(),
        interval: Type.String(),
        bars: Type.Integer(),
        priority: Priority,
        ...hasScript,
      }),
    ),
    netProfit: nullable(Type.Number()),
    maxDrawdownPct: nullable(Type.Number()),
    ...hasError,
  },
  { $id: 'Portfolio' },
)
export type Portfolio = Wire<typeof Portfolio>

const Money = {
  netProfit: number('Of closed trades.'),
  openProfit: number('Of the trades that are open at the end.'),
  grossProfit: Type.Number(),
  grossLoss: number('As a positive amount.'),
  commissionPaid: Type.Number(),
  profitFactor: maybe('Gross profit over gross loss; null where nothing was lost.'),
  trades: Type.Integer({ description: 'That are closed.' }),
  winningTrades: Type.Integer(),
  losingTrades: Type.Integer(),
  winRate: maybe('A fraction; null without trades.'),
  marginCalls: Type.Integer(),
  maxDrawdown: number('The deepest fall of what it had earned, at the closes of bars.'),
}

const PartResult = Type.Object({
  ...Money,
  contribution: maybe('Its share in the profit of all, open profit included; null where that is 0.'),
  risk: maybe(
    'Its share in the ups and downs of the whole: the covariance of its changes with those of the whole, over their variance. All shares add up to 1; one below 0 steadies the whole. Null where nothing varies.',
  ),
  correlation: maybe(
    'Of its changes with those of all others together; null where one of the two does not vary.',
  ),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What its report warns of; missing in results of before they were told.',
    }),
  ),
})

const PortfolioResult = Type.Object(
  {
    capital: Type.Number(),
    currency: Type.String(),
    range: Type.Object({ from: nullable(Time), to: nullable(Time), bars: Type.Integer() }),
    whole: Type.Object({
      ...Money,
      final: number('Equity at the end.'),
      netProfitPct: number('A fraction of the capital.'),
      maxDrawdownPct: number('A fraction of the peak.'),
      sharpe: maybe(
        'As in a report: of the months’ realised profit, or of the days’ where there are few months.',
      ),
      sortino: maybe('As in a report.'),
      cagr: maybe('Growth a year; a fraction.'),
      marginPeakPct: number('The largest part of equity that was bound as margin, at the closes of bars.'),
    }),
    parts: Type.Array(PartResult, { description: 'In the order of the request.' }),
    correlation: Type.Array(Type.Array(maybe('From -1 to 1; null where one of the two does not vary.')), {
      description:
        'Of the parts’ changes with one another, from one `period` to the next: days, or bars where there are fewer than thirty days.',
    }),
    /** The period that changes are measured over: days, or bars if there are fewer than thirty days. */
    period: oneOf(['day', 'bar']),
    months: Type.Array(
      Type.Object({
        month: Type.String(),
        profit: Type.Number(),
        profitPct: Type.Number(),
        trades: Type.Integer(),
      }),
    ),
    curve: Type.Object(
      {
        time: Type.Array(Time),
        equity: Type.Array(Type.Number()),
        parts: Type.Array(Type.Array(Type.Number()), { description: 'What each has earned by then.' }),
      },
      { description: 'At the closes of bars, thinned to 1,000 points at most; figures are of all bars.' },
    ),
  },
  { $id: 'PortfolioResult' },
)
export type PortfolioResult = Wire<typeof PortfolioResult>

export const PORTFOLIOS = {
  'POST /api/platform/portfolios': {
    access: 'session backtests:write',
    summary: 'Run several strategies with one pot of money',
    description:
      'Answers at once; follow it at `/events`. Up to twenty parts, each a script on a market, trade with the same `capital`: what one earns or binds as margin the others can or cannot spend. Bars are run in the order in which they close; of those that close at once the highest `priority` goes first, then who is named first. An order is refused where the equity, less the margin that the other parts hold, does not cover it; where equity no longer covers the margin of all, the part of the lowest priority is called first. `strategy.equity` in every script is the whole’s; position, trades and `strategy.netprofit` stay each part’s own. A part does not override `initial_capital` or `currency`: these are the portfolio’s. Two million bars at most, of all parts together. With one part everything is as in a backtest of its own. One portfolio of a user runs at a time; twenty may wait, and a hundred are kept.',
    body: PortfolioBody,
    answer: { id: idOf('pf'), portfolio: Portfolio },
  },
  'GET /api/platform/portfolios': {
    access: 'session backtests:read',
    summary: 'List portfolios, newest first',
    description: 'Without sources and inputs.',
    query: PageQuery,
    answer: Listed('portfolios', Portfolio),
  },
  'GET /api/platform/portfolios/{id}': {
    access: 'session backtests:read',
    summary: 'One portfolio with its result',
    description:
      '`result` is null while it runs: figures of the whole and of each part, what each contributes to profit and risk, how their changes go together, and equity. Figures of the parts add up to those of the whole.',
    answer: { portfolio: Portfolio, result: nullable(PortfolioResult) },
  },
  'GET /api/platform/portfolios/{id}/parts/{part}': {
    access: 'session backtests:read',
    summary: 'The report of one part of a portfolio',
    description:
      'As of a backtest, with its trades; `part` counts from 0. Initial capital and percentages of it are those of the whole portfolio.',
    answer: { report: Report },
  },
  'GET /api/platform/portfolios/{id}/parts/{part}/tracks': {
    access: 'session backtests:read',
    summary: 'The chart of one part of a portfolio',
    description:
      'As of a backtest: its plots, orders, markers and equity over its bars. 404 where the charts of all parts would have been more than one answer may be.',
    answer: { tracks: Type.Array(Track) },
  },
  'GET /api/platform/portfolios/{id}/equity.csv': {
    access: 'session backtests:read',
    summary: 'The equity of a portfolio as CSV',
    description:
      'A row for each point of `curve`: time, equity of the whole, and what each part had earned by then.',
  },
  'GET /api/platform/portfolios/{id}/parts.csv': {
    access: 'session backtests:read',
    summary: 'What each part of a portfolio did, as CSV',
    description:
      'A row a part: its figures, what it contributed to profit and risk, and its correlation with the others; the last row is the whole.',
  },
  'GET /api/platform/portfolios/{id}/trades.csv': {
    access: 'session backtests:read',
    summary: 'The trades of a portfolio as CSV',
    description: 'Of all parts, part by part in the order they closed; amounts are in its currency.',
  },
  'POST /api/platform/portfolios/{id}/cancel': {
    access: 'session backtests:write',
    summary: 'Stop a portfolio',
    description: 'Nothing of it is kept but what was asked for. One that is over stays as it is.',
    answer: { id: idOf('pf'), portfolio: Portfolio },
  },
  'DELETE /api/platform/portfolios/{id}': {
    access: 'session backtests:write',
    summary: 'Stop and remove a portfolio',
    description: 'With its result and the reports of its parts.',
    answer: { id: idOf('pf'), deleted: Type.Boolean() },
  },
  'GET /api/platform/portfolios/{id}/events': {
    access: 'session backtests:read',
    summary: 'Follow a portfolio',
    description:
      'Server-sent events: `progress` with `state`, `bar` and `bars` of all parts together, then `end` with `portfolio`.',
  },
} as const satisfies OperationTable
