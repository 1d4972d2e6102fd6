// A lease: one of several nodes does some work, and another takes it over when that one is gone.
//
// It runs out on the database's clock, so that no node's own matters. Its fence is the version of a document that changes
// whenever the lease changes hands: a commit that checks it is refused to a node that was stopped for a while and does
// not know yet that its time is over. Renewing the lease does not touch the document.

import type { Clock } from '../../lib/clock.ts'
import { Problem } from '../../lib/problem.ts'
import { encodeKey } from '../key.ts'
import type { Key, Kv, Version } from '../kv.ts'
import type { Connection } from './connection.ts'
import { slotOf } from './group-commit.ts'

/** Long enough for a node to be busy for a while, and short enough to wait for when one is gone. */
export const LEASE_MS = 4000
/** How many times a lease is renewed in the time in which it would run out. */
const RENEWALS = 4
const ASK_AGAIN_MS = 500

export interface Lease {
  /** The key of the document whose version is the fence. */
  readonly key: Key
  readonly fence: Version
  /** Resolves when another node has it, and never before, not even while the database is away. */
  readonly lost: Promise<void>
  /** Before this time of the process's own clock no other node can have it. */
  readonly sureUntil: number
  /** Whoever holds it has renewed it along with something else, which was asked for at this time of the process's own clock. */
  renewed(at: number): void
  /** Lets another node have it at once. */
  release(): Promise<void>
}

/** Waits until the lease is free. `waits` is told once who has it. */
export async function takeLease(
  connection: Connection,
  {
    work,
    clock,
    waits,
    isKept = true,
    spareMs = 0,
    leaseMs = LEASE_MS,
  }: {
    readonly work: string | Key
    readonly clock: Clock
    waits(holder: string): void
    /** false: somebody else renews it. */
    readonly isKept?: boolean
    /** How long somebody else may take who mostly renews it. */
    readonly spareMs?: number
    readonly leaseMs?: number
  },
): Promise<Lease> {
  const { schema, node, writing } = connection
  const key: Key = ['lease', ...(typeof work === 'string' ? [work] : work)]
  const name = encodeKey(key)
  let isWaiting = false
  for (;;) {
    const askedAt = clock.now()
    const [row] = await writing.query<{ fence: Version | null; holder: string }>(
      `select fence, holder from ${schema}.take_lease_1($1, $2, $3, $4)`,
      [name, slotOf(name), node, leaseMs],
    )
    const fence = row?.fence ?? null
    if (fence !== null) return kept(connection, { clock, key, fence, askedAt, isKept, spareMs, leaseMs })
    if (!isWaiting) waits(row?.holder ?? '')
    isWaiting = true
    await clock.sleep(ASK_AGAIN_MS)
  }
}

function kept(
  { schema, node, writing }: Connection,
  {
    clock,
    key,
    fence,
    askedAt,
    isKept,
    spareMs,
    leaseMs,
  }: {
    readonly clock: Clock
    readonly key: Key
    readonly fence: Version
    /** When it was asked for: the database began to count then or later. */
    readonly askedAt: number
    readonly isKept: boolean
    readonly spareMs: number
    readonly leaseMs: number
  },
): Lease {
  const released = new AbortController()
  let renewal: Promise<unknown> = Promise.resolve()
  let [triedAt, renewedAt] = [askedAt, askedAt]
  const mine = [encodeKey(key), node, fence]
  const renewing = `update ${schema}.leases set until = clock_timestamp() + interval '${leaseMs} ms'
    where work = $1 and node = $2 and fence = $3 returning fence`
  async function renew(): Promise<boolean> {
    const at = clock.now()
    triedAt = at
    try {
      const rows = await writing.query(renewing, mine)
      if (rows.length > 0) renewedAt = at
      return rows.length > 0
    } catch {
      // While the database is away nobody can take it over.
      return true
    }
  }
  async function keep(): Promise<void> {
    for (;;) {
      // A renewal that took its time says little of how long the lease still runs, so the next one comes at once.
      const before = triedAt
      await clock.sleep(Math.max(0, before + leaseMs / RENEWALS + spareMs - clock.now()), released.signal)
      if (released.signal.aborted) return new Promise(() => {})
      // It was renewed along with something else.
      if (triedAt > before) continue
      const renewed = renew()
      renewal = renewed
      if (!(await renewed)) return
    }
  }
  return {
    key,
    fence,
    lost: isKept ? keep() : new Promise(() => {}),
    get sureUntil() {
      return renewedAt + leaseMs
    },
    renewed(at) {
      triedAt = Math.max(triedAt, at)
      renewedAt = Math.max(renewedAt, at)
    },
    async release() {
      released.abort()
      // A renewal that came after the release would keep the lease for its whole time.
      await renewal
      await writing.query(
        `update ${schema}.leases set until = '-infinity' where work = $1 and node = $2 and fence = $3`,
        mine,
      )
    },
  }
}

/** The store as the holder of a lease writes to it: once another has it, nothing is written any more. */
export function fencedKv(kv: Kv, { key, fence }: Pick<Lease, 'key' | 'fence'>): Kv {
  return {
    get: (one) => kv.get(one),
    getMany: (keys) => kv.getMany(keys),
    versions: (keys) => kv.versions(keys),
    list: (selector, options) => kv.list(selector, options),
    async commit(commit) {
      const checks = [...(commit.checks ?? []), { key, version: fence }]
      if (await kv.commit({ ...commit, checks })) return true
      const [current] = await kv.versions([key])
      if (current !== fence) throw takenOver()
      return false
    },
    close: () => kv.close(),
  }
}

function takenOver(): Problem {
  return new Problem(
    503,
    'store_unavailable',
    'Another server has taken over; nothing was stored. Try again.',
    { retryAfter: 5 },
  )
}
