// Makes a data directory with everything a user can have, by the executable of a version, for the tests of later ones:
//
//     bun tests/store/make-old-data.ts EXECUTABLE
//
// A folder `version-X.Y.Z` is written beside this file: the database, its key, and what that version answered about it. Done
// once for each version that people can have, at its release.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Place, type Server } from '../executable/server.ts'

const OWNER = { name: 'Ольга 🦉', email: 'owner@example.com', password: 'correct horse battery' }
const MARKET = { exchange: 'ACME', symbol: 'ОЛД' }
const SERIES = { ...MARKET, interval: '1h' }
const BARS = 400
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

const [file = ''] = process.argv.slice(2)
const place = new Place('executable', {}, file)
const { out } = await place.run('--version')
const version = /\d+\.\d+\.\d+/.exec(out)?.[0] ?? ''
const data = `${place.folder}/data`
const server = await place.serve('--data-dir', data)
const told = await recorded(server)

const folder = `${import.meta.dir}/version-${version}`
mkdirSync(folder)
const packed = (bytes: Uint8Array) => Bun.zstdCompressSync(bytes, { level: 19 })
writeFileSync(`${folder}/data.mdb.zst`, packed(readFileSync(`${data}/db/data.mdb`)))
writeFileSync(`${folder}/answers.json.zst`, packed(Buffer.from(JSON.stringify({ owner: OWNER, ...told }))))
copyFileSync(`${data}/instance.key`, `${folder}/instance.key`)
place.remove()

async function recorded(from: Server) {
  try {
    const { paths, token } = await fill(from)
    const answers: Record<string, { readonly status: number; readonly json: unknown }> = {}
    for (const path of paths) {
      const { status, json } = await from.call('GET', path)
      if (status !== 200) throw new Error(`${path} answered ${status}`)
      answers[path] = { status, json: json as unknown }
    }
    return { token, answers }
  } finally {
    await from.stop()
  }
}

/** Answers a token of the owner, and the addresses to ask later. */
async function fill(to: Server): Promise<{ token: string; paths: string[] }> {
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
      .concat('/api/support/tickets', `/api/search?q=${encodeURIComponent('кросс')}`),
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

function csv(from: number, count: number): string {
  const rows = Array.from({ length: count }, (_, i) => {
    const at = from + i
    const close = 100 + 5 * Math.sin(at / 7)
    return [Date.UTC(2024, 0, 1) + at * 3_600_000, close, close + 1, close - 1, close, 5 + (at % 3)].join(',')
  })
  return `time,open,high,low,close,volume\n${rows.join('\n')}\n`
}
