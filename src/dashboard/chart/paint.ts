// What every renderer receives: a canvas in device pixels, and two affine maps to its pixels, from bars and from prices.
//
// The library's own conversions cost a search a point. Over one frame both are affine (but for a log scale), so a frame
// asks twice and multiplies from then on.

import { memo } from '../../lib/memo.ts'
import { words } from '../../lib/words.ts'

export interface Paint {
  readonly ctx: CanvasRenderingContext2D
  /** Visible bars, whole numbers, both drawn. */
  readonly from: number
  readonly to: number
  /**
   * The last bar that a replay shows, counted on the chart, or on a mark's own run while that mark is drawn; Infinity
   * without a replay.
   */
  readonly known: number
  readonly x: (bar: number) => number
  readonly y: (price: number) => number
  readonly width: number
  readonly height: number
  /** Device pixels per CSS pixel, across and down. */
  readonly hr: number
  readonly vr: number
  /** Device pixels from one bar to the next. */
  readonly spacing: number
  readonly theme: ChartTheme
}

/** What a pane's legend takes of it, from its upper left corner. */
export interface LegendRoom {
  /** A part of its height. */
  readonly part: number
  /** CSS pixels. */
  readonly right: number
}

const TOKENS = words('surface raised line lineStrong text muted accent up down warn font')
export type ChartTheme = Readonly<Record<(typeof TOKENS)[number], string>>

/** Colours and fonts of the page's current theme. */
export function themeOf(element: Element): ChartTheme {
  const style = getComputedStyle(element)
  const token = (name: string) =>
    style
      .getPropertyValue(`--${name.replace('S', '-s')}`)
      .trim()
      // A style sheet that was made small writes white as `#fff`, which leaves no room for an opacity behind it.
      .replace(/^#(\w)(\w)(\w)$/, '#$1$1$2$2$3$3')
  return Object.fromEntries(TOKENS.map((name) => [name, token(name)])) as ChartTheme
}

/** `#rrggbb` with the opacity given, 0 to 1. */
export function faded(color: string, opacity: number): string {
  return color.slice(0, 7) + hex(opacity * 255)
}

/** Perceived brightness of `#rrggbb`, from 0 for black to 255 for white. */
export function lightness(color: string): number {
  const [red = 0, green = 0, blue = 0] = parts(color)
  return (red * 299 + green * 587 + blue * 114) / 1000
}

const hex = (value: number): string => Math.round(value).toString(16).padStart(2, '0')
const parts = (color: string): number[] => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))

/** `--surface` and `--text` of both themes. */
export const PAGE = {
  dark: { ground: '#0f1216', ink: '#d6dae1' },
  light: { ground: '#ffffff', ink: '#1a2029' },
} as const
/** The contrast that WCAG AA requires for text. */
const CONTRAST_MIN = 4.5

/**
 * The colour, darkened or lightened until text in it can be read on the page. Scripts are written for one
 * theme and looked at in the other.
 */
export function legible(color: string, theme: 'dark' | 'light'): string {
  // A transparent colour stays as it is: the script means it.
  if (!/^#[0-9a-f]{6}(?:ff)?$/i.test(color)) return color
  return LEGIBLE[theme](color.slice(0, 7))
}

const LEGIBLE = { dark: legibleOn(PAGE.dark), light: legibleOn(PAGE.light) }

/** Memoized, because the same few colours of a script are painted again and again. */
function legibleOn({ ground, ink }: { readonly ground: string; readonly ink: string }) {
  return memo(1000, (color): string => {
    let found = mixed(color, ink, 0)
    for (let tenths = 1; tenths <= 10 && contrast(found, ground) < CONTRAST_MIN; tenths++)
      found = mixed(color, ink, tenths / 10)
    return found
  })
}

function mixed(color: string, other: string, share: number): string {
  const to = parts(other)
  const made = parts(color).map((value, i) => hex(value + (to[i]! - value) * share))
  return `#${made.join('')}`
}

/** WCAG's ratio, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)]
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = parts(color).map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Width of a bar's body in device pixels: odd, so that the wick is in its middle. */
export function bodyWidth(spacing: number, hr: number): number {
  if (spacing < 2 * hr) return Math.max(1, Math.floor(hr))
  const width = Math.floor(spacing * 0.8)
  const wick = Math.max(1, Math.floor(hr))
  return Math.max(wick, width % 2 === wick % 2 ? width : width - 1)
}

/** Width in device pixels of a line given in CSS pixels, whole so that thin lines stay crisp. */
export const lineWidth = (paint: Paint, width: number): number => Math.max(1, Math.floor(width * paint.hr))

export function setDash(paint: Paint, dash: string, width: number): void {
  const unit = Math.max(1, width) * paint.hr
  paint.ctx.setLineDash(dash === 'dashed' ? [4 * unit, 3 * unit] : dash === 'dotted' ? [unit, 2 * unit] : [])
}

/** A line across the pane at a height, in the dashes that are set. */
export function strokeAcross(paint: Paint, y: number, color: string, width: number): void {
  const { ctx } = paint
  ctx.strokeStyle = color
  ctx.lineWidth = lineWidth(paint, width)
  ctx.beginPath()
  ctx.moveTo(0, y)
  ctx.lineTo(paint.width, y)
  ctx.stroke()
}

/** Strokes the path that was made. */
export function strokePath(paint: Paint, color: string, width: number): void {
  const { ctx } = paint
  ctx.strokeStyle = color
  ctx.lineWidth = lineWidth(paint, width)
  ctx.lineJoin = 'round'
  ctx.stroke()
}

/** The first and the last of so many bars that are in view. */
export const inView = ({ from, to }: Paint, length: number): readonly [number, number] => [
  Math.max(0, from),
  Math.min(length - 1, to),
]

const SIZES: Readonly<Record<string, number>> = { tiny: 9, small: 11, normal: 13, large: 18, huge: 28 }
/** The size in CSS pixels of Pine's size.*, or of a number of points. */
export const textSize = (size: unknown): number =>
  typeof size === 'number' && size > 0 ? Math.min(200, size) : (SIZES[String(size)] ?? 12)
