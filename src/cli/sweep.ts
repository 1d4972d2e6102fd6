// `chartroom sweep`: runs one script with many choices of its inputs, and judges what remains of the best without luck.
//
// It uses the server's own sweeps, over a store in memory, so that a seed gives the same trials in both.

import { availableParallelism } from 'node:os'
import { Problem } from '../lib/problem.ts'
import { BarCache } from '../market/bar-cache.ts'
import { memoryBars } from '../market/bar-store.ts'
import { Ledger } from '../work/sweeps/ledger.ts'
import { Sweeps, type Sweep } from '../work/sweeps/sweeps.ts'
import { csvHead, csvLine, stitchedCsv } from '../work/sweeps/trials.ts'
import type { StitchedEquity, SweepBody, SweepTrial, Verdict } from '../wire/sweep.ts'
import {
  onlyOf,
  parseArguments,
  UsageError,
  wholeOf,
  type Command,
  type CommandContext,
  type FlagsOf,
  repeated,
  switched,
  valued,
} from './command.ts'
import { scriptProblem } from './diagnostics-text.ts'
import { overOf, USER, withJobs } from './jobs-here.ts'
import { BARS_FLAGS, BARS_HELP, withScriptBars, type ScriptBars } from './script-bars.ts'
import { DAY_FLAG, DAY_HELP, librariesBeside, readScript, settingsOf } from './script-file.ts'
import { variedOfFlag } from './sweep-space.ts'
import { verdictLines } from './sweep-text.ts'
import { progressBar } from './table.ts'

const FLAGS = {
  ...BARS_FLAGS,
  ...DAY_FLAG,
  ...repeated('set', 'where', 'require'),
  ...valued('inputs', 'properties', 'sampler', 'trials', 'seed', 'objective', 'halving', 'rungs'),
  ...valued('hold-out', 'runs', 'share', 'workers', 'libraries', 'csv', 'equity'),
  ...switched('walk-forward', 'anchored', 'matrix', 'json'),
}

/** The only user of the store in memory. */
const PAGE = 1000

export const sweepCommand: Command = {
  name: 'sweep',
  usage: "SCRIPT.pine --set 'NAME=MIN..MAX/STEP' … --bars FILE.csv | --exchange E --symbol S --interval I",
  summary: 'Run a script with many choices of its inputs, and say how much of the best is luck.',
  help: () =>
    [
      '  SCRIPT.pine           Of any version, 1 to 6; - reads standard input',
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
      '  --matrix              … thirty times: each share from 10 to 30% with 5 to 30 windows',
      '  --runs N, --share S   Windows (10), and the part of each that it is judged on (0.2)',
      ...BARS_HELP,
      `  --inputs JSON         Values of other inputs: '{"Length": 20}'`,
      `  --properties JSON     Arguments of strategy() instead of the script's: '{"commission_value": 0.1}'`,
      DAY_HELP,
      '  --libraries FOLDER    Where imported libraries are: USER/LIBRARY.pine',
      '  --workers N           Threads; as many as there are processors if not given',
      '  --csv OUT.csv         Write all trials',
      '  --equity OUT.csv      Write what a walk-forward earned out of sample, window after window',
      '  --json                Verdict and trials as JSON on standard output',
    ].join('\n'),
  run: async (context) => {
    const { flags, positionals } = parseArguments(context.args, FLAGS)
    const path = onlyOf(positionals, 'script')
    const script = await readScript(context, path)
    const asked = askedOf(context, flags, script.source)
    if (flags.equity !== undefined && !['rolling', 'anchored'].includes(asked.windows?.kind ?? 'none'))
      throw new UsageError('--equity goes with --walk-forward or --anchored.')
    return withScriptBars(context, flags, async (bars) => {
      const workers =
        flags.workers === undefined ? availableParallelism() : wholeOf(flags.workers, '--workers')
      const { sweep, verdict, trials, stitched } = await swept(context, asked, bars, {
        workers,
        path,
        libraries: flags.libraries,
      })
      if (sweep.error) throw scriptProblem(script, sweep.error, context)
      const names = sweep.space.map(({ input, property }) => input ?? property ?? '')
      if (flags.csv !== undefined)
        await Bun.write(flags.csv, `${[csvHead(sweep, names), ...trials.map(csvLine)].join('\n')}\n`)
      if (flags.equity !== undefined && stitched[0])
        await Bun.write(flags.equity, stitchedCsv(stitched[0], verdict?.walkForward ?? null, 0))
      if (flags.json) context.print(JSON.stringify({ asOf: sweep.asOf, verdict, trials, stitched }))
      else if (verdict)
        for (const line of verdictLines(sweep, verdict, trials, bars.bars, stitched)) context.print(line)
      return 0
    })
  },
}

type Flags = FlagsOf<typeof FLAGS>
type AskedSweep = Omit<SweepBody, 'name' | 'symbol' | 'exchange' | 'interval' | 'bars'>

function askedOf(context: CommandContext, flags: Flags, source: string): AskedSweep {
  if (!flags.set) throw new UsageError("Name what to vary: --set 'fast=5..50/5'.")
  return {
    source,
    space: flags.set.map(variedOfFlag),
    where: flags.where ?? [],
    constraints: flags.require ?? [],
    windows: windowsOf(flags),
    ...halvingOf(flags),
    ...settingsOf(context, flags),
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

function shareOf(text: string, flag: string): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= 0.05 && value <= 0.5) return value
  throw new UsageError(`${flag} takes a part from 0.05 to 0.5.`)
}

/** Says which of several flags is meant where the server's words are for a field. */
function withFlag(error: unknown, { space, where, constraints }: AskedSweep): unknown {
  if (!(error instanceof Problem)) return error
  const path = error.details.fields?.[0]?.path ?? ''
  const [, field, place = ''] = /^\/(\w+)\/(\d+)/.exec(path) ?? []
  const varied = field === 'space' ? space[Number(place)] : undefined
  const name = varied?.input ?? (varied?.property && `strategy.${varied.property}`)
  const flag =
    name === undefined
      ? {
          where: `--where '${where?.[Number(place)]}'`,
          constraints: `--require '${constraints?.[Number(place)]}'`,
        }[field ?? '']
      : `--set '${name}=…'`
  return flag === undefined ? error : new Problem(error.status, error.code, `${flag}: ${error.message}`)
}

interface Swept {
  readonly sweep: Sweep
  readonly verdict: Verdict | null
  readonly trials: readonly SweepTrial[]
  /** Of each cell of the walk-forward. */
  readonly stitched: readonly StitchedEquity[]
}

async function swept(
  context: CommandContext,
  asked: AskedSweep,
  { key, bars, symbol, finer, series, ledger }: ScriptBars,
  {
    workers,
    path,
    libraries,
  }: { readonly workers: number; readonly path: string; readonly libraries: string | undefined },
): Promise<Swept> {
  const cache = new BarCache(memoryBars())
  await cache.store.putSymbol(symbol)
  await cache.upsert(key, bars)
  const library = librariesBeside(path, libraries)
  const userId = ledger?.userId ?? USER
  // One more than the threads that run scripts, since the pool keeps one for urgent jobs.
  return withJobs(context, workers + 1, async (here) => {
    const sweeps = new Sweeps({
      ...here,
      bars: cache,
      // Trials on cached bars are counted where the server counts them.
      ledger: new Ledger({ ...here, ...ledger }),
      hostFor: () => ({ library, series, finer: () => finer }),
      atOnce: workers,
    })
    const made = await sweeps
      .create(userId, { ...asked, ...key, name: path, bars: bars.length })
      .catch((error: unknown) => {
        throw withFlag(error, asked)
      })
    const sweep = await overOf(sweeps, made, context, ({ tried, trying, filtered, planned, perSecond }) => {
      const seen = tried + trying + filtered
      const left = perSecond ? `, ${Math.ceil((planned - seen) / perSecond)} s left` : ''
      const rate = perSecond ? `, ${Math.round(perSecond)} a second${left}` : ''
      return `${progressBar(seen / planned)}  ${seen} of ${planned}${rate}`
    })
    const trials: SweepTrial[] = []
    while (trials.length < sweep.tried)
      trials.push(...(await sweeps.results(userId, made.id, { limit: PAGE, from: trials.length })).trials)
    const verdict = await sweeps.verdict(userId, made.id)
    const cells = verdict?.walkForward?.cells ?? []
    const stitched = await Promise.all(cells.map((_, cell) => sweeps.stitched(userId, made.id, cell)))
    return { sweep, verdict, trials, stitched: stitched.filter((one) => one !== null) }
  })
}
