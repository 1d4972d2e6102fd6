// What the compiler takes from one script, and that what is beyond is told rather than worked at.

import { describe, expect, test } from 'bun:test'
import { parse } from '../../src/language/1-parse/parser.ts'
import { check } from '../../src/language/2-check/check.ts'
import { nearest } from '../../src/lib/nearest.ts'
import { compile } from '../../src/language/compile.ts'
import { completions, signatureHelp, wordBefore } from '../../src/language/editor.ts'
import { format } from '../../src/language/format.ts'
import { outline } from '../../src/language/outline.ts'
import { FAMILIES } from './hostile-texts.ts'

const HEAD = '//@version=6\nindicator("x")\n'
const times = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n')
const codesOf = (source: string): readonly string[] => compile(source).diagnostics.map(({ code }) => code)

/** Functions that call each other with ever other qualifiers and types, a small script that checks for minutes. */
function multiplying(functions: number): string {
  const calls = (i: number) =>
    ['1', '1.5', 'close', 'bar_index'].map((kind) => `f${i}(b, c, d, e, g, ${kind})`).join(' + ')
  const last = `plot(f${functions}(1, 2, 3, 4, 5, 6))\n`
  const body = times(functions, (i) => `f${i + 1}(a, b, c, d, e, g) => ${calls(i)}`)
  return `${HEAD}f0(a, b, c, d, e, g) => a + b + c + d + e + g\n${body}\n${last}`
}

describe('the compiler', () => {
  test('stops copying functions that call each other with ever other types', () => {
    const source = multiplying(35)
    expect(source.length).toBeLessThan(4800)
    const { script, diagnostics } = compile(source)
    expect(script).toBeNull()
    expect(diagnostics.some(({ code }) => code === 'too-many-copies')).toBe(true)
    expect(diagnostics.find(({ code }) => code === 'too-many-copies')?.hint).toContain('series float')
  })

  test('copies a function of six kinds of arguments six times and no more', () => {
    const kinds = ['1', '1.5', 'close', 'bar_index', 'syminfo.mintick', 'input.int(1)']
    const source = `${HEAD}f(x) => x + 1\n${times(60, (i) => `v${i} = f(${kinds[i % 6]})`)}\n`
    const { program } = check(parse(source).script)
    expect(program?.functions).toHaveLength(6)
  })

  test('refuses a function of more than 500 kinds of arguments', () => {
    const types = times(501, (i) => `type T${i}\n    int a\n`)
    expect(codesOf(`${HEAD}${types}f(x) => 1\n${times(501, (i) => `f(T${i}.new())`)}\n`)).toEqual([
      'too-many-copies',
    ])
  })

  test('refuses arrays of arrays of arrays handed from function to function', () => {
    const functions = times(100, (i) => `f${i + 1}(x) => f${i}(array.from(x))`)
    expect(codesOf(`${HEAD}f0(x) => 1\n${functions}\nplot(f100(1))\n`)).toContain('type-too-deep')
  })

  test('refuses a script of more than half a million expressions', () => {
    const fields = times(1000, (i) => `    int f${i}`)
    const source = `${HEAD}type T\n${fields}\n${times(510, () => 'T.new()')}\n`
    expect(codesOf(source)).toEqual(['script-too-large'])
  })

  test('refuses half a million that stand in no type, too', () => {
    const sums = times(1000, () => `plot(${Array(510).fill('1').join('+')})`)
    expect(codesOf(`${HEAD}${sums}\n`)).toContain('script-too-large')
  })

  test('refuses more than 64 functions of one name', () => {
    const overloads = times(65, (i) => `type T${i}\n    int a\nf(T${i} x) => 1`)
    expect(codesOf(`${HEAD}${overloads}\n`)).toEqual(['too-many-overloads'])
  })

  test('refuses more than 256 parameters, 1,000 fields, 1,000 members', () => {
    const names = times(257, (i) => `p${i}`).replaceAll('\n', ', ')
    expect(codesOf(`${HEAD}f(${names}) => 1\n`)).toEqual(['too-many-parameters'])
    expect(codesOf(`${HEAD}type T\n${times(1001, (i) => `    int f${i}`)}\n`)).toEqual(['too-many-members'])
    expect(codesOf(`${HEAD}enum E\n${times(1001, (i) => `    m${i}`)}\n`)).toEqual(['too-many-members'])
  })

  test.each([
    ['for', (i: number) => `for i${i} = 0 to 1`],
    ['for in', (i: number) => `for i${i} in array.from(1)`],
    ['while', () => 'while true'],
  ])('refuses more than 32 loops of `%s` within one another, which the optimizer chokes on', (_, head) => {
    const nested = (loops: number, from = 0) =>
      times(loops, (i) => `${'    '.repeat(from + i)}${head(i)}`) + `\n${'    '.repeat(from + loops)}1\n`
    expect(codesOf(`${HEAD}plot(close)\n${nested(32)}`)).toEqual([])
    expect(codesOf(`${HEAD}plot(close)\n${nested(60)}`)).toEqual(['too-many-loops'])
    expect(
      codesOf(`${HEAD}plot(close)\nf() =>\n${nested(20, 1)}if close > open\n${nested(20, 1)}f()\n`),
    ).toEqual([])
  })

  test('works constants out to a million letters; what is longer waits for the run', () => {
    const source = `${HEAD}${times(60, (i) => (i === 0 ? 's0 = "aaaaaaaa"' : `s${i} = s${i - 1} + s${i - 1}`))}\n`
    expect(codesOf(`${source}plot(close)\n`)).toEqual([])
    expect(codesOf(`${source}plot(close, s2)\n`)).toEqual([])
  })

  test('tells the first hundred mistakes and how many more there are', () => {
    const { diagnostics } = compile(`${HEAD}${times(42_000, (i) => `x = unknown${i}`)}\n`)
    expect(diagnostics).toHaveLength(101)
    expect(diagnostics.at(-1)).toMatchObject({
      severity: 'error',
      code: 'more-diagnostics',
      message: 'There are 83,900 more.',
    })
  })

  test('tells an error behind a hundred warnings', () => {
    const { diagnostics } = compile(
      `${HEAD}${times(150, (i) => `if close > ${i}\n    plot${i} = ta.ema(close, 2)`)}\nx = unknown\n`,
    )
    expect(diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code)).toEqual([
      'undeclared-name',
    ])
    expect(diagnostics.at(-1)).toMatchObject({ severity: 'warning', message: 'There are 51 more.' })
  })

  test('tells of 300 kB of unclosed strings one by one, and of the rest how many', () => {
    const { diagnostics } = compile(`${HEAD}${times(30_000, () => 'x = "abc')}`)
    expect(diagnostics.slice(0, 100).every(({ code }) => code === 'unterminated-string')).toBe(true)
    expect(diagnostics.at(-1)?.code).toBe('more-diagnostics')
  })

  test('reads a megabyte of empty lines', () => {
    const text = '\n'.repeat(1_000_000)
    expect(outline(text).imports).toEqual([])
    expect(codesOf(text)).toEqual(['no-declaration'])
  })

  test('runs a switch of ten thousand cases', () => {
    const source = `${HEAD}x = switch bar_index\n${times(10_000, (i) => `    ${i} => ${i + 1}`)}\nplot(x)\n`
    expect(compile(source).script).not.toBeNull()
  })
})

describe('a hint', () => {
  test('is looked for among so many names in all', () => {
    let asked = 0
    function* names(): Generator<string> {
      for (;;) {
        asked++
        yield 'name'
      }
    }
    expect(nearest('nome', names(), 1000)).toEqual({ found: 'name', compared: 1001 })
    expect(asked).toBe(1001)
  })

  test('is not looked for where the name is longer than anybody writes', () => {
    expect(nearest('a'.repeat(100), ['a'.repeat(99)], 10)).toEqual({ found: null, compared: 0 })
  })
})

test('the word before the cursor is read backwards', () => {
  expect(wordBefore('x = ta.sm', 9)).toBe('ta.sm')
  expect(wordBefore('1a.b', 4)).toBe('a.b')
  expect(wordBefore('x = ', 4)).toBe('')
})

describe('8 kB of', () => {
  test.each(Object.keys(FAMILIES))('%s', (name) => {
    const text = FAMILIES[name]?.(8_000) ?? ''
    expect(compile(text).diagnostics.length).toBeLessThanOrEqual(101)
    expect(format(format(text))).toBe(format(text))
    expect(outline(text).imports.length).toBeLessThanOrEqual(8_000)
    expect(completions(text, text.length)).toBeArray()
    signatureHelp(text, text.length)
  })
})
