// Slows down guessing passwords: five tries are free, then every failure doubles the wait, from a second to fifteen minutes.
//
// Kept in the store by account, known or not, so that neither a restart nor a second address helps, and the answer
// does not tell which addresses have an account. A day without failures forgets them.

import { Problem } from '../lib/problem.ts'
import { sha256 } from '../lib/sha256.ts'
import { transact } from '../store/transaction.ts'
import type { Entry, Key } from '../store/kv.ts'
import type { AccountDeps } from './accounts.ts'

interface Failures {
  readonly count: number
  readonly lastAt: number
}

const FREE = 5
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
    const { count, lastAt } = failuresIn(await tx.get(key), deps.clock.now())
    const now = deps.clock.now()
    // A failure in the future was noted before the clock was set back, perhaps by hours: do not wait for it.
    const waitMs = lastAt > now ? 0 : lastAt + waitAfter(count) - now
    if (waitMs > 0) throw throttled(Math.ceil(waitMs / 1000))
    const failures: Failures = { count: count + 1, lastAt: now }
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
  return now - failures.lastAt > FORGET_MS ? { count: 0, lastAt: 0 } : failures
}

function throttled(retryAfter: number): Problem {
  const message = `Too many failed attempts to sign in. Try again in ${retryAfter} s.`
  return new Problem(429, 'rate_limited', message, { retryAfter })
}
