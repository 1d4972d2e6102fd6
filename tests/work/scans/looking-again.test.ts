// What a watched scan does when bars come: whose bars concern it, what is told, and what its record says afterwards.
//
// A worker's answers are made up here, so that every row is what a test wants it to be.

import { expect, test } from 'bun:test'
import type { ScanJob, ScanOutput } from '../../../src/work/workers/job.ts'
import type { JobPool } from '../../../src/work/workers/pool.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { Problem } from '../../../src/lib/problem.ts'
import { BarCache } from '../../../src/market/bar-cache.ts'
import { owned, type SeriesKey } from '../../../src/market/bar-store.ts'
import { emptyBars } from '../../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import {
  BATCH,
  batchKey,
  marketsKey,
  scans,
  scriptKey,
  type Scan,
  type StoredRow,
} from '../../../src/work/scans/records.ts'
import type { Key } from '../../../src/store/kv.ts'
import { createScanWatch, type News } from '../../../src/work/scans/watch.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { testBars, testKv } from '../../store/test-store.ts'

const DAY = 86_400_000
const TIME = Date.UTC(2024, 0, 5)

/** What the worker answers of a market; null = it failed. */
type Answer = { readonly holds: readonly number[]; readonly time?: number } | null

const nameOf = (place: number) => `S${place}`
const seriesOf = (place: number, interval = '1d', owner = ''): SeriesKey => ({
  ...owned(owner),
  exchange: 'X',
  symbol: nameOf(place),
  interval,
})
const FAILED = { code: 'script_error', message: 'No.' } as const

async function world(rows: readonly Answer[], watch: Scan['watch'], more: Partial<Scan> = {}) {
  const [kv, clock, bars] = [testKv(), new HandClock(), new BarCache(testBars())]
  const stored = rows.map((row, place): StoredRow => {
    const { exchange, symbol } = seriesOf(place)
    const blank = { exchange, symbol, bars: 1, time: TIME - DAY, close: 10, change: 0 }
    const rest = { values: [], summary: null, position: null }
    return row
      ? { ...blank, ...rest, holds: [...row.holds], error: null }
      : { ...blank, ...rest, holds: [], error: FAILED }
  })
  const scan: Scan = {
    id: 'scan_1',
    userId: 'usr_1',
    name: 'scan',
    interval: '1d',
    bars: 5,
    watchlistId: null,
    symbols: null,
    createdAt: 0,
    startedAt: 0,
    finishedAt: 5,
    state: 'done',
    kind: 'indicator',
    values: [],
    conditions: ['Up', 'Down'].map((title, i) => ({
      title,
      holds: stored.filter((row) => row.holds.includes(i)).length,
    })),
    markets: rows.length,
    done: rows.length,
    failed: stored.filter((row) => row.error).length,
    error: null,
    news: [],
    batches: Math.ceil(rows.length / BATCH),
    watch,
    ...more,
  }
  const collection = scans(kv)
  const batches = Array.from({ length: scan.batches }, (_, i) => stored.slice(i * BATCH, (i + 1) * BATCH))
  const { sets = [] } = collection.insert(scan)
  await kv.commit({ sets: [...sets, ...batches.map((batch, i) => set(batchKey(scan.id, i), batch))] })
  await kv.commit({
    sets: [
      set(
        marketsKey(scan.id),
        rows.map((_, place) => ({ exchange: 'X', symbol: nameOf(place) })),
      ),
      set(scriptKey(scan.id), { source: '', inputs: {}, overrides: {}, symbols: null }),
    ],
  })
  const write = async (key: SeriesKey, close = 20) => {
    const one = emptyBars(1)
    one.time[0] = TIME
    for (const field of ['open', 'high', 'low', 'close'] as const) one[field][0] = close
    await bars.upsert(key, one)
  }
  for (let place = 0; place < rows.length; place++) await write(seriesOf(place))
  /** What the worker says from now on, by place. */
  const answers = new Map<number, Answer>()
  const asked: string[][] = []
  const told: Scan[] = []
  const delivered: News[] = []
  const failures: Error[] = []
  /** What happens while the worker works. */
  const during = { work: async () => {} }
  const watching = createScanWatch({
    kv,
    clock,
    bars,
    log: silentLog,
    limits: DEFAULT_LIMITS,
    hostFor: () => ({}) as never,
    pool: {
      async do(_: 'scan', { markets }: ScanJob): Promise<ScanOutput> {
        asked.push(markets.map(({ symbol }) => symbol.symbol))
        const failure = failures.shift()
        if (failure) throw failure
        await during.work()
        return {
          columns: null,
          names: { script: 's', formerly: 's' },
          tried: markets.map(() => null),
          rows: markets.map(({ symbol }) => {
            const place = Number(symbol.symbol.slice(1))
            const answer = answers.has(place) ? answers.get(place)! : (rows[place] ?? null)
            if (!answer) return { error: FAILED }
            const { holds, time = TIME } = answer
            return { time, bars: 1, close: 20, change: 1, values: [], holds, summary: null, position: null }
          }),
        }
      },
    } as unknown as JobPool,
    deliver: async (_tx, _scan, _watch, news) => {
      delivered.push(...news)
      return []
    },
    told: (one) => told.push(one),
  })
  const stop = new AbortController()
  const running = watching.run(stop.signal)
  const bring = async (place: number, key = seriesOf(place)) => {
    await write(key, 20 + clock.now())
    await clock.pass(2000)
  }
  // The first look, which is at everything.
  await clock.pass(2000)
  const record = async () => (await collection.get(scan.id))!
  const close = async () => {
    stop.abort()
    await running
  }
  return {
    kv,
    clock,
    bars,
    scan,
    answers,
    asked,
    told,
    delivered,
    failures,
    during,
    bring,
    record,
    close,
    collection,
  }
}

const set = (key: Key, value: unknown) => ({ key, value: JSON.stringify(value) })
const ALL = { conditions: [], channels: ['email' as const], webhookIds: [] }
const UP = { ...ALL, conditions: ['Up'] }

test('bars of everybody and of its user concern it, finer ones too, those of another user do not', async () => {
  const { asked, bring, close } = await world([{ holds: [] }, { holds: [] }], ALL)
  expect(asked).toEqual([['S0', 'S1']])
  asked.length = 0
  await bring(0)
  await bring(1, seriesOf(1, '1d', 'usr_1'))
  await bring(1, seriesOf(1, '1h'))
  expect(asked).toEqual([['S0'], ['S1'], ['S1']])
  asked.length = 0
  await bring(0, seriesOf(0, '1d', 'usr_2'))
  await bring(0, seriesOf(0, '1w'))
  await bring(0, { ...seriesOf(0), exchange: 'Y' })
  await bring(7)
  expect(asked).toEqual([])
  await close()
})

test('what becomes true is told once a bar; what a market that failed says first is not', async () => {
  const { answers, bring, record, delivered, told, close } = await world(
    [{ holds: [] }, null, { holds: [0] }, { holds: [0] }],
    UP,
  )
  expect(delivered).toEqual([])
  answers.set(0, { holds: [0, 1] })
  answers.set(1, { holds: [0] })
  answers.set(3, null)
  for (const place of [0, 1, 2, 3]) await bring(place)
  expect(delivered.map(({ symbol, condition, time }) => [symbol, condition, time])).toEqual([
    ['S0', 'Up', TIME],
  ])
  // One that failed works now, and another fails: one each, as before; three of them hold.
  expect(await record()).toMatchObject({
    failed: 1,
    conditions: [
      { title: 'Up', holds: 3 },
      { title: 'Down', holds: 1 },
    ],
  })
  expect(told).toHaveLength(1)
  // Not again on that bar, and again on the next.
  for (const holds of [[], [0]]) {
    answers.set(0, { holds })
    await bring(0)
  }
  expect(delivered).toHaveLength(1)
  for (const holds of [[], [0]]) {
    answers.set(0, { holds, time: TIME + DAY })
    await bring(0)
  }
  expect(delivered.map(({ time }) => time)).toEqual([TIME, TIME + DAY])
  // One that worked and fails is one failure more.
  answers.set(0, null)
  await bring(0)
  expect((await record()).failed).toBe(2)
  await close()
})

test('a scan that was run again meanwhile keeps its newer rows, and nobody is told', async () => {
  const { kv, answers, bring, collection, scan, during, delivered, told, record, close } = await world(
    [{ holds: [] }],
    ALL,
  )
  const before = await kv.get(batchKey(scan.id, 0))
  answers.set(0, { holds: [0] })
  during.work = async () => {
    await collection.update(scan.id, (now) => ({ ...now, finishedAt: 6 }))
  }
  await bring(0)
  expect([delivered, told]).toEqual([[], []])
  expect((await kv.get(batchKey(scan.id, 0)))?.value).toBe(before!.value)
  expect(await record()).toMatchObject({ finishedAt: 6, news: [] })
  await close()
})

test('of many markets each row finds its batch, all are told, and a hundred are kept as news', async () => {
  const rows = Array.from({ length: BATCH + 30 }, () => ({ holds: [] }))
  const { kv, clock, scan, answers, bars, delivered, record, close } = await world(rows, ALL)
  const places = Array.from({ length: 60 }, (_, i) => BATCH - 30 + i)
  for (const place of places) answers.set(place, { holds: [0, 1] })
  const one = emptyBars(1)
  one.time[0] = TIME + DAY
  for (const place of places) await bars.upsert(seriesOf(place), one)
  await clock.pass(2000)
  expect(delivered).toHaveLength(120)
  const { news, conditions } = await record()
  expect(news).toHaveLength(100)
  expect(conditions.map(({ holds }) => holds)).toEqual([60, 60])
  for (const batch of [0, 1]) {
    const stored = JSON.parse((await kv.get(batchKey(scan.id, batch)))!.value) as StoredRow[]
    const holding = stored.filter(({ holds }) => holds.length === 2).map(({ symbol }) => symbol)
    expect(holding).toEqual(places.slice(batch * 30, batch * 30 + 30).map(nameOf))
  }
  await close()
})

test('what waited while the server was too busy is found by a look at everything', async () => {
  const { answers, asked, failures, bring, clock, delivered, close } = await world(
    [{ holds: [] }, { holds: [] }],
    ALL,
  )
  asked.length = 0
  answers.set(0, { holds: [0] })
  failures.push(new Problem(503, 'overloaded', 'Later.'))
  await bring(0)
  await clock.pass(600_000)
  expect(asked).toEqual([['S0'], ['S0', 'S1']])
  expect(delivered.map(({ symbol }) => symbol)).toEqual(['S0'])
  await close()
})

test('of conditions that were not named nobody is told', async () => {
  const { answers, bring, delivered, close } = await world([{ holds: [] }], UP)
  answers.set(0, { holds: [1] })
  await bring(0)
  expect(delivered).toEqual([])
  await close()
})
