// Ideas: a title and a text, published to everybody, to those who know the address, or to nobody.

import { Problem } from '../../lib/problem.ts'
import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import type { Random } from '../../lib/random.ts'
import { base32 } from '../../lib/ids.ts'
import { marketName } from '../../lib/text.ts'
import { collection, type Collection, type Page, type PageOptions } from '../../store/collection.ts'
import { dropText, largeText, stageText, textKeys, type LargeText } from '../../store/large-text.ts'
import { transact, type Also, type Changes, type Tx } from '../../store/transaction.ts'
import type { Key, Kv } from '../../store/kv.ts'

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

export interface IdeaDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
  readonly random: Random
}

export type Ideas = ReturnType<typeof createIdeas>

export function createIdeas({ kv, clock, newId, random }: IdeaDeps) {
  const ideas = collection<Idea>(kv, 'ideas', {
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
  const notFound = () => new Problem(404, 'idea_not_found', 'There is no such idea.')
  // Knowing an unlisted idea's id is the permission to read it, so every id has 128 bits nobody can guess behind its time.
  const newIdeaId = () => newId('idea') + base32(random.bytes(16))

  async function ownAt(tx: Tx, ownerId: string, id: string) {
    const stored = await ideas.at(tx).stored(id)
    if (stored?.record.ownerId !== ownerId) throw notFound()
    return stored
  }

  return {
    async publish(ownerId: string, author: string, fields: IdeaFields, also?: Also<Idea>): Promise<Idea> {
      const now = clock.now()
      const idea: Idea = {
        id: newIdeaId(),
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
      await transact(kv, (tx) => [ideas.insert(idea), also?.(idea, tx)])
      return idea
    },
    /** Anybody who knows the id reads what is not private. `readerId` null = nobody is signed in. */
    async get(id: string, readerId: string | null): Promise<Idea> {
      const idea = await ideas.get(id)
      if (!idea || (idea.visibility === 'private' && idea.ownerId !== readerId)) throw notFound()
      return idea
    },
    async own(ownerId: string, id: string): Promise<Idea> {
      const idea = await ideas.get(id)
      if (idea?.ownerId !== ownerId) throw notFound()
      return idea
    },
    /** Changes when the idea does. */
    stamp: (id: string): Promise<string> => ideas.stamp(id),
    /** For caches of what is made of records, which are checked by the versions. */
    records: ideas as Pick<Collection<Idea>, 'versions' | 'storedMany'>,
    feed: (options: PageOptions): Promise<Page<Idea>> => ideas.list('feed', [], options),
    feedIds: (options: PageOptions): Promise<Page<string>> => ideas.ids('feed', [], options),
    /** Changes when a public idea does, or one becomes public, or is no more. */
    feedStamp: (): Promise<string> => ideas.listStamp('feed', []),
    listOf: (ownerId: string, options: PageOptions): Promise<Page<Idea>> =>
      ideas.list('owner', [ownerId], options),
    idsOf: (ownerId: string, options: PageOptions): Promise<Page<string>> =>
      ideas.ids('owner', [ownerId], options),
    listStamp: (ownerId: string): Promise<string> => ideas.listStamp('owner', [ownerId]),
    /** All public ones. */
    eachPublic: (): AsyncGenerator<Idea> => ideas.each('feed'),
    eachOf: (ownerId: string): AsyncGenerator<Idea> => ideas.each('owner', [ownerId]),
    /** An idea that becomes unlisted gets a new id if the old one was ever public; the answer's `id` tells. */
    async change(ownerId: string, id: string, fields: Partial<IdeaFields>): Promise<Idea> {
      let changed: Idea | undefined
      await transact(kv, async (tx) => {
        const stored = await ownAt(tx, ownerId, id)
        const before = stored.record
        const wasPublic = before.wasPublic ?? before.visibility !== 'unlisted'
        const after = { ...before, ...given(fields), updatedAt: clock.now() }
        const hides = before.visibility !== 'unlisted' && after.visibility === 'unlisted' && wasPublic
        if (hides) {
          changed = { ...after, id: newIdeaId(), wasPublic: false }
          return [ideas.remove(stored), ideas.insert(changed)]
        }
        changed = { ...after, wasPublic: wasPublic || after.visibility === 'public' }
        return ideas.replace(stored, changed)
      })
      if (!changed) throw notFound()
      return changed
    },
    async remove(ownerId: string, id: string): Promise<void> {
      await transact(kv, async (tx) => {
        const stored = await ownAt(tx, ownerId, id)
        return [ideas.remove(stored), await withoutSnapshot(tx, stored.record)]
      })
    },
    /**
     * Publishes a snapshot (JSON text of the wire's `Snapshot`) and perhaps a picture (bytes of a PNG) with the idea, in place
     * of what is published already.
     */
    async publishSnapshot(
      ownerId: string,
      id: string,
      { text, picture }: { readonly text: readonly Uint8Array[]; readonly picture: Uint8Array | null },
    ): Promise<Idea> {
      const published: Published = { id: newId('snap'), at: clock.now(), picture: picture !== null }
      const staged = await stageText(kv, snapshotKey(published), text)
      let changed: Idea | undefined
      try {
        await transact(kv, async (tx) => {
          const stored = await ownAt(tx, ownerId, id)
          changed = { ...stored.record, snapshot: published, updatedAt: clock.now() }
          return [
            ideas.replace(stored, changed),
            await withoutSnapshot(tx, stored.record),
            staged,
            picture === null ? undefined : { sets: [{ key: pictureKey(published), value: base64(picture) }] },
          ]
        })
      } catch (error) {
        await dropText(kv, snapshotKey(published))
        throw error
      }
      if (!changed) throw notFound()
      return changed
    },
    /** Takes back what was published; nothing happens where nothing was. */
    async takeBackSnapshot(ownerId: string, id: string): Promise<Idea> {
      let changed: Idea | undefined
      await transact(kv, async (tx) => {
        const stored = await ownAt(tx, ownerId, id)
        changed = { ...stored.record, snapshot: null, updatedAt: clock.now() }
        return [ideas.replace(stored, changed), await withoutSnapshot(tx, stored.record)]
      })
      if (!changed) throw notFound()
      return changed
    },
    /** JSON text of what is published, for those who may read the idea. */
    async snapshot(id: string, readerId: string | null): Promise<LargeText> {
      const { snapshot } = await this.get(id, readerId)
      const text = snapshot && (await largeText(kv, snapshotKey(snapshot)))
      if (!text)
        throw new Problem(404, 'snapshot_not_found', 'Nothing is published of a backtest with this idea.')
      return text
    },
    /** Bytes of a PNG, for those who may read the idea. */
    async picture(id: string, readerId: string | null): Promise<Uint8Array<ArrayBuffer>> {
      const { snapshot } = await this.get(id, readerId)
      const stored = snapshot?.picture ? await kv.get(pictureKey(snapshot)) : null
      if (!stored) throw new Problem(404, 'snapshot_not_found', 'This idea has no picture.')
      return Buffer.from(stored.value, 'base64')
    },
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
