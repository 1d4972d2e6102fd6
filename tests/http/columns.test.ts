// Answers as columns say what the JSON says, with the real engine, by both decoders.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { COLUMNS_TYPE, decodeColumns } from '../../src/wire/columns.ts'
import { testServer } from './server.ts'

const folder = mkdtempSync(`${tmpdir()}/chartroom-columns-`)
afterAll(() => rmSync(folder, { recursive: true }))

const SOURCE = `//@version=6
strategy("columns", overlay = true)
a = ta.sma(close, 3)
if ta.crossover(close, a)
    strategy.entry("long", strategy.long, comment = "多头 🚀")
if ta.crossunder(close, a)
    strategy.close("long")
strategy.exit("out", "long", limit = close * 1.2, stop = close * 0.8)
plot(a, "$column", color = close > open ? color.red : na)
plotcandle(open, high, low, close)
bgcolor(close > 103 ? color.blue : na)
plotshape(close > a, text = "x")
label.new(bar_index, close, "é")
log.info("words")`
const RUN = { name: 'n', symbol: 'ABC', exchange: 'X', interval: '1d', bars: 200, inputs: {}, source: SOURCE }

async function world() {
  const server = testServer(undefined, { engine: 'real' })
  const cookie = await server.signUp()
  const rows = Array.from({ length: 200 }, (_, i) => {
    const close = 100 + ((i * 7) % 13) + i / 100
    return [Date.UTC(2024, 0, 1 + i), close - 0.5, close + 1.25, close - 1.75, close, 1000 + i / 3].join(',')
  })
  await server.call('POST', '/api/platform/bars/import?symbol=ABC&exchange=X&interval=1d', {
    body: ['time,open,high,low,close,volume', ...rows].join('\n'),
    headers: { ...cookie, 'content-type': 'text/csv' },
  })
  async function columns(method: string, path: string, body?: object, headers = {}) {
    const response = await server.app.handle(
      new Request(`http://localhost/api/platform${path}`, {
        method,
        headers: { accept: COLUMNS_TYPE, 'content-type': 'application/json', ...cookie, ...headers },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
    return { response, bytes: await response.arrayBuffer() }
  }
  const json = async (method: string, path: string, body?: object) =>
    (await server.call(method, `/api/platform${path}`, { headers: cookie, ...(body && { body }) })).json
  return { ...server, cookie, columns, json }
}

/** How long it took differs. */
function untimed(answer: unknown): unknown {
  const { result } = answer as { result: { report: { timings: unknown } } }
  return { ...(answer as object), result: { ...result, report: { ...result.report, timings: null } } }
}

test('a preview, stored tracks and bars as columns are the JSON, for the dashboard and the typed client', async () => {
  const { columns, json, call, pool } = await world()
  writeFileSync(`${folder}/client.ts`, (await call('GET', '/api/client.ts')).text)
  const client = (await import(`${folder}/client.ts`)) as { decodeColumns: typeof decodeColumns }
  const { id } = await json('POST', '/backtests', RUN)
  const places = [
    ['POST', '/backtests/preview', RUN],
    ['POST', '/backtests/preview?tracks=none', RUN],
    ['POST', '/backtests/preview?tracks=time,equity,markers', { ...RUN, bars: 300 }],
    ['GET', `/backtests/${id}/tracks`],
    ['GET', '/bars?symbol=ABC&exchange=X&interval=1d'],
    ['GET', '/bars?symbol=ABC&exchange=X&interval=1d&limit=2'],
  ] as const
  for (const [method, path, body] of places) {
    const asked = await json(method, path, body)
    const { response, bytes } = await columns(method, path, body)
    expect([path, response.status, response.headers.get('content-type')]).toEqual([path, 200, COLUMNS_TYPE])
    expect(response.headers.get('vary')).toContain('accept')
    for (const decode of [decodeColumns, client.decodeColumns]) {
      const decoded = decode(bytes)
      if (body) expect(untimed(decoded)).toStrictEqual(untimed(asked))
      else expect(decoded).toStrictEqual(asked)
    }
  }
  pool.close()
})

test('only the tracks that are asked for are answered, and a kind there is none of is refused', async () => {
  const { json, pool } = await world()
  const kinds = async (query: string) =>
    (await json('POST', `/backtests/preview${query}`, RUN)).result.tracks.map(
      (track: { kind: string }) => track.kind,
    )
  expect(await kinds('?tracks=none')).toEqual([])
  expect(await kinds('?tracks=equity,time')).toEqual(['time', 'equity'])
  expect(await kinds('')).toContain('candle')
  const refused = await json('POST', '/backtests/preview?tracks=equity,nothing', RUN)
  expect(refused.error).toMatchObject({
    code: 'validation_failed',
    fields: [{ in: 'query', path: '/tracks' }],
  })
  expect(refused.error.message + refused.error.fields[0].message).toContain('buyhold')
  pool.close()
})

test('of stored tracks the kinds that are asked for are answered, as they are among all', async () => {
  const { json, columns, pool } = await world()
  const { id } = await json('POST', '/backtests', RUN)
  const path = `/backtests/${id}/tracks`
  const all: readonly { kind: string }[] = (await json('GET', path)).tracks
  const some = all.filter(({ kind }) => kind === 'time' || kind === 'equity')
  const asked = `${path}?tracks=equity,time`
  expect([some.length, some.length < all.length]).toEqual([2, true])
  expect((await json('GET', asked)).tracks).toEqual(some)
  expect(decodeColumns((await columns('GET', asked)).bytes)).toEqual({ ok: true, id, tracks: some })
  expect((await json('GET', `${path}?tracks=none`)).tracks).toEqual([])
  expect((await json('GET', `${path}?tracks=nothing`)).error.fields[0].path).toBe('/tracks')
  const tags = [path, asked, `${path}?tracks=none`].map(async (one) => {
    const { response } = await columns('GET', one)
    return response.headers.get('etag')
  })
  expect(new Set(await Promise.all(tags)).size).toBe(3)
  pool.close()
})

test('columns have an ETag of their own, and are 304 while nothing has changed', async () => {
  const { columns, call, cookie, pool } = await world()
  const path = '/bars?symbol=ABC&exchange=X&interval=1d'
  const { response } = await columns('GET', path)
  const etag = response.headers.get('etag') ?? ''
  expect(etag).not.toBe('')
  expect((await columns('GET', path, undefined, { 'if-none-match': etag })).response.status).toBe(304)
  const asJson = await call('GET', `/api/platform${path}`, { headers: { ...cookie, 'if-none-match': etag } })
  expect([asJson.status, asJson.headers.get('content-type')]).toEqual([200, 'application/json;charset=utf-8'])
  pool.close()
})

test('refusals are JSON, and who takes anything is answered JSON', async () => {
  const { columns, pool } = await world()
  const type = async (...args: Parameters<typeof columns>) =>
    (await columns(...args)).response.headers.get('content-type')?.split(';')[0]
  expect(await type('GET', '/bars?symbol=NONE&exchange=X&interval=1d')).toBe('application/json')
  expect(await type('POST', '/backtests/preview', { ...RUN, source: 'strategy(' })).toBe('application/json')
  const bars = '/bars?symbol=ABC&exchange=X&interval=1d'
  for (const accept of ['*/*', 'application/*', 'application/json', `${COLUMNS_TYPE};q=0, */*`])
    expect(await type('GET', bars, undefined, { accept })).toBe('application/json')
  expect(
    await type('GET', bars, undefined, { accept: `text/html, ${COLUMNS_TYPE.toUpperCase()};q=0.5` }),
  ).toBe(COLUMNS_TYPE)
  pool.close()
})

test('a backtest that is kept is answered as columns too, and stored as it always is', async () => {
  const { columns, json, pool } = await world()
  const key = { 'idempotency-key': 'kept' }
  const { response, bytes } = await columns('POST', '/backtests', RUN, key)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, COLUMNS_TYPE])
  const made = decodeColumns(bytes) as { id: string; result: { tracks: unknown } }
  const { backtest, result, trials } = await json('GET', `/backtests/${made.id}`)
  const { tracks } = await json('GET', `/backtests/${made.id}/tracks`)
  const { source: _source, inputs: _inputs, overrides: _overrides, ...listed } = backtest
  expect(trials.counted).toBe(1)
  expect(made).toEqual({
    ok: true,
    id: made.id,
    backtest: listed,
    result: { ...result, tracks },
    trials,
  } as never)
  // Asked for again by its key, it is the same one.
  const again = await columns('POST', '/backtests', RUN, key)
  const kept = JSON.parse(new TextDecoder().decode(again.bytes)) as typeof made
  expect([again.response.headers.get('idempotent-replayed'), kept]).toEqual(['true', made])
  pool.close()
})

test('a key that is sent twice runs a preview twice, as columns too', async () => {
  const { columns, pool } = await world()
  const key = { 'idempotency-key': 'one' }
  for (let time = 0; time < 2; time++) {
    const { response } = await columns('POST', '/backtests/preview', RUN, key)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, COLUMNS_TYPE])
  }
  pool.close()
})
