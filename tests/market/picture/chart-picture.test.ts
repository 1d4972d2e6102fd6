// The picture of a chart: what is where, for bars of any kind, and that it is small.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { emptyBars, type Bars } from '../../../src/market/bars.ts'
import { zoneOf } from '../../../src/market/zone.ts'
import { fitted, textWidth } from '../../../src/market/picture/canvas.ts'
import {
  chartPicture,
  PICTURE_COLORS,
  PICTURE_THEMES,
  type Pictured,
} from '../../../src/market/picture/chart-picture.ts'
import { packGlyphs, unpackGlyphs } from '../../../src/market/picture/glyph-format.ts'
import { priceTicks, timeTicks } from '../../../src/market/picture/ticks.ts'
import { pixelsOf, type Part } from './png-pixels.ts'

setDefaultTimeout(900_000)

const HOUR = 3_600_000
const START = Date.UTC(2026, 10, 18, 22)

/** A bar a row: open, high, low, close, volume. */
function barsOf(rows: readonly (readonly number[])[], step = HOUR): Bars {
  const bars = emptyBars(rows.length)
  for (const [i, [open, high, low, close, volume = 1]] of rows.entries()) {
    bars.time[i] = START + i * step
    bars.open[i] = open!
    bars.high[i] = high!
    bars.low[i] = low!
    bars.close[i] = close!
    bars.volume[i] = volume
  }
  return bars
}

const UP = [10, 13, 9, 12]
const DOWN = [12, 13, 8, 9]
const MARKET = { exchange: 'ME', symbol: 'TEST', description: 'TEST', mintick: 0.01 }

const picture = (part: Partial<Pictured>) =>
  chartPicture({
    bars: barsOf([UP, DOWN]),
    symbol: MARKET,
    interval: '1h',
    price: NaN,
    levels: [],
    theme: 'dark',
    zone: 'UTC',
    ...part,
  })

const count = (png: Uint8Array | null, color: string, part: Part): number => pixelsOf(png!).count(color, part)

test('its colors are those of the dashboard', () => {
  const css = readFileSync(`${import.meta.dir}/../../../src/dashboard/style.css`, 'utf8')
  for (const theme of PICTURE_THEMES) {
    const rules = css.slice(css.indexOf(`[data-theme='${theme}'] {`))
    for (const [name, color] of Object.entries(PICTURE_COLORS[theme])) {
      const token = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      expect([theme, name, rules.match(new RegExp(`--${token}: (#\\w+);`))?.[1]]).toEqual([
        theme,
        name,
        color,
      ])
    }
  }
})

describe('a picture', () => {
  test('is 1600 × 900 pixels on the ground of its theme', () => {
    for (const theme of PICTURE_THEMES) {
      const { width, height, at } = pixelsOf(picture({ theme })!)
      expect([width, height, at(0, 899), at(0, 0)]).toEqual([
        1600,
        900,
        PICTURE_COLORS[theme].surface,
        PICTURE_COLORS[theme].surface,
      ])
    }
  })
  test('shows what rose and what fell in their colors', () => {
    const { up, down } = PICTURE_COLORS.dark
    const plot = [0, 140, 1300, 830] as const
    expect(count(picture({ bars: barsOf([UP, UP]) }), down, plot)).toBe(0)
    expect(count(picture({ bars: barsOf([UP, UP]) }), up, plot)).toBeGreaterThan(1000)
    expect(count(picture({ bars: barsOf([DOWN, DOWN]) }), up, plot)).toBe(0)
    expect(count(picture({ bars: barsOf([DOWN, DOWN]) }), down, plot)).toBeGreaterThan(1000)
  })
  test('has a line at the level, and the more levels the more lines', () => {
    const { accent } = PICTURE_COLORS.dark
    const plot = [0, 140, 1200, 830] as const
    expect(count(picture({}), accent, plot)).toBe(0)
    const one = count(picture({ levels: [11] }), accent, plot)
    expect(one).toBeGreaterThan(500)
    expect(count(picture({ levels: [11, 12.5] }), accent, plot)).toBe(2 * one)
  })
  test('keeps its scale for a level far away, whose price stands at the edge', () => {
    const { accent } = PICTURE_COLORS.dark
    const far = picture({ levels: [900] })
    expect(count(far, accent, [0, 140, 1200, 830])).toBe(0)
    expect(count(far, accent, [1400, 140, 1590, 200])).toBeGreaterThan(1000)
    expect(count(picture({ levels: [-900] }), accent, [1400, 780, 1590, 836])).toBeGreaterThan(1000)
    // In a box of 46 pixels, round at its corners.
    const box = pixelsOf(far!)
    const high = Array.from({ length: 200 }, (_, i) => box.count(accent, [1400 + i, 140, 1401 + i, 836]))
    const edge = high.findIndex((pixels) => pixels > 0)
    expect([Math.max(...high), high[edge]! < 40, high[edge + 10]]).toEqual([46, true, 46])
  })
  test('marks the price that was told, where the bar is there by another', () => {
    const { accent } = PICTURE_COLORS.dark
    const mark = [1000, 140, 1480, 836] as const
    expect(count(picture({ price: 9 }), accent, mark)).toBeGreaterThan(150)
    expect(picture({ price: 9 })).not.toEqual(picture({ price: 12.5 }))
  })
  test('of no bars is none', () => {
    expect(picture({ bars: barsOf([]) })).toBeNull()
    expect(picture({ bars: barsOf([[NaN, NaN, NaN, NaN]]) })).toBeNull()
  })
  test('leaves out bars without prices, as a spread has them', () => {
    const hole = [NaN, NaN, NaN, NaN, NaN]
    const times = { time: Float64Array.of(START, START + 2 * HOUR) }
    expect(picture({ bars: barsOf([UP, hole, DOWN]) })).toEqual(
      picture({ bars: { ...barsOf([UP, DOWN]), ...times } }),
    )
  })
})

test('whatever the bars, there is a picture of at most 60 kB', () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 100_000)
  console.log(`SEED=${seed}`)
  const { uniform: random } = seededRandom(seed)
  const names = ['BTCUSDT', 'ГАЗПРОМНЕФТЬ', 'ME:A/ME:B', '漢字🚀', 'x'.repeat(300), '']
  for (let round = 0; round < 40; round++) {
    const size = 10 ** (random() * 24 - 12)
    const swing = random() < 0.2 ? 0 : size * random()
    let price = random() < 0.3 ? -size : size
    const rows = Array.from({ length: 1 + Math.floor(random() * 140) }, () => {
      const open = price
      price += (random() - 0.5) * swing
      const [low, high] = [Math.min(open, price) - random() * swing, Math.max(open, price) + random() * swing]
      return [open, high, low, price, random() < 0.1 ? NaN : random() * 1e9]
    })
    const step = [60_000, 5 * 60_000, HOUR, 24 * HOUR, 168 * HOUR, 720 * HOUR][Math.floor(random() * 6)]!
    const png = picture({
      bars: barsOf(rows, step),
      symbol: {
        ...MARKET,
        symbol: names[round % names.length]!,
        description: names[(round + 1) % names.length]!,
        mintick: 10 ** -Math.floor(random() * 10),
      },
      levels: Array.from({ length: round % 3 }, () => price * (random() * 4 - 1)),
      theme: round % 2 === 0 ? 'dark' : 'light',
      zone: ['UTC', 'Asia/Kolkata', 'Nowhere/Else'][round % 3]!,
    })
    const { colors } = pixelsOf(png!)
    expect([seed, round, png!.length <= 60_000, colors <= 256]).toEqual([seed, round, true, true])
  }
})

describe('text', () => {
  test('has a width for letters of Latin, Cyrillic and Greek, and one box for all others', () => {
    const box = textWidth('漢', 1000)
    expect(textWidth('🚀', 1000)).toBe(box)
    for (const letter of 'AzÄłőЖяїґΩλ€₿₽↑−…·№')
      expect([letter, textWidth(letter, 1000) !== box]).toEqual([letter, true])
    // An accent on its own belongs to the letter before it.
    expect(textWidth('e\u0301', 1000)).toBe(textWidth('é', 1000))
  })
  test('is cut where it does not fit', () => {
    expect(fitted('short', 30, 500)).toBe('short')
    const cut = fitted('Публичное акционерное общество', 30, 200)
    expect(cut).toEndWith('…')
    expect(textWidth(cut, 30)).toBeLessThanOrEqual(200)
  })
  test('outlines are read as they were packed', () => {
    const glyph = {
      code: 0x20bf,
      advance: 640,
      contours: [
        [
          { x: -10, y: 700, on: true },
          { x: 300, y: -200, on: false },
          { x: 0, y: 0, on: true },
        ],
        [{ x: 127, y: 128, on: false }],
      ],
    }
    const space = { code: 32, advance: 280, contours: [] }
    expect([...unpackGlyphs(packGlyphs([space, glyph])).values()]).toEqual([space, glyph])
  })
})

test.each([
  [0, 10, 5, [0, 2, 4, 6, 8, 10]],
  [67_300, 71_900, 6, [68_000, 69_000, 70_000, 71_000]],
  [-3, 3, 3, [-2, 0, 2]],
  [0.1234, 0.1241, 4, [0.1234, 0.1236, 0.1238, 0.124]],
  [5, 5, 4, []],
])('round prices from %p to %p, about %p', (low, high, most, prices) => {
  expect(priceTicks(low, high, most).map((price) => Number(price.toPrecision(9)))).toEqual([...prices])
})

test.each([
  [HOUR, 30, 'UTC', 6, ['19 Nov', '06:00', '12:00', '18:00', '20 Nov']],
  [HOUR, 30, 'Europe/Berlin', 3, ['19 Nov', '12:00', '20 Nov']],
  [24 * HOUR, 60, 'UTC', 3, ['Dec', '2027']],
  [24 * HOUR, 21, 'UTC', 4, ['23 Nov', '30 Nov', '7 Dec']],
  [720 * HOUR, 40, 'UTC', 4, ['2027', '2028', '2029', '2030']],
  [60_000, 3, 'UTC', 5, ['22:01', '22:02']],
])('bars %p ms apart, %p of them, in %s: at most %p labels', (step, bars, zone, most, labels) => {
  const times = Float64Array.from({ length: bars }, (_, i) => START + i * step)
  expect(timeTicks(times, zoneOf(zone)!, most).map(({ label }) => label)).toEqual([...labels])
})
