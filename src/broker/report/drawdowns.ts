// Drawdowns: the deepest from closed trade to closed trade, and the list of periods below a peak, which charts shade.

import type { Bars } from '../../market/bars.ts'
import type { EquityCurve } from '../equity.ts'
import type { ReportDrawdown } from '../../wire/report.ts'
import type { TradeTable } from './trades.ts'

const KEPT = 20
/** Bars per step, few enough for their equity to stay in the processor's cache. */
const BLOCK = 2048

export interface CloseToClose {
  readonly drawdown: number
  readonly drawdownPct: number
  readonly runup: number
  readonly runupPct: number
}

/** J5: measured on the equity after each closed trade. */
export function closeToClose({ profit, closed }: TradeTable, initialCapital: number): CloseToClose {
  let peak = initialCapital
  let trough = initialCapital
  let [drawdown, drawdownPct, runup, runupPct] = [0, 0, 0, 0]
  let equity = initialCapital
  for (let k = 0; k < closed; k++) {
    equity += profit[k]!
    peak = Math.max(peak, equity)
    trough = Math.min(trough, equity)
    drawdown = Math.max(drawdown, peak - equity)
    runup = Math.max(runup, equity - trough)
    if (peak > 0) drawdownPct = Math.max(drawdownPct, (peak - equity) / peak)
    if (trough > 0) runupPct = Math.max(runupPct, (equity - trough) / trough)
  }
  return { drawdown, drawdownPct, runup, runupPct }
}

/** The twenty deepest periods in which equity, at the closes of bars, is below its peak. */
export function drawdownPeriods(bars: Bars, curve: EquityCurve): ReportDrawdown[] {
  const equity = new Float64Array(Math.min(BLOCK, bars.length))
  const found: ReportDrawdown[] = []
  let peak = -Infinity
  let peakBar = 0
  let trough = 0
  let depth = 0
  let shallowest = 0
  const close = (endBar: number, end: number | null) => {
    if (depth > shallowest || found.length < KEPT) {
      found.push({
        start: bars.time[peakBar]!,
        trough: bars.time[trough]!,
        end,
        bars: endBar - peakBar,
        depth,
        depthPct: peak > 0 ? depth / peak : 0,
      })
      if (found.length > 4 * KEPT) {
        found.sort(deepestFirst)
        found.length = KEPT
        shallowest = found[KEPT - 1]!.depth
      }
    }
    depth = 0
  }
  for (let from = 0; from < bars.length; from += BLOCK) {
    const to = Math.min(from + BLOCK, bars.length)
    curve.read(from, to, equity)
    for (let i = from; i < to; i++) {
      const value = equity[i - from]!
      if (value >= peak) {
        if (depth > 0) close(i, bars.time[i]!)
        peak = value
        peakBar = i
      } else if (peak - value > depth) {
        depth = peak - value
        trough = i
      }
    }
  }
  if (depth > 0) close(bars.length - 1, null)
  return found.sort(deepestFirst).slice(0, KEPT)
}

function deepestFirst(a: ReportDrawdown, b: ReportDrawdown): number {
  return b.depth - a.depth || a.start - b.start
}
