// What stands in the package in the place of Bun's own, and of Temporal, answers the same.

import { expect, test } from 'bun:test'
import * as numbers from '../../src/engine/portable/number-text.ts'
import * as hashes from '../../src/engine/portable/sha256.ts'
import * as zones from '../../src/engine/portable/zone-rules.ts'
import { numbersText } from '../../src/lib/number-text.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { sha256 } from '../../src/lib/sha256.ts'
import { stretchAt } from '../../src/market/zone-rules.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
const random = seededRandom(SEED)
const whole = (below: number) => random.below(below)

test(`data of any length have the same SHA-256, seed ${SEED}`, () => {
  for (let length = 0; length < 200; length++) {
    const data = Uint8Array.from({ length }, () => whole(256))
    expect(hashes.sha256(data)).toBe(sha256(data))
    const pieces = new hashes.Sha256()
    for (let at = 0; at < length;) {
      const size = 1 + whole(100)
      pieces.add(data.subarray(at, at + size))
      at += size
    }
    expect(pieces.hex()).toBe(sha256(data))
  }
})

test(`numbers have the same text, seed ${SEED}`, () => {
  const column = Float64Array.from({ length: 9000 }, (_, i) =>
    i % 50 === 0
      ? [Number.NaN, -0, Infinity, 5e-324, 1e21][whole(5)]!
      : (random.uniform() - 0.5) * 10 ** (whole(40) - 20),
  )
  expect(numbers.numbersText(column)).toBe(numbersText(column))
})

test(`zones have the same offset, and never beyond a transition, seed ${SEED}`, () => {
  const names = Intl.supportedValuesOf('timeZone')
  for (let i = 0; i < 400; i++) {
    const zone = names[whole(names.length)]!
    const time = Date.UTC(1920, 0, 1) + whole(120 * 365 * 86_400) * 1000
    const known = stretchAt(zone, time)
    const found = zones.stretchAt(zone, time)
    expect([zone, time, found.offset]).toEqual([zone, time, known.offset])
    expect(found.from).toBeGreaterThanOrEqual(known.from)
    expect(found.until).toBeLessThanOrEqual(known.until)
    if (found.until !== known.until) expect(found.until - time).toBeGreaterThan(29 * 604_800_000)
  }
  expect(zones.isZone('Atlantis/Capital')).toBe(false)
})
