// Providers' lists of symbols, kept and searched.
//
// A list is fetched when somebody searches for the first time after its provider was chosen, and again by a search a day later:
// nobody is asked who was not chosen, nor while nobody searches. The old list is searched until the new one is whole. Of several
// servers on one database one fetches, and the others read what it has stored.

import type { Log } from '../../lib/log.ts'
import { Problem } from '../../lib/problem.ts'
import {
  type PackedList,
  listText,
  packList,
  searchLists,
  type SymbolQuery,
} from '../../market/listings/directory.ts'
import { fetchList } from '../../market/listings/fetch-list.ts'
import type { Listing, SymbolList } from '../../market/listings/listing.ts'
import type { Http } from '../../market/providers/provider.ts'
import { ProviderError } from '../../market/providers/provider-error.ts'
import type { Key, Reader } from '../../store/kv.ts'
import { dropText, largeText, stageText, textKeys } from '../../store/large-text.ts'
import { decide, transact } from '../../store/transaction.ts'
import { ChosenProviders } from './chosen-providers.ts'
import type { StoreDeps } from '../../store/owned.ts'

export interface SymbolListsDeps extends StoreDeps {
  readonly log: Log
  /** null = `FEEDS=off`: no request leaves. */
  readonly http: Http | null
  readonly lists: () => readonly SymbolList[]
}

export interface SymbolListStatus {
  readonly provider: string
  readonly exchanges: readonly string[]
  readonly state: 'unchosen' | 'waiting' | 'fetching' | 'ready' | 'failed' | 'off'
  /** Symbols so far while they are fetched. */
  readonly count: number
  readonly fetchedAt: number | null
  readonly lastError: string | null
  readonly nextAt: number | null
}

/** What is stored of a list; its text stands under its own key. */
interface StoredList {
  readonly fetchedAt: number | null
  readonly count: number
  readonly failures: number
  readonly lastError: string | null
  readonly retryAt: number
  /** A server is fetching it, and is thought dead when this is over. */
  readonly busyUntil: number
}

const FRESH_MS = 24 * 3_600_000
/** Twelve Data gives a free key eight requests a minute, so its lists take a while. */
const BUSY_MS = 10 * 60_000
const RETRY_MS = 60_000
const RETRY_MOST_MS = 3_600_000
const NEW: StoredList = {
  fetchedAt: null,
  count: 0,
  failures: 0,
  lastError: null,
  retryAt: 0,
  busyUntil: 0,
}

const stateKey = (provider: string): Key => ['symbol-lists', provider]
const textKey = (provider: string, fetchedAt: number): Key => ['symbol-list-text', provider, fetchedAt]

const isDue = (state: StoredList, now: number): boolean =>
  (state.fetchedAt === null || Math.abs(now - state.fetchedAt) >= FRESH_MS) &&
  // A clock that was set back must not put it off for long.
  (now >= state.retryAt || state.retryAt - now > RETRY_MOST_MS) &&
  (now >= state.busyUntil || state.busyUntil - now > BUSY_MS)

async function stored(reader: Reader, provider: string): Promise<StoredList> {
  const entry = await reader.get(stateKey(provider))
  return entry ? (JSON.parse(entry.value) as StoredList) : NEW
}

const put = (provider: string, state: StoredList) => ({
  sets: [{ key: stateKey(provider), value: JSON.stringify(state) }],
})

export class SymbolLists {
  readonly #deps: SymbolListsDeps
  readonly #chosen: ChosenProviders
  readonly #packed = new Map<
    string,
    { readonly fetchedAt: number; readonly list: Promise<PackedList | null> }
  >()
  /** How far this server has got with those that it fetches. */
  readonly #fetching = new Map<string, { count: number; readonly done: Promise<void> }>()
  readonly #stop = new AbortController()

  constructor(deps: SymbolListsDeps) {
    this.#deps = deps
    this.#chosen = new ChosenProviders(deps)
  }

  async status(): Promise<SymbolListStatus[]> {
    const names = await this.#chosen.soFar()
    return Promise.all(this.#deps.lists().map((list) => this.#statusOf(list, names)))
  }

  /** The best of the lists of chosen providers. Lists that are due are fetched meanwhile. */
  async search(query: SymbolQuery): Promise<{
    readonly symbols: readonly Listing[]
    readonly lists: readonly SymbolListStatus[]
  }> {
    const lists = await this.status()
    const usable = lists.filter(({ state }) => state === 'ready')
    const found = await Promise.all(usable.map((list) => this.#ready(list)))
    return {
      symbols: searchLists(
        found.filter((list) => list !== null),
        query,
      ),
      lists,
    }
  }

  /** Somebody wants the list of this provider, who is asked from now on. Throws Problem 404 for one without a list. */
  async choose(provider: string): Promise<SymbolListStatus> {
    const lists = this.#deps.lists()
    const list = lists.find((one) => one.provider.toLowerCase() === provider.toLowerCase())
    if (!list) {
      const names = lists.map((one) => one.provider)
      throw new Problem(404, 'provider_not_found', `There are lists of ${names.join(', ')}.`)
    }
    await this.#chosen.choose(list.provider)
    return this.#statusOf(list, await this.#chosen.soFar())
  }

  /** Resolves when nothing is fetched. */
  async settled(): Promise<void> {
    await Promise.all([...this.#fetching.values()].map(({ done }) => done))
  }

  /** What is fetched is broken off when the server stops. */
  async run(signal: AbortSignal): Promise<void> {
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    this.#stop.abort()
    await this.settled()
  }

  #begin(list: SymbolList): void {
    const { provider } = list
    if (this.#fetching.has(provider) || this.#stop.signal.aborted) return
    const one = { count: 0, done: Promise.resolve() }
    const done = this.#fetchAndStore(list, (count) => (one.count = count))
      .catch((error: unknown) =>
        this.#deps.log('error', `the symbols of ${provider} could not be fetched`, { error: String(error) }),
      )
      .finally(() => this.#fetching.delete(provider))
    this.#fetching.set(provider, Object.assign(one, { done }))
  }

  async #fetchAndStore(list: SymbolList, told: (count: number) => void): Promise<void> {
    const { http, clock } = this.#deps
    const { provider } = list
    if (!http || !(await this.#claim(provider))) return
    try {
      await this.#keep(provider, await fetchList(list, { http, clock }, this.#stop.signal, told))
    } catch (error) {
      await this.#failed(provider, error)
    }
  }

  /** Whether this server is the one to fetch the list now. */
  #claim(provider: string): Promise<boolean> {
    const { kv, clock } = this.#deps
    return decide(kv, async (tx) => {
      const state = await stored(tx, provider)
      const isOurs = isDue(state, clock.now())
      return [isOurs, isOurs ? put(provider, { ...state, busyUntil: clock.now() + BUSY_MS }) : {}]
    })
  }

  async #keep(provider: string, all: readonly Listing[]): Promise<void> {
    const { kv, clock } = this.#deps
    const fetchedAt = clock.now()
    const text = Buffer.from(await listText(all, () => clock.sleep(0)))
    const key = textKey(provider, fetchedAt)
    const staged = await stageText(kv, key, [text])
    const before = await stored(kv, provider)
    const old = before.fetchedAt === null ? [] : await textKeys(kv, textKey(provider, before.fetchedAt))
    await transact(kv, () => [
      staged,
      put(provider, { ...NEW, fetchedAt, count: all.length }),
      { deletes: old.filter(([, , at]) => at !== fetchedAt) },
    ]).catch(async (error: unknown) => {
      await dropText(kv, key)
      throw error
    })
  }

  async #failed(provider: string, error: unknown): Promise<void> {
    const { kv, clock, log } = this.#deps
    const state = await stored(kv, provider)
    // The server stops: the next one begins again at once.
    if (this.#stop.signal.aborted) return transact(kv, () => put(provider, { ...state, busyUntil: 0 }))
    const lastError = error instanceof Error ? error.message : String(error)
    if (!(error instanceof ProviderError))
      log('error', `the symbols of ${provider} could not be kept`, { error: lastError })
    const asked = error instanceof ProviderError ? (error.retryAfterMs ?? 0) : 0
    const wait = Math.min(RETRY_MOST_MS, Math.max(asked, RETRY_MS * 2 ** Math.min(6, state.failures)))
    const retryAt = clock.now() + wait
    const failures = state.failures + 1
    await transact(kv, () => put(provider, { ...state, failures, lastError, retryAt, busyUntil: 0 }))
  }

  async #statusOf(list: SymbolList, names: ReadonlySet<string>): Promise<SymbolListStatus> {
    const { kv, clock, http } = this.#deps
    const state = await stored(kv, list.provider)
    const { fetchedAt, lastError, retryAt } = state
    const now = clock.now()
    const isChosen = names.has(list.provider)
    if (isChosen && http && isDue(state, now)) this.#begin(list)
    const here = this.#fetching.get(list.provider)
    const isBusy = here !== undefined || (state.busyUntil > now && state.busyUntil - now <= BUSY_MS)
    const known = fetchedAt !== null
    const unknown = !http ? 'off' : isBusy ? 'fetching' : lastError === null ? 'waiting' : 'failed'
    return {
      provider: list.provider,
      exchanges: list.exchanges,
      count: known ? state.count : (here?.count ?? 0),
      fetchedAt,
      lastError,
      nextAt: lastError === null ? null : retryAt,
      state: !isChosen ? 'unchosen' : known ? 'ready' : unknown,
    }
  }

  /** The list as it is stored, read once. */
  async #ready({ provider, fetchedAt }: SymbolListStatus): Promise<PackedList | null> {
    if (fetchedAt === null) return null
    const packed = this.#packed
    const known = packed.get(provider)
    if (known?.fetchedAt === fetchedAt) return known.list
    const list = this.#read(provider, fetchedAt)
    packed.set(provider, { fetchedAt, list })
    const forget = () => {
      if (packed.get(provider)?.list === list) packed.delete(provider)
    }
    // Another server has put a new one in its place meanwhile, or it could not be read: the next search tries again.
    list.then((found) => found ?? forget(), forget)
    return list
  }

  async #read(provider: string, fetchedAt: number): Promise<PackedList | null> {
    const { kv, clock } = this.#deps
    const text = await largeText(kv, textKey(provider, fetchedAt))
    return text && packList((await Array.fromAsync(text.parts)).join(''), () => clock.sleep(0))
  }
}
