// What a chart asks for: the bars of its market, those that come later, and the bar that is not over yet.

import { effect } from '@preact/signals'
import { POLLED_EXCHANGES, STREAMED_EXCHANGES } from '../../market/live/streamed.ts'
import { call } from '../api-client.ts'
import { type Named } from '../format.ts'
import { isSameMarket, type Market } from '../charts.ts'
import type { StreamEvents } from '../../wire/event.ts'
import { onLive } from '../live.ts'
import { followBars } from '../run-script.ts'
import { canAskAgain } from '../session.ts'
import type { Bars } from '../../market/bars.ts'
import { loadBars, loadNewer, withOthers } from './bars.ts'
import type { Cell } from './cell.ts'
import { hasScript, replayOnChart } from './chart-state.ts'
import { passHover } from './links.ts'
import { isPartOf } from './made-markets.ts'

/** Keeps the bars of a chart as new as they can be, until the returned function is called. */
export function followMarket(cell: Cell): () => void {
  const stops = [loadMarket(cell), askAgain(cell), hearBars(cell), hearForming(cell)]
  return () => {
    for (const stop of stops) stop()
  }
}

/** Loads the bars of the market on a chart, whenever that is another one. */
function loadMarket(cell: Cell): () => void {
  return effect(() => {
    const wanted = cell.market.value
    const mine = new AbortController()
    const now = cell.shown.peek()
    if (now && !isSameMarket(now.market, wanted)) {
      cell.shown.value = null
      // The crosshair was on a bar of the previous market, here and on linked charts.
      cell.hover.value = null
      cell.view.peek()?.hideCrosshair()
      passHover(cell, null)
    }
    cell.problem.value = null
    const loaded = loadBars(wanted, mine.signal, (bars, isAll) => barsCame(cell, wanted, bars, isAll))
    loaded.catch((error: unknown) => {
      if (!mine.signal.aborted) cell.problem.value = error
    })
    return () => mine.abort()
  })
}

/** What could not be reached is asked for once the server is there again. */
const askAgain = (cell: Cell): (() => void) =>
  effect(() => {
    if (canAskAgain(cell.problem.value)) cell.market.value = { ...cell.market.peek() }
  })

/** Newer ones may have come while the older ones were on their way, and older ones may be there when bars are loaded again. */
export function barsCame(cell: Cell, market: Market, bars: Bars, isAll: boolean): void {
  const before = cell.shown.peek()
  const others = before && isSameMarket(before.market, market) ? before.bars : bars
  cell.shown.value = { market, bars: withOthers(bars, others, { older: !isAll }), isAll }
}

const LIVE_DELAY_MS = 250

/** Shows new bars as they are stored; those of finer intervals too, since this interval may be built from them. */
function hearBars(cell: Cell): () => void {
  const abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const fetchNewer = async (): Promise<void> => {
    const before = cell.shown.peek()
    // What is still loading may have been read before these bars were stored.
    if (!before) return cell.problem.peek() ? undefined : fetchSoon()
    const bars = await loadNewer(before.market, before.bars, abort.signal)
    if (cell.shown.peek() !== before) return fetchSoon()
    if (bars === before.bars) return
    cell.shown.value = { ...before, bars }
    // A replay keeps the bars and trades that it began with.
    if (replayOnChart.peek() === null && hasScript(cell)) void followBars()
  }
  // An import tells of every block it stores, and a busy market of every trade: the first of them begins the wait, so that
  // those that follow cannot put it off for ever. A failure is not shown here: the next load of bars meets it again.
  const fetchSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      void fetchNewer().catch(() => undefined)
    }, LIVE_DELAY_MS)
  }
  const heard = (of: Named) => isPartOf(of, cell.market.peek()) && fetchSoon()
  const stop = onLive('bars', heard, fetchSoon)
  return () => {
    stop()
    clearTimeout(timer)
    abort.abort()
  }
}

/** The server tells of the forming bar of whom it was asked for a while, so it is asked again before that is over. */
const FORMING_AGAIN_MS = 60_000

/** Whose bars may be kept fresh. */
const FOLLOWED = [...STREAMED_EXCHANGES, ...POLLED_EXCHANGES]

/** Shows the bar that is not over yet, where the market may be followed. */
function hearForming(cell: Cell): () => void {
  return effect(() => {
    const wanted = cell.market.value
    if (!FOLLOWED.includes(wanted.exchange)) return undefined
    const abort = new AbortController()
    const ask = () => {
      if (document.visibilityState === 'hidden') return
      call('GET /api/platform/bars/forming', { query: wanted, signal: abort.signal }).then(
        ({ bar }) => (cell.forming.value = bar && { market: wanted, bar }),
        // The stored bars are shown without it.
        () => undefined,
      )
    }
    const heard = ({ bar, ...of }: StreamEvents['forming']) => {
      if (isSameMarket(of, wanted)) cell.forming.value = { market: wanted, bar }
    }
    const stop = onLive('forming', heard, ask)
    const again = setInterval(ask, FORMING_AGAIN_MS)
    document.addEventListener('visibilitychange', ask)
    ask()
    return () => {
      stop()
      clearInterval(again)
      document.removeEventListener('visibilitychange', ask)
      abort.abort()
      cell.forming.value = null
    }
  })
}
