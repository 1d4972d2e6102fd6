// The database knows the version of its own layout. Opening an older one brings it up to date, step by step. A newer one is
// refused, since an older program would not know what it overwrites.

import { DataRefused } from './data-refused.ts'
import type { Entry, Key, Kv } from './kv.ts'
import { toLayout2 } from './layout-2.ts'
import { toLayout3 } from './layout-3.ts'

export interface Migration {
  /** The version that this step leads to. Steps are in order, without gaps, starting with 2. */
  readonly to: number
  /** It may be cut short and run again. */
  readonly run: (kv: Kv) => Promise<void>
}

/** All layout changes so far. */
const MIGRATIONS: readonly Migration[] = [
  { to: 2, run: toLayout2 },
  { to: 3, run: toLayout3 },
]

export const VERSION_KEY: Key = ['meta', 'schema']

/** Answers the version that the database now has. */
export async function migrate(kv: Kv, migrations: readonly Migration[] = MIGRATIONS): Promise<number> {
  const { newest, found, entry } = await assertKnownLayout(kv, migrations)
  if (entry === null) await setVersion(kv, newest)
  for (const { to, run } of migrations) {
    if (to <= found) continue
    await run(kv)
    await setVersion(kv, to)
  }
  return newest
}

/** Writes nothing. Throws `DataRefused` for a database of a newer program. */
export async function assertKnownLayout(kv: Pick<Kv, 'get'>, migrations: readonly Migration[] = MIGRATIONS) {
  return knownLayout(await kv.get(VERSION_KEY), migrations)
}

/** Does the same for an entry that was read under `VERSION_KEY`. */
export function knownLayout(entry: Entry | null, migrations: readonly Migration[] = MIGRATIONS) {
  const newest = migrations.at(-1)?.to ?? 1
  const found = entry ? Number(entry.value) : newest
  if (found > newest)
    throw new DataRefused(
      `The database has layout ${found}, this program knows up to ${newest}. Nothing was changed. Run the newer program.`,
    )
  return { newest, found, entry }
}

async function setVersion(kv: Kv, version: number): Promise<void> {
  await kv.commit({ sets: [{ key: VERSION_KEY, value: String(version) }] })
}
