// Alerts of version 0.1.0 go on from the bar they saw last, and need no key of their own for a firing.

import { expect, test } from 'bun:test'
import { memoryKv } from '../../src/store/memory.ts'
import { toLayout3 } from '../../src/store/layout-3.ts'

const BY = ['alerts', 'by']
const SERIES = ['', 'SP', 'SPX', '1d']

test('an alert of layout 2 becomes fresh, once, and knows the last bar it fired on', async () => {
  const kv = memoryKv()
  const old = {
    exchange: 'SP',
    symbol: 'SPX',
    interval: '1d',
    frequency: 'once',
    seenBar: 7,
    lastFiredAt: 9,
  }
  const alerts = [
    { ...old, id: 'al_1', kind: 'price', state: 'active' },
    {
      ...old,
      id: 'al_2',
      kind: 'volume',
      state: 'active',
      frequency: 'once_per_bar_close',
      seenBar: null,
    },
    { ...old, id: 'al_3', kind: 'script', state: 'active' },
    { ...old, id: 'al_4', kind: 'price', state: 'triggered' },
  ]
  for (const alert of alerts)
    await kv.commit({ sets: [{ key: ['alerts', 'id', alert.id], value: JSON.stringify(alert) }] })
  const keys = [
    ['alerts', 'fired', 'al_1', 5],
    ['alerts', 'fired', 'al_1', 6],
    ['alerts', 'by', 'armed', 'SP', 'SPX', '1d', 'al_1'],
  ]
  await kv.commit({ sets: keys.map((key) => ({ key, value: 'null' })) })
  await toLayout3(kv)
  const first = (await kv.list({ prefix: [] }, { limit: 100 })).map(({ key, value }) => ({ key, value }))
  expect(first.filter(({ key }) => key[1] !== 'id').map(({ key }) => key)).toEqual([
    [...BY, 'fresh', ...SERIES, false, 7, 'al_1'],
    [...BY, 'fresh', ...SERIES, true, Number.NEGATIVE_INFINITY, 'al_2'],
    [...BY, 'scripts', ...SERIES, 'al_3'],
    [...BY, 'watching', ...SERIES, 'al_1'],
    [...BY, 'watching', ...SERIES, 'al_2'],
    [...BY, 'watching', ...SERIES, 'al_3'],
  ])
  expect(JSON.parse(first.find(({ key }) => key[2] === 'al_1')?.value ?? '')).toEqual({
    ...alerts[0],
    seriesOwner: '',
    fresh: true,
    firedBar: 6,
    judgedAt: 9,
  })
  await toLayout3(kv)
  expect((await kv.list({ prefix: [] }, { limit: 100 })).map(({ key, value }) => ({ key, value }))).toEqual(
    first,
  )
})
