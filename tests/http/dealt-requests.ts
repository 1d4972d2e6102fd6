// Deals requests for every operation, out of its schemas in `wire` and out of what is stored: markets that are there and
// some that are not, every kind of interval, times at, before and behind the ends of the bars, ids that were answered
// before. Most are right in form, so that they get as far as the rooms behind the API, which hostile ones
// (`fuzz.test.ts`) hardly do. A seed deals the same requests to the same answers.

import type { TSchema } from '@sinclair/typebox'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import type { Operation } from '../../src/wire/operation.ts'
import { OPERATIONS } from '../../src/wire/operations.ts'
import { textBounds } from '../../src/wire/schema.ts'

export interface Market {
  readonly exchange: string
  readonly symbol: string
  /** Times of the first and last bar. */
  readonly first: number
  readonly last: number
  readonly count: number
}

export interface DealtRequest {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

const INTERVALS = [
  '1d',
  'D',
  '1w',
  '2w',
  '52w',
  '1M',
  '3M',
  '12M',
  '365d',
  '7d',
  '24h',
  '1h',
  '240',
  '1m',
  '7m',
]
const ODD_INTERVALS = ['15S', '13M', '0d', '', 'abc', '1y', '1D1']
const DAY = 86_400_000
/** The ends of what a Date can be, of what Temporal reads, and times that calendars stumble over. */
const MOMENTS = [
  0,
  -1,
  -62_135_596_800_000,
  8.64e15,
  -8.64e15,
  8.64e15 + 1,
  4e12,
  Date.UTC(2016, 1, 29),
  Date.UTC(2015, 2, 8, 7),
]
const ODD_TIMES = [
  '',
  'now',
  '2015-02-30',
  '2015-13-01T00:00:00Z',
  '2015-01-01T24:00:00Z',
  '1e9',
  '-5',
  'NaN',
]
const ZONES = [
  'UTC',
  'America/New_York',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'UTC+14',
  'Etc/GMT+12',
  'Mars/Olympus',
]
const TEXTS = [
  'x',
  'Zürich',
  '日本語',
  'תל אביב',
  '\u0130stanbul',
  '👩‍🚀',
  ' a ',
  'it\'s 5 < 6 & "so"',
  '=1+1',
  '%',
  '..',
]
const NUMBERS = [0, -0, 1, -1, 0.5, 100, 1e-9, 1e15, -1e15, 1e300, 2 ** 31, 2 ** 53]

const strategy = (body: string) => `//@version=6\nstrategy("s")\nn = input.int(9, "n")\n${body}`
const SOURCES = [
  strategy(
    'if close > ta.sma(close, n)\n    strategy.entry("l", strategy.long)\nelse\n    strategy.close("l")',
  ),
  strategy(''),
  '//@version=6\nindicator("i")\nn = input.int(9, "n")\nplot(ta.sma(close, n), "p")',
  '//@version=6\nindicator("i")\nplot(request.security(syminfo.tickerid, "M", close), "m")',
  '//@version=6\nindicator("i")\nplot(request.security("NASDAQ:AAPL", "W", close[1]), "w")',
  '//@version=6\nindicator("i")\nplot(array.get(request.security_lower_tf(syminfo.tickerid, "1", close), 0))',
  '//@version=6\nindicator("i")\nplot(close[bar_index], "first")\nif barstate.islast\n    label.new(bar_index, close, "x")',
  '//@version=5\nlibrary("lib")\nexport f(float x) => x',
  '//@version=6\nindicator("i"',
]
const WORDS: Readonly<Record<string, readonly unknown[]>> = {
  source: SOURCES,
  timezone: ZONES,
  timesIn: ZONES,
  session: ['24x7', '0930-1600', '0930-1600:23456', '1700-1600', '9-5'],
  currency: ['USD', 'EUR', 'JPY', 'XXX', ''],
  where: ['close > 0', 'p > 1', '"m" < close and', '1', ''],
  sort: ['close', 'p', 'm', 'nothing'],
  password: ['correct horse'],
  settings: [{ topic: 'alerts' }, { n: 'x' }, {}],
  events: [['backtest.reportReady'], ['alert.triggered'], ['none']],
  tracks: ['none', 'time,plot', 'x'],
  speed: [1, 100, 0.1, 0, 101],
  capital: [1, 100_000, 1e15, 0],
  unit: ['s', 'ms', 'us'],
  dates: ['ymd', 'dmy', 'x'],
  delimiter: ['comma', 'tab', 'x'],
  decimal: ['point', 'comma'],
  volumePerBar: ['1000', '0.5', '0', 'x'],
  sha256: ['0'.repeat(64)],
  path: ['TradingView/ta/7'],
  email: ['a@example.com', 'nobody'],
  url: ['https://hooks.example/in', 'http://127.0.0.1/', 'https://x'],
  csv: [
    'Trade #,Type,Date/Time,Signal,Price\n1,Entry long,2015-06-01,l,130\n1,Exit long,2015-07-01,,125\n',
    'a,b\n',
  ],
  inputs: [{}, { n: 3 }, { n: 1e9 }, { n: 'x' }, { nothing: 1 }],
  overrides: [{}, { initial_capital: 5 }, { commission_value: -1 }, { nothing: true }],
  // A sweep that is large takes its time from the others.
  trials: [1, 2, 3],
  runs: [2, 3],
  space: [
    [{ input: 'n', values: [2, 3] }],
    [{ input: 'n', min: 2, max: 3, step: 1 }],
    [{ input: 'none', values: [1] }],
    [{ property: 'initial_capital', min: 1, max: 2 }],
  ],
  object: [{ message: 'x' }, 'x', [], null],
}
/** Fields that hold a moment. */
const TIME_FIELDS = new Set(['start', 'end', 'from', 'to', 'time', 'expiresAt'])
/** How many bars, or which of them. */
const COUNT_FIELDS = new Set(['bars', 'warmup', 'limit', 'bar', 'cursorBar'])

/** What would end the session that asks, or never ends itself. */
const LEFT_OUT = /^(POST \/api\/auth\/(sign-out|password)|DELETE \/api\/auth\/sessions|.*\/(events|stream)$)/

export const DEALT = Object.entries(OPERATIONS as Readonly<Record<string, Operation>>).filter(
  ([name]) => !LEFT_OUT.test(name),
)

/** Those that name an interval or a span. */
export const OF_SPANS = DEALT.filter(([, { query, body }]) =>
  [...Object.keys(query?.properties ?? {}), ...Object.keys(body?.['properties'] ?? {})].some(
    (field) => field === 'interval' || field === 'start' || field === 'parts' || field === 'csv',
  ),
)

export class Dealer {
  readonly #random
  readonly #markets: readonly Market[]
  /** Ids that were answered, by their prefix, the newest last. */
  readonly #ids = new Map<string, string[]>()

  constructor(seed: number, markets: readonly Market[]) {
    this.#random = seededRandom(seed)
    this.#markets = markets
  }

  /** The ids in an answer are for the requests that follow. */
  learn(answer: string): void {
    for (const [id, prefix = ''] of answer
      .slice(0, 20_000)
      .matchAll(/\b([a-z]{2,4})_[0-9a-zA-Z]{20,64}\b/g)) {
      const known = this.#ids.get(prefix) ?? []
      if (!known.includes(id)) this.#ids.set(prefix, [...known.slice(-9), id])
    }
  }

  any(): (typeof DEALT)[number] {
    return this.#pick(DEALT)
  }

  deal([name, { query, body }]: (typeof DEALT)[number]): DealtRequest {
    const [method = '', pattern = ''] = name.split(' ')
    const market = this.#market()
    const path = pattern.replace(/\{(\w+)\}/g, (_all, field: string) =>
      encoded(field === 'symbol' || field === 'exchange' ? market[field] : this.#inPath(pattern, field)),
    )
    const asked = Object.entries((query ? this.#object(query, market) : {}) as Record<string, unknown>)
    const search = asked.map(([field, value]) => `${encoded(field)}=${encoded(value)}`).join('&')
    const isFile = /\/bars\/(import|inspect)$/.test(pattern)
    return {
      operation: name,
      method,
      path: search === '' ? path : `${path}?${search}`,
      headers: isFile ? { 'content-type': 'text/csv' } : this.#chance(0.1) ? { prefer: 'respond-async' } : {},
      ...(isFile && { body: this.#file(market) }),
      ...(body && !isFile && { body: this.#value(body, 'body', market) }),
    }
  }

  #inPath(pattern: string, field: string): string {
    if (field === 'name') return this.#pick(['alpaca', 'tiingo', 'none'])
    if (field !== 'id') return this.#pick(['0', '1', '99', 'x'])
    const noun = /([a-z-]+)\/\{id\}/.exec(pattern)?.[1] ?? ''
    return this.#id(PREFIXES[noun] ?? 'x')
  }

  #id(prefix: string): string {
    const known = this.#ids.get(prefix)
    return known && this.#chance(0.95) ? this.#pick(known) : `${prefix}_0`
  }

  #market(): Market {
    return this.#pick(this.#markets)
  }

  #value(schema: TSchema, field: string, market: Market): unknown {
    if (this.#chance(0.01)) return this.#pick<unknown>([null, '', -1, [], {}, true])
    const words = WORDS[field]
    if (words && this.#chance(schema.type === 'array' && !Array.isArray(words[0]) ? 0 : 0.98))
      return this.#pick(words)
    if (field === 'interval' || field === 'intervals')
      if (schema.type !== 'array')
        return this.#chance(0.9) ? this.#pick(INTERVALS) : this.#pick(ODD_INTERVALS)
    if (TIME_FIELDS.has(field)) return this.#moment(schema, market)
    if (COUNT_FIELDS.has(field) && (schema.type === 'integer' || schema.pattern !== undefined)) {
      const count = this.#pick([1, 2, 3, 20, market.count - 1, market.count, market.count + 1])
      const fits = Math.min(schema.maximum ?? Infinity, Math.max(schema.minimum ?? 0, count))
      return schema.type === 'string' ? String(fits) : fits
    }
    const variants = (schema.anyOf ?? schema.oneOf) as TSchema[] | undefined
    if (variants) return this.#value(this.#pick(variants), field, market)
    if ('const' in schema) return schema.const
    switch (schema.type) {
      case 'object':
        return this.#object(schema, this.#chance(0.9) ? market : this.#market())
      case 'array': {
        const length = Math.max(Number(schema.minItems ?? 0), this.#random.below(3))
        return Array.from({ length }, () =>
          this.#value(schema.items as TSchema, field.replace(/s$/, ''), this.#market()),
        )
      }
      case 'integer':
      case 'number':
        return this.#number(schema)
      case 'boolean':
        return this.#chance(0.5)
      case 'string':
        return this.#text(schema, field, market)
      case 'null':
        return null
      default:
        return this.#pick<unknown>([null, 1, 'x', { a: 1 }])
    }
  }

  /** Names of a market go together. */
  #object(schema: TSchema, market: Market): unknown {
    if (schema.patternProperties || !schema.properties) return this.#pick([{}, { a: 1 }, { n: 3 }])
    const required = new Set<string>((schema.required as string[] | undefined) ?? [])
    const fields = Object.entries(schema.properties as Record<string, TSchema>).flatMap(([name, property]) =>
      this.#chance(required.has(name) ? 0.99 : 0.4) ? [[name, this.#value(property, name, market)]] : [],
    )
    return Object.fromEntries(fields)
  }

  #moment(schema: TSchema, { first, last }: Market): unknown {
    if (this.#chance(0.05)) return this.#pick(ODD_TIMES)
    const edge = this.#pick([first, last])
    const time = this.#chance(0.15)
      ? this.#pick(MOMENTS)
      : edge + this.#pick([0, 0, 0, 1, -1, DAY, -DAY, 366 * DAY, -366 * DAY, 40 * 366 * DAY, -40 * 366 * DAY])
    const isText = schema.type === 'string' || (schema.anyOf !== undefined && this.#chance(0.5))
    if (!isText) return time
    if (Math.abs(time) > 8.64e15) return String(time)
    const iso = new Date(time).toISOString()
    return this.#pick([iso, iso.slice(0, 10), iso.replace('Z', '+05:45')])
  }

  #number({ type, minimum, maximum, exclusiveMinimum }: TSchema): number {
    const low = minimum ?? exclusiveMinimum ?? -1e6
    const high = maximum ?? 1e6
    const within = low + (high - low) * this.#random.uniform()
    const picked = this.#pick([low, high, within, within, 1, 2, this.#pick(NUMBERS)])
    return type === 'integer' ? Math.round(picked) : picked
  }

  #text(schema: TSchema, field: string, market: Market): string {
    if (field === 'symbol') return market.symbol
    if (field === 'exchange') return market.exchange
    const prefix = typeof schema.pattern === 'string' ? /^\^([a-z]+)_/.exec(schema.pattern)?.[1] : undefined
    if (prefix !== undefined) return this.#id(prefix)
    if (field === 'of') return this.#id(this.#pick(['bt', 'sw']))
    if (schema.pattern !== undefined) return String(this.#random.below(100))
    const { minLength = 0, maxLength = 100 } =
      textBounds(schema) ?? (schema as { minLength?: number; maxLength?: number })
    const text = this.#chance(0.03) ? 'x'.repeat(Math.min(maxLength, 5000)) : this.#pick(TEXTS)
    return text.padEnd(minLength, 'x')
  }

  #file({ first }: Market): string {
    const rows = Array.from({ length: this.#pick([0, 1, 2, 40]) }, (_, i) =>
      [new Date(first + i * this.#pick([DAY, 3_600_000, 0])).toISOString(), 2, 3, 1, 2, 5].join(),
    )
    return ['time,open,high,low,close,volume', ...rows, ''].join('\n')
  }

  #pick<T>(of: readonly T[]): T {
    return of[this.#random.below(of.length)]!
  }

  #chance(share: number): boolean {
    return this.#random.uniform() < share
  }
}

/** What the ids of a noun begin with. */
const PREFIXES: Readonly<Record<string, string>> = {
  backtests: 'bt',
  sweeps: 'sw',
  portfolios: 'pf',
  'forward-runs': 'fwd',
  scans: 'scan',
  alerts: 'al',
  ideas: 'idea',
  scripts: 'scr',
  watchlists: 'wl',
  layouts: 'lay',
  webhooks: 'wh',
  channels: 'ch',
  inboxes: 'inb',
  firings: 'fir',
  deliveries: 'msg',
  notifications: 'ntc',
  users: 'usr',
}

/** `encodeURIComponent` refuses half of a surrogate pair. */
const encoded = (value: unknown) =>
  encodeURIComponent((typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed())
