// What is closed of a followed series is stored here, whether a stream or an answer brought it.
//
// Writes of a series are written in order, and what waits behind one that failed is not written, since it would leave a hole:
// it is asked for again. Of a series that is unfollowed nothing more is stored, so that one which is removed then stays removed.

import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { BarCache } from '../bar-cache.ts'
import { seriesName } from '../bar-store.ts'
import { barsOf, rowsOf } from '../bars.ts'
import { storeBars } from '../import.ts'
import type { BarRow } from '../providers/provider.ts'
import type { Followed, Following } from './followed.ts'
import { isSame } from './live-series.ts'

interface WriterDeps {
  readonly cache: BarCache
  readonly clock: Clock
  readonly log: Log
}

/** Where a correction reaches back to the first bar that was asked for once more, so much more is asked for. */
const REACH = 8

export class SeriesWriter {
  readonly #deps: WriterDeps
  readonly #following: Following

  constructor(deps: WriterDeps, following: Following) {
    this.#deps = deps
    this.#following = following
  }

  /**
   * Stores what of an answer is closed. What the stream closes while the answer is taken up comes behind it. Answers false if it
   * could not be stored.
   */
  async taken(followed: Followed, isMending: boolean, closedOf: () => readonly BarRow[]): Promise<boolean> {
    followed.writes++
    const behind: (readonly BarRow[])[] = []
    followed.behind = behind
    const closed = closedOf()
    followed.behind = null
    const mending = this.mend(followed, closed, isMending)
    for (const streamed of behind) this.store(followed, streamed)
    const isMended = await mending
    this.#written(followed)
    return isMended
  }

  /** Stores what REST has where the store has something else. Answers false if it could not. */
  async mend(followed: Followed, rows: readonly BarRow[], isMending: boolean): Promise<boolean> {
    const { cache, clock } = this.#deps
    const [first] = rows
    const last = rows.at(-1)
    if (!first || !last) return true
    return this.#write(followed, first[0], async () => {
      const { bars: stored } = await cache.store.read(followed.key, { from: first[0], to: last[0] + 1 })
      const known = new Map(rowsOf(stored).map((row) => [row[0], row]))
      const news = rows.filter((row) => !isSame(known.get(row[0]), row))
      if (news.length === 0 || !this.#following.has(followed)) return
      await storeBars(cache, followed.key, barsOf(news))
      if (isMending) followed.mended += countMended(followed, news, known)
      // After a split all bars before it are others as well, but not where only the sides were unknown.
      const before = known.get(first[0])
      if (news[0] === first && before && !isSame(first, before) && rows.length > 1)
        followed.series.doubt(Math.max(0, first[0] - REACH * (last[0] - first[0])), clock.now())
    })
  }

  /** Stores what the stream has closed. */
  store(followed: Followed, rows: readonly BarRow[]): void {
    const [first] = rows
    if (!first || !this.#following.has(followed)) return
    if (followed.behind) return void followed.behind.push(rows)
    void this.#write(followed, first[0], async () => {
      await this.#deps.cache.upsert(followed.key, barsOf(rows))
    })
  }

  /** What cannot be stored now is asked for again later. */
  async #write(followed: Followed, from: number, work: () => Promise<void>): Promise<boolean> {
    const { writesFailed } = followed
    followed.writes++
    const doubt = () => {
      followed.formed = null
      followed.series.unsettle(from)
      followed.line.wake.abort()
      return false
    }
    const written = followed.writing
      .then(async () => {
        if (followed.writesFailed > writesFailed) return doubt()
        // Whoever unfollows a series to remove it must not find it there again.
        if (!this.#following.has(followed)) return false
        await work()
        return true
      })
      .catch((error: unknown) => {
        followed.writesFailed++
        if (followed.failures === 0)
          this.#deps.log('error', `bars of ${seriesName(followed.key)} could not be stored`, {
            error: String(error),
          })
        this.#following.failed(followed, error)
        return doubt()
      })
    followed.writing = written.then(() => this.#written(followed))
    return written
  }

  #written(followed: Followed): void {
    followed.writes--
    this.#following.show(followed)
  }
}

/** Of a stream each bar that it has not brought is mended; of polls each that was stored otherwise. */
function countMended(
  { polled }: Followed,
  news: readonly BarRow[],
  known: ReadonlyMap<number, BarRow>,
): number {
  return polled ? news.filter(([time]) => known.has(time)).length : news.length
}
