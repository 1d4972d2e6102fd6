// What makes the engine smaller where it is not compressed on its way, as in a package: its texts.

import { readFileSync } from 'node:fs'
import type { BunPlugin } from 'bun'
import { parseSync, visitorKeys, type Node } from 'oxc-parser'
import { LIBRARY_TEXTS } from '../language/libraries/texts.ts'
import { withoutComments } from '../server/source/portable.ts'

const TEXTS = Object.fromEntries(
  Object.entries(LIBRARY_TEXTS).map(([name, text]) => [name, withoutComments(text)]),
)

export const smallerEngine: BunPlugin = {
  name: 'smaller-engine',
  setup(build) {
    // TradingView's libraries: 67 kB of text as 20 kB, unpacked when a script imports the first of them.
    build.onLoad({ filter: /[\\/]libraries[\\/]texts\.ts$/ }, () => ({
      contents: `import { inflateSync, strFromU8 } from 'fflate'
const packed = '${Bun.deflateSync(JSON.stringify(TEXTS), { level: 12, library: 'libdeflate' }).toBase64()}'
const kept = {}
const all = () => JSON.parse(strFromU8(inflateSync(Uint8Array.from(atob(packed), (c) => c.charCodeAt(0)))))
export const libraryText = (name) => (kept.texts ??= all())[name] ?? ''`,
      loader: 'js',
    }))
    // What editors say of built-ins: 30 kB that no run reads.
    build.onLoad({ filter: /[\\/]language[\\/]builtins[\\/].*\.ts$/ }, ({ path }) => ({
      contents: withoutDocs(path, readFileSync(path, 'utf8')),
      loader: 'ts',
    }))
  },
}

/** The second argument of `fn('ta.sma', 'The mean of …', …)` and its like, and sentences in tables. */
function withoutDocs(path: string, text: string): string {
  const docs: { readonly start: number; readonly end: number }[] = []
  const visit = (node: Node) => {
    const called =
      node.type === 'CallExpression' && node.callee.type === 'Identifier' ? node.callee.name : null
    const parts =
      node.type === 'ArrayExpression'
        ? node.elements
        : node.type === 'CallExpression' && called !== null
          ? node.arguments.slice(1, 2)
          : []
    for (const part of parts)
      if (
        (part?.type === 'TemplateLiteral' && called === 'fn') ||
        (part?.type === 'Literal' && typeof part.value === 'string' && /^[A-Z].* .*\.$/.test(part.value))
      )
        docs.push(part)
    for (const key of visitorKeys[node.type] ?? []) {
      const child = (node as unknown as Record<string, unknown>)[key]
      for (const one of Array.isArray(child) ? (child as unknown[]) : [child])
        if (typeof one === 'object' && one !== null && 'type' in one) visit(one as Node)
    }
  }
  visit(parseSync(path, text).program)
  let made = text
  for (const { start, end } of docs.toSorted((a, b) => b.start - a.start))
    made = `${made.slice(0, start)}''${made.slice(end)}`
  return made
}
