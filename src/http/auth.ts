// Signing up, in and out; the caller's sessions; the password.

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
import { sessionCookieName, type ApiDeps } from './access.ts'
import type { Caller, Visit } from './visit.ts'
import { listed, pageOf } from './fields.ts'
import type { Routes } from './route.ts'
import { isLocal, ownSession, signedIn, signUpPolicy, userWire } from './signed-in.ts'

const USERS_LISTED = 500

/** Where a session that an identity provider began ends there, too. */
async function providerUrl(deps: ApiDeps, { caller, peer }: Visit): Promise<string | null> {
  if (caller?.via !== 'session' || caller.session.way !== 'openid') return null
  const base = deps.settings.publicUrl ?? `${peer.https ? 'https' : 'http'}://${peer.host}`
  return (await deps.identityProvider?.signOutUrl(`${base}/sign-in`)) ?? null
}

export const AUTH_ROUTES: Routes = {
  'POST /api/auth/sign-up': {
    sameOrigin: true,
    handle: async ({ deps, body, visit, request, setCookie }) => {
      const user = await signUp(deps, body, signUpPolicy(deps, visit))
      return signedIn(deps, user, { visit, request, setCookie })
    },
  },
  'POST /api/auth/sign-in': {
    sameOrigin: true,
    handle: async ({ deps, body, visit, request, setCookie }) =>
      signedIn(deps, await authenticate(deps, body.email, body.password), { visit, request, setCookie }),
  },
  'POST /api/auth/sign-out': {
    sameOrigin: true,
    handle: async ({ deps, visit, setCookie }) => {
      if (visit.caller?.via === 'session') await endSession(deps, visit.caller.session)
      setCookie(sessionCookieName(visit.peer.https, basePath(deps.settings)), '', {
        secure: visit.peer.https,
        maxAge: 0,
      })
      return { providerUrl: await providerUrl(deps, visit) }
    },
  },
  'GET /api/auth/visitor': async ({ deps, visit }) => {
    const signUp = await signUpState(deps)
    const user = visit.caller?.via === 'session' ? userWire(visit.caller.user) : null
    const needsCode = signUp === 'owner' ? !isLocal(deps, visit) : signUp === 'invited'
    const provider = deps.identityProvider?.settings.name ?? null
    return { user, signUp, needsCode, provider, newestEvent: user && deps.events.newest }
  },
  'GET /api/auth/session': ({ caller }) => ({
    user: userWire(caller.user),
    session: caller.via === 'session' ? sessionWire(caller.session, caller) : null,
  }),
  'PATCH /api/auth/user': async ({ deps, caller, body }) => ({
    user: userWire(await changeUser(deps, caller.user.id, body)),
  }),
  'GET /api/auth/sessions': async ({ deps, caller }) => ({
    sessions: (await listSessions(deps, caller.user)).map((session) => sessionWire(session, caller)),
    nextCursor: null,
  }),
  'DELETE /api/auth/sessions/{id}': async ({ deps, caller, params }) => {
    await endSessionById(deps, caller.user, params.id)
    return { id: params.id }
  },
  'DELETE /api/auth/sessions': async ({ deps, caller }) => ({
    ended: await endOtherSessions(deps, caller.user, ownSession(caller)),
  }),
  'POST /api/auth/password': {
    sameOrigin: true,
    handle: async ({ deps, caller, body, visit, request, setCookie }) => {
      const passwords = { current: body.password, next: body.newPassword }
      const user = await changePassword(deps, caller.user, passwords, ownSession(caller))
      return signedIn(deps, user, { visit, request, setCookie })
    },
  },
  'GET /api/auth/users': async ({ deps, caller, query }) =>
    listed('users', await listUsers(deps, caller.user, pageOf(query, USERS_LISTED)), userWire),
  'PATCH /api/auth/users/{id}': async ({ deps, caller, params: { id }, body: { role } }) => {
    const user = await giveRole(deps, caller.user, id, role)
    deps.log('info', 'a role was given', { by: caller.user.id, user: id, role })
    return { user: userWire(user) }
  },
  'POST /api/auth/invitations': {
    secret: true,
    handle: ({ deps, caller, request, once }) => {
      const base = deps.settings.publicUrl ?? new URL(request.url).origin
      return once(
        ({ code, expiresAt }: InvitationMade) => ({
          code,
          expiresAt,
          url: `${base}/sign-up?invitation=${code}`,
        }),
        (also) => invite(deps, caller.user, also),
      )
    },
  },
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
