// What a preview takes as JSON and as columns, request to last byte, and beside them the least that can be: a bare Bun route
// that answers the same bytes.
//
//     bun run bench answers                    this source, previews of 5,000, 50,000 and 1,000,000 bars
//     bun run bench answers OTHER --rounds 9   beside another folder of source, or an executable
//
// The ways are asked in turn in every round; printed is the median of the time by the clock with its spread, of the time of the
// server's processors (Linux), the size, how many times the bare route's time it is, and at the end how much memory each server
// took beyond what it had when idle.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { COLUMNS_TYPE } from '../../src/wire/columns.ts'
import { noteRow } from '../bench-rows.ts'
import { median, portOf, roundsOf, spentMs, startServer, type BenchServer } from './bench-server.ts'

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '7' } },
})
const rounds = roundsOf(values.rounds)
const LENGTHS = [5000, 50_000, 1_000_000] as const
const WANTED_MS: Readonly<Record<string, number>> = {
  '50000 columns': 25,
  '1000000 columns': 250,
  '50000 JSON': 60,
  '1000000 JSON': 700,
}
const PREVIEW = '/api/platform/backtests/preview'
const SERIES = { exchange: 'TEST', symbol: 'LONG', interval: '1m' }
const SOURCE = `//@version=6
strategy("Averages", overlay = true)
fast = ta.sma(close, 10)
slow = ta.sma(close, 30)
if ta.crossover(fast, slow)
    strategy.entry("Long", strategy.long)
if ta.crossunder(fast, slow)
    strategy.entry("Short", strategy.short)
plot(fast)
plot(slow)
`

interface Running extends BenchServer {
  readonly idleBytes: number
}

interface Way {
  readonly name: string
  readonly server: Running
  readonly ask: () => Promise<Response>
}

/** A walk in cents, as CSV. */
function walk(rows: number): string {
  const lines = ['time,open,high,low,close,volume']
  let [state, close] = [42, 30_000]
  for (let i = 0; i < rows; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    const open = close
    close = Math.round(Math.max(100, close * (1 + (state / 0x7fffffff - 0.5) * 0.004)) * 100) / 100
    const [high, low] = [Math.max(open, close) + 5, Math.min(open, close) - 5]
    lines.push(`${1_600_000_000_000 + i * 60_000},${open},${high},${low},${close},100`)
  }
  return `${lines.join('\n')}\n`
}

async function start(place: string): Promise<Running> {
  const server = await startServer(place, ['--workers', '1'], ['user'])
  const { address, cookie, child } = server
  const query = new URLSearchParams(SERIES).toString()
  const imported = await fetch(`${address}/api/platform/bars/import?${query}`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'text/csv' },
    body: walk(LENGTHS[2]),
  })
  if (!imported.ok) throw new Error(await imported.text())
  // From here on the highest mark is that of the answers.
  writeFileSync(`/proc/${child.pid}/clear_refs`, '5')
  return { ...server, idleBytes: residentBytes(child, 'VmRSS') }
}

/** A server that answers any path with the bytes posted to it before: it knows nothing else. */
const BARE = `let kept = new Map()
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', maxRequestBodySize: 2 ** 30, async fetch(request) {
  const { pathname } = new URL(request.url)
  if (request.method === 'PUT') { kept.set(pathname, await request.bytes()); return new Response('') }
  await request.bytes()
  return new Response(kept.get(pathname))
} })
console.error('"port":' + server.port)`

async function startBare(): Promise<Running> {
  const child = Bun.spawn([process.execPath, '-e', BARE], { stdout: 'ignore', stderr: 'pipe' })
  const address = `http://127.0.0.1:${await portOf(child.stderr, 'the bare route')}`
  return { name: 'bare route', child, folder: '', address, cookie: '', idleBytes: 0 }
}

function residentBytes({ pid }: { readonly pid: number }, field: 'VmRSS' | 'VmHWM'): number {
  const kilobytes = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}

function preview(
  server: Running,
  bars: number,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(server.address + PREVIEW, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: server.cookie, ...headers },
    body: JSON.stringify({ name: 'bench', ...SERIES, bars, source: SOURCE }),
  })
}

async function waysOf(servers: readonly Running[], bare: Running, bars: number): Promise<Way[]> {
  const forms = [
    ['JSON', { accept: 'application/json', 'accept-encoding': 'identity' }],
    ['JSON, compressed', { accept: 'application/json', 'accept-encoding': 'zstd' }],
    ['columns', { accept: COLUMNS_TYPE, 'accept-encoding': 'identity' }],
  ] as const
  const ways: Way[] = []
  for (const [i, server] of servers.entries())
    for (const [form, headers] of forms) {
      ways.push({ name: `${form}, ${server.name}`, server, ask: () => preview(server, bars, headers) })
      if (i > 0 || form === 'JSON, compressed') continue
      const path = `/${bars}/${form}`
      const body = await (await preview(server, bars, headers)).bytes()
      await fetch(bare.address + path, { method: 'PUT', body })
      const ask = () => fetch(bare.address + path, { method: 'POST', body: SOURCE })
      ways.push({ name: `${form}, ${bare.name}`, server: bare, ask })
    }
  return ways
}

async function measure(ways: readonly Way[], bars: number): Promise<void> {
  const seen = ways.map(() => ({ clock: [] as number[], spent: [] as number[], bytes: 0 }))
  // Two rounds more, which warm up.
  for (let round = -2; round < rounds; round++)
    for (const [i, { server, ask, name }] of ways.entries()) {
      const [from, spent] = [performance.now(), spentMs(server)]
      const response = await ask()
      const { byteLength } = await response.arrayBuffer()
      if (!response.ok) throw new Error(`${name}: ${response.status}`)
      const one = seen[i]!
      one.bytes = byteLength
      if (round < 0) continue
      one.clock.push(performance.now() - from)
      one.spent.push(spentMs(server) - spent)
    }
  for (const [i, { name, server }] of ways.entries()) {
    const { clock, spent, bytes } = seen[i]!
    const bare = ways.findIndex((way) => way.name === `${name.split(',')[0]}, bare route`)
    const form = name.slice(0, name.lastIndexOf(','))
    const most = WANTED_MS[`${bars} ${form}`]
    const asked = server === servers[0] && most !== undefined ? `  wanted ≤ ${most} ms` : ''
    if (server === servers[0]) {
      noteRow(`preview of ${bars} bars as ${form}`, median(spent), 'ms of processors')
      if (most !== undefined)
        noteRow(
          `preview of ${bars.toLocaleString('en')} bars as ${form}, by the clock`,
          median(clock),
          'ms',
          {
            limit: median(seen[bare]?.clock ?? []),
            wanted: `≤ ${most} ms`,
          },
        )
    }
    const times = median(clock.map((ms, round) => ms / (seen[bare]?.clock[round] ?? Number.NaN)))
    console.log(
      `${bars.toLocaleString('en').padStart(9)} bars  ${median(clock).toFixed(1).padStart(8)} ms (${Math.min(...clock).toFixed(1)} to ${Math.max(...clock).toFixed(1)})  ${median(spent).toFixed(1).padStart(8)} ms of processors  ${(bytes / 1e6).toFixed(2).padStart(7)} MB  ×${times.toFixed(1)}  ${name}${asked}`,
    )
  }
}

const servers: Running[] = []
const bare = await startBare()
try {
  for (const place of [`${import.meta.dir}/../..`, ...positionals]) servers.push(await start(place))
  for (const bars of LENGTHS) await measure(await waysOf(servers, bare, bars), bars)
  for (const { name, child, idleBytes } of servers) {
    const most = residentBytes(child, 'VmHWM') / 2 ** 20
    const idle = idleBytes / 2 ** 20
    if (name === servers[0]?.name)
      noteRow('memory of previews above idle', most - idle, 'MiB', { wanted: '≤ 300 MiB' })
    console.log(
      `${(most - idle).toFixed(0)} MiB at most above the ${idle.toFixed(0)} after the import, wanted ≤ 300  ${name}`,
    )
  }
} finally {
  for (const { child, folder } of [...servers, bare]) {
    child.kill()
    await child.exited
    if (folder !== '') rmSync(folder, { recursive: true, force: true })
  }
}
