// The features over HTTP, as tables and short stories.

import { describe, expect, test } from 'bun:test'
import { testServer } from './server.ts'

async function world() {
  const server = testServer()
  const headers = await server.signUp()
  const as = (who: object) => ({
    get: (path: string) => server.call('GET', path, { headers: { ...who } }),
    post: (path: string, body?: unknown) =>
      server.call('POST', path, { ...(body !== undefined && { body }), headers: { ...who } }),
    patch: (path: string, body: unknown) => server.call('PATCH', path, { body, headers: { ...who } }),
    delete: (path: string) => server.call('DELETE', path, { headers: { ...who } }),
  })
  return {
    ...server,
    headers,
    me: as(headers),
    anybody: as({}),
    other: async () => as(await server.signUp('other@example.com')),
  }
}
const ALERT = {
  symbol: 'SPX',
  exchange: 'SP',
  interval: '1d',
  kind: 'price',
  op: 'above',
  price: 5000,
  channels: ['email', 'webhook'],
}
const IDEA = { title: 'Golden cross', body: 'A **bold** claim.', tags: ['trend'], visibility: 'unlisted' }
const CURSOR = {
  symbol: 'SPX',
  interval: '1d',
  cursorBar: 3,
  speed: 1.5,
  start: '2020-01-01T00:00:00Z',
  end: '2020-12-31T00:00:00Z',
}
const HOOK = { name: 'mine', url: 'https://hooks.example/in', events: ['backtest.reportReady'] }

test('what an alert or an idea names has to be there, and nobody is told whose it is else', async () => {
  const { me, other } = await world()
  const them = await other()
  const source = '//@version=6\nindicator("s")\nn = input.int(3, "Length")\nplot(n)'
  const script = (of: typeof me, visibility: string) =>
    of.post('/api/platform/scripts', { name: 's', source, visibility }).then(({ json }) => json.id as string)
  const [mine, open, theirs] = [
    await script(me, 'private'),
    await script(them, 'public'),
    await script(them, 'private'),
  ]
  const alert = (more: object) => me.post('/api/platform/alerts', { ...ALERT, kind: 'indicator', ...more })
  const wrong = ({ status, json }: Awaited<ReturnType<typeof alert>>) => [
    status,
    json.error?.fields?.map(({ path, message }: { path: string; message: string }) => [path, message]),
  ]
  for (const scriptId of [mine, open]) expect(wrong(await alert({ scriptId }))).toEqual([200, undefined])
  const missing = [422, [['/scriptId', 'There is no such script that you may read.']]]
  for (const scriptId of [theirs, 'scr_nothing']) expect(wrong(await alert({ scriptId }))).toEqual(missing)
  const unknown = [422, [['/inputs/Lenght', 'This script has no input named "Lenght". It has "Length".']]]
  expect(wrong(await alert({ scriptId: mine, inputs: { Lenght: 4 } }))).toEqual(unknown)
  const { json } = await alert({ scriptId: mine, inputs: { Length: 4 } })
  const patch = (body: object) => me.patch(`/api/platform/alerts/${json.id}`, body)
  expect(wrong(await patch({ scriptId: theirs }))).toEqual(missing)
  expect(wrong(await patch({ inputs: { Lenght: 4 } }))).toEqual(unknown)
  await me.delete(`/api/platform/scripts/${mine}`)
  expect(wrong(await patch({ price: 7 }))).toEqual([200, undefined])

  const none = [422, [['/backtestId', 'There is no backtest of yours with this id.']]]
  expect(wrong(await me.post('/api/platform/ideas', { ...IDEA, backtestId: 'bt_nothing' }))).toEqual(none)
  const idea = (await me.post('/api/platform/ideas', IDEA)).json.id as string
  expect(wrong(await me.patch(`/api/platform/ideas/${idea}`, { backtestId: 'bt_nothing' }))).toEqual(none)
  expect(wrong(await me.patch(`/api/platform/ideas/${idea}`, { backtestId: null }))).toEqual([200, undefined])
})

describe('alerts', () => {
  test('are made, listed, paused and deleted', async () => {
    const { me, other } = await world()
    const made = await me.post('/api/platform/alerts', ALERT)
    const { id } = made.json as { id: string }
    expect(made.status).toBe(200)
    expect(made.json).toMatchObject({
      ok: true,
      id: expect.stringMatching(/^al_/),
      alert: { state: 'active', interval: '1d', frequency: 'once' },
      warnings: [
        { code: 'channel_not_configured', path: '/channels/0' },
        { code: 'no_new_bars', path: '/symbol' },
      ],
    })
    expect((await me.get('/api/platform/alerts')).json).toMatchObject({ alerts: [{ id }], nextCursor: null })
    expect((await me.get(`/api/platform/alerts/${id}`)).json.warnings).toEqual(made.json.warnings)
    expect((await me.patch(`/api/platform/alerts/${id}`, { state: 'paused' })).json.alert.state).toBe(
      'paused',
    )
    const stranger = await other()
    for (const answer of [
      await stranger.get(`/api/platform/alerts/${id}`),
      await stranger.delete(`/api/platform/alerts/${id}`),
      await stranger.patch(`/api/platform/alerts/${id}`, { name: 'x' }),
    ])
      expect([answer.status, answer.json.error.code]).toEqual([404, 'alert_not_found'])
    expect((await me.delete(`/api/platform/alerts/${id}`)).json).toEqual({ ok: true, id })
    expect((await me.get('/api/platform/alerts')).json.alerts).toEqual([])
  })
  test.each([
    [{ op: 'sideways' }, '/op'],
    [{ kind: 'weather' }, '/kind'],
    [{ price: '5' }, '/price'],
    [{ price: undefined }, '/price'],
    [{ channels: ['pigeon'] }, '/channels/0'],
    [{ channels: undefined }, '/channels'],
    [{ interval: 'soon' }, '/interval'],
    [{ expiresAt: 'soon' }, '/expiresAt'],
  ])('with %p are refused at %s', async (fields, path) => {
    const { me } = await world()
    const { status, json } = await me.post('/api/platform/alerts', { ...ALERT, ...fields })
    expect([status, json.error.code, json.error.fields?.[0]?.path]).toEqual([422, 'validation_failed', path])
  })
})

test('ideas: published, read by who may, changed and found', async () => {
  const { me, anybody, other } = await world()
  const { id, idea } = (await me.post('/api/platform/ideas', IDEA)).json
  expect(idea).toMatchObject({ title: 'Golden cross', visibility: 'unlisted', tags: ['trend'], mine: true })
  expect((await anybody.get(`/api/platform/ideas/${id}`)).json.idea).toMatchObject({ id, mine: false })
  expect((await anybody.get('/api/search?q=golden')).json).toEqual({
    ok: true,
    results: [],
    nextCursor: null,
  })
  await me.patch(`/api/platform/ideas/${id}`, { visibility: 'public' })
  expect((await anybody.get('/api/search?q=golden')).json.results).toMatchObject([
    { type: 'idea', id, title: 'Golden cross' },
  ])
  expect((await anybody.get('/api/platform/ideas')).json.ideas).toMatchObject([{ id }])
  await me.patch(`/api/platform/ideas/${id}`, { visibility: 'private' })
  const stranger = await other()
  expect((await stranger.get(`/api/platform/ideas/${id}`)).json.error.code).toBe('idea_not_found')
  expect((await stranger.get('/api/search?q=golden')).json.results).toEqual([])
  expect((await me.get('/api/search?q=golden')).json.results).toHaveLength(1)
})

test('scripts: stored with diagnostics, drafts too, with their revisions', async () => {
  const { me, anybody } = await world()
  const good = '//@version=6\nindicator("x")\nplot(close)\n'
  const { id, script, diagnostics } = (await me.post('/api/platform/scripts', { name: 'X', source: good }))
    .json
  expect([script.kind, script.pineVersion, diagnostics]).toEqual(['indicator', 6, []])
  const bad = await me.patch(`/api/platform/scripts/${id}`, {
    source: '//@version=6\nindicator("x")\nplot(cloze)\n',
  })
  expect(bad.json.script).toMatchObject({ kind: 'draft', revision: 2 })
  expect(bad.json.diagnostics[0]).toMatchObject({ severity: 'error', line: 3, column: 6 })
  expect(
    (await me.get(`/api/platform/scripts/${id}/revisions`)).json.revisions.map(
      (one: { revision: number }) => one.revision,
    ),
  ).toEqual([2, 1])
  expect((await anybody.get(`/api/platform/scripts/${id}`)).status).toBe(404)
  const check = async (source: string) => (await me.post('/api/platform/scripts/check', { source })).json
  expect((await check('plot(')).diagnostics.length).toBeGreaterThan(0)
  expect(
    await check(
      '//@version=6\nindicator("x")\nconst string AVERAGE = "Slow " + "average"\nplot(close)\nplot(open, AVERAGE)\nplot(high, title = "High")\nplot(low, "High")\nhline(1, "One")',
    ),
  ).toMatchObject({ plots: ['Slow average', 'High'], diagnostics: [] })
})

test('watchlists: imported all or nothing, exported', async () => {
  const { me } = await world()
  const bad = await me.post('/api/platform/watchlists/import', {
    name: 'W',
    items: [
      { symbol: 'A', exchange: 'X', note: null },
      { symbol: '', exchange: 'X', note: null },
    ],
  })
  expect([bad.status, bad.json.error.fields[0].path]).toEqual([422, '/items/1/symbol'])
  expect((await me.get('/api/platform/watchlists')).json.watchlists).toEqual([])
  const made = await me.post('/api/platform/watchlists/import', {
    name: 'W',
    items: [
      { symbol: 'spx', exchange: 'SP', note: '=1+1' },
      { symbol: 'SPX', exchange: 'sp', note: null },
    ],
  })
  expect(made.json).toMatchObject({
    watchlist: { items: [{ symbol: 'SPX' }] },
    warnings: [{ code: 'duplicate_item', path: '/items/1' }],
  })
  expect((await me.get(`/api/platform/watchlists/${made.json.id}/export`)).text).toBe(
    "symbol,exchange,note\r\nSPX,SP,'=1+1\r\n",
  )
})

describe('replay', () => {
  test('keeps a cursor by token', async () => {
    const { headers, token, call } = await world()
    const withToken = { headers: await token(headers) }
    const place = '?symbol=SPX&interval=D'
    expect((await call('GET', `/api/platform/replay/resume${place}`, withToken)).json).toEqual({
      ok: true,
      cursor: null,
    })
    const saved = await call('POST', '/api/platform/replay/resume', { ...withToken, body: CURSOR })
    expect(saved.json.cursor).toMatchObject({
      cursorBar: 3,
      speed: 1.5,
      exchange: null,
      start: '2020-01-01T00:00:00.000Z',
    })
    expect((await call('GET', `/api/platform/replay/resume${place}`, withToken)).json.cursor).toEqual(
      saved.json.cursor,
    )
    expect((await call('DELETE', `/api/platform/replay/resume${place}`, withToken)).json).toEqual({
      ok: true,
      deleted: true,
    })
    expect((await call('DELETE', `/api/platform/replay/resume${place}`, withToken)).json).toEqual({
      ok: true,
      deleted: false,
    })
  })
  test.each([
    [{ cursorBar: -1 }, '/cursorBar'],
    [{ cursorBar: 1.5 }, '/cursorBar'],
    [{ speed: 0 }, '/speed'],
    [{ speed: 101 }, '/speed'],
    [{ start: '2020-02-30T00:00:00Z' }, '/start'],
    [{ start: '2021-01-01T00:00:00Z' }, '/start'],
    [{ end: undefined }, '/end'],
  ])('refuses a cursor with %p at %s', async (fields, path) => {
    const { me } = await world()
    const { status, json } = await me.post('/api/platform/replay/resume', { ...CURSOR, ...fields })
    expect([status, json.error.fields?.[0]?.path]).toEqual([422, path])
  })
  test('marks bars, without a body', async () => {
    const { me, call, headers } = await world()
    const bare = await call('POST', '/api/platform/replay/bookmarks?bar=7&symbol=SPX&interval=1d', {
      headers,
    })
    expect(bare.json.bookmark).toMatchObject({ bar: 7, note: null })
    await me.post('/api/platform/replay/bookmarks?bar=3&symbol=SPX&interval=1d', { note: 'low' })
    expect(
      (await me.get('/api/platform/replay/bookmarks?symbol=spx&interval=D')).json.bookmarks,
    ).toMatchObject([{ bar: 3, note: 'low' }, { bar: 7 }])
    expect((await me.post('/api/platform/replay/bookmarks?bar=x&symbol=SPX&interval=1d', {})).status).toBe(
      422,
    )
  })
  test('of a market that is not cached says what is', async () => {
    const { anybody } = await world()
    const { status, json } = await anybody.get(
      '/api/platform/replay?symbol=NOPE&interval=1d&start=2020-01-01T00:00:00Z&end=2021-01-01T00:00:00Z',
    )
    expect([status, json.error.code]).toEqual([404, 'bars_not_found'])
  })
})

describe('webhooks', () => {
  test('show their secret once', async () => {
    const { me } = await world()
    const made = await me.post('/api/platform/webhooks', HOOK)
    expect(made.json).toMatchObject({
      ok: true,
      id: expect.stringMatching(/^wh_/),
      secret: expect.stringMatching(/^whsec_/),
      webhook: { status: 'active', events: ['backtest.reportReady'] },
    })
    expect(JSON.stringify(made.json.webhook)).not.toContain('whsec_')
    for (const path of ['', `/${made.json.id}`])
      expect((await me.get(`/api/platform/webhooks${path}`)).text).not.toContain('whsec_')
  })
  test.each([
    [{ url: 'http://hooks.example/' }, 'webhook_url_blocked'],
    [{ url: 'https://127.0.0.1/' }, 'webhook_url_blocked'],
    [{ events: ['order.lost'] }, 'validation_failed'],
    [{ events: [] }, 'validation_failed'],
    [{ name: '' }, 'validation_failed'],
  ])('with %p are refused: %s', async (fields, code) => {
    const { me } = await world()
    const { status, json } = await me.post('/api/platform/webhooks', { ...HOOK, ...fields })
    expect([status, json.error.code]).toEqual([422, code])
  })
})

describe('support and errors', () => {
  test('chat answers from the articles', async () => {
    const { anybody } = await world()
    const { json } = await anybody.post('/api/support/chat', { query: 'verify webhook signature' })
    expect(json.answers[0]).toMatchObject({ id: 'webhook-signature', url: '/help/webhook-signature' })
    expect((await anybody.post('/api/support/chat', { query: 'zzzz' })).json).toEqual({
      ok: true,
      answers: [],
    })
  })
  test('contact opens a ticket', async () => {
    const { anybody, me } = await world()
    const made = await anybody.post('/api/support/contact', { email: 'a@b.example', subject: 's', body: 'b' })
    expect(made.json).toMatchObject({
      ok: true,
      id: expect.stringMatching(/^tkt_/),
      ticket: { subject: 's', state: 'open' },
    })
    expect(
      (await anybody.post('/api/support/contact', { email: 'nobody', subject: 's', body: 'b' })).json.error
        .fields[0].path,
    ).toBe('/email')
    expect((await me.get('/api/support/tickets')).json.tickets).toHaveLength(1)
  })
  test('errors take any object, as beacons too, and only the owner reads them', async () => {
    const { anybody, me, other, call } = await world()
    expect((await anybody.post('/api/errors', { message: 'boom', anything: [1] })).json).toEqual({
      ok: true,
      id: expect.stringMatching(/^err_/),
    })
    const beacon = await call('POST', '/api/errors', {
      body: '{"message":"boom"}',
      headers: { 'content-type': 'text/plain;charset=UTF-8' },
    })
    expect(beacon.status).toBe(200)
    expect((await anybody.post('/api/errors', [])).json.error.code).toBe('body_not_object')
    expect((await me.get('/api/errors')).json.errors).toMatchObject([{ message: 'boom', count: 2 }])
    expect((await (await other()).get('/api/errors')).status).toBe(404)
    expect((await anybody.get('/api/errors')).status).toBe(401)
  })
})
