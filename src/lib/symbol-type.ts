// Kinds of symbols, as symbols have them and as they are on the wire.

import { words } from './words.ts'

export const SYMBOL_TYPES = words(
  'stock fund dr right bond warrant structured index forex futures spread economic crypto swap',
)
export type SymbolType = (typeof SYMBOL_TYPES)[number]
