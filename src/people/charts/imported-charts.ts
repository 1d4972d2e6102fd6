// Charts that TradingView exported with the plots of its indicators, kept as they came when their bars were imported, so that
// a run of the same series can be held against them whenever there is one.

import type { Clock } from '../../lib/clock.ts'
import { Problem } from '../../lib/problem.ts'
import type { ProblemCode } from '../../lib/problem-codes.ts'
import { plotNames } from '../../market/files/chart-export.ts'
import { ownerOf, type SeriesKey } from '../../market/bar-store.ts'
import type { Key, Kv } from '../../store/kv.ts'

export interface ImportedChart {
  readonly fileName: string
  /** The names of its columns of plots, in their order. */
  readonly plots: readonly string[]
  readonly importedAt: number
}

/** TradingView writes at most 40,000 bars: with forty plots that is less. A longer file is not a chart. */
export const CHART_BYTES = 16 << 20
/** The header of a chart with a hundred plots has 4,000 letters. */
const HEADER_BYTES = 1 << 16

const keyOf = (series: SeriesKey, part: 'facts' | 'text'): Key => [
  'imported-charts',
  ownerOf(series),
  series.exchange,
  series.symbol,
  series.interval,
  part,
]

/** Lets a file through on its way to be read, and afterwards has its text if it is a chart with plots. */
export class ChartTap {
  #chunks: Uint8Array[] | null = []
  #bytes = 0
  #plots: readonly string[] | null = null

  async *through(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of file) {
      this.#keep(chunk)
      yield chunk
    }
    this.#look()
  }

  #keep(chunk: Uint8Array): void {
    if (this.#chunks === null) return
    this.#bytes += chunk.byteLength
    if (this.#bytes > CHART_BYTES) this.#chunks = null
    // Whoever reads the chunk may take its memory along.
    else this.#chunks.push(new Uint8Array(chunk))
    if (this.#bytes >= HEADER_BYTES) this.#look()
  }

  /** Once, as soon as the header is there: most files are no charts, and need not be kept meanwhile. */
  #look(): void {
    if (this.#chunks === null || this.#plots !== null) return
    this.#plots = plotNames(Buffer.concat(this.#chunks).subarray(0, HEADER_BYTES).toString())
    if (this.#plots.length === 0) this.#chunks = null
  }

  get chart(): { readonly text: string; readonly plots: readonly string[] } | null {
    return this.#chunks && this.#plots && { text: Buffer.concat(this.#chunks).toString(), plots: this.#plots }
  }
}

/** Keeps a chart in the place of the one that was imported into the series before. */
export async function keepChart(
  kv: Kv,
  series: SeriesKey,
  { text, ...facts }: ImportedChart & { readonly text: string },
): Promise<void> {
  const sets = [
    { key: keyOf(series, 'facts'), value: JSON.stringify(facts) },
    { key: keyOf(series, 'text'), value: JSON.stringify(text) },
  ]
  await kv.commit({ sets })
}

/** What became of the chart that an imported file was, if it was one. The bars are stored by then, and stay. */
export async function keepPlots(
  { kv, clock }: { readonly kv: Kv; readonly clock: Clock },
  series: SeriesKey,
  { chart }: ChartTap,
  fileName: string,
): Promise<{
  readonly plots: readonly string[]
  readonly warnings: readonly { readonly code: ProblemCode; readonly message: string }[]
}> {
  try {
    if (chart) await keepChart(kv, series, { ...chart, fileName, importedAt: clock.now() })
    return { plots: chart?.plots ?? [], warnings: [] }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const message = `The bars are stored, but not the plots of the chart: ${error.message}`
    return { plots: [], warnings: [{ code: error.code, message }] }
  }
}

export async function forgetChart(kv: Kv, series: SeriesKey): Promise<void> {
  await kv.commit({ deletes: [keyOf(series, 'facts'), keyOf(series, 'text')], essential: true })
}

/** It goes along with a series that another has from now on. */
export async function moveChart(kv: Kv, from: SeriesKey, to: SeriesKey): Promise<void> {
  const chart = await importedChart(kv, [from], true)
  if (chart?.text == null) return
  await keepChart(kv, to, { ...chart, text: chart.text })
  await forgetChart(kv, from)
}

/** The one that was imported into the first of these series that has any; its text only if it is wanted. */
export async function importedChart(
  kv: Kv,
  series: readonly SeriesKey[],
  isTextWanted: boolean,
): Promise<(ImportedChart & { readonly text: string | null }) | null> {
  for (const one of series) {
    const facts = await kv.get(keyOf(one, 'facts'))
    if (!facts) continue
    const text = isTextWanted ? await kv.get(keyOf(one, 'text')) : null
    return {
      ...(JSON.parse(facts.value) as ImportedChart),
      text: text && (JSON.parse(text.value) as string),
    }
  }
  return null
}
