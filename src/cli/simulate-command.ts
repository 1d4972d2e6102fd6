// `chartroom simulate`: whole servers in a world that comes out of a seed, and whether they keep what they promise there.

import { CHECKS } from '../simulation/history.ts'
import { shrink } from '../simulation/shrink.ts'
import { ALL_FAULTS, FAULTS, simulate, type SimulationOptions } from '../simulation/simulation.ts'
import {
  type Command,
  type CommandContext,
  parseFlags,
  UsageError,
  wholeOf,
  switched,
  valued,
} from './command.ts'

const FLAGS = {
  ...valued('seed', 'hours', 'worlds', 'users', 'servers', 'faults'),
  ...switched('trace'),
}

const rows = (table: Readonly<Record<string, string>>) =>
  Object.entries(table).map(([name, says]) => `  ${name.padEnd(10)} ${says}`)

export const simulateCommand: Command = {
  name: 'simulate',
  usage: '[--seed N] [--hours H] [--worlds N] [--users N] [--servers N] [--faults LIST] [--trace]',
  summary: 'Run servers in a simulated world with faults, and check what they promise. Nothing is stored.',
  help: () =>
    [
      '  --seed     Which world: the same seed is the same run, to the line (default: another one each time)',
      '  --hours    How many hours of the simulated time people and faults last (default 24)',
      '  --worlds   How many worlds, of this seed and those after it (default 1); each is run twice, and must be the same',
      '  --users    How many people use it (default 4)',
      '  --servers  How many servers: one keeps its own data, several share a database (default 1)',
      `  --faults   Which faults there are, separated by commas, or none (default all)`,
      '  --trace    Show what happened, in at most 200 lines, also where nothing was found',
      '',
      'Faults:',
      ...rows(FAULTS),
      'Checks:',
      ...rows(CHECKS),
    ].join('\n'),
  async run(context) {
    const flags = parseFlags(context.args, FLAGS)
    const first = flags.seed === undefined ? seedOf(context) : wholeOf(flags.seed, '--seed', 0)
    const worlds = wholeOf(flags.worlds ?? '1', '--worlds', 1, 1_000_000)
    const options = {
      hours: wholeOf(flags.hours ?? '24', '--hours', 1, 10_000),
      users: wholeOf(flags.users ?? '4', '--users', 1, 100),
      servers: wholeOf(flags.servers ?? '1', '--servers', 1, 9),
      faults: faultsOf(flags.faults),
    }
    for (let seed = first; seed < first + worlds; seed++)
      if (!(await isFine(context, { ...options, seed }, flags.trace === true))) return 1
    return 0
  },
}

async function isFine(
  { print, progress }: CommandContext,
  options: SimulationOptions,
  isTold: boolean,
): Promise<boolean> {
  progress?.(`seed ${options.seed} …`)
  const outcome = await simulate(options)
  const again = await simulate(options)
  progress?.(null)
  const { calls, accepted, firings } = outcome.counts
  if (again.digest !== outcome.digest) {
    print(
      `seed ${options.seed}: two runs differ (${outcome.digest}, ${again.digest}): something in it is left to chance`,
    )
    return false
  }
  if (outcome.findings.length === 0) {
    if (isTold) for (const line of outcome.trace) print(line)
    print(
      `seed ${options.seed}: nothing found in ${options.hours} h (${calls} requests, ${firings} firings, ${accepted} deliveries; trace ${outcome.digest})`,
    )
    return true
  }
  const least = await shrink(options, outcome, (smaller) => progress?.(`smaller: ${commandOf(smaller)}`))
  progress?.(null)
  for (const line of least.outcome.trace) print(line)
  for (const { check, says } of least.outcome.findings) print(`${check}: ${says}\n  broken: ${CHECKS[check]}`)
  print(`Again: ${commandOf(least.options)}`)
  return false
}

const commandOf = ({ seed, hours, users, servers, faults }: SimulationOptions) =>
  `chartroom simulate --seed ${seed} --hours ${hours} --users ${users} --servers ${servers} --faults ${faults.join(',') || 'none'}`

const seedOf = ({ random }: CommandContext) => Buffer.from(random.bytes(4)).readUInt32LE()

function faultsOf(text: string | undefined): SimulationOptions['faults'] {
  if (text === undefined) return ALL_FAULTS
  if (text === 'none') return []
  return text.split(',').map((name) => {
    const found = ALL_FAULTS.find((fault) => fault === name)
    if (found === undefined)
      throw new UsageError(`There is no fault "${name}": ${ALL_FAULTS.join(', ')}, or none.`)
    return found
  })
}
