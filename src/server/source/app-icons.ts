// The icons of the installed page, drawn when it is built: the three candles of `dashboard/icon.svg`, as PNG.
//
// All of it is rectangles, so a pixel's colour is the share of it that they cover, which needs no library. A maskable icon has
// no corners of its own and keeps what matters within the middle 80 %, since a system cuts it to the shape it likes (W3C,
// Web Application Manifest, "Icon masks and safe zone").

import { deflateSync } from 'node:zlib'
import { pngOf } from '../../lib/png.ts'

export interface AppIcon {
  readonly name: string
  readonly size: number
  readonly purpose: 'any' | 'maskable'
  readonly bytes: Uint8Array<ArrayBuffer>
}

type Colour = readonly [red: number, green: number, blue: number]
const [GROUND, UP, DOWN]: readonly Colour[] = [
  [0x12, 0x16, 0x1c],
  [0x2f, 0xbf, 0x8f],
  [0xf0, 0x61, 0x6d],
]

/** In a square of 32; the wicks first. */
const SHAPES: readonly (readonly [x: number, y: number, width: number, height: number, colour: Colour])[] = [
  [8, 6, 2, 20, DOWN!],
  [15, 4, 2, 24, UP!],
  [22, 8, 2, 16, UP!],
  [6.5, 11, 5, 9, DOWN!],
  [13.5, 9, 5, 13, UP!],
  [20.5, 12, 5, 7, UP!],
]
const SQUARE = 32
const CORNER = 7
const SAFE = 0.72

export function appIcons(): readonly AppIcon[] {
  return (
    [
      [180, 'any'],
      [192, 'any'],
      [512, 'any'],
      [512, 'maskable'],
    ] as const
  ).map(([size, purpose]) => {
    // A phone's home screen rounds the 180 by itself, and would show black corners.
    const bytes = png(
      size,
      pixelsOf(size, purpose === 'maskable' ? SAFE : 1, purpose === 'any' && size !== 180),
    )
    return { name: `icon-${size}-${purpose}-${Bun.hash(bytes).toString(36)}.png`, size, purpose, bytes }
  })
}

function pixelsOf(size: number, scale: number, isRound: boolean): Uint8Array {
  const pixels = new Uint8Array(size * size * 4)
  const unit = (size / SQUARE) * scale
  const start = (size * (1 - scale)) / 2
  const radius = (CORNER / SQUARE) * size
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      let colour: Colour = GROUND!
      for (const [left, top, width, height, own] of SHAPES) {
        const share =
          covered(x, start + left * unit, width * unit) * covered(y, start + top * unit, height * unit)
        colour = mixed(colour, own, share)
      }
      pixels.set(
        [...colour, isRound ? 255 * inside(x + 0.5, y + 0.5, size, radius) : 255],
        (y * size + x) * 4,
      )
    }
  return pixels
}

/** How much of the pixel lies in the stretch. */
const covered = (pixel: number, from: number, length: number): number =>
  Math.max(0, Math.min(pixel + 1, from + length) - Math.max(pixel, from))

const mixed = (a: Colour, b: Colour, share: number): Colour => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
  a[2] + (b[2] - a[2]) * share,
]

/** 1 within a square with round corners, 0 outside, between them on its edge. */
function inside(x: number, y: number, size: number, radius: number): number {
  const beyond = (at: number) => Math.max(radius - at, at - (size - radius), 0)
  return Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(beyond(x), beyond(y))))
}

/** RGBA as a PNG. */
function png(size: number, pixels: Uint8Array): Uint8Array<ArrayBuffer> {
  const lines = Buffer.alloc(size * (1 + size * 4))
  for (let y = 0; y < size; y++)
    lines.set(pixels.subarray(y * size * 4, (y + 1) * size * 4), y * (1 + size * 4) + 1)
  return pngOf({ width: size, height: size, alpha: true }, deflateSync(lines, { level: 9 }))
}
