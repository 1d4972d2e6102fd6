// A scope protects every private object wherever it is answered: each has a word of its own in it, and no answer to a
// token may hold a word whose scope the token lacks.

import { describe, expect, test } from 'bun:test'
import { RESOURCES, SCOPES, type Scope } from '../../src/wire/scopes.ts'
import { barCsv } from '../bar-csv.ts'
import { testServer, unlimited } from './server.ts'

type Resource = (typeof RESOURCES)[number]

const { call, signUp, token, app } = testServer(unlimited)
const owner = await signUp('owner@example.com')
const other = await signUp('other@example.com')

async function made(path: string, body: unknown, headers: Record<string, string> = owner): Promise<string> {
  const { status, text, json } = await call('POST', `/api/platform${path}`, { headers, body })
  if (status !== 200) throw new Error(`${path}: ${text}`)
  return String((json as { id?: string }).id)
}
const script = (name: string, visibility: string) => ({
  name,
  visibility,
  source: `//@version=6\nindicator("${name}")\nplot(close)`,
})
const idea = (title: string, visibility: string) => ({ title, body: title, visibility })

await call('POST', '/api/platform/bars/import?exchange=E&symbol=S&interval=1h', {
  headers: { ...owner, 'content-type': 'text/csv' },
  body: barCsv(50),
})
const ids = {
  scripts: await made('/scripts', script('zebrascript', 'private')),
  publicScript: await made('/scripts', script('pandascript', 'public')),
  ideas: await made('/ideas', idea('zebraidea', 'private')),
  unlisted: await made('/ideas', idea('lynxidea', 'unlisted')),
  publicIdea: await made('/ideas', idea('pandaidea', 'public')),
  watchlists: await made('/watchlists/import', { name: 'zebralist', items: [{ symbol: 'S', note: null }] }),
  alerts: await made('/alerts', {
    name: 'zebraalert',
    symbol: 'S',
    exchange: 'E',
    interval: '1h',
    kind: 'price',
    op: 'above',
    price: 1e9,
    channels: ['webhook'],
  }),
  webhooks: await made('/webhooks', {
    name: 'zebrahook',
    url: 'https://hook.example/',
    events: ['alert.triggered', 'backtest.reportReady'],
  }),
  fired: await made('/alerts', {
    name: 'zebraalert',
    symbol: 'S',
    exchange: 'E',
    interval: '1h',
    kind: 'price',
    op: 'above',
    price: 1,
    channels: ['webhook'],
  }),
  backtests: await made('/backtests', {
    name: 'zebratest',
    symbol: 'S',
    exchange: 'E',
    interval: '1h',
    bars: 50,
    source: '//@version=6\nstrategy("zebratest")',
  }),
}
await made('/replay/bookmarks?symbol=S&interval=1h&bar=3', { note: 'zebramark' })
const me = (await call('GET', '/api/auth/session', { headers: owner })).json.user.id as string

/** Word → what a token needs to be shown it. */
const WORDS: Readonly<Record<string, Resource>> = {
  zebrascript: 'scripts',
  zebraidea: 'ideas',
  zebralist: 'watchlists',
  zebraalert: 'alerts',
  zebrahook: 'webhooks',
  zebratest: 'backtests',
  zebramark: 'replay',
}
const PUBLIC = ['pandascript', 'pandaidea', 'lynxidea']
const wordsIn = (text: string) => Object.keys(WORDS).filter((word) => text.includes(word))
const allowed = (scopes: readonly Scope[]) =>
  Object.keys(WORDS).filter((word) => scopes.some((scope) => scope.startsWith(`${WORDS[word]}:`)))

/** All that reads: every GET with an object's own id where it takes one, and the POSTs that show what is stored. */
const reads = [
  ...(app.routes as unknown as { method: string; path: string; hooks: { detail?: { hide?: boolean } } }[])
    .filter(({ method, path }) => method === 'GET' && path.startsWith('/api/'))
    .filter(
      ({ path, hooks }) => !hooks.detail?.hide && !path.endsWith('/stream') && !path.endsWith('/events'),
    )
    .flatMap(({ path }) => urlsOf(path).map((url) => ['GET', url] as const)),
  ['POST', `/api/platform/backtests/${ids.backtests}/replay?exchange=E`] as const,
]

function urlsOf(path: string): string[] {
  const noun = path.split('/')[3] ?? ''
  const found = path.includes('/:')
    ? Object.values(ids).map((id) =>
        path.replace(/:id/, id).replace(':exchange', 'E').replace(':symbol', 'S'),
      )
    : [path.replace(/\/$/, '')]
  if (path.startsWith('/api/search'))
    return [...Object.keys(WORDS), ...PUBLIC].map((q) => `/api/search?q=${q}`)
  if (noun === 'replay')
    return found.map((url) => `${url}?symbol=S&interval=1h${url.endsWith('replay') ? `&userId=${me}` : ''}`)
  if (noun === 'bars') return found.map((url) => `${url}?exchange=E&symbol=S&interval=1h`)
  if (/(scripts|ideas)\/?$/.test(path)) return [...found, `${found[0]}?feed=public`, `${found[0]}?feed=mine`]
  return found
}

const tokens = await Promise.all(
  [...SCOPES.map((scope) => [scope]), ['replay:read', 'replay:write'] as const].map(
    async (scopes) => [scopes.join(' '), scopes as Scope[], await token(owner, scopes)] as const,
  ),
)

describe('whoever lacks the scope is not shown the object', () => {
  test.each(tokens)('a token with %s', async (_name, scopes, headers) => {
    for (const [method, url] of reads) {
      const { text } = await call(method, url, { headers })
      const shown = wordsIn(text)
        // The name of the script that an address asks for is not in an answer that refuses it.
        .filter((word) => !allowed(scopes).includes(word))
      expect([method, url, shown]).toEqual([method, url, []])
    }
  })
  test.each([
    ['nobody', {}],
    ['somebody else', other],
  ])('%s', async (_name, headers) => {
    for (const [method, url] of reads) {
      const { text } = await call(method, url, { headers })
      expect([method, url, wordsIn(text)]).toEqual([method, url, []])
    }
  })
})

test('the session is shown all of it, so that the words are there to be found', async () => {
  const texts = await Promise.all(
    reads.map(async ([method, url]) => (await call(method, url, { headers: owner })).text),
  )
  expect(wordsIn(texts.join('\n'))).toEqual(Object.keys(WORDS))
})

test('what is public, or unlisted and asked for by id, is for every token', async () => {
  for (const [, , headers] of tokens) {
    const paths = [`scripts/${ids.publicScript}`, `ideas/${ids.publicIdea}`, `ideas/${ids.unlisted}`]
    for (const path of paths) {
      const { status } = await call('GET', `/api/platform/${path}`, { headers })
      expect([path, status]).toEqual([path, 200])
    }
  }
})

test('a token finds private items of the kinds it may read', async () => {
  const headers = await token(owner, ['search:read', 'ideas:read'])
  const find = async (q: string) => (await call('GET', `/api/search?q=${q}`, { headers })).json.results.length
  expect([await find('zebraidea'), await find('zebrascript'), await find('pandascript')]).toEqual([1, 0, 1])
})

test('a search says what it left out for want of a scope', async () => {
  const search = async (scopes: readonly Scope[], type?: string) => {
    const url = `/api/search?q=pandascript${type ? `&type=${type}` : ''}`
    const { status, json, headers } = await call('GET', url, { headers: await token(owner, scopes) })
    const said = json.error ?? json.warnings?.[0]
    return [status, said?.code, said?.message, headers.get('www-authenticate')]
  }
  const kept = RESOURCES.filter((one) => /^(scripts|ideas|backtests|watchlists)$/.test(one))
  const all: Scope[] = ['search:read', ...kept.map((one) => `${one}:read` as const)]
  expect(await search(all)).toEqual([200, undefined, undefined, null])
  const warned = (scopes: string, kinds: string) => [
    200,
    'insufficient_scope',
    `The access token lacks ${scopes}. Of its user’s ${kinds} only what is public was searched.`,
    null,
  ]
  expect(await search(['search:read', 'ideas:read', 'watchlists:read'])).toEqual(
    warned('scripts:read, backtests:read', 'scripts, backtests'),
  )
  expect(await search(['search:read', 'ideas:read'], 'idea')).toEqual([200, undefined, undefined, null])
  expect(await search(['search:read'], 'idea')).toEqual(warned('ideas:read', 'ideas'))
  expect(await search(['ideas:read'], 'idea')).toEqual(warned('search:read', 'ideas'))
  // Everybody may search: who finds nothing is told why, and not refused.
  expect(await search(['search:read', 'ideas:read'], 'watchlist')).toEqual(
    warned('watchlists:read', 'watchlists'),
  )
  expect(await search(all, 'backtest')).toEqual([200, undefined, undefined, null])
  expect((await call('GET', '/api/search?q=a&type=backtest')).json).toEqual({
    ok: true,
    results: [],
    nextCursor: null,
  })
})

test('a token is not told whose it is', async () => {
  const [, , headers] = tokens[0] ?? []
  const { json } = await call('GET', '/api/auth/visitor', { headers: { ...headers } })
  expect(json.user).toBeNull()
})

test('an agent’s tools show what the token’s scopes reach', async () => {
  const use = async (headers: Record<string, string>, name: string, args: object) => {
    const { text } = await call('POST', '/mcp', {
      headers: { ...headers, accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    })
    return text
  }
  /** Every tool that shows what is kept, by every way there is. */
  const asked = [
    ...[
      'any',
      'scripts',
      'backtests',
      'followed',
      'alerts',
      'firings',
      'ideas',
      'watchlists',
      'webhooks',
    ].map((kind) => ['find', { kind, limit: 100 }] as const),
    ...Object.keys(WORDS).map((q) => ['find', { q }] as const),
    ...Object.values(ids).flatMap((id) => [
      ['read', { id, max_chars: 100_000 }] as const,
      ['read', { id, part: 'script' }] as const,
      ['run', { script: id }] as const,
      ['judge', { id }] as const,
      ['explain_difference', { kind: 'backtests', id, other: id }] as const,
    ]),
    ['run', { script: 'zebrascript' }] as const,
    ['call_operation', { name: 'GET /api/platform/scripts' }] as const,
    [
      'call_operation',
      { name: 'GET /api/platform/replay/bookmarks', query: { symbol: 'S', interval: '1h' } },
    ] as const,
  ]
  const shown = new Set<string>()
  for (const [, scopes, headers] of tokens)
    for (const [name, args] of asked) {
      const words = wordsIn(await use({ ...headers }, name, args)).filter(
        // What is not found is named as it was asked for.
        (word) => !JSON.stringify(args).includes(word),
      )
      for (const word of words) shown.add(word)
      expect([name, args, scopes, words.filter((word) => !allowed(scopes).includes(word))]).toEqual([
        name,
        args,
        scopes,
        [],
      ])
    }
  expect([...shown].toSorted()).toEqual([
    'zebraalert',
    'zebrahook',
    'zebraidea',
    'zebralist',
    'zebramark',
    'zebrascript',
    'zebratest',
  ])
})
