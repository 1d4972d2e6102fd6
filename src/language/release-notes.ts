// How far the language goes: what TradingView has published of it up to a month, and what of that is left out.

/** The newest release notes that were gone through, name by name. */
export const LANGUAGE_AS_OF = 'September 2026'

/** Names from these notes that do nothing here; a script that uses one is warned. */
export const LEFT_OUT: readonly string[] = []

export function languageLine(): string {
  const but = LEFT_OUT.length > 0 ? `, but for ${LEFT_OUT.join(', ')}` : ''
  return `Pine Script up to TradingView's release notes of ${LANGUAGE_AS_OF}${but}`
}
