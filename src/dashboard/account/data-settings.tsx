// What somebody owns as one file, out and in; and the server's backup, for those who run it.

import { useSignal } from '@preact/signals'
import type { AnswerOf } from '../../wire/operations.ts'
import { ApiError, apiUrl } from '../api-client.ts'
import { ago } from '../format.ts'
import { DropZone } from '../frame/drop-zone.tsx'
import { Check, pageStyles as p, Show, useAnswer } from '../frame/page.tsx'
import { href } from '../router.ts'
import { user } from '../session.ts'
import { Badge, Failure } from '../ui/ui.tsx'
import { buttons, downloadItem } from '../ui/buttons.tsx'
import { Section } from '../frame/section.tsx'

export const DataSettings = () => (
  <>
    <Section title="Everything you own">
      <Export />
    </Section>
    <Section title="Take a file in">
      <Import />
    </Section>
    {user.value?.role !== 'member' && (
      <Section title="Backup of the server">
        <ServerBackup />
      </Section>
    )}
    <p>
      <a href={href('/help/backup')}>More about files and backups</a>
    </p>
  </>
)

function Export() {
  const bars = useSignal(false)
  return (
    <>
      <p>
        One file with your scripts, backtests, sweeps, portfolios, scans, forward runs, ideas, watchlists,
        alerts, channels, webhooks, inboxes, drawings and layouts, to keep or to take to another server.
        Secrets are not in it.
      </p>
      <Check checked={bars.value} onChange={(on) => (bars.value = on)}>
        {user.value?.role === 'member'
          ? 'With the bars that you imported for yourself'
          : 'With all bars that everybody has here'}
      </Check>
      <p>
        {buttons([
          downloadItem('Export everything', '/api/platform/export', { bars: bars.value ? 'yes' : null }),
        ])}
      </p>
    </>
  )
}

type Taken = AnswerOf<'POST /api/platform/import'>

function Import() {
  const state = useSignal<{ sending?: true; taken?: Taken; error?: unknown }>({})
  const take = async ([file]: readonly File[]) => {
    if (!file) return
    state.value = { sending: true }
    try {
      state.value = { taken: await sent(file) }
    } catch (error) {
      state.value = { error }
    }
  }
  const { sending = false, taken, error } = state.value
  return (
    <>
      <p>
        Nothing that you have is changed, and to take the same file in twice is harmless. Ideas and scripts
        come in private, webhooks and channels wait for their secrets.
      </p>
      <DropZone accept=".gz,.jsonl" disabled={sending} onFiles={(files) => void take(files)}>
        <strong>Drop an exported file here</strong>
      </DropZone>
      <div role="status">
        {sending && <p>Taking it in…</p>}
        {taken && <TakenIn of={taken} />}
      </div>
      {error !== undefined && <Failure error={error} />}
    </>
  )
}

async function sent(file: File): Promise<Taken> {
  const response = await fetch(apiUrl('/api/platform/import'), {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/gzip' },
    body: file,
  })
  const answer = await response.json()
  if (!response.ok) throw new ApiError(response.status, answer.error ?? {})
  return answer as Taken
}

function TakenIn({ of: { imported, present, refused } }: { readonly of: Taken }) {
  const told = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', ')
  return (
    <>
      <p>Imported: {told(imported) || 'nothing'}.</p>
      {told(present) !== '' && <p>There already: {told(present)}.</p>}
      {refused.length > 0 && (
        <ul>
          {refused.map(({ kind, name, message }, i) => (
            <li key={i}>
              Not taken: {kind} “{name}”. {message}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

const STATES = {
  ok: ['up', 'Works'],
  starting: ['accent', 'First snapshot under way'],
  late: ['warn', 'Late'],
  failing: ['down', 'Fails'],
} as const

function ServerBackup() {
  const loaded = useAnswer('GET /api/platform/backup', {})
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
                {backup.since !== null && ` (since ${ago(backup.since)})`}
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
