// What commands that work on the data directory share: open the store, do the work, close it.
//
// The server may be running on the same directory meanwhile: LMDB lets several processes in, and caches follow the
// change numbers of the series.

import { resolve } from 'node:path'
import type { AccountDeps } from '../people/accounts/accounts.ts'
import { argon2Passwords } from '../people/accounts/passwords.ts'
import { idSource } from '../lib/ids.ts'
import { BarCache } from '../market/bar-cache.ts'
import { lmdbBars } from '../store/lmdb-bars.ts'
import type { Kv } from '../store/kv.ts'
import { openStore } from '../store/open-store.ts'
import {
  type CommandPostgres,
  nodeName,
  openPostgres,
  type PostgresStore,
} from '../store/postgres/open-postgres.ts'
import { UsageError, type CommandContext, valued } from './command.ts'
import { type Config, readConfig } from '../server/config.ts'

export interface Data {
  readonly kv: Kv
  readonly bars: BarCache
  readonly accounts: AccountDeps
}

/** `--data-dir`, for commands that take no other setting. */
export const DATA_FLAGS = valued('data-dir', 'store')
export const DATA_HELP = [
  '  --data-dir DIR        Folder of the database (DATA_DIR in the environment; ./data)',
  '  --store ADDRESS       Database instead of the folder, postgres://… (STORE in the environment)',
].join('\n')

interface DataFlags {
  readonly 'data-dir'?: string | undefined
  readonly store?: string | undefined
}

export async function withData<T>(
  context: CommandContext,
  flags: DataFlags,
  work: (data: Data) => Promise<T> | T,
): Promise<T> {
  const { clock, random } = context
  const { kv, bars } = await opened(context, flags)
  try {
    const accounts = { kv, clock, random, newId: idSource({ clock, random }), passwords: argon2Passwords() }
    return await work({ kv, bars: new BarCache(bars), accounts })
  } finally {
    await kv.close()
  }
}

/** The database of a command that asks about its servers. */
export async function withDatabase<T>(
  { environment, clock, random }: CommandContext,
  flags: DataFlags,
  work: (store: CommandPostgres) => Promise<T>,
): Promise<T> {
  const { STORE, BARS } = configOf(environment, flags)
  if (STORE === null)
    throw new UsageError('Name the database with --store: a data directory has one server at most.')
  const store = await openPostgres({
    url: STORE,
    bars: BARS,
    clock,
    random,
    node: nodeName('command', random.bytes(4)),
  })
  try {
    return await work(store)
  } finally {
    await store.kv.close()
  }
}

export function configOf(environment: CommandContext['environment'], flags: DataFlags): Config {
  const { config, mistakes } = readConfig({ 'data-dir': flags['data-dir'], store: flags.store }, environment)
  const mistake = mistakes.find((text) => /^(?:--store|STORE|BARS):/.test(text))
  if (mistake !== undefined) throw new UsageError(mistake)
  return config
}

async function opened(
  { environment, clock, random, warn }: CommandContext,
  flags: DataFlags,
): Promise<PostgresStore> {
  const config = configOf(environment, flags)
  if (config.STORE !== null)
    return openPostgres({
      url: config.STORE,
      bars: config.BARS,
      clock,
      random,
      node: nodeName('command', random.bytes(4)),
    })
  const kv = await openStore({ directory: config.DATA_DIR, tell: warn })
  return { kv, bars: lmdbBars(kv) }
}

/** The data directory of a command that works on its files; refused if the data is in a database. */
export function directoryOf({ environment }: CommandContext, flags: DataFlags, instead: string): string {
  const { config } = readConfig({ 'data-dir': flags['data-dir'], store: flags.store }, environment)
  if (config.STORE !== null || flags.store !== undefined)
    throw new UsageError(`This works on a data directory, and STORE names a database. ${instead}`)
  return resolve(config.DATA_DIR)
}
