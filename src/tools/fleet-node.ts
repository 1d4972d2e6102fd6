// One of the nodes of `bun run fleet-test`: writes as fast as it is answered, and says what was answered.
//
// Every line that it prints is a fact the history is checked against: `ack` for a write that was stored, `twice` for one
// that found itself in the store already, `stale` for an own write that was not read back, `away` for a refusal.

import { hostname } from 'node:os'
import { fencedKv, takeLease } from '../store/postgres/lease.ts'
import { connect, type Connection, type PostgresOptions } from '../store/postgres/connection.ts'
import { postgresKv } from '../store/postgres/postgres-kv.ts'
import type { Kv } from '../store/kv.ts'
import { DataRefused } from '../store/data-refused.ts'
import { Problem } from '../lib/problem.ts'

const WRITERS = 8
const COUNTERS = 5
const TICK_MS = 50
const STARTS = 5

type Say = (line: string) => void

const clock = {
  now: () => performance.now(),
  sleep: (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
    }),
}

async function unlessAway(say: Say, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'store_unavailable') throw error
    say('away')
  }
}

/** A record that must not be there, and a counter of all records. */
export async function write(kv: Pick<Kv, 'commit' | 'get'>, say: Say, id: string, counter: number) {
  const key = ['op', id]
  const stored = await kv.commit({
    checks: [{ key, version: null }],
    sets: [{ key, value: id }],
    sums: [{ key: ['count', counter], step: 1 }],
  })
  say(stored ? `ack ${id}` : `twice ${id}`)
  if ((await kv.get(key))?.value !== id) say(`stale ${id}`)
}

/** Work that only one node does at a time: each tick once, and one after the other. */
async function ticks(connection: Connection, kv: Kv, say: Say, name: string): Promise<void> {
  for (; ; await clock.sleep(TICK_MS))
    await unlessAway(say, async () => {
      const lease = await takeLease(connection, { work: 'ticks', clock, waits: () => {} })
      const lost = new AbortController()
      void lease.lost.then(() => lost.abort())
      for (; !lost.signal.aborted; await clock.sleep(TICK_MS))
        await unlessAway(say, () => tick(fencedKv(kv, lease), say, name))
    })
}

async function tick(fenced: Kv, say: Say, name: string): Promise<void> {
  const last = Number((await fenced.get(['last tick']))?.value ?? 0)
  const key = ['tick', last + 1]
  const stored = await fenced.commit({
    checks: [{ key, version: null }],
    sets: [
      { key, value: name },
      { key: ['last tick'], value: String(last + 1) },
    ],
  })
  if (stored) say(`tick ${last + 1}`)
}

/** A machine that stands still for longer than a start is patient is no finding. */
async function untilConnected(options: PostgresOptions): Promise<Connection> {
  for (let tries = 1; ; tries++)
    try {
      return await connect(options)
    } catch (error) {
      if (!(error instanceof DataRefused) || tries === STARTS) throw error
      await clock.sleep(TICK_MS)
    }
}

async function main(url: string, name: string): Promise<void> {
  const random = { bytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)) }
  const connection = await untilConnected({ url, clock, random, node: `${hostname()}-${name}` })
  const kv = postgresKv(connection)
  const say = (line: string) => void process.stdout.write(`${line}\n`)
  const writes = async (writer: number) => {
    for (let i = 0; ; i++)
      await unlessAway(say, () => write(kv, say, `${name}.${writer}.${i}`, (writer + i) % COUNTERS))
  }
  say('ready')
  await Promise.all([
    ticks(connection, kv, say, name),
    ...Array.from({ length: WRITERS }, (_, writer) => writes(writer)),
  ])
}

if (import.meta.main) {
  const [url = '', name = ''] = process.argv.slice(2)
  await main(url, name)
}
