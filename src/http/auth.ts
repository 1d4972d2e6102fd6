// Signing up, in and out; the caller's sessions; the password.

import { Elysia } from 'elysia'
import { users, type Session } from '../people/accounts/accounts.ts'
import { endOtherSessions, endSession, endSessionById, listSessions } from '../people/accounts/sessions.ts'
import {
  authenticate,
  changeUser,
  changePassword,
  giveRole,
  invite,
  listUsers,
  signUp,
  type InvitationMade,
} from '../people/accounts/users.ts'
import { basePath } from './deps.ts'
import type { Session as SessionWire } from '../wire/account.ts'
import type { AnswerOf } from '../wire/operations.ts'
import { access, sessionCookieName, type ApiDeps } from './access.ts'
import type { Caller, Visit } from './visit.ts'
import { listed, pageOf } from './fields.ts'
import { route } from './route.ts'
import { cookies, isLocal, ownSession, signedIn, signUpPolicy, userWire } from './signed-in.ts'

const USERS_LISTED = 500

export function authRoutes(deps: ApiDeps) {
  const { settings } = deps
  const path = basePath(settings)

  /** Where a session that an identity provider began ends there, too. */
  async function providerUrl({ caller, peer }: Visit): Promise<string | null> {
    if (caller?.via !== 'session' || caller.session.way !== 'openid') return null
    const base = settings.publicUrl ?? `${peer.https ? 'https' : 'http'}://${peer.host}`
    return (await deps.identityProvider?.signOutUrl(`${base}/sign-in`)) ?? null
  }

  return new Elysia({ prefix: '/api/auth', tags: ['Accounts'], normalize: false })
    .use(access(deps))
    .use(cookies(path))
    .post(
      '/sign-up',
      async ({ body, visit, request, setCookie }) => {
        const user = await signUp(deps, body, signUpPolicy(deps, visit))
        return signedIn(deps, user, { visit, request, setCookie })
      },
      route('POST /api/auth/sign-up', { sameOrigin: true }),
    )
    .post(
      '/sign-in',
      async ({ body, visit, request, setCookie }) =>
        signedIn(deps, await authenticate(deps, body.email, body.password), { visit, request, setCookie }),
      route('POST /api/auth/sign-in', { sameOrigin: true }),
    )
    .post(
      '/sign-out',
      async ({ visit, setCookie }) => {
        if (visit.caller?.via === 'session') await endSession(deps, visit.caller.session)
        setCookie(sessionCookieName(visit.peer.https, path), '', { secure: visit.peer.https, maxAge: 0 })
        return { providerUrl: await providerUrl(visit) }
      },
      route('POST /api/auth/sign-out', { sameOrigin: true }),
    )
    .get(
      '/visitor',
      async ({ visit }) => {
        const signUp = await signUpState(deps)
        const user = visit.caller?.via === 'session' ? userWire(visit.caller.user) : null
        const needsCode = signUp === 'owner' ? !isLocal(deps, visit) : signUp === 'invited'
        const provider = deps.identityProvider?.settings.name ?? null
        return { user, signUp, needsCode, provider, newestEvent: user && deps.newestEvent() }
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
      async ({ caller, body }) => ({ user: userWire(await changeUser(deps, caller.user.id, body)) }),
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
        const user = await changePassword(deps, caller.user, passwords, ownSession(caller))
        return signedIn(deps, user, { visit, request, setCookie })
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

async function signUpState({ kv, settings }: ApiDeps): Promise<AnswerOf<'GET /api/auth/visitor'>['signUp']> {
  if ((await users(kv).count('all', [])) === 0) return 'owner'
  return settings.signUpOpen ? 'open' : 'invited'
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
