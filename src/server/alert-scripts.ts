// Runs the scripts of alerts on the bars that their alert has not seen yet.
//
// A script continues from its kept state (see `broker/advance.ts`), which alerts with the same script, inputs and bars
// share. Without kept state it begins at the window's first bar, with the same result.

import type { Alert } from '../notify/alerts/alert.ts'
import type { ScriptEvents } from '../notify/alerts/scripts.ts'
import type { KeptRuns } from '../work/workers/kept-runs.ts'
import { tidy } from '../lib/tidy.ts'
import { ownerOf } from '../market/bar-store.ts'
import { lowerBound, type Bars } from '../market/bars.ts'
import { barsSeenBy } from '../market/seen-bars.ts'
import { hostFor } from '../work/runs/host.ts'
import { libraryFor, type Scripts } from '../people/scripts/scripts.ts'
import type { FeatureDeps } from './feature-deps.ts'

export function alertScripts(
  { kv, bars, limits }: Pick<FeatureDeps, 'kv' | 'bars' | 'limits'>,
  scripts: Pick<Scripts, 'read'>,
  kept: KeptRuns,
): (alert: Alert, window: Bars) => Promise<ScriptEvents> {
  return async (alert, window) => {
    const { source } = await scripts.read(alert.scriptId ?? '', alert.ownerId)
    const { exchange, symbol, interval, inputs, asOf, ownerId, seenBar } = alert
    const seen = barsSeenBy(bars, ownerId)
    const key = await seen.resolve({ exchange, symbol, interval })
    const first = seenBar === null ? window.length - 1 : lowerBound(window.time, seenBar)
    // Plots just before the first new bar are needed too, because crossings compare with the previous bar.
    const from = Math.max(0, first - 1 - alert.bars)
    const facts = await seen.symbol(exchange, symbol)
    const job = { source, inputs, overrides: {}, asOf, bars: window, symbol: facts, interval, limits, from }
    const host = hostFor(seen, libraryFor(kv, ownerId), key, window)
    const { plots, alerts, fills } = await kept.advance(
      `${ownerOf(key)}\0${key.exchange}\0${key.symbol}`,
      job,
      // A lane of their own: alerts must not wait behind their owner's backtests, nor count against them.
      { user: ownerId, lane: 'alerts', budget: limits, host },
    )
    const columns = plots.map(([title, values]) => [title, column(values, from, window.length)] as const)
    const plot = alert.plot === '' ? columns[0] : columns.findLast(([title]) => title === alert.plot)
    if (alert.kind === 'indicator' && !plot) throw new Error(noPlot(alert.plot, columns))
    const events =
      alert.kind === 'strategy'
        ? fills.map(({ bar, id, price }) => ({ bar, message: `${id} filled at ${tidy(price)}` }))
        : alerts.map(({ bar, message, title }) => ({ bar, message: message || title }))
    return {
      plot: plot?.[1] ?? null,
      ...(plot && { title: plot[0] }),
      plots: Object.fromEntries(columns),
      events,
    }
  }
}

/** Nothing would ever be compared, and the alert would wait for ever. */
function noPlot(
  wanted: string,
  columns: readonly (readonly [title: string, values: Float64Array])[],
): string {
  if (columns.length === 0) return 'The script plots nothing that could be compared.'
  return `The script has no plot “${wanted}”. It has: ${columns.map(([title]) => `“${title}”`).join(', ')}.`
}

/** One value for each bar of the window; na before `from` and wherever the plot is not a number. */
function column(values: Float64Array, from: number, length: number): Float64Array {
  const whole = new Float64Array(length).fill(Number.NaN)
  for (const [i, value] of values.entries()) if (Number.isFinite(value)) whole[from + i] = value
  return whole
}
