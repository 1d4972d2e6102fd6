// One attempt against receivers that misbehave in every way we could think of.

import { afterAll, describe, expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { askedDelay, parseRetryAfter, retryDelay, ATTEMPTS } from '../../../src/notify/webhooks/schedule.ts'
import { createSend } from '../../../src/notify/webhooks/send.ts'

const stops: (() => void)[] = []
afterAll(() => {
  for (const stop of stops) stop()
})

/** A TCP server that says whatever the test wants. */
async function raw(onSocket: (socket: Socket) => void): Promise<URL> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    onSocket(socket)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  stops.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return new URL(`http://hooks.example:${(server.address() as { port: number }).port}/in?x=1`)
}
/** More than a busy machine needs, unless the test is about the limits. */
const PATIENCE_MS = 200_000
const attempt = (url: URL, totalMs = PATIENCE_MS) =>
  createSend({ connectMs: totalMs, totalMs })({
    url,
    method: 'POST',
    address: '127.0.0.1',
    headers: { 'content-type': 'application/json', 'x-a': 'b' },
    body: new TextEncoder().encode('{"a":1}'),
    budgetMs: PATIENCE_MS,
  })
const reply = (text: string) => raw((socket) => socket.once('data', () => socket.end(text)))

describe('an attempt', () => {
  test('posts body and headers to the checked address under the name of the URL', async () => {
    let seen = ''
    const url = await raw((socket) => {
      socket.on('data', (chunk) => {
        seen += chunk.toString()
        if (seen.includes('{"a":1}')) socket.end('HTTP/1.1 204 No Content\r\nX-Left: 5\r\n\r\n')
      })
    })
    expect(await attempt(url)).toEqual({
      status: 204,
      retryAfter: null,
      headers: { 'x-left': '5' },
      excerpt: '',
      failure: null,
    })
    expect(seen).toStartWith('POST /in?x=1 HTTP/1.1\r\n')
    expect(seen.toLowerCase()).toContain(`host: ${url.host}\r\n`)
    expect(seen.toLowerCase()).toContain('x-a: b\r\n')
    expect(seen).toEndWith('{"a":1}')
  })
  test('does not follow a redirect', async () => {
    expect(
      await attempt(
        await reply('HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n'),
      ),
    ).toMatchObject({ status: 302 })
  })
  test('reads Retry-After', async () => {
    expect(
      await attempt(await reply('HTTP/1.1 429 No\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nslow')),
    ).toMatchObject({ status: 429, retryAfter: '7', excerpt: 'slow' })
  })
  test('reads no more than it needs of a huge answer', async () => {
    const url = await raw((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n')
        socket.write('x'.repeat(100_000))
      })
    })
    const answer = await attempt(url)
    expect([answer.status, answer.excerpt.length]).toEqual([200, 4096])
  })
  test('keeps the beginning of an answer that comes in pieces, 4,096 bytes of it', async () => {
    const pieces = async (count: number) =>
      (
        await attempt(
          await raw((socket) =>
            socket.once('data', () => {
              socket.write(`HTTP/1.1 500 No\r\nContent-Length: ${count * 1000}\r\n\r\n`)
              let left = count
              const next = () => {
                if (left-- > 0) socket.write(String(count - left - 1).repeat(1000), () => setImmediate(next))
              }
              next()
            }),
          ),
        )
      ).excerpt
    expect(await pieces(3)).toBe(['0', '1', '2'].map((digit) => digit.repeat(1000)).join(''))
    const nine = Array.from({ length: 9 }, (_, i) => String(i).repeat(1000)).join('')
    expect(await pieces(9)).toBe(nine.slice(0, 4096))
  })
  test('gives up on a receiver that never answers', async () => {
    expect(await attempt(await raw(() => undefined), 300)).toMatchObject({ status: 0, failure: 'timeout' })
  })
  test('gives up on one that drips its headers', async () => {
    const url = await raw((socket) => {
      const drip = setInterval(() => socket.write('H'), 50)
      socket.on('close', () => clearInterval(drip))
    })
    expect((await attempt(url, 300)).status).toBe(0)
  })
  test('takes the status of one that drips its answer, and does not listen to the end', async () => {
    const url = await raw((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n'))
      const drip = setInterval(() => socket.write('x'), 50)
      socket.on('close', () => clearInterval(drip))
    })
    expect(await attempt(url)).toMatchObject({ status: 200, failure: null })
    // Also one whose time is over before that of an answer: with more of it while it does not suffice for the status.
    let answer = await attempt(url, 100)
    for (let ms = 200; ms < 2000 && answer.status === 0; ms *= 2) answer = await attempt(url, ms)
    expect(answer).toMatchObject({ status: 200, failure: null })
  })
  test('reads as much of an answer as is asked for', async () => {
    const url = await reply(`HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\n${'x'.repeat(30_000)}`)
    const patient = createSend()
    const asked = { url, method: 'POST', address: '127.0.0.1', headers: {}, body: new Uint8Array() } as const
    const answer = await patient({ ...asked, budgetMs: 15_000, excerptBytes: 65_536 })
    expect(answer.excerpt).toHaveLength(30_000)
  })
  test('says that the connection was reset', async () => {
    expect(
      await attempt(await raw((socket) => socket.once('data', () => socket.resetAndDestroy()))),
    ).toMatchObject({ status: 0, failure: 'connection_reset' })
  })
  test('says that nobody listens', async () => {
    expect(await attempt(new URL('http://hooks.example:1/'))).toMatchObject({
      status: 0,
      failure: 'connection_refused',
    })
  })
  test('says that what answers is no web server', async () => {
    expect(await attempt(await reply('SSH-2.0-OpenSSH_9.6\r\n'))).toMatchObject({
      status: 0,
      failure: 'network',
    })
  })
  test('says that TLS failed', async () => {
    const url = await reply('this is not TLS')
    expect(await attempt(new URL(url.href.replace('http:', 'https:')))).toMatchObject({
      status: 0,
      failure: 'tls',
    })
  })
})

describe('the schedule', () => {
  test('has ten attempts over four days', () => {
    const delays = Array.from({ length: ATTEMPTS }, (_, i) => retryDelay(i + 1, 0.5, null))
    expect(delays).toEqual([5e3, 3e5, 18e5, 72e5, 18e6, 36e6, 504e5, 72e6, 864e5, null])
  })
  test('spreads by a fifth either way', () => {
    expect([retryDelay(1, 0, null), retryDelay(1, 0.999999, null)]).toEqual([4000, 6000])
  })
  test('waits as long as the receiver asks, up to a day', () => {
    expect([retryDelay(1, 0.5, 60_000), retryDelay(2, 0.5, 1000), retryDelay(1, 0.5, 1e12)]).toEqual([
      60_000, 300_000, 864e5,
    ])
  })
  test('a wait that was asked for is a second at least, a day at most, and up to a fifth more', () => {
    expect([askedDelay(0, 5000), askedDelay(0.5, 5000), askedDelay(0, 0), askedDelay(0, 1e12)]).toEqual([
      5000, 5500, 1000, 864e5,
    ])
  })
  test.each([
    ['120', 120_000],
    [' 120 ', 120_000],
    ['0', 0],
    ['Thu, 01 Jan 1970 00:01:00 GMT', 59_000],
    // What was to be waited for is over.
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['1234567890', null],
    ['soon', null],
    [null, null],
  ])('Retry-After %p is %p', (header, expected) => {
    expect(parseRetryAfter(header, 1000)).toBe(expected)
  })
})
