// The queue of looks: what it does with notes, failures and several lanes.

import { expect, test } from 'bun:test'
import { LookQueue, symbolShard } from '../../../src/notify/alerts/look-queue.ts'
import { ALL_SHARDS } from '../../../src/lib/shards.ts'
import type { BarNote, SeriesKey } from '../../../src/market/bar-store.ts'

const noteOf = (symbol: string, change = 1): BarNote => ({
  key: { exchange: 'X', symbol, interval: '1d' },
  from: 0,
  to: 0,
  change,
})

/** Lanes are scripts: what each look does at its n-th step; a step that throws fails. */
function world(...lanes: ((symbol: string, step: number) => boolean | Promise<boolean>)[]) {
  const notes = new Map<string, BarNote>()
  const steps: string[] = []
  const lines: string[] = []
  let now = 0
  /** How often the store cannot be read from now on. */
  const away = { reads: 0 }
  /** What happens while a note is being cleared. */
  const during: { clearing(): Promise<void>; nap(naps: number, ms: number): void } = {
    async clearing() {},
    nap() {},
  }
  const read = { times: 0 }
  const shards = {
    ours: true,
    giving: [] as (() => Promise<void>)[],
    underWay: (): Iterable<string> => [],
    gained: () => {},
  }
  /** Series that were not looked at to their end when the server stopped. */
  const unsettled: SeriesKey[] = []
  let naps = 0
  const looks = new LookQueue({
    clock: {
      now: () => now,
      async sleep(ms) {
        if (++naps > 100_000) throw new Error('naps without end')
        during.nap(naps, ms)
      },
    },
    log: (level, message) => lines.push(`${level} ${message}`),
    notes: async () => {
      read.times++
      if (away.reads-- > 0) throw new Error('The database does not answer.')
      return [...notes.values()]
    },
    clear: async (note) => {
      if (notes.get(note.key.symbol)?.change === note.change) notes.delete(note.key.symbol)
      await during.clearing()
    },
    async *unsettled() {
      yield* unsettled
    },
    async *forming() {},
    shards: {
      ...ALL_SHARDS,
      holds: () => shards.ours,
      onGained: (listener) => void (shards.gained = listener),
      beforeGiving(settled, underWay) {
        shards.giving.push(settled)
        shards.underWay = underWay!
      },
    },
    lanes: lanes.map(
      (lane, i) =>
        async function* look({ symbol }: SeriesKey) {
          for (let step = 0; ; step++) {
            steps.push(`${i} ${symbol} ${step}`)
            if (await lane(symbol, step)) return
            yield
          }
        },
    ),
  })
  return {
    looks,
    shards,
    unsettled,
    notes,
    steps,
    lines,
    away,
    read,
    during,
    add: (symbol: string, change?: number) => notes.set(symbol, noteOf(symbol, change)),
    pass: (ms: number) => (now += ms),
  }
}

test('a long look does not hold up those of other series', async () => {
  const { looks, steps, add } = world((symbol, step) => step === (symbol === 'LONG' ? 50 : 0))
  add('LONG')
  for (let i = 0; i < 20; i++) add(`S${i}`)
  await looks.settle()
  const last = steps.findLastIndex((step) => !step.includes('LONG'))
  expect(steps.slice(0, last).filter((step) => step.includes('LONG')).length).toBeLessThan(20)
})

test('a series is looked at by one look at a time, and again when bars come meanwhile', async () => {
  let running = 0
  const { looks, notes, steps, add } = world(async (symbol, step) => {
    expect(running++).toBe(0)
    if (step === 0 && steps.length === 1) add(symbol, 2)
    await Promise.resolve()
    running--
    looks.wake()
    return step === 2
  })
  add('A')
  await looks.settle()
  expect([...notes.keys()]).toEqual(['A'])
  await looks.settle()
  expect([...notes.keys()]).toEqual([])
  expect(steps).toHaveLength(6)
})

test('a note that comes while the one before it is cleared begins no second look beside the first', async () => {
  let [running, most] = [0, 0]
  const { looks, notes, steps, add, during } = world(async (symbol) => {
    most = Math.max(most, ++running)
    if (steps.length === 2) {
      add(symbol, 3)
      void looks.settle()
    }
    for (let i = 0; i < 20; i++) await Promise.resolve()
    running--
    return true
  })
  during.clearing = async () => {
    during.clearing = async () => {}
    add('A', 2)
    void looks.settle()
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
  add('A')
  await looks.settle()
  await looks.settle()
  expect([most, steps.length, notes.size]).toEqual([1, 3, 0])
})

test('a look that fails keeps its note, waits longer each time and is told of once', async () => {
  let broken = true
  const { looks, notes, steps, lines, add, pass } = world(() => {
    if (broken) throw new Error('the disk is full')
    return true
  })
  add('A')
  for (let i = 0; i < 10; i++) {
    await looks.settle()
    pass(999)
  }
  expect(steps.length).toBeLessThan(6)
  expect(notes.size).toBe(1)
  broken = false
  pass(60_000)
  await looks.settle()
  expect(notes.size).toBe(0)
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['error', 'info'])
})

test('a note stays until every lane has looked, and no lane waits for another', async () => {
  const released = Promise.withResolvers<boolean>()
  const { looks, notes, steps, add } = world(
    () => true,
    () => released.promise,
  )
  add('A')
  add('B')
  const settled = looks.settle()
  await Promise.resolve()
  await Promise.resolve()
  expect(steps).toContain('0 B 0')
  expect(notes.size).toBe(2)
  released.resolve(true)
  await settled
  expect(notes.size).toBe(0)
})

test('a bar that somebody waits for the end of is looked at when it is over, though none came behind it', async () => {
  const { looks, steps, pass } = world(() => true)
  const key = { exchange: 'X', symbol: 'S', interval: '1d' }
  looks.lookAtEnd({ key, at: 2000 })
  // The earliest is what counts: the look itself asks for the next.
  looks.lookAtEnd({ key, at: 1000 })
  looks.lookAtEnd({ key, at: 3000 })
  await looks.settle()
  expect(steps).toEqual([])
  pass(1000)
  await looks.settle()
  await looks.settle()
  expect(steps).toEqual(['0 S 0'])
})

test('a look that has begun while a bar formed does not stand for the one at its end', async () => {
  let look = 0
  const { looks, notes, steps, add, pass } = world(
    () => true,
    async () => {
      if (look++ > 0) return true
      pass(1000)
      return false
    },
  )
  looks.lookAtEnd({ key: { exchange: 'X', symbol: 'S', interval: '1d' }, at: 1000 })
  add('S')
  await looks.settle()
  await looks.settle()
  expect(notes.size).toBe(0)
  expect(steps.filter((step) => step === '0 S 0').length).toBe(2)
})

test('after a stop no look begins, and what was wanted is looked at when it runs again', async () => {
  const stop = new AbortController()
  const { looks, notes, steps, add } = world((symbol, step) => {
    // All ten are wanted; the first four are looked at side by side.
    if (symbol === 'S0' && step === 0) stop.abort()
    return step === 1
  })
  for (let i = 0; i < 10; i++) add(`S${i}`)
  await looks.run(stop.signal)
  const before = steps.length
  await looks.settle()
  expect(notes.size).toBe(0)
  expect(new Set(steps.map((step) => step.split(' ')[1])).size).toBe(10)
  expect(before).toBeLessThan(20)
})

test('many series are looked at side by side, so that what they write goes to disk together', async () => {
  let running = 0
  const most: number[] = []
  const together = Promise.withResolvers<boolean>()
  const { looks, notes, add } = world(async () => {
    most.push(++running)
    if (running === 16) together.resolve(true)
    await together.promise
    running--
    return true
  })
  for (let i = 0; i < 40; i++) add(`S${i}`)
  await looks.settle()
  expect(Math.max(...most)).toBe(16)
  expect(notes.size).toBe(0)
})

test.each([1, 2, 5])('a store that cannot be read %p times ends no looks', async (reads) => {
  const stop = new AbortController()
  const { looks, notes, lines, away, add, pass } = world((symbol) => {
    if (symbol === 'LAST') stop.abort()
    else {
      // It goes away again while it runs.
      pass(60_000)
      away.reads = 2
      add('LAST')
    }
    return true
  })
  away.reads = reads
  add('FIRST')
  await looks.run(stop.signal)
  expect([...notes.keys()]).toEqual([])
  expect([lines[0], lines.at(-1)]).toEqual([
    'error looking at alerts fails and is tried again',
    'info looking at alerts works again',
  ])
})

test('where servers hear of each other’s bars, notes are read when it is woken, and seldom else', async () => {
  const { looks, during, read, pass } = world()
  const stop = new AbortController()
  during.nap = (naps) => {
    // As if something had stirred.
    pass(1000)
    if (naps === 160) looks.wake()
    if (naps === 161) stop.abort()
  }
  await looks.run(stop.signal)
  expect(read.times).toBe(12)
})

test('there it rests until the next bar that somebody waits for ends', async () => {
  const { looks, during, steps, pass } = world(() => true)
  const stop = new AbortController()
  looks.lookAtEnd({ key: { exchange: 'X', symbol: 'S', interval: '1d' }, at: 40_000 })
  const rests: number[] = []
  during.nap = (_, ms) => {
    rests.push(ms)
    pass(ms)
    if (steps.length > 0) stop.abort()
  }
  await looks.run(stop.signal)
  expect(rests.slice(0, 3)).toEqual([15_000, 15_000, 10_000])
  expect(steps).toEqual(['0 S 0'])
})

test('a series goes to another server only when no lane makes a step any more, and a look of before never goes on', async () => {
  const held = Promise.withResolvers<void>()
  const seen: number[] = []
  const { looks, shards, notes, steps, add } = world(
    async (_, step) => {
      seen.push(step)
      if (step === 0 && seen.length === 1) await held.promise
      return step === 1
    },
    () => true,
  )
  add('A')
  const settled = looks.settle()
  while (steps.length < 2) await Promise.resolve()
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  expect([...shards.underWay()]).toEqual([symbolShard(noteOf('A').key)])
  shards.ours = false
  let isGiven = false
  const giving = Promise.all(shards.giving.map((ready) => ready())).then(() => (isGiven = true))
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  // The other lane is done with it, and this one is not.
  expect(isGiven).toBe(false)
  held.resolve()
  await giving
  expect([...shards.underWay()]).toEqual([])
  await settled
  expect([seen, [...notes.keys()]]).toEqual([[0], ['A']])
  shards.ours = true
  await looks.settle()
  expect([seen, [...notes.keys()]]).toEqual([[0, 0, 1], []])
})

test('what another server left unsettled is looked at once its symbols have come here', async () => {
  const stop = new AbortController()
  const began = Promise.withResolvers<void>()
  const { looks, shards, unsettled, steps, add } = world((symbol) => {
    if (symbol === 'LEFT') stop.abort()
    began.resolve()
    return true
  })
  add('OWN')
  const running = looks.run(stop.signal)
  await began.promise
  unsettled.push(noteOf('LEFT').key)
  shards.gained()
  await running
  expect(steps).toEqual(['0 OWN 0', '0 LEFT 0'])
})
