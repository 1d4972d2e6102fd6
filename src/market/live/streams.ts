// The streams that are open: topics shared out to connections, and what these hear handed to whoever listens to the topic.

import type { LiveProvider } from './live-provider.ts'
import type { Heard } from './live-series.ts'
import { Connection, type ConnectionDeps } from './connection.ts'

/** The stream of a series. */
export interface StreamOf {
  readonly provider: LiveProvider
  readonly address: string
  readonly topic: string
}

/** A series that is made of a stream. */
export interface StreamListener {
  subscribed(): void
  refused(message: string): void
  cut(reason: string): void
  heard(message: Heard): void
}

export class Streams {
  readonly #deps: ConnectionDeps
  readonly #connections: Connection[] = []
  /** By address and topic, since each message is looked up. */
  readonly #listeners = new Map<string, readonly StreamListener[]>()
  readonly #running = new Set<Promise<void>>()
  #signal: AbortSignal | null = null

  constructor(deps: ConnectionDeps) {
    this.#deps = deps
  }

  /** One stream, however many listen to it. */
  join({ provider, address, topic }: StreamOf, listener: StreamListener): void {
    this.#listeners.set(nameOf(address, topic), [...this.#of(address, topic), listener])
    const mine = this.#connections.filter((one) => one.address === address)
    const shared = mine.find((one) => one.has(topic))
    if (shared?.isLive(topic)) listener.subscribed()
    if (shared) return
    const free = mine.find(({ size }) => size < provider.topicsAConnection)
    const connection = free ?? this.#newConnection(provider, address)
    connection.add(topic)
    if (free) return
    this.#connections.push(connection)
    this.#start(connection)
  }

  leave({ address, topic }: StreamOf, listener: StreamListener): void {
    const others = this.#of(address, topic).filter((one) => one !== listener)
    if (others.length > 0) {
      this.#listeners.set(nameOf(address, topic), others)
      return
    }
    this.#listeners.delete(nameOf(address, topic))
    const connection = this.#connections.find((one) => one.address === address && one.has(topic))
    connection?.remove(topic)
    if (connection?.size === 0) this.#connections.splice(this.#connections.indexOf(connection), 1)
  }

  run(signal: AbortSignal): void {
    this.#signal = signal
    for (const connection of this.#connections) this.#start(connection)
  }

  /** Resolves once the signal has aborted and all connections have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#running)
    this.#signal = null
  }

  #newConnection(provider: LiveProvider, address: string): Connection {
    return new Connection(provider, address, this.#deps, {
      subscribed: (topic) => {
        for (const one of this.#of(address, topic)) one.subscribed()
      },
      refused: (topic, message) => {
        for (const one of this.#of(address, topic)) one.refused(message)
      },
      cut: (topics, reason) => {
        for (const topic of topics) for (const one of this.#of(address, topic)) one.cut(reason)
      },
      heard: (message) => {
        for (const one of this.#of(address, message.topic)) one.heard(message)
      },
    })
  }

  #start(connection: Connection): void {
    if (!this.#signal) return
    const running = connection.run(this.#signal).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  #of(address: string, topic: string): readonly StreamListener[] {
    return this.#listeners.get(nameOf(address, topic)) ?? []
  }
}

const nameOf = (address: string, topic: string): string => `${address} ${topic}`
