// The ledger of trials counts how many distinct choices of values a user has tried with a script on a market, by any means.
//
// The best of a thousand tries proves less than the best of three, and nobody keeps count: so backtests, previews and
// sweeps are all counted here. A choice counts once, even if it is tried again on newer bars. Trials by hand are written in
// small batches after the answer, which counts those that still wait; a crash may lose the last second of them, which hardly
// changes the count.

import type { Log } from '../../lib/log.ts'
import { deviationOf, NO_SPREAD, withValue, type Spread } from '../../broker/statistics/spread.ts'
import type { TriedTogether } from '../../wire/transfer.ts'
import type { SeriesKey } from '../../market/bar-store.ts'
import type { Wire } from '../../wire/schema.ts'
import type { Entry, Kv, Key } from '../../store/kv.ts'
import { transact, type Changes, type Tx } from '../../store/transaction.ts'

/** A script on a market, of a user. */
export interface TriedScript {
  readonly userId: string
  /** `scriptNames` of `broker/trial-name.ts`. */
  readonly script: string
  /** Exchange, symbol and interval in one name. */
  readonly market: string
}

/** A script that ledgers may hold under another name: what was counted under it is joined when it is tried again. */
export interface RenamedScript extends TriedScript {
  readonly formerly?: string
}

export interface Tried extends RenamedScript {
  /** `trialName` of `broker/trial-name.ts`. */
  readonly trial: string
  /** The Sharpe ratio a bar, if it is known: luck is judged by how far the ratios of the trials lie apart. */
  readonly sharpe?: number
}

export interface Counted {
  readonly count: number
  /** Of the Sharpe ratios a bar; null if fewer than two are known. */
  readonly deviation: number | null
}

/** The most trials written at once: a commit is a turn of the server, and others wait for it. */
const BATCH = 50
/** How many are told together. */
const TRIALS_TOGETHER = 500
/** The most that get another name at once. */
const RENAMED = 500
/** How many ratios are read where the ledger was written before their spread was. */
const SHARPES_MAX = 10_000
/** The most trials that may wait; more are dropped, or a user who tries fast would fill the memory. */
const WAITING_MAX = 20_000

const countKey = ({ userId, script, market }: TriedScript): Key => ['trial-count', userId, script, market]
const spreadKey = ({ userId, script, market }: TriedScript): Key => ['trial-spread', userId, script, market]
const trialsKey = ({ userId, script, market }: TriedScript): Key => ['trial', userId, script, market]
const trialKey = (tried: Tried): Key => [...trialsKey(tried), tried.trial]
/** The script's present name, kept under its former one: stored results know only that. */
const nowKey = ({ userId, script, market }: TriedScript): Key => ['trial-now', userId, script, market]

export class Ledger {
  readonly #kv: Kv
  readonly #log: Log
  /** Scripts with the trials of each that are noted and not written yet, by name. */
  readonly #waiting = new Map<string, Map<string, Tried>>()
  #waitingCount = 0
  #writing: Promise<void> | null = null

  constructor({ kv, log }: { readonly kv: Kv; readonly log: Log }) {
    this.#kv = kv
    this.#log = log
  }

  /** The trials of each of these scripts, those that are noted and not written yet too. */
  async counts(all: readonly TriedScript[]): Promise<number[]> {
    const waiting = all.map((of) => this.#waitingOf(of))
    const entries = await this.#kv.getMany([
      ...all.map(countKey),
      ...waiting.flatMap((trials) => trials.map(trialKey)),
    ])
    let at = all.length
    const counts = all.map((_, i) => {
      const known = entries.slice(at, (at += waiting[i]!.length))
      return Number(entries[i]?.value ?? 0) + known.filter((entry) => !entry).length
    })
    const unknown = all.filter((_, i) => counts[i] === 0)
    const now = unknown.length > 0 ? await this.#renamed(unknown) : new Map()
    if (now.size === 0) return counts
    const found = await this.counts([...now.values()])
    const byName = new Map([...now.keys()].map((of, i) => [of, found[i]!]))
    return all.map((of, i) => byName.get(of) ?? counts[i]!)
  }

  /** Those that have another name now, with it. */
  async #renamed(all: readonly TriedScript[]): Promise<ReadonlyMap<TriedScript, TriedScript>> {
    const entries = await this.#kv.getMany(all.map(nowKey))
    return new Map(
      all.flatMap((of, i) => (entries[i] ? [[of, { ...of, script: entries[i].value }] as const] : [])),
    )
  }

  async count(of: TriedScript): Promise<number> {
    return (await this.counts([of]))[0] ?? 0
  }

  /** The count, with how far the Sharpe ratios lie apart. */
  async counted(of: TriedScript): Promise<Counted> {
    const waiting = this.#waitingOf(of)
    const [count, kept, ...known] = await this.#kv.getMany([
      countKey(of),
      spreadKey(of),
      ...waiting.map(trialKey),
    ])
    if (!count && waiting.length === 0) {
      const now = (await this.#renamed([of])).get(of)
      if (now) return this.counted(now)
    }
    let spread = kept ? spreadIn(kept) : await this.#spreadOfAll(of, count ?? null)
    for (const [i, { sharpe }] of waiting.entries())
      if (isKnown(sharpe) && !hasSharpe(known[i] ?? null)) spread = withValue(spread, sharpe)
    const added = known.filter((entry) => !entry).length
    return { count: Number(count?.value ?? 0) + added, deviation: deviationOf(spread) }
  }

  /** All that a user has tried on a market, with any script and in any interval. */
  async countOn(
    userId: string,
    { exchange, symbol }: Pick<SeriesKey, 'exchange' | 'symbol'>,
  ): Promise<number> {
    await this.settled()
    const prefix: Key = ['trial-count', userId]
    const market = `${exchange}:${symbol} `
    let sum = 0
    for (let after: Key | undefined; ;) {
      const page = await this.#kv.list({ prefix }, { limit: TRIALS_TOGETHER, ...(after && { after }) })
      for (const { key, value } of page) if (String(key[3]).startsWith(market)) sum += Number(value)
      after = page.at(-1)?.key
      if (page.length < TRIALS_TOGETHER) return sum
    }
  }

  /** Counts a trial when there is time. */
  note(tried: Tried): void {
    if (this.#waitingCount >= WAITING_MAX) return
    const name = nameOf(tried)
    const trials = this.#waiting.get(name) ?? new Map<string, Tried>()
    if (!trials.has(tried.trial)) this.#waitingCount++
    this.#waiting.set(name, trials.set(tried.trial, tried))
    this.#writing ??= this.#writeWaiting()
  }

  /** Counts these trials, a few at a time: others are answered in between. */
  async add(all: readonly Tried[]): Promise<void> {
    const distinct = [...new Map(all.map((tried) => [`${nameOf(tried)} ${tried.trial}`, tried])).values()]
    for (const [of] of Map.groupBy(distinct, nameOf).values()) await this.rename(of!)
    for (let at = 0; at < distinct.length; at += BATCH) {
      const scripts = [...Map.groupBy(distinct.slice(at, at + BATCH), nameOf).values()]
      await transact(this.#kv, (tx) => scripts.map((trials) => this.#changes(tx, trials)))
    }
  }

  /** Joins what is counted under the script's former name. What is left after a sudden end is joined the next time. */
  async rename({ formerly = '', ...of }: RenamedScript): Promise<void> {
    const before = { ...of, script: formerly }
    if (formerly === '' || formerly === of.script) return
    while (await this.#kv.get(countKey(before)))
      await transact(this.#kv, async (tx) => {
        // Whoever counts trials under the former name meanwhile moves this.
        await tx.get(countKey(before))
        const entries = await tx.list({ prefix: trialsKey(before) }, { limit: RENAMED })
        const trials = entries.map(({ key, value }): Tried => {
          const sharpe = JSON.parse(value) as number | null
          return { ...of, trial: String(key.at(-1)), ...(sharpe !== null && { sharpe }) }
        })
        const isRest = entries.length < RENAMED
        return [
          this.#changes(tx, trials),
          {
            sets: isRest ? [{ key: nowKey(before), value: of.script }] : [],
            deletes: [
              ...entries.map(({ key }) => key),
              ...(isRest ? [countKey(before), spreadKey(before)] : []),
            ],
          },
        ]
      })
  }

  /** All that a user has tried, a page at a time. */
  async *all(userId: string): AsyncGenerator<Wire<typeof TriedTogether>> {
    await this.settled()
    const prefix: Key = ['trial', userId]
    for (let after: Key | undefined; ;) {
      const page = await this.#kv.list({ prefix }, { limit: TRIALS_TOGETHER, ...(after && { after }) })
      for (const entries of Map.groupBy(page, ({ key }) => JSON.stringify(key.slice(2, 4))).values()) {
        const [, , script, market] = entries[0]!.key
        const trials = entries.map(
          ({ key, value }) =>
            [String(key.at(-1)), JSON.parse(value) as number | null] satisfies [string, number | null],
        )
        yield { script: String(script), market: String(market), trials }
      }
      after = page.at(-1)?.key
      if (page.length < TRIALS_TOGETHER) return
    }
  }

  /** Counts what was tried elsewhere, once. Answers whether any of it is new. */
  async takeIn(userId: string, { script, market, trials }: Wire<typeof TriedTogether>): Promise<boolean> {
    const of = { userId, script, market }
    const before = await this.count(of)
    await this.add(trials.map(([trial, sharpe]) => ({ ...of, trial, ...(sharpe !== null && { sharpe }) })))
    return (await this.count(of)) > before
  }

  /** Resolves when everything noted is written. */
  async settled(): Promise<void> {
    while (this.#writing) await this.#writing
  }

  #waitingOf(of: TriedScript): Tried[] {
    return [...(this.#waiting.get(nameOf(of))?.values() ?? [])]
  }

  /** The changes that count these trials, which are distinct and of one script on one market. */
  async #changes(tx: Tx, trials: readonly Tried[]): Promise<Changes> {
    const [first] = trials
    if (!first) return {}
    // Whoever counts trials of this script writes its spread, so to check the spread alone is enough, if it is read first.
    const kept = await tx.get(spreadKey(first))
    const keys = trials.map(trialKey)
    const known = await this.#kv.getMany(keys)
    let spread = kept ? spreadIn(kept) : await this.#spreadOfAll(first, await this.#kv.get(countKey(first)))
    const sets: { key: Key; value: string }[] = []
    let added = 0
    for (const [i, { sharpe }] of trials.entries()) {
      const entry = known[i] ?? null
      const isBetter = isKnown(sharpe) && !hasSharpe(entry)
      if (!entry) added++
      if (isBetter) spread = withValue(spread, sharpe)
      if (!entry || isBetter) sets.push({ key: keys[i]!, value: JSON.stringify(sharpe ?? null) })
    }
    if (sets.length === 0) return {}
    sets.push({ key: spreadKey(first), value: JSON.stringify(spread) })
    return { sets, sums: added > 0 ? [{ key: countKey(first), step: added }] : [] }
  }

  /** For a ledger from before the spread was written. */
  async #spreadOfAll(of: TriedScript, count: Entry | null): Promise<Spread> {
    if (!count) return NO_SPREAD
    const entries = await this.#kv.list({ prefix: trialsKey(of) }, { limit: SHARPES_MAX })
    return entries.reduce((spread, { value }) => {
      const sharpe: unknown = JSON.parse(value)
      return typeof sharpe === 'number' ? withValue(spread, sharpe) : spread
    }, NO_SPREAD)
  }

  #firstWaiting(): Tried[] {
    const batch: Tried[] = []
    for (const trials of this.#waiting.values()) {
      batch.push(...[...trials.values()].slice(0, BATCH - batch.length))
      if (batch.length === BATCH) break
    }
    return batch
  }

  async #writeWaiting(): Promise<void> {
    // Waits one turn, so that trials that come together are written together.
    await Promise.resolve()
    for (let batch = this.#firstWaiting(); batch.length > 0; batch = this.#firstWaiting()) {
      try {
        await this.add(batch)
      } catch (error) {
        this.#log('warn', 'trials could not be counted', { error: String(error) })
      }
      for (const tried of batch) {
        const name = nameOf(tried)
        const trials = this.#waiting.get(name)
        // A trial that was noted again meanwhile may have more details now.
        if (trials?.get(tried.trial) !== tried) continue
        trials.delete(tried.trial)
        this.#waitingCount--
        if (trials.size === 0) this.#waiting.delete(name)
      }
    }
    this.#writing = null
  }
}

const nameOf = ({ userId, script, market }: TriedScript) => JSON.stringify([userId, script, market])
const isKnown = (sharpe: number | undefined): sharpe is number => Number.isFinite(sharpe)
const hasSharpe = (entry: Entry | null) => entry !== null && entry.value !== 'null'
const spreadIn = ({ value }: Entry) => JSON.parse(value) as Spread
