// Accounts: signing up, in and out, sessions, roles, invitations.

import { Type } from '@sinclair/typebox'
import { PICTURE_CHOICES } from './channel.ts'
import type { OperationTable } from './operation.ts'
import { idOf, Listed, nullable, oneOf, PageQuery, Raw, Text, Time, type Wire } from './schema.ts'

const MailPicture = oneOf(
  PICTURE_CHOICES,
  'How the chart looks that is in the mails of one’s alerts; `off` = none is. A mail whose picture cannot be made, or is refused, goes without.',
)

const User = Type.Object(
  {
    id: idOf('usr'),
    email: Type.String(),
    name: Type.String(),
    role: oneOf(['owner', 'admin', 'member']),
    createdAt: Time,
    mailPicture: MailPicture,
  },
  { $id: 'User' },
)
export type User = Wire<typeof User>

const Session = Type.Object(
  { id: idOf('ses'), createdAt: Time, lastSeenAt: Time, userAgent: Type.String(), current: Type.Boolean() },
  { $id: 'Session' },
)
export type Session = Wire<typeof Session>

const Password = Raw(1000)
export const SIGNED_IN = { id: idOf('usr'), user: User }

export const ACCOUNTS = {
  'POST /api/auth/sign-up': {
    access: 'none',
    summary: 'Sign up and be signed in',
    description:
      'The first user owns the server. `invitation` is the code of an invitation, or of the setup link.',
    body: Type.Object({
      email: Text(254),
      password: Password,
      name: Type.Optional(Text(100)),
      invitation: Type.Optional(Text(100)),
    }),
    answer: SIGNED_IN,
  },
  'POST /api/auth/sign-in': {
    access: 'none',
    summary: 'Sign in',
    body: Type.Object({ email: Text(254), password: Password }),
    answer: SIGNED_IN,
  },
  'POST /api/auth/sign-out': {
    access: 'none',
    summary: 'Sign out',
    description:
      '`providerUrl` is where the browser may go on to end the session at the identity provider as well, if that began this one; else null.',
    answer: { providerUrl: nullable(Type.String()) },
  },
  'GET /api/auth/visitor': {
    access: 'none',
    summary: 'Who is asking, and who may sign up',
    description:
      'For pages that anybody may see: `user` is null if nobody is signed in; a token signs nobody in. `signUp` is `owner` while the server has none, then `open` or `invited`; `needsCode` says whether signing up from here takes a code. `provider` is what the identity provider is called by which one can sign in as well (`POST /api/auth/openid/start`); null if there is none. `newestEvent` is where a stream has to begin (`after`) that is to miss nothing from now on; null if nobody is signed in.',
    answer: {
      user: nullable(User),
      signUp: oneOf(['owner', 'open', 'invited']),
      needsCode: Type.Boolean(),
      provider: nullable(Type.String()),
      newestEvent: nullable(Type.String()),
    },
  },
  'GET /api/auth/session': {
    access: 'session only',
    summary: 'The session in use',
    answer: { user: User, session: nullable(Session) },
  },
  'PATCH /api/auth/user': {
    access: 'session only',
    summary: "Change one's name, or the chart in one's mails",
    body: Type.Object({ name: Type.Optional(Text(100)), mailPicture: Type.Optional(MailPicture) }),
    answer: { user: User },
  },
  'GET /api/auth/sessions': {
    access: 'session only',
    summary: 'Sessions of the caller',
    answer: Listed('sessions', Session),
  },
  'DELETE /api/auth/sessions/{id}': {
    access: 'session only',
    summary: 'End a session',
    answer: { id: idOf('ses') },
  },
  'DELETE /api/auth/sessions': {
    access: 'session only',
    summary: 'End all sessions but this one',
    answer: { ended: Type.Integer() },
  },
  'POST /api/auth/password': {
    access: 'session only',
    summary: 'Change the password',
    description:
      'Ends every session; the answer carries a new cookie. An account that has none yet gives no `password`, and must have signed in within the last ten minutes.',
    body: Type.Object({ password: Type.Optional(Password), newPassword: Password }),
    answer: SIGNED_IN,
  },
  'GET /api/auth/users': {
    access: 'session only',
    summary: 'List accounts',
    description: 'Only the owner.',
    query: PageQuery,
    answer: Listed('users', User),
  },
  'PATCH /api/auth/users/{id}': {
    access: 'session only',
    summary: 'Give a role',
    description:
      "Only the owner. What an admin imports is everybody's, and admins change and delete what is everybody's; a member's imports are the member's own.",
    body: Type.Object({ role: oneOf(['admin', 'member']) }),
    answer: { user: User },
  },
  'POST /api/auth/invitations': {
    access: 'session only',
    summary: 'Invite somebody',
    description: 'Only the owner. The link works once, for a week.',
    answer: { code: Type.String(), expiresAt: Time, url: Type.String() },
  },
} as const satisfies OperationTable
