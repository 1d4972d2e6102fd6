// The store as server and command line open it: data of older versions is brought up to date first.

import { mkdirSync } from 'node:fs'
import { carryOver, isToBeCarriedOver } from './carry-over.ts'
import { lmdbKv, type LmdbKv } from './lmdb.ts'
import { migrate } from './migrate.ts'
import { lockData, type ServerLock } from './server-lock.ts'

export interface OpenOptions {
  /** The data directory; made if it is missing. */
  readonly directory: string
  /** See `LmdbOptions`. */
  readonly maxBytes?: number
  /** Gets a sentence when somebody has to wait for something. */
  readonly tell?: (sentence: string) => void
}

/** For a server, which is the only one on its directory until it lets the lock go. */
export async function openServerStore(options: OpenOptions): Promise<{ kv: LmdbKv; lock: ServerLock }> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 })
  const lock = lockData(options.directory)
  try {
    await carryOver(folderOf(options), options)
    return { kv: await open(options), lock }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** For a command, beside a server or without one. */
export async function openStore(options: OpenOptions): Promise<LmdbKv> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 })
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

async function open(options: OpenOptions): Promise<LmdbKv> {
  const kv = lmdbKv({ path: folderOf(options), ...(options.maxBytes && { maxBytes: options.maxBytes }) })
  try {
    await migrate(kv)
    return kv
  } catch (error) {
    await kv.close()
    throw error
  }
}
