// A canvas whose pixels are numbers of a palette: two thirds less to write and to pack than red, green and blue.
//
// A chart has a dozen colours, and what else it needs comes about where their smooth edges meet: a mixture is given the next
// free number when it is first wanted. Rectangles lie on whole pixels, so that candles are sharp; letters and round shapes
// are filled by the area that they cover of each pixel, which is summed up along their outline (Raph Levien, font-rs).

import { palettePng } from '../../lib/png.ts'
import { lazily } from '../../lib/memo.ts'
import glyphFile from './glyphs.bin' with { type: 'file' }
import { UNITS, unpackGlyphs, type Glyph } from './glyph-format.ts'

/** How finely an edge is mixed; a full pixel is `LEVELS`. */
const LEVELS = 16
const COLORS = 256

export interface Point {
  readonly x: number
  readonly y: number
}

/** A point of an outline: between two that are on it, the control point of a curve. */
interface OutlinePoint extends Point {
  readonly on: boolean
}

export interface TextOptions {
  readonly size: number
  readonly color: string
  readonly align?: 'left' | 'center' | 'right'
  /** Strokes are a thirtieth of the size thicker. */
  readonly isBold?: boolean
}

export class Canvas {
  readonly width: number
  readonly height: number
  readonly #pixels: Uint8Array
  readonly #palette: number[] = []
  /** By the color below, the one above, and how much of it there is: what was mixed so far. */
  readonly #mixed = new Map<number, number>()

  constructor(width: number, height: number, ground: string) {
    this.width = width
    this.height = height
    this.#pixels = new Uint8Array(width * height)
    this.#numberOf(rgbOf(ground))
  }

  /** Rounded to whole pixels. `opacity` is a fraction. */
  rect(x: number, y: number, width: number, height: number, color: string, opacity = 1): void {
    const ink = this.#numberOf(rgbOf(color))
    const level = Math.round(opacity * LEVELS)
    const [left, right] = [x, x + width].map((at) => Math.min(this.width, Math.max(0, Math.round(at))))
    const [top, bottom] = [y, y + height].map((at) => Math.min(this.height, Math.max(0, Math.round(at))))
    for (let row = top!; row < bottom!; row++) {
      const from = row * this.width
      if (level === LEVELS) this.#pixels.fill(ink, from + left!, from + Math.max(left!, right!))
      else
        for (let at = from + left!; at < from + right!; at++)
          this.#pixels[at] = this.#mix(this.#pixels[at]!, ink, level)
    }
  }

  roundRect(x: number, y: number, width: number, height: number, radius: number, color: string): void {
    const [right, bottom] = [x + width, y + height]
    // A curve's control point stands in each corner.
    const on = (px: number, py: number) => ({ x: px, y: py, on: true })
    const corner = (px: number, py: number) => ({ x: px, y: py, on: false })
    this.#fill(
      [
        [
          on(x + radius, y),
          on(right - radius, y),
          corner(right, y),
          on(right, y + radius),
          on(right, bottom - radius),
          corner(right, bottom),
          on(right - radius, bottom),
          on(x + radius, bottom),
          corner(x, bottom),
          on(x, bottom - radius),
          on(x, y + radius),
          corner(x, y),
        ],
      ],
      color,
    )
  }

  circle({ x, y }: Point, radius: number, color: string): void {
    // Eight curves are within a thousandth of a circle.
    const outer = radius / Math.cos(Math.PI / 8)
    const points = Array.from({ length: 16 }, (_, i) => {
      const [angle, far] = [(i * Math.PI) / 8, i % 2 === 0 ? radius : outer]
      return { x: x + far * Math.cos(angle), y: y + far * Math.sin(angle), on: i % 2 === 0 }
    })
    this.#fill([points], color)
  }

  /** `y` is the baseline. Answers how wide the text is. */
  text(text: string, x: number, y: number, { size, color, align = 'left', isBold }: TextOptions): number {
    const width = textWidth(text, size)
    const scale = size / UNITS
    let at = align === 'left' ? x : align === 'right' ? x - width : x - width / 2
    for (const glyph of glyphsOf(text)) {
      const outline = glyph.contours.map((points) =>
        points.map((point) => ({ x: at + point.x * scale, y: y - point.y * scale, on: point.on })),
      )
      this.#fill(outline, color)
      if (isBold)
        this.#fill(
          outline.map((points) => points.map((point) => ({ ...point, x: point.x + size / 30 }))),
          color,
        )
      at += glyph.advance * scale
    }
    return width
  }

  png(): Uint8Array<ArrayBuffer> {
    return palettePng({ width: this.width, height: this.height }, this.#palette, this.#pixels)
  }

  #fill(contours: readonly (readonly OutlinePoint[])[], color: string): void {
    const all = contours.flat()
    if (all.length === 0) return
    const ink = this.#numberOf(rgbOf(color))
    const [left, top] = [Math.floor(least(all, 'x')), Math.floor(least(all, 'y'))]
    const width = Math.ceil(most(all, 'x')) - left + 1
    const height = Math.ceil(most(all, 'y')) - top + 1
    const area = new AreaSum(width, height)
    for (const points of contours)
      along(points, (from, to) => area.line(from.x - left, from.y - top, to.x - left, to.y - top))
    for (let row = 0; row < height; row++) {
      const y = top + row
      if (y < 0 || y >= this.height) continue
      let sum = 0
      for (let column = 0; column < width; column++) {
        sum += area.at(row, column)
        const level = Math.round(Math.min(1, Math.abs(sum)) * LEVELS)
        const x = left + column
        if (level === 0 || x < 0 || x >= this.width) continue
        const at = y * this.width + x
        this.#pixels[at] = this.#mix(this.#pixels[at]!, ink, level)
      }
    }
  }

  #mix(below: number, ink: number, level: number): number {
    if (level === LEVELS || below === ink) return ink
    const key = (below * COLORS + ink) * LEVELS + level
    let found = this.#mixed.get(key)
    if (found === undefined) {
      const [under, over] = [this.#palette[below]!, this.#palette[ink]!]
      const part = (shift: number) => {
        const [a, b] = [(under >> shift) & 255, (over >> shift) & 255]
        return Math.round(a + ((b - a) * level) / LEVELS) << shift
      }
      this.#mixed.set(key, (found = this.#numberOf(part(16) | part(8) | part(0))))
    }
    return found
  }

  /** The number of a color; of the most similar one where the palette is full. */
  #numberOf(rgb: number): number {
    const known = this.#palette.indexOf(rgb)
    if (known >= 0) return known
    if (this.#palette.length < COLORS) return this.#palette.push(rgb) - 1
    const distance = (other: number) =>
      [16, 8, 0].reduce((sum, shift) => sum + (((rgb >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0)
    const distances = this.#palette.map(distance)
    return distances.indexOf(Math.min(...distances))
  }
}

/** In pixels. */
export function textWidth(text: string, size: number): number {
  return (glyphsOf(text).reduce((sum, { advance }) => sum + advance, 0) * size) / UNITS
}

/** The text, or as much of it as fits, with three dots. */
export function fitted(text: string, size: number, width: number): string {
  if (textWidth(text, size) <= width) return text
  const letters = Array.from(text)
  while (letters.length > 0 && textWidth(`${letters.join('').trimEnd()}…`, size) > width) letters.pop()
  return `${letters.join('').trimEnd()}…`
}

const rgbOf = (color: string): number => Number.parseInt(color.slice(1, 7), 16)

const least = (points: readonly Point[], axis: 'x' | 'y') =>
  points.reduce((so, point) => Math.min(so, point[axis]), Infinity)
const most = (points: readonly Point[], axis: 'x' | 'y') =>
  points.reduce((so, point) => Math.max(so, point[axis]), -Infinity)

// ——— letters ———

const glyphs = lazily(() =>
  unpackGlyphs(
    process
      .getBuiltinModule('node:zlib')
      .inflateRawSync(process.getBuiltinModule('node:fs').readFileSync(glyphFile)),
  ),
)

const box = (from: number, to: number, height: number, turns: boolean) => {
  const corners = [
    { x: from, y: from - 60, on: true },
    { x: from, y: height, on: true },
    { x: to, y: height, on: true },
    { x: to, y: from - 60, on: true },
  ]
  return turns ? corners.reverse() : corners
}
/** What stands for a letter that is missing. */
const MISSING: Glyph = {
  code: 0,
  advance: 640,
  contours: [box(70, 570, 720, false), box(130, 510, 660, true)],
}

function glyphsOf(text: string): readonly Glyph[] {
  const known = glyphs()
  // A letter with its accent is one, and what only joins or varies others is none.
  const letters = text.normalize('NFC').replace(/[\p{M}\p{Cf}\uFE0F]/gu, '')
  return Array.from(letters, (letter) => known.get(letter.codePointAt(0) ?? 0) ?? MISSING)
}

// ——— outlines ———

/** The straight pieces of a closed outline. */
function along(points: readonly OutlinePoint[], line: (from: Point, to: Point) => void): void {
  const middle = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })
  const count = points.length
  const first = points.findIndex(({ on }) => on)
  const start: Point = first >= 0 ? points[first]! : middle(points[0]!, points[count - 1]!)
  let from = start
  let control: Point | null = null
  const to = (end: Point) => {
    if (control) curve(from, control, end, line)
    else line(from, end)
    from = end
    control = null
  }
  for (let i = 1; i <= count; i++) {
    const point = points[(Math.max(first, 0) + i + (first < 0 ? count - 1 : 0)) % count]!
    if (point.on) to(point)
    else {
      if (control) to(middle(control, point))
      control = point
    }
  }
  to(start)
}

function curve(from: Point, control: Point, to: Point, line: (from: Point, to: Point) => void): void {
  // A piece is off by an eighth of how far the curve bends, and the square of how many there are.
  const bend = Math.hypot(from.x - 2 * control.x + to.x, from.y - 2 * control.y + to.y)
  const pieces = Math.max(1, Math.ceil(Math.sqrt(bend / 0.4)))
  let before = from
  for (let i = 1; i <= pieces; i++) {
    const t = i / pieces
    const [a, b, c] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2]
    const next = { x: a * from.x + b * control.x + c * to.x, y: a * from.y + b * control.y + c * to.y }
    line(before, next)
    before = next
  }
}

/**
 * How much of each pixel is inside an outline: a line adds to each row what it takes away from there to the right, so that a
 * sum along the row is the covered part of every pixel.
 */
class AreaSum {
  readonly #width: number
  readonly #cells: Float64Array

  constructor(width: number, height: number) {
    // What falls right of the last pixel of a row has a cell of its own.
    this.#width = width + 2
    this.#cells = new Float64Array(this.#width * height)
  }

  at(row: number, column: number): number {
    return this.#cells[row * this.#width + column]!
  }

  line(fromX: number, fromY: number, toX: number, toY: number): void {
    if (fromY === toY) return
    const sign = fromY < toY ? 1 : -1
    const [topX, topY, bottomX, bottomY] = sign > 0 ? [fromX, fromY, toX, toY] : [toX, toY, fromX, fromY]
    const slope = (bottomX - topX) / (bottomY - topY)
    for (let row = Math.floor(topY); row < bottomY; row++) {
      const above = Math.max(row, topY)
      const below = Math.min(row + 1, bottomY)
      const a = topX + (above - topY) * slope
      const b = topX + (below - topY) * slope
      this.#step(row, Math.min(a, b), Math.max(a, b), sign * (below - above))
    }
  }

  /** A piece within a row, from left to right, that is `height` high. */
  #step(row: number, left: number, right: number, height: number): void {
    const from = row * this.#width
    const first = Math.floor(left)
    const last = Math.floor(right)
    if (first === last) {
      const inside = height * (1 - ((left + right) / 2 - first))
      this.#cells[from + first]! += inside
      this.#cells[from + first + 1]! += height - inside
      return
    }
    const share = height / (right - left)
    for (let column = first; column <= last; column++) {
      const a = Math.max(left, column)
      const b = Math.min(right, column + 1)
      const part = share * (b - a)
      const inside = part * (1 - ((a + b) / 2 - column))
      this.#cells[from + column]! += inside
      this.#cells[from + column + 1]! += part - inside
    }
  }
}
