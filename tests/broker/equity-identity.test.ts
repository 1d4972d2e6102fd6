// Whatever a script orders: equity is initial capital plus closed plus open profit, positions are what the fills add
// up to, and a snapshot in the middle changes nothing.

import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { BrokerEmulator } from '../../src/broker/emulator/broker.ts'
import { brokerSettings } from '../../src/broker/emulator/settings.ts'
import { equityColumns } from '../../src/broker/equity.ts'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import {
  barsFrom,
  closedTrades,
  daysOf,
  drive,
  step,
  TEST_SYMBOL,
  tradeLines,
  type TestScript,
} from './drive.ts'
import { rounds } from '../long.ts'

const BARS = 60

const price = fc.integer({ min: 8000, max: 12_000 }).map((ticks) => ticks / 100)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const command = fc.record({
  bar: fc.integer({ min: 0, max: BARS - 1 }),
  what: fc.constantFrom('long', 'short', 'order', 'exit', 'close', 'closeAll', 'cancel', 'cancelAll'),
  id: fc.constantFrom('A', 'B', 'C'),
  direction: fc.constantFrom<1 | -1>(1, -1),
  qty: maybe(fc.integer({ min: 1, max: 500 }).map((hundredths) => hundredths / 100)),
  percent: maybe(fc.integer({ min: 1, max: 100 })),
  limit: maybe(price),
  stop: maybe(price),
  trail: maybe(fc.integer({ min: 1, max: 300 })),
  immediately: fc.boolean(),
  oca: fc.constantFrom<'none' | 'cancel' | 'reduce'>('none', 'cancel', 'reduce'),
})
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

const settings = fc.record({
  initial_capital: fc.constantFrom(10_000, 1000),
  default_qty_type: fc.constantFrom('fixed', 'percent_of_equity', 'cash'),
  default_qty_value: fc.constantFrom(1, 50),
  pyramiding: fc.integer({ min: 0, max: 3 }),
  commission_type: fc.constantFrom('percent', 'cash_per_order', 'cash_per_contract'),
  commission_value: fc.constantFrom(0, 0.1),
  slippage: fc.constantFrom(0, 3),
  process_orders_on_close: fc.boolean(),
  calc_on_order_fills: fc.boolean(),
  close_entries_rule: fc.constantFrom('FIFO', 'ANY'),
  margin_long: fc.constantFrom(0, 25, 100),
  margin_short: fc.constantFrom(0, 25, 100),
})

const walk = fc.array(
  fc.tuple(
    fc.integer({ min: -200, max: 200 }),
    fc.integer({ min: -300, max: 300 }),
    fc.nat(200),
    fc.nat(200),
  ),
  { minLength: BARS, maxLength: BARS },
)

function barsOf(steps: readonly (readonly [number, number, number, number])[]): Bars {
  const bars = emptyBars(steps.length)
  let close = 10_000
  for (const [i, [gap, move, up, down]] of steps.entries()) {
    const open = Math.max(500, close + gap)
    close = Math.max(500, open + move)
    bars.time[i] = i * 3_600_000
    bars.open[i] = open / 100
    bars.close[i] = close / 100
    bars.high[i] = (Math.max(open, close) + up) / 100
    bars.low[i] = (Math.min(open, close) - down) / 100
  }
  return bars
}

function scriptOf(commands: readonly Command[]): TestScript {
  return (orders) => {
    for (const one of commands) {
      if (one.bar !== orders.bar) continue
      const call = {
        ...(one.qty === undefined ? {} : { qty: one.qty }),
        ...(one.limit === undefined ? {} : { limit: one.limit }),
        ...(one.stop === undefined ? {} : { stop: one.stop }),
        oca: ['G', one.oca] as const,
      }
      const { qty = NaN, percent = NaN, limit = NaN, stop = NaN, trail } = one
      if (one.what === 'long') orders.long(one.id, call)
      else if (one.what === 'short') orders.short(one.id, call)
      else if (one.what === 'order') orders.order(one.id, one.direction, call)
      else if (one.what === 'exit')
        orders.exit(`X${one.id}`, one.direction === 1 ? one.id : null, {
          qty,
          qtyPercent: percent,
          limit,
          stop,
          ...(trail === undefined ? {} : { trailPoints: trail, trailOffset: trail }),
        })
      else if (one.what === 'close')
        orders.close(one.id, { qty, qtyPercent: percent, immediately: one.immediately })
      else if (one.what === 'closeAll') orders.closeAll()
      else if (one.what === 'cancel') orders.broker.desk.cancel(one.id)
      else orders.broker.desk.cancelAll()
    }
  }
}

const seed = Number(Bun.env['SEED'] ?? Date.now() % 2 ** 31)
console.log(`equity-identity seed ${seed}`)
const runs = { seed, numRuns: rounds(200) }

test('equity is initial capital plus closed plus open profit at every bar, and nothing comes of nothing', () => {
  fc.assert(
    fc.property(walk, fc.array(command, { maxLength: 80 }), settings, (steps, commands, args) => {
      const bars = barsOf(steps)
      const script = scriptOf(commands)
      const { broker } = drive(bars, args, (orders) => {
        script(orders)
        const { account: now } = orders.broker
        expect(now.initialCapital + now.netProfit + now.openProfit).toBeCloseTo(now.equity, 6)
        expect(now.netProfit).toBe(now.grossProfit - now.grossLoss)
      })
      const { position } = broker
      // Positions are the sum of what was bought and sold, rows and ids included.
      const { fills } = position
      const sum = (column: Float64Array) => column.slice(0, fills.count).reduce((a, b) => a + b, 0)
      const bought = sum(fills.units)
      const rows = position.open.reduce((total, trade) => total + trade.entry.direction * trade.units, 0)
      const bound = position.entries.reduce((sum, entry) => sum + entry.direction * entry.bound, 0)
      expect([bought, rows, bound]).toEqual([position.units, position.units, position.units])
      // Money: what the trades say is what the fills cost.
      const closed = closedTrades(broker).reduce((total, trade) => total + trade.profit, 0)
      expect(closed).toBeCloseTo(position.netProfit, 6)
      const fees = sum(fills.fee)
      const booked =
        closedTrades(broker).reduce((total, trade) => total + trade.entryFee + trade.exitFee, 0) +
        position.open.reduce((total, trade) => total + trade.entryFee, 0)
      expect(booked).toBeCloseTo(fees, 6)
      const columns = equityColumns(bars, fills, 1, args.initial_capital, null)
      broker.account.bar = BARS - 1
      expect(columns.equity[BARS - 1]).toBeCloseTo(broker.account.equity, 6)
    }),
    runs,
  )
})

test('a snapshot taken in the middle and restored elsewhere ends in the same trades', () => {
  fc.assert(
    fc.property(
      walk,
      fc.array(command, { maxLength: 60 }),
      settings,
      fc.nat(BARS - 1),
      (steps, commands, args, at) => {
        const bars = barsOf(steps)
        const script = scriptOf(commands)
        const whole = drive(bars, args, script)
        const made = () =>
          new BrokerEmulator({
            ...daysOf(bars),
            bars,
            symbol: TEST_SYMBOL,
            settings: brokerSettings(args, TEST_SYMBOL, 6),
          })
        const first = made()
        const positions: number[] = []
        for (let bar = 0; bar < at; bar++) step(first, bar, script, positions)
        const saved = first.snapshot()
        // What the first one does afterwards must not reach the snapshot.
        for (let bar = at; bar < BARS; bar++) step(first, bar, script, [])
        const second = made()
        second.restore(saved)
        for (let bar = at; bar < BARS; bar++) step(second, bar, script, positions)
        expect(tradeLines(second)).toEqual([...whole.trades])
        expect(positions).toEqual([...whole.positions])
      },
    ),
    runs,
  )
})

test('after a step back a closed trade has been through what comes now, not what came then', () => {
  const bars = barsFrom('100/100/100/100 100/101/99/100 100/101/85/100')
  const settings = brokerSettings({}, TEST_SYMBOL, 6)
  const broker = new BrokerEmulator({ ...daysOf(bars), bars, symbol: TEST_SYMBOL, settings })
  const script: TestScript = ({ bar, long, exit }) => {
    if (bar === 0) long('L')
    if (bar === 1) exit('X', 'L', { stop: 85 })
  }
  for (const bar of [0, 1]) step(broker, bar, script, [])
  const saved = broker.snapshot()
  const lost = () => {
    step(broker, 2, script, [])
    const trade = broker.account.closedTrade(0)
    return [trade?.exitPrice, trade?.maxDrawdown, broker.account.maxDrawdownAmount]
  }
  expect(lost()).toEqual([85, 15, 15])
  broker.restore(saved)
  // The bar that was forming has opened below the stop after all.
  for (const field of ['open', 'high', 'low', 'close'] as const) bars[field][2] = 80
  expect(lost()).toEqual([80, 20, 20])
})
