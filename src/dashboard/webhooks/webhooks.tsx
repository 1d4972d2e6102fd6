// The tab of webhooks and the page of each: registering, testing and changing them, and rotating their secrets, which are shown only once.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { ago } from '../format.ts'
import { href, navigate } from '../router.ts'
import { openDialog } from '../ui/dialogs.tsx'
import { item, Menu } from '../ui/menu.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Badge, Empty, Field, toast } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { alertStyles as rows } from '../alerts/alerts-list.tsx'
import { offerToUntold } from '../alerts/untold.ts'
import { Deliveries } from './deliveries.tsx'
import {
  askFirst,
  attempt,
  Checks,
  CodeBlock,
  Listed,
  Page,
  Panel,
  openSecret,
  pageStyles as p,
  Secret,
  Show,
  useAnswer,
} from '../frame/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { SNIPPET_LANGUAGES, SNIPPETS, type SnippetLanguage } from './webhook-snippets.ts'
import type { Webhook } from '../../wire/webhook.ts'
import { buttons, deletion } from '../ui/buttons.tsx'
import { Section } from '../frame/section.tsx'

const BODY_FIELDS = bodyFields('POST /api/platform/webhooks')
const EVENTS = [
  ['backtest.reportReady', 'A backtest is ready'],
  ['alert.triggered', 'An alert fires'],
  ['order.placed', 'A forward run places an order'],
  ['order.filled', 'An order of a forward run fills'],
  ['order.cancelled', 'A forward run withdraws an order'],
] as const
const EVENT_CHECKS = EVENTS.map(
  ([event, text]) =>
    [
      event,
      <>
        {text} <code class="muted">{event}</code>
      </>,
    ] as const,
)
const ABOUT_SECRET =
  'It signs every delivery. It is shown this once; if it gets lost, make a new one from the menu of the webhook.'
const REASONS = {
  owner: 'You disabled it.',
  gone: 'It answered 410 Gone, so it was disabled.',
  failing: 'Nothing but failures for five days, so it was disabled.',
  secret_lost: 'The server lost the key to its secret. Rotate the secret, which enables it too.',
} as const

export function Webhooks() {
  const list = useAnswer('GET /api/platform/webhooks', {}, 'webhooks')
  const make = () => openDialog(<WebhookForm webhook={null} />)
  const add = buttons([item('Register a webhook', 'plus', make, { primary: true })])
  return (
    <Panel
      about="A signed POST to your address when a backtest is ready or an alert fires. Failed ones are tried again for three days."
      actions={add}
    >
      <Listed
        of={list}
        label="Webhooks"
        class={rows['list']}
        empty={
          <Empty title="No webhooks yet" action={add}>
            Connect a bot, a chat or a notebook: it is told the moment a result is there.
          </Empty>
        }
      >
        {(one) => (
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
                {one.lastSuccessAt === null ? 'nothing delivered yet' : `delivered ${ago(one.lastSuccessAt)}`}
              </span>
            </div>
            {buttons(
              [
                item('Deliveries', '', () => navigate(`/alerts/webhooks/${one.id}`), {
                  label: `Deliveries of ${one.name}`,
                }),
              ],
              'small quiet',
            )}
          </li>
        )}
      </Listed>
      <Verify />
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
  const [secret, setSecret] = useState<string | null>(null)
  const [sent, setSent] = useState(0)
  const path = { id }
  const loaded = useAnswer('GET /api/platform/webhooks/{id}', { path }, 'webhook')
  const act: Act = (work, text) =>
    attempt(work, () => {
      toast(text, { tone: 'up' })
      setSent((n) => n + 1)
      loaded.reload()
    })
  const webhook = loaded.data
  return (
    <Page
      title={webhook?.name ?? 'Webhook'}
      about={webhook?.url}
      back={['/alerts/webhooks', 'Webhooks']}
      actions={
        webhook && <Actions webhook={webhook} act={act} onChanged={loaded.reload} onSecret={setSecret} />
      }
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
            <Section class={p['section']} title="Deliveries" about="The last thirty days.">
              <Deliveries webhookId={id} changed={sent} />
            </Section>
          </>
        )}
      </Show>
    </Page>
  )
}

/** Does something, says so, and shows what became of it. */
type Act = (work: Promise<unknown>, text: string) => void

interface ActionsProps {
  readonly webhook: Webhook
  readonly act: Act
  readonly onChanged: () => void
  readonly onSecret: (secret: string) => void
}

function Actions({ webhook, act, onChanged, onSecret }: ActionsProps) {
  const { id, name, status } = webhook
  const path = { id }
  const isActive = status === 'active'
  const turn = () => {
    const body = { status: isActive ? 'disabled' : 'active' } as const
    act(call('PATCH /api/platform/webhooks/{id}', { path, body }), isActive ? 'Disabled' : 'Enabled')
  }
  const rotate = () =>
    askFirst({
      title: 'Make a new secret?',
      text: 'The old one stays valid until you confirm that your receiver knows the new one.',
      action: 'Make a new secret',
      async run() {
        onSecret((await call('POST /api/platform/webhooks/{id}/rotate', { path })).secret)
        onChanged()
      },
    })
  const test = () => act(call('POST /api/platform/webhooks/{id}/test', { path }), 'A test is on its way')
  return (
    <>
      {buttons([item('Send a test', 'play', test, { disabled: !isActive })])}
      <Menu
        label="More for this webhook"
        items={[
          item('Change', 'tune', () => openDialog(<WebhookForm webhook={webhook} />, onChanged)),
          item(isActive ? 'Disable' : 'Enable', isActive ? 'pause' : 'play', turn),
          item('New secret', 'replay', rotate),
          '-',
          deletion({
            title: `Delete “${name}”?`,
            text: 'What is still waiting for it is not sent any more.',
            action: 'Delete webhook',
            async run() {
              await call('DELETE /api/platform/webhooks/{id}', { path })
              navigate('/alerts/webhooks')
            },
          }),
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
  const confirm = () => {
    onConfirmed()
    act(call('POST /api/platform/webhooks/{id}/rotate/confirm', { path: { id } }), 'The old secret is gone')
  }
  return (
    <>
      {rotating && (
        <div class={p['note']} data-tone="warn">
          <span>
            The secret is being changed. <code>webhook-signature</code> carries both for 24 hours;{' '}
            <code>X-Service-Signature</code> keeps the old one until you confirm that your receiver knows the
            new one.
          </span>
          <span>{buttons([item('My receiver knows it', 'check', confirm)], 'small')}</span>
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

function WebhookForm({ webhook }: { readonly webhook: Webhook | null }) {
  const form = useForm<Pick<Webhook, 'name' | 'url'> & { readonly events: readonly string[] }>({
    wire: BODY_FIELDS,
    start: {
      name: webhook?.name ?? '',
      url: webhook?.url ?? 'https://',
      events: webhook?.events ?? ['backtest.reportReady'],
    },
    async send({ name, url, events }) {
      const body = { name: name.trim(), url: url.trim(), events }
      if (webhook) await call('PATCH /api/platform/webhooks/{id}', { path: { id: webhook.id }, body })
      else {
        const { id, secret } = await call('POST /api/platform/webhooks', { body })
        if (events.includes('alert.triggered'))
          attempt(offerToUntold(body.name, { channels: ['webhook'], webhookIds: [id] }))
        navigate(`/alerts/webhooks/${id}`)
        openSecret('Keep this secret', 'Signing secret', secret, ABOUT_SECRET)
      }
    },
  })
  return (
    <FormDialog
      of={form}
      title={webhook ? 'Change the webhook' : 'Register a webhook'}
      action={webhook ? 'Save' : 'Register'}
    >
      <Field label="Name" autofocus placeholder="Trade bot" {...form.field('name')} />
      <Field
        label="Address"
        hint="https, and reachable from the server. Private addresses are blocked unless whoever runs the server allows them."
        {...form.field('url', { type: 'url' })}
      />
      <Checks
        label="When"
        options={EVENT_CHECKS}
        chosen={form.values.events}
        onChange={(events) => form.set('events', events)}
      >
        {form.problem('events') && <span class="down">{form.problem('events')}</span>}
      </Checks>
    </FormDialog>
  )
}

function Verify() {
  const [language, setLanguage] = useState<SnippetLanguage>('node')
  return (
    <Section class={p['section']} title="Verify what arrives">
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
    </Section>
  )
}
