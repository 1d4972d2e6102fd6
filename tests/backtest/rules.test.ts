// The broker's rules, one example each. Letters are those of src/backtest/broker/RULES.md.

import { describe, expect, test } from 'bun:test'
import { barsFrom, drive, type TestScript } from './drive.ts'
import type { DeclarationArgs } from '../../src/backtest/broker/settings.ts'

interface RuleCase {
  readonly rule: string
  readonly args?: DeclarationArgs
  /** `open/high/low/close` a bar. */
  readonly bars: string
  readonly script: TestScript
  readonly trades: readonly string[]
  readonly positions?: readonly number[]
}

const FLAT = '100/100.5/99.5/100'

const CASES: readonly RuleCase[] = [
  {
    rule: 'A1: a market order fills at the next open',
    bars: '100/101/99/100.5 102/103/101/102 104/105/103/104 106/106/106/106',
    script: ({ bar, long, close }) => {
      if (bar === 0) long('L')
      if (bar === 1) close('L')
    },
    trades: ['long 1 L@1 102 → Close entry(s) order L@2 104 = 2'],
    positions: [0, 1, 0, 0],
  },
  {
    rule: 'A2: process_orders_on_close fills at the same close',
    args: { process_orders_on_close: true },
    bars: '100/101/99/100.5 102/103/101/102 104/105/103/104',
    script: ({ bar, long, closeAll }) => {
      if (bar === 0) long('L')
      if (bar === 1) closeAll()
    },
    trades: ['long 1 L@0 100.5 → Close position order@1 102 = 1.5'],
    positions: [1, 0, 0],
  },
  {
    rule: 'A2: a limit or stop entry that the close satisfies fills at that close',
    args: { process_orders_on_close: true, pyramiding: 9 },
    bars: '100/101/99/100 104/106/103/105 105/105/105/105',
    script: ({ bar, long, closeAll }) => {
      if (bar === 0) {
        long('LIMIT', { limit: 100.5 })
        long('STOP', { stop: 99 })
      }
      if (bar === 2) closeAll()
    },
    trades: [
      'long 1 LIMIT@0 100 → Close position order@2 105 = 5',
      'long 1 STOP@0 100 → Close position order@2 105 = 5',
    ],
    positions: [2, 2, 0],
  },
  {
    rule: 'A2: a stop entry above the close waits, and then fills at its level',
    args: { process_orders_on_close: true, slippage: 2 },
    bars: '100/101/99/100 100/106/100/105 105/105/105/105',
    script: ({ bar, long, short, closeAll }) => {
      if (bar === 0) long('WAITS', { stop: 103 })
      if (bar === 1) short('PASSED', { stop: 106 })
      if (bar === 2) closeAll()
    },
    trades: [
      'long 1 WAITS@1 103.02 → PASSED@1 104.98 = 1.96',
      'short 1 PASSED@1 104.98 → Close position order@2 105.02 = -0.04',
    ],
  },
  {
    rule: 'C1: a stop placed behind a market entry from flat reverses it when it fires bars later',
    bars: '100/101/99/100 100/101/99/100 100/101/99/100 99/99/94/95 95/95/95/95',
    script: ({ bar, long, short, closeAll }) => {
      if (bar === 0) {
        long('L')
        short('S', { stop: 96 })
      }
      if (bar === 3) closeAll()
    },
    trades: ['long 1 L@1 100 → S@3 96 = -4', 'short 1 S@3 96 → Close position order@4 95 = 1'],
    positions: [0, 1, 1, -1, 0],
  },
  {
    rule: 'A3: under it a bracket is not looked at on the bar of its entry',
    args: { process_orders_on_close: true },
    bars: '100/120/80/100 100/120/80/100',
    script: ({ bar, long, exit }) => {
      if (bar !== 0) return
      long('L')
      exit('X', 'L', { limit: 90, stop: 70 })
    },
    trades: ['long 1 L@0 100 → X@1 100 = 0'],
    positions: [1, 0],
  },
  {
    rule: 'A4: the nearer extreme comes first, ties go low: the stop is hit before the limit',
    bars: `${FLAT} ${FLAT} 100/110/90/100`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { limit: 109, stop: 91 })
    },
    trades: ['long 1 L@1 100 → X@2 91 = -9'],
  },
  {
    rule: 'A13: two stops on one down leg fill nearest to its start first',
    bars: `${FLAT} ${FLAT} 98/98.5/88/92 92/92/92/92`,
    args: { default_qty_value: 2 },
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) {
        exit('FAR', 'L', { qty: 1, stop: 90 })
        exit('NEAR', 'L', { qty: 1, stop: 95 })
      }
    },
    trades: ['long 1 L@1 100 → NEAR@2 95 = -5', 'long 1 L@1 100 → FAR@2 90 = -10'],
  },
  {
    rule: 'A14: a bracket of an entry that filled inside the bar can fill later on its path',
    bars: '101/101.2/100.8/101 100.5/100.6/99.3/99.8',
    script: ({ bar, short, exit }) => {
      if (bar !== 0) return
      short('S', { stop: 100 })
      exit('SX', 'S', { profit: 50 })
    },
    trades: ['short 1 S@1 100 → SX@1 99.5 = 0.5'],
  },
  {
    rule: 'B4: a stop that gaps fills at the open',
    bars: `${FLAT} ${FLAT} 90/91/89/90`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { stop: 95 })
    },
    trades: ['long 1 L@1 100 → X@2 90 = -10'],
  },
  {
    rule: 'B5: slippage is against market and stop fills, never against limits',
    args: { slippage: 10 },
    bars: `${FLAT} ${FLAT} 100/106/100/105 105/105/105/105`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { limit: 105 })
    },
    trades: ['long 1 L@1 100.1 → X@2 105 = 4.9'],
  },
  {
    rule: 'B2: buy stops snap up to the tick, sell stops down',
    bars: `${FLAT} 100/103/99/102 102/103/97/98`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L', { stop: 101.001 })
      if (bar === 1) exit('X', 'L', { stop: 98.999 })
    },
    trades: ['long 1 L@1 101.01 → X@2 98.99 = -2.02'],
  },
  {
    rule: 'B6: a stop entry on the passed side of the market fills at the next open',
    bars: `${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long, closeAll }) => {
      if (bar === 0) long('L', { stop: 90 })
      if (bar === 1) closeAll()
    },
    trades: ['long 1 L@1 100 → Close position order@2 100 = 0'],
  },
  {
    rule: 'B8: an exit whose triggers are all na does nothing',
    bars: `${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      exit('X', 'L', {})
    },
    trades: [],
    positions: [0, 1, 1],
  },
  {
    rule: 'B9: an immediate close shows the raw close and pays slippage; the body still sees the position',
    args: { slippage: 10 },
    bars: `${FLAT} ${FLAT} 100/101/99/100.5 ${FLAT}`,
    script: ({ bar, broker, long, close }) => {
      if (bar === 0) long('L')
      if (bar !== 2) return
      close('L', { immediately: true })
      expect(broker.positionSize).toBe(1)
    },
    trades: ['long 1 L@1 100.1 → Close entry(s) order L@2 100.5 = 0.3'],
    positions: [0, 1, 0, 0],
  },
  {
    rule: 'B10: a limit counts as filled once the price went beyond it by backtest_fill_limits_assumption',
    args: { backtest_fill_limits_assumption: 10 },
    bars: `${FLAT} ${FLAT} 100/105.05/100/105 100/105.1/100/105 ${FLAT}`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { limit: 105 })
    },
    trades: ['long 1 L@1 100 → X@3 105 = 5'],
  },
  {
    rule: 'C1: an entry against the position closes it and opens its own quantity',
    bars: `${FLAT} ${FLAT} 102/102/102/102 ${FLAT}`,
    script: ({ bar, long, short }) => {
      if (bar === 0) long('L', { qty: 3 })
      if (bar === 1) short('S', { qty: 2 })
    },
    trades: ['long 3 L@1 100 → S@2 102 = 6'],
    positions: [0, 3, -2, -2],
  },
  {
    rule: 'C2: re-issued on the same bar, a reversing entry keeps only its own quantity',
    bars: `${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long, short }) => {
      if (bar === 0) long('L', { qty: 10 })
      if (bar !== 1) return
      short('S', { qty: 4 })
      short('S', { qty: 4 })
    },
    trades: ['long 4 L@1 100 → S@2 100 = 0'],
    positions: [0, 10, 6],
  },
  {
    rule: 'C3: pyramiding refuses the entry that is one too many',
    args: { pyramiding: 2 },
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long }) => {
      long(`L${bar}`)
    },
    trades: [],
    positions: [0, 1, 2, 2],
  },
  {
    rule: 'C3: a priced add that pyramiding refuses does not outlive the position',
    bars: `${FLAT} ${FLAT} ${FLAT} 100/100/94/94 94/94/89/90`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) {
        exit('X', 'L', { stop: 95 })
        long('L', { limit: 90 })
      }
    },
    trades: ['long 1 L@1 100 → X@3 95 = -5'],
    positions: [0, 1, 1, 0, 0],
  },
  {
    rule: 'C4: strategy.order nets and minds no pyramiding',
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, order }) => {
      if (bar < 2) order(`O${bar}`, 1)
      else if (bar === 2) order('S', -1, { qty: 5 })
    },
    trades: ['long 1 O0@1 100 → S@3 100 = 0', 'long 1 O1@2 100 → S@3 100 = 0'],
    positions: [0, 1, 2, -3],
  },
  {
    rule: 'C5: opposite market entries of one bar reverse where their margins fit together',
    bars: `${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long, short }) => {
      if (bar !== 0) return
      long('A')
      short('B')
    },
    trades: ['long 1 A@1 100 → B@1 100 = 0'],
    positions: [0, -1, -1],
  },
  {
    rule: 'C7: of two entries against a position the last one carries the flip',
    args: { pyramiding: 5 },
    bars: `${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long, short }) => {
      if (bar === 0) short('S', { qty: 5 })
      if (bar !== 1) return
      long('A', { qty: 1 })
      long('B', { qty: 2 })
    },
    trades: ['short 1 S@1 100 → A@2 100 = 0', 'short 4 S@1 100 → B@2 100 = 0'],
    positions: [0, -5, 3],
  },
  {
    rule: 'C9: a priced flip that fills from flat still brings what it was to close',
    bars: `${FLAT} ${FLAT} ${FLAT} 100/100/90/90`,
    script: ({ bar, long, short, close }) => {
      if (bar === 0) long('L')
      if (bar !== 1) return
      short('S', { stop: 95 })
      close('L')
    },
    trades: ['long 1 L@1 100 → Close entry(s) order L@2 100 = 0'],
    positions: [0, 1, 0, -2],
  },
  {
    rule: 'C10: cancelling an entry that filled does not cascade to its exits',
    bars: `${FLAT} ${FLAT} ${FLAT} 100/111/100/110`,
    script: ({ bar, broker, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { limit: 110 })
      if (bar === 2) broker.cancel('L')
    },
    trades: ['long 1 L@1 100 → X@3 110 = 10'],
  },
  {
    rule: 'C12: the side that may not enter only closes',
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, broker, long, short }) => {
      broker.allowEntryIn('long')
      if (bar === 0) long('L')
      if (bar === 1) short('S')
      if (bar === 2) short('S')
    },
    trades: ['long 1 L@1 100 → S@2 100 = 0'],
    positions: [0, 1, 0, 0],
  },
  {
    rule: 'D3: a fired partial exit does not come back when it is issued again',
    args: { default_qty_value: 2 },
    bars: `${FLAT} ${FLAT} 100/106/100/105 105/107/105/106 106/107/106/106`,
    script: ({ bar, broker, long, exit }) => {
      if (bar === 0) long('L')
      if (broker.positionSize > 0) exit('HALF', 'L', { qty: 1, limit: 105 })
    },
    trades: ['long 1 L@1 100 → HALF@2 105 = 5'],
    positions: [0, 2, 1, 1, 1],
  },
  {
    rule: 'D3: an exit without from_entry covers what is opened after the call, until the position closes',
    args: { pyramiding: 2 },
    bars: `${FLAT} ${FLAT} ${FLAT} 100/111/100/110 ${FLAT} ${FLAT} 100/111/100/110`,
    script: ({ bar, long, exit }) => {
      if (bar === 0 || bar === 1 || bar === 4) long(`L${bar}`)
      if (bar === 1) exit('X', null, { limit: 110 })
    },
    trades: ['long 1 L0@1 100 → X@3 110 = 10', 'long 1 L1@2 100 → X@3 110 = 10'],
    positions: [0, 1, 2, 0, 0, 1, 1],
  },
  {
    rule: 'D4: an exit without quantity takes what the others have not reserved',
    args: { default_qty_value: 2 },
    bars: `${FLAT} ${FLAT} 99/99.5/94/95 95/96/94.5/95.5`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar !== 1) return
      exit('HALF', 'L', { qtyPercent: 50, limit: 110 })
      exit('REST', 'L', { stop: 95 })
    },
    trades: ['long 1 L@1 100 → REST@2 95 = -5'],
    positions: [0, 2, 1, 1],
  },
  {
    rule: 'D8: under FIFO an exit bound to the second entry takes the oldest row',
    args: { pyramiding: 2 },
    bars: `${FLAT} 100/100/100/100 101/101/101/101 101/106/101/105`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('A')
      if (bar === 1) long('B')
      if (bar === 2) exit('X', 'B', { limit: 105 })
    },
    trades: ['long 1 A@1 100 → X@3 105 = 5'],
    positions: [0, 1, 2, 1],
  },
  {
    rule: 'D8: under ANY it takes its own',
    args: { pyramiding: 2, close_entries_rule: 'ANY' },
    bars: `${FLAT} 100/100/100/100 101/101/101/101 101/106/101/105`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('A')
      if (bar === 1) long('B')
      if (bar === 2) exit('X', 'B', { limit: 105 })
    },
    trades: ['long 1 B@2 101 → X@3 105 = 4'],
  },
  {
    rule: 'D10: partial closes of one bar all fill, close_all behind them ends flat',
    args: { default_qty_value: 10 },
    bars: `${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long, close, closeAll }) => {
      if (bar === 0) long('L')
      if (bar !== 1) return
      close('L', { qtyPercent: 30, comment: 'TP' })
      closeAll('ALL')
    },
    trades: ['long 3 L@1 100 → TP@2 100 = 0', 'long 7 L@1 100 → ALL@2 100 = 0'],
    positions: [0, 10, 0],
  },
  {
    rule: 'D14: a stop reversal and an exit stop through one gap both fill',
    bars: `${FLAT} ${FLAT} 80/81/79/80`,
    script: ({ bar, long, short, exit }) => {
      if (bar === 0) long('L')
      if (bar !== 1) return
      short('S', { stop: 95 })
      exit('X', 'L', { stop: 90 })
    },
    trades: ['long 1 L@1 100 → S@2 80 = -20'],
    positions: [0, 1, -2],
  },
  {
    rule: 'D15: what a gapped exit opened is served first, off the oldest row',
    bars: `${FLAT} ${FLAT} 80/81/79/80 80/80/80/80 70/70/70/70`,
    script: ({ bar, broker, long, short, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) {
        short('S', { qty: 5, stop: 95 })
        exit('X', 'L', { stop: 90 })
      }
      if (broker.positionSize < 0) exit('OUT', null, { limit: 75 })
    },
    trades: [
      'long 1 L@1 100 → S@2 80 = -20',
      'short 1 S@2 80 → OUT@4 70 = 10',
      'short 4 S@2 80 → OUT@4 70 = 40',
      'short 1 X@2 80 → OUT@4 70 = 10',
    ],
    positions: [0, 1, -6, -6, 0],
  },
  {
    rule: 'D16: orders of an OCA cancel group cancel each other',
    bars: `${FLAT} 100/102/97/98 98/98/98/98`,
    script: ({ bar, long, short }) => {
      if (bar !== 0) return
      long('A', { stop: 101, oca: ['G', 'cancel'] })
      short('B', { stop: 98, oca: ['G', 'cancel'] })
    },
    trades: [],
    positions: [0, 1, 1],
  },
  {
    rule: 'D16: but not what executes on the same tick',
    bars: `${FLAT} ${FLAT} 80/80/80/80 80/80/80/80`,
    script: ({ bar, long, order }) => {
      if (bar === 0) long('L', { qty: 3 })
      if (bar !== 1) return
      order('A', -1, { qty: 1, stop: 95, oca: ['G', 'cancel'] })
      order('B', -1, { qty: 1, stop: 90, oca: ['G', 'cancel'] })
    },
    trades: ['long 1 L@1 100 → A@2 80 = -20', 'long 1 L@1 100 → B@2 80 = -20'],
    positions: [0, 3, 1, 1],
  },
  {
    rule: 'D16: and of a reduce group shrink each other',
    bars: `${FLAT} ${FLAT} 100/102/97/98 98/98/98/98`,
    script: ({ bar, long, order }) => {
      if (bar === 0) long('L', { qty: 3 })
      if (bar !== 1) return
      order('A', -1, { qty: 2, limit: 101, oca: ['G', 'reduce'] })
      order('B', -1, { qty: 3, stop: 98, oca: ['G', 'reduce'] })
    },
    trades: ['long 2 L@1 100 → A@2 101 = 2', 'long 1 L@1 100 → B@2 98 = -2'],
    positions: [0, 3, 0, 0],
  },
  {
    rule: 'E1: a trail arms, rides the extreme and fills on the way back',
    bars: '100/100/100/100 100/100.2/100/100.1 100.5/102/100.4/101.5 101.5/101.7/101.4/101.6',
    script: ({ bar, broker, long, exit }) => {
      if (bar === 0) long('L')
      if (broker.positionSize > 0) exit('X', 'L', { trailPrice: 101, trailOffset: 10 })
    },
    trades: ['long 1 L@1 100 → X@2 101.9 = 1.9'],
  },
  {
    rule: 'E3: an open beyond the carried mark moves it, though the path sets out against it',
    bars: `${FLAT} 100/100.2/100/100.1 100.5/102/100.4/102 102.05/103.2/101/102`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { trailPrice: 101, trailOffset: 10 })
    },
    trades: ['long 1 L@1 100 → X@3 101.95 = 1.95'],
  },
  {
    rule: 'E4: unchanged, a trail keeps its mark when it is issued again; a stricter activation disarms it',
    bars: `${FLAT} 100/100.2/100/100.1 100.5/102/100.4/102 101.5/101.6/101/101.2`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { trailPrice: 101, trailOffset: 10 })
      if (bar === 2) exit('X', 'L', { trailPrice: 105, trailOffset: 10 })
    },
    trades: [],
    positions: [0, 1, 1, 1],
  },
  {
    rule: 'E6: with an explicit offset of 0 it does not stay armed into the next bar',
    bars: `${FLAT} 100/100.2/100/100.1 100.5/102/100.4/102 100.9/100.95/100/100.2`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { trailPrice: 101, trailOffset: 0 })
    },
    trades: [],
    positions: [0, 1, 1, 1],
  },
  {
    rule: 'E9: a limit the path reaches first beats the trail',
    bars: `${FLAT} 100/100.2/100/100.1 100.5/102/100.4/101`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { limit: 101.5, trailPrice: 101, trailOffset: 10 })
    },
    trades: ['long 1 L@1 100 → X@2 101.5 = 1.5'],
  },
  {
    rule: 'E10: first issued after the fill, it is armed if that bar closed beyond the level',
    bars: `${FLAT} 100/102/100/102 101.5/101.6/101/101.2`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { trailPrice: 101, trailOffset: 10 })
    },
    trades: ['long 1 L@1 100 → X@2 101.5 = 1.5'],
  },
  {
    rule: 'E5: a trail without offset beside a stop fills at its activation level',
    bars: `${FLAT} ${FLAT} 100/102/100/101 101/101/101/101`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { stop: 90, trailPoints: 100 })
    },
    trades: ['long 1 L@1 100 → X@2 101 = 1'],
  },
  {
    rule: 'E8: an extreme before the fill stays out of the water mark',
    bars: '100/100.1/99.95/100 100/100.2/99/99.8 99.8/99.85/99.4/99.5 99.5/99.6/99.4/99.45',
    script: ({ bar, long, exit }) => {
      if (bar !== 0) return
      long('L', { limit: 99.5 })
      exit('X', 'L', { trailPoints: 10, trailOffset: 10 })
    },
    trades: ['long 1 L@1 99.5 → X@2 99.75 = 0.25'],
  },
  {
    rule: 'F2: a priced entry of default size is sized at the price it fills at',
    args: {
      initial_capital: 1_000_000,
      default_qty_type: 'percent_of_equity',
      default_qty_value: 20,
      commission_value: 0.1,
    },
    bars: '110/110/110/110 105/160/105/160 200/200/200/200 200/200/200/200',
    script: ({ bar, long, closeAll }) => {
      if (bar === 0) long('L', { stop: 105 })
      if (bar === 1) closeAll()
    },
    trades: ['long 1902.859 L@1 105 → Close position order@2 200 = 180191.233005'],
  },
  {
    rule: 'F6: an explicit quantity floors to the lot in decimal',
    bars: `${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long }) => {
      if (bar === 0) long('L', { qty: 50.00055 })
    },
    trades: [],
    positions: [0, 50.0005, 50.0005],
  },
  {
    rule: 'F11: cash per order is charged once a reversal and split by quantity',
    args: { commission_type: 'cash_per_order', commission_value: 10, margin_long: 0, margin_short: 0 },
    bars: '100/100/100/100 100/100/100/100 110/110/110/110 105/105/105/105',
    script: ({ bar, long, short, closeAll }) => {
      if (bar === 0) long('L')
      if (bar === 1) short('S')
      if (bar === 2) closeAll()
    },
    trades: ['long 1 L@1 100 → S@2 110 = -5', 'short 1 S@2 110 → Close position order@3 105 = -10'],
  },
  {
    rule: 'G2: an entry that its fill price makes unaffordable is refused',
    args: { initial_capital: 100_000, default_qty_type: 'percent_of_equity', default_qty_value: 100 },
    bars: '100/100/100/100 100.01/100.01/99.5/100 100/100/99.5/100',
    script: ({ bar, long }) => {
      if (bar === 0) long('L')
    },
    trades: [],
    positions: [0, 0, 0],
  },
  {
    rule: 'G3: a margin call sells four times the shortfall at the adverse extreme',
    args: { initial_capital: 1000, margin_long: 10 },
    bars: '100/100/100/100 100/100/100/100 100/100/95/96 96/96/96/96',
    script: ({ bar, long }) => {
      if (bar === 0) long('L', { qty: 90 })
    },
    // Equity at 95 is 550, 855 are needed: 305 short, 32.1052 contracts, four times that is more than there are.
    trades: ['long 90 L@1 100 → Margin call@2 95 = -450'],
    positions: [0, 90, 0, 0],
  },
  {
    rule: 'H1: the day ends with the last order it allows',
    bars: `${FLAT} ${FLAT} 101/101/101/101 ${FLAT} ${FLAT}`,
    script: ({ bar, broker, long, short }) => {
      broker.maxIntradayFilledOrders(2, null)
      if (bar % 2 === 0) long('L')
      else short('S')
    },
    trades: [
      'long 1 L@1 100 → S@2 101 = 1',
      'short 1 S@2 101 → Close Position (Max number of filled orders in one day)@2 101 = 0',
    ],
    positions: [0, 1, 0, 0, 0],
  },
  {
    rule: 'H2: an unrealised loss closes the position and the day',
    args: { initial_capital: 1000 },
    bars: '100/100/100/100 100/100.5/99.5/100 100/100/95/95 95/95/88/88 88/92/88/92',
    script: ({ bar, broker, long }) => {
      broker.maxIntradayLoss(100, 'cash', null)
      if (bar === 0) long('L', { qty: 10 })
    },
    trades: ['long 10 L@1 100 → Close Position (Max intraday loss reached)@3 88 = -120'],
  },
  {
    rule: 'H2: a bar that opens beyond the loss closes at its open, however it goes on',
    args: { initial_capital: 1000 },
    bars: '100/100/100/100 100/100/100/100 88/88/88/88 88/99/88/99',
    script: ({ bar, broker, long }) => {
      broker.maxIntradayLoss(100, 'cash', null)
      if (bar === 0) long('L', { qty: 10 })
    },
    trades: ['long 10 L@1 100 → Close Position (Max intraday loss reached)@2 88 = -120'],
    positions: [0, 10, 0, 0],
  },
  {
    rule: 'H2: losses taken count as well: no further entry that day',
    args: { initial_capital: 1000 },
    bars: '100/100/100/100 100/100/80/85 90/95/90/95 95/99/95/99 99/99/99/99',
    script: ({ bar, broker, long, exit }) => {
      broker.maxIntradayLoss(100, 'cash', null)
      if (bar === 0) {
        long('L', { qty: 10 })
        exit('X', 'L', { stop: 89 })
      }
      if (bar === 2) long('AGAIN')
    },
    trades: ['long 10 L@1 100 → X@1 89 = -110'],
    positions: [0, 0, 0, 0, 0],
  },
  {
    rule: 'H: max_position_size trims the entry that would exceed it',
    args: { pyramiding: 9 },
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ broker, bar, long }) => {
      broker.maxPositionSize(5)
      if (bar < 3) long(`L${bar}`, { qty: 2 })
    },
    trades: [],
    positions: [0, 2, 4, 5],
  },
  {
    rule: 'J7: a trade of profit 0 is even',
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, broker, long, closeAll }) => {
      if (bar === 0) long('L')
      if (bar === 1) closeAll()
      if (bar === 3) expect([broker.winTrades, broker.lossTrades, broker.evenTrades]).toEqual([0, 0, 1])
    },
    trades: ['long 1 L@1 100 → Close position order@2 100 = 0'],
  },
]

describe('broker rules', () => {
  for (const one of CASES)
    test(one.rule, () => {
      const { trades, positions } = drive(barsFrom(one.bars), one.args ?? {}, one.script)
      expect(trades).toEqual([...one.trades])
      if (one.positions) expect(positions).toEqual([...one.positions])
    })

  test('D11: processed on close, a later close of one call site replaces the earlier of its bar', () => {
    const script =
      (sites: readonly number[]): TestScript =>
      ({ bar, broker, long }) => {
        if (bar === 0) long('L', { qty: 10 })
        if (bar === 1)
          for (const [i, site] of sites.entries())
            broker.close('L', `C${i}`, 3, NaN, null, false, false, site)
      }
    const bars = barsFrom(`${FLAT} ${FLAT} ${FLAT}`)
    const args = { process_orders_on_close: true }
    expect(drive(bars, args, script([1, 1])).trades).toEqual(['long 3 L@0 100 → C1@1 100 = 0'])
    expect(drive(bars, args, script([1, 2])).trades).toHaveLength(2)
    expect(drive(bars, {}, script([1, 1])).trades).toHaveLength(2)
  })

  test('A7: with calc_on_order_fills the script runs again after fills, at the open twice', () => {
    const runs: string[] = []
    const { positions } = drive(
      barsFrom(`${FLAT} ${FLAT} ${FLAT}`),
      { calc_on_order_fills: true, pyramiding: 10 },
      ({ bar, broker, long }) => {
        runs.push(`${bar}:${broker.positionSize}`)
        if (bar < 2) long(`L${runs.length}`)
      },
    )
    // Bar 1: four fills (open, open, near extreme, far extreme), three extra runs before the regular one.
    expect(runs.filter((run) => run.startsWith('1:'))).toEqual(['1:1', '1:2', '1:3', '1:4'])
    expect(positions[1]).toBe(4)
  })

  test('G5: the liquidation price solves equity = margin; na where there is none', () => {
    const seen: number[] = []
    drive(
      barsFrom('100/110/95/105 110/120/105/115 120/130/115/125 130/140/125/135'),
      { initial_capital: 100, margin_long: 25 },
      ({ bar, broker, long }) => {
        if (bar === 1) long('L', { qty: 2 })
        seen.push(broker.marginLiquidationPrice)
      },
    )
    // 100 + 2·(P − 120) = 0.25·2·P  →  P = 140 / 1.5
    expect(seen).toEqual([NaN, NaN, 93.33, 93.33])
  })

  test('I: amounts are booked at the rate of their own day', () => {
    const bars = barsFrom('100/100/100/100 100/100/100/100 110/110/110/110 110/110/110/110')
    const { trades, broker } = drive(
      bars,
      { currency: 'EUR', commission_value: 1 },
      ({ bar, long, closeAll }) => {
        if (bar === 0) long('L')
        if (bar === 1) closeAll()
      },
      { rates: Float64Array.of(1, 0.5, 0.8, 0.8) },
    )
    // 10 · 0.8 − 1 · 0.5 − 1.1 · 0.8
    expect(trades).toEqual(['long 1 L@1 100 → Close position order@2 110 = 6.62'])
    expect(broker.convertToSymbol(8)).toBe(10)
  })

  test('A5: with finer bars their order decides which side of a bracket is hit', () => {
    const minutes = Array.from({ length: 10 }, () => FLAT).join(' ')
    const finer = barsFrom(
      `${minutes} 100/100/95/95 95/95/88/90 90/105/90/105 105/112/105/110 110/112/108/108`,
    )
    const bars = barsFrom(`${FLAT} ${FLAT} 100/112/88/108`, 5 * 60_000)
    const script: TestScript = ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { limit: 111, stop: 89 })
    }
    const on = drive(bars, { use_bar_magnifier: true }, script, { finer })
    expect(on.trades).toEqual(['long 1 L@1 100 → X@2 89 = -11'])
  })
})
