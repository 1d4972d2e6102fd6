// What an author publishes of a backtest with an idea, and who sees it.

import { expect, test } from 'bun:test'
import { crc32, deflateSync } from 'node:zlib'
import { thinned } from '../../src/lib/thinned.ts'
import type { Services } from '../../src/http/deps.ts'
import { testServer } from './server.ts'

const SOURCE = `//@version=6
strategy("Secret sauce", initial_capital = 5000, commission_type = strategy.commission.percent, commission_value = 0.1)
length = input.int(3, "Private length")
log.info("private log")
alert("private alert")
if bar_index % 4 == 0
    strategy.entry("Long", strategy.long, alert_message = "private message")
if bar_index % 4 == 2
    strategy.close("Long")
plot(ta.sma(close, length), "private plot")
`
const CSV = `time,open,high,low,close,volume\n${Array.from({ length: 40 }, (_, i) => {
  const price = 100 + Math.round(10 * Math.sin(i))
  return `${Date.UTC(2024, 0, 1 + i)},${price},${price + 2},${price - 2},${price + 1},5`
}).join('\n')}`
const RUN = {
  name: 'mine',
  symbol: 'abc',
  interval: '1d',
  exchange: 'x',
  bars: 30,
  source: SOURCE,
  inputs: {},
}

async function world() {
  const dashboard: Services['dashboard'] = (_request, _path, head) => new Response(head ?? 'the usual one')
  const server = testServer(() => ({ dashboard }), { engine: 'real' })
  const asking = (who: object) => (method: string, path: string, body?: unknown) =>
    server.call(method, `/api/platform${path}`, { ...(body !== undefined && { body }), headers: { ...who } })
  const cookie = await server.signUp()
  const me = asking(cookie)
  await server.call('POST', '/api/platform/bars/import?symbol=abc&exchange=x&interval=1d', {
    body: CSV,
    headers: { ...cookie, 'content-type': 'text/csv' },
  })
  const backtest = (await me('POST', '/backtests', RUN)).json
  const idea = { title: 'Look', body: 'here', visibility: 'unlisted', backtestId: backtest.id }
  const { id } = (await me('POST', '/ideas', idea)).json
  const head = async (path: string) => (await server.call('GET', path)).text
  const other = async () => asking(await server.signUp('o@example.com'))
  return { server, cookie, me, anybody: asking({}), other, head, id, backtest }
}

function picture(width = 4, height = 3): string {
  const chunk = (name: string, data: Uint8Array) => {
    const named = Buffer.concat([Buffer.from(name), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(named))
    return Buffer.concat([length, named, sum])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 6, 0, 0, 0], 8)
  const pixels = deflateSync(Buffer.alloc(height * (1 + width * 4)))
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
  const chunks = [chunk('IHDR', head), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([signature, ...chunks]).toString('base64')
}

test('a published backtest is read by anybody who has the address, and gives nothing private away', async () => {
  const { me, anybody, id, backtest } = await world()
  expect((await anybody('GET', `/ideas/${id}/snapshot`)).json.error.code).toBe('snapshot_not_found')
  const put = await me('PUT', `/ideas/${id}/snapshot`, { picture: picture() })
  expect(put.json.idea.snapshot).toEqual({ publishedAt: expect.any(Number), picture: true })

  const { text, json } = await anybody('GET', `/ideas/${id}/snapshot`)
  const { report } = backtest.result
  expect(json.snapshot).toMatchObject({
    symbol: 'ABC',
    hash: report.hash,
    summary: report.summary,
    all: report.all,
    equity: report.equity,
    trades: report.trades,
    tradeCount: report.trades.length,
    script: { title: 'Secret sauce', pineVersion: 6, declaration: { initial_capital: 5000 } },
    barsFrom: 0,
  })
  expect(report.trades.length).toBeGreaterThan(3)
  expect(json.snapshot.bars.time).toHaveLength(30)
  expect(json.snapshot.bars.close.at(-1)).toBe(100 + Math.round(10 * Math.sin(39)) + 1)
  expect(json.snapshot.curve.equity.at(-1)).toBeCloseTo(report.equity.final, 8)
  expect(json.snapshot.curve.time.at(-1)).toBe(Date.UTC(2024, 0, 40))
  expect(text).not.toContain('rivate')
  expect(text).not.toContain('ta.sma')

  const shown = await anybody('GET', `/ideas/${id}/picture`)
  expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(shown.headers.get('x-content-type-options')).toBe('nosniff')
})

test('it is hidden with the idea, follows it to its new address, and stays when the backtest goes', async () => {
  const { server, me, anybody, other, id, backtest } = await world()
  await me('PUT', `/ideas/${id}/snapshot`, {})
  expect((await anybody('GET', `/ideas/${id}/picture`)).json.error.code).toBe('snapshot_not_found')
  await me('PUT', `/ideas/${id}/snapshot`, { picture: picture() })
  await me('DELETE', `/backtests/${backtest.id}`)
  expect((await anybody('GET', `/ideas/${id}/snapshot`)).status).toBe(200)
  await me('PATCH', `/ideas/${id}`, { visibility: 'private' })
  const stranger = await other()
  for (const who of [anybody, stranger])
    for (const path of ['', '/snapshot', '/picture'])
      expect((await who('GET', `/ideas/${id}${path}`)).json.error.code).toBe('idea_not_found')
  for (const path of ['', '/snapshot', '/picture'])
    expect((await me('GET', `/ideas/${id}${path}`)).status).toBe(200)
  await me('PATCH', `/ideas/${id}`, { visibility: 'public' })
  const shown = async (who: typeof me) => (await who('GET', `/ideas/${id}`)).json.idea.mine
  expect([await shown(me), await shown(stranger), await shown(anybody)]).toEqual([true, false, false])
  const found = async () =>
    (await server.call('GET', '/api/search?q=Look')).json.results.filter(
      ({ type }: { type: string }) => type === 'idea',
    )
  expect(await found()).toHaveLength(1)
  const hidden = (await me('PATCH', `/ideas/${id}`, { visibility: 'unlisted' })).json
  expect(hidden.id).not.toBe(id)
  expect(await found()).toEqual([])
  expect((await anybody('GET', `/ideas/${hidden.id}/snapshot`)).status).toBe(200)
})

test('only its author publishes, takes back and replaces it, and nothing of it is left', async () => {
  const { server, me, other, id } = await world()
  const stranger = await other()
  for (const method of ['PUT', 'DELETE'])
    expect(
      (await stranger(method, `/ideas/${id}/snapshot`, method === 'PUT' ? {} : undefined)).json.error.code,
    ).toBe('idea_not_found')
  const stored = async () =>
    (
      await Promise.all(
        ['snapshot', 'snapshot-picture'].map((key) =>
          server.services.kv.list({ prefix: [key] }, { limit: 10 }),
        ),
      )
    ).flat().length
  await me('PUT', `/ideas/${id}/snapshot`, { picture: picture() })
  expect(await stored()).toBe(2)
  await me('PUT', `/ideas/${id}/snapshot`, {})
  expect(await stored()).toBe(1)
  const { json } = await me('DELETE', `/ideas/${id}/snapshot`)
  expect(json.idea.snapshot).toBeNull()
  expect(await stored()).toBe(0)
  expect((await me('DELETE', `/ideas/${id}/snapshot`)).status).toBe(200)
  await me('PUT', `/ideas/${id}/snapshot`, { picture: picture() })
  await me('DELETE', `/ideas/${id}`)
  expect(await stored()).toBe(0)
})

test('an idea without a backtest, and one whose bars have changed, cannot publish one', async () => {
  const { me, id } = await world()
  const bare = (await me('POST', '/ideas', { title: 'a', body: '', visibility: 'public' })).json
  const refused = await me('PUT', `/ideas/${bare.id}/snapshot`, {})
  expect([refused.status, refused.json.error.message]).toEqual([409, expect.stringContaining('no backtest')])
  const gone = (await me('DELETE', '/bars?symbol=abc&exchange=x&interval=1d')).status
  expect(gone).toBe(200)
  expect((await me('PUT', `/ideas/${id}/snapshot`, {})).json.error.code).toBe('conflict')
})

test('what is no picture is refused at /picture', async () => {
  const { me, id } = await world()
  for (const [body, words] of [
    [{ picture: Buffer.from('GIF89a').toString('base64') }, 'not a PNG'],
    [{ picture: 'é' }, 'base64'],
    [{ picture: picture(2401, 1) }, '2400 × 1600'],
  ] as const) {
    const { status, json } = await me('PUT', `/ideas/${id}/snapshot`, body)
    expect([status, json.error.fields[0].path]).toEqual([422, '/picture'])
    expect(json.error.message).toContain(words)
  }
})

test('the page of a shared idea has its title, words and picture in its head, and nothing of what is not shared', async () => {
  const { me, id, head } = await world()
  await me('PUT', `/ideas/${id}/snapshot`, { picture: picture() })
  const title = 'Up > "down" & <b>'
  await me('PATCH', `/ideas/${id}`, { title, body: '# Head\n\nSome **words**.' })
  const shown = await head(`/ideas/${id}`)
  expect(shown).toContain('<title>Up &gt; &quot;down&quot; &amp; &lt;b&gt; · Chartroom</title>')
  expect(shown).toContain('<meta property="og:description" content="Some words." />')
  expect(shown).toContain(`content="http://localhost/api/platform/ideas/${id}/picture"`)
  await me('PATCH', `/ideas/${id}`, { visibility: 'private' })
  for (const path of [`/ideas/${id}`, '/ideas/idea_nobody', '/ideas', '/alerts', '/scripts/scr_nobody'])
    expect(await head(path)).toBe('the usual one')
  const script = { name: 'Mine', source: 'indicator("x")', visibility: 'private' }
  const hidden = (await me('POST', '/scripts', script)).json.id
  const open = (await me('POST', '/scripts', { ...script, visibility: 'public' })).json.id
  expect(await head(`/scripts/${hidden}`)).toBe('the usual one')
  expect(await head(`/scripts/${open}`)).toContain('<title>Mine · Chartroom</title>')
})

test('a curve that is thinned keeps its ends, peaks and troughs', () => {
  const values = Array.from({ length: 10_000 }, (_, i) =>
    i === 4567 ? 1e6 : i === 8901 ? -1e6 : Math.sin(i),
  )
  const kept = thinned(values, 1000)
  expect(kept.length).toBeLessThanOrEqual(1000)
  expect(kept).toEqual([...new Set(kept)].sort((a, b) => a - b))
  for (const index of [0, 4567, 8901, 9999]) expect(kept).toContain(index)
  expect(thinned([1, null, 3], 3)).toEqual([0, 1, 2])
  expect(thinned(Array<null>(50).fill(null), 10)).toContain(49)
})

test('with a sweep its verdict is published, of a trial of it alone, and without the names of inputs', async () => {
  const { server, cookie, me, anybody, other, id } = await world()
  const { json: made } = await me('POST', '/sweeps', {
    ...RUN,
    space: [{ input: 'Private length', values: [2, 3, 4] }],
  })
  const { user } = (await me('GET', '/../auth/session')).json
  await server.services.features.sweeps.watch(user.id, made.id, new AbortController().signal, () => {})
  const proved = { sweepId: made.id }
  const stranger = await me('PUT', `/ideas/${id}/snapshot`, proved)
  expect([stranger.status, stranger.json.error.code]).toEqual([409, 'conflict'])
  expect((await anybody('GET', `/ideas/${id}/snapshot`)).status).toBe(404)

  // The same choice on another exchange's bars is no trial of it.
  await server.call('POST', '/api/platform/bars/import?symbol=abc&exchange=y&interval=1d', {
    body: CSV,
    headers: { ...cookie, 'content-type': 'text/csv' },
  })
  const inputs = { 'Private length': 4 }
  const elsewhere = (await me('POST', '/backtests', { ...RUN, exchange: 'y', inputs })).json
  await me('PATCH', `/ideas/${id}`, { backtestId: elsewhere.id })
  expect((await me('PUT', `/ideas/${id}/snapshot`, proved)).json.error.code).toBe('conflict')
  // Nor does the same choice on fewer bars prove anything.
  const short = (await me('POST', '/backtests', { ...RUN, inputs, bars: 20 })).json
  await me('PATCH', `/ideas/${id}`, { backtestId: short.id })
  const onFewer = await me('PUT', `/ideas/${id}/snapshot`, proved)
  expect([onFewer.status, onFewer.json.error.message]).toEqual([
    409,
    expect.stringContaining('other bars than the sweep'),
  ])

  const trial = (await me('POST', '/backtests', { ...RUN, inputs })).json
  await me('PATCH', `/ideas/${id}`, { backtestId: trial.id })
  expect((await me('PUT', `/ideas/${id}/snapshot`, proved)).status).toBe(200)
  const { json, text } = await anybody('GET', `/ideas/${id}/snapshot`)
  const { verdict } = (await me('GET', `/sweeps/${made.id}`)).json
  expect(json.snapshot.proof).toMatchObject({
    verdict,
    objective: 'netProfit',
    constraints: [],
    sampler: 'grid',
    varied: 1,
    filtered: 0,
    range: { bars: 30 },
    isBest: verdict.best.trial === 2,
    finishedAt: expect.any(Number),
  })
  expect(verdict.counted).toBe(3)
  expect(text).not.toContain('Private length')

  // A sweep of before runs had a day is of before defaults changed, and so are its trials.
  const { kv } = server.services
  const key = ['sweep-script', made.id as string]
  const { asOf: _asOf, ...undated } = JSON.parse((await kv.get(key))!.value)
  await kv.commit({ sets: [{ key, value: JSON.stringify(undated) }] })
  expect((await me('PUT', `/ideas/${id}/snapshot`, proved)).json.error.code).toBe('conflict')
  const then = (await me('POST', '/backtests', { ...RUN, inputs, asOf: '2026-09-23' })).json
  await me('PATCH', `/ideas/${id}`, { backtestId: then.id })
  expect((await me('PUT', `/ideas/${id}/snapshot`, proved)).status).toBe(200)
  expect((await anybody('GET', `/ideas/${id}/snapshot`)).json.snapshot.asOf).toBe('2026-09-23')

  const others = await other()
  const theirs = (await others('POST', '/ideas', { title: 'Mine', body: '', visibility: 'private' })).json
  expect((await others('PUT', `/ideas/${theirs.id}/snapshot`, proved)).json.error.code).toBe('conflict')
  await me('PUT', `/ideas/${id}/snapshot`, {})
  expect((await anybody('GET', `/ideas/${id}/snapshot`)).json.snapshot.proof).toBeUndefined()
})
