// The store as a sorted list in memory: tests run on it, and it states plainly what the port means.

import { assert } from '../lib/assert.ts'
import { Problem } from '../lib/problem.ts'
import { decodeKey, encodeKey, prefixRange } from './key.ts'
import type { Commit, Entry, Key, Kv, ListOptions, Selector } from './kv.ts'
import { mayUseReserve } from './reserve.ts'
import { withoutSums } from './sums.ts'

interface StoredText {
  readonly value: string
  readonly version: string
}

/** `maxBytes`: once the values exceed it, writes are refused as on a full disk. */
export function memoryKv({ maxBytes = Infinity }: { readonly maxBytes?: number } = {}): Kv {
  const rows = new Rows()
  const found = (key: Key) => rows.get(textOf(key))
  return {
    get: async (key) => found(key),
    getMany: async (keys) => keys.map(found),
    versions: async (keys) => keys.map((key) => found(key)?.version ?? null),
    moment: () => rows.writes,
    async list(selector, options) {
      const { start, end } = pageRange(selector, options)
      // As strict as the other stores, so that nobody relies on what they leave out.
      return rows
        .page(start.toString('latin1'), end.toString('latin1'), options)
        .map((entry) => (options.keysOnly ? { ...entry, value: '', version: '' } : entry))
    },
    async commit(asked: Commit) {
      const { checks = [] } = asked
      if (!checks.every(({ key, version }) => (found(key)?.version ?? null) === version)) return false
      const commit = withoutSums(asked, (key) => found(key)?.value)
      const { sets = [], deletes = [] } = commit
      const sizeOf = (key: Key) => found(key)?.value.length ?? null
      if (sets.length > 0 && rows.bytes > maxBytes && !mayUseReserve(commit, sizeOf)) throw storageFull()
      rows.writes += 1
      for (const key of deletes) rows.remove(textOf(key))
      for (const { key, value } of sets) rows.put(textOf(key), value)
      return true
    },
    async close() {},
  }
}

/** Keys are Latin-1 strings of their bytes, since comparing such strings compares the bytes. */
const textOf = (key: Key) => encodeKey(key).toString('latin1')

/** `sorted` has the key of every row, and `bytes` is how long their values are together. */
class Rows {
  writes = 0
  bytes = 0
  readonly #rows = new Map<string, StoredText>()
  readonly #sorted: string[] = []

  get(text: string): Entry | null {
    const row = this.#rows.get(text)
    return row ? { key: decodeKey(Buffer.from(text, 'latin1')), ...row } : null
  }

  page(start: string, end: string, { limit, reverse }: ListOptions): Entry[] {
    const from = lowerBound(this.#sorted, start)
    const to = Math.max(from, lowerBound(this.#sorted, end))
    const texts = reverse
      ? this.#sorted.slice(Math.max(from, to - limit), to).reverse()
      : this.#sorted.slice(from, Math.min(to, from + limit))
    return texts.flatMap((text) => this.get(text) ?? [])
  }

  put(text: string, given: string | Uint8Array): void {
    const value = typeof given === 'string' ? given : utf8.decode(given)
    this.bytes += value.length - (this.#rows.get(text)?.value.length ?? 0)
    if (!this.#rows.has(text)) this.#sorted.splice(lowerBound(this.#sorted, text), 0, text)
    this.#rows.set(text, { value, version: String(this.writes) })
  }

  remove(text: string): void {
    const row = this.#rows.get(text)
    if (row === undefined) return
    this.bytes -= row.value.length
    this.#rows.delete(text)
    this.#sorted.splice(lowerBound(this.#sorted, text), 1)
  }
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** The byte range of a page: the selector's, cut off at `after`. */
export function pageRange(
  selector: Selector,
  { limit, after, reverse = false }: ListOptions,
): { readonly start: Buffer; readonly end: Buffer } {
  assert(Number.isInteger(limit) && limit >= 1 && limit <= 10_000, `a page of ${limit} entries`)
  const range =
    'prefix' in selector
      ? prefixRange(selector.prefix)
      : { start: encodeKey(selector.start), end: encodeKey(selector.end) }
  if (after === undefined) return range
  const bytes = encodeKey(after)
  if (reverse) return { start: range.start, end: minimum(range.end, bytes) }
  // The smallest key behind `after` is `after` with a zero byte appended.
  return { start: maximum(range.start, Buffer.concat([bytes, Buffer.of(0)])), end: range.end }
}

export function storageFull(): Problem {
  return new Problem(
    507,
    'storage_full',
    'The disk is full; nothing was stored. Free some space and try again.',
  )
}

const minimum = (a: Buffer, b: Buffer) => (Buffer.compare(a, b) <= 0 ? a : b)
const maximum = (a: Buffer, b: Buffer) => (Buffer.compare(a, b) >= 0 ? a : b)

function lowerBound(sorted: readonly string[], text: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? '') < text) low = middle + 1
    else high = middle
  }
  return low
}
