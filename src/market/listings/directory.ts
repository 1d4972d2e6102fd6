// Searches lists of symbols: by ticker, by a word of the name, by exchange with TradingView's prefix (`NASDAQ:AAPL`), by type.
//
// A list is one text with a line a symbol, shortest tickers first, and a search is a few passes over its bytes: exact tickers,
// tickers that begin with the word, names that do, words of names, anything. 100,000 symbols are 13 MB, and a pass takes half a
// millisecond, where an index of all their parts would take 80 MB.

import { SYMBOL_TYPES, type SymbolType } from '../../lib/symbol-type.ts'
import type { Listing } from './listing.ts'

export interface SymbolQuery {
  readonly text: string
  readonly exchange?: string | undefined
  readonly type?: SymbolType | undefined
  readonly limit: number
}

/** A list, made ready to be searched. Each text begins with the end of a line, so that its first is found as the others are. */
export interface PackedList {
  /** A line a symbol: ticker, name, exchange, type, with tabs between them. */
  readonly text: Buffer
  /** The same lines, as they are compared. */
  readonly folded: Buffer
  /** Where the lines begin, in both. */
  readonly starts: Uint32Array
  readonly foldedStarts: Uint32Array
}

/** Letters without their accents, in upper case. */
const fold = (text: string): string => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toUpperCase()

/** Lets others have their turn. */
type Pause = () => Promise<void>

/** How many lines are written in one go. */
const LINES_AT_ONCE = 5000

export async function listText(all: readonly Listing[], pause: Pause): Promise<string> {
  // In small groups, since sorting all of them at once would take a tenth of a second.
  const groups = Map.groupBy(all, ({ symbol }) => String.fromCharCode(symbol.length) + symbol.slice(0, 2))
  await pause()
  const parts: string[] = []
  let lines = 0
  for (const name of [...groups.keys()].sort()) {
    const group = sorted(groups.get(name) ?? [])
    for (const { symbol, name: called, exchange, type } of group)
      parts.push(`${symbol}\t${called}\t${exchange}\t${type}\n`)
    lines += group.length
    if (lines < LINES_AT_ONCE) continue
    lines = 0
    await pause()
  }
  return parts.join('')
}

const sorted = (some: readonly Listing[]) =>
  some.toSorted((a, b) =>
    a.symbol < b.symbol ? -1 : a.symbol > b.symbol ? 1 : a.exchange < b.exchange ? -1 : 1,
  )

const FOLDED_AT_ONCE = 256 * 1024

/** From the text that `listText` makes. */
export async function packList(text: string, pause: Pause): Promise<PackedList> {
  const pieces: Buffer[] = [Buffer.from('\n')]
  // A letter and its accent are not in two pieces, since a piece ends with a line.
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at + FOLDED_AT_ONCE) + 1 || text.length
    pieces.push(Buffer.from(fold(text.slice(at, end))))
    at = end
    await pause()
  }
  const whole = Buffer.from(`\n${text}`)
  const folded = Buffer.concat(pieces)
  await pause()
  return { text: whole, folded, starts: startsOf(whole), foldedStarts: startsOf(folded) }
}

const LINE_END = 10

function startsOf(text: Buffer): Uint32Array {
  const starts: number[] = []
  for (let at = text.indexOf(LINE_END); at >= 0; at = text.indexOf(LINE_END, at + 1)) starts.push(at + 1)
  return Uint32Array.from(starts)
}

export const countOf = ({ starts }: PackedList): number => starts.length - 1

/** The best of all lists, best first. */
export function searchLists(lists: readonly PackedList[], query: SymbolQuery): Listing[] {
  const wanted = wantedOf(query)
  const found: Listing[] = []
  const seen = lists.map(() => new Set<number>())
  for (const pass of wanted.passes)
    for (const [i, list] of lists.entries()) {
      if (found.length >= query.limit) return found
      collect(list, pass, wanted, seen[i]!, found)
    }
  return found
}

interface Wanted extends SymbolQuery {
  /** What lines are found by, the best first. */
  readonly passes: readonly string[]
  /** What must be in a line. */
  readonly parts: readonly string[]
}

function collect(list: PackedList, pass: string, query: Wanted, seen: Set<number>, found: Listing[]): void {
  const { folded, foldedStarts } = list
  for (let at = folded.indexOf(pass); at >= 0 && found.length < query.limit;) {
    const line = lineAt(foldedStarts, at + 1)
    if (line >= countOf(list)) return
    const [start, end] = [foldedStarts[line]!, foldedStarts[line + 1]! - 1]
    // No line before the next one that has the rarest of the parts can be meant.
    const furthest = Math.max(start, ...query.parts.map((part) => placeOf(folded, part, start)))
    if (furthest === Infinity) return
    if (furthest > end) at = folded.indexOf(pass, foldedStarts[lineAt(foldedStarts, furthest)]! - 1)
    else {
      const one = seen.has(line) ? null : listingAt(list, line)
      seen.add(line)
      if (one && fits(one, query)) found.push(one)
      at = folded.indexOf(pass, end)
    }
  }
}

function placeOf(folded: Buffer, part: string, from: number): number {
  const at = folded.indexOf(part, from)
  return at < 0 ? Infinity : at
}

function fits(one: Listing, { exchange = '', type }: Wanted): boolean {
  return one.exchange.startsWith(exchange) && (type === undefined || one.type === type)
}

/** The line that a place in the text is in. */
function lineAt(starts: Uint32Array, place: number): number {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (starts[middle]! <= place) low = middle
    else high = middle - 1
  }
  return low
}

function listingAt({ text, starts }: PackedList, line: number): Listing {
  const [symbol = '', name = '', exchange = '', type = ''] = text
    .toString('utf8', starts[line], starts[line + 1]! - 1)
    .split('\t')
  return { symbol, name, exchange, type: SYMBOL_TYPES.find((one) => one === type) ?? 'stock' }
}

const WORDS_MAX = 8

/** TradingView's prefix counts as the exchange does. */
function wantedOf({ text, ...query }: SymbolQuery): Wanted {
  const [, prefix, rest = ''] = /^\s*([^:\s]+):(.*)$/s.exec(text) ?? [null, undefined, text]
  const words = fold(rest).split(/\s+/).filter(Boolean).slice(0, WORDS_MAX)
  const exchange = fold(prefix ?? query.exchange ?? '')
  const [longest = ''] = words.toSorted((a, b) => b.length - a.length)
  const passes = [
    ...words.map((word) => `\n${word}\t`),
    ...words.map((word) => `\n${word}`),
    ...(longest === ''
      ? [exchange === '' ? '\n' : `\t${exchange}`]
      : [`\t${longest}`, ` ${longest}`, longest]),
  ]
  const parts = [
    ...words,
    ...(exchange === '' ? [] : [`\t${exchange}`]),
    ...(query.type === undefined ? [] : [`\t${fold(query.type)}\n`]),
  ]
  return { ...query, text, exchange, passes, parts }
}
