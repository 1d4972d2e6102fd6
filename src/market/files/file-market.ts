// Reads exchange, symbol and interval from the name of a file of bars, as the programs that write them name it.

import { cutText } from '../../lib/text-cut.ts'
import { normalizeInterval } from '../interval.ts'

export interface FileMarket {
  readonly exchange: string
  readonly symbol: string
  readonly interval: string
}

type Rule = readonly [name: RegExp, market: (...parts: string[]) => Partial<FileMarket>]

const RULES: readonly Rule[] = [
  // BTCUSDT-1h-2024-01, BTCUSDT-aggTrades-2024-01-15 (Binance).
  [
    /^([A-Z0-9]+)-(\d+[smhdw]|1mo|aggTrades|trades)-\d{4}-\d{2}/i,
    (symbol, interval) => ({
      exchange: 'BINANCE',
      symbol,
      interval: interval === '1mo' ? '1M' : /trades/i.test(interval) ? '1m' : interval,
    }),
  ],
  // BTC_USDT-1h, BTC_USDT_USDT-1h-futures (freqtrade).
  [
    /^([A-Z0-9]+)_([A-Z0-9]+)(?:_[A-Z0-9]+)?-(\d+(?:[smhdwM]|mo))(?:-\w+)?$/,
    (base, quote, interval) => ({ symbol: `${base}${quote}`, interval: interval.replace('mo', 'M') }),
  ],
  // 20240102_spy_minute_trade (Lean).
  [
    /^\d{8}_([a-z0-9.]+)_(minute|second)_\w+$/i,
    (symbol, step) => ({ symbol, interval: step.toLowerCase() === 'minute' ? '1m' : '1s' }),
  ],
  // DAT_ASCII_EURUSD_M1_2024, DAT_MT_EURUSD_M1_202401, DAT_ASCII_EURUSD_T_202401 (HistData).
  [/^DAT_[A-Z]+_([A-Z0-9]+)_(?:M1|T\w*)_\d+/i, (symbol) => ({ exchange: 'FX', symbol, interval: '1m' })],
  // EURUSD_Candlestick_15_M_BID_01.01.2024-31.01.2024, EURUSD_Ticks_01.01.2024-02.01.2024 (Dukascopy).
  [
    /^(\p{L}[\p{L}\p{N}.]*)_Candlestick_(\d+)_([A-Z]+)_/iu,
    (symbol, count, unit) => ({
      exchange: 'FX',
      symbol,
      interval: unit.toUpperCase() === 'MONTH' ? `${count}M` : `${count}${unit[0]?.toLowerCase()}`,
    }),
  ],
  [/^(\p{L}[\p{L}\p{N}.]*)_Ticks_/iu, (symbol) => ({ exchange: 'FX', symbol, interval: '1m' })],
  // EURUSD_M15_202401020000_202412312345, EURUSDM15, EURUSD_Daily_… (MetaTrader).
  [
    /^([\p{L}\p{N}.#]+?)_?(M|H)(\d{1,2})(?:_\d{8,}.*)?$/iu,
    (symbol, unit, count) => ({ symbol, interval: `${count}${unit.toLowerCase()}` }),
  ],
  [
    /^([\p{L}\p{N}.#]+)_(Daily|Weekly|Monthly)(?:_\d{8,}.*)?$/iu,
    (symbol, word) => ({
      symbol,
      interval: word.toLowerCase() === 'monthly' ? '1M' : `1${word[0]?.toLowerCase()}`,
    }),
  ],
  // aapl_us_d, aapl.us (Stooq).
  [
    /^([a-z0-9-]+)[._]us(?:_([dwm]))?$/i,
    (symbol, unit = 'd') => ({ symbol, interval: unit === 'm' ? '1M' : `1${unit}` }),
  ],
  // `XBTUSD_1440` (Kraken): minutes behind a line, without an exchange.
  [
    /^([A-Z0-9.]+)_(1|5|15|30|60|240|720|1440|10080|21600)$/i,
    (symbol, minutes) => ({ exchange: 'KRAKEN', symbol, interval: minutesOf(minutes) }),
  ],
  // `BINANCE_BTCUSDT, 60` (TradingView), `NASDAQ_AAPL_1D`.
  [
    /^([\p{L}\p{N}]+)_([\p{L}\p{N}.!&-]+)[,_ ]+\s*(\d*[SHDWM]?)(?:[_ (].*)?$/iu,
    (exchange, symbol, interval) => ({ exchange, symbol, interval: intervalOf(interval) }),
  ],
  [
    /^([\p{L}\p{N}.]+)[-_ ]+(\d+[smhdwM]|[DWM])$/iu,
    (symbol, interval) => ({ symbol, interval: intervalOf(interval) }),
  ],
]

/** Exchange, symbol and interval that the name tells; '' and `1d` for parts that it does not. */
export function marketOfFile(name: string): FileMarket {
  const told = marketTold(name)
  if (told) return told
  const [symbol = ''] = cutText(stemOf(name).replace(/[^\p{L}\p{N}.]/gu, ''), 30)
  return { exchange: '', symbol: symbol.toUpperCase(), interval: '1d' }
}

/** null if the name is not built as one of the programs builds it. */
export function marketTold(name: string): FileMarket | null {
  const stem = stemOf(name)
  for (const [pattern, market] of RULES) {
    const match = pattern.exec(stem)
    if (!match) continue
    const { exchange = '', symbol = '', interval = '1d' } = market(...match.slice(1))
    return {
      exchange: exchange.toUpperCase(),
      symbol: symbol.toUpperCase(),
      interval: normalizeInterval(interval) ?? '1d',
    }
  }
  return null
}

/** The series that a name is known to tell; null if it is not built as one of the programs builds it. */
export function seriesTold(name: string): string | null {
  const told = marketTold(name)
  const stem = stemOf(name)
  // Of quotes some write a file for each side. NinjaTrader names contracts by months: `ES 03-24.Last`.
  const [side = '', dot] = /([._])(?:last|bid|ask)(?![a-z])/i.exec(stem) ?? []
  if (told) return `${told.symbol} ${told.interval}${side.toUpperCase()}`
  return dot === '.' ? stem.toUpperCase() : null
}

const OF_PARTS =
  /^(?:part|copy|q|h|w|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)$/

/** What may be the series in any other name: its letters apart from numbers, months and parts; '' if there are none. */
export function wordsOf(name: string): string {
  const words =
    stemOf(name)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? []
  return words.filter((word) => !OF_PARTS.test(word) && (word.length > 1 || words.length === 1)).join(' ')
}

function stemOf(name: string): string {
  const last = name.normalize().split(/[/\\]/).at(-1) ?? ''
  return last
    .replace(/\.(?:zip|gz|gzip|zst|zstd)$/i, '')
    .replace(/\.(?:csv|txt|json|parquet|arrow|feather|prn|hst)$/i, '')
}

function minutesOf(text: string): string {
  const minutes = Number(text)
  if (minutes === 1440) return '1d'
  return minutes === 10_080 ? '1w' : minutes === 21_600 ? '15d' : `${minutes}m`
}

/** TradingView's spelling of an interval; an upper case M is months. */
function intervalOf(text: string): string {
  if (/^\d+$/.test(text)) return `${text}m`
  const [, count = '', unit = ''] = /^(\d*)([A-Za-z])$/.exec(text) ?? []
  if (unit === '') return '1d'
  return `${count || '1'}${unit === 'M' ? 'M' : unit.toLowerCase()}`
}
