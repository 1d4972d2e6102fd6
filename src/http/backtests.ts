// Backtests: run one and wait, or ask for one and come back; list, read, follow, remove.

import { backtestSession, REPLAY_BARS_MAX } from '../work/replay/session.ts'
import { withoutResult, type Run } from '../work/runs/records.ts'
import type { FinishedRun, QueuedRun } from '../work/runs/commits.ts'
import type { Backtest as BacktestWire } from '../wire/backtest.ts'
import type { Packed } from '../wire/columns.ts'
import { countsOf, triesOf } from '../work/sweeps/tries.ts'
import { TRACK_KINDS } from '../wire/track.ts'
import { Columns, wantsColumns } from './columns.ts'
import { JsonText, resultText } from './json-text.ts'
import { replayPieces } from './replay-wire.ts'
import { isoTimeOf, listed, pageOf } from './fields.ts'
import { jobEvents } from './progress-events.ts'
import type { Routes } from './route.ts'
import { validationFailed } from './validate.ts'

const BODY_BYTES = (1 << 20) + (64 << 10)

const queuedAnswer = ({ run, warnings }: QueuedRun) => ({
  id: run.id,
  state: run.state,
  backtest: wire(run),
  ...(warnings.length > 0 && { warnings }),
})
const finishedAnswer =
  (withTracks: boolean) =>
  ({ run, output, trials, warnings }: FinishedRun) => ({
    id: run.id,
    backtest: wire(run),
    trials,
    result: output.packed
      ? new Columns([output.packed], { text: output.packed.text, resultOf: run.id })
      : resultText(output.report, withTracks ? output.tracks : null, run.id),
    ...(warnings.length > 0 && { warnings }),
  })

const columnsOf = (packed: Packed, tag = '') => new Columns([packed], { text: packed.text, tag })

/** The kinds that `?tracks=` names; null if it is missing, which means all. */
function trackKinds(named: string | undefined): readonly string[] | null {
  if (named === undefined) return null
  if (named === 'none') return []
  const kinds = named.split(',')
  if (kinds.every((kind) => TRACK_KINDS.includes(kind))) return kinds
  const message = `expected none, or kinds of tracks with commas between: ${TRACK_KINDS.join(', ')}`
  throw validationFailed([{ in: 'query', path: '/tracks', code: 'enum', message }])
}

export const BACKTEST_ROUTES: Routes = {
  'POST /api/platform/backtests': {
    rate: 'backtests',
    bodyBytes: BODY_BYTES,
    async: true,
    columns: true,
    handle: async ({ deps, caller, body, query, request, server, set, once }) => {
      const asked = { ...body, inputs: body.inputs ?? {}, overrides: body.overrides ?? {} }
      if (request.headers.get('prefer')?.includes('respond-async')) {
        set.status = 202
        const answer = await once(queuedAnswer, (also) => deps.runs.runLater(caller.user.id, asked, also))
        set.headers.location = `/api/platform/backtests/${answer.id}`
        set.headers['preference-applied'] = 'respond-async'
        return answer
      }
      // The script's budget limits the time; until then the connection must not be cut for being silent.
      server?.timeout(request, 0)
      const withTracks = query.tracks === undefined
      const wanted = { ...asked, asColumns: withTracks && wantsColumns(request) }
      return once(finishedAnswer(withTracks), (also) =>
        deps.runs.runNow(caller.user.id, wanted, request.signal, also),
      )
    },
  },
  'POST /api/platform/backtests/preview': {
    bodyBytes: BODY_BYTES,
    columns: true,
    handle: async ({ deps, caller, body, query, request, server }) => {
      const tracks = trackKinds(query.tracks)
      server?.timeout(request, 0)
      const asked = { ...body, inputs: body.inputs ?? {}, overrides: body.overrides ?? {}, tracks }
      const userId = caller.user.id
      if (wantsColumns(request)) {
        const { output, trials, warnings } = await deps.runs.preview('preview', userId, asked, request.signal)
        return { trials, result: columnsOf(output.result), ...(warnings.length > 0 && { warnings }) }
      }
      const { output, trials, warnings } = await deps.runs.preview('run', userId, asked, request.signal)
      const result = resultText(output.report, output.tracks)
      return { trials, result, ...(warnings.length > 0 && { warnings }) }
    },
  },
  'GET /api/platform/backtests': async ({ deps, caller, query }) => {
    const { sort, order, createdAfter } = query
    const since = createdAfter === undefined ? undefined : isoTimeOf(createdAfter, 'query', '/createdAfter')
    const page = await deps.runs.chosen(caller.user.id, pageOf(query, deps.runs.listMax), {
      sort,
      order,
      since,
    })
    const counted = await countsOf(deps.features.ledger, page.items)
    return listed('backtests', page, (run) => ({ ...wire(run), counted: counted(run) }))
  },
  'GET /api/platform/backtests/running': ({ deps, caller }) => ({
    running: [...deps.runs.underWay(caller.user.id)],
  }),
  'GET /api/platform/backtests/{id}': {
    etag: true,
    handle: async ({ deps, caller, params: { id } }) => {
      const run = await deps.runs.get(caller.user.id, id)
      const report = await deps.runs.report(caller.user.id, id)
      const trials = await triesOf(deps.features.ledger, run)
      // A finished backtest never changes; only what was tried since does.
      const tag = `${id} ${run.finishedAt} ${trials?.counted ?? ''}`
      return {
        backtest: { ...wire(run), ...(await deps.runs.script(caller.user.id, id)) },
        trials,
        result: report && new JsonText(['{"report":', report, '}'], { tag }),
      }
    },
  },
  'GET /api/platform/backtests/{id}/tracks': {
    etag: true,
    columns: true,
    handle: async ({ deps, caller, params: { id }, query, request }) => {
      const kinds = trackKinds(query.tracks)
      const run = await deps.runs.get(caller.user.id, id)
      const tracks = await deps.runs.tracks(caller.user.id, id)
      if (tracks === null) throw withoutResult(run)
      const tag = `${id} ${run.finishedAt}${kinds ? ` ${kinds.join()}` : ''}`
      const stored = { tracks: tracks.parts }
      if (wantsColumns(request)) {
        const packed = await deps.features.texts.columns(caller.user.id, kinds, stored, request.signal)
        return { id, tracks: columnsOf(packed, tag) }
      }
      if (kinds === null) return { id, tracks: new JsonText([tracks], { tag }) }
      return {
        id,
        tracks: new JsonText(
          await deps.features.texts.tracks(caller.user.id, kinds, stored, request.signal),
          { tag },
        ),
      }
    },
  },
  'POST /api/platform/backtests/{id}/replay': async ({ deps, caller, params: { id }, query, request }) => {
    const run = await deps.runs.get(caller.user.id, id)
    const report = await deps.runs.report(caller.user.id, id)
    const tracks = await deps.runs.tracks(caller.user.id, id)
    if (!run.range || report === null || tracks === null) throw withoutResult(run)
    const backtest = { ...run, range: run.range }
    const { session, cut } = await backtestSession(
      deps,
      backtest,
      query.exchange ?? run.exchange,
      async (bars) => {
        const stored = { report: report.parts, tracks: tracks.parts }
        const shown = await deps.features.texts.replay(caller.user.id, { bars }, stored, request.signal)
        // The text is read once more while it is sent.
        return { ...shown, tracks: (await deps.runs.tracks(caller.user.id, id)) ?? '[]' }
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
  'DELETE /api/platform/backtests/{id}': async ({ deps, caller, params: { id } }) => {
    await deps.runs.remove(caller.user.id, id)
    return { id, deleted: true }
  },
  'DELETE /api/platform/backtests': async ({ deps, caller, body }) => ({
    deleted: await deps.runs.removeAll(caller.user.id, body.ids),
  }),
  'PATCH /api/platform/backtests/{id}': async ({ deps, caller, params: { id }, body }) => ({
    backtest: wire(await deps.runs.label(caller.user.id, id, body)),
  }),
  'GET /api/platform/backtests/{id}/events': ({ deps, caller, params, request, server }) =>
    jobEvents(deps, deps.runs, { caller, params, request, server }, (run) => ({ backtest: wire(run) })),
}

function wire(run: Run): BacktestWire {
  const {
    userId: _owner,
    tried: _tried,
    moments: _moments,
    lags: _lags,
    seriesOwner = '',
    error,
    currency = null,
    pinned = false,
    ...shown
  } = run
  return {
    ...shown,
    pinned,
    ownBars: seriesOwner !== '',
    currency,
    error: error && { ...error, diagnostics: error.diagnostics ?? [] },
  }
}
