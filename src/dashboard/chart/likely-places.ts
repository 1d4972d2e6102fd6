// Where a symbol is likeliest traded, by the look of its name: pairs of coins on the exchanges of coins, currencies where
// currencies are, and the rest where shares are listed. Nobody is asked for that: a guess only puts places in order.

/** A provider: one that has its own exchange alone, or one that tells of several. */
export interface Place {
  readonly exchanges: readonly string[]
}

const COINS = /^[A-Z0-9]{2,}[-_]?(USDT|USDC|FDUSD|BUSD|BTC|ETH|PERP)(\.P)?$/
const COIN_IN_MONEY = /^(BTC|XBT|ETH|SOL|XRP|ADA|DOGE|LTC|BNB|DOT|AVAX|LINK)[-_]?(USD|EUR|GBP|JPY)(\.P)?$/
const CURRENCIES = /^((EUR|GBP|USD|JPY|CHF|AUD|NZD|CAD|SEK|NOK|PLN|TRY|MXN|ZAR|SGD|HKD|CNH)){2}$/
const OF_CURRENCIES: readonly string[] = ['FX', 'FX_IDC']

/** All exchanges of the providers, each once, the likeliest first. */
export function likelyFirst(symbol: string, providers: readonly Place[]): readonly string[] {
  const own = providers.filter(({ exchanges }) => exchanges.length === 1).flatMap((one) => one.exchanges)
  const listed = providers.filter(({ exchanges }) => exchanges.length > 1).flatMap((one) => one.exchanges)
  const money = listed.filter((one) => OF_CURRENCIES.includes(one))
  const order =
    COINS.test(symbol) || COIN_IN_MONEY.test(symbol)
      ? [own, listed]
      : CURRENCIES.test(symbol)
        ? [money, own, listed]
        : [listed, own]
  return [...new Set(order.flat())]
}
