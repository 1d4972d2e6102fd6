// The server as people start it: from source, and as the executable alone in an empty folder.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { backtestOf, BUILT, isMissing, MODES, type Mode, OWNER, Place, type Server } from './server.ts'

/** What starts servers and commands of its own is asked of one mode: the source takes seconds for each. */
const ofOne = (mode: Mode) => (mode === BUILT[0] ? test : () => {})

describe.each(MODES)('%s', (mode) => {
  describe.skipIf(isMissing(mode))('running', () => {
    let place: Place
    let server: Server
    beforeAll(async () => {
      place = new Place(mode)
      server = await place.serve()
      await server.signUp()
    })
    afterAll(async () => {
      expect(await server.stop()).toBe(0)
      place.remove()
    })

    test('a new server says its address first, then the link to its first account, and no more', () => {
      expect(server.said.split('\n').map((line) => line.replace(/invitation=.*/, 'invitation='))).toEqual([
        `Chartroom is at ${server.base}`,
        'Open this link to make the first account, which will own this server:',
        `  ${server.base}/sign-up?invitation=`,
        '',
      ])
    })

    ofOne(mode)('the commands of the article on the API do what it says', async () => {
      if (!Bun.which('curl')) return console.log('running: without curl the tour of the help is not pasted')
      const empty = new Place(mode)
      const fresh = await empty.serve()
      await tour(fresh, empty.folder)
      expect(await fresh.stop()).toBe(0)
      empty.remove()
    })

    /** The commands of the article on the API, pasted. */
    async function tour(fresh: Server, folder: string): Promise<void> {
      const { json } = await fresh.call('GET', '/api/support/articles/api')
      const [, commands = ''] = /```sh\nat=.*\n([^]*?)```/.exec(json.article.body) ?? []
      const rows = Array.from({ length: 50 }, (_, hour) => `${1.7e9 + hour * 3600},9,11,8,10,5`)
      writeFileSync(`${folder}/bars.csv`, ['time,open,high,low,close,volume', ...rows].join('\n'))
      const shell = Bun.spawn(['sh', '-c', `at=${fresh.base}\n${commands}`], { cwd: folder, stdout: 'pipe' })
      const answers = await new Response(shell.stdout).text()
      const [owner, bars, alert] = answers.split(/(?<=\})\s*(?=\{"ok")/).map((text) => JSON.parse(text))
      const { result } = JSON.parse(readFileSync(`${folder}/report.json`, 'utf8'))
      expect([owner.user.role, result.report.range.bars, bars.series.count, alert.alert.price]).toEqual([
        'owner',
        5000,
        50,
        100,
      ])
      expect(result.report.summary.trades).toBeGreaterThan(5)
    }

    test.skipIf(process.platform !== 'linux')('no function of a script is optimized beyond a size', () => {
      const environment = readFileSync(`/proc/${server.process.pid}/environ`, 'utf8')
      expect(environment).toContain('BUN_JSC_maximumOptimizationCandidateBytecodeCost=')
    })

    test('a second owner is refused', async () => {
      const stranger = { email: 'b@example.com', password: 'correct horse' }
      const answer = await server.call('POST', '/api/auth/sign-up', stranger, { cookie: '' })
      expect(answer.json.error.code).toBe('signup_closed')
    })

    test('a password that everybody uses is refused', async () => {
      const change = { password: OWNER.password, newPassword: 'Password123' }
      const { status, json } = await server.call('POST', '/api/auth/password', change)
      expect([status, json.error.message]).toEqual([422, expect.stringContaining('10,000 most used')])
    })

    test('the page comes with the strictest policy and its files never expire', async () => {
      const page = await server.call('GET', '/any/route')
      expect(page.headers.get('content-type')).toStartWith('text/html')
      expect(page.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
      const file = new URL(
        /type="module"[^>]* src="([^"]+\.js)"/.exec(page.text)?.[1] ?? '',
        `${server.base}/`,
      ).pathname
      const script = await server.call('GET', file)
      expect([script.status, script.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ])
      expect((await server.call('GET', '/assets/none.js')).status).toBe(404)
      const again = { 'if-none-match': script.headers.get('etag') ?? '' }
      expect((await server.call('GET', file, undefined, again)).status).toBe(304)
    })

    test('a file is the same text however its client takes it', async () => {
      const { text } = await server.call('GET', '/any/route')
      const file = new URL(/type="module"[^>]* src="([^"]+\.js)"/.exec(text)?.[1] ?? '', `${server.base}/`)
        .pathname
      const as = (encoding: string) =>
        fetch(server.base + file, { headers: { 'accept-encoding': encoding } }).then((answer) =>
          answer.text(),
        )
      const [plain, ...others] = await Promise.all(['identity', 'br', 'gzip', 'gzip, br'].map(as))
      expect(plain?.length).toBeGreaterThan(20_000)
      expect(others.map((one) => one === plain)).toEqual([true, true, true])
    })

    test('the reference page has all it needs on board', async () => {
      const page = await fetch(`${server.base}/api/docs`)
      expect([page.status, new URL(page.url).pathname]).toEqual([200, '/reference'])
      expect(await page.text()).toContain('<div id="app">')
      expect((await server.call('GET', '/api/docs/licenses.txt')).text).toContain(
        'Permission is hereby granted',
      )
      const { paths } = (await server.call('GET', '/api/openapi.json')).json
      expect(Object.keys(paths).length).toBeGreaterThan(15)
    })

    test('requests that no client would send get the same kind of answer', async () => {
      const { hostname, port, host } = new URL(server.base)
      const send = (text: string) =>
        new Promise<string>((resolve) => {
          let answer = ''
          const socket = connect(Number(port), hostname, () => socket.write(text))
          socket.on('data', (data) => {
            answer += data
            if (/\r\n\r\n./.test(answer)) socket.destroy()
          })
          socket.on('close', () => resolve(answer))
        })
      const scenarios: readonly (readonly [string, number, string])[] = [
        [`GET /api/health HTTP/1.1\r\nHost: \r\n\r\n`, 421, 'misdirected_request'],
        [`GET /api/health HTTP/1.1\r\nHost: a b\r\n\r\n`, 421, 'misdirected_request'],
        [`GET /api/health HTTP/1.1\r\nHost: localhost@evil.example\r\n\r\n`, 421, 'misdirected_request'],
        [`GET /api/health HTTP/1.0\r\n\r\n`, 421, 'misdirected_request'],
        [`GET /api/%zz HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 404, 'not_found'],
        [`GET //api/health HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 404, 'not_found'],
        [`GET /api/docs/..%2fpackage.json HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 404, 'not_found'],
        [`TRACE /api/health HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 405, 'method_not_allowed'],
        [
          `POST /api/auth/sign-in HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n11170\r\n${'x'.repeat(70_000)}\r\n0\r\n\r\n`,
          413,
          'payload_too_large',
        ],
      ]
      for (const [text, status, code] of scenarios) {
        const answer = await send(text)
        expect([answer.slice(9, 12), /"code":"(\w+)"/.exec(answer)?.[1]]).toEqual([String(status), code])
      }
    })

    ofOne(mode)('a second server on the port says so', async () => {
      const { port } = new URL(server.base)
      const elsewhere = new Place(mode)
      const second = await elsewhere.run('serve', '--port', port)
      elsewhere.remove()
      expect(second.err).toContain(`Port ${port} is in use`)
      expect(second.code).toBe(1)
    })

    ofOne(mode)('every mistake in the configuration gets its sentence', async () => {
      const unknown = await place.run('serve', '--sign-up', 'open')
      expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('sign-up')])
      const mistaken = await place.run('serve', '--port', 'x', '--public-url', 'nowhere')
      expect(mistaken.err).toContain('--port: expected a whole number')
      expect(mistaken.err).toContain('--public-url: expected an address')
      expect(mistaken.code).toBe(2)
    })

    ofOne(mode)('what was stored is there after a restart, and so is the session', async () => {
      const source =
        '//@version=6\nstrategy("kept", default_qty_type = strategy.fixed, default_qty_value = 1)\nif bar_index == 5\n    strategy.entry("L", strategy.long)'
      const { id } = (await server.call('POST', '/api/platform/backtests', backtestOf(source))).json
      // Somebody follows events meanwhile: that stream ends, and does not hold up the stop.
      const stream = await fetch(`${server.base}/api/platform/stream`, { headers: server.headers })
      expect(stream.status).toBe(200)
      expect(await server.stop()).toBe(0)
      expect(await stream.text()).toContain('event: hello')
      const { headers } = server
      server = await place.serve()
      server.headers = headers
      expect(server.said).not.toContain('no owner')
      expect((await server.call('GET', `/api/platform/backtests/${id}`)).json.backtest.state).toBe('done')
    })

    test('tracks as columns are the same bytes however often they are asked for, and can be asked for by HEAD', async () => {
      const asked = backtestOf('//@version=6\nindicator("x")\nplot(close)\nplot(close)')
      const { id } = (await server.call('POST', '/api/platform/backtests', asked)).json
      const get = (method: string) =>
        fetch(`${server.base}/api/platform/backtests/${id}/tracks`, {
          method,
          headers: { ...server.headers, accept: 'application/vnd.chartroom.columns' },
        })
      const [head, first, again] = [await get('HEAD'), await get('GET'), await get('GET')]
      const bytes = await first.bytes()
      expect([head.status, (await head.bytes()).length, bytes.length > 50_000]).toEqual([200, 0, true])
      expect(Bun.deepEquals(await again.bytes(), bytes)).toBe(true)
      // A length that nobody knows yet is left out, and never 0.
      expect([null, String(bytes.length)]).toContain(head.headers.get('content-length'))
    })

    test('load leaves no files open', async () => {
      const open = () => readdirSync(`/proc/${server.process.pid}/fd`).length
      const load = async (rounds: number) => {
        for (let i = 0; i < rounds; i++)
          await Promise.all(
            Array.from({ length: 20 }, () =>
              fetch(`${server.base}/any`, { keepalive: false }).then((r) => r.text()),
            ),
          )
      }
      await load(5)
      const before = open()
      await load(20)
      // Closing a connection takes the kernel a moment; a leak stays.
      for (let waited = 0; open() > before + 5 && waited < 600; waited++) await Bun.sleep(50)
      expect(open()).toBeLessThanOrEqual(before + 5)
    })
  })
})
