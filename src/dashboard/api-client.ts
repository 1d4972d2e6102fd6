// Talks to the API: JSON in, JSON out, one kind of failure.
//
// Addresses are below the page's base, so the dashboard works under a sub-path behind a proxy.

import { base } from './base.ts'

export interface FieldMessage {
  readonly in: string
  readonly path: string
  readonly code: string
  readonly message: string
}

export interface ScriptDiagnostic {
  readonly severity?: 'error' | 'warning'
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
  readonly code: string
  readonly message: string
  readonly hint: string | null
}

/** The server's refusal, or that it could not be reached (`status` 0, code `offline`). */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string
  readonly fields: readonly FieldMessage[]
  readonly diagnostics: readonly ScriptDiagnostic[]
  /** Seconds until the next try is worth making; null where the server did not say. */
  readonly retryAfter: number | null
  constructor(status: number, body: Partial<ApiErrorBody>) {
    super(body.message ?? 'The server gave no reason.')
    this.name = 'ApiError'
    this.status = status
    this.code = body.code ?? 'unknown'
    this.requestId = body.requestId ?? ''
    this.fields = body.fields ?? []
    this.diagnostics = body.diagnostics ?? []
    this.retryAfter = body.retryAfter ?? null
  }
}
interface ApiErrorBody {
  readonly code: string
  readonly message: string
  readonly requestId: string
  readonly fields: readonly FieldMessage[]
  readonly diagnostics: readonly ScriptDiagnostic[]
  readonly retryAfter: number
}

export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: unknown
  readonly query?: Readonly<Record<string, string | number | null | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** The full address of an API path: `api('/api/search', { q })`. */
export function apiUrl(path: string, query: CallOptions['query'] = {}): URL {
  const url = new URL(base + path, location.origin)
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== '') url.searchParams.set(name, String(value))
  return url
}

/** Resolves to the answer's body; rejects with ApiError, or with the abort. `T` is what the caller expects of it. */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  const { method = 'GET', body, query, headers, signal } = options
  let response: Response
  try {
    response = await fetch(apiUrl(path, query), {
      method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(0, {
      code: 'offline',
      message: 'Chartroom cannot be reached. Is the server still running?',
    })
  }
  const answer = (await response.json().catch(() => null)) as {
    ok?: boolean
    error?: Partial<ApiErrorBody>
  } | null
  if (!response.ok || answer === null) throw new ApiError(response.status, answer?.error ?? {})
  return answer as T
}

export const get = <T>(path: string, query?: CallOptions['query'], signal?: AbortSignal): Promise<T> =>
  call<T>(path, { ...(query && { query }), ...(signal && { signal }) })
export const post = <T>(path: string, body: unknown = {}, options: CallOptions = {}): Promise<T> =>
  call<T>(path, { ...options, method: 'POST', body })
export const patch = <T>(path: string, body: unknown): Promise<T> => call<T>(path, { method: 'PATCH', body })
export const del = <T>(path: string, query?: CallOptions['query'], body?: unknown): Promise<T> =>
  call<T>(path, { method: 'DELETE', ...(query && { query }), ...(body !== undefined && { body }) })
