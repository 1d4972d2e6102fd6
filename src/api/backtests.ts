// Backtests: run one and wait, or ask for one and come back; list, read, follow, remove.

import { Type, type Static } from '@sinclair/typebox'
import { Elysia, sse } from 'elysia'
import { Problem } from '../lib/problem.ts'
import { backtestSession, replayGone, REPLAY_BARS_MAX } from '../replay/session.ts'
import {
  REMOVED_MAX,
  RUN_STATES,
  type FinishedRun,
  type QueuedRun,
  type Run,
  type RunProgress,
} from '../runs/runs.ts'
import { access, type ApiDeps } from './access.ts'
import { eventWait, SILENT_SECONDS } from './event-wait.ts'
import { JsonText } from './json-text.ts'
import { replayPieces, ReplayWire } from './replay-wire.ts'
import { doc, idOf, listed, Listed, nullable, oneOf, pageOf, PageQuery, Raw, Text, Time } from './schemas.ts'

const SOURCE_MAX = 1 << 20
const BODY_BYTES = (1 << 20) + (64 << 10)

const BacktestBody = Type.Object({
  name: Text(200),
  symbol: Text(64),
  interval: Text(16),
  exchange: Text(64),
  bars: Type.Integer({ minimum: 1, maximum: 2_000_000 }),
  source: Raw(SOURCE_MAX),
  inputs: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  overrides: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Boolean()])),
  ),
})

const Summary = Type.Object(
  {
    trades: Type.Integer(),
    netProfit: Type.Number(),
    netProfitPct: Type.Number(),
    winRate: Type.Number(),
    profitFactor: Type.Number(),
    maxDrawdownPct: Type.Number(),
    sharpe: Type.Number(),
  },
  { $id: 'ReportSummary' },
)

export const BacktestWire = Type.Object(
  {
    id: idOf('bt'),
    name: Type.String(),
    symbol: Type.String(),
    exchange: Type.String(),
    interval: Type.String(),
    bars: Type.Integer(),
    ownBars: Type.Boolean({ description: 'It ran on bars that only the caller sees.' }),
    state: oneOf(RUN_STATES),
    createdAt: Time,
    startedAt: nullable(Time),
    finishedAt: nullable(Time),
    error: nullable(
      Type.Object({
        code: Type.String(),
        message: Type.String(),
        diagnostics: Type.Optional(Type.Array(Type.Unknown())),
      }),
    ),
    summary: nullable(Summary),
    pinned: Type.Boolean(),
    currency: nullable(Type.String()),
    range: nullable(Type.Object({ from: Time, to: Time, bars: Type.Integer() })),
    source: Type.Optional(Type.String()),
    inputs: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    overrides: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { $id: 'Backtest' },
)
const Result = Type.Object(
  { report: Type.Object({}), tracks: Type.Array(Type.Object({})) },
  { $id: 'BacktestResult' },
)

const queuedAnswer = ({ run, warnings }: QueuedRun) => ({
  id: run.id,
  state: run.state,
  backtest: wire(run),
  ...(warnings.length > 0 && { warnings }),
})
const resultPieces = ({ report, tracks }: FinishedRun['output']) => [
  '{"report":',
  report,
  ',"tracks":',
  tracks,
  '}',
]
const finishedAnswer = ({ run, output, warnings }: FinishedRun) => ({
  id: run.id,
  backtest: wire(run),
  result: new JsonText(resultPieces(output), { resultOf: run.id }),
  ...(warnings.length > 0 && { warnings }),
})

export function backtestRoutes(deps: ApiDeps) {
  const { runs } = deps
  const { texts } = deps.rooms

  return new Elysia({ prefix: '/api/platform/backtests', tags: ['Backtests'], normalize: false })
    .use(access(deps))
    .post(
      '',
      async ({ caller, body, request, server, set, once }) => {
        const asked = { ...body, inputs: body.inputs ?? {}, overrides: body.overrides ?? {} }
        if (request.headers.get('prefer')?.includes('respond-async')) {
          set.status = 202
          const answer = await once(queuedAnswer, (also) => runs.runLater(caller.user.id, asked, also))
          set.headers.location = `/api/platform/backtests/${answer.id}`
          set.headers['preference-applied'] = 'respond-async'
          return answer
        }
        // The script's budget ends it; the connection must not be cut for being quiet before.
        server?.timeout(request, 0)
        return once(finishedAnswer, (also) => runs.runNow(caller.user.id, asked, request.signal, also))
      },
      {
        access: { to: 'session backtests:write', rate: 'backtests', bodyBytes: BODY_BYTES, async: true },
        body: BacktestBody,
        detail: doc(
          'Run a backtest',
          { id: idOf('bt'), backtest: BacktestWire, result: Result },
          'Waits for the result; `backtest` comes without source and inputs, which are the request’s. With `Prefer: respond-async` it answers 202 with `id`, `state` and `backtest` at once; follow it at `/events`. `overrides` replaces arguments of the `strategy()` declaration. Above as many as a user may keep (5,000 if the server’s owner does not say otherwise) the oldest that is not pinned makes room; when all are pinned it is 422 `quota_exceeded`.',
        ),
      },
    )
    .post(
      '/preview',
      async ({ caller, body, request, server }) => {
        server?.timeout(request, 0)
        const asked = { ...body, inputs: body.inputs ?? {}, overrides: body.overrides ?? {} }
        const { output, warnings } = await runs.preview(caller.user.id, asked, request.signal)
        const result = new JsonText(resultPieces(output))
        return { result, ...(warnings.length > 0 && { warnings }) }
      },
      {
        access: { to: 'session backtests:write', bodyBytes: BODY_BYTES },
        body: BacktestBody,
        detail: doc(
          'Run a backtest and keep nothing',
          { result: Result },
          'For trying inputs: no record, no event, and never refused because too many are kept.',
        ),
      },
    )
    .get(
      '',
      ({ caller, query }) =>
        listed('backtests', runs.list(caller.user.id, pageOf(query, runs.listMax)), wire),
      {
        access: 'session backtests:read',
        query: Type.Object(PageQuery),
        detail: doc(
          'List backtests, newest first',
          Listed('backtests', BacktestWire),
          'Without source and inputs.',
        ),
      },
    )
    .get(
      '/:id',
      ({ caller, params: { id } }) => {
        const run = runs.get(caller.user.id, id)
        const report = runs.report(caller.user.id, id)
        return {
          backtest: { ...wire(run), ...runs.script(caller.user.id, id) },
          // What is done does not change.
          result: report && new JsonText(['{"report":', report, '}'], { tag: `${id} ${run.finishedAt}` }),
        }
      },
      {
        access: { to: 'session backtests:read', etag: true },
        detail: doc('One backtest with its report', {
          backtest: BacktestWire,
          result: nullable(Type.Object({ report: Type.Object({}) })),
        }),
      },
    )
    .get(
      '/:id/tracks',
      ({ caller, params: { id } }) => {
        const { finishedAt } = runs.get(caller.user.id, id)
        const tracks = runs.tracks(caller.user.id, id)
        if (tracks === null) throw new Problem(409, 'conflict', 'The backtest has no tracks: it is not done.')
        return { id, tracks: new JsonText([tracks], { tag: `${id} ${finishedAt}` }) }
      },
      {
        access: { to: 'session backtests:read', etag: true },
        detail: doc('What a chart draws of it', { id: idOf('bt'), tracks: Type.Array(Type.Object({})) }),
      },
    )
    .post(
      '/:id/replay',
      async ({ caller, params: { id }, query, request }) => {
        const gone = replayGone(deps.kv, caller.user.id, id)
        if (gone) throw gone
        const run = runs.get(caller.user.id, id)
        const report = runs.report(caller.user.id, id)
        const tracks = runs.tracks(caller.user.id, id)
        if (!run.range || report === null || tracks === null)
          throw new Problem(409, 'conflict', 'Only a backtest that is done can be replayed.')
        const backtest = { ...run, range: run.range }
        const { session, cut } = await backtestSession(
          deps,
          backtest,
          query.exchange ?? run.exchange,
          async (bars) => {
            const stored = { report: report.parts, tracks: tracks.parts }
            const shown = await texts.replay(caller.user.id, { bars }, stored, request.signal)
            // Read once more when it is sent.
            return { ...shown, tracks: runs.tracks(caller.user.id, id) ?? '[]' }
          },
        )
        const warning = {
          code: 'fewer_bars',
          message: `A replay has at most ${REPLAY_BARS_MAX} bars; the first ${cut} were left out.`,
        }
        return {
          id: session.id,
          replay: new JsonText(replayPieces(session)),
          ...(cut > 0 && { warnings: [warning] }),
        }
      },
      {
        access: 'session replay:write backtests:read',
        query: Type.Object({ exchange: Type.Optional(Text(64)) }),
        detail: doc(
          'Replay a backtest',
          { id: idOf('rp'), replay: ReplayWire },
          'The same backtest and exchange answer the same id.',
        ),
      },
    )
    .delete(
      '/:id',
      async ({ caller, params: { id } }) => {
        await runs.remove(caller.user.id, id)
        return { id, deleted: true }
      },
      {
        access: 'session backtests:write',
        detail: doc('Cancel and remove a backtest', { id: idOf('bt'), deleted: Type.Boolean() }),
      },
    )
    .delete('', async ({ caller, body }) => ({ deleted: await runs.removeAll(caller.user.id, body.ids) }), {
      access: 'session backtests:write',
      body: Type.Object({ ids: Type.Array(idOf('bt'), { minItems: 1, maxItems: REMOVED_MAX }) }),
      detail: doc(
        'Cancel and remove several backtests',
        { deleted: Type.Integer() },
        'All in one go, pinned ones too. `deleted` is how many there were: an id that is not one of the caller’s backtests is passed over.',
      ),
    })
    .patch(
      '/:id',
      async ({ caller, params: { id }, body }) => ({
        backtest: wire(await runs.change(caller.user.id, id, body)),
      }),
      {
        access: 'session backtests:write',
        body: Type.Object({ pinned: Type.Optional(Type.Boolean()), name: Type.Optional(Text(200)) }),
        detail: doc(
          'Pin or rename a backtest',
          { backtest: BacktestWire },
          'A pinned one stays when the oldest make room for newer ones.',
        ),
      },
    )
    .get(
      '/:id/events',
      ({ caller, params: { id }, request, server }) => {
        runs.get(caller.user.id, id)
        server?.timeout(request, SILENT_SECONDS)
        const signal = AbortSignal.any([request.signal, deps.stopping])
        const leave = deps.streams.enter(caller.user.id, signal)
        return events(deps, { userId: caller.user.id, id }, signal, leave)
      },
      {
        access: 'session backtests:read',
        detail: doc(
          'Follow a backtest',
          {},
          'Server-sent events: `progress` with `state`, `bar` and `bars`, then `end` with `backtest`.',
        ),
      },
    )
}

async function* events(
  { runs }: ApiDeps,
  { userId, id }: { readonly userId: string; readonly id: string },
  signal: AbortSignal,
  leave: () => void,
) {
  const waiting: RunProgress[] = []
  const wait = eventWait(signal)
  let over = false
  const watching = runs
    .watch(userId, id, signal, (progress) => {
      // Only the newest counts for a slow reader.
      waiting[0] = progress
      wait.wake()
    })
    .finally(() => {
      over = true
      wait.wake()
    })
  try {
    while (!signal.aborted) {
      const progress = waiting.shift()
      if (progress) yield sse({ event: 'progress', data: { ...progress } })
      else if (over) break
      else if (await wait.quiet()) yield sse({ event: 'alive', data: {} })
    }
    await watching
    if (!signal.aborted) yield sse({ event: 'end', data: { backtest: wire(runs.get(userId, id)) } })
  } finally {
    leave()
  }
}

type Wire = Static<typeof BacktestWire>

function wire(run: Run): Wire {
  const { userId: _owner, seriesOwner = '', error, currency = null, pinned = false, ...shown } = run
  return {
    ...shown,
    pinned,
    ownBars: seriesOwner !== '',
    currency,
    error: error && { ...error, diagnostics: [...(error.diagnostics ?? [])] },
  }
}
