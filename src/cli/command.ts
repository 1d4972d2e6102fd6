// The type of a command of the executable. Each is one file of this folder, listed in `commands.ts`.

import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { WorkerThread } from '../engine/pool.ts'
import type { Clock } from '../lib/clock.ts'
import type { Http } from '../market/providers/provider.ts'
import type { SearchThread } from '../search/search.ts'
import type { Random } from '../lib/random.ts'

export interface CommandContext {
  /** The arguments after the command's name. */
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly random: Random
  readonly version: string
  /** A thread that runs `engine/worker.ts`. */
  readonly spawnWorker: () => WorkerThread
  /** A thread that runs `search/worker.ts`. */
  readonly spawnSearch: () => SearchThread
  /** Standard output, a line at a time. */
  readonly print: (line: string) => void
  /** Standard error. */
  readonly warn: (line: string) => void
  /** Shows progress in a line that the next one overwrites; null clears it. Missing if no terminal is attached. */
  readonly progress?: ((line: string | null) => void) | undefined
  /** All of standard input. */
  readonly input?: (() => Promise<string>) | undefined
  /** Replaces the network in tests. */
  readonly http?: Http | undefined
}

export interface Command {
  readonly name: string
  /** After the name: `SCRIPT.pine --bars FILE.csv`. */
  readonly usage: string
  readonly summary: string
  /** Shown by `--help` below usage and summary. */
  readonly help?: () => string
  /** Resolves to the exit code: 0, 1 (failed) or 2 (usage). */
  readonly run: (context: CommandContext) => Promise<number>
}

/** A mistake in the command line. Exit code 2. */
export class UsageError extends Error {}

/** `util.parseArgs`, strict, with its complaints as usage errors. */
export function parseFlags<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
