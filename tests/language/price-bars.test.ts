// Renko, line break, Kagi and point & figure bars, and when a bar of the chart sees them.

import { describe, expect, test } from 'bun:test'
import { PriceBars } from '../../src/language/runtime/price-bars.ts'
import type { ChartType } from '../../src/language/runtime/ticker.ts'
import { ScriptError } from '../../src/language/script-error.ts'
import { barsOf, plotted, runScript, walk } from './run-script.ts'

const NA = Number.NaN

/** `open>close` of each bar made. */
function made(chart: ChartType, closes: readonly number[]): string {
  const bars = new PriceBars(barsOf(closes), chart, 0.01)
  bars.extend()
  return Array.from({ length: bars.length }, (_, i) => `${bars.open[i]}>${bars.close[i]}`).join(' ')
}

const renko = (more: ChartType['parameters'] = {}): ChartType => ({
  kind: 'renko',
  parameters: { style: 'Traditional', param: 2, request_wicks: false, source: 'Close', ...more },
})

describe('the bars prices make', () => {
  for (const [name, chart, closes, expected] of [
    ['a brick for each box passed', renko(), [10, 11, 13, 16.5], '10>12 12>14 14>16'],
    ['a brick turns when the last one is passed', renko(), [10, 14, 12, 11, 10, 9], '10>12 12>14 12>10'],
    ['the first price lies on the grid', renko(), [10.9, 13, 8], '10>12 10>8'],
    [
      'decimal boxes',
      renko({ param: 0.1 }),
      [1, 1.1, 1.2, 1.3],
      '1>1.1 1.1>1.2000000000000002 1.2000000000000002>1.3',
    ],
    [
      'three line break',
      { kind: 'linebreak', parameters: { number_of_lines: 3 } },
      [5, 6, 7, 8, 7.5, 5.5, 4.9],
      '5>6 6>7 7>8 7>4.9',
    ],
    [
      'one line break',
      { kind: 'linebreak', parameters: { number_of_lines: 1 } },
      [5, 6, 7, 5.5],
      '5>6 6>7 6>5.5',
    ],
    ['Kagi', { kind: 'kagi', parameters: { reversal: 3 } }, [10, 12, 14, 12, 16, 13, 12, 15], '10>16 16>12'],
    [
      'point & figure',
      { kind: 'pointfigure', parameters: { source: 'close', style: 'Traditional', param: 1, reversal: 3 } },
      [10, 12, 15, 13, 12, 11, 14],
      '10>15 14>11',
    ],
  ] as const)
    test(name, () => {
      expect(made(chart, closes)).toBe(expected)
    })

  test('wicks show how far the price went against the brick', () => {
    const bars = new PriceBars(barsOf([10, 9, 13]), renko({ request_wicks: true }), 0.01)
    bars.extend()
    expect([bars.low[0], bars.high[0], bars.volume[0]]).toEqual([8.5, 12, 303])
  })

  test('bars one at a time, the last one forming in between, make the same bricks', () => {
    for (const chart of [
      renko({ source: 'OHLC', request_wicks: true }),
      { kind: 'linebreak', parameters: { number_of_lines: 3 } },
      { kind: 'kagi', parameters: { reversal: 2 } },
      { kind: 'pointfigure', parameters: { source: 'hl', style: 'Traditional', param: 0.5, reversal: 3 } },
    ] as ChartType[]) {
      const all = barsOf(walk(400, 7))
      const whole = new PriceBars(all, chart, 0.01)
      whole.extend()
      const growing = { ...all, close: all.close.slice(), high: all.high.slice(), length: 0 }
      const stepped = new PriceBars(growing, chart, 0.01)
      for (let i = 0; i < all.length; i++) {
        growing.length = i + 1
        const { [i]: close } = all.close
        const { [i]: high } = all.high
        growing.close[i] = close! + 5
        growing.high[i] = high! + 5
        stepped.extend()
        growing.close[i] = close!
        growing.high[i] = high!
        stepped.extend()
      }
      expect(stepped.length).toBe(whole.length)
      for (const field of ['time', 'open', 'high', 'low', 'close', 'volume'] as const)
        expect(stepped[field].slice(0, stepped.length)).toEqual(whole[field].slice(0, whole.length))
      expect(stepped.madeBy.slice(0, 400)).toEqual(whole.madeBy.slice(0, 400))
    }
  })
})

describe('request.security on them', () => {
  const run = (body: string, closes: readonly number[], version = 6) =>
    plotted(
      runScript(
        `//@version=${version}\n${version < 5 ? 'study' : 'indicator'}("x")\n${body}\n`,
        barsOf(closes),
      ),
    )

  test('a bar sees the last brick complete at its close', () => {
    const body = 't = ticker.renko(syminfo.tickerid, "Traditional", 2)\nplot(request.security(t, "", close))'
    expect(run(body, [10, 11, 13, 16.5, 14, 11])).toEqual([NA, NA, 12, 16, 16, 12])
  })

  test('indicators run from brick to brick', () => {
    const body =
      't = ticker.renko(syminfo.tickerid, "Traditional", 2)\nplot(request.security(t, "", close[1] * 100 + bar_index))'
    expect(run(body, [10, 12, 12, 16])).toEqual([NA, NA, NA, 1402])
  })

  test('of a coarser interval once its bar has closed', () => {
    const body =
      't = ticker.renko(syminfo.tickerid, "Traditional", 2)\nplot(request.security(t, "60", close))'
    expect(run(body, [1, 2, 3, 4, 5, 6, 7, 8, 9])).toEqual([NA, NA, NA, NA, NA, NA, NA, 8, 8])
  })

  test('an ATR box is the average true range of the last bar, on ticks', () => {
    const body =
      't = ticker.renko(syminfo.tickerid, "ATR", 2)\nplot(request.security(t, "", math.abs(close - open)))'
    expect(run(body, [10, 12, 14, 16]).at(-1)).toBeCloseTo(2.75, 10)
  })

  test('by their names of version 4', () => {
    expect(
      run('plot(security(kagi(syminfo.tickerid, 3), timeframe.period, close))', [10, 14, 11], 4),
    ).toEqual([NA, NA, 14])
    expect(
      run(
        'plot(security(renko(syminfo.tickerid, "Traditional", 2), timeframe.period, close))',
        [10, 14, 11],
        4,
      ),
    ).toEqual([NA, 14, 14])
  })

  test('a box of nothing is named', () => {
    const body = 't = ticker.renko(syminfo.tickerid, "Traditional", 0)\nplot(request.security(t, "", close))'
    expect(() => run(body, [1, 2])).toThrow(ScriptError)
  })
})
