// Beside PineForge, which compiles Pine to C++: `bun run bench pineforge CORPUS ENGINE [PROBE …]`.
//
// CORPUS and ENGINE are checkouts of github.com/pineforge-4pass/pineforge-corpus and …/pineforge-engine. Every probe's
// generated.cpp is compiled with -O3 and run over the corpus's bars in a process of its own, ours runs strategy.pine over
// the same bars in this one. Rounds alternate, each by the clock, without compiling. There are three passes over all probes, with
// six rounds of each probe in a pass, and what stands in the table is of all eighteen: a virtual machine's processor may be
// slower by half for some seconds, in which all rounds of a probe would lie if they followed each other. What has been built is
// kept beside the checkout of the engine (`build-bench`), so that only the first time takes long. It wants g++, and Eigen's
// headers where the system has them or where EIGEN says.
//
// A ratio is PineForge's time divided by ours: above 1, ours is faster. On a busy machine only the fastest rounds and the
// processor's time of all rounds say much. `nice` does not help against other sessions where Linux groups processes by them
// (/proc/sys/kernel/sched_autogroup_enabled): a probe of 7 ms then takes 11, a slice of 4 more. Go before them as root, with
// `setsid -w sh -c 'echo -20 >/proc/self/autogroup; exec bun run bench pineforge …'`.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import type { BacktestRequest } from '../../src/broker/backtest.ts'
import { CompiledScripts } from '../../src/broker/compiled-scripts.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { requestFor, symbolOf } from '../../src/cli/parity/case.ts'
import { readBars } from '../../src/cli/parity/files.ts'
import { Problem } from '../../src/lib/problem.ts'
import { ownThread, ownThreadMs, threadMs } from '../../src/work/workers/thread-time.ts'
import { noteRow } from '../bench-rows.ts'

const PASSES = 3
/** Of a probe in a pass. */
const ROUNDS = 6
/** Ours only, in each pass: what is hot by then is machine code, as it is in a worker. */
const WARM = 20

/** Milliseconds of each round. */
interface Times {
  readonly clock: number[]
  readonly processor: number[]
}

interface Pair {
  readonly name: string
  readonly ours: Times
  readonly theirs: Times
}

const [corpus, engine, ...only] = process.argv.slice(2)
if (corpus === undefined || engine === undefined)
  console.log('give the two checkouts: bun run bench pineforge CORPUS ENGINE [PROBE …]')
else await compare(resolve(corpus), resolve(engine))

async function compare(probes: string, sources: string): Promise<void> {
  const names = readdirSync(join(probes, 'validation'))
    .filter((name) =>
      ['generated.cpp', 'strategy.pine'].every((file) => existsSync(fileOf(probes, name, file))),
    )
    .filter((name) => only.length === 0 || only.includes(name))
    .toSorted()
  const built = join(sources, 'build-bench')
  const uncompiled = new Set(await build(probes, sources, built, names))
  const csv = join(probes, 'data/ohlcv_ETH-USDT-USDT_15m_warmup6m.csv')
  const bars = readBars(csv)
  const symbol = symbolOf({
    symbol: 'BINANCE:ETHUSDT.P',
    currency: 'USDT',
    basecurrency: 'ETH',
    mincontract: 0.0001,
  })
  const scripts = new CompiledScripts()
  const pairs = new Map<string, Pair>()
  const left = new Map<string, string>([...uncompiled].map((name) => [name, 'g++ refuses its generated.cpp']))
  for (const name of Array.from({ length: PASSES }, () => names).flat()) {
    if (left.has(name)) continue
    const request = requestFor(
      readFileSync(fileOf(probes, name, 'strategy.pine'), 'utf8'),
      bars,
      symbol,
      '15',
    )
    try {
      const pair = pairs.get(name) ?? { name, ours: noTimes(), theirs: noTimes() }
      await alternate({ ...request, scripts }, join(built, `${name}.so`), csv, pair)
      pairs.set(name, pair)
    } catch (error) {
      pairs.delete(name)
      left.set(name, error instanceof Problem ? error.message : String(error))
    }
  }
  print([...pairs.values()], left)
}

function noTimes(): Times {
  return { clock: [], processor: [] }
}

function fileOf(probes: string, name: string, file: string): string {
  return join(probes, 'validation', name, file)
}

/** Compiles what is not there yet. Answers the probes that did not compile. */
async function build(
  probes: string,
  sources: string,
  into: string,
  names: readonly string[],
): Promise<string[]> {
  const include = join(into, 'include/pineforge')
  mkdirSync(include, { recursive: true })
  const version = readFileSync(join(sources, 'include/pineforge/version.h.in'), 'utf8')
  writeFileSync(
    join(include, 'version.h'),
    version.replace(/@[A-Z_]+@/g, '0').replace(/^#cmakedefine.*$/gm, ''),
  )
  const roots = [join(sources, 'include'), join(sources, 'src'), join(into, 'include')]
  const eigen = process.env['EIGEN'] ?? '/usr/include/eigen3'
  const flags = ['-O3', '-std=c++17', '-fPIC', '-DNDEBUG', ...[...roots, eigen].map((root) => `-I${root}`)]
  const modules = [...new Bun.Glob('*.cpp').scanSync(join(sources, 'src'))]
  const objects = modules.map((file) => join(into, `${file}.o`))
  const harness = join(import.meta.dir, 'pineforge.cpp')
  rmSync(join(into, 'harness'), { force: true })
  const engineBuilt = await inParallel([
    ...modules.map((file, i) => [objects[i]!, ...flags, '-c', join(sources, 'src', file)]),
    [join(into, 'harness'), ...flags, harness, '-ldl'],
  ])
  if (engineBuilt.includes(false)) throw new Error('The engine does not compile.')
  const built = await inParallel(
    names.map((name) => [
      join(into, `${name}.so`),
      ...flags,
      '-shared',
      fileOf(probes, name, 'generated.cpp'),
      ...objects,
    ]),
  )
  return names.filter((_, i) => !built[i])
}

/** Each job: what it makes, and what g++ is told. Answers which are there in the end. */
async function inParallel(jobs: readonly (readonly string[])[]): Promise<boolean[]> {
  const done = jobs.map(([target]) => existsSync(target!))
  let next = 0
  const worker = async () => {
    for (let job = next++; job < jobs.length; job = next++) {
      if (done[job]) continue
      const [target, ...args] = jobs[job]!
      const child = Bun.spawn(['g++', ...args, '-o', target!], { stdout: 'ignore', stderr: 'ignore' })
      done[job] = (await child.exited) === 0
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return done
}

/** Adds the rounds of a pass. */
async function alternate(
  request: BacktestRequest,
  library: string,
  csv: string,
  { ours, theirs }: Pair,
): Promise<void> {
  const thread = ownThread()
  // The first does not move between two short runs.
  const spent = () => (thread === null ? ownThreadMs() : (threadMs(thread) ?? ownThreadMs()))
  // What the last probe left. Not after the warm-up: the collector takes machine code and memory that rounds would find.
  Bun.gc(true)
  for (let i = 0; i < WARM; i++) runBacktest(request).release()
  const child = Bun.spawn([join(library, '../harness'), library, csv], { stdin: 'pipe', stdout: 'pipe' })
  const answers = child.stdout.getReader()
  for (let round = 0; round < ROUNDS; round++) {
    void child.stdin.write('\n')
    void child.stdin.flush()
    const { value } = await answers.read()
    if (value === undefined) throw new Error('PineForge ended before its time.')
    const [clock, processor] = new TextDecoder().decode(value).split(' ').map(Number)
    theirs.clock.push(clock!)
    theirs.processor.push(processor!)
    const before = spent()
    const from = performance.now()
    runBacktest(request).release()
    ours.clock.push(performance.now() - from)
    ours.processor.push(spent() - before)
  }
  void child.stdin.end()
  await child.exited
}

// ——— the table ———

function fastest({ ours, theirs }: Pair): number {
  return Math.min(...theirs.clock) / Math.min(...ours.clock)
}

function median({ ours, theirs }: Pair): number {
  return at(theirs.clock, 0.5) / at(ours.clock, 0.5)
}

function ofProcessor({ ours, theirs }: Pair): number {
  return sum(theirs.processor) / sum(ours.processor)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function at(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN
}

function print(pairs: readonly Pair[], left: ReadonlyMap<string, string>): void {
  const cells = (parts: readonly (string | number)[]) =>
    parts.map((part) => (typeof part === 'string' ? part : part.toFixed(2)).padStart(9)).join(' ')
  console.log(cells(['fastest', 'median', 'processor', 'ours, ms', 'PineForge']))
  for (const pair of pairs.toSorted((a, b) => fastest(a) - fastest(b))) {
    const least = [pair.ours, pair.theirs].map(({ clock }) => Math.min(...clock))
    console.log(`${cells([fastest(pair), median(pair), ofProcessor(pair), ...least])}  ${pair.name}`)
  }
  for (const [name, why] of left) console.log(`not run: ${name}: ${why}`)
  for (const [by, ratioOf] of [
    ['fastest rounds', fastest],
    ['median rounds', median],
    ["the processor's time", ofProcessor],
  ] as const) {
    const ratios = pairs.map(ratioOf)
    const slower = pairs.filter((pair) => ratioOf(pair) < 1).map(({ name }) => name)
    console.log(
      `by ${by}, ${pairs.length} probes: median ${at(ratios, 0.5).toFixed(2)}, tenth percentile ${at(ratios, 0.1).toFixed(2)}, slower on ${slower.length}${slower.length > 0 ? `: ${slower.join(', ')}` : ''}`,
    )
    noteRow(`beside PineForge, median of probes by ${by}`, 1 / at(ratios, 0.5), 'of its time')
  }
}
