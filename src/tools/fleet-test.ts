// `bun run fleet-test [--kills N] [--crashes N] [--outages N] [--partitions N] [--nodes N] [--servers N]`: several nodes on
// one PostgreSQL, of which some are killed all the time; the history of what they were answered is then held against what is
// stored. Nodes run the store alone; servers (`fleet-servers.ts`) run everything.
//
// It brings PostgreSQL along and runs as anybody. The load is what a machine can bear: counts and invariants are what it
// shows, not speed.

import { resolve } from 'node:path'
import { postgresProxy, type Proxy } from '../../tests/store/postgres-proxy.ts'
import { patientClock } from '../../tests/store/postgres-stores.ts'
import { startPatroni } from '../../tests/store/patroni.ts'
import { startPostgres } from '../../tests/store/postgres-server.ts'
import { ChangeFeed } from '../store/postgres/feed.ts'
import { connect } from '../store/postgres/connection.ts'
import { postgresKv } from '../store/postgres/postgres-kv.ts'
import type { Key, Kv } from '../store/kv.ts'
import { silentLog } from '../lib/log.ts'
import { seededRandom } from '../lib/seeded-random.ts'
import { commandLine, wholeNumber } from './command-line.ts'
import { type Below, type Blow, blowsOf, type Rhythm, saidOfBlows, strike } from './fleet-blows.ts'
import { fleetOfServers } from './fleet-servers.ts'
import { nodeFindings, NodeHistory, seconds } from './fleet-verdict.ts'

const HELP = `bun run fleet-test [--kills N] [--crashes N] [--outages N] [--partitions N] [--nodes N] [--servers N] [--seed S]

Several nodes on one PostgreSQL, which comes along. Ends with 1 if anything that was answered is not so.

  --kills N        How often a node is killed (5)
  --crashes N      How often the database is killed (1)
  --outages N      How often the database is killed and stays away for 8 to 12 s (0)
  --partitions N   How often a node is cut off from the database (2)
  --nodes N        How many nodes of the store alone; without --servers or this, three, and then as many servers
  --servers N      How many whole servers, that all serve at a time
  --program PATH   A built executable that the servers run, else the source; with several, each start takes the next
  --pgbouncer      Servers reach the database by way of pgbouncer in transaction mode, which has to be installed
  --patroni        The database is three copies under Patroni: to kill it is to kill the copy that takes writes, and another
                   has to take over; takes patroni, etcd and PostgreSQL, which have to be installed
  --clock T        The clock of the first server is off by T, such as +1h; takes faketime, which has to be installed
  --within N       Every shard must have a server again after N seconds (10)
  --seed S         Whom it hits, and in which order`

const { values: flags } = commandLine(HELP, {
  kills: { type: 'string' },
  crashes: { type: 'string' },
  outages: { type: 'string' },
  partitions: { type: 'string' },
  nodes: { type: 'string' },
  servers: { type: 'string' },
  program: { type: 'string', multiple: true },
  pgbouncer: { type: 'boolean' },
  patroni: { type: 'boolean' },
  clock: { type: 'string' },
  within: { type: 'string' },
  seed: { type: 'string' },
})
const number = (
  name: 'kills' | 'crashes' | 'outages' | 'partitions' | 'nodes' | 'servers' | 'within' | 'seed',
  fallback: number,
) => wholeNumber(HELP, name, flags[name]) ?? fallback

const PATIENCE_MS = 30_000
const RHYTHM: Rhythm = { pause: [400, 1200], outage: [10_000, 0], partition: [500, 1500] }

class Node {
  readonly proxy: Proxy
  readonly #history: NodeHistory
  readonly name: string
  #lives = 0
  #child: Bun.Subprocess<'ignore', 'pipe', 'inherit'> | null = null

  constructor(name: string, url: string, history: NodeHistory) {
    this.name = name
    this.#history = history
    this.proxy = postgresProxy(url)
  }

  /** Resolves once it is at work. */
  async start(): Promise<void> {
    const life = `${this.name}-${this.#lives++}`
    const child = Bun.spawn([process.execPath, `${import.meta.dir}/fleet-node.ts`, this.proxy.url, life], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#child = child
    const ready = Promise.withResolvers<void>()
    void this.#listen(child.stdout, ready.resolve)
    void child.exited.then((code) => {
      if (this.#child === child) this.#history.wrong.push(`${life} ended by itself with ${code}`)
    })
    await Promise.race([ready.promise, child.exited])
  }

  async kill(): Promise<void> {
    const child = this.#child
    this.#child = null
    child?.kill('SIGKILL')
    await child?.exited
  }

  async #listen(stream: ReadableStream<Uint8Array>, ready: () => void): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const bytes of stream) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === 'ready') ready()
        this.#history.hear(line, performance.now())
      }
    }
  }
}

/** Every third partition is one in which nothing is refused, and nothing answered. */
function blows(random: Below): Blow[] {
  const partitions = number('partitions', 2)
  const silences = Math.floor(partitions / 3)
  const counts = {
    kill: number('kills', 5),
    crash: number('crashes', 1),
    outage: number('outages', 0),
    cut: partitions - silences,
    silence: silences,
  }
  return blowsOf(counts, random)
}

async function allOf(kv: Kv, prefix: Key): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  let after: { after?: Key } = {}
  for (;;) {
    const page = await kv.list({ prefix }, { limit: 5000, ...after })
    for (const { key, value } of page) found.set(String(key[1]), value)
    const last = page.at(-1)
    if (page.length < 5000 || !last) return found
    after = { after: last.key }
  }
}

async function main(): Promise<number> {
  const seed = number('seed', Math.floor(Math.random() * 2 ** 31))
  const isBoth = flags.nodes === undefined && flags.servers === undefined
  const [nodes, servers] = [number('nodes', isBoth ? 3 : 0), number('servers', isBoth ? 3 : 0)]
  const ofNodes = nodes > 0 ? await fleetOfNodes(nodes, seed) : 0
  return ofNodes || (servers > 0 ? await ofServers(servers, seed) : 0)
}

const startDatabase = () => (flags.patroni === true ? startPatroni() : startPostgres())

function ofServers(servers: number, seed: number): Promise<number> {
  const random = seededRandom(seed).below
  return fleetOfServers({
    servers,
    seed,
    random,
    blows: blows(random),
    withinMs: number('within', 10) * 1000,
    programs: (flags.program ?? []).map((path) => resolve(path)),
    pgbouncer: flags.pgbouncer === true,
    startDatabase,
    clockOff: flags.clock ?? null,
  })
}

async function fleetOfNodes(count: number, seed: number): Promise<number> {
  const random = seededRandom(seed).below
  const postgres = await startDatabase()
  const clock = { now: () => performance.now(), sleep: nap }
  const watcher = await connect({
    url: postgres.url,
    clock: patientClock,
    random: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
    node: 'watcher',
  })
  const kv = postgresKv(watcher)
  const feed = new ChangeFeed(watcher)
  const heard = new Map<string, number>()
  feed.onChange(({ keys }) => {
    for (const [kind, id] of keys) if (kind === 'op') heard.set(String(id), (heard.get(String(id)) ?? 0) + 1)
  })
  const over = new AbortController()
  // The first read says where the feed begins, which has to be before anybody has written.
  await feed.read()
  const following = feed.run({ clock, log: silentLog }, over.signal)

  const history = new NodeHistory()
  const nodes = Array.from({ length: count }, (_, i) => new Node(`n${i}`, postgres.url, history))
  await Promise.all(nodes.map((node) => node.start()))
  const counts = await strike(blows(random), nodes, postgres, random, RHYTHM)
  // So that the last takeover is seen as well.
  history.lastBlow()
  for (let waited = 0; !history.hasTickedSince && waited < PATIENCE_MS; waited += 50) await Bun.sleep(50)
  await Promise.all(nodes.map((node) => node.kill()))
  const stored = await settled(kv)
  for (let waited = 0; !stored.keys().every((id) => heard.has(id)) && waited < PATIENCE_MS; waited += 50)
    await Bun.sleep(50)
  over.abort()
  await following

  const ticks = await allOf(kv, ['tick'])
  const counted = (await allOf(kv, ['count'])).values().reduce((sum, value) => sum + Number(value), 0)
  const findings = nodeFindings(history, {
    writes: new Set(stored.keys()),
    ticks: new Set(ticks.keys()),
    counted,
    heard,
  })
  console.log(`seed ${seed}; ${nodes.length} nodes; ${saidOfBlows(counts)}`)
  console.log(
    `${stored.size} writes stored, ${history.acked.size} of them acknowledged; ${history.away} refused with 503; ${ticks.size} ticks by lease, longest gap ${seconds(history.longestGapMs)}`,
  )
  for (const finding of findings.slice(0, 20)) console.log(finding)
  console.log(`${findings.length} findings`)
  for (const { proxy } of nodes) proxy.stop()
  await watcher.close()
  await postgres.stop()
  return findings.length === 0 ? 0 : 1
}

/** What is stored once nothing is on its way any more: a write whose node was killed may still come to its end. */
async function settled(kv: Kv): Promise<Map<string, string>> {
  for (let before = -1; ;) {
    const stored = await allOf(kv, ['op'])
    if (stored.size === before) return stored
    before = stored.size
    await Bun.sleep(300)
  }
}

async function nap(ms: number, signal?: AbortSignal): Promise<void> {
  const woken = Promise.withResolvers<void>()
  const timer = setTimeout(woken.resolve, ms)
  signal?.addEventListener('abort', () => woken.resolve(), { once: true })
  if (signal?.aborted) woken.resolve()
  await woken.promise
  clearTimeout(timer)
}

process.exit(await main())
