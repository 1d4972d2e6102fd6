// Portfolios over HTTP: asked for, followed, looked at whole and part by part, stopped and gone.

import { describe, expect, spyOn, test } from 'bun:test'
import { JobPool } from '../../../src/work/workers/pool.ts'
import type { PortfolioBody } from '../../../src/wire/portfolio.ts'
import { rejection } from '../../rejection.ts'
import { scanServer } from '../scans/scan-server.ts'

const BUYS = (qty: number) => `//@version=6
strategy("buys", initial_capital = 1000)
qty = input.float(${qty}, "Quantity")
if bar_index == 1
    strategy.entry("L", strategy.long, qty = qty)
if bar_index == 4
    strategy.close_all()
`

const part = (name: string, source: string, more: object = {}) => {
  const [exchange = '', symbol = ''] = name.split(':')
  return { name, exchange, symbol, interval: '1d', bars: 100, source, ...more }
}

const TWO: PortfolioBody = {
  name: 'two',
  parts: [part('X:RISES', BUYS(5)), part('БИРЖА:СБЕР', BUYS(2))],
}

async function portfolioServer() {
  const server = await scanServer()
  const { user } = (await server.call('GET', '/api/auth/session')).json
  const { portfolios, ledger } = server.services.features
  const ended = async (id: string) => {
    await portfolios.watch(user.id, id, new AbortController().signal, () => {})
    return (await server.call('GET', `/api/platform/portfolios/${id}`)).json
  }
  const made = async (body: object) => {
    const { status, json, text } = await server.call('POST', '/api/platform/portfolios', body)
    if (status !== 200) throw new Error(text)
    return ended(json.id)
  }
  return { ...server, user, ledger, ended, made }
}

describe('a portfolio', () => {
  test('answers the whole, its parts, and how they go together', async () => {
    const { call, made, ledger, user } = await portfolioServer()
    const { portfolio, result } = await made(TWO)
    expect(portfolio).toMatchObject({
      name: 'two',
      state: 'done',
      error: null,
      capital: 1000,
      currency: 'USD',
    })
    expect(portfolio.parts[1]).toMatchObject({
      symbol: 'СБЕР',
      exchange: 'БИРЖА',
      priority: 1,
      source: BUYS(2),
    })
    // Each order fills at the next bar's open, which is the close before it: 101 → 110 and 210 → 180.
    const { whole } = result
    expect([whole.trades, whole.netProfit]).toEqual([2, 5 * 9 - 2 * 30])
    expect(result.parts.map(({ netProfit }: { netProfit: number }) => netProfit)).toEqual([45, -60])
    expect(portfolio.netProfit).toBe(whole.netProfit)
    expect(result.correlation[0][0]).toBeCloseTo(1, 9)
    const { json } = await call('GET', `/api/platform/portfolios/${portfolio.id}/parts/1`)
    expect(json.report).toMatchObject({ symbol: 'СБЕР', initialCapital: 1000 })
    expect(json.report.all.netProfit).toBe(result.parts[1].netProfit)
    expect((await call('GET', `/api/platform/portfolios/${portfolio.id}/parts/2`)).status).toBe(404)
    expect((await call('GET', `/api/platform/portfolios/${portfolio.id}/parts/x`)).status).toBe(404)
    const { portfolios } = (await call('GET', '/api/platform/portfolios')).json
    expect(portfolios.map((one: { id: string }) => one.id)).toEqual([portfolio.id])
    expect(JSON.stringify(portfolios)).not.toContain('strategy.entry')
    // Each part is a trial of its script on its market.
    await ledger.settled()
    const { json: single } = await call('POST', '/api/platform/backtests', TWO.parts[0])
    await ledger.settled()
    expect((await call('GET', `/api/platform/trials?of=${single.id}`)).json.counted).toBe(1)
    expect(user.id).toBeString()
  })

  test('of one part is to the byte the backtest of it', async () => {
    const { call, made } = await portfolioServer()
    const { portfolio } = await made({ name: 'one', parts: [TWO.parts[0]!] })
    const { json: single } = await call('POST', '/api/platform/backtests', TWO.parts[0])
    const alone = (await call('GET', `/api/platform/backtests/${single.id}`)).json.result.report
    const { report } = (await call('GET', `/api/platform/portfolios/${portfolio.id}/parts/0`)).json
    const text = (one: object) => JSON.stringify({ ...one, timings: null })
    expect(text(report)).toBe(text(alone))
    expect(report.hash).toMatch(/^[0-9a-f]{64}$/)
  })

  test('takes its capital and its priorities from what was asked', async () => {
    const { made } = await portfolioServer()
    const parts = [part('X:RISES', BUYS(5)), part('X:FALLS', BUYS(5), { priority: 2 })]
    const poor = await made({ name: 'poor', capital: 600, parts })
    expect(poor.result.parts.map(({ trades }: { trades: number }) => trades)).toEqual([0, 1])
    const rich = await made({ name: 'rich', capital: 60_000, currency: 'USD', parts })
    expect(rich.result.parts.map(({ trades }: { trades: number }) => trades)).toEqual([1, 1])
    expect(rich.result.whole.final).toBeCloseTo(60_000 + rich.result.whole.netProfit, 6)
  })

  test('is followed by events, stopped, and removed with all that it has', async () => {
    const { call, services, made } = await portfolioServer()
    const { json } = await call('POST', '/api/platform/portfolios', TWO)
    const events = (await call('GET', `/api/platform/portfolios/${json.id}/events`)).text
    expect(events).toContain('event: end')
    expect(events).toContain('"state":"done"')
    const stopped = await call('POST', `/api/platform/portfolios/${json.id}/cancel`)
    expect(stopped.json.portfolio.state).toBe('done')
    const looping = part('X:RISES', '//@version=6\nstrategy("x")\nwhile true\n    x = 1\n')
    const waiting = await call('POST', '/api/platform/portfolios', { name: 'long', parts: [looping] })
    const cancelled = await call('POST', `/api/platform/portfolios/${waiting.json.id}/cancel`)
    expect(cancelled.json.portfolio.state).toBe('cancelled')
    for (const id of [json.id, waiting.json.id])
      expect((await call('DELETE', `/api/platform/portfolios/${id}`)).json).toMatchObject({
        id,
        deleted: true,
      })
    expect((await call('GET', `/api/platform/portfolios/${json.id}`)).json.error.code).toBe(
      'portfolio_not_found',
    )
    const left = []
    for (const kind of ['s', '-scripts', '-result', '-report', '-tracks', '-trades'].map(
      (end) => `portfolio${end}`,
    ))
      left.push(...(await services.kv.list({ prefix: [kind] }, { limit: 10 })))
    expect(left).toEqual([])
    expect((await made(TWO)).portfolio.state).toBe('done')
  })

  test('runs on the bars that its owner sees, and nobody else sees what came of it', async () => {
    const { call, made, put, services, signUp, user } = await portfolioServer()
    const member = await signUp('member@example.com')
    // Bars of the member's own, which nobody else sees, double.
    await put('X:RISES', [100, 100, 100, 200, 200, 200], '1d', member)
    await put('X:OWN', [100, 100, 100, 300, 300, 300], '1d', member)
    const asked = { name: 'own', parts: [part('X:RISES', BUYS(1)), part('X:OWN', BUYS(1))] }
    const { json } = await call('POST', '/api/platform/portfolios', asked, member)
    await call('GET', `/api/platform/portfolios/${json.id}/events`, undefined, member)
    const { result } = (await call('GET', `/api/platform/portfolios/${json.id}`, undefined, member)).json
    expect(result.parts.map(({ netProfit }: { netProfit: number }) => netProfit)).toEqual([100, 200])
    const theirs = await call('POST', '/api/platform/portfolios', asked)
    expect([theirs.status, theirs.json.error.code]).toEqual([404, 'bars_not_found'])
    const { portfolios } = services.features
    for (const look of [
      () => portfolios.result(user.id, json.id),
      () => portfolios.report(user.id, json.id, 0),
      () => portfolios.script(user.id, json.id),
      () => portfolios.get(user.id, json.id),
    ])
      expect(await rejection(look())).toMatchObject({ code: 'portfolio_not_found' })
    // The owner's stay the shared ones.
    const shared = await made({ name: 'shared', parts: [part('X:RISES', BUYS(1))] })
    expect(shared.result.whole.netProfit).toBe(9)
  })

  test('gives each part its own finer bars, counts each as a trial, and all of them as much time', async () => {
    const budgets = spyOn(JobPool.prototype, 'do')
    const { call, made, put, ledger } = await portfolioServer()
    // On the way down and up again within the second day, hours reach the limit only in one of the markets.
    await put('X:COARSE', [100, 100, 100, 100])
    await put('X:FINE', [100, 100, 100, 100])
    const hours = Array.from({ length: 96 }, (_, i) => (i === 30 ? 90 : 100))
    await put('X:FINE', hours, '1h')
    const limit = `//@version=6
strategy("limit", initial_capital = 1000, use_bar_magnifier = true)
if bar_index == 0
    strategy.entry("L", strategy.long, qty = 1, limit = input.float(95, "Limit"))
`
    const parts = [part('X:COARSE', BUYS(1)), part('X:FINE', limit)]
    const { portfolio } = await made({ name: 'finer', parts })
    expect(portfolio.state).toBe('done')
    const { report } = (await call('GET', `/api/platform/portfolios/${portfolio.id}/parts/1`)).json
    // A trial of the same script on the same market, with another choice: the second.
    const other = await call('POST', '/api/platform/backtests', { ...parts[1], inputs: { Limit: 94 } })
    await ledger.settled()
    expect((await call('GET', `/api/platform/trials?of=${other.json.id}`)).json.counted).toBe(2)
    const { json } = await call('POST', '/api/platform/backtests', parts[1])
    const alone = (await call('GET', `/api/platform/backtests/${json.id}`)).json.result.report
    expect(report.orders).toEqual(alone.orders)
    expect(report.warnings).toEqual(alone.warnings)
    const { budget } = budgets.mock.calls.find(([kind]) => kind === 'portfolio')![2]
    const single = budgets.mock.calls.find(([kind]) => kind === 'run')![2].budget
    expect(budget.timeMs).toBe(2 * single.timeMs)
    budgets.mockRestore()
  })

  test('runs scripts that import libraries and ask for other series', async () => {
    const { call, made } = await portfolioServer()
    const library = `//@version=6\nlibrary("twice")\nexport twice(float x) => x * 2\n`
    const stored = await call('POST', '/api/platform/scripts', { name: 'twice', source: library })
    expect(stored.status).toBe(200)
    const { name } = (await call('GET', '/api/auth/session')).json.user
    const source = `//@version=6
strategy("asks", initial_capital = 1000)
import ${name}/twice/1 as lib
other = request.security("X:FALLS", "1D", close)
if bar_index == 1
    strategy.entry("L", strategy.long, qty = lib.twice(other) / 99)
`
    const { portfolio, result } = await made({ name: 'asks', parts: [part('X:RISES', source), TWO.parts[0]] })
    expect([portfolio.state, portfolio.error]).toEqual(['done', null])
    const { report } = (await call('GET', `/api/platform/portfolios/${portfolio.id}/parts/0`)).json
    expect(report.orders[0].qty).toBe(2)
    expect(result.whole.trades).toBe(1)
  })

  test('that is cancelled when its reports are made already keeps none of them', async () => {
    const { call, services, user, ended } = await portfolioServer()
    const { portfolios } = services.features
    const real = JobPool.prototype.do
    const { promise, resolve } = Promise.withResolvers<string>()
    const pool = spyOn(JobPool.prototype, 'do').mockImplementation(async function cancelled(
      this: JobPool,
      ...args: never[]
    ) {
      const found: unknown = await (real as (...all: never[]) => Promise<unknown>).apply(this, args)
      if ((args as readonly unknown[])[0] === 'portfolio') await portfolios.cancel(user.id, await promise)
      return found
    } as unknown as typeof real)
    const { json } = await call('POST', '/api/platform/portfolios', TWO)
    resolve(json.id)
    await ended(json.id)
    pool.mockRestore()
    expect((await portfolios.get(user.id, json.id)).state).toBe('cancelled')
    for (const kind of ['portfolio-result', 'portfolio-report', 'portfolio-tracks', 'portfolio-trades'])
      expect(await services.kv.list({ prefix: [kind] }, { limit: 10 })).toEqual([])
  })

  test('has two million bars at most, in all its parts together', async () => {
    const server = await portfolioServer()
    const minutes = Array.from({ length: 100_001 }, (_, i) => `${Date.UTC(2024, 0, 1, 0, i)},1,1,1,1,1`)
    const sent = await server.call(
      'POST',
      '/api/platform/bars/import?symbol=LONG&exchange=X&interval=1m',
      ['time,open,high,low,close,volume', ...minutes].join('\n'),
      { ...server.cookie, 'content-type': 'text/csv' },
    )
    expect(sent.status).toBe(200)
    const { call } = server
    const long = part('X:LONG', BUYS(1), { interval: '1m', bars: 2_000_000 })
    const { status, json } = await call('POST', '/api/platform/portfolios', {
      name: 'long',
      parts: Array.from({ length: 20 }, () => long),
    })
    expect([status, json.error.fields[0]]).toEqual([
      422,
      expect.objectContaining({ path: '/parts', code: 'too_many_bars' }),
    ])
    expect(json.error.message).toContain('The parts have 2,000,020 bars; 2,000,000 are allowed')
  })

  test('whose part cannot run is refused with its number, its field and its lines, before anything runs', async () => {
    const { call } = await portfolioServer()
    const asked = async (source: string, more: object = {}) => {
      const body = { name: 'broken', parts: [TWO.parts[0], part('X:FALLS', source, more)] }
      const { status, json } = await call('POST', '/api/platform/portfolios', body)
      return { status, ...json.error }
    }
    const broken = await asked('//@version=6\nstrategy("x")\nplot(nothing)')
    expect(broken).toMatchObject({ status: 422, code: 'script_invalid' })
    expect(broken.message).toStartWith('Part 2: ')
    expect(broken.diagnostics[0].line).toBe(3)
    const indicator = await asked('//@version=6\nindicator("x")\nplot(close)')
    expect(indicator.fields).toMatchObject([{ path: '/parts/1/source', code: 'not_a_strategy' }])
    const stranger = await asked(BUYS(1), { inputs: { Nothing: 1 } })
    expect(stranger.fields).toMatchObject([{ path: '/parts/1/inputs/Nothing', code: 'invalid_input' }])
    const setting = await asked(BUYS(1), { overrides: { nothing: 1 } })
    expect(setting.fields[0]).toMatchObject({ path: '/parts/1/overrides/nothing' })
    expect(setting.fields[0].message).toStartWith('Part 2: ')
    const costly = await asked(BUYS(1), { overrides: { commission_value: 101 } })
    expect(costly.fields).toMatchObject([{ path: '/parts/1/overrides/commission_value', code: 'setting' }])
    expect(costly.fields[0].message).toContain('Give 100 or less')
    for (const [name, instead] of [
      ['currency', 'currency'],
      ['initial_capital', 'capital'],
    ] as const) {
      const { fields } = await asked(BUYS(1), { overrides: { [name]: name === 'currency' ? 'EUR' : 1 } })
      const path = `/parts/1/overrides/${name}`
      expect(fields).toMatchObject([
        { path, code: 'of_the_whole', message: expect.stringContaining(`\`${instead}\``) },
      ])
    }
    const many = await call('POST', '/api/platform/portfolios', {
      name: 'many',
      parts: Array.from({ length: 50 }, () => TWO.parts[0]),
    })
    expect([many.status, many.json.error.fields[0].path]).toEqual([422, '/parts'])
    expect(many.json.error.fields[0].message).toContain('20')
    expect((await call('GET', '/api/platform/portfolios')).json.portfolios).toEqual([])
  })

  test('that fails on the way says why, and which part it was', async () => {
    const { made } = await portfolioServer()
    const source = '//@version=6\nstrategy("x")\nif bar_index == 2\n    runtime.error("no more")\n'
    const { portfolio, result } = await made({ name: 'x', parts: [TWO.parts[0], part('X:FALLS', source)] })
    expect(portfolio).toMatchObject({ state: 'failed', error: { code: 'script_runtime_error' } })
    expect(portfolio.error.message).toStartWith('Part 2: ')
    expect(result).toBeNull()
  })

  test('has a chart of each part, and its trades, equity and parts as CSV', async () => {
    const { call, made } = await portfolioServer()
    const { portfolio, result } = await made(TWO)
    const { id } = portfolio
    const { tracks } = (await call('GET', `/api/platform/portfolios/${id}/parts/1/tracks`)).json
    const { report } = (await call('GET', `/api/platform/portfolios/${id}/parts/1`)).json
    const equity = tracks.find(({ kind }: { kind: string }) => kind === 'equity').data
    expect(equity.at(-1)).toBeCloseTo(report.equity.final, 9)
    expect((await call('GET', `/api/platform/portfolios/${id}/parts/7/tracks`)).status).toBe(404)
    const rows = async (path: string) => (await call('GET', path)).text.trim().split('\n')
    const trades = await rows(`/api/platform/portfolios/${id}/trades.csv`)
    expect(trades).toHaveLength(1 + result.whole.trades)
    expect(trades[0]).toStartWith('part,exchange,symbol,interval,trade,side,qty,entryTime')
    expect(trades.at(-1)).toStartWith('2,БИРЖА,СБЕР,1d,1,long,2,')
    const curve = await rows(`/api/platform/portfolios/${id}/equity.csv`)
    expect(curve[0]).toBe('time,equity,1 X:RISES,2 БИРЖА:СБЕР')
    expect(Number(curve.at(-1)!.split(',')[1])).toBe(result.whole.final)
    const parts = await rows(`/api/platform/portfolios/${id}/parts.csv`)
    const column = parts[0]!.split(',').indexOf('netProfit')
    expect(parts.map((row) => row.split(',')[column])).toEqual([
      'netProfit',
      ...result.parts.map((one: { netProfit: number }) => String(one.netProfit)),
      String(result.whole.netProfit),
    ])
  })
})

describe('what cannot be a portfolio is refused by its field', () => {
  const cases: readonly (readonly [body: object, status: number, path: string])[] = [
    [{ ...TWO, parts: [] }, 422, '/parts'],
    [{ ...TWO, capital: 0 }, 422, '/capital'],
    [{ ...TWO, currency: 'dollars' }, 422, '/currency'],
    [{ ...TWO, parts: [part('X:RISES', BUYS(1), { priority: 0 })] }, 422, '/parts/0/priority'],
    [
      { ...TWO, parts: [part('X:RISES', BUYS(1), { overrides: { initial_capital: 5 } })] },
      422,
      '/parts/0/overrides/initial_capital',
    ],
    [
      { ...TWO, parts: [part('X:RISES', BUYS(1), { overrides: { currency: 'EUR' } })] },
      422,
      '/parts/0/overrides/currency',
    ],
    [{ ...TWO, parts: [part('X:RISES', BUYS(1), { interval: '7q' })] }, 422, '/parts/0/interval'],
  ]
  test('by path and remedy', async () => {
    const { call } = await portfolioServer()
    for (const [body, status, path] of cases) {
      const answer = await call('POST', '/api/platform/portfolios', body)
      expect([path, answer.status]).toEqual([path, status])
      expect(answer.json.error.fields.map((field: { path: string }) => field.path)).toContain(path)
    }
    const nowhere = await call('POST', '/api/platform/portfolios', {
      ...TWO,
      parts: [part('X:NOWHERE', BUYS(1))],
    })
    expect([nowhere.status, nowhere.json.error.code]).toEqual([404, 'bars_not_found'])
  })
})
