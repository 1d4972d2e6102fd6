// In which order forward runs advance: in rounds of short turns.
//
// A bar that has just closed is taken up in the next round, and does not wait until others have caught up. Those that are
// behind have what is left of a round, and the next one goes on where this one ended. Turns are counted in the records, so
// that none starves behind a user's others, however often the server stops: the turn of a run that has no state counts from
// its beginning, since it may take longer than the server lives. A round asks only those runs whose market has had bars since
// the last one, and there is none while only other markets have.

import type { UserQueue } from '../jobs/queue.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Shards } from '../../lib/shards.ts'
import type { BarCache } from '../../market/bar-cache.ts'
import { ownerOf, type SeriesInfo, type SeriesKey } from '../../market/bar-store.ts'
import { barsRunOn } from '../../market/seen-bars.ts'
import type { Collection } from '../../store/collection.ts'
import type { ForwardRun } from './records.ts'
import { keyOf } from './steps.ts'

/** One after the other of a user's runs advances, and those of so many users side by side: a slow one holds up its own. */
const USERS_AT_ONCE = 8
/** After so long, those of a user's runs that are behind and have not had a turn wait for the next round. */
const ROUND_MS = 200
/** No run is behind for so few bars: the one that closed last, and one behind it that may be forming. */
const NEWEST_BARS = 2

/** What is known while runs catch up, round by round. */
export interface Pass {
  /** They are tried again when the others have caught up. */
  readonly failed: Map<string, unknown>
  readonly foreseenAt: Map<string, number>
}

/** Markets; null: all. */
type Markets = ReadonlySet<string> | null
/** What answers for each series, asked once a round: the runs of many users are on a few. */
type Sources = Map<string, Promise<SeriesInfo | null>>

export interface RoundDeps {
  readonly records: Collection<ForwardRun>
  readonly clock: Clock
  readonly cache: BarCache
  readonly shards: Shards
  readonly queue: UserQueue
  /** A turn of a run. Answers whether there is more to take up. */
  readonly advance: (run: ForwardRun, pass: Pass) => Promise<boolean>
}

export class Rounds {
  readonly #deps: RoundDeps
  /** Those that have had bars since the last round. */
  #news: Set<string> | null = null
  /** The market of each run that goes on, by its id; null: not known. */
  #markets: ReadonlyMap<string, string> | null = null

  constructor(deps: RoundDeps) {
    this.#deps = deps
  }

  /** Bars came. Answers whether there is a run that may wait for them. */
  heard(key: SeriesKey): boolean {
    const market = marketOf(key)
    if (this.#markets?.values().some((one) => one === market) === false) return false
    this.#news?.add(market)
    return true
  }

  knows(id: string): boolean {
    return this.#markets?.has(id) === true
  }

  /** The next round asks every run, as where it is not known what came. */
  askAll(): void {
    this.#news = null
    this.#markets = null
  }

  /** Takes up closed bars that have come. Answers whether a run wants to hear of bars that are not over. */
  async advance(signal?: AbortSignal): Promise<boolean> {
    const pass: Pass = { failed: new Map(), foreseenAt: new Map() }
    let asked: Markets = new Set()
    try {
      for (;;) {
        // Who is behind is asked again.
        asked = asked && this.#news && asked.union(this.#news)
        this.#news = new Set()
        const { isBehind, isProvisional } = await this.#round(pass, asked, signal)
        if (signal?.aborted) return false
        if (isBehind) continue
        for (const error of pass.failed.values()) throw error
        return isProvisional
      }
    } catch (error) {
      this.askAll()
      throw error
    }
  }

  /** One turn of each run that is asked. */
  async #round(pass: Pass, asked: Markets, signal: AbortSignal | undefined) {
    const { records, clock, queue, shards } = this.#deps
    const lines = new Map<string, ForwardRun[]>()
    const markets = new Map<string, string>()
    let isProvisional = false
    for await (const run of records.each('running')) {
      markets.set(run.id, marketOf(keyOf(run)))
      if (!shards.holds(run.userId)) continue
      isProvisional ||= run.provisional === true
      if (pass.failed.has(run.id)) continue
      // One that looks at bars which are not over is told of none.
      if (asked?.has(marketOf(keyOf(run))) === false && run.provisional !== true) continue
      const line = lines.get(run.userId)
      if (line) line.push(run)
      else lines.set(run.userId, [run])
    }
    this.#markets = markets
    const sources = new Map<string, Promise<SeriesInfo | null>>()
    let isBehind = false
    const waiting = [...lines.values()]
    const lane = async () => {
      for (let line = waiting.shift(); line; line = waiting.shift()) {
        const until = clock.now() + ROUND_MS
        let turn = Math.max(...line.map(turnOf))
        for (const run of await this.#inOrder(line, sources)) {
          if (signal?.aborted) return
          if (!shards.holds(run.userId)) break
          const now = { ...run, turn: ++turn }
          const work = queue.enter(run.userId, () => this.#deps.advance(now, pass))
          // The others go on.
          const hasMore = await work.catch((error: unknown) => void pass.failed.set(run.id, error))
          isBehind ||= hasMore === true
          await clock.sleep(0)
          if (hasMore && clock.now() > until) break
        }
      }
    }
    await Promise.all(Array.from({ length: USERS_AT_ONCE }, lane))
    return { isBehind, isProvisional }
  }

  /**
   * Those that bars have come for: first the runs that lack the newest alone, then those that are behind, and of each the one
   * whose turn is longest ago.
   */
  async #inOrder(line: readonly ForwardRun[], sources: Sources): Promise<ForwardRun[]> {
    const places = new Map<ForwardRun, number>()
    for (const run of line) {
      // One whose bars cannot be read says so in its turn.
      const place = await this.#placeOf(run, sources).catch(() => PLACES.first)
      if (place !== null) places.set(run, place)
    }
    return [...places.keys()].sort((a, b) => places.get(a)! - places.get(b)! || turnOf(a) - turnOf(b))
  }

  /** null: nothing has come. */
  async #placeOf(run: ForwardRun, sources: Sources): Promise<number | null> {
    // A server has died of it, or over it: others go first.
    if (run.begun !== undefined) return PLACES.last
    const { cache } = this.#deps
    const key = keyOf(run)
    const source = await sources.getOrInsertComputed(`${marketOf(key)}\0${key.interval}`, () =>
      cache.source(key),
    )
    if (!source || source.last <= run.last) return run.provisional === true ? PLACES.first : null
    const first = NEWEST_BARS + 1
    const news = await barsRunOn(cache, run.userId, key, { from: run.last + 1, first }, source)
    return news.length === first ? PLACES.last : PLACES.first
  }
}

const PLACES = { first: 0, last: 1 } as const

/** What has all series of a symbol: a run may be on one that is built of another. */
const marketOf = (key: SeriesKey) => `${ownerOf(key)}\0${key.exchange}\0${key.symbol}`

const turnOf = ({ turn = 0, begun = 0 }: ForwardRun): number => Math.max(turn, begun)
