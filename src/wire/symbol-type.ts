// Kinds of symbols, as they are on the wire.

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
