// An exchange whose bars servers follow, as Binance is spoken to: what its stream says of a bar comes late, twice, in another
// order, cut short or not at all; it is silent, cuts and refuses. What it says by request in the end is true, and kept.

import type { Socket, SocketEvents } from '../market/live/connection.ts'
import type { History } from './history.ts'
import type { Life } from './life.ts'
import type { Call } from './jobs.ts'
import { EPOCH, type Timeline } from './timeline.ts'

const BAR_MS = 60_000
/** It tells of a bar that often. */
const PIECE_MS = 20_000
const PIECES = BAR_MS / PIECE_MS
/** It has traded since. */
const FIRST = EPOCH - 20 * BAR_MS
const SERIES = { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1m' }
const TOPIC = 'btcusdt@kline_1m'
/** A server lets go of a stream that another may have taken up within this. */
const LETTING_GO_MS = 5000
/** A server that stood still has its hands full for a moment. */
const THAW_MS = 1000
/** A bar is stored so soon, where nothing is in the way. */
const STORED_MS = 5 * BAR_MS

interface Stream {
  readonly life: Life
  readonly events: SocketEvents
  /** Whether it was asked for the bars. */
  isAsked: boolean
  isOpen: boolean
  /** It says nothing any more. */
  isSilent: boolean
}

export class Exchange {
  /** How many of a hundred things that it says go wrong. */
  troubles = 0
  readonly #timeline: Timeline
  readonly #history: History
  readonly #streams = new Set<Stream>()

  constructor(timeline: Timeline, history: History) {
    this.#timeline = timeline
    this.#history = history
  }

  /** Tells whoever listens of its bars; `call` is somebody's who may follow them. */
  async run(call: Call): Promise<void> {
    const timeline = this.#timeline
    while ((await call('POST', '/api/platform/feeds', SERIES))?.status !== 200) await timeline.pause(2000)
    for (;;) {
      await timeline.pause(PIECE_MS - ((timeline.now - EPOCH) % PIECE_MS))
      // At the end of a bar it says that it is closed.
      const time = Math.floor((timeline.now - 1 - EPOCH) / BAR_MS) * BAR_MS + EPOCH
      for (const stream of this.#streams) if (stream.isAsked) this.#say(stream, klineText(time, timeline.now))
    }
  }

  open(life: Life, address: string, events: SocketEvents): Socket {
    if (!address.includes('binance')) throw new Error('no provider is there')
    const timeline = this.#timeline
    const stream: Stream = { life, events, isAsked: false, isOpen: true, isSilent: false }
    this.#streams.add(stream)
    if (this.#goesWrong()) this.#close(stream)
    else timeline.after(timeline.between(5, 80), () => life.reach(() => stream.isOpen && events.opened()))
    return {
      send: (text) =>
        timeline.after(timeline.between(1, 50), () => stream.isOpen && this.#hear(stream, text)),
      close: () => this.#gone(stream),
    }
  }

  http(life: Life, address: string, signal?: AbortSignal): Promise<Response> {
    const timeline = this.#timeline
    return life.across(timeline.between(1, 60), () => this.#answer(new URL(address), signal), 20)
  }

  async #answer({ hostname, searchParams }: URL, signal?: AbortSignal): Promise<Response> {
    const { now } = this.#timeline
    if (hostname !== 'api.binance.com') throw new Error('no provider is there')
    const fault = this.#goesWrong() ? this.#timeline.random.below(4) : null
    if (fault === 0) return new Response('{}', { status: 429, headers: { 'retry-after': '7' } })
    if (fault === 1) return new Response('<html>', { status: 502 })
    if (fault === 2) return new Response('[[1, ')
    if (fault === 3)
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
    const asked = (name: string) => Number(searchParams.get(name))
    const rows: unknown[] = []
    const from = Math.max(FIRST, Math.ceil(asked('startTime') / BAR_MS) * BAR_MS)
    for (
      let time = from;
      time < now && time <= asked('endTime') && rows.length < asked('limit');
      time += BAR_MS
    ) {
      const { open, high, low, close, volume, bought } = barAt(time, now)
      rows.push([time, open, high, low, close, volume, 0, 0, 0, bought])
    }
    return Response.json(rows, { headers: { date: new Date(now).toUTCString() } })
  }

  #hear(stream: Stream, text: string): void {
    const { method, params, id } = JSON.parse(text) as { method: string; params?: string[]; id: number }
    if (params?.includes(TOPIC)) {
      stream.isAsked = method === 'SUBSCRIBE'
      this.#timeline.after(LETTING_GO_MS, () => this.#isAlone())
    }
    this.#say(stream, JSON.stringify({ result: null, id }))
  }

  /** One server follows a series, as far as they can know of each other. */
  #isAlone(): void {
    const able = [...this.#streams].filter(
      ({ isAsked, life }) => isAsked && !life.isOver && this.#timeline.now > life.standsUntil + THAW_MS,
    )
    const names = [...new Set(able.map(({ life }) => life.name))]
    if (names.length > 1)
      this.#history.found(
        'exclusive',
        `${SERIES.symbol} has been streamed to ${names.join(' and ')} for ${LETTING_GO_MS} ms`,
      )
  }

  #say(stream: Stream, text: string): void {
    const timeline = this.#timeline
    if (stream.life.isOver) this.#gone(stream)
    const fault = this.#goesWrong() ? timeline.random.below(6) : null
    if (fault === 0) stream.isSilent = true
    if (fault === 1) return this.#close(stream)
    if (fault === 2 || stream.isSilent) return
    const said = fault === 3 ? text.slice(0, 60) : text
    for (let times = fault === 4 ? 2 : 1; times > 0; times--)
      timeline.after(timeline.between(1, fault === 5 ? 20_000 : 300), () =>
        stream.life.reach(() => stream.isOpen && stream.events.text(said)),
      )
  }

  #close(stream: Stream): void {
    this.#gone(stream)
    stream.life.reach(() =>
      this.#timeline.after(1, () => stream.events.closed('closed by the other side (1006)')),
    )
  }

  #gone(stream: Stream): void {
    stream.isOpen = false
    this.#streams.delete(stream)
  }

  #goesWrong(): boolean {
    return this.#timeline.random.below(100) < this.troubles
  }

  /** Whether all that is over is stored, and as it was. Answers what is not there yet. */
  async judge(call: Call): Promise<readonly string[]> {
    const query = new URLSearchParams({ ...SERIES, start: String(FIRST), limit: '50000' })
    const answer = await call('GET', `/api/platform/bars?${query.toString()}`)
    const bars = answer?.status === 200 && !answer.isOld ? answer.json.bars : { time: [] }
    const times: readonly number[] = bars.time
    for (const [i, time] of times.entries()) {
      const seen = FIGURES.map((name) => bars[name][i] as number).join()
      const bar = barAt(time, Infinity)
      const said = FIGURES.map((name) => bar[name]).join()
      if (seen !== said)
        this.#history.found('fed', `${SERIES.symbol} is stored as ${seen} at ${iso(time)}, and was ${said}`)
    }
    const hole = times.findIndex((time, i) => time !== FIRST + i * BAR_MS)
    const last = hole < 0 ? (times.at(-1) ?? 0) : FIRST + (hole - 1) * BAR_MS
    return last < this.#timeline.now - STORED_MS ? [`${SERIES.symbol} after ${iso(last)}`] : []
  }
}

const FIGURES = ['open', 'high', 'low', 'close', 'volume'] as const
const iso = (time: number) => new Date(time).toISOString()

function klineText(time: number, now: number): string {
  const { open: o, high: h, low: l, close: c, volume: v, bought: V } = barAt(time, now)
  const k = { t: time, s: SERIES.symbol, i: SERIES.interval, o, h, l, c, v, V, x: now >= time + BAR_MS }
  return JSON.stringify({ e: 'kline', E: now, k })
}

/** A bar as it is at a time. It follows from its time, and need not be remembered. */
function barAt(time: number, now: number) {
  const count = Math.max(1, Math.min(PIECES, Math.floor((now - time) / PIECE_MS)))
  const prices = Array.from({ length: count }, (_, i) => 100 + (Bun.hash.crc32(`${time} ${i}`) % 50))
  return {
    open: prices[0]!,
    high: Math.max(...prices),
    low: Math.min(...prices),
    close: prices.at(-1)!,
    volume: 2 * count,
    bought: count,
  }
}
