import { expect, test } from 'bun:test'
import { crc32, deflateSync } from 'node:zlib'
import { cleanPng } from '../../src/lib/png.ts'

const LIMITS = { width: 100, height: 50 }
const SIGNATURE = [137, 80, 78, 71, 13, 10, 26, 10]

function chunk(name: string, data: Uint8Array): Uint8Array {
  const named = Buffer.concat([Buffer.from(name), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
}

function head(width: number, height: number, depth = 8, colours = 6, interlace = 0, packing = 0): Uint8Array {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(width, 0)
  data.writeUInt32BE(height, 4)
  data.set([depth, colours, packing, 0, interlace], 8)
  return chunk('IHDR', data)
}

const pixels = (width: number, height: number, samples = 4) =>
  chunk('IDAT', deflateSync(Buffer.alloc(height * (1 + width * samples))))
const SECRET = Buffer.from('the source of my script')
const END = chunk('IEND', new Uint8Array())
const png = (...chunks: readonly Uint8Array[]) => Buffer.concat([Buffer.from(SIGNATURE), ...chunks])

test('a picture is kept as it is', async () => {
  for (const [colours, samples] of [
    [6, 4],
    [2, 3],
  ] as const) {
    const picture = png(head(100, 50, 8, colours), pixels(100, 50, samples), END)
    expect(await cleanPng(picture, LIMITS)).toEqual(picture)
  }
})

test('what is not the picture is left out: texts, places, files behind its end', async () => {
  const words = chunk('tEXt', Buffer.from('Author\0somebody'))
  const dirty = png(head(3, 2), words, pixels(3, 2), chunk('eXIf', Buffer.from('where')), END)
  const clean = await cleanPng(Buffer.concat([dirty, Buffer.from('<script>')]), LIMITS)
  expect(clean).toEqual(png(head(3, 2), pixels(3, 2), END))
})

test('nothing can be hidden in the chunks that are kept', async () => {
  const packed = Buffer.from(pixels(3, 2).subarray(8, -4))
  const hiding = {
    'behind the packed pixels': png(head(3, 2), chunk('IDAT', Buffer.concat([packed, SECRET])), END),
    'in a chunk of its own behind them': png(head(3, 2), pixels(3, 2), chunk('IDAT', SECRET), END),
    'in a second head': png(head(3, 2), pixels(3, 2), chunk('IHDR', SECRET), END),
    'in the end': png(head(3, 2), pixels(3, 2), chunk('IEND', SECRET)),
  }
  for (const [where, picture] of Object.entries(hiding))
    expect([where, await cleanPng(picture, LIMITS)]).toEqual([where, png(head(3, 2), pixels(3, 2), END)])
})

test('pixels in several chunks are put into one, and none is lost', async () => {
  const noise = Buffer.alloc(50 * 401)
  for (let i = 0, state = 1; i < noise.length; i++) {
    state = (state * 48271) % 2147483647
    noise[i] = i % 401 === 0 ? 0 : state & 255
  }
  const packed = deflateSync(noise)
  const pieces = [packed.subarray(0, 9), packed.subarray(9, 5000), packed.subarray(5000)]
  const sent = png(head(100, 50), ...pieces.map((piece) => chunk('IDAT', piece)), END)
  expect(await cleanPng(sent, LIMITS)).toEqual(png(head(100, 50), chunk('IDAT', packed), END))
})

test.each([
  ['nothing', Buffer.alloc(0), 'is not a PNG'],
  ['a page', Buffer.from('<html></html>'), 'is not a PNG'],
  ['a signature alone', png(), 'damaged'],
  ['no end', png(head(3, 2), pixels(3, 2)), 'damaged'],
  ['a length beyond the end', png(head(3, 2), pixels(3, 2).subarray(0, 9)), 'damaged'],
  ['a head that is not first', png(pixels(3, 2), head(3, 2), END), 'damaged'],
  ['a short head', png(chunk('IHDR', Buffer.alloc(4)), pixels(3, 2), END), 'damaged'],
  ['no pixels', png(head(3, 2), END), 'damaged'],
  ['fewer pixels than it says', png(head(3, 2), pixels(3, 1), END), 'damaged'],
  ['more pixels than it says', png(head(3, 2), pixels(3, 3), END), 'damaged'],
  ['pixels that are not packed', png(head(3, 2), chunk('IDAT', Buffer.alloc(9)), END), 'damaged'],
  ['a width of 0', png(head(0, 2), pixels(0, 2), END), 'no pixels'],
  ['one pixel too wide', png(head(101, 50), pixels(101, 50), END), '101 × 50 pixels; at most 100 × 50'],
  ['one pixel too high', png(head(100, 51), pixels(100, 51), END), '100 × 51 pixels'],
  ['sixteen bits', png(head(3, 2, 16), pixels(3, 2, 8), END), 'eight bits'],
  ['a palette', png(head(3, 2, 8, 3), pixels(3, 2, 1), END), 'eight bits'],
  ['another way of packing', png(head(3, 2, 8, 6, 0, 1), pixels(3, 2), END), 'damaged'],
  ['interlacing', png(head(3, 2, 8, 6, 1), pixels(3, 2), END), 'interlacing'],
])('%s is refused', async (_what, bytes, words) => {
  expect(await cleanPng(bytes, LIMITS)).toContain(words)
})

test('a chunk whose sum is wrong is refused', async () => {
  const picture = png(head(3, 2), pixels(3, 2), END)
  picture[SIGNATURE.length + 10]! ^= 1
  expect(await cleanPng(picture, LIMITS)).toContain('damaged')
})

test('a packed line of a gigabyte is never unpacked', async () => {
  const bomb = png(head(3, 2), chunk('IDAT', deflateSync(Buffer.alloc(64 << 20))), END)
  expect(await cleanPng(bomb, LIMITS)).toContain('damaged')
})
