// The Python client that the server writes, used by Python itself against a server that listens.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { columnPieces, COLUMNS_TYPE, pack } from '../../src/wire/columns.ts'
import { barCsv } from '../bar-csv.ts'
import { pythonCommand } from '../python/python.ts'
import { testServer, unlimited } from './server.ts'

const command = await pythonCommand()
const folder = mkdtempSync(`${tmpdir()}/chartroom-python-`)
afterAll(() => rmSync(folder, { recursive: true }))

const { app, call, signUp, token } = testServer(unlimited)
writeFileSync(`${folder}/chartroom.py`, (await call('GET', '/api/client.py')).text)
const owner = await signUp()
const { authorization } = await token(owner, ['ideas:write', 'ideas:read', 'bars:write', 'bars:read'])

/** What `script` prints as JSON, run beside the client with `room`, `failed(call)` and `told(value)`. */
async function python(script: string, handle: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: handle })
  const secret = authorization.slice('Bearer '.length)
  writeFileSync(
    `${folder}/use.py`,
    `import json
from chartroom import *
room = Chartroom("http://127.0.0.1:${server.port}/", token="${secret}")
told = []
def failed(call):
    try:
        call()
    except ChartroomError as error:
        return [error.status, error.code, [field["path"] for field in error.fields], error.retry_after]
${script}
room.close()
print(json.dumps(told))
`,
  )
  const process = Bun.spawn([...command, '-W', 'error', 'use.py'], { cwd: folder, stderr: 'pipe', env: ENV })
  const [printed, complaints] = await Promise.all([
    new Response(process.stdout).text(),
    new Response(process.stderr).text(),
  ])
  await server.stop(true)
  expect(complaints).toBe('')
  return JSON.parse(printed)
}
const ENV = { PATH: process.env.PATH ?? '', PYTHONDONTWRITEBYTECODE: '1' }

test('has a method for every operation, each with a name of its own', async () => {
  const { json: document } = await call('GET', '/api/openapi.json')
  const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods as object))
  const [names] = await python(
    `told.append([name for name in vars(Chartroom) if not name.startswith("_")])`,
    () => new Response(),
  )
  expect(names).toHaveLength(operations.length)
  expect(names).toEqual(
    expect.arrayContaining(['get_alerts', 'delete_alert', 'delete_inbox', 'patch_auth_user_by_id']),
  )
})

test('calls the API, lists page by page, and says what the server said no with', async () => {
  const [idea, titles, cleared, wrong, forbidden, unknown] = await python(
    `made = room.post_ideas(title="Идея 📈", body="b", visibility="private", tags=["a"])
told.append(room.get_idea(made["id"])["idea"]["title"])
for i in range(3):
    room.post_ideas(title=f"t{i}", body="b", visibility="private")
told.append([one["title"] for one in room.pages("GET /api/platform/ideas", query={"limit": 2})])
room.patch_idea(made["id"], symbol=None, tags=[])
told.append(room.get_idea(made["id"])["idea"]["tags"])
told.append(failed(lambda: room.post_ideas(title="", body="b", visibility="public")))
told.append(failed(room.get_alerts))
told.append(failed(lambda: room.get_idea("a/../b?c")))`,
    (request) => app.handle(request),
  )
  expect(idea).toBe('Идея 📈')
  // The newest first: what another test has made stands behind them.
  expect(titles.slice(0, 4)).toEqual(['t2', 't1', 't0', 'Идея 📈'])
  expect(cleared).toEqual([])
  expect(wrong.slice(0, 3)).toEqual([422, 'validation_failed', expect.arrayContaining(['/title'])])
  expect(forbidden.slice(0, 2)).toEqual([403, 'insufficient_scope'])
  expect(unknown.slice(0, 2)).toEqual([404, 'idea_not_found'])
})

test('takes bars as CSV and answers them as the columns that the JSON has', async () => {
  const rows = Array.from({ length: 60 }, (_, i) => `${Date.UTC(2024, 0, 1 + i)},1,30,0.5,${1 + i / 7},${i}`)
  const [bars, inOneTable] = await python(
    `csv = ${JSON.stringify(['time,open,high,low,close,volume', ...rows].join('\n'))}
room.post_bars_import(symbol="ABC", exchange="X", interval="1d", body=csv)
bars = room.get_bars(symbol="ABC", exchange="X", interval="1d")["bars"]
told.append(bars)
told.append(list(table(bars)))`,
    (request) => app.handle(request),
  )
  const asJson = await call('GET', '/api/platform/bars?symbol=ABC&exchange=X&interval=1d', { headers: owner })
  expect(bars).toEqual(asJson.json.bars)
  expect(inOneTable).toContain('close')
})

test('decodes every kind of column to what the JSON says, a list of objects as rows', async () => {
  const list = (of: (i: number) => unknown) => Array.from({ length: 20 }, (_, i) => of(i))
  const answer = {
    ok: true,
    times: list((i) => 1_700_000_000_000 + i * 300_000),
    prices: list((i) => (i % 7 === 3 ? null : 100 + i / 8)),
    cents: list((i) => 12.34 + Math.round(i) / 100),
    small: list((i) => i - 10),
    trades: list((i) => ({ side: i % 2 ? 'long' : 'short', profit: i / 3, exit: i > 17 ? null : i })),
  }
  const packed = pack(answer, [])
  const [decoded, row, newest, sides, rows] = await python(
    `answer = room.get_health()
trades = answer["trades"]
told += [{**answer, "trades": list(trades)}, trades[0], trades[-2:], columns(trades)["side"], len(trades)]`,
    () =>
      new Response(new Blob(columnPieces(packed.text, [packed])), {
        headers: { 'content-type': COLUMNS_TYPE },
      }),
  )
  expect(packed.columns.length + packed.tables.length).toBe(5)
  expect(decoded).toEqual(answer)
  expect(row).toEqual(answer.trades[0])
  expect(newest).toEqual(answer.trades.slice(-2))
  expect(sides.slice(0, 2)).toEqual(['short', 'long'])
  expect(rows).toBe(20)
})

test('a list of objects and an answer that is cut short', async () => {
  const [ragged, cut] = await python(
    `told.append(columns([{"a": 1}, {"b": 2}]))
try:
    decode_columns(b"CRC1" + (1000).to_bytes(4, "little"))
except ValueError as error:
    told.append(str(error))`,
    () => new Response(),
  )
  expect(ragged).toEqual({ a: [1, null], b: [null, 2] })
  expect(cut).toBe('the answer as columns is cut short')
})

test('tries again what the server could not do now, with one key for one call, and gives up in time', async () => {
  const keys: (string | null)[] = []
  let times = 0
  const [made, later, gone] = await python(
    `told.append(room.post_ideas(title="once", body="b", visibility="private")["ok"])
told.append(failed(lambda: room.get_health()))
told.append(failed(lambda: room.get_ready()))`,
    (request) => {
      times++
      const { pathname } = new URL(request.url)
      if (pathname === '/api/health')
        return Response.json({ error: { code: 'rate_limited', retryAfter: 3600 } }, { status: 429 })
      if (pathname === '/api/ready') return new Response('<h1>Bad Gateway</h1>', { status: 502 })
      keys.push(request.headers.get('idempotency-key'))
      if (keys.length < 3) return Response.json({}, { status: 503, headers: { 'retry-after': '0' } })
      return app.handle(request)
    },
  )
  expect(made).toBe(true)
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
  expect(later).toEqual([429, 'rate_limited', [], 3600])
  expect(gone.slice(0, 2)).toEqual([502, 'unknown'])
  expect(times).toBe(5)
})

test('reads the events of a stream', async () => {
  const [events] = await python(
    `told.append(list(room.get_stream()))`,
    () =>
      new Response(': hello\n\nid: a.1\nevent: bars\ndata: {"x":\ndata: 1}\n\nevent: ping\ndata: ü\r\n\r\n', {
        headers: { 'content-type': 'text/event-stream' },
      }),
  )
  expect(events).toEqual([
    { id: 'a.1', event: 'bars', data: { x: 1 } },
    { id: 'a.1', event: 'ping', data: 'ü' },
  ])
})

test('an address that is none, an argument that is missing and a server that is away are said in words', async () => {
  const [address, missing, away] = await python(
    `def words(call):
    try:
        call()
    except (ValueError, ChartroomError) as error:
        return str(error)
told.append(words(lambda: Chartroom("127.0.0.1:3000")))
told.append(words(lambda: room.get_idea("")))
told.append(words(lambda: Chartroom("http://127.0.0.1:1", retries=0).get_health()))`,
    () => new Response(),
  )
  expect(address).toContain("must be an address like http://127.0.0.1:3000, not '127.0.0.1:3000'")
  expect(missing).toContain("needs 'id' in path")
  expect(away).toContain('http://127.0.0.1:1 does not answer')
})

test('the notebook of the samples runs as it is', async () => {
  const cells = (await Bun.file(`${import.meta.dir}/../../data/samples/notebook.ipynb`).json()).cells as {
    cell_type: string
    source: string[]
  }[]
  const code = cells.filter((cell) => cell.cell_type === 'code').map(({ source }) => source.join(''))
  const real = testServer(unlimited, { engine: 'real' })
  const headers = await real.signUp()
  await real.call('POST', '/api/platform/bars/import?symbol=SPX&exchange=SP&interval=1d', {
    headers: { ...headers, 'content-type': 'text/csv' },
    body: barCsv(300, Date.UTC(2025, 0, 1), 86_400_000),
  })
  // `room` of the notebook is the one that stands there already, signed in by the cookie of the request.
  const cellsHere = code.join('\n').replace(/^room = .*$/m, '')
  const [lengths, rows] = await python(
    `${cellsHere}\ntold.append(sorted(profits)); told.append(len(bars["close"]))`,
    (request) => {
      const inner = new Request(request.url, request)
      inner.headers.delete('authorization')
      inner.headers.set('cookie', headers.cookie)
      return real.app.handle(inner)
    },
  )
  expect([lengths, rows]).toEqual([[10, 20, 50], 250])
}, 900_000)
