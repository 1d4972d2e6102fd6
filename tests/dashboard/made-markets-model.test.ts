// Formulas and continuous futures as the page knows them.

import { expect, test } from 'bun:test'
import { allContinuous, factsOf, isPartOf } from '../../src/dashboard/chart/made-markets.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import type { SymbolFacts } from '../../src/wire/bars.ts'

const facts = (exchange: string, symbol: string): SymbolFacts => ({
  ...defaultSymbol(exchange, symbol),
  shared: true,
  series: [{ interval: '1d', count: 9, first: 0, last: 9, shared: true }],
})
const all = [
  ...['ESH2025', 'ESM2025', 'GCZ2025'].map((symbol) => facts('CME', symbol)),
  ...['NQH2025', 'NQM2025', 'NQ1!'].map((symbol) => facts('X', symbol)),
]

test('roots with two contracts are offered as continuous futures, unless one is stored', () => {
  expect(allContinuous(all).map(({ exchange, symbol }) => `${exchange}:${symbol}`)).toEqual([
    'CME:ES1!',
    'CME:ES1!B',
    'CME:ES2!',
    'X:NQ1!B',
    'X:NQ2!',
  ])
})

test('they have the facts of the newest contract, and a name that people read', () => {
  const named = (symbol: string) => factsOf(all, { exchange: 'CME', symbol })
  expect(named('ES2!R')).toMatchObject({
    type: 'futures',
    description: 'ES, continuous, contract 2, back-adjusted by ratio',
  })
  expect(named('ES1!')?.series).toEqual(all[1]!.series)
  expect([named('NQ1!'), named('ES')]).toEqual([null, null])
  expect(factsOf(all, { exchange: 'SPREAD', symbol: 'CME:ES1!-X:NQ1!' })?.description).toBe('ES1! - NQ1!')
})

test('new bars of a contract are news of what is made of it', () => {
  const part = { exchange: 'CME', symbol: 'ESM2025' }
  const markets = ['CME:ESM2025', 'CME:ES1!B', 'CME:NQ1!', 'X:ES1!', 'CME:ES'].map((name) => {
    const [exchange = '', symbol = ''] = name.split(':')
    return { exchange, symbol }
  })
  const spread = { exchange: 'SPREAD', symbol: 'CME:ES1!/X:NQ1!' }
  expect([...markets, spread].map((market) => isPartOf(part, market))).toEqual([
    true,
    true,
    false,
    false,
    false,
    true,
  ])
})
