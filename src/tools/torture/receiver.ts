// The torture's own webhook receiver, which records under which delivery ids each event came.

interface Arrived {
  /** Distinct `webhook-id`s: an event has exactly one for each receiver, however often it is tried. */
  readonly ids: Set<string>
  times: number
}

export class Receiver {
  readonly #server: Bun.Server<undefined>
  readonly #events = new Map<string, Arrived>()
  #held: Promise<void> | null = null

  constructor() {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 60,
      fetch: (request) => this.#take(request),
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/hook`
  }

  /** What came for one event, named by `keyOf`. */
  of(key: string): { readonly ids: number; readonly times: number } {
    const arrived = this.#events.get(key)
    return { ids: arrived?.ids.size ?? 0, times: arrived?.times ?? 0 }
  }

  /** Stops answering until the function that it returns is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held = promise
    return resolve
  }

  /** The most times that any event came. */
  get most(): number {
    return Math.max(0, ...[...this.#events.values()].map(({ times }) => times))
  }

  /** Events that came under more than one id. */
  doubled(): string[] {
    return [...this.#events].filter(([, { ids }]) => ids.size > 1).map(([key]) => key)
  }

  close(): Promise<void> {
    return this.#server.stop(true)
  }

  async #take(request: Request): Promise<Response> {
    const { event, data } = (await request.json()) as {
      event: string
      data: Readonly<Record<string, unknown>>
    }
    const key = keyOf(event, data)
    const arrived = this.#events.get(key) ?? { ids: new Set(), times: 0 }
    arrived.ids.add(request.headers.get('webhook-id') ?? '')
    arrived.times++
    this.#events.set(key, arrived)
    await this.#held
    return new Response(null, { status: 204 })
  }
}

/** `alert.triggered al_1 2024-01-01T00:00:00.000Z`, `backtest.reportReady bt_1`. */
function keyOf(event: string, data: Readonly<Record<string, unknown>>): string {
  return event === 'alert.triggered'
    ? `${event} ${String(data['alertId'])} ${String(data['barTime'])}`
    : `${event} ${String(data['backtestId'] ?? data['webhookId'])}`
}
