// One chart of the page: the view (canvas) with what is laid over it (legends, tables, tooltip), and the keys it answers to.

import { batch, effect } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { intervalMs, parseInterval } from '../../market/interval.ts'
import { ApiError } from '../api-client.ts'
import { POLLED_EXCHANGES, STREAMED_EXCHANGES } from '../../market/live/streamed.ts'
import { call } from '../api-client.ts'
import { isSameMarket, placed, scriptId, type Market } from '../charts.ts'
import { keysShown } from '../commands.ts'
import { barsDrawn, firstPaint } from '../first-paint.ts'
import { money, percent, price, quantity, time as timeText } from '../format.ts'
import { lazy } from '../frame/lazy.tsx'
import { onLive } from '../live.ts'
import { followBars, runScript } from '../run-script.ts'
import { palette, theme } from '../settings.ts'
import { layersOf, type Layer } from '../studies/studies.ts'
import { copyText } from '../ui/copy-text.ts'
import { Button, cx, Failure, Progress, toastError } from '../ui/ui.tsx'
import {
  alertAt,
  bottom,
  bottomMaximised,
  lookAt,
  run,
  running,
  runProblem,
  runProgress,
  side,
} from '../workspace.ts'
import { barAt, endOfBar, lastOver, loadBars, loadNewer, showsClock } from './bars.ts'
import { onTick, type Cell, type ShownBars } from './cell.ts'
import { isPartOf } from './made-markets.ts'
import s from './chart.module.css'
import {
  activate,
  activeCell,
  dateDialog,
  entered,
  hoveredTrade,
  intervalEntry,
  litTime,
  markedTrade,
  replayOnChart,
  symbolSearch,
} from './chart-state.ts'
import { closesOn, type ComparedLine } from './compared.ts'
import { nameOf, useCompared } from './compare-symbols.ts'
import { Legends } from './legend.tsx'
import { passHover, passRange, passTime, takeRange } from './links.ts'
import type { MenuItem } from './menu.tsx'
import { takePicture } from './on-screen.ts'
import { isPriceType } from './draw-bars.ts'
import { sampled } from './sampled.ts'
import { buildScene, MAIN_LAYER, stacked, type Scene } from './scene.ts'
import type { TradeMarks } from './trades.ts'
import { ChartView } from './view.ts'

const MenuList = lazy(async () => (await import('./menu.tsx')).MenuList)
const AlertLines = lazy(
  async () => {
    await firstPaint
    return (await import('../alerts/alert-lines.tsx')).AlertLines
  },
  { isAddition: true },
)
const NoBars = lazy(async () => (await import('./no-bars.tsx')).NoBars)
const Tables = lazy(async () => (await import('./tables.tsx')).Tables)

const isActive = (cell: Cell): boolean => activeCell.value === cell
/** Whether the editor's script runs on this chart. */
const hasScript = (cell: Cell): boolean => scriptId.value === cell.id

/** The current run's drawings on the bars of a chart; null if it ran on another. */
function sceneOf(cell: Cell, current: typeof run.value, chart: Cell['shown']['value']) {
  if (!current || !chart || !hasScript(cell)) return null
  const { report, tracks } = current
  if (!isSameMarket(report, chart.market)) return null
  const scene = buildScene(
    report.script.shorttitle || report.script.title || current.name,
    tracks,
    chart.bars,
  )
  const trades: TradeMarks = { trades: report.trades, base: scene.base }
  return { scene, trades }
}

const hasTables = ({ panes }: Scene): boolean =>
  panes.some(({ marks }) => marks.some((mark) => mark.kind === 'drawings' && mark.items[0]?.kind === 'table'))

/** The last bar that a replay shows on a chart; -1 = none yet, null = there is no replay. */
function cutOf(cell: Cell): number | null {
  const replay = replayOnChart.value
  if (!replay || isActive(cell)) return replay?.cut ?? null
  const [chart, replayed] = [cell.shown.value, activeCell.value.shown.value]
  if (!chart || !replayed) return -1
  return lastOver(
    chart.bars,
    chart.market.interval,
    endOfBar(replayed.bars, replay.cut, replayed.market.interval),
  )
}

const barMsOf = ({ interval }: Market): number => {
  const parsed = parseInterval(interval)
  return parsed ? intervalMs(parsed) : 86_400_000
}

export function ChartCell({
  cell,
  area,
  number,
  marked,
}: {
  readonly cell: Cell
  /** Its place in the grid. */
  readonly area: string
  /** Its number among several charts; 0 = there is only one. */
  readonly number: number
  /** Whether the active one is marked. */
  readonly marked: boolean
}) {
  const host = useRef<HTMLDivElement>(null)
  const [view, setView] = useState<ChartView | null>(null)
  const [menu, setMenu] = useState<{ x: number; y: number; price: number | null; bar: number | null } | null>(
    null,
  )
  // In a replay of the market alone nothing of a run is drawn: its trades would give away what comes next.
  const withTrades = replayOnChart.value?.withTrades ?? true
  const withScript = hasScript(cell)
  const drawn = useMemo(
    () => sceneOf(cell, run.value, cell.shown.value),
    [run.value, cell.shown.value, withScript],
  )
  const showsScript = cell.showScript.value
  const main = drawn && showsScript ? drawn.scene : null
  const layers = layersOf(cell).value
  const scene = useMemo(
    () =>
      stacked([
        ...(main ? [{ id: MAIN_LAYER, scene: main }] : []),
        ...layers.flatMap(({ study, scene: own, pane }) => (own ? [{ id: study.id, scene: own, pane }] : [])),
      ]),
    [main, layers],
  )

  useEffect(() => {
    const made = new ChartView(host.current!, {
      onHover: (now) => {
        batch(() => {
          cell.hover.value = now
          const trade = now?.trade?.n ?? null
          if (trade !== hoveredTrade.peek()) hoveredTrade.value = trade
        })
        passHover(cell, now)
      },
      onClick: (now) => {
        markedTrade.value = now.trade?.n ?? null
        passTime(cell, now.bar)
      },
      onRange: () => passRange(cell),
      onLayout: (boxes) => (cell.paneBoxes.value = boxes),
    })
    cell.view.value = made
    setView(made)
    return () => {
      cell.view.value = null
      made.destroy()
      cell.paneBoxes.value = []
      cell.hover.value = null
    }
  }, [])

  useBars(cell)
  useLiveBars(cell)
  useFormingBar(cell)
  useCompared(cell)
  useDrawings(cell, view, host)
  useLookAt(cell, view)

  // Only here does the state of the page reach the view: bars first, then what is drawn on them.
  useViewEffect(view, (made) => {
    const replay = replayOnChart.value
    const chart = cell.drawn.value
    const lit = hasScript(cell) ? litTime.value : null
    if (cell.problem.value) barsDrawn()
    if (!chart) return
    barsDrawn()
    const fresh = made.state.bars !== chart.bars
    made.set({
      ...(fresh && { bars: chart.bars }),
      interval: chart.market.interval,
      mintick: cell.mintick.value,
      zone: cell.zone.value,
      // Renko in a replay is candles: it goes by the real bars.
      type: isPriceType(cell.type.value) && cell.replaying.value ? 'candles' : cell.type.value,
      box: chart.box,
      scale: cell.scale.value,
      volume: cell.volume.value,
      cut: cutOf(cell),
      levels: isActive(cell) ? (replay?.levels ?? []) : [],
      hideDates: replay?.blind ?? false,
      litBar: lit === null ? null : barAt(chart.bars, lit),
      compared: linesOf(cell, chart),
    })
    if (fresh) takeRange(cell)
  })
  const source = cell.drawn.value?.source ?? null
  const showsTrades = cell.trades.value && showsScript && withTrades
  useEffect(() => {
    view?.set({
      scene: source && scene ? sampled(scene, source) : scene,
      trades: showsTrades && !source ? (drawn?.trades ?? null) : null,
    })
  }, [view, scene, drawn, showsTrades, source])
  useViewEffect(view, (made) => {
    const [hovered, marked] = hasScript(cell) ? [hoveredTrade.value, markedTrade.value] : [null, null]
    made.set({ hoveredTrade: hovered, markedTrade: marked })
  })
  useViewEffect(view, (made) => {
    void [theme.value, palette.value]
    made.refreshTheme()
  })

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    // Keys typed in a dialog over the chart belong to the dialog.
    if ((event.target as Element).closest('[role="dialog"], input, textarea, select')) return
    const replaying = replayOnChart.value !== null
    const step = event.shiftKey ? 30 : 5
    const take = () => {
      event.preventDefault()
      event.stopPropagation()
    }
    if (typeAhead(event.key)) return take()
    if (/^[a-z]$/i.test(event.key) && !(replaying && /^[npb]$/i.test(event.key)))
      symbolSearch.value = event.key.toUpperCase()
    else if (/^[0-9]$/.test(event.key)) intervalEntry.value = event.key
    else if (event.key === 'ArrowLeft' && !replaying) view?.scroll(-step)
    else if (event.key === 'ArrowRight' && !replaying) view?.scroll(step)
    else if (event.key === 'ArrowUp' || event.key === '+' || event.key === '=') view?.zoom(0.8)
    else if (event.key === 'ArrowDown' || event.key === '-') view?.zoom(1.25)
    else if (event.key === 'End') view?.toEnd()
    else if (event.key === 'Home') view?.fit()
    else return
    take()
  }
  const { symbol: name, interval } = cell.market.value
  const place = number > 0 ? `Chart ${number} of ${placed.value.length}: ` : 'Chart of '
  const active = isActive(cell)
  return (
    <div
      class={s.cell}
      style={{ gridArea: area }}
      data-active={marked && active}
      data-chart={cell.id}
      onPointerDownCapture={() => activate(cell.id)}
      onFocusIn={() => activate(cell.id)}
      onKeyDown={onKeyDown}
      onContextMenu={(event) => {
        event.preventDefault()
        const top = host.current!.getBoundingClientRect().top
        setMenu({
          x: event.clientX,
          y: event.clientY,
          price: view?.priceAt(event.clientY - top) ?? null,
          bar: realBar(cell, cell.hover.peek()?.bar ?? null),
        })
      }}
    >
      <div
        ref={host}
        class={s.host}
        tabIndex={0}
        role="application"
        aria-roledescription="price chart"
        aria-label={`${place}${name}, ${interval}. Arrow keys scroll and zoom, a letter searches symbols, comma and full stop change the interval.`}
        onPointerLeave={() => {
          cell.hover.value = null
          passHover(cell, null)
        }}
      />
      {withScript && running.value && (
        <div class={s.running}>
          <Progress fraction={runProgress.value} label="The script is running" />
        </div>
      )}
      {scene && hasTables(scene) && <Tables chart={cell} scene={scene} cut={cutOf(cell)} />}
      {view && cell.shown.value && <AlertLines cell={cell} view={view} host={host} />}
      <Legends
        cell={cell}
        withScript={withScript}
        main={main && source ? sampled(main, source) : main}
        layers={source ? layers.map((one) => onPriceBars(one, source)) : layers}
        cut={cutOf(cell)}
      />
      {withScript && cell.hover.value?.trade && <TradeTooltip cell={cell} />}
      {withScript && runProblem.value && !cell.problem.value && <RunProblem />}
      <Cover cell={cell} />
      {menu && (
        <MenuList
          label="Chart"
          items={contextItems(cell, menu.price, menu.bar)}
          x={menu.x}
          y={menu.y}
          onClose={() => setMenu(null)}
        />
      )}
    </div>
  )
}

/**
 * What follows the first letter or digit may be typed before its dialog is there to receive it: digits, operators and Enter
 * too. False = no dialog is about to open, or the key means nothing to one.
 */
function typeAhead(key: string): boolean {
  const open = [symbolSearch, intervalEntry].find((entry) => entry.peek() !== null)
  const text = open?.peek() ?? ''
  if (!open) return false
  if (key === 'Escape') open.value = null
  else if (key === 'Enter') entered.value = true
  else if (key === 'Backspace') open.value = text.slice(0, -1)
  else if (key.length === 1) open.value = text + (open === symbolSearch ? key.toUpperCase() : key)
  else return false
  if (key !== 'Enter') entered.value = false
  return true
}

/** The other symbols as the view draws them. */
function linesOf(cell: Cell, { market, bars }: Pick<ShownBars, 'market' | 'bars'>): readonly ComparedLine[] {
  return (cell.compared.value ?? []).flatMap(({ scale, color, hidden, ...of }) => {
    const other = cell.comparedBars.value[nameOf(of)]
    if (hidden || !other || other instanceof Error) return []
    return { values: closesOn(bars, other, barMsOf(market)), scale, color }
  })
}

const onPriceBars = (layer: Layer, source: Int32Array): Layer => ({
  ...layer,
  scene: layer.scene && sampled(layer.scene, source),
})

/** The real bar behind one that is drawn. */
const realBar = (cell: Cell, bar: number | null): number | null =>
  bar === null ? null : (cell.drawn.peek()?.source?.[bar] ?? bar)

/** What covers the chart while it has no bars to show. */
function Cover({ cell }: { readonly cell: Cell }) {
  const problem = cell.problem.value
  const replay = replayOnChart.value
  const hidden = replay !== null && !isActive(cell) && (replay.blind || cutOf(cell) === -1)
  if (problem)
    return (
      <div class={s.cover}>
        <ChartProblem cell={cell} problem={problem} />
      </div>
    )
  if (hidden)
    return (
      <div class={s.cover}>
        <span class="muted">Hidden during this replay</span>
      </div>
    )
  return cell.shown.value ? null : (
    <div class={s.cover} aria-busy="true">
      <span class="muted">Loading bars…</span>
    </div>
  )
}

/**
 * Loads the drawing tools once there are bars, so that the bars need not wait for them. Keys pressed on the chart until
 * then that nothing else used are sent again, since one of them may belong to a tool.
 */
function useDrawings(cell: Cell, view: ChartView | null, host: RefObject<HTMLDivElement | null>): void {
  const once = useRef(false)
  once.current ||= cell.shown.value !== null
  const ready = once.current
  const kept = useRef<KeyboardEvent[] | null>([])
  // Before the browser paints: from then on the chart can have the focus, and on a busy machine effects come later.
  useLayoutEffect(() => {
    const keep = (event: KeyboardEvent) => {
      if (event.target === host.current && !cell.problem.peek()) kept.current?.push(event)
    }
    window.addEventListener('keydown', keep)
    return () => window.removeEventListener('keydown', keep)
  }, [])
  const pressAgain = () => {
    const untaken = (kept.current ?? []).filter((event) => !event.defaultPrevented)
    kept.current = null
    for (const event of untaken)
      if (document.activeElement === host.current)
        host.current?.dispatchEvent(new KeyboardEvent(event.type, event))
  }
  useEffect(() => {
    if (!view || !ready) return undefined
    let detach: (() => void) | null = null
    let gone = false
    import('../drawings/attach.ts').then(({ attachDrawings }) => {
      if (!gone && host.current) detach = attachDrawings(host.current, view, cell, pressAgain)
    }, toastError)
    return () => {
      gone = true
      detach?.()
    }
  }, [view, ready])
}

/** Loads the bars of the market on a chart. */
function useBars(cell: Cell): void {
  useEffect(() => {
    let loading: AbortController | null = null
    return effect(() => {
      const wanted = cell.market.value
      loading?.abort()
      const mine = new AbortController()
      loading = mine
      const now = cell.shown.peek()
      if (now && !isSameMarket(now.market, wanted)) {
        cell.shown.value = null
        // The crosshair was on a bar of the previous market, here and on linked charts.
        cell.hover.value = null
        cell.view.peek()?.hideCrosshair()
        passHover(cell, null)
      }
      cell.problem.value = null
      loadBars(wanted, mine.signal, (bars, isAll) => {
        cell.shown.value = { market: wanted, bars, isAll }
      }).catch((error: unknown) => {
        if (!mine.signal.aborted) cell.problem.value = error
      })
    })
  }, [])
}

const LIVE_DELAY_MS = 250

/** Shows new bars as they are stored; those of finer intervals too, since this interval may be built from them. */
function useLiveBars(cell: Cell): void {
  useEffect(() => {
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
    const stop = onLive(
      'bars',
      ({ exchange, symbol }) => {
        if (isPartOf({ exchange, symbol }, cell.market.peek())) fetchSoon()
      },
      fetchSoon,
    )
    return () => {
      stop()
      clearTimeout(timer)
      abort.abort()
    }
  }, [])
}

/** The server tells of the forming bar of whom it was asked for a while, so it is asked again before that is over. */
const FORMING_AGAIN_MS = 60_000

/** Whose bars may be kept fresh. */
const FOLLOWED = [...STREAMED_EXCHANGES, ...POLLED_EXCHANGES]

/** Shows the bar that is not over yet, where the market may be followed. */
function useFormingBar(cell: Cell): void {
  useEffect(
    () =>
      effect(() => {
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
        const stop = onLive(
          'forming',
          ({ exchange, symbol, interval, bar }) => {
            if (isSameMarket({ exchange, symbol, interval }, wanted))
              cell.forming.value = { market: wanted, bar }
          },
          ask,
        )
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
      }),
    [],
  )
}

/**
 * Runs with the view as soon as it exists, and again whenever a signal that it read changes. It has to run at the start
 * as well: after coming back to the chart all signals have their values already, and may not change for a while.
 */
function useViewEffect(view: ChartView | null, run: (view: ChartView) => void): void {
  useEffect(() => (view ? effect(() => run(view)) : undefined), [view])
}

function useLookAt(cell: Cell, view: ChartView | null): void {
  useViewEffect(view, (made) => {
    const asked = lookAt.value
    const chart = cell.drawn.value
    if (!asked || !chart) return
    if (asked.trade === undefined ? !isActive(cell) : !hasScript(cell)) return
    // Answer only once, or every new bar would pull the chart back there. If the time is older than the bars loaded so far,
    // keep the question until the others have arrived.
    if (asked.time >= (chart.bars.time[0] ?? Infinity)) lookAt.value = null
    // What hides it is opened.
    bottomMaximised.value = false
    if (asked.trade !== undefined) {
      markedTrade.value = asked.trade
      cell.showScript.value = true
      if (!cell.trades.value) cell.trades.value = true
    }
    const trade =
      asked.trade === undefined ? undefined : run.peek()?.report.trades.find((one) => one.n === asked.trade)
    if (trade) made.lookAtRange(barAt(chart.bars, trade.entryTime), barAt(chart.bars, trade.exitTime))
    else made.lookAt(barAt(chart.bars, asked.time))
    passTime(cell, barAt(chart.bars, asked.time))
  })
}

function contextItems(cell: Cell, at: number | null, bar: number | null): readonly MenuItem[] {
  const shownPrice = at === null ? '' : price(at, cell.mintick.value)
  return [
    ...(at === null
      ? []
      : [
          {
            id: 'alert-here',
            text: `Alert when ${cell.market.value.symbol} crosses ${shownPrice}`,
            icon: 'bell' as const,
            run: () => {
              import('../alerts/on-charts.ts').then(
                ({ addAlertAt }) => addAlertAt(cell.market.peek(), onTick(cell, at)),
                toastError,
              )
            },
          },
          {
            id: 'alert',
            text: `Alert at ${shownPrice}…`,
            hint: keysShown('chart:alert'),
            icon: 'bell' as const,
            run: () => askAlert(cell, at),
          },
          {
            id: 'copy',
            text: `Copy ${shownPrice}`,
            icon: 'copy' as const,
            run: () => copyText(String(at), `Copied ${shownPrice}`),
          },
        ]),
    {
      id: 'reset',
      text: 'Reset the view',
      hint: keysShown('chart:reset'),
      icon: 'expand',
      run: () => cell.view.peek()?.resetScale(),
    },
    {
      id: 'date',
      text: 'Go to date…',
      hint: keysShown('chart:date'),
      icon: 'clock',
      run: () => (dateDialog.value = true),
    },
    {
      id: 'picture',
      text: 'Save a picture',
      hint: keysShown('chart:picture'),
      icon: 'camera',
      run: takePicture,
    },
    { id: 'replay', text: 'Replay from here', icon: 'replay', run: () => replayFrom(cell, bar) },
  ]
}

/** Replays the run on the chart if it has trades, otherwise the market alone. */
function replayFrom(cell: Cell, bar: number | null): void {
  bottom.value = 'replay'
  const drawn = sceneOf(cell, run.peek(), cell.shown.peek())
  const source = drawn && drawn.trades.trades.length > 0 ? 'backtest' : 'market'
  import('../replay/replay-session.ts').then(({ begin }) => begin(source, { at: bar })).catch(toastError)
}

export function askAlert(cell: Cell, at: number): void {
  alertAt.value = { market: cell.market.value, price: onTick(cell, at) }
  side.value = 'alerts'
}

function TradeTooltip({ cell }: { readonly cell: Cell }) {
  const now = cell.hover.value
  const trade = now?.trade
  const report = run.value?.report
  if (!now || !trade || !report) return null
  const clock = showsClock(report.interval)
  const box = cell.paneBoxes.value[0]
  const right = now.x > (box?.width ?? 800) - 260
  return (
    <div
      class={s.tooltip}
      style={{ left: `${right ? now.x - 252 : now.x + 16}px`, top: `${Math.max(8, now.y - 60)}px` }}
      aria-hidden="true"
    >
      <div class={s.tooltipHead}>
        <span>
          #{trade.n} {trade.side === 'long' ? 'Long' : 'Short'} {quantity(trade.qty)}
        </span>
        <span class={cx('num', trade.profit >= 0 ? 'up' : 'down')}>
          {money(trade.profit, report.currency, { plus: true })}
        </span>
      </div>
      <dl class={s.tooltipList}>
        <dt>{trade.entryComment || trade.entryId}</dt>
        <dd class="num">
          {price(trade.entryPrice, report.mintick)}
          <span class="muted"> {timeText(trade.entryTime, cell.zone.value, clock)}</span>
        </dd>
        <dt>{trade.status === 'open' ? 'Still open' : trade.exitComment || trade.exitId}</dt>
        <dd class="num">
          {price(trade.exitPrice, report.mintick)}
          <span class="muted"> {timeText(trade.exitTime, cell.zone.value, clock)}</span>
        </dd>
        <dt>Result</dt>
        <dd class="num">
          {percent(trade.profitPct, { plus: true })}
          <span class="muted"> in {trade.bars} bars</span>
        </dd>
        <dt>Best, worst</dt>
        <dd class="num">
          {percent(trade.runupPct, { plus: true })} <span class="muted">/</span> {percent(trade.drawdownPct)}
        </dd>
      </dl>
    </div>
  )
}

function RunProblem() {
  const problem = runProblem.value
  if (!problem) return null
  const id = problem instanceof ApiError ? problem.requestId : ''
  return (
    <div class={s.runProblem} role="alert">
      <span>{problem.message}</span>
      {id && <code class="muted">{id}</code>}
      <Button size="small" onClick={() => void runScript()}>
        Run again
      </Button>
      <Button
        variant="quiet"
        size="small"
        icon="close"
        label="Dismiss"
        onClick={() => (runProblem.value = null)}
      />
    </div>
  )
}

function ChartProblem({ cell, problem }: { readonly cell: Cell; readonly problem: unknown }) {
  const missing = problem instanceof ApiError && problem.status === 404
  if (!missing)
    return <Failure error={problem} onRetry={() => (cell.market.value = { ...cell.market.value })} />
  return <NoBars cell={cell} about={problem.message} />
}
