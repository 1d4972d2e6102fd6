// Runs `bun test` and ends with the one line that CI reads: "N passed, N failed" (and ", N skipped" if some were). Fetches
// a browser, and starts a PostgreSQL that all files of a run share.
//
// Before that line it names every failed test with the beginning of its message, since the log of a whole run is too long
// to search and often cut. A suite of real processes that failed (`ALONE`) is tried once more with nothing beside it,
// because Chromium, PostgreSQL and the operating system have time limits of their own that a busy machine breaks, and so is
// one that waited in vain; it is then named as flaky, so that it is mended. Every other failure counts at once: a random
// test that fails for one seed has found something (and does so again: the seed is the same). If Bun itself dies
// in a suite (its own issue 41655: a finalizer of a native addon that runs too late), it ends the whole run: what had no
// turn then, and that suite, run once more, and the crash is named; a suite that dies twice has failed.
//
// Without arguments, the suites of the API and of the rooms behind it run once more over stores that answer late and out of
// order (`tests/store/test-store.ts`). That finds code that is only right if an answer comes at once. Some run over
// PostgreSQL, too. An operation of the API that nothing has answered as its schema says is a failure of its own.
//
// With TEST_STORE=postgres (`bun run test-postgres`) everything runs over PostgreSQL, once: the applications in the process
// of a test as well as the servers and commands that suites start.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { ANSWERED, neverAnswered } from '../../tests/http/answered-operations.ts'
import { foundChromium, packagedChromium } from '../../tests/browser/chromium.ts'
import { POSTGRES_URL, startPostgres } from '../../tests/store/postgres-server.ts'

/** Rooms whose suites use `STORE_SEED`. */
const OVER_LATE_STORES = [
  'people/accounts',
  'notify/alerts',
  'http',
  'people/errors',
  'people/feeds',
  'people/ideas',
  'notify/mail',
  'work/replay',
  'people/scripts',
  'people/search',
  'people/support',
  'people/watchlists',
  'notify/webhooks',
].map((room) => `tests/${room}`)

/** Those of them that are about something else than what is stored. */
const NOTHING_STORED = ['json-text', 'large-texts', 'limits', 'pace', 'peer', 'python-client'].map(
  (suite) => `tests/http/${suite}.test.ts`,
)

/** Suites that run over PostgreSQL, too: some of each kind, since what every store must do is tested of each. */
const OVER_POSTGRES = [
  'people/accounts',
  'http/channels.test.ts',
  'http/contract.test.ts',
  'http/credentials.test.ts',
  'notify/channels',
  'people/charts',
  'executable/names.test.ts',
  'people/ideas',
  'journeys',
  'work/replay',
  'people/scripts',
  'people/search',
  'people/support',
  'people/watchlists',
].map((suite) => `tests/${suite}`)

/** The slowest files, longest first. They start first, because a long one that starts last leaves a processor idle. */
const SLOWEST = [
  'dashboard/pages',
  'executable/torture',
  'dashboard/chart',
  'dashboard/look',
  'dashboard/drawings',
  'work/sweeps/sweeps',
  'executable/api',
  'dashboard/studies',
  'executable/sweeps',
  'store/fleet',
  'language/ta/oracles',
  'dashboard/alert-lines',
  'dashboard/offline',
  'dashboard/keyboard',
  'dashboard/sweeps',
  'work/workers/pool',
  'store/bar-objects',
  'dashboard/compare-runs',
  'dashboard/keys',
  'dashboard/accessibility',
  'dashboard/sub-path',
  'dashboard/portfolios',
  'dashboard/forward',
  'executable/abuse',
  'dashboard/tabs',
  'executable/alerts',
  'http/backtests',
  'store/lmdb-bars',
  'work/portfolios/portfolios',
  'journeys/token-user',
  'work/scans/scans',
  'dashboard/symbols',
  'store/postgres-bars',
  'http/idempotency',
  'http/large-texts',
  'dashboard/several-charts',
  'dashboard/scans',
  'http/mcp',
].map((name) => `tests/${name}.test.ts`)

/** They have no tests where TradingView's lists and names do not lie beside the project. */
const WITHOUT_MATERIAL = [
  'parity/parity',
  'language/ta/parity',
  'language/library/parity',
  'language/library/coverage',
].map((name) => `tests/${name}.test.ts`)

/** One more than processors: journeys and killed servers wait for a good part of their time. */
const LANES = availableParallelism() + 1

/** Suites that drive a real browser, the built executable, or servers on one database, whose leases run out by its clock. */
const ALONE = /^tests\/(dashboard|executable|journeys|store)\//

/** How the runner's report calls a test, or what is before or after all of a file, that was not done in time. */
const IN_VAIN = /\btimed out\b/

/** How the runner's report calls a suite in which Bun died. */
const CRASHED = '(worker crashed)'
const UNREPORTED = 'did not load'

interface Failure {
  /** The path from the top of the project. */
  readonly file: string
  readonly name: string
  readonly message: string
}

interface Outcome {
  readonly exitCode: number
  /** How many tests of each file passed. */
  readonly passed: ReadonlyMap<string, number>
  readonly failures: readonly Failure[]
  readonly skipped: number
}

/**
 * The random tests' seed is the commit's own: a run of a commit is the same on every machine, and every commit tries others.
 * Without a repository, a seed of this moment.
 */
const SEED = process.env['SEED'] ?? String(seedOfCommit() ?? Math.floor(Math.random() * 2 ** 31))

await sayBrowser()
console.log(`SEED=${SEED}`)
const given = process.argv.slice(2)
const isWhole = given.length === 0
const onlyPostgres = process.env['TEST_STORE'] === 'postgres'
const postgres = isWhole || onlyPostgres ? await startPostgres() : null
if (postgres) process.env[POSTGRES_URL] = postgres.url
const answered = `${tmpdir()}/chartroom-answered-${process.pid}`
const outcomes = [await run(given, isWhole ? { [ANSWERED]: answered } : {})]
if (isWhole) outcomes.push(unanswered(answered))
if (isWhole && !onlyPostgres) {
  const seed = process.env['STORE_SEED'] ?? SEED
  console.log(`\nOnce more over late stores: STORE_SEED=${seed} bun test ${OVER_LATE_STORES.join(' ')}`)
  const late = OVER_LATE_STORES.flatMap((room) => [...new Bun.Glob(`${room}/**/*.test.ts`).scanSync('.')])
  outcomes.push(
    await run(
      late.filter((file) => !NOTHING_STORED.includes(file)),
      { STORE_SEED: seed },
    ),
  )
  console.log(`\nAnd over PostgreSQL: TEST_STORE=postgres bun test ${OVER_POSTGRES.join(' ')}`)
  outcomes.push(await run(OVER_POSTGRES, { TEST_STORE: 'postgres' }))
}
await postgres?.stop()
const failures = outcomes.flatMap((outcome) => outcome.failures)
for (const failure of failures) console.log(`\nFAILED ${described(failure)}`)
const passed = outcomes
  .flatMap((outcome) => [...outcome.passed.values()])
  .reduce((total, count) => total + count, 0)
const skipped = outcomes.reduce((total, outcome) => total + outcome.skipped, 0)
console.log(`${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
const bad = outcomes.some(({ exitCode }) => exitCode !== 0)
process.exit(bad || failures.length > 0 || passed === 0 ? 1 : 0)

function seedOfCommit(): number | null {
  try {
    const { stdout, success } = Bun.spawnSync(['git', 'rev-parse', 'HEAD'])
    return success ? Number.parseInt(stdout.toString().slice(0, 7), 16) : null
  } catch {
    // There is no git on this machine.
    return null
  }
}

/** `runOnce`, once more what a crash of Bun left without a turn, and alone what failed and may have been in want of time. */
async function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Outcome> {
  const first = await runOnce(args, env, LANES)
  const crashed = first.failures.filter(({ name }) => name === CRASHED)
  if (crashed.length === 0) return secondChance(first, env)
  const left = first.failures.filter(({ name }) => name === CRASHED || name === UNREPORTED)
  const names = crashed.map(({ file }) => file).join(' ')
  console.log(`\nBUN CRASHED in ${names}: once more, with the ${left.length} files without a result`)
  return secondChance(await retried(first, left, env, LANES), env)
}

/** `outcome` after the failed suites of real processes, and those that waited in vain, ran once more, alone. */
async function secondChance(outcome: Outcome, env: Readonly<Record<string, string>>): Promise<Outcome> {
  const left = outcome.failures.filter(({ file, message }) => ALONE.test(file) || IN_VAIN.test(message))
  if (left.length === 0) return outcome
  console.log(`\nOnce more, alone: bun test ${filesOf(left).join(' ')}`)
  const again = await retried(outcome, left, env, 1)
  const failed = new Set(filesOf(again.failures))
  for (const failure of left.filter(({ file }) => !failed.has(file)))
    console.log(`\nFLAKY (passed alone) ${described(failure)}`)
  return again
}

/** `outcome` with the files of some of its failures run once more: what they had before no longer counts. */
async function retried(
  outcome: Outcome,
  left: readonly Failure[],
  env: Readonly<Record<string, string>>,
  parallel: number,
): Promise<Outcome> {
  // The suites have left in the shared database what they made before they failed.
  const anew = postgres && (await startPostgres())
  const again = await runOnce(filesOf(left), anew ? { ...env, [POSTGRES_URL]: anew.url } : env, parallel)
  await anew?.stop()
  const files = new Set(filesOf(left))
  const failures = [...outcome.failures.filter(({ file }) => !files.has(file)), ...again.failures]
  return {
    exitCode: failures.length === 0 ? again.exitCode : 1,
    passed: new Map([...outcome.passed, ...again.passed]),
    failures,
    skipped: outcome.skipped,
  }
}

function filesOf(failures: readonly Failure[]): string[] {
  return [...new Set(failures.map(({ file }) => file))]
}

async function runOnce(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  parallel: number,
): Promise<Outcome> {
  const report = `${tmpdir()}/chartroom-junit-${process.pid}.xml`
  const timings = `${tmpdir()}/chartroom-timings-${process.pid}.json`
  writeFileSync(timings, JSON.stringify({ version: 1, files: guessedTimes() }))
  const runner = Bun.spawn(
    [
      process.execPath,
      'test',
      `--parallel=${parallel}`,
      // A busy machine is not a failure.
      '--timeout=900000',
      `--timings=${timings}`,
      '--reporter=junit',
      `--reporter-outfile=${report}`,
      ...args,
    ],
    { stdio: ['inherit', 'inherit', 'inherit'], env: { ...process.env, SEED, ...env } },
  )
  const exitCode = await runner.exited
  const { passed, failures, skipped, files } = readReport(report)
  rmSync(report, { force: true })
  rmSync(timings, { force: true })
  // A file that did not load is missing from the report.
  const asked = [...new Bun.Glob('tests/**/*.test.ts').scanSync('.')].filter(
    (file) => args.length === 0 || args.some((arg) => file === arg || file.startsWith(`${arg}/`)),
  )
  for (const file of asked.filter((file) => !files.has(file) && !WITHOUT_MATERIAL.includes(file)))
    failures.push({ file, name: UNREPORTED, message: '' })
  if (exitCode !== 0 && failures.length === 0) {
    failures.push({ file: 'bun test', name: `ended with ${exitCode}`, message: 'The runner died.' })
  }
  return { exitCode, passed, failures, skipped }
}

/** Whether every operation answered once at least. */
function unanswered(answered: string): Outcome {
  const operations = neverAnswered(answered)
  rmSync(answered, { force: true })
  const name = 'no test holds an answer of these operations against its schema'
  const failures = operations.length > 0 ? [{ file: 'tests', name, message: operations.join(', ') }] : []
  const passed = new Map([['tests', 1 - failures.length]])
  return { exitCode: failures.length, passed, failures, skipped: 0 }
}

/** Milliseconds by file, of which only the order counts. A file without a time would start before all others. */
function guessedTimes(): Record<string, number> {
  const files = [...new Bun.Glob('tests/**/*.test.ts').scanSync('.')]
  const first = SLOWEST.map((file, i) => [file, 1000 * (SLOWEST.length - i)] as const)
  return { ...Object.fromEntries(files.map((file) => [file, 1])), ...Object.fromEntries(first) }
}

function described({ file, name, message }: Failure): string {
  return `${file}: ${name}\n${message.split('\n').slice(0, 12).join('\n').trim()}`
}

/** Reads the runner's JUnit report. If there is none, the runner died, and nothing counts as passed. */
function readReport(path: string): {
  passed: ReadonlyMap<string, number>
  failures: Failure[]
  skipped: number
  files: ReadonlySet<string>
} {
  const xml = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const suites = /<testsuites\b[^>]*>/.exec(xml)?.[0] ?? ''
  const failures: Failure[] = []
  const passed = new Map<string, number>()
  for (const [, tag = '', inside = ''] of xml.matchAll(
    /<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g,
  )) {
    const file = attribute(tag, 'file')
    const fault = /<(?:failure|error)\b([^>]*)>/.exec(inside)?.[1]
    if (fault === undefined) {
      if (!inside.includes('<skipped')) passed.set(file, (passed.get(file) ?? 0) + 1)
      continue
    }
    const name = [attribute(tag, 'classname'), attribute(tag, 'name')].filter(Boolean).join(' > ')
    failures.push({ file, name, message: attribute(fault, 'message') })
  }
  const files = new Set([...xml.matchAll(/<testsuite\b[^>]*>/g)].map(([tag]) => attribute(tag, 'file')))
  return {
    passed,
    failures,
    skipped: Number(attribute(suites, 'skipped')),
    files,
  }
}

/** An attribute of an XML tag; empty if the tag has none. */
function attribute(tag: string, name: string): string {
  const text = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
  const characters: Readonly<Record<string, string>> = {
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    amp: '&',
    '#10': '\n',
  }
  return text.replace(/&(lt|gt|quot|apos|amp|#10);/g, (_, entity: string) => characters[entity] ?? '')
}

/** The dashboard's journeys need a Chromium: the one of `CHROMIUM`, one fetched for them, or the machine's own. */
async function sayBrowser(): Promise<void> {
  try {
    if (!process.env['CHROMIUM']) await packagedChromium()
  } catch (error) {
    console.warn(error instanceof Error ? error.message : error)
  }
  const found = foundChromium()
  if (found) console.log(`Browser of the dashboard's tests: ${found.path}`)
}
