// Bodies that come slowly, on a clock that the test turns.

import { expect, test } from 'bun:test'
import { paced, skipRest } from '../../src/http/pace.ts'
import { rejection } from '../rejection.ts'
import { HandClock } from '../lib/hand-clock.ts'

/** A body of chunks of these sizes, one whenever so much time has passed. */
function dripping(clock: HandClock, everyMs: number, sizes: readonly number[]): ReadableStream<Uint8Array> {
  let next = 0
  return new ReadableStream({
    async pull(controller) {
      const size = sizes[next++]
      if (size === undefined) return controller.close()
      await clock.sleep(everyMs)
      controller.enqueue(new Uint8Array(size))
    },
  })
}

async function read(clock: HandClock, body: ReadableStream<Uint8Array>, eachMs = 0): Promise<number> {
  let size = 0
  for await (const chunk of paced(clock, body)) {
    size += chunk.length
    await clock.sleep(eachMs)
  }
  return size
}

test('a body that brings a byte a second is given up on after half a minute', async () => {
  const clock = new HandClock()
  const start = clock.time
  let endedAt = 0
  const reading = rejection(read(clock, dripping(clock, 1000, Array<number>(1000).fill(1)))).finally(() => {
    endedAt = clock.time - start
  })
  await clock.pass(60_000)
  expect(await reading).toMatchObject({ status: 408, code: 'upload_too_slow' })
  expect(endedAt).toBe(30_000)
})

test('who is too slow, and who has gone, is told so', async () => {
  const clock = new HandClock()
  const reading = rejection(read(clock, new ReadableStream()))
  await clock.pass(30_000)
  expect(await reading).toMatchObject({
    status: 408,
    message: 'Within 30 s less than 16 KiB came. Send it over a faster connection, or in parts.',
  })
  const gone = new ReadableStream({ pull: () => Promise.reject(new Error('gone')) })
  expect(await rejection(read(clock, gone))).toMatchObject({ status: 400, code: 'malformed_json' })
})

test.each([
  [16 << 10, 16 << 10],
  [(16 << 10) - 1, null],
])('%i bytes in half a minute are enough: %p', async (bytes, expected) => {
  const clock = new HandClock()
  const sizes = [bytes - 10, 10]
  const body = new ReadableStream({
    async pull(controller) {
      const size = sizes.shift()
      // The last bytes come right before the half minute is over, and the end right after it.
      await clock.sleep(size === 10 ? 28_000 : 1000)
      if (size === undefined) {
        await clock.sleep(5000)
        controller.close()
      } else controller.enqueue(new Uint8Array(size))
    },
  })
  const reading = read(clock, body).catch(() => null)
  await clock.pass(60_000)
  expect(await reading).toBe(expected)
})

test('one that was quick at first has no more time for the rest', async () => {
  const clock = new HandClock()
  const reading = rejection(read(clock, dripping(clock, 10_000, [16 << 10, ...Array<number>(9).fill(1)])))
  await clock.pass(100_000)
  expect(await reading).toMatchObject({ status: 408 })
})

test('one that is slow and steady arrives whole', async () => {
  const clock = new HandClock()
  const reading = read(clock, dripping(clock, 10_000, Array<number>(50).fill(8 << 10)))
  await clock.pass(600_000)
  expect(await reading).toBe(50 * (8 << 10))
})

test.each([-3, 3])(
  'a clock that is set by %i h gives up no body too soon, and none too late',
  async (hours) => {
    const hand = new HandClock()
    let set = 0
    const clock = { now: () => hand.now() + set, sleep: hand.sleep.bind(hand) }
    let bytes = 0
    const body = dripping(hand, 1000, Array<number>(20).fill(10))
    const stalled = new ReadableStream()
    const reading = rejection(
      (async () => {
        for await (const chunk of paced(clock, body)) bytes += chunk.length
        for await (const chunk of paced(clock, stalled)) bytes += chunk.length
      })(),
    )
    await hand.pass(1500)
    set = hours * 3_600_000
    await hand.pass(18_000)
    expect(bytes).toBe(190)
    await hand.pass(1000 + 30_000)
    expect(await reading).toMatchObject({ status: 408 })
  },
)

test('a clock that was set back while a body came leaves it no more time', async () => {
  const hand = new HandClock()
  let set = 0
  const clock = { now: () => hand.now() + set, sleep: hand.sleep.bind(hand) }
  const dripped = dripping(hand, 1000, Array<number>(1000).fill(1))
  const reading = rejection(Array.fromAsync(paced(clock, dripped)))
  await hand.pass(1500)
  set = -3 * 3_600_000
  // But for the chunk that came meanwhile.
  await hand.pass(30_000)
  expect(await reading).toMatchObject({ status: 408 })
})

test('the time that the reader takes is not the sender’s', async () => {
  const clock = new HandClock()
  const reading = read(clock, dripping(clock, 1, [10, 10, 10]), 60_000)
  await clock.pass(600_000)
  expect(await reading).toBe(30)
})

test('the rest of a refused body is waited for half a minute, if its sender closes the connection', async () => {
  const clock = new HandClock()
  const asked = (connection: string) => {
    const body = dripping(clock, 1000, Array<number>(1000).fill(1))
    return new Request('http://localhost', { method: 'POST', body, headers: { connection } })
  }
  let waitedMs = -1
  const start = clock.time
  const closes = skipRest(clock, asked('TE, Close')).then(() => (waitedMs = clock.time - start))
  await clock.pass(60_000)
  await closes
  expect(waitedMs).toBe(30_000)
  await skipRest(clock, asked('keep-alive'))
})
