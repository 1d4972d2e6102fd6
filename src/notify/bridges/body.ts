// The body of a message: filled with an order, and checked by the shape that its service documents before it is kept.

import { invalidField } from '../../lib/problem.ts'
import {
  NUMBER_PLACEHOLDERS,
  ORDER_TEMPLATES,
  TEXT_PLACEHOLDERS,
  type OrderTemplate,
} from '../../wire/order-templates.ts'
import type { Bridge, BridgeOrder } from './bridge.ts'

type Values = Readonly<
  Record<(typeof TEXT_PLACEHOLDERS)[number], string> &
    Record<(typeof NUMBER_PLACEHOLDERS)[number], number | null>
>

/** What a filled body may have. */
const BODY_MOST = 32_768
const PLACEHOLDER = /\{\{\s*([a-z_.]{1,40})\s*\}\}/g
const isKnown = (name: string): name is keyof Values =>
  ([...TEXT_PLACEHOLDERS, ...NUMBER_PLACEHOLDERS] as readonly string[]).includes(name)

/** Text stands between the quotes of one JSON text, whatever it contains; the secret stays a placeholder. */
export function filledBody(bridge: Bridge, order: BridgeOrder, now: number): string {
  return filled(bridge.body, valuesOf(bridge, order, now))
}

function filled(template: string, values: Partial<Values>): string {
  return template.replace(PLACEHOLDER, (whole, name: string) => {
    const value = isKnown(name) ? values[name] : undefined
    if (value === undefined) return whole
    if (typeof value !== 'string') return String(value)
    // A brace of the text begins no placeholder of ours.
    return JSON.stringify(value)
      .slice(1, -1)
      .replaceAll('{', String.raw`\u007b`)
  })
}

export const withSecrets = (text: string, secret: string, account: string): string =>
  filled(text, { secret, account })

function valuesOf(bridge: Bridge, order: BridgeOrder, now: number): Omit<Values, 'secret'> {
  const { exchange, symbol, interval, name, account } = bridge
  const { side, qty, goal, from } = order
  return {
    ticker: symbol,
    exchange,
    interval,
    name,
    account,
    key: order.key,
    time: new Date(order.barTime).toISOString(),
    timenow: new Date(now).toISOString(),
    close: order.close,
    'strategy.order.action': side,
    'strategy.order.contracts': qty,
    'strategy.order.price': order.price,
    'strategy.order.id': order.orderId,
    'strategy.order.comment': order.comment,
    'strategy.order.alert_message': order.alertMessage,
    'strategy.market_position': sideWord(goal),
    'strategy.market_position_size': Math.abs(goal),
    'strategy.prev_market_position': sideWord(from),
    'strategy.prev_market_position_size': Math.abs(from),
    'strategy.position_size': goal,
  }
}

const sideWord = (position: number) => (position > 0 ? 'long' : position < 0 ? 'short' : 'flat')

/** A word that stands in quotes or makes no JSON. */
const SAMPLE = Object.fromEntries([
  ...TEXT_PLACEHOLDERS.map((name) => [name, 'text']),
  ...NUMBER_PLACEHOLDERS.map((name) => [name, 1]),
  ['strategy.order.action', 'buy'],
  ['strategy.market_position', 'long'],
]) as Values

/** Throws Problem 422 that names the field of the body, and what to write there. */
export function checkBody(template: OrderTemplate, body: string): void {
  const unknown = [...body.matchAll(/\{\{[^{}]{0,60}(?:\}\}|$)?/g)]
    .map(([text]) => text)
    .find((text) => !isKnown(text.replace(/^\{\{\s*|\s*\}\}$/g, '')) || !text.endsWith('}}'))
  if (unknown !== undefined)
    throw refused(
      `There is no placeholder ${unknown}. There are ${[...TEXT_PLACEHOLDERS, ...NUMBER_PLACEHOLDERS].join(', ')}, each in {{…}}.`,
    )
  const text = filled(body, SAMPLE)
  if (text.length > BODY_MOST)
    throw refused('It is too long with its placeholders filled. Use fewer of them.')
  const parsed = parsedObject(text, body)
  for (const name of template.required)
    if (parsed[name] === undefined) throw refused(`${template.label} needs the field ${name}. Add it.`)
  for (const [name, form] of Object.entries(template.fields)) {
    const value = parsed[name]
    if (value === undefined) continue
    const wanted = misfit(form, value)
    if (wanted !== null) throw refused(`The field ${name} must be ${wanted} for ${template.label}.`)
  }
}

function parsedObject(text: string, body: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as Readonly<Record<string, unknown>>
  } catch {
    const bare = TEXT_PLACEHOLDERS.find((name) =>
      new RegExp(String.raw`[:[,]\s*\{\{\s*${RegExp.escape(name)}\s*\}\}`).test(body),
    )
    if (bare !== undefined)
      throw refused(`The placeholder {{${bare}}} is a text: write it in quotes, "{{${bare}}}".`)
  }
  throw refused('It is no JSON object once its placeholders are filled. Check braces, quotes and commas.')
}

/** What the value had to be; null if it is. */
function misfit(form: OrderTemplate['fields'][string], value: unknown): string | null {
  if (form === 'text') return typeof value === 'string' && value !== '' ? null : 'a text in quotes'
  if (form === 'number') return typeof value === 'number' ? null : 'a number, without quotes'
  if (form === 'amount')
    return Number.isFinite(typeof value === 'string' && value !== '' ? Number(value) : value)
      ? null
      : 'a number'
  return form.includes(String(value)) ? null : `one of ${form.join(', ')}`
}

const refused = (message: string) => invalidField('/body', 'format', message)

export const templateOf = ({ template }: Pick<Bridge, 'template'>): OrderTemplate => ORDER_TEMPLATES[template]
