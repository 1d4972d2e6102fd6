// What traded at each price, by request.footprint(): against sums over the trades themselves, and where it is not known.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { openBacktest, runBacktest } from '../../src/broker/run.ts'
import { seededRandom, type SeededRandom } from '../../src/lib/seeded-random.ts'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import type { RunEnvironment } from '../../src/language/environment.ts'
import { advanceDifference, incrementalDifference, scriptRequest } from '../../src/tools/incremental.ts'
import { plotted, runScript, SYMBOL } from './run-script.ts'
import { rounds } from '../long.ts'

// A busy machine takes its time over runs that begin again and again.
setDefaultTimeout(300_000)

const SEED = Number(process.env['SEED'] ?? Date.now() % 100_000)
console.log(`footprint rows SEED=${SEED}`)

const START = Date.UTC(2024, 0, 1, 20)
const SECOND = 1000
const QUARTER = 900 * SECOND
const TICK = 0.25
const QUARTERS = { ...SYMBOL, mintick: TICK, priceScale: 4 }

interface Trade {
  readonly at: number
  /** In ticks. */
  readonly price: number
  readonly amount: number
  readonly bought: boolean
}

function barsFrom(trades: readonly Trade[], step: number): Bars {
  const groups = Map.groupBy(trades, ({ at }) => Math.floor(at / step) * step)
  const bars = { ...emptyBars(groups.size), bought: new Float64Array(groups.size) }
  for (const [i, [time, group]] of [...groups].entries()) {
    const prices = group.map(({ price }) => price * TICK)
    bars.time[i] = time
    bars.open[i] = prices[0]!
    bars.high[i] = Math.max(...prices)
    bars.low[i] = Math.min(...prices)
    bars.close[i] = prices.at(-1)!
    for (const { amount, bought } of group) {
      bars.volume[i]! += amount
      if (bought) bars.bought[i]! += amount
    }
  }
  return bars
}

/** `finest` answers the finest bars that know their sides, `next` the ones after them. */
const sided =
  (finest: Bars | null, next: Bars | null = null): RunEnvironment['series'] =>
  (_exchange, _symbol, interval) => {
    const of = (bars: Bars | null, is: string) => bars && { bars, symbol: QUARTERS, interval: is }
    if (interval === `sided below 15m from ${START}`) return of(finest, '1s')
    if (interval === `sided 1s to 15m from ${START}`) return of(next, '1m')
    return null
  }

const source = (args: string, body: string) =>
  `//@version=6\nindicator("x")\nf = request.footprint(${args})\n${body}\n`

function valuesOf(expression: string, chart: Bars, series: RunEnvironment['series'], args = '1'): number[] {
  return plotted(runScript(source(args, `plot(${expression})`), chart, { series, symbol: QUARTERS }))
}

const SAY_ALL = `say(volume_row r) =>
    str.format("{0} {1} {2} {3} {4} {5} {6} {7}", str.tostring(r.down_price()), str.tostring(r.up_price()), str.tostring(r.buy_volume()), str.tostring(r.sell_volume()), str.tostring(r.total_volume()), str.tostring(r.delta()), r.has_buy_imbalance(), r.has_sell_imbalance())
text = ""
float all = 0
for r in f.rows()
    text += say(r) + "|"
    all += r.total_volume()
    if footprint.get_row_by_price(f, r.down_price()).delta() != r.delta()
        runtime.error("another row")
if all != f.total_volume()
    runtime.error("another sum")
log.info(text + " " + say(f.poc()) + "|" + say(f.val()) + "|" + say(f.vah()))`

/** The same, from the trades of a bar. */
function toldOf(trades: readonly Trade[], ticks: number, va: number, imbalance: number): string {
  const rowOf = (price: number) => (price - (price % ticks)) / ticks
  const first = Math.min(...trades.map(({ price }) => rowOf(price)))
  const last = Math.max(...trades.map(({ price }) => rowOf(price)))
  const sum = (row: number, bought: boolean) =>
    trades
      .filter((one) => rowOf(one.price) === row && one.bought === bought)
      .reduce((all, { amount }) => all + amount, 0)
  const rows = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const total = (row: number) => sum(row, true) + sum(row, false)
  const say = (row: number) => {
    const [buy, sell] = [sum(row, true), sum(row, false)]
    const outweighs = (mine: number, other: number, there: boolean) =>
      there && mine > 0 && mine * 100 >= imbalance * other
    return [
      row * ticks * TICK,
      (row + 1) * ticks * TICK,
      buy,
      sell,
      buy + sell,
      buy - sell,
      outweighs(buy, sum(row - 1, false), row > first),
      outweighs(sell, sum(row + 1, true), row < last),
    ].join(' ')
  }
  const middle = (first + last) / 2
  const [poc = 0] = rows.toSorted(
    (a, b) => total(b) - total(a) || Math.abs(a - middle) - Math.abs(b - middle) || a - b,
  )
  const whole = rows.reduce((all, row) => all + total(row), 0)
  let area = [poc]
  for (;;) {
    const [low, high] = [area[0]! - 1, area.at(-1)! + 1]
    const near = [high, low].filter((row) => row >= first && row <= last)
    // Sorting keeps the upper one in front.
    const [next] = near.toSorted((a, b) => total(b) - total(a) || Math.abs(a - poc) - Math.abs(b - poc))
    if (next === undefined) break
    const wider = [...area, next].toSorted((a, b) => a - b)
    if (wider.reduce((all, row) => all + total(row), 0) * 100 > whole * va) break
    area = wider
  }
  return `${rows.map(say).join('|')}| ${[poc, area[0]!, area.at(-1)!].map(say).join('|')}`
}

/** Trades of a few bars of a quarter of an hour; those of a second are in one row. */
function randomTrades(random: SeededRandom, ticks: number): Trade[] {
  const trades: Trade[] = []
  let price = 400
  for (let bar = 0; bar < 6; bar++) {
    let second = random.below(30)
    // Few amounts, so that rows tie.
    const most = 1 + random.below(4)
    for (; second < 900; second += 1 + random.below(60)) {
      price += random.below(7) - 3
      const lowest = price - (price % ticks)
      for (let n = random.below(3); n >= 0; n--)
        trades.push({
          at: START + bar * QUARTER + second * SECOND + n,
          price: lowest + random.below(ticks),
          amount: 1 + random.below(most),
          bought: random.below(3) > 0,
        })
    }
  }
  return trades
}

test('L8: rows, point of control and imbalances of seconds that stand within a row are those of the trades', () => {
  const random = seededRandom(SEED)
  for (let round = 0; round < 40; round++) {
    const ticks = 1 + random.below(5)
    const va = [0, 30, 50, 70, 68.5, 100][random.below(6)]!
    const imbalance = [100, 150, 200, 300, 1000][random.below(5)]!
    const trades = randomTrades(random, ticks)
    const chart = barsFrom(trades, QUARTER)
    const run = runScript(source(`${ticks}, ${va}, ${imbalance}`, SAY_ALL), chart, {
      series: sided(barsFrom(trades, SECOND)),
      symbol: QUARTERS,
    })
    const bars = [...Map.groupBy(trades, ({ at }) => Math.floor(at / QUARTER)).values()]
    expect(run.logs.map(({ message }) => message)).toEqual(bars.map((of) => toldOf(of, ticks, va, imbalance)))
    expect(run.warnings).toEqual([])
  }
})

/** A bar of three seconds: at 100 and 100.25, at 100.5, and at 100. */
const TRADES: readonly Trade[] = [
  { at: START, price: 400, amount: 3, bought: true },
  { at: START, price: 401, amount: 1, bought: false },
  { at: START + 5 * SECOND, price: 402, amount: 6, bought: false },
  { at: START + 6 * SECOND, price: 400, amount: 2, bought: true },
]
const CHART = barsFrom(TRADES, QUARTER)
const SECONDS = barsFrom(TRADES, SECOND)

describe('what is found among the rows', () => {
  test.each([
    // The first second is spread over two rows, and of its sides each as well.
    ['f.rows().size()', 3],
    ['f.rows().get(0).buy_volume()', 3.5],
    ['f.rows().get(0).sell_volume()', 0.5],
    ['f.rows().get(1).buy_volume()', 1.5],
    ['f.rows().get(1).delta()', 1],
    ['f.rows().get(2).sell_volume()', 6],
    ['f.poc().down_price()', 100.5],
    ['f.poc().up_price()', 100.75],
    // Seventy of a hundred are 8.4 of twelve: the point of control and the row below it have 8.
    ['f.val().down_price()', 100.25],
    ['f.vah().down_price()', 100.5],
    ['f.get_row_by_price(100.25).total_volume()', 2],
    ['f.get_row_by_price(100.49).total_volume()', 2],
    ['f.get_row_by_price(100.75).total_volume()', Number.NaN],
    ['f.get_row_by_price(99.99).total_volume()', Number.NaN],
    ['f.get_row_by_price(na).total_volume()', Number.NaN],
    // 1.5 bought against 0.5 sold below are three times as much.
    ['f.rows().get(1).has_buy_imbalance() ? 1 : 0', 1],
    ['f.rows().get(0).has_buy_imbalance() ? 1 : 0', 0],
    ['f.rows().get(0).has_sell_imbalance() ? 1 : 0', 0],
    ['f.rows().get(2).has_sell_imbalance() ? 1 : 0', 0],
    // Another array each time.
    ['f.rows().size() + f.rows().pop().total_volume() + f.rows().size()', 12],
  ])('%s', (expression, expected) => {
    expect(valuesOf(expression, CHART, sided(SECONDS))).toEqual([expected])
  })

  test('L9: rows are as high as was asked for, and a price on an edge is in the upper one', () => {
    expect(valuesOf('f.rows().get(0).down_price()', CHART, sided(SECONDS), '2')).toEqual([100])
    expect(valuesOf('f.rows().get(0).total_volume()', CHART, sided(SECONDS), '2')).toEqual([6])
    expect(valuesOf('f.rows().get(1).up_price()', CHART, sided(SECONDS), '2')).toEqual([101])
    expect(valuesOf('f.rows().size()', CHART, sided(SECONDS), '1000')).toEqual([1])
  })

  test('bars of another interval have rows of their own, which the chart may read', () => {
    const series: RunEnvironment['series'] = (_e, _s, interval) =>
      interval === `sided below 30m from ${START}`
        ? { bars: SECONDS, symbol: QUARTERS, interval: '1s' }
        : null
    const two = barsFrom([...TRADES, { ...TRADES[0]!, at: START + QUARTER, amount: 1 }], QUARTER)
    const all = barsFrom([...TRADES, { ...TRADES[0]!, at: START + QUARTER, amount: 1 }], SECOND)
    const asked = 'request.security(syminfo.tickerid, "30", request.footprint(1)).poc().total_volume()'
    const body = `//@version=6\nindicator("x")\nplot(${asked})\n`
    const found =
      (bars: Bars): RunEnvironment['series'] =>
      (...name) => {
        const one = series(...name)
        return one && { ...one, bars }
      }
    expect(plotted(runScript(body, two, { series: found(all), symbol: QUARTERS }))).toEqual([Number.NaN, 6])
  })
})

describe('rows are na, and the run says so once,', () => {
  const asks = source(
    '1',
    'plot(na(f.poc()) ? -1 : f.poc().total_volume())\nplot(na(f.rows()) ? -1 : f.rows().size())',
  )
  const said = (chart: Bars, series: RunEnvironment['series'], text = asks) => {
    const run = runScript(text, chart, { series, symbol: QUARTERS })
    return [run.warnings.map(({ code }) => code), plotted(run), plotted(run, 1)]
  }
  const later: Trade = { at: START + QUARTER, price: 400, amount: 5, bought: true }
  const two = barsFrom([...TRADES, later], QUARTER)

  test('where no shorter bars know their sides', () => {
    expect(said(two, sided(null))).toEqual([['no-sided-bars'], [-1, -1], [-1, -1]])
    const { warnings } = runScript(asks, two, { series: sided(null), symbol: QUARTERS })
    expect(warnings[0]?.message).toContain('`1s`')
  })
  test('where they do not add up to the bar', () => {
    expect(said(two, sided(SECONDS))).toEqual([['sided-bars-differ'], [6, -1], [3, -1]])
    const other = { ...SECONDS, bought: SECONDS.bought!.map((value, i) => (i === 0 ? value - 1 : value)) }
    expect(said(CHART, sided(other))).toEqual([['sided-bars-differ'], [-1], [-1]])
    const unknown = { ...SECONDS, bought: SECONDS.bought!.map((value, i) => (i === 0 ? Number.NaN : value)) }
    expect(said(CHART, sided(unknown))).toEqual([['sided-bars-differ'], [-1], [-1]])
  })
  test('where there would be too many', () => {
    const far = barsFrom([...TRADES, { ...later, at: START + 9 * SECOND, price: 2400 }], SECOND)
    const chart = barsFrom([...TRADES, { ...later, at: START + 9 * SECOND, price: 2400 }], QUARTER)
    expect(said(chart, sided(far))).toEqual([['too-many-price-rows'], [-1], [-1]])
    expect(valuesOf('f.rows().size()', chart, sided(far), '2')).toEqual([1001])
  })
  test('but where the next shorter bars add up, these are taken', () => {
    const minutes = barsFrom([...TRADES, later], 60 * SECOND)
    // A minute of all three seconds spans all three rows.
    expect(said(two, sided(SECONDS, minutes))).toEqual([[], [6, 5], [3, 1]])
    expect(said(CHART, sided(barsFrom(TRADES.slice(1), SECOND), minutes))).toEqual([[], [4], [3]])
  })
  test('and a bar in which nothing traded has none, and nothing to say', () => {
    const none = { ...two, volume: Float64Array.of(12, 0), bought: Float64Array.of(5, 0) }
    expect(said(none, sided(SECONDS))).toEqual([[], [6, -1], [3, 0]])
  })
  test('and shorter bars in which nothing traded count for nothing', () => {
    const at = { at: START + 8 * SECOND, price: 900, amount: 0, bought: true }
    const quiet = barsFrom([...TRADES, at], SECOND)
    quiet.bought![3] = Number.NaN
    expect(said(CHART, sided(quiet))).toEqual([[], [6], [3]])
  })
  test('nobody reads other bars for what asks for no rows', () => {
    const series = () => {
      throw new Error('it asked')
    }
    expect(valuesOf('f.delta() + f.total_volume()', CHART, series)).toEqual([10])
  })
})

test('a value area of all has all rows, however their sums are rounded', () => {
  const trades = [0.1, 0.2, 0.3, 0.6, 0.7, 1.1, 2.3].map((amount, i) => ({
    at: START + i * SECOND,
    price: 400 + i,
    amount,
    bought: i % 2 === 0,
  }))
  const chart = barsFrom(trades, QUARTER)
  const seconds = barsFrom(trades, SECOND)
  expect(valuesOf('f.val().down_price()', chart, sided(seconds), '1, 100')).toEqual([100])
  const turned = trades.map((one, i) => ({ ...one, price: 406 - i }))
  const last = valuesOf(
    'f.vah().down_price()',
    barsFrom(turned, QUARTER),
    sided(barsFrom(turned, SECOND)),
    '1, 100',
  )
  expect(last).toEqual([101.5])
})

test.each([
  ['0', 'ticks_per_row'],
  ['-3', 'ticks_per_row'],
  ['int(na)', 'ticks_per_row'],
  ['1, -1', 'va_percent'],
  ['1, 70, -0.5', 'imbalance_percent'],
])('request.footprint(%s) is refused by the name of %s', (args, name) => {
  expect(() => valuesOf('f.delta()', CHART, sided(SECONDS), args)).toThrow(name)
})

test('percentages that are na leave the point of control and no imbalance, and more than all is all', () => {
  const value = (expression: string, args: string) => valuesOf(expression, CHART, sided(SECONDS), args)[0]
  expect(value('f.val().down_price()', '1, na')).toBe(100.5)
  expect(value('f.rows().get(1).has_buy_imbalance() ? 1 : 0', '1, 70, na')).toBe(0)
  expect(value('f.val().down_price()', '1, 170')).toBe(100)
})

// ——— runs that go on ———

const REQUEST = scriptRequest('', 300, 5)
/** Minutes of the chart's bars: each has a fifteenth of the volume, somewhere within the bar. */
const MINUTES = minutesOf(REQUEST.bars)
const KNOWING = {
  ...REQUEST.bars,
  bought: Float64Array.from(REQUEST.bars.volume, (_, i) => {
    // Of some nobody knows, and of others the minutes know something else.
    const sum = MINUTES.bought.subarray(i * 15, i * 15 + 15).reduce((all, one) => all + one, 0)
    return i % 11 === 4 ? Number.NaN : i % 17 === 3 ? sum / 2 : sum
  }),
}

function minutesOf(bars: Bars) {
  const random = seededRandom(9).uniform
  const count = bars.length * 15
  const minutes = { ...emptyBars(count), bought: new Float64Array(count) }
  for (let i = 0; i < count; i++) {
    const of = Math.floor(i / 15)
    const span = bars.high[of]! - bars.low[of]!
    const at = Math.round((bars.low[of]! + random() * span) * 100) / 100
    minutes.time[i] = bars.time[of]! + (i % 15) * 60_000
    minutes.open[i] = minutes.low[i] = minutes.close[i] = at
    minutes.high[i] = at + (i % 4 === 0 ? 0.03 : 0)
    minutes.volume[i] = bars.volume[of]! / 15
    minutes.bought[i] = (minutes.volume[i]! * (i % 4)) / 4
  }
  return minutes
}

test('a run that was kept and goes on has the rows that it had', () => {
  const text = `//@version=6
strategy("x")
var footprint best = na
var footprint[] all = array.new<footprint>()
var volume_row[] rows = array.new<volume_row>()
var map<int, volume_row> points = map.new<int, volume_row>()
volume_row busy = na
f = request.footprint(10)
if not na(f)
    all.push(f)
    busy := f.poc()
    if not na(busy)
        rows.push(busy)
        points.put(bar_index % 7, f.vah())
    if na(best) or f.delta() > best.delta()
        best := f
if all.size() > 3
    all.shift()
if rows.size() > 9
    rows.shift()
float sum = 0
for one in all
    found = one.rows()
    sum += na(found) ? 1 : found.size()
for one in rows
    sum += one.delta() + (one.has_buy_imbalance() ? 1 : 0)
for one in points.values()
    sum += one.up_price()
hour = request.security(syminfo.tickerid, "60", request.footprint(20))
if not na(hour)
    sum += nz(hour.val().down_price())
if not na(busy) and not na(busy[2]) and busy.up_price() > busy[2].up_price()
    strategy.entry("L", strategy.long)
if not na(f[3]) and nz(f[3].poc().delta()) < 0
    strategy.close("L")
plot(sum + nz(best.poc().up_price()))`
  const names = new Set<string>()
  const request = {
    ...REQUEST,
    source: text,
    bars: KNOWING,
    series: (exchange: string, symbol: string, interval: string) => {
      names.add(interval)
      if (interval.startsWith('sided below')) return { bars: MINUTES, symbol: REQUEST.symbol, interval: '1m' }
      return interval.startsWith('sided') ? null : REQUEST.series(exchange, symbol, interval)
    },
  }
  const { report } = runBacktest(request)
  expect(report.trades.length).toBeGreaterThan(10)
  expect(report.warnings.map(({ code }) => code)).toEqual(['sided-bars-differ'])
  const from = REQUEST.bars.time[0]!
  expect([...names].toSorted()).toEqual(
    [
      `sided 1m to 15m from ${from}`,
      `sided 1m to 1h from ${from}`,
      `sided below 15m from ${from}`,
      `sided below 1h from ${from}`,
    ].toSorted(),
  )
  // Of a run that goes on at its end, too, the hash tells of what it read.
  const ended = openBacktest(request)
  ended.advance(ended.bars.length)
  const fresh = openBacktest(request)
  fresh.restore(ended.snapshot())
  expect(fresh.result().report.hash).toBe(report.hash)
  for (let seed = SEED; seed < SEED + rounds(3); seed++) {
    expect(incrementalDifference(request, seededRandom(seed).uniform)).toBeNull()
    expect(advanceDifference(request, seededRandom(seed).uniform, 8)).toBeNull()
  }
})
