// Whatever runs a script is made as of a day: what it is unless the body names one, what is stored of it, what verifies it.

import { describe, expect, test } from 'bun:test'
import { reportOf, runs } from '../../src/work/runs/records.ts'
import type { Key, Kv } from '../../src/store/kv.ts'
import { stageText } from '../../src/store/large-text.ts'
import { transact } from '../../src/store/transaction.ts'
import { barCsv } from '../bar-csv.ts'
import { testServer, unlimited } from './server.ts'

const MARKET = { exchange: 'E', symbol: 'S', interval: '1h' }
const SOURCE = `//@version=6
strategy("S")
n = input.int(2, "N")
if bar_index % n == 0
    strategy.entry("L", strategy.long)
else
    strategy.close("L")
`
const RUN = { name: 'mine', ...MARKET, bars: 60, source: SOURCE }
const BEFORE = '2026-09-01'
const SINCE = '2026-09-24'

async function open() {
  const server = testServer(unlimited, { engine: 'real' })
  server.clock.time = Date.UTC(2026, 10, 27)
  const cookie = await server.signUp()
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await server.call(method, `/api/platform${path}`, {
      headers: cookie,
      ...(body !== undefined && { body }),
    })
    return { status: answer.status, ...answer.json }
  }
  await server.call('POST', `/api/platform/bars/import?${String(new URLSearchParams(MARKET))}`, {
    headers: { ...cookie, 'content-type': 'text/csv' },
    body: barCsv(60),
  })
  /** The name that a browser saves an answer under. */
  const fileOf = async (path: string) => {
    const { headers } = await server.call('GET', `/api/platform${path}`, { headers: cookie })
    return /filename="(.*)"/.exec(headers.get('content-disposition') ?? '')?.[1]
  }
  return { ...server, cookie, call, fileOf }
}

/** Waits until a job is over. */
async function ended(get: () => Promise<{ state: string }>) {
  for (;;) {
    const job = await get()
    if (!['queued', 'running'].includes(job.state)) return job
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('a backtest', () => {
  test('is of today unless it is asked for otherwise, and says so wherever it is told of', async () => {
    const { call } = await open()
    for (const [asked, day, capital] of [
      [{}, SINCE, 100_000],
      [{ asOf: '2026-11-01' }, SINCE, 100_000],
      [{ asOf: BEFORE }, BEFORE, 1_000_000],
    ] as const) {
      const { id, backtest, result } = await call('POST', '/backtests', { ...RUN, ...asked })
      expect([backtest.asOf, result.report.asOf, result.report.initialCapital]).toEqual([day, day, capital])
      const one = await call('GET', `/backtests/${id}`)
      expect([one.backtest.asOf, one.result.report.asOf]).toEqual([day, day])
      expect((await call('GET', '/backtests?limit=1')).backtests[0].asOf).toBe(day)
      expect((await call('POST', `/backtests/${id}/verify`)).verification).toMatchObject({ equal: true })
      const preview = await call('POST', '/backtests/preview', { ...RUN, ...asked })
      expect([preview.result.report.asOf, preview.result.report.hash]).toEqual([day, result.report.hash])
    }
  })

  test('counts as a trial of its own where the day makes a difference, and as the same where it makes none', async () => {
    const { call } = await open()
    const counted = async (body: object) =>
      (await call('POST', '/backtests/preview', { ...RUN, ...body })).trials.counted
    expect(await counted({})).toBe(1)
    expect(await counted({ asOf: BEFORE })).toBe(2)
    const overrides = { initial_capital: 5000, default_qty_type: 'fixed', default_qty_value: 3 }
    expect(await counted({ overrides })).toBe(3)
    expect(await counted({ overrides, asOf: BEFORE })).toBe(3)
  })

  test('differs from an export of the other side, which is told', async () => {
    const { call } = await open()
    const before = await call('POST', '/backtests', { ...RUN, asOf: BEFORE })
    const rows = before.result.report.trades.flatMap((one: Record<string, number | string>) => {
      const wall = (time: number) => new Date(time).toISOString().slice(0, 16).replace('T', ' ')
      const tail = `${one['qty']},${Number(one['profit']).toFixed(2)}`
      return [
        `${one['n']},Exit long,${wall(Number(one['exitTime']))},${one['status'] === 'open' ? 'Open' : one['exitId']},${one['exitPrice']},${tail}`,
        `${one['n']},Entry long,${wall(Number(one['entryTime']))},L,${one['entryPrice']},${tail}`,
      ]
    })
    const csv = ['Trade #,Type,Date and time,Signal,Price USD,Position size (qty),Net P&L USD', ...rows].join(
      '\n',
    )
    const { id } = await call('POST', '/backtests', RUN)
    const { explanation } = await call('POST', `/backtests/${id}/compare`, { csv, timezone: 'UTC' })
    expect(explanation).toMatchObject({ agrees: true, asOf: '2026-09-23', overrides: {} })
    expect(explanation.message).toStartWith('This export was made before 24 September 2026.')
  })

  test.each([
    ['2024-12-09', 'Take 2024-12-10 or a later day.'],
    ['2026-12-24', 'Take a day up to today'],
    ['today', 'It takes a day such as 2026-09-24.'],
    ['2026-02-30', 'It takes a day such as 2026-09-24.'],
  ])('as of %s is refused at asOf', async (asOf, words) => {
    const { call } = await open()
    const space = [{ input: 'N', min: 2, max: 3, step: 1 }]
    const part = { ...RUN, name: 'a' }
    for (const [path, body] of [
      ['/backtests', { ...RUN, asOf }],
      ['/backtests/preview', { ...RUN, asOf }],
      ['/sweeps', { ...RUN, space, asOf }],
      ['/scans', { name: 's', interval: '1h', bars: 60, source: SOURCE, asOf }],
      ['/portfolios', { name: 'p', parts: [part], asOf }],
      ['/forward-runs', { name: 'f', ...MARKET, source: SOURCE, asOf }],
    ] as const) {
      const { status, error } = await call('POST', path, body)
      expect({ path, status, code: error.code, at: error.fields[0].path }).toEqual({
        path,
        status: 422,
        code: 'validation_failed',
        at: '/asOf',
      })
      expect(error.fields[0].message).toContain(words)
    }
    expect((await call('POST', '/backtests', { ...RUN, asOf: 20260924 })).status).toBe(422)
  })
})

describe('other runs', () => {
  test('a sweep, over trials of that day', async () => {
    const { call, fileOf } = await open()
    const space = [{ input: 'N', min: 2, max: 4, step: 1 }]
    for (const [asked, day] of [
      [{}, SINCE],
      [{ asOf: BEFORE }, BEFORE],
    ] as const) {
      const { id } = await call('POST', '/sweeps', { ...RUN, space, ...asked })
      const sweep = await ended(async () => (await call('GET', `/sweeps/${id}`)).sweep)
      expect(sweep).toMatchObject({ state: 'done', asOf: day })
      const { trials } = await call('GET', `/sweeps/${id}/results`)
      expect(await fileOf(`/sweeps/${id}/results.csv`)).toBe(`${id}-as-of-${day}.csv`)
      const single = await call('POST', '/backtests/preview', { ...RUN, inputs: { N: 2 }, ...asked })
      expect(trials[0].figures.netProfit).toBe(single.result.report.all.netProfit)
      expect(single.trials.counted).toBe(day === SINCE ? 3 : 6)
    }
  })

  test('a scan', async () => {
    const { call, fileOf } = await open()
    const body = { name: 's', interval: '1h', bars: 60, source: SOURCE }
    const profits: number[] = []
    for (const [asked, day] of [
      [{}, SINCE],
      [{ asOf: BEFORE }, BEFORE],
    ] as const) {
      const { id } = await call('POST', '/scans', { ...body, ...asked })
      const scan = await ended(async () => (await call('GET', `/scans/${id}`)).scan)
      expect(scan).toMatchObject({ state: 'done', asOf: day })
      expect(await fileOf(`/scans/${id}/results.csv`)).toBe(`${id}-as-of-${day}.csv`)
      profits.push((await call('GET', `/scans/${id}/results`)).rows[0].summary.netProfit)
    }
    expect(Math.abs(profits[0]! / profits[1]!)).toBeGreaterThan(100)
  })

  test('a portfolio', async () => {
    const { call, fileOf } = await open()
    for (const [asked, day, capital] of [
      [{}, SINCE, 100_000],
      [{ asOf: BEFORE }, BEFORE, 1_000_000],
    ] as const) {
      const { id } = await call('POST', '/portfolios', {
        name: 'p',
        parts: [{ ...RUN, name: 'a' }],
        ...asked,
      })
      const portfolio = await ended(async () => (await call('GET', `/portfolios/${id}`)).portfolio)
      expect(portfolio).toMatchObject({ state: 'done', asOf: day, capital })
      expect((await call('GET', `/portfolios/${id}/parts/0`)).report.asOf).toBe(day)
      for (const table of ['equity', 'parts', 'trades'])
        expect(await fileOf(`/portfolios/${id}/${table}.csv`)).toBe(`${id}-${table}-as-of-${day}.csv`)
    }
  })

  test('a forward run, whose report keeps the day as bars come', async () => {
    const { call } = await open()
    for (const [asked, day, capital] of [
      [{}, SINCE, 100_000],
      [{ asOf: BEFORE }, BEFORE, 1_000_000],
    ] as const) {
      const body = { name: 'f', ...MARKET, source: SOURCE, warmup: 40, ...asked }
      const { id, forwardRun } = await call('POST', '/forward-runs', body)
      expect(forwardRun.asOf).toBe(day)
      const { report } = await call('GET', `/forward-runs/${id}/report`)
      expect([report.asOf, report.initialCapital]).toEqual([day, capital])
    }
  })

  test('an alert with a script, and none without', async () => {
    const { call } = await open()
    const { id: scriptId } = await call('POST', '/scripts', { name: 's', source: SOURCE })
    const body = { ...MARKET, kind: 'strategy', scriptId, channels: ['email'] }
    const { id, alert } = await call('POST', '/alerts', body)
    expect(alert.asOf).toBe(SINCE)
    expect((await call('PATCH', `/alerts/${id}`, { name: 'x' })).alert.asOf).toBe(SINCE)
    expect((await call('PATCH', `/alerts/${id}`, { asOf: BEFORE })).alert.asOf).toBe(BEFORE)
    expect((await call('PATCH', `/alerts/${id}`, { asOf: '2020-01-01' })).status).toBe(422)
    expect((await call('POST', '/alerts', { ...body, asOf: BEFORE })).alert.asOf).toBe(BEFORE)
    const price = { ...MARKET, kind: 'price', op: 'above', price: 1e9, channels: ['email'] }
    expect('asOf' in (await call('POST', '/alerts', price)).alert).toBe(false)
  })
})

test('the script of an alert is run as of its day', async () => {
  const { call } = await open()
  const source = `${SOURCE}plot(strategy.initial_capital, "Capital")\n`
  const { id: scriptId } = await call('POST', '/scripts', { name: 's', source })
  const hook = { name: 'h', url: 'https://hook.example/', events: ['alert.triggered'] }
  const { id: hookId } = await call('POST', '/webhooks', hook)
  const body = { ...MARKET, kind: 'indicator', op: 'above', price: 500_000, scriptId, channels: ['webhook'] }
  const states = []
  for (const asked of [{}, { asOf: BEFORE }])
    states.push((await call('POST', '/alerts', { ...body, ...asked })).alert.state)
  expect(states).toEqual(['active', 'triggered'])
  const { deliveries } = await call('GET', `/webhooks/${hookId}/deliveries`)
  expect(deliveries).toMatchObject([{ data: { kind: 'indicator', plot: 'Capital', value: 1_000_000 } }])
})

describe('a stored script', () => {
  test('keeps a day as a property, until it is set back to today', async () => {
    const { call } = await open()
    const { id, script } = await call('POST', '/scripts', { name: 's', source: SOURCE, asOf: BEFORE })
    expect(script.asOf).toBe(BEFORE)
    expect((await call('PATCH', `/scripts/${id}`, { name: 'x' })).script.asOf).toBe(BEFORE)
    expect((await call('PATCH', `/scripts/${id}`, { asOf: '2026-09-02' })).script.asOf).toBe('2026-09-02')
    expect('asOf' in (await call('PATCH', `/scripts/${id}`, { asOf: null })).script).toBe(false)
    for (const asOf of ['2020-01-01', '2030-01-01', 'x'])
      expect(await call('PATCH', `/scripts/${id}`, { asOf })).toMatchObject({
        status: 422,
        error: { fields: [{ path: '/asOf' }] },
      })
  })

  test('is checked with the names that it has itself', async () => {
    const { call } = await open()
    const checked = await call('POST', '/scripts/check', {
      source: SOURCE.replace('"S"', '"S", initial_capital = 5'),
    })
    expect(checked.given).toEqual(['title', 'initial_capital'])
    expect(checked.declaration).toMatchObject({ initial_capital: 5, default_qty_value: 100 })
  })
})

/** As a version stored it that knew no days. */
async function withoutDay(kv: Kv, id: string): Promise<void> {
  const drop = (text: string) => {
    const { asOf: _asOf, ...rest } = JSON.parse(text)
    return JSON.stringify(rest)
  }
  const script: Key = ['backtest-script', id]
  const report = JSON.parse((await Array.fromAsync((await reportOf(kv, id))!.parts)).join(''))
  delete report.asOf
  await kv.commit({ sets: [{ key: script, value: drop((await kv.get(script))!.value) }] })
  const { asOf: _asOf, ...record } = (await runs(kv).get(id))!
  await runs(kv).update(id, () => record)
  await storeReport(kv, id, report)
}

async function storeReport(kv: Kv, id: string, report: object): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(report))
  const staged = await stageText(kv, ['backtest-report', id], [bytes])
  await transact(kv, async () => [staged])
}

describe('what was stored before runs had a day', () => {
  test('is verified, forwarded and listed as it was', async () => {
    const { call, services } = await open()
    const { id } = await call('POST', '/backtests', { ...RUN, asOf: '2026-09-23' })
    await withoutDay(services.kv, id)
    expect((await call('POST', `/backtests/${id}/verify`)).verification).toMatchObject({ equal: true })
    const { backtest, result } = await call('GET', `/backtests/${id}`)
    expect(['asOf' in backtest, 'asOf' in result.report]).toEqual([false, false])
    // And one of today is not, once its day is taken away.
    const today = await call('POST', '/backtests', RUN)
    await withoutDay(services.kv, today.id)
    expect((await call('POST', `/backtests/${today.id}/verify`)).verification.equal).toBe(false)
  })
})
