// Forward runs over a store and bars that come one by one, with servers that stop and start again.

import { expect, test } from 'bun:test'
import { CompiledScripts } from '../../../src/broker/compiled-scripts.ts'
import { runBacktest } from '../../../src/broker/run.ts'
import { eventsBetween } from '../../../src/work/forward/events.ts'
import { ForwardRuns, type ForwardDeps } from '../../../src/work/forward/forward-runs.ts'
import type { ForwardRun } from '../../../src/work/forward/records.ts'
import type { FollowJob } from '../../../src/work/workers/job.ts'
import { idSource } from '../../../src/lib/ids.ts'
import { ALL_SHARDS } from '../../../src/lib/shards.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { BarCache } from '../../../src/market/bar-cache.ts'
import { barsOf, sliceBars, type Bars } from '../../../src/market/bars.ts'
import { NEWEST_DAY } from '../../../src/language/behaviour.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import { hostFor } from '../../../src/work/runs/host.ts'
import { scriptRequest } from '../../../src/tools/incremental.ts'
import type { Kv } from '../../../src/store/kv.ts'
import type { ForwardOrder, WaitingOrder } from '../../../src/wire/forward-run.ts'
import type { ReportOrder } from '../../../src/wire/report.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import type { Problem } from '../../../src/lib/problem.ts'
import { tidy } from '../../../src/lib/tidy.ts'
import { rejection } from '../../rejection.ts'
import { testBars, testKv } from '../../store/test-store.ts'
import { inlinePool } from './inline-pool.ts'
import { isLong } from '../../long.ts'

const RESTARTS = isLong ? 500 : 100

const KEY = { exchange: 'HOME', symbol: 'BTCUSDT', interval: '15m' }
const SOURCE = `//@version=6
strategy("both ways", initial_capital = 10000, commission_type = strategy.commission.percent, commission_value = 0.1)
fast = ta.ema(close, 3)
slow = ta.ema(close, 9)
if ta.crossover(fast, slow)
    strategy.entry("L", strategy.long, comment = "up")
strategy.exit("X", "L", limit = strategy.position_avg_price * 1.03, stop = strategy.position_avg_price * 0.98)
if ta.crossunder(fast, slow)
    strategy.close("L")
if bar_index % 40 == 0
    strategy.entry("S", strategy.short, stop = low * 0.9)
if bar_index % 40 == 9
    strategy.cancel("S")
plot(fast)`
const BODY = { name: 'mine', ...KEY, source: SOURCE }

async function town({ bars = 700, seed = 5 } = {}) {
  const clock = new HandClock()
  const kv = testKv()
  const cache = new BarCache(testBars())
  const all = scriptRequest(SOURCE, bars, seed).bars
  const random = seededRandom(seed)
  const newId = idSource({
    clock,
    random: { bytes: (length) => Uint8Array.from({ length }, () => random.below(256)) },
  })
  const told: ForwardOrder[] = []
  const pool = inlinePool()
  const open = (
    work = pool,
    forming?: () => Promise<readonly number[] | null>,
    more: Partial<ForwardDeps> = {},
  ) =>
    new ForwardRuns({
      kv,
      clock,
      newId,
      log: silentLog,
      bars: cache,
      pool: work,
      limits: { ...DEFAULT_LIMITS, timeMs: 60_000 },
      hostFor: (seen, _, key, of) => hostFor(seen, async () => null, key, of),
      deliver: async (_tx, _run, events) => {
        told.push(...events)
        return []
      },
      told: () => {},
      ...(forming && { forming }),
      // As many bars a turn as there may be, however slow the machine is.
      turnMs: Infinity,
      ...more,
    })
  let next = 0
  return {
    clock,
    kv,
    cache,
    all,
    random,
    told,
    open,
    bring: async (count: number) => {
      await cache.upsert(KEY, sliceBars(all, next, (next += count)))
    },
    brought: () => next,
  }
}

/** The report without its timings. */
const textOf = (text: string) => JSON.stringify({ ...JSON.parse(text), timings: null })
const reportOf = async (runs: ForwardRuns, { userId, id }: ForwardRun) =>
  textOf(Buffer.concat(await runs.report(userId, id)).toString())

test(`after ${RESTARTS} restarts at random bars the report is byte for byte that of the backtest of the same bars`, async () => {
  const seed = 5
  const { cache, all, random, told, open, bring } = await town({ bars: 700, seed })
  await bring(150)
  let runs = open()
  const run = await runs.create('u', { ...BODY, warmup: 100 })
  const scripts = new CompiledScripts()
  const symbol = await cache.symbol(KEY.exchange, KEY.symbol)
  const backtestOf = (bars: Bars) => {
    const request = {
      ...scriptRequest(SOURCE, 1, seed),
      asOf: NEWEST_DAY,
      bars,
      symbol,
      interval: KEY.interval,
      scripts,
    }
    return runBacktest({ ...request, limits: DEFAULT_LIMITS })
  }
  let restarts = 0
  while (restarts < RESTARTS) {
    if (random.below(10) > 0) {
      runs = open()
      restarts++
    }
    await bring(1)
    await runs.advanceAll()
    if (restarts % 100 !== 0) continue
    const { bars, last } = await runs.get('u', run.id)
    const end = all.time.indexOf(last) + 1
    const same = sliceBars(all, end - bars - 100, end)
    const text = [...backtestOf(same).reportTexts()].join('')
    expect([seed, restarts, await reportOf(runs, run)]).toEqual([seed, restarts, textOf(text)])
  }
  const after = await runs.get('u', run.id)
  // The newest bar may be forming, so it waits for the next one.
  expect(after.bars).toBeGreaterThan(RESTARTS)
  const end = all.time.indexOf(after.last) + 1
  const { orders } = backtestOf(sliceBars(all, end - after.bars - 100, end)).report
  const fills = told.filter(({ event }) => event === 'order.filled')
  expect(fills.map(({ time, orderId, price }) => [time, orderId, price])).toEqual(
    orders.filter(({ bar }) => bar >= 100).map(({ time, id, price }) => [time, id, tidy(price)]),
  )
  expect(after.fills).toBe(fills.length)
  expect(await runs.orders('u', run.id)).toEqual(told)
  expect(new Set(told.map(({ event }) => event))).toEqual(
    new Set(['order.placed', 'order.filled', 'order.cancelled']),
  )
  expect(await runs.divergence('u', run.id)).toMatchObject({
    equal: true,
    corrected: 0,
    said: 'A backtest of the stored bars is the same: none was corrected since.',
  })
})

test('many bars at once after a long stop are taken up one by one, with the same orders', async () => {
  const [slow, quick] = [await town({ bars: 260 }), await town({ bars: 260 })]
  for (const one of [slow, quick]) {
    await one.bring(100)
    await one.open().create('u', { ...BODY, warmup: 50 })
  }
  for (let i = 0; i < 150; i++) {
    await slow.bring(1)
    await slow.open().advanceAll()
  }
  await quick.bring(150)
  await quick.open().advanceAll()
  expect(quick.told.length).toBeGreaterThan(10)
  expect(quick.told).toEqual(slow.told)
})

/** The bars and the events of each commit of a step. */
function stepsWritten(kv: Kv) {
  const written: { readonly bars: number; readonly events: number }[] = []
  const { commit } = kv
  let bars = 0
  kv.commit = async (changes) => {
    const done = await commit(changes)
    const ofRun = changes.sets?.find(({ key }) => key[0] === 'forward-runs' && key[1] === 'id')
    if (!done || !ofRun) return done
    const { bars: after } = JSON.parse(ofRun.value.toString()) as ForwardRun
    const events = changes.sets!.filter(({ key }) => key[0] === 'forward-event').length
    // That a run begins anew is no step.
    if (after > bars) written.push({ bars: after - bars, events })
    bars = after
    return done
  }
  return written
}

test('a run that is behind writes many bars at once, and one that is not each bar as it comes', async () => {
  const { kv, open, bring } = await town({ bars: 260 })
  await bring(101)
  const runs = open()
  await runs.create('u', { ...BODY, warmup: 50 })
  const written = stepsWritten(kv)
  await bring(120)
  await runs.advanceAll()
  expect(written.splice(0).map(({ bars }) => bars)).toEqual([50, 50, 20])
  for (let i = 0; i < 3; i++) {
    await bring(1)
    await runs.advanceAll()
  }
  expect(written.splice(0).map(({ bars }) => bars)).toEqual([1, 1, 1])
  await bring(10)
  await open(undefined, undefined, { turnMs: 0 }).advanceAll()
  expect(written.map(({ bars }) => bars)).toEqual(Array.from({ length: 10 }, () => 1))
})

/** Each of its fills has a message of twenty thousand letters. */
const WORDY = `//@version=6
strategy("wordy")
text = "0123456789012345678901234567890123456789"
for i = 0 to 8
    text := text + text
if bar_index % 2 == 0
    strategy.entry("L", strategy.long, alert_message = text)
else
    strategy.close("L", alert_message = text)`

test('a commit ends with the bar that brings two hundred events, or long messages', async () => {
  const source = `//@version=6
strategy("a hundred orders a bar")
for i = 0 to 99
    strategy.entry("L" + str.tostring(i), strategy.long, qty = 1, limit = low * 0.5)`
  const { kv, open, bring } = await town({ bars: 200 })
  await bring(101)
  const runs = open()
  const { id } = await runs.create('u', { ...BODY, source, warmup: 50 })
  const written = stepsWritten(kv)
  await bring(20)
  await runs.advanceAll()
  const bars = written.reduce((sum, one) => sum + one.bars, 0)
  expect([bars, Math.max(...written.map(({ events }) => events))]).toEqual([20, 200])
  expect((await runs.get('u', id)).bars).toBe(20)
  await runs.remove('u', id)

  await runs.create('u', { ...BODY, source: WORDY, warmup: 50 })
  written.splice(0)
  await bring(40)
  await runs.advanceAll()
  expect(written.length).toBeGreaterThan(2)
  expect((await runs.list('u', { limit: 1 })).items[0]).toMatchObject({ bars: 40, state: 'running' })
})

test('a server that dies as it writes many bars has written them whole or not at all, and nothing is told twice', async () => {
  const seed = Math.floor(Date.now() % 1e9)
  console.log(`seed ${seed}`)
  const random = seededRandom(seed)
  const [slow, it] = [await town({ bars: 500 }), await town({ bars: 500 })]
  const { kv, open, bring } = it
  const whole = await slow.bring(101).then(() => slow.open().create('u', { ...BODY, warmup: 100 }))
  await bring(101)
  const { id } = await open().create('u', { ...BODY, warmup: 100 })
  const { commit } = kv
  let lives = Infinity
  kv.commit = async (changes) => {
    if (--lives > 0) return commit(changes)
    // Gone before the commit, or after it and before anybody heard of it.
    if (lives === 0 && random.below(2) === 0) await commit(changes)
    throw new Error('The server is gone.')
  }
  /** Committed with the events. */
  const deliver: ForwardDeps['deliver'] = async (_tx, { events }, each) => [
    {
      sets: each.map((event, i) => ({
        key: ['told', events - each.length + i],
        value: JSON.stringify(event),
      })),
    },
  ]
  const told = async () =>
    (await kv.list({ prefix: ['told'] }, { limit: 5000 })).map(
      ({ value }) => JSON.parse(value) as ForwardOrder,
    )
  let deaths = 0
  while (it.brought() < 400) {
    await bring(1 + random.below(80))
    for (lives = 1; ; lives = 1 + random.below(4)) {
      const turnMs = random.below(4) === 0 ? 0 : Infinity
      const hasDied = await open(undefined, undefined, { deliver, turnMs })
        .advanceAll()
        .then(
          () => false,
          () => true,
        )
      if (!hasDied) break
      deaths++
      const { bars, events } = await open().get('u', id)
      const tape = await kv.list({ prefix: ['forward-tape', id] }, { limit: 100 })
      const rows = tape.reduce((sum, { value }) => sum + (JSON.parse(value) as unknown[]).length, 0)
      expect([seed, rows, (await told()).length]).toEqual([seed, bars + 100, events])
    }
  }
  lives = Infinity
  expect(deaths).toBeGreaterThan(3)
  await slow.bring(it.brought() - 101)
  await slow.open(undefined, undefined, { turnMs: 0 }).advanceAll()
  expect([seed, await told()]).toEqual([seed, slow.told])
  expect(await open().orders('u', id)).toEqual(slow.told)
  const run = await open().get('u', id)
  expect({ ...run, id: '', createdAt: 0, turn: 0 }).toEqual({
    ...(await slow.open().get('u', whole.id)),
    id: '',
    createdAt: 0,
    turn: 0,
  })
  expect(await reportOf(open(), run)).toBe(await reportOf(slow.open(), whole))
})

test('what happens while many bars are run is not written over: a stop, a corrected bar, another server', async () => {
  const happening = async (
    work: (runs: ForwardRuns, id: string, it: Awaited<ReturnType<typeof town>>) => Promise<unknown>,
    more?: Partial<ForwardDeps>,
  ) => {
    const it = await town({ bars: 200 })
    await it.bring(101)
    const pool = inlinePool()
    let goesOn = false
    const runs = it.open(
      {
        async do(...job) {
          const answer = await pool.do(...job)
          if (job[0] === 'follow' && !goesOn) {
            goesOn = true
            await work(runs, id, it)
          }
          return answer
        },
      },
      undefined,
      more,
    )
    const { id } = await runs.create('u', { ...BODY, warmup: 50 })
    await it.bring(30)
    await runs.advanceAll()
    return { ...it, runs, id, run: await runs.get('u', id) }
  }
  const stopped = await happening((runs, id) => runs.stop('u', id))
  expect([stopped.run.state, stopped.run.bars, stopped.told]).toEqual(['stopped', 0, []])

  const removed = await rejection(happening((runs, id) => runs.remove('u', id)))
  expect(removed).toMatchObject({ code: 'forward_run_not_found' })

  let isOurs = true
  const shards = { ...ALL_SHARDS, holds: () => isOurs }
  const lost = await happening(async () => (isOurs = false), { shards })
  expect([lost.run.bars, lost.told]).toEqual([0, []])

  const corrected = await happening(async (_runs, _id, { all, cache }) => {
    const bar = sliceBars(all, 110, 111)
    bar.high[0] = bar.high[0]! * 1.5
    await cache.upsert(KEY, bar)
  })
  expect(corrected.run.bars).toBe(30)
  const { bars } = await corrected.runs.divergence('u', corrected.id)
  expect(bars.map(({ time }) => time)).toEqual([corrected.all.time[110]!])
})

test('a bar that closes while another’s run catches up is told before that has caught up', async () => {
  const { open, bring } = await town({ bars: 500 })
  await bring(101)
  const pool = inlinePool()
  const jobs: string[] = []
  const runs = open({
    async do(...job) {
      if (job[0] === 'follow' && jobs.push(job[2].user) === 1) await bring(1)
      return pool.do(...job)
    },
  })
  await runs.create('behind', { ...BODY, warmup: 50 })
  await bring(300)
  await runs.create('live', { ...BODY, warmup: 50 })
  await runs.advanceAll()
  expect(jobs.filter((user) => user === 'live')).toHaveLength(1)
  expect(jobs.indexOf('live')).toBeLessThan(3)
  expect(jobs.length).toBeGreaterThan(6)
})

/** Runs of one user, each behind by as many bars as it is given, and a server that dies after each turn. */
async function queue(lacking: Readonly<Record<string, number>>, endless: readonly string[] = []) {
  const it = await town({ bars: 2000 })
  const most = Math.max(...Object.values(lacking))
  const ids = new Map<string, string>()
  const comeTo = (bars: number) => it.bring(101 + bars - it.brought())
  for (const [name, bars] of Object.entries(lacking).sort(([, a], [, b]) => b - a)) {
    await comeTo(most - bars)
    const source = SOURCE.replace('both ways', name)
    ids.set(name, (await it.open().create('u', { ...BODY, source, warmup: 50 })).id)
  }
  await comeTo(most)
  const pool = inlinePool()
  const turns: string[] = []
  return {
    ...it,
    turns,
    /** A life of one turn. */
    live: async () => {
      const life = new AbortController()
      const work = {
        do: (kind: 'follow', job: FollowJob, options: Parameters<typeof pool.do>[2]) => {
          turns.push([...ids.keys()].find((name) => job.source.includes(`"${name}"`))!)
          life.abort()
          // What the server was at when it died.
          if (endless.includes(turns.at(-1)!)) throw new Error('the server is gone')
          return pool.do(kind, job, options)
        },
      } as typeof pool
      await it.open(work).advanceAll(life.signal)
    },
    /** How many bars each lacks; the newest may be forming. */
    lacks: async () => {
      const runs = await Promise.all([...ids.values()].map((id) => it.open().get('u', id)))
      return Object.fromEntries(
        runs.map(({ last }, i) => [[...ids.keys()][i]!, it.brought() - 2 - it.all.time.indexOf(last)]),
      )
    },
  }
}

test('of a user’s runs that are behind each gets its turn, however often the server dies and bars come in bursts', async () => {
  const { turns, live, lacks, bring } = await queue({ near: 10, far: 300, farther: 600 })
  for (let lives = 0; lives < 60; lives++) {
    await bring(12)
    await live()
  }
  // In three lives 36 bars come, and each has a turn of fifty.
  expect(Math.max(...Object.values(await lacks()))).toBeLessThan(600)
  expect(turns.slice(0, 9)).toEqual(Array.from({ length: 3 }, () => turns.slice(0, 3)).flat())
  for (let lives = 0; lives < 30; lives++) await live()
  expect(await lacks()).toEqual({ near: 0, far: 0, farther: 0 })
})

test('the newest bar is taken up before those of the user’s runs that are behind, and one of these gets its turn', async () => {
  const { turns, live, bring } = await queue({ live: 0, far: 300, farther: 600 })
  for (let bars = 0; bars < 3; bars++) {
    await bring(1)
    for (let lives = 0; lives < 3; lives++) await live()
  }
  expect(turns).toEqual(Array.from({ length: 3 }, () => ['live', ...turns.slice(1, 3)]).flat())
  expect(new Set(turns).size).toBe(3)
})

test('a run that takes longer to run from its first bar than the server lives keeps no other of its user waiting', async () => {
  for (const lacking of [1, 300]) {
    const { turns, live, lacks } = await queue({ endless: lacking, far: 100, farther: 200 }, ['endless'])
    for (let lives = 0; lives < 30; lives++) await live()
    expect(turns.filter((name) => name === 'endless').length).toBeGreaterThan(5)
    expect(await lacks()).toEqual({ endless: lacking, far: 0, farther: 0 })
  }
})

test('a bar that is corrected later changes nothing of the run, and is named where a backtest differs', async () => {
  const { all, cache, open, bring } = await town({ bars: 300 })
  await bring(150)
  const runs = open()
  const run = await runs.create('u', { ...BODY, warmup: 100 })
  await bring(100)
  await runs.advanceAll()
  const before = await reportOf(runs, run)
  const corrected = sliceBars(all, 200, 201)
  corrected.high[0] = corrected.high[0]! * 1.5
  await cache.upsert(KEY, corrected)
  await runs.advanceAll()
  expect(await reportOf(open(), run)).toBe(before)
  const found = await runs.divergence('u', run.id)
  expect(found.corrected).toBe(1)
  expect(found.bars[0]?.time).toBe(all.time[200])
  expect(found.said).toStartWith('1 bar was corrected since the run saw it')
  if (!found.equal) expect(found.onlyForward.length + found.onlyBacktest.length).toBeGreaterThan(0)
})

test('a run whose bars were deleted is not said to trade as a backtest does', async () => {
  const { cache, open, bring } = await town()
  await bring(100)
  const runs = open()
  const { id } = await runs.create('u1', BODY)
  await cache.remove({ ...KEY })
  expect(await runs.divergence('u1', id)).toMatchObject({
    equal: false,
    said: expect.stringContaining('stored no more'),
  })
})

test('a run that is stopped stays as it is, and one that is removed leaves nothing', async () => {
  const { kv, open, bring, told } = await town({ bars: 200 })
  await bring(100)
  const runs = open()
  const { id } = await runs.create('u', BODY)
  expect((await runs.stop('u', id)).state).toBe('stopped')
  await bring(50)
  await runs.advanceAll()
  expect([(await runs.get('u', id)).bars, told]).toEqual([0, []])
  expect(await rejection(runs.get('other', id))).toMatchObject({ code: 'forward_run_not_found' })
  await runs.remove('u', id)
  expect(await rejection(runs.remove('u', id))).toMatchObject({ code: 'forward_run_not_found' })
  for (const prefix of ['forward-script', 'forward-tape', 'forward-event'])
    expect(await kv.list({ prefix: [prefix] }, { limit: 10 })).toEqual([])
})

test('a run whose removal was cut short is stopped, and can be removed again', async () => {
  for (let commits = 1; commits < 5; commits++) {
    const { kv, open, bring } = await town({ bars: 200 })
    await bring(100)
    const runs = open()
    const { id } = await runs.create('u', BODY)
    const { commit } = kv
    let left = commits
    kv.commit = async (...one) => {
      if (left-- <= 0) throw new Error('The server is gone.')
      return commit(...one)
    }
    await runs.remove('u', id).catch(() => {})
    kv.commit = commit
    expect((await open().get('u', id)).state).toBe('stopped')
    await open().remove('u', id)
    expect(await kv.list({ prefix: [] }, { limit: 10 })).toEqual([])
  }
})

test('what cannot be followed is refused, and a script that fails later says why', async () => {
  const { open, bring } = await town({ bars: 200 })
  const runs = open()
  expect(await rejection(runs.create('u', BODY))).toMatchObject({ code: 'bars_not_found' })
  await bring(100)
  const indicator = '//@version=6\nindicator("x")\nplot(close)'
  expect(await rejection(runs.create('u', { ...BODY, source: indicator }))).toMatchObject({
    code: 'validation_failed',
  })
  expect(await rejection(runs.create('u', { ...BODY, source: 'strategy(' }))).toMatchObject({
    code: 'script_invalid',
  })
  const late = '//@version=6\nstrategy("x")\nif bar_index == 110\n    runtime.error("enough")'
  const { id } = await runs.create('u', { ...BODY, source: late })
  await bring(50)
  await runs.advanceAll()
  expect(await runs.get('u', id)).toMatchObject({
    state: 'failed',
    bars: 11,
    error: { code: 'script_runtime_error' },
  })
})

test('a server that is busy goes on later, and tells nothing twice', async () => {
  const { open, bring, told } = await town({ bars: 200 })
  await bring(100)
  const pool = inlinePool()
  let isBusy = false
  const runs = open({
    do: (...job) => (isBusy ? Promise.reject(new Error('no worker')) : pool.do(...job)),
  })
  const { id } = await runs.create('u', { ...BODY, warmup: 50 })
  await bring(60)
  isBusy = true
  expect(await rejection(runs.advanceAll())).toHaveProperty('message', 'no worker')
  expect((await runs.get('u', id)).bars).toBe(0)
  isBusy = false
  await runs.advanceAll()
  await open().advanceAll()
  expect((await runs.get('u', id)).bars).toBe(60)
  expect(new Set(told.map((event) => JSON.stringify(event))).size).toBe(told.length)
})

test('a run is asked where bars of its market came, were it by another interval, and each minute besides', async () => {
  const { clock, kv, cache, all, open, bring } = await town({ bars: 200 })
  await bring(100)
  const runs = open()
  const { id } = await runs.create('u', { ...BODY, warmup: 50 })
  const source = cache.source.bind(cache)
  const list = kv.list.bind(kv)
  let asked = 0
  cache.source = async (key) => (asked++, source(key))
  Object.assign(kv, { list: async (...what: Parameters<Kv['list']>) => (asked++, list(...what)) })
  const stop = new AbortController()
  const running = runs.run(stop.signal)
  const askedAfter = async (work: () => unknown) => {
    asked = 0
    await work()
    await clock.pass(1000)
    return asked > 0
  }
  const other = async (key: object) => cache.upsert({ ...KEY, ...key }, sliceBars(all, 0, 3))
  expect(await askedAfter(() => {})).toBe(true)
  expect(await askedAfter(async () => bring(1))).toBe(true)
  expect((await runs.get('u', id)).bars).toBe(1)
  expect(await askedAfter(async () => other({ symbol: 'OTHER' }))).toBe(false)
  expect(await askedAfter(async () => other({ owner: 'u' }))).toBe(false)
  expect(await askedAfter(async () => other({ interval: '5m' }))).toBe(true)
  expect(await askedAfter(async () => clock.pass(60_000))).toBe(true)
  stop.abort()
  await running
})

test('a run that another server has made is followed from when this one hears of it', async () => {
  const { clock, open, bring } = await town({ bars: 200 })
  await bring(100)
  const runs = open()
  const stop = new AbortController()
  const running = runs.run(stop.signal)
  await clock.pass(1000)
  const { id } = await open().create('u', { ...BODY, warmup: 50 })
  await bring(1)
  await clock.pass(1000)
  expect((await runs.get('u', id)).bars).toBe(0)
  runs.heard(id)
  await clock.pass(1000)
  expect((await runs.get('u', id)).bars).toBe(1)
  stop.abort()
  await running
})

test('after a failure each run is asked again', async () => {
  const { clock, open, bring } = await town({ bars: 200 })
  await bring(100)
  const pool = inlinePool()
  let failures = 1
  const runs = open({
    do: (...job) => (failures-- > 0 ? Promise.reject(new Error('no worker')) : pool.do(...job)),
  })
  failures = 0
  const { id } = await runs.create('u', { ...BODY, warmup: 50 })
  const stop = new AbortController()
  const running = runs.run(stop.signal)
  await clock.pass(1000)
  failures = 1
  await bring(1)
  await clock.pass(10_000)
  expect((await runs.get('u', id)).bars).toBe(1)
  stop.abort()
  await running
})

test('a run that is slow holds up those of its user, and nobody else’s', async () => {
  const { open, bring } = await town({ bars: 200 })
  await bring(100)
  const pool = inlinePool()
  const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isSlow = false
  const runs = open({
    async do(...job) {
      if (isSlow && job[2]?.user === 'slow') {
        begun.resolve()
        await goOn.promise
      }
      return pool.do(...job)
    },
  })
  const slow = [1, 2].map(() => runs.create('slow', { ...BODY, warmup: 50 }))
  const ids = (await Promise.all(slow)).map(({ id }) => id)
  const quick = await runs.create('quick', { ...BODY, warmup: 50 })
  await bring(10)
  isSlow = true
  const advanced = runs.advanceAll()
  await begun.promise
  while ((await runs.get('quick', quick.id)).bars < 10) await new Promise(setImmediate)
  expect(await Promise.all(ids.map(async (id) => (await runs.get('slow', id)).bars))).toEqual([0, 0])
  goOn.resolve()
  await advanced
  expect(await Promise.all(ids.map(async (id) => (await runs.get('slow', id)).bars))).toEqual([10, 10])
})

test('an order that moves to another price is told of as placed, and as cancelled only when it is gone', () => {
  const stop = { id: 'X', type: 'stop', side: 'sell', qty: 1, price: 90 } as const
  const limit = { ...stop, type: 'limit', price: 110 } as const
  const said = (...[before, waiting]: Parameters<typeof eventsBetween>[0][]) =>
    eventsBetween(before!, { fills: [], waiting: waiting!, position: 1 }, 0).map(
      ({ event, type, price }) => `${event} ${type} ${price}`,
    )
  expect(said([stop, limit], [stop, limit])).toEqual([])
  expect(said([stop, limit], [{ ...stop, price: 95 }, limit])).toEqual(['order.placed stop 95'])
  expect(said([stop, limit], [stop])).toEqual(['order.cancelled limit 110'])
})

test('an order that waits again as it did is told of as placed again only if the one before it filled', () => {
  const market = { id: 'L', type: 'market', side: 'buy', qty: 1, price: null } as const
  const fill = { id: 'L', side: 'buy', qty: 1, price: 10, position: 1 } as ReportOrder
  const said = (fills: readonly ReportOrder[], before: readonly WaitingOrder[], waiting = before) =>
    eventsBetween(before, { fills, waiting, position: 1 }, 0).map(({ event, type }) => `${event} ${type}`)
  expect(said([], [market])).toEqual([])
  expect(said([fill], [market])).toEqual(['order.filled null', 'order.placed market'])
  expect(said([fill, { ...fill }], [market], [])).toEqual([
    'order.filled null',
    'order.placed null',
    'order.filled null',
  ])
  const stop = { id: 'L', type: 'stop', side: 'buy', qty: 1, price: 10 } as const
  expect(said([fill], [stop, { ...stop, type: 'limit', price: 5 }], [])).toEqual(['order.filled null'])
  expect(said([], [stop], [stop, stop])).toEqual(['order.placed stop'])
})

test('prices and sizes are told without binary noise', () => {
  const fill = {
    id: 'L',
    side: 'buy',
    qty: 0.1 + 0.2,
    price: 10385 * 0.01,
    position: 0.1 + 0.2,
  } as ReportOrder
  expect([fill.qty, fill.price]).toEqual([0.30000000000000004, 103.85000000000001])
  const stop = { id: 'X', type: 'stop', side: 'sell', qty: 0.1 + 0.2, price: 7.1 } as const
  const said = eventsBetween([], { fills: [fill], waiting: [stop], position: 0.1 + 0.2 }, 0)
  expect(said.map(({ event, qty, price, position }) => [event, qty, price, position])).toEqual([
    ['order.placed', 0.3, null, 0.3],
    ['order.filled', 0.3, 103.85, 0.3],
    ['order.placed', 0.3, 7.1, 0.3],
  ])
})

test('a commission of more than the trade is refused as a backtest refuses it, and what a script says is taken', async () => {
  const { open, bring } = await town()
  await bring(150)
  const runs = open()
  const overrides = { commission_value: 101 }
  const { status, details, message } = (await rejection(runs.create('u', { ...BODY, overrides }))) as Problem
  expect([status, details?.fields?.[0]?.path]).toEqual([422, '/overrides/commission_value'])
  expect(message).toContain('Give 100 or less')
  expect((await runs.list('u', { limit: 10 })).items).toEqual([])
  const dear = SOURCE.replace('commission_value = 0.1', 'commission_value = 101')
  await runs.create('u', { ...BODY, source: dear })
  await bring(20)
  await runs.advanceAll()
  expect((await runs.list('u', { limit: 10 })).items).toMatchObject([{ state: 'running', bars: 20 }])
})

const ORDERING = {
  trailing: `strategy("t")
strategy.entry("S", strategy.short)
strategy.exit("XS", "S", trail_points = 20, trail_offset = 5)`,
  pyramiding: `strategy("p", pyramiding = 4)
if bar_index % 3 == 0
    strategy.entry("L", strategy.long, qty = 1)
strategy.exit("X", "L", profit = 60, loss = 60)`,
  oca: `strategy("o", default_qty_type = strategy.fixed, default_qty_value = 1)
strategy.entry("B", strategy.long, stop = high, oca_name = "one", oca_type = strategy.oca.cancel)
strategy.entry("S", strategy.short, stop = low, oca_name = "one", oca_type = strategy.oca.cancel)
strategy.exit("XB", "B", profit = 40, loss = 40)
if bar_index % 7 == 0
    strategy.cancel_all()`,
  partial: `strategy("q", pyramiding = 2)
if bar_index % 3 == 0
    strategy.entry("L", strategy.long, qty = 1)
strategy.exit("X1", "L", qty_percent = 50, profit = 30, loss = 60)
strategy.exit("X2", "L", profit = 60, loss = 60)`,
  reversal: `strategy("r")
if bar_index % 4 == 0
    strategy.entry("E", bar_index % 8 == 0 ? strategy.long : strategy.short)
strategy.exit("X", "E", limit = close * 1.01, stop = close * 0.99)
if bar_index % 11 == 0
    strategy.close_all()`,
  onClose: `strategy("c", process_orders_on_close = true)
if bar_index % 2 == 0
    strategy.entry("L", strategy.long)
else
    strategy.close("L")`,
}

for (const [name, body] of Object.entries(ORDERING))
  test(`every fill and every withdrawal has a placed order before it: ${name}`, async () => {
    const seed = 5
    const it = await town({ bars: 300, seed })
    await it.bring(100)
    const source = `//@version=6\n${body}`
    const run = await it.open().create('u', { ...BODY, source, warmup: 50 })
    // An exit may wait as limit, stop and trail, of which one fills, so each type is counted by itself.
    const placed = new Map<string, Map<string | null, number>>()
    const place = (id: string, side: string, type: string | null) => {
      const types = placed.get(id + side) ?? new Map<string | null, number>()
      placed.set(id + side, types.set(type, (types.get(type) ?? 0) + 1))
    }
    for (const { id, side, type } of run.waiting) place(id, side, type)
    while ((await it.open().get('u', run.id)).bars < 180) {
      await it.bring(10)
      await it.open().advanceAll()
    }
    const filled = new Map<string, number>()
    for (const { event, orderId, side, type } of it.told) {
      const types = placed.get(orderId + side)
      if (event === 'order.placed') place(orderId, side, type)
      else if (event === 'order.cancelled')
        expect([seed, orderId, types?.has(type)]).toEqual([seed, orderId, true])
      else {
        const fills = (filled.get(orderId + side) ?? 0) + 1
        filled.set(orderId + side, fills)
        const there = Math.max(0, ...[...(types ?? [])].filter(([of]) => of).map(([, count]) => count))
        const atOnce = types?.get(null) ?? 0
        expect([seed, orderId, fills <= there + atOnce]).toEqual([seed, orderId, true])
      }
    }
    expect(filled.size).toBeGreaterThan(1)
  })

/** Nothing of them but exits of one entry waits side by side. */
const REPLACING = {
  trailing: ORDERING.trailing,
  oca: ORDERING.oca,
  reversal: ORDERING.reversal,
  onClose: ORDERING.onClose,
  moving: `strategy("m", default_qty_type = strategy.fixed, default_qty_value = 1)
if bar_index % 5 == 0
    strategy.entry("L", strategy.long, limit = low)
strategy.exit("X", "L", limit = close * 1.01, stop = close * 0.99)
if bar_index % 7 == 0
    strategy.cancel_all()`,
  changing: `strategy("c", pyramiding = 9)
if bar_index % 3 == 0
    strategy.order("O", strategy.long, qty = 1, limit = low * 0.99)
if bar_index % 3 == 1
    strategy.order("O", bar_index % 2 == 0 ? strategy.long : strategy.short, qty = 2, stop = high * 1.001)
if bar_index % 11 == 0
    strategy.order("O", strategy.long, qty = 1)`,
}

for (const [name, body] of Object.entries(REPLACING))
  test(`who takes what is placed again for a replacement knows what waits: ${name}`, async () => {
    const { told, open, bring } = await town({ bars: 300 })
    await bring(100)
    const runs = open()
    const source = `//@version=6\n${body}`
    const { id, waiting } = await runs.create('u', { ...BODY, source, warmup: 50 })
    const known = new Map<string, unknown>()
    const place = ({ side, type, qty, price, ...order }: Omit<WaitingOrder, 'type'> & { type: unknown }) =>
      known.set(JSON.stringify([order.id, side, type]), [tidy(qty), price])
    for (const order of waiting) place(order)
    let replaced = 0
    for (let bar = 0; bar < 180; bar++) {
      await bring(1)
      await runs.advanceAll()
      let isAtOnce = false
      for (const { event, orderId, side, type, qty, price } of told.splice(0)) {
        const slot = JSON.stringify([orderId, side, type])
        if (event === 'order.cancelled') expect([bar, slot, known.delete(slot)]).toEqual([bar, slot, true])
        else if (event === 'order.filled') {
          const over = [...known.keys()].filter((one) =>
            one.startsWith(JSON.stringify([orderId, side]).slice(0, -1)),
          )
          if (!isAtOnce) for (const one of over) known.delete(one)
        } else if (type !== null) {
          replaced += Number(known.has(slot))
          place({ id: orderId, side, type, qty, price })
        }
        isAtOnce = event === 'order.placed' && type === null
      }
      const now = (await runs.get('u', id)).waiting
      const wanted = now.map(({ side, type, qty, price, ...one }): [string, unknown] => [
        JSON.stringify([one.id, side, type]),
        [tidy(qty), price],
      ])
      expect([bar, known.size, Object.fromEntries(known)]).toEqual([
        bar,
        now.length,
        Object.fromEntries(wanted),
      ])
    }
    if (name === 'moving') expect(replaced).toBeGreaterThan(5)
  })

test('exits of several entries wait side by side, and one that comes and fills on one bar replaces none of them', () => {
  const stop = { id: 'X', type: 'stop', side: 'sell', qty: 1, price: 90 } as const
  const fill = { id: 'X', side: 'sell', qty: 1, price: 95, position: 1 } as ReportOrder
  const said = (fills: readonly ReportOrder[], waiting: readonly WaitingOrder[]) =>
    eventsBetween([stop], { fills, waiting, position: 1 }, 0).map(
      ({ event, type, price }) => `${event} ${type} ${price}`,
    )
  expect(said([], [stop, { ...stop, price: 92 }])).toEqual(['order.placed stop 92'])
  expect(said([fill], [stop])).toEqual(['order.placed null null', 'order.filled null 95'])
})

const FORMING_SOURCE = `//@version=6
strategy("above", process_orders_on_close = false)
if close > 100
    strategy.entry("L", strategy.long)
if close < 90
    strategy.close("L")`

/** Closed bars at 95, and a forming one whose close a test sets. */
async function formingTown() {
  const it = await town()
  const step = 15 * 60_000
  let next = 0
  let row: readonly number[] | null = null
  const bring = (close: number) => {
    const time = next++ * step
    return it.cache.upsert(KEY, barsOf([[time, 95, Math.max(95, close), Math.min(95, close), close, 1]]))
  }
  for (let i = 0; i < 20; i++) await bring(95)
  const open = (more: Partial<ForwardDeps> = {}) => it.open(undefined, async () => row, more)
  return {
    ...it,
    open,
    bring,
    /** The newest stored bar counts once the next one is there, so the forming one stands behind it. */
    form: (close: number | null) => {
      const time = next * step
      row = close === null ? null : [time, 95, Math.max(95, close), Math.min(95, close), close, 1]
    },
    said: () =>
      it.told
        .splice(0)
        .map(({ event, orderId, status, time }) => `${event} ${orderId} ${status} ${time / step}`),
  }
}

test('only a run that asked for it tells of the bar that is not over, and what becomes of it', async () => {
  const it = await formingTown()
  let runs = it.open()
  const quiet = await runs.create('u', { ...BODY, source: FORMING_SOURCE, warmup: 5 })
  expect(quiet.provisional).toBe(false)
  it.form(101)
  expect(await runs.advanceAll()).toBe(false)
  expect(it.said()).toEqual([])
  await runs.remove('u', quiet.id)

  const run = await runs.create('u', { ...BODY, source: FORMING_SOURCE, warmup: 5, provisional: true })
  expect(run.provisional).toBe(true)
  expect(await runs.advanceAll()).toBe(true)
  expect(it.said()).toEqual(['order.placed L provisional 20'])
  await runs.advanceAll()
  expect(it.said()).toEqual([])
  it.form(99)
  await runs.advanceAll()
  expect(it.said()).toEqual(['order.placed L retracted 20'])
  it.form(102)
  await runs.advanceAll()
  // A server that starts again tells nothing twice.
  runs = it.open()
  await runs.advanceAll()
  expect(it.said()).toEqual(['order.placed L provisional 20'])
  const before = await runs.get('u', run.id)
  expect([before.position, before.bars]).toEqual([0, run.bars])
  it.form(null)
  await it.bring(102)
  await it.bring(95)
  await runs.advanceAll()
  // The bar that was stored last may be forming.
  expect(it.said()).toEqual(['order.placed L confirmed 20'])
  expect((await runs.orders('u', run.id)).map(({ status }) => status)).toEqual([
    'provisional',
    'retracted',
    'provisional',
    'confirmed',
  ])
})

test('what a closed bar does not do is retracted before it tells what it does', async () => {
  const it = await formingTown()
  const runs = it.open()
  await runs.create('u', { ...BODY, source: FORMING_SOURCE, warmup: 5, provisional: true })
  it.form(101)
  await runs.advanceAll()
  it.form(null)
  await it.bring(95)
  await it.bring(101)
  await it.bring(95)
  await runs.advanceAll()
  expect(it.said()).toEqual([
    'order.placed L provisional 20',
    'order.placed L retracted 20',
    'order.placed L final 21',
  ])
})

test('a run that is stopped retracts what it will not see closed, and a script that fails on a forming bar goes on', async () => {
  const it = await formingTown()
  const runs = it.open()
  const run = await runs.create('u', { ...BODY, source: FORMING_SOURCE, warmup: 5, provisional: true })
  it.form(101)
  await runs.advanceAll()
  expect((await runs.stop('u', run.id)).state).toBe('stopped')
  expect(it.said()).toEqual(['order.placed L provisional 20', 'order.placed L retracted 20'])
  await runs.stop('u', run.id)
  expect(it.said()).toEqual([])

  const source = `${FORMING_SOURCE}\nif close == 123\n    runtime.error("no")`
  const failing = await runs.create('u', { ...BODY, source, warmup: 5, provisional: true })
  it.form(123)
  await runs.advanceAll()
  expect((await runs.get('u', failing.id)).state).toBe('running')
  it.form(101)
  await runs.advanceAll()
  expect(it.said()).toEqual(['order.placed L provisional 20'])
})

test('a server looks at bars that are not over for its own runs alone, and for none any more once it stops', async () => {
  const it = await formingTown()
  const looks = async (holds: boolean, signal?: AbortSignal) =>
    await it.open({ shards: { ...ALL_SHARDS, holds: () => holds } }).advanceAll(signal)
  await it.open().create('u', { ...BODY, source: FORMING_SOURCE, warmup: 5, provisional: true })
  expect([await looks(true), await looks(false), await looks(true, AbortSignal.abort())]).toEqual([
    true,
    false,
    false,
  ])
})

test('with provisional events the report is byte for byte what it is without', async () => {
  const seed = Math.floor(Date.now() % 1e9)
  console.log(`seed ${seed}`)
  const random = seededRandom(seed)
  const it = await town({ bars: 200 })
  await it.bring(100)
  let row: readonly number[] | null = null
  const runs = it.open(undefined, async () => row)
  const plain = await runs.create('u', { ...BODY, warmup: 50 })
  const eager = await runs.create('u', { ...BODY, warmup: 50, provisional: true })
  for (let i = 100; i < 160; i++) {
    for (let look = 0; look < 2; look++) {
      const close = it.all.close[i]! * (0.97 + random.uniform() * 0.06)
      const open = it.all.open[i]!
      row = [it.all.time[i]!, open, Math.max(open, close), Math.min(open, close), close, 1]
      await runs.advanceAll()
    }
    await it.bring(1)
    await runs.advanceAll()
  }
  expect(await reportOf(runs, eager)).toBe(await reportOf(runs, plain))
  const orders = await runs.orders('u', eager.id)
  const lasting = orders.filter(({ status }) => status === 'final' || status === 'confirmed')
  const bare = (all: readonly ForwardOrder[]) => all.map(({ status: _status, ...order }) => order)
  expect(bare(lasting)).toEqual(bare(await runs.orders('u', plain.id)))
  // Whatever was provisional was confirmed or retracted once, but for the bar that still forms.
  const open = new Map<string, number>()
  for (const { status, ...order } of orders) {
    const name = JSON.stringify({ ...order, position: null, comment: null, alertMessage: null })
    const sum = (open.get(name) ?? 0) + (status === 'provisional' ? 1 : status === 'final' ? 0 : -1)
    expect([seed, name, sum >= 0 && sum <= 1]).toEqual([seed, name, true])
    open.set(name, sum)
  }
  expect(orders.some(({ status }) => status === 'retracted')).toBe(true)
})
