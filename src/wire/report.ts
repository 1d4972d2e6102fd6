// The report of a backtest, every field with its unit and meaning.
//
// Times are UTC milliseconds. Shares are fractions (0.05 is five per cent), those named `…Pct` and `winRate` too. Money is in
// the account's currency and prices in the symbol's. What has no value is null; a 0 is a real zero.

import { Type } from '@sinclair/typebox'
import { nullable, oneOf, type Wire } from './schema.ts'

const described =
  <S>(make: (options: { description: string }) => S, unit: string) =>
  (meaning: string): S =>
    make({ description: `${meaning} ${unit}` })

const number = (options: { description: string }) => Type.Number(options)
const integer = (options: { description: string }) => Type.Integer(options)
const maybe = (options: { description: string }) => nullable(Type.Number(options))

const money = described(number, 'In account currency.')
const moneyOrNull = described(maybe, 'In account currency; null where there is none.')
const fraction = described(number, 'A fraction.')
const fractionOrNull = described(maybe, 'A fraction; null where there is none.')
const ratioOrNull = described(maybe, 'A ratio; null where there is none.')
const price = described(number, "In the symbol's currency.")
const contracts = described(number, 'In contracts.')
const time = described(number, 'UTC milliseconds.')
const timeOrNull = described(maybe, 'UTC milliseconds; null where there is none.')
const bar = described(integer, 'Index of a bar of the run.')
const count = described(integer, 'A number of them.')
const barsOrNull = described(maybe, 'In bars; null where there are none.')
const text = (description: string) => Type.String({ description })

/** What a webhook and a list of backtests show. */
export const ReportSummary = Type.Object(
  {
    trades: count('Closed trades.'),
    netProfit: money('Sum of the closed trades.'),
    netProfitPct: fraction('The same, of the initial capital.'),
    winRate: fraction('Winning trades of all closed ones, 0 without any.'),
    profitFactor: Type.Number({
      description: 'Gross profit over gross loss; 1,000,000 where nothing was lost, 0 without trades.',
    }),
    maxDrawdownPct: fraction('The deepest fall of equity from its peak, of the peak, within bars too.'),
    sharpe: Type.Number({ description: 'The Sharpe ratio; 0 where it is not defined.' }),
  },
  { $id: 'ReportSummary', description: 'Every number is finite.' },
)
export type ReportSummary = Wire<typeof ReportSummary>

export const ReportColumn = Type.Object(
  {
    netProfit: money('Gross profit less gross loss.'),
    netProfitPct: fraction('The same, of the initial capital.'),
    grossProfit: money('Sum of the winning trades.'),
    grossProfitPct: fraction('The same, of the initial capital.'),
    grossLoss: money('Sum of the losing trades, as a positive amount.'),
    grossLossPct: fraction('The same, of the initial capital.'),
    openProfit: money('Of the trades that are open at the end.'),
    openProfitPct: fraction('The same, of the initial capital.'),
    commissionPaid: money('Of all fills.'),
    profitFactor: ratioOrNull('Gross profit over gross loss.'),
    expectancy: moneyOrNull('Net profit a closed trade.'),
    trades: count('Closed trades.'),
    openTrades: count('Trades that are open at the end.'),
    winningTrades: count('Closed trades with a profit.'),
    losingTrades: count('Closed trades with a loss.'),
    evenTrades: count('Closed trades with neither.'),
    winRate: fractionOrNull('Winning trades of all closed ones.'),
    averageTrade: moneyOrNull('Profit of the average closed trade.'),
    averageTradePct: fractionOrNull("Mean of the trades' own shares."),
    averageWin: moneyOrNull('Profit of the average winning trade.'),
    averageWinPct: fractionOrNull("Mean of the winning trades' own shares."),
    averageLoss: moneyOrNull('Loss of the average losing trade, as a positive amount.'),
    averageLossPct: fractionOrNull("Mean of the losing trades' own shares, positive."),
    averageWinLossRatio: ratioOrNull('The average win over the average loss.'),
    largestWin: moneyOrNull('The largest profit of a trade.'),
    largestWinPct: fractionOrNull("The largest of the trades' own shares, maybe another trade's."),
    largestWinShare: fractionOrNull('The largest win, of the gross profit.'),
    largestLoss: moneyOrNull('The largest loss of a trade, as a positive amount.'),
    largestLossPct: fractionOrNull("The largest loss among the trades' own shares, maybe another trade's."),
    largestLossShare: fractionOrNull('The largest loss, of the gross loss.'),
    averageBars: barsOrNull('How long the average trade lasted.'),
    averageBarsWin: barsOrNull('How long the average winning trade lasted.'),
    averageBarsLoss: barsOrNull('How long the average losing trade lasted.'),
    maxWinsInRow: count('Winning trades in a row, the most.'),
    maxLossesInRow: count('Losing trades in a row, the most.'),
    maxContractsHeld: contracts('The most held at one time.'),
    marginCalls: count('Trades that a margin call closed.'),
    averageRunup: moneyOrNull('How far the average trade rose above its entry.'),
    averageDrawdown: moneyOrNull('How far the average trade fell below its entry, as a positive amount.'),
  },
  { $id: 'ReportColumn', description: 'One column of the Strategy Tester: all, long or short trades.' },
)
export type ReportColumn = Wire<typeof ReportColumn>

const ReportMonth = Type.Object(
  {
    month: text('`2026-11`, a calendar month in UTC.'),
    profit: money('Of the trades that closed in it.'),
    profitPct: fraction('The same, of the equity it began with.'),
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
    depth: money('Peak less trough, at closes of bars.'),
    depthPct: fraction('The same, of the peak.'),
  },
  { $id: 'ReportDrawdown' },
)
export type ReportDrawdown = Wire<typeof ReportDrawdown>

export const ReportEquity = Type.Object(
  {
    final: money('At the last close.'),
    netProfit: money('Sum of the closed trades.'),
    openProfit: money('Of the trades that are open at the end.'),
    maxDrawdown: money('The deepest fall from the peak, with the path inside the bars.'),
    maxDrawdownPct: fraction('The deepest fall as a share of its peak, with the path inside the bars.'),
    maxRunup: money('The highest rise from the trough, with the path inside the bars.'),
    maxRunupPct: fraction('The highest rise as a share of its trough, with the path inside the bars.'),
    maxDrawdownClose: money('The deepest fall from closed trade to closed trade.'),
    maxDrawdownClosePct: fraction('The same, of its peak.'),
    maxRunupClose: money('The highest rise from closed trade to closed trade.'),
    maxRunupClosePct: fraction('The same, of its trough.'),
    sharpe: ratioOrNull('Mean return of a month (of a day below three months) over its deviation.'),
    sharpeAnnualized: ratioOrNull('The same for a year.'),
    sortino: ratioOrNull('As the Sharpe ratio, over the deviation of losses alone.'),
    cagr: fractionOrNull('Growth a year of 365 days.'),
    buyHold: moneyOrNull("Profit of buying with all of the capital at the first trade's entry, and holding."),
    buyHoldPct: fractionOrNull('The same, of the initial capital.'),
    returnOverDrawdown: ratioOrNull('Net profit over the maximal drawdown.'),
    timeInMarketPct: fraction('Bars on which a position was held, of all.'),
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
    qty: contracts('Its size, positive.'),
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
    profit: money('Net of commission.'),
    profitPct: fraction("The same, of the entry's value."),
    commission: money('Of entry and exit.'),
    runup: money('The best moment: favourable excursion, ≥ 0, net of the entry commission.'),
    runupPct: fraction("The same, of the entry's value."),
    drawdown: money('The worst moment: adverse excursion, ≤ 0.'),
    drawdownPct: fraction("The same, of the entry's value."),
    bars: count('Bars from entry to exit.'),
    cumProfit: money('Of this trade and all before it.'),
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
export type ReportLog = Wire<typeof ReportLog>

const ReportAlert = Type.Object(
  { bar: bar('It was called on.'), time: time('Of that bar.'), title: Type.String(), message: Type.String() },
  { $id: 'ReportAlert', description: 'One call of `alert()` or `alertcondition()`.' },
)
export type ReportAlert = Wire<typeof ReportAlert>

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
