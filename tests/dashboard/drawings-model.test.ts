// What drawings are made of, without a browser: places, calculations, undo, and the script of alerts on lines.

import { expect, test } from 'bun:test'
import { regression, volumeProfile, vwapFrom } from '../../src/dashboard/drawings/calculations.ts'
import { Undo } from '../../src/dashboard/chart/undo.ts'
import LINE_SCRIPT from '../../src/dashboard/drawings/drawn-line.pine' with { type: 'text' }
import {
  merged,
  withChanges,
  withOwn,
  withoutSent,
  type Changes,
  type Pending,
} from '../../src/dashboard/drawings/pending.ts'
import { drawDrawing, hitAt, INK, styleOf } from '../../src/dashboard/drawings/drawn.ts'
import { settled, withPoint } from '../../src/dashboard/drawings/kept-shapes.ts'
import { expanded, middlePlaces } from '../../src/dashboard/drawings/placing.ts'
import { watchables } from '../../src/dashboard/drawings/watchables.ts'
import { labelPlaces } from '../../src/dashboard/drawings/positions.ts'
import { contrast, PAGE, type ChartTheme, type Paint } from '../../src/dashboard/chart/paint.ts'
import { barOfTime, timeOfBar, type Surface } from '../../src/dashboard/drawings/surface.ts'
import { codeOf } from '../../src/dashboard/drawings/tools.ts'
import { DRAWING_TOOLS, type Drawing, type DrawingTool } from '../../src/wire/drawing.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import type { Bars } from '../../src/market/bars.ts'
import { plotted, runScript } from '../language/run-script.ts'

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
  expect(barOfTime({ bars, barMs: DAY }, FRIDAY)).toBe(0)
  expect(barOfTime({ bars, barMs: DAY }, FRIDAY + DAY)).toBeCloseTo(1 / 3, 12)
  expect(barOfTime({ bars, barMs: DAY }, FRIDAY + 3 * DAY)).toBe(1)
})

test('before the first and behind the last bar, times go on at the pace of the interval', () => {
  const bars = flat([1, 2, 3])
  expect(barOfTime({ bars, barMs: DAY }, FRIDAY - 2 * DAY)).toBe(-2)
  expect(barOfTime({ bars, barMs: DAY }, FRIDAY + 14 * DAY)).toBe(12)
  expect(timeOfBar({ bars, barMs: DAY }, 12)).toBe(FRIDAY + 14 * DAY)
  expect(timeOfBar({ bars, barMs: DAY }, -2)).toBe(FRIDAY - 2 * DAY)
})

test('a place and its time lead to each other', () => {
  const bars = flat([1, 2, 3, 4])
  for (const bar of [-7, -0.5, 0, 0.25, 1, 2.75, 3, 40])
    expect(barOfTime({ bars, barMs: DAY }, timeOfBar({ bars, barMs: DAY }, bar))).toBeCloseTo(bar, 6)
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
  const steps = new Undo()
  const step = (name: string) =>
    steps.add({ undo: () => void told.push(`-${name}`), redo: () => void told.push(`+${name}`) })
  step('a')
  step('b')
  steps.undo()
  steps.undo()
  steps.undo()
  steps.redo()
  expect(told).toEqual(['-b', '-a', '+a'])
  expect([steps.canUndo.value, steps.canRedo.value]).toEqual([true, true])
  step('c')
  expect(steps.canRedo.value).toBe(false)
  steps.undo()
  steps.undo()
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

test('placed by keyboard, every tool has as many points as the server takes', () => {
  const surface: Surface = { ...plainSurface, bars: flat([100, 101, 102]), barMs: DAY }
  for (const [name, [least, most]] of Object.entries(DRAWING_TOOLS)) {
    const tool = name as DrawingTool
    const places = middlePlaces(tool, surface).map(({ x, y }) => ({
      time: x * 1000,
      price: surface.priceAt(y),
    }))
    const count = expanded(tool, places, surface).length
    expect([tool, count >= least, count <= most]).toEqual([tool, true, true])
  }
})

test('a position reaches as far as suits what is in view, and its labels never lie on each other', () => {
  const [entry, target, stop] = expanded('short-position', [{ time: 0, price: 200 }], plainSurface)
  expect([target!.price, stop!.price, target!.time === stop!.time]).toEqual([152, 248, true])
  expect(entry).toEqual({ time: 0, price: 200 })
  const random = seededRandom(7)
  for (let round = 0; round < 2000; round++) {
    const at = (y: number) => ({ x: random.below(300), y })
    const middle = 200
    const [up, down] = [middle - random.below(120), middle + random.below(120)]
    const [a, b] = round % 2 === 0 ? [up, down] : [down, up]
    const boxes = labelPlaces([at(middle), at(a), at(b)], [random.below(200), random.below(200), 150], 1)
    for (const [i, one] of boxes.entries())
      for (const other of boxes.slice(i + 1)) {
        const isApart =
          one.y + one.height <= other.y ||
          other.y + other.height <= one.y ||
          one.x + one.width <= other.x ||
          other.x + other.width <= one.x
        expect([round, isApart]).toEqual([round, true])
      }
  }
})

test('target and stop of a position keep one time, and neither passes the entry', () => {
  const position: Drawing = {
    id: 'p',
    tool: 'long-position',
    points: [
      { time: 0, price: 100 },
      { time: 5000, price: 120 },
      { time: 5000, price: 90 },
    ],
    style: {},
  }
  const pulled = (at: number, time: number, price: number) =>
    withPoint(plainSurface, position, at, { time, price }).points.map((point) => [point.time, point.price])
  expect(pulled(1, 9000, 80)).toEqual([
    [0, 100],
    [9000, 100],
    [9000, 90],
  ])
  expect(pulled(2, 9000, 95)[2]).toEqual([9000, 95])
  expect(pulled(2, 9000, 130)[2]).toEqual([9000, 100])
  expect(pulled(0, 1000, 300)[0]).toEqual([1000, 120])
})

test('the second line of a channel runs through where it was placed, and keeps its distance', () => {
  const surface: Surface = { ...plainSurface, bars: flat(Array.from({ length: 400 }, () => 1)), barMs: DAY }
  // One bar a pixel, from the first on.
  const timeAt = (x: number) => timeOfBar({ bars: surface.bars, barMs: DAY }, x)
  const placed = { ...surface, x: (time: number) => barOfTime({ bars: surface.bars, barMs: DAY }, time) }
  const point = (x: number, price: number) => ({ time: timeAt(x), price })
  const channel: Drawing = {
    id: 'c',
    tool: 'parallel-channel',
    points: [point(100, 100), point(200, 200), point(300, 250)],
    style: {},
  }
  // The line is at 300 above the third point, which is 50 below it.
  const settledChannel = settled(placed, channel)
  expect(settledChannel.points[2]).toEqual(point(150, 100))
  const wider = withPoint(placed, settledChannel, 1, point(200, 240))
  expect(wider.points[2]).toEqual(point(150, 120))
})

test('a drawing without a colour of its own is ink on the page of either theme', () => {
  const line: Drawing = { ...level('l', 1), style: {} }
  expect([styleOf(line, 'dark').color, styleOf(line, 'light').color]).toEqual([INK.dark, INK.light])
  for (const theme of ['dark', 'light'] as const)
    expect(contrast(INK[theme], PAGE[theme].ground)).toBeGreaterThan(4.5)
  expect(styleOf({ ...line, style: { color: '#ff0000' } }, 'light').color).toBe('#ff0000')
})

test('what lies beside the view is not drawn unless it reaches into it, and a speck has no labels', () => {
  const called = (drawing: Omit<Drawing, 'id'>) => {
    const names: string[] = []
    const ctx = new Proxy({} as CanvasRenderingContext2D, {
      get: (_, name) => {
        if (name === 'measureText') return () => ({ width: 10 })
        return () => names.push(String(name))
      },
      set: () => true,
    })
    const theme = { surface: '#0f1216', raised: '#161a20', accent: '#5b8def' } as ChartTheme
    const paint = { ctx, hr: 1, vr: 1, width: 400, height: 400, theme } as Paint
    drawDrawing(paint, plainSurface, { id: 'd', ...drawing }, { marked: false, formatPrice: String })
    return names
  }
  const at = (x: number, price: number) => ({ time: x * 1000, price })
  const line = { tool: 'trend-line', points: [at(1500, 100), at(1600, 200)], style: {} } as const
  expect(called(line)).toEqual([])
  expect(called({ ...line, tool: 'ray', points: [at(1600, 100), at(1500, 200)] })).toContain('stroke')
  expect(called({ ...line, style: { extendLeft: true } })).toContain('stroke')
  expect(called({ ...line, points: [at(1500, 100), at(100, 200)] })).toContain('stroke')
  const levels = { tool: 'fib-retracement', points: [at(100, 100), at(200, 200)], style: {} } as const
  expect(called(levels)).toContain('fillText')
  const speck = called({ ...levels, points: [at(100, 100), at(103, 108)] })
  expect([speck.includes('stroke'), speck.includes('fillText')]).toEqual([true, false])
})

test('every sloping line of a drawing can be watched, and lies where it is drawn', () => {
  const bars = flat(Array.from({ length: 400 }, (_, i) => 100 + Math.sin(i / 20) * 40 + i / 10))
  const surface: Surface = {
    ...plainSurface,
    bars,
    barMs: DAY,
    x: (time) => barOfTime({ bars, barMs: DAY }, time),
  }
  const point = (bar: number, price: number) => ({ time: timeOfBar({ bars, barMs: DAY }, bar), price })
  const counts: Readonly<Partial<Record<DrawingTool, number>>> = {
    ray: 1,
    'parallel-channel': 2,
    'regression-channel': 3,
    pitchfork: 3,
    'schiff-pitchfork': 3,
    'fib-channel': 7,
    'fib-fan': 6,
    'gann-fan': 7,
  }
  for (const [name, count] of Object.entries(counts)) {
    const tool = name as DrawingTool
    const points = [point(50, 100), point(151, 160), point(160, 140)].slice(0, codeOf(tool).points)
    const drawing: Drawing = { id: 'd', tool, points, style: {} }
    const lines = watchables(drawing, { bars, barMs: DAY, mintick: 0.01 }).flatMap(({ line }) => line ?? [])
    expect([tool, lines.length]).toEqual([tool, count])
    for (const { from, to, right } of lines) {
      const middle = {
        x: (surface.x(from.time) + surface.x(to.time)) / 2,
        y: surface.y((from.price + to.price) / 2),
      }
      // Fans are drawn to the edge of the view, and no further.
      const isHit = hitAt(surface, [drawing], new Set(), middle, 0.01) !== null
      expect([tool, right, middle.y < -400 || isHit]).toEqual([tool, true, true])
    }
  }
})

test('levels of a drawing are watched on ticks', () => {
  const points = [
    { time: FRIDAY, price: 2444.13 },
    { time: FRIDAY + DAY, price: 2915.51 },
  ]
  const drawing: Drawing = { id: 'd', tool: 'fib-retracement', points, style: { levels: [0.618] } }
  const chart = { bars: flat([1]), barMs: DAY, mintick: 0.01 }
  expect(watchables(drawing, chart)).toEqual([{ text: 'Alert at 0.618: 2,624.20…', price: 2624.2 }])
})

test('an alert on a line that has ended watches it as it runs on', () => {
  const bars = flat(Array.from({ length: 100 }, (_, i) => 100 + i / 10))
  const point = (bar: number, price: number) => ({ time: timeOfBar({ bars, barMs: DAY }, bar), price })
  const watched = (end: number) => {
    const points = [point(10, 100), point(end, 110)]
    return watchables({ id: 'd', tool: 'trend-line', points, style: {} }, { bars, barMs: DAY, mintick: 0.01 })
  }
  expect(watched(99)).toMatchObject([{ text: 'Alert on this line as it runs on…', line: { right: true } }])
  expect(watched(110)).toMatchObject([{ text: 'Alert on this line…', line: { right: false } }])
})
