// What simulated worlds hold against servers: each check finds what it is for, and nothing where all is well.

import { expect, test } from 'bun:test'
import { barsOf } from '../../src/market/bars.ts'
import { markOf, moveMark, readMarkToMove } from '../../src/notify/alerts/mark.ts'
import { Disk } from '../../src/simulation/disk.ts'
import { CHANGING_MS, History, QUIET_MS } from '../../src/simulation/history.ts'
import { Lending } from '../../src/simulation/lending.ts'
import { Life } from '../../src/simulation/life.ts'
import type { Offer } from '../../src/work/sweeps/offers.ts'
import { EPOCH, Timeline } from '../../src/simulation/timeline.ts'

const KEY = { exchange: 'SIM', symbol: 'S0', interval: '5m' }
const SERIES = { owner: '', ...KEY }
const bar = (at: number) => barsOf([[EPOCH + at * 300_000, 1, 1, 1, 1, 1]])

function world() {
  const timeline = new Timeline(1)
  const history = new History(timeline)
  const checks = () => history.findings.map(({ check }) => check)
  const life = (name: string) => new Life(name, timeline, { aheadMs: 0, drift: 0 })
  return { timeline, history, checks, life }
}

test('bars that nobody has looked at are found, once nothing is in the way', async () => {
  const { timeline, history, checks } = world()
  const { kv, bars } = new Disk(timeline)
  const look = async () => {
    const { last } = (await bars.info(KEY))!
    const { bars: stored } = await bars.read(KEY, { from: last })
    const moved = moveMark(SERIES, await readMarkToMove(kv, SERIES), markOf(stored, 0, 1, true))
    await kv.commit({ sets: moved.sets ?? [] })
  }
  await bars.upsert(KEY, bar(0))
  await look()
  history.alerts.set('al_1', { id: 'al_1', series: 0, isOfCloses: true, armedAt: 0, endedAt: null })
  for (const note of await bars.notes()) await bars.clearNote(note)
  await history.checkLooked(kv, bars)
  expect(checks()).toEqual([])
  await bars.upsert(KEY, bar(1))
  history.quietSince = timeline.now + QUIET_MS
  await history.checkLooked(kv, bars)
  expect(checks()).toEqual([])
  history.quietSince = timeline.now
  await history.checkLooked(kv, bars)
  // It has its note still, and the mark is behind.
  expect(checks()).toEqual(['looked', 'looked'])
  history.alerts.clear()
  await history.checkLooked(kv, bars)
  expect(checks().length).toBe(3)
})

test('a choice of a sweep that two servers try at a time is found, but not where one is gone', () => {
  const { timeline, history, checks, life } = world()
  timeline.now += 2 * CHANGING_MS
  const [one, two, three] = [life('one'), life('two'), life('three')]
  const over = history.tries(one, ['sw_1 [2]', 'sw_1 [3]'], EPOCH)
  history.tries(one, ['sw_1 [2]'], EPOCH)
  history.tries(two, ['sw_1 [2]'], timeline.now)
  two.finish(true)
  history.tries(three, ['sw_1 [2]', 'sw_2 [3]'], EPOCH)
  expect(checks()).toEqual([])
  history.tries(three, ['sw_1 [3]'], EPOCH)
  expect(checks()).toEqual(['exclusive'])
  over()
  history.tries(one, ['sw_1 [2]'], EPOCH)
  expect(checks()).toEqual(['exclusive', 'exclusive'])
})

test('a piece of a sweep is its taker’s alone, and answered or given back once', () => {
  const { history, checks } = world()
  const lending = new Lending(history, (node) => node === 'gone')
  const free: Offer = {
    id: 'off_1',
    sweepId: 'sw_1',
    lender: 'one',
    choices: [[2], [3]],
    node: null,
    refusedBy: [],
    outcome: null,
  }
  const by = (node: string) => ({ ...free, node })
  const outcome = { left: [0, 1], out: [], rows: '' } as unknown as NonNullable<Offer['outcome']>
  const isRight = (...[before, after, node]: Parameters<Lending['step']>) => {
    const found = checks().length
    lending.step(before, after, node)
    return checks().length === found
  }
  expect(isRight(null, free, 'one')).toBe(true)
  expect(isRight(null, free, 'two')).toBe(false)
  expect(isRight(free, by('two'), 'two')).toBe(true)
  expect(isRight(free, by('two'), 'one')).toBe(false)
  expect(isRight(by('two'), { ...free, refusedBy: ['two'] }, 'two')).toBe(true)
  expect(isRight(free, free, 'two')).toBe(false)
  expect(isRight(by('two'), free, 'one')).toBe(false)
  expect(isRight(by('gone'), free, 'one')).toBe(true)
  const answered = { ...by('two'), outcome }
  expect(isRight(by('two'), answered, 'three')).toBe(false)
  expect(isRight(answered, { ...answered, node: null }, 'two')).toBe(false)
  expect(isRight(answered, null, 'one')).toBe(true)
  // The same choices in another piece of the same server, and of one that has begun the sweep anew.
  expect(isRight({ ...by('two'), id: 'off_2' }, { ...answered, id: 'off_2' }, 'two')).toBe(false)
  expect(isRight({ ...by('two'), lender: 'three' }, { ...answered, lender: 'three' }, 'two')).toBe(true)
  expect(new Set(checks())).toEqual(new Set(['lent']))
})
