// Watched scans: when bars come, their markets are scanned again, and the user is told what has become true.
//
// The stored rows say what was true before, so nothing else has to be remembered. At the start every watched scan is
// scanned as a whole, which also finds what changed while no server ran. The new rows and their notifications are one
// commit. A condition of a market is told once a bar, however often it changes while the bar forms.

import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createLoop } from '../../lib/loop.ts'
import { Problem } from '../../lib/problem.ts'
import { ALL_SHARDS, type Shards } from '../../lib/shards.ts'
import type { BarCache } from '../../market/bar-cache.ts'
import { ownerOf, type SeriesKey } from '../../market/bar-store.ts'
import { canBuild, parseInterval } from '../../market/interval.ts'
import type { Kv } from '../../store/kv.ts'
import { merged, type Changes, type Tx } from '../../store/transaction.ts'
import type { Scan as ScanWire } from '../../wire/scan.ts'
import { lookAt, PART_BARS, PART_MAX, type LookDeps } from './look.ts'
import { Markets } from './markets.ts'
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
  type StoredRow,
  type StoredRows,
} from './records.ts'

export type News = ScanWire['news'][number]

export interface WatchDeps extends LookDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly log: Log
  readonly bars: BarCache
  /** The users whose scans this server watches. */
  readonly shards?: Shards
  /** Letters and deliveries, for the commit of the rows that they report. */
  readonly deliver: (tx: Tx, scan: Scan, watch: ScanWatch, news: readonly News[]) => Promise<Changes[]>
  /** Called after that commit. */
  readonly told: (scan: Scan) => void
}

const NAP_MS = 3_600_000
/** Bars that come within this time are handled together. */
const GATHER_MS = 250
/** Up to this many markets are each read by name; with more, listing all series is quicker. */
const FEW = 20
const NEWS_MAX = 100

export interface ScanWatching {
  run(signal: AbortSignal): Promise<void>
  /** Something may have been missed, so all watched scans are scanned as a whole. */
  lookAtAll(): void
}

export function createScanWatch(deps: WatchDeps): ScanWatching {
  const { kv, bars, clock, shards = ALL_SHARDS } = deps
  /** Series whose bars have changed; null = unknown, so all of them. */
  let changed: Map<string, SeriesKey> | null = null
  let underWay: { readonly userId: string; readonly work: Promise<void> } | null = null
  bars.onChange(({ key }) => {
    changed?.set(JSON.stringify([ownerOf(key), key.exchange, key.symbol, key.interval]), key)
    loop.wake()
  })
  const loop = createLoop(deps, 'watching scans', async (signal) => {
    if (changed?.size === 0) return NAP_MS
    // Feeds bring many markets at a time.
    await clock.sleep(GATHER_MS)
    const series = changed && [...changed.values()]
    changed = new Map()
    try {
      for await (const scan of scans(kv).each('watched')) {
        signal.throwIfAborted()
        if (!shards.holds(scan.userId)) continue
        underWay = { userId: scan.userId, work: lookAgain(deps, scan, series, signal) }
        await underWay.work.finally(() => (underWay = null))
        // There may be thousands of scans, and other work waits.
        await clock.sleep(0)
      }
    } catch (error) {
      // A scan of everything includes what was waiting.
      changed = null
      if (!signal.aborted) throw error
    }
    return changed === null || changed.size > 0 ? 0 : NAP_MS
  })
  function lookAtAll(): void {
    changed = null
    loop.wake()
  }
  shards.onGained(lookAtAll)
  shards.beforeGiving(
    async () => {
      if (underWay && !shards.holds(underWay.userId)) await underWay.work.catch(() => {})
    },
    () => (underWay ? [underWay.userId] : []),
  )
  return { run: (signal) => loop.run(signal), lookAtAll }
}

async function lookAgain(
  deps: WatchDeps,
  scan: Scan,
  series: readonly SeriesKey[] | null,
  signal: AbortSignal,
): Promise<void> {
  const names = await namesOf(deps.kv, scan.id)
  const places = series ? placesOf(scan, names, series) : names.map((_, place) => place)
  if (places.length === 0) return
  const entry = await deps.kv.get(scriptKey(scan.id))
  if (!entry) return
  const script = JSON.parse(entry.value) as ScanScript
  const markets =
    places.length <= FEW
      ? Markets.byName(deps.bars, scan.userId, scan.interval)
      : await Markets.seenBy(deps.bars, scan.userId, scan.interval)
  const most = Math.max(1, Math.min(PART_MAX, Math.floor(PART_BARS / scan.bars)))
  for (let from = 0; from < places.length; from += most) {
    const part = places.slice(from, from + most)
    try {
      const { rows } = await lookAt(
        deps,
        scan,
        { script, markets },
        part.map((place) => names[place]!),
        signal,
      )
      await keep(deps, scan, new Map(part.map((place, i) => [place, rows[i]!])))
    } catch (error) {
      // The script itself no longer runs, for example because a library it imports has gone. The scan's next run will say
      // so.
      if (error instanceof Problem && error.code !== 'shutting_down' && error.code !== 'overloaded') return
      throw error
    }
  }
}

async function namesOf(kv: Kv, id: string): Promise<readonly NamedMarket[]> {
  const entry = await kv.get(marketsKey(id))
  return entry ? (JSON.parse(entry.value) as NamedMarket[]) : []
}

/** Which of the scan's markets the series belong to, or can be used to build. */
function placesOf(scan: Scan, names: readonly NamedMarket[], series: readonly SeriesKey[]): number[] {
  const wanted = parseInterval(scan.interval)
  const serving = new Set(
    series.flatMap((key) => {
      const interval = parseInterval(key.interval)
      const owner = ownerOf(key)
      const isSeen = owner === '' || owner === scan.userId
      const serves = key.interval === scan.interval || (wanted && interval && canBuild(wanted, interval))
      return isSeen && serves ? [`${key.exchange}\0${key.symbol}`] : []
    }),
  )
  return names.flatMap(({ exchange, symbol }, place) =>
    serving.has(`${exchange}\0${symbol}`) ? [place] : [],
  )
}

/** Commits rows, notifications and record together. */
async function keep(deps: WatchDeps, scan: Scan, rows: ReadonlyMap<number, StoredRow>): Promise<void> {
  const { kv, clock } = deps
  const batches = new Map<number, StoredRow[]>()
  for (const place of rows.keys()) {
    const batch = Math.floor(place / BATCH)
    if (batches.has(batch)) continue
    const entry = await kv.get(batchKey(scan.id, batch))
    if (!entry) return
    batches.set(batch, [...(JSON.parse(entry.value) as StoredRows)])
  }
  const news: News[] = []
  const holds = scan.conditions.map(() => 0)
  let failed = 0
  for (const [place, row] of rows) {
    const batch = batches.get(Math.floor(place / BATCH))!
    const before = batch[place % BATCH]
    if (!before) return
    const fired = { ...before.fired }
    for (const [condition, { title }] of scan.conditions.entries()) {
      const [was, is] = [before.holds.includes(condition), row.holds.includes(condition)]
      holds[condition]! += Number(is) - Number(was)
      if (!is || was || before.error || fired[condition] === row.time || !isWatched(scan, title)) continue
      fired[condition] = row.time!
      const { exchange, symbol, time, close } = row
      news.push({ exchange, symbol, condition: title, time: time!, close: close!, at: clock.now() })
    }
    failed += Number(row.error !== null) - Number(before.error !== null)
    batch[place % BATCH] = Object.keys(fired).length > 0 ? { ...row, fired } : row
  }
  const changed = await scans(kv).update(
    scan.id,
    (now) =>
      // The scan was run again meanwhile, and its rows are newer than these.
      now.state !== 'done' || now.finishedAt !== scan.finishedAt || now.batches !== scan.batches
        ? null
        : {
            ...now,
            conditions: now.conditions.map((one, i) => ({ ...one, holds: one.holds + holds[i]! })),
            failed: now.failed + failed,
            news: [...news, ...now.news].slice(0, NEWS_MAX),
          },
    async (now, tx) => {
      const told = now.watch && news.length > 0 ? await deps.deliver(tx, now, now.watch, news) : []
      const sets = [...batches].map(([batch, all]) => ({
        key: batchKey(scan.id, batch),
        value: JSON.stringify(all),
      }))
      return merged([{ sets }, ...told])
    },
  )
  if (changed && news.length > 0) deps.told(changed)
}

function isWatched({ watch }: Scan, title: string): boolean {
  return watch !== null && (watch.conditions.length === 0 || watch.conditions.includes(title))
}
