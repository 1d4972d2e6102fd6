// Large answers are encoded as the client takes them, and say the same.

import { expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { encodingFor } from '../../src/http/encode.ts'
import { COLUMNS_TYPE } from '../../src/wire/columns.ts'
import { testServer } from './server.ts'

const chosen: readonly (readonly [accepted: string | null, string | null])[] = [
  [null, null],
  ['', null],
  ['identity', null],
  ['deflate', null],
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['GZIP;q=1.0', 'gzip'],
  ['gzip;q=1, zstd;q=0.5, br;q=0.8', 'gzip'],
  ['zstd;q=0, br;q=0.000, gzip;q=0.1', 'gzip'],
  ['gzip;q=0', null],
  ['gzip;q=wrong', null],
  ['*', 'zstd'],
  ['zstd;q=0, *;q=0.5', 'br'],
  ['identity;q=1, gzip;q=0.5', null],
]
test.each(chosen)('of %p the encoding is %p', (accepted, encoding) => {
  const headers = accepted === null ? {} : { 'accept-encoding': accepted }
  expect(encodingFor(new Request('http://localhost/', { headers }))).toBe(encoding as never)
})

const DECODED = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync } as const

async function world() {
  const server = testServer()
  const cookie = await server.signUp()
  const rows = Array.from(
    { length: 30_000 },
    (_, i) => `${1.6e12 + i * 60_000},${i + 1},${i + 2},${i},${i + 1},1`,
  )
  await server.call('POST', '/api/platform/bars/import?symbol=ABC&exchange=X&interval=1m', {
    body: ['time,open,high,low,close,volume', ...rows].join('\n'),
    headers: { ...cookie, 'content-type': 'text/csv' },
  })
  const get = async (path: string, headers: Readonly<Record<string, string>>) => {
    const response = await server.app.handle(
      new Request(`http://localhost${path}`, { headers: { ...cookie, ...headers } }),
    )
    return { response, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  return { ...server, get }
}

const BARS = '/api/platform/bars?symbol=ABC&exchange=X&interval=1m'

test('texts, streams and columns are encoded, and decoded they are what they were', async () => {
  const { get, pool } = await world()
  const places = [
    [`${BARS}&limit=1000`, {}],
    [BARS, {}],
    [BARS, { accept: COLUMNS_TYPE }],
    ['/api/openapi.json', {}],
  ] as const
  for (const [path, headers] of places) {
    const plain = await get(path, headers)
    expect(plain.response.headers.get('content-encoding')).toBeNull()
    expect(plain.response.headers.get('vary')).toContain('accept-encoding')
    for (const encoding of ['zstd', 'br', 'gzip'] as const) {
      const { response, bytes } = await get(path, { ...headers, 'accept-encoding': encoding })
      expect([path, response.status, response.headers.get('content-encoding')]).toEqual([path, 200, encoding])
      expect(response.headers.get('content-type')).toBe(plain.response.headers.get('content-type'))
      expect(response.headers.get('x-request-id')).toStartWith('req_')
      expect(bytes.length).toBeLessThan(plain.bytes.length / 1.5)
      expect(DECODED[encoding](bytes).equals(plain.bytes)).toBe(true)
    }
  }
  pool.close()
})

test('short answers and refusals are not encoded', async () => {
  const { get, pool } = await world()
  for (const path of [`${BARS}&limit=10`, '/api/health', '/api/platform/nothing', '/api/platform/alerts']) {
    const { response, bytes } = await get(path, { 'accept-encoding': 'zstd, br, gzip' })
    expect([path, response.headers.get('content-encoding')]).toEqual([path, null])
    expect(() => JSON.parse(bytes.toString())).not.toThrow()
  }
  pool.close()
})

test('an encoded answer has a weak ETag, and either one is 304', async () => {
  const { get, pool } = await world()
  const plain = (await get(BARS, {})).response.headers.get('etag') ?? ''
  const weak = (await get(BARS, { 'accept-encoding': 'gzip' })).response.headers.get('etag') ?? ''
  expect(weak).toBe(`W/${plain}`)
  for (const etag of [plain, weak]) {
    const { response, bytes } = await get(BARS, {
      'if-none-match': `"x", ${etag}`,
      'accept-encoding': 'gzip',
    })
    expect([response.status, response.headers.get('etag'), bytes.length]).toEqual([304, etag, 0])
    expect(response.headers.get('content-encoding')).toBeNull()
  }
  pool.close()
})

test('an encoded stream that nobody reads to the end is let go of', async () => {
  const { app, signUp, pool, call } = await world()
  const cookie = await signUp('second@example.com')
  const response = await app.handle(
    new Request(`http://localhost${BARS}`, { headers: { ...cookie, 'accept-encoding': 'zstd' } }),
  )
  const reader = response.body!.getReader()
  await reader.read()
  await reader.cancel()
  expect((await call('GET', '/api/health')).status).toBe(200)
  pool.close()
})
