// What alerts can wait for in a script, read from its text.

import { expect, test } from 'bun:test'
import { compile } from '../../src/language/compile.ts'
import { nameOf } from '../../src/dashboard/alerts/alert-name.ts'
import { crossingsOf } from '../../src/dashboard/studies/crossings.ts'
import { LIBRARY } from '../../src/dashboard/studies/library.ts'

const of = (id: string) => crossingsOf(LIBRARY.find((one) => one.id === id)!.source)

test('the first is what is most likely meant', () => {
  expect(of('rsi')[0]).toMatchObject({ text: 'RSI crosses a level', plot: 'RSI', level: 70 })
  expect(of('ema')[0]).toMatchObject({ text: 'Price crosses EMA', level: 0, isDifference: true })
  expect(of('macd')[0]).toMatchObject({ text: 'MACD crosses Signal', level: 0, isDifference: true })
  expect(of('bollinger').map(({ text }) => text)).toEqual([
    'Price crosses Basis',
    'Price crosses Upper',
    'Price crosses Lower',
    'Upper crosses Lower',
    'Basis crosses Lower',
    'Basis crosses Upper',
    'Basis crosses a level',
    'Upper crosses a level',
    'Lower crosses a level',
  ])
})

test('every script that an alert on a built-in study runs compiles', () => {
  for (const { id } of LIBRARY)
    for (const { source, text } of of(id)) {
      const errors = compile(source).diagnostics.filter(({ severity }) => severity === 'error')
      expect({ id, text, errors }).toEqual({ id, text, errors: [] })
    }
})

test('calls over several lines, within blocks and without a title are left alone', () => {
  const source = `//@version=6
indicator("x")
if close > open
    plot(1, "Inside")
plot(
  close, "Below each other")
plot(close)
plot(na, "Nothing")
plot(math.max(close, open), title = "Both, of them", color = color.red)
plot(close, "Hidden", display = display.none)
`
  expect(crossingsOf(source).map(({ text }) => text)).toEqual(['Both, of them crosses a level'])
})

test('an alert that nobody named is called by what it waits for when it is sent', () => {
  const body = {
    name: '',
    exchange: 'SP',
    symbol: 'SPX',
    interval: '1D',
    kind: 'indicator',
    op: 'crossing_up',
    plot: 'RSI',
    price: 80,
    channels: [],
  } as const
  const isDifference = { ...of('rsi')[0]!, text: 'MACD crosses Signal', isDifference: true }
  expect(nameOf(body, of('rsi')[0])).toBe('RSI crosses above 80')
  expect(nameOf({ ...body, op: 'crossing' }, isDifference)).toBe('MACD crosses Signal')
  expect(nameOf({ ...body, name: 'Hot' }, undefined)).toBe('Hot')
  expect(nameOf({ ...body, kind: 'price' }, undefined)).toBe('')
})
