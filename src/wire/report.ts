// The report of a backtest, every field with its unit and meaning.
//
// Times are UTC milliseconds. Shares are fractions (0.05 is five per cent), those named `…Pct` and `winRate` too. Money is
// in the account's currency and prices in the symbol's. A missing value is null; a 0 is a real zero.

import { Type, type TSchema } from '@sinclair/typebox'
import { nullable, oneOf, type Wire } from './schema.ts'

/** The unit of a number, which decides its format. Its words end the number's description; a count needs none. */
const UNITS = {
  money: 'In account currency',
  price: "In the symbol's currency",
  fraction: 'A fraction',
  ratio: 'A ratio',
  contracts: 'In contracts',
  bars: 'In bars',
  bar: 'As its index among the bars of the run',
  count: '',
  time: 'UTC milliseconds',
  duration: 'In milliseconds',
} as const
export type Unit = keyof typeof UNITS

/** How people read a number. */
export interface Shown {
  /** A profit is good above zero and bad below; a loss is a positive amount that people read as a negative one. */
  readonly means?: 'profit' | 'loss'
  /** What people call it, if that differs from the field's name. */
  readonly title?: string
  /** The column of TradingView's list of trades that has it; `$` stands for the account's currency. */
  readonly heading?: string
}
const profit = { means: 'profit' } as const
const loss = { means: 'loss' } as const

const measured =
  <S extends TSchema>(make: (options: object) => S, unit: Unit, ending = '') =>
  (meaning: string, shown: Shown = {}): S =>
    make({ description: UNITS[unit] ? `${meaning} ${UNITS[unit]}${ending}.` : meaning, unit, ...shown })
const number = (options: object) => Type.Number(options)
const integer = (options: object) => Type.Integer(options)
const orNull = (options: object) => nullable(Type.Number(options))

const money = measured(number, 'money')
const moneyOrNull = measured(orNull, 'money', '; null where there is none')
const fraction = measured(number, 'fraction')
const fractionOrNull = measured(orNull, 'fraction', '; null where there is none')
const ratio = measured(number, 'ratio')
const ratioOrNull = measured(orNull, 'ratio', '; null where there is none')
const price = measured(number, 'price')
const contracts = measured(number, 'contracts')
const time = measured(number, 'time')
const timeOrNull = measured(orNull, 'time', '; null where there is none')
const bar = measured(integer, 'bar')
const count = measured(integer, 'count')
const duration = measured(number, 'duration')
const barsOrNull = measured(orNull, 'bars', '; null where there are none')
const text = (description: string) => Type.String({ description })

/** The figures in a webhook and in a list of backtests. */
export const ReportSummary = Type.Object(
  {
    trades: count('Number of closed trades.'),
    netProfit: money('Sum of the profits of all closed trades.', profit),
    netProfitPct: fraction('Net profit as a share of the initial capital.', profit),
    winRate: fraction('Share of the closed trades that won; 0 without trades.'),
    profitFactor: ratio('Gross profit over gross loss; 1,000,000 where nothing was lost, 0 without trades.'),
    maxDrawdownPct: fraction(
      'The deepest fall below the most that closed trades had brought, as a share of that, within bars too.',
      loss,
    ),
    sharpe: ratio('The Sharpe ratio; 0 where it is not defined.'),
  },
  { $id: 'ReportSummary', description: 'Every number is finite.' },
)
export type ReportSummary = Wire<typeof ReportSummary>

export const ReportColumn = Type.Object(
  {
    netProfit: money('Gross profit less gross loss.', profit),
    netProfitPct: fraction('Net profit as a share of the initial capital.', profit),
    grossProfit: money('Sum of the profits of the winning trades.', profit),
    grossProfitPct: fraction('Gross profit as a share of the initial capital.', profit),
    grossLoss: money('Sum of the losses of the losing trades, as a positive amount.', loss),
    grossLossPct: fraction('Gross loss as a share of the initial capital.', loss),
    openProfit: money('Profit of the trades that are open at the end.', profit),
    openProfitPct: fraction('Open profit as a share of the initial capital.', profit),
    commissionPaid: money('Commission of all fills.'),
    profitFactor: ratioOrNull('Gross profit over gross loss.'),
    expectancy: moneyOrNull('Net profit per closed trade.', profit),
    trades: count('Number of closed trades.', { title: 'Closed trades' }),
    openTrades: count('Number of trades that are open at the end.'),
    winningTrades: count('Number of closed trades with a profit.'),
    losingTrades: count('Number of closed trades with a loss.'),
    evenTrades: count('Number of closed trades with neither profit nor loss.'),
    winRate: fractionOrNull('Share of the closed trades that won.', { title: 'Profitable' }),
    averageTrade: moneyOrNull('Profit of the average closed trade.', profit),
    averageTradePct: fractionOrNull(
      "Mean of the trades' results, each as a share of its entry's value.",
      profit,
    ),
    averageWin: moneyOrNull('Profit of the average winning trade.', profit),
    averageWinPct: fractionOrNull(
      "Mean of the winning trades' profits, each as a share of its entry's value.",
      profit,
    ),
    averageLoss: moneyOrNull('Loss of the average losing trade, as a positive amount.', loss),
    averageLossPct: fractionOrNull(
      "Mean of the losing trades' losses, each as a positive share of its entry's value.",
      loss,
    ),
    averageWinLossRatio: ratioOrNull('The average win over the average loss.', {
      title: 'Average win / loss',
    }),
    largestWin: moneyOrNull('The largest profit of one trade.', profit),
    largestWinPct: fractionOrNull(
      "The largest profit as a share of its trade's entry value; it may be another trade's than `largestWin`.",
      profit,
    ),
    largestWinShare: fractionOrNull('The largest win as a share of the gross profit.', {
      title: 'Largest win of gross profit',
    }),
    largestLoss: moneyOrNull('The largest loss of one trade, as a positive amount.', loss),
    largestLossPct: fractionOrNull(
      "The largest loss as a positive share of its trade's entry value; it may be another trade's than `largestLoss`.",
      loss,
    ),
    largestLossShare: fractionOrNull('The largest loss as a share of the gross loss.', {
      title: 'Largest loss of gross loss',
    }),
    averageBars: barsOrNull('How long the average trade lasted.'),
    averageBarsWin: barsOrNull('How long the average winning trade lasted.', { title: 'Average bars, won' }),
    averageBarsLoss: barsOrNull('How long the average losing trade lasted.', { title: 'Average bars, lost' }),
    maxWinsInRow: count('The most winning trades in a row.', { title: 'Wins in a row' }),
    maxLossesInRow: count('The most losing trades in a row.', { title: 'Losses in a row' }),
    maxContractsHeld: contracts('The most contracts held at one time.', { title: 'Most contracts held' }),
    marginCalls: count('Number of trades that a margin call closed.'),
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
    profit: money('Profit of the trades that closed in the month.', profit),
    profitPct: fraction('The profit as a share of equity at the start of the month.', profit),
    trades: count('Number of trades that closed in the month.'),
  },
  { $id: 'ReportMonth' },
)
export type ReportMonth = Wire<typeof ReportMonth>

const ReportDrawdown = Type.Object(
  {
    start: time('Time of the peak.'),
    trough: time('Time of the deepest point.'),
    end: timeOrNull('Time when the peak was reached again.'),
    bars: count('Number of bars from the peak to the recovery, or to the end.'),
    depth: money('Peak less trough, both at closes of bars.', loss),
    depthPct: fraction('The depth as a share of the peak.', loss),
  },
  { $id: 'ReportDrawdown' },
)
export type ReportDrawdown = Wire<typeof ReportDrawdown>

export const ReportEquity = Type.Object(
  {
    final: money('Equity at the last close.', { title: 'Final equity' }),
    netProfit: money('Sum of the profits of all closed trades.', profit),
    openProfit: money('Profit of the trades that are open at the end.', profit),
    maxDrawdown: money(
      'The deepest fall of equity below the most that closed trades had brought, along the assumed path within bars, as TradingView counts it.',
      {
        ...loss,
        title: 'Max drawdown (TradingView)',
      },
    ),
    maxDrawdownPct: fraction('That fall as a share of what they had brought, with the initial capital.', {
      ...loss,
      title: 'Max drawdown (TradingView)',
    }),
    maxRunup: money('The highest rise of equity from its trough, along the assumed path within bars.', {
      ...profit,
      title: 'Max run-up, within bars',
    }),
    maxRunupPct: fraction(
      'The highest rise of equity as a share of its trough, along the assumed path within bars.',
      profit,
    ),
    maxDrawdownClose: money('The deepest fall of equity from its peak, looking only at closed trades.', {
      ...loss,
      title: 'Max drawdown, trade to trade',
    }),
    maxDrawdownClosePct: fraction('That fall as a share of its peak.', loss),
    maxRunupClose: money('The highest rise of equity from its trough, looking only at closed trades.', {
      ...profit,
      title: 'Max run-up, trade to trade',
    }),
    maxRunupClosePct: fraction('That rise as a share of its trough.', profit),
    sharpe: ratioOrNull(
      'Mean of the monthly returns (daily ones below three months), less the risk-free rate, over their standard deviation.',
    ),
    sharpeAnnualized: ratioOrNull('The Sharpe ratio for a year.', { title: 'Sharpe, a year' }),
    sortino: ratioOrNull('Like the Sharpe ratio, but over the deviation of the losses alone.'),
    cagr: fractionOrNull('Compound growth per year of 365 days.', { ...profit, title: 'Return a year' }),
    buyHold: moneyOrNull(
      "Profit of buying with all the capital at the first trade's entry and holding, as TradingView counts it: another first trade, another profit.",
      {
        ...profit,
        title: 'Buy & hold',
      },
    ),
    buyHoldPct: fractionOrNull('That profit as a share of the initial capital.', profit),
    returnOverDrawdown: ratioOrNull('Net profit over the maximal drawdown, as TradingView counts it.', {
      title: 'Net profit / max drawdown',
    }),
    timeInMarketPct: fraction('Share of the bars on which a position was held.', {
      title: 'Time in the market',
    }),
    months: Type.Array(ReportMonth, { description: 'Every calendar month of the range, in order.' }),
    drawdowns: Type.Array(ReportDrawdown, { description: 'The deepest first, twenty at most.' }),
  },
  { $id: 'ReportEquity' },
)
export type ReportEquity = Wire<typeof ReportEquity>

export const ReportTrade = Type.Object(
  {
    n: count('Number of the trade, from 1: in the order they closed, then the open ones.'),
    side: oneOf(['long', 'short'], 'Which way the trade bet.'),
    qty: contracts('Size of the trade, always positive.', { title: 'Size', heading: 'Size (qty)' }),
    entryId: text("The entry order's id."),
    entryTime: time('Time of the bar of the entry.'),
    entryBar: bar('The bar of the entry.'),
    entryPrice: price('Price of the entry.'),
    entryComment: nullable(text("The entry order's comment.")),
    exitId: text("The exit order's id. An open trade has `Open`, and the time and close of the last bar."),
    exitTime: time('Time of the bar of the exit.'),
    exitBar: bar('The bar of the exit.'),
    exitPrice: price('Price of the exit.'),
    exitComment: nullable(text("The exit order's comment.")),
    profit: money('Result net of commission.', { ...profit, heading: 'Net PnL $' }),
    profitPct: fraction("The result as a share of the entry's value.", {
      ...profit,
      heading: 'Return %',
    }),
    commission: money('Commission of entry and exit.', { heading: 'Commission $' }),
    runup: money('The best moment (favourable excursion), ≥ 0, net of the entry commission.', {
      title: 'Run-up',
      heading: 'Favorable excursion $',
    }),
    runupPct: fraction("The best moment as a share of the entry's value.", {
      heading: 'Favorable excursion %',
    }),
    drawdown: money('The worst moment (adverse excursion), ≤ 0.', {
      title: 'Drawdown',
      heading: 'Adverse excursion $',
    }),
    drawdownPct: fraction("The worst moment as a share of the entry's value.", {
      heading: 'Adverse excursion %',
    }),
    cumProfit: money('Profit of this trade and all before it.', {
      title: 'Cumulative profit',
      heading: 'Cumulative PnL $',
    }),
    cumProfitPct: fraction('That profit as a share of the initial capital.', {
      heading: 'Cumulative PnL %',
    }),
    bars: count('Number of bars from entry to exit.', { heading: 'Duration (bars)' }),
    status: oneOf(
      ['closed', 'open'],
      '`open`: it was not closed by the last bar, at whose close it is valued.',
    ),
  },
  { $id: 'ReportTrade' },
)
export type ReportTrade = Wire<typeof ReportTrade>

/** The columns of the list of trades as CSV, in their order. */
export function tradeHeadings(): readonly (readonly [heading: string, field: keyof ReportTrade])[] {
  return Object.entries(ReportTrade.properties).flatMap(([field, { heading }]) =>
    typeof heading === 'string' ? [[heading, field as keyof ReportTrade] as const] : [],
  )
}

export const ReportOrder = Type.Object(
  {
    bar: bar('The bar it filled on.'),
    time: time('Time of that bar.'),
    id: text("The order's id."),
    side: oneOf(['buy', 'sell'], 'Whether it bought or sold, to enter or to exit.'),
    qty: contracts('Size of the fill, always positive.'),
    price: price('Price of the fill.'),
    comment: nullable(text("The order's comment.")),
    commission: money('Commission of this fill.'),
    position: contracts('Position after it, negative when short.'),
    alertMessage: nullable(text('The `alert_message` that the script gave the order.')),
  },
  { $id: 'ReportOrder', description: 'One execution.' },
)
export type ReportOrder = Wire<typeof ReportOrder>

const ReportLog = Type.Object(
  {
    bar: bar('The bar it was written on.'),
    time: time('Time of that bar.'),
    level: oneOf(
      ['info', 'warning', 'error'],
      'Which of `log.info`, `log.warning` and `log.error` wrote it.',
    ),
    message: text('What was written.'),
  },
  { $id: 'ReportLog' },
)
type ReportLog = Wire<typeof ReportLog>

const ReportAlert = Type.Object(
  {
    bar: bar('The bar it was called on.'),
    time: time('Time of that bar.'),
    title: text('The title of an `alertcondition()`; empty for an `alert()`.'),
    message: text('What it says.'),
  },
  { $id: 'ReportAlert', description: 'One call of `alert()` or `alertcondition()`.' },
)
type ReportAlert = Wire<typeof ReportAlert>

const ReportScript = Type.Object(
  {
    title: text('The title in its declaration.'),
    shorttitle: text('The short title in its declaration, else the title.'),
    pineVersion: count('The version of Pine that it is written in.'),
    kind: oneOf(['strategy', 'indicator', 'library'], 'What it declares itself as.'),
    overlay: Type.Boolean({ description: 'Whether it draws over the prices.' }),
    declaration: Type.Record(
      Type.String(),
      Type.Union([Type.Number(), Type.String(), Type.Boolean(), Type.Null()]),
      { description: 'The arguments of its declaration, by their Pine names.' },
    ),
  },
  { $id: 'ReportScript' },
)

export const Report = Type.Object(
  {
    version: Type.Literal(1, { description: 'The version of this format.' }),
    engine: Type.Object({
      name: text('The program that made the report.'),
      version: text('Its version.'),
    }),
    asOf: Type.Optional(
      text(
        'The day of whose TradingView it is, such as `2026-09-24`: the newest change that is in force. Runs of versions that knew no days have none, and are as of before 24 September 2026.',
      ),
    ),
    hash: text('SHA-256 of everything the numbers depend on: equal hash, equal report.'),
    script: ReportScript,
    inputs: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The values of its inputs, by title.',
    }),
    symbol: text('The symbol that it ran on.'),
    exchange: text('Its exchange.'),
    interval: text('Length of its bars, such as `1h`.'),
    currency: text('Currency of the account.'),
    timezone: text('Time zone of the exchange, as IANA names it.'),
    mintick: price('The smallest step of prices.'),
    pointvalue: money('What one point is worth per contract.'),
    range: Type.Object({
      from: timeOrNull('Time of the first bar.'),
      to: timeOrNull('Time of the last bar.'),
      bars: count('Number of bars it ran over.'),
    }),
    initialCapital: money('Capital at the start.'),
    summary: ReportSummary,
    all: ReportColumn,
    long: ReportColumn,
    short: ReportColumn,
    equity: ReportEquity,
    trades: Type.Array(ReportTrade),
    orders: Type.Array(ReportOrder, { description: 'Every execution, in order.' }),
    warnings: Type.Array(
      Type.Object({ code: text('Names the kind of warning.'), message: text('What to know about the run.') }),
    ),
    logs: Type.Array(ReportLog),
    alerts: Type.Array(ReportAlert),
    timings: Type.Object(
      {
        compileMs: duration('Time that compiling took.'),
        runMs: duration('Time that the run took.'),
        bars: count('Number of bars that it ran on.'),
      },
      { description: 'The only part that differs between two runs of the same thing.' },
    ),
  },
  { $id: 'Report' },
)
export type Report = Wire<typeof Report>

/** The names of the figures of each part of a report. */
export function figureFields() {
  const fieldsOf = ({ properties }: { readonly properties: object }) =>
    Object.keys(properties).filter((name) => name !== 'months' && name !== 'drawdowns')
  return { summary: fieldsOf(ReportSummary), equity: fieldsOf(ReportEquity), column: fieldsOf(ReportColumn) }
}
