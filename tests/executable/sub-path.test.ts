// Under a path of somebody else's site: a proxy takes the path off, and everything the browser is told has it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { backtestOf, BUILT, OWNER, Place, type Server } from './server.ts'

/** What nginx does with `location /charts/ { proxy_pass http://chartroom/; }` behind TLS. */
function strippingProxy(target: () => string) {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (!pathname.startsWith('/charts/')) return new Response('somebody else', { status: 404 })
      const headers = new Headers(request.headers)
      headers.set('x-forwarded-for', '203.0.113.7')
      headers.set('x-forwarded-proto', 'https')
      headers.set('x-forwarded-host', 'example.org')
      headers.set('accept-encoding', 'identity')
      const { method, body } = request
      return fetch(target() + pathname.slice('/charts'.length) + search, {
        method,
        headers,
        body,
        redirect: 'manual',
      })
    },
  })
}

describe.each(BUILT)('%s', (mode) => {
  describe('below a path', () => {
    let place: Place
    let server: Server
    let proxy: ReturnType<typeof strippingProxy>
    const at = (path: string) => `http://127.0.0.1:${proxy.port}${path}`

    beforeAll(async () => {
      place = new Place(mode)
      server = await place.serve(
        '--public-url',
        'https://example.org/charts/',
        '--trusted-proxies',
        'loopback',
      )
      proxy = strippingProxy(() => server.base)
    })
    afterAll(async () => {
      await proxy.stop(true)
      expect(await server.stop()).toBe(0)
      place.remove()
    })

    test('the page, on whatever route, and all it loads', async () => {
      for (const route of ['/charts/', '/charts/alerts', '/charts/backtests/bt_1']) {
        const page = await (await fetch(at(route))).text()
        const files = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, file]) => file ?? '')
        expect(files.length).toBeGreaterThanOrEqual(3)
        for (const file of files) {
          expect(file).toStartWith('/charts/assets/')
          expect((await fetch(at(file))).status).toBe(200)
        }
      }
    })

    test('what a script of the page loads further is beside it', async () => {
      const page = await (await fetch(at('/charts/'))).text()
      const entry = at(/type="module"[^>]* src="([^"]+\.js)"/.exec(page)?.[1] ?? '')
      const code = await (await fetch(entry)).text()
      const further = [...code.matchAll(/import\("([^"]+)"\)/g)].map(([, file]) => file ?? '')
      expect(further.length).toBeGreaterThan(3)
      for (const file of further) {
        const chunk = await fetch(new URL(file, entry))
        expect([file, chunk.status, chunk.url]).toEqual([
          file,
          200,
          expect.stringContaining('/charts/assets/'),
        ])
        expect(chunk.headers.get('content-type')).toStartWith('text/javascript')
      }
    })

    test('the reference page', async () => {
      const moved = await fetch(at('/charts/api/docs'), { redirect: 'manual' })
      expect(moved.headers.get('location')).toBe('/charts/reference')
      expect((await fetch(at('/charts/reference'))).status).toBe(200)
      const document = (await (await fetch(at('/charts/api/openapi.json'))).json()) as { servers: unknown }
      expect(document.servers).toEqual([{ url: 'https://example.org/charts' }])
    })

    test('the setup link, and a session whose cookie is for this path only', async () => {
      const link = /https:\/\/example\.org\/charts\/sign-up\?invitation=(\S+)/.exec(server.said)
      const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
        fetch(at(path), {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers },
          body: JSON.stringify(body),
        })
      const signedUp = await post('/charts/api/auth/sign-up', { ...OWNER, invitation: link?.[1] })
      expect(signedUp.status).toBe(200)
      const cookie = signedUp.headers.get('set-cookie') ?? ''
      expect(cookie).toMatch(
        /^__Secure-session=\S+; Max-Age=2592000; Path=\/charts; HttpOnly; Secure; SameSite=Strict$/,
      )
      const headers = { cookie: cookie.split(';')[0] ?? '' }
      const run = await post(
        '/charts/api/platform/backtests',
        backtestOf('//@version=6\nstrategy("x")'),
        headers,
      )
      expect(run.status).toBe(200)
      const out = await post('/charts/api/auth/sign-out', {}, headers)
      expect(out.headers.get('set-cookie')).toMatch(/^__Secure-session=; Max-Age=0; Path=\/charts;/)
      expect((await fetch(at('/charts/api/auth/session'), { headers })).status).toBe(401)
    })
  })
})
