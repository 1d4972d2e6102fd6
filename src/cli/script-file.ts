// Scripts on disk, and the libraries they import.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { askedDay, dayRefusal, NEWEST_DAY } from '../language/behaviour.ts'
import type { JobScript } from '../work/jobs/records.ts'
import { librariesOf } from '../work/workers/libraries.ts'
import { libraryFor, storedScript } from '../people/scripts/scripts.ts'
import { UsageError, type CommandContext } from './command.ts'
import { withData } from './data.ts'
import { parseJsonObject } from './script-bars.ts'

export interface ScriptFile {
  readonly name: string
  readonly source: string
}

/** A script to run, with its properties and the libraries that it imports. */
export interface ScriptToRun extends ScriptFile {
  readonly overrides: Readonly<Record<string, number | string | boolean>>
  /** The day that is kept with it. */
  readonly asOf?: string | undefined
  readonly library: (user: string, library: string, version: number) => string | null
}

/** A file, or a stored script by its id, which is run with the properties that are kept with it. */
export async function scriptToRun(
  context: CommandContext,
  flags: { readonly 'data-dir'?: string | undefined; readonly libraries?: string | undefined },
  path: string,
): Promise<ScriptToRun> {
  if (!/^scr_[0-9a-z]+$/.test(path)) {
    const script = await readScript(context, path)
    return { ...script, overrides: {}, library: librariesBeside(path, flags.libraries) }
  }
  return withData(context, flags, async ({ kv }) => {
    const script = await storedScript(kv, path)
    if (!script) throw new UsageError(`There is no script ${path}.`)
    const { name, source, overrides = {}, asOf, ownerId } = script
    const found = await librariesOf(source, { library: libraryFor(kv, ownerId) })
    const library = (user: string, lib: string, version: number) =>
      found.get(`${user}/${lib}/${version}`) ?? null
    return { name, source, overrides, asOf, library }
  })
}

/** `-` is standard input. */
export async function readScript(context: CommandContext, path: string): Promise<ScriptFile> {
  if (path === '-') return { name: 'stdin', source: (await context.input?.()) ?? '' }
  const file = Bun.file(path)
  if (!(await file.exists())) throw new UsageError(`There is no file ${path}.`)
  return { name: path, source: await file.text() }
}

/** Of every command that runs scripts. */
export const DAY_FLAG = { 'as-of': { type: 'string' } } as const
export const DAY_HELP = `  --as-of DAY           Run it as TradingView was on that day, before a later change: 2026-09-01; as it is since ${NEWEST_DAY} if not given`

interface DayFlag {
  readonly 'as-of'?: string | undefined
}

/** The day that the flag names, or the newest. */
export function dayOfFlag({ clock }: CommandContext, { 'as-of': asked }: DayFlag): string {
  const now = clock.now()
  const refusal = asked === undefined ? null : dayRefusal(asked, now)
  if (refusal !== null) throw new UsageError(`--as-of: ${refusal}`)
  return askedDay(asked, now)
}

/** Inputs, properties and day as the flags say, for a body of the API. */
export function settingsOf(
  context: CommandContext,
  flags: DayFlag & { readonly inputs?: string | undefined; readonly properties?: string | undefined },
) {
  const { inputs, properties } = flags
  return {
    asOf: dayOfFlag(context, flags),
    ...(inputs !== undefined && { inputs: parseJsonObject(inputs, '--inputs') }),
    ...(properties !== undefined && {
      // The room that is asked checks the values.
      overrides: parseJsonObject(properties, '--properties') as JobScript['overrides'],
    }),
  }
}

/** `import user/library/version` is user/library/version.pine or user/library.pine beside the script, or below `folder`. */
export function librariesBeside(script: string, folder: string | undefined) {
  const roots = [...(folder === undefined ? [] : [folder]), dirname(script)]
  return (user: string, library: string, version: number): string | null => {
    for (const root of roots)
      for (const path of [join(root, user, library, `${version}.pine`), join(root, user, `${library}.pine`)])
        if (existsSync(path)) return readFileSync(path, 'utf8')
    return null
  }
}
