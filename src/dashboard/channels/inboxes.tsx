// Inboxes: an address to paste into TradingView, what has come there, and where it is forwarded.

import { item } from '../ui/menu.tsx'
import type { Channel } from '../../wire/channel.ts'
import type { Inbox } from '../../wire/inbox.ts'
import { alertStyles as rows } from '../alerts/alerts-list.tsx'
import { apiUrl, call } from '../api-client.ts'
import { Check, Checks, openSecret, Panel, Show, useLoad } from '../frame/page.tsx'
import { ago } from '../format.ts'
import { Ago } from '../ui/ago.tsx'
import { openDialog } from '../ui/dialogs.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Empty, Field } from '../ui/ui.tsx'
import { LogDialog, Row } from './rows.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { buttons } from '../ui/buttons.tsx'

const BODY_FIELDS = bodyFields('POST /api/platform/inboxes')

export function Inboxes() {
  // Together: the form offers the channels.
  const list = useLoad(async (signal) => {
    const [{ inboxes }, { channels }] = await Promise.all([
      call('GET /api/platform/inboxes', { signal }),
      call('GET /api/platform/channels', { signal }),
    ])
    return { inboxes, channels }
  }, [])
  const edit = (inbox: Inbox | null, channels: readonly Channel[]) =>
    openDialog(<InboxForm inbox={inbox} channels={channels} />, list.reload)
  return (
    <Panel about="Alerts that still run there can come here: paste an address into their webhook field. What arrives is kept and forwarded to your channels.">
      <Show of={list}>
        {({ inboxes, channels }) => (
          <>
            {inboxes.length > 0 && (
              <ul class={rows['beside']} aria-label="Addresses for TradingView">
                {inboxes.map((one) => (
                  <InboxRow
                    key={one.id}
                    inbox={one}
                    channels={channels}
                    onEdit={() => edit(one, channels)}
                    onChanged={list.reload}
                  />
                ))}
              </ul>
            )}
            <p style={{ marginTop: '12px' }}>
              {buttons([item('Make an address', 'plus', () => edit(null, channels))])}
            </p>
          </>
        )}
      </Show>
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
      act={item('Messages', '', () => openDialog(<Messages inbox={inbox} />), {
        label: `Messages of ${inbox.name}`,
      })}
      items={[item('Change', 'tune', onEdit)]}
      onDelete={async () => {
        await call('DELETE /api/platform/inboxes/{id}', { path: { id: inbox.id } })
        onChanged()
      }}
      onDeleteText="Its address stops working at once, and its messages are deleted."
    />
  )
}

function noteOf({ circleAt }: Inbox, to: readonly string[]): string {
  if (circleAt !== null)
    return `a message went in a circle ${ago(circleAt)} and was stopped: no channel it goes to may post here`
  return to.length > 0 ? `to ${to.join(', ')}` : 'kept here only'
}

const Messages = ({ inbox }: { readonly inbox: Inbox }) => (
  <LogDialog
    title={`Come to ${inbox.name}`}
    label="Messages"
    name="messages"
    load={(asked) => call('GET /api/platform/inboxes/{id}/messages', { path: { id: inbox.id }, ...asked })}
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

function InboxForm({ inbox, channels }: { inbox: Inbox | null; channels: readonly Channel[] }) {
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
        openSecret(
          'Keep this address',
          'Address',
          new URL(apiUrl(path), location.href).href,
          'It works like a password and is shown this once. TradingView must be able to reach it.',
        )
      }
    },
  })
  const { values, set } = form
  return (
    <FormDialog
      of={form}
      title={inbox ? `Change ${inbox.name}` : 'Make an address'}
      action={inbox ? 'Save' : 'Make it'}
    >
      <Field label="Name" {...form.field('name')} />
      <Checks
        label="Forward to"
        options={channels.map(({ id, name }) => [id, name] as const)}
        chosen={values.channelIds}
        onChange={(ids) => set('channelIds', ids)}
      >
        {channels.length === 0 && <span class="muted">No channels yet: messages are kept here.</span>}
      </Checks>
      <Check checked={values.onlyTradingView} onChange={(on) => set('onlyTradingView', on)}>
        Only from TradingView’s own addresses
      </Check>
    </FormDialog>
  )
}
