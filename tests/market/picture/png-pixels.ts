// Reads a PNG with a palette as PNG describes it, apart from the code that writes one.

import { inflateSync } from 'node:zlib'

export interface Pixels {
  readonly width: number
  readonly height: number
  readonly colors: number
  /** `#rrggbb` */
  readonly at: (x: number, y: number) => string
  /** How many pixels of a part have a color. */
  readonly count: (color: string, part: Part) => number
}

export type Part = readonly [left: number, top: number, right: number, bottom: number]

export function pixelsOf(png: Uint8Array): Pixels {
  const bytes = Buffer.from(png)
  if (bytes.toString('hex', 0, 8) !== '89504e470d0a1a0a') throw new Error('this is no PNG')
  const chunks: Record<string, Buffer> = {}
  for (let at = 8; at < bytes.length;) {
    const length = bytes.readUInt32BE(at)
    const name = bytes.toString('latin1', at + 4, at + 8)
    const sum = Bun.hash.crc32(bytes.subarray(at + 4, at + 8 + length))
    if (sum !== bytes.readUInt32BE(at + 8 + length)) throw new Error(`the sum of ${name} is wrong`)
    chunks[name] = bytes.subarray(at + 8, at + 8 + length)
    at += 12 + length
  }
  const { IHDR: head, PLTE: palette, IDAT: data, IEND: end } = chunks
  if (!head || !palette || !data || !end) throw new Error('a part is missing')
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  if (head.toString('hex', 8) !== '0803000000') throw new Error('not eight bits with a palette')
  const lines = inflateSync(data)
  if (lines.length !== height * (width + 1)) throw new Error('the pixels are cut short')
  return {
    width,
    height,
    colors: palette.length / 3,
    count(color, [left, top, right, bottom]) {
      const number = palette.toString('hex').match(/.{6}/g)?.indexOf(color.slice(1)) ?? -1
      let found = 0
      for (let y = top; y < bottom; y++)
        for (let i = y * (width + 1) + 1 + left; i < y * (width + 1) + 1 + right; i++)
          if (lines[i] === number) found++
      return found
    },
    at(x, y) {
      if (lines[y * (width + 1)] !== 0) throw new Error('a line is filtered')
      const number = lines[y * (width + 1) + 1 + x]!
      return `#${palette.toString('hex', 3 * number, 3 * number + 3)}`
    },
  }
}
