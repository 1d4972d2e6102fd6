// Everything that a user can have, made through the API of a server: for the data directories of versions, and for copies.

import type { Server } from '../executable/server.ts'
import { SoftPasskey } from '../http/soft-passkey.ts'

export const OWNER = { name: 'Ольга 🦉', email: 'owner@example.com', password: 'correct horse battery' }
const MARKET = { exchange: 'ACME', symbol: 'ОЛД' }
const SERIES = { ...MARKET, interval: '1h' }
const BARS = 400
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STRATEGY = `//@version=6
strategy("Кросс", overlay = true)
length = input.int(5, "Length")
average = ta.sma(close, length)
plot(average)
if ta.crossover(close, average)
    strategy.entry("Long", strategy.long)
if ta.crossunder(close, average)
    strategy.close("Long")
`
const INDICATOR =
  '//@version=6\nindicator("Высота")\nplot(close, "Last")\nalertcondition(close > 104, "Up")\n'

/** Answers a token of the owner, and the addresses to ask later. */
export async function everything(to: Server): Promise<{ token: string; paths: string[] }> {
  const signedUp = await to.call('POST', '/api/auth/sign-up', OWNER)
  to.headers = { cookie: /^[^;]+/.exec(signedUp.headers.get('set-cookie') ?? '')?.[0] ?? '' }
  const make = async (path: string, body: object, method = 'POST') => {
    const answer = await to.call(method, `/api/platform${path}`, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.json as { readonly id: string; readonly secret?: string; readonly path?: string }
  }
  const query = new URLSearchParams(SERIES).toString()
  await to.importCsv(query, csv(0, BARS - 10))
  await make(
    `/symbols/${encodeURIComponent(MARKET.exchange)}/${encodeURIComponent(MARKET.symbol)}`,
    { mintick: 0.5 },
    'PUT',
  )

  const script = await make('/scripts', { name: 'Кросс', source: STRATEGY })
  await make(`/scripts/${script.id}`, { source: `${STRATEGY}plot(close)\n` }, 'PATCH')
  const channel = await make('/channels', {
    name: 'Телефон',
    kind: 'ntfy',
    settings: { topic: 'mine', token: 'tk_secret', server: 'https://93.184.216.34' },
  })
  const inbox = await make('/inboxes', { name: 'TradingView', channelIds: [channel.id] })
  await to.call('POST', inbox.path ?? '', 'BTCUSDT пересёк 100')
  const alert = await make('/alerts', {
    ...SERIES,
    kind: 'price',
    op: 'above',
    price: 101,
    channels: ['email'],
    channelIds: [channel.id],
  })
  const scripted = await make('/alerts', {
    ...SERIES,
    kind: 'strategy',
    scriptId: script.id,
    channels: ['webhook'],
  })
  const webhook = await make('/webhooks', {
    name: 'Бот',
    url: 'https://93.184.216.34/in',
    events: ['backtest.reportReady'],
  })
  await to.importCsv(query, csv(BARS - 10, 10))
  await until(to, `/alerts/${alert.id}/firings`, ({ firings }) => (firings as unknown[]).length > 0)

  const job = { ...SERIES, bars: BARS, source: STRATEGY }
  const run = await make('/backtests', { ...job, name: 'Кросс', inputs: { Length: 8 } })
  const idea = await make('/ideas', {
    title: 'Идея',
    body: 'Выше **всех**.',
    tags: ['тест'],
    visibility: 'public',
  })
  await make('/ideas', { title: 'Тайна', body: 'Сама по себе.', tags: [], visibility: 'private' })
  const watchlist = await make('/watchlists/import', { name: 'Список', items: [MARKET] })
  const study = {
    id: 's1',
    name: 'Высота',
    shortName: 'В',
    source: INDICATOR,
    from: `script:${script.id}`,
    inputs: {},
    hidden: false,
    intervals: ['1h'],
    plots: { Last: { color: '#ff0000', width: 2 } },
  }
  const chart = {
    ...SERIES,
    type: 'candles',
    scale: 'log',
    volume: true,
    trades: true,
    scriptId: null,
    studies: [study],
  }
  const layout = await make('/layouts', { name: 'Утро', chart })
  const points = [
    { time: Date.UTC(2024, 0, 2), price: 100 },
    { time: Date.UTC(2024, 0, 3), price: 103.5 },
  ]
  const line = { id: 'a', tool: 'trend-line', points, style: { color: '#2962ff', lineWidth: 2 } }
  await make('/drawings', { ...MARKET, put: [line] }, 'PATCH')
  const sweep = await make('/sweeps', {
    ...job,
    name: 'Перебор',
    space: [{ input: 'Length', min: 3, max: 12, step: 1 }],
  })
  const portfolio = await make('/portfolios', {
    name: 'Два',
    parts: [
      { ...job, name: 'Первая' },
      { ...job, name: 'Вторая', inputs: { Length: 9 } },
    ],
  })
  const scan = await make('/scans', {
    name: 'Все',
    interval: '1h',
    bars: BARS,
    source: INDICATOR,
    symbols: [MARKET],
  })
  for (const [noun, { id }] of Object.entries({ sweep, portfolio, scan }))
    await until(to, `/${noun}s/${id}`, (json) =>
      ['done', 'failed'].includes((json[noun] as { state: string }).state),
    )
  const range = { ...SERIES, start: '2024-01-05T00:00:00.000Z', end: '2024-01-10T00:00:00.000Z' }
  await make('/replay/resume', { ...range, cursorBar: 50, speed: 2 })
  const seen = new URLSearchParams({ symbol: MARKET.symbol, interval: SERIES.interval }).toString()
  await make(`/replay/bookmarks?${seen}&bar=50`, { note: 'Здесь' })
  const { secret = '' } = await make('/tokens', { name: 'бот', scopes: ['alerts:read'] })
  await to.call('POST', '/api/support/contact', { email: OWNER.email, subject: 'Вопрос', body: 'Как?' })
  const forward = await make('/forward-runs', { ...SERIES, name: 'Вперёд', source: STRATEGY, warmup: 100 })
  await to.importCsv(query, csv(BARS, 5))
  await until(
    to,
    `/forward-runs/${forward.id}`,
    ({ forwardRun }) => (forwardRun as { bars: number }).bars > 3,
  )
  const told = await make('/ideas', {
    title: 'С тестом',
    body: 'x',
    visibility: 'public',
    backtestId: run.id,
  })
  await make(`/ideas/${told.id}/snapshot`, {}, 'PUT')
  await to.call(
    'POST',
    '/api/platform/ideas',
    { title: 'Раз', body: 'x', visibility: 'private' },
    { 'idempotency-key': 'once and for all' },
  )
  for (const [symbol, from] of [
    ['ESH2025', 0],
    ['ESM2025', 40],
  ] as const)
    await to.importCsv(
      new URLSearchParams({ exchange: 'CME', symbol, interval: '1d' }).toString(),
      csv(from, 60, DAY),
    )
  for (const [interval, step] of Object.entries({ '1s': 1000, '1m': MINUTE, '1w': 7 * DAY, '1M': 31 * DAY }))
    await to.importCsv(
      new URLSearchParams({ ...MARKET, interval }).toString(),
      csv(0, interval === '1m' ? 9000 : 50, step),
    )
  await addPasskey(to)
  await addMember(to)
  await to.call('POST', '/api/errors', { message: 'Ошибка', stack: 'at x' })
  await to.call('GET', '/api/platform/channels/push-key')
  await make(`/channels/${channel.id}`, { status: 'disabled' }, 'PATCH')
  await make(`/webhooks/${webhook.id}`, { status: 'disabled' }, 'PATCH')
  const markets = new URLSearchParams(MARKET).toString()
  return {
    token: secret,
    paths: [
      `/bars?${query}`,
      `/symbols/${encodeURIComponent(MARKET.exchange)}/${encodeURIComponent(MARKET.symbol)}`,
      '/scripts',
      `/scripts/${script.id}`,
      `/scripts/${script.id}/revisions`,
      '/backtests',
      `/backtests/${run.id}`,
      `/backtests/${run.id}/tracks`,
      '/forward-runs',
      `/forward-runs/${forward.id}`,
      `/forward-runs/${forward.id}/orders`,
      `/ideas/${told.id}/snapshot`,
      '/bars/contracts?exchange=CME&symbol=ES1!&interval=1d',
      '/bars?exchange=CME&symbol=ES1!&interval=1d',
      '/symbols',
      '/alerts',
      `/alerts/${scripted.id}`,
      '/alerts/firings',
      '/ideas',
      `/ideas/${idea.id}`,
      '/watchlists',
      `/watchlists/${watchlist.id}`,
      '/webhooks',
      '/channels',
      `/channels/${channel.id}`,
      '/inboxes',
      `/inboxes/${inbox.id}/messages`,
      '/layouts',
      `/layouts/${layout.id}`,
      `/drawings?${markets}`,
      '/sweeps',
      `/sweeps/${sweep.id}`,
      `/sweeps/${sweep.id}/results`,
      '/portfolios',
      `/portfolios/${portfolio.id}`,
      `/portfolios/${portfolio.id}/parts/1`,
      '/scans',
      `/scans/${scan.id}`,
      `/scans/${scan.id}/results`,
      `/trials?of=${run.id}`,
      `/replay/resume?${seen}`,
      `/replay/bookmarks?${seen}`,
      `/replay?${seen}&start=${range.start}&end=${range.end}`,
      '/tokens',
    ]
      .map((path) => `/api/platform${path}`)
      .concat(
        '/api/auth/ways',
        '/api/auth/users',
        '/api/errors',
        '/api/support/tickets',
        `/api/search?q=${encodeURIComponent('кросс')}`,
      ),
  }
}

async function until(
  to: Server,
  path: string,
  isSo: (json: Record<string, unknown>) => boolean,
): Promise<void> {
  for (;;) {
    const { json } = await to.call('GET', `/api/platform${path}`)
    if (isSo(json as Record<string, unknown>)) return
    await Bun.sleep(50)
  }
}

/** Passkeys belong to a name, and the server was asked at a number. */
async function addPasskey(to: Server): Promise<void> {
  const host = { host: 'localhost' }
  const begun = await to.call('POST', '/api/auth/passkeys/start', { password: OWNER.password }, host)
  const credential = await (await SoftPasskey.make()).register(begun.json.options)
  const added = await to.call(
    'POST',
    '/api/auth/passkeys',
    { ticket: begun.json.ticket, name: 'Телефон', credential },
    host,
  )
  if (added.status !== 200) throw new Error(`no passkey: ${added.text}`)
}

/** Somebody who was invited and has bars of their own, and an invitation that nobody has used yet. */
async function addMember(to: Server): Promise<void> {
  const { json: invited } = await to.call('POST', '/api/auth/invitations', {})
  await to.call('POST', '/api/auth/invitations', {})
  const owner = to.headers
  to.headers = {}
  const member = { email: 'member@example.com', password: OWNER.password, invitation: invited.code as string }
  const signedUp = await to.call('POST', '/api/auth/sign-up', member)
  if (signedUp.status !== 200) throw new Error(`no member: ${signedUp.text}`)
  to.headers = { cookie: /^[^;]+/.exec(signedUp.headers.get('set-cookie') ?? '')?.[0] ?? '' }
  await to.importCsv(new URLSearchParams(SERIES).toString(), csv(0, 30))
  to.headers = owner
}

function csv(from: number, count: number, step = HOUR): string {
  const rows = Array.from({ length: count }, (_, i) => {
    const at = from + i
    const close = 100 + 5 * Math.sin(at / 7)
    return [Date.UTC(2024, 0, 1) + at * step, close, close + 1, close - 1, close, 5 + (at % 3)].join(',')
  })
  return `time,open,high,low,close,volume\n${rows.join('\n')}\n`
}
