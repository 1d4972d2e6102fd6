// Runs `bun test` and ends with the one line that CI reads: "N passed, N failed" (", N skipped" when some were). Brings a
// browser where the machine has none.
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { bringChromium, foundChromium } from '../../tests/browser/chromium.ts'

await sayBrowser()

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
    ...process.argv.slice(2),
  ],
  { stdio: ['inherit', 'inherit', 'inherit'] },
)
const exitCode = await runner.exited

let tests = 0
let failures = 0
let skipped = 0
try {
  const suites = /<testsuites\b[^>]*>/.exec(readFileSync(report, 'utf8'))?.[0] ?? ''
  const attribute = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suites)?.[1] ?? 0)
  tests = attribute('tests')
  failures = attribute('failures') + attribute('errors')
  skipped = attribute('skipped')
} catch {
  // No report: the runner died. Counted below.
}
rmSync(report, { force: true })

// A file that did not load, or a crash, is in no report.
const crashed = exitCode !== 0 && failures === 0 ? 1 : 0
const passed = Math.max(0, tests - failures - skipped)
console.log(`${passed} passed, ${failures + crashed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exit(exitCode === 0 && passed === 0 ? 1 : exitCode)

/** The journeys of the dashboard need a Chromium: the machine's, or one that is brought for them. */
async function sayBrowser(): Promise<void> {
  try {
    const { path } = foundChromium() ?? (await bringChromium())
    console.log(`Browser of the dashboard's tests: ${path}`)
  } catch (error) {
    console.warn(error instanceof Error ? error.message : error)
  }
}
