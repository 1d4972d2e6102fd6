// Sends requests to a tortured server. Each is counted and limited in time, and the answer also reports a lost connection.

import type { Tally } from './tally.ts'

export type Json = Readonly<Record<string, unknown>>

export interface Reply {
  /** 0 = no answer: the connection was lost, or it took too long. */
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body if it is a JSON object, otherwise an empty one. */
  readonly json: Json
  readonly ms: number
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 60_000
/** It is long, and on no list of common passwords. */
export const PASSWORD = 'vermilion anchor 4711 teapot'

export class Client {
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
  readonly #tally: Tally

  constructor(base: string, tally: Tally, headers: Readonly<Record<string, string>>) {
    this.base = base
    this.#tally = tally
    this.headers = headers
  }

  /** Sends text and bytes as they are, anything else as JSON. Never throws. */
  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Reply> {
    this.#tally.requests++
    const started = performance.now()
    const raw = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream
    try {
      const response = await fetch(this.base + path, {
        method,
        headers: { 'content-type': 'application/json', ...this.headers, ...options.headers },
        signal: AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS),
        redirect: 'manual',
        ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
      })
      const text = await response.text()
      const { status, headers } = response
      return { status, headers, text, json: objectIn(text), ms: performance.now() - started }
    } catch {
      return { status: 0, headers: new Headers(), text: '', json: {}, ms: performance.now() - started }
    }
  }

  get(path: string, options?: CallOptions): Promise<Reply> {
    return this.call('GET', path, undefined, options)
  }

  post(path: string, body?: unknown, options?: CallOptions): Promise<Reply> {
    return this.call('POST', path, body, options)
  }

  importCsv(
    { exchange, symbol, interval }: { exchange: string; symbol: string; interval: string },
    csv: string | Uint8Array | ReadableStream<Uint8Array>,
    options: CallOptions = {},
  ): Promise<Reply> {
    const query = new URLSearchParams({ exchange, symbol, interval })
    const headers = { 'content-type': 'text/csv', ...options.headers }
    return this.call('POST', `/api/platform/bars/import?${query.toString()}`, csv, { ...options, headers })
  }

  /** All rows of a list, page by page. */
  async all(path: string, noun: string): Promise<Json[]> {
    const rows: Json[] = []
    for (let cursor: unknown = ''; typeof cursor === 'string';) {
      const page =
        cursor === '' ? '' : `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`
      const { status, json, text } = await this.get(path + page)
      if (status !== 200) throw new Error(`GET ${path} answered ${status} ${text.slice(0, 300)}`)
      rows.push(...(json[noun] as Json[]))
      cursor = json['nextCursor']
    }
    return rows
  }

  with(headers: Readonly<Record<string, string>>): Client {
    return new Client(this.base, this.#tally, { ...this.headers, ...headers })
  }

  as(headers: Readonly<Record<string, string>>): Client {
    return new Client(this.base, this.#tally, headers)
  }

  /** Signs up, and answers a client of the new user. */
  async signUp(email: string): Promise<Client> {
    const answer = await this.post('/api/auth/sign-up', { email, password: PASSWORD })
    const cookie = /^[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0]
    if (cookie === undefined) throw new Error(`no session: ${answer.status} ${answer.text.slice(0, 500)}`)
    return this.as({ cookie })
  }
}

function objectIn(text: string): Json {
  if (!text.startsWith('{')) return {}
  try {
    return JSON.parse(text) as Json
  } catch {
    return {}
  }
}

export function codeOf({ json }: Reply): string {
  return (json['error'] as { code?: string } | undefined)?.code ?? ''
}
