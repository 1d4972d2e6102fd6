// Whose bars are whose: what the owner and admins import is everybody's, what a member imports is their own.

import { describe, expect, test } from 'bun:test'
import { barCsv } from '../bar-csv.ts'
import { testServer } from './server.ts'

const NAME = 'exchange=E&symbol=S&interval=1h'
const STRATEGY = '//@version=6\nstrategy("x")'

async function town() {
  const { call, signUp, ...rest } = testServer()
  const owner = await signUp('owner@example.com')
  const member = await signUp('member@example.com')
  const other = await signUp('other@example.com')
  const idOf = async (headers: Record<string, string>) =>
    (await call('GET', '/api/auth/session', { headers })).json.user.id as string
  const importBars = (headers: Record<string, string>, count: number, name = NAME) =>
    call('POST', `/api/platform/bars/import?${name}`, {
      headers: { ...headers, 'content-type': 'text/csv' },
      body: barCsv(count),
    })
  const count = async (headers: Record<string, string>, name = NAME) => {
    const { json } = await call('GET', `/api/platform/bars?${name}`, { headers })
    return json.ok ? (json.bars.time.length as number) : (json.error.code as string)
  }
  const give = async (headers: Record<string, string>, role: string) =>
    call('PATCH', `/api/auth/users/${await idOf(headers)}`, { headers: owner, body: { role } })
  return { call, signUp, owner, member, other, idOf, importBars, count, give, ...rest }
}
const codeOf = (answer: { json: { error?: { code: string } } | null }) => answer.json?.error?.code ?? 'ok'

describe('a series that a member imports', () => {
  test('is theirs alone, and found before everybody’s', async () => {
    const { owner, member, other, importBars, count, call } = await town()
    expect((await importBars(owner, 50)).json.series.shared).toBe(true)
    expect((await importBars(member, 20)).json.series.shared).toBe(false)
    expect([await count(owner), await count(member), await count(other)]).toEqual([50, 20, 50])
    const symbols = async (headers: Record<string, string>) =>
      (await call('GET', '/api/platform/symbols', { headers })).json.symbols.flatMap(
        ({ series }: { series: { count: number; shared: boolean }[] }) =>
          series.map((one) => [one.count, one.shared]),
      )
    expect([await symbols(member), await symbols(other)]).toEqual([[[20, false]], [[50, true]]])
  })
  test('is nobody else’s to find, build from, run on or replay, and its name is not told', async () => {
    const { owner, member, importBars, count, call } = await town()
    await importBars(member, 50)
    expect([await count(owner), await count(owner, NAME.replace('1h', '1d'))]).toEqual([
      'bars_not_found',
      'bars_not_found',
    ])
    expect(await count(member, NAME.replace('1h', '1d'))).toBe(3)
    const body = { name: 'n', symbol: 'S', exchange: 'E', interval: '1h', bars: 9, source: STRATEGY }
    const answers = [
      await call('POST', '/api/platform/backtests', { headers: owner, body }),
      await call('GET', '/api/platform/replay?symbol=S&interval=1h', { headers: owner }),
      await call('GET', '/api/platform/replay?symbol=S&interval=1h'),
      await call('GET', '/api/platform/symbols/E/S', { headers: owner }),
    ]
    expect(answers.map(codeOf)).toEqual([
      'bars_not_found',
      'bars_not_found',
      'bars_not_found',
      'symbol_not_found',
    ])
    for (const { text } of answers) expect(text).not.toContain('E:S')
    expect((await call('GET', '/api/platform/symbols', { headers: owner })).json.symbols).toEqual([])
    expect(codeOf(await call('POST', '/api/platform/backtests', { headers: member, body }))).toBe('ok')
    const replay = await call('GET', '/api/platform/replay?symbol=S&interval=1h', { headers: member })
    expect(replay.json.replay.bars.time).toHaveLength(50)
  })
  test('is announced to nobody else', async () => {
    const { owner, member, importBars, call, app } = await town()
    const stream = await app.handle(new Request('http://localhost/api/platform/stream', { headers: owner }))
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await importBars(member, 5, NAME.replace('symbol=S', 'symbol=SECRET'))
    await importBars(owner, 5)
    const { value } = await reader.read()
    await reader.cancel()
    const text = typeof value === 'string' ? value : new TextDecoder().decode(value)
    expect(text).toContain('"symbol":"S"')
    expect(text).not.toContain('SECRET')
    expect(call).toBeDefined()
  })
  test('can be made everybody’s by an admin', async () => {
    const { owner, member, other, importBars, count, call, idOf, give } = await town()
    await importBars(member, 20)
    const body = { exchange: 'E', symbol: 'S', interval: '1h', userId: await idOf(member) }
    const share = (headers: Record<string, string>) =>
      call('POST', '/api/platform/bars/share', { headers, body })
    expect([codeOf(await share(member)), codeOf(await share(other))]).toEqual([
      'not_series_owner',
      'not_series_owner',
    ])
    expect(codeOf(await give(other, 'admin'))).toBe('ok')
    expect((await share(other)).json.series).toMatchObject({ count: 20, shared: true })
    expect([await count(owner), await count(member)]).toEqual([20, 20])
    expect(codeOf(await share(other))).toBe('bars_not_found')
    await importBars(member, 5)
    expect([codeOf(await share(owner)), await count(owner)]).toEqual(['already_exists', 20])
  })

  test('takes the chart along from which it was imported', async () => {
    const { owner, member, call, idOf } = await town()
    const of = 'exchange=E&symbol=S&interval=1h'
    const plots = async (headers: Record<string, string>) =>
      (await call('GET', `/api/platform/bars/chart?${of}`, { headers })).json.chart?.plots
    await call('POST', `/api/platform/bars/import?${of}`, {
      headers: { ...member, 'content-type': 'text/csv' },
      body: 'time,open,high,low,close,RSI\n1704067200,1,1,1,1,5',
    })
    expect([await plots(member), await plots(owner)]).toEqual([['RSI'], undefined])
    const body = { exchange: 'E', symbol: 'S', interval: '1h', userId: await idOf(member) }
    await call('POST', '/api/platform/bars/share', { headers: owner, body })
    expect([await plots(member), await plots(owner)]).toEqual([['RSI'], ['RSI']])
    await call('DELETE', `/api/platform/bars?${of}`, { headers: owner })
    expect([await plots(member), await plots(owner)]).toEqual([undefined, undefined])
  })
})

test('an upload whose token is revoked on the way stores nothing', async () => {
  const { owner, call, app, count } = await town()
  const body = { scopes: ['bars:write'] }
  const { id, secret } = (await call('POST', '/api/platform/tokens', { headers: owner, body })).json
  const csv = barCsv(50)
  let halves = 0
  const slowly = new ReadableStream({
    async pull(controller) {
      if (halves === 1) await call('DELETE', `/api/platform/tokens?id=${id}`, { headers: owner })
      if (halves === 2) controller.close()
      else controller.enqueue(Buffer.from(halves === 0 ? csv.slice(0, 500) : csv.slice(500)))
      halves++
    },
  })
  const answer = await app.handle(
    new Request(`http://localhost/api/platform/bars/import?${NAME}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'text/csv' },
      body: slowly,
    }),
  )
  const { error } = (await answer.json()) as { error: { code: string } }
  expect([answer.status, error.code, await count(owner)]).toEqual([401, 'token_revoked', 'bars_not_found'])
})

test('a member’s alert watches their own bars, and everybody’s once those are gone', async () => {
  const { owner, member, importBars, call, services } = await town()
  const { looks } = services.features
  const importClose = (headers: Record<string, string>, hour: number, close: number) =>
    call('POST', `/api/platform/bars/import?${NAME}`, {
      headers: { ...headers, 'content-type': 'text/csv' },
      body: `time,open,high,low,close,volume\n${Date.UTC(2026, 1, 1, hour)},${[close, close, close, close, 1].join(',')}\n`,
    })
  await importBars(owner, 50)
  await importBars(member, 20)
  const body = {
    symbol: 'S',
    exchange: 'E',
    interval: '1h',
    kind: 'price',
    op: 'crossing_up',
    price: 500,
    channels: ['webhook'],
    frequency: 'every_time',
  }
  const alert = async (headers: Record<string, string>) =>
    (await call('POST', '/api/platform/alerts', { headers, body })).json.id as string
  const [mine, theirs] = [await alert(member), await alert(owner)]
  const firings = async (headers: Record<string, string>, id: string) =>
    (await call('GET', `/api/platform/alerts/${id}/firings`, { headers })).json.firings.length as number
  const fired = async () => {
    await looks.settle()
    return [await firings(member, mine), await firings(owner, theirs)]
  }
  await importClose(member, 1, 600)
  expect(await fired()).toEqual([1, 0])
  await importClose(owner, 1, 600)
  expect(await fired()).toEqual([1, 1])
  await call('DELETE', `/api/platform/bars?${NAME}`, { headers: member })
  await looks.settle()
  await importClose(owner, 2, 400)
  await looks.settle()
  await importClose(owner, 3, 600)
  expect(await fired()).toEqual([2, 2])
})

test('an alert goes over to a member’s own series from its beginning, though bars came to it before any look', async () => {
  const { owner, member, importBars, call, services } = await town()
  const { looks } = services.features
  await importBars(owner, 50)
  const alert = async (headers: Record<string, string>) =>
    (
      await call('POST', '/api/platform/alerts', {
        headers,
        body: {
          symbol: 'S',
          exchange: 'E',
          interval: '1h',
          kind: 'price',
          op: 'crossing_up',
          price: 500,
          channels: ['webhook'],
          frequency: 'every_time',
        },
      })
    ).json.id as string
  const [mine, theirs] = [await alert(member), await alert(owner)]
  await looks.settle()
  const importCloses = (from: number, closes: readonly number[]) =>
    call('POST', `/api/platform/bars/import?${NAME}`, {
      headers: { ...member, 'content-type': 'text/csv' },
      body: `time,open,high,low,close,volume\n${closes
        .map((close, i) => `${Date.UTC(2025, 1, 1, from + i)},${close},${close},${close},${close},1`)
        .join('\n')}\n`,
    })
  // What the series is made of is history, and what comes behind it is news.
  await importCloses(0, [400, 600, 400])
  await importCloses(3, [600, 400])
  await importCloses(5, [600])
  await looks.settle()
  const firings = async (headers: Record<string, string>, id: string) =>
    (await call('GET', `/api/platform/alerts/${id}/firings`, { headers })).json.firings.map(
      ({ barTime }: { barTime: number }) => new Date(barTime).getUTCHours(),
    ) as number[]
  expect(await firings(member, mine)).toEqual([5, 3])
  expect(await firings(owner, theirs)).toEqual([])
})

test('what somebody’s alerts and watchlists keep fresh is shown to them and those who keep the bars', async () => {
  const { owner, member, other, call, services } = await town()
  const running = ['WATCHED', 'ALERTED', 'FOLLOWED'].map((symbol) => ({
    key: { exchange: 'BINANCE', symbol, interval: '1d' },
    followed: symbol === 'FOLLOWED',
    state: 'fresh' as const,
    provider: 'Binance',
    lastSuccessAt: null,
    lastError: null,
    failures: 0,
    nextAt: null,
    newestBar: null,
  }))
  services.features.feeds.list = async () => running
  const items = [{ symbol: 'WATCHED', exchange: 'BINANCE', note: null }]
  await call('POST', '/api/platform/watchlists/import', { headers: member, body: { name: 'w', items } })
  const alert = {
    exchange: 'BINANCE',
    symbol: 'ALERTED',
    interval: '1d',
    kind: 'price',
    op: 'above',
    price: 1,
  }
  await call('POST', '/api/platform/alerts', { headers: member, body: { ...alert, channels: ['webhook'] } })
  const shown = async (headers: Record<string, string>) =>
    (await call('GET', '/api/platform/feeds', { headers })).json.feeds.map(
      ({ symbol }: { symbol: string }) => symbol,
    )
  expect([await shown(owner), await shown(member), await shown(other)]).toEqual([
    ['WATCHED', 'ALERTED', 'FOLLOWED'],
    ['WATCHED', 'ALERTED', 'FOLLOWED'],
    ['FOLLOWED'],
  ])
})

describe('everybody’s series', () => {
  test('is not a member’s to delete or to falsify', async () => {
    const { owner, member, importBars, count, call } = await town()
    await importBars(owner, 50)
    const remove = (headers: Record<string, string>) =>
      call('DELETE', `/api/platform/bars?${NAME}`, { headers })
    expect(codeOf(await remove(member))).toBe('not_series_owner')
    await importBars(member, 3)
    expect([await count(owner), await count(member)]).toEqual([50, 3])
    expect((await remove(member)).json.deleted).toBe(true)
    expect([await count(owner), await count(member)]).toEqual([50, 50])
    expect((await remove(owner)).json.deleted).toBe(true)
    expect(await count(member)).toBe('bars_not_found')
  })
  test('is followed, or not, by those who keep it', async () => {
    const { owner, member, call } = await town()
    const body = { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1h' }
    const follow = (headers: Record<string, string>) => call('POST', '/api/platform/feeds', { headers, body })
    expect([codeOf(await follow(member)), codeOf(await follow(owner))]).toEqual(['not_series_owner', 'ok'])
    const url = `/api/platform/feeds?${new URLSearchParams(body).toString()}`
    expect(codeOf(await call('DELETE', url, { headers: member }))).toBe('not_series_owner')
    expect((await call('DELETE', url, { headers: owner })).json.deleted).toBe(true)
  })
  test('is an admin’s to change from the moment they are one, and no longer', async () => {
    const { owner, member, importBars, count, give } = await town()
    await give(member, 'admin')
    await importBars(member, 30)
    expect(await count(owner)).toBe(30)
    await give(member, 'member')
    await importBars(member, 40)
    expect([await count(owner), await count(member)]).toEqual([30, 40])
  })
})

test('facts of a symbol that a member sets are theirs alone', async () => {
  const { owner, member, importBars, call } = await town()
  await importBars(owner, 10)
  const put = (headers: Record<string, string>, mintick: number) =>
    call('PUT', '/api/platform/symbols/E/S', { headers, body: { mintick } })
  const tick = async (headers: Record<string, string>) =>
    (await call('GET', '/api/platform/symbols/E/S', { headers })).json.symbol.mintick as number
  const before = await tick(owner)
  expect((await put(member, 0.5)).json.symbol).toMatchObject({ mintick: 0.5, shared: false })
  expect([await tick(owner), await tick(member)]).toEqual([before, 0.5])
  await put(owner, 0.25)
  expect([await tick(owner), await tick(member)]).toEqual([0.25, 0.5])
})

test('the owner gives roles, and nobody else', async () => {
  const { owner, member, other, idOf, call, give } = await town()
  const body = { role: 'admin' }
  const to = async (headers: Record<string, string>, id: string) =>
    codeOf(await call('PATCH', `/api/auth/users/${id}`, { headers, body }))
  expect(await to(member, await idOf(member))).toBe('owner_required')
  expect(await to(owner, await idOf(owner))).toBe('conflict')
  expect(await to(owner, 'usr_none')).toBe('user_not_found')
  expect((await give(other, 'admin')).json.user.role).toBe('admin')
  expect(codeOf(await call('GET', '/api/auth/users', { headers: other }))).toBe('owner_required')
  const { json } = await call('GET', '/api/auth/users', { headers: owner })
  expect(json.users.map(({ role }: { role: string }) => role)).toEqual(['owner', 'member', 'admin'])
})

describe('a stored backtest', () => {
  async function stored() {
    const made = await town()
    const { member, owner, importBars, call } = made
    await importBars(owner, 50)
    await importBars(member, 20)
    const body = { name: 'n', symbol: 'S', exchange: 'E', interval: '1h', bars: 50, source: STRATEGY }
    const run = await call('POST', '/api/platform/backtests', { headers: member, body })
    const id = run.json.id as string
    const post = (what: string) =>
      call('POST', `/api/platform/backtests/${id}/${what}`, { headers: member, body: {} })
    return { ...made, id, post }
  }
  test('is replayed on the bars it ran on', async () => {
    const { post, id, member, call } = await stored()
    expect((await post('replay')).json.replay.bars.time).toHaveLength(20)
    const { json } = await call('GET', `/api/platform/backtests/${id}`, { headers: member })
    expect([json.backtest.ownBars, json.backtest.range.bars]).toEqual([true, 20])
  })
  test('says that its own bars are gone, and does not take everybody’s for them', async () => {
    const { post, member, call } = await stored()
    await call('DELETE', `/api/platform/bars?${NAME}`, { headers: member })
    for (const what of ['replay', 'verify', 'repaint']) {
      const { json } = await post(what)
      expect([what, json.error.code]).toEqual([what, 'bars_not_found'])
      expect(json.error.message).toContain('your own bars')
    }
  })
  test('on everybody’s bars stays on those when a member’s own come before them', async () => {
    const { other, importBars, call } = await stored()
    const body = { name: 'n', symbol: 'S', exchange: 'E', interval: '1h', bars: 50, source: STRATEGY }
    const { json } = await call('POST', '/api/platform/backtests', { headers: other, body })
    await importBars(other, 5)
    const replay = await call('POST', `/api/platform/backtests/${json.id}/replay`, {
      headers: other,
      body: {},
    })
    expect(replay.json.replay.bars.time).toHaveLength(50)
  })
})
