// Scripts: Pine source with a name, its versions, and who may see it. A broken one may be saved: it is a draft.

import { dayRefusal } from '../../language/behaviour.ts'
import { invalidField, Problem } from '../../lib/problem.ts'
import { collection, collectionIn, type Page, type PageOptions } from '../../store/collection.ts'
import { OwnedRecords, type RecordDeps } from '../../store/owned.ts'
import { decide, NameTaken, transact, type Also, type Changes } from '../../store/transaction.ts'
import type { Key, Kv, Reader } from '../../store/kv.ts'

type ScriptVisibility = 'public' | 'private'

export const SCRIPTS_PER_USER = 2000
/** How many older texts of a script are kept. */
const VERSIONS_KEPT = 50

export interface Script {
  readonly id: string
  readonly ownerId: string
  readonly author: string
  readonly name: string
  readonly source: string
  readonly visibility: ScriptVisibility
  /** Found by compiling; `draft` if it does not compile. */
  readonly kind: 'strategy' | 'indicator' | 'library' | 'draft'
  readonly pineVersion: number | null
  /** Number of the saved text, from 1. */
  readonly revision: number
  /** Values that its runs give its inputs; absent in what an older version has stored, as the next. */
  readonly inputs?: ScriptSettings | undefined
  /** Arguments that its runs replace in the declaration. */
  readonly overrides?: ScriptSettings | undefined
  /** The day of whose TradingView its runs are; missing = the newest. */
  readonly asOf?: string
  readonly createdAt: number
  readonly updatedAt: number
}

export type ScriptSettings = Readonly<Record<string, number | string | boolean>>

export interface ScriptRevision {
  readonly id: string
  readonly scriptId: string
  readonly revision: number
  readonly source: string
  readonly savedAt: number
}

export interface ScriptFields {
  readonly name: string
  readonly source: string
  readonly visibility?: ScriptVisibility | undefined
  readonly inputs?: ScriptSettings | undefined
  readonly overrides?: ScriptSettings | undefined
  /** null: the newest. */
  readonly asOf?: string | null | undefined
}

/** Those that another text of the script still names: a run with any other would be refused. */
function inputsIn(source: string, inputs: ScriptSettings = {}): ScriptSettings {
  return Object.fromEntries(Object.entries(inputs).filter(([name]) => source.includes(name)))
}

/** Throws Problem 422 for a day as of which nothing runs. */
function dayOf({ asOf = null }: Partial<ScriptFields>, now: number): Pick<Script, 'asOf'> {
  const refusal = asOf === null ? null : dayRefusal(asOf, now)
  if (refusal !== null) throw invalidField('/asOf', 'day', `asOf: ${refusal}`)
  return asOf === null ? {} : { asOf }
}

/** Why a text is refused as a library. */
const NO_LIBRARY = {
  strategy: 'This is a strategy, no library. A library begins with library("Name").',
  indicator: 'This is an indicator, no library. A library begins with library("Name").',
  draft: 'This library does not compile.',
} as const

/** The results of compiling a text. */
interface Examined {
  /** `draft` if it does not compile. */
  readonly kind: Script['kind']
  readonly pineVersion: number | null
  /** JSON text of an array. */
  readonly diagnostics: string
}

export interface ScriptDeps extends RecordDeps {
  /** Compiles in a worker: a user's text must not hold up the server's own thread. */
  readonly examine: (source: string, readerId: string) => Promise<Examined>
}

/** Source of a stored library for `import`, as `compile` asks for it. */
export type Library = (user: string, library: string, version: number) => Promise<string | null>

export interface ScriptMade {
  readonly script: Script
  /** JSON text of an array. */
  readonly diagnostics: string
}

/** A script of anybody's, for commands beside the server. */
export const storedScript = (kv: Kv, id: string): Promise<Script | null> => scriptsIn(kv).get(id)

const scriptsIn = collectionIn<Script>('scripts', {
  indexes: {
    owner: (script) => [script.ownerId],
    public: (script) => (script.visibility === 'public' ? [] : null),
    library: (script) => (script.kind === 'library' ? [script.name.toLowerCase()] : null),
  },
  stamped: ['owner', 'public'],
  counts: { owner: { of: (script) => [script.ownerId], max: SCRIPTS_PER_USER, noun: 'scripts' } },
})

/**
 * Libraries the reader may import: public ones and their own. The newest of a name wins. Another author's library that a
 * user pasted is stored under its whole path (`TradingView/ta/7`). Of those only the reader's own count, since its author
 * does not control who stores a text under that name here.
 */
export function libraryFor(kv: Kv, readerId: string | null): Library {
  return async (user, library, version) => {
    const path = `${user}/${library}/${version}`.toLowerCase()
    for await (const script of scriptsIn(kv).each('library', [path]))
      if (script.ownerId === readerId) return script.source
    let newest: string | null = null
    for await (const script of scriptsIn(kv).each('library', [library.toLowerCase()])) {
      const named = script.author.toLowerCase() === user.toLowerCase() || script.ownerId === user
      if (named && (script.visibility === 'public' || script.ownerId === readerId)) newest = script.source
    }
    return newest
  }
}

const ADDED: Key = ['scripts', 'added']
const ADDED_AT_ONCE = 100
/** More than a script ever has: those beyond the ones that are kept go with the next version. */
const REVISIONS_MAX = 1000

export class Scripts extends OwnedRecords<Script, ScriptDeps> {
  readonly #revisions = collection<ScriptRevision>(this.deps.kv, 'revisions', {
    indexes: { script: (revision) => [revision.scriptId] },
  })

  constructor(deps: ScriptDeps) {
    super(deps, scriptsIn(deps.kv), 'script_not_found', 'There is no such script.')
  }

  #insertRevision({ id: scriptId, revision, source, updatedAt: savedAt }: Script): Changes {
    return this.#revisions.insert({ id: this.deps.newId('rev'), scriptId, revision, source, savedAt })
  }

  /**
   * Stores a library under the path that scripts import it by, replacing an earlier text. Refuses a text that is not a
   * library.
   */
  async addLibrary(ownerId: string, author: string, path: string, source: string): Promise<ScriptMade> {
    const { kind, diagnostics: said } = await this.deps.examine(source, ownerId)
    if (kind !== 'library')
      throw new Problem(422, 'script_invalid', NO_LIBRARY[kind], {
        diagnostics: JSON.parse(said) as readonly unknown[],
      })
    const known = async (reader: Reader): Promise<Script | undefined> => {
      const mine = this.records.at(reader)
      // This count is a check for scripts that are added meanwhile, which reading the list would not notice.
      await mine.count('owner', [ownerId])
      const own = await Array.fromAsync(mine.each('owner', [ownerId]))
      return own.find((one) => one.name.toLowerCase() === path.toLowerCase())
    }
    const found = await known(this.deps.kv)
    if (found) return this.change(ownerId, found.id, { source })
    try {
      return await this.create(ownerId, author, { name: path, source }, async (_made, tx) => {
        if (await known(tx)) throw new NameTaken({ collection: 'scripts', index: 'path', key: [path] })
        return {}
      })
    } catch (error) {
      if (error instanceof NameTaken) return this.addLibrary(ownerId, author, path, source)
      throw error
    }
  }

  /** A command that adds a script beside a server records it, since the server's search cannot know. */
  async noteAdded({ id, ownerId }: Script): Promise<void> {
    await this.deps.kv.commit({ sets: [{ key: [...ADDED, id], value: JSON.stringify(ownerId) }] })
  }

  /** Answers the recorded scripts as they are now, and clears the records. */
  async takeAdded(): Promise<Script[]> {
    const notes = await this.deps.kv.list({ prefix: ADDED }, { limit: ADDED_AT_ONCE })
    if (notes.length === 0) return []
    const found = await this.records.getMany(notes.map(({ key }) => String(key.at(-1))))
    await this.deps.kv.commit({ deletes: notes.map(({ key }) => key) })
    return found
  }

  async create(
    ownerId: string,
    author: string,
    fields: ScriptFields,
    also?: Also<ScriptMade>,
  ): Promise<ScriptMade> {
    const { diagnostics, kind, pineVersion } = await this.deps.examine(fields.source, ownerId)
    const now = this.deps.clock.now()
    const script: Script = {
      id: this.deps.newId('scr'),
      ownerId,
      author,
      name: fields.name,
      source: fields.source,
      visibility: fields.visibility ?? 'private',
      kind,
      pineVersion,
      revision: 1,
      inputs: fields.inputs ?? {},
      overrides: fields.overrides ?? {},
      ...dayOf(fields, now),
      createdAt: now,
      updatedAt: now,
    }
    const made = { script, diagnostics }
    await transact(this.deps.kv, (tx) => [
      this.records.insert(script),
      this.#insertRevision(script),
      also?.(made, tx),
    ])
    return made
  }

  /** Anybody reads what is public. `readerId` null = nobody is signed in. */
  async read(id: string, readerId: string | null): Promise<Script> {
    const script = await this.records.get(id)
    if (!script || (script.visibility !== 'public' && script.ownerId !== readerId)) throw this.notFound()
    return script
  }

  listPublic(options: PageOptions): Promise<Page<Script>> {
    return this.records.list('public', [], options)
  }

  /** Changes when a public script does, or one becomes public, or is no more. */
  publicStamp(): Promise<string> {
    return this.records.listStamp('public', [])
  }

  /** All public ones. */
  eachPublic(): AsyncGenerator<Script> {
    return this.records.each('public')
  }

  /** A changed text makes a new revision; only the last 50 are kept. */
  async change(ownerId: string, id: string, fields: Partial<ScriptFields>): Promise<ScriptMade> {
    const { source, name, visibility, inputs, overrides } = fields
    const current = await this.get(ownerId, id)
    const examined = source ?? current.source
    const { diagnostics, kind, pineVersion } = await this.deps.examine(examined, ownerId)
    const script = await decide<Script>(this.deps.kv, async (tx) => {
      const stored = await this.storedAt(tx, ownerId, id)
      const before = stored.record
      const edited = source !== undefined && source !== before.source
      const { asOf: _day, ...undated } = before
      const after: Script = {
        ...(fields.asOf === undefined ? before : undated),
        ...dayOf(fields, this.deps.clock.now()),
        ...(name !== undefined && { name }),
        ...(visibility !== undefined && { visibility }),
        ...(source !== undefined && { source }),
        ...(inputs !== undefined ? { inputs } : edited && { inputs: inputsIn(source, before.inputs) }),
        ...(overrides !== undefined && { overrides }),
        // Unless this changes only the name while somebody saved another text.
        ...((edited || before.source === examined) && { kind, pineVersion }),
        revision: before.revision + (edited ? 1 : 0),
        updatedAt: this.deps.clock.now(),
      }
      return [after, [this.records.replace(stored, after), ...(edited ? [this.#insertRevision(after)] : [])]]
    })
    const { items } = await this.#revisions.list('script', [id], { limit: REVISIONS_MAX })
    for (const { id: oldest } of items.slice(VERSIONS_KEPT)) await this.#revisions.delete(oldest)
    return { script, diagnostics }
  }

  async revisions(ownerId: string, id: string, options: PageOptions): Promise<Page<ScriptRevision>> {
    await this.get(ownerId, id)
    return this.#revisions.list('script', [id], options)
  }

  override async remove(ownerId: string, id: string): Promise<void> {
    await transact(this.deps.kv, async (tx) => {
      const stored = await this.storedAt(tx, ownerId, id)
      const here = this.#revisions.at(tx)
      const { items } = await here.list('script', [id], { limit: REVISIONS_MAX })
      const kept = await Promise.all(items.map((revision) => here.stored(revision.id)))
      return [
        this.records.remove(stored),
        ...kept.flatMap((revision) => (revision ? [this.#revisions.remove(revision)] : [])),
      ]
    })
  }
}
