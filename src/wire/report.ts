// The report of a backtest, every field with its unit and meaning.
//
// Times are UTC milliseconds. Shares are fractions (0.05 is five per cent), those named `…Pct` and `winRate` too. Money is in
// the account's currency and prices in the symbol's. What has no value is null; a 0 is a real zero.

import { Type, type TSchema } from '@sinclair/typebox'
import { nullable, oneOf, type Wire } from './schema.ts'

/** What a number is measured in: tables and figures are formatted by it, and its description ends with these words. */
const UNITS = {
  money: 'In account currency',
  price: "In the symbol's currency",
  fraction: 'A fraction',
  ratio: 'A ratio',
  contracts: 'In contracts',
  bars: 'In bars',
  bar: 'Index of a bar of the run',
  count: 'A whole number',
  time: 'UTC milliseconds',
} as const
export type Unit = keyof typeof UNITS

/** How people read a number. */
export interface Shown {
  /** A profit is good above zero and bad below; a loss is a positive amount that people read as a negative one. */
  readonly means?: 'profit' | 'loss'
  /** What people call it, where that is not the field's name. */
  readonly title?: string
}
const profit = { means: 'profit' } as const
const loss = { means: 'loss' } as const

const measured =
  <S extends TSchema>(make: (options: object) => S, unit: Unit, ending = '') =>
  (meaning: string, shown: Shown = {}): S =>
    make({ description: `${meaning} ${UNITS[unit]}${ending}.`, unit, ...shown })
const number = (options: object) => Type.Number(options)
const integer = (options: object) => Type.Integer(options)
const orNull = (options: object) => nullable(Type.Number(options))

const money = measured(number, 'money')
const moneyOrNull = measured(orNull, 'money', '; null where there is none')
const fraction = measured(number, 'fraction')
const fractionOrNull = measured(orNull, 'fraction', '; null where there is none')
const ratioOrNull = measured(orNull, 'ratio', '; null where there is none')
const price = measured(number, 'price')
const contracts = measured(number, 'contracts')
const time = measured(number, 'time')
const timeOrNull = measured(orNull, 'time', '; null where there is none')
const bar = measured(integer, 'bar')
const count = measured(integer, 'count')
const barsOrNull = measured(orNull, 'bars', '; null where there are none')
const text = (description: string) => Type.String({ description })

/** What a webhook and a list of backtests show. */
export const ReportSummary = Type.Object(
  {
    trades: count('Closed trades.'),
    netProfit: money('Sum of the closed trades.', profit),
    netProfitPct: fraction('The same, of the initial capital.', profit),
    winRate: fraction('Winning trades of all closed ones, 0 without any.'),
    profitFactor: Type.Number({
      description: 'Gross profit over gross loss; 1,000,000 where nothing was lost, 0 without trades.',
    }),
    maxDrawdownPct: fraction('The deepest fall of equity from its peak, of the peak, within bars too.', loss),
    sharpe: Type.Number({ description: 'The Sharpe ratio; 0 where it is not defined.' }),
  },
  { $id: 'ReportSummary', description: 'Every number is finite.' },
)
export type ReportSummary = Wire<typeof ReportSummary>

export const ReportColumn = Type.Object(
  {
    netProfit: money('Gross profit less gross loss.', profit),
    netProfitPct: fraction('The same, of the initial capital.', profit),
    grossProfit: money('Sum of the winning trades.', profit),
    grossProfitPct: fraction('The same, of the initial capital.', profit),
    grossLoss: money('Sum of the losing trades, as a positive amount.', loss),
    grossLossPct: fraction('The same, of the initial capital.', loss),
    openProfit: money('Of the trades that are open at the end.', profit),
    openProfitPct: fraction('The same, of the initial capital.', profit),
    commissionPaid: money('Of all fills.'),
    profitFactor: ratioOrNull('Gross profit over gross loss.'),
    expectancy: moneyOrNull('Net profit a closed trade.', profit),
    trades: count('Closed trades.', { title: 'Closed trades' }),
    openTrades: count('Trades that are open at the end.'),
    winningTrades: count('Closed trades with a profit.'),
    losingTrades: count('Closed trades with a loss.'),
    evenTrades: count('Closed trades with neither.'),
    winRate: fractionOrNull('Winning trades of all closed ones.', { title: 'Profitable' }),
    averageTrade: moneyOrNull('Profit of the average closed trade.', profit),
    averageTradePct: fractionOrNull("Mean of the trades' own shares.", profit),
    averageWin: moneyOrNull('Profit of the average winning trade.', profit),
    averageWinPct: fractionOrNull("Mean of the winning trades' own shares.", profit),
    averageLoss: moneyOrNull('Loss of the average losing trade, as a positive amount.', loss),
    averageLossPct: fractionOrNull("Mean of the losing trades' own shares, positive.", loss),
    averageWinLossRatio: ratioOrNull('The average win over the average loss.', {
      title: 'Average win / loss',
    }),
    largestWin: moneyOrNull('The largest profit of a trade.', profit),
    largestWinPct: fractionOrNull("The largest of the trades' own shares, maybe another trade's.", profit),
    largestWinShare: fractionOrNull('The largest win, of the gross profit.', {
      title: 'Largest win of gross profit',
    }),
    largestLoss: moneyOrNull('The largest loss of a trade, as a positive amount.', loss),
    largestLossPct: fractionOrNull(
      "The largest loss among the trades' own shares, maybe another trade's.",
      loss,
    ),
    largestLossShare: fractionOrNull('The largest loss, of the gross loss.', {
      title: 'Largest loss of gross loss',
    }),
    averageBars: barsOrNull('How long the average trade lasted.'),
    averageBarsWin: barsOrNull('How long the average winning trade lasted.', { title: 'Average bars, won' }),
    averageBarsLoss: barsOrNull('How long the average losing trade lasted.', { title: 'Average bars, lost' }),
    maxWinsInRow: count('Winning trades in a row, the most.', { title: 'Wins in a row' }),
    maxLossesInRow: count('Losing trades in a row, the most.', { title: 'Losses in a row' }),
    maxContractsHeld: contracts('The most held at one time.', { title: 'Most contracts held' }),
    marginCalls: count('Trades that a margin call closed.'),
    averageRunup: moneyOrNull('How far the average trade rose above its entry.', {
      ...profit,
      title: 'Average run-up',
    }),
    averageDrawdown: moneyOrNull(
      'How far the average trade fell below its entry, as a positive amount.',
      loss,
    ),
  },
  { $id: 'ReportColumn', description: 'One column of the Strategy Tester: all, long or short trades.' },
)
export type ReportColumn = Wire<typeof ReportColumn>

export const ReportMonth = Type.Object(
  {
    month: text('`2026-11`, a calendar month in UTC.'),
    profit: money('Of the trades that closed in it.', profit),
    profitPct: fraction('The same, of the equity it began with.', profit),
    trades: count('Trades that closed in it.'),
  },
  { $id: 'ReportMonth' },
)
export type ReportMonth = Wire<typeof ReportMonth>

const ReportDrawdown = Type.Object(
  {
    start: time('When the peak was.'),
    trough: time('When the deepest point was.'),
    end: timeOrNull('When the peak was reached again; null = not yet.'),
    bars: count('Bars from the peak to the recovery, or to the end.'),
    depth: money('Peak less trough, at closes of bars.', loss),
    depthPct: fraction('The same, of the peak.', loss),
  },
  { $id: 'ReportDrawdown' },
)
export type ReportDrawdown = Wire<typeof ReportDrawdown>

export const ReportEquity = Type.Object(
  {
    final: money('At the last close.', { title: 'Final equity' }),
    netProfit: money('Sum of the closed trades.', profit),
    openProfit: money('Of the trades that are open at the end.', profit),
    maxDrawdown: money('The deepest fall from the peak, with the path inside the bars.', {
      ...loss,
      title: 'Max drawdown, within bars',
    }),
    maxDrawdownPct: fraction('The deepest fall as a share of its peak, with the path inside the bars.', loss),
    maxRunup: money('The highest rise from the trough, with the path inside the bars.', {
      ...profit,
      title: 'Max run-up, within bars',
    }),
    maxRunupPct: fraction(
      'The highest rise as a share of its trough, with the path inside the bars.',
      profit,
    ),
    maxDrawdownClose: money('The deepest fall from closed trade to closed trade.', {
      ...loss,
      title: 'Max drawdown, trade to trade',
    }),
    maxDrawdownClosePct: fraction('The same, of its peak.', loss),
    maxRunupClose: money('The highest rise from closed trade to closed trade.', {
      ...profit,
      title: 'Max run-up, trade to trade',
    }),
    maxRunupClosePct: fraction('The same, of its trough.', profit),
    sharpe: ratioOrNull('Mean return of a month (of a day below three months) over its deviation.'),
    sharpeAnnualized: ratioOrNull('The same for a year.', { title: 'Sharpe, a year' }),
    sortino: ratioOrNull('As the Sharpe ratio, over the deviation of losses alone.'),
    cagr: fractionOrNull('Growth a year of 365 days.', { ...profit, title: 'Return a year' }),
    buyHold: moneyOrNull(
      "Profit of buying with all of the capital at the first trade's entry, and holding.",
      { ...profit, title: 'Buy & hold' },
    ),
    buyHoldPct: fractionOrNull('The same, of the initial capital.', profit),
    returnOverDrawdown: ratioOrNull('Net profit over the maximal drawdown.', {
      title: 'Net profit / max drawdown',
    }),
    timeInMarketPct: fraction('Bars on which a position was held, of all.', { title: 'Time in the market' }),
    months: Type.Array(ReportMonth, { description: 'Every calendar month of the range, in order.' }),
    drawdowns: Type.Array(ReportDrawdown, { description: 'The deepest first, twenty at most.' }),
  },
  { $id: 'ReportEquity' },
)
export type ReportEquity = Wire<typeof ReportEquity>

export const ReportTrade = Type.Object(
  {
    n: Type.Integer({ description: 'From 1, as trades closed, then the open ones.' }),
    side: oneOf(['long', 'short']),
    qty: contracts('Its size, positive.', { title: 'Size' }),
    entryId: text("The entry order's id."),
    entryTime: time('Of the bar it was entered on.'),
    entryBar: bar('It was entered on.'),
    entryPrice: price('It was entered at.'),
    entryComment: nullable(text("The entry order's comment.")),
    exitId: text("The exit order's id; of an open trade `Open`, with the last bar's time and close."),
    exitTime: time('Of the bar it was left on.'),
    exitBar: bar('It was left on.'),
    exitPrice: price('It was left at.'),
    exitComment: nullable(text("The exit order's comment.")),
    profit: money('Net of commission.', profit),
    profitPct: fraction("The same, of the entry's value.", profit),
    commission: money('Of entry and exit.'),
    runup: money('The best moment: favourable excursion, ≥ 0, net of the entry commission.', {
      title: 'Run-up',
    }),
    runupPct: fraction("The same, of the entry's value."),
    drawdown: money('The worst moment: adverse excursion, ≤ 0.', { title: 'Drawdown' }),
    drawdownPct: fraction("The same, of the entry's value."),
    bars: count('Bars from entry to exit.'),
    cumProfit: money('Of this trade and all before it.', { title: 'Cumulative profit' }),
    cumProfitPct: fraction('The same, of the initial capital.'),
    status: oneOf(['closed', 'open']),
  },
  { $id: 'ReportTrade' },
)
export type ReportTrade = Wire<typeof ReportTrade>

const ReportOrder = Type.Object(
  {
    bar: bar('It filled on.'),
    time: time('Of that bar.'),
    id: text("The order's id."),
    side: oneOf(['buy', 'sell']),
    qty: contracts('Traded, positive.'),
    price: price('It filled at.'),
    comment: nullable(Type.String()),
    commission: money('Of this fill.'),
    position: contracts('Held after it, negative when short.'),
    alertMessage: nullable(text('What the script gave the order as `alert_message`.')),
  },
  { $id: 'ReportOrder', description: 'One execution.' },
)
export type ReportOrder = Wire<typeof ReportOrder>

const ReportLog = Type.Object(
  {
    bar: bar('It was written on.'),
    time: time('Of that bar.'),
    level: oneOf(['info', 'warning', 'error']),
    message: Type.String(),
  },
  { $id: 'ReportLog' },
)
type ReportLog = Wire<typeof ReportLog>

const ReportAlert = Type.Object(
  { bar: bar('It was called on.'), time: time('Of that bar.'), title: Type.String(), message: Type.String() },
  { $id: 'ReportAlert', description: 'One call of `alert()` or `alertcondition()`.' },
)
type ReportAlert = Wire<typeof ReportAlert>

const ReportScript = Type.Object(
  {
    title: Type.String(),
    shorttitle: Type.String(),
    pineVersion: Type.Integer(),
    kind: oneOf(['strategy', 'indicator', 'library']),
    overlay: Type.Boolean({ description: 'It draws over the price.' }),
    declaration: Type.Record(
      Type.String(),
      Type.Union([Type.Number(), Type.String(), Type.Boolean(), Type.Null()]),
      { description: 'Arguments of the declaration it ran with, by Pine name.' },
    ),
  },
  { $id: 'ReportScript' },
)

export const Report = Type.Object(
  {
    version: Type.Literal(1),
    engine: Type.Object({ name: Type.String(), version: Type.String() }),
    hash: text('SHA-256 of everything the numbers depend on: equal hash, equal report.'),
    script: ReportScript,
    inputs: Type.Record(Type.String(), Type.Unknown(), { description: 'Values of the inputs, by title.' }),
    symbol: Type.String(),
    exchange: Type.String(),
    interval: Type.String(),
    currency: text("The account's."),
    timezone: text("The exchange's, as IANA names it."),
    mintick: price('The smallest step of a price.'),
    pointvalue: money('What a point of price is worth a contract.'),
    range: Type.Object({
      from: timeOrNull('Of the first bar.'),
      to: timeOrNull('Of the last bar.'),
      bars: count('Bars it ran over.'),
    }),
    initialCapital: money('What it began with.'),
    summary: ReportSummary,
    all: ReportColumn,
    long: ReportColumn,
    short: ReportColumn,
    equity: ReportEquity,
    trades: Type.Array(ReportTrade),
    orders: Type.Array(ReportOrder, { description: 'Every execution, in order.' }),
    warnings: Type.Array(Type.Object({ code: Type.String(), message: Type.String() })),
    logs: Type.Array(ReportLog),
    alerts: Type.Array(ReportAlert),
    timings: Type.Object(
      { compileMs: Type.Number(), runMs: Type.Number(), bars: Type.Integer() },
      { description: 'The only part that differs between two runs of the same thing.' },
    ),
  },
  { $id: 'Report' },
)
export type Report = Wire<typeof Report>
