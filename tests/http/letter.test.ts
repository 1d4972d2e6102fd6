// The letter of what the API promises, where it is easily missed: nouns, ids, blank texts, and texts of every alphabet.

import { describe, expect, test } from 'bun:test'
import { MARKET_NAME_MAX } from '../../src/lib/text.ts'
import { barCsv } from '../bar-csv.ts'
import { testServer } from './server.ts'

const { call, signUp } = testServer()
const headers = await signUp()
const send = (method: string, path: string, body: unknown) => call(method, path, { headers, body })
const post = (path: string, body: unknown) => send('POST', `/api/platform${path}`, body)

describe('a create carries its object under its noun, and an id', () => {
  test('a backtest', async () => {
    await call('POST', '/api/platform/bars/import?exchange=E&symbol=S&interval=1h', {
      headers: { ...headers, 'content-type': 'text/csv' },
      body: barCsv(20),
    })
    const body = { name: 'n', symbol: 'S', exchange: 'E', interval: '1h', bars: 9, source: 'strategy("x")' }
    const { json } = await post('/backtests', body)
    expect(json.backtest).toMatchObject({ id: json.id, name: 'n', state: 'done' })
    const later = await call('POST', '/api/platform/backtests', {
      headers: { ...headers, prefer: 'respond-async' },
      body,
    })
    expect([later.status, later.json.backtest]).toMatchObject([202, { id: later.json.id, state: 'queued' }])
  })
  test('a cursor and a bookmark, the same when they are saved again', async () => {
    const cursor = {
      symbol: 'S',
      interval: '1h',
      cursorBar: 1,
      speed: 1,
      start: '2026-01-01T00:00:00Z',
      end: '2026-01-02T00:00:00Z',
    }
    const first = await post('/replay/resume', cursor)
    const again = await post('/replay/resume', { ...cursor, cursorBar: 2 })
    expect(first.json.id).toMatch(/^cur_\w{26}$/)
    expect([first.json.cursor.id, again.json.id]).toEqual([first.json.id, first.json.id])
    const mark = (bar: number) => post(`/replay/bookmarks?symbol=S&interval=1h&bar=${bar}`, {})
    const marks = [await mark(1), await mark(1), await mark(2)].map(({ json }) => json.id as string)
    expect(marks[0]).toMatch(/^bm_\w{26}$/)
    expect([new Set(marks).size, marks[0] === marks[1]]).toEqual([2, true])
  })
})

test.each(['', '%20', '%E3%80%80%09'])('a blank query (%p) is refused', async (q) => {
  const { status, json } = await call('GET', `/api/search?q=${q}`)
  expect([status, json.error.fields[0]]).toMatchObject([422, { in: 'query', path: '/q' }])
})

const idea = { title: 't', body: '', visibility: 'private' }
const list = { name: 'n', items: [] as unknown[] }
const alert = {
  symbol: 'S',
  exchange: 'E',
  interval: '1h',
  kind: 'price',
  op: 'above',
  price: 1,
  channels: ['email'],
}
test('the longest name of a market is taken wherever one is, and one letter more nowhere', async () => {
  const askAll = async (name: string) => {
    const series = { exchange: name, symbol: name, interval: '1h' }
    const query = new URLSearchParams(series).toString()
    const csv = { headers: { ...headers, 'content-type': 'text/csv' }, body: barCsv(20) }
    const cursor = { ...series, cursorBar: 1, speed: 1, start: '2026-01-01', end: '2026-01-02' }
    const answers = [await call('POST', `/api/platform/bars/import?${query}`, csv)]
    for (const [path, body] of [
      ['/backtests', { ...series, name: 'n', bars: 9, source: 'strategy("x")' }],
      ['/alerts', { ...alert, ...series }],
      ['/ideas', { ...idea, ...series }],
      ['/watchlists/import', { ...list, items: [{ symbol: `${name}:${name}` }] }],
      ['/watchlists/import', { ...list, items: [series] }],
      ['/replay/resume', cursor],
    ] as const)
      answers.push(await post(path, body))
    for (const path of ['/bars', '/replay'])
      answers.push(await call('GET', `/api/platform${path}?${query}`, { headers }))
    const place = new URLSearchParams({ symbol: name, interval: '1h' }).toString()
    for (const path of ['/replay/resume', '/replay/bookmarks'])
      answers.push(await call('GET', `/api/platform${path}?${place}`, { headers }))
    const path = `/api/platform/symbols/${encodeURIComponent(name)}/${encodeURIComponent(name)}`
    answers.push(await send('PUT', path, {}))
    return answers.map(({ status }) => status)
  }
  const longest = '𝒳'.repeat(MARKET_NAME_MAX)
  expect(new Set(await askAll(longest))).toEqual(new Set([200]))
  expect(new Set(await askAll(`${longest}y`))).toEqual(new Set([422]))
})

test('a parameter that the address does not know is refused by its name', async () => {
  const { status, json } = await call('GET', '/api/platform/alerts?limt=5', { headers })
  expect([status, json.error.message]).toEqual([422, 'query /limt: is no parameter of this address'])
})

/** Field, path of the create, a body that is fine, and the same with another text in the field. */
const FIELDS = [
  ['/title', '/ideas', (text: string) => ({ ...idea, title: text })],
  ['/tags/0', '/ideas', (text: string) => ({ ...idea, tags: [text] })],
  ['/symbol', '/ideas', (text: string) => ({ ...idea, symbol: text })],
  ['/name', '/scripts', (text: string) => ({ name: text, source: '' })],
  ['/name', '/watchlists/import', (text: string) => ({ ...list, name: text })],
  ['/items/0/symbol', '/watchlists/import', (text: string) => ({ ...list, items: [{ symbol: text }] })],
  ['/name', '/alerts', (text: string) => ({ ...alert, name: text })],
  ['/symbol', '/alerts', (text: string) => ({ ...alert, symbol: text })],
  [
    '/name',
    '/webhooks',
    (text: string) => ({ name: text, url: 'https://e.example/', events: ['alert.triggered'] }),
  ],
] as const
const BAD = [
  ['NUL', 'a\0b'],
  ['a line break', 'a\nb'],
  ['an escape', 'a\u001b[31mb'],
  ['half of a surrogate pair', 'a\ud800b'],
  ['too much', '🐎'.repeat(300)],
] as const

describe.each(FIELDS)('%s of %s', (field, path, body) => {
  test.each(BAD)('does not take %s', async (_name, text) => {
    // What JSON.stringify would mend is sent as somebody would write it.
    const json = JSON.stringify(body(text)).replace('\ud800', '\\ud800')
    const answer = await post(path, json)
    expect([answer.status, answer.json.error.fields?.[0]?.path]).toEqual([422, field])
    expect(answer.text).not.toContain('🐎')
  })
})

test('names are kept composed, whichever way they came', async () => {
  const decomposed = 'Cafe\u0301'
  const made = await post('/scripts', { name: decomposed, source: '' })
  const changed = await send('PATCH', `/api/platform/scripts/${made.json.id}`, { name: `${decomposed} 2` })
  expect([made.json.script.name, changed.json.script.name]).toEqual(['Café', 'Café 2'])
  const tagged = await post('/ideas', { ...idea, tags: [decomposed, 'CAFÉ'], symbol: 'e\u0301' })
  expect([tagged.json.idea.tags, tagged.json.idea.symbol]).toEqual([['café'], 'É'])
  const find = async (q: string) =>
    (await call('GET', `/api/search?q=${encodeURIComponent(q)}&type=script`, { headers })).json.results.length
  expect([await find('Café'), await find(decomposed)]).toEqual([1, 1])
})

test('texts are measured in characters', async () => {
  const names = ['🐎'.repeat(200), '🐎'.repeat(201)]
  const statuses = await Promise.all(
    names.map(async (name) => (await post('/scripts', { name, source: '' })).status),
  )
  expect(statuses).toEqual([200, 422])
  const notes = await post('/watchlists/import', {
    ...list,
    items: [{ symbol: 'S', note: '🐎'.repeat(1000) }],
  })
  expect(notes.status).toBe(200)
})

test('a snippet of search is never half a character', async () => {
  const body = `${'🐎'.repeat(60)} needle ${'🐎'.repeat(300)}`
  await post('/ideas', { ...idea, title: 'horses', body })
  const { text, json } = await call('GET', '/api/search?q=needle', { headers })
  expect(json.results).toHaveLength(1)
  expect([text.isWellFormed(), text.includes('\\ud83d')]).toEqual([true, false])
})

test('notes and messages keep their lines', async () => {
  const made = await post('/alerts', { ...alert, message: 'one\ntwo' })
  expect(made.json.alert.message).toBe('one\ntwo')
})
