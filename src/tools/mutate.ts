// `bun run mutate [ROOM] [--count N] [--seed S]`: do the tests notice when the code is wrong?
//
// This is mutation testing, as DeMillo, Lipton and Sayward proposed it. One small mistake at a time is made in a copy of
// the tree, and the tests that cover its line run, the quickest first, until one of them fails. A mistake that none of them
// notices is listed: either a test is missing, or the mutant does the same as the original. In the second case
// `tests/mutants.md` names it with the reason, and it is not made again. A mutant that the type checker refuses does not
// count.

import { readFileSync, rmSync } from 'node:fs'
import process from 'node:process'
import { commandLine, refused, wholeNumber } from './command-line.ts'
import { runnersOf, type TestFile } from './mutate/coverage.ts'
import { mutantsOf, type Mutant } from './mutate/mutants.ts'
import { ROOMS, type Room } from './mutate/rooms.ts'
import {
  copyOfTree,
  filesOf,
  measure,
  opensPages,
  passes,
  testedBy,
  typeChecks,
  withText,
} from './mutate/tree.ts'
import { Random } from './torture/random.ts'

/**
 * Tests that need a browser, the executable or the whole machine are left out, since they would take minutes for each
 * mutant.
 */
const ASKED = ['tests/**/*.test.ts']
const NOT_ASKED = new Bun.Glob('tests/{browser,executable,journeys,tools}/**')

/** A test that takes this many times as long has noticed too: the mutant may loop for ever. */
const SLOWER = 8
const LEAST_LIMIT_MS = 15_000
const LONGEST_MS = 600_000

const HELP = `bun run mutate [ROOM…] [--count N] [--seed S] [--side-by-side N] [--own]

Makes small mistakes in a copy of the code and lists those that no test notices, and a table of all rooms at the end.
tests/mutants.md names those that change nothing.

  ROOM              ${Object.keys(ROOMS).join(', ')};
                    all without one
  --count N         Mistakes a room; 40
  --seed S          Which; 1
  --side-by-side N  Mistakes that are tried at the same time; 2
  --own             Ask the room's own tests alone: sooner done, and more survive`

interface Placed extends Mutant {
  readonly file: string
  readonly text: string
  readonly line: number
  readonly lastLine: number
  readonly before: string
  readonly after: string
}

interface Result {
  readonly name: string
  readonly run: number
  readonly survivors: number
  readonly known: number
  readonly all: number
}

type Outcome = 'killed' | 'refused' | 'survived'

const root = `${import.meta.dir}/../..`

async function main(): Promise<number> {
  const options = {
    count: { type: 'string' },
    seed: { type: 'string' },
    'side-by-side': { type: 'string' },
    own: { type: 'boolean' },
  } as const
  const { values, positionals } = commandLine(HELP, options, { allowPositionals: true })
  const count = wholeNumber(HELP, 'count', values.count) ?? 40
  const seed = wholeNumber(HELP, 'seed', values.seed) ?? 1
  const lanes = wholeNumber(HELP, 'side-by-side', values['side-by-side']) ?? 2
  const names = positionals.length > 0 ? positionals : Object.keys(ROOMS)
  const unknown = names.find((name) => !Object.hasOwn(ROOMS, name))
  if (unknown !== undefined) refused(HELP, `There is no room "${unknown}".`)
  if (lanes === 0) refused(HELP, '--side-by-side is at least 1.')
  const trees = Array.from({ length: lanes }, copyOfTree)
  try {
    const asked = values.own ? names.flatMap((name) => ROOMS[name]!.tests) : ASKED
    const tests = await baseline(trees, asked)
    const results: Result[] = []
    for (const name of names) results.push(await mutateRoom(name, trees, tests, count, seed))
    console.log(`\n${tableOf(results, seed)}`)
  } finally {
    for (const tree of trees) rmSync(tree, { recursive: true, force: true })
  }
  return 0
}

/** How long each test file takes on the unchanged code, and which lines it covers. */
async function baseline(trees: readonly string[], asked: readonly string[]): Promise<TestFile[]> {
  const waiting = [...new Set(filesOf(trees[0]!, asked))].filter(
    (file) => !NOT_ASKED.match(file) && !opensPages(`${trees[0]}/${file}`),
  )
  const measured: TestFile[] = []
  const work = async (tree: string) => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      measured.push(await measure(tree, file))
  }
  await Promise.all(trees.map(work))
  return measured
}

async function mutateRoom(
  name: string,
  trees: readonly string[],
  tests: readonly TestFile[],
  count: number,
  seed: number,
): Promise<Result> {
  const room = ROOMS[name]!
  const sources =
    room.sources === 'tested' ? testedBy(trees[0]!, room.tests) : filesOf(trees[0]!, room.sources)
  const all = sources.flatMap((file) => placed(file, readFileSync(`${trees[0]}/${file}`, 'utf8')))
  const known = equivalents()
  const left = all.filter((mutant) => !known.has(keyOf(mutant)) && !known.has(`${mutant.before}\n*`))
  const own = ownTests(trees[0]!, room, tests)
  const { run, survivors } = await tryEach(shuffled(left, new Random(seed)), count, trees, (mutant, tree) =>
    judge(mutant, tree, askedOf(mutant, tests, own)),
  )
  const result = { name, run, survivors, known: all.length - left.length, all: all.length }
  console.log(`${name}: ${survivors} of ${run} mutants survived (${shareOf(result)} %), seed ${seed}`)
  return result
}

/** The first `count` mutants that the type checker accepts, tried in all trees at the same time. */
async function tryEach(
  mutants: readonly Placed[],
  count: number,
  trees: readonly string[],
  attempt: (mutant: Placed, tree: string) => Promise<Outcome>,
): Promise<{ run: number; survivors: number }> {
  let survivors = 0
  let next = 0
  // Mutants being tried count as tried, unless the type checker refuses them.
  let run = 0
  const work = async (tree: string) => {
    while (run < count && next < mutants.length) {
      const i = next++
      run++
      const outcome = await attempt(mutants[i]!, tree)
      if (outcome === 'refused') run--
      if (outcome !== 'survived') continue
      survivors++
      console.log(told(mutants[i]!))
    }
  }
  await Promise.all(trees.map(work))
  return { run, survivors }
}

function told({ file, line, before, after }: Placed): string {
  return `${file}:${line}\n    ${before}\n    ${after}`
}

function ownTests(tree: string, room: Room, tests: readonly TestFile[]): TestFile[] {
  const own = new Set(filesOf(tree, room.tests))
  return tests.filter(({ file }) => own.has(file)).sort((a, b) => a.ms - b.ms)
}

function askedOf(mutant: Placed, tests: readonly TestFile[], own: readonly TestFile[]): readonly TestFile[] {
  return [...new Set([...runnersOf(tests, mutant.file, mutant.line, mutant.lastLine), ...own])]
}

async function judge(mutant: Placed, tree: string, tests: readonly TestFile[]): Promise<Outcome> {
  const { text, start, end, replacement } = mutant
  const path = `${tree}/${mutant.file}`
  const mutated = text.slice(0, start) + replacement + text.slice(end)
  for (const test of tests) if (await notices(test, tree, path, mutated)) return 'killed'
  return (await withText(path, mutated, () => typeChecks(tree, mutant.file))) ? 'survived' : 'refused'
}

/**
 * A test that runs out of time has noticed something only if it passes in that time without the mutant. If it does not, the
 * machine is too busy for either, and both get twice as long.
 */
async function notices(
  { file, ms }: TestFile,
  tree: string,
  path: string,
  mutated: string,
): Promise<boolean> {
  for (let limitMs = Math.max(LEAST_LIMIT_MS, Math.ceil(SLOWER * ms)); limitMs < LONGEST_MS; limitMs *= 2) {
    const from = performance.now()
    if (await withText(path, mutated, () => passes(tree, file, limitMs))) return false
    if (performance.now() - from < limitMs || (await passes(tree, file, limitMs))) return true
  }
  return false
}

function placed(file: string, text: string): Placed[] {
  return mutantsOf(file, text).map((mutant) => {
    const from = text.lastIndexOf('\n', mutant.start - 1) + 1
    const end = text.indexOf('\n', mutant.end)
    const to = end < 0 ? text.length : end
    const before = oneLine(text.slice(from, to))
    const after = oneLine(text.slice(from, mutant.start) + mutant.replacement + text.slice(mutant.end, to))
    const line = lineAt(text, mutant.start)
    return { ...mutant, file, text, line, lastLine: lineAt(text, mutant.end), before, after }
  })
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, ' ')
}

/**
 * The entries of `tests/mutants.md`: two indented lines, the original code and the mutant, or `*` for any. A file that moved
 * keeps its entries.
 */
function equivalents(): Set<string> {
  const text = readFileSync(`${root}/tests/mutants.md`, 'utf8')
  const pairs = text.matchAll(/^ {4}(\S.*)\n {4}(\S.*)$/gm)
  return new Set(Array.from(pairs, ([, before = '', after = '']) => `${before}\n${after}`))
}

function keyOf({ before, after }: Placed): string {
  return `${before}\n${after}`
}

function tableOf(results: readonly Result[], seed: number): string {
  const date = new Date().toISOString().slice(0, 10)
  const rows = results.map((result) =>
    [
      result.name,
      date,
      seed,
      result.run,
      result.survivors,
      `${shareOf(result)} %`,
      `${result.known} of ${result.all}`,
    ].join(' | '),
  )
  const head = 'room | date | seed | mutants | survived | share | known to change nothing'
  return [head, head.replace(/[^|]+/g, ' --- ').trim(), ...rows].map((row) => `| ${row} |`).join('\n')
}

function shareOf({ run, survivors }: Result): string {
  return (run === 0 ? 0 : (100 * survivors) / run).toFixed(1)
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const mixed = [...items]
  for (let i = mixed.length - 1; i > 0; i--) {
    const k = random.integer(0, i)
    const kept = mixed[i]!
    mixed[i] = mixed[k]!
    mixed[k] = kept
  }
  return mixed
}

process.exit(await main())
