// A digest: what a channel held back, joined into one message. However much there was, it says how much, and the first of it.

import { moreText, PLAIN, type Notice, type NoticeLine, type NoticeLink } from './kind.ts'
import { clockText, type QuietHours } from './pace.ts'

/** What a digest was made of, so that it can be joined with more. */
export interface Digest {
  readonly count: number
  /** The first of them, a line each; in old records their texts alone. */
  readonly lines: readonly (DigestLine | string)[]
  /** Everything that waited is in it, so it goes out as it is. */
  readonly isComplete: boolean
  /** The most that one of them has; missing where none has. */
  readonly hops?: number
}

/** One of its notices, with what its links are made of when it is sent. */
export type DigestLine = { readonly text: string } & Pick<Notice, 'url' | 'at' | 'alertId' | 'firingId'>

const LINES_MAX = 20
const LINE_LENGTH = 160

interface Held {
  readonly notice: Notice
  readonly digest?: Digest
}

/** `times` are those of the zone of the channel's quiet hours. */
export function joined(held: readonly Held[], quiet: QuietHours | null, isComplete: boolean): Digest {
  const hops = Math.max(...held.map(({ notice, digest }) => digest?.hops ?? notice.hops ?? 0))
  const lines = held.flatMap(({ notice, digest }) => digest?.lines ?? [lineOf(notice, quiet)])
  return {
    count: held.reduce((sum, { digest }) => sum + (digest?.count ?? 1), 0),
    lines: lines.slice(0, LINES_MAX),
    isComplete,
    ...(hops > 0 && { hops }),
  }
}

/** `07:05 My level: BTCUSDT crossed above 70000, close 70001` */
function lineOf(notice: Notice, quiet: QuietHours | null): DigestLine {
  const { url, at, alertId, firingId } = notice
  const ids = alertId === undefined || firingId === undefined ? {} : { alertId, firingId }
  return { text: lineText(notice, quiet), url, at, ...ids }
}

function lineText({ at, title, text, symbol, price }: Notice, quiet: QuietHours | null): string {
  const time = quiet ? clockText(quiet.timezone, at) : `${clockText('UTC', at)} UTC`
  const [first = ''] = text.split('\n')
  const said = first.includes(title) ? first : first === '' ? title : `${title}: ${first}`
  const short =
    said.length > LINE_LENGTH ? `${said.slice(0, LINE_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…` : said
  if (price === null || said.endsWith(`close ${price}`)) return `${time} ${short}`
  return `${time} ${short}, ${short.includes(symbol) ? '' : `${symbol} `}close ${price}`
}

/** The message. `publicUrl`: where browsers reach the server, if that is known. */
export function noticeOf(digest: Digest, publicUrl: string | null, at: number): Notice {
  const texts = digest.lines.map((line) => (typeof line === 'string' ? line : line.text))
  return {
    title: `${digest.count} alerts`,
    text: [...texts, ...restOf(digest).map(moreText)].join('\n'),
    url: publicUrl && `${publicUrl}/alerts`,
    path: '/alerts',
    at,
    ...(digest.hops && { hops: digest.hops }),
    ...PLAIN,
  }
}

const restOf = ({ count, lines }: Digest): readonly number[] =>
  count > lines.length ? [count - lines.length] : []

/** The message's lines with their links, `linksTo` each. */
export async function linkedLines(
  digest: Digest,
  linksTo: (line: DigestLine) => Promise<readonly NoticeLink[]>,
): Promise<readonly NoticeLine[]> {
  const lines = digest.lines.map(async (line) =>
    typeof line === 'string' ? { text: line, links: [] } : { text: line.text, links: await linksTo(line) },
  )
  return [
    ...(await Promise.all(lines)),
    ...restOf(digest).map((more) => ({ text: moreText(more), links: [], more })),
  ]
}
