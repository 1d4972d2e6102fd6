// Bars that go by price, by values worked out by hand.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import {
  boxSize,
  DEFAULT_BOXES,
  PRICE_TYPES,
  priceBars,
  type Boxes,
  type PriceType,
} from '../../src/dashboard/chart/price-bars.ts'
import { sampled } from '../../src/dashboard/chart/sampled.ts'
import { marksOf, type PlotMark } from '../../src/dashboard/chart/marks.ts'
import type { Track } from '../../src/wire/track.ts'
import { noBrowser, startSite, type Site } from './browser.ts'

describe.skipIf(noBrowser)('on the page', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterAll(() => site.close())

  test('Renko is chosen and set by keyboard, says what scripts run on, and is there after a reload', async () => {
    const { page, complaints } = await site.open({
      remembered: { script: { id: null, name: '', source: '' }, side: '', bottom: '', 'tour.done': true },
    })
    await page.goto(site.url)
    await page.getByText(/^Vol/).first().waitFor()
    await page.getByRole('button', { name: 'Chart type: Candles' }).press('Enter')
    await page.getByRole('menuitemradio', { name: 'Renko' }).press('Enter')
    const type = page.getByRole('button', { name: 'Chart type: Renko' })
    await type.press('Enter')
    await page.getByRole('menuitem', { name: 'Settings of renko…' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'How far the price has to move' })
    await dialog.getByRole('button', { name: 'In price' }).press('Enter')
    await dialog.getByLabel('Size in price').fill('50')
    await page.keyboard.press('Escape')
    await page.getByRole('application').press('Alt+i')
    await page.getByRole('combobox', { name: 'Search indicators' }).fill('rsi')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await page.getByText('Scripts run on the real bars').waitFor()
    await page.reload()
    await type.press('Enter')
    await page.getByRole('menuitem', { name: 'Settings of renko…' }).press('Enter')
    expect(await dialog.getByLabel('Size in price').inputValue()).toBe('50')
    expect(complaints).toEqual([])
  }, 300_000)
})

test('what scripts plot is taken from the real bar behind each', () => {
  const plot = (id: string, data: readonly number[], color: object) =>
    ({
      id,
      kind: 'plot',
      pane: 'script',
      title: id,
      data,
      style: 'line',
      linewidth: 1,
      ...color,
    }) as unknown as Track
  const real = barsOf([1, 2, 3, 4])
  const tracks = [
    { id: 'time', kind: 'time', data: [1000, 2000, 3000] } as unknown as Track,
    plot('a', [10, 20, 30], { color: '#ff0000' }),
    plot('b', [1, 2, 3], { colors: { palette: ['#111111', '#222222'], index: [0, 1, 0] } }),
    { id: 'l', kind: 'label', pane: 'price', title: '', items: [{ kind: 'label' }] } as unknown as Track,
  ]
  const marks = sampled(marksOf('T', tracks, real), Int32Array.from([0, 2, 2, 3]))
  const [a, b] = marks.panes.find(({ name }) => name === 'script')!.marks as PlotMark[]
  expect([...a!.values]).toEqual([Number.NaN, 20, 20, 30])
  expect(b!.colors).toEqual({ palette: ['#111111', '#222222'], index: [-1, 1, 1, 0] })
  // A label has a bar and a price of its own.
  expect(marks.panes.find(({ name }) => name === 'price')?.marks).toEqual([])
})

/** Closes, each the next one's open; a time a thousand milliseconds. */
function barsOf(closes: readonly number[]): Bars {
  const bars = emptyBars(closes.length)
  for (const [i, close] of closes.entries()) {
    const open = closes[i - 1] ?? close
    bars.time[i] = i * 1000
    bars.open[i] = open
    bars.high[i] = Math.max(open, close)
    bars.low[i] = Math.min(open, close)
    bars.close[i] = close
  }
  return bars
}
const fixed = (size: number, more: Partial<Boxes> = {}): Boxes => ({
  ...DEFAULT_BOXES,
  by: 'price',
  size,
  ...more,
})
const made = (type: PriceType, closes: readonly number[], boxes: Boxes) => {
  const { bars, source } = priceBars(type, barsOf(closes), boxes)
  return Array.from({ length: bars.length }, (_, i) => [source[i], bars.open[i], bars.close[i]])
}

test.each([
  // Up two bricks at once; back by one brick is nothing, by two is one brick the other way.
  [
    'renko',
    [10, 12.5, 11.5, 10.5, 9.9],
    fixed(1),
    [
      [1, 10, 11],
      [1, 11, 12],
      [4, 11, 10],
    ],
  ],
  [
    'renko',
    [10, 8, 9.5, 10.5],
    fixed(1),
    [
      [1, 10, 9],
      [1, 9, 8],
      [3, 9, 10],
    ],
  ],
  ['renko', [10, 10.9, 9.1], fixed(1), []],
  // Higher closes go on; a turn has to go below the last three lines.
  [
    'line-break',
    [10, 11, 12, 13, 11.5, 9.9],
    fixed(1),
    [
      [1, 10, 11],
      [2, 11, 12],
      [3, 12, 13],
      [5, 12, 9.9],
    ],
  ],
  [
    'line-break',
    [10, 9, 8, 7, 9.5, 10.5],
    fixed(1),
    [
      [1, 10, 9],
      [2, 9, 8],
      [3, 8, 7],
      [5, 8, 10.5],
    ],
  ],
  [
    'line-break',
    [10, 11, 12, 10.5],
    fixed(1, { lines: 1 }),
    [
      [1, 10, 11],
      [2, 11, 12],
      [3, 11, 10.5],
    ],
  ],
  // It goes on upwards, ignores a step back of one, and turns at two.
  [
    'kagi',
    [10, 12, 11, 13, 11, 10],
    fixed(2),
    [
      [3, 10, 13],
      [5, 13, 10],
    ],
  ],
  ['kagi', [10, 11, 10], fixed(2), []],
  // Columns on whole prices: up to 13, down only by three boxes, from one box below.
  [
    'point-figure',
    [10.2, 13.7, 11.5, 10.4, 9.9],
    fixed(1),
    [
      [1, 10, 13],
      [4, 12, 10],
    ],
  ],
  [
    'point-figure',
    [10, 8, 10.9, 11.1],
    fixed(1),
    [
      [1, 10, 8],
      [3, 9, 11],
    ],
  ],
  [
    'range',
    [10, 13, 11],
    fixed(2),
    [
      [1, 10, 12],
      [2, 12, 11],
    ],
  ],
] as const)('%s of %p', (type, closes, boxes, expected) => {
  expect(made(type, closes, boxes)).toEqual(expected as never)
})

test('range bars are all as high as the range but the last, which is forming', () => {
  const walk = Array.from({ length: 200 }, (_, i) => 100 + 8 * Math.sin(i / 7) + (i % 5))
  const { bars } = priceBars('range', barsOf(walk), fixed(3))
  expect(bars.length).toBeGreaterThan(20)
  for (let i = 0; i < bars.length - 1; i++) expect(bars.high[i]! - bars.low[i]!).toBeCloseTo(3)
})

test('a box is the average true range, as Wilder has it, or a number', () => {
  const bars = barsOf([10, 12, 11])
  expect(boxSize(bars, fixed(5))).toBe(5)
  // Ranges 0, 2, 1: (0 + 2) / 2 = 1, then 1 + (1 - 1) / 2.
  expect(boxSize(bars, { ...DEFAULT_BOXES, length: 2 })).toBe(1)
})

test.each(PRICE_TYPES.map((type) => [type]))(
  '%s: times ascend, and bad input makes no bars without end',
  (type) => {
    const walk = Array.from({ length: 500 }, (_, i) => 100 + 30 * Math.sin(i / 9) - (i % 7))
    const { bars, source } = priceBars(type, barsOf(walk), fixed(2))
    expect(bars.length).toBeGreaterThan(5)
    for (let i = 1; i < bars.length; i++) {
      expect(bars.time[i]!).toBeGreaterThan(bars.time[i - 1]!)
      expect(source[i]!).toBeGreaterThanOrEqual(source[i - 1]!)
    }
    expect(priceBars(type, barsOf([]), fixed(2)).bars.length).toBe(0)
    expect(priceBars(type, barsOf([5]), fixed(0)).bars.length).toBe(0)
    expect(priceBars(type, barsOf([1, 1e9]), fixed(1e-9)).bars.length).toBeLessThanOrEqual(100_000)
  },
)
