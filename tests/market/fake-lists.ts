// Lists of symbols as their providers publish them, in the documented formats, with faults among them.

export const PAGES: Readonly<Record<string, (url: URL, body: string) => unknown>> = {
  'api.binance.com': () => ({
    timezone: 'UTC',
    rateLimits: [],
    symbols: [
      { symbol: 'BTCUSDT', status: 'TRADING', baseAsset: 'BTC', quoteAsset: 'USDT' },
      { symbol: 'ETHUSDT', status: 'TRADING', baseAsset: 'ETH', quoteAsset: 'USDT' },
      { symbol: 'LUNAUSDT', status: 'BREAK', baseAsset: 'LUNA', quoteAsset: 'USDT' },
      { symbol: '币安人生USDT', status: 'TRADING', baseAsset: '币安人生', quoteAsset: 'USDT' },
      { symbol: 'TWO WORDS', status: 'TRADING', baseAsset: 'TWO', quoteAsset: 'WORDS' },
      { symbol: null, status: 'TRADING' },
      'no symbol at all',
    ],
  }),
  'api.bybit.com': ({ searchParams }) => {
    const coin = { baseCoin: 'BTC', quoteCoin: 'USDT', status: 'Trading' }
    if (searchParams.get('category') === 'spot')
      return { retCode: 0, result: { list: [{ ...coin, symbol: 'BTCUSDT' }] } }
    const isSecond = searchParams.get('cursor') === 'second'
    const linear = { ...coin, contractType: 'LinearPerpetual' }
    return {
      retCode: 0,
      result: {
        nextPageCursor: isSecond ? '' : 'second',
        list: isSecond
          ? [{ ...linear, symbol: 'SOLUSDT', baseCoin: 'SOL' }]
          : [
              { ...linear, symbol: 'BTCUSDT' },
              { ...linear, symbol: 'BTC-26DEC25', contractType: 'LinearFutures' },
              { ...linear, symbol: 'OLDUSDT', status: 'Closed' },
            ],
      },
    }
  },
  'www.okx.com': ({ searchParams }) => ({
    code: '0',
    data:
      searchParams.get('instType') === 'SPOT'
        ? [
            { instId: 'BTC-USDT', state: 'live' },
            { instId: 'BTC-BRL', state: 'live' },
            { instId: 'NEW-USDT', state: 'preopen' },
          ]
        : [{ instId: 'BTC-USDT-SWAP', state: 'live' }],
  }),
  'api.exchange.coinbase.com': () => [
    { id: 'BTC-USD', base_currency: 'BTC', quote_currency: 'USD', status: 'online', trading_disabled: false },
    { id: 'BTC-INR', base_currency: 'BTC', quote_currency: 'INR', status: 'online', trading_disabled: false },
    { id: 'ABT-USD', base_currency: 'ABT', quote_currency: 'USD', status: 'online', trading_disabled: true },
    { id: 'OLD-USD', base_currency: 'OLD', quote_currency: 'USD', status: 'delisted' },
  ],
  'api.kraken.com': () => ({
    error: [],
    result: {
      XXBTZUSD: { altname: 'XBTUSD', wsname: 'XBT/USD', status: 'online' },
      XDGEUR: { altname: 'XDGEUR', wsname: 'XDG/EUR' },
      'ETHUSD.d': { altname: 'ETHUSD.d' },
      LUNAUSD: { altname: 'LUNAUSD', wsname: 'LUNA/USD', status: 'cancel_only' },
    },
  }),
  'api.hyperliquid.xyz': (_, body) =>
    body === '{"type":"meta"}'
      ? { universe: [{ name: 'BTC' }, { name: 'kPEPE' }, { name: 'OLD', isDelisted: true }, null] }
      : null,
  'www.nasdaqtrader.com': ({ pathname }) =>
    pathname.endsWith('nasdaqlisted.txt')
      ? [
          'Symbol|Security Name|Market Category|Test Issue|Financial Status|Round Lot Size|ETF|NextShares',
          'AAPL|Apple Inc. - Common Stock|Q|N|N|100|N|N',
          'QQQ|Invesco QQQ Trust, Series 1|G|N|N|100|Y|N',
          'ZAZZT|Tick Pilot Test Stock Class A|G|Y|N|100|N|N',
          'CUT|a line that was cut',
          'File Creation Time: 1122202621:30|||||||',
        ].join('\r\n')
      : [
          'ACT Symbol|Security Name|Exchange|CQS Symbol|ETF|Round Lot Size|Test Issue|NASDAQ Symbol',
          'BRK.B|Berkshire Hathaway Inc. Class B|N|BRK.B|N|100|N|BRK=B',
          'BABA|Alibaba Group Holding Limited American Depositary Shares|N|BABA|N|100|N|BABA',
          'SPY|SPDR S&P 500|P|SPY|Y|100|N|SPY',
          'File Creation Time: 1122202621:30|||||||',
        ].join('\r\n'),
}

/** Answers as the provider of an address does. */
export function listAnswer(address: string, body = ''): Response {
  const url = new URL(address)
  const page = PAGES[url.hostname]?.(url, body)
  if (page === undefined) return new Response('not found', { status: 404 })
  return typeof page === 'string' ? new Response(page) : Response.json(page)
}
