// What sixty scripts that nobody thought of trade, as they did when this was written down.
//
// Nobody worked these out by hand: rules.test.ts has what is known to be right. These say that something changed, which
// a rebuilding must not do; where a change is meant, `UPDATE=1 bun test` writes them again and the diff is the review.

import { expect, test } from 'bun:test'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import { Random } from '../../src/tools/torture/random.ts'
import { drive, fillLines, tradeLines, type TestScript } from './drive.ts'

const KEPT = `${import.meta.dir}/kept-behaviour.txt`
const BARS = 40

function barsOf(random: Random): Bars {
  const bars = emptyBars(BARS)
  let close = 10_000
  for (let i = 0; i < BARS; i++) {
    const open = close + random.integer(-150, 150)
    close = open + random.integer(-250, 250)
    bars.time[i] = i * 3_600_000
    bars.open[i] = open / 100
    bars.close[i] = close / 100
    bars.high[i] = (Math.max(open, close) + random.integer(0, 150)) / 100
    bars.low[i] = (Math.min(open, close) - random.integer(0, 150)) / 100
  }
  return bars
}

function settingsOf(random: Random) {
  return {
    initial_capital: random.pick([10_000, 1000]),
    default_qty_type: random.pick(['fixed', 'percent_of_equity', 'cash']),
    default_qty_value: random.pick([1, 40]),
    pyramiding: random.integer(0, 3),
    commission_type: random.pick(['percent', 'cash_per_order', 'cash_per_contract']),
    commission_value: random.pick([0, 0.1]),
    slippage: random.pick([0, 3]),
    process_orders_on_close: random.chance(0.25),
    calc_on_order_fills: random.chance(0.25),
    close_entries_rule: random.pick(['FIFO', 'ANY']),
    margin_long: random.pick([0, 25, 100]),
    margin_short: random.pick([0, 25, 100]),
    backtest_fill_limits_assumption: random.pick([0, 0, 5]),
  }
}

/** The same calls on a bar however often the bar is run. */
function scriptOf(seed: number, seen: string[]): TestScript {
  return (orders) => {
    const { bar, broker } = orders
    const { account } = broker
    const random = new Random(seed * 1000 + bar)
    if (bar === 0 && random.chance(0.2)) broker.desk.maxIntradayFilledOrders(random.integer(3, 9), null)
    if (bar === 0 && random.chance(0.2))
      broker.desk.maxIntradayLoss(random.integer(2, 9), 'percent_of_equity', null)
    if (bar === 0 && random.chance(0.2)) broker.desk.maxPositionSize(random.integer(1, 4))
    const near = () => Math.round(10_000 + random.integer(-400, 400)) / 100
    const maybe = <T>(chance: number, value: T): T | undefined => (random.chance(chance) ? value : undefined)
    const given = (call: object): object =>
      Object.fromEntries(Object.entries(call).filter(([, value]) => value !== undefined))
    const id = random.pick(['A', 'B'])
    const call = given({
      qty: maybe(0.6, random.integer(1, 300) / 100),
      limit: maybe(0.3, near()),
      stop: maybe(0.3, near()),
      oca: maybe(0.3, ['G', random.pick(['none', 'cancel', 'reduce'])] as const),
    })
    if (random.chance(0.45)) orders[random.pick(['long', 'short'] as const)](id, call)
    if (random.chance(0.1)) orders.order(`O${id}`, random.pick([1, -1] as const), call)
    if (random.chance(0.4))
      orders.exit(`X${id}`, random.pick([id, id, null]), {
        ...given({
          qtyPercent: maybe(0.3, random.integer(10, 90)),
          limit: maybe(0.4, near()),
          stop: maybe(0.4, near()),
          profit: maybe(0.2, random.integer(50, 300)),
          loss: maybe(0.2, random.integer(50, 300)),
          trailPoints: maybe(0.3, random.integer(20, 200)),
          trailOffset: maybe(0.3, random.integer(0, 100)),
        }),
      })
    if (random.chance(0.12))
      orders.close(id, { immediately: random.chance(0.3), ...given({ qtyPercent: maybe(0.5, 50) }) })
    if (random.chance(0.05)) orders.closeAll()
    if (random.chance(0.05)) broker.desk.cancel(id)
    if (random.chance(0.03)) broker.desk.cancelAll()
    if (bar % 10 === 9)
      seen.push(
        [
          bar,
          account.positionSize,
          account.positionAvgPrice,
          account.equity,
          account.openProfit,
          account.netProfit,
          account.maxDrawdownAmount,
          account.maxRunupAmount,
          account.capitalHeld,
          account.marginLiquidationPrice,
        ]
          .map((value) => Number(value.toFixed(6)))
          .join(' '),
      )
  }
}

function played(seed: number): string {
  const random = new Random(seed)
  const seen: string[] = []
  const { broker } = drive(barsOf(random), settingsOf(random), scriptOf(seed, seen))
  return [`seed ${seed}`, ...fillLines(broker), ...tradeLines(broker), ...seen].join('\n')
}

const written = Array.from({ length: 60 }, (_, k) => played(k + 1))
if (Bun.env['UPDATE'] === '1') await Bun.write(KEPT, `${written.join('\n\n')}\n`)
const kept = (await Bun.file(KEPT).text()).trim().split('\n\n')

test.each(written.map((text, k) => [k + 1, text] as const))('script %d trades as it did', (seed, text) => {
  expect(text).toBe(kept[seed - 1]!)
})
