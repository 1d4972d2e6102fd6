// What stands in the database, and how an older one is brought up to date.
//
// Everything is in one schema, so that the database can be shared with others. Steps go forward only, one after the
// other, under a lock: of several nodes that start at the same time one takes them, and the others find them taken. A
// step must leave nodes of the version before it working, since they serve on while new ones come; where it cannot, it
// says so in `usableFrom`. So a function is never changed: one that does more gets the next number, and the old one stays.

import { DataRefused } from '../data-refused.ts'
import { type Database, isMadeElsewhere } from './database.ts'
import documents from './layout/1-documents.sql' with { type: 'text' }
import bars from './layout/2-bars.sql' with { type: 'text' }
import leases from './layout/3-leases.sql' with { type: 'text' }
import feed from './layout/4-feed.sql' with { type: 'text' }
import fleet from './layout/5-fleet.sql' with { type: 'text' }
import limits from './layout/6-limits.sql' with { type: 'text' }
import objects from './layout/7-objects.sql' with { type: 'text' }

/** Where it stands, as SQL writes it. */
export type Schema = `"${string}"`

export const SCHEMA: Schema = '"chartroom"'

interface Step {
  readonly to: number
  /** The oldest layout whose programs may go on beside it. */
  readonly usableFrom: number
  readonly script: string
}

/** A file of `layout/` each, named by its number; `:schema` in it stands for the schema. */
const STEPS: readonly Step[] = [
  { to: 1, usableFrom: 1, script: documents },
  { to: 2, usableFrom: 1, script: bars },
  { to: 3, usableFrom: 1, script: leases },
  { to: 4, usableFrom: 1, script: feed },
  { to: 5, usableFrom: 1, script: fleet },
  { to: 6, usableFrom: 1, script: limits },
  // Until a bucket is named, programs that know of none go on.
  { to: 7, usableFrom: 1, script: objects },
]

const NEWEST = 7
/** This is how PostgreSQL writes its version 15. */
const SERVER_MIN = 150_000
/** A large change takes seconds on a busy database. */
const TIMEOUT_MIN_MS = 5000

interface Layout {
  readonly version: number
  readonly usable_from: number
}

/** Makes what is missing. Throws `DataRefused` for a database of a newer program, or one that is too old for us. */
export async function bringUpToDate(database: Database, schema: Schema): Promise<void> {
  const [server] = await database.query<{ version: number; hasty: string | null }>(
    `select current_setting('server_version_num')::int as version,
       (select min(name || ' = ' || setting || ' ms') from pg_settings where case when name in
          ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')
          then setting::int between 1 and ${TIMEOUT_MIN_MS - 1} end) as hasty`,
  )
  if ((server?.version ?? 0) < SERVER_MIN)
    throw new DataRefused(
      'STORE: the database is older than PostgreSQL 15. Update it, or name another in --store.',
    )
  if (server?.hasty != null)
    throw new DataRefused(
      `STORE: the database ends work too early (${server.hasty}). Raise that to 15s or more for the user in --store, or switch it off: ALTER ROLE … SET … = 0.`,
    )
  const found = await layoutOf(database, schema)
  if (found && found.version >= NEWEST) return assertUsable(found)
  await takeSteps(database, schema)
  const after = await layoutOf(database, schema)
  if (after) assertUsable(after)
}

/** Where the lock keeps nobody away, whoever was slower is refused as a whole, and finds the steps taken. */
async function takeSteps(database: Database, schema: Schema): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await database.script(steps(schema))
    } catch (error) {
      if (tries === TRIES_MAX || !isMadeElsewhere(error)) throw error
    }
}

const TRIES_MAX = 5

async function layoutOf(database: Database, schema: Schema): Promise<Layout | null> {
  const [there] = await database.query<{ there: boolean }>(`select to_regclass($1) is not null as there`, [
    `${schema}.layout`,
  ])
  if (there?.there !== true) return null
  const [layout] = await database.query<Layout>(`select version, usable_from from ${schema}.layout`)
  return layout ?? null
}

function assertUsable({ version, usable_from: usableFrom }: Layout): void {
  if (usableFrom > NEWEST)
    throw new DataRefused(
      `The database has layout ${version}, this program knows up to ${NEWEST}. Nothing was changed. Run the newer program.`,
    )
}

/** All steps that the database has not taken yet, which it finds out once it has the lock. */
function steps(schema: Schema): string {
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`
  const each = STEPS.map(
    ({ to, usableFrom, script }) => `
      if found < ${to} then
        execute ${quote(script.replaceAll(':schema', () => schema))};
        update ${schema}.layout set version = ${to}, usable_from = ${usableFrom};
      end if;`,
  )
  return `do $do$
    declare found int;
    begin
      perform pg_advisory_xact_lock(hashtext('chartroom'), hashtext(${quote(schema)}));
      create schema if not exists ${schema};
      create table if not exists ${schema}.layout (version int not null, usable_from int not null);
      insert into ${schema}.layout select 0, 0 where not exists (select from ${schema}.layout);
      select version into found from ${schema}.layout;
      ${each.join('')}
    end $do$`
}
