// strategy.*: orders go to the broker, numbers come from it.

import type { Broker, ExitOrder, OcaType, TradeView } from '../broker.ts'
import { ScriptError } from '../runtime/runtime.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { fn, variable } from './define.ts'
import type { BuiltinEntry, BuiltinFunction, BuiltinVariable, Implementation } from './registry.ts'

type Text = string | null

const NAN = Number.NaN
const ORDER =
  '(string id, string direction, float qty = na, float limit = na, float stop = na, string oca_name = na, ' +
  'string oca_type = strategy.oca.none, string comment = na, string alert_message = na, bool disable_alert = false) void'

const COMMANDS: readonly BuiltinEntry[] = [
  command('entry', 'Enters a position, or turns it around.', ORDER, place('entry')),
  command('order', 'Buys or sells, whatever the position.', ORDER, place('order')),
  command(
    'exit',
    'Leaves a position at a price, or when it has moved by so many ticks.',
    '(string id, string from_entry = na, float qty = na, float qty_percent = na, float profit = na, float limit = na, ' +
      'float loss = na, float stop = na, float trail_price = na, float trail_points = na, float trail_offset = na, ' +
      'string oca_name = na, string comment = na, string comment_profit = na, string comment_loss = na, ' +
      'string comment_trailing = na, string alert_message = na, string alert_profit = na, string alert_loss = na, ' +
      'string alert_trailing = na, bool disable_alert = false) void',
    exit,
  ),
  command(
    'close',
    'Leaves what was entered under an id.',
    '(string id, string comment = na, float qty = na, float qty_percent = na, string alert_message = na, ' +
      'bool immediately = false, bool disable_alert = false) void',
    (
      runtime: Runtime,
      id: Text,
      comment: Text,
      qty: number,
      percent: number,
      alert: Text,
      immediately: boolean | null,
      disableAlert: boolean | null,
      site: number,
    ) =>
      runtime.broker.close(
        id ?? '',
        comment,
        qty,
        percent,
        alert,
        immediately === true,
        disableAlert === true,
        site,
      ),
  ),
  command(
    'close_all',
    'Leaves the whole position.',
    '(string comment = na, string alert_message = na, bool immediately = false, bool disable_alert = false) void',
    (
      runtime: Runtime,
      comment: Text,
      alert: Text,
      immediately: boolean | null,
      disableAlert: boolean | null,
      site: number,
    ) => runtime.broker.closeAll(comment, alert, immediately === true, disableAlert === true, site),
  ),
  command('cancel', 'Takes back the orders of an id.', '(string id) void', (runtime: Runtime, id: Text) =>
    runtime.broker.cancel(id ?? ''),
  ),
  command('cancel_all', 'Takes back all orders.', '() void', (runtime: Runtime) =>
    runtime.broker.cancelAll(),
  ),
  fn(
    'strategy.convert_to_account',
    "An amount of the symbol's currency in the account's.",
    '(float value) series float',
    {
      fn: (runtime: Runtime, value: number) => runtime.broker.convertToAccount(value),
      runtime: true,
    },
  ),
  fn(
    'strategy.convert_to_symbol',
    "An amount of the account's currency in the symbol's.",
    '(float value) series float',
    {
      fn: (runtime: Runtime, value: number) => runtime.broker.convertToSymbol(value),
      runtime: true,
    },
  ),
  fn(
    'strategy.default_entry_qty',
    'The quantity an order without one gets at a price.',
    '(float fill_price) series float',
    {
      fn: (runtime: Runtime, price: number) => runtime.broker.defaultEntryQty(price),
      runtime: true,
    },
  ),
]

const RISK: readonly BuiltinEntry[] = [
  risk(
    'allow_entry_in',
    'Which directions may be entered.',
    '(simple string value)',
    (broker: Broker, value: Text) => {
      if (value !== 'all' && value !== 'long' && value !== 'short')
        throw new ScriptError(`Unknown direction '${value}'. Use strategy.direction.all, .long or .short.`)
      broker.allowEntryIn(value)
    },
  ),
  risk(
    'max_cons_loss_days',
    'Stops trading after so many days of losses in a row.',
    '(simple int count, simple string alert_message = na)',
    (broker: Broker, count: number, alert: Text) => broker.maxConsLossDays(count, alert),
  ),
  risk(
    'max_drawdown',
    'Stops trading after a drawdown.',
    '(simple float value, simple string type, simple string alert_message = na)',
    (broker: Broker, value: number, type: Text, alert: Text) =>
      broker.maxDrawdown(value, amountType(type), alert),
  ),
  risk(
    'max_intraday_loss',
    'Stops trading for the day after a loss.',
    '(simple float value, simple string type, simple string alert_message = na)',
    (broker: Broker, value: number, type: Text, alert: Text) =>
      broker.maxIntradayLoss(value, amountType(type), alert),
  ),
  risk(
    'max_intraday_filled_orders',
    'Stops trading for the day after so many orders.',
    '(simple int count, simple string alert_message = na)',
    (broker: Broker, count: number, alert: Text) => broker.maxIntradayFilledOrders(count, alert),
  ),
  risk(
    'max_position_size',
    'The largest position there may be.',
    '(simple float contracts)',
    (broker: Broker, size: number) => broker.maxPositionSize(size),
  ),
]

const VARIABLES: readonly BuiltinEntry[] = [
  state(
    'position_size',
    'Size of the position: above 0 long, below 0 short.',
    (broker) => broker.positionSize,
  ),
  state(
    'position_avg_price',
    'Average price the position was entered at; na without one.',
    (broker) => broker.positionAvgPrice,
  ),
  text(
    'position_entry_name',
    'Id of the order that opened the position.',
    'series string',
    (broker) => broker.positionEntryName,
  ),
  text('account_currency', 'Currency of the account.', 'simple string', (broker) => broker.accountCurrency),
  state('initial_capital', 'Money at the start.', (broker) => broker.initialCapital),
  state('equity', 'Money at the start, closed and open profit.', (broker) => broker.equity),
  state('netprofit', 'Profit of closed trades.', (broker) => broker.netProfit),
  state('netprofit_percent', 'Profit of closed trades, in % of the money at the start.', (broker) =>
    percent(broker.netProfit, broker.initialCapital),
  ),
  state('openprofit', 'Profit of open trades.', (broker) => broker.openProfit),
  state('openprofit_percent', 'Profit of open trades, in % of the money without it.', (broker) =>
    percent(broker.openProfit, broker.initialCapital + broker.netProfit),
  ),
  state('grossprofit', 'Profit of the trades that won.', (broker) => broker.grossProfit),
  state('grossprofit_percent', 'Profit of the trades that won, in % of the money at the start.', (broker) =>
    percent(broker.grossProfit, broker.initialCapital),
  ),
  state('grossloss', 'Loss of the trades that lost.', (broker) => broker.grossLoss),
  state('grossloss_percent', 'Loss of the trades that lost, in % of the money at the start.', (broker) =>
    percent(broker.grossLoss, broker.initialCapital),
  ),
  state('max_runup', 'Largest rise of the equity.', (broker) => broker.maxRunupAmount),
  state('max_runup_percent', 'Largest rise of the equity, in %.', (broker) => broker.maxRunupPercent),
  state('max_drawdown', 'Largest fall of the equity.', (broker) => broker.maxDrawdownAmount),
  state('max_drawdown_percent', 'Largest fall of the equity, in %.', (broker) => broker.maxDrawdownPercent),
  state('max_contracts_held_all', 'Largest position.', (broker) => broker.maxContractsHeldAll),
  state('max_contracts_held_long', 'Largest long position.', (broker) => broker.maxContractsHeldLong),
  state('max_contracts_held_short', 'Largest short position.', (broker) => broker.maxContractsHeldShort),
  state(
    'margin_liquidation_price',
    'Price at which a margin call comes.',
    (broker) => broker.marginLiquidationPrice,
  ),
  count('wintrades', 'How many trades won.', (broker) => broker.winTrades),
  count('losstrades', 'How many trades lost.', (broker) => broker.lossTrades),
  count('eventrades', 'How many trades neither won nor lost.', (broker) => broker.evenTrades),
  count('opentrades', 'How many trades are open.', (broker) => broker.openTradeCount),
  count('closedtrades', 'How many trades are closed.', (broker) => broker.closedTradeCount),
  count(
    'closedtrades.first_index',
    'Number of the first closed trade that is kept.',
    (broker) => broker.closedTradesFirstIndex,
  ),
  state('opentrades.capital_held', 'Money held by open trades.', (broker) => broker.capitalHeld),
  state(
    'avg_trade',
    'Average profit of closed trades.',
    (broker) => broker.netProfit / (broker.closedTradeCount || NAN),
  ),
  state(
    'avg_winning_trade',
    'Average profit of the trades that won.',
    (broker) => broker.grossProfit / (broker.winTrades || NAN),
  ),
  state(
    'avg_losing_trade',
    'Average loss of the trades that lost.',
    (broker) => broker.grossLoss / (broker.lossTrades || NAN),
  ),
  state('avg_trade_percent', 'Average profit of closed trades, in %.', (broker) =>
    averagePercent(broker, () => true),
  ),
  state('avg_winning_trade_percent', 'Average profit of the trades that won, in %.', (broker) =>
    averagePercent(broker, (trade) => trade.profit > 0),
  ),
  state(
    'avg_losing_trade_percent',
    'Average loss of the trades that lost, in %.',
    (broker) => -averagePercent(broker, (trade) => trade.profit < 0),
  ),
]

/** What can be asked of an open or a closed trade. */
const FIELDS: readonly (readonly [string, string, string, (trade: TradeView) => number | Text])[] = [
  ['entry_id', 'string', 'Id of the entry.', (trade) => trade.entryId],
  ['entry_comment', 'string', 'Comment of the entry.', (trade) => trade.entryComment],
  ['entry_bar_index', 'int', 'Bar of the entry.', (trade) => trade.entryBar],
  ['entry_time', 'int', 'Time of the entry.', (trade) => trade.entryTime],
  ['entry_price', 'float', 'Price of the entry.', (trade) => trade.entryPrice],
  ['size', 'float', 'Quantity, below 0 for short trades.', (trade) => trade.size],
  ['profit', 'float', 'Profit.', (trade) => trade.profit],
  ['profit_percent', 'float', 'Profit, in %.', (trade) => trade.profitPercent],
  ['commission', 'float', 'Commission paid.', (trade) => trade.commission],
  ['max_runup', 'float', 'Largest profit it ever had.', (trade) => trade.maxRunup],
  ['max_runup_percent', 'float', 'Largest profit it ever had, in %.', (trade) => trade.maxRunupPercent],
  ['max_drawdown', 'float', 'Largest loss it ever had.', (trade) => trade.maxDrawdown],
  ['max_drawdown_percent', 'float', 'Largest loss it ever had, in %.', (trade) => trade.maxDrawdownPercent],
]
const EXIT_FIELDS: typeof FIELDS = [
  ['exit_id', 'string', 'Id of the exit.', (trade) => trade.exitId],
  ['exit_comment', 'string', 'Comment of the exit.', (trade) => trade.exitComment],
  ['exit_bar_index', 'int', 'Bar of the exit.', (trade) => trade.exitBar],
  ['exit_time', 'int', 'Time of the exit.', (trade) => trade.exitTime],
  ['exit_price', 'float', 'Price of the exit.', (trade) => trade.exitPrice],
]

const TRADES: readonly BuiltinEntry[] = [
  ...FIELDS.map((field) => accessor('opentrades', field, (broker, index) => broker.openTrade(index))),
  ...[...FIELDS, ...EXIT_FIELDS].map((field) =>
    accessor('closedtrades', field, (broker, index) => broker.closedTrade(index)),
  ),
]

export const STRATEGY: readonly BuiltinEntry[] = [...COMMANDS, ...RISK, ...VARIABLES, ...TRADES]

function command(
  name: string,
  doc: string,
  signature: string,
  call: Extract<Implementation, { fn: unknown }>['fn'],
): BuiltinFunction {
  return fn(`strategy.${name}`, doc, signature, { fn: call, runtime: true, site: true })
}

function place(kind: 'entry' | 'order') {
  return (
    runtime: Runtime,
    id: Text,
    direction: Text,
    qty: number,
    limit: number,
    stop: number,
    ocaName: Text,
    ocaType: OcaType | null,
    comment: Text,
    alert: Text,
    disableAlert: boolean | null,
    site: number,
  ): void => {
    if (direction !== 'long' && direction !== 'short')
      throw new ScriptError(
        `The direction of strategy.${kind}() must be strategy.long or strategy.short, not '${direction}'.`,
      )
    runtime.broker[kind](
      id ?? '',
      direction === 'long' ? 1 : -1,
      qty,
      limit,
      stop,
      ocaName === '' ? null : ocaName,
      ocaType ?? 'none',
      comment,
      alert,
      disableAlert === true,
      site,
    )
  }
}

function exit(
  runtime: Runtime,
  id: Text,
  fromEntry: Text,
  qty: number,
  qtyPercent: number,
  profit: number,
  limit: number,
  loss: number,
  stop: number,
  trailPrice: number,
  trailPoints: number,
  trailOffset: number,
  ocaName: Text,
  comment: Text,
  commentProfit: Text,
  commentLoss: Text,
  commentTrailing: Text,
  alertMessage: Text,
  alertProfit: Text,
  alertLoss: Text,
  alertTrailing: Text,
  disableAlert: boolean | null,
  site: number,
): void {
  const order: ExitOrder = {
    fromEntry: fromEntry === '' ? null : fromEntry,
    qty,
    qtyPercent,
    profit,
    limit,
    loss,
    stop,
    trailPrice,
    trailPoints,
    trailOffset,
    ocaName: ocaName === '' ? null : ocaName,
    comment,
    commentProfit,
    commentLoss,
    commentTrailing,
    alertMessage,
    alertProfit,
    alertLoss,
    alertTrailing,
    disableAlert: disableAlert === true,
  }
  runtime.broker.exit(id ?? '', order, site)
}

function risk(
  name: string,
  doc: string,
  parameters: string,
  rule: (broker: Broker, ...args: never[]) => void,
): BuiltinFunction {
  return fn(`strategy.risk.${name}`, doc, `${parameters} void`, {
    fn: (runtime: Runtime, ...args: never[]) => rule(runtime.broker, ...args),
    runtime: true,
  })
}

function amountType(type: Text): 'percent_of_equity' | 'cash' {
  if (type === 'percent_of_equity' || type === 'cash') return type
  throw new ScriptError(`Unknown type '${type}'. Use strategy.percent_of_equity or strategy.cash.`)
}

function state(name: string, doc: string, read: (broker: Broker) => number): BuiltinVariable {
  return variable(`strategy.${name}`, doc, 'series float', { get: (runtime) => read(runtime.broker) })
}

function count(name: string, doc: string, read: (broker: Broker) => number): BuiltinVariable {
  return variable(`strategy.${name}`, doc, 'series int', { get: (runtime) => read(runtime.broker) })
}

function text(name: string, doc: string, type: string, read: (broker: Broker) => Text): BuiltinVariable {
  return variable(`strategy.${name}`, doc, type, { get: (runtime) => read(runtime.broker) })
}

function accessor(
  space: 'opentrades' | 'closedtrades',
  [name, type, doc, read]: (typeof FIELDS)[number],
  find: (broker: Broker, index: number) => TradeView | null,
): BuiltinFunction {
  // A trade that is not there has no size: 0, where all else is na.
  const missing = type === 'string' ? null : name === 'size' && space === 'opentrades' ? 0 : NAN
  return fn(`strategy.${space}.${name}`, doc, `(int trade_num) series ${type}`, {
    fn: (runtime: Runtime, index: number) => {
      const trade = Number.isNaN(index) ? null : find(runtime.broker, Math.trunc(index))
      return trade === null ? missing : read(trade)
    },
    runtime: true,
  })
}

function percent(part: number, whole: number): number {
  return (part / whole) * 100
}

function averagePercent(broker: Broker, counts: (trade: TradeView) => boolean): number {
  let total = 0
  let found = 0
  for (let i = broker.closedTradesFirstIndex; i < broker.closedTradeCount; i++) {
    const trade = broker.closedTrade(i)
    if (trade === null || !counts(trade)) continue
    total += trade.profitPercent
    found++
  }
  return found === 0 ? NAN : total / found
}
