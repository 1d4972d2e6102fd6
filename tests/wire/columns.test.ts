import { expect, test } from 'bun:test'
import { columnPieces, decodeColumns, pack } from '../../src/wire/columns.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'

/** There and back, beside what JSON makes of it. */
function check(value: unknown, { types }: { readonly types?: readonly string[] } = {}): void {
  const packed = pack(value, ['value'])
  const bytes = Buffer.concat(columnPieces(`{"ok":true,"value":${packed.text}}`, [packed]))
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  expect(decodeColumns(buffer)).toStrictEqual({ ok: true, value: JSON.parse(JSON.stringify(plain(value))) })
  if (types)
    expect([
      ...packed.columns.map(({ type }) => type as string),
      ...packed.tables.flatMap(({ fields }) => fields.map(({ type }) => type as string)),
    ]).toEqual([...types])
}

/** Typed arrays as lists. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_name, part) => (part instanceof Float64Array ? [...part] : part)))

const list = (length: number, make: (i: number) => number) => Float64Array.from({ length }, (_, i) => make(i))

test('a column takes as few bytes as say exactly the same', () => {
  check({ data: list(100, (i) => i) }, { types: ['i8'] })
  check({ data: list(300, (i) => i) }, { types: ['i8'] })
  check({ data: list(100, (i) => 1.7e12 + i * 60_000) }, { types: ['i32'] })
  check({ data: list(100, (i) => (i % 7) * 4000) }, { types: ['i16'] })
  check({ data: list(100, (i) => 4000.25 + (i % 5) / 100) }, { types: ['i8'] })
  check({ data: list(100, (i) => i / 7) }, { types: ['f64'] })
  check({ data: list(100, (i) => 1e15 * (i + 1)) }, { types: ['f64'] })
})

test('what is not a number, is infinite, or a negative zero comes as JSON has it', () => {
  const odd = [Number.NaN, Infinity, -Infinity, -0, 1]
  check(list(40, (i) => odd[i % odd.length]!))
  check(list(40, (i) => odd[i % odd.length]! / 3))
  check(list(40, () => Number.NaN))
  check(Array.from({ length: 40 }, (_, i) => (i % 3 ? i : null)))
  check(list(40, (i) => -128 + i))
  check(list(40, (i) => (i % 2 ? -32_768 : 32_767)))
  check(list(40, (i) => (i % 2 ? -(2 ** 31) : 2 ** 31)))
  check(list(40, (i) => (i % 2 ? Number.MAX_SAFE_INTEGER : 5e-324)))
})

test('a value that no longer fits the first ones is not rounded', () => {
  check(list(1000, (i) => (i < 900 ? i / 100 : i / 7)))
  check(list(1000, (i) => (i < 900 ? i / 100 : 1e300)))
})

test('objects that are alike are a table, others stay as they are', () => {
  const rows = Array.from({ length: 50 }, (_, i) => ({
    n: i,
    side: i % 2 ? 'long' : 'short',
    price: i / 3,
    comment: i % 5 ? null : '多头 🚀',
    open: i > 40,
    mixed: i % 2 ? i : `${i}`,
  }))
  check({ trades: rows }, { types: ['i8', 'i8', 'f64', 'i8', 'i8', 'i8'] })
  const unlike: unknown[] = [...rows.slice(0, 30), { n: 1 }]
  check({ unlike, nested: rows.map((row) => ({ row })) }, { types: [] })
  check(
    { few: rows.slice(0, 3), none: [], empty: {}, items: Array.from({ length: 20 }, () => ({})) },
    { types: [] },
  )
  check({ odd: Array.from({ length: 20 }, () => JSON.parse('{"__proto__":1}') as object) })
})

test('names of a script cannot be taken for the format', () => {
  check({ answer: { columns: [1], at: 'x' }, $column: 1, '': list(20, (i) => i), __proto__x: null })
})

test('several packed parts share one answer', () => {
  const [one, two] = [
    pack([{ data: list(20, (i) => i) }], ['one']),
    pack({ b: list(20, (i) => i / 7) }, ['two']),
  ]
  const bytes = Buffer.concat(columnPieces(`{"one":${one.text},"two":${two.text}}`, [one, two]))
  expect(decodeColumns(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))).toEqual({
    one: [{ data: [...list(20, (i) => i)] }],
    two: { b: [...list(20, (i) => i / 7)] },
  })
})

test('bytes that are no answer as columns are refused', () => {
  expect(() => decodeColumns(new ArrayBuffer(4))).toThrow('expected an answer as columns')
  expect(() => decodeColumns(new TextEncoder().encode('{"ok":true,"a":1}').buffer)).toThrow('expected')
  const cut = Buffer.concat(columnPieces('{}', [])).subarray(0, 12)
  expect(() => decodeColumns(cut.buffer.slice(cut.byteOffset, cut.byteOffset + 12))).toThrow('cut short')
})

test('random values come back as JSON has them', () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  console.log(`seed ${seed}`)
  const { uniform: random } = seededRandom(seed)
  for (let round = 0; round < 300; round++) {
    const power = 10 ** Math.floor(random() * 18 - 4)
    const digits = Math.floor(random() * 10)
    const holes = random() < 0.3 ? 0.1 : 0
    check({
      data: list(16 + Math.floor(random() * 80), () =>
        random() < holes ? Number.NaN : Number(((random() - 0.5) * power).toFixed(digits)),
      ),
    })
  }
})
