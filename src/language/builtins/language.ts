// The built-ins that belong to the language itself: casts and `na`, inputs, what is drawn as plots, request.*, alerts
// and the declaration of the script. What is `special` is carried out by the code generator.

import { datedDefaults, NEWEST_DAY } from '../behaviour.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { constant, fn } from './define.ts'
import type { BuiltinConstant, BuiltinEntry, BuiltinFunction, Implementation } from './registry.ts'

const SPECIAL: Implementation = { special: true }

const isNaNumber: Implementation = { fn: (value: number) => Number.isNaN(value), pure: true }
/** An int that holds an infinity, as of math.floor(1 / 0), is na to whoever asks, though above every number (K11). */
const isNaInt: Implementation = { fn: (value: number) => !Number.isFinite(value), pure: true }
/** A drawing that was deleted is na, too. */
const isNaValue: Implementation = {
  fn: (value: { readonly deletedBar?: number } | null) => value === null || (value.deletedBar ?? -1) !== -1,
  pure: true,
}
/** An na text and the empty one are the same (K16). */
const isNaText: Implementation = { fn: (value: string | null) => !value, pure: true }
const same: Implementation = { fn: (value: unknown) => value, pure: true }

/** The last value that was not na. */
class FixnanNumber {
  last = Number.NaN
  next(value: number): number {
    if (!Number.isNaN(value)) this.last = value
    return this.last
  }
}
class FixnanValue {
  last: unknown = null
  next(value: unknown): unknown {
    if (value !== null) this.last = value
    return this.last
  }
}

const CASTS: readonly BuiltinEntry[] = [
  fn(
    'na',
    'True where the value is na.',
    ['(int x) bool', '(float|color x) bool', '(string x) bool', '(any x) bool'],
    [isNaInt, isNaNumber, isNaText, isNaValue],
  ),
  fn(
    'nz',
    'The value, or the replacement where it is na: zero when none is given, false for a bool.',
    [
      '(int source, int replacement = 0) int',
      '(float source, float replacement = 0) float',
      '(color source, color replacement = 0) color',
      '(bool source, bool replacement = false) bool',
    ],
    [
      { fn: (x: number, y: number) => (Number.isFinite(x) ? x : y), pure: true },
      { fn: (x: number, y: number) => (Number.isNaN(x) ? y : x), pure: true },
      { fn: (x: number, y: number) => (Number.isNaN(x) ? y : x), pure: true },
      { fn: (x: boolean | null, y: boolean) => x ?? y, pure: true },
    ],
  ),
  fn(
    'fixnan',
    'The value, or where it is na the last one that was not.',
    [
      '(int source) series int',
      '(float source) series float',
      '(color source) series color',
      '(bool source) series bool',
    ],
    [{ state: FixnanNumber }, { state: FixnanNumber }, { state: FixnanNumber }, { state: FixnanValue }],
  ),
  fn('int', 'The number without its fraction.', '(int|float x) int', {
    fn: (x: number) => Math.trunc(x),
    pure: true,
    inline: 'Math.trunc',
  }),
  fn('float', 'The number as a float.', '(int|float x) float', {
    fn: (x: number) => x,
    pure: true,
    inline: '',
  }),
  fn(
    'bool',
    'True for a number other than zero; na is false.',
    ['(bool x) bool', '(int|float x) bool'],
    [same, { fn: (x: number) => x !== 0 && !Number.isNaN(x), pure: true }],
  ),
  fn('string', 'Gives na the type string.', '(string x) string', same),
  fn('color', 'Gives na the type color.', '(color x) color', same),
  fn('line', 'Gives na the type line.', '(line x) line', same),
  fn('label', 'Gives na the type label.', '(label x) label', same),
  fn('box', 'Gives na the type box.', '(box x) box', same),
  fn('table', 'Gives na the type table.', '(table x) table', same),
  fn('linefill', 'Gives na the type linefill.', '(linefill x) linefill', same),
  fn('polyline', 'Gives na the type polyline.', '(polyline x) polyline', same),
  fn(
    'max_bars_back',
    'How far back a variable is looked at; found by itself here.',
    '(any var, int num) void',
    {
      fn: () => undefined,
    },
  ),
  // v4: the relative strength index of a rise and a fall.
  fn('·rsi', '', '(float x, float y) float', {
    fn: (rise: number, fall: number) => 100 - 100 / (1 + rise / fall),
    pure: true,
  }),
  // v4: the second argument where the first is true, else the third; both are evaluated, unlike those of `?:`.
  fn('·iff', '', '(bool condition, T then, T _else) T', {
    fn: (test: boolean | null, yes: unknown, no: unknown) => (test ? yes : no),
    pure: true,
  }),
]

/** The defaults that today's newest version has. */
const NOW = datedDefaults(6, NEWEST_DAY)

const SHOWN_AS =
  '(const string title, const string shorttitle?, const bool overlay = false, const string format = format.inherit, const int precision?, ' +
  'const string scale?, '
const KEPT =
  'const bool explicit_plot_zorder = false, const int max_lines_count = 50, const int max_labels_count = 50, ' +
  'const int max_boxes_count = 50, const int calc_bars_count = 0'
const AT_LAST =
  'const int max_polylines_count = 50, const bool dynamic_requests = true, const bool behind_chart = true'

const DECLARATIONS: readonly BuiltinEntry[] = [
  fn(
    'indicator',
    'Says that the script is an indicator, and how it is shown.',
    `${SHOWN_AS}const int max_bars_back = 0, const string timeframe = "", const bool timeframe_gaps = true, ${KEPT}, ${AT_LAST}) void`,
    SPECIAL,
  ),
  fn(
    'strategy',
    'Says that the script is a strategy, and how its orders are filled.',
    `${SHOWN_AS}const int pyramiding = 0, ` +
      'const bool calc_on_order_fills = false, const bool calc_on_every_tick = false, ' +
      'const int max_bars_back = 0, const int backtest_fill_limits_assumption = 0, const string default_qty_type = ' +
      `strategy.${NOW['default_qty_type']}, const float default_qty_value = ${NOW['default_qty_value']}, const float initial_capital = ${NOW['initial_capital']}, ` +
      'const string currency = currency.NONE, ' +
      'const int slippage = 0, const string commission_type = strategy.commission.percent, const float commission_value = 0, ' +
      'const bool process_orders_on_close = false, const string close_entries_rule = "FIFO", const float margin_long = 100, ' +
      `const float margin_short = 100, ${KEPT}, const float risk_free_rate = 2, ` +
      'const bool use_bar_magnifier = false, const bool fill_orders_on_standard_ohlc = false, ' +
      `${AT_LAST}, const bool calc_on_every_history_tick = false) void`,
    SPECIAL,
  ),
  fn(
    'library',
    'Says that the script is a library, whose exported functions others import.',
    '(const string title, const bool overlay = false, const bool dynamic_requests = true) void',
    SPECIAL,
  ),
]

const TITLE = 'const string title = ""'
const TEXTS = 'const string tooltip = "", const string inline = "", const string group = ""'
const LAST = 'const bool confirm = false, const int display = display.all, input bool active = true'

function limited(type: string): readonly string[] {
  return [
    `(const ${type} defval, ${TITLE}, const ${type} minval?, const ${type} maxval?, const ${type} step = 1, ${TEXTS}, ${LAST}) input ${type}`,
    `(const ${type} defval, ${TITLE}, any options, ${TEXTS}, ${LAST}) input ${type}`,
  ]
}
function listed(name: string, doc: string): BuiltinFunction {
  return fn(
    name,
    doc,
    `(const string defval, ${TITLE}, any options?, ${TEXTS}, ${LAST}) input string`,
    SPECIAL,
  )
}
function plain(name: string, doc: string, type: string): BuiltinFunction {
  return fn(name, doc, `(const ${type} defval, ${TITLE}, ${TEXTS}, ${LAST}) input ${type}`, SPECIAL)
}

const INPUTS: readonly BuiltinEntry[] = [
  fn(
    'input',
    'A value the user may change; its kind is that of the default.',
    `(any defval, ${TITLE}, ${TEXTS}, const int display = display.all, input bool active = true) any`,
    SPECIAL,
  ),
  fn('input.int', 'A whole number the user may change.', limited('int'), SPECIAL),
  fn('input.float', 'A number the user may change.', limited('float'), SPECIAL),
  plain('input.bool', 'A switch.', 'bool'),
  plain('input.color', 'A colour the user may change.', 'color'),
  plain('input.price', 'A price, picked on the chart or typed.', 'float'),
  plain('input.time', 'A date and time, in ms.', 'int'),
  plain('input.symbol', 'A symbol.', 'string'),
  listed('input.string', 'A text, free or one of `options`.'),
  listed('input.timeframe', 'A timeframe, as `timeframe.period` spells it.'),
  listed('input.session', 'A session as "0900-1600".'),
  fn(
    'input.source',
    'A series: one of the bar columns.',
    `(series float defval, ${TITLE}, ${TEXTS}, const int display = display.all, input bool active = true, const bool confirm = false) series float`,
    SPECIAL,
  ),
  fn(
    'input.text_area',
    'A text of several lines.',
    `(const string defval, ${TITLE}, const string tooltip = "", const string group = "", ${LAST}) input string`,
    SPECIAL,
  ),
  fn(
    'input.enum',
    'One of the members of an enum.',
    `(any defval, ${TITLE}, any options?, ${TEXTS}, ${LAST}) any`,
    SPECIAL,
  ),
]

const EDITABLE = 'input bool editable = true'
const SHOWN = `${EDITABLE}, input int show_last?`
const DISPLAY = 'input int display = display.all'
const FORMATTED = `${DISPLAY}, input string format?, input int precision?, const bool force_overlay = false`
const NAMED = 'const string title = ""'
const COLOURED = 'series color color = color.blue'
const MARK = `series bool|float series, ${NAMED}`
const MARKED =
  `input string location = location.abovebar, ${COLOURED}, simple int offset = 0, const string text = "", series color textcolor?, ` +
  `${EDITABLE}, const string size = size.auto, input int show_last?, ${FORMATTED}) void`
const BARS = `series float open, series float high, series float low, series float close, ${NAMED}, ${COLOURED}`
const GAPS = 'const bool fillgaps = false'
const GRADIENT =
  'series float top_value, series float bottom_value, series color top_color, series color bottom_color, ' +
  `${NAMED}, ${DISPLAY}, ${GAPS}, ${EDITABLE}`

const PLOTS: readonly BuiltinEntry[] = [
  fn(
    'plot',
    'Draws a series.',
    `(series float series, ${NAMED}, ${COLOURED}, input int linewidth = 1, input string style = plot.style_line, ` +
      'input bool trackprice = false, input float histbase = 0, simple int offset = 0, input bool join = false, ' +
      `${SHOWN}, ${FORMATTED}, input string linestyle = plot.linestyle_solid) plot`,
    SPECIAL,
  ),
  fn(
    'plotshape',
    'Draws a shape on bars where the series is true or not zero.',
    `(${MARK}, input string style = shape.xcross, ${MARKED}`,
    SPECIAL,
  ),
  fn(
    'plotchar',
    'Draws a character on bars where the series is true or not zero.',
    `(${MARK}, input string char = "★", ${MARKED}`,
    SPECIAL,
  ),
  fn(
    'plotarrow',
    'Draws an arrow up for positive, down for negative values, the longer the greater.',
    `(series float series, ${NAMED}, series color colorup = color.green, series color colordown = color.red, simple int offset = 0, ` +
      `input int minheight = 5, input int maxheight = 100, ${SHOWN}, ${FORMATTED}) void`,
    SPECIAL,
  ),
  fn(
    'plotcandle',
    'Draws candles of four series.',
    `(${BARS}, series color wickcolor?, ${SHOWN}, series color bordercolor?, ${FORMATTED}) void`,
    SPECIAL,
  ),
  fn('plotbar', 'Draws OHLC bars of four series.', `(${BARS}, ${SHOWN}, ${FORMATTED}) void`, SPECIAL),
  fn(
    'hline',
    'Draws a line at a price that does not change.',
    `(input float price, ${NAMED}, input color color = color.blue, input string linestyle = hline.style_solid, ` +
      `input int linewidth = 1, ${EDITABLE}, ${DISPLAY}) hline`,
    SPECIAL,
  ),
  fn(
    'fill',
    'Fills between two plots or two lines of hline().',
    [
      `(plot plot1, plot plot2, series color color?, ${NAMED}, ${EDITABLE}, input int show_last?, ${GAPS}, ${DISPLAY}) void`,
      `(hline hline1, hline hline2, series color color?, ${NAMED}, ${EDITABLE}, ${GAPS}, ${DISPLAY}) void`,
      `(hline hline1, hline hline2, ${GRADIENT}) void`,
      `(plot plot1, plot plot2, ${GRADIENT}) void`,
    ],
    SPECIAL,
  ),
  fn(
    'bgcolor',
    'Colours the background of the bar.',
    `(series color color, simple int offset = 0, ${SHOWN}, ${NAMED}, ${DISPLAY}, const bool force_overlay = false) void`,
    SPECIAL,
  ),
  fn(
    'barcolor',
    'Colours the bar.',
    `(series color color, simple int offset = 0, ${SHOWN}, ${NAMED}, ${DISPLAY}) void`,
    SPECIAL,
  ),
]

const MERGE = 'simple bool gaps = barmerge.gaps_off, simple bool lookahead = barmerge.lookahead_off'
const IGNORE = 'input bool ignore_invalid_symbol = false'

const REQUESTS: readonly BuiltinEntry[] = [
  fn(
    'request.security',
    'The expression, evaluated on another symbol or timeframe.',
    `(series string symbol, series string timeframe, T expression, ${MERGE}, ${IGNORE}, series string currency?, simple int calc_bars_count?) series T`,
    SPECIAL,
  ),
  fn(
    'request.security_lower_tf',
    'The expression on every bar of a lower timeframe within this one.',
    `(series string symbol, series string timeframe, T expression, series bool ignore_invalid_symbol = false, series string currency?, series bool ignore_invalid_timeframe = false, simple int calc_bars_count?) series array<T>`,
    SPECIAL,
  ),
  fn(
    'request.seed',
    "A series of TradingView's Pine Seeds.",
    `(series string source, series string symbol, T expression, ${IGNORE}, simple int calc_bars_count?) series T`,
    SPECIAL,
    'source',
  ),
  fn(
    'request.financial',
    'A figure of the company.',
    `(series string symbol, series string financial_id, series string period, simple bool gaps = barmerge.gaps_off, ${IGNORE}, series string currency?) series float`,
    SPECIAL,
    'source',
  ),
  fn(
    'request.economic',
    'A figure of a country.',
    `(series string country_code, series string field, simple bool gaps = barmerge.gaps_off, ${IGNORE}) series float`,
    SPECIAL,
    'source',
  ),
  fn(
    'request.quandl',
    'A series of Nasdaq Data Link.',
    `(series string ticker, simple bool gaps = barmerge.gaps_off, series int index = 0, ${IGNORE}) series float`,
    SPECIAL,
    'source',
  ),
  ...['dividends', 'splits', 'earnings'].map((name) =>
    fn(
      `request.${name}`,
      `${name[0]?.toUpperCase()}${name.slice(1)} of a symbol.`,
      `(series string ticker, series string field?, ${MERGE}, ${IGNORE}, series string currency?) series float`,
      SPECIAL,
      'source',
    ),
  ),
  fn(
    'request.currency_rate',
    'What one unit of a currency is worth in another.',
    '(series string from, series string to, series bool ignore_invalid_currency = false) series float',
    SPECIAL,
  ),
]

const ALERTS: readonly BuiltinEntry[] = [
  fn(
    'alert',
    'Triggers an alert with this message.',
    '(series string message, input string freq = alert.freq_once_per_bar) void',
    { fn: (runtime: Runtime, message: string, freq: string) => runtime.alert(message, freq), runtime: true },
  ),
  fn(
    'alertcondition',
    'A condition that an alert may be made for.',
    '(series bool condition, const string title = "", input string message = "") void',
    SPECIAL,
  ),
]

/** The texts behind `shape.arrowup` and the like are their own last names. */
function named(space: string, prefix: string, names: string, doc: string): BuiltinConstant[] {
  return names.split(' ').map((name) => constant(`${space}.${prefix}${name}`, doc, 'const string', name))
}

/** Where a plot is shown: bits, since a script may add and subtract them. */
const DISPLAYS = {
  none: 0,
  pane: 1,
  data_window: 2,
  price_scale: 4,
  status_line: 8,
  pine_screener: 16,
  all: 31,
}

const CONSTANTS: readonly BuiltinEntry[] = [
  ...named(
    'plot',
    'style_',
    'line linebr stepline stepline_diamond steplinebr histogram cross area areabr columns circles',
    'How plot() draws.',
  ),
  ...named('plot', 'linestyle_', 'solid dashed dotted', "The pattern of plot()'s line."),
  ...named('hline', 'style_', 'solid dashed dotted', "The pattern of hline()'s line."),
  ...named(
    'shape',
    '',
    'xcross cross circle triangleup triangledown flag arrowup arrowdown square diamond labelup labeldown',
    'What plotshape() draws.',
  ),
  ...named('location', '', 'abovebar belowbar top bottom absolute', 'Where plotshape() and plotchar() draw.'),
  ...named('format', '', 'inherit price volume percent mintick', 'How values are written.'),
  ...named('scale', '', 'left right none', 'The price scale the script is drawn on.'),
  ...Object.entries(DISPLAYS).map(([name, bits]) =>
    constant(`display.${name}`, 'Where a plot is shown.', 'const int', bits),
  ),
  ...['gaps', 'lookahead'].flatMap((name) => [
    constant(`barmerge.${name}_on`, 'How request.security() merges.', 'const bool', true),
    constant(`barmerge.${name}_off`, 'How request.security() merges.', 'const bool', false),
  ]),
  ...['all', 'once_per_bar', 'once_per_bar_close'].map((name) =>
    constant(`alert.freq_${name}`, 'How often alert() triggers.', 'const string', name),
  ),
  ...['gross', 'net'].map((name) =>
    constant(`dividends.${name}`, 'A field of request.dividends().', 'const string', name),
  ),
  ...['actual', 'estimate', 'standardized'].map((name) =>
    constant(`earnings.${name}`, 'A field of request.earnings().', 'const string', name),
  ),
  ...['numerator', 'denominator'].map((name) =>
    constant(`splits.${name}`, 'A field of request.splits().', 'const string', name),
  ),
]

export const LANGUAGE: readonly BuiltinEntry[] = [
  ...CASTS,
  ...DECLARATIONS,
  ...INPUTS,
  ...PLOTS,
  ...REQUESTS,
  ...ALERTS,
  ...CONSTANTS,
]
