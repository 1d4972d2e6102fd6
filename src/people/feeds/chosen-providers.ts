// Which providers somebody has chosen, by following or fetching one of their series. A choice is never forgotten: whoever
// wants silence stops what they follow, or switches feeds off.

import type { SeriesKey } from '../../market/bar-store.ts'
import { providerOf as freeProviderOf, type ProviderOf } from '../../market/providers/fetch-bars.ts'
import type { Key } from '../../store/kv.ts'
import type { StoreDeps } from '../../store/owned.ts'

const CHOSEN: Key = ['providers', 'chosen']
/** That choices are kept at all: until 0.2, whatever was wanted was asked for. */
const SINCE: Key = ['providers', 'since']
const PROVIDERS_MAX = 1000

interface ChosenDeps extends StoreDeps {
  /** Without it: those that need no key. */
  readonly providerOf?: ProviderOf
}

export class ChosenProviders {
  readonly #deps: ChosenDeps

  constructor(deps: ChosenDeps) {
    this.#deps = deps
  }

  async choose(name: string): Promise<void> {
    const key = [...CHOSEN, name]
    if ((await this.#deps.kv.get(key)) !== null) return
    await this.#deps.kv.commit({ sets: [{ key, value: String(this.#deps.clock.now()) }] })
  }

  /**
   * Names of the chosen. The first time, `wanted` is what was kept fresh until now without a choice, and goes on to be: nobody's
   * alerts may stop because of a new version.
   */
  async names(wanted: readonly SeriesKey[]): Promise<ReadonlySet<string>> {
    if ((await this.#deps.kv.get(SINCE)) === null) await this.#begin(wanted)
    return this.soFar()
  }

  /** Names of those that were chosen so far. */
  async soFar(): Promise<ReadonlySet<string>> {
    const entries = await this.#deps.kv.list({ prefix: CHOSEN }, { limit: PROVIDERS_MAX })
    return new Set(entries.map(({ key }) => String(key.at(-1))))
  }

  async #begin(wanted: readonly SeriesKey[]): Promise<void> {
    const { providerOf = freeProviderOf } = this.#deps
    const names = new Set(wanted.flatMap(({ exchange }) => providerOf(exchange)?.name ?? []))
    const value = String(this.#deps.clock.now())
    await this.#deps.kv.commit({
      checks: [{ key: SINCE, version: null }],
      sets: [...[...names].map((name) => ({ key: [...CHOSEN, name], value })), { key: SINCE, value }],
    })
  }
}
