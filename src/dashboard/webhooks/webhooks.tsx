// The tab of webhooks and the page of each: registering, testing and changing them, and rotating their secrets, which are shown only once.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { ago } from '../format.ts'
import { href, navigate } from '../router.ts'
import { Menu } from '../ui/menu.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Badge, Button, Dialog, Empty, Field, toast } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { alertStyles as rows } from '../alerts/alerts-list.tsx'
import { Deliveries } from './deliveries.tsx'
import {
  attempt,
  Check,
  CodeBlock,
  Confirm,
  Page,
  Panel,
  pageStyles as p,
  Secret,
  Segments,
  Show,
  useLoad,
} from '../frame/page.tsx'
import { SNIPPET_LANGUAGES, SNIPPETS, type SnippetLanguage } from './webhook-snippets.ts'
import type { Webhook } from '../../wire/webhook.ts'

const BODY_FIELDS = bodyFields('POST /api/platform/webhooks')
const EVENTS = [
  ['backtest.reportReady', 'A backtest is ready'],
  ['alert.triggered', 'An alert fires'],
  ['order.placed', 'A forward run places an order'],
  ['order.filled', 'An order of a forward run fills'],
  ['order.cancelled', 'A forward run withdraws an order'],
] as const
const REASONS = {
  owner: 'You disabled it.',
  gone: 'It answered 410 Gone, so it was disabled.',
  failing: 'Nothing but failures for five days, so it was disabled.',
  secret_lost: 'The server lost the key to its secret. Rotate the secret, which enables it too.',
} as const

export function Webhooks() {
  const [making, setMaking] = useState(false)
  const list = useLoad(async (signal) => (await call('GET /api/platform/webhooks', { signal })).webhooks, [])
  return (
    <Panel
      about="A signed POST to your address when a backtest is ready or an alert fires. Failed ones are tried again for three days."
      actions={
        <Button variant="primary" icon="plus" onClick={() => setMaking(true)}>
          Register a webhook
        </Button>
      }
    >
      <Show of={list}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Empty
              title="No webhooks yet"
              action={
                <Button variant="primary" onClick={() => setMaking(true)}>
                  Register a webhook
                </Button>
              }
            >
              Connect a bot, a chat or a notebook: it is told the moment a result is there.
            </Empty>
          ) : (
            <ul class={rows['list']} aria-label="Webhooks">
              {webhooks.map((one) => (
                <li key={one.id} class={rows['row']}>
                  <div class={rows['main']}>
                    <a href={href(`/alerts/webhooks/${one.id}`)}>
                      <strong>{one.name}</strong>
                    </a>
                    <span class={rows['note']}>{one.url}</span>
                  </div>
                  <div class={rows['side']}>
                    <StateBadge webhook={one} />
                    <span class={rows['note']}>
                      {one.lastSuccessAt === null
                        ? 'nothing delivered yet'
                        : `delivered ${ago(one.lastSuccessAt)}`}
                    </span>
                  </div>
                  <Button
                    size="small"
                    variant="quiet"
                    onClick={() => navigate(`/alerts/webhooks/${one.id}`)}
                    aria-label={`Deliveries of ${one.name}`}
                  >
                    Deliveries
                  </Button>
                </li>
              ))}
            </ul>
          )
        }
      </Show>
      <Verify />
      {making && <WebhookForm webhook={null} onClose={() => setMaking(false)} onSaved={list.reload} />}
    </Panel>
  )
}

function StateBadge({ webhook }: { readonly webhook: Webhook }) {
  if (webhook.status === 'disabled') return <Badge>disabled</Badge>
  if (webhook.failingSince !== null)
    return <Badge tone="down">failing since {ago(webhook.failingSince)}</Badge>
  return <Badge tone="up">active</Badge>
}

export function WebhookPage({ id = '' }: { readonly id?: string }) {
  const [dialog, setDialog] = useState<DialogName | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const [sent, setSent] = useState(0)
  const path = { id }
  const loaded = useLoad(
    async (signal) => (await call('GET /api/platform/webhooks/{id}', { path, signal })).webhook,
    [id],
  )
  const act: Act = (work, text) =>
    attempt(
      work.then(() => {
        toast(text, { tone: 'up' })
        setSent((n) => n + 1)
        loaded.reload()
      }),
    )
  const webhook = loaded.data
  return (
    <Page
      title={webhook?.name ?? 'Webhook'}
      about={webhook?.url}
      back={['/alerts/webhooks', 'Webhooks']}
      actions={webhook && <Actions webhook={webhook} act={act} onDialog={setDialog} />}
    >
      <Show of={loaded}>
        {(one) => (
          <>
            <div class={p['form']}>
              {secret && (
                <div class={p['note']} data-tone="warn">
                  <strong>The new secret, shown once</strong>
                  <Secret value={secret} label="Signing secret" />
                </div>
              )}
              <State webhook={one} act={act} onConfirmed={() => setSecret(null)} />
            </div>
            <section class={p['section']}>
              <h2>Deliveries</h2>
              <p>The last thirty days.</p>
              <Deliveries webhookId={id} changed={sent} />
            </section>
            <Dialogs
              webhook={one}
              dialog={dialog}
              onClose={() => setDialog(null)}
              onChanged={loaded.reload}
              onSecret={setSecret}
            />
          </>
        )}
      </Show>
    </Page>
  )
}

type DialogName = 'edit' | 'delete' | 'rotate'
/** Does something, says so, and shows what became of it. */
type Act = (work: Promise<unknown>, text: string) => void

interface ActionsProps {
  readonly webhook: Webhook
  readonly act: Act
  readonly onDialog: (name: DialogName) => void
}

function Actions({ webhook: { id, status }, act, onDialog }: ActionsProps) {
  const path = { id }
  const isActive = status === 'active'
  const turn = () =>
    act(
      call('PATCH /api/platform/webhooks/{id}', { path, body: { status: isActive ? 'disabled' : 'active' } }),
      isActive ? 'Disabled' : 'Enabled',
    )
  return (
    <>
      <Button
        icon="play"
        disabled={!isActive}
        onClick={() => act(call('POST /api/platform/webhooks/{id}/test', { path }), 'A test is on its way')}
      >
        Send a test
      </Button>
      <Menu
        label="More for this webhook"
        items={[
          { text: 'Change', icon: 'tune', run: () => onDialog('edit') },
          { text: isActive ? 'Disable' : 'Enable', icon: isActive ? 'pause' : 'play', run: turn },
          { text: 'New secret', icon: 'replay', run: () => onDialog('rotate') },
          '-',
          { text: 'Delete', icon: 'trash', danger: true, run: () => onDialog('delete') },
        ]}
      />
    </>
  )
}

interface StateProps {
  readonly webhook: Webhook
  readonly act: Act
  readonly onConfirmed: () => void
}

function State({ webhook, act, onConfirmed }: StateProps) {
  const { id, rotating, disabledReason, events, createdAt } = webhook
  return (
    <>
      {rotating && (
        <div class={p['note']} data-tone="warn">
          <span>
            The secret is being changed. <code>webhook-signature</code> carries both for 24 hours;{' '}
            <code>X-Service-Signature</code> keeps the old one until you confirm that your receiver knows the
            new one.
          </span>
          <span>
            <Button
              size="small"
              icon="check"
              onClick={() => {
                onConfirmed()
                act(
                  call('POST /api/platform/webhooks/{id}/rotate/confirm', { path: { id } }),
                  'The old secret is gone',
                )
              }}
            >
              My receiver knows it
            </Button>
          </span>
        </div>
      )}
      {disabledReason && (
        <div class={p['note']} data-tone="down">
          {REASONS[disabledReason]}
          {disabledReason !== 'secret_lost' && ' Enable it from the menu, which also forgets its failures.'}
        </div>
      )}
      <dl class={p['facts']}>
        <dt>State</dt>
        <dd>
          <StateBadge webhook={webhook} />
        </dd>
        <dt>Events</dt>
        <dd>{events.map((event) => EVENTS.find(([name]) => name === event)?.[1] ?? event).join(', ')}</dd>
        <dt>Registered</dt>
        <dd>{ago(createdAt)}</dd>
      </dl>
    </>
  )
}

interface DialogsProps {
  readonly webhook: Webhook
  readonly dialog: DialogName | null
  readonly onClose: () => void
  readonly onChanged: () => void
  readonly onSecret: (secret: string) => void
}

function Dialogs({ webhook, dialog, onClose, onChanged, onSecret }: DialogsProps) {
  const path = { id: webhook.id }
  if (dialog === 'edit') return <WebhookForm webhook={webhook} onClose={onClose} onSaved={onChanged} />
  if (dialog === 'delete')
    return (
      <Confirm
        title={`Delete “${webhook.name}”?`}
        action="Delete webhook"
        onClose={onClose}
        onConfirm={async () => {
          await call('DELETE /api/platform/webhooks/{id}', { path })
          navigate('/alerts/webhooks')
        }}
      >
        What is still waiting for it is not sent any more.
      </Confirm>
    )
  if (dialog === 'rotate')
    return (
      <Confirm
        title="Make a new secret?"
        action="Make a new secret"
        onClose={onClose}
        onConfirm={async () => {
          onSecret((await call('POST /api/platform/webhooks/{id}/rotate', { path })).secret)
          onChanged()
        }}
      >
        The old one stays valid until you confirm that your receiver knows the new one.
      </Confirm>
    )
  return null
}

interface WebhookFormProps {
  readonly webhook: Webhook | null
  readonly onClose: () => void
  readonly onSaved: () => void
}

function WebhookForm({ webhook, onClose, onSaved }: WebhookFormProps) {
  const [made, setMade] = useState<{ id: string; secret: string } | null>(null)
  const form = useForm<Pick<Webhook, 'name' | 'url'> & { readonly events: readonly string[] }>({
    wire: BODY_FIELDS,
    start: {
      name: webhook?.name ?? '',
      url: webhook?.url ?? 'https://',
      events: webhook?.events ?? ['backtest.reportReady'],
    },
    async send({ name, url, events }) {
      const body = { name: name.trim(), url: url.trim(), events }
      if (webhook) {
        await call('PATCH /api/platform/webhooks/{id}', { path: { id: webhook.id }, body })
        onClose()
      } else setMade(await call('POST /api/platform/webhooks', { body }))
      onSaved()
    },
  })
  const { events } = form.values
  if (made) return <KeepSecret {...made} onClose={onClose} />
  return (
    <FormDialog
      of={form}
      title={webhook ? 'Change the webhook' : 'Register a webhook'}
      action={webhook ? 'Save' : 'Register'}
      onClose={onClose}
    >
      <Field label="Name" autofocus placeholder="Trade bot" {...form.field('name')} />
      <Field
        label="Address"
        hint="https, and reachable from the server. Private addresses are blocked unless whoever runs the server allows them."
        {...form.field('url', { type: 'url' })}
      />
      <fieldset class={p['form']} style={{ gap: '6px' }}>
        <legend class="muted" style={{ fontSize: '12px', marginBottom: '4px' }}>
          When
        </legend>
        {EVENTS.map(([event, text]) => (
          <Check
            key={event}
            checked={events.includes(event)}
            onChange={(on) =>
              form.set('events', on ? [...events, event] : events.filter((one) => one !== event))
            }
          >
            {text} <code class="muted">{event}</code>
          </Check>
        ))}
        {form.problem('events') && <span class="down">{form.problem('events')}</span>}
      </fieldset>
    </FormDialog>
  )
}

interface KeepSecretProps {
  readonly id: string
  readonly secret: string
  readonly onClose: () => void
}

function KeepSecret({ id, secret, onClose }: KeepSecretProps) {
  const done = () => {
    onClose()
    navigate(`/alerts/webhooks/${id}`)
  }
  return (
    <Dialog
      title="Keep this secret"
      onClose={onClose}
      footer={
        <Button variant="primary" onClick={done}>
          I have kept it
        </Button>
      }
    >
      <p>
        It signs every delivery. It is shown this once; if it gets lost, make a new one from the menu of the
        webhook.
      </p>
      <Secret value={secret} label="Signing secret" />
    </Dialog>
  )
}

function Verify() {
  const [language, setLanguage] = useState<SnippetLanguage>('node')
  return (
    <section class={p['section']}>
      <h2>Verify what arrives</h2>
      <p>
        <code>X-Service-Signature</code> is <code>sha256=</code> and the HMAC-SHA256 of the raw body, keyed
        with the secret. Compute it before parsing and compare in constant time.{' '}
        <a href={href('/help/webhook-signature')}>More about signatures</a>
      </p>
      <div class={p['form']} style={{ justifyItems: 'start' }}>
        <Segments label="Language" value={language} options={SNIPPET_LANGUAGES} onChange={setLanguage} />
      </div>
      <div style={{ marginTop: '12px' }}>
        <CodeBlock text={SNIPPETS[language]} label={`Receiver in ${language}`} />
      </div>
    </section>
  )
}
