// Following a strategy from now on: that of a kept backtest, on its market and with its settings.

import { useState } from 'preact/hooks'
import { dayToRepeat } from '../../language/behaviour.ts'
import { call } from '../api-client.ts'
import { madeColumns } from '../backtests/choice-columns.ts'
import { marketText } from '../format.ts'
import { attempt, Check, Page, Show, useLoad } from '../frame/page.tsx'
import { navigate } from '../router.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Button, Empty } from '../ui/ui.tsx'

/** Follows the strategy of a backtest, and shows how it goes. */
export async function followBacktest(id: string, provisional = false): Promise<void> {
  const { backtest } = await call('GET /api/platform/backtests/{id}', { path: { id } })
  const { name, exchange, symbol, interval, source = '', inputs = {}, overrides = {}, asOf } = backtest
  const made = await call('POST /api/platform/forward-runs', {
    body: {
      name,
      exchange,
      symbol,
      interval,
      source,
      inputs,
      provisional,
      asOf: dayToRepeat(asOf),
      overrides: overrides as Readonly<Record<string, number | string | boolean>>,
    },
  })
  navigate(`/forward/${made.id}`)
}

export function ForwardForm() {
  const [provisional, setProvisional] = useState(false)
  const list = useLoad((signal) => call('GET /api/platform/backtests', { query: { limit: 100 }, signal }), [])
  return (
    <Page
      title="Follow a strategy"
      back={['/forward', 'Forward runs']}
      about="Choose a backtest: its script is followed on its market, with its settings, from the next closed bar on. The market has to be followed in Settings, Bars, or its bars to come in another way."
    >
      <Check checked={provisional} onChange={setProvisional}>
        Also tell of orders on the bar that is not over: provisional, and confirmed or retracted later
      </Check>
      <Show of={list}>
        {({ backtests }) => (
          <DataTable
            label="Backtests"
            rows={backtests.filter(({ state }) => state === 'done')}
            keyOf={({ id }) => id}
            page={20}
            empty={
              <Empty
                title="No backtests"
                action={<Button onClick={() => navigate('/')}>To the chart</Button>}
              >
                Run a strategy on the chart and keep it first.
              </Empty>
            }
            columns={[
              { of: 'name', head: 'Backtest', look: 'main', cell: ({ name }) => name },
              { of: 'symbol', head: 'Market', cell: marketText },
              ...madeColumns('Net profit'),
              {
                of: 'follow',
                head: 'Follow',
                bare: true,
                look: 'end',
                cell: ({ id, name }) => (
                  <Button
                    size="small"
                    variant="quiet"
                    title={`Follow ${name} from now on`}
                    onClick={() => attempt(followBacktest(id, provisional))}
                  >
                    Follow
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Show>
    </Page>
  )
}
