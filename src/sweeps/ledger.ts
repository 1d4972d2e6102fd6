// The ledger of trials: how many distinct choices of values a user has tried with a script on a market, however they did.
//
// The best of a thousand tries proves less than the best of three, and nobody counts by hand: backtests, previews and sweeps
// are all counted here. A choice counts once, also when it is tried again on newer bars. What is tried by hand is written in
// batches behind the answer; a crash may lose the last second of it, which makes a result look no better than by one try.

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
  /** A bar, where it is known: how far the trials' ratios lie apart is what luck is judged by. */
  readonly sharpe?: number
}

/** Written at once at most. */
const BATCH = 500
const SHARPES_MAX = 10_000
/** Waiting for their turn; what comes beyond is lost, or somebody who tries fast fills the memory. */
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

  /** Sharpe ratios a bar of the trials of which they are known; of very many, the first. */
  async sharpes({ userId, script, market }: Omit<Tried, 'trial'>): Promise<number[]> {
    const entries = await this.#kv.list({ prefix: ['trial', userId, script, market] }, { limit: SHARPES_MAX })
    return entries.flatMap(({ value }) => {
      const sharpe: unknown = JSON.parse(value)
      return typeof sharpe === 'number' ? [sharpe] : []
    })
  }

  /** Counts it when there is time. */
  note(tried: Tried): void {
    if (this.#waiting.size >= WAITING_MAX) return
    this.#waiting.set(JSON.stringify(trialKey(tried)), tried)
    this.#writing ??= this.#write()
  }

  /** Resolves when all that was noted is written. */
  async settled(): Promise<void> {
    while (this.#writing) await this.#writing
  }

  /** Part of a plan: what counts these, which are of one script on one market. */
  async changes(tx: Tx, all: readonly Tried[]): Promise<Changes> {
    const [first] = all
    if (!first) return {}
    const names = new Map(all.map((tried) => [tried.trial, tried]))
    const keys = [...names.values()].map(trialKey)
    const known = await tx.getMany(keys)
    const added = keys.filter((_, i) => !known[i])
    const values = [...names.values()].map(({ sharpe }) => JSON.stringify(sharpe ?? null))
    // One that was tried by hand before may be known better now.
    const sets = keys.flatMap((key, i) => {
      const value = values[i] ?? 'null'
      return !known[i] || (known[i].value === 'null' && value !== 'null') ? [{ key, value }] : []
    })
    return { sets, sums: added.length > 0 ? [{ key: countKey(first), step: added.length }] : [] }
  }

  async #write(): Promise<void> {
    // One turn later, so that what comes together is written together.
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
