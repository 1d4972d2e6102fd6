// Names of markets in small letters: what is changed is stored as what is made.

import { expect, test } from 'bun:test'
import { testServer, unlimited } from './server.ts'

const MARKET = { symbol: 'btcusdt', exchange: ' binance ', interval: '60' }
const CAPITALS = { symbol: 'BTCUSDT', exchange: 'BINANCE' }
const CHART = {
  ...MARKET,
  interval: '1h',
  exchange: 'binance',
  type: 'candles',
  scale: 'linear',
  volume: true,
  trades: true,
  studies: [],
  scriptId: null,
}

test.each([
  [
    'alerts',
    { ...MARKET, kind: 'price', op: 'above', price: 1, channels: ['email'] },
    MARKET,
    { alert: { ...CAPITALS, interval: '1h' } },
  ],
  [
    'ideas',
    { ...MARKET, title: 'T', body: 'B', visibility: 'private' },
    MARKET,
    { idea: { ...CAPITALS, interval: '1h' } },
  ],
  [
    'watchlists',
    { name: 'W', items: [{ symbol: 'btcusdt', exchange: 'binance' }] },
    { items: [{ symbol: 'binance:btcusdt' }] },
    { watchlist: { items: [CAPITALS] } },
  ],
  ['layouts', { name: 'L', chart: CHART }, { chart: CHART }, { layout: { chart: CAPITALS } }],
])('%s store a symbol in capitals, by POST and by PATCH', async (noun, body, change, stored) => {
  const server = testServer(unlimited)
  const headers = await server.signUp()
  const path = `/api/platform/${noun}`
  const making = noun === 'watchlists' ? `${path}/import` : path
  const made = await server.call('POST', making, { headers, body })
  expect(made.json).toMatchObject(stored)
  const changed = await server.call('PATCH', `${path}/${made.json.id}`, { headers, body: change })
  expect(changed.json).toMatchObject(stored)
  const read = await server.call('GET', `${path}/${made.json.id}`, { headers })
  expect(read.json).toMatchObject(stored)
})
