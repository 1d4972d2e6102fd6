// Imports in a worker: the server hands over bytes and writes bars, and reads neither.

import { afterEach, expect, test } from 'bun:test'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { KeptFiles, stageInWorker } from '../../../src/work/workers/import-job.ts'
import { threadMs } from '../../../src/work/workers/thread-time.ts'
import { JobPool } from '../../../src/work/workers/pool.ts'
import type { JobOptions } from '../../../src/work/workers/task.ts'
import { Problem } from '../../../src/lib/problem.ts'
import { BarCache } from '../../../src/market/bar-cache.ts'
import { seriesKey, type SeriesKey } from '../../../src/market/bar-store.ts'
import { importBars } from '../../../src/market/import.ts'
import { defaultSymbol } from '../../../src/market/symbols.ts'
import { zip } from '../../market/archives.ts'
import { rejection } from '../../rejection.ts'
import { testBars } from '../../store/test-store.ts'

const key = seriesKey('X', 'ABC', '1m')
const clock = { now: () => performance.now(), sleep: (ms: number) => Bun.sleep(ms) }
let pool: JobPool
let spawned = 0

function open({ now = clock.now, time = threadMs } = {}) {
  spawned = 0
  pool = new JobPool({
    threadMs: time,
    workers: 1,
    clock: { ...clock, now },
    spawn: () => {
      spawned++
      return new Worker(new URL('./fake-worker.ts', import.meta.url).href)
    },
    memory: () => 0,
    memoryMax: Infinity,
  })
  const cache = new BarCache(testBars())
  const kept = new KeptFiles()
  const bring = (
    input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    {
      user = 'u1',
      signal = new AbortController().signal,
      format,
      timeMs = 60_000,
      to = key,
      fileName = '',
    }: {
      user?: string
      signal?: AbortSignal
      format?: 'csv' | 'json' | 'parquet'
      timeMs?: number
      to?: SeriesKey
      fileName?: string
    } = {},
  ) =>
    importBars(cache, to, input, {
      ...(format && { format }),
      fileName,
      stage: stageInWorker({ pool, kept }, user, timeMs, signal),
    })
  return { cache, bring }
}
afterEach(() => pool.close())

const HEADER = 'time,open,high,low,close,volume\n'
function rows(from: number, to: number, step = 1): string {
  let text = ''
  for (let i = from; i !== to; i += step) text += `${1_700_000_040 + i * 60},10,12,9,11,5\n`
  return text
}
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
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

test('a damaged file that is read for ever holds up nobody, and is stopped', async () => {
  // The clock says when it took too long: how much of the processor it gets is the machine's affair.
  let passed = 0
  const { bring } = open({ now: () => passed, time: () => null })
  const stuck = bring([circular()], { format: 'parquet' }).catch((error: unknown) => error)
  // The imports beside it have one as soon as the first reads nothing but the damaged file.
  const hasSecondThread = () => spawned === 2
  while (!hasSecondThread())
    expect(await bring([bytes(HEADER + rows(0, 5))], { user: 'u2' })).toMatchObject({ read: { count: 5 } })
  passed = 60_000
  expect(await stuck).toMatchObject({
    status: 422,
    code: 'script_limit_exceeded',
    message: expect.stringContaining('reading the file took more than 20 s without progress'),
  })
})

test('files that are read for ever hold up no other user who brings such a file, until there are four', async () => {
  const { bring } = open()
  const gone = new AbortController()
  const parquet = parquetWriteBuffer({
    columnData: ['time', 'open', 'high', 'low', 'close'].map((name) => ({
      name,
      data: [name === 'time' ? 1_700_000_040 : 10],
      type: 'DOUBLE' as const,
    })),
  })
  const sound = (user: string) => bring([new Uint8Array(parquet)], { user })
  const stuck = ['u1', 'u2', 'u3'].map((user) =>
    rejection(bring([circular()], { user, signal: gone.signal })),
  )
  await until(() => spawned >= 3)
  expect(await sound('u4')).toMatchObject({ read: { count: 1 } })
  // A user has one such file read at a time.
  const own = sound('u1')
  while (pool.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
  gone.abort()
  for (const error of await Promise.all(stuck)) expect(error).toMatchObject({ code: 'conflict' })
  expect(await own).toMatchObject({ read: { count: 1 } })
})

test('an archive of Parquet is read as one series, and none with other files in it', async () => {
  const { bring } = open()
  const part = (at: number) =>
    new Uint8Array(
      parquetWriteBuffer({
        columnData: ['time', 'open', 'high', 'low', 'close'].map((name) => ({
          name,
          data: [name === 'time' ? 1_700_000_040 + at * 60 : 10],
          type: 'DOUBLE' as const,
        })),
      }),
    )
  const both = zip([
    { name: 'b.parquet', text: part(1) },
    { name: 'a.parquet', text: part(0) },
  ])
  expect(await bring([both])).toMatchObject({ inserted: 2, read: { fileCount: 2 } })
  const mixed = zip([
    { name: 'a.csv', text: HEADER + rows(0, 5) },
    { name: 'b.parquet', text: part(9) },
  ])
  expect(await rejection(bring([mixed]))).toMatchObject({
    status: 422,
    message: 'Nothing was imported: some files are Parquet and some are not; import them one by one.',
  })
})

test('large files that wait to be read take bounded memory together, and give it back', async () => {
  const wanted = [600, 600, 600]
  const kept = new KeptFiles()
  const keeping = {
    do: (_: string, __: unknown, { host }: JobOptions) =>
      Promise.resolve(host?.keep?.((wanted.shift() ?? 0) * 2 ** 20)).then(() => new Promise(() => {})),
  } as unknown as JobPool
  const gone = new AbortController()
  const stage = () =>
    stageInWorker(
      { pool: keeping, kept },
      'u1',
      500,
      gone.signal,
    )([], { symbol: defaultSymbol('X', 'ABC') }, null)
  void stage()
  expect(await rejection(stage())).toMatchObject({
    status: 503,
    code: 'overloaded',
    details: { retryAfter: 30 },
  })
  const failing = {
    do(_: string, __: unknown, { host }: JobOptions) {
      host?.keep?.(2 ** 30)
      return Promise.reject(new Problem(422, 'validation_failed', 'damaged'))
    },
  } as unknown as JobPool
  const empty = new KeptFiles()
  for (let i = 0; i < 2; i++) {
    const staged = stageInWorker(
      { pool: failing, kept: empty },
      'u1',
      500,
      gone.signal,
    )([], { symbol: defaultSymbol('X', 'ABC') }, null)
    expect(await rejection(staged)).toMatchObject({ message: 'damaged' })
  }
})

test('a thread that all share and that is stuck is ended, also if the client went away, and a new one reads', async () => {
  const { bring } = open()
  const gone = new AbortController()
  const stuck = rejection(bring([bytes('')], { timeMs: 300, fileName: 'for ever', signal: gone.signal }))
  const beside = rejection(bring([bytes(HEADER + rows(0, 5))], { user: 'u2', timeMs: 300 }))
  while (pool.running < 2) await new Promise((resolve) => setImmediate(resolve))
  gone.abort()
  expect(await stuck).toMatchObject({ code: 'conflict' })
  expect(await beside).toMatchObject({ status: 503, details: { retryAfter: 1 } })
  expect(await bring([bytes(HEADER + rows(0, 5))], { user: 'u2' })).toMatchObject({ inserted: 5 })
})

test('an import that takes hours is given up, however steadily it comes', async () => {
  const hours = { passed: 0 }
  const { bring } = open({ now: () => performance.now() + hours.passed * 3_600_000 })
  async function* steady() {
    yield bytes(HEADER)
    await new Promise(() => {})
  }
  const given = rejection(bring(steady()))
  while (pool.running === 0) await new Promise((resolve) => setImmediate(resolve))
  hours.passed = 3
  expect(await given).toMatchObject({
    status: 408,
    code: 'upload_too_slow',
    message: expect.stringContaining('Nothing was imported within 2 hours'),
  })
})
