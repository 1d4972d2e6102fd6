// The stage: where the bars of an import wait until all of them are known to be bars.
//
// Importing is all or nothing. Rows are checked as they arrive and kept as columns in blocks that are never copied while
// growing; mistakes are collected with their row numbers, so that a file can be mended in one go.
//
// Blocks of a large file go on into a draft of the store, which nobody sees yet, so that memory does not grow with the
// file. That needs rows in order, oldest or newest first, as exchanges give them. When a row breaks the order the bars
// are taken back and sorted in memory, which is what happens to small files anyhow.

import { Problem } from '../lib/problem.ts'
import type { BarDraft } from './bar-store.ts'
import { BAR_FIELDS, type Bars, copyBars, emptyBars, sliceBars } from './bars.ts'

const BLOCK_ROWS = 65_536
const ERRORS_MAX = 20

export interface RowError {
  /** 1 is the first line of a file, header included, or the first element of a list. */
  readonly row: number
  readonly message: string
}

/** Where full blocks go. */
export type Spill = Pick<BarDraft, 'add' | 'read'>

export class BarStage {
  readonly #spill: Spill | null
  readonly #blocks: Bars[] = []
  readonly #errors: RowError[] = []
  // Row numbers run along with the bars but for blank lines: the bars where they jump, and the numbers there.
  readonly #jumps: number[] = []
  readonly #jumpRows: number[] = []
  #row = Number.NaN
  #length = 0
  #spilled = 0
  #spilledDescending = false
  #incomplete = false
  #last = Number.NEGATIVE_INFINITY
  // While every bar is later than the one before (or every one earlier) there is nothing to sort.
  #ascending = true
  #descending = true

  constructor(spill: Spill | null = null) {
    this.#spill = spill
  }

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
    if (at === 0) this.#blocks.push(emptyBars(BLOCK_ROWS))
    const block = this.#blocks.at(-1)
    if (!block) return
    if (row !== this.#row + 1) {
      this.#jumps.push(this.#length)
      this.#jumpRows.push(row)
    }
    this.#row = row
    block.time[at] = time
    block.open[at] = open
    block.high[at] = high
    block.low[at] = low
    block.close[at] = close
    block.volume[at] = volume
    if (this.#length > 0) {
      if (time <= this.#last) this.#ascending = false
      if (time >= this.#last) this.#descending = false
    }
    this.#last = time
    this.#length++
  }

  /** Bars that went on already, and are no part of what finish() answers. */
  get spilled(): number {
    return this.#spilled
  }

  /** Lets full blocks go; to be called between the pieces of a file. */
  async spill(): Promise<void> {
    // The last block may have room.
    while (this.#spill && this.#blocks.length > 1 && (this.#ascending || this.#descending)) {
      const block = this.#blocks.shift()
      // With a mistake in the file nothing of it will be stored.
      if (!block) return
      if (this.#errors.length > 0) {
        this.#incomplete = true
        continue
      }
      this.#spilledDescending = this.#descending
      if (this.#descending) reverse(block)
      await this.#spill.add(block)
      this.#spilled += BLOCK_ROWS
    }
  }

  /** The bars that did not go on, sorted by time. Throws Problem 422 naming rows when anything was wrong, and when there are no bars. */
  finish(): Bars {
    const ordered = this.#ascending || this.#descending
    if (this.#incomplete) throw refused(this.#errors, this.full)
    const bars = emptyBars(this.#length - (ordered ? this.#spilled : 0))
    let at = 0
    if (!ordered && this.#spilled > 0 && this.#spill) {
      const back = this.#spill.read()
      if (this.#spilledDescending) reverse(back)
      copyBars(bars, 0, back)
      at = back.length
      this.#spilled = 0
    }
    // Each block is let go when it is copied, so that a large import is not in memory twice.
    for (let block = this.#blocks.shift(); block; block = this.#blocks.shift()) {
      const size = Math.min(BLOCK_ROWS, bars.length - at)
      copyBars(bars, at, sliceBars(block, 0, size))
      at += size
    }
    if (!this.#ascending && bars.length > 1) {
      if (this.#descending) reverse(bars)
      else this.#sort(bars)
    }
    if (this.#errors.length > 0) throw refused(this.#errors, this.full)
    if (this.#length === 0) throw refused([{ row: 1, message: 'there are no bars' }], false)
    return bars
  }

  #sort(bars: Bars): void {
    const order = Uint32Array.from(bars.time.keys()).sort(
      (a, b) => (bars.time[a] ?? 0) - (bars.time[b] ?? 0) || a - b,
    )
    for (let i = 1; i < order.length; i++) {
      const [before, here] = [order[i - 1] ?? 0, order[i] ?? 0]
      if (bars.time[before] === bars.time[here])
        this.fail(this.#rowOf(here), `has the same time as row ${this.#rowOf(before)}`)
    }
    for (const field of BAR_FIELDS) bars[field].set(Float64Array.from(order, (i) => bars[field][i] ?? 0))
  }

  #rowOf(bar: number): number {
    const jump = this.#jumps.findLastIndex((index) => index <= bar)
    return (this.#jumpRows[jump] ?? 0) + bar - (this.#jumps[jump] ?? 0)
  }
}

function reverse(bars: Bars): void {
  for (const field of BAR_FIELDS) bars[field].reverse()
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
