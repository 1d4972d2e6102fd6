// The composition root: opens the store, plugs everything together and listens until it is told to stop.

import { lookup } from 'node:dns/promises'
import { availableParallelism, totalmem } from 'node:os'
import { users } from '../people/accounts/accounts.ts'
import { argon2Passwords } from '../people/accounts/passwords.ts'
import { sweepSessions } from '../people/accounts/sessions.ts'
import { sweepTickets } from '../people/accounts/tickets.ts'
import { sweepTokens } from '../people/accounts/tokens.ts'
import { basePath, type ServeDashboard, type Services } from '../http/deps.ts'
import { addressList } from '../http/peer.ts'
import { createFeatures } from './features.ts'
import { createApi } from '../http/index.ts'
import { identityProviderOf } from './openid-net.ts'
import { httpRequest, openSocket } from './providers-net.ts'
import { JobPool, type WorkerThread } from '../work/workers/pool.ts'
import { threadMs } from '../work/workers/thread-time.ts'
import { ARTICLES } from '../people/support/articles.ts'
import { parseAllowList } from '../notify/webhooks/address.ts'
import { createSecretBox } from '../notify/webhooks/secret-box.ts'
import { createSend } from '../notify/webhooks/send.ts'
import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/random.ts'
import type { Transport } from '../notify/mail/mail.ts'
import type { SearchThread } from '../people/search/search.ts'
import { idSource } from '../lib/ids.ts'
import { LOG_LEVELS, type Log, type LogLevel } from '../lib/log.ts'
import { createLoop } from '../lib/loop.ts'
import { within } from '../lib/within.ts'
import { BarCache } from '../market/bar-cache.ts'
import { loadSamples } from '../market/sample.ts'
import { DEFAULT_LIMITS } from '../language/runtime/runtime.ts'
import { Runs } from '../work/runs/runs.ts'
import { Backup } from '../store/backup/backup.ts'
import { placeAt } from '../store/backup/place.ts'
import { judgeKey, type KeyVerdict, readInstance, settleKey } from '../store/instance-key.ts'
import { loadDashboard, loadLicences } from './assets.ts'
import { resultTried } from '../work/sweeps/tries.ts'
import { type Config, keyPath } from './config.ts'
import type { Key, Kv } from '../store/kv.ts'
import type { ChangeFeed } from '../store/postgres/feed.ts'
import { markSecretsLost, opensSecrets } from './sealed-secrets.ts'
import { openStoreOf, type ServerStore } from './server-store.ts'
import { addressOf, welcome } from './welcome.ts'

/** How long requests in flight may take when the server stops. */
const DRAIN_MS = 10_000
/** How long scripts may go on after that. One that is not almost done would not finish, and its caller should know soon. */
const RUNS_DRAIN_MS = 1000
/**
 * How long all of a stop may take: requests and deliveries under way, which have 15 s, and closing. On a full disk LMDB
 * retries for ever; what clients were promised has been written already. `data/deploy/` allows a little more.
 */
const STOP_MS = 25_000
/** How long a server that is refused may take to leave the others. */
const CLOSE_MS = 5000
const SWEEP_MS = 3600_000
const WARM_MS = 150
/** How often a server looks for backtests that it could take up: usually, and while some wait for which it had no worker free. */
const TAKE_UP_MS = 1000
const TAKE_UP_BUSY_MS = 100

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

/** Serves until a signal asks for a stop; answers the exit code. `newKey`: a lost instance.key may be replaced. */
export async function serve(context: Surroundings, config: Config, newKey: boolean): Promise<number> {
  const log = jsonLog(context, config.LOG_LEVEL)
  let verdict: KeyVerdict = { kind: 'missing' }
  const store = await openStoreOf(context, config, {
    log,
    async admit(data, others) {
      const opens = async (key: Uint8Array) => opensSecrets(data, await boxOf(context, key))
      verdict = await judgeKey(data, keyPath(config), opens, { newKey, others })
    },
  })
  try {
    return await serveFrom(store, context, config, verdict, log)
  } catch (error) {
    // Others would count on this server until its lease is over. Why it ends comes before what closing the store says.
    await within(context.clock, CLOSE_MS, store.close()).catch(() => {})
    throw error
  }
}

const boxOf = ({ random }: Surroundings, key: Uint8Array) =>
  createSecretBox(key, (count) => random.bytes(count))

async function serveFrom(
  store: ServerStore,
  context: Surroundings,
  config: Config,
  verdict: KeyVerdict,
  log: Log,
): Promise<number> {
  const { clock, random, print, warn } = context
  const { kv } = store
  void store.lost.then(() => {
    // Whatever is still going on cannot be stored any more.
    log('error', 'other servers have taken this one for gone')
    process.exit(1)
  })
  if (verdict.kind === 'lost') {
    const { webhooks, channels, providers } = await markSecretsLost(kv, clock)
    log('warn', 'fresh key', {
      webhooksWithoutSecret: webhooks,
      channelsWithoutSecret: channels,
      providersWithoutKey: providers,
    })
  }
  const box = await boxOf(context, await settleKey(kv, keyPath(config), verdict, random))
  const backup = await backupOf(context, config, store, log)
  const bars = new BarCache(store.bars)
  await bars.store.sweep()
  await loadSamples(bars)
  const pool = new JobPool({
    workers: config.WORKERS || Math.max(1, availableParallelism() - 1),
    processors: availableParallelism(),
    // The budgets of jobs are measured by a monotonic clock, which nobody can set back.
    clock: { now: () => performance.now(), sleep: clock.sleep },
    spawn: context.spawnWorker,
    threadMs,
    memory: () => process.memoryUsage.rss(),
    memoryMax: Math.min(totalmem(), process.constrainedMemory() || Infinity),
  })
  const newId = idSource({ clock, random })
  const { fleet } = store
  const limits = {
    ...DEFAULT_LIMITS,
    timeMs: config.SCRIPT_TIME_MS,
    requests: config.SCRIPT_REQUESTS,
    memoryBytes: config.SCRIPT_MEMORY_MB * 2 ** 20,
    answerBytes: config.SCRIPT_ANSWER_MB * 2 ** 20,
  }
  const passwords = argon2Passwords()
  const net = {
    allow: parseAllowList(config.WEBHOOK_ALLOW.join(',')),
    resolve: async (host: string) => (await lookup(host, { all: true })).map(({ address }) => address),
    send: createSend(),
  }
  const features = createFeatures({
    kv,
    clock,
    random,
    newId,
    passwords,
    log,
    bars,
    pool,
    spawnSearch: context.spawnSearch,
    limits,
    box,
    webhookAllow: net.allow,
    resolve: net.resolve,
    send: net.send,
    mailTransport: config.SMTP_URL === null ? null : await mailTransport(config.SMTP_URL, senderOf(config)),
    articles: ARTICLES,
    version: context.version,
    publicUrl: config.PUBLIC_URL,
    http: httpRequest,
    openSocket,
    feeds: config.FEEDS === 'on',
    alertsMax: config.MAX_ALERTS,
    ...(fleet && { shards: fleet, nodes: fleet }),
  })
  const runs = new Runs({
    kv,
    clock,
    newId,
    log,
    bars,
    pool,
    limits,
    maxRuns: config.MAX_BACKTESTS,
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
        log('error', 'runs of a server that is gone could not be ended', { error: String(error) }),
      )
  })
  await features.sweeps.recover()
  await features.portfolios.recover()
  await features.scans.recover()
  const stopping = new AbortController()
  // A server that nobody uses needs no engine, which takes 10 MB. Loading it at once would delay the first answers.
  let warm: ReturnType<typeof setTimeout> | undefined
  const services: Services = {
    kv,
    clock,
    random,
    newId,
    bars,
    runs,
    passwords,
    features,
    log,
    box,
    identityProvider: identityProviderOf(config, net, { clock, log }),
    settings: {
      version: context.version,
      publicUrl: config.PUBLIC_URL,
      trustedProxies: addressList(config.TRUSTED_PROXIES),
      allowedHosts: config.ALLOWED_HOSTS,
      corsOrigins: config.CORS_ORIGINS,
      signUpOpen: config.SIGNUP === 'open',
      rates: config.rates,
      metrics: config.METRICS,
    },
    fleet,
    backup,
    lastKnown: store.lastKnown,
    setupCode: await setupCodeOf(kv, fleet !== null, Buffer.from(random.bytes(24)).toString('base64url')),
    dashboard: await dashboardOf(context, basePath({ publicUrl: config.PUBLIC_URL })),
    licences: loadLicences,
    asked: () => pool.asked(),
    userCame() {
      warm ??= setTimeout(() => pool.warm(), WARM_MS)
    },
    stopping: stopping.signal,
  }
  const app = createApi(services)
  // From here on others count on this server for its share of the work.
  await fleet?.look()
  // Listen for signals before the port is announced: a stop may follow at once.
  const asked = stopAsked(stopping)
  try {
    // Elysia's default is reusePort, with which two servers would silently share a port.
    app.listen({
      port: config.PORT,
      hostname: config.HOST,
      reusePort: false,
      idleTimeout: 60,
      maxRequestBodySize: 600 << 20,
      development: false,
    })
  } catch (error) {
    pool.close()
    await store.close()
    warn(
      error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
        ? `Port ${config.PORT} is in use. Stop what listens there, or choose another with --port.`
        : `Cannot listen on ${config.HOST}:${config.PORT}: ${String(error)}`,
    )
    return 1
  }
  const port = app.server?.port ?? config.PORT
  const hasOwner = (await users(kv).count('all', [])) > 0
  for (const line of welcome(addressOf(config, port), hasOwner ? null : services.setupCode)) print(line)
  log('info', 'listening', { host: config.HOST, port })
  const stopLoops = new AbortController()
  // From the signal on no delivery begins, since those under way are waited for.
  const loops = features.start(stopLoops.signal, stopping.signal)

  const sweep = createLoop({ clock, log }, 'sweeping', async () => {
    await Promise.all([
      store.feed?.prune(),
      ...(fleet === null || fleet.holds('sweeping')
        ? [
            app.gate.idempotency.sweep(),
            sweepSessions(services),
            sweepTokens(services),
            sweepTickets(services),
          ]
        : []),
      // Alone, a server does so before its first import, and never again.
      ...(fleet?.holds('sweeping') ? [bars.store.sweep()] : []),
    ])
    return SWEEP_MS
  })
  const sweeping = Promise.all([sweep.run(stopLoops.signal), app.gate.idempotency.run(stopLoops.signal)])
  const following = followOthers(
    store.feed,
    { bars, others: features.others },
    { clock, log },
    stopLoops.signal,
  )
  const stopSharing = new AbortController()
  const sharing = fleet?.run({ clock, log }, stopSharing.signal)
  const taking = fleet && takeUpRuns({ clock, log }, services, stopLoops.signal)
  const stopBackup = new AbortController()
  const backingUp = backup?.run(stopBackup.signal)
  const signal = await asked
  log('info', 'stopping', { signal })
  clearTimeout(warm)
  pool.drain()
  const cutRuns = setTimeout(() => pool.close(), RUNS_DRAIN_MS)
  const cut = setTimeout(() => void app.stop(true), DRAIN_MS)
  let doing = 'finishing requests'
  setTimeout(() => {
    log('error', 'stopped the hard way', { doing })
    process.exit(1)
  }, STOP_MS)
  await Promise.all([app.stop(), fleet?.retire()])
  doing = 'ending deliveries'
  stopLoops.abort()
  await Promise.all([loops, sweeping, following, taking])
  stopSharing.abort()
  await sharing
  clearTimeout(cut)
  clearTimeout(cutRuns)
  pool.close()
  doing = 'storing what became of runs'
  await runs.settled()
  await Promise.all([features.sweeps.stop(), features.scans.stop(), features.portfolios.stop()])
  features.search.close()
  doing = 'putting away the last step of the backup'
  stopBackup.abort()
  await backingUp
  doing = 'closing the store'
  await store.close()
  // Otherwise the connection of a receiver or mail server that hangs would keep the process alive.
  return process.exit(0)
}

/** null: none was asked for. */
async function backupOf(
  { clock, random }: Surroundings,
  { BACKUP, BACKUP_EVERY, BACKUP_KEEP, DATA_DIR }: Config,
  { kv, pages }: ServerStore,
  log: Log,
): Promise<Backup | null> {
  if (BACKUP === null || pages === null) return null
  const instance = (await readInstance(kv))?.id ?? ''
  return new Backup({
    clock,
    random,
    log,
    source: pages,
    place: placeAt(BACKUP, clock),
    directory: DATA_DIR,
    instance,
    everyMs: BACKUP_EVERY,
    keepMs: BACKUP_KEEP,
  })
}

/** The code of the setup link: one for all servers that share a store, each start's own for one that is alone. */
async function setupCodeOf(kv: Kv, isShared: boolean, fresh: string): Promise<string> {
  if (!isShared) return fresh
  const key: Key = ['meta', 'setup-code']
  await kv.commit({ checks: [{ key, version: null }], sets: [{ key, value: JSON.stringify(fresh) }] })
  const entry = await kv.get(key)
  return entry ? (JSON.parse(entry.value) as string) : fresh
}

/** Backtests that nobody waits for go to whichever server has a free worker. */
async function takeUpRuns(
  deps: { readonly clock: Clock; readonly log: Log },
  { runs, features }: Pick<Services, 'runs' | 'features'>,
  signal: AbortSignal,
): Promise<void> {
  const loop = createLoop(
    deps,
    'taking up backtests',
    async () => ((await runs.takeUp()) ? TAKE_UP_BUSY_MS : TAKE_UP_MS),
    { mostMs: TAKE_UP_MS },
  )
  features.onRunHeard((_, run) => {
    if (run?.node === null) loop.wake()
  })
  await loop.run(signal)
}

/** What commands and other servers write reaches every chart and every index as soon as what this server writes itself. */
async function followOthers(
  feed: ChangeFeed | null,
  { bars, others }: { readonly bars: BarCache; readonly others: Services['features']['others'] },
  deps: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  if (feed === null) return
  const { barsOfChange } = await import('../store/postgres/postgres-bars.ts')
  feed.onChange(({ isOwn, keys }) => {
    if (isOwn) return
    others.hear(keys)
    for (const { key, ...counts } of keys.flatMap((told) => barsOfChange(told) ?? []))
      bars.changedElsewhere(key, counts).catch((error: unknown) => {
        deps.log('warn', 'a change of bars was not told', { error: String(error) })
      })
  })
  // Nobody keeps changes for a server that did not read them for a minute: it has to begin again.
  feed.onMissed(() => {
    deps.log('error', 'changes of other servers were missed')
    process.exit(1)
  })
  await feed.run(deps, signal)
}

/** Resolves with the name of the signal that asks for a stop; a second one is not waited for. */
function stopAsked(stopping: AbortController): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const)
      process.on(name, () => {
        if (stopping.signal.aborted) process.exit(1)
        stopping.abort()
        resolve(name)
      })
  })
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

function jsonLog({ clock, warn }: Surroundings, least: LogLevel): Log {
  const loudest = LOG_LEVELS.indexOf(least)
  return (level, message, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) > loudest) return
    warn(JSON.stringify({ time: new Date(clock.now()).toISOString(), level, message, ...fields }))
  }
}
