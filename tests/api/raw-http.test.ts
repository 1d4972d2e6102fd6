// What is no HTTP, or none that a client library sends: our envelope, or the bare status that the documentation names.

import { connect } from 'node:net'
import { afterAll, expect, test } from 'bun:test'
import { testServer } from './server.ts'

const { app, call } = testServer()
app.listen({ port: 0, hostname: '127.0.0.1' })
afterAll(() => app.stop(true))
const { port } = app.server ?? {}

/** Everything the server says until it closes the connection. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve) => {
    let heard = ''
    const socket = connect({ port: port ?? 0, host: '127.0.0.1' }, () => socket.write(text))
    socket.on('data', (some) => (heard += String(some)))
    socket.on('error', () => {})
    socket.on('close', () => resolve(heard))
  })
}
const request = (line: string, ...more: string[]) =>
  [line, 'Host: localhost', 'Connection: close', ...more, '', ''].join('\r\n')

test.each([
  ['a method of other protocols', request('PROPFIND /api/health HTTP/1.1'), 405, 'method_not_allowed'],
  ['TRACE', request('TRACE /api/health HTTP/1.1'), 405, 'method_not_allowed'],
  ['OPTIONS', request('OPTIONS /api/health HTTP/1.1'), 405, 'method_not_allowed'],
  [
    'a method that the address does not take',
    request('DELETE /api/health HTTP/1.1'),
    405,
    'method_not_allowed',
  ],
  ['any method where there is nothing', request('PATCH /api/nothing HTTP/1.1'), 404, 'not_found'],
  [
    'a body longer than the address takes',
    `${request('POST /api/errors HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 40000')}${'a'.repeat(40_000)}`,
    413,
    'payload_too_large',
  ],
])('%s gets our envelope', async (_name, text, status, code) => {
  const answer = await exchange(text)
  expect(answer).toStartWith(`HTTP/1.1 ${status} `)
  expect(answer).toContain(`{"ok":false,"error":{"code":"${code}"`)
  if (status === 405) expect(answer.toLowerCase()).toContain('\r\nallow: get, head\r\n')
})

test.each([
  ['garbage', '\u0016\u0003\u0001\r\n\r\n', 400],
  ['no host', 'GET /api/health HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['two lengths', request('POST /api/errors HTTP/1.1', 'Content-Length: 2', 'Content-Length: 3'), 400],
  [
    'a length and chunks',
    request('POST /api/errors HTTP/1.1', 'Content-Length: 2', 'Transfer-Encoding: chunked'),
    400,
  ],
  [
    'a malformed chunk',
    `${request('POST /api/errors HTTP/1.1', 'Content-Type: application/json', 'Transfer-Encoding: chunked')}zz\r\n`,
    400,
  ],
  ['a header of 20 kB', request('GET /api/health HTTP/1.1', `X-Long: ${'a'.repeat(20_000)}`), 431],
  [
    '300 headers',
    request('GET /api/health HTTP/1.1', ...Array.from({ length: 300 }, (_, i) => `X-${i}: a`)),
    431,
  ],
  ['an address of 20 kB', request(`GET /api/${'a'.repeat(20_000)} HTTP/1.1`), 431],
  ['HTTP/2.0 in text', request('GET /api/health HTTP/2.0'), 505],
])('%s is answered by a bare status that the documentation names', async (_name, text, status) => {
  const answer = await exchange(text)
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} [^\\r]+\\r\\nConnection: close\\r\\n\\r\\n$`))
  const { json } = await call('GET', '/api/openapi.json')
  expect(json.info.description).toContain(`${status} (`)
})

test('on a method that HTTP does not know the connection is closed', async () => {
  expect(await exchange(request('BREW /api/health HTTP/1.1'))).toBe('')
})
