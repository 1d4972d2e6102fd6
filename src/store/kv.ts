// The one port to storage, after Deno KV: tuple keys, versioned values, one atomic commit.
//
// A distributed store and the embedded one look the same through it. There are no callbacks inside a
// transaction: read, decide, commit, and retry when the commit says that somebody was faster.

export type KeyPart = string | number | boolean
/** Ordered part by part: false < true < numbers (by value) < strings (by UTF-8 bytes). A shorter key sorts before its extensions. */
export type Key = readonly KeyPart[]

/** Opaque; changes with every write of the key, and never repeats. */
export type Version = string

export interface Entry {
  readonly key: Key
  /** JSON text, as it was set. */
  readonly value: string
  readonly version: Version
}

export interface Check {
  readonly key: Key
  /** The version that was read; null = the key must be absent. */
  readonly version: Version | null
}

/**
 * A step of a counter, taken by the store itself: nobody reads the counter first, so steps of many never conflict. A
 * counter is a whole number as decimal text; it is absent at zero, and does not go below.
 */
export interface Sum {
  readonly key: Key
  readonly step: number
  /** A step up that would lead above this refuses the whole commit, with `AboveMax`. */
  readonly max?: number
}

/** Nothing was written, since a sum would have risen above its bound. */
export class AboveMax extends Error {
  readonly sum: Sum
  constructor(sum: Sum) {
    super(`a sum would rise above ${sum.max}`)
    this.sum = sum
  }
}

/** A key stands in it once at most, but for its checks. */
export interface Commit {
  readonly checks?: readonly Check[]
  readonly sets?: readonly { readonly key: Key; readonly value: string }[]
  readonly deletes?: readonly Key[]
  readonly sums?: readonly Sum[]
  /** Takes what is kept back for when the store is full: for what somebody needs to make room, or to stop. */
  readonly essential?: boolean
}

export interface ListOptions {
  /** At most this many entries; 1 to 10,000. */
  readonly limit: number
  /** Continue behind this key (exclusive), in the direction of travel. */
  readonly after?: Key
  readonly reverse?: boolean
}

export type Selector = { readonly prefix: Key } | { readonly start: Key; readonly end: Key }

/**
 * Every answer is true of one moment, and may be old when it arrives: two answers need not be of the same moment, and
 * only a check tells whether one still holds when something is written.
 */
export interface Reader {
  /** null where the key is absent. */
  get(key: Key): Promise<Entry | null>
  /** One answer a key, in their order; in one go, where `get` would take a round trip each. */
  getMany(keys: readonly Key[]): Promise<(Entry | null)[]>
  /** One bounded page in key order. `start` is inclusive, `end` exclusive; a prefix does not contain itself. */
  list(selector: Selector, options: ListOptions): Promise<Entry[]>
}

export interface Kv extends Reader {
  /** Of each key, null where it is absent: whether what was read still stands, without reading it again. */
  versions(keys: readonly Key[]): Promise<(Version | null)[]>
  /**
   * All or nothing. Resolves when the commit is flushed to disk: `true`, or `false` when a check failed and
   * nothing was written. Rejects with `AboveMax`, and with Problem 507 `storage_full` when the disk or the map is full.
   */
  commit(commit: Commit): Promise<boolean>
  close(): Promise<void>
}
