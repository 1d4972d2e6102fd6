// The drawer of deliveries below the chart: those of the last runs and firings.

import { call } from '../api-client.ts'
import { navigate } from '../router.ts'
import { Button, Empty } from '../ui/ui.tsx'
import { Deliveries } from './deliveries.tsx'
import { Show, useLoad } from '../frame/page.tsx'

export function DeliveriesDrawer() {
  const hooks = useLoad(async (signal) => (await call('GET /api/platform/webhooks', { signal })).webhooks, [])
  return (
    <Show of={hooks}>
      {(list) =>
        list.length === 0 ? (
          <Empty
            title="Nobody is listening"
            action={<Button onClick={() => navigate('/alerts/webhooks')}>Register a webhook</Button>}
          >
            Webhooks get a signed message when a backtest is ready or an alert fires.
          </Empty>
        ) : (
          <Deliveries
            webhookId={null}
            nameOf={(id) => list.find((one) => one.id === id)?.name ?? 'a deleted webhook'}
          />
        )
      }
    </Show>
  )
}
