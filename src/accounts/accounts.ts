// The records of accounts (users, sessions, tokens, invitations) and what the room needs; the use cases are in the other files.
//
// Secrets of sessions, tokens and invitations are kept as their SHA-256: they are random enough that a slow hash would
// add nothing.

import type { Clock } from '../lib/clock.ts'
import type { NewId } from '../lib/ids.ts'
import type { Random } from '../lib/random.ts'
import { collectionIn } from '../store/collection.ts'
import type { Kv } from '../store/kv.ts'
import type { PasswordHasher } from './passwords.ts'
import type { Scope } from '../wire/scopes.ts'

export interface AccountDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly random: Random
  readonly newId: NewId
  readonly passwords: PasswordHasher
}

/** There is one owner, the first user. Series that owner and admins import are shared, a member's are private. */
export type Role = 'owner' | 'admin' | 'member'
/** Roles that the owner can give. */
export const GIVEN_ROLES = ['admin', 'member'] as const
export type GivenRole = (typeof GIVEN_ROLES)[number]

export interface User {
  readonly id: string
  /** As it was typed. */
  readonly email: string
  /** The normal form, which must be unique and by which one signs in. */
  readonly emailKey: string
  readonly name: string
  readonly role: Role
  readonly passwordHash: string
  readonly createdAt: number
}

export interface Invitation {
  readonly id: string
  readonly hash: string
  readonly createdBy: string
  readonly createdAt: number
  readonly expiresAt: number
}

export interface Session {
  readonly id: string
  readonly hash: string
  readonly userId: string
  readonly createdAt: number
  readonly lastSeenAt: number
  /** The browser's user agent, shortened, by which people tell their sessions apart. */
  readonly userAgent: string
}

export interface ApiToken {
  readonly id: string
  readonly userId: string
  readonly name: string
  readonly hash: string
  readonly last4: string
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
}

export const users = collectionIn<User>('users', {
  unique: { email: (user) => [user.emailKey] },
  indexes: { all: () => [] },
  counts: { all: { of: () => [] } },
})

export const sessions = collectionIn<Session>('sessions', {
  unique: { hash: (session) => [session.hash] },
  indexes: { user: (session) => [session.userId] },
  // Counts a user's sessions for plans that list them; sessions older than this counter are not in it.
  counts: { opened: { of: (session) => [session.userId] } },
})

export const tokens = collectionIn<ApiToken>('tokens', {
  unique: { hash: (token) => [token.hash] },
  indexes: { user: (token) => [token.userId] },
  counts: { user: { of: (token) => [token.userId], max: 500, noun: 'API tokens' } },
})

export const invitations = collectionIn<Invitation>('invitations', {
  unique: { hash: (invitation) => [invitation.hash] },
  indexes: { all: () => [] },
})
