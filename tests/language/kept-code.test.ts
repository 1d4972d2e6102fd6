// What the compiler makes of scripts, as it did when this was written down.
//
// What is computed ahead, what is kept of the past and what is left out is decided by the plan. Where it decides worse, a
// script plots the same and takes longer, which no result tells. A line has how many columns a script is given and how long
// its code is; the number behind them stands for the code itself, hoisted and not, shared between runs, and for other
// series. Where a change is meant, `UPDATE=1 bun test` writes them again: what got longer is the review.

import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { sample } from 'fast-check'
import type { Program } from '../../src/language/2-check/program.ts'
import { walkBlock } from '../../src/language/2-check/walk.ts'
import { planProgram } from '../../src/language/3-plan/plan.ts'
import { callsOn, sliceProgram } from '../../src/language/3-plan/slice.ts'
import { generate } from '../../src/language/4-generate/generate.ts'
import { compile } from '../../src/language/compile.ts'
import { LIBRARIES, SAMPLES } from './damaged-scripts.ts'
import { scripts } from './random-script.ts'

const KEPT = `${import.meta.dir}/kept-code.txt`
const DATA = `${import.meta.dir}/../../data`
const OPTIONS = {
  library: (user: string, library: string, version: number) =>
    LIBRARIES[`${user}/${library}/${version}`] ?? null,
}

const stored = ['samples', 'indicators'].flatMap((folder) =>
  readdirSync(`${DATA}/${folder}`)
    .filter((name) => name.endsWith('.pine'))
    .sort()
    .map((name) => [name, readFileSync(`${DATA}/${folder}/${name}`, 'utf8')] as const),
)
const random = sample(scripts, { seed: 1, numRuns: 400 }).map(
  (body) => `//@version=6\nindicator("x")\n${body}\n`,
)

/** What is asked of other series from within functions, branches and loops, with all that it stands on. */
const REQUESTS = [
  'f(x) => request.security(syminfo.tickerid, "D", ta.sma(x, 3))\nplot(f(close))\nplot(f(open[1]))',
  `var n = 0
n += 1
length = input.int(3)
inner(x, frame) =>
    doubled = x * 2 + n
    request.security("X:A", frame, ta.ema(doubled, length) - doubled[1])
outer(source, frame) =>
    inner(source, frame) + inner(source[2], frame)
plot(close > open ? outer(high, "60") : outer(low, "D"))`,
  `type Point
    float price
    int at = 0
var Point last = Point.new(close)
if close > last.price
    last := Point.new(close, bar_index)
moved(Point p, float by) =>
    p.price += by
    p.price
[top, bottom] = request.security("X:B", "240", [last.price + moved(last, 1), ta.lowest(low, 5)])
plot(top - bottom)`,
  `sum = 0.0
for i = 0 to 3
    sum += request.security("X:C", "D", close[1]) * i
var list = array.new<float>()
list.push(sum)
levels = request.security_lower_tf("X:C", "5", list.size() > 2 ? list.avg() : hl2)
plot(levels.size() > 0 ? levels.first() : na)`,
]

/** Where requests stand, and by which calls of functions a run comes there first. */
function requestsIn(block: Program['body'], path: string, found = new Map<number, string>()) {
  walkBlock(block, (expr) => {
    if (expr.kind === 'UserCall') requestsIn(expr.fn.body, `${path}/${expr.site}`, found)
    if (expr.kind === 'BuiltinCall' && expr.builtin.name.startsWith('request.') && !found.has(expr.site))
      found.set(expr.site, path)
  })
  return found
}

/** How many columns and letters; and the code, all of it. */
function madeOf(source: string): readonly [columns: number, letters: number, code: string] {
  const { script } = compile(source, OPTIONS)
  if (!script) return [0, 0, 'refused']
  const { program } = script
  const generated = ({ hoist = true, apart = false, trades = true }, of = program) =>
    generate(planProgram(of, { hoist, guard: apart }), { trades, apart })
  const made = generated({})
  const paths = requestsIn(program.body, '')
  const slices = made.requests.map(({ site, wanted }) =>
    generated({ trades: false }, sliceProgram(program, callsOn(program, paths.get(site) ?? ''), wanted)),
  )
  const texts = [made, ...slices, generated({ hoist: false }), generated({ apart: true })].map(
    ({ text, columns, tracks, shares }) => [text, columns, tracks, shares.map((one) => one.columns.length)],
  )
  return [made.columns.length, made.text.length, JSON.stringify(texts)]
}

function lineOf(name: string, sources: readonly string[]): string {
  const made = sources.map(madeOf)
  const sum = (place: 0 | 1) => made.reduce((total, one) => total + one[place], 0)
  const hash = Bun.hash.crc32(made.map(([, , code]) => code).join('\n')).toString(36)
  return `${name}: ${sum(0)} columns, ${sum(1)} letters, ${hash}`
}

const written = [
  ...stored.map(([name, source]) => lineOf(name, [source])),
  ...SAMPLES.map((source, k) => lineOf(`sample ${k + 1}`, [source])),
  ...REQUESTS.map((body, k) => lineOf(`requests ${k + 1}`, [`//@version=6\nindicator("x")\n${body}\n`])),
  ...Array.from({ length: 40 }, (_, k) => lineOf(`random ${k + 1}`, random.slice(10 * k, 10 * k + 10))),
]
if (Bun.env['UPDATE'] === '1') await Bun.write(KEPT, `${written.join('\n')}\n`)
const kept = (await Bun.file(KEPT).text()).trim().split('\n')

test.each(written.map((line, k) => [line.replace(/: .*/, ''), line, k] as const))(
  'of %s it makes what it made',
  (_name, line, k) => {
    expect(line).toBe(kept[k]!)
  },
)
