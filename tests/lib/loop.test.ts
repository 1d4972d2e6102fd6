// Loops and what they do when their step fails, on a clock that the test turns.

import { beforeEach, expect, test } from 'bun:test'
import { Backoff, untilDone } from '../../src/lib/backoff.ts'
import { createLoop } from '../../src/lib/loop.ts'
import { HandClock } from './hand-clock.ts'

let clock: HandClock
let logged: string[]
const log = (level: string, message: string) => void logged.push(`${level} ${message}`)

beforeEach(() => {
  clock = new HandClock()
  logged = []
})

function looping(step: () => Promise<number>) {
  const stop = new AbortController()
  const loop = createLoop({ clock, log }, 'counting sheep', step)
  const running = loop.run(stop.signal)
  return {
    ...loop,
    async stop() {
      stop.abort()
      await clock.settle()
      await running
    },
  }
}

test('a loop naps for as long as its step says, and a wake ends the nap', async () => {
  let steps = 0
  const loop = looping(async () => {
    steps++
    return 60_000
  })
  await clock.pass(59_000)
  expect(steps).toBe(1)
  await clock.pass(1000)
  expect(steps).toBe(2)
  loop.wake()
  await clock.settle()
  expect(steps).toBe(3)
  await loop.stop()
})

test('what fails is tried after 1, 2, 4 … 60 seconds, and told of twice: when it begins and when it works again', async () => {
  const tries: number[] = []
  let broken = true
  const start = clock.time
  const loop = looping(async () => {
    tries.push((clock.time - start) / 1000)
    if (broken) throw new Error('no sheep')
    return 1e9
  })
  await clock.pass(200_000)
  expect(tries).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183])
  expect(logged).toEqual(['error counting sheep fails and is tried again'])
  broken = false
  await clock.pass(60_000)
  expect(logged).toEqual(['error counting sheep fails and is tried again', 'info counting sheep works again'])
  await loop.stop()
})

test('a wake does not bring a failing loop back before its time', async () => {
  let steps = 0
  const loop = looping(async () => {
    steps++
    throw new Error('no sheep')
  })
  await clock.pass(3500)
  for (let i = 0; i < 100; i++) {
    loop.wake()
    await clock.settle()
  }
  expect(steps).toBe(3)
  await loop.stop()
})

test('several who find out at once count as one failure', () => {
  const backoff = new Backoff({ clock, log }, 'counting sheep')
  for (let i = 0; i < 64; i++) backoff.failed(new Error('no sheep'))
  expect(backoff.waitMs).toBe(1000)
  expect(logged).toHaveLength(1)
})

test('what has to be done is tried until it is done, or until the server stops', async () => {
  const stop = new AbortController()
  const backoff = new Backoff({ clock, log }, 'counting sheep')
  let tries = 0
  const work = async () => {
    if (++tries < 4) throw new Error('no sheep')
  }
  const done = untilDone(clock, backoff, stop.signal, work)
  await clock.pass(10_000)
  expect([await done, tries]).toEqual([true, 4])
  const given = untilDone(clock, backoff, stop.signal, () => Promise.reject(new Error('no sheep')))
  await clock.settle()
  stop.abort()
  expect(await given).toBe(false)
  // What came about while the server stopped is written down as well.
  expect(await untilDone(clock, backoff, stop.signal, work)).toBe(true)
})
