// The nodes on one database: who is alive, and which of them does the work of which shard.
//
// A node is alive while it renews a lease on its own name, and each of its commits checks the fence of that lease. When it
// has not renewed for long enough, another node buries it: the fence goes, so that nothing it may still be about to write
// is taken, and in the same transaction its shards become nobody's. Then every node claims up to its fair share of what
// is nobody's, where only those count that still look; what is still nobody's after some looks goes to whoever is quickest.
// A node that has more than its share, since others have come, gives back shards for which it is doing nothing at the moment,
// and goes on with the others meanwhile. So a shard is done by one node at a time, hardly ever by none, and nobody has to be
// the first among them.

import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createLoop } from '../../lib/loop.ts'
import { SHARDS, type Shards, shardOf } from '../../lib/shards.ts'
import { within } from '../../lib/within.ts'
import { decodeKey, encodeKey, prefixRange } from '../key.ts'
import type { Key } from '../kv.ts'
import { intArray } from './arrays.ts'
import type { Connection } from './connection.ts'
import { slotOf } from './group-commit.ts'
import { LEASE_MS, type Lease, takeLease } from './lease.ts'
import type { Schema } from './schema.ts'
import { away } from './silence.ts'

/** How often nodes look after each other, and besides when the lease of one that is silent ends: then it is replaced. */
const LOOK_MS = 1000
/** After so many looks at shards that are nobody's, they are taken by whoever looks, whatever its share. */
const PATIENT_LOOKS = 3
/** Where all shards have work under way, so many at a time begin no more of it and go when it is done. */
const BUSY_AT_ONCE = 8
/** How long a server that is about to stop waits until others may have what it does nothing for. */
const RETIRE_MS = 2000
/** Who was not heard of for this part of a lease, which is two looks, is not left a share of what is nobody's. */
const QUIET = 1 / 2
/** A look mostly renews this node's lease, and has this part of it until the lease is renewed by itself. */
const SPARE = 16
/** A look renews it once this part of it is over. */
const RENEWED_AFTER = 1 / 5
const NODES: Key = ['lease', 'node']
/** Servers from before there were several at a time wait for this one, and are waited for. */
const SERVING = 'serving'
export const SERVING_KEY = encodeKey(['lease', SERVING])
export const TOGETHER = 'all nodes'

export interface FleetNode {
  readonly name: string
  /** null: its program is from before versions were written down. */
  readonly version: string | null
  readonly startedAt: Date
  /** How long it has been silent, and how far behind the others' changes it was when it was last heard of. */
  readonly silentMs: number
  readonly lagMs: number | null
  readonly shards: readonly number[]
}

interface Member {
  readonly name: string
  /** How long its lease runs from now on; 0: it is over. */
  readonly leftMs: number
  /** It does no work yet, and gets no share. */
  readonly isStarting: boolean
  /** It was heard of a moment ago; one that was not may be dead, though its lease has not run out. */
  readonly isLooking: boolean
}

/** All nodes that nobody has buried, and how many shards were nobody's. */
interface Looked {
  readonly members: readonly Member[]
  readonly free: number
}

interface MemberRow {
  readonly work: Uint8Array
  readonly left: number
  readonly starting: boolean
  readonly looking: boolean
  readonly free: number
}

interface StayRow extends MemberRow {
  readonly kept: boolean
  readonly renewed: boolean
}

export class Fleet implements Shards {
  readonly node: string
  /** The lease on this node's own name. */
  readonly lease: Lease
  /** Resolves when others have taken this node for dead. */
  readonly lost: Promise<void>
  readonly #connection: Connection
  readonly #version: string
  readonly #leaseMs: number
  readonly #lagMs: () => number
  readonly #clock: Clock
  #lookedAt: number | null = null
  /** Until then nobody is buried. */
  #patientUntil = -Infinity
  #buriedCount = 0
  /** How many looks in a row have found shards that are nobody's. */
  #looksInVain = 0
  #held: ReadonlySet<number> = new Set()
  #members: readonly string[] = []
  /** Shards whose work is being finished before others get them: in the database they are still this node's. */
  #giving: ReadonlySet<number> = new Set()
  #isCutOff = false
  /** Whether the database says of no other shard that it is this node's. */
  #isSure = true
  readonly #gained: (() => void)[] = []
  readonly #cutOff: (() => void)[] = []
  readonly #settled: (() => Promise<void>)[] = []
  readonly #underWay: (() => Iterable<string>)[] = []
  #isRetiring = false
  readonly #retired = Promise.withResolvers<void>()
  #wake = () => {}
  readonly #buried: (() => void)[] = []
  readonly #lose: () => void
  readonly #staying: string
  /** The bounds of the keys of nodes. */
  readonly #nodes = prefixRange(NODES)

  private constructor(
    connection: Connection,
    lease: Lease,
    {
      version,
      lagMs,
      leaseMs,
      clock,
    }: { readonly version: string; lagMs(): number; readonly leaseMs: number; readonly clock: Clock },
  ) {
    this.node = connection.node
    this.lease = lease
    this.#connection = connection
    this.#version = version
    this.#leaseMs = leaseMs
    this.#lagMs = lagMs
    this.#clock = clock
    this.#staying = stayingIn(connection.schema)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#lose = resolve
    this.lost = Promise.race([promise, lease.lost])
  }

  /**
   * Waits while a server of an older program serves, which knows of no others; `waits` is told its name once. `lagMs`
   * answers how far this node is behind.
   */
  static async join(
    connection: Connection,
    {
      clock,
      version,
      waits,
      lagMs,
      leaseMs = LEASE_MS,
    }: {
      readonly clock: Clock
      readonly version: string
      waits(holder: string): void
      lagMs(): number
      readonly leaseMs?: number
    },
  ): Promise<Fleet> {
    const shared = { ...connection, node: TOGETHER }
    await takeLease(shared, { work: SERVING, clock, waits, isKept: false, leaseMs })
    const lease = await takeLease(connection, {
      work: ['node', connection.node],
      clock,
      waits,
      spareMs: leaseMs / SPARE,
      leaseMs,
    })
    return new Fleet(connection, lease, { version, lagMs, leaseMs, clock })
  }

  holds(name: string): boolean {
    return this.#held.has(shardOf(name))
  }

  onGained(listener: () => void): void {
    this.#gained.push(listener)
  }

  get isCutOff(): boolean {
    return this.#isCutOff
  }

  onCutOff(listener: () => void): void {
    this.#cutOff.push(listener)
  }

  beforeGiving(settled: () => Promise<void>, underWay?: () => Iterable<string>): void {
    this.#settled.push(settled)
    if (underWay) this.#underWay.push(underWay)
  }

  /** `listener` is called when a node has gone. */
  onBuried(listener: () => void): void {
    this.#buried.push(listener)
  }

  /** Shards that this node has now, sorted. */
  get held(): readonly number[] {
    return [...this.#held].sort((a, b) => a - b)
  }

  /** Nodes that were alive a moment ago, this one among them. */
  get members(): readonly string[] {
    return this.#members
  }

  get lagMs(): number {
    return this.#lagMs()
  }

  /** How many others it has buried. */
  get buried(): number {
    return this.#buriedCount
  }

  /** How often a statement was sent to the database again. */
  get retries(): number {
    const { reading, writing } = this.#connection
    return reading.retries + writing.retries
  }

  /** Takes tokens out of a bucket that refills evenly, on the database's clock; see `http/limits.ts`. */
  readonly takeShared = async (
    bucket: string,
    { quota, windowSeconds }: { readonly quota: number; readonly windowSeconds: number },
    wanted: number,
  ): Promise<{ granted: number; left: number }> => {
    const { schema, writing } = this.#connection
    // Whoever asks counts by itself while the database is away, and need not find that out each time.
    if (writing.silence.isKnown) throw away()
    const [row] = await writing.silence.bear(
      writing.query<{ granted: number; remain: number }>(
        `select granted, remain from ${schema}.take_tokens_1($1, $2, $3, $4)`,
        [Buffer.from(bucket), quota, windowSeconds, wanted],
      ),
    )
    return { granted: row?.granted ?? 0, left: row?.remain ?? 0 }
  }

  /** Nodes that nobody has buried, as the database knows them now. */
  async aliveNodes(): Promise<ReadonlySet<string>> {
    return new Set((await this.#all()).members.map(({ name }) => name))
  }

  async run(deps: { readonly clock: Clock; readonly log: Log }, signal: AbortSignal): Promise<void> {
    const loop = createLoop(deps, 'looking after the other servers', () => this.look(), { mostMs: LOOK_MS })
    this.#wake = () => loop.wake()
    await Promise.all([loop.run(signal), this.#watchLease(signal)])
  }

  /** Asks nothing of the database, which a node that is cut off from it may wait for in vain. */
  async #watchLease(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const leftMs = this.lease.sureUntil - this.#clock.now()
      const isCutOff = leftMs <= 0
      if (isCutOff !== this.#isCutOff) {
        this.#isCutOff = isCutOff
        for (const listener of this.#cutOff) listener()
      }
      await this.#clock.sleep(isCutOff ? LOOK_MS : leftMs, signal)
    }
  }

  /** Buries who is dead, and takes or gives back shards. Answers when to look again. */
  async look(): Promise<number> {
    const { members: all, free } = await this.#stay()
    const ends = all.flatMap(({ leftMs }) => (leftMs > 0 ? [leftMs] : []))
    await this.#share(all, free)
    return Math.min(LOOK_MS, ...ends)
  }

  async #share(all: readonly Member[], free: number): Promise<void> {
    // Noticed here already, since the lease may be renewed much later.
    if (!all.some(({ name }) => name === this.node)) return this.#lose()
    let isFewer = false
    const mayBury = this.#mayBury()
    for (const { name, leftMs } of all)
      if (mayBury && leftMs <= 0 && name !== this.node && (await this.#bury(name))) isFewer = true
    const alive = all.filter(
      ({ name, leftMs, isStarting }) => (leftMs > 0 && !isStarting) || name === this.node,
    )
    const members = namesOf(alive)
    isFewer ||= this.#members.some((name) => !members.includes(name))
    this.#members = members
    if (isFewer) for (const listener of this.#buried) listener()
    if (this.#isRetiring) {
      if (this.#held.size === 0) this.#retired.resolve()
      else if (this.#giving.size === 0) void this.#give(0).finally(this.#retired.resolve)
      return
    }
    const looking = namesOf(alive.filter(({ name, isLooking }) => isLooking || name === this.node))
    const share = shareOf(looking.indexOf(this.node), looking.length)
    this.#looksInVain = free === 0 || isFewer ? 0 : this.#looksInVain + 1
    if (this.#looksInVain >= PATIENT_LOOKS) await this.#claim(free)
    else if (this.#held.size < share || !this.#isSure) await this.#claim(Math.max(0, share - this.#held.size))
    else if (this.#held.size > share && this.#giving.size === 0) void this.#give(share)
  }

  /** The server is about to stop: what it does nothing for at the moment goes to the others, if there are any. */
  async retire(): Promise<void> {
    if (this.#members.length < 2) return
    this.#isRetiring = true
    this.#wake()
    await within(this.#clock, RETIRE_MS, this.#retired.promise)
  }

  /** Gives up lease and shards, so that the others need not wait for the lease to run out. */
  async leave(): Promise<void> {
    const { schema, writing } = this.#connection
    this.#held = new Set()
    await this.lease.release()
    await this.#bury(this.node)
    if ((await this.#all()).members.length === 0)
      await writing.query(`update ${schema}.leases set until = '-infinity' where work = $1 and node = $2`, [
        SERVING_KEY,
        TOGETHER,
      ])
  }

  /**
   * Says that this node is there, renews its lease, and answers who else is there. In one statement, since every node does so
   * every second.
   */
  async #stay(): Promise<Looked> {
    const at = this.#clock.now()
    const rows = await this.#connection.writing.query<StayRow>(this.#staying, [
      ...this.#whose(),
      SERVING_KEY,
      TOGETHER,
      this.#leaseMs,
      this.#version,
      this.#lagMs(),
      this.node,
      // One that is about to stop is left no share.
      this.#isRetiring ? this.#leaseMs : 0,
      leaseKey(this.node),
      this.lease.fence,
      this.#leaseMs * (1 - RENEWED_AFTER),
    ])
    if (rows[0]?.renewed === true) this.lease.renewed(at)
    if (rows[0]?.kept !== true) this.#lose()
    return lookedAt(rows)
  }

  async #all(): Promise<Looked> {
    const { schema, writing } = this.#connection
    return lookedAt(await writing.query<MemberRow>(`select ${membersOf(schema)}`, this.#whose()))
  }

  /** What `membersOf` is given first. */
  #whose(): unknown[] {
    return [this.#nodes.start, this.#nodes.end, this.#leaseMs * QUIET]
  }

  /**
   * While the database was away everybody's lease has run out, and whoever is first would bury all others. So a node that has
   * seen nobody for that long lets them renew theirs.
   */
  #mayBury(): boolean {
    const now = this.#clock.now()
    if (this.#lookedAt !== null && now - this.#lookedAt > this.#leaseMs)
      this.#patientUntil = now + this.#leaseMs / 2
    this.#lookedAt = now
    return now >= this.#patientUntil
  }

  async #bury(name: string): Promise<boolean> {
    const { schema, writing, node } = this.#connection
    const key = leaseKey(name)
    const [row] = await writing.query<{ done: boolean }>(`select ${schema}.bury_1($1, $2, $3, $4) as done`, [
      key,
      slotOf(key),
      name,
      node,
    ])
    const isDone = row?.done === true
    if (isDone) this.#buriedCount++
    return isDone
  }

  async #claim(most: number): Promise<void> {
    const { schema, writing } = this.#connection
    await writing.query(`select ${schema}.claim_1($1, $2)`, [leaseKey(this.node), most])
    // An answer may have been lost, and its statement sent again, which then found less to take.
    await this.#recall()
  }

  /** Shards without work under way, if there are any: those with it are gone on with until it is over. */
  async #give(share: number): Promise<void> {
    const { schema, writing } = this.#connection
    const busy = new Set(this.#underWay.flatMap((names) => Array.from(names(), shardOf)))
    const idle = this.held.filter((shard) => !busy.has(shard))
    const most = this.#held.size - share
    // Nobody does the work of these until all of them are settled.
    const given = idle.length > 0 ? idle.slice(-most) : this.held.slice(-Math.min(most, BUSY_AT_ONCE))
    this.#giving = new Set(given)
    this.#held = this.#held.difference(this.#giving)
    try {
      await Promise.all(this.#settled.map((settled) => settled()))
      await writing.query(
        `update ${schema}.shards set holder = null where holder = $1 and shard = any($2::int[])`,
        [leaseKey(this.node), intArray(given)],
      )
    } catch {
      // In the database they may still be this node's.
      this.#isSure = false
    } finally {
      this.#giving = new Set()
    }
  }

  async #recall(): Promise<void> {
    const { schema, reading } = this.#connection
    // As it is now: what is given away by the time of the answer may be in it nevertheless.
    const giving = this.#giving
    const rows = await reading.query<{ shard: number }>(
      `select shard from ${schema}.shards where holder = $1`,
      [leaseKey(this.node)],
    )
    const held = new Set(rows.map(({ shard }) => shard)).difference(giving)
    const isMore = held.difference(this.#held).size > 0
    this.#held = held
    this.#isSure = giving.size === 0
    if (isMore) for (const listener of this.#gained) listener()
  }
}

/** Between the keys $1 and $2; $3: for how long one that looks is silent at most. */
const membersOf = (schema: Schema) =>
  `l.work, n.version is null as starting,
     extract(epoch from greatest(l.until, clock_timestamp()) - clock_timestamp())::float8 * 1000 as left,
     coalesce(n.seen > clock_timestamp() - $3 * interval '1 ms', false) as looking,
     (select count(*)::int from ${schema}.shards s where s.holder is null) as free
   from ${schema}.leases l left join ${schema}.nodes n on n.node = l.node
   where l.work >= $1 and l.work < $2`

const stayingIn = (schema: Schema) =>
  `
  with told as (update ${schema}.nodes set version = $7, lag_ms = $8,
    seen = clock_timestamp() - $10 * interval '1 ms' where node = $9
  ), kept as (update ${schema}.leases set until = clock_timestamp() + $6 * interval '1 ms'
    where (work = $4 and node = $5) or (work = $11 and node = $9 and fence = $12
      and until < clock_timestamp() + $13 * interval '1 ms') returning work
  )
  select exists (select from kept where work = $4) as kept, exists (select from kept where work = $11) as renewed,
    ${membersOf(schema)}`.trim()

function lookedAt(rows: readonly MemberRow[]): Looked {
  const members = rows.map(({ work, left, starting, looking }) => ({
    name: String(decodeKey(work)[2]),
    leftMs: left,
    isStarting: starting,
    isLooking: looking,
  }))
  return { members, free: rows[0]?.free ?? 0 }
}

const namesOf = (members: readonly Member[]) => members.map(({ name }) => name).sort()

const leaseKey = (node: string) => encodeKey([...NODES, node])

/** How many shards the node at this place has among this many nodes. */
function shareOf(place: number, nodes: number): number {
  return Math.floor(SHARDS / nodes) + (place < SHARDS % nodes ? 1 : 0)
}

/** The nodes on a database, as anybody may ask. */
export async function fleetNodes({
  schema,
  reading,
}: Pick<Connection, 'schema' | 'reading'>): Promise<FleetNode[]> {
  const { start, end } = prefixRange(NODES)
  const rows = await reading.query<{
    work: Uint8Array
    version: string | null
    started: Date
    silent: number
    lag: number | null
    shards: Iterable<number> | null
  }>(
    `select l.work, n.version, coalesce(n.started, clock_timestamp()) as started, n.lag_ms as lag,
       extract(epoch from clock_timestamp() - coalesce(n.seen, l.until))::float8 * 1000 as silent,
       (select array_agg(s.shard order by s.shard) from ${schema}.shards s where s.holder = l.work) as shards
     from ${schema}.leases l left join ${schema}.nodes n on n.node = l.node
     where l.work >= $1 and l.work < $2 and l.until > clock_timestamp() order by l.work`,
    [start, end],
  )
  return rows.map(({ work, version, started, silent, lag, shards }) => ({
    name: String(decodeKey(work)[2]),
    version,
    startedAt: started,
    silentMs: silent,
    lagMs: lag,
    shards: Array.from(shards ?? []),
  }))
}
