// Undo and redo of what the charts show, without a browser.

import { batch, signal } from '@preact/signals'
import { expect, test } from 'bun:test'
import { keepSteps } from '../../src/dashboard/chart/charts-undo.ts'
import { Undo } from '../../src/dashboard/chart/undo.ts'
import type { Charts, OneChart } from '../../src/dashboard/charts.ts'

const one = (id: string, change: Partial<OneChart> = {}): OneChart => ({
  id,
  market: { exchange: 'SP', symbol: 'SPX', interval: '1d' },
  type: 'candles',
  scale: 'linear',
  volume: true,
  trades: true,
  studies: [],
  ...change,
})
const START: Charts = { shape: '2-beside', links: [], active: 'a', script: 'a', all: [one('a'), one('b')] }

function watched() {
  const charts = signal<Charts>(START)
  const layout = signal('')
  const timeline = new Undo()
  let time = 0
  let puts = 0
  const stop = keepSteps({
    charts,
    timeline,
    now: () => time,
    layout: () => layout.value,
    onPut: () => puts++,
  })
  const change = (id: string, to: Partial<OneChart>) => {
    const now = charts.peek()
    charts.value = { ...now, all: now.all.map((each) => (each.id === id ? { ...each, ...to } : each)) }
  }
  return {
    charts,
    layout,
    timeline,
    change,
    stop,
    later: (ms: number) => (time += ms),
    puts: () => puts,
    types: () => charts.peek().all.map(({ type }) => type),
  }
}

test('a change of a chart is undone and redone, and the charts stay where they are', () => {
  const { charts, change, timeline, types, puts } = watched()
  change('b', { type: 'line' })
  charts.value = { ...charts.peek(), active: 'b' }
  timeline.undo()
  expect(types()).toEqual(['candles', 'candles'])
  expect(charts.peek().active).toBe('b')
  timeline.redo()
  expect(types()).toEqual(['candles', 'line'])
  expect(puts()).toBe(2)
})

test('drawings and charts are undone in the order in which they were changed', () => {
  const { change, timeline, types } = watched()
  const said: string[] = []
  change('a', { type: 'area' })
  timeline.add({ undo: () => said.push('drawing away'), redo: () => said.push('drawing back') })
  change('a', { scale: 'log' })
  timeline.undo()
  expect([said, types()[0]]).toEqual([[], 'area'])
  timeline.undo()
  expect([said, types()[0]]).toEqual([['drawing away'], 'area'])
  timeline.undo()
  expect(types()[0]).toBe('candles')
})

test('changes of one thing in quick succession are one step; of two things they are two', () => {
  const { change, timeline, types, later } = watched()
  for (const type of ['line', 'area', 'bars'] as const) {
    change('a', { type })
    later(500)
  }
  change('b', { type: 'line' })
  later(2000)
  change('b', { type: 'area' })
  timeline.undo()
  expect(types()).toEqual(['bars', 'line'])
  timeline.undo()
  expect(types()).toEqual(['bars', 'candles'])
  timeline.undo()
  expect(types()).toEqual(['candles', 'candles'])
  timeline.redo()
  expect(types()).toEqual(['bars', 'candles'])
})

test('another chart being active is no step, and neither is what has not changed', () => {
  const { charts, timeline } = watched()
  charts.value = { ...charts.peek(), active: 'b' }
  charts.value = { ...charts.peek(), all: [...charts.peek().all] }
  expect(timeline.canUndo.value).toBe(false)
})

test('opening a layout ends the steps that can be undone; naming the present one does not', () => {
  const { charts, layout, change, timeline } = watched()
  change('a', { type: 'line' })
  layout.value = 'named'
  change('a', { scale: 'log' })
  expect(timeline.canUndo.value).toBe(true)
  batch(() => {
    layout.value = 'other'
    charts.value = { ...START, shape: '1' }
  })
  expect(timeline.canUndo.value).toBe(false)
})

test('a timeline that was ended notes no further step', () => {
  const { change, timeline, stop } = watched()
  stop()
  change('a', { type: 'line' })
  expect(timeline.canUndo.value).toBe(false)
})
