// Parses the tools' command lines: an unknown option is refused in a sentence, and `--help` prints what there is.

import process from 'node:process'
import { parseArgs, type ParseArgsConfig } from 'node:util'

/** Exits after `--help`, and with 2 if the arguments are wrong. */
export function commandLine<const T extends NonNullable<ParseArgsConfig['options']>>(
  help: string,
  options: T,
  { allowPositionals = false, args = process.argv.slice(2) } = {},
) {
  try {
    const withHelp = { ...options, help: { type: 'boolean', short: 'h' } } as const
    const parsed = parseArgs({ args, options: withHelp, allowPositionals })
    if ('help' in parsed.values) helped(help)
    return parsed
  } catch (error) {
    return refused(help, error instanceof Error ? error.message : String(error))
  }
}

function helped(help: string): never {
  console.log(help)
  process.exit(0)
}

/** Ends the tool with a sentence. */
export function refused(help: string, sentence: string): never {
  console.error(`${sentence}\n\n${help}`)
  process.exit(2)
}

/** The number given to an option; null if the option was not given. */
export function wholeNumber(help: string, option: string, text: string | undefined): number | null {
  if (text === undefined) return null
  return /^\d{1,15}$/.test(text) ? Number(text) : refused(help, `--${option} is a whole number.`)
}
