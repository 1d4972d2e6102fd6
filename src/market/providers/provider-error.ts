// Why bars could not be fetched from a provider.

export type ProviderErrorKind =
  | 'unknown_symbol'
  | 'unsupported_interval'
  | 'rate_limited'
  | 'unauthorized'
  | 'banned'
  | 'unavailable'
  | 'malformed'

export class ProviderError extends Error {
  readonly kind: ProviderErrorKind
  /** How long the provider asked us to wait; null if it did not say. */
  readonly retryAfterMs: number | null
  constructor(kind: ProviderErrorKind, message: string, retryAfterMs: number | null = null) {
    super(message)
    this.name = 'ProviderError'
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }
}
