// A matrix that nobody has any more serves again; one that somebody still has does not.

import { expect, test } from 'bun:test'
import { compile } from '../../src/language/compile.ts'
import { shortLivedCalls } from '../../src/language/3-plan/short-lived.ts'
import { barsOf, plotted, runScript } from './run-script.ts'

const CLOSES = [1, 2, 3, 4, 5, 6]
const MATRIX = 'm = matrix.new<float>(2, 3, close)\nm.set(0, 1, -close)'

function text(body: string): string {
  return `//@version=6\nindicator("x")\n${MATRIX}\n${body}\n`
}

/** How many calls of the script make what serves again. */
function servingAgain(body: string): number {
  const { script, diagnostics } = compile(text(body))
  if (!script) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return shortLivedCalls(script.program).size
}

function run(body: string): number[] {
  return plotted(runScript(text(body), barsOf(CLOSES)))
}

test.each([
  ['a variable that is only read', 't = m.transpose()\nplot(t.get(1, 0) + t.get(0, 1) + t.rows())'],
  ['no variable at all', 'plot(m.transpose().get(1, 0) + m.transpose().get(0, 1) + m.columns())'],
  [
    'a variable of a function',
    'f(x) =>\n    t = x.transpose()\n    t.get(1, 0) + t.get(0, 1)\nplot(f(m) + 3)',
  ],
  [
    'a variable of a loop',
    'x = 0.0\nfor i = 0 to 1\n    t = m.transpose()\n    x += t.get(1 - i, i)\nplot(x + 3)',
  ],
  [
    'one that is written to',
    't = m.transpose()\nt.set(0, 1, 8)\nt.reshape(1, 6)\nplot(t.get(0, 2) + close + 3)',
  ],
  [
    'a variable that stays, given one on every bar',
    'var t = matrix.new<float>(3, 2, 0)\nt := m.transpose()\nplot(t.get(1, 0) + t.get(0, 1) + t.rows())',
  ],
  [
    'a variable that is turned, and turned back',
    'var t = matrix.new<float>(3, 2, 0)\nvar u = matrix.new<float>(2, 3, 0)\nt := m.transpose()\nu := t.transpose()\nplot(u.get(0, 1) + u.get(0, 0) + t.rows())',
  ],
  [
    'a variable that is turned in place',
    'var t = matrix.new<float>(1, 1, 0)\nt := m.copy()\nt := t.transpose()\nt := t.transpose()\nplot(t.get(0, 1) + t.get(0, 0) + 3)',
  ],
])('%s serves again', (_, body) => {
  expect(servingAgain(body)).toBeGreaterThan(0)
  expect(run(body)).toEqual(CLOSES.map(() => 3))
})

test.each([
  [
    'in an object of an array',
    'type Box\n    matrix<float> of\nvar all = array.new<Box>()\nt = m.transpose()\nall.push(Box.new(t))\nplot(all.first().of.get(0, 0))',
  ],
  [
    'in a variable that stays',
    'var matrix<float> kept = na\nt = m.transpose()\nif bar_index == 0\n    kept := t\nplot(kept.get(0, 0))',
  ],
  [
    'given back by a function',
    'f(x) =>\n    t = x.transpose()\n    t\nvar kept = f(m)\nplot(kept.get(0, 0))',
  ],
  [
    'in a field',
    'type Box\n    matrix<float> of\nt = m.transpose()\nvar box = Box.new(t)\nplot(box.of.get(0, 0))',
  ],
  ['under another name', 't = m.transpose()\nvar kept = t\nplot(kept.get(0, 0) + t.rows() - 3)'],
  [
    'in a variable of each call of a function',
    'f(x) =>\n    var t = matrix.new<float>(3, 2, 0)\n    if bar_index == 0\n        t := x.transpose()\n    t.get(0, 0)\na = f(m)\nf(matrix.new<float>(2, 3, 9.0))\nplot(a)',
  ],
  [
    'in a variable whose past is read',
    'matrix<float> t = na\nt := m.transpose()\np = t[1]\nplot(bar_index == 0 ? 1 : p.get(0, 0) - close[1] + 1)',
  ],
  ['joined to another', 't = m.transpose()\nvar kept = t.concat(t.copy())\nplot(kept.get(0, 0))'],
])('one that is still had does not: %s', (_, body) => {
  expect(servingAgain(body)).toBe(0)
  expect(run(body)).toEqual(CLOSES.map(() => CLOSES[0]!))
})

test('one of another size does not serve again', () => {
  const body =
    'x = bar_index % 2 == 0 ? matrix.new<float>(1, 4, close) : m\nt = x.transpose()\nplot(t.rows() * 10 + t.columns())'
  expect(servingAgain(body)).toBe(1)
  expect(run(body)).toEqual(CLOSES.map((_, i) => (i % 2 === 0 ? 41 : 32)))
})
