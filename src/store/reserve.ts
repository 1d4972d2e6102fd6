// Space kept back for when the store is full, so that deleting, signing in and stopping always work.
//
// Two things can be full. `MAX_STORAGE_MB` is only a number, which commits that may use the reserve can exceed by
// RESERVE_BYTES. A disk is real, and LMDB needs pages even to delete: a file of that size, `reserve`, lies in the data
// directory and is given up when such a commit finds no room. From then on all other writes are refused, or they would use
// up the room, until the disk can hold the file again.

import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Commit, Key } from './kv.ts'

export const RESERVE_FILE = 'reserve'
export const RESERVE_BYTES = 16 << 20
/** A record may grow by this much without counting as growing: room for a changed state, or for one more attempt. */
const SLACK_BYTES = 1024
const STEP_BYTES = 1 << 20

/**
 * Whether a commit may use the reserve. An essential one may, and one that takes no more than it frees: it makes no more
 * keys than it deletes, and its values grow by no more than a change of state needs. `sizeOf` answers the bytes of what is
 * stored.
 */
export function mayUseReserve(
  { sets = [], deletes = [], essential = false }: Commit,
  sizeOf: (key: Key) => number | null,
): boolean {
  if (essential) return true
  let growth = 0
  let keys = 0
  for (const key of deletes) {
    const size = sizeOf(key)
    growth -= size ?? 0
    if (size !== null) keys -= 1
  }
  for (const { key, value } of sets) {
    const size = sizeOf(key)
    growth += value.length - (size ?? 0)
    if (size === null) keys += 1
  }
  return keys <= 0 && growth <= SLACK_BYTES
}

/** The reserve file of one server. */
export class Reserve {
  readonly #path: string
  readonly #bytes: number
  readonly #free: (directory: string) => number
  #isLow = false

  constructor(directory: string, bytes = RESERVE_BYTES, free = freeBytes) {
    this.#path = join(directory, RESERVE_FILE)
    this.#bytes = bytes
    this.#free = free
    this.#refill()
  }

  /** Whether the disk has been full and still lacks the room for a new reserve. */
  get isLow(): boolean {
    if (this.#isLow && this.#refill()) this.#isLow = false
    return this.#isLow
  }

  /** The disk is full: from now on nothing ordinary is written. */
  full(): void {
    this.#isLow = true
  }

  /** Frees the room for commits that may use it; answers false if that was done before. */
  release(): boolean {
    this.#isLow = true
    if (!existsSync(this.#path)) return false
    rmSync(this.#path, { force: true })
    return true
  }

  #refill(): boolean {
    const there = existsSync(this.#path)
    // The same amount again stays free for others.
    if (this.#free(dirname(this.#path)) < (there ? this.#bytes : 2 * this.#bytes)) return false
    return there || this.#make()
  }

  #make(): boolean {
    const partial = `${this.#path}.partial`
    try {
      const file = openSync(partial, 'w', 0o600)
      try {
        // Not zeros, which a compressing file system would not reserve room for.
        for (let at = 0; at < this.#bytes; at += STEP_BYTES) writeSync(file, noise(at))
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
      renameSync(partial, this.#path)
      return true
    } catch {
      rmSync(partial, { force: true })
      return false
    }
  }
}

/** What the directory's disk has left for us. */
function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

/** Bytes that do not compress; xorshift32. */
function noise(seed: number): Uint8Array {
  const words = new Uint32Array(STEP_BYTES / 4)
  let state = seed + 1
  for (let i = 0; i < words.length; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[i] = state
  }
  return new Uint8Array(words.buffer)
}
