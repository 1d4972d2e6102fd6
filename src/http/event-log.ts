// The newest events of the server in one list for all streams: each reader has only a position in it.
//
// So a thousand readers cost a thousand numbers, and a reader that does not read costs nothing. A reader that comes back
// names the id of the last event it saw and goes on behind it. If that event has been overwritten, the reader is told to
// ask for the state instead.

import type { SeriesKey } from '../market/bar-store.ts'
import type { StreamEvents } from '../wire/event.ts'

/** What streams tell: all of it to its owner, changed bars to whoever sees them. */
export type StreamEvent =
  | { readonly event: 'bars'; readonly key: SeriesKey; readonly data: StreamEvents['bars'] }
  | { readonly event: 'firing'; readonly ownerId: string; readonly data: StreamEvents['firing'] }
  | { readonly event: 'backtest'; readonly ownerId: string; readonly data: StreamEvents['backtest'] }
  | { readonly event: 'drawings'; readonly ownerId: string; readonly data: StreamEvents['drawings'] }
  | { readonly event: 'layout'; readonly ownerId: string; readonly data: StreamEvents['layout'] }
  | { readonly event: 'sweep'; readonly ownerId: string; readonly data: StreamEvents['sweep'] }

/** An event as all its readers share it: its text is written once, and each user's permission is checked once. */
export interface Told {
  readonly event: StreamEvent
  text: string | null
  readonly isTheirs: Map<string, boolean>
}

export type StreamLog = EventLog<Told>

export interface Logged<E> {
  readonly id: string
  readonly event: E
}

export class EventLog<E> {
  readonly #name: string
  readonly #size: number
  readonly #events: E[] = []
  /** How many events there have been. */
  #count = 0
  readonly #waiting = new Set<() => void>()

  /** `name` is part of every id, so ids of an earlier server are recognised as foreign. It contains no dots. */
  constructor(name: string, size: number) {
    this.#name = name
    this.#size = size
  }

  push(event: E): void {
    this.#events[this.#count % this.#size] = event
    this.#count++
    for (const wake of this.#waiting) wake()
  }

  /** Id of the newest event: a reader that begins here gets only later ones. */
  get newest(): string {
    return this.#idOf(this.#count)
  }

  /** The event after the one with this id; null if there is none yet, `missed` if that one is no longer kept. */
  behind(id: string): Logged<E> | 'missed' | null {
    const [name, number = ''] = id.split('.')
    const place = Number(number)
    const known = /^\d{1,15}$/.test(number) && name === this.#name && place <= this.#count
    if (!known || this.#count - place > this.#size) return 'missed'
    const event = this.#events[place % this.#size]
    return place === this.#count || event === undefined ? null : { id: this.#idOf(place + 1), event }
  }

  /** Calls `wake` at every event, until the returned function is called. */
  onEvent(wake: () => void): () => void {
    this.#waiting.add(wake)
    return () => this.#waiting.delete(wake)
  }

  #idOf(place: number): string {
    return `${this.#name}.${place}`
  }
}
