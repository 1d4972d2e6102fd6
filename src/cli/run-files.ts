// The plots as `backtest` writes them for other programs: CSV at full precision.

import { csvRow } from '../lib/csv-text.ts'
import type { Track } from '../wire/track.ts'

/** The time and one column for each plot, named by its title; na is written `na`. */
export function plotsCsv(tracks: readonly Track[]): string {
  const columns = tracks.flatMap((track) => {
    switch (track.kind) {
      case 'time':
      case 'plot':
      case 'shape':
      case 'char':
      case 'arrow':
        return [{ id: track.id, data: track.data }]
      default:
        return []
    }
  })
  const [time] = columns
  const rows = (time?.data ?? []).map((_, bar) => csvRow(columns.map(({ data }) => cell(data[bar]))))
  return [csvRow(columns.map(({ id }) => id)), ...rows, ''].join('\n')
}

function cell(value: number | null | undefined): number | 'na' {
  return value === null || value === undefined || Number.isNaN(value) ? 'na' : value
}
