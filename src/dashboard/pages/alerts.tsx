// All alerts, and what they fired.

import { useState } from 'preact/hooks'
import { navigate } from '../router.ts'
import { Button, Empty } from '../ui/ui.tsx'
import { AlertDialogHost, openAlertDialog } from './alert-dialog.tsx'
import { AlertRow, alertStyles as s, FiringRow, useAlerts } from './alerts-list.tsx'
import { Page, pageStyles as p, Segments, Show } from './page.tsx'

type Filter = 'all' | 'active' | 'stopped'

export function Alerts() {
  const { alerts, firings } = useAlerts()
  const [filter, setFilter] = useState<Filter>('all')
  return (
    <Page
      title="Alerts"
      about="They are looked at whenever a bar arrives: from an import, the API or a provider."
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
                Make one here, or right-click a price on the chart. Mail and webhooks carry it to you.
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
      {firings.data && firings.data.length > 0 && (
        <section class={p['section']}>
          <h2>Fired</h2>
          <p>The last hundred. A click shows the bar.</p>
          <ul class={s['list']} aria-label="Firings">
            {firings.data.map((firing) => (
              <FiringRow key={firing.id} firing={firing} />
            ))}
          </ul>
        </section>
      )}
      <AlertDialogHost />
    </Page>
  )
}
