// Verify and compare over HTTP, with the real engine.

import { expect, test } from 'bun:test'
import { testServer } from './server.ts'

const SCRIPT = `//@version=6
strategy("flip", overlay = true)
if bar_index % 4 == 0
    strategy.entry("L", strategy.long)
if bar_index % 4 == 2
    strategy.close("L")
`
const day = (i: number) => Date.UTC(2024, 0, 1 + i)
const csv = (close: (i: number) => number) =>
  `time,open,high,low,close,volume\n${Array.from({ length: 30 }, (_, i) => `${day(i)},${close(i)},${close(i) + 1},${close(i) - 1},${close(i)},5`).join('\n')}`

async function world() {
  const server = testServer(undefined, { engine: 'real' })
  const cookie = await server.signUp()
  const bring = (text: string) =>
    server.call('POST', '/api/platform/bars/import?symbol=ABC&exchange=X&interval=1d', {
      body: text,
      headers: { ...cookie, 'content-type': 'text/csv' },
    })
  await bring(csv((i) => 100 + i))
  const made = await server.call('POST', '/api/platform/backtests', {
    headers: cookie,
    body: { name: 'n', symbol: 'ABC', exchange: 'X', interval: '1d', bars: 30, source: SCRIPT, inputs: {} },
  })
  const ask = (what: string, body?: unknown) =>
    server.call('POST', `/api/platform/backtests/${made.json.id}/${what}`, {
      headers: cookie,
      ...(body !== undefined && { body }),
    })
  return { ...server, cookie, bring, made, ask }
}

test('a report is the same when it is run again, and says when its bars are not', async () => {
  const { ask, bring, pool } = await world()
  expect((await ask('verify')).json.verification).toMatchObject({
    equal: true,
    difference: null,
    ranOnOther: false,
  })
  await bring(csv((i) => 200 + i))
  expect((await ask('verify')).json.verification).toMatchObject({ equal: false, ranOnOther: true })
  pool.close()
})

test('a script that looks ahead is named with its line and cause', async () => {
  const { call, signUp, cookie: headers, ask, made, pool } = await world()
  const answer = await ask('repaint')
  expect(answer.json).toMatchObject({ id: made.json.id, repaint: { clean: true, findings: [] } })
  const cheat = SCRIPT.replace('bar_index % 4 == 0', 'last_bar_index - bar_index > 7')
  const other = await call('POST', '/api/platform/backtests', {
    headers,
    body: { name: 'n', symbol: 'ABC', exchange: 'X', interval: '1d', bars: 30, source: cheat, inputs: {} },
  })
  const path = `/api/platform/backtests/${other.json.id}/repaint`
  const { repaint } = (await call('POST', path, { headers })).json
  expect(repaint).toMatchObject({
    clean: false,
    findings: [{ cause: 'last_bar', kind: 'lookahead', line: 3, evidence: 'run', trades: true }],
  })
  const stranger = await signUp('other@example.com')
  expect((await call('POST', path, { headers: stranger })).json.error.code).toBe('backtest_not_found')
  pool.close()
})

test("TradingView's list is compared trade by trade", async () => {
  const { made, ask, pool } = await world()
  interface Trade {
    entryTime: number
    exitTime: number
    entryPrice: number
    exitPrice: number
    profit: number
    qty: number
    status: string
  }
  const trades = (made.json.result.report.trades as Trade[]).filter((trade) => trade.status === 'closed')
  const date = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
  const rows = trades.flatMap((trade, i) => [
    `${i + 1},Exit long,${date(trade.exitTime)},Close entry(s) order L,${trade.exitPrice},${trade.qty},${trade.profit.toFixed(2)}`,
    `${i + 1},Entry long,${date(trade.entryTime)},L,${i === 2 ? trade.entryPrice + 5 : trade.entryPrice},${trade.qty},${trade.profit.toFixed(2)}`,
  ])
  const list = ['Trade #,Type,Date/Time,Signal,Price USD,Quantity,Net P&L USD', ...rows].join('\n')
  const { comparison } = (await ask('compare', { csv: list, timezone: 'UTC' })).json
  expect(comparison).toMatchObject({
    expected: trades.length,
    found: trades.length,
    exact: trades.length - 1,
  })
  expect(comparison.firstDivergence).toMatchObject({ n: 3, differences: [{ field: 'entryPrice' }] })
  pool.close()
})

test.each([
  [{ csv: 'nothing,here\n1,2' }, '/csv'],
  [{ csv: '' }, '/csv'],
  [{ csv: 'x', timezone: 'Moon/Sea' }, '/timezone'],
])('compare refuses %p at %s', async (body, path) => {
  const { ask, pool } = await world()
  const { status, json } = await ask('compare', body)
  expect([status, json.error.fields[0].path]).toEqual([422, path])
  pool.close()
})
