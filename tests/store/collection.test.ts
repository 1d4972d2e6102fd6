import { expect, test } from 'bun:test'
import { collection } from '../../src/store/collection.ts'
import { NameTaken, transact } from '../../src/store/transaction.ts'
import { memoryKv } from '../../src/store/memory.ts'
import { DataRefused } from '../../src/store/data-refused.ts'
import { migrate } from '../../src/store/migrate.ts'
import { rejection } from '../rejection.ts'

interface Note {
  readonly id: string
  readonly owner: string
  readonly name: string
  readonly open: boolean
}

function setup() {
  const kv = memoryKv()
  const notes = collection<Note>(kv, 'notes', {
    indexes: { owner: (note) => [note.owner], open: (note) => (note.open ? [] : null) },
    unique: { name: (note) => [note.name] },
    counts: { owner: { of: (note) => [note.owner], max: 3 } },
  })
  const add = (id: string, fields: Partial<Note> = {}) =>
    transact(kv, () => notes.insert({ id, owner: 'u1', name: id, open: true, ...fields }))
  const everything = async () => (await kv.list({ prefix: [] }, { limit: 1000 })).length
  return { kv, notes, add, everything }
}

test('a record is found by id, by unique name and in its indexes, and removing it leaves nothing behind', async () => {
  const { notes, add, everything } = setup()
  await add('n1')
  expect((await notes.get('n1'))?.owner).toBe('u1')
  expect((await notes.find('name', ['n1']))?.id).toBe('n1')
  expect((await notes.list('owner', ['u1'], { limit: 10 })).items).toHaveLength(1)
  expect(await notes.delete('n1')).toBe(true)
  expect(await notes.delete('n1')).toBe(false)
  expect(await everything()).toBe(0)
})

test('entries of an index are read from one key to another, both with all below them', async () => {
  const kv = memoryKv()
  const notes = collection<Note & { readonly level: number }>(kv, 'notes', {
    indexes: { level: (note) => [note.owner, note.level] },
  })
  for (let level = 0; level < 600; level++)
    await transact(kv, () =>
      notes.insert({
        id: `n${level}`,
        owner: level % 2 ? 'u1' : 'u2',
        name: '',
        open: true,
        level,
      }),
    )
  const levels = async (from: number, to: number) =>
    (await Array.fromAsync(notes.entries('level', ['u1', from], ['u1', to])))
      .flat()
      .map((key) => key.slice(1))
  expect(await levels(7, 11)).toEqual([
    [7, 'n7'],
    [9, 'n9'],
    [11, 'n11'],
  ])
  expect(await levels(8, 8)).toEqual([])
  expect(await levels(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)).toHaveLength(300)
})

test('of each branch of an index the first entry is found, and what lies behind it is passed over', async () => {
  const kv = memoryKv()
  const notes = collection<Note>(kv, 'notes', { indexes: { owner: (note) => [note.owner, note.name] } })
  const rows = ['u1 a', 'u1 b', 'u2 c', 'u2 a', 'u10 z', 'u1 0']
  for (const [i, row] of rows.entries()) {
    const [owner = '', name = ''] = row.split(' ')
    await transact(kv, () => notes.insert({ id: `n${i}`, owner, name, open: true }))
  }
  const firsts = async (parts: string[], depth: number) =>
    (await Array.fromAsync(notes.firsts('owner', parts, depth))).map((tail) => tail.join(' '))
  expect(await firsts([], 1)).toEqual(['u1 0 n5', 'u10 z n4', 'u2 a n3'])
  expect(await firsts([], 2)).toEqual(['u1 0 n5', 'u1 a n0', 'u1 b n1', 'u10 z n4', 'u2 a n3', 'u2 c n2'])
  expect(await firsts(['u1'], 1)).toEqual(['0 n5', 'a n0', 'b n1'])
  expect(await firsts(['u3'], 1)).toEqual([])
})

test('a changed record moves in its indexes and gives its old name back', async () => {
  const { notes, add } = setup()
  await add('n1')
  await notes.update('n1', (note) => ({ ...note, name: 'other', open: false }))
  expect(await notes.find('name', ['n1'])).toBeNull()
  expect((await notes.find('name', ['other']))?.id).toBe('n1')
  expect((await notes.list('open', [], { limit: 10 })).items).toEqual([])
  await add('n2', { name: 'n1' })
  expect(await notes.update('n9', (note) => note)).toBeNull()
})

test('a unique name is given once, also to two who ask at the same time', async () => {
  const { notes, add } = setup()
  const results = await Promise.allSettled([add('n1', { name: 'x' }), add('n2', { name: 'x' })])
  expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(await rejection(add('n3', { name: 'x' }))).toBeInstanceOf(NameTaken)
  expect(await notes.count('owner', ['u1'])).toBe(1)
})

test('a quota counts what is there, however the writes race', async () => {
  const { notes, add } = setup()
  const results = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((id) => add(id)))
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(3)
  expect(results.find((result) => result.status === 'rejected')).toMatchObject({
    reason: {
      status: 422,
      code: 'quota_exceeded',
      message: 'You can have at most 3 notes. Delete some first.',
    },
  })
  await notes.delete('a')
  await add('f')
  expect(await notes.count('owner', ['u1'])).toBe(3)
})

test('pages lead from one to the next, newest first', async () => {
  const { notes, add } = setup()
  for (const id of ['n1', 'n2', 'n3']) await add(id)
  const first = await notes.list('owner', ['u1'], { limit: 2 })
  expect(first.items.map((note) => note.id)).toEqual(['n3', 'n2'])
  const second = await notes.list('owner', ['u1'], { limit: 2, cursor: first.nextCursor })
  expect(second).toMatchObject({ items: [{ id: 'n1' }], nextCursor: null })
  // A page that is exactly full is the last one.
  expect((await notes.list('owner', ['u1'], { limit: 3 })).nextCursor).toBeNull()
  expect((await Array.fromAsync(notes.each())).map((note) => note.id)).toEqual(['n1', 'n2', 'n3'])
  expect(await rejection(notes.list('owner', ['u1'], { limit: 2, cursor: 'nonsense' }))).toMatchObject({
    code: 'validation_failed',
  })
})

test('a new database is at the newest layout, an old one is brought there, a newer one is refused', async () => {
  const kv = memoryKv()
  expect(await migrate(kv, [])).toBe(1)
  const ran: number[] = []
  const step = (to: number) => ({ to, run: async () => void ran.push(to) })
  expect(await migrate(kv, [step(2), step(3)])).toBe(3)
  expect(await migrate(kv, [step(2), step(3)])).toBe(3)
  expect(ran).toEqual([2, 3])
  expect(await rejection(migrate(kv, [step(2)]))).toBeInstanceOf(DataRefused)
})

test('layout 2 lists what waits by user and what is not pinned, whenever it was cut short before', async () => {
  const kv = memoryKv()
  const waiting = [
    ['deliveries', { id: 'msg_1', ownerId: 'usr_1', receiverId: 'wh_1', nextAt: 5 }],
    ['deliveries', { id: 'msg_2', ownerId: 'usr_2', receiverId: 'wh_2', nextAt: 3 }],
    ['letters', { id: 'mail_1', ownerId: 'usr_1', nextAt: 7 }],
  ] as const
  for (const [name, record] of waiting)
    await kv.commit({
      sets: [
        { key: [name, 'id', record.id], value: JSON.stringify(record) },
        { key: [name, 'by', 'due', record.nextAt, record.id], value: 'null' },
      ],
    })
  await kv.commit({ sets: [{ key: ['backtests', 'by', 'user', 'usr_1', 'bt_1'], value: 'null' }] })
  await kv.commit({ sets: [{ key: ['meta', 'schema'], value: '1' }] })
  await migrate(kv)
  await kv.commit({ sets: [{ key: ['meta', 'schema'], value: '1' }] })
  await migrate(kv)
  const keys = async (name: string) =>
    (await kv.list({ prefix: [name, 'by'] }, { limit: 10 })).map(({ key }) => key.slice(2))
  expect(await keys('deliveries')).toEqual([
    ['turn', 'usr_1', 'wh_1', 5, 'msg_1'],
    ['turn', 'usr_2', 'wh_2', 3, 'msg_2'],
  ])
  expect(await keys('letters')).toEqual([['turn', 'usr_1', 7, 'mail_1']])
  expect(await keys('backtests')).toEqual([
    ['unpinned', 'usr_1', 'bt_1'],
    ['user', 'usr_1', 'bt_1'],
  ])
})
