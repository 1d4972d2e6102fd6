// What a link to a shared page shows where somebody posts it: title, first words and picture, read by machines that run no
// script. Only what everybody may read is named; of all else the page has the head that every page has.

import { plainText } from '../lib/markdown.ts'
import { PROBLEM_CODES } from '../lib/problem-codes.ts'
import { Problem } from '../lib/problem.ts'
import type { Features } from './deps.ts'

const WORDS = 200

/** HTML for the head of the page at `path`, instead of its title; null = the usual one. `origin` is where pages are served. */
export async function pageHead(
  { ideas, scripts }: Pick<Features, 'ideas' | 'scripts'>,
  path: string,
  origin: string,
): Promise<string | null> {
  const [, noun, id = ''] = /^\/(ideas|scripts)\/([a-z]+_[0-9a-z]+)$/.exec(path) ?? []
  if (noun === 'ideas') {
    const idea = await readable(ideas.read(id, null))
    if (!idea) return null
    const picture = idea.snapshot?.picture ? `${origin}/api/platform/ideas/${id}/picture` : null
    return headOf({ title: idea.title, words: plainText(idea.body, WORDS), author: idea.author, picture })
  }
  if (noun === 'scripts') {
    const script = await readable(scripts.read(id, null))
    return script && headOf({ title: script.name, words: '', author: script.author, picture: null })
  }
  return null
}

/** null if the visitor may not read it, since even its existence is private. */
async function readable<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found
  } catch (error) {
    if (error instanceof Problem && PROBLEM_CODES[error.code].status === 404) return null
    throw error
  }
}

interface Head {
  readonly title: string
  readonly words: string
  readonly author: string
  /** Its full address; null = none. */
  readonly picture: string | null
}

function headOf({ title, words, author, picture }: Head): string {
  const meta = (name: string, content: string) => `<meta property="${name}" content="${escaped(content)}" />`
  return [
    `<title>${escaped(title)} · Chartroom</title>`,
    meta('og:title', title),
    meta('og:type', 'article'),
    meta('og:site_name', 'Chartroom'),
    meta('article:author', author),
    ...(words === '' ? [] : [meta('og:description', words)]),
    ...(picture === null ? [] : [meta('og:image', picture), meta('twitter:card', 'summary_large_image')]),
  ].join('\n    ')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
