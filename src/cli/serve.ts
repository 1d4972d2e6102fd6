// `chartroom serve`.

import { Problem } from '../lib/problem.ts'
import { readConfig } from '../server/config.ts'
import { realWorld } from '../server/real-world.ts'
import { serve } from '../server/serve.ts'
import { DataRefused } from '../store/data-refused.ts'
import { parseFlags, type Command } from './command.ts'
import { configFlags, configHelp } from './config-command.ts'

const NEW_KEY = { 'new-key': { type: 'boolean' } } as const

export const serveCommand: Command = {
  name: 'serve',
  usage: '[SETTINGS]',
  summary: 'Run the server.',
  help: () =>
    `${configHelp()}\n\n  --new-key  Start with a fresh instance.key where the database's is lost; webhooks need new secrets then`,
  run: async (context) => {
    const values = parseFlags(context.args, { ...configFlags(), ...NEW_KEY })
    const { 'new-key': newKey, ...flags } = values
    const { config, mistakes } = readConfig(flags, context.environment)
    for (const mistake of mistakes) context.warn(mistake)
    if (mistakes.length > 0) return 2
    try {
      return await serve(realWorld(context), config, newKey === true)
    } catch (error) {
      context.warn(
        error instanceof Problem || error instanceof DataRefused
          ? error.message
          : `The server ends for a reason of its own: ${String(error)}. \`chartroom doctor\` says whether its data is damaged.`,
      )
      // Threads and timers that have been started would keep the process alive.
      return process.exit(1)
    }
  },
}
