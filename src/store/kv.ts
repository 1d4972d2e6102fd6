// The one port to storage, after Deno KV: tuple keys, versioned values, one atomic commit.
//
// A database that several servers share and the embedded one look the same through it. There are no callbacks inside a
// transaction: read, decide, commit, and retry if the commit fails because another was faster.

export type KeyPart = string | number | boolean
/** Ordered part by part: false < true < numbers (by value) < strings (by UTF-8 bytes). A shorter key sorts before its extensions. */
export type Key = readonly KeyPart[]

/** Opaque; changes with every write of the key, and never repeats. */
export type Version = string

export interface Entry {
  readonly key: Key
  /** The JSON text that was set. */
  readonly value: string
  readonly version: Version
}

export interface Check {
  readonly key: Key
  /** The version that was read; null = the key must be absent. */
  readonly version: Version | null
}

/**
 * A step of a counter, taken by the store itself. Nobody reads the counter first, so the steps of many writers never
 * conflict. A counter is a whole number as decimal text; it is absent at zero, and never falls below.
 */
export interface Sum {
  readonly key: Key
  readonly step: number
  /** A step that would raise the counter above this refuses the whole commit with `AboveMax`. */
  readonly max?: number
}

/** Nothing was written, because a counter would have risen above its bound. */
export class AboveMax extends Error {
  readonly sum: Sum
  constructor(sum: Sum) {
    super(`a sum would rise above ${sum.max}`)
    this.sum = sum
  }
}

/** A key may occur only once, except that it may also be checked. */
export interface Commit {
  readonly checks?: readonly Check[]
  /** A value is a text, or the UTF-8 of one, which spares encoding it where it is bytes already. */
  readonly sets?: readonly { readonly key: Key; readonly value: string | Uint8Array }[]
  readonly deletes?: readonly Key[]
  readonly sums?: readonly Sum[]
  /** Lets the commit use the reserve of a full store. For what a user needs to free space, sign in or stop the server. */
  readonly essential?: boolean
}

export interface ListOptions {
  /** The most entries to answer, 1 to 10,000. */
  readonly limit: number
  /** Continues behind this key (exclusive), in the direction of travel. */
  readonly after?: Key
  readonly reverse?: boolean
  /** The values and versions of the entries may be left out, as ''. */
  readonly keysOnly?: boolean
}

export type Selector = { readonly prefix: Key } | { readonly start: Key; readonly end: Key }

/**
 * Every answer describes one moment and may be out of date when it arrives. Two answers may describe different moments, and
 * only a check tells at the time of a write whether one still holds.
 */
export interface Reader {
  /** null where the key is absent. */
  get(key: Key): Promise<Entry | null>
  /** Answers one entry for each key, in order; one round trip instead of one for each `get`. */
  getMany(keys: readonly Key[]): Promise<(Entry | null)[]>
  /** One bounded page in key order. `start` is inclusive, `end` exclusive; a prefix does not include itself. */
  list(selector: Selector, options: ListOptions): Promise<Entry[]>
}

export interface Kv extends Reader {
  /** The version of each key, null if it is absent: tells whether a read still holds without reading again. */
  versions(keys: readonly Key[]): Promise<(Version | null)[]>
  /**
   * Changes with every commit, of whichever process, and costs nothing to ask: what was read after it was asked still holds
   * while it stays the same. Absent where only a read can tell.
   */
  moment?(): number
  /**
   * Writes all or nothing. Resolves to `true` when the commit is flushed to disk, or to `false` if a check failed and
   * nothing was written. Rejects with `AboveMax`, and with Problem 507 `storage_full` if the disk or the map is full.
   */
  commit(commit: Commit): Promise<boolean>
  close(): Promise<void>
}
