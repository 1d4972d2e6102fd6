// Signing in by an identity provider and with passkeys; the ways that an account has.

import { Elysia } from 'elysia'
import { subjectKey, type Identity, type Passkey } from '../people/accounts/accounts.ts'
import { endLoggedOut, identitiesOf, linkIdentity, userOfClaims } from '../people/accounts/identities.ts'
import type { IdentityProvider, OpenIdAttempt } from '../people/accounts/openid.ts'
import {
  addPasskey,
  beginPasskey,
  beginSignIn,
  passkeysOf,
  renamePasskey,
  userOfPasskey,
  whyNoPasskeys,
} from '../people/accounts/passkeys.ts'
import { removeIdentity, removePasskey } from '../people/accounts/sign-in-ways.ts'
import { Tickets } from '../people/accounts/tickets.ts'
import { confirmUser } from '../people/accounts/users.ts'
import { Problem } from '../lib/problem.ts'
import type { Identity as IdentityWire, Passkey as PasskeyWire } from '../wire/sign-in-way.ts'
import { access, type ApiDeps } from './access.ts'
import { bodyBytes } from './body.ts'
import { basePath } from './deps.ts'
import { route } from './route.ts'
import { cookies, ownSession, signedIn, signUpPolicy } from './signed-in.ts'
import type { Visit } from './visit.ts'

/** What is sealed while a user is at the identity provider. */
interface Away extends OpenIdAttempt {
  /** Whose identity it will be; null = who comes back signs in. */
  readonly userId: string | null
  readonly invitation: string | null
}

const FORM = 'application/x-www-form-urlencoded'
/** More than any logout token has. */
const LOGOUT_BYTES = 16 * 1024

export function signInWayRoutes(deps: ApiDeps) {
  const { settings, identityProvider } = deps
  const issuer = identityProvider?.issuer ?? null
  const away = new Tickets<Away>(deps, 'an identity provider')

  const provider = (): IdentityProvider => {
    if (identityProvider) return identityProvider
    throw new Problem(404, 'not_found', 'This server has no identity provider (OIDC_ISSUER).')
  }

  async function leaveFor(visit: Visit, request: Request, who: Pick<Away, 'userId' | 'invitation'>) {
    const { url, attempt } = await provider().begin(`${baseOf(visit, request)}/sign-in`)
    return { url, ticket: await away.give({ ...attempt, ...who }) }
  }

  /** With the path of a proxy, without a final slash. */
  const baseOf = (visit: Visit, request: Request): string =>
    settings.publicUrl ?? originOf(settings.publicUrl, visit, request)

  return new Elysia({ prefix: '/api/auth', tags: ['Accounts'], normalize: false })
    .use(access(deps))
    .use(cookies(basePath(settings)))
    .get(
      '/ways',
      async ({ caller, visit, request }) => ({
        password: caller.user.passwordHash !== null,
        provider: identityProvider?.settings.name ?? null,
        passkeysRefused: whyNoPasskeys(originOf(settings.publicUrl, visit, request)),
        identities: (await identitiesOf(deps, caller.user.id)).map(identityWire),
        passkeys: (await passkeysOf(deps, caller.user.id)).map(passkeyWire),
      }),
      route('GET /api/auth/ways'),
    )
    .post(
      '/openid/start',
      ({ body, visit, request }) =>
        leaveFor(visit, request, { userId: null, invitation: body.invitation ?? null }),
      route('POST /api/auth/openid/start', { sameOrigin: true }),
    )
    .post(
      '/openid/sign-in',
      async ({ body, visit, request, setCookie }) => {
        const { userId, invitation, ...attempt } = await away.read(body.ticket)
        if (userId !== null) throw otherTicket()
        const claims = await provider().finish(attempt, new URLSearchParams(body.callback))
        const user = await userOfClaims(deps, provider().settings, claims, {
          policy: signUpPolicy(deps, visit),
          ...(invitation !== null && { invitation }),
        })
        return signedIn(
          deps,
          user,
          { visit, request, setCookie },
          {
            way: 'openid',
            ...(claims.sid !== null && { providerSession: subjectKey(claims.issuer, claims.sid) }),
            also: async (tx) => [await away.spend(tx, body.ticket)],
          },
        )
      },
      route('POST /api/auth/openid/sign-in', { sameOrigin: true }),
    )
    .post(
      '/openid/backchannel-logout',
      async ({ request }) => {
        const known = provider()
        const bytes = Buffer.concat(await bodyBytes(request, LOGOUT_BYTES, { types: [FORM] }))
        const [token = '', ...more] = new URLSearchParams(bytes.toString()).getAll('logout_token')
        if (more.length > 0)
          throw new Problem(
            400,
            'logout_refused',
            'The form has more than one logout_token. Send exactly one.',
          )
        const over = await known.loggedOut(token)
        const ended = await endLoggedOut(deps, over)
        deps.log('info', 'somebody has signed out at the identity provider', { sessions: ended })
        return {}
      },
      route('POST /api/auth/openid/backchannel-logout', {
        streams: true,
        requestBody: {
          required: true,
          content: {
            [FORM]: { schema: { type: 'object', properties: { logout_token: { type: 'string' } } } },
          },
        },
      }),
    )
    .post(
      '/identities/start',
      async ({ caller, body, visit, request }) => {
        await confirmUser(deps, caller.user, ownSession(caller), body.password)
        return leaveFor(visit, request, { userId: caller.user.id, invitation: null })
      },
      route('POST /api/auth/identities/start', { sameOrigin: true }),
    )
    .post(
      '/identities',
      async ({ caller, body }) => {
        const { userId, invitation: _, ...attempt } = await away.read(body.ticket)
        if (userId !== caller.user.id) throw otherTicket()
        const claims = await provider().finish(attempt, new URLSearchParams(body.callback))
        const identity = await linkIdentity(deps, caller.user, claims, (tx) => away.spend(tx, body.ticket))
        deps.log('info', 'an identity was linked', { user: caller.user.id, identity: identity.id })
        return { id: identity.id, identity: identityWire(identity) }
      },
      route('POST /api/auth/identities', { sameOrigin: true }),
    )
    .delete(
      '/identities/:id',
      async ({ caller, params: { id } }) => {
        await removeIdentity(deps, { user: caller.user, id, issuer })
        deps.log('info', 'an identity was unlinked', { user: caller.user.id, identity: id })
        return { id }
      },
      route('DELETE /api/auth/identities/{id}'),
    )
    .post(
      '/passkeys/start',
      async ({ caller, body, visit, request }) => {
        await confirmUser(deps, caller.user, ownSession(caller), body.password)
        const begun = await beginPasskey(deps, caller.user, originOf(settings.publicUrl, visit, request))
        return { options: { ...begun.options }, ticket: begun.ticket }
      },
      route('POST /api/auth/passkeys/start', { sameOrigin: true }),
    )
    .post(
      '/passkeys',
      async ({ caller, body }) => {
        const passkey = await addPasskey(deps, caller.user, body)
        deps.log('info', 'a passkey was added', { user: caller.user.id, passkey: passkey.id })
        return { id: passkey.id, passkey: passkeyWire(passkey) }
      },
      route('POST /api/auth/passkeys', { sameOrigin: true }),
    )
    .patch(
      '/passkeys/:id',
      async ({ caller, params: { id }, body }) => ({
        passkey: passkeyWire(await renamePasskey(deps, caller.user, id, body.name)),
      }),
      route('PATCH /api/auth/passkeys/{id}'),
    )
    .delete(
      '/passkeys/:id',
      async ({ caller, params: { id } }) => {
        await removePasskey(deps, { user: caller.user, id, issuer })
        deps.log('info', 'a passkey was removed', { user: caller.user.id, passkey: id })
        return { id }
      },
      route('DELETE /api/auth/passkeys/{id}'),
    )
    .post(
      '/passkey/start',
      async ({ visit, request }) => {
        const begun = await beginSignIn(deps, originOf(settings.publicUrl, visit, request))
        return { options: { ...begun.options }, ticket: begun.ticket }
      },
      route('POST /api/auth/passkey/start', { sameOrigin: true }),
    )
    .post(
      '/passkey/sign-in',
      async ({ body, visit, request, setCookie }) => {
        const { user, also } = await userOfPasskey(deps, body)
        return signedIn(deps, user, { visit, request, setCookie }, { way: 'passkey', also })
      },
      route('POST /api/auth/passkey/sign-in', { sameOrigin: true }),
    )
}

/**
 * Where the browser sees the page. With PUBLIC_URL it is either there, or at the server's own address: what the browser itself
 * says decides between the two, and is believed in nothing else.
 */
function originOf(publicUrl: string | null, { peer }: Visit, request: Request): string {
  const own = `${peer.https ? 'https' : 'http'}://${peer.host}`
  if (publicUrl === null) return own
  return request.headers.get('origin')?.toLowerCase() === own ? own : new URL(publicUrl).origin
}

function otherTicket(): Problem {
  return new Problem(410, 'sign_in_expired', 'This was begun for something else. Begin again.')
}

function identityWire({ id, issuer, email, createdAt, lastUsedAt }: Identity): IdentityWire {
  return { id, issuer, email, createdAt, lastUsedAt }
}

function passkeyWire({ id, name, host, isSynced, createdAt, lastUsedAt }: Passkey): PasskeyWire {
  return { id, name, host, isSynced, createdAt, lastUsedAt }
}
