// Converts between values and fields of the wire: what a query or a body needs beyond its schema, and lists.

import { Problem } from '../lib/problem.ts'
import type { Page } from '../store/collection.ts'

/** UTC ms. Throws Problem 422 naming `path`. Temporal accepts only real dates: no 30 February. */
export function isoTimeOf(text: string, where: 'body' | 'query', path: string): number {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text
  try {
    return Temporal.Instant.from(day).epochMilliseconds
  } catch {
    const message = 'Expected a time as ISO 8601 with its zone: 2024-01-31T09:30:00Z.'
    throw new Problem(422, 'validation_failed', message, {
      fields: [{ in: where, path, code: 'format', message }],
    })
  }
}

export function instantOf(value: number | string | null | undefined, path: string): number | null {
  return typeof value === 'string' ? isoTimeOf(value, 'body', path) : (value ?? null)
}

/** The page that a list query asks for: `max` rows unless it asks for fewer. */
export function pageOf(
  query: { limit?: string; cursor?: string },
  max: number,
): { limit: number; cursor?: string } {
  const limit = Math.min(max, Math.max(1, Number(query.limit ?? max)))
  return { limit, ...(query.cursor !== undefined && { cursor: query.cursor }) }
}

/** The name that a page is kept under: which list, of whom, for whom, and which part of it. */
export function pageName(
  list: string,
  reader: string | null,
  { limit, cursor = '' }: { readonly limit: number; readonly cursor?: string },
): string {
  return `${list} ${reader ?? ''} ${limit} ${cursor}`
}

/** The answer of a list. */
export function listed<N extends string, T, W>(noun: N, page: Page<T>, wire: (item: T) => W) {
  return { [noun]: page.items.map(wire), nextCursor: page.nextCursor } as Record<N, W[]> & {
    nextCursor: string | null
  }
}
