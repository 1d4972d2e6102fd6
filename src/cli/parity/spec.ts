// Facts of TradingView as cases: a folder with bars.json and a file of cases for each source (tests/parity/spec/README.md says
// what one looks like). A case holds whole or not: there is nothing between.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Problem } from '../../lib/problem.ts'
import { NEWEST_DAY } from '../../language/behaviour.ts'
import type { Bars } from '../../market/bars.ts'
import { memo } from '../../lib/memo.ts'
import {
  type CaseVerdict,
  type ParityCase,
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

/** All cases of the folder; the suite of a case is `facts: ` and its source. */
export function specCases(folder: string): ParityCase[] {
  const given = JSON.parse(readFileSync(join(folder, 'bars.json'), 'utf8')) as Record<string, SpecBars>
  const barsBy = memo(100, (name: string): { of: SpecBars; bars: Bars } => {
    const of = given[name]
    if (!of) throw new Problem(422, 'validation_failed', `bars.json has no bars "${name}".`)
    return { of, bars: barsOf(of.bars.map((row) => row.map((cell) => cell ?? NaN))) }
  })
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json') && name !== 'bars.json')
    .toSorted()
    .flatMap((name) => {
      const { source, cases } = readSpec(join(folder, name))
      return cases.map((one) => caseOf(source, one, barsBy(one.bars ?? 'few')))
    })
}

function readSpec(file: string): Static<typeof SpecFile> {
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
  const wrong = Value.Errors(SpecFile, value).First()
  if (wrong) throw new Problem(422, 'validation_failed', `${file} at ${wrong.path || '/'}: ${wrong.message}.`)
  return value as Static<typeof SpecFile>
}

function caseOf(source: string, one: SpecCase, { of, bars }: { of: SpecBars; bars: Bars }): ParityCase {
  return {
    suite: `facts: ${source}`,
    id: one.id,
    request: {
      ...requestFor(one.script.join('\n'), bars, symbolOf(of.symbol), of.interval),
      inputs: one.inputs ?? {},
      overrides: one.overrides ?? {},
      asOf: one.asOf ?? NEWEST_DAY,
    },
    check: (ran) => verdict(differenceOf(one.expected, ran)),
    failed: (problem, told) => {
      const { refused, stops } = one.expected
      const code = problem.code === 'script_invalid' ? refused : stops
      return verdict(code !== undefined && told.includes(code) ? null : told)
    },
  }
}

const verdict = (first: string | null): CaseVerdict => ({ exact: first === null ? 1 : 0, total: 1, first })

function differenceOf(expected: SpecCase['expected'], ran: Ran): string | null {
  if (expected.refused !== undefined) return `it compiles, ${expected.refused} expected`
  if (expected.stops !== undefined) return `it runs to the end, ${expected.stops} expected`
  for (const [title, want] of Object.entries(expected.plots ?? {})) {
    const column = ran.plots.get(title)
    if (!column) return `there is no plot ${title}`
    const wanted = Array.isArray(want) ? want : [want]
    const from = Array.isArray(want) ? 0 : column.length - 1
    for (const [i, cell] of wanted.entries()) {
      const got = column[from + i] ?? NaN
      if (!sameCell(cell, got)) return `${title} on bar ${from + i}: ${cell ?? 'na'} expected, ${got} found`
    }
  }
  for (const [i, want] of (expected.logs ?? []).entries())
    if (ran.logs[i] !== want) return `log ${i + 1}: ${want} expected, ${ran.logs[i] ?? 'none'} found`
  return expected.trades === undefined ? null : tradesDifference(expected.trades, ran)
}

function sameCell(want: number | null, got: number): boolean {
  return want === null ? Number.isNaN(got) : Math.abs(want - got) <= 1e-8 * Math.max(1, Math.abs(want))
}

function tradesDifference(wanted: readonly Static<typeof Trade>[], ran: Ran): string | null {
  const trades = ran.trades.filter(({ status }) => status === 'closed')
  for (let i = 0; i < Math.max(wanted.length, trades.length); i++) {
    const [want, got] = [wanted[i], trades[i]]
    if (!want) return `trade ${i + 1}: one more, entered on bar ${got!.entryBar}`
    if (!got) return `trade ${i + 1}: missing`
    const found: Record<keyof Static<typeof Trade>, string | number> = {
      entry: got.entryId,
      entryBar: got.entryBar,
      entryPrice: got.entryPrice,
      size: got.side === 'long' ? got.qty : -got.qty,
      exit: got.exitId,
      exitBar: got.exitBar ?? -1,
      exitPrice: got.exitPrice ?? NaN,
      profit: got.profit,
      commission: got.commission,
    }
    for (const [name, value] of Object.entries(want)) {
      const other = found[name as keyof typeof found]
      if (typeof value === 'number' && typeof other === 'number' ? !sameCell(value, other) : value !== other)
        return `trade ${i + 1}: ${name} ${value} expected, ${other} found`
    }
  }
  return null
}
