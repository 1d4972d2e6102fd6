// The signature of programs of macOS is that of their bytes. `release.test.ts` has real ones.

import { expect, test } from 'bun:test'
import { isSignedWhole, signedAdHoc } from '../../src/tools/macho.ts'

const CODE = 10_000

/** The least of a program: two segments, and a signature of two words that belongs to nothing. */
function program(): Uint8Array {
  const file = new Uint8Array(CODE + 8).fill(7)
  const view = new DataView(file.buffer)
  view.setUint32(0, 0xfeed_facf, true)
  view.setUint32(16, 3, true)
  for (const [i, name] of ['__TEXT', '__LINKEDIT'].entries()) {
    const at = 32 + i * 72
    view.setUint32(at, 0x19, true)
    view.setUint32(at + 4, 72, true)
    file.fill(0, at + 8, at + 24)
    file.set(new TextEncoder().encode(name), at + 8)
    view.setBigUint64(at + 40, BigInt(i * 8000), true)
    view.setBigUint64(at + 48, BigInt(i === 0 ? 8000 : CODE + 8 - 8000), true)
  }
  const signature = 32 + 2 * 72
  for (const [i, value] of [0x1d, 16, CODE, 8].entries()) view.setUint32(signature + 4 * i, value, true)
  return file
}

test('every page is signed, and one that is changed afterwards is not', () => {
  const signed = signedAdHoc(program(), 'chartroom')
  expect(isSignedWhole(signed)).toBe(true)
  const view = new DataView(signed.buffer)
  // The end of the last segment is that of the file.
  expect(8000n + view.getBigUint64(32 + 72 + 48, true)).toBe(BigInt(signed.length))
  for (const at of [300, 5000, CODE - 1]) {
    const changed = signed.slice()
    changed[at]! ^= 1
    expect(isSignedWhole(changed)).toBe(false)
  }
  // Signed again it is the same.
  expect(signedAdHoc(signed, 'chartroom')).toEqual(signed)
})

test('a file of another system stays as it is', () => {
  const file = new TextEncoder().encode(`MZ${'x'.repeat(100)}`)
  expect(signedAdHoc(file, 'x')).toBe(file)
})
