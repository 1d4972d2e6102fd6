// A digest: what a channel held back, joined into one message. However much there was, it says how much, and the first of it.

import type { Notice } from './kind.ts'
import { clockText, type QuietHours } from './pace.ts'

/** What a digest was made of, so that it can be joined with more. */
export interface Digest {
  readonly count: number
  /** The first of them, a line each. */
  readonly lines: readonly string[]
  /** Everything that waited is in it, so it goes out as it is. */
  readonly isComplete: boolean
}

const LINES_MAX = 20
const LINE_LENGTH = 160

interface Held {
  readonly notice: Notice
  readonly digest?: Digest
}

/** `times` are those of the zone of the channel's quiet hours. */
export function joined(held: readonly Held[], quiet: QuietHours | null, isComplete: boolean): Digest {
  const lines = held.flatMap(({ notice, digest }) => digest?.lines ?? [lineOf(notice, quiet)])
  return {
    count: held.reduce((sum, { digest }) => sum + (digest?.count ?? 1), 0),
    lines: lines.slice(0, LINES_MAX),
    isComplete,
  }
}

/** `07:05 My level: BTCUSDT crossed above 70000, close 70001` */
function lineOf({ at, title, text, symbol, price }: Notice, quiet: QuietHours | null): string {
  const time = quiet ? clockText(quiet.timezone, at) : `${clockText('UTC', at)} UTC`
  const [first = ''] = text.split('\n')
  const said = first.includes(title) ? first : first === '' ? title : `${title}: ${first}`
  const short =
    said.length > LINE_LENGTH ? `${said.slice(0, LINE_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…` : said
  if (price === null || said.endsWith(`close ${price}`)) return `${time} ${short}`
  return `${time} ${short}, ${short.includes(symbol) ? '' : `${symbol} `}close ${price}`
}

/** The message. `publicUrl`: where browsers reach the server, if that is known. */
export function noticeOf({ count, lines }: Digest, publicUrl: string | null, at: number): Notice {
  const left = count - lines.length
  return {
    title: `${count} alerts`,
    text: [...lines, ...(left > 0 ? [`… and ${left} more`] : [])].join('\n'),
    url: publicUrl && `${publicUrl}/alerts`,
    path: '/alerts',
    at,
    symbol: '',
    exchange: '',
    interval: '',
    price: null,
  }
}
