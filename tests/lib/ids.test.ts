import { expect, test } from 'bun:test'
import { base32, idSource, timeOfId } from '../../src/lib/ids.ts'

function source(times: readonly number[]) {
  let at = 0
  const clock = { now: () => times[Math.min(at++, times.length - 1)] ?? 0, sleep: () => Promise.resolve() }
  return idSource({ clock, random: { bytes: (length) => new Uint8Array(length).fill(0xab) } })
}

test('ids sort as they were made: over time, within a millisecond, and when the clock is set back', () => {
  const newId = source([1000, 1000, 1001, 900, 5_000_000_000_000])
  const ids = Array.from({ length: 6000 }, () => newId('al'))
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(6000)
  expect(ids[0]).toMatch(/^al_[0-9a-hjkmnp-tv-z]{26}$/)
})

test('base32 is Crockford’s, most significant bit first', () => {
  expect(base32(Uint8Array.of(0xff, 0, 0xff, 0, 0xff))).toBe('zw0fy07z')
  expect(base32(Uint8Array.of(0x80))).toBe('g0')
})

test('an id tells when it was made', () => {
  for (const now of [1, Date.UTC(2026, 10, 21, 1, 37, 22, 999), 2 ** 48 - 1])
    expect(timeOfId(source([now])('bt'))).toBe(now)
  for (const wrong of ['', 'bt_1', 'bt_!', 'idea_ABCDEFGHJKMNPQRSTVWXYZ0123'])
    expect(timeOfId(wrong)).toBeNull()
})
