// The alerts page: all alerts, their firings, and the mails that told of them.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { navigate } from '../router.ts'
import { Ago } from '../ui/ago.tsx'
import { Badge, Button, Empty } from '../ui/ui.tsx'
import { AlertDialogHost, openAlertDialog } from './alert-dialog.tsx'
import { AlertRow, alertStyles as s, FiringRow, useAlerts } from './alerts-list.tsx'
import { Page, pageStyles as p, Segments, Show, usePages, More } from '../frame/page.tsx'

type Filter = 'all' | 'active' | 'stopped'

export function Alerts() {
  const { alerts, firings } = useAlerts()
  const [filter, setFilter] = useState<Filter>('all')
  return (
    <Page
      title="Alerts"
      about="Checked whenever a bar arrives, from an import, the API or a provider."
      actions={
        <>
          {alerts.data && alerts.data.length > 0 && (
            <Segments
              label="Which alerts"
              value={filter}
              options={[
                ['all', 'All'],
                ['active', 'Active'],
                ['stopped', 'Stopped'],
              ]}
              onChange={setFilter}
            />
          )}
          <Button variant="quiet" onClick={() => navigate('/channels')}>
            Channels
          </Button>
          <Button variant="primary" icon="plus" onClick={() => openAlertDialog()}>
            New alert
          </Button>
        </>
      }
    >
      <Show of={alerts}>
        {(list) => {
          if (list.length === 0)
            return (
              <Empty
                title="No alerts yet"
                action={<Button onClick={() => navigate('/')}>To the chart</Button>}
              >
                Create one here, or right-click a price on the chart. You are told in the browser, by mail, in
                a chat or by webhook.
              </Empty>
            )
          const shown = list.filter(
            (one) =>
              filter === 'all' ||
              (filter === 'active') === (one.state === 'active' || one.state === 'throttled'),
          )
          return shown.length === 0 ? (
            <Empty title="None of that kind" />
          ) : (
            <ul class={s['list']} aria-label="Alerts">
              {shown.map((alert) => (
                <AlertRow key={alert.id} alert={alert} />
              ))}
            </ul>
          )
        }}
      </Show>
      {firings.data && firings.data.items.length > 0 && (
        <section class={p['section']}>
          <h2>Fired</h2>
          <p>The newest first. A click shows the bar.</p>
          <ul class={s['list']} aria-label="Firings">
            {firings.data.items.map((firing) => (
              <FiringRow key={firing.id} firing={firing} />
            ))}
          </ul>
          <More onMore={firings.data.onMore} />
        </section>
      )}
      <Mail changed={firings.data?.items[0]?.id ?? ''} />
      <AlertDialogHost />
    </Page>
  )
}

/** Mails of alerts. Without a mail server they wait here. */
function Mail({ changed }: { readonly changed: string }) {
  const letters = usePages(
    async (query, signal) => {
      const answer = await call('GET /api/platform/alerts/outbox', { query, signal })
      return { items: answer.letters, nextCursor: answer.nextCursor }
    },
    [changed],
  )
  if (!letters.data || letters.data.items.length === 0) return null
  return (
    <section class={p['section']}>
      <h2>Mail</h2>
      <p>Without a mail server (SMTP_URL) letters wait here.</p>
      <ul class={s['list']} aria-label="Mail">
        {letters.data.items.map((one) => (
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
        ))}
      </ul>
      <More onMore={letters.data.onMore} />
    </section>
  )
}
