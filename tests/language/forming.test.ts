// The forming bar: a snapshot before it, then run again on each tick with other prices, gives what a run on the bars as
// they are by then gives. Also for what requests read and for objects that are reached through the past.

import { describe, expect, test } from 'bun:test'
import { array, assert as assertAll, integer, property, tuple } from 'fast-check'
import { sliceBars } from '../../src/market/bars.ts'
import { barsOf, open, plotted, runScript, walk } from './run-script.ts'
import { rounds } from '../long.ts'

const SCRIPT = `//@version=6
indicator("x")
renko = ticker.renko(syminfo.tickerid, "Traditional", 1)
kagi = ticker.kagi(syminfo.tickerid, 2)
ha = ticker.heikinashi(syminfo.tickerid)
plot(request.security("", "60", ta.ema(close, 3)))
plot(request.security("", "60", high - low, lookahead = barmerge.lookahead_on))
plot(request.security("", "", ta.rma(close, 5)))
plot(request.security(ha, "30", ta.sma(open, 2), lookahead = barmerge.lookahead_on))
plot(request.security(renko, "", close * 1000 + bar_index))
plot(request.security(renko, "60", ta.sma(close, 2)))
plot(request.security(kagi, "", close))
inner() => request.security("", "60", close + ta.cum(1))
plot(request.security("", "30", inner()))
type Mark
    float price
    int count = 0
var Mark mark = Mark.new(close)
if close > mark.price
    mark := Mark.new(close)
past = mark[3]
if not na(past)
    past.count += 1
plot(mark.count)
f() =>
    m = Mark.new(close)
    old = m[2]
    if not na(old)
        old.price += 1
    m[1]
if bar_index % 2 == 0
    g = f()
plot(na(past) ? 0 : past.price * 10 + past.count)
`

/** What the last bar shows. */
function shown(run: ReturnType<typeof open>): number[] {
  return run.plots.map((_, plot) => plotted(run, plot).at(-1) ?? Number.NaN)
}

describe('a forming bar that changes in place', () => {
  for (const [name, known] of [
    ['and comes when the bars before it are run', false],
    ['and is there from the start', true],
  ] as const)
    test(name, () => {
      const seed = Date.now()
      console.log(`forming seed ${seed}`)
      assertAll(
        property(
          integer({ min: 1, max: 1e6 }),
          array(tuple(integer({ min: 1, max: 5 }), array(integer({ min: -4, max: 4 }), { maxLength: 3 })), {
            minLength: 1,
            maxLength: 12,
          }),
          (walkSeed, steps) => {
            const bars = barsOf(walk(60, walkSeed))
            const live = {
              ...bars,
              close: bars.close.slice(),
              high: bars.high.slice(),
              low: bars.low.slice(),
              length: 0,
            }
            const run = open(SCRIPT, live)
            let done = 0
            for (const [closed, ticks] of steps) {
              done = Math.min(58, done + closed)
              live.length = known ? done + 1 : done
              run.advance(done)
              const snapshot = run.snapshot()
              live.length = done + 1
              const final = bars.close[done]!
              for (const tick of [...ticks, 0]) {
                run.restore(snapshot)
                live.close[done] = final + tick
                live.high[done] = Math.max(bars.high[done]!, final + tick)
                live.low[done] = Math.min(bars.low[done]!, final + tick)
                run.advance(done + 1)
                const fresh = runScript(SCRIPT, sliceBars(live, 0, done + 1))
                expect(shown(run)).toEqual(shown(fresh))
              }
              done++
            }
          },
        ),
        { seed, numRuns: rounds(15) },
      )
    })
})
