// The ledger of trials counts how many distinct choices of values a user has tried with a script on a market, by any means.
//
// The best of a thousand tries proves less than the best of three, and nobody keeps count: so backtests, previews and
// sweeps are all counted here. A choice counts once, even if it is tried again on newer bars. Trials by hand are written in
// batches after the answer; a crash may lose the last second of them, which hardly changes the count.

import type { Log } from '../lib/log.ts'
import type { Kv, Key } from '../store/kv.ts'
import { transact, type Changes, type Tx } from '../store/transaction.ts'

export interface Tried {
  readonly userId: string
  /** `scriptName` and `trialName` of `backtest/trial-name.ts`. */
  readonly script: string
  readonly trial: string
  /** Exchange, symbol and interval in one name. */
  readonly market: string
  /** The Sharpe ratio a bar, if it is known: luck is judged by how far the ratios of the trials lie apart. */
  readonly sharpe?: number
}

/** The most trials written at once. */
const BATCH = 500
const SHARPES_MAX = 10_000
/** The most trials that may wait; more are dropped, or a user who tries fast would fill the memory. */
const WAITING_MAX = 20_000

const countKey = ({ userId, script, market }: Omit<Tried, 'trial'>): Key => [
  'trial-count',
  userId,
  script,
  market,
]
const trialKey = ({ userId, script, market, trial }: Tried): Key => ['trial', userId, script, market, trial]

export class Ledger {
  readonly #kv: Kv
  readonly #log: Log
  readonly #waiting = new Map<string, Tried>()
  #writing: Promise<void> | null = null

  constructor({ kv, log }: { readonly kv: Kv; readonly log: Log }) {
    this.#kv = kv
    this.#log = log
  }

  async count(of: Omit<Tried, 'trial'>): Promise<number> {
    const entry = await this.#kv.get(countKey(of))
    return Number(entry?.value ?? 0)
  }

  /** The known Sharpe ratios a bar of these trials; of very many, only the first. */
  async sharpes({ userId, script, market }: Omit<Tried, 'trial'>): Promise<number[]> {
    const entries = await this.#kv.list({ prefix: ['trial', userId, script, market] }, { limit: SHARPES_MAX })
    return entries.flatMap(({ value }) => {
      const sharpe: unknown = JSON.parse(value)
      return typeof sharpe === 'number' ? [sharpe] : []
    })
  }

  /** Counts a trial when there is time. */
  note(tried: Tried): void {
    if (this.#waiting.size >= WAITING_MAX) return
    this.#waiting.set(JSON.stringify(trialKey(tried)), tried)
    this.#writing ??= this.#write()
  }

  /** Resolves when everything noted is written. */
  async settled(): Promise<void> {
    while (this.#writing) await this.#writing
  }

  /** The changes that count these trials, which are of one script on one market. It is part of a plan. */
  async changes(tx: Tx, all: readonly Tried[]): Promise<Changes> {
    const [first] = all
    if (!first) return {}
    const names = new Map(all.map((tried) => [tried.trial, tried]))
    const keys = [...names.values()].map(trialKey)
    const known = await tx.getMany(keys)
    const added = keys.filter((_, i) => !known[i])
    const values = [...names.values()].map(({ sharpe }) => JSON.stringify(sharpe ?? null))
    // A trial that was once tried by hand may have more details now.
    const sets = keys.flatMap((key, i) => {
      const value = values[i] ?? 'null'
      return !known[i] || (known[i].value === 'null' && value !== 'null') ? [{ key, value }] : []
    })
    return { sets, sums: added.length > 0 ? [{ key: countKey(first), step: added.length }] : [] }
  }

  async #write(): Promise<void> {
    // Waits one turn, so that trials that come together are written together.
    await Promise.resolve()
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, BATCH)
      for (const [key] of batch) this.#waiting.delete(key)
      const groups = Map.groupBy(batch, ([, tried]) => JSON.stringify(countKey(tried)))
      try {
        await transact(this.#kv, (tx) =>
          [...groups.values()].map((group) =>
            this.changes(
              tx,
              group.map(([, tried]) => tried),
            ),
          ),
        )
      } catch (error) {
        this.#log('warn', 'trials could not be counted', { error: String(error) })
      }
    }
    this.#writing = null
  }
}
