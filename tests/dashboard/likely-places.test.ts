// Where a symbol without bars is looked for first.

import { expect, test } from 'bun:test'
import { likelyFirst } from '../../src/dashboard/chart/likely-places.ts'

const PROVIDERS = [
  { exchanges: ['BINANCE'] },
  { exchanges: ['KRAKEN'] },
  { exchanges: ['NASDAQ', 'NYSE', 'FX', 'KRX'] },
]

test.each([
  ['BTCUSDT', 'BINANCE'],
  ['PEPEUSDT.P', 'BINANCE'],
  ['BTCUSD', 'BINANCE'],
  ['EURUSD', 'FX'],
  ['AAPL', 'NASDAQ'],
  ['META', 'NASDAQ'],
  ['005930', 'NASDAQ'],
])('%s is looked for at %s first, and everywhere else after it', (symbol, first) => {
  const places = likelyFirst(symbol, PROVIDERS)
  expect(places[0]).toBe(first)
  expect(places.toSorted()).toEqual(['BINANCE', 'FX', 'KRAKEN', 'KRX', 'NASDAQ', 'NYSE'])
})
