// What every way of signing in ends with: a new session and its cookie.

import { cookie } from '@elysiajs/cookie'
import type { Session, User } from '../people/accounts/accounts.ts'
import { endSession, SESSION_LIFE_MS, startSession } from '../people/accounts/sessions.ts'
import type { SignUpPolicy } from '../people/accounts/users.ts'
import { Problem } from '../lib/problem.ts'
import type { User as UserWire } from '../wire/account.ts'
import { sessionCookieName, type ApiDeps } from './access.ts'
import { basePath } from './deps.ts'
import type { Caller, Visit } from './visit.ts'

/** Attributes of the cookie under both http and https. The plugin sends one Set-Cookie per answer, which is enough. */
export const cookies = ({ settings }: ApiDeps) =>
  cookie({ httpOnly: true, sameSite: 'strict', path: basePath(settings) || '/' }).as('scoped')

export type SetCookie = (name: string, value: string, options: { secure: boolean; maxAge: number }) => void

interface Asked {
  readonly visit: Visit
  readonly request: Request
  readonly setCookie: SetCookie
}

/** Starts a session of the user; `how` as `startSession` has it. */
export async function signedIn(
  deps: ApiDeps,
  user: User,
  { visit, request, setCookie }: Asked,
  how: Parameters<typeof startSession>[3] = {},
) {
  // Ends the session that was open: signing in must not leave an older secret valid (session fixation).
  if (visit.caller?.via === 'session') await endSession(deps, visit.caller.session)
  const { secret } = await startSession(deps, user, request.headers.get('user-agent') ?? '', how)
  setCookie(sessionCookieName(visit.peer.https, basePath(deps.settings)), secret, {
    secure: visit.peer.https,
    maxAge: SESSION_LIFE_MS / 1000,
  })
  return { id: user.id, user: userWire(user) }
}

/** A public address means that a proxy is in front, so every request seems to come from this machine. */
export function isLocal({ settings }: ApiDeps, { peer }: Visit): boolean {
  return peer.local && settings.publicUrl === null
}

export function signUpPolicy(deps: ApiDeps, visit: Visit): SignUpPolicy {
  return { open: deps.settings.signUpOpen, local: isLocal(deps, visit), setupCode: deps.setupCode }
}

export function ownSession(caller: Caller): Session {
  if (caller.via === 'session') return caller.session
  throw new Problem(403, 'session_required', 'An access token has no session.')
}

export function userWire({ id, email, name, role, createdAt, mailPicture = 'dark' }: User): UserWire {
  return { id, email, name, role, createdAt, mailPicture }
}
