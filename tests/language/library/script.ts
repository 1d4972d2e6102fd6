// Runs the text of a script over bars, so that a test can say what a built-in answers in the script's own words.

import { runBacktest } from '../../../src/broker/run.ts'
import type { Track } from '../../../src/wire/track.ts'
import { emptyBars, type Bars } from '../../../src/market/bars.ts'
import type { SymbolInfo } from '../../../src/market/symbol.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'

export const SYMBOL: SymbolInfo = {
  exchange: 'NASDAQ',
  symbol: 'AAPL',
  description: 'Apple',
  type: 'stock',
  currency: 'USD',
  baseCurrency: '',
  mintick: 0.01,
  priceScale: 100,
  minMove: 1,
  pointValue: 1,
  minQuantity: 1,
  timezone: 'America/New_York',
  session: '0930-1600',
  volumeType: 'base',
}

/** Bars of one price a bar, an hour apart from 9:30 in New York on Monday, 8 January 2024. */
export function barsOfCloses(
  closes: readonly number[],
  start = Date.UTC(2024, 0, 8, 14, 30),
  step = 3_600_000,
): Bars {
  const bars = emptyBars(closes.length)
  closes.forEach((close, i) => {
    bars.time[i] = start + i * step
    bars.open[i] = close
    bars.high[i] = close + 1
    bars.low[i] = close - 1
    bars.close[i] = close
    bars.volume[i] = 100
  })
  return bars
}

export interface Ran {
  /** Values of the plots by title. */
  readonly plots: Readonly<Record<string, readonly (number | null)[]>>
  readonly tracks: readonly Track[]
  readonly logs: readonly string[]
  readonly warnings: readonly string[]
}

export function runScript(
  body: string,
  {
    bars = barsOfCloses([10, 11, 12, 13, 14]),
    symbol = SYMBOL,
    interval = '1h',
    limits = DEFAULT_LIMITS,
    version = 6,
    declaration = 'indicator("test")',
    series = (): Bars | null => null,
  } = {},
): Ran {
  const { report, tracks } = runBacktest({
    source: `//@version=${version}\n${declaration}\n${body}\n`,
    inputs: {},
    bars,
    symbol,
    interval,
    limits,
    series: (exchange, name, wanted) => {
      const found = series()
      return found && { bars: found, symbol: { ...symbol, exchange, symbol: name }, interval: wanted }
    },
  })
  const plots: Record<string, readonly (number | null)[]> = {}
  for (const track of tracks) if (track.kind === 'plot') plots[track.title] = track.data
  return {
    plots,
    tracks,
    logs: report.logs.map((entry) => entry.message),
    warnings: report.warnings.map((warning) => warning.message),
  }
}

/** What `log.info(str.tostring(expression))` says on the last bar, after `setup`. */
export function answer(
  expression: string,
  setup = '',
  options: Parameters<typeof runScript>[1] = {},
): string {
  return (
    runScript(`${setup}\nif barstate.islast\n    log.info(str.tostring(${expression}))`, options).logs.at(
      -1,
    ) ?? ''
  )
}
