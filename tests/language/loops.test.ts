// ta.*() where a bar executes one call several times.

import { describe, expect, test } from 'bun:test'
import { barsOf, open, plotted, recordingBroker, runScript, walk } from './run-script.ts'

const BARS = barsOf(walk(120, 3))

function run(body: string, version = 6): number[] {
  return plotted(runScript(`//@version=${version}\nindicator("x")\n${body}\n`, BARS))
}

describe('a call in a loop goes on from the bar before', () => {
  for (const call of [
    'ta.sma(close, 5)',
    'ta.ema(close, 5)',
    'ta.rma(close, 5)',
    'ta.rsi(close, 5)',
    'ta.highest(high, 5)',
    'ta.linreg(close, 5, 0)',
    'ta.change(close)',
    'ta.cum(volume)',
    'math.sum(close, 5)',
    'ta.barssince(close > open)',
  ])
    test(call, () => {
      expect(run(`x = 0.0\nfor i = 1 to 3\n    x := ${call}\nplot(x)`)).toEqual(run(`plot(${call})`))
    })

  test('each round with a length of its own', () => {
    expect(run('x = 0.0\nfor i = 3 to 6\n    x += ta.wma(close, i)\nplot(x)')).toEqual(
      run('plot(ta.wma(close, 3) + ta.wma(close, 4) + ta.wma(close, 5) + ta.wma(close, 6))'),
    )
  })

  test.each([
    ['ta.change(close * i)', '3 * close - 6 * close[1]', '2 * close - 2 * close[1]'],
    ['ta.mom(close * i, 2)', '3 * close - 6 * close[2]', '2 * close - 2 * close[2]'],
  ])('%s looks back at what the last round had on the bars before (K9)', (call, sum, last) => {
    expect(run(`s = 0.0\nfor i = 0 to 2\n    s += ${call}\nplot(s)`).slice(2)).toEqual(
      run(`plot(${sum})`)
        .slice(2)
        .map((value) => expect.closeTo(value, 9)),
    )
    expect(run(`x = 0.0\nfor i = 0 to 2\n    x := ${call}\nplot(x)`)).toEqual(run(`plot(${last})`))
  })

  test('of a bool, whether it was another at the end of the bar before', () => {
    expect(run('n = 0\nfor i = 0 to 2\n    n += ta.change(i == 2) ? 1 : 0\nplot(n)').slice(0, 4)).toEqual([
      0, 2, 2, 2,
    ])
  })

  test('in a function that a loop calls', () => {
    expect(
      run('g(n) => ta.sma(close, n)\nf(n) => g(n)\nx = 0.0\nfor i = 3 to 5\n    x += f(i)\nplot(x)'),
    ).toEqual(run('plot(ta.sma(close, 3) + ta.sma(close, 4) + ta.sma(close, 5))'))
  })

  test('in the test of a while', () => {
    expect(run('n = 0\nwhile ta.sma(close, 5) > 0 and n < 4\n    n += 1\nplot(n)')[20]).toBe(4)
  })

  test('the percentiles take each round for a bar', () => {
    expect(
      run('x = 0.0\nfor i = 1 to 3\n    x := ta.percentile_nearest_rank(close, 3, 100)\nplot(x)'),
    ).toEqual(run('plot(bar_index < 2 ? na : close)'))
  })

  test('going back to a snapshot takes the rounds back too', () => {
    const source =
      '//@version=6\nindicator("x")\nx = 0.0\nfor i = 3 to 6\n    x += ta.wma(close, i)\nplot(x)\n'
    const stepped = open(source, BARS, { broker: recordingBroker() })
    stepped.advance(50)
    const saved = stepped.snapshot()
    stepped.advance(60)
    stepped.restore(saved)
    stepped.advance(120)
    expect(plotted(stepped)).toEqual(plotted(runScript(source, BARS)))
  })
})

describe('a short loop, which is written round by round', () => {
  const same = (body: string, expected: string) => expect(run(body)).toEqual(run(expected))

  test('upwards, downwards, and as a value', () => {
    same('s = 0.0\nfor i = 0 to 3\n    s := s * 10 + i\nplot(s)', 'plot(123)')
    same('s = 0.0\nfor i = 3 to 1\n    s := s * 10 + i\nplot(s)', 'plot(321)')
    same('x = for i = 2 to 4\n    i * i\nplot(x)', 'plot(16)')
  })

  test('a round that counts on leaves the others alone, and has variables of its own', () => {
    same('s = 0.0\nfor i = 0 to 2\n    k = i\n    k += 10\n    s += k\nplot(s)', 'plot(33)')
    same(
      'var s = 0.0\nfor i = 1 to 3\n    var n = 0\n    n += i\n    s := n\nplot(s)',
      'plot(6 * (bar_index + 1))',
    )
  })

  test('what is left early is a loop', () => {
    same('s = 0\nfor i = 0 to 3\n    if i == 1\n        continue\n    s += i\nplot(s)', 'plot(5)')
    same('s = 0\nfor i = 0 to 3\n    if i == 2\n        break\n    s += i\nplot(s)', 'plot(1)')
  })

  test('within another, and with history in it', () => {
    same('s = 0\nfor i = 0 to 20\n    for j = 0 to 2\n        s += i * j\nplot(s)', 'plot(630)')
    same(
      's = 0.0\nfor i = 1 to 3\n    x = close + i\n    s += nz(x[1])\nplot(s)',
      'plot(3 * nz(close[1] + 3))',
    )
  })

  test('counts as many rounds, and a mistake in it is at its line', () => {
    const failure = (body: string) => {
      try {
        run(body)
      } catch (error) {
        return error as { readonly code: string; readonly offset: number }
      }
      return null
    }
    const body = 'a = array.new_int(2, 0)\nfor i = 0 to 3\n    a.set(i, i)\nplot(a.get(0))'
    expect(failure(body)?.offset).toBe('//@version=6\nindicator("x")\n'.length + body.indexOf('a.set'))
    expect(failure('s = 0\nwhile true\n    for i = 0 to 3\n        s += i\nplot(s)')?.code).toBe(
      'script_limit_exceeded',
    )
  })
})
