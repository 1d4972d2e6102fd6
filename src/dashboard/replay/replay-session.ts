// The current replay: its state, its clock, and what it stores on the server.

import type { Cursor as SavedCursor, Bookmark } from '../../wire/replay.ts'
import { batch, computed, effect, signal } from '@preact/signals'
import { call } from '../api-client.ts'
import { barAt } from '../chart/bars.ts'
import { isSameMarket } from '../charts.ts'
import { chartView } from '../chart/on-screen.ts'
import { replayOnChart, shown } from '../chart/chart-state.ts'
import type { PriceLevel } from '../chart/scene.ts'
import { money, quantity } from '../format.ts'
import { toastError } from '../ui/ui.tsx'
import { keptRun } from '../run-script.ts'
import { bottomMaximised, run, type Market } from '../workspace.ts'
import {
  neighbour,
  orderText,
  restingAt,
  standingAt,
  tradeBars,
  waitingAt,
  type Replayed,
} from './replay-model.ts'

export type { SavedCursor }

export interface ActiveReplay {
  readonly market: Market
  /** Indexes of the chart's bars that it covers. */
  readonly first: number
  readonly last: number
  /** What of the chart was in view before it. */
  readonly seen: { readonly from: number; readonly to: number } | null
  readonly start: string
  readonly end: string
  /** The run that is replayed; null = the market alone. */
  readonly backtest: (Pick<Replayed, 'report' | 'tracks'> & { readonly id: string }) | null
}

export const session = signal<ActiveReplay | null>(null)
/** Index of the last visible bar, counted from the session's first. */
export const cursor = signal(0)
export const playing = signal(false)
export const speed = signal(2)
export const blind = signal(false)
export const bookmarks = signal<readonly Pick<Bookmark, 'bar' | 'note'>[]>([])

/** What this tab was in when it was loaded again. */
const CUT_OFF = 'chartroom.replay'
const cutOff = signal(sessionStorage.getItem(CUT_OFF))
effect(() => {
  const of = session.value?.backtest ? 'backtest' : 'market'
  if (session.value) sessionStorage.setItem(CUT_OFF, blind.value ? `${of} blind` : of)
  else sessionStorage.removeItem(CUT_OFF)
})

/** Once after a reload in the middle of a replay, and once what was replayed is there again: that it goes on, blind if it was. */
export function goesOn(source: 'market' | 'backtest'): boolean {
  const [of, isBlind] = cutOff.peek()?.split(' ') ?? []
  if (of !== source) return false
  cutOff.value = null
  blind.value = isBlind !== undefined
  return true
}

/** Bars with trades or bookmarks, which one can jump to. */
export const stops = computed(() => tradeBars(session.value?.backtest?.report.trades ?? []))
export const length = computed(() => (session.value ? session.value.last - session.value.first + 1 : 0))

/** What is stored for this market: the last cursor and the bookmarks. */
export async function savedPlace(market: Market, signal?: AbortSignal) {
  const place = { symbol: market.symbol, interval: market.interval }
  const [resume, marks] = await Promise.all([
    call('GET /api/platform/replay/resume', { query: place, signal }),
    call('GET /api/platform/replay/bookmarks', { query: place, signal }),
  ])
  bookmarks.value = marks.bookmarks
  return resume.cursor
}

/** `at` is the bar of the chart to begin at; without it, one is chosen. */
export async function begin(
  source: 'market' | 'backtest',
  { at = null, saved = null }: { at?: number | null; saved?: SavedCursor | null } = {},
): Promise<void> {
  const asked = shown.peek()
  if (!asked || asked.bars.length < 2) return
  const time = at === null ? null : asked.bars.time[at]!
  const chart = await whole()
  if (!chart) return
  const { market, bars } = chart
  const current = run.peek()
  let backtest: ActiveReplay['backtest'] = null
  let [first, last] = [0, bars.length - 1]
  if (source === 'backtest' && current) {
    // The server stores the session so that another browser can open it; this page has everything to draw already.
    const id = await keptRun()
    if (id === null) return
    const query = { exchange: market.exchange }
    await call('POST /api/platform/backtests/{id}/replay', { path: { id }, query })
    backtest = { id, report: current.report, tracks: current.tracks }
    first = barAt(bars, current.report.range.from ?? bars.time[0]!)
    last = Math.min(last, first + current.report.range.bars - 1)
  }
  const iso = (bar: number) => new Date(bars.time[bar]!).toISOString()
  const range = chartView()?.camera.visible ?? null
  const middle = range ? Math.round(range.from + (range.to - range.from) * 0.6) : Math.floor(bars.length / 2)
  const trade = backtest?.report.trades[0]
  let start = time === null ? (trade ? first + Math.max(1, trade.entryBar - 1) : middle) : barAt(bars, time)
  if (saved) {
    speed.value = saved.speed
    start = saved.barTime === null ? first + saved.cursorBar : barAt(bars, saved.barTime)
  }
  // In one batch, since charts that a replay sets up again would begin at its first bar.
  batch(() => {
    bottomMaximised.value = false
    session.value = { market, first, last, seen: range, start: iso(first), end: iso(last), backtest }
    playing.value = false
    cursor.value = Math.max(0, Math.min(last - first, start - first))
  })
  requestAnimationFrame(() => chartView()?.camera.lookAt(first + cursor.peek(), { edge: 0.75 }))
}

/** The chart once all its bars are there: a replay goes by their numbers, and older ones still come in front. */
function whole(): Promise<ReturnType<typeof shown.peek>> {
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof shown.peek>>()
  const stop = effect(() => {
    const chart = shown.value
    if (chart?.isAll !== false) resolve(chart)
  })
  return promise.finally(stop)
}

export function end(): void {
  playing.value = false
  void saveCursor()
  const seen = session.peek()?.seen
  session.value = null
  replayOnChart.value = null
  // Once the bars that the replay has hidden are there again.
  if (seen) requestAnimationFrame(() => chartView()?.camera.showRange(seen.from, seen.to))
}

/** Moves the cursor to a bar of the session, and the chart with it. */
export function goTo(bar: number): void {
  if (!session.peek()) return
  cursor.value = Math.max(0, Math.min(length.peek() - 1, Math.round(bar)))
}
export const step = (bars: number): void => {
  playing.value = false
  goTo(cursor.peek() + bars)
}
export const jumpTrade = (way: 1 | -1): void => jump(stops.peek(), way)
export function jumpBookmark(way: 1 | -1): void {
  jump(
    bookmarks.peek().map((one) => one.bar),
    way,
  )
}
function jump(bars: readonly number[], way: 1 | -1): void {
  const to = neighbour(bars, cursor.peek(), way)
  if (to !== null) goTo(to)
}
export const togglePlay = (): void => {
  if (cursor.peek() >= length.peek() - 1) goTo(0)
  playing.value = !playing.peek()
}

/** Adds a bookmark at the cursor, or removes it. */
export async function toggleBookmark(bar = cursor.peek()): Promise<void> {
  const market = session.peek()?.market
  if (!market) return
  const place = { symbol: market.symbol, interval: market.interval, bar }
  const before = bookmarks.peek()
  try {
    if (before.some((one) => one.bar === bar)) {
      bookmarks.value = before.filter((one) => one.bar !== bar)
      await call('DELETE /api/platform/replay/bookmarks', { query: place })
    } else {
      bookmarks.value = [...before, { bar, note: null }].sort((a, b) => a.bar - b.bar)
      await call('POST /api/platform/replay/bookmarks', { query: place })
    }
  } catch (error) {
    bookmarks.value = before
    toastError(error)
  }
}

// ——— what it does while it is on ———

/** Moves on by the number of bars that the speed asks for, however long a frame took. */
effect(() => {
  if (!playing.value) return undefined
  let due = 0
  let before = performance.now()
  let frame = requestAnimationFrame(function tick(now) {
    due += ((now - before) / 1000) * speed.peek()
    before = now
    const whole = Math.floor(due)
    if (whole > 0) {
      due -= whole
      goTo(cursor.peek() + whole)
      if (cursor.peek() >= length.peek() - 1) {
        playing.value = false
        return
      }
    }
    frame = requestAnimationFrame(tick)
  })
  return () => cancelAnimationFrame(frame)
})

/** Cuts the chart off at the cursor. */
effect(() => {
  const now = session.value
  const chart = shown.value
  if (!now || !chart) return
  if (!isSameMarket(chart.market, now.market)) {
    playing.value = false
    session.value = null
    replayOnChart.value = null
    return
  }
  const cut = now.first + cursor.value
  const levels = levelsAt(now, cursor.value)
  replayOnChart.value = { cut, levels, blind: blind.value, withTrades: now.backtest !== null }
  follow(cut)
})

/** Scrolls so that the cursor's bar is on screen with room to its right. */
function follow(cut: number): void {
  const camera = chartView()?.camera
  const range = camera?.visible
  if (!camera || !range) return
  const span = range.to - range.from
  if (cut > range.from + span * 0.85) camera.scroll(cut - (range.from + span * 0.85))
  else if (cut < range.from + span * 0.1) camera.scroll(cut - (range.from + span * 0.4))
}

/** Dashed lines at the prices of waiting orders and of the position's average entry. */
function levelsAt(now: ActiveReplay, bar: number): readonly PriceLevel[] {
  const { backtest } = now
  const bars = shown.peek()?.bars
  if (!backtest || !bars) return []
  const { report, tracks } = backtest
  const of = { report, tracks, bars, base: now.first }
  const levels: PriceLevel[] = []
  const close = bars.close[now.first + bar]
  const standing = standingAt(of, bar)
  if (standing.averagePrice !== null)
    levels.push({
      price: standing.averagePrice,
      text: `${standing.position > 0 ? 'Long' : 'Short'} ${quantity(Math.abs(standing.position))}  ${money(standing.openProfit, report.currency, { plus: true })}`,
      tone: standing.openProfit >= 0 ? 'up' : 'down',
    })
  for (const { id, type, qty, price: at } of restingAt(tracks, bar))
    levels.push({
      price: at,
      text: `${qty > 0 ? 'Buy' : 'Sell'} ${type} ${quantity(Math.abs(qty))} ${id}`,
      tone: 'muted',
    })
  if (close !== undefined)
    for (const order of waitingAt(of, bar))
      levels.push({ price: close, text: `${orderText(order)} at the next open`, tone: 'muted' })
  return levels
}

// ——— what it keeps ———

let saving: ReturnType<typeof setTimeout> | undefined
let unsaved = false
/** Also while it plays, when bars follow each other faster than that. */
const SAVE_EVERY_MS = 1200

effect(() => {
  void [cursor.value, speed.value]
  if (!session.value) return
  unsaved = true
  saving ??= setTimeout(() => void saveCursor(), SAVE_EVERY_MS)
})
addEventListener('pagehide', () => void saveCursor(true))

async function saveCursor(keepalive = false): Promise<void> {
  const now = session.peek()
  clearTimeout(saving)
  saving = undefined
  if (!now || !unsaved) return
  unsaved = false
  const { market, start, end: until } = now
  const body = { ...market, cursorBar: cursor.peek(), speed: speed.peek(), start, end: until }
  try {
    await call('POST /api/platform/replay/resume', { body, keepalive })
  } catch (error) {
    toastError(error)
  }
}
