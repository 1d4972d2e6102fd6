// Lists the commands and runs one. Each is loaded only when it is named: the server is most of the program, and `--version`
// or a container's health check should not have to load it.

import { Problem } from '../lib/problem.ts'
import { languageLine } from '../language/release-notes.ts'
import { DataRefused } from '../store/data-refused.ts'
import { didYouMean, UsageError, type Command, type CommandContext } from './command.ts'

const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serveCommand,
  backtest: async () => (await import('./backtest.ts')).backtestCommand,
  sweep: async () => (await import('./sweep.ts')).sweepCommand,
  portfolio: async () => (await import('./portfolio.ts')).portfolioCommand,
  forward: async () => (await import('./forward-command.ts')).forwardCommand,
  scan: async () => (await import('./scan.ts')).scanCommand,
  backtests: async () => (await import('./backtests-command.ts')).backtestsCommand,
  check: async () => (await import('./check.ts')).checkCommand,
  parity: async () => (await import('./parity.ts')).parityCommand,
  bars: async () => (await import('./bars-command.ts')).barsCommand,
  symbols: async () => (await import('./symbols-command.ts')).symbolsCommand,
  script: async () => (await import('./script-command.ts')).scriptCommand,
  user: async () => (await import('./user-command.ts')).userCommand,
  account: async () => (await import('./account-command.ts')).accountCommand,
  token: async () => (await import('./token-command.ts')).tokenCommand,
  backup: async () => (await import('./backup-command.ts')).backupCommand,
  restore: async () => (await import('./restore-command.ts')).restoreCommand,
  nodes: async () => (await import('./nodes-command.ts')).nodesCommand,
  copy: async () => (await import('./copy-command.ts')).copyCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  config: async () => (await import('./config-command.ts')).configCommand,
  healthcheck: async () => (await import('./healthcheck.ts')).healthcheckCommand,
  update: async () => (await import('./update-command.ts')).updateCommand,
  licenses: async () => (await import('./licenses-command.ts')).licensesCommand,
  simulate: async () => (await import('./simulate-command.ts')).simulateCommand,
}

/** Runs the command the arguments name; answers the exit code. */
export async function runCommand(context: CommandContext): Promise<number> {
  const { print, warn } = context
  const [name = '--help', ...args] = context.args
  if (name === '--version') {
    print(`chartroom ${context.version}`)
    print(languageLine())
    return 0
  }
  if (name === '--help' || name === 'help') {
    print(await overview(context))
    return 0
  }
  const command = Object.hasOwn(COMMANDS, name) ? await COMMANDS[name]?.() : undefined
  if (!command) {
    warn(
      `There is no command "${name}".${didYouMean(name, Object.keys(COMMANDS))} \`chartroom --help\` lists them.`,
    )
    return 2
  }
  if (args.includes('--help')) {
    print(
      [`chartroom ${command.name} ${command.usage}`, '', command.summary, '', command.help?.() ?? '']
        .join('\n')
        .trimEnd(),
    )
    return 0
  }
  try {
    return await command.run({ ...context, args })
  } catch (error) {
    if (error instanceof UsageError) {
      warn(`${error.message}\nUsage: chartroom ${command.name} ${command.usage}`)
      return 2
    }
    if (error instanceof Problem || error instanceof DataRefused) {
      warn(error.message)
      return 1
    }
    throw error
  }
}

async function overview({ ink }: CommandContext): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map((load) => load()))
  const width = Math.max(...commands.map(({ name }) => name.length))
  const rows = commands.map(({ name, summary }) => `  ${ink.strong(name.padEnd(width))}  ${summary}`)
  return [
    ink.strong('Chartroom: self-hosted trading analysis.'),
    '',
    ...rows,
    '',
    '`chartroom COMMAND --help` says more.',
  ].join('\n')
}
