// Links in messages of alerts: what each does, without a sign-in.

import { Type } from '@sinclair/typebox'
import { Alert } from './alert.ts'
import type { OperationTable } from './operation.ts'
import { oneOf, Raw, Time, type Wire } from './schema.ts'

export const LINK_ACTIONS = ['pause', 'acknowledge'] as const
export type LinkAction = (typeof LINK_ACTIONS)[number]

const AlertLink = Type.Object(
  {
    action: oneOf(LINK_ACTIONS),
    name: Type.String({ description: 'Of the alert.' }),
    symbol: Type.String(),
    exchange: Type.String(),
    interval: Type.String(),
    message: Type.String({ description: 'What it told.' }),
    firedAt: Time,
    state: Alert.properties.state,
    isDone: Type.Boolean({ description: 'There is nothing left for the link to do.' }),
    until: Time,
  },
  { $id: 'AlertLink' },
)
export type AlertLink = Wire<typeof AlertLink>

const Token = Type.Object({ token: Raw(1000) })

export const LINKS = {
  'POST /api/links/show': {
    access: 'none',
    summary: 'What a link of a message would do',
    description: 'Changes nothing. `token` is what stands behind the `#` of the link.',
    body: Token,
    answer: { link: AlertLink },
  },
  'GET /api/links/pictures/{token}': {
    access: 'none',
    summary: 'The chart of an alert that a message shows',
    description:
      'A PNG of the bars up to the one that fired. The address is in messages alone, and is all the permission that this takes; it holds for seven days.',
  },
  'POST /api/links/follow': {
    access: 'none',
    summary: 'Do what a link of a message says',
    description:
      'Pauses the alert, or acknowledges its firing; the link is all the permission that this takes. It holds for seven days after the alert fired, and doing it again changes nothing.',
    body: Token,
    answer: { link: AlertLink },
  },
} as const satisfies OperationTable
