// Stored runs: the record of each, and beside it its script, the beginning of its source, its report and its tracks.
//
// What belongs to a run is written and removed in one commit with it. The number that a user may keep is limited; the
// oldest that are not pinned make room for newer ones.

import type { BacktestOutput } from '../workers/job.ts'
import { barsNotFound } from '../../market/bar-cache.ts'
import { seriesName } from '../../market/bar-store.ts'
import type { SeenBars } from '../../market/seen-bars.ts'
import type { Clock } from '../../lib/clock.ts'
import { Problem } from '../../lib/problem.ts'
import { cutText } from '../../lib/text.ts'
import { collectionIn } from '../../store/collection.ts'
import type { Key, Kv, Reader } from '../../store/kv.ts'
import { largeText, textKeys, type LargeText } from '../../store/large-text.ts'
import { transact, type Changes, type Tx } from '../../store/transaction.ts'
import type { Backtest } from '../../wire/backtest.ts'
import { isUnderWay } from '../../wire/job-state.ts'
import type { ReportSummary } from '../../wire/report.ts'
import { goneRuns, type WhyGone } from './gone.ts'

/** Most runs a user may keep, if the server's owner does not say otherwise. */
export const RUNS_MAX = 5000
/** How many characters of a source are searched for its runs. */
const BEGINNING = 500
/** After the limit was lowered, at most this many runs make room for a new one. */
const MADE_WAY_MAX = 100

/** What is run. Stored beside the record, because otherwise a list of runs would read megabytes of source. */
export interface RunScript {
  readonly source: string
  readonly inputs: Readonly<Record<string, unknown>>
  /** Declaration arguments to run with instead of the script's. */
  readonly overrides: Readonly<Record<string, number | string | boolean>>
}

export interface RunRequest extends RunScript {
  readonly name: string
  readonly symbol: string
  readonly interval: string
  readonly exchange: string
  /** How many of the newest cached bars. */
  readonly bars: number
}

export interface Run extends Omit<RunRequest, keyof RunScript> {
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
  /** The script's name in the ledger of trials; missing in records from before there was one. */
  readonly tried?: string
  /** Of its returns a bar, by which luck is judged; null if nothing was traded, missing in old records. */
  readonly moments?: BacktestOutput['tried']['moments']
  /** Times of the first and last bar it ran on, and how many; null until it is done. */
  readonly range: Backtest['range']
  /** The server that does it, if it is under way and its caller does not wait; null: the first with a free worker may. */
  readonly node?: string | null
  /** How many servers have begun it. Limited, so that a run that brings servers down does not bring down all of them. */
  readonly begun?: number
}

interface RunStore {
  readonly kv: Kv
  readonly clock: Clock
}

export interface RemovedHook {
  /** Called when a run is removed, for further changes in the same commit. */
  readonly removed?: (tx: Tx, run: Run) => Promise<readonly Changes[]>
}

export const runs = collectionIn<Run>('backtests', {
  indexes: {
    user: ({ userId }) => [userId],
    unpinned: ({ userId, pinned }) => (pinned ? null : [userId]),
    // Only a crash leaves entries here: a server that stops finishes or cancels its runs.
    unfinished: (record) => (isUnderWay(record) ? [] : null),
  },
  counts: {
    user: { of: ({ userId }) => [userId] },
    pinned: { of: ({ userId, pinned }) => (pinned ? [userId] : null) },
  },
})

const scriptKey = (id: string): Key => ['backtest-script', id]
const beginningKey = (id: string): Key => ['backtest-beginning', id]
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
export async function scriptOf(kv: Kv, id: string): Promise<RunScript | null> {
  const entry = await kv.get(scriptKey(id))
  return entry && (JSON.parse(entry.value) as RunScript)
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
  const { source } = JSON.parse(script.value) as RunScript
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

/** Removes runs of one user with everything that belongs to them, in one commit. Returns those that existed. */
export async function removeRuns(
  deps: RunStore,
  userId: string,
  ids: readonly string[],
  hooks: readonly RemovedHook[],
): Promise<readonly Run[]> {
  let found: readonly Run[] = []
  await transact(deps.kv, async (tx) => {
    const named = await runs(deps.kv)
      .at(tx)
      .getMany([...new Set(ids)])
    found = named.filter((run) => run.userId === userId)
    return removal(deps, tx, found, 'asked', hooks)
  })
  return found
}

/** The changes that remove these runs. Part of a plan. */
export async function removal(
  { kv, clock }: RunStore,
  tx: Tx,
  removed: readonly Run[],
  why: WhyGone,
  hooks: readonly RemovedHook[],
): Promise<Changes[]> {
  const stored = await runs(kv)
    .at(tx)
    .storedMany(removed.map(({ id }) => id))
  const changes: Changes[] = stored.map((run) => runs(kv).remove(run))
  for (const { record: run } of stored) {
    const texts = await Promise.all([reportKey(run.id), tracksKey(run.id)].map((key) => textKeys(tx, key)))
    changes.push({ deletes: [scriptKey(run.id), beginningKey(run.id), ...texts.flat()] })
    changes.push(goneRuns(kv).insert({ id: run.id, userId: run.userId, at: clock.now(), why }))
    for (const hook of hooks) changes.push(...((await hook.removed?.(tx, run)) ?? []))
  }
  return changes
}

/** Fields that the owner may have changed while it ran. */
export const labelsOf = ({ name, pinned = false }: Run) => ({ name, pinned })

export const keepScript = ({ run, script }: { readonly run: Run; readonly script: RunScript }): Changes => ({
  sets: [
    { key: scriptKey(run.id), value: JSON.stringify(script) },
    { key: beginningKey(run.id), value: cutText(script.source, BEGINNING) },
  ],
})

/** The oldest runs, which make room for one more. Throws if none may be removed. Part of a plan. */
export async function madeWay(
  { kv, maxRuns }: Pick<RunStore, 'kv'> & { readonly maxRuns: number },
  userId: string,
  reader: Reader,
): Promise<readonly Run[]> {
  if (maxRuns === 0) return []
  // While there is plenty of room, concurrent runs need not be checked against each other.
  const isFar = (await runs(kv).count('user', [userId])) + MADE_WAY_MAX < maxRuns
  if (isFar) return []
  const here = runs(kv).at(reader)
  const over = (await here.count('user', [userId])) + 1 - maxRuns
  if (over <= 0) return []
  // Read more than needed, because unfinished runs stay.
  const limit = Math.min(over, MADE_WAY_MAX) + MADE_WAY_MAX
  const oldest = (await here.list('unpinned', [userId], { limit, reverse: false })).items
  const finished = oldest.filter(({ finishedAt }) => finishedAt !== null)
  if (finished.length > 0) return finished.slice(0, Math.min(over, MADE_WAY_MAX))
  throw new Problem(
    422,
    'quota_exceeded',
    `You keep ${maxRuns} backtests, the most there may be, and all are pinned. Unpin or delete some. A preview is not kept and still runs.`,
  )
}

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

export function notFound(): Problem {
  return new Problem(404, 'backtest_not_found', 'There is no such backtest.')
}
