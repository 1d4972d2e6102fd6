// Verify and compare over HTTP, with the real engine.

import { expect, test } from 'bun:test'
import { xlsxOf } from '../broker/xlsx.ts'
import { Problem } from '../../src/lib/problem.ts'
import { testServer } from './server.ts'

const SCRIPT = `//@version=6
strategy("flip", overlay = true, initial_capital = 1000000, default_qty_type = strategy.fixed, default_qty_value = 1)
if bar_index % 4 == 0
    strategy.entry("L", strategy.long)
if bar_index % 4 == 2
    strategy.close("L")
`
const day = (i: number) => Date.UTC(2024, 0, 1 + i)
const csv = (close: (i: number) => number) =>
  `time,open,high,low,close,volume\n${Array.from({ length: 30 }, (_, i) => `${day(i)},${close(i)},${close(i) + 1},${close(i) - 1},${close(i)},5`).join('\n')}`

interface Traded {
  readonly entryTime: number
  readonly exitTime: number
  readonly entryPrice: number
  readonly exitPrice: number
  readonly profit: number
  readonly qty: number
  readonly status: string
}

/** Of closed longs, as TradingView writes them. */
function exportOf(trades: readonly Traded[]): string {
  const date = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
  const rows = trades
    .filter(({ status }) => status === 'closed')
    .flatMap((one, i) => [
      `${i + 1},Exit long,${date(one.exitTime)},Close entry(s) order L,${one.exitPrice},${one.qty},${one.profit.toFixed(2)}`,
      `${i + 1},Entry long,${date(one.entryTime)},L,${one.entryPrice},${one.qty},${one.profit.toFixed(2)}`,
    ])
  return ['Trade #,Type,Date/Time,Signal,Price USD,Quantity,Net P&L USD', ...rows].join('\n')
}

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

test('a commission of more than the trade is refused for a new run and a preview', async () => {
  const { call, cookie: headers, pool } = await world()
  const series = { symbol: 'ABC', exchange: 'X', interval: '1d', bars: 30 }
  const body = { name: 'n', ...series, source: SCRIPT, inputs: {}, overrides: { commission_value: 1e9 } }
  for (const path of ['/api/platform/backtests', '/api/platform/backtests/preview']) {
    const { status, json } = await call('POST', path, { headers, body })
    expect([status, json.error.fields[0].path]).toEqual([422, '/overrides/commission_value'])
    expect(json.error.message).toContain('Give 100 or less')
  }
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
  const trades = (made.json.result.report.trades as Traded[]).filter(({ status }) => status === 'closed')
  const list = exportOf(trades.map((one, i) => (i === 2 ? { ...one, entryPrice: one.entryPrice + 5 } : one)))
  const { comparison } = (await ask('compare', { csv: list, timezone: 'UTC' })).json
  expect(comparison).toMatchObject({
    expected: trades.length,
    found: trades.length,
    exact: trades.length - 1,
  })
  expect(comparison.firstDivergence).toMatchObject({ n: 3, differences: [{ field: 'entryPrice' }] })
  pool.close()
})

test('rows that cannot be read are named, count as not agreeing, and are not explained by another script', async () => {
  const { made, ask, pool } = await world()
  const trades = (made.json.result.report.trades as Traded[]).filter(({ status }) => status === 'closed')
  const lines = exportOf(trades).split('\n')
  const at = lines.findIndex((line) => line.startsWith('2,Exit'))
  const list = lines.toSpliced(at, 1).join('\n')
  const { comparison, explanation, warnings } = (await ask('compare', { csv: list, timezone: 'UTC' })).json
  expect(comparison).toMatchObject({
    expected: trades.length,
    found: trades.length,
    exact: trades.length - 1,
    unreadable: 1,
  })
  expect(warnings).toEqual([
    { code: 'unreadable_row', message: expect.stringMatching(/^Row \d+: Trade 2 has no row of its exit\.$/) },
  ])
  expect(explanation).toBeNull()
  pool.close()
})

test("TradingView's XLSX is compared, says its settings, and its figures are held against the report's", async () => {
  const { made, ask, pool } = await world()
  const { report } = made.json.result
  const list = exportOf(report.trades).split('\n')
  const sheets = [
    { name: 'List of trades', rows: list.map((line) => line.split(',')) },
    {
      name: 'Performance',
      rows: [
        ['', 'All USD', 'All %'],
        ['Net profit', report.all.netProfit + 1, null],
        ['Gross profit', report.all.grossProfit, null],
      ],
    },
    {
      name: 'Properties',
      rows: [
        ['name', 'value'],
        ['Symbol', 'X:ABC'],
        ['Timeframe', '1 day'],
        ['Trading range', '2024-01-06 — 2024-01-30'],
        ['Initial capital', 5000],
      ],
    },
    { name: 'Unknown', rows: [['a']] },
  ]
  const xlsx = Buffer.from(xlsxOf(sheets)).toString('base64')
  const { json } = await ask('compare?explain=false', { xlsx, timezone: 'UTC' })
  expect(json.comparison).toMatchObject({ exact: json.comparison.expected, firstDivergence: null })
  expect(json.settings).toEqual({
    exchange: 'X',
    symbol: 'ABC',
    interval: '1d',
    range: { from: '2024-01-06 00:00', to: '2024-01-30 23:59' },
    bars: 25,
    inputs: {},
    overrides: { initial_capital: 5000 },
    facts: {},
    differs: ['bars', 'initial_capital'],
    unknown: [
      'The sheet "Unknown" is not understood: nothing is taken from it.',
      'Whether shares stand in per cent or as fractions, no sheet tells: they are not compared.',
    ],
  })
  expect(json.figures.map((one: { agrees: boolean }) => one.agrees)).toEqual([false, true])
  const csv = await ask('compare?explain=false', { csv: list.join('\n'), timezone: 'UTC' })
  expect(csv.json).toMatchObject({ settings: null, figures: null })
  pool.close()
})

test("the plots of TradingView's chart are held against the run's, bar by bar", async () => {
  const { call, cookie } = await world()
  const source = '//@version=6\nindicator("two")\nplot(ta.sma(close, 2), "Средняя")\nplot(close * 2, "Twice")'
  const { json: made } = await call('POST', '/api/platform/backtests', {
    headers: cookie,
    body: { name: 'i', symbol: 'ABC', exchange: 'X', interval: '1d', bars: 30, source, inputs: {} },
  })
  const row = (i: number, mean: string, twice: number) =>
    `${day(i) / 1000},${100 + i},${101 + i},${99 + i},${100 + i},${mean},${twice},7`
  const chart = (rows: readonly string[]) =>
    ['time,open,high,low,close,Средняя,Twice,RSI', ...rows].join('\n')
  const compare = (text: string) =>
    call('POST', `/api/platform/backtests/${made.id}/compare`, { headers: cookie, body: { csv: text } })
  const rows = Array.from({ length: 10 }, (_, i) =>
    row(i, i === 0 ? '' : (99.5 + i).toFixed(1), 2 * (100 + i)),
  )
  const { json } = await compare(chart(rows))
  expect(json).toMatchObject({
    settings: null,
    comparison: { expected: 0, found: 0 },
    figures: [
      { sheet: 'Plots', name: 'Средняя: all of 9 bars', expected: 108.5, found: 108.5, agrees: true },
      { name: 'Twice: all of 10 bars', agrees: true },
    ],
    warnings: [{ code: 'unknown_heading', message: expect.stringContaining('"RSI"') }],
  })
  rows[4] = row(4, '103.6', 1)
  rows[6] = row(6, '', 212)
  expect((await compare(chart(rows))).json.figures).toMatchObject([
    {
      name: 'Средняя: 2 of 9 bars differ, first 2024-01-05 00:00 UTC',
      expected: 103.6,
      found: 103.5,
      agrees: false,
    },
    {
      name: 'Twice: 1 of 10 bars differ, first 2024-01-05 00:00 UTC',
      expected: 1,
      found: 208,
      agrees: false,
    },
  ])
  const refused = async (text: string) => (await compare(text)).json.error.message
  expect(await refused(chart([row(900, '1', 1)]))).toContain(
    'No row of it is at the time of a bar of this run.',
  )
  expect(await refused(`time,open,high,low,close,Other\n${day(0) / 1000},1,1,1,1,1`)).toContain(
    'it has "Other"',
  )
})

test("TradingView's chart is kept with the bars that came of it, for whoever sees them, until they go", async () => {
  const { call, bring, cookie, signUp } = await world()
  const of = '/api/platform/bars/chart?symbol=ABC&exchange=X&interval=1d'
  const kept = async (headers = cookie, more = '') =>
    (await call('GET', `${of}${more}`, { headers })).json.chart
  expect(await kept()).toBe(null)
  const rows = Array.from({ length: 10 }, (_, i) =>
    [day(i) / 1000, 100 + i, 101 + i, 99 + i, 100 + i, 2 * (100 + i), 7].join(','),
  )
  const text = ['time,open,high,low,close,Дважды,RSI', ...rows].join('\n')
  expect((await bring(text)).json.plots).toEqual(['Дважды', 'RSI'])
  expect(await kept()).toEqual({
    fileName: '',
    plots: ['Дважды', 'RSI'],
    importedAt: expect.any(Number),
    text: null,
  })
  const source = '//@version=6\nindicator("two")\nplot(close * 2, "Дважды")'
  const { json: made } = await call('POST', '/api/platform/backtests', {
    headers: cookie,
    body: { name: 'i', symbol: 'ABC', exchange: 'X', interval: '1d', bars: 30, source, inputs: {} },
  })
  const whole = await kept(cookie, '&text=true')
  expect(whole.text).toBe(text)
  const compared = await call('POST', `/api/platform/backtests/${made.id}/compare`, {
    headers: cookie,
    body: { csv: whole.text },
  })
  expect(compared.json.figures).toMatchObject([{ name: 'Дважды: all of 10 bars', agrees: true }])
  // Bars without plots leave it; what somebody else imports is theirs.
  expect((await bring(csv((i) => 100 + i))).json.plots).toEqual([])
  expect((await kept()).plots).toHaveLength(2)
  const member = await signUp('member@example.com')
  expect((await kept(member)).plots).toEqual(['Дважды', 'RSI'])
  await call('POST', '/api/platform/bars/import?symbol=ABC&exchange=X&interval=1d&fileName=own.csv', {
    body: text.replace('RSI', 'Own'),
    headers: { ...member, 'content-type': 'text/csv' },
  })
  expect(await kept(member)).toMatchObject({ plots: ['Дважды', 'Own'], fileName: 'own.csv' })
  expect((await kept()).plots).toEqual(['Дважды', 'RSI'])
  await call('DELETE', '/api/platform/bars?symbol=ABC&exchange=X&interval=1d', { headers: cookie })
  expect(await kept()).toBe(null)
})

test('a chart for which there is no room is told, and its bars are stored all the same', async () => {
  const full = new Problem(507, 'storage_full', 'There is no room.')
  const server = testServer(({ kv }) => ({
    kv: {
      ...kv,
      commit: async (commit) => {
        if (commit.sets?.some(({ key }) => key[0] === 'imported-charts')) throw full
        return kv.commit(commit)
      },
    },
  }))
  const headers = { ...(await server.signUp()), 'content-type': 'text/csv' }
  const { status, json } = await server.call(
    'POST',
    '/api/platform/bars/import?symbol=ABC&exchange=X&interval=1d',
    {
      body: `time,open,high,low,close,RSI\n${day(0) / 1000},1,1,1,1,5`,
      headers,
    },
  )
  expect([status, json.inserted, json.plots]).toEqual([200, 1, []])
  expect(json.warnings).toContainEqual({
    code: 'storage_full',
    message: expect.stringContaining('not the plots'),
  })
})

test('an export that was made with other settings is explained, unless nobody wants it', async () => {
  const { call, cookie: headers, ask, made, pool } = await world()
  const body = {
    name: 'n',
    symbol: 'ABC',
    exchange: 'X',
    interval: '1d',
    bars: 30,
    source: SCRIPT,
    inputs: {},
  }
  const overrides = { commission_value: 0.25 }
  const there = await call('POST', '/api/platform/backtests/preview', {
    headers,
    body: { ...body, overrides },
  })
  const list = exportOf(there.json.result.report.trades)
  const { comparison, explanation } = (await ask('compare', { csv: list })).json
  expect(comparison.exact).toBe(0)
  expect(explanation).toMatchObject({
    agrees: true,
    exact: comparison.expected,
    causes: [{ kind: 'commission', overrides }],
    overrides,
    symbol: {},
    bars: null,
    complete: true,
  })
  // One trade of which a row is missing hides nothing of it.
  const lines = list.split('\n')
  const at = lines.findIndex((line) => line.startsWith('2,Exit'))
  expect((await ask('compare', { csv: lines.toSpliced(at, 1).join('\n') })).json.explanation).toMatchObject({
    agrees: true,
    expected: comparison.expected - 1,
    causes: [{ kind: 'commission', overrides }],
    notes: expect.arrayContaining([expect.objectContaining({ code: 'trades_unreadable' })]),
  })
  expect((await ask('compare?explain=false', { csv: list })).json).toMatchObject({ explanation: null })
  const own = exportOf(made.json.result.report.trades)
  expect((await ask('compare', { csv: own })).json).toMatchObject({ explanation: null })
  expect((await ask('compare?explain=maybe', { csv: own })).status).toBe(422)
  pool.close()
})

test('without its bars a run is compared, and says why nothing was looked for', async () => {
  const { call, cookie: headers, ask, made, pool } = await world()
  await call('DELETE', '/api/platform/bars?symbol=ABC&exchange=X&interval=1d', { headers })
  const trades = (made.json.result.report.trades as Traded[]).map((one) => ({ ...one, qty: one.qty + 1 }))
  const { status, json } = await ask('compare', { csv: exportOf(trades) })
  expect(status).toBe(200)
  expect(json).toMatchObject({ explanation: null, warnings: [{ code: 'bars_not_found' }] })
  pool.close()
})

test.each([
  [{ csv: 'nothing,here\n1,2' }, '/csv'],
  [{ csv: '' }, '/csv'],
  [{ csv: 'x', timezone: 'Moon/Sea' }, '/timezone'],
  [{}, '/csv'],
  [{ csv: 'x', xlsx: 'UEs=' }, '/xlsx'],
  [{ xlsx: 'not base64!' }, '/xlsx'],
  [{ xlsx: btoa('Trade #,Type') }, '/xlsx'],
  [{ xlsx: btoa('PK but no archive') }, '/xlsx'],
])('compare refuses %p at %s', async (body, path) => {
  const { ask, pool } = await world()
  const { status, json } = await ask('compare', body)
  expect([status, json.error.fields[0].path]).toEqual([422, path])
  if ('csv' in body && body.csv === '') expect(json.error.fields[0].message).toBe('The file is empty.')
  pool.close()
})
