// The symbols of the exchanges of coins, from the same services as their bars.

import { coinbaseProduct } from '../providers/coinbase.ts'
import { okxInstrument } from '../providers/okx.ts'
import { asList, asRecord } from '../providers/provider.ts'
import { malformedList } from './fetch-list.ts'
import { type Listing, listing, listings, type SymbolList } from './listing.ts'

const pairName = (base: unknown, quote: unknown) => `${String(base)} / ${String(quote)}`

/** GET /api/v3/exchangeInfo: all at once, without the permissions, which are two thirds of the answer. */
export const binanceList: SymbolList = {
  provider: 'Binance',
  exchanges: ['BINANCE'],
  gapMs: 1000,
  async *read(pages) {
    const url = 'https://api.binance.com/api/v3/exchangeInfo?showPermissionSets=false'
    const all = asList(asRecord(await pages.json({ url }))?.['symbols'])
    if (!all) throw malformedList('Binance')
    yield listings(
      all.map((item) => {
        const one = asRecord(item)
        if (one?.['status'] !== 'TRADING') return null
        return listing('BINANCE', one['symbol'], pairName(one['baseAsset'], one['quoteAsset']), 'crypto')
      }),
    )
  },
}

/** GET /v5/market/instruments-info: spot at once, perpetual contracts in pages. */
export const bybitList: SymbolList = {
  provider: 'Bybit',
  exchanges: ['BYBIT'],
  gapMs: 200,
  async *read(pages) {
    for (const category of ['spot', 'linear'])
      for (let cursor = ''; ;) {
        const query = new URLSearchParams({ category, limit: '1000', ...(cursor && { cursor }) })
        const url = `https://api.bybit.com/v5/market/instruments-info?${query.toString()}`
        const answer = asRecord(await pages.json({ url }))
        const result = asRecord(answer?.['result'])
        const all = asList(result?.['list'])
        if (answer?.['retCode'] !== 0 || !all) throw malformedList('Bybit')
        yield listings(all.map((item) => bybitListing(asRecord(item), category)))
        const next = result?.['nextPageCursor']
        if (typeof next !== 'string' || next === '' || next === cursor) break
        cursor = next
      }
  },
}

function bybitListing(one: ReturnType<typeof asRecord>, category: string): Listing | null {
  if (one?.['status'] !== 'Trading') return null
  const name = pairName(one['baseCoin'], one['quoteCoin'])
  if (category === 'spot') return listing('BYBIT', one['symbol'], name, 'crypto')
  return one['contractType'] === 'LinearPerpetual'
    ? listing('BYBIT', `${String(one['symbol'])}.P`, `${name} perpetual contract`, 'swap')
    : null
}

/** GET /api/v5/public/instruments. */
export const okxList: SymbolList = {
  provider: 'OKX',
  exchanges: ['OKX'],
  gapMs: 200,
  async *read(pages) {
    for (const type of ['SPOT', 'SWAP']) {
      const answer = asRecord(
        await pages.json({ url: `https://www.okx.com/api/v5/public/instruments?instType=${type}` }),
      )
      const all = asList(answer?.['data'])
      if (answer?.['code'] !== '0' || !all) throw malformedList('OKX')
      yield listings(all.map((item) => okxListing(asRecord(item), type)))
    }
  },
}

function okxListing(one: ReturnType<typeof asRecord>, type: string): Listing | null {
  if (one?.['state'] !== 'live') return null
  const instrument = String(one['instId'])
  const [base = '', quote = ''] = instrument.split('-')
  const name = pairName(base, quote)
  const end = type === 'SPOT' ? '' : '.P'
  // A pair with a quote that is rare would not be told apart again without its hyphen.
  const joined = `${base}${quote}${end}`
  const symbol = okxInstrument(joined) === instrument ? joined : `${base}-${quote}${end}`
  return end === ''
    ? listing('OKX', symbol, name, 'crypto')
    : listing('OKX', symbol, `${name} perpetual contract`, 'swap')
}

/** GET /products. */
export const coinbaseList: SymbolList = {
  provider: 'Coinbase',
  exchanges: ['COINBASE'],
  gapMs: 200,
  async *read(pages) {
    const all = asList(await pages.json({ url: 'https://api.exchange.coinbase.com/products' }))
    if (!all) throw malformedList('Coinbase')
    yield listings(
      all.map((item) => {
        const one = asRecord(item)
        if (one?.['status'] !== 'online' || one['trading_disabled'] === true) return null
        const { id, base_currency: base, quote_currency: quote } = one
        const joined = `${String(base)}${String(quote)}`
        const symbol = coinbaseProduct(joined) === id ? joined : id
        return listing('COINBASE', symbol, pairName(base, quote), 'crypto')
      }),
    )
  },
}

/** GET /0/public/AssetPairs. Kraken writes XBT and XDG where everybody else writes BTC and DOGE. */
export const krakenList: SymbolList = {
  provider: 'Kraken',
  exchanges: ['KRAKEN'],
  gapMs: 1000,
  async *read(pages) {
    const answer = asRecord(await pages.json({ url: 'https://api.kraken.com/0/public/AssetPairs' }))
    const all = asRecord(answer?.['result'])
    if (!all) throw malformedList('Kraken')
    yield listings(
      Object.values(all).map((item) => {
        const one = asRecord(item)
        if (typeof one?.['wsname'] !== 'string' || (one['status'] ?? 'online') !== 'online') return null
        const [base = '', quote = ''] = one['wsname'].split('/').map(krakenCoin)
        return listing('KRAKEN', `${base}${quote}`, pairName(base, quote), 'crypto')
      }),
    )
  },
}

const krakenCoin = (name: string) => ({ XBT: 'BTC', XDG: 'DOGE' })[name] ?? name

/** POST /info {"type":"meta"}: perpetual contracts, by the name of their coin. */
export const hyperliquidList: SymbolList = {
  provider: 'Hyperliquid',
  exchanges: ['HYPERLIQUID'],
  gapMs: 1000,
  async *read(pages) {
    const asked = { url: 'https://api.hyperliquid.xyz/info', body: { type: 'meta' } }
    const all = asList(asRecord(await pages.json(asked))?.['universe'])
    if (!all) throw malformedList('Hyperliquid')
    yield listings(
      all.map((item) => {
        const one = asRecord(item)
        if (!one || one['isDelisted'] === true) return null
        return hyperliquidListing(one['name'])
      }),
    )
  },
}

/** Tickers are in upper case here, so those of `kPEPE` and its like could not be asked for. */
function hyperliquidListing(coin: unknown): Listing | null {
  if (typeof coin !== 'string' || coin !== coin.toUpperCase()) return null
  return listing('HYPERLIQUID', `${coin}USDC.P`, `${coin} / USDC perpetual contract`, 'swap')
}
