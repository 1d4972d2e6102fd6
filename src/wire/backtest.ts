// Stored backtests, and what can be done with one: reading, verifying, comparing, testing for repainting.

import { Type } from '@sinclair/typebox'
import { Explanation } from './explanation.ts'
import { ExportFigure, ExportSettings } from './export.ts'
import { Repaint } from './repaint.ts'
import { Replay } from './replay.ts'
import { Report, ReportSummary } from './report.ts'
import type { OperationTable } from './operation.ts'
import {
  asksDay,
  hasDay,
  hasError,
  hasScript,
  hasGiven,
  idOf,
  Listed,
  MarketName,
  namesSeries,
  nullable,
  oneOf,
  PageQuery,
  Raw,
  Text,
  Time,
  type Wire,
} from './schema.ts'
import { Track } from './track.ts'
import { Trials } from './trials.ts'
import { JOB_STATES } from './job-state.ts'
import { words } from '../lib/words.ts'

const BacktestBody = Type.Object({
  name: Text(200),
  ...namesSeries,
  bars: Type.Integer({ minimum: 1, maximum: 2_000_000 }),
  source: Raw(1 << 20),
  inputs: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Values by the input’s title or variable name. A source is a price, such as `hl2`, or a plot of another script over the same bars: `{script, inputs, plot}` with its source, its inputs and the plot’s title (or its number, from 0). At most five scripts may follow each other in this way.',
    }),
  ),
  overrides: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Boolean()])),
  ),
  ...asksDay,
})

export const RunState = oneOf(JOB_STATES)

const Backtest = Type.Object(
  {
    id: idOf('bt'),
    name: Type.String(),
    symbol: Type.String(),
    exchange: Type.String(),
    interval: Type.String(),
    bars: Type.Integer(),
    ownBars: Type.Boolean({ description: 'Whether it ran on bars that only the caller sees.' }),
    state: RunState,
    createdAt: Time,
    startedAt: nullable(Time),
    finishedAt: nullable(Time),
    ...hasError,
    summary: nullable(ReportSummary),
    pinned: Type.Boolean(),
    currency: nullable(Type.String()),
    ...hasDay,
    ...hasGiven,
    range: nullable(Type.Object({ from: Time, to: Time, bars: Type.Integer() })),
    curve: Type.Optional(
      nullable(
        Type.Array(Type.Number(), {
          maxItems: 24,
          description:
            'The equity in multiples of the initial capital at the closes of up to 24 bars evenly apart, the last of which is the run’s last. Null if nothing was traded or it began with nothing; missing until it is done, and for results from before there were curves.',
        }),
      ),
    ),
    counted: Type.Optional(
      nullable(
        Type.Integer({
          description:
            'In lists: distinct choices of inputs and settings that were tried until now with this script on this market. Null where there is no result, and for results from before tries were counted.',
        }),
      ),
    ),
    ...hasScript,
  },
  { $id: 'Backtest' },
)
export type Backtest = Wire<typeof Backtest>

const RunningNow = Type.Object(
  {
    name: Type.String(),
    exchange: Type.String(),
    symbol: Type.String(),
    interval: Type.String(),
    state: oneOf(['queued', 'running']),
    bar: Type.Integer(),
    bars: Type.Integer(),
  },
  { $id: 'RunningNow' },
)
export type RunningNow = Wire<typeof RunningNow>

const Result = Type.Object({ report: Report, tracks: Type.Array(Track) }, { $id: 'BacktestResult' })
type Result = Wire<typeof Result>

const Verification = Type.Object(
  {
    equal: Type.Boolean(),
    hash: Type.String(),
    difference: nullable(Type.String({ description: 'JSON Pointer to the first value that differs.' })),
    newFields: Type.Array(Type.String(), {
      description:
        'Fields that reports have since: JSON Pointers with `*` for each item of a list. They are not compared.',
    }),
    ranOnOther: Type.Boolean({ description: 'The bars, the symbol or the engine have changed since.' }),
  },
  { $id: 'Verification' },
)
export type Verification = Wire<typeof Verification>

const cell = Type.Union([Type.String(), Type.Number(), Type.Null()])
/** What two lists of trades are compared by. */
export const COMPARED_FIELDS = words(
  'side entryTime exitTime entryPrice exitPrice qty profit entrySignal exitSignal',
)
export type ComparedField = (typeof COMPARED_FIELDS)[number]
const comparedTrade = {
  n: Type.Integer(),
  agrees: Type.Boolean(),
  differences: Type.Array(
    Type.Object({
      field: oneOf([...COMPARED_FIELDS, 'missing', 'extra']),
      expected: cell,
      found: cell,
    }),
  ),
}

const Comparison = Type.Object(
  {
    timezone: Type.String(),
    timezoneDetected: Type.Boolean(),
    expected: Type.Integer({
      description: 'Closed trades of the export, with those that could not be read.',
    }),
    found: Type.Integer({ description: 'Closed trades of the run.' }),
    exact: Type.Integer({ description: 'Trades that agree.' }),
    unreadable: Type.Integer({
      description:
        'Trades of the export that could not be read, which do not agree; a warning `unreadable_row` names each row, up to 20.',
    }),
    firstDivergence: nullable(Type.Object({ ...comparedTrade, bar: Type.Integer(), time: Time })),
    trades: Type.Array(Type.Object(comparedTrade)),
  },
  { $id: 'Comparison' },
)
export type Comparison = Wire<typeof Comparison>

const compareBody = Type.Object({
  csv: Type.Optional(Raw(32 << 20)),
  xlsx: Type.Optional(Raw(32 << 20)),
  timezone: Type.Optional(nullable(Text(64))),
})

const FIGURES = Object.keys(ReportSummary.properties) as (keyof ReportSummary)[]

export const BACKTESTS = {
  'POST /api/platform/backtests': {
    access: 'session backtests:write',
    summary: 'Run a backtest',
    description:
      'Waits for the result; `backtest` comes without source and inputs, which are the request’s. With `Prefer: respond-async` it answers 202 with `id`, `state` and `backtest` at once; follow it at `/events`. `trials` says how often the caller tried this script on this market, and how much of the result may be luck; null while nobody knows. `overrides` replaces arguments of the `strategy()` declaration. Above as many as a user may keep (5,000 if the server’s owner does not say otherwise) the oldest that is not pinned makes room; when all are pinned it is 422 `quota_exceeded`. `tracks=none` answers the report alone, which is some MB where the tracks, at 300 bytes a bar, are hundreds; they are kept, and at `/tracks`.',
    query: Type.Object({ tracks: Type.Optional(oneOf(['none'])) }),
    body: BacktestBody,
    answer: { id: idOf('bt'), backtest: Backtest, trials: nullable(Trials), result: Result },
    accepted: { id: idOf('bt'), state: RunState, backtest: Backtest },
  },
  'POST /api/platform/backtests/preview': {
    access: 'session backtests:write',
    summary: 'Run a backtest and keep nothing',
    description:
      'For trying inputs: no record, no event, and never refused because too many are kept. It counts as a trial, and `trials` says how many there were. `tracks=none` answers the report alone, `tracks=equity,markers` tracks of these kinds alone.',
    query: Type.Object({ tracks: Type.Optional(Text(400)) }),
    body: BacktestBody,
    answer: { trials: nullable(Trials), result: Result },
  },
  'GET /api/platform/backtests': {
    access: 'session backtests:read',
    summary: 'List backtests, newest first',
    description:
      'Without source and inputs. `sort` puts them in the order of a figure of the summary, the greatest first if `order` is not `asc`, and those without it last. `createdAfter` is ISO 8601 or a day: `sort=netProfit&createdAfter=2026-11-22&limit=1` is the best since then.',
    query: Type.Object({
      ...PageQuery.properties,
      sort: Type.Optional(oneOf(FIGURES)),
      order: Type.Optional(oneOf(['asc', 'desc'])),
      createdAfter: Type.Optional(Text(40)),
    }),
    answer: Listed('backtests', Backtest),
  },
  'GET /api/platform/backtests/{id}': {
    access: 'session backtests:read',
    summary: 'One backtest with its report',
    description:
      '`trials` counts what was tried until now; it is null while there is no result, and for backtests from before tries were counted.',
    answer: {
      backtest: Backtest,
      trials: nullable(Trials),
      result: nullable(Type.Object({ report: Report })),
    },
  },
  'GET /api/platform/backtests/{id}/tracks': {
    access: 'session backtests:read',
    summary: 'What a chart draws of it',
    description:
      '`tracks=equity,markers` answers the tracks of these kinds alone, in the order in which all of them are; `tracks=none` answers none.',
    query: Type.Object({ tracks: Type.Optional(Text(400)) }),
    answer: { id: idOf('bt'), tracks: Type.Array(Track) },
  },
  'POST /api/platform/backtests/{id}/replay': {
    access: 'session replay:write backtests:read',
    summary: 'Replay a backtest',
    description: 'The same backtest and exchange answer the same id.',
    query: Type.Object({ exchange: Type.Optional(MarketName) }),
    answer: { id: idOf('rp'), replay: Replay },
  },
  'DELETE /api/platform/backtests/{id}': {
    access: 'session backtests:write',
    summary: 'Cancel and remove a backtest',
    answer: { id: idOf('bt'), deleted: Type.Boolean() },
  },
  'DELETE /api/platform/backtests': {
    access: 'session backtests:write',
    summary: 'Cancel and remove several backtests',
    description:
      'All in one commit, including pinned ones. `deleted` is how many there were: ids that are not of the caller’s backtests are skipped.',
    body: Type.Object({ ids: Type.Array(idOf('bt'), { minItems: 1, maxItems: 500 }) }),
    answer: { deleted: Type.Integer() },
  },
  'PATCH /api/platform/backtests/{id}': {
    access: 'session backtests:write',
    summary: 'Pin or rename a backtest',
    description: 'A pinned one stays when the oldest make room for newer ones.',
    body: Type.Object({ pinned: Type.Optional(Type.Boolean()), name: Type.Optional(Text(200)) }),
    answer: { backtest: Backtest },
  },
  'GET /api/platform/backtests/running': {
    access: 'session backtests:read',
    summary: 'How far your runs are',
    description:
      'Those that wait or run on the server that is asked, previews and those whose request still waits for its answer too: `bar` of `bars` is done. For a bar that says how long it takes; a stored run can also be followed at `/events`.',
    answer: { running: Type.Array(RunningNow) },
  },
  'GET /api/platform/backtests/{id}/events': {
    access: 'session backtests:read',
    summary: 'Follow a backtest',
    description:
      'Server-sent events: `progress` with `state`, `bar` and `bars`, then `end` with `backtest`, unless it was removed. They end when the credential is revoked.',
  },
  'POST /api/platform/backtests/{id}/verify': {
    access: 'session backtests:read',
    summary: 'Run a backtest again and compare every byte',
    description:
      '`difference` is where the reports differ first. Timings, engine and hash are not compared, nor are `newFields`, which the stored report was made without. `ranOnOther` says that bars, symbol or engine have changed since, so that different numbers prove nothing.',
    answer: { id: Type.String(), verification: Verification },
  },
  'POST /api/platform/backtests/{id}/repaint': {
    access: 'session backtests:read',
    summary: 'Find out whether a backtest sees the future',
    description:
      'Runs the script again on the first bars only, at up to 24 places, and with the last of them as if it were still forming; names each difference in plots and orders with its line and cause. `kind` is `lookahead` (the past knows what came later: the backtest is worth nothing) or `repaint` (live it would show something else). `evidence` is `run` where runs differed, `text` where only the script tells. Pivots, and values of the bar before with lookahead_on, are honest. `clean` is no proof: a difference on none of the tested bars is not seen.',
    answer: { id: Type.String(), repaint: Repaint },
  },
  'POST /api/platform/backtests/{id}/compare': {
    access: 'session backtests:read',
    summary: "Compare with TradingView's export",
    description:
      'The list of trades as CSV, or the whole report as XLSX in base64, in English, German, French, Spanish, Russian, Japanese or Chinese; what of it is not understood is named. Of a chart’s CSV the columns of plots are held against the run’s, one of `figures` each. Its time zone is detected unless it is given. At most 32 MiB. Of an XLSX, `settings` is what its properties set, ready for a new run of the script, and `figures` holds its figures against the report’s, cell by cell; both are null for a list. Where the lists differ, `explanation` says why: properties that the script does not state, facts of the symbol and how far the bars go back are tried, one at a time and then together, and what makes the lists agree is answered as `overrides`, `symbol` and `bars`, within the time of a run; `complete` is false where it was over before. `explain=false` leaves it away. It is null where the lists agree, and, with a warning, where nothing could be looked for.',
    query: Type.Object({ explain: Type.Optional(oneOf(['true', 'false'])) }),
    body: compareBody,
    answer: {
      id: Type.String(),
      comparison: Comparison,
      explanation: nullable(Explanation),
      settings: nullable(ExportSettings),
      figures: nullable(Type.Array(ExportFigure)),
    },
  },
} as const satisfies OperationTable
