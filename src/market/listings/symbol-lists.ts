// The lists of symbols that can be had without a key.

import { binanceList, bybitList, coinbaseList, hyperliquidList, krakenList, okxList } from './coin-lists.ts'
import type { SymbolList } from './listing.ts'
import { nasdaqTraderList } from './stock-lists.ts'

export const SYMBOL_LISTS: readonly SymbolList[] = [
  binanceList,
  bybitList,
  coinbaseList,
  hyperliquidList,
  krakenList,
  nasdaqTraderList,
  okxList,
]
