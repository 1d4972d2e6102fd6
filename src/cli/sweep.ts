// `chartroom sweep`: runs one script with many choices of its inputs, and judges what remains of the best without luck.
//
// It uses the server's own sweeps, over a store in memory, so that a seed gives the same trials in both.

import { availableParallelism, totalmem } from 'node:os'
import process from 'node:process'
import { JobPool } from '../engine/pool.ts'
import { threadMs } from '../engine/thread-time.ts'
import { idSource } from '../lib/ids.ts'
import { silentLog } from '../lib/log.ts'
import { BarCache } from '../market/bar-cache.ts'
import { memoryBars } from '../market/bar-store.ts'
import { DEFAULT_LIMITS } from '../pine/runtime/runtime.ts'
import { memoryKv } from '../store/memory.ts'
import { Ledger } from '../sweeps/ledger.ts'
import { Sweeps, type Sweep } from '../sweeps/sweeps.ts'
import { csvHead, csvLine } from '../sweeps/trials.ts'
import type { SweepBody, SweepTrial, Verdict } from '../wire/sweep.ts'
import { parseFlags, UsageError, type Command, type CommandContext } from './command.ts'
import { scriptProblem } from './diagnostics-text.ts'
import { BARS_FLAGS, BARS_HELP, parseJsonObject, withScriptBars, type ScriptBars } from './script-bars.ts'
import { librariesBeside, readScript } from './script-file.ts'
import { variedOfFlag } from './sweep-space.ts'
import { verdictLines } from './sweep-text.ts'
import { progressBar } from './table.ts'

const FLAGS = {
  ...BARS_FLAGS,
  set: { type: 'string', multiple: true },
  where: { type: 'string', multiple: true },
  inputs: { type: 'string' },
  properties: { type: 'string' },
  sampler: { type: 'string' },
  trials: { type: 'string' },
  seed: { type: 'string' },
  objective: { type: 'string' },
  require: { type: 'string', multiple: true },
  halving: { type: 'string' },
  rungs: { type: 'string' },
  'hold-out': { type: 'string' },
  'walk-forward': { type: 'boolean' },
  anchored: { type: 'boolean' },
  matrix: { type: 'boolean' },
  runs: { type: 'string' },
  share: { type: 'string' },
  workers: { type: 'string' },
  libraries: { type: 'string' },
  csv: { type: 'string' },
  json: { type: 'boolean' },
} as const

/** The only user of the store in memory. */
const USER = 'cli'
const PAGE = 1000

export const sweepCommand: Command = {
  name: 'sweep',
  usage: "SCRIPT.pine --set 'NAME=MIN..MAX/STEP' … --bars FILE.csv | --exchange E --symbol S --interval I",
  summary: 'Run a script with many choices of its inputs, and say how much of the best is luck.',
  help: () =>
    [
      '  SCRIPT.pine           Version 4, 5 or 6; - reads standard input',
      "  --set 'NAME=RANGE'    What is varied, as often as you like: fast=5..50/5, mult=0.5..4 (any number), len=5..500/1:log,",
      '                        kind=both,long (values), strategy.pyramiding=0..3/1 (a property of strategy())',
      "  --where 'CONDITION'   Between what is varied: fast < slow. As often as you like",
      '  --objective E         What is wanted as large as possible: netProfit (if not given), sharpe, netProfit / maxDrawdown, …',
      "  --require 'CONDITION' What a trial must fulfil to count: trades >= 30. As often as you like",
      '  --sampler S           grid (if every range has steps), random, sobol, tpe or cmaes',
      '  --trials N            Most trials; 1,000 but for a grid',
      '  --seed N              The same seed tries the same; 1 if not given',
      '  --halving SHARE       Run each choice on the first SHARE of the bars, and only the best SHARE of them on all: 0.33',
      '  --rungs N             … in so many steps, each on SHARE of the bars of the next: 1 to 3',
      '  --hold-out SHARE      Keep the last part of the bars back, and judge the best on it: 0.3',
      '  --walk-forward        Choose again and again on past bars, and judge each choice on those that follow',
      '  --anchored            … with all past bars instead of a window that rolls',
      '  --matrix              … thirty times: each share from 10 to 30 % with 5 to 30 windows',
      '  --runs N, --share S   Windows (10), and the part of each that it is judged on (0.2)',
      ...BARS_HELP,
      `  --inputs JSON         Values of other inputs: '{"Length": 20}'`,
      `  --properties JSON     Arguments of strategy() instead of the script's: '{"commission_value": 0.1}'`,
      '  --libraries FOLDER    Where imported libraries are: USER/LIBRARY.pine',
      '  --workers N           Threads; as many as there are processors if not given',
      '  --csv OUT.csv         Write all trials',
      '  --json                Verdict and trials as JSON on standard output',
    ].join('\n'),
  run: async (context) => {
    const { values: flags, positionals } = parseFlags({
      args: [...context.args],
      options: FLAGS,
      allowPositionals: true,
    })
    const [path, ...more] = positionals
    if (path === undefined || more.length > 0) throw new UsageError('Name one script.')
    const script = await readScript(context, path)
    const asked = askedOf(flags, script.source)
    return withScriptBars(context, flags, async (bars) => {
      const workers =
        flags.workers === undefined ? availableParallelism() : wholeOf(flags.workers, '--workers')
      const { sweep, verdict, trials } = await swept(context, asked, bars, {
        workers,
        path,
        libraries: flags.libraries,
      })
      if (sweep.error) throw scriptProblem(script, sweep.error, context)
      const names = sweep.space.map(({ input, property }) => input ?? property ?? '')
      if (flags.csv !== undefined)
        await Bun.write(flags.csv, `${[csvHead(sweep, names), ...trials.map(csvLine)].join('\n')}\n`)
      if (flags.json) context.print(JSON.stringify({ verdict, trials }))
      else if (verdict)
        for (const line of verdictLines(sweep, verdict, trials, bars.bars)) context.print(line)
      return 0
    })
  },
}

type Flags = ReturnType<
  typeof parseFlags<{
    readonly options: typeof FLAGS
    readonly args: string[]
    readonly allowPositionals: true
  }>
>['values']
type Asked = Omit<SweepBody, 'name' | 'symbol' | 'exchange' | 'interval' | 'bars'>

function askedOf(flags: Flags, source: string): Asked {
  if (!flags.set) throw new UsageError("Name what to vary: --set 'fast=5..50/5'.")
  return {
    source,
    space: flags.set.map(variedOfFlag),
    where: flags.where ?? [],
    constraints: flags.require ?? [],
    windows: windowsOf(flags),
    ...halvingOf(flags),
    ...(flags.inputs !== undefined && { inputs: parseJsonObject(flags.inputs, '--inputs') }),
    ...(flags.properties !== undefined && {
      overrides: parseJsonObject(flags.properties, '--properties') as NonNullable<SweepBody['overrides']>,
    }),
    ...(flags.sampler !== undefined && { sampler: samplerOf(flags.sampler) }),
    ...(flags.trials !== undefined && { trials: wholeOf(flags.trials, '--trials') }),
    ...(flags.seed !== undefined && { seed: wholeOf(flags.seed, '--seed', 0) }),
    ...(flags.objective !== undefined && { objective: flags.objective }),
  }
}

const SAMPLER_NAMES = ['grid', 'random', 'sobol', 'tpe', 'cmaes'] as const

function samplerOf(text: string): NonNullable<SweepBody['sampler']> {
  const found = SAMPLER_NAMES.find((name) => name === text)
  if (!found) throw new UsageError(`--sampler takes one of ${SAMPLER_NAMES.join(', ')}.`)
  return found
}

function halvingOf({ halving, rungs }: Flags): Pick<SweepBody, 'halving'> {
  if (halving === undefined) return {}
  const keep = Number(halving)
  if (!(keep >= 0.1 && keep <= 0.8)) throw new UsageError('--halving takes a part from 0.1 to 0.8.')
  return { halving: { keep, ...(rungs !== undefined && { rungs: wholeOf(rungs, '--rungs', 1, 3) }) } }
}

function windowsOf(flags: Flags): NonNullable<SweepBody['windows']> {
  const walks = flags['walk-forward'] || flags.anchored || flags.matrix
  if (flags['hold-out'] !== undefined) {
    if (walks) throw new UsageError('Take either --hold-out or --walk-forward.')
    return { kind: 'holdout', share: shareOf(flags['hold-out'], '--hold-out') }
  }
  if (flags.matrix) return { kind: 'matrix' }
  if (!walks) return { kind: 'none' }
  return {
    kind: flags.anchored ? 'anchored' : 'rolling',
    ...(flags.runs !== undefined && { runs: wholeOf(flags.runs, '--runs', 2, 50) }),
    ...(flags.share !== undefined && { share: shareOf(flags.share, '--share') }),
  }
}

function wholeOf(text: string, flag: string, least = 1, most = 2 ** 32 - 1): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= most) return value
  throw new UsageError(`${flag} takes a whole number from ${least}${most < 1e6 ? ` to ${most}` : ''}.`)
}

function shareOf(text: string, flag: string): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= 0.05 && value <= 0.5) return value
  throw new UsageError(`${flag} takes a part from 0.05 to 0.5.`)
}

interface Swept {
  readonly sweep: Sweep
  readonly verdict: Verdict | null
  readonly trials: readonly SweepTrial[]
}

async function swept(
  { clock, random, progress, spawnWorker }: CommandContext,
  asked: Asked,
  { key, bars, symbol, finer, series }: ScriptBars,
  {
    workers,
    path,
    libraries,
  }: { readonly workers: number; readonly path: string; readonly libraries: string | undefined },
): Promise<Swept> {
  const cache = new BarCache(memoryBars())
  await cache.store.putSymbol(symbol)
  await cache.upsert(key, bars)
  const kv = memoryKv()
  const pool = new JobPool({
    // One more than the threads that run scripts, since the pool keeps one for urgent jobs.
    workers: workers + 1,
    clock: { now: () => performance.now(), sleep: (ms) => Bun.sleep(ms) },
    threadMs,
    spawn: spawnWorker,
    memory: () => process.memoryUsage.rss(),
    memoryMax: totalmem(),
  })
  const library = librariesBeside(path, libraries)
  const sweeps = new Sweeps({
    kv,
    clock: { now: () => performance.now(), sleep: clock.sleep },
    newId: idSource({ clock, random }),
    log: silentLog,
    bars: cache,
    pool,
    limits: DEFAULT_LIMITS,
    ledger: new Ledger({ kv, log: silentLog }),
    hostFor: () => ({ library, series, finer: () => finer }),
    atOnce: workers,
  })
  try {
    const made = await sweeps.create(USER, { ...asked, ...key, name: path, bars: bars.length })
    await sweeps.watch(
      USER,
      made.id,
      new AbortController().signal,
      ({ tried, filtered, planned, perSecond }) => {
        const seen = tried + filtered
        const left = perSecond ? `, ${Math.ceil((planned - seen) / perSecond)} s left` : ''
        const rate = perSecond ? `, ${Math.round(perSecond)} a second${left}` : ''
        progress?.(`${progressBar(seen / planned)}  ${seen} of ${planned}${rate}`)
      },
    )
    progress?.(null)
    const trials: SweepTrial[] = []
    const sweep = await sweeps.get(USER, made.id)
    while (trials.length < sweep.tried)
      trials.push(...(await sweeps.results(USER, made.id, { limit: PAGE, from: trials.length })).trials)
    return { sweep, verdict: await sweeps.verdict(USER, made.id), trials }
  } finally {
    progress?.(null)
    pool.close()
  }
}
