// The text of a firing: the alert's own message with its placeholders filled, or a plain sentence.

import { cutText } from '../lib/text.ts'
import type { Operator } from './condition.ts'

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

const WORDS: Readonly<Record<Operator, string>> = {
  above: 'is above',
  below: 'is below',
  crossing: 'crossed',
  crossing_up: 'crossed up through',
  crossing_down: 'crossed down through',
  entering_channel: 'entered the channel',
  exiting_channel: 'left the channel',
  inside_channel: 'is inside the channel',
  outside_channel: 'is outside the channel',
  moving_up: 'moved up by',
  moving_down: 'moved down by',
  moving_up_pct: 'moved up by',
  moving_down_pct: 'moved down by',
}

/** `SPX crossed up through 3400`, `AAPL volume is above 1000000`. */
export function describeCondition(alert: {
  readonly symbol: string
  readonly kind: string
  readonly op: Operator | null
  readonly price: number | null
  readonly price2: number | null
  readonly percent: number | null
}): string {
  const { symbol, kind, op, price, price2, percent } = alert
  const what = kind === 'price' ? symbol : `${symbol} ${kind}`
  if (op === null) return what
  if (op.endsWith('_pct')) return `${what} ${WORDS[op]} ${percent}%`
  if (op.endsWith('_channel')) return `${what} ${WORDS[op]} ${price} to ${price2}`
  return `${what} ${WORDS[op]} ${price}`
}
