// The help articles: the user manual in the dashboard, and the texts that the support chat searches.

import { readArticles } from './read-articles.ts' with { type: 'macro' }
import { parseArticle, type Article } from './support.ts'

export const ARTICLES: readonly Article[] = Object.entries(readArticles()).map(([id, text]) =>
  parseArticle(id, text),
)
