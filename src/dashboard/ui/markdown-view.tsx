// Markdown as Preact nodes. Nothing here can make HTML out of text.

import type { ComponentChildren } from 'preact'
import { href } from '../router.ts'
import { parseMarkdown, type TextBlock, type TextSpan } from '../../lib/markdown.ts'
import { pageStyles as s } from '../frame/page.tsx'

export const Markdown = ({ text }: { readonly text: string }) => (
  <div class={s['prose']}>{parseMarkdown(text).map(blockOf)}</div>
)

function blockOf(block: TextBlock): ComponentChildren {
  switch (block.kind) {
    case 'heading':
      return block.level === 2 ? <h2>{block.spans.map(spanOf)}</h2> : <h3>{block.spans.map(spanOf)}</h3>
    case 'paragraph':
      return <p>{block.spans.map(spanOf)}</p>
    case 'code':
      return (
        <pre tabIndex={0} aria-label={block.language === '' ? 'Code' : `Code, ${block.language}`}>
          <code>{block.text}</code>
        </pre>
      )
    case 'quote':
      return <blockquote>{block.blocks.map(blockOf)}</blockquote>
    case 'rule':
      return <hr />
    case 'list': {
      const items = block.items.map((item, i) => (
        <li key={i}>
          {item.length === 1 && item[0]?.kind === 'paragraph' ? item[0].spans.map(spanOf) : item.map(blockOf)}
        </li>
      ))
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>
    }
    default:
      return (
        <table tabIndex={0}>
          <thead>{rowOf('th', block.head, 0)}</thead>
          <tbody>{block.rows.map((row, i) => rowOf('td', row, i))}</tbody>
        </table>
      )
  }
}

const rowOf = (Cell: 'th' | 'td', cells: readonly (readonly TextSpan[])[], key: number) => (
  <tr key={key}>
    {cells.map((cell, i) => (
      <Cell key={i}>{cell.map(spanOf)}</Cell>
    ))}
  </tr>
)

function spanOf(span: TextSpan): ComponentChildren {
  if ('text' in span) return span.kind === 'text' ? span.text : <code>{span.text}</code>
  const inner = span.spans.map(spanOf)
  if (span.kind === 'link')
    return span.href.startsWith('/') ? (
      <a href={href(span.href)}>{inner}</a>
    ) : (
      <a href={span.href} target="_blank" rel="noopener noreferrer nofollow">
        {inner}
      </a>
    )
  if (span.kind === 'strong') return <strong>{inner}</strong>
  return span.kind === 'em' ? <em>{inner}</em> : <del>{inner}</del>
}
