// Alerts: what is armed, what has fired, and where it goes: channels, webhooks, brokers, mail, and what comes in from TradingView.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { lazy } from '../frame/lazy.tsx'
import { Find, Listed, More, Page, pageStyles as p, Show, usePages } from '../frame/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { navigate } from '../router.ts'
import { Ago } from '../ui/ago.tsx'
import { Badge, Button, cx, Empty, Tabs } from '../ui/ui.tsx'
import { alertAt, market } from '../workspace.ts'
import { isOn, nameText } from './alert-model.ts'
import { AlertRows, alertStyles as s, FiringRow, useAlerts } from './alerts-list.tsx'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'

const Channels = lazy(async () => (await import('../channels/channels.tsx')).Channels)
const Webhooks = lazy(async () => (await import('../webhooks/webhooks.tsx')).Webhooks)
const Bridges = lazy(async () => (await import('../bridges/bridges.tsx')).Bridges)
const Inboxes = lazy(async () => (await import('../channels/inboxes.tsx')).Inboxes)

const TABS = [
  ['armed', 'All alerts', Armed],
  ['fired', 'Fired', Fired],
  ['channels', 'Phones and chats', Channels],
  ['webhooks', 'Webhooks', Webhooks],
  ['broker', 'To a broker', Bridges],
  ['mail', 'Mail', Mail],
  ['inbox', 'From TradingView', Inboxes],
] as const
type Tab = (typeof TABS)[number][0]

export function Alerts({ tab }: { readonly tab?: string }) {
  const [name, , Body] = TABS.find(([id]) => id === tab) ?? TABS[0]
  return (
    <Page
      title="Alerts"
      about="Looked at whenever a bar arrives, from an import, the API or a provider."
      actions={buttons([item('New alert', 'bell', () => (alertAt.value = {}), { primary: true })])}
    >
      <Tabs
        label="Alerts"
        wraps
        tabs={TABS.map(([id, text]) => [id, text] as const)}
        active={name}
        onSelect={(id: Tab) => navigate(id === 'armed' ? '/alerts' : `/alerts/${id}`)}
      />
      <div role="tabpanel" aria-label={name} class={p['panel']}>
        <Body />
      </div>
    </Page>
  )
}

function Armed() {
  const { alerts } = useAlerts()
  const [filter, setFilter] = useState<'all' | 'active' | 'stopped'>('all')
  return (
    <Show of={alerts}>
      {(list) => {
        if (list.length === 0) return <NoAlerts />
        const shown = list.filter((alert) => filter === 'all' || (filter === 'active') === isOn(alert))
        return (
          <>
            <Segments
              label="Which alerts"
              value={filter}
              options={{ all: 'All', active: 'Active', stopped: 'Stopped' }}
              onChange={setFilter}
            />
            {shown.length === 0 ? <Empty title="None of that kind" /> : <AlertRows of={shown} />}
          </>
        )
      }}
    </Show>
  )
}

/** Says what an alert is for by an example, which one button arms. */
function NoAlerts() {
  const { symbol } = market.value
  const example = { op: 'moving_down_pct', percent: 2, bars: 1, name: `${symbol} falls` } as const
  return (
    <Empty
      title="No alerts yet"
      action={<Button onClick={() => (alertAt.value = example)}>Begin with this one</Button>}
    >
      For example: tell me when {symbol} falls by 2% from one bar to the next. Or right-click a price on the
      chart, or hold a finger on it, or choose Add alert… at an indicator there. You are told in the browser,
      by mail, in a chat or by webhook.
    </Empty>
  )
}

function Fired() {
  const { alerts, firings } = useAlerts()
  const [words, setWords] = useState('')
  const nameOf = (id: string) => {
    const alert = alerts.data?.find((one) => one.id === id)
    return alert ? nameText(alert) : ''
  }
  return (
    <Show of={firings}>
      {({ items, onMore }) => {
        if (items.length === 0)
          return <Empty title="Nothing has fired yet">What an alert told, and when, is kept here.</Empty>
        const wanted = words.trim().toLowerCase()
        const shown = items.filter(({ message, symbol, exchange, alertId }) =>
          `${message} ${exchange}:${symbol} ${nameOf(alertId)}`.toLowerCase().includes(wanted),
        )
        return (
          <>
            <div class={cx(p['actions'], p['bar'])}>
              <Find
                label="Find a firing"
                placeholder="Message, market, alert"
                words={words}
                onInput={setWords}
              />
              <span class="muted">The newest first. A click shows the bar.</span>
            </div>
            <ul class={s['list']} aria-label="Firings">
              {shown.map((firing) => (
                <FiringRow key={firing.id} firing={firing} />
              ))}
            </ul>
            {shown.length === 0 && <Empty title="None fits" />}
            <More onMore={onMore} />
          </>
        )
      }}
    </Show>
  )
}

/** Letters that told of alerts. Without a mail server they wait here. */
function Mail() {
  const letters = usePages('letters', (asked) => call('GET /api/platform/alerts/outbox', asked), [])
  return (
    <Listed
      of={letters}
      label="Mail"
      class={s['list']}
      empty={
        <Empty title="No letters yet">
          An alert that tells by e-mail has its letters here; where the server has no mail server, they wait
          here.
        </Empty>
      }
    >
      {(one) => (
        <li key={one.id} class={s['row']}>
          <div class={s['main']}>
            <strong>{one.subject}</strong>
            <span class={s['note']}>
              to {one.to}
              {one.problem && ` · ${one.problem}`}
            </span>
          </div>
          <div class={s['side']}>
            <Badge tone={one.state === 'sent' ? 'up' : one.state === 'failed' ? 'down' : 'warn'}>
              {one.state}
            </Badge>
            <span class={s['note']}>
              <Ago at={one.createdAt} />
            </span>
          </div>
        </li>
      )}
    </Listed>
  )
}
