// Makes up bars, and works out in a slow and obvious way which bars fire an alert, to compare the server with.
//
// Bars are minutes of 2020, so each is long over when it arrives. Closes are whole tenths and levels are between them, so
// it never matters whether touching a level counts.

import type { Reply, Client, Json } from './client.ts'
import type { Random } from './random.ts'

export interface Watch {
  readonly op: 'above' | 'below' | 'crossing' | 'crossing_up' | 'crossing_down'
  readonly price: number
  readonly frequency: 'once' | 'once_per_bar'
}

export const OPERATORS = ['above', 'below', 'crossing', 'crossing_up', 'crossing_down'] as const
const START = Date.UTC(2020, 0, 1)
const MINUTE = 60_000

/** One series: which of its bars were acknowledged, and how many were in a request that got no answer. */
export class Market {
  readonly exchange = 'TORTURE'
  readonly symbol: string
  readonly interval = '1m'
  /** The closes of all bars that were ever sent. */
  readonly closes: number[] = []
  stored = 0
  /** The bars of an import without an answer: afterwards either all or none of them must be there. */
  pending = 0
  readonly #random: Random
  #price = 1000

  constructor(symbol: string, random: Random) {
    this.symbol = symbol
    this.#random = random
  }

  timeOf(bar: number): number {
    return START + bar * MINUTE
  }

  /** Makes up closes until there are `count`, so that levels can be placed among bars still to come. */
  ahead(count: number): void {
    while (this.closes.length < count) {
      this.#price = Math.max(10, this.#price + this.#random.integer(-9, 9))
      this.closes.push(this.#price / 10)
    }
  }

  csv(from: number, to: number): string {
    this.ahead(to)
    const lines = ['time,open,high,low,close,volume']
    for (let bar = from; bar < to; bar++) {
      const close = this.closes[bar] ?? 0
      const open = this.closes[bar - 1] ?? close
      const [high, low] = [Math.max(open, close), Math.min(open, close)]
      lines.push(`${this.timeOf(bar)},${open},${high},${low},${close},${bar % 7}`)
    }
    return `${lines.join('\n')}\n`
  }

  /** Sends the next bars. */
  async import(client: Client, count: number): Promise<Reply> {
    const answer = await client.importCsv(this, this.csv(this.stored, this.stored + count))
    if (answer.status === 200) this.stored += count
    else this.pending = count
    return answer
  }

  /** After a restart, finds out what became of an import without an answer. Answers what is wrong with the bars. */
  async settle(client: Pick<Client, 'get'>): Promise<string | null> {
    const query = new URLSearchParams({
      exchange: this.exchange,
      symbol: this.symbol,
      interval: this.interval,
    })
    const { status, json, text } = await client.get(`/api/platform/bars?${query.toString()}`)
    if (status !== 200 && this.stored === 0) {
      this.pending = 0
      return null
    }
    const { time, close } = (json['bars'] ?? {}) as { time?: number[]; close?: number[] }
    if (!time || !close) return `bars of ${this.symbol} are lost: ${status} ${text.slice(0, 200)}`
    const allowed = [this.stored, this.stored + this.pending]
    if (!allowed.includes(time.length))
      return `${this.symbol} has ${time.length} bars, acknowledged were ${allowed.join(' or ')}`
    const wrong = time.findIndex((at, i) => at !== this.timeOf(i) || close[i] !== this.closes[i])
    if (wrong >= 0) return `bar ${wrong} of ${this.symbol} is another one`
    this.stored = time.length
    this.pending = 0
    return null
  }
}

/** The bars on which an alert fires that was set when `armed` bars were stored, given `stored` bars now. */
export function expectedFirings({ op, price, frequency }: Watch, market: Market, armed: number): number[] {
  const bars: number[] = []
  const isState = op === 'above' || op === 'below'
  let held = isState ? false : holds(op, price, market, armed - 1)
  for (let bar = isState ? armed - 1 : armed; bar < market.stored; bar++) {
    const holdsNow = holds(op, price, market, bar)
    if (holdsNow && !held) bars.push(bar)
    held = holdsNow
    if (frequency === 'once' && bars.length > 0) break
  }
  return bars
}

function holds(op: Watch['op'], price: number, { closes }: Market, bar: number): boolean {
  const close = closes[bar] ?? Number.NaN
  const previous = bar > 0 ? (closes[bar - 1] ?? Number.NaN) : Number.NaN
  const up = previous < price && close > price
  const down = previous > price && close < price
  switch (op) {
    case 'above':
      return close > price
    case 'below':
      return close < price
    case 'crossing_up':
      return up
    case 'crossing_down':
      return down
    default:
      return up || down
  }
}

export const bodyOf = (market: Market, watch: Watch, name: string): Json => ({
  name,
  symbol: market.symbol,
  exchange: market.exchange,
  interval: market.interval,
  kind: 'price',
  ...watch,
  channels: ['webhook'],
})
