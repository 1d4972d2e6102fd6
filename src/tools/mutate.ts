// `bun run mutate [ROOM] [--count N] [--seed S]`: do the tests notice when the code is wrong?
//
// Mutation testing, as DeMillo, Lipton and Sayward proposed it: one small mistake at a time is made in a copy of the
// tree, and the tests that cover the room are run. A mistake that none of them notices is listed: either a test is
// missing, or the mutant does the same as the original, and then `tests/mutants.md` names it with the reason and it is
// not made again. A survivor that the type checker refuses is none.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { commandLine, refused, wholeNumber } from './command-line.ts'
import { mutantsOf, type Mutant } from './mutate/mutants.ts'
import { Random } from './torture/random.ts'

interface Room {
  readonly sources: readonly string[]
  /** A room's own first: what is noticed by a file that runs in a second need not wait for one that takes ten. */
  readonly tests: readonly string[]
}

const ROOMS: Readonly<Record<string, Room>> = {
  broker: { sources: ['src/backtest/broker/**/*.ts'], tests: ['tests/backtest/*.test.ts'] },
  report: {
    sources: ['src/backtest/report/*.ts', 'src/backtest/equity.ts'],
    tests: ['tests/backtest/*.test.ts'],
  },
  alerts: {
    sources: ['src/alerts/*.ts'],
    tests: ['tests/alerts/*.test.ts', 'tests/api/alert-*.test.ts'],
  },
  access: {
    sources: ['src/api/access.ts', 'src/accounts/*.ts'],
    tests: [
      'tests/accounts/*.test.ts',
      'tests/api/{access,auth,authorization,frame,scopes,letter,races,pace,peer}.test.ts',
    ],
  },
  idempotency: {
    sources: ['src/api/idempotency.ts'],
    tests: ['tests/api/idempotency*.test.ts', 'tests/api/races.test.ts'],
  },
  deliveries: { sources: ['src/webhooks/*.ts'], tests: ['tests/webhooks/*.test.ts'] },
  lexer: { sources: ['src/pine/1-parse/lexer.ts'], tests: ['tests/pine/{lexer,parser,manual}.test.ts'] },
  checker: {
    sources: ['src/pine/2-check/*.ts'],
    tests: ['tests/pine/*.test.ts', 'tests/pine/library/*.test.ts'],
  },
  store: { sources: ['src/store/*.ts'], tests: ['tests/store/*.test.ts', 'tests/market/bar-*.test.ts'] },
}

/** A mutant that loops for ever is noticed as well. */
const SLOWER = 5
const LEAST_LIMIT_MS = 20_000

const HELP = `bun run mutate [ROOM…] [--count N] [--seed S]

Makes small mistakes in a copy of the code and lists those that no test notices. tests/mutants.md names those that are none.

  ROOM         ${Object.keys(ROOMS).join(', ')}; all without one
  --count N    Mistakes a room; 40
  --seed S     Which; 1`

interface Placed extends Mutant {
  readonly file: string
  readonly line: number
  readonly before: string
  readonly after: string
}

const root = `${import.meta.dir}/../..`

async function main(): Promise<number> {
  const options = { count: { type: 'string' }, seed: { type: 'string' } } as const
  const { values, positionals } = commandLine(HELP, options, { allowPositionals: true })
  const count = wholeNumber(HELP, 'count', values.count) ?? 40
  const seed = wholeNumber(HELP, 'seed', values.seed) ?? 1
  const names = positionals.length > 0 ? positionals : Object.keys(ROOMS)
  const unknown = names.find((name) => !Object.hasOwn(ROOMS, name))
  if (unknown !== undefined) refused(HELP, `There is no room "${unknown}".`)
  const tree = copyOfTree()
  try {
    for (const name of names) await mutateRoom(name, tree, count, seed)
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
  return 0
}

/** What git knows of the working tree, changes included. */
function copyOfTree(): string {
  const tree = mkdtempSync(`${tmpdir()}/chartroom-mutate-`)
  const listed = Bun.spawnSync(['git', 'ls-files', '-co', '--exclude-standard'], { cwd: root })
  for (const file of listed.stdout.toString().trim().split('\n')) {
    mkdirSync(dirname(`${tree}/${file}`), { recursive: true })
    // Deleted and not committed: it stays away.
    if (Bun.file(`${root}/${file}`).size > 0) cpSync(`${root}/${file}`, `${tree}/${file}`)
  }
  symlinkSync(`${root}/node_modules`, `${tree}/node_modules`)
  return tree
}

async function mutateRoom(name: string, tree: string, count: number, seed: number): Promise<void> {
  const room = ROOMS[name]!
  const tests = await baseline(tree, filesOf(tree, room.tests))
  const limitMs = Math.max(LEAST_LIMIT_MS, Math.ceil(SLOWER * Math.max(...tests.map((one) => one.ms))))
  const files = tests.map((one) => one.file)
  const known = equivalents()
  const all = filesOf(tree, room.sources).flatMap((file) =>
    placed(file, readFileSync(`${tree}/${file}`, 'utf8')),
  )
  const left = all.filter((mutant) => !known.has(keyOf(mutant)))
  const survivors: Placed[] = []
  let run = 0
  for (const mutant of shuffled(left, new Random(seed))) {
    if (run >= count) break
    const outcome = await judge(mutant, tree, files, limitMs)
    if (outcome === 'refused') continue
    run++
    if (outcome !== 'survived') continue
    survivors.push(mutant)
    console.log(`${mutant.file}:${mutant.line}\n    ${mutant.before}\n    ${mutant.after}`)
  }
  const share = run === 0 ? 0 : (100 * survivors.length) / run
  console.log(
    `${name}: ${survivors.length} of ${run} mutants survived (${share.toFixed(1)} %), seed ${seed}, ${all.length - left.length} of ${all.length} known to change nothing`,
  )
}

function filesOf(tree: string, patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(tree)].sort())
}

/** How long each test file takes where nothing is wrong; the quickest are asked first. */
async function baseline(tree: string, files: readonly string[]): Promise<{ file: string; ms: number }[]> {
  const timed: { file: string; ms: number }[] = []
  for (const file of files) {
    const from = performance.now()
    if (!(await passes(tree, file, 600_000))) throw new Error(`${file} fails without any mutant.`)
    timed.push({ file, ms: performance.now() - from })
  }
  return timed.sort((a, b) => a.ms - b.ms)
}

async function passes(tree: string, file: string, limitMs: number): Promise<boolean> {
  const child = Bun.spawn([process.execPath, 'test', '--bail', '--timeout=60000', `./${file}`], {
    cwd: tree,
    stdout: 'ignore',
    stderr: 'ignore',
    timeout: limitMs,
    killSignal: 'SIGKILL',
    // Random tests draw the same numbers for every mutant.
    env: { ...process.env, SEED: '1', CI: 'true' },
  })
  return (await child.exited) === 0
}

async function judge(
  mutant: Placed,
  tree: string,
  tests: readonly string[],
  limitMs: number,
): Promise<'killed' | 'refused' | 'survived'> {
  const path = `${tree}/${mutant.file}`
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.slice(0, mutant.start) + mutant.replacement + text.slice(mutant.end))
  try {
    for (const file of tests) if (!(await passes(tree, file, limitMs))) return 'killed'
    return (await typeChecks(tree)) ? 'survived' : 'refused'
  } finally {
    writeFileSync(path, text)
  }
}

async function typeChecks(tree: string): Promise<boolean> {
  const child = Bun.spawn([process.execPath, 'check', '--no-script'], {
    cwd: tree,
    stdout: 'ignore',
    stderr: 'ignore',
  })
  return (await child.exited) === 0
}

function placed(file: string, text: string): Placed[] {
  return mutantsOf(file, text).map((mutant) => {
    const from = text.lastIndexOf('\n', mutant.start - 1) + 1
    const end = text.indexOf('\n', mutant.end)
    const to = end < 0 ? text.length : end
    const before = text.slice(from, to)
    const after = text.slice(from, mutant.start) + mutant.replacement + text.slice(mutant.end, to)
    const line = text.slice(0, mutant.start).split('\n').length
    return { ...mutant, file, line, before: oneLine(before), after: oneLine(after) }
  })
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, ' ')
}

/** Of `tests/mutants.md`: two indented lines, the code as it is and the mutant. A file that moved keeps its entries. */
function equivalents(): Set<string> {
  const text = readFileSync(`${root}/tests/mutants.md`, 'utf8')
  const pairs = text.matchAll(/^ {4}(\S.*)\n {4}(\S.*)$/gm)
  return new Set(Array.from(pairs, ([, before = '', after = '']) => `${before}\n${after}`))
}

function keyOf({ before, after }: Placed): string {
  return `${before}\n${after}`
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
