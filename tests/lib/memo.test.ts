// What is remembered of pure functions of texts.

import { expect, test } from 'bun:test'
import { lazily, memo } from '../../src/lib/memo.ts'

function counted(max: number) {
  const asked: string[] = []
  const length = memo(max, (text) => {
    asked.push(text)
    if (text === 'bad') throw new Error('no')
    return text === '' ? null : text.length
  })
  return { asked, length }
}

test('what is asked again is worked out once, an answer of nothing too', () => {
  const { asked, length } = counted(10)
  expect([length('ab'), length('ab'), length(''), length('')]).toEqual([2, 2, null, null])
  expect(asked).toEqual(['ab', ''])
})

test('what is in use is remembered, however many others come', () => {
  const { asked, length } = counted(4)
  for (let i = 0; i < 100; i++) {
    length('used')
    length(`once ${i}`)
  }
  expect(asked.filter((text) => text === 'used')).toHaveLength(1)
})

test('no more than so many are remembered', () => {
  const { asked, length } = counted(4)
  for (const text of ['a', 'b', 'c', 'd', 'e', 'f', 'a']) length(text)
  expect(asked).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'a'])
})

test('a refusal is said each time', () => {
  const { asked, length } = counted(4)
  for (let i = 0; i < 2; i++) expect(() => length('bad')).toThrow('no')
  expect(asked).toEqual(['bad', 'bad'])
})

test('what is made lazily is made once, when it is first asked for', () => {
  let made = 0
  const answer = lazily(() => ++made)
  expect(made).toBe(0)
  expect([answer(), answer(), made]).toEqual([1, 1, 1])
})
