// Fast or clever code against slow and obvious code, on random input. A failure prints the seed to run it with again.

import { describe, expect, test } from 'bun:test'

import { zoneOf } from '../../../src/market/zone.ts'
import { PineArray } from '../../../src/language/runtime/collections.ts'
import { parseDate } from '../../../src/language/runtime/date-format.ts'
import * as dates from '../../../src/language/runtime/date-parts.ts'
import * as algebra from '../../../src/language/runtime/linear-algebra.ts'
import { Budget } from '../../../src/language/runtime/budget.ts'
import { fixed, formatNumber } from '../../../src/language/runtime/number-format.ts'
import { matchRegex } from '../../../src/language/runtime/regex.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import * as statistics from '../../../src/language/runtime/statistics.ts'
import { barsOf, plotted, runScript, walk } from '../run-script.ts'

const SEED = Number(process.env['SEED'] ?? 20_260_101)

/** mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Runs `check` with a generator of its own each round; a failure says which. */
function rounds(count: number, check: (random: () => number, below: (n: number) => number) => void): void {
  for (let round = 0; round < count; round++) {
    const random = randomOf(SEED + round)
    try {
      check(random, (n) => Math.floor(random() * n))
    } catch (error) {
      throw new Error(`with SEED=${SEED + round}: ${String(error)}`, { cause: error })
    }
  }
}

describe('arrays', () => {
  test('slices behave as windows of one list', () => {
    rounds(300, (_random, below) => {
      const list = Array.from({ length: 8 }, () => below(10))
      const root = new PineArray(list.slice(), NaN, new Budget(DEFAULT_LIMITS))
      const from = below(4)
      const to = from + 1 + below(3)
      const view = root.slice(from, to)
      const inner = view.slice(0, view.size)
      // The oracle: the window's elements, and what stands before and after them.
      const [before, window, after] = [list.slice(0, from), list.slice(from, to), list.slice(to)]
      for (let step = 0; step < 12; step++) {
        const target = below(2) === 0 ? inner : view
        if (target !== inner && target.size !== inner.size) break
        const value = below(100)
        const place = below(window.length + 1)
        if (target === view) {
          if (window.length === 0) continue
          view.set(place % window.length, value)
          window[place % window.length] = value
        } else if (below(2) === 0 || window.length === 0) {
          inner.insert(place, value)
          window.splice(place, 0, value)
        } else {
          inner.remove(place % window.length)
          window.splice(place % window.length, 1)
        }
        expect(inner.values()).toEqual(window)
        expect(view.values()).toEqual(window)
        expect(root.values()).toEqual([...before, ...window, ...after])
      }
    })
  })

  test('statistics are what their definitions say', () => {
    rounds(300, (random, below) => {
      const values = Array.from({ length: 1 + below(12) }, () => (random() < 0.1 ? NaN : below(8) / 2))
      const kept = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b)
      const n = kept.length
      if (n === 0) return
      const mean = kept.reduce((a, b) => a + b, 0) / n
      expect(statistics.mean(values)).toBeCloseTo(mean, 10)
      const spread = kept.reduce((a, b) => a + (b - mean) ** 2, 0)
      expect(statistics.variance(values, true)).toBeCloseTo(spread / n, 10)
      if (n > 1) expect(statistics.variance(values, false)).toBeCloseTo(spread / (n - 1), 10)
      const middle = (kept[Math.floor((n - 1) / 2)]! + kept[Math.ceil((n - 1) / 2)]!) / 2
      expect(statistics.median(values)).toBeCloseTo(middle, 10)
      const often = (value: number) => kept.filter((each) => each === value).length
      const most = Math.max(...kept.map(often))
      expect(statistics.mode(values)).toBe(Math.min(...kept.filter((value) => often(value) === most)))
      const place = below(n)
      expect(statistics.nthSmallest(values, place)).toBe(kept[place]!)
      expect(statistics.nthLargest(values, place)).toBe(kept[n - 1 - place]!)
      expect(statistics.covariance(kept, kept, true)).toBeCloseTo(spread / n, 10)
      const half = statistics.percentileLinear(kept, 50)
      expect(half).toBeCloseTo(middle, 10)
    })
  })
})

describe('matrices', () => {
  const matrixOf = (random: () => number, rows: number, columns: number) =>
    Array.from({ length: rows }, () => Array.from({ length: columns }, () => Math.round(random() * 20 - 10)))
  const closeTo = (a: algebra.Rows, b: algebra.Rows) => {
    const scale = Math.max(1, ...b.flat().map(Math.abs))
    for (const [i, row] of a.entries())
      for (const [j, value] of row.entries()) expect(Math.abs(value - b[i]![j]!) / scale).toBeLessThan(1e-7)
  }

  test('the determinant is the sum over permutations', () => {
    const byMinors = (a: algebra.Rows): number =>
      a.length === 0
        ? 1
        : a[0]!.reduce(
            (sum, value, j) =>
              sum + (j % 2 === 0 ? 1 : -1) * value * byMinors(a.slice(1).map((row) => row.toSpliced(j, 1))),
            0,
          )
    rounds(200, (random, below) => {
      const a = matrixOf(random, 1 + below(5), 0)
      const square = matrixOf(random, a.length, a.length)
      expect(algebra.determinant(square)).toBeCloseTo(byMinors(square), 4)
    })
  })

  test('a matrix times its inverse is the identity', () => {
    rounds(200, (random, below) => {
      const size = 1 + below(6)
      const a = matrixOf(random, size, size)
      const inverse = algebra.inverse(a)
      if (inverse === null) expect(algebra.determinant(a)).toBeCloseTo(0, 4)
      else closeTo(algebra.multiply(a, inverse), algebra.identity(size))
    })
  })

  test('a pseudo-inverse gives the matrix back, whatever its shape and rank', () => {
    rounds(200, (random, below) => {
      const inner = 1 + below(3)
      const a = algebra.multiply(matrixOf(random, 1 + below(5), inner), matrixOf(random, inner, 1 + below(5)))
      const p = algebra.pseudoInverse(a)
      closeTo(algebra.multiply(algebra.multiply(a, p), a), a)
      closeTo(algebra.multiply(algebra.multiply(p, a), p), p)
      expect(algebra.rank(a)).toBeLessThanOrEqual(inner)
    })
  })

  test('eigenvalues add up to the trace, and vectors are only stretched', () => {
    rounds(200, (random, below) => {
      const size = 1 + below(5)
      let a = matrixOf(random, size, size)
      const isSymmetric = below(2) === 0
      if (isSymmetric) a = a.map((row, i) => row.map((value, j) => (i <= j ? value : a[j]![i]!)))
      const values = algebra.eigenvalues(a)
      const trace = a.reduce((sum, row, i) => sum + row[i]!, 0)
      expect(values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(trace, 6)
      if (!isSymmetric) return
      const vectors = algebra.eigenvectors(a)
      closeTo(
        algebra.multiply(a, vectors),
        vectors.map((row) => row.map((value, j) => value * values[j]!)),
      )
    })
  })

  test('vectors of a matrix with real eigenvalues are only stretched', () => {
    rounds(100, (random, below) => {
      const size = 2 + below(4)
      // Similar to a diagonal of different numbers, so all eigenvalues are real.
      const basis = matrixOf(random, size, size)
      const inverse = algebra.inverse(basis)
      if (inverse === null || Math.abs(algebra.determinant(basis)) < 1) return
      const diagonal = algebra.identity(size).map((row, i) => row.map((value) => value * (i + 1) * 2))
      const a = algebra.multiply(algebra.multiply(basis, diagonal), inverse)
      const values = algebra.eigenvalues(a)
      expect(values.toSorted((x, y) => x - y).map((value) => Math.round(value * 1e4) / 1e4)).toEqual(
        Array.from({ length: size }, (_, i) => (i + 1) * 2),
      )
      const vectors = algebra.eigenvectors(a)
      closeTo(
        algebra.multiply(a, vectors),
        vectors.map((row) => row.map((value, j) => value * values[j]!)),
      )
    })
  })
})

describe('text', () => {
  test('regular expressions match what a backtracking matcher matches', () => {
    const patterns = ['a*b|c', '(ab|a)(bc|c)?', '[a-c]+?b', 'a{2,3}b?', '^a.*c$', '(a|b)*abb', '\\bab\\b']
    patterns.push(
      '(?:a|ab)(?:c|bcd)',
      'a*?c',
      '(a?){3}b',
      '[^a]+',
      '(a*)*b',
      '(?i)AB+',
      '\\w+\\s\\w',
      'x|',
      '.{2}$',
    )
    rounds(400, (_random, below) => {
      const text = Array.from({ length: below(12) }, () => 'abcd '[below(5)]).join('')
      for (const pattern of patterns) {
        const oracle = pattern.startsWith('(?i)') ? new RegExp(pattern.slice(4), 'i') : new RegExp(pattern)
        const expected = [pattern, text, oracle.exec(text)?.[0] ?? '']
        expect([pattern, text, matchRegex(text, pattern)]).toEqual(expected)
        // Asked again, it is answered from memory.
        expect([pattern, text, matchRegex(text, pattern)]).toEqual(expected)
      }
    })
  })

  test('str.format rounds as the exact value does, ties to even', () => {
    rounds(500, (random, below) => {
      const decimals = below(5)
      // Sixteenths hit many exact ties.
      const value = below(2) === 0 ? below(1000) / 16 : random() * 1000
      const scaled = BigInt(Math.round(value * 2 ** 40)) * 10n ** BigInt(decimals)
      const unit = 1n << 40n
      const isExact = Number.isInteger(value * 2 ** 40)
      if (!isExact) return
      const [floor, rest] = [scaled / unit, scaled % unit]
      const up = rest * 2n > unit || (rest * 2n === unit && floor % 2n === 1n)
      const digits = String(up ? floor + 1n : floor).padStart(decimals + 1, '0')
      const expected = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
      const pattern = decimals === 0 ? '0' : `0.${'0'.repeat(decimals)}`
      expect([value, formatNumber(value, pattern, 'half-even')]).toEqual([value, expected])
    })
  })

  test('str.tostring takes halves of the shortest digits up', () => {
    rounds(500, (_random, below) => {
      const decimals = below(5)
      // Digits by hand, so that the number is known as it is written and not only as its double.
      const written = String(below(10 ** (decimals + 3))).padStart(decimals + 3, '0')
      const text = `${written.slice(0, 2)}.${written.slice(2)}`
      const units = Math.floor((Number(written) + 5) / 10)
      const digits = String(units).padStart(decimals + 1, '0')
      const expected = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
      expect([text, fixed(Number(text), decimals)]).toEqual([text, expected])
    })
  })
})

describe('dates', () => {
  const NAMES = [
    'America/New_York',
    'Europe/London',
    'Asia/Kolkata',
    'Australia/Lord_Howe',
    'UTC',
    'America/Sao_Paulo',
  ]

  test("hour and dayofweek are Temporal's on both sides of a change of clocks, forwards and back", () => {
    // New York, 2024: on 10 March at 7:00 and on 3 November at 6:00 UTC.
    for (const change of [Date.UTC(2024, 2, 10, 7), Date.UTC(2024, 10, 3, 6)]) {
      const bars = barsOf(walk(200), 1_800_000)
      for (let i = 0; i < bars.length; i++) bars.time[i] = change + (i - 100) * 1_800_000
      const parts = (at: string) =>
        `hour(${at}, "America/New_York") + 100 * dayofweek(${at}, "America/New_York")`
      const run = runScript(
        `//@version=6\nindicator("x")\nplot(${parts('time')})\nplot(${parts('time[bar_index % 2 == 0 ? 3 : 0]')})\n`,
        bars,
      )
      const expected = Array.from(bars.time, (time) => {
        const date = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO('America/New_York')
        return date.hour + 100 * ((date.dayOfWeek % 7) + 1)
      })
      expect(plotted(run)).toEqual(expected)
      expect(plotted(run, 1).slice(3)).toEqual(
        expected.map((_, i) => expected[i % 2 === 0 ? i - 3 : i]!).slice(3),
      )
    }
  })

  test("a date's parts are Temporal's", () => {
    rounds(400, (random, below) => {
      const name = NAMES[below(NAMES.length)]!
      const zone = zoneOf(name)!
      const time = Math.floor((random() - 0.3) * 4e12)
      const date = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(name)
      expect([
        dates.yearOf(time, zone),
        dates.monthOf(time, zone),
        dates.dayOfMonthOf(time, zone),
        dates.dayOfWeekOf(time, zone),
        dates.weekOfYearOf(time, zone),
        dates.clockPart(time + zone.offsetAt(time), dates.CLOCK.hour),
        dates.clockPart(time + zone.offsetAt(time), dates.CLOCK.minute),
        dates.clockPart(time + zone.offsetAt(time), dates.CLOCK.second),
      ]).toEqual([
        date.year,
        date.month,
        date.day,
        (date.dayOfWeek % 7) + 1,
        date.weekOfYear!,
        date.hour,
        date.minute,
        date.second,
      ])
      const back = dates.timeOf(zone, date.year, date.month, date.day, date.hour, date.minute, date.second)
      const again = date.with({ millisecond: 0 }, { disambiguation: 'compatible' })
      // An hour that comes twice is the first one.
      const first = again.toPlainDateTime().toZonedDateTime(name, { disambiguation: 'earlier' })
      expect(back).toBe(first.epochMilliseconds)
    })
  })

  test('written dates are read as they were written', () => {
    rounds(300, (random) => {
      const time = Math.floor(random() * 4e9) * 1000
      const date = new Date(time)
      const [, month = '', day = '', year = ''] =
        /^\w+ (\w+) (\d+) (\d+)/.exec(date.toUTCString().replace(/, (\d+) (\w+)/, ' $2 $1')) ?? []
      const clock = date.toISOString().slice(11, 19)
      for (const text of [
        date.toISOString(),
        `${date.toISOString().slice(0, 10)} ${clock}`,
        `${day} ${month} ${year} ${clock}`,
        `${month} ${day} ${year} ${clock}`,
        `${date.toISOString().slice(0, 10)} ${clock} GMT+0000`,
      ])
        expect([text, parseDate(text)]).toEqual([text, time])
    })
  })
})
