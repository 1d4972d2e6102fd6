// pgbouncer in transaction mode before a PostgreSQL of the tests' own: a connection to the database is one's only until the
// end of a transaction, so that nothing of a session holds, neither LISTEN nor prepared statements.
//
// No package brings it along, so it is for `bun run fleet-test --pgbouncer`, on a machine where it is installed.

import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { NOBODY, type TestPostgres, unprivileged } from './postgres-server.ts'

/** `url` names the folder of the database's socket, and so does the answer's, of its own. */
export function startPgbouncer(url: string): TestPostgres {
  const program = Bun.which('pgbouncer')
  if (program === null) throw new Error('Install pgbouncer first; Debian has a package of that name.')
  const folder = mkdtempSync(`${tmpdir()}/chartroom-pgbouncer-`)
  const socket = new URL(url).searchParams.get('path')
  writeFileSync(
    `${folder}/settings.ini`,
    `[databases]
* = host=${socket} user=chartroom
[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = ${folder}
auth_type = any
pool_mode = transaction
max_client_conn = 500
default_pool_size = 20
ignore_startup_parameters = extra_float_digits
server_login_retry = 1
`,
  )
  if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY)
  const child = Bun.spawn([...unprivileged(), program, '--quiet', `${folder}/settings.ini`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', Bun.file(`${folder}/log`)],
  })
  const through = new URL(url)
  through.searchParams.set('path', folder)
  through.searchParams.set('prepare', 'false')
  return {
    url: through.href,
    async stop() {
      child.kill('SIGKILL')
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
