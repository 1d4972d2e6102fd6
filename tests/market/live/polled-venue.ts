// A stock market that is asked again and again, as Yahoo, Alpaca, Massive, Tiingo and Twelve Data answer, with the faults that
// such answers have. It knows each bar as it stood at any time, so that it can answer late, or as it would have a while ago.

import type { Clock } from '../../../src/lib/clock.ts'
import type { SeededRandom } from '../../../src/lib/seeded-random.ts'
import type { Calendar } from '../../../src/market/calendar.ts'
import type { BarRow, Http } from '../../../src/market/providers/provider.ts'
import { type KeyedBar, keyedAnswer } from '../fake-keyed.ts'

const MINUTE = 60_000

export const POLL_FAULTS = [
  'down',
  'too many',
  'unavailable',
  'hung',
  'truncated',
  'html',
  'doubled',
  'shuffled',
  'old',
  'empty',
  'nulls',
  'others',
  'corrected',
] as const
export type PollFault = (typeof POLL_FAULTS)[number]

export interface Rules {
  /** How late it tells of what happens. */
  readonly delayMs: number
  /** Requests that it allows; more are refused. */
  readonly limits: readonly { readonly count: number; readonly perMs: number }[]
  /** Whether it says when it answers. */
  readonly isDated: boolean
}

interface Version {
  readonly at: number
  readonly bar: KeyedBar
}

export class PolledVenue {
  readonly rules: Rules
  readonly asked: { readonly at: number; readonly symbols: number }[] = []
  fault: PollFault | null = null
  /** Requests that were more than it allows. */
  refused = 0
  readonly #clock: Clock
  readonly #random: SeededRandom
  readonly #calendar: Calendar
  /** By symbol and time. */
  readonly #bars = new Map<string, Map<number, Version[]>>()
  #price = 10_000

  constructor(rules: Rules, clock: Clock, random: SeededRandom, calendar: Calendar) {
    this.rules = rules
    this.#clock = clock
    this.#random = random
    this.#calendar = calendar
  }

  /** Closed bars of the session, as REST has them. */
  closed(symbol: string): BarRow[] {
    const asOf = this.#clock.now() - this.rules.delayMs
    return this.#asOf(symbol, asOf)
      .filter(({ time }) => time + MINUTE <= asOf && this.#calendar.isOpen(time))
      .map(({ time, open, high, low, close, volume }) => [time, open, high, low, close, volume])
  }

  readonly http: Http = async (address) => {
    const url = new URL(address)
    const now = this.#clock.now()
    const symbols = (url.searchParams.get('symbol') ?? '').split(',').length
    this.asked.push({ at: now, symbols })
    for (const { count, perMs } of this.rules.limits) {
      const begun = this.asked.filter(({ at }) => at > now - perMs)
      if (begun.reduce((sum, one) => sum + one.symbols, 0) > count) {
        this.refused++
        return new Response('{}', { status: 429, headers: { 'retry-after': '30' } })
      }
    }
    const { fault } = this
    switch (fault) {
      case 'down':
        throw new Error('connect ECONNREFUSED')
      case 'too many':
        return new Response('{}', { status: 429, headers: { 'retry-after': '20' } })
      case 'unavailable':
        return new Response('<html>busy</html>', { status: 503 })
      case 'hung':
        return new Promise(() => {})
      case 'html':
        return new Response('<!DOCTYPE html><title>Are you a human?</title>', { status: 200 })
      default:
    }
    const oldMs = fault === 'old' ? Math.floor(this.#random.uniform() * 90_000) : 0
    const response = this.#answer(url, now - oldMs, fault)
    const text = await response.text()
    const date = new Date(Math.floor((now - oldMs) / 1000) * 1000).toUTCString()
    return new Response(fault === 'truncated' ? text.slice(0, text.length / 2) : text, {
      status: response.status,
      ...(this.rules.isDated && { headers: { date } }),
    })
  }

  /** Trades, while somebody may, until the signal aborts. */
  async run(signal: AbortSignal, symbols: readonly string[]): Promise<void> {
    const clock = this.#clock
    while (!signal.aborted) {
      const now = clock.now()
      const isTraded = [-30, 0, 30].some((minutes) => this.#calendar.isOpen(now + minutes * MINUTE))
      const minute = Math.floor(now / MINUTE) * MINUTE
      // In every seventh minute nobody trades.
      if (isTraded && (minute / MINUTE) % 7 !== 5) for (const symbol of symbols) this.#trade(symbol, minute)
      const waitMs = isTraded ? 1 + Math.floor(this.#random.uniform() * 40_000) : 15 * MINUTE
      await clock.sleep(waitMs, signal)
    }
  }

  /** A bar of a while ago was otherwise. */
  correct(symbol: string): void {
    const now = this.#clock.now()
    const known = [...(this.#bars.get(symbol) ?? [])].filter(([time]) => this.#calendar.isOpen(time))
    const versions = known.at(-3 - Math.floor(this.#random.uniform() * 20))?.[1]
    const bar = versions?.at(-1)?.bar
    if (!versions || !bar) return
    versions.push({ at: now, bar: { ...bar, high: cents(bar.high + 0.01), volume: bar.volume + 1 } })
  }

  /** All that ever happened was at half of the price. */
  split(symbol: string): void {
    const now = this.#clock.now()
    for (const versions of this.#bars.get(symbol)?.values() ?? []) {
      const { time, open, high, low, close, volume } = versions.at(-1)!.bar
      const [o, h, l, c] = [open, high, low, close].map((price) => price / 2)
      versions.push({ at: now, bar: { time, open: o!, high: h!, low: l!, close: c!, volume: volume * 2 } })
    }
  }

  #trade(symbol: string, time: number): void {
    this.#price = Math.max(100, this.#price + Math.floor(this.#random.uniform() * 21) - 10)
    const price = cents(this.#price / 100)
    const amount = 1 + Math.floor(this.#random.uniform() * 999)
    const bars = this.#bars.get(symbol) ?? new Map<number, Version[]>()
    this.#bars.set(symbol, bars)
    const versions = bars.get(time) ?? []
    bars.set(time, versions)
    const last = versions.at(-1)?.bar
    const bar = last
      ? {
          ...last,
          high: Math.max(last.high, price),
          low: Math.min(last.low, price),
          close: price,
          volume: last.volume + amount,
        }
      : { time, open: price, high: price, low: price, close: price, volume: amount }
    versions.push({ at: this.#clock.now(), bar })
  }

  #asOf(symbol: string, asOf: number): KeyedBar[] {
    // Corrections are not late.
    const found = [...(this.#bars.get(symbol)?.values() ?? [])].map((versions) =>
      versions.findLast(({ at, bar }) => at <= asOf || (bar.time + MINUTE <= asOf && at > bar.time + MINUTE)),
    )
    return found.flatMap((version) => version?.bar ?? [])
  }

  #answer(url: URL, now: number, fault: PollFault | null): Response {
    const asOf = now - this.rules.delayMs
    const barsOf = (symbol: string, from: number, to: number): KeyedBar[] => {
      if (fault === 'empty') return []
      const all = this.#asOf(symbol, asOf).filter(({ time }) => time >= from && time <= to)
      if (fault === 'doubled') return all.flatMap((bar) => [bar, bar])
      if (fault === 'shuffled') return all.toSorted(() => this.#random.uniform() - 0.5)
      if (fault === 'nulls')
        return all.map((bar) => (this.#random.uniform() < 0.3 ? ({ ...bar, close: null } as never) : bar))
      return all
    }
    if (url.hostname === 'query1.finance.yahoo.com') return this.#yahoo(url, barsOf, { asOf, fault })
    if (fault === 'nulls' && url.hostname === 'api.twelvedata.com') return new Response('{"values":[null]}')
    const asked = new URL(url.href.replaceAll('AAPL', fault === 'others' ? 'MSFT' : 'AAPL'))
    // Tiingo names no symbol, so that a mix-up of its own is not to be told.
    const isTold = url.hostname !== 'api.tiingo.com'
    return keyedAnswer(isTold ? asked : url, ({ symbol, from, to, isOfSession }) =>
      barsOf(symbol, from, to).filter(({ time }) => !isOfSession || this.#calendar.isOpen(time)),
    )
  }

  /** Minutes without a trade are nulls, and behind the bars comes the price of now. */
  #yahoo(
    url: URL,
    barsOf: (symbol: string, from: number, to: number) => KeyedBar[],
    { asOf, fault }: { readonly asOf: number; readonly fault: PollFault | null },
  ): Response {
    const [from, to] = ['period1', 'period2'].map((name) => Number(url.searchParams.get(name)) * 1000)
    const symbol = decodeURIComponent(url.pathname.split('/').at(-1)!).split('.')[0]!
    const bars = barsOf(symbol, from!, to! - 1).filter(({ time }) => this.#calendar.isOpen(time))
    const last = bars.at(-1)
    const isOpen = this.#calendar.isOpen(asOf)
    const withNulls = bars.flatMap((bar, i) => {
      const before = bars[i - 1]
      const isGap = before && bar.time - before.time === 2 * MINUTE
      return isGap ? [{ ...bar, time: bar.time - MINUTE, open: null }, bar] : [bar]
    })
    const price = last && isOpen && fault === null ? [{ ...last, time: asOf, volume: 0 }] : []
    const rows = [...withNulls, ...price]
    const column = (name: keyof KeyedBar) => rows.map((bar) => (bar.open === null ? null : bar[name]))
    const quote = { open: column('open'), high: column('high'), low: column('low'), close: column('close') }
    const name = decodeURIComponent(url.pathname.split('/').at(-1)!)
    const meta = {
      currency: 'USD',
      symbol: fault === 'others' ? 'MSFT' : name,
      regularMarketTime: Math.floor(asOf / 1000),
    }
    const result = {
      meta,
      ...(rows.length > 0 && { timestamp: rows.map(({ time }) => Math.floor(time / 1000)) }),
      indicators: { quote: [rows.length > 0 ? { ...quote, volume: column('volume') } : {}] },
    }
    return Response.json({ chart: { result: [result], error: null } })
  }
}

const cents = (price: number) => Math.round(price * 100) / 100
