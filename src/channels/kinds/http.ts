// Any HTTP endpoint, by a template of its body.

import type { LinkAction } from '../../wire/link.ts'
import { type ChannelKind, type Notice, type Settings, WEB_ADDRESS } from '../kind.ts'

const DEFAULT_BODY = '{"title": "{{title}}", "text": "{{text}}", "symbol": "{{symbol}}", "price": {{price}}}'
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*)$/

export const http: ChannelKind = {
  label: 'HTTP',
  address: 'url',
  fields: {
    url: {
      label: 'Address',
      hint: 'What it may contain of passwords is sealed with it.',
      secret: true,
      required: true,
      form: WEB_ADDRESS,
    },
    method: { label: 'Method', hint: 'POST or PUT.', default: 'POST', form: [/^(POST|PUT)$/, 'POST or PUT'] },
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
      hint: 'With {{title}}, {{text}}, {{symbol}}, {{exchange}}, {{interval}}, {{price}}, {{url}}, {{time}}, {{pauseUrl}}, {{acknowledgeUrl}} and {{pictureUrl}}.',
      default: DEFAULT_BODY,
      lines: true,
    },
  },
  picture: 'address',
  wantsPicture: ({ body = '' }) => /\{\{\s*pictureUrl\s*\}\}/.test(body),
  request: (settings, notice, id) => {
    const headers = headersOf(settings)
    return {
      method: settings['method'] === 'PUT' ? 'PUT' : 'POST',
      url: settings['url'] ?? '',
      headers: { 'content-type': 'application/json', 'idempotency-key': id, ...headers },
      body: filled(settings['body'] ?? '', notice, /json/i.test(headers['content-type'] ?? 'json')),
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
]

function headersOf({ headers = '' }: Settings): Record<string, string> {
  const named = headers.split(/\r?\n/).flatMap((line) => {
    const [, name = '', value = ''] = HEADER_LINE.exec(line.trim()) ?? []
    const lower = name.toLowerCase()
    return lower === '' || OURS.includes(lower) ? [] : [[lower, value] as const]
  })
  return Object.fromEntries(named)
}

/** Values are written so that they stay one JSON text between its quotes, whatever they contain. */
function filled(template: string, notice: Notice, asJson: boolean): string {
  const urlOf = (wanted: LinkAction) => notice.actions?.find(({ action }) => action === wanted)?.url ?? ''
  const values: Readonly<Record<string, string>> = {
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
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) return whole
    return asJson ? JSON.stringify(value).slice(1, -1) : value
  })
}
