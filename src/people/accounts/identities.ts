// Whom an identity provider means: the user who has the identity, the one who is linked to it now, or a new one.
//
// An identity is found by issuer and subject, never by its address. An address links only where the provider has verified
// it, where accounts here are made by the owner or an invitation (where anybody may sign up, somebody else could have done so
// with the address), and where the account has no identity of this provider yet (an address that is given to another person
// must not open the account of the first). Everything else is the act of a user who is signed in.

import { Problem } from '../../lib/problem.ts'
import { cutText, textFault } from '../../lib/text.ts'
import { decide, NameTaken, transact, type Changes, type Tx } from '../../store/transaction.ts'
import {
  identities,
  sessions,
  subjectKey,
  users,
  type AccountDeps,
  type Identity,
  type User,
} from './accounts.ts'
import type { Claims, LoggedOut, OpenIdSettings } from './openid.ts'
import { spendOnce } from './tickets.ts'
import { emailKey, enrol, isEmail, userNotFound, type SignUpPolicy } from './users.ts'

const NAME_MAX = 100
/** `lastUsedAt` and the address are for people to look at. */
const EMAIL_MAX = 254

/** The user that the claims mean, with the role that their groups give. Throws 403 if they may not come in. */
export async function userOfClaims(
  deps: AccountDeps,
  settings: OpenIdSettings,
  claims: Claims,
  request: { readonly policy: SignUpPolicy; readonly invitation?: string | undefined },
): Promise<User> {
  checkGroups(settings, claims)
  const known = await identities(deps.kv).find('subject', [subjectKey(claims.issuer, claims.subject)])
  if (known) {
    await noteUse(deps, known, claims)
    return withRole(deps, known.userId, settings, claims)
  }
  const email = verifiedEmail(settings, claims)
  const user = await users(deps.kv).find('email', [emailKey(email)])
  if (user) {
    await linkByEmail(deps, user, claims, request.policy)
    return withRole(deps, user.id, settings, claims)
  }
  const policy = { ...request.policy, open: request.policy.open || settings.signUpOpen }
  const newcomer = { email, name: nameOf(claims), invitation: request.invitation, passwordHash: null }
  const made = await enrol(deps, newcomer, policy, (fresh) =>
    identities(deps.kv).insert({ ...identityOf(deps, fresh.id, claims), lastUsedAt: deps.clock.now() }),
  ).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'signup_closed')
      throw new Problem(
        403,
        'account_not_linked',
        `Nobody here has the address that ${settings.name} names. Ask the owner of this server for an invitation, or sign in with your password and link ${settings.name} in the settings.`,
      )
    throw error
  })
  return withRole(deps, made.id, settings, claims)
}

/** Links an identity to the user, who asked for it while signed in. */
export async function linkIdentity(
  deps: AccountDeps,
  user: User,
  claims: Claims,
  also: (tx: Tx) => Promise<Changes>,
): Promise<Identity> {
  const key = [subjectKey(claims.issuer, claims.subject)]
  return decide(deps.kv, async (tx) => {
    const found = await identities(deps.kv).at(tx).find('subject', key)
    if (found && found.userId !== user.id)
      throw new Problem(409, 'already_exists', 'This identity belongs to another account here.')
    const linked = found ?? identityOf(deps, user.id, claims)
    return [linked, [found ? {} : identities(deps.kv).insert(linked), also(tx)]]
  })
}

/**
 * Ends the sessions that somebody began by the provider, who has signed out there: those of one session there, if it is
 * named, and of which it is not known; else all. Answers how many. Throws 400 for a message that came before.
 */
export async function endLoggedOut(
  deps: AccountDeps,
  { issuer, subject, sid, jti, until }: LoggedOut,
): Promise<number> {
  const { kv } = deps
  const key = sid === null ? null : subjectKey(issuer, sid)
  return decide(kv, async (tx) => {
    const spent = await spendOnce(deps, tx, `logout ${subjectKey(issuer, jti)}`, until)
    if (!spent) throw new Problem(400, 'logout_refused', 'This logout token was used before.')
    const identity =
      subject === null
        ? null
        : await identities(kv)
            .at(tx)
            .find('subject', [subjectKey(issuer, subject)])
    const of = sessions(kv).at(tx)
    // Read for its check: a session that begins at this moment is seen by the second try.
    if (identity) await of.count('opened', [identity.userId])
    const known = key === null ? [] : await Array.fromAsync(of.each('providerSession', [key]))
    const theirs = identity ? await Array.fromAsync(of.each('user', [identity.userId])) : []
    const over = [
      ...known.filter(({ userId }) => subject === null || userId === identity?.userId),
      ...theirs.filter(
        ({ way, providerSession }) => way === 'openid' && (key === null || providerSession === undefined),
      ),
    ]
    const stored = await of.storedMany([...new Set(over.map(({ id }) => id))])
    const changes = [spent, ...stored.map((session) => sessions(kv).remove(session))]
    // Freeing room must be possible when there is none left.
    return [stored.length, changes.map((change) => ({ ...change, essential: true }))]
  })
}

export function identitiesOf({ kv }: Pick<AccountDeps, 'kv'>, userId: string): Promise<Identity[]> {
  return Array.fromAsync(identities(kv).each('user', [userId]))
}

async function linkByEmail(
  deps: AccountDeps,
  user: User,
  claims: Claims,
  policy: SignUpPolicy,
): Promise<void> {
  const refused = new Problem(
    403,
    'account_not_linked',
    'There is an account with your address, but it is not linked. Sign in to it as you did so far, and link it in the settings.',
  )
  if (policy.open) throw refused
  await transact(deps.kv, async (tx) => {
    if (await hasIdentityOf(deps, tx, user.id, claims.issuer)) throw refused
    return identities(deps.kv).insert({
      ...identityOf(deps, user.id, claims),
      lastUsedAt: deps.clock.now(),
    })
  }).catch((error: unknown) => {
    // Two tabs come back at the same time: the other one has linked it.
    if (!(error instanceof NameTaken)) throw error
  })
}

/** The counter is read because what is added to a list goes unnoticed otherwise. */
async function hasIdentityOf({ kv }: AccountDeps, tx: Tx, userId: string, issuer: string): Promise<boolean> {
  if ((await identities(kv).at(tx).count('user', [userId])) === 0) return false
  return (await identitiesOf({ kv }, userId)).some((identity) => identity.issuer === issuer)
}

function checkGroups({ groups, adminGroups, name }: OpenIdSettings, claims: Claims): void {
  if (groups.length === 0) return
  const allowed = new Set([...groups, ...adminGroups])
  if (claims.groups?.some((group) => allowed.has(group))) return
  throw new Problem(
    403,
    'account_refused',
    claims.groups === null
      ? `${name} does not say which groups you are in, and only some may come in here. Ask who runs this server.`
      : 'None of your groups may come in here. Ask who runs this server.',
  )
}

/**
 * Where groups give roles, the provider's word counts at every sign-in; a provider that names no groups gives none. The
 * owner stays the owner.
 */
async function withRole(
  deps: AccountDeps,
  userId: string,
  { adminGroups }: OpenIdSettings,
  { groups }: Claims,
): Promise<User> {
  const role = groups?.some((group) => adminGroups.includes(group)) ? 'admin' : 'member'
  const changed = await users(deps.kv).update(userId, (user) =>
    adminGroups.length === 0 || user.role === 'owner' || user.role === role ? null : { ...user, role },
  )
  const user = changed ?? (await users(deps.kv).get(userId))
  if (!user) throw userNotFound()
  return user
}

function verifiedEmail({ name }: OpenIdSettings, { email, isEmailVerified }: Claims): string {
  if (email !== null && isEmailVerified && isEmail(email.trim())) return email.trim()
  throw new Problem(
    403,
    'account_not_linked',
    email === null
      ? `${name} does not name your e-mail address. Sign in with your password, and link ${name} in the settings.`
      : `${name} has not verified your e-mail address, so it links no account. Verify it there, or sign in with your password and link ${name} in the settings.`,
  )
}

function identityOf(deps: AccountDeps, userId: string, { issuer, subject, email }: Claims): Identity {
  return {
    id: deps.newId('idn'),
    userId,
    issuer,
    subject,
    email: email === null ? null : cutText(email, EMAIL_MAX),
    createdAt: deps.clock.now(),
    lastUsedAt: null,
  }
}

async function noteUse(deps: AccountDeps, { id }: Identity, { email }: Claims): Promise<void> {
  const now = deps.clock.now()
  await identities(deps.kv).update(id, (before) => ({
    ...before,
    email: email === null ? before.email : cutText(email, EMAIL_MAX),
    lastUsedAt: now,
  }))
}

/** A name that the dashboard would not have accepted is left out. */
function nameOf({ name }: Claims): string | undefined {
  const cut = cutText((name ?? '').trim().normalize('NFC'), NAME_MAX)
  return textFault(cut, { form: 'line', minLength: 1, maxLength: NAME_MAX }) === null ? cut : undefined
}
