// The list of trades as we write it is TradingView's: what reads one reads the other.

import { expect, test } from 'bun:test'
import { parseTradeList } from '../../src/broker/exported/trade-list.ts'
import type { ReportTrade } from '../../src/wire/report.ts'
import { tradeListCsv } from '../../src/wire/trade-list.ts'

const HOUR = 3_600_000
const LONG: ReportTrade = {
  n: 1,
  side: 'long',
  qty: 0.5,
  entryId: 'L',
  entryTime: Date.UTC(2026, 9, 1, 12, 15),
  entryBar: 1,
  entryPrice: 100.25,
  entryComment: '=1+1',
  exitId: 'TP',
  exitTime: Date.UTC(2026, 9, 1, 23, 30),
  exitBar: 46,
  exitPrice: 110,
  exitComment: 'a "b", c',
  profit: 4.875,
  profitPct: 0.097,
  commission: 0.1,
  runup: 5,
  runupPct: 0.1,
  drawdown: -1.5,
  drawdownPct: -0.03,
  bars: 46,
  cumProfit: 4.875,
  cumProfitPct: 0.003,
  status: 'closed',
}
const OPEN: ReportTrade = {
  ...LONG,
  n: 2,
  side: 'short',
  entryComment: null,
  exitComment: null,
  status: 'open',
}
const report = { trades: [LONG, OPEN], currency: 'USDT', pointvalue: 2 }

test('it has today’s columns, the exit first, on the clock that is asked for', () => {
  expect(tradeListCsv(report, { offsetAt: () => 2 * HOUR, prices: 'USD' }).split('\n')).toEqual([
    'Trade number,Type,Date and time,Signal,Price USD,Size (qty),Size (value),Net PnL USDT,Return %,Commission USDT,Favorable excursion USDT,Favorable excursion %,Adverse excursion USDT,Adverse excursion %,Cumulative PnL USDT,Cumulative PnL %,Duration (bars)',
    '1,Exit long,2026-10-02 01:30,"a ""b"", c",110,0.5,100.25,4.875,9.70,0.1,5,10.00,-1.5,-3.00,4.875,0.30,45',
    // A spreadsheet would calculate it.
    "1,Entry long,2026-10-01 14:15,'=1+1,100.25,0.5,100.25,4.875,9.70,0.1,5,10.00,-1.5,-3.00,4.875,0.30,45",
    '2,Exit short,2026-10-02 01:30,Open,110,0.5,100.25,4.875,9.70,0.1,5,10.00,-1.5,-3.00,4.875,0.30,45',
    '2,Entry short,2026-10-01 14:15,L,100.25,0.5,100.25,4.875,9.70,0.1,5,10.00,-1.5,-3.00,4.875,0.30,45',
    '',
  ])
})

test('sums and products bring no noise into it', () => {
  const noisy = { ...LONG, profit: 2.5 - 2.4, commission: 0.1 + 0.2 }
  const [, exit = ''] = tradeListCsv({ ...report, trades: [noisy] }, { offsetAt: () => 0 }).split('\n')
  expect(exit).toContain(',100.25,0.1,9.70,0.3,')
})

test('percentages have two decimals, and none that rounds to nothing has a sign', () => {
  const small = { ...LONG, profitPct: -0.00004, runupPct: 0, drawdownPct: -0.00006, cumProfitPct: 0.00286 }
  const [, exit = ''] = tradeListCsv({ ...report, trades: [small] }, { offsetAt: () => 0 }).split('\n')
  expect(exit).toContain(',4.875,0.00,0.1,5,0.00,-1.5,-0.01,4.875,0.29,')
})

test('a trade that ends on the bar it began on lasted 0 bars, one that ends on the next 1', () => {
  for (const [exitBar, lasted] of [
    [1, 0],
    [2, 1],
  ] as const) {
    const [, exit = ''] = tradeListCsv(
      { ...report, trades: [{ ...LONG, exitBar, bars: lasted + 1 }] },
      { offsetAt: () => 0 },
    ).split('\n')
    expect(exit.split(',').at(-1)).toBe(`${lasted}`)
  }
})

test('it is read as TradingView’s own, every heading understood', () => {
  const { trades, problems, unknown } = parseTradeList(tradeListCsv(report, { offsetAt: () => 0 }))
  expect([problems, unknown]).toEqual([[], []])
  expect(trades).toMatchObject([
    {
      n: 1,
      side: 'long',
      entry: { wall: LONG.entryTime, price: 100.25, signal: "'=1+1" },
      exit: { wall: LONG.exitTime, price: 110, signal: 'a "b", c' },
      qty: 0.5,
      profit: { value: 4.875 },
      open: false,
    },
    { n: 2, side: 'short', entry: { signal: 'L' }, open: true },
  ])
})

test('a run without trades is the headings alone, and times of seconds have them', () => {
  expect(tradeListCsv({ ...report, trades: [] }, { offsetAt: () => 0 }).split('\n')).toHaveLength(2)
  const second = { ...LONG, entryTime: LONG.entryTime + 5000 }
  expect(tradeListCsv({ ...report, trades: [second] }, { offsetAt: () => 0 })).toContain(
    '2026-10-01 12:15:05',
  )
})
