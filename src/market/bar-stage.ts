// The stage holds the bars of an import until every row has proved to be a bar.
//
// An import is all or nothing. Rows are checked as they arrive and kept as columns, in blocks that are never copied to
// grow. Mistakes are collected with their row numbers, so that the user can mend a file in one go.
//
// The blocks of a large file move into a draft in the store, which nobody sees yet, so memory does not grow with the file.
// Ordered rows, oldest or newest first as exchanges give them, are written once. From the first row that breaks the order,
// rows go into sorted runs, which are merged at the end (bar-runs.ts). A small file is sorted in memory.

import { Problem } from '../lib/problem.ts'
import { BarRuns, type KeepTwice, sortBars, type Twice, withoutTwice } from './bar-runs.ts'
import type { BarDraft } from './bar-store.ts'
import { type Calendar, openOfDate } from './calendar.ts'
import { type Bars, columnsOf, concatBars, copyBars, emptyBars, lowerBound, sliceBars } from './bars.ts'
import { RowNumbers } from './row-numbers.ts'

const BLOCK_ROWS = 65_536
/** The first block has room for so many at first: most imports bring a few bars, and to clear 3 MB for each was most of what it took. */
const FIRST_ROWS = 1024
/** Blocks that are sorted together: 12 MB, for which the thread does nothing else for some 100 ms. */
const RUN_BLOCKS = 4
const ERRORS_MAX = 20
/** Of the wrong rows so many stand in the sentence; the fields of the answer have all. */
const NAMED_MAX = 5
/** For the rows of bars: of eight years of seconds without a pause, of which each has up to 64 trades. */
const ROWS_BYTES = 256 << 20

/** What is done about a second row of a time: the file is refused, or one of the rows is kept. */
export const DUPLICATES = ['refuse', 'first', 'last'] as const
export type Duplicates = (typeof DUPLICATES)[number]
const TOLD_TWICE = 10

export interface RowError {
  /** Row 1 is the first line of a file, header included, or the first element of a list. */
  readonly row: number
  /** The file's name; '' if there is only one. */
  readonly file: string
  readonly message: string
}

export interface Staged {
  /** Sorted by time: all bars, or those at the end that are not in the draft yet. */
  readonly bars: Bars
  /** The draft with the earlier bars; null if there are none. */
  readonly draft: BarDraft | null
}

export class BarStage {
  readonly #runs: BarRuns | null
  readonly #blocks: Bars[] = []
  /** One that a bar was dropped from, and no other has taken up yet. */
  #spare: Bars | null = null
  readonly #errors: RowError[] = []
  readonly #rows: RowNumbers
  #length = 0
  #added = 0
  #incomplete = false
  #sides = false
  #last = Number.NEGATIVE_INFINITY
  // Nothing has to be sorted while every bar is later than the one before, or every one earlier.
  #ascending = true
  #descending = true
  #widens = false
  #widened = 0
  readonly #duplicates: Duplicates
  readonly #sessions: Calendar | null
  /** How many rows were left out for another of the same time, and the times of the first. */
  #dropped = 0
  readonly #droppedTimes: number[] = []
  /** By their times, the bars that files cut, as columns have them. */
  readonly #cuts = new Map<number, readonly number[]>()
  /** Some of them are others by now than they were when they were added. */
  #amended = false
  // Rows of several files are numbered through; each file begins at its base.
  readonly #files: { readonly name: string; readonly base: number }[] = []
  #base = 0
  #top = 0

  /**
   * `open` makes a draft to move full blocks into; without it everything stays in memory. Each bar of days or more is one of
   * `sessions`; null for other bars. Rows are remembered in `rowsBytes`.
   */
  constructor(
    open: (() => BarDraft) | null = null,
    duplicates: Duplicates = 'refuse',
    sessions: Calendar | null = null,
    rowsBytes = ROWS_BYTES,
  ) {
    this.#rows = new RowNumbers(rowsBytes)
    this.#runs = open && new BarRuns(open)
    this.#duplicates = duplicates
    this.#sessions = sessions
  }

  /** The rows from here on are of this file. */
  enter(name: string): void {
    this.#base = this.#top
    this.#files.push({ name, base: this.#base })
  }

  /** The rows from here on may tell what was bought. */
  expectSides(): void {
    this.#sides = true
  }

  /** Highs and lows that an open or a close lies outside of are widened from here on, and not refused. */
  widen(): void {
    this.#widens = true
  }

  /** How many bars were widened. */
  get widened(): number {
    return this.#widened
  }

  /** Rows left out for another of the same time, with the first of those times. */
  get dropped(): { readonly count: number; readonly times: readonly number[] } {
    return { count: this.#dropped, times: this.#droppedTimes }
  }

  /** The times of the bars that files cut: there may be trades of them which none of the files has. */
  get pieces(): ReadonlySet<number> {
    return new Set(this.#cuts.keys())
  }

  /** How many rows proved to be bars. */
  get added(): number {
    return this.#added
  }

  get errors(): readonly RowError[] {
    return this.#errors
  }

  /** There are enough mistakes to show, so reading on would not help. */
  get full(): boolean {
    return this.#errors.length >= ERRORS_MAX
  }

  fail(row: number, message: string): void {
    this.#failAt(this.#base + row, message)
  }

  /** Like `fail`, with a row numbered through all files. */
  #failAt(row: number, message: string): void {
    if (row > this.#top) this.#top = row
    if (!this.full) this.#errors.push({ ...this.#placeOf(row), message })
  }

  #placeOf(row: number): Pick<RowError, 'row' | 'file'> {
    const file = this.#files.findLast(({ base }) => base < row)
    return { row: row - (file?.base ?? 0), file: this.#files.length > 1 ? (file?.name ?? '') : '' }
  }

  add(
    row: number,
    given: number,
    open: number,
    high: number,
    low: number,
    close: number,
    volume: number,
    bought = Number.NaN,
  ): void {
    const time = this.#sessions === null ? given : openOfDate(this.#sessions, given)
    const mistake = mistakeOf(time, open, high, low, close, volume)
    if (mistake !== null) {
      const [top, bottom] = [Math.max(open, high, close), Math.min(open, low, close)]
      const isNoise = top - high <= NOISE * top && low - bottom <= NOISE * low
      const isWidened = high >= low && (isNoise || this.#widens)
      if (!isWidened || mistakeOf(time, open, top, bottom, close, volume) !== null)
        return this.fail(row, mistake)
      if (!isNoise) this.#widened++
      high = top
      low = bottom
    }
    this.#added++
    if (time === this.#last && this.#duplicates !== 'refuse') {
      this.#drop(time)
      if (this.#duplicates === 'first') return
      this.#length--
      // Its place is the next bar's again.
      if (this.#length % BLOCK_ROWS === 0) this.#spare = this.#blocks.pop() ?? null
    }
    if (!this.#rows.add(this.#length, this.numberOf(row))) return this.fail(row, TOO_MANY_ROWS)
    const at = this.#length % BLOCK_ROWS
    if (at === 0) this.#blocks.push(this.#emptyBlock())
    let block = this.#blocks.at(-1)
    if (!block) return
    // A file without sides may be followed by one with them.
    if (at === block.length || (this.#sides && !block.bought)) {
      const room = emptyBars(at === block.length ? BLOCK_ROWS - at : 0, { sides: this.#sides })
      this.#blocks[this.#blocks.length - 1] = block = concatBars([block, room])
    }
    if (block.bought) block.bought[at] = bought
    block.time[at] = time
    block.open[at] = open
    block.high[at] = high
    block.low[at] = low
    block.close[at] = close
    block.volume[at] = volume
    if (this.#length > 0 && time !== this.#last) {
      if (time < this.#last) this.#ascending = false
      else this.#descending = false
    } else if (this.#length > 0 && this.#duplicates === 'refuse') this.#ascending = this.#descending = false
    this.#last = time
    this.#length++
  }

  /** A block, of a bar that was dropped if there is one: twenty thousand rows of one time would clear 60 GB for new ones. */
  #emptyBlock(): Bars {
    const spare = this.#spare
    this.#spare = null
    if (spare && (spare.bought !== undefined) === this.#sides) return spare
    return emptyBars(this.#length === 0 ? FIRST_ROWS : BLOCK_ROWS, { sides: this.#sides })
  }

  /** The number of a row of this file, counted through all files. */
  numberOf(row: number): number {
    const number = this.#base + row
    if (number > this.#top) this.#top = number
    return number
  }

  /** Adds a row given as seven numbers: time, open, high, low, close, volume, bought. */
  addFrom(row: number, values: Float64Array): void {
    const { 0: time, 1: open, 2: high, 3: low, 4: close, 5: volume = 0, 6: told = Number.NaN } = values
    // What is more than the bar's volume counts something else.
    const bought = told >= 0 && told <= volume ? told : Number.NaN
    this.add(row, time ?? 0, open ?? 0, high ?? 0, low ?? 0, close ?? 0, volume, bought)
  }

  /**
   * Adds a bar of trades that the ends of files cut, or replaces it by what it is with a further piece; its time is the
   * opening. Another row of that time is a mistake, whatever is done about those of other bars.
   */
  addCut(
    row: number,
    time: number,
    open: number,
    high: number,
    low: number,
    close: number,
    volume: number,
    bought: number,
  ): void {
    const isNew = !this.#cuts.has(time)
    const values = [time, open, high, low, close, volume, bought]
    this.#cuts.set(time, values)
    if (isNew) return this.add(row, time, open, high, low, close, volume, bought)
    const mistake = mistakeOf(time, open, high, low, close, volume)
    if (mistake !== null) return this.fail(row, mistake)
    // The last bar is in the last block, so that files which follow each other need no more than that.
    const block = this.#blocks.at(-1)
    if (time === this.#last && block) setBar(block, (this.#length - 1) % BLOCK_ROWS, values)
    else this.#amended = true
  }

  /** Writes full blocks to the draft. Call it between the pieces of a file. */
  async spill(): Promise<void> {
    const runs = this.#runs
    if (!runs) return
    // Keeps the last block, which may have room left.
    for (let size = this.#runBlocks; this.#blocks.length > size; size = this.#runBlocks) {
      const blocks = this.#blocks.splice(0, size)
      // A file with a mistake will not be stored at all.
      if (this.#errors.length > 0) this.#incomplete = true
      else if (this.#ordered)
        await runs.append(this.#inOrder(concatBars(blocks)), { descending: this.#descending })
      else await runs.add(concatBars(blocks), this.#twice, this.#keeps)
    }
  }

  /** Throws Problem 422 naming the rows if anything was wrong, or if there are no bars. */
  async finish(): Promise<Staged> {
    const runs = this.#runs
    const spilled = runs?.length ?? 0
    if (this.#errors.length > 0 && (this.#incomplete || spilled > 0)) throw refused(this.#errors, this.full)
    const bars = this.#rest(this.#length - spilled)
    const staged =
      runs && spilled > 0 && (!this.#ordered || this.#amended)
        ? await this.#merge(runs, bars)
        : { bars: this.#completed(this.#inOrder(bars)), draft: runs?.first ?? null }
    if (this.#errors.length > 0) throw refused(this.#errors, this.full)
    if (this.#length === 0) throw refused([{ row: 1, file: '', message: 'there are no bars' }], false)
    return staged
  }

  get #ordered(): boolean {
    return this.#ascending || this.#descending
  }

  /** How many full blocks are written out together. */
  get #runBlocks(): number {
    return this.#ordered ? 1 : RUN_BLOCKS
  }

  /** Joins the blocks. Each is freed once it is copied, so that a large import is not in memory twice. */
  #rest(length: number): Bars {
    const bars = emptyBars(length, { sides: this.#sides })
    let at = 0
    for (let block = this.#blocks.shift(); block; block = this.#blocks.shift()) {
      const size = Math.min(BLOCK_ROWS, length - at)
      copyBars(bars, at, sliceBars(block, 0, size))
      at += size
    }
    return bars
  }

  #inOrder(bars: Bars): Bars {
    if (this.#ascending) return bars
    if (this.#descending) for (const column of columnsOf(bars)) column.reverse()
    else {
      const order = sortBars(bars, (n) => n, this.#twice)
      return withoutTwice(bars, order, this.#keeps).bars
    }
    return bars
  }

  async #merge(runs: BarRuns, rest: Bars): Promise<Staged> {
    await runs.add(rest, this.#twice, this.#keeps)
    const whole = runs.open()
    let bars = emptyBars(0)
    for await (const window of runs.merged(this.#twice, this.#keeps)) {
      if (this.full) break
      if (this.#errors.length === 0) await whole.add(bars)
      bars = this.#completed(window)
    }
    await runs.discard()
    return { bars, draft: whole }
  }

  /** Puts in the cut bars as they are with all their pieces. */
  #completed(bars: Bars): Bars {
    for (const [time, values] of this.#amended ? this.#cuts : []) {
      const at = lowerBound(bars.time, time)
      if (bars.time[at] === time) setBar(bars, at, values)
    }
    return bars
  }

  readonly #twice: Twice = (bar, before, time) => {
    if ((this.#duplicates === 'refuse' || this.#cuts.has(time)) && !this.full)
      this.#failAt(this.#rows.rowOf(bar), this.#sameTime(this.#rows.rowOf(before)))
  }

  #sameTime(before: number): string {
    const { row, file } = this.#placeOf(before)
    return `has the same time as row ${row}${file === '' ? '' : ` of ${file}`}`
  }

  get #keeps(): KeepTwice | null {
    return this.#duplicates === 'refuse' ? null : { which: this.#duplicates, drop: this.#drop }
  }

  readonly #drop = (time: number): void => {
    this.#dropped++
    if (this.#droppedTimes.length < TOLD_TWICE) this.#droppedTimes.push(time)
  }
}

const TOO_MANY_ROWS =
  'is where the memory for the rows of one import ends, of bars that are made of several rows or stand behind empty ones; import the rows from here on by themselves'

function setBar(bars: Bars, at: number, values: readonly number[]): void {
  for (const [i, column] of columnsOf(bars).entries()) column[at] = values[i] ?? Number.NaN
}

/** Prices that were divided by splits and dividends differ in their last digits from what they are. */
const NOISE = 1e-9

/** The years that a bar's time can lie in. A time before 1800 or after 2200 must be in other units. */
const TIME_MIN = Date.UTC(1800, 0)
const TIME_MAX = Date.UTC(2200, 0)

/** Why these numbers are not a bar; null if they are one. */
export function mistakeOf(
  time: number,
  open: number,
  high: number,
  low: number,
  close: number,
  volume: number,
): string | null {
  // One comparison passes a good bar; only a bad one needs words.
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
  const wrong = timeMistakeOf(time)
  if (wrong !== null) return wrong
  for (const [name, value] of Object.entries({ open, high, low, close, volume }))
    if (!Number.isFinite(value)) return `${name} is not a number`
  if (high < low) return 'high is below low'
  if (open > high || open < low) return 'open is outside of low to high'
  if (close > high || close < low) return 'close is outside of low to high'
  if (!Number.isFinite(high - low + volume)) return 'its numbers are too large for a bar'
  return 'volume is negative'
}

/** Why this number is not the time of a bar or a trade; null if it is one. */
export function timeMistakeOf(time: number): string | null {
  if (time > TIME_MIN && time < TIME_MAX) return null
  return Number.isFinite(time)
    ? 'time is out of range: expected seconds, ms or ISO 8601'
    : 'time is not a date'
}

/** What the user can say so that rows with such a mistake are taken. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /: (?:open|close) is outside/,
    'To take such highs and lows as wide as the open and the close say widen=true (--widen).',
  ],
  [/ the same time as /, 'To keep one row of each time say duplicates=first or last (--duplicates).'],
  [/ is of another symbol/, 'To take the rows of one symbol say which: ticker=… (--ticker).'],
]

function refused(errors: readonly RowError[], more: boolean): Problem {
  const said = errors.map(
    ({ row, file, message }) => `row ${row}${file === '' ? '' : ` of ${file.slice(-100)}`}: ${message}`,
  )
  const rest = errors.length - NAMED_MAX
  const others =
    rest > 0 ? ` (and ${rest}${more ? ' or more' : ''} other ${rest === 1 ? 'row' : 'rows'})` : ''
  const named = said.slice(0, NAMED_MAX).join('; ')
  const remedies = REMEDIES.filter(([pattern]) => pattern.test(named)).map(([, remedy]) => ` ${remedy}`)
  return new Problem(
    422,
    'validation_failed',
    `Nothing was imported: ${named}${others}.${remedies.join('')}`,
    {
      fields: errors.map(({ row }, i) => ({
        in: 'body',
        path: `/rows/${row}`,
        code: 'invalid_bar',
        message: said[i] ?? '',
      })),
    },
  )
}
