// The tab of channels: phones and chats to which alerts are sent, each set up once and tried with a test.

import { item } from '../ui/menu.tsx'
import { useState } from 'preact/hooks'
import type { Channel, ChannelKind, Notification } from '../../wire/channel.ts'
import { alertStyles as rows } from '../alerts/alerts-list.tsx'
import { offerToUntold } from '../alerts/untold.ts'
import { call } from '../api-client.ts'
import { attempt, Panel, Show, useLoad } from '../frame/page.tsx'
import { ago } from '../format.ts'
import { href } from '../router.ts'
import { user } from '../session.ts'
import { Ago } from '../ui/ago.tsx'
import { openDialog } from '../ui/dialogs.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Badge, Empty, Field, messageOf, Select, toast } from '../ui/ui.tsx'
import { OpenTabs } from './open-tabs.tsx'
import { answerOf, SENT_TONES } from '../webhooks/sent.ts'
import { PICTURES } from './pictures.ts'
import { LogDialog, Row } from './rows.tsx'
import { browserName, isOfThisBrowser, ownKey, subscribed, unsubscribe, whyNoPush } from './this-browser.ts'
import { paceBody, paceFields, paceStart, paceText } from './pace-fields.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { buttons } from '../ui/buttons.tsx'

const BODY_FIELDS = bodyFields('POST /api/platform/channels')
const REASONS = {
  owner: 'disabled',
  gone: 'disabled: it answered that it is gone',
  failing: 'disabled: nothing but failures for five days',
  secret_lost: 'disabled: the server lost the key to its secrets; enter them again',
} as const
/** How often and how long the answer to a test is waited for. */
const LOOK_MS = 500
const LOOKS = 30
/** What is sooner is as good as on its way. */
const MINUTE = 60_000

export function Channels() {
  const list = useLoad(async (signal) => {
    const [{ channels }, { kinds }, own] = await Promise.all([
      call('GET /api/platform/channels', { signal }),
      call('GET /api/platform/channels/kinds', { signal }),
      ownKey().catch(() => null),
    ])
    return { channels, kinds, own }
  }, [])
  const edit = (channel: Channel | null) => {
    const { kinds, channels, own } = list.data!
    const here = channels.find((one) => isOfThisBrowser(one, own)) ?? null
    openDialog(<ChannelForm channel={channel} kinds={kinds} here={here} />, list.reload)
  }
  const add = buttons([item('Add a channel', 'plus', () => edit(null), { primary: true })])
  return (
    <Panel
      about="Phones and chats that your alerts are told to. Set one up once, then tick it in any alert."
      actions={list.data && list.data.channels.length > 0 && add}
    >
      <Show of={list}>
        {({ channels, kinds, own }) => (
          <>
            {channels.length === 0 ? (
              <Empty title="No channels yet" action={add}>
                {whyNoPush() === null && 'This browser, '}ntfy, Telegram, Discord, Slack, Gotify, Pushover,
                Matrix, or any address that takes HTTP.{' '}
                <a href={href('/help/channels')}>How to set up each</a>
              </Empty>
            ) : (
              <ul class={rows['beside']} aria-label="Channels">
                {channels.map((one) => (
                  <ChannelRow
                    key={one.id}
                    channel={one}
                    label={kinds.find(({ kind }) => kind === one.kind)?.label ?? one.kind}
                    isHere={isOfThisBrowser(one, own)}
                    onEdit={() => edit(one)}
                    onChanged={list.reload}
                  />
                ))}
              </ul>
            )}
            <OpenTabs />
          </>
        )}
      </Show>
    </Panel>
  )
}

interface ChannelRowProps {
  readonly channel: Channel
  readonly label: string
  /** It is the browser that this page is open in. */
  readonly isHere: boolean
  readonly onEdit: () => void
  readonly onChanged: () => void
}

function ChannelRow({ channel, label, isHere, onEdit, onChanged }: ChannelRowProps) {
  const [testing, setTesting] = useState(false)
  const path = { id: channel.id }
  const turn = (status: Channel['status']) =>
    attempt(call('PATCH /api/platform/channels/{id}', { path, body: { status } }), onChanged)
  const test = async () => {
    setTesting(true)
    try {
      tellOutcome(await answerTo(channel.id), channel.name)
    } finally {
      setTesting(false)
      onChanged()
    }
  }
  return (
    <Row
      name={channel.name}
      note={
        <>
          {isHere ? 'This browser' : label}
          {channel.lastSuccessAt !== null && (
            <>
              {' · arrived '}
              <Ago at={channel.lastSuccessAt} />
            </>
          )}
          {paceText(channel)}
        </>
      }
      side={<StateBadge channel={channel} />}
      act={item(testing ? 'Sending…' : 'Test', 'play', () => attempt(test()), {
        disabled: testing || channel.status !== 'active',
        label: `Send a test to ${channel.name}`,
      })}
      items={[
        item('Change', 'tune', onEdit),
        item('What was sent', 'list', () => openDialog(<Log channel={channel} />)),
        channel.status === 'active'
          ? item('Disable', 'pause', () => turn('disabled'))
          : channel.disabledReason === 'secret_lost'
            ? item(channel.kind === 'push' ? 'Set it up again here' : 'Enter its secrets', 'play', onEdit)
            : item('Enable', 'play', () => turn('active')),
      ]}
      onDelete={async () => {
        await call('DELETE /api/platform/channels/{id}', { path })
        if (isHere) await unsubscribe()
        onChanged()
      }}
      onDeleteText="Alerts that name it are told through their other ways only."
    />
  )
}

function StateBadge({ channel }: { readonly channel: Channel }) {
  if (channel.disabledReason !== null) return <Badge>{REASONS[channel.disabledReason]}</Badge>
  if (channel.failingSince !== null)
    return (
      <Badge tone="down">
        failing since <Ago at={channel.failingSince} />
      </Badge>
    )
  return channel.lastSuccessAt === null ? <Badge>not tried yet</Badge> : <Badge tone="up">works</Badge>
}

/** Sends a test and waits for what the service answers; `restsUntil`: when it may be asked again, if it said so. */
async function answerTo(id: string): Promise<{ notification: Notification; restsUntil: number }> {
  const path = { id }
  let { notification } = await call('POST /api/platform/channels/{id}/test', { path })
  let restsUntil = 0
  for (let i = 0; i < LOOKS && notification.attempts.length === 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    const { notifications } = await call('GET /api/platform/channels/{id}/notifications', { path })
    notification = notifications.find((one) => one.id === notification.id) ?? notification
    restsUntil = Math.max(...notifications.map((one) => (isPutOff(one) ? (one.nextAt ?? 0) : 0)))
  }
  return { notification, restsUntil }
}

const isPutOff = ({ state, attempts }: Notification) => state === 'pending' && attempts.at(-1)?.status === 429

function tellOutcome({ notification, restsUntil }: Awaited<ReturnType<typeof answerTo>>, name: string): void {
  if (notification.state === 'delivered') toast(`${name} has taken the test.`, { tone: 'up' })
  else if (notification.attempts.length === 0)
    toast(
      restsUntil - Date.now() > MINUTE
        ? `${name} has asked for a break, for which the test waits: it goes out ${ago(restsUntil)}.`
        : 'The test is still on its way.',
    )
  else toast(`${name} did not take the test: ${outcomeText(notification)}`, { tone: 'down' })
}

/** What the service answered to the last attempt. */
function outcomeText({ attempts, state }: Notification): string {
  const last = attempts.at(-1)
  if (!last) return state === 'cancelled' ? 'cancelled' : 'on its way'
  const answer = answerOf(last)
  const said =
    state === 'delivered' ? answer : [answer, last.excerpt?.slice(0, 200)].filter(Boolean).join(': ')
  return last.note === undefined ? said : `${said} · ${last.note}`
}

function Log({ channel }: { readonly channel: Channel }) {
  const again = (id: string, reload: () => void) =>
    attempt(call('POST /api/platform/channels/notifications/{id}/resend', { path: { id } }), () => {
      toast('On its way again', { tone: 'up' })
      reload()
    })
  return (
    <LogDialog
      title={`Sent to ${channel.name}`}
      label="Notifications"
      name="notifications"
      load={(asked) =>
        call('GET /api/platform/channels/{id}/notifications', { path: { id: channel.id }, ...asked })
      }
      empty={<Empty title="Nothing was sent yet">Send a test, or tick the channel in an alert.</Empty>}
      row={(one, reload) => (
        <>
          <div class={rows['main']} style={{ gridColumn: '1 / -1' }}>
            <strong>{one.title}</strong>
            <span class={rows['note']}>
              <Ago at={one.createdAt} /> · {one.state === 'joined' ? 'sent with others' : outcomeText(one)}
              {one.state === 'pending' && one.nextAt !== null && one.nextAt - Date.now() > MINUTE && (
                <>
                  {' · goes out '}
                  <Ago at={one.nextAt} />
                </>
              )}
            </span>
          </div>
          <div class={rows['side']} style={{ gridColumn: '1' }}>
            <Badge tone={SENT_TONES[one.state]}>{one.state}</Badge>
          </div>
          {buttons([item('Send again', 'replay', () => again(one.id, reload))], 'small quiet')}
        </>
      )}
    />
  )
}

interface ChannelFormProps {
  readonly channel: Channel | null
  readonly kinds: readonly ChannelKind[]
  /** The channel of this browser, if it is one. */
  readonly here: Channel | null
}

const BROWSER_TEXT =
  'Alerts are shown by this browser, also while Chartroom is closed. It will ask whether it may. Signing out here ends it.'

/** The fields of a kind are texts of the form, named by where they are in the body, so that refusals find them. */
const at = (field: string) => `settings/${field}`

/** What alerts are told by first: the browser that this is, which asks for nothing, where it can and is none yet. */
const firstKind = (here: Channel | null): Channel['kind'] =>
  here === null && whyNoPush() === null ? 'push' : 'ntfy'

/** Beside a refusal that the user can lift who runs the server. */
function HowToAllow({ error }: { readonly error: unknown }) {
  if (user.value?.role === 'member' || !/WEBHOOK_ALLOW/.test(messageOf(error))) return null
  return (
    <p class="muted">
      You can: start Chartroom with WEBHOOK_ALLOW=private for your own network, or WEBHOOK_ALLOW=loopback for
      the machine it runs on. <a href={href('/help/webhooks')}>What that opens</a>
    </p>
  )
}

function ChannelForm({ channel, kinds, here }: ChannelFormProps) {
  const [kind, setKind] = useState(channel?.kind ?? firstKind(here))
  const { label, fields: all } = kinds.find((one) => one.kind === kind) ?? { label: kind, fields: [] }
  const isBrowser = kind === 'push'
  // A browser fills in its own settings.
  const fields = isBrowser ? [] : all
  const usualName = isBrowser ? browserName(navigator.userAgent) : label
  const isLost = channel?.disabledReason === 'secret_lost'
  // What a browser said of itself cannot be typed in again, so a lost channel becomes this browser's.
  const subscribes = isBrowser && (channel === null || isLost)
  const form = useForm<Record<string, string>>({
    wire: BODY_FIELDS,
    start: {
      name: channel?.name ?? '',
      picture: channel?.picture ?? 'dark',
      ...paceStart(channel),
      ...Object.fromEntries(
        Object.entries(channel?.settings ?? {}).map(([field, value]) => [at(field), value]),
      ),
    },
    async send(values) {
      // A secret that is left empty stays as it is, unless it is lost.
      const given = fields.filter(
        ({ name, secret }) => (values[at(name)] ?? '') !== '' || !(secret && channel) || isLost,
      )
      const typed = Object.fromEntries(given.map(({ name }) => [name, (values[at(name)] ?? '').trim()]))
      const name = values['name']?.trim() || usualName
      if (subscribes && here && here.id !== channel?.id)
        throw new Error(`This browser is set up already: it is the channel ${here.name}.`)
      const settings = subscribes ? await subscribed() : typed
      const body = { name, settings, picture: values['picture'] as Channel['picture'], ...paceBody(values) }
      if (channel) await call('PATCH /api/platform/channels/{id}', { path: { id: channel.id }, body })
      else {
        const { id } = await call('POST /api/platform/channels', { body: { ...body, kind } })
        attempt(offerToUntold(name, { channelIds: [id] }))
      }
    },
  })
  return (
    <FormDialog
      of={form}
      title={channel ? `Change ${channel.name}` : 'Add a channel'}
      action={channel ? 'Save' : 'Add'}
    >
      {!channel && (
        <Select
          label="Service"
          value={kind}
          options={[...kinds]
            .sort((a, b) => Number(b.kind === firstKind(here)) - Number(a.kind === firstKind(here)))
            .map((one) => [one.kind, one.label] as const)}
          onChange={(chosen) => {
            form.forgive()
            setKind(chosen)
          }}
        />
      )}
      {subscribes && <p>{whyNoPush() ?? BROWSER_TEXT}</p>}
      <Field label="Name" placeholder={usualName} {...form.field('name', { required: false })} />
      {fields.map(({ name, label: called, hint, secret, required, lines, default: usual }) => {
        const isSet = !isLost && (channel?.secrets.includes(name) ?? false)
        return (
          <Field
            key={`${kind} ${name}`}
            {...form.field(at(name), { required: required && !isSet })}
            label={required ? called : `${called} (optional)`}
            hint={isSet ? `${hint} Empty keeps the one that is set, unless the server changes.` : hint}
            placeholder={isSet ? '••••••••' : usual}
            autocomplete="off"
            {...(secret && !lines && { type: 'password' })}
            {...(lines && { rows: 3 })}
          />
        )
      })}
      <HowToAllow error={form.error} />
      <Select label="Chart picture" options={PICTURES} {...form.choice('picture')} />
      {paceFields(form, channel !== null && paceText(channel) !== '')}
    </FormDialog>
  )
}
