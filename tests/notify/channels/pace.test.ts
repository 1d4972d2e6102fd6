// When a channel may speak: quiet hours in zones with clocks that change, and digests.

import { describe, expect, test } from 'bun:test'
import { checkQuiet, freeAt, type QuietHours } from '../../../src/notify/channels/pace.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'

const NIGHT: QuietHours = { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' }
const free = (quiet: QuietHours | null, now: string, digestMinutes = 0, last: string | null = null) =>
  new Date(
    freeAt({ quiet, digestMinutes, lastSuccessAt: last === null ? null : Date.parse(last) }, Date.parse(now)),
  ).toISOString()

describe('quiet hours', () => {
  test.each([
    ['2026-01-15T20:59:59.000Z', '2026-01-15T20:59:59.000Z'],
    ['2026-01-15T21:00:00.000Z', '2026-01-16T06:00:00.000Z'],
    ['2026-01-15T23:30:15.500Z', '2026-01-16T06:00:00.000Z'],
    ['2026-01-16T05:59:59.999Z', '2026-01-16T06:00:00.000Z'],
    ['2026-01-16T06:00:00.000Z', '2026-01-16T06:00:00.000Z'],
    // The clocks are put forward that night, and back on the other one.
    ['2026-03-28T22:00:00.000Z', '2026-03-29T05:00:00.000Z'],
    ['2026-10-24T20:00:00.000Z', '2026-10-25T06:00:00.000Z'],
  ])('over midnight in Berlin: at %s it may speak at %s', (now, at) => {
    expect(free(NIGHT, now)).toBe(at)
  })

  test('that end in the hour which a night leaves out end when that hour would be over', () => {
    expect(free({ ...NIGHT, to: '02:30' }, '2026-03-29T00:10:00.000Z')).toBe('2026-03-29T01:30:00.000Z')
  })

  test('of a day, in a zone off by three quarters of an hour', () => {
    const quiet = { from: '09:00', to: '17:00', timezone: 'Asia/Kathmandu' }
    expect(free(quiet, '2026-06-01T04:00:00.000Z')).toBe('2026-06-01T11:15:00.000Z')
    expect(free(quiet, '2026-06-01T03:00:00.000Z')).toBe('2026-06-01T03:00:00.000Z')
  })

  test('the end is never quiet, nor before the moment it is asked for, nor more than a day away', () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    console.log(`seed ${seed}`)
    const { uniform } = seededRandom(seed)
    const zones = ['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'UTC', 'Pacific/Apia']
    const clock = () =>
      `${String(Math.floor(uniform() * 24)).padStart(2, '0')}:${String(Math.floor(uniform() * 60)).padStart(2, '0')}`
    for (let i = 0; i < 2000; i++) {
      const quiet = { from: clock(), to: clock(), timezone: zones[i % zones.length] ?? 'UTC' }
      if (quiet.from === quiet.to) continue
      const now = Date.UTC(2026, 0, 1) + Math.floor(uniform() * 365 * 86_400_000)
      const at = freeAt({ quiet, digestMinutes: 0, lastSuccessAt: null }, now)
      const again = freeAt({ quiet, digestMinutes: 0, lastSuccessAt: null }, at)
      expect([seed, i, quiet, now, at >= now, again, at - now <= 25 * 3_600_000]).toEqual([
        seed,
        i,
        quiet,
        now,
        true,
        at,
        true,
      ])
    }
  })

  test.each([
    [{ ...NIGHT, timezone: 'Mars/Olympus' }, '/quiet/timezone'],
    [{ ...NIGHT, to: '22:00' }, '/quiet/to'],
  ])('%p are refused at %s', (quiet, path) => {
    expect(() => checkQuiet(quiet)).toThrow(
      expect.objectContaining({ details: { fields: [expect.objectContaining({ path })] } }),
    )
  })
})

describe('a digest', () => {
  test.each([
    [null, '2026-01-15T12:00:00.000Z', '2026-01-15T12:00:00.000Z'],
    ['2026-01-15T11:50:00.000Z', '2026-01-15T12:00:00.000Z', '2026-01-15T12:05:00.000Z'],
    ['2026-01-15T11:00:00.000Z', '2026-01-15T12:00:00.000Z', '2026-01-15T12:00:00.000Z'],
    // The clock was set back.
    ['2026-01-16T12:00:00.000Z', '2026-01-15T12:00:00.000Z', '2026-01-15T12:15:00.000Z'],
  ])('of 15 minutes after a message at %p: at %s it may speak at %s', (last, now, at) => {
    expect(free(null, now, 15, last)).toBe(at)
  })

  test('whose time comes in quiet hours waits for their end', () => {
    expect(free(NIGHT, '2026-01-15T20:55:00.000Z', 15, '2026-01-15T20:50:00.000Z')).toBe(
      '2026-01-16T06:00:00.000Z',
    )
  })
})
