// Fetches the series that a script requests while it runs. A run cannot wait, so it starts again whenever one is missing.

import { seriesName } from '../../market/bar-store.ts'
import type { Series } from '../../language/environment.ts'
import { SeriesNeeded } from '../../language/runtime/runtime.ts'

/** null = there is no such series. */
export type FetchSeries = (
  exchange: string,
  symbol: string,
  interval: string,
) => Series | null | Promise<Series | null>

/** A series fetched so far; null = there is none; undefined = not fetched yet. */
export type FoundSeries = (exchange: string, symbol: string, interval: string) => Series | null | undefined

/** `wanted` are the series known ahead, which spare `run` a second start. */
export async function withSeries<Answer>(
  fetch: FetchSeries,
  run: (found: FoundSeries) => Answer,
  {
    wanted = [],
    before = () => {},
  }: {
    readonly wanted?: readonly AskedSeries[]
    /** Called before each series that could not be known ahead; may throw. */
    readonly before?: (asked: number) => void
  } = {},
): Promise<Answer> {
  const found = new Map<string, Series | null>()
  const bring = async ({ exchange, symbol, interval }: AskedSeries) =>
    found.set(seriesName({ exchange, symbol, interval }), await fetch(exchange, symbol, interval))
  for (const one of wanted) await bring(one)
  for (let asked = 0; ; asked++) {
    try {
      return run((exchange, symbol, interval) => found.get(seriesName({ exchange, symbol, interval })))
    } catch (error) {
      // A name that is computed from bar to bar cannot be known ahead.
      if (!(error instanceof SeriesNeeded)) throw error
      before(asked)
      await bring(error)
    }
  }
}

interface AskedSeries {
  readonly exchange: string
  readonly symbol: string
  readonly interval: string
}
