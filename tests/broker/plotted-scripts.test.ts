// Scripts that read a plot of another script through a source input.

import { describe, expect, test } from 'bun:test'
import { advance, type KeptState } from '../../src/broker/advance.ts'
import type { BacktestRequest } from '../../src/broker/backtest.ts'
import { openBacktest, runBacktest } from '../../src/broker/run.ts'
import { Problem } from '../../src/lib/problem.ts'
import { selectBars } from '../../src/market/bars.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { barsOf, SYMBOL, walk } from '../language/run-script.ts'

const RSI = `//@version=6
indicator("RSI")
length = input.int(14, "Length")
plot(ta.rsi(close, length), "RSI")
plot(50)`
const AVERAGE = `//@version=6
indicator("Average")
source = input.source(close, "Source")
length = input.int(5, "Length")
plot(ta.sma(source, length), "Average")
plot(source[2], "Before")`
/** The two in one script, which is what reading a plot has to come to. */
const IN_ONE = (length: number) => `//@version=6
indicator("Both")
float source = ta.rsi(close, ${length})
plot(ta.sma(source, 5), "Average")
plot(source[2], "Before")`

const bars = barsOf(walk(400, 7))
const rsi = (more: object = {}) => ({ script: RSI, inputs: {}, plot: 'RSI', ...more })

const request = (source: string, more: Partial<BacktestRequest> = {}): BacktestRequest => ({
  source,
  inputs: {},
  bars,
  symbol: SYMBOL,
  interval: '15m',
  limits: DEFAULT_LIMITS,
  series: () => null,
  ...more,
})
const average = (of: object, more: Partial<BacktestRequest> = {}) =>
  request(AVERAGE, { inputs: { Source: of }, ...more })

const plotsOf = (of: BacktestRequest) => {
  const backtest = openBacktest(of)
  backtest.advance(backtest.bars.length)
  return backtest.run.plotsFrom(0).map(([title, values]) => [title, [...values]])
}
function refusal(of: BacktestRequest): Problem {
  try {
    runBacktest(of)
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('It ran.')
}
const said = (of: BacktestRequest): string => {
  const { code, message, details } = refusal(of)
  const field = details.fields?.[0]
  return field ? `${field.path}: ${field.message}` : `${code}: ${message}`
}

describe('a source input that reads a plot of another script', () => {
  test('sees what it would see if both were one script', () => {
    expect(plotsOf(average(rsi()))).toEqual(plotsOf(request(IN_ONE(14))))
    expect(plotsOf(average(rsi({ inputs: { Length: 3 } })))).toEqual(plotsOf(request(IN_ONE(3))))
  })

  test('takes a plot without a title by its number', () => {
    const [[, values]] = plotsOf(average(rsi({ plot: '1' }))) as [[string, number[]]]
    expect(values.slice(4)).toEqual(Array.from({ length: 396 }, () => 50))
  })

  test('bar by bar it sees the same, also with kept state', () => {
    const whole = plotsOf(average(rsi()))
    const steps = openBacktest(average(rsi(), { stepwise: true }))
    for (let end = 1; end <= bars.length; end++) steps.advance(end)
    expect(steps.run.plotsFrom(0).map(([title, values]) => [title, [...values]])).toEqual(whole)
    let kept: KeptState | null = null
    for (let count = 300; count <= 400; count += 7) {
      const now = selectBars(bars, { to: bars.time[count - 1]! })
      const answer = advance(average(rsi(), { bars: now }), kept, count - 3)
      kept = answer.kept ?? kept
      const expected = plotsOf(average(rsi(), { bars: now }))
      expect(answer.plots.map(([title, values]) => [title, [...values]])).toEqual(
        expected.map(([title, values]) => [title!, (values as number[]).slice(count - 3)]),
      )
    }
    expect(kept).not.toBeNull()
  })

  test('with fewer bars to run on, of either script, the bars still belong together', () => {
    const cut = AVERAGE.replace('"Average")', '"Average", calc_bars_count = 100)')
    const all = plotsOf(average(rsi()))[1]![1] as number[]
    const last = plotsOf(request(cut, { inputs: { Source: rsi() } }))[1]![1] as number[]
    expect(last).toHaveLength(100)
    expect(last.slice(2)).toEqual(all.slice(302))
    const short = RSI.replace('"RSI")', '"RSI", calc_bars_count = 100)')
    const before = plotsOf(average({ ...rsi(), script: short }))[1]![1] as number[]
    expect(before.slice(0, 302).every(Number.isNaN)).toBe(true)
    expect(before.slice(330).every((value) => value > 0)).toBe(true)
  })

  test('reads one that reads another', () => {
    const nested = { script: AVERAGE, inputs: { Source: rsi() }, plot: 'Average' }
    const inOne = `//@version=6
indicator("All")
float source = ta.sma(ta.rsi(close, 14), 5)
plot(ta.sma(source, 5), "Average")
plot(source[2], "Before")`
    expect(plotsOf(average(nested))).toEqual(plotsOf(request(inOne)))
  })

  test('is a part of the result’s hash', () => {
    const hash = (of: object) => runBacktest(average(of)).report.hash
    expect(hash(rsi())).toBe(hash(rsi()))
    expect(hash(rsi({ inputs: { Length: 3 } }))).not.toBe(hash(rsi()))
  })

  test('trades on it', () => {
    const strategy = `//@version=6
strategy("On RSI")
source = input.source(close, "Source")
if ta.crossover(source, 50)
    strategy.entry("L", strategy.long)
if ta.crossunder(source, 50)
    strategy.close("L")`
    const inOne = strategy.replace('input.source(close, "Source")', 'ta.rsi(close, 14)')
    const { trades } = runBacktest(request(strategy, { inputs: { Source: rsi() } })).report
    expect(trades.length).toBeGreaterThan(3)
    expect(trades).toEqual(runBacktest(request(inOne)).report.trades)
  })

  test('says what is wrong, and with which input', () => {
    expect(said(average(rsi({ plot: 'MACD' })))).toBe(
      '/inputs/Source: "Source" reads a plot of another script. It has no plot "MACD". It has "RSI", "1".',
    )
    expect(said(average(rsi({ script: '//@version=6\nindicator("x")\nplot(' })))).toBe(
      '/inputs/Source: "Source" reads a plot of another script. The script does not compile.',
    )
    expect(said(average(rsi({ inputs: { Length: 'x' } })))).toStartWith(
      '/inputs/Source: "Source" reads a plot of another script. ',
    )
    expect(said(average({ script: RSI }))).toContain('or a plot of another script as {script, inputs, plot}')
    expect(said(request(AVERAGE, { inputs: { Length: rsi() } }))).toContain('"Length" takes a whole number')
  })

  test('only so many follow each other', () => {
    const chain = (length: number): object =>
      length === 0 ? rsi() : { script: AVERAGE, inputs: { Source: chain(length - 1) }, plot: 'Average' }
    expect(plotsOf(average(chain(4)))).toHaveLength(2)
    expect(said(average(chain(5)))).toBe(
      "script_limit_exceeded: More than 5 scripts read each other's plots.",
    )
  })

  test('is na on other bars, and says so', () => {
    const asking = `//@version=6
indicator("Asks")
source = input.source(close, "Source")
plot(request.security(syminfo.tickerid, "60", source), "There")
plot(source, "Here")`
    const of = request(asking, {
      inputs: { Source: rsi() },
      series: () => ({ bars, symbol: SYMBOL, interval: '1h' }),
    })
    const [there, here] = plotsOf(of).map(([, values]) => values as number[])
    expect(there!.every(Number.isNaN)).toBe(true)
    expect(here!.slice(20).every((value) => value > 0)).toBe(true)
    expect(runBacktest(of).report.warnings.map(({ code }) => code)).toEqual(['plot-elsewhere'])
  })
})
