// Live providers: exchanges that tell of bars as they happen, one file each, all behind one interface.
//
// A live provider only knows how to ask for streams and how to read what comes. What all of them share is elsewhere: the
// connection with its heartbeats and its next try (`connection.ts`), and what a series makes of it (`live-series.ts`).

import type { Interval } from '../interval.ts'
import type { BarRow, Provider } from '../providers/provider.ts'

/**
 * What a message of a provider says. A topic is the provider's name of a stream. `order` grows with what is said of a bar, so
 * that of two messages about it the later one is known, however they came.
 */
export type LiveMessage =
  | {
      readonly kind: 'bar'
      readonly topic: string
      readonly row: BarRow
      readonly closed: boolean
      readonly order: number
    }
  | {
      readonly kind: 'trade'
      readonly topic: string
      /** Trades of a topic are numbered without holes. */
      readonly id: number
      readonly time: number
      /** As the provider writes them, since their sums must not depend on how they are rounded. */
      readonly price: string
      readonly size: string
    }
  /** Says that all trades before `time` are told of, and which was the last of them. */
  | { readonly kind: 'told'; readonly topic: string; readonly lastId: number; readonly time: number }
  /** Missing ids and topics are unknown. */
  | { readonly kind: 'subscribed'; readonly id?: number; readonly topics?: readonly string[] }
  | {
      readonly kind: 'refused'
      readonly id?: number
      readonly topics?: readonly string[]
      readonly message: string
    }
  /** The provider will close the connection. */
  | { readonly kind: 'goodbye'; readonly message: string }

export interface LiveProvider {
  /** Where holes are filled from. */
  readonly rest: Provider
  /** The provider's name of a stream; null if it has none for this interval. */
  topic(symbol: string, interval: Interval): string | null
  /** Streams of one address can share a connection. */
  address(symbol: string): string
  subscribe(topics: readonly string[], id: number): string
  unsubscribe(topics: readonly string[], id: number): string
  /**
   * What is sent again and again, which the provider answers; '' where it speaks without being asked. A connection without any
   * message for a while is dead.
   */
  ping(id: number): string
  readonly pingMs: number
  readonly silenceMs: number
  /** Limits of the provider. */
  readonly topicsAMessage: number
  readonly topicsAConnection: number
  readonly messageGapMs: number
  /** How a bar is known to be closed: the provider says so, the next one comes, or it is made of trades. */
  readonly closing: 'flag' | 'next' | 'trades'
  /** Reads a message; an empty list for one that says nothing. Throws on what is no message of this provider. */
  read(text: string): readonly LiveMessage[]
}

/** A message that is no JSON, or lacks what it must have, is a fault of the connection. */
export class UnreadableMessage extends Error {
  constructor(provider: string, text: string) {
    super(`${provider} sent something that is no message of its stream: ${text.slice(0, 120)}`)
    this.name = 'UnreadableMessage'
  }
}

/** The object that a text is, or a refusal. */
export function parsedMessage(provider: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>
  } catch {}
  throw new UnreadableMessage(provider, text)
}

/** The row of a bar, or a refusal of one with something else than numbers in it. */
export function rowOf(provider: string, values: readonly unknown[]): BarRow {
  const [time = Number.NaN, open = 0, high = 0, low = 0, close = 0, volume = 0] = values.map(Number)
  const isBar =
    values.length >= 6 &&
    Number.isSafeInteger(time) &&
    high >= Math.max(open, close) &&
    low <= Math.min(open, close) &&
    volume >= 0 &&
    Number.isFinite(high - low + volume)
  if (!isBar) throw new UnreadableMessage(provider, JSON.stringify(values))
  return [time, open, high, low, close, volume]
}
