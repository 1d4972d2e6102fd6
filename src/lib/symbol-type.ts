// Kinds of symbols, as symbols have them and as they are on the wire.

export const SYMBOL_TYPES = [
  'stock',
  'fund',
  'dr',
  'right',
  'bond',
  'warrant',
  'structured',
  'index',
  'forex',
  'futures',
  'spread',
  'economic',
  'crypto',
  'swap',
] as const
export type SymbolType = (typeof SYMBOL_TYPES)[number]
