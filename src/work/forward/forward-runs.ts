// Forward runs: strategies that are followed from now on, a closed bar at a time.
//
// A run keeps the bars as it saw them, its tape. Each bar is a step of its own, and one commit has a step or, of a run that is
// behind, several: the bars on the tape, the record with what the strategy has then, and the events of its orders with their
// deliveries. So after a stop it goes on behind the last bar that it has seen, tells nothing twice, and its report is always
// that of a backtest of the tape. The state of the engine is kept in memory alone: without it a step begins at the first bar,
// with the same result.
//
// Runs advance in rounds of short turns. A bar that has just closed is taken up in the next round, and does not wait until others
// have caught up. Those that are behind have what is left of a round, and the next one goes on where this one ended. Turns are
// counted in the records, so that none starves behind a user's others, however often the server stops: the turn of a run that
// has no state counts from its beginning, since it may take longer than the server lives.

import type { ForwardState } from '../../broker/forward.ts'
import type { TextBytes } from '../workers/answer.ts'
import type { FollowOutput, ForwardOutput, ScriptHost } from '../workers/job.ts'
import type { JobPool } from '../workers/pool.ts'
import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { createLoop } from '../../lib/loop.ts'
import { invalidField, Problem } from '../../lib/problem.ts'
import { ALL_SHARDS, type Shards } from '../../lib/shards.ts'
import { tidy } from '../../lib/tidy.ts'
import { barsNotFound, type BarCache } from '../../market/bar-cache.ts'
import { ownerOf, seriesKey, type SeriesKey } from '../../market/bar-store.ts'
import { barsOf, type Bars, rowsOf, selectBars, sliceBars } from '../../market/bars.ts'
import { calendarOf } from '../../market/calendar.ts'
import { parseInterval, requireInterval } from '../../market/interval.ts'
import { streams } from '../../market/live/live-providers.ts'
import { barsSeenBy, requireStored, seriesOf, type SeenBars } from '../../market/seen-bars.ts'
import type { Limits } from '../../language/runtime/runtime.ts'
import type { Page, PageOptions } from '../../store/collection.ts'
import type { Kv } from '../../store/kv.ts'
import { transact, type Also, type Changes, type Tx } from '../../store/transaction.ts'
import type { Divergence, ForwardOrder, ForwardRunBody, WaitingOrder } from '../../wire/forward-run.ts'
import type { ReportOrder } from '../../wire/report.ts'
import { type BareOrder, foreseenEvents, retracted, settledEvents } from './foreseen.ts'
import {
  eventSets,
  eventsOf,
  forwardRuns,
  keptOf,
  scriptKey,
  tapeOf,
  tapeSets,
  type ForwardRun,
  type ForwardScript,
  type TapeRow,
} from './records.ts'

export type { ForwardRun } from './records.ts'

export interface ForwardDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
  readonly log: Log
  readonly bars: BarCache
  readonly pool: Pick<JobPool, 'do'>
  readonly limits: Limits
  /** The users whose runs this server advances. */
  readonly shards?: Shards
  readonly hostFor: (seen: SeenBars, userId: string, key: SeriesKey, bars: Bars) => ScriptHost
  /** Deliveries of the events of a step, for its commit. */
  readonly deliver: (tx: Tx, run: ForwardRun, events: readonly ForwardOrder[]) => Promise<readonly Changes[]>
  /** Called after that commit. */
  readonly told: (run: ForwardRun) => void
  /** The bar of a series that is not over, if it is known. */
  readonly forming?: (key: SeriesKey) => Promise<TapeRow | null>
  /** Processor time of a turn. */
  readonly turnMs?: number
}

const WARMUP = 1000
const NAP_MS = 60_000
/** How often bars that are not over are looked at, where somebody has asked for it. */
const FORESEE_MS = 2000
/** One after the other of a user's runs advances, and those of so many users side by side: a slow one holds up its own. */
const USERS_AT_ONCE = 8
/** The most bars of a run that are taken up in its turn, after a long stop. */
const STEPS_MAX = 50
/** No further step of a turn is begun after so much processor time: all users' runs share a thread or two. */
const TURN_MS = 50
/** After so long, those of a user's runs that are behind and have not had a turn wait for the next round. */
const ROUND_MS = 200
/** No run is behind for so few bars: the one that closed last, and one behind it that may be forming. */
const NEWEST_BARS = 2
/** A commit ends with the bar that brings so many events, or so many letters of them; each may be a delivery or ten. */
const EVENTS_AT_ONCE = 200
const LETTERS_AT_ONCE = 200_000
/** States and tapes of so many runs are held in memory. */
const HELD_MAX = 200
const SHOWN_BARS = 50
const SHOWN_FILLS = 20
const DELETED_PAGE = 500

interface Held {
  readonly rows: TapeRow[]
  state: ForwardState | null
}

/** What is known while runs catch up, round by round. */
interface Pass {
  /** They are tried again when the others have caught up. */
  readonly failed: Map<string, unknown>
  readonly foreseenAt: Map<string, number>
}

export class ForwardRuns {
  readonly #deps: ForwardDeps
  readonly #held = new Map<string, Held>()
  /** The bar that is not over, as each run saw it last. */
  readonly #looked = new Map<string, string>()
  readonly #loop
  /** What is being done for each user. */
  readonly #underWay = new Map<string, Promise<unknown>>()

  constructor(deps: ForwardDeps) {
    this.#deps = deps
    const { shards = ALL_SHARDS, bars } = deps
    this.#loop = createLoop(deps, 'advancing forward runs', async (signal) => {
      return (await this.advanceAll(signal)) ? FORESEE_MS : NAP_MS
    })
    bars.onChange(() => this.#loop.wake())
    shards.onGained(() => this.#loop.wake())
    shards.beforeGiving(
      async () => {
        const given = [...this.#underWay].filter(([userId]) => !shards.holds(userId))
        await Promise.allSettled(given.map(([, work]) => work))
        for (const id of this.#held.keys()) this.#held.delete(id)
      },
      () => this.#underWay.keys(),
    )
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal)
  }

  /** The markets whose bars are waited for. */
  async *wanted(): AsyncGenerator<SeriesKey> {
    for await (const { exchange, symbol, interval, seriesOwner } of forwardRuns(this.#deps.kv).each(
      'running',
    ))
      if (seriesOwner === '') yield { exchange, symbol, interval }
  }

  async create(userId: string, body: ForwardRunBody, also?: Also<ForwardRun>): Promise<ForwardRun> {
    const { kv, clock, newId, bars: cache } = this.#deps
    const seen = barsSeenBy(cache, userId)
    const key = await seen.resolve(
      seriesKey(body.exchange, body.symbol, requireInterval(body.interval, 'body')),
    )
    if ((await seen.source(key)) === null) throw await barsNotFound(seen, key)
    await requireStored(cache, userId, key)
    const { warmup = WARMUP, source, inputs = {}, overrides = {}, provisional = false } = body
    const bars = await this.#closed(userId, key, { last: warmup + 1 }, warmup)
    if (bars.length === 0) throw await barsNotFound(seen, key)
    const script: ForwardScript = { source, inputs, overrides }
    const rows = rowsOf(bars)
    const { job, options } = await this.#jobOf(userId, key, script, { rows, state: null })
    const begun = await this.#deps.pool.do(
      'forward',
      { ...job, from: rows.length, wants: null, isNew: true },
      options,
    )
    if (begun.kind !== 'strategy')
      throw invalidField('/source', 'not_a_strategy', 'A forward run needs a strategy, which has orders.')
    const run: ForwardRun = {
      id: newId('fwd'),
      userId,
      name: body.name,
      ...seriesOf(key, ''),
      seriesOwner: ownerOf(key),
      state: 'running',
      error: null,
      createdAt: clock.now(),
      stoppedAt: null,
      warmup: rows.length,
      bars: 0,
      first: null,
      last: rows.at(-1)![0],
      position: begun.position,
      equity: begun.equity,
      startEquity: begun.equity,
      currency: begun.currency,
      trades: begun.summary.trades,
      fills: 0,
      events: 0,
      waiting: [...begun.waiting],
      provisional,
    }
    await transact(kv, (tx) => [
      forwardRuns(kv).insert(run),
      {
        sets: [{ key: scriptKey(run.id), value: JSON.stringify(script) }, ...tapeSets(run.id, rows, 0)],
      },
      also?.(run, tx),
    ])
    this.#hold(run.id, { rows, state: begun.kept })
    this.#loop.wake()
    return run
  }

  async get(userId: string, id: string): Promise<ForwardRun> {
    const run = await forwardRuns(this.#deps.kv).get(id)
    if (run?.userId !== userId) throw missing()
    return run
  }

  list(userId: string, page: PageOptions): Promise<Page<ForwardRun>> {
    return forwardRuns(this.#deps.kv).list('user', [userId], page)
  }

  async orders(userId: string, id: string): Promise<ForwardOrder[]> {
    return eventsOf(this.#deps.kv, await this.get(userId, id))
  }

  /** JSON text of its report. */
  async report(userId: string, id: string): Promise<TextBytes> {
    const run = await this.get(userId, id)
    const held = await this.#heldOf(run)
    const { text } = await this.#step(userId, keyOf(run), await this.#script(id), held, 0, 'report')
    return text!
  }

  /** JSON text of its tracks; with `stored`, of those that a backtest of the bars as they are stored now has. */
  async tracks(userId: string, id: string, of: 'seen' | 'stored'): Promise<TextBytes> {
    const run = await this.get(userId, id)
    const held = await this.#heldOf(run)
    const rows = of === 'seen' ? held.rows : await this.#storedRows(run, held.rows)
    // The bars that it saw are stored no more.
    if (rows.length === 0) return [new TextEncoder().encode('[]')]
    const state = of === 'seen' ? held.state : null
    const { text } = await this.#step(
      userId,
      keyOf(run),
      await this.#script(id),
      { rows, state },
      0,
      'tracks',
    )
    return text!
  }

  /** The bars that are stored today where the run saw `rows`. */
  async #storedRows(run: ForwardRun, rows: readonly TapeRow[]): Promise<TapeRow[]> {
    const seen = barsSeenBy(this.#deps.bars, run.userId)
    return rowsOf(await seen.read(keyOf(run), { from: rows[0]![0]!, to: run.last + 1 }))
  }

  async stop(userId: string, id: string): Promise<ForwardRun> {
    await this.get(userId, id)
    const stoppedAt = this.#deps.clock.now()
    await this.#end(id, (run) => ({ ...run, state: 'stopped', stoppedAt }))
    return this.get(userId, id)
  }

  /** A run that is over retracts what it told of a bar that it will not see closed. */
  async #end(id: string, over: (run: ForwardRun) => ForwardRun): Promise<void> {
    const { kv, deliver, told } = this.#deps
    let ended: ForwardRun | null = null
    await transact(kv, async (tx) => {
      ended = null
      const stored = await forwardRuns(kv).at(tx).stored(id)
      if (stored?.record.state !== 'running') return []
      const { foreseen = [], events } = stored.record
      const back = retracted(foreseen)
      const after = { ...over(stored.record), foreseen: [], events: events + back.length }
      if (back.length > 0) ended = after
      return [
        forwardRuns(kv).replace(stored, after),
        { sets: eventSets(id, events, back) },
        ...(back.length > 0 ? await deliver(tx, after, back) : []),
      ]
    })
    this.#held.delete(id)
    this.#looked.delete(id)
    if (ended) told(ended)
  }

  async remove(userId: string, id: string): Promise<void> {
    const { kv } = this.#deps
    await this.stop(userId, id)
    for (const prefix of keptOf(id))
      for (;;) {
        const entries = await kv.list({ prefix }, { limit: DELETED_PAGE })
        // A key without longer ones is listed under no prefix.
        await kv.commit({ deletes: [prefix, ...entries.map(({ key }) => key)] })
        if (entries.length < DELETED_PAGE) break
      }
    // Last: what a server that dies meanwhile has left can be removed again.
    if (!(await forwardRuns(kv).delete(id))) throw missing()
  }

  /** Compares the run with a backtest of the bars as they are stored now. */
  async divergence(userId: string, id: string): Promise<Divergence> {
    const run = await this.get(userId, id)
    const key = keyOf(run)
    const script = await this.#script(id)
    const held = await this.#heldOf(run)
    const { rows } = held
    const stored = await this.#storedRows(run, rows)
    const corrected = correctedBars(rows, stored)
    const own = await this.#step(userId, key, script, held, 0)
    const again =
      corrected.length === 0 || stored.length === 0
        ? own
        : await this.#step(userId, key, script, { rows: stored, state: null }, 0)
    const onlyForward = without(own.fills, again.fills)
    const onlyBacktest = without(again.fills, own.fills)
    const equal =
      stored.length > 0 && onlyForward.length + onlyBacktest.length === 0 && own.equity === again.equity
    return {
      equal,
      said:
        stored.length === 0
          ? 'The bars that it saw are stored no more, so there is nothing to compare it with.'
          : saidOf(equal, corrected.length, onlyForward.length + onlyBacktest.length),
      corrected: corrected.length,
      bars: corrected.slice(0, SHOWN_BARS),
      onlyForward: onlyForward.slice(0, SHOWN_FILLS),
      onlyBacktest: onlyBacktest.slice(0, SHOWN_FILLS),
      equity: own.equity,
      backtestEquity: again.equity,
    }
  }

  /** Takes up all closed bars that have come. Answers whether a run wants to hear of bars that are not over. */
  async advanceAll(signal?: AbortSignal): Promise<boolean> {
    const pass: Pass = { failed: new Map(), foreseenAt: new Map() }
    for (;;) {
      const { isBehind, isProvisional } = await this.#round(pass, signal)
      if (signal?.aborted) return false
      if (isBehind) continue
      for (const error of pass.failed.values()) throw error
      return isProvisional
    }
  }

  /** One turn of each run. */
  async #round(pass: Pass, signal: AbortSignal | undefined) {
    const { kv, clock, shards = ALL_SHARDS } = this.#deps
    const lines = new Map<string, ForwardRun[]>()
    let isProvisional = false
    for await (const run of forwardRuns(kv).each('running')) {
      if (!shards.holds(run.userId)) continue
      isProvisional ||= run.provisional === true
      if (pass.failed.has(run.id)) continue
      const line = lines.get(run.userId)
      if (line) line.push(run)
      else lines.set(run.userId, [run])
    }
    let isBehind = false
    const waiting = [...lines.values()]
    const lane = async () => {
      for (let line = waiting.shift(); line; line = waiting.shift()) {
        const until = clock.now() + ROUND_MS
        let turn = Math.max(...line.map(turnOf))
        for (const run of await this.#inOrder(line)) {
          if (signal?.aborted) return
          if (!shards.holds(run.userId)) break
          const work = this.#advance({ ...run, turn: ++turn }, pass)
          this.#underWay.set(run.userId, work)
          // The others go on.
          const hasMore = await work.catch((error: unknown) => void pass.failed.set(run.id, error))
          this.#underWay.delete(run.userId)
          isBehind ||= hasMore === true
          await clock.sleep(0)
          if (hasMore && clock.now() > until) break
        }
      }
    }
    await Promise.all(Array.from({ length: USERS_AT_ONCE }, lane))
    return { isBehind, isProvisional }
  }

  /** First the runs that lack the newest bars alone, then those that are behind, and of each the one whose turn is longest ago. */
  async #inOrder(line: readonly ForwardRun[]): Promise<ForwardRun[]> {
    const behind = new Set<ForwardRun>()
    // One whose bars cannot be read says so in its turn.
    for (const run of line) if (await this.#isBehind(run).catch(() => false)) behind.add(run)
    return line.toSorted((a, b) => Number(behind.has(a)) - Number(behind.has(b)) || turnOf(a) - turnOf(b))
  }

  async #isBehind(run: ForwardRun): Promise<boolean> {
    // A server has died of it, or over it: others go first.
    if (run.begun !== undefined) return true
    const { bars: cache } = this.#deps
    const key = keyOf(run)
    const source = await cache.source(key)
    if (!source || source.last <= run.last) return false
    const first = NEWEST_BARS + 1
    const news = await barsSeenBy(cache, run.userId).read(key, { from: run.last + 1, first })
    return news.length === first
  }

  /** Answers whether there is more to take up. */
  async #advance(run: ForwardRun, { foreseenAt }: Pass): Promise<boolean> {
    const after = await this.#takeUp(run)
    if (after?.isBehind) return true
    const now = this.#deps.clock.now()
    if (after?.run.provisional && now - (foreseenAt.get(run.id) ?? -Infinity) >= FORESEE_MS) {
      foreseenAt.set(run.id, now)
      await this.#foresee(after.run)
    }
    return false
  }

  /** A turn: takes up closed bars of a run. Answers null if it is over, or another server's. */
  async #takeUp(run: ForwardRun): Promise<{ readonly run: ForwardRun; readonly isBehind: boolean } | null> {
    const key = keyOf(run)
    const source = await this.#deps.bars.source(key)
    if (!source || source.last <= run.last) return { run, isBehind: false }
    const news = await this.#closed(run.userId, key, { from: run.last + 1, first: STEPS_MAX }, STEPS_MAX)
    if (news.length === 0) return { run, isBehind: false }
    const after = await this.#follow(run, key, rowsOf(news))
    const taken = after ? after.bars - run.bars : 0
    return after && { run: after, isBehind: taken < news.length || news.length === STEPS_MAX }
  }

  /** Tells what the bar that is not over would do if it closed now. Nothing of it is kept but what was told. */
  async #foresee(run: ForwardRun): Promise<void> {
    const { kv, deliver, told, forming } = this.#deps
    const key = keyOf(run)
    // Only what everybody sees comes live.
    const row = run.seriesOwner === '' ? ((await forming?.(key)) ?? null) : null
    if (!row || row[0]! <= run.last || this.#looked.get(run.id) === row.join(' ')) return
    const held = await this.#heldOf(run)
    const rows = [...held.rows, row]
    const script = await this.#script(run.id)
    let step: ForwardOutput
    try {
      step = await this.#step(run.userId, key, script, { rows, state: held.state }, rows.length - 1)
    } catch (error) {
      // A script that fails on it may not fail on the closed bar.
      if (error instanceof Problem && error.status < 500 && error.code !== 'concurrency_limited') return
      throw error
    }
    this.#looked.set(run.id, row.join(' '))
    const foreseen = eventsBetween(run.waiting, step, row[0]!)
    const events = foreseenEvents(run.foreseen ?? [], foreseen)
    if (events.length === 0) return
    const after: ForwardRun = { ...run, foreseen, events: run.events + events.length }
    let isWritten = false
    await transact(kv, async (tx) => {
      const stored = await forwardRuns(kv).at(tx).stored(run.id)
      isWritten =
        stored?.record.state === 'running' &&
        stored.record.last === run.last &&
        stored.record.events === run.events
      if (!stored || !isWritten) return []
      return [
        forwardRuns(kv).replace(stored, after),
        { sets: eventSets(run.id, run.events, events) },
        ...(await deliver(tx, after, events)),
      ]
    })
    if (isWritten) told(after)
    else this.#looked.delete(run.id)
  }

  /** The first of these bars, as many as the turn has time for. Answers null if the run is over, or another server's. */
  async #follow(run: ForwardRun, key: SeriesKey, news: readonly TapeRow[]): Promise<ForwardRun | null> {
    let held: Held
    let rows: TapeRow[]
    let followed: FollowOutput
    const from = run.warmup + run.bars
    try {
      held = await this.#heldOf(run)
      if (held.state === null) await this.#begin(run)
      rows = [...held.rows, ...news]
      followed = await this.#steps(run, key, { rows, state: held.state }, from)
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500 || error.code === 'concurrency_limited')
        throw error
      return this.#fail(run, error)
    }
    const { steps, kept } = followed
    let stored = run
    const { begun: _, ...done } = run
    let after: ForwardRun = done
    let events: ForwardOrder[] = []
    let letters = 0
    for (const [i, step] of steps.entries()) {
      const one = stepped(after, step, rows[from + i]![0]!)
      after = one.run
      events = events.concat(one.events)
      letters += JSON.stringify(one.events).length
      const isLast = i === steps.length - 1
      if (!isLast && events.length < EVENTS_AT_ONCE && letters < LETTERS_AT_ONCE) continue
      const seen = rows.slice(0, from + i + 1)
      if (!(await this.#write(stored, after, seen, events))) {
        this.#held.delete(run.id)
        return null
      }
      // The new state is of the last step, and is no use before that is written.
      this.#hold(run.id, { rows: seen, state: isLast ? (kept ?? held.state) : held.state })
      stored = after
      events = []
      letters = 0
    }
    return after
  }

  async #begin({ id, last, turn = 0 }: ForwardRun): Promise<void> {
    await forwardRuns(this.#deps.kv).update(id, (one) =>
      one.state === 'running' && one.last === last ? { ...one, begun: turn } : null,
    )
  }

  /** Commits the steps that lead from `before` to `after`. Answers whether the run still was as before, and is this server's. */
  async #write(
    before: ForwardRun,
    after: ForwardRun,
    rows: readonly TapeRow[],
    events: readonly ForwardOrder[],
  ): Promise<boolean> {
    const { kv, deliver, told, shards = ALL_SHARDS } = this.#deps
    if (!shards.holds(before.userId)) return false
    let isWritten = false
    await transact(kv, async (tx) => {
      const stored = await forwardRuns(kv).at(tx).stored(before.id)
      isWritten = stored?.record.state === 'running' && stored.record.last === before.last
      if (!stored || !isWritten) return []
      return [
        forwardRuns(kv).replace(stored, after),
        {
          sets: [
            ...tapeSets(before.id, rows, before.warmup + before.bars),
            ...eventSets(before.id, before.events, events),
          ],
        },
        ...(await deliver(tx, after, events)),
      ]
    })
    if (isWritten && events.length > 0) told(after)
    return isWritten
  }

  async #fail(run: ForwardRun, { code, message }: Problem): Promise<null> {
    const stoppedAt = this.#deps.clock.now()
    await this.#end(run.id, (one) => ({ ...one, state: 'failed', stoppedAt, error: { code, message } }))
    return null
  }

  async #step(
    userId: string,
    key: SeriesKey,
    script: ForwardScript,
    { rows, state }: Held,
    from: number,
    wants: 'report' | 'tracks' | null = null,
  ): Promise<ForwardOutput> {
    const { job, options } = await this.#jobOf(userId, key, script, { rows, state })
    return this.#deps.pool.do('forward', { ...job, from, wants }, options)
  }

  /** A step of each bar from `from` on. */
  async #steps({ id, userId }: ForwardRun, key: SeriesKey, held: Held, from: number): Promise<FollowOutput> {
    const { pool, turnMs = TURN_MS } = this.#deps
    const { job, options } = await this.#jobOf(userId, key, await this.#script(id), held)
    return pool.do('follow', { ...job, from, forMs: turnMs }, options)
  }

  async #jobOf(userId: string, key: SeriesKey, script: ForwardScript, { rows, state }: Held) {
    const { bars: cache, limits, hostFor } = this.#deps
    const seen = barsSeenBy(cache, userId)
    const bars = barsOf(rows, { shared: true })
    const symbol = await seen.symbol(key.exchange, key.symbol)
    const host = hostFor(seen, userId, key, bars)
    return {
      job: { ...script, bars, symbol, interval: key.interval, limits, kept: state },
      options: { user: userId, lane: 'alerts', budget: limits, host },
    } as const
  }

  async #script(id: string): Promise<ForwardScript> {
    const entry = await this.#deps.kv.get(scriptKey(id))
    // It was removed together with the run.
    if (!entry) throw missing()
    return JSON.parse(entry.value) as ForwardScript
  }

  async #heldOf(run: ForwardRun): Promise<Held> {
    const held = this.#held.get(run.id)
    const length = run.warmup + run.bars
    if (held?.rows.length === length) return held
    const rows = await tapeOf(this.#deps.kv, run.id, length)
    // It was removed meanwhile.
    if (rows.length < length) throw missing()
    return { rows, state: null }
  }

  #hold(id: string, held: Held): void {
    this.#held.delete(id)
    this.#held.set(id, held)
    const [oldest] = this.#held.keys()
    if (this.#held.size > HELD_MAX && oldest !== undefined) this.#held.delete(oldest)
  }

  /**
   * The closed bars of a range. A stream stores only those; of others the newest may be forming, and nobody says when it is as
   * it stays, so it counts once the next one is there.
   */
  async #closed(
    userId: string,
    key: SeriesKey,
    range: Parameters<SeenBars['read']>[1],
    most: number,
  ): Promise<Bars> {
    const { bars: cache, clock } = this.#deps
    const seen = barsSeenBy(cache, userId)
    const source = await seen.source(key)
    const bars = await seen.read(key, range)
    const interval = parseInterval(key.interval)
    const newest = bars.time.at(-1)
    if (!source || !interval || newest === undefined) return bars
    const { end } = calendarOf(await seen.symbol(key.exchange, key.symbol)).period(newest, interval)
    const isOwn = source.interval === key.interval
    const forming = ownerOf(key) === '' ? await this.#deps.forming?.(key) : null
    // Behind a bar that is told of while it forms, or where only closed ones are stored, it stays as it is.
    const isBehind = forming ? forming[0]! >= end : false
    const isOver = isBehind || (isOwn && streams(source) ? end <= clock.now() : source.last >= end)
    const closed = isOver ? bars : sliceBars(bars, 0, bars.length - 1)
    return selectBars(closed, { last: most })
  }
}

const keyOf = (run: ForwardRun): SeriesKey => seriesOf(run, run.seriesOwner)

const turnOf = ({ turn = 0, begun = 0 }: ForwardRun): number => Math.max(turn, begun)

const missing = () => new Problem(404, 'forward_run_not_found', 'There is no such forward run.')

/** The run after the bar of that time, and what is to be told of it. */
function stepped(run: ForwardRun, step: FollowOutput['steps'][number], time: number) {
  const foreseen = run.foreseen ?? []
  const isPast = (event: BareOrder) => event.time <= time
  const events = settledEvents(foreseen.filter(isPast), eventsBetween(run.waiting, step, time))
  const after: ForwardRun = {
    ...run,
    ...(foreseen.length > 0 && { foreseen: foreseen.filter((event) => !isPast(event)) }),
    bars: run.bars + 1,
    first: run.first ?? time,
    last: time,
    position: step.position,
    equity: step.equity,
    currency: step.currency,
    trades: step.summary.trades,
    fills: run.fills + step.fills.length,
    events: run.events + events.length,
    waiting: [...step.waiting],
  }
  return { run: after, events }
}

/**
 * What a bar did to the orders: those that filled, those that are gone without, and those that are new. One that came and
 * filled on this bar, as the exit of an entry may, was not there at any close: it is told of as placed directly before it fills.
 */
export function eventsBetween(
  before: readonly WaitingOrder[],
  { fills, waiting, position }: Pick<ForwardOutput, 'fills' | 'waiting' | 'position'>,
  time: number,
): BareOrder[] {
  const filled = new Set(fills.map(slotOf))
  const nameOf = ({ id, type, side, qty, price }: WaitingOrder) =>
    JSON.stringify([id, type, side, qty, price])
  const there = new Set(waiting.map(nameOf))
  const moved = new Set(waiting.map(({ id, type, side }) => JSON.stringify([id, type, side])))
  const gone = before.filter(
    (order) =>
      !there.has(nameOf(order)) &&
      !filled.has(slotOf(order)) &&
      // One that is placed again at another price is told of as placed.
      !moved.has(JSON.stringify([order.id, order.type, order.side])),
  )
  const { fresh, placed } = newOrders(before, fills, waiting, nameOf)
  const rest = { time, position: tidy(position), comment: null, alertMessage: null }
  const said = ({
    id,
    type,
    side,
    qty,
    price,
  }: Pick<WaitingOrder, 'id' | 'side' | 'qty' | 'price'> & {
    readonly type: WaitingOrder['type'] | null
  }) => ({
    orderId: id,
    type,
    side,
    qty: tidy(qty),
    price: price && tidy(price),
    ...rest,
  })
  return [
    ...fills.flatMap((fill): BareOrder[] => {
      const { id, side, qty, price, comment, alertMessage, position: held } = fill
      const event = {
        event: 'order.filled' as const,
        time,
        orderId: id,
        type: null,
        side,
        qty: tidy(qty),
        price: tidy(price),
        position: tidy(held),
        comment,
        alertMessage,
      }
      if (!fresh.has(fill)) return [event]
      return [{ event: 'order.placed', ...said({ id, type: null, side, qty, price: null }) }, event]
    }),
    ...gone.map((order) => ({ event: 'order.cancelled' as const, ...said(order) })),
    ...placed.map((order) => ({ event: 'order.placed' as const, ...said(order) })),
  ]
}

/** After a reversal the exit of one name is of the other side. */
const slotOf = ({ id, side }: Pick<WaitingOrder, 'id' | 'side'>) => JSON.stringify([id, side])

/** Of the fills, those whose order did not wait before the bar; of what waits after it, what did not. Equal ones are counted. */
function newOrders(
  before: readonly WaitingOrder[],
  fills: readonly ReportOrder[],
  waiting: readonly WaitingOrder[],
  nameOf: (order: WaitingOrder) => string,
) {
  const toFill = countOf(fills.map(slotOf))
  const after = countOf(waiting.map(nameOf))
  const stayed = new Map<string, number>()
  /** Of an exit, limit, stop and trail wait side by side, and one of them fills. */
  const over = { market: new Map(), limit: new Map(), stop: new Map(), trail: new Map() } as const
  for (const order of before) {
    const [name, slot] = [nameOf(order), slotOf(order)]
    // An order at the market that filled does not wait again: one like it is new.
    const hasFilled = order.type === 'market' && take(toFill, slot)
    if (!hasFilled && take(after, name)) add(stayed, name)
    else add(over[order.type], slot)
  }
  const known = new Map<string, number>()
  for (const counts of Object.values(over) as Map<string, number>[])
    for (const [slot, count] of counts) known.set(slot, Math.max(known.get(slot) ?? 0, count))
  return {
    fresh: new Set(fills.filter((fill) => !take(known, slotOf(fill)))),
    placed: waiting.filter((order) => !take(stayed, nameOf(order))),
  }
}

function countOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) add(counts, name)
  return counts
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** Answers whether there was one. */
function take(counts: Map<string, number>, name: string): boolean {
  const count = counts.get(name) ?? 0
  if (count > 0) counts.set(name, count - 1)
  return count > 0
}

function correctedBars(seen: readonly TapeRow[], stored: readonly TapeRow[]): Divergence['bars'] {
  const now = new Map(stored.map((row) => [row[0], row]))
  const found: Divergence['bars'][number][] = []
  for (const [time, ...values] of seen) {
    const row = now.get(time)
    if (!row) found.push({ time: time!, seen: values, now: null })
    else if (values.some((value, i) => value !== row[i + 1]))
      found.push({ time: time!, seen: values, now: row.slice(1) })
  }
  const known = new Set(seen.map(([time]) => time))
  for (const [time, ...values] of stored)
    if (!known.has(time)) found.push({ time: time!, seen: [], now: values })
  return found.sort((a, b) => a.time - b.time)
}

function without(fills: readonly ReportOrder[], others: readonly ReportOrder[]): ReportOrder[] {
  const nameOf = ({ time, id, side, qty, price }: ReportOrder) => JSON.stringify([time, id, side, qty, price])
  const known = new Set(others.map(nameOf))
  return fills.filter((fill) => !known.has(nameOf(fill)))
}

function saidOf(equal: boolean, corrected: number, fills: number): string {
  const bars = `${corrected} ${corrected === 1 ? 'bar was' : 'bars were'} corrected since the run saw ${corrected === 1 ? 'it' : 'them'}`
  if (corrected === 0) return 'A backtest of the stored bars is the same: none was corrected since.'
  if (equal) return `${bars}, and a backtest trades the same all the same.`
  return `${bars}: ${fills} ${fills === 1 ? 'fill differs' : 'fills differ'} in a backtest of today.`
}
