// Signing in without a password: by an identity provider (OpenID Connect), and with passkeys (WebAuthn).

import { Type } from '@sinclair/typebox'
import { SIGNED_IN } from './account.ts'
import type { OperationTable } from './operation.ts'
import { idOf, nullable, Raw, Text, Time, type Wire } from './schema.ts'

const Identity = Type.Object(
  {
    id: idOf('idn'),
    issuer: Type.String(),
    email: nullable(Type.String()),
    createdAt: Time,
    lastUsedAt: nullable(Time),
  },
  { $id: 'Identity' },
)
export type Identity = Wire<typeof Identity>

const Passkey = Type.Object(
  {
    id: idOf('pk'),
    name: Type.String(),
    host: Type.String({ description: 'The host name that it belongs to; it opens no other.' }),
    isSynced: Type.Boolean({ description: 'Whether its maker keeps a copy for other devices of the user.' }),
    createdAt: Time,
    lastUsedAt: nullable(Time),
  },
  { $id: 'Passkey' },
)
export type Passkey = Wire<typeof Passkey>

const Ticket = Raw(8000)
const Callback = Raw(8000)
const Password = Type.Optional(Raw(1000))
const Name = Text(100)
const Credential = Type.Record(Type.String(), Type.Unknown(), {
  description: 'What `PublicKeyCredential.toJSON()` answers in the browser.',
})
const Options = Type.Record(Type.String(), Type.Unknown(), {
  description: 'For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`.',
})

const TICKET =
  '`ticket` holds what the server has to know in the second step, sealed: any server on the same database takes it, for ten minutes and once.'
const CONFIRM =
  'An account with a password gives it again in `password`; one without must have signed in within the last ten minutes (403 `confirmation_required`).'

export const SIGN_IN_WAYS = {
  'GET /api/auth/ways': {
    access: 'session only',
    summary: 'The ways to sign in',
    description:
      '`password` says whether the account has one. `provider` is what the identity provider of this server is called; null if it has none. `passkeysRefused` says in a sentence why this page can have no passkeys; null if it can.',
    answer: {
      password: Type.Boolean(),
      provider: nullable(Type.String()),
      passkeysRefused: nullable(Type.String()),
      identities: Type.Array(Identity),
      passkeys: Type.Array(Passkey),
    },
  },
  'POST /api/auth/openid/start': {
    access: 'none',
    summary: 'Begin to sign in at the identity provider',
    description: `Send the browser to \`url\`; it comes back to /sign-in of this server, and what stands behind the question mark there is the \`callback\` of the second step. ${TICKET} \`invitation\` is for somebody who has no account yet.`,
    body: Type.Object({ invitation: Type.Optional(Text(100)) }),
    answer: { url: Type.String(), ticket: Type.String() },
  },
  'POST /api/auth/openid/sign-in': {
    access: 'none',
    summary: 'Sign in with what the identity provider says',
    description:
      'The identity is found by issuer and subject. One that is new here is linked to the account of its e-mail address if the provider has verified the address, sign-up is not open to everybody, and the account has no identity of this provider yet. Nobody has the address: an account is made if OIDC_SIGNUP is open or an invitation came. Otherwise 403 `account_not_linked`. Where OIDC_ADMIN_GROUPS is set, the groups give the role at every sign-in.',
    body: Type.Object({ ticket: Ticket, callback: Callback }),
    answer: SIGNED_IN,
  },
  'POST /api/auth/openid/backchannel-logout': {
    access: 'none',
    summary: 'Be told that somebody has signed out at the identity provider',
    description:
      'For the provider: OpenID Connect Back-Channel Logout 1.0, a form with `logout_token`. Ends the sessions that were begun by the provider: those of the session there that `sid` names, and else all of `sub`. A token that does not hold, or came before, is refused (400 `logout_refused`).',
    answer: {},
  },
  'POST /api/auth/identities/start': {
    access: 'session only',
    summary: 'Begin to link an identity',
    description: `As \`POST /api/auth/openid/start\`, for the account that is signed in. ${CONFIRM}`,
    body: Type.Object({ password: Password }),
    answer: { url: Type.String(), ticket: Type.String() },
  },
  'POST /api/auth/identities': {
    access: 'session only',
    summary: 'Link an identity',
    description: 'Whatever its e-mail address: the user has asked for it while signed in.',
    body: Type.Object({ ticket: Ticket, callback: Callback }),
    answer: { id: idOf('idn'), identity: Identity },
  },
  'DELETE /api/auth/identities/{id}': {
    access: 'session only',
    summary: 'Unlink an identity',
    description: 'Not the last way to sign in: 409 `last_sign_in_way`. Sessions stay.',
    answer: { id: idOf('idn') },
  },
  'POST /api/auth/passkeys/start': {
    access: 'session only',
    summary: 'Begin to add a passkey',
    description: `${TICKET} ${CONFIRM} Pages that came neither over https nor from localhost have no passkeys: 409 \`passkeys_unavailable\`.`,
    body: Type.Object({ password: Password }),
    answer: { options: Options, ticket: Type.String() },
  },
  'POST /api/auth/passkeys': {
    access: 'session only',
    summary: 'Add a passkey',
    body: Type.Object({ ticket: Ticket, name: Name, credential: Credential }),
    answer: { id: idOf('pk'), passkey: Passkey },
  },
  'PATCH /api/auth/passkeys/{id}': {
    access: 'session only',
    summary: 'Rename a passkey',
    body: Type.Object({ name: Name }),
    answer: { passkey: Passkey },
  },
  'DELETE /api/auth/passkeys/{id}': {
    access: 'session only',
    summary: 'Remove a passkey',
    description: 'Not the last way to sign in: 409 `last_sign_in_way`. Sessions stay.',
    answer: { id: idOf('pk') },
  },
  'POST /api/auth/passkey/start': {
    access: 'none',
    summary: 'Begin to sign in with a passkey',
    description: TICKET,
    answer: { options: Options, ticket: Type.String() },
  },
  'POST /api/auth/passkey/sign-in': {
    access: 'none',
    summary: 'Sign in with a passkey',
    description:
      'Failures of one passkey count as wrong passwords of an account do. A counter that does not grow is refused: somebody has a copy.',
    body: Type.Object({ ticket: Ticket, credential: Credential }),
    answer: SIGNED_IN,
  },
} as const satisfies OperationTable
