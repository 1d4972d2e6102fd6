// Whatever the text, the checker answers: damaged samples of every version, each with parts of the others. And what it
// passes has no mistake in it: no expression of a program is of type error. Repeat a failing run with SEED=…

import { expect, test } from 'bun:test'
import process from 'node:process'
import { parse } from '../../src/language/1-parse/parser.ts'
import { check } from '../../src/language/2-check/check.ts'
import { rounds } from '../long.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
console.log(`SEED=${seed}`)

const SAMPLES = [
  `//@version=6
strategy("A", overlay = true, initial_capital = 10 * 1000)
enum Side
    long = "Long"
    short
type Trade
    float price = 0.0
    array<float> fills
method add(Trade this, float price = na) =>
    this.price := price
    this.fills.push(price)
    [this.price, this.fills.size()]
average(source, int length = 3) => ta.sma(source, length)
side = input.enum(Side.long, "Side")
length = input.int(14, "Length", minval = 1)
var trade = Trade.new(fills = array.new<float>())
[price, count] = trade.add(average(close, length))
float v = if count > 1 and not na(price)
    for i = 0 to 10 by 2
        if i == 5
            break
        close[i]
else
    switch side
        Side.long => 1.5
        => na
if ta.crossover(close, v)
    strategy.entry("L", strategy.long, comment = "it's")
for [i, fill] in trade.fills
    while i < 3
        v += fill
plot(v, color = color.new(#ff0000, 50))
`,
  `//@version=5
strategy("B")
f(x) =>
    var n = 0
    n += x > 1 ? 1 : 0
    [n, x]
[a, b] = f(high - low)
[d, _] = request.security(syminfo.tickerid, "D", [open, close], lookahead = barmerge.lookahead_on)
m = map.new<string, float>()
m.put("a", d)
l = label.new(bar_index, high, str.tostring(m.get("a")))
strategy.close("L", when = b > 1)
bool c = na
c := volume
`,
  `//@version=4
strategy("C", overlay=true)
len = input(14, "Length", type=input.integer, minval=1)
rsi = rsi(close, len)
up = crossover(rsi, 30) and close
var line l = na
if up
    l := line.new(n, low, n[1], low[1], color=red)
plot(iff(up, rsi, na), "RSI", red, transp=40)
strategy.entry("L", true, 1, when = up)
`,
] as const

function generator(start: number): (below: number) => number {
  // mulberry32
  let state = start
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below)
  }
}

function damaged(random: (below: number) => number): string {
  const pieces = SAMPLES.join('\n').split(/(?<=[\n ,(])/)
  let words = (SAMPLES[random(SAMPLES.length)] ?? '').split(/(?<=[\n ,(])/)
  for (let edits = random(5); edits >= 0; edits--) {
    const at = random(words.length)
    const cut = random(3) === 0 ? 1 + random(3) : 0
    const put = random(2) === 0 ? [pieces[random(pieces.length)] ?? ''] : []
    words = [...words.slice(0, at), ...put, ...words.slice(at + cut)]
  }
  return words.join('')
}

/** Types of all that is in a program, found without knowing its shape. */
function hasError(value: unknown, seen: Set<object>): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false
  seen.add(value)
  if ('kind' in value && value.kind === 'error') return true
  // The entries of built-ins may take any type.
  return Object.entries(value).some(
    ([key, inner]) => key !== 'builtin' && key !== 'overload' && hasError(inner, seen),
  )
}

test('the samples are sound', () => {
  for (const source of SAMPLES)
    expect(check(parse(source).script).diagnostics.filter((one) => one.severity === 'error')).toEqual([])
})

test('damaged samples are checked without an exception, and what passes has no errors inside', () => {
  const random = generator(seed)
  let passed = 0
  for (let i = 0; i < rounds(1500); i++) {
    const source = damaged(random)
    const { script, diagnostics } = parse(source)
    const result = check(script)
    if (result.program === null || diagnostics.length > 0) continue
    passed++
    if (hasError(result.program, new Set())) expect(source).toBe('without an expression of type error')
  }
  expect(passed).toBeGreaterThan(0)
})
