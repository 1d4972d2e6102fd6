// Which of a market's bars tell what traded at each price within longer ones.

import { expect, test } from 'bun:test'
import { BarCache } from '../../src/market/bar-cache.ts'
import { type Bars, emptyBars } from '../../src/market/bars.ts'
import { barsSeenBy } from '../../src/market/seen-bars.ts'
import { sidedBars, sidedBetween } from '../../src/market/sided-bars.ts'
import { testBars } from '../store/test-store.ts'

const START = Date.UTC(2026, 0, 1)

function bars(bought: readonly number[] | null, price = 1): Bars {
  const made = emptyBars(4, { sides: bought !== null })
  for (let i = 0; i < 4; i++) made.time[i] = START + i * 60_000
  for (const field of ['open', 'high', 'low', 'close', 'volume'] as const) made[field].fill(price)
  if (bought) made.bought?.set(bought)
  return made
}

test('the finest that know their sides, and after them the next', async () => {
  const cache = new BarCache(testBars())
  const put = (interval: string, of: Bars, symbol = 'S', owner?: string) =>
    cache.upsert({ ...(owner !== undefined && { owner }), exchange: 'E', symbol, interval }, of)
  await put('1s', bars(null))
  await put('2m', bars([0, 1, 1, 0]))
  await put('5m', bars([0, 0, 0, 0]))
  // Fifteen minutes are no whole number of these, and these are another market's, another person's, and none.
  await put('4m', bars([1, 1, 1, 1]))
  await put('10s', bars([1, 1, 1, 1]), 'T')
  await put('30s', bars([1, 1, 1, 1], 9), 'S', 'ann')
  const asked = async (above: string | null, below: string, { from = START, user = 'bob' } = {}) => {
    const name = sidedBetween(above, below, from)
    const found = await sidedBars(barsSeenBy(cache, user), 'E', 'S', name)
    return found && [found.interval, found.bars.length]
  }
  expect(await asked(null, '15m')).toEqual(['5m', 4])
  expect(await asked(null, '20m')).toEqual(['2m', 4])
  expect(await asked('2m', '20m')).toEqual(['4m', 4])
  expect(await asked('4m', '20m')).toEqual(['5m', 4])
  expect(await asked('5m', '20m')).toBeNull()
  expect(await asked(null, '2m')).toBeNull()
  expect(await asked(null, '15m', { user: 'ann' })).toEqual(['30s', 4])
  expect(await asked(null, '1M')).toEqual(['2m', 4])
  // Bars before a time are not read, and of what is left somebody has to know the sides.
  expect(await asked(null, '20m', { from: START + 60_000 })).toEqual(['2m', 3])
  await put('2m', bars([0, 1, Number.NaN, Number.NaN]))
  expect(await asked(null, '20m', { from: START + 120_000 })).toEqual(['4m', 2])
})

test('an interval is none of these names', async () => {
  const seen = barsSeenBy(new BarCache(testBars()), null)
  for (const name of ['15m', '', 'sided', 'sided below', 'sided below 15m', 'sided below 15x from 0'])
    expect(await sidedBars(seen, 'E', 'S', name)).toBeUndefined()
})
