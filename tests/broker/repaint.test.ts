// Ways to cheat are all found, at their line and by their cause; honest scripts are not accused.

import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { findRepaint } from '../../src/broker/repaint.ts'
import { repaintSuspects } from '../../src/language/repaint-causes.ts'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { TEST_SYMBOL } from './drive.ts'

const HOUR = 3_600_000

/** A walk that is the same each time. */
function walk(length: number, step: number): Bars {
  const bars = emptyBars(length)
  let seed = 7
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647
  let price = 100
  for (let i = 0; i < length; i++) {
    const open = price
    const close = open * (1 + 0.03 * (random() - 0.5))
    price = close
    bars.time[i] = Date.UTC(2024, 0, 1) + i * step
    bars.open[i] = open
    bars.close[i] = close
    bars.high[i] = Math.max(open, close) * (1 + 0.005 * random())
    bars.low[i] = Math.min(open, close) * (1 - 0.005 * random())
    bars.volume[i] = Math.round(1000 * random()) + 1
  }
  return bars
}

const BARS = walk(700, HOUR)
const OTHER: Readonly<Record<string, Bars>> = { '1d': walk(30, 24 * HOUR), '15m': walk(2800, HOUR / 4) }

function repaint(source: string, bars = BARS) {
  return findRepaint({
    source,
    inputs: {},
    bars,
    symbol: TEST_SYMBOL,
    interval: '1h',
    limits: DEFAULT_LIMITS,
    series: (_, symbol, interval) => {
      const bars = OTHER[interval]
      return bars ? { bars, interval, symbol: { ...TEST_SYMBOL, symbol } } : null
    },
  })
}

const indicator = (body: string) => `//@version=6\nindicator("x")\n${body}`
const strategy = (body: string, more = '') => `//@version=6\nstrategy("x"${more})\n${body}`
const trades = (long: string) =>
  `if ${long}\n    strategy.entry("L", strategy.long)\nelse\n    strategy.close("L")`
const CROSS = trades('ta.ema(close, 5) > ta.ema(close, 20)')

/** `line cause` of each finding. */
const CHEATS: readonly (readonly [string, string, string])[] = [
  [
    'a day’s close with lookahead_on',
    indicator('plot(request.security("", "D", close, lookahead = barmerge.lookahead_on))'),
    '3 lookahead_on',
  ],
  [
    'lookahead by its place',
    indicator('plot(request.security("", "D", close, barmerge.gaps_off, barmerge.lookahead_on))'),
    '3 lookahead_on',
  ],
  [
    'lookahead=true of version 4',
    '//@version=4\nstudy("x")\nplot(security(syminfo.tickerid, "D", high, lookahead=true))',
    '3 lookahead_on',
  ],
  [
    'lookahead in orders that no plot shows',
    strategy(
      `end = request.security("", "D", close, lookahead = barmerge.lookahead_on)\n${trades('end > close')}`,
    ),
    '3 lookahead_on',
  ],
  [
    'lookahead through a variable',
    indicator(
      'var how = barmerge.lookahead_on\nplot(request.security("", "240", high, lookahead = how))',
    ).replace('var how', 'how'),
    '4 lookahead_on',
  ],
  [
    'lookahead in a function',
    indicator(
      'f(t) =>\n    request.security("", t, high, lookahead = barmerge.lookahead_on)\nplot(f("W"), "top")',
    ),
    '4 lookahead_on',
  ],
  [
    'lookahead beside an honest request',
    indicator(
      'a = request.security("", "D", close[1], lookahead = barmerge.lookahead_on)\nb = request.security("", "D", low, lookahead = barmerge.lookahead_on)\nplot(a + b)',
    ),
    '4 lookahead_on',
  ],
  [
    'lookahead into another symbol',
    indicator('plot(request.security("TEST:OTHER", "D", close, lookahead = barmerge.lookahead_on))'),
    '3 lookahead_on',
  ],
  [
    'lookahead in a colour',
    indicator(
      'up = request.security("", "D", close > open, lookahead = barmerge.lookahead_on)\nbgcolor(up ? color.green : color.red)',
    ),
    '3 lookahead_on',
  ],
  ['a longer interval as it forms', indicator('plot(request.security("", "D", close))'), '3 higher_interval'],
  [
    'a longer interval in orders',
    strategy(`fast = request.security("", "240", ta.ema(close, 3))\n${trades('close > fast')}`),
    '3 higher_interval',
  ],
  [
    'a tuple of a longer interval',
    indicator('[h, l] = request.security("", "D", [high, low])\nplot(h - l)'),
    '3 higher_interval',
  ],
  [
    'another symbol’s longer interval as it forms',
    indicator('plot(request.security("TEST:OTHER", "D", close))'),
    '3 higher_interval',
  ],
  [
    'a shorter interval by security()',
    indicator('plot(request.security("", "15", close))'),
    '3 lower_interval',
  ],
  ['another plot in real time', indicator('plot(barstate.isrealtime ? close : close[1])'), '3 barstate'],
  ['trades of the past only', strategy(trades('barstate.ishistory and close > open')), '3 barstate'],
  ['the first tick only', indicator('plot(barstate.isnew ? close : na)'), '3 barstate'],
  ['the last bar plotted', indicator('plot(barstate.islast ? 1 : 0)'), '3 barstate'],
  [
    'a source that hangs on the last bar',
    indicator('plot(ta.sma(close[barstate.islast ? 1 : 0], 5))'),
    '3 barstate',
  ],
  ['the last closed bar', indicator('plot(barstate.islastconfirmedhistory ? 1 : 0)'), '3 barstate'],
  ['the index of the last bar', indicator('plot(last_bar_index - bar_index)'), '3 last_bar'],
  ['the time of the last bar', strategy(trades('last_bar_time - time > 86400000 * 5')), '3 last_bar'],
  ['timenow', indicator('plot(timenow - time)'), '3 timenow'],
  ['timenow in orders', strategy(trades('timenow - time > 86400000 * 3')), '3 timenow'],
  [
    'a box of the last bar',
    indicator('t = ticker.renko(syminfo.tickerid, "ATR", 14)\nplot(request.security(t, "", close))'),
    '3 last_box',
  ],
  ['a count of ticks', indicator('varip ticks = 0\nticks += 1\nplot(ticks)'), '3 varip'],
  ['ticks in an array', indicator('varip a = array.new<int>()\na.push(1)\nplot(a.size())'), '3 varip'],
  [
    'ticks in a field',
    indicator('type C\n    varip int n = 0\nvar c = C.new()\nc.n += 1\nplot(c.n)'),
    '4 varip',
  ],
  [
    'a count of ticks behind a condition',
    strategy('varip int n = 0\nn := n + 1\nready = n > 3\nif ready\n    strategy.entry("L", strategy.long)'),
    '3 varip',
  ],
  [
    'recalculation at fills',
    strategy(
      'if close > open\n    strategy.entry("L", strategy.long)\nif strategy.position_size > 0\n    strategy.close("L")',
      ', calc_on_order_fills = true',
    ),
    '2 calc_on_order_fills',
  ],
  [
    'one fill more at a recalculation, behind all that both have',
    strategy(
      'if bar_index == 698 or bar_index == 699 and strategy.opentrades == 1\n    strategy.entry("L", strategy.long)',
      ', calc_on_order_fills = true, pyramiding = 2',
    ),
    '2 calc_on_order_fills',
  ],
  ['calculation at ticks', strategy(CROSS, ', calc_on_every_tick = true'), '2 calc_on_every_tick'],
  [
    'a plot drawn into the past',
    indicator('plot(ta.sma(close, 10), "early", offset = -5)'),
    '3 negative_offset',
  ],
  [
    'an offset through a variable',
    indicator('n = -3\nplot(ta.ema(close, 4), offset = n)'),
    '4 negative_offset',
  ],
]

const HONEST: readonly (readonly [string, string])[] = [
  ['an average', indicator('plot(ta.sma(close, 10))')],
  ['a strategy of two averages', strategy(CROSS)],
  ['rsi', strategy(trades('ta.rsi(close, 14) < 40'))],
  [
    'limits and stops',
    strategy(
      `${CROSS}\nstrategy.exit("X", "L", profit = 200, loss = 150, trail_points = 90, trail_offset = 20)`,
    ),
  ],
  [
    'entries at a stop',
    strategy(
      'strategy.entry("L", strategy.long, stop = ta.highest(high, 10))\nstrategy.entry("S", strategy.short, stop = ta.lowest(low, 10))',
    ),
  ],
  ['fills at the close', strategy(CROSS, ', process_orders_on_close = true')],
  [
    'pyramiding',
    strategy(
      CROSS,
      ', pyramiding = 4, default_qty_type = strategy.percent_of_equity, default_qty_value = 10',
    ),
  ],
  [
    'commission and slippage',
    strategy(CROSS, ', commission_type = strategy.commission.percent, commission_value = 0.1, slippage = 2'),
  ],
  [
    'the day before, with lookahead_on',
    indicator('plot(request.security("", "D", close[1], lookahead = barmerge.lookahead_on))'),
  ],
  [
    'the day’s open, with lookahead_on',
    indicator('plot(request.security("", "D", open, lookahead = barmerge.lookahead_on))'),
  ],
  [
    'an average of the day before',
    indicator('plot(request.security("", "D", ta.sma(close, 5)[1], lookahead = barmerge.lookahead_on))'),
  ],
  ['an average of days that have closed', indicator('plot(request.security("", "D", ta.sma(close[1], 5)))')],
  [
    'a tuple of the day before',
    indicator(
      '[h, l] = request.security("", "D", [high[1], low[1]], lookahead = barmerge.lookahead_on)\nplot(h - l)',
    ),
  ],
  [
    'another symbol’s day before',
    indicator('plot(request.security("TEST:OTHER", "D", close[1], lookahead = barmerge.lookahead_on))'),
  ],
  ['another symbol on the same interval', indicator('plot(request.security("", "60", ta.rsi(close, 7)))')],
  [
    'the idiom that makes live and past alike',
    indicator(
      'plot(request.security("", "D", close[barstate.isrealtime ? 1 : 0])[barstate.isrealtime ? 0 : 1])',
    ),
  ],
  ['pivots with their offset', indicator('plot(ta.pivothigh(high, 5, 5), offset = -5)')],
  [
    'pivots through a variable',
    indicator('n = 4\np = ta.pivotlow(n, n)\nplot(p, offset = -n)\nplotshape(not na(p), offset = -n)'),
  ],
  [
    'a length of one’s own in a week that has closed',
    indicator('n = input.int(5)\nplot(request.security("", "W", ta.sma(close[1], n)))'),
  ],
  ['a level drawn back from the last bar', indicator('plot(ta.highest(9), offset = -9, show_last = 1)')],
  [
    'a longer interval that an input switches off',
    strategy(
      `on = input.bool(false)\nday = request.security("", "D", close)\n${trades('close > (on ? day : open)')}`,
    ),
  ],
  [
    'a table of results on the last bar',
    strategy(
      `${CROSS}\nvar t = table.new(position.top_right, 1, 1)\nif barstate.islast\n    t.cell(0, 0, str.tostring(strategy.max_drawdown + strategy.netprofit + strategy.max_runup + strategy.closedtrades.max_drawdown(0)))`,
    ),
  ],
  ['a lagging span', indicator('plot(close, "Lagging", offset = -26)')],
  ['leading spans', indicator('plot(math.avg(ta.highest(52), ta.lowest(52)), offset = 26)')],
  [
    'marks where a pattern stood',
    indicator('found = high[2] > high[1] and high[2] > high[3]\nplotshape(found, offset = -2)'),
  ],
  [
    'a label on the last bar',
    indicator('plot(close)\nif barstate.islast\n    label.new(bar_index, close, str.tostring(timenow))'),
  ],
  [
    'a table on the last bar',
    indicator(
      'plot(close)\nvar t = table.new(position.top_right, 1, 1)\nif barstate.islast\n    t.cell(0, 0, str.tostring(last_bar_index))',
    ),
  ],
  [
    'waiting for the close',
    strategy(trades('barstate.isconfirmed and close > open'), ', calc_on_every_tick = true'),
  ],
  [
    'setting up on the first bar',
    indicator('var float first = na\nif barstate.isfirst\n    first := close\nplot(close - first)'),
  ],
  [
    'a varip that only an alert sees',
    indicator(
      'plot(close)\nvarip told = false\nif close > open and not told\n    told := true\n    alert("up")',
    ),
  ],
  ['a varip that never changes', indicator('varip start = 5\nplot(close * start)')],
  [
    'recalculation at fills that changes nothing',
    strategy(
      'if bar_index % 40 == 0\n    strategy.entry("L", strategy.long)\nif bar_index % 40 == 20\n    strategy.close("L")',
      ', calc_on_order_fills = false',
    ),
  ],
  ['a day’s stretch of time', strategy(trades('hour > 8 and hour < 17 and time > timestamp(2024, 1, 5)'))],
  ['a change of the day', indicator('plot(ta.barssince(timeframe.change("D")))')],
  ['vwap', indicator('plot(ta.vwap(close))')],
  [
    'supertrend',
    indicator('[v, d] = ta.supertrend(3, 10)\nplot(v, color = d < 0 ? color.green : color.red)'),
  ],
  ['shorter bars as an array', indicator('plot(request.security_lower_tf("", "15", close).size())')],
  [
    'bricks of a size of one’s own',
    indicator(
      't = ticker.renko(syminfo.tickerid, "Traditional", 2)\nplot(request.security(t, "", close[1]))',
    ),
  ],
  [
    'loops and arrays',
    indicator('var a = array.new<float>()\na.push(close)\nif a.size() > 9\n    a.shift()\nplot(a.avg())'),
  ],
  [
    'version 4',
    '//@version=4\nstudy("x")\nplot(sma(close, 9))\nplot(security(syminfo.tickerid, "D", close[1], lookahead=barmerge.lookahead_on))',
  ],
]

const UP = 'up = ta.crossover(ta.ema(close, 5), ta.ema(close, 20))'
/** Signals that stand on bars before the one on which they were known. */
const DRAWN_BACK: typeof CHEATS = [
  ['a shape', indicator(`${UP}\nplotshape(up, offset = -3)`), '4 negative_offset'],
  [
    'a price that only a later signal marks',
    indicator(`${UP}\nback = input.int(4)\nplot(up ? low[4] : na, "Buy", offset = -back)`),
    '5 negative_offset',
  ],
  [
    'a background, its offset by place',
    strategy(`${UP}\nbgcolor(up ? color.lime : na, -2)\n${trades('up')}`),
    '4 negative_offset',
  ],
  [
    'a label, in a strategy that trades later',
    strategy(
      `${UP}\nif up\n    label.new(bar_index - 5, low[5], "Buy")\n    strategy.entry("L", strategy.long)`,
    ),
    '5 drawn_back',
  ],
  [
    'a label by time, on what five bars have done since',
    indicator(
      'rose = close > close[5] * 1.01\nif rose and not rose[1]\n    label.new(x = time[5], y = low[5], text = "Buy", xloc = xloc.bar_time)',
    ),
    '5 drawn_back',
  ],
  [
    'a box that ended before',
    indicator(`${UP}\nif up\n    box.new(bar_index - 8, high, bar_index - 5, low)`),
    '5 drawn_back',
  ],
  [
    'a line that ends there',
    indicator(`${UP}\nat = bar_index - 5\nif up\n    line.new(at - 5, low[10], at, low[5])`),
    '6 drawn_back',
  ],
  [
    'through a function of one’s own',
    indicator(`mark(x, y) =>\n    label.new(x, y, "Buy")\n${UP}\nif up\n    mark(bar_index - 5, low[5])`),
    '4 drawn_back',
  ],
  [
    'by a point',
    indicator(
      `[middle, top, bottom] = ta.bb(close, 20, 2)\nif close > top\n    p = chart.point.from_index(bar_index - 3, low[3])\n    label.new(p, "Buy")`,
    ),
    '6 drawn_back',
  ],
  [
    'a label that is moved',
    indicator(
      `${UP}\nvar label mark = label.new(na, na, "Buy")\nif up\n    mark.set_xy(bar_index - 5, low[5])`,
    ),
    '6 drawn_back',
  ],
  [
    'all at once on the last bar',
    indicator(
      `${UP}\nvar bought = array.new<int>()\nif up\n    bought.push(bar_index - 5)\nif barstate.islast\n    for at in bought\n        label.new(at, close, "Buy")`,
    ),
    '9 drawn_back',
  ],
  [
    'by the field of an object',
    indicator(
      `type Mark\n    int x\n    float y\n${UP}\nif up\n    m = Mark.new(bar_index - 5, low[5])\n    label.new(m.x, m.y, "Buy")`,
    ),
    '9 drawn_back',
  ],
  [
    'a polyline of points',
    indicator(
      `${UP}\nif up\n    points = array.new<chart.point>()\n    points.push(chart.point.from_index(bar_index - 9, low))\n    points.push(chart.point.from_index(bar_index - 5, high))\n    polyline.new(points)`,
    ),
    '8 drawn_back',
  ],
]

const DRAWN_HONESTLY: typeof HONEST = [
  ['a label where it is known', indicator(`${UP}\nif up\n    label.new(bar_index, low, "Buy")`)],
  [
    'a label at a pivot',
    indicator('p = ta.pivothigh(5, 5)\nif not na(p)\n    label.new(bar_index - 5, p, "High")'),
  ],
  [
    'a pivot of one’s own, in a function',
    indicator(
      'peak(n) =>\n    high[n] == ta.highest(high, n * 2 + 1)\nif peak(4)\n    label.new(bar_index - 4, high[4])',
    ),
  ],
  [
    'a fractal of five bars',
    indicator(
      'f = high[2] > high[1] and high[2] > high and high[2] > high[3] and high[2] > high[4]\nplotshape(f ? high[2] : na, location = location.absolute, offset = -2)',
    ),
  ],
  [
    'a box over the bars until now',
    indicator('if ta.rising(close, 5)\n    box.new(bar_index - 5, ta.highest(5), bar_index, ta.lowest(5))'),
  ],
  [
    'a line from the pivot before',
    indicator(
      'p = ta.pivotlow(5, 5)\nvar float y = na\nvar int x = na\nif not na(p)\n    if not na(x)\n        line.new(x, y, bar_index - 5, p)\n    x := bar_index - 5\n    y := p',
    ),
  ],
  [
    'a gap of three candles',
    indicator(
      'if low > high[2]\n    box.new(bar_index - 2, low, bar_index, high[2])\n    label.new(bar_index - 1, low, "Gap")',
    ),
  ],
  [
    'where the last crossing was',
    indicator(
      `${UP}\nsince = ta.barssince(up)\nif ta.crossunder(close, ta.sma(close, 20))\n    label.new(bar_index - since, low, "Bought")`,
    ),
  ],
  [
    'levels behind the last bar',
    indicator(
      'var line level = na\nif barstate.islast\n    level := line.new(bar_index - 30, ta.vwap(close), bar_index - 5, ta.vwap(close))',
    ),
  ],
  [
    'a lagging span that can be hidden',
    indicator('shows = input.bool(true)\nplot(shows ? close : na, "Lagging", offset = -25)'),
  ],
  [
    'a histogram behind the last bar, its places worked out there',
    indicator(
      'if barstate.islast\n    for i = 0 to 5\n        left = bar_index - 60\n        box.new(left, ta.sma(close, 5), left + 3, 0)',
    ),
  ],
  ['a mark on the scale of prices', indicator('plot(ta.sma(close, 5), trackprice = true, offset = -9999)')],
  [
    'each candle of a pattern',
    indicator(
      'found = close > open and close[1] < open[1] and close > open[1]\nbgcolor(ta.highest(found ? 1 : 0, 2) != 0 ? color.new(color.lime, 80) : na, offset = -(2 - 1))',
    ),
  ],
  [
    'a fractal of an oscillator, by a function',
    indicator(
      'top(x) =>\n    x[4] < x[2] and x[3] < x[2] and x[2] > x[1] and x[2] > x[0]\nwave = ta.ema(close - close[1], 7)\nplot(top(wave) ? wave[2] : na, offset = -2)',
    ),
  ],
  [
    'halfway through a trade that is over',
    strategy(
      `${CROSS}\nvar int began = na\nif strategy.position_size != strategy.position_size[1]\n    began := bar_index\n    label.new(bar_index[int((bar_index - began) / 2)], close, "Won")`,
    ),
  ],
  ['old prices where they were', indicator('plot(math.avg(high[3], low[3]), offset = -3)')],
  [
    'the bar whose close asked for the fill',
    strategy(
      `${CROSS}\nif strategy.position_size > 0 and strategy.position_size[1] == 0\n    label.new(bar_index - 1, low[1], "Asked")`,
    ),
  ],
]

describe('a way to cheat is found:', () => {
  for (const [name, source, expected] of [...CHEATS, ...DRAWN_BACK])
    test(name, () => {
      const { clean, findings } = repaint(source)
      expect([clean, findings.map(({ line, cause }) => `${line} ${cause}`)]).toEqual([false, [expected]])
    })
})

describe('an honest script is not accused:', () => {
  for (const [name, source] of [...HONEST, ...DRAWN_HONESTLY])
    test(name, () => {
      expect(repaint(source).findings).toEqual([])
    })
  const folder = `${import.meta.dir}/../../data/samples`
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.pine')))
    test(name, () => {
      expect(repaint(readFileSync(`${folder}/${name}`, 'utf8')).findings).toEqual([])
    })
})

test('a text that goes in circles, or deep, ends', () => {
  const deep = `plot(${'close + '.repeat(5000)}close, offset = -3)`
  const circle = 'float a = na\nfloat b = na\na := b\nb := a\nif a > b\n    label.new(int(a), b)'
  for (const body of [deep, circle]) expect(repaintSuspects(indicator(body)).length).toBeLessThan(2)
})

test('a finding says which plots and orders differ, and from which bar on', () => {
  const source = strategy(
    `end = request.security("", "D", close, lookahead = barmerge.lookahead_on)\nplot(end, "End")\nplot(close, "Close")\n${trades('end > close')}`,
  )
  const { findings, samples } = repaint(source)
  expect(findings).toMatchObject([
    { kind: 'lookahead', evidence: 'run', line: 3, column: 52, plots: ['End'], trades: true },
  ])
  expect(findings[0]!.samples).toBeGreaterThan(samples / 2)
  expect(findings[0]!.time).toBe(BARS.time[findings[0]!.bar!]!)
})

test('a few bars are enough, and none are no mistake', () => {
  const flips = strategy(trades('bar_index % 4 < 2'))
  for (const length of [0, 1, 2, 5, 30]) expect(repaint(flips, walk(length, HOUR)).findings).toEqual([])
})

test('a script that takes its time is tested at fewer places', () => {
  let clock = 0
  const { samples, clean } = findRepaint({
    source: indicator('plot(close)'),
    inputs: {},
    bars: BARS,
    symbol: TEST_SYMBOL,
    interval: '1h',
    limits: DEFAULT_LIMITS,
    series: () => null,
    // Each look at the clock is a tenth of the time a run may take.
    now: () => (clock += DEFAULT_LIMITS.timeMs / 10),
    spent: () => 0,
  })
  expect(clean).toBe(true)
  expect(samples).toBeGreaterThan(0)
  expect(samples).toBeLessThan(24)
})
