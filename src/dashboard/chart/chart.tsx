// The chart: the view (canvas) with what is laid over it (legends, tables, tooltip, dialogs), and the keys it answers to.

import { batch, effect } from '@preact/signals'
import { render, type RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { addCommands, keyText, type Command } from '../commands.ts'
import { money, percent, price, quantity, time as timeText } from '../format.ts'
import { lazy } from '../frame/lazy.tsx'
import { href, navigate, query } from '../router.ts'
import { drawingBar, lastRun, palette, theme } from '../settings.ts'
import { copyText } from '../ui/copy-text.ts'
import { Button, cx, Empty, Failure, Progress, toastError } from '../ui/ui.tsx'
import { ApiError } from '../api-client.ts'
import { cancelRun, followBars, openBacktest, rerunOnChange, runScript } from '../run-script.ts'
import { alertAt, bottom, lookAt, market, run, running, runProblem, script, side } from '../workspace.ts'
import { barsDrawn, firstPaint } from '../first-paint.ts'
import { onLive } from '../live.ts'
import { barAt, loadBars, loadNewer, showsClock } from './bars.ts'
import s from './chart.module.css'
import {
  chartProblem,
  chartType,
  dateDialog,
  hover,
  hoveredTrade,
  intervalEntry,
  litTime,
  loadSymbols,
  markedTrade,
  mintick,
  paneBoxes,
  priceScale,
  replayOnChart,
  shown,
  showScript,
  showTrades,
  showVolume,
  stepInterval,
  studyDialog,
  symbols,
  symbolSearch,
  zone,
} from './chart-state.ts'
import { Legends } from './legend.tsx'
import type { MenuItem } from './menu.tsx'
import { chartView, putOnScreen, takePicture } from './on-screen.ts'
import { RangeBar } from './range-bar.tsx'
import { buildScene, MAIN_LAYER, stacked, type Scene } from './scene.ts'
import { layers, runStudies, settingsOf } from '../studies/studies.ts'
import type { TradeMarks } from './trades.ts'
import { ChartView } from './view.ts'

const ChartBar = lazy(async () => (await import('./chart-bar.tsx')).ChartBar)
const MenuList = lazy(async () => (await import('./menu.tsx')).MenuList)
const Tables = lazy(async () => (await import('./tables.tsx')).Tables)
const SymbolDialog = lazy(async () => (await import('./symbol-search.tsx')).SymbolDialog)
const StudyDialog = lazy(async () => (await import('../studies/study-dialog.tsx')).StudyDialog)
const StudySettings = lazy(async () => (await import('../studies/study-settings.tsx')).StudySettings)
const IntervalDialog = lazy(async () => (await import('./interval-dialog.tsx')).IntervalDialog)
const DateDialog = lazy(async () => (await import('./date-dialog.tsx')).DateDialog)

/** The current run's drawings on the bars shown; null if it ran on another market. */
function sceneOf(current: typeof run.value, chart: typeof shown.value) {
  if (!current || !chart) return null
  const { report, tracks } = current
  const { exchange, symbol: name, interval } = chart.market
  if (report.exchange !== exchange || report.symbol !== name || report.interval !== interval) return null
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

export function Chart() {
  const host = useRef<HTMLDivElement>(null)
  const [view, setView] = useState<ChartView | null>(null)
  const [menu, setMenu] = useState<{ x: number; y: number; price: number | null; bar: number | null } | null>(
    null,
  )
  // In a replay of the market alone nothing of a run is drawn: its trades would give away what comes next.
  const withTrades = replayOnChart.value?.withTrades ?? true
  const drawn = useMemo(() => sceneOf(run.value, shown.value), [run.value, shown.value])
  const main = drawn && showScript.value ? drawn.scene : null
  const scene = useMemo(
    () =>
      stacked([
        ...(main ? [{ id: MAIN_LAYER, scene: main }] : []),
        ...layers.value.flatMap(({ study, scene: own }) => (own ? [{ id: study.id, scene: own }] : [])),
      ]),
    [main, layers.value],
  )

  useEffect(() => {
    const made = new ChartView(host.current!, {
      onHover: (now) =>
        batch(() => {
          hover.value = now
          const trade = now?.trade?.n ?? null
          if (trade !== hoveredTrade.peek()) hoveredTrade.value = trade
        }),
      onClick: (now) => {
        markedTrade.value = now.trade?.n ?? null
      },
      onLayout: (boxes) => (paneBoxes.value = boxes),
    })
    putOnScreen(made)
    setView(made)
    if (symbols.peek() === null) loadSymbols().catch(toastError)
    const slot = document.getElementById('bar-slot')
    if (slot) render(<ChartBar />, slot)
    const stopRuns = rerunOnChange()
    const stopStudies = runStudies()
    return () => {
      stopRuns()
      stopStudies()
      if (slot) render(null, slot)
      putOnScreen(null)
      made.destroy()
      paneBoxes.value = []
      hover.value = null
    }
  }, [])

  useBars()
  useLiveBars()
  useFirstRun()
  useEffect(() => addCommands(chartCommands()), [])
  useDrawings(view, host)
  useTabTitle()
  useLookAt(view)

  // Only here does the state of the page reach the view: bars first, then what is drawn on them.
  useViewEffect(view, (made) => {
    const replay = replayOnChart.value
    const chart = shown.value
    const lit = litTime.value
    if (chartProblem.value) barsDrawn()
    if (!chart) return
    barsDrawn()
    made.set({
      ...(made.state.bars !== chart.bars && { bars: chart.bars }),
      interval: chart.market.interval,
      mintick: mintick.value,
      zone: zone.value,
      type: chartType.value,
      scale: priceScale.value,
      volume: showVolume.value,
      cut: replay?.cut ?? null,
      levels: replay?.levels ?? [],
      hideDates: replay?.blind ?? false,
      litBar: lit === null ? null : barAt(chart.bars, lit),
    })
  })
  useEffect(() => {
    view?.set({
      scene,
      trades: showTrades.value && showScript.value && withTrades ? (drawn?.trades ?? null) : null,
    })
  }, [view, scene, drawn, showTrades.value, showScript.value, withTrades])
  useViewEffect(view, (made) => {
    const [hovered, marked] = [hoveredTrade.value, markedTrade.value]
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
    if (/^[a-z]$/i.test(event.key) && !(replaying && /^[npb]$/i.test(event.key)))
      // A second letter may be typed before the dialog is there to receive it.
      symbolSearch.value = (symbolSearch.value ?? '') + event.key.toUpperCase()
    else if (/^[0-9]$/.test(event.key)) intervalEntry.value = (intervalEntry.value ?? '') + event.key
    else if (event.key === 'ArrowLeft' && !replaying) view?.scroll(-step)
    else if (event.key === 'ArrowRight' && !replaying) view?.scroll(step)
    else if (event.key === 'ArrowUp' || event.key === '+' || event.key === '=') view?.zoom(0.8)
    else if (event.key === 'ArrowDown' || event.key === '-') view?.zoom(1.25)
    else if (event.key === 'End') view?.toEnd()
    else if (event.key === 'Home') view?.fit()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const problem = chartProblem.value
  return (
    <div
      class={s.chart}
      onKeyDown={onKeyDown}
      onContextMenu={(event) => {
        event.preventDefault()
        const top = host.current!.getBoundingClientRect().top
        setMenu({
          x: event.clientX,
          y: event.clientY,
          price: view?.priceAt(event.clientY - top) ?? null,
          bar: hover.peek()?.bar ?? null,
        })
      }}
    >
      <div
        ref={host}
        class={s.host}
        tabIndex={0}
        role="application"
        aria-roledescription="price chart"
        aria-label={`Chart of ${market.value.symbol}, ${market.value.interval}. Arrow keys scroll and zoom, a letter searches symbols, comma and full stop change the interval.`}
        onPointerLeave={() => (hover.value = null)}
      />
      {running.value && (
        <div class={s.running}>
          <Progress fraction={null} label="The script is running" />
          <Button size="small" class={s.cancel ?? ''} onClick={cancelRun}>
            Cancel the run
          </Button>
        </div>
      )}
      {scene && hasTables(scene) && <Tables scene={scene} />}
      <Legends main={main} layers={layers.value} />
      {settingsOf.value !== '' && <StudySettings key={settingsOf.value} id={settingsOf.value} />}
      {studyDialog.value !== null && <StudyDialog />}
      {hover.value?.trade && <TradeTooltip />}
      {runProblem.value && !problem && <RunProblem />}
      {problem ? (
        <div class={s.cover}>
          <ChartProblem problem={problem} />
        </div>
      ) : (
        !shown.value && (
          <div class={s.cover} aria-busy="true">
            <span class="muted">Loading bars…</span>
          </div>
        )
      )}
      <a class={s.attribution} href="https://www.tradingview.com/" target="_blank" rel="noreferrer">
        Charts by TradingView
      </a>
      {symbolSearch.value !== null && <SymbolDialog />}
      {intervalEntry.value !== null && <IntervalDialog />}
      {dateDialog.value && <DateDialog />}
      <RangeBar view={view} />
      {menu && (
        <MenuList
          label="Chart"
          items={contextItems(menu.price, menu.bar)}
          x={menu.x}
          y={menu.y}
          onClose={() => setMenu(null)}
        />
      )}
    </div>
  )
}

/**
 * The drawing tools load once the bars are there, so nothing waits for them. Keys that were pressed on the chart before
 * that, and that nobody handled, are repeated: one of them may have been meant for a tool.
 */
function useDrawings(view: ChartView | null, host: RefObject<HTMLDivElement | null>): void {
  const once = useRef(false)
  once.current ||= shown.value !== null
  const ready = once.current
  const kept = useRef<KeyboardEvent[] | null>([])
  useEffect(() => {
    const keep = (event: KeyboardEvent) => {
      if (event.target === host.current && !chartProblem.peek()) kept.current?.push(event)
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
      if (!gone && host.current) detach = attachDrawings(host.current, view, pressAgain)
    }, toastError)
    return () => {
      gone = true
      detach?.()
    }
  }, [view, ready])
}

/** Loads the bars of the market on the chart. */
function useBars(): void {
  useEffect(() => {
    let loading: AbortController | null = null
    return effect(() => {
      const wanted = market.value
      loading?.abort()
      const mine = new AbortController()
      loading = mine
      const now = shown.peek()
      if (
        now &&
        (now.market.symbol !== wanted.symbol ||
          now.market.exchange !== wanted.exchange ||
          now.market.interval !== wanted.interval)
      )
        shown.value = null
      chartProblem.value = null
      loadBars(wanted, mine.signal, (bars) => (shown.value = { market: wanted, bars })).catch(
        (error: unknown) => {
          if (!mine.signal.aborted) chartProblem.value = error
        },
      )
    })
  }, [])
}

const LIVE_DELAY_MS = 250

/** Shows new bars as they are stored; those of finer intervals too, since this interval may be built from them. */
function useLiveBars(): void {
  useEffect(() => {
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const fetchNewer = async () => {
      const before = shown.peek()
      if (!before) return
      const bars = await loadNewer(before.market, before.bars, abort.signal)
      if (shown.peek() !== before || bars === before.bars) return
      shown.value = { market: before.market, bars }
      // During a replay nothing is added: its bars and trades stay as they were.
      if (replayOnChart.peek() === null) void followBars()
    }
    // An import reports every block it stores, and a busy market every trade. The first report starts the wait, so that
    // later ones cannot postpone the request for ever. A failure is not shown here, because the next load of bars meets it
    // again.
    const fetchSoon = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        void fetchNewer().catch(() => undefined)
      }, LIVE_DELAY_MS)
    }
    const stop = onLive(
      'bars',
      ({ exchange, symbol }) => {
        const now = shown.peek()?.market
        if (now?.exchange === exchange && now.symbol === symbol) fetchSoon()
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

/** Restores a run on the chart: the backtest in the address, else the last run, else a first run of the open script. */
function useFirstRun(): void {
  useEffect(() => {
    const asked = query.peek().get('backtest')
    const again = asked ?? lastRun.peek()
    if (run.peek() && !asked) return undefined
    const begin = () => {
      if (script.peek().source !== '') void runScript()
    }
    const restore = () => {
      if (again === '') return begin()
      openBacktest(again, { market: asked ? 'follow' : 'keep' }).then(
        (opened) => {
          if (!opened) begin()
        },
        (error: unknown) => {
          if (asked) toastError(error)
          else begin()
        },
      )
    }
    let left = false
    // A run's tracks are ten times the bars that fit on the screen, and those come first.
    if (asked) restore()
    else
      void firstPaint.then(() => {
        if (!left && !run.peek() && !running.peek()) restore()
      })
    return () => {
      left = true
    }
  }, [])
}

/**
 * Runs with the view as soon as it exists, and again whenever a signal that it read changes. It has to run at the start
 * as well: after coming back to the chart all signals have their values already, and may not change for a while.
 */
function useViewEffect(view: ChartView | null, run: (view: ChartView) => void): void {
  useEffect(() => (view ? effect(() => run(view)) : undefined), [view])
}

function useLookAt(view: ChartView | null): void {
  useViewEffect(view, (made) => {
    const asked = lookAt.value
    const chart = shown.value
    if (!asked || !chart) return
    // Answer only once, or every new bar would pull the chart back there. If the time is older than the bars loaded so far,
    // keep the question until the others have arrived.
    if (asked.time >= (chart.bars.time[0] ?? Infinity)) lookAt.value = null
    if (asked.trade !== undefined) markedTrade.value = asked.trade
    const trade =
      asked.trade === undefined ? undefined : run.peek()?.report.trades.find((one) => one.n === asked.trade)
    if (trade) made.lookAtRange(barAt(chart.bars, trade.entryTime), barAt(chart.bars, trade.exitTime))
    else made.lookAt(barAt(chart.bars, asked.time))
  })
}

function contextItems(at: number | null, bar: number | null): readonly MenuItem[] {
  const shownPrice = at === null ? '' : price(at, mintick.value)
  return [
    ...(at === null
      ? []
      : [
          {
            id: 'alert',
            text: `Alert at ${shownPrice}…`,
            hint: keyText('Alt+A'),
            icon: 'bell' as const,
            run: () => askAlert(at),
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
      hint: keyText('Alt+R'),
      icon: 'expand',
      run: () => chartView()?.resetScale(),
    },
    {
      id: 'date',
      text: 'Go to date…',
      hint: keyText('Alt+G'),
      icon: 'clock',
      run: () => (dateDialog.value = true),
    },
    { id: 'picture', text: 'Save a picture', hint: keyText('Alt+S'), icon: 'camera', run: takePicture },
    { id: 'replay', text: 'Replay from here', icon: 'replay', run: () => replayFrom(bar) },
  ]
}

/** Replays the run on the chart if it has trades, otherwise the market alone. */
function replayFrom(bar: number | null): void {
  bottom.value = 'replay'
  const drawn = sceneOf(run.peek(), shown.peek())
  const source = drawn && drawn.trades.trades.length > 0 ? 'backtest' : 'market'
  import('../replay/replay-session.ts').then(({ begin }) => begin(source, { at: bar })).catch(toastError)
}

function askAlert(at: number): void {
  const tick = mintick.value
  alertAt.value = { market: market.value, price: Number((Math.round(at / tick) * tick).toFixed(10)) }
  side.value = 'alerts'
}

function chartCommands(): readonly Command[] {
  const section = 'Chart'
  return [
    { id: 'chart:symbol', title: 'Change symbol', section, keys: '/', run: () => (symbolSearch.value = '') },
    { id: 'chart:studies', title: 'Indicators', section, keys: 'Alt+I', run: () => (studyDialog.value = '') },
    {
      id: 'chart:fullscreen',
      title: 'Whole screen on or off',
      section,
      keys: 'Alt+Enter',
      run: toggleFullScreen,
    },
    { id: 'chart:finer', title: 'Finer interval', section, keys: ',', run: () => stepInterval(-1) },
    { id: 'chart:coarser', title: 'Coarser interval', section, keys: '.', run: () => stepInterval(1) },
    { id: 'chart:date', title: 'Go to date', section, keys: 'Alt+G', run: () => (dateDialog.value = true) },
    {
      id: 'chart:reset',
      title: 'Reset the view',
      section,
      keys: 'Alt+R',
      run: () => chartView()?.resetScale(),
    },
    { id: 'chart:fit', title: 'Show all bars', section, keys: 'Alt+F', run: () => chartView()?.fit() },
    {
      id: 'chart:log',
      title: 'Logarithmic scale',
      section,
      keys: 'Alt+L',
      run: () => (priceScale.value = priceScale.value === 'log' ? 'linear' : 'log'),
    },
    {
      id: 'chart:percent',
      title: 'Scale in per cent',
      section,
      keys: 'Alt+P',
      run: () => (priceScale.value = priceScale.value === 'percent' ? 'linear' : 'percent'),
    },
    {
      id: 'chart:drawings',
      title: 'Show or hide the drawing tools',
      section,
      run: () => (drawingBar.value = !drawingBar.value),
    },
    { id: 'chart:picture', title: 'Save a picture of the chart', section, keys: 'Alt+S', run: takePicture },
    {
      id: 'chart:volume',
      title: 'Show or hide volume',
      section,
      run: () => (showVolume.value = !showVolume.value),
    },
    {
      id: 'chart:trades',
      title: 'Show or hide trades',
      section,
      run: () => (showTrades.value = !showTrades.value),
    },
    {
      id: 'chart:alert',
      title: 'Alert at the crosshair',
      section: 'Alerts',
      keys: 'Alt+A',
      run: () => {
        const bars = shown.value?.bars
        const at = hover.value?.price ?? bars?.close[bars.length - 1]
        if (at !== undefined) askAlert(at)
      },
    },
  ]
}

/** Shows the chart with its bars and drawers on the whole screen, without the browser around it. */
function toggleFullScreen(): void {
  const change = document.fullscreenElement
    ? document.exitFullscreen()
    : document.documentElement.requestFullscreen()
  change.catch(toastError)
}

/** The tab's title shows the price, so that it can be watched from another tab. */
function useTabTitle(): void {
  useEffect(() => {
    const stop = effect(() => {
      const chart = shown.value
      const last = chart ? chart.bars.length - 1 : -1
      if (!chart || last < 0 || replayOnChart.value?.blind) return
      const { close } = chart.bars
      const [now, before] = [close[last]!, close[last - 1] ?? close[last]!]
      const change = percent(before === 0 ? null : now / before - 1, { plus: true })
      document.title = `${chart.market.symbol} ${price(now, mintick.value)} ${change} · Chartroom`
    })
    return () => {
      stop()
      document.title = 'Chartroom'
    }
  }, [])
}

function TradeTooltip() {
  const now = hover.value
  const trade = now?.trade
  const report = run.value?.report
  if (!now || !trade || !report) return null
  const clock = showsClock(report.interval)
  const box = paneBoxes.value[0]
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
          <span class="muted"> {timeText(trade.entryTime, zone.value, clock)}</span>
        </dd>
        <dt>{trade.status === 'open' ? 'Still open' : trade.exitComment || trade.exitId}</dt>
        <dd class="num">
          {price(trade.exitPrice, report.mintick)}
          <span class="muted"> {timeText(trade.exitTime, zone.value, clock)}</span>
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

function ChartProblem({ problem }: { readonly problem: unknown }) {
  const missing = problem instanceof ApiError && problem.status === 404
  if (!missing) return <Failure error={problem} onRetry={() => (market.value = { ...market.value })} />
  const { exchange, symbol: name, interval } = market.value
  return (
    <Empty
      title={`No bars of ${exchange}:${name} at ${interval}`}
      action={
        <span class={s.choices}>
          <Button variant="primary" onClick={() => (symbolSearch.value = '')}>
            Choose a symbol
          </Button>
          <a
            href={href('/settings/bars')}
            onClick={(event) => {
              event.preventDefault()
              navigate('/settings/bars')
            }}
          >
            Import bars
          </a>
        </span>
      }
    >
      {problem.message}
    </Empty>
  )
}
