import { expect, test } from 'bun:test'
import { createClientErrors } from '../../src/errors/client-errors.ts'
import { idSource } from '../../src/lib/ids.ts'
import { testKv } from '../store/test-store.ts'

function world() {
  const clock = { now: () => 5, sleep: () => Promise.resolve() }
  let byte = 0
  return createClientErrors({
    kv: testKv(),
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
