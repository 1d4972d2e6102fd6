// A symbol's facts: what the broker and `syminfo.*` need to know about an instrument.

import type { SymbolType } from '../lib/symbol-type.ts'

export interface SymbolInfo {
  /** The user who sees these facts instead of everybody's; absent or '' = everybody sees them. */
  readonly owner?: string
  /** Exchange prefix, upper case: `NASDAQ`. */
  readonly exchange: string
  /** The ticker without the prefix: `AAPL`. */
  readonly symbol: string
  readonly description: string
  readonly type: SymbolType
  /** The currency that prices are quoted in, as an ISO or coin code. */
  readonly currency: string
  /** The base currency of a pair; '' if there is none. */
  readonly baseCurrency: string
  /** The smallest price step: minMove / priceScale. */
  readonly mintick: number
  readonly priceScale: number
  readonly minMove: number
  /** Money per point and contract: 500 for QM futures, 1 for most instruments. */
  readonly pointValue: number
  /** The smallest quantity step (lot): 1 for stocks, 0.0001 for many coins. */
  readonly minQuantity: number
  /** IANA time zone of the exchange. */
  readonly timezone: string
  /** TradingView session text: `0930-1600`, `24x7`, `1700-1700:123456`. */
  readonly session: string
  /** `base`, `quote`, `tick` or `n/a`. */
  readonly volumeType: string
}
