// `chartroom parity`: how exactly the engine reproduces TradingView's numbers, case by case.

import { existsSync } from 'node:fs'
import { runCase } from './parity/case.ts'
import { parityCases } from './parity/cases.ts'
import { foreignResults } from './parity/spec.ts'
import { onlyOf, parseArguments, UsageError, type Command, switched, valued } from './command.ts'

export const parityCommand: Command = {
  name: 'parity',
  usage: 'MANIFEST.json|DIR [--only A,B] [--engine COMMAND] [--jsonl]',
  summary: "Compare the engine with TradingView's own trade lists and values.",
  help: () =>
    [
      '  MANIFEST.json         Names scripts, bars and what is expected of them, case by case: trades as',
      '                        TradingView exports them, or values a bar. With empty lists nothing is shown,',
      '                        so they do not count. A case whose export is of 24 September 2026 or later says',
      '                        so: "asOf": "2026-10-05"',
      '  DIR                   Expected numbers: lists.json, micro.json, ta.json and other.json, or',
      '                        validation/NAME/{strategy.pine,tv_trades.csv} with data/*.csv',
      '  --only A,B            Only cases whose id begins so',
      '  --engine COMMAND      Run the facts of DIR (bars.json and files of cases) with another engine: the command gets a case',
      '                        as JSON and answers with JSON, as tests/parity/spec/README.md says',
      '  --jsonl               One line of JSON a case',
    ].join('\n'),
  run: ({ args, print }) => {
    const { flags, positionals } = parseArguments(args, { ...valued('only', 'engine'), ...switched('jsonl') })
    const folder = onlyOf(positionals, 'manifest or folder')
    if (!existsSync(folder)) throw new UsageError(`There is no file or folder ${folder}.`)
    const exact = measureParity(
      folder,
      { only: flags.only?.split(',') ?? [], engine: flags.engine, jsonl: flags.jsonl ?? false },
      print,
    )
    return Promise.resolve(exact ? 0 : 1)
  },
}

interface Options {
  readonly only?: readonly string[]
  readonly jsonl?: boolean
  /** The command line of another engine. */
  readonly engine?: string | undefined
}

/**
 * Prints each case as it is done, with how many of its trades or values are exact and the first that is not, and a line
 * for each suite. Answers true if all are exact.
 */
export function measureParity(
  path: string,
  { only = [], jsonl = false, engine }: Options,
  print: (line: string) => void,
): boolean {
  const suites = new Map<string, { exact: number; total: number; whole: number; cases: number }>()
  const results = engine === undefined ? ownResults(path, only, print) : foreignResults(path, engine, only)
  for (const result of results) {
    const sum = suites.get(result.suite) ?? { exact: 0, total: 0, whole: 0, cases: 0 }
    sum.exact += result.exact
    sum.total += result.total
    sum.cases++
    if (result.first === null) sum.whole++
    suites.set(result.suite, sum)
    if (jsonl) print(JSON.stringify(result))
    else
      print(
        `${result.first === null ? '✓' : '✗'} ${result.suite}/${result.id} ${result.exact}/${result.total}${result.first === null ? '' : ` · ${result.first}`}`,
      )
  }
  let whole = true
  for (const [suite, sum] of suites) {
    whole &&= sum.whole === sum.cases
    if (!jsonl)
      print(
        `${suite}: ${sum.exact} of ${sum.total} exact (${((100 * sum.exact) / Math.max(1, sum.total)).toFixed(3)} %), ${sum.whole} of ${sum.cases} cases wholly`,
      )
  }
  return whole
}

function* ownResults(path: string, only: readonly string[], print: (line: string) => void) {
  for (const one of parityCases(path, only, print)) yield runCase(one)
}
