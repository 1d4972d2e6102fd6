// What the database answered last, for requests that only show something while it is away.
//
// A chart that was open a moment ago can be shown again, with the bars that are still in memory, if everything that leads
// to it is known: the session, the series, the layout. So what such a request reads is remembered, and answered again
// where the database gives no answer, or has given nobody one for a moment (`silence.ts`): while that lasts, the request
// waits for nothing more. A request must say that it only shows (`show`), since anything else might act on what is no longer so.
// Commits are refused meanwhile, with or without it.
//
// What this server has written itself is never shown as it was before: a commit that was acknowledged ends what is
// remembered of its keys, also of lists that they stand in, and what is just being read. What others write meanwhile is not
// known here.
//
// An answer is remembered for a quarter of an hour, since among them are credentials: one that was revoked where the
// database can be reached would go on being good for as long here.

import { AsyncLocalStorage } from 'node:async_hooks'
import { Problem } from '../../lib/problem.ts'
import {
  type BarStore,
  compareSeries,
  ownerOf,
  type SeriesInfo,
  type SeriesKey,
} from '../../market/bar-store.ts'
import type { Commit, Key, Kv, Selector } from '../kv.ts'
import { away, type Silence } from './silence.ts'

/** A question to the database. Topics are names of what its answer hangs on. */
interface Question<T> {
  readonly name: string
  readonly topics: readonly string[]
  ask(): Promise<T>
  sizeOf(value: T): number
}

/** A question that was put, and stays known as long as its answer is remembered. */
interface Asked {
  readonly topics: readonly string[]
  /** Puts it again, with nobody to wait for the answer. */
  again(): void
  /** This server has written since it was put. */
  isOutdated: boolean
}

interface Remembered {
  value: unknown
  readonly bytes: number
  /** When it was asked for. */
  readonly at: number
  readonly asked: Asked
}

/** What one request was shown. */
interface Shown {
  /** The age of the oldest remembered answer among it; 0 = all of it was new. */
  ageMs: number
}

const REMEMBERED_MS = 15 * 60_000
const BYTES_MAX = 32 << 20
/** What an answer without a text in it weighs, each row of one, and each of its topics. */
const ROW_BYTES = 200

export class LastKnown {
  /** A monotonic clock, in ms. */
  readonly #now: () => number
  readonly #silence: Silence
  readonly #bytesMax: number
  readonly #shows = new AsyncLocalStorage<Shown>()
  /** In order of use, the least recent first; `#bytes` is the sum of their sizes. */
  readonly #answers = new Map<string, Remembered>()
  #bytes = 0
  /** What was asked and is under way or remembered, by topic. */
  readonly #asked = new Map<string, Map<Asked, string>>()

  constructor({
    now,
    silence,
    bytesMax = BYTES_MAX,
  }: {
    now(): number
    readonly silence: Silence
    readonly bytesMax?: number
  }) {
    this.#now = now
    this.#silence = silence
    this.#bytesMax = bytesMax
  }

  /** Does work that only shows something, and answers how old the oldest of what it was shown is. */
  async show<T>(work: () => T): Promise<{ readonly answer: Awaited<T>; readonly ageMs: number }> {
    const shown: Shown = { ageMs: 0 }
    const answer = await this.#shows.run(shown, work)
    return { answer, ageMs: shown.ageMs }
  }

  /** The documents, with a memory. */
  kv(kv: Kv): Kv {
    const ask = <T>(
      question: readonly unknown[],
      keys: readonly Key[],
      answer: () => Promise<T>,
      sizeOf: (value: T) => number,
    ) =>
      this.#ask(answer, () => ({
        name: JSON.stringify(question),
        topics: keys.map((key) => topicOf('document', key)),
        sizeOf,
      }))
    return {
      get: (key) =>
        ask(
          ['get', key],
          [key],
          () => kv.get(key),
          (entry) => lengthOf([entry]),
        ),
      getMany: (keys) => ask(['getMany', keys], keys, () => kv.getMany(keys), lengthOf),
      versions: (keys) => ask(['versions', keys], keys, () => kv.versions(keys), rowsOf),
      list: (selector, options) =>
        ask(['list', selector, options], [commonOf(selector)], () => kv.list(selector, options), lengthOf),
      commit: (commit) => this.#commit(kv, commit),
      close: () => kv.close(),
    }
  }

  /** The bars, with a memory of which there are; the bars themselves are kept by `BarCache`. */
  bars(store: BarStore): BarStore {
    const written = (key: SeriesKey, series: SeriesInfo | null) =>
      this.#written('series', [ownerOf(key), key.exchange, key.symbol, key.interval], (value) =>
        series ? withSeries(value, series) : undefined,
      )
    const named = (exchange: string, symbol: string, owner = ''): Key => [owner, exchange, symbol]
    return {
      ...store,
      async upsert(key, ...asked) {
        const result = await store.upsert(key, ...asked)
        written(key, result.series)
        return result
      },
      draft(key) {
        const draft = store.draft(key)
        return {
          ...draft,
          async commit(...asked) {
            const result = await draft.commit(...asked)
            written(key, result.series)
            return result
          },
        }
      },
      async remove(key) {
        const removed = await store.remove(key)
        written(key, null)
        return removed
      },
      putSymbol: async (info) => {
        await store.putSymbol(info)
        this.#written('symbol', named(info.exchange, info.symbol, ownerOf(info)))
      },
      removeSymbol: async (...name) => {
        await store.removeSymbol(...name)
        this.#written('symbol', named(...name))
      },
      info: (key) =>
        this.#ask(
          () => store.info(key),
          () => ({
            name: JSON.stringify(['info', key]),
            topics: [topicOf('series', [ownerOf(key), key.exchange, key.symbol, key.interval])],
            sizeOf: () => ROW_BYTES,
          }),
        ),
      list: (of) =>
        this.#ask(
          () => store.list(of),
          () => ({
            name: JSON.stringify(['series', of]),
            topics: [topicOf('series', of ? [ownerOf(of), of.exchange, of.symbol] : [])],
            sizeOf: (rows) => rowsOf(rows),
          }),
        ),
      symbol: (...name) =>
        this.#ask(
          () => store.symbol(...name),
          () => ({
            name: JSON.stringify(['symbol', ...name]),
            topics: [topicOf('symbol', named(...name))],
            sizeOf: () => ROW_BYTES,
          }),
        ),
      symbols: () =>
        this.#ask(
          () => store.symbols(),
          () => ({
            name: JSON.stringify(['symbols']),
            topics: [topicOf('symbol', [])],
            sizeOf: (rows) => rowsOf(rows),
          }),
        ),
    }
  }

  /** What is asked beside requests is not remembered, and need not have a name. */
  #ask<T>(ask: () => Promise<T>, named: () => Omit<Question<T>, 'ask'>): Promise<T> {
    const shown = this.#shows.getStore()
    return shown ? this.#askFor(shown, { ...named(), ask }) : ask()
  }

  async #askFor<T>(shown: Shown, question: Question<T>): Promise<T> {
    const known = this.#known(question.name)
    if (this.#isInVain(shown)) {
      if (!known) throw away()
      return old(known, shown) as T
    }
    try {
      const answer = this.#asking(question)
      return await (known ? this.#silence.bear(answer) : answer)
    } catch (error) {
      // It may have been written to meanwhile.
      const still = isAway(error) ? this.#known(question.name) : null
      if (!still) throw error
      return old(still, shown) as T
    }
  }

  /** Whether the request has waited for the database already, and it is still silent: a stream lasts longer than that. */
  #isInVain({ ageMs }: Shown): boolean {
    return ageMs > 0 && this.#silence.isKnown
  }

  async #commit(kv: Kv, commit: Commit): Promise<boolean> {
    const shown = this.#shows.getStore()
    if (!shown) return (await this.#committed(kv, commit)).done
    if (this.#isInVain(shown)) throw away()
    const { done, ended } = await this.#committed(kv, commit)
    // A request that shows writes as well, when its session was last in use, and its user would be unknown until the next one.
    for (const { again } of ended) again()
    return done
  }

  async #committed(
    kv: Kv,
    commit: Commit,
  ): Promise<{ readonly done: boolean; readonly ended: readonly Asked[] }> {
    const done = await kv.commit(commit)
    const { sets = [], deletes = [], sums = [] } = commit
    const keys = done ? [...sets.map(({ key }) => key), ...deletes, ...sums.map(({ key }) => key)] : []
    return { done, ended: keys.flatMap((key) => this.#written('document', key)) }
  }

  #known(name: string): { readonly value: unknown; readonly ageMs: number } | null {
    const known = this.#answers.get(name)
    const ageMs = known ? this.#now() - known.at : Infinity
    return known && ageMs <= REMEMBERED_MS ? { value: known.value, ageMs } : null
  }

  /** Puts a question, and remembers the answer even if nobody waits for it any more. */
  async #asking<T>(question: Question<T>): Promise<T> {
    const { name, topics, ask, sizeOf } = question
    const at = this.#now()
    const asked: Asked = {
      topics,
      isOutdated: false,
      again: () => void this.#asking(question).catch(() => {}),
    }
    for (const topic of topics) this.#asked.getOrInsertComputed(topic, () => new Map()).set(asked, name)
    let isKept = false
    try {
      const value = await ask()
      isKept = !asked.isOutdated && (this.#answers.get(name)?.at ?? -Infinity) <= at
      if (isKept)
        this.#remember(name, {
          value,
          bytes: 2 * name.length + ROW_BYTES * topics.length + sizeOf(value),
          at,
          asked,
        })
      return value
    } finally {
      if (!isKept) this.#unfollow(asked)
    }
  }

  /** Ends what is known of a key and of whatever it is in, unless `mend` can say what it is now. Answers what was ended. */
  #written(kind: Kind, key: Key, mend: (value: unknown) => unknown = () => undefined): Asked[] {
    const ended: Asked[] = []
    for (let length = 0; length <= key.length; length++) {
      const topic = topicOf(kind, key.slice(0, length))
      for (const [asked, name] of this.#asked.get(topic) ?? []) {
        const known = this.#answers.get(name)
        asked.isOutdated = true
        if (known?.asked !== asked) continue
        const value = mend(known.value)
        if (value !== undefined) known.value = value
        else {
          this.#forget(name)
          ended.push(asked)
        }
      }
    }
    return ended
  }

  #remember(name: string, answer: Remembered): void {
    this.#forget(name)
    this.#answers.set(name, answer)
    this.#bytes += answer.bytes
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= this.#bytesMax) return
      this.#forget(oldest)
    }
  }

  #forget(name: string): void {
    const known = this.#answers.get(name)
    if (!known) return
    this.#bytes -= known.bytes
    this.#answers.delete(name)
    this.#unfollow(known.asked)
  }

  #unfollow(asked: Asked): void {
    for (const topic of asked.topics) {
      const all = this.#asked.get(topic)
      all?.delete(asked)
      if (all?.size === 0) this.#asked.delete(topic)
    }
  }
}

type Kind = 'document' | 'series' | 'symbol'

const topicOf = (kind: Kind, key: Key) => kind + JSON.stringify(key)

/** What all keys of a selection begin with. */
function commonOf(selector: Selector): Key {
  if ('prefix' in selector) return selector.prefix
  const { start, end } = selector
  const length = start.findIndex((part, i) => part !== end[i])
  return length < 0 ? start : start.slice(0, length)
}

function old({ value, ageMs }: { readonly value: unknown; readonly ageMs: number }, shown: Shown): unknown {
  // At least 1, so that even an answer of this very moment counts as remembered.
  shown.ageMs = Math.max(shown.ageMs, ageMs, 1)
  return value
}

/** Facts of a series, or a list of such facts, after a write to it; undefined if nothing is said of it there. */
function withSeries(known: unknown, series: SeriesInfo): unknown {
  const newer = (info: SeriesInfo) => (info.change > series.change ? info : series)
  if (known === null) return series
  if (!Array.isArray(known)) return newer(known as SeriesInfo)
  const rows = known as readonly SeriesInfo[]
  const isOf = (info: SeriesInfo) => compareSeries(info, series) === 0
  return rows.some(isOf) ? rows.map((info) => (isOf(info) ? newer(info) : info)) : undefined
}

function isAway(error: unknown): boolean {
  return error instanceof Problem && error.code === 'store_unavailable'
}

const rowsOf = (rows: readonly unknown[]) => (rows.length + 1) * ROW_BYTES

const lengthOf = (entries: readonly ({ readonly value: string } | null)[]) =>
  entries.reduce((sum, entry) => sum + ROW_BYTES + (entry?.value.length ?? 0), ROW_BYTES)
