// `npm test` and `npm run test-long`: builds the executable while `bun run check` runs and a browser is fetched, runs `bun test`,
// and ends with the one line that CI reads: "N passed, N failed" (and ", N skipped" if some were). Starts a PostgreSQL that all
// files of a run share.
//
// Before that line it names every failed test with the beginning of its message, since the log of a whole run is too long
// to search and often cut. A failure is a failure: nothing is tried again until it passes, and a random test finds the same
// again with its seed. There are two exceptions, both of them named. If Bun itself dies in a suite (its own issue 41655: a
// finalizer of a native addon that runs too late), it ends the whole run: what had no turn then, and that suite, run once
// more. And if the system has killed processes because memory ran out, what failed runs once more.
//
// Without arguments everything that takes no long time runs once, and a fifth of the journeys in a browser. The stores answer
// late and out of order (`tests/store/test-store.ts`), which finds code that is only right if an answer comes at once; a suite
// of each kind runs over PostgreSQL, too. An operation of the API that nothing has answered as its schema says is a failure of
// its own.
//
// `--long` runs everything over late stores, with all rounds of random tests (`tests/long.ts`), and then what stores anything,
// with the rounds of a short run and two files of journeys, over PostgreSQL, where also the servers and commands that suites
// start are on it. Stores that answer at once ask less of the code.

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { DEALT_ONE_OF } from '../../tests/long.ts'
import { ANSWERED, neverAnswered } from '../../tests/http/answered-operations.ts'
import { foundChromium, packagedChromium } from '../../tests/browser/chromium.ts'
import { POSTGRES_URL, startPostgres } from '../../tests/store/postgres-server.ts'
import { reaching } from './reaching.ts'
import { words } from '../lib/words.ts'

/** They take minutes by what they are. */
const LONG = ['executable/torture', 'store/fleet', 'tools/npx'].map((name) => `tests/${name}.test.ts`)

/**
 * Journeys in a browser. They take ten minutes of processor together: a short run makes a fifth of them, dealt by its seed, and
 * so the next commit another. Models and suites of the API guard much of the same, but not all: what is broken in a page alone
 * may be seen only a commit or two later, or by `npm run test-long`, which makes all. Files of many deal them out themselves
 * (`tests/dashboard/dealt.ts`); these are made whole or not, the costliest first, which makes the fifths alike.
 */
const DEALT = words(
  'offline alert-lines accessibility tabs sweeps places symbols several-charts late-answers site keyboard',
  'sub-path sign-in-ways as-of-journey forward portfolios scans keys compare-runs bridges moving-in',
).map((name) => `tests/dashboard/${name}.test.ts`)

/** What comes to it stores things where the environment says. */
const TEST_STORE = 'tests/store/test-store.ts'
/** What comes to it starts servers or commands on that. */
const OWN_DATABASE = 'tests/store/own-database.ts'

/**
 * Suites that run over PostgreSQL, too: one of records, of the API, of commands, and of a whole server. What every store must
 * do is tested of each, and a long run has all suites on it.
 */
const OVER_POSTGRES = [
  'people/accounts',
  'http/contract.test.ts',
  'executable/names.test.ts',
  'journeys',
].map((suite) => `tests/${suite}`)

/** Pages know the API alone, which is the same over every store: two files of journeys in a long run see to that. */
const PAGES_OVER_POSTGRES = ['pages', 'chart'].map((name) => `tests/dashboard/${name}.test.ts`)

/**
 * The slowest files, longest first: those of a long run, then those of a short one. They start first, because a long one that
 * starts last leaves a processor idle: the archives of a release, five minutes, had two of three lanes to themselves.
 */
const SLOWEST = words(
  'http/dealt executable/torture broker/explain-faults tools/release http/agent-noise',
  'notify/bridges/bridges notify/alerts/looks executable/builds',
  'dashboard/pages dashboard/chart dashboard/playground dashboard/every-page dashboard/drawings',
  'dashboard/look executable/api dashboard/studies dashboard/alert-lines simulation/simulation',
  'dashboard/offline dashboard/accessibility dashboard/sweeps store/bar-objects executable/running',
  'dashboard/forward dashboard/symbols work/sweeps/sweeps work/forward/forward-runs executable/sweeps',
  'store/shards dashboard/keyboard dashboard/sub-path dashboard/tabs dashboard/sign-in-ways',
  'dashboard/as-of-journey dashboard/places dashboard/several-charts http/python-client',
  'language/ta/oracles work/workers/pool broker/explain engine/package work/workers/import',
  'http/openid dashboard/portfolios dashboard/scans dashboard/compare-runs dashboard/keys',
  'executable/database executable/alerts executable/abuse store/backup store/lmdb-bars',
  'store/postgres-bars market/import executable/names',
).map((name) => `tests/${name}.test.ts`)

/** They have no tests where TradingView's lists and names do not lie beside the project. */
const WITHOUT_MATERIAL = [
  'parity/parity',
  'language/ta/parity',
  'language/library/parity',
  'language/library/coverage',
].map((name) => `tests/${name}.test.ts`)

/** One more than processors: journeys and killed servers wait for a good part of their time. */
const LANES = availableParallelism() + 1

/**
 * JavaScriptCore compiles hot code a third time, which pays in a server that runs for days: of these processes, which live
 * for seconds, it takes a sixth of the processor. And memory that was freed is given back to the system, page by page, and
 * taken again: six files of the API took 28 seconds of processor with that and 20 without (medians of three). The second time
 * it compiles what was run 5,000 times instead of 1,000: files of the API 25 seconds and 20, files of the broker 27 and 23. A
 * long run has all of it as the product does.
 */
const SHORT_LIVED = {
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_thresholdForOptimizeAfterWarmUp: '5000',
  MIMALLOC_PURGE_DELAY: '-1',
}

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

/** Files of one process share helpers, which tidy up after the first of them alone: 5,800 folders were left in half a day. */
const scratch = mkdtempSync(`${tmpdir()}/chartroom-tests-`)
// PostgreSQL does not run as root, and has its own folder in there.
chmodSync(scratch, 0o755)
process.env['TMPDIR'] = scratch

console.log(`SEED=${SEED}`)
const given = process.argv.slice(2).filter((arg) => arg !== '--long')
const isLong = process.argv.includes('--long')
const isWhole = given.length === 0
const outcomes = isWhole ? await runWhole() : await runSome()
const failures = outcomes.flatMap((outcome) => outcome.failures)
for (const failure of failures) console.log(`\nFAILED ${described(failure)}`)
const passed = outcomes
  .flatMap((outcome) => [...outcome.passed.values()])
  .reduce((total, count) => total + count, 0)
const skipped = outcomes.reduce((total, outcome) => total + outcome.skipped, 0)
console.log(`${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
const isBad = outcomes.some(({ exitCode }) => exitCode !== 0) || failures.length > 0 || passed === 0
// What failed may have left something to look at.
if (!isBad) rmSync(scratch, { recursive: true, force: true })
process.exit(isBad ? 1 : 0)

async function runSome(): Promise<readonly Outcome[]> {
  await sayBrowser()
  return [await run(given)]
}

async function runWhole(): Promise<readonly Outcome[]> {
  const checked = check()
  const [built] = await Promise.all([build(), sayBrowser()])
  if (built.exitCode !== 0) return [built, await checked]
  const postgres = await startPostgres()
  process.env[POSTGRES_URL] = postgres.url
  const answered = `${tmpdir()}/chartroom-answered-${process.pid}`
  const all = [...new Bun.Glob('tests/**/*.test.ts').scanSync('.')]
  const late = { STORE_SEED: process.env['STORE_SEED'] ?? SEED }
  const outcomes: Outcome[] = []
  const notDealt = DEALT.filter((_, at) => (at + Number(SEED)) % DEALT_ONE_OF !== 0)
  if (isLong) {
    outcomes.push(await run(all, { ...late, [ANSWERED]: answered, TEST_LONG: '1' }))
    console.log('\nAnd over PostgreSQL')
    const storing = reaching(all, [TEST_STORE, OWN_DATABASE]).filter(
      (file) => !file.startsWith('tests/dashboard/') || PAGES_OVER_POSTGRES.includes(file),
    )
    outcomes.push(await run(storing, { TEST_STORE: 'postgres', TEST_DEALT: '1' }))
  } else {
    const short = all.filter((file) => ![...notDealt, ...LONG].includes(file))
    console.log(`\nNot dealt, but for a run of their own or \`npm run test-long\`: ${notDealt.join(' ')}`)
    console.log(`\nAnd over PostgreSQL: TEST_STORE=postgres bun test ${OVER_POSTGRES.join(' ')}`)
    const both = [
      run(short, { ...late, [ANSWERED]: answered, TEST_DEALT: '1' }),
      run(OVER_POSTGRES, { TEST_STORE: 'postgres' }, 1),
    ]
    outcomes.push(...(await Promise.all(both)))
  }
  await postgres.stop()
  return [built, ...outcomes, unanswered(answered), await checked]
}

/** The executable that suites start. What it says goes to the log. */
async function build(): Promise<Outcome> {
  const file = 'bun src/tools/build.ts'
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/build.ts`], { stdout: 'inherit' })
  const exitCode = await child.exited
  const failures = exitCode === 0 ? [] : [{ file, name: `ended with ${exitCode}`, message: '' }]
  return { exitCode, passed: new Map([[file, 1 - failures.length]]), failures, skipped: 0 }
}

/** `bun run check`, of which each step counts as a test. */
async function check(): Promise<Outcome> {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/check.ts`], { stdout: 'pipe' })
  const [output, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited])
  console.log(`\n${output}`)
  const names = (result: string) =>
    [...output.matchAll(new RegExp(`^${result} +(.*)$`, 'gm'))].map(([, name = '']) => name)
  const failures = names('FAILED').map((name) => ({ file: 'bun run check', name, message: '' }))
  return { exitCode, passed: new Map([['bun run check', names('ok').length]]), failures, skipped: 0 }
}

function seedOfCommit(): number | null {
  try {
    const { stdout, success } = Bun.spawnSync(['git', 'rev-parse', 'HEAD'])
    return success ? Number.parseInt(stdout.toString().slice(0, 7), 16) : null
  } catch {
    // There is no git on this machine.
    return null
  }
}

/** `runOnce`, and once more what a crash of Bun left without a turn, or what failed while the system killed processes. */
async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  lanes = LANES,
): Promise<Outcome> {
  const killedBefore = killedForMemory()
  const first = await runOnce(args, env, lanes)
  const killed = killedForMemory() - killedBefore
  const crashed = first.failures.filter(({ name }) => name === CRASHED)
  const left =
    killed > 0 || crashed.length > 0
      ? first.failures.filter(({ name }) => killed > 0 || name === CRASHED || name === UNREPORTED)
      : []
  if (left.length === 0) return first
  if (killed > 0) console.log(`\nTHE SYSTEM KILLED ${killed} processes, since memory ran out.`)
  if (crashed.length > 0) console.log(`\nBUN CRASHED in ${filesOf(crashed).join(' ')}.`)
  console.log(`Once more: bun test ${filesOf(left).join(' ')}`)
  return retried(first, left, env)
}

/** How many processes the system has ended for want of memory since it began; 0 where it does not say. */
function killedForMemory(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** `outcome` with the files of some of its failures run once more: what they had before no longer counts. */
async function retried(
  outcome: Outcome,
  left: readonly Failure[],
  env: Readonly<Record<string, string>>,
): Promise<Outcome> {
  // The suites have left in the shared database what they made before they failed.
  const anew = await startPostgres()
  const again = await runOnce(filesOf(left), { ...env, [POSTGRES_URL]: anew.url })
  await anew.stop()
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
  lanes = LANES,
): Promise<Outcome> {
  const of = `${process.pid}-${env['TEST_STORE'] ?? 'own'}`
  const report = `${tmpdir()}/chartroom-junit-${of}.xml`
  const timings = `${tmpdir()}/chartroom-timings-${of}.json`
  writeFileSync(timings, JSON.stringify({ version: 1, files: guessedTimes() }))
  const runner = Bun.spawn(
    [
      process.execPath,
      'test',
      `--parallel=${lanes}`,
      // Modules are loaded once a process: forty files of the API took 95 and 71 seconds of processor, and 69 and 53 so.
      '--no-isolate',
      // A busy machine is not a failure.
      '--timeout=900000',
      `--timings=${timings}`,
      '--reporter=junit',
      `--reporter-outfile=${report}`,
      ...args,
    ],
    {
      stdio: ['inherit', 'inherit', 'inherit'],
      env: { ...(isWhole && !isLong && SHORT_LIVED), ...process.env, SEED, ...env },
    },
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
