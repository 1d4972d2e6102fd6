// What a server is made of, before it listens: everything plugged together.

import type { Features, Services } from '../http/deps.ts'
import { addressList } from '../http/peer.ts'
import { idSource } from '../lib/ids.ts'
import { DEFAULT_LIMITS } from '../language/runtime/limits.ts'
import { BarCache } from '../market/bar-cache.ts'
import { loadSamples } from '../market/sample.ts'
import { parseAllowList } from '../notify/webhooks/address.ts'
import { ARTICLES } from '../people/support/articles.ts'
import type { Key, Kv } from '../store/kv.ts'
import type { Fleet } from '../store/postgres/fleet.ts'
import { Runs, type RunDeps } from '../work/runs/runs.ts'
import { resultTried } from '../work/sweeps/tries.ts'
import { JobPool } from '../work/workers/pool.ts'
import { loadLicences } from './assets.ts'
import type { Config } from './config.ts'
import { createFeatures } from './features.ts'
import { identityProviderOf } from './openid-net.ts'
import type { ServerStore } from './server-store.ts'
import { STORED_KINDS } from './features-of-work.ts'
import type { World } from './world.ts'

const WARM_MS = 150

export async function servicesOf(
  store: ServerStore,
  world: World,
  config: Config,
  given: Pick<Services, 'log' | 'box' | 'backup' | 'dashboard' | 'stopping'>,
): Promise<{ readonly services: Services; readonly pool: JobPool }> {
  const { clock, random, version, network } = world
  const { kv, fleet } = store
  const bars = new BarCache(store.bars)
  await bars.store.sweep()
  await loadSamples(bars)
  const pool = poolOf(world, config)
  const net = { ...network, allow: parseAllowList(config.WEBHOOK_ALLOW.join(',')) }
  const newId = idSource({ clock, random })
  const base = { ...given, kv, clock, random, newId, passwords: world.passwords, bars }
  const ofJobs = { ...base, pool, limits: limitsOf(config) }
  const features = createFeatures({
    ...ofJobs,
    ...net,
    spawnSearch: world.spawnSearch,
    mailTransport: config.SMTP_URL === null ? null : await network.mail(config.SMTP_URL, senderOf(config)),
    articles: ARTICLES,
    version,
    publicUrl: config.PUBLIC_URL,
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
    licences: loadLicences,
    asked: () => pool.asked(),
    userCame: warming(pool, world, given.stopping),
  }
  return { services, pool }
}

function poolOf({ steady: clock, spawnWorker: spawn, machine }: World, { WORKERS }: Config): JobPool {
  return new JobPool({ ...machine, workers: WORKERS || Math.max(1, machine.processors - 1), clock, spawn })
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
function warming(pool: JobPool, { clock }: World, stopping: AbortSignal): () => void {
  let warm: Promise<void> | null = null
  return () => {
    warm ??= clock.sleep(WARM_MS, stopping).then(() => {
      if (!stopping.aborted) pool.warm()
    })
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

function senderOf({ MAIL_FROM, PUBLIC_URL }: Config): string | null {
  if (MAIL_FROM !== '') return MAIL_FROM
  return PUBLIC_URL === null ? null : `chartroom@${new URL(PUBLIC_URL).hostname}`
}
