// Tells whether anybody has written to the database since, without asking it: a look at a number takes 5 ns, a read of LMDB
// 900, and the first of a turn also a timer that ends its transaction.
//
// LMDB keeps the number of the newest transaction in its lock file, which every process that has the database open maps into
// its memory (`mti_txnid` in its mdb.c). A reader takes the number of its transaction from that very place, so while it stands
// nobody, in whichever process, reads anything but what was read before.

import { closeSync, fstatSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What the file begins with: four words, a mark, a format, and the number in two halves. */
const MARK = 0xbeefc0de
const BYTES = 16

/**
 * The beginning of the lock file; null if it cannot be mapped. Throws if it cannot be written: LMDB would end the process. Call
 * it before LMDB opens the folder and never while this process has it open: POSIX drops a process's locks on a file when the
 * process closes any descriptor of it.
 */
export function mapLockFile(folder: string): Uint32Array | null {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'lock.mdb')
  const file = openSync(path, 'a', 0o600)
  try {
    // An empty file cannot be mapped. LMDB makes it longer, and fills it in, when it opens it.
    if (fstatSync(file).size < BYTES) writeSync(file, new Uint8Array(BYTES))
    const { buffer, byteOffset } = Bun.mmap(path, { shared: true })
    return new Uint32Array(buffer, byteOffset, BYTES / Uint32Array.BYTES_PER_ELEMENT)
  } catch {
    return null
  } finally {
    closeSync(file)
  }
}

/** Reads the number, once LMDB has opened the folder; null if it is not what LMDB says that it is. */
export function momentIn(words: Uint32Array | null, newest: () => number): (() => number) | null {
  if (words?.[0] !== MARK) return null
  const moment = () => (words[2] ?? 0) + (words[3] ?? 0) * 2 ** 32
  // Another process may write meanwhile.
  const before = moment()
  const said = newest()
  return before <= said && said <= moment() ? moment : null
}
