// Inboxes: an address to paste into TradingView, what has come there, and where it is forwarded.

import { useState } from 'preact/hooks'
import type { Channel } from '../../wire/channel.ts'
import type { Inbox } from '../../wire/inbox.ts'
import { alertStyles as rows } from '../alerts/alerts-list.tsx'
import { apiUrl, call } from '../api-client.ts'
import { Check, pageStyles as p, Panel, Secret, Show, useLoad } from '../frame/page.tsx'
import { ago } from '../format.ts'
import { Ago } from '../ui/ago.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Button, Dialog, Empty, Field } from '../ui/ui.tsx'
import { LogDialog, Row } from './rows.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }

const BODY_FIELDS = bodyFields('POST /api/platform/inboxes')

export function Inboxes() {
  const [editing, setEditing] = useState<Inbox | 'new' | null>(null)
  const [address, setAddress] = useState<string | null>(null)
  const list = useLoad(async (signal) => (await call('GET /api/platform/inboxes', { signal })).inboxes, [])
  const told = useLoad(async (signal) => (await call('GET /api/platform/channels', { signal })).channels, [])
  const channels = told.data ?? []
  return (
    <Panel about="Alerts that still run there can come here: paste an address into their webhook field. What arrives is kept and forwarded to your channels.">
      <Show of={list}>
        {(inboxes) => (
          <>
            {inboxes.length > 0 && (
              <ul class={rows['beside']} aria-label="Addresses for TradingView">
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
            <p style={{ marginTop: '12px' }}>
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
    </Panel>
  )
}

interface InboxRowProps {
  readonly inbox: Inbox
  readonly channels: readonly Channel[]
  readonly onEdit: () => void
  readonly onChanged: () => void
}

function InboxRow({ inbox, channels, onEdit, onChanged }: InboxRowProps) {
  const [showsLog, setShowsLog] = useState(false)
  const to = channels.filter(({ id }) => inbox.channelIds.includes(id)).map(({ name }) => name)
  return (
    <Row
      name={inbox.name}
      note={noteOf(inbox, to)}
      side={
        <span class={rows['note']}>
          {inbox.lastAt === null ? (
            'nothing yet'
          ) : (
            <>
              {inbox.received} received, last <Ago at={inbox.lastAt} />
            </>
          )}
        </span>
      }
      button={
        <Button size="small" aria-label={`Messages of ${inbox.name}`} onClick={() => setShowsLog(true)}>
          Messages
        </Button>
      }
      items={[{ text: 'Change', icon: 'tune', run: onEdit }]}
      onDelete={async () => {
        await call('DELETE /api/platform/inboxes/{id}', { path: { id: inbox.id } })
        onChanged()
      }}
      onDeleteText="Its address stops working at once, and its messages are deleted."
    >
      {showsLog && <Messages inbox={inbox} onClose={() => setShowsLog(false)} />}
    </Row>
  )
}

function noteOf({ circleAt }: Inbox, to: readonly string[]): string {
  if (circleAt !== null)
    return `a message went in a circle ${ago(circleAt)} and was stopped: no channel it goes to may post here`
  return to.length > 0 ? `to ${to.join(', ')}` : 'kept here only'
}

function Messages({ inbox, onClose }: { readonly inbox: Inbox; readonly onClose: () => void }) {
  return (
    <LogDialog
      title={`Come to ${inbox.name}`}
      label="Messages"
      onClose={onClose}
      load={async (query, signal) => {
        const { messages, nextCursor } = await call('GET /api/platform/inboxes/{id}/messages', {
          path: { id: inbox.id },
          query,
          signal,
        })
        return { items: messages, nextCursor }
      }}
      empty={<Empty title="Nothing has come yet">Paste its address into an alert of TradingView.</Empty>}
      row={(one) => (
        <div class={rows['main']}>
          <span style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{one.text}</span>
          <span class={rows['note']}>
            <Ago at={one.receivedAt} />
          </span>
        </div>
      )}
    />
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
