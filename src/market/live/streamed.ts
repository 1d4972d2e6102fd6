// Exchanges whose bars come by a stream, and those that are asked for by turns. The page has no need of more than their names.

export const STREAMED_EXCHANGES: readonly string[] = [
  'BINANCE',
  'BYBIT',
  'COINBASE',
  'HYPERLIQUID',
  'KRAKEN',
  'OKX',
]

/** Those of Yahoo Finance and of the providers that need a key. */
export const POLLED_EXCHANGES: readonly string[] =
  'NASDAQ NYSE AMEX ARCA BATS OTC SP DJ CBOE FX FX_IDC LSE XETR EURONEXT MIL BME SIX TSX TSE HKEX NSE BSE ASX KRX'.split(
    ' ',
  )
