// The newest events of the server, for all streams together: each reader has a place in this list, and none a list of its own.
//
// So a thousand readers cost a thousand numbers, and one that does not read costs nothing. Who comes back says the id of the
// last event it saw and goes on behind it; whose place has been written over is told to ask for the state instead.

export interface Logged<E> {
  readonly id: string
  readonly event: E
}

export class EventLog<E> {
  readonly #name: string
  readonly #size: number
  readonly #events: E[] = []
  /** How many there have been. */
  #count = 0
  readonly #waiting = new Set<() => void>()

  /** `name` is in every id: those of an earlier server say nothing here. It has no dots. */
  constructor(name: string, size: number) {
    this.#name = name
    this.#size = size
  }

  push(event: E): void {
    this.#events[this.#count % this.#size] = event
    this.#count++
    for (const wake of this.#waiting) wake()
  }

  /** Id of the newest event: a reader that begins here sees what comes after it. */
  get newest(): string {
    return this.#idOf(this.#count)
  }

  /** The event behind the one with this id; null when there is none yet, `missed` when that one is no longer kept. */
  behind(id: string): Logged<E> | 'missed' | null {
    const [name, number = ''] = id.split('.')
    const place = Number(number)
    const known = /^\d{1,15}$/.test(number) && name === this.#name && place <= this.#count
    if (!known || this.#count - place > this.#size) return 'missed'
    const event = this.#events[place % this.#size]
    return place === this.#count || event === undefined ? null : { id: this.#idOf(place + 1), event }
  }

  /** Calls `wake` with every event. The function that is returned ends it. */
  onEvent(wake: () => void): () => void {
    this.#waiting.add(wake)
    return () => this.#waiting.delete(wake)
  }

  #idOf(place: number): string {
    return `${this.#name}.${place}`
  }
}
