// What stands in the database, and how an older one is brought up to date.
//
// Everything is in one schema, so that the database can be shared with others. Steps go forward only, one after the
// other, under a lock: of several nodes that start at the same time one takes them, and the others find them taken. A
// step must leave nodes of the version before it working, since they serve on while new ones come; where it cannot, it
// says so in `usableFrom`. So a function is never changed: one that does more gets the next number, and the old one stays.

import { DataRefused } from '../data-refused.ts'
import { type Database, isMadeElsewhere } from './database.ts'
import { LAYOUT_WITH_OBJECTS, OBJECTS } from './chunk-objects.ts'
import { COMMIT } from './commit-function.ts'
import { WRITE_BARS } from './bar-functions.ts'
import { FEED } from './feed.ts'
import { FLEET, LIMITS } from './fleet.ts'
import { LEASES } from './lease.ts'

/** Where it stands, as SQL writes it. */
export type Schema = `"${string}"`

export const SCHEMA: Schema = '"chartroom"'

interface Step {
  readonly to: number
  /** The oldest layout whose programs may go on beside it. */
  readonly usableFrom: number
  readonly script: (schema: Schema) => string
}

const STEPS: readonly Step[] = [
  {
    to: 1,
    usableFrom: 1,
    // Keys and values are bytes: text of PostgreSQL takes no zero, and its order is a locale's.
    script: (schema) => `
      create table ${schema}.documents (
        key bytea primary key,
        value bytea not null,
        version bigint not null
      );
      -- Old ones are taken away by whoever serves.
      create table ${schema}.commits (
        id bytea primary key,
        outcomes int[] not null,
        at timestamptz not null default clock_timestamp()
      );
      create index on ${schema}.commits (at);
      create sequence ${schema}.change_number;
      -- What was written, in the order in which others may hear of it: by transaction, not by number.
      create table ${schema}.changes (
        xid xid8 not null default pg_current_xact_id(),
        n bigint not null,
        node text not null,
        keys bytea[] not null,
        at timestamptz not null default clock_timestamp(),
        primary key (xid, n)
      );
      ${COMMIT(schema)}`,
  },
  {
    to: 2,
    usableFrom: 1,
    script: (schema) => `
      create sequence ${schema}.series_id;
      create table ${schema}.bar_series (
        key bytea primary key,
        -- Names the series in its chunks.
        id bigint not null,
        change bigint not null,
        count float8 not null,
        first float8 not null,
        last float8 not null,
        begun float8
      );
      create table ${schema}.bar_chunks (
        series bigint not null,
        first float8 not null,
        last float8 not null,
        bars int not null,
        bytes bytea not null,
        primary key (series, first)
      );
      -- They are packed already.
      alter table ${schema}.bar_chunks alter column bytes set storage external;
      -- Ids whose chunks no series has: of imports under way, and of what is being taken away.
      create table ${schema}.bar_drafts (
        id bigint primary key,
        at timestamptz not null default clock_timestamp()
      );
      create table ${schema}.bar_notes (
        key bytea primary key,
        first float8 not null,
        last float8 not null,
        change bigint not null
      );
      create table ${schema}.bar_symbols (key bytea primary key, info bytea not null);
      alter table ${schema}.commits add column change bigint;
      ${WRITE_BARS(schema)}`,
  },
  { to: 3, usableFrom: 1, script: LEASES },
  { to: 4, usableFrom: 1, script: FEED },
  { to: 5, usableFrom: 1, script: FLEET },
  { to: 6, usableFrom: 1, script: LIMITS },
  // Until a bucket is named, programs that know of none go on.
  { to: LAYOUT_WITH_OBJECTS, usableFrom: 1, script: OBJECTS },
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
        execute ${quote(script(schema))};
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
