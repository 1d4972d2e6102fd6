// Differences of v4 and v5 in names and arguments: names without a name space, and calls as they were ordered then.
//
// The list of renamed names is that of TradingView's guide "To Pine Script version 5".

import type { PineVersion } from '../runtime/executable.ts'
import { words } from '../../lib/words.ts'

export interface VersionTable {
  /** The name in v6, by the name of old. */
  readonly functions: Readonly<Record<string, string>>
  readonly values: Readonly<Record<string, string>>
  /** How a call was written, by v6 name. */
  readonly calls: Readonly<Record<string, LegacyCall>>
}

export interface LegacyCall {
  /** Parameters in the old order, old names. Left out: the order of v6. */
  readonly order?: readonly string[]
  /** Old parameter → v6 parameter. Not mentioned: the same name. */
  readonly rename?: Readonly<Record<string, string>>
  /** Old parameters without a meaning today. */
  readonly drop?: readonly string[]
}

export function versionTable(version: PineVersion): VersionTable {
  return version === 4 ? V4 : version === 5 ? V5 : V6
}

/** For hints: what a name of an older version is called now. */
export function nowCalled(name: string): string | null {
  const table = [V4.functions, V4.values].find((names) => Object.hasOwn(names, name))
  return table?.[name] ?? null
}

const within = (names: string, space: string): Record<string, string> =>
  Object.fromEntries(words(names).map((name) => [name, space + name]))

const V5_ORDER = words(
  'id direction qty limit stop oca_name oca_type comment when alert_message disable_alert',
)

/** `when` stood before the messages until it left the order. */
const V5_CALLS: Readonly<Record<string, LegacyCall>> = {
  'strategy.entry': { order: V5_ORDER },
  'strategy.order': { order: V5_ORDER },
  'strategy.close': {
    order: words('id when comment qty qty_percent alert_message immediately disable_alert'),
  },
  'strategy.close_all': { order: words('when comment alert_message immediately disable_alert') },
  'strategy.cancel': { order: ['id', 'when'] },
  'strategy.cancel_all': { order: ['when'] },
  strategy: { drop: ['linktoseries'] },
  indicator: {
    rename: { resolution: 'timeframe', resolution_gaps: 'timeframe_gaps' },
    drop: ['linktoseries'],
  },
}

const TA =
  'alma atr bb bbw cci change cmo cog correlation cross crossover crossunder cum dev dmi ema falling highest highestbars hma kc kcw ' +
  'linreg lowest lowestbars macd median mfi mode mom percentile_linear_interpolation percentile_nearest_rank percentrank pivothigh ' +
  'pivotlow range rising rma roc rsi sar sma stdev stoch supertrend swma tr tsi valuewhen variance vwap vwma wma wpr barssince'
const MATH =
  'abs acos asin atan avg ceil cos exp floor log log10 max min pow random round round_to_mintick sign sin sqrt sum tan todegrees toradians'
const REQUEST = 'security financial quandl splits dividends earnings'
const TICKER = 'heikinashi renko kagi linebreak pointfigure'
const TA_VALUES = 'tr vwap obv accdist iii nvi pvi pvt wad wvad'
const COLORS =
  'aqua black blue fuchsia gray green lime maroon navy olive orange purple red silver teal white yellow'
const PLOT_STYLES = 'area areabr circles columns cross histogram line linebr stepline'
const HLINE_STYLES = 'dashed dotted solid'
const DAYS = 'sunday monday tuesday wednesday thursday friday saturday'

const FUNCTIONS: Readonly<Record<string, string>> = {
  ...within(TA, 'ta.'),
  ...within(MATH, 'math.'),
  ...within(REQUEST, 'request.'),
  ...within(TICKER, 'ticker.'),
  tostring: 'str.tostring',
  tonumber: 'str.tonumber',
  tickerid: 'ticker.new',
  // As the first versions spelled it; scripts that were brought to v4 by their first line alone still do.
  heikenashi: 'ticker.heikinashi',
  study: 'indicator',
  iff: '·iff',
}

const VALUES: Readonly<Record<string, string>> = {
  ...within(TA_VALUES, 'ta.'),
  ...within(COLORS, 'color.'),
  ...within(PLOT_STYLES, 'plot.style_'),
  ...within(HLINE_STYLES, 'hline.style_'),
  ...within(DAYS, 'dayofweek.'),
  n: 'bar_index',
  tickerid: 'syminfo.tickerid',
  ticker: 'syminfo.ticker',
  period: 'timeframe.period',
  interval: 'timeframe.multiplier',
  isintraday: 'timeframe.isintraday',
  isdaily: 'timeframe.isdaily',
  isweekly: 'timeframe.isweekly',
  ismonthly: 'timeframe.ismonthly',
  isdwm: 'timeframe.isdwm',
  'label.style_labelup': 'label.style_label_up',
  'label.style_labeldown': 'label.style_label_down',
  'label.style_arrowup': 'label.style_arrowup',
}

const V4_ORDER = words('id direction qty limit stop oca_name oca_type comment when alert_message')
const TIME: LegacyCall = { rename: { resolution: 'timeframe' } }

const CALLS: Readonly<Record<string, LegacyCall>> = {
  ...V5_CALLS,
  'strategy.entry': { order: V4_ORDER, rename: { long: 'direction' } },
  'strategy.order': { order: V4_ORDER, rename: { long: 'direction' } },
  'strategy.exit': {
    order: words(
      'id from_entry qty qty_percent profit limit loss stop trail_price trail_points trail_offset oca_name comment when alert_message',
    ),
  },
  indicator: {
    order: words(
      'title shorttitle overlay format precision scale max_bars_back max_lines_count max_labels_count resolution resolution_gaps max_boxes_count',
    ),
    rename: { resolution: 'timeframe', resolution_gaps: 'timeframe_gaps' },
    drop: ['linktoseries'],
  },
  'request.security': TIME,
  time: TIME,
  time_close: TIME,
  'timeframe.change': TIME,
  plot: {
    order: words(
      'series title color linewidth style trackprice transp histbase offset join editable show_last display',
    ),
  },
  plotshape: {
    order: words(
      'series title style location color transp offset text textcolor editable size show_last display',
    ),
  },
  plotchar: {
    order: words(
      'series title char location color transp offset text textcolor editable size show_last display',
    ),
  },
  plotarrow: {
    order: words(
      'series title colorup colordown transp offset minheight maxheight editable show_last display',
    ),
  },
  fill: { order: words('plot1 plot2 color transp title editable show_last fillgaps') },
  bgcolor: { order: words('color transp offset editable show_last title') },
  'str.tostring': { rename: { x: 'value', y: 'format' } },
}

export const V4: VersionTable = { functions: FUNCTIONS, values: VALUES, calls: CALLS }
export const V5: VersionTable = { functions: {}, values: {}, calls: V5_CALLS }
const V6: VersionTable = { functions: {}, values: {}, calls: {} }
