// The whole report, worked out a second time by a slow and plain calculation, for scripts nobody thought of.
//
// What the broker decided (which order filled at what price) is taken from `report.orders`; all else is made of those
// rows and the bars alone: trades by first in, first out, equity by adding up the open lots at every price. Scripts place
// market orders only, so every fill stands at an open, and a trade has seen whole bars.

import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { runBacktest } from '../../src/broker/run.ts'
import type { Report } from '../../src/wire/report.ts'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { TEST_SYMBOL } from './drive.ts'
import { rounds } from '../long.ts'

const DAY = 86_400_000
const START = Date.UTC(2024, 0, 1)
const CAPITAL = 5000
const POINT = 3

interface Lot {
  readonly side: 1 | -1
  readonly price: number
  readonly bar: number
  readonly id: string
  units: number
  fee: number
}

interface Closed {
  readonly lot: Lot
  readonly units: number
  readonly exitBar: number
  readonly exitPrice: number
  readonly entryFee: number
  readonly exitFee: number
  readonly profit: number
  readonly open: boolean
}

type Order = Report['orders'][number]

interface Costs {
  readonly type: 'percent' | 'cash_per_contract' | 'cash_per_order'
  readonly value: number
}

/** Everything again, from the orders' bars, sides, quantities and prices. */
function recomputed({ orders }: Report, bars: Bars, rates: readonly number[], costs: Costs) {
  const last = bars.length - 1
  let lots: Lot[] = []
  const trades: Closed[] = []
  const seen = { peak: CAPITAL, trough: CAPITAL, drawdown: 0, drawdownPct: 0, runup: 0, runupPct: 0 }
  const held = { all: 0, long: 0, short: 0 }
  const curve: number[] = []
  let booked = CAPITAL
  let barsHeld = 0
  const look = (equity: number) => {
    seen.drawdown = Math.max(seen.drawdown, seen.peak - equity)
    seen.drawdownPct = Math.max(seen.drawdownPct, (seen.peak - equity) / seen.peak)
    seen.runup = Math.max(seen.runup, equity - seen.trough)
    seen.runupPct = Math.max(seen.runupPct, (equity - seen.trough) / seen.trough)
  }
  const closedEquity = () => booked - sum(lots.map((lot) => lot.fee))
  const openProfit = (price: number, bar: number) =>
    sum(lots.map((lot) => lot.side * lot.units * (price - lot.price) * POINT * rates[bar]!))
  const fill = ({ side, qty, price, bar, id }: Order, turns: boolean) => {
    const direction = side === 'buy' ? 1 : -1
    const fee =
      costs.type === 'percent'
        ? (qty * price * POINT * rates[bar]! * costs.value) / 100
        : costs.type === 'cash_per_contract'
          ? qty * costs.value
          : costs.value
    let left = qty
    for (const lot of lots) {
      if (left < 1e-9 || lot.side === direction) continue
      const units = Math.min(left, lot.units)
      const entryFee = (lot.fee * units) / lot.units
      const exitFee = (fee * units) / qty
      const profit = lot.side * units * (price - lot.price) * POINT * rates[bar]! - entryFee - exitFee
      const isTurned = turns && lot.side === -1
      trades.push({
        lot: isTurned ? { ...lot, side: 1, id } : { ...lot },
        units,
        exitBar: bar,
        exitPrice: price,
        entryFee: isTurned ? exitFee : entryFee,
        exitFee: isTurned ? entryFee : exitFee,
        profit,
        open: false,
      })
      booked += profit
      lot.fee -= entryFee
      lot.units -= units
      left -= units
    }
    lots = lots.filter((lot) => lot.units > 1e-9)
    if (left > 1e-9) lots.push({ side: direction, price, bar, id, units: left, fee: (fee * left) / qty })
    look(closedEquity())
    seen.peak = Math.max(seen.peak, closedEquity())
    seen.trough = Math.min(seen.trough, closedEquity())
    const position = sum(lots.map((lot) => lot.side * lot.units))
    held.all = Math.max(held.all, Math.abs(position))
    held.long = Math.max(held.long, position)
    held.short = Math.max(held.short, -position)
  }
  for (let bar = 0; bar <= last; bar++) {
    const filled = orders.filter((order) => order.bar === bar)
    const wasShort = lots.some(({ side }) => side === -1)
    for (const order of filled) fill(order, !wasShort && buysAfterSelling(order, filled))
    if (lots.length > 0) barsHeld++
    if (lots.length > 0)
      for (const price of [bars.low[bar]!, bars.high[bar]!]) look(closedEquity() + openProfit(price, bar))
    curve.push(closedEquity() + openProfit(bars.close[bar]!, bar))
  }
  for (const lot of lots) {
    const exitPrice = bars.close[last]!
    const profit = lot.side * lot.units * (exitPrice - lot.price) * POINT * rates[last]! - lot.fee
    trades.push({
      lot,
      units: lot.units,
      exitBar: last,
      exitPrice,
      entryFee: lot.fee,
      exitFee: 0,
      profit,
      open: true,
    })
  }
  return { trades, seen, held, curve, barsHeld }
}

/** A18: an entry that buys, called after one of the same run that sells; the numbers in their ids count the calls. */
function buysAfterSelling({ side, id }: Order, filled: readonly Order[]): boolean {
  return (
    side === 'buy' &&
    id.startsWith('E') &&
    filled.some((one) => one.side === 'sell' && one.id.startsWith('E') && +one.id.slice(1) < +id.slice(1))
  )
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0)
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : sum(values) / values.length
}

function valueOf({ lot, units, exitBar }: Closed, rates: readonly number[]): number {
  return lot.price * units * POINT * rates[exitBar]!
}

/** Best and worst of a trade, net of its entry's commission. */
function excursion(trade: Closed, bars: Bars, rates: readonly number[]) {
  const { lot, units, exitBar, exitPrice } = trade
  const prices = [lot.price, exitPrice]
  for (let i = lot.bar; i < (trade.open ? exitBar + 1 : exitBar); i++)
    prices.push(bars.low[i]!, bars.high[i]!)
  const results = prices.map(
    (price) => lot.side * units * (price - lot.price) * POINT * rates[exitBar]! - trade.entryFee,
  )
  return { best: Math.max(0, ...results), worst: Math.min(0, ...results) }
}

function column(trades: readonly Closed[], held: number, bars: Bars, rates: readonly number[]) {
  const closed = trades.filter((trade) => !trade.open)
  const open = trades.filter((trade) => trade.open)
  const wins = closed.filter((trade) => trade.profit > 0)
  const losses = closed.filter((trade) => trade.profit < 0)
  const profits = (of: readonly Closed[]) => of.map((trade) => trade.profit)
  const shares = (of: readonly Closed[]) => of.map((trade) => trade.profit / valueOf(trade, rates))
  const lengths = (of: readonly Closed[]) => of.map((trade) => trade.exitBar - trade.lot.bar + 1)
  const negative = (value: number | null) => (value === null ? null : -value)
  const divided = (a: number | null, b: number | null) => (a === null || b === null || b === 0 ? null : a / b)
  const most = (values: readonly number[]) => (values.length === 0 ? null : Math.max(...values))
  const streak = (sign: number) =>
    Math.max(
      0,
      ...closed
        .map((trade) => (Math.sign(trade.profit) === sign ? 'x' : ' '))
        .join('')
        .split(' ')
        .map((run) => run.length),
    )
  const netProfit = sum(profits(closed))
  const grossProfit = sum(profits(wins))
  const grossLoss = -sum(profits(losses))
  const openProfit = sum(profits(open))
  const averageWin = mean(profits(wins))
  const averageLoss = negative(mean(profits(losses)))
  const largestWin = most(profits(wins))
  const largestLoss = most(profits(losses).map((profit) => -profit))
  return {
    netProfit,
    netProfitPct: netProfit / CAPITAL,
    grossProfit,
    grossProfitPct: grossProfit / CAPITAL,
    grossLoss,
    grossLossPct: grossLoss / CAPITAL,
    openProfit,
    openProfitPct: openProfit / CAPITAL,
    commissionPaid: sum(trades.map((trade) => trade.entryFee + trade.exitFee)),
    profitFactor: divided(grossProfit, grossLoss),
    expectancy: mean(profits(closed)),
    trades: closed.length,
    openTrades: open.length,
    winningTrades: wins.length,
    losingTrades: losses.length,
    evenTrades: closed.length - wins.length - losses.length,
    winRate: divided(wins.length, closed.length),
    averageTrade: mean(profits(closed)),
    averageTradePct: mean(shares(closed)),
    averageWin,
    averageWinPct: mean(shares(wins)),
    averageLoss,
    averageLossPct: negative(mean(shares(losses))),
    averageWinLossRatio: divided(averageWin, averageLoss),
    largestWin,
    largestWinPct: most(shares(wins)),
    largestWinShare: divided(largestWin, grossProfit),
    largestLoss,
    largestLossPct: most(shares(losses).map((share) => -share)),
    largestLossShare: divided(largestLoss, grossLoss),
    averageBars: mean(lengths(closed)),
    averageBarsWin: mean(lengths(wins)),
    averageBarsLoss: mean(lengths(losses)),
    maxWinsInRow: streak(1),
    maxLossesInRow: streak(-1),
    maxContractsHeld: held,
    marginCalls: 0,
    averageRunup: mean(closed.map((trade) => excursion(trade, bars, rates).best)),
    averageDrawdown: negative(mean(closed.map((trade) => excursion(trade, bars, rates).worst))),
  }
}

/** Stretches below the highest close so far, the deepest first. */
function underWater(curve: readonly number[], bars: Bars) {
  const found: {
    start: number
    trough: number
    end: number | null
    bars: number
    depth: number
    depthPct: number
  }[] = []
  for (let from = 0; from < curve.length - 1; from++) {
    const peak = curve[from]!
    if (Math.max(...curve.slice(0, from + 1)) > peak || curve[from + 1]! >= peak) continue
    const recovery = curve.findIndex((value, i) => i > from && value >= peak)
    const below = curve.slice(from, recovery < 0 ? curve.length : recovery)
    const lowest = Math.min(...below)
    found.push({
      start: bars.time[from]!,
      trough: bars.time[from + below.indexOf(lowest)]!,
      end: recovery < 0 ? null : bars.time[recovery]!,
      bars: (recovery < 0 ? curve.length - 1 : recovery) - from,
      depth: peak - lowest,
      depthPct: (peak - lowest) / peak,
    })
  }
  return found.sort((a, b) => b.depth - a.depth || a.start - b.start).slice(0, 20)
}

/**
 * Whether equity came back to a peak it had been at before, but for the dust of floating point: then it is chance on which
 * side of it either calculation ends.
 */
function isTied(curve: readonly number[], { orders }: Report): boolean {
  let peak = 0
  return curve.some((value, i) => {
    const tied = Math.abs(value - curve[peak]!) < 1e-7 && orders.some(({ bar }) => bar > peak && bar <= i)
    if (value >= curve[peak]!) peak = i
    return tied
  })
}

/** Two of one depth stand in the order that their dust gives them. */
function haveTwins(drawdowns: readonly { readonly depth: number }[]): boolean {
  return drawdowns.some(({ depth }, i) => Math.abs(depth - (drawdowns[i + 1]?.depth ?? Infinity)) < 1e-7)
}

function periods(trades: readonly Closed[], bars: Bars, characters: 7 | 10) {
  const label = (time: number) => new Date(time).toISOString().slice(0, characters)
  const labels = new Set<string>()
  for (let time = bars.time[0]!; time <= bars.time[bars.length - 1]!; time += DAY) labels.add(label(time))
  labels.add(label(bars.time[bars.length - 1]!))
  let equity = CAPITAL
  return [...labels].map((one) => {
    const inside = trades.filter((trade) => !trade.open && label(bars.time[trade.exitBar]!) === one)
    const profit = sum(inside.map((trade) => trade.profit))
    const row = { month: one, profit, profitPct: profit / equity, trades: inside.length }
    equity += profit
    return row
  })
}

function ratios(returns: readonly number[], perYear: number, riskFree: number) {
  const free = riskFree / 100 / perYear
  const average = mean(returns)!
  const deviation = Math.sqrt(mean(returns.map((value) => (value - average) ** 2))!)
  const below = Math.sqrt(mean(returns.map((value) => (value < free ? (value - free) ** 2 : 0)))!)
  const sharpe = deviation > 0 ? (average - free) / deviation : null
  return {
    sharpe,
    sharpeAnnualized: sharpe === null ? null : sharpe * Math.sqrt(perYear),
    sortino: below > 0 ? (average - free) / below : null,
  }
}

function expectedEquity(of: ReturnType<typeof recomputed>, bars: Bars, riskFree: number) {
  const { trades, seen, curve, barsHeld } = of
  const closed = trades.filter((trade) => !trade.open)
  const netProfit = sum(closed.map((trade) => trade.profit))
  const openProfit = sum(trades.filter((trade) => trade.open).map((trade) => trade.profit))
  const final = CAPITAL + netProfit + openProfit
  const exits = [CAPITAL]
  for (const trade of closed) exits.push(exits.at(-1)! + trade.profit)
  const close = { drawdown: 0, drawdownPct: 0, runup: 0, runupPct: 0 }
  for (const [i, equity] of exits.entries()) {
    const [peak, trough] = [Math.max(...exits.slice(0, i + 1)), Math.min(...exits.slice(0, i + 1))]
    close.drawdown = Math.max(close.drawdown, peak - equity)
    close.drawdownPct = Math.max(close.drawdownPct, (peak - equity) / peak)
    close.runup = Math.max(close.runup, equity - trough)
    close.runupPct = Math.max(close.runupPct, (equity - trough) / trough)
  }
  const months = periods(trades, bars, 7)
  const monthly = months.length >= 3
  const parts = monthly ? months : periods(trades, bars, 10)
  const returns = parts.map((one) => one.profitPct)
  const last = parts.at(-1)!
  returns[returns.length - 1] = (last.profit + openProfit) / (CAPITAL + netProfit - last.profit)
  const none = { sharpe: null, sharpeAnnualized: null, sortino: null }
  const earliest = trades.reduce((a, b) => (b.lot.bar < a.lot.bar ? b : a))
  const buyHold = CAPITAL * (bars.close[bars.length - 1]! / earliest.lot.price - 1)
  const days = (bars.time[bars.length - 1]! - bars.time[0]!) / DAY
  return {
    final,
    netProfit,
    openProfit,
    maxDrawdown: seen.drawdown,
    maxDrawdownPct: seen.drawdownPct,
    maxRunup: seen.runup,
    maxRunupPct: seen.runupPct,
    maxDrawdownClose: close.drawdown,
    maxDrawdownClosePct: close.drawdownPct,
    maxRunupClose: close.runup,
    maxRunupClosePct: close.runupPct,
    ...(returns.length < 2 ? none : ratios(returns, monthly ? 12 : 365, riskFree)),
    cagr: (final / CAPITAL) ** (365 / days) - 1,
    buyHold,
    buyHoldPct: buyHold / CAPITAL,
    returnOverDrawdown: seen.drawdown > 0 ? netProfit / seen.drawdown : null,
    timeInMarketPct: barsHeld / bars.length,
    months,
    drawdowns: underWater(curve, bars),
  }
}

function near(value: unknown): unknown {
  if (typeof value === 'number') return expect.closeTo(value, 6)
  if (Array.isArray(value)) return value.map(near)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, near(one)]))
}

/** Of hours, the last one begins a day. */
const BARS = 73
const command = fc.record({
  bar: fc.nat(BARS - 2),
  what: fc.constantFrom('entry', 'entry', 'entry', 'order', 'close_all', 'half'),
  side: fc.constantFrom('long', 'short'),
  tenths: fc.integer({ min: 1, max: 30 }),
})
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

function sourceOf(commands: readonly Command[], costs: Costs, riskFree: number, currency: string): string {
  const lines = commands.map(({ bar, what, side, tenths }, i) => {
    const call = {
      entry: `strategy.entry("E${i}", strategy.${side}, qty=${tenths / 10})`,
      order: `strategy.order("O${i}", strategy.${side}, qty=${tenths / 10})`,
      close_all: 'strategy.close_all()',
      half: `strategy.order("H${i}", strategy.position_size > 0 ? strategy.short : strategy.long, qty=math.max(0.1, math.abs(strategy.position_size) / 2))`,
    }[what]
    return `if bar_index == ${bar}\n    ${call}\n`
  })
  return `//@version=6
strategy("Random", initial_capital=${CAPITAL}, pyramiding=5, margin_long=0, margin_short=0, currency=currency.${currency},
     commission_type=strategy.commission.${costs.type}, commission_value=${costs.value}, risk_free_rate=${riskFree})
${lines.join('')}`
}

function barsOf(steps: readonly (readonly [number, number, number, number])[], stepMs: number): Bars {
  const bars = emptyBars(steps.length)
  let close = 10_000
  for (const [i, [gap, move, up, down]] of steps.entries()) {
    const open = close + gap
    close = open + move
    bars.time[i] = START + i * stepMs
    bars.open[i] = open / 100
    bars.close[i] = close / 100
    bars.high[i] = (Math.max(open, close) + up) / 100
    bars.low[i] = (Math.min(open, close) - down) / 100
  }
  return bars
}

const wiggle = fc.integer({ min: -60, max: 60 })
const walk = fc.array(fc.tuple(wiggle, wiggle, fc.nat(90), fc.nat(90)), { minLength: BARS, maxLength: BARS })

const seed = Number(Bun.env['SEED'] ?? Date.now() % 2 ** 31)
console.log(`report-oracle seed ${seed}`)

test('is what a slow calculation makes of its orders and the bars (I2, I4, J3, J4, J5, J6)', () => {
  fc.assert(
    fc.property(
      walk,
      fc.array(command, { minLength: 2, maxLength: 40 }),
      fc.record({
        type: fc.constantFrom('percent', 'cash_per_contract', 'cash_per_order'),
        value: fc.constantFrom(0, 0.5),
      }),
      fc.constantFrom(DAY / 24, DAY, 3 * DAY),
      fc.constantFrom(2, 5),
      fc.boolean(),
      (steps, commands, costs, stepMs, riskFree, converted) => {
        const bars = barsOf(steps, stepMs)
        const source = sourceOf(commands, costs, riskFree, converted ? 'EUR' : 'NONE')
        // A rate a day: of a day holds the close of the day before, and before the first the first.
        const daily = emptyBars(BARS * 3 + 2)
        for (let i = 0; i < daily.length; i++) {
          daily.time[i] = START + (i - 1) * DAY
          daily.open.fill(1)
          daily.close[i] = 0.9 + (i % 7) / 100
        }
        const rates = Array.from(bars.time, (time) =>
          converted ? daily.close[Math.floor((time - START) / DAY)]! : 1,
        )
        const { report } = runBacktest({
          source,
          inputs: {},
          bars,
          symbol: { ...TEST_SYMBOL, pointValue: POINT, minQuantity: 1e-8 },
          interval: stepMs < DAY ? '1h' : '1d',
          limits: DEFAULT_LIMITS,
          series: (_, symbol) =>
            symbol === 'USDEUR' ? { bars: daily, symbol: TEST_SYMBOL, interval: '1d' } : null,
        })
        if (report.trades.length === 0) return
        const again = recomputed(report, bars, rates, costs)
        const { trades, held } = again
        for (const [name, of] of [
          ['all', trades],
          ['long', trades.filter((trade) => trade.lot.side === 1)],
          ['short', trades.filter((trade) => trade.lot.side === -1)],
        ] as const)
          expect(report[name]).toEqual(near(column(of, held[name], bars, rates)) as Report['all'])
        const equity = expectedEquity(again, bars, riskFree)
        const drawdowns =
          isTied(again.curve, report) || haveTwins(equity.drawdowns)
            ? expect.anything()
            : near(equity.drawdowns)
        expect(report.equity).toEqual({
          ...(near(equity) as Report['equity']),
          drawdowns,
        } as Report['equity'])
        expect(
          report.trades.map(({ entryId, entryBar, exitBar, profit }) => ({
            entryId,
            entryBar,
            exitBar,
            profit,
          })),
        ).toEqual(
          near(
            trades.map(({ lot, exitBar, profit }) => ({
              entryId: lot.id,
              entryBar: lot.bar,
              exitBar,
              profit,
            })),
          ) as never,
        )
      },
    ),
    { seed, numRuns: rounds(60) },
  )
})
