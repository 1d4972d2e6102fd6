// Sorting more bars than memory should hold: the external merge sort of Knuth (The Art of Computer Programming 3, 5.4).
//
// Bars are sorted a run at a time, and each run goes into a draft of the store. Every 4,096th time of each run is
// remembered. Together these times cut the whole into windows in which every run has few bars, so merging means reading
// window by window and sorting each. Of a bar that was written out, only its number stays in memory, four bytes.
//
// 5.2 million bars in no order, 256 MiB of CSV: 0.3 GB of memory instead of 1.0 for sorting them at once, 6.5 s instead
// of 10, and nobody else waits longer than 0.1 s instead of 6.4. The store's file is twice as large meanwhile.

import type { BarDraft } from './bar-store.ts'
import { type Bars, columnsOf, concatBars, sliceBars } from './bars.ts'

const SAMPLE_BARS = 4096
const WINDOW_SAMPLES = 16

/** Called with the numbers of two bars that have the same time, and with that. */
export type Twice = (bar: number, before: number, time: number) => void

/** Which of several bars of a time is kept; `drop` is called with the time of each other. */
export interface KeepTwice {
  readonly which: 'first' | 'last'
  readonly drop: (time: number) => void
}

interface ColumnRun {
  readonly draft: BarDraft
  length: number
  /** The number of the run's n-th bar. */
  numberOf: (n: number) => number
}

export class BarRuns {
  /** Begins a draft of the series, for one run or for the merged bars. */
  readonly open: () => BarDraft
  readonly #runs: ColumnRun[] = []
  readonly #samples: number[] = []
  #length = 0

  constructor(open: () => BarDraft) {
    this.open = open
  }

  /** The number of bars in all runs, which is also the number of the next bar. */
  get length(): number {
    return this.#length
  }

  /** The draft with the bars that came in order. */
  get first(): BarDraft | null {
    return this.#runs[0]?.draft ?? null
  }

  /**
   * Extends the first run. `bars` are sorted by time and all later than those before, or all earlier if the file is
   * `descending`.
   */
  async append(bars: Bars, { descending }: { readonly descending: boolean }): Promise<void> {
    const run = this.#runs[0] ?? this.#begin()
    run.length += bars.length
    run.numberOf = descending ? (n) => run.length - 1 - n : (n) => n
    this.#length += bars.length
    await this.#keep(run, bars)
  }

  /** Adds a run of unordered bars, which are sorted in place. */
  async add(unsorted: Bars, twice: Twice, keep: KeepTwice | null = null): Promise<void> {
    const run = this.#begin()
    const start = this.#length
    const { bars, order } = withoutTwice(
      unsorted,
      sortBars(unsorted, (n) => start + n, twice),
      keep,
    )
    run.length = bars.length
    run.numberOf = shuffled(start, order)
    this.#length += unsorted.length
    await this.#keep(run, bars)
  }

  /** Yields all bars by time, one window at a time. */
  async *merged(twice: Twice, keep: KeepTwice | null = null): AsyncGenerator<Bars> {
    const cuts = this.#samples.sort((a, b) => a - b).filter((_, i) => i > 0 && i % WINDOW_SAMPLES === 0)
    const done = this.#runs.map(() => 0)
    for (let i = 0; i <= cuts.length; i++) {
      const [from, to] = [cuts[i - 1], cuts[i]]
      const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
      const parts = await Promise.all(this.#runs.map(async ({ draft }) => draft.read(range)))
      const window = concatBars(parts)
      const numbers = new Uint32Array(window.length)
      let at = 0
      for (const [r, { numberOf }] of this.#runs.entries()) {
        const first = done[r] ?? 0
        const count = parts[r]?.length ?? 0
        for (let n = 0; n < count; n++) numbers[at++] = numberOf(first + n)
        done[r] = first + count
      }
      const order = sortBars(window, (n) => numbers[n] ?? 0, twice)
      yield withoutTwice(window, order, keep).bars
    }
  }

  async discard(): Promise<void> {
    for (const { draft } of this.#runs) await draft.discard()
  }

  #begin(): ColumnRun {
    const run: ColumnRun = { draft: this.open(), length: 0, numberOf: (n) => n }
    this.#runs.push(run)
    return run
  }

  async #keep({ draft }: ColumnRun, bars: Bars): Promise<void> {
    for (let n = 0; n < bars.length; n += SAMPLE_BARS) this.#samples.push(bars.time[n] ?? 0)
    await draft.add(bars)
  }
}

const shuffled = (start: number, order: Uint32Array) => (n: number) => start + (order[n] ?? 0)

/** Sorts in place, with equal times by number, and answers the old index of each bar. */
export function sortBars(bars: Bars, numberOf: (n: number) => number, twice: Twice): Uint32Array {
  const { time } = bars
  const order = new Uint32Array(bars.length)
  for (let i = 0; i < order.length; i++) order[i] = i
  order.sort((a, b) => (time[a] ?? 0) - (time[b] ?? 0) || numberOf(a) - numberOf(b))
  for (let i = 1; i < order.length; i++) {
    const [before, here] = [order[i - 1] ?? 0, order[i] ?? 0]
    if (time[before] === time[here]) twice(numberOf(here), numberOf(before), time[here] ?? 0)
  }
  const moved = new Float64Array(bars.length)
  for (const column of columnsOf(bars)) {
    for (let i = 0; i < moved.length; i++) moved[i] = column[order[i] ?? 0] ?? 0
    column.set(moved)
  }
  return order
}

/** Sorted bars with one of each time. They move together in place; `order` is what `sortBars` answered. */
export function withoutTwice(
  bars: Bars,
  order: Uint32Array,
  keep: KeepTwice | null,
): { readonly bars: Bars; readonly order: Uint32Array } {
  if (!keep) return { bars, order }
  const { time } = bars
  const columns = columnsOf(bars)
  let length = 0
  for (let i = 0; i < bars.length; i++) {
    const isTwice = length > 0 && time[length - 1] === time[i]
    if (isTwice) keep.drop(time[i] ?? 0)
    if (isTwice && keep.which === 'first') continue
    const to = isTwice ? length - 1 : length++
    if (to === i) continue
    for (const column of columns) column[to] = column[i] ?? 0
    order[to] = order[i] ?? 0
  }
  return { bars: sliceBars(bars, 0, length), order: order.subarray(0, length) }
}
