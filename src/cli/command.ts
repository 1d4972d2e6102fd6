// The type of a command of the executable. Each is one file of this folder, listed in `commands.ts`.

import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { WorkerThread } from '../work/workers/task.ts'
import type { Clock } from '../lib/clock.ts'
import { nearest } from '../lib/nearest.ts'
import type { Http } from '../market/providers/provider.ts'
import type { SearchThread } from '../people/search/search.ts'
import type { Random } from '../lib/random.ts'
import type { Ink } from './ink.ts'

export interface CommandContext {
  /** The arguments after the command's name. */
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly random: Random
  readonly version: string
  /** A thread that runs `work/workers/worker.ts`. */
  readonly spawnWorker: () => WorkerThread
  /** A thread that runs `people/search/worker.ts`. */
  readonly spawnSearch: () => SearchThread
  /** Standard output, a line at a time. */
  readonly print: (line: string) => void
  /** Colours for it. */
  readonly ink: Ink
  /** Standard error. */
  readonly warn: (line: string) => void
  readonly warningInk: Ink
  /** Shows progress in a line that the next one overwrites; null clears it. Missing if no terminal is attached. */
  readonly progress?: ((line: string | null) => void) | undefined
  /** All of standard input. */
  readonly input?: (() => Promise<string>) | undefined
  /** Replaces the network in tests. */
  readonly http?: Http | undefined
}

export interface Command {
  readonly name: string
  /** The arguments after the name: `SCRIPT.pine --bars FILE.csv`. */
  readonly usage: string
  readonly summary: string
  /** Shown by `--help` below usage and summary. */
  readonly help?: () => string
  /** Resolves to the exit code: 0, 1 (failed) or 2 (usage). */
  readonly run: (context: CommandContext) => Promise<number>
}

/** A mistake in the command line. Exit code 2. */
export class UsageError extends Error {}

type FlagTable = NonNullable<ParseArgsConfig['options']>

const flags = <N extends string, F>(names: readonly N[], flag: F) =>
  Object.fromEntries(names.map((name) => [name, flag])) as Readonly<Record<N, F>>

/** Flags that take a value, as `--last N`. */
export const valued = <N extends string>(...names: N[]) => flags(names, { type: 'string' } as const)
/** Flags that take a value each time they are given. */
export const repeated = <N extends string>(...names: N[]) =>
  flags(names, { type: 'string', multiple: true } as const)
/** Flags that are given or not. */
export const switched = <N extends string>(...names: N[]) => flags(names, { type: 'boolean' } as const)

/** The flags of a command as they are parsed. */
export type FlagsOf<Options extends FlagTable> = ReturnType<
  typeof parseArgs<{ readonly options: Options; readonly args: string[]; readonly allowPositionals: true }>
>['values']

/** `util.parseArgs`, strict, with its complaints as usage errors. Arguments that are no flag are one too. */
export function parseFlags<const Options extends FlagTable>(
  args: readonly string[],
  options: Options,
): FlagsOf<Options> {
  return parsed(args, options, false).flags
}

/** Flags, and the arguments between them. */
export function parseArguments<const Options extends FlagTable>(
  args: readonly string[],
  options: Options,
): { readonly flags: FlagsOf<Options>; readonly positionals: readonly string[] } {
  return parsed(args, options, true)
}

function parsed<const Options extends FlagTable>(
  args: readonly string[],
  options: Options,
  allowPositionals: boolean,
) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals })
    return { flags: values, positionals }
  } catch (error) {
    const flags = Object.keys(options).map((name) => `--${name}`)
    throw new UsageError(inOurWords(error instanceof Error ? error.message : String(error), flags))
  }
}

/** What the parser says, in the words of the other mistakes: it calls flags options, and begins lines with "Option". */
function inOurWords(said: string, flags: readonly string[]): string {
  const unknown = /^Unknown option '(-[^' ]+)'/.exec(said)?.[1]
  if (unknown !== undefined) return `There is no flag ${unknown} here.${didYouMean(unknown, flags)}`
  const valueless =
    /^Option '(?:-\w, )?(--[\w-]+)(?: <value>' argument missing|' argument is ambiguous)/.exec(said)
  if (valueless) return `${valueless[1]} wants a value: ${valueless[1]} VALUE.`
  const valued = /^Option '(?:-\w, )?(--[\w-]+)' does not take/.exec(said)?.[1]
  if (valued !== undefined) return `${valued} takes no value.`
  const extra = /^Unexpected argument '([^']*)'/.exec(said)?.[1]
  if (extra === undefined) return said
  return `Nothing is to stand beside the flags here, but "${extra}" does.${didYouMean(`--${extra}`, flags)}`
}

/** The one argument of a command that takes one: a script, a file. */
export function onlyOf([only, ...more]: readonly string[], noun: string): string {
  if (only === undefined || more.length > 0) throw new UsageError(`Name one ${noun}.`)
  return only
}

/** The whole number that a flag was given. */
export function wholeOf(text: string, flag: string, least = 1, most?: number): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= (most ?? 2 ** 32 - 1)) return value
  const to = most === undefined ? '' : ` to ${most.toLocaleString('en')}`
  throw new UsageError(`${flag} takes a whole number from ${least}${to}.`)
}

/** Runs what the first argument names, as `list` in `chartroom bars list`. */
export const subcommands =
  (name: string, table: Readonly<Record<string, Command['run']>>): Command['run'] =>
  (context) => {
    const [given = '', ...args] = context.args
    const run = Object.hasOwn(table, given) ? table[given] : undefined
    if (run) return run({ ...context, args })
    const names = Object.keys(table)
    if (given === '') throw new UsageError(`Say what: ${names.map((one) => `${name} ${one}`).join(', ')}.`)
    throw new UsageError(`There is no "${name} ${given}".${didYouMean(given, names)}`)
  }

/** ` Did you mean x?`, or nothing where no name is near. */
export function didYouMean(given: string, names: readonly string[]): string {
  // Half a name is nearer to the whole one than letters can tell.
  const begun = given.replace(/^-+/, '').length < 3 ? [] : names.filter((name) => name.startsWith(given))
  const found = begun.length === 1 ? begun[0]! : nearest(given, names, names.length).found
  return found === null ? '' : ` Did you mean ${found}?`
}
