// Imports in a worker: the server hands over bytes and writes bars, and reads neither.

import { afterEach, expect, test } from 'bun:test'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { stageInWorker } from '../../src/engine/import-job.ts'
import { threadMs } from '../../src/engine/thread-time.ts'
import { JobPool } from '../../src/engine/pool.ts'
import { Problem } from '../../src/lib/problem.ts'
import { BarCache } from '../../src/market/bar-cache.ts'
import { memoryBars, seriesKey, type SeriesKey } from '../../src/market/bar-store.ts'
import { importBars } from '../../src/market/import.ts'
import { rejection } from '../rejection.ts'

const key = seriesKey('X', 'ABC', '1m')
const clock = { now: () => performance.now(), sleep: (ms: number) => Bun.sleep(ms) }
let pool: JobPool
let spawned = 0

function open() {
  spawned = 0
  pool = new JobPool({
    threadMs,
    workers: 1,
    clock,
    spawn: () => {
      spawned++
      return new Worker(new URL('./fake-worker.ts', import.meta.url).href)
    },
    memory: () => 0,
    memoryMax: Infinity,
  })
  const cache = new BarCache(memoryBars())
  const bring = (
    input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    {
      user = 'u1',
      signal = new AbortController().signal,
      format = 'csv',
      timeMs = 60_000,
      to = key,
    }: {
      user?: string
      signal?: AbortSignal
      format?: 'csv' | 'json' | 'parquet'
      timeMs?: number
      to?: SeriesKey
    } = {},
  ) => importBars(cache, to, input, { format, stage: stageInWorker(pool, user, timeMs, signal) })
  return { cache, bring }
}
afterEach(() => pool.close())

const HEADER = 'time,open,high,low,close,volume\n'
function rows(from: number, to: number, step = 1): string {
  let text = ''
  for (let i = from; i !== to; i += step) text += `${1_700_000_040 + i * 60},10,12,9,11,5\n`
  return text
}
const bytes = (text: string) => new TextEncoder().encode(text)

test('a file in any order goes to the store by way of a worker', async () => {
  const { cache, bring } = open()
  const shuffled = HEADER + rows(150_000, 300_000) + rows(149_999, -1, -1)
  const result = await bring([bytes(shuffled)])
  expect(result).toMatchObject({ rows: 300_000, inserted: 300_000, series: { count: 300_000 } })
  const { time } = await cache.read(key)
  expect(time.every((at, i) => i === 0 || at > (time[i - 1] ?? 0))).toBe(true)
})

test('JSON goes there too, and what is nested too deep is refused', async () => {
  const { bring } = open()
  const list = JSON.stringify([{ time: 1_700_000_040, open: 1, high: 2, low: 1, close: 2 }])
  expect(await bring([bytes(list)], { format: 'json' })).toMatchObject({ inserted: 1 })
  expect(await rejection(bring([bytes('['.repeat(1_000_000))], { format: 'json' }))).toMatchObject({
    status: 422,
    message: expect.stringContaining('is nested more than 16 deep'),
  })
})

test('what goes wrong where the bytes come from is told as it was, and leaves nothing behind', async () => {
  const { cache, bring } = open()
  async function* tooMuch() {
    yield bytes(HEADER + rows(0, 100_000))
    throw new Problem(413, 'payload_too_large', 'too much')
  }
  expect(await rejection(bring(tooMuch()))).toMatchObject({ code: 'payload_too_large' })
  expect(await cache.store.list()).toEqual([])
  expect(await bring([bytes(HEADER + rows(0, 5))])).toMatchObject({ inserted: 5 })
  expect(spawned).toBe(1)
})

test('a client that gives up leaves the thread to the next one, even while it is being loaded', async () => {
  const { cache, bring } = open()
  for (let i = 0; i < 3; i++) {
    const gone = new AbortController()
    const given = rejection(bring([bytes(HEADER + rows(0, 5))], { signal: gone.signal }))
    while (pool.running === 0) await new Promise((resolve) => setImmediate(resolve))
    gone.abort()
    expect(await given).toMatchObject({ message: 'The backtest was cancelled.' })
  }
  expect(await cache.store.list()).toEqual([])
  expect(await bring([bytes(HEADER + rows(0, 5))])).toMatchObject({ inserted: 5 })
  expect(spawned).toBe(1)
})

test('clients that send slowly hold up nobody: all imports share a thread', async () => {
  const { bring } = open()
  const go: (() => void)[] = []
  async function* slow() {
    yield bytes(HEADER)
    await new Promise<void>((resolve) => go.push(resolve))
    yield bytes(rows(0, 3))
  }
  const waiting = Array.from({ length: 8 }, (_, i) => bring(slow(), { to: { ...key, symbol: `S${i}` } }))
  expect(await bring([bytes(HEADER + rows(0, 5))], { user: 'u2' })).toMatchObject({ inserted: 5 })
  // Half of all places are the most that one user has.
  const ninth = bring(slow())
  while (pool.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
  expect([pool.running, pool.waiting]).toEqual([8, 1])
  while (go.length < waiting.length) await new Promise((resolve) => setImmediate(resolve))
  for (const resolve of go.splice(0)) resolve()
  for (const one of waiting) expect(await one).toMatchObject({ inserted: 3 })
  while (go.length === 0) await new Promise((resolve) => setImmediate(resolve))
  for (const resolve of go) resolve()
  expect(await ninth).toMatchObject({ rows: 3, updated: 3 })
  expect(spawned).toBe(1)
})

test('uploads that bring a byte now and then hold no place that somebody else waits for', async () => {
  const { bring } = open()
  const gone = new AbortController()
  async function* drips() {
    yield bytes(HEADER)
    while (!gone.signal.aborted) {
      await Bun.sleep(20)
      yield bytes('1')
    }
  }
  const held = ['u1', 'u2'].flatMap((user) =>
    Array.from({ length: 8 }, () => rejection(bring(drips(), { user, signal: gone.signal }))),
  )
  const to = seriesKey('X', 'OTHER', '1m')
  expect(await bring([bytes(HEADER + rows(0, 10))], { user: 'u3', to })).toMatchObject({ rows: 10 })
  expect(gone.signal.aborted).toBe(false)
  gone.abort()
  await Promise.all(held)
})

test('a user who imports nothing else waits for no upload of others, however fast theirs come', async () => {
  const { bring } = open()
  const gone = new AbortController()
  async function* endless() {
    yield bytes(HEADER)
    for (let at = 0; !gone.signal.aborted; at += 2000) {
      await new Promise((resolve) => setImmediate(resolve))
      yield bytes(rows(at, at + 2000))
    }
  }
  const held = ['u1', 'u2'].flatMap((user) =>
    Array.from({ length: 8 }, (_, i) => {
      const to = seriesKey('X', `${user}${i}`, '1m')
      return rejection(bring(endless(), { user, to, signal: gone.signal }))
    }),
  )
  const to = seriesKey('X', 'OTHER', '1m')
  expect(await bring([bytes(HEADER + rows(0, 10))], { user: 'u3', to })).toMatchObject({ rows: 10 })
  gone.abort()
  await Promise.all(held)
})

test('an import whose client goes away ends, and the others go on', async () => {
  const { cache, bring } = open()
  const abort = new AbortController()
  let finish = () => {}
  async function* endless() {
    yield bytes(HEADER + rows(0, 100_000))
    await new Promise<void>((resolve) => (finish = resolve))
    yield bytes(rows(100_000, 100_001))
  }
  const stays = bring(endless(), { to: { ...key, symbol: 'STAYS' } })
  const gone = rejection(
    bring(
      (async function* () {
        yield bytes(HEADER + rows(0, 100_000))
        abort.abort()
        await new Promise(() => {})
      })(),
      { signal: abort.signal },
    ),
  )
  expect(await gone).toMatchObject({ code: 'conflict' })
  for (;;) {
    finish()
    if (pool.running === 0) break
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await stays).toMatchObject({ inserted: 100_001 })
  expect((await cache.store.list()).map(({ symbol }) => symbol)).toEqual(['STAYS'])
})

/** A column of whole numbers whose blocks say that they are cut into -1 pieces: its reader never gets on. */
function circular(): Uint8Array {
  const whole = (...data: number[]) => Int32Array.from(data)
  const bytes = new Uint8Array(
    parquetWriteBuffer({
      codec: 'UNCOMPRESSED',
      columnData: [
        { name: 'time', data: [1_700_000_040, 1_700_000_100, 1_700_000_160], type: 'DOUBLE' },
        { name: 'open', data: whole(10, 10, 10), type: 'INT32', encoding: 'DELTA_BINARY_PACKED' },
        ...['high', 'low', 'close'].map((name) => ({ name, data: [10, 10, 10], type: 'DOUBLE' as const })),
      ],
    }),
  )
  // A block of 128 numbers in 4 pieces, 3 numbers in all, the first of them 10.
  const at = Buffer.from(bytes).indexOf(Buffer.from([128, 1, 4, 3, 20]))
  expect(at).toBeGreaterThan(0)
  bytes.set([128, 1, 255, 255, 255, 255, 15, 3, 20, 0], at)
  return bytes
}

test('a damaged file that is read for ever is stopped, and others import meanwhile', async () => {
  const { bring } = open()
  const stuck = rejection(bring([circular()], { timeMs: 500, format: 'parquet' }))
  const other = () => bring([bytes(HEADER + rows(0, 5))], { user: 'u2', timeMs: 500 })
  // One of those that follow each other is held up: it is told to try again, and then does.
  let refused: unknown = null
  while (refused === null)
    refused = await other().then(
      () => null,
      (error: unknown) => error,
    )
  expect(refused).toMatchObject({ status: 503, details: { retryAfter: 1 } })
  expect(await stuck).toMatchObject({
    status: 422,
    code: 'script_limit_exceeded',
    message: expect.stringContaining('reading the file took more than 0.5 s'),
  })
  expect(await other()).toMatchObject({ read: { count: 5 } })
})

test('a thread that reads for ever is ended though its client went away, and nobody else gets it', async () => {
  const { bring } = open()
  const gone = new AbortController()
  const stuck = rejection(bring([circular()], { timeMs: 500, format: 'parquet', signal: gone.signal }))
  while (pool.running === 0) await Bun.sleep(10)
  await Bun.sleep(300)
  gone.abort()
  await stuck
  const run = pool.do(
    'check',
    { source: 'x' },
    { user: 'u2', lane: 'quick', budget: { timeMs: 5000, memoryBytes: 2 ** 30 } },
  )
  expect(await run).toMatchObject({ kind: 'draft' })
  // The reader may still be on its way to its end.
  let made: unknown = null
  while (made === null)
    made = await bring([bytes(HEADER + rows(0, 5))], { user: 'u2', timeMs: 500 }).catch((error: unknown) => {
      expect(error).toMatchObject({ status: 503 })
      return null
    })
  expect(made).toMatchObject({ inserted: 5 })
})
