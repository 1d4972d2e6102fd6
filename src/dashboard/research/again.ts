// Asking for a kept run once more: with the bars of today, and as of the day that it was of.

import { dayToRepeat } from '../../language/behaviour.ts'
import type { PortfolioBody } from '../../wire/portfolio.ts'
import type { SweepBody } from '../../wire/sweep.ts'
import { call } from '../api-client.ts'
import type { Run } from './runs.ts'

type Overrides = Readonly<Record<string, number | string | boolean>>

/** A forward run begins once: what it would be again is a new one. */
export const isRepeatable = ({ kind, state }: Run): boolean =>
  kind !== 'forward' && state !== 'queued' && state !== 'running'

export async function runAgain({ kind, id }: Run): Promise<void> {
  const path = { id }
  if (kind === 'scan') await call('POST /api/platform/scans/{id}/run', { path })
  else if (kind === 'backtest') {
    const { backtest } = await call('GET /api/platform/backtests/{id}', { path })
    const {
      name,
      exchange,
      symbol,
      interval,
      bars,
      source = '',
      inputs = {},
      overrides = {},
      asOf,
    } = backtest
    await call('POST /api/platform/backtests', {
      body: {
        name,
        exchange,
        symbol,
        interval,
        bars,
        source,
        inputs,
        asOf: dayToRepeat(asOf),
        overrides: overrides as Overrides,
      },
    })
  } else if (kind === 'sweep') {
    const { sweep } = await call('GET /api/platform/sweeps/{id}', { path })
    const { name, exchange, symbol, interval, bars, source = '', inputs = {}, overrides = {}, asOf } = sweep
    const { space, where, sampler, trials, seed, objective, constraints, windows, halving } = sweep
    const asked = { space, where, sampler, trials, seed, objective, constraints, windows }
    await call('POST /api/platform/sweeps', {
      body: {
        name,
        exchange,
        symbol,
        interval,
        bars,
        source,
        inputs,
        ...asked,
        asOf: dayToRepeat(asOf),
        overrides: overrides as NonNullable<SweepBody['overrides']>,
        ...(halving && { halving }),
      },
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
