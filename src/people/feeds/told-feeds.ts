// How feeds go, as the server that fetches them tells the others: each series is one server's at a time, and whoever looks at
// the list of feeds is answered by any of them.

import { type SeriesKey, seriesName } from '../../market/bar-store.ts'
import type { FeedNews } from '../../market/live/feed-status.ts'
import type { Key } from '../../store/kv.ts'
import type { StoreDeps } from '../../store/owned.ts'

/** How often it is told that a feed still goes well: thousands of them succeed a minute. */
const TOLD_MS = 60_000
const PAGE = 1000
const TOLD: Key = ['feeds', 'told']

export class ToldFeeds {
  readonly #deps: StoreDeps
  readonly #last = new Map<string, { readonly feed: FeedNews; readonly at: number }>()

  constructor(deps: StoreDeps) {
    this.#deps = deps
  }

  /** Does nothing where the others know as much. */
  async tell(feed: FeedNews): Promise<void> {
    const name = seriesName(feed.key)
    const now = this.#deps.clock.now()
    const last = this.#last.get(name)
    if (last && isSame(last.feed, feed) && Math.abs(now - last.at) < TOLD_MS) return
    await this.#deps.kv.commit({ sets: [{ key: keyOf(feed.key), value: JSON.stringify(feed) }] })
    this.#last.set(name, { feed, at: now })
  }

  async list(): Promise<FeedNews[]> {
    const found: FeedNews[] = []
    for (let after: Key | undefined; ;) {
      const page = await this.#deps.kv.list({ prefix: TOLD }, { limit: PAGE, ...(after && { after }) })
      found.push(...page.map(({ value }) => JSON.parse(value) as FeedNews))
      after = page.at(-1)?.key
      if (page.length < PAGE) return found
    }
  }

  /** Forgets those that nobody wants any more. */
  async forget(isUnwanted: (key: SeriesKey) => boolean): Promise<void> {
    const gone = (await this.list()).filter(({ key }) => isUnwanted(key))
    for (let at = 0; at < gone.length; at += PAGE)
      await this.#deps.kv.commit({ deletes: gone.slice(at, at + PAGE).map(({ key }) => keyOf(key)) })
    for (const { key } of gone) this.#last.delete(seriesName(key))
  }
}

const keyOf = ({ exchange, symbol, interval }: SeriesKey): Key => [...TOLD, exchange, symbol, interval]

const isSame = (a: FeedNews, b: FeedNews) =>
  a.state === b.state && a.lastError === b.lastError && a.failures === b.failures
