// Everything that a user owns goes out as one file and into another server, and a file of an enemy goes nowhere.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { KINDS } from '../../src/http/belongings.ts'
import { barCsv } from '../bar-csv.ts'
import { testServer, unlimited } from './server.ts'

const EXPORT = '/api/platform/export'
const IMPORT = '/api/platform/import'
const MARKET = { exchange: 'E', symbol: 'S', interval: '1h' }
const SOURCE =
  '//@version=6\nstrategy("mine", initial_capital = 5000)\nn = input.int(3, "N")\nif bar_index % n == 0\n    strategy.entry("L", strategy.long)\nelse\n    strategy.close("L")'

type Site = ReturnType<typeof testServer>

async function signedIn(server: Site, email = 'trader@example.com') {
  const headers = await server.signUp(email)
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await server.call(method, `/api/platform${path}`, {
      headers,
      ...(body !== undefined && { body }),
    })
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.json
  }
  const file = async (query = '') => {
    const response = await server.app.handle(new Request(`http://localhost${EXPORT}${query}`, { headers }))
    return new Uint8Array(await response.arrayBuffer())
  }
  const bring = (bytes: Uint8Array | string) =>
    server.call('POST', IMPORT, {
      headers: { ...headers, 'content-type': 'application/gzip' },
      body: bytes,
    })
  return { ...server, server, raw: server.call, headers, call, file, bring }
}

const packed = (lines: readonly unknown[]) =>
  new Uint8Array(gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join('')))

/** A user who has one of everything. */
async function owner() {
  const site = await signedIn(testServer(unlimited, { engine: 'real' }))
  const { call, headers, services } = site
  await testBars(site)
  const script = await call('POST', '/scripts', { name: 'Mine', source: SOURCE })
  await call('PATCH', `/scripts/${script.id}`, { source: `${SOURCE}\n// second` })
  const webhook = await call('POST', '/webhooks', {
    name: 'hook',
    url: 'https://receiver.example/',
    events: ['alert.triggered'],
  })
  const channel = await call('POST', '/channels', {
    picture: 'light',
    name: 'phone',
    kind: 'ntfy',
    settings: { server: 'https://ntfy.example', topic: 'mine', token: 'tk_very_secret' },
  })
  const watchlist = await call('POST', '/watchlists/import', {
    name: 'mine',
    items: [{ symbol: 'S', exchange: 'E', note: 'looks good' }],
  })
  const backtest = await call('POST', '/backtests', {
    name: 'run',
    ...MARKET,
    bars: 60,
    inputs: {},
    source: SOURCE,
  })
  const script3 = { ...MARKET, source: SOURCE, inputs: {}, overrides: {} }
  const made = [
    await call('POST', '/sweeps', {
      name: 'sweep',
      ...script3,
      bars: 60,
      space: [{ input: 'N', values: [2, 3] }],
      trials: 2,
      sampler: 'grid',
      windows: { kind: 'none' },
    }),
    await call('POST', '/portfolios', { name: 'two', parts: [{ name: 'a', ...script3, bars: 60 }] }),
    await call('POST', '/scans', {
      name: 'scan',
      interval: '1h',
      bars: 50,
      source: '//@version=6\nindicator("i")\nplot(close, "C")',
      watchlistId: watchlist.id,
    }),
  ]
  for (const [i, path] of ['sweeps', 'portfolios', 'scans'].entries())
    await site.app
      .handle(new Request(`http://localhost/api/platform/${path}/${made[i].id}/events`, { headers }))
      .then((response) => response.text())
  await call('POST', '/forward-runs', { name: 'forward', ...MARKET, source: SOURCE, warmup: 20 })
  await testBars(site, 70)
  await services.features.forwardRuns.advanceAll()
  await call('POST', '/ideas', {
    title: 'An idea',
    body: 'text',
    visibility: 'public',
    backtestId: backtest.id,
  })
  await call('POST', '/inboxes', { name: 'from TradingView', channelIds: [channel.id] })
  await call('POST', '/alerts', {
    name: 'above',
    ...MARKET,
    kind: 'price',
    op: 'crossing',
    price: 1e6,
    channels: [],
    channelIds: [channel.id],
    webhookIds: [webhook.id],
  })
  const study = { id: 'st1', name: 'SMA', shortName: 'SMA', source: 'plot(close)', from: '', inputs: {} }
  const chart = { type: 'candles', scale: 'linear', volume: true, trades: true }
  await call('POST', '/layouts', {
    name: 'template',
    chart: {
      ...MARKET,
      ...chart,
      scriptId: script.id,
      studies: [{ ...study, hidden: false, intervals: null, plots: {} }],
    },
  })
  await call('PATCH', '/drawings', { exchange: 'E', symbol: 'S', put: [LINE] })
  await call('POST', '/replay/resume', {
    symbol: 'S',
    interval: '1h',
    cursorBar: 3,
    speed: 1,
    start: '2026-01-01T00:00:00Z',
    end: '2026-02-01T00:00:00Z',
  })
  await call('POST', '/replay/bookmarks?symbol=S&interval=1h&bar=7', { note: 'here' })
  return { ...site, backtestId: backtest.id as string }
}

async function testBars(site: Awaited<ReturnType<typeof signedIn>>, count = 60): Promise<void> {
  const query = new URLSearchParams(MARKET).toString()
  const csv = barCsv(80).trimEnd().split('\n')
  const url = `http://localhost/api/platform/bars/import?${query}`
  const body = `${csv.slice(0, count + 1).join('\n')}\n`
  const sent = { method: 'POST', headers: { ...site.headers, 'content-type': 'text/csv' }, body }
  const response = await site.app.handle(new Request(url, sent))
  if (response.status !== 200) throw new Error(await response.text())
}

const LINE = {
  id: 'd1',
  tool: 'horizontal-line',
  points: [{ time: 1_700_000_000_000, price: 10 }],
  style: {},
}

const ONE_OF_EACH = {
  script: 1,
  webhook: 1,
  watchlist: 1,
  channel: 1,
  backtest: 1,
  sweep: 1,
  portfolio: 1,
  scan: 1,
  'forward-run': 1,
  idea: 1,
  layout: 1,
  inbox: 1,
  alert: 1,
  drawings: 1,
  cursor: 1,
  bookmark: 1,
  trials: 1,
}

describe('everything that a user owns', () => {
  test('has the bars that one imported, if asked for, and changes none that are there', async () => {
    const site = await signedIn(testServer(unlimited))
    await testBars(site, 60)
    const bars = (of: typeof site) => of.call('GET', `/bars?${new URLSearchParams(MARKET).toString()}`)
    const file = await site.file('?bars=yes')
    expect(gunzipSync(await site.file()).toString()).not.toContain('"kind":"bars"')
    const other = await signedIn(testServer(unlimited), 'new@example.com')
    expect((await other.bring(file)).json.imported.bars).toBe(1)
    expect((await bars(other)).bars).toEqual((await bars(site)).bars)

    // A second time, and over a series that is longer by now.
    await testBars(other, 70)
    const again = await other.bring(file)
    expect([again.json.imported.bars, again.json.present.bars]).toEqual([undefined, 1])
    expect((await bars(other)).bars.time.length).toBe(70)
    // A member has them alone.
    const member = await signedIn(other.server, 'member@example.com')
    expect((await member.bring(file)).json.imported.bars).toBe(1)
    expect((await bars(member)).bars.time.length).toBe(60)
    expect((await bars(other)).bars.time.length).toBe(70)
  })

  test('has the chart that bars were imported from, and one that is none is refused', async () => {
    const site = await signedIn(testServer(unlimited))
    const of = 'exchange=E&symbol=CHART&interval=1d'
    const text = 'time,open,high,low,close,Средняя\n1704067200,1,1,1,1,5\n'
    const sent = { method: 'POST', headers: { ...site.headers, 'content-type': 'text/csv' }, body: text }
    await site.app.handle(new Request(`http://localhost/api/platform/bars/import?${of}&fileName=a.csv`, sent))
    const other = await signedIn(testServer(unlimited), 'new@example.com')
    const file = await site.file('?bars=yes')
    const kept = async () => (await other.call('GET', `/bars/chart?${of}&text=true`)).chart
    const lines = gunzipSync(file).toString().trimEnd().split('\n')
    const wrong = lines.map((line) => JSON.parse(line.replace(',Средняя', '')))
    expect((await other.bring(packed(wrong))).json).toMatchObject({
      imported: { bars: 1 },
      refused: [{ kind: 'chart', name: 'CHART', message: expect.stringContaining('a chart with plots') }],
    })
    expect(await kept()).toBe(null)
    await other.call('DELETE', `/bars?${of}`)
    expect((await other.bring(file)).json.imported).toMatchObject({ bars: 1, chart: 1 })
    expect(await kept()).toMatchObject({ fileName: 'a.csv', plots: ['Средняя'], text })
    expect((await other.bring(file)).json.present).toMatchObject({ bars: 1, chart: 1 })
  })

  test('as an earlier version exported it, has an alert that goes on as of its own time', async () => {
    const site = await signedIn(testServer(unlimited, { engine: 'real' }))
    await testBars(site)
    const { id: scriptId } = await site.call('POST', '/scripts', { name: 'Mine', source: SOURCE })
    await site.call('POST', '/alerts', { ...MARKET, kind: 'strategy', scriptId, channels: ['email'] })
    const text = gunzipSync(await site.file()).toString()
    expect(text).toContain('"asOf":"2026-09-24"')
    const other = await signedIn(testServer(unlimited, { engine: 'real' }), 'new@example.com')
    const old = gzipSync(text.replaceAll(/"asOf":"[^"]*",?/g, '').replaceAll(',}', '}'))
    expect((await other.bring(new Uint8Array(old))).json.refused).toEqual([])
    const [alert] = (await other.call('GET', '/alerts')).alerts
    expect(alert.asOf).toBe('2026-09-23')
  })

  test('has what of the bars was bought', async () => {
    const site = await signedIn(testServer(unlimited))
    const series = 'exchange=E&symbol=TRADES&interval=1s'
    const csv =
      'time,price,amount,side\n1709632800,10,5,buy\n1709632800,11,1,sell\n1709632801,11,2,sell\n1709632802,11,2,\n'
    const sent = { method: 'POST', headers: { ...site.headers, 'content-type': 'text/csv' }, body: csv }
    await site.app.handle(new Request(`http://localhost/api/platform/bars/import?${series}`, sent))
    const other = await signedIn(testServer(unlimited), 'new@example.com')
    expect((await other.bring(await site.file('?bars=yes'))).json.imported.bars).toBe(1)
    for (const of of [site, other]) {
      const response = await of.app.handle(
        new Request(`http://localhost/api/platform/bars/export?${series}`, { headers: of.headers }),
      )
      expect(await response.text()).toBe(
        'time,open,high,low,close,volume,bought\n1709632800000,10,11,10,11,6,5\n1709632801000,11,11,11,11,2,0\n1709632802000,11,11,11,11,2,\n',
      )
    }
  }, 300_000)

  test('comes to another server with what is beside it, and a second time changes nothing', async () => {
    const site = await owner()
    const file = await site.file()
    const text = gunzipSync(file).toString()
    expect(text).not.toContain('very_secret')
    expect(text).not.toContain('whsec_')
    expect(text).not.toContain('sealed')
    const other = await signedIn(testServer(unlimited), 'new@example.com')
    other.clock.advance(60_000)
    const taken = await other.bring(file)
    expect(taken.json).toEqual({ ok: true, imported: ONE_OF_EACH, present: {}, refused: [] })

    const [layout] = (await other.call('GET', '/layouts')).layouts
    const [script] = (await other.call('GET', '/scripts')).scripts
    expect(layout.chart.scriptId).toBe(script.id)
    expect(script).toMatchObject({ name: 'Mine', visibility: 'private', revision: 2 })
    const { revisions } = await other.call('GET', `/scripts/${script.id}/revisions`)
    expect(revisions.length).toBe(2)
    const { backtests } = await other.call('GET', '/backtests')
    expect(backtests[0].id).not.toBe(site.backtestId)
    const report = async (one: typeof other, id: string) =>
      (await one.call('GET', `/backtests/${id}`)).result.report
    expect(await report(other, backtests[0].id)).toEqual(await report(site as never, site.backtestId))
    const [idea] = (await other.call('GET', '/ideas?feed=mine')).ideas
    expect(idea).toMatchObject({ visibility: 'private', backtestId: backtests[0].id })
    const [channel] = (await other.call('GET', '/channels')).channels
    expect(channel).toMatchObject({
      name: 'phone',
      picture: 'light',
      status: 'disabled',
      disabledReason: 'secret_lost',
    })
    expect((await other.call('GET', '/webhooks')).webhooks[0]).toMatchObject({ status: 'disabled' })
    const [alert] = (await other.call('GET', '/alerts')).alerts
    expect(alert).toMatchObject({ name: 'above', state: 'active', channelIds: [channel.id] })
    const [forward] = (await other.call('GET', '/forward-runs')).forwardRuns
    // It ran until it was taken here, whatever the times of its bars are.
    expect(forward).toMatchObject({ state: 'stopped', stoppedAt: other.clock.now(), name: 'forward' })
    expect(forward.stoppedAt).toBeGreaterThan(forward.createdAt)
    expect(forward.bars).toBe(10)
    const [sweep] = (await other.call('GET', '/sweeps')).sweeps
    expect((await other.call('GET', `/sweeps/${sweep.id}/results`)).trials.length).toBe(2)
    const [portfolio] = (await other.call('GET', '/portfolios')).portfolios
    expect((await other.call('GET', `/portfolios/${portfolio.id}`)).result).not.toBeNull()
    const [scan] = (await other.call('GET', '/scans')).scans
    const [watchlist] = (await other.call('GET', '/watchlists')).watchlists
    expect(scan.watchlistId).toBe(watchlist.id)

    const triedIn = async (one: Pick<typeof other, 'raw' | 'headers' | 'services'>) => {
      const { user } = (await one.raw('GET', '/api/auth/session', { headers: one.headers })).json
      const { ledger } = one.services.features
      const [tried] = await Array.fromAsync(ledger.all(user.id))
      return { tried, counted: await ledger.counted({ ...tried!, userId: user.id }) }
    }
    const { tried, counted } = await triedIn(site)
    expect([tried!.trials.length, counted.count]).toEqual([2, 2])
    expect(await triedIn(other)).toEqual({ tried, counted })

    const again = await other.bring(file)
    expect(again.json).toEqual({ ok: true, imported: {}, present: ONE_OF_EACH, refused: [] })
    // Nor does it in the account that it came from.
    expect((await site.bring(file)).json).toMatchObject({ imported: {}, present: ONE_OF_EACH })
    // What came can go on, to a third.
    const third = await signedIn(testServer(unlimited), 'third@example.com')
    expect((await third.bring(await other.file())).json).toMatchObject({ imported: ONE_OF_EACH })
  }, 900_000)

  test('has a kind for each collection and each text of a user, or a reason why it has none', () => {
    const found = new Set<string>()
    for (const file of new Bun.Glob('**/*.ts').scanSync(`${ROOT}/src`)) {
      const text = readFileSync(`${ROOT}/src/${file}`, 'utf8')
      for (const [, name = ''] of text.matchAll(/\bcollection(?:In)?<[^>]+>\(\s*(?:kv, )?'([\w-]+)'/g))
        found.add(name)
      if (/^(?:store|api|pine|dashboard|tools|cli)\//.test(file)) continue
      for (const [, name = ''] of text.matchAll(/\bKey => \[\s*'([\w-]+)',\s*(?:id|userId)\b/g))
        found.add(name)
    }
    const exported = KINDS.flatMap((kind) => ('records' in kind ? kind.parts : [kind.collection]))
    const known = new Set([...exported, ...OTHERWISE, ...Object.keys(NOT_EXPORTED)])
    expect([...found].filter((name) => !known.has(name))).toEqual([])
    expect(found.size).toBeGreaterThan(30)
  })
})

const ROOT = `${import.meta.dir}/../..`
/** Exported by other ways than the table of kinds. */
const OTHERWISE = [
  'backtests',
  'sweeps',
  'portfolios',
  'scans',
  'forward-runs',
  'revisions',
  'channels',
  'drawings',
  'cursors',
  'bookmarks',
  'trial',
  'hold-out',
]
const NOT_EXPORTED: Readonly<Record<string, string>> = {
  users: 'who somebody is belongs to the server',
  sessions: 'a credential',
  tokens: 'a credential',
  invitations: 'a credential',
  identities: 'a credential',
  passkeys: 'a credential',
  notifications: 'a log of what was sent',
  deliveries: 'a log of what was sent',
  letters: 'a log of what was sent',
  'bridge-orders': 'a log of what was sent',
  bridges: 'two servers would send each order twice',
  firings: 'a log of what happened',
  'inbox-messages': 'a log of what came',
  errors: 'of the server',
  tickets: 'of the server',
  'sweep-offers': 'between servers',
  'gone-backtests': 'notes of what was removed',
  gone: 'notes of what was removed',
  spentTickets: 'a credential',
  snapshot: 'what is published of an idea, which comes in private',
  'snapshot-picture': 'what is published of an idea, which comes in private',
  replays: 'made of a backtest again',
  'wanted-libraries': 'of the server',
  'trial-count': 'made of the trials again',
  'trial-spread': 'made of the trials again',
  'trial-now': 'what scripts were called before',
}

const HEAD = { format: 'chartroom-export', version: 1, at: 0, server: '0' }
const WATCHLIST = { kind: 'watchlist', id: 'wl_a', item: { name: 'one', items: [] } }

describe('a file that is not what it says', () => {
  const refused = async (bytes: Uint8Array | string) => {
    const site = await signedIn(testServer(unlimited))
    const { status, json } = await site.bring(bytes)
    const { watchlists } = await site.call('GET', '/watchlists')
    return [status, json.error?.message, watchlists.length]
  }

  test.each([
    ['nothing', '', 'it is empty'],
    ['another program’s', '{"a":1}\n', 'it does not say that it is an export of Chartroom'],
    ['no JSON', 'PK\u0003\u0004 zip', 'a line is not JSON'],
    ['a newer version', packed([{ ...HEAD, version: 2 }]), 'it is of version 2, and this Chartroom reads 1'],
    [
      'no gzip behind its mark',
      new Uint8Array([0x1f, 0x8b, 1, 2, 3]),
      'it is not compressed as gzip, or breaks off',
    ],
    ['a bomb of one line', new Uint8Array(gzipSync(new Uint8Array(64 << 20))), 'a line is longer than any'],
    ['a list', packed([HEAD, [1]]), 'a line is no object of JSON'],
    [
      'an item without an id',
      packed([HEAD, { kind: 'alert', item: {} }]),
      'a line is neither an item nor a part',
    ],
    [
      'a part elsewhere',
      packed([HEAD, { part: 'x', key: ['users', 'x'], value: '1' }]),
      'a part of an item is not',
    ],
    [
      'a part of another',
      packed([HEAD, { part: 'x', key: ['sweep-batch', 'y', 0], value: '1' }]),
      'a part of an item',
    ],
    [
      'a part up the path',
      packed([HEAD, { part: 'x', key: ['sweep-batch', 'x', '../..'], value: '1' }]),
      'a part of an',
    ],
    [
      'a part without JSON',
      packed([HEAD, { part: 'x', key: ['sweep-verdict', 'x'], value: '{' }]),
      'a line is not JSON',
    ],
    ['more behind its end', packed([HEAD, { end: 0 }, WATCHLIST]), 'something follows its end'],
  ])('%s: is refused with a sentence', async (_, bytes, message) => {
    expect(await refused(bytes)).toEqual([422, expect.stringContaining(message), 0])
  })

  test('broke off: what came before is kept, and said', async () => {
    const [status, message, lists] = await refused(packed([HEAD, WATCHLIST]))
    expect([status, lists]).toEqual([422, 1])
    expect(message).toContain('it breaks off. What came before was taken')
    const cut = packed([HEAD, WATCHLIST, { end: 1 }]).slice(0, -20)
    expect((await refused(cut))[1]).toContain('breaks off')
  })

  test('names what it wants taken and must not be: each is refused by itself, the others come', async () => {
    const site = await signedIn(testServer(unlimited))
    const other = await signedIn(site.server, 'other@example.com')
    const theirs = await other.call('POST', '/watchlists/import', { name: 'theirs', items: [] })
    const alert = { name: 'a', ...MARKET, kind: 'price', op: 'crossing', price: 1, channels: [] }
    const { json } = await site.bring(
      packed([
        HEAD,
        { kind: 'planet', id: 'x', item: { name: 'Mars' } },
        { kind: 'watchlist', id: 'wl_b', item: { name: 'x'.repeat(300), items: [] } },
        { kind: 'alert', id: 'al_x', item: { ...alert, channelIds: ['ch_of_somebody_else'] } },
        { kind: 'backtest', id: 'bt_x', item: { name: 'run', state: 'running', userId: 'usr_other' } },
        { kind: 'backtest', id: 'bt_y', item: { name: 'run', state: 'done' } },
        { kind: 'channel', id: 'ch_x', item: { name: 'c', kind: 'pigeon', settings: {} } },
        { kind: 'watchlist', id: theirs.id, item: { name: 'with the id of another’s', items: [] } },
        { end: 7 },
      ]),
    )
    expect(json.imported).toEqual({ watchlist: 1 })
    expect(json.refused.map(({ kind }: { kind: string }) => kind)).toEqual([
      'planet',
      'watchlist',
      'alert',
      'backtest',
      'backtest',
      'channel',
    ])
    expect((await other.call('GET', '/watchlists')).watchlists[0].name).toBe('theirs')
    expect((await site.call('GET', '/watchlists')).watchlists.length).toBe(1)
  })

  test('leaves no part of what is refused behind', async () => {
    const site = await signedIn(testServer(unlimited))
    await site.bring(
      packed([
        HEAD,
        { part: 'bt_x', key: ['backtest-report', 'bt_x'], value: '{}' },
        { kind: 'backtest', id: 'bt_x', item: { state: 'done' } },
        { part: 'bt_y', key: ['backtest-report', 'bt_y'], value: '{}' },
        { end: 1 },
      ]),
    )
    expect(await site.services.kv.list({ prefix: ['backtest-report'] }, { limit: 10 })).toEqual([])
  })
})

test('a token that lacks a scope may neither export nor import, and the limits of what one may have hold', async () => {
  const site = await signedIn(testServer(unlimited))
  const token = await site.token(site.headers, ['scripts:read', 'ideas:read', 'scripts:write', 'ideas:write'])
  for (const [method, path] of [
    ['GET', EXPORT],
    ['POST', IMPORT],
  ] as const) {
    const answer = await site.raw(method, path, { headers: token })
    expect([answer.status, answer.json.error.code]).toEqual([403, 'insufficient_scope'])
    expect(answer.json.error.message).toContain('it lacks')
  }
  const many = Array.from({ length: 210 }, (_, i) => ({ ...WATCHLIST, id: `wl_${i}` }))
  const { json } = await site.bring(packed([HEAD, ...many, { end: 210 }]))
  expect(json.imported.watchlist + json.refused.length).toBe(210)
  expect(json.refused[0].message).toContain('You can have at most')
})
