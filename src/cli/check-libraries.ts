// `chartroom check --libraries`: which libraries scripts import, those behind them included, and which of them are here.

import { statSync } from 'node:fs'
import { compile, type CompileOptions } from '../language/compile.ts'
import { bundledLibrary } from '../language/libraries/bundled.ts'
import { outline } from '../language/outline.ts'
import type { CommandContext } from './command.ts'
import { librariesBeside } from './script-file.ts'

/** What each line says of a library. */
const STATES = {
  bundled: 'comes with this program',
  found: 'is in the folder',
  unlinked: 'is not needed: only built-in names of its alias are used',
  missing: 'is missing',
} as const

interface LibraryNeed {
  /** user/library/version */
  readonly path: string
  readonly state: keyof typeof STATES
}

/**
 * Takes a `--libraries` that no folder follows out of the arguments, which the parser of flags cannot do. Tells whether there
 * was one.
 */
export function withoutListFlag(args: readonly string[]): {
  readonly args: readonly string[]
  lists: boolean
} {
  const at = args.findIndex((one, i) => one === '--libraries' && !isFolder(args[i + 1]))
  return at < 0 ? { args, lists: false } : { args: args.toSpliced(at, 1), lists: true }
}

function isFolder(path: string | undefined): boolean {
  return path !== undefined && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)
}

/** The exit code: 1 where one is missing. */
export async function listLibraries(
  { print, ink }: CommandContext,
  files: readonly string[],
  { libraries, jsonl }: { readonly libraries: string | undefined; readonly jsonl: boolean },
): Promise<number> {
  const missing = new Set<string>()
  for (const file of files) {
    const needs = needsOf(await Bun.file(file).text(), librariesBeside(file, libraries))
    for (const { path, state } of needs) if (state === 'missing') missing.add(path)
    if (jsonl) print(JSON.stringify({ file, libraries: needs }))
    else if (needs.length > 0) print(ink.strong(file))
    if (!jsonl)
      for (const { path, state } of needs)
        print(`  ${state === 'missing' ? ink.bad(path) : path} ${STATES[state]}`)
  }
  if (!jsonl)
    print(
      missing.size === 0
        ? 'No library is missing.'
        : `${missing.size} missing: put each below --libraries FOLDER as USER/LIBRARY.pine, or add it to a server with \`chartroom script add-library\`.`,
    )
  return missing.size === 0 ? 0 : 1
}

/** In the order in which the compiler asks for them, then those that it does not ask for. */
function needsOf(source: string, library: NonNullable<CompileOptions['library']>): LibraryNeed[] {
  const found = new Map<string, LibraryNeed['state']>()
  compile(source, {
    library: (...name) => {
      const text = library(...name)
      const bundled = text === null && bundledLibrary(...name) !== null
      found.set(name.join('/'), bundled ? 'bundled' : text === null ? 'missing' : 'found')
      return text
    },
  })
  for (const { user, library: name, version } of outline(source).imports) {
    const path = `${user}/${name}/${version}`
    if (!found.has(path)) found.set(path, 'unlinked')
  }
  return [...found].map(([path, state]) => ({ path, state }))
}
