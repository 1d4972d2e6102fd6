// `chartroom healthcheck`: exits with 0 if the server of this configuration is ready. For containers.

import { parseFlags, type Command } from './command.ts'
import { configFlags, configHelp } from './config-command.ts'
import type { AnswerOf } from '../wire/operations.ts'
import { readConfig } from '../server/config.ts'

export const healthcheckCommand: Command = {
  name: 'healthcheck',
  usage: '[SETTINGS]',
  summary: 'Ask the running server whether it is ready.',
  help: configHelp,
  run: async ({ args, environment, print, warn }) => {
    const flags = parseFlags(args, configFlags())
    const { config } = readConfig(flags, environment)
    const host = config.HOST === '0.0.0.0' || config.HOST === '::' ? '127.0.0.1' : config.HOST
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${config.PORT}/api/ready`
    const ready = await fetch(url, { signal: AbortSignal.timeout(2500) }).then(
      async (response) => (response.ok ? ((await response.json()) as Ready) : null),
      () => null,
    )
    if (!ready) {
      warn(`no answer from ${url}`)
      return 1
    }
    print('ready')
    const { state, lagSeconds = 0, since } = ready.backup ?? {}
    if (since)
      warn(
        `the backup is ${state} since ${new Date(since).toISOString()}, ${lagSeconds} s behind: see Settings, Data`,
      )
    return 0
  },
}

type Ready = AnswerOf<'GET /api/ready'>
