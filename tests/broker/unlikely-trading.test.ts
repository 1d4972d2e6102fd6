// Unlikely scripts under every setting at once: risk rules, rates, groups of exits, finer bars, recalculation.
//
// Three things are asked of each. A walk along finer bars that are the chart's own trades what the walk along the chart's
// bars does, which takes short cuts over bars that reach nothing. What is booked adds up. And a line of `unlikely-trading.txt`
// says what was traded when it was written down: nobody worked that out by hand (rules.test.ts has what is known to be right),
// so a line that changes says that something changed; `UPDATE=1 bun test` writes them again.

import { expect, test } from 'bun:test'
import type { BrokerOptions } from '../../src/broker/emulator/account.ts'
import type { BrokerEmulator } from '../../src/broker/emulator/broker.ts'
import { DevelopingBars } from '../../src/broker/developing.ts'
import { labelOf } from '../../src/broker/emulator/ledger.ts'
import type { DeclarationArgs } from '../../src/broker/emulator/settings.ts'
import { words } from '../../src/lib/words.ts'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import { Random } from '../../src/tools/torture/random.ts'
import { closedTrades, drive, TEST_SYMBOL, type TestScript } from './drive.ts'

const KEPT = `${import.meta.dir}/unlikely-trading.txt`
const BARS = 60
const SEEDS = 240
const BARS_A_DAY = 6

function barsOf(random: Random): Bars {
  const bars = emptyBars(BARS)
  // Some markets gap, others hardly move, so that most bars reach nothing.
  const gap = random.pick([0, 60, 250])
  const move = random.pick([40, 250])
  let close = 10_000
  for (let i = 0; i < BARS; i++) {
    const open = close + random.integer(-gap, gap)
    close = open + random.integer(-move, move)
    bars.time[i] = i * 3_600_000
    bars.open[i] = open / 100
    bars.close[i] = close / 100
    bars.high[i] = (Math.max(open, close) + random.integer(0, move >> 1)) / 100
    bars.low[i] = (Math.min(open, close) - random.integer(0, move >> 1)) / 100
  }
  return bars
}

function settingsOf(random: Random): DeclarationArgs {
  return {
    initial_capital: random.pick([100_000, 5000, 1000]),
    default_qty_type: random.pick(['fixed', 'percent_of_equity', 'cash']),
    default_qty_value: random.pick([1, 15, 90]),
    pyramiding: random.integer(0, 4),
    commission_type: random.pick(['percent', 'cash_per_order', 'cash_per_contract']),
    commission_value: random.pick([0, 0.1, 1.5]),
    slippage: random.pick([0, 0, 4]),
    process_orders_on_close: random.chance(0.2),
    calc_on_order_fills: random.chance(0.2),
    close_entries_rule: random.pick(['FIFO', 'ANY']),
    margin_long: random.pick([0, 10, 50, 100]),
    margin_short: random.pick([0, 10, 50, 100]),
    backtest_fill_limits_assumption: random.pick([0, 0, 0, 7]),
  }
}

function optionsOf(random: Random, bars: Bars): Partial<BrokerOptions> {
  const symbol = {
    ...TEST_SYMBOL,
    pointValue: random.pick([1, 1, 2.5]),
    mintick: random.pick([0.01, 0.01, 0.25]),
    minQuantity: random.pick([0.0001, 0.01, 1]),
  }
  const rates = Float64Array.from({ length: BARS }, (_, bar) => 0.9 + Math.trunc(bar / BARS_A_DAY) / 50)
  return {
    symbol,
    dayOf: (bar) => Math.trunc(bar / BARS_A_DAY),
    notesResting: random.chance(0.5),
    ...(random.chance(0.25) && { rates }),
    ...(random.chance(0.15) && { developing: new DevelopingBars(bars) }),
  }
}

/** The same calls on a bar however often the bar is run. */
function scriptOf(seed: number, seen: string[]): TestScript {
  const rules = new Random(seed + 7777)
  const calm = rules.chance(0.5)
  // Several calls on a bar meet each other before anything trades.
  const calls = rules.pick([1, 1, 3])
  const risks = Array.from({ length: calls }, () => rules.integer(0, 11))
  return (orders) => {
    const { bar, broker } = orders
    const random = new Random(seed * 1000 + bar)
    if (bar === 0) for (const risk of risks) setRule(orders, risk, seed % 2 === 1, random)
    for (let call = 0; call < calls; call++) ask(orders, calm, random)
    if (bar % 7 === 6) seen.push(accountOf(broker))
  }
}

function setRule(
  { broker: { desk } }: Parameters<TestScript>[0],
  risk: number,
  cash: boolean,
  random: Random,
) {
  const type = cash ? 'cash' : 'percent_of_equity'
  const few = cash ? 60 : 2
  if (risk === 0) desk.maxDrawdown(few, type, null)
  if (risk === 1) desk.maxIntradayLoss(few, type, null)
  if (risk === 2) desk.maxConsLossDays(random.integer(1, 3), null)
  if (risk === 3) desk.maxIntradayFilledOrders(random.integer(1, 5), null)
  if (risk === 4) desk.maxPositionSize(random.integer(1, 4))
  if (risk === 5) desk.allowEntryIn(random.pick(['long', 'short'] as const))
}

function ask(orders: Parameters<TestScript>[0], calm: boolean, random: Random): void {
  const { bar, broker } = orders
  const price = broker.account.bars.close[bar]!
  const reach = calm ? 900 : 250
  const near = () => Math.round(price * 100 + random.integer(-reach, reach)) / 100
  const maybe = <T>(chance: number, value: () => T): T | undefined =>
    random.chance(chance) ? value() : undefined
  const given = (call: object): object =>
    Object.fromEntries(Object.entries(call).filter(([, value]) => value !== undefined))
  const id = random.pick(['A', 'B', 'C'])
  const call = given({
    qty: maybe(0.5, () => random.pick([0.5, 1, 2, 3.333, 25])),
    limit: maybe(0.3, near),
    stop: maybe(0.3, near),
    oca: maybe(0.3, () => ['G', random.pick(['none', 'cancel', 'reduce'])] as const),
    comment: maybe(0.2, () => `because of ${id}`),
    alertMessage: maybe(0.2, () => `tell of ${id}`),
    disableAlert: maybe(0.1, () => true),
  })
  if (random.chance(calm ? 0.15 : 0.4)) orders[random.pick(['long', 'short'] as const)](id, call)
  if (random.chance(0.06)) orders.order(`O${id}`, random.pick([1, -1] as const), call)
  if (random.chance(calm ? 0.2 : 0.5))
    orders.exit(random.pick([`X${id}`, 'X']), random.pick([id, id, null]), {
      ...given({
        qty: maybe(0.2, () => random.pick([0.5, 1, 2])),
        qtyPercent: maybe(0.25, () => random.integer(10, 90)),
        limit: maybe(0.35, near),
        stop: maybe(0.35, near),
        profit: maybe(0.2, () => random.integer(20, 300)),
        loss: maybe(0.2, () => random.integer(20, 300)),
        trailPoints: maybe(0.2, () => random.integer(5, 200)),
        trailPrice: maybe(0.1, near),
        trailOffset: maybe(0.3, () => random.integer(0, 100)),
        ocaName: maybe(0.4, () => 'E'),
        comment: maybe(0.2, () => 'out'),
        commentProfit: maybe(0.3, () => 'won'),
        commentLoss: maybe(0.3, () => 'lost'),
        commentTrailing: maybe(0.3, () => 'trailed'),
        alertProfit: maybe(0.2, () => 'tell of it'),
        disableAlert: maybe(0.1, () => true),
      }),
    })
  if (random.chance(0.1))
    orders.close(id, {
      immediately: random.chance(0.3),
      ...given({ qtyPercent: maybe(0.4, () => 50), qty: maybe(0.1, () => 1) }),
    })
  if (random.chance(0.04)) orders.closeAll('all of it')
  if (random.chance(0.05)) broker.desk.cancel(random.pick([id, `X${id}`]))
  if (random.chance(0.02)) broker.desk.cancelAll()
}

const READ = words(
  'positionEntryName positionSize positionAvgPrice equity openProfit netProfit grossProfit grossLoss',
  'winTrades lossTrades evenTrades openTradeCount maxDrawdownAmount maxRunupAmount maxDrawdownPercent',
  'maxRunupPercent maxContractsHeldAll maxContractsHeldLong maxContractsHeldShort capitalHeld',
  'marginLiquidationPrice',
)
const OF_OPEN = words(
  'entryId entryComment entryBar entryTime entryPrice size profit profitPercent profitPercentOfCost',
  'commission maxRunup maxRunupPercent maxDrawdown maxDrawdownPercent',
)
const OF_CLOSED = [...OF_OPEN, ...words('exitId exitComment exitBar exitTime exitPrice')] as const

/** All that a script can read. A trade that is asked for is the same object as the one before. */
function accountOf({ account }: BrokerEmulator): string {
  const last = account.closedTradeCount - 1
  return [
    told(account, READ),
    rounded(account.defaultEntryQty(100)),
    Array.from({ length: account.openTradeCount + 1 }, (_, i) => told(account.openTrade(i), OF_OPEN)),
    Array.from({ length: 4 }, (_, i) => told(account.closedTrade(last - i), OF_CLOSED)),
  ].join('\n')
}

function told<Name extends string>(
  of: Readonly<Record<Name, unknown>> | null,
  names: readonly Name[],
): string {
  return of === null ? 'none' : names.map((name) => rounded(of[name])).join(' ')
}

const rounded = (value: unknown) => (typeof value === 'number' ? Number(value.toFixed(6)) : value)

function fillsOf({ position: { fills } }: BrokerEmulator): string[] {
  return Array.from({ length: fills.count }, (_, row) => {
    const { id, comment, alertMessage } = labelOf(fills, row)
    const numbers = [fills.bar, fills.units, fills.price, fills.fee, fills.held].map((of) =>
      rounded(of[row]!),
    )
    return [id, comment, alertMessage, ...numbers].join(' ')
  })
}

function tradesOf(broker: BrokerEmulator): string[] {
  return closedTrades(broker).map((trade) =>
    [
      trade.entryId,
      trade.entryComment,
      trade.entryBar,
      trade.exitId,
      trade.exitComment,
      trade.exitBar,
      ...[trade.entryPrice, trade.exitPrice, trade.units, trade.entryFee, trade.exitFee, trade.profit].map(
        rounded,
      ),
    ].join(' '),
  )
}

function played(seed: number, magnified = false) {
  const random = new Random(seed)
  const bars = barsOf(random)
  const declared = settingsOf(random)
  const options = optionsOf(random, bars)
  const settings = { ...declared, calc_on_every_history_tick: options.developing !== undefined }
  const seen: string[] = []
  const script = scriptOf(seed, seen)
  const { broker } = magnified
    ? drive(bars, { ...settings, use_bar_magnifier: true }, script, { ...options, finer: bars })
    : drive(bars, settings, script, options)
  return { broker, fills: fillsOf(broker), trades: tradesOf(broker), seen }
}

function lineOf(seed: number): string {
  const { broker, fills, trades, seen } = played(seed)
  const { refused } = broker.account
  const left = JSON.stringify([broker.marginCalls, refused, broker.waitingOrders(), broker.restingOrders()])
  const text = [...fills, ...trades, ...seen, left].join('\n')
  const hash = new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16)
  return `${seed}: ${fills.length} fills, ${trades.length} trades, net ${Number(broker.account.netProfit.toFixed(6))}, ${hash}`
}

const seeds = Array.from({ length: SEEDS }, (_, k) => k + 1)

const written = seeds.map(lineOf)
if (Bun.env['UPDATE'] === '1') await Bun.write(KEPT, `${written.join('\n')}\n`)
const kept = (await Bun.file(KEPT).text()).trim().split('\n')

test.each(written.map((line, k) => [k + 1, line] as const))('script %d trades as it did', (seed, line) => {
  expect(line).toBe(kept[seed - 1]!)
})

test.each(seeds)('script %d trades the same where finer bars are the chart’s own', (seed) => {
  const short = played(seed)
  const long = played(seed, true)
  expect(long.fills).toEqual(short.fills)
  expect(long.trades).toEqual(short.trades)
})

test.each(seeds)('what script %d has booked adds up', (seed) => {
  const { broker } = played(seed)
  const { position, account } = broker
  const trades = closedTrades(broker)
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const close = account.bars.close.at(-1)!
  const rate = account.rate()
  const openProfit = sum(
    position.open.map(
      ({ entry, units }) =>
        entry.direction * (units / 1e8) * (close - entry.price) * account.pointValue * rate,
    ),
  )
  // F14: what open trades have paid is lost already.
  const paidOpen = sum(position.open.map(({ entryFee }) => entryFee))
  const closed = sum(trades.map(({ profit }) => profit))
  expect(account.closedProfit).toBeCloseTo(closed, 6)
  expect(account.netProfit).toBeCloseTo(closed - paidOpen, 6)
  expect(account.grossLoss).toBeCloseTo(account.closedLoss + paidOpen, 6)
  expect(account.openProfit).toBeCloseTo(openProfit, 6)
  expect(account.equity).toBeCloseTo(account.initialCapital + account.netProfit + openProfit, 6)
  const bought = Array.from(position.fills.units.subarray(0, position.fills.count))
  expect(position.units).toBe(sum(bought))
  const fees = Array.from(position.fills.fee.subarray(0, position.fills.count))
  const paid = trades.map(({ entryFee, exitFee }) => entryFee + exitFee)
  expect(sum(paid) + position.fees).toBeCloseTo(sum(fees), 6)
})
