// The text of a firing: the alert's own message with its placeholders filled, or a plain sentence.

import { cutText } from '../../lib/text.ts'
import type { Operator } from '../../wire/alert.ts'

export interface MessageValues {
  readonly ticker: string
  readonly exchange: string
  readonly interval: string
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
  /** Opening time of the bar, UTC ms. */
  readonly time: number
  readonly price: number | null
  readonly name: string
  /** Values of a script's plots by title: `{{plot("RSI")}}`, and by position `{{plot_0}}`. */
  readonly plots?: Readonly<Record<string, number>>
}

const MESSAGE_LIMIT = 4096

/** Unknown placeholders stay as they are, so that a typing error shows. */
export function fillMessage(template: string, values: MessageValues): string {
  const plots = Object.entries(values.plots ?? {})
  const simple: Readonly<Record<string, string>> = {
    ticker: values.ticker,
    exchange: values.exchange,
    interval: values.interval,
    open: String(values.open),
    high: String(values.high),
    low: String(values.low),
    close: String(values.close),
    volume: String(values.volume),
    time: new Date(values.time).toISOString(),
    price: values.price === null ? '' : String(values.price),
    name: values.name,
  }
  const filled = template.replace(
    /\{\{\s*(?:plot\("([^"]{0,200})"\)|plot_(\d{1,3})|([a-z]{1,20}))\s*\}\}/g,
    (whole, title, index, word) => {
      if (typeof word === 'string') return Object.hasOwn(simple, word) ? (simple[word] ?? whole) : whole
      const plot = typeof title === 'string' ? plots.find(([name]) => name === title) : plots[Number(index)]
      return plot ? String(plot[1]) : whole
    },
  )
  return cutText(filled, MESSAGE_LIMIT)
}

const WAITS: Readonly<Record<Operator, string>> = {
  above: 'is above',
  below: 'is below',
  crossing: 'crosses',
  crossing_up: 'crosses above',
  crossing_down: 'crosses below',
  entering_channel: 'enters the channel',
  exiting_channel: 'leaves the channel',
  inside_channel: 'is inside the channel',
  outside_channel: 'is outside the channel',
  moving_up: 'moves up by',
  moving_down: 'moves down by',
  moving_up_pct: 'moves up by',
  moving_down_pct: 'moves down by',
}
const FIRED: Readonly<Record<Operator, string>> = {
  above: 'is above',
  below: 'is below',
  crossing: 'crossed',
  crossing_up: 'crossed above',
  crossing_down: 'crossed below',
  entering_channel: 'entered the channel',
  exiting_channel: 'left the channel',
  inside_channel: 'is inside the channel',
  outside_channel: 'is outside the channel',
  moving_up: 'moved up by',
  moving_down: 'moved down by',
  moving_up_pct: 'moved up by',
  moving_down_pct: 'moved down by',
}

interface Described {
  readonly symbol: string
  readonly kind: string
  readonly op: Operator | null
  readonly price: number | null
  readonly price2: number | null
  readonly percent: number | null
}

/** What an alert waits for, which is its name unless it was given one: `SPX crosses above 3400`. */
export const waitsFor = (alert: Described): string => sentenceOf(alert, WAITS)

/** What has happened when it fires: `SPX crossed above 3400`, `AAPL volume is above 1000000`. */
export const hasHappened = (alert: Described): string => sentenceOf(alert, FIRED)

/** Whether nobody gave it a name. Up to version 0.2 such alerts were named as if they had fired. */
export function isUnnamed(alert: Described & { readonly name: string }): boolean {
  const before = hasHappened(alert).replace(/ crossed (above|below) /, (_, way: string) =>
    way === 'above' ? ' crossed up through ' : ' crossed down through ',
  )
  return [waitsFor(alert), hasHappened(alert), before].includes(alert.name)
}

function sentenceOf(alert: Described, words: Readonly<Record<Operator, string>>): string {
  const { symbol, kind, op, price, price2, percent } = alert
  const what = kind === 'price' ? symbol : `${symbol} ${kind}`
  if (op === null) return what
  if (op.endsWith('_pct')) return `${what} ${words[op]} ${percent}%`
  if (op.endsWith('_channel')) return `${what} ${words[op]} ${price} to ${price2}`
  return `${what} ${words[op]} ${price}`
}
