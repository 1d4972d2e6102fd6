// What is committed of runs. What belongs to one is written and removed in one commit with it, and with what others add (a
// delivery for each webhook receiver): a report exists if and only if its event does.

import type { BacktestOutput } from '../workers/job.ts'
import { cancelled } from '../workers/limits.ts'
import type { JobScript } from '../jobs/records.ts'
import type { Clock } from '../../lib/clock.ts'
import { Problem } from '../../lib/problem.ts'
import { cutText } from '../../lib/text.ts'
import type { Kv, Reader } from '../../store/kv.ts'
import { dropText, stageText, textKeys } from '../../store/large-text.ts'
import { decide, type Also, type Changes, type Tx } from '../../store/transaction.ts'
import type { ReportSummary } from '../../wire/report.ts'
import type { Trials } from '../../wire/trials.ts'
import { goneRuns, type WhyGone } from './gone.ts'
import type { RunWarning } from './plan.ts'
import { BEGINNING, beginningKey, reportKey, runs, scriptKey, tracksKey, type Run } from './records.ts'

/** After the limit was lowered, at most this many runs make room for a new one. */
const MADE_WAY_MAX = 100

interface RunStore {
  readonly kv: Kv
  readonly clock: Clock
}

export interface RemovedHook {
  /** Called when a run is removed, for further changes in the same commit. */
  readonly removed?: (tx: Tx, run: Run) => Promise<readonly Changes[]>
}

type SummedRun = Run & { readonly summary: ReportSummary }

export interface FinishedHook extends RemovedHook {
  readonly changes: (tx: Tx, run: SummedRun) => Promise<readonly Changes[]>
  readonly written?: (run: Run, script: JobScript) => void
  /** Called after a run was removed. */
  readonly gone?: (run: Run) => void
  readonly changed?: (run: Run) => Promise<void>
}

export interface QueuedRun {
  readonly run: Run
  readonly warnings: readonly RunWarning[]
}

export interface FinishedRun extends QueuedRun, Trying {
  readonly run: SummedRun
  readonly output: BacktestOutput
}

export interface Trying {
  /** null where nobody counts. */
  readonly trials: Trials | null
}

interface KeepDeps extends RunStore {
  /** Most runs a user may keep; 0 = as many as they like. */
  readonly maxRuns: number
  /** Called when a run is done, for further changes in the same commit; `written` is called after it. */
  readonly onFinished: readonly FinishedHook[]
}

/** Stores a run that has not begun; `here` is what is said of its server. Answers the runs that made room for it. */
export async function storeQueued(
  deps: KeepDeps,
  plan: QueuedRun & { readonly script: JobScript },
  here: Partial<Run>,
  also?: Also<QueuedRun>,
): Promise<readonly Run[]> {
  const { run, script } = plan
  return decide(deps.kv, async (tx) => {
    const made = await madeWay(deps, run.userId, tx)
    const gone = await removal(deps, tx, made, 'room', deps.onFinished)
    const queued = runs(deps.kv).insert({ ...run, ...here })
    return [made, [...gone, queued, keptScript(run, script), also?.(plan, tx)]]
  })
}

/** Stores a run that is done; `isKept`: its record is there. Answers the runs that made room for it. */
export async function storeFinished(
  deps: KeepDeps,
  finished: FinishedRun,
  script: JobScript,
  isKept: boolean,
  also?: Also<FinishedRun>,
): Promise<readonly Run[]> {
  const { kv, onFinished } = deps
  const { run, output } = finished
  const texts = [
    { key: reportKey(run.id), text: output.report },
    { key: tracksKey(run.id), text: output.tracks },
  ]
  try {
    const staged: Changes[] = []
    for (const { key, text } of texts) staged.push(await stageText(kv, key, text))
    return await decide(kv, async (tx) => {
      const stored = isKept ? await runs(kv).at(tx).stored(run.id) : null
      // It was removed while it ran, a moment too late to be cancelled.
      if (isKept && !stored) throw cancelled()
      const made = stored ? [] : await madeWay(deps, run.userId, tx)
      const changes = [
        ...(await removal(deps, tx, made, 'room', onFinished)),
        ...(stored
          ? [runs(kv).replace(stored, { ...run, ...labelsOf(stored.record) })]
          : [runs(kv).insert(run), keptScript(run, script)]),
        ...staged,
        ...(await Promise.all(onFinished.map((hook) => hook.changes(tx, run)))).flat(),
        also?.(finished, tx),
      ]
      return [made, changes]
    })
  } catch (error) {
    for (const { key } of texts) await dropText(kv, key)
    throw error
  }
}

/** Removes runs of one user with everything that belongs to them, in one commit. Returns those that existed. */
export async function removeRuns(
  deps: RunStore,
  userId: string,
  ids: readonly string[],
  hooks: readonly RemovedHook[],
): Promise<readonly Run[]> {
  return decide(deps.kv, async (tx) => {
    const named = await runs(deps.kv)
      .at(tx)
      .getMany([...new Set(ids)])
    const found = named.filter((run) => run.userId === userId)
    return [found, await removal(deps, tx, found, 'asked', hooks)]
  })
}

/** The changes that remove these runs. Part of a plan. */
async function removal(
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
const labelsOf = ({ name, pinned = false }: Run) => ({ name, pinned })

const keptScript = ({ id }: Run, script: JobScript): Changes => ({
  sets: [
    { key: scriptKey(id), value: JSON.stringify(script) },
    { key: beginningKey(id), value: cutText(script.source, BEGINNING) },
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
