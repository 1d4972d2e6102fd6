// One of the nodes of `bun run fleet-test`: writes as fast as it is answered, and says what was answered.
//
// Every line that it prints is a fact the history is checked against: `ack` for a write that was stored, `twice` for one
// that found itself in the store already, `stale` for an own write that was not read back, `away` for a refusal.

import { hostname } from 'node:os'
import { fencedKv, takeLease } from '../store/postgres/lease.ts'
import { connect } from '../store/postgres/connection.ts'
import { postgresKv } from '../store/postgres/postgres-kv.ts'
import type { Kv } from '../store/kv.ts'
import { Problem } from '../lib/problem.ts'

const WRITERS = 8
const COUNTERS = 5
const TICK_MS = 50

const [url = '', name = ''] = process.argv.slice(2)
const clock = {
  now: () => performance.now(),
  sleep: (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
    }),
}
const random = { bytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)) }
const connection = await connect({ url, clock, random, node: `${hostname()}-${name}` })
const kv = postgresKv(connection)
const say = (line: string) => process.stdout.write(`${line}\n`)

async function unlessAway(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'store_unavailable') throw error
    say('away')
  }
}

/** A record that must not be there, and a counter of all records. */
async function write(id: string, counter: number): Promise<void> {
  const key = ['op', id]
  const stored = await kv.commit({
    checks: [{ key, version: null }],
    sets: [{ key, value: id }],
    sums: [{ key: ['count', counter], step: 1 }],
  })
  say(stored ? `ack ${id}` : `twice ${id}`)
  if ((await kv.get(key)) === null) say(`stale ${id}`)
}

async function writes(writer: number): Promise<void> {
  for (let i = 0; ; i++) await unlessAway(() => write(`${name}.${writer}.${i}`, (writer + i) % COUNTERS))
}

/** Work that only one node does at a time: each tick once, and one after the other. */
async function ticks(): Promise<void> {
  const lease = await takeLease(connection, { work: 'ticks', clock, waits: () => {} })
  const fenced: Kv = fencedKv(kv, lease)
  for (;;) {
    await unlessAway(async () => {
      const last = Number((await kv.get(['last tick']))?.value ?? 0)
      const key = ['tick', last + 1]
      const stored = await fenced.commit({
        checks: [{ key, version: null }],
        sets: [
          { key, value: name },
          { key: ['last tick'], value: String(last + 1) },
        ],
      })
      if (stored) say(`tick ${last + 1}`)
    })
    await clock.sleep(TICK_MS)
  }
}

say('ready')
await Promise.all([ticks(), ...Array.from({ length: WRITERS }, (_, writer) => writes(writer))])
