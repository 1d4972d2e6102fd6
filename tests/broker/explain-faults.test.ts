// Faults that are put into settings, inputs, bars and scripts, one at a time: the right cause is named first.

import { describe, expect, test } from 'bun:test'
import { Explainer } from '../../src/broker/explain/explain.ts'
import type { BacktestRequest } from '../../src/broker/backtest.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { parseTradeList } from '../../src/broker/exported/trade-list.ts'
import { seededRandom, type SeededRandom } from '../../src/lib/seeded-random.ts'
import { emptyBars, selectBars, type Bars } from '../../src/market/bars.ts'
import { isLong } from '../long.ts'
import { exportOf, market, requestOn, SYMBOL } from './exported-lists.ts'

const SEED = Number(process.env['SEED'] ?? 20_261_128)
const { bars: BARS, minutes } = market(isLong ? 1500 : 700)
const FINER = { bars: minutes, interval: '1m' }

/** Scripts of the usual kinds, each with inputs, and with orders that most settings are felt by. */
const SCRIPTS = [
  `//@version=6
strategy("Crossing", initial_capital = 100000, default_qty_type = strategy.percent_of_equity, default_qty_value = 10)
fastLength = input.int(5, "Fast")
slowLength = input.int(20, "Slow")
isShort = input.bool(true, "Shorts")
fast = ta.ema(close, fastLength)
slow = ta.ema(close, slowLength)
if ta.crossover(fast, slow)
    strategy.entry("L", strategy.long)
if ta.crossunder(fast, slow)
    if isShort
        strategy.entry("S", strategy.short, limit = close * 1.001)
    else
        strategy.close("L")
if close > slow and bar_index % 4 == 0
    strategy.entry("L" + str.tostring(bar_index % 3), strategy.long)
strategy.exit("X", "L", profit = 60, loss = 40)
strategy.exit("Y", "S", profit = 50, trail_points = 40, trail_offset = 20)
if hour == 0 and minute == 0
    strategy.close_all()
`,
  `//@version=6
strategy("Bands", initial_capital = 20000, default_qty_type = strategy.cash, default_qty_value = 5000, margin_long = 100)
length = input.int(20, "Length", minval = 1)
width = input.float(2.0, "Width", step = 0.1)
source = input.source(close, "Source")
[middle, top, bottom] = ta.bb(source, length, width)
if ta.crossunder(close, bottom)
    strategy.entry("Buy", strategy.long, limit = bottom)
if ta.crossover(close, top)
    strategy.entry("Sell", strategy.short, limit = top)
strategy.exit("Out", "Buy", limit = middle, stop = bottom * 0.99)
strategy.exit("Back", "Sell", limit = middle, stop = top * 1.01)
if timeframe.change("D")
    strategy.close_all()
`,
  `//@version=6
strategy("Strength")
length = input.int(14, "Length")
low_ = input.float(35, "Oversold")
high_ = input.float(65, "Overbought")
kind = input.string("RSI", "Kind", options = ["RSI", "CCI"])
value = kind == "RSI" ? ta.rsi(close, length) : 50 + ta.cci(close, length) / 10
if ta.crossover(value, low_)
    strategy.entry("L", strategy.long)
if ta.crossunder(value, high_)
    strategy.entry("S", strategy.short)
strategy.exit("L out", "L", profit = 80, loss = 50)
strategy.exit("S out", "S", profit = 80, loss = 50)
if hour == 23 and minute == 45
    strategy.close_all()
`,
  `//@version=5
strategy("Breakout", initial_capital = 5000, default_qty_type = strategy.percent_of_equity, default_qty_value = 90, pyramiding = 1)
length = input.int(15, "Length")
factor = input.float(1.5, "Factor")
isTight = input.bool(false, "Tight")
atr = ta.atr(14) * factor * (isTight ? 0.6 : 1.0)
strategy.entry("Up", strategy.long, stop = ta.highest(high, length) + 0.01)
strategy.entry("Down", strategy.short, stop = ta.lowest(low, length) - 0.01)
strategy.exit("UpX", "Up", stop = strategy.position_avg_price - atr, limit = strategy.position_avg_price + atr)
strategy.exit("DownX", "Down", stop = strategy.position_avg_price + atr, limit = strategy.position_avg_price - atr)
if timeframe.change("D")
    strategy.close_all()
`,
]

interface Fault {
  /** The kinds of cause that are right. */
  readonly kinds: readonly string[]
  /** How the export was made. */
  readonly there: Partial<BacktestRequest>
  /** How it is run here, if not as the script says. */
  readonly here?: Partial<BacktestRequest>
  readonly earlier?: Bars
}
type Make = (source: string, random: SeededRandom) => Fault

const pick = <Item>(random: SeededRandom, items: readonly Item[]) => items[random.below(items.length)]!
const setting =
  (
    ...all: readonly (readonly [kind: string, overrides: NonNullable<BacktestRequest['overrides']>])[]
  ): Make =>
  (_, random) => {
    const [kind, overrides] = pick(random, all)
    const magnifies = overrides['use_bar_magnifier'] === true
    return { kinds: kind.split(' '), there: { overrides, ...(magnifies && { finer: FINER }) } }
  }

const FAULTS: Readonly<Record<string, Make>> = {
  history: (_, random) => {
    const own = selectBars(BARS, { last: Math.floor(BARS.length / 3) + random.below(BARS.length >> 2) })
    const isKept = random.uniform() < 0.5
    return {
      kinds: ['more_history', 'history_missing'],
      there: {},
      here: { bars: own },
      ...(isKept && { earlier: BARS }),
    }
  },
  inputs: (source, random) => {
    const inputs = [...source.matchAll(/input\.(\w+)\((.+?), "([^"]+)"/g)].map(([, kind, value, label]) => ({
      kind,
      value,
      label: label!,
    }))
    const { kind, value, label } = pick(random, inputs)
    const number = Number(value)
    const other =
      kind === 'bool'
        ? value !== 'true'
        : kind === 'string'
          ? 'CCI'
          : kind === 'source'
            ? pick(random, ['hl2', 'hlc3', 'open'])
            : kind === 'int'
              ? pick(random, [number + 1, number + 4, number * 2, Math.ceil(number / 2), number + 7])
              : pick(random, [number * 1.5, number * 0.8, number + 0.3, number * 1.2])
    return { kinds: ['inputs'], there: { inputs: { [label]: other } } }
  },
  fills: setting(
    ['process_orders_on_close', { process_orders_on_close: true }],
    ['calc_on_order_fills', { calc_on_order_fills: true }],
    ['calc_on_every_history_tick', { calc_on_every_history_tick: true }],
    ['fill_limits', { backtest_fill_limits_assumption: 3 }],
    ['bar_magnifier', { use_bar_magnifier: true }],
    ['slippage', { slippage: 2 }],
    ['slippage', { slippage: 5 }],
  ),
  margin: setting(
    [
      'margin',
      { margin_long: 20, margin_short: 20, default_qty_type: 'percent_of_equity', default_qty_value: 150 },
    ],
    [
      'margin',
      { margin_long: 50, margin_short: 50, default_qty_type: 'percent_of_equity', default_qty_value: 180 },
    ],
    [
      'margin',
      { margin_long: 0, margin_short: 0, default_qty_type: 'percent_of_equity', default_qty_value: 300 },
    ],
  ),
  commission: setting(
    ['commission', { commission_value: 0.1 }],
    ['commission', { commission_value: 0.04 }],
    ['commission', { commission_type: 'cash_per_order', commission_value: 1.5 }],
    ['commission', { commission_type: 'cash_per_contract', commission_value: 0.01 }],
  ),
  sizes: setting(
    ['default_qty', { default_qty_type: 'fixed', default_qty_value: 3 }],
    ['default_qty', { default_qty_type: 'percent_of_equity', default_qty_value: 35 }],
    ['default_qty', { default_qty_type: 'cash', default_qty_value: 2000 }],
    ['initial_capital default_qty', { initial_capital: 30_000 }],
    ['pyramiding', { pyramiding: 4 }],
  ),
  session: (_, random) => ({
    kinds: ['session'],
    there: {
      symbol: { ...SYMBOL, timezone: pick(random, ['America/New_York', 'Asia/Tokyo', 'Europe/London']) },
    },
  }),
  feed: (_, random) => ({ kinds: ['other_feed'], there: { bars: otherFeed(random) } }),
  'as of': () => ({ kinds: ['as_of'], there: {}, here: { asOf: '2026-09-24' } }),
  script: (source, random) => {
    const edits: readonly (readonly [RegExp, string])[] = [
      [/ta\.ema\(close, fastLength\)/, 'ta.sma(close, fastLength)'],
      [/"L"/g, '"Long"'],
      [/"Buy"/g, '"Entry"'],
      [/"Up"/g, '"Long"'],
      [/profit = \d+, loss = \d+/g, 'profit = 33, loss = 77'],
      [/ta\.crossunder\(close, bottom\)/, 'close < bottom and close > open'],
      [/ta\.crossover\(value, low_\)/, 'value < low_'],
      [/ta\.highest\(high, length\)/, 'ta.highest(close, length)'],
      [/@version=5/, '@version=6'],
    ]
    const [from, to] = pick(
      random,
      edits.filter(([from]) => new RegExp(from.source).test(source)),
    )
    return { kinds: ['script_version'], there: { source: source.replace(from, to) } }
  },
}

const request = (source: string, change: Partial<BacktestRequest> = {}) => requestOn(BARS, source, change)

/** Another exchange's prices of the same market: a few ticks beside it, a little more at times. */
function otherFeed(random: SeededRandom): Bars {
  const bars = emptyBars(BARS.length)
  for (let i = 0; i < bars.length; i++) {
    const off = () => Math.round(random.normal() * 2) / 100
    bars.time[i] = BARS.time[i]!
    bars.open[i] = BARS.open[i]! + off()
    bars.close[i] = BARS.close[i]! + off()
    bars.high[i] = Math.max(BARS.high[i]! + off(), bars.open[i]!, bars.close[i]!)
    bars.low[i] = Math.min(BARS.low[i]! + off(), bars.open[i]!, bars.close[i]!)
    bars.volume[i] = BARS.volume[i]!
  }
  return bars
}

/** What margin is felt by is a size that needs it, which both sides have. */
function sized({ kinds, there }: Fault): Partial<BacktestRequest> {
  if (!kinds.includes('margin')) return {}
  const { margin_long: _, margin_short: __, ...overrides } = there.overrides ?? {}
  return { overrides }
}

/** Draws until the fault is one that this script feels; what was named first, and of what. */
function tried(name: string, number: number) {
  const random = seededRandom(SEED, number)
  for (;;) {
    const source = pick(random, SCRIPTS)
    const fault = FAULTS[name]!(source, random)
    const there = runBacktest(request(source, fault.there)).report
    const own = request(source, { ...sized(fault), ...fault.here })
    const here = runBacktest(own).report
    const csv = exportOf(there)
    const { trades } = parseTradeList(csv)
    const closed = trades.filter(({ open }) => !open).length
    if (closed < (isLong ? 25 : 12) || csv === exportOf(here)) continue
    const options = { exported: trades, timezone: 'UTC', earlier: fault.earlier ?? null, finer: FINER }
    const found = new Explainer(options).explain(own)
    if (found === null) continue
    return { fault, source, found, first: found.causes[0]?.kind ?? 'nothing' }
  }
}

const ROUNDS = isLong ? 10 : 1

describe(`seed ${SEED}`, () => {
  let right = 0
  const wrong: string[] = []
  test.each(Object.keys(FAULTS))(
    '%s',
    (name) => {
      let hits = 0
      for (let round = 0; round < ROUNDS; round++) {
        const { fault, source, found, first } = tried(name, round + 100 * Object.keys(FAULTS).indexOf(name))
        if (fault.kinds.includes(first)) hits++
        else {
          const title = /strategy\("(\w+)"/.exec(source)![1]
          wrong.push(
            `${name} in ${title} ${JSON.stringify(fault.there).slice(0, 90)}: ${first}, ${found.message}`,
          )
        }
        expect(found.causes.every(({ since }) => since !== null && since.time >= BARS.time[0]!)).toBe(true)
      }
      right += hits
      console.log(`${name}: ${hits} of ${ROUNDS}`)
    },
    600_000,
  )
  test('in nine of ten the right cause stands first, in seven of the ten of a short run', () => {
    for (const one of wrong) console.log(one)
    // Where one in twenty is wrong, two of ten are in every twelfth run.
    const share = isLong ? 0.9 : 0.7
    expect(right).toBeGreaterThanOrEqual(share * ROUNDS * Object.keys(FAULTS).length)
  })
})
