// What a server is made of, before it listens: everything plugged together.

import { availableParallelism, totalmem } from 'node:os'
import { basePath, type Features, type ServeDashboard, type Services } from '../http/deps.ts'
import { addressList } from '../http/peer.ts'
import { idSource } from '../lib/ids.ts'
import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/random.ts'
import { DEFAULT_LIMITS } from '../language/runtime/limits.ts'
import { BarCache } from '../market/bar-cache.ts'
import { loadSamples } from '../market/sample.ts'
import type { Transport } from '../notify/mail/mail.ts'
import { argon2Passwords } from '../people/accounts/passwords.ts'
import type { SearchThread } from '../people/search/search.ts'
import { ARTICLES } from '../people/support/articles.ts'
import type { Key, Kv } from '../store/kv.ts'
import type { Fleet } from '../store/postgres/fleet.ts'
import { Runs, type RunDeps } from '../work/runs/runs.ts'
import { resultTried } from '../work/sweeps/tries.ts'
import { JobPool } from '../work/workers/pool.ts'
import type { WorkerThread } from '../work/workers/task.ts'
import { threadMs } from '../work/workers/thread-time.ts'
import { loadDashboard, loadLicences } from './assets.ts'
import type { Config } from './config.ts'
import { createFeatures } from './features.ts'
import { netOf } from './guarded-net.ts'
import { identityProviderOf } from './openid-net.ts'
import { httpRequest, openSocket } from './providers-net.ts'
import type { ServerStore } from './server-store.ts'
import { STORED_KINDS } from './features-of-work.ts'

/** The real things, which only `main.ts` plugs in. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly random: Random
  readonly version: string
  readonly spawnWorker: () => WorkerThread
  readonly spawnSearch: () => SearchThread
  readonly print: (line: string) => void
  readonly warn: (line: string) => void
}

const WARM_MS = 150

export async function servicesOf(
  store: ServerStore,
  context: Surroundings,
  config: Config,
  given: Pick<Services, 'log' | 'box' | 'backup' | 'stopping'>,
): Promise<{ readonly services: Services; readonly pool: JobPool }> {
  const { clock, random, version } = context
  const { kv, fleet } = store
  const bars = new BarCache(store.bars)
  await bars.store.sweep()
  await loadSamples(bars)
  const pool = poolOf(context, config)
  const net = netOf(config)
  const newId = idSource({ clock, random })
  const base = { ...given, kv, clock, random, newId, passwords: argon2Passwords(), bars }
  const ofJobs = { ...base, pool, limits: limitsOf(config) }
  const features = createFeatures({
    ...ofJobs,
    ...net,
    spawnSearch: context.spawnSearch,
    mailTransport: config.SMTP_URL === null ? null : await mailTransport(config.SMTP_URL, senderOf(config)),
    articles: ARTICLES,
    version,
    publicUrl: config.PUBLIC_URL,
    http: httpRequest,
    openSocket,
    feeds: config.FEEDS === 'on',
    alertsMax: config.MAX_ALERTS,
    ...(fleet && { shards: fleet, nodes: fleet }),
  })
  const runs = await runsOf(ofJobs, features, fleet, config.MAX_BACKTESTS)
  for (const kind of STORED_KINDS) await features[kind].recover()
  const services: Services = {
    ...base,
    runs,
    features,
    identityProvider: identityProviderOf(config, net, base),
    settings: settingsOf(config, version),
    fleet,
    lastKnown: store.lastKnown,
    setupCode: await setupCodeOf(kv, fleet !== null, Buffer.from(random.bytes(24)).toString('base64url')),
    dashboard: await dashboardOf(context, basePath({ publicUrl: config.PUBLIC_URL })),
    licences: loadLicences,
    asked: () => pool.asked(),
    userCame: warming(pool, given.stopping),
  }
  return { services, pool }
}

function poolOf({ clock, spawnWorker: spawn }: Surroundings, { WORKERS }: Config): JobPool {
  const processors = availableParallelism()
  return new JobPool({
    workers: WORKERS || Math.max(1, processors - 1),
    processors,
    // The budgets of jobs are measured by a monotonic clock, which nobody can set back.
    clock: { now: () => performance.now(), sleep: clock.sleep },
    spawn,
    threadMs,
    memory: () => process.memoryUsage.rss(),
    memoryMax: Math.min(totalmem(), process.constrainedMemory() || Infinity),
  })
}

async function runsOf(
  deps: Omit<RunDeps, 'maxRuns' | 'onFinished' | 'libraryFor'>,
  features: Features,
  fleet: Fleet | null,
  maxRuns: number,
): Promise<Runs> {
  const runs = new Runs({
    ...deps,
    maxRuns,
    onFinished: [features.onFinished],
    nodes: fleet,
    libraryFor: (userId) => features.wantedLibraries.counting(userId),
    tried: (run, tried) => resultTried(features.ledger, run, tried),
  })
  features.onRunHeard((id, run) => runs.heard(id, run))
  await runs.recover()
  fleet?.onBuried(() => {
    runs
      .recover()
      .catch((error: unknown) =>
        deps.log('error', 'runs of a server that is gone could not be ended', { error: String(error) }),
      )
  })
  return runs
}

/** A server that nobody uses needs no engine, which takes 10 MB. Loading it at once would delay the first answers. */
function warming(pool: JobPool, stopping: AbortSignal): () => void {
  let warm: ReturnType<typeof setTimeout> | undefined
  stopping.addEventListener('abort', () => clearTimeout(warm))
  return () => {
    warm ??= setTimeout(() => pool.warm(), WARM_MS)
  }
}

const limitsOf = (config: Config) => ({
  ...DEFAULT_LIMITS,
  timeMs: config.SCRIPT_TIME_MS,
  requests: config.SCRIPT_REQUESTS,
  memoryBytes: config.SCRIPT_MEMORY_MB * 2 ** 20,
  answerBytes: config.SCRIPT_ANSWER_MB * 2 ** 20,
})

const settingsOf = (config: Config, version: string): Services['settings'] => ({
  version,
  publicUrl: config.PUBLIC_URL,
  trustedProxies: addressList(config.TRUSTED_PROXIES),
  allowedHosts: config.ALLOWED_HOSTS,
  corsOrigins: config.CORS_ORIGINS,
  signUpOpen: config.SIGNUP === 'open',
  rates: config.rates,
  metrics: config.METRICS,
})

/** The code of the setup link: one for all servers that share a store, each start's own for one that is alone. */
async function setupCodeOf(kv: Kv, isShared: boolean, fresh: string): Promise<string> {
  if (!isShared) return fresh
  const key: Key = ['meta', 'setup-code']
  await kv.commit({ checks: [{ key, version: null }], sets: [{ key, value: JSON.stringify(fresh) }] })
  const entry = await kv.get(key)
  return entry ? (JSON.parse(entry.value) as string) : fresh
}

/** `bun run dev` sets this variable, and then open pages follow the source. */
async function dashboardOf({ environment }: Surroundings, base: string): Promise<ServeDashboard> {
  if (environment['CHARTROOM_DEV'] !== '1' || Bun.isStandaloneExecutable) return loadDashboard(base)
  const { reloadingDashboard } = await import('./source/dev-dashboard.ts')
  return reloadingDashboard(base)
}

/** Loaded only where mail is set up, since loading it takes a tenth of the time to start. */
async function mailTransport(url: string, sender: string | null): Promise<Transport> {
  const { smtpTransport } = await import('../notify/mail/smtp.ts')
  return smtpTransport(url, sender)
}

function senderOf({ MAIL_FROM, PUBLIC_URL }: Config): string | null {
  if (MAIL_FROM !== '') return MAIL_FROM
  return PUBLIC_URL === null ? null : `chartroom@${new URL(PUBLIC_URL).hostname}`
}
