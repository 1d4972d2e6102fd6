// Ten minutes of somebody with a token and a script: bars in, backtests, a replay, an alert, events, search, and out.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { csvOf, BUILT, OWNER, Place, type Server } from '../executable/server.ts'
import { Inbox } from './inbox.ts'
import { smtpSink, type Received } from './smtp-sink.ts'

interface Event {
  readonly headers: Headers
  readonly body: string
  // oxlint-disable-next-line typescript/no-explicit-any -- as loosely typed as what comes over a wire
  readonly json: any
}

const strategy = (length: number) => `//@version=6
strategy("Staircase ${length}", overlay = true)
average = ta.sma(close, ${length})
plot(average, "Average")
if ta.crossover(close, average)
    strategy.entry("Long", strategy.long)
if ta.crossunder(close, average)
    strategy.close("Long")
`
const START = Date.UTC(2024, 0, 1)
const HOUR = 3_600_000
const SERIES = 'exchange=ME&symbol=STAIRS&interval=1h'

/** A receiver of webhooks; `answer` decides what it says. */
function receiver(answer: (event: Event) => Promise<Response> | Response) {
  const inbox = new Inbox<Event>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text()
      const event = { headers: request.headers, body, json: JSON.parse(body) }
      inbox.put(event)
      return answer(event)
    },
  })
  return { inbox, url: `http://127.0.0.1:${server.port}/hook`, stop: () => server.stop(true) }
}

/** HMAC-SHA256 of a file by somebody else's code. */
async function hmacElsewhere(secret: string, body: string, folder: string): Promise<string> {
  const file = `${folder}/body`
  writeFileSync(file, body)
  const commands = [
    ['openssl', 'dgst', '-sha256', '-hmac', secret, '-hex', file],
    [
      'python3',
      '-c',
      'import hmac,sys;print(hmac.new(sys.argv[1].encode(),open(sys.argv[2],"rb").read(),"sha256").hexdigest())',
      secret,
      file,
    ],
  ].filter(([program]) => Bun.which(program ?? ''))
  const digests = commands.map(
    (command) => /[0-9a-f]{64}/.exec(Bun.spawnSync(command).stdout.toString())?.[0],
  )
  expect(new Set(digests).size).toBeLessThanOrEqual(1)
  return digests[0] ?? createHmac('sha256', secret).update(body).digest('hex')
}

describe.each(BUILT)('%s', (mode) => {
  describe('a user with a token', () => {
    const letters = new Inbox<Received>()
    let place: Place
    let server: Server
    let sink: Awaited<ReturnType<typeof smtpSink>>
    /** The owner's session, for what a token may not do. */
    let session: Readonly<Record<string, string>>

    const flags = () => [
      '--webhook-allow',
      'loopback',
      '--smtp-url',
      sink.url,
      '--mail-from',
      'charts@example.com',
    ]

    beforeAll(async () => {
      place = new Place(mode)
      sink = await smtpSink((letter) => letters.put(letter))
      server = await place.serve(...flags())
      await server.signUp()
      session = server.headers
      const scopes = ['backtests', 'alerts', 'replay', 'webhooks', 'bars', 'ideas', 'scripts', 'watchlists']
      const { json } = await server.call('POST', '/api/platform/tokens', {
        name: 'the journey',
        scopes: [...scopes.flatMap((scope) => [`${scope}:read`, `${scope}:write`]), 'search:read'],
      })
      server.headers = { authorization: `Bearer ${json.secret}` }
      const imported = await server.importCsv(SERIES, csvOf(1000, START))
      expect(imported.json).toMatchObject({ ok: true, rows: 1000, inserted: 1000, updated: 0 })
    })
    afterAll(async () => {
      expect(await server.stop()).toBe(0)
      sink.close()
      place.remove()
    })

    const runBacktest = async (length: number) => {
      const { status, json } = await server.call('POST', '/api/platform/backtests', {
        name: `Stairs ${length}`,
        symbol: 'STAIRS',
        exchange: 'ME',
        interval: '1h',
        bars: 1000,
        source: strategy(length),
        inputs: {},
      })
      expect([status, json.ok]).toEqual([200, true])
      return json
    }
    const priceAlert = (name: string, price: number, channels: readonly string[]) =>
      server.call('POST', '/api/platform/alerts', {
        name,
        symbol: 'STAIRS',
        exchange: 'ME',
        interval: '1h',
        kind: 'price',
        op: 'above',
        price,
        channels,
        message: 'Stairs at {{close}}',
      })
    /** One more bar behind the last; answers its time. */
    let hour = 1000
    const importBar = async (close: number) => {
      const time = START + hour++ * HOUR
      const row = `time,open,high,low,close,volume\n${time},${close},${close},${close},${close},1\n`
      expect((await server.importCsv(SERIES, row)).status).toBe(200)
      return time
    }

    test('does in one sitting what the product is for', async () => {
      const hook = receiver(() => new Response('ok'))
      const registered = await server.call('POST', '/api/platform/webhooks', {
        name: 'here',
        url: hook.url,
        events: ['backtest.reportReady', 'alert.triggered'],
      })
      expect([registered.status, registered.json.secret]).toEqual([200, expect.stringMatching(/^whsec_/)])
      const { id: hookId, secret } = registered.json

      const runs = [await runBacktest(3), await runBacktest(5), await runBacktest(8)]
      for (const { result } of runs) {
        expect(result.report.summary.trades).toBeGreaterThan(20)
        expect(result.tracks.map((track: { title: string }) => track.title)).toContain('Average')
      }
      const listed = (await server.call('GET', '/api/platform/backtests')).json.backtests
      const ids = listed.map((one: { id: string }) => one.id)
      expect(ids).toEqual(expect.arrayContaining(runs.map((run) => run.id)))

      // The event says what the report says, and is signed as documented.
      const [{ id, result }] = runs
      const ready = await hook.inbox.first(({ json }) => json.data.backtestId === id)
      const { trades, netProfit, winRate } = result.report.summary
      expect(ready.json).toMatchObject({
        event: 'backtest.reportReady',
        data: {
          backtestId: id,
          name: 'Stairs 3',
          symbol: 'STAIRS',
          interval: '1h',
          trades,
          netProfit,
          winRate,
        },
      })
      expect(new Date(ready.json.delivered_at).toISOString()).toBe(ready.json.delivered_at)
      expect(ready.headers.get('x-service-signature')).toBe(
        `sha256=${await hmacElsewhere(secret, ready.body, place.folder)}`,
      )

      const replay = await server.call('POST', `/api/platform/backtests/${id}/replay?exchange=ME`)
      expect(replay.json.replay).toMatchObject({ source: 'backtest', backtestId: id, symbol: 'STAIRS' })
      expect(replay.json.replay.bars.time).toHaveLength(1000)
      expect(replay.json.replay.trades).toHaveLength(result.report.trades.length)

      const query = 'symbol=STAIRS&interval=1h'
      const cursor = { cursorBar: 120, speed: 4, start: '2024-01-01T00:00:00Z', end: '2024-01-31T00:00:00Z' }
      const place120 = { symbol: 'STAIRS', interval: '1h', ...cursor }
      expect((await server.call('POST', '/api/platform/replay/resume', place120)).status).toBe(200)
      for (const bar of [40, 7, 40])
        expect((await server.call('POST', `/api/platform/replay/bookmarks?bar=${bar}&${query}`)).status).toBe(
          200,
        )
      const resumed = await server.call('GET', `/api/platform/replay/resume?${query}`)
      expect(resumed.json.cursor).toMatchObject({ cursorBar: 120, speed: 4 })
      const { bookmarks } = (await server.call('GET', `/api/platform/replay/bookmarks?${query}`)).json
      expect(bookmarks.map(({ bar }: { bar: number }) => bar)).toEqual([7, 40])

      const alert = await priceAlert('Top of the stairs', 200, ['webhook'])
      expect(alert.json.alert.state).toBe('active')
      const barTime = new Date(await importBar(201)).toISOString()
      const fired = await hook.inbox.first(({ json }) => json.event === 'alert.triggered')
      expect(fired.json.data).toMatchObject({
        alertId: alert.json.id,
        symbol: 'STAIRS',
        close: 201,
        message: 'Stairs at 201',
        barTime,
      })
      expect(fired.headers.get('x-service-signature')).toBe(
        `sha256=${await hmacElsewhere(secret, fired.body, place.folder)}`,
      )

      await server.call('POST', '/api/platform/ideas', {
        title: 'Stairs go up',
        body: 'A staircase strategy on **STAIRS**.',
        tags: ['stairs'],
        visibility: 'public',
      })
      await server.call('POST', '/api/platform/scripts', {
        name: 'Stairs script',
        source: strategy(3),
        visibility: 'private',
      })
      await server.call('POST', '/api/platform/watchlists/import', {
        name: 'Stairs watched',
        items: [{ symbol: 'STAIRS', exchange: 'ME', note: null }],
      })
      const found = (await server.call('GET', '/api/search?q=stairs')).json.results
      const types = new Set<string>(found.map(({ type }: { type: string }) => type))
      expect([...types].toSorted()).toEqual(['backtest', 'idea', 'script', 'watchlist'])
      const anonymous = await fetch(`${server.base}/api/search?q=stairs`)
      const { results } = (await anonymous.json()) as { results: readonly { type: string }[] }
      expect(results.map(({ type }) => type)).toEqual(['idea'])

      expect((await server.call('DELETE', `/api/platform/webhooks/${hookId}`)).status).toBe(200)
      await hook.stop()
    })

    test('is told of an alert by mail', async () => {
      const alert = await priceAlert('Mail me', 300, ['email'])
      const codes = (alert.json.warnings ?? []).map(({ code }: { code: string }) => code)
      expect(codes).not.toContain('channel_not_configured')
      await importBar(305)
      const letter = await letters.first(({ data }) => data.includes('Mail me'))
      expect([letter.from, letter.to]).toEqual(['charts@example.com', [OWNER.email]])
      expect(letter.data).toContain('Subject: Alert: Mail me')
      expect(letter.data).toContain('Stairs at 305')
      // It is written down that it went out.
      const states = async (): Promise<string[]> =>
        (await server.call('GET', '/api/platform/alerts/outbox')).json.letters.map(
          ({ state }: { state: string }) => state,
        )
      while ((await states()).includes('waiting')) await Bun.sleep(20)
      expect(await states()).toEqual(['sent'])
      expect(letters.all).toHaveLength(1)
      await importBar(100)
    })

    test('gets an event once more, with the same id, when the server dies before it is acknowledged', async () => {
      const asked = new Inbox<Event>()
      let alive = false
      // The first attempt is never answered: the server is killed while it waits.
      const hook = receiver((event) => {
        asked.put(event)
        return alive ? new Response('ok') : new Promise<Response>(() => undefined)
      })
      const { json } = await server.call('POST', '/api/platform/webhooks', {
        name: 'slow',
        url: hook.url,
        events: ['backtest.reportReady'],
      })
      const run = await runBacktest(13)
      const first = await asked.first(() => true)
      await server.kill()
      alive = true
      const { headers } = server
      server = await place.serve(...flags())
      server.headers = headers
      const second = await asked.first((event) => event !== first)
      expect(second.headers.get('webhook-id')).toBe(first.headers.get('webhook-id'))
      expect([second.json.data.backtestId, second.json.data]).toEqual([run.id, first.json.data])
      for (;;) {
        const log = await server.call('GET', `/api/platform/webhooks/${json.id}/deliveries`)
        expect(log.json.deliveries).toHaveLength(1)
        if (log.json.deliveries[0].state === 'delivered') break
        expect(log.json.deliveries[0].state).toBe('pending')
        await Bun.sleep(20)
      }
      expect(asked.all).toHaveLength(2)
      // What was stored before the kill is stored.
      expect((await server.call('GET', `/api/platform/backtests/${run.id}`)).json.backtest.state).toBe('done')
      await server.call('DELETE', `/api/platform/webhooks/${json.id}`)
      await hook.stop()
    })

    test('is out when the token is revoked', async () => {
      const token = server.headers
      server.headers = session
      const { secret, id } = (await server.call('POST', '/api/platform/tokens', { scopes: ['bars:read'] }))
        .json
      server.headers = { authorization: `Bearer ${secret}` }
      const answers = async () => {
        const { status, json } = await server.call('GET', '/api/platform/symbols')
        return [status, json.error?.code]
      }
      expect(await answers()).toEqual([200, undefined])
      // A token cannot revoke tokens, not even itself.
      const refused = await server.call('DELETE', `/api/platform/tokens?id=${id}`)
      expect([refused.status, refused.json.error.code]).toEqual([403, 'session_required'])
      server.headers = session
      expect((await server.call('DELETE', `/api/platform/tokens?id=${id}`)).status).toBe(200)
      server.headers = { authorization: `Bearer ${secret}` }
      expect(await answers()).toEqual([401, 'token_revoked'])
      server.headers = token
    })
  })
})
