// Records of users as each sees them, and plans that have an answer.

import { expect, test } from 'bun:test'
import { collection } from '../../src/store/collection.ts'
import { byOwner, OwnedRecords } from '../../src/store/owned.ts'
import { memoryKv } from '../../src/store/memory.ts'
import { decide, type Also } from '../../src/store/transaction.ts'
import { rejection } from '../rejection.ts'

interface Note {
  readonly id: string
  readonly ownerId: string
}

class Notes extends OwnedRecords<Note> {
  constructor(kv = memoryKv()) {
    let count = 0
    const deps = { kv, clock: { now: () => 0, sleep: async () => {} }, newId: () => `note_${++count}` }
    const notes = collection<Note>(kv, 'notes', { ...byOwner<Note>(2, 'notes'), stamped: ['owner'] })
    super(deps, notes, 'idea_not_found', 'There is no such note.')
  }
  add(ownerId: string, also?: Also<string>): Promise<string> {
    const note = { id: this.deps.newId('note'), ownerId }
    return this.keep(note, note.id, also)
  }
}

test('records are their owner’s alone', async () => {
  const notes = new Notes()
  const id = await notes.add('ann')
  expect(await notes.get('ann', id)).toEqual({ id, ownerId: 'ann' })
  expect([await notes.has('ann', id), await notes.has('bob', id), await notes.has('ann', 'none')]).toEqual([
    true,
    false,
    false,
  ])
  const missing = { status: 404, code: 'idea_not_found', message: 'There is no such note.' }
  for (const [owner, one] of [
    ['bob', id],
    ['ann', 'none'],
  ] as const) {
    expect(await rejection(notes.get(owner, one))).toMatchObject(missing)
    expect(await rejection(notes.remove(owner, one))).toMatchObject(missing)
  }
  await notes.remove('ann', id)
  expect(await rejection(notes.get('ann', id))).toMatchObject(missing)
})

test('each user has a list, with a limit and a stamp of its own', async () => {
  const notes = new Notes()
  const [first, , others] = [await notes.add('ann'), await notes.add('ann'), await notes.add('bob')]
  expect(await rejection(notes.add('ann'))).toMatchObject({ code: 'quota_exceeded' })
  expect((await notes.ids('ann', { limit: 9 })).items).toHaveLength(2)
  expect((await notes.list('bob', { limit: 9 })).items.map(({ id }) => id)).toEqual([others])
  expect((await Array.fromAsync(notes.eachOf('ann'), ({ id }) => id))[0]).toBe(first)
  const stamps = async () => [
    await notes.listStamp('ann'),
    await notes.listStamp('bob'),
    await notes.stamp(others),
  ]
  const [before = '', ...rest] = await stamps()
  await notes.remove('ann', first)
  const [after, ...same] = await stamps()
  expect([after === before, same]).toEqual([false, rest])
})

test('what is written with a new record is told what was made', async () => {
  const kv = memoryKv()
  await new Notes(kv).add('ann', (made) => ({ sets: [{ key: ['told'], value: made }] }))
  expect((await kv.get(['told']))?.value).toBe('note_1')
})

test('the answer of a plan is of the run that was committed', async () => {
  const kv = memoryKv()
  let runs = 0
  const answer = await decide(kv, async (tx) => {
    const before = await tx.get(['count'])
    // Somebody else is faster the first time.
    if (++runs === 1) await kv.commit({ sets: [{ key: ['count'], value: '5' }] })
    const next = Number(before?.value ?? 0) + 1
    return [next, { sets: [{ key: ['count'], value: String(next) }] }]
  })
  expect([runs, answer, (await kv.get(['count']))?.value]).toEqual([2, 6, '6'])
  expect(await rejection(decide(kv, () => Promise.reject(new Error('no'))))).toMatchObject({ message: 'no' })
})
