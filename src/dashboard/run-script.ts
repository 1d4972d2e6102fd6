// Runs the open script over the bars on the chart, and puts the result into the workspace for all parts of the page.
//
// There is one run at a time: a new one cancels the one before. The last good result stays on screen
// until the next one is there.

import { batch, computed, effect } from '@preact/signals'
import { areAlike, dayToRepeat } from '../language/behaviour.ts'
import type { ExportSettings } from '../wire/export.ts'
import type { Args } from '../wire/operations.ts'
import { ApiError, call } from './api-client.ts'
import { navigate, query } from './router.ts'
import { lastRun, remembered } from './settings.ts'
import { titleOf } from './editor/title-of.ts'
import {
  activeId,
  charts,
  fieldOf,
  isSameMarket,
  market,
  scriptId,
  scriptMarket,
  seriesOf,
  type Market,
} from './charts.ts'
import { isStudyPlot, runInputs } from './studies/plot-sources.ts'
import {
  diagnostics,
  inputs,
  lastDone,
  previewing,
  run,
  running,
  runProblem,
  runProgress,
  script,
  type ShownRun,
} from './workspace.ts'

/** How many of the newest bars a run sees. */
export const runBars = remembered('run.bars', 20_000)

/** How often a run that takes long is asked how far it is. */
const PROGRESS_EVERY_MS = 500

/** How long to wait for further changes of inputs before running. */
const INPUT_DELAY_MS = 60

type BacktestBody = Args<'POST /api/platform/backtests'>['body']

/** What will be on screen next, a run or one that is opened: whatever is asked for later puts an end to it. */
let current: AbortController | null = null
/** The request that made the run on screen. */
let asked: BacktestBody | null = null
/** Whether the run on screen is repeated with new bars. */
export const isRepeated = (): boolean => asked !== null
/** The last request that was sent, whatever its result. */
let latest: BacktestBody | null = null
/** `isOwed`: bars arrived while a run was on its way that may not have seen them. */
let following = { isBusy: false, isOwed: false }

/** Cancels the run, or the opening of one, that is on its way. */
export function cancelCurrent(): void {
  current?.abort()
  current = null
  running.value = false
}

/** The user cancels the run: a reload must not begin it again. */
export function cancelRun(): void {
  cancelCurrent()
  if (lastRun.peek() === UNSTORED) lastRun.value = CANCELLED
}

/**
 * Without `keep` it is only a preview, as when an input changes with every key: the server stores nothing. With `here` it
 * moves to the active chart. Answers whether there is a result.
 */
export async function runScript({ keep = true, here = true } = {}): Promise<boolean> {
  const { source } = script.peek()
  if (source.trim() === '') return false
  if (here) putScript()
  current?.abort()
  const mine = new AbortController()
  current = mine
  batch(() => {
    running.value = true
    previewing.value = !keep
  })
  try {
    const body = requestNow()
    latest = body
    void followProgress(body, mine.signal)
    const { id, result, trials } = await asks(body, keep, mine.signal)
    asked = body
    diagnostics.value = []
    runProblem.value = null
    if (keep) lastDone.value = { at: Date.now(), isSame: run.peek()?.report.hash === result.report.hash }
    const replaced = replacedBy(source, result.report.asOf)
    const { report, tracks } = result
    run.value = { id, name: body.name, source, report, tracks, trials, replaced }
    if (id !== null) {
      lastRun.value = id
      // A reload must not bring back the run that the address names.
      if (query.peek().has('backtest')) navigate('/', { replace: true })
    }
    return true
  } catch (error) {
    if (mine.signal.aborted) return false
    if (error instanceof ApiError && error.diagnostics.length > 0) {
      diagnostics.value = error.diagnostics
      runProblem.value = null
    } else runProblem.value = error instanceof Error ? error : new Error(String(error))
    return false
  } finally {
    if (current === mine) {
      current = null
      running.value = false
      catchUp()
    }
  }
}

/** The day of the run of this script that is on screen, if TradingView has changed since. */
function replacedBy(source: string, asOf: string | undefined): ShownRun['replaced'] {
  const before = run.peek()
  if (before?.source !== source) return undefined
  const replaced = areAlike(before.report.asOf, asOf) ? before.replaced : { asOf: before.report.asOf }
  const isEarlier = replaced && dayToRepeat(replaced.asOf) < dayToRepeat(asOf)
  return isEarlier && !areAlike(replaced.asOf, asOf) ? replaced : undefined
}

/** Runs the open script as of an earlier day, now and from then on. */
export function runAsOf(day: string): Promise<boolean> {
  script.value = { ...script.peek(), asOf: day }
  return runScript()
}

/** What `lastRun` is if the server has not stored that run, which a reload then repeats. */
export const UNSTORED = 'unstored'
/** What `lastRun` is if the user cancelled that run: a reload begins none. */
export const CANCELLED = 'cancelled'

/** Runs a script that was opened. Nobody asked for its result to be kept, so the server stores nothing. */
export function runOpened({ here = true } = {}): Promise<boolean> {
  lastRun.value = UNSTORED
  return runScript({ keep: false, here })
}

/** The script belongs to the chart that is active when it is run, until it is run on another. */
function putScript(): void {
  const now = charts.peek()
  if (now.script !== activeId.peek()) charts.value = { ...now, script: now.active }
}

/** The inputs of the open script as a run takes them. Throws if a source reads an indicator that is gone. */
export const plainInputs = () => runInputs(inputs.peek(), fieldOf('studies', scriptId.peek()).peek())

function requestNow(): BacktestBody {
  const { source, name, overrides = {}, asOf } = script.peek()
  return {
    name: name || titleOf(source) || 'Untitled',
    ...seriesOf(scriptMarket.peek()),
    bars: runBars.peek(),
    source,
    inputs: plainInputs(),
    ...(Object.keys(overrides).length > 0 && { overrides }),
    ...(asOf !== undefined && { asOf }),
  }
}

/** A preview is not stored and so has no id. */
async function asks(body: BacktestBody, keep: boolean, signal: AbortSignal) {
  if (keep) return call('POST /api/platform/backtests', { body, signal })
  const { result, trials } = await call('POST /api/platform/backtests/preview', { body, signal })
  return { id: null, result, trials }
}

/** A run that takes long is asked how far it is, until it has been answered. */
async function followProgress(body: BacktestBody, signal: AbortSignal): Promise<void> {
  runProgress.value = null
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, PROGRESS_EVERY_MS))
    if (signal.aborted || !running.peek() || current?.signal !== signal) return
    try {
      const { running: all } = await call('GET /api/platform/backtests/running', { signal })
      const own = all.findLast((one) => one.name === body.name && isSameMarket(one, body))
      if (own && current?.signal === signal) runProgress.value = own.bars > 0 ? own.bar / own.bars : null
    } catch {
      // The bar stays as it is.
    }
  }
}

function catchUp(): void {
  if (!following.isOwed) return
  following = { ...following, isOwed: false }
  void followBars()
}

/** Repeats the run on screen over bars that have arrived since, with its own source instead of the editor's present text. */
export async function followBars(): Promise<void> {
  const before = run.peek()
  if (following.isBusy || running.peek()) {
    following = { ...following, isOwed: true }
    return
  }
  if (!asked || !before) return
  if (!isSameMarket(asked, scriptMarket.peek())) return
  following = { ...following, isBusy: true }
  const body = asked
  try {
    const { result, trials } = await call('POST /api/platform/backtests/preview', { body })
    if (run.peek() === before && asked === body) run.value = { ...before, id: null, ...result, trials }
  } catch {
    // Ignore a failure: the next bar tries again, and until then the chart stays as it is.
  } finally {
    following = { ...following, isBusy: false }
    catchUp()
  }
}

/** The id of the run on screen, which is stored first if it was a preview; null if there is no run. */
export async function keptRun(): Promise<string | null> {
  const shown = run.peek()
  if (!shown || shown.id !== null || !asked) return shown?.id ?? null
  const { id } = await call('POST /api/platform/backtests', { body: asked })
  if (run.peek() === shown) run.value = { ...shown, id }
  lastRun.value = id
  return id
}

/**
 * Shows a stored backtest. With `follow` the chart changes to its market; with `keep` it is shown only if the chart is there
 * already. Resolves to whether it is shown, or something that was asked for later is.
 */
export async function openBacktest(
  id: string,
  { market: mode = 'follow' }: { market?: 'follow' | 'keep' } = {},
): Promise<boolean> {
  cancelCurrent()
  const { signal } = (current = new AbortController())
  try {
    return await open(id, mode, signal)
  } catch (error) {
    if (signal.aborted) return true
    throw error
  }
}

async function open(id: string, mode: 'follow' | 'keep', signal: AbortSignal): Promise<boolean> {
  const asking = { path: { id }, signal }
  const stored = await call('GET /api/platform/backtests/{id}', asking)
  if (!stored.result) return false
  const { report } = stored.result
  const same = isSameMarket(report, mode === 'keep' ? scriptMarket.peek() : market.peek())
  if (!same && mode === 'keep') return false
  const { tracks } = await call('GET /api/platform/backtests/{id}/tracks', asking)
  signal.throwIfAborted()
  // Set the run first, so that the change of market does not start another one.
  const { name, source, inputs: given = {}, overrides, asOf } = stored.backtest
  run.value = { id, name, source, report, tracks, trials: stored.trials }
  lastDone.value = null
  // A run that was on the chart before a reload is repeated with new bars; one that was opened to be read stays as it is.
  asked = null
  if (mode === 'keep' && source !== undefined) {
    const set = overrides && { overrides: overrides as NonNullable<BacktestBody['overrides']> }
    const asOfDay = dayToRepeat(asOf)
    asked = { name, ...seriesOf(report), bars: runBars.peek(), source, inputs: given, ...set, asOf: asOfDay }
  }
  if (mode === 'follow') follow(report)
  lastRun.value = id
  return true
}

/** Shows a run that is kept elsewhere, such as a part of a portfolio. It is not repeated when bars come. */
export function showRun(shown: NonNullable<(typeof run)['value']>): void {
  cancelCurrent()
  run.value = shown
  lastDone.value = null
  asked = null
  follow(shown.report)
}

/** The active chart has the script, and the market that it ran on. */
const follow = (ran: Market): void =>
  batch(() => {
    putScript()
    if (!isSameMarket(ran, market.peek())) market.value = seriesOf(ran)
  })

/**
 * Repeats the run on screen with other settings, on `bars` bars and as of a day (null = as before), and stores it. Of `also`
 * is taken what is said.
 */
export async function rerunWith(
  overrides: NonNullable<BacktestBody['overrides']>,
  bars: number | null,
  asOf: string | null,
  also: Partial<Pick<ExportSettings, 'exchange' | 'symbol' | 'interval' | 'inputs'>> = {},
): Promise<void> {
  const path = { id: (await keptRun()) ?? '' }
  const { backtest } = await call('GET /api/platform/backtests/{id}', { path })
  const { name, source = '', inputs: given = {} } = backtest
  const body: BacktestBody = {
    name,
    exchange: also.exchange ?? backtest.exchange,
    symbol: also.symbol ?? backtest.symbol,
    interval: also.interval ?? backtest.interval,
    bars: bars ?? backtest.bars,
    source,
    inputs: { ...given, ...also.inputs },
    overrides: { ...(backtest.overrides as BacktestBody['overrides']), ...overrides },
    asOf: asOf ?? dayToRepeat(backtest.asOf),
  }
  const { id, result, trials } = await call('POST /api/platform/backtests', { body })
  asked = body
  run.value = { id, name, source, report: result.report, tracks: result.tracks, trials }
  lastRun.value = id
}

/** What would be asked for now; '' if it cannot be, which a run will say. */
function nowText(): string {
  try {
    return JSON.stringify(requestNow())
  } catch {
    return ''
  }
}

/** Runs again when an input or the market changes, once there is a result to replace. The returned function ends that. */
export function rerunOnChange(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const later = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      // A script that was just opened has its inputs set, and was run with them.
      if (JSON.stringify(latest) === nowText()) return
      if (run.peek() || running.peek() || runProblem.peek()) void runScript({ keep: false, here: false })
    }, INPUT_DELAY_MS)
  }
  const settings = computed(() => JSON.stringify([inputs.value, script.value.overrides, script.value.asOf]))
  let isFirst = true
  const stopSettings = settings.subscribe(() => {
    if (!isFirst) later()
    isFirst = false
  })
  // What its sources read may have changed, or gone.
  const stopStudies = effect(() => {
    void fieldOf('studies', scriptId.value).value
    if (Object.values(inputs.peek()).some(isStudyPlot)) later()
  })
  const stopMarket = scriptMarket.subscribe((on) => {
    const shown = run.peek()?.report
    if (shown && !isSameMarket(shown, on)) later()
  })
  return () => {
    clearTimeout(timer)
    stopSettings()
    stopStudies()
    stopMarket()
  }
}
