// Scans through the API, with the real engine.

import { describe, expect, spyOn, test } from 'bun:test'
import { scans } from '../../../src/work/scans/records.ts'
import { transact } from '../../../src/store/transaction.ts'
import type { ScanBody } from '../../../src/wire/scan.ts'
import { HOLDS, SCAN, scanServer } from './scan-server.ts'
import { testKv } from '../../store/test-store.ts'

const PATH = '/api/platform/scans'
const names = (rows: readonly { exchange: string; symbol: string }[]) =>
  rows.map(({ exchange, symbol }) => `${exchange}:${symbol}`)

describe('a scan', () => {
  test('has a row of each market that is cached: last values, and what holds on the last bar', async () => {
    const { scan, rows, call, pool } = await scanServer()
    const done = await scan()
    expect(done).toMatchObject({
      state: 'done',
      kind: 'indicator',
      markets: 5,
      done: 5,
      failed: 0,
      values: ['Average 3', 'move', 'never now'],
      error: null,
    })
    expect(done.conditions).toEqual([
      { title: 'Above', holds: 3 },
      { title: 'Never', holds: 0 },
      { title: 'alert()', holds: 2 },
      { title: 'Up', holds: 3 },
    ])
    const found = await rows(done.id)
    expect(names(found)).toEqual(['X:FALLS', 'X:FLAT', 'X:RISES', 'Y:RISES', 'БИРЖА:СБЕР'])
    expect(found[2]).toEqual({
      exchange: 'X',
      symbol: 'RISES',
      bars: 6,
      time: Date.UTC(2024, 0, 6),
      close: 120,
      change: 120 / 110 - 1,
      values: [112, 120 / 110 - 1, null],
      holds: [0, 2, 3],
      summary: null,
      position: null,
      error: null,
    })
    expect((await call('GET', PATH)).json.scans).toMatchObject([{ id: done.id, name: 'above' }])
    pool.close()
  })

  test('that is over is told of by its own events', async () => {
    const { app, scan, cookie, pool } = await scanServer()
    const { id } = await scan()
    const request = new Request(`http://localhost${PATH}/${id}/events`, { headers: cookie })
    const last = (await (await app.handle(request)).text()).trim().split('\n\n').at(-1) ?? ''
    expect(last).toContain('event: end')
    expect(JSON.parse(/^data: (.*)$/m.exec(last)?.[1] ?? '')).toMatchObject({ scan: { id, state: 'done' } })
    pool.close()
  })

  test('is chosen from by a condition and put in order by a name', async () => {
    const { scan, rows, call, pool } = await scanServer()
    const { id } = await scan()
    const ask = async (query: Record<string, string>) =>
      names(await rows(id, `?${new URLSearchParams(query).toString()}`))
    expect(await ask({ where: 'Above and close > 100', sort: 'close' })).toEqual(['БИРЖА:СБЕР', 'X:RISES'])
    expect(await ask({ where: '"Average 3" < 20 or not Up', sort: 'symbol' })).toEqual([
      'X:FALLS',
      'X:FLAT',
      'Y:RISES',
    ])
    expect(await ask({ sort: 'change', order: 'asc', limit: '2' })).toEqual(['X:FALLS', 'X:FLAT'])
    const page = await call('GET', `${PATH}/${id}/results?sort=close&limit=4`)
    expect(page.json.found).toBe(5)
    expect(names(await rows(id, `?sort=close&limit=4&cursor=${page.json.nextCursor}`))).toEqual(['Y:RISES'])
    const csv = await call('GET', `${PATH}/${id}/results.csv?where=Above&sort=symbol`)
    expect(csv.text.split('\n').slice(0, 2)).toEqual([
      'exchange,symbol,bars,time,close,change,Average 3,move,never now,Above,Never,alert(),Up,error',
      'X,RISES,6,2024-01-06T00:00:00.000Z,120,0.0909090909090908,112,0.0909090909090908,,true,false,true,true,',
    ])
    for (const [query, path] of [
      ['where=RSI<30', '/where'],
      ['where=close<', '/where'],
      ['sort=netProfit', '/sort'],
    ]) {
      const { status, json } = await call('GET', `${PATH}/${id}/results?${query}`)
      expect([status, json.error.fields[0].path, json.error.fields[0].in]).toEqual([422, path, 'query'])
    }
    pool.close()
  })

  test('of a strategy has the head of the report that the single run has', async () => {
    const { scan, rows, call, pool } = await scanServer()
    const done = await scan({ source: HOLDS })
    expect(done).toMatchObject({ kind: 'strategy', values: [], conditions: [] })
    for (const row of await rows(done.id)) {
      const { json } = await call('POST', '/api/platform/backtests/preview', {
        name: 'one',
        source: HOLDS,
        bars: 6,
        symbol: row.symbol,
        exchange: row.exchange,
        interval: '1d',
      })
      expect(row.summary).toEqual(json.result.report.summary)
      expect(row.position).toBe(1)
    }
    expect(names(await rows(done.id, '?where=netProfit>=5&sort=netProfit'))).toEqual([
      'БИРЖА:СБЕР',
      'X:RISES',
    ])
    pool.close()
  })

  test('looks at the symbols of a watchlist or at those that are named, wherever they are traded', async () => {
    const { scan, rows, call, pool } = await scanServer()
    const list = await call('POST', '/api/platform/watchlists/import', {
      name: 'mine',
      items: [{ symbol: 'rises' }, { symbol: 'сбер', exchange: 'биржа' }, { symbol: 'GONE', exchange: 'X' }],
    })
    const watched = await scan({ watchlistId: list.json.id })
    expect(watched).toMatchObject({ markets: 4, done: 4, failed: 1 })
    const found = await rows(watched.id)
    expect(names(found)).toEqual(['X:RISES', 'Y:RISES', 'БИРЖА:СБЕР', 'X:GONE'])
    expect(found[3]).toMatchObject({ bars: 0, close: null, error: { code: 'bars_not_found' } })
    const named = await scan({ symbols: [{ symbol: 'x:falls' }, { symbol: 'FALLS', exchange: 'X' }] })
    expect(names(await rows(named.id))).toEqual(['X:FALLS'])
    pool.close()
  })

  test('builds bars of a coarser interval', async () => {
    const { scan, rows, put, pool } = await scanServer()
    await put('Z:HOURS', [1, 2, 3], '1h')
    const done = await scan({ interval: '2d', bars: 2 })
    expect(done.markets).toBe(6)
    const [first] = await rows(done.id, '?where=symbol=%27RISES%27')
    expect(first).toMatchObject({ exchange: 'X', bars: 2, close: 120 })
    pool.close()
  })

  test('is run again over what there is then', async () => {
    const { scan, rows, put, call, ended, pool } = await scanServer()
    const { id } = await scan({ symbols: [{ symbol: 'X:FLAT' }] })
    expect((await rows(id))[0].holds).toEqual([])
    await put('X:FLAT', [50, 50, 50, 50, 50, 50, 60])
    expect((await call('POST', `${PATH}/${id}/run`)).json.scan).toMatchObject({ state: 'queued', done: 0 })
    expect(await ended(id)).toMatchObject({ state: 'done', done: 1 })
    expect((await rows(id))[0].holds).toEqual([0, 3])
    pool.close()
  })

  test('goes on where a server ended that was killed', async () => {
    const symbols = Array.from({ length: 900 }, (_, i) => ({ symbol: `X:${i % 2 ? 'RISES' : 'FLAT'}${i}` }))
    const kv = testKv()
    const dead = { is: false }
    const lost = Object.assign(Object.create(kv) as typeof kv, {
      commit: (commit: Parameters<typeof kv.commit>[0]) =>
        dead.is ? new Promise<boolean>(() => {}) : kv.commit(commit),
    })
    const first = await scanServer({ kv: lost })
    await first.put('X:RISES1', [1, 2, 3])
    await first.put('X:FLAT896', [1, 1, 1])
    const { id } = (await first.call('POST', PATH, { ...SCAN, symbols })).json
    while (!(await kv.get(['scan-batch', id, 0]))) await Bun.sleep(1)
    dead.is = true
    first.pool.close()
    const second = await scanServer({ kv, bars: first.services.bars, seed: 2, signedUp: first.cookie })
    await second.services.features.scans.recover()
    expect(await second.ended(id)).toMatchObject({ state: 'done', markets: 900, done: 900, failed: 898 })
    const there = await second.rows(id, '?where=bars>0')
    expect(names(there)).toEqual(['X:RISES1', 'X:FLAT896'])
    second.pool.close()
  })

  test('goes on over the markets it began with, and begins again without its old rows', async () => {
    const { services, ended, call, cookie, pool, put } = await scanServer()
    const { user } = (await call('GET', '/api/auth/session', undefined, cookie)).json
    const { kv, features } = services
    const made = await call('POST', PATH, SCAN)
    const whole = await ended(made.json.id)
    const stored = await kv.get(['scan-batch', whole.id, 0])
    // As a server left it that was killed behind its first two rows; two of its markets came since, and are not its own.
    await put('A:NEW', [1, 2, 3])
    const id = 'scan_cut'
    const markets = ['X:FALLS', 'X:FLAT', 'X:RISES'].map((name) => {
      const [exchange = '', symbol = ''] = name.split(':')
      return { exchange, symbol }
    })
    const record = (await scans(kv).get(whole.id))!
    const cut = {
      ...record,
      id,
      state: 'running' as const,
      finishedAt: null,
      markets: 3,
      done: 2,
      batches: 1,
    }
    const text = (value: unknown) => JSON.stringify(value)
    await transact(kv, () => [
      scans(kv).insert(cut),
      {
        sets: [
          { key: ['scan-markets', id], value: text(markets) },
          {
            key: ['scan-script', id],
            value: text({ source: SCAN.source, inputs: {}, overrides: {}, symbols: null }),
          },
          { key: ['scan-batch', id, 0], value: text((JSON.parse(stored!.value) as unknown[]).slice(0, 2)) },
        ],
      },
    ])
    await features.scans.recover()
    expect(await ended(id)).toMatchObject({ state: 'done', markets: 3, done: 3 })
    const { rows } = await features.scans.rows(user.id, id, {})
    expect(names(rows)).toEqual(['X:FALLS', 'X:FLAT', 'X:RISES'])
    // It had two batches; now all six markets are one.
    await call('POST', `${PATH}/${id}/run`)
    expect(await ended(id)).toMatchObject({ state: 'done', markets: 6, done: 6 })
    expect(await kv.list({ prefix: ['scan-batch', id] }, { limit: 10 })).toHaveLength(1)
    pool.close()
  })

  test('asks for other series as its user sees them', async () => {
    const { call, put, ended, signUp, pool } = await scanServer()
    const member = await signUp('member@example.com')
    await put('X:OWN', [7, 8, 9, 10, 11, 12], '1d', member)
    const source = '//@version=6\nindicator("x")\nplot(request.security("X:OWN", "1D", close), "own")\n'
    const asked = { ...SCAN, source, symbols: [{ symbol: 'X:FLAT' }] }
    const theirs = await call('POST', PATH, asked, member)
    expect(await ended(theirs.json.id, member)).toMatchObject({ state: 'done', error: null })
    const { rows } = (await call('GET', `${PATH}/${theirs.json.id}/results`, undefined, member)).json
    expect(rows[0]).toMatchObject({ values: [12], error: null })
    const others = await call('POST', PATH, asked)
    await ended(others.json.id)
    const failed = (await call('GET', `${PATH}/${others.json.id}/results`)).json.rows
    expect(failed[0]).toMatchObject({ error: expect.objectContaining({ code: expect.any(String) }) })
    pool.close()
  })

  test('looks at ten thousand markets and no more', async () => {
    const { services, call, ended, pool } = await scanServer()
    const { store } = services.bars
    const one = (await store.list())[0]!
    const list = spyOn(store, 'list').mockImplementation(async () =>
      Array.from({ length: 10_001 }, (_, i) => ({ ...one, symbol: `S${i}` })),
    )
    const { json } = await call('POST', PATH, SCAN)
    expect(await ended(json.id)).toMatchObject({
      state: 'failed',
      error: { code: 'script_limit_exceeded', message: expect.stringContaining('There are 10,001 markets') },
    })
    list.mockRestore()
    pool.close()
  })

  test('stops when it is cancelled, and is gone when it is removed', async () => {
    const { call, ended, services, pool } = await scanServer()
    const { id } = (await call('POST', PATH, SCAN)).json
    expect((await call('POST', `${PATH}/${id}/cancel`)).json.scan.state).toBe('cancelled')
    expect((await ended(id)).state).toBe('cancelled')
    expect((await call('DELETE', `${PATH}/${id}`)).json).toMatchObject({ id, deleted: true })
    expect((await call('GET', `${PATH}/${id}`)).json.error.code).toBe('scan_not_found')
    for (const prefix of ['scan-script', 'scan-markets', 'scan-batch'])
      expect(await services.kv.list({ prefix: [prefix] }, { limit: 5 })).toEqual([])
    pool.close()
  })
})

describe('what cannot be scanned', () => {
  test.each([
    [{ interval: 'soon' }, '/interval'],
    [{ bars: 0 }, '/bars'],
    [{ bars: 50_001 }, '/bars'],
    [{ source: '' }, '/source'],
    [{ symbols: [] }, '/symbols'],
    [{ symbols: [{ symbol: 'X:' }] }, '/symbols/0/symbol'],
    [{ symbols: [{ symbol: 'A' }], watchlistId: 'wl_1' }, '/symbols'],
  ])('%j is refused at %s', async (change, path) => {
    const { call, pool } = await scanServer({ engine: 'stand-in' })
    const { status, json } = await call('POST', PATH, { ...SCAN, ...change })
    expect([status, json.error.code]).toEqual([422, 'validation_failed'])
    expect(json.error.fields[0].path).toBe(path)
    pool.close()
  })

  test('a commission of more than the trade, in the words of a new run', async () => {
    const { call, scan, pool } = await scanServer()
    const paid = (text: string) => HOLDS.replace('initial_capital = 1000', text)
    const money = paid('commission_type = strategy.commission.cash_per_order, commission_value = 250')
    const refused: readonly Partial<ScanBody>[] = [
      { source: HOLDS, overrides: { commission_value: 101 } },
      { source: money, overrides: { commission_type: 'percent' } },
    ]
    for (const change of refused) {
      const { status, json } = await call('POST', PATH, { ...SCAN, ...change })
      expect([status, json.error.fields[0].path]).toEqual([422, '/overrides/commission_value'])
      expect(json.error.message).toContain('Give 100 or less')
    }
    expect((await call('GET', PATH)).json.scans).toEqual([])
    // What a script itself says is taken as TradingView takes it.
    for (const change of [
      { source: paid('commission_value = 250') },
      { source: HOLDS, overrides: { commission_value: 100 } },
      { source: money, overrides: { commission_value: 300 } },
    ])
      expect((await scan(change)).state).toBe('done')
    // A script that says nothing of itself fails the scan, with its diagnostics.
    const broken = { source: '//@version=6\nstrategy("x")\nfoo(', overrides: { commission_value: 101 } }
    expect(await scan(broken)).toMatchObject({ state: 'failed', error: { code: 'script_invalid' } })
    pool.close()
  })

  test('a script that does not compile, an input that it lacks and an interval of nothing fail with the reason', async () => {
    const { scan, pool } = await scanServer()
    const broken = await scan({ source: '//@version=6\nindicator("x")\nfoo(' })
    expect(broken).toMatchObject({ state: 'failed', error: { code: 'script_invalid' } })
    expect(broken.error.diagnostics.length).toBeGreaterThan(0)
    const lacking = await scan({ inputs: { Width: 3 } })
    expect(lacking.state).toBe('failed')
    expect(lacking.error.message).toContain('Width')
    expect(await scan({ interval: '1m' })).toMatchObject({
      state: 'failed',
      error: { code: 'bars_not_found' },
    })
    pool.close()
  })

  test('a market on which the script fails is a row with the reason', async () => {
    const { scan, rows, pool } = await scanServer()
    const source = `//@version=6\nindicator("x")\nif close == 80\n    runtime.error("eighty")\nplot(close)`
    const done = await scan({ source })
    expect(done).toMatchObject({ state: 'done', done: 5, failed: 1, values: ['Plot'] })
    expect((await rows(done.id, '?where=symbol=%27FALLS%27'))[0]).toMatchObject({
      bars: 6,
      values: [],
      error: { code: 'script_runtime_error', message: 'eighty' },
    })
    pool.close()
  })

  test("another user sees neither the scan, nor by a scan of theirs somebody's own bars or watchlist", async () => {
    const { scan, call, put, signUp, ended, pool } = await scanServer()
    const mine = await scan()
    const other = await signUp('other@example.com')
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/results'],
      ['GET', '/results.csv'],
      ['GET', '/events'],
      ['POST', '/run'],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const)
      expect((await call(method, `${PATH}/${mine.id}${path}`, undefined, other)).status).toBe(404)
    await put('X:THEIRS', [1, 2, 3], '1d', other)
    await put('X:FLAT', [1, 2, 3], '1d', other)
    expect((await scan()).markets).toBe(5)
    const { id } = (await call('POST', PATH, SCAN, other)).json
    expect((await ended(id, other)).markets).toBe(6)
    const { rows } = (await call('GET', `${PATH}/${id}/results?where=symbol=%27FLAT%27`, undefined, other))
      .json
    // Their own bars go before everybody's of the name.
    expect(rows).toMatchObject([{ close: 3, bars: 3 }])
    const list = await call('POST', '/api/platform/watchlists/import', {
      name: 'm',
      items: [{ symbol: 'FLAT' }],
    })
    const refused = await call('POST', PATH, { ...SCAN, watchlistId: list.json.id }, other)
    expect([refused.status, refused.json.error.code]).toEqual([404, 'watchlist_not_found'])
    pool.close()
  })

  test('a token needs the scope of a watchlist to look at its symbols', async () => {
    const { call, pool } = await scanServer()
    const list = await call('POST', '/api/platform/watchlists/import', {
      name: 'm',
      items: [{ symbol: 'FLAT' }],
    })
    const tokenOf = async (scopes: readonly string[]) => {
      const { secret } = (await call('POST', '/api/platform/tokens', { scopes })).json
      return { authorization: `Bearer ${secret}` }
    }
    const body = { ...SCAN, watchlistId: list.json.id }
    const narrow = await call('POST', PATH, body, await tokenOf(['backtests:write']))
    expect([narrow.status, narrow.json.error.code]).toEqual([403, 'insufficient_scope'])
    const wide = await call('POST', PATH, body, await tokenOf(['backtests:write', 'watchlists:read']))
    expect(wide.status).toBe(200)
    pool.close()
  })
})

test('a strategy on a market is counted as tried there, once, and an indicator is not', async () => {
  const { scan, call, services, pool } = await scanServer()
  const preview = async () =>
    (
      await call('POST', '/api/platform/backtests/preview?tracks=none', {
        name: 'one',
        source: HOLDS,
        bars: 6,
        symbol: 'RISES',
        exchange: 'X',
        interval: '1d',
        overrides: { pyramiding: 2 },
      })
    ).json.trials
  await scan({ source: HOLDS })
  await scan({ source: HOLDS.replaceAll(' = ', '=') })
  await scan()
  await services.features.ledger.settled()
  const entries = await services.kv.list({ prefix: ['trial-count'] }, { limit: 100 })
  expect(entries.map(({ key, value }) => [key.at(-1), value])).toEqual(
    ['X:FALLS 1d', 'X:FLAT 1d', 'X:RISES 1d', 'Y:RISES 1d', 'БИРЖА:СБЕР 1d'].map((market) => [market, '1']),
  )
  expect((await preview()).counted).toBe(2)
  pool.close()
})

test('a scan that failed cannot be watched', async () => {
  const { scan, call, pool } = await scanServer()
  const { id, state } = await scan({ source: '//@version=6\nindicator("x")\nplot(missing)' })
  expect(state).toBe('failed')
  const { status, json } = await call('PATCH', `/api/platform/scans/${id}`, {
    watch: { channels: ['email'] },
  })
  expect([status, json.error.code]).toEqual([409, 'conflict'])
  expect((await call('GET', `/api/platform/scans/${id}`)).json.scan.watch).toBeNull()
  expect((await call('PATCH', `/api/platform/scans/${id}`, { name: 'b', watch: null })).status).toBe(200)
  pool.close()
})
