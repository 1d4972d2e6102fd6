// How the outlines of letters are kept in `glyphs.bin`: small numbers, most of them one byte, which deflate then halves. They
// are those of Inter (SIL Open Font License 1.1), made by `tools/picture-glyphs.ts`; as code they would take four times the room.
//
// An outline is TrueType's: closed contours of points, on the curve or, between two of those, the control point of a
// quadratic one. Of two control points in a row the middle is on the curve. Outside runs clockwise, and a hole the other way.

/** Units an em. */
export const UNITS = 1000

export interface GlyphPoint {
  readonly x: number
  /** Upwards from the baseline. */
  readonly y: number
  readonly on: boolean
}

export interface Glyph {
  readonly code: number
  /** To where the next letter begins. */
  readonly advance: number
  readonly contours: readonly (readonly GlyphPoint[])[]
}

export function packGlyphs(glyphs: readonly Glyph[]): Uint8Array {
  const bytes: number[] = []
  const put = (value: number) => {
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
    bytes.push(rest)
  }
  const signed = (value: number) => (value < 0 ? -2 * value - 1 : 2 * value)
  let before = 0
  for (const { code, advance, contours } of glyphs) {
    put(code - before)
    put(advance)
    put(contours.length)
    before = code
    let [x, y] = [0, 0]
    for (const points of contours) {
      put(points.length)
      for (const point of points) {
        put(2 * signed(point.x - x) + (point.on ? 1 : 0))
        put(signed(point.y - y))
        x = point.x
        y = point.y
      }
    }
  }
  return Uint8Array.from(bytes)
}

export function unpackGlyphs(bytes: Uint8Array): ReadonlyMap<number, Glyph> {
  let at = 0
  const get = () => {
    let value = 0
    for (let unit = 1; ; unit *= 128) {
      const byte = bytes[at++] ?? 0
      value += (byte % 128) * unit
      if (byte < 128) return value
    }
  }
  const signed = (value: number) => (value % 2 === 1 ? -(value + 1) / 2 : value / 2)
  const glyphs = new Map<number, Glyph>()
  let code = 0
  while (at < bytes.length) {
    code += get()
    const advance = get()
    let [x, y] = [0, 0]
    const contours = Array.from({ length: get() }, () =>
      Array.from({ length: get() }, () => {
        const across = get()
        x += signed(Math.floor(across / 2))
        y += signed(get())
        return { x, y, on: across % 2 === 1 }
      }),
    )
    glyphs.set(code, { code, advance, contours })
  }
  return glyphs
}
