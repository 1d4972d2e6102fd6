// The commands, and how one is picked.

import { Problem } from '../lib/problem.ts'
import { DataRefused } from '../store/data-refused.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { backupCommand, restoreCommand } from './backup-command.ts'
import { backtestCommand } from './backtest.ts'
import { backtestsCommand } from './backtests-command.ts'
import { barsCommand } from './bars-command.ts'
import { checkCommand } from './check.ts'
import { configCommand } from './config-command.ts'
import { doctorCommand } from './doctor.ts'
import { healthcheckCommand } from './healthcheck.ts'
import { licensesCommand } from './licenses-command.ts'
import { parityCommand } from './parity.ts'
import { scriptCommand } from './script-command.ts'
import { serveCommand } from './serve.ts'
import { tokenCommand } from './token-command.ts'
import { userCommand } from './user-command.ts'

const COMMANDS: readonly Command[] = [
  serveCommand,
  backtestCommand,
  backtestsCommand,
  checkCommand,
  parityCommand,
  barsCommand,
  scriptCommand,
  userCommand,
  tokenCommand,
  backupCommand,
  restoreCommand,
  doctorCommand,
  configCommand,
  healthcheckCommand,
  licensesCommand,
]

/** Runs the command the arguments name; answers the exit code. */
export async function runCommand(context: CommandContext): Promise<number> {
  const { print, warn } = context
  const [name = '--help', ...args] = context.args
  if (name === '--version') {
    print(`chartroom ${context.version}`)
    return 0
  }
  if (name === '--help' || name === 'help') {
    print(overview())
    return 0
  }
  const command = COMMANDS.find((candidate) => candidate.name === name)
  if (!command) {
    warn(`There is no command "${name}". \`chartroom --help\` lists them.`)
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

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length))
  const rows = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return [
    'Chartroom: self-hosted trading analysis.',
    '',
    ...rows,
    '',
    '`chartroom COMMAND --help` says more.',
  ].join('\n')
}
