// The other libraries of TradingView by value, against plain loops over the same bars.

import { describe, expect, test } from 'bun:test'
import type { Bars } from '../../../src/market/bars.ts'
import type { BrokerAccount, TradeView } from '../../../src/language/broker.ts'
import type { RunEnvironment } from '../../../src/language/environment.ts'
import { ScriptError } from '../../../src/language/script-error.ts'
import { barsOf, type Order, plotted, recordingBroker, runScript, SYMBOL, walk } from '../run-script.ts'
import { back, change, ema, priceOf, rma, rsi, sma, stoch, sum, sumOf, trueRange, wma, zip } from './loops.ts'

const HOUR_MS = 3_600_000
const hours = barsOf(walk(400, 7), HOUR_MS)
const close = priceOf(hours, 'close')
const volume = priceOf(hours, 'volume')

interface Run {
  readonly path: string
  readonly body: string
  readonly bars?: Bars
  readonly more?: Partial<RunEnvironment>
  readonly kind?: 'indicator' | 'strategy'
}

function runOf({ path, body, bars = hours, more = {}, kind = 'indicator' }: Run) {
  const source = `//@version=6\n${kind}("t")\nimport TradingView/${path} as lib\n${body}`
  return runScript(source, bars, { interval: '1h', ...more })
}

/** Of the run before: most cases look at one plot after the other. */
let before: { readonly asked: Run; readonly ran: ReturnType<typeof runOf> } | null = null

/** The first plot of a run, or one after it. */
function valuesOf(asked: Run, plot = 0): number[] {
  const isSame = (['path', 'body', 'bars', 'more'] as const).every((key) => before?.asked[key] === asked[key])
  if (before === null || !isSame) before = { asked, ran: runOf(asked) }
  return plotted(before.ran, plot)
}

function expectSame(actual: readonly number[], expected: readonly number[]): void {
  expect(actual.map((x) => Math.round(x * 1e7) / 1e7)).toEqual(expected.map((x) => Math.round(x * 1e7) / 1e7))
}

describe('ta: volume', () => {
  const fine = barsOf(walk(300, 3), 300_000)
  fine.open[4] = fine.close[4] ?? 0
  fine.open[5] = fine.close[5] = fine.close[4] ?? 0
  const chart = barsOf(Array.from({ length: 100 }, (_, i) => fine.close[3 * i + 2] ?? 0))
  const more = {
    interval: '15m',
    series: (_exchange: string, _symbol: string, interval: string) =>
      interval === '5m' ? { bars: fine, symbol: SYMBOL, interval } : null,
  }

  /** Up, down, and how far their sum went, of each chart bar's three finer bars. */
  function signed(): { up: number; down: number; top: number; bottom: number }[] {
    let rose = true
    let before = Number.NaN
    return Array.from({ length: 100 }, (_, bar) => {
      const found = { up: 0, down: 0, top: 0, bottom: 0 }
      for (let i = 3 * bar; i < 3 * bar + 3; i++) {
        const [first, last] = [fine.open[i]!, fine.close[i]!]
        if (last !== first) rose = last > first
        else if (!Number.isNaN(before) && last !== before) rose = last > before
        before = last
        found[rose ? 'up' : 'down'] += rose ? fine.volume[i]! : -fine.volume[i]!
        found.top = Math.max(found.top, found.up + found.down)
        found.bottom = Math.min(found.bottom, found.up + found.down)
      }
      return found
    })
  }

  test('up and down volume of the finer bars', () => {
    const run = {
      path: 'ta/8',
      body: '[a, b, c] = lib.requestUpAndDownVolume("5")\nplot(a)\nplot(b)\nplot(c)',
      bars: chart,
      more,
    }
    expectSame(
      valuesOf(run),
      signed().map(({ up }) => up),
    )
    expectSame(
      valuesOf(run, 1),
      signed().map(({ down }) => down),
    )
    expectSame(
      valuesOf(run, 2),
      signed().map(({ up, down }) => up + down),
    )
  })

  for (const [period, resets] of [
    ['""', () => true],
    ['"60"', (bar: number) => bar % 4 === 0],
  ] as const)
    test(`volume delta of a period ${period}`, () => {
      const body = `[a, b, c, d] = lib.requestVolumeDelta("5", ${period})\nplot(a)\nplot(b)\nplot(c)\nplot(d)`
      let last = 0
      const expected = signed().map(({ up, down, top, bottom }, bar) => {
        const first = resets(bar) ? 0 : last
        last = first + up + down
        return [first, first + top, first + bottom, last]
      })
      for (let plot = 0; plot < 4; plot++)
        expectSame(
          valuesOf({ path: 'ta/9', body, bars: chart, more }, plot),
          expected.map((row) => row[plot] ?? 0),
        )
    })

  test('a lower timeframe that is higher stops the run and says why', () => {
    const body = '[a, b, c] = lib.requestUpAndDownVolume("60")\nplot(a)'
    expect(() => valuesOf({ path: 'ta/8', body, bars: chart, more })).toThrow(ScriptError)
  })

  test('volume relative to the same hour of the days before', () => {
    const body = '[a, b, c] = lib.relativeVolume(5)\nplot(a)\nplot(b)\nplot(c)'
    const [now, past] = cumulated(volume, 5)
    expectSame(valuesOf({ path: 'ta/7', body }), now)
    expectSame(valuesOf({ path: 'ta/7', body }, 1), past)
    expectSame(
      valuesOf({ path: 'ta/7', body }, 2),
      zip((a, b) => a / b, now, past),
    )
  })
})

/** The day's sum so far, and its mean at that hour over the days before, at most `days`; days begin with hour 0 here. */
function cumulated(xs: readonly number[], days: number): [number[], number[]] {
  const now = xs.map((_, i) => sumOf(xs.slice(i - (i % 24), i + 1)))
  const past = now.map((_, i) => {
    const before = Array.from({ length: days }, (_, day) => now[i - 24 * (day + 1)]).filter(
      (x) => x !== undefined,
    )
    return before.length === 0 ? Number.NaN : sumOf(before) / before.length
  })
  return [now, past]
}

describe('RelativeValue', () => {
  const anchor = 'timeframe.change("D")'
  for (const version of [1, 2, 3]) {
    test(`${version}: sums since an anchor`, () => {
      const body = `plot(lib.calcCumulativeSeries(close, ${anchor}))`
      expectSame(valuesOf({ path: `RelativeValue/${version}`, body }), cumulated(close, 1)[0])
    })
    test(`${version}: averages at a time, by anchor and by timeframe`, () => {
      for (const period of [anchor, '"D"'])
        expectSame(
          valuesOf({
            path: `RelativeValue/${version}`,
            body: `plot(lib.averageAtTime(volume, 3, ${period}))`,
          }),
          cumulated(volume, 3)[1],
        )
    })
  }

  test('averages at a time without adding up', () => {
    const body = 'plot(lib.averageAtTime(close, 2, "D", false))'
    expectSame(
      valuesOf({ path: 'RelativeValue/3', body }),
      close.map((_, i) => {
        const days = [close[i - 24], close[i - 48]].filter((x) => x !== undefined)
        return days.length === 0 ? Number.NaN : sumOf(days) / days.length
      }),
    )
  })

  test('a day that ended early counts with its last value', () => {
    // Every third hour is left out of the second day's end.
    const short = barsOf(walk(60, 5), HOUR_MS)
    for (let i = 40; i < 60; i++) short.time[i] = (short.time[i] ?? 0) + 8 * HOUR_MS
    const body = 'plot(lib.averageAtTime(close, 1, "D", false))'
    // Bar 40 is midnight of the third day; its 17th hour has no counterpart after the second day's 16th.
    expect(valuesOf({ path: 'RelativeValue/3', body, bars: short })[57]).toBeCloseTo(short.close[39]!, 9)
  })
})

describe('TechnicalRating', () => {
  const high = priceOf(hours, 'high')
  const low = priceOf(hours, 'low')
  const NA = Number.NaN

  function ratingsOf(): [number[], number[], number[]] {
    const middle = (n: number) =>
      close.map((_, i) =>
        i + 1 < n
          ? NA
          : (Math.max(...high.slice(i + 1 - n, i + 1)) + Math.min(...low.slice(i + 1 - n, i + 1))) / 2,
      )
    const raw = (n: number) => zip((a, b) => 2 * a - b, wma(close, Math.floor(n / 2)), wma(close, n))
    const vwma = zip(
      (a, b) => a / b,
      sum(
        zip((c, v) => c * v, close, volume),
        20,
      ),
      sum(volume, 20),
    )
    const averages = [
      ...[10, 20, 30, 50, 100, 200].flatMap((n) => [sma(close, n), ema(close, n)]),
      wma(raw(9), 3),
      vwma,
    ]
    const [conversion, base, far] = [middle(9), middle(26), middle(52)]
    const hl2 = zip((h, l) => (h + l) / 2, high, low)
    const ao = zip((a, b) => a - b, sma(hl2, 5), sma(hl2, 34))
    const strength = rsi(close, 14)
    const k = sma(stoch(close, high, low, 14), 3)
    const d = sma(k, 3)
    const rsiK = sma(stoch(strength, strength, strength, 14), 3)
    const rsiD = sma(rsiK, 3)
    const cci = close.map((x, i) => {
      if (i < 19) return NA
      const window = close.slice(i - 19, i + 1)
      const mean = sumOf(window) / 20
      return (x - mean) / (0.015 * (sumOf(window.map((one) => Math.abs(one - mean))) / 20))
    })
    const up = change(high)
    const down = change(low).map((x) => -x)
    const range = rma(
      trueRange(hours).map((x, i) => (i === 0 ? NA : x)),
      14,
    )
    const plus = zip(
      (u, w, r) => (100 * u) / r,
      rma(
        zip((u, w) => (u > w && u > 0 ? u : Math.min(u * u, 0)), up, down),
        14,
      ),
      up,
      range,
    )
    const minus = zip(
      (u, w, r) => (100 * u) / r,
      rma(
        zip((u, w) => (w > u && w > 0 ? w : Math.min(w * w, 0)), up, down),
        14,
      ),
      up,
      range,
    )
    const adx = rma(
      zip((p, m) => (100 * Math.abs(p - m)) / (p + m === 0 ? 1 : p + m), plus, minus),
      14,
    )
    // Pine takes numbers that differ by noise for equal, loops do not.
    const momentum = change(close, 10).map((x) => Math.round(x * 100) / 100)
    const macd = zip((a, b) => a - b, ema(close, 12), ema(close, 26))
    const signal = ema(macd, 9)
    const wpr = zip((x) => x - 100, stoch(close, high, low, 14))
    const mean = ema(close, 50)
    const power = ema(close, 13)
    const pressure = zip((c, l, b) => c - Math.min(l, Number.isNaN(b) ? l : b), close, low, back(close))
    const share = (n: number) => zip((a, b) => a / b, sum(pressure, n), sum(trueRange(hours), n))
    const uo = zip((a, b, c) => (100 * (4 * a + 2 * b + c)) / 7, share(7), share(14), share(28))

    const rated = (known: number, buy: boolean, sell: boolean) =>
      Number.isNaN(known) ? NA : buy ? 1 : sell ? -1 : 0
    const meanOf = (all: number[]) => {
      const known = all.filter((x) => !Number.isNaN(x))
      return known.length === 0 ? NA : sumOf(known) / known.length
    }
    const ma = close.map((c, i) => {
      const [con, bas, before] = [conversion[i]!, base[i]!, i > 0 ? close[i - 1]! : NA]
      const [first, second] = [(con + bas) / 2, far[i]!]
      return meanOf([
        ...averages.map((one) => rated(one[i]!, c > one[i]!, c < one[i]!)),
        rated(
          first + second,
          first > second && c > first && c < bas && before < con && c > con,
          second > first && c < second && c > bas && before > con && c < con,
        ),
      ])
    })
    const others = close.map((c, i) => {
      const p = i - 1
      const at = (xs: readonly number[], j = i) => xs[j] ?? NA
      const [bulls, bears] = [high[i]! - power[i]!, low[i]! - power[i]!]
      const [bullsBefore, bearsBefore] = [at(high, p) - at(power, p), at(low, p) - at(power, p)]
      const crossed = (K: number[], D: number[], sign: number) =>
        sign * (K[i]! - D[i]!) > 0 && sign * (at(K, p) - at(D, p)) < 0
      const aos = [at(ao), at(ao, p), at(ao, p - 1)] as const
      return meanOf([
        rated(
          at(strength, p),
          at(strength) < 30 && at(strength) > at(strength, p),
          at(strength) > 70 && at(strength) < at(strength, p),
        ),
        rated(
          at(d, p),
          k[i]! < 20 && d[i]! < 20 && crossed(k, d, 1),
          k[i]! > 80 && d[i]! > 80 && crossed(k, d, -1),
        ),
        rated(at(cci, p), cci[i]! < -100 && cci[i]! > at(cci, p), cci[i]! > 100 && cci[i]! < at(cci, p)),
        rated(at(adx, p), adx[i]! > 20 && crossed(plus, minus, 1), adx[i]! > 20 && crossed(plus, minus, -1)),
        rated(
          aos[1],
          (aos[0] > 0 && aos[1] <= 0) || (aos[0] > 0 && aos[1] > 0 && aos[0] > aos[1] && aos[2] > aos[1]),
          (aos[0] < 0 && aos[1] >= 0) || (aos[0] < 0 && aos[1] < 0 && aos[0] < aos[1] && aos[2] < aos[1]),
        ),
        rated(at(momentum, p), momentum[i]! > at(momentum, p), momentum[i]! < at(momentum, p)),
        rated(signal[i]!, macd[i]! > signal[i]!, macd[i]! < signal[i]!),
        rated(
          Number.isNaN(mean[i]!) ? NA : at(rsiD, p),
          c < mean[i]! && rsiK[i]! < 20 && rsiD[i]! < 20 && crossed(rsiK, rsiD, 1),
          c > mean[i]! && rsiK[i]! > 80 && rsiD[i]! > 80 && crossed(rsiK, rsiD, -1),
        ),
        rated(at(wpr, p), wpr[i]! < -80 && wpr[i]! > at(wpr, p), wpr[i]! > -20 && wpr[i]! < at(wpr, p)),
        rated(
          Number.isNaN(mean[i]!) ? NA : bearsBefore,
          c > mean[i]! && bears < 0 && bears > bearsBefore,
          c < mean[i]! && bulls > 0 && bulls < bullsBefore,
        ),
        rated(uo[i]!, uo[i]! > 70, uo[i]! < 30),
      ])
    })
    const total = zip((m, o) => (Number.isNaN(m) ? o : Number.isNaN(o) ? m : (m + o) / 2), ma, others)
    return [total, others, ma]
  }

  test('all three ratings', () => {
    const body = '[a, b, c] = lib.calcRatingAll()\nplot(a)\nplot(b)\nplot(c)'
    const ratings = ratingsOf()
    for (const version of [1, 3])
      for (const [plot, expected] of ratings.entries())
        expectSame(valuesOf({ path: `TechnicalRating/${version}`, body }, plot), expected)
  })

  test('counts how long it rises', () => {
    const series = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.6, 0.5, 0, -0.1, -0.3, -0.2]
    const body = `xs = array.from(${series.map((x) => x.toFixed(1)).join(', ')})\nplot(lib.countRising(xs.get(math.min(bar_index, 12))))`
    expect(valuesOf({ path: 'TechnicalRating/1', body }).slice(0, 13)).toEqual([
      0, 1, 2, 3, 4, 5, 5, 5, 4, 0, 1, 2, 1,
    ])
  })

  for (const [value, status] of [
    ['0.6', 'Strong\nBuy'],
    ['0.3', 'Buy'],
    ['0.1', 'Neutral'],
    ['-0.3', 'Sell'],
    ['-0.6', 'Strong\nSell'],
    ['na', '-'],
  ] as const)
    test(`${value} is ${JSON.stringify(status)}`, () => {
      const body = `plot(lib.ratingStatus(${value}) == ${JSON.stringify(status)} ? 1 : 0)`
      expect(valuesOf({ path: 'TechnicalRating/3', body })[0]).toBe(1)
    })
})

describe('Strategy', () => {
  const trades = [
    { exit: 20, profit: 50 },
    { exit: 300, profit: -30 },
    { exit: 390, profit: 80 },
  ].map(
    ({ exit, profit }) =>
      ({ entryTime: hours.time[exit - 5], exitTime: hours.time[exit], profit }) as unknown as TradeView,
  )
  const account = (positionSize: number) =>
    ({
      bar: 0,
      positionSize,
      positionAvgPrice: positionSize === 0 ? Number.NaN : 200,
      equity: 10_000,
      initialCapital: 1000,
      closedTradeCount: trades.length,
      closedTradesFirstIndex: 0,
      closedTrade: (i: number) => trades[i] ?? null,
    }) as unknown as BrokerAccount
  const orders: Order[] = []
  const called = (body: string, positionSize = 2, bars = hours) =>
    valuesOf({
      path: 'Strategy/3',
      kind: 'strategy',
      body,
      bars,
      more: { broker: recordingBroker(orders, { account: account(positionSize) }) },
    })

  for (const [call, long, short, none] of [
    // The tick is 0.01, the entry 200.
    ['percentToTicks(5)', 1000, 1000, Number.NaN],
    ['percentToTicks(5, 100)', 500, 500, 500],
    ['percentToPrice(5)', 210, 210, Number.NaN],
    ['percentToPrice(5, 100)', 105, 105, 105],
    ['percentToCurrency(300, 5)', 15, 15, 15],
    ['percentProfit(220)', 10, -10, Number.NaN],
    ['priceToTicks(1.5)', 150, 150, 150],
    ['ticksToPrice(100)', 201, 201, Number.NaN],
    ['ticksToPrice(100, 50)', 51, 51, 51],
    ['ticksToCurrency(250)', 2.5, 2.5, 2.5],
    ['ticksToStopLevel(500)', 195, 205, Number.NaN],
    ['ticksToTpLevel(500)', 205, 195, Number.NaN],
    ['calcPositionSizeByStopLossTicks(500, 2)', 40, 40, 40],
    ['calcPositionSizeByStopLossPercent(10, 2, 50)', 40, 40, 40],
  ] as const)
    test(call, () => {
      for (const [size, expected] of [
        [2, long],
        [-2, short],
        [0, none],
      ] as const)
        expectSame([called(`plot(lib.${call})`, size)[0]!], [expected])
    })

  test('leaves by percentages', () => {
    orders.length = 0
    called('if bar_index == 0\n    lib.exitPercent("x", lossPercent = 2, profitPercent = 4)\nplot(1)')
    expect(JSON.stringify(orders)).toContain('"x"')
    expect(JSON.stringify(orders)).toMatch(/\b400\b.*\b800\b|\b800\b.*\b400\b/)
  })

  test('closes all at the end of the session, and one entry too', () => {
    for (const call of ['closeAllAtEndOfSession()', 'closeAtEndOfSession("a")']) {
      orders.length = 0
      called(`lib.${call}\nplot(1)`)
      // The last hours of 16 whole days.
      expect(orders.filter(({ method }) => /close/i.test(method))).toHaveLength(16)
    }
  })

  test('ratios of the days on which trades ended', () => {
    // Less than two months lie between the first entry and the last exit, so each day counts; bar 20 is on day 0.
    const changes = Array.from({ length: 17 }, () => 0)
    let equity = 1000
    for (const [day, profit] of [
      [0, 50],
      [12, -30],
      [16, 80],
    ] as const) {
      changes[day] = (100 * profit) / equity
      equity += profit
    }
    const free = 2 / 365
    const mean = sumOf(changes) / 17
    const deviation = (of: (x: number) => number) => Math.sqrt(sumOf(changes.map((x) => of(x) ** 2)) / 17)
    const found = called('plot(lib.sharpeRatio())\nplot(lib.sortinoRatio(2, true))')
    expect(found[398]).toBeNaN()
    expect(found[399]).toBeCloseTo((mean - free) / deviation((x) => x - mean), 9)
    expect(called('plot(lib.sortinoRatio(2, true))')[10]).toBeCloseTo(
      (mean - free) / deviation((x) => Math.min(0, x - free)),
      9,
    )
  })
})

describe('RiskMetrics', () => {
  const days = barsOf(walk(130, 11), 24 * HOUR_MS)
  const more = { interval: '1d' }
  const moves = zip((a, b) => (100 * (a - b)) / b, priceOf(days, 'close'), back(priceOf(days, 'close')))
  const PERCENT = '100 * (close - close[1]) / close[1]'

  /** Of January to April 2024, from the bars that are days of them; the last month is not over. */
  function monthly(other = 0): number[] {
    const found: number[] = []
    let own = 1
    let others = 1
    for (let i = 0; i < 130; i++) {
      const isFirst = new Date(days.time[i]!).getUTCDate() === 1
      if (i > 0 && isFirst) {
        found.push(100 * (own - others))
        own = others = 1
      }
      own *= 1 + (moves[i] || 0) / 100
      others *= 1 + other / 100
    }
    return found
  }

  const ratio = (returns: readonly number[], annual: number, perYear: number, isDownside: boolean) => {
    const mean = sumOf(returns) / returns.length
    const squares = returns.map((x) => (isDownside ? Math.min(0, x - annual / perYear) : x - mean) ** 2)
    return (mean - annual / perYear) / Math.sqrt(sumOf(squares) / returns.length)
  }

  test('detects how much the chart spans', () => {
    const body = 'p = lib.detectPeriod()\nplot(p ? 1 : 0)'
    const found = valuesOf({ path: 'RiskMetrics/3', body, bars: days, more })
    // The first of March is two months after the first of January.
    expect(found.indexOf(1)).toBe(31 + 29)
  })

  test('returns by month, and beyond a benchmark', () => {
    for (const [call, expected] of [
      [`lib.getPeriodicReturns(${PERCENT}, 12)`, monthly()],
      [`lib.getPeriodicReturns(${PERCENT}, 0.1, 12)`, monthly(0.1)],
      [`lib.getPeriodicReturns(${PERCENT}, 2)`, monthly().slice(-2)],
    ] as const) {
      const body = `r = ${call}\nplot(r.size())\nplot(r.size() > 0 ? r.get(0) : na)\nplot(r.size() > 0 ? r.last() : na)`
      const at = (plot: number) => valuesOf({ path: 'RiskMetrics/3', body, bars: days, more }, plot)[129]
      expect(at(0)).toBe(expected.length)
      expect(at(1)).toBeCloseTo(expected[0]!, 9)
      expect(at(2)).toBeCloseTo(expected.at(-1)!, 9)
    }
  })

  for (const [name, isDownside] of [
    ['sharpeRatio', false],
    ['sortinoRatio', true],
  ] as const)
    test(name, () => {
      const body = `r = lib.getPeriodicReturns(${PERCENT}, 12)\nplot(r.${name}(2.0))\nplot(lib.${name}(r, 2.0, true, 252))`
      const at = (plot: number) => valuesOf({ path: 'RiskMetrics/2', body, bars: days, more }, plot)
      expect(at(0)[128]).toBeNaN()
      expect(at(0)[129]).toBeCloseTo(ratio(monthly(), 2, 12, isDownside), 9)
      expect(at(1)[129]).toBeCloseTo(ratio(monthly(), 2, 252, isDownside), 9)
    })
})

describe('ZigZag', () => {
  interface Turn {
    readonly at: number
    readonly price: number
    readonly isHigh: boolean
    readonly volume: number
  }

  /** The turning points as they stand after the last bar. */
  function turns(bars: Bars, deviation: number, depth: number, both: boolean): Turn[] {
    const reach = Math.max(2, Math.floor(depth / 2))
    const found: Turn[] = []
    let volumeSince = 0
    const isPeak = (xs: ArrayLike<number>, at: number, sign: number) => {
      for (let i = at - reach; i <= at + reach; i++) {
        const ahead = sign * (xs[i]! - xs[at]!)
        if (i < at ? ahead > 0 : i > at && ahead >= 0) return false
      }
      return true
    }
    const take = (at: number, isHigh: boolean): boolean => {
      const price = (isHigh ? bars.high : bars.low)[at]!
      const last = found.at(-1)
      const turn = { at, price, isHigh, volume: volumeSince }
      if (last?.isHigh === isHigh) {
        if (isHigh ? price <= last.price : price >= last.price) return false
        found[found.length - 1] = { ...turn, volume: last.volume + volumeSince }
      } else {
        const change = last === undefined ? 0 : (100 * (price - last.price)) / last.price
        if (last !== undefined && (isHigh ? change < deviation : change > -deviation)) return false
        found.push(turn)
      }
      volumeSince = 0
      return true
    }
    for (let i = 0; i < bars.length; i++) {
      const at = i - reach
      volumeSince += bars.volume[at] ?? 0
      if (i < 2 * reach) continue
      const done = isPeak(bars.high, at, 1) && take(at, true)
      if ((both || !done) && isPeak(bars.low, at, -1)) take(at, false)
    }
    return found
  }

  for (const version of [6, 7, 8, 9])
    for (const both of [true, false])
      test(`${version}: the turning points${both ? '' : ', one a bar'}`, () => {
        const time = version === 6 ? 'tm' : 'time'
        const body = `var s = lib.Settings.new(1.5, 6, extendLast = false)
s.allowZigZagOnOneBar := ${both}
var z = lib.newInstance(s)
changed = z.update()
n = math.min(bar_index, math.max(0, z.pivots.size() - 1))
p = z.pivots.size() > 0 ? z.pivots.get(n) : na
plot(z.pivots.size())
plot(na(p) ? na : p.end.price)
plot(na(p) ? na : p.end.${time})
plot(na(p) ? na : p.isHigh ? 1 : 0)
plot(na(p) ? na : p.vol)
plot(na(z.lastPivot()) ? na : z.lastPivot().start.price)
plot(changed ? 1 : 0)`
        const expected = turns(hours, 1.5, 6, both)
        expect(expected.length).toBeGreaterThan(8)
        const run = runOf({ path: `ZigZag/${version}`, body })
        const last = (plot: number) => plotted(run, plot)[399]
        expect(last(0)).toBe(expected.length)
        expect(last(1)).toBe(expected.at(-1)!.price)
        expect(last(2)).toBe(hours.time[expected.at(-1)!.at])
        expect(last(3)).toBe(expected.at(-1)!.isHigh ? 1 : 0)
        expect(last(4)).toBe(expected.at(-1)!.volume)
        expect(last(5)).toBe(expected.at(-2)!.price)
        expect(sumOf(plotted(run, 6))).toBeGreaterThanOrEqual(expected.length)
      })

  test('draws a line and a label for each, and one to the newest close', () => {
    const body = `var z = lib.newInstance(lib.Settings.new(1.5, 6))
z.update()
p = z.lastPivot()
plot(na(p) ? na : p.ln.get_y2())
plot(na(p) ? na : str.length(p.lb.get_text()))
plot(na(z.extend) ? na : z.extend.ln.get_y2())
plot(z.pivots.size())`
    const run = runOf({ path: 'ZigZag/9', body })
    const expected = turns(hours, 1.5, 6, true)
    expect(plotted(run, 0)[399]).toBe(expected.at(-1)!.price)
    expect(plotted(run, 1)[399]).toBeGreaterThan(8)
    expect(plotted(run, 2)[399]).toBe(close[399])
    expect(plotted(run, 2)[398]).toBeNaN()
  })
})

describe('ValueAtTime', () => {
  const DAY_MS = 24 * HOUR_MS
  const at = (i: number) => hours.time[i]!
  /** The earliest of the bars up to `now` that are closest to a time. */
  const closest = (now: number, timestamp: number): number => {
    let best = 0
    for (let i = 1; i <= now; i++) if (Math.abs(at(i) - timestamp) < Math.abs(at(best) - timestamp)) best = i
    return best
  }
  const path = 'ValueAtTime/2'

  test('splits at commas', () => {
    const body =
      'a = lib.getArrayFromString(" 1D, ,1W,,YTD ")\nplot(a.size())\nplot(a.join("|") == "1D|1W|YTD" ? 1 : 0)'
    expect(valuesOf({ path, body })[0]).toBe(3)
    expect(valuesOf({ path, body }, 1)[0]).toBe(1)
  })

  for (const [period, to] of [
    ['1D', Date.UTC(2024, 2, 30, 5, 6, 7)],
    ['2W', Date.UTC(2024, 2, 17, 5, 6, 7)],
    // February has 29 days in 2024.
    ['1M', Date.UTC(2024, 1, 29, 5, 6, 7)],
    ['M', Date.UTC(2024, 1, 29, 5, 6, 7)],
    ['15M', Date.UTC(2022, 11, 31, 5, 6, 7)],
    ['1Y', Date.UTC(2023, 2, 31, 5, 6, 7)],
    ['YTD', Date.UTC(2024, 0, 1)],
  ] as const)
    test(`${period} before a time`, () => {
      const body = `plot(lib.periodToTimestamp("${period}", ${Date.UTC(2024, 2, 31, 5, 6, 7)}))`
      expect(valuesOf({ path, body })[0]).toBe(to)
    })

  test('a period that is none stops the run', () => {
    expect(() => valuesOf({ path, body: 'plot(lib.periodToTimestamp("1Q", time))' })).toThrow('1Q')
  })

  test('values at a time, at an offset and at a period, of a series and of what was collected', () => {
    const target = at(100) + HOUR_MS / 2
    const week = (i: number) => at(i) - 7 * DAY_MS
    for (const [call, time] of [
      [`lib.valueAtTime(close, ${target})`, () => target],
      [`lib.valueAtTimeOffset(close, ${7 * DAY_MS})`, week],
      ['lib.valueAtPeriodOffset(close, "1W")', week],
    ] as const) {
      const body = `[a, b, c] = ${call}\nplot(a)\nplot(b)\nplot(c)`
      expectSame(
        valuesOf({ path, body }),
        close.map((_, i) => close[closest(i, time(i))]!),
      )
      expectSame(
        valuesOf({ path, body }, 1),
        close.map((_, i) => at(closest(i, time(i)))),
      )
      expectSame(valuesOf({ path, body }, 2), close)
    }
    for (const [call, time] of [
      [`d.valueAtTime(${target})`, () => target],
      [`d.valueAtTimeOffset(${7 * DAY_MS})`, week],
      ['d.valueAtPeriodOffset("1W")', week],
    ] as const) {
      const body = `lib.Data d = lib.collectData(close)\n[a, b] = ${call}\nplot(a)\nplot(b)`
      expectSame(
        valuesOf({ path: 'ValueAtTime/1', body }),
        close.map((_, i) => close[closest(i, time(i))]!),
      )
    }
  })

  test('keeps no more bars than asked for', () => {
    for (const limits of [`${5 * HOUR_MS}`, '1, "300"', `${2 * HOUR_MS}, "300"`])
      expect(valuesOf({ path, body: `plot(lib.collectData(close, ${limits}).times.size())` })[399]).toBe(5)
  })

  test('many values at once', () => {
    const offsets = [DAY_MS, 7 * DAY_MS]
    for (const call of [
      `getDataAtTimes(array.from(time - ${offsets[0]}, time - ${offsets[1]}), close)`,
      `getDataAtTimeOffsets(array.from(${offsets.join(', ')}), close)`,
      'getDataAtPeriodOffsets(array.from("1D", "1W"), close)',
    ]) {
      const body = `[v, t, c, d] = lib.${call}\nplot(v.get(0))\nplot(v.get(1))\nplot(t.get(1))\nplot(c)\nplot(d == "Coin" ? 1 : 0)`
      const found = (plot: number) => valuesOf({ path, body }, plot)[399]
      expect(found(0)).toBe(close[375])
      expect(found(1)).toBe(close[231])
      expect(found(2)).toBe(at(231))
      expect(found(3)).toBe(close[399])
      expect(found(4)).toBe(1)
    }
  })
})

describe('LibraryCOT', () => {
  const said = (call: string, more: Partial<RunEnvironment> = {}, version = 2) => {
    const body = `log.info(lib.${call})\nplot(1)`
    return runOf({ path: `LibraryCOT/${version}`, body, bars: barsOf([1]), more }).logs[0]?.message
  }
  const gold: Partial<RunEnvironment> = { symbol: { ...SYMBOL, symbol: 'GC1!', type: 'futures' } }

  for (const [call, text] of [
    ['rootToCFTCCode("ES")', '13874A'],
    ['rootToCFTCCode("none")', ''],
    ['currencyToCFTCCode("JPY")', '097741'],
    ['optionsToTicker(true)', 'FO'],
    ['optionsToTicker(false)', 'F'],
    ['metricNameAndDirectionToTicker("Noncommercial Positions", "Long")', 'NCP_L'],
    ['metricNameAndDirectionToTicker("Open Interest", "No direction")', 'OI'],
    ['typeToTicker("Old")', '_OLD'],
    ['typeToTicker("All")', ''],
    ['COTTickerid("Legacy", "001602", true, "Open Interest", "No direction", "Old")', 'COT:001602_FO_OI_OLD'],
    [
      'COTTickerid("Financial", "133741", false, "Leveraged Funds Positions", "Short", "All")',
      'COT3:133741_F_LMP_S',
    ],
    ['convertRootToCOTCode("Currency")', '098662'],
    ['convertRootToCOTCode("Currency", false)', 'USD'],
  ] as const)
    test(call, () => expect(said(call)).toBe(text))

  test('the code of the chart’s own symbol, and of another', () => {
    expect(said('convertRootToCOTCode("Auto")', gold)).toBe('088691')
    expect(said('getCFTCCode("")', gold, 6)).toBe('088691')
    expect(said('getCFTCCode("CME:ES1!")', {}, 6)).toBe('13874A')
    expect(said('getCFTCCode("FX:EURUSD")', {}, 6)).toBe('099741')
  })

  test('what the reports do not have stops the run', () => {
    expect(() => said('metricNameAndDirectionToTicker("Moods", "Long")')).toThrow('Moods')
    expect(() => said('convertRootToCOTCode("Root")')).toThrow('no code')
  })

  test('a report that is not here is named, one that is here is read', () => {
    const body =
      'plot(lib.requestCommitmentOfTraders("Legacy", "088691", false, "Open Interest", "No direction", "All"))'
    const run = { path: 'LibraryCOT/6', body }
    expect(() => valuesOf(run)).toThrow('COT:088691_F_OI')
    const weekly = barsOf([5, 6, 7], 24 * HOUR_MS)
    const more: Partial<RunEnvironment> = {
      series: (exchange, symbol, interval) =>
        exchange === 'COT' && symbol === '088691_F_OI'
          ? { bars: weekly, symbol: { ...SYMBOL, exchange, symbol }, interval }
          : null,
    }
    expect(valuesOf({ ...run, more })[399]).toBe(7)
  })
})

describe('Color', () => {
  const path = 'Color/2'
  const ORANGE = 'color.rgb(255, 128, 0, 20)'

  /** What a call gives: its numbers, or red, green, blue and transparency of a colour. */
  function numbersOf(call: string, count: number): number[] {
    const names = Array.from({ length: count }, (_, i) => `r${i}`)
    const body = `[${names.join(', ')}] = lib.${call}\n${names.map((name) => `plot(${name})`).join('\n')}`
    const run = runOf({ path, body, bars: barsOf([1]) })
    return names.map((_, i) => plotted(run, i)[0]!)
  }
  function partsOf(color: string, before = ''): number[] {
    const body = `${before}\nc = ${color}\nplot(color.r(c))\nplot(color.g(c))\nplot(color.b(c))\nplot(color.t(c))`
    const run = runOf({ path, body, bars: barsOf([1]) })
    return [0, 1, 2, 3].map((i) => Math.round(plotted(run, i)[0]!))
  }

  // Known values: the sRGB standard, Lindbloom's calculator, Ottosson's article on Oklab, CSS Color 4.
  for (const [space, values, digits] of [
    ['LRGB', [1, 0.215861, 0, 20], 5],
    ['HSL', [30.1176, 100, 50, 20], 3],
    ['HSV', [30.1176, 100, 100, 20], 3],
    ['HWB', [30.1176, 0, 0, 20], 3],
    ['XYZ', [0.489643, 0.367049, 0.045063, 20], 4],
    ['XYY', [0.543, 0.407, 0.367, 20], 2],
    ['LAB', [67.05, 42.83, 74.03, 20], 1],
    ['LCH', [67.05, 85.53, 59.95, 20], 1],
  ] as const) {
    test(`${space} of a colour and of its parts`, () => {
      for (const given of [ORANGE, '255, 128, 0, 20'])
        for (const [i, value] of numbersOf(`get${space}(${given})`, 4).entries())
          expect(value).toBeCloseTo(values[i]!, digits)
    })
  }

  for (const space of ['LRGB', 'HSL', 'HSV', 'HWB', 'XYZ', 'XYY', 'LAB', 'LCH', 'OKLAB', 'OKLCH'])
    test(`${space} and back`, () => {
      const name = space.toLowerCase()
      for (const [r, g, b] of [
        [255, 128, 0],
        [12, 200, 99],
        [0, 0, 0],
        [255, 255, 255],
        [40, 41, 250],
      ]) {
        const parts = numbersOf(`get${space}(${r}, ${g}, ${b}, 40)`, 4)
        expect(numbersOf(`${name}ToRGB(${parts.join(', ')})`, 4)).toEqual([r, g, b, 40] as number[])
        expect(partsOf(`lib.${name}ToColor(${parts.join(', ')})`)).toEqual([r, g, b, 40] as number[])
      }
    })

  test('red in Oklab, as its author gives it', () => {
    for (const [space, values] of [
      ['OKLAB', [0.62796, 0.22486, 0.12585, 0]],
      ['OKLCH', [0.62796, 0.25768, 29.234, 0]],
    ] as const)
      for (const [i, value] of numbersOf(`get${space}(#FF0000)`, 4).entries())
        expect(value).toBeCloseTo(values[i]!, 3)
  })

  test('red, green, blue and transparency', () => {
    expect(numbersOf(`getRGB(${ORANGE})`, 4)).toEqual([255, 128, 0, 20])
  })

  test('hexadecimal texts', () => {
    const body = `log.info(lib.getHexString(${ORANGE}))\nlog.info(lib.getHexString(255, 128, 0))\nplot(1)`
    const { logs } = runOf({ path, body, bars: barsOf([1]) })
    expect(logs.map(({ message }) => message)).toEqual(['#FF8000CC', '#FF8000FF'])
    expect(numbersOf('hexStringToRGB("#ff8000CC")', 4).map(Math.round)).toEqual([255, 128, 0, 20])
    expect(partsOf('lib.hexStringToColor("FF8000")')).toEqual([255, 128, 0, 0])
    expect(() => partsOf('lib.hexStringToColor("#FF80")')).toThrow('#FF80')
  })

  test('contrast', () => {
    const at = (call: string) => valuesOf({ path, body: `plot(${call})`, bars: barsOf([1]) })[0]
    expect(at('lib.contrastRatio(color.rgb(0, 0, 0), color.rgb(255, 255, 255))')).toBeCloseTo(21, 9)
    // The gray whose contrast with white is just enough for text.
    expect(at('lib.contrastRatio(#767676, color.rgb(255, 255, 255))')).toBeCloseTo(4.54, 2)
    expect(at('lib.isLightTheme(#F0F0F0) ? 1 : 0')).toBe(1)
    expect(at('lib.isLightTheme(#131722) ? 1 : 0')).toBe(0)
  })

  for (const [call, parts] of [
    ['grayscale(#FF0000)', [127, 127, 127, 0]],
    ['negative(color.rgb(10, 20, 30, 50))', [245, 235, 225, 50]],
    ['complement(#FF0000)', [0, 255, 255, 0]],
    ['add(#FF0000, #004000)', [255, 64, 0, 0]],
    ['add(color.rgb(200, 0, 0, 50), color.rgb(0, 100, 0, 0), true)', [100, 100, 0, 0]],
    ['overlay(color.rgb(255, 0, 0, 50), #0000FF)', [128, 0, 128, 0]],
    ['fromGradient(2, 0, 4, #000000, #FF0000)', [128, 0, 0, 0]],
    ['fromGradient(9, 0, 4, #000000, #FF0000)', [255, 0, 0, 0]],
    // The shorter way from red to magenta passes no green.
    ['fromGradient(1, 0, 2, #FF0000, #FF00FF, "HSL")', [255, 0, 128, 0]],
    ['fromGradient(1, 0, 2, #000000, #FFFFFF, "LRGB")', [188, 188, 188, 0]],
    [
      'fromMultiStepGradient(15, array.from(0.0, 10.0, 20.0), array.from(#000000, #FF0000, #FFFF00))',
      [255, 128, 0, 0],
    ],
    ['fromMultiStepGradient(-5, array.from(0.0, 10.0), array.from(#000000, #FF0000))', [0, 0, 0, 0]],
    ['gradientPalette(#000000, #FF0000, 6).get(1)', [51, 0, 0, 0]],
    ['gradientPalette(#000000, #FF0000, 6).get(5)', [255, 0, 0, 0]],
    ['monoPalette(#FF0000, 100, 2).get(1)', [255, 255, 255, 0]],
    ['harmonyPalette(#FF0000, "triadic").get(1, 0)', [0, 255, 0, 0]],
    ['harmonyPalette(#FF0000).get(1, 0)', [0, 255, 255, 0]],
  ] as const)
    test(call, () => expect(partsOf(`lib.${call}`)).toEqual([...parts]))

  for (const [call, turns] of [
    ['analogousColors', [-30, 30]],
    ['splitComplements', [150, 210]],
    ['triadicColors', [120, 240]],
    ['tetradicColors', [60, 180, 240]],
    ['pentadicColors', [72, 144, 216, 288]],
    ['hexadicColors', [60, 120, 180, 240, 300]],
  ] as const)
    test(call, () => {
      const names = turns.map((_, i) => `c${i}`)
      const hues = turns.map((turn, i) => {
        const [r, g, b] = partsOf(`c${i}`, `[${names.join(', ')}] = lib.${call}(#FF0000)`) as [
          number,
          number,
          number,
        ]
        const [top, span] = [Math.max(r, g, b), Math.max(r, g, b) - Math.min(r, g, b)]
        const sixth = top === r ? (g - b) / span : top === g ? (b - r) / span + 2 : (r - g) / span + 4
        return [Math.round((60 * sixth - turn + 720) % 360) % 360, span]
      })
      expect(hues).toEqual(turns.map(() => [0, 255]))
    })
})
