// What requests cost the server in time of its processor, beside a bare route and other versions of it:
//
//     bun run bench http                       this source
//     bun run bench http OTHER … --rounds 20   beside the executables or source folders OTHER
//     bun run bench http --only alert          rows whose name has the word
//     bun run bench http --clients 16          so many requests at a time, which share the costs of waking up
//
// A round asks each server the same in turn; what counts is the median over the rounds, in µs of the process a request (all of
// its threads), and how it stands to the last one named. Unlike time by the clock that hardly moves on a busy machine. Linux only.
//
// The limit is an Elysia route that answers the very bytes from memory, and `of the limit` how much of our time it takes.
// Every server is warmed up first, as one is that is in use: until a thousand or two requests of a kind have come, most of a
// request's time goes into making machine code.
//
// Rows that ask for the same again are answered from kept texts; those that ask for other things each time are not, neither
// while they are measured nor while the server is warmed up for them.
// Nobody is asked to compress, but in the row that says so.

import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { noteRow } from '../bench-rows.ts'
import { median, roundsOf, spentMs, startServer, type BenchServer } from './bench-server.ts'
import { csvOf } from './server.ts'

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    clients: { type: 'string', default: '1' },
  },
})
const here = `${import.meta.dir}/../..`
const rounds = roundsOf(values.rounds)
const clients = Number(values.clients)
const LIMIT = 'limit'
/** Requests of a row. */
const WARM_UP = 2000
/** So many other pages the server is warmed up with: more than it keeps, so that each is made again when its turn comes. */
const OTHERS = 300
const OTHER_ROUND = 20

interface Running extends Omit<BenchServer, 'folder'> {
  readonly alert: string
  /** Ids, the newest last. */
  readonly ideas: readonly string[]
  /** null = it has none. */
  readonly folder: string | null
}

interface Row {
  readonly name: string
  readonly requests: number
  readonly ask: (server: Running, i: number) => Promise<Response>
  /** Of what the limit answers; null = there is none. */
  readonly limit: string | null
}

const PLAIN = { 'accept-encoding': 'identity' }

function path(
  of: string | ((server: Running, i: number) => string),
  requests: number,
  name: string,
  headers: Readonly<Record<string, string>> = PLAIN,
): Row {
  const limit = `/${name.replace(/\W+/g, '-')}`
  return {
    name,
    requests,
    limit,
    ask: (server, i) =>
      get(server, server.name === LIMIT ? limit : typeof of === 'string' ? of : of(server, i), headers),
  }
}
const CSV = csvOf(100_000)
const IDEAS = '/api/platform/ideas?feed=public&limit=100'
const behind = (id = '') => Buffer.from(JSON.stringify([id])).toString('base64url')
const BARS = '/api/platform/bars?exchange=SP&symbol=SPX&interval=1d'

const ALL: readonly Row[] = [
  path('/api/health', 300, 'health'),
  path('/api/auth/session', 300, 'session'),
  path(({ alert }) => `/api/platform/alerts/${alert}`, 300, 'one alert'),
  path('/api/platform/alerts?limit=100', 100, 'list of 100 alerts'),
  path('/api/platform/alerts?limit=100', 100, 'list of 100 alerts, compressed', {}),
  path(IDEAS, 100, 'list of 100 ideas'),
  path(
    ({ ideas }, i) => `${IDEAS}&cursor=${behind(ideas[ideas.length - 1 - i])}`,
    OTHER_ROUND,
    'other 100 ideas each time',
  ),
  path(`${BARS}&limit=5000`, 50, '5,000 bars'),
  path((_, i) => `${BARS}&limit=${5000 - i}`, OTHER_ROUND, 'other 5,000 bars each time'),
  path(`${BARS}&limit=5000`, 50, '5,000 bars, compressed', {}),
  {
    name: 'import of 100,000 bars',
    requests: 1,
    limit: null,
    ask: ({ address, cookie }, i) =>
      fetch(`${address}/api/platform/bars/import?exchange=B&symbol=S${i}&interval=1m`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'text/csv' },
        body: CSV,
      }),
  },
]
/** Shares of the limit. */
const WANTED: Readonly<Record<string, number>> = {
  'one alert': 0.25,
  'list of 100 alerts': 0.5,
  'list of 100 ideas': 0.5,
  'other 100 ideas each time': 0.1,
  '5,000 bars': 0.5,
  '5,000 bars, compressed': 0.5,
}
const ROWS = ALL.filter(({ name }) => name.includes(values.only))
if (ROWS.length === 0) {
  console.error(`No row is named "${values.only}": ${ALL.map(({ name }) => name).join('; ')}.`)
  process.exit(2)
}

function get({ address, cookie }: Running, of: string, headers: Readonly<Record<string, string>>) {
  return fetch(address + of, { headers: { cookie, ...headers } })
}

async function start(place: string): Promise<Running> {
  const server = await startServer(place, ['--workers', '1'], ['anonymous', 'user', 'backtests', 'search'])
  const { address, cookie } = server
  const post = (to: string, body: object) =>
    fetch(address + to, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    })
  let alert = ''
  for (let i = 0; i < 100; i++) {
    const fields = { symbol: 'SPX', exchange: 'SP', interval: '1d', kind: 'price', op: 'crossing' }
    const made = await post('/api/platform/alerts', { ...fields, price: 9000 + i, channels: ['email'] })
    alert = ((await made.json()) as { id: string }).id
  }
  const ideas: string[] = []
  const body = 'What the market did since, and why it may do it again. '.repeat(10)
  for (let i = 0; i < 100 + OTHER_ROUND * (rounds + 1) + OTHERS; i++) {
    const made = await post('/api/platform/ideas', { title: `Idea ${i}`, body, visibility: 'public' })
    ideas.push(((await made.json()) as { id: string }).id)
  }
  return { ...server, alert, ideas }
}

/** The limit, which answers what `server` does. */
async function startLimit(server: Running): Promise<Running> {
  const texts: Record<string, string> = {}
  for (const row of ROWS) if (row.limit) texts[row.limit] = await (await row.ask(server, 0)).text()
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/bare-child.ts`], {
    stdin: new Response(JSON.stringify(texts)),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  for await (const chunk of child.stdout) {
    const address = `http://127.0.0.1:${new TextDecoder().decode(chunk).trim()}`
    return { name: LIMIT, child, folder: null, address, cookie: server.cookie, alert: '', ideas: [] }
  }
  throw new Error('the limit did not start')
}

/** µs of the processors a request. */
async function cost(server: Running, row: Row, round: number): Promise<number> {
  const before = spentMs(server)
  let next = 0
  const client = async () => {
    while (next < row.requests) {
      const answer = await row.ask(server, round * row.requests + next++)
      await answer.arrayBuffer()
      if (!answer.ok) throw new Error(`${row.name}: ${answer.status}`)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return (1000 * (spentMs(server) - before)) / row.requests
}

async function warmUp(server: Running, row: Row): Promise<void> {
  for (let i = 0; i < WARM_UP; i += row.requests)
    // Nothing that is measured is asked for before.
    await cost(
      server,
      row,
      row.requests === OTHER_ROUND ? rounds + 1 + ((i / OTHER_ROUND) % (OTHERS / OTHER_ROUND)) : 0,
    )
}

const servers: Running[] = []
try {
  for (const place of [here, ...positionals]) servers.push(await start(place))
  const [own] = servers
  const limit = own && (await startLimit(own))
  if (limit) servers.unshift(limit)
  for (const row of ROWS) {
    const costs = new Map(servers.map((server): [Running, number[]] => [server, []]))
    for (const server of costs.keys()) if (row.limit !== null) await warmUp(server, row)
    // One round more, which warms up those that have no limit.
    for (let round = 0; round <= rounds; round++)
      for (const [server, all] of costs) {
        if (server === limit && row.limit === null) continue
        const us = await cost(server, row, round)
        if (round > 0) all.push(us)
      }
    const least = limit ? median(costs.get(limit) ?? []) : Number.NaN
    const base = [...costs.values()].at(-1) ?? []
    for (const [server, all] of costs) {
      if (all.length === 0) continue
      const wanted = WANTED[row.name]
      if (server === own)
        noteRow(`${row.name}, ${clients} at a time`, median(all), 'µs of processors', {
          ...(row.limit !== null && { limit: least }),
          ...(wanted !== undefined && { wanted: `≥ ${wanted} of the limit` }),
        })
      const ratios = all.map((us, round) => us / (base[round] ?? Number.NaN)).toSorted((a, b) => a - b)
      const spread = `×${median(ratios).toFixed(2)} (${(ratios[0] ?? 0).toFixed(2)} to ${(ratios.at(-1) ?? 0).toFixed(2)})`
      const share = row.limit === null ? '' : `${(least / median(all)).toFixed(2)} of the limit`
      const asked = server === own && wanted !== undefined ? `  wanted ≥ ${wanted}` : ''
      console.log(
        `${row.name.padEnd(34)} ${median(all).toFixed(0).padStart(8)} µs  ${share.padEnd(18)} ${spread}  ${server.name}${asked}`,
      )
    }
  }
} finally {
  for (const { child, folder } of servers) {
    child.kill()
    await child.exited
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  }
}
