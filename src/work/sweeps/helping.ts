// Batches of other servers' sweeps, and parts of their verdicts, that are done here: see `offers.ts`.

import type { JobPool } from '../workers/pool.ts'
import type { Log } from '../../lib/log.ts'
import type { Kv } from '../../store/kv.ts'
import { isUnderWay } from '../../wire/job-state.ts'
import { luckIn } from './judging.ts'
import { HELPED_MAX, offersIn, outcomeOf, outcomeOfLuck, type Offer, type SweepNodes } from './offers.ts'
import { sweeps, type Sweep } from './records.ts'
import { allOf } from './rows.ts'
import type { Material, SweepTrials } from './trying.ts'

const OFFERS_PAGE = 20
/** Of so many sweeps of others bars and script are kept. */
const MATERIALS_MAX = 4

export interface HelpDeps {
  readonly kv: Kv
  readonly log: Log
  readonly pool: JobPool
  readonly nodes?: SweepNodes | null
  readonly trials: SweepTrials
  readonly materialOf: (sweep: Sweep) => Promise<Material>
}

export class SweepHelp {
  readonly #deps: HelpDeps
  readonly #helping = new Map<string, AbortController>()
  #count = 0
  /** Whether one of them could not be given back. */
  #owes = false
  /** What the batches of the sweeps that were helped with last have in common, by sweep. */
  readonly #materials = new Map<string, Promise<Material>>()

  constructor(deps: HelpDeps) {
    this.#deps = deps
  }

  stop(): void {
    for (const helping of this.#helping.values()) helping.abort()
  }

  /** How many batches were done for other servers. */
  get count(): number {
    return this.#count
  }

  /** Another server has taken a batch back, or its sweep has ended. */
  async heard(id: string): Promise<void> {
    const helping = this.#helping.get(id)
    if (helping && (await offersIn(this.#deps.kv).get(id)) === null) helping.abort()
  }

  /**
   * Takes batches that other servers offer while this one has a free worker; `done` is called after each of them. Answers
   * whether it could not do so now: what is offered later is heard of.
   */
  async help(done: () => void): Promise<boolean> {
    const { kv, nodes, pool } = this.#deps
    if (!nodes) return false
    const offers = offersIn(kv)
    if (this.#owes) await this.#giveBack(nodes.node)
    const isFree = () =>
      this.#helping.size === 0 ? pool.hasFreeWorker : this.#helping.size < HELPED_MAX && pool.waiting === 0
    if (!isFree()) return true
    const { items } = await offers.list('open', [], { limit: OFFERS_PAGE, reverse: false })
    if (items.length === 0 && this.#helping.size === 0) this.#materials.clear()
    for (const { id, lender, refusedBy } of items) {
      if (lender === nodes.node || refusedBy.includes(nodes.node)) continue
      if (!isFree()) return true
      const taken = await offers.update(id, (offer) =>
        offer.node === null && offer.outcome === null ? { ...offer, node: nodes.node } : null,
      )
      if (!taken) continue
      const stop = new AbortController()
      this.#helping.set(id, stop)
      void this.#help(taken, nodes.node, stop.signal).finally(() => {
        this.#helping.delete(id)
        done()
      })
    }
    return this.#owes
  }

  async #help(offer: Offer, node: string, signal: AbortSignal): Promise<void> {
    const offers = offersIn(this.#deps.kv)
    const change = (more: Partial<Offer>) =>
      offers.update(offer.id, (before) =>
        before.node === node && before.outcome === null ? { ...before, ...more } : null,
      )
    try {
      const sweep = await sweeps(this.#deps.kv).get(offer.sweepId)
      if (!sweep || !isUnderWay(sweep)) {
        // The server that offered it was killed before it could take it back.
        await offers.delete(offer.id)
        return
      }
      const material = await this.#materialToHelp(sweep)
      if (await change({ outcome: await this.#outcomeOf(sweep, offer, material, signal) })) this.#count++
    } catch (error) {
      if (signal.aborted) return
      this.#deps.log('warn', 'a batch of another server could not be done', { error: String(error) })
      try {
        await change({ node: null, refusedBy: [...offer.refusedBy, node] })
      } catch {
        this.#owes = true
      }
    }
  }

  async #outcomeOf(sweep: Sweep, { choices, part }: Offer, material: Material, signal: AbortSignal) {
    if (!part) return outcomeOf(choices, await this.#deps.trials.try(sweep, material, choices, signal))
    // All trials are stored before the first part is offered.
    material.rows ??= allOf(this.#deps.kv, sweep)
    return outcomeOfLuck(await luckIn(this.#deps, sweep, material, await material.rows, part, signal))
  }

  /** Batches that this server has taken and does not do. */
  async #giveBack(node: string): Promise<void> {
    const offers = offersIn(this.#deps.kv)
    const { items } = await offers.list('taken', [node], { limit: OFFERS_PAGE })
    for (const { id } of items)
      if (!this.#helping.has(id))
        await offers.update(id, (offer) =>
          offer.node === node && offer.outcome === null ? { ...offer, node: null } : null,
        )
    this.#owes = items.length === OFFERS_PAGE
  }

  #materialToHelp(sweep: Sweep): Promise<Material> {
    const material = this.#materials.get(sweep.id) ?? this.#deps.materialOf(sweep)
    // The one used last is forgotten last.
    this.#materials.delete(sweep.id)
    this.#materials.set(sweep.id, material)
    material.catch(() => this.#materials.delete(sweep.id))
    const [oldest] = this.#materials.keys()
    if (this.#materials.size > MATERIALS_MAX && oldest !== undefined) this.#materials.delete(oldest)
    return material
  }
}
