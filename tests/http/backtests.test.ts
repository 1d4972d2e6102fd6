import { describe, expect, test } from 'bun:test'
import { purgeGone } from '../../src/work/runs/gone.ts'
import { removeRuns } from '../../src/work/runs/commits.ts'
import { runs } from '../../src/work/runs/records.ts'
import { encodeCursor } from '../../src/store/collection.ts'
import type { Kv } from '../../src/store/kv.ts'
import { transact } from '../../src/store/transaction.ts'
import { testKv } from '../store/test-store.ts'
import { testServer, type Call } from './server.ts'

const CSV = `time,open,high,low,close,volume\n${Array.from(
  { length: 30 },
  (_, i) => `${Date.UTC(2024, 0, 1 + i)},10,12,9,11,5`,
).join('\n')}`
const RUN = { name: 'mine', symbol: 'abc', interval: 'D', exchange: 'x', bars: 20, source: 'sum', inputs: {} }

async function open(options: Parameters<typeof testServer>[1] = {}) {
  const server = testServer(() => ({}), options)
  const cookie = await server.signUp()
  const post = (body: unknown, headers = {}) =>
    server.call('POST', '/api/platform/backtests', { body, headers: { ...cookie, ...headers } })
  const imported = await server.call('POST', '/api/platform/bars/import?symbol=abc&exchange=x&interval=1d', {
    body: CSV,
    headers: { ...cookie, 'content-type': 'text/csv' },
  })
  const get = (path: string, headers = {}) => server.call('GET', path, { headers: { ...cookie, ...headers } })
  return { ...server, cookie, post, get, imported }
}

test('a backtest runs on the last bars and is kept with report and tracks', async () => {
  const { post, get, pool, onFinished, services } = await open()
  const seen: string[] = []
  onFinished.push({
    changes: async (_tx, run) => [{ sets: [{ key: ['outbox', run.id], value: String(run.summary.trades) }] }],
    written: (run) => seen.push(run.id),
  })
  const made = await post(RUN)
  expect(made.status).toBe(200)
  expect(made.json).toMatchObject({ ok: true, result: { report: { sum: 220 }, tracks: [{ id: 'time' }] } })
  const { id } = made.json
  expect(id).toMatch(/^bt_[0-9a-z]{26}$/)
  expect(seen).toEqual([id])
  expect((await services.kv.get(['outbox', id]))?.value).toBe('0')

  const one = await get(`/api/platform/backtests/${id}`)
  expect(one.json).toMatchObject({
    backtest: {
      id,
      state: 'done',
      symbol: 'ABC',
      exchange: 'X',
      interval: '1d',
      range: { bars: 20 },
      source: 'sum',
    },
    result: { report: { sum: 220 } },
  })
  const etag = one.headers.get('etag') ?? ''
  expect((await get(`/api/platform/backtests/${id}`, { 'if-none-match': etag })).status).toBe(304)
  expect((await get(`/api/platform/backtests/${id}/tracks`)).json.tracks).toHaveLength(1)
  const list = await get('/api/platform/backtests')
  expect(list.json).toMatchObject({
    backtests: [{ id, summary: { trades: 0 }, currency: 'USD', curve: [1, 1.25] }],
    nextCursor: null,
  })
  expect(list.json.backtests[0].source).toBeUndefined()
  pool.close()
})

test('without tracks the report is answered alone, also when it is answered again, and the tracks are kept', async () => {
  const { cookie, call, get, pool } = await open()
  const headers = { ...cookie, 'idempotency-key': 'k', accept: 'application/vnd.chartroom.columns' }
  const post = () => call('POST', '/api/platform/backtests?tracks=none', { body: RUN, headers })
  const made = await post()
  expect(made.json.result).toEqual({ report: expect.objectContaining({ sum: 220 }), tracks: [] })
  const again = await post()
  expect([again.headers.get('idempotent-replayed'), again.json]).toEqual(['true', made.json])
  expect((await get(`/api/platform/backtests/${made.json.id}/tracks`)).json.tracks).toHaveLength(1)
  pool.close()
})

test('the best of those made since a day come first, page by page, and those without figures last', async () => {
  const { post, get, pool, services, clock } = await open()
  const { id } = (await post(RUN)).json
  const one = await runs(services.kv).get(id)
  const week = 7 * 86_400_000
  const copies = [30, 10, 20, null].map((netProfit, i) => ({
    ...one!,
    id: `bt_${'0'.repeat(25)}${i}`,
    name: String(netProfit),
    createdAt: clock.now() - (i === 0 ? 2 : 1) * week,
    summary: netProfit === null ? null : { ...one!.summary!, netProfit },
  }))
  for (const copy of copies) await transact(services.kv, () => runs(services.kv).insert(copy))
  const since = new Date(clock.now() - 1.5 * week).toISOString()
  const names = async (query: string) => {
    const { json } = await get(`/api/platform/backtests?${query}`)
    return [json.backtests.map(({ name }: { name: string }) => name).join(' '), json.nextCursor] as const
  }
  expect((await names('sort=netProfit'))[0]).toBe('30 20 10 mine null')
  expect((await names('sort=netProfit&order=asc'))[0]).toBe('mine 10 20 30 null')
  expect((await names(`createdAfter=${since}`))[0]).toBe('mine null 20 10')
  const [first, next] = await names(`sort=netProfit&createdAfter=${since}&limit=3`)
  expect(first).toBe('20 10 mine')
  expect(await names(`sort=netProfit&createdAfter=${since}&limit=3&cursor=${next}`)).toEqual(['null', null])
  const ofOthers = [
    (await names('limit=1'))[1],
    encodeCursor([-1]),
    encodeCursor([0.5]),
    encodeCursor([1, 2]),
  ]
  const cursors = ofOthers.map((cursor) => `sort=netProfit&cursor=${cursor}`)
  for (const wrong of ['sort=luck', 'createdAfter=soon', 'order=up', ...cursors])
    expect([wrong, (await get(`/api/platform/backtests?${wrong}`)).status]).toEqual([wrong, 422])
  pool.close()
})

describe('refusals', () => {
  const scenarios: readonly (readonly [name: string, change: object, status: number, code: string])[] = [
    ['bars that are not cached', { symbol: 'nope' }, 404, 'bars_not_found'],
    ['an interval that is none', { interval: 'soon' }, 422, 'validation_failed'],
    ['no bars at all', { bars: 0 }, 422, 'validation_failed'],
    ['too many bars', { bars: 2_000_001 }, 422, 'validation_failed'],
    ['inputs of a wrong kind', { inputs: [] }, 422, 'validation_failed'],
    ['a script that is not valid', { source: 'invalid' }, 422, 'script_invalid'],
    ['a mistake of ours', { source: 'crash' }, 500, 'internal_error'],
  ]
  test.each(scenarios)('%s', async (_name, change, status, code) => {
    const { post, get, pool } = await open()
    const answer = await post({ ...RUN, ...change })
    expect([answer.status, answer.json.error.code]).toEqual([status, code])
    expect((await get('/api/platform/backtests')).json.backtests).toEqual([])
    pool.close()
  })
})

test('a script that never ends is stopped when its time is over', async () => {
  const { post, get, jobClock, pool } = await open()
  const answered = post({ ...RUN, source: 'for ever' })
  while (pool.running === 0) await new Promise(setImmediate)
  jobClock.advance(11_000)
  const { status, json } = await answered
  expect([status, json.error.code]).toEqual([422, 'script_limit_exceeded'])
  expect((await get('/api/platform/backtests')).json.backtests).toEqual([])
  pool.close()
})

test('one that is not waited for is refused as any other', async () => {
  const { post, pool } = await open()
  const answer = await post({ ...RUN, symbol: 'nope' }, { prefer: 'respond-async' })
  expect([answer.status, answer.headers.get('location')]).toEqual([404, null])
  pool.close()
})

test('what is cached is named when something else was asked for', async () => {
  const { post, pool } = await open()
  expect((await post({ ...RUN, interval: '1m' })).json.error.message).toContain('X:ABC 1d')
  pool.close()
})

test('fewer bars than asked for is a warning', async () => {
  const { post, pool } = await open()
  const answer = await post({ ...RUN, bars: 1000, inputs: undefined, extra: 1 })
  expect(answer.json.warnings.map((warning: { code: string }) => warning.code)).toEqual([
    'fewer_bars',
    'unknown_field',
  ])
  pool.close()
})

test('respond-async answers at once; events follow it to the end', async () => {
  const { post, get, pool, app, cookie } = await open()
  const answer = await post(RUN, { prefer: 'respond-async' })
  const again = await post(RUN, { prefer: 'respond-async', 'idempotency-key': 'k' })
  const replayed = await post(RUN, { prefer: 'respond-async', 'idempotency-key': 'k' })
  expect([replayed.status, replayed.json]).toEqual([202, again.json])
  expect([answer.status, answer.json.state, answer.headers.get('preference-applied')]).toEqual([
    202,
    'queued',
    'respond-async',
  ])
  const path = `/api/platform/backtests/${answer.json.id}`
  const response = await app.handle(new Request(`http://localhost${path}/events`, { headers: cookie }))
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const text = await response.text()
  expect(text).toContain('event: progress')
  expect(text).toMatch(/event: end\ndata: .*"state":"done"/)
  expect((await get(path)).json.backtest.state).toBe('done')
  pool.close()
})

test('events of a run say no more when their token was revoked', async () => {
  const { post, call, pool, app, cookie } = await open()
  const { id } = (await post({ ...RUN, source: 'for ever' }, { prefer: 'respond-async' })).json
  const path = `/api/platform/backtests/${id}`
  const listen = async (scopes: readonly string[]) => {
    const { json } = await call('POST', '/api/platform/tokens', { body: { scopes }, headers: cookie })
    const request = new Request(`http://localhost${path}/events`, {
      headers: { authorization: `Bearer ${json.secret}` },
    })
    const reader = ((await app.handle(request)).body as ReadableStream<unknown>).getReader()
    return { tokenId: json.id as string, reader, first: String((await reader.read()).value) }
  }
  const rest = async (reader: { read(): Promise<{ done: boolean; value?: unknown }> }) => {
    let text = ''
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += String(part.value)
    return text
  }
  const [revoked, stays] = [await listen(['backtests:read']), await listen(['backtests:read'])]
  expect([revoked.first, stays.first]).toEqual([revoked.first, revoked.first])
  await call('DELETE', `/api/platform/tokens?id=${revoked.tokenId}`, { headers: cookie })
  await call('DELETE', path, { headers: cookie })
  expect(await rest(revoked.reader)).toBe('')
  expect(await rest(stays.reader)).toContain('event: progress')
  pool.close()
})

test('how far runs are is told their user, of those too whose answer is waited for', async () => {
  const { post, get, call, signUp, pool } = await open()
  const running = () => get('/api/platform/backtests/running')
  expect((await running()).json.running).toEqual([])
  const { id } = (await post({ ...RUN, source: 'for ever' }, { prefer: 'respond-async' })).json
  while (pool.running === 0) await new Promise(setImmediate)
  const told = { name: 'mine', exchange: 'X', symbol: 'ABC', interval: '1d', bar: 0, bars: 20 }
  expect((await running()).json.running).toEqual([{ ...told, state: 'running' }])
  const other = await signUp('other@example.com')
  expect((await call('GET', '/api/platform/backtests/running', { headers: other })).json.running).toEqual([])
  expect(id).toStartWith('bt_')
  pool.close()
})

test('an asynchronous run that fails says why, one that is removed is gone', async () => {
  const { post, get, call, cookie, pool } = await open()
  const failing = await post({ ...RUN, source: 'invalid' }, { prefer: 'respond-async' })
  const endless = await post({ ...RUN, source: 'for ever' }, { prefer: 'respond-async' })
  // Its events end when it does.
  await get(`/api/platform/backtests/${failing.json.id}/events`)
  expect((await get(`/api/platform/backtests/${failing.json.id}`)).json).toMatchObject({
    backtest: { state: 'failed', error: { code: 'script_invalid', diagnostics: [{ line: 1 }] } },
    result: null,
  })
  const refused = {
    status: 409,
    json: { error: { message: expect.stringMatching(/no report: it failed: ./) } },
  }
  const failed = `/api/platform/backtests/${failing.json.id}`
  expect(await get(`${failed}/tracks`)).toMatchObject(refused)
  for (const asked of ['judge', 'repaint', 'verify', 'compare', 'replay'])
    expect([
      asked,
      await call('POST', `${failed}/${asked}`, { headers: cookie, body: { csv: 'x' } }),
    ]).toMatchObject([asked, refused])
  const path = `/api/platform/backtests/${endless.json.id}`
  expect((await get(path)).json.backtest.state).toBe('running')
  expect((await call('DELETE', path, { headers: cookie })).json).toMatchObject({ ok: true, deleted: true })
  expect((await get(path)).json.error.code).toBe('backtest_not_found')
  while (pool.running > 0) await new Promise(setImmediate)
  pool.close()
})

test("another user's backtest is not there", async () => {
  const { post, call, signUp, pool } = await open()
  const { id } = (await post(RUN)).json
  const other = await signUp('other@example.com')
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/tracks'],
    ['GET', '/events'],
    ['DELETE', ''],
  ] as const) {
    const answer = await call(method, `/api/platform/backtests/${id}${path}`, { headers: other })
    expect([answer.status, answer.json.error.code]).toEqual([404, 'backtest_not_found'])
  }
  pool.close()
})

test('a token works with its scope, and says which one it lacks', async () => {
  const { token, cookie, call, pool } = await open()
  const reads = await token(cookie, ['backtests:read'])
  const send = (headers: Call['headers']) =>
    call('POST', '/api/platform/backtests', { body: RUN, headers: headers ?? {} })
  const refused = await send(reads)
  expect([refused.status, refused.json.error.code]).toEqual([403, 'insufficient_scope'])
  expect(refused.headers.get('www-authenticate')).toContain('backtests:write')
  expect((await send(await token(cookie, ['backtests:write']))).status).toBe(200)
  pool.close()
})

describe('bars and symbols', () => {
  test('an import says what it stored; a query answers columns, also of an interval built from it', async () => {
    const { imported, get, pool } = await open()
    expect(imported.json).toMatchObject({
      ok: true,
      rows: 30,
      inserted: 30,
      updated: 0,
      series: { symbol: 'ABC', interval: '1d', count: 30 },
    })
    const week = await get('/api/platform/bars?symbol=ABC&exchange=X&interval=1w')
    expect(week.json).toMatchObject({ interval: '1w', builtFrom: '1d' })
    expect(week.json.bars.time[0]).toBe(Date.UTC(2024, 0, 1))
    const some = await get(
      '/api/platform/bars?symbol=ABC&exchange=X&interval=1d&start=2024-01-05&end=2024-01-07',
    )
    expect(some.json.bars.time).toEqual([5, 6, 7].map((day) => Date.UTC(2024, 0, day)))
    expect(some.json.bars.close).toEqual([11, 11, 11])
    const first = await get('/api/platform/bars?symbol=ABC&exchange=X&interval=1d&start=2024-01-05&limit=2')
    expect(first.json.bars.time).toEqual([5, 6].map((day) => Date.UTC(2024, 0, day)))
    expect((await get('/api/platform/bars?symbol=NO&exchange=X&interval=1d')).json.error.code).toBe(
      'bars_not_found',
    )
    pool.close()
  })

  test('a wrong row refuses the whole file and names it', async () => {
    const { call, cookie, get, pool } = await open()
    const bad = await call('POST', '/api/platform/bars/import?symbol=bad&exchange=x&interval=1d', {
      body: CSV.replace('10,12,9,11,5', '10,8,9,11,5'),
      headers: { ...cookie, 'content-type': 'text/csv' },
    })
    expect([bad.status, bad.json.error.code]).toEqual([422, 'validation_failed'])
    expect(bad.json.error.fields[0].message).toContain('row 2')
    expect((await get('/api/platform/symbols')).text).not.toContain('BAD')
    pool.close()
  })

  test('facts of a symbol are set and shown with its series', async () => {
    const { call, cookie, get, pool } = await open()
    const put = await call('PUT', '/api/platform/symbols/X/ABC', {
      body: { mintick: 0.25, pointValue: 50 },
      headers: cookie,
    })
    expect(put.json.symbol).toMatchObject({
      mintick: 0.25,
      priceScale: 100,
      minMove: 25,
      pointValue: 50,
      series: [{ interval: '1d', count: 30 }],
    })
    expect((await get('/api/platform/symbols')).json.symbols).toHaveLength(1)
    const wrong = await call('PUT', '/api/platform/symbols/X/ABC', {
      body: { timezone: 'Mars/Olympus' },
      headers: cookie,
    })
    expect(wrong.json.error.fields[0].path).toBe('/timezone')
    pool.close()
  })
})

describe('replaying a backtest', () => {
  test('answers bars, trades, tracks and equity under one id an exchange', async () => {
    const { post, call, cookie, pool } = await open()
    const { id } = (await post(RUN)).json
    const replay = (query = '') =>
      call('POST', `/api/platform/backtests/${id}/replay${query}`, { headers: cookie })
    const first = await replay()
    expect(first.json.id).toMatch(/^rp_/)
    expect(first.json.replay).toMatchObject({
      id: first.json.id,
      source: 'backtest',
      backtestId: id,
      exchange: 'X',
      start: '2024-01-11T00:00:00.000Z',
      end: '2024-01-30T00:00:00.000Z',
      cursor: null,
      bookmarks: [],
    })
    expect(first.json.replay.bars.time).toHaveLength(20)
    expect((await replay('?exchange=x')).json.id).toBe(first.json.id)
    expect((await replay('?exchange=other')).json.error.code).toBe('bars_not_found')
    pool.close()
  })
})

test('a removed backtest leaves nothing behind but the events it caused, and why its replay is gone', async () => {
  const { post, get, call, cookie, services, pool } = await open()
  const { id } = (await post({ ...RUN, name: 'findable' })).json
  await call('POST', `/api/platform/backtests/${id}/replay`, { headers: cookie })
  expect((await get('/api/search?q=findable')).json.results).toHaveLength(1)
  await call('DELETE', `/api/platform/backtests/${id}`, { headers: cookie })
  expect((await get('/api/search?q=findable')).json.results).toEqual([])
  const left = (await services.kv.list({ prefix: [] }, { limit: 1000 }))
    .filter(({ key, value }) => JSON.stringify([key, value]).includes(id))
    .map(({ key }) => key[0])
  expect(new Set(left)).toEqual(new Set(['gone-backtests']))
  const replay = await call('POST', `/api/platform/backtests/${id}/replay`, { headers: cookie })
  expect([replay.status, replay.json.error.code]).toEqual([404, 'backtest_not_found'])
  expect(replay.json.error.message).toContain('was deleted on 2026-01-01')
  pool.close()
})

test('why a backtest is gone is told to its owner alone, for three months', async () => {
  const { post, get, call, cookie, signUp, services, clock, pool } = await open()
  const { id } = (await post(RUN)).json
  await call('DELETE', `/api/platform/backtests/${id}`, { headers: cookie })
  const other = await signUp('other@example.com')
  const paths: [string, string][] = [
    ['GET', ''],
    ['GET', '/tracks'],
    ['POST', '/verify'],
    ['POST', '/repaint'],
    ['POST', '/replay'],
  ]
  const said = async (headers: Readonly<Record<string, string>>) => {
    const messages: string[] = []
    for (const [method, path] of paths)
      messages.push(
        (await call(method, `/api/platform/backtests/${id}${path}`, { headers })).json.error.message,
      )
    return [...new Set(messages)]
  }
  expect(await said(cookie)).toEqual([
    'This backtest was deleted on 2026-01-01, with its trades and its replay. Run it again.',
  ])
  expect(await said(other)).toEqual(['There is no such backtest.'])
  await purgeGone(services)
  expect(await said(cookie)).not.toEqual(await said(other))
  clock.advance(91 * 86_400_000)
  await purgeGone(services)
  expect((await get('/api/health')).status).toBe(200)
  const left = await services.kv.list({ prefix: ['gone-backtests'] }, { limit: 9 })
  expect(left).toEqual([])
  pool.close()
})

test('a first search reads how sources begin; runs from before that was kept are found by their sources', async () => {
  const kv = testKv()
  const read: unknown[] = []
  const watched: Kv = {
    ...kv,
    get(key) {
      read.push(key[0])
      return kv.get(key)
    },
  }
  const { post, get, pool } = await open({ kv: watched })
  const { id } = (await post(RUN)).json
  await post({ ...RUN, name: 'from before' })
  const [before] = (await kv.list({ prefix: ['backtest-beginning'] }, { limit: 2 })).filter(
    ({ key }) => key[1] !== id,
  )
  await kv.commit({ deletes: [before?.key ?? []] })
  read.length = 0
  expect((await get('/api/search?q=sum')).json.results).toHaveLength(2)
  expect(read.filter((name) => name === 'backtest-script')).toHaveLength(1)
  pool.close()
})

test('a backtest that another process removed is neither listed nor found', async () => {
  const { post, get, services, pool } = await open()
  const { id, backtest } = (await post({ ...RUN, name: 'findable' })).json
  expect((await get('/api/search?q=findable')).json.results).toMatchObject([{ id }])
  const { user } = (await get('/api/auth/session')).json
  expect(await removeRuns(services, user.id, [id], [])).toMatchObject([{ name: backtest.name }])
  expect((await get('/api/search?q=findable')).json.results).toEqual([])
  expect((await get('/api/platform/backtests')).json.backtests).toEqual([])
  pool.close()
})

test('a preview answers the same and keeps nothing', async () => {
  const { call, cookie, get, pool, onFinished, services } = await open()
  const seen: string[] = []
  onFinished.push({ changes: async () => [], written: (run) => seen.push(run.id) })
  // That it was tried is counted: the best of many tries proves less, also of tries that were not kept.
  const keys = async () =>
    (await services.kv.list({ prefix: [] }, { limit: 1000 }))
      .map(({ key }) => JSON.stringify(key))
      .filter((key) => !key.startsWith('["trial'))
  const before = await keys()
  const answer = await call('POST', '/api/platform/backtests/preview', { body: RUN, headers: cookie })
  expect(answer.json).toMatchObject({ ok: true, result: { report: { sum: 220 }, tracks: [{ id: 'time' }] } })
  expect(answer.json.id).toBeUndefined()
  expect((await get('/api/platform/backtests')).json.backtests).toEqual([])
  expect(await keys()).toEqual(before)
  expect(seen).toEqual([])
  pool.close()
})

test('a series is removed with all its bars', async () => {
  const { call, cookie, get, pool } = await open()
  const path = '/api/platform/bars?exchange=x&symbol=abc&interval=D'
  const remove = () => call('DELETE', path, { headers: cookie })
  expect([(await remove()).json, (await remove()).json]).toEqual([
    { ok: true, deleted: true },
    { ok: true, deleted: false },
  ])
  expect((await get(path)).json.error.code).toBe('bars_not_found')
  pool.close()
})

describe('as many backtests as a user may keep', () => {
  async function openWith(maxRuns: number) {
    const server = testServer(() => ({}), { maxRuns })
    const cookie = await server.signUp()
    const ask = (method: string, path: string, body?: unknown) =>
      server.call(method, `/api/platform/backtests${path}`, { body, headers: cookie })
    await server.call('POST', '/api/platform/bars/import?symbol=abc&exchange=x&interval=1d', {
      body: CSV,
      headers: { ...cookie, 'content-type': 'text/csv' },
    })
    const run = async (name: string) => (await ask('POST', '', { ...RUN, name })).json.id as string
    const names = async () =>
      (await ask('GET', '')).json.backtests.map((one: { name: string }) => one.name) as string[]
    return { ...server, cookie, ask, run, names }
  }

  test('are the newest ones: the oldest that is not pinned makes room, with all that belongs to it', async () => {
    const { ask, run, names, call, cookie, services, pool } = await openWith(3)
    const pinned = await run('pinned')
    expect((await ask('PATCH', `/${pinned}`, { pinned: true })).json.backtest.pinned).toBe(true)
    const oldest = await run('oldest')
    await run('second')
    await run('third')
    expect(await names()).toEqual(['third', 'second', 'pinned'])
    expect((await call('GET', '/api/search?q=oldest', { headers: cookie })).json.results).toEqual([])
    const left = (await services.kv.list({ prefix: [] }, { limit: 1000 })).filter(
      ({ key }) => key[1] === oldest,
    )
    expect(left).toEqual([])
    const replay = await ask('POST', `/${oldest}/replay`)
    expect([replay.status, replay.json.error.code]).toEqual([404, 'backtest_not_found'])
    expect(replay.json.error.message).toContain('made room for newer ones on 2026-01-01')
    pool.close()
  })

  test('all pinned: the next is refused with what to do, and a preview runs', async () => {
    const { ask, run, names, pool } = await openWith(2)
    for (const name of ['one', 'two']) await ask('PATCH', `/${await run(name)}`, { pinned: true })
    const refused = await ask('POST', '', RUN)
    expect([refused.status, refused.json.error.code]).toEqual([422, 'quota_exceeded'])
    expect(refused.json.error.message).toContain('Unpin or delete some')
    expect((await ask('POST', '/preview', RUN)).status).toBe(200)
    expect(await names()).toEqual(['two', 'one'])
    pool.close()
  })

  test('a run that is not waited for makes room when it is queued', async () => {
    const { call, cookie, run, names, pool } = await openWith(1)
    await run('old')
    const queued = await call('POST', '/api/platform/backtests', {
      body: { ...RUN, name: 'new' },
      headers: { ...cookie, prefer: 'respond-async' },
    })
    expect(queued.status).toBe(202)
    expect(await names()).toEqual(['new'])
    pool.close()
  })

  test('0 is no limit', async () => {
    const { run, names, pool } = await openWith(0)
    for (let i = 0; i < 12; i++) await run(`run ${i}`)
    expect(await names()).toHaveLength(12)
    pool.close()
  })

  test('several are removed in one go, and nobody else’s', async () => {
    const { ask, run, names, signUp, call, pool } = await openWith(0)
    const [one, two] = [await run('one'), await run('two')]
    await run('three')
    const other = await signUp('other@example.com')
    const theirs = await call('DELETE', '/api/platform/backtests', { body: { ids: [one] }, headers: other })
    expect([theirs.status, theirs.json.deleted]).toEqual([200, 0])
    const removed = await ask('DELETE', '', { ids: [one, two, two, 'bt_00000000000000000000000000'] })
    expect(removed.json).toMatchObject({ ok: true, deleted: 2 })
    expect(await names()).toEqual(['three'])
    for (const ids of [[], ['nonsense'], Array.from({ length: 501 }, () => one)])
      expect((await ask('DELETE', '', { ids })).json.error.code).toBe('validation_failed')
    expect((await ask('DELETE', '')).status).toBe(422)
    pool.close()
  })

  test('a pin and a name that were given while it ran stay', async () => {
    const { ask, call, cookie, pool } = await openWith(0)
    const { json } = await call('POST', '/api/platform/backtests', {
      body: { ...RUN, source: 'loop' },
      headers: { ...cookie, prefer: 'respond-async' },
    })
    const changed = await ask('PATCH', `/${json.id}`, { pinned: true, name: 'новое имя' })
    expect(changed.json.backtest).toMatchObject({ pinned: true, name: 'новое имя' })
    await ask('GET', `/${json.id}/events`)
    expect((await ask('GET', `/${json.id}`)).json.backtest).toMatchObject({ pinned: true, name: 'новое имя' })
    pool.close()
  })

  test('pinning asks for the scope to write backtests', async () => {
    const { run, token, cookie, call, pool } = await openWith(0)
    const id = await run('one')
    const reader = await token(cookie, ['backtests:read'])
    for (const [method, path, body] of [
      ['PATCH', `/${id}`, { pinned: true }],
      ['DELETE', '', { ids: [id] }],
    ] as const)
      expect((await call(method, `/api/platform/backtests${path}`, { body, headers: reader })).status).toBe(
        403,
      )
    pool.close()
  })
})
