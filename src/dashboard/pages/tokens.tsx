// Personal API tokens: made with the scopes they need, shown once, revoked at any time.

import type { Token } from '../../wire/token.ts'
import { useState } from 'preact/hooks'
import type { Scope } from '../../wire/token.ts'
import { call } from '../api-client.ts'
import { ago } from '../format.ts'
import { href } from '../router.ts'
import { Badge, Button, Dialog, Empty, Field, Select, uiStyles as ui } from '../ui/ui.tsx'
import {
  Confirm,
  FormProblem,
  pageStyles as p,
  problemAt,
  Secret,
  Show,
  useLoad,
  useSubmit,
} from './page.tsx'
import s from './settings.module.css'

const RESOURCES = [
  'backtests',
  'alerts',
  'ideas',
  'scripts',
  'watchlists',
  'replay',
  'search',
  'webhooks',
  'bars',
] as const
const DAY = 86_400_000
const LIVES = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'A year'],
  ['', 'Does not expire'],
] as const

export function Tokens() {
  const [making, setMaking] = useState(false)
  const [revoking, setRevoking] = useState<Token | null>(null)
  const list = useLoad(async (signal) => (await call('GET /api/platform/tokens', { signal })).tokens, [])
  return (
    <section>
      <h2>API tokens</h2>
      <p>
        For scripts and tools that talk to the API as you: <code>Authorization: Bearer crm_pat_…</code>.{' '}
        <a href={href('/help/api-tokens')}>How tokens work</a>
      </p>
      <div class={p['actions']} style={{ marginBottom: '16px' }}>
        <Button variant="primary" icon="plus" onClick={() => setMaking(true)}>
          New token
        </Button>
      </div>
      <Show of={list}>
        {(tokens) =>
          tokens.length === 0 ? (
            <Empty title="No tokens yet">
              Make one to run backtests from the command line, a notebook or a bot.
            </Empty>
          ) : (
            <div class={p['scroll']}>
              <table class={ui['table']}>
                <thead>
                  <tr>
                    <th>Name</th>
                    <th>May</th>
                    <th>Last used</th>
                    <th>Expires</th>
                    <th>
                      <span class="visually-hidden">Revoke</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {tokens.map((one) => (
                    <tr key={one.id}>
                      <td class={p['cellMain']}>
                        <span>{one.name || 'Unnamed'}</span>
                        <span class={p['cellNote']}>
                          <code>…{one.last4}</code>, made {ago(one.createdAt)}
                        </span>
                      </td>
                      <td class={p['cellNote']}>{scopesText(one.scopes)}</td>
                      <td class="muted">{one.lastUsedAt === null ? 'never' : ago(one.lastUsedAt)}</td>
                      <td class="muted">
                        {one.status === 'active' ? (
                          one.expiresAt === null ? (
                            'never'
                          ) : (
                            ago(one.expiresAt)
                          )
                        ) : (
                          <Badge tone={one.status === 'revoked' ? 'down' : 'warn'}>{one.status}</Badge>
                        )}
                      </td>
                      <td class={p['cellEnd']}>
                        {one.status === 'active' && (
                          <Button
                            size="small"
                            variant="danger"
                            aria-label={`Revoke ${one.name || 'the token'}`}
                            onClick={() => setRevoking(one)}
                          >
                            Revoke
                          </Button>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Show>
      {making && <NewToken onClose={() => setMaking(false)} onMade={list.reload} />}
      {revoking && (
        <Confirm
          title={`Revoke “${revoking.name || 'the token'}”?`}
          action="Revoke token"
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            await call('DELETE /api/platform/tokens', { query: { id: revoking.id } })
            list.reload()
          }}
        >
          Whatever uses it is refused from now on. That cannot be taken back.
        </Confirm>
      )}
    </section>
  )
}

/** `backtests, replay (read)`: both rights without saying so. */
export function scopesText(scopes: readonly string[]): string {
  const names = RESOURCES.flatMap((name) => {
    const read = scopes.includes(`${name}:read`)
    const write = scopes.includes(`${name}:write`)
    if (read && write) return [name]
    return read ? [`${name} (read)`] : write ? [`${name} (write)`] : []
  })
  return names.length === RESOURCES.length && scopes.length === RESOURCES.length * 2
    ? 'everything'
    : names.join(', ')
}

function NewToken({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: () => void }) {
  const [name, setName] = useState('')
  const [days, setDays] = useState<(typeof LIVES)[number][0]>('90')
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set<Scope>(['replay:read', 'replay:write']))
  const [secret, setSecret] = useState<string | null>(null)
  const { busy, error, submit } = useSubmit(async () => {
    const expiresAt = days === '' ? null : Date.now() + Number(days) * DAY
    const answer = await call('POST /api/platform/tokens', {
      body: {
        ...(name.trim() !== '' && { name: name.trim() }),
        scopes: [...scopes],
        expiresAt,
      },
    })
    setSecret(answer.secret)
    onMade()
  })
  if (secret !== null)
    return (
      <Dialog
        title="Keep this token"
        onClose={onClose}
        footer={
          <Button variant="primary" onClick={onClose}>
            I have kept it
          </Button>
        }
      >
        <p>It is shown this once. Whoever has it can do as you what you allowed it.</p>
        <Secret value={secret} label="API token" />
      </Dialog>
    )
  const turn = (scope: Scope, on: boolean) => {
    const next = new Set(scopes)
    if (on) next.add(scope)
    else next.delete(scope)
    setScopes(next)
  }
  const every = RESOURCES.flatMap((one): Scope[] => [`${one}:read`, `${one}:write`])
  return (
    <Dialog
      title="New token"
      onClose={onClose}
      width={560}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" disabled={busy || scopes.size === 0} onClick={submit}>
            Make the token
          </Button>
        </>
      }
    >
      <form class={p['form']} onSubmit={submit}>
        <div class={p['row']}>
          <Field
            label="Name"
            value={name}
            onInput={setName}
            placeholder="What is it for?"
            autofocus
            problem={problemAt(error, '/name')}
          />
          <Select label="Expires after" value={days} options={LIVES} onChange={setDays} />
        </div>
        <fieldset class={p['form']} style={{ gap: '8px' }}>
          <legend class="muted" style={{ fontSize: '12px', marginBottom: '6px' }}>
            It may
          </legend>
          <div class={s.scopes}>
            {RESOURCES.map((resource) => (
              <div key={resource} class={s.scope}>
                <span>{resource}</span>
                {(['read', 'write'] as const).map((right) => (
                  <label key={right} class={p['check']}>
                    <input
                      type="checkbox"
                      checked={scopes.has(`${resource}:${right}`)}
                      aria-label={`${resource} ${right}`}
                      onChange={(event) => turn(`${resource}:${right}`, event.currentTarget.checked)}
                    />
                    <span class="muted">{right}</span>
                  </label>
                ))}
              </div>
            ))}
          </div>
          <div class={p['formFoot']}>
            <Button size="small" onClick={() => setScopes(new Set(every))}>
              Everything
            </Button>
            <Button
              size="small"
              onClick={() => setScopes(new Set(every.filter((one) => one.endsWith('read'))))}
            >
              Read only
            </Button>
          </div>
        </fieldset>
        <FormProblem error={error} paths={['/name']} />
        <input type="submit" hidden />
      </form>
    </Dialog>
  )
}
