// The window in blocks against a plain count, over windows that are longer and shorter than its blocks.

import { expect, test } from 'bun:test'
import { CountedWindow } from '../../../src/language/builtins/ta/counted-window.ts'
import { SEED, randomOf, seriesOf } from './series.ts'

console.log(`counted-window seed ${SEED}`)
const BARS = 5000
const SLACK = 1e-10

/** As many of the last values as the window has, na ones among them. */
const counted = (window: readonly number[], value: number) =>
  window.filter((one) => one === value || one - value <= SLACK).length

const series: Readonly<Record<string, readonly number[]>> = {
  ...seriesOf(SEED, BARS),
  infinite: Array.from({ length: BARS }, (_, i) => [1, Infinity, -Infinity, 2, NaN][i % 5]!),
  'within the slack': Array.from({ length: BARS }, (_, i) => 1 + (i % 40) * 4e-12),
}

test.each(Object.entries(series))('counts values of %s that are not above one', (_, values) => {
  const random = randomOf(SEED)
  for (const length of [1, 7, 16, 17, 200, 1500]) {
    const window = new CountedWindow()
    for (const [bar, value] of values.entries()) {
      window.push(value, length)
      // A plain count of each bar of a long window would take seconds.
      if (random() > 40 / length) continue
      const now = values.slice(Math.max(0, bar + 1 - length), bar + 1)
      const asked = random() < 0.5 ? (values[bar + 1] ?? 0) : now[Math.floor(random() * now.length)]!
      if (!Number.isNaN(asked)) expect(window.countUpTo(asked)).toBe(counted(now, asked))
    }
  }
})

test('counts within a window whose length moves from bar to bar', () => {
  const random = randomOf(SEED + 1)
  const window = new CountedWindow()
  const seen: number[] = []
  let length = 1
  for (let bar = 0; bar < BARS; bar++) {
    const value = random() < 0.1 ? NaN : Math.round(random() * 300)
    if (random() < 0.05) length = 1 + Math.floor(random() * random() * 900)
    seen.push(value)
    window.push(value, length)
    const asked = Math.round(random() * 300)
    expect(window.countUpTo(asked)).toBe(counted(seen.slice(-length), asked))
  }
})
