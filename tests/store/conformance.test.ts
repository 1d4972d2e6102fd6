// What every store must do, written once and run on each.

import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { collection } from '../../src/store/collection.ts'
import { AboveMax, type Key, type Kv } from '../../src/store/kv.ts'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { memoryKv } from '../../src/store/memory.ts'
import { transact } from '../../src/store/transaction.ts'
import { postgresKv } from '../../src/store/postgres/postgres-kv.ts'
import { rejection } from '../rejection.ts'
import { simulatedConnection } from '../simulation/database.ts'
import { postgresStores } from './postgres-stores.ts'

const folder = mkdtempSync(`${tmpdir()}/chartroom-store-`)
let opened = 0
const postgres = await postgresStores()
type Open = (maxBytes?: number) => Promise<Kv>
/** Those that are told how much they may hold. A database is told so itself. */
const limited: readonly (readonly [string, Open])[] = [
  ['memory', async (maxBytes) => memoryKv(maxBytes === undefined ? {} : { maxBytes })],
  [
    'lmdb',
    async (maxBytes) =>
      lmdbKv({ path: `${folder}/${opened++}`, ...(maxBytes !== undefined && { maxBytes }) }),
  ],
]
const stores: typeof limited = [
  ...limited,
  ['postgres', async () => postgresKv(await postgres.share())],
  ['postgres as it is simulated', async () => postgresKv(await simulatedConnection(1))],
]
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await postgres.stop()
})

const set = (key: Key, value = '1') => ({ sets: [{ key, value }] })
const keys = async (kv: Kv, prefix: Key = []) =>
  (await kv.list({ prefix }, { limit: 100 })).map((entry) => entry.key)

describe.each(stores)('%s', (_name, open) => {
  test('a value is read back as it was set, and is absent before', async () => {
    const kv = await open()
    expect(await kv.get(['a'])).toBeNull()
    expect(await kv.commit(set(['a'], '{"é":"☃"}'))).toBe(true)
    expect(await kv.get(['a'])).toMatchObject({ key: ['a'], value: '{"é":"☃"}' })
    await kv.commit({ deletes: [['a'], ['never']] })
    expect(await kv.get(['a'])).toBeNull()
    await kv.close()
  })

  test('a value that is set as UTF-8 is read back as its text', async () => {
    const kv = await open()
    const texts = ['{"é":"☃"}', '\uFEFF"😀"', '"x"'.repeat(100_000)]
    const sets = texts.map((text, i) => ({ key: ['utf8', i], value: new TextEncoder().encode(text) }))
    expect(await kv.commit({ sets, sums: [{ key: ['count'], step: 3 }] })).toBe(true)
    const entries = await kv.list({ prefix: ['utf8'] }, { limit: 10 })
    expect(entries.map(({ value }) => value)).toEqual(texts)
    await kv.close()
  })

  test('the moment stays while nothing is written and differs after every commit, where there is one', async () => {
    const kv = await open()
    const moments = [kv.moment?.()]
    const again: (number | undefined)[] = []
    for (let i = 0; i < 5; i++) {
      await kv.commit(i === 3 ? { deletes: [['a']] } : set(['a'], String(i)))
      moments.push(kv.moment?.())
      expect(await kv.get(['a'])).toEqual(i === 3 ? null : expect.objectContaining({ value: String(i) }))
      expect(await kv.commit({ checks: [{ key: ['a'], version: 'none' }] })).toBe(false)
      again.push(kv.moment?.())
    }
    const isThere = kv.moment !== undefined
    expect(new Set(moments).size).toBe(isThere ? moments.length : 1)
    expect(again).toEqual(moments.slice(1))
    await kv.close()
  })

  test('a list of keys alone has those of the list, in both directions', async () => {
    const kv = await open()
    const names = ['a', 'ab', 'b', 'é', 'ab\0c', 'ab\0é', '\0', '', '😀', 'Ж'.repeat(40)]
    await kv.commit({ sets: names.map((name) => ({ key: ['of', name, 7], value: name })) })
    for (const reverse of [false, true])
      for (const after of [undefined, ['of', 'ab', 7]]) {
        const options = { limit: 4, reverse, ...(after && { after }) }
        const listed = await kv.list({ prefix: ['of'] }, options)
        const alone = await kv.list({ prefix: ['of'] }, { ...options, keysOnly: true })
        expect(alone.map(({ key }) => key)).toEqual(listed.map(({ key }) => key))
        expect(listed.map(({ key }) => key[1])).toEqual(listed.map(({ value }) => value))
      }
    await kv.close()
  })

  test('a plan that lists records can be committed, and starts again if one of them has changed', async () => {
    const kv = await open()
    const things = collection<{ id: string; owner: string; count: number }>(kv, 'things', {
      indexes: { owner: ({ owner }) => [owner] },
    })
    for (const id of ['t_1', 't_2']) await transact(kv, () => things.insert({ id, owner: 'o', count: 0 }))
    let runs = 0
    await transact(kv, async (tx) => {
      const { items } = await things.at(tx).list('owner', ['o'], { limit: 5 })
      if (runs++ === 0) await things.update('t_1', (thing) => ({ ...thing, count: 7 }))
      const sum = items.reduce((total, { count }) => total + count, 0)
      return things.insert({ id: 't_3', owner: 'sum', count: sum })
    })
    expect([runs, (await things.get('t_3'))?.count]).toEqual([2, 7])
    await kv.close()
  })

  test('many keys are answered in their order, with null where there is none', async () => {
    const kv = await open()
    await kv.commit({ sets: ['a', 'c'].map((name) => ({ key: [name], value: name })) })
    const entries = await kv.getMany([['c'], ['b'], ['a'], ['c']])
    expect(entries.map((entry) => entry?.value ?? null)).toEqual(['c', null, 'a', 'c'])
    expect(entries[0]?.version).toBe((await kv.get(['c']))?.version ?? '')
    expect(await kv.versions([['c'], ['b'], ['a']])).toEqual(
      [0, 1, 2].map((i) => entries[i]?.version ?? null),
    )
    await kv.close()
  })

  test('keys sort by kind, then by value, and a key sorts before its extensions', async () => {
    const kv = await open()
    const ordered: Key[] = [
      [false],
      [true],
      [-Infinity],
      [-1.5],
      [-1],
      [0],
      [0, 'below'],
      [5e-324],
      [2],
      [10],
      [Number.MAX_SAFE_INTEGER],
      [''],
      ['', 1],
      ['\0'],
      ['\u0001'],
      ['a'],
      ['a', false],
      ['a', 1],
      ['a', 'b'],
      ['a\0'],
      ['a\0b'],
      ['aa'],
      ['b'],
      ['é'],
      ['\uFFFD'],
      ['😀'],
    ]
    for (const key of ordered.toReversed()) await kv.commit(set(key))
    expect(await keys(kv)).toEqual(ordered)
    expect((await kv.list({ prefix: [] }, { limit: 100, reverse: true })).map((entry) => entry.key)).toEqual(
      ordered.toReversed(),
    )
    await kv.close()
  })

  test('a prefix lists what is below it and nothing beside it', async () => {
    const kv = await open()
    await kv.commit({
      sets: [['u5'], ['u5', 1], ['u5', 2], ['u50', 1], ['u6', 1]].map((key) => ({ key, value: '0' })),
    })
    expect(await keys(kv, ['u5'])).toEqual([
      ['u5', 1],
      ['u5', 2],
    ])
    await kv.close()
  })

  test('pages follow each other in both directions without a gap', async () => {
    const kv = await open()
    const all = Array.from({ length: 25 }, (_, i): Key => ['p', i])
    await kv.commit({ sets: all.map((key) => ({ key, value: '0' })) })
    for (const reverse of [false, true]) {
      const seen: Key[] = []
      for (let after: Key | undefined; ;) {
        const page = await kv.list({ prefix: ['p'] }, { limit: 10, reverse, ...(after && { after }) })
        seen.push(...page.map((entry) => entry.key))
        after = page.at(-1)?.key
        if (page.length < 10) break
      }
      expect(seen).toEqual(reverse ? all.toReversed() : all)
    }
    const range = { start: ['p', 3], end: ['p', 6] }
    expect((await kv.list(range, { limit: 10 })).map((entry) => entry.key)).toEqual([
      ['p', 3],
      ['p', 4],
      ['p', 5],
    ])
    expect((await kv.list(range, { limit: 2, reverse: true })).map((entry) => entry.key)).toEqual([
      ['p', 5],
      ['p', 4],
    ])
    await kv.close()
  })

  test('a version changes with every write, also of the same value', async () => {
    const kv = await open()
    const seen = new Set<string>()
    for (let i = 0; i < 5; i++) {
      await kv.commit(i === 3 ? { deletes: [['v']] } : set(['v'], '1'))
      seen.add((await kv.get(['v']))?.version ?? 'absent')
    }
    expect(seen.size).toBe(5)
    await kv.close()
  })

  test('a commit whose check fails writes nothing', async () => {
    const kv = await open()
    await kv.commit(set(['a']))
    const version = (await kv.get(['a']))?.version ?? null
    expect(await kv.commit({ checks: [{ key: ['a'], version: null }], ...set(['b']) })).toBe(false)
    expect(await kv.commit({ checks: [{ key: ['a'], version }], ...set(['a'], '2') })).toBe(true)
    expect(await kv.commit({ checks: [{ key: ['a'], version }], ...set(['a'], '3'), deletes: [['a']] })).toBe(
      false,
    )
    expect((await kv.get(['a']))?.value).toBe('2')
    expect(await kv.get(['b'])).toBeNull()
    // One that only looks: all must hold.
    const stale = { key: ['b'], version }
    expect(await kv.commit({ checks: [{ key: ['never'], version: null }, stale] })).toBe(false)
    await kv.close()
  })

  test('of many who read the same version one wins, and a counter loses no step', async () => {
    const kv = await open()
    await kv.commit(set(['n'], '0'))
    const version = (await kv.get(['n']))?.version ?? null
    const race = Array.from({ length: 20 }, (_, i) =>
      kv.commit({ checks: [{ key: ['n'], version }], ...set(['n'], String(i)) }),
    )
    expect((await Promise.all(race)).filter(Boolean)).toHaveLength(1)
    await kv.commit(set(['n'], '0'))
    const step = async (): Promise<void> => {
      const read = await kv.get(['n'])
      const next = String(Number(read?.value) + 1)
      const won = await kv.commit({
        checks: [{ key: ['n'], version: read?.version ?? null }],
        ...set(['n'], next),
      })
      if (!won) await step()
    }
    await Promise.all(Array.from({ length: 20 }, step))
    expect((await kv.get(['n']))?.value).toBe('20')
    await kv.close()
  })

  test('steps of a counter all count, however many come at a time, and leave nothing at zero', async () => {
    const kv = await open()
    const step = (by: number) => kv.commit({ sums: [{ key: ['n'], step: by }] })
    expect(await Promise.all([1, 2, 3, 4].map(step))).toEqual([true, true, true, true])
    expect((await kv.get(['n']))?.value).toBe('10')
    await Promise.all([-4, -3, -1, -1].map(step))
    expect((await kv.get(['n']))?.value).toBe('1')
    await step(-5)
    expect(await kv.get(['n'])).toBeNull()
    await kv.close()
  })

  test('a step above the bound refuses the whole commit, also in a race, and a step down is always taken', async () => {
    const kv = await open()
    const add = (i: number) => kv.commit({ ...set(['row', i]), sums: [{ key: ['n'], step: 1, max: 3 }] })
    const added = await Promise.allSettled([1, 2, 3, 4, 5].map(add))
    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    expect(await keys(kv, ['row'])).toHaveLength(3)
    expect(await rejection(add(6))).toMatchObject({ sum: { key: ['n'], max: 3 } })
    expect(await rejection(add(6))).toBeInstanceOf(AboveMax)
    // The bound was lowered since.
    expect(await kv.commit({ sums: [{ key: ['n'], step: -1, max: 1 }] })).toBe(true)
    expect((await kv.get(['n']))?.value).toBe('2')
    await kv.close()
  })

  test('a check sees that a counter took a step, and a failed check takes none', async () => {
    const kv = await open()
    const step = { sums: [{ key: ['n'], step: 1 }] }
    const version = async () => {
      await kv.commit(step)
      return (await kv.get(['n']))?.version ?? null
    }
    const first = await version()
    await kv.commit(step)
    expect(await kv.commit({ checks: [{ key: ['n'], version: first }], ...step })).toBe(false)
    expect((await kv.get(['n']))?.value).toBe('2')
    await kv.commit({ sums: [{ key: ['n'], step: -2 }] })
    expect(await kv.commit({ checks: [{ key: ['n'], version: null }], ...step })).toBe(true)
    await kv.close()
  })
})

describe.each(limited)('%s', (_name, open) => {
  test('a full store still takes what is essential, and what takes no more than it frees', async () => {
    const kv = await open(400_000)
    const big = 'x'.repeat(50_000)
    const fill = async () => {
      for (let i = 0; i < 100; i++) await kv.commit(set(['big', i], big))
    }
    expect(await rejection(fill())).toMatchObject({ code: 'storage_full' })
    const full = { status: 507, code: 'storage_full' }
    expect(await rejection(kv.commit(set(['small'])))).toMatchObject(full)
    expect(await kv.commit({ ...set(['session']), essential: true })).toBe(true)
    // A record whose state changes, and one that moves to another place of an index.
    expect(await kv.commit(set(['big', 0], `${big} revoked`))).toBe(true)
    expect(await kv.commit({ ...set(['by', 'new'], big), deletes: [['big', 0]] })).toBe(true)
    expect(await rejection(kv.commit(set(['big', 1], big + big)))).toMatchObject(full)
    // A record goes, its count goes down.
    expect(await kv.commit({ ...set(['by', 'new'], '1'), deletes: [['big', 1]] })).toBe(true)
    await kv.close()
  })

  test('a full store takes a counter down, and not up to a new key', async () => {
    const kv = await open(400_000)
    await kv.commit({ sums: [{ key: ['n'], step: 2 }] })
    const fill = async () => {
      for (let i = 0; i < 100; i++) await kv.commit(set(['big', i], 'x'.repeat(50_000)))
    }
    expect(await rejection(fill())).toMatchObject({ code: 'storage_full' })
    expect(await kv.commit({ sums: [{ key: ['n'], step: -1 }] })).toBe(true)
    expect(await rejection(kv.commit({ sums: [{ key: ['m'], step: 1 }] }))).toMatchObject({
      code: 'storage_full',
    })
    await kv.close()
  })

  test('a full store refuses writes with 507, keeps answering, and takes writes again after deletes', async () => {
    const kv = await open(400_000)
    const big = 'x'.repeat(50_000)
    let written = 0
    const fill = async () => {
      for (; written < 100; written++) await kv.commit(set(['big', written], big))
    }
    expect(await rejection(fill())).toMatchObject({ status: 507, code: 'storage_full' })
    expect(written).toBeGreaterThan(2)
    expect(await kv.get(['big', written])).toBeNull()
    expect((await kv.get(['big', 0]))?.value).toBe(big)
    await kv.commit({ deletes: Array.from({ length: written }, (_, i): Key => ['big', i]) })
    expect(await kv.commit(set(['small']))).toBe(true)
    await kv.close()
  })
})

test('lmdb keeps what was committed when it is opened again', async () => {
  const path = `${folder}/again`
  const first = lmdbKv({ path })
  await first.commit(set(['kept'], '7'))
  const version = (await first.get(['kept']))?.version
  await first.close()
  const second = lmdbKv({ path })
  expect(await second.get(['kept'])).toEqual({ key: ['kept'], value: '7', version: version ?? '' })
  await second.close()
})

test('a write of another process changes the moment of lmdb, and whoever asked reads it in the same turn', async () => {
  const path = `${folder}/shared`
  const kv = lmdbKv({ path })
  await kv.commit(set(['a'], '1'))
  const write = (value: string) => {
    const code = `import { lmdbKv } from ${JSON.stringify(`${import.meta.dir}/../../src/store/lmdb.ts`)}
const kv = lmdbKv({ path: ${JSON.stringify(path)} })
await kv.commit({ sets: [{ key: ['a'], value: ${JSON.stringify(value)} }] })
await kv.close()`
    const { exitCode, stderr } = Bun.spawnSync([process.execPath, '-e', code])
    expect(stderr.toString()).toBe('')
    expect(exitCode).toBe(0)
  }
  const seen: unknown[] = []
  for (const value of ['2', '3']) {
    // Nothing gives LMDB's timer a turn in between, so without a reset the second read would be of the first's transaction.
    const before = [kv.moment?.(), kv.get(['a']), kv.moment?.()] as const
    write(value)
    const after = [kv.moment?.(), kv.get(['a'])] as const
    expect(before[0]).toBe(before[2])
    expect(after[0]).not.toBe(before[0])
    seen.push((await before[1])?.value, (await after[1])?.value)
  }
  expect(seen).toEqual(['1', '2', '2', '3'])
  // The locks of this process on the file stand: the other one found it in use.
  expect(await kv.commit(set(['b']))).toBe(true)
  await kv.close()
})
