// What is said of luck, and of holding beside it.

import { expect, test } from 'bun:test'
import { lagsHolding, luckSentence } from '../../src/broker/statistics/luck-text.ts'

test('what made less than holding is not praised by its chance of luck alone', () => {
  expect(luckSentence(0.995, false)).toBe('Chance that luck alone did this: under 1%.')
  expect(luckSentence(0.995, true)).toBe(
    'Chance that luck alone did this: under 1%. Buying and holding would have made more.',
  )
  expect(luckSentence(null, true)).toEndWith('luck. Buying and holding would have made more.')
  const lags = (netProfit: number, openProfit: number, buyHold: number | null) =>
    lagsHolding({ netProfit, openProfit, buyHold })
  expect([lags(93, 62, 237), lags(93, 62, 100), lags(0, 0, -5), lags(-1, 0, null)]).toEqual([
    true,
    false,
    false,
    false,
  ])
})
