// Any HTTP endpoint, by templates of its body and its address.

import type { LinkAction } from '../../../wire/link.ts'
import { type ChannelKind, cut, HOPS, secretField, type Notice, type Settings } from '../kind.ts'
import { words } from '../../../lib/words.ts'

const DEFAULT_BODY = '{"title": "{{title}}", "text": "{{text}}", "symbol": "{{symbol}}", "price": {{price}}}'
const NAMES = words('title text symbol exchange interval price url time pauseUrl acknowledgeUrl pictureUrl')
const PLACEHOLDERS = NAMES.map((name) => `{{${name}}}`)
  .join(', ')
  .replace(/,(?=[^,]*$)/, ' and')
/** None of them, or one that is not closed. A brace in front is a text's own. */
const NO_PLACEHOLDER = new RegExp(
  String.raw`\{\{(?!\{?\s*(?:${NAMES.join('|')})\s*\}\})\s*\w{0,30}\s*\}{0,2}`,
)
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*)$/

export const http: ChannelKind = {
  label: 'HTTP',
  address: 'url',
  fields: {
    url: secretField(
      'Address',
      'What it may contain of passwords is sealed with it. Behind the host, {{title}} and the others stand for what they say.',
      [/^https?:\/\/[^\s/?#{}]+(?:[/?#]\S*)?$/i, 'an address that begins with https:// and a host'],
    ),
    method: {
      label: 'Method',
      hint: 'POST, PUT, or GET, which sends no body.',
      default: 'POST',
      form: [/^(GET|POST|PUT)$/, 'GET, POST or PUT'],
    },
    headers: {
      label: 'Headers',
      hint: 'A line each, such as Authorization: Bearer ….',
      secret: true,
      lines: true,
      form: [
        /^(?:[ \t]*|[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\u00a0-\u00ff]*)(?:\r?\n(?:[ \t]*|[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\u00a0-\u00ff]*))*$/,
        'lines such as Authorization: Bearer …, in Latin letters',
      ],
    },
    body: {
      label: 'Body',
      hint: `With ${PLACEHOLDERS}.`,
      default: DEFAULT_BODY,
      lines: true,
    },
  },
  mistake(settings) {
    for (const field of ['url', 'body'] as const) {
      const [wrong] = NO_PLACEHOLDER.exec(settings[field] ?? '') ?? []
      if (wrong !== undefined)
        return { field, message: `${wrong} is no placeholder: there are ${PLACEHOLDERS}.` }
    }
    const ours = headerLines(settings).find(([name]) => OURS.includes(name))
    return ours
      ? { field: 'headers', message: `${ours[0]} is set by this server. Leave that line out.` }
      : null
  },
  picture: 'address',
  wantsPicture: ({ url = '', body = '', method }) =>
    /\{\{\s*pictureUrl\s*\}\}/.test(method === 'GET' ? url : url + body),
  request: (settings, notice, id) => {
    const own = headersOf(settings)
    const url = addressOf(settings['url'] ?? '', notice)
    const headers = { 'idempotency-key': id, ...own, ...(notice.hops && { [HOPS]: String(notice.hops) }) }
    if (settings['method'] === 'GET') return { method: 'GET', url, headers, body: '' }
    // Values are written so that they stay one JSON text between its quotes, whatever they contain.
    const written = (value: string) => JSON.stringify(value).slice(1, -1)
    const asJson = /json/i.test(own['content-type'] ?? 'json')
    return {
      method: settings['method'] === 'PUT' ? 'PUT' : 'POST',
      url,
      headers: { 'content-type': 'application/json', ...headers },
      body: filled(settings['body'] ?? '', notice, asJson ? written : (value) => value),
    }
  },
}

/** Headers that only we may set: they frame the message, or say where it goes. */
const OURS: readonly string[] = [
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'accept-encoding',
  HOPS,
]

const headerLines = ({ headers = '' }: Settings): readonly (readonly [name: string, value: string])[] =>
  headers.split(/\r?\n/).flatMap((line) => {
    const [, name = '', value = ''] = HEADER_LINE.exec(line.trim()) ?? []
    return name === '' ? [] : [[name.toLowerCase(), value]]
  })

/** Channels of before may name some of ours. */
const headersOf = (settings: Settings): Record<string, string> =>
  Object.fromEntries(headerLines(settings).filter(([name]) => !OURS.includes(name)))

/** Parts of a path with a placeholder, and what every parser of addresses takes for a way up, or for nothing. */
const FILLED_PART = /[^/\\?#]*\{\{[^/\\?#]*/g
const DOTS = /^(?:\.|%2e){1,2}$/i
/** A sign that looks the same, `․`. */
const NO_DOT = '%E2%80%A4'

const addressOf = (template: string, notice: Notice): string =>
  template.replace(FILLED_PART, (part) => {
    const made = filled(part, notice, (value) => encodeURIComponent(cut(value, IN_ADDRESS).toWellFormed()))
    return DOTS.test(made) ? made.replace(/\.|%2e/gi, NO_DOT) : made
  })

/** Of each value, which no link exceeds: many servers take an address of 8,000 characters, and a letter may be nine. */
const IN_ADDRESS = 500

/** A template with every value as `written`; names that stand for nothing stay. */
function filled(template: string, notice: Notice, written: (value: string) => string): string {
  const urlOf = (wanted: LinkAction) => notice.actions?.find(({ action }) => action === wanted)?.url ?? ''
  const values: Readonly<Record<(typeof NAMES)[number], string>> = {
    title: notice.title,
    text: notice.text,
    symbol: notice.symbol,
    exchange: notice.exchange,
    interval: notice.interval,
    price: notice.price === null ? 'null' : String(notice.price),
    url: notice.url ?? '',
    time: new Date(notice.at).toISOString(),
    pauseUrl: urlOf('pause'),
    acknowledgeUrl: urlOf('acknowledge'),
    pictureUrl: notice.picture?.url ?? '',
  }
  return template.replace(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) => {
    const known = NAMES.find((one) => one === name)
    return known ? written(values[known]) : whole
  })
}
