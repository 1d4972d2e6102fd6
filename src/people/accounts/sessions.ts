// Sessions: what the cookie opens. 256 random bits, kept only as their hash; 7 days idle, 30 days in all.

import { Problem } from '../../lib/problem.ts'
import { cutText } from '../../lib/text.ts'
import { sha256 } from '../../lib/sha256.ts'
import { transact, type Changes, type Tx } from '../../store/transaction.ts'
import { sessions, users, type AccountDeps, type Session, type User } from './accounts.ts'
import type { Credentials } from './credentials.ts'

export const SESSION_LIFE_MS = 30 * 24 * 3600_000
const SESSION_IDLE_MS = 7 * 24 * 3600_000
/** `lastSeenAt` is written at most this often. */
const TOUCH_MS = 60_000

interface SessionStart {
  /** How the user proved to be one; missing = with a password. */
  readonly way?: Session['way']
  readonly providerSession?: Session['providerSession']
  /** What is to be written exactly if the session begins. */
  readonly also?: ((tx: Tx) => Promise<readonly Changes[]>) | undefined
}

export async function startSession(
  deps: AccountDeps,
  user: User,
  userAgent: string,
  { way, providerSession, also }: SessionStart = {},
): Promise<{ secret: string; session: Session }> {
  const secret = Buffer.from(deps.random.bytes(32)).toString('base64url')
  const now = deps.clock.now()
  const session: Session = {
    id: deps.newId('ses'),
    hash: sha256(secret),
    userId: user.id,
    createdAt: now,
    lastSeenAt: now,
    userAgent: cutText(userAgent, 200),
    ...(way && { way }),
    ...(providerSession !== undefined && { providerSession }),
  }
  await transact(deps.kv, async (tx) => {
    // The password may have been changed while it was being checked, in order to lock somebody out.
    const now = await users(deps.kv).at(tx).get(user.id)
    if (now?.passwordHash !== user.passwordHash)
      throw new Problem(
        401,
        'invalid_credentials',
        'The password was changed meanwhile. Sign in with the new one.',
      )
    // Marked as essential: a user who cannot sign in when the store is full cannot delete anything either.
    return [{ ...sessions(deps.kv).insert(session), essential: true }, ...((await also?.(tx)) ?? [])]
  })
  return { secret, session }
}

/** null for an unknown secret; `expired` for one that was valid once. */
export async function resumeSession(
  deps: AccountDeps,
  credentials: Credentials,
  secret: string,
): Promise<{ user: User; session: Session } | 'expired' | null> {
  const found = await credentials.session(secret)
  if (!found) return null
  const { credential: session, user } = found
  return isOver(deps, session) ? 'expired' : { user, session }
}

/** Whether it has to be noted again that the session is in use. */
export function isSessionStale({ clock }: AccountDeps, { lastSeenAt }: Session): boolean {
  return clock.now() - lastSeenAt >= TOUCH_MS
}

/** Notes that the session is in use. */
export async function touchSession(deps: AccountDeps, session: Session): Promise<void> {
  if (!isSessionStale(deps, session)) return
  await sessions(deps.kv).update(session.id, (found) => ({ ...found, lastSeenAt: deps.clock.now() }))
}

/** Whether the session is still valid: it may have been ended or have expired. */
export async function sessionStands(deps: AccountDeps, { id }: Session): Promise<boolean> {
  const session = await sessions(deps.kv).get(id)
  return session !== null && !isOver(deps, session)
}

export async function endSession(deps: AccountDeps, session: Session): Promise<void> {
  await sessions(deps.kv).delete(session.id)
}

export async function listSessions(deps: AccountDeps, user: User): Promise<Session[]> {
  return (await Array.fromAsync(sessions(deps.kv).each('user', [user.id])))
    .filter((session) => !isOver(deps, session))
    .reverse()
}

/** One of the user's own sessions, by id. */
export async function endSessionById(deps: AccountDeps, user: User, id: string): Promise<void> {
  if ((await sessions(deps.kv).get(id))?.userId !== user.id)
    throw new Problem(404, 'session_not_found', 'There is no such session.')
  await sessions(deps.kv).delete(id)
}

export async function endOtherSessions(deps: AccountDeps, user: User, keep: Session): Promise<number> {
  const others = (await Array.fromAsync(sessions(deps.kv).each('user', [user.id]))).filter(
    ({ id }) => id !== keep.id,
  )
  for (const { id } of others) await sessions(deps.kv).delete(id)
  return others.length
}

function isOver({ clock }: AccountDeps, { createdAt, lastSeenAt }: Session): boolean {
  const now = clock.now()
  return now - createdAt >= SESSION_LIFE_MS || now - lastSeenAt >= SESSION_IDLE_MS
}

/** Removes expired sessions; run regularly. */
export async function sweepSessions(deps: AccountDeps): Promise<void> {
  for await (const session of sessions(deps.kv).each())
    if (isOver(deps, session)) await endSession(deps, session)
}
