// The stage: where the bars of an import wait until all of them are known to be bars.
//
// Importing is all or nothing. Rows are checked as they arrive and kept as columns, 52 bytes a row, in blocks that
// are never copied while growing; mistakes are collected with their row numbers, so that a file can be mended in
// one go. Only finish() hands the bars out, sorted.

import { Problem } from '../lib/problem.ts'
import { BAR_FIELDS, type Bars, copyBars, emptyBars, sliceBars } from './bars.ts'

const BLOCK_ROWS = 65_536
const ERRORS_MAX = 20

export interface RowError {
  /** 1 is the first line of a file, header included, or the first element of a list. */
  readonly row: number
  readonly message: string
}

interface Block {
  readonly bars: Bars
  readonly rows: Uint32Array
}

export class BarStage {
  readonly #blocks: Block[] = []
  readonly #errors: RowError[] = []
  #length = 0
  #last = Number.NEGATIVE_INFINITY
  // While every bar is later than the one before (or every one earlier) there is nothing to sort.
  #ascending = true
  #descending = true

  get length(): number {
    return this.#length
  }

  get errors(): readonly RowError[] {
    return this.#errors
  }

  /** Enough mistakes to show: reading on would not help. */
  get full(): boolean {
    return this.#errors.length >= ERRORS_MAX
  }

  fail(row: number, message: string): void {
    if (!this.full) this.#errors.push({ row, message })
  }

  add(
    row: number,
    time: number,
    open: number,
    high: number,
    low: number,
    close: number,
    volume: number,
  ): void {
    const mistake = mistakeOf(time, open, high, low, close, volume)
    if (mistake !== null) return this.fail(row, mistake)
    const at = this.#length % BLOCK_ROWS
    if (at === 0) this.#blocks.push({ bars: emptyBars(BLOCK_ROWS), rows: new Uint32Array(BLOCK_ROWS) })
    const block = this.#blocks.at(-1)
    if (!block) return
    block.rows[at] = row
    block.bars.time[at] = time
    block.bars.open[at] = open
    block.bars.high[at] = high
    block.bars.low[at] = low
    block.bars.close[at] = close
    block.bars.volume[at] = volume
    if (this.#length > 0) {
      if (time <= this.#last) this.#ascending = false
      if (time >= this.#last) this.#descending = false
    }
    this.#last = time
    this.#length++
  }

  /** The bars, sorted by time. Throws Problem 422 naming rows when anything was wrong, and when there are no bars. */
  finish(): Bars {
    const bars = emptyBars(this.#length)
    const rows = new Uint32Array(this.#ascending ? 0 : this.#length)
    // Each block is let go when it is copied, so that a large import is not in memory twice.
    let at = 0
    for (let block = this.#blocks.shift(); block; block = this.#blocks.shift()) {
      const size = Math.min(BLOCK_ROWS, this.#length - at)
      copyBars(bars, at, sliceBars(block.bars, 0, size))
      if (!this.#ascending) rows.set(block.rows.subarray(0, size), at)
      at += size
    }
    if (!this.#ascending && this.#length > 1) {
      if (this.#descending) for (const field of BAR_FIELDS) bars[field].reverse()
      else this.#sort(bars, rows)
    }
    if (this.#errors.length > 0) throw refused(this.#errors, this.full)
    if (bars.length === 0) throw refused([{ row: 1, message: 'there are no bars' }], false)
    return bars
  }

  #sort(bars: Bars, rows: Uint32Array): void {
    const order = Uint32Array.from(rows.keys()).sort(
      (a, b) => (bars.time[a] ?? 0) - (bars.time[b] ?? 0) || a - b,
    )
    for (let i = 1; i < order.length; i++) {
      const [before, here] = [order[i - 1] ?? 0, order[i] ?? 0]
      if (bars.time[before] === bars.time[here])
        this.fail(rows[here] ?? 0, `has the same time as row ${rows[before]}`)
    }
    for (const field of BAR_FIELDS) bars[field].set(Float64Array.from(order, (i) => bars[field][i] ?? 0))
  }
}

/** Years that a bar's time can lie in: before 1800 or after 2200 it is a number in other units. */
const TIME_MIN = Date.UTC(1800, 0)
const TIME_MAX = Date.UTC(2200, 0)

function mistakeOf(
  time: number,
  open: number,
  high: number,
  low: number,
  close: number,
  volume: number,
): string | null {
  // One comparison for a good bar; the words are for the others.
  if (
    high >= open &&
    high >= close &&
    low <= open &&
    low <= close &&
    volume >= 0 &&
    time > TIME_MIN &&
    time < TIME_MAX &&
    Number.isFinite(high - low + volume)
  )
    return null
  if (!Number.isFinite(time)) return 'time is not a date'
  if (time <= TIME_MIN || time >= TIME_MAX) return 'time is out of range: expected seconds, ms or ISO 8601'
  for (const [name, value] of Object.entries({ open, high, low, close, volume }))
    if (!Number.isFinite(value)) return `${name} is not a number`
  if (high < low) return 'high is below low'
  if (open > high || open < low) return 'open is outside of low to high'
  if (close > high || close < low) return 'close is outside of low to high'
  return 'volume is negative'
}

function refused(errors: readonly RowError[], more: boolean): Problem {
  const [first] = errors
  const others = errors.length > 1 ? ` (and ${errors.length - 1}${more ? ' or more' : ''} other rows)` : ''
  return new Problem(
    422,
    'validation_failed',
    `Nothing was imported: row ${first?.row ?? 1}: ${first?.message ?? ''}${others}.`,
    {
      fields: errors.map(({ row, message }) => ({
        in: 'body',
        path: `/rows/${row}`,
        code: 'invalid_bar',
        message: `row ${row}: ${message}`,
      })),
    },
  )
}
