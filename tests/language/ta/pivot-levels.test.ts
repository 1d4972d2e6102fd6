// The levels of floor traders, by the formulas of TradingView's help page "Pivot Points Standard".

import { describe, expect, test } from 'bun:test'
import { barsOf, plotted, runScript, walk } from '../run-script.ts'

const BARS = barsOf(walk(60, 7))
const EACH = 5
// The second period closes where it opened.
BARS.open[EACH] = BARS.close[2 * EACH - 1]!

interface Period {
  readonly O: number
  readonly H: number
  readonly L: number
  readonly C: number
  /** The open of the period that its levels are for. */
  readonly next: number
}

/** From the pivot on: each resistance, and the support that mirrors it. */
const FORMULAS: Readonly<Record<string, (of: Period) => readonly number[]>> = {
  Traditional({ H, L, C }) {
    const P = (H + L + C) / 3
    const r = [2 * P - L, P + (H - L), 2 * P + (H - 2 * L), 3 * P + (H - 3 * L), 4 * P + (H - 4 * L)]
    const s = [2 * P - H, P - (H - L), 2 * P - (2 * H - L), 3 * P - (3 * H - L), 4 * P - (4 * H - L)]
    return [P, ...r.flatMap((level, i) => [level, s[i]!])]
  },
  Fibonacci({ H, L, C }) {
    const P = (H + L + C) / 3
    return [P, ...[0.382, 0.618, 1].flatMap((part) => [P + part * (H - L), P - part * (H - L)])]
  },
  Woodie({ H, L, next }) {
    const P = (H + L + 2 * next) / 4
    const [R3, S3] = [H + 2 * (P - L), L - 2 * (H - P)]
    return [P, 2 * P - L, 2 * P - H, P + (H - L), P - (H - L), R3, S3, R3 + (H - L), S3 - (H - L)]
  },
  Classic({ H, L, C }) {
    const P = (H + L + C) / 3
    return [P, 2 * P - L, 2 * P - H, ...[1, 2, 3].flatMap((n) => [P + n * (H - L), P - n * (H - L)])]
  },
  DM({ O, H, L, C }) {
    const X = O === C ? H + L + 2 * C : C > O ? 2 * H + L + C : 2 * L + H + C
    return [X / 4, X / 2 - L, X / 2 - H]
  },
  Camarilla({ H, L, C }) {
    const steps = [12, 6, 4, 2].map((part) => (1.1 * (H - L)) / part)
    const R5 = (H / L) * C
    return [(H + L + C) / 3, ...steps.flatMap((step) => [C + step, C - step]), R5, C - (R5 - C)]
  },
}

/** Of the bars from `from` to `to`. */
function period(from: number, to: number): Period {
  const { open, high, low, close } = BARS
  return {
    O: open[from]!,
    H: Math.max(...high.slice(from, to + 1)),
    L: Math.min(...low.slice(from, to + 1)),
    C: close[to]!,
    next: open[to + 1] ?? NaN,
  }
}

function levelsOf(type: string, developing: boolean): number[][] {
  const body = `levels = ta.pivot_point_levels("${type}", bar_index % ${EACH} == 0 and bar_index > 0, ${developing})`
  const plots = Array.from({ length: 11 }, (_, i) => `plot(levels.get(${i}))`)
  const run = runScript(`//@version=6\nindicator("x")\n${[body, ...plots].join('\n')}`, BARS)
  const columns = plots.map((_, i) => plotted(run, i))
  return Array.from({ length: BARS.length }, (_, bar) => columns.map((column) => column[bar]!))
}

const padded = (levels: readonly number[]) =>
  Array.from({ length: 11 }, (_, i) => (i < levels.length ? expect.closeTo(levels[i]!, 9) : NaN))

describe.each(Object.entries(FORMULAS))('%s', (type, levels) => {
  test('of the period before', () => {
    const expected = Array.from({ length: BARS.length }, (_, bar) => {
      const begins = Math.floor(bar / EACH) * EACH
      return bar < EACH ? padded([]) : padded(levels(period(begins - EACH, begins - 1)))
    })
    expect(levelsOf(type, false)).toEqual(expected as never)
  })
  // The next period's open is not known yet, which Woodie's are made of.
  if (type === 'Woodie') return
  test('of the period as far as it is', () => {
    const expected = Array.from({ length: BARS.length }, (_, bar) =>
      bar < EACH ? padded([]) : padded(levels(period(Math.floor(bar / EACH) * EACH, bar))),
    )
    expect(levelsOf(type, true)).toEqual(expected as never)
  })
})
