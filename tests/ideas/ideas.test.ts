import { expect, test } from 'bun:test'
import { createIdeas, SNAPSHOTS_PER_USER } from '../../src/ideas/ideas.ts'
import { idSource } from '../../src/lib/ids.ts'
import { testKv } from '../store/test-store.ts'
import { rejection } from '../rejection.ts'

let byte = 0
const random = { bytes: (n: number) => new Uint8Array(n).map(() => byte++) }
function world() {
  let now = 1
  const clock = { now: () => now++, sleep: () => Promise.resolve() }
  return createIdeas({ kv: testKv(), clock, newId: idSource({ clock, random }), random })
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
    Promise.allSettled(made.map((idea) => ideas.get(idea.id, reader)))
  const all = await Promise.all([readable('usr_a'), readable('usr_b'), readable(null)])
  const counts = all.map((list) => list.filter(({ status }) => status === 'fulfilled').length)
  expect(counts).toEqual([3, 2, 2])
  expect((await ideas.feed({ limit: 10 })).items.map((idea) => idea.visibility)).toEqual(['public'])
  expect((await ideas.listOf('usr_a', { limit: 10 })).items).toHaveLength(3)
})
test('an id carries 128 bits that cannot be guessed', async () => {
  const { id } = await world().publish('usr_a', 'ann', fields)
  expect(id).toMatch(/^idea_[0-9a-hjkmnp-tv-z]{52}$/)
})
test('only its owner changes or deletes it', async () => {
  const ideas = world()
  const { id } = await ideas.publish('usr_a', 'ann', { ...fields, tags: ['Trend', 'trend ', ''] })
  expect(ideas.change('usr_b', id, { title: 'x' })).rejects.toMatchObject({ code: 'idea_not_found' })
  expect(ideas.remove('usr_b', id)).rejects.toMatchObject({ code: 'idea_not_found' })
  expect(await ideas.change('usr_a', id, { visibility: 'private' })).toMatchObject({
    visibility: 'private',
    tags: ['trend'],
    title: 't',
  })
  expect((await ideas.feed({ limit: 10 })).items).toEqual([])
  await ideas.remove('usr_a', id)
  expect(await rejection(ideas.get(id, 'usr_a'))).toHaveProperty(
    'message',
    expect.stringContaining('no such idea'),
  )
})

test('an idea that was public is found under a new id only once it is unlisted', async () => {
  const ideas = world()
  const { id } = await ideas.publish('usr_a', 'ann', fields)
  const hidden = await ideas.change('usr_a', id, { visibility: 'unlisted' })
  expect(hidden.id).not.toBe(id)
  expect(await rejection(ideas.get(id, 'usr_a'))).toHaveProperty(
    'message',
    expect.stringContaining('no such idea'),
  )
  expect((await ideas.get(hidden.id, null)).title).toBe('t')
  expect((await ideas.listOf('usr_a', { limit: 10 })).items).toHaveLength(1)
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
test('a user publishes so many backtests and no more', async () => {
  const ideas = world()
  const snapshot = { text: [new TextEncoder().encode('{}')], picture: null }
  const publish = async () => {
    const { id } = await ideas.publish('usr_a', 'ann', fields)
    return ideas.publishSnapshot('usr_a', id, snapshot)
  }
  for (let i = 0; i < SNAPSHOTS_PER_USER; i++) await publish()
  expect(await rejection(publish())).toMatchObject({ code: 'quota_exceeded' })
  const [one] = (await ideas.listOf('usr_a', { limit: 2 })).items.filter((idea) => idea.snapshot)
  await ideas.takeBackSnapshot('usr_a', one!.id)
  expect((await publish()).snapshot).toMatchObject({ picture: false })
})
