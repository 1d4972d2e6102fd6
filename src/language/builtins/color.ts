// color.*: numbers 0xRRGGBBAA. Pine counts transparency, from 0 (opaque) to 100 (not to be seen).

import { constant, fn } from './define.ts'
import type { BuiltinEntry } from './registry.ts'

/** v6, and what it was before where v6 changed it. */
const COLORS: readonly (readonly [name: string, rgb: number, before6?: number])[] = [
  ['aqua', 0x00bcd4],
  ['black', 0x363a45],
  ['blue', 0x2962ff],
  ['fuchsia', 0xe040fb],
  ['gray', 0x787b86],
  ['green', 0x4caf50],
  ['lime', 0x00e676],
  ['maroon', 0x880e4f],
  ['navy', 0x311b92],
  ['olive', 0x808000],
  ['orange', 0xff9800],
  ['purple', 0x9c27b0],
  ['red', 0xf23645, 0xff5252],
  ['silver', 0xb2b5be],
  ['teal', 0x089981, 0x00897b],
  ['white', 0xffffff],
  ['yellow', 0xfdd835, 0xffeb3b],
]

export const COLOR: readonly BuiltinEntry[] = [
  ...COLORS.map(([name, rgb, before6]) => ({
    ...constant(`color.${name}`, `#${rgb.toString(16).padStart(6, '0')}.`, 'const color', opaque(rgb)),
    ...(before6 === undefined ? {} : { valueBefore6: opaque(before6) }),
  })),
  fn(
    'color.new',
    'A colour with another transparency.',
    ['(color color, const float transp) color', '(color color, float transp) color'],
    [
      // A fraction that is constant is cut off (K12).
      { fn: (color: number, transp: number) => withTransparency(color, Math.trunc(transp)), pure: true },
      { fn: withTransparency, pure: true },
    ],
  ),
  // v4: a colour that says nothing of its transparency, with this one.
  fn('·veiled', '', '(color color, float transp) color', {
    fn: (color: number, transp: number) =>
      channel(color, 3) === 255 ? withTransparency(color, transp) : color,
    pure: true,
  }),
  fn(
    'color.rgb',
    'A colour of red, green and blue (0 to 255) and transparency (0 to 100).',
    '(float red, float green, float blue, float transp = 0) color',
    { fn: rgb, pure: true },
  ),
  fn(
    'color.from_gradient',
    'The colour between two that is where the value is between two others.',
    '(float value, float bottom_value, float top_value, color bottom_color, color top_color) color',
    { fn: fromGradient, pure: true },
  ),
  fn('color.r', 'Red, 0 to 255.', '(color color) float', {
    fn: (color: number) => channel(color, 0),
    pure: true,
  }),
  fn('color.g', 'Green, 0 to 255.', '(color color) float', {
    fn: (color: number) => channel(color, 1),
    pure: true,
  }),
  fn('color.b', 'Blue, 0 to 255.', '(color color) float', {
    fn: (color: number) => channel(color, 2),
    pure: true,
  }),
  fn('color.t', 'Transparency, 0 to 100.', '(color color) float', {
    fn: (color: number) => Math.round(100 - (channel(color, 3) * 100) / 255),
    pure: true,
  }),
]

function opaque(rgbValue: number): number {
  return rgbValue * 256 + 255
}

/** na has none of any. Not with bit operators: they would make colours above 0x7fffffff negative. */
function channel(color: number, place: number): number {
  return Number.isNaN(color) ? 0 : Math.floor(color / 256 ** (3 - place)) % 256
}

function byte(value: number): number {
  return Math.max(0, Math.min(255, Math.round(value)))
}

/** What is less than one is cut off, and na is 0. */
function channelOf(value: number): number {
  return Number.isNaN(value) ? 0 : Math.max(0, Math.min(255, Math.trunc(value)))
}

function alphaOf(transparency: number): number {
  return Math.round((255 * (100 - Math.max(0, Math.min(100, transparency)))) / 100)
}

function withTransparency(color: number, transparency: number): number {
  if (Number.isNaN(color) || Number.isNaN(transparency)) return color
  return Math.floor(color / 256) * 256 + alphaOf(transparency)
}

function rgb(red: number, green: number, blue: number, transparency: number): number {
  const packed = ((channelOf(red) * 256 + channelOf(green)) * 256 + channelOf(blue)) * 256
  return packed + alphaOf(Number.isNaN(transparency) ? 100 : transparency)
}

/** An end that is na has the hue of the other and cannot be seen; at that end itself the colour is na. */
function fromGradient(value: number, low: number, high: number, bottom: number, top: number): number {
  const range = high - low
  const share = range === 0 ? Number(value > low) : Math.max(0, Math.min(1, (value - low) / range))
  const from = Number.isNaN(bottom) ? withTransparency(top, 100) : bottom
  const to = Number.isNaN(top) ? withTransparency(bottom, 100) : top
  if (Number.isNaN(value + share + from)) return Number.NaN
  if (share === 0 || share === 1) return share === 0 ? bottom : top
  let mixed = 0
  for (let place = 0; place < 4; place++) {
    const start = channel(from, place)
    mixed = mixed * 256 + byte(start + (channel(to, place) - start) * share)
  }
  return mixed
}
