// Bars as files, in pieces: CSV that an import reads back bit for bit, or Parquet.

import { csvRow } from '../../lib/csv-text.ts'
import { type BarRange, type Bars, BAR_FIELDS, knowsSides } from '../bars.ts'
import { parquetPieces, SIDED_FIELDS } from './parquet-writer.ts'

export const EXPORT_FORMATS = ['csv', 'parquet'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** Bars of one step, which are a group of rows in Parquet. */
const STEP_BARS = 65_536

/** All bars of a range in steps, as `read` answers them. */
export async function* barWindows(
  read: (range: BarRange) => Promise<Bars>,
  { from, to }: Pick<BarRange, 'from' | 'to'> = {},
  step = STEP_BARS,
): AsyncGenerator<Bars> {
  for (let start = from ?? -8.64e15; ;) {
    const bars = await read({ from: start, ...(to !== undefined && { to }), first: step })
    if (bars.length > 0) yield bars
    if (bars.length < step) return
    start = (bars.time.at(-1) ?? 0) + 1
  }
}

/**
 * The bytes of a file of these bars, with what was bought where that is known of any. They are gone through twice, since the
 * columns are named first.
 */
export async function* exportPieces(
  windows: () => AsyncIterable<Bars>,
  format: ExportFormat,
): AsyncGenerator<Uint8Array> {
  let sides = false
  for await (const bars of windows())
    if (knowsSides(bars)) {
      sides = true
      break
    }
  yield* format === 'csv' ? csvPieces(windows(), sides) : parquetPieces(windows(), sides)
}

async function* csvPieces(windows: AsyncIterable<Bars>, sides: boolean): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  yield encoder.encode(`${csvRow(sides ? SIDED_FIELDS : BAR_FIELDS)}\n`)
  for await (const { length, time, open, high, low, close, volume, bought } of windows) {
    let text = ''
    for (let i = 0; i < length; i++) {
      text += `${time[i]},${open[i]},${high[i]},${low[i]},${close[i]},${volume[i]}`
      if (sides) text += bought && bought[i]! >= 0 ? `,${bought[i]}` : ','
      text += '\n'
    }
    yield encoder.encode(text)
  }
}
