// What a backtest that is kept costs, beside the least that it can: a route that prints the same JSON, stores it with one durable
// put, and answers it (`kept-child.ts`). 5,104 bars of the S&P 500, some 700 kB of JSON.
//
//     bun run bench kept                    this source
//     bun run bench kept OTHER --rounds 9   beside another folder of source, or an executable
//
// In each round every server is asked by one client, one request after the other, and then by eight at once. Printed are the
// medians over the rounds: p50 of a request of the one client, requests a second of the eight, what a request of the one took of
// the server's processors (Linux), and each as a share of the limit's. The last says most on a machine that does other things too.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { noteRow } from '../bench-rows.ts'
import { median, portOf, roundsOf, spentMs, startServer, type BenchServer } from './bench-server.ts'
import { backtestOf } from './server.ts'

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '7' } },
})
const rounds = roundsOf(values.rounds)
const ONE = 20
const CLIENTS = 8
const EACH = 5
const LIMIT = 'limit'

interface Taken {
  readonly p50: number[]
  readonly perSecond: number[]
  readonly spentMs: number[]
}

const source = (fast: number) => `//@version=6
strategy("Averages", overlay = true)
fast = ta.sma(close, input.int(${fast}, "Fast"))
slow = ta.sma(close, 30)
if ta.crossover(fast, slow)
    strategy.entry("Long", strategy.long)
if ta.crossunder(fast, slow)
    strategy.entry("Short", strategy.short)
plot(fast)
plot(slow)
`

async function startLimit(server: BenchServer): Promise<BenchServer> {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-kept-`)
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/kept-child.ts`, folder], {
    stdin: new Response(await (await ask(server, 0)).text()),
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const address = `http://127.0.0.1:${await portOf(child.stderr, 'the limit')}`
  return { name: LIMIT, child, address, cookie: '', folder }
}

function ask({ address, cookie }: BenchServer, i: number): Promise<Response> {
  return fetch(`${address}/api/platform/backtests`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity', cookie },
    body: JSON.stringify({ ...backtestOf('', 'Averages'), source: source(10 + (i % 8)) }),
  })
}

/** Milliseconds from the request to the last byte. */
async function answered(server: BenchServer, i: number): Promise<number> {
  const from = performance.now()
  const response = await ask(server, i)
  const bytes = await response.bytes()
  if (!response.ok) throw new Error(`${server.name}: ${new TextDecoder().decode(bytes.slice(0, 500))}`)
  return performance.now() - from
}

async function measure(server: BenchServer, taken: Taken): Promise<void> {
  const spent = spentMs(server)
  const times: number[] = []
  for (let i = 0; i < ONE; i++) times.push(await answered(server, i))
  taken.spentMs.push((spentMs(server) - spent) / ONE)
  taken.p50.push(median(times))
  const from = performance.now()
  const client = async () => {
    for (let i = 0; i < EACH; i++) await answered(server, i)
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  taken.perSecond.push((1000 * CLIENTS * EACH) / (performance.now() - from))
}

const servers: BenchServer[] = []
try {
  for (const place of [`${import.meta.dir}/../..`, ...positionals])
    servers.push(await startServer(place, [], ['user', 'backtests']))
  const [own] = servers
  if (own) servers.unshift(await startLimit(own))
  const all = servers.map((): Taken => ({ p50: [], perSecond: [], spentMs: [] }))
  // One round more, which warms up.
  for (let round = -1; round < rounds; round++)
    for (const [i, server] of servers.entries())
      await measure(server, round < 0 ? { p50: [], perSecond: [], spentMs: [] } : all[i]!)
  const least = all[0]!
  for (const [i, { p50, perSecond, spentMs: spent }] of all.entries()) {
    const [one, eight, took] = [median(p50), median(perSecond), median(spent)]
    if (servers[i] === own) {
      const wanted = '≥ 0.5 of the limit'
      noteRow('kept backtest, one client', one, 'ms', { limit: median(least.p50), wanted })
      const limit = 1000 / median(least.perSecond)
      noteRow('kept backtest, eight clients', 1000 / eight, 'ms a request', { limit, wanted })
      noteRow('kept backtest, processors', took, 'ms')
    }
    const share = (part: number) => `(${part.toFixed(2)})`
    console.log(
      `one client p50 ${one.toFixed(1)} ms ${share(median(least.p50) / one)}  ` +
        `eight ${eight.toFixed(0)} a second ${share(eight / median(least.perSecond))}  ` +
        `processors ${took.toFixed(1)} ms ${share(median(least.spentMs) / took)}  ${servers[i]?.name}`,
    )
  }
} finally {
  for (const { child, folder } of servers) {
    child.kill()
    await child.exited
    rmSync(folder, { recursive: true, force: true })
  }
}
