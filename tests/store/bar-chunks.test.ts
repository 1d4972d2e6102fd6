import { expect, test } from 'bun:test'
import { emptyBars } from '../../src/market/bars.ts'
import { chunkLength, decodeAll, decodeChunk, encodeChunk } from '../../src/store/bar-chunks.ts'
import { minuteBars, rows } from '../market/bar-store.conformance.ts'

function roundTrip(bars: ReturnType<typeof emptyBars>) {
  const bytes = encodeChunk(bars)
  const target = emptyBars(chunkLength(bytes))
  decodeChunk(bytes, target, 0)
  return { target, bytes: bytes.length }
}

test('prices with two decimals take four bytes a value', () => {
  const bars = minuteBars(0, 4096)
  const { target, bytes } = roundTrip(bars)
  expect(rows(target)).toEqual(rows(bars))
  expect(bytes).toBe(104 + 4096 * 24)
})

test.each([
  ['high', 50_000_000.25],
  ['below nothing', -50_000_000.25],
])('prices that are %s take no more where they lie close together', (_name, price) => {
  const bars = minuteBars(0, 4096)
  for (const field of ['open', 'high', 'low', 'close'] as const)
    bars[field].set(Array.from({ length: 4096 }, (_, i) => price + i / 4))
  const { target, bytes } = roundTrip(bars)
  expect(rows(target)).toEqual(rows(bars))
  expect(bytes).toBe(104 + 4096 * 24)
})

test.each([
  ['zero and minus zero', [0, -0, 1, -1]],
  ['sums that are no decimals', [0.1 + 0.2, 0.3, 0.1, 0.7]],
  ['tiny', [1e-12, 2e-12, 0, 5e-324]],
  ['huge', [1e15, 9e15, 1e308, 3]],
  ['eight decimals', [0.00000001, 0.12345678, 0, 0.99999999]],
  ['wide', [0, 4_294_967_296, 1, 2]],
  ['32 bits and no more', [0, 4_294_967_295, 1, 2]],
])('%s come back bit for bit', (_name, values) => {
  const bars = minuteBars(0, 4)
  bars.close.set(values)
  const { target } = roundTrip(bars)
  expect([...target.close].map((value) => [value, Object.is(value, -0)])).toEqual(
    values.map((value) => [value, Object.is(value, -0)]),
  )
})

test('an odd number of bars and bytes that are not aligned are no trouble', () => {
  const bars = minuteBars(0, 7)
  const bytes = encodeChunk(bars)
  const shifted = new Uint8Array(bytes.length + 3)
  shifted.set(bytes, 3)
  const target = emptyBars(9)
  decodeChunk(shifted.subarray(3), target, 2)
  expect(rows(target).slice(2)).toEqual(rows(bars))
})

test('what was bought stands behind the other columns, where earlier versions do not look', () => {
  const bars = minuteBars(0, 4095)
  const plain = encodeChunk(bars)
  const bought = bars.volume.map((volume) => volume / 4)
  const bytes = encodeChunk({ ...bars, bought })
  // Behind its length and checksum.
  expect(bytes.subarray(8, plain.length)).toEqual(plain.subarray(8))
  expect(bytes.length).toBe(plain.length + 16 + 4096 * 4)
  expect(decodeAll([bytes])).toEqual({ ...decodeAll([plain]), bought })
  // Known of one alone.
  const one = bought.map((value, i) => (i === 77 ? value : Number.NaN))
  // Of NaN one typed array does not equal another.
  expect([...decodeAll([encodeChunk({ ...bars, bought: one })]).bought!]).toEqual([...one])
  // Known of none: as if there were no column.
  expect(encodeChunk({ ...bars, bought: bought.map(() => Number.NaN) })).toEqual(plain)
  const both = decodeAll([plain, encodeChunk({ ...minuteBars(5000, 5001), bought: Float64Array.of(1) })])
  expect([...both.bought!]).toEqual([...bought.map(() => Number.NaN), 1])
})
