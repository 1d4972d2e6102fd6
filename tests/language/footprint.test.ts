// request.footprint(): what was bought and sold, of bars that know it.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { advance } from '../../src/broker/advance.ts'
import { runBacktest } from '../../src/broker/run.ts'
import type { Bars } from '../../src/market/bars.ts'
import type { RunEnvironment } from '../../src/language/environment.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { advanceDifference, incrementalDifference, scriptRequest } from '../../src/tools/incremental.ts'
import { barsOf, plotted, runScript, SYMBOL } from './run-script.ts'

// A busy machine takes its time over runs that begin again and again.
setDefaultTimeout(300_000)

const NA = Number.NaN
const BOUGHT = [4, 10, 0, NA, 2.5, 7]

function sided(bought: readonly number[], volume = 10): Bars {
  const bars = barsOf(bought.map((_, i) => 100 + i))
  bars.volume.fill(volume)
  return { ...bars, bought: Float64Array.from(bought) }
}

/** The values of an expression, where `f` is the footprint. */
function values(expression: string, bars = sided(BOUGHT), more: Partial<RunEnvironment> = {}) {
  const source = `//@version=6\nindicator("x")\nf = request.footprint(1)\nplot(${expression})\n`
  return plotted(runScript(source, bars, more))
}

describe('of bars that know what was bought, the footprint has', () => {
  test.each([
    ['f.buy_volume()', BOUGHT],
    ['footprint.sell_volume(f)', [6, 0, 10, NA, 7.5, 3]],
    ['f.total_volume()', [10, 10, 10, NA, 10, 10]],
    ['f.delta()', [-2, 10, -10, NA, -5, 4]],
    ['na(f) ? 1 : 0', [0, 0, 0, 1, 0, 0]],
    ['na(f.poc()) and na(f.rows()) ? 1 : 0', [1, 1, 1, 1, 1, 1]],
    ['f[1].delta()', [NA, -2, 10, -10, NA, -5]],
    // Bars of thirty minutes, each from two of the chart's; one of which nobody knows is one too many.
    [
      'request.security(syminfo.tickerid, "30", footprint.buy_volume(request.footprint(1)))',
      [NA, 14, 14, NA, NA, 9.5],
    ],
    ['request.security(syminfo.tickerid, timeframe.period, f.delta())', [-2, 10, -10, NA, -5, 4]],
    [
      'request.security(ticker.heikinashi(syminfo.tickerid), timeframe.period, f.delta())',
      [-2, 10, -10, NA, -5, 4],
    ],
  ])('%s', (expression, expected) => {
    expect(values(expression)).toEqual(expected)
  })

  test('nothing of a bar of many coarser ones that was not known', () => {
    // More coarser bars than there is room for at first.
    const bought = Array.from({ length: 200 }, (_, i) => (i % 20 === 3 ? NA : i % 5))
    const got = values('request.security(syminfo.tickerid, "30", f.buy_volume())', sided(bought))
    for (let i = 1; i < 200; i += 2) expect(got[i]).toBe(bought[i - 1]! + bought[i]!)
  })
})

test('bars that do not know are na, and the run says so once', () => {
  const { bought: _bought, ...bars } = sided(BOUGHT)
  const source = '//@version=6\nindicator("x")\nplot(request.footprint(1).delta())\n'
  const run = runScript(source, bars)
  expect(plotted(run)).toEqual(BOUGHT.map(() => NA))
  expect(run.warnings.map(({ code }) => code)).toEqual(['no-sides'])
  expect(runScript(source, sided(BOUGHT)).warnings).toEqual([])
})

test('shorter bars that do not know are what the script has to be ready for', () => {
  const { bought: _bought, ...short } = sided(BOUGHT)
  const source =
    '//@version=6\nindicator("x")\nparts = request.security_lower_tf(syminfo.tickerid, "5", footprint.delta(request.footprint(1)))\nplot(parts.size())\n'
  const run = runScript(source, short, {
    series: (_e, _s, interval) => ({ bars: short, symbol: SYMBOL, interval }),
  })
  expect(run.warnings).toEqual([])
})

const REQUEST = { ...scriptRequest('', 300, 5) }
const KNOWING = {
  ...REQUEST.bars,
  bought: Float64Array.from(REQUEST.bars.volume, (volume, i) => (i % 11 === 4 ? NA : (volume * (i % 4)) / 4)),
}

test('a run that was kept and goes on has the footprints that it had', () => {
  const source = `//@version=6
strategy("x")
var footprint best = na
var footprint[] all = array.new<footprint>()
f = request.footprint(10)
if not na(f)
    all.push(f)
    if na(best) or f.delta() > best.delta()
        best := f
if all.size() > 12
    all.shift()
if f.delta() > 0 and not na(f[2])
    strategy.entry("L", strategy.long)
if f.delta() < 0
    strategy.close("L")
plot(best.delta() + all.first().buy_volume() + nz(f[3].delta()))`
  const request = { ...REQUEST, source, bars: KNOWING }
  expect(runBacktest(request).report.trades.length).toBeGreaterThan(10)
  for (let seed = 1; seed <= 5; seed++) {
    expect(incrementalDifference(request, seededRandom(seed).uniform)).toBeNull()
    expect(advanceDifference(request, seededRandom(seed).uniform)).toBeNull()
  }
})

const ASKS = '//@version=6\nindicator("x")\nplot(request.footprint(1).delta())\n'

test('what was kept of other sides is not gone on from', () => {
  const request = { ...REQUEST, source: ASKS, bars: KNOWING }
  const { kept } = advance(request, null, 200)
  expect(kept).not.toBeNull()
  const other = { ...KNOWING, bought: KNOWING.bought.map((value) => value / 2) }
  const again = advance({ ...request, bars: other }, kept, 201)
  const fresh = advance({ ...request, bars: other }, null, 201)
  expect([...again.plots[0]![1]]).toEqual([...fresh.plots[0]![1]])
})

test('the hash of a run moves with the sides if the script asks for them, and only then', () => {
  const hashOf = (source: string, bars: Bars) => runBacktest({ ...REQUEST, source, bars }).report.hash
  const nobody = { ...KNOWING, bought: KNOWING.bought.map(() => NA) }
  const other = { ...KNOWING, bought: KNOWING.bought.map((value) => value / 2) }
  const asked = [REQUEST.bars, KNOWING, other].map((bars) => hashOf(ASKS, bars))
  expect(new Set(asked).size).toBe(3)
  expect(hashOf(ASKS, nobody)).toBe(asked[0]!)
  const plain = '//@version=6\nindicator("x")\nplot(close)\n'
  expect(new Set([REQUEST.bars, KNOWING, other].map((bars) => hashOf(plain, bars))).size).toBe(1)
})

test('within a bar that is being made nobody knows yet what was bought', () => {
  const source =
    '//@version=6\nstrategy("x", calc_on_every_history_tick = true)\nlog.info(str.tostring(request.footprint(1).buy_volume()))\n'
  const { report } = runBacktest({ ...REQUEST, source, bars: sided([4, 10]) })
  // The fourth tick is the bar's close.
  const said = ['NaN', 'NaN', 'NaN', '4', 'NaN', 'NaN', 'NaN', '10']
  expect(report.logs.map(({ message }) => message)).toEqual(said)
})
