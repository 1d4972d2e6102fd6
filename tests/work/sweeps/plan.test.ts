// What a sweep tries next: found in short turns, since the plan runs on the server's own thread.

import { describe, expect, test } from 'bun:test'
import { proposeJob } from '../../../src/work/workers/propose-job.ts'
import { tpeSampler } from '../../../src/work/sweeps/samplers/tpe.ts'
import { planOf, SAMPLERS, type SamplerName } from '../../../src/work/sweeps/plan.ts'
import { spaceOf, type Choice, type Varied } from '../../../src/work/sweeps/space.ts'
import { rejection } from '../../rejection.ts'

const stepped = (input: string, max: number): Varied => ({ input, min: 1, max, step: 1 })

/** Everything that is tried, best where the sum is large, and how often the plan paused. */
function tryAll(sampler: SamplerName, varied: Varied[], where: string[], now: () => number, trials = 80) {
  const plan = planOf(spaceOf(varied, where), { sampler, seed: 1, trials }, now)
  const tried: (readonly Choice[])[] = []
  let pauses = 0
  for (;;) {
    const choices = plan.next()
    if (choices === null) {
      pauses++
      continue
    }
    if (choices.length === 0) return { tried, pauses }
    tried.push(...choices)
    plan.tell(choices.map(scoreOf))
  }
}

const scoreOf = (values: readonly Choice[]) => values.reduce<number>((sum, value) => sum + Number(value), 0)

describe('a plan', () => {
  test('lets others have a turn when a few points took long, however many are still looked at', () => {
    let time = 0
    const space = spaceOf([{ input: 'a', min: 0, max: 1 }], ['a > 2'])
    const plan = planOf(space, { sampler: 'random', seed: 1, trials: 10 }, () => time++)
    expect(plan.next()).toBeNull()
    expect(time).toBeLessThan(20)
  })

  test.each(SAMPLERS)('of %s tries the same with pauses and without', (sampler) => {
    const varied = [stepped('a', 14), stepped('b', 14)]
    let time = 0
    const paused = tryAll(sampler, varied, ['a < b'], () => (time += 9))
    const whole = tryAll(sampler, varied, ['a < b'], () => 0)
    expect(paused.pauses).toBeGreaterThan(10)
    expect(paused.tried).toEqual(whole.tried)
    expect(whole.tried.length).toBe(80)
  })

  test('ends as soon as all there is was tried', () => {
    let time = 0
    const { tried } = tryAll('tpe', [stepped('a', 60)], [], () => {
      time++
      return 0
    })
    expect(tried.map(([value]) => Number(value)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 60 }, (_, i) => i + 1),
    )
    expect(time).toBeLessThan(5000)
  })
})

test('TPE tries the same where its proposals are worked out elsewhere', async () => {
  const varied = [stepped('a', 900), { input: 'b', min: 0, max: 1 }]
  const here = tryAll('tpe', varied, [], () => 0, 180)
  let asked = 0
  const plan = planOf(
    spaceOf(varied, []),
    { sampler: 'tpe', seed: 1, trials: 180 },
    () => 0,
    async (job) => {
      asked++
      await Promise.resolve()
      return proposeJob(structuredClone(job))
    },
  )
  const tried: (readonly Choice[])[] = []
  for (;;) {
    const choices = plan.next()
    if (choices === null) {
      await plan.pending
      continue
    }
    if (choices.length === 0) break
    tried.push(...choices)
    plan.tell(choices.map(scoreOf))
  }
  expect(asked).toBeGreaterThan(15)
  expect(tried).toEqual(here.tried)
})

test('TPE learns from a place once, however often it is told of it', () => {
  const axes = [{ count: 40, ordered: true }]
  const [once, again] = [tpeSampler(axes, 3), tpeSampler(axes, 3)]
  for (let i = 0; i < 30; i++) once.tell(Float64Array.of((i + 0.5) / 40), i)
  for (let i = 0; i < 30; i++) again.tell(Float64Array.of((i + 0.5) / 40), i)
  for (let i = 0; i < 15; i++) again.tell(Float64Array.of(29.5 / 40), 29)
  expect([again.ask(), again.ask()]).toEqual([once.ask(), once.ask()])
})

test('a logarithmic range of very many steps is refused, naming the step', async () => {
  const refused = await rejection(
    (async () => spaceOf([{ input: 'a', min: 1, max: 100_000, step: 1, log: true }], []))(),
  )
  expect(refused).toMatchObject({ status: 422, details: { fields: [{ path: '/space/0/step' }] } })
})
