// What bars cost that arrive at alerts, on a real disk: `bun run bench alerts [alerts]`.
//
// 100,000 alerts of 250 users on one series, levels spread from 100 to 200; each user has a webhook, so that a firing also
// queues a delivery.

import process from 'node:process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { AlertFields } from '../../../src/notify/alerts/alert.ts'
import { emptyBars, type Bars } from '../../../src/market/bars.ts'
import { collection } from '../../../src/store/collection.ts'
import { openAlerts } from './disk-alerts.ts'

const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 1)
const USERS = 250
const count = Number(process.argv[2] ?? 100_000)
const path = mkdtempSync(`${tmpdir()}/chartroom-alerts-`)
const clock = {
  now: () => Date.now(),
  sleep: (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms)),
}

/** Firings are queued for delivery as on a server. */
const open = () =>
  openAlerts({
    path,
    clock,
    barMs: HOUR,
    deliver: (kv, newId) => {
      const outbox = collection<{ id: string; ownerId: string; data: unknown }>(kv, 'deliveries', {
        indexes: { owner: (delivery) => [delivery.ownerId], turn: (delivery) => [delivery.ownerId, 1] },
      })
      return async (_tx, alert, firings) =>
        firings.map((data) => outbox.insert({ id: newId('msg'), ownerId: alert.ownerId, data }))
    },
  })

const key = (symbol: string) => ({ exchange: 'X', symbol, interval: '1h' })
const hours = new Map<string, number>()
/** The next bars of a symbol. */
function next(symbol: string, closes: readonly number[]): Bars {
  const at = hours.get(symbol) ?? 0
  hours.set(symbol, at + closes.length)
  const bars = emptyBars(closes.length)
  for (const [i, close] of closes.entries()) {
    bars.time[i] = START + (at + i) * HOUR
    for (const field of ['open', 'high', 'low', 'close'] as const) bars[field][i] = close
  }
  return bars
}
const fieldsOf = (symbol: string, more: Partial<AlertFields>): AlertFields => ({
  symbol,
  exchange: 'X',
  interval: '1h',
  kind: 'price',
  op: 'crossing',
  channels: ['webhook'],
  ...more,
})

let world = open()
async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const before = world.fired()
  const startedAt = performance.now()
  let longest = 0
  let last = startedAt
  const pulse = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 1)
  await work()
  const ms = performance.now() - startedAt
  clearInterval(pulse)
  const waits = `longest turn ${Math.max(longest, performance.now() - last).toFixed(0)} ms`
  console.log(`${name}: ${ms.toFixed(1)} ms, ${world.fired() - before} firings, ${waits}`)
}
async function arrive(symbol: string, ...closes: number[]): Promise<void> {
  await world.cache.upsert(key(symbol), next(symbol, closes))
  await world.looks.settle()
}

await arrive('MANY', 90, 90)
await timed(`${count} alerts are set`, async () => {
  for (let i = 0; i < count; i += 500)
    for (let j = i; j < Math.min(count, i + 500); j++)
      await world.alerts.create(`usr_${j % USERS}`, fieldsOf('MANY', { price: 100 + (j * 100) / count }))
})
for (let i = 0; i < 3; i++) await timed('a bar that fires none', () => arrive('MANY', 91 + i))
for (let i = 0; i < 3; i++)
  await timed('a bar that fires 1,000', () => arrive('MANY', 100 + ((i + 1) * 1000 * 100) / count - 0.00001))
await timed('a bar far off that fires none', () => arrive('MANY', 100 + (3000 * 100) / count))

await world.kv.close()
world = open()
await timed('the first look after a start', () => world.looks.settle())
await timed('a bar that fires none then', () => arrive('MANY', 100 + (3000 * 100) / count))

const walk = Array.from({ length: 1000 }, (_, i) => 100 + 30 * Math.sin(i / 9))
await arrive('FEW', 100, 100)
for (let i = 0; i < 20; i++)
  await world.alerts.create(
    'usr_1',
    fieldsOf('FEW', { price: 80 + 2 * i, frequency: i % 2 ? 'every_time' : 'once' }),
  )
await timed('20 alerts, an import of 1,000 bars', () => arrive('FEW', ...walk))
await arrive('EVERY', 100, 100)
for (let i = 0; i < 200; i++)
  await world.alerts.create(
    `usr_${i % 5}`,
    fieldsOf('EVERY', { op: 'above', price: 80, frequency: 'every_time' }),
  )
await timed('200 alerts that fire on every bar, 100 bars', () =>
  arrive('EVERY', ...Array.from({ length: 100 }, () => 100)),
)
await world.kv.close()
rmSync(path, { recursive: true })
