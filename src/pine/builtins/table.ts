// All built-ins by name. A name may be a function and a variable at once: `ta.tr`, `na`, `time`, `dayofweek`.

import { LANGUAGE } from './language.ts'
import type { BuiltinConstant, BuiltinEntry, BuiltinFunction, BuiltinVariable } from './registry.ts'

/** Each library file's list; a new file is added here. */
const ENTRIES: readonly (readonly BuiltinEntry[])[] = [LANGUAGE]

export const BUILTIN_FUNCTIONS: ReadonlyMap<string, BuiltinFunction> = byName('function')
export const BUILTIN_VARIABLES: ReadonlyMap<string, BuiltinVariable> = byName('variable')
export const BUILTIN_CONSTANTS: ReadonlyMap<string, BuiltinConstant> = byName('constant')

function byName<Kind extends BuiltinEntry['kind']>(
  kind: Kind,
): Map<string, Extract<BuiltinEntry, { kind: Kind }>> {
  const map = new Map<string, Extract<BuiltinEntry, { kind: Kind }>>()
  for (const entries of ENTRIES)
    for (const entry of entries) if (isKind(entry, kind)) map.set(entry.name, entry)
  return map
}

function isKind<Kind extends BuiltinEntry['kind']>(
  entry: BuiltinEntry,
  kind: Kind,
): entry is Extract<BuiltinEntry, { kind: Kind }> {
  return entry.kind === kind
}
