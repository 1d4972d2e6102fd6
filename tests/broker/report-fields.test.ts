// Every field of the report has a value here that was worked out by hand, from sixteen bars and eight trades.
//
// A point is worth 2, and every contract costs 0.50 at each of its ends. Signals are placed on the bar before.

import { describe, expect, test } from 'bun:test'
import type { BacktestRequest } from '../../src/broker/backtest.ts'
import { runBacktest } from '../../src/broker/run.ts'
import type { Report } from '../../src/wire/report.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { barsFrom, TEST_SYMBOL } from './drive.ts'

const DAY = 86_400_000
const START = Date.UTC(2024, 0, 1)
/** Eight days apart, so that the range is four months: bar 0 is 1 January, bar 15 is 30 April. */
const at = (bar: number) => START + bar * 8 * DAY

const BARS = barsFrom(
  `100/101/99/100   100/108/98/103  104/112/103/109 110/112/109/111
   120/123/116/118  118/130/117/124 125/126/124/125 125/125/118/119
   119/120/118/118  118/121/117/118 118.5/119/118/119 120/121/115/116
   116/118/110/111  110/111/109/110 112/116/111/114 114/117/113/115`,
  8 * DAY,
)

const SCRIPT = `//@version=6
strategy("Fields", initial_capital=10000, pyramiding=2,
     commission_type=strategy.commission.cash_per_contract, commission_value=0.5)
if bar_index == 0
    strategy.entry("A", strategy.long, qty=2)
if bar_index == 1
    strategy.entry("B", strategy.long, qty=1)
if bar_index == 2
    strategy.close_all()
if bar_index == 3
    strategy.entry("S", strategy.short, qty=4)
if bar_index == 5
    strategy.close_all()
if bar_index == 6
    strategy.entry("T", strategy.short, qty=1)
if bar_index == 7
    strategy.close("T")
if bar_index == 8
    strategy.entry("E", strategy.long, qty=1)
if bar_index == 9
    strategy.close("E")
if bar_index == 10
    strategy.entry("C", strategy.long, qty=3, comment="in", alert_message="bought")
if bar_index == 11
    strategy.entry("D", strategy.long, qty=1)
if bar_index == 12
    strategy.close_all(comment="out")
if bar_index == 13
    strategy.entry("O", strategy.long, qty=3)
`

const REQUEST: BacktestRequest = {
  source: SCRIPT,
  inputs: {},
  bars: BARS,
  symbol: { ...TEST_SYMBOL, pointValue: 2 },
  interval: '1d',
  limits: DEFAULT_LIMITS,
  series: () => null,
}
const { report } = runBacktest(REQUEST)

const TRADE_FIELDS = [
  'n',
  'side',
  'qty',
  'entryId',
  'entryBar',
  'entryPrice',
  'entryComment',
  'exitId',
  'exitBar',
  'exitPrice',
  'exitComment',
  'profit',
  'profitPct',
  'commission',
  'runup',
  'runupPct',
  'drawdown',
  'drawdownPct',
  'bars',
  'cumProfit',
  'cumProfitPct',
  'status',
] as const
const ALL = 'Close position order'
// A contract's value at its entry is price × 2; percentages are of that. Excursions bear the entry's commission only.
const TRADES: readonly (readonly unknown[])[] = [
  // 4 a point: +10 points, −2 in commission; the bars saw 112 and 98.
  [
    1,
    'long',
    2,
    'A',
    1,
    100,
    null,
    ALL,
    3,
    110,
    null,
    38,
    38 / 400,
    2,
    47,
    47 / 400,
    -9,
    -9 / 400,
    3,
    38,
    0.0038,
    'closed',
  ],
  // 2 a point: +6, −1; 112 and 103.
  [
    2,
    'long',
    1,
    'B',
    2,
    104,
    null,
    ALL,
    3,
    110,
    null,
    11,
    11 / 208,
    1,
    15.5,
    15.5 / 208,
    -2.5,
    -2.5 / 208,
    2,
    49,
    0.0049,
    'closed',
  ],
  // 8 a point: −5, −4; 116 and 130.
  [
    3,
    'short',
    4,
    'S',
    4,
    120,
    null,
    ALL,
    6,
    125,
    null,
    -44,
    -44 / 960,
    4,
    30,
    30 / 960,
    -82,
    -82 / 960,
    3,
    5,
    0.0005,
    'closed',
  ],
  // 2 a point: +6, −1; 118 and 125.
  [
    4,
    'short',
    1,
    'T',
    7,
    125,
    null,
    'Close entry(s) order T',
    8,
    119,
    null,
    11,
    11 / 250,
    1,
    13.5,
    13.5 / 250,
    -0.5,
    -0.5 / 250,
    2,
    16,
    0.0016,
    'closed',
  ],
  // 2 a point: +0.5, −1: even. 121 and 117.
  [
    5,
    'long',
    1,
    'E',
    9,
    118,
    null,
    'Close entry(s) order E',
    10,
    118.5,
    null,
    0,
    0,
    1,
    5.5,
    5.5 / 236,
    -2.5,
    -2.5 / 236,
    2,
    16,
    0.0016,
    'closed',
  ],
  // 6 a point: −10, −3; 121 and 110.
  [
    6,
    'long',
    3,
    'C',
    11,
    120,
    'in',
    ALL,
    13,
    110,
    'out',
    -63,
    -63 / 720,
    3,
    4.5,
    4.5 / 720,
    -61.5,
    -61.5 / 720,
    3,
    -47,
    -0.0047,
    'closed',
  ],
  // 2 a point: −6, −1; 118 and 110.
  [
    7,
    'long',
    1,
    'D',
    12,
    116,
    null,
    ALL,
    13,
    110,
    'out',
    -13,
    -13 / 232,
    1,
    3.5,
    3.5 / 232,
    -12.5,
    -12.5 / 232,
    2,
    -60,
    -0.006,
    'closed',
  ],
  // 6 a point, still open at the last close: +3, −1.50; 117 and 111.
  [
    8,
    'long',
    3,
    'O',
    14,
    112,
    null,
    'Open',
    15,
    115,
    null,
    16.5,
    16.5 / 672,
    1.5,
    28.5,
    28.5 / 672,
    -7.5,
    -7.5 / 672,
    2,
    -43.5,
    -0.00435,
    'open',
  ],
]

const sum = (...values: number[]) => values.reduce((a, b) => a + b, 0)
const mean = (...values: number[]) => sum(...values) / values.length

const COLUMNS: Readonly<Record<keyof Report['all'], readonly [all: unknown, long: unknown, short: unknown]>> =
  {
    netProfit: [-60, -27, -33],
    netProfitPct: [-0.006, -0.0027, -0.0033],
    grossProfit: [38 + 11 + 11, 38 + 11, 11],
    grossProfitPct: [0.006, 0.0049, 0.0011],
    grossLoss: [44 + 63 + 13, 63 + 13, 44],
    grossLossPct: [0.012, 0.0076, 0.0044],
    openProfit: [16.5, 16.5, 0],
    openProfitPct: [0.00165, 0.00165, 0],
    commissionPaid: [14.5, 9.5, 5],
    profitFactor: [60 / 120, 49 / 76, 11 / 44],
    expectancy: [-60 / 7, -27 / 5, -33 / 2],
    trades: [7, 5, 2],
    openTrades: [1, 1, 0],
    winningTrades: [3, 2, 1],
    losingTrades: [3, 2, 1],
    evenTrades: [1, 1, 0],
    winRate: [3 / 7, 2 / 5, 1 / 2],
    averageTrade: [-60 / 7, -27 / 5, -33 / 2],
    averageTradePct: [
      mean(38 / 400, 11 / 208, -44 / 960, 11 / 250, 0, -63 / 720, -13 / 232),
      mean(38 / 400, 11 / 208, 0, -63 / 720, -13 / 232),
      mean(-44 / 960, 11 / 250),
    ],
    averageWin: [20, 24.5, 11],
    averageWinPct: [mean(38 / 400, 11 / 208, 11 / 250), mean(38 / 400, 11 / 208), 11 / 250],
    averageLoss: [40, 38, 44],
    averageLossPct: [mean(44 / 960, 63 / 720, 13 / 232), mean(63 / 720, 13 / 232), 44 / 960],
    averageWinLossRatio: [20 / 40, 24.5 / 38, 11 / 44],
    largestWin: [38, 38, 11],
    largestWinPct: [38 / 400, 38 / 400, 11 / 250],
    largestWinShare: [38 / 60, 38 / 49, 1],
    largestLoss: [63, 63, 44],
    largestLossPct: [63 / 720, 63 / 720, 44 / 960],
    largestLossShare: [63 / 120, 63 / 76, 1],
    averageBars: [17 / 7, 12 / 5, 5 / 2],
    averageBarsWin: [7 / 3, 5 / 2, 2],
    averageBarsLoss: [8 / 3, 5 / 2, 3],
    maxWinsInRow: [2, 2, 1],
    maxLossesInRow: [2, 2, 1],
    maxContractsHeld: [4, 4, 4],
    marginCalls: [0, 0, 0],
    averageRunup: [mean(47, 15.5, 30, 13.5, 5.5, 4.5, 3.5), mean(47, 15.5, 5.5, 4.5, 3.5), mean(30, 13.5)],
    averageDrawdown: [mean(9, 2.5, 82, 0.5, 2.5, 61.5, 12.5), mean(9, 2.5, 2.5, 61.5, 12.5), mean(82, 0.5)],
  }

// Each month's profit over the equity it began with: 10,000, then 10,049, 10,005 and 10,016.
const MONTHS = [49 / 10_000, -44 / 10_049, 11 / 10_005, -76 / 10_016]
/** What is open counts to the last. */
const RETURNS = [...MONTHS.slice(0, 3), (-76 + 16.5) / 10_016]
/** Two per cent a year. */
const FREE = 0.02 / 12
const AVERAGE = mean(...RETURNS)
const SHARPE = (AVERAGE - FREE) / Math.sqrt(mean(...RETURNS.map((value) => (value - AVERAGE) ** 2)))
const BELOW = Math.sqrt(mean(...RETURNS.map((value) => (value < FREE ? (value - FREE) ** 2 : 0))))

const EQUITY: Readonly<Record<keyof Report['equity'], unknown>> = {
  final: 10_000 - 60 + 16.5,
  netProfit: -60,
  openProfit: 16.5,
  // From 10,049 after A and B to the low of bar 14, at which O has lost 6 and its commission: 9,940 − 7.50.
  maxDrawdown: 10_049 - 9932.5,
  maxDrawdownPct: 116.5 / 10_049,
  // From 9,998.50, when the two commissions of A and B were paid, to S at 116: 10,049 − 2 + 8 · 4.
  maxRunup: 10_079 - 9998.5,
  maxRunupPct: 80.5 / 9998.5,
  // At exits only: 10,049 down to 9,940, and up from 10,000 to 10,049.
  maxDrawdownClose: 109,
  maxDrawdownClosePct: 109 / 10_049,
  maxRunupClose: 49,
  maxRunupClosePct: 0.0049,
  sharpe: SHARPE,
  sharpeAnnualized: SHARPE * Math.sqrt(12),
  sortino: (AVERAGE - FREE) / BELOW,
  cagr: (9956.5 / 10_000) ** (365 / 120) - 1,
  // From the first entry, at 100, to the last close, at 115.
  buyHold: 1500,
  buyHoldPct: 0.15,
  returnOverDrawdown: -60 / 116.5,
  // At the closes of bars 1, 2, 4, 5, 7, 9, 11, 12, 14 and 15.
  timeInMarketPct: 10 / 16,
  months: ['2024-01', '2024-02', '2024-03', '2024-04'].map((month, i) => ({
    month,
    profit: [49, -44, 11, -76][i],
    profitPct: MONTHS[i],
    trades: [2, 1, 2, 2][i],
  })),
  // Bar 4 closes at 10,047 + 8 · 2, bar 13 at 9,940.
  drawdowns: [{ start: at(4), trough: at(13), end: null, bars: 11, depth: 123, depthPct: 123 / 10_063 }],
}

/** Bar, id, side, quantity, price, comment, commission, position after it, alert message. */
const ORDERS: readonly (readonly unknown[])[] = [
  [1, 'A', 'buy', 2, 100, null, 1, 2, null],
  [2, 'B', 'buy', 1, 104, null, 0.5, 3, null],
  [3, ALL, 'sell', 3, 110, null, 1.5, 0, null],
  [4, 'S', 'sell', 4, 120, null, 2, -4, null],
  [6, ALL, 'buy', 4, 125, null, 2, 0, null],
  [7, 'T', 'sell', 1, 125, null, 0.5, -1, null],
  [8, 'Close entry(s) order T', 'buy', 1, 119, null, 0.5, 0, null],
  [9, 'E', 'buy', 1, 118, null, 0.5, 1, null],
  [10, 'Close entry(s) order E', 'sell', 1, 118.5, null, 0.5, 0, null],
  [11, 'C', 'buy', 3, 120, 'in', 1.5, 3, 'bought'],
  [12, 'D', 'buy', 1, 116, null, 0.5, 4, null],
  [13, ALL, 'sell', 4, 110, 'out', 2, 0, null],
  [14, 'O', 'buy', 3, 112, null, 1.5, 3, null],
]

/** Numbers agree to nine decimals: the order of additions may differ. */
function near(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : expect.closeTo(value, 9)
  if (Array.isArray(value)) return value.map(near)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, near(one)]))
}

/** Sums of fractions that come to a whole number may be a hair beside it. */
function rounded(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, one: unknown) => (typeof one === 'number' ? Number(one.toPrecision(13)) : one)),
  ) as unknown
}

describe('the report’s', () => {
  for (const [i, name] of (['all', 'long', 'short'] as const).entries())
    for (const [field, values] of Object.entries(COLUMNS))
      test(`${name}.${field}`, () => {
        expect(rounded(report[name][field as keyof Report['all']])).toEqual(near(values[i]) as never)
      })

  for (const [field, value] of Object.entries(EQUITY))
    test(`equity.${field}`, () => {
      expect(rounded(report.equity[field as keyof Report['equity']])).toEqual(near(value) as never)
    })

  test('trades, one by one (B1, D20, J1, J2)', () => {
    for (const [i, values] of TRADES.entries()) {
      const expected = Object.fromEntries(TRADE_FIELDS.map((name, k) => [name, near(values[k])]))
      const { entryBar, exitBar } = report.trades[i]!
      expect(rounded(report.trades[i])).toEqual({
        ...expected,
        entryTime: at(entryBar),
        exitTime: at(exitBar),
      })
    }
    expect(report.trades).toHaveLength(TRADES.length)
  })

  test('orders, one by one', () => {
    const rows: readonly unknown[] = report.orders.map((order) => Object.values(order))
    expect(rows).toEqual(ORDERS.map(([bar, ...rest]) => [bar, at(bar as number), ...rest]))
    expect(Object.keys(report.orders[0]!)).toEqual(
      'bar time id side qty price comment commission position alertMessage'.split(' '),
    )
  })

  test('summary', () => {
    expect(report.summary).toEqual({
      trades: 7,
      netProfit: -60,
      netProfitPct: -0.006,
      winRate: 3 / 7,
      profitFactor: 0.5,
      maxDrawdownPct: 116.5 / 10_049,
      sharpe: report.equity.sharpe!,
    })
  })

  test('head says what was run on what', () => {
    const { hash, script, ...rest } = report
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(script).toMatchObject({
      title: 'Fields',
      shorttitle: 'Fields',
      pineVersion: 6,
      kind: 'strategy',
      overlay: false,
    })
    expect(rest).toMatchObject({
      version: 1,
      engine: { name: 'chartroom' },
      inputs: {},
      symbol: 'TEST',
      exchange: 'TEST',
      interval: '1d',
      currency: 'USD',
      timezone: 'UTC',
      mintick: 0.01,
      pointvalue: 2,
      range: { from: at(0), to: at(15), bars: 16 },
      initialCapital: 10_000,
      warnings: [],
      logs: [],
      alerts: [],
      timings: { compileMs: 0, runMs: 0, bars: 16 },
    })
  })

  test('tables above have every field, and no other', () => {
    expect(Object.keys(COLUMNS).sort()).toEqual(Object.keys(report.all).sort())
    expect(Object.keys(EQUITY).sort()).toEqual(Object.keys(report.equity).sort())
    expect([...TRADE_FIELDS, 'entryTime', 'exitTime'].sort()).toEqual(Object.keys(report.trades[0]!).sort())
  })
})

/** What the script itself reads on the last bar, in the account's currency and in per cent. */
const READ: Readonly<Record<string, number | string>> = {
  'strategy.equity': 9956.5,
  'strategy.netprofit': -61.5,
  'strategy.netprofit_percent': -0.615,
  'strategy.openprofit': 18,
  'strategy.grossprofit': 60,
  'strategy.grossprofit_percent': 0.6,
  'strategy.grossloss': 121.5,
  'strategy.grossloss_percent': 1.215,
  'strategy.wintrades': 3,
  'strategy.losstrades': 3,
  'strategy.eventrades': 1,
  'strategy.opentrades': 1,
  'strategy.closedtrades': 7,
  'strategy.closedtrades.first_index': 0,
  'strategy.position_size': 3,
  'strategy.position_avg_price': 112,
  'strategy.position_entry_name': 'O',
  'strategy.account_currency': 'USD',
  'strategy.initial_capital': 10_000,
  'strategy.max_drawdown': 116.5,
  'strategy.max_runup': 80.5,
  'strategy.max_contracts_held_all': 4,
  'strategy.max_contracts_held_long': 4,
  'strategy.max_contracts_held_short': 4,
  // Three contracts at 112, a point of 2.
  'strategy.opentrades.capital_held': 672,
  'strategy.avg_trade': -60 / 7,
  'strategy.avg_winning_trade': 20,
  'strategy.avg_losing_trade': 40,
  'strategy.opentrades.entry_id(0)': 'O',
  'strategy.opentrades.entry_bar_index(0)': 14,
  'strategy.opentrades.entry_time(0)': at(14),
  'strategy.opentrades.entry_price(0)': 112,
  'strategy.opentrades.size(0)': 3,
  'strategy.opentrades.profit(0)': 16.5,
  'strategy.opentrades.commission(0)': 1.5,
  'strategy.opentrades.max_runup(0)': 28.5,
  'strategy.opentrades.max_drawdown(0)': 7.5,
  'strategy.closedtrades.entry_id(2)': 'S',
  'strategy.closedtrades.entry_comment(5)': 'in',
  'strategy.closedtrades.entry_bar_index(2)': 4,
  'strategy.closedtrades.entry_time(2)': at(4),
  'strategy.closedtrades.entry_price(2)': 120,
  'strategy.closedtrades.size(2)': -4,
  'strategy.closedtrades.profit(2)': -44,
  'strategy.closedtrades.profit_percent(2)': -4400 / 960,
  'strategy.closedtrades.commission(2)': 4,
  'strategy.closedtrades.max_runup(2)': 30,
  'strategy.closedtrades.max_runup_percent(2)': 3000 / 960,
  'strategy.closedtrades.max_drawdown(2)': 82,
  'strategy.closedtrades.max_drawdown_percent(2)': 8200 / 960,
  'strategy.closedtrades.exit_id(3)': 'Close entry(s) order T',
  'strategy.closedtrades.exit_comment(5)': 'out',
  'strategy.closedtrades.exit_bar_index(2)': 6,
  'strategy.closedtrades.exit_time(2)': at(6),
  'strategy.closedtrades.exit_price(2)': 125,
}

test('a script reads the same while it runs', () => {
  const lines = Object.entries(READ).map(([name, value]) =>
    typeof value === 'string' ? `    log.info(${name})` : `    log.info(str.tostring(${name}, "#.########"))`,
  )
  const { report: read } = runBacktest({
    ...REQUEST,
    source: `${SCRIPT}if barstate.islast\n${lines.join('\n')}\n`,
  })
  const names = Object.keys(READ)
  expect(read.logs).toHaveLength(names.length)
  for (const [i, { message }] of read.logs.entries()) {
    const expected = READ[names[i]!]!
    if (typeof expected === 'string') expect([names[i], message]).toEqual([names[i], expected])
    else expect([names[i], Number(message)]).toEqual([names[i], expect.closeTo(expected, 6)])
  }
})

test('the tracks of equity and position have a value a bar', () => {
  const { tracks } = runBacktest(REQUEST)
  const dataOf = (id: string) =>
    (JSON.parse(JSON.stringify(tracks.find((track) => track.id === id))) as { data: number[] }).data
  expect(dataOf('position')).toEqual([0, 2, 3, 0, -4, -4, 0, -1, 0, 1, 0, 3, 4, 0, 3, 3])
  expect(dataOf('equity')).toEqual([
    10_000, 10_011, 10_044.5, 10_049, 10_063, 10_015, 10_005, 10_016.5, 10_016, 10_015.5, 10_016, 9990.5,
    9950, 9940, 9950.5, 9956.5,
  ])
})

test('what a trade saw of the bar it was entered in begins at its entry', () => {
  const { report: read } = runBacktest({
    ...REQUEST,
    bars: barsFrom('100/100/100/100 100/103/99/102 102/104/101.5/103 103/103/103/103 103/103/103/103'),
    source: `//@version=6
strategy("Stop")
if bar_index == 0
    strategy.entry("L", strategy.long, qty=1, stop=101)
if bar_index == 2
    strategy.close("L")
`,
  })
  // Up to 104, two a point; the low of 99 was before the stop at 101.
  expect(read.trades.map(({ runup, drawdown }) => [runup, drawdown])).toEqual([[6, 0]])
})

test('what a trade saw of the bar it was closed in ends at its exit', () => {
  const { report: read } = runBacktest({
    ...REQUEST,
    bars: barsFrom('100/100/100/100 100/101/99/100 100/110/97/104 104/104/104/104 104/104/104/104'),
    source: `//@version=6
strategy("Limit")
if bar_index == 0
    strategy.entry("L", strategy.long, qty=1)
    strategy.exit("X", "L", limit=105)
if bar_index == 3
    log.info("{0} {1}", strategy.closedtrades.max_runup(0), strategy.closedtrades.max_drawdown(0))
`,
  })
  // Down to 97 first, then up to the limit at 105 and no further, two a point, less half a dollar for the entry.
  expect(read.trades.map(({ runup, drawdown }) => [runup, drawdown])).toEqual([[10, -6]])
  expect(read.logs.map(({ message }) => message)).toEqual(['10 6'])
})
