import { describe, expect, test } from 'bun:test'
import { magnifierBars, magnifierInterval } from '../../src/broker/emulator/magnifier.ts'
import { barsFrom, TEST_SYMBOL } from './drive.ts'

describe('the bar magnifier', () => {
  const steps: readonly (readonly [string, string | null])[] = [
    ['1s', '1s'],
    ['30s', '5s'],
    ['1m', '10s'],
    ['5m', '30s'],
    ['10m', '1m'],
    ['15m', '2m'],
    ['30m', '5m'],
    ['1h', '10m'],
    ['4h', '30m'],
    ['1d', '1h'],
    ['3d', '4h'],
    ['1w', '1d'],
    ['nonsense', null],
  ]
  for (const [chart, finer] of steps)
    test(`walks ${chart} in steps of ${finer ?? 'nothing'}`, () => {
      expect(magnifierInterval(chart)).toBe(finer)
    })

  const minutes = barsFrom('1/2/1/2 2/3/2/3 3/4/3/4 4/5/4/5')

  test('puts minutes together in twos under 15 minutes', () => {
    const bars = magnifierBars({ bars: minutes, interval: '1m' }, '15m', TEST_SYMBOL)
    expect([bars?.length, bars?.high[0], bars?.close[1]]).toEqual([2, 3, 5])
  })

  test('takes what there is where it is coarser than TradingView would have', () => {
    expect(magnifierBars({ bars: minutes, interval: '1m' }, '5m', TEST_SYMBOL)).toBe(minutes)
    expect(magnifierBars({ bars: minutes, interval: '1m' }, '1m', TEST_SYMBOL)).toBeNull()
    expect(magnifierBars(null, '15m', TEST_SYMBOL)).toBeNull()
  })
})
