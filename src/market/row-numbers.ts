// The row of each bar of an import, for mistakes that show only when all bars are sorted.
//
// Where rows follow each other as bars do, nothing is kept. Behind blank lines, and where bars are made of several trades, it is
// noted how many rows lie between: in bytes of seven bits each (LEB128), the lowest first. So a bar of up to 64 trades takes one
// byte, one of up to 8,192 two.

import { lowerBound } from './bars.ts'

const BLOCK_BYTES = 65_536
/** The longest note: two numbers of 53 bits. */
const NOTE_BYTES = 16
/** From each so many notes on they can be read: a fiftieth of a byte a note. */
const MARK_NOTES = 1024

/** Rows are added in their order, for bars in theirs; a bar's second row takes the place of its first. */
export class RowNumbers {
  readonly #bytesMax: number
  readonly #blocks: Uint8Array[] = []
  #block = new Uint8Array()
  #at = BLOCK_BYTES
  #notes = 0
  /** The bar of the last note. Rows from there on are this much higher than the numbers of their bars. */
  #bar = 0
  #ahead = 0
  /** What bar and lead were before some notes, and where those begin. */
  readonly #marks = { bars: [0], aheads: [0], blocks: [0], ats: [0] }

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Answers false if there is no room for it. */
  add(bar: number, row: number): boolean {
    return row - bar === this.#ahead || this.#note(bar, row - bar)
  }

  rowOf(bar: number): number {
    const { bars, aheads, blocks, ats } = this.#marks
    const mark = Math.max(0, lowerBound(bars, bar + 1) - 1)
    let ahead = aheads[mark]!
    let noted = bars[mark]!
    const cursor: Cursor = { at: ats[mark]!, block: this.#block }
    for (let b = blocks[mark]!; b < this.#blocks.length; b++, cursor.at = 0) {
      cursor.block = this.#blocks[b]!
      // What is left of a block that had no room for a note, or none so far, is nought; no note begins with that.
      while (cursor.block[cursor.at]) {
        const rows = numberAt(cursor)
        noted += rows % 2 === 0 ? 1 : numberAt(cursor)
        if (noted > bar) return bar + ahead
        ahead += Math.floor(rows / 2)
      }
    }
    return bar + ahead
  }

  #note(bar: number, ahead: number): boolean {
    if (this.#at > BLOCK_BYTES - NOTE_BYTES) {
      if ((this.#blocks.length + 1) * BLOCK_BYTES > this.#bytesMax) return false
      this.#blocks.push((this.#block = new Uint8Array(BLOCK_BYTES)))
      this.#at = 0
    }
    if (++this.#notes % MARK_NOTES === 0) {
      this.#marks.bars.push(this.#bar)
      this.#marks.aheads.push(this.#ahead)
      this.#marks.blocks.push(this.#blocks.length - 1)
      this.#marks.ats.push(this.#at)
    }
    const isNext = bar === this.#bar + 1
    this.#put((ahead - this.#ahead) * 2 + (isNext ? 0 : 1))
    if (!isNext) this.#put(bar - this.#bar)
    this.#bar = bar
    this.#ahead = ahead
    return true
  }

  #put(value: number): void {
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#block[this.#at++] = (rest % 128) | 128
    this.#block[this.#at++] = rest
  }
}

interface Cursor {
  block: Uint8Array
  at: number
}

/** Reads a number and goes on behind it. */
function numberAt(cursor: Cursor): number {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = cursor.block[cursor.at++]!
    value += (byte & 127) * scale
    if (byte < 128) return value
  }
}
