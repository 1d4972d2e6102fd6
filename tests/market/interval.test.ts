import { describe, expect, test } from 'bun:test'
import {
  canBuild,
  compareIntervals,
  intervalMs,
  normalizeInterval,
  parseInterval,
  toTimeframe,
} from '../../src/market/interval.ts'

function interval(text: string) {
  const parsed = parseInterval(text)
  if (!parsed) throw new Error(`${text} is no interval`)
  return parsed
}

test.each([
  ['15m', '15m', '15'],
  ['1', '1m', '1'],
  ['60', '1h', '60'],
  ['60m', '1h', '60'],
  ['90', '90m', '90'],
  ['240', '4h', '240'],
  ['4H', '4h', '240'],
  ['1440', '24h', '1440'],
  ['D', '1d', '1D'],
  ['1D', '1d', '1D'],
  ['3d', '3d', '3D'],
  ['W', '1w', '1W'],
  ['M', '1M', '1M'],
  ['3M', '3M', '3M'],
  ['3m', '3m', '3'],
  ['15S', '15s', '15S'],
  ['S', '1s', '1S'],
  ['120s', '2m', '2'],
  ['3600s', '1h', '60'],
])('%s is %s, and %s on TradingView', (text, normal, timeframe) => {
  expect(normalizeInterval(text)).toBe(normal)
  expect(normalizeInterval(normal)).toBe(normal)
  expect(toTimeframe(interval(text))).toBe(timeframe)
  expect(normalizeInterval(timeframe)).toBe(normal)
})

test.each(['', 'm', 'h', '0', '0m', '-5', '1.5h', '1T', '15 m', 'day', '1y', '13M', '53w', '1441', '25h'])(
  '%p is no interval',
  (text) => {
    expect(normalizeInterval(text)).toBeNull()
  },
)

describe('canBuild', () => {
  test.each([
    ['1h', '15m', true],
    ['1h', '7m', false],
    ['1d', '7m', true],
    ['1w', '1d', true],
    ['1M', '1d', true],
    ['1M', '1w', false],
    ['2w', '1w', true],
    ['3d', '2d', false],
    ['6d', '2d', true],
    ['1h', '1d', false],
    ['24h', '1d', false],
    ['12M', '3M', true],
  ])('%s from %s: %p', (coarse, fine, possible) => {
    expect(canBuild(interval(coarse), interval(fine))).toBe(possible)
  })
})

test('intervals sort from seconds to months', () => {
  const sorted = ['1M', '5s', '1w', '4h', '1d', '90m'].map(interval).sort(compareIntervals)
  expect(sorted.map(toTimeframe)).toEqual(['5S', '90', '240', '1D', '1W', '1M'])
  expect(intervalMs(interval('1M')) / 1000).toBe(2_628_003)
})
