// A small part of Markdown, as data: headings, paragraphs, lists, quotes, code, tables, rules; strong, emphasis, code, links.
//
// Text becomes blocks and spans, never HTML: anything else is shown as it was typed. Links may lead to http(s),
// mail or a path of this site; all others (javascript:, data:) stay text.

export type TextSpan =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'em' | 'del'; readonly spans: readonly TextSpan[] }
  | { readonly kind: 'link'; readonly href: string; readonly spans: readonly TextSpan[] }

export type TextBlock =
  | { readonly kind: 'heading'; readonly level: 2 | 3; readonly spans: readonly TextSpan[] }
  | { readonly kind: 'paragraph'; readonly spans: readonly TextSpan[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'list'; readonly ordered: boolean; readonly items: readonly (readonly TextBlock[])[] }
  | { readonly kind: 'quote'; readonly blocks: readonly TextBlock[] }
  | {
      readonly kind: 'table'
      readonly head: readonly (readonly TextSpan[])[]
      readonly rows: readonly (readonly (readonly TextSpan[])[])[]
    }
  | { readonly kind: 'rule' }

/** The deepest nesting of quotes and lists; deeper ones are plain text, so that hostile input cannot recurse without end. */
const DEPTH_MAX = 6

const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])\s+(.*)$/

export function parseMarkdown(text: string, depth = 0): TextBlock[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const blocks: TextBlock[] = []
  let paragraph: string[] = []
  const endParagraph = () => {
    if (paragraph.length > 0) blocks.push({ kind: 'paragraph', spans: parseSpans(paragraph.join('\n')) })
    paragraph = []
  }
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? ''
    const fence = /^ {0,3}(```+|~~~+)\s*([\w-]*)/.exec(line)
    if (fence) {
      endParagraph()
      const code: string[] = []
      for (i++; i < lines.length && !(lines[i] ?? '').trimStart().startsWith(fence[1] ?? '```'); i++)
        code.push(lines[i] ?? '')
      blocks.push({ kind: 'code', language: fence[2] ?? '', text: code.join('\n') })
      continue
    }
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line)
    if (heading) {
      endParagraph()
      const level = (heading[1] ?? '').length <= 2 ? 2 : 3
      blocks.push({ kind: 'heading', level, spans: parseSpans(heading[2] ?? '') })
      continue
    }
    if (/^ {0,3}([-*_])(?:\s*\1){2,}\s*$/.test(line)) {
      endParagraph()
      blocks.push({ kind: 'rule' })
      continue
    }
    if (depth < DEPTH_MAX && /^ {0,3}>/.test(line)) {
      endParagraph()
      const quoted: string[] = []
      for (; i < lines.length && /^ {0,3}>/.test(lines[i] ?? ''); i++)
        quoted.push((lines[i] ?? '').replace(/^ {0,3}> ?/, ''))
      i--
      blocks.push({ kind: 'quote', blocks: parseMarkdown(quoted.join('\n'), depth + 1) })
      continue
    }
    if (depth < DEPTH_MAX && ITEM.test(line)) {
      endParagraph()
      const { list, next } = readList(lines, i, depth)
      blocks.push(list)
      i = next - 1
      continue
    }
    if (
      line.includes('|') &&
      /^[\s|:-]*-[\s|:-]*$/.test(lines[i + 1] ?? '') &&
      (lines[i + 1] ?? '').includes('|')
    ) {
      endParagraph()
      const head = cells(line)
      const rows: (readonly TextSpan[])[][] = []
      for (i += 2; i < lines.length && (lines[i] ?? '').includes('|'); i++) rows.push(cells(lines[i] ?? ''))
      i--
      blocks.push({ kind: 'table', head, rows })
      continue
    }
    if (line.trim() === '') endParagraph()
    else paragraph.push(line.trim())
  }
  endParagraph()
  return blocks
}

/** One list: its items, each with what is indented below it. */
function readList(lines: readonly string[], start: number, depth: number): { list: TextBlock; next: number } {
  const ordered = /\d/.test(ITEM.exec(lines[start] ?? '')?.[2] ?? '')
  const indent = (ITEM.exec(lines[start] ?? '')?.[1] ?? '').length
  const items: TextBlock[][] = []
  let item: string[] = []
  const endItem = () => {
    if (item.length > 0) items.push(parseMarkdown(item.join('\n'), depth + 1))
    item = []
  }
  let i = start
  for (; i < lines.length; i++) {
    const line = lines[i] ?? ''
    const match = ITEM.exec(line)
    // An item indented by two more spaces belongs to the one above.
    const inner = match !== null && (match[1] ?? '').length >= indent + 2
    if (match && !inner && /\d/.test(match[2] ?? '') === ordered) {
      endItem()
      item.push(match[3] ?? '')
    } else if (/^(?: {2,}|\t)/.test(line)) item.push(line.replace(/^(?: {2,4}|\t)/, ''))
    else if (line.trim() === '' && /^(?: {2,}|\t)/.test(lines[i + 1] ?? '')) item.push('')
    else if (line.trim() === '' && ITEM.test(lines[i + 1] ?? '')) continue
    else if (line.trim() === '' || match || /^ {0,3}(?:#{1,6} |>|```|~~~)/.test(line)) break
    else item.push(line.trim())
  }
  endItem()
  return { list: { kind: 'list', ordered, items }, next: i }
}

function cells(line: string): (readonly TextSpan[])[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => parseSpans(cell.trim().replaceAll('\\|', '|')))
}

/** Where a link may lead; null = nowhere. */
export function safeHref(target: string): string | null {
  if (/^\/(?![/\\])/.test(target)) return target
  if (/^#[\w-]*$/.test(target)) return target
  const url = URL.parse(target)
  return url && ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null
}

const PAIRS = [
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'del'],
  ['*', 'em'],
  ['_', 'em'],
] as const

function parseSpans(text: string, depth = 0): TextSpan[] {
  const spans: TextSpan[] = []
  let plain = ''
  const push = (span: TextSpan) => {
    if (plain !== '') spans.push({ kind: 'text', text: plain })
    plain = ''
    spans.push(span)
  }
  let i = 0
  scan: while (i < text.length) {
    const rest = text.slice(i, i + 4000)
    const character = text[i] ?? ''
    if (character === '\\' && /[!-/:-@[-`{-~]/.test(text[i + 1] ?? '')) {
      plain += text[i + 1]
      i += 2
      continue
    }
    const code = character === '`' ? /^(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/.exec(rest) : null
    if (code) {
      push({ kind: 'code', text: (code[2] ?? '').trim() })
      i += code[0].length
      continue
    }
    const link =
      character === '[' && depth < DEPTH_MAX ? /^\[([^[\]]{1,500})\]\(([^()\s]{1,2000})\)/.exec(rest) : null
    const target = link && safeHref(link[2] ?? '')
    if (link && target) {
      push({ kind: 'link', href: target, spans: parseSpans(link[1] ?? '', DEPTH_MAX) })
      i += link[0].length
      continue
    }
    const address =
      character === 'h' && !/\w$/.test(plain)
        ? /^https?:\/\/[^\s<>"'()[\]]+[^\s<>"'()[\].,;:!?]/.exec(rest)
        : null
    const bare = address && depth < DEPTH_MAX ? safeHref(address[0]) : null
    if (address && bare) {
      push({ kind: 'link', href: bare, spans: [{ kind: 'text', text: address[0] }] })
      i += address[0].length
      continue
    }
    if (depth < DEPTH_MAX)
      for (const [mark, kind] of PAIRS) {
        if (!rest.startsWith(mark) || /\s/.test(text[i + mark.length] ?? ' ')) continue
        // Underscores within a word, as in snake_case, are not emphasis.
        if (mark.startsWith('_') && /\w$/.test(plain)) continue
        const end = text.indexOf(mark, i + mark.length + 1)
        if (end < 0 || end - i > 4000 || /\s/.test(text[end - 1] ?? ' ')) continue
        if (mark === '*' && text[end + 1] === '*') continue
        push({ kind, spans: parseSpans(text.slice(i + mark.length, end), depth + 1) })
        i = end + mark.length
        continue scan
      }
    plain += character
    i++
  }
  if (plain !== '') spans.push({ kind: 'text', text: plain })
  return spans
}

/** The beginning of a text without Markdown's marks, for lists. */
export function plainText(markdown: string, length: number): string {
  const text = (spans: readonly TextSpan[]): string =>
    spans.map((span) => ('text' in span ? span.text : text(span.spans))).join('')
  const blocks = parseMarkdown(markdown.slice(0, length * 6))
  const said = (kinds: readonly TextBlock['kind'][]) =>
    blocks
      .flatMap((block) => ('spans' in block && kinds.includes(block.kind) ? [text(block.spans)] : []))
      .join(' ')
  const found = said(['paragraph']) || said(['heading'])
  const flat = found.replace(/\s+/g, ' ').trim()
  return flat.length > length ? `${flat.slice(0, length - 1).trimEnd()}…` : flat
}
