// The store of a server that is alone, as LMDB keeps it: a commit is seen as soon as it is made, and answered once it is
// flushed. A crash drops what is not flushed, from some commit on. The disk may be full, slow, or fail, and bits may flip.

import { BarCache } from '../market/bar-cache.ts'
import type { BarStore } from '../market/bar-store.ts'
import { memoryBars } from '../market/bar-store.ts'
import { loadSamples } from '../market/sample.ts'
import { Damage, documentName } from '../store/damage.ts'
import type { Commit, Entry, Key, Kv } from '../store/kv.ts'
import { memoryKv, storageFull } from '../store/memory.ts'
import type { Life } from './life.ts'
import type { Timeline } from './timeline.ts'

interface Before {
  readonly key: Key
  /** null: it was absent. */
  readonly value: string | null
}

export class Disk {
  isFull = false
  /** How many commits in a hundred fail as on a broken disk. */
  failing = 0
  /** How long a flush takes at most. */
  flushMs = 8
  /** It becomes that of an old program, once the server that has it has ended. */
  isAging = false
  /** The document in which a bit has flipped. */
  damaged: Key | null = null
  readonly #timeline: Timeline
  readonly #kv = memoryKv()
  readonly #bars = memoryBars()
  /** What commits have overwritten that are not flushed, oldest first. */
  #unflushed: { readonly number: number; readonly before: readonly Before[] }[] = []
  #commits = 0
  /** Commits are made one at a time. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(timeline: Timeline) {
    this.#timeline = timeline
  }

  /** For whoever looks from outside: it is never late, nor over. */
  get kv(): Kv {
    return this.#kv
  }

  get bars(): BarStore {
    return this.#bars
  }

  /** What a server would read from files at its first start. */
  async prepare(): Promise<void> {
    await loadSamples(new BarCache(this.#bars))
  }

  kvOf(life: Life): Kv {
    const kv = this.#kv
    const whole = async <T extends Entry | null>(entries: Promise<readonly T[]>) => {
      const found = await entries
      for (const entry of found) if (entry) this.#assertWhole(entry.key)
      return [...found]
    }
    return {
      get: (key) => life.whileAlive(async () => (await whole(kv.getMany([key])))[0] ?? null),
      getMany: (keys) => life.whileAlive(() => whole(kv.getMany(keys))),
      versions: (keys) => life.whileAlive(() => kv.versions(keys)),
      list: (selector, options) =>
        life.whileAlive(() => {
          const found = kv.list(selector, options)
          return options.keysOnly === true ? found : whole(found)
        }),
      moment: () => kv.moment?.() ?? 0,
      commit: (commit) =>
        life.across(this.#timeline.random.uniform(), async () => {
          this.#assertTakes(commit.essential)
          const number = await this.#make(commit)
          if (number === null) return false
          await this.#timeline.pause(this.#timeline.between(1, this.flushMs))
          if (!life.isOver) this.#flushed(number)
          return true
        }),
      close: async () => {},
    }
  }

  /** A crash loses of bars what was not flushed yet, where nobody was told of it; it may have been flushed all the same. */
  barsOf(life: Life): BarStore {
    const bars = this.#bars
    const written = <T>(work: () => Promise<T>) => {
      const flushMs = this.#timeline.between(1, this.flushMs)
      const beforeMs = this.#timeline.once(2) ? flushMs : 0
      return life.across(
        this.#timeline.random.uniform() + beforeMs,
        async () => {
          this.#assertTakes()
          return work()
        },
        flushMs - beforeMs,
      )
    }
    return {
      ...bars,
      upsert: (key, more, pieces) => written(() => bars.upsert(key, more, pieces)),
      remove: (key) => written(() => bars.remove(key)),
      clearNote: (note) => written(() => bars.clearNote(note)),
      putSymbol: (info) => written(() => bars.putSymbol(info)),
      removeSymbol: (exchange, symbol, owner) => written(() => bars.removeSymbol(exchange, symbol, owner)),
      draft(key) {
        const draft = bars.draft(key)
        return { ...draft, commit: (pieces) => written(() => draft.commit(pieces)) }
      },
    }
  }

  /** Answers how many commits are lost of those that nobody was told of. */
  async crash(): Promise<number> {
    await this.#last
    const kept = this.#timeline.random.below(this.#unflushed.length + 1)
    const lost = this.#unflushed.slice(kept)
    for (const { before } of lost.toReversed())
      await this.#kv.commit({
        sets: before.flatMap(({ key, value }) => (value === null ? [] : [{ key, value }])),
        deletes: before.flatMap(({ key, value }) => (value === null ? [key] : [])),
      })
    this.#unflushed = []
    return lost.length
  }

  /** Nobody has it open, and another program changes it. */
  async change(work: (kv: Kv) => Promise<void>): Promise<void> {
    await this.#last
    this.#unflushed = []
    await work(this.#kv)
  }

  /** Its number; null if a check failed. */
  #make(commit: Commit): Promise<number | null> {
    const made = this.#last.then(async () => {
      const { sets = [], deletes = [], sums = [] } = commit
      const keys = [...sets.map(({ key }) => key), ...deletes, ...sums.map(({ key }) => key)]
      const entries = await this.#kv.getMany(keys)
      if (!(await this.#kv.commit(commit))) return null
      const number = ++this.#commits
      const before = keys.map((key, i) => ({ key, value: entries[i]?.value ?? null }))
      this.#unflushed.push({ number, before })
      return number
    })
    this.#last = made.catch(() => {})
    return made
  }

  /** As LMDB with the checksums of `store/damage.ts`. */
  #assertWhole(key: Key): void {
    if (this.damaged?.every((part, i) => part === key[i]) === true) throw new Damage(documentName(key))
  }

  /** Throws if the disk does not take it. */
  #assertTakes(isEssential = false): void {
    if (this.isFull && !isEssential) throw storageFull()
    if (this.#timeline.random.below(100) < this.failing) throw new Error('EIO: i/o error, write')
  }

  /** With a commit all before it are flushed. */
  #flushed(number: number): void {
    this.#unflushed = this.#unflushed.filter((one) => one.number > number)
  }
}
