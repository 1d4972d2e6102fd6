// Personal API tokens: `crm_pat_` + 30 random base62 characters + 6 of CRC32, after GitHub's.
//
// The checksum lets a secret scanner, and this server before it asks the database, tell a token from a typing error.
// Only the SHA-256 is kept, so a stolen database opens nothing.

import { invalidField, Problem } from '../../lib/problem.ts'
import { sha256 } from '../../lib/sha256.ts'
import { transact, type Also } from '../../store/transaction.ts'
import { tokens, type AccountDeps, type ApiToken, type User } from './accounts.ts'
import type { Credentials } from './credentials.ts'
import type { Scope } from '../../wire/scopes.ts'

const DEFAULT_SCOPES: readonly Scope[] = ['replay:read', 'replay:write']

export type TokenStatus = 'active' | 'expired' | 'revoked'

const PREFIX = 'crm_pat_'
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const TOUCH_MS = 60_000
/** How long revoked and expired tokens stay listed. */
const KEPT_MS = 90 * 24 * 3600_000

export interface NewToken {
  readonly name?: string | undefined
  readonly scopes?: readonly Scope[] | undefined
  readonly expiresAt?: number | null | undefined
}

export interface TokenMade {
  readonly secret: string
  readonly token: ApiToken
}

/** Creates a token. The secret is only in the answer and is not stored. */
export async function createToken(
  deps: AccountDeps,
  user: User,
  { name = 'API token', scopes = DEFAULT_SCOPES, expiresAt = null }: NewToken,
  also?: Also<TokenMade>,
): Promise<TokenMade> {
  const now = deps.clock.now()
  if (expiresAt !== null && expiresAt <= now)
    throw invalidField('/expiresAt', 'expiresAt', 'expected a time in the future')
  const secret = tokenSecret(deps)
  const token: ApiToken = {
    id: deps.newId('tok'),
    userId: user.id,
    name,
    hash: sha256(secret),
    last4: secret.slice(-4),
    scopes: [...new Set(scopes)],
    createdAt: now,
    expiresAt,
    lastUsedAt: null,
    revokedAt: null,
  }
  const made = { secret, token }
  await transact(deps.kv, (tx) => [tokens(deps.kv).insert(token), also?.(made, tx)])
  return made
}

/** The token's user. Throws 401 that says what is wrong with the token. */
export async function resumeToken(
  deps: AccountDeps,
  credentials: Credentials,
  secret: string,
): Promise<{ user: User; token: ApiToken }> {
  const found = isWellFormed(secret) ? await credentials.token(secret) : null
  if (!found) throw new Problem(401, 'invalid_token', 'The access token is not one of this server.')
  const { credential: token, user } = found
  const status = tokenStatus(deps, token)
  if (status === 'revoked') throw new Problem(401, 'token_revoked', 'The access token was revoked.')
  if (status === 'expired') throw new Problem(401, 'token_expired', 'The access token has expired.')
  return { user, token }
}

/** Whether the token is still valid: it may have been revoked or have expired. */
export async function tokenStands(deps: AccountDeps, { id }: ApiToken): Promise<boolean> {
  const token = await tokens(deps.kv).get(id)
  return token !== null && tokenStatus(deps, token) === 'active'
}

/** Whether it has to be noted again that the token is in use. */
export function isTokenStale({ clock }: AccountDeps, { lastUsedAt }: ApiToken): boolean {
  return lastUsedAt === null || clock.now() - lastUsedAt >= TOUCH_MS
}

/** Notes that the token is in use: at most one write a minute. */
export async function touchToken(deps: AccountDeps, token: ApiToken): Promise<void> {
  if (!isTokenStale(deps, token)) return
  const now = deps.clock.now()
  await tokens(deps.kv).update(token.id, (found) => ({ ...found, lastUsedAt: now }))
}

export async function listTokens(
  deps: AccountDeps,
  user: User,
  page: { readonly limit: number; readonly cursor?: string | undefined },
) {
  const listed = await tokens(deps.kv).list('user', [user.id], page)
  return { ...listed, items: listed.items.filter((token) => !isForgotten(deps, token)) }
}

/** Revoking a token twice is no error. */
export async function revokeToken(deps: AccountDeps, user: User, id: string): Promise<ApiToken> {
  const revoked = await tokens(deps.kv).update(id, (token) =>
    token.userId === user.id ? { ...token, revokedAt: token.revokedAt ?? deps.clock.now() } : null,
  )
  if (!revoked) throw new Problem(404, 'token_not_found', 'There is no such token.')
  return revoked
}

export function tokenStatus({ clock }: Pick<AccountDeps, 'clock'>, token: ApiToken): TokenStatus {
  if (token.revokedAt !== null) return 'revoked'
  return token.expiresAt !== null && token.expiresAt <= clock.now() ? 'expired' : 'active'
}

/** Removes tokens that were revoked or expired 90 days ago; run regularly. */
export async function sweepTokens(deps: AccountDeps): Promise<void> {
  for await (const token of tokens(deps.kv).each())
    if (isForgotten(deps, token)) await tokens(deps.kv).delete(token.id)
}

function isForgotten({ clock }: AccountDeps, { revokedAt, expiresAt }: ApiToken): boolean {
  return Math.min(revokedAt ?? Infinity, expiresAt ?? Infinity) + KEPT_MS < clock.now()
}

function tokenSecret({ random }: AccountDeps): string {
  let body = PREFIX
  while (body.length < PREFIX.length + 30)
    // 248 is the largest multiple of 62 in a byte; higher values would make the first characters more likely.
    for (const byte of random.bytes(32))
      if (byte < 248 && body.length < PREFIX.length + 30) body += BASE62[byte % 62]
  return body + checksum(body)
}

function isWellFormed(secret: string): boolean {
  return /^crm_pat_[0-9A-Za-z]{36}$/.test(secret) && checksum(secret.slice(0, -6)) === secret.slice(-6)
}

/** CRC32 in six base62 digits. */
function checksum(text: string): string {
  let value = Bun.hash.crc32(text)
  let digits = ''
  for (let i = 0; i < 6; i++) {
    digits = BASE62[value % 62] + digits
    value = Math.floor(value / 62)
  }
  return digits
}
