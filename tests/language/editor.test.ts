// Completions and signatures at a cursor, written `|` in the source.

import { describe, expect, test } from 'bun:test'
import { completions, signatureHelp } from '../../src/language/editor.ts'

function at(text: string): { source: string; offset: number } {
  const offset = text.indexOf('|')
  return { source: text.replace('|', ''), offset }
}

describe('completions', () => {
  const names = (text: string): string[] => {
    const { source, offset } = at(text)
    return completions(source, offset).map((one) => one.name)
  }

  test('offer the members of a name space after its dot', () => {
    expect(names('x = ta.sm|')).toEqual(['ta.sma'])
    expect(names('x = strategy.oca.|')).toEqual([
      'strategy.oca.cancel',
      'strategy.oca.none',
      'strategy.oca.reduce',
    ])
  })

  test('offer a name space as one entry before it', () => {
    expect(names('x = syminf|')).toEqual(['syminfo'])
  })

  test('offer what the script declares above the cursor, first', () => {
    const source = 'length = 5\nlengthOf(x) => x\nenum Length\n    short\ny = leng|\nlengthLater = 1'
    expect(names(source)).toEqual(['length', 'Length', 'lengthOf', 'str.length'])
    expect(names(source.replace('leng|', 'Length.|'))).toEqual(['Length.short'])
  })

  test('offer parameters inside their function only', () => {
    expect(names('f(parameter) =>\n    y = param|\n    y\n')).toEqual(['parameter'])
    expect(names('f(parameter) => parameter\ny = param|')).toEqual([])
  })

  test('offer fields and methods of a variable’s type after its dot', () => {
    expect(names('a = array.new<float>()\nx = a.per|')).toEqual([
      'a.percentile_linear_interpolation',
      'a.percentile_nearest_rank',
      'a.percentrank',
    ])
    expect(names('label l = na\nx = l.set_text_f|')).toEqual([
      'l.set_text_font_family',
      'l.set_text_formatting',
    ])
    const own = 'type Level\n    float price\nmethod push(Level this, float by) => this.price + by\n'
    expect(names(`${own}one = Level.new(1)\nx = one.|`)).toEqual(['one.copy', 'one.price', 'one.push'])
    expect(names(`${own}f(Level one) =>\n    one.pr|\n`)).toEqual(['one.price'])
    expect(names('x = close\ny = x.|')).toEqual([])
  })

  test('offer a built-in by the last part of its name', () => {
    expect(names('x = hullm|')).toEqual([])
    expect(names('x = supertr|')).toEqual(['ta.supertrend'])
  })

  test('offer v4 its own names', () => {
    expect(names('//@version=4\nx = crosso|')).toEqual(['crossover'])
    expect(names('//@version=5\nx = crosso|')).toEqual(['ta.crossover'])
  })

  test('say signature and meaning', () => {
    const { source, offset } = at('x = ta.sm|')
    expect(completions(source, offset)[0]).toMatchObject({ kind: 'function', own: false })
    expect(completions(source, offset)[0]?.detail).toContain('length')
    expect(completions(source, offset)[0]?.doc).not.toBe('')
  })
})

describe('signature help', () => {
  const help = (text: string): string | null => {
    const { source, offset } = at(text)
    const found = signatureHelp(source, offset)
    return found === null ? null : `${found.name} ${found.argument} ${found.argumentName ?? '-'}`
  }

  test.each([
    ['x = ta.sma(|', 'ta.sma 0 -'],
    ['x = ta.sma(close, |', 'ta.sma 1 -'],
    ['x = ta.sma(math.max(1, 2), length = |', 'ta.sma 1 length'],
    ['x = ta.sma(math.max(1, |2), 5)', 'math.max 1 -'],
    ['x = array.new<float>(|', 'array.new 0 -'],
    ['x = input.int(1, options = [1, 2], |', 'input.int 2 -'],
    ['f(a, b) => a\nx = f(1, |', 'f 1 -'],
    ['type T\n    int x\nt = T.new(|', 'T.new 0 -'],
    ['//@version=4\nx = sma(close, |', 'sma 1 -'],
    ['a = array.new<float>()\na.set(0, |', 'a.set 2 -'],
    ['type T\n    int x\nmethod add(T this, int by) => by\nt = T.new()\ny = t.add(|', 't.add 1 -'],
    ['x = ta.sma(close, 5)|', null],
    ['x = (1 + |', null],
  ])('%s', (text, expected) => {
    expect(help(text)).toBe(expected)
  })
})
