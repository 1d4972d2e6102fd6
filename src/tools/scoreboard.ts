// `npm run scoreboard -- --corpus DIR [--own DIR] [--save]`: measures how exact the engine is on public material that anybody
// can fetch.
//
// DIR is a clone of a public corpus, or a folder of such clones under any names; what it is taken for is said first. `--own`
// is a folder of exports in our own layout, which may not be published. `--save` writes tests/parity/SCOREBOARD.md, and the table
// of it that the README quotes.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import packageJson from '../../package.json' with { type: 'json' }
import { type ParityResult, runCase } from '../cli/parity/case.ts'
import { clonesIn, compileAll, type Clone, type Compiled } from './scoreboard/corpus.ts'
import { OTHERS, REASONS, SOURCES } from './scoreboard/sources.ts'
import { parityCases } from '../cli/parity/cases.ts'

const ROOT = resolve(import.meta.dir, '../..')
const BOARD = join(ROOT, 'tests/parity/SCOREBOARD.md')
const SPEC = join(ROOT, 'tests/parity/spec')
/** The commands that make the page. */
const COMMANDS = [
  `for r in ${SOURCES.map(({ repository }) => repository).join(' ')}; do git clone --depth 1 https://github.com/$r corpus/$(echo $r | tr / +); done`,
  'npm run scoreboard -- --corpus corpus',
]

/** What was measured of one source. */
export type Score =
  /** `own`: exports of ours, which may not be handed on. */
  | {
      readonly kind: 'cases'
      readonly name: string
      readonly results: readonly ParityResult[]
      readonly own?: true
    }
  /** Facts that others measured (`tests/parity/spec`): each holds or does not. */
  | { readonly kind: 'facts'; readonly results: readonly ParityResult[] }
  | { readonly kind: 'scripts'; readonly name: string; readonly compiled: Compiled }

function measure(clones: readonly Clone[], own: string | null): Score[] {
  const scores = clones.map(({ what, name, folder }): Score =>
    what === 'scripts'
      ? { kind: 'scripts', name, compiled: compileAll(folder) }
      : { kind: 'cases', name, results: parityCases(folder).map(runCase) },
  )
  scores.push({ kind: 'facts', results: parityCases(SPEC).map(runCase) })
  if (own === null) return scores
  const suites = Map.groupBy(parityCases(own).map(runCase), ({ suite }) => suite)
  const ours = [...suites].map(([suite, results]): Score => ({
    kind: 'cases',
    name: suite,
    results,
    own: true,
  }))
  return [...ours, ...scores]
}

/** The page, in Markdown. `date` is an ISO date. */
export function boardOf(scores: readonly Score[], version: string, date: string): string {
  const cases = scores.flatMap((score) => (score.kind === 'cases' ? [score] : []))
  const scripts = scores.flatMap((score) => (score.kind === 'scripts' ? [score] : []))
  const facts = scores.flatMap((score) => (score.kind === 'facts' ? score.results : []))
  const absent = SOURCES.filter(
    ({ repository }) => !scores.some((one) => 'name' in one && one.name === repository),
  )
  return [
    '# How exact it is',
    '',
    `Chartroom ${version}, ${date}, by two commands (and exports of ours, which may not be handed on, by \`--own\`):`,
    '',
    ...COMMANDS.map((command) => `    ${command}`),
    '',
    '## In short',
    '',
    ...shortTable(scores),
    '',
    ...casesPart(cases),
    ...factsPart(facts),
    ...scriptsPart(scripts),
    '## Differences, by name',
    '',
    ...differencesOf(cases.flatMap(({ results }) => results)),
    '',
    '## What others say of themselves',
    '',
    'Their own figures, each counted as they count. None of them was run here.',
    '',
    ...table(
      ['engine', 'says', 'of', 'where', 'in common with the above'],
      OTHERS.map(({ name, says, date: of, where, common }) => [name, says, of, where, common]),
      [],
    ),
    '',
    '## Where the material is',
    '',
    ...SOURCES.map(
      (source) =>
        `- https://github.com/${source.repository} (licence: ${source.licence})${absent.includes(source) ? ', not measured this time' : ''}`,
    ),
    '',
  ].join('\n')
}

type Cases = Extract<Score, { kind: 'cases' }>

/** The table that the README quotes. */
function shortTable(scores: readonly Score[]): string[] {
  const rows: string[][] = []
  const row = (says: string, some: readonly Cases[], unit = '') => {
    const results = some.flatMap(({ results: all }) => all)
    if (results.length > 0)
      rows.push([
        says,
        `${figure(sumOf(results, 'exact'))} of ${figure(sumOf(results, 'total'))}${unit}`,
        wholeOf(results),
      ])
  }
  const cases = scores.flatMap((score) => (score.kind === 'cases' ? [score] : []))
  const own = (...suites: readonly string[]) => cases.filter((one) => one.own && suites.includes(one.name))
  row("TradingView's own lists of trades, six strategies of ours", own('lists'), ' trades')
  row('`ta.*`, time and na, value by value', own('ta', 'other'))
  row('small scripts of ours, a rule each', own('micro'))
  for (const one of cases.filter((some) => !some.own))
    row(`the public probes of ${one.name}`, [one], ' trades')
  const facts = scores.flatMap((score) => (score.kind === 'facts' ? score.results : []))
  if (facts.length > 0)
    rows.push([
      'facts that others measured of TradingView',
      `${figure(holding(facts))} of ${figure(facts.length)}`,
      '',
    ])
  const scripts = scores.flatMap((score) => (score.kind === 'scripts' ? [score.compiled] : []))
  const compile = scripts.reduce((sum, one) => sum + one.compile, 0)
  const pine = scripts.reduce((sum, one) => sum + one.scripts - one.foreign, 0)
  if (pine > 0)
    rows.push([
      "public scripts that are TradingView's Pine",
      `${figure(compile)} of ${figure(pine)} compile`,
      '',
    ])
  return table(['held against', 'exact', 'cases wholly exact'], rows)
}

function casesPart(cases: readonly Cases[]): string[] {
  if (cases.length === 0) return []
  return [
    '## Trades and values',
    '',
    ...table(
      ['source', 'exact', 'of', 'share', 'cases wholly exact'],
      cases.map(({ name, results, own }) => {
        const [exact, total] = [sumOf(results, 'exact'), sumOf(results, 'total')]
        return [
          own ? `our exports: ${name}` : name,
          figure(exact),
          figure(total),
          share(exact, total),
          wholeOf(results),
        ]
      }),
    ),
    '',
    'All cases, none selected. Of a corpus of probes the bars are its file of 15-minute bars with the most history, as its README says, and those of one minute for the bar magnifier and lower timeframes; a trade is exact if side, both minutes and both prices are, and its quantity where the script fixes it.',
    '',
  ]
}

function factsPart(results: readonly ParityResult[]): string[] {
  const missed = results.filter(({ first }) => first !== null)
  return [
    '## Facts',
    '',
    `facts: ${figure(holding(results))} of ${figure(results.length)}, by source. They are what others measured of TradingView, as scripts of ours (\`tests/parity/spec\`, whose README says how another engine runs them).`,
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

function scriptsPart(scripts: readonly Extract<Score, { kind: 'scripts' }>[]): string[] {
  if (scripts.length === 0) return []
  const stops = merged(
    scripts.map(({ compiled }) => compiled.stops),
    (a, b) => a + b,
  )
  const libraries = merged(
    scripts.map(({ compiled }) => compiled.libraries),
    ([a, b], [c, d]): readonly [number, number] => [a + c, b + d],
  )
  return [
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
    'The last column is not counted: pieces without a declaration and orders in an indicator, which another platform takes, and arguments given twice, which version 6 refuses.',
    '',
    ...(libraries.size > 0
      ? [
          'Libraries that they import (those of TradingView are built in, others are added by hand):',
          '',
          ...table(
            ['library', 'scripts', 'of them compile'],
            [...libraries]
              .toSorted((a, b) => b[1][0] - a[1][0] || a[0].localeCompare(b[0], 'en'))
              .map(([path, [all, done]]) => [path, figure(all), figure(done)]),
          ),
          '',
        ]
      : []),
    ...(stops.size > 0
      ? ["What the others are refused for, by their first error (TradingView's code behind ours):", '']
      : []),
    ...[...stops]
      .toSorted((a, b) => b[1] - a[1] || a[0].localeCompare(b[0], 'en'))
      .map(([code, count]) => `- ${count} at \`${code}\``),
    ...(stops.size > 0 ? [''] : []),
  ]
}

function differencesOf(results: readonly ParityResult[]): string[] {
  const differing = results.filter(({ first }) => first !== null)
  if (differing.length === 0) return ['None.']
  return differing.map(
    ({ id, exact, total, first, reason }) =>
      `- \`${id}\` (${figure(exact)} of ${figure(total)}): ${reason ?? REASONS[id] ?? `no reason is known; ${first}`}.`,
  )
}

const figure = (count: number) => count.toLocaleString('en-US')
const share = (part: number, whole: number) => `${((100 * part) / Math.max(1, whole)).toFixed(3)} %`
const holding = (some: readonly ParityResult[]) => some.filter(({ first }) => first === null).length
const wholeOf = (some: readonly ParityResult[]) => `${holding(some)} of ${some.length}`
const sumOf = (some: readonly ParityResult[], field: 'exact' | 'total') =>
  some.reduce((sum, one) => sum + one[field], 0)

function merged<Value>(maps: readonly ReadonlyMap<string, Value>[], add: (a: Value, b: Value) => Value) {
  const sums = new Map<string, Value>()
  for (const map of maps)
    for (const [name, value] of map) {
      const before = sums.get(name)
      sums.set(name, before === undefined ? value : add(before, value))
    }
  return sums
}

/** Columns after the first are numbers, unless `right` says which are. */
function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right?: readonly number[],
): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const isRight = (i: number) => (right ? right.includes(i) : i > 0)
  return [line(head), line(head.map((_, i) => (isRight(i) ? '---:' : '---'))), ...rows.map(line)]
}

/** Whether there is anything in it to be measured. */
const isEmpty = (score: Score) =>
  score.kind === 'scripts' ? score.compiled.scripts === 0 : score.results.length === 0

const README = join(ROOT, 'README.md')
/** The README with the board's table and date in the place of its own. */
export function withTable(readme: string, board: string): string {
  const short = /## In short\n\n(.*?)\n\n/s.exec(board)?.[1] ?? ''
  const date = /Chartroom \S+, (\S+),/.exec(board)?.[1] ?? ''
  return readme
    .replace(/(## How exact\n\n)\|.*?\n\n/s, (_, head: string) => `${head}${short}\n\n`)
    .replace(/(\(tests\/parity\/SCOREBOARD\.md\) of )[\d-]+/, (_, head: string) => `${head}${date}`)
}

function save(board: string): void {
  const format = (file: string) => Bun.spawnSync([process.execPath, 'fmt', file], { cwd: ROOT })
  writeFileSync(BOARD, board)
  format(BOARD)
  writeFileSync(README, withTable(readFileSync(README, 'utf8'), readFileSync(BOARD, 'utf8')))
  format(README)
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { corpus: { type: 'string' }, own: { type: 'string' }, save: { type: 'boolean' } },
  })
  const { corpus, own = null } = values
  if (corpus === undefined || !existsSync(corpus)) {
    if (corpus !== undefined) console.error(`There is no folder ${corpus}.\n`)
    console.error('npm run scoreboard -- --corpus DIR [--own DIR] [--save]\n\nDIR is made by:')
    for (const command of COMMANDS) console.error(`  ${command}`)
    process.exit(2)
  }
  const clones = clonesIn(corpus)
  for (const { folder, name, what, source } of clones)
    console.error(`${folder}: ${name}, ${what}${source === null ? ', not one of the known sources' : ''}`)
  const scores = measure(clones, own)
  const empty = scores.filter(isEmpty).flatMap((one) => ('name' in one ? [one.name] : []))
  for (const name of empty)
    console.error(
      `${name}: nothing to measure. Expected Pine scripts, or validation/NAME/{strategy.pine,tv_trades.csv} with data/*.csv.`,
    )
  if (empty.length === clones.length) process.exit(1)
  const board = boardOf(scores, packageJson.version, new Date().toISOString().slice(0, 10))
  console.log(board)
  if (values.save) save(board)
}
