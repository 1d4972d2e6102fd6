// What the executable has instead of parts of packages that it leaves out.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { leftOut } from '../../src/tools/left-out.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
const folder = mkdtempSync(`${tmpdir()}/chartroom-left-out-`)
afterAll(() => rmSync(folder, { recursive: true }))

type Unwrap = (signature: Uint8Array, curve: number) => Uint8Array

/** Curves as COSE numbers them (P-256, P-384, P-521), with the bytes of a component. */
const CURVES = [
  [1, 32],
  [2, 48],
  [3, 66],
] as const

function integer(bytes: readonly number[]): number[] {
  const from = bytes.findIndex((byte) => byte !== 0)
  const bare = bytes.slice(from < 0 ? -1 : from)
  const signed = (bare[0] ?? 0) >= 0x80 ? [0, ...bare] : bare
  return [2, signed.length, ...signed]
}

test(`a passkey's signature is read as the package reads it, and a damaged one never otherwise, seed ${SEED}`, async () => {
  const entry = `${import.meta.dir}/../../node_modules/@simplewebauthn/server/esm/helpers/iso/isoCrypto/unwrapEC2Signature.js`
  const { outputs } = await Bun.build({ entrypoints: [entry], plugins: [leftOut], outdir: folder })
  // Of ASN.1 nothing is left.
  expect(outputs[0]!.size).toBeLessThan(20_000)
  const { unwrapEC2Signature: ours } = (await import(outputs[0]!.path)) as { unwrapEC2Signature: Unwrap }
  const { unwrapEC2Signature: theirs } = (await import(entry)) as { unwrapEC2Signature: Unwrap }
  const read = (unwrap: Unwrap, bytes: Uint8Array, curve: number) => {
    try {
      return unwrap(bytes, curve).toHex()
    } catch {
      return 'refused'
    }
  }
  const { below } = seededRandom(SEED)
  let refused = 0
  for (let round = 0; round < 600; round++) {
    const [curve, size] = CURVES[round % 3]!
    // Leading zeros are rare, and what signatures are read wrong by.
    const component = () => {
      const zeros = below(3)
      return integer(Array.from({ length: size }, (_, i) => (i < zeros ? 0 : below(256))))
    }
    const content = [...component(), ...component()]
    const head = content.length < 0x80 ? [0x30, content.length] : [0x30, 0x81, content.length]
    const whole = Uint8Array.from([...head, ...content])
    expect(read(ours, whole, curve)).toBe(read(theirs, whole, curve))
    expect(read(ours, whole, curve)).toHaveLength(4 * size)
    const damaged = whole.slice(0, below(4) === 0 ? below(whole.length) : undefined)
    if (damaged.length > 0) damaged[below(Math.min(damaged.length, 6))] = below(256)
    const found = read(ours, damaged, curve)
    if (found === 'refused') refused++
    else expect([round, found]).toEqual([round, read(theirs, damaged, curve)])
  }
  expect(refused).toBeGreaterThan(100)
})
