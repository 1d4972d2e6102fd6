// Asking for a kept run once more: with the bars of today, and as of the day that it was of.

import { dayToRepeat } from '../../language/behaviour.ts'
import type { Backtest } from '../../wire/backtest.ts'
import type { PortfolioBody } from '../../wire/portfolio.ts'
import type { Sweep } from '../../wire/sweep.ts'
import { call } from '../api-client.ts'
import type { Overrides } from '../workspace.ts'
import type { Run } from './runs.ts'
import { navigate } from '../router.ts'

/** A forward run begins once: what it would be again is a new one. */
export const isRepeatable = ({ kind, state }: Run): boolean =>
  kind !== 'forward' && state !== 'queued' && state !== 'running'

/** What every run over one market is asked for with, as it was for a kept one. */
export function askedOf(run: Backtest | Sweep) {
  const { name, exchange, symbol, interval, source = '', inputs = {}, overrides = {}, asOf } = run
  const settings = { inputs, overrides: overrides as Overrides, asOf: dayToRepeat(asOf) }
  return { name, exchange, symbol, interval, source, ...settings }
}

export async function runAgain({ kind, id }: Run): Promise<void> {
  const path = { id }
  if (kind === 'scan') await call('POST /api/platform/scans/{id}/run', { path })
  else if (kind === 'backtest') {
    const { backtest } = await call('GET /api/platform/backtests/{id}', { path })
    await call('POST /api/platform/backtests', { body: { ...askedOf(backtest), bars: backtest.bars } })
  } else if (kind === 'sweep') {
    const { sweep } = await call('GET /api/platform/sweeps/{id}', { path })
    const { bars, space, where, sampler, trials, seed, objective, constraints, windows, halving } = sweep
    const search = { space, where, sampler, trials, seed, objective, constraints, windows }
    await call('POST /api/platform/sweeps', {
      body: { ...askedOf(sweep), bars, ...search, ...(halving && { halving }) },
    })
  } else if (kind === 'portfolio') {
    const { portfolio } = await call('GET /api/platform/portfolios/{id}', { path })
    const { name, capital, currency, parts, asOf } = portfolio
    await call('POST /api/platform/portfolios', {
      body: {
        name,
        asOf: dayToRepeat(asOf),
        parts: parts.map((part) => ({ source: '', ...part })) as PortfolioBody['parts'],
        ...(capital !== null && { capital }),
        ...(currency !== null && { currency }),
      },
    })
  }
}

/** Shows how it goes once it has begun. */
export async function followBacktest(id: string): Promise<void> {
  const { backtest } = await call('GET /api/platform/backtests/{id}', { path: { id } })
  const made = await call('POST /api/platform/forward-runs', { body: askedOf(backtest) })
  navigate(`/research/forward/${made.id}`)
}
