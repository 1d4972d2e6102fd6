// What built-ins answer, in a script's own words: an expression, and what str.tostring() shows of it on the last bar.
//
// Five hourly bars from 9:30 in New York on Monday, 8 January 2024, closing at 10, 11, 12, 13, 14.

import { describe, expect, test } from 'bun:test'

import { sliceBars } from '../../../src/market/bars.ts'
import { answer, barsOfCloses, runScript, SYMBOL } from './script.ts'

type Row = readonly [expression: string, expected: string, setup?: string]

function table(name: string, rows: readonly Row[], options: Parameters<typeof answer>[2] = {}): void {
  describe(name, () => {
    for (const [expression, expected, setup = ''] of rows)
      test(`${setup === '' ? '' : `${setup.replaceAll('\n', '; ')}; `}${expression}`, () => {
        expect(answer(expression, setup, options)).toBe(expected)
      })
  })
}

table('str', [
  ['str.length("abc")', '3'],
  ['str.contains("abc", "b")', 'true'],
  ['str.startswith("abc", "b")', 'false'],
  ['str.endswith("abc", "bc")', 'true'],
  ['str.pos("NASDAQ:AAPL", ":")', '6'],
  ['str.pos("a", "b")', 'NaN'],
  ['str.substring("NASDAQ:AAPL", 7)', 'AAPL'],
  ['str.substring("NASDAQ:AAPL", 0, 6)', 'NASDAQ'],
  ['str.lower("AbC")', 'abc'],
  ['str.upper("AbC")', 'ABC'],
  ['str.trim("  a b ")', 'a b'],
  ['str.repeat("?", 3, ",")', '?,?,?'],
  ['na(str.repeat("?", 0))', 'true'],
  ['str.replace("FTX:BTCUSD / FTX:BTCEUR", "FTX", "BINANCE", 1)', 'FTX:BTCUSD / BINANCE:BTCEUR'],
  ['str.replace("aaa", "a", "b")', 'baa'],
  ['str.replace_all("a.b.c", ".", "")', 'abc'],
  ['str.split("a,b,c", ",")', '[a, b, c]'],
  ['str.tonumber("12.5e1")', '125'],
  ['str.tonumber("12a")', 'NaN'],
  ['str.match("It\'s time to sell some NASDAQ:SPY!", "[\\\\w]+:[\\\\w]+")', 'NASDAQ:SPY'],
  ['str.match("abc", "x*y")', ''],
  ['str.tostring(3.99, "#")', '4'],
  ['str.tostring(2.5, "#")', '3'],
  ['str.tostring(2.675, "#.##")', '2.68'],
  ['str.tostring(1.005, "#.##")', '1.01'],
  ['str.tostring(-0.125, "0.00")', '-0.13'],
  ['str.tostring(0.1, "#.####################")', '0.1'],
  ['str.tostring(1e22)', '1E22'],
  ['str.tostring(12.345, format.percent)', '12.35%'],
  ['str.format("{0,number,#.##} {1,number,#.##} {2,number,#.##}", 2.675, 0.125, 0.375)', '2.67 0.12 0.38'],
  ['str.tostring(array.from(1.0, 2.5, na))', '[1, 2.5, NaN]'],
  ['str.tostring(array.from(1.0, 2.5), "#.#")', '[1, 2.5]'],
  ['str.format("{0} {1}", array.from(1.0, 2.5, na), array.from(1, 2))', '[1.0, 2.5, NaN] [1, 2]'],
  ['str.format("{0} {0,number,#.##}", array.from(1234.5678, 3))', '[1234.5678, 3.0] [1234.5678, 3.0]'],
  ['str.format("{0}", array.new<float>(0))', '[]'],
  ['str.format("{0}", a)', 'NaN', 'array<float> a = na'],
  ['str.format("{0}", f(close))', '[14.0]', 'f(float x) => array.from(x)'],
  ['str.tostring(array.from(1, 2))', '[1, 2]'],
  ['str.tostring(1.5, "000.00")', '001.50'],
  ['str.tostring(1234567.891, "#,###.#")', '1,234,567.9'],
  ['str.tostring(-1234.5, "#.00")', '-1234.50'],
  ['str.tostring(0.256, "#.#%")', '25.6%'],
  ['str.tostring(0.1 + 0.2)', '0.3'],
  ['str.tostring(123.456, format.mintick)', '123.46'],
  ['str.tostring(5, format.mintick)', '5.00'],
  ['str.tostring(123.456, format.price)', '123.46'],
  ['str.tostring(12.3456, format.percent)', '12.35%'],
  ['str.tostring(1234567, format.volume)', '1.235M'],
  ['str.tostring(999, format.volume)', '999'],
  ['str.tostring(1000, format.volume)', '1K'],
  ['str.tostring(999999, format.volume)', '999.999K'],
  ['str.tostring(-1000000, format.volume)', '-1M'],
  ['str.tostring(1e9, format.volume)', '1B'],
  ['str.tostring(1e12, format.volume)', '1T'],
  ['str.tostring(float(na))', 'NaN'],
  ['str.tostring(true)', 'true'],
  ['str.tostring(array.from(1.5, na))', '[1.5, NaN]'],
  ['str.format("{0}, {1}", 1234.56789, "x")', '1,234.568, x'],
  ['str.format("{0,number,#.#}", 1.34)', '1.3'],
  ['str.format("{0,number,currency}", 1340000.1)', '$1,340,000.10'],
  ['str.format("{0,number,percent}", 0.5)', '50%'],
  ['str.format("{0,number,integer}", 1.9)', '2'],
  ['str.format("{0,date,yyyy.MM.dd} {0,time,HH:mm}", 1704724200000)', '2024.01.08 14:30'],
  ["str.format(\"it''s '{0}' {0}\", 1)", "it's {0} 1"],
  ['str.format("{0} {1}", 1)', '1 {1}'],
  ['str.format("{0} != {0, number, #.#}", 1.34)', '1.34 !=  1.3'],
  ['str.format("{0, number, integer} of {1, number, integer}", 1.34, 1.52)', '1 of 2'],
  ['str.format("{0, number, percent} - {1, number, percent}", 0.1, 0.2)', '10% - 20%'],
  ['str.length(str.trim(string(na)))', '0'],
  ['str.format_time(1704724200000, "yyyy-MM-dd HH:mm:ss")', '2024-01-08 09:30:00'],
  ['str.format_time(1704724200000)', '2024-01-08T09:30:00-0500'],
  ['str.format_time(1704724200000, "EEEE, d MMM yy h:mm a", "UTC+1")', 'Monday, 8 Jan 24 3:30 PM'],
])

table('str with a precision', [['str.tostring(123.456, format.price)', '123.5']], {
  declaration: 'indicator("test", precision = 1)',
})

table('array', [
  ['array.new<int>(3, 7)', '[7, 7, 7]'],
  ['array.new_string(1)', '[NaN]'],
  ['a', '[1, 5, 2, 3]', 'a = array.from(1, 2, 3)\na.insert(1, 5)'],
  ['a.get(-1)', '3', 'a = array.from(1, 2, 3)'],
  ['a.get(na)', 'NaN', 'a = array.from(1, 2, 3)'],
  ['a', '[1, 2, 3]', 'a = array.from(1, 2, 3)\na.set(na, 9)'],
  ['a.pop() + a.shift()', '4', 'a = array.from(1, 2, 3)'],
  ['a', '[0, 1, 3, 4]', 'a = array.from(1, 2, 3)\na.unshift(0)\na.push(4)\na.remove(2)'],
  ['a.first() + a.last()', '4', 'a = array.from(1, 2, 3)'],
  ['a', '[1, 9, 9]', 'a = array.from(1, 2, 3)\na.fill(9, 1)'],
  ['a.concat(array.from(4))', '[1, 2, 3, 4]', 'a = array.from(1, 2, 3)'],
  ['a', '[1, 9, 3]', 'a = array.from(1, 2, 3)\nb = a.slice(1, 3)\nb.set(0, 9)'],
  ['a', '[1, 2, 3, 7, 4]', 'a = array.from(1, 2, 3, 4)\nb = a.slice(0, 3)\nb.push(7)'],
  ['b', '[2, 3, 8]', 'a = array.from(1, 2, 3)\nb = a.slice(1, 3)\nb.push(8)\na.set(0, 0)'],
  ['a', '[1, 2, 3]', 'a = array.from(1, 2, 3)\nb = a.copy()\nb.set(0, 9)'],
  ['a', '[3, 2, 1]', 'a = array.from(1, 2, 3)\na.reverse()'],
  ['a.includes(2)', 'true', 'a = array.from(1, 2, 3)'],
  ['a.indexof(1) * 10 + a.lastindexof(1)', '2', 'a = array.from(1, 2, 1)'],
  ['a.join("-")', '1-2.5-NaN', 'a = array.from(1, 2.5, na)'],
  ['array.from(true, false).every()', 'false'],
  ['array.new<bool>().every()', 'false'],
  ['timestamp("2025") == timestamp("2025-01-01")', 'true'],
  ['timestamp("Jun 2025") == timestamp("2025-06-01")', 'true'],
  ['timestamp("27 MAY 24 10:00 +0000") == timestamp("2024-05-27 10:00")', 'true'],
  ['timestamp("1 Jan 50") == timestamp("1950-01-01")', 'true'],
  ['timestamp("1\u00a0Jan\u00a02020") == timestamp("2020-01-01")', 'true'],
  ['timestamp("2025-6") == timestamp("2025-06-01")', 'true'],
  ['array.from(true, false).some()', 'true'],
  ['a', '[5, 1, -2]', 'a = array.from(5, -2, 1)\na.sort(order.descending)'],
  [
    'a.get(0).score',
    '1',
    'type P\n    string name\n    float score\na = array.from(P.new("x", 3), P.new("y", 1))\na.sort(order.ascending, "score")',
  ],
  ['a', '[a, b, c]', 'a = array.from("c", "a", "b")\na.sort()'],
  ['array.from(5, -2, 0, 9, 1).sort_indices()', '[1, 2, 4, 0, 3]'],
  // Sorted down, equal elements come last index first.
  ['array.from(3, 1, 3, 1).sort_indices(order.descending)', '[2, 0, 3, 1]'],
  ['array.from(3, 1, 3, 1).sort_indices(order.ascending)', '[1, 3, 0, 2]'],
  // Numbers within 1e-10 of each other are the same to a search.
  ['a.includes(1.00000000001)', 'true', 'a = array.from(1.0, 2.0)'],
  ['a.includes(1.000000001)', 'false', 'a = array.from(1.0, 2.0)'],
  ['a.indexof(2 + 5e-11)', '1', 'a = array.from(1.0, 2.0, 2.0)'],
  ['a.lastindexof(2 - 5e-11)', '2', 'a = array.from(1.0, 2.0, 2.0)'],
  ['a.indexof("b")', '1', 'a = array.from("a", "b")'],
  ['array.from(-2, 0, 1, 5, 9).binary_search(0)', '1'],
  ['array.from(-2, 0, 1, 5, 9).binary_search(3)', '-1'],
  ['array.from(5, 5, 5).binary_search(5)', '1'],
  ['array.from(-2, 0, 1).binary_search_leftmost(-3)', '0'],
  ['array.from(-2, 0, 1).binary_search_rightmost(3)', '3'],
  ['array.from(-2, 0, 1, 5, 9).binary_search_leftmost(3)', '2'],
  ['array.from(-2, 0, 1, 5, 9).binary_search_rightmost(3)', '3'],
  ['array.from(4, 5, 5, 5).binary_search_leftmost(5)', '1'],
  ['array.from(4, 5, 5, 5).binary_search_rightmost(5)', '3'],
  ['array.from(-5, 0, 5).abs()', '[5, 0, 5]'],
  ['array.from(1.0, na, 2).avg()', '1.5'],
  ['array.from(1.0, na, 2).sum()', '3'],
  ['array.from(5, -2, 9).max(1)', '5'],
  ['array.from(5, -2, 9).min()', '-2'],
  ['array.from(5, -2, 9).range()', '11'],
  ['array.from(5, -2, 9, 1).median()', '3'],
  ['array.from(1, 3, 3, 2, 2).mode()', '2'],
  ['array.from(1, 2, 3, 4).variance()', '1.25'],
  ['array.from(1, 2, 3, 4).variance(false)', '1.6666666667'],
  ['array.from(2, 4, 4, 4, 5, 5, 7, 9).stdev()', '2'],
  ['array.from(1, 2, 3).covariance(array.from(2, 4, 6))', '1.3333333333'],
  ['array.from(1.0, 2, 3).standardize()', '[-1.2247448714, 0, 1.2247448714]'],
  ['array.from(3, 3).standardize()', '[1, 1]'],
  ['array.from(1, 2, 3).standardize()', '[-1.2247448714, 0, 1.2247448714]'],
  ['array.from(1, 2, 9).max(int(na))', '9'],
  ['array.from(1, 2, 9).percentrank(int(na))', '0'],
  ['array.from(7).percentrank(0)', 'NaN'],
  ['array.from(1.0, 2, 9).percentile_nearest_rank(float(na))', '1'],
  ['a.size()', '3', 'a = array.from(1, 2)\na.insert(int(na), 3)'],
  ['a.get(2)', '3', 'a = array.from(1, 2)\na.insert(int(na), 3)'],
  ['na(a.get(0))', 'true', 'a = array.from("b", string(na))\na.sort()'],
  ['m.get(int(na), 0)', 'NaN', 'm = matrix.new<float>(1, 1, 5)'],
  ['m.get(0, 0)', '5', 'm = matrix.new<float>(1, 1, 5)\nm.set(0, int(na), 6)'],
  ['array.from(1, 2, 3, 4, 5).percentile_linear_interpolation(50)', '3'],
  ['array.from(15, 20, 35, 40, 50).percentile_nearest_rank(30)', '20'],
  ['array.from(1, 2, 3, 4, 5).percentrank(2)', '50'],
  ['array.new<float>().avg()', 'NaN'],
  ['a.size()', '0', 'a = array.from(1, 2)\na.clear()'],
])

table('map', [
  ['m.get("a") + m.size()', '3', 'm = map.new<string, int>()\nm.put("a", 1)\nm.put("b", 2)'],
  ['m.get("x")', 'NaN', 'm = map.new<string, float>()'],
  ['m.put("a", 2)', '1', 'm = map.new<string, int>()\nm.put("a", 1)'],
  ['m.remove("a")', '1', 'm = map.new<string, int>()\nm.put("a", 1)'],
  ['m.contains("b")', 'false', 'm = map.new<string, int>()\nm.put("a", 1)'],
  ['m.keys()', '[b, a]', 'm = map.new<string, int>()\nm.put("b", 1)\nm.put("a", 2)\nm.put("b", 3)'],
  ['m.values()', '[3, 2]', 'm = map.new<string, int>()\nm.put("b", 1)\nm.put("a", 2)\nm.put("b", 3)'],
  ['n.size()', '0', 'm = map.new<int, string>()\nm.put(1, "x")\nn = m.copy()\nn.clear()\nm.put_all(n)'],
])

const TWO = 'm = matrix.new<float>(2, 2, 0)\nm.set(0, 0, 4)\nm.set(0, 1, 7)\nm.set(1, 0, 2)\nm.set(1, 1, 6)'

table('matrix', [
  ['m', '[4, 7]\n[2, 6]', TWO],
  ['m.det()', '10', TWO],
  ['m.inv()', '[0.6, -0.7]\n[-0.2, 0.4]', TWO],
  ['m.transpose()', '[4, 2]\n[7, 6]', TWO],
  ['m.mult(m.inv())', '[1, 0]\n[0, 1]', TWO],
  ['m.mult(array.from(1.0, 2))', '[18, 14]', TWO],
  ['m.mult(2)', '[8, 14]\n[4, 12]', TWO],
  ['m.sum(m)', '[8, 14]\n[4, 12]', TWO],
  ['m.diff(1)', '[3, 6]\n[1, 5]', TWO],
  ['m.pow(2)', '[30, 70]\n[20, 50]', TWO],
  ['m.rank() + m.trace()', '12', TWO],
  ['m.row(1)', '[2, 6]', TWO],
  ['m.col(1)', '[7, 6]', TWO],
  ['m', '[4, 7]\n[1, 1]\n[2, 6]', `${TWO}\nm.add_row(1, array.from(1.0, 1))`],
  ['m', '[4, 7, 1]\n[2, 6, 1]', `${TWO}\nm.add_col(2, array.from(1.0, 1))`],
  ['m.remove_row(0)', '[4, 7]', TWO],
  ['m.remove_col()', '[7, 6]', TWO],
  ['m', '[2, 6]\n[4, 7]', `${TWO}\nm.sort()`],
  ['m', '[6, 2]\n[7, 4]', `${TWO}\nm.reverse()`],
  ['m', '[7, 4]\n[6, 2]', `${TWO}\nm.swap_columns(0, 1)`],
  ['m', '[2, 6]\n[4, 7]', `${TWO}\nm.swap_rows(0, 1)`],
  ['m', '[4, 7, 2, 6]', `${TWO}\nm.reshape(1, 4)`],
  ['m.submatrix(0, 2, 1, 2)', '[7]\n[6]', TWO],
  ['m.kron(matrix.new<float>(1, 2, 1))', '[4, 4, 7, 7]\n[2, 2, 6, 6]', TWO],
  ['m.concat(m.copy())', '[4, 7]\n[2, 6]\n[4, 7]\n[2, 6]', TWO],
  ['m.avg() + m.max() + m.min() + m.median()', '18.75', TWO],
  ['m.is_square()', 'true', TWO],
  ['m.is_symmetric()', 'false', TWO],
  ['m.is_zero()', 'false', TWO],
  ['m.elements_count()', '4', TWO],
  ['s.eigenvalues()', '[3, 1]', 's = matrix.new<float>(2, 2, 2)\ns.set(0, 1, 1)\ns.set(1, 0, 1)'],
])

table('color', [
  ['color.r(color.red) * 1000000 + color.g(color.red) * 1000 + color.b(color.red)', '242054069'],
  ['color.t(color.new(color.red, 70))', '70'],
  ['color.b(color.rgb(1, 2, 300))', '255'],
  ['color.r(color.from_gradient(5, 0, 10, #000000, #ffffff))', '128'],
  ['color.r(color.from_gradient(50, 0, 10, #000000, #ffffff))', '255'],
  ['na(color.from_gradient(na, 0, 10, #000000, #ffffff))', 'true'],
])
table(
  'color before v6',
  [
    ['color.r(color.red)', '255'],
    ['color.g(color.teal)', '137'],
  ],
  { version: 5 },
)

table('time', [
  ['hour', '13'],
  ['hour(time, "Asia/Kolkata")', '0'],
  ['hour(time, "UTC-5:30")', '13'],
  ['dayofweek', '2'],
  ['weekofyear', '2'],
  ['dayofmonth(timestamp("2024-02-29"), "UTC")', '29'],
  ['minute', '30'],
  ['time("D") == timestamp(2024, 1, 8, 9, 30)', 'true'],
  ['time_close("D") == timestamp(2024, 1, 8, 16, 0)', 'true'],
  ['time("W") == timestamp(2024, 1, 8, 9, 30)', 'true'],
  ['na(time(timeframe.period, "0930-1200"))', 'true'],
  ['na(time(timeframe.period, "0930-1200,1330-1600"))', 'false'],
  ['na(time(timeframe.period, "0930-1600:7"))', 'true'],
  ['na(time(timeframe.period, "1800-1900", "UTC"))', 'false'],
  ['time("60", 1) == time[1]', 'true'],
  ['time("D", "", 0, 1) == timestamp(2024, 1, 5, 9, 30)', 'true'],
  ['time_tradingday == timestamp("UTC", 2024, 1, 8)', 'true'],
  ['timestamp("2020-02-20T15:30+02:00")', '1582205400000'],
  ['timestamp("20 Feb 2020 15:30 GMT+0200")', '1582205400000'],
  ['timestamp("GMT+6", 2016, 1, 19, 9, 30)', '1453174200000'],
  ['timestamp(2024, 13, 1) == timestamp(2025, 1, 1)', 'true'],
  ['timestamp("America/New_York", 2024, 3, 10, 2, 30) == timestamp("UTC", 2024, 3, 10, 7, 30)', 'true'],
  ['last_bar_time == time', 'true'],
  ['timenow - time', '3600000'],
])

table('timeframe', [
  ['timeframe.period', '60'],
  ['timeframe.multiplier', '60'],
  ['timeframe.isintraday and timeframe.isminutes and not timeframe.isdwm', 'true'],
  ['timeframe.in_seconds("1D")', '86400'],
  ['timeframe.in_seconds()', '3600'],
  ['timeframe.from_seconds(3600)', '60'],
  ['timeframe.from_seconds(7)', '10S'],
  ['timeframe.from_seconds(0)', '1S'],
  ['timeframe.from_seconds(86400 * 7)', '1W'],
  ['timeframe.from_seconds(86400 * 7 - 1)', '7D'],
  ['timeframe.from_seconds(86400)', '1D'],
  ['timeframe.from_seconds(86400 * 400)', '12M'],
  ['timeframe.in_seconds("2M")', '5256006'],
  ['timeframe.in_seconds("10080")', '604800'],
  ['str.length(syminfo.isin)', '0'],
  // 15 October 1582 came the day after 4 October; before it dates are Julian.
  ['timestamp("UTC", 1582, 10, 15) - timestamp("UTC", 1582, 10, 4)', '86400000'],
  [
    'year(t, "UTC") * 10000 + month(t, "UTC") * 100 + dayofmonth(t, "UTC")',
    '15000229',
    't = timestamp("UTC", 1500, 2, 29)',
  ],
  ['timestamp("UTC", 1500, 3, 1) - timestamp("UTC", 1500, 2, 28)', '172800000'],
  ...[
    '2020-02-20 09:05 GMT+3',
    'GMT+3 2020-02-20 09:05',
    '2020-02-20 GMT+3 09:05',
    '2020-02-20:09:05 GMT+3',
    '2020-02-20T9:5 GMT+3',
    '20Feb2020 9:5 GMT+3',
    'Feb 20,2020 9:05 GMT+3',
    'Feb20, 2020 9:05 am GMT+3',
    '02/20/2020 9:05 GMT+03:00',
    'UTC+3, 20 Feb 2020 9:5:0',
  ].map((text): Row => [`timestamp("${text}")`, '1582178700000']),
])
table(
  'timeframe of daily bars',
  [
    ['timeframe.period', '1D'],
    ['timeframe.isdaily', 'true'],
    ['dayofmonth', '12'],
    ['hour', '9'],
  ],
  { interval: '1d', bars: barsOfCloses([1, 2, 3, 4, 5], Date.UTC(2024, 0, 8), 86_400_000) },
)
table('timeframe before v6', [['timeframe.period', 'D']], {
  version: 5,
  interval: '1d',
  bars: barsOfCloses([1, 2], Date.UTC(2024, 0, 8), 86_400_000),
})

table('syminfo and ticker', [
  ['syminfo.tickerid', 'NASDAQ:AAPL'],
  ['syminfo.prefix + syminfo.ticker', 'NASDAQAAPL'],
  ['syminfo.prefix("BATS:MSFT")', 'BATS'],
  ['syminfo.ticker(ticker.heikinashi("BATS:MSFT"))', 'MSFT'],
  ['syminfo.mintick', '0.01'],
  ['na(syminfo.employees)', 'true'],
  ['ticker.new("NASDAQ", "AAPL")', 'NASDAQ:AAPL'],
  ['ticker.standard(ticker.renko("BATS:MSFT", "ATR", 14))', 'BATS:MSFT'],
  ['ticker.inherit("NASDAQ:AAPL", "BATS:MSFT")', 'BATS:MSFT'],
])
table('syminfo of futures', [['syminfo.root', 'ES']], {
  symbol: { ...SYMBOL, symbol: 'ES1!', type: 'futures' },
})

table('barstate and session', [
  // A time zone where the session belongs: an often copied slip, which leaves the symbol's session.
  ['time("D", "America/New_York") == time("D")', 'true'],
  ['barstate.isconfirmed and barstate.ishistory and not barstate.isrealtime', 'true'],
  ['session.ismarket', 'true'],
  ['chart.is_standard', 'true'],
])

table('quotients of ints go where ints go', [
  ['array.new<int>(math.max(1, n / 2)).size()', '4', 'n = 9'],
  ['mean', '13.5', 'half = bar_index / 2\nmean = ta.sma(close, math.max(2, half))'],
  ['k', '2', 'int k = math.min(5, nz(bar_index / 2))'],
  ['math.max(1, bar_index / 8)', '1'],
  ['math.min(1, bar_index / 8)', '0.5'],
])

table('a variable stays simple where nothing that is written to it changes from bar to bar', [
  [
    'mean',
    '13',
    'l = 2\nif syminfo.type == "stock" and not timeframe.isdaily\n    l := l + 1\nmean = ta.ema(close, l)',
  ],
  [
    'mean',
    '13',
    'f(simple int n) =>\n    m = 1\n    switch n\n        7 => m := 3\n        => m := 9\n    m\nmean = ta.ema(close, f(7))',
  ],
])

table('drawings', [
  ['line.get_price(l, 5)', '15', 'l = line.new(0, 10, 1, 11)'],
  ['line.get_y2(l)', '7', 'l = line.new(0, 10, 1, 11)\nl.set_xy2(2, 7)'],
  ['label.get_text(l)', 'b', 'var l = label.new(0, 10, "a")\nl.set_text("b")'],
  ['box.get_right(b)', '9', 'b = box.new(0, 10, 1, 11)\nb.set_rightbottom(9, 1)'],
  ['label.all.size()', '5', 'label.new(bar_index, close)'],
  ['label.all.size()', '2', 'l = label.new(bar_index, close)\nif bar_index > 1\n    label.delete(l)'],
  ['line.get_x1(l)', '3', 'l = line.new(chart.point.from_index(3, 1), chart.point.now())'],
  ['na(line.get_x1(l))', 'true', 'line l = na\nl.set_x1(3)'],
  // A cell at na is none; published gauges write one until their averages are known.
  ['bar_index', '4', 'var t = table.new(position.top_left, 2, 2)\nt.cell(0, math.round(close[9]), "x")'],
  [
    'linefill.all.size()',
    '1',
    'var a = line.new(0, 1, 2, 3)\nvar b = line.new(0, 2, 2, 4)\nlinefill.new(a, b, color.red)',
  ],
])

describe('mistakes', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['array.get(array.from(1), 1)', 'Index 1 is out of bounds, array size is 1 (RE10045).'],
    ['array.new<int>().pop()', "Cannot call 'array.pop()' because the array is empty"],
    ['array.new<int>(-1).size()', "'size' must be 0 or more"],
    ['hour(time, "Mars/Base")', "Unknown time zone 'Mars/Base'"],
    ['time("D", "9 to 5")', "Cannot read the session '9 to 5'"],
    ['str.format("{0", 1)', "a '{' has no '}'"],
    ['str.match("a", "(a")', "a ')' is missing"],
    ['matrix.det(matrix.new<float>(1, 2, 0))', 'needs as many rows as columns'],
    [
      'line.get_price(line.new(time, 1, time, 2, xloc = xloc.bar_time), 1)',
      'needs a line with xloc.bar_index',
    ],
    ['matrix.get(matrix.new<float>(1, 2, 0), 1, 0)', 'The row index 1 is out of bounds'],
  ]
  for (const [expression, message] of rows)
    test(`${expression} says: ${message}`, () => {
      expect(() => answer(expression)).toThrow(message)
    })

  test('a collection that grows past its limit says what to do', () => {
    expect(() => runScript('var a = array.new<int>()\nfor i = 1 to 100001\n    a.push(i)')).toThrow(
      'Remove old elements with array.shift()',
    )
    expect(() => answer('str.length(str.repeat("abc", 20000))')).toThrow('more than the limit of 40960')
  })

  test('a regular expression that would take a backtracking matcher for ever is quick', () => {
    expect(answer('str.match(str.repeat("a", 30000) + "!", "(a+)+$")')).toBe('')
  })

  test('runtime.error ends the run with its message', () => {
    expect(() => runScript('if bar_index == 2\n    runtime.error("enough")')).toThrow('enough')
  })
})

test('the first bar of the data is the first of its day only where it opens the session', () => {
  const firstBars = (from: number) => {
    const bars = sliceBars(barsOfCloses(Array.from({ length: 30 }, (_, i) => i)), from, 30)
    return runScript('plot(session.isfirstbar ? 1 : 0, "first")', { bars }).plots['first']?.slice(0, 3)
  }
  expect(firstBars(0)).toEqual([1, 0, 0])
  expect(firstBars(2)).toEqual([0, 0, 0])
})

test('the last bar of a day and the first of the next are known', () => {
  const bars = barsOfCloses(Array.from({ length: 30 }, (_, i) => i))
  const { plots } = runScript(
    'plot(session.isfirstbar ? 1 : 0, "first")\nplot(session.ismarket ? 1 : 0, "market")\nplot(timeframe.change("D") ? 1 : 0, "day")',
    { bars },
  )
  expect(plots['first']?.indexOf(1, 1)).toBe(15)
  expect(plots['market']?.slice(0, 9)).toEqual([1, 1, 1, 1, 1, 1, 1, 0, 0])
  expect(plots['day']).toEqual(plots['first']?.map((value, i) => (i === 0 ? 0 : value)))
})

test('inside request.security() the main symbol and timeframe are those of the script', () => {
  const told =
    'request.security(syminfo.tickerid, "1D", timeframe.main_period + " " + timeframe.period, lookahead = barmerge.lookahead_on)'
  expect(answer(told)).toBe('60 1D')
})

describe('regular expressions that would cost too much', () => {
  for (const pattern of [
    '"(((){5000}){5000}){5000}"',
    'str.repeat("(", 30000)',
    'str.repeat("[", 30000)',
    '"a{9999}"',
  ])
    test(`${pattern} is refused`, () => {
      expect(() => answer(`str.match("a", ${pattern})`)).toThrow('Cannot use the regular expression')
    })
})
