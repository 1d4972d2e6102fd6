// Scripts, their revisions, the libraries among them and those that are missed, on a compiler that looks at the first word.

import { describe, expect, spyOn, test } from 'bun:test'
import { idSource } from '../../../src/lib/ids.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { Scripts, libraryFor, SCRIPTS_PER_USER } from '../../../src/people/scripts/scripts.ts'
import { WantedLibraries } from '../../../src/people/scripts/wanted-libraries.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { testKv } from '../../store/test-store.ts'
import { rejection } from '../../rejection.ts'

const KINDS = ['strategy', 'indicator', 'library'] as const

function world() {
  const kv = testKv()
  const clock = new HandClock()
  let byte = 0
  const newId = idSource({ clock, random: { bytes: (n) => new Uint8Array(n).map(() => byte++) } })
  /** What happens while a text is examined. */
  const meanwhile = new Map<string, () => Promise<unknown>>()
  const examine = async (source: string) => {
    const other = meanwhile.get(source)
    meanwhile.delete(source)
    await other?.()
    const kind = KINDS.find((one) => source.startsWith(one)) ?? ('draft' as const)
    return { kind, pineVersion: kind === 'draft' ? null : 6, diagnostics: `["${source}"]` }
  }
  return { kv, clock, newId, meanwhile, scripts: new Scripts({ kv, clock, newId, examine }) }
}

const all = { limit: 100 }

test('a script is kept as it was made, with what compiling told', async () => {
  const { scripts, clock } = world()
  const made = await scripts.create('ann', 'Ann', { name: 'Cross', source: 'strategy 1' })
  expect(made).toEqual({
    script: {
      id: expect.stringMatching(/^scr_/),
      ownerId: 'ann',
      author: 'Ann',
      name: 'Cross',
      source: 'strategy 1',
      visibility: 'private',
      kind: 'strategy',
      pineVersion: 6,
      revision: 1,
      inputs: {},
      overrides: {},
      createdAt: clock.now(),
      updatedAt: clock.now(),
    },
    diagnostics: '["strategy 1"]',
  })
  expect(await scripts.read(made.script.id, 'ann')).toEqual(made.script)
  const draft = await scripts.create('ann', 'Ann', { name: 'Broken', source: 'plot(' })
  expect(draft.script).toMatchObject({ kind: 'draft', pineVersion: null })
})

test('properties are kept with the script, and are no new revision', async () => {
  const { scripts } = world()
  const { script } = await scripts.create('ann', 'Ann', {
    name: 'Cross',
    source: 'strategy 1',
    overrides: { slippage: 2 },
  })
  expect(script.overrides).toEqual({ slippage: 2 })
  const changed = await scripts.change('ann', script.id, { overrides: { initial_capital: 500 } })
  expect(changed.script).toMatchObject({ overrides: { initial_capital: 500 }, revision: 1 })
  expect((await scripts.change('ann', script.id, { source: 'strategy 2' })).script.overrides).toEqual({
    initial_capital: 500,
  })
})

test('values of inputs are kept with the script, as long as its text names them', async () => {
  const { scripts } = world()
  const inputs = { Fast: 15, Slow: 3 }
  const { script } = await scripts.create('ann', 'Ann', {
    name: 'Cross',
    source: 'strategy Fast Slow',
    inputs,
  })
  expect(script.inputs).toEqual(inputs)
  const changed = await scripts.change('ann', script.id, { source: 'strategy Fast' })
  expect(changed.script).toMatchObject({ inputs: { Fast: 15 }, revision: 2 })
  const given = await scripts.change('ann', script.id, { source: 'strategy Fast 2', inputs })
  expect(given.script.inputs).toEqual(inputs)
  expect((await scripts.change('ann', script.id, { inputs: {} })).script).toMatchObject({
    inputs: {},
    revision: 3,
  })
})

test('a private script is its owner’s, a public one everybody’s to read, and only its owner’s to change', async () => {
  const { scripts } = world()
  const { script: own } = await scripts.create('ann', 'Ann', { name: 'Own', source: 'strategy' })
  const shared = { name: 'Shared', source: 'indicator', visibility: 'public' } as const
  const { script: open } = await scripts.create('ann', 'Ann', shared)
  const gone = { code: 'script_not_found' }
  expect((await scripts.read(open.id, null)).name).toBe('Shared')
  for (const reader of ['bob', null])
    expect(await rejection(scripts.read(own.id, reader))).toMatchObject(gone)
  for (const { id } of [own, open, { id: 'scr_none' }]) {
    expect(await rejection(scripts.change('bob', id, { name: 'x' }))).toMatchObject(gone)
    expect(await rejection(scripts.revisions('bob', id, all))).toMatchObject(gone)
    expect(await rejection(scripts.remove('bob', id))).toMatchObject(gone)
  }
  expect((await scripts.listPublic(all)).items).toEqual([open])
  expect(await Array.fromAsync(scripts.eachPublic())).toEqual([open])
  // Newest first.
  expect((await scripts.list('ann', all)).items).toEqual([open, own])
  expect(await Array.fromAsync(scripts.eachOf('ann'))).toEqual([own, open])
  expect((await scripts.list('bob', all)).items).toEqual([])
  await scripts.change('ann', open.id, { visibility: 'private' })
  expect((await scripts.listPublic(all)).items).toEqual([])
})

test('a changed text is a revision, a changed name is none', async () => {
  const { scripts, clock } = world()
  const { script } = await scripts.create('ann', 'Ann', { name: 'A', source: 'strategy 1' })
  clock.time += 5
  const renamed = await scripts.change('ann', script.id, { name: 'B' })
  expect(renamed.script).toEqual({ ...script, name: 'B', updatedAt: clock.now() })
  expect((await scripts.change('ann', script.id, { source: 'strategy 1' })).script.revision).toBe(1)
  clock.time += 5
  const edited = await scripts.change('ann', script.id, { source: 'indicator 2' })
  expect(edited).toMatchObject({
    script: { name: 'B', revision: 2, kind: 'indicator', source: 'indicator 2' },
    diagnostics: '["indicator 2"]',
  })
  expect((await scripts.change('ann', script.id, { source: 'x' })).script).toMatchObject({
    revision: 3,
    kind: 'draft',
    pineVersion: null,
  })
  const { items } = await scripts.revisions('ann', script.id, all)
  expect(items.map(({ revision, source, savedAt }) => [revision, source, savedAt])).toEqual([
    [3, 'x', clock.now()],
    [2, 'indicator 2', clock.now()],
    [1, 'strategy 1', clock.now() - 10],
  ])
})

test('fifty revisions are kept, the newest, and none of a script that was removed', async () => {
  const { scripts } = world()
  const { script } = await scripts.create('ann', 'Ann', { name: 'A', source: 'strategy 1' })
  for (let i = 2; i <= 53; i++) await scripts.change('ann', script.id, { source: `strategy ${i}` })
  const { items } = await scripts.revisions('ann', script.id, all)
  expect(items.map(({ revision }) => revision)).toEqual(Array.from({ length: 50 }, (_, i) => 53 - i))
  const { script: other } = await scripts.create('ann', 'Ann', { name: 'B', source: 'strategy' })
  await scripts.remove('ann', script.id)
  expect(await rejection(scripts.read(script.id, 'ann'))).toMatchObject({ code: 'script_not_found' })
  expect((await scripts.revisions('ann', other.id, all)).items).toHaveLength(1)
})

test('removing a script removes its revisions from the store, in one commit', async () => {
  const { kv, scripts } = world()
  const { script } = await scripts.create('ann', 'Ann', { name: 'A', source: 'strategy 1' })
  await scripts.change('ann', script.id, { source: 'strategy 2' })
  const commit = spyOn(kv, 'commit')
  await scripts.remove('ann', script.id)
  expect(commit).toHaveBeenCalledTimes(1)
  expect(await kv.list({ prefix: ['revisions'] }, all)).toEqual([])
  expect(await kv.list({ prefix: ['scripts', 'id'] }, all)).toEqual([])
  expect(await kv.list({ prefix: ['scripts', 'by'] }, all)).toEqual([])
})

test('a new name does not bring back the kind of a text that somebody has replaced meanwhile', async () => {
  const { scripts, meanwhile } = world()
  const { script } = await scripts.create('ann', 'Ann', { name: 'A', source: 'strategy 1' })
  meanwhile.set('strategy 1', () => scripts.change('ann', script.id, { source: 'indicator 2' }))
  const renamed = await scripts.change('ann', script.id, { name: 'B' })
  expect(renamed.script).toMatchObject({ name: 'B', kind: 'indicator', revision: 2 })
})

test('a list’s stamp changes with what is in it, and not with anything else', async () => {
  const { scripts } = world()
  const stamps = async () => [await scripts.listStamp('ann'), await scripts.publicStamp()]
  const { script } = await scripts.create('ann', 'Ann', { name: 'A', source: 'strategy' })
  const [own, open] = await stamps()
  const one = await scripts.stamp(script.id)
  await scripts.create('bob', 'Bob', { name: 'B', source: 'strategy' })
  expect(await stamps()).toEqual([own!, open!])
  await scripts.change('ann', script.id, { visibility: 'public' })
  const [ownAfter, openAfter] = await stamps()
  expect([ownAfter === own, openAfter === open, (await scripts.stamp(script.id)) === one]).toEqual([
    false,
    false,
    false,
  ])
})

test('a user can have 2,000 scripts, and the one that is too many leaves no revision', async () => {
  const { kv, scripts } = world()
  await kv.commit({
    sets: [{ key: ['scripts', 'count', 'owner', 'ann'], value: String(SCRIPTS_PER_USER - 1) }],
  })
  await scripts.create('ann', 'Ann', { name: 'last', source: 'strategy' })
  expect(await rejection(scripts.create('ann', 'Ann', { name: 'more', source: 'strategy' }))).toMatchObject({
    code: 'quota_exceeded',
    message: 'You can have at most 2000 scripts. Delete some first.',
  })
  expect(await kv.list({ prefix: ['revisions', 'id'] }, all)).toHaveLength(1)
})

describe('a library', () => {
  const library = (source: string, visibility: 'public' | 'private' = 'public') => ({
    name: 'Tools',
    source: `library ${source}`,
    visibility,
  })

  test('is found by its author’s name or id in any case, by others only if it is public', async () => {
    const { kv, scripts } = world()
    await scripts.create('ann', 'Ann', library('shared'))
    await scripts.create('bob', 'Bob', library('own', 'private'))
    const asked = (reader: string | null, user: string, name = 'Tools') =>
      libraryFor(kv, reader)(user, name, 1)
    expect([await asked('bob', 'ann'), await asked(null, 'ANN', 'tools')]).toEqual([
      'library shared',
      'library shared',
    ])
    expect([await asked('bob', 'bob'), await asked('ann', 'bob'), await asked(null, 'bob')]).toEqual([
      'library own',
      null,
      null,
    ])
    expect([await asked('bob', 'Carl'), await asked('bob', 'ann', 'Other')]).toEqual([null, null])
  })
  test('that was saved under the name once more is the newest', async () => {
    const { kv, scripts, clock } = world()
    await scripts.create('ann', 'Ann', library('first'))
    clock.time += 1
    await scripts.create('ann', 'Ann', library('second'))
    expect(await libraryFor(kv, null)('Ann', 'Tools', 1)).toBe('library second')
  })
  test('is none while its text is a draft or a strategy', async () => {
    const { kv, scripts } = world()
    const { script } = await scripts.create('ann', 'Ann', library('x'))
    await scripts.change('ann', script.id, { source: 'strategy' })
    expect(await libraryFor(kv, 'ann')('Ann', 'Tools', 1)).toBeNull()
  })
  test('of somebody else counts for the one who added it, under the version it was added for', async () => {
    const { kv, scripts } = world()
    const { script } = await scripts.addLibrary('ann', 'Ann', 'Somebody/tools/3', 'library a')
    expect(script).toMatchObject({ name: 'Somebody/tools/3', visibility: 'private', kind: 'library' })
    const asked = (reader: string, version: number) => libraryFor(kv, reader)('somebody', 'Tools', version)
    expect([await asked('ann', 3), await asked('ann', 2), await asked('bob', 3)]).toEqual([
      'library a',
      null,
      null,
    ])
    // Nobody can put a text before others under a path, by making it public.
    await scripts.change('ann', script.id, { visibility: 'public' })
    expect(await asked('bob', 3)).toBeNull()
  })
  test('that is added again replaces the text under that path', async () => {
    const { scripts } = world()
    const first = await scripts.addLibrary('ann', 'Ann', 'Somebody/tools/3', 'library a')
    const again = await scripts.addLibrary('ann', 'Ann', 'somebody/Tools/3', 'library b')
    expect(again.script).toMatchObject({ id: first.script.id, revision: 2, source: 'library b' })
    await scripts.addLibrary('ann', 'Ann', 'Somebody/tools/4', 'library c')
    await scripts.addLibrary('bob', 'Bob', 'Somebody/tools/3', 'library d')
    expect((await scripts.list('ann', all)).items.map(({ source }) => source)).toEqual([
      'library c',
      'library b',
    ])
  })
  test('that two tabs add at once is one', async () => {
    const { scripts } = world()
    const add = (source: string) => scripts.addLibrary('ann', 'Ann', 'Somebody/tools/3', source)
    const [one, other] = await Promise.all([add('library a'), add('library b')])
    expect(one.script.id).toBe(other.script.id)
    expect((await scripts.list('ann', all)).items).toHaveLength(1)
  })
  test.each([
    ['strategy x', 'This is a strategy, no library. A library begins with library("Name").'],
    ['indicator x', 'This is an indicator, no library. A library begins with library("Name").'],
    ['x', 'This library does not compile.'],
  ])('%p is refused with what compiling told', async (source, message) => {
    const { scripts } = world()
    expect(await rejection(scripts.addLibrary('ann', 'Ann', 'a/b/1', source))).toMatchObject({
      status: 422,
      code: 'script_invalid',
      message,
      details: { diagnostics: [source] },
    })
    expect((await scripts.list('ann', all)).items).toEqual([])
  })
})

test('what a command adds beside the server is told once', async () => {
  const { kv, scripts } = world()
  expect(await scripts.takeAdded()).toEqual([])
  const { script } = await scripts.create('ann', 'Ann', { name: 'A', source: 'strategy' })
  const { script: gone } = await scripts.create('ann', 'Ann', { name: 'B', source: 'strategy' })
  await scripts.noteAdded(script)
  await scripts.noteAdded(gone)
  await scripts.remove('ann', gone.id)
  expect(await scripts.takeAdded()).toEqual([script])
  expect(await scripts.takeAdded()).toEqual([])
  expect(await kv.list({ prefix: ['scripts', 'added'] }, all)).toEqual([])
})

describe('libraries that are missed', () => {
  function wantedIn({ kv, clock, newId }: ReturnType<typeof world>, log = silentLog) {
    const wanted = new WantedLibraries({ kv, clock, newId, log })
    const note = async (user: string, path: string) => {
      wanted.note(user, path)
      await clock.settle()
    }
    return { wanted, note }
  }

  test('are counted once a user and an hour, in whatever case they are written', async () => {
    const here = world()
    const { wanted, note } = wantedIn(here)
    const start = here.clock.now()
    await note('ann', 'Somebody/tools/3')
    await note('ann', 'somebody/TOOLS/3')
    here.clock.time += 3_599_999
    await note('ann', 'Somebody/tools/3')
    expect(await wanted.list()).toEqual([{ path: 'Somebody/tools/3', users: 1, asked: 1, lastAt: start }])
    here.clock.time += 1
    await note('ann', 'somebody/tools/3')
    await note('bob', 'Somebody/tools/3')
    expect(await wanted.list()).toMatchObject([{ users: 2, asked: 3, lastAt: start + 3_600_000 }])
  })
  test('are listed by users, then by how often, then by how lately', async () => {
    const here = world()
    const { wanted, note } = wantedIn(here)
    for (const [user, path] of [
      ['ann', 'x/often/1'],
      ['ann', 'x/early/1'],
      ['ann', 'x/both/1'],
      ['bob', 'x/both/1'],
    ] as const)
      await note(user, path)
    here.clock.time += 3_600_000
    await note('ann', 'x/often/1')
    await note('ann', 'x/late/1')
    expect((await wanted.list()).map(({ path }) => path)).toEqual([
      'x/both/1',
      'x/often/1',
      'x/late/1',
      'x/early/1',
    ])
  })
  test('are forgotten once they are here, for the users who see them', async () => {
    const here = world()
    const { wanted, note } = wantedIn(here)
    await note('ann', 'Somebody/tools/3')
    await note('bob', 'Somebody/tools/3')
    await here.scripts.addLibrary('ann', 'Ann', 'Somebody/tools/3', 'library a')
    expect(await wanted.list()).toMatchObject([{ users: 1, asked: 1 }])
    await here.scripts.create('carl', 'Somebody', { name: 'tools', source: 'library', visibility: 'public' })
    expect(await wanted.list()).toEqual([])
    expect(await here.kv.list({ prefix: ['wanted-libraries', 'id'] }, all)).toEqual([])
  })
  test('are noted by whoever looks for one in vain', async () => {
    const here = world()
    const { wanted } = wantedIn(here)
    await here.scripts.addLibrary('ann', 'Ann', 'Somebody/tools/3', 'library a')
    expect(await wanted.counting('ann')('Somebody', 'tools', 3)).toBe('library a')
    expect(await wanted.counting('ann')('Somebody', 'other', 4)).toBeNull()
    // Every server has this one, but no version 99 of it.
    expect(await wanted.counting('ann')('TradingView', 'ta', 7)).toBeNull()
    expect(await wanted.counting('ann')('TradingView', 'ta', 99)).toBeNull()
    await here.clock.settle()
    expect((await wanted.list()).map(({ path }) => path)).toEqual(['Somebody/other/4', 'TradingView/ta/99'])
  })
  test('have paths of 200 characters at most, and of one user a hundred, the newest', async () => {
    const here = world()
    const { wanted, note } = wantedIn(here)
    await note('ann', `x/${'y'.repeat(197)}/1`)
    expect(await wanted.list()).toEqual([])
    await note('bob', 'x/kept/1')
    await note('ann', `x/${'y'.repeat(196)}/1`)
    for (let i = 1; i <= 100; i++) {
      here.clock.time += 1
      await note('ann', `x/tools/${i}`)
    }
    const paths = (await wanted.list()).map(({ path }) => path)
    expect([paths.length, paths[0], paths[99], paths[100]]).toEqual([
      101,
      'x/tools/100',
      'x/tools/1',
      'x/kept/1',
    ])
  })
  test('make room when 2,000 are noted, the oldest first', async () => {
    const here = world()
    const { wanted, note } = wantedIn(here)
    await note('ann', 'x/first/1')
    await here.kv.commit({ sets: [{ key: ['wanted-libraries', 'count', 'all'], value: '1999' }] })
    here.clock.time += 1
    await note('bob', 'x/second/1')
    expect((await wanted.list()).map(({ path }) => path)).toEqual(['x/second/1', 'x/first/1'])
    here.clock.time += 1
    await note('carl', 'x/third/1')
    expect((await wanted.list()).map(({ path }) => path)).toEqual(['x/third/1', 'x/second/1'])
  })
  test('that cannot be written down are told to the log and to nobody else', async () => {
    const here = world()
    const told: unknown[] = []
    const { wanted } = wantedIn(
      { ...here, kv: { ...here.kv, get: () => Promise.reject(new Error('the disk is gone')) } },
      (level, message, fields) => told.push([level, message, fields]),
    )
    wanted.note('ann', 'x/tools/1')
    await here.clock.settle()
    expect(told).toEqual([
      [
        'warn',
        'a library that is wanted could not be counted',
        { path: 'x/tools/1', error: 'Error: the disk is gone' },
      ],
    ])
  })
})
