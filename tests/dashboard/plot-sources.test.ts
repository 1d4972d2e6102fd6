// Source inputs that read a plot of an indicator on the same chart, without a browser.

import { expect, test } from 'bun:test'
import { isStudyPlot, offeredTo, readersOf, runInputs } from '../../src/dashboard/studies/plot-sources.ts'

const study = (id: string, inputs: Readonly<Record<string, unknown>> = {}, shortName = id.toUpperCase()) => ({
  id,
  shortName,
  source: `source of ${id}`,
  inputs,
})
const reading = (id: string, plot = 'Line') => ({ Source: { study: id, plot } })
const titles = () => ['Line', '']
const chosen = (id: string, all: readonly ReturnType<typeof study>[]) =>
  offeredTo(id, all, titles).map(({ text }) => text)

test('a run is told the script that is read, and those that it reads, with their inputs', () => {
  const all = [study('rsi', { Length: 7 }), study('ma', reading('rsi')), study('band', reading('ma', '1'))]
  expect(runInputs({ ...reading('band'), Length: 3, Colour: null }, all)).toEqual({
    Source: {
      script: 'source of band',
      plot: 'Line',
      inputs: {
        Source: {
          script: 'source of ma',
          plot: '1',
          inputs: { Source: { script: 'source of rsi', inputs: { Length: 7 }, plot: 'Line' } },
        },
      },
    },
    Length: 3,
    Colour: null,
  })
})

test('an input that reads a removed indicator is refused, naming the input', () => {
  expect(() => runInputs(reading('rsi'), [study('ma')])).toThrow(
    '“Source” read a plot of an indicator that is no longer on the chart. Choose another source.',
  )
})

test('a circle is refused, however long, and not offered', () => {
  const all = [study('a', reading('c')), study('b', reading('a')), study('c', reading('b')), study('d')]
  expect(() => runInputs(reading('c'), all, ['a'])).toThrow('“Source” leads back to itself by way of A.')
  expect(() => runInputs(reading('a'), [study('a', reading('a'))], ['a'])).toThrow('leads back to itself')
  expect(readersOf('a', all).map(({ id }) => id)).toEqual(['b', 'c'])
  expect(chosen('a', all)).toEqual(['D: Line', 'D: plot 2'])
  expect(chosen('', all)).toHaveLength(8)
})

test('two indicators of one name are told apart', () => {
  const all = [study('a', {}, 'MA'), study('b', {}, 'MA'), study('c')]
  expect(chosen('c', all)).toEqual(['MA (1): Line', 'MA (1): plot 2', 'MA (2): Line', 'MA (2): plot 2'])
})

test('what is no plot of an indicator stays as it is', () => {
  for (const value of [null, 1, 'close', [], { study: 1, plot: 'x' }, { script: '', inputs: {}, plot: 'x' }])
    expect(isStudyPlot(value)).toBe(false)
})
