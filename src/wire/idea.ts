// Ideas, which their authors publish.

import { Type } from '@sinclair/typebox'
import { BarColumns } from './bars.ts'
import type { OperationTable } from './operation.ts'
import { Report, ReportTrade } from './report.ts'
import {
  idOf,
  IntervalName,
  Listed,
  MarketName,
  nullable,
  oneOf,
  PageQuery,
  Prose,
  Text,
  Time,
  type Wire,
} from './schema.ts'
import { Verdict } from './sweep.ts'
import { words } from '../lib/words.ts'

const Visibility = oneOf(['public', 'unlisted', 'private'])

const IdeaBody = Type.Object({
  title: Text(200),
  body: Prose(50_000, 0),
  tags: Type.Optional(Type.Array(Text(50), { maxItems: 20 })),
  visibility: Visibility,
  symbol: Type.Optional(nullable(MarketName)),
  exchange: Type.Optional(nullable(MarketName)),
  interval: Type.Optional(nullable(IntervalName)),
  backtestId: Type.Optional(nullable(idOf('bt'))),
})

const Idea = Type.Object(
  {
    id: idOf('idea'),
    title: Type.String(),
    body: Type.String(),
    tags: Type.Array(Type.String()),
    visibility: Visibility,
    author: Type.String(),
    mine: Type.Boolean(),
    symbol: nullable(Type.String()),
    exchange: nullable(Type.String()),
    interval: nullable(Type.String()),
    backtestId: nullable(Type.String()),
    snapshot: nullable(
      Type.Object(
        {
          publishedAt: Time,
          picture: Type.Boolean({ description: 'Whether it has a picture of the chart.' }),
        },
        { description: 'What is published of its backtest; null = nothing.' },
      ),
    ),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'Idea' },
)
export type Idea = Wire<typeof Idea>

const CurveColumn = Type.Array(nullable(Type.Number()))
/** What of a report is published as it is. */
export const PUBLISHED_FIELDS = words(
  'engine asOf hash symbol exchange interval currency timezone mintick pointvalue range',
  'initialCapital summary all long short equity',
) satisfies readonly (keyof Report)[]

const Proof = Type.Object(
  {
    isBest: Type.Boolean({ description: 'Whether the backtest is the best trial of the sweep.' }),
    objective: Type.String({ description: 'What was wanted as large as possible.' }),
    constraints: Type.Array(Type.String()),
    sampler: Type.String(),
    varied: Type.Integer({ description: 'How many inputs were varied; which, is not said.' }),
    filtered: Type.Integer({ description: 'Choices that were sorted out by the first bars.' }),
    range: Type.Object({ from: Time, to: Time, bars: Type.Integer() }),
    finishedAt: Time,
    verdict: Verdict,
  },
  {
    $id: 'Proof',
    description:
      'The verdict of the sweep that the backtest is a trial of, as this server worked it out: how many choices were tried, and what is left of the result when luck is taken away.',
  },
)

const Snapshot = Type.Object(
  {
    ...Type.Pick(Report, PUBLISHED_FIELDS).properties,
    script: Type.Pick(Report.properties.script, ['title', 'pineVersion', 'kind', 'declaration']),
    trades: Type.Array(ReportTrade, { description: 'The last 5,000.' }),
    tradeCount: Type.Integer({ description: 'How many trades there were.' }),
    curve: Type.Object(
      { time: Type.Array(Time), equity: CurveColumn, buyHold: CurveColumn, drawdown: CurveColumn },
      { description: 'Columns of at most some 4,000 moments, with every peak and trough of equity.' },
    ),
    bars: Type.Composite([BarColumns], { description: 'The last 20,000 bars it ran on.' }),
    barsFrom: Type.Integer({ description: 'Index of the first of these among all bars of the run.' }),
    proof: Type.Optional(nullable(Proof)),
  },
  { $id: 'Snapshot', description: 'What is published of a backtest: never source, inputs, logs or alerts.' },
)
export type Proof = Wire<typeof Proof>
export type Snapshot = Wire<typeof Snapshot>

/** Pixels; a link's picture is shown at half of it. */
export const PICTURE = { width: 2400, height: 1600, bytes: 1_500_000 } as const

export const IDEAS = {
  'POST /api/platform/ideas': {
    access: 'session ideas:write',
    summary: 'Publish an idea',
    body: IdeaBody,
    answer: { id: idOf('idea'), idea: Idea },
  },
  'GET /api/platform/ideas': {
    access: 'none ideas:read',
    summary: 'List ideas',
    description:
      "The caller's own, newest first; with feed=public, or when nobody is signed in, the public ones.",
    query: Type.Object({ ...PageQuery.properties, feed: Type.Optional(oneOf(['public', 'mine'])) }),
    answer: Listed('ideas', Idea),
  },
  'GET /api/platform/ideas/{id}': {
    access: 'none ideas:read',
    summary: 'One idea',
    description: 'A private one is only for its owner; an unlisted one for anybody who knows its id.',
    answer: { idea: Idea },
  },
  'PATCH /api/platform/ideas/{id}': {
    access: 'session ideas:write',
    summary: 'Change an idea',
    description:
      'A public idea that becomes unlisted gets a new `id`: those who knew the old one do not find it any more.',
    body: Type.Partial(IdeaBody),
    answer: { id: idOf('idea'), idea: Idea },
  },
  'DELETE /api/platform/ideas/{id}': {
    access: 'session ideas:write',
    summary: 'Delete an idea',
    answer: { id: idOf('idea') },
  },
  'PUT /api/platform/ideas/{id}/snapshot': {
    access: 'session ideas:write backtests:read',
    summary: "Publish the idea's backtest",
    description:
      'Everybody who may read the idea then sees what came out of its `backtestId`: figures, trades, curve and bars, as they are now. They stay when the backtest is deleted. Source, inputs, logs and alerts are never published. Publishing again takes the place of what was there. With `sweepId` the verdict of that sweep is published too: the backtest must be one of its trials, by script, market and inputs, on bars of which nine tenths are those of the sweep, or the answer is 409.',
    body: Type.Object({
      sweepId: Type.Optional(nullable(idOf('sw'))),
      picture: Type.Optional(
        nullable(
          Type.String({
            maxLength: Math.ceil(PICTURE.bytes / 3) * 4,
            pattern: '^[0-9A-Za-z+/]*={0,2}$',
            expected: 'a PNG as base64 of at most 1.5 MB',
            description: `A PNG as base64, at most ${PICTURE.width} × ${PICTURE.height}: what a link to the idea shows.`,
          }),
        ),
      ),
    }),
    answer: { idea: Idea },
  },
  'GET /api/platform/ideas/{id}/snapshot': {
    access: 'none ideas:read',
    summary: "What is published of an idea's backtest",
    description: 'For everybody who may read the idea.',
    answer: { snapshot: Snapshot },
  },
  'DELETE /api/platform/ideas/{id}/snapshot': {
    access: 'session ideas:write',
    summary: "Take back what is published of an idea's backtest",
    answer: { idea: Idea },
  },
  'GET /api/platform/ideas/{id}/picture': {
    access: 'none ideas:read',
    summary: 'The picture of an idea',
    description: 'A PNG.',
  },
} as const satisfies OperationTable
