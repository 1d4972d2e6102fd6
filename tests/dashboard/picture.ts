// Pictures of pages, small, and how alike two are.
//
// A screenshot is averaged over squares of 4 × 4 pixels and its colours are rounded, which is small enough to keep in the
// repository and large enough to recognize everything by. Text is never drawn alike by two versions of a browser, but the
// averages of its letters over a larger square nearly are: so two pictures are compared by squares of 16 × 16 pixels of the
// page. What moved, went or changed its colour fills such squares with other averages.

import { deflateSync, inflateSync } from 'node:zlib'
import { pngOf } from '../../src/lib/png.ts'

const SHRINK = 4
/** In pixels of the small picture. */
const SQUARE = 4

export interface Picture {
  readonly width: number
  readonly height: number
  /** Red, green and blue of each pixel. */
  readonly pixels: Uint8Array
}

/** How far the averages of a square may be apart, of 255, in the mean of the three colours. */
export const APART = 14
/** So many squares may be further apart than that. */
export const SQUARES = 6

/** The squares in which two pictures differ, the most different first; one over all if their sizes do. */
export function differences(a: Picture, b: Picture): readonly Difference[] {
  if (a.width !== b.width || a.height !== b.height) return [{ x: 0, y: 0, apart: 255 }]
  const found: Difference[] = []
  for (let y = 0; y < a.height; y += SQUARE)
    for (let x = 0; x < a.width; x += SQUARE) {
      const apart = distance(a, b, x, y)
      if (apart > APART) found.push({ x: x * SHRINK, y: y * SHRINK, apart })
    }
  return found.toSorted((one, other) => other.apart - one.apart)
}

interface Difference {
  readonly x: number
  readonly y: number
  readonly apart: number
}

export const areAlike = (a: Picture, b: Picture): boolean => differences(a, b).length <= SQUARES

/** Between the averages of a square, in the mean of the three colours. */
function distance(a: Picture, b: Picture, left: number, top: number): number {
  const { width, height } = a
  const sums = [0, 0, 0]
  const right = Math.min(width, left + SQUARE)
  const bottom = Math.min(height, top + SQUARE)
  for (let y = top; y < bottom; y++)
    for (let at = (y * width + left) * 3; at < (y * width + right) * 3; at++)
      sums[at % 3]! += a.pixels[at]! - b.pixels[at]!
  const count = (right - left) * (bottom - top)
  return sums.reduce((all, sum) => all + Math.abs(sum), 0) / count / 3
}

export function shrunk({ width, height, pixels }: Picture): Picture {
  const [across, down] = [Math.floor(width / SHRINK), Math.floor(height / SHRINK)]
  const sums = new Uint32Array(across * down * 3)
  for (let y = 0; y < down * SHRINK; y++) {
    const to = Math.floor(y / SHRINK) * across * 3
    for (let x = 0; x < across * SHRINK; x++) {
      const at = (y * width + x) * 3
      const small = to + Math.floor(x / SHRINK) * 3
      sums[small]! += pixels[at]!
      sums[small + 1]! += pixels[at + 1]!
      sums[small + 2]! += pixels[at + 2]!
    }
  }
  return { width: across, height: down, pixels: Uint8Array.from(sums, (sum) => rounded(sum / SHRINK ** 2)) }
}

/** 32 shades of a colour take a third of the room that 256 do. */
const rounded = (value: number): number => Math.min(255, Math.round(value / 8) * 8)

/** A PNG of eight bits a colour without interlacing, as browsers and `toPng` write it. PNG specification, 9. */
export function fromPng(bytes: Uint8Array): Picture {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [width, height] = [view.getUint32(16), view.getUint32(20)]
  const samples = bytes[25] === 6 ? 4 : 3
  const packed: Uint8Array[] = []
  for (let at = 8; at < bytes.length; at += 12 + view.getUint32(at))
    if (view.getUint32(at + 4) === 0x49444154)
      packed.push(bytes.subarray(at + 8, at + 8 + view.getUint32(at)))
  const lines = inflateSync(Buffer.concat(packed))
  const stride = width * samples
  const pixels = new Uint8Array(width * height * 3)
  let above: Uint8Array = new Uint8Array(stride)
  for (let y = 0; y < height; y++) {
    const start = y * (stride + 1)
    const line = lines.subarray(start + 1, start + 1 + stride)
    unfilter(lines[start]!, line, above, samples)
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 3
      pixels[at] = line[x * samples]!
      pixels[at + 1] = line[x * samples + 1]!
      pixels[at + 2] = line[x * samples + 2]!
    }
    above = line
  }
  return { width, height, pixels }
}

/** Turns a line of differences into one of colours. */
function unfilter(kind: number, line: Uint8Array, above: Uint8Array, samples: number): void {
  if (kind === 0) return
  for (let i = 0; i < line.length; i++) {
    const left = i < samples ? 0 : line[i - samples]!
    const up = above[i]!
    if (kind === 1) line[i]! += left
    else if (kind === 2) line[i]! += up
    else if (kind === 3) line[i]! += (left + up) >> 1
    else line[i]! += paeth(left, up, i < samples ? 0 : above[i - samples]!)
  }
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const a = Math.abs(guess - left)
  const b = Math.abs(guess - up)
  const c = Math.abs(guess - corner)
  return a <= b && a <= c ? left : b <= c ? up : corner
}

export function toPng({ width, height, pixels }: Picture): Uint8Array {
  const stride = width * 3
  const lines = new Uint8Array(height * (stride + 1))
  for (let y = 0; y < height; y++) {
    // Each line as what it differs from the one above by: most of a page repeats downwards.
    lines[y * (stride + 1)] = 2
    for (let i = 0; i < stride; i++)
      lines[y * (stride + 1) + 1 + i] =
        pixels[y * stride + i]! - (y === 0 ? 0 : pixels[(y - 1) * stride + i]!)
  }
  return pngOf({ width, height, alpha: false }, deflateSync(lines, { level: 9 }))
}
