// Libraries that scripts import and that are missing here: the ones an owner would add first.
//
// They are counted when a script is run or saved, not while it is typed. There is one entry for each user and library, so
// that one busy user is one voice, and each counts at most once an hour. Libraries that have been added since are left out
// and removed when the list is read.

import type { Log } from '../../lib/log.ts'
import { collectionIn } from '../../store/collection.ts'
import type { RecordDeps } from '../../store/owned.ts'
import { transact } from '../../store/transaction.ts'
import { libraryFor, type Library } from './scripts.ts'

interface Wish {
  readonly id: string
  readonly userId: string
  /** As the script writes it. */
  readonly path: string
  readonly asked: number
  readonly lastAt: number
}

export interface WantedLibrary {
  readonly path: string
  /** How many users asked for it. */
  readonly users: number
  /** How many times they did, counted at most once an hour each. */
  readonly asked: number
  readonly lastAt: number
}

const HOUR_MS = 3_600_000
/** The most entries in all, and of one user. The oldest make room. */
const WISHES_MAX = 2000
const WISHES_EACH = 100
/** For the last hour, in memory. */
const RECENT_MAX = 5000
const PATH_CHARACTERS = 200

const wishesIn = collectionIn<Wish>('wanted-libraries', {
  indexes: {
    age: ({ lastAt }) => [lastAt],
    user: ({ userId, lastAt }) => [userId, lastAt],
  },
  unique: { wish: ({ userId, path }) => [userId, path.toLowerCase()] },
  counts: { all: { of: () => [] }, user: { of: ({ userId }) => [userId] } },
})

/** Every server has these. They are looked up where a script lacks a library, so that no start loads their table. */
async function isBundled(...named: readonly [string, string, number]): Promise<boolean> {
  const { bundledLibrary } = await import('../../language/libraries/bundled.ts')
  return bundledLibrary(...named) !== null
}

export class WantedLibraries {
  readonly #deps: RecordDeps & { readonly log: Log }
  readonly #recent = new Map<string, number>()

  constructor(deps: RecordDeps & { readonly log: Log }) {
    this.#deps = deps
  }

  /** `libraryFor` that counts the libraries it does not find. */
  counting(userId: string): Library {
    const find = libraryFor(this.#deps.kv, userId)
    return async (user, library, version) => {
      const found = await find(user, library, version)
      if (found === null && !(await isBundled(user, library, version)))
        this.note(userId, `${user}/${library}/${version}`)
      return found
    }
  }

  /** Does not make anybody wait, and its failure hinders nobody. */
  note(userId: string, path: string): void {
    const now = this.#deps.clock.now()
    const name = `${userId} ${path.toLowerCase()}`
    if (path.length > PATH_CHARACTERS || now - (this.#recent.get(name) ?? -Infinity) < HOUR_MS) return
    if (this.#recent.size >= RECENT_MAX) this.#recent.clear()
    this.#recent.set(name, now)
    this.#write(userId, path, now).catch((error: unknown) =>
      this.#deps.log('warn', 'a library that is wanted could not be counted', { path, error: String(error) }),
    )
  }

  async #write(userId: string, path: string, now: number): Promise<void> {
    const wishes = wishesIn(this.#deps.kv)
    await transact(this.#deps.kv, async (tx) => {
      const known = await wishes.at(tx).findStored('wish', [userId, path.toLowerCase()])
      const wish = { id: known?.record.id ?? this.#deps.newId('wish'), userId, path, lastAt: now }
      return known
        ? [wishes.replace(known, { ...wish, asked: known.record.asked + 1 })]
        : [wishes.insert({ ...wish, asked: 1 })]
    })
    if ((await wishes.count('user', [userId])) > WISHES_EACH) await this.#forgetOldest('user', [userId])
    if ((await wishes.count('all', [])) > WISHES_MAX) await this.#forgetOldest('age', [])
  }

  async #forgetOldest(index: 'age' | 'user', parts: readonly string[]): Promise<void> {
    const wishes = wishesIn(this.#deps.kv)
    for await (const { id } of wishes.each(index, parts)) {
      await wishes.delete(id)
      return
    }
  }

  /** Most wanted first. */
  async list(): Promise<readonly WantedLibrary[]> {
    const wishes = wishesIn(this.#deps.kv)
    const found = new Map<string, WantedLibrary>()
    for (const { id, userId, path, asked, lastAt } of await Array.fromAsync(wishes.each('age'))) {
      const [user = '', library = '', version = ''] = path.split('/')
      const named = [user, library, Number(version)] as const
      if ((await isBundled(...named)) || (await libraryFor(this.#deps.kv, userId)(...named)) !== null) {
        await wishes.delete(id)
        continue
      }
      const known = found.get(path.toLowerCase())
      found.set(path.toLowerCase(), {
        path: known?.path ?? path,
        users: (known?.users ?? 0) + 1,
        asked: (known?.asked ?? 0) + asked,
        lastAt: Math.max(known?.lastAt ?? 0, lastAt),
      })
    }
    return [...found.values()].sort((a, b) => b.users - a.users || b.asked - a.asked || b.lastAt - a.lastAt)
  }
}
