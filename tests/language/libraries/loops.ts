// Indicators as plain loops, for comparison with the libraries: nothing here is shared with the engine.

import type { Bars } from '../../../src/market/bars.ts'

export type Values = readonly number[]

const range = (length: number): number[] => Array.from({ length }, (_, i) => i)

export function priceOf(bars: Bars, name: 'open' | 'high' | 'low' | 'close' | 'volume'): number[] {
  return range(bars.length).map((i) => bars[name][i] ?? Number.NaN)
}

/** Bar by bar, from as many arrays as are given. */
export function zip(f: (...xs: number[]) => number, ...all: readonly Values[]): number[] {
  return (all[0] ?? []).map((_, i) => f(...all.map((one) => one[i] ?? Number.NaN)))
}

export function back(xs: Values, by = 1): number[] {
  return xs.map((_, i) => xs[i - by] ?? Number.NaN)
}

export function change(xs: Values, by = 1): number[] {
  return zip((a, b) => a - b, xs, back(xs, by))
}

/** What `f` says of the last `length` values, na where one of them is. `length` may change from bar to bar. */
export function over(xs: Values, length: number | Values, f: (window: number[]) => number): number[] {
  return xs.map((_, i) => {
    const size = typeof length === 'number' ? length : (length[i] ?? 0)
    const window = i + 1 < size ? [] : xs.slice(i + 1 - size, i + 1)
    return window.length === size && window.every((x) => !Number.isNaN(x)) ? f(window) : Number.NaN
  })
}

export const sumOf = (window: readonly number[]): number => window.reduce((a, b) => a + b, 0)
export const sum = (xs: Values, length: number) => over(xs, length, sumOf)
export const sma = (xs: Values, length: number) => over(xs, length, (window) => sumOf(window) / length)
export const highest = (xs: Values, length: number) => over(xs, length, (window) => Math.max(...window))
export const lowest = (xs: Values, length: number) => over(xs, length, (window) => Math.min(...window))
export const wma = (xs: Values, length: number) =>
  over(xs, length, (window) => sumOf(window.map((x, i) => x * (i + 1))) / sumOf(window.map((_, i) => i + 1)))

/** An average of which each value moves by `alpha` of the way; begins with the mean of the first `seed` values. */
function moving(xs: Values, alpha: (i: number) => number, seed: number): number[] {
  const first = xs.findIndex((x) => !Number.isNaN(x))
  let value = 0
  return xs.map((x, i) => {
    if (first < 0 || i < first + seed - 1) return Number.NaN
    value = i === first + seed - 1 ? sumOf(xs.slice(first, i + 1)) / seed : value + alpha(i) * (x - value)
    return value
  })
}

export const ema = (xs: Values, length: number) => moving(xs, () => 2 / (length + 1), length)
export const rma = (xs: Values, length: number) => moving(xs, () => 1 / length, length)
/** Those of the library that answer from the first bar on. */
export const smoothed = (xs: Values, alphas: number | Values) =>
  moving(xs, (i) => (typeof alphas === 'number' ? alphas : (alphas[i] ?? Number.NaN)), 1)

export function trueRange(bars: Bars): number[] {
  const [high, low, before] = [priceOf(bars, 'high'), priceOf(bars, 'low'), back(priceOf(bars, 'close'))]
  return zip(
    (h, l, c) => (Number.isNaN(c) ? h - l : Math.max(h - l, Math.abs(h - c), Math.abs(l - c))),
    high,
    low,
    before,
  )
}
export const atr = (bars: Bars, length: number) => rma(trueRange(bars), length)

export function rsi(xs: Values, length: number): number[] {
  const moves = change(xs)
  const up = rma(
    moves.map((x) => Math.max(x, 0)),
    length,
  )
  const down = rma(
    moves.map((x) => Math.max(-x, 0)),
    length,
  )
  return zip((u, d) => (d === 0 ? 100 : u === 0 ? 0 : 100 - 100 / (1 + u / d)), up, down)
}

/** Extremes pass over bars without a value. */
export function stoch(xs: Values, tops: Values, bottoms: Values, length: number): number[] {
  return xs.map((x, i) => {
    if (i + 1 < length) return Number.NaN
    const window = (all: Values) => all.slice(i + 1 - length, i + 1).filter((one) => !Number.isNaN(one))
    const bottom = Math.min(...window(bottoms))
    return (100 * (x - bottom)) / (Math.max(...window(tops)) - bottom)
  })
}

export const roc = (xs: Values, length: number) => zip((a, b) => (100 * (a - b)) / b, xs, back(xs, length))
