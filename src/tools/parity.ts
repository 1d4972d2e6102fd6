// The parity runner runs Pine scripts on bars and compares the results with TradingView's own numbers.
//
//     bun src/tools/parity.ts PATH [--only A,B] [--jsonl]
//
// PATH is a manifest (`parity/manifest.ts`), a folder in our own layout (lists.json, micro.json, ta.json, other.json) or in
// that of a repository of probes (validation/<name>/{strategy.pine,tv_trades.csv} and data/*.csv). Every case reports how
// many of its trades or values are exact, and the first that is not.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine, refused } from './command-line.ts'
import { type ParityCase, runCase } from './parity/case.ts'
import { manifestCases } from './parity/manifest.ts'
import { ownCases } from './parity/own.ts'
import { probeCases } from './parity/probes.ts'

/** All cases of a manifest, or of a folder in either layout. `left` is called with each case that expects nothing. */
export function parityCases(
  path: string,
  only: readonly string[] = [],
  left: (line: string) => void = () => {},
): ParityCase[] {
  const cases = path.endsWith('.json')
    ? manifestCases(path, left)
    : existsSync(join(path, 'validation'))
      ? probeCases(path)
      : ownCases(path)
  return only.length === 0 ? cases : cases.filter((one) => only.some((name) => one.id.startsWith(name)))
}

/** The command: prints each case as it is done, and a line for each suite. Answers true if all are exact. */
export function parityCommand(args: readonly string[], print: (line: string) => void): boolean {
  const dir = args.find((arg) => !arg.startsWith('--')) ?? '../shared/parity'
  const onlyAt = args.indexOf('--only')
  const only = onlyAt >= 0 ? (args[onlyAt + 1] ?? '').split(',') : []
  const jsonl = args.includes('--jsonl')
  const suites = new Map<string, { exact: number; total: number; whole: number; cases: number }>()
  for (const one of parityCases(dir, only, print)) {
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

const HELP = `bun src/tools/parity.ts PATH [--only A,B] [--jsonl]

Runs scripts and says how many of the numbers expected of them come out exactly.

  PATH          A manifest, or a folder of lists, or of probes with their trades
  --only A,B    Cases whose names begin so
  --jsonl       A line of JSON a case`

if (import.meta.main) {
  const { values, positionals } = commandLine(
    HELP,
    { only: { type: 'string' }, jsonl: { type: 'boolean' } },
    { allowPositionals: true },
  )
  const [path] = positionals
  if (path !== undefined && !existsSync(path)) refused(HELP, `There is no ${path}.`)
  const args = [
    ...(path === undefined ? [] : [path]),
    ...(values.only === undefined ? [] : ['--only', values.only]),
    ...(values.jsonl ? ['--jsonl'] : []),
  ]
  const whole = parityCommand(args, (line) => {
    console.log(line)
  })
  process.exitCode = whole ? 0 : 1
}
