// Where a name is declared and used. Each script marks the places that belong together: «name».

import { describe, expect, test } from 'bun:test'
import { referencesAt } from '../../src/language/references.ts'

/** The marked places, and those found from each of them. */
function placesOf(marked: string) {
  const source = marked.replace(/[«»]/g, '')
  const wanted: number[] = []
  let removed = 0
  for (const { 0: mark, index } of marked.matchAll(/[«»]/g)) {
    if (mark === '«') wanted.push(index - removed)
    removed++
  }
  const found = wanted.map((at) => referencesAt(source, at)?.ranges.map(({ start }) => start) ?? [])
  return { source, wanted, found }
}

describe('the places of one name', () => {
  test.each([
    ['a variable, given new values', 'var «n» = 0\nif close > open\n    «n» += 1\nplot(«n», title = "n")'],
    ['not one that a block declares for itself', '«n» = 1\nif true\n    n = 2\n    plot(n)\nplot(«n»)'],
    ['the value of which reads the one around', '«n» = 1\nf() =>\n    n = «n» + 1\n    n\nplot(«n»)'],
    ['a function, overloaded', '«f»(int a) => a\n«f»(string a) => 1\nplot(«f»(2) + «f»("x"))'],
    [
      'a parameter, named by calls too',
      'f(«length», b) => b + «length»\nlength = 3\nplot(f(«length» = length, b = 1))',
    ],
    ['a counter', 'for «i» = 0 to 3\n    plot(«i»)\ni = 2'],
    ['both names of a loop', 'xs = array.new<int>()\nfor [«k», v] in xs\n    x = v + «k»'],
    [
      'a type',
      'type «Level»\n    float price\nvar «Level» a = «Level».new(1)\nvar array<«Level»> all = array.new<«Level»>()',
    ],
    ['an enum', 'enum «Side»\n    up\n    down\nx = «Side».up'],
    ['an alias', 'import me/lib/1 as «mine»\nplot(«mine».f(1))'],
    ['a tuple', '[«a», b] = f()\nplot(«a» + b)'],
    ['what is indexed, and what indexes', '«n» = 3\nplot(close[«n»] + «n»[1])'],
    ['a switch', '«n» = 1\nx = switch «n»\n    1 => «n»\n    => 2'],
  ])('%s', (_what, marked) => {
    const { wanted, found } = placesOf(`//@version=6\nindicator("x")\n${marked}\n`)
    expect(wanted.length).toBeGreaterThan(0)
    for (const places of found) expect(places).toEqual(wanted)
  })
})

test('a name declared again later is another one', () => {
  const source = 'if a\n    n = 1\n    plot(n)\nelse\n    n = 2\n    plot(n)\n'
  const first = referencesAt(source, source.indexOf('n = 1'))
  expect(first?.ranges).toHaveLength(2)
  expect(first?.declaration.start).toBe(source.indexOf('n = 1'))
})

test.each(['plot(close)', 'x = 1 // x', 'a.b = 2', 'plot(', ''])(
  'what is not the script’s own in %p is nothing',
  (source) => {
    expect(referencesAt(source, source.length)).toBeNull()
  },
)

test('a method is found, but not wholly', () => {
  const source = 'method twice(int n) => n * 2\nplot(twice(3))\n'
  expect(referencesAt(source, source.indexOf('twice'))).toMatchObject({ name: 'twice', whole: false })
  expect(referencesAt(source, source.indexOf('n *'))).toMatchObject({ name: 'n', whole: true })
})

test('no text makes it throw', () => {
  const source =
    'type T\n    int a = b\nf(x, y = x) => x + y\nfor i = 0 to f(1, y = 2)\n    [a, _] = g(i)\nimport a/b/1 as c\n'
  for (let cut = 0; cut <= source.length; cut++)
    for (const at of [0, cut >> 1, cut]) expect(() => referencesAt(source.slice(0, cut), at)).not.toThrow()
})
