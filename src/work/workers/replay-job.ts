// A finished backtest as a replay shows it: the trades on the replayed bars, and the equity at each bar.

import type { ReportTrade } from '../../wire/report.ts'
import type { Track } from '../../wire/track.ts'
import { ofKind } from '../../lib/of-kind.ts'
import { type Bars, lowerBound } from '../../market/bars.ts'
import type { ReplayJob, ReplayOutput } from './job.ts'
import { storedValue } from './stored-text.ts'
import type { Desk } from './desk.ts'

export async function replayJob({ bars }: ReplayJob, { host }: Desk): Promise<ReplayOutput> {
  const { trades } = (await storedValue(host, 'report')) as { readonly trades: readonly ReportTrade[] }
  const first = bars.time[0] ?? 0
  const shown = trades
    .filter(({ exitTime }) => exitTime >= first)
    .map((trade) => ({
      ...trade,
      entryBar: lowerBound(bars.time, trade.entryTime),
      exitBar: Math.min(bars.length - 1, lowerBound(bars.time, trade.exitTime)),
    }))
  const equity = equityOn(bars, (await storedValue(host, 'tracks')) as Track[])
  return { trades: JSON.stringify(shown), equity: JSON.stringify(equity) }
}

/** The equity known at each bar: the backtest's value at that time, or the last one before it. */
function equityOn(bars: Bars, tracks: readonly Track[]): number[] {
  const times = ofKind(tracks, 'time')?.data
  const values = ofKind(tracks, 'equity')?.data
  if (!times || !values || times.length === 0) return []
  const found: number[] = []
  let at = 0
  for (const time of bars.time) {
    while (at + 1 < times.length && (times[at + 1] ?? Infinity) <= time) at += 1
    found.push(values[at] ?? 0)
  }
  return found
}
