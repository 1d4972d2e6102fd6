// `bun run bench [name] [arguments]`: runs tests/**/<name>.bench.ts, or all of them without a name. Benchmarks print and
// never fail, since a busy machine is not a bug. Only a comparison that the user asked for can fail.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import process from 'node:process'
import type { BenchRow } from '../../tests/bench-rows.ts'
import { withFigures } from './bench-figures.ts'
import { commandLine, refused } from './command-line.ts'

const files = [...new Bun.Glob('tests/**/*.bench.ts').scanSync('.')].toSorted()
const names = files.map((file) => /([^/]+)\.bench\.ts$/.exec(file)?.[1] ?? file)
/** These benchmarks install packages. */
const PEERS = 'peers'
const FIGURES = 'tests/FIGURES.md'
const HELP = `bun run bench [OPTIONS] [NAME] [ARGUMENTS]

Runs a benchmark with its arguments, or all of them: ${names.join(', ')}.

  --save FILE       Writes the rows of the benchmarks that were run to FILE
  --against FILE    Compares them with those of FILE, saved at another commit, and exits with 1 where one is slower: by
                    its share of the limit, where it has one
  --tolerance N     How many times as long is not slower yet (1.25)
  --figures         Writes what was measured into the table of tests/FIGURES.md
  --peers           The packages of others too, which npm installs into a folder of their own for the time

Options stand before the name; what follows it is the benchmark's own.`

const args = process.argv.slice(2)
const { values, name, rest } = chosenOf(args)
const tolerance = Number(values.tolerance)
if (!(tolerance > 0)) refused(HELP, '--tolerance is a number above 0, as 1.25.')
const before = values.against === undefined ? null : savedRows(values.against)
const chosen = files.filter((file) =>
  name === undefined
    ? !file.endsWith(`/${PEERS}.bench.ts`) || values.peers
    : file.endsWith(`/${name}.bench.ts`),
)
if (chosen.length === 0) refused(HELP, `No benchmark is named "${name}".`)
const rows = await rowsOf(chosen)
if (values.save !== undefined) writeFileSync(values.save, `${JSON.stringify(rows, null, 2)}\n`)
if (values.figures) intoTable(rows)
if (before) process.exitCode = compared(before, rows) ? 0 : 1

/**
 * The arguments behind a name belong to the benchmark. `--peers` without a name runs only the benchmarks of other engines.
 */
function chosenOf(given: readonly string[]) {
  const options = {
    save: { type: 'string' },
    against: { type: 'string' },
    tolerance: { type: 'string', default: '1.25' },
    figures: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
  } as const
  let at = 0
  while (given[at]?.startsWith('-')) at += takesValue(given[at]!) ? 2 : 1
  const { values: found } = commandLine(HELP, options, { args: given.slice(0, at) })
  return { values: found, name: given[at] ?? (found.peers ? PEERS : undefined), rest: given.slice(at + 1) }
}

function intoTable(measured: readonly BenchRow[]): void {
  const text = withFigures(existsSync(FIGURES) ? readFileSync(FIGURES, 'utf8') : '', measured)
  if (text === null) return refused(HELP, `${FIGURES} has no place for figures.`)
  writeFileSync(FIGURES, text)
}

function takesValue(option: string): boolean {
  return ['--save', '--against', '--tolerance'].includes(option)
}

function savedRows(file: string): readonly BenchRow[] {
  if (!existsSync(file)) return refused(HELP, `There is no file ${file}: --save writes one.`)
  try {
    const saved = JSON.parse(readFileSync(file, 'utf8')) as unknown
    if (Array.isArray(saved) && saved.every(isRow)) return saved
  } catch {
    // The next lines report it.
  }
  return refused(HELP, `${file} holds no rows of benchmarks: --save writes them.`)
}

function isRow(value: unknown): value is BenchRow {
  const { name: of, value: figure } = (value ?? {}) as Partial<BenchRow>
  return typeof of === 'string' && typeof figure === 'number'
}

async function rowsOf(benchmarks: readonly string[]): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-bench-`)
  const noted = `${folder}/rows`
  writeFileSync(noted, '')
  for (const file of benchmarks) {
    console.log(`\n${file}`)
    const child = Bun.spawn([process.execPath, file, ...rest], {
      stdout: 'inherit',
      stderr: 'inherit',
      env: { ...process.env, BENCH_ROWS: noted },
    })
    await child.exited
  }
  const lines = readFileSync(noted, 'utf8').split('\n').filter(Boolean)
  rmSync(folder, { recursive: true })
  return lines.map((line) => JSON.parse(line) as BenchRow)
}

/**
 * How many times as long a row takes. Where both were measured beside a limit, it is their shares of it that are compared, since
 * a busy machine slows both down.
 */
function timesAsLong(now: BenchRow, was: BenchRow): number {
  const isShare = now.limit !== undefined && was.limit !== undefined
  return isShare ? now.value / now.limit / (was.value / was.limit) : now.value / was.value
}

/** Prints how the rows compare, and answers whether none became slower than allowed. */
function compared(earlier: readonly BenchRow[], now: readonly BenchRow[]): boolean {
  console.log(`\nagainst ${values.against}`)
  let slower = 0
  for (const row of now) {
    const { name: of, value, unit, limit } = row
    const was = earlier.find((one) => one.name === of)
    if (was === undefined) {
      console.log(`  new      ${of}: ${value.toFixed(1)} ${unit}`)
      continue
    }
    const ratio = timesAsLong(row, was)
    const beside = limit === undefined || was.limit === undefined ? '' : ', as shares of the limit'
    const isSlower = ratio > tolerance
    if (isSlower) slower++
    console.log(
      `  ×${ratio.toFixed(2).padEnd(6)} ${of}: ${was.value.toFixed(1)} → ${value.toFixed(1)} ${unit}${beside}${isSlower ? '   SLOWER' : ''}`,
    )
  }
  const missing = earlier.filter((row) => !now.some(({ name: of }) => of === row.name))
  for (const { name: of } of missing) console.log(`  not run  ${of}`)
  console.log(
    slower === 0
      ? `No row takes more than ${tolerance} times as long.`
      : `${slower} take more than ${tolerance} times as long.`,
  )
  return slower === 0
}
