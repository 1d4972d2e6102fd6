// timeframe.*: how long the chart's bars are, and arithmetic on timeframes.

import { intervalMs, isIntraday, toTimeframe } from '../../market/interval.ts'
import type { Interval } from '../../market/interval.ts'
import { intervalNamed } from '../runtime/grids.ts'
import { chartInterval, intervalOf, periodOf } from '../runtime/periods.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { fn, variable } from './define.ts'
import type { BuiltinEntry, BuiltinVariable } from './registry.ts'

class TimeframeChange {
  static readonly runtime = true
  readonly #runtime: Runtime
  /** A period of the timeframe, in which most bars are as the ones before them: no more is to be found out of these. */
  #timeframe: string | null = null
  #start = Number.NaN
  #end = Number.NaN

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  next(timeframe: string | null): boolean {
    const runtime = this.#runtime
    const { bar } = runtime
    if (bar === 0) return false
    const { time } = runtime.bars
    if (time[bar - 1]! >= this.#start && time[bar]! < this.#end && timeframe === this.#timeframe) return false
    return this.#changes(timeframe)
  }

  #changes(timeframe: string | null): boolean {
    const runtime = this.#runtime
    // In time's order, which is the fastest to answer.
    const before = periodOf(runtime, runtime.bar - 1, timeframe, null, null)
    const now = periodOf(runtime, runtime.bar, timeframe, null, null)
    // A bar of a day or more may be dated outside of its own session.
    const known = isIntraday(chartInterval(runtime)) ? now : null
    this.#timeframe = timeframe
    this.#start = known?.start ?? Number.NaN
    this.#end = known?.end ?? Number.NaN
    return now !== null && before !== null && now.start !== before.start
  }
}

export const TIMEFRAME: readonly BuiltinEntry[] = [
  variable('timeframe.period', "The chart's timeframe, as request.security() takes it.", 'simple string', {
    get: (runtime) => timeframeText(runtime, runtime.interval),
    fixed: true,
  }),
  variable('timeframe.main_period', "The script's timeframe, also inside request.*().", 'simple string', {
    get: (runtime) => timeframeText(runtime, runtime.main.interval),
    fixed: true,
  }),
  variable('timeframe.multiplier', 'The number in the timeframe: 60 for 1 hour.', 'simple int', {
    get: (runtime) => {
      const interval = chartInterval(runtime)
      return interval.unit === 'h' ? interval.count * 60 : interval.count
    },
    fixed: true,
  }),
  is('isintraday', 'True for bars shorter than a day.', isIntraday),
  is('isminutes', 'True for bars of minutes or hours.', ({ unit }) => unit === 'm' || unit === 'h'),
  is('isseconds', 'True for bars of seconds.', ({ unit }) => unit === 's'),
  is('isticks', 'True for bars of ticks, which are not here.', () => false),
  is('isdwm', 'True for bars of days, weeks or months.', (interval) => !isIntraday(interval)),
  is('isdaily', 'True for bars of days.', ({ unit }) => unit === 'd'),
  is('isweekly', 'True for bars of weeks.', ({ unit }) => unit === 'w'),
  is('ismonthly', 'True for bars of months.', ({ unit }) => unit === 'M'),
  fn(
    'timeframe.in_seconds',
    "How many seconds a timeframe has (the chart's by default).",
    '(string timeframe = na) int',
    {
      fn: (runtime: Runtime, timeframe: string | null) =>
        // A number of minutes may be longer than any bar: "10080" is a week of seconds.
        /^\d{4,6}$/.test(timeframe ?? '')
          ? Number(timeframe) * 60
          : intervalMs(intervalOf(runtime, timeframe)) / 1000,
      runtime: true,
    },
  ),
  fn(
    'timeframe.from_seconds',
    'The timeframe that many seconds make, or the next longer one.',
    '(int seconds) string',
    {
      fn: fromSeconds,
      pure: true,
    },
  ),
  // L6: '' is the chart's.
  fn(
    'timeframe.change',
    'True on the first bar of each new period of a timeframe.',
    '(string timeframe) series bool',
    { state: TimeframeChange, timeless: true },
  ),
]

function is(name: string, doc: string, holds: (interval: Interval) => boolean): BuiltinVariable {
  return variable(`timeframe.${name}`, doc, 'simple bool', {
    get: (runtime) => holds(chartInterval(runtime)),
    fixed: true,
  })
}

/** v6 writes `1D`, v4 and v5 `D`. */
function timeframeText(runtime: Runtime, interval: string): string {
  const text = toTimeframe(intervalNamed(interval))
  return runtime.version < 6 ? text.replace(/^1(?=[DWM]$)/, '') : text
}

/** Units of timeframes, largest last, with the numbers there are of each. */
const UNITS: readonly (readonly [suffix: string, seconds: number, counts: readonly number[]])[] = [
  ['S', 1, [1, 5, 10, 15, 30, 45]],
  ['', 60, upTo(1440)],
  ['D', 86_400, upTo(366)],
  ['W', 604_800, upTo(52)],
  ['M', 2_628_003, upTo(12)],
]

function upTo(most: number): number[] {
  return Array.from({ length: most }, (_, i) => i + 1)
}

/**
 * The shortest timeframe that is not shorter. Of several, the one in the larger unit if it fits exactly: 604,800 seconds
 * are `1W`, one second less is `7D`.
 */
function fromSeconds(seconds: number): string | null {
  if (Number.isNaN(seconds)) return null
  let best = '12M'
  let bestSeconds = Infinity
  if (seconds <= 366 * 86_400)
    for (const [suffix, length, counts] of UNITS) {
      const count = counts.find((each) => each * length >= seconds)
      if (count === undefined) continue
      const total = count * length
      if (total > bestSeconds || (total === bestSeconds && total !== seconds)) continue
      best = `${count}${suffix}`
      bestSeconds = total
    }
  return best
}
