// Statistics over the elements of an array or a matrix, as TradingView reduces them: na elements do not count, and
// nothing left to count is na. Sums run from left to right, so that results agree to the last bit.

function withoutNa(values: readonly number[]): number[] {
  const kept: number[] = []
  for (const value of values) if (!Number.isNaN(value)) kept.push(value)
  return kept
}

export function sum(values: readonly number[]): number {
  let total = 0
  let counted = false
  for (const value of values)
    if (!Number.isNaN(value)) {
      total += value
      counted = true
    }
  return counted ? total : Number.NaN
}

export function mean(values: readonly number[]): number {
  const kept = withoutNa(values)
  return sum(kept) / kept.length
}

/** `nth` 0 is the smallest, 1 the one after it. */
export function nthSmallest(values: readonly number[], nth: number): number {
  const place = placeOf(nth)
  if (place === 0) {
    let least = Number.NaN
    for (const value of values) if (!(value >= least) && !Number.isNaN(value)) least = value
    return least
  }
  return ranked(numbersOf(values), place)
}

export function nthLargest(values: readonly number[], nth: number): number {
  const place = placeOf(nth)
  if (place === 0) {
    let most = Number.NaN
    for (const value of values) if (!(value <= most) && !Number.isNaN(value)) most = value
    return most
  }
  const kept = numbersOf(values)
  return ranked(kept, kept.length - 1 - place)
}

/** na counts as 0. [measured on TradingView by PyneCore, as for the percentage of the nearest rank] */
function placeOf(nth: number): number {
  return Number.isNaN(nth) ? 0 : Math.trunc(nth)
}

export function median(values: readonly number[]): number {
  const kept = numbersOf(values)
  const half = kept.length >> 1
  if (kept.length % 2 === 1) return ranked(kept, half)
  return (ranked(kept, half - 1) + leastFrom(kept, half)) / 2
}

/** The value seen most often; of several, the smallest. */
export function mode(values: readonly number[]): number {
  const sorted = numbersOf(values).sort()
  let best = Number.NaN
  let bestCount = 0
  for (let i = 0; i < sorted.length;) {
    let end = i
    while (end < sorted.length && sorted[end] === sorted[i]) end++
    if (end - i > bestCount) {
      best = sorted[i]!
      bestCount = end - i
    }
    i = end
  }
  return best
}

/** Two passes. One value has variance 0, biased or not. */
export function variance(values: readonly number[], biased: boolean): number {
  const kept = withoutNa(values)
  if (kept.length === 0) return Number.NaN
  if (kept.length === 1) return 0
  const middle = sum(kept) / kept.length
  let squares = 0
  for (const value of kept) squares += (value - middle) * (value - middle)
  return squares / (biased ? kept.length : kept.length - 1)
}

/** Welford's running co-moment: agrees with TradingView to the last bit where two passes do not. */
export function covariance(xs: readonly number[], ys: readonly number[], biased: boolean): number {
  let count = 0
  let meanX = 0
  let meanY = 0
  let moment = 0
  for (let i = 0; i < xs.length; i++) {
    const x = xs[i]!
    const y = ys[i]!
    if (Number.isNaN(x) || Number.isNaN(y)) continue
    count++
    const dx = x - meanX
    meanX += dx / count
    meanY += (y - meanY) / count
    moment += dx * (y - meanY)
  }
  if (count === 0) return Number.NaN
  const divisor = biased ? count : count - 1
  return divisor === 0 ? 0 : moment / divisor
}

/**
 * Position n·p/100 + 0.5, counted from 1, between neighbours. na elements sort to the end and take part in n; with
 * one present only a position that is a whole number has an answer.
 */
export function percentileLinear(values: readonly number[], percentage: number): number {
  const n = values.length
  if (n === 0 || !(percentage >= 0 && percentage <= 100)) return Number.NaN
  const kept = numbersOf(values)
  const at = (rank: number) => ranked(kept, rank - 1)
  let position = (n * percentage) / 100 + 0.5
  const whole = Math.round(position)
  if (Math.abs(position - whole) < 1e-9) position = whole
  if (position <= 1) return at(1)
  if (position >= n) return at(n)
  const lower = Math.floor(position)
  if (position === lower) return at(lower)
  if (kept.length < n) return Number.NaN
  const below = at(lower)
  return below + (position - lower) * (leastFrom(kept, lower) - below)
}

/** The element of rank ⌈p·n/100⌉, counted from 1; na elements sort to the end and take part in n. */
export function percentileNearestRank(values: readonly number[], percentage: number): number {
  const n = values.length
  const share = Number.isNaN(percentage) ? 0 : percentage
  if (n === 0 || !(share >= 0 && share <= 100)) return Number.NaN
  const rank = Math.max(1, Math.min(n, Math.ceil((share * n) / 100)))
  return ranked(numbersOf(values), rank - 1)
}

/** Share of the other elements that are not above the one at `index`, in per cent. */
export function percentRank(values: readonly number[], index: number): number {
  const reference = values[index]!
  let below = -1
  for (const value of values) if (value <= reference) below++
  return Number.isNaN(reference) ? Number.NaN : (below * 100) / (values.length - 1)
}

/**
 * (x − mean) / standard deviation; all 1 where the elements are all the same. K18: the variance is the mean of the squares
 * less the square of the mean, which two passes miss by a last digit.
 */
export function standardize(values: readonly number[]): number[] {
  const middle = mean(values)
  const spread = variance(values, true)
  const moments = mean(values.map((value) => value * value)) - middle * middle
  // Of large numbers close together the moments leave nothing.
  const deviation = Math.sqrt(moments > 0 ? moments : spread)
  return values.map((value) => (spread === 0 ? 1 : (value - middle) / deviation))
}

/**
 * Where `numbersOf` puts a few numbers, by how many there are. A new one for each answer left 10 MB a run to the collector,
 * which stopped the run for as long again where many other scripts are compiled.
 */
const FEW = Array.from({ length: 65 }, (_, count) => new Float64Array(count))

/**
 * Those that are not na, to be moved about until somebody else asks. Loops: from() and sort() were nine tenths of a median of
 * fifty.
 */
function numbersOf(values: readonly number[]): Float64Array {
  const all = FEW[values.length] ?? new Float64Array(values.length)
  let count = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (!Number.isNaN(value)) all[count++] = value
  }
  return count === all.length ? all : all.slice(0, count)
}

/**
 * The value of a rank, counted from 0; na where there is none. Hoare's selection: afterwards nothing in front of it is
 * larger, and nothing behind it smaller.
 */
function ranked(values: Float64Array, rank: number): number {
  if (!(rank >= 0 && rank < values.length)) return Number.NaN
  let low = 0
  let high = values.length - 1
  while (low < high) {
    const pivot = values[(low + high) >> 1]!
    let i = low
    let j = high
    while (i <= j) {
      while (values[i]! < pivot) i++
      while (values[j]! > pivot) j--
      if (i > j) break
      const value = values[i]!
      values[i++] = values[j]!
      values[j--] = value
    }
    if (rank <= j) high = j
    else if (rank >= i) low = i
    else break
  }
  // Negative zeros come before positive ones, which `<` does not tell apart.
  return values[rank] === 0 ? values.sort()[rank]! : values[rank]!
}

/** The least from a place on. */
function leastFrom(values: Float64Array, place: number): number {
  let least = place < values.length ? Infinity : Number.NaN
  for (let i = place; i < values.length; i++) least = Math.min(least, values[i]!)
  return least
}
