// Checks that the files in a data directory are a whole database of ours before LMDB opens it, so that a foreign or damaged
// one is refused with a sentence and left as it is.
//
// A small file is always read whole. A large one (1 GB takes a second) is read whole only if there is a reason: killing a
// process leaves a whole file, but switching off the machine or copying files may not.

import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DataRefused } from './data-refused.ts'
import { FileDamage, type LmdbFile, readLmdbFile } from './lmdb-file.ts'
import { DOCUMENTS } from './lmdb.ts'

const SMALL_BYTES = 64 << 20
/** A walk through a file that a process is writing may meet pages of two different times, so it is tried again. */
const TRIES = 5

/** null if there is no database yet. Throws `DataRefused`. */
export function checkDatabase(folder: string, { whole = false } = {}): LmdbFile | null {
  const path = join(folder, 'data.mdb')
  let found: LmdbFile | null
  try {
    found = calmly(() => readLmdbFile(path, { whole: whole || isSmall(path) }))
    if (found?.isSuspect && !isSmall(path)) found = calmly(() => readLmdbFile(path, { whole: true }))
  } catch (error) {
    if (!(error instanceof FileDamage)) throw readable(error, path)
    throw new DataRefused(
      `${path} ${error.message}. Nothing was changed. Move the directory away and put a backup in its place with \`chartroom restore FOLDER\`, or name another one with --data-dir.`,
    )
  }
  if (found && found.tables.size > 0 && !found.tables.has(DOCUMENTS.name))
    throw new DataRefused(
      `${path} is a database of another program. Nothing was changed. Name another directory with --data-dir.`,
    )
  return found
}

function isSmall(path: string): boolean {
  return existsSync(path) && statSync(path).size <= SMALL_BYTES
}

export function calmly<T>(read: () => T): T {
  for (let left = TRIES; ; left--)
    try {
      return read()
    } catch (error) {
      if (left === 1 || !(error instanceof FileDamage)) throw error
      Bun.sleepSync(20)
    }
}

/** Turns the system's error about an unreadable file into a refusal. */
function readable(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!/^E(ACCES|PERM|ISDIR|IO|NOTDIR)$/.test(code)) return error
  return new DataRefused(
    `${path} cannot be read (${code}). Start as the user who owns the data directory, or name another one with --data-dir.`,
  )
}
