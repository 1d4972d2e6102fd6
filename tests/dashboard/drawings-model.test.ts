// What drawings are made of, without a browser: places, calculations, undo, and the script of alerts on lines.

import { expect, test } from 'bun:test'
import { regression, volumeProfile, vwapFrom } from '../../src/dashboard/drawings/calculations.ts'
import { History } from '../../src/dashboard/chart/history.ts'
import { LINE_SCRIPT } from '../../src/dashboard/drawings/line-script.ts'
import {
  merged,
  withChanges,
  withOwn,
  withoutSent,
  type Changes,
  type Pending,
} from '../../src/dashboard/drawings/pending.ts'
import { hitAt, styleOf } from '../../src/dashboard/drawings/drawn.ts'
import { barOfTime, timeOfBar, type Surface } from '../../src/dashboard/drawings/surface.ts'
import { codeOf } from '../../src/dashboard/drawings/tools.ts'
import type { Drawing, DrawingTool } from '../../src/wire/drawing.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import type { Bars } from '../../src/market/bars.ts'
import { plotted, runScript } from '../pine/run-script.ts'

const DAY = 86_400_000
const FRIDAY = Date.UTC(2024, 0, 5)

/** Rows of open, high, low, close and volume; Friday, Monday, Tuesday and so on. */
function barsOf(rows: readonly (readonly [number, number, number, number, number])[]): Bars {
  const column = (at: number) => Float64Array.from(rows, (row) => row[at]!)
  return {
    length: rows.length,
    time: Float64Array.from(rows, (_, i) => FRIDAY + (i === 0 ? 0 : i + 2) * DAY),
    open: column(0),
    high: column(1),
    low: column(2),
    close: column(3),
    volume: column(4),
  }
}
const flat = (closes: readonly number[]) =>
  barsOf(closes.map((close) => [close, close, close, close, 1] as const))

const level = (id: string, price: number): Drawing => ({
  id,
  tool: 'horizontal-line',
  points: [{ time: FRIDAY, price }],
  style: {},
})

test('tabs that draw without a connection keep each other’s changes, and of one drawing the last', () => {
  // What the browser keeps for all tabs; each tab reads it before it writes.
  let kept: Pending = {}
  const change = (changes: Changes) => (kept = withChanges(kept, 'AAPL', changes))
  change({ a: level('a', 1), b: level('b', 1) })
  change({ c: level('c', 2) })
  change({ a: level('a', 3), b: null })
  kept = withChanges(kept, 'SPX', { d: level('d', 4) })
  expect(merged([level('b', 0), level('e', 5)], kept['AAPL']!)).toEqual([
    level('e', 5),
    level('a', 3),
    level('c', 2),
  ])
  // One tab has sent all of it; meanwhile another has moved a line once more.
  const sent = kept['AAPL']!
  change({ a: level('a', 6) })
  kept = withoutSent(kept, 'AAPL', sent)
  expect(kept).toEqual({ AAPL: { a: level('a', 6) }, SPX: { d: level('d', 4) } })
  // The other tab sent the same, and says so later.
  kept = withoutSent(kept, 'AAPL', sent)
  expect(withoutSent(kept, 'AAPL', { a: level('a', 6) })).toEqual({ SPX: { d: level('d', 4) } })
})

test('a tab puts its own changes back when another has written without them, and no others', () => {
  const own = (_key: string, id: string) => id === 'mine'
  const known = { AAPL: { mine: level('mine', 1), theirs: level('theirs', 2) } }
  expect(withOwn({}, known, own)).toEqual({ AAPL: { mine: level('mine', 1) } })
  // What another tab has changed since is newer.
  const kept = { AAPL: { mine: level('mine', 3) }, SPX: { other: null } }
  expect(withOwn(kept, known, own)).toEqual(kept)
})

test('a weekend takes no room: Saturday lies a third of the way from Friday to Monday', () => {
  const bars = flat([1, 2, 3])
  expect(barOfTime(bars, DAY, FRIDAY)).toBe(0)
  expect(barOfTime(bars, DAY, FRIDAY + DAY)).toBeCloseTo(1 / 3, 12)
  expect(barOfTime(bars, DAY, FRIDAY + 3 * DAY)).toBe(1)
})

test('before the first and behind the last bar, times go on at the pace of the interval', () => {
  const bars = flat([1, 2, 3])
  expect(barOfTime(bars, DAY, FRIDAY - 2 * DAY)).toBe(-2)
  expect(barOfTime(bars, DAY, FRIDAY + 14 * DAY)).toBe(12)
  expect(timeOfBar(bars, DAY, 12)).toBe(FRIDAY + 14 * DAY)
  expect(timeOfBar(bars, DAY, -2)).toBe(FRIDAY - 2 * DAY)
})

test('a place and its time lead to each other', () => {
  const bars = flat([1, 2, 3, 4])
  for (const bar of [-7, -0.5, 0, 0.25, 1, 2.75, 3, 40])
    expect(barOfTime(bars, DAY, timeOfBar(bars, DAY, bar))).toBeCloseTo(bar, 6)
})

test('the regression of a straight line is that line; around it the closes deviate', () => {
  expect(regression(flat([10, 12, 14, 16]), 0, 3)).toEqual({ start: 10, slope: 2, deviation: 0 })
  // By hand: mean 2, slope 0.2 (deviations -1.5, -0.5, 0.5, 1.5 with -1, 1, -1, 1), rest squared 4 - 0.2.
  const found = regression(flat([1, 3, 1, 3]), 0, 3)
  expect(found.slope).toBeCloseTo(0.4, 12)
  expect(found.start).toBeCloseTo(1.4, 12)
  expect(found.deviation).toBeCloseTo(Math.sqrt((0.4 ** 2 + 1.2 ** 2 + 1.2 ** 2 + 0.4 ** 2) / 4), 12)
})

test('an anchored VWAP begins at its bar and weighs by volume', () => {
  const bars = barsOf([
    [9, 9, 9, 9, 1000],
    [10, 12, 8, 10, 1],
    [20, 22, 18, 20, 3],
  ])
  expect([...vwapFrom(bars, 1)]).toEqual([10, 17.5])
  expect([...vwapFrom(barsOf([[1, 1, 1, 1, 0]]), 0)]).toEqual([Number.NaN])
})

test('a volume profile shares a bar out over its rows, and finds where most was traded', () => {
  const bars = barsOf([
    [0, 4, 0, 4, 40],
    [3, 3, 2, 2, 10],
  ])
  const { low, high, up, down, most, point } = volumeProfile(bars, 0, 1, 4)
  expect([low, high]).toEqual([0, 4])
  expect([...up]).toEqual([10, 10, 10, 10])
  expect([...down]).toEqual([0, 0, 10, 0])
  expect([most, point]).toEqual([20, 2])
})

test('the value area grows to the side that has more until it has 70 %', () => {
  const rows = [1, 2, 10, 5, 2].map((volume, i) => [i, i + 1, i, i + 1, volume] as const)
  const { point, from, to } = volumeProfile(barsOf(rows), 0, 4, 5)
  expect([point, from, to]).toEqual([2, 2, 3])
})

test('steps are taken back and done again until something else is done', () => {
  const told: string[] = []
  const history = new History()
  const step = (name: string) =>
    history.add({ undo: () => void told.push(`-${name}`), redo: () => void told.push(`+${name}`) })
  step('a')
  step('b')
  history.undo()
  history.undo()
  history.undo()
  history.redo()
  expect(told).toEqual(['-b', '-a', '+a'])
  expect([history.canUndo.value, history.canRedo.value]).toEqual([true, true])
  step('c')
  expect(history.canRedo.value).toBe(false)
  history.undo()
  history.undo()
  expect(told.slice(3)).toEqual(['-c', '-a'])
})

test("the alert's script is told a line by its inputs, and plots how far the close is from it", () => {
  const bars = flat([10, 11, 12, 13, 14])
  const distances = (inputs: Readonly<Record<string, unknown>>) =>
    plotted(runScript(LINE_SCRIPT, bars, { inputs, interval: '1d' }))
  const line = { 'Time 1': FRIDAY, 'Price 1': 10, 'Time 2': FRIDAY + 4 * DAY, 'Price 2': 14 }
  // Friday to Tuesday is two bars: 2 a bar, and the closes rise by 1.
  expect(distances(line)).toEqual([0, -1, -2, -3, -4])
  expect(distances({ ...line, 'After the second point': false })).toEqual([0, -1, -2, Number.NaN, Number.NaN])
  // A second point that is still to come lies as many bars ahead as days.
  expect(distances({ ...line, 'Time 2': FRIDAY + 8 * DAY })[4]).toBeCloseTo(14 - (10 + (4 * 4) / 6), 9)
})

/** A pixel a bar and a unit of price, bars a second apart. */
const plainSurface: Surface = {
  bars: {
    length: 2,
    time: Float64Array.from([0, 1000]),
    open: new Float64Array(2),
    high: new Float64Array(2),
    low: new Float64Array(2),
    close: new Float64Array(2),
    volume: new Float64Array(2),
  },
  barMs: 1000,
  width: 400,
  height: 400,
  from: 0,
  to: 400,
  x: (time) => time / 1000,
  y: (price) => 400 - price,
  barAt: (x) => x,
  priceAt: (y) => 400 - y,
}

test('a drawing is hit wherever its tool says so, though most are passed over by their points alone', () => {
  const random = seededRandom(20)
  const tools: readonly DrawingTool[] = [
    'trend-line',
    'arrow',
    'rectangle',
    'triangle',
    'path',
    'brush',
    'highlighter',
    'ray',
  ]
  const whole = (most: number) => random.below(most)
  let hits = 0
  for (let round = 0; round < 4000; round++) {
    const tool = tools[round % tools.length]!
    const count = codeOf(tool).points || 4
    const drawing: Drawing = {
      id: 'd',
      tool,
      points: Array.from({ length: count }, () => ({ time: whole(400) * 1000, price: whole(400) })),
      style: round % 3 === 0 ? { extendRight: true } : { lineWidth: 1 + whole(4) },
    }
    const place = { x: whole(400), y: whole(400) }
    const hit = hitAt(plainSurface, [drawing], new Set(), place, 6)
    const asked = codeOf(tool).distance(place.x, place.y, {
      pts: drawing.points.map(({ time, price }) => ({ x: time / 1000, y: 400 - price })),
      drawing: {
        ...drawing,
        style: styleOf(drawing),
        points: drawing.points.map(({ time, price }) => ({ time: time / 1000, price })),
        paneIndex: 0,
      },
      rc: { plotWidth: 400, plotHeight: 400, dpr: 1 },
    } as never)
    expect([round, tool, hit !== null]).toEqual([round, tool, asked !== null && asked <= 6])
    if (hit) hits++
  }
  expect(hits).toBeGreaterThan(100)
})
