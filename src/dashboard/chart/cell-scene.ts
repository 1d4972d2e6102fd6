// The scene of each chart of the page: made anew whenever one of the things it shows has changed, of all that is there by then.

import { computed } from '@preact/signals'
import { memoOf } from '../../lib/memo.ts'
import { nameOf } from '../format.ts'
import { isSameMarket } from '../charts.ts'
import { palette, theme } from '../settings.ts'
import { layersOf, type Layer } from '../studies/studies.ts'
import { run } from '../workspace.ts'
import { barAt, barMsOf, endOfBar, lastOver } from './bars.ts'
import type { Cell } from './cell.ts'
import {
  activeCell,
  hasScript,
  hoveredTrade,
  isActive,
  litTime,
  markedTrade,
  replayOnChart,
} from './chart-state.ts'
import { closesOn, type ComparedLine } from './compared.ts'
import { MAIN_LAYER, marksOf, stacked, type MarkedPane, type RunMarks } from './marks.ts'
import { sampled } from './sampled.ts'
import type { Scene } from './scene.ts'
import type { TradeMarks } from './trades.ts'

/** What scripts draw on a chart, as it is drawn there. */
interface Plotted {
  /** The editor's script; null = it is hidden, or runs elsewhere. */
  readonly main: RunMarks | null
  readonly layers: readonly Layer[]
  readonly panes: readonly MarkedPane[]
  readonly trades: TradeMarks | null
}

/**
 * The scene is null until there are bars of the chart's market: until then it stays as it is.
 * Those parts that take long are made again only when what they are made of has changed.
 */
export const sceneOf = memoOf((cell: Cell) => {
  const main = computed(() => mainOf(cell))
  const source = computed(() => cell.drawn.value?.source ?? null)
  const showsTrades = computed(
    // In a replay of the market alone nothing of a run is drawn: its trades would give away what comes next.
    () => cell.trades.value && cell.showScript.value && (replayOnChart.value?.withTrades ?? true),
  )
  const plotted = computed(() => plottedOn(cell, main.value, source.value, showsTrades.value))
  const compared = computed(() => linesOf(cell))
  const legends = computed(() => legendsOf(cell))
  const scene = computed((): Scene | null => {
    const drawn = cell.drawn.value
    if (!drawn) return null
    const { of, bars, type, box, market } = drawn
    const replay = replayOnChart.value
    const lit = hasScript(cell) ? litTime.value : null
    const { panes, trades } = plotted.value
    return {
      of,
      bars,
      interval: market.interval,
      mintick: cell.mintick.value,
      zone: cell.zone.value,
      type,
      box,
      scale: cell.scale.value,
      volume: cell.volume.value,
      panes,
      trades,
      compared: compared.value,
      hoveredTrade: hasScript(cell) ? hoveredTrade.value : null,
      markedTrade: hasScript(cell) ? markedTrade.value : null,
      cut: cutOf(cell),
      levels: isActive(cell) ? (replay?.levels ?? NONE) : NONE,
      alerts: cell.alerts.value,
      sketch: cell.sketch.value,
      litBar: lit === null ? null : barAt(bars, lit),
      hideDates: replay?.blind ?? false,
      legends: legends.value,
      heights: cell.heights.value ?? NO_HEIGHTS,
      look: `${theme.value} ${palette.value}`,
    }
  })
  return { plotted, scene }
})
const NONE: readonly never[] = []
const NO_HEIGHTS = {}

/** The last bar that a replay shows on a chart; -1 = none yet, null = there is no replay. */
export function cutOf(cell: Cell): number | null {
  const replay = replayOnChart.value
  if (!replay || isActive(cell)) return replay?.cut ?? null
  const [chart, replayed] = [cell.shown.value, activeCell.value.shown.value]
  if (!chart || !replayed) return -1
  const end = endOfBar(replayed.bars, replay.cut, replayed.market.interval)
  return lastOver(chart.bars, chart.market.interval, end)
}

/** What the current run draws on the bars of a chart, and its trades; null if it ran on another. */
export function mainOf(cell: Cell): { readonly marks: RunMarks; readonly trades: TradeMarks } | null {
  const [current, chart] = [run.value, cell.shown.value]
  if (!current || !chart || !hasScript(cell) || !isSameMarket(current.report, chart.market)) return null
  const { report, tracks, name } = current
  const marks = marksOf(report.script.shorttitle || report.script.title || name, tracks, chart.bars)
  return { marks, trades: { trades: report.trades, base: marks.base, currency: report.currency } }
}

function plottedOn(
  cell: Cell,
  current: ReturnType<typeof mainOf>,
  source: Int32Array | null,
  withTrades: boolean,
): Plotted {
  const on = (marks: RunMarks | null) => (marks && source ? sampled(marks, source) : marks)
  const main = on(current?.marks ?? null)
  const layers = layersOf(cell).value.map((layer) => (source ? { ...layer, marks: on(layer.marks) } : layer))
  return {
    main,
    layers,
    panes: stacked([
      { id: MAIN_LAYER, marks: cell.showScript.value ? main : null },
      ...layers.map(({ study, marks, pane }) => ({ id: study.id, marks, pane })),
    ]),
    trades: withTrades && !source ? (current?.trades ?? null) : null,
  }
}

function linesOf(cell: Cell): readonly ComparedLine[] {
  const [drawn, compared] = [cell.drawn.value, cell.compared.value ?? NONE]
  if (!drawn || compared.length === 0) return NONE
  const { bars, market } = drawn
  return compared.flatMap(({ scale, color, hidden, ...of }) => {
    const other = cell.comparedBars.value[nameOf(of)]
    if (hidden || !other || other instanceof Error) return []
    return { values: closesOn(bars, other, barMsOf(market.interval)), scale, color }
  })
}

const legendsOf = (cell: Cell): Scene['legends'] =>
  Object.fromEntries(
    cell.paneBoxes.value.map(({ name, height }) => {
      const { bottom, right } = cell.legends.value[name] ?? { bottom: 0, right: 0 }
      return [name, { part: bottom / Math.max(1, height), right }]
    }),
  )
