import { expect, test } from 'bun:test'
import { Ideas, IDEAS_PER_USER, SNAPSHOTS_PER_USER } from '../../../src/people/ideas/ideas.ts'
import { idSource } from '../../../src/lib/ids.ts'
import { testKv } from '../../store/test-store.ts'
import { rejection } from '../../rejection.ts'

let byte = 0
const random = { bytes: (n: number) => new Uint8Array(n).map(() => byte++) }
function world(kv = testKv()) {
  let now = 1
  const clock = { now: () => now++, sleep: () => Promise.resolve() }
  return new Ideas({ kv, clock, newId: idSource({ clock, random }), random, ownsBacktest: async () => true })
}
const fields = { title: 't', body: 'b', visibility: 'public' as const }

test('who may read what', async () => {
  const ideas = world()
  const made = await Promise.all(
    (['public', 'unlisted', 'private'] as const).map((visibility) =>
      ideas.publish('usr_a', 'ann', { ...fields, visibility }),
    ),
  )
  const readable = (reader: string | null) =>
    Promise.allSettled(made.map((idea) => ideas.read(idea.id, reader)))
  const all = await Promise.all([readable('usr_a'), readable('usr_b'), readable(null)])
  const counts = all.map((list) => list.filter(({ status }) => status === 'fulfilled').length)
  expect(counts).toEqual([3, 2, 2])
  expect((await ideas.feed({ limit: 10 })).items.map((idea) => idea.visibility)).toEqual(['public'])
  expect((await ideas.list('usr_a', { limit: 10 })).items).toHaveLength(3)
})
test('an id carries 128 bits that cannot be guessed', async () => {
  const { id } = await world().publish('usr_a', 'ann', fields)
  expect(id).toMatch(/^idea_[0-9a-hjkmnp-tv-z]{52}$/)
})
test('only its owner changes or deletes it', async () => {
  const ideas = world()
  const { id } = await ideas.publish('usr_a', 'ann', { ...fields, tags: ['Trend', 'trend ', ''] })
  expect(await rejection(ideas.change('usr_b', id, { title: 'x' }))).toMatchObject({ code: 'idea_not_found' })
  expect(await rejection(ideas.remove('usr_b', id))).toMatchObject({ code: 'idea_not_found' })
  expect(await ideas.change('usr_a', id, { visibility: 'private' })).toMatchObject({
    visibility: 'private',
    tags: ['trend'],
    title: 't',
  })
  expect((await ideas.feed({ limit: 10 })).items).toEqual([])
  await ideas.remove('usr_a', id)
  expect(await rejection(ideas.read(id, 'usr_a'))).toHaveProperty(
    'message',
    expect.stringContaining('no such idea'),
  )
})

test('an idea that was public is found under a new id only once it is unlisted', async () => {
  const ideas = world()
  const { id } = await ideas.publish('usr_a', 'ann', fields)
  const hidden = await ideas.change('usr_a', id, { visibility: 'unlisted' })
  expect(hidden.id).not.toBe(id)
  expect(await rejection(ideas.read(id, 'usr_a'))).toHaveProperty(
    'message',
    expect.stringContaining('no such idea'),
  )
  expect((await ideas.read(hidden.id, null)).title).toBe('t')
  expect((await ideas.list('usr_a', { limit: 10 })).items).toHaveLength(1)
  expect((await ideas.change('usr_a', hidden.id, { title: 'u' })).id).toBe(hidden.id)
})
test('also when it was private in between', async () => {
  const ideas = world()
  const { id } = await ideas.publish('usr_a', 'ann', fields)
  const between = await ideas.change('usr_a', id, { visibility: 'private' })
  expect(between.id).toBe(id)
  expect((await ideas.change('usr_a', id, { visibility: 'unlisted' })).id).not.toBe(id)
})
test('an idea nobody could know keeps its id when it becomes unlisted', async () => {
  const ideas = world()
  const { id } = await ideas.publish('usr_a', 'ann', { ...fields, visibility: 'private' })
  expect((await ideas.change('usr_a', id, { visibility: 'unlisted' })).id).toBe(id)
})
test('a field is kept alike whether it is published or changed', async () => {
  const ideas = world()
  const said = { symbol: 'btcusdt', exchange: 'binance', tags: [' Trend', 'trend'] }
  const published = await ideas.publish('usr_a', 'ann', { ...fields, ...said })
  const { id } = await ideas.publish('usr_a', 'ann', fields)
  const changed = await ideas.change('usr_a', id, said)
  for (const { symbol, exchange, tags } of [published, changed])
    expect([symbol, exchange, tags]).toEqual(['BTCUSDT', 'BINANCE', ['trend']])
})

test('an idea is kept with what was said, and nothing where nothing was', async () => {
  const ideas = world()
  const said = {
    title: 'Breakout',
    body: '**Now**',
    visibility: 'unlisted' as const,
    tags: [],
    symbol: null,
    exchange: 'nyse',
    interval: '1d',
    backtestId: 'bt_1',
  }
  const { id, createdAt, ...rest } = await ideas.publish('usr_a', 'ann', said)
  expect(rest).toEqual({
    ...said,
    ownerId: 'usr_a',
    author: 'ann',
    exchange: 'NYSE',
    wasPublic: false,
    updatedAt: createdAt,
  })
  const plain = await ideas.publish('usr_a', 'ann', { ...fields, tags: undefined, symbol: undefined })
  expect(plain).toMatchObject({
    tags: [],
    symbol: null,
    exchange: null,
    interval: null,
    backtestId: null,
    wasPublic: true,
  })
  expect((await ideas.read(id, null)).createdAt).toBe(createdAt)
})
test('a change touches what it names, and can take things away', async () => {
  const ideas = world()
  const made = await ideas.publish('usr_a', 'ann', { ...fields, symbol: 'A', interval: '1h', tags: ['x'] })
  const changed = await ideas.change('usr_a', made.id, {
    title: 'new',
    symbol: null,
    tags: [],
  })
  expect(changed).toEqual({ ...made, title: 'new', symbol: null, tags: [], updatedAt: expect.any(Number) })
  expect(changed.updatedAt).toBeGreaterThan(made.updatedAt)
  expect(await ideas.read(made.id, null)).toEqual(changed)
})
test('the feed holds what is public, from the moment it is', async () => {
  const ideas = world()
  const shown = async () => (await ideas.feed({ limit: 10 })).items.map(({ title }) => title)
  const { id } = await ideas.publish('usr_a', 'ann', { ...fields, title: 'one', visibility: 'private' })
  await ideas.publish('usr_b', 'bob', { ...fields, title: 'two' })
  expect(await shown()).toEqual(['two'])
  await ideas.change('usr_a', id, { visibility: 'public' })
  expect(await shown()).toEqual(['two', 'one'])
  expect((await Array.fromAsync(ideas.eachPublic())).map(({ title }) => title)).toEqual(['one', 'two'])
  expect((await Array.fromAsync(ideas.eachOf('usr_b'))).map(({ title }) => title)).toEqual(['two'])
  // It was public, so its old address must not lead there any more once it is unlisted.
  expect((await ideas.change('usr_a', id, { visibility: 'unlisted' })).id).not.toBe(id)
  expect(await shown()).toEqual(['two'])
})
test('of records older than that note, all but unlisted ones may have been public', async () => {
  const kv = testKv()
  const ideas = world(kv)
  const old = async (id: string, visibility: string) => {
    const record = {
      ...fields,
      id,
      visibility,
      ownerId: 'usr_a',
      author: 'ann',
      tags: [],
      createdAt: 0,
      updatedAt: 0,
    }
    await kv.commit({ sets: [{ key: ['ideas', 'id', id], value: JSON.stringify(record) }] })
    return record
  }
  await Promise.all([
    old('idea_public', 'public'),
    old('idea_private', 'private'),
    old('idea_unlisted', 'unlisted'),
  ])
  const hidden = async (id: string) => (await ideas.change('usr_a', id, { visibility: 'unlisted' })).id
  expect([
    (await hidden('idea_public')) === 'idea_public',
    (await hidden('idea_private')) === 'idea_private',
    (await hidden('idea_unlisted')) === 'idea_unlisted',
  ]).toEqual([false, false, true])
  // Nor is it taken for one that was public after it was private for a while.
  await ideas.change('usr_a', 'idea_unlisted', { visibility: 'private' })
  expect(await hidden('idea_unlisted')).toBe('idea_unlisted')
})
test('stamps change with what they are of, and with nothing else', async () => {
  const ideas = world()
  const stamps = async () => [await ideas.feedStamp(), await ideas.listStamp('usr_a')]
  const { id } = await ideas.publish('usr_a', 'ann', { ...fields, visibility: 'private' })
  const before = await stamps()
  const own = await ideas.stamp(id)
  await ideas.publish('usr_b', 'bob', { ...fields, visibility: 'private' })
  expect(await stamps()).toEqual(before)
  await ideas.change('usr_a', id, { title: 'x' })
  const [feed, list] = await stamps()
  expect([feed === before[0], list === before[1], (await ideas.stamp(id)) === own]).toEqual([
    true,
    false,
    false,
  ])
  await ideas.change('usr_a', id, { visibility: 'public' })
  expect((await ideas.feedStamp()) === feed).toBe(false)
})
test('a user can have 2,000 ideas, and hiding one of them makes it no more', async () => {
  const kv = testKv()
  const ideas = world(kv)
  const count = { key: ['ideas', 'count', 'owner', 'usr_a'], value: String(IDEAS_PER_USER - 1) }
  await kv.commit({ sets: [count] })
  const { id } = await ideas.publish('usr_a', 'ann', fields)
  expect(await rejection(ideas.publish('usr_a', 'ann', fields))).toMatchObject({
    code: 'quota_exceeded',
    message: 'You can have at most 2000 ideas. Delete some first.',
  })
  const hidden = await ideas.change('usr_a', id, { visibility: 'unlisted' })
  expect(await rejection(ideas.publish('usr_a', 'ann', fields))).toMatchObject({ code: 'quota_exceeded' })
  await ideas.remove('usr_a', hidden.id)
  await ideas.publish('usr_a', 'ann', fields)
})
test('a user publishes so many backtests and no more', async () => {
  const ideas = world()
  const snapshot = { text: [new TextEncoder().encode('{}')], picture: null }
  const publish = async () => {
    const { id } = await ideas.publish('usr_a', 'ann', fields)
    return ideas.publishSnapshot('usr_a', id, snapshot)
  }
  for (let i = 0; i < SNAPSHOTS_PER_USER; i++) await publish()
  expect(await rejection(publish())).toMatchObject({ code: 'quota_exceeded' })
  const [one] = (await ideas.list('usr_a', { limit: 2 })).items.filter((idea) => idea.snapshot)
  await ideas.takeBackSnapshot('usr_a', one!.id)
  expect((await publish()).snapshot).toMatchObject({ picture: false })
})
