// Levels: whatever bars fire is among the keys that are read for them, once; and a value far away is not.

import { expect, test } from 'bun:test'
import type { Alert } from '../../../src/notify/alerts/alert.ts'
import { OPERATORS, type AlertKind, type Operator } from '../../../src/wire/alert.ts'
import {
  CHANNEL_OPERATORS,
  holds,
  MOVE_OPERATORS,
  PERCENT_OPERATORS,
} from '../../../src/notify/alerts/condition.ts'
import { judge } from '../../../src/notify/alerts/judge.ts'
import {
  ceilingKey,
  classKey,
  classOf,
  hitSpan,
  levelKey,
  modeOf,
  readings,
} from '../../../src/notify/alerts/levels.ts'
import { thresholds, View } from '../../../src/notify/alerts/view.ts'
import { emptyBars, sliceBars, type Bars } from '../../../src/market/bars.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
console.log(`levels seed ${SEED}`)

let state = SEED
const below = (n: number) => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
  return (state >> 8) % n
}
const oneOf = <T>(items: readonly T[]): T => items[below(items.length)]!

/** Whole prices near each other, so that they often meet a level exactly. */
function randomBars(length: number): Bars {
  const bars = emptyBars(length)
  let close = 10
  for (let i = 0; i < length; i++) {
    bars.time[i] = i * 1000
    bars.open[i] = close
    close += below(7) - 3
    bars.close[i] = close
    bars.high[i] = Math.max(bars.open[i]!, close) + below(3)
    bars.low[i] = Math.min(bars.open[i]!, close) - below(3)
    bars.volume[i] = below(8) === 0 ? Number.NaN : 5 + below(10)
  }
  return bars
}

function randomAlert(): Alert {
  const op = oneOf(OPERATORS)
  return {
    kind: oneOf<AlertKind>(['price', 'price', 'volume', 'change']),
    op,
    price: PERCENT_OPERATORS.includes(op) ? null : MOVE_OPERATORS.includes(op) ? 1 + below(4) : 4 + below(12),
    price2: CHANNEL_OPERATORS.includes(op) ? 4 + below(12) : null,
    percent: PERCENT_OPERATORS.includes(op) ? 1 + below(40) : null,
    bars: MOVE_OPERATORS.includes(op) ? 1 + below(3) : 1,
    frequency: oneOf(['once', 'once_per_bar', 'once_per_bar_close', 'every_time'] as const),
    state: 'active',
    cooldownSec: 0,
    firings: 0,
    recent: [],
    judgedAt: null,
    firedBar: null,
    seenBar: null,
    expiresAt: null,
  } as unknown as Alert
}

const closesAt = (time: number) => time + 1000

interface Scene {
  readonly before: View
  readonly view: View
  readonly last: number
}

/** A look from one bar to some later one, either of which may still form. */
function randomScene(alert: Alert): Scene {
  const bars = randomBars(12)
  const start = 5 + below(3)
  const end = start + 1 + below(12 - start)
  const beforeClosed = below(2) === 0
  const seen = sliceBars(bars, 0, start)
  const before = new View(seen, { start: start - 1, lastClosed: beforeClosed, closesAt, now: 1e9 })
  // The bar that was seen last is looked at once more.
  const view = new View(sliceBars(bars, 0, end), {
    start: start - 1,
    lastClosed: below(2) === 0,
    closesAt,
    now: 1e9,
  })
  const waits = modeOf(alert) === 'close' && !beforeClosed
  return { before, view, last: waits ? start - 2 : start - 1 }
}

/** How often the alert is among what is read. */
function timesRead(alert: Alert, { before, view, last }: Scene): number {
  const [floor, ceiling] = (levelKey(alert) ?? []).slice(-2).map(Number) as [number, number]
  const cls = classOf(levelKey(alert)!.slice(0, 4))
  const span = hitSpan(cls, view, before, last)
  if (!span) return 0
  return readings(cls, span).filter(({ index, low, high, keeps = () => true }) =>
    index === 'levels'
      ? floor >= low && floor <= high && keeps(ceiling)
      : ceiling >= low && ceiling <= high && keeps(floor),
  ).length
}

test('an alert that fires is read, and none is read twice', () => {
  const fired = new Set<string>()
  const wrong: string[] = []
  for (let i = 0; i < 30_000; i++) {
    const alert = randomAlert()
    const scene = randomScene(alert)
    const values = scene.before.values(alert, scene.last)
    const held = values !== null && holds(thresholds(alert), values)
    const verdict = judge(alert, scene.view, { from: scene.view.start, held })
    const times = timesRead(alert, scene)
    if (verdict.fired.length > 0) fired.add(`${alert.op} ${modeOf(alert)}`)
    if (times > 1 || (verdict.fired.length > 0 && times === 0))
      wrong.push(JSON.stringify({ i, times, alert, start: scene.view.start, length: scene.view.length }))
  }
  expect(wrong).toEqual([])
  // Every operator fired in every mode.
  expect(fired.size).toBe(OPERATORS.length * 3)
})

test('the keys of an alert are its class and its level, of a channel both bounds in order', () => {
  const channel = {
    ...randomAlert(),
    kind: 'price',
    op: 'inside_channel',
    price: 12,
    price2: 7,
    bars: 1,
  } as Alert
  const news = { ...channel, frequency: 'once' } as Alert
  expect(levelKey(news)).toEqual(['price', 'inside_channel', 'news', 1, 7, 12])
  expect(ceilingKey(news)).toEqual(['price', 'inside_channel', 'news', 1, 12, 7])
  const moving = { ...news, op: 'moving_up_pct', price: null, price2: null, percent: 5, bars: 3 } as Alert
  expect(levelKey(moving)).toEqual(['price', 'moving_up_pct', 'news', 3, 5, 5])
  expect(ceilingKey(moving)).toBeNull()
  expect(levelKey({ ...news, op: null })).toBeNull()
  expect(classKey(classOf(['price', 'above', 'every', 1]))).toEqual(['price', 'above', 'every', 1])
})

test.each<[Operator, number, number, number]>([
  // Closes at 10, then at 20: what lies between is read, 9 and 21 are not.
  ['crossing_up', 9, 0, 0],
  ['crossing_up', 10, 0, 1],
  ['crossing_up', 20, 0, 1],
  ['crossing_up', 21, 0, 0],
  ['above', 9, 0, 0],
  ['above', 15, 0, 1],
  ['entering_channel', 21, 25, 0],
  ['entering_channel', 15, 25, 1],
  ['entering_channel', 5, 15, 1],
  ['entering_channel', 5, 9, 0],
  ['moving_up', 10, 0, 1],
  ['moving_up', 11, 0, 0],
  ['moving_up_pct', 100, 0, 1],
  ['moving_up_pct', 101, 0, 0],
  ['moving_down', 1, 0, 0],
  ['moving_down_pct', 1, 0, 0],
])('%s %d %d is read %d times', (op, price, price2, times) => {
  const bars = emptyBars(3)
  for (const [i, close] of [10, 10, 20].entries()) {
    bars.time[i] = i * 1000
    for (const field of ['open', 'high', 'low', 'close'] as const) bars[field][i] = close
  }
  const alert = {
    ...randomAlert(),
    kind: 'price',
    op,
    price,
    price2: price2 || null,
    percent: price,
    bars: 1,
    frequency: 'once',
  } as Alert
  const options = { lastClosed: true, closesAt, now: 1e9 }
  const before = new View(sliceBars(bars, 0, 2), { ...options, start: 1 })
  expect(timesRead(alert, { before, view: new View(bars, { ...options, start: 2 }), last: 1 })).toBe(times)
})
