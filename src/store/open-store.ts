// Opens the store for server and command line, after bringing data of older versions up to date.

import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { carryOver, finishRenaming, isToBeCarriedOver } from './carry-over.ts'
import { checkDatabase } from './check-database.ts'
import { assertNoHalfCopy } from './copy.ts'
import { DataRefused } from './data-refused.ts'
import type { Kv } from './kv.ts'
import { lmdbKv, type LmdbKv } from './lmdb.ts'
import { memoryKv } from './memory.ts'
import { assertKnownLayout, migrate } from './migrate.ts'
import { Reserve } from './reserve.ts'
import { LOCK_FILE, lockData, servedBy, type ServerLock } from './server-lock.ts'

export interface OpenOptions {
  /** The data directory; created if it is missing. */
  readonly directory: string
  /** See `LmdbOptions`. */
  readonly maxBytes?: number
  /** Receives a sentence whenever the user has to wait. */
  readonly tell?: (sentence: string) => void
}

/**
 * Opens the store for a server, which holds the directory alone until it releases the lock. `admit` may look at the
 * database and throw before anything is written.
 */
export async function openServerStore(
  options: OpenOptions & { readonly admit: (kv: Kv) => Promise<void> },
): Promise<{ kv: LmdbKv; lock: ServerLock }> {
  makeDirectory(options.directory)
  const folder = folderOf(options)
  const lock = lockData(options.directory)
  try {
    finishRenaming(folder)
    await beforeWriting(folder, options.admit)
    await carryOver(folder, options)
    return { kv: await open(options, new Reserve(options.directory)), lock }
  } catch (error) {
    lock.release()
    throw error
  }
}

async function beforeWriting(folder: string, admit: (kv: Kv) => Promise<void>): Promise<void> {
  if (!checkDatabase(folder)) return admit(memoryKv())
  const kv = lmdbKv({ path: folder })
  try {
    await assertKnownLayout(kv)
    await assertNoHalfCopy(kv)
    await admit(kv)
  } finally {
    await kv.close()
  }
}

/** Opens the store for a command, beside a server or without one. */
export async function openStore(options: OpenOptions): Promise<LmdbKv> {
  const kv = await openToCopy(options)
  try {
    await assertNoHalfCopy(kv)
    return kv
  } catch (error) {
    await kv.close()
    throw error
  }
}

/** As `openStore`, but also takes a copy that is not whole yet. */
export async function openToCopy(options: OpenOptions): Promise<LmdbKv> {
  makeDirectory(options.directory)
  assertLocksKept(options)
  if (isToBeCarriedOver(folderOf(options))) {
    const lock = lockData(options.directory)
    try {
      await carryOver(folderOf(options), options)
    } finally {
      lock.release()
    }
  }
  return open(options)
}

const folderOf = ({ directory }: OpenOptions) => `${directory}/db`

async function open(options: OpenOptions, reserve?: Reserve): Promise<LmdbKv> {
  keepPrivate(options.directory)
  const kv = lmdbKv({
    path: folderOf(options),
    ...(options.maxBytes && { maxBytes: options.maxBytes }),
    ...(reserve && { reserve }),
  })
  try {
    await migrate(kv)
    return kv
  } catch (error) {
    await kv.close()
    throw error
  }
}

/**
 * LMDB's processes see each other by `lock.mdb`. One that made it anew beside a server that has the old one open would write
 * over what the server reads.
 */
function assertLocksKept(options: OpenOptions): void {
  const folder = folderOf(options)
  if (!existsSync(`${folder}/data.mdb`) || existsSync(`${folder}/lock.mdb`)) return
  const server = servedBy(options.directory)
  if (server !== null)
    throw new DataRefused(
      `${folder}/lock.mdb was deleted while ${server} serves from it, and without it two processes would damage the database. Restart the server, which makes it anew.`,
    )
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new DataRefused(
      `The data directory ${directory} cannot be made (${error instanceof Error ? error.message : String(error)}). Name another one with --data-dir.`,
    )
  }
}

/** Version 0.1.0 let everybody on the machine read the database. A directory of another user is left as it is. */
function keepPrivate(directory: string): void {
  for (const name of ['', `/${LOCK_FILE}`, '/db', '/db/data.mdb', '/db/lock.mdb'])
    try {
      const { mode } = statSync(directory + name)
      if (mode & 0o077) chmodSync(directory + name, mode & 0o700)
    } catch {
      // The directory does not exist yet, or is not ours.
    }
}
