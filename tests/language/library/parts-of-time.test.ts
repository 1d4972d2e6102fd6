// Parts of times a block of bars at once: what they are bar by bar.

import { expect, test } from 'bun:test'
import { TIME } from '../../../src/language/builtins/time.ts'
import type { BarsFill, StateClass } from '../../../src/language/runtime/state-class.ts'
import { emptyBars } from '../../../src/market/bars.ts'

const LENGTH = 6000
const HOUR = 3_600_000

/** Bars that end behind two changes of the clocks, with steps back and times that are none of a file's. */
function barsEvery(step: number) {
  const bars = emptyBars(LENGTH)
  for (let i = 0; i < LENGTH; i++)
    bars.time[i] = Date.UTC(2024, 8, 1) + i * step - (i % 97 === 3 ? 5_000_000 : 0)
  bars.time.set([Number.NaN, -1, 0, -24 * HOUR - 1, -1e15, 4e15], 50)
  return bars
}

const variables = TIME.flatMap((entry) => {
  const implementation = 'implementation' in entry ? entry.implementation : null
  const state: StateClass | null = implementation && 'state' in implementation ? implementation.state : null
  return state?.fills === 'bars' ? [[entry.name, state] as const] : []
})

test('there are eight', () => {
  expect(variables.length).toBe(8)
})

test.each(['UTC', 'America/New_York', 'Asia/Kolkata', 'UTC-3:30', 'Australia/Lord_Howe'])(
  'in %s',
  (timezone) => {
    for (const step of [1000, 15 * 60_000, HOUR, 7_777_777.5, 24 * HOUR])
      for (const [name, Part] of variables) {
        const bars = barsEvery(step)
        const made = () =>
          new Part({ bars, timezone, interval: '15m' } as never) as object as BarsFill & {
            next(time: number): number
          }
        const [one, all] = [made(), made()]
        const found = new Float64Array(LENGTH)
        for (let from = 0; from < LENGTH; from += 4096)
          all.fillBlock(from, Math.min(LENGTH, from + 4096), found, -1)
        const first = found.findIndex((value, i) => !Object.is(value, one.next(bars.time[i]!)))
        expect(first, `${name} every ${step} ms`).toBe(-1)
      }
  },
)
