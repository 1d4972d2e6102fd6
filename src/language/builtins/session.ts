// session.* and chart.*: the place of a bar in its trading day, and the look of the chart.

import { isIntraday } from '../../market/interval.ts'
import { chartInterval, instantOf, symbolCalendar } from '../runtime/periods.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { variable } from './define.ts'
import type { BuiltinEntry } from './registry.ts'

export const SESSION: readonly BuiltinEntry[] = [
  variable('session.ismarket', 'True in regular trading hours.', 'series bool', {
    get: (runtime) => isMarket(runtime, runtime.bar),
  }),
  variable('session.ispremarket', 'True before regular trading hours.', 'series bool', {
    get: (runtime) => !isMarket(runtime, runtime.bar) && dayPosition(runtime, runtime.bar) < 0,
  }),
  variable('session.ispostmarket', 'True after regular trading hours.', 'series bool', {
    get: (runtime) => !isMarket(runtime, runtime.bar) && dayPosition(runtime, runtime.bar) > 0,
  }),
  variable('session.isfirstbar', 'True on the first bar of the trading day.', 'series bool', {
    get: (runtime) => isFirst(runtime, runtime.bar),
  }),
  variable(
    'session.isfirstbar_regular',
    'True on the first bar of regular trading hours, whatever came before they opened.',
    'series bool',
    { get: isFirstRegular },
  ),
  variable('session.islastbar', 'True on the last bar of the trading day.', 'series bool', { get: isLast }),
  variable(
    'session.islastbar_regular',
    'True on the last bar of regular trading hours, whatever comes after they close.',
    'series bool',
    { get: (runtime) => isLast(runtime) && isMarket(runtime, runtime.bar) },
  ),

  variable('chart.is_standard', 'True for bars of time, as here.', 'simple bool', {
    get: () => true,
    fixed: true,
  }),
  ...['heikinashi', 'kagi', 'linebreak', 'pnf', 'range', 'renko'].map((name) =>
    variable(`chart.is_${name}`, 'True for charts of that kind, which are not here.', 'simple bool', {
      get: () => false,
      fixed: true,
    }),
  ),
  variable('chart.bg_color', "Colour of the chart's background: white.", 'input color', {
    get: () => 0xffffffff,
    fixed: true,
  }),
  variable('chart.fg_color', "A colour that shows on the chart's background.", 'input color', {
    get: () => 0x131722ff,
    fixed: true,
  }),
  variable('chart.left_visible_bar_time', 'Time of the leftmost bar: the first one.', 'input int', {
    get: (runtime) => runtime.bars.time[0] ?? Number.NaN,
    fixed: true,
  }),
  variable('chart.right_visible_bar_time', 'Time of the rightmost bar: the last one.', 'input int', {
    get: (runtime) => runtime.bars.time[runtime.lastBar] ?? Number.NaN,
  }),
]

function isMarket(runtime: Runtime, bar: number): boolean {
  return !isIntraday(chartInterval(runtime)) || symbolCalendar(runtime).isOpen(instantOf(runtime, bar))
}

/** -1 before the session of the bar's day opens, 1 after it closes. */
function dayPosition(runtime: Runtime, bar: number): number {
  const calendar = symbolCalendar(runtime)
  const time = instantOf(runtime, bar)
  const day = calendar.tradingDay(time)
  return time < calendar.open(day) ? -1 : time >= calendar.close(day) ? 1 : 0
}

function isFirst(runtime: Runtime, bar: number): boolean {
  if (!isIntraday(chartInterval(runtime))) return true
  const calendar = symbolCalendar(runtime)
  // Data may begin in the middle of a day, whose first bar is then not there.
  if (bar === 0) return instantOf(runtime, 0) <= calendar.open(calendar.tradingDay(instantOf(runtime, 0)))
  return calendar.tradingDay(instantOf(runtime, bar)) !== calendar.tradingDay(instantOf(runtime, bar - 1))
}

/** On a chart that shows bars from before the opening, the first bar of the regular hours. */
function isFirstRegular(runtime: Runtime): boolean {
  const { bar } = runtime
  if (!isMarket(runtime, bar)) return false
  return isFirst(runtime, bar) || (bar > 0 && dayPosition(runtime, bar - 1) < 0)
}

/** Decided by the clock, not by the next bar, which a script cannot know. */
function isLast(runtime: Runtime): boolean {
  if (!isIntraday(chartInterval(runtime))) return true
  const calendar = symbolCalendar(runtime)
  const close = calendar.close(calendar.tradingDay(instantOf(runtime, runtime.bar)))
  return (runtime.timeClose[runtime.bar] ?? 0) >= close
}
