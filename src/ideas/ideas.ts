// Ideas: a title and a text, published to everybody, to those who know the address, or to nobody.

import { Problem } from '../lib/problem.ts'
import type { Clock } from '../lib/clock.ts'
import type { NewId } from '../lib/ids.ts'
import type { Random } from '../lib/random.ts'
import { base32 } from '../lib/ids.ts'
import { marketName } from '../lib/text.ts'
import { collection, type Page, type PageOptions } from '../store/collection.ts'
import { transact, type Also } from '../store/transaction.ts'
import type { Kv } from '../store/kv.ts'

type Visibility = 'public' | 'unlisted' | 'private'

export const IDEAS_PER_USER = 2000

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
  /** Whether its id was ever public; missing in old records. */
  readonly wasPublic?: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

export interface IdeaFields {
  readonly title: string
  readonly body: string
  readonly tags?: readonly string[] | undefined
  readonly visibility: Visibility
  readonly symbol?: string | null | undefined
  readonly exchange?: string | null | undefined
  readonly interval?: string | null | undefined
  readonly backtestId?: string | null | undefined
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
    counts: { owner: { of: (idea) => [idea.ownerId], max: IDEAS_PER_USER, noun: 'ideas' } },
  })
  const notFound = () => new Problem(404, 'idea_not_found', 'There is no such idea.')
  // Knowing an unlisted idea's id is the permission to read it, so every id has 128 bits nobody can guess behind its time.
  const newIdeaId = () => newId('idea') + base32(random.bytes(16))

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
    /** Changes when the idea does. */
    stamp: (id: string): Promise<string> => ideas.stamp(id),
    feed: (options: PageOptions): Promise<Page<Idea>> => ideas.list('feed', [], options),
    /** Changes when a public idea does, or one becomes public, or is no more. */
    feedStamp: (): Promise<string> => ideas.listStamp('feed', []),
    listOf: (ownerId: string, options: PageOptions): Promise<Page<Idea>> =>
      ideas.list('owner', [ownerId], options),
    listStamp: (ownerId: string): Promise<string> => ideas.listStamp('owner', [ownerId]),
    /** All public ones. */
    eachPublic: (): AsyncGenerator<Idea> => ideas.each('feed'),
    eachOf: (ownerId: string): AsyncGenerator<Idea> => ideas.each('owner', [ownerId]),
    /** An idea that becomes unlisted gets a new id if the old one was ever public; the answer's `id` tells. */
    async change(ownerId: string, id: string, fields: Partial<IdeaFields>): Promise<Idea> {
      let changed: Idea | undefined
      await transact(kv, async (tx) => {
        const stored = await ideas.at(tx).stored(id)
        if (stored?.record.ownerId !== ownerId) throw notFound()
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
      if ((await ideas.get(id))?.ownerId !== ownerId) throw notFound()
      await ideas.delete(id)
    },
  }
}

const NOTHING_SAID = { tags: [], symbol: null, exchange: null, interval: null, backtestId: null }

/** The given fields as they are stored; the same whether an idea is made or changed. */
function given(fields: Partial<IdeaFields>): Partial<Idea> {
  const { tags, symbol, exchange, ...rest } = fields
  const said = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return {
    ...said,
    ...(tags && { tags: tidy(tags) }),
    ...(symbol !== undefined && { symbol: symbol && marketName(symbol) }),
    ...(exchange !== undefined && { exchange: exchange && marketName(exchange) }),
  }
}

function tidy(tags: readonly string[]): string[] {
  return [...new Set(tags.map((tag) => tag.trim().toLowerCase()).filter(Boolean))]
}
