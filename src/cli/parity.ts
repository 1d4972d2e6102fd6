// `chartroom parity`: how exactly the engine reproduces TradingView's numbers, case by case.

import { existsSync } from 'node:fs'
import { runCase } from './parity/case.ts'
import { parityCases } from './parity/cases.ts'
import { onlyOf, parseArguments, UsageError, type Command } from './command.ts'

export const parityCommand: Command = {
  name: 'parity',
  usage: 'MANIFEST.json|DIR [--only A,B] [--jsonl]',
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
      '  --jsonl               One line of JSON a case',
    ].join('\n'),
  run: ({ args, print }) => {
    const { flags, positionals } = parseArguments(args, {
      only: { type: 'string' },
      jsonl: { type: 'boolean' },
    })
    const folder = onlyOf(positionals, 'manifest or folder')
    if (!existsSync(folder)) throw new UsageError(`There is no file or folder ${folder}.`)
    const exact = measureParity(
      folder,
      { only: flags.only?.split(',') ?? [], jsonl: flags.jsonl ?? false },
      print,
    )
    return Promise.resolve(exact ? 0 : 1)
  },
}

/**
 * Prints each case as it is done, with how many of its trades or values are exact and the first that is not, and a line
 * for each suite. Answers true if all are exact.
 */
export function measureParity(
  path: string,
  { only = [], jsonl = false }: { only?: readonly string[]; jsonl?: boolean },
  print: (line: string) => void,
): boolean {
  const suites = new Map<string, { exact: number; total: number; whole: number; cases: number }>()
  for (const one of parityCases(path, only, print)) {
    const result = runCase(one)
    const sum = suites.get(one.suite) ?? { exact: 0, total: 0, whole: 0, cases: 0 }
    sum.exact += result.exact
    sum.total += result.total
    sum.cases++
    if (result.first === null) sum.whole++
    suites.set(one.suite, sum)
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
