// What is no HTTP, or none that a client library sends: our envelope, or the bare status that the documentation names.

import { connect } from 'node:net'
import { afterAll, expect, test } from 'bun:test'
import { testServer } from './server.ts'

const { app, call } = testServer(undefined, { engine: 'real' })
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

/** Sends everything before it reads, as Python's urllib does; null = it could not send all of it. */
function sendFirst(head: string, body: Buffer): Promise<string | null> {
  return new Promise((resolve) => {
    let heard = ''
    let isSent = false
    const socket = connect({ port: port ?? 0, host: '127.0.0.1' }, () => {
      socket.write(head)
      socket.write(body, (error) => {
        isSent = !error
        socket.on('data', (some) => (heard += String(some)))
      })
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(isSent ? heard : null))
  })
}

let cookie: string | undefined

/** Over the port, since only who is seen to be on this machine may be the first. */
async function signUp(): Promise<string> {
  const body = JSON.stringify({ email: 'owner@example.com', password: 'correct horse' })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`http://127.0.0.1:${port}/api/auth/sign-up`, { method: 'POST', headers, body })
  return /^[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0] ?? ''
}

test.each([
  [
    'without a credential',
    '/bars/import?symbol=A&exchange=B&interval=1h',
    'text/csv',
    401,
    'unauthenticated',
  ],
  ['with a bad parameter', '/bars/import?symbol=A&exchange=B', 'text/csv', 422, 'validation_failed'],
  ['that is no table', '/bars/import?symbol=A&exchange=B&interval=1h', 'text/csv', 422, 'validation_failed'],
  ['of no type', '/bars/import?symbol=A&exchange=B&interval=1h', 'text/rtf', 415, 'unsupported_media_type'],
  ['where there is nothing', '/nothing', 'text/csv', 404, 'not_found'],
  ['larger than the address takes', '/alerts', 'application/json', 413, 'payload_too_large'],
])('who asks for an end and sends 20 MB %s can send all of it', async (name, path, type, status, code) => {
  cookie ??= await signUp()
  const body = Buffer.alloc(20 << 20, 'a')
  const credential = name === 'without a credential' ? [] : [`Cookie: ${cookie}`]
  const headers = [`Content-Type: ${type}`, ...credential]
  const line = `POST /api/platform${path} HTTP/1.1`
  const chunk = Buffer.concat([
    Buffer.from(`${body.length.toString(16)}\r\n`),
    body,
    Buffer.from('\r\n0\r\n\r\n'),
  ])
  for (const [framing, sent] of [
    [`Content-Length: ${body.length}`, body],
    ['Transfer-Encoding: chunked', chunk],
  ] as const) {
    const answer = await sendFirst(request(line, ...headers, framing), sent)
    expect(answer).toStartWith(`HTTP/1.1 ${status} `)
    expect(answer).toContain(`{"ok":false,"error":{"code":"${code}"`)
    if (status === 413) expect(answer).toMatch(/may have at most [\d,]+ bytes\. Shorten it\./)
  }
})

test('on a method that HTTP does not know the connection is closed', async () => {
  expect(await exchange(request('BREW /api/health HTTP/1.1'))).toBe('')
})
