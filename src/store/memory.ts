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
  // Keys are Latin-1 strings of their bytes, since comparing such strings compares the bytes.
  const rows = new Map<string, StoredText>()
  const sorted: string[] = []
  let writes = 0
  let bytes = 0

  const entry = (text: string, row: StoredText): Entry => ({
    key: decodeKey(Buffer.from(text, 'latin1')),
    value: row.value,
    version: row.version,
  })

  function found(key: Key): Entry | null {
    const text = encodeKey(key).toString('latin1')
    const row = rows.get(text)
    return row ? entry(text, row) : null
  }

  function put(text: string, given: string | Uint8Array): void {
    const value = typeof given === 'string' ? given : utf8.decode(given)
    bytes += value.length - (rows.get(text)?.value.length ?? 0)
    if (!rows.has(text)) sorted.splice(lowerBound(sorted, text), 0, text)
    rows.set(text, { value, version: String(writes) })
  }

  function remove(text: string): void {
    const row = rows.get(text)
    if (row === undefined) return
    bytes -= row.value.length
    rows.delete(text)
    sorted.splice(lowerBound(sorted, text), 1)
  }

  return {
    get: async (key) => found(key),
    getMany: async (keys) => keys.map(found),
    versions: async (keys) => keys.map((key) => found(key)?.version ?? null),
    moment: () => writes,
    async list(selector, options) {
      const { start, end } = pageRange(selector, options)
      const from = lowerBound(sorted, start.toString('latin1'))
      const to = Math.max(from, lowerBound(sorted, end.toString('latin1')))
      const texts = options.reverse
        ? sorted.slice(Math.max(from, to - options.limit), to).reverse()
        : sorted.slice(from, Math.min(to, from + options.limit))
      return texts.flatMap((text) => {
        const row = rows.get(text)
        if (!row) return []
        const found = entry(text, row)
        // As strict as the other stores, so that nobody relies on what they leave out.
        return [options.keysOnly ? { ...found, value: '', version: '' } : found]
      })
    },
    async commit(asked: Commit) {
      const { checks = [] } = asked
      const fresh = checks.every(
        ({ key, version }) => (rows.get(encodeKey(key).toString('latin1'))?.version ?? null) === version,
      )
      if (!fresh) return false
      const commit = withoutSums(asked, (key) => rows.get(encodeKey(key).toString('latin1'))?.value)
      const { sets = [], deletes = [] } = commit
      const sizeOf = (key: Key) => rows.get(encodeKey(key).toString('latin1'))?.value.length ?? null
      if (sets.length > 0 && bytes > maxBytes && !mayUseReserve(commit, sizeOf)) throw storageFull()
      writes += 1
      for (const key of deletes) remove(encodeKey(key).toString('latin1'))
      for (const { key, value } of sets) put(encodeKey(key).toString('latin1'), value)
      return true
    },
    async close() {},
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
