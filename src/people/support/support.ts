// Help: the shipped articles, found by keyword, and tickets for what they do not answer.

import MiniSearch from 'minisearch'
import { Problem } from '../../lib/problem.ts'
import { collection, type Page, type PageOptions } from '../../store/collection.ts'
import type { RecordDeps } from '../../store/owned.ts'
import { transact, type Changes, type Tx } from '../../store/transaction.ts'

export interface Article {
  /** File name without ending; its address is /help/<id>. */
  readonly id: string
  readonly title: string
  readonly keywords: string
  /** Markdown. */
  readonly body: string
}

export interface FoundArticle {
  readonly id: string
  readonly title: string
  readonly excerpt: string
  readonly url: string
  readonly score: number
}

export interface Ticket {
  readonly id: string
  readonly email: string
  readonly subject: string
  readonly body: string
  readonly userId: string | null
  readonly state: 'open' | 'closed'
  readonly createdAt: number
}

/** Words that do not tell what a question is about. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an and are as at be by can do does for from how i if in is it me my not of on or that the this to was what when where which why will with you your'.split(
    ' ',
  ),
)
const ANSWERS_MAX = 5
/** A match below this score is a coincidence of one common word. */
const SCORE_LEAST = 2

/**
 * Front matter (`title:`, `keywords:`) and body of one article's text. Articles link to each other by their files, as they are
 * read in the repository; here these are addresses.
 */
export function parseArticle(id: string, text: string): Article {
  const [, head = '', body = text] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? []
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(head)?.[1]?.trim() ?? ''
  const linked = body.trim().replace(/\]\(([a-z-]+)\.md\)/g, '](/help/$1)')
  return { id, title: field('title') || id, keywords: field('keywords'), body: linked }
}

export type Support = ReturnType<typeof createSupport>

function indexOf(articles: readonly Article[]): MiniSearch<Article> {
  const index = new MiniSearch<Article>({
    fields: ['title', 'keywords', 'body'],
    storeFields: ['title', 'body'],
    processTerm: (term) => {
      const word = term.toLowerCase()
      return STOP_WORDS.has(word) || word.length < 2 ? null : word
    },
    searchOptions: {
      boost: { title: 4, keywords: 3 },
      prefix: (term) => term.length > 3,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  })
  index.addAll(articles)
  return index
}

export function createSupport({
  kv,
  clock,
  newId,
  articles,
}: RecordDeps & { readonly articles: readonly Article[] }) {
  const tickets = collection<Ticket>(kv, 'tickets', { indexes: { all: () => [] } })
  /** Built for the first question: at a start it would take longer than opening the store. */
  let index: MiniSearch<Article> | null = null

  return {
    articles,
    article(id: string): Article {
      const article = articles.find((one) => one.id === id)
      if (!article) throw new Problem(404, 'article_not_found', 'There is no such help article.')
      return article
    },
    /** The articles that match, best first. */
    ask(query: string): FoundArticle[] {
      // The first words of a long question are enough, and each further word costs time.
      const terms = query.split(/\s+/).slice(0, 24).join(' ')
      index ??= indexOf(articles)
      return index
        .search(terms)
        .filter((hit) => hit.score >= SCORE_LEAST)
        .slice(0, ANSWERS_MAX)
        .map((hit) => ({
          id: hit.id as string,
          title: hit['title'] as string,
          excerpt: excerptOf(hit['body'] as string),
          url: `/help/${hit.id as string}`,
          score: Math.round(hit.score * 1000) / 1000,
        }))
    },
    async open(
      fields: { readonly email: string; readonly subject: string; readonly body: string },
      userId: string | null,
      also: (ticket: Ticket, tx: Tx) => readonly (Changes | Promise<Changes>)[] = () => [],
    ): Promise<Ticket> {
      const ticket: Ticket = { id: newId('tkt'), ...fields, userId, state: 'open', createdAt: clock.now() }
      await transact(kv, (tx) => [tickets.insert(ticket), ...also(ticket, tx)])
      return ticket
    },
    tickets: (options: PageOptions): Promise<Page<Ticket>> => tickets.list('all', [], options),
  }
}

/** The first paragraph, without Markdown's marks. */
function excerptOf(body: string): string {
  const paragraph = body.split('\n\n')[0] ?? ''
  // Text between back-ticks is code: `strategy.position_size * 2` keeps every character.
  const plain = paragraph
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split('`')
    .map((part, i) => (i % 2 === 1 ? part : withoutMarks(part)))
    .join('')
    .replace(/\s+/g, ' ')
  return plain.length <= 280 ? plain : `${plain.slice(0, 279).replace(/\s\S*$/, '')}…`
}

/** Emphasis marks touch a word on their inner side and none on their outer side. */
function withoutMarks(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}*_])(\*\*|__|\*|_)(?=\S)(.+?)(?<=\S)\1(?![\p{L}\p{N}*_])/gu, '$2')
}
