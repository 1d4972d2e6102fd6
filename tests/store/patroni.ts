// PostgreSQL in three copies under Patroni, for `bun run fleet-test --patroni`: when the one that takes writes is killed,
// Patroni promotes another, and what was acknowledged must be there.
//
// Writes are acknowledged when a second copy has them (`synchronous_mode_strict`), without which a failover may lose what
// was answered. What HAProxy or a service of Kubernetes is elsewhere, a way to whoever has the lead, is a link to its
// socket here. Patroni and etcd are programs that no package brings along, so they have to be installed.

import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { NOBODY, type OwnPostgres, unprivileged } from './postgres-server.ts'

const COPIES = 3
const LOOK_MS = 100
const LOOP_SECONDS = 2
/** Four rounds of Patroni's. */
const WHOLE_MS = 4000 * LOOP_SECONDS
/** Where Debian and others keep the programs of PostgreSQL, which are not on the path. */
const SERVERS = ['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin']

export async function startPatroni(): Promise<OwnPostgres> {
  const [patroni, etcd] = ['patroni', 'etcd'].map(installed) as [string, string]
  const folder = mkdtempSync('/tmp/chartroom-patroni-')
  own(folder)
  const [store, peers] = [freePort(), freePort()]
  const agreeing = run(`${folder}/etcd.log`, [
    etcd,
    `--data-dir=${folder}/etcd`,
    `--listen-client-urls=http://127.0.0.1:${store}`,
    `--advertise-client-urls=http://127.0.0.1:${store}`,
    `--listen-peer-urls=http://127.0.0.1:${peers}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peers}`,
    `--initial-cluster=default=http://127.0.0.1:${peers}`,
  ])
  const copies = Array.from(
    { length: COPIES },
    (_, i) => new Copy(`${folder}/p${i}`, `p${i}`, patroni, store),
  )
  const way = new Way(`${folder}/.s.PGSQL.5432`, copies)
  for (const copy of copies) copy.start()
  await whole(copies)
  return {
    url: `postgres://chartroom@localhost/postgres?path=${folder}`,
    async crash() {
      const { leader } = way
      if (!leader) return
      await leader.kill()
      while (way.leader === leader) await Bun.sleep(LOOK_MS)
      leader.start()
      await whole(copies)
    },
    async stop() {
      await way.stop()
      for (const copy of copies) await copy.kill()
      agreeing.kill('SIGKILL')
      await agreeing.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A link that leads to the socket of whoever takes writes. */
class Way {
  leader: Copy | null = null
  readonly #link: string
  readonly #copies: readonly Copy[]
  #isOver = false
  readonly #running: Promise<void>

  constructor(link: string, copies: readonly Copy[]) {
    this.#link = link
    this.#copies = copies
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  async #run(): Promise<void> {
    for (; !this.#isOver; await Bun.sleep(LOOK_MS)) {
      const leader = await leaderOf(this.#copies)
      if (!leader || leader === this.leader) continue
      symlinkSync(leader.socket, `${this.#link}.new`)
      renameSync(`${this.#link}.new`, this.#link)
      this.leader = leader
    }
  }
}

class Copy {
  readonly socket: string
  readonly api: string
  readonly #folder: string
  readonly #command: readonly string[]
  #child: Bun.Subprocess | null = null

  constructor(folder: string, name: string, patroni: string, store: number) {
    this.#folder = folder
    const [port, api] = [freePort(), freePort()]
    this.api = `http://127.0.0.1:${api}`
    this.socket = `${folder}/.s.PGSQL.${port}`
    this.#command = [patroni, `${folder}/patroni.yaml`]
    mkdirSync(folder)
    own(folder)
    writeFileSync(`${folder}/patroni.yaml`, JSON.stringify(settingsOf(name, folder, port, api, store)))
  }

  start(): void {
    this.#child = run(`${this.#folder}/log`, this.#command)
  }

  assertRuns(): void {
    if (this.#child?.exitCode != null)
      throw new Error(`Patroni ended: ${readFileSync(`${this.#folder}/log`, 'utf8').slice(-2000)}`)
  }

  /** Both at once: Patroni alone would leave its PostgreSQL running. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#child?.exited
    const file = `${this.#folder}/data/postmaster.pid`
    if (!existsSync(file)) return
    const pid = Number(readFileSync(file, 'utf8').split('\n')[0])
    try {
      for (process.kill(pid, 'SIGKILL'); ; await Bun.sleep(10)) process.kill(pid, 0)
    } catch {
      // It is gone.
    }
  }
}

/** Patroni reads YAML, of which JSON is a part. */
function settingsOf(name: string, folder: string, port: number, api: number, store: number) {
  return {
    scope: 'chartroom',
    name,
    restapi: { listen: `127.0.0.1:${api}`, connect_address: `127.0.0.1:${api}` },
    etcd3: { host: `127.0.0.1:${store}` },
    bootstrap: {
      dcs: {
        // The shortest that it takes: so long nobody knows that the leader is gone.
        ttl: 20,
        loop_wait: LOOP_SECONDS,
        retry_timeout: 5,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: { use_pg_rewind: false, parameters: { max_connections: 200, shared_buffers: '16MB' } },
      },
      initdb: [{ encoding: 'UTF8' }, { auth: 'trust' }, 'no-locale'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: `${folder}/data`,
      bin_dir: serverFolder(),
      pgpass: `${folder}/pgpass`,
      remove_data_directory_on_diverged_timelines: true,
      authentication: { superuser: { username: 'chartroom' }, replication: { username: 'replicator' } },
      parameters: { unix_socket_directories: folder },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
    },
  }
}

async function leaderOf(copies: readonly Copy[]): Promise<Copy | null> {
  const answers = await Promise.all(copies.map(({ api }) => says(`${api}/primary`)))
  return copies[answers.indexOf(true)] ?? null
}

/**
 * Waits until all others follow the leader, and one of them is known to have what was acknowledged: if the leader is killed
 * before, Patroni rightly promotes nobody. What a copy says of that may be of before, so it has to say so for some time.
 */
async function whole(copies: readonly Copy[]): Promise<void> {
  const counted = async (path: string) => {
    const answers = await Promise.all(copies.map(({ api }) => says(api + path)))
    return answers.filter(Boolean).length
  }
  for (let since = performance.now(); performance.now() - since < WHOLE_MS; await Bun.sleep(LOOK_MS)) {
    for (const copy of copies) copy.assertRuns()
    const isWhole = (await counted('/replica')) === COPIES - 1 && (await counted('/sync')) === 1
    if (!isWhole) since = performance.now()
  }
}

async function says(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(1000) })
    await answer.body?.cancel()
    return answer.ok
  } catch {
    return false
  }
}

function installed(name: string): string {
  const program = Bun.which(name)
  if (program === null)
    throw new Error(`Install ${name} first; Debian's packages are patroni and etcd-server.`)
  return program
}

function serverFolder(): string {
  const [found] = SERVERS.flatMap((pattern) => [
    ...new Bun.Glob(`${pattern.slice(1)}/postgres`).scanSync({ cwd: '/', followSymlinks: true }),
  ])
  if (found === undefined) throw new Error('Install PostgreSQL first; Debian has a package of that name.')
  return `/${found.replace(/\/postgres$/, '')}`
}

function run(log: string, command: readonly string[]): Bun.Subprocess {
  const env = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' }
  return Bun.spawn([...unprivileged(), ...command], {
    stdio: ['ignore', Bun.file(log), Bun.file(log)],
    cwd: '/',
    env,
  })
}

function own(folder: string): void {
  if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY)
}

function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}
