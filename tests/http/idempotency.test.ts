// An Idempotency-Key makes one thing, whatever happens on the way.
//
// The server is stopped dead in front of every single commit of a request, one after the other: nothing it writes from
// then on arrives. Another server starts on what there is, and is sent the same request again.

import { beforeAll, describe, expect, test } from 'bun:test'
import { BarCache } from '../../src/market/bar-cache.ts'
import { bridgeOrders, bridges } from '../../src/notify/bridges/bridge.ts'
import type { Kv } from '../../src/store/kv.ts'
import { testBars, testKv } from '../store/test-store.ts'
import { testServer } from './server.ts'

const BACKTEST = { name: 'mine', symbol: 'abc', interval: '1d', exchange: 'x', bars: 5, source: 'sum' }
const HOOK = { name: 'mine', url: 'https://hooks.example/in', events: ['backtest.reportReady'] }

interface Scenario {
  readonly name: string
  readonly route: string
  /** Fills the `:id` of the path, or of the body. */
  readonly before?: (world: World) => Promise<string>
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** Keys of what it makes: one more of them afterwards. */
  readonly made: readonly string[]
}

const makeWebhook = async ({ call, cookie }: World) =>
  (await call('POST', '/api/platform/webhooks', { body: HOOK, headers: cookie })).json.id as string
async function makeDelivery(world: World) {
  const id = await makeWebhook(world)
  const path = `/api/platform/webhooks/${id}/test`
  return (await world.call('POST', path, { headers: world.cookie })).json.id as string
}

const NTFY = { name: 'phone', kind: 'ntfy', settings: { topic: 'mine' } }
const makeChannel = async ({ call, cookie }: World) =>
  (await call('POST', '/api/platform/channels', { body: NTFY, headers: cookie })).json.id as string
async function makeNotification(world: World) {
  const path = `/api/platform/channels/${await makeChannel(world)}/test`
  return (await world.call('POST', path, { headers: world.cookie })).json.id as string
}

const ALERT = {
  symbol: 'ABC',
  exchange: 'X',
  interval: '1d',
  kind: 'price',
  op: 'above',
  price: 5,
  channels: ['email'],
}
const BRIDGE = { name: 'mine', template: 'generic', url: 'https://hooks.example/in', side: 'buy', qty: 1 }
const makeAlert = async ({ call, cookie }: World) =>
  (await call('POST', '/api/platform/alerts', { body: ALERT, headers: cookie })).json.id as string
async function makeBridge(world: World) {
  const body = { ...BRIDGE, sourceId: await makeAlert(world) }
  return (await world.call('POST', '/api/platform/bridges', { body, headers: world.cookie })).json
    .id as string
}
/** Of a bridge that is live, whose order came too late. */
async function makeLateOrder(world: World) {
  const id = await makeBridge(world)
  const { kv } = world.services
  const { json } = await world.call('POST', `/api/platform/bridges/${id}/test`, { headers: world.cookie })
  await bridges(kv).update(id, (bridge) => ({ ...bridge, dryRun: false, goal: 1, expected: 1 }))
  const late = { state: 'failed', reason: 'late', side: 'buy', qty: 1, goal: 1 } as const
  await bridgeOrders(kv).update(String(json.id), (order) => ({ ...order, ...late }))
  return json.id as string
}

const MAKING: readonly Scenario[] = [
  {
    name: 'an alert',
    route: '/api/platform/alerts',
    body: ALERT,
    made: ['alerts', 'id'],
  },
  {
    name: 'a backtest that is waited for',
    route: '/api/platform/backtests',
    body: BACKTEST,
    made: ['backtests', 'id'],
  },
  {
    name: 'a backtest that is not waited for',
    route: '/api/platform/backtests',
    body: BACKTEST,
    headers: { prefer: 'respond-async' },
    made: ['backtests', 'id'],
  },
  {
    name: 'a sweep',
    route: '/api/platform/sweeps',
    body: { ...BACKTEST, space: [{ input: 'Length', values: [1, 2] }] },
    made: ['sweeps', 'id'],
  },
  {
    name: 'a portfolio',
    route: '/api/platform/portfolios',
    body: { name: 'mine', parts: [{ ...BACKTEST, source: '//@version=6\nstrategy("mine")' }] },
    made: ['portfolios', 'id'],
  },
  {
    name: 'a forward run',
    route: '/api/platform/forward-runs',
    body: { ...BACKTEST, source: '//@version=6\nstrategy("mine")', bars: undefined },
    made: ['forward-runs', 'id'],
  },
  {
    name: 'a scan',
    route: '/api/platform/scans',
    body: {
      name: 'mine',
      interval: '1d',
      bars: 10,
      source: '//@version=6\nindicator("x")\nplot(close)',
      symbols: [{ exchange: 'X', symbol: 'ABC' }],
    },
    made: ['scans', 'id'],
  },
  {
    name: 'an idea',
    route: '/api/platform/ideas',
    body: { title: 'Golden cross', body: 'A bold claim.', tags: [], visibility: 'public', extra: 1 },
    made: ['ideas', 'id'],
  },
  {
    name: 'a script',
    route: '/api/platform/scripts',
    body: { name: 'mine', source: '//@version=6\nindicator("x")\nplot(close)' },
    made: ['scripts', 'id'],
  },
  {
    name: 'a watchlist',
    route: '/api/platform/watchlists/import',
    body: { name: 'mine', items: [{ exchange: 'X', symbol: 'ABC' }] },
    made: ['watchlists', 'id'],
  },
  {
    name: 'a layout',
    route: '/api/platform/layouts',
    body: {
      name: 'mine',
      chart: {
        exchange: 'X',
        symbol: 'ABC',
        interval: '1d',
        type: 'candles',
        scale: 'linear',
        volume: true,
        trades: true,
        scriptId: null,
        studies: [],
      },
    },
    made: ['layouts', 'id'],
  },
  { name: 'a token', route: '/api/platform/tokens', body: { name: 'bot' }, made: ['tokens', 'id'] },
  { name: 'an invitation', route: '/api/auth/invitations', made: ['invitations', 'id'] },
  { name: 'a webhook', route: '/api/platform/webhooks', body: HOOK, made: ['webhooks', 'id'] },
  {
    name: 'a test of a webhook',
    route: '/api/platform/webhooks/:id/test',
    before: makeWebhook,
    made: ['deliveries', 'id'],
  },
  {
    name: 'a delivery sent again',
    route: '/api/platform/webhooks/deliveries/:id/resend',
    before: makeDelivery,
    made: ['deliveries', 'id'],
  },
  {
    name: 'a new secret of a webhook',
    route: '/api/platform/webhooks/:id/rotate',
    before: makeWebhook,
    made: [],
  },
  {
    name: 'a bridge',
    route: '/api/platform/bridges',
    before: makeAlert,
    body: { ...BRIDGE, sourceId: ':id' },
    made: ['bridges', 'id'],
  },
  {
    name: 'a test of a bridge',
    route: '/api/platform/bridges/:id/test',
    before: makeBridge,
    made: ['bridge-orders', 'id'],
  },
  {
    name: 'an order sent again',
    route: '/api/platform/bridges/orders/:id/resend',
    before: makeLateOrder,
    made: [],
  },
  {
    name: 'an inbox',
    route: '/api/platform/inboxes',
    body: { name: 'TradingView' },
    made: ['inboxes', 'id'],
  },
  { name: 'a channel', route: '/api/platform/channels', body: NTFY, made: ['channels', 'id'] },
  {
    name: 'a test of a channel',
    route: '/api/platform/channels/:id/test',
    before: makeChannel,
    made: ['notifications', 'id'],
  },
  {
    name: 'a notification sent again',
    route: '/api/platform/channels/notifications/:id/resend',
    before: makeNotification,
    made: ['notifications', 'id'],
  },
  {
    name: 'a ticket',
    route: '/api/support/contact',
    body: { email: 'a@b.co', subject: 'Help', body: 'Please.' },
    made: ['tickets', 'id'],
  },
  { name: 'a report of an error', route: '/api/errors', body: { message: 'oh' }, made: ['errors', 'id'] },
]

/** These read, or leave the same behind however often they are sent. */
const SAME_AGAIN = [
  '/api/platform/backtests/preview',
  '/api/platform/backtests/:id/replay',
  '/api/platform/backtests/:id/judge',
  '/api/platform/backtests/:id/verify',
  '/api/platform/backtests/:id/repaint',
  '/api/platform/backtests/:id/compare',
  '/api/platform/sweeps/:id/cancel',
  '/api/platform/sweeps/:id/resume',
  '/api/platform/portfolios/:id/cancel',
  '/api/platform/forward-runs/:id/stop',
  '/api/platform/scans/:id/cancel',
  '/api/platform/scans/:id/run',
  '/api/platform/scripts/check',
  '/api/platform/scripts/format',
  '/api/platform/scripts/libraries',
  '/api/platform/replay/resume',
  '/api/platform/replay/bookmarks',
  '/api/platform/bars/fetch',
  '/api/platform/bars/share',
  '/api/platform/feeds',
  '/api/platform/symbols/lists',
  '/api/platform/webhooks/:id/rotate/confirm',
  '/api/support/chat',
  '/api/links/show',
  '/api/links/follow',
  '/api/platform/alerts/firings/:id/acknowledge',
]
/** These are not kept: they set cookies, read their body as it comes, have no caller, or use up a ticket. */
const NOT_KEPT = [
  '/api/hooks/:secret',
  '/api/auth/sign-up',
  '/api/auth/sign-in',
  '/api/auth/sign-out',
  '/api/auth/password',
  '/api/auth/openid/start',
  '/api/auth/openid/sign-in',
  '/api/auth/openid/backchannel-logout',
  '/api/auth/identities/start',
  '/api/auth/identities',
  '/api/auth/passkeys/start',
  '/api/auth/passkeys',
  '/api/auth/passkey/start',
  '/api/auth/passkey/sign-in',
  '/api/platform/bars/import',
  '/api/platform/bars/inspect',
  '/api/platform/import',
]

test('every POST is one of those told of here', () => {
  const { app } = testServer()
  const posts = app.routes.filter(({ method }) => method === 'POST').map(({ path }) => path)
  const known = [...MAKING.map(({ route }) => route), ...SAME_AGAIN, ...NOT_KEPT]
  expect(posts.toSorted()).toEqual([...new Set(known)].toSorted())
})

describe('a server that dies on the way to making', () => {
  beforeAll(importBars)
  test.each(MAKING.map((scenario) => [scenario.name, scenario] as const))('%s', async (_name, scenario) => {
    let survived = false
    for (let commits = 0; !survived; commits++) {
      expect(commits).toBeLessThan(20)
      survived = await dyingBefore(commits, scenario)
    }
  })
})

/** Dies in front of the commit number `commits`; answers whether the request was through before that. */
async function dyingBefore(commits: number, { route, before, body, headers, made }: Scenario) {
  const disk = testKv()
  const mortal = mortalKv(disk)
  const first = testServer(undefined, { kv: mortal, bars: new BarCache(BARS) })
  const cookie = await first.signUp()
  const id = (await before?.({ ...first, cookie })) ?? ''
  const things = async () => (await disk.list({ prefix: made }, { limit: 100 })).length
  const call = {
    ...(body && { body: JSON.parse(JSON.stringify(body).replace(':id', id)) as object }),
    headers: { ...cookie, ...headers, 'idempotency-key': 'k' },
  }
  const had = made.length > 0 ? await things() : 0

  mortal.dieAfter(commits)
  const path = route.replace(':id', id)
  const answer = await first.call('POST', path, call)
  await Bun.sleep(0)
  const survived = answer.status < 300
  const second = testServer(undefined, { kv: disk, seed: commits + 2, bars: new BarCache(BARS) })
  const again = await second.call('POST', path, call)
  expect([again.status, again.json.ok]).toEqual([headers?.['prefer'] ? 202 : 200, true])
  if (made.length > 0) expect(await things()).toBe(had + 1)
  if (survived) {
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.json).toEqual(answer.json)
  }
  const third = await second.call('POST', path, call)
  expect([third.headers.get('idempotent-replayed'), third.json]).toEqual(['true', again.json])
  if (made[0] === 'errors') expect((await disk.get([...made, again.json.id]))?.value).toContain('"count":1')
  first.pool.close()
  second.pool.close()
  return survived && !mortal.dead
}

type World = Pick<ReturnType<typeof testServer>, 'call' | 'services'> & {
  readonly cookie: { readonly cookie: string }
}

/** They are imported once: a thread that reads them costs more than all that is tested here. */
const BARS = testBars()

async function importBars(): Promise<void> {
  const { call, signUp, pool } = testServer(undefined, { bars: new BarCache(BARS) })
  const rows = Array.from({ length: 5 }, (_, i) => `${Date.UTC(2024, 0, 1 + i)},10,12,9,11,5`)
  await call('POST', '/api/platform/bars/import?symbol=abc&exchange=x&interval=1d', {
    body: ['time,open,high,low,close,volume', ...rows].join('\n'),
    headers: { ...(await signUp()), 'content-type': 'text/csv' },
  })
  pool.close()
}

/** A store whose process dies: of the commits after `dieAfter(n)` the first n arrive. */
function mortalKv(kv: Kv) {
  let left = Number.POSITIVE_INFINITY
  const mortal = {
    ...kv,
    dead: false,
    dieAfter(commits: number) {
      left = commits
    },
    commit(commit: Parameters<Kv['commit']>[0]) {
      if (left-- > 0) return kv.commit(commit)
      mortal.dead = true
      return Promise.reject(new Error('the process is gone'))
    },
  }
  return mortal
}
