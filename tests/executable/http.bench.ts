// What requests cost the server in time of its processor, beside other versions of it:
//
//     bun run bench http                       this source, and what it answers health with
//     bun run bench http OTHER … --rounds 20   beside the executables or source folders OTHER
//
// A round asks each server the same in turn; what counts is the median over the rounds, in µs of the process a request (all of
// its threads), and how it stands to the last one named. Unlike time by the clock that hardly moves on a busy machine. Linux only.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { OWNER, csvOf } from './server.ts'

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '10' } },
})
const here = `${import.meta.dir}/../..`
const rounds = Number(values.rounds)

interface Running {
  readonly name: string
  readonly child: Bun.Subprocess
  readonly folder: string
  readonly address: string
  readonly cookie: string
  readonly alert: string
}

interface Row {
  readonly name: string
  readonly requests: number
  readonly ask: (server: Running, i: number) => Promise<Response>
}

const path = (of: string | ((server: Running) => string), requests: number, name: string): Row => ({
  name,
  requests,
  ask: (server) => get(server, typeof of === 'string' ? of : of(server)),
})
const CSV = csvOf(100_000)

const ROWS: readonly Row[] = [
  path('/api/health', 300, 'health'),
  path('/api/auth/session', 300, 'session'),
  path(({ alert }) => `/api/platform/alerts/${alert}`, 300, 'one alert'),
  path('/api/platform/alerts?limit=100', 60, 'list of 100 alerts'),
  path('/api/platform/bars?exchange=SP&symbol=SPX&interval=1d&limit=5000', 20, '5,000 bars'),
  {
    name: 'import of 100,000 bars',
    requests: 1,
    ask: ({ address, cookie }, i) =>
      fetch(`${address}/api/platform/bars/import?exchange=B&symbol=S${i}&interval=1m`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'text/csv' },
        body: CSV,
      }),
  },
]

function get({ address, cookie }: Running, of: string): Promise<Response> {
  return fetch(address + of, { headers: { cookie } })
}

async function start(place: string): Promise<Running> {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-http-`)
  const command = statSync(place).isDirectory() ? [process.execPath, `${place}/src/main.ts`] : [place]
  const flags = ['--port', '0', '--feeds', 'off', '--data-dir', folder, '--workers', '1']
  const none = ['anonymous', 'user', 'backtests', 'search'].flatMap((rate) => [`--rate-${rate}`, '0'])
  const child = Bun.spawn([...command, 'serve', ...flags, ...none], { stdout: 'ignore', stderr: 'pipe' })
  let said = ''
  let port: string | undefined
  for await (const chunk of child.stderr) {
    said += new TextDecoder().decode(chunk)
    port = /"port":(\d+)/.exec(said)?.[1]
    if (port) break
  }
  if (!port) throw new Error(`${place} did not start: ${said}`)
  const address = `http://127.0.0.1:${port}`
  const post = (to: string, body: object, cookie = '') =>
    fetch(address + to, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    })
  const signedUp = await post('/api/auth/sign-up', OWNER)
  const cookie = (signedUp.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  let alert = ''
  for (let i = 0; i < 100; i++) {
    const fields = { symbol: 'SPX', exchange: 'SP', interval: '1d', kind: 'price', op: 'crossing' }
    const made = await post(
      '/api/platform/alerts',
      { ...fields, price: 9000 + i, channels: ['email'] },
      cookie,
    )
    alert = ((await made.json()) as { id: string }).id
  }
  return { name: place, child, folder, address, cookie, alert }
}

/** Time of all threads of the process so far. */
function spentUs({ child }: Running): number {
  let ns = 0
  for (const thread of readdirSync(`/proc/${child.pid}/task`))
    try {
      ns += Number(readFileSync(`/proc/${child.pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      // It has ended meanwhile.
    }
  return ns / 1000
}

async function cost(server: Running, row: Row, round: number): Promise<number> {
  const before = spentUs(server)
  for (let i = 0; i < row.requests; i++) {
    const answer = await row.ask(server, round)
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${row.name}: ${answer.status}`)
  }
  return (spentUs(server) - before) / row.requests
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
}

const servers: Running[] = []
try {
  for (const place of [here, ...positionals]) servers.push(await start(place))
  for (const row of ROWS) {
    const costs = servers.map((): number[] => [])
    // One round more, which warms up.
    for (let round = 0; round <= rounds; round++)
      for (const [k, server] of servers.entries()) {
        const us = await cost(server, row, round)
        if (round > 0) costs[k]?.push(us)
      }
    const base = costs.at(-1) ?? []
    for (const [k, server] of servers.entries()) {
      const own = costs[k] ?? []
      const ratios = own.map((us, round) => us / (base[round] ?? Number.NaN)).toSorted((a, b) => a - b)
      const spread = `${(ratios[0] ?? 0).toFixed(2)} to ${(ratios.at(-1) ?? 0).toFixed(2)}`
      console.log(
        `${row.name.padEnd(24)} ${median(own).toFixed(0).padStart(8)} µs  ×${median(ratios).toFixed(2)} (${spread})  ${server.name}`,
      )
    }
  }
} finally {
  for (const { child, folder } of servers) {
    child.kill()
    await child.exited
    rmSync(folder, { recursive: true, force: true })
  }
}
