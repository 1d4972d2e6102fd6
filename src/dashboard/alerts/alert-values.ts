// What the form of an alert begins with, and what it sends.

import type { Alert } from '../../wire/alert.ts'
import type { Args } from '../../wire/operations.ts'
import { toDateTime } from '../editor/input-model.ts'
import { intervalText } from '../format.ts'
import type { Crossing } from '../studies/crossings.ts'
import { market, type AlertWish } from '../workspace.ts'
import type { KnownWays } from './alert-ways.tsx'
import { needs } from './alert-model.ts'

export type AlertValues = ReturnType<typeof startOf>

/** The script that the form was opened with, which may have to be stored first. */
export const SUBJECT = 'subject'

const text = (value: number | null | undefined): string =>
  value === null || value === undefined ? '' : String(value)

/** `first`: what of the wish's script is waited for. */
export function startOf({ alert, subject, ...wish }: AlertWish, first: Crossing | undefined) {
  const of: Partial<Alert> = alert ?? wish
  const from = alert ?? wish.market ?? market.peek()
  const ofSubject = subject ? (subject.kind === 'strategy' && !first ? 'strategy' : 'indicator') : undefined
  const which: 'all' | 'chosen' = alert?.webhookIds.length ? 'chosen' : 'all'
  return {
    name: of.name ?? '',
    symbol: `${from.exchange}:${from.symbol}`,
    interval: intervalText(from.interval),
    kind: of.kind ?? ofSubject ?? 'price',
    op: of.op ?? 'crossing',
    price: text(of.price ?? first?.level),
    price2: text(of.price2),
    percent: text(of.percent),
    bars: text(of.bars ?? 10),
    scriptId: of.scriptId ?? (subject ? SUBJECT : ''),
    inputs: of.inputs ?? subject?.inputs ?? {},
    plot: of.plot ?? first?.plot ?? '',
    frequency: of.frequency ?? 'once',
    message: of.message ?? '',
    cooldownSec: text(of.cooldownSec ?? 0),
    expiresAt: toDateTime(of.expiresAt),
    // Until somebody chooses, it is as the ways are that there are.
    email: alert ? alert.channels.includes('email') : null,
    webhook: alert?.channels.includes('webhook') ?? false,
    which,
    webhookIds: of.webhookIds ?? [],
    channelIds: of.channelIds ?? [],
    escalateTo: of.escalation?.channelId ?? '',
    escalateAfter: text(of.escalation?.minutes ?? 10),
  }
}

type Body = NonNullable<Args<'POST /api/platform/alerts'>['body']>

/** Throws what is wrong as a sentence. A receiver that has been deleted since is dropped. */
export function bodyOf(
  values: AlertValues,
  emails: boolean,
  { webhooks, channels }: KnownWays,
  scriptId: string | null,
): Body {
  const { kind, op } = values
  const withOperator = needs.operator(kind)
  const hooks = values.webhookIds.filter((id) => !webhooks || webhooks.some((one) => one.id === id))
  if (values.webhook && values.which === 'chosen' && hooks.length === 0)
    throw new Error('Choose at least one webhook, or all of them.')
  const minutes = Number(values.escalateAfter)
  if (values.escalateTo !== '' && !(Number.isInteger(minutes) && minutes >= 1 && minutes <= 1440))
    throw new Error('Say after how many minutes another channel is told: 1 to 1,440.')
  const colon = values.symbol.indexOf(':')
  const number = (value: string) => (value.trim() === '' ? null : Number(value))
  const isThere = (id: string) => !channels || channels.some((one) => one.id === id)
  return {
    name: values.name,
    symbol: values.symbol.slice(colon + 1).trim(),
    exchange: colon < 0 ? '' : values.symbol.slice(0, colon).trim(),
    interval: values.interval,
    kind,
    ...(withOperator && { op }),
    price: withOperator && !needs.percent(op) ? number(values.price) : null,
    price2: withOperator && needs.channel(op) ? number(values.price2) : null,
    percent: withOperator && needs.percent(op) ? number(values.percent) : null,
    ...(needs.bars(op) && { bars: Number(values.bars) }),
    scriptId: needs.script(kind) ? scriptId : null,
    inputs: needs.script(kind) ? values.inputs : {},
    plot: kind === 'indicator' ? values.plot : '',
    frequency: values.frequency,
    message: values.message,
    cooldownSec: Number(values.cooldownSec) || 0,
    expiresAt: values.expiresAt === '' ? null : Date.parse(`${values.expiresAt}Z`),
    channels: [...(emails ? ['email' as const] : []), ...(values.webhook ? ['webhook' as const] : [])],
    webhookIds: values.webhook && values.which === 'chosen' ? hooks : [],
    channelIds: values.channelIds.filter(isThere),
    escalation:
      values.escalateTo === '' || !isThere(values.escalateTo)
        ? null
        : { channelId: values.escalateTo, minutes },
  }
}
