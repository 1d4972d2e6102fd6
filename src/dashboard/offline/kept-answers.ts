// Answers of the server that are kept in this browser, for when the server cannot be reached: who is signed in, and what
// the charts that were open last need. Each user's are in a database of their own, which signing out deletes.

import type { OperationName } from '../../wire/operations.ts'

const NAME = 'chartroom-kept-'
const STORE = 'answers'
/** How many series, sheets of drawings and the like are kept; what was asked for longest ago goes first. */
const KEPT_MAX = 60

interface Kept {
  readonly key: string
  readonly at: number
  readonly answer: unknown
}

const KEPT: ReadonlySet<OperationName> = new Set<OperationName>([
  'GET /api/auth/visitor',
  'GET /api/platform/symbols',
  'GET /api/platform/bars',
  'GET /api/platform/drawings',
  'GET /api/platform/layouts',
  'GET /api/platform/layouts/{id}',
  'GET /api/platform/watchlists',
])

/** The name under which an answer is kept; null = it is not kept. Of bars only the newest are. */
export function keyOf(operation: OperationName, args: object): string | null {
  const { path = {}, query = {} } = args as { path?: object; query?: Record<string, unknown> }
  if (!KEPT.has(operation) || 'start' in query || 'end' in query || query['cursor']) return null
  return JSON.stringify([operation, path, query])
}

/** The kept answers of one user. Nothing is kept where the browser forbids it. */
export class KeptAnswers {
  readonly #user: string
  #open: Promise<IDBDatabase> | null = null
  #gone = false

  constructor(user: string) {
    this.#user = user
  }

  async put(key: string, answer: unknown): Promise<void> {
    if (this.#gone) return
    const kept: Kept = { key, at: Date.now(), answer }
    await this.#within('readwrite', (store) => store.put(kept))
    await this.#trim()
  }

  async get(key: string): Promise<Kept | null> {
    if (this.#gone) return null
    return (await this.#within<Kept | undefined>('readonly', (store) => store.get(key))) ?? null
  }

  async count(): Promise<number> {
    return this.#within('readonly', (store) => store.count())
  }

  async #trim(): Promise<void> {
    const surplus = (await this.count()) - KEPT_MAX
    if (surplus <= 0) return
    const keys = await this.#within('readonly', (store) => store.index('at').getAllKeys(null, surplus))
    await this.#within('readwrite', (store) => store.delete(IDBKeyRange.bound(keys[0], keys[0])))
  }

  async #within<T>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    const database = await (this.#open ??= this.#opened())
    const transaction = database.transaction(STORE, mode)
    const asked = ask(transaction.objectStore(STORE))
    return new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(asked.result)
      transaction.onerror = () => reject(transaction.error)
      transaction.onabort = () => reject(transaction.error)
    })
  }

  async #opened(): Promise<IDBDatabase> {
    const asked = indexedDB.open(NAME + this.#user, 1)
    asked.onupgradeneeded = () =>
      asked.result.createObjectStore(STORE, { keyPath: 'key' }).createIndex('at', 'at')
    const database = await settled(asked)
    // The user signs out in another tab: nothing that arrives here from now on is kept.
    database.onversionchange = () => {
      this.#gone = true
      database.close()
    }
    return database
  }
}

const settled = <T>(asked: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result)
    asked.onerror = () => reject(asked.error)
  })

/** Deletes what is kept of everybody in this browser. */
export async function forgetAll(): Promise<void> {
  const names = (await indexedDB.databases()).flatMap(({ name }) => name ?? [])
  await Promise.all(
    names.filter((name) => name.startsWith(NAME)).map((name) => settled(indexedDB.deleteDatabase(name))),
  )
}
