// A look: what newly arrived bars mean to the alerts of a series.
//
// It continues from the series' mark in slices of bars. For each slice it reads from the store the alerts that the bars can
// have hit, judges them, and commits each alert together with all its firings; then it moves the mark. Anything that is cut
// short is done again from the mark, and fires nothing twice. Alerts that were set while bars were still to be looked at
// are fresh: they are judged separately until they have seen as much as the mark.

import { owned, type SeriesInfo } from '../../market/bar-store.ts'
import { concatBars, sliceBars, type BarRange, type Bars } from '../../market/bars.ts'
import { besideDamage } from '../../store/damage.ts'
import { decide } from '../../store/transaction.ts'
import type { Alert, Firing } from './alert.ts'
import { holds } from './condition.ts'
import { judge, type Judgement } from './judge.ts'
import { classKey, classOf, hitSpan, modeOf, readings } from './levels.ts'
import type { Closing } from './look-queue.ts'
import {
  barOf,
  markOf,
  moveMark,
  readMark,
  readMarkToMove,
  seriesParts,
  watchedOf,
  type Mark,
  type WatchedSeries,
} from './mark.ts'
import { runsScript, seriesOf, type AlertRecords } from './records.ts'
import { thresholds, View } from './view.ts'
import { written, type WriteDeps } from './write.ts'

export interface LookDeps extends WriteDeps {
  readonly records: AlertRecords
  /** `source` is the answer that `source` below would have given at the moment of the bars. */
  readonly bars: (series: WatchedSeries, range: BarRange) => Promise<SourcedBars>
  /** The bars that make a series: its own, or those of a finer interval; null = there are none. */
  readonly source: (series: WatchedSeries) => Promise<SeriesSource | null>
  /** Tells when the bar that opens at a given time is over, in UTC ms. */
  readonly closesAt: (series: WatchedSeries) => Promise<(time: number) => number>
  /** Asks for another look when the bar is over whose end alerts wait for. */
  readonly lookAtEnd: (closing: Closing) => void
}

type SeriesSource = Pick<SeriesInfo, 'interval' | 'change' | 'begun'> & {
  /** Its newest bar is told of while it forms; of a provider that is late, also after its end. */
  readonly isForming?: boolean
}

interface SourcedBars {
  readonly bars: Bars
  readonly source: SeriesSource | null
}

/** Bars of a slice, which takes some 10 ms for a page of alerts. */
const SLICE_BARS = 1024
/** Firings that are made in one turn, unless they are all of one alert: some 10 ms. */
const BATCH_FIRINGS = 256
/** How many bars an alert may look back, plus the previous bar. */
export const LOOK_BACK = 1001

interface Slice {
  readonly series: WatchedSeries
  readonly view: View
  /** The bars as they were at the last look, ending with the mark's bar. */
  readonly before: View
}

/** Looks at all series that the bars of `source` make; each step is a slice, or a page of alerts of one series. */
export async function* lookAt(deps: LookDeps, source: WatchedSeries): AsyncGenerator<void> {
  const { owner, exchange, symbol } = source
  const found = deps.records.alerts.firsts('watching', [owner, exchange, symbol], 1)
  for (const interval of await Array.fromAsync(found, ([part]) => String(part))) {
    const series = { owner, exchange, symbol, interval }
    if ((await deps.source(series))?.interval !== source.interval) continue
    yield* moveOn(deps, series)
    yield* settle(deps, series)
    if (await waitsForEnd(deps, series)) await lookAtEnd(deps, source, series)
  }
}

/** How long after the end of a bar its last changes may arrive: providers report them a moment later. */
const SETTLING_MS = 5000

/** Asks for a look at the end of the newest bar of each series that `source` makes; does nothing if it is over already. */
export async function lookAtEnd(deps: LookDeps, source: WatchedSeries, series: WatchedSeries): Promise<void> {
  const closing = await closingOf(deps, source, series)
  if (closing) deps.lookAtEnd(closing)
}

async function closingOf(
  deps: LookDeps,
  source: WatchedSeries,
  series: WatchedSeries,
): Promise<Closing | null> {
  const { mark } = await readMark(deps.kv, series)
  const time = mark?.time ?? (await deps.bars(series, { last: 1 })).bars.time[0]
  if (time === undefined || mark?.closed) return null
  const end = (await deps.closesAt(series))(time)
  const { owner, exchange, symbol, interval } = source
  const key = { ...owned(owner), exchange, symbol, interval }
  return { key, at: end + settlingMs(time, end) }
}

export const settlingMs = (time: number, end: number): number => Math.min(SETTLING_MS, (end - time) / 12)

/** Whether plain alerts of a series wait for bars to be over. */
async function waitsForEnd({ records: { alerts } }: LookDeps, series: WatchedSeries): Promise<boolean> {
  const parts = seriesParts(series)
  for await (const _ of alerts.firsts('fresh', [...parts, true], 1)) return true
  for await (const first of alerts.firsts('levels', parts, 4))
    if (classOf(first).mode === 'close') return true
  return false
}

/** Forming bars whose end alerts wait for, as far as they were looked at; each step is a series. */
export async function* formingBars(deps: LookDeps): AsyncGenerator<Closing | null> {
  for await (const parts of deps.records.alerts.firsts('watching', [], 4)) {
    const series = watchedOf(parts)
    const source = await deps.source(series)
    const closing = source && (await closingOf(deps, { ...series, interval: source.interval }, series))
    const isAwaited = async () => (await waitsForEnd(deps, series)) || (await scriptsWaitForEnd(deps, series))
    yield closing && (await isAwaited()) ? closing : null
  }
}

/** Whether alerts with a script wait for it; these are not sorted by how they wait. */
async function scriptsWaitForEnd({ records: { alerts } }: LookDeps, series: WatchedSeries): Promise<boolean> {
  const parts = seriesParts(series)
  for await (const page of alerts.entries('scripts', parts, parts))
    for (const entry of page) {
      const alert = await alerts.get(idOf(entry))
      if (alert && modeOf(alert) === 'close') return true
    }
  return false
}

/** The next bars from one that was looked at before, in view of those behind it; of the last slice the newest may not be over. */
async function sliceFrom(deps: LookDeps, series: WatchedSeries, mark: { readonly time: number } | null) {
  // At the first look all bars except the newest are history.
  const range = mark ? { from: mark.time, first: SLICE_BARS + 1 } : { last: 1 }
  const { bars: ahead, source } = await deps.bars(series, range)
  if (ahead.length === 0) return null
  const isLast = ahead.length <= SLICE_BARS
  const taken = isLast ? ahead : sliceBars(ahead, 0, SLICE_BARS)
  const now = deps.clock.now()
  const closesAt = await deps.closesAt(series)
  const lastClosed = !isLast || closesAt(taken.time.at(-1) ?? 0) <= now
  const seen = async (time: number) => {
    const { bars: behind } = await deps.bars(series, { to: time, last: LOOK_BACK })
    const view = new View(concatBars([behind, taken]), { start: behind.length, lastClosed, closesAt, now })
    return { behind, view }
  }
  return { taken, source, isLast, closesAt, lastClosed, seen }
}

/** Moves the mark to the newest bar, past everything that the bars on the way hit. */
async function* moveOn(deps: LookDeps, series: WatchedSeries): AsyncGenerator<void> {
  for (;;) {
    const stored = await readMarkToMove(deps.kv, series)
    const { mark } = stored
    const slice = await sliceFrom(deps, series, mark)
    if (!slice || slice.source === null) return
    const { taken, source, closesAt, lastClosed, seen } = slice
    if (taken.length === 1 && mark?.change === source.change && mark.closed === lastClosed) return
    if (mark) {
      const { behind, view } = await seen(mark.time)
      yield* judgeHits(deps, { series, view, before: viewOfMark(deps, mark, behind, closesAt) })
    }
    const moved = moveMark(series, stored, markOf(taken, taken.length - 1, source.change, lastClosed))
    // Refused if an alert was armed meanwhile; then the slice is looked at again.
    await deps.kv.commit(moved)
    yield
  }
}

function viewOfMark({ clock }: LookDeps, mark: Mark, behind: Bars, closesAt: (time: number) => number): View {
  return new View(concatBars([behind, barOf(mark)]), {
    start: behind.length,
    lastClosed: mark.closed,
    closesAt,
    now: clock.now(),
  })
}

async function* judgeHits(deps: LookDeps, slice: Slice): AsyncGenerator<void> {
  const { alerts } = deps.records
  const { series, view, before } = slice
  const parts = seriesParts(series)
  for await (const first of alerts.firsts('levels', parts, 4)) {
    const cls = classOf(first)
    const span = hitSpan(cls, view, before, lastLooked(before, cls.mode === 'close'))
    if (!span) continue
    for (const { index, low, high, keeps } of readings(cls, span)) {
      const key = [...parts, ...classKey(cls)]
      for await (const page of alerts.entries(index, [...key, low], [...key, high])) {
        const kept = keeps ? page.filter((entry) => keeps(Number(entry.at(-2)))) : page
        await judgeAll(deps, slice, kept.map(idOf))
        yield
      }
    }
  }
  const end = view.judgedAt(view.length - 1)
  const from = [...parts, Number.NEGATIVE_INFINITY]
  for await (const page of alerts.entries('expiring', from, [...parts, end])) {
    await judgeAll(deps, slice, page.map(idOf))
    yield
  }
}

const idOf = (entry: readonly unknown[]) => String(entry.at(-1))

/** The bar that an alert was last looked at on; for an alert that waits for closes, the last closed one. */
function lastLooked(before: View, closes: boolean): number {
  const last = before.length - 1
  return closes && !before.closed(last) ? last - 1 : last
}

/** Judges settled alerts, and commits side by side those that have changed. */
async function judgeAll(deps: LookDeps, { series, view, before }: Slice, ids: readonly string[]) {
  const verdictOn = (alert: Alert): Judgement | null => {
    if (alert.fresh || !isWatching(alert, series)) return null
    const verdict = judge(alert, view, { from: view.start, held: heldAt(before, alert) })
    return verdict.fired.length > 0 || verdict.alert.state !== alert.state ? verdict : null
  }
  await writeAll(deps, view, ids, verdictOn)
}

/** Whether the condition of a settled alert held when it was last looked at. */
function heldAt(before: View, alert: Alert): boolean {
  const values = before.values(alert, lastLooked(before, modeOf(alert) === 'close'))
  return values !== null && holds(thresholds(alert), values)
}

function isWatching(alert: Alert, series: WatchedSeries): boolean {
  const own = seriesOf(alert)
  return (
    alert.state === 'active' &&
    !runsScript(alert) &&
    own.owner === series.owner &&
    own.exchange === series.exchange &&
    own.symbol === series.symbol &&
    own.interval === series.interval
  )
}

/** `verdictOn` is asked again if the alert was changed meanwhile. */
async function writeAll(
  deps: LookDeps,
  view: View,
  ids: readonly string[],
  verdictOn: (alert: Alert) => Judgement | null,
): Promise<void> {
  const { alerts } = deps.records
  const decided = (id: string) =>
    decide<readonly Firing[]>(deps.kv, async (tx) => {
      const stored = await alerts.at(tx).stored(id)
      const verdict = stored && verdictOn(stored.record)
      if (!stored || !verdict) return [[], []]
      const { changes, firings } = await written(deps, tx, view, verdict)
      return [firings, [alerts.replace(stored, verdict.alert), ...changes]]
    })
  // One of somebody, or a way to tell them, may be damaged: the others are judged all the same.
  const write = (id: string) => besideDamage(deps.log, () => decided(id), [])
  let batch: string[] = []
  let firings = 0
  const found = await alerts.getMany(ids, deps.log)
  for (const [i, alert] of found.entries()) {
    const verdict = verdictOn(alert)
    if (verdict) {
      batch.push(alert.id)
      firings += verdict.fired.length
    }
    if (firings < BATCH_FIRINGS && i < found.length - 1) continue
    const news = (await Promise.all(batch.map(write))).flat()
    if (news.length > 0) deps.fired(news)
    batch = []
    firings = 0
  }
}

/**
 * Judges one alert up to the newest bar, ahead of the others of its series. It is about to be changed, and bars that came
 * before the change count for its old condition.
 */
export async function lookAhead(deps: LookDeps, id: string): Promise<void> {
  for (;;) {
    const alert = await deps.records.alerts.get(id)
    if (alert?.state !== 'active' || runsScript(alert)) return
    const series = seriesOf(alert)
    const { mark } = await readMark(deps.kv, series)
    if (!alert.fresh && (!mark || mark.change === (await deps.source(series))?.change)) return
    const seen = alert.fresh ? (alert.seenBar ?? (await firstNews(deps, series))) : mark?.time
    if (typeof seen !== 'number') return
    const slice = await sliceFrom(deps, series, { time: seen })
    if (!slice) return
    const { isLast, closesAt } = slice
    const { behind, view } = await slice.seen(seen)
    const held = alert.fresh || !mark ? alert.held : heldAt(viewOfMark(deps, mark, behind, closesAt), alert)
    await writeAll(deps, view, [id], (before) => {
      if (before.state !== 'active' || before.updatedAt !== alert.updatedAt) return null
      const { alert: after, fired } = judge({ ...before, seenBar: seen }, view, { from: view.start, held })
      return { alert: { ...after, fresh: true }, fired }
    })
    if (isLast) return
  }
}

/** Brings fresh alerts up to the mark. */
async function* settle(deps: LookDeps, series: WatchedSeries): AsyncGenerator<void> {
  const { mark } = await readMark(deps.kv, series)
  if (!mark) return
  const { alerts } = deps.records
  const parts = seriesParts(series)
  const lastClosed = mark.closed
    ? mark.time
    : (await deps.bars(series, { to: mark.time, last: 1 })).bars.time[0]
  const ranges: [boolean, number][] = [
    [false, Number.POSITIVE_INFINITY],
    // An alert that waits for a close sees nothing before there is one.
    [true, lastClosed ?? Number.NEGATIVE_INFINITY],
  ]
  for (const [closes, until] of ranges) {
    const from = [...parts, closes, Number.NEGATIVE_INFINITY]
    for await (const page of alerts.entries('fresh', from, [...parts, closes, until]))
      // Ordered by what they saw last, so that alerts set at the same time share a view.
      for (const [seenBar, entries] of Map.groupBy(page, (entry) => Number(entry.at(-2))))
        yield* catchUp(deps, series, mark, seenBar, entries.map(idOf))
  }
}

/** Judges fresh alerts from the bar they saw last to the mark, a slice at a time. */
async function* catchUp(
  deps: LookDeps,
  series: WatchedSeries,
  mark: Mark,
  seenBar: number,
  ids: readonly string[],
): AsyncGenerator<void> {
  for (let seen = seenBar; ;) {
    const slice = await freshSlice(deps, series, mark, seen)
    if (!slice) return
    const { view, settles, isLast } = slice
    await writeAll(deps, view, ids, (alert) => {
      const stands = alert.fresh && (alert.seenBar ?? Number.NEGATIVE_INFINITY) === seen
      if (!stands || !isWatching(alert, series)) return null
      const { alert: after, fired } = judge(alert, view, { from: view.start, held: alert.held })
      const looked = modeOf(alert) !== 'close' || view.closed(view.start)
      const next = { ...after, fresh: !(settles && looked), seenBar: after.seenBar ?? mark.time }
      const same = next.fresh && next.seenBar === alert.seenBar && next.held === alert.held
      return same && fired.length === 0 && next.state === alert.state ? null : { alert: next, fired }
    })
    yield
    if (isLast) return
    seen = view.time(view.length - 1)
  }
}

/**
 * Where an alert begins that was set before its series had bars: of the first bars to come, all except the newest are
 * history, however many came at once. null if that is unknown.
 */
export async function firstNews(deps: LookDeps, series: WatchedSeries): Promise<number | null> {
  const begun = (await deps.source(series))?.begun
  if (begun === undefined) return null
  const { bars } = await deps.bars(series, { to: begun + 1, last: 1 })
  return bars.time[0] ?? null
}

/** The bars from `seen` (-∞: from where the news begin) to the mark's bar, as it was seen; null if there are none. */
async function freshSlice(deps: LookDeps, series: WatchedSeries, mark: Mark, seen: number) {
  const from = Number.isFinite(seen) ? seen : ((await firstNews(deps, series)) ?? mark.time)
  if (from > mark.time) return null
  const { bars: until } = await deps.bars(series, { from, to: mark.time, first: SLICE_BARS })
  const isLast = until.length < SLICE_BARS
  // The series may have been deleted, and may have come back shorter.
  const settles =
    isLast && (await deps.bars(series, { from: mark.time, first: 1 })).bars.time[0] === mark.time
  const ahead = sliceBars(until, 0, Math.min(until.length, SLICE_BARS))
  const taken = settles ? concatBars([ahead, barOf(mark)]) : ahead
  if (taken.length === 0) return null
  const { bars: behind } = await deps.bars(series, { to: from, last: LOOK_BACK })
  const closesAt = await deps.closesAt(series)
  const now = deps.clock.now()
  const newest = taken.time.at(-1) ?? 0
  const lastClosed = settles ? mark.closed : !isLast || closesAt(newest) <= now
  const view = new View(concatBars([behind, taken]), {
    start: behind.length,
    lastClosed,
    closesAt,
    now,
  })
  return { view, settles, isLast }
}
