// A connection to a live provider: it asks for topics, keeps itself alive, and comes back by itself when it is cut.
//
// A provider may be silent without having closed anything, so silence is a cut as well. After a cut it waits, longer each
// time, connects again and asks for all its topics again. What was missed meanwhile is for others to find out: `cut` and
// `subscribed` tell them when.

import type { Clock } from '../../lib/clock.ts'
import type { LiveMessage, LiveProvider } from './live-provider.ts'

export interface Socket {
  send(text: string): void
  close(): void
}

export interface SocketEvents {
  opened(): void
  text(text: string): void
  closed(reason: string): void
}

export type OpenSocket = (address: string, events: SocketEvents) => Socket

export interface ConnectionDeps {
  readonly clock: Clock
  readonly open: OpenSocket
  /** From 0 to 1, so that not everybody comes back at the same moment. */
  readonly spread: () => number
}

export interface ConnectionListener {
  subscribed(topic: string): void
  /** The provider does not have it. */
  refused(topic: string, message: string): void
  cut(topics: readonly string[], reason: string): void
  heard(message: Extract<LiveMessage, { readonly kind: 'bar' | 'trade' | 'told' }>): void
}

const FIRST_WAIT_MS = 500
const MOST_WAIT_MS = 60_000
/** A connection that lasted this long was none that fails. */
const STEADY_MS = 30_000

/** `new`: not asked for yet on this connection. */
type TopicState = 'new' | 'asked' | 'live' | 'refused'

export class Connection {
  readonly address: string
  readonly #provider: LiveProvider
  readonly #deps: ConnectionDeps
  readonly #listener: ConnectionListener
  readonly #topics = new Map<string, TopicState>()
  /** Topics of the requests that were not answered yet, by the request's id. */
  readonly #asked = new Map<number, readonly string[]>()
  readonly #gone: string[] = []
  /** Topics that are not asked for together with others. */
  readonly #alone = new Set<string>()
  #nextId = 1
  #failures = 0
  #socket: Socket | null = null
  #end: ((reason: string) => void) | null = null
  #heardAt = 0
  #isSending = false
  #running: AbortController | null = null

  constructor(provider: LiveProvider, address: string, deps: ConnectionDeps, listener: ConnectionListener) {
    this.#provider = provider
    this.address = address
    this.#deps = deps
    this.#listener = listener
  }

  get size(): number {
    return this.#topics.size
  }

  has(topic: string): boolean {
    return this.#topics.has(topic)
  }

  isLive(topic: string): boolean {
    return this.#topics.get(topic) === 'live'
  }

  add(topic: string): void {
    this.#topics.set(topic, 'new')
    void this.#send()
  }

  /** The last one that goes takes the connection with it. */
  remove(topic: string): void {
    const state = this.#topics.get(topic)
    this.#topics.delete(topic)
    if (this.#topics.size === 0) this.#running?.abort()
    else if (state === 'live' || state === 'asked') {
      this.#gone.push(topic)
      void this.#send()
    }
  }

  /** Runs until the signal says stop, or its last topic is removed. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, spread } = this.#deps
    const running = new AbortController()
    this.#running = running
    const stop = () => running.abort()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    while (!running.signal.aborted) {
      const began = clock.now()
      const reason = await this.#session(running.signal)
      const topics = [...this.#topics.keys()]
      for (const topic of topics) this.#topics.set(topic, 'new')
      if (running.signal.aborted) break
      this.#failures = clock.now() - began >= STEADY_MS ? 0 : this.#failures + 1
      this.#listener.cut(topics, reason)
      const wait = Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.max(0, this.#failures - 1))
      await clock.sleep(wait * (0.75 + spread() / 2), running.signal)
    }
    signal.removeEventListener('abort', stop)
  }

  /** One connection from its opening to its end; answers why it ended. */
  async #session(signal: AbortSignal): Promise<string> {
    const { clock, open } = this.#deps
    const over = new AbortController()
    this.#asked.clear()
    this.#gone.length = 0
    this.#heardAt = clock.now()
    const { promise, resolve } = Promise.withResolvers<string>()
    const end = (reason: string) => {
      if (over.signal.aborted) return
      over.abort()
      this.#socket = null
      this.#end = null
      resolve(reason)
    }
    this.#end = end
    const stop = () => end('stopped')
    signal.addEventListener('abort', stop, { once: true })
    let socket: Socket | null = null
    try {
      socket = open(this.address, {
        opened: () => {
          if (over.signal.aborted) return
          this.#socket = socket
          this.#heardAt = clock.now()
          void this.#send()
        },
        text: (text) => {
          if (!over.signal.aborted) this.#hear(text)
        },
        closed: end,
      })
      void this.#watch(over.signal)
    } catch (error) {
      end(String(error))
    }
    const reason = await promise
    signal.removeEventListener('abort', stop)
    socket?.close()
    return reason
  }

  /** Pings, and ends the session when nothing was heard for too long. */
  async #watch(over: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    const { pingMs, silenceMs } = this.#provider
    let pingedAt = clock.now()
    while (!over.aborted) {
      const silentAt = this.#heardAt + silenceMs
      await clock.sleep(Math.max(1, Math.min(silentAt, pingedAt + pingMs) - clock.now()), over)
      if (over.aborted) return
      const now = clock.now()
      if (now >= this.#heardAt + silenceMs)
        return this.#end?.(`nothing was heard for ${Math.round(silenceMs / 1000)} s`)
      if (now < pingedAt + pingMs) continue
      pingedAt = now
      const text = this.#provider.ping(this.#nextId++)
      if (text !== '') this.#socket?.send(text)
    }
  }

  #hear(text: string): void {
    this.#heardAt = this.#deps.clock.now()
    let messages: readonly LiveMessage[] = []
    try {
      messages = this.#provider.read(text)
    } catch {
      // A broken message is no news. The bar that it should have told of is missed, and fetched.
    }
    for (const message of messages)
      switch (message.kind) {
        case 'subscribed':
          for (const topic of this.#answered(message)) this.#become(topic, 'live')
          break
        case 'refused':
          this.#refused(message)
          break
        case 'goodbye':
          return this.#end?.(message.message)
        default:
          // Some providers speak before they have said that they will.
          this.#become(message.topic, 'live')
          this.#listener.heard(message)
      }
  }

  #answered({
    id,
    topics,
  }: {
    readonly id?: number
    readonly topics?: readonly string[]
  }): readonly string[] {
    const asked = id === undefined ? undefined : this.#asked.get(id)
    if (id !== undefined) this.#asked.delete(id)
    return topics ?? asked ?? []
  }

  #become(topic: string, state: TopicState): void {
    const before = this.#topics.get(topic)
    if (before === undefined || before === state) return
    this.#topics.set(topic, state)
    if (state === 'live') this.#listener.subscribed(topic)
  }

  /** Of a request for several topics that was refused as a whole, each is asked for by itself. */
  #refused(message: Extract<LiveMessage, { readonly kind: 'refused' }>): void {
    const topics = this.#answered(message).filter((topic) => this.#topics.get(topic) === 'asked')
    if (topics.length > 1) {
      for (const topic of topics) this.#alone.add(topic)
      for (const topic of topics) this.#topics.set(topic, 'new')
      void this.#send()
      return
    }
    for (const topic of topics) {
      this.#become(topic, 'refused')
      this.#listener.refused(topic, message.message)
    }
  }

  /** Sends what there is to ask, as fast as the provider allows. */
  async #send(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    try {
      for (;;) {
        const socket = this.#socket
        const text = socket && this.#nextRequest()
        if (!socket || text === null) return
        socket.send(text)
        await this.#deps.clock.sleep(this.#provider.messageGapMs)
      }
    } finally {
      this.#isSending = false
    }
  }

  #nextRequest(): string | null {
    const { topicsAMessage } = this.#provider
    const gone = this.#gone.splice(0, topicsAMessage)
    if (gone.length > 0) return this.#provider.unsubscribe(gone, this.#nextId++)
    const fresh = [...this.#topics].filter(([, state]) => state === 'new').map(([topic]) => topic)
    const [first] = fresh
    if (first === undefined) return null
    const together = fresh.filter((topic) => !this.#alone.has(topic))
    const next = this.#alone.has(first) ? [first] : together.slice(0, topicsAMessage)
    for (const topic of next) this.#topics.set(topic, 'asked')
    const id = this.#nextId++
    this.#asked.set(id, next)
    return this.#provider.subscribe(next, id)
  }
}
