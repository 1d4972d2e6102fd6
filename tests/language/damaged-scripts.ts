// Scripts that nobody wrote: samples of every version and kind of statement, damaged in a place or two.

import type { Random } from '../../src/tools/torture/random.ts'

/** Libraries that the samples import. */
export const LIBRARIES: Readonly<Record<string, string>> = {
  'me/Tools/1': `//@version=6
library("Tools")
int LENGTH = 14
export const float RATIO = 0.5
export enum Side
    up = "Up"
    down
export type Trade
    float price = 1.0
    int bars
hidden(float x) => x * 2
export double(float x) => hidden(x)
export average(float x, simple int n = 3) => ta.sma(x, n)
export method value(Trade this) => this.price * this.bars
`,
}

export const SAMPLES: readonly string[] = [
  `//@version=6
indicator("Inputs", overlay = true, max_lines_count = 50, precision = 2)
length = input.int(14, "Length", minval = 1, maxval = 2 * 50, step = 5, group = "G", tooltip = "T")
factor = input.float(1.5, "Factor", options = [1.5, 2.5], inline = "I", confirm = true)
mode = input.string("a", "Mode", options = ["a", "b"])
src = input.source(hl2, "Source")
on = input.bool(true, "On", display = display.none)
tf = input.timeframe("60", "Frame")
sym = input.symbol("AAPL", "Symbol")
ses = input.session("0930-1600", "Session")
tint = input.color(color.new(#112233, 50), "Tint")
at = input.time(timestamp("2024-01-01"), "At")
level = input.price(10, "Level")
note = input.text_area("x", "Note")
plain = input(7, "Plain")
x = switch mode
    "a" => ta.ema(src, length)
    => on ? factor * level : na
plot(x, "X", tint, 2, plot.style_linebr, offset = plain)
`,
  `//@version=6
strategy("Types", pyramiding = 2, default_qty_type = strategy.percent_of_equity, commission_value = 0.1)
enum Side
    long = "Long"
    short
type Point
    int bar
    float price = 0.0
type Trade
    Point from
    array<Point> path
    Side side = Side.long
method add(Trade this, float price = na) =>
    this.path.push(Point.new(bar_index, price))
    this.path.size()
method add(Trade this, string text) => str.length(text)
side = input.enum(Side.long, "Side")
var Trade trade = Trade.new(path = array.new<Point>())
int n = trade.add(close) + trade.add("four")
trade.from := Point.copy(Point.new(1, 2.5))
if not na(trade.from) and trade.side == side
    trade.from.price += n
    strategy.entry("L", strategy.long, qty = 1, comment = "it's " + str.tostring(trade.from.price))
strategy.exit("X", from_entry = "L", profit = 10, loss = 20)
`,
  `//@version=6
indicator("Blocks")
average(source, simple int length = 3) =>
    sum = 0.0
    for i = 0 to length - 1
        sum += nz(source[i])
    sum / length
both(float a, b) =>
    var int calls = 0
    calls += 1
    [a + b, calls > 2 ? a : b]
[p, q] = both(average(close), high)
var float best = na
varip int ticks = 0
ticks := ticks + 1
while ticks > 3 and best < p
    ticks -= 2
    if ticks == 5
        continue
    best := math.max(nz(best), p)
v = if p > q
    p
else if p == q
    0
else
    q * -1
once v > 2
    best := v
plot(v > best ? v[1] : average(volume, 5))
plotshape(ta.crossover(v, q), "S", shape.triangleup, location.belowbar, color.green)
alertcondition(v > 3, "A", "m")
hline(5, "H", linestyle = hline.style_dashed)
fill(plot(p), plot(q), color = color.rgb(1, 2, 3))
`,
  `//@version=6
indicator("Collections")
array<float> a = array.from(1, 2.5)
m = map.new<string, float>()
mx = matrix.new<int>(2, 3, 0)
lines = array.new_line()
for [i, value] in a
    m.put(str.tostring(i), value)
for value in a
    mx.set(0, 1, int(value))
a.sort(order.descending)
lines.push(line.new(bar_index, low, bar_index + 1, high, color = color.red, style = line.style_dotted))
l = label.new(bar_index, high, m.get("0") > 1 ? "up" : "down", yloc = yloc.abovebar)
label.delete(l[1])
t = table.new(position.top_right, 2, 2)
table.cell(t, 0, 0, str.tostring(mx.sum(1)))
var box b = box.new(na, na, na, na)
b.set_lefttop(bar_index, a.max())
linefill.new(lines.first(), lines.last(), color.new(color.blue, 90))
plot(a.avg() + m.size() + mx.rows())
`,
  `//@version=6
indicator("Requests")
import me/Tools/1 as tools
[o, c] = request.security(syminfo.tickerid, "D", [open, close[1]], lookahead = barmerge.lookahead_on)
f(x) => request.security("A:B", timeframe.period, ta.sma(x, 10), ignore_invalid_symbol = true)
lower = request.security_lower_tf(syminfo.tickerid, "1", close)
t = tools.Trade.new(2.0, 3)
s = tools.Side.up
y = tools.double(o) + tools.average(c, 5) + t.value() + tools.RATIO
plot(s == tools.Side.down ? y : f(close) + lower.size())
`,
  `//@version=6
library("Lib")
export const int SIZE = 3
export enum Kind
    one
    two = "2"
export type Box
    float width = 1
    string name
helper(float x) => x * SIZE
export area(float width, series float height = 2.0) => helper(width) * height
export method grow(Box this, float by) =>
    this.width += by
    this
`,
  `//@version=5
strategy("Old", margin_long = 100, calc_on_order_fills = true, close_entries_rule = "ANY")
f(x) =>
    var n = 0
    n += x > 1 ? 1 : 0
    [n, x]
[a, b] = f(high - low)
bool c = na
c := volume
int length = input(9)
d = close ? 1 : 0
e = 5 / 2
plot(e, color = a > 1 ? color.red : na, transp = 20)
strategy.entry("L", strategy.long, when = b > 1)
strategy.close("L", when = c)
strategy.exit("X", "L", profit = 5, when = d > 0)
if c and volume
    strategy.close_all()
bgcolor(color.new(color.red, 90), transp = 5)
`,
  `//@version=4
study("Older", overlay=true, resolution="60", linktoseries=true)
len = input(14, "Length", type=input.integer, minval=1)
src = input(close, type=input.source)
res = input("D", type=input.resolution)
on = input(true, type=input.bool)
which = input("a", options=["a", "b"])
r = rsi(src, len)
up = crossover(r, 30) and close
sec = security(syminfo.tickerid, res, sma(close, 5), lookahead=barmerge.lookahead_on)
var line l = na
if up
    l := line.new(n, low, n[1], low[1], color=red)
z = iff(up, r, na)
plot(z, "RSI", color=on ? red : color(blue, 50), linewidth=2, transp=40, style=plot.style_line)
plotshape(up, style=shape.arrowup, location=location.belowbar, color=lime, transp=0)
bgcolor(which == "a" ? #ff0000 : na, transp=80)
hline(50, color=gray)
a = array.new_float(0)
array.push(a, nz(z) + atr(14) + stoch(close, high, low, 5) + tr(true) + pow(2, 3) + round(r))
t = timestamp(2020, 1, 1, 0, 0) + (dayofweek == dayofweek.monday ? 1 : 0)
`,
  `//@version=4
strategy("Oldest", default_qty_type=strategy.cash, currency=currency.EUR)
long = ema(close, 9) > ema(close, 21)
strategy.entry("L", strategy.long, 1, when=long)
strategy.entry("S", false, when=not long)
strategy.exit("X", "L", trail_points=10, trail_offset=5, when=n > 10)
m = 0.0
m := nz(m[1]) + 1
f(x, y) => x > y ? x : y
g = f(1, 2.5)
h = tostring(g) + tostring(close, "#.##")
plot(strategy.position_size * (m % 2 == 0 ? 1 : -1))
`,
  `//@version=6
indicator("Con" + "stants", precision = 2 > 1 ? 3 : 4, max_bars_back = 10 * 5 % 7 + 20)
a = input.int(2 < 2 ? 1 : 5, "A", minval = -3 + 1, maxval = 7 <= 7 ? 9 : 8)
b = input.float(1.5 * 2 - 0.5, "B" + "b", step = 10 / 4)
c = input.bool(not (1 == 1.0 and 2 != 3) or 4 >= 5, "C")
d = input.string("x" == "x" ? "p" : "q", options = ["p", "q"])
e = input.int(int(7.9) + math.max(1, 2) - math.abs(-3) + math.round(2.5), "E")
f = input.color(true ? color.rgb(1, 2, 3, 4) : #ff0000)
g = input.int(5 > 5 ? 1 : 3 < 4 and 4 >= 4 ? 6 : 7, "G")
plot(ta.sma(close, a + e + g) * b, str.upper("t"), c ? f : na, offset = 3 - 1)
`,
  `//@version=5
indicator("Numbers")
ints = array.from(1, 2, 4)
m = map.new<int, int>()
m.put(7, 2)
q = array.avg(ints) / 2 + array.sum(ints) / 3 + math.sum(7, 2) / 2
r = math.max(1, 2) / 2 + math.round(close) / 3 + m.get(7) / 2 + 9 / 2
s = matrix.new<float>(2, 2, 1.5)
for row in s
    q += row.first()
for [key, kept] in m
    r += key / kept
t = switch
    close > open => 1
    close < open => na
    => 2.5
u = if bar_index > 3
    array.new<string>(2, "z")
else
    array.from("a")
plot(q + r + t + u.size() + math.avg(1, 2, 4))
`,
]

/** These have mistakes before they are damaged. */
const BROKEN: readonly string[] = [
  `//@version=6
indicator("Missing")
import me/None/1 as none
import me/Tools/1
import me/Tools/2 as later
x = none.f(close, length = 3) + none.VALUE
y = Tools.double(x).twice(none.other(1))
none.Type t = none.Type.new(1)
z = t.field + y.method_of_none(2) + later.g()
w = Tools.hidden(2) + Tools.Trade.new(1.0, 2, 3).value()
v = Tools.Trade.copy(Tools.Trade.new()).value(1)
plot(x + z + w + v)
`,
  `//@version=6
indicator("Wrong")
type T
    int n
method twice(T this, int by) => this.n * by
f(int a, float b = 1.0) => a + b
g(x) => h(x)
h(x) => g(x)
a = f(1.5) + f() + f(1, 2, 3) + f(b = 2, a = 1) + f(1, c = 2)
b = T.new(n = 1, n = 2).twice("x") + T.new("x").n + T.new().m
c = close.nothing + ta.nothing(1) + 5.twice(2)
d = "a" + 1 > true ? close and open : not "x"
if close
    d := "text"
[p, q] = ta.macd(close, 1, 2, 3)
e = for i = 0 to "x"
    break
close := 5
f = 3
var e = 2
strategy.entry("L", strategy.long)
plot(close, color = "red", nothing = 1)
`,
]

/** Names with their dots, texts, numbers, operators; and what parts them. */
const PARTS = /[A-Za-z_][\w.]*|"[^"]*"|#\w+|\d[\d.]*|[^\w\s"#]+|\s+/g
const ATOM = /^["#\w]/
const OPERATORS = ['+', '-', '*', '/', '%', '>', '<', '==', '!=', 'and', 'or']

const partsOf = (text: string): string[] => text.match(PARTS) ?? []
const ALL = [...SAMPLES, ...BROKEN]
const ATOMS = ALL.flatMap(partsOf).filter((part) => ATOM.test(part))
const LINES = ALL.flatMap((sample) => sample.split('\n').slice(1))

/** One of the samples with an edit or two; most of them still parse. */
export function damagedScript(random: Random): string {
  let text = random.pick(ALL)
  for (let edits = random.integer(1, 2); edits > 0; edits--) text = edited(text, random)
  return text
}

function edited(text: string, random: Random): string {
  const edit = random.integer(0, 19)
  if (edit === 0) return text.replace(/version=\d/, `version=${random.integer(4, 6)}`)
  if (edit <= 4) return withLines(text, edit, random)
  const parts = partsOf(text)
  const places = parts.flatMap((part, i) => (i > 5 && ATOM.test(part) ? [i] : []))
  const at = random.pick(places)
  const word = parts[at] ?? ''
  if (edit === 5) parts.splice(at, 1)
  else if (edit <= 8) parts[at] = misspelt(word, random)
  else if (edit <= 11) parts.splice(at + 1, 0, ` ${random.pick(OPERATORS)} ${random.pick(ATOMS)}`)
  else if (edit === 12) parts.splice(at + 1, 0, random.pick(['[1]', '(close)', '.x', ', 1', ':=']))
  else parts[at] = random.pick(random.chance(0.5) ? ATOMS : parts.filter((part) => ATOM.test(part)))
  return parts.join('')
}

function withLines(text: string, edit: number, random: Random): string {
  const lines = text.split('\n')
  const at = random.integer(1, lines.length - 2)
  if (edit === 1) lines.splice(at, 1)
  else if (edit === 2) lines.splice(at, 0, lines[at] ?? '')
  else lines.splice(at + 1, 0, random.pick(edit === 3 ? lines.slice(2) : LINES))
  return lines.join('\n')
}

function misspelt(word: string, random: Random): string {
  const at = random.integer(0, Math.max(0, word.length - 2))
  return word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2)
}
