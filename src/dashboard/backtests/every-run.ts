// Every run that the user keeps, to search among.

import type { Backtest } from '../../wire/backtest.ts'
import { call } from '../api-client.ts'

/** All that the user keeps, the newest first. */
export async function everyRun(signal: AbortSignal): Promise<readonly Backtest[]> {
  const all: Backtest[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await call('GET /api/platform/backtests', {
      query: { limit: 500, ...(cursor !== undefined && { cursor }) },
      signal,
    })
    all.push(...page.backtests)
    cursor = page.nextCursor
  }
  return all
}
