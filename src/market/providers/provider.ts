// Providers: public sources of bars, one file each, all behind one interface.
//
// A provider only knows how to request a page and how to read the answer. This file does what all of them share: turning
// pages, keeping to the rate limit, waiting and trying again. It is handed network and clock.

import type { Clock } from '../../lib/clock.ts'
import { type BarRow, type Bars, barsOf } from '../bars.ts'
import type { Interval } from '../interval.ts'
import type { Pace } from './pace.ts'
import { ProviderError, type ProviderErrorKind, unreachable } from './provider-error.ts'

export type { BarRow } from '../bars.ts'

export interface BarQuery {
  /** The ticker as our series have it: `BTCUSDT`, `BTCUSD`, `AAPL`. */
  readonly symbol: string
  readonly exchange: string
  readonly interval: Interval
  /** UTC ms; `to` is exclusive. */
  readonly from: number
  readonly to: number
  readonly now: number
}

interface BarPage {
  readonly rows: readonly BarRow[]
  /** The time at which the next page starts; null if there is none. */
  readonly next: number | null
}

export interface Provider {
  readonly name: string
  /** Exchanges whose symbols this provider has. */
  readonly exchanges: readonly string[]
  /** The provider's name for an interval; null if it has no such bars. */
  intervalName(interval: Interval): string | null
  pageUrl(query: BarQuery): string
  /** What is posted to that address, as JSON; without it the page is got. */
  pageBody?(query: BarQuery): unknown
  /** Reads an answer with status 200. Throws ProviderError. */
  readPage(body: unknown, query: BarQuery): BarPage
  /** What kind of error an answer means, if the status alone does not tell. */
  errorKind?(status: number, body: unknown): ProviderErrorKind | null
  /** Whether an answer without success only says that there is nothing in this stretch. */
  isEmpty?(body: unknown): boolean
  /** The minimum time between two requests. */
  readonly gapMs: number
  /** Counts its requests, where it counts them. */
  readonly pace?: Pace
  /** What is sent with each request: a key. */
  readonly headers?: Readonly<Record<string, string>>
  /** How long after its end a bar of an exchange is told of. */
  delayMs?(exchange: string, interval: Interval): number
  /** How far back it has bars; an older beginning would be refused. Without it: as far as anybody asks. */
  reachMs?(interval: Interval): number
  /** Asks for several symbols of one exchange and interval at once. */
  readonly batch?: Batch
  /** Its bars within a day are not only of the session. */
  readonly hasExtendedHours?: boolean
}

export interface Batch {
  readonly most: number
  /** Whether each symbol counts as a request. */
  readonly isPaidBySymbol: boolean
  pageUrl(queries: readonly BarQuery[]): string
  /** What an answer with status 200 says of each; null: nothing yet, since there was no room for it. Throws ProviderError. */
  readPage(body: unknown, queries: readonly BarQuery[]): readonly (readonly BarRow[] | ProviderError | null)[]
}

/** Gets, or posts `body`, which is JSON. */
export type Http = (
  url: string,
  signal?: AbortSignal,
  body?: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<Response>

export interface ProviderDeps {
  readonly http: Http
  readonly clock: Clock
  /** How often a request is sent that may succeed later. 1: who asks comes back by themselves. */
  readonly tries?: number
  /** Told when an answer was made, by the clock of whoever made it. */
  readonly answered?: (at: number) => void
}

const TRIES = 5
const BACKOFF_MS = 1000
/** The longest wait within a request. If the provider asks for more, the caller is told when to come back. */
const WAIT_MAX_MS = 60_000

/** Pages of valid bars, oldest first, each sorted. Throws ProviderError. */
export async function* fetchPages(
  provider: Provider,
  query: BarQuery,
  deps: ProviderDeps,
  signal?: AbortSignal,
): AsyncGenerator<Bars> {
  if (provider.intervalName(query.interval) === null)
    throw new ProviderError('unsupported_interval', `${provider.name} has no bars of this interval.`)
  const reach = provider.reachMs?.(query.interval) ?? Infinity
  let from = Math.max(query.from, query.now - reach)
  while (from < query.to) {
    if (signal?.aborted) return
    const page = { ...query, from }
    const asked = deps.clock.now()
    const { rows, next } = await withRetries(() => askFor(provider, page, deps, signal), deps, signal)
    const bars = validBars(rows, page)
    if (bars.length > 0) yield bars
    // Following a page that leads to itself would never end.
    if (next === null || next <= from) return
    from = next
    if (from < query.to)
      // Waits no longer than the gap, even if the clock was set back meanwhile.
      await deps.clock.sleep(
        Math.min(provider.gapMs, Math.max(0, asked + provider.gapMs - deps.clock.now())),
        signal,
      )
  }
}

/** Valid bars of several symbols, each as `fetchPages` has them; null: it has to be asked for again. Throws ProviderError. */
export async function fetchBatch(
  provider: Provider & { readonly batch: Batch },
  queries: readonly BarQuery[],
  deps: ProviderDeps,
  signal?: AbortSignal,
): Promise<readonly (Bars | ProviderError | null)[]> {
  const { batch } = provider
  const url = batch.pageUrl(queries)
  const count = batch.isPaidBySymbol ? queries.length : 1
  const answers = await answerTo(
    provider,
    { url, count },
    deps,
    (body) => batch.readPage(body, queries),
    signal,
  )
  return queries.map((query, i) => {
    const answer = answers[i] ?? null
    return answer === null || answer instanceof ProviderError ? answer : validBars(answer, query)
  })
}

function askFor(
  provider: Provider,
  query: BarQuery,
  deps: ProviderDeps,
  signal: AbortSignal | undefined,
): Promise<BarPage> {
  const request = { url: provider.pageUrl(query), posted: provider.pageBody?.(query), count: 1 }
  return answerTo(provider, request, deps, (body) => provider.readPage(body, query), signal)
}

async function answerTo<T>(
  provider: Provider,
  { url, posted, count }: { readonly url: string; readonly posted?: unknown; readonly count: number },
  { http, clock, answered }: ProviderDeps,
  read: (body: unknown) => T,
  signal: AbortSignal | undefined,
): Promise<T> {
  await provider.pace?.turn(provider.name, clock, { signal, count })
  try {
    const text = posted === undefined ? undefined : JSON.stringify(posted)
    const response = await http(url, signal, text, provider.headers).catch((error: unknown) => {
      throw unreachable(provider.name, error)
    })
    const body: unknown = await response.json().catch(() => undefined)
    if (!response.ok && !provider.isEmpty?.(body))
      throw refusalOf(provider.name, response, provider.errorKind?.(response.status, body) ?? undefined)
    if (body === undefined) throw malformed(provider)
    const page = read(body)
    const madeAt = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(madeAt)) answered?.(madeAt)
    return page
  } catch (error) {
    throw error instanceof ProviderError ? withoutKeys(error, provider) : error
  }
}

/** Errors are logged and shown, and may repeat what was sent. */
function withoutKeys(error: ProviderError, { headers = {} }: Provider): ProviderError {
  const secrets = Object.values(headers).map((value) => value.split(' ').at(-1) ?? value)
  const message = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), error.message)
  return message === error.message ? error : new ProviderError(error.kind, message, error.retryAfterMs)
}

/** What an answer that is no success means. */
export function refusalOf(
  provider: string,
  response: Response,
  kind: ProviderErrorKind = kindOf(response.status),
): ProviderError {
  return new ProviderError(
    kind,
    `${provider} answered ${response.status}: ${WORDS[kind]}.`,
    retryAfter(response),
  )
}

const WORDS: Readonly<Record<ProviderErrorKind, string>> = {
  unknown_symbol: 'it does not know the symbol',
  unsupported_interval: 'it does not have the interval',
  rate_limited: 'too many requests',
  unauthorized: 'it does not accept the key, or the key may not have this',
  banned: 'it has shut us out for a while',
  unavailable: 'it is not available',
  malformed: 'it did not understand the request',
}

function kindOf(status: number): ProviderErrorKind {
  if (status === 401) return 'unauthorized'
  if (status === 418 || status === 403) return 'banned'
  if (status === 429) return 'rate_limited'
  if (status === 404) return 'unknown_symbol'
  return status >= 500 ? 'unavailable' : 'malformed'
}

/** Reads the seconds of Retry-After. None of the providers uses its date form. */
function retryAfter(response: Response): number | null {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null
}

/** An answer for another symbol than the one that was asked for, as after a mix-up of somebody's cache. */
export function requireSymbol(provider: string, asked: string, answered: unknown): void {
  if (answered === undefined || answered === asked) return
  throw new ProviderError(
    'malformed',
    `${provider} was asked for "${asked}" and answered for ${JSON.stringify(answered)}.`,
  )
}

export function malformed(provider: Pick<Provider, 'name'>): ProviderError {
  return new ProviderError('malformed', `${provider.name} answered something that is no list of bars.`)
}

/** Retries after errors that may pass: after the wait that the provider asked for, or twice as long each time. */
export async function withRetries<T>(
  work: () => Promise<T>,
  { clock, tries = TRIES }: Pick<ProviderDeps, 'clock' | 'tries'>,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const passes =
        error instanceof ProviderError && (error.kind === 'rate_limited' || error.kind === 'unavailable')
      if (!passes || attempt >= tries || signal?.aborted) throw error
      const wait = error.retryAfterMs ?? BACKOFF_MS * 2 ** (attempt - 1)
      if (wait > WAIT_MAX_MS) throw error
      await clock.sleep(wait, signal)
    }
  }
}

/** The valid bars inside the query, sorted, one for each time: providers send the odd null or broken row. */
function validBars(rows: readonly BarRow[], { from, to }: BarQuery): Bars {
  const good = rows
    .filter(
      ([time, open, high, low, close, volume]) =>
        time >= from &&
        time < to &&
        high >= Math.max(open, close) &&
        low <= Math.min(open, close) &&
        volume >= 0 &&
        Number.isFinite(high - low + volume),
    )
    .sort((a, b) => a[0] - b[0])
    .filter(([time], i, sorted) => i === 0 || time !== sorted[i - 1]?.[0])
  return barsOf(good)
}

/** The bar with what of it was bought, where `text` tells that and it can be so. */
export function sided([time, open, high, low, close, volume]: BarRow, text: unknown): BarRow {
  const bought = Number.parseFloat(String(text))
  const row = [time, open, high, low, close, volume] as const
  return bought >= 0 && bought <= volume ? [...row, bought] : row
}

export function asList(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) ? value : null
}

export function asRecord(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null
}
