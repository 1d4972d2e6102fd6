// Users: signing up, signing in, changing the password.
//
// The first user owns the server. Over loopback anybody may become that user; from elsewhere it takes the setup code that
// the console printed. After that sign-up is closed, unless the operator opened it (`SIGNUP=open`) or the owner sent an
// invitation.

import { memoOf } from '../../lib/memo.ts'
import { invalidField, Problem } from '../../lib/problem.ts'
import { longerThan } from '../../lib/text.ts'
import { sha256 } from '../../lib/sha256.ts'
import type { Page, PageOptions } from '../../store/collection.ts'
import type { Reader } from '../../store/kv.ts'
import { decide, NameTaken, transact, type Also, type Changes } from '../../store/transaction.ts'
import {
  invitations,
  sessions,
  users,
  type AccountDeps,
  type GivenRole,
  type Role,
  type Session,
  type User,
} from './accounts.ts'
import { isCommonPassword } from './common-passwords.ts'
import { countAttempt, forgetFailures } from './throttle.ts'

export interface SignUp {
  readonly email: string
  readonly password: string
  readonly name?: string | undefined
  /** A setup code or an invitation. */
  readonly invitation?: string | undefined
}

export interface SignUpPolicy {
  readonly open: boolean
  /** Whether the request came over loopback. */
  readonly local: boolean
  /** The setup code that the console printed; null once there is an owner. */
  readonly setupCode: string | null
}

/** In characters. */
const PASSWORD_MAX = 1000
const INVITATION_LIFE_MS = 7 * 24 * 3600_000

/** Creates a user from a sign-up; the caller starts the session. */
export async function signUp(deps: AccountDeps, request: SignUp, policy: SignUpPolicy): Promise<User> {
  // Checked before hashing, so that a refusal costs nothing, and again in the transaction, which decides.
  await admit(deps, deps.kv, request, policy)
  checkEmail(request.email)
  await checkPassword(request.password)
  const passwordHash = await deps.passwords.hash(request.password)
  return enrol(deps, { ...request, passwordHash }, policy)
}

interface Newcomer extends Pick<SignUp, 'email' | 'name' | 'invitation'> {
  readonly passwordHash: string | null
}

/** Creates a user whose address and password are checked. `also` is written together with the user. */
export async function enrol(
  deps: AccountDeps,
  newcomer: Newcomer,
  policy: SignUpPolicy,
  also?: Also<User>,
): Promise<User> {
  const { kv, clock } = deps
  const id = deps.newId('usr')
  const email = newcomer.email.trim()
  try {
    return await decide(kv, async (tx) => {
      const entrance = await admit(deps, tx, newcomer, policy)
      const user: User = {
        id,
        email,
        emailKey: emailKey(email),
        name: newcomer.name?.trim() || (email.split('@')[0] ?? ''),
        role: entrance.role,
        passwordHash: newcomer.passwordHash,
        createdAt: clock.now(),
      }
      return [user, [users(kv).insert(user), entrance.changes, also?.(user, tx)]]
    })
  } catch (error) {
    if (error instanceof NameTaken && error.index === 'email')
      throw new Problem(
        409,
        'already_exists',
        'There is an account with this e-mail address already. Sign in instead.',
      )
    throw error
  }
}

/** Creates a user even if sign-up is closed. Only for the command line, which has the data directory. */
export async function addUser(deps: AccountDeps, request: SignUp): Promise<User> {
  return signUp(deps, request, { open: true, local: true, setupCode: null })
}

interface Entrance {
  readonly role: Role
  readonly changes: Changes
}

/**
 * The role of this sign-up. Throws Problem if it is not permitted. In a transaction, only one of two first users becomes the
 * owner.
 */
async function admit(
  { kv, clock }: AccountDeps,
  reader: Reader,
  request: Pick<SignUp, 'invitation'>,
  policy: SignUpPolicy,
): Promise<Entrance> {
  const first = (await users(kv).at(reader).count('all', [])) === 0
  if (first) {
    const invited = policy.setupCode !== null && request.invitation === policy.setupCode
    if (policy.local || invited) return { role: 'owner', changes: {} }
    throw new Problem(
      403,
      'setup_required',
      'This server has no owner yet. Open the setup link that it printed on its console, or sign up from the same machine.',
    )
  }
  if (request.invitation !== undefined) {
    const stored = await invitations(kv)
      .at(reader)
      .findStored('hash', [sha256(request.invitation)])
    if (stored && stored.record.expiresAt > clock.now())
      return { role: 'member', changes: invitations(kv).remove(stored) }
    if (!policy.open)
      throw new Problem(
        403,
        'signup_closed',
        'This invitation was used already, has expired, or was never made.',
      )
  }
  if (policy.open) return { role: 'member', changes: {} }
  throw new Problem(
    403,
    'signup_closed',
    'Sign-up is closed on this server. Ask its owner for an invitation.',
  )
}

export interface InvitationMade {
  readonly code: string
  readonly expiresAt: number
}

/** A code that lets one person sign up within a week. Shown once. */
export async function invite(
  deps: AccountDeps,
  user: User,
  also?: Also<InvitationMade>,
): Promise<InvitationMade> {
  if (user.role !== 'owner') throw ownerRequired('invite')
  const code = Buffer.from(deps.random.bytes(24)).toString('base64url')
  const createdAt = deps.clock.now()
  const expiresAt = createdAt + INVITATION_LIFE_MS
  const invitation = { id: deps.newId('inv'), hash: sha256(code), createdBy: user.id, createdAt, expiresAt }
  const made = { code, expiresAt }
  await transact(deps.kv, (tx) => [invitations(deps.kv).insert(invitation), also?.(made, tx)])
  return made
}

/** Whether this user may change shared series and symbols. */
export function mayChangeShared({ role }: Pick<User, 'role'>): boolean {
  return role === 'owner' || role === 'admin'
}

/** All users, for the owner. */
export function listUsers({ kv }: AccountDeps, by: User, page: PageOptions): Promise<Page<User>> {
  if (by.role !== 'owner') throw ownerRequired('see the accounts')
  return users(kv).list('all', [], { ...page, reverse: false })
}

/** Makes a user an admin or a member again, from their next request on. */
export async function giveRole(deps: AccountDeps, by: User, id: string, role: GivenRole): Promise<User> {
  if (by.role !== 'owner') throw ownerRequired('give roles')
  return setRole(deps, id, role)
}

/** The same without checking the caller. Only for the command line, which has the data directory. */
export async function setRole({ kv }: AccountDeps, id: string, role: GivenRole): Promise<User> {
  const changed = await users(kv).update(id, (user) => {
    if (user.role === 'owner')
      throw new Problem(409, 'conflict', 'The owner stays the owner; there is no other.')
    return { ...user, role }
  })
  if (!changed) throw userNotFound()
  return changed
}

function ownerRequired(what: string): Problem {
  return new Problem(403, 'owner_required', `Only the owner of this server can ${what}.`)
}

/** The user with this e-mail address and password. Takes the same time and says the same whether the user exists. */
export async function authenticate(deps: AccountDeps, email: string, password: string): Promise<User> {
  const key = emailKey(email)
  const user = await users(deps.kv).find('email', [key])
  await countAttempt(deps, key, user !== null).catch((error: unknown) => {
    // When the store is full, a failure for an unknown address is not counted, but answered like any other.
    if (user || !(error instanceof Problem) || error.code !== 'storage_full') throw error
  })
  // An account without a password has nobody's either.
  const hash = user?.passwordHash ?? (await decoyOf(deps.passwords))
  const right = (await deps.passwords.verify(password, hash)) && user?.passwordHash !== null
  if (user && right) {
    await forgetFailures(deps, key)
    return user
  }
  throw new Problem(401, 'invalid_credentials', 'E-mail address or password is wrong.')
}

/** The name is shown beside public scripts and ideas; older ones keep the name they were published under. */
export async function changeUser(
  deps: AccountDeps,
  userId: string,
  changes: Partial<Pick<User, 'name' | 'mailPicture'>>,
): Promise<User> {
  const changed = await users(deps.kv).update(userId, (user) => ({ ...user, ...changes }))
  if (!changed) throw userNotFound()
  return changed
}

/** Ends all sessions of the user. Returns the user. `session` counts where the account has no password yet. */
export async function changePassword(
  deps: AccountDeps,
  user: User,
  { current, next }: { readonly current?: string | undefined; readonly next: string },
  session: Session | null = null,
): Promise<User> {
  await confirmUser(deps, user, session, current)
  return setPassword(deps, user.id, next)
}

async function checkCurrent(deps: AccountDeps, user: User, current: string): Promise<void> {
  await authenticate(deps, user.email, current).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'invalid_credentials')
      throw new Problem(401, 'invalid_credentials', 'The current password is wrong.')
    throw error
  })
}

/** How old a session may be that proves by itself who is there, where an account has no password. */
const FRESH_MS = 10 * 60_000

/**
 * Throws unless it is really the user who is about to get another way to sign in, and not somebody with their open
 * browser: by the password, or where there is none, by having signed in just now.
 */
export async function confirmUser(
  deps: AccountDeps,
  user: User,
  session: Session | null,
  password: string | undefined,
): Promise<void> {
  if (user.passwordHash === null) {
    if (session && deps.clock.now() - session.createdAt < FRESH_MS) return
    throw new Problem(
      403,
      'confirmation_required',
      'You signed in more than ten minutes ago. Sign out and in again, and then do this.',
    )
  }
  if (password === undefined)
    throw invalidField('/password', 'required', 'Give your password, so that it is certain that it is you.')
  await checkCurrent(deps, user, password)
}

/** Sets a password and ends all sessions of the user. Returns the user. */
export async function setPassword(deps: AccountDeps, userId: string, password: string): Promise<User> {
  await checkPassword(password, '/newPassword')
  const passwordHash = await deps.passwords.hash(password)
  const [people, open] = [users(deps.kv), sessions(deps.kv)]
  return decide(deps.kv, async (tx) => {
    const stored = await people.at(tx).stored(userId)
    if (!stored) throw userNotFound()
    const user: User = { ...stored.record, passwordHash }
    await open.at(tx).count('opened', [userId])
    const ids = await Array.fromAsync(open.at(tx).each('user', [userId]), ({ id }) => id)
    const ended = (await open.at(tx).storedMany(ids)).map((session) => open.remove(session))
    return [user, [people.replace(stored, user), ...ended]]
  })
}

export const userNotFound = () => new Problem(404, 'user_not_found', 'There is no such user.')

/** NFC and lower case: what a person means by "the same address". */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}

export function isEmail(text: string): boolean {
  return !longerThan(text, 254) && /^[^\s@<>,;:"()[\]\\]{1,64}@[^\s@<>,;:"()[\]\\]+$/u.test(text)
}

function checkEmail(email: string): void {
  if (!isEmail(email.trim())) throw invalidField('/email', 'email', 'Expected an e-mail address.')
}

async function checkPassword(password: string, path = '/password'): Promise<void> {
  const refused = (why: string) => invalidField(path, 'password', why)
  // Length counts, and that it is not a common one (NIST SP 800-63B); the upper bound prevents
  // hashing megabytes.
  const length = Array.from(password).length
  if (length < 8) throw refused('A password has at least 8 characters.')
  if (length > PASSWORD_MAX) throw refused(`A password has at most ${PASSWORD_MAX} characters.`)
  if (await isCommonPassword(password))
    throw refused('This password is one of the 10,000 most used, which are tried first. Choose another.')
}

/** A hash that belongs to nobody, made once for each hasher, so that an unknown user costs as much time as a known one. */
const decoyOf = memoOf((passwords: AccountDeps['passwords']) => passwords.hash('the password of nobody'))
