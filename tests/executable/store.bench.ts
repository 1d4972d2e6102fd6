// What requests that go to the store cost one server on LMDB, beside other versions of it:
//
//     bun run bench store OTHER …              this source beside the executables or source folders OTHER
//     bun run bench store OTHER --rounds 20
//     bun run bench store OTHER --own FILE     the executable FILE in place of this source
//
// Each round asks every server the same fixed number of requests, in turn, and begins with another one than the round before.
// What counts is the time of all of a server's threads on the processors: each round gives the ratio of the first server to
// another, and printed is the median of these ratios with the middle 95 % of what it is when rounds are drawn again at random
// (bootstrap). Unlike time by the clock that hardly moves on a busy machine, but it moves: a round and its pair see the same
// load. Linux only.

import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { noteRow } from '../bench-rows.ts'
import { median, roundsOf, spentMs, startServer, type BenchServer } from './bench-server.ts'
import { backtestOf } from './server.ts'

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '20' }, own: { type: 'string' } },
})
const rounds = roundsOf(values.rounds)
/** Until some thousand requests of a kind have come, much of their time goes into making machine code. */
const WARM_UPS = 5
const DRAWS = 2000
const IDEAS = 60
const STRATEGY = `//@version=6
strategy("x")
if ta.crossover(ta.sma(close, 10), ta.sma(close, 30))
    strategy.entry("L", strategy.long)
if ta.crossunder(ta.sma(close, 10), ta.sma(close, 30))
    strategy.close("L")
`
const IDEA = { title: 'Idea', body: 'What the market did since. '.repeat(10), visibility: 'public' }
const ALERT = { symbol: 'SPX', exchange: 'SP', interval: '1d', kind: 'price', op: 'crossing', price: 9000 }

/** A round's work of one kind; answers how many requests it took. */
type Work = (server: BenchServer) => Promise<number>

const WORKS: Readonly<Record<string, Work>> = {
  'ideas made, read, changed, deleted': async (server) => {
    for (let i = 0; i < IDEAS; i++) {
      const { id } = await asked(server, 'POST', '/ideas', IDEA)
      await asked(server, 'GET', `/ideas/${id}`)
      await asked(server, 'PATCH', `/ideas/${id}`, { title: 'Another' })
      await asked(server, 'DELETE', `/ideas/${id}`)
    }
    return 4 * IDEAS
  },
  'lists of ideas that change': async (server) => {
    for (let i = 0; i < 20; i++) {
      const { id } = await asked(server, 'POST', '/ideas', IDEA)
      await asked(server, 'GET', '/ideas?feed=public&limit=50')
      await asked(server, 'DELETE', `/ideas/${id}`)
    }
    return 60
  },
  'alerts made, read, deleted': async (server) => {
    for (let i = 0; i < 30; i++) {
      const { id } = await asked(server, 'POST', '/alerts', {
        ...ALERT,
        price: 9000 + i,
        channels: ['email'],
      })
      await asked(server, 'GET', `/alerts/${id}`)
      await asked(server, 'GET', '/alerts?limit=100')
      await asked(server, 'DELETE', `/alerts/${id}`)
    }
    return 120
  },
  'backtests kept, read, deleted': async (server) => {
    for (let i = 0; i < 8; i++) {
      const body = { ...backtestOf(STRATEGY, `kept ${i}`), bars: 5000 - i }
      const { id } = await asked(server, 'POST', '/backtests', body)
      await asked(server, 'GET', `/backtests/${id}`)
      await asked(server, 'GET', '/backtests')
      await asked(server, 'DELETE', `/backtests/${id}`)
    }
    return 32
  },
}

async function asked({ address, cookie, name }: BenchServer, method: string, path: string, body?: object) {
  const answer = await fetch(`${address}/api/platform${path}`, {
    method,
    headers: { cookie, 'content-type': 'application/json', 'accept-encoding': 'identity' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok)
    throw new Error(`${name}: ${method} ${path} answered ${answer.status} ${text.slice(0, 300)}`)
  return JSON.parse(text) as { readonly id?: string }
}

/** The middle 95 % of the median of ratios drawn again. */
function interval(ratios: readonly number[]): readonly [number, number] {
  const random = seededRandom(1)
  const medians = Array.from({ length: DRAWS }, () =>
    median(ratios.map(() => ratios[random.below(ratios.length)] ?? Number.NaN)),
  ).toSorted((a, b) => a - b)
  return [medians[Math.floor(DRAWS * 0.025)]!, medians[Math.floor(DRAWS * 0.975)]!]
}

const own = values.own ?? `${import.meta.dir}/../..`
const servers: BenchServer[] = []
try {
  for (const place of [own, ...positionals])
    servers.push(await startServer(place, ['--workers', '1'], ['anonymous', 'user', 'backtests', 'search']))
  for (const server of servers)
    for (let i = 0; i < WARM_UPS; i++) for (const work of Object.values(WORKS)) await work(server)
  /** µs a request, by work and server. */
  const costs = new Map<string, Map<BenchServer, number[]>>()
  for (let round = 0; round < rounds; round++)
    for (const [name, work] of Object.entries(WORKS)) {
      const of = costs.getOrInsertComputed(name, () => new Map(servers.map((server) => [server, []])))
      const turn = servers.map((_, i) => servers[(i + round) % servers.length]!)
      for (const server of turn) {
        const before = spentMs(server)
        const requests = await work(server)
        of.get(server)!.push((1000 * (spentMs(server) - before)) / requests)
      }
    }
  for (const [name, of] of costs) {
    const [first, ...others] = [...of]
    if (!first) continue
    console.log(`${name.padEnd(36)} ${median(first[1]).toFixed(0).padStart(7)} µs a request`)
    for (const [server, all] of others) {
      const ratios = first[1].map((us, round) => us / all[round]!)
      const [low, high] = interval(ratios)
      const said = `×${median(ratios).toFixed(3)} (95 %: ${low.toFixed(3)} to ${high.toFixed(3)})`
      console.log(`${''.padEnd(36)} ${median(all).toFixed(0).padStart(7)} µs  ${said}  ${server.name}`)
    }
    noteRow(`${name}, a request`, median(first[1]), 'µs of processors')
  }
} finally {
  for (const { child, folder } of servers) {
    child.kill()
    await child.exited
    rmSync(folder, { recursive: true, force: true })
  }
}
