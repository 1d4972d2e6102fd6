// `chartroom healthcheck`: exits with 0 if the server of this configuration is ready. For containers.

import { parseFlags, type Command } from './command.ts'
import { configFlags, configHelp } from './config-command.ts'
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
      (response) => response.ok,
      () => false,
    )
    if (ready) print('ready')
    else warn(`no answer from ${url}`)
    return ready ? 0 : 1
  },
}
