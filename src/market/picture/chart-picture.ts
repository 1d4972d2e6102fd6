// A chart as a PNG, for a message on a phone: the last bars, the level of an alert, and the price at which it fired.
//
// It is drawn twice as sharp as it is laid out, with few and large letters, since a phone shows it a third as wide. Colors
// are the dashboard's. No browser takes part: it has to work where Chartroom is the only program.

import { placesOf } from '../../lib/tick-places.ts'
import type { Bars } from '../bars.ts'
import type { SymbolInfo } from '../symbol.ts'
import { inferTick } from '../symbols.ts'
import { zoneOf } from '../zone.ts'
import { Canvas, fitted, textWidth } from './canvas.ts'
import { priceTicks, timeTicks } from './ticks.ts'

export const PICTURE_THEMES = ['dark', 'light'] as const
export type PictureTheme = (typeof PICTURE_THEMES)[number]

export interface Pictured {
  /** Up to the one that is told of. There is room for some 200. */
  readonly bars: Bars
  readonly symbol: Pick<SymbolInfo, 'exchange' | 'symbol' | 'description' | 'mintick'>
  readonly interval: string
  /** The price that is told; NaN = the last close. */
  readonly price: number
  /** Prices that the alert waited for. */
  readonly levels: readonly number[]
  readonly theme: PictureTheme
  /** IANA name; an unknown one counts as UTC. */
  readonly zone: string
}

/** As in `dashboard/style.css`; grid and volume are that file's lines and soft colors, mixed with the ground. */
export const PICTURE_COLORS = {
  dark: {
    surface: '#0f1216',
    raised: '#161b22',
    line: '#222933',
    lineStrong: '#323b48',
    text: '#d6dae1',
    muted: '#8f98a6',
    accent: '#5b9dff',
    accentText: '#07101d',
    up: '#2fbf8f',
    down: '#f0616d',
  },
  light: {
    surface: '#ffffff',
    raised: '#f7f8fa',
    line: '#e0e4ea',
    lineStrong: '#c3cad4',
    text: '#1a2029',
    muted: '#5b6573',
    accent: '#1f63d6',
    accentText: '#ffffff',
    up: '#0b7d58',
    down: '#c92a3d',
  },
} as const satisfies Readonly<Record<PictureTheme, Readonly<Record<string, string>>>>
type Colors = Readonly<Record<keyof (typeof PICTURE_COLORS)['dark'], string>>

/** In pixels of the picture, two of which are one on a page. */
const WIDTH = 1600
const HEIGHT = 900
const HEAD = 136
const FOOT = 64
const PAD = 36
const NAME = 52
const FACTS = 32
const LABEL = 30
const TAG = 46
/** Room right of the last bar for the mark. */
const MARK = 36
/** The part of the height that volume may take, and that prices leave free above and below. */
const VOLUME_PART = 0.17
const PRICE_TOP = 44
const PRICE_BOTTOM_PART = 0.2
/** Bars are at most so far apart, however few there are. */
const SLOT_MAX = 56
/** A level that would take more than so many times the height of the bars is shown at the edge. */
const STRETCH_MAX = 2.5
/** How far from each other ticks should be. */
const PRICE_STEP = 96
const TIME_STEP = 190

interface Scene extends Pictured {
  readonly canvas: Canvas
  readonly colors: Colors
  /** The right and lower edge of the bars. */
  readonly right: number
  readonly bottom: number
  readonly yOf: (price: number) => number
  readonly xOf: (bar: number) => number
  readonly slot: number
  readonly text: (price: number) => string
  readonly range: PriceRange
}

interface PriceRange {
  readonly low: number
  readonly high: number
}

/** Null if there is no bar with prices. */
export function chartPicture(of: Pictured): Uint8Array<ArrayBuffer> | null {
  const bars = drawn(of.bars)
  if (bars.length === 0) return null
  const last = bars.close[bars.length - 1]!
  const scene = sceneOf({ ...of, bars, price: Number.isFinite(of.price) ? of.price : last })
  const tags = tagsOf(scene)
  drawGrid(scene, tags)
  drawVolume(scene)
  drawLevels(scene)
  drawBars(scene)
  drawMark(scene)
  drawTags(scene, tags)
  drawHead(scene)
  return scene.canvas.png()
}

/** The bars without those that have no prices, such as a spread's where one of its legs did not trade. */
function drawn(bars: Bars): Bars {
  const whole = Array.from({ length: bars.length }, (_, i) => i).filter((i) =>
    [bars.open[i], bars.high[i], bars.low[i], bars.close[i]].every(Number.isFinite),
  )
  const column = (values: Float64Array) => Float64Array.from(whole, (i) => values[i]!)
  const { time, open, high, low, close, volume } = bars
  return {
    length: whole.length,
    time: column(time),
    open: column(open),
    high: column(high),
    low: column(low),
    close: column(close),
    volume: column(volume),
  }
}

// ——— where things are ———

function sceneOf(of: Pictured): Scene {
  const { bars, theme } = of
  const colors = PICTURE_COLORS[theme]
  const range = rangeOf(of)
  const text = priceText(of, range)
  const widest = [...of.levels, of.price, range.low, range.high].map((value) => textWidth(text(value), LABEL))
  const right = WIDTH - Math.ceil(Math.max(...widest, 116)) - 64
  const bottom = HEIGHT - FOOT
  const height = bottom - HEAD
  const [top, foot] = [HEAD + PRICE_TOP, bottom - height * PRICE_BOTTOM_PART]
  const slot = Math.min(SLOT_MAX, (right - PAD - MARK) / (bars.length + 1))
  return {
    ...of,
    canvas: new Canvas(WIDTH, HEIGHT, colors.surface),
    colors,
    right,
    bottom,
    range,
    text,
    slot,
    yOf: (price) => foot - ((price - range.low) / (range.high - range.low)) * (foot - top),
    // A short history stands at the right, as on every chart.
    xOf: (bar) => Math.round(right - MARK - (bars.length - bar - 0.5) * slot),
  }
}

/** The bars, and levels that are not too far from them. */
function rangeOf({ bars, levels, price, symbol: { mintick } }: Pictured): PriceRange {
  let low = Math.min(...bars.low, price)
  let high = Math.max(...bars.high, price)
  if (high === low) {
    const around = Math.max(Math.abs(high) * 0.002, Number.isFinite(mintick) && high === 0 ? mintick * 4 : 0)
    low -= around || 1
    high += around || 1
  }
  const limit = (high - low) * STRETCH_MAX
  const near = levels.filter((level) => Math.max(high, level) - Math.min(low, level) <= limit)
  return { low: Math.min(low, ...near), high: Math.max(high, ...near) }
}

/** Prices in their tick; in a finer one where the bars are finer, as of a symbol whose tick nobody has said. */
function priceText({ bars, symbol: { mintick } }: Pictured, { low, high }: PriceRange) {
  const isCoarse = (high - low) / mintick < 8
  const tick = isCoarse ? Math.min(mintick, inferTick(bars).mintick) : mintick
  // Of a large number the first digits are what can be read at a glance.
  const isLarge = Math.max(Math.abs(low), Math.abs(high)) >= 1e6
  const places = Math.min(placesOf(tick), isLarge ? (high - low >= 20 ? 0 : 2) : 10)
  const format = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: places,
    maximumFractionDigits: places,
  })
  return (price: number) => {
    const text = format.format(price)
    return /[1-9]/.test(text) ? text.replace('-', '−') : text.replace('-', '')
  }
}

// ——— what is drawn ———

/** What a tag would cover has no label. */
function drawGrid(
  { canvas, colors, bars, right, bottom, range, yOf, xOf, text, zone }: Scene,
  tags: readonly Tag[],
): void {
  const [high, low] = [priceAt(HEAD, yOf, range), priceAt(bottom, yOf, range)]
  for (const price of priceTicks(low, high, (bottom - HEAD) / PRICE_STEP)) {
    const y = Math.round(yOf(price))
    if (y < HEAD + LABEL || y > bottom - LABEL) continue
    canvas.rect(0, y, right, 2, colors.line)
    if (tags.some((tag) => Math.abs(tag.y - y) < (TAG + LABEL) / 2)) continue
    canvas.text(text(price), right + 24, y + LABEL * 0.37, { size: LABEL, color: colors.muted })
  }
  canvas.rect(0, HEAD, WIDTH, 2, colors.line)
  const found = zoneOf(zone) ?? zoneOf('UTC')!
  const last = bars.length - 1
  const most = Math.max(1, (xOf(last) - xOf(0)) / TIME_STEP)
  let free = PAD
  for (const { bar, label, isStrong } of timeTicks(bars.time, found, most)) {
    const x = xOf(bar)
    const width = textWidth(label, LABEL)
    if (x - width / 2 < free || x + width / 2 > right) continue
    free = x + width / 2 + LABEL
    canvas.rect(x - 1, HEAD, 2, bottom - HEAD, colors.line)
    canvas.text(label, x, bottom + 43, {
      size: LABEL,
      color: isStrong ? colors.text : colors.muted,
      align: 'center',
    })
  }
  canvas.rect(0, bottom, WIDTH, 2, colors.lineStrong)
  canvas.rect(right, HEAD, 2, bottom - HEAD, colors.lineStrong)
  canvas.text(zoneText(zone, bars.time[last]!), right + 24, bottom + 43, { size: 26, color: colors.muted })
}

const priceAt = (y: number, yOf: (price: number) => number, { low, high }: PriceRange): number =>
  low + ((yOf(low) - y) / (yOf(low) - yOf(high))) * (high - low)

/** `UTC`, or `UTC+1`: names of zones are too long for the corner. */
function zoneText(zone: string, at: number): string {
  const offset = (zoneOf(zone)?.offsetAt(at) ?? 0) / 60_000
  if (offset === 0) return 'UTC'
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
  return `UTC${offset < 0 ? '−' : '+'}${hours}${minutes === 0 ? '' : `:${String(minutes).padStart(2, '0')}`}`
}

const isUp = ({ open, close }: Bars, bar: number) => close[bar]! >= open[bar]!

function drawVolume({ canvas, colors, bars, bottom, xOf, slot }: Scene): void {
  const most = Math.max(...Array.from(bars.volume, (volume) => (Number.isFinite(volume) ? volume : 0)))
  if (most <= 0) return
  const width = bodyWidth(slot)
  for (let bar = 0; bar < bars.length; bar++) {
    const height = Math.round(((bars.volume[bar]! || 0) / most) * (bottom - HEAD) * VOLUME_PART)
    const color = isUp(bars, bar) ? colors.up : colors.down
    if (height > 0) canvas.rect(xOf(bar) - width / 2, bottom - height, width, height, color, 0.25)
  }
}

/** An even number, so that the wick is in its middle. */
const bodyWidth = (slot: number) => Math.max(2, 2 * Math.floor((slot * 0.7) / 2))

function drawBars({ canvas, colors, bars, xOf, yOf, slot }: Scene): void {
  const width = bodyWidth(slot)
  const wick = slot < 6 ? 1 : 2
  for (let bar = 0; bar < bars.length; bar++) {
    const color = isUp(bars, bar) ? colors.up : colors.down
    const x = xOf(bar)
    const [high, low] = [yOf(bars.high[bar]!), yOf(bars.low[bar]!)]
    const [open, close] = [yOf(bars.open[bar]!), yOf(bars.close[bar]!)]
    canvas.rect(x - wick / 2, high, wick, low - high, color)
    const top = Math.min(open, close)
    canvas.rect(x - width / 2, top - 0.5, width, Math.max(3, Math.abs(open - close) + 1), color)
  }
}

/** The y of a price, and which way it lies where the chart does not reach it. */
function placed(
  { yOf, bottom }: Scene,
  price: number,
): { readonly y: number; readonly beyond: '↑' | '↓' | '' } {
  const y = yOf(price)
  const [top, foot] = [HEAD + TAG / 2 + 6, bottom - TAG / 2 - 6]
  if (y < HEAD) return { y: top, beyond: '↑' }
  if (y > bottom) return { y: foot, beyond: '↓' }
  return { y: Math.min(foot, Math.max(top, y)), beyond: '' }
}

function drawLevels(scene: Scene): void {
  const { canvas, colors, levels, right, price, bars, xOf } = scene
  for (const level of levels) {
    // One beyond the chart is beyond the canvas, too.
    const y = Math.round(scene.yOf(level))
    for (let x = 0; x < right; x += 20) canvas.rect(x, y - 1, 12, 3, colors.accent)
  }
  // Where it stands now: dots from the bar to its tag.
  const y = Math.round(scene.yOf(price))
  const color = lastColor(scene)
  for (let x = xOf(bars.length - 1); x < right; x += 8) canvas.rect(x, y - 1, 3, 3, color)
  for (let x = 0; x < xOf(bars.length - 1); x += 8) canvas.rect(x, y - 1, 2, 2, color, 0.45)
}

const lastColor = ({ bars, price, colors }: Pick<Scene, 'bars' | 'price' | 'colors'>) =>
  price >= bars.open[bars.length - 1]! ? colors.up : colors.down

interface Tag {
  y: number
  readonly text: string
  readonly color: string
  readonly textColor: string
}

/** Where and at which price it fired. */
function drawMark({ canvas, colors, bars, price, xOf, yOf, slot }: Scene): void {
  const at = { x: xOf(bars.length - 1) + bodyWidth(slot) / 2 + 16, y: yOf(price) }
  canvas.circle(at, 13, colors.surface)
  canvas.circle(at, 9, colors.accent)
}

function tagsOf(scene: Scene): readonly Tag[] {
  const { colors, theme, levels, price, bottom, text } = scene
  const tags: Tag[] = levels.map((level) => {
    const { y, beyond } = placed(scene, level)
    return { y, text: `${beyond}${text(level)}`, color: colors.accent, textColor: colors.accentText }
  })
  tags.push({
    y: placed(scene, price).y,
    text: text(price),
    color: lastColor(scene),
    textColor: theme === 'dark' ? colors.accentText : '#ffffff',
  })
  return apart(tags, HEAD + TAG / 2 + 6, bottom - TAG / 2 - 6)
}

function drawTags({ canvas, right }: Scene, tags: readonly Tag[]): void {
  for (const { y, text: shown, color, textColor } of tags) {
    canvas.roundRect(right + 10, Math.round(y) - TAG / 2, WIDTH - right - 20, TAG, 8, color)
    canvas.text(shown, right + 24, Math.round(y) + LABEL * 0.37, { size: LABEL, color: textColor })
  }
}

/** The tags, moved so far that none lies on another, in the order of their prices. */
function apart(tags: readonly Tag[], top: number, bottom: number): readonly Tag[] {
  const sorted = tags.toSorted((a, b) => a.y - b.y)
  const room = TAG + 4
  for (let round = 0; round < 8; round++) {
    for (let i = 1; i < sorted.length; i++) {
      const [above, below] = [sorted[i - 1]!, sorted[i]!]
      const missing = room - (below.y - above.y)
      if (missing <= 0) continue
      above.y -= missing / 2
      below.y += missing / 2
    }
    for (const [i, tag] of sorted.entries())
      tag.y = Math.min(bottom - (sorted.length - 1 - i) * room, Math.max(top + i * room, tag.y))
  }
  return sorted
}

function drawHead(scene: Scene): void {
  const { canvas, colors, symbol, interval, bars, price, text } = scene
  const shown = text(price)
  const last = bars.length - 1
  const before = last > 0 ? bars.close[last - 1]! : bars.open[last]!
  const part = before > 0 ? (price - before) / before : Number.NaN
  const change = Number.isFinite(part)
    ? `${part < 0 ? '−' : '+'}${Math.abs(part * 100).toFixed(2)}%`.replace(/^[+−](0\.00%)$/, '$1')
    : ''
  const edge = WIDTH - PAD
  const width = Math.max(textWidth(shown, NAME), textWidth(change, FACTS))
  canvas.text(shown, edge, 68, { size: NAME, color: colors.text, align: 'right', isBold: true })
  canvas.text(change, edge, 112, {
    size: FACTS,
    color: change === '0.00%' ? colors.muted : part < 0 ? colors.down : colors.up,
    align: 'right',
  })
  const room = edge - width - 2 * PAD
  canvas.text(fitted(symbol.symbol, NAME, room), PAD, 68, { size: NAME, color: colors.text, isBold: true })
  const facts = [
    interval.replace(/[dw]$/, (unit) => unit.toUpperCase()),
    symbol.exchange,
    symbol.description === symbol.symbol ? '' : symbol.description,
  ]
  canvas.text(fitted(facts.filter(Boolean).join('  ·  '), FACTS, room), PAD, 112, {
    size: FACTS,
    color: colors.muted,
  })
}
