// Personal API tokens: made with the scopes they need, shown once, revoked at any time.

import type { Token } from '../../wire/token.ts'
import { RESOURCES, SCOPES, type Scope } from '../../wire/scopes.ts'
import { call } from '../api-client.ts'
import { ago } from '../format.ts'
import { href } from '../router.ts'
import { openDialog } from '../ui/dialogs.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Badge, Empty, Field, Select } from '../ui/ui.tsx'
import { bodyFields, rowFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { askFirst, openSecret, pageStyles as p, useAnswer } from '../frame/page.tsx'
import s from './settings.module.css'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'
import { Section } from '../frame/section.tsx'
import { LoadedTable } from '../ui/loaded-table.tsx'

const FIELDS = rowFields('GET /api/platform/tokens', 'tokens')
const BODY_FIELDS = bodyFields('POST /api/platform/tokens')
const DAY = 86_400_000
const LIVES = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'A year'],
  ['', 'Does not expire'],
] as const
type Life = (typeof LIVES)[number][0]

export function Tokens() {
  const list = useAnswer('GET /api/platform/tokens', {}, 'tokens')
  const make = () => openDialog(<NewToken />, list.reload)
  const revoke = (token: Token) =>
    askFirst({
      title: `Revoke “${nameOf(token)}”?`,
      text: 'Anything that uses it is refused from now on. This cannot be undone.',
      action: 'Revoke token',
      run: () => call('DELETE /api/platform/tokens', { query: { id: token.id } }).then(list.reload),
    })
  const revokeButton = (one: Token) =>
    item('Revoke', '', () => revoke(one), { danger: true, label: `Revoke ${nameOf(one)}` })
  return (
    <Section title="API tokens">
      <p>
        For scripts and tools that talk to the API as you: <code>Authorization: Bearer crm_pat_…</code>.{' '}
        <a href={href('/help/api-tokens')}>How tokens work</a>
      </p>
      <div class={p['actions']} style={{ marginBottom: '16px' }}>
        {buttons([item('New token', 'plus', make, { primary: true })])}
      </div>
      <LoadedTable
        label="API tokens"
        of={list}
        wire={FIELDS}
        empty={
          <Empty title="No tokens yet">
            Make one to run backtests from the command line, a notebook or a bot.
          </Empty>
        }
        columns={({ own, actions }) => [
          own('name', 'Name', 'main', (one) => (
            <>
              <span>{nameOf(one)}</span>
              <span class={p['cellNote']}>
                <code>…{one.last4}</code>, made {ago(one.createdAt)}
              </span>
            </>
          )),
          { of: 'scopes', head: 'May', look: 'note', cell: (one) => scopesText(one.scopes) },
          { of: 'lastUsedAt', head: 'Last used', empty: 'never' },
          { of: 'expiresAt', head: 'Expires', cell: expiryOf },
          actions('Revoke', (one) => buttons([one.status === 'active' && revokeButton(one)], 'small')),
        ]}
      />
    </Section>
  )
}

const nameOf = ({ name }: Token): string => name || 'Unnamed'

function expiryOf({ status, expiresAt }: Token) {
  if (status !== 'active') return <Badge tone={status === 'revoked' ? 'down' : 'warn'}>{status}</Badge>
  return expiresAt === null ? 'never' : ago(expiresAt)
}

/** `backtests, replay (read)`: a name alone means both reading and writing. */
function scopesText(scopes: readonly string[]): string {
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

function NewToken() {
  const form = useForm<{ readonly name: string; readonly days: Life; readonly scopes: readonly Scope[] }>({
    wire: BODY_FIELDS,
    start: { name: '', days: '90', scopes: ['replay:read', 'replay:write'] },
    async send({ name, days, scopes }) {
      const expiresAt = days === '' ? null : Date.now() + Number(days) * DAY
      const body = { ...(name.trim() !== '' && { name: name.trim() }), scopes, expiresAt }
      const { secret } = await call('POST /api/platform/tokens', { body })
      openSecret(
        'Keep this token',
        'API token',
        secret,
        'It is shown only once. Anybody who has it can do, in your name, what you allowed it.',
      )
    },
  })
  const { scopes } = form.values
  const choose = (chosen: readonly Scope[]) => form.set('scopes', chosen)
  return (
    <FormDialog
      of={form}
      title="New token"
      action="Make the token"
      disabled={scopes.length === 0}
      width={560}
    >
      <div class={p['row']}>
        <Field label="Name" placeholder="What is it for?" autofocus {...form.field('name')} />
        <Select label="Expires after" options={LIVES} {...form.choice('days')} />
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
                    checked={scopes.includes(`${resource}:${right}`)}
                    aria-label={`${resource} ${right}`}
                    onChange={(event) => {
                      const others = scopes.filter((one) => one !== `${resource}:${right}`)
                      choose(event.currentTarget.checked ? [...others, `${resource}:${right}`] : others)
                    }}
                  />
                  <span class="muted">{right}</span>
                </label>
              ))}
            </div>
          ))}
        </div>
        <div class={p['formFoot']}>
          {buttons(
            [
              item('Everything', '', () => choose(SCOPES)),
              item('Read only', '', () => choose(SCOPES.filter((one) => one.endsWith('read')))),
            ],
            'small',
          )}
        </div>
      </fieldset>
    </FormDialog>
  )
}
