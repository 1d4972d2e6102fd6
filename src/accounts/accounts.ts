// What the accounts room is handed, and the records it keeps.

import type { Clock } from '../lib/clock.ts'
import type { NewId } from '../lib/ids.ts'
import type { Random } from '../lib/random.ts'
import { collection, type Collection } from '../store/collection.ts'
import type { Kv } from '../store/kv.ts'
import type { PasswordHasher } from './passwords.ts'
import type { Session } from './sessions.ts'
import type { ApiToken } from './tokens.ts'
import type { Invitation, User } from './users.ts'

export interface AccountDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly random: Random
  readonly newId: NewId
  readonly passwords: PasswordHasher
}

/** Looked up through functions, not held: a collection is a view, and making one costs nothing. */
export const users = (kv: Kv): Collection<User> =>
  collection<User>(kv, 'users', {
    unique: { email: (user) => [user.emailKey] },
    indexes: { all: () => [] },
    counts: { all: { of: () => [] } },
  })

export const sessions = (kv: Kv): Collection<Session> =>
  collection<Session>(kv, 'sessions', {
    unique: { hash: (session) => [session.hash] },
    indexes: { user: (session) => [session.userId] },
  })

export const tokens = (kv: Kv): Collection<ApiToken> =>
  collection<ApiToken>(kv, 'tokens', {
    unique: { hash: (token) => [token.hash] },
    indexes: { user: (token) => [token.userId] },
    counts: { user: { of: (token) => [token.userId], max: 500, noun: 'API tokens' } },
  })

export const invitations = (kv: Kv): Collection<Invitation> =>
  collection<Invitation>(kv, 'invitations', {
    unique: { hash: (invitation) => [invitation.hash] },
    indexes: { all: () => [] },
  })

/** Secrets are kept as this: they are random enough that a slow hash would add nothing. */
export function sha256(secret: string): string {
  return new Bun.CryptoHasher('sha256').update(secret).digest('hex')
}
