// What is said of series whose bars stay away.

import { expect, test } from 'bun:test'
import { feedSilence, silenceText } from '../../src/market/silence.ts'

const NOW = Date.UTC(2026, 0, 10)
const DAY = 86_400_000
const of = (interval: string) => ({ exchange: 'E', symbol: 'S', interval })

test.each([
  ['1h', NOW - 5 * DAY, null],
  ['1h', NOW - 6 * DAY, 'No new bars come: the newest of E:S 1h is of 2026-01-04. Why.'],
  ['1d', NOW - 5 * DAY, null],
  ['1w', NOW - 34 * DAY, null],
  ['1w', NOW - 35 * DAY, 'No new bars come: the newest of E:S 1w is of 2025-12-06. Why.'],
  ['1h', null, 'No new bars come: there are none of E:S 1h yet. Why.'],
])('of %s whose newest is of %p', (interval, newest, said) => {
  expect(silenceText(of(interval), newest, NOW, 'Why.')).toBe(said)
})

test('where nobody knows why, it is said how bars come', () => {
  expect(silenceText(of('1h'), 0, NOW, null)).toEndWith('under Markets, or import bars as they end.')
})

const FEED = { state: 'fresh', failures: 0, newestBar: NOW as number | null, said: 'So it goes.' }
test.each([
  [{}, null],
  [{ newestBar: null }, 'No new bar has come yet. So it goes.'],
  [{ state: 'live' }, null],
  [{ state: 'waiting' }, 'No new bar has come yet. So it goes.'],
  [{ state: 'retrying', failures: 1 }, 'No new bars come. So it goes.'],
  [{ state: 'retrying', newestBar: null }, 'No new bars come. So it goes.'],
  // Its stream is cut, and requests bring them.
  [{ state: 'retrying' }, 'So it goes.'],
])('of a series that a provider is asked for, %j', (change, said) => {
  expect(feedSilence({ ...FEED, ...change })).toBe(said)
})
