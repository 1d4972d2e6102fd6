// Runs a script on some markets: their bars are read here, and a worker runs it on each.

import type { ScriptHost } from '../workers/desk.ts'
import type { ScanJob, ScanOutput } from '../workers/job.ts'
import type { JobPool } from '../workers/pool.ts'
import { seriesName } from '../../market/bar-store.ts'
import type { SeenBars } from '../../market/seen-bars.ts'
import type { Limits } from '../../language/runtime/limits.ts'
import type { ScanRow } from '../../wire/scan.ts'
import type { Markets } from './markets.ts'
import type { NamedMarket, Scan, ScanScript } from './records.ts'

export interface LookDeps {
  readonly pool: JobPool
  readonly limits: Limits
  /** The series and libraries that a script of this user may ask for. */
  readonly hostFor: (seen: SeenBars, userId: string) => ScriptHost
}

export interface Found {
  readonly columns: ScanOutput['columns']
  readonly rows: readonly ScanRow[]
  /** What the ledger counts. */
  readonly tried: readonly ScanTried[]
}

/** A trial of a strategy on a market. */
export type ScanTried = ScanOutput['names'] & {
  /** Exchange, symbol and interval in one name. */
  readonly market: string
  readonly trial: string
  readonly sharpe?: number
}

export const PART_MAX = 100
/** How many bars a part has, all in memory: 19 MB. */
export const PART_BARS = 400_000

export async function lookAt(
  { pool, limits, hostFor }: LookDeps,
  { bars, interval, userId }: Pick<Scan, 'bars' | 'interval' | 'userId'>,
  { script, markets }: { readonly script: ScanScript; readonly markets: Markets },
  names: readonly NamedMarket[],
  signal: AbortSignal,
): Promise<Found> {
  const read: ScanJob['markets'][number][] = []
  for (const name of names) read.push(await markets.read(name, bars))
  const there = read.filter((one) => one.bars.length > 0)
  const { symbols: _symbols, ...asked } = script
  const job: ScanJob = { ...asked, interval, limits, markets: there }
  const answer: ScanOutput | null =
    there.length === 0
      ? null
      : await pool.do('scan', job, {
          user: userId,
          lane: 'sweeps',
          // A part has as much time as runs on all its markets would have.
          budget: { timeMs: limits.timeMs * there.length, memoryBytes: limits.memoryBytes },
          host: hostFor(markets.seen, userId),
          signal,
        })
  let at = 0
  const rows = names.map(({ exchange, symbol }, i): ScanRow => {
    const { length } = read[i]!.bars
    const row = length === 0 ? NO_BARS : answer!.rows[at++]!
    return 'error' in row
      ? { ...NOTHING, exchange, symbol, bars: length, error: row.error }
      : { ...row, exchange, symbol, holds: [...row.holds], values: [...row.values], error: null }
  })
  return { columns: answer?.columns ?? null, rows, tried: answer ? triedIn(answer, there, interval) : [] }
}

function triedIn({ names, tried }: ScanOutput, markets: ScanJob['markets'], interval: string): ScanTried[] {
  return tried.flatMap((one, i) => {
    if (!one) return []
    const { trial, sharpe } = one
    const market = seriesName({ ...markets[i]!.symbol, interval })
    return [{ ...names, market, trial, ...(sharpe !== null && { sharpe }) }]
  })
}

const NOTHING = {
  time: null,
  close: null,
  change: null,
  values: [],
  holds: [],
  summary: null,
  position: null,
} satisfies Partial<ScanRow>
const NO_BARS = { error: { code: 'bars_not_found', message: 'No bars of it are cached.' } } as const
