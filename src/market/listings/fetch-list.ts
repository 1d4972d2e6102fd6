// Asks for a list of symbols, part by part: keeps to the limit, waits where it is told to, and tries again.

import type { Clock } from '../../lib/clock.ts'
import { type Http, refusalOf, withRetries } from '../providers/provider.ts'
import { ProviderError, unreachable } from '../providers/provider-error.ts'
import type { Listing, ListPages, ListRequest, SymbolList } from './listing.ts'

/** No list of symbols that is known has a tenth of it; more of them would not fit into memory. */
export const SYMBOLS_MAX = 500_000
/** Of one answer: the longest that is known, Binance's with its filters, has 15 MB. */
const BYTES_MAX = 64 * 1024 * 1024

export interface ListDeps {
  readonly http: Http
  readonly clock: Clock
}

/** All symbols of a list, one of a name. Throws ProviderError; `told` hears how many there are so far. */
export async function fetchList(
  list: SymbolList,
  { http, clock }: ListDeps,
  signal: AbortSignal,
  told: (count: number) => void = () => {},
): Promise<Listing[]> {
  let askedAt: number | null = null
  const ask = (request: ListRequest) =>
    withRetries(
      async () => {
        if (askedAt !== null)
          await clock.sleep(Math.min(list.gapMs, Math.max(0, askedAt + list.gapMs - clock.now())), signal)
        askedAt = clock.now()
        return answerOf(list.provider, http, request, signal)
      },
      { clock },
      signal,
    )
  const pages: ListPages = {
    bytes: ask,
    async json(request) {
      try {
        return JSON.parse(new TextDecoder().decode(await ask(request))) as unknown
      } catch (error) {
        throw error instanceof ProviderError ? error : malformedList(list.provider)
      }
    },
  }
  const found = new Map<string, Listing>()
  for await (const page of list.read(pages)) {
    signal.throwIfAborted()
    for (const one of page) found.set(`${one.exchange}:${one.symbol}`, one)
    if (found.size > SYMBOLS_MAX)
      throw new ProviderError('malformed', `${list.provider} has more than ${SYMBOLS_MAX} symbols.`)
    told(found.size)
  }
  // What is empty is a fault of the provider, and must not replace a list.
  if (found.size === 0) throw new ProviderError('malformed', `${list.provider} answered an empty list.`)
  return [...found.values()]
}

async function answerOf(
  provider: string,
  http: Http,
  { url, body, headers }: ListRequest,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const posted = body === undefined ? undefined : JSON.stringify(body)
  const response = await http(url, signal, posted, headers).catch((error: unknown) => {
    throw unreachable(provider, error)
  })
  if (!response.ok) throw refusalOf(provider, response)
  return bytesOf(provider, response)
}

async function bytesOf(provider: string, response: Response): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of response.body ?? []) {
      pieces.push(piece)
      size += piece.length
      if (size > BYTES_MAX)
        throw new ProviderError('malformed', `${provider} answered more than ${BYTES_MAX >> 20} MiB.`)
    }
  } catch (error) {
    if (error instanceof ProviderError) throw error
    throw new ProviderError('unavailable', `${provider} broke off its answer: ${String(error)}`)
  }
  return Buffer.concat(pieces)
}

export function malformedList(provider: string): ProviderError {
  return new ProviderError('malformed', `${provider} answered something that is no list of symbols.`)
}
