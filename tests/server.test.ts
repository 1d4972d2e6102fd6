// The server as people start it: from source, and as the executable alone in an empty folder.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'

const root = `${import.meta.dir}/..`
const executable = `${root}/dist/chartroom`

const modes = [
  ['source', (_folder: string) => [process.execPath, `${root}/src/main.ts`]],
  ['executable', (folder: string) => [`${folder}/chartroom`]],
] as const

interface Server {
  readonly process: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  readonly base: string
  /** What it printed before it was ready. */
  readonly said: string
}

async function start(command: readonly string[], folder: string, ...flags: string[]): Promise<Server> {
  const server = Bun.spawn([...command, 'serve', '--port', '0', ...flags], {
    cwd: folder,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, TMPDIR: tmpdir() },
  })
  let said = ''
  for await (const chunk of server.stderr) {
    said += new TextDecoder().decode(chunk)
    const port = /"message":"listening".*"port":(\d+)/.exec(said)?.[1]
    if (port)
      return { process: server, base: `http://127.0.0.1:${port}`, said: await firstChunk(server.stdout) }
  }
  throw new Error(`it did not start: ${said}`)
}

async function firstChunk(stream: ReadableStream<Uint8Array>): Promise<string> {
  const { value } = await stream.getReader().read()
  return new TextDecoder().decode(value)
}

describe.each(modes)('%s', (mode, commandIn) => {
  describe.skipIf(mode === 'executable' && !existsSync(executable))('running', () => {
    const folder = mkdtempSync(`${tmpdir()}/chartroom-server-`)
    const command = commandIn(folder)
    const cookie = { cookie: '' }
    let server: Server
    beforeAll(async () => {
      if (mode === 'executable') copyFileSync(executable, `${folder}/chartroom`)
      server = await start(command, folder)
    })
    afterAll(async () => {
      server.process.kill('SIGTERM')
      expect(await server.process.exited).toBe(0)
      rmSync(folder, { recursive: true })
    })

    async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const response = await fetch(server.base + path, {
        method,
        headers: { 'content-type': 'application/json', ...cookie, ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        text,
        json: text.startsWith('{') ? JSON.parse(text) : null,
      }
    }
    const backtest = (source: string) => ({
      name: 'n',
      symbol: 'SPX',
      exchange: 'SP',
      interval: '1d',
      bars: 5104,
      source,
      inputs: {},
    })

    test.skipIf(!Bun.which('curl'))('what it prints can be pasted, and shows a real report', async () => {
      const [, tour = ''] = server.said.split('shows the result.\n\n')
      const shell = Bun.spawn(['sh', '-c', tour], { cwd: folder, stdout: 'pipe', stderr: 'pipe' })
      const out = await new Response(shell.stdout).text()
      expect(out).toContain('"role":"owner"')
      const { result } = JSON.parse(readFileSync(`${folder}/report.json`, 'utf8'))
      expect(result.report.summary.trades).toBeGreaterThan(5)
      expect(result.report.range.bars).toBe(5104)
      expect(out).toContain(`"netProfit":${result.report.summary.netProfit}`)
      const jar = readFileSync(`${folder}/chartroom.cookie`, 'utf8')
      cookie.cookie = `session=${/session\t(\S+)/.exec(jar)?.[1]}`
      expect((await call('GET', '/api/auth/session')).json.user.email).toBe('owner@example.com')
    })

    test('a second owner is refused', async () => {
      const answer = await call(
        'POST',
        '/api/auth/sign-up',
        { email: 'b@example.com', password: 'correct horse' },
        { cookie: '' },
      )
      expect(answer.json.error.code).toBe('signup_closed')
    })

    test('a bad script is told where it is wrong', async () => {
      const answer = await call(
        'POST',
        '/api/platform/backtests',
        backtest('//@version=6\nstrategy("x")\nplot(nothing)\nplot(1 +)'),
      )
      expect([answer.status, answer.json.error.code]).toEqual([422, 'script_invalid'])
      expect(answer.json.error.diagnostics.length).toBeGreaterThan(0)
      expect(answer.json.error.diagnostics[0]).toMatchObject({
        line: expect.any(Number),
        message: expect.any(String),
      })
    })

    test('a script that never ends is stopped while others are served', async () => {
      const script = '//@version=6\nstrategy("x")\nn = 0\nwhile true\n    n += 1\nplot(n)'
      const stopped = call('POST', '/api/platform/backtests', backtest(script))
      let served = 0
      const serving = (async () => {
        while (served < 200) {
          expect((await call('GET', '/api/health')).status).toBe(200)
          served += 1
        }
      })()
      const answer = await stopped
      expect([answer.status, answer.json.error.code]).toEqual([422, 'script_limit_exceeded'])
      await serving
    }, 70_000)

    test('the page comes with the strictest policy and its files never expire', async () => {
      const page = await call('GET', '/any/route')
      expect(page.headers.get('content-type')).toStartWith('text/html')
      expect(page.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
      const file = /src="([^"]+\.js)"/.exec(page.text)?.[1] ?? ''
      const script = await call('GET', file)
      expect([script.status, script.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ])
      expect((await call('GET', '/assets/none.js')).status).toBe(404)
      const icon = await call('GET', file, undefined, { 'if-none-match': script.headers.get('etag') ?? '' })
      expect(icon.status).toBe(304)
    })

    test('the reference page has all it needs on board', async () => {
      for (const path of [
        '/api/docs',
        '/api/docs/start.js',
        '/api/docs/swagger-ui.css',
        '/api/docs/swagger-ui-bundle.js',
      ])
        expect((await call('GET', path)).status).toBe(200)
      expect((await call('GET', '/api/docs')).text).not.toContain('//unpkg')
      expect(Object.keys((await call('GET', '/api/openapi.json')).json.paths).length).toBeGreaterThan(15)
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

    test('a second server on the port says so', async () => {
      const port = new URL(server.base).port
      const second = Bun.spawn([...command, 'serve', '--port', port, '--data-dir', `${folder}/second`], {
        cwd: folder,
        stdout: 'ignore',
        stderr: 'pipe',
      })
      expect(await new Response(second.stderr).text()).toContain(`Port ${port} is in use`)
      expect(await second.exited).toBe(1)
    })

    test('every mistake in the configuration gets its sentence', async () => {
      const refused = Bun.spawn(
        [...command, 'serve', '--port', 'x', '--public-url', 'nowhere', '--sign-up', 'open'],
        {
          cwd: folder,
          stdout: 'ignore',
          stderr: 'pipe',
        },
      )
      expect(await new Response(refused.stderr).text()).toContain('sign-up')
      expect(await refused.exited).toBe(2)
      const mistaken = Bun.spawn([...command, 'serve', '--port', 'x', '--public-url', 'nowhere'], {
        cwd: folder,
        stdout: 'ignore',
        stderr: 'pipe',
      })
      const said = await new Response(mistaken.stderr).text()
      expect(said).toContain('--port: expected a whole number')
      expect(said).toContain('--public-url: expected an address')
      expect(await mistaken.exited).toBe(2)
    })

    test('what was stored is there after a restart, and so is the session', async () => {
      // Somebody follows events meanwhile: that stream ends, and does not hold up the stop.
      const stream = await fetch(`${server.base}/api/platform/stream`, { headers: cookie })
      expect(stream.status).toBe(200)
      server.process.kill('SIGTERM')
      expect(await server.process.exited).toBe(0)
      expect(await stream.text()).toContain('event: hello')
      server = await start(command, folder)
      expect(server.said).not.toContain('no owner')
      expect((await call('GET', '/api/platform/backtests')).json.backtests).toHaveLength(1)
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
      await Bun.sleep(200)
      expect(open()).toBeLessThanOrEqual(before + 5)
    })
  })
})
