// What commands that work on the data directory share: open the store, do the work, close it.
//
// The server may be running on the same directory meanwhile: LMDB lets several processes in, and caches follow the
// change numbers of the series.

import type { AccountDeps } from '../accounts/accounts.ts'
import { argon2Passwords } from '../accounts/passwords.ts'
import { idSource } from '../lib/ids.ts'
import { BarCache } from '../market/bar-cache.ts'
import { lmdbBars } from '../store/lmdb-bars.ts'
import type { LmdbKv } from '../store/lmdb.ts'
import { openStore } from '../store/open-store.ts'
import type { CommandContext } from './command.ts'
import { readConfig } from '../server/config.ts'

export interface Data {
  readonly kv: LmdbKv
  readonly bars: BarCache
  readonly accounts: AccountDeps
  readonly directory: string
}

/** `--data-dir`, for commands that take no other setting. */
export const DATA_FLAGS = { 'data-dir': { type: 'string' } } as const
export const DATA_HELP =
  '  --data-dir DIR        Folder of the database (DATA_DIR in the environment; ./data)'

export async function withData<T>(
  { environment, clock, random, warn }: CommandContext,
  flags: { readonly 'data-dir'?: string | undefined },
  work: (data: Data) => Promise<T> | T,
): Promise<T> {
  const { config } = readConfig({ 'data-dir': flags['data-dir'] }, environment)
  const kv = await openStore({ directory: config.DATA_DIR, tell: warn })
  try {
    const accounts = { kv, clock, random, newId: idSource({ clock, random }), passwords: argon2Passwords() }
    return await work({ kv, bars: new BarCache(lmdbBars(kv)), accounts, directory: config.DATA_DIR })
  } finally {
    await kv.close()
  }
}
