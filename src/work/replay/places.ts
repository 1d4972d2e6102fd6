// A user's place in a replay: one cursor, and any number of bookmarks, for each user, symbol and interval.
//
// Keys consist of what makes a place unique, so saving twice is saving once. A cursor stores the time of its bar besides
// the index: if older bars are imported in front, the time still says which bar was meant.

import type { Clock } from '../../lib/clock.ts'
import { base32 } from '../../lib/ids.ts'
import { Problem } from '../../lib/problem.ts'
import { sha256 } from '../../lib/sha256.ts'
import type { Key, Kv } from '../../store/kv.ts'
import { decide } from '../../store/transaction.ts'

export interface Cursor {
  /** Derived from what makes the place unique, so a place that is saved again keeps it. */
  readonly id: string
  readonly symbol: string
  readonly interval: string
  readonly exchange: string | null
  /** Index of the last visible bar, counted from `start`. */
  readonly cursorBar: number
  /** Opening time of that bar; null if it was unknown. */
  readonly barTime: number | null
  /** Bars a second. */
  readonly speed: number
  readonly start: string
  readonly end: string
  readonly updatedAt: number
}

export interface Bookmark {
  readonly id: string
  readonly symbol: string
  readonly interval: string
  readonly bar: number
  readonly note: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

export const BOOKMARKS_MAX = 1000

const cursorKey = (userId: string, symbol: string, interval: string): Key => [
  'cursors',
  userId,
  symbol,
  interval,
]
const bookmarksOf = (userId: string, symbol: string, interval: string): Key => [
  'bookmarks',
  userId,
  symbol,
  interval,
]

export class Places {
  readonly #kv: Kv
  readonly #clock: Clock

  constructor({ kv, clock }: { readonly kv: Kv; readonly clock: Clock }) {
    this.#kv = kv
    this.#clock = clock
  }

  async cursor(userId: string, symbol: string, interval: string): Promise<Cursor | null> {
    const entry = await this.#kv.get(cursorKey(userId, symbol, interval))
    return entry && { ...(JSON.parse(entry.value) as Cursor), id: idOfPlace('cur', entry.key) }
  }

  async saveCursor(userId: string, cursor: Omit<Cursor, 'id' | 'updatedAt'>): Promise<Cursor> {
    const key = cursorKey(userId, cursor.symbol, cursor.interval)
    const saved = { id: idOfPlace('cur', key), ...cursor, updatedAt: this.#clock.now() }
    await this.#kv.commit({ sets: [{ key, value: JSON.stringify(saved) }] })
    return saved
  }

  /** Answers whether there was one. */
  clearCursor(userId: string, symbol: string, interval: string): Promise<boolean> {
    return this.#remove(cursorKey(userId, symbol, interval))
  }

  /** Sorted by bar. */
  async bookmarks(userId: string, symbol: string, interval: string): Promise<Bookmark[]> {
    const prefix = bookmarksOf(userId, symbol, interval)
    const entries = await this.#kv.list({ prefix }, { limit: BOOKMARKS_MAX })
    return entries.map(({ key, value }) => ({
      ...(JSON.parse(value) as Bookmark),
      id: idOfPlace('bm', key),
    }))
  }

  /** `note` undefined leaves an existing note as it is. */
  async saveBookmark(
    userId: string,
    symbol: string,
    interval: string,
    bar: number,
    note: string | null | undefined,
  ): Promise<Bookmark> {
    const prefix = bookmarksOf(userId, symbol, interval)
    const key = [...prefix, bar]
    // Every new bookmark adds a step to this counter, so that two made at the same time notice each other.
    const made: Key = ['bookmarks-made', ...prefix.slice(1)]
    return decide(this.#kv, async (tx) => {
      const entry = await tx.get(key)
      const before = entry && (JSON.parse(entry.value) as Bookmark)
      if (!before) await tx.get(made)
      if (!before && (await this.#kv.list({ prefix }, { limit: BOOKMARKS_MAX })).length >= BOOKMARKS_MAX)
        throw new Problem(
          422,
          'quota_exceeded',
          `A symbol and interval can have at most ${BOOKMARKS_MAX} bookmarks.`,
        )
      const now = this.#clock.now()
      const saved: Bookmark = {
        id: idOfPlace('bm', key),
        symbol,
        interval,
        bar,
        note: note === undefined ? (before?.note ?? null) : note,
        createdAt: before?.createdAt ?? now,
        updatedAt: now,
      }
      const sums = before ? [] : [{ key: made, step: 1 }]
      return [saved, { sets: [{ key, value: JSON.stringify(saved) }], sums }]
    })
  }

  removeBookmark(userId: string, symbol: string, interval: string, bar: number): Promise<boolean> {
    return this.#remove([...bookmarksOf(userId, symbol, interval), bar])
  }

  async #remove(key: Key): Promise<boolean> {
    const isThere = (await this.#kv.get(key)) !== null
    if (isThere) await this.#kv.commit({ deletes: [key] })
    return isThere
  }
}

/** Places of version 0.1.0 have no stored id, so it is derived. */
function idOfPlace(prefix: string, key: Key): string {
  return `${prefix}_${base32(Buffer.from(sha256(JSON.stringify(key)), 'hex').subarray(0, 16))}`
}
