// What programs hand over wrongly, with what they are told. No TypeScript keeps these from them.

import { expect, test } from 'bun:test'
import * as engine from '../../src/engine/engine.ts'

const DAY = 86_400_000
const rows = Array.from({ length: 40 }, (_, i) => [
  Date.UTC(2024, 0, 1) + i * DAY,
  10,
  12,
  9,
  10 + (i % 2),
  5,
])
const market = engine.barsFromRows(rows as never, { symbol: 'X:Y' })
const script =
  '//@version=6\nstrategy("s")\nn = input.int(5, "N")\nif bar_index % n == 0\n    strategy.entry("L", strategy.long)'
const CSV = 'time,open,high,low,close\n2024-01-01,1,2,0.5,1\n2024-01-02,1,2,0.5,1'
const space = [{ input: 'N', min: 2, max: 3, step: 1 }]

type Anything = Readonly<Record<keyof typeof engine, (...given: unknown[]) => unknown>>
const { barsFromCsv, barsFromRows, check, compile, run, sweep } = engine as unknown as Anything

test.each<readonly [string, () => unknown, string]>([
  ['no script', () => check(), 'script: expected a text.'],
  ['a number to compile', () => compile(4), 'script: expected a text.'],
  ['no script to run', () => run(null, market), 'script: expected a text, or what compile() answers.'],
  ['no market', () => run(script), 'market: expected a market, as barsFromCsv or barsFromRows makes it.'],
  ['rows for a market', () => run(script, rows), 'market: expected a market'],
  [
    'an option with a typing error',
    () => run(script, market, { input: { N: 3 } }),
    'there is no “input”. There are inputs,',
  ],
  ['inputs as a list', () => run(script, market, { inputs: [3] }), 'inputs: expected an object.'],
  [
    'a time that is none',
    () => run(script, market, { timeMs: 'soon' }),
    'timeMs: expected milliseconds above 0.',
  ],
  ['markets that are none', () => run(script, market, { others: [3] }), 'others/0: expected a market'],
  ['finer bars that are none', () => run(script, market, { finer: rows }), 'finer: expected a market'],
  [
    'a library that is none',
    () => run(script, market, { libraries: { 'a/b/1': 4 } }),
    'libraries/a/b/1: expected a text.',
  ],
  ['progress that is none', () => run(script, market, { progress: 5 }), 'progress: expected a function.'],
  ['no file', () => barsFromCsv(), 'file: expected a text, bytes, a stream of them or a File.'],
  [
    'pieces of something else',
    () =>
      barsFromCsv(
        new Blob([CSV]).stream().pipeThrough(new TransformStream({ transform: (_, to) => to.enqueue(5) })),
      ),
    'file: expected',
  ],
  ['an option of files with a typing error', () => barsFromCsv(CSV, { zone: 'UTC' }), 'there is no “zone”'],
  [
    'a symbol of three parts',
    () => barsFromCsv(CSV, { symbol: 'a:b:c' }),
    'symbol: expected a name such as NASDAQ:AAPL.',
  ],
  ['a symbol that is none', () => barsFromRows(rows, { symbol: 4 }), 'symbol: expected a text.'],
  [
    'a fact with a typing error',
    () => barsFromRows(rows, { facts: { minTick: 1 } }),
    'there is no “minTick”',
  ],
  ['no rows', () => barsFromRows(), 'rows: expected a list of bars.'],
  [
    'seconds',
    () => barsFromRows(rows.map(([time = 0, ...rest]) => [time / 1000, ...rest])),
    'Row 0: times are in milliseconds, and these look like seconds.',
  ],
  ['no plan', () => sweep(script, market), 'plan: expected an object.'],
  ['an empty space', () => sweep(script, market, { space: [] }), 'space: expected at least one input.'],
  [
    'values that are no list',
    () => sweep(script, market, { space: [{ input: 'N', values: 3 }] }),
    'space/0/values: expected a list of values.',
  ],
  [
    'no trials',
    () => sweep(script, market, { space, trials: 0 }),
    'trials: expected a whole number from 1 to 20000.',
  ],
  [
    'a sampler that there is not',
    () => sweep(script, market, { space, sampler: 'magic' }),
    'sampler: expected one of grid,',
  ],
  [
    'constraints as a text',
    () => sweep(script, market, { space, constraints: 'x' }),
    'constraints: expected a list of texts.',
  ],
  [
    'an objective that is none',
    () => sweep(script, market, { space, objective: 5 }),
    'objective: expected a text.',
  ],
])('%s is a Problem that names it', async (_, attempt, says) => {
  const problem: unknown = await Promise.resolve()
    .then(attempt)
    .catch((error: unknown) => error)
  expect(problem).toBeInstanceOf(engine.Problem)
  const { code, message } = problem as engine.Problem
  expect([code, message]).toEqual(['validation_failed', expect.stringContaining(says)])
})

test('a file is a text, bytes, a stream of either, or a File', async () => {
  const { bars } = await engine.barsFromCsv(CSV)
  const bytes = new TextEncoder().encode(CSV)
  async function* halves() {
    yield CSV.slice(0, 30)
    yield CSV.slice(30)
  }
  for (const file of [bytes, bytes.buffer, new Blob([CSV]), new Blob([CSV]).stream(), halves()])
    expect((await engine.barsFromCsv(file)).bars).toEqual(bars)
})
