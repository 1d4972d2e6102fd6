// The broker's rules, one example each. Letters are those of src/broker/emulator/RULES.md.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { expectList } from '../expected.ts'
import { barsFrom, drive, fillLines, NO_CLOSE, TEST_SYMBOL, type TestScript } from './drive.ts'
import { brokerSettings, type DeclarationArgs } from '../../src/broker/emulator/settings.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import type { SymbolInfo } from '../../src/market/symbol.ts'

interface RuleCase {
  readonly rule: string
  readonly args?: DeclarationArgs
  readonly symbol?: Partial<SymbolInfo>
  /** The trading day of a bar. */
  readonly day?: (bar: number) => number
  /** `open/high/low/close` a bar. */
  readonly bars: string
  readonly script: TestScript
  readonly trades: readonly string[]
  readonly positions?: readonly number[]
  readonly fills?: readonly string[]
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
      expect(broker.account.positionSize).toBe(1)
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
    rule: 'C3: a priced add that stands before a close is refused, and one behind it has its room',
    bars: `${FLAT} ${FLAT} 100/100/94/96 ${FLAT} ${FLAT} ${FLAT} 100/100/94/96`,
    script: ({ bar, long, close }) => {
      if (bar === 0 || bar === 4) long('L')
      if (bar === 1) {
        long('L', { limit: 95 })
        close('L')
      }
      if (bar === 5) {
        close('L')
        long('L', { limit: 95 })
      }
    },
    trades: [
      'long 1 L@1 100 → Close entry(s) order L@2 100 = 0',
      'long 1 L@5 100 → Close entry(s) order L@6 100 = 0',
    ],
    positions: [0, 1, 0, 0, 0, 1, 1],
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
    rule: 'C5: an entry that reverses what another of its run is to reverse takes both quantities',
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long, short }) => {
      if (bar === 0) short('S')
      if (bar !== 1) return
      long('L')
      short('S2')
    },
    trades: ['short 1 S@1 100 → L@2 100 = 0', 'long 1 L@2 100 → S2@2 100 = 0'],
    positions: [0, -1, -1, -1],
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
      if (bar === 2) broker.desk.cancel('L')
    },
    trades: ['long 1 L@1 100 → X@3 110 = 10'],
  },
  {
    rule: 'C12: the side that may not enter only closes',
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, broker, long, short }) => {
      broker.desk.allowEntryIn('long')
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
      if (broker.account.positionSize > 0) exit('HALF', 'L', { qty: 1, limit: 105 })
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
      if (broker.account.positionSize < 0) exit('OUT', null, { limit: 75 })
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
      if (broker.account.positionSize > 0) exit('X', 'L', { trailPrice: 101, trailOffset: 10 })
    },
    trades: ['long 1 L@1 100 → X@2 101.9 = 1.9'],
  },
  {
    rule: 'E1: an open beyond the activation arms it, and the way down from there fills it',
    bars: `${FLAT} ${FLAT} 106/110/103/109 109/109/109/109`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { trailPoints: 500, trailOffset: 200 })
    },
    trades: ['long 1 L@1 100 → X@2 104 = 4'],
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
      broker.desk.maxIntradayFilledOrders(2, null)
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
      broker.desk.maxIntradayLoss(100, 'cash', null)
      if (bar === 0) long('L', { qty: 10 })
    },
    trades: ['long 10 L@1 100 → Close Position (Max intraday loss reached)@3 88 = -120'],
  },
  {
    rule: 'H2: a bar that opens beyond the loss closes at its open, however it goes on',
    args: { initial_capital: 1000 },
    bars: '100/100/100/100 100/100/100/100 88/88/88/88 88/99/88/99',
    script: ({ bar, broker, long }) => {
      broker.desk.maxIntradayLoss(100, 'cash', null)
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
      broker.desk.maxIntradayLoss(100, 'cash', null)
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
    rule: 'max_position_size trims the entry that would exceed it',
    args: { pyramiding: 9 },
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ broker, bar, long }) => {
      broker.desk.maxPositionSize(5)
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
      if (bar === 3)
        expect([broker.account.winTrades, broker.account.lossTrades, broker.account.evenTrades]).toEqual([
          0, 0, 1,
        ])
    },
    trades: ['long 1 L@1 100 → Close position order@2 100 = 0'],
  },
  {
    rule: 'A6: prices are moved to the grid before the walk, halves up',
    symbol: { mintick: 0.25 },
    bars: `100/100.5/99.5/100 100.125/101/99/100 99.85/101/99/100`,
    script: ({ bar, long, closeAll }) => {
      if (bar === 0) long('L')
      if (bar === 1) closeAll()
    },
    trades: ['long 1 L@1 100.25 → Close position order@2 99.75 = -0.5'],
  },
  {
    rule: 'A11: a market order goes before a stop that the open has passed, whichever was placed first',
    args: { pyramiding: 5 },
    bars: `${FLAT} ${FLAT} 90/91/89/90`,
    script: ({ bar, long, order }) => {
      if (bar === 0) long('L', { qty: 5 })
      if (bar !== 1) return
      order('STOP', -1, { qty: 1, stop: 95 })
      order('MARKET', -1, { qty: 2 })
    },
    trades: ['long 2 L@1 100 → MARKET@2 90 = -20', 'long 1 L@1 100 → STOP@2 90 = -10'],
    fills: ['L buy 5@100', 'MARKET sell 2@90', 'STOP sell 1@90'],
  },
  {
    rule: 'A12: at one open entries go before exits, whatever their levels',
    args: { pyramiding: 2 },
    bars: `${FLAT} ${FLAT} 90/91/89/90`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L', { qty: 5 })
      if (bar !== 1) return
      exit('X', 'L', { stop: 98 })
      long('ADD', { qty: 1, limit: 91 })
    },
    trades: ['long 5 L@1 100 → X@2 90 = -50'],
    fills: ['L buy 5@100', 'ADD buy 1@90', 'X sell 5@90'],
  },
  {
    rule: 'A15: at one open buy stops go before sell stops, and limits come last',
    bars: `${FLAT} ${FLAT}`,
    script: ({ bar, order }) => {
      if (bar !== 0) return
      order('LIMIT', 1, { limit: 105 })
      order('SELL', -1, { stop: 105 })
      order('BUY', 1, { stop: 95 })
    },
    trades: ['long 1 BUY@1 100 → SELL@1 100 = 0'],
    fills: ['BUY buy 1@100', 'SELL sell 1@100', 'LIMIT buy 1@100'],
  },
  ...[true, false].map((isShortFirst): RuleCase => ({
    rule: `A18: of two orders of one moment the one that buys is the entry, ${isShortFirst ? 'though it came last' : 'as it came first'}`,
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long, short, closeAll }) => {
      if (bar === 0 && isShortFirst) short('S')
      if (bar === 0) long('L')
      if (bar === 0 && !isShortFirst) short('S')
      if (bar === 1) closeAll()
    },
    trades: [
      'long 1 L@1 100 → S@1 100 = 0',
      `${isShortFirst ? 'long 1 L' : 'short 1 S'}@1 100 → Close position order@2 100 = 0`,
    ],
  })),
  {
    rule: 'A15: of limits to buy that one open has reached the lowest fills first',
    args: { pyramiding: 3 },
    bars: `${FLAT} ${FLAT} 96/97/95/96 96/97/95/96 ${FLAT}`,
    script: ({ bar, long, closeAll }) => {
      if (bar === 0)
        for (const [id, limit] of [
          ['B', 97],
          ['A', 99],
          ['C', 98],
        ] as const)
          long(id, { limit })
      if (bar === 2) closeAll()
    },
    trades: ['B', 'C', 'A'].map((id) => `long 1 ${id}@2 96 → Close position order@3 96 = 0`),
  },
  {
    rule: 'A16: at one price a stop goes before a limit',
    bars: `${FLAT} 100/103/99.9/102`,
    script: ({ bar, order }) => {
      if (bar !== 0) return
      order('LIMIT', -1, { limit: 102 })
      order('STOP', 1, { stop: 102 })
    },
    trades: ['long 1 STOP@1 102 → LIMIT@1 102 = 0'],
    fills: ['STOP buy 1@102', 'LIMIT sell 1@102'],
  },
  {
    rule: 'B1: profit is size × (exit − entry) × point value',
    symbol: { pointValue: 5 },
    bars: `${FLAT} ${FLAT} 103/103/103/103`,
    script: ({ bar, short, closeAll }) => {
      if (bar === 0) short('S', { qty: 2 })
      if (bar === 1) closeAll()
    },
    trades: ['short 2 S@1 100 → Close position order@2 103 = -30'],
  },
  {
    rule: 'B3: a limit moves to the grid towards the better price',
    bars: `${FLAT} 100/100.5/98/99 99/103/99/102`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L', { limit: 98.999 })
      if (bar === 1) exit('X', 'L', { limit: 101.001 })
    },
    trades: ['long 1 L@1 98.99 → X@2 101.01 = 2.02'],
  },
  {
    rule: 'B7: an entry whose levels are na is a market order',
    bars: `${FLAT} ${FLAT}`,
    script: ({ bar, long }) => {
      if (bar === 0) long('L', { stop: NaN, limit: NaN })
    },
    trades: [],
    positions: [0, 1],
  },
  {
    rule: 'C6: reversing a position of an earlier bar frees its margin first',
    args: { initial_capital: 1000 },
    bars: '100/100/100/100 100/100/100/100 100/100/100/100',
    script: ({ bar, long, short }) => {
      if (bar === 0) long('L', { qty: 10 })
      if (bar === 1) short('S', { qty: 10 })
    },
    trades: ['long 10 L@1 100 → S@2 100 = 0'],
    positions: [0, 10, -10],
  },
  {
    rule: 'C8: an entry too dear only because of the one before it fills, and the margin call trims it',
    args: { initial_capital: 1000, pyramiding: 2 },
    bars: `100/100/100/100 100/100/100/100 100/100/100/100`,
    script: ({ bar, long }) => {
      if (bar !== 0) return
      long('A', { qty: 6 })
      long('B', { qty: 6 })
    },
    // 1,200 are bought with 1,000: two contracts short, and four times that is sold.
    trades: ['long 6 A@1 100 → Margin call@1 100 = 0', 'long 2 B@1 100 → Margin call@1 100 = 0'],
    positions: [0, 4, 4],
  },
  {
    rule: 'C11: closing does not cancel an entry that waits',
    args: { pyramiding: 2 },
    bars: `${FLAT} ${FLAT} ${FLAT} 100/100/94/95`,
    script: ({ bar, long, close }) => {
      if (bar === 0) long('L')
      if (bar !== 1) return
      long('WAITS', { limit: 95 })
      close('L')
    },
    trades: ['long 1 L@1 100 → Close entry(s) order L@2 100 = 0'],
    positions: [0, 1, 0, 1],
  },
  {
    rule: 'C13: the position is named after its oldest open entry',
    args: { pyramiding: 3 },
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, broker, long, close, closeAll }) => {
      expect(broker.account.positionEntryName).toBe([null, 'A', 'A', 'B', null][bar]!)
      if (bar === 0) long('A')
      if (bar === 1) long('B')
      if (bar === 2) close('A')
      if (bar === 3) closeAll()
    },
    trades: [
      'long 1 A@1 100 → Close entry(s) order A@3 100 = 0',
      'long 1 B@2 100 → Close position order@4 100 = 0',
    ],
  },
  {
    rule: 'D1: an exit with from_entry sleeps until that entry fills',
    bars: `${FLAT} 100/106/100/100 100/100/94/96 96/106/96/105`,
    script: ({ bar, long, exit }) => {
      if (bar !== 0) return
      long('L', { limit: 95 })
      exit('X', 'L', { limit: 105 })
    },
    trades: ['long 1 L@2 95 → X@3 105 = 10'],
    positions: [0, 0, 1, 0],
  },
  {
    rule: 'D2: an exit without from_entry covers what waits only if that adds to the position',
    bars: `${FLAT} ${FLAT} 100/100/94/95 95/106/95/105`,
    script: ({ bar, long, short, exit }) => {
      if (bar === 0) long('L')
      if (bar !== 1) return
      short('S', { stop: 95 })
      exit('X', null, { limit: 105 })
    },
    trades: ['long 1 L@1 100 → S@2 95 = -5'],
    positions: [0, 1, -1, -1],
  },
  {
    rule: 'D5: an add that pyramiding refuses reserves nothing',
    bars: `${FLAT} ${FLAT} ${FLAT} 100/100/94/95 95/95/95/95`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L', { qty: 2 })
      if (bar !== 1) return
      long('L', { qty: 3, limit: 90 })
      exit('X', 'L', { stop: 95 })
    },
    trades: ['long 2 L@1 100 → X@3 95 = -10'],
    positions: [0, 2, 2, 0, 0],
  },
  {
    rule: 'D5: an add that a close of the same run makes room for has its exits',
    args: { pyramiding: 1 },
    bars: `${FLAT} ${FLAT} ${FLAT} 100/100/94/95 95/101/95/100`,
    script: ({ bar, long, close, exit }) => {
      if (bar === 0) long('L')
      if (bar !== 1) return
      close('L')
      long('L', { limit: 95 })
      exit('X', 'L', { profit: 200 })
    },
    trades: ['long 1 L@1 100 → Close entry(s) order L@2 100 = 0', 'long 1 L@3 95 → X@4 97 = 2'],
  },
  {
    rule: 'D5: one of another id that a close leaves open makes no room',
    args: { pyramiding: 2 },
    bars: `${FLAT} ${FLAT} ${FLAT} 100/100/94/95 95/101/95/100`,
    script: ({ bar, long, close, exit }) => {
      if (bar === 0) long('A')
      if (bar === 0) long('B')
      if (bar !== 1) return
      close('A', { qtyPercent: 50 })
      long('C', { limit: 95 })
      exit('X', 'C', { profit: 200 })
    },
    trades: ['long 0.5 A@1 100 → Close entry(s) order A@2 100 = 0'],
  },
  {
    rule: 'D1: an exit whose entry was refused is not for a later entry of its id',
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT} 100/103/100/103`,
    script: ({ bar, long, closeAll, exit }) => {
      if (bar === 0) {
        long('A')
        long('B')
        exit('X', 'B', { profit: 200 })
      }
      if (bar === 1) closeAll()
      if (bar === 2) long('B')
    },
    trades: ['long 1 A@1 100 → Close position order@2 100 = 0'],
    positions: [0, 1, 0, 1, 1],
  },
  {
    rule: 'D1: an exit stays with an entry that is placed again while it waits',
    bars: `${FLAT} ${FLAT} ${FLAT} 100/100/94/95 95/98/95/98`,
    script: ({ bar, broker, long, exit }) => {
      if (bar === 0) {
        long('B', { limit: 90 })
        exit('X', 'B', { profit: 200 })
      }
      if (bar === 1) long('B', { limit: 95 })
      if (bar === 2) broker.desk.cancel('A')
    },
    trades: ['long 1 B@3 95 → X@4 97 = 2'],
  },
  {
    rule: 'D6: a share of one lot is that lot, of a close and of an exit',
    symbol: { minQuantity: 1 },
    bars: `${FLAT} ${FLAT} ${FLAT} 100/105/100/100 ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long, exit, close }) => {
      if (bar === 0 || bar === 3) long('L')
      if (bar === 1) exit('X', 'L', { qtyPercent: 50, limit: 104 })
      if (bar === 4) close('L', { qtyPercent: 50 })
    },
    trades: ['long 1 L@1 100 → X@3 104 = 4', 'long 1 L@4 100 → Close entry(s) order L@5 100 = 0'],
  },
  {
    rule: 'D6: a share is cut to lots',
    symbol: { minQuantity: 1 },
    bars: `${FLAT} ${FLAT} 100/106/100/105`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L', { qty: 5 })
      if (bar === 1) exit('X', 'L', { qtyPercent: 50, limit: 105 })
    },
    trades: ['long 2 L@1 100 → X@2 105 = 10'],
    positions: [0, 5, 3],
  },
  {
    rule: 'D7: a whole exit that is issued again covers what was added since',
    args: { pyramiding: 2 },
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT} 100/106/100/105`,
    script: ({ bar, long, exit }) => {
      if (bar === 0 || bar === 1) long('L')
      if (bar === 1 || bar === 3) exit('X', 'L', { limit: 105 })
    },
    trades: ['long 1 L@1 100 → X@4 105 = 5', 'long 1 L@2 100 → X@4 105 = 5'],
  },
  {
    rule: 'D9: a close takes what entries of its id opened and earlier calls have not claimed',
    args: { pyramiding: 2 },
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long, close }) => {
      if (bar === 0) long('A', { qty: 2 })
      if (bar === 1) long('B', { qty: 3 })
      if (bar !== 2) return
      close('A', { qty: 1.5 })
      close('A')
    },
    trades: [
      'long 1.5 A@1 100 → Close entry(s) order A@3 100 = 0',
      'long 0.5 A@1 100 → Close entry(s) order A@3 100 = 0',
    ],
    positions: [0, 2, 5, 3],
  },
  {
    rule: 'D12: a close that a reversing entry of the same run makes needless does not close twice',
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long, short, close }) => {
      if (bar === 0) long('L')
      if (bar !== 1) return
      close('L')
      short('S', { qty: 3 })
    },
    trades: ['long 1 L@1 100 → Close entry(s) order L@2 100 = 0'],
    positions: [0, 1, -3, -3],
  },
  {
    rule: 'D13: an entry behind a close of the same run is not refused for margin, the margin call trims it',
    args: { initial_capital: 1000 },
    symbol: { minQuantity: 1 },
    bars: '100/100/100/100 100/100/100/100 102/102/102/102',
    script: ({ bar, long, short, close }) => {
      if (bar === 0) long('L')
      if (bar !== 1) return
      close('L')
      short('S', { qty: 10 })
    },
    // 1,020 are needed and 1,002 are there: a sixth of a contract, so one is sold.
    trades: ['long 1 L@1 100 → Close entry(s) order L@2 102 = 2', 'short 1 S@2 102 → Margin call@2 102 = 0'],
    positions: [0, 1, -9],
  },
  {
    rule: 'D17: profit and loss count from the fill of the entry that the leg belongs to',
    args: { pyramiding: 2, close_entries_rule: 'ANY' },
    bars: `${FLAT} 100/100/100/100 102/102/102/102 102/102/101/101 101/103.2/101/103`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('A')
      if (bar === 1) long('B')
      if (bar === 2) exit('X', null, { profit: 310, loss: 50 })
    },
    trades: ['long 1 B@2 102 → X@3 101.5 = -0.5', 'long 1 A@1 100 → X@4 103.1 = 3.1'],
  },
  {
    rule: 'D18: an exit that the open of a reversal has passed fills there for the new position',
    bars: `${FLAT} ${FLAT} 90/91/89/90`,
    script: ({ bar, long, short, exit }) => {
      if (bar === 0) long('E')
      if (bar !== 1) return
      short('E')
      exit('X', 'E', { limit: 105, stop: 89.5 })
    },
    trades: ['long 1 E@1 100 → E@2 90 = -10', 'short 1 E@2 90 → X@2 90 = 0'],
    positions: [0, 1, 0],
  },
  {
    rule: 'D19: the list names an exit by its comment, else by its id',
    args: { pyramiding: 3 },
    bars: `${FLAT} ${FLAT} ${FLAT} 100/106/100/105`,
    script: ({ bar, long, exit, close }) => {
      if (bar === 0) long('A')
      if (bar === 1) long('B', { qty: 2 })
      if (bar !== 2) return
      close('A', { comment: 'enough' })
      exit('X', 'B', { qty: 1, limit: 105, commentProfit: 'won' })
      exit('Y', 'B', { limit: 105.5 })
    },
    trades: [
      'long 1 A@1 100 → enough@3 100 = 0',
      'long 1 B@2 100 → won@3 105 = 5',
      'long 1 B@2 100 → Y@3 105.5 = 5.5',
    ],
  },
  {
    rule: 'E2: one that was armed before first follows the path, then is tested',
    bars: `${FLAT} 100/100.2/100/100.1 100.5/102/100.4/102 102/102.5/101/101.5`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { trailPrice: 101, trailOffset: 20 })
    },
    trades: ['long 1 L@1 100 → X@3 102.3 = 2.3'],
  },
  {
    rule: 'E7: fractions of a tick are cut off the offset',
    bars: `${FLAT} 100/100.2/100/100.1 100.1/102/100/101`,
    script: ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { trailPrice: 101, trailOffset: 10.9 })
    },
    trades: ['long 1 L@1 100 → X@2 101.9 = 1.9'],
  },
  {
    rule: 'E11: trail_points from the entry are trail_price at that level',
    bars: '100/100/100/100 100/100.2/100/100.1 100.5/102/100.4/101.5 101.5/101.7/101.4/101.6',
    script: ({ bar, broker, long, exit }) => {
      if (bar === 0) long('L')
      if (broker.account.positionSize > 0) exit('X', 'L', { trailPoints: 100, trailOffset: 10 })
    },
    trades: ['long 1 L@1 100 → X@2 101.9 = 1.9'],
  },
  {
    rule: 'F1: a market order of default size is sized at the close of its signal, slippage included',
    args: {
      initial_capital: 1000,
      default_qty_type: 'percent_of_equity',
      default_qty_value: 50,
      slippage: 100,
    },
    bars: `${FLAT} 50/50/50/50`,
    script: ({ bar, long }) => {
      if (bar === 0) long('L')
    },
    trades: [],
    // 500 / 101
    positions: [0, 4.9504],
  },
  {
    rule: 'F3: a percentage of equity leaves room for commission',
    args: {
      initial_capital: 1000,
      default_qty_type: 'percent_of_equity',
      default_qty_value: 100,
      commission_value: 1,
    },
    bars: `${FLAT} ${FLAT}`,
    script: ({ bar, long }) => {
      if (bar === 0) long('L')
    },
    trades: [],
    // 1,000 / (100 + 1)
    positions: [0, 9.9009],
  },
  {
    rule: 'F4: whole lots survive the dust of floating point',
    symbol: { minQuantity: 0.1 },
    bars: `${FLAT} ${FLAT}`,
    script: ({ bar, long }) => {
      if (bar === 0) long('L', { qty: 0.3 })
    },
    // 0.3 / 0.1 is 2.9999999999999996.
    trades: [],
    positions: [0, 0.3],
  },
  {
    rule: 'F5: a budget is rounded to ten significant digits before it is divided',
    args: { initial_capital: 1000.00000049, default_qty_type: 'percent_of_equity', default_qty_value: 100 },
    symbol: { minQuantity: 1e-8 },
    bars: '10/10/10/10 10/10/10/10',
    script: ({ bar, long }) => {
      if (bar === 0) long('L')
    },
    trades: [],
    positions: [0, 100],
  },
  {
    rule: 'F7: quantities are whole numbers of 1e-8',
    symbol: { minQuantity: 1e-8 },
    bars: `${FLAT} ${FLAT}`,
    script: ({ bar, long }) => {
      if (bar === 0) long('L', { qty: 1 / 3 })
    },
    trades: [],
    positions: [0, 0.33333333],
  },
  {
    rule: 'F8: the average price weighs entries by their size',
    args: { pyramiding: 2 },
    bars: '100/100/100/100 100/104/100/104 104/104/104/104',
    script: ({ bar, broker, long }) => {
      if (bar === 0) long('A', { qty: 1 })
      if (bar === 1) long('B', { qty: 3 })
      if (bar === 2) expect(broker.account.positionAvgPrice).toBe(103)
    },
    trades: [],
  },
  {
    rule: 'F9: net profit is gross profit less gross loss',
    bars: '100/100/100/100 100/100/100/100 100.1/100.1/100.1/100.1 100/100/100/100 100.2/100.2/100.2/100.2 99.9/99.9/99.9/99.9',
    script: ({ bar, broker, long, closeAll }) => {
      if (bar === 0 || bar === 2) long('L')
      if (bar === 1 || bar === 3) closeAll()
      if (bar !== 5) return
      expect(broker.account.grossProfit).toBeCloseTo(0.3, 12)
      expect(broker.account.netProfit).toBe(broker.account.grossProfit - broker.account.grossLoss)
    },
    trades: [
      'long 1 L@1 100 → Close position order@2 100.1 = 0.1',
      'long 1 L@3 100 → Close position order@4 100.2 = 0.2',
    ],
  },
  {
    rule: 'F10: commission is taken once an order and shared out by quantity',
    args: { pyramiding: 2, commission_type: 'cash_per_order', commission_value: 3 },
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long, closeAll }) => {
      if (bar === 0) long('A', { qty: 1 })
      if (bar === 1) long('B', { qty: 2 })
      if (bar === 2) closeAll()
    },
    // A pays 3 and a third of 3, B 3 and two thirds of 3.
    trades: [
      'long 1 A@1 100 → Close position order@3 100 = -4',
      'long 2 B@2 100 → Close position order@3 100 = -5',
    ],
  },
  {
    rule: 'F14: what an open trade has paid in commission is lost from its entry on',
    args: { commission_type: 'cash_per_order', commission_value: 10, margin_long: 0, margin_short: 0 },
    bars: '100/100/100/100 100/100/100/100 110/110/110/110 105/105/105/105',
    script: ({ bar, broker, long, short, closeAll }) => {
      if (bar === 0) long('L')
      if (bar === 1) short('S')
      if (bar === 2) closeAll()
      const { netProfit, openProfit, grossLoss, closedProfit, closedLoss } = broker.account
      expect([netProfit, openProfit, grossLoss, closedProfit, closedLoss]).toEqual(
        [
          [0, 0, 0, 0, 0],
          [-10, 0, 10, 0, 0],
          // The reversal's fee is shared by the trade that it closed and the one that it opened.
          [-10, 0, 10, -5, 5],
          [-15, 0, 15, -15, 15],
        ][bar]!,
      )
    },
    trades: ['long 1 L@1 100 → S@2 110 = -5', 'short 1 S@2 110 → Close position order@3 105 = -10'],
  },
  {
    rule: 'F15: the default quantity is told for the tick nearest to the price, and none where there is none',
    args: { initial_capital: 1000, default_qty_type: 'percent_of_equity', default_qty_value: 100 },
    bars: FLAT,
    script: ({ broker }) =>
      expect([100.0049, 100.1, 0, NaN].map((price) => broker.account.defaultEntryQty(price))).toEqual([
        10, 9.99, 0, 0,
      ]),
    trades: [],
  },
  {
    rule: 'F12: a quantity that is not positive, or below a lot, places nothing',
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, long }) => {
      if (bar < 3) long('L', { qty: [0, -1, 0.00009][bar]! })
    },
    trades: [],
    positions: [0, 0, 0, 0],
  },
  {
    rule: 'G1: an entry that cannot be paid at the current price is not placed',
    args: { initial_capital: 1000 },
    bars: '100/100/100/100 100/100/90/90 90/90/90/90',
    script: ({ bar, long }) => {
      if (bar === 0) long('L', { qty: 10.5, limit: 95 })
    },
    trades: [],
    positions: [0, 0, 0],
  },
  {
    rule: 'G1: and one that waits is looked at again each bar',
    args: { initial_capital: 1000 },
    bars: '100/100/100/100 100/109/100/108 108/120/108/120',
    script: ({ bar, long }) => {
      if (bar === 0) long('L', { qty: 9.5, stop: 110 })
    },
    trades: [],
    positions: [0, 0, 0],
  },
  {
    rule: 'G4: what is within 2^-26 of a whole number of lots is that number',
    args: { initial_capital: 1010.00000001, margin_long: 50 },
    symbol: { minQuantity: 1 },
    bars: '100/100/100/100 100/100/100/100 100/100/90/90',
    script: ({ bar, long }) => {
      if (bar === 0) long('L', { qty: 20 })
    },
    // At 90: 810.00000001 are left, 900 are needed, 45 a contract: 1.9999999998 contracts short, four times 2 are sold.
    trades: ['long 8 L@1 100 → Margin call@2 90 = -80'],
    positions: [0, 20, 12],
  },
  {
    rule: 'G6: capital held is the sum of size × entry price',
    args: { pyramiding: 2, margin_long: 25 },
    bars: '100/100/100/100 100/104/100/104 104/104/104/104',
    script: ({ bar, broker, long }) => {
      if (bar === 0) long('A', { qty: 1 })
      if (bar === 1) long('B', { qty: 3 })
      expect(broker.account.capitalHeld).toBe([0, 100, 412][bar]!)
    },
    trades: [],
  },
  {
    rule: 'H3: max_drawdown is looked at when a result was realised, from then on nothing trades',
    args: { initial_capital: 1000 },
    bars: '100/100/100/100 100/100/80/80 80/95/80/95 95/95/95/95 89/89/89/89 89/89/89/89 89/89/89/89',
    script: ({ bar, broker, long, closeAll }) => {
      broker.desk.maxDrawdown(10, 'percent_of_equity', null)
      if (bar === 0) long('L', { qty: 10 })
      if (bar === 3) closeAll()
      if (bar === 4) long('AGAIN', { qty: 1 })
    },
    // Bar 1 is 200 down, and nothing was realised; bar 4 realises 110.
    trades: ['long 10 L@1 100 → Close position order@4 89 = -110'],
    positions: [0, 10, 10, 10, 0, 0, 0],
  },
  {
    rule: 'H4: max_cons_loss_days is looked at when a day begins',
    day: (bar) => Math.floor(bar / 2),
    bars: `${FLAT} ${FLAT} ${FLAT} 99/99/99/99 ${FLAT} 99/99/99/99 ${FLAT} ${FLAT}`,
    script: ({ bar, broker, long, closeAll }) => {
      broker.desk.maxConsLossDays(2, null)
      if (bar % 2 === 1) long('L')
      else closeAll()
    },
    // Days are of two bars; the second and the third lose, and what is ordered at the end of the third is not taken.
    trades: [
      'long 1 L@2 100 → Close position order@3 99 = -1',
      'long 1 L@4 100 → Close position order@5 99 = -1',
    ],
    positions: [0, 0, 1, 0, 1, 0, 0, 0],
  },
  {
    rule: 'A8: what a recalculation orders is sized where the leg of its fill ends, and fills there',
    args: {
      calc_on_order_fills: true,
      initial_capital: 1000,
      default_qty_type: 'percent_of_equity',
      default_qty_value: 10,
      pyramiding: 2,
    },
    bars: `${FLAT} 100/102/99.9/101.5 101.5/101.5/101.5/101.5`,
    script: ({ bar, broker, long }) => {
      if (bar === 0) long('A', { qty: 1, stop: 101 })
      if (bar === 1 && broker.account.openTradeCount === 1) long('B')
    },
    trades: [],
    // 10 % of 1001, at 102.
    fills: ['A buy 1@101', 'B buy 0.9813@102'],
  },
  {
    rule: 'A7: a fill on the second leg leaves one recalculation, since the last point is that of the run on the close',
    args: { calc_on_order_fills: true, initial_capital: 1000, pyramiding: 9 },
    bars: `${FLAT} 100/101/99.5/100.8 99/99/99/99`,
    script: ({ bar, broker, long }) => {
      if (bar === 0) long('A', { qty: 1, stop: 100.2 })
      if (bar === 1 && broker.account.openTradeCount > 0)
        long(`B${broker.account.openTradeCount}`, { qty: 1 })
    },
    trades: [],
    fills: ['A buy 1@100.2', 'B1 buy 1@101', 'B2 buy 1@99'],
  },
  {
    rule: 'H5: a day is the trading day of the exchange',
    day: (bar) => Math.floor(bar / 2),
    bars: `${FLAT} ${FLAT} ${FLAT} ${FLAT} ${FLAT}`,
    script: ({ bar, broker, long }) => {
      broker.desk.maxIntradayFilledOrders(1, null)
      long(`L${bar}`)
    },
    trades: [
      'long 1 L0@1 100 → Close Position (Max number of filled orders in one day)@1 100 = 0',
      'long 1 L2@3 100 → Close Position (Max number of filled orders in one day)@3 100 = 0',
    ],
    positions: [0, 0, 0, 0, 0],
  },
  {
    rule: 'I3: without a currency of its own the account is in that of the symbol',
    args: { currency: 'NONE' },
    symbol: { currency: 'JPY' },
    bars: FLAT,
    script: ({ broker }) => {
      expect(broker.account.accountCurrency).toBe('JPY')
    },
    trades: [],
  },
]

describe('broker rules', () => {
  for (const one of CASES)
    test(one.rule, () => {
      const { trades, positions, broker } = drive(barsFrom(one.bars), one.args ?? {}, one.script, {
        symbol: { ...TEST_SYMBOL, ...one.symbol },
        ...(one.day ? { dayOf: one.day } : {}),
      })
      expectList(import.meta.path, one.rule, 'trades', trades, one.trades)
      if (one.positions) expectList(import.meta.path, one.rule, 'positions', positions, one.positions)
      if (one.fills) expectList(import.meta.path, one.rule, 'fills', fillLines(broker), one.fills)
    })

  test('D11: processed on close, a later close of one call site replaces the earlier of its bar', () => {
    const script =
      (sites: readonly number[]): TestScript =>
      ({ bar, broker, long }) => {
        if (bar === 0) long('L', { qty: 10 })
        if (bar === 1)
          for (const [i, site] of sites.entries())
            broker.desk.close({ ...NO_CLOSE, id: 'L', comment: `C${i}`, qty: 3, qtyPercent: NaN, site })
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
        runs.push(`${bar}:${broker.account.positionSize}`)
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
        seen.push(broker.account.marginLiquidationPrice)
      },
    )
    // 100 + 2·(P − 120) = 0.25·2·P  →  P = 140 / 1.5
    expect(seen).toEqual([NaN, NaN, 93.33, 93.33])
  })

  test('I1: amounts are booked at the rate of their own day', () => {
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
    expect(broker.account.convertToSymbol(8)).toBe(10)
  })

  test('A9: that a recalculation sees the finished bar is warned of', () => {
    const { report } = runBacktest({
      source: '//@version=6\nstrategy("Warned", calc_on_order_fills=true)\n',
      inputs: {},
      bars: barsFrom(FLAT),
      symbol: TEST_SYMBOL,
      interval: '1h',
      limits: DEFAULT_LIMITS,
      series: () => null,
    })
    expect(report.warnings.map(({ code }) => code)).toEqual(['order_fills_see_whole_bar'])
  })

  test('A5: what finer bars reach beyond the chart’s bar is reached', () => {
    const finer = barsFrom('100/100/100/100 100/100/100/100 100/105/99/101')
    const bars = barsFrom('100/100/100/100 100/100/100/100 100/101/99/101')
    const script: TestScript = ({ bar, long, exit }) => {
      if (bar === 0) long('L')
      if (bar === 1) exit('X', 'L', { limit: 104, stop: 90 })
    }
    const on = drive(bars, { use_bar_magnifier: true }, script, { finer })
    expect(on.trades).toEqual(['long 1 L@1 100 → X@2 104 = 4'])
  })

  test('C1: a market entry whose position strategy.order has closed before it brings its own quantity alone', () => {
    const { trades, positions } = drive(
      barsFrom(`${FLAT} ${FLAT} ${FLAT}`),
      {},
      ({ bar, long, short, order }) => {
        if (bar === 0) long('L')
        if (bar === 1) {
          order('O', -1, { qty: 1 })
          short('S', { qty: 2 })
        }
      },
    )
    expect(trades).toEqual(['long 1 L@1 100 → O@2 100 = 0'])
    expect(positions).toEqual([0, 1, -2])
  })

  test.each([
    [1150, 10, 100, -10],
    [1050, 100, 10, 10],
  ])(
    'C5: of two market entries both ways each needs its side’s margin: %d, %d and %d %% leave %d',
    (initial_capital, margin_long, margin_short, opened) => {
      // One side needs 1000, the other 100.
      const { positions } = drive(
        barsFrom('100/100/100/100 100/100/100/100 100/100/100/100'),
        { initial_capital, margin_long, margin_short, pyramiding: 1 },
        ({ bar, long, short }) => {
          if (bar > 0) return
          long('L', { qty: 10 })
          short('S', { qty: 10 })
        },
      )
      expect(positions[1]).toBe(opened)
    },
  )

  test.each([
    ['with a rule that watches every bar', true],
    ['on bars that reach nothing else', false],
  ])('G1: an order that waits is dropped when a close makes it too dear, %s', (_name, watched) => {
    const { positions } = drive(
      barsFrom('95/95/95/95 95/120/95/120 120/120/100/100 100/100/80/80 80/80/80/80'),
      { initial_capital: 1000 },
      ({ bar, broker, long }) => {
        if (bar > 0) return
        if (watched) broker.desk.maxDrawdown(90, 'percent_of_equity', null)
        long('L', { qty: 10, limit: 90 })
      },
    )
    expect(positions).toEqual([0, 0, 0, 0, 0])
  })

  test('G1: an order of strategy.order that its open makes too dear is refused', () => {
    const bought = (open: number) =>
      drive(
        barsFrom(`95/95/95/95 ${open}/${open}/${open}/${open}`),
        { initial_capital: 1000 },
        ({ bar, order }) => {
          if (bar === 0) order('O', 1, { qty: 10 })
        },
      ).positions[1]
    expect([bought(100), bought(100.01)]).toEqual([10, 0])
  })

  test('G3: a position is called when its currency becomes dearer, at an unchanged price', () => {
    const flat = Array.from({ length: 4 }, () => '100/100/100/100').join(' ')
    const { positions, broker } = drive(
      barsFrom(flat),
      { initial_capital: 1001, currency: 'EUR' },
      ({ bar, long }) => {
        if (bar === 0) long('L', { qty: 10 })
      },
      { rates: Float64Array.of(1, 1, 1.1, 1.1) },
    )
    // 1100 are needed of 1001: 99 missing are 0.9 contracts at 110, four times that is sold.
    expect(positions).toEqual([0, 10, 6.4, 6.4])
    expect(broker.marginCalls).toBe(1)
  })

  test('G1: before version 6 no margin is kept unless the script says so', () => {
    const margins = (version: number, args: DeclarationArgs = {}) => {
      const { marginLong, marginShort } = brokerSettings(args, TEST_SYMBOL, version)
      return [marginLong, marginShort]
    }
    expect([5, 6, 7].map((version) => margins(version))).toEqual([
      [0, 0],
      [1, 1],
      [1, 1],
    ])
    expect(margins(5, { margin_long: 50, margin_short: 20 })).toEqual([0.5, 0.2])
  })

  test('H3: the drawdown is from the highest realised equity, and what only touches it is reached', () => {
    const stopped = (allowed: number) =>
      drive(
        barsFrom('100/100/100/100 100/100/100/100 110/110/110/110 110/110/110/110 95/95/95/95 95/95/95/95'),
        { initial_capital: 1000 },
        ({ bar, broker, long, closeAll }) => {
          if (bar === 0) broker.desk.maxDrawdown(allowed, 'cash', null)
          if (bar === 0 || bar === 2) long('L')
          if (bar === 1 || bar === 3) closeAll()
          if (bar === 4) long('AGAIN')
        },
      ).positions
    // 10 won, then 15 lost.
    expect(stopped(15.01)).toEqual([0, 1, 0, 1, 0, 1])
    expect(stopped(15)).toEqual([0, 1, 0, 1, 0, 0])
  })

  test('H3: what open trades have gained does not raise the peak', () => {
    const stopped = (allowed: number) =>
      drive(
        barsFrom('100/100/100/100 100/100/100/100 110/110/110/110 95/95/95/95 95/95/95/95'),
        { initial_capital: 1000, pyramiding: 2 },
        ({ bar, broker, long, close, closeAll }) => {
          if (bar === 0) broker.desk.maxDrawdown(allowed, 'cash', null)
          if (bar === 0) long('A')
          if (bar === 0) long('B')
          if (bar === 1) close('A')
          if (bar === 2) closeAll()
          if (bar === 3) long('AGAIN')
        },
      ).positions
    // A realises 10 at bar 2, where B is 10 up as well; B then loses 5.
    expect(stopped(5.01)).toEqual([0, 2, 1, 0, 1])
    expect(stopped(5)).toEqual([0, 2, 1, 0, 0])
  })

  test('D16: exits of one OCA name shrink by what one of them closed, those of others and of none do not', () => {
    const held = (names: readonly (string | null)[]) =>
      drive(
        barsFrom('100/100/100/100 100/100/100/100 100/105/100/105 105/110/105/110 110/110/110/110'),
        {},
        ({ bar, long, exit }) => {
          if (bar === 0) long('L', { qty: 4 })
          if (bar === 1)
            for (const [i, ocaName] of names.entries())
              exit(`X${i}`, 'L', { qty: 2, limit: 104 + 4 * i, ocaName })
        },
      ).positions.slice(1)
    expect(held(['E', 'E'])).toEqual([4, 2, 2, 2])
    expect(held(['E', 'F'])).toEqual([4, 2, 0, 0])
    expect(held([null, null])).toEqual([4, 2, 0, 0])
    expect(held(['', ''])).toEqual([4, 2, 0, 0])
  })

  test('a row that no closed trade has is none', () => {
    const { broker } = drive(barsFrom(`${FLAT} ${FLAT} ${FLAT}`), {}, ({ bar, long, closeAll }) => {
      if (bar === 0) long('L')
      if (bar === 1) closeAll()
    })
    const found = [-1, 0, 0.5, 1, NaN].map((row) => broker.position.closedTrade(row)?.entryId ?? null)
    expect(found).toEqual([null, 'L', null, null, null])
  })

  test('long comments and alert messages weigh more', () => {
    const bytes = (comment: string) =>
      drive(barsFrom(`${FLAT} ${FLAT}`), {}, ({ bar, long }) => {
        if (bar === 0) long('L', { comment })
      }).broker.bytes
    expect(bytes('twelve signs') - bytes('')).toBe(12 * 8)
  })

  test('a broker is busy while an order waits', () => {
    const busy: boolean[] = []
    drive(barsFrom(`${FLAT} ${FLAT} ${FLAT} ${FLAT}`), {}, ({ bar, broker, long, closeAll }) => {
      busy.push(broker.busy)
      if (bar === 0) long('L')
      if (bar === 1) closeAll()
      busy.push(broker.busy)
    })
    expect(busy).toEqual([false, true, false, true, false, false, false, false])
  })

  test('A5: a market order fills at the open of the chart, where the first finer bar opens elsewhere', () => {
    const script: TestScript = ({ bar, long, exit }) => {
      if (bar !== 0) return
      long('L')
      exit('X', 'L', { profit: 300, loss: 300 })
    }
    const bars = barsFrom('100/100/100/100 100/105/95/101 101/101/101/101')
    const finer = barsFrom('100/100/100/100 98/98/96/96 101/101/101/101')
    expect(drive(bars, { use_bar_magnifier: true }, script, { finer }).trades).toEqual([
      'long 1 L@1 100 → X@1 97 = -3',
    ])
    // What lies between the two opens is on the path.
    const far = barsFrom('100/100/100/100 96/103/96/96 101/101/101/101')
    expect(drive(bars, { use_bar_magnifier: true }, script, { finer: far }).trades).toEqual([
      'long 1 L@1 100 → X@1 97 = -3',
    ])
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

// A rule that is written down and not shown is one that nobody notices breaking.
test('every rule that is implemented has an example in these tests', () => {
  const folder = `${import.meta.dir}/../..`
  const rules = readFileSync(`${folder}/src/broker/RULES.md`, 'utf8')
    .split('\n')
    .flatMap((line) => /^- \*\*(\w+)\*\* (?!.*not implemented)/.exec(line)?.[1] ?? [])
  const titles = [...new Bun.Glob('*.test.ts').scanSync(import.meta.dir)].flatMap((file) =>
    Array.from(
      readFileSync(`${import.meta.dir}/${file}`, 'utf8').matchAll(/(?:rule: |test\(\s*|\]\)\(\s*)(['`].*)/g),
      ([, title = '']) => title.match(/\b[A-JM]\d+\b/g) ?? [],
    ).flat(),
  )
  expect(rules.length).toBeGreaterThan(80)
  expect(rules.filter((rule) => !titles.includes(rule))).toEqual([])
})
