// The charts of the page in their grid, with what they share: the range bar, the dialogs, the commands.

import { signal, useSignalEffect } from '@preact/signals'
import { render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { activeId, charts, placed, neighbourOf } from '../charts.ts'
import { addCommands } from '../commands.ts'
import { firstPaint } from '../first-paint.ts'
import { price, intervalText, gain } from '../format.ts'
import { lazy } from '../frame/lazy.tsx'
import { query } from '../router.ts'
import { CANCELLED, openBacktest, rerunOnChange, runOpened, UNSTORED } from '../run-script.ts'
import { lastRun } from '../settings.ts'
import { settingsOf, StudyRuns } from '../studies/studies.ts'
import { cx, toastError } from '../ui/ui.tsx'
import { run, running, script } from '../workspace.ts'
import { loadSymbols } from './cell.ts'
import { ChartCell, useDrawingTools } from './chart-cell.tsx'
import s from './chart.module.css'
import {
  activeCell,
  cellOf,
  intervalEntry,
  maximised,
  mintick,
  replayOnChart,
  shown,
  studyDialog,
  symbolSearch,
  activate,
} from './chart-state.ts'
import { areaName, areasText } from '../layouts/areas.ts'
import { followDriver } from './links.ts'
import { RangeBar } from './range-bar.tsx'

const ChartBar = lazy(async () => (await import('./chart-bar.tsx')).ChartBar)
const SymbolDialog = lazy(async () => (await import('./symbol-search.tsx')).SymbolDialog)
const StudyDialog = lazy(async () => (await import('../studies/study-dialog.tsx')).StudyDialog)
const StudySettings = lazy(async () => (await import('../studies/study-settings.tsx')).StudySettings)
const IntervalDialog = lazy(async () => (await import('./interval-dialog.tsx')).IntervalDialog)

export function Chart() {
  const grid = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Each time the chart is opened: a symbol that was imported meanwhile has a zone and a tick of its own.
    loadSymbols().catch(toastError)
    const commands = import('./chart-commands.ts').then(({ COMMANDS }) => addCommands(COMMANDS))
    commands.catch(toastError)
    const slot = document.getElementById('bar-slot')
    if (slot) render(<ChartBar />, slot)
    const runs = new StudyRuns()
    const endings = [
      rerunOnChange(),
      () => runs.stop(),
      followDriver(grid.current!),
      () => slot && render(null, slot),
      () => void commands.then((end) => end()),
    ]
    return () => {
      for (const end of endings) end()
    }
  }, [])
  useFirstRun()
  useDrawingTools(shown.value !== null, null, () =>
    import('../drawings/attach.ts').then(({ attachTools }) => attachTools),
  )
  useTabTitle()
  const all = placed.value
  // Where there is no room for several, one is shown at a time.
  const alone = all.length > 1 && (narrow.value || maximised.value)
  const ids = alone ? [activeId.value] : all
  return (
    <div class={s.chart}>
      {alone && <ChartTabs ids={all} />}
      <div
        ref={grid}
        class={cx(s.grid, alone && s.belowTabs, replayOnChart.value && s.toTheFoot)}
        style={{ gridTemplateAreas: areasText(alone ? '1' : charts.value.shape) }}
      >
        {ids.map((id, place) => (
          <ChartCell
            key={id}
            cell={cellOf(id)}
            area={areaName(place)}
            number={all.length > 1 ? all.indexOf(id) + 1 : 0}
            marked={ids.length > 1}
          />
        ))}
      </div>
      {settingsOf.value !== '' && <StudySettings key={settingsOf.value} id={settingsOf.value} />}
      {studyDialog.value !== null && <StudyDialog />}
      <a class={s.attribution} href="https://www.tradingview.com/" target="_blank" rel="noreferrer">
        Charts by TradingView
      </a>
      {symbolSearch.value !== null && <SymbolDialog />}
      {intervalEntry.value !== null && <IntervalDialog />}
      <RangeBar view={activeCell.value.view.value} />
    </div>
  )
}

/** Restores a run on the chart: the backtest in the address, else the last run, else a first run of the open script. */
function useFirstRun(): void {
  useEffect(() => {
    const asked = query.peek().get('backtest')
    const again = asked ?? lastRun.peek()
    if (run.peek() && !asked) return undefined
    const begin = () => {
      if (script.peek().source !== '') void runOpened({ here: false })
    }
    const restore = () => {
      if (again === CANCELLED) return
      if (again === '' || again === UNSTORED) return begin()
      openBacktest(again, { market: asked ? 'follow' : 'keep' }).then(
        (opened) => opened || begin(),
        (error: unknown) => (asked ? toastError(error) : begin()),
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

/** The tab's title shows the price (of the replay, while one is on), so that it can be watched from another tab. */
function useTabTitle(): void {
  useSignalEffect(() => {
    const chart = shown.value
    const replay = replayOnChart.value
    if (replay?.blind) {
      document.title = 'Replay · Chartroom'
      return
    }
    const last = Math.min(replay?.cut ?? Infinity, chart ? chart.bars.length - 1 : -1)
    if (!chart || last < 0) return
    const { close } = chart.bars
    const [now, before] = [close[last]!, close[last - 1] ?? close[last]!]
    const change = gain(before === 0 ? null : now / before - 1)
    document.title = `${chart.market.symbol} ${price(now, mintick.value)} ${change} · Chartroom`
  })
  useEffect(() => () => void (document.title = 'Chartroom'), [])
}

/** As narrow as a phone, where one chart is shown at a time. */
const phone = matchMedia('(max-width: 760px)')
const narrow = signal(phone.matches)
phone.addEventListener('change', () => (narrow.value = phone.matches))

const SWIPE_PX = 40

function ChartTabs({ ids }: { readonly ids: readonly string[] }) {
  const from = useRef<number | null>(null)
  const list = useRef<HTMLDivElement>(null)
  const chosenTab = () => list.current?.querySelector<HTMLElement>('[aria-selected=true]')
  useEffect(() => chosenTab()?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [activeId.value])
  const go = (by: number) => {
    activate(neighbourOf(activeId.peek(), by))
    queueMicrotask(() => chosenTab()?.focus())
  }
  return (
    <div
      ref={list}
      class={s.chartTabs}
      role="tablist"
      aria-label="Charts"
      onPointerDown={(event) => (from.current = event.clientX)}
      onPointerUp={(event) => {
        const by = event.clientX - (from.current ?? event.clientX)
        from.current = null
        if (Math.abs(by) >= SWIPE_PX) go(by < 0 ? 1 : -1)
      }}
      onPointerCancel={() => (from.current = null)}
      onKeyDown={(event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
        if (!step) return
        event.preventDefault()
        go(step)
      }}
    >
      {ids.map((id) => {
        const { symbol, interval } = cellOf(id).market.value
        const chosen = activeId.value === id
        return (
          <button
            key={id}
            type="button"
            role="tab"
            aria-selected={chosen}
            tabIndex={chosen ? 0 : -1}
            onClick={() => activate(id)}
          >
            {symbol} <span class="muted">{intervalText(interval)}</span>
          </button>
        )
      })}
    </div>
  )
}
