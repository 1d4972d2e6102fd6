// Scripts of the kinds that once cost the most a bar, for the engine's bench: each does one thing on every bar, and nearly
// nothing else, so that its row moves when that thing does.

const strategy = (body: string, more = '') => `//@version=6
strategy("Kind", overlay = true, initial_capital = 1000000${more})
${body}`

const indicator = (body: string) => `//@version=6
indicator("Kind", overlay = true)
${body}`

/** Enters and leaves by turns, so that trades come up for others to read: one in 40 bars. */
const TURNS = `if bar_index % 40 == 10
    strategy.entry("L", strategy.long)
if bar_index % 40 == 30
    strategy.close("L")
`

export const SLOW_KINDS: Readonly<Record<string, string>> = {
  'an entry stop placed again on every bar': strategy(`strategy.entry("L", strategy.long, stop = high * 1.5)
`),
  'an exit stop placed again on every bar': strategy(`if bar_index % 200 == 0
    strategy.entry("L", strategy.long)
strategy.exit("X", "L", stop = low * 0.9, limit = high * 1.1)
`),
  'closedtrades.* of the last ten': strategy(`${TURNS}float sum = 0
int last = strategy.closedtrades - 1
for i = math.max(0, last - 9) to math.max(0, last)
    sum += nz(strategy.closedtrades.profit(i)) + nz(strategy.closedtrades.entry_price(i))
plot(sum)
`),
  'closedtrades.* excursions': strategy(`${TURNS}int last = strategy.closedtrades - 1
plot(strategy.closedtrades.max_runup(last) - strategy.closedtrades.max_drawdown(last))
`),
  'matrix.transpose, 8 by 5': indicator(`var m = matrix.new<float>(8, 5, 0.0)
m.set(bar_index % 8, bar_index % 5, close)
t = matrix.transpose(m)
plot(t.get(2, 3))
`),
  'matrix.eigenvectors, 4 by 4': indicator(`var m = matrix.new<float>(4, 4, 1.0)
for i = 0 to 3
    for j = i to 3
        v = (i + 1) * close - (j + 1) * open[i]
        m.set(i, j, nz(v))
        m.set(j, i, nz(v))
e = m.eigenvectors()
plot(e.get(0, 0))
`),
  'array.median of the last 50': indicator(`var a = array.new<float>()
a.push(close)
if a.size() > 50
    a.shift()
plot(a.median())
`),
  'zones in arrays': indicator(`type Zone
    float top
    float bottom
    int from
    bool broken
var zones = array.new<Zone>()
if bar_index % 7 == 0
    zones.push(Zone.new(high, low, bar_index, false))
if zones.size() > 40
    zones.shift()
int inside = 0
for zone in zones
    if not zone.broken
        if close > zone.top * 1.01 or close < zone.bottom * 0.99
            zone.broken := true
        else if close < zone.top and close > zone.bottom
            inside += 1
for i = zones.size() - 1 to 0
    if i >= 0 and i < zones.size()
        z = zones.get(i)
        if z.broken and bar_index - z.from > 100
            zones.remove(i)
plot(inside)
`),
  ...Object.fromEntries(
    [
      'linreg(close, 200, 0)',
      'wma(close, 200)',
      'hma(close, 200)',
      'cog(close, 200)',
      'cci(close, 200)',
      'dev(close, 200)',
      'alma(close, 200, 0.85, 6)',
      'rci(close, 200)',
      'percentrank(close, 200)',
    ].map((call) => [`ta.${call}`, indicator(`plot(ta.${call})\n`)]),
  ),
}
