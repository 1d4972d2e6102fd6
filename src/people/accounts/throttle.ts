// Slows down guessing passwords: five tries are free, then every failure doubles the wait, from a second to fifteen minutes.
//
// Kept in the store by account, known or not, so that neither a restart nor a second address helps, and the answer
// does not tell which addresses have an account. A day without failures forgets them.
//
// Servers on one database may have clocks that are an hour apart, and a clock may be set back. So one waits since the latest
// failure that is not in the future, and some earlier ones are kept, among which each server finds one by its own clock.

import { Problem } from '../../lib/problem.ts'
import { sha256 } from '../../lib/sha256.ts'
import { transact } from '../../store/transaction.ts'
import type { Entry, Key } from '../../store/kv.ts'
import type { AccountDeps } from './accounts.ts'

interface Failures {
  readonly count: number
  readonly lastAt: number
  /** When those before it were, latest noted first. Missing in records of older versions. */
  readonly before?: readonly number[]
}

const FREE = 5
const KEPT_BEFORE = 7
const WAIT_MAX_MS = 15 * 60_000
const FORGET_MS = 24 * 3600_000

/** Hashed, since the text typed as an address may be of any length. */
const failuresKey = (emailKey: string): Key => ['signin-failures', sha256(emailKey)]

/**
 * Counts a failure before the password is checked, and forgets it if it was right, so that a hundred attempts at the
 * same time count as a hundred. Throws 429 while the account has to wait. `isKnown` says that an account has this address:
 * attempts at unknown addresses must not use up the space that is reserved for a full store.
 */
export async function countAttempt(deps: AccountDeps, emailKey: string, isKnown: boolean): Promise<void> {
  await transact(deps.kv, async (tx) => {
    const key = failuresKey(emailKey)
    const now = deps.clock.now()
    const { count, lastAt, before = [] } = failuresIn(await tx.get(key), now)
    const times = [lastAt, ...before]
    const since = Math.max(...times.filter((at) => at <= now))
    const waitMs = since + waitAfter(count) - now
    if (waitMs > 0) throw throttled(Math.ceil(waitMs / 1000))
    const failures: Failures = { count: count + 1, lastAt: now, before: times.slice(0, KEPT_BEFORE) }
    return {
      sets: [{ key, value: JSON.stringify(failures) }],
      essential: isKnown,
    }
  })
}

export async function forgetFailures(deps: AccountDeps, emailKey: string): Promise<void> {
  const key = failuresKey(emailKey)
  if (await deps.kv.get(key)) await deps.kv.commit({ deletes: [key] })
}

/** How many ms to wait after this many failures. */
export function waitAfter(count: number): number {
  return count < FREE ? 0 : Math.min(WAIT_MAX_MS, 1000 * 2 ** (count - FREE))
}

function failuresIn(entry: Entry | null, now: number): Failures {
  const failures = entry ? (JSON.parse(entry.value) as Failures) : { count: 0, lastAt: 0 }
  const latest = Math.max(failures.lastAt, ...(failures.before ?? []))
  return now - latest > FORGET_MS ? { count: 0, lastAt: 0 } : failures
}

function throttled(retryAfter: number): Problem {
  const message = `Too many failed attempts to sign in. Try again in ${retryAfter} s.`
  return new Problem(429, 'rate_limited', message, { retryAfter })
}
