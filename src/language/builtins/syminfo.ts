// syminfo.*: the symbol's facts, the same for the whole run.

import type { SymbolInfo } from '../../market/symbol.ts'
import { decodeTicker } from '../runtime/ticker.ts'
import { fn, variable } from './define.ts'
import type { BuiltinEntry, BuiltinVariable } from './registry.ts'

export const SYMINFO: readonly BuiltinEntry[] = [
  fact('ticker', 'Symbol without its exchange.', 'string', (symbol) => symbol.symbol),
  fact('tickerid', 'Exchange and symbol, for request.*().', 'string', tickerIdOf),
  variable(
    'syminfo.main_tickerid',
    "Exchange and symbol of the script's own symbol, also inside request.*().",
    'simple string',
    {
      get: (runtime) => tickerIdOf(runtime.main.symbol),
      fixed: true,
    },
  ),
  fact('prefix', 'The exchange.', 'string', (symbol) => symbol.exchange),
  fact(
    'root',
    'Symbol of a futures contract without month and year; for others the symbol.',
    'string',
    rootOf,
  ),
  fact('description', 'What the symbol is.', 'string', (symbol) => symbol.description),
  fact('type', 'stock, fund, forex, crypto, futures, index…', 'string', (symbol) => symbol.type),
  fact('currency', 'Currency of the prices.', 'string', (symbol) => symbol.currency),
  fact('basecurrency', 'First currency of a pair.', 'string', (symbol) => symbol.baseCurrency),
  fact('mintick', 'Smallest step of the price.', 'float', (symbol) => symbol.mintick),
  fact('minmove', 'mintick × pricescale.', 'int', (symbol) => symbol.minMove),
  fact(
    'pricescale',
    'Price steps are counted in parts of 1 / pricescale.',
    'int',
    (symbol) => symbol.priceScale,
  ),
  fact('mincontract', 'Smallest step of a quantity.', 'float', (symbol) => symbol.minQuantity),
  fact(
    'pointvalue',
    'Money a contract gains when its price rises by 1.',
    'float',
    (symbol) => symbol.pointValue,
  ),
  fact('timezone', 'Time zone of the exchange.', 'string', (symbol) => symbol.timezone),
  fact('session', 'Trading hours the bars are of.', 'string', () => 'regular'),
  fact(
    'volumetype',
    'What volume is counted in: base, quote, tick.',
    'string',
    (symbol) => symbol.volumeType,
  ),
  fact('isin', 'ISIN of the security: none is known here.', 'string', () => ''),
  ...['country', 'industry', 'sector', 'current_contract'].map((name) => unknownFact(name, 'simple string')),
  ...['employees', 'expiration_date', 'shareholders', 'shares_outstanding_total'].map((name) =>
    unknownFact(name, 'simple int'),
  ),
  unknownFact('shares_outstanding_float', 'simple float'),
  ...['buy', 'buy_strong', 'date', 'hold', 'sell', 'sell_strong', 'total'].map((name) =>
    unknownFact(`recommendations_${name}`, 'series int'),
  ),
  ...['average', 'estimates', 'high', 'low', 'median'].map((name) =>
    unknownFact(`target_price_${name}`, 'series float'),
  ),
  unknownFact('target_price_date', 'series int'),
  fn('syminfo.prefix', 'The exchange of an identifier.', '(string symbol) string', {
    fn: (id: string | null) => decodeTicker(id ?? '').exchange,
    pure: true,
  }),
  fn('syminfo.ticker', 'The symbol of an identifier, without its exchange.', '(string symbol) string', {
    fn: (id: string | null) => decodeTicker(id ?? '').symbol,
    pure: true,
  }),
]

export function tickerIdOf(symbol: SymbolInfo): string {
  return `${symbol.exchange}:${symbol.symbol}`
}

/** `ES` of `ESZ2026` and `ES1!`. */
function rootOf(symbol: SymbolInfo): string {
  if (symbol.type !== 'futures') return symbol.symbol
  return /^(.+?)(?:[FGHJKMNQUVXZ]\d{1,4}|\d+!)$/.exec(symbol.symbol)?.[1] ?? symbol.symbol
}

function fact(
  name: string,
  doc: string,
  type: 'string' | 'int' | 'float',
  read: (symbol: SymbolInfo) => string | number,
): BuiltinVariable {
  return variable(`syminfo.${name}`, doc, `simple ${type}`, {
    get: (runtime) => read(runtime.symbol),
    fixed: true,
  })
}

/** A fact for which there is no source here. */
function unknownFact(name: string, type: string): BuiltinVariable {
  const na = type.endsWith('string') ? null : Number.NaN
  return variable(`syminfo.${name}`, 'Not known here: na.', type, { get: () => na, fixed: true }, 'source')
}
