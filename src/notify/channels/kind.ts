// A kind of channel: what its owner has to fill in, and how a notice becomes a request that the service understands.
//
// Requests and answers follow the services' public documentation. None of the services could be reached while this was
// written, so the tests play them with local servers.

import type { Random } from '../../lib/random.ts'
import type { Attempt, Reply } from '../webhooks/send.ts'
import type { LinkAction } from '../../wire/link.ts'
import type { AlertLinks } from './alert-links.ts'
import type { PushSigner } from './push-keys.ts'

/** What is to be told, whatever kind of channel it goes through. */
export interface Notice {
  /** A line: `BTCUSDT above 70,000`. */
  readonly title: string
  readonly text: string
  /** The page to open; null if the server does not know its own address. */
  readonly url: string | null
  /** The same page within the dashboard, for a browser, which knows where that is; missing in old records. */
  readonly path?: string
  /** UTC ms. */
  readonly at: number
  readonly symbol: string
  readonly exchange: string
  readonly interval: string
  /** The price at which it happened; null for a test. */
  readonly price: number | null
  /** The alert and its firing, for links that pause the one and acknowledge the other. */
  readonly alertId?: string
  readonly firingId?: string
  /** Somebody else is told unless this is acknowledged. */
  readonly escalates?: boolean
  /** Through how many inboxes it has come, of this server and others; missing where none. */
  readonly hops?: number
  /** Made when it is sent, and stored nowhere: everybody who has them may do what they say. */
  readonly actions?: readonly NoticeAction[]
  /** Of a digest: what its text has, a line each with its own links; made when it is sent, too. */
  readonly lines?: readonly NoticeLine[]
  /** What a picture of the chart is made of; missing where there is nothing to show, and in old records. */
  readonly chart?: NoticeChart
  /** Made when it is sent, too, for channels that take one. */
  readonly picture?: NoticePicture
}

/** A header that says `hops` on the way to whatever may be an inbox. */
export const HOPS = 'chartroom-hops'

/** A notice that is of no market. */
export const PLAIN = { symbol: '', exchange: '', interval: '', price: null } as const

/** What of a notice its picture shows. */
export type ChartNotice = Pick<Notice, 'exchange' | 'symbol' | 'interval' | 'price' | 'firingId' | 'chart'>

/** The bar that fired, in a series of this owner ('' = everybody's), and the prices that the alert waited for. */
export interface NoticeChart {
  readonly owner: string
  readonly barTime: number
  readonly levels: readonly number[]
}

export interface NoticePicture {
  readonly png: Uint8Array<ArrayBuffer>
  /** Where this server shows it, to everybody who knows the path. */
  readonly path: string
  /** The same as an address; null if the server does not know its own. */
  readonly url: string | null
}

/** Something that can be done from the message, without a sign-in. */
export interface NoticeAction {
  readonly action: LinkAction
  readonly label: string
  readonly token: string
  /** The page with its button; null if the server does not know its own address. */
  readonly url: string | null
}

export interface NoticeLine {
  readonly text: string
  readonly links: readonly NoticeLink[]
  /** Of the last line: how many there are beyond the lines before it. */
  readonly more?: number
}

export interface NoticeLink {
  readonly label: string
  readonly url: string
}

/** The actions that have an address. */
export const linksOf = ({ actions = [] }: Pick<Notice, 'actions'>): readonly NoticeLink[] =>
  actions.flatMap(({ label, url }) => (url === null ? [] : [{ label, url }]))

/** The same as lines of plain text, each with the break before it. */
export const linkLines = (notice: Notice): string =>
  linksOf(notice)
    .map(({ label, url }) => `\n${label}: ${url}`)
    .join('')

export interface SettingField {
  readonly label: string
  /** Where the value is found, in the words of the service. */
  readonly hint: string
  /** The value is stored sealed, and never shown again. */
  readonly secret?: true
  readonly required?: true
  /** The value of a field that is left out. */
  readonly default?: string
  /** The form that the value must have, and the words by which a refusal asks for it. */
  readonly form?: readonly [pattern: RegExp, words: string]
  readonly lines?: true
}

/** A secret that its channel is of no use without. */
export const secretField = (
  label: string,
  hint: string,
  form: NonNullable<SettingField['form']>,
): SettingField => ({ label, hint, secret: true, required: true, form })

/** The address of a service's server; `usual` is the one that nearly everybody has. */
export const serverField = (hint: string, usual: string): SettingField => ({
  label: 'Server',
  hint,
  default: usual,
  form: WEB_ADDRESS,
})

export type Settings = Readonly<Record<string, string>>

export interface ChannelRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer>
}

export interface ChannelKind {
  readonly label: string
  readonly fields: Readonly<Record<string, SettingField>>
  /** The field whose value is the address; what a refusal of the address points at. */
  readonly address: string
  /** What is wrong with the settings, each of which has its form: the field, and what to do. Missing = nothing can be. */
  readonly mistake?: (settings: Settings) => { readonly field: string; readonly message: string } | null
  /** `id` is the same for every attempt at one notice, for services that recognise a repetition by it. */
  readonly request: (settings: Settings, notice: Notice, id: string) => ChannelRequest
  /**
   * How a picture of the chart goes with it: as a file, as an address, for which the server has to know its own, or as a
   * path for who knows that. Missing = the service takes none.
   */
  readonly picture?: 'file' | 'address' | 'path'
  /** Whether the settings ask for one; missing = always. */
  readonly wantsPicture?: (settings: Settings) => boolean
  /**
   * Whether an answer with a status of success is the service's own: a network's sign-in page comes with 200, too.
   * Missing = every one counts.
   */
  readonly isTaken?: (reply: Reply) => boolean
  /** What is wrong with the settings, where an answer of success shows it: trying again is of no use. Missing = none does. */
  readonly misset?: (answer: Json, settings: Settings) => string | null
  /**
   * Whether an answer that refuses the message for good is the service's own: a proxy says 404, too, while it cannot reach the
   * service, or 403 to who looks like a robot. Missing = every one is.
   */
  readonly refuses?: (reply: Reply) => boolean
  /** The settings by which the recipient is reached now, where an answer says that it has moved; missing = none does. */
  readonly moved?: (answer: Json) => Settings | null
  /** Whether an answer refuses the picture alone, where its status does not say so. */
  readonly refusesPicture?: (reply: Reply) => boolean
  /** Sends the picture behind a text that was taken. Answers why that failed, or null. */
  readonly sendPicture?: (
    settings: Settings,
    picture: NoticePicture,
    id: string,
    send: (request: ChannelRequest) => Promise<Reply>,
  ) => Promise<string | null>
  /** Encrypts and signs the request, for services that ask for it. */
  readonly finish?: (
    request: ChannelRequest,
    settings: Settings,
    tools: ChannelTools,
  ) => Promise<Pick<Attempt, 'headers' | 'body'>>
  /** Whether an answer says that the recipient is gone for good. Without this only 410 says so. */
  readonly isGone?: (status: number) => boolean
  /** Seconds to wait from `now` on, for services that do not say so in `Retry-After`. */
  readonly waits?: (answer: Json, headers: NonNullable<Reply['headers']>, now: number) => number | undefined
}

/** What a kind may need beyond the settings of a channel. */
export interface ChannelTools {
  readonly links: Pick<AlertLinks, 'token' | 'url'>
  readonly signer: Pick<PushSigner, 'authorization'>
  readonly random: Random
  readonly pictures: PictureMaker
}

/** How a picture of the chart looks. */
export interface PictureLook {
  readonly theme: 'dark' | 'light'
  /** IANA name of the zone that its times are in. */
  readonly zone: string
}

export interface PictureMaker {
  /** The picture of a notice, or why there is none. Never rejects, and takes a few seconds at most. */
  readonly of: (
    notice: ChartNotice,
    look: PictureLook,
  ) => Promise<{ readonly png: Uint8Array<ArrayBuffer> } | { readonly why: string }>
  /** The path at which this server shows the picture of a notification, for as long as its links hold. */
  readonly path: (notificationId: string, notice: Notice, look: PictureLook) => Promise<string>
}

type Json = { readonly [name: string]: unknown }

export const jsonRequest = (
  url: string,
  content: object,
  headers: Readonly<Record<string, string>> = {},
): ChannelRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(content),
})

/** A form with a picture behind its texts (RFC 7578). No text may contain `id`, which nobody knows before. */
export function formRequest(
  url: string,
  texts: Readonly<Record<string, string>>,
  file: { readonly name: string; readonly png: Uint8Array },
  id: string,
): ChannelRequest {
  const boundary = `chartroom-${id}`
  const part = (header: string, body: string | Uint8Array) => [
    `--${boundary}\r\n${header}\r\n\r\n`,
    body,
    '\r\n',
  ]
  const named = (name: string) => `Content-Disposition: form-data; name="${name}"`
  const pieces = [
    ...Object.entries(texts).flatMap(([name, text]) =>
      part(name.endsWith('_json') ? `${named(name)}\r\nContent-Type: application/json` : named(name), text),
    ),
    ...part(`${named(file.name)}; filename="${PICTURE_NAME}"\r\nContent-Type: image/png`, file.png),
    `--${boundary}--\r\n`,
  ]
  return {
    method: 'POST',
    url,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))),
  }
}

export const bytesOf = (body: ChannelRequest['body']): Uint8Array<ArrayBuffer> =>
  typeof body === 'string' ? new TextEncoder().encode(body) : body

export const PICTURE_NAME = 'chart.png'

/** What a service answered to a picture, whole: what is secret in it has still to be found. */
export const refusalText = ({ status, failure, excerpt }: Reply): string =>
  [status > 0 ? String(status) : (failure ?? 'no answer'), excerpt].filter(Boolean).join(': ')

/** What a picture is called where pictures cannot be seen. */
export const pictureText = ({ exchange, symbol, interval }: Notice): string =>
  `Chart of ${exchange}:${symbol} ${interval}`

/** At most `most` UTF-16 units. Services count bytes, characters or units; only of bytes there may be more, up to three each. */
export const cut = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')

/** One line of at most `most` characters, with a sign of it where something is left out. */
export const cutLine = (text: string, most: number): string =>
  text.length <= most ? text : `${cut(text, most - 1)}…`

export const moreText = (count: number): string => `… and ${count} more`

/**
 * What a notice says in at most `most`, by the measure of the service: its user's own words give way, with a sign of it, to
 * the last line of an alert, which has its market and price. A digest loses whole lines, and says how many.
 */
export function shortened(
  { text, price, lines }: Notice,
  most: number,
  sizeOf: (text: string) => number = ({ length }) => length,
): string {
  const fits = (made: string) => sizeOf(made) <= most
  if (fits(text)) return text
  const kept = lines?.filter(({ more }) => more === undefined) ?? []
  const count = kept.length + (lines?.at(-1)?.more ?? 0)
  for (let shown = kept.length - 1; shown > 0; shown--) {
    const made = [...kept.slice(0, shown).map((line) => line.text), moreText(count - shown)].join('\n')
    if (fits(made)) return made
  }
  const end = price === null ? -1 : text.lastIndexOf('\n')
  const [said, market] = end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end)]
  for (let length = Math.min(said.length, most); length > 0; length--) {
    const made = `${cut(said, length)}…${market}`
    if (fits(made)) return made
  }
  return ''
}

/** The address of a service's server without a slash at its end. */
export const serverOf = ({ server = '' }: Settings): string => server.replace(/\/+$/, '')

export const WEB_ADDRESS = [/^https?:\/\/[^\s/]+\S*$/i, 'an address that begins with https://'] as const

/** A token that goes into a header, which takes no other characters. */
export const HEADER_TOKEN = [/^[!-~]+$/, 'Latin letters, digits and signs without blanks'] as const

/** For services whose answer has the id of what they made, a number or a text. */
export const hasId =
  (name: string) =>
  (reply: Reply): boolean =>
    ['string', 'number'].includes(typeof jsonOf(reply)[name])

export const hasField =
  (name: string) =>
  (reply: Reply): boolean =>
    name in jsonOf(reply)

/** An answer's body as JSON; an empty object if it is none. */
export function jsonOf({ excerpt }: Pick<Reply, 'excerpt'>): Json {
  try {
    const value: unknown = JSON.parse(excerpt)
    return typeof value === 'object' && value !== null ? (value as Json) : {}
  } catch {
    return {}
  }
}
