// Whatever the text, there is a tree: random soups of tokens and damaged samples. A failing run is repeated with
// SEED=… as printed.

import { expect, test } from 'bun:test'
import process from 'node:process'
import { tokenize } from '../../src/language/1-parse/lexer.ts'
import { parse } from '../../src/language/1-parse/parser.ts'
import { format } from '../../src/language/format.ts'
import { scriptText } from './tree-text.ts'
import { rounds } from '../long.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
console.log(`SEED=${seed}`)

const WORDS =
  `if else for while switch to by in var varip type enum method export import as break continue return true na and or not x y f
   float int array map close ta.sma const simple series = := += == != <= >= < > => =< ? : , . ( ) [ ] + - * / % || && ! ; { } @ # #ff0000 #12
   1 .5 1e5 1x "a" 'b' " ' """ // /* */ //@version=5`.split(/\s+/)
const BREAKS = ['\n', '\n    ', '\n        ', '\n  ', '\n\t', '\r\n', '\n      ', '\n ', ' \u00a0', '\ufeff']

const SAMPLE = `//@version=6
strategy("Sample", overlay = true, initial_capital = 10000)
import user/lib/1 as lib
enum Side
    long = "Long"
    short
type Trade
    float price = 0.0
    array<lib.Leg> legs
method add(Trade this, simple float price = na) =>
    this.price := price
    [this.price, na]
f(a, b = 1) => a + b > 1 ? close[1] : (a - b)[2]
var map<string, float> m = map.new<string, float>()
[x, _] = request.security(syminfo.tickerid, "D", [open, close])
float v = if x > 1 and not na(x)
    for i = 0 to 10 by 2
        if i == 5
            break
        x[i]
else if x < 0
    -1
else
    switch m.size()
        0 => 1.5
        1 =>
            a = 1, b = 2
            a * b
        => na
if ta.crossover(close, ta.ema(close,
     20)) or
     barstate.islast
    strategy.entry('long', strategy.long, comment = "it's")
for [i, leg] in legs
    while i < 3
        i += 1
plot(v, color = color.new(#ff0000, 50)) // done
`

function generator(start: number): (below: number) => number {
  // mulberry32
  let state = start
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

const pick = <T>(items: readonly T[], random: (below: number) => number): T =>
  items[random(items.length)] as T

/** Every child lies within its parent. */
function checkSpans(node: unknown, start: number, end: number): void {
  if (Array.isArray(node)) for (const child of node) checkSpans(child, start, end)
  else if (typeof node === 'object' && node !== null) {
    const { start: from = start, end: to = end } = node as { start?: number; end?: number }
    if (from < start || to > end || to < from)
      throw new Error(`${JSON.stringify(node)} is not within ${start}-${end}`)
    for (const child of Object.values(node)) checkSpans(child, from, to)
  }
}

function check(source: string): void {
  const { script, diagnostics } = parse(source)
  checkSpans(script, 0, source.length)
  scriptText(script)
  for (const { start, end } of diagnostics) {
    if (start < 0 || end > source.length || end < start)
      throw new Error(`the diagnostic ${start}-${end} is outside`)
  }
  const formatted = format(source)
  const texts = (text: string): string =>
    tokenize(text)
      .tokens.map((token) => token.text.trimEnd())
      .join(' ')
  if (texts(formatted) !== texts(source)) throw new Error('formatting changed tokens')
  if (format(formatted) !== formatted) throw new Error('formatting twice changed something')
}

function checkAll(count: number, make: (random: (below: number) => number) => string): void {
  const random = generator(seed)
  for (let i = 0; i < count; i++) {
    const source = make(random)
    try {
      check(source)
    } catch (error) {
      throw new Error(`SEED=${seed}: ${String(error).slice(0, 300)} ${JSON.stringify(source)}`, {
        cause: error,
      })
    }
  }
}

test('a soup of tokens has a tree', () => {
  checkAll(rounds(3000), (random) => {
    const words = Array.from({ length: random(60) }, () =>
      random(4) === 0 ? pick(BREAKS, random) : pick(WORDS, random) + (random(5) === 0 ? '' : ' '),
    )
    return words.join('')
  })
})

test('a damaged script has a tree', () => {
  checkAll(rounds(1500), (random) => {
    let source = SAMPLE
    for (let edits = 1 + random(6); edits > 0; edits--) {
      const at = random(source.length)
      const cut = random(3) === 0 ? random(30) : random(2)
      const insert = random(2) === 0 ? pick(random(2) === 0 ? BREAKS : WORDS, random) : ''
      source = source.slice(0, at) + insert + source.slice(at + cut)
    }
    return source
  })
})

test('the sample itself has no errors', () => {
  expect(parse(SAMPLE).diagnostics).toEqual([])
})
