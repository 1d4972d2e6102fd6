// Makes `market/picture/glyphs.bin`: the outlines of the letters that a chart's picture is written with.
//
//     npm pack @fontsource/inter@5.3.0 && tar xzf fontsource-inter-5.3.0.tgz
//     bun src/tools/picture-glyphs.ts package/files
//
// They are Inter's (SIL Open Font License), the font of the dashboard, in one weight. WOFF 1.0 packs the tables of a TrueType
// font one by one, so reading it takes no library: `cmap` names the glyph of a letter, `loca` says where in `glyf` it is.

import { readFileSync, writeFileSync } from 'node:fs'
import { deflateRawSync, inflateSync } from 'node:zlib'
import { packGlyphs, UNITS, type Glyph, type GlyphPoint } from '../market/picture/glyph-format.ts'

const WEIGHT = 500
/** Each letter is taken from the first file that has it. */
const SUBSETS = ['latin', 'latin-ext', 'cyrillic', 'cyrillic-ext', 'greek', 'greek-ext']
const RANGES: readonly (readonly [first: number, last: number])[] = [
  [0x20, 0x7e],
  [0xa0, 0x17f],
  [0x218, 0x21b],
  [0x386, 0x3ce],
  [0x400, 0x45f],
  [0x490, 0x493],
  [0x49a, 0x49b],
  [0x4a2, 0x4a3],
  [0x4ae, 0x4b1],
  [0x4ba, 0x4bb],
  [0x4d8, 0x4d9],
  [0x4e8, 0x4e9],
  [0x1e9e, 0x1e9e],
  [0x2010, 0x2026],
  [0x2030, 0x2030],
  [0x2032, 0x2033],
  [0x2039, 0x203a],
  [0x20a9, 0x20bf],
  [0x2116, 0x2116],
  [0x2122, 0x2122],
  [0x2190, 0x2199],
  [0x2212, 0x2212],
  [0x2248, 0x2248],
  [0x2260, 0x2265],
]

class Font {
  readonly #tables = new Map<string, DataView>()
  readonly #glyphOf = new Map<number, number>()
  readonly unitsPerEm: number

  constructor(bytes: Buffer) {
    const count = bytes.readUInt16BE(12)
    for (let i = 0, at = 44; i < count; i++, at += 20) {
      const field = (offset: number) => bytes.readUInt32BE(at + offset)
      const [offset, packed, length] = [field(4), field(8), field(12)]
      const data = bytes.subarray(offset, offset + packed)
      const table = packed === length ? data : inflateSync(data)
      const view = new DataView(table.buffer, table.byteOffset, table.length)
      this.#tables.set(bytes.toString('latin1', at, at + 4), view)
    }
    this.unitsPerEm = this.#table('head').getUint16(18)
    this.#readMap()
  }

  #table(name: string): DataView {
    const table = this.#tables.get(name)
    if (!table) throw new Error(`the font has no table ${name}`)
    return table
  }

  /** `cmap` of format 4 or 12, whichever the font has. */
  #readMap(): void {
    const map = this.#table('cmap')
    for (let i = 0; i < map.getUint16(2); i++) {
      const at = map.getUint32(8 + 8 * i)
      if (map.getUint16(at) === 12)
        for (let j = 0, group = at + 16; j < map.getUint32(at + 12); j++, group += 12)
          for (let code = map.getUint32(group); code <= map.getUint32(group + 4); code++)
            this.#glyphOf.set(code, map.getUint32(group + 8) + code - map.getUint32(group))
      if (map.getUint16(at) === 4) this.#readSegments(map, at)
    }
  }

  #readSegments(map: DataView, at: number): void {
    const twice = map.getUint16(at + 6)
    for (let i = 0; i < twice; i += 2) {
      const [last, first] = [map.getUint16(at + 14 + i), map.getUint16(at + 16 + twice + i)]
      const delta = map.getUint16(at + 16 + 2 * twice + i)
      const place = at + 16 + 3 * twice + i
      const offset = map.getUint16(place)
      for (let code = first; code <= last && code !== 0xffff; code++) {
        const found = offset === 0 ? code : map.getUint16(place + offset + 2 * (code - first))
        if (found !== 0) this.#glyphOf.set(code, (found + delta) & 0xffff)
      }
    }
  }

  /** In units of `UNITS` an em; null if the font has no such letter. */
  glyph(code: number): Glyph | null {
    const id = this.#glyphOf.get(code)
    if (!id) return null
    const last = this.#table('hhea').getUint16(34) - 1
    const scale = UNITS / this.unitsPerEm
    return {
      code,
      advance: Math.round(this.#table('hmtx').getUint16(4 * Math.min(id, last)) * scale),
      contours: this.#contours(id).map((points) =>
        points.map(({ x, y, on }) => ({ x: Math.round(x * scale), y: Math.round(y * scale), on })),
      ),
    }
  }

  #contours(id: number): GlyphPoint[][] {
    const [loca, glyf] = [this.#table('loca'), this.#table('glyf')]
    const isLong = this.#table('head').getInt16(50) === 1
    const offset = (i: number) => (isLong ? loca.getUint32(4 * i) : 2 * loca.getUint16(2 * i))
    const at = offset(id)
    if (offset(id + 1) === at) return []
    const count = glyf.getInt16(at)
    return count < 0 ? this.#parts(glyf, at + 10) : simple(glyf, at + 10, count)
  }

  /** A glyph that is made of others, each moved and perhaps scaled. */
  #parts(glyf: DataView, from: number): GlyphPoint[][] {
    const all: GlyphPoint[][] = []
    for (let at = from, flags = 0x20; (flags & 0x20) !== 0;) {
      flags = glyf.getUint16(at)
      const id = glyf.getUint16(at + 2)
      if ((flags & 2) === 0) throw new Error('parts that are placed by points are not read')
      const wide = (flags & 1) !== 0
      const [dx, dy] = wide
        ? [glyf.getInt16(at + 4), glyf.getInt16(at + 6)]
        : [glyf.getInt8(at + 4), glyf.getInt8(at + 5)]
      at += wide ? 8 : 6
      const next = () => glyf.getInt16((at += 2) - 2) / 16_384
      let [a, b, c, d] = [1, 0, 0, 1]
      if (flags & 8) a = d = next()
      else if (flags & 0x40) [a, d] = [next(), next()]
      else if (flags & 0x80) [a, b, c, d] = [next(), next(), next(), next()]
      for (const points of this.#contours(id))
        all.push(points.map(({ x, y, on }) => ({ x: a * x + c * y + dx, y: b * x + d * y + dy, on })))
    }
    return all
  }
}

function simple(glyf: DataView, from: number, count: number): GlyphPoint[][] {
  const ends = Array.from({ length: count }, (_, i) => glyf.getUint16(from + 2 * i))
  let at = from + 2 * count
  at += 2 + glyf.getUint16(at)
  const total = (ends.at(-1) ?? -1) + 1
  const flags: number[] = []
  while (flags.length < total) {
    const flag = glyf.getUint8(at++)
    flags.push(flag)
    if (flag & 8) for (let left = glyf.getUint8(at++); left > 0; left--) flags.push(flag)
  }
  const column = (short: number, same: number) => {
    let value = 0
    return flags.map((flag) => {
      if (flag & short) value += flag & same ? glyf.getUint8(at++) : -glyf.getUint8(at++)
      else if ((flag & same) === 0) value += glyf.getInt16((at += 2) - 2)
      return value
    })
  }
  const [xs, ys] = [column(2, 16), column(4, 32)]
  const points = flags.map((flag, i) => ({ x: xs[i]!, y: ys[i]!, on: (flag & 1) === 1 }))
  return ends.map((end, i) => points.slice(i === 0 ? 0 : ends[i - 1]! + 1, end + 1))
}

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: bun src/tools/picture-glyphs.ts FOLDER_OF_WOFF_FILES')
const fonts = SUBSETS.map(
  (subset) => new Font(readFileSync(`${folder}/inter-${subset}-${WEIGHT}-normal.woff`)),
)
const codes = RANGES.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i))
const glyphs = codes.flatMap((code) => {
  for (const font of fonts) {
    const found = font.glyph(code)
    if (found) return [found]
  }
  return []
})
const packed = deflateRawSync(packGlyphs(glyphs), { level: 9 })
writeFileSync(`${import.meta.dir}/../market/picture/glyphs.bin`, packed)
console.log(`${glyphs.length} letters, ${(packed.length / 1000).toFixed(1)} kB`)
