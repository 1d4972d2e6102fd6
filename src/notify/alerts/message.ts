// The text of a firing: the alert's own message with its placeholders filled, or a plain sentence.

import { cutText } from '../../lib/text.ts'
import { OPERATOR_WORDS } from '../../wire/operator-words.ts'
import type { Alert } from './alert.ts'

/** What a message may name: of the bar, whose `time` is its opening (UTC ms), and of the alert. */
export type MessageValues = Readonly<Record<'ticker' | 'exchange' | 'interval' | 'name', string>> &
  Readonly<Record<'open' | 'high' | 'low' | 'close' | 'volume' | 'time', number>> & {
    readonly price: number | null
    /** Values of a script's plots by title: `{{plot("RSI")}}`, and by position `{{plot_0}}`. */
    readonly plots?: Readonly<Record<string, number>>
  }

const MESSAGE_LIMIT = 4096

/** Unknown placeholders stay as they are, so that a typing error shows. */
export function fillMessage(template: string, { plots: values = {}, time, ...rest }: MessageValues): string {
  const plots = Object.entries(values)
  const simple: Readonly<Record<string, string | number | null>> = {
    ...rest,
    time: new Date(time).toISOString(),
  }
  const filled = template.replace(
    /\{\{\s*(?:plot\("([^"]{0,200})"\)|plot_(\d{1,3})|([a-z]{1,20}))\s*\}\}/g,
    (whole, title, index, word) => {
      if (typeof word === 'string') return Object.hasOwn(simple, word) ? String(simple[word] ?? '') : whole
      const plot = typeof title === 'string' ? plots.find(([name]) => name === title) : plots[Number(index)]
      return plot ? String(plot[1]) : whole
    },
  )
  return cutText(filled, MESSAGE_LIMIT)
}

type Described = Readonly<Pick<Alert, 'symbol' | 'kind' | 'op' | 'price' | 'price2' | 'percent'>>

/** What an alert waits for, which is its name unless it was given one: `SPX crosses above 3400`. */
export const waitsFor = (alert: Described): string => sentenceOf(alert, 0)

/** What has happened when it fires: `SPX crossed above 3400`, `AAPL volume is above 1000000`. */
export const hasHappened = (alert: Described): string => sentenceOf(alert, 1)

/** Whether nobody gave it a name. Up to version 0.2 such alerts were named as if they had fired. */
export function isUnnamed(alert: Described & { readonly name: string }): boolean {
  const before = hasHappened(alert).replace(/ crossed (above|below) /, (_, way: string) =>
    way === 'above' ? ' crossed up through ' : ' crossed down through ',
  )
  return [waitsFor(alert), hasHappened(alert), before].includes(alert.name)
}

function sentenceOf(alert: Described, tense: 0 | 1): string {
  const { symbol, kind, op, price, price2, percent } = alert
  const what = kind === 'price' ? symbol : `${symbol} ${kind}`
  if (op === null) return what
  const words = OPERATOR_WORDS[op][tense]
  if (op.endsWith('_pct')) return `${what} ${words} ${percent}%`
  if (op.endsWith('_channel')) return `${what} ${words} ${price} to ${price2}`
  return `${what} ${words} ${price}`
}
