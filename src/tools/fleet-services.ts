// What the servers of `bun run fleet-test --servers N` speak to: services that they tell things, and an exchange that streams.

import type { ServerWebSocket } from 'bun'
import { Overlap } from './fleet-verdict.ts'

/** A service refuses one message in so many, and lets one in so many wait, so that servers die while they wait for it. */
const REFUSED = 10
const DELAYED = 20
const DELAY_MS = 300

/** A service that is told things: it knows each by its id, and refuses some the first time that they come. */
export class Service {
  /** How often each was taken, by its id. */
  readonly taken = new Map<string, number>()
  /** Ids by what they came for. */
  readonly ids = new Map<string, Set<string>>()
  refused = 0
  readonly #refused = new Set<string>()
  readonly #random: (below: number) => number
  readonly #idHeader: string
  readonly #subjectOf: (body: string) => string
  readonly #server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#take(request) })

  constructor(random: (below: number) => number, idHeader: string, subjectOf: (body: string) => string) {
    this.#random = random
    this.#idHeader = idHeader
    this.#subjectOf = subjectOf
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/`
  }

  /** How often something came that had been taken before. */
  get repeated(): number {
    return this.taken.values().reduce((sum, times) => sum + times - 1, 0)
  }

  stop(): void {
    void this.#server.stop(true)
  }

  async #take(request: Request): Promise<Response> {
    const subject = this.#subjectOf(await request.text())
    const id = request.headers.get(this.#idHeader) ?? ''
    this.ids.set(subject, (this.ids.get(subject) ?? new Set()).add(id))
    // A second time would put it off for longer than a run takes.
    if (!this.#refused.has(id) && this.#random(REFUSED) === 0) {
      this.#refused.add(id)
      this.refused++
      return new Response(null, { status: 503 })
    }
    this.taken.set(id, (this.taken.get(id) ?? 0) + 1)
    if (this.#random(DELAYED) === 0) await Bun.sleep(DELAY_MS)
    return new Response('ok')
  }
}

/** Open, high, low, close and volume of the bar that opens at `time`, the same whenever one asks. */
export function liveRow(symbol: number, time: number): readonly number[] {
  const second = time / SECOND_MS
  const close = second % FIRES_EVERY === 0 ? HIGH : 100 + ((second * 7 + symbol) % 11)
  return [100, Math.max(100, close), Math.min(100, close), close, (second % 1000) + 1]
}

export const SECOND_MS = 1000
/** One bar in so many is this high: alerts that fire more often than that are throttled. */
export const FIRES_EVERY = 20
export const HIGH = 150
const HISTORY_MS = 30 * SECOND_MS

interface Line {
  readonly server: string
  readonly topics: Set<string>
}

/** Binance as far as servers need it: bars of a second by a stream and by REST, made of nothing but their time. */
export class Exchange {
  /** Its first bar; and what is behind its last one, once it is closed. */
  readonly from = floor(Date.now()) - HISTORY_MS
  to = Infinity
  /** Series that were streamed to two servers at once. */
  readonly twice = new Overlap()
  subscriptions = 0
  readonly #lines = new Set<ServerWebSocket<Line>>()
  readonly #server = Bun.serve<Line>({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request, server) => {
      const { pathname, searchParams } = new URL(request.url)
      const [, name = '', kind] = pathname.split('/')
      if (kind === 'ws')
        return server.upgrade(request, { data: { server: name, topics: new Set() } })
          ? undefined
          : new Response(null, { status: 400 })
      return Response.json(this.#page(searchParams))
    },
    websocket: {
      open: (line) => void this.#lines.add(line),
      close: (line) => void this.#lines.delete(line),
      message: (line, text) => this.#hear(line, String(text)),
    },
  })
  readonly #ticking = setInterval(() => this.#tick(), SECOND_MS / 4)
  #told = floor(Date.now())

  /** The address that a server of this name is to ask. */
  urlFor(server: string): string {
    return `http://127.0.0.1:${this.#server.port}/${server}`
  }

  /** No more bars begin. */
  close(): void {
    this.to = floor(Date.now())
  }

  stop(): void {
    clearInterval(this.#ticking)
    void this.#server.stop(true)
  }

  #hear(line: ServerWebSocket<Line>, text: string): void {
    const {
      method,
      params = [],
      id,
    } = JSON.parse(text) as {
      readonly method: string
      readonly params?: readonly string[]
      readonly id: number
    }
    for (const topic of params)
      if (method === 'SUBSCRIBE') {
        line.data.topics.add(topic)
        this.subscriptions++
      } else line.data.topics.delete(topic)
    line.send(JSON.stringify({ result: null, id }))
  }

  #tick(): void {
    this.twice.look(
      performance.now(),
      [...this.#lines].flatMap(({ data }) => [...data.topics]),
    )
    const now = floor(Date.now())
    for (; this.#told < now; this.#told += SECOND_MS)
      for (const line of this.#lines)
        for (const topic of line.data.topics) {
          this.#send(line, topic, this.#told, true)
          this.#send(line, topic, this.#told + SECOND_MS, false)
        }
  }

  #send(line: ServerWebSocket<Line>, topic: string, time: number, closed: boolean): void {
    if (time >= this.to) return
    const name = topic.replace(/@.*/, '').toUpperCase()
    const [o, h, l, c, v] = liveRow(numberOf(name), time).map(String)
    const k = { t: time, s: name, i: '1s', o, h, l, c, v, x: closed }
    line.send(JSON.stringify({ e: 'kline', E: Date.now(), k }))
  }

  #page(query: URLSearchParams): unknown[] {
    const number = (name: string) => Number(query.get(name))
    const symbol = numberOf(query.get('symbol') ?? '')
    const first = Math.max(this.from, Math.ceil(number('startTime') / SECOND_MS) * SECOND_MS)
    const last = Math.min(number('endTime'), Date.now(), this.to - 1)
    const count = Math.min(number('limit'), Math.max(0, Math.floor((last - first) / SECOND_MS) + 1))
    return Array.from({ length: count }, (_, i) => {
      const time = first + i * SECOND_MS
      return [time, ...liveRow(symbol, time).map(String)]
    })
  }
}

const floor = (ms: number) => Math.floor(ms / SECOND_MS) * SECOND_MS
const numberOf = (name: string) => Number(/\d+/.exec(name)?.[0])
