// The list of alerts beside the chart.

import { keysShown } from '../commands.ts'
import { Button, Empty } from '../ui/ui.tsx'
import { alertAt } from '../workspace.ts'
import { AlertRow, alertStyles as s, FiringRow, useAlerts } from './alerts-list.tsx'
import { pageStyles as p, Show } from '../frame/page.tsx'

export function AlertDrawer() {
  const { alerts, firings } = useAlerts()
  return (
    <div>
      <div class={p['drawerHead']}>
        <span />
        <Button size="small" icon="plus" onClick={() => (alertAt.value = {})}>
          New alert
        </Button>
      </div>
      <Show of={alerts}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="Nothing is being watched">
              Right-click a price on the chart, or press {keysShown('chart:alert') || 'the plus on the axis'}{' '}
              with the crosshair on it, and you will be told when it is reached.
            </Empty>
          ) : (
            <ul class={s['beside']} aria-label="Alerts">
              {list.map((alert) => (
                <AlertRow key={alert.id} alert={alert} />
              ))}
            </ul>
          )
        }
      </Show>
      {firings.data && firings.data.items.length > 0 && (
        <>
          <h2 class={s['heading']}>Fired</h2>
          <ul class={s['beside']} aria-label="Firings">
            {firings.data.items.slice(0, 30).map((firing) => (
              <FiringRow key={firing.id} firing={firing} />
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
