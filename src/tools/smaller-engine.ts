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
    // TradingView's libraries: 67 kB of text as 18 kB, unpacked when a script imports the first of them.
    build.onLoad({ filter: /[\\/]libraries[\\/]texts\.ts$/ }, () => ({
      contents: `import { inflateSync } from 'fflate'
const packed = '${letters(Bun.deflateSync(JSON.stringify(TEXTS), { level: 12, library: 'libdeflate' }))}'
const kept = {}
const all = () => {
  const bytes = []
  for (let at = 0; at < packed.length; ) {
    let word = 0
    for (let i = 0; i < 5; i++) {
      const code = packed.charCodeAt(at++)
      word = word * 85 + code - 40 - (code > 92)
    }
    bytes.push(word >>> 24, word >>> 16, word >>> 8, word)
  }
  return JSON.parse(new TextDecoder().decode(inflateSync(Uint8Array.from(bytes))))
}
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

/** Five letters for four bytes, where base64 has eight for six: those from `(` to `~`, without the backslash. */
function letters(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 4) {
    let word = 0
    for (let i = at; i < at + 4; i++) word = word * 256 + (bytes[i] ?? 0)
    for (let power = 85 ** 4; power >= 1; power /= 85) {
      const digit = Math.floor(word / power) % 85
      text += String.fromCharCode(digit + (digit < 52 ? 40 : 41))
    }
  }
  return text
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
