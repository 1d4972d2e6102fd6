// HTML as text that is escaped wherever it was not written here, and Markdown as such HTML.

import { StringStream } from '@codemirror/language'
import { token } from '../../dashboard/editor/highlight.ts'
import { parseMarkdown, type TextBlock, type TextSpan } from '../../lib/markdown.ts'

/** HTML that stays as it is. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Markup | readonly Markup[]

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** What is filled in is escaped, unless it is markup itself. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  const textOf = (value: Value): string =>
    value instanceof Markup
      ? value.text
      : typeof value === 'object'
        ? value.map(({ text }) => text).join('')
        : escaped(String(value))
  return new Markup(parts.map((part, i) => part + (i < values.length ? textOf(values[i]!) : '')).join(''))
}

export const nothing = new Markup('')

/** Where a link of a text leads: an address of the site (`/help/chart`) or of elsewhere; null = it stays text. */
export type LinkTo = (href: string) => string | null

/** `text` as HTML. Headings get the names that GitHub gives them. */
export function markdown(text: string, linkTo: LinkTo): Markup {
  return blocksOf(parseMarkdown(text), linkTo)
}

/** The spans of one paragraph, without a paragraph around them. */
export function inline(text: string, linkTo: LinkTo): Markup {
  const [block] = parseMarkdown(text)
  return block && 'spans' in block ? spansOf(block.spans, linkTo) : nothing
}

function blocksOf(blocks: readonly TextBlock[], linkTo: LinkTo): Markup {
  return html`${blocks.map((block) => blockOf(block, linkTo))}`
}

function blockOf(block: TextBlock, linkTo: LinkTo): Markup {
  const spans = (inner: readonly TextSpan[]) => spansOf(inner, linkTo)
  switch (block.kind) {
    case 'heading': {
      const id = anchorOf(plain(block.spans))
      return block.level === 2
        ? html`<h2 id="${id}">${spans(block.spans)}</h2> `
        : html`<h3 id="${id}">${spans(block.spans)}</h3> `
    }
    case 'paragraph':
      return html`<p>${spans(block.spans)}</p> `
    case 'code': {
      const name = block.language === '' ? 'Code' : `Code, ${block.language}`
      const code = block.language === 'pine' ? pineCode(block.text) : html`${block.text}`
      return html`<pre tabindex="0" role="group" aria-label="${name}"><code>${code}</code></pre> `
    }
    case 'quote':
      return html`<blockquote>${blocksOf(block.blocks, linkTo)}</blockquote> `
    case 'rule':
      return html`<hr /> `
    case 'list': {
      const items = block.items.map((item) =>
        item.length === 1 && item[0]?.kind === 'paragraph'
          ? html`<li>${spans(item[0].spans)}</li> `
          : html`<li>${blocksOf(item, linkTo)}</li> `,
      )
      return block.ordered
        ? html`<ol>
            ${items}
          </ol> `
        : html`<ul>
            ${items}
          </ul> `
    }
    default:
      return table(
        block.head.map(spans),
        block.rows.map((row) => row.map(spans)),
      )
  }
}

/** A table that scrolls by itself where the page is narrower. Columns of numbers alone are set to the right. */
export function table(head: readonly Markup[], rows: readonly (readonly Markup[])[], name = 'Table'): Markup {
  const all = (i: number, kind: RegExp) => rows.every((row) => kind.test(row[i]?.text ?? ''))
  const classes = head.map((_, i) =>
    all(i, /^[\d.,]+( %| of [\d,]+)?$/)
      ? new Markup(' class="num"')
      : all(i, /^\d{4}-\d{2}(-\d{2})?$/)
        ? new Markup(' class="day"')
        : nothing,
  )
  const cell = (i: number) => classes[i]!
  return html`<div class="table" tabindex="0" role="group" aria-label="${name}">
    <table>
      <thead>
        <tr>
          ${head.map((one, i) => (one.text === '' ? html`<td></td>` : html`<th scope="col" ${cell(i)}>${one}</th>`))}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((one, i) => html`<td${cell(i)}>${one}</td>`)}
            </tr> `,
        )}
      </tbody>
    </table>
  </div> `
}

function spansOf(spans: readonly TextSpan[], linkTo: LinkTo): Markup {
  return html`${spans.map((span) => spanOf(span, linkTo))}`
}

function spanOf(span: TextSpan, linkTo: LinkTo): Markup {
  if ('text' in span) return span.kind === 'text' ? html`${span.text}` : html`<code>${span.text}</code>`
  const inner = spansOf(span.spans, linkTo)
  if (span.kind === 'link') {
    const to = linkTo(span.href)
    return to === null ? inner : html`<a href="${to}">${inner}</a>`
  }
  if (span.kind === 'strong') return html`<strong>${inner}</strong>`
  return span.kind === 'em' ? html`<em>${inner}</em>` : html`<del>${inner}</del>`
}

const plain = (spans: readonly TextSpan[]): string =>
  spans.map((span) => ('text' in span ? span.text : plain(span.spans))).join('')

/** The name that a heading has in an address, as GitHub makes it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** Pine in the colours of the editor: a class for each kind of token that has one. */
export function pineCode(source: string): Markup {
  const state = { inside: '' as const }
  const lines = source
    .trimEnd()
    .split('\n')
    .map((line) => {
      const stream = new StringStream(line, 4, 4)
      const parts: Markup[] = []
      while (!stream.eol()) {
        stream.start = stream.pos
        const style = token(stream, state)
        const name = style === null ? undefined : CLASSES[style]
        parts.push(
          name === undefined ? html`${stream.current()}` : html`<i class="${name}">${stream.current()}</i>`,
        )
      }
      return html`${parts}`
    })
  return new Markup(lines.map(({ text }) => text).join('\n'))
}

const CLASSES: Readonly<Record<string, string>> = {
  keyword: 'k',
  atom: 'k',
  function: 'f',
  namespace: 'ns',
  property: 'p',
  typeName: 't',
  series: 'se',
  string: 's',
  color: 's',
  number: 'n',
  operator: 'o',
  comment: 'c',
  meta: 'c',
}
