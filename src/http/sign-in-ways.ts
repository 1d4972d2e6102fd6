// Signing in by an identity provider and with passkeys; the ways that an account has.

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
import { type ApiDeps, perServer } from './access.ts'
import { bodyBytes } from './body.ts'
import type { Routes } from './route.ts'
import { ownSession, signedIn, signUpPolicy } from './signed-in.ts'
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

const awayOn = perServer((deps) => new Tickets<Away>(deps, 'an identity provider'))

function providerOf({ identityProvider }: ApiDeps): IdentityProvider {
  if (identityProvider) return identityProvider
  throw new Problem(404, 'not_found', 'This server has no identity provider (OIDC_ISSUER).')
}

async function leaveFor(
  deps: ApiDeps,
  visit: Visit,
  request: Request,
  who: Pick<Away, 'userId' | 'invitation'>,
) {
  const base = deps.settings.publicUrl ?? originOf(null, visit, request)
  const { url, attempt } = await providerOf(deps).begin(`${base}/sign-in`)
  return { url, ticket: await awayOn(deps).give({ ...attempt, ...who }) }
}

export const SIGN_IN_WAY_ROUTES: Routes = {
  'GET /api/auth/ways': async ({ deps, caller, visit, request }) => ({
    password: caller.user.passwordHash !== null,
    provider: deps.identityProvider?.settings.name ?? null,
    passkeysRefused: whyNoPasskeys(originOf(deps.settings.publicUrl, visit, request)),
    identities: (await identitiesOf(deps, caller.user.id)).map(identityWire),
    passkeys: (await passkeysOf(deps, caller.user.id)).map(passkeyWire),
  }),
  'POST /api/auth/openid/start': {
    sameOrigin: true,
    handle: ({ deps, body, visit, request }) =>
      leaveFor(deps, visit, request, { userId: null, invitation: body.invitation ?? null }),
  },
  'POST /api/auth/openid/sign-in': {
    sameOrigin: true,
    handle: async ({ deps, body, visit, request, setCookie }) => {
      const { userId, invitation, ...attempt } = await awayOn(deps).read(body.ticket)
      if (userId !== null) throw otherTicket()
      const claims = await providerOf(deps).finish(attempt, new URLSearchParams(body.callback))
      const user = await userOfClaims(deps, providerOf(deps).settings, claims, {
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
          also: async (tx) => [await awayOn(deps).spend(tx, body.ticket)],
        },
      )
    },
  },
  'POST /api/auth/openid/backchannel-logout': {
    streams: true,
    requestBody: {
      required: true,
      content: {
        [FORM]: { schema: { type: 'object', properties: { logout_token: { type: 'string' } } } },
      },
    },
    handle: async ({ deps, request }) => {
      const known = providerOf(deps)
      const bytes = Buffer.concat(await bodyBytes(request, LOGOUT_BYTES, { types: [FORM] }))
      const [token = '', ...more] = new URLSearchParams(bytes.toString()).getAll('logout_token')
      if (more.length > 0)
        throw new Problem(400, 'logout_refused', 'The form has more than one logout_token. Send exactly one.')
      const over = await known.loggedOut(token)
      const ended = await endLoggedOut(deps, over)
      deps.log('info', 'somebody has signed out at the identity provider', { sessions: ended })
      return {}
    },
  },
  'POST /api/auth/identities/start': {
    sameOrigin: true,
    handle: async ({ deps, caller, body, visit, request }) => {
      await confirmUser(deps, caller.user, ownSession(caller), body.password)
      return leaveFor(deps, visit, request, { userId: caller.user.id, invitation: null })
    },
  },
  'POST /api/auth/identities': {
    sameOrigin: true,
    handle: async ({ deps, caller, body }) => {
      const { userId, invitation: _, ...attempt } = await awayOn(deps).read(body.ticket)
      if (userId !== caller.user.id) throw otherTicket()
      const claims = await providerOf(deps).finish(attempt, new URLSearchParams(body.callback))
      const identity = await linkIdentity(deps, caller.user, claims, (tx) =>
        awayOn(deps).spend(tx, body.ticket),
      )
      deps.log('info', 'an identity was linked', { user: caller.user.id, identity: identity.id })
      return { id: identity.id, identity: identityWire(identity) }
    },
  },
  'DELETE /api/auth/identities/{id}': async ({ deps, caller, params: { id } }) => {
    await removeIdentity(deps, { user: caller.user, id, issuer: issuerOf(deps) })
    deps.log('info', 'an identity was unlinked', { user: caller.user.id, identity: id })
    return { id }
  },
  'POST /api/auth/passkeys/start': {
    sameOrigin: true,
    handle: async ({ deps, caller, body, visit, request }) => {
      await confirmUser(deps, caller.user, ownSession(caller), body.password)
      const begun = await beginPasskey(deps, caller.user, originOf(deps.settings.publicUrl, visit, request))
      return { options: { ...begun.options }, ticket: begun.ticket }
    },
  },
  'POST /api/auth/passkeys': {
    sameOrigin: true,
    handle: async ({ deps, caller, body }) => {
      const passkey = await addPasskey(deps, caller.user, body)
      deps.log('info', 'a passkey was added', { user: caller.user.id, passkey: passkey.id })
      return { id: passkey.id, passkey: passkeyWire(passkey) }
    },
  },
  'PATCH /api/auth/passkeys/{id}': async ({ deps, caller, params: { id }, body }) => ({
    passkey: passkeyWire(await renamePasskey(deps, caller.user, id, body.name)),
  }),
  'DELETE /api/auth/passkeys/{id}': async ({ deps, caller, params: { id } }) => {
    await removePasskey(deps, { user: caller.user, id, issuer: issuerOf(deps) })
    deps.log('info', 'a passkey was removed', { user: caller.user.id, passkey: id })
    return { id }
  },
  'POST /api/auth/passkey/start': {
    sameOrigin: true,
    handle: async ({ deps, visit, request }) => {
      const begun = await beginSignIn(deps, originOf(deps.settings.publicUrl, visit, request))
      return { options: { ...begun.options }, ticket: begun.ticket }
    },
  },
  'POST /api/auth/passkey/sign-in': {
    sameOrigin: true,
    handle: async ({ deps, body, visit, request, setCookie }) => {
      const { user, also } = await userOfPasskey(deps, body)
      return signedIn(deps, user, { visit, request, setCookie }, { way: 'passkey', also })
    },
  },
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

const issuerOf = ({ identityProvider }: ApiDeps): string | null => identityProvider?.issuer ?? null

function otherTicket(): Problem {
  return new Problem(410, 'sign_in_expired', 'This was begun for something else. Begin again.')
}

function identityWire({ id, issuer, email, createdAt, lastUsedAt }: Identity): IdentityWire {
  return { id, issuer, email, createdAt, lastUsedAt }
}

function passkeyWire({ id, name, host, isSynced, createdAt, lastUsedAt }: Passkey): PasskeyWire {
  return { id, name, host, isSynced, createdAt, lastUsedAt }
}
