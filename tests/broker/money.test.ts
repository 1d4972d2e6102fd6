// The small functions that money rests on, each at its bounds. What is expected was worked out by hand.

import { describe, expect, test } from 'bun:test'
import { Account } from '../../src/broker/emulator/account.ts'
import { commissionOf } from '../../src/broker/emulator/commission.ts'
import { callRange, exceeds, marginCallUnits, NEVER_CALLED } from '../../src/broker/emulator/margin.ts'
import {
  contracts,
  floorToLot,
  tenDigits,
  tickAbove,
  tickBelow,
  tickOf,
  truncateSnapped,
  unitsOf,
} from '../../src/broker/emulator/numbers.ts'
import {
  calmRisk,
  drawdownReached,
  intradayLossReached,
  rollDay,
  watches,
} from '../../src/broker/emulator/risk.ts'
import { Pot } from '../../src/broker/emulator/pot.ts'
import { brokerSettings, type DeclarationArgs } from '../../src/broker/emulator/settings.ts'
import { budgetOf, unitsFor } from '../../src/broker/emulator/sizing.ts'
import { Watch } from '../../src/broker/emulator/watch.ts'
import { Random } from '../../src/tools/torture/random.ts'
import { barsFrom, TEST_SYMBOL } from './drive.ts'

const settingsOf = (args: DeclarationArgs, version = 6) => brokerSettings(args, TEST_SYMBOL, version)
const ONE = 1e8

describe('a commission', () => {
  const of = (args: DeclarationArgs, units: number, price: number, pointValue = 1, rate = 1) =>
    commissionOf(settingsOf(args), units, price, pointValue, rate)

  test('of so many percent is of the value in account currency, whatever the price’s sign', () => {
    // 2 contracts at 37.5, 10 a point: 750, of which 0.1 % is 0.75, at half a euro.
    expect(of({ commission_value: 0.1 }, 2 * ONE, 37.5, 10, 0.5)).toBe(0.375)
    expect(of({ commission_value: 0.1 }, 2 * ONE, -37.5, 10, 0.5)).toBe(0.375)
    expect(of({ commission_value: 1 }, ONE, 100 / 3)).toBe(0.3333333333)
  })
  test('in cash is in account currency already, per contract or per order', () => {
    const contract = { commission_type: 'strategy.commission.cash_per_contract', commission_value: 1.5 }
    const order = { commission_type: 'strategy.commission.cash_per_order', commission_value: 1.5 }
    expect([of(contract, 2 * ONE, 37.5, 10, 0.5), of(order, 2 * ONE, 37.5, 10, 0.5)]).toEqual([3, 1.5])
    expect([
      of(contract, 0, 37.5),
      of(order, 0, 37.5),
      of({ ...order, commission_value: 0 }, ONE, 1),
    ]).toEqual([0, 0, 0])
  })
})

describe('a default size', () => {
  test('is a number of contracts, an amount, or a share of equity, less a fee per order', () => {
    const budget = (args: DeclarationArgs) => budgetOf(settingsOf(args), 1000)
    const percent = { default_qty_type: 'strategy.percent_of_equity', default_qty_value: 10 }
    expect(budget({ default_qty_value: 10 })).toBeNaN()
    expect(budget({ default_qty_type: 'strategy.cash', default_qty_value: 500 })).toBe(500)
    expect(budget(percent)).toBe(100)
    const fee = (type: string) => ({
      ...percent,
      commission_type: `strategy.commission.${type}`,
      commission_value: 4,
    })
    expect(['cash_per_order', 'cash_per_contract', 'percent'].map((type) => budget(fee(type)))).toEqual([
      96, 100, 100,
    ])
  })
  test('pays for its fees as well, and is floored to the lot', () => {
    // A contract costs 10 · 2 · 0.5 = 10 in account currency.
    const units = (args: DeclarationArgs, budget = 96, price = 10) =>
      unitsFor(settingsOf(args), budget, price, 2, 0.5, ONE)
    expect(units({})).toBe(9 * ONE)
    expect(units({ commission_value: 20 })).toBe(8 * ONE)
    expect(units({ commission_type: 'strategy.commission.cash_per_contract', commission_value: 2 })).toBe(
      8 * ONE,
    )
    expect(units({ commission_type: 'strategy.commission.cash_per_order', commission_value: 2 })).toBe(
      9 * ONE,
    )
    expect(units({}, 90)).toBe(9 * ONE)
    expect(units({}, 89.99)).toBe(8 * ONE)
  })
  test('is nothing where there is no money left, or no price', () => {
    const units = (budget: number, price: number) => unitsFor(settingsOf({}), budget, price, 1, 1, 1)
    expect([
      units(0, 10),
      units(-500, 10),
      units(NaN, 10),
      units(10, 0),
      units(10, -1),
      units(10, NaN),
    ]).toEqual([0, 0, 0, 0, 0, 0])
  })
})

describe('margin', () => {
  const called = (equity: number, units = 10 * ONE, lot = 1e4, margin = 1) =>
    marginCallUnits(units, equity, 100, margin, lot)

  test('holds while equity is not below it, but for what floats lose', () => {
    expect([called(1000), called(1000.01), called(1000 - 5e-9)]).toEqual([0, 0, 0])
    expect(called(1000 - 2e-6)).toBeGreaterThan(0)
    // An order for all of an equity, whose budget F5 has rounded up to ten digits.
    expect(exceeds(2245236.504973169, 2245236.504523354)).toBe(false)
    expect(exceeds(2245236.506, 2245236.504523354)).toBe(true)
    expect([exceeds(1, 1), exceeds(1.001, 1), exceeds(0, -1), exceeds(-1, -1)]).toEqual([
      false,
      true,
      true,
      false,
    ])
  })
  test('that is short by some lots sells four times as many', () => {
    // 0.05 of 100 are 0.0005 contracts: five lots, times four.
    expect(called(999.95)).toBe(4 * 5e4)
    // At a quarter of the value: 250 are needed, 200 there; 50 are two contracts at 25.
    expect(called(200, 10 * ONE, ONE, 0.25)).toBe(8 * ONE)
  })
  test('that is short by less than a lot sells one contract, whatever a lot is', () => {
    expect(called(999.95, 10 * ONE, ONE)).toBe(ONE)
    expect(called(999.95, 10 * ONE, ONE / 10)).toBe(ONE)
  })
  test('never sells more than there is', () => {
    expect(called(0, 2 * ONE)).toBe(2 * ONE)
    expect(called(-1000, 2 * ONE)).toBe(2 * ONE)
    expect(called(49.95, ONE / 2, ONE)).toBe(ONE / 2)
  })
  test('takes a shortfall that is all but whole lots for whole', () => {
    // (1000 - 997) / 100 contracts are three lots of a hundredth, or a hair less.
    expect(called(1000 - 3 + 1e-9, 10 * ONE, ONE / 100)).toBe(12 * (ONE / 100))
  })
  test('calls where equity meets it: a long position below, a short one above', () => {
    // 500 of cash and 10 contracts from 100, a quarter kept: 7.5 · P = 500.
    const long = callRange(-500, 10, 0.25)
    expect(long.below).toBeCloseTo(66.66673, 5)
    expect(long.above).toBe(Infinity)
    // The other way round: 12.5 · P = 1500.
    const short = callRange(1500, -10, 0.25)
    expect(short.above).toBeCloseTo(119.99988, 5)
    expect(short.below).toBe(-Infinity)
  })
  test('calls nobody who holds nothing or need not keep any', () => {
    expect([callRange(-500, 0, 1), callRange(-500, 10, 0)]).toEqual([NEVER_CALLED, NEVER_CALLED])
    expect(NEVER_CALLED).toEqual({ below: -Infinity, above: Infinity })
  })
  test('of the whole value is called at every price where money is missing, at none where it is not', () => {
    expect(callRange(-1, 10, 1)).toEqual({ below: Infinity, above: -Infinity })
    expect([callRange(0, 10, 1), callRange(1, 10, 1)]).toEqual([NEVER_CALLED, NEVER_CALLED])
  })
})

describe('numbers', () => {
  test('of contracts are units of a hundred-millionth', () => {
    expect([contracts(ONE), contracts(-25e6), contracts(1)]).toEqual([1, -0.25, 1e-8])
  })
  test('that are asked for are floored from their shortest spelling to the lot', () => {
    expect([unitsOf(173.432, 1), unitsOf(0.29, 1), unitsOf(1.9e-8, 1), unitsOf(-1.9e-8, 1)]).toEqual([
      17_343_200_000, 29e6, 1, -2,
    ])
    expect([unitsOf(1.25, 1e7), unitsOf(1.2, 1e7), unitsOf(0.09, 1e7)]).toEqual([12e7, 12e7, 0])
    expect([floorToLot(12_345, 100), floorToLot(12_300, 100), floorToLot(99, 100)]).toEqual([
      12_300, 12_300, 0,
    ])
  })
  test('of money have ten digits below ten million', () => {
    expect([1 / 3, 200 / 3, 1e-7 / 3].map(tenDigits)).toEqual([0.3333333333, 66.66666667, 3.333333333e-8])
    expect([9_999_999.9996, 9_999_999.9994].map(tenDigits)).toEqual([10_000_000, 9_999_999.999])
    expect([1e7 + 1 / 3, 12_345_678.123456789, 0, -1 / 3, NaN].map(tenDigits)).toEqual([
      1e7 + 1 / 3,
      12_345_678.123456789,
      0,
      -1 / 3,
      NaN,
    ])
  })
  test('that are a hair from a whole one are that one before they are cut off', () => {
    expect([2.999_999_999, 3.000_000_001, 2.9, -2.9, -2.999_999_999, 0, 0.5].map(truncateSnapped)).toEqual([
      3, 3, 2, -2, -3, 0, 0,
    ])
    // 2^-26 of 3 is 4.5e-8.
    expect([3 - 4.4e-8, 3 - 4.6e-8].map(truncateSnapped)).toEqual([3, 2])
  })
  test('of ticks are the nearest of a price, halves up; those of a level the next one, but for a ten-thousandth', () => {
    expect([1.49, 1.5, 2.5, 3].map((price) => tickOf(price, 1))).toEqual([1, 2, 3, 3])
    expect([tickOf(100.01, 0.01), tickOf(100.125, 0.25)]).toEqual([10_001, 401])
    expect([7, 7.00009, 7.0002, 7.9].map(tickAbove)).toEqual([7, 7, 8, 8])
    expect([7, 6.99991, 6.9998, 6.1].map(tickBelow)).toEqual([7, 7, 6, 6])
  })
})

describe('settings', () => {
  test('are TradingView’s where the script says nothing', () => {
    const expected = {
      initialCapital: 1_000_000,
      defaultQtyType: 'fixed',
      defaultQtyValue: 1,
      commissionType: 'percent',
      commissionValue: 0,
      slippage: 0,
      pyramiding: 0,
      processOrdersOnClose: false,
      calcOnOrderFills: false,
      calcOnHistoryTicks: false,
      closeEntriesRule: 'FIFO',
      marginLong: 1,
      marginShort: 1,
      fillLimitsAssumption: 0,
      barMagnifier: false,
      currency: 'USD',
      riskFreeRate: 2,
      nearerLevelWins: true,
    } as const
    expect(settingsOf({})).toEqual(expected)
    expect(settingsOf({}, 5)).toEqual({ ...expected, marginLong: 0, marginShort: 0, nearerLevelWins: false })
  })
  test('that make no sense are as if nothing had been said', () => {
    const odd = settingsOf({
      initial_capital: NaN,
      commission_value: Infinity,
      slippage: -3,
      backtest_fill_limits_assumption: -1,
      default_qty_type: 'strategy.barter',
      close_entries_rule: 'LIFO',
      currency: 'NONE',
    })
    expect(odd).toEqual(settingsOf({}))
    expect(settingsOf({ slippage: 2.9, backtest_fill_limits_assumption: 1.9 })).toMatchObject({
      slippage: 2,
      fillLimitsAssumption: 1,
    })
    expect(settingsOf({ close_entries_rule: 'any', currency: 'currency.EUR' })).toMatchObject({
      closeEntriesRule: 'ANY',
      currency: 'EUR',
    })
  })
  test('a run after fills gives way to closing on close and to running on each tick', () => {
    const fills = (more: DeclarationArgs) =>
      settingsOf({ calc_on_order_fills: true, ...more }).calcOnOrderFills
    expect([
      fills({}),
      fills({ process_orders_on_close: true }),
      fills({ calc_on_every_history_tick: true }),
    ]).toEqual([true, false, false])
  })
})

describe('risk', () => {
  test('H4: losing days in a row are counted; a winning one starts the count again, an even one changes nothing', () => {
    const risk = { ...calmRisk(1000), lossDaysMax: 2 }
    const days = [1000, 990, 990, 995, 985, 980].map((closed, day) => rollDay(risk, day, closed, closed))
    // Lost 10; even; won 5; lost 10; lost 5.
    expect(days).toEqual([false, false, false, false, false, true])
    expect(risk.lossDays).toBe(2)
    expect(rollDay(risk, 5, 900, 900)).toBe(false)
  })
  test('H5: a new day forgets what was filled in the last one, and lets a strategy go on that was stopped for it', () => {
    const risk = { ...calmRisk(1000), filledToday: 7, halted: 'day' as const }
    rollDay(risk, 1, 950, 940)
    expect(risk).toMatchObject({ day: 1, dayEquity: 950, dayClosedEquity: 940, filledToday: 0, halted: 'no' })
    const over = { ...calmRisk(1000), halted: 'forever' as const, lossDays: 3, lossDaysMax: 1 }
    expect([rollDay(over, 1, 1000, 1000), over.halted]).toEqual([false, 'forever'])
  })
  test('H2: the day’s loss is of its first equity, and reaching it is enough', () => {
    const reached = (type: 'cash' | 'percent_of_equity', value: number, equity: number) =>
      intradayLossReached(
        { ...calmRisk(1), dayEquity: 500, intradayLoss: { type, value, alertMessage: null } },
        equity,
      )
    expect([reached('cash', 50, 450), reached('cash', 50, 450.01)]).toEqual([true, false])
    expect([reached('percent_of_equity', 10, 450), reached('percent_of_equity', 10, 450.01)]).toEqual([
      true,
      false,
    ])
    expect(intradayLossReached(calmRisk(500), 0)).toBe(false)
  })
  test('H3: the drawdown is looked at once a closed trade, from the peak of what was realised', () => {
    const limit = (value: number) => ({ type: 'percent_of_equity', value, alertMessage: null }) as const
    const risk = { ...calmRisk(1000), drawdown: limit(10) }
    expect([drawdownReached(risk, 500, 1000, 0), risk.peak]).toEqual([false, 1000])
    expect([drawdownReached(risk, 1100, 1200, 1), risk.peak]).toEqual([false, 1200])
    // 10 % of 1200 are 120.
    expect(drawdownReached(risk, 1080, 1080, 1)).toBe(false)
    expect(drawdownReached(risk, 1080.01, 1080, 2)).toBe(false)
    expect(drawdownReached(risk, 1080, 1080, 3)).toBe(true)
    expect(risk.peak).toBe(1200)
  })
  test('any one of the rules that a fill or a price can break is watched for', () => {
    const limit = { type: 'cash', value: 1, alertMessage: null } as const
    const calm = calmRisk(1000)
    expect(
      [
        calm,
        { ...calm, drawdown: limit },
        { ...calm, intradayLoss: limit },
        { ...calm, lossDaysMax: 2 },
        { ...calm, filledOrdersMax: 2 },
        { ...calm, positionMax: 2 },
      ].map(watches),
    ).toEqual([false, true, true, true, true, false])
  })
})

describe('G1: what is affordable', () => {
  const bars = barsFrom('100/100/100/100')
  const never = () => 0
  let account = new Account({ bars, symbol: TEST_SYMBOL, settings: settingsOf({}) })
  let watch = new Watch(account, never)

  /** Opens, adds, reduces, closes or reverses. */
  function trade({ position }: Account, direction: 1 | -1, units: number, price: number): void {
    const held = Math.abs(position.units)
    const closing = position.units * direction < 0 ? Math.min(held, units) : 0
    const execution = { direction, closing, opening: units - closing, price, money: price, fee: 1, rate: 1 }
    position.execute(
      { ...execution, bar: 0, point: 4, id: 'L', comment: null, alertMessage: null, paired: false },
      null,
    )
  }

  test.each([1, 2, 3, 4])('does not hang on what was asked before: seed %i', (seed) => {
    const random = new Random(seed)
    const answers = new Set<boolean>()
    for (let i = 0; i < 8000; i++) {
      if (i % 20 === 0) {
        const margins = { margin_long: random.pick([100, 50, 0]), margin_short: random.pick([100, 20]) }
        const settings = settingsOf({ ...margins, initial_capital: 10_000 })
        account = new Account({ bars, symbol: TEST_SYMBOL, settings })
        watch = new Watch(account, never)
      }
      if (random.chance(0.2)) {
        trade(account, random.pick([1, -1]), random.integer(1, 110) * ONE, 100)
        watch.setCallRange()
      }
      const direction = random.pick([1, -1] as const)
      const units = random.integer(1, random.chance(0.1) ? 150 : 4) * ONE
      const price = random.integer(60, 140)
      const affords = watch.affords(direction, units, price)
      answers.add(affords)
      expect({ i, affords }).toEqual({
        i,
        affords: new Watch(account, never).affords(direction, units, price),
      })
    }
    expect(answers.size).toBe(2)
  })

  test('hangs on the rate of the day, and on what others of a pot have', () => {
    const settings = settingsOf({ initial_capital: 1000 })
    const rates = Float64Array.of(1, 9)
    account = new Account({ bars, symbol: TEST_SYMBOL, settings, rates })
    watch = new Watch(account, never)
    expect(watch.affords(1, 2 * ONE, 100)).toBe(true)
    account.bar = 1
    expect(watch.affords(1, 2 * ONE, 100)).toBe(false)
    const pot = new Pot()
    const first = new Account({ bars, symbol: TEST_SYMBOL, settings, pot })
    const second = new Account({ bars, symbol: TEST_SYMBOL, settings, pot })
    const other = new Watch(second, never)
    expect(other.affords(1, 2 * ONE, 100)).toBe(true)
    trade(first, 1, 9 * ONE, 100)
    pot.show(first)
    expect(other.affords(1, 2 * ONE, 100)).toBe(false)
  })
})
