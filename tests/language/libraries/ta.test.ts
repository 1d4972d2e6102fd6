// Each export of TradingView/ta by value: the bundled Pine against a plain loop over the same bars.

import { describe, expect, test } from 'bun:test'
import type { Bars } from '../../../src/market/bars.ts'
import { barsOf, plotted, runScript, walk } from '../run-script.ts'
import {
  atr,
  back,
  change,
  ema,
  highest,
  lowest,
  over,
  priceOf,
  roc,
  rsi,
  sma,
  smoothed,
  stoch,
  sum,
  sumOf,
  trueRange,
  type Values,
  wma,
  zip,
} from './loops.ts'

const LENGTH = 800
const bars = barsOf(walk(LENGTH, 20_261_124))
/** Pine takes numbers that differ by noise for equal, loops do not. */
function cents(price: number): number {
  return Math.round(price * 100) / 100
}
// Wicks of their own, and no volume that follows the price.
for (let i = 0; i < LENGTH; i++) {
  bars.high[i] = cents((bars.high[i] ?? 0) + ((i * 7) % 5) / 10)
  bars.low[i] = cents((bars.low[i] ?? 0) - ((i * 11) % 7) / 10)
  bars.volume[i] = 100 + ((i * 37) % 91)
}

const open = priceOf(bars, 'open')
const high = priceOf(bars, 'high')
const low = priceOf(bars, 'low')
const close = priceOf(bars, 'close')
const volume = priceOf(bars, 'volume')
const hl2 = zip((h, l) => (h + l) / 2, high, low)
const hlc3 = zip((h, l, c) => (h + l + c) / 3, high, low, close)
/** A length that changes: 5 to 9. */
const lengths = close.map((_, i) => 5 + (i % 5))
const LENGTHS = '5 + bar_index % 5'

const ema2 = (xs: Values, n: number | Values) =>
  smoothed(xs, typeof n === 'number' ? 2 / (n + 1) : n.map((one) => 2 / (one + 1)))
const signOfClose = change(close).map(Math.sign)
const dema = (xs: Values, n: number, average = ema) =>
  zip((a, b) => 2 * a - b, average(xs, n), average(average(xs, n), n))
const tema = (xs: Values, n: number, average: (xs: Values, n: number) => number[] = ema) => {
  const [one, two] = [average(xs, n), average(average(xs, n), n)]
  return zip((a, b, c) => 3 * a - 3 * b + c, one, two, average(two, n))
}
const t3 = (xs: Values, n: number, average: (xs: Values, n: number) => number[]) => {
  const gd = (x: Values) => zip((a, b) => a * 1.7 - b * 0.7, average(x, n), average(average(x, n), n))
  return gd(gd(gd(xs)))
}

function aroon(length: number, window: number): number[][] {
  const since = (xs: Values, isBest: (a: number, b: number) => boolean) =>
    xs.map((_, i) => {
      if (i + 1 < window) return Number.NaN
      let best = i
      for (let j = i - 1; j > i - window; j--) if (isBest(xs[j]!, xs[best]!)) best = j
      return (100 * (length - (i - best))) / length
    })
  // Of equals the oldest, as `ta.highestbars` has it.
  return [since(high, (a, b) => a >= b), since(low, (a, b) => a <= b)]
}

function frama(length: number): number[] {
  const half = Math.floor(length / 2)
  const span = (n: number) => zip((h, l) => (h - l) / n, highest(high, n), lowest(low, n))
  const [recent, whole] = [span(half), span(2 * half)]
  const alphas = zip(
    (n1, n2, n3) => Math.exp(-4.6 * (Number.isNaN(n1 + n2 + n3) ? 0 : Math.log2((n1 + n2) / n3) - 1)),
    recent,
    back(recent, half),
    whole,
  )
  return smoothed(close, alphas)
}

function fisher(xs: Values, length: number): number[] {
  const [top, bottom] = [highest(xs, length), lowest(xs, length)]
  let place = 0
  let value = 0
  return xs.map((x, i) => {
    const at = 0.66 * ((x - bottom[i]!) / (top[i]! - bottom[i]!) - 0.5) + 0.67 * (place || 0)
    place = at > 0.99 ? 0.999 : at < -0.99 ? -0.999 : at
    value = 0.5 * Math.log((1 + place) / (1 - place)) + 0.5 * (value || 0)
    return value
  })
}

function supertrend(factor: number, ranges: Values, above: Values, below: Values): number[][] {
  let [upper, lower, direction] = [0, 0, 1]
  const lines: number[] = []
  const directions: number[] = []
  for (const [i, middle] of hl2.entries()) {
    const distance = factor * ranges[i]!
    const [top, bottom] = [middle + distance, middle - distance]
    const isKnown = i > 0 && !Number.isNaN(ranges[i - 1]!)
    upper = !isKnown || top < upper || above[i - 1]! > upper ? top : upper
    lower = !isKnown || bottom > lower || below[i - 1]! < lower ? bottom : lower
    if (!isKnown) direction = 1
    else if (direction === 1) direction = above[i]! > upper ? -1 : 1
    else direction = below[i]! < lower ? 1 : -1
    lines.push(direction === -1 ? lower : upper)
    directions.push(direction)
  }
  return [lines, directions]
}

function stop(xs: Values, distances: Values): number[][] {
  let [top, bottom, at, up] = [xs[0]!, xs[0]!, 0, true]
  const stops: number[] = []
  const ups: number[] = []
  for (const [i, x] of xs.entries()) {
    top = Math.max(top, x)
    bottom = Math.min(bottom, x)
    const moved = up ? Math.max(at, top - distances[i]!) : Math.min(at, bottom + distances[i]!)
    at = Number.isNaN(moved) ? x : moved
    if (x >= at !== up) {
      up = !up
      top = x
      bottom = x
      at = up ? x - distances[i]! : x + distances[i]!
    }
    stops.push(at)
    ups.push(up ? 1 : 0)
  }
  return [stops, ups]
}

/** The middle one of 2n + 1 bars, and no earlier one equals it here. */
function fractals(xs: Values, n: number): number[] {
  return xs.map((_, i) => {
    const peak = xs[i - n]
    if (peak === undefined || i < 2 * n) return 0
    const newer = xs.slice(i - n + 1, i + 1).every((x) => x < peak)
    let older = false
    for (let equal = 0; equal <= 4; equal++) {
      const before = xs.slice(Math.max(0, i - n - n - equal), i - n).toReversed()
      older ||= before.length === n + equal && before.every((x, j) => (j < equal ? x <= peak : x < peak))
    }
    return newer && older ? 1 : 0
  })
}

function since(
  xs: Values,
  resets: (i: number) => boolean,
  better: (a: number, b: number) => number,
): number[] {
  let value = Number.NaN
  return xs.map((x, i) => (value = resets(i) || Number.isNaN(value) ? x : better(value, x)))
}

const stochRsi = sma(stoch(rsi(close, 14), rsi(close, 14), rsi(close, 14), 14), 3)
const stochFull = sma(stoch(close, high, low, 14), 3)
const kvo = zip(
  (a, b) => a - b,
  ema(
    zip((a, b) => Math.sign(a) * b * 100, change(hlc3), volume),
    34,
  ),
  ema(
    zip((a, b) => Math.sign(a) * b * 100, change(hlc3), volume),
    55,
  ),
)
const macd2 = zip((a, b) => a - b, ema2(close, 12), ema2(close, 26))
const percent = (a: number, b: number) => (100 * (a - b)) / b
const ppo = zip(percent, ema(close, 12), ema(close, 26))
const ppo2 = zip(percent, ema2(close, 12), ema2(close, 26))
const pmo = smoothed(
  smoothed(roc(close, 1), 2 / 35).map((x) => 10 * x),
  2 / 20,
)
const er = over(close, 11, (w) => {
  const way = sumOf(w.slice(1).map((x, i) => Math.abs(x - w[i]!)))
  return Math.abs(w[10]! - w[0]!) / way
})
const kama = smoothed(
  close,
  er.map((x) => ((x || 0) * (2 / 3 - 2 / 31) + 2 / 31) ** 2),
)
const trixOf = (average: (xs: Values, n: number) => number[]) =>
  roc(average(average(average(close, 9), 9), 9), 1)
const specialK = [
  [10, 10, 1],
  [15, 10, 2],
  [20, 10, 3],
  [30, 15, 4],
  [40, 50, 1],
  [65, 65, 2],
  [75, 75, 3],
  [100, 100, 4],
  [195, 130, 1],
  [265, 130, 2],
  [390, 130, 3],
  [530, 195, 4],
]
  .map(([by, over_, weight]) => sma(roc(close, by!), over_!).map((x) => x * weight!))
  .reduce((a, b) => zip((x, y) => x + y, a, b))
const pressure = zip((c, l, b) => c - Math.min(l, Number.isNaN(b) ? l : b), close, low, back(close))
const uo = zip(
  (a, b, c) => (100 * (4 * a + 2 * b + c)) / 7,
  ...[7, 14, 28].map((n) => zip((p, r) => p / r, sum(pressure, n), sum(trueRange(bars), n))),
)
const placed = (xs: Values, n: number) => {
  let last = 0
  return stoch(xs, xs, xs, n).map((x) => (last = Number.isFinite(x) ? x : last))
}
const stc = (() => {
  const first = placed(
    zip((a, b) => a - b, ema(close, 23), ema(close, 50)),
    10,
  )
  return ema(placed(ema(first, 3), 10), 3).map((x) => Math.max(0, Math.min(100, x)))
})()
const rwi = (to: Values, from: Values, sign: number) =>
  zip(
    (a, b, r) => (sign * (a - (Number.isNaN(b) ? 0 : b))) / (r * Math.sqrt(14)),
    to,
    back(from, 14),
    atr(bars, 14),
  )
const middle = (n: number) => zip((a, b) => (a + b) / 2, highest(high, n), lowest(low, n))
const chandelier = (ranges: Values) => [
  zip((h, r) => h - 3 * r, highest(high, 22), ranges),
  zip((l, r) => l + 3 * r, lowest(low, 22), ranges),
]
const resetsAt = (i: number) => i % 50 === 20

/** Path of the version, call, and what it gives: a list of columns where that is a tuple. */
const CASES: readonly (readonly [version: number, call: string, expected: readonly Values[]])[] = [
  [14, 'ao()', [zip((a, b) => a - b, sma(hl2, 5), sma(hl2, 34))]],
  [10, 'aroon(14)', aroon(14, 14)],
  [14, 'aroon(14)', aroon(14, 15)],
  [7, 'atr2(14)', [smoothed(trueRange(bars), 1 / 14)]],
  [
    14,
    `atr2(${LENGTHS})`,
    [
      smoothed(
        trueRange(bars),
        lengths.map((n) => 1 / n),
      ),
    ],
  ],
  [7, 'changePercent(close, open)', [zip(percent, close, open)]],
  [
    3,
    'coppock(close, 14, 11, 10)',
    [
      wma(
        zip((a, b) => a + b, roc(close, 14), roc(close, 11)),
        10,
      ),
    ],
  ],
  [3, 'dema(close, 9)', [dema(close, 9)]],
  [3, 'dema2(close, 9)', [dema(close, 9, ema2)]],
  [3, 'ema2(close, 9)', [ema2(close, 9)]],
  [14, `ema2(close, ${LENGTHS})`, [ema2(close, lengths)]],
  [3, 'tema(close, 9)', [tema(close, 9)]],
  [3, 'tema2(close, 9)', [tema(close, 9, ema2)]],
  [3, 't3(close, 6)', [t3(close, 6, ema)]],
  [3, 't3Alt(close, 6, 0.7)', [t3(close, 6, ema2)]],
  [14, 'rma2(close, 9)', [smoothed(close, 1 / 9)]],
  [3, 'trima(close, 9)', [sma(sma(close, 5), 5)]],
  [3, 'trima(close, 10)', [sma(sma(close, 5), 6)]],
  [3, 'trima2(close, 10)', [sma(sma(close, 5), 6)]],
  [3, 'frama(close, 16)', [frama(16)]],
  [3, 'rms(close, 14)', [over(close, 14, (w) => Math.sqrt(sumOf(w.map((x) => x * x)) / 14))]],
  [11, 'er(close, 10)', [er]],
  [11, 'kama(close, 10, 2, 30)', [kama]],
  [
    3,
    'dm(13)',
    [
      zip(
        (u, d) => u / (u + d),
        sma(
          change(high).map((x) => Math.max(x, 0)),
          13,
        ),
        sma(
          change(low).map((x) => Math.max(-x, 0)),
          13,
        ),
      ),
    ],
  ],
  [
    3,
    'eom(14)',
    [
      sma(
        zip((m, h, l, v) => (10_000 * m * (h - l)) / v, change(hl2), high, low, volume),
        14,
      ),
    ],
  ],
  [3, 'ft(hl2, 9)', [fisher(hl2, 9)]],
  [3, 'ift(close / 1000)', [close.map((x) => Math.tanh(x / 1000))]],
  [
    3,
    'ht(close)',
    [
      zip(
        (a, b, c, d) => 0.0962 * a + 0.5769 * b - 0.5769 * c - 0.0962 * d,
        ...[0, 2, 4, 6].map((n) => back(close, n)),
      ),
    ],
  ],
  [3, 'kvo(34, 55, 13)', [kvo, ema(kvo, 13)]],
  [12, 'macd2(close, 12, 26, 9)', [macd2, ema2(macd2, 9), zip((a, b) => a - b, macd2, ema2(macd2, 9))]],
  [12, 'pmo(close, 35, 20, 10)', [pmo, ema(pmo, 10)]],
  [12, 'ppo(close, 12, 26, 9)', [ppo, ema(ppo, 9), zip((a, b) => a - b, ppo, ema(ppo, 9))]],
  [12, 'ppo2(close, 12, 26, 9)', [ppo2, ema2(ppo2, 9), zip((a, b) => a - b, ppo2, ema2(ppo2, 9))]],
  [
    3,
    'pzo(14)',
    [
      zip(
        (a, b) => (100 * a) / b,
        ema(
          zip((s, c) => s * c, signOfClose, close),
          14,
        ),
        ema(close, 14),
      ),
    ],
  ],
  [
    3,
    'vzo(14)',
    [
      zip(
        (a, b) => (100 * a) / b,
        ema(
          zip((s, v) => s * v, signOfClose, volume),
          14,
        ),
        ema(volume, 14),
      ),
    ],
  ],
  [3, 'szo(close, 14)', [tema(signOfClose, 14).map((x) => (100 * x) / 14)]],
  [3, 'rwi(14)', [rwi(high, low, 1), rwi(low, high, -1)]],
  [3, 'stc(close, 23, 50, 10, 3, 3)', [stc]],
  [3, 'stochFull(14, 3, 5)', [stochFull, sma(stochFull, 5)]],
  [3, 'stochRsi(14, 14, 3, 5)', [stochRsi, sma(stochRsi, 5)]],
  [
    3,
    'trix(close, 9, 5)',
    [trixOf(ema), ema(trixOf(ema), 5), zip((a, b) => a - b, trixOf(ema), ema(trixOf(ema), 5))],
  ],
  [
    3,
    'trix(close, 9, 5, false)',
    [trixOf(sma), sma(trixOf(sma), 5), zip((a, b) => a - b, trixOf(sma), sma(trixOf(sma), 5))],
  ],
  [3, 'uo(7, 14, 28)', [uo]],
  [
    3,
    'vhf(close, 14)',
    [
      zip(
        (h, l, w) => (h - l) / w,
        highest(close, 14),
        lowest(close, 14),
        sum(change(close).map(Math.abs), 14),
      ),
    ],
  ],
  [
    3,
    'vi(14)',
    [
      zip(
        (a, b) => a / b,
        sum(
          zip((h, l) => Math.abs(h - l), high, back(low)),
          14,
        ),
        sum(trueRange(bars), 14),
      ),
      zip(
        (a, b) => a / b,
        sum(
          zip((l, h) => Math.abs(l - h), low, back(high)),
          14,
        ),
        sum(trueRange(bars), 14),
      ),
    ],
  ],
  [
    3,
    'wpo(14)',
    [
      ema(
        zip((s, c, h) => (s * 2 * Math.PI) / Math.asin(c / h), signOfClose, back(close), high),
        14,
      ),
    ],
  ],
  [11, 'specialK(close, 20, 10)', [specialK, sma(sma(specialK, 20), 10)]],
  [
    11,
    'ulcerIndex(close, 14)',
    [
      sma(
        zip((x, top) => ((100 * (x - top)) / top) ** 2, close, highest(close, 14)),
        14,
      ).map(Math.sqrt),
    ],
  ],
  [3, 'donchian(20)', [highest(high, 20), lowest(low, 20), middle(20)]],
  [
    3,
    'ichimoku()',
    [middle(9), middle(26), zip((a, b) => (a + b) / 2, middle(9), middle(26)), middle(52), close],
  ],
  [11, 'chandelier(22, 22, 3)', chandelier(atr(bars, 22))],
  [11, 'chandelier2(22, 22, 3)', chandelier(smoothed(trueRange(bars), 1 / 22))],
  [3, 'supertrend(2, 10)', supertrend(2, atr(bars, 10), close, close)],
  [3, 'supertrend(2, 10, true)', supertrend(2, atr(bars, 10), high, low)],
  [7, 'supertrend2(2, 10)', supertrend(2, smoothed(trueRange(bars), 1 / 10), close, close)],
  [
    7,
    'vStop(close, 20, 2)',
    stop(
      close,
      // `ta.tr` has no value on the first bar.
      zip(
        (r, t, b) => (!Number.isNaN(r) ? 2 * r : Number.isNaN(b) ? b : t),
        atr(bars, 20),
        trueRange(bars),
        back(close),
      ),
    ),
  ],
  [
    7,
    'vStop2(close, 20, 2)',
    stop(
      close,
      smoothed(trueRange(bars), 1 / 20).map((x) => 2 * x),
    ),
  ],
  [
    3,
    'williamsFractal(2)',
    [
      fractals(high, 2),
      fractals(
        low.map((x) => -x),
        2,
      ),
    ],
  ],
  [2, 'allTimeHigh(close)', [since(close, () => false, Math.max)]],
  [2, 'allTimeLow()', [since(low, () => false, Math.min)]],
  [5, 'highestSince(bar_index % 50 == 20)', [since(high, resetsAt, Math.max)]],
  [5, 'lowestSince(bar_index % 50 == 20, close)', [since(close, resetsAt, Math.min)]],
]

/** Each result as a plot of its own; bools as 1 and 0. */
function pineOf(version: number, call: string, results: number): string {
  const names = Array.from({ length: results }, (_, i) => `r${i}`)
  const isBool = (i: number) => call.startsWith('williams') || (call.startsWith('vStop') && i === 1)
  return [
    '//@version=6',
    'indicator("t")',
    `import TradingView/ta/${version} as lib`,
    `${results === 1 ? 'r0' : `[${names.join(', ')}]`} = lib.${call}`,
    ...names.map((name, i) => `plot(${isBool(i) ? `${name} ? 1 : 0` : name})`),
  ].join('\n')
}

function expectSame(actual: Values, expected: Values, what: string): void {
  expect(actual.length).toBe(expected.length)
  for (const [i, wanted] of expected.entries()) {
    const found = actual[i] ?? Number.NaN
    const isSame = Number.isNaN(wanted)
      ? Number.isNaN(found)
      : Math.abs(found - wanted) <= 1e-7 * Math.max(1, Math.abs(wanted))
    if (!isSame) throw new Error(`${what}, bar ${i}: ${found}, by the loop ${wanted}`)
  }
}

describe('TradingView/ta by value', () => {
  for (const [version, call, expected] of CASES)
    test(`${version}: ${call}`, () => {
      const run = runScript(pineOf(version, call, expected.length), bars)
      for (const [i, column] of expected.entries()) expectSame(plotted(run, i), column, `${call} [${i}]`)
      expect(expected.flat().some((x) => !Number.isNaN(x) && x !== 0)).toBe(true)
    })
})

test('growth a year is known once both points are reached, a day apart', () => {
  const at = (i: number) => bars.time[i]
  const call = (from: number, to: number) => `lib.cagr(${at(from)}, 100, ${at(to)}, 110)`
  const run = runScript(
    `//@version=6\nindicator("t")\nimport TradingView/ta/1 as lib\nplot(${call(10, 10 + 192)})\nplot(${call(10, 11)})`,
    bars,
  )
  const grown = 100 * (1.1 ** (365 / 2) - 1)
  expect(plotted(run)[201]).toBeNaN()
  expect(plotted(run)[202]).toBeCloseTo(grown, -3)
  expect(plotted(run)[799]! / grown).toBeCloseTo(1, 9)
  expect(plotted(run, 1).every(Number.isNaN)).toBe(true)
})

test('a gap downwards leaves the wave period without a value', () => {
  const gap: Bars = { ...bars, close: bars.close.slice(), high: bars.high.slice() }
  gap.close[99] = gap.high[100]! + 1
  const source = '//@version=6\nindicator("t")\nimport TradingView/ta/14 as lib\nplot(lib.wpo(1))'
  expect(plotted(runScript(source, bars))[100]).not.toBeNaN()
  expect(plotted(runScript(source, gap))[100]).toBeNaN()
})
