// When a thread collects what compiled texts left behind.

import { expect, test } from 'bun:test'
import { TextGarbage } from '../../../src/work/workers/text-garbage.ts'

function watched() {
  const waiting: (() => void)[] = []
  const collected: number[] = []
  let texts = 0
  const garbage = new TextGarbage(
    (work) => {
      waiting.push(work)
      return () => void waiting.splice(waiting.indexOf(work) >>> 0, 1)
    },
    () => collected.push(texts),
  )
  const job = (compiled: number) => {
    garbage.busy()
    garbage.rest((texts += compiled))
  }
  const pause = () => {
    for (const work of waiting.splice(0)) work()
  }
  return { collected, job, pause }
}

test('after many texts it collects in a pause, and only once', () => {
  const { collected, job, pause } = watched()
  for (let i = 0; i < 60; i++) job(1)
  expect(collected).toEqual([])
  pause()
  pause()
  expect(collected).toEqual([60])
})

test('a job that comes before the pause puts it off', () => {
  const { collected, job, pause } = watched()
  job(60)
  job(0)
  pause()
  expect(collected).toEqual([60])
})

test('a few texts, or one again and again, are not worth it', () => {
  const { collected, job, pause } = watched()
  for (let i = 0; i < 2000; i++) job(i < 40 ? 1 : 0)
  pause()
  expect(collected).toEqual([])
})

test('without any pause it collects between two jobs now and then', () => {
  const { collected, job } = watched()
  for (let i = 0; i < 1700; i++) job(1)
  expect(collected).toEqual([500, 1000, 1500])
})
