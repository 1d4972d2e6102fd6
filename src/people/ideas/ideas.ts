// Ideas: a title and a text, published to everybody, to those who know the address, or to nobody.

import { invalidField, Problem } from '../../lib/problem.ts'
import type { Random } from '../../lib/random.ts'
import { base32 } from '../../lib/ids.ts'
import { marketName } from '../../lib/market-name.ts'
import { collection, type Page, type PageOptions } from '../../store/collection.ts'
import { dropText, largeText, stageText, textKeys, type LargeText } from '../../store/large-text.ts'
import { OwnedRecords, type RecordDeps } from '../../store/owned.ts'
import { decide, transact, type Also, type Changes, type Tx } from '../../store/transaction.ts'
import type { Key } from '../../store/kv.ts'

type Visibility = 'public' | 'unlisted' | 'private'

export const IDEAS_PER_USER = 2000
/** Each is some megabytes. */
export const SNAPSHOTS_PER_USER = 200

export interface Idea {
  readonly id: string
  readonly ownerId: string
  readonly author: string
  readonly title: string
  /** Plain text with limited Markdown, stored as it came: what shows it must sanitise it. */
  readonly body: string
  readonly tags: readonly string[]
  readonly visibility: Visibility
  readonly symbol: string | null
  readonly exchange: string | null
  readonly interval: string | null
  readonly backtestId: string | null
  /** What is published of its backtest; null or missing (in old records) = nothing. */
  readonly snapshot?: Published | null
  /** Whether its id was ever public; missing in old records. */
  readonly wasPublic?: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

/** A snapshot has an id of its own, because an idea gets another when it becomes unlisted. */
interface Published {
  readonly id: string
  readonly at: number
  readonly picture: boolean
}

export type IdeaFields = Pick<Idea, 'title' | 'body' | 'visibility'> & {
  readonly [Name in 'tags' | 'symbol' | 'exchange' | 'interval' | 'backtestId']?: Idea[Name] | undefined
}

export interface IdeaDeps extends RecordDeps {
  readonly random: Random
  readonly ownsBacktest: (ownerId: string, backtestId: string) => Promise<boolean>
}

export class Ideas extends OwnedRecords<Idea, IdeaDeps> {
  constructor(deps: IdeaDeps) {
    const ideas = collection<Idea>(deps.kv, 'ideas', {
      indexes: {
        owner: (idea) => [idea.ownerId],
        feed: (idea) => (idea.visibility === 'public' ? [] : null),
      },
      stamped: ['owner', 'feed'],
      counts: {
        owner: { of: (idea) => [idea.ownerId], max: IDEAS_PER_USER, noun: 'ideas' },
        published: {
          of: ({ ownerId, snapshot }) => (snapshot ? [ownerId] : null),
          max: SNAPSHOTS_PER_USER,
          noun: 'ideas with a published backtest',
        },
      },
    })
    super(deps, ideas, 'idea_not_found', 'There is no such idea.')
  }

  /** Knowing an unlisted idea's id is the permission to read it, so every id has 128 bits nobody can guess behind its time. */
  #newId(): string {
    return this.deps.newId('idea') + base32(this.deps.random.bytes(16))
  }

  async #checkBacktest(ownerId: string, { backtestId }: Partial<IdeaFields>): Promise<void> {
    if (backtestId && !(await this.deps.ownsBacktest(ownerId, backtestId)))
      throw invalidField('/backtestId', 'not_found', 'There is no backtest of yours with this id.')
  }

  async publish(ownerId: string, author: string, fields: IdeaFields, also?: Also<Idea>): Promise<Idea> {
    await this.#checkBacktest(ownerId, fields)
    const now = this.deps.clock.now()
    const idea: Idea = {
      id: this.#newId(),
      ownerId,
      author,
      title: fields.title,
      body: fields.body,
      visibility: fields.visibility,
      ...NOTHING_SAID,
      ...given(fields),
      wasPublic: fields.visibility === 'public',
      createdAt: now,
      updatedAt: now,
    }
    return this.keep(idea, idea, also)
  }

  /** Anybody who knows the id reads what is not private. `readerId` null = nobody is signed in. */
  async read(id: string, readerId: string | null): Promise<Idea> {
    const idea = await this.records.get(id)
    if (!idea || (idea.visibility === 'private' && idea.ownerId !== readerId)) throw this.notFound()
    return idea
  }

  feed(options: PageOptions): Promise<Page<Idea>> {
    return this.records.list('feed', [], options)
  }

  feedIds(options: PageOptions): Promise<Page<string>> {
    return this.records.ids('feed', [], options)
  }

  /** Changes when a public idea does, or one becomes public, or is no more. */
  feedStamp(): Promise<string> {
    return this.records.listStamp('feed', [])
  }

  /** All public ones. */
  eachPublic(): AsyncGenerator<Idea> {
    return this.records.each('feed')
  }

  /** An idea that becomes unlisted gets a new id if the old one was ever public; the answer's `id` tells. */
  async change(ownerId: string, id: string, fields: Partial<IdeaFields>): Promise<Idea> {
    // One that has been deleted since may stay.
    if (fields.backtestId !== (await this.get(ownerId, id)).backtestId)
      await this.#checkBacktest(ownerId, fields)
    return decide(this.deps.kv, async (tx) => {
      const stored = await this.storedAt(tx, ownerId, id)
      const before = stored.record
      const wasPublic = before.wasPublic ?? before.visibility !== 'unlisted'
      const after: Idea = { ...before, ...given(fields), updatedAt: this.deps.clock.now() }
      if (before.visibility !== 'unlisted' && after.visibility === 'unlisted' && wasPublic) {
        const hidden = { ...after, id: this.#newId(), wasPublic: false }
        return [hidden, [this.records.remove(stored), this.records.insert(hidden)]]
      }
      const changed = { ...after, wasPublic: wasPublic || after.visibility === 'public' }
      return [changed, this.records.replace(stored, changed)]
    })
  }

  override async remove(ownerId: string, id: string): Promise<void> {
    await transact(this.deps.kv, async (tx) => {
      const stored = await this.storedAt(tx, ownerId, id)
      return [this.records.remove(stored), await withoutSnapshot(tx, stored.record)]
    })
  }

  /**
   * Publishes a snapshot (JSON text of the wire's `Snapshot`) and perhaps a picture (bytes of a PNG) with the idea, in place
   * of what is published already.
   */
  async publishSnapshot(
    ownerId: string,
    id: string,
    { text, picture }: { readonly text: readonly Uint8Array[]; readonly picture: Uint8Array | null },
  ): Promise<Idea> {
    const { newId, clock } = this.deps
    const published: Published = { id: newId('snap'), at: clock.now(), picture: picture !== null }
    const staged = await stageText(this.deps.kv, snapshotKey(published), text)
    const drawn = picture && { sets: [{ key: pictureKey(published), value: base64(picture) }] }
    try {
      return await this.#changeSnapshot(ownerId, id, published, drawn ? [staged, drawn] : [staged])
    } catch (error) {
      await dropText(this.deps.kv, snapshotKey(published))
      throw error
    }
  }

  /** Takes back what was published; nothing happens where nothing was. */
  takeBackSnapshot(ownerId: string, id: string): Promise<Idea> {
    return this.#changeSnapshot(ownerId, id, null, [])
  }

  #changeSnapshot(
    ownerId: string,
    id: string,
    snapshot: Published | null,
    content: readonly Changes[],
  ): Promise<Idea> {
    return decide(this.deps.kv, async (tx) => {
      const stored = await this.storedAt(tx, ownerId, id)
      const changed: Idea = { ...stored.record, snapshot, updatedAt: this.deps.clock.now() }
      const gone = await withoutSnapshot(tx, stored.record)
      return [changed, [this.records.replace(stored, changed), gone, ...content]]
    })
  }

  /** JSON text of what is published, for those who may read the idea. */
  async snapshot(id: string, readerId: string | null): Promise<LargeText> {
    const { snapshot } = await this.read(id, readerId)
    const text = snapshot && (await largeText(this.deps.kv, snapshotKey(snapshot)))
    if (!text)
      throw new Problem(404, 'snapshot_not_found', 'Nothing is published of a backtest with this idea.')
    return text
  }

  /** Bytes of a PNG, for those who may read the idea. */
  async picture(id: string, readerId: string | null): Promise<Uint8Array<ArrayBuffer>> {
    const { snapshot } = await this.read(id, readerId)
    const stored = snapshot?.picture ? await this.deps.kv.get(pictureKey(snapshot)) : null
    if (!stored) throw new Problem(404, 'snapshot_not_found', 'This idea has no picture.')
    return Buffer.from(stored.value, 'base64')
  }
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const snapshotKey = ({ id }: Published): Key => ['snapshot', id]
const pictureKey = ({ id }: Published): Key => ['snapshot-picture', id]

/** What to delete with an idea, or before another snapshot takes the place of this one. */
async function withoutSnapshot(tx: Tx, { snapshot }: Idea): Promise<Changes | undefined> {
  if (!snapshot) return undefined
  return { deletes: [...(await textKeys(tx, snapshotKey(snapshot))), pictureKey(snapshot)] }
}

const NOTHING_SAID = { tags: [], symbol: null, exchange: null, interval: null, backtestId: null }

/** The given fields as they are stored; the same whether an idea is made or changed. */
function given(fields: Partial<IdeaFields>): Partial<Idea> {
  const { tags, symbol, exchange, ...rest } = fields
  const said = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return {
    ...said,
    ...(tags && { tags: tidy(tags) }),
    ...(symbol !== undefined && { symbol: symbol && marketName(symbol.trim()) }),
    ...(exchange !== undefined && { exchange: exchange && marketName(exchange.trim()) }),
  }
}

function tidy(tags: readonly string[]): string[] {
  return [...new Set(tags.map((tag) => tag.trim().toLowerCase()).filter(Boolean))]
}
