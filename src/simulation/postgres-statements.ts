// What each statement of `store/postgres` and each function of its layout does to the tables: a row a shape, told by how
// it begins. A statement that stands nowhere here ends the simulation, so that none is forgotten.

import { numbered, type Row, type Table, type Tables, type Tx } from './postgres-transactions.ts'

/** The values are what each shape of a statement is given. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Statement = (tx: Tx, values: any, text: string) => readonly Row[] | Promise<readonly Row[]>

/** Keys are kept as hexadecimal digits, which is how lists of them come, and sort alike. */
const bytesOf = (key: string) => Buffer.from(key, 'hex')
/** The same for the key of a row, which is read more often than it is written. */
const keyBytes = ({ keyBytes: known }: Tables, row: Row, key: string) =>
  known.getOrInsertComputed(row, () => bytesOf(key))
const keyOf = (bytes: Uint8Array) => bytes.toHex()

/** Arrays come as text; see `store/postgres/arrays.ts`. */
function items(text: string): string[] {
  return text.length === 2 ? [] : text.slice(1, -1).split(',')
}
const numbers = (text: string) => items(text).map(Number)
const numbersOrNull = (text: string) => items(text).map((one) => (one === 'NULL' ? null : Number(one)))
const keys = (text: string) => items(text).map((one) => one.slice(4, -1))

/** A part of a table, with the rows as the transaction sees them. */
function each<T extends Row>(table: Table<T>, start?: string, end?: string): [string, T][] {
  return table.keys(start, end).map((key) => [key, table.get(key)!])
}

const entryRow = (tables: Tables, key: string, row: { value: Buffer; version: number }) => ({
  key: keyBytes(tables, row, key),
  value: row.value,
  version: String(row.version),
})

// Documents

function documentsOf({ tables }: Tx, [asked]: readonly [string]): Row[] {
  return keys(asked).flatMap((key) => {
    const row = tables.documents.get(key)
    return row ? [entryRow(tables, key, row)] : []
  })
}

function listed(
  { tables }: Tx,
  [start, end, limit]: readonly [Uint8Array, Uint8Array, number],
  text: string,
): Row[] {
  const found = tables.documents.keys(keyOf(start), keyOf(end))
  const page = text.includes('key desc') ? found.slice(-limit).reverse() : found.slice(0, limit)
  return page.map((key) => entryRow(tables, key, tables.documents.get(key)!))
}

async function commit(
  tx: Tx,
  values: readonly [Uint8Array, string, number, number, string, string, ...CommitLists],
): Promise<Row[]> {
  const [id, node, commits, rounds, slots, exclusive, ...lists] = values
  const isExclusive = items(exclusive)
  for (const [i, slot] of items(slots).entries()) await tx.lock(`commit ${slot}`, isExclusive[i] === 't')
  const before = tx.get(tx.tables.commits, keyOf(id))
  if (before) return [{ outcomes: before.outcomes }]
  const outcomes = Array.from({ length: commits }, () => -1)
  const version = tx.number()
  const written: string[] = []
  for (let round = 1; round <= rounds; round++)
    written.push(...commitRound(tx, round, version, outcomes, lists))
  if (written.length > 0) tx.change(version, node, written.map(bytesOf))
  watch(tx, new Set(written), node)
  tx.put(tx.tables.commits, keyOf(id), { outcomes, change: null, at: tx.now })
  return [{ outcomes }]
}

function watch(tx: Tx, written: ReadonlySet<string>, node: string): void {
  const { watchers, documents } = tx.tables
  const valueOf = (key: string) => documents.get(key)?.value ?? null
  for (const { prefix, told } of watchers)
    for (const key of written)
      if (key.startsWith(prefix)) {
        const before = valueOf(key)
        tx.onCommit(() => told(before, valueOf(key), node))
      }
}

/** For each column of checks, sets, deletes and sums a list, as `group-commit.ts` writes it. */
type CommitLists = readonly [
  ...checks: [round: string, commit: string, key: string, version: string],
  ...sets: [round: string, commit: string, key: string, from: string, length: string, values: Buffer],
  ...deletes: [round: string, commit: string, key: string],
  ...sums: [round: string, commit: string, key: string, step: string, max: string],
]

/** Answers the keys that were written. */
function commitRound(
  tx: Tx,
  round: number,
  version: number,
  outcomes: number[],
  lists: CommitLists,
): string[] {
  const [ckRound, ckCommit, ckKey, ckVersion, stRound, stCommit, stKey, stFrom, stLength, stValues, ...rest] =
    lists
  const [dlRound, dlCommit, dlKey, smRound, smCommit, smKey, smStep, smMax] = rest
  const { documents } = tx.tables
  const written: string[] = []
  const inRound = (rounds: string, of: string, those: string) => {
    const [ofRound, ofCommit] = [numbers(rounds), numbers(of)]
    return keys(those).flatMap((key, i) =>
      ofRound[i] === round ? [{ key, i, commit: ofCommit[i]! - 1 }] : [],
    )
  }
  const isDone = ({ commit: of }: { commit: number }) => outcomes[of] === -1
  const sumOf = (key: string) => Number(tx.get(documents, key)?.value.toString() ?? 0)

  const versions = numbersOrNull(ckVersion)
  for (const { key, i, commit: of } of inRound(ckRound, ckCommit, ckKey))
    if ((tx.get(documents, key)?.version ?? null) !== versions[i]) outcomes[of] = 0

  const [steps, mosts] = [numbers(smStep), numbersOrNull(smMax)]
  const sums = inRound(smRound, smCommit, smKey).filter(isDone)
  const above = sums.filter(({ key, i }) => steps[i]! > 0 && sumOf(key) + steps[i]! > (mosts[i] ?? Infinity))
  // The first of a commit's sums is the one that it is refused for.
  for (const { i, commit: of } of above.reverse()) outcomes[of] = i + 1
  for (const { key, i } of sums.filter(isDone)) {
    const value = sumOf(key) + steps[i]!
    tx.put(documents, key, value > 0 ? { value: Buffer.from(String(value)), version } : null)
    written.push(key)
  }
  for (const { key } of inRound(dlRound, dlCommit, dlKey).filter(isDone)) {
    if (tx.get(documents, key)) written.push(key)
    tx.put(documents, key, null)
  }
  const [from, length] = [numbers(stFrom), numbers(stLength)]
  for (const { key, i } of inRound(stRound, stCommit, stKey).filter(isDone)) {
    const start = from[i]! - 1
    tx.put(documents, key, { value: stValues.subarray(start, start + length[i]!), version })
    written.push(key)
  }
  return written
}

// Leases, nodes and shards

async function takeLease(
  tx: Tx,
  [work, slot, node, ms]: readonly [Uint8Array, number, string, number],
): Promise<Row[]> {
  const { leases, documents } = tx.tables
  const key = keyOf(work)
  await tx.lock(`commit ${slot}`)
  const old = tx.get(leases, key)
  const isHeld = old !== undefined && old.until > tx.now
  if (isHeld && old.node !== node) return [{ fence: null, holder: old.node }]
  const fence = isHeld ? old.fence : tx.number()
  await tx.lock(`lease ${key}`)
  tx.put(leases, key, { node, fence, until: tx.now + ms })
  if (fence !== old?.fence) {
    tx.put(documents, key, { value: Buffer.from(JSON.stringify(node)), version: fence })
    tx.change(fence, node, [bytesOf(key)])
  }
  return [{ fence: String(fence), holder: node }]
}

/** A statement that sets until when a lease runs, where it is still as `isMine` says. */
async function setLease(
  tx: Tx,
  key: string,
  until: number,
  isMine: (lease: { node: string; fence: number; until: number }) => boolean,
): Promise<Row[]> {
  await tx.lock(`lease ${key}`)
  const lease = tx.get(tx.tables.leases, key)
  if (!lease || !isMine(lease)) return []
  tx.put(tx.tables.leases, key, { ...lease, until })
  return [{ fence: String(lease.fence) }]
}

const renewed: Statement = (tx, [work, node, fence]: readonly [Uint8Array, string, string], text) => {
  const ms = /interval '(\d+) ms'/.exec(text)?.[1]
  const until = ms === undefined ? -Infinity : tx.now + Number(ms)
  return setLease(tx, keyOf(work), until, (lease) => lease.node === node && String(lease.fence) === fence)
}

const leftServing: Statement = (tx, [work, node]: readonly [Uint8Array, string]) =>
  setLease(tx, keyOf(work), -Infinity, (lease) => lease.node === node)

async function stay(
  tx: Tx,
  [start, end, quiet, work, together, ms, version, lag, node, retiring, own, fence, least]: readonly [
    Uint8Array,
    Uint8Array,
    number,
    Uint8Array,
    string,
    number,
    string,
    number,
    string,
    number,
    Uint8Array,
    string,
    number,
  ],
): Promise<readonly Row[]> {
  const { nodes } = tx.tables
  // As they were before it.
  const all = members(tx, [start, end, quiet])
  await tx.lock(`node ${node}`)
  const row = tx.get(nodes, node)
  if (row) tx.put(nodes, node, { ...row, version, lag, seen: tx.now - retiring })
  const kept = await setLease(tx, keyOf(work), tx.now + ms, (lease) => lease.node === together)
  const isOwn = (lease: { node: string; fence: number; until: number }) =>
    lease.node === node && String(lease.fence) === fence && lease.until < tx.now + least
  const renewed = await setLease(tx, keyOf(own), tx.now + ms, isOwn)
  return all.map((one) => ({ kept: kept.length > 0, renewed: renewed.length > 0, ...one }))
}

function members({ tables, now }: Tx, [start, end, quiet]: readonly [Uint8Array, Uint8Array, number]): Row[] {
  const free = tables.shards.count(({ holder }) => holder === null)
  return each(tables.leases, keyOf(start), keyOf(end)).map(([key, lease]) => {
    const { node, until } = lease
    const told = tables.nodes.get(node)
    return {
      work: keyBytes(tables, lease, key),
      left: Math.max(0, until - now),
      starting: (told?.version ?? null) === null,
      looking: told !== undefined && told.seen > now - quiet,
      free,
    }
  })
}

async function bury(
  tx: Tx,
  [work, slot, dead, node]: readonly [Uint8Array, number, string, string],
): Promise<Row[]> {
  const { leases, documents, nodes } = tx.tables
  const key = keyOf(work)
  await tx.lock(`commit ${slot}`)
  if (!tx.get(leases, key)) return [{ done: false }]
  await tx.lock(`lease ${key}`)
  const lease = tx.get(leases, key)
  if (!lease || lease.until > tx.now) return [{ done: false }]
  tx.put(leases, key, null)
  tx.put(documents, key, null)
  await setShards(tx, null, ({ holder }) => holder === key)
  await tx.lock(`node ${dead}`)
  tx.put(nodes, dead, null)
  tx.change(tx.number(), node, [bytesOf(key)])
  return [{ done: true }]
}

async function claim(tx: Tx, [work, most]: readonly [Uint8Array, number]): Promise<Row[]> {
  const { leases } = tx.tables
  const key = keyOf(work)
  await tx.lock(`lease ${key}`, false)
  const lease = tx.get(leases, key)
  if (!lease || lease.until <= tx.now) return []
  let left = most
  return setShards(tx, key, ({ shard, holder }) => {
    if (holder !== null || left <= 0 || tx.isLocked(`shard ${shard}`)) return false
    left--
    return true
  })
}

async function setShards(
  tx: Tx,
  holder: string | null,
  isMeant: (row: { shard: number; holder: string | null }) => boolean,
): Promise<Row[]> {
  const { shards } = tx.tables
  const set: Row[] = []
  for (const row of shards.all()) {
    if (!isMeant(row)) continue
    const { shard } = row
    await tx.lock(`shard ${shard}`)
    // It may have changed hands while this waited for it.
    if (tx.get(shards, numbered(shard))?.holder !== row.holder) continue
    tx.put(shards, numbered(shard), { shard, holder })
    tx.tables.shardsChangedAt = tx.now
    set.push({ shard })
  }
  return set
}

const given: Statement = (tx, [work, shards]: readonly [Uint8Array, string]) => {
  const meant = new Set(numbers(shards))
  return setShards(tx, null, ({ shard, holder }) => holder === keyOf(work) && meant.has(shard))
}

function held({ tables }: Tx, [work]: readonly [Uint8Array]): Row[] {
  return tables.shards.all().filter(({ holder }) => holder === keyOf(work))
}

function servingNodes(
  { tables, now }: Tx,
  [serving, start, end, together]: readonly [Uint8Array, Uint8Array, Uint8Array, string],
): Row[] {
  return each(tables.leases).flatMap(([key, { node, until }]) =>
    until > now &&
    ((key === keyOf(serving) && node !== together) || (key >= keyOf(start) && key < keyOf(end)))
      ? [{ node }]
      : [],
  )
}

// The feed

const MINUTE = 60_000

function changesAfter({ tables, xmin, isBehind: behind }: Tx, [at, n]: readonly [string, string]): Row[] {
  const pruned = tables.pruned > Number(at)
  const { changes } = tables
  let from = changes.length
  while (from > 0) {
    const { xid, n: number } = changes[from - 1]!
    if (xid < Number(at) || (xid === Number(at) && number <= Number(n))) break
    from--
  }
  const found = changes.slice(from).filter(({ xid }) => xid < xmin)
  if (found.length === 0) return [{ pruned, behind, keys: null }]
  return found.slice(0, 500).map(({ xid, n: number, node, keys: told }) => ({
    pruned,
    behind,
    xid: String(xid),
    n: String(number),
    node,
    keys: told,
  }))
}

async function alive(tx: Tx, [node, xid]: readonly [string, string]): Promise<Row[]> {
  const { nodes } = tx.tables
  await tx.lock(`node ${node}`)
  const { started = tx.now, version = null, lag = null } = tx.get(nodes, node) ?? {}
  tx.put(nodes, node, { xid: Number(xid), started, seen: tx.now, version, lag })
  return []
}

function pruned(tx: Tx): Row[] {
  const { tables } = tx
  const horizon = Math.min(
    tx.xmin,
    ...tables.nodes.all().flatMap(({ xid, seen }) => (seen > tx.now - MINUTE ? [xid] : [])),
  )
  tx.onCommit(() => {
    tables.changes = tables.changes.filter(({ xid }) => xid >= horizon)
    tables.pruned = Math.max(tables.pruned, horizon)
  })
  return []
}

/** A table of which rows go that are older. */
const forgotten =
  <T extends Row>(table: (tables: Tables) => Table<T>, at: (row: T) => number, ms: number): Statement =>
  (tx) => {
    for (const [key, row] of each(table(tx.tables)))
      if (at(row) < tx.now - ms) tx.put(table(tx.tables), key, null)
    return []
  }

// Bars

type SeriesRow = NonNullable<ReturnType<Tables['series']['get']>>
type ChunkRow = NonNullable<ReturnType<Tables['chunks']['get']>>

const seriesRow = (tables: Tables, key: string, row: SeriesRow) => ({
  ...row,
  key: keyBytes(tables, row, key),
  id: String(row.id),
  change: String(row.change),
})

const chunkKey = (series: number, first: number) => `${numbered(series)} ${numbered(first)}`
/** The chunks of a series, in order. */
const chunksOf = ({ tables }: Tx, series: number) =>
  tables.chunks.all(`${numbered(series)} `, `${numbered(series)}!`)

function seriesNamed({ tables }: Tx, [name]: readonly [Uint8Array]): Row[] {
  const row = tables.series.get(keyOf(name))
  return row ? [seriesRow(tables, keyOf(name), row)] : []
}

/** See `chosen` of `postgres-chunks.ts`. */
function chosenChunks(
  chunks: readonly ChunkRow[],
  text: string,
  [from, to, wanted]: readonly (number | null)[],
): ChunkRow[] {
  const inRange = chunks.filter(
    ({ first, last }) => (from == null || last >= from) && (to == null || first < to),
  )
  if (text.includes('x.first desc')) inRange.reverse()
  const cut = text.includes('- y.cut') ? (inRange[0]?.bars ?? 0) : 0
  let before = 0
  return inRange.filter(({ bars }) => {
    const isMeant = wanted == null || before - cut < wanted
    before += bars
    return isMeant
  })
}

const inOrder = (chunks: readonly ChunkRow[]) => chunks.toSorted((a, b) => a.first - b.first)

/** Left joined: one row without a chunk where there is none. */
const withChunks = (series: Row, chunks: readonly ChunkRow[]) =>
  chunks.length === 0
    ? [{ ...series, chunk: null, bars: null, bytes: null }]
    : chunks.map(({ first, bars, bytes }) => ({ ...series, chunk: first, bars, bytes }))

const readBars: Statement = (tx, [name, ...range]: readonly [Uint8Array, ...(number | null)[]], text) => {
  const series = tx.tables.series.get(keyOf(name))
  if (!series) return []
  const chunks = chosenChunks(chunksOf(tx, series.id), text, range).slice(0, 65)
  return withChunks(seriesRow(tx.tables, keyOf(name), series), inOrder(chunks))
}

function touched(tx: Tx, [name, from, to]: readonly [Uint8Array, number, number], text: string): Row[] {
  const series = tx.tables.series.get(keyOf(name))
  if (!series) return []
  const most = Number(/c\.bars < (\d+)/.exec(text)?.[1])
  const all = chunksOf(tx, series.id)
  const before = all.findLast(({ first }) => first <= from)
  const chunks = all.filter(
    (one) =>
      (one.first > from && one.first <= to) ||
      (one === before && (one.bars < most || one.last >= from)) ||
      (one.first > to && one.bars < most && one === all[0]),
  )
  return withChunks(seriesRow(tx.tables, keyOf(name), series), chunks)
}

type Chunks = readonly [
  firsts: string,
  lasts: string,
  bars: string,
  from: string,
  length: string,
  bytes: Buffer,
]

function putChunks(tx: Tx, series: number, [firsts, lasts, bars, from, length, bytes]: Chunks): void {
  const [ends, counts, starts, lengths] = [numbers(lasts), numbers(bars), numbers(from), numbers(length)]
  for (const [i, first] of numbers(firsts).entries()) {
    const start = starts[i]! - 1
    const part = bytes.subarray(start, start + lengths[i]!)
    tx.put(tx.tables.chunks, chunkKey(series, first), {
      first,
      last: ends[i]!,
      bars: counts[i]!,
      bytes: part,
    })
  }
}

async function writeBars(
  tx: Tx,
  values: readonly [
    id: Uint8Array,
    node: string,
    slot: number,
    name: Uint8Array,
    told: Buffer,
    change: number | null,
    series: string | null,
    count: number,
    first: number,
    last: number,
    begun: number | null,
    newsFirst: number,
    newsLast: number,
    gone: string,
    ...chunks: Chunks,
  ],
): Promise<Row[]> {
  const [
    id,
    node,
    slot,
    name,
    told,
    asked,
    given,
    count,
    first,
    last,
    begun,
    newsFirst,
    newsLast,
    gone,
    ...chunks
  ] = values
  const { tables } = tx
  const key = keyOf(name)
  await tx.lock(`bars ${slot % 1024}`)
  const before = tx.get(tables.commits, keyOf(id))
  if (before) return [{ change: before.change }]
  const old = tx.get(tables.series, key)
  if ((old?.change ?? null) !== asked) return [{ change: null }]
  const change = tx.number()
  const series = given === null ? (old?.id ?? tx.number()) : Number(given)
  tx.put(tables.drafts, numbered(series), null)
  if (old && old.id !== series) tx.put(tables.drafts, numbered(old.id), { at: tx.now })
  for (const at of numbers(gone)) tx.put(tables.chunks, chunkKey(series, at), null)
  putChunks(tx, series, chunks)
  tx.put(tables.series, key, { id: series, change, count, first, last, begun })
  await noteBars(tx, key, { first: newsFirst, last: newsLast, change })
  tx.change(change, node, [told])
  tx.put(tables.commits, keyOf(id), { outcomes: [], change, at: tx.now })
  return [{ change }]
}

async function noteBars(tx: Tx, key: string, news: { first: number; last: number; change: number }) {
  await tx.lock(`note ${key}`)
  const { first = Infinity, last = -Infinity } = tx.get(tx.tables.notes, key) ?? {}
  tx.put(tx.tables.notes, key, {
    ...news,
    first: Math.min(first, news.first),
    last: Math.max(last, news.last),
  })
}

async function removeBars(
  tx: Tx,
  [id, node, slot, name, told]: readonly [Uint8Array, string, number, Uint8Array, Buffer],
): Promise<Row[]> {
  const { commits, series, drafts } = tx.tables
  const key = keyOf(name)
  await tx.lock(`bars ${slot % 1024}`)
  if (tx.get(commits, keyOf(id))) return [{ removed: true }]
  const old = tx.get(series, key)
  if (!old) return [{ removed: false }]
  const change = tx.number()
  tx.put(series, key, null)
  tx.put(drafts, numbered(old.id), { at: tx.now })
  await noteBars(tx, key, { first: old.first, last: old.last, change })
  tx.change(change, node, [told])
  tx.put(commits, keyOf(id), { outcomes: [], change, at: tx.now })
  return [{ removed: true }]
}

async function clearNote(tx: Tx, [name, change]: readonly [Uint8Array, number]): Promise<Row[]> {
  const key = keyOf(name)
  await tx.lock(`note ${key}`)
  if (tx.get(tx.tables.notes, key)?.change === change) tx.put(tx.tables.notes, key, null)
  return []
}

const notes: Statement = ({ tables }) =>
  each(tables.notes).map(([key, { change, ...rest }]) => ({
    key: bytesOf(key),
    change: String(change),
    ...rest,
  }))

const setSymbol: Statement = (
  tx,
  [name, node, told, info]: readonly [Uint8Array, string, Buffer, Buffer?],
) => {
  if (!info && !tx.get(tx.tables.symbols, keyOf(name))) return []
  tx.put(tx.tables.symbols, keyOf(name), info ? { info } : null)
  tx.change(tx.number(), node, [told])
  return []
}

const newDraft: Statement = (tx) => {
  const id = tx.number()
  tx.put(tx.tables.drafts, numbered(id), { at: tx.now })
  return [{ id: String(id) }]
}

const addChunks: Statement = (tx, [id, ...chunks]: readonly [string, ...Chunks]) => {
  if (tx.get(tx.tables.drafts, numbered(Number(id))))
    tx.put(tx.tables.drafts, numbered(Number(id)), { at: tx.now })
  putChunks(tx, Number(id), chunks)
  return []
}

const dropChunks: Statement = (tx, [id]: readonly [string]) => {
  const gone = chunksOf(tx, Number(id))
  for (const { first } of gone.slice(0, 16)) tx.put(tx.tables.chunks, chunkKey(Number(id), first), null)
  return gone.slice(0, 16)
}

const nothing: Statement = () => []

/** The first that fits counts. */
export const STATEMENTS: readonly (readonly [RegExp, Statement])[] = [
  [/^select current_setting\('server_version_num'\)/, () => [{ version: 150_000, hasty: null }]],
  [/^select to_regclass/, () => [{ there: true }]],
  [/^select version, usable_from from/, () => [{ version: 7, usable_from: 1 }]],
  [/^select address from \S+\.bar_bucket/, nothing],
  [/^select key, (?:value, )?version from \S+\.documents where key = any/, documentsOf],
  [/^select key(?:, value, version)? from \S+\.documents where key >=/, listed],
  [/^select \S+\.commit_1\(/, commit],
  [/^select fence, holder from \S+\.take_lease_1\(/, takeLease],
  [
    /^update \S+\.leases set until = (?:clock_timestamp|'-infinity' where work = \$1 and node = \$2 and fence)/,
    renewed,
  ],
  [/^update \S+\.leases set until = '-infinity' where work = \$1 and node = \$2$/, leftServing],
  [/^with told as \(update \S+\.nodes/, stay],
  [/^select l\.work, n\.version is null as starting/, members],
  [/^select \S+\.bury_1\(/, bury],
  [/^select \S+\.claim_1\(/, claim],
  [/^select shard from \S+\.shards/, held],
  [/^update \S+\.shards set holder = null/, given],
  [/^select node from \S+\.leases/, servingNodes],
  [/^select pg_notify/, (tx: Tx) => tx.notify()],
  [/^select pg_snapshot_xmin/, ({ xmin }: Tx) => [{ xid: String(xmin) }]],
  [/^insert into \S+\.nodes/, alive],
  [/^select f\.pruned >/, changesAfter],
  [/^\s*with horizon as/, pruned],
  [
    /^delete from \S+\.commits/,
    forgotten(
      (tables) => tables.commits,
      ({ at }) => at,
      60 * MINUTE,
    ),
  ],
  [/^delete from \S+\.buckets/, nothing],
  [
    /^delete from \S+\.nodes/,
    forgotten(
      (tables) => tables.nodes,
      ({ seen }) => seen,
      24 * 60 * MINUTE,
    ),
  ],
  [/^select s\.key, .* where s\.key = \$1$/s, seriesNamed],
  [/^select s\.key, .*left join lateral/s, readBars],
  [/^select s\.key, .*left join \S+\.bar_chunks c/s, touched],
  [
    /^select s\.key, .*where s\.key >= \$1/s,
    ({ tables }: Tx, [start, end]: readonly [Uint8Array, Uint8Array]) =>
      each(tables.series, keyOf(start), keyOf(end)).map(([key, row]) => seriesRow(tables, key, row)),
  ],
  [/^select \S+\.write_bars_1\(/, writeBars],
  [/^select key, first, last, change from \S+\.bar_notes/, notes],
  [/^delete from \S+\.bar_notes/, clearNote],
  [
    /^select info from \S+\.bar_symbols where/,
    ({ tables }: Tx, [name]: readonly [Uint8Array]) => [tables.symbols.get(keyOf(name)) ?? []].flat(),
  ],
  [/^select info from \S+\.bar_symbols$/, ({ tables }: Tx) => tables.symbols.all()],
  [/^with written as \((?:insert into|delete from) \S+\.bar_symbols/, setSymbol],
  [/^select \S+\.remove_bars_1\(/, removeBars],
  [/^insert into \S+\.bar_drafts/, newDraft],
  [/^with alive as \(update \S+\.bar_drafts/, addChunks],
  [/^delete from \S+\.bar_chunks/, dropChunks],
  [
    /^delete from \S+\.bar_drafts/,
    (tx: Tx, [id]: readonly [string]) => {
      tx.put(tx.tables.drafts, numbered(Number(id)), null)
      return []
    },
  ],
  [
    /^select id from \S+\.bar_drafts/,
    ({ tables, now }: Tx) =>
      each(tables.drafts).flatMap(([id, { at }]) =>
        at < now - 360 * MINUTE ? [{ id: String(Number(id) - 2 ** 52) }] : [],
      ),
  ],
  [
    /^select distinct c\.first from/,
    (tx: Tx, [ids]: readonly [string]) => {
      const firsts = new Set(numbers(ids).flatMap((id) => chunksOf(tx, id).map(({ first }) => first)))
      return [...firsts].sort((a, b) => a - b).map((first) => ({ first }))
    },
  ],
  [
    /^select c\.first, c\.bytes from .*order by c\.first desc limit 1/s,
    (tx: Tx, [id, first]: readonly [string, number]) =>
      chunksOf(tx, Number(id))
        .filter((one) => one.first < first)
        .slice(-1),
  ],
  [
    /^select c\.chunk, c\.bars from \(/,
    (tx: Tx, [id, ...range]: readonly [string, ...(number | null)[]], text: string) =>
      inOrder(chosenChunks(chunksOf(tx, Number(id)), text, range)).map(({ first, bars }) => ({
        chunk: first,
        bars,
      })),
  ],
  [
    /^select c\.bytes from \S+\.bar_chunks c/,
    (tx: Tx, [id, firsts]: readonly [string, string]) => {
      const meant = new Set(numbers(firsts))
      return chunksOf(tx, Number(id)).filter(({ first }) => meant.has(first))
    },
  ],
  [
    /^select c\.bytes from \(/,
    (tx: Tx, [id, ...range]: readonly [string, ...(number | null)[]], text: string) =>
      inOrder(chosenChunks(chunksOf(tx, Number(id)), text, range)),
  ],
]
