// The composition root: opens the store, plugs everything together and listens until it is told to stop.

import { users } from '../people/accounts/accounts.ts'
import { createApi } from '../http/index.ts'
import type { JobPool } from '../work/workers/pool.ts'
import { createSecretBox } from '../notify/webhooks/secret-box.ts'
import type { Clock } from '../lib/clock.ts'
import { basePath, type ServeDashboard, type Services } from '../http/deps.ts'
import { LOG_LEVELS, type Log, type LogLevel } from '../lib/log.ts'
import { within } from '../lib/within.ts'
import { Backup } from '../store/backup/backup.ts'
import { placeAt } from '../store/backup/place.ts'
import { judgeKey, type KeyVerdict, readInstance, settleKey } from '../store/instance-key.ts'
import type { Kv } from '../store/kv.ts'
import { loadDashboard } from './assets.ts'
import { type Config, keyPath } from './config.ts'
import { runLoops } from './loops.ts'
import { markSecretsLost, opensSecrets } from './sealed-secrets.ts'
import { openStoreOf, type ServerStore } from './server-store.ts'
import { servicesOf } from './services.ts'
import { addressOf, welcome } from './welcome.ts'
import { STORED_KINDS } from './features-of-work.ts'
import type { World } from './world.ts'

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
/** Serves until a signal asks for a stop; answers the exit code. `newKey`: a lost instance.key may be replaced. */
export async function serve(world: World, config: Config, newKey: boolean): Promise<number> {
  const log = jsonLog(world, config.LOG_LEVEL)
  let verdict: KeyVerdict = { kind: 'missing' }
  const store = await openStoreOf(world, config, {
    log,
    async admit(data, others) {
      const opens = async (key: Uint8Array) => opensSecrets(data, await boxOf(world, key))
      verdict = await judgeKey(data, keyPath(config), opens, { newKey, others })
    },
  })
  try {
    if (verdict.kind === 'lost') await loseSecrets(store.kv, world.clock, log)
    const box = await boxOf(world, await settleKey(store.kv, keyPath(config), verdict, world.random))
    const backup = await backupOf(world, config, store, log)
    const dashboard = await dashboardOf(world, basePath({ publicUrl: config.PUBLIC_URL }))
    return await serveFrom(store, world, config, { log, box, backup, dashboard }, (app) =>
      listen(app, config),
    )
  } catch (error) {
    // Others would count on this server until its lease is over. Why it ends comes before what closing the store says.
    await within(world.clock, CLOSE_MS, store.close()).catch(() => {})
    throw error
  }
}

const boxOf = ({ random }: World, key: Uint8Array) => createSecretBox(key, (count) => random.bytes(count))

/** Serves from an open store until it is asked to stop. `listen` answers why it cannot; null if it does. */
export async function serveFrom(
  store: ServerStore,
  world: World,
  config: Config,
  given: Pick<Services, 'log' | 'box' | 'dashboard'> & { readonly backup: Backup | null },
  listen: (app: App) => string | null,
): Promise<number> {
  const { clock, print, warn } = world
  const { log, backup } = given
  const { kv, fleet } = store
  void store.lost.then(() => {
    // Whatever is still going on cannot be stored any more.
    log('error', 'other servers have taken this one for gone')
    return world.exit(1)
  })
  const stopping = new AbortController()
  const made = await servicesOf(store, world, config, { ...given, stopping: stopping.signal })
  const { services, pool } = made
  const app = createApi(services)
  // From here on others count on this server for its share of the work.
  await fleet?.look()
  // Listen for signals before the port is announced: a stop may follow at once.
  const asked = world.stopAsked(stopping)
  const problem = listen(app)
  if (problem !== null) {
    pool.close()
    await store.close()
    warn(problem)
    return 1
  }
  const port = app.server?.port ?? config.PORT
  const hasOwner = (await users(kv).count('all', [])) > 0
  for (const line of welcome(addressOf(config, port), hasOwner ? null : services.setupCode)) print(line)
  log('info', 'listening', { host: config.HOST, port })
  const running = {
    loops: going((signal) => runLoops(store, services, app.gate, world, signal)),
    sharing: going(async (signal) => fleet?.run({ clock, log }, signal)),
    backup: going(async (signal) => backup?.run(signal)),
  }
  log('info', 'stopping', { signal: await asked })
  return stop(app, store, services, pool, world, running)
}

export type App = ReturnType<typeof createApi>

/** Why it cannot listen; null if it does. */
function listen(app: App, { HOST, PORT }: Config): string | null {
  try {
    // Elysia's default is reusePort, with which two servers would silently share a port.
    app.listen({
      port: PORT,
      hostname: HOST,
      reusePort: false,
      idleTimeout: 60,
      maxRequestBodySize: 600 << 20,
      development: false,
    })
    return null
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
      ? `Port ${PORT} is in use. Stop what listens there, or choose another with --port.`
      : `Cannot listen on ${HOST}:${PORT}: ${String(error)}`
  }
}

/** Begins something, and answers what ends it and waits until it has. */
function going(run: (signal: AbortSignal) => Promise<void>): () => Promise<void> {
  const over = new AbortController()
  const ended = run(over.signal)
  return () => {
    over.abort()
    return ended
  }
}

async function stop(
  app: App,
  store: ServerStore,
  { log, runs, features }: Services,
  pool: JobPool,
  { clock, exit }: World,
  running: Readonly<Record<'loops' | 'sharing' | 'backup', () => Promise<void>>>,
): Promise<never> {
  pool.drain()
  const drained = new AbortController()
  const unlessDrained = (ms: number, cut: () => void) =>
    clock.sleep(ms, drained.signal).then(() => {
      if (!drained.signal.aborted) cut()
    })
  void unlessDrained(RUNS_DRAIN_MS, () => pool.close())
  void unlessDrained(DRAIN_MS, () => void app.stop(true))
  let doing = 'finishing requests'
  void clock.sleep(STOP_MS).then(() => {
    log('error', 'stopped the hard way', { doing })
    return exit(1)
  })
  await Promise.all([app.stop(), store.fleet?.retire()])
  doing = 'ending deliveries'
  await running.loops()
  await running.sharing()
  drained.abort()
  pool.close()
  doing = 'storing what became of runs'
  await runs.settled()
  await Promise.all(STORED_KINDS.map((kind) => features[kind].stop()))
  features.search.close()
  doing = 'putting away the last step of the backup'
  await running.backup()
  doing = 'closing the store'
  await store.close()
  // Otherwise the connection of a receiver or mail server that hangs would keep the process alive.
  return exit(0)
}

/** The key that sealed them is gone. */
async function loseSecrets(kv: Kv, clock: Clock, log: Log): Promise<void> {
  const { webhooks, channels, bridges, providers } = await markSecretsLost(kv, clock)
  log('warn', 'fresh key', {
    webhooksWithoutSecret: webhooks,
    channelsWithoutSecret: channels,
    bridgesWithoutSecret: bridges,
    providersWithoutKey: providers,
  })
}

/** null: none was asked for. */
async function backupOf(
  { clock, random }: World,
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

/** `bun run dev` sets this variable, and then open pages follow the source. */
async function dashboardOf({ environment }: World, base: string): Promise<ServeDashboard> {
  if (environment['CHARTROOM_DEV'] !== '1' || Bun.isStandaloneExecutable) return loadDashboard(base)
  const { reloadingDashboard } = await import('./source/dev-dashboard.ts')
  return reloadingDashboard(base)
}

function jsonLog({ clock, warn }: World, least: LogLevel): Log {
  const loudest = LOG_LEVELS.indexOf(least)
  return (level, message, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) > loudest) return
    warn(JSON.stringify({ time: new Date(clock.now()).toISOString(), level, message, ...fields }))
  }
}
