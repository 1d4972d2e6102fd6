// LookQueue against the slow and obvious way: random alerts, bars, imports, stops and failures; the seed is printed.

import { expect, test } from 'bun:test'
import { type Alert, type AlertFields, type Firing } from '../../../src/notify/alerts/alert.ts'
import { Alerts } from '../../../src/notify/alerts/alerts.ts'
import { FREQUENCIES, OPERATORS, type Alert as AlertWire, type Operator } from '../../../src/wire/alert.ts'
import { LookQueue } from '../../../src/notify/alerts/look-queue.ts'
import { idSource } from '../../../src/lib/ids.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { BarCache } from '../../../src/market/bar-cache.ts'
import { BAR_FIELDS, emptyBars, type Bars } from '../../../src/market/bars.ts'
import type { Kv } from '../../../src/store/kv.ts'
import { testBars, testKv } from '../../store/test-store.ts'
import { OneByOne, type Row } from './one-by-one.ts'
import { rounds } from '../../long.ts'

const START = Date.UTC(2026, 0, 5)
const INTERVALS = [
  ['5s', 5000],
  ['1m', 60_000],
  ['1d', 86_400_000],
] as const

function randomOf(seed: number) {
  let state = (Math.imul(seed, 2_654_435_761) | 1) >>> 0
  const below = (limit: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
  return { below, one: <T>(items: readonly T[]) => items[below(items.length)] as T }
}
type Random = ReturnType<typeof randomOf>

/** A store that stops at a commit: before it is made, or after it is and before anybody hears of it. */
class Stopping {
  readonly kv: Kv
  #left = Number.POSITIVE_INFINITY
  #made = false
  constructor(inner: Kv) {
    this.kv = {
      ...inner,
      commit: async (commit) => {
        if (this.#left-- > 0) return inner.commit(commit)
        if (this.#made && this.#left === -1) await inner.commit(commit)
        throw new Error('stopped')
      },
    }
  }
  after(commits: number, made: boolean): void {
    this.#left = commits
    this.#made = made
  }
  goOn(): void {
    this.#left = Number.POSITIVE_INFINITY
  }
}

class World {
  readonly random: Random
  readonly interval: string
  readonly step: number
  readonly truth: OneByOne
  readonly store = new Stopping(testKv())
  readonly cache = new BarCache(testBars())
  readonly ids: string[] = []
  now = START
  readonly #clock = { now: () => this.now, sleep: () => Promise.resolve() }
  #bytes = 0
  alerts = this.#alerts()
  looks = this.#looks()

  constructor(seed: number) {
    this.random = randomOf(seed)
    const [interval, step] = this.random.one(INTERVALS)
    this.interval = interval
    this.step = step
    this.truth = new OneByOne(step)
  }

  get key() {
    return { exchange: 'X', symbol: 'Ä', interval: this.interval }
  }

  #alerts() {
    return new Alerts({
      kv: this.store.kv,
      clock: this.#clock,
      newId: idSource({
        clock: this.#clock,
        random: {
          bytes: (n) => new Uint8Array(n).map(() => (this.#bytes = (this.#bytes * 37 + 11) & 255)),
        },
      }),
      bars: (series, range) => this.cache.look(series, range),
      source: (series) => this.cache.source(series),
      resolve: async (_userId, series) => series,
      requireStored: async () => {},
      closesAt: async () => (time) => time + this.step,
      runScript: () => Promise.reject(new Error('no script here')),
      deliver: async (_tx, _alert: Alert, firings: readonly Firing[]) =>
        firings.map(({ id, alertId, barTime }) => ({
          sets: [{ key: ['told', alertId, barTime, id], value: 'null' }],
        })),
      log: silentLog,
      fired: () => {},
      alertsMax: 0,
      ownsReceiver: async () => true,
      ownsChannel: async () => true,
      wrongInput: async () => null,
      lookAtEnd: () => {},
    })
  }

  #looks() {
    return new LookQueue({
      clock: this.#clock,
      log: silentLog,
      notes: () => this.cache.store.notes(),
      clear: (note) => this.cache.store.clearNote(note),
      unsettled: () => this.alerts.unsettledSeries(),
      async *forming() {},
      lanes: this.alerts.lanes,
    })
  }

  /** Another process on the same data. */
  restart(): void {
    this.store.goOn()
    this.alerts = this.#alerts()
    this.looks = this.#looks()
  }

  async settle(): Promise<void> {
    if (this.random.below(3) === 0) {
      this.store.after(this.random.below(8), this.random.below(2) === 0)
      await this.looks.settle()
      this.restart()
    }
    if (this.random.below(4) === 0) this.restart()
    await this.looks.settle()
    expect(await this.cache.store.notes()).toEqual([])
  }

  async addAlert(): Promise<void> {
    const fields = randomFields(this.random, this.interval, this.step, this.now)
    const { id } = await this.alerts.create('usr_1', fields)
    this.ids.push(id)
    this.truth.arm(id, fields, this.now)
  }

  async touchAlert(): Promise<void> {
    const id = this.random.one(this.ids)
    const plain = id === undefined ? undefined : this.truth.alerts.get(id)
    if (id === undefined || !plain) return
    const expired = plain.fields.expiresAt && plain.fields.expiresAt <= this.now
    switch (this.random.below(4)) {
      case 0:
        await this.alerts.change('usr_1', id, { state: 'paused' })
        plain.state = 'paused'
        return
      case 1:
        await this.alerts.change('usr_1', id, { state: 'active' })
        return this.truth.arm(id, plain.fields, this.now)
      case 2: {
        if (expired || plain.state !== 'active') return
        const level = this.random.below(20)
        await this.alerts.change('usr_1', id, { price: level, price2: level + 3 })
        return this.truth.arm(id, { ...plain.fields, price: level, price2: level + 3 }, this.now)
      }
      default:
        await this.alerts.remove('usr_1', id)
        this.ids.splice(this.ids.indexOf(id), 1)
        this.truth.alerts.delete(id)
    }
  }

  /** Stores rows as one import; the others see them one by one. */
  async import(rows: readonly Row[]): Promise<void> {
    await this.cache.upsert(this.key, barsOf(rows))
    // Of what a new series begins with only the newest bar is no history.
    const history = this.truth.rows.length === 0 ? rows.slice(0, -1) : []
    this.truth.rows.push(...history)
    for (const row of rows.slice(history.length)) {
      const closes = row.time + this.step
      const isNews = closes <= this.now && row.time >= (this.truth.rows.at(-1)?.time ?? 0)
      this.truth.bar(row, isNews ? closes : this.now)
    }
  }

  async compare(seed: number, round: number): Promise<void> {
    for (const id of this.ids) {
      const plain = this.truth.alerts.get(id)
      if (!plain) continue
      const alert = await this.alerts.get('usr_1', id)
      const told = (await this.store.kv.list({ prefix: ['told', id] }, { limit: 10_000 })).map(
        ({ key }) => key[2],
      )
      const known = (await this.alerts.firings('usr_1', id, { limit: 9000, reverse: false })).items
      const where = {
        seed,
        round,
        step: this.step,
        last: this.truth.rows.at(-1)?.time,
        fields: plain.fields,
      }
      const times = told.map(Number)
      const missing = plain.fired.filter((time) => !times.includes(time)).slice(0, 3)
      const extra = times
        .filter((time, i) => !plain.fired.includes(time) || times[i - 1] === time)
        .slice(0, 3)
      expect({ ...where, state: alert.state, missing, extra }).toEqual({
        ...where,
        state: plain.state,
        missing: [],
        extra: [],
      })
      expect(known.map(({ barTime }) => barTime).toSorted((a, b) => a - b)).toEqual(times)
    }
  }
}

function randomFields(random: Random, interval: string, step: number, now: number): AlertFields {
  const kind = random.one(['price', 'price', 'price', 'volume', 'change'] as const)
  const op: Operator = random.one(OPERATORS)
  const frequency: AlertWire['frequency'] = random.one(FREQUENCIES)
  const level = kind === 'change' ? random.below(60) - 30 : random.below(20)
  return {
    symbol: 'Ä',
    exchange: 'X',
    interval,
    kind,
    op,
    price: op.startsWith('moving') ? random.below(5) : level,
    price2: level + random.below(8) - 4,
    percent: 1 + random.below(40),
    bars: 1 + random.below(4),
    channels: ['email'],
    frequency,
    cooldownSec: random.below(3) === 0 ? (random.below(8) * step) / 2000 : 0,
    expiresAt: random.below(4) === 0 ? now + (1 + random.below(80)) * Math.floor(step / 2) : null,
  }
}

function randomRow(random: Random, time: number, before: number): Row {
  const clamp = (price: number) => Math.max(0, Math.min(20, price))
  const open = clamp(before + random.below(5) - 2)
  const close = clamp(open + random.below(9) - 4)
  return {
    time,
    open,
    close,
    high: clamp(Math.max(open, close) + random.below(3)),
    low: clamp(Math.min(open, close) - random.below(3)),
    volume: random.below(20),
  }
}

function barsOf(rows: readonly Row[]): Bars {
  const bars = emptyBars(rows.length)
  for (const [i, row] of rows.entries()) for (const field of BAR_FIELDS) bars[field][i] = row[field]
  return bars
}

/** Bars that are over, and perhaps one that forms, in imports of any size; alerts come and go between them. */
async function liveThrough(world: World, round: number): Promise<void> {
  const { random, step, truth } = world
  const count = round % 7 === 3 ? 1000 + random.below(1200) : random.below(12)
  const isForming = random.below(2) === 0
  const rows: Row[] = []
  const last = truth.rows.at(-1)
  const forming = last && last.time + step > world.now ? last : null
  if (forming) rows.push(randomRow(random, forming.time, forming.open))
  let time = last ? last.time : START - step
  for (let i = 0; i < count + (isForming ? 1 : 0); i++) {
    time += step * (1 + (random.below(6) === 0 ? random.below(3) : 0))
    rows.push(randomRow(random, time, rows.at(-1)?.close ?? last?.close ?? 10))
  }
  const newest = rows.at(-1)
  if (!newest) return
  world.now = newest.time + (isForming && count >= 0 ? Math.floor(step / 3) : step + random.below(step))
  if (!isForming && forming && rows.length === 1) world.now = newest.time + step
  for (let at = 0; at < rows.length;) {
    const size = random.below(3) === 0 ? 1 : 1 + random.below(rows.length)
    await world.import(rows.slice(at, at + size))
    at += size
    if (random.below(3) === 0) await world.settle()
    if (round > 0 && random.below(4) === 0) await world.addAlert()
    if (random.below(6) === 0) await world.touchAlert()
  }
  await world.settle()
  if (isForming)
    for (let i = random.below(3); i > 0; i--) {
      world.now += Math.floor(step / 8)
      await world.import([randomRow(random, newest.time, newest.open)])
      await world.settle()
    }
  // Bars that were looked at come again, or corrected: none of them fires.
  const older = random.below(3) === 0 ? truth.rows[truth.rows.length - 4 - random.below(20)] : undefined
  if (older) {
    await world.import([randomRow(random, older.time, 10)])
    await world.settle()
  }
}

test('bars that come all at once fire what they fire one by one, whatever stops in between', async () => {
  const first = Number(Bun.env['SEED'] ?? Math.floor(Math.random() * 2 ** 30))
  const runs = Number(Bun.env['RUNS'] ?? rounds(4))
  let firings = 0
  for (let seed = first; seed < first + runs; seed++) {
    const world = new World(seed)
    for (let i = world.random.below(6); i > 0; i--) await world.addAlert()
    for (let round = 1; round < 15; round++) {
      for (let i = world.random.below(6); i > 0; i--) await world.addAlert()
      await liveThrough(world, round)
      await world.compare(seed, round)
    }
    firings += (await world.store.kv.list({ prefix: ['told'] }, { limit: 10_000 })).length
  }
  // The comparison is worth something.
  expect(firings).toBeGreaterThan(runs * 10)
}, 900_000)
