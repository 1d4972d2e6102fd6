// Batch equals incremental, with the state written to bytes and read into a fresh run on the way: one script for each
// place a run keeps something in. `bun src/tools/incremental.ts DIR` does the same with a folder of scripts.

import { describe, expect, test } from 'bun:test'
import { advance } from '../../src/broker/advance.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { advanceDifference, incrementalDifference, scriptRequest } from '../../src/tools/incremental.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'

const SCRIPTS: Readonly<Record<string, string>> = {
  'orders, legs, trails and reservations': `strategy("x", pyramiding = 3, process_orders_on_close = false)
if ta.crossover(ta.sma(close, 3), ta.sma(close, 8))
    strategy.entry("L" + str.tostring(bar_index % 3), strategy.long, qty = 3)
    strategy.exit("a", "L0", qty = 1, profit = 80, loss = 120, comment = "half")
    strategy.exit("b", trail_points = 30, trail_offset = 15)
if bar_index % 37 == 0
    strategy.entry("S", strategy.short, stop = low * 0.999, limit = low * 0.998, oca_name = "o", oca_type = strategy.oca.cancel)
    strategy.order("O", strategy.long, 1, limit = low * 0.99, oca_name = "o", oca_type = strategy.oca.reduce)
if bar_index % 53 == 0
    strategy.close_all(immediately = true)
plot(strategy.position_avg_price)`,
  'a request in a strategy that holds a position while the request begins again': `strategy("x")
high30 = request.security(syminfo.tickerid, "30", ta.highest(high, 5))
low15 = request.security(syminfo.tickerid, timeframe.period, ta.lowest(low, 9))
if close > high30[1]
    strategy.entry("L", strategy.long)
strategy.exit("e", "L", profit = 400, loss = 200)
if close < low15[1]
    strategy.close("L")
plot(high30)`,
  'a request that is opened in the middle of a position': `strategy("x")
float level = na
if bar_index > 100
    level := request.security("OTHER", "60", ta.sma(close, 3))
if bar_index % 5 == 0
    strategy.entry("L", strategy.long, stop = high)
if bar_index % 7 == 0
    strategy.close("L")
plot(level)`,
  'drawdown and run-up so far, asked for late': `strategy("x", default_qty_type = strategy.percent_of_equity, default_qty_value = 50)
if bar_index % 9 == 0
    strategy.entry("L", bar_index % 2 == 0 ? strategy.long : strategy.short)
plot(bar_index > 200 ? strategy.max_drawdown : na)
plot(bar_index > 200 ? strategy.max_runup : na)
plot(strategy.closedtrades > 0 ? strategy.closedtrades.max_drawdown(strategy.closedtrades - 1) : na)`,
  'risk rules': `strategy("x")
strategy.risk.max_intraday_filled_orders(4)
strategy.risk.max_drawdown(30, strategy.percent_of_equity)
strategy.risk.max_cons_loss_days(3)
strategy.entry(bar_index % 4 < 2 ? "L" : "S", bar_index % 4 < 2 ? strategy.long : strategy.short)`,
  'margin calls of a position bought on credit': `strategy("x", margin_long = 10, margin_short = 10, default_qty_type = strategy.percent_of_equity, default_qty_value = 900, initial_capital = 10000)
if bar_index % 31 == 0
    strategy.entry("L", strategy.long)`,
  'calc_on_order_fills with var and varip': `strategy("x", calc_on_order_fills = true)
var int seen = 0
varip int runs = 0
seen += 1
runs += 1
if bar_index % 6 == 0
    strategy.entry("L", strategy.long, limit = close * 0.999)
strategy.exit("e", "L", profit = 40, loss = 40)
plot(runs * 1000 + seen)`,
  'calc_on_every_history_tick with var, varip, requests and risk rules': `strategy("x", calc_on_every_history_tick = true, pyramiding = 3)
var int seen = 0
varip int runs = 0
seen += 1
runs += 1
strategy.risk.max_intraday_filled_orders(9)
coarse = request.security(syminfo.tickerid, "30", ta.highest(close, 4))
if ta.crossover(close, ta.ema(close, 9)) or close > coarse
    strategy.entry("L", strategy.long)
strategy.exit("e", "L", profit = 60, loss = 60, trail_points = 30, trail_offset = 10)
if ta.rsi(close, 5) > 70
    strategy.close("L", immediately = true)
plot(runs * 1000 + seen)
plot(strategy.max_drawdown + strategy.openprofit)`,
  'objects that are shared, and reached through the past': `indicator("x")
type Mark
    float price
    int count = 0
    Mark before = na
var Mark mark = Mark.new(close)
var Mark same = mark
if close > mark.price * 1.01
    mark := Mark.new(close, 0, mark)
    if bar_index % 3 == 0
        same := mark
same.count += 1
past = mark[5]
if not na(past)
    past.price += 0.5
plot(mark.count + mark.price + (na(mark.before) ? 0 : mark.before.price))
f() =>
    m = Mark.new(close)
    old = m[2]
    if not na(old)
        old.price += 1
    m[1]
if bar_index % 2 == 0
    g = f()
    log.info(na(g) ? "na" : str.tostring(g.price))`,
  'arrays and their slices, maps and matrices': `indicator("x")
var list = array.new<float>()
var part = array.new<float>()
var other = list
var counts = map.new<string, int>()
var grid = matrix.new<float>(2, 2, -0.0)
list.push(close)
if list.size() > 20
    list.shift()
if bar_index == 30
    part := list.slice(2, 9)
if bar_index > 31 and part.size() > 3
    part.set(1, bar_index)
other.set(0, -1)
counts.put(str.tostring(math.round(close) % 7), nz(counts.get(str.tostring(math.round(close) % 7))) + 1)
grid.set(bar_index % 2, 0, close)
var cells = array.from(0.0, -0.0, na)
plot(list.avg() + (part.size() > 0 ? part.sum() : 0))
plot(counts.size() * 1000 + nz(counts.get("3")))
plot(matrix.avg(grid))
plot(1 / cells.get(1))
alert(str.tostring(counts.keys()), alert.freq_all)`,
  'averages in loops and in functions, each call with its own state': `indicator("x")
total(int n) =>
    sum = 0.0
    for i = 1 to n
        sum += ta.sma(close, 3 + i) + ta.highest(5) + nz(sum[1])
    sum
odd = bar_index % 2 == 1 ? ta.rsi(close, 5) : ta.median(close, 9)
plot(total(3) - total(bar_index % 4))
plot(odd)
plot(ta.valuewhen(close > open, close, 3) + ta.barssince(close < open) + ta.percentrank(close, 30))
plot(math.random() + math.random(0, 1, 42))
plot(ta.vwap)
plot(ta.dev(close, 70) + ta.mode(math.round(close), 40))`,
  'a list of objects as long as the run': `indicator("x")
type Link
    float value
    Link next = na
var Link head = na
head := Link.new(close, head)
int n = 0
Link at = head
while not na(at) and n < 40
    n += 1
    at := at.next
plot(n)`,
  'drawings that are moved, deleted and pushed out': `indicator("x", max_lines_count = 5, max_labels_count = 3)
var line kept = line.new(0, close, 1, close)
line.set_xy2(kept, bar_index, close)
l = line.new(bar_index, low, bar_index, high)
var labels = array.new<label>()
labels.push(label.new(bar_index, high, str.tostring(close)))
if labels.size() > 6
    label.delete(labels.shift())
linefill.new(kept, l, color.red)
var t = table.new(position.top_right, 2, 2)
table.cell(t, bar_index % 2, 0, str.tostring(bar_index))
polyline.new(array.from(chart.point.now(high), chart.point.from_index(bar_index - 1, low)))
box.new(bar_index - 1, high, bar_index, low)`,
  'requests of all kinds': `indicator("x")
day = input.timeframe("120")
plot(request.security("", day, ta.ema(close, 4)))
plot(request.security("", "60", high - low, lookahead = barmerge.lookahead_on))
plot(request.security("OTHER", "15", ta.cum(volume), gaps = barmerge.gaps_on))
plot(request.security(ticker.heikinashi(syminfo.tickerid), "30", open))
plot(request.security(ticker.renko(syminfo.tickerid, "Traditional", 1), "", close))
inner() => request.security("", "60", close + ta.cum(1))
plot(request.security("", "30", inner()))
plot(array.sum(request.security_lower_tf("", "5", close)))
plot(request.security(bar_index % 2 == 0 ? "ONE" : "THREE", "60", close))`,
  'a list that a request hands out and the script goes on with': `indicator("x")
list() =>
    var all = array.new<float>()
    all.push(close)
    if all.size() > 5
        all.shift()
    all
type Box
    float v
boxed() =>
    Box.new(close)
got = request.security("", "60", list())
b = request.security("OTHER", "30", boxed())
var kept = array.new<Box>()
if not na(b)
    kept.push(b)
if kept.size() > 3
    kept.shift()
plot(na(got) ? na : array.sum(got))
plot(kept.size() > 0 ? kept.first().v : na)`,
  'sources that are derived, their past, and bars that are built': `indicator("x")
source = input.source(hl2)
other = input.source(ohlc4)
n = bar_index % 11
plot(source[1] - other[n] + ta.sma(source, 5))
plot(time_close - time[3] + (barstate.islast ? 1 : 0))
var first = 0.0
if barstate.isfirst
    first := close
plot(first + nz(hlc3[n * 10]))
colour = close > open ? color.red : na
bgcolor(colour[1])
text = close > open ? "up" : na
label.new(bar_index, 0, text[1])`,
}

describe('a run whose state is kept and read again ends in the same report and tracks', () => {
  const seed = Number(Bun.env['SEED'] ?? Date.now() % 100_000)
  console.log(`incremental seed ${seed}`)
  for (const [name, body] of Object.entries(SCRIPTS))
    test(name, () => {
      const request = scriptRequest(`//@version=6\n${body}\n`, 420, seed)
      // Two runs that fail alike are the same too.
      expect(() => runBacktest(request)).not.toThrow()
      expect(incrementalDifference(request, seededRandom(seed).uniform)).toBeNull()
    })
})

describe('a run that goes on from kept state says of each bar what a run over all bars says', () => {
  const seed = Number(Bun.env['SEED'] ?? Date.now() % 100_000)
  console.log(`advance seed ${seed}`)
  for (const [name, body] of Object.entries(SCRIPTS))
    test(name, () => {
      const request = scriptRequest(`//@version=6\n${body}\n`, 420, seed)
      expect(advanceDifference(request, seededRandom(seed).uniform, 20)).toBeNull()
    })
})

test('what is read a few bars back, over more bars than are there of it', () => {
  const source = `//@version=6
strategy("x")
up = close > open
rise = math.abs(close - close[3]) + ta.ema(close, 4)
change = rise - rise[1] + nz(rise[4090])
if up[2] and change > 0
    strategy.entry("L", strategy.long)
if not up[5]
    strategy.close("L")
plot(change)`
  const seed = Number(Bun.env['SEED'] ?? Date.now() % 100_000)
  console.log(`seed ${seed}`)
  expect(incrementalDifference(scriptRequest(source, 20_000, seed), seededRandom(seed).uniform)).toBeNull()
})

test('a state that was read counts as memory of the run that goes on with it', () => {
  const source =
    '//@version=6\nindicator("x")\nvar a = array.new<float>(90000, 1.0)\nb = a.copy()\nplot(b.size())\n'
  const { limits, ...request } = scriptRequest(source, 300, 1)
  const { kept } = advance({ ...request, limits }, null, 299)
  const small = { ...request, limits: { ...limits, memoryBytes: 800_000 } }
  expect(() => advance(small, null, 299)).toThrow('1 MB of memory')
  expect(() => advance(small, kept, 299)).toThrow('1 MB of memory')
})
