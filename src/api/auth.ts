// Signing up, in and out; the caller's sessions; the password.

import { cookie } from '@elysiajs/cookie'
import { Elysia } from 'elysia'
import { users, type Session, type User } from '../accounts/accounts.ts'
import {
  endOtherSessions,
  endSession,
  endSessionById,
  listSessions,
  SESSION_LIFE_MS,
  startSession,
} from '../accounts/sessions.ts'
import {
  authenticate,
  changeName,
  changePassword,
  giveRole,
  invite,
  listUsers,
  signUp,
  type InvitationMade,
} from '../accounts/users.ts'
import { Problem } from '../lib/problem.ts'
import { basePath } from './deps.ts'
import type { User as UserWire, Session as SessionWire } from '../wire/account.ts'
import type { AnswerOf } from '../wire/operations.ts'
import { access, sessionCookieName, type ApiDeps } from './access.ts'
import type { Caller, Visit } from './visit.ts'
import { listed, pageOf } from './fields.ts'
import { route } from './route.ts'

const USERS_LISTED = 500

/** Attributes of the cookie under both http and https. The plugin sends one Set-Cookie per answer, which is enough. */
const cookies = (path: string) =>
  cookie({ httpOnly: true, sameSite: 'strict', path: path || '/' }).as('scoped')
type SetCookie = (name: string, value: string, options: { secure: boolean; maxAge: number }) => void

export function authRoutes(deps: ApiDeps) {
  const { settings } = deps
  const path = basePath(settings)

  // A public address means that a proxy is in front, so every request seems to come from this machine.
  const isLocal = ({ peer }: Visit): boolean => peer.local && settings.publicUrl === null

  async function signedInAs(user: User, visit: Visit, request: Request, setCookie: SetCookie) {
    // Ends the session that was open: signing in must not leave an older secret valid (session fixation).
    if (visit.caller?.via === 'session') await endSession(deps, visit.caller.session)
    const { secret } = await startSession(deps, user, request.headers.get('user-agent') ?? '')
    writeCookie(setCookie, visit, path, secret)
    return { id: user.id, user: userWire(user) }
  }

  return new Elysia({ prefix: '/api/auth', tags: ['Accounts'], normalize: false })
    .use(access(deps))
    .use(cookies(path))
    .post(
      '/sign-up',
      async ({ body, visit, request, setCookie }) => {
        const policy = { open: settings.signUpOpen, local: isLocal(visit), setupCode: deps.setupCode }
        const user = await signUp(deps, body, policy)
        return signedInAs(user, visit, request, setCookie)
      },
      route('POST /api/auth/sign-up', { sameOrigin: true }),
    )
    .post(
      '/sign-in',
      async ({ body, visit, request, setCookie }) =>
        signedInAs(await authenticate(deps, body.email, body.password), visit, request, setCookie),
      route('POST /api/auth/sign-in', { sameOrigin: true }),
    )
    .post(
      '/sign-out',
      async ({ visit, setCookie }) => {
        if (visit.caller?.via === 'session') await endSession(deps, visit.caller.session)
        setCookie(sessionCookieName(visit.peer.https, path), '', { secure: visit.peer.https, maxAge: 0 })
        return {}
      },
      route('POST /api/auth/sign-out', { sameOrigin: true }),
    )
    .get(
      '/visitor',
      async ({ visit }) => {
        const signUp = await signUpState(deps)
        const user = visit.caller?.via === 'session' ? userWire(visit.caller.user) : null
        const needsCode = signUp === 'owner' ? !isLocal(visit) : signUp === 'invited'
        return { user, signUp, needsCode, newestEvent: user && deps.newestEvent() }
      },
      route('GET /api/auth/visitor'),
    )
    .get(
      '/session',
      ({ caller }) => ({
        user: userWire(caller.user),
        session: caller.via === 'session' ? sessionWire(caller.session, caller) : null,
      }),
      route('GET /api/auth/session'),
    )
    .patch(
      '/user',
      async ({ caller, body }) => ({ user: userWire(await changeName(deps, caller.user.id, body.name)) }),
      route('PATCH /api/auth/user'),
    )
    .get(
      '/sessions',
      async ({ caller }) => ({
        sessions: (await listSessions(deps, caller.user)).map((session) => sessionWire(session, caller)),
        nextCursor: null,
      }),
      route('GET /api/auth/sessions'),
    )
    .delete(
      '/sessions/:id',
      async ({ caller, params }) => {
        await endSessionById(deps, caller.user, params.id)
        return { id: params.id }
      },
      route('DELETE /api/auth/sessions/{id}'),
    )
    .delete(
      '/sessions',
      async ({ caller }) => ({ ended: await endOtherSessions(deps, caller.user, ownSession(caller)) }),
      route('DELETE /api/auth/sessions'),
    )
    .post(
      '/password',
      async ({ caller, body, visit, request, setCookie }) => {
        const passwords = { current: body.password, next: body.newPassword }
        return signedInAs(await changePassword(deps, caller.user, passwords), visit, request, setCookie)
      },
      route('POST /api/auth/password', { sameOrigin: true }),
    )
    .get(
      '/users',
      async ({ caller, query }) =>
        listed('users', await listUsers(deps, caller.user, pageOf(query, USERS_LISTED)), userWire),
      route('GET /api/auth/users'),
    )
    .patch(
      '/users/:id',
      async ({ caller, params: { id }, body: { role } }) => {
        const user = await giveRole(deps, caller.user, id, role)
        deps.log('info', 'a role was given', { by: caller.user.id, user: id, role })
        return { user: userWire(user) }
      },
      route('PATCH /api/auth/users/{id}'),
    )
    .post(
      '/invitations',
      ({ caller, request, once }) => {
        const base = settings.publicUrl ?? new URL(request.url).origin
        return once(
          ({ code, expiresAt }: InvitationMade) => ({
            code,
            expiresAt,
            url: `${base}/sign-up?invitation=${code}`,
          }),
          (also) => invite(deps, caller.user, also),
        )
      },
      route('POST /api/auth/invitations', { secret: true }),
    )
}

function writeCookie(setCookie: SetCookie, { peer }: Visit, path: string, secret: string): void {
  setCookie(sessionCookieName(peer.https, path), secret, {
    secure: peer.https,
    maxAge: SESSION_LIFE_MS / 1000,
  })
}

async function signUpState({ kv, settings }: ApiDeps): Promise<AnswerOf<'GET /api/auth/visitor'>['signUp']> {
  if ((await users(kv).count('all', [])) === 0) return 'owner'
  return settings.signUpOpen ? 'open' : 'invited'
}

function ownSession(caller: Caller): Session {
  if (caller.via === 'session') return caller.session
  throw new Problem(403, 'session_required', 'An access token has no session.')
}

function userWire({ id, email, name, role, createdAt }: User): UserWire {
  return { id, email, name, role, createdAt }
}

function sessionWire({ id, createdAt, lastSeenAt, userAgent }: Session, caller: Caller): SessionWire {
  return {
    id,
    createdAt,
    lastSeenAt,
    userAgent,
    current: caller.via === 'session' && caller.session.id === id,
  }
}
