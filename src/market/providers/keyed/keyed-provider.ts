// Providers that need the user's key: what is asked for, and the provider that is made of it.
//
// Keys go into headers, never into addresses, which errors and logs may name.

import type { SymbolList } from '../../listings/listing.ts'
import type { Provider } from '../provider.ts'

/** `key` and, where the provider has one, `secret`. */
export interface Credentials {
  readonly key: string
  readonly secret: string
}

export interface KeyedProvider {
  readonly name: string
  readonly exchanges: readonly string[]
  readonly needsSecret: boolean
  /** The limits that are kept to, in words. */
  readonly limits: string
  make(credentials: Credentials): { readonly provider: Provider; readonly list: SymbolList | null }
}

/** American exchanges, which all of them have. */
export const AMERICAN = ['NASDAQ', 'NYSE', 'AMEX', 'ARCA', 'BATS', 'OTC'] as const

/** A number as text or as a number; NaN, which makes a row no bar, for anything else. */
export const numberIn = (value: unknown): number =>
  typeof value === 'number' ? value : typeof value === 'string' && value !== '' ? Number(value) : Number.NaN
