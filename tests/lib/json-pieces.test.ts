import { expect, test } from 'bun:test'
import { jsonBytes, jsonPieces } from '../../src/lib/json-pieces.ts'

const text = (value: unknown) => [...jsonPieces(value)].join('')

test('a text made in pieces is what JSON makes of the whole', () => {
  const values = [
    null,
    true,
    'é',
    {},
    { a: [], b: undefined, c: [1, null, undefined], d: { e: [], f: {} }, 'g"': -0 },
    Array.from({ length: 1000 }, (_, i) => ({ i, text: `${i}` })),
    { nested: { list: Array.from({ length: 129 }, (_, i) => i / 7) } },
  ]
  for (const value of values) expect(text(value)).toBe(JSON.stringify(value))
})

test('a typed array is a list of numbers, wherever its pieces end', () => {
  for (const length of [0, 1, 4095, 4096, 4097, 50_000]) {
    const column = Float64Array.from({ length }, (_, i) => (i % 9 === 0 ? Number.NaN : i / 7))
    const whole = JSON.stringify({ column: [...column], after: 'é' })
    expect(text({ column, after: 'é' }) === whole).toBe(true)
    let bytes = ''
    for (const piece of jsonBytes({ column, after: 'é' })) bytes += String(Buffer.from(piece as Uint8Array))
    expect(bytes === whole).toBe(true)
  }
})

test('what is walked is a list, of which one item is made at a time', () => {
  let made = 0
  function* items() {
    for (; made < 3;) yield { item: ++made }
  }
  const pieces = jsonPieces({ items: items() })
  let said = ''
  while (!said.includes('1')) said += pieces.next().value
  expect(made).toBe(1)
  expect(said + [...pieces].join('')).toBe('{"items":[{"item":1},{"item":2},{"item":3}]}')
  expect(text(new Set())).toBe('[]')
})
