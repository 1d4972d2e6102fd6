// The requests that a page begins with. A small script in its head sends them while its own code is still being fetched, and
// leaves the answers here, where `api-client.ts` finds them when that code asks for the same.
//
// A wrong guess costs one request, whose answer nobody takes, and nothing else.

import { COLUMNS_TYPE } from '../wire/columns.ts'
import type { Market } from './charts.ts'

/** The server uses columns only for answers with long lists; all others stay JSON. */
export const ACCEPT = `${COLUMNS_TYPE}, application/json`

/** More bars than fit on any screen at the chart's initial zoom. */
export const FIRST_PAGE = 1000

/** The query of a chart's first bars; always in this order, since the address is compared as text. */
export const firstBars = ({ exchange, symbol, interval }: Market) => ({
  exchange,
  symbol,
  interval,
  limit: FIRST_PAGE,
})

type Answers = Map<string, Promise<Response>>
/** The script in the head is a bundle of its own, so a global is all that both can reach. */
const page = globalThis as { firstAnswers?: Answers }

export function askFirst(url: string): void {
  const answer = fetch(url, { credentials: 'same-origin', headers: { accept: ACCEPT } })
  // The code that takes the answer handles a failure, but perhaps none does.
  answer.catch(() => undefined)
  page.firstAnswers ??= new Map()
  page.firstAnswers.set(url, answer)
}

/** The answer to a request that was sent ahead; undefined if there was none, or somebody has taken it. */
export function takeFirst(url: string): Promise<Response> | undefined {
  const answer = page.firstAnswers?.get(url)
  page.firstAnswers?.delete(url)
  return answer
}
