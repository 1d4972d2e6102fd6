// What people keep on their charts: drawings by symbol, and layouts.

import { describe, expect, test } from 'bun:test'
import { Drawings, type Sheet } from '../../../src/people/charts/drawings.ts'
import { Layouts, LAYOUTS_PER_USER } from '../../../src/people/charts/layouts.ts'
import { idSource } from '../../../src/lib/ids.ts'
import type { Drawing } from '../../../src/wire/drawing.ts'
import type { LayoutChart } from '../../../src/wire/layout.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { rejection } from '../../rejection.ts'
import { testKv } from '../../store/test-store.ts'

const MARKET = { exchange: 'x', symbol: 'abc' }
const line = (id: string, points = 2, tool = 'trend-line') =>
  ({
    id,
    tool,
    points: Array.from({ length: points }, (_, i) => ({ time: i, price: i })),
    style: {},
  }) as unknown as Drawing

describe('drawings', () => {
  function world() {
    const kv = testKv()
    const clock = new HandClock()
    return { kv, clock, drawings: new Drawings({ kv, clock }) }
  }
  const ids = ({ drawings }: Sheet) => drawings.map(({ id }) => id)

  test('of a symbol are one sheet a user, whatever case the market is written in', async () => {
    const { drawings } = world()
    await drawings.change('ann', MARKET, { put: [line('a'), line('b')], remove: [] })
    expect(ids(await drawings.of('ann', { exchange: 'X', symbol: 'ABC' }))).toEqual(['a', 'b'])
    expect(await drawings.of('bob', MARKET)).toMatchObject({
      ownerId: 'bob',
      exchange: 'X',
      symbol: 'ABC',
      revision: 0,
      drawings: [],
    })
    expect((await drawings.of('ann', { exchange: 'Y', symbol: 'abc' })).drawings).toEqual([])
    expect((await drawings.markets('ann', { limit: 9 })).items.map(({ symbol }) => symbol)).toEqual(['ABC'])
    expect((await drawings.markets('bob', { limit: 9 })).items).toEqual([])
  })
  test('keep their place when they change, new ones come in front, and what is removed and put again as well', async () => {
    const { drawings } = world()
    await drawings.change('ann', MARKET, { put: [line('a'), line('b'), line('c')], remove: [] })
    const changed = await drawings.change('ann', MARKET, {
      put: [line('b', 2, 'ray'), line('d')],
      remove: ['none'],
    })
    expect([ids(changed), changed.drawings[1]?.tool]).toEqual([['a', 'b', 'c', 'd'], 'ray'])
    expect(ids(await drawings.change('ann', MARKET, { put: [line('a')], remove: ['a', 'c'] }))).toEqual([
      'b',
      'd',
      'a',
    ])
  })
  test('have a revision that grows with every change, though all were gone or the clock was set back', async () => {
    const { clock, drawings } = world()
    const put = async (id: string) =>
      (await drawings.change('ann', MARKET, { put: [line(id)], remove: [] })).revision
    const first = await put('a')
    expect([first, await put('b')]).toEqual([clock.now(), clock.now() + 1])
    clock.time -= 5000
    expect(await put('c')).toBe(first + 2)
    clock.time += 60_000
    const gone = await drawings.change('ann', MARKET, { put: [], remove: ['a', 'b', 'c'] })
    expect([gone.drawings, gone.revision, gone.updatedAt]).toEqual([[], clock.now(), clock.now()])
    clock.time += 1
    expect(await put('d')).toBeGreaterThan(gone.revision)
  })
  test('leave nothing behind in the store once the last is gone, nor when nothing came of nothing', async () => {
    const { kv, drawings } = world()
    await drawings.change('ann', MARKET, { put: [], remove: ['a'] })
    expect(await kv.list({ prefix: ['drawings'] }, { limit: 9 })).toEqual([])
    await drawings.change('ann', MARKET, { put: [line('a')], remove: [] })
    await drawings.change('ann', MARKET, { put: [], remove: ['a'] })
    expect(await kv.list({ prefix: ['drawings'] }, { limit: 9 })).toEqual([])
  })
  test('that two tabs put at once are both there', async () => {
    const { drawings } = world()
    const put = (id: string) => drawings.change('ann', MARKET, { put: [line(id)], remove: [] })
    await Promise.all(['a', 'b', 'c'].map(put))
    expect(ids(await drawings.of('ann', MARKET)).toSorted()).toEqual(['a', 'b', 'c'])
  })
  test('need as many points as their tool has, and one that lacks them changes nothing', async () => {
    const { drawings } = world()
    const message = async (...put: Drawing[]) => {
      const error = (await rejection(drawings.change('ann', MARKET, { put, remove: [] }))) as {
        details: { fields: unknown[] }
      }
      return error.details.fields
    }
    expect(await message(line('a'), line('b', 3))).toEqual([
      {
        in: 'body',
        path: '/put/1/points',
        code: 'points',
        message: 'Expected 2 points of a drawing with the tool trend-line.',
      },
    ])
    expect(await message(line('a', 0, 'horizontal-line'))).toMatchObject([
      { message: 'Expected 1 point of a drawing with the tool horizontal-line.' },
    ])
    expect(await message(line('a', 1, 'path'))).toMatchObject([
      { message: 'Expected 2 to 2000 points of a drawing with the tool path.' },
    ])
    expect((await drawings.of('ann', MARKET)).drawings).toEqual([])
    await drawings.change('ann', MARKET, { put: [line('a', 2, 'path'), line('b', 2000, 'path')], remove: [] })
  })
  test('on a symbol are 1,000 at most, and of 512 kB', async () => {
    const { drawings } = world()
    const many = Array.from({ length: 1000 }, (_, i) => line(`d${i}`))
    await drawings.change('ann', MARKET, { put: many, remove: [] })
    const refused = async (put: Drawing[], remove: string[] = []) =>
      ((await rejection(drawings.change('ann', MARKET, { put, remove }))) as Error).message
    expect(await refused([line('one more')])).toBe(
      'A symbol can have at most 1000 drawings. Remove some first.',
    )
    await drawings.change('ann', MARKET, { put: [line('one more')], remove: ['d0'] })
    const other = { exchange: 'x', symbol: 'other' }
    const sized = (bytes: number) => {
      const empty = { ...line('t'), text: '' } as unknown as Drawing
      return {
        ...empty,
        text: 'é'.repeat((bytes - JSON.stringify([empty]).length) / 2),
      } as unknown as Drawing
    }
    const spare = JSON.stringify([{ ...line('t'), text: '' }]).length % 2
    await drawings.change('ann', other, { put: [sized(512 * 1024 - spare)], remove: [] })
    expect(
      await rejection(drawings.change('ann', other, { put: [sized(512 * 1024 - spare + 2)], remove: [] })),
    ).toMatchObject({
      code: 'quota_exceeded',
      message: 'The drawings on a symbol can take at most 512 kB. Remove some first.',
    })
  })
  test('are told of to those who listen, after they were kept', async () => {
    const { drawings } = world()
    const told: string[] = []
    const stop = drawings.onChange((sheet) => told.push(`${sheet.ownerId} ${ids(sheet).join(' ')}`))
    await drawings.change('ann', MARKET, { put: [line('a')], remove: [] })
    await rejection(drawings.change('ann', MARKET, { put: [line('b', 9)], remove: [] }))
    stop()
    await drawings.change('ann', MARKET, { put: [line('c')], remove: [] })
    expect(told).toEqual(['ann a'])
  })
})

describe('layouts', () => {
  const chart = { exchange: 'x', symbol: 'abc', interval: '1d' } as unknown as LayoutChart
  function world() {
    const kv = testKv()
    const clock = new HandClock()
    const newId = idSource({ clock, random: { bytes: (n) => new Uint8Array(n) } })
    return { kv, clock, layouts: new Layouts({ kv, clock, newId }) }
  }
  const gone = { status: 404, code: 'layout_not_found' }

  test('are their owner’s alone', async () => {
    const { layouts } = world()
    const made = await layouts.create('ann', 'Mine', chart)
    expect(made).toMatchObject({
      ownerId: 'ann',
      name: 'Mine',
      chart: { exchange: 'X', symbol: 'ABC', interval: '1d' },
    })
    await layouts.create('bob', 'Other', chart)
    expect((await layouts.list('ann', { limit: 9 })).items).toEqual([made])
    expect(await rejection(layouts.get('bob', made.id))).toMatchObject(gone)
    expect(await rejection(layouts.change('bob', made.id, { name: 'x' }))).toMatchObject(gone)
    expect(await rejection(layouts.remove('bob', made.id))).toMatchObject(gone)
    expect(await layouts.get('ann', made.id)).toEqual(made)
    await layouts.remove('ann', made.id)
    expect(await rejection(layouts.get('ann', made.id))).toMatchObject(gone)
  })
  test('change in what is named', async () => {
    const { clock, layouts } = world()
    const made = await layouts.create('ann', 'Mine', chart)
    clock.time += 7
    const renamed = await layouts.change('ann', made.id, { name: 'New' })
    expect(renamed).toEqual({ ...made, name: 'New', updatedAt: made.updatedAt + 7 })
    const moved = await layouts.change('ann', made.id, { chart: { ...chart, symbol: 'new' } })
    expect(moved).toMatchObject({ name: 'New', chart: { exchange: 'X', symbol: 'NEW' } })
  })
  test('are 100 of a user, each of 512 kB', async () => {
    const { kv, layouts } = world()
    await kv.commit({
      sets: [{ key: ['layouts', 'count', 'owner', 'ann'], value: String(LAYOUTS_PER_USER - 1) }],
    })
    const large = (bytes: number) =>
      ({
        ...chart,
        more: 'x'.repeat(bytes - JSON.stringify({ ...chart, more: '' }).length),
      }) as unknown as LayoutChart
    const last = await layouts.create('ann', 'last', large(512 * 1024))
    expect(await rejection(layouts.create('ann', 'more', chart))).toMatchObject({
      code: 'quota_exceeded',
      message: 'You can have at most 100 layouts. Delete some first.',
    })
    expect(await rejection(layouts.change('ann', last.id, { chart: large(512 * 1024 + 1) }))).toMatchObject({
      code: 'quota_exceeded',
      message: 'A layout can take at most 512 kB. Take some indicators off.',
    })
  })
})
