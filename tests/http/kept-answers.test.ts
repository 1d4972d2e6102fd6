// Answers whose texts are kept: sent as they were while nothing was written, and never a moment longer.

import { describe, expect, test } from 'bun:test'
import { isKept, KeptAnswers } from '../../src/http/kept-answers.ts'
import { barCsv } from '../bar-csv.ts'
import { testKv } from '../store/test-store.ts'
import { testServer, unlimited } from './server.ts'

const IDEAS = '/api/platform/ideas'
const FEED = `${IDEAS}?feed=public`
const ALERTS = '/api/platform/alerts'
const BARS = '/api/platform/bars?exchange=E&symbol=S&interval=1h'
const ALERT = { symbol: 'S', exchange: 'E', interval: '1h', kind: 'price', op: 'above', channels: ['email'] }

describe('a text', () => {
  const textOf = (answer: object) => (isKept(answer) ? answer.text.json : null)

  const one = async () => '1'

  test('is made once while its stamp stands, and again when it does not', async () => {
    const kept = new KeptAnswers()
    let made = 0
    const ask = (stamp: string) =>
      kept.answer(
        'list',
        async () => stamp,
        async () => ({ made: ++made }),
      )
    const texts = [await ask('1'), await ask('1'), await ask('2'), await ask('2'), await ask('1')].map(textOf)
    expect(texts).toEqual([1, 1, 2, 2, 3].map((n) => `{"ok":true,"made":${n}}`))
  })
  test('is asked for its stamp only when something was written since, by the moment of the store', async () => {
    let [moment, stamp, asked] = [1, 'a', 0]
    const kept = new KeptAnswers(() => moment)
    const stampOf = async () => (asked++, stamp)
    const ask = () => kept.answer('list', stampOf, async () => ({ stamp }))
    const again = async () => (await kept.again('list', stampOf))?.json ?? null
    await ask()
    expect([await again(), await again(), asked]).toEqual([
      '{"ok":true,"stamp":"a"}',
      '{"ok":true,"stamp":"a"}',
      1,
    ])
    moment++
    expect([await again(), await again(), asked]).toEqual([
      '{"ok":true,"stamp":"a"}',
      '{"ok":true,"stamp":"a"}',
      2,
    ])
    moment++
    stamp = 'b'
    expect([await again(), await again(), asked]).toEqual([null, null, 4])
    await ask()
    expect([await again(), asked]).toEqual(['{"ok":true,"stamp":"b"}', 5])
  })
  test('of something else than the store is asked for its stamp each time', async () => {
    let [stamp, asked] = ['a', 0]
    const kept = new KeptAnswers(() => 1)
    const stampOf = async () => (asked++, stamp)
    await kept.answer('bars', stampOf, async () => ({ stamp }), { isOfStore: false })
    expect([(await kept.again('bars', stampOf))?.stamp, asked]).toEqual(['a', 2])
    stamp = 'b'
    expect([await kept.again('bars', stampOf), asked]).toEqual([null, 3])
  })
  test('that was made while something was written is asked for its stamp', async () => {
    let moment = 1
    const kept = new KeptAnswers(() => moment)
    let stamp = 'a'
    const made = kept.answer(
      'list',
      async () => stamp,
      async () => ({ n: 1 }),
    )
    moment = 2
    stamp = 'b'
    expect(textOf(await made)).toBe('{"ok":true,"n":1}')
    expect(await kept.again('list', async () => stamp)).toBeNull()
  })
  test('that could not be made is not kept', async () => {
    const kept = new KeptAnswers()
    const fails = () => kept.answer('list', one, () => Promise.reject(new Error('gone')))
    expect(await fails().catch(String)).toBe('Error: gone')
    expect(textOf(await kept.answer('list', one, async () => ({ n: 1 })))).toBe('{"ok":true,"n":1}')
  })
  test('that is used least makes room, with what was encoded of it; a very long one is not kept', async () => {
    const kept = new KeptAnswers(undefined, 100_000)
    const made: string[] = []
    const ask = (name: string, letters = 10_000) =>
      kept.answer(name, one, async () => (made.push(name), { text: 'x'.repeat(letters) }))
    for (const name of ['a', 'b', 'c', 'd', 'a', 'e']) await ask(name)
    expect(made).toEqual(['a', 'b', 'c', 'd', 'e'])
    await ask('a')
    await ask('b')
    expect(made).toEqual(['a', 'b', 'c', 'd', 'e', 'b'])
    const b = await ask('b')
    const before = kept.bytes
    if (isKept(b)) await b.text.encoded('gzip')
    expect(kept.bytes).toBeGreaterThan(before)
    await ask('long', 2 << 20)
    expect(kept.bytes).toBeLessThanOrEqual(100_000)
    await ask('long', 2 << 20)
    expect(made.filter((name) => name === 'long')).toHaveLength(2)
  })
})

/** Two servers on the same data, as a command or a restarted server is. */
async function world() {
  const kv = testKv()
  const here = testServer(unlimited, { kv })
  const owner = await here.signUp('owner@example.com')
  const other = await here.signUp('other@example.com')
  return { here, there: testServer(unlimited, { kv, seed: 2 }), owner, other }
}

test('an answer that was kept is the one that would have been made, ETag and all', async () => {
  const { here, there, owner } = await world()
  const { id } = (await here.call('POST', IDEAS, { headers: owner, body: idea('seen') })).json
  for (const path of [IDEAS, FEED, `${IDEAS}/${id}`, `${IDEAS}?limit=1`]) {
    const [first, second] = [
      await here.call('GET', path, { headers: owner }),
      await here.call('GET', path, { headers: owner }),
    ]
    const fresh = await there.call('GET', path, { headers: owner })
    expect(second.text).toBe(first.text)
    expect(fresh.text).toBe(first.text)
    for (const name of ['content-type', 'cache-control', 'etag'])
      expect(second.headers.get(name)).toBe(fresh.headers.get(name))
  }
  const { headers } = await here.call('GET', `${IDEAS}/${id}`, { headers: owner })
  const tagged = { ...owner, 'if-none-match': headers.get('etag') ?? '' }
  expect((await here.call('GET', `${IDEAS}/${id}`, { headers: tagged })).status).toBe(304)
  await there.call('PATCH', `${IDEAS}/${id}`, { headers: owner, body: { title: 'changed' } })
  expect((await here.call('GET', `${IDEAS}/${id}`, { headers: tagged })).json.idea.title).toBe('changed')
})

const idea = (title: string, visibility = 'public') => ({ title, body: '', visibility })

test('behind the answer of a write nobody is told what was before it, whichever server they ask', async () => {
  const { here, there, owner, other } = await world()
  const { id } = (await here.call('POST', IDEAS, { headers: owner, body: idea('0') })).json
  const shown = async (path: string, headers?: Record<string, string>) => {
    const servers = [here, there, here]
    const answers = await Promise.all(
      servers.map(({ call }) => call('GET', path, headers ? { headers } : {})),
    )
    return answers.map(({ json }) => Number((json.idea ?? json.ideas[0]).title))
  }
  let acknowledged = 0
  const reading = async () => {
    const least = acknowledged
    const readers = [shown(FEED), shown(FEED, other), shown(IDEAS, owner), shown(`${IDEAS}/${id}`, other)]
    for (const titles of await Promise.all(readers))
      for (const title of titles) expect(title).toBeGreaterThanOrEqual(least)
  }
  for (let n = 1; n <= 30; n++) {
    const before = reading()
    const server = n % 2 === 0 ? here : there
    const body = { title: String(n) }
    const [answer] = await Promise.all([
      server.call('PATCH', `${IDEAS}/${id}`, { headers: owner, body }),
      reading(),
    ])
    expect(answer.status).toBe(200)
    acknowledged = n
    await Promise.all([before, reading()])
  }
})

test('what is hidden or removed is in no list that was kept of it', async () => {
  const { here, there, owner, other } = await world()
  const titles = async (path: string, headers?: Record<string, string>) => {
    const { json } = await here.call('GET', path, headers ? { headers } : {})
    return json.ideas.map((one: { title: string }) => one.title)
  }
  const ids: string[] = []
  for (const title of ['a', 'b', 'c'])
    ids.push((await here.call('POST', IDEAS, { headers: owner, body: idea(title) })).json.id)
  const everybody = async () => [await titles(FEED), await titles(FEED, other), await titles(FEED, owner)]
  expect(await everybody()).toEqual([0, 1, 2].map(() => ['c', 'b', 'a']))
  await there.call('PATCH', `${IDEAS}/${ids[0]}`, { headers: owner, body: { visibility: 'private' } })
  await there.call('DELETE', `${IDEAS}/${ids[1]}`, { headers: owner })
  expect(await everybody()).toEqual([0, 1, 2].map(() => ['c']))
  expect(await titles(IDEAS, owner)).toEqual(['c', 'a'])
  expect(await titles(IDEAS, other)).toEqual([])
  expect((await here.call('GET', `${IDEAS}/${ids[0]}`, { headers: other })).status).toBe(404)
})

test('a text that was kept of somebody opens to nobody else, nor to a credential that ended or cannot reach it', async () => {
  const { here, owner, other } = await world()
  const { id } = (await here.call('POST', ALERTS, { headers: owner, body: { ...ALERT, price: 1 } })).json
  const reads = await here.token(owner, ['alerts:read'])
  const cannot = await here.token(owner, ['ideas:read'])
  const [token] = (await here.call('GET', '/api/platform/tokens', { headers: owner })).json.tokens.filter(
    ({ scopes }: { scopes: string[] }) => scopes.includes('alerts:read'),
  )
  for (let round = 0; round < 2; round++) {
    expect((await here.call('GET', ALERTS, { headers: owner })).json.alerts).toHaveLength(1)
    expect((await here.call('GET', ALERTS, { headers: reads })).json.alerts).toHaveLength(1)
    expect((await here.call('GET', `${ALERTS}/${id}`, { headers: reads })).status).toBe(200)
    expect((await here.call('GET', ALERTS, { headers: other })).json.alerts).toEqual([])
    expect((await here.call('GET', `${ALERTS}/${id}`, { headers: other })).status).toBe(404)
    expect((await here.call('GET', ALERTS, { headers: cannot })).status).toBe(403)
    expect((await here.call('GET', ALERTS)).status).toBe(401)
  }
  await here.call('DELETE', `/api/platform/tokens?id=${token.id}`, { headers: owner })
  expect((await here.call('GET', ALERTS, { headers: reads })).status).toBe(401)
  await here.call('DELETE', `${ALERTS}/${id}`, { headers: owner })
  expect((await here.call('GET', ALERTS, { headers: owner })).json.alerts).toEqual([])
  expect((await here.call('GET', `${ALERTS}/${id}`, { headers: owner })).status).toBe(404)
})

test('bars that were kept are those of the series the reader sees now', async () => {
  const { here, owner, other } = await world()
  const count = async (headers: Record<string, string>, limit = '') =>
    (await here.call('GET', BARS + limit, { headers })).json.bars.time.length as number
  const add = (headers: Record<string, string>, bars: number) =>
    here.call('POST', BARS.replace('?', '/import?'), {
      headers: { ...headers, 'content-type': 'text/csv' },
      body: barCsv(bars),
    })
  await add(owner, 10)
  expect([await count(owner), await count(other), await count(other)]).toEqual([10, 10, 10])
  expect(await count(other, '&limit=3')).toBe(3)
  await add(other, 4)
  expect([await count(owner), await count(other)]).toEqual([10, 4])
  await add(owner, 12)
  expect([await count(owner), await count(other)]).toEqual([12, 4])
  await here.call('DELETE', BARS, { headers: other })
  expect(await count(other)).toBe(12)
})
