import { expect, test } from 'bun:test'
import { Turns } from '../../../src/work/workers/turns.ts'

const anybody = () => true

test('who was served longest ago is next, however much the others wait for', () => {
  const turns = new Turns<string>()
  turns.push('a', 'a1')
  expect(turns.take(anybody)).toBe('a1')
  for (const item of ['a2', 'a3']) turns.push('a', item)
  for (const item of ['b1', 'b2']) turns.push('b', item)
  turns.push('c', 'c1')
  const order = Array.from({ length: 6 }, () => turns.take(anybody))
  expect(order).toEqual(['b1', 'c1', 'a2', 'b2', 'a3', null])
  expect(turns.length).toBe(0)
})

test('who may not have one now keeps their place', () => {
  const turns = new Turns<string>()
  turns.push('a', 'a1')
  turns.push('b', 'b1')
  turns.push('b', 'b2')
  expect(turns.take((user) => user !== 'a')).toBe('b1')
  expect(turns.take(anybody)).toBe('a1')
  expect([turns.remove('b', 'b1'), turns.remove('b', 'b2'), turns.lengthOf('b')]).toEqual([false, true, 0])
})
