// Wakes the feeds of all nodes, a few times a second at most: NOTIFY has one lock for the whole database.

import type { Clock } from '../../lib/clock.ts'
import type { Database } from './database.ts'
import type { Schema } from './schema.ts'

const WAKE_MS = 20

export class Waker {
  readonly #wake: () => Promise<unknown>
  readonly #clock: Clock
  #isAsked = false

  constructor(writing: Database, schema: Schema, clock: Clock) {
    this.#wake = () => writing.query(`select pg_notify($1, '')`, [channelOf(schema)])
    this.#clock = clock
  }

  /** Something was written. */
  wake(): void {
    if (this.#isAsked) return
    this.#isAsked = true
    void this.#later()
  }

  async #later(): Promise<void> {
    await this.#clock.sleep(WAKE_MS)
    this.#isAsked = false
    // A lost NOTIFY costs little: the feeds look by themselves before long.
    await this.#wake().catch(() => {})
  }
}
/** What the feeds of a schema listen to; PostgreSQL takes no longer name. */
export const channelOf = (schema: Schema) => `chartroom ${schema.slice(1, -1)}`.slice(0, 63)
