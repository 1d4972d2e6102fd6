// Facts of TradingView as cases: a folder with bars.json and a file of cases for each source (tests/parity/spec/README.md says
// what one looks like). A case holds whole or not: there is nothing between.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Problem } from '../../lib/problem.ts'
import { NEWEST_DAY } from '../../language/behaviour.ts'
import type { Bars } from '../../market/bars.ts'
import { memoOf } from '../../lib/memo.ts'
import {
  type CaseVerdict,
  type ParityCase,
  type ParityResult,
  type Ran,
  requestFor,
  symbolOf,
  type SymbolFacts,
} from './case.ts'
import { barsOf } from './files.ts'

const maybe = <S extends TSchema>(schema: S) => Type.Optional(schema)
const exact = { additionalProperties: false }
const Cell = Type.Union([Type.Number(), Type.Null()])
const Scalar = Type.Union([Type.Number(), Type.String(), Type.Boolean()])

const Trade = Type.Object(
  {
    entry: Type.String(),
    entryBar: Type.Integer(),
    entryPrice: maybe(Type.Number()),
    /** Above 0 = long. */
    size: maybe(Type.Number()),
    exit: maybe(Type.String()),
    exitBar: maybe(Type.Integer()),
    exitPrice: maybe(Type.Number()),
    profit: maybe(Type.Number()),
    commission: maybe(Type.Number()),
  },
  exact,
)

const Expected = Type.Object(
  {
    /** By title, a value a bar; null = na, a single value = that of the last bar. */
    plots: maybe(Type.Record(Type.String(), Type.Union([Cell, Type.Array(Cell)]))),
    /** What log.info() says, line by line. */
    logs: maybe(Type.Array(Type.String())),
    /** The closed trades. */
    trades: maybe(Type.Array(Trade)),
    /** It does not compile: the code of TradingView's message; '' where that is not known. */
    refused: maybe(Type.String()),
    /** The run ends: the code of TradingView's message, '' where that is not known. */
    stops: maybe(Type.String()),
    /** It compiles and runs to the last bar. */
    runs: maybe(Type.Literal(true)),
  },
  { ...exact, minProperties: 1 },
)

const SpecCase = Type.Object(
  {
    id: Type.String({ minLength: 1 }),
    /** The fact, in one sentence. */
    fact: Type.String({ minLength: 1 }),
    /** The rule of src/language/RULES.md or src/broker/RULES.md that says it. */
    rule: maybe(Type.String()),
    script: Type.Array(Type.String(), { minItems: 1 }),
    /** A name in bars.json. */
    bars: maybe(Type.String()),
    inputs: maybe(Type.Record(Type.String(), Scalar)),
    overrides: maybe(Type.Record(Type.String(), Scalar)),
    /** The day of whose TradingView it is; the newest if left out. */
    asOf: maybe(Type.String()),
    expected: Expected,
  },
  exact,
)
const SpecFile = Type.Object(
  {
    /** Who measured it, where and when. */
    source: Type.String({ minLength: 1 }),
    cases: Type.Array(SpecCase, { minItems: 1 }),
  },
  exact,
)
type SpecCase = Static<typeof SpecCase>

interface SpecBars {
  readonly symbol: SymbolFacts
  readonly interval: string
  /** Time (ms UTC), open, high, low, close, volume; null = na. */
  readonly bars: readonly (readonly (number | null)[])[]
}

/** What an engine says of a case, whichever engine it is. */
const Answer = Type.Object({
  plots: maybe(Type.Record(Type.String(), Type.Array(Cell))),
  logs: maybe(Type.Array(Type.String())),
  trades: maybe(Type.Array(Type.Object({ ...Type.Partial(Trade).properties }))),
  /** Why it does not compile, or why the run ended; with TradingView's code in it where there is one. */
  refused: maybe(Type.String()),
  stops: maybe(Type.String()),
})
type Answer = Static<typeof Answer>

interface FoundCase {
  readonly source: string
  readonly one: SpecCase
  readonly of: SpecBars
}

/** All cases of the folder, a file of them after the other. */
function casesIn(folder: string): FoundCase[] {
  const given = JSON.parse(readFileSync(join(folder, 'bars.json'), 'utf8')) as Record<string, SpecBars>
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json') && name !== 'bars.json')
    .toSorted()
    .flatMap((name) => {
      const { source, cases } = readSpec(join(folder, name))
      return cases.map((one) => {
        const of = given[one.bars ?? 'few']
        if (!of) throw new Problem(422, 'validation_failed', `bars.json has no bars "${one.bars}".`)
        return { source, one, of }
      })
    })
}

/** The cases for this engine; the suite of one is `facts: ` and its source. */
export function specCases(folder: string): ParityCase[] {
  const barsBy = memoOf((of: SpecBars) => barsOf(of.bars.map((row) => row.map((cell) => cell ?? NaN))))
  return casesIn(folder).map((found) => caseOf(found, barsBy(found.of)))
}

/**
 * Runs the cases with another engine: `command` is called once for each, with the case as JSON on its standard input, and answers
 * with JSON (tests/parity/spec/README.md). What it says on standard error is passed on.
 */
export function* foreignResults(
  folder: string,
  command: string,
  only: readonly string[] = [],
): Generator<ParityResult> {
  for (const { source, one, of } of casesIn(folder)) {
    if (only.length > 0 && !only.some((name) => one.id.startsWith(name))) continue
    const { expected, fact: _, rule: __, bars: ___, ...asked } = one
    const input = {
      inputs: {},
      overrides: {},
      asOf: NEWEST_DAY,
      ...asked,
      script: one.script.join('\n'),
      ...of,
    }
    const started = performance.now()
    const { stdout, exitCode } = Bun.spawnSync(['sh', '-c', command], {
      stdin: new TextEncoder().encode(JSON.stringify(input)),
      stderr: 'inherit',
      timeout: FOREIGN_MS,
    })
    const answer = answerIn(stdout.toString())
    const first =
      typeof answer === 'string' ? `${answer}; it ended with ${exitCode}` : differenceOf(expected, answer)
    yield { suite: `facts: ${source}`, id: one.id, ...verdict(first), ms: performance.now() - started }
  }
}
const FOREIGN_MS = 60_000

function answerIn(text: string): Answer | string {
  try {
    const value: unknown = JSON.parse(text)
    const wrong = Value.Errors(Answer, value).First()
    return wrong ? `its answer at ${wrong.path || '/'}: ${wrong.message}` : (value as Answer)
  } catch {
    return 'it did not answer with JSON'
  }
}

function readSpec(file: string): Static<typeof SpecFile> {
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
  const wrong = Value.Errors(SpecFile, value).First()
  if (wrong) throw new Problem(422, 'validation_failed', `${file} at ${wrong.path || '/'}: ${wrong.message}.`)
  return value as Static<typeof SpecFile>
}

function caseOf({ source, one, of }: FoundCase, bars: Bars): ParityCase {
  return {
    suite: `facts: ${source}`,
    id: one.id,
    request: {
      ...requestFor(one.script.join('\n'), bars, symbolOf(of.symbol), of.interval),
      inputs: one.inputs ?? {},
      overrides: one.overrides ?? {},
      asOf: one.asOf ?? NEWEST_DAY,
    },
    check: (ran) => verdict(differenceOf(one.expected, answerOf(ran))),
    failed: (problem, told) =>
      verdict(
        differenceOf(one.expected, problem.code === 'script_invalid' ? { refused: told } : { stops: told }),
      ),
  }
}

function answerOf({ plots, logs, trades }: Ran): Answer {
  const closed = trades.filter(({ status }) => status === 'closed')
  return {
    plots: Object.fromEntries([...plots].map(([title, column]) => [title, [...column]])),
    logs: [...logs],
    trades: closed.map((one) => ({
      entry: one.entryId,
      entryBar: one.entryBar,
      entryPrice: one.entryPrice,
      size: one.side === 'long' ? one.qty : -one.qty,
      exit: one.exitId,
      exitBar: one.exitBar,
      exitPrice: one.exitPrice,
      profit: one.profit,
      commission: one.commission,
    })),
  }
}

const verdict = (first: string | null): CaseVerdict => ({ exact: first === null ? 1 : 0, total: 1, first })

function differenceOf(expected: SpecCase['expected'], answer: Answer): string | null {
  for (const [end, says] of [
    ['refused', 'it compiles'],
    ['stops', 'it runs to the end'],
  ] as const) {
    const [want, got] = [expected[end], answer[end]]
    if (want !== undefined && got === undefined) return `${says}, ${want || end} expected`
    if (got !== undefined) return want !== undefined && got.includes(want) ? null : got
  }
  for (const [title, want] of Object.entries(expected.plots ?? {})) {
    const column = answer.plots?.[title]
    if (!column) return `there is no plot ${title}`
    const wanted = Array.isArray(want) ? want : [want]
    const from = Array.isArray(want) ? 0 : column.length - 1
    for (const [i, cell] of wanted.entries()) {
      const got = column[from + i] ?? NaN
      if (!sameCell(cell, got)) return `${title} on bar ${from + i}: ${cell ?? 'na'} expected, ${got} found`
    }
  }
  for (const [i, want] of (expected.logs ?? []).entries())
    if (answer.logs?.[i] !== want)
      return `log ${i + 1}: ${want} expected, ${answer.logs?.[i] ?? 'none'} found`
  return expected.trades === undefined ? null : tradesDifference(expected.trades, answer.trades ?? [])
}

function sameCell(want: number | null, got: number): boolean {
  return want === null ? Number.isNaN(got) : Math.abs(want - got) <= 1e-8 * Math.max(1, Math.abs(want))
}

function tradesDifference(
  wanted: readonly Static<typeof Trade>[],
  trades: NonNullable<Answer['trades']>,
): string | null {
  for (let i = 0; i < Math.max(wanted.length, trades.length); i++) {
    const [want, got] = [wanted[i], trades[i]]
    if (!want) return `trade ${i + 1}: one more, entered on bar ${got!.entryBar}`
    if (!got) return `trade ${i + 1}: missing`
    for (const [name, value] of Object.entries(want)) {
      const other = got[name as keyof typeof want]
      if (typeof value === 'number' && typeof other === 'number' ? !sameCell(value, other) : value !== other)
        return `trade ${i + 1}: ${name} ${value} expected, ${other} found`
    }
  }
  return null
}
