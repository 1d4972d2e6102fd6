// What a service answers may repeat the request. The log of a channel keeps the answer, and none of the channel's secrets.

import { expect, test } from 'bun:test'
import type { Channel } from '../../../src/notify/channels/channel.ts'
import { KINDS } from '../../../src/notify/channels/kinds.ts'
import { masker } from '../../../src/notify/webhooks/masked.ts'
import { NO_REPLY, type Attempt, type Reply } from '../../../src/notify/webhooks/send.ts'
import { world } from './channel-world.ts'

/** The whole request as a page of an error has it: as it came, as JSON, as HTML and as addresses. */
function echo({ url, headers, body }: Attempt): Reply {
  const said = [url.href, url.pathname, url.search, url.host, new TextDecoder().decode(body)]
  const plain = [...said, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join('\n')
  const html = plain.replaceAll('&', '&amp;').replaceAll('"', '&#34;').replaceAll('/', '&#x2F;')
  const php = JSON.stringify(plain).replaceAll('/', String.raw`\/`)
  const all = [plain, JSON.stringify({ plain, ...headers }), php, html, encodeURIComponent(plain)]
  return { ...NO_REPLY, status: 404, excerpt: all.join('\n') }
}

const TOKEN = 'syt_bWU_qNbhLkaXcVTr_2hGxEo'
const SERVER = 'https://service.example'

test.each([
  ['ntfy', { topic: 't', server: SERVER, token: TOKEN }, [TOKEN]],
  ['telegram', { token: `123:${TOKEN}`, chat: '5', server: SERVER }, [TOKEN]],
  ['discord', { url: `${SERVER}/api/webhooks/112233445566/${TOKEN}` }, [TOKEN, '112233445566']],
  ['slack', { url: `${SERVER}/services/T0AB1CD2E/B9ZY8XW7V/${TOKEN}` }, [TOKEN, 'T0AB1CD2E', 'B9ZY8XW7V']],
  ['gotify', { server: SERVER, token: TOKEN }, [TOKEN]],
  ['pushover', { token: 'a1'.repeat(15), user: 'u2'.repeat(15), server: SERVER }, ['a1a1a1', 'u2u2u2']],
  ['matrix', { server: SERVER, token: TOKEN, room: '!r:x' }, [TOKEN]],
  [
    'http',
    {
      url: `https://eo1q2w3e4r.example/reflect/S%C3%A9gm%2Fent?token=S3CR3TQ123&x=ab+cd/ef1==&t={{title}}&k=L1TERAL{{text}}`,
      headers: 'X-Key: HDRS3CRET\r\nAuthorization: Basic dXNlcjpw/YXNz\nCookie: sid=C00K1E; a="q&u/o"te\\d"',
    },
    ['eo1q2w3e4r', 'ségm', 'S%C3', 'S3CR3T', 'ab+cd', 'ef1', 'L1TERAL', 'HDRS3', 'dXNlc', 'C00K1E', 'q&'],
  ],
] as const)(
  'no secret of %s is kept of an answer that repeats the request',
  async (kind, settings, secrets) => {
    const all = await world({ send: async (attempt) => echo(attempt) })
    const channel: Channel = await all.channels.create('usr_1', { name: 'c', kind, settings })
    await all.fire([channel.id], { text: 'a text' })
    const [attempt] = (await all.log(channel.id))[0]?.attempts ?? []
    await all.stop()
    expect(attempt?.excerpt).toContain('…')
    expect(attempt?.excerpt).toContain('a text')
    for (const secret of secrets)
      for (const form of [secret, encodeURIComponent(secret)])
        expect([form, attempt?.excerpt.toLowerCase()]).not.toEqual([
          form,
          expect.stringContaining(form.toLowerCase()),
        ])
  },
)

test('half a secret is kept neither at the end of an answer nor of a note on a chart', async () => {
  const settings = { topic: 't', server: SERVER, token: TOKEN }
  const pictures = { of: async () => ({ png: new Uint8Array(8) }), path: async () => '/x.png' }
  const said = (filler: number): Reply => ({
    ...NO_REPLY,
    status: 400,
    excerpt: `${'x'.repeat(filler)} ${TOKEN} behind`,
  })
  const all = await world({
    pictures,
    send: async ({ method }) => said(method === 'PUT' ? 190 : 4087),
  })
  const { id } = await all.channels.create('usr_1', { name: 'c', kind: 'ntfy', settings })
  await all.fire([id], { chart: { owner: '', barTime: 0, levels: [] } })
  const [attempt] = (await all.log(id))[0]?.attempts ?? []
  await all.stop()
  expect(attempt?.note).toBe(`The chart was refused: 400: ${'x'.repeat(190)} … behind`)
  expect(attempt?.excerpt).toBe(`${'x'.repeat(4087)} … behi`)
})

test('words, and what a service says of itself, stay in an answer', () => {
  const settings = {
    url: 'https://hooks.example/a/hook?token=x1y2z3q',
    headers: 'Authorization: Bearer abcdefgh\nX: y',
  }
  const said = '{"error":"Authorization: no such Bearer token","hook":"hooks.example"}'
  expect(masker(KINDS.http, settings)(said)).toBe(said)
  expect(masker(KINDS.ntfy, { topic: 'mytopic', token: '' })('mytopic')).toBe('mytopic')
})
