// What we know about a symbol before anybody tells us: from its exchange, its ticker, and the prices imported for it.
//
// A trader who imports BTCUSDT of BINANCE should not have to say that coins trade around the clock in UTC. Facts that
// cannot be known (the tick of a coin) are inferred from the prices, and a PUT can correct everything.

import { type FieldProblem, Problem } from '../lib/problem.ts'
import { SYMBOL_TYPES, type SymbolType } from '../lib/symbol-type.ts'
import { marketName } from '../lib/market-name.ts'
import type { Bars } from './bars.ts'
import { parseSession } from './session.ts'
import type { SymbolInfo } from './symbol.ts'
import { zoneOf } from './zone.ts'
import { words } from '../lib/words.ts'

interface Venue {
  readonly type: SymbolType
  readonly timezone: string
  readonly session: string
  readonly currency: string
  /** 0 = infer it from the prices. */
  readonly mintick: number
  readonly minQuantity: number
  readonly volumeType: string
}

const COINS: Venue = {
  type: 'crypto',
  timezone: 'Etc/UTC',
  session: '24x7',
  currency: 'USD',
  mintick: 0,
  minQuantity: 0.000001,
  volumeType: 'base',
}
const FOREX: Venue = {
  type: 'forex',
  timezone: 'America/New_York',
  session: '1700-1700',
  currency: 'USD',
  mintick: 0.00001,
  minQuantity: 1,
  volumeType: 'tick',
}
const INDEX: Venue = stocks('America/New_York', '0930-1600', 'USD', { type: 'index' })
const UNKNOWN: Venue = { ...COINS, type: 'stock', minQuantity: 0.000001 }

function stocks(timezone: string, session: string, currency: string, more: Partial<Venue> = {}): Venue {
  return {
    type: 'stock',
    timezone,
    session,
    currency,
    mintick: 0.01,
    minQuantity: 1,
    volumeType: 'base',
    ...more,
  }
}

function futures(timezone: string, session: string): Venue {
  return stocks(timezone, session, 'USD', { type: 'futures' })
}

const VENUES: readonly (readonly [names: string, Venue])[] = [
  [
    'BINANCE BINANCEUS COINBASE KRAKEN BYBIT OKX BITSTAMP BITFINEX GEMINI KUCOIN BITMEX HTX HUOBI DERIBIT CRYPTO CRYPTOCOM POLONIEX MEXC GATEIO BITGET PHEMEX HYPERLIQUID BITTREX UPBIT BITHUMB',
    COINS,
  ],
  ['FX FX_IDC OANDA FOREXCOM CAPITALCOM PEPPERSTONE SAXO ICMARKETS FXCM EIGHTCAP VANTAGE FXOPEN', FOREX],
  ['NASDAQ NYSE AMEX ARCA NYSEARCA BATS OTC IEX', stocks('America/New_York', '0930-1600', 'USD')],
  ['SP DJ TVC INDEX CBOE', INDEX],
  ['CME CME_MINI CBOT CBOT_MINI', futures('America/Chicago', '1700-1600')],
  ['NYMEX NYMEX_MINI COMEX COMEX_MINI', futures('America/New_York', '1800-1700')],
  ['TSX TSXV NEO', stocks('America/Toronto', '0930-1600', 'CAD')],
  ['LSE', stocks('Europe/London', '0800-1630', 'GBX')],
  ['XETR FWB', stocks('Europe/Berlin', '0900-1730', 'EUR')],
  ['EURONEXT', stocks('Europe/Paris', '0900-1730', 'EUR')],
  ['MIL', stocks('Europe/Rome', '0900-1730', 'EUR')],
  ['BME', stocks('Europe/Madrid', '0900-1730', 'EUR')],
  ['SIX', stocks('Europe/Zurich', '0900-1730', 'CHF')],
  ['BIST', stocks('Europe/Istanbul', '1000-1800', 'TRY')],
  ['TSE', stocks('Asia/Tokyo', '0900-1130,1230-1530', 'JPY', { mintick: 1, minQuantity: 100 })],
  ['HKEX', stocks('Asia/Hong_Kong', '0930-1200,1300-1600', 'HKD')],
  ['SSE SZSE', stocks('Asia/Shanghai', '0930-1130,1300-1500', 'CNY', { minQuantity: 100 })],
  ['KRX', stocks('Asia/Seoul', '0900-1530', 'KRW', { mintick: 1 })],
  ['NSE BSE', stocks('Asia/Kolkata', '0915-1530', 'INR', { mintick: 0.05 })],
  ['ASX', stocks('Australia/Sydney', '1000-1600', 'AUD')],
  ['BMFBOVESPA', stocks('America/Sao_Paulo', '1000-1700', 'BRL')],
]
const VENUE_BY_NAME: ReadonlyMap<string, (typeof VENUES)[number][1]> = new Map(
  VENUES.flatMap(([names, venue]) => names.split(' ').map((name) => [name, venue])),
)

/** The tick and the money per point by the root of a futures ticker, from the contract specifications of CME Group. */
const FUTURES: Readonly<Record<string, readonly [mintick: number, pointValue: number]>> = {
  ES: [0.25, 50],
  MES: [0.25, 5],
  NQ: [0.25, 20],
  MNQ: [0.25, 2],
  YM: [1, 5],
  MYM: [1, 0.5],
  RTY: [0.1, 50],
  M2K: [0.1, 5],
  CL: [0.01, 1000],
  MCL: [0.01, 100],
  QM: [0.025, 500],
  NG: [0.001, 10_000],
  GC: [0.1, 100],
  MGC: [0.1, 10],
  SI: [0.005, 5000],
  HG: [0.0005, 25_000],
  ZN: [0.015625, 1000],
  ZB: [0.03125, 1000],
  ZC: [0.25, 50],
  ZS: [0.25, 50],
  ZW: [0.25, 50],
  '6E': [0.00005, 125_000],
  '6J': [0.0000005, 12_500_000],
  '6B': [0.0001, 62_500],
  BTC: [5, 5],
}
const CURRENCIES =
  'USD EUR GBP JPY CHF AUD NZD CAD SEK NOK DKK PLN HUF CZK TRY ZAR MXN BRL CNH CNY HKD SGD INR KRW THB RUB ILS XAU XAG'
const QUOTES = 'USDT USDC FDUSD BUSD TUSD USD EUR GBP TRY BRL JPY AUD DAI BTC ETH BNB'.split(' ')

/** Our best guess. The tick is inferred from `bars` if the exchange does not tell it. */
export function defaultSymbol(exchange: string, symbol: string, bars: Bars | null = null): SymbolInfo {
  const name = marketName(symbol)
  const venue = venueOf(marketName(exchange), name)
  const pair = venue.type === 'crypto' || venue.type === 'forex' ? splitPair(name, venue.type) : null
  const root =
    venue.type === 'futures' ? FUTURES[name.replace(/(?:\d+!|[FGHJKMNQUVXZ]\d{1,4})$/, '')] : undefined
  const known = root?.[0] ?? (pair?.quote === 'JPY' && venue.type === 'forex' ? 0.001 : venue.mintick)
  const tick = known > 0 ? tickParts(known) : inferTick(bars)
  return {
    exchange: marketName(exchange),
    symbol: name,
    description: pair ? `${pair.base} / ${pair.quote}` : name,
    type: name.endsWith('.P') && venue.type === 'crypto' ? 'swap' : venue.type,
    currency: pair?.quote ?? venue.currency,
    baseCurrency: pair?.base ?? '',
    ...tick,
    pointValue: root?.[1] ?? 1,
    minQuantity: venue.minQuantity,
    timezone: venue.timezone,
    session: venue.session,
    // A file without a column of volumes, or one of zeros.
    volumeType: bars?.length && !bars.volume.some(Boolean) ? 'n/a' : venue.volumeType,
  }
}

function venueOf(exchange: string, symbol: string): Venue {
  const venue = VENUE_BY_NAME.get(exchange)
  // Forex brokers quote indices and metals too; those keep forex hours, but not forex ticks.
  if (venue === FOREX && !splitPair(symbol, 'forex')) return { ...FOREX, type: 'index', mintick: 0 }
  if (venue) return venue
  return splitPair(symbol, 'crypto') ? COINS : UNKNOWN
}

function splitPair(symbol: string, type: SymbolType): { base: string; quote: string } | null {
  const name = symbol.replace(/\.P$/, '').replace(/[/_-]/, '')
  if (type === 'forex') {
    const base = name.slice(0, 3)
    const quote = name.slice(3)
    return name.length === 6 && CURRENCIES.includes(base) && CURRENCIES.includes(quote)
      ? { base, quote }
      : null
  }
  const quote = QUOTES.find((one) => name.endsWith(one) && name.length > one.length + 1)
  return quote ? { base: name.slice(0, -quote.length), quote } : null
}

export type Tick = Pick<SymbolInfo, 'mintick' | 'priceScale' | 'minMove'>

/** `tickParts(0.25)` is 25 / 100. */
export function tickParts(mintick: number): Tick {
  for (let digits = 0; digits <= 12; digits++) {
    const scale = 10 ** digits
    const move = Math.round(mintick * scale)
    if (move > 0 && Math.abs(move / scale - mintick) <= mintick * 1e-9)
      return { mintick: move / scale, priceScale: scale, minMove: move }
  }
  // The smallest numbers have no finite inverse, and JSON has no infinity.
  return { mintick, priceScale: Math.min(1 / mintick, Number.MAX_VALUE), minMove: 1 }
}

/** How many bars are looked at for a tick. They are the newest, since ticks change over the years. */
const TICK_SAMPLE = 2000

/** The step that the prices of the newest bars keep to; 0.01 if there are none. */
export function inferTick(bars: Bars | null): Tick {
  if (!bars || bars.length === 0) return tickParts(0.01)
  const start = Math.max(0, bars.length - TICK_SAMPLE)
  const prices = (['open', 'high', 'low', 'close'] as const).flatMap((field) => [
    ...bars[field].subarray(start),
  ])
  const digits = prices.map(decimals).sort((a, b) => a - b)
  // A few prices with more digits, such as a stray average, do not change the tick.
  const scale = 10 ** (digits[Math.ceil((digits.length - 1) * 0.995)] ?? 2)
  const step =
    prices.length < 200 ? 1 : prices.reduce((gcd, price) => divisor(gcd, Math.round(price * scale)), 0)
  // These are the ticks that markets use. Any other step is an accident of a short or quiet series.
  const move = [5, 25, 125, 50, 2].find((one) => step === one) ?? 1
  return tickParts(move / scale)
}

/** Digits behind the point, up to 8, without the noise of 32-bit floats (1438.359985 for 1438.36). */
function decimals(price: number): number {
  const slack = Math.abs(price) * 1e-7
  for (let digits = 0; digits < 8; digits++) {
    const scale = 10 ** digits
    if (Math.abs(Math.round(price * scale) / scale - price) <= slack) return digits
  }
  return 8
}

function divisor(a: number, b: number): number {
  let [x, y] = [Math.abs(a), Math.abs(b)]
  while (y > 0) [x, y] = [y, x % y]
  return x
}

/** The fields of a symbol that a PUT may set. */
const SYMBOL_FIELDS = words(
  'description type currency baseCurrency mintick pointValue minQuantity timezone session volumeType',
)
type SymbolField = (typeof SYMBOL_FIELDS)[number]

const VOLUME_TYPES = ['base', 'quote', 'tick', 'n/a']

const positive = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value > 0
const shortText = (value: unknown, length: number) => typeof value === 'string' && value.length <= length

const RULES: Readonly<Record<SymbolField, readonly [valid: (value: unknown) => boolean, expected: string]>> =
  {
    description: [(value) => shortText(value, 200), 'must be a text of at most 200 characters'],
    type: [
      (value) => SYMBOL_TYPES.some((type) => type === value),
      `must be one of ${SYMBOL_TYPES.join(', ')}`,
    ],
    currency: [(value) => shortText(value, 12) && value !== '', 'must be a currency code such as USD'],
    baseCurrency: [(value) => shortText(value, 12), 'must be a currency code, or empty'],
    mintick: [positive, 'must be a number greater than 0'],
    pointValue: [positive, 'must be a number greater than 0'],
    minQuantity: [positive, 'must be a number greater than 0'],
    timezone: [
      (value) => typeof value === 'string' && zoneOf(value) !== null,
      'must be an IANA time zone such as America/New_York',
    ],
    session: [
      (value) => typeof value === 'string' && parseSession(value) !== null,
      'must be a session such as 0930-1600, 1700-1700:23456 or 24x7',
    ],
    volumeType: [
      (value) => VOLUME_TYPES.some((type) => type === value),
      `must be one of ${VOLUME_TYPES.join(', ')}`,
    ],
  }

/** `base` with the given fields set. Throws Problem 422 naming every field that is wrong; unknown ones are ignored. */
export function withSymbolFields(base: SymbolInfo, fields: Readonly<Record<string, unknown>>): SymbolInfo {
  const wrong: FieldProblem[] = []
  const set: Record<string, unknown> = {}
  for (const field of SYMBOL_FIELDS) {
    const value = fields[field]
    if (value === undefined) continue
    const [valid, expected] = RULES[field]
    if (valid(value)) set[field] = value
    else wrong.push({ in: 'body', path: `/${field}`, code: 'invalid', message: `${field} ${expected}` })
  }
  if (wrong.length > 0)
    throw new Problem(422, 'validation_failed', wrong.map(({ message }) => message).join('; '), {
      fields: wrong,
    })
  const tick = typeof set['mintick'] === 'number' ? tickParts(set['mintick']) : {}
  return { ...base, ...(set as Partial<SymbolInfo>), ...tick }
}

/**
 * A symbol from Pine's own names (`prefix`, `ticker`, `mintick`, `pricescale`, `minmove`, `pointvalue`, `mincontract`,
 * `currency`, `basecurrency`, `type`, `timezone`, `session`, `volumetype`). What is missing is guessed from `base`.
 */
export function symbolOfSyminfo(syminfo: Readonly<Record<string, unknown>>, base?: SymbolInfo): SymbolInfo {
  const text = (name: string) => (typeof syminfo[name] === 'string' ? syminfo[name] : undefined)
  const [prefix, ticker] = (text('tickerid') ?? text('symbol') ?? '').split(':')
  const known =
    base ??
    defaultSymbol(text('prefix') ?? (ticker ? prefix : '') ?? '', text('ticker') ?? ticker ?? prefix ?? '')
  const scale = syminfo['pricescale']
  const move = syminfo['minmove'] ?? 1
  const mintick =
    syminfo['mintick'] ?? (typeof scale === 'number' && typeof move === 'number' ? move / scale : undefined)
  const info = withSymbolFields(known, {
    description: syminfo['description'],
    type: syminfo['type'],
    currency: syminfo['currency'],
    baseCurrency: syminfo['basecurrency'],
    mintick,
    pointValue: syminfo['pointvalue'],
    minQuantity: syminfo['mincontract'],
    timezone: syminfo['timezone'],
    // Drops remarks behind the session, and colons in its times.
    session: text('session')
      ?.split(' ')[0]
      ?.replace(/(\d\d):(\d\d)-(\d\d):(\d\d)/g, '$1$2-$3$4'),
    volumeType: syminfo['volumetype'],
  })
  return { ...info, exchange: text('prefix') ?? known.exchange, symbol: text('ticker') ?? known.symbol }
}
