// The header of a chart as TradingView exports it: the columns of its bars, and those of the plots of its indicators.

import { headerOf } from '../../lib/csv-rows.ts'

const OWN: readonly string[] = ['time', 'open', 'high', 'low', 'close', 'volume']

/** Whether a text is a chart's export, with columns beside the bars. */
export function isChartExport(csv: string): boolean {
  const names = headerOf(csv).map((name) => name.toLowerCase())
  return names[0] === 'time' && OWN.slice(1, 5).every((name) => names.includes(name))
}

/** The columns of plots that a chart's export begins with; none if it is no chart's. */
export function plotNames(csv: string): string[] {
  return isChartExport(csv) ? headerOf(csv).filter(isPlot) : []
}

export const isPlot = (name: string): boolean => name !== '' && !OWN.includes(name.toLowerCase())
