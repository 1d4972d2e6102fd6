// math.*: plain functions of their arguments, and three that are more: a running sum, a rounding that knows the symbol,
// and a generator of random numbers.
//
// na is NaN, and JavaScript's own functions pass it on. Where they do not (1 to the power of na) it is written out.

import type { Runtime } from '../runtime/runtime.ts'
import { constant, fn } from './define.ts'
import type { BuiltinEntry } from './registry.ts'
import { RollingSum } from './ta/rolling-sum.ts'
import { EPSILON } from './ta/window.ts'

/**
 * K7: rounds half away from zero, where what is short of the half by 1e-10 counts as the half. TradingView looks at the
 * exact binary value times 10^precision, so the rounding error of that product is worked out and taken into account.
 * [PyneCore: 141,985 values; 118152.265 becomes .27, 100019.7405 becomes .740]
 */
export function roundHalfAway(value: number, precision: number): number {
  if (value !== value || precision !== precision) return NaN
  const places = Math.trunc(precision)
  if (Math.abs(value) === Infinity || places > 300 || places < -300) return value
  const power = 10 ** Math.abs(places)
  const size = Math.abs(value)
  const scaled = places >= 0 ? size * power : size / power
  if (scaled === Infinity) return value
  const error = places > 0 ? productError(size, power, scaled) : 0
  const whole = Math.floor(scaled)
  const units = scaled - whole + error >= 0.5 - EPSILON ? whole + 1 : whole
  const rounded = places >= 0 ? units / power : units * power
  return value < 0 ? -rounded : rounded
}

/** a·b − fl(a·b), exactly (Dekker's product with Veltkamp's split). */
function productError(a: number, b: number, product: number): number {
  const aHigh = highHalf(a)
  const bHigh = highHalf(b)
  const aLow = a - aHigh
  const bLow = b - bHigh
  const error = aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow)
  return error === error ? error : 0
}

function highHalf(value: number): number {
  const shifted = value * 134_217_729
  return shifted - (shifted - value)
}

/** These four exponents have a shortcut on TradingView, bit for bit, and only these [PyneCore, 8,000 bars]. */
export function power(base: number, exponent: number): number {
  if (base !== base || exponent !== exponent) return NaN
  if (exponent === 2) return base * base
  if (exponent === 1) return base
  if (exponent === 0) return 1
  if (exponent === 0.5) return Math.sqrt(base)
  return base ** exponent
}

/** Up to two numbers are added directly, more of them with Kahan's compensation [PyneCore, measured]. */
export function average(...numbers: number[]): number {
  let sum = 0
  if (numbers.length <= 2) {
    for (const number of numbers) sum += number
    return sum / numbers.length
  }
  let excess = 0
  for (const number of numbers) {
    const corrected = number - excess
    const total = sum + corrected
    excess = total - sum - corrected
    sum = total
  }
  return (sum - excess) / numbers.length
}

export function roundToMintick(runtime: Runtime, value: number): number {
  const { mintick, minMove, priceScale } = runtime.symbol
  return (Math.floor(value / mintick + 0.5) * minMove) / priceScale
}

/**
 * java.util.Random's generator (Knuth's linear congruence of 48 bits), which is what TradingView draws a seeded sequence
 * from: the n-th number of a call site is nextDouble()'s n-th.
 *
 * A backtest must come out the same each time, so without a seed the numbers are the same in each run too; only the
 * range asked for makes one call site's differ from another's.
 */
export class Random {
  /** The upper and lower 24 bits of the state: products of halves stay below 2^53, where doubles are exact. */
  private high = 0
  private low = 0
  private seeded = false

  next(min: number, max: number, seed: number): number {
    if (!this.seeded) {
      this.seeded = true
      this.scramble(Math.trunc(seed === seed ? seed : 0x5eed + min * 31 + max * 17))
    }
    const upper = this.bits(26)
    return min + (max - min) * ((upper * 2 ** 27 + this.bits(27)) / 2 ** 53)
  }

  private scramble(seed: number): void {
    const high = Math.floor(seed / HALF)
    this.high = (modulo(high, HALF) ^ MULTIPLIER_HIGH) >>> 0
    this.low = (modulo(seed, HALF) ^ MULTIPLIER_LOW) >>> 0
  }

  /** Steps the state and answers its upper bits, at most 32 of them. */
  private bits(count: number): number {
    const low = this.low * MULTIPLIER_LOW + 0xb
    const carry = Math.floor(low / HALF)
    const high = this.low * MULTIPLIER_HIGH + ((this.high * MULTIPLIER_LOW) % HALF) + carry
    this.low = low % HALF
    this.high = high % HALF
    return Math.floor((this.high * HALF + this.low) / 2 ** (48 - count))
  }
}

const HALF = 2 ** 24
/** 0x5DEECE66D in halves of 24 bits. */
const MULTIPLIER_HIGH = 0x5de
const MULTIPLIER_LOW = 0xece66d

/** The remainder that is never negative, as two's complement has it. */
function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}

const INT_OR_FLOAT = ['(int number) int', '(float number) float'] as const

export const MATH: readonly BuiltinEntry[] = [
  constant('math.pi', 'The circumference of a circle over its diameter.', 'const float', Math.PI),
  constant('math.e', "Euler's number.", 'const float', Math.E),
  constant('math.phi', 'The golden ratio.', 'const float', 1.618033988749895),
  constant('math.rphi', 'The golden ratio conjugate: 1 / phi.', 'const float', 0.6180339887498948),
  fn('math.abs', 'The number without its sign.', INT_OR_FLOAT, {
    fn: Math.abs,
    pure: true,
    inline: 'Math.abs',
  }),
  fn('math.sign', '1, 0 or −1, as the number is above, at or below zero.', '(float number) float', {
    fn: Math.sign,
    pure: true,
    inline: 'Math.sign',
  }),
  fn('math.floor', 'The greatest whole number not above the number.', '(float number) int', {
    fn: Math.floor,
    pure: true,
    inline: 'Math.floor',
  }),
  fn('math.ceil', 'The smallest whole number not below the number.', '(float number) int', {
    fn: Math.ceil,
    pure: true,
    inline: 'Math.ceil',
  }),
  fn(
    'math.round',
    'The nearest whole number, or the nearest one with `precision` decimals; a half goes away from zero.',
    ['(float number) int', '(float number, int precision) float'],
    [
      { fn: (number: number) => roundHalfAway(number, 0), pure: true },
      { fn: roundHalfAway, pure: true },
    ],
  ),
  fn(
    'math.round_to_mintick',
    "The nearest price on the symbol's grid of ticks.",
    ['(simple float number) simple float', '(series float number) series float'],
    { fn: roundToMintick, runtime: true },
  ),
  fn(
    'math.max',
    'The greatest of the numbers; na if one of them is.',
    ['(int ...number) int', '(float ...number) float'],
    {
      fn: Math.max,
      pure: true,
      inline: 'Math.max',
    },
  ),
  fn(
    'math.min',
    'The smallest of the numbers; na if one of them is.',
    ['(int ...number) int', '(float ...number) float'],
    {
      fn: Math.min,
      pure: true,
      inline: 'Math.min',
    },
  ),
  fn('math.avg', 'The mean of the numbers; na if one of them is.', '(float ...number) float', {
    fn: average,
    pure: true,
  }),
  fn('math.pow', 'The base to the power of the exponent.', '(float base, float exponent) float', {
    fn: power,
    pure: true,
  }),
  fn('math.sqrt', 'The square root; na of a negative number.', '(float number) float', {
    fn: Math.sqrt,
    pure: true,
    inline: 'Math.sqrt',
  }),
  fn('math.exp', 'e to the power of the number.', '(float number) float', { fn: Math.exp, pure: true }),
  fn('math.log', 'The natural logarithm.', '(float number) float', { fn: Math.log, pure: true }),
  fn('math.log10', 'The logarithm to the base of 10.', '(float number) float', {
    fn: Math.log10,
    pure: true,
  }),
  fn('math.sin', 'The sine of an angle in radians.', '(float angle) float', { fn: Math.sin, pure: true }),
  fn('math.cos', 'The cosine of an angle in radians.', '(float angle) float', { fn: Math.cos, pure: true }),
  fn('math.tan', 'The tangent of an angle in radians.', '(float angle) float', { fn: Math.tan, pure: true }),
  fn('math.asin', 'The angle in radians whose sine this is.', '(float angle) float', {
    fn: Math.asin,
    pure: true,
  }),
  fn('math.acos', 'The angle in radians whose cosine this is.', '(float angle) float', {
    fn: Math.acos,
    pure: true,
  }),
  fn('math.atan', 'The angle in radians whose tangent this is.', '(float angle) float', {
    fn: Math.atan,
    pure: true,
  }),
  fn('math.todegrees', 'An angle in radians, in degrees.', '(float radians) float', {
    fn: (radians: number) => radians * (180 / Math.PI),
    pure: true,
  }),
  fn('math.toradians', 'An angle in degrees, in radians.', '(float degrees) float', {
    fn: (degrees: number) => degrees * (Math.PI / 180),
    pure: true,
  }),
  fn(
    'math.sum',
    'The sum of the last `length` values.',
    '(series float source, series int length) series float',
    { state: RollingSum },
  ),
  fn(
    'math.random',
    'A random number from `min` up to `max`; the same sequence for the same `seed`, and in every run.',
    '(series float min = 0, series float max = 1, series int seed?) series float',
    { state: Random },
  ),
]
