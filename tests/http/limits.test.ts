// Rate limits: what a client may take, when there is more, and what it is told. Worked out by hand.

import { describe, expect, test } from 'bun:test'
import {
  BUCKETS_MAX,
  DEFAULT_RATES,
  RateLimiter,
  type RatePolicies,
  SharedLimiter,
  type TakeShared,
} from '../../src/http/limits.ts'
import { StreamSlots } from '../../src/http/stream-slots.ts'
import type { Problem } from '../../src/lib/problem.ts'

/** Six a minute: one in ten seconds. */
const SIX = { ...DEFAULT_RATES, user: { quota: 6, windowSeconds: 60 } }

function world(policies: RatePolicies = SIX) {
  let now = 1_000_000
  const limiter = new RateLimiter({ now: () => now, sleep: () => Promise.resolve() }, policies)
  const take = (client = 'ann', rate: 'user' | 'search' = 'user') => {
    try {
      return limiter.take(rate, client)['ratelimit'] ?? null
    } catch (error) {
      const { status, message, details } = error as Problem
      return { status, message, after: details.retryAfter, ...details.headers }
    }
  }
  return { limiter, take, pass: (ms: number) => (now += ms) }
}
const REFUSED = (seconds: number) => ({
  status: 429,
  message: `At most 6 requests of this kind a minute. Wait ${seconds} s.`,
  after: seconds,
  'ratelimit-policy': '"user";q=6;w=60',
  ratelimit: `"user";r=0;t=${seconds}`,
})

describe('a client', () => {
  test('may take all at once, is told what is left, and then waits for the next', () => {
    const { limiter, take } = world()
    expect(limiter.take('user', 'ann')).toEqual({
      'ratelimit-policy': '"user";q=6;w=60',
      ratelimit: '"user";r=5;t=10',
    })
    expect(Array.from({ length: 5 }, () => take())).toEqual(
      [4, 3, 2, 1, 0].map((left) => `"user";r=${left};t=10`),
    )
    expect(take()).toEqual(REFUSED(10))
  })
  test('has one more after each share of the window, and what was refused costs nothing', () => {
    const { take, pass } = world()
    for (let i = 0; i < 6; i++) take()
    pass(3500)
    // Who comes back after less than the 6.5 s that are left comes too early.
    expect(take()).toEqual(REFUSED(7))
    pass(500)
    expect(take()).toEqual(REFUSED(6))
    pass(5999)
    expect(take()).toEqual(REFUSED(1))
    pass(1)
    expect(take()).toBe('"user";r=0;t=10')
    expect(take()).toEqual(REFUSED(10))
    pass(25_000)
    expect([take(), take(), take()]).toEqual(['"user";r=1;t=5', '"user";r=0;t=5', REFUSED(5)])
  })
  test('never has more than a window’s worth, however long it was away', () => {
    const { take, pass } = world()
    take()
    pass(86_400_000)
    expect(take()).toBe('"user";r=5;t=10')
  })
  test('loses nothing, and gains nothing, when the clock is set back', () => {
    const { take, pass } = world()
    for (let i = 0; i < 5; i++) take()
    pass(-3_600_000)
    expect([take(), take()]).toEqual(['"user";r=0;t=10', REFUSED(10)])
    pass(10_000)
    expect(take()).toBe('"user";r=0;t=10')
  })
  test('is held to each policy by itself, and so is every other client', () => {
    const { take } = world()
    for (let i = 0; i < 6; i++) take()
    expect([take('bob'), take('ann', 'search')]).toEqual(['"user";r=5;t=10', '"search";r=59;t=1'])
    expect(take()).toEqual(REFUSED(10))
  })
  test('is not limited, and not remembered, where the quota is 0', () => {
    const { limiter, take } = world({ ...DEFAULT_RATES, user: { quota: 0, windowSeconds: 60 } })
    for (let i = 0; i < 1000; i++) expect(take()).toBeNull()
    expect([limiter.take('user', 'ann'), limiter.size]).toEqual([{}, 0])
  })
  test.each([
    [3600, 'an hour'],
    [60, 'a minute'],
    [10, '10 s'],
  ])('of a window of %p seconds is told "%s"', (windowSeconds, words) => {
    const { take } = world({ ...DEFAULT_RATES, user: { quota: 1, windowSeconds } })
    take()
    expect(take()).toMatchObject({
      message: `At most 1 requests of this kind ${words}. Wait ${windowSeconds} s.`,
    })
  })
})

test('the policies are those that the manual names', () => {
  const named = Object.entries(DEFAULT_RATES).map(
    ([rate, { quota, windowSeconds }]) => `${rate} ${quota}/${windowSeconds}`,
  )
  expect(named).toEqual([
    'anonymous 120/60',
    'user 1200/60',
    'backtests 60/60',
    'search 60/60',
    'contact 5/3600',
    'chat 30/60',
    'errors 60/60',
    'tokens 20/3600',
  ])
})

test('of too many clients those are forgotten first that could take all again, then those of longest ago', () => {
  const { limiter, pass } = world()
  // Half of them are full again by the time the others come.
  for (let i = 0; i < BUCKETS_MAX / 2; i++) limiter.take('user', `old${i}`)
  pass(60_000)
  for (let i = 0; i < BUCKETS_MAX / 2; i++) limiter.take('user', `new${i}`)
  expect(limiter.size).toBe(BUCKETS_MAX)
  limiter.take('user', 'one more')
  expect(limiter.size).toBe(BUCKETS_MAX / 2 + 1)
  expect(limiter.take('user', 'new0')['ratelimit']).toStartWith('"user";r=4;')
  for (let i = 0; limiter.size < BUCKETS_MAX; i++) limiter.take('user', `busy${i}`)
  limiter.take('user', 'too many')
  expect(limiter.size).toBe(BUCKETS_MAX * 0.9)
  // It was used since, so that it is not among the oldest.
  expect(limiter.take('user', 'new0')['ratelimit']).toStartWith('"user";r=3;')
  expect(limiter.take('user', 'new1')['ratelimit']).toStartWith('"user";r=5;')
})

test('who is not full again yet is not forgotten with those that are', () => {
  const { limiter, pass } = world()
  for (let i = 0; i < BUCKETS_MAX - 1; i++) limiter.take('user', `full${i}`)
  for (let i = 0; i < 4; i++) limiter.take('user', 'busy')
  // Of the four tokens one is there again, and those who took one have it back.
  pass(10_000)
  limiter.take('user', 'one more')
  expect(limiter.size).toBe(2)
  expect(limiter.take('user', 'busy')['ratelimit']).toStartWith('"user";r=2;')
})

describe('several servers that count together', () => {
  /** The bucket in the database, plainly. */
  function fleet(count: number, policies: RatePolicies = DEFAULT_RATES) {
    let now = 1_000_000
    let asked = 0
    let isAway = false
    const buckets = new Map<string, { tokens: number; at: number }>()
    const take: TakeShared = async (bucket, { quota, windowSeconds }, wanted) => {
      asked++
      if (isAway) throw new Error('away')
      const { tokens, at } = buckets.get(bucket) ?? { tokens: quota, at: now }
      const full = Math.min(quota, tokens + ((now - at) / 1000) * (quota / windowSeconds))
      const granted = Math.min(wanted, Math.floor(full))
      buckets.set(bucket, { tokens: full - granted, at: now })
      return { granted, left: full - granted }
    }
    const clock = { now: () => now, sleep: () => Promise.resolve() }
    const servers = Array.from({ length: count }, () => new SharedLimiter(clock, policies, take))
    /** How many of so many requests are answered, if they go to the servers in turn. */
    const answered = async (requests: number) => {
      const all = await Promise.all(
        Array.from({ length: requests }, (_, i) =>
          servers[i % count]!.take('user', 'ann').then(
            () => 1,
            () => 0,
          ),
        ),
      )
      return all.reduce<number>((sum, one) => sum + one, 0)
    }
    return {
      servers,
      answered,
      asked: () => asked,
      pass: (ms: number) => (now += ms),
      goAway: () => (isAway = true),
    }
  }

  test.each([1, 3, 5])('%d of them let as many through as one would, within a tenth', async (count) => {
    const { answered, asked, pass } = fleet(count)
    const burst = await answered(3000)
    expect(burst).toBeLessThanOrEqual(1200)
    expect(burst).toBeGreaterThanOrEqual(1080)
    // Most requests are answered without asking, and so are refusals.
    expect(asked()).toBeLessThan(50 + 2 * count + 5)
    let later = 0
    for (let second = 0; second < 60; second++) {
      pass(1000)
      later += await answered(60)
    }
    expect(later).toBeGreaterThan(1080)
    expect(burst + later).toBeLessThanOrEqual(2400)
  })

  test('one that holds few tokens tells of those, and of the wait once there are none', async () => {
    const { servers, pass } = fleet(2, SIX)
    const [one, other] = servers as [SharedLimiter, SharedLimiter]
    for (const left of [5, 4, 3]) expect((await one.take('user', 'ann'))['ratelimit']).toContain(`r=${left};`)
    for (const left of [2, 1, 0])
      expect((await other.take('user', 'ann'))['ratelimit']).toContain(`r=${left};`)
    const refused = await one.take('user', 'ann').catch((error: unknown) => error as Problem)
    expect(refused).toMatchObject({ status: 429, details: { retryAfter: 10 } })
    pass(10_000)
    expect((await other.take('user', 'ann'))['ratelimit']).toContain('r=0;')
  })

  test('one that holds tokens for many tells of those that it holds, too', async () => {
    const [server] = fleet(1).servers
    const left = []
    for (let i = 0; i < 30; i++) left.push((await server!.take('user', 'ann'))['ratelimit'])
    expect(left.map((told) => Number(/r=(\d+);/.exec(told ?? '')?.[1]))).toEqual(
      Array.from({ length: 30 }, (_, i) => 1199 - i),
    )
  })

  test('of too many clients one forgets those that came longest ago', async () => {
    const { servers, asked } = fleet(1)
    const take = (client: string) => servers[0]!.take('user', client)
    await take('ann')
    for (let i = 1; i < BUCKETS_MAX; i++) await take(`other${i}`)
    // From here on she is the last who came, and the first of the others goes instead.
    await take('ann')
    await take('one more')
    const before = asked()
    await take('ann')
    expect(asked()).toBe(before)
    await take('other1')
    expect(asked()).toBe(before + 1)
  })

  test('while the database is away each counts by itself, and lets nobody wait', async () => {
    const { answered, goAway } = fleet(2)
    goAway()
    expect(await answered(6000)).toBe(2400)
  })
})

describe('streams of events', () => {
  const ignored = new AbortController().signal

  test('a user has twenty at once, is told so, and gets the place of one that was left', () => {
    const slots = new StreamSlots()
    const leave = Array.from({ length: 20 }, () => slots.enter('ann', ignored))
    const refused = () => {
      try {
        slots.enter('ann', ignored)
        return null
      } catch (error) {
        const { status, code, details } = error as Problem
        return [status, code, details.retryAfter]
      }
    }
    expect(refused()).toEqual([429, 'concurrency_limited', 30])
    // Others have their own.
    slots.enter('bob', ignored)
    expect(slots.size).toBe(21)
    leave[7]!()
    // Left once is left.
    leave[7]!()
    expect(slots.size).toBe(20)
    slots.enter('ann', ignored)
    expect(refused()).not.toBeNull()
    for (const one of leave) one()
    expect(slots.size).toBe(2)
  })

  test('a place is free again when the reader goes, also one that went before it came', () => {
    const slots = new StreamSlots()
    const reader = new AbortController()
    const leave = slots.enter('ann', reader.signal)
    expect(slots.size).toBe(1)
    reader.abort()
    expect(slots.size).toBe(0)
    slots.enter('ann', reader.signal)
    expect(slots.size).toBe(0)
    slots.enter('ann', ignored)
    leave()
    expect(slots.size).toBe(1)
  })
})
