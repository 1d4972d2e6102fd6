// The plan changes when things are computed, never what: the same script computed where it stands is the oracle.

import { describe, expect, test } from 'bun:test'
import { assert, constantFrom, nat, property } from 'fast-check'
import { planProgram } from '../../src/language/3-plan/plan.ts'
import { compile } from '../../src/language/compile.ts'
import { executable } from '../../src/language/executable.ts'
import { Run } from '../../src/language/runtime/run.ts'
import { ScriptError } from '../../src/language/script-error.ts'
import { scripts } from './random-script.ts'
import { barsOf, environment, plotted, walk } from './run-script.ts'
import { rounds } from '../long.ts'

const BARS = barsOf(walk(300, 5))

/** What the script plots; an error of its own as its text. */
function outcome(source: string, hoist: boolean, steps: (run: Run) => void): readonly number[] | string {
  const { script } = compile(source)
  if (!script) return 'refused'
  try {
    const run = new Run(executable(script.program, { hoist }), environment(BARS))
    steps(run)
    return plotted(run)
  } catch (error) {
    if (error instanceof ScriptError) return error.message
    throw error
  }
}
const atOnce = (run: Run) => run.advance(BARS.length)

describe('random scripts', () => {
  test('give the same hoisted and not, at once and in pieces with steps back', () => {
    assert(
      property(scripts, constantFrom(5, 6), nat(40), (body, version, step) => {
        const source = `//@version=${version}\nindicator("x")\n${body}\n`
        const plain = outcome(source, false, atOnce)
        expect(outcome(source, true, atOnce)).toEqual(plain)
        const inPieces = (run: Run) => {
          for (let end = 0; end < BARS.length;) {
            const snapshot = run.snapshot()
            run.advance(Math.min(BARS.length, end + 2 * step + 3))
            run.restore(snapshot)
            end = Math.min(BARS.length, end + step + 1)
            run.advance(end)
          }
        }
        expect(outcome(source, true, inPieces)).toEqual(plain)
      }),
      { numRuns: rounds(150) },
    )
  })
})

describe('what is computed ahead', () => {
  const hoists = (body: string, version = 6) => {
    const { script, diagnostics } = compile(`//@version=${version}\nindicator("x")\n${body}\n`)
    if (!script) throw new Error(diagnostics.map(({ message }) => message).join(' '))
    return planProgram(script.program).hoists.map((hoist) =>
      hoist.kind === 'call' ? hoist.call.builtin.name : 'value',
    )
  }

  for (const [name, body, expected] of [
    [
      'an indicator over a column, with a length from an input',
      'n = input.int(5)\nx = ta.sma(close, n)\nplot(x * 2 + x[1])',
      ['ta.sma', 'value'],
    ],
    ['the same indicator twice is one column', 'plot(ta.sma(close, 5))\nplot(ta.sma(close, 5))', ['ta.sma']],
    ['nothing that nobody reads', 'x = ta.sma(close, 5)\ny = x * 2\nplot(close)', []],
    [
      'indicators of indicators, in order',
      'a = ta.ema(close, 3)\nb = ta.ema(a, 3)\nplot(b)',
      ['ta.ema', 'ta.ema'],
    ],
    ['not under a condition', 'x = close > open ? ta.sma(close, 5) : na\nplot(x)', []],
    ['not on the right of and in version 6', 'x = close > open and ta.sma(close, 5) > 1\nplotshape(x)', []],
    ['not in a function', 'f() => ta.sma(close, 5)\nplot(f())', []],
    [
      'not over a variable that changes',
      'x = close\nif close > open\n    x := open\ny = ta.sma(x, 5) + 1\nplot(y)',
      [],
    ],
  ] as const)
    test(name, () => {
      expect(hoists(body)).toEqual([...expected])
    })
  test('on the right of and before version 6', () => {
    expect(hoists('x = close > open and ta.sma(close, 5) > 1\nplotshape(x)', 5)).toEqual(['ta.sma', 'value'])
  })
})
