// The series that a script asks for, fetched while it cannot wait: it runs again whenever one is missing.

import { seriesName } from '../market/bar-store.ts'
import type { Series } from '../pine/environment.ts'
import { SeriesNeeded } from '../pine/runtime/runtime.ts'

/** null = there are none of it. */
export type FetchSeries = (
  exchange: string,
  symbol: string,
  interval: string,
) => Series | null | Promise<Series | null>

/** Of those fetched so far; undefined = not fetched yet. */
export type FoundSeries = (exchange: string, symbol: string, interval: string) => Series | null | undefined

/** `wanted`: what is known to be asked for, so that `run` need not run twice for it. */
export async function withSeries<Answer>(
  fetch: FetchSeries,
  run: (found: FoundSeries) => Answer,
  {
    wanted = [],
    before = () => {},
  }: {
    readonly wanted?: readonly Asked[]
    /** Called before each series that nobody could have known of; may throw. */
    readonly before?: (asked: number) => void
  } = {},
): Promise<Answer> {
  const found = new Map<string, Series | null>()
  const bring = async ({ exchange, symbol, interval }: Asked) =>
    found.set(seriesName({ exchange, symbol, interval }), await fetch(exchange, symbol, interval))
  for (const one of wanted) await bring(one)
  for (let asked = 0; ; asked++) {
    try {
      return run((exchange, symbol, interval) => found.get(seriesName({ exchange, symbol, interval })))
    } catch (error) {
      // A name that is computed from bar to bar is not known ahead.
      if (!(error instanceof SeriesNeeded)) throw error
      before(asked)
      await bring(error)
    }
  }
}

interface Asked {
  readonly exchange: string
  readonly symbol: string
  readonly interval: string
}
