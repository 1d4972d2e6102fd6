// The torture's own ntfy, Telegram, Discord, Slack, Gotify, Pushover, Matrix and HTTP address: each takes what its service
// takes, refuses as it does when there is too much, and records what came.
//
// Every message is refused at most once, so that a run ends: a refusal costs it at least four seconds.

import type { Random } from './random.ts'

/** A message that arrived, by the text that names it. */
interface Arrived {
  /** When each success was answered. */
  readonly at: number[]
  /** The ids that it came under, where the service is told one. */
  readonly ids: Set<string>
}

/** Names a message of the torture, in whatever way its letters are written: `a12 2024-01-01T00:00:00.000Z`. */
const NAME = /a\d+ \d{4}-\d\d-\d\dT[\d:.]+Z/

/** What each service says when there is too much, in the way in which it says how long to wait. */
const TOO_MANY: Readonly<Record<string, () => Response>> = {
  ntfy: () => Response.json({ code: 42901, http: 429, error: 'limit reached' }, { status: 429 }),
  telegram: () =>
    Response.json(
      { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 1 } },
      { status: 429 },
    ),
  discord: () => Response.json({ message: 'You are being rate limited.', retry_after: 0.3 }, { status: 429 }),
  slack: () => new Response('rate_limited', { status: 429, headers: { 'retry-after': '1' } }),
  gotify: () => Response.json({ error: 'Too Many Requests', errorCode: 429 }, { status: 429 }),
  pushover: () => Response.json({ status: 0, errors: ['limit'] }, { status: 429 }),
  matrix: () => Response.json({ errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: 300 }, { status: 429 }),
  http: () => new Response(null, { status: 429, headers: { 'retry-after': '1' } }),
}

/** What each says of a message that it took. */
const TAKEN: Readonly<Record<string, () => Response>> = {
  ntfy: () => Response.json({ id: 'hwQ2YpKdmg', event: 'message' }),
  telegram: () => Response.json({ ok: true, result: { message_id: 1 } }),
  discord: () => Response.json({ id: '1', type: 0 }),
  slack: () => new Response('ok'),
  gotify: () => Response.json({ id: 1 }),
  pushover: () => Response.json({ status: 1, request: 'x' }),
  matrix: () => Response.json({ event_id: '$1' }),
  http: () => new Response(),
}

/** What a network says to whom it wants to sign in first: to an address whose answer nobody knows, that it leads elsewhere. */
const portal = (kind: string): Response =>
  kind === 'http'
    ? new Response(null, { status: 302, headers: { location: 'https://portal.example/' } })
    : new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } })

export class Phones {
  readonly #server: Bun.Server<undefined>
  readonly #random: Random
  readonly #arrived = new Map<string, Arrived>()
  readonly #refused = new Set<string>()
  refusals = 0
  successes = 0
  /** Charts that came with a message or behind one. */
  pictures = 0

  constructor(random: Random) {
    this.#random = random
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 60,
      fetch: (request) => this.#take(request),
    })
  }

  /** A channel of each kind, by the body that sets it up. */
  channels(): readonly object[] {
    const server = (kind: string) => `http://127.0.0.1:${this.#server.port}/${kind}`
    const long = 'a'.repeat(30)
    const settings: Readonly<Record<string, object>> = {
      ntfy: { topic: 'torture', server: server('ntfy') },
      telegram: { token: `123456:${long}`, chat: '1', server: server('telegram') },
      discord: { url: server('discord') },
      slack: { url: server('slack') },
      gotify: { server: server('gotify'), token: 'A' },
      pushover: { token: long, user: long, server: server('pushover') },
      matrix: { server: server('matrix'), token: 't', room: '!r:here' },
      http: { url: server('http') },
    }
    return Object.entries(settings).map(([kind, own]) => ({ name: kind, kind, settings: own }))
  }

  /** How many of the names have arrived. */
  count(names: readonly string[]): number {
    return names.filter((name) => this.#arrived.has(name)).length
  }

  of(name: string): Arrived {
    return this.#arrived.get(name) ?? { at: [], ids: new Set() }
  }

  close(): Promise<void> {
    return this.#server.stop(true)
  }

  async #take(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const kind = pathname.split('/')[1] ?? ''
    // Matrix gets the picture by itself, behind the message.
    if (pathname.endsWith('/upload')) return Response.json({ content_uri: 'mxc://here/1' })
    if (pathname.endsWith('_chart')) {
      this.pictures++
      return Response.json({ event_id: '$chart' })
    }
    // Beside a file ntfy reads the message from a header, in the form of RFC 2047.
    const [, header = ''] = /^=\?UTF-8\?B\?(.*)\?=$/.exec(request.headers.get('x-message') ?? '') ?? []
    const text = Buffer.from(header, 'base64').toString() + (await request.text())
    // Discord's signs are escaped.
    const name = NAME.exec(text.replaceAll('\\', ''))?.[0]
    if (name === undefined) return new Response('what is this?', { status: 400 })
    if (!this.#refused.has(name) && this.#random.chance(0.15)) {
      this.#refused.add(name)
      this.refusals++
      if (this.#random.chance(0.7)) return TOO_MANY[kind]?.() ?? new Response(null, { status: 503 })
      const status = this.#random.pick([0, 500, 502])
      return status === 0 ? portal(kind) : new Response('out of order', { status })
    }
    const arrived = this.#arrived.get(name) ?? { at: [], ids: new Set() }
    this.#arrived.set(name, arrived)
    arrived.ids.add(request.headers.get('idempotency-key') ?? (kind === 'matrix' ? pathname : 'none'))
    arrived.at.push(performance.now())
    this.successes++
    const { headers } = request
    if (headers.get('content-type')?.startsWith('multipart/') || headers.has('x-filename')) this.pictures++
    return TAKEN[kind]?.() ?? new Response()
  }
}
