// Drives the broker without a compiler: a script is a function of the bar, calling the broker's port.

import type { BrokerOptions } from '../../src/broker/emulator/account.ts'
import { BrokerEmulator } from '../../src/broker/emulator/broker.ts'
import { directionOf, labelOf, quantityOf, type Trade } from '../../src/broker/emulator/ledger.ts'
import { brokerSettings, type DeclarationArgs } from '../../src/broker/emulator/settings.ts'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import type { SymbolInfo } from '../../src/market/symbol.ts'
import { EXIT_GIVEN, ORDER_GIVEN, type ExitRequest, type OcaType } from '../../src/language/broker.ts'

/** Days begin at midnight. */
export const daysOf = ({ time }: Bars) => ({ dayOf: (bar: number) => Math.floor(time[bar]! / 86_400_000) })

export const TEST_SYMBOL: SymbolInfo = {
  exchange: 'TEST',
  symbol: 'TEST',
  description: '',
  type: 'crypto',
  currency: 'USD',
  baseCurrency: '',
  mintick: 0.01,
  priceScale: 100,
  minMove: 1,
  pointValue: 1,
  minQuantity: 0.0001,
  timezone: 'UTC',
  session: '24x7',
  volumeType: 'base',
}

const MINUTE = 60_000
const START = 1_704_067_200_000

/** `open/high/low/close` a bar, a minute apart. */
export function barsFrom(text: string, step = MINUTE): Bars {
  const rows = text
    .trim()
    .split(/\s+/)
    .map((bar) => bar.split('/').map(Number))
  const bars = emptyBars(rows.length)
  for (const [i, [open, high, low, close]] of rows.entries()) {
    bars.time[i] = START + i * step
    bars.open[i] = open!
    bars.high[i] = high!
    bars.low[i] = low!
    bars.close[i] = close!
  }
  return bars
}

interface OrderCall {
  readonly qty?: number
  readonly limit?: number
  readonly stop?: number
  readonly oca?: readonly [string, OcaType]
  readonly comment?: string
}

/** The commands with named arguments, as a script would write them. */
interface Orders {
  readonly broker: BrokerEmulator
  readonly bar: number
  long(id: string, call?: OrderCall): void
  short(id: string, call?: OrderCall): void
  order(id: string, direction: 1 | -1, call?: OrderCall): void
  exit(id: string, from: string | null, call: Partial<ExitRequest>): void
  close(
    id: string,
    call?: { qty?: number; qtyPercent?: number; comment?: string; immediately?: boolean },
  ): void
  closeAll(comment?: string): void
}

const NO_ORDER = { comment: null, alertMessage: null, disableAlert: null } as const

const NO_EXIT = {
  ocaName: null,
  comment: null,
  commentProfit: null,
  commentLoss: null,
  commentTrailing: null,
  alertMessage: null,
  alertProfit: null,
  alertLoss: null,
  alertTrailing: null,
  disableAlert: null,
} as const

/** What an earlier call has left in the request: nobody may read a number that the call does not name. */
const STALE = 97.53

function named<Name extends string>(
  bits: Readonly<Record<Name, number>>,
  call: Readonly<Partial<Record<NoInfer<Name>, number>>>,
): Record<Name | 'given', number> {
  const request = { given: 0 } as Record<Name | 'given', number>
  for (const [name, bit] of Object.entries(bits) as [Name, number][]) {
    request[name] = call[name] ?? STALE
    if (call[name] !== undefined) request.given |= bit
  }
  return request
}

export const NO_CLOSE = { alertMessage: null, immediately: null, disableAlert: null } as const

function ordersOn(broker: BrokerEmulator, bar: number): Orders {
  let site = 0
  const place = (kind: 'entry' | 'order', id: string, sign: 1 | -1, { oca, ...call }: OrderCall) => {
    const [ocaName, ocaType] = oca ?? [null, 'none' as const]
    const direction = sign === 1 ? 'long' : 'short'
    const levels = named(ORDER_GIVEN, call)
    broker.desk.place(kind, {
      ...NO_ORDER,
      id,
      direction,
      ocaName,
      ocaType,
      ...call,
      ...levels,
      site: ++site,
    })
  }
  return {
    broker,
    bar,
    long: (id, call = {}) => {
      place('entry', id, 1, call)
    },
    short: (id, call = {}) => {
      place('entry', id, -1, call)
    },
    order: (id, direction, call = {}) => {
      place('order', id, direction, call)
    },
    exit: (id, from, call) => {
      const levels = named(EXIT_GIVEN, call)
      broker.desk.exit({ ...NO_EXIT, id, fromEntry: from, ...call, ...levels, site: ++site })
    },
    close: (id, { qty = NaN, qtyPercent = NaN, comment, immediately = false } = {}) => {
      broker.desk.close({
        ...NO_CLOSE,
        id,
        comment: comment ?? null,
        qty,
        qtyPercent,
        immediately,
        site: ++site,
      })
    },
    closeAll: (comment) => {
      broker.desk.closeAll({ ...NO_CLOSE, comment: comment ?? null, site: ++site })
    },
  }
}

export type TestScript = (orders: Orders) => void

export interface Driven {
  readonly broker: BrokerEmulator
  /** Position at each bar's close. */
  readonly positions: readonly number[]
  /** A line a closed trade: `long 1 A@1 100 → X@2 110 = 10`. */
  readonly trades: readonly string[]
}

export function drive(
  bars: Bars,
  args: DeclarationArgs,
  script: TestScript,
  options: Partial<BrokerOptions> = {},
): Driven {
  const symbol = options.symbol ?? TEST_SYMBOL
  const settings = brokerSettings({ margin_long: 100, margin_short: 100, ...args }, symbol, 6)
  const broker = new BrokerEmulator({ ...daysOf(bars), ...options, bars, symbol, settings })
  const positions: number[] = []
  for (let bar = 0; bar < bars.length; bar++) step(broker, bar, script, positions)
  return { broker, positions, trades: tradeLines(broker) }
}

/** One bar, the way generated code does it. */
export function step(broker: BrokerEmulator, bar: number, script: TestScript, positions: number[]): void {
  broker.account.bar = bar
  const run = () => {
    script(ordersOn(broker, bar))
  }
  const { high, low } = broker.account.bars
  const isCalled = !(high[bar]! < broker.callAbove && low[bar]! > broker.callBelow)
  if (broker.busy || isCalled || broker.account.developing !== null) broker.onBar(bar, run)
  run()
  if (broker.dirty) broker.afterScript(bar)
  positions.push(broker.account.positionSize)
}

export function closedTrades({ position }: BrokerEmulator): Trade[] {
  return Array.from({ length: position.closed.count }, (_, row) => position.closedTrade(row)!)
}

export function tradeLines(broker: BrokerEmulator): string[] {
  const short = (value: number) => String(Number(value.toFixed(6)))
  return closedTrades(broker).map(
    (trade) =>
      `${trade.direction === 1 ? 'long' : 'short'} ${trade.units / 1e8} ${trade.entryId}@${trade.entryBar} ${short(trade.entryPrice)} → ${trade.exitComment || trade.exitId}@${trade.exitBar} ${short(trade.exitPrice)} = ${short(trade.profit)}`,
  )
}

/** A line a fill, in their order: `A buy 1@90`. */
export function fillLines({ position: { fills } }: BrokerEmulator): string[] {
  return Array.from(
    { length: fills.count },
    (_, row) =>
      `${labelOf(fills, row).id} ${directionOf(fills, row) === 1 ? 'buy' : 'sell'} ${quantityOf(fills, row)}@${fills.price[row]}`,
  )
}
