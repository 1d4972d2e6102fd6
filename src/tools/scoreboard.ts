// `bun run scoreboard --corpus DIR [--own DIR] [--save]`: measures how exact the engine is on public material that anybody
// can fetch.
//
// DIR contains clones named OWNER+NAME; for a missing one it prints where to get it. `--own` is a folder of exports in our
// own layout, which may not be published. `--save` writes tests/parity/SCOREBOARD.md, which the README quotes.

import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import packageJson from '../../package.json' with { type: 'json' }
import { type ParityResult, runCase } from '../cli/parity/case.ts'
import { compileAll, type Compiled } from './scoreboard/corpus.ts'
import { REASONS, SOURCES, type Source } from './scoreboard/sources.ts'
import { parityCases } from '../cli/parity/cases.ts'

const BOARD = resolve(import.meta.dir, '../../tests/parity/SCOREBOARD.md')
const SPEC = resolve(import.meta.dir, '../../tests/parity/spec')

/** What was measured of one source. */
export type Score =
  | { readonly kind: 'cases'; readonly name: string; readonly results: readonly ParityResult[] }
  /** Facts that others measured (`tests/parity/spec`): each holds or does not. */
  | { readonly kind: 'facts'; readonly results: readonly ParityResult[] }
  | { readonly kind: 'scripts'; readonly name: string; readonly compiled: Compiled }
  | { readonly kind: 'absent'; readonly source: Source }

function measure(corpus: string, own: string | null): Score[] {
  const scores: Score[] = SOURCES.map((source) => {
    const { repository: name, what } = source
    const folder = join(corpus, name.replace('/', '+'))
    if (!existsSync(folder)) return { kind: 'absent', source }
    if (what === 'scripts') return { kind: 'scripts', name, compiled: compileAll(folder) }
    return { kind: 'cases', name, results: parityCases(folder).map(runCase) }
  })
  scores.push({ kind: 'facts', results: parityCases(SPEC).map(runCase) })
  if (own === null) return scores
  const suites = Map.groupBy(parityCases(own).map(runCase), ({ suite }) => suite)
  const ours = [...suites].map(([suite, results]): Score => ({
    kind: 'cases',
    name: `our exports: ${suite}`,
    results,
  }))
  return [...ours, ...scores]
}

/** The page, in Markdown. `date` is an ISO date. */
export function boardOf(scores: readonly Score[], version: string, date: string): string {
  const cases = scores.flatMap((score) => (score.kind === 'cases' ? [score] : []))
  const scripts = scores.flatMap((score) => (score.kind === 'scripts' ? [score] : []))
  const absent = scores.flatMap((score) => (score.kind === 'absent' ? [score.source] : []))
  const differing = cases.flatMap(({ results }) => results.filter(({ first }) => first !== null))
  const stops = sumOf(scripts.map(({ compiled }) => compiled.stops))
  return [
    '# How exact it is',
    '',
    `Chartroom ${version}, ${date}. \`bun run scoreboard --corpus DIR --save\` makes this page.`,
    '',
    '## Trades and values',
    '',
    'Our exports are trades and values that TradingView made of scripts of ours. They may not be handed on.',
    '',
    ...table(
      ['source', 'exact', 'of', 'share', 'cases wholly exact'],
      cases.map(({ name, results }) => {
        const exact = results.reduce((sum, one) => sum + one.exact, 0)
        const total = results.reduce((sum, one) => sum + one.total, 0)
        const whole = results.filter(({ first }) => first === null).length
        return [name, figure(exact), figure(total), share(exact, total), `${whole} of ${results.length}`]
      }),
    ),
    '',
    ...scores.flatMap((score) => (score.kind === 'facts' ? factsPart(score.results) : [])),
    '## Scripts that compile',
    '',
    ...table(
      ['source', 'compile', 'of', 'share', 'no Pine of TradingView'],
      scripts.map(({ name, compiled }) => [
        name,
        figure(compiled.compile),
        figure(compiled.scripts - compiled.foreign),
        share(compiled.compile, compiled.scripts - compiled.foreign),
        figure(compiled.foreign),
      ]),
    ),
    '',
    'The last column is not counted: pieces without a declaration, and orders in an indicator, which another platform takes.',
    '',
    ...(stops.size > 0 ? ['What the others stop at, by their first error:', ''] : []),
    ...[...stops].map(([code, count]) => `- ${count} at \`${code}\``),
    '',
    '## Differences, by name',
    '',
    ...differing.map(
      ({ id, exact, total, first }) =>
        `- \`${id}\` (${figure(exact)} of ${figure(total)}): ${REASONS[id] ?? `no reason is known; ${first}`}.`,
    ),
    ...(differing.length === 0 ? ['None.'] : []),
    '',
    '## How to fetch it',
    '',
    ...SOURCES.map(
      ({ repository, licence }) =>
        `- \`git clone https://github.com/${repository} ${repository.replace('/', '+')}\` (licence: ${licence})${absent.some((one) => one.repository === repository) ? ', not measured this time' : ''}`,
    ),
    '',
  ].join('\n')
}

function factsPart(results: readonly ParityResult[]): string[] {
  const holding = (some: readonly ParityResult[]) => some.filter(({ first }) => first === null).length
  const missed = results.filter(({ first }) => first !== null)
  return [
    '## Facts',
    '',
    `Facts of TradingView that others measured, as scripts of ours (\`tests/parity/spec\`): ${figure(holding(results))} of ${figure(results.length)} hold.`,
    '',
    ...table(
      ['source', 'hold', 'of'],
      [...Map.groupBy(results, ({ suite }) => suite.replace('facts: ', ''))].map(([source, some]) => [
        source,
        figure(holding(some)),
        figure(some.length),
      ]),
    ),
    '',
    ...missed.map(({ id, first }) => `- \`${id}\`: ${first}.`),
    ...(missed.length > 0 ? [''] : []),
  ]
}

const figure = (count: number) => count.toLocaleString('en-US')
const share = (part: number, whole: number) => `${((100 * part) / Math.max(1, whole)).toFixed(3)} %`

function sumOf(maps: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const map of maps) for (const [name, count] of map) sums.set(name, (sums.get(name) ?? 0) + count)
  return new Map([...sums].toSorted((a, b) => b[1] - a[1]))
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)]
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { corpus: { type: 'string' }, own: { type: 'string' }, save: { type: 'boolean' } },
  })
  if (values.corpus === undefined) {
    console.error('bun run scoreboard --corpus DIR [--own DIR] [--save]\n\nDIR should hold clones of:')
    for (const { repository } of SOURCES)
      console.error(`  https://github.com/${repository}  as  ${repository.replace('/', '+')}`)
    process.exit(2)
  }
  const scores = measure(values.corpus, values.own ?? null)
  const board = boardOf(scores, packageJson.version, new Date().toISOString().slice(0, 10))
  console.log(board)
  if (values.save) {
    writeFileSync(BOARD, board)
    Bun.spawnSync([process.execPath, 'fmt', BOARD])
  }
}
