// The chunks of bars in LMDB, by (id of their series, time of the first bar): which of them a write or a read needs, and reading
// them.

import type { Transaction } from 'lmdb'
import { turn } from '../lib/turn.ts'
import { type BarRange, type Bars, selectBars, sliceBars } from '../market/bars.ts'
import type { MakeColumns } from '../market/bar-store.ts'
import { CHUNK_BARS, chunkLength, decodeAll, decodeChunk } from './bar-chunks.ts'
import { decodeKey, encodeKey } from './key.ts'
import type { Table } from './lmdb.ts'

export const CHUNKS = { name: 'bar-chunks', encoding: 'binary' } as const

export const chunkKey = (id: number, first: number) => encodeKey([id, first])
export const firstOf = (key: Uint8Array) => Number(decodeKey(key)[1])

/** How many chunks are decoded before others get their turn: some 2 ms. */
const TURN_CHUNKS = 16
const FIRST_TIME = -8_640_000_000_000_000
const LAST_TIME = 8_640_000_000_000_000

interface Walk {
  readonly reverse?: boolean
  readonly limit?: number
  readonly transaction?: Transaction
}

export class LmdbChunks {
  readonly #table: Table<Buffer>

  constructor(table: Table<Buffer>) {
    this.#table = table
  }

  /** For reads that all see one moment; to be ended with `done`. */
  begin(): Transaction {
    return this.#table.useReadTransaction()
  }

  get(id: number, first: number): Buffer | undefined {
    return this.#table.get(chunkKey(id, first))
  }

  /** Call it inside a transaction. */
  put(id: number, parts: Iterable<readonly [first: number, bytes: Buffer]>): void {
    for (const [first, bytes] of parts) void this.#table.put(chunkKey(id, first), bytes)
  }

  /** Call it inside a transaction. */
  remove(id: number, firsts: Iterable<number>): void {
    for (const first of firsts) void this.#table.remove(chunkKey(id, first))
  }

  /** The first times of all chunks of an id, or of the first few. */
  firsts(id: number, limit?: number): number[] {
    return this.#firsts(id, FIRST_TIME, LAST_TIME, limit === undefined ? {} : { limit })
  }

  /** The first times of the chunks that bars from `first` to `last` fall into, and of a neighbour with room left. */
  touched(id: number, first: number, last: number): number[] {
    const [before] = this.#firsts(id, first, FIRST_TIME, { reverse: true, limit: 1 })
    const inside = this.#firsts(id, first + 1, last + 1)
    const [behind] = this.#firsts(id, last + 1, LAST_TIME, { limit: 1 })
    // A full chunk that ends before `first` is not touched.
    const isHead = before !== undefined && (this.#hasRoom(id, before) || this.#lastTime(id, before) >= first)
    const isTail =
      behind !== undefined && before === undefined && inside.length === 0 && this.#hasRoom(id, behind)
    return [...(isHead ? [before] : []), ...inside, ...(isTail ? [behind] : [])]
  }

  /** Decodes a few chunks in one go. */
  read(id: number, range: BarRange): Bars {
    const parts = this.#within(id, range).flatMap((first) => this.get(id, first) ?? [])
    return selectBars(decodeAll(parts), range)
  }

  /** Decodes any number of chunks, in steps between which others get their turn, all as they are in `transaction`. */
  async readInSteps(id: number, range: BarRange, make: MakeColumns, transaction: Transaction): Promise<Bars> {
    const firsts = this.#within(id, range, { transaction })
    let columns = make(firsts.length * CHUNK_BARS)
    let length = 0
    for (const [i, first] of firsts.entries()) {
      if (i > 0 && i % TURN_CHUNKS === 0) await turn()
      const bytes = this.#table.get(chunkKey(id, first), { transaction })
      if (!bytes) continue
      columns = decodeChunk(bytes, columns, length)
      length += chunkLength(bytes)
    }
    return selectBars(sliceBars(columns, 0, length), range)
  }

  #firsts(id: number, from: number, to: number, walk: Walk = {}): number[] {
    return Array.from(
      this.#table.getKeys({ start: chunkKey(id, from), end: chunkKey(id, to), ...walk }),
      firstOf,
    )
  }

  #hasRoom(id: number, first: number): boolean {
    const bytes = this.get(id, first)
    return !bytes || chunkLength(bytes) < CHUNK_BARS
  }

  #lastTime(id: number, first: number): number {
    const bytes = this.get(id, first)
    return (bytes && decodeAll([bytes]).time.at(-1)) ?? 0
  }

  /** The first times of the chunks that may have bars of the range, in order. */
  #within(id: number, { from, to, first, last }: BarRange, walk: Walk = {}): number[] {
    const end = to ?? LAST_TIME
    // Walks backwards if the newest bars are wanted, since they may be few of many.
    if (last !== undefined) {
      const least = from ?? FIRST_TIME
      const range = { start: chunkKey(id, end), end: chunkKey(id, FIRST_TIME), reverse: true, ...walk }
      return this.#until(range, last, to !== undefined, (start) => start <= least).reverse()
    }
    const begin =
      from === undefined
        ? undefined
        : this.#firsts(id, from, FIRST_TIME, { reverse: true, limit: 1, ...walk })[0]
    if (first === undefined) return this.#firsts(id, begin ?? FIRST_TIME, end, walk)
    const range = { start: chunkKey(id, begin ?? FIRST_TIME), end: chunkKey(id, end), ...walk }
    return this.#until(range, first, from !== undefined)
  }

  /** The first times of chunks until there are `wanted` bars in them. Of one that is cut by the range's end none may count. */
  #until(
    range: Walk & { readonly start: Buffer; readonly end: Buffer },
    wanted: number,
    isCut: boolean,
    isLast: (first: number) => boolean = () => false,
  ): number[] {
    const firsts: number[] = []
    let missing = wanted
    for (const { key, value } of this.#table.getRange(range)) {
      const first = firstOf(key)
      if (!isCut || firsts.length > 0) missing -= chunkLength(value)
      firsts.push(first)
      if (missing <= 0 || isLast(first)) break
    }
    return firsts
  }
}
