// How providers are spoken to: what is sent, and that a redirect is not followed with a key.

import { expect, test } from 'bun:test'
import { httpRequest } from '../../src/server/providers-net.ts'
import { rejection } from '../rejection.ts'

test('headers go with a request, JSON with a post, and no redirect is followed', async () => {
  const heard: (string | null)[][] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const { headers, method } = request
      heard.push([
        method,
        pathname,
        headers.get('authorization'),
        headers.get('content-type'),
        await request.text(),
      ])
      if (pathname === '/away') return Response.redirect('/elsewhere', 302)
      return new Response('ok')
    },
  })
  try {
    const at = `http://127.0.0.1:${server.port}`
    await httpRequest(`${at}/got`, undefined, undefined, { authorization: 'Token zebra' })
    await httpRequest(`${at}/posted`, undefined, '{"type":"meta"}')
    expect(
      await rejection(httpRequest(`${at}/away`, undefined, undefined, { authorization: 'Token zebra' })),
    ).toBeInstanceOf(Error)
    expect(heard).toEqual([
      ['GET', '/got', 'Token zebra', null, ''],
      ['POST', '/posted', null, 'application/json', '{"type":"meta"}'],
      ['GET', '/away', 'Token zebra', null, ''],
    ])
  } finally {
    await server.stop(true)
  }
})
