// Exchanges whose bars come by a stream. The page has no need of more than their names.

export const STREAMED_EXCHANGES: readonly string[] = [
  'BINANCE',
  'BYBIT',
  'COINBASE',
  'HYPERLIQUID',
  'KRAKEN',
  'OKX',
]
