// A market that a test turns by its clock, and the exchanges that tell of it, each in its documented format: REST and stream,
// with the faults that streams have. No provider can be reached from a test.

import type { Clock } from '../../../src/lib/clock.ts'
import type { SeededRandom } from '../../../src/lib/seeded-random.ts'
import type { OpenSocket, SocketEvents } from '../../../src/market/live/connection.ts'
import type { BarRow, Http } from '../../../src/market/providers/provider.ts'

export const MINUTE = 60_000

/** Prices in cents, volumes in thousandths: texts of them are exact. */
export interface VenueBar {
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
  readonly trades: number
  /** Of the volume: what takers bought. */
  readonly bought: number
}

export interface Faults {
  /** Of 1 for each message. */
  readonly twice: number
  readonly late: number
  readonly lost: number
  readonly garbled: number
  /** Of 1 for each request. */
  readonly refused: number
  /** Of 1 for each bar: it is corrected after its end; half of the time the stream says so. */
  readonly corrected: number
}

export const NO_FAULTS: Faults = { twice: 0, late: 0, lost: 0, garbled: 0, refused: 0, corrected: 0 }

/** How an exchange writes what happens. */
export interface Dialect {
  /** Whether bars tell what takers bought, by stream and by REST. */
  readonly tellsSides?: boolean
  /** Whether there is a bar for a minute without a trade. */
  readonly everyMinute: boolean
  /** What is sent when a client has said something; null closes the connection. */
  readonly answers: (text: string, now: number) => readonly string[] | null
  /** A bar as it stands; `closed`: it is over. Empty where the exchange does not tell of that. */
  readonly bar: (bar: VenueBar, closed: boolean, now: number) => readonly string[]
  readonly trade: (trade: { id: number; time: number; price: number; size: number }) => readonly string[]
  readonly heartbeat: (lastId: number, now: number) => readonly string[]
  readonly isSubscription: (text: string) => boolean
  readonly page: (bars: readonly VenueBar[], url: URL, body: string | undefined, now: number) => Response
}

interface Line {
  readonly events: SocketEvents
  isSubscribed: boolean
  held: string | null
}

export const price = (cents: number) => (cents / 100).toFixed(2)
export const size = (thousandths: number) => (thousandths / 1000).toFixed(3)

export const rowOf = ({ time, open, high, low, close, volume }: VenueBar) =>
  [
    time,
    Number(price(open)),
    Number(price(high)),
    Number(price(low)),
    Number(price(close)),
    Number(size(volume)),
  ] as const

export class FakeVenue {
  readonly bars: VenueBar[] = []
  faults: Faults = NO_FAULTS
  requests = 0
  connections = 0
  /** Whether REST and new connections are out of reach. */
  isDown = false
  refusesStreams = false
  readonly #dialect: Dialect
  readonly #clock: Clock
  readonly #random: SeededRandom
  readonly #lines = new Set<Line>()
  #price = 10_000
  #lastId = 0

  constructor(dialect: Dialect, clock: Clock, random: SeededRandom) {
    this.#dialect = dialect
    this.#clock = clock
    this.#random = random
  }

  get isConnected(): boolean {
    return [...this.#lines].some(({ isSubscribed }) => isSubscribed)
  }

  readonly open: OpenSocket = (_, events) => {
    const line: Line = { events, isSubscribed: false, held: null }
    this.connections++
    queueMicrotask(() => {
      if (this.isDown || this.refusesStreams) return events.closed('refused')
      this.#lines.add(line)
      events.opened()
    })
    return {
      send: (text) => {
        if (!this.#lines.has(line)) return
        const answers = this.#dialect.answers(text, this.#clock.now())
        if (answers === null) return this.#cutLine(line)
        if (this.#dialect.isSubscription(text)) line.isSubscribed = true
        queueMicrotask(() => {
          for (const answer of answers) if (this.#lines.has(line)) events.text(answer)
        })
      },
      close: () => void this.#lines.delete(line),
    }
  }

  readonly http: Http = async (url, _, body) => {
    this.requests++
    if (this.isDown) throw new Error('connect ECONNREFUSED')
    if (this.#chance(this.faults.refused))
      return this.#chance(0.5)
        ? new Response('<html>busy</html>', { status: 503 })
        : new Response('{}', { status: 429, headers: { 'retry-after': '2' } })
    return this.#dialect.page(this.bars, new URL(url), body, this.#clock.now())
  }

  /** Bars that are over, as REST has them. */
  closed(): BarRow[] {
    const now = this.#clock.now()
    return this.bars
      .filter(({ time }) => time + MINUTE <= now)
      .map((bar) => (this.#dialect.tellsSides ? [...rowOf(bar), Number(size(bar.bought))] : rowOf(bar)))
  }

  cut(reason = 'cut'): void {
    for (const line of this.#lines) this.#cutLine(line, reason)
  }

  /** Nothing more is heard of it, and it stays open. */
  freeze(): void {
    this.#lines.clear()
  }

  /** Trades, closes and corrects until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const clock = this.#clock
    while (!signal.aborted) {
      const now = clock.now()
      const end = (Math.floor(now / MINUTE) + 1) * MINUTE
      const next = now + 1 + Math.floor(this.#random.uniform() * 15_000)
      await clock.sleep(Math.min(end, next) - now, signal)
      if (signal.aborted) return
      if (clock.now() >= end) this.#endOf(end - MINUTE)
      else if (this.#dialect.everyMinute || Math.floor(now / MINUTE) % 7 !== 5) this.#trade()
    }
  }

  #trade(): void {
    const now = this.#clock.now()
    const time = Math.floor(now / MINUTE) * MINUTE
    this.#price = Math.max(100, this.#price + Math.floor(this.#random.uniform() * 21) - 10)
    const amount = 1 + Math.floor(this.#random.uniform() * 999)
    const id = ++this.#lastId
    const bought = id % 3 === 0 ? 0 : amount
    const at = this.#price
    const last = this.bars.at(-1)
    const bar =
      last?.time === time
        ? {
            ...last,
            high: last.volume === 0 ? at : Math.max(last.high, at),
            low: last.volume === 0 ? at : Math.min(last.low, at),
            open: last.volume === 0 ? at : last.open,
            close: at,
            volume: last.volume + amount,
            trades: last.trades + 1,
            bought: last.bought + bought,
          }
        : { time, open: at, high: at, low: at, close: at, volume: amount, trades: 1, bought }
    if (last?.time === time) this.bars.pop()
    this.bars.push(bar)
    this.#say(this.#dialect.trade({ id, time: now, price: at, size: amount }))
    this.#say(this.#dialect.bar(bar, false, now))
  }

  #endOf(time: number): void {
    const now = this.#clock.now()
    const { everyMinute } = this.#dialect
    if (everyMinute && this.bars.at(-1)?.time !== time) this.bars.push(this.#empty(time))
    const bar = this.bars.at(-1)
    if (bar?.time === time) this.#say(this.#dialect.bar(bar, true, now))
    this.#say(this.#dialect.heartbeat(this.#lastId, now))
    if (everyMinute) this.bars.push(this.#empty(time + MINUTE))
    if (this.#chance(this.faults.corrected)) this.#correct(now)
  }

  #empty(time: number): VenueBar {
    const at = this.#price
    return { time, open: at, high: at, low: at, close: at, volume: 0, trades: 0, bought: 0 }
  }

  #correct(now: number): void {
    const at = this.bars.length - 2 - Math.floor(this.#random.uniform() * 20)
    const bar = this.bars[at]
    if (!bar || bar.time + MINUTE > now) return
    // Half of the time in what was bought alone.
    const isOfSides = bar.bought < bar.volume && bar.volume % 2 === 0
    const corrected = isOfSides
      ? { ...bar, bought: bar.bought + 1 }
      : { ...bar, high: bar.high + 1, volume: bar.volume + 1 }
    this.bars[at] = corrected
    if (this.#chance(0.5)) this.#say(this.#dialect.bar(corrected, true, now))
  }

  #say(texts: readonly string[]): void {
    for (const text of texts) for (const line of this.#lines) if (line.isSubscribed) this.#tell(line, text)
  }

  #tell(line: Line, text: string): void {
    const { twice, late, lost, garbled } = this.faults
    if (this.#chance(lost)) return
    if (this.#chance(garbled)) line.events.text(text.slice(0, text.length / 2))
    const held = line.held
    line.held = null
    if (held === null && this.#chance(late)) {
      line.held = text
      return
    }
    line.events.text(text)
    if (held !== null) line.events.text(held)
    if (this.#chance(twice)) line.events.text(text)
  }

  #cutLine(line: Line, reason = 'cut'): void {
    if (this.#lines.delete(line)) line.events.closed(reason)
  }

  #chance(of: number): boolean {
    return of > 0 && this.#random.uniform() < of
  }
}
