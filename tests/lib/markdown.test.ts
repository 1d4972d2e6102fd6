// The Markdown subset: text to data, and nothing that a browser would run.

import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { parseMarkdown, plainText, safeHref, type TextBlock, type TextSpan } from '../../src/lib/markdown.ts'
import { rounds } from '../long.ts'

/** Blocks as one line of text each. */
function shown(blocks: readonly TextBlock[]): string[] {
  return blocks.map((block) => {
    switch (block.kind) {
      case 'heading':
        return `h${block.level} ${spans(block.spans)}`
      case 'paragraph':
        return `p ${spans(block.spans)}`
      case 'code':
        return `code(${block.language}) ${block.text}`
      case 'list':
        return `${block.ordered ? 'ol' : 'ul'} ${block.items.map((item) => shown(item).join(' ')).join(' | ')}`
      case 'quote':
        return `quote ${shown(block.blocks).join(' ')}`
      case 'table':
        return `table ${block.head.map(spans).join(',')} / ${block.rows.map((row) => row.map(spans).join(',')).join(' / ')}`
      default:
        return 'rule'
    }
  })
}
const spans = (list: readonly TextSpan[]): string =>
  list
    .map((span) => {
      if ('text' in span) return span.kind === 'code' ? `\`${span.text}\`` : span.text
      const inner = spans(span.spans)
      return span.kind === 'link' ? `<${inner}|${span.href}>` : `<${span.kind} ${inner}>`
    })
    .join('')

const CASES: readonly (readonly [name: string, text: string, ...expected: string[]])[] = [
  ['headings have two levels', '# One\n\n### Three', 'h2 One', 'h3 Three'],
  ['lines of a paragraph belong together', 'one\ntwo\n\nthree', 'p one\ntwo', 'p three'],
  ['emphasis nests', 'a **bold *and* loud** c', 'p a <strong bold <em and> loud> c'],
  ['snake_case is no emphasis', 'use my_long_name here', 'p use my_long_name here'],
  ['code keeps its marks', 'call `a * b * c`', 'p call `a * b * c`'],
  ['a fence keeps its lines', '```pine\nx = 1\n\n# y\n```\nafter', 'code(pine) x = 1\n\n# y', 'p after'],
  ['a fence that nobody closes ends with the text', '```\nx', 'code() x'],
  ['lists', '- a\n- b\n\n1. c\n2. d', 'ul p a | p b', 'ol p c | p d'],
  ['a list in a list', '- a\n  - b\n- c', 'ul p a ul p b | p c'],
  ['quotes', '> said\n> so', 'quote p said\nso'],
  ['tables', '| a | b |\n|---|---|\n| 1 | 2 |', 'table a,b / 1,2'],
  ['rules', 'a\n\n---\n\nb', 'p a', 'rule', 'p b'],
  [
    'links to the web and into the page',
    '[x](https://a.b/c) [y](/help/z)',
    'p <x|https://a.b/c> <y|/help/z>',
  ],
  ['addresses become links', 'see https://a.b/c.', 'p see <https://a.b/c|https://a.b/c>.'],
  ['a link that would run something stays text', '[x](javascript:alert(1))', 'p [x](javascript:alert(1))'],
  ['HTML is text', '<img src=x onerror=alert(1)>', 'p <img src=x onerror=alert(1)>'],
  ['a backslash takes the meaning away', '\\*not\\*', 'p *not*'],
]

describe('Markdown', () => {
  for (const [name, text, ...expected] of CASES)
    test(name, () => expect(shown(parseMarkdown(text))).toEqual(expected))

  test('links lead to the web, to mail and into this page, nowhere else', () => {
    for (const target of ['https://a.b/', 'http://a.b/', 'mailto:a@b.c', '/ideas/x', '#part'])
      expect(safeHref(target)).not.toBeNull()
    for (const target of [
      'javascript:alert(1)',
      'JaVaScRiPt:alert(1)',
      'data:text/html,x',
      '//evil.example/',
      '/\\evil.example',
      'vbscript:x',
      'file:///etc/passwd',
      'relative',
    ])
      expect(safeHref(target)).toBeNull()
  })

  test('any text is read, in time, and every link is safe', () => {
    const piece = fc.constantFrom(
      '*',
      '**',
      '_',
      '`',
      '[',
      '](',
      ')',
      '> ',
      '- ',
      '1. ',
      '|',
      '---',
      '\n',
      '  ',
      'a',
      '#',
      '```',
      'javascript:',
      'https://x.y',
    )
    const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
        const links = (list: readonly TextSpan[]): string[] =>
          list.flatMap((span) =>
            'text' in span ? [] : [...(span.kind === 'link' ? [span.href] : []), ...links(span.spans)],
          )
        for (const block of parseMarkdown(pieces.join('')))
          if ('spans' in block) for (const href of links(block.spans)) expect(safeHref(href)).toBe(href)
      }),
      { seed, numRuns: rounds(300) },
    )
  })

  test('an excerpt is plain', () => {
    expect(plainText('# Title\n\nHold **long** while `fast` > slow.', 100)).toBe(
      'Hold long while fast > slow.',
    )
    expect(plainText('one two three four', 9)).toBe('one two…')
  })
})
