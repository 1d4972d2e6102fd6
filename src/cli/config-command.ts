// `chartroom config`: every setting, its value here, and where that comes from.

import { parseFlags, type Command } from './command.ts'
import { configRows, readConfig } from '../server/config.ts'

/** Flags of every command that reads the configuration. */
export const configFlags = () =>
  Object.fromEntries(configRows().map(({ flag }) => [flag.slice(2), { type: 'string' }] as const))

export function configHelp(): string {
  const rows = configRows()
  const width = Math.max(...rows.map(({ flag }) => flag.length))
  return [
    'Settings, also read from the environment (--data-dir is DATA_DIR):',
    ...rows.map((row) => `  ${row.flag.padEnd(width)}  ${row.help}${row.default ? ` (${row.default})` : ''}`),
  ].join('\n')
}

export const configCommand: Command = {
  name: 'config',
  usage: '[SETTINGS]',
  summary: 'List the settings, their values and where they come from.',
  help: configHelp,
  run: async ({ args, environment, print, warn }) => {
    const flags = parseFlags(args, configFlags())
    const { values, mistakes } = readConfig(flags, environment)
    const width = Math.max(...values.map(({ name }) => name.length))
    for (const { name, value, from, secret } of values)
      print(`${name.padEnd(width)}  ${secret && value ? '(set)' : value || '-'}  [${from}]`)
    for (const mistake of mistakes) warn(mistake)
    return mistakes.length > 0 ? 2 : 0
  },
}
