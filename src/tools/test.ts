// Runs `bun test` and ends with the one line that CI reads: "N passed, N failed" (", N skipped" when some were). Brings a
// browser where the machine has none.
//
// Without arguments the suites of the API and of the rooms behind it run once more, over stores that answer late and out of
// order (`tests/store/test-store.ts`): what is right only because an answer came at once is found by that.

import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { bringChromium, foundChromium } from '../../tests/browser/chromium.ts'

/** Rooms whose suites know `STORE_SEED`. */
const OVER_LATE_STORES = [
  'accounts',
  'alerts',
  'api',
  'errors',
  'feeds',
  'ideas',
  'mail',
  'replay',
  'scripts',
  'search',
  'support',
  'watchlists',
  'webhooks',
].map((room) => `tests/${room}`)

interface Outcome {
  readonly exitCode: number
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

await sayBrowser()
const given = process.argv.slice(2)
const outcomes = [await run(given, {})]
if (given.length === 0) {
  const seed = process.env['STORE_SEED'] ?? String(Math.floor(Math.random() * 2 ** 31))
  console.log(`\nOnce more over late stores: STORE_SEED=${seed} bun test ${OVER_LATE_STORES.join(' ')}`)
  outcomes.push(await run(OVER_LATE_STORES, { STORE_SEED: seed }))
}
const sum = (key: keyof Outcome) => outcomes.reduce((total, outcome) => total + outcome[key], 0)
const [passed, failed, skipped] = [sum('passed'), sum('failed'), sum('skipped')]
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
const bad = outcomes.find(({ exitCode }) => exitCode !== 0)
process.exit(bad ? bad.exitCode : passed === 0 ? 1 : 0)

async function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Outcome> {
  const report = `${tmpdir()}/chartroom-junit-${process.pid}.xml`
  const runner = Bun.spawn(
    [
      process.execPath,
      'test',
      '--parallel=2',
      // A busy machine is no failure.
      '--timeout=60000',
      '--reporter=junit',
      `--reporter-outfile=${report}`,
      ...args,
    ],
    { stdio: ['inherit', 'inherit', 'inherit'], env: { ...process.env, ...env } },
  )
  const exitCode = await runner.exited
  const { tests, failures, skipped } = counts(report)
  rmSync(report, { force: true })
  // A file that did not load, or a crash, is in no report.
  const crashed = exitCode !== 0 && failures === 0 ? 1 : 0
  return { exitCode, passed: Math.max(0, tests - failures - skipped), failed: failures + crashed, skipped }
}

function counts(report: string): { tests: number; failures: number; skipped: number } {
  try {
    const suites = /<testsuites\b[^>]*>/.exec(readFileSync(report, 'utf8'))?.[0] ?? ''
    const attribute = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suites)?.[1] ?? 0)
    return {
      tests: attribute('tests'),
      failures: attribute('failures') + attribute('errors'),
      skipped: attribute('skipped'),
    }
  } catch {
    // No report: the runner died.
    return { tests: 0, failures: 0, skipped: 0 }
  }
}

/** The journeys of the dashboard need a Chromium: the machine's, or one that is brought for them. */
async function sayBrowser(): Promise<void> {
  try {
    const { path } = foundChromium() ?? (await bringChromium())
    console.log(`Browser of the dashboard's tests: ${path}`)
  } catch (error) {
    console.warn(error instanceof Error ? error.message : error)
  }
}
