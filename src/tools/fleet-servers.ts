// `bun run fleet-test --servers N`: servers that serve one database under load while some of them are killed all the time.
//
// Every request goes to any of them and is repeated, with the same Idempotency-Key, until one has answered it. At the end
// what was answered is held against what is stored, the firings of alerts against the bars that were sent, and what a
// receiver of webhooks was sent against the deliveries. Meanwhile the database is asked whether every shard has a server.

import { SQL } from 'bun'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { postgresProxy, type Proxy } from '../../tests/store/postgres-proxy.ts'
import { patientClock } from '../../tests/store/postgres-stores.ts'
import { startPgbouncer } from '../../tests/store/pgbouncer.ts'
import type { OwnPostgres } from '../../tests/store/postgres-server.ts'
import type { Delivery } from '../notify/webhooks/deliveries.ts'
import type { Firing } from '../notify/alerts/alert.ts'
import type { Notification } from '../notify/channels/channel.ts'
import type { InboxMessage } from '../notify/channels/inboxes.ts'
import type { Key, Kv } from '../store/kv.ts'
import { connect } from '../store/postgres/connection.ts'
import { LEASE_MS } from '../store/postgres/lease.ts'
import { postgresKv } from '../store/postgres/postgres-kv.ts'
import { type Below, type Blow, saidOfBlows, strike, type Rhythm } from './fleet-blows.ts'
import { Live } from './fleet-live.ts'
import { Load } from './fleet-load.ts'
import { Exchange, Service } from './fleet-services.ts'
import {
  seconds,
  serverFindings,
  silentBars,
  Silence,
  type Idea,
  type Series,
  type ServerStore,
} from './fleet-verdict.ts'
import { Work } from './fleet-work.ts'

export interface ServersOptions {
  readonly servers: number
  readonly seed: number
  readonly random: Below
  /** What is done to the servers and the database, in this order. */
  readonly blows: readonly Blow[]
  /** The time within which every shard must have a server again. */
  readonly withinMs: number
  /** Built executables: a server that is started again takes the next one. None = the source. */
  readonly programs: readonly string[]
  /** Whether they reach the database by way of pgbouncer in transaction mode. */
  readonly pgbouncer: boolean
  startDatabase(): Promise<OwnPostgres>
  /** How far off the clock of the first server is, as `faketime` takes it (+1h); null: it is right. */
  readonly clockOff: string | null
}

const WRITERS = 4
const PATIENCE_MS = 200_000
const RHYTHM: Rhythm = {
  pause: [500, 2000],
  outage: [8000, 4000],
  partition: [500, 6000],
  say: (what) => console.log(`${new Date().toISOString()} ${what}`),
}

/** How servers are run. */
interface Program extends Pick<ServersOptions, 'programs' | 'clockOff'> {
  readonly folder: string
  /** Where it asks for live bars. */
  readonly exchange: string
}

const SOURCE = [process.execPath, `${import.meta.dir}/../main.ts`]

class Server {
  readonly proxy: Proxy
  readonly name: string
  readonly #program: Program
  #starts = 0
  #child: Bun.Subprocess<'ignore', 'ignore', 'pipe'> | null = null
  base: string | null = null
  /** How often it ended by itself, because the others had taken it for dead. */
  buried = 0
  #isWanted = false
  #said = ''

  constructor(name: string, url: string, program: Program) {
    this.name = name
    this.#program = program
    this.proxy = postgresProxy(url)
  }

  /** Resolves once it is at work. Whenever it ends by itself it is started again, as a supervisor would. */
  async start(): Promise<void> {
    this.#isWanted = true
    const { folder, programs, clockOff, exchange } = this.#program
    const data = `${folder}/${this.name}`
    mkdirSync(data, { recursive: true })
    const built = programs[this.#starts++ % programs.length]
    // faketime starts the program as a child of its own, which would outlive it.
    const faked =
      clockOff === null
        ? []
        : ['faketime', '--exclude-monotonic', '-f', clockOff, 'setpriv', '--pdeathsig=SIGKILL']
    const program = built === undefined ? SOURCE : [built]
    const child = Bun.spawn([...faked, ...program, 'serve', '--port', '0'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: data,
      env: {
        ...process.env,
        STORE: this.proxy.url,
        DATA_DIR: data,
        KEY_FILE: `${folder}/shared.key`,
        WEBHOOK_ALLOW: 'loopback',
        FLEET_EXCHANGE: exchange,
        BUN_OPTIONS: `--preload=${import.meta.dir}/fleet-network.ts`,
        WORKERS: '1',
        SIGNUP: 'open',
        RATE_USER: '0',
        RATE_ANONYMOUS: '0',
      },
    })
    this.#child = child
    const ready = Promise.withResolvers<void>()
    void this.#listen(child.stderr, ready.resolve)
    await Promise.race([ready.promise, child.exited])
    void child.exited.then(async () => {
      if (this.#child !== child) return
      this.base = null
      if (!this.#isWanted) return
      this.buried++
      await this.start()
    })
  }

  async kill(): Promise<void> {
    this.#isWanted = false
    this.base = null
    this.#child?.kill('SIGKILL')
    await this.#child?.exited
  }

  async #listen(stream: ReadableStream<Uint8Array>, ready: () => void): Promise<void> {
    this.#said = ''
    const child = this.#child
    for await (const bytes of stream) {
      // What is left of a server that is gone.
      if (this.#child !== child || !this.#isWanted) continue
      this.#said = (this.#said + new TextDecoder().decode(bytes)).slice(-4000)
      const port = /"message":"listening".*"port":(\d+)/.exec(this.#said)?.[1]
      if (port === undefined || this.base !== null) continue
      this.base = `http://127.0.0.1:${port}`
      ready()
    }
  }

  /** Whether it answers, and the last of what it has said. */
  async state(): Promise<string> {
    const paths = this.base === null ? [] : ['/api/health', '/api/ready']
    const answers = await Promise.all(paths.map((path) => stateOf(this.base + path)))
    const last = this.#said.trim().split('\n').slice(-4)
    return [`${this.name} (process ${this.#child?.pid})`, ...answers, ...last].join('\n    ')
  }
}

async function stateOf(url: string): Promise<string> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5000) })
    return `${answer.status} ${(await answer.text()).slice(0, 300)}`
  } catch (error) {
    return String(error)
  }
}

/** Looks all the time whether every shard has a server. */
class Watch {
  readonly silence = new Silence()
  readonly #sql: SQL
  #isOver = false
  readonly #running: Promise<void>

  constructor(url: string) {
    this.#sql = new SQL(url, { max: 1 })
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
    await this.#sql.close()
  }

  async #run(): Promise<void> {
    for (; !this.#isOver; await Bun.sleep(50)) {
      const [row] = await this.#sql
        .unsafe(
          `select json_agg(
             extract(epoch from clock_timestamp() - l.until)::float8 * 1000 + ${LEASE_MS} order by s.shard) as silent
           from chartroom.shards s left join chartroom.leases l on l.work = s.holder`,
        )
        .catch(() => [{ silent: [] }])
      this.silence.look(performance.now(), row.silent)
    }
  }
}

export async function fleetOfServers(options: ServersOptions): Promise<number> {
  const { random, blows, withinMs, pgbouncer } = options
  const postgres = await options.startDatabase()
  const folder = mkdtempSync(`${tmpdir()}/chartroom-fleet-`)
  const receiver = new Service(random, 'webhook-id', (body) => JSON.parse(body).data.firingId as string)
  const phone = new Service(random, 'idempotency-key', () => '')
  const exchange = new Exchange()
  const between = pgbouncer ? startPgbouncer(postgres.url) : null
  const servers = await serversOf(options, folder, between?.url ?? postgres.url, exchange)
  const load = new Load(servers, random, (request, answers) => told(request, answers, servers, postgres.url))
  const work = new Work(load, phone)
  const live = new Live(load, exchange)
  await prepare(load, receiver, work, live)
  const watch = new Watch(postgres.url)
  const working = Promise.all([work.run(), load.run(WRITERS)])
  const counts = await strike(blows, servers, postgres, random, RHYTHM)
  await Bun.sleep(1000)
  load.isOver = true
  await working
  exchange.close()
  const forward = await work.forward()
  const streamed = await live.shown((series) => load.read(series))
  const series = [...(await load.allShown()), ...streamed]
  const kv = postgresKv(
    await connect({ url: postgres.url, clock: patientClock, random: bytes, node: 'watcher' }),
  )
  const stored = await settled(
    kv,
    series.map(([one]) => one),
  )
  await watch.stop()
  const { wrong, reads, kept, deleted } = load
  const { silence } = watch
  const findings = serverFindings({
    ...stored,
    wrong,
    reads,
    kept,
    deleted,
    series,
    hook: receiver,
    phone,
    phoneExchange: 'T',
    asked: work.messages,
    results: work.results,
    forward,
    subscriptions: exchange.subscriptions,
    longestTwiceMs: exchange.twice.longestMs,
    silence,
    withinMs,
  })
  const buried = servers.reduce((sum, server) => sum + server.buried, 0)
  console.log(
    `seed ${options.seed}; ${servers.length} servers; ${saidOfBlows(counts)}; ${buried} ended since the others took them for gone`,
  )
  say(load, work, live, receiver, silence, stored, findings)
  await Promise.all(servers.map((server) => server.kill()))
  for (const { proxy } of servers) proxy.stop()
  for (const service of [receiver, phone, exchange]) service.stop()
  await kv.close()
  await between?.stop()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
  return findings.length === 0 ? 0 : 1
}

/** All of them, at work. */
async function serversOf(
  { servers: count, programs, clockOff }: ServersOptions,
  folder: string,
  url: string,
  exchange: Exchange,
): Promise<Server[]> {
  const servers = Array.from({ length: count }, (_, i) => {
    const name = `s${i}`
    const off = i === 0 ? clockOff : null
    return new Server(name, url, { folder, programs, clockOff: off, exchange: exchange.urlFor(name) })
  })
  // The first one makes schema and key, the others find them.
  await servers[0]?.start()
  await Promise.all(servers.slice(1).map((server) => server.start()))
  return servers
}

function say(
  load: Load<Server>,
  work: Work,
  live: Live,
  receiver: Service,
  silence: Silence,
  { firings }: ServerStore,
  findings: readonly string[],
): void {
  console.log(
    `${load.acknowledged} changes acknowledged, ${load.barCount} bars among them; ${load.reads.length} read back from the server that made them, ${load.remembered} were answered from memory; ${firings.length} firings, ${receiver.ids.size} sent, ${receiver.refused} refused at first, ${receiver.repeated} taken more than once; ${load.repeated} requests repeated, the longest was answered after ${seconds(load.longestMs)}; longest until a shard had another server ${seconds(silence.longestMs)}`,
  )
  console.log(work.said)
  console.log(live.said)
  for (const finding of findings.slice(0, 20)) console.log(finding)
  console.log(`${findings.length} findings`)
}

/** Says what everybody waits for while a request is not answered. */
async function told(
  request: string,
  answers: ReadonlyMap<string, number>,
  servers: readonly Server[],
  url: string,
): Promise<void> {
  const sql = new SQL(url, { max: 1 })
  const states = await Promise.all(servers.map((server) => server.state()))
  const statements = await sql
    .unsafe(
      `select pid, state, wait_event_type || ' ' || wait_event as waits, now() - query_start as since, left(query, 100) as query
       from pg_stat_activity where state is distinct from 'idle' and backend_type = 'client backend' and pid <> pg_backend_pid()`,
    )
    .catch((error: unknown) => [String(error)])
  await sql.close({ timeout: 0 })
  console.log(`${new Date().toISOString()} ${request}: ${JSON.stringify(Object.fromEntries(answers))}`)
  for (const state of states) console.log(`  ${state}`)
  for (const statement of statements) console.log(`  ${JSON.stringify(statement)}`)
}

const bytes = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }

async function prepare(load: Load<Server>, receiver: Service, work: Work, live: Live): Promise<void> {
  // From this machine the first account needs no invitation.
  await load.ask('POST', '/api/auth/sign-up', {
    email: 'owner@example.com',
    password: 'correct horse battery',
  })
  const hook = await load.ask('POST', '/api/platform/webhooks', {
    name: 'test',
    url: receiver.url,
    events: ['alert.triggered'],
  })
  if (hook.status !== 200) throw new Error(`no webhook: ${JSON.stringify(hook.json)}`)
  await work.prepare()
  await load.setAlerts(work.channelId)
  await live.prepare()
}

/** What is stored once all bars have been looked at and all deliveries sent. */
async function settled(kv: Kv, series: readonly Series[]): Promise<ServerStore> {
  let until = 0
  for (let before = -1; ;) {
    const firings = await recordsOf<Firing>(kv, 'firings')
    const deliveries = await recordsOf<Delivery>(kv, 'deliveries')
    const notifications = await recordsOf<Notification>(kv, 'notifications')
    const sent = [...deliveries, ...notifications]
    const done = firings.length + sent.filter(({ state }) => state !== 'pending').length
    // As long as something happens, a busy machine is only slow.
    if (done > before) until = performance.now() + PATIENCE_MS
    before = done
    const isDone = done === firings.length + sent.length && silentBars(series, firings).length === 0
    if (isDone || performance.now() > until) {
      const ideas = await recordsOf<Idea>(kv, 'ideas')
      const messages = await recordsOf<InboxMessage>(kv, 'inbox-messages')
      return {
        firings,
        deliveries,
        notifications,
        messages,
        ideas,
      }
    }
    await Bun.sleep(200)
  }
}

async function recordsOf<T>(kv: Kv, collection: string): Promise<T[]> {
  const found: T[] = []
  for (let after: Key | undefined; ;) {
    const page = await kv.list({ prefix: [collection, 'id'] }, { limit: 1000, ...(after && { after }) })
    found.push(...page.map(({ value }) => JSON.parse(value) as T))
    after = page.at(-1)?.key
    if (page.length < 1000) return found
  }
}
