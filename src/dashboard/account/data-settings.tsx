// The server's backup, for those who run it.

import { ago } from '../format.ts'
import { call } from '../api-client.ts'
import { pageStyles as p, Show, useLoad } from '../frame/page.tsx'
import { href } from '../router.ts'
import { Badge } from '../ui/ui.tsx'

export function DataSettings() {
  return (
    <section>
      <h2>Backup of the server</h2>
      <ServerBackup />
      <p>
        <a href={href('/help/backup')}>More about backups</a>
      </p>
    </section>
  )
}

const STATES = {
  ok: ['up', 'Works'],
  starting: ['accent', 'First snapshot under way'],
  failing: ['down', 'Fails'],
} as const

function ServerBackup() {
  const loaded = useLoad((signal) => call('GET /api/platform/backup', { signal }), [])
  return (
    <Show of={loaded}>
      {({ backup }) => {
        if (!backup)
          return (
            <p>
              Nothing is copied continuously. Start the server with <code>BACKUP</code> to have it copied to a
              bucket or a folder, less than a second behind.
            </p>
          )
        const [tone, text] = STATES[backup.state]
        return (
          <>
            <dl class={p['facts']}>
              <dt>State</dt>
              <dd>
                <Badge tone={tone}>{text}</Badge> {backup.problem}
              </dd>
              <dt>Goes to</dt>
              <dd>{backup.place}</dd>
              <dt>Newest state in it</dt>
              <dd>{backup.lastAt === null ? 'none yet' : ago(backup.lastAt)}</dd>
              <dt>Behind by</dt>
              <dd class="num">{backup.lagSeconds.toFixed(1)} s</dd>
            </dl>
            <p class="muted">
              The key file <code>instance.key</code> is not in it: keep a copy elsewhere.
            </p>
          </>
        )
      }}
    </Show>
  )
}
