// The store as server and command line open it: data of older versions is brought up to date first.

import { carryOver } from './carry-over.ts'
import { lmdbKv, type LmdbKv, type LmdbOptions } from './lmdb.ts'
import { migrate } from './migrate.ts'

/** `tell` gets a sentence when somebody has to wait for something. */
export async function openStore(options: LmdbOptions, tell?: (sentence: string) => void): Promise<LmdbKv> {
  await carryOver(options.path, { tell })
  const kv = lmdbKv(options)
  await migrate(kv)
  return kv
}
