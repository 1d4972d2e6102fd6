import { expect, test } from 'bun:test'
import { ClientErrors } from '../../../src/people/errors/client-errors.ts'
import { idSource } from '../../../src/lib/ids.ts'
import { testKv } from '../../store/test-store.ts'

function world(kv = testKv(), clock = { now: () => 5, sleep: () => Promise.resolve() }) {
  let byte = 0
  return new ClientErrors({
    kv,
    clock,
    newId: idSource({ clock, random: { bytes: (n) => new Uint8Array(n).map(() => byte++) } }),
  })
}

test('one error a thousand times is one group with a count', async () => {
  const errors = world()
  for (let i = 0; i < 1000; i++)
    await errors.report({ message: `Cannot read row ${i}`, stack: `Error\n  at draw (chart.js:${i}:7)` })
  await errors.report({ message: 'another' })
  const { items } = await errors.list({ limit: 10 })
  expect(items.map((group) => group.count).toSorted((a, b) => a - b)).toEqual([1, 1000])
})
test('only known fields are kept, and not too much of them', async () => {
  const { sample } = await world().report({
    message: 'm'.repeat(5000),
    password: 'secret',
    line: 7,
    nested: { a: 1 },
    ['__proto__']: 'x',
  })
  expect(Object.keys(sample).toSorted()).toEqual(['line', 'message'])
  expect(String(sample['message']).length).toBe(1000)
})
test('any object will do', async () => {
  expect(await world().report({})).toMatchObject({ message: 'no message', count: 1 })
})

test('a group keeps its first time, and message and sample of the newest report', async () => {
  let now = 10
  const errors = world(testKv(), { now: () => now++, sleep: () => Promise.resolve() })
  const first = await errors.report({ message: 'row 1', line: 7, url: '/a' })
  expect(first).toEqual({
    id: expect.stringMatching(/^err_/),
    fingerprint: first.fingerprint,
    message: 'row 1',
    count: 1,
    firstAt: first.lastAt,
    lastAt: first.lastAt,
    sample: { message: 'row 1', line: 7, url: '/a' },
  })
  const second = await errors.report({ message: 'row 2', line: Infinity })
  expect(second).toEqual({
    ...first,
    message: 'row 2',
    count: 2,
    lastAt: second.lastAt,
    sample: { message: 'row 2' },
  })
  expect(second.lastAt).toBeGreaterThan(first.lastAt)
})
test('errors are told apart by message and first frame, without numbers and what is quoted', async () => {
  const errors = world()
  const of = async (message: string, stack?: string) => (await errors.report({ message, stack })).fingerprint
  const one = await of('no "a" of 3', 'Error: x\n    at draw (chart.js:1:2)\n    at main (app.js:3:4)')
  expect(await of('no "bcd" of 44', 'Error: y\n    at draw (chart.js:10:20)\n    at other (b.js:1:1)')).toBe(
    one,
  )
  // Firefox and Safari write `draw@chart.js`.
  expect(await of('no "a" of 3', 'draw@chart.js:1:2')).not.toBe(one)
  expect(await of('no "a" of 3', 'Error: x\n    at paint (chart.js:1:2)')).not.toBe(one)
  expect(await of('none "a" of 3', 'Error: x\n    at draw (chart.js:1:2)')).not.toBe(one)
  expect(await of('no "a" of 3')).not.toBe(one)
})
test('texts are cut at their field’s length, half a character is none, and what is inherited is nobody’s', async () => {
  const lengths = {
    message: 1000,
    stack: 8000,
    url: 1000,
    userAgent: 400,
    kind: 60,
    source: 400,
    line: 20,
    column: 20,
    release: 100,
    component: 200,
  }
  const long = Object.fromEntries(Object.keys(lengths).map((field) => [field, 'x'.repeat(9000)]))
  const { sample } = await world().report(long)
  const found = Object.entries(sample).map(([field, text]) => [field, String(text).length])
  expect(Object.fromEntries(found)).toEqual(lengths)
  const inherited = Object.create({ message: 'of a prototype' }) as Record<string, unknown>
  inherited['source'] = 'a\ud800'
  expect((await world().report(inherited)).sample).toEqual({ source: 'a\ufffd' })
})
test('10,000 groups stay, and the one that was reported longest ago makes room for another', async () => {
  const kv = testKv()
  let now = 10
  const errors = world(kv, { now: () => now++, sleep: () => Promise.resolve() })
  const messages = async () => (await errors.list({ limit: 10 })).items.map(({ message }) => message)
  await errors.report({ message: 'old' })
  await errors.report({ message: 'older' })
  await errors.report({ message: 'old' })
  await kv.commit({ sets: [{ key: ['errors', 'count', 'all'], value: '9999' }] })
  await errors.report({ message: 'new' })
  expect(await messages()).toEqual(['new', 'old', 'older'])
  await errors.report({ message: 'newest' })
  expect(await messages()).toEqual(['newest', 'new', 'old'])
})

test.each([
  ['failed with crm_pat_abcDEF123456789', 'failed with …'],
  ['Authorization: Bearer abc.def-123', 'Authorization: …'],
  ['at fetch (https://olga:hunter22@example.com/x.js:1:2)', 'at fetch (https://…@example.com/x.js:1:2)'],
  ['https://c.example/sign-up?invitation=Zx81_aa&lang=en', 'https://c.example/sign-up?invitation=…&lang=en'],
  ['POST /api/hooks/abcdefghijklmnopqrstuvwxyz0123456789-_ABCDE failed', 'POST /api/hooks/… failed'],
  ['body {"name":"Olga","password":"a long enough password"}', 'body {"name":"Olga","password":"…"}'],
  ['{\\"password\\":\\"two words\\"}', '{\\"password\\":\\"…\\"}'],
  ['document.cookie = session=s3cr3t; theme=dark', 'document.cookie = …; theme=dark'],
  ['x-api-key: 1234', 'x-api-key: …'],
  ['eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0. is over', '… is over'],
  ['of eyJhbGciOiJub25lIn0', 'of …'],
])('the secrets of %s are not kept', async (text, kept) => {
  const { sample, message } = await world().report({ message: text, stack: text, url: text })
  expect([message, sample['stack'], sample['url']]).toEqual([kept, kept, kept])
})

test.each([
  "Cannot read properties of undefined (reading 'token')",
  'at tokenOf (lexer.js:1:2)',
  'session ended: sign in again',
  'A basic chart',
])('%s is kept as it is', async (text) => {
  expect((await world().report({ message: text })).message).toBe(text)
})
