// Signing up, in and out; the sessions of the caller; the password.

import { cookie } from '@elysiajs/cookie'
import { Type, type Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { GIVEN_ROLES, ROLES, users, type Session, type User } from '../accounts/accounts.ts'
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
  PASSWORD_MAX,
  signUp,
  type InvitationMade,
} from '../accounts/users.ts'
import { Problem } from '../lib/problem.ts'
import { basePath } from './deps.ts'
import { access, sessionCookieName, type ApiDeps, type Caller, type Visit } from './access.ts'
import { doc, idOf, Listed, listed, nullable, oneOf, PageQuery, pageOf, Text, Time, Raw } from './schemas.ts'

export const UserWire = Type.Object(
  { id: idOf('usr'), email: Type.String(), name: Type.String(), role: oneOf(ROLES), createdAt: Time },
  { $id: 'User' },
)
export const SessionWire = Type.Object(
  { id: idOf('ses'), createdAt: Time, lastSeenAt: Time, userAgent: Type.String(), current: Type.Boolean() },
  { $id: 'Session' },
)
const USERS_LISTED = 500
const SIGN_UPS = ['owner', 'open', 'invited'] as const
const Password = Raw(PASSWORD_MAX)
const signedIn = { id: idOf('usr'), user: UserWire }

/** How the cookie is set, whatever the scheme; the plugin sends one Set-Cookie an answer, which is all we need. */
const cookies = (path: string) =>
  cookie({ httpOnly: true, sameSite: 'strict', path: path || '/' }).as('scoped')
type SetCookie = (name: string, value: string, options: { secure: boolean; maxAge: number }) => void

export function authRoutes(deps: ApiDeps) {
  const { settings } = deps
  const path = basePath(settings)

  // With a public address there is a proxy in front, and then everybody comes from this machine.
  const isLocal = ({ peer }: Visit): boolean => peer.local && settings.publicUrl === null

  async function signedInAs(user: User, visit: Visit, request: Request, setCookie: SetCookie) {
    // A session that was open already is over: signing in must not leave an older secret alive (session fixation).
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
      {
        access: { to: 'none', sameOrigin: true },
        body: Type.Object({
          email: Text(254),
          password: Password,
          name: Type.Optional(Text(100)),
          invitation: Type.Optional(Text(100)),
        }),
        detail: doc(
          'Sign up and be signed in',
          signedIn,
          'The first user owns the server. `invitation` is the code of an invitation, or of the setup link.',
        ),
      },
    )
    .post(
      '/sign-in',
      async ({ body, visit, request, setCookie }) =>
        signedInAs(await authenticate(deps, body.email, body.password), visit, request, setCookie),
      {
        access: { to: 'none', sameOrigin: true },
        body: Type.Object({ email: Text(254), password: Password }),
        detail: doc('Sign in', signedIn),
      },
    )
    .post(
      '/sign-out',
      async ({ visit, setCookie }) => {
        if (visit.caller?.via === 'session') await endSession(deps, visit.caller.session)
        setCookie(sessionCookieName(visit.peer.https, path), '', { secure: visit.peer.https, maxAge: 0 })
        return {}
      },
      { access: { to: 'none', sameOrigin: true }, detail: doc('Sign out') },
    )
    .get(
      '/visitor',
      ({ visit }) => {
        const signUp = signUpState(deps)
        const user = visit.caller?.via === 'session' ? userWire(visit.caller.user) : null
        const needsCode = signUp === 'owner' ? !isLocal(visit) : signUp === 'invited'
        return { user, signUp, needsCode }
      },
      {
        access: 'none',
        detail: doc(
          'Who is asking, and who may sign up',
          { user: nullable(UserWire), signUp: oneOf(SIGN_UPS), needsCode: Type.Boolean() },
          'For pages that are shown to anybody: `user` is null where nobody is signed in; a token signs nobody in. `signUp` is `owner` while the server has none, then `open` or `invited`; `needsCode` says whether it takes a code from where one is.',
        ),
      },
    )
    .get(
      '/session',
      ({ caller }) => ({
        user: userWire(caller.user),
        session: caller.via === 'session' ? sessionWire(caller.session, caller) : null,
      }),
      {
        access: 'session only',
        detail: doc('The session in use', { user: UserWire, session: nullable(SessionWire) }),
      },
    )
    .patch(
      '/user',
      async ({ caller, body }) => ({ user: userWire(await changeName(deps, caller.user.id, body.name)) }),
      {
        access: 'session only',
        body: Type.Object({ name: Text(100) }),
        detail: doc("Change one's name", { user: UserWire }),
      },
    )
    .get(
      '/sessions',
      ({ caller }) => ({
        sessions: listSessions(deps, caller.user).map((session) => sessionWire(session, caller)),
        nextCursor: null,
      }),
      {
        access: 'session only',
        detail: doc('Sessions of the caller', { sessions: Type.Array(SessionWire) }),
      },
    )
    .delete(
      '/sessions/:id',
      async ({ caller, params }) => {
        await endSessionById(deps, caller.user, params.id)
        return { id: params.id }
      },
      { access: 'session only', detail: doc('End a session', { id: idOf('ses') }) },
    )
    .delete(
      '/sessions',
      async ({ caller }) => ({ ended: await endOtherSessions(deps, caller.user, ownSession(caller)) }),
      { access: 'session only', detail: doc('End all sessions but this one', { ended: Type.Integer() }) },
    )
    .post(
      '/password',
      async ({ caller, body, visit, request, setCookie }) => {
        await changePassword(deps, caller.user, { current: body.password, next: body.newPassword })
        return signedInAs(caller.user, visit, request, setCookie)
      },
      {
        access: { to: 'session only', sameOrigin: true },
        body: Type.Object({ password: Password, newPassword: Password }),
        detail: doc('Change the password', signedIn, 'Ends every session; the answer carries a new cookie.'),
      },
    )
    .get(
      '/users',
      ({ caller, query }) =>
        listed('users', listUsers(deps, caller.user, pageOf(query, USERS_LISTED)), userWire),
      {
        access: 'session only',
        query: Type.Object(PageQuery),
        detail: doc('List accounts', Listed('users', UserWire), 'Only the owner.'),
      },
    )
    .patch(
      '/users/:id',
      async ({ caller, params: { id }, body: { role } }) => {
        const user = await giveRole(deps, caller.user, id, role)
        deps.log('info', 'a role was given', { by: caller.user.id, user: id, role })
        return { user: userWire(user) }
      },
      {
        access: 'session only',
        body: Type.Object({ role: oneOf(GIVEN_ROLES) }),
        detail: doc(
          'Give a role',
          { user: UserWire },
          "Only the owner. What an admin imports is everybody's, and admins change and delete what is everybody's; a member's imports are the member's own.",
        ),
      },
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
      {
        access: { to: 'session only', secret: true },
        detail: doc(
          'Invite somebody',
          { code: Type.String(), expiresAt: Time, url: Type.String() },
          'Only the owner. The link works once, for a week.',
        ),
      },
    )
}

function writeCookie(setCookie: SetCookie, { peer }: Visit, path: string, secret: string): void {
  setCookie(sessionCookieName(peer.https, path), secret, {
    secure: peer.https,
    maxAge: SESSION_LIFE_MS / 1000,
  })
}

function signUpState({ kv, settings }: ApiDeps): (typeof SIGN_UPS)[number] {
  if (users(kv).count('all', []) === 0) return 'owner'
  return settings.signUpOpen ? 'open' : 'invited'
}

function ownSession(caller: Caller): Session {
  if (caller.via === 'session') return caller.session
  throw new Problem(403, 'session_required', 'An access token has no session.')
}

export function userWire({ id, email, name, role, createdAt }: User): Static<typeof UserWire> {
  return { id, email, name, role, createdAt }
}

function sessionWire(
  { id, createdAt, lastSeenAt, userAgent }: Session,
  caller: Caller,
): Static<typeof SessionWire> {
  return {
    id,
    createdAt,
    lastSeenAt,
    userAgent,
    current: caller.via === 'session' && caller.session.id === id,
  }
}
