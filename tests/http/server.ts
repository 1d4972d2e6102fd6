// The whole HTTP application on a map, a clock that is turned by hand and randomness that repeats.

import { noteAnswered } from './answered-operations.ts'
import { documentedAnswers } from './documented.ts'
import { appendFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { DEFAULT_RATES, type RatePolicies } from '../../src/http/limits.ts'
import { addressList } from '../../src/http/peer.ts'
import type { FleetView, Services } from '../../src/http/deps.ts'
import type { FeatureDeps } from '../../src/server/feature-deps.ts'
import { createFeatures } from '../../src/server/features.ts'
import { createApi } from '../../src/http/index.ts'
import { JobPool } from '../../src/work/workers/pool.ts'
import { idSource } from '../../src/lib/ids.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { Shards } from '../../src/lib/shards.ts'
import { BarCache } from '../../src/market/bar-cache.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import type { FinishedHook } from '../../src/work/runs/commits.ts'
import { Runs } from '../../src/work/runs/runs.ts'
import { ARTICLES } from '../../src/people/support/articles.ts'
import { searchHere } from '../people/search/search-here.ts'
import { parseAllowList } from '../../src/notify/webhooks/address.ts'
import type { Kv } from '../../src/store/kv.ts'
import type { SweepNodes } from '../../src/work/sweeps/offers.ts'
import { resultTried } from '../../src/work/sweeps/tries.ts'
import { storeOf } from '../store/own-database.ts'
import { testBars, testKv } from '../store/test-store.ts'
import { lentWorkers } from '../work/workers/lent-worker.ts'

/**
 * Elysia collects garbage for each application that it makes: once in a server, and nine hundred times in the tests, where it
 * was a quarter of the processor that suites of the API took: six files 20.2 seconds, and 15.3 without (medians of three).
 */
const { gc } = Bun
Bun.gc = (now) => (now ? gc(now) : 0)

export class FakeClock {
  time = Date.UTC(2026, 0, 1)
  now(): number {
    return this.time
  }
  /** Who can be woken is woken by nobody else: a limit of time is not reached in a test that does not turn the clock. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (!signal) this.time += ms
    else if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  }
  advance(ms: number): void {
    this.time += ms
  }
}

/** xorshift32: bytes that are the same on every run. */
function fakeRandom(seed = 1) {
  let state = seed
  return {
    bytes(length: number): Uint8Array {
      return Uint8Array.from({ length }, () => {
        state ^= state << 13
        state ^= state >>> 17
        state ^= state << 5
        return state & 255
      })
    },
  }
}

/** Not a hash; the real one takes 24 ms and has its own test. */
const fakePasswords = {
  hash: async (password: string) => `hash of ${password}`,
  verify: async (password: string, hash: string) => hash === `hash of ${password}`,
}

const lent = (file: string) => lentWorkers(new URL(`../work/workers/${file}`, import.meta.url))
const standInWorker = lent('fake-worker.ts')
const realWorker = lent('real-worker-child.ts')

/** Seals nothing; the real one has its own test. */
const sealedByNobody = { seal: async (text: string) => text, open: async (text: string) => text }

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body, as loosely typed as what comes over a wire. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

export interface Call {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The executable to talk to instead of the app in this process: `tests/executable/api.test.ts` runs suites that touch
 * nothing but answers against it.
 */
const EXECUTABLE = process.env['CHARTROOM_EXECUTABLE']

/**
 * Where the servers that were started are written down, a line each: process and folder. Whoever runs the suites ends
 * them, for a test process is not told of its own end.
 */
const SERVERS = process.env['CHARTROOM_SERVERS']

/** One for all tests of a process, each of which signs up others. */
let started: Promise<string> | null = null
let worlds = 0

async function start(executable: string): Promise<string> {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-api-`)
  const unlimited = Object.keys(DEFAULT_RATES).flatMap((rate) => [`--rate-${rate}`, '1000000'])
  const flags = ['--port', '0', '--signup', 'open', '--feeds', 'off', '--data-dir', folder, ...unlimited]
  const env = { ...process.env, ...(await storeOf(folder)) }
  const child = Bun.spawn([executable, 'serve', ...flags], { stdout: 'ignore', stderr: 'pipe', env })
  if (SERVERS !== undefined) appendFileSync(SERVERS, `${child.pid} ${folder}\n`)
  child.unref()
  let said = ''
  for await (const chunk of child.stderr) {
    said += new TextDecoder().decode(chunk)
    const port = /"port":(\d+)/.exec(said)?.[1]
    if (port) return `http://127.0.0.1:${port}`
  }
  throw new Error(`it did not start: ${said}`)
}

/** For `testServer`: a server that limits nobody's requests. */
export const unlimited = ({ settings }: Services): Pick<Services, 'settings'> => {
  const rates = Object.entries(DEFAULT_RATES).map(([name, rate]) => [name, { ...rate, quota: 0 }])
  return { settings: { ...settings, rates: Object.fromEntries(rates) as RatePolicies } }
}

/**
 * `engine`: scripts run in a stand-in that answers what the source says, or in the real worker. `kv` and `seed`: what
 * a server finds that is started again, and another randomness than the first one's.
 */
export function testServer(
  change: (services: Services) => Partial<Services> = () => ({}),
  {
    engine = 'stand-in',
    kv = testKv(),
    seed = 1,
    maxRuns = 5000,
    workers = 1,
    bars = new BarCache(testBars()),
    fleet = null,
    clock = new FakeClock(),
    network = null,
  }: {
    engine?: 'stand-in' | 'real'
    kv?: Kv
    seed?: number
    maxRuns?: number
    workers?: number
    bars?: BarCache
    /** One of several servers on the same store. */
    fleet?: (Shards & FleetView & SweepNodes) | null
    clock?: FakeClock
    /** Providers of bars; null = they are switched off. */
    network?:
      | (Pick<FeatureDeps, 'http' | 'openSocket'> &
          Partial<Pick<FeatureDeps, 'send' | 'publicUrl' | 'mailTransport'>>)
      | null
  } = {},
) {
  // Other tests keep the processors busy: a job takes too long where the test says so, and never by itself.
  const jobClock = new FakeClock()
  const random = fakeRandom(seed)
  const newId = idSource({ clock, random })
  const pool = new JobPool({
    threadMs: () => null,
    workers,
    clock: jobClock,
    spawn: engine === 'real' ? realWorker : standInWorker,
    memory: () => process.memoryUsage.rss(),
    memoryMax: Infinity,
  })
  const onFinished: FinishedHook[] = []
  const limits = { ...DEFAULT_LIMITS, timeMs: 10_000 }
  const features = createFeatures({
    kv,
    clock,
    random,
    newId,
    passwords: fakePasswords,
    bars,
    log: silentLog,
    box: sealedByNobody,
    allow: parseAllowList(''),
    resolve: async () => ['93.184.215.14'],
    // What every service of a channel takes for its own answer.
    send: async () => ({
      status: 200,
      retryAfter: null,
      excerpt: '{"ok":true,"id":"x","status":1,"event_id":"$1"}',
      failure: null,
    }),
    mailTransport: null,
    articles: ARTICLES,
    version: '0.0.0',
    http: () => Promise.reject(new Error('no network in tests')),
    openSocket: () => {
      throw new Error('no network in tests')
    },
    ...network,
    feeds: network !== null,
    alertsMax: 400,
    pool,
    spawnSearch: searchHere,
    limits,
    ...(fleet && { shards: fleet, nodes: fleet }),
  })
  onFinished.push(features.onFinished)
  const runs = new Runs({
    kv,
    clock,
    newId,
    log: silentLog,
    bars,
    pool,
    limits,
    maxRuns,
    onFinished,
    nodes: fleet,
    libraryFor: (userId) => features.wantedLibraries.counting(userId),
    tried: (run, tried) => resultTried(features.ledger, run, tried),
  })
  const base: Services = {
    kv,
    clock,
    random,
    newId,
    bars,
    runs,
    features,
    passwords: fakePasswords,
    log: silentLog,
    box: sealedByNobody,
    identityProvider: null,
    settings: {
      version: '0.0.0',
      publicUrl: null,
      trustedProxies: addressList([]),
      allowedHosts: [],
      corsOrigins: [],
      signUpOpen: true,
      rates: DEFAULT_RATES,
      metrics: 'local',
    },
    fleet,
    backup: null,
    lastKnown: null,
    setupCode: 'setup-code',
    dashboard: () => null,
    licences: async () => new Uint8Array(),
    userCame: () => undefined,
    stopping: new AbortController().signal,
  }
  const services = { ...base, ...change(base) }
  const app = createApi(services)
  const check = documentedAnswers(app.routes, {
    standIn: engine === 'stand-in' && EXECUTABLE === undefined,
    onSuccess: noteAnswered(),
  })
  const world = ++worlds

  /** A string body is sent as it is, anything else as JSON. */
  async function call(method: string, path: string, { body, headers = {} }: Call = {}): Promise<Answer> {
    const raw = typeof body === 'string' || body instanceof Uint8Array
    const base = EXECUTABLE === undefined ? 'http://localhost' : await (started ??= start(EXECUTABLE))
    const response = await (EXECUTABLE ? fetch : app.handle)(
      new Request(base + path, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    const json = text.startsWith('{') ? JSON.parse(text) : null
    check(method, path, response.status, json)
    return { status: response.status, headers: response.headers, text, json }
  }

  /** Signs up and answers the headers that carry the session. */
  async function signUp(named = 'trader@example.com'): Promise<{ readonly cookie: string }> {
    const email = EXECUTABLE === undefined ? named : `${world}.${named}`
    const answer = await call('POST', '/api/auth/sign-up', { body: { email, password: 'correct horse' } })
    const cookie = /^[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0]
    if (!cookie) throw new Error(`no cookie: ${answer.text}`)
    return { cookie }
  }

  /** A token with these scopes, as headers. */
  async function token(cookie: { readonly cookie: string }, scopes?: readonly string[]) {
    const answer = await call('POST', '/api/platform/tokens', {
      body: { ...(scopes && { scopes }) },
      headers: cookie,
    })
    return { authorization: `Bearer ${answer.json.secret}` }
  }

  return { app, services, clock, jobClock, call, signUp, token, pool, onFinished }
}
