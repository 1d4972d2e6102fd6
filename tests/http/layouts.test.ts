// Layouts of the chart over HTTP.

import { expect, test } from 'bun:test'
import { testServer } from './server.ts'

const STUDY = {
  id: 's1',
  name: 'Relative Strength Index',
  shortName: 'RSI',
  source: '//@version=6\nindicator("RSI")\nplot(ta.rsi(close, 14))\n',
  from: 'library:rsi',
  inputs: { Length: 7 },
  hidden: false,
  intervals: ['1d'],
  plots: { RSI: { color: '#ff0000', width: 2 } },
}
const CHART = {
  exchange: 'sp',
  symbol: 'spx',
  interval: '1d',
  type: 'candles',
  scale: 'log',
  volume: false,
  trades: true,
  scriptId: null,
  studies: [STUDY],
}

async function world() {
  const server = testServer()
  const headers = await server.signUp()
  const as = (who: object) => (method: string, path: string, body?: object) =>
    server.call(method, `/api/platform/layouts${path}`, { ...(body && { body }), headers: { ...who } })
  return { server, me: as(headers), other: async () => as(await server.signUp('other@example.com')) }
}

test('a layout is kept, listed, changed and deleted, by its owner alone', async () => {
  const { me, other } = await world()
  const { id, layout } = (await me('POST', '', { name: 'Утро', chart: CHART })).json
  expect(layout).toMatchObject({ name: 'Утро', chart: { ...CHART, exchange: 'SP', symbol: 'SPX' } })
  expect((await me('GET', '')).json.layouts).toEqual([layout])
  await me('PATCH', `/${id}`, { name: 'Evening' })
  const changed = await me('PATCH', `/${id}`, { chart: { ...CHART, interval: '1h', studies: [] } })
  expect(changed.json.layout).toMatchObject({ name: 'Evening', chart: { interval: '1h', studies: [] } })
  const stranger = await other()
  for (const answer of [
    await stranger('GET', `/${id}`),
    await stranger('PATCH', `/${id}`, { name: 'x' }),
    await stranger('DELETE', `/${id}`),
  ])
    expect([answer.status, answer.json.error.code]).toEqual([404, 'layout_not_found'])
  await me('DELETE', `/${id}`)
  expect((await me('GET', `/${id}`)).status).toBe(404)
})

const { scriptId: _none, ...OTHER } = CHART
const GRID = { shape: '3-left', active: 1, script: 0, links: ['symbol', 'crosshair'], others: [OTHER, OTHER] }

test('a change of a layout that has been changed since it was read is refused, and the stream tells of each', async () => {
  const { me, server } = await world()
  const told: unknown[] = []
  server.services.features.layouts.onChange(({ id, updatedAt }) => told.push({ id, updatedAt }))
  const { id, layout } = (await me('POST', '', { name: 'one', chart: CHART })).json
  const first = (await me('PATCH', `/${id}`, { chart: { ...CHART, scale: 'log' }, seen: layout.updatedAt }))
    .json.layout
  expect(first.updatedAt).toBeGreaterThan(layout.updatedAt)
  const late = await me('PATCH', `/${id}`, { chart: { ...CHART, scale: 'percent' }, seen: layout.updatedAt })
  expect([late.status, late.json.error.code]).toEqual([409, 'conflict'])
  expect((await me('GET', `/${id}`)).json.layout).toEqual(first)
  const anyway = (await me('PATCH', `/${id}`, { chart: { ...CHART, scale: 'percent' } })).json.layout
  expect(anyway.chart.scale).toBe('percent')
  expect(told).toEqual([
    { id, updatedAt: first.updatedAt },
    { id, updatedAt: anyway.updatedAt },
  ])
})

test('a layout of several charts keeps how they stand and what they do together', async () => {
  const { me } = await world()
  const grid = { ...GRID, others: [{ ...OTHER, symbol: 'ndx' }, OTHER] }
  const { layout } = (await me('POST', '', { name: 'three', chart: { ...CHART, grid } })).json
  const others = [
    { exchange: 'SP', symbol: 'NDX' },
    { exchange: 'SP', symbol: 'SPX' },
  ]
  expect(layout.chart).toMatchObject({ symbol: 'SPX', grid: { ...GRID, others } })
  expect((await me('GET', `/${layout.id}`)).json.layout).toEqual(layout)
})

test('symbols over a chart are kept with it', async () => {
  const { me } = await world()
  const compared = [{ exchange: 'sp', symbol: 'dji', scale: 'percent', color: '#ff9800', hidden: false }]
  const { layout } = (await me('POST', '', { name: 'over', chart: { ...CHART, compared } })).json
  expect(layout.chart.compared).toEqual([{ ...compared[0], exchange: 'SP', symbol: 'DJI' }])
  const odd = { ...CHART, compared: [{ ...compared[0], scale: 'odd' }] }
  const { json } = await me('POST', '', { name: 'odd', chart: odd })
  expect(json.error.fields[0].path).toBe('/chart/compared/0/scale')
})

test('the boxes of a chart that goes by price are kept', async () => {
  const { me } = await world()
  const boxes = { by: 'price', length: 14, size: 0.5, reversal: 3, lines: 3 }
  const { layout } = (await me('POST', '', { name: 'renko', chart: { ...CHART, type: 'renko', boxes } })).json
  expect(layout.chart).toMatchObject({ type: 'renko', boxes })
  const none = { ...CHART, boxes: { ...boxes, size: 0 } }
  expect((await me('POST', '', { name: 'none', chart: none })).json.error.fields[0].path).toBe(
    '/chart/boxes/size',
  )
})

test.each([
  [{ shape: '9' }, '/chart/grid/shape'],
  [{ shape: '2-beside' }, '/chart/grid/others'],
  [{ active: 3 }, '/chart/grid/active'],
  [{ script: 3 }, '/chart/grid/script'],
  [{ links: ['symbol', 'symbol'] }, '/chart/grid/links'],
  [{ others: [{ ...OTHER, studies: null }] }, '/chart/grid/others/0/studies'],
])('a grid with %p is refused at %s', async (fields, path) => {
  const { me } = await world()
  const { status, json } = await me('POST', '', {
    name: 'x',
    chart: { ...CHART, grid: { ...GRID, ...fields } },
  })
  expect([status, json.error.fields?.[0]?.path]).toEqual([422, path])
})

test.each([
  [{ scale: 'upside down' }, '/chart/scale'],
  [{ studies: [{ ...STUDY, plots: { RSI: { color: 'red' } } }] }, '/chart/studies/0/plots/RSI/color'],
  [{ studies: Array.from({ length: 26 }, () => STUDY) }, '/chart/studies'],
  [{ symbol: '' }, '/chart/symbol'],
])('a chart with %p is refused at %s', async (fields, path) => {
  const { me } = await world()
  const { status, json } = await me('POST', '', { name: 'x', chart: { ...CHART, ...fields } })
  expect([status, json.error.fields?.[0]?.path]).toEqual([422, path])
})

test('a hundred layouts, each of at most 512 kB', async () => {
  const { me } = await world()
  const source = 'x'.repeat(90_000)
  const heavy = { ...CHART, studies: Array.from({ length: 6 }, () => ({ ...STUDY, source })) }
  expect((await me('POST', '', { name: 'heavy', chart: heavy })).json.error.code).toBe('quota_exceeded')
  for (let i = 0; i < 100; i++) await me('POST', '', { name: `l${i}`, chart: CHART })
  expect((await me('POST', '', { name: 'above', chart: CHART })).json.error.code).toBe('quota_exceeded')
})
