// Following the strategy of a kept backtest from now on: on its market and with its settings.

import { call } from '../api-client.ts'
import { askedOf } from '../research/again.ts'
import { navigate } from '../router.ts'

/** Shows how it goes once it has begun. */
export async function followBacktest(id: string): Promise<void> {
  const { backtest } = await call('GET /api/platform/backtests/{id}', { path: { id } })
  const made = await call('POST /api/platform/forward-runs', { body: askedOf(backtest) })
  navigate(`/research/forward/${made.id}`)
}
