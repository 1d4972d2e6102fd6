// Talks to the API: JSON in, JSON out, one kind of failure.
//
// Addresses are below the page's base, so the dashboard works under a sub-path behind a proxy.

import { COLUMNS_TYPE, decodeColumns } from '../wire/columns.ts'
import type { Answer, Args, OperationName } from '../wire/operations.ts'
import type { ProblemData } from '../wire/problem.ts'
import { base } from './base.ts'
import { ACCEPT, takeFirst } from './first-requests.ts'
import { sentenceOf } from './ui/refusal-words.ts'

/** What the server refused with; `status` 0 and code `offline` when it could not be reached. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string
  readonly fields: NonNullable<ProblemData['fields']>
  readonly diagnostics: NonNullable<ProblemData['diagnostics']>
  /** Seconds to wait before trying again; null if the server did not say. */
  readonly retryAfter: number | null
  constructor(status: number, body: Partial<ProblemData>) {
    super(sentenceOf(body.message ?? 'The server gave no reason.', body.fields ?? []))
    this.name = 'ApiError'
    this.status = status
    this.code = body.code ?? 'unknown'
    this.requestId = body.requestId ?? ''
    this.fields = body.fields ?? []
    this.diagnostics = body.diagnostics ?? []
    this.retryAfter = body.retryAfter ?? null
  }
}
export const notReached = (): ApiError =>
  new ApiError(0, {
    code: 'offline',
    message: 'Chartroom cannot be reached. Is the server still running?',
  })

/** Nobody was there to answer, or nobody who could: it is worth trying again. */
export const isAway = (error: unknown): boolean =>
  !(error instanceof ApiError) ||
  error.status === 0 ||
  error.status === 401 ||
  error.status === 429 ||
  error.status >= 500

/** Told about every call: whether the server could be reached, and when the session has ended. */
interface CallWatch {
  readonly onReached: (reached: boolean) => void
  /** Resolves to whether the call should be repeated. */
  readonly onSignedOut: (method: string) => Promise<boolean>
  readonly onAnswer: (operation: OperationName, args: object, answer: object) => void
  /** An earlier answer, for when the server cannot be reached; null = there is none. */
  readonly onAway: (operation: OperationName, args: object) => Promise<unknown>
}
let watch: CallWatch = {
  onReached: () => undefined,
  onSignedOut: () => Promise.resolve(false),
  onAnswer: () => undefined,
  onAway: () => Promise.resolve(null),
}
export function watchCalls(by: CallWatch): void {
  watch = by
}

interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Whether it is sent even if the page goes away meanwhile; for bodies below 64 kB. */
  readonly keepalive?: boolean
}

const SIGNED_OUT: ReadonlySet<string> = new Set(['session_expired', 'unauthenticated'])

type Query = Readonly<Record<string, string | number | null | undefined>>

/** The full address of an API path: `api('/api/search', { q })`. */
export function apiUrl(path: string, query: Query = {}): URL {
  const url = new URL(base + path, location.origin)
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== '') url.searchParams.set(name, String(value))
  return url
}

/**
 * Calls an operation: `call('PATCH /api/platform/alerts/{id}', { path: { id }, body: { state: 'paused' } })`. Resolves to the
 * answer's body; rejects with ApiError, or with the abort. The types of all operations are those the server checks by;
 * nothing of them is left at run time but the name.
 */
export async function call<K extends OperationName>(
  operation: K,
  ...args: {} extends Args<K> ? [args?: Args<K> & CallOptions] : [args: Args<K> & CallOptions]
): Promise<Answer<K>> {
  const { path = {}, query, body, headers, signal, keepalive = false } = (args[0] ?? {}) as Sent
  const [method = '', template = ''] = operation.split(' ')
  const address = template.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(path[name] ?? ''),
  )
  const url = apiUrl(address, query)
  const away = async (): Promise<Answer<K>> => {
    watch.onReached(false)
    const earlier = await watch.onAway(operation, args[0] ?? {})
    signal?.throwIfAborted()
    if (earlier !== null) return earlier as Answer<K>
    throw notReached()
  }
  let response: Response
  try {
    const first = method === 'GET' ? takeFirst(url.href) : undefined
    response = await (first ??
      fetch(url, {
        method,
        credentials: 'same-origin',
        headers: {
          accept: ACCEPT,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
        ...(keepalive && { keepalive }),
      }))
  } catch (error) {
    if (signal?.aborted) throw error
    return away()
  }
  const answer = (await bodyOf(response).catch(() => null)) as {
    ok?: boolean
    error?: Partial<ProblemData>
  } | null
  // A proxy that has lost its server says so in its own words.
  if (response.status >= 502 && response.status <= 504 && !answer?.error) return away()
  watch.onReached(true)
  if (
    response.status === 401 &&
    SIGNED_OUT.has(answer?.error?.code ?? '') &&
    (await watch.onSignedOut(method))
  )
    return call(operation, ...args)
  if (!response.ok || answer === null) throw new ApiError(response.status, answer?.error ?? {})
  watch.onAnswer(operation, args[0] ?? {}, answer)
  return answer as Answer<K>
}

async function bodyOf(response: Response): Promise<unknown> {
  return response.headers.get('content-type') === COLUMNS_TYPE
    ? decodeColumns(await response.arrayBuffer())
    : response.json()
}

interface Sent extends CallOptions {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Query
  readonly body?: unknown
}
