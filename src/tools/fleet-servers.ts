// `bun run fleet-test --servers N`: servers that serve one database under load while some of them are killed all the time.
//
// Every request goes to any of them and is repeated, with the same Idempotency-Key, until one has answered it. At the end
// what was answered is held against what is stored, the firings of alerts against the bars that were sent, and what a
// receiver of webhooks was sent against the deliveries. Meanwhile the database is asked whether every shard has a server.

import { SQL } from 'bun'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { postgresProxy, type Proxy } from '../../tests/store/postgres-proxy.ts'
import { realClock } from '../../tests/store/postgres-stores.ts'
import { startPgbouncer } from '../../tests/store/pgbouncer.ts'
import type { OwnPostgres } from '../../tests/store/postgres-server.ts'
import type { Delivery } from '../webhooks/deliveries.ts'
import type { Firing } from '../alerts/alert.ts'
import type { Notification } from '../channels/channels.ts'
import type { InboxMessage } from '../channels/inboxes.ts'
import type { Key, Kv } from '../store/kv.ts'
import { SHARDS } from '../lib/shards.ts'
import { connect } from '../store/postgres/connection.ts'
import { LEASE_MS } from '../store/postgres/lease.ts'
import { postgresKv } from '../store/postgres/postgres-kv.ts'
import type { Blow } from './fleet-test.ts'
import { Phone, Work } from './fleet-work.ts'

export interface ServersOptions {
  readonly servers: number
  readonly seed: number
  readonly random: (below: number) => number
  /** What is done to the servers and the database, in this order. */
  readonly blows: readonly Blow[]
  /** The time within which every shard must have a server again; null: only told, since a busy machine may take longer. */
  readonly withinMs: number | null
  /** Built executables: a server that is started again takes the next one. None = the source. */
  readonly programs: readonly string[]
  /** Whether they reach the database by way of pgbouncer in transaction mode. */
  readonly pgbouncer: boolean
  startDatabase(): Promise<OwnPostgres>
  /** How far off the clock of the first server is, as `faketime` takes it (+1h); null: it is right. */
  readonly clockOff: string | null
}

const SYMBOLS = 6
const WRITERS = 4
/** How many ideas a writer makes: all writers together stay below what a user may have. */
const IDEAS_MAX = 450
const HOUR_MS = 3_600_000
const PATIENCE_MS = 200_000
/** A request whose server was stopped in the middle of it is given up after this long. */
const REQUEST_MS = 15_000
/** How often we say what an unanswered request is waiting for. */
const SLOW_MS = 20_000

/** How servers are run. */
interface Program extends Pick<ServersOptions, 'programs' | 'clockOff'> {
  readonly folder: string
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
    const { folder, programs, clockOff } = this.#program
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
        FEEDS: 'off',
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

/** Takes what is sent, and knows each message by its id. */
class Receiver {
  /** Ids of messages by firing. */
  readonly messages = new Map<string, Set<string>>()
  requests = 0
  readonly #server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { data } = (await request.json()) as { data: { firingId: string } }
      const ids = this.messages.get(data.firingId) ?? new Set()
      this.messages.set(data.firingId, ids.add(request.headers.get('webhook-id') ?? ''))
      this.requests++
      return new Response('ok')
    },
  })

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/`
  }

  stop(): void {
    void this.#server.stop(true)
  }
}

interface Answered {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
  readonly server: Server
}

class Load {
  readonly #servers: readonly Server[]
  readonly #random: (below: number) => number
  headers: Readonly<Record<string, string>> = {}
  /** Ideas by the id that was answered. */
  readonly acked = new Map<string, string>()
  readonly wrong: string[] = []
  /** Bars that were acknowledged, by symbol. */
  readonly bars = Array.from({ length: SYMBOLS }, () => 0)
  /** When each bar was acknowledged. */
  readonly ackedAt = new Map<string, string>()
  repeated = 0
  isOver = false
  /** The longest time that a request went without an answer, from whichever server. */
  longestMs = 0
  readonly #waiting: (path: string, answers: ReadonlyMap<string, number>) => Promise<void>

  /** `waiting` is told of a request that nobody answers, with how often it was refused and how. */
  constructor(
    servers: readonly Server[],
    random: (below: number) => number,
    waiting: (path: string, answers: ReadonlyMap<string, number>) => Promise<void>,
  ) {
    this.#servers = servers
    this.#random = random
    this.#waiting = waiting
  }

  /** Asks one server after the other until one answers something other than a refusal. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answered> {
    const from = performance.now()
    let toldAt = from
    const answers = new Map<string, number>()
    for (;;) {
      const server = this.#servers[this.#random(this.#servers.length)]
      const answered = server?.base ? await this.#asked(server, method, path, body, headers) : null
      const now = performance.now()
      if (answered && answered.status < 500 && answered.status !== 409) {
        this.longestMs = Math.max(this.longestMs, now - from)
        return answered
      }
      const said = `${server?.name} ${answered ? `${answered.status} ${answered.json?.error?.code}` : (server?.base ?? 'no port')}`
      answers.set(said, (answers.get(said) ?? 0) + 1)
      if (now - from > PATIENCE_MS) {
        this.wrong.push(`${method} ${path} was never answered`)
        throw new Error(`${method} ${path} was not answered`)
      }
      if (now - toldAt > SLOW_MS) {
        toldAt = now
        await this.#waiting(`${method} ${path} for ${seconds(now - from)}`, answers)
      }
      this.repeated++
      await Bun.sleep(50)
    }
  }

  async #asked(
    server: Server,
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answered | null> {
    try {
      const response = await fetch(server.base + path, {
        method,
        headers: { 'content-type': 'application/json', ...this.headers, ...headers },
        signal: AbortSignal.timeout(REQUEST_MS),
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      const cookie = /^[^;]+/.exec(response.headers.get('set-cookie') ?? '')?.[0]
      if (cookie !== undefined) this.headers = { cookie }
      return { status: response.status, json: text.startsWith('{') ? JSON.parse(text) : null, server }
    } catch {
      return null
    }
  }

  /** Ideas, each of which must be there once it is acknowledged: at once on the server that did it. */
  async write(writer: number): Promise<void> {
    for (let i = 0; !this.isOver && i < IDEAS_MAX; i++) {
      const title = `idea ${writer}.${i}`
      const { status, json, server } = await this.ask(
        'POST',
        '/api/platform/ideas',
        { title, body: 'x', visibility: 'private' },
        { 'idempotency-key': title },
      )
      if (status !== 200) {
        this.wrong.push(`${title} was answered ${status}: ${JSON.stringify(json)}`)
        continue
      }
      this.acked.set(json.id, title)
      const read = await this.#asked(server, 'GET', `/api/platform/ideas/${json.id}`, undefined, {})
      if (read?.status === 404)
        this.wrong.push(`stale: ${title} was not read by the server that had stored it`)
    }
  }

  /** One bar after the other, each of which fires the alert of its symbol. */
  async feed(symbol: number): Promise<void> {
    while (!this.isOver) {
      const time = START + (this.bars[symbol] ?? 0) * HOUR_MS
      const { status, json } = await this.ask(
        'POST',
        `/api/platform/bars/import?exchange=T&symbol=S${symbol}&interval=1h`,
        `time,open,high,low,close,volume\n${time},10,12,9,11,5\n`,
        { 'content-type': 'text/csv' },
      )
      if (status === 200) {
        this.bars[symbol] = (this.bars[symbol] ?? 0) + 1
        this.ackedAt.set(`${symbol} ${time}`, new Date().toISOString())
      }
      if (status !== 200) this.wrong.push(`a bar was answered ${status}: ${JSON.stringify(json)}`)
      await Bun.sleep(20)
    }
  }
}
const START = Date.UTC(2020, 0, 1)

/** Measures how long a shard was without a server: from the last sign of life of one to the first of the next. */
class Watch {
  longestMs = 0
  readonly #sql: SQL
  /** null: the database was away. */
  #aliveAt: number | null = null
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

  /** While the database is away nobody does anything, and that is not the servers' fault. */
  async #run(): Promise<void> {
    for (let backAt = performance.now(); !this.#isOver; await Bun.sleep(50)) {
      const [row] = await this.#sql
        .unsafe(
          `select count(l.until)::int as held,
             extract(epoch from clock_timestamp() - min(l.until))::float8 * 1000 + ${LEASE_MS} as silent
           from chartroom.shards s left join chartroom.leases l on l.work = s.holder`,
        )
        .catch(() => [undefined])
      const now = performance.now()
      if (row === undefined) {
        backAt = Infinity
        this.#aliveAt = null
        continue
      }
      backAt = Math.min(backAt, now)
      if (row.held === SHARDS || this.#aliveAt === null) this.#aliveAt = Math.max(backAt, now - row.silent)
      this.longestMs = Math.max(this.longestMs, now - this.#aliveAt)
    }
  }
}

export async function fleetOfServers({
  servers: count,
  seed,
  random,
  blows,
  withinMs,
  programs,
  pgbouncer,
  startDatabase,
  clockOff,
}: ServersOptions): Promise<number> {
  const postgres = await startDatabase()
  const folder = mkdtempSync(`${tmpdir()}/chartroom-fleet-`)
  const receiver = new Receiver()
  const between = pgbouncer ? startPgbouncer(postgres.url) : null
  const servers = Array.from({ length: count }, (_, i) => {
    const program = { folder, programs, clockOff: i === 0 ? clockOff : null }
    return new Server(`s${i}`, between?.url ?? postgres.url, program)
  })
  // The first one makes schema and key, the others find them.
  await servers[0]?.start()
  await Promise.all(servers.slice(1).map((server) => server.start()))
  const load = new Load(servers, random, (request, answers) => told(request, answers, servers, postgres.url))
  const phone = new Phone(random)
  const work = new Work(load, phone)
  await prepare(load, receiver, work)
  const watch = new Watch(postgres.url)
  const working = [
    work.run(),
    ...Array.from({ length: WRITERS }, (_, writer) => load.write(writer)),
    ...Array.from({ length: SYMBOLS }, (_, symbol) => load.feed(symbol)),
  ]
  const counts = await struck(postgres, servers, blows, random)
  await Bun.sleep(1000)
  load.isOver = true
  await Promise.all(working)
  const forward = await work.forwardFindings()
  const kv = postgresKv(
    await connect({ url: postgres.url, clock: realClock, random: bytes, node: 'watcher' }),
  )
  const outcome = await settled(kv, load)
  await watch.stop()
  const findings = [
    ...load.wrong,
    ...findingsOf(load, receiver, outcome),
    ...forward,
    ...work.noticeFindings(outcome.notifications, outcome.firings, outcome.messages),
    ...(withinMs !== null && watch.longestMs > withinMs
      ? [`a shard had no server for ${seconds(watch.longestMs)}`]
      : []),
  ]
  const buried = servers.reduce((sum, server) => sum + server.buried, 0)
  const said = [...counts].map(([blow, number]) => `${blow} ${number}`).join(', ')
  console.log(`seed ${seed}; ${count} servers; ${said}; ${buried} ended since the others took them for gone`)
  console.log(
    `${load.acked.size} ideas acknowledged, ${load.bars.reduce((a, b) => a + b)} bars, ${outcome.firings.length} firings, ${receiver.requests} webhook requests for ${receiver.messages.size} firings; ${load.repeated} requests repeated, the longest was answered after ${seconds(load.longestMs)}; longest until a shard had another server ${seconds(watch.longestMs)}`,
  )
  console.log(work.said)
  for (const finding of findings.slice(0, 20)) console.log(finding)
  console.log(`${findings.length} findings`)
  await Promise.all(servers.map((server) => server.kill()))
  for (const { proxy } of servers) proxy.stop()
  receiver.stop()
  phone.stop()
  await kv.close()
  await between?.stop()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
  return findings.length === 0 ? 0 : 1
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
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

async function prepare(load: Load, receiver: Receiver, work: Work): Promise<void> {
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
  for (let symbol = 0; symbol < SYMBOLS; symbol++) {
    const alert = await load.ask('POST', '/api/platform/alerts', {
      name: `alert ${symbol}`,
      symbol: `S${symbol}`,
      exchange: 'T',
      interval: '1h',
      kind: 'price',
      op: 'above',
      price: 1,
      frequency: 'every_time',
      channels: ['webhook'],
      channelIds: [work.channelId],
    })
    if (alert.status !== 200) throw new Error(`no alert: ${JSON.stringify(alert.json)}`)
  }
}

async function struck(
  postgres: OwnPostgres,
  servers: readonly Server[],
  blows: readonly Blow[],
  random: (below: number) => number,
): Promise<Map<Blow, number>> {
  const counts = new Map<Blow, number>()
  for (const blow of blows) {
    await Bun.sleep(500 + random(2000))
    counts.set(blow, (counts.get(blow) ?? 0) + 1)
    const server = servers[random(servers.length)]
    if (!server) continue
    console.log(`${new Date().toISOString()} ${blow}${blow === 'crash' ? '' : ` ${server.name}`}`)
    if (blow === 'crash') await postgres.crash()
    else if (blow === 'kill') {
      await server.kill()
      await server.start()
    } else {
      if (blow === 'cut') server.proxy.close()
      else server.proxy.silence()
      await Bun.sleep(500 + random(6000))
      server.proxy.open()
    }
  }
  return counts
}

interface Outcome {
  readonly ideas: ReadonlyMap<string, string>
  readonly firings: readonly Firing[]
  readonly deliveries: readonly Delivery[]
  readonly notifications: readonly Notification[]
  readonly messages: readonly InboxMessage[]
}

/** What is stored once all bars have been looked at and all deliveries sent. */
async function settled(kv: Kv, load: Load): Promise<Outcome> {
  const wanted = load.bars.reduce((a, b) => a + b)
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
    const isDone = done === firings.length + sent.length && firings.length >= wanted
    if (isDone || performance.now() > until) {
      const ideas = await recordsOf<{ id: string; title: string }>(kv, 'ideas')
      const messages = await recordsOf<InboxMessage>(kv, 'inbox-messages')
      return {
        firings,
        deliveries,
        notifications,
        messages,
        ideas: new Map(ideas.map(({ id, title }) => [id, title])),
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

function findingsOf(load: Load, receiver: Receiver, { ideas, firings, deliveries }: Outcome): string[] {
  const lost = [...load.acked].filter(([id]) => !ideas.has(id)).map(([, title]) => `lost: ${title}`)
  const titles = [...ideas.values()]
  const twice = titles
    .filter((title, i) => titles.indexOf(title) !== i)
    .map((title) => `${title} was stored twice`)
  const fired = Map.groupBy(firings, ({ alertId, barTime }) => `${alertId} ${barTime}`)
  const again = [...fired].filter(([, all]) => all.length > 1).map(([name]) => `fired twice: ${name}`)
  const bars = load.bars.reduce((a, b) => a + b)
  // An alert is set before there are bars: the first of them is where it begins.
  const missing = fired.size >= bars ? [] : [`${bars} bars were acknowledged, and ${fired.size} fired`]
  const silent = load.bars.flatMap((count, symbol) => {
    const times = new Set(
      firings.filter((firing) => firing.symbol === `S${symbol}`).map(({ barTime }) => barTime),
    )
    return Array.from({ length: count }, (_, i) => START + i * HOUR_MS)
      .filter((time) => !times.has(time))
      .map(
        (time) =>
          `bar ${(time - START) / HOUR_MS} of S${symbol}, acknowledged ${load.ackedAt.get(`${symbol} ${time}`)}, did not fire`,
      )
  })
  const several = [...receiver.messages]
    .filter(([, ids]) => ids.size !== 1)
    .map(([firing, ids]) => `firing ${firing} was sent under ${ids.size} ids`)
  const unsent = firings
    .filter(({ id }) => !receiver.messages.has(id))
    .map(({ id }) => `firing ${id} was never sent`)
  const successes = deliveries
    .filter(({ attempts }) => attempts.filter(({ status }) => status >= 200 && status < 300).length !== 1)
    .map(
      ({ id, state, attempts }) =>
        `delivery ${id} (${state}) has ${attempts.length} attempts, not one success`,
    )
  return [...lost, ...twice, ...again, ...missing, ...silent, ...several, ...unsent, ...successes]
}
