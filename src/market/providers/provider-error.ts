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

/** What the system says when no answer comes, in words of who waits for bars. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  ENOTFOUND: 'this server cannot find its address; is it on the Internet?',
  EAI_AGAIN: 'this server cannot find its address; is it on the Internet?',
  ECONNREFUSED: 'it takes no connection from this server.',
  ConnectionRefused: 'it takes no connection from this server.',
  ETIMEDOUT: 'it did not answer in time.',
  TimeoutError: 'it did not answer in time.',
}

/** That a request to a provider has failed before its answer. */
export function unreachable(provider: string, error: unknown): ProviderError {
  const { code = '', name, message } = error as Error & { readonly code?: unknown }
  const why = UNREACHABLE[String(code)] ?? UNREACHABLE[name] ?? `${message.replace(/\.$/, '')}.`
  return new ProviderError('unavailable', `${provider} cannot be reached: ${why}`)
}
