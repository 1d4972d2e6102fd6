import { expect, test } from 'bun:test'
import { Silence } from '../../src/store/postgres/silence.ts'
import { HandClock } from '../lib/hand-clock.ts'
import { rejection } from '../rejection.ts'

const away = { status: 503, code: 'store_unavailable' }

function world() {
  const clock = new HandClock()
  const silence = new Silence(clock)
  const answer = Promise.withResolvers<string>()
  silence.asked()
  return { clock, silence, answer }
}

test('an answer is borne with for 1.1 s from when nothing is answered any more, and then for two looks', async () => {
  const { clock, silence, answer } = world()
  for (const most of [1100, 200]) {
    const from = clock.now()
    const refused = rejection(silence.bear(answer.promise)).then((error) => [error, clock.now() - from])
    await clock.pass(2000)
    expect(await refused).toMatchObject([away, most])
  }
  expect(silence.isKnown).toBe(true)
  expect(clock.asleep).toBe(0)
})

test('a slow answer is waited for as long as others are answered', async () => {
  const { clock, silence, answer } = world()
  const borne = silence.bear(answer.promise)
  for (let poll = 0; poll < 40; poll++) {
    silence.asked()
    await clock.pass(250)
    silence.answered()
  }
  answer.resolve('late')
  expect(await borne).toBe('late')
  expect(clock.asleep).toBe(0)
})

test('an answer that was there while the process stood still is found before it is given up', async () => {
  const { clock, silence, answer } = world()
  const borne = silence.bear(answer.promise)
  await clock.pass(50)
  await clock.leap(60_000)
  silence.answered()
  answer.resolve('waiting')
  expect(await borne).toBe('waiting')
})

test('a refusal of the database is told as it is', async () => {
  const { silence, answer } = world()
  const refused = rejection(silence.bear(answer.promise))
  answer.reject(new Error('no such table'))
  expect(String(await refused)).toContain('no such table')
})
