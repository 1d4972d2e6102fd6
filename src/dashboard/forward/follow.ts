// Following the strategy of a kept backtest from now on: on its market and with its settings.

import { dayToRepeat } from '../../language/behaviour.ts'
import { call } from '../api-client.ts'
import { navigate } from '../router.ts'
import type { Overrides } from '../workspace.ts'

/** Shows how it goes once it has begun. */
export async function followBacktest(id: string): Promise<void> {
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
      overrides: overrides as Overrides,
      asOf: dayToRepeat(asOf),
    },
  })
  navigate(`/research/forward/${made.id}`)
}
