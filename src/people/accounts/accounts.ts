// The records of accounts (users, sessions, tokens, invitations) and what the room needs; the use cases are in the other files.
//
// Secrets of sessions, tokens and invitations are kept as their SHA-256: they are random enough that a slow hash would
// add nothing.

import type { Random } from '../../lib/random.ts'
import { sha256 } from '../../lib/sha256.ts'
import { collectionIn } from '../../store/collection.ts'
import type { RecordDeps } from '../../store/owned.ts'
import type { PasswordHasher } from './passwords.ts'
import type { PictureChoice } from '../../wire/channel.ts'
import type { Scope } from '../../wire/scopes.ts'

export interface AccountDeps extends RecordDeps {
  readonly random: Random
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
  /** null: signs in by other ways only. */
  readonly passwordHash: string | null
  readonly createdAt: number
  /** The chart in mails of alerts; missing = dark. */
  readonly mailPicture?: PictureChoice
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
  /** How it was begun; missing = with a password. */
  readonly way?: 'openid' | 'passkey'
  /** The session at the identity provider that it came of, hashed; missing = unknown. */
  readonly providerSession?: string
}

/** What an identity provider calls a user. */
export interface Identity {
  readonly id: string
  readonly userId: string
  readonly issuer: string
  readonly subject: string
  /** The address that the provider named last, by which people tell their identities apart; never used to find one. */
  readonly email: string | null
  readonly createdAt: number
  readonly lastUsedAt: number | null
}

export interface Passkey {
  readonly id: string
  readonly userId: string
  readonly name: string
  /** The host name that it belongs to; a browser uses it nowhere else. */
  readonly host: string
  readonly credentialId: string
  /** COSE, in base64url. */
  readonly publicKey: string
  /** How often it has signed, as far as it counts. */
  readonly counter: number
  readonly transports: readonly string[]
  /** Whether its maker keeps a copy for the user's other devices. */
  readonly isSynced: boolean
  readonly createdAt: number
  readonly lastUsedAt: number | null
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
  indexes: {
    user: (session) => [session.userId],
    providerSession: ({ providerSession }) => (providerSession === undefined ? null : [providerSession]),
  },
  // Counts a user's sessions for plans that list them; sessions older than this counter are not in it.
  counts: { opened: { of: (session) => [session.userId] } },
})

export const tokens = collectionIn<ApiToken>('tokens', {
  unique: { hash: (token) => [token.hash] },
  indexes: { user: (token) => [token.userId] },
  counts: { user: { of: (token) => [token.userId], max: 500, noun: 'API tokens' } },
})

export const identities = collectionIn<Identity>('identities', {
  unique: { subject: ({ issuer, subject }) => [subjectKey(issuer, subject)] },
  indexes: { user: ({ userId }) => [userId] },
  counts: { user: { of: ({ userId }) => [userId], max: 10, noun: 'identities' } },
})

/** Of a subject, a session or a message of an issuer. Hashed, since both may be of any length. */
export const subjectKey = (issuer: string, subject: string): string =>
  sha256(JSON.stringify([issuer, subject]))

export const passkeys = collectionIn<Passkey>('passkeys', {
  unique: { credential: ({ credentialId }) => [sha256(credentialId)] },
  indexes: { user: ({ userId }) => [userId] },
  counts: { user: { of: ({ userId }) => [userId], max: 20, noun: 'passkeys' } },
})

export const invitations = collectionIn<Invitation>('invitations', {
  unique: { hash: (invitation) => [invitation.hash] },
  indexes: { all: () => [] },
})
