// Spreads over HTTP: a formula is a series like any other, made of what its user sees.

import { expect, test } from 'bun:test'
import { barCsv } from '../bar-csv.ts'
import { testServer } from './server.ts'

async function world() {
  const { call, signUp } = testServer()
  const headers = await signUp()
  const put = (symbol: string, count: number) =>
    call('POST', `/api/platform/bars/import?exchange=E&symbol=${symbol}&interval=1h`, {
      headers: { ...headers, 'content-type': 'text/csv' },
      body: barCsv(count),
    })
  await put('A', 50)
  await put('B', 40)
  const bars = (formula: string, more = '') =>
    call(
      'GET',
      `/api/platform/bars?exchange=SPREAD&symbol=${encodeURIComponent(formula)}&interval=1h${more}`,
      {
        headers,
      },
    )
  const run = (formula: string, source: string) =>
    call('POST', '/api/platform/backtests', {
      headers,
      body: { name: 'n', exchange: 'SPREAD', symbol: formula, interval: '1h', bars: 100, source },
    })
  return { call, headers, bars, run, put }
}

test('a formula has the bars that all its symbols have, the newest of them or all', async () => {
  const { bars, put } = await world()
  const { json } = await bars('E:A/E:B')
  expect([json.bars.time.length, new Set(json.bars.close)]).toEqual([40, new Set([1])])
  expect((await bars('E:A - E:B', '&limit=5')).json.bars.close).toEqual([0, 0, 0, 0, 0])
  expect((await bars('2*e:a/e:a')).json.bars.time.length).toBe(50)
  // Nothing stands in the way of bars that come later.
  await put('B', 45)
  expect((await bars('E:A/E:B')).json.bars.time.length).toBe(45)
})

test('what is not cached is named, and what is no formula is said', async () => {
  const { bars } = await world()
  for (const [formula, message] of [
    ['E:A/E:NONE', 'The formula needs E:NONE 1h, which is not cached. Import or fetch it first.'],
    ['E:A/', 'E:A/ is no formula of symbols: The formula ends where a symbol or a number should stand.'],
  ] as const) {
    const { status, json } = await bars(formula)
    expect([status, json.error.code, json.error.message]).toEqual([404, 'bars_not_found', message])
  }
})

test('a script runs on a spread, and the stored run finds its bars again', async () => {
  const { call, headers, run } = await world()
  const { json } = await run('E:A/E:B', '//@version=6\nindicator("x")\nplot(close)')
  // What this runner reports is the sum of the closes.
  expect(json.result.report.sum).toBe(40)
  const again = await call('POST', `/api/platform/backtests/${json.id}/replay?exchange=SPREAD`, { headers })
  expect(again.json.error).toBeUndefined()
})

test('an alert on a spread is refused: nobody would judge it', async () => {
  const { call, headers } = await world()
  const body = {
    symbol: 'E:A/E:B',
    exchange: 'SPREAD',
    interval: '1h',
    kind: 'price',
    op: 'above',
    price: 1,
    channels: ['email'],
  }
  const { status, json } = await call('POST', '/api/platform/alerts', { headers, body })
  expect([status, json.error.fields[0].path, json.error.fields[0].code]).toEqual([
    422,
    '/symbol',
    'unsupported',
  ])
})
