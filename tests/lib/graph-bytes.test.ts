// A graph of objects as bytes: what comes back is what was written, to the sign of a zero and to who is the same as whom.

import { expect, test } from 'bun:test'
import { GraphReader, GraphWriter } from '../../src/lib/graph-bytes.ts'

class Point {
  x = 0
  readonly next: Point | null = null
}

class Holder {
  readonly point = new Point()
  list: unknown[] = [new Point()]
}

function andBack(value: unknown, known: readonly unknown[] = [], there?: unknown): unknown {
  const writer = new GraphWriter()
  writer.know(known)
  writer.write(value)
  const reader = new GraphReader(writer.bytes())
  reader.know(known)
  return reader.read(there)
}

test('values come back as they were', () => {
  const value = {
    numbers: [1, -0, 0, Number.NaN, Infinity, -Infinity, 2 ** 31, -(2 ** 31), 0.1, 2 ** 53],
    mixed: [1, 'a', null, undefined, true, false, -0],
    texts: ['', 'ä', '值', '😀', '\ud800', 'a'.repeat(10_000), 'ä'],
    columns: [Float64Array.of(1.5, -0, Number.NaN), Int32Array.of(-7), Uint8Array.of(2), new Float64Array(0)],
    map: new Map<unknown, unknown>([
      ['b', 1],
      ['a', { deep: [] }],
      [-0, 'zero'],
    ]),
    set: new Set([3, 1, 2]),
    none: null,
  }
  const back = andBack(value) as typeof value
  const { columns, ...rest } = value
  const { columns: columnsBack, ...restBack } = back
  expect(restBack).toEqual(rest)
  expect(columnsBack.map((one) => [one.constructor.name, ...one])).toEqual(
    columns.map((one) => [one.constructor.name, ...one]),
  )
  expect(Object.is(back.numbers[1], -0)).toBe(true)
  expect(Object.is(back.columns[0]![1], -0)).toBe(true)
  expect([...back.map.keys()]).toEqual([...value.map.keys()])
})

test('two names of one object stay two names of one object, also in a circle', () => {
  const shared = [1, 'x']
  const value: Record<string, unknown> = { one: shared, other: new Map([['k', shared]]) }
  value['self'] = value
  const back = andBack(value) as typeof value
  expect((back['other'] as Map<string, unknown>).get('k')).toBe(back['one'])
  expect(back['self']).toBe(back)
})

test('a chain of 200,000 links needs no deep stack', () => {
  let chain: { next: unknown } | null = null
  for (let i = 0; i < 200_000; i++) chain = { next: chain }
  let length = 0
  for (let at = andBack(chain) as { next: unknown } | null; at; at = at.next as typeof at) length++
  expect(length).toBe(200_000)
})

test('what both sides know is itself on both', () => {
  const context = { run: 1 }
  const back = andBack({ context, fn: Math.abs }, [context, Math.abs]) as { context: object; fn: unknown }
  expect(back.context).toBe(context)
  expect(back.fn).toBe(Math.abs)
})

test('an instance is put into the one that stands in its place, and two never into one', () => {
  const saved = new Holder()
  saved.point.x = 7
  ;(saved.list[0] as Point).x = 8
  const there = new Holder()
  const { point } = there
  const back = andBack(saved, [], there) as Holder
  expect(back).toBe(there)
  expect(back.point).toBe(point)
  expect(back.point.x).toBe(7)
  expect(back.list[0]).toBeInstanceOf(Point)
  expect((back.list[0] as Point).x).toBe(8)

  const twice = { a: new Point(), b: new Point() }
  const one = new Point()
  const apart = andBack(twice, [Point], { a: one, b: one }) as typeof twice
  expect(apart.a).not.toBe(apart.b)
})

test('a function nobody knows is refused by name', () => {
  expect(() => andBack({ f: () => 1 })).toThrow('a function is no state')
})
