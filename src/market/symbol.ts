// A symbol's facts: what the broker and `syminfo.*` need to know of an instrument.

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

export interface SymbolInfo {
  /** The user who sees these facts instead of everybody's; absent or '' = they are everybody's. */
  readonly owner?: string
  /** Exchange prefix, upper case: `NASDAQ`. */
  readonly exchange: string
  /** Ticker without the prefix: `AAPL`. */
  readonly symbol: string
  readonly description: string
  readonly type: SymbolType
  /** Currency prices are quoted in, ISO or coin code. */
  readonly currency: string
  /** Base currency of a pair; '' where there is none. */
  readonly baseCurrency: string
  /** Smallest price step: minMove / priceScale. */
  readonly mintick: number
  readonly priceScale: number
  readonly minMove: number
  /** Money per point and contract (futures: 500 for QM); 1 for most. */
  readonly pointValue: number
  /** Smallest quantity step (lot): 1 for stocks, 0.0001 for many coins. */
  readonly minQuantity: number
  /** IANA time zone of the exchange. */
  readonly timezone: string
  /** TradingView session text: `0930-1600`, `24x7`, `1700-1700:123456`. */
  readonly session: string
  /** `base`, `quote`, `tick` or `n/a`. */
  readonly volumeType: string
}
