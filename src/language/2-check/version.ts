// Differences of v4 and v5 in names and arguments. The tables are in `v4.ts` and `v5.ts`; the checker asks here.

import type { PineVersion } from '../runtime/runtime.ts'
import { V4 } from './v4.ts'
import { V5 } from './v5.ts'

export interface VersionTable {
  /** The name in v6, by the name of old. */
  readonly functions: Readonly<Record<string, string>>
  readonly values: Readonly<Record<string, string>>
  /** How a call was written, by v6 name. */
  readonly calls: Readonly<Record<string, LegacyCall>>
}

export interface LegacyCall {
  /** Parameters in the old order, old names. Left out: the order of v6. */
  readonly order?: readonly string[]
  /** Old parameter → v6 parameter. Not mentioned: the same name. */
  readonly rename?: Readonly<Record<string, string>>
  /** Old parameters without a meaning today. */
  readonly drop?: readonly string[]
}

const V6: VersionTable = { functions: {}, values: {}, calls: {} }

export function versionTable(version: PineVersion): VersionTable {
  return version === 4 ? V4 : version === 5 ? V5 : V6
}

/** For hints: what a name of an older version is called now. */
export function nowCalled(name: string): string | null {
  const table = [V4.functions, V4.values].find((names) => Object.hasOwn(names, name))
  return table?.[name] ?? null
}
