// Stored runs: the record of each, and beside it its script, the beginning of its source, its report and its tracks.
//
// The number that a user may keep is limited; the oldest that are not pinned make room for newer ones.

import type { BacktestOutput } from '../workers/job.ts'
import { barsNotFound } from '../../market/bar-cache.ts'
import { seriesName } from '../../market/bar-store.ts'
import type { SeenBars } from '../../market/seen-bars.ts'
import { Problem } from '../../lib/problem.ts'
import { cutText } from '../../lib/text.ts'
import { recordsOf, type JobScript } from '../jobs/records.ts'
import type { Key, Kv } from '../../store/kv.ts'
import { largeText, type LargeText } from '../../store/large-text.ts'
import type { Backtest } from '../../wire/backtest.ts'
import type { ReportSummary } from '../../wire/report.ts'

/** Most runs a user may keep, if the server's owner does not say otherwise. */
export const RUNS_MAX = 5000
/** How many characters of a source are searched for its runs. */
export const BEGINNING = 500

export interface RunRequest extends JobScript {
  readonly name: string
  readonly symbol: string
  readonly interval: string
  readonly exchange: string
  /** How many of the newest cached bars. */
  readonly bars: number
}

export interface Run extends Omit<RunRequest, keyof JobScript> {
  readonly id: string
  readonly userId: string
  readonly state: Backtest['state']
  readonly createdAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly error: Backtest['error']
  readonly summary: ReportSummary | null
  /** Whose series it ran on: the user's own, or '' for everybody's. Missing in records from when there were no others. */
  readonly seriesOwner?: string
  /** A pinned run stays when the oldest make room for newer ones; missing in records from before there were pins. */
  readonly pinned?: boolean
  /** Currency of the summary's amounts; null until it is done, missing in old records. */
  readonly currency?: string | null
  /** As of its script, for lists. */
  readonly asOf?: string
  /** … and what was set for it; missing in old records. */
  readonly given?: JobScript['overrides']
  /** The script's name in the ledger of trials; missing in records from before there was one. */
  readonly tried?: string
  /** Of its returns a bar, by which luck is judged; null if nothing was traded, missing in old records. */
  readonly moments?: BacktestOutput['tried']['moments']
  /** Missing in old records, as if it did not. */
  readonly lags?: boolean
  /** For lists; null if nothing was traded, missing until it is done and in old records. */
  readonly curve?: BacktestOutput['curve']
  /** Times of the first and last bar it ran on, and how many; null until it is done. */
  readonly range: Backtest['range']
  /** The server that does it, if it is under way and its caller does not wait; null: the first with a free worker may. */
  readonly node?: string | null
  /** How many servers have begun it. Limited, so that a run that brings servers down does not bring down all of them. */
  readonly begun?: number
}

export const runs = recordsOf<Run>('backtests', undefined, {
  indexes: { unpinned: ({ userId, pinned }) => (pinned ? null : [userId]) },
  counts: { pinned: { of: ({ userId, pinned }) => (pinned ? [userId] : null) } },
})

export const scriptKey = (id: string): Key => ['backtest-script', id]
export const beginningKey = (id: string): Key => ['backtest-beginning', id]
export const reportKey = (id: string): Key => ['backtest-report', id]
export const tracksKey = (id: string): Key => ['backtest-tracks', id]

/** JSON text of a run's report; null while there is none. */
export function reportOf(kv: Kv, id: string): Promise<LargeText | null> {
  return largeText(kv, reportKey(id))
}

/** JSON text of a run's tracks; null while there are none. */
export function tracksOf(kv: Kv, id: string): Promise<LargeText | null> {
  return largeText(kv, tracksKey(id))
}

/** The source and inputs of a stored run; null if it was removed meanwhile. */
export async function scriptOf(kv: Kv, id: string): Promise<JobScript | null> {
  const entry = await kv.get(scriptKey(id))
  return entry && (JSON.parse(entry.value) as JobScript)
}

/**
 * The beginning of a stored run's source, stored separately: a search needs it for all runs of the user, and reading 1,500
 * sources of 20 kB took 125 MB. Runs from before it was stored get it when it is asked for; null if there is no source.
 */
export async function beginningOf(kv: Kv, id: string): Promise<string | null> {
  const entry = await kv.get(beginningKey(id))
  return entry ? entry.value : keepBeginning(kv, id)
}

async function keepBeginning(kv: Kv, id: string): Promise<string | null> {
  const script = await kv.get(scriptKey(id))
  if (!script) return null
  const { source } = JSON.parse(script.value) as JobScript
  const value = cutText(source, BEGINNING)
  // The run may be removed meanwhile. On a full disk it stays as it is.
  const checks = [{ key: scriptKey(id), version: script.version }]
  await kv.commit({ checks, sets: [{ key: beginningKey(id), value }] }).catch(() => false)
  return value
}

/** For data of older versions: with every step another run gets its beginning, so that no search has to make it. */
export async function* keepBeginnings(kv: Kv): AsyncGenerator<void> {
  if (await kv.get(BEGUN)) return
  for await (const { id } of runs(kv).each()) {
    const [known] = await kv.versions([beginningKey(id)])
    if (known !== null) continue
    await keepBeginning(kv, id)
    yield
  }
  await kv.commit({ sets: [{ key: BEGUN, value: 'true' }] })
}
const BEGUN: Key = ['meta', 'backtest-beginnings']

/** Why a stored backtest cannot be run on its bars again. */
export async function barsGone(seen: SeenBars, run: Run): Promise<Problem> {
  const name = seriesName(run)
  if (!run.seriesOwner) return barsNotFound(seen, run)
  return new Problem(
    404,
    'bars_not_found',
    (await seen.source(run))
      ? `It ran on your own bars of ${name}, which were removed or shared since. There are shared bars of that name: run it again on those.`
      : `It ran on your own bars of ${name}, which were removed since. Import them again.`,
  )
}

/** Of a run that has not come to its end. */
export function withoutResult({ state, error }: Pick<Run, 'state' | 'error'>): Problem {
  const why =
    state === 'failed'
      ? `it failed: ${error?.message ?? 'nobody knows why.'}`
      : state === 'cancelled'
        ? 'it was cancelled.'
        : 'it is not done yet.'
  return new Problem(409, 'conflict', `The backtest has no report: ${why}`)
}

export function notFound(): Problem {
  return new Problem(404, 'backtest_not_found', 'There is no such backtest.')
}
