// The chart: the dashboard's view and painter, with a scene of bars and the one script.

import { effect, useComputed } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { barAt } from '../dashboard/chart/bars.ts'
import s from '../dashboard/chart/chart.module.css'
import { cellOf, hoveredTrade, litTime, markedTrade } from '../dashboard/chart/chart-state.ts'
import { BarValues, Values } from '../dashboard/chart/legend-values.tsx'
import { MAIN_LAYER, marksOf, stacked, type RunMarks } from '../dashboard/chart/marks.ts'
import { EMPTY_SCENE, type Scene } from '../dashboard/chart/scene.ts'
import { ChartView } from '../dashboard/chart/view.ts'
import { intervalText } from '../dashboard/format.ts'
import { palette, theme } from '../dashboard/settings.ts'
import { bottom, lookAt, run } from '../dashboard/workspace.ts'
import { CHART, series } from './state.ts'

export function Chart() {
  const host = useRef<HTMLDivElement>(null)
  const cell = cellOf(CHART)
  const main = useComputed(mainNow)
  useEffect(() => {
    const view = new ChartView(host.current!, {
      onHover: (hover) => {
        cell.hover.value = hover
        hoveredTrade.value = hover?.trade?.n ?? null
      },
      onClick: ({ trade }) => {
        markedTrade.value = trade?.n ?? null
        if (trade) bottom.value = 'trades'
      },
      onRange: () => undefined,
      onLayout: (boxes) => (cell.paneBoxes.value = boxes),
      onHeights: () => undefined,
    })
    const stop = effect(() => void view.paint(sceneOf(main.value)))
    const stopLooking = effect(() => {
      const asked = lookAt.value
      if (!asked) return
      const { bars } = series.peek().market
      const trade = run.peek()?.report.trades.find(({ n }) => n === asked.trade)
      markedTrade.value = asked.trade ?? null
      if (trade) view.camera.lookAtRange(barAt(bars, trade.entryTime), barAt(bars, trade.exitTime))
      else view.camera.lookAt(barAt(bars, asked.time))
    })
    return () => {
      stop()
      stopLooking()
      view.destroy()
    }
  }, [])
  const { bars, symbol, interval } = series.value.market
  const bar = Math.min(cell.hover.value?.bar ?? bars.length - 1, bars.length - 1)
  return (
    <div class={s.cell}>
      <div
        ref={host}
        class={s.host}
        tabIndex={0}
        role="application"
        aria-roledescription="price chart"
        aria-label={`Chart of ${series.value.name}`}
        onPointerLeave={() => (cell.hover.value = null)}
      />
      {cell.paneBoxes.value.map(({ name, top }) => (
        <div key={name} class={s.legend} style={{ top: `${top + 8}px` }}>
          {name === 'price' && (
            <div class={s.legendLine}>
              <span>
                {symbol.description}
                <span class="muted"> · {intervalText(interval)}</span>
              </span>
              <BarValues bars={bars} bar={bar} mintick={symbol.mintick} volume />
            </div>
          )}
          {main.value && <ScriptLine script={main.value} pane={name} bar={bar} />}
        </div>
      ))}
    </div>
  )
}

function ScriptLine({
  script,
  pane,
  bar,
}: {
  readonly script: RunMarks
  readonly pane: string
  readonly bar: number
}) {
  const marks = script.panes.find(({ name }) => name === pane)?.marks ?? []
  if (marks.length === 0 && pane !== 'price') return null
  return (
    <div class={s.legendLine}>
      <span class={s.legendScript}>{script.title}</span>
      <Values marks={marks} bar={bar} />
    </div>
  )
}

/** What the last run draws on the bars. */
function mainNow(): RunMarks | null {
  const current = run.value
  if (!current) return null
  const { report, tracks, name } = current
  return marksOf(report.script.shorttitle || name, tracks, series.value.market.bars)
}

function sceneOf(main: RunMarks | null): Scene {
  const { bars, symbol, interval } = series.value.market
  const report = run.value?.report
  return {
    ...EMPTY_SCENE,
    of: `${series.value.id} ${symbol.exchange}:${symbol.symbol} ${interval}`,
    bars,
    interval,
    mintick: symbol.mintick,
    zone: symbol.timezone,
    panes: stacked([{ id: MAIN_LAYER, marks: main }]),
    trades: report && main ? { trades: report.trades, base: main.base, currency: report.currency } : null,
    hoveredTrade: hoveredTrade.value,
    markedTrade: markedTrade.value,
    litBar: litTime.value === null ? null : barAt(bars, litTime.value),
    legends: legendRoom(),
    look: `${theme.value} ${palette.value}`,
  }
}

/** As wide as a bar's numbers are. */
const LEGEND_WIDTH = 560

/** Two lines above the prices, and one in other panes, which nothing is drawn under. */
function legendRoom(): Scene['legends'] {
  return Object.fromEntries(
    cellOf(CHART).paneBoxes.value.map(({ name, height, width }) => [
      name,
      { part: (name === 'price' ? 58 : 36) / Math.max(1, height), right: Math.min(width, LEGEND_WIDTH) },
    ]),
  )
}
