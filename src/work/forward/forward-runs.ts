// Forward runs: strategies that are followed from now on, a closed bar at a time, until somebody stops them.
//
// A run keeps the bars as it saw them, its tape, and its report is always that of a backtest of the tape.

import type { TextBytes } from '../workers/answer.ts'
import { UserQueue } from '../jobs/queue.ts'
import { givenOf, type JobScript } from '../jobs/records.ts'
import type { NewId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { createLoop } from '../../lib/loop.ts'
import { invalidField } from '../../lib/problem.ts'
import { ALL_SHARDS } from '../../lib/shards.ts'
import { barsNotFound } from '../../market/bar-cache.ts'
import { ownerOf, seriesKey, type SeriesKey } from '../../market/bar-store.ts'
import { rowsOf } from '../../market/bars.ts'
import { requireInterval } from '../../market/interval.ts'
import { barsSeenBy, requireStored, seriesOf } from '../../market/seen-bars.ts'
import { askedDay } from '../../language/behaviour.ts'
import { merged, type Also } from '../../store/transaction.ts'
import type { Divergence, ForwardOrder, ForwardRunBody } from '../../wire/forward-run.ts'
import { correctedBars, divergenceOf } from './divergence.ts'
import { FollowedRuns, FORESEE_MS, type FollowDeps } from './following.ts'
import { eventsOf, keptOf, tapeSets, type ForwardRun } from './records.ts'
import { Rounds } from './rounds.ts'

export interface ForwardDeps extends FollowDeps {
  readonly newId: NewId
  readonly log: Log
}

const WARMUP = 1000
const NAP_MS = 60_000
const DELETED_PAGE = 500

export class ForwardRuns extends FollowedRuns {
  readonly #deps: ForwardDeps
  readonly #loop
  readonly #queue = new UserQueue()
  readonly #rounds: Rounds

  constructor(deps: ForwardDeps) {
    super(deps)
    this.#deps = deps
    const { shards = ALL_SHARDS, bars, clock } = deps
    this.#rounds = new Rounds({
      records: this.records,
      clock,
      cache: bars,
      shards,
      queue: this.#queue,
      advance: (run, pass) => this.advance(run, pass),
    })
    let askedAllAt = -Infinity
    this.#loop = createLoop(deps, 'advancing forward runs', async (signal) => {
      if (Math.abs(clock.now() - askedAllAt) >= NAP_MS) {
        askedAllAt = clock.now()
        this.#rounds.askAll()
      }
      return (await this.#rounds.advance(signal)) ? FORESEE_MS : NAP_MS
    })
    bars.onChange(({ key }) => {
      if (this.#rounds.heard(key)) this.#loop.wake()
    })
    shards.onGained(() => this.#askAll())
    shards.beforeGiving(
      async () => {
        await this.#queue.settled([...this.#queue.users()].filter((userId) => !shards.holds(userId)))
        this.steps.letAllGo()
      },
      () => this.#queue.users(),
    )
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal)
  }

  /** Another server has made or changed a run. */
  heard(id: string): void {
    if (!this.#rounds.knows(id)) this.#askAll()
  }

  #askAll(): void {
    this.#rounds.askAll()
    this.#loop.wake()
  }

  /** Takes up all closed bars that have come. Answers whether a run wants to hear of bars that are not over. */
  advanceAll(signal?: AbortSignal): Promise<boolean> {
    this.#rounds.askAll()
    return this.#rounds.advance(signal)
  }

  /** The markets whose bars are waited for. */
  async *wanted(): AsyncGenerator<SeriesKey> {
    for await (const { exchange, symbol, interval, seriesOwner } of this.records.each('running'))
      if (seriesOwner === '') yield { exchange, symbol, interval }
  }

  async create(userId: string, body: ForwardRunBody, also?: Also<ForwardRun>): Promise<ForwardRun> {
    const { clock, newId, bars: cache } = this.#deps
    const seen = barsSeenBy(cache, userId)
    const key = await seen.resolve(
      seriesKey(body.exchange, body.symbol, requireInterval(body.interval, 'body')),
    )
    if ((await seen.source(key)) === null) throw await barsNotFound(seen, key)
    await requireStored(cache, userId, key)
    const { warmup = WARMUP, source, inputs = {}, overrides = {}, provisional = false } = body
    const stored = await cache.source(key)
    const bars = await this.steps.closed(userId, key, stored, { last: warmup + 1 }, warmup)
    if (bars.length === 0) throw await barsNotFound(seen, key)
    const asOf = askedDay(body.asOf, clock.now())
    const script: JobScript = { source, inputs, overrides, asOf }
    const rows = rowsOf(bars)
    const held = { rows, state: null }
    const begun = await this.steps.step({ userId, key, script }, held, rows.length, { isNew: true })
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
      asOf,
      given: givenOf(script),
    }
    const onTape = { sets: tapeSets(run.id, rows, 0) }
    await this.store(run, script, async (_, tx) => merged([onTape, (await also?.(run, tx)) ?? {}]))
    this.steps.hold(run.id, { rows, state: begun.kept })
    this.#askAll()
    return run
  }

  async orders(userId: string, id: string): Promise<ForwardOrder[]> {
    return eventsOf(this.#deps.kv, await this.get(userId, id))
  }

  /** JSON text of its report. */
  async report(userId: string, id: string): Promise<TextBytes> {
    const run = await this.get(userId, id)
    const held = await this.steps.heldOf(run)
    const { text } = await this.steps.step(await this.steppingOf(run), held, 0, { wants: 'report' })
    return text!
  }

  /** JSON text of its tracks; with `stored`, of those that a backtest of the bars as they are stored now has. */
  async tracks(userId: string, id: string, of: 'seen' | 'stored'): Promise<TextBytes> {
    const run = await this.get(userId, id)
    const seen = await this.steps.heldOf(run)
    const held = of === 'seen' ? seen : { rows: await this.steps.storedRows(run, seen.rows), state: null }
    // The bars that it saw are stored no more.
    if (held.rows.length === 0) return [new TextEncoder().encode('[]')]
    const { text } = await this.steps.step(await this.steppingOf(run), held, 0, { wants: 'tracks' })
    return text!
  }

  async stop(userId: string, id: string): Promise<ForwardRun> {
    await this.get(userId, id)
    await this.end(id, 'stopped')
    return this.get(userId, id)
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
    if (!(await this.records.delete(id))) throw await this.missing()
  }

  /** Compares the run with a backtest of the bars as they are stored now. */
  async divergence(userId: string, id: string): Promise<Divergence> {
    const run = await this.get(userId, id)
    const of = await this.steppingOf(run)
    const held = await this.steps.heldOf(run)
    const rows = await this.steps.storedRows(run, held.rows)
    const corrected = correctedBars(held.rows, rows)
    const own = await this.steps.step(of, held, 0)
    const isSame = corrected.length === 0 || rows.length === 0
    const again = isSame ? own : await this.steps.step(of, { rows, state: null }, 0)
    return divergenceOf(own, again, corrected, rows.length)
  }
}
