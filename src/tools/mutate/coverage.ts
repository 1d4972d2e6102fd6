// Finds which test file runs which line, from the coverage of each file run alone (LCOV, a text format of lines `SF:file`,
// `DA:line,times`).

import { readFileSync } from 'node:fs'

export interface TestFile {
  readonly file: string
  readonly ms: number
  /** For each source file, the lines that were run. */
  readonly lines: ReadonlyMap<string, ReadonlySet<number>>
}

export function linesOf(lcov: string): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>()
  let lines = new Set<number>()
  for (const row of lcov.split('\n')) {
    if (row.startsWith('SF:')) found.set(row.slice(3), (lines = new Set()))
    const [, line, times] = /^DA:(\d+),(\d+)/.exec(row) ?? []
    if (line !== undefined && times !== '0') lines.add(Number(line))
  }
  return found
}

export function readLines(path: string): Map<string, Set<number>> {
  try {
    return linesOf(readFileSync(path, 'utf8'))
  } catch {
    // A test that loads none of the code writes no report.
    return new Map()
  }
}

/** The test files that run one of the lines from `first` to `last` of `source`, the quickest first. */
export function runnersOf(
  tests: readonly TestFile[],
  source: string,
  first: number,
  last: number,
): TestFile[] {
  const runs = ({ lines }: TestFile) => {
    const ran = lines.get(source)
    if (ran === undefined) return false
    for (let line = first; line <= last; line++) if (ran.has(line)) return true
    return false
  }
  return tests.filter(runs).sort((a, b) => a.ms - b.ms)
}
