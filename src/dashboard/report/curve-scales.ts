// The scales of equity curves: how an amount of money becomes a height, and what stands at the axis.

import { priceTicks } from '../../market/picture/ticks.ts'
import { compact, percent, quantity } from '../format.ts'

export const CURVE_SCALES = {
  money: ['Money', 'In money, from the lowest to the highest'],
  percent: ['%', 'What the initial capital has grown by'],
  log: ['Log', 'Equal growth is equally high, however much there is by then'],
  own: ['Own', 'Each curve on a scale of its own, from its lowest to its highest'],
} as const
export type CurveScale = keyof typeof CURVE_SCALES
/** A stored text may be of another version. */
export const scaleOf = (text: string): CurveScale => (text in CURVE_SCALES ? (text as CurveScale) : 'money')

type Values = readonly (number | null)[]

/** The lowest and highest value of a curve; null = it has none. */
export function extentOf(values: Values): { readonly low: number; readonly high: number } | null {
  let [low, high] = [Infinity, -Infinity]
  for (const value of values) {
    if (value === null) continue
    if (value < low) low = value
    if (value > high) high = value
  }
  return low <= high ? { low, high } : null
}

/** What a curve's amounts are drawn as. What a logarithm does not have is left out. */
export function heightOf(
  scale: CurveScale,
  initial: number,
  values: Values,
): (value: number) => number | null {
  if (scale === 'money') return (value) => value
  if (scale === 'percent') return (value) => (initial === 0 ? null : value / initial - 1)
  if (scale === 'log') return (value) => (value > 0 && initial > 0 ? Math.log(value / initial) : null)
  const { low, high } = extentOf(values) ?? { low: 0, high: 1 }
  return (value) => (value - low) / (high - low || 1)
}

interface AxisTick {
  readonly height: number
  readonly text: string
}

/** About `count` marks at the axis; none where each curve has a scale of its own. */
export function axisOf(scale: CurveScale, low: number, high: number, count: number): readonly AxisTick[] {
  if (scale === 'own') return []
  if (scale === 'log') return logTicks(low, high, count)
  const heights = priceTicks(low, high, count)
  const text = scale === 'money' ? moneyText(heights) : percentText(high - low)
  return heights.map((height) => ({ height, text: text(height) }))
}

/** In full where some would be the same in short, as 1M, 1M and 1M. */
const moneyText = (heights: readonly number[]) =>
  new Set(heights.map(compact)).size < heights.length ? quantity : compact

const percentText = (span: number) => (value: number) =>
  percent(value, { plus: true, places: span < 0.05 ? 1 : 0 })

/** Marks at round growth; where all of it is in a few per cent, the logarithm is as good as straight. */
function logTicks(low: number, high: number, count: number): readonly AxisTick[] {
  const [least, most] = [Math.exp(low), Math.exp(high)]
  const text = percentText(most - least)
  const even = priceTicks(least, most, count)
  const factors = most / least < 3 ? even : ROUND.filter((factor) => factor >= least && factor <= most)
  const every = Math.max(1, Math.ceil(factors.length / Math.max(1, count)))
  return factors
    .filter((factor, i) => factor > 0 && i % every === 0)
    .map((factor) => ({ height: Math.log(factor), text: text(factor - 1) }))
}
const ROUND = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** (power - 6))).flat()
