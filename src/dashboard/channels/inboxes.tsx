// Inboxes on the page of channels: an address to paste into TradingView, what has come there, and where it is forwarded.

import { useState } from 'preact/hooks'
import type { Channel } from '../../wire/channel.ts'
import type { Inbox } from '../../wire/inbox.ts'
import { alertStyles as rows } from '../alerts/alerts-list.tsx'
import { apiUrl, call } from '../api-client.ts'
import { ago } from '../format.ts'
import { Check, Confirm, More, pageStyles as p, Secret, Show, useLoad, usePages } from '../frame/page.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Menu } from '../ui/menu.tsx'
import { Button, Dialog, Empty, Field } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }

const BODY_FIELDS = bodyFields('POST /api/platform/inboxes')

export function Inboxes({ channels }: { readonly channels: readonly Channel[] }) {
  const [editing, setEditing] = useState<Inbox | 'new' | null>(null)
  const [address, setAddress] = useState<string | null>(null)
  const list = useLoad(async (signal) => (await call('GET /api/platform/inboxes', { signal })).inboxes, [])
  return (
    <section class={p['section']}>
      <h2>From TradingView</h2>
      <p>
        Alerts that still run there can come here: paste an address into their webhook field. What arrives is
        kept and forwarded to your channels.
      </p>
      <Show of={list}>
        {(inboxes) => (
          <>
            {inboxes.length > 0 && (
              <ul class={rows['list']} aria-label="Addresses for TradingView">
                {inboxes.map((one) => (
                  <InboxRow
                    key={one.id}
                    inbox={one}
                    channels={channels}
                    onEdit={() => setEditing(one)}
                    onChanged={list.reload}
                  />
                ))}
              </ul>
            )}
            <p>
              <Button icon="plus" onClick={() => setEditing('new')}>
                Make an address
              </Button>
            </p>
          </>
        )}
      </Show>
      {editing && (
        <InboxForm
          inbox={editing === 'new' ? null : editing}
          channels={channels}
          onClose={() => setEditing(null)}
          onSaved={list.reload}
          onMade={setAddress}
        />
      )}
      {address !== null && (
        <Dialog
          title="Keep this address"
          onClose={() => setAddress(null)}
          footer={
            <Button variant="primary" onClick={() => setAddress(null)}>
              I have kept it
            </Button>
          }
        >
          <p>It works like a password and is shown this once. TradingView must be able to reach it.</p>
          <Secret value={address} label="Address" />
        </Dialog>
      )}
    </section>
  )
}

interface InboxRowProps {
  readonly inbox: Inbox
  readonly channels: readonly Channel[]
  readonly onEdit: () => void
  readonly onChanged: () => void
}

function InboxRow({ inbox, channels, onEdit, onChanged }: InboxRowProps) {
  const [open, setOpen] = useState<'log' | 'delete' | null>(null)
  const to = channels.filter(({ id }) => inbox.channelIds.includes(id)).map(({ name }) => name)
  return (
    <li class={rows['row']}>
      <div class={rows['main']}>
        <strong>{inbox.name}</strong>
        <span class={rows['note']}>{to.length > 0 ? `to ${to.join(', ')}` : 'kept here only'}</span>
      </div>
      <div class={rows['side']}>
        <span class={rows['note']}>
          {inbox.lastAt === null ? 'nothing yet' : `${inbox.received} received, last ${ago(inbox.lastAt)}`}
        </span>
      </div>
      <div style={{ display: 'flex', gap: '4px' }}>
        <Button size="small" aria-label={`Messages of ${inbox.name}`} onClick={() => setOpen('log')}>
          Messages
        </Button>
        <Menu
          label={`More for ${inbox.name}`}
          items={[
            { text: 'Change', icon: 'tune', run: onEdit },
            '-',
            { text: 'Delete', icon: 'trash', danger: true, run: () => setOpen('delete') },
          ]}
        />
      </div>
      {open === 'log' && (
        <Dialog title={`Sent to ${inbox.name}`} onClose={() => setOpen(null)}>
          <Messages inboxId={inbox.id} />
        </Dialog>
      )}
      {open === 'delete' && (
        <Confirm
          title={`Delete ${inbox.name}?`}
          action="Delete"
          onClose={() => setOpen(null)}
          onConfirm={async () => {
            await call('DELETE /api/platform/inboxes/{id}', { path: { id: inbox.id } })
            onChanged()
          }}
        >
          Its address stops working at once, and its messages are deleted.
        </Confirm>
      )}
    </li>
  )
}

function Messages({ inboxId }: { readonly inboxId: string }) {
  const list = usePages(
    async (query, signal) => {
      const answer = await call('GET /api/platform/inboxes/{id}/messages', {
        path: { id: inboxId },
        query,
        signal,
      })
      return { items: answer.messages, nextCursor: answer.nextCursor }
    },
    [inboxId],
  )
  return (
    <Show of={list}>
      {({ items, onMore }) =>
        items.length === 0 ? (
          <Empty title="Nothing has come yet">Paste its address into an alert of TradingView.</Empty>
        ) : (
          <>
            <ul class={rows['list']} aria-label="Messages">
              {items.map((one) => (
                <li key={one.id} class={rows['row']}>
                  <div class={rows['main']}>
                    <span style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{one.text}</span>
                    <span class={rows['note']}>{ago(one.receivedAt)}</span>
                  </div>
                </li>
              ))}
            </ul>
            <More onMore={onMore} />
          </>
        )
      }
    </Show>
  )
}

interface InboxFormProps {
  readonly inbox: Inbox | null
  readonly channels: readonly Channel[]
  readonly onClose: () => void
  readonly onSaved: () => void
  readonly onMade: (address: string) => void
}

function InboxForm({ inbox, channels, onClose, onSaved, onMade }: InboxFormProps) {
  const form = useForm({
    wire: BODY_FIELDS,
    start: {
      name: inbox?.name ?? 'TradingView',
      onlyTradingView: inbox?.senders === 'tradingview',
      channelIds: inbox?.channelIds ?? [],
    },
    async send({ name, onlyTradingView, channelIds }) {
      const body = {
        name: name.trim(),
        senders: onlyTradingView ? ('tradingview' as const) : ('anyone' as const),
        channelIds: channelIds.filter((id) => channels.some((one) => one.id === id)),
      }
      if (inbox) await call('PATCH /api/platform/inboxes/{id}', { path: { id: inbox.id }, body })
      else {
        const { path } = await call('POST /api/platform/inboxes', { body })
        onMade(new URL(apiUrl(path), location.href).href)
      }
      onSaved()
      onClose()
    },
  })
  const { values, set } = form
  return (
    <FormDialog
      of={form}
      title={inbox ? `Change ${inbox.name}` : 'Make an address'}
      action={inbox ? 'Save' : 'Make it'}
      onClose={onClose}
    >
      <Field label="Name" {...form.field('name')} />
      <fieldset class={p['form']} style={{ gap: '6px' }}>
        <legend class="muted" style={{ fontSize: '12px', marginBottom: '4px' }}>
          Forward to
        </legend>
        {channels.map((one) => (
          <Check
            key={one.id}
            checked={values.channelIds.includes(one.id)}
            onChange={(on) =>
              set(
                'channelIds',
                on ? [...values.channelIds, one.id] : values.channelIds.filter((id) => id !== one.id),
              )
            }
          >
            {one.name}
          </Check>
        ))}
        {channels.length === 0 && <span class="muted">No channels yet: messages are kept here.</span>}
      </fieldset>
      <Check checked={values.onlyTradingView} onChange={(on) => set('onlyTradingView', on)}>
        Only from TradingView’s own addresses
      </Check>
    </FormDialog>
  )
}
