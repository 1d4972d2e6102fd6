// strategy.*: orders go to the broker's desk, numbers come from its account.

import { orderWithoutDirection, unknownDirection, unknownRiskType } from '../messages/failing.ts'
import type {
  BrokerAccount,
  BrokerDesk,
  CloseAllRequest,
  CloseRequest,
  ExitRequest,
  OrderRequest,
  TradeView,
} from '../broker.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { fn, variable } from './define.ts'
import type { BuiltinEntry, BuiltinFunction, BuiltinVariable, Implementation } from './registry.ts'

type Text = string | null

const NAN = Number.NaN
const ORDER =
  '(string id, string direction, float qty = na, float limit = na, float stop = na, string oca_name = na, ' +
  'string oca_type = strategy.oca.none, string comment = na, string alert_message = na, bool disable_alert = false) void'

const COMMANDS: readonly BuiltinEntry[] = [
  place('entry', 'Enters a position, or turns it around.'),
  place('order', 'Buys or sells, whatever the position.'),
  command(
    'exit',
    'Leaves a position at a price, or when it has moved by so many ticks.',
    '(string id, string from_entry = na, float qty = na, float qty_percent = na, float profit = na, float limit = na, ' +
      'float loss = na, float stop = na, float trail_price = na, float trail_points = na, float trail_offset = na, ' +
      'string oca_name = na, string comment = na, string comment_profit = na, string comment_loss = na, ' +
      'string comment_trailing = na, string alert_message = na, string alert_profit = na, string alert_loss = na, ' +
      'string alert_trailing = na, bool disable_alert = false) void',
    (runtime: Runtime, request: ExitRequest) => runtime.broker.desk.exit(request),
  ),
  command(
    'close',
    'Leaves what was entered under an id.',
    '(string id, string comment = na, float qty = na, float qty_percent = na, string alert_message = na, ' +
      'bool immediately = false, bool disable_alert = false) void',
    (runtime: Runtime, request: CloseRequest) => runtime.broker.desk.close(request),
  ),
  command(
    'close_all',
    'Leaves the whole position.',
    '(string comment = na, string alert_message = na, bool immediately = false, bool disable_alert = false) void',
    (runtime: Runtime, request: CloseAllRequest) => runtime.broker.desk.closeAll(request),
  ),
  fn('strategy.cancel', 'Takes back the orders of an id.', '(string id) void', {
    fn: (runtime: Runtime, id: Text) => runtime.broker.desk.cancel(id ?? ''),
    runtime: true,
  }),
  fn('strategy.cancel_all', 'Takes back all orders.', '() void', {
    fn: (runtime: Runtime) => runtime.broker.desk.cancelAll(),
    runtime: true,
  }),
  fn(
    'strategy.convert_to_account',
    "An amount of the symbol's currency in the account's.",
    '(float value) series float',
    {
      fn: (runtime: Runtime, value: number) => runtime.broker.account.convertToAccount(value),
      runtime: true,
    },
  ),
  fn(
    'strategy.convert_to_symbol',
    "An amount of the account's currency in the symbol's.",
    '(float value) series float',
    {
      fn: (runtime: Runtime, value: number) => runtime.broker.account.convertToSymbol(value),
      runtime: true,
    },
  ),
  fn(
    'strategy.default_entry_qty',
    'The quantity an order without one gets at a price.',
    '(float fill_price) series float',
    {
      fn: (runtime: Runtime, price: number) => runtime.broker.account.defaultEntryQty(price),
      runtime: true,
    },
  ),
]

const RISK: readonly BuiltinEntry[] = [
  risk(
    'allow_entry_in',
    'Which directions may be entered.',
    '(simple string value)',
    (desk: BrokerDesk, value: Text) => {
      if (value !== 'all' && value !== 'long' && value !== 'short') throw unknownDirection(value)
      desk.allowEntryIn(value)
    },
  ),
  risk(
    'max_cons_loss_days',
    'Stops trading after so many days of losses in a row.',
    '(simple int count, simple string alert_message = na)',
    (desk: BrokerDesk, count: number, alert: Text) => desk.maxConsLossDays(count, alert),
  ),
  risk(
    'max_drawdown',
    'Stops trading after a drawdown.',
    '(simple float value, simple string type, simple string alert_message = na)',
    (desk: BrokerDesk, value: number, type: Text, alert: Text) =>
      desk.maxDrawdown(value, amountType(type), alert),
  ),
  risk(
    'max_intraday_loss',
    'Stops trading for the day after a loss.',
    '(simple float value, simple string type, simple string alert_message = na)',
    (desk: BrokerDesk, value: number, type: Text, alert: Text) =>
      desk.maxIntradayLoss(value, amountType(type), alert),
  ),
  risk(
    'max_intraday_filled_orders',
    'Stops trading for the day after so many orders.',
    '(simple int count, simple string alert_message = na)',
    (desk: BrokerDesk, count: number, alert: Text) => desk.maxIntradayFilledOrders(count, alert),
  ),
  risk(
    'max_position_size',
    'The largest position there may be.',
    '(simple float contracts)',
    (desk: BrokerDesk, size: number) => desk.maxPositionSize(size),
  ),
]

const VARIABLES: readonly BuiltinEntry[] = [
  settled(
    'position_size',
    'Size of the position: above 0 long, below 0 short.',
    (account) => account.positionSize,
  ),
  settled(
    'position_avg_price',
    'Average price the position was entered at; na without one.',
    (account) => account.positionAvgPrice,
  ),
  text(
    'position_entry_name',
    'Id of the order that opened the position.',
    'series string',
    (account) => account.positionEntryName,
  ),
  text('account_currency', 'Currency of the account.', 'simple string', (account) => account.accountCurrency),
  settled('initial_capital', 'Money at the start.', (account) => account.initialCapital),
  state('equity', 'Money at the start, closed and open profit.', (account) => account.equity),
  settled(
    'netprofit',
    'Profit of closed trades, less what open ones have paid in commission.',
    (account) => account.netProfit,
  ),
  settled('netprofit_percent', 'Profit of closed trades, in % of the money at the start.', (account) =>
    percent(account.netProfit, account.initialCapital),
  ),
  state('openprofit', 'Profit of open trades, before commission.', (account) => account.openProfit),
  state('openprofit_percent', 'Profit of open trades, in % of the money without it.', (account) =>
    percent(account.openProfit, account.initialCapital + account.netProfit),
  ),
  settled('grossprofit', 'Profit of the trades that won.', (account) => account.grossProfit),
  settled(
    'grossprofit_percent',
    'Profit of the trades that won, in % of the money at the start.',
    (account) => percent(account.grossProfit, account.initialCapital),
  ),
  settled('grossloss', 'Loss of the trades that lost.', (account) => account.grossLoss),
  settled('grossloss_percent', 'Loss of the trades that lost, in % of the money at the start.', (account) =>
    percent(account.grossLoss, account.initialCapital),
  ),
  state('max_runup', 'Largest rise of the equity.', (account) => account.maxRunupAmount),
  state('max_runup_percent', 'Largest rise of the equity, in %.', (account) => account.maxRunupPercent),
  state('max_drawdown', 'Largest fall of the equity.', (account) => account.maxDrawdownAmount),
  state('max_drawdown_percent', 'Largest fall of the equity, in %.', (account) => account.maxDrawdownPercent),
  settled('max_contracts_held_all', 'Largest position.', (account) => account.maxContractsHeldAll),
  settled('max_contracts_held_long', 'Largest long position.', (account) => account.maxContractsHeldLong),
  settled('max_contracts_held_short', 'Largest short position.', (account) => account.maxContractsHeldShort),
  state(
    'margin_liquidation_price',
    'Price at which a margin call comes.',
    (account) => account.marginLiquidationPrice,
  ),
  count('wintrades', 'How many trades won.', (account) => account.winTrades),
  count('losstrades', 'How many trades lost.', (account) => account.lossTrades),
  count('eventrades', 'How many trades neither won nor lost.', (account) => account.evenTrades),
  count('opentrades', 'How many trades are open.', (account) => account.openTradeCount),
  count('closedtrades', 'How many trades are closed.', (account) => account.closedTradeCount),
  count(
    'closedtrades.first_index',
    'Number of the first closed trade that is kept.',
    (account) => account.closedTradesFirstIndex,
  ),
  state('opentrades.capital_held', 'Money held by open trades.', (account) => account.capitalHeld),
  state(
    'avg_trade',
    'Average profit of closed trades.',
    (account) => account.closedProfit / (account.closedTradeCount || NAN),
  ),
  state(
    'avg_winning_trade',
    'Average profit of the trades that won.',
    (account) => account.grossProfit / (account.winTrades || NAN),
  ),
  state(
    'avg_losing_trade',
    'Average loss of the trades that lost.',
    (account) => account.closedLoss / (account.lossTrades || NAN),
  ),
  state('avg_trade_percent', 'Average profit of closed trades, in %.', (account) =>
    averagePercent(account, () => true),
  ),
  state('avg_winning_trade_percent', 'Average profit of the trades that won, in %.', (account) =>
    averagePercent(account, (trade) => trade.profit > 0),
  ),
  state('avg_losing_trade_percent', 'Average profit of the trades that lost, in %: below 0.', (account) =>
    averagePercent(account, (trade) => trade.profit < 0),
  ),
]

/** The fields of an open or a closed trade that scripts can read. */
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
  ...FIELDS.map((field) => accessor('opentrades', field, (account, index) => account.openTrade(index))),
  ...[...FIELDS, ...EXIT_FIELDS].map((field) =>
    accessor('closedtrades', field, (account, index) => account.closedTrade(index)),
  ),
]

export const STRATEGY: readonly BuiltinEntry[] = [...COMMANDS, ...RISK, ...VARIABLES, ...TRADES]

/** The arguments become the request that the broker's desk takes. */
function command(
  name: string,
  doc: string,
  signature: string,
  call: Extract<Implementation, { fn: unknown }>['fn'],
): BuiltinFunction {
  return fn(`strategy.${name}`, doc, signature, { fn: call, runtime: true, named: true })
}

function place(kind: 'entry' | 'order', doc: string): BuiltinFunction {
  return command(kind, doc, ORDER, (runtime: Runtime, request: OrderRequest) => {
    const direction: Text = request.direction
    if (direction !== 'long' && direction !== 'short') throw orderWithoutDirection(kind, direction)
    runtime.broker.desk.place(kind, request)
  })
}

function risk(
  name: string,
  doc: string,
  parameters: string,
  rule: (desk: BrokerDesk, ...args: never[]) => void,
): BuiltinFunction {
  return fn(`strategy.risk.${name}`, doc, `${parameters} void`, {
    fn: (runtime: Runtime, ...args: never[]) => rule(runtime.broker.desk, ...args),
    runtime: true,
  })
}

function amountType(type: Text): 'percent_of_equity' | 'cash' {
  if (type === 'percent_of_equity' || type === 'cash') return type
  throw unknownRiskType(type)
}

function state(name: string, doc: string, read: (account: BrokerAccount) => number): BuiltinVariable {
  return variable(`strategy.${name}`, doc, 'series float', { get: (runtime) => read(runtime.broker.account) })
}

/** Only fills change it, not prices alone. */
function settled(name: string, doc: string, read: (account: BrokerAccount) => number): BuiltinVariable {
  const get = (runtime: Runtime) => read(runtime.broker.account)
  return variable(`strategy.${name}`, doc, 'series float', { get, untilFill: true })
}

function count(name: string, doc: string, read: (account: BrokerAccount) => number): BuiltinVariable {
  const get = (runtime: Runtime) => read(runtime.broker.account)
  return variable(`strategy.${name}`, doc, 'series int', { get, untilFill: true })
}

function text(
  name: string,
  doc: string,
  type: string,
  read: (account: BrokerAccount) => Text,
): BuiltinVariable {
  return variable(`strategy.${name}`, doc, type, { get: (runtime) => read(runtime.broker.account) })
}

function accessor(
  space: 'opentrades' | 'closedtrades',
  [name, type, doc, read]: (typeof FIELDS)[number],
  find: (account: BrokerAccount, index: number) => TradeView | null,
): BuiltinFunction {
  // A trade that does not exist has size 0; all its other fields are na.
  const missing = type === 'string' ? null : name === 'size' && space === 'opentrades' ? 0 : NAN
  return fn(`strategy.${space}.${name}`, doc, `(int trade_num) series ${type}`, {
    fn: (runtime: Runtime, index: number) => {
      const trade = Number.isNaN(index) ? null : find(runtime.broker.account, Math.trunc(index))
      return trade === null ? missing : read(trade)
    },
    runtime: true,
  })
}

function percent(part: number, whole: number): number {
  return (part / whole) * 100
}

/** F14: of what each trade cost. */
function averagePercent(account: BrokerAccount, counts: (trade: TradeView) => boolean): number {
  let total = 0
  let found = 0
  for (let i = account.closedTradesFirstIndex; i < account.closedTradeCount; i++) {
    const trade = account.closedTrade(i)
    if (trade === null || !counts(trade)) continue
    total += trade.profitPercentOfCost
    found++
  }
  return found === 0 ? NAN : total / found
}
