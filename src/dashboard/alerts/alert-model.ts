// An alert's condition, channels and state as sentences.

import { intervalMs, parseInterval } from '../../market/interval.ts'
import type { Alert, Firing, Operator } from '../../wire/alert.ts'
import { OPERATOR_WORDS } from '../../wire/operator-words.ts'
import { counted, quantity, time } from '../format.ts'

export const KINDS = [
  ['price', 'Price'],
  ['volume', 'Volume'],
  ['change', 'Change in %'],
  ['indicator', 'An indicator'],
  ['script', 'alert() in a script'],
  ['strategy', 'Orders of a strategy'],
] as const

/** What an alert has to say by its operator, or by its kind. */
export const needs = {
  channel: (op: string): boolean => op.endsWith('_channel'),
  percent: (op: string): boolean => op.endsWith('_pct'),
  bars: (op: string): boolean => op.startsWith('moving_'),
  script: (kind: string): boolean => ['indicator', 'script', 'strategy'].includes(kind),
  operator: (kind: string): boolean => kind !== 'script' && kind !== 'strategy',
} as const

const OPS = Object.keys(OPERATOR_WORDS) as readonly Operator[]
export const OPERATORS = OPS.map(
  (op) => [op, `${OPERATOR_WORDS[op][0]}${needs.percent(op) ? ' %' : ''}`] as const,
)

export const FREQUENCIES = [
  ['once', 'Once'],
  ['once_per_bar', 'Once a bar'],
  ['once_per_bar_close', 'Once a bar, at its close'],
  ['once_per_minute', 'Once a minute'],
  ['every_time', 'On each bar where it holds'],
] as const

const number = (value: number | null): string => (value === null ? '?' : quantity(value))

/** `Price crosses above 4,200`, `Volume is above 1,000,000`. */
export function conditionText(
  alert: Pick<Alert, 'kind' | 'op' | 'price' | 'price2' | 'percent' | 'bars' | 'plot'>,
): string {
  const { kind, op, price, price2, percent, bars, plot } = alert
  if (kind === 'script') return 'The script calls alert()'
  if (kind === 'strategy') return 'The strategy’s order fills'
  const subject =
    kind === 'indicator' ? plot || 'The first plot' : (KINDS.find(([id]) => id === kind)?.[1] ?? kind)
  if (op === null) return subject
  const [verb] = OPERATOR_WORDS[op]
  if (needs.channel(op)) return `${subject} ${verb} ${number(price)} to ${number(price2)}`
  const within = needs.bars(op) ? ` within ${counted(bars, 'bar')}` : ''
  if (needs.percent(op)) return `${subject} ${verb} ${number(percent)}%${within}`
  return `${subject} ${verb} ${number(price)}${within}`
}

/** The name, with its levels as prices are written: the server's own has them as other programs read them, `2850`. */
export const nameText = ({ name, price, price2 }: Pick<Alert, 'name' | 'price' | 'price2'>): string =>
  name
    .split(' ')
    .map((word) => (word === String(price) || word === String(price2) ? number(Number(word)) : word))
    .join(' ')

/**
 * The symbol that is meant by what was typed, with its exchange, of those there are; or what is missing, as a sentence. One of
 * which nothing is known here may be watched as well, by its whole name.
 */
export function symbolMeant(typed: string, names: readonly string[]): { name: string; problem?: string } {
  const name = typed.trim()
  if (name === '' || name.includes(':')) return { name }
  const wanted = name.toUpperCase()
  const found = names.filter((one) => one.slice(one.indexOf(':') + 1).startsWith(wanted))
  const exact = found.filter((one) => one.endsWith(`:${wanted}`))
  const fit = exact.length > 0 ? exact : found
  if (fit.length === 1) return { name: fit[0]! }
  const problem =
    fit.length === 0
      ? 'Write its exchange too, like NASDAQ:AAPL.'
      : `Which one: ${fit.slice(0, 3).join(', ')}${fit.length > 3 ? ', …' : ''}?`
  return { name, problem }
}

/** A level of an alert, which is a line on the chart; what moves by an amount has none. */
export interface AlertLevel {
  readonly field: 'price' | 'price2'
  readonly price: number
}

export function levelsOf(alert: Pick<Alert, 'kind' | 'op' | AlertLevel['field']>): readonly AlertLevel[] {
  const { kind, op } = alert
  if (kind !== 'price' || op === null || needs.bars(op)) return []
  const fields = needs.channel(op) ? (['price', 'price2'] as const) : (['price'] as const)
  return fields.flatMap((field) => (alert[field] === null ? [] : [{ field, price: alert[field] }]))
}

/** `to e-mail, 2 webhooks, a channel`, or that it is only listed here, as one by e-mail is where the server sends none. */
export function destinationsText(
  { channels, webhookIds, channelIds }: Pick<Alert, 'channels' | 'webhookIds' | 'channelIds'>,
  mails: boolean,
): string {
  const [hooks, others] = [webhookIds.length, channelIds.length]
  const all = [
    channels.includes('email') && mails && 'e-mail',
    channels.includes('webhook') && (hooks === 0 ? 'all webhooks' : counted(hooks, 'webhook')),
    others > 0 && (others === 1 ? 'a channel' : `${others} channels`),
  ].filter(Boolean)
  return all.length > 0 ? `to ${all.join(', ')}` : LISTED
}
export const LISTED = 'only listed here'

/** By what a firing is told, behind its market: nothing by mail where the server sends none. */
export const toldText = (channels: Firing['channels'], mails: boolean): string =>
  channels.flatMap((one) => (one !== 'email' ? [` · ${one}`] : mails ? [' · e-mail'] : [])).join('')

const DAY_MS = 86_400_000

/** The time of a bar that had closed long before it fired, as that of an import. */
export function barText({ barTime, firedAt, interval }: Firing, zone: string): string {
  const parsed = parseInterval(interval)
  const length = parsed ? intervalMs(parsed) : 0
  return firedAt - barTime < 2 * length + DAY_MS
    ? ''
    : ` · bar of ${time(barTime, zone || 'UTC', length < DAY_MS)}`
}

/** Whether it waits for its condition. */
export const isOn = ({ state }: Pick<Alert, 'state'>): boolean => state === 'active' || state === 'throttled'

/** Placeholders in messages, which the server replaces. */
export const PLACEHOLDERS = ['{{ticker}}', '{{interval}}', '{{close}}', '{{volume}}', '{{time}}'] as const
