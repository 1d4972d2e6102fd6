// A sweep on several servers: who does a batch changes nothing of what is stored of it.

import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import type { Kv } from '../../../src/store/kv.ts'
import { HELPED_MAX, offersIn } from '../../../src/work/sweeps/offers.ts'
import { testFleet } from '../../http/fleet.ts'
import { barCsv } from '../../bar-csv.ts'
import { CROSS } from './sweep-server.ts'

setDefaultTimeout(900_000)

const { twoServers, end } = testFleet()
afterEach(end)

const PATH = '/api/platform/sweeps'
/** Two batches and a bit, which are cut into pieces of 50. */
const SWEEP = {
  name: 'crosses',
  symbol: 'S',
  exchange: 'E',
  interval: '1h',
  bars: 50,
  source: CROSS,
  sampler: 'random',
  trials: 410,
  seed: 3,
  space: [
    { input: 'Fast', min: 2, max: 200, step: 1 },
    { input: 'Slow', min: 5, max: 400, step: 1 },
  ],
}
/** Halving has a batch in one piece. */
const PIECES = 9
/** A sweep whose verdict is cut into four parts. */
const JUDGED = { symbol: 'H', bars: 250, trials: 600 }
const PARTS = 4

const storedAlone = new Map<string, Promise<readonly string[]>>()

async function world(more: readonly 'c'[] = []) {
  const fleet = await twoServers('real', null, more)
  const { a, b, headers, kv, userId, heard, alive } = fleet
  const [owner, other] = a.fleet.holds(userId) ? [a, b] : [b, a]
  type Server = typeof a
  await owner.call('POST', '/api/platform/bars/import?exchange=E&symbol=H&interval=1h', {
    headers: { ...headers, 'content-type': 'text/csv' },
    body: barCsv(250),
  })
  await heard()
  /** Jobs of these kinds wait on a server until what it answers is called. */
  const busy = ({ pool }: Server, kinds: readonly string[] = ['trials']) => {
    const gate = Promise.withResolvers<void>()
    const real = pool.do.bind(pool)
    Object.assign(pool, {
      async do(...asked: Parameters<typeof real>) {
        if (kinds.includes(asked[0])) await gate.promise
        return real(...asked)
      },
    })
    return gate.resolve
  }
  const begin = async (change: object = {}) => {
    const { json, text } = await owner.call('POST', PATH, { headers, body: { ...SWEEP, ...change } })
    if (!json.id) throw new Error(text)
    return json.id as string
  }
  const state = async (id: string) => (await owner.call('GET', `${PATH}/${id}`, { headers })).json.sweep.state
  const until = async (is: () => boolean | Promise<boolean>) => {
    while (!(await is())) {
      await heard()
      await Bun.sleep(1)
    }
  }
  const offers = async () => Array.fromAsync(offersIn(kv).each())
  /** What is stored of a sweep that is over. */
  const ended = async (id: string) => {
    await until(async () => (await state(id)) === 'done')
    return stored(kv, id)
  }
  /** What a server that is alone stores of it. */
  const alone = (change: object = {}) => {
    const name = JSON.stringify(change)
    const found = storedAlone.get(name) ?? endedAlone(change)
    storedAlone.set(name, found)
    return found
  }
  const endedAlone = async (change: object) => {
    const others = [...alive]
    alive.clear()
    alive.add(owner.fleet.node)
    const found = await ended(await begin(change))
    for (const node of others) alive.add(node)
    return found
  }
  return { ...fleet, owner, other, busy, begin, until, offers, ended, alone, state }
}

async function stored(kv: Kv, id: string): Promise<readonly string[]> {
  const keys = Array.from({ length: 12 }, (_, batch) => ['sweep-batch', id, batch])
  const entries = await kv.getMany([...keys, ['sweep-verdict', id]])
  return entries.flatMap((entry) => entry?.value ?? [])
}

test.each([{}, { symbol: 'H', bars: 250, halving: { keep: 0.5, rungs: 1 } }])(
  'batches are done by another server as well, and end with the same bytes: %p',
  async (change) => {
    const { owner, other, busy, begin, until, offers, ended, alone } = await world()
    const expected = await alone(change)
    expect(expected).toHaveLength(4)
    const free = busy(owner)
    const id = await begin(change)
    // Two wait for a worker of their own server, and the others are offered, a few at a time.
    const rest = 'halving' in change ? 1 : PIECES - 2
    await until(async () => (await offers()).length === Math.min(rest, HELPED_MAX))
    const { sweeps } = other.services.features
    await until(async () => {
      await sweeps.help(() => {})
      return sweeps.helped === rest
    })
    free()
    expect(await ended(id)).toEqual(expected)
    expect(owner.services.features.sweeps.helped).toBe(0)
    await until(async () => (await offers()).length === 0)
  },
)

test('a batch whose server is killed is done by the one that has the sweep, and what comes late counts for nothing', async () => {
  const { owner, other, busy, begin, until, offers, ended, alone, bury, heard } = await world()
  const expected = await alone()
  const freeOwner = busy(owner)
  const freeOther = busy(other)
  const id = await begin()
  await until(async () => (await offers()).length === HELPED_MAX)
  const { sweeps } = other.services.features
  const late = Promise.withResolvers<void>()
  await sweeps.help(late.resolve)
  const taken = async () => (await offers()).filter(({ node }) => node === other.fleet.node).length
  await until(async () => (await taken()) > 0)
  const before = await taken()
  bury('another')
  await heard()
  expect(await taken()).toBe(before)
  bury(other.fleet.node)
  await until(async () => (await offers()).every(({ node }) => node === null))
  freeOther()
  await late.promise
  freeOwner()
  expect(await ended(id)).toEqual(expected)
  expect(sweeps.helped).toBe(0)
})

/** A sweep whose trials are done and whose verdict is offered, while its own server does what it has begun. */
async function judging(more: readonly 'c'[] = []) {
  const found = await world(more)
  const { owner, servers, busy, begin, until, offers, alone } = found
  const expected = await alone(JUDGED)
  expect(JSON.parse(expected.at(-1)!).overfitting.splits).toBe(12_870)
  const others = servers.filter((server) => server !== owner)
  const freeOwner = busy(owner, ['judge', 'luck'])
  const frees = others.map((server) => busy(server, ['luck']))
  const id = await begin(JUDGED)
  // The first of them waits for a worker of its own server.
  const offered = PARTS - 1
  const parts = async () => (await offers()).filter(({ part }) => part !== undefined)
  await until(async () => (await parts()).length === Math.min(offered, HELPED_MAX * others.length))
  const late = others.map(() => Promise.withResolvers<void>())
  const taken = async () => (await parts()).filter(({ node }) => node !== null)
  const help = () =>
    Promise.all(others.map(({ services }, i) => services.features.sweeps.help(late[i]!.resolve)))
  const helped = () => others.map(({ services }) => services.features.sweeps.helped)
  return { ...found, expected, others, freeOwner, frees, id, parts, taken, late, help, helped, offered }
}

test.each([{ more: [] }, { more: ['c'] }] as const)(
  'parts of a verdict are done by other servers as well, and end with the same bytes: %p',
  async ({ more }) => {
    const { expected, freeOwner, frees, id, until, taken, help, helped, ended, offers, offered } =
      await judging(more)
    await until(async () => {
      await help()
      return (await taken()).length === Math.min(offered, HELPED_MAX * frees.length)
    })
    for (const free of frees) free()
    await until(async () => {
      await help()
      return helped().reduce((sum, count) => sum + count, 0) === offered
    })
    freeOwner()
    expect(await ended(id)).toEqual(expected)
    expect(helped().every((count) => count > 0)).toBe(true)
    await until(async () => (await offers()).length === 0)
  },
)

test('a part of a verdict whose server is killed is done by others, and what comes late counts for nothing', async () => {
  const { expected, others, freeOwner, frees, id, until, taken, help, helped, ended, late, bury, offered } =
    await judging(['c'])
  await until(async () => {
    await help()
    return (await taken()).length === offered
  })
  const dead = others[0]!.fleet.node
  bury(dead)
  await until(async () => (await taken()).every(({ node }) => node !== dead))
  frees[0]!()
  await late[0]!.promise
  expect(helped()).toEqual([0, 0])
  frees[1]!()
  freeOwner()
  expect(await ended(id)).toEqual(expected)
  expect(helped()[0]).toBe(0)
})

test('a part of a verdict that a server of an earlier version answers with a batch is done again', async () => {
  const { expected, freeOwner, id, until, parts, ended, other } = await judging()
  const nothing = {
    left: [],
    out: [],
    rows: '',
    failures: [],
    names: [],
    winners: [],
    script: '',
    formerly: '',
  }
  for (const { id: offer } of await parts())
    await offersIn(other.services.kv).update(offer, (before) => ({
      ...before,
      node: other.fleet.node,
      outcome: { ...nothing, tookMs: 0 },
    }))
  await until(async () => (await parts()).every(({ outcome }) => outcome === null))
  freeOwner()
  expect(await ended(id)).toEqual(expected)
})

test('a batch that a server cannot do is done by the one that has the sweep, which says what is wrong', async () => {
  const { owner, other, headers, busy, begin, until, offers } = await world()
  const free = busy(owner)
  const id = await begin({ source: 'strategy("broken"' })
  await until(async () => (await offers()).length === HELPED_MAX)
  await other.services.features.sweeps.help(() => {})
  await until(async () => (await offers()).some(({ refusedBy }) => refusedBy.includes(other.fleet.node)))
  expect((await offers()).every(({ node, refusedBy }) => refusedBy.length === 0 || node === null)).toBe(true)
  free()
  const failed = async () => (await owner.call('GET', `${PATH}/${id}`, { headers })).json.sweep
  await until(async () => (await failed()).state === 'failed')
  expect((await failed()).error.diagnostics.length).toBeGreaterThan(0)
  await until(async () => (await offers()).length === 0)
})

test('what was offered of a sweep that has ended is forgotten by whoever takes it', async () => {
  const { other, kv, offers } = await world()
  const offer = { id: 'off_1', sweepId: 'sw_gone', lender: 'x', choices: [[1, 2]], refusedBy: [] }
  const { sets = [] } = offersIn(kv).insert({ ...offer, node: null, outcome: null })
  await kv.commit({ sets })
  const done = Promise.withResolvers<void>()
  await other.services.features.sweeps.help(done.resolve)
  await done.promise
  expect(await offers()).toEqual([])
})
