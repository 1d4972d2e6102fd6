// Scans: from the request, over markets in the workers, to a table of rows to choose from.
//
// A scan runs in batches of markets, which are split among the workers and written in order. After a sudden end it goes on
// behind the last batch written. Running it again drops its rows and starts over.

import { inParts } from '../jobs/parts.ts'
import { StoredJobs, type JobDeps } from '../jobs/stored-jobs.ts'
import type { LiveJob } from '../jobs/live-jobs.ts'
import { askedDay } from '../../language/behaviour.ts'
import { invalidField, Problem } from '../../lib/problem.ts'
import type { BarCache } from '../../market/bar-cache.ts'
import { requireInterval } from '../../market/interval.ts'
import { barsSeenBy } from '../../market/seen-bars.ts'
import type { Key } from '../../store/kv.ts'
import type { Also } from '../../store/transaction.ts'
import type { ScanBody, ScanRow } from '../../wire/scan.ts'
import { lookAt, PART_BARS, PART_MAX, type Found, type LookDeps, type ScanTried } from './look.ts'
import { Markets, MARKETS_MAX, namedMarket } from './markets.ts'
import {
  BATCH,
  batchKey,
  marketsKey,
  scans,
  scriptKey,
  type NamedMarket,
  type Scan,
  type ScanScript,
  type ScanWatch,
  type StoredRows,
} from './records.ts'
import { choosing, type Choosing } from './rows.ts'
import { isUnderWay } from '../../wire/job-state.ts'

export type { Scan } from './records.ts'

export interface ScanDeps extends LookDeps, JobDeps {
  readonly bars: BarCache
  /** The symbols of a watchlist of this user; throws Problem 404. */
  readonly watched: (userId: string, watchlistId: string) => Promise<readonly NamedMarket[]>
  /** Counts what was tried: a strategy on a market is a trial of it there. */
  readonly tried: (userId: string, tried: ScanTried) => void
  /** Called when a watched scan has run to its end, since bars may have come meanwhile. */
  readonly watchedIsDone: () => void
  readonly ownsReceiver: (userId: string, receiverId: string) => Promise<boolean>
  /** The most parts that may be with the workers at a time. */
  readonly atOnce: number
}

export interface ScanProgress extends Pick<Scan, 'state' | 'done' | 'markets' | 'failed'> {}

/** How long the work of one job should take: short, so that other users' jobs do not wait long. */
const PART_MS = 300
const PART_FIRST = 8
/** The most scans of a user that tell when a condition becomes true. */
const WATCHED_MAX = 10
/** How many rows are judged in one go. */
const ROWS_A_TURN = 1000

export class Scans extends StoredJobs<Scan, ScanProgress, ScanScript> {
  readonly #deps: ScanDeps

  constructor(deps: ScanDeps) {
    super(deps, {
      one: 'scan',
      many: 'scans',
      missing: 'scan_not_found',
      records: scans,
      scriptKey,
    })
    this.#deps = deps
  }

  protected override progressOf({ state, done, markets, failed }: Scan): ScanProgress {
    return { state, done, markets, failed }
  }

  protected override keysOf({ id, batches }: Scan): Key[] {
    return [marketsKey(id), ...Array.from({ length: batches }, (_, batch) => batchKey(id, batch))]
  }

  /** Checks what can be checked without running the script, stores the scan as queued, and returns. */
  async create(userId: string, body: ScanBody, also?: Also<Scan>): Promise<Scan> {
    const { clock, newId } = this.#deps
    const interval = requireInterval(body.interval)
    if (body.watchlistId !== undefined && body.symbols !== undefined)
      throw invalidField('/symbols', 'either_or', 'Take either a watchlist or symbols.')
    if (body.watchlistId !== undefined) await this.#deps.watched(userId, body.watchlistId)
    const symbols = body.symbols?.map(namedMarket) ?? null
    const blank = symbols?.findIndex(({ symbol }) => symbol === '') ?? -1
    if (blank >= 0)
      throw invalidField(
        `/symbols/${blank}/symbol`,
        'symbol',
        'Expected a symbol such as AAPL or NASDAQ:AAPL.',
      )
    const asOf = askedDay(body.asOf, clock.now())
    const scan: Scan = {
      id: newId('scan'),
      userId,
      name: body.name,
      interval,
      bars: body.bars,
      watchlistId: body.watchlistId ?? null,
      symbols: symbols?.length ?? null,
      createdAt: clock.now(),
      asOf,
      watch: null,
      ...BLANK,
    }
    const script: ScanScript = {
      source: body.source,
      inputs: body.inputs ?? {},
      overrides: body.overrides ?? {},
      asOf,
      symbols,
    }
    await this.#assertTakes(userId, script)
    return this.add(scan, script, also)
  }

  /** Throws Problem 422 for a commission that a new run would refuse. What else is wrong with a script fails the scan. */
  async #assertTakes(userId: string, { source, overrides }: ScanScript): Promise<void> {
    // The scripts of most scans trade nothing, and wait for no worker.
    if (!('commission_type' in overrides || 'commission_value' in overrides)) return
    const { pool, limits, bars, hostFor } = this.#deps
    const budget = { timeMs: limits.timeMs, memoryBytes: limits.memoryBytes }
    const host = hostFor(barsSeenBy(bars, userId), userId)
    await pool.do(
      'checkAsked',
      { source, names: [], overrides },
      { user: userId, lane: 'quick', budget, host },
    )
  }

  /** All chosen rows, in order. */
  async rows(
    userId: string,
    id: string,
    chosen: Choosing,
  ): Promise<{ readonly scan: Scan; readonly rows: ScanRow[] }> {
    const { clock } = this.#deps
    const scan = await this.get(userId, id)
    const { holds, compare } = choosing(scan, chosen)
    const rows: ScanRow[] = []
    let judged = 0
    for (let batch = 0; batch < scan.batches; batch++)
      for (const { fired: _fired, ...row } of await this.#batch(id, batch)) {
        if (holds(row)) rows.push(row)
        if (++judged % ROWS_A_TURN === 0) await clock.sleep(0)
      }
    if (compare) rows.sort(compare)
    return { scan, rows }
  }

  /** Changes the name, or whether the user is told when a condition becomes true. */
  async update(
    userId: string,
    id: string,
    { name, watch }: { readonly name?: string | undefined; readonly watch?: ScanWatch | null | undefined },
  ): Promise<Scan> {
    const scan = await this.get(userId, id)
    if (watch) await this.#assertWatch(scan, watch)
    const changed = await this.records.update(id, (before) => ({
      ...before,
      ...(name !== undefined && { name }),
      ...(watch !== undefined && { watch }),
    }))
    return changed ?? this.get(userId, id)
  }

  async #assertWatch(
    { userId, id, kind, conditions, state }: Scan,
    { conditions: titles, ...watch }: ScanWatch,
  ) {
    if (state === 'failed')
      throw new Problem(
        409,
        'conflict',
        'The scan failed, so there is nothing of it to watch. Mend it and run it again first.',
      )
    if (watch.channels.length === 0)
      throw invalidField('/watch/channels', 'empty', 'Name at least one way to be told: email or webhook.')
    for (const [i, receiver] of watch.webhookIds.entries())
      if (!(await this.#deps.ownsReceiver(userId, receiver)))
        throw invalidField(
          `/watch/webhookIds/${i}`,
          'not_found',
          'There is no webhook of yours with this id.',
        )
    for (const [i, title] of titles.entries())
      if (kind !== null && !conditions.some((one) => one.title === title))
        throw invalidField(
          `/watch/conditions/${i}`,
          'unknown_condition',
          `The script has no condition of this title. There are: ${conditions.map((one) => one.title).join(', ') || 'none'}.`,
        )
    let watched = 0
    for await (const other of this.records.each('watched'))
      if (other.userId === userId && other.id !== id) watched++
    if (watched >= WATCHED_MAX)
      throw new Problem(
        422,
        'quota_exceeded',
        `You watch ${WATCHED_MAX} scans already. End one of them first.`,
      )
  }

  /** Runs the scan again, over what there is now. */
  async again(userId: string, id: string): Promise<Scan> {
    const scan = await this.get(userId, id)
    return this.restart(
      scan,
      (before) => ({ ...before, ...BLANK }),
      () => ({ deletes: this.keysOf(scan) }),
    )
  }

  protected override async work(id: string, live: LiveJob<Scan, ScanProgress>): Promise<void> {
    const { signal } = live
    const before = await this.records.get(id)
    if (!before || !isUnderWay(before)) return
    const markets = await Markets.seenBy(this.#deps.bars, before.userId, before.interval)
    const script = await this.scriptOf(id)
    const names = await this.#namesOf(before, script, markets)
    let scan = await this.started(
      id,
      () => ({ sets: [{ key: marketsKey(id), value: JSON.stringify(names) }] }),
      { markets: names.length },
    )
    const work: Work = { script, markets, partSize: PART_FIRST }
    while (scan && scan.done < names.length) {
      live.tell(this.progressOf(scan))
      const batch = names.slice(scan.done, scan.done + BATCH)
      const found = await this.#lookAt(scan, work, batch, signal)
      for (const tried of found.flatMap((part) => part.tried)) this.#deps.tried(scan.userId, tried)
      scan = await this.#keep(scan, found)
    }
    const done = await this.done(id)
    if (done?.watch) this.#deps.watchedIsDone()
  }

  /** A scan that is resumed keeps the markets it began with. */
  async #namesOf(scan: Scan, script: ScanScript, markets: Markets): Promise<readonly NamedMarket[]> {
    const begun = scan.batches > 0 ? await this.valueAt<NamedMarket[]>(marketsKey(scan.id)) : null
    if (begun) return begun
    const named =
      scan.watchlistId === null ? script.symbols : await this.#deps.watched(scan.userId, scan.watchlistId)
    const names = named ? markets.named(named) : markets.all
    if (names.length > MARKETS_MAX)
      throw new Problem(
        422,
        'script_limit_exceeded',
        `There are ${names.length.toLocaleString('en')} markets; a scan looks at ${MARKETS_MAX.toLocaleString('en')} at most. Name a watchlist.`,
      )
    if (names.length === 0)
      throw new Problem(404, 'bars_not_found', `Nothing is cached that has bars of ${scan.interval}.`)
    return names
  }

  async #lookAt(
    scan: Scan,
    work: Work,
    names: readonly NamedMarket[],
    signal: AbortSignal,
  ): Promise<Found[]> {
    const { atOnce, clock } = this.#deps
    const most = Math.max(1, Math.floor(PART_BARS / scan.bars))
    const parts = await inParts({
      count: names.length,
      atOnce,
      size: () => Math.min(work.partSize, most),
      signal,
      work: async (from, to) => {
        const began = clock.now()
        const part = await lookAt(this.#deps, scan, work, names.slice(from, to), signal)
        const each = Math.max(0.05, (clock.now() - began) / part.rows.length)
        work.partSize = Math.min(PART_MAX, Math.max(1, Math.floor(PART_MS / each)))
        return part
      },
    })
    return parts.map(({ part }) => part)
  }

  /** Commits rows and record together. Answers null if the scan was cancelled or removed meanwhile. */
  #keep(scan: Scan, found: readonly Found[]): Promise<Scan | null> {
    const rows: StoredRows = found.flatMap((part) => part.rows)
    const columns = found.find((part) => part.columns !== null)?.columns ?? null
    return this.change(
      scan.id,
      (before) => {
        const conditions =
          before.kind === null && columns
            ? columns.conditions.map((title) => ({ title, holds: 0 }))
            : before.conditions
        return {
          ...before,
          kind: before.kind ?? columns?.kind ?? null,
          values: before.kind === null && columns ? [...columns.values] : before.values,
          conditions: conditions.map(({ title, holds }, i) => ({
            title,
            holds: holds + rows.filter((row) => row.holds.includes(i)).length,
          })),
          batches: before.batches + 1,
          done: before.done + rows.length,
          failed: before.failed + rows.filter(({ error }) => error !== null).length,
        }
      },
      (after) => ({ sets: [{ key: batchKey(scan.id, after.batches - 1), value: JSON.stringify(rows) }] }),
    )
  }

  async #batch(id: string, batch: number): Promise<StoredRows> {
    return (await this.valueAt<StoredRows>(batchKey(id, batch))) ?? []
  }
}

interface Work {
  readonly script: ScanScript
  readonly markets: Markets
  /** How many markets a worker is given at a time. */
  partSize: number
}

/** A scan that has not begun. */
const BLANK = {
  state: 'queued',
  startedAt: null,
  finishedAt: null,
  kind: null,
  values: [],
  conditions: [],
  markets: 0,
  done: 0,
  failed: 0,
  error: null,
  news: [],
  batches: 0,
} as const satisfies Partial<Scan>
