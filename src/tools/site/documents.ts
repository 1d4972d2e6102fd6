// What the site is made from: the repository's own documents. A part that is not found any more ends the build, so that the
// site cannot go on saying what they no longer say.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { assert } from '../../lib/assert.ts'
import { parseMarkdown, type TextSpan } from '../../lib/markdown.ts'
import type { LinkTo } from './html.ts'

export const root = resolve(import.meta.dir, '../../..')

/** A document's text. Links to other files of the repository become addresses of the site where it has them. */
export function documentText(file: string): string {
  return readFileSync(`${root}/${file}`, 'utf8').replaceAll(/\]\(([^)\s]+)\)/g, (whole, target: string) => {
    if (/^(?:https?:|mailto:|#)/.test(target)) return whole
    const to = resolve('/', file, '..', target)
    return `](${ADDRESSES[to] ?? to.replace(/^\/src\/people\/support\/articles\/([\w-]+)\.md/, '/help/$1')})`
  })
}

const ADDRESSES: Readonly<Record<string, string>> = {
  '/README.md': '/',
  '/CHANGELOG.md': '/changes',
  '/tests/parity/SCOREBOARD.md': '/exactness',
  '/tests/FIGURES.md': '/speed',
}

/** Links to what the site does not have lead to the repository where that is known, and are text elsewhere. */
export const linksOf =
  (addresses: ReadonlySet<string>, repository: string | undefined): LinkTo =>
  (href) => {
    if (!href.startsWith('/')) return href
    if (addresses.has(href.replace(/#.*/, ''))) return href
    return repository === undefined || href.startsWith('/help/') ? null : `${repository}/blob/main${href}`
  }

/** What stands below a heading of level two, up to the next one. */
export function sectionOf(text: string, heading: string): string {
  const [, body] = text.split(new RegExp(`^## ${heading}$`, 'm'))
  assert(body !== undefined, `the document has a section "${heading}"`)
  return body.split(/^## /m)[0]!.trim()
}

/** The first table of a text: its head and its rows, as plain text. */
export function tableOf(text: string): {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
} {
  const found = parseMarkdown(text).find((block) => block.kind === 'table')
  assert(found !== undefined, 'the section has a table')
  return { head: found.head.map(plain), rows: found.rows.map((row) => row.map(plain)) }
}

const plain = (spans: readonly TextSpan[]): string =>
  spans.map((span) => ('text' in span ? span.text : plain(span.spans))).join('')

/** A list's items, as Markdown, of a text that has one list. */
export function itemsOf(text: string): string[] {
  return text
    .split(/^- /m)
    .slice(1)
    .map((item) =>
      item
        .split(/\n(?=\S)/)[0]!
        .replaceAll(/\s*\n\s+/g, ' ')
        .trim(),
    )
}

/** The date in a text, which has to be there. */
export function dateIn(text: string): string {
  const [date] = /\d{4}-\d{2}-\d{2}/.exec(text) ?? []
  assert(date !== undefined, 'the document says of which day it is')
  return date
}
