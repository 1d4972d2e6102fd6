// What BACKUP costs a server: two of them, one of which copies its database to a local S3 server in a process of its own, are
// asked the same in turn.
//
//     bun run bench backup                                this source
//     bun run bench backup dist/chartroom --rounds 30     an executable, and another number of rounds
//
// Printed are, over the rounds, the median and its interval (95 %) of how much more of the processors a round took, all threads
// of the process counted and also what was still put away when the last answer had come; and the p50 and p99 of a request. How
// often a step is made goes by the clock, so that a busy machine, where a round takes longer, shows a little more than there is.
// Linux only.

import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { noteRow } from '../bench-rows.ts'
import { roundsOf, spentMs, startServer, type BenchServer } from '../executable/bench-server.ts'

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '20' } },
})
const rounds = roundsOf(values.rounds)
/** Longer than a step may wait. */
const AFTER_MS = 1200
const CLIENTS = 8
const WANTED = '≤ 5 % more'
const HOUR = 3_600_000
const START = Date.UTC(2000, 0, 1)
const SYMBOLS = 20
/** A user may have 2,000. */
const IDEAS = 1500
const TEXT = 'The range has held since March; above it the next level is last summer’s high. '.repeat(8)

interface Running extends BenchServer {
  /** Counts on over the rounds. */
  made: number
  readonly bars: number[]
  readonly ideas: string[]
  readonly alerts: string[]
}

interface Work {
  readonly name: string
  readonly requests: number
  readonly clients: number
  /** Between two requests of a client. */
  readonly pauseMs: number
  readonly ask: (server: Running, i: number) => Promise<unknown>
}

const MIXED = [
  idea,
  change,
  (server: Running) => alert(server, 1e6),
  bar,
  bar,
  (server: Running) => ask(server, `alerts/${server.alerts.shift()}`, null, 'DELETE'),
  (server: Running) => ask(server, `ideas/${server.ideas.shift()}`, null, 'DELETE'),
]

const WORKS: readonly Work[] = [
  {
    name: 'writes of all kinds, alerts that fire, deliveries',
    requests: 800,
    clients: CLIENTS,
    pauseMs: 0,
    ask: (server, i) => MIXED[i % MIXED.length]!(server),
  },
  {
    name: 'changes of ideas as fast as they go',
    requests: 2000,
    clients: 4 * CLIENTS,
    pauseMs: 0,
    ask: change,
  },
  {
    name: 'twenty writes a second',
    requests: 40,
    clients: 1,
    pauseMs: 50,
    ask: (server, i) => MIXED[i % MIXED.length]!(server),
  },
]

async function idea(server: Running) {
  server.ideas.push(
    (await ask(server, 'ideas', { title: `Idea ${server.made}`, body: TEXT, visibility: 'private' }))
      .id as string,
  )
}

async function alert(server: Running, price: number) {
  server.alerts.push((await ask(server, 'alerts', alertOf(server.made % SYMBOLS, price))).id as string)
}

function change(server: Running) {
  // Of the newer half: the oldest are deleted meanwhile.
  const id = server.ideas.at(-1 - ((server.made * 7919) % (IDEAS / 2)))
  return ask(server, `ideas/${id}`, { title: `Changed ${server.made}`, body: TEXT }, 'PATCH')
}

/** The next bar of a series, on which an alert fires whose webhook is called. */
async function bar(server: Running) {
  const symbol = server.made % SYMBOLS
  const number = (server.bars[symbol] = (server.bars[symbol] ?? 0) + 1)
  const close = number % 2 ? 12 : 10
  await ask(
    server,
    `bars/import?exchange=X&symbol=S${symbol}&interval=1h`,
    `time,open,high,low,close,volume\n${START + number * HOUR},10,12,10,${close},${number}\n`,
  )
}

const alertOf = (symbol: number, price: number) => ({
  exchange: 'X',
  symbol: `S${symbol}`,
  interval: '1h',
  kind: 'price',
  op: 'crossing_up',
  price,
  frequency: 'once_per_bar',
  channels: ['webhook'],
})

// oxlint-disable-next-line typescript/no-explicit-any
async function ask(server: Running, path: string, body: unknown, method = 'POST'): Promise<any> {
  server.made++
  const isText = typeof body === 'string'
  const answer = await fetch(`${server.address}/api/platform/${path}`, {
    method,
    headers: {
      cookie: server.cookie,
      ...(body !== null && { 'content-type': isText ? 'text/csv' : 'application/json' }),
    },
    ...(body !== null && { body: isText ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${text}`)
  return JSON.parse(text)
}

interface Taken {
  readonly spent: number[]
  readonly p50: number[]
  readonly p99: number[]
}

async function measure(server: Running, work: Work, taken: Taken): Promise<void> {
  const before = spentMs(server)
  const times: number[] = []
  let next = 0
  const client = async () => {
    while (next < work.requests) {
      const i = next++
      const from = performance.now()
      await work.ask(server, i)
      times.push(performance.now() - from)
      if (work.pauseMs > 0) await Bun.sleep(work.pauseMs)
    }
  }
  await Promise.all(Array.from({ length: work.clients }, client))
  await Bun.sleep(AFTER_MS)
  taken.spent.push(spentMs(server) - before)
  times.sort((a, b) => a - b)
  taken.p50.push(times[Math.floor(times.length * 0.5)]!)
  taken.p99.push(times[Math.floor(times.length * 0.99)]!)
}

/** The median, and between what it is in 95 of 100 cases, by the order of the numbers alone. */
function medianOf(numbers: readonly number[]): readonly [number, number, number] {
  const sorted = numbers.toSorted((a, b) => a - b)
  const reach = (1.96 * Math.sqrt(sorted.length)) / 2
  const at = (place: number) =>
    sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(place)))] ?? Number.NaN
  const middle = (sorted.length - 1) / 2
  return [(at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, at(middle - reach), at(middle + reach)]
}

const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') })
const s3 = Bun.spawn([process.execPath, `${import.meta.dir}/s3-child.ts`], { stdout: 'pipe' })
const { value: said } = await s3.stdout.getReader().read()
const backup = new TextDecoder().decode(said).trim()
const servers: Running[] = []
try {
  for (const flags of [[], ['--backup', backup]]) {
    const place = positionals[0] ?? `${import.meta.dir}/../..`
    const all = [...flags, '--webhook-allow', 'loopback', '--max-alerts', '0']
    const server = { ...(await startServer(place, all, ['user'])), made: 0, bars: [], ideas: [], alerts: [] }
    servers.push(server)
    await ask(server, 'webhooks', {
      name: 'bench',
      url: `http://127.0.0.1:${receiver.port}/`,
      events: ['alert.triggered'],
    })
    for (let i = 0; i < SYMBOLS; i++) {
      await bar(server)
      await ask(server, 'alerts', alertOf(i, 11))
      await alert(server, 1e6)
    }
    for (let i = 0; i < IDEAS; i += 100) await Promise.all(Array.from({ length: 100 }, () => idea(server)))
  }
  const taken = WORKS.map(() => servers.map((): Taken => ({ spent: [], p50: [], p99: [] })))
  // One round more, which warms up.
  for (let round = -1; round < rounds; round++)
    for (const [w, work] of WORKS.entries())
      for (const s of round % 2 ? [0, 1] : [1, 0])
        await measure(servers[s]!, work, round < 0 ? { spent: [], p50: [], p99: [] } : taken[w]![s]!)
  for (const [w, { name, requests }] of WORKS.entries()) {
    const [without, having] = taken[w]!
    if (!without || !having) throw new Error('no servers')
    const more = medianOf(having.spent.map((ms, i) => 100 * (ms / without.spent[i]! - 1)))
    const each = medianOf(having.spent.map((ms, i) => (1000 * (ms - without.spent[i]!)) / requests))
    const [one] = medianOf(without.spent)
    const beside = (figure: 'p50' | 'p99') =>
      `${figure} ${medianOf(having[figure])[0].toFixed(1)} ms instead of ${medianOf(without[figure])[0].toFixed(1)}`
    console.log(
      `${name}: ${more[0].toFixed(1)} % more of the processors (${more[1].toFixed(1)} to ${more[2].toFixed(1)}), ` +
        `${each[0].toFixed(0)} µs beside ${((1000 * one) / requests).toFixed(0)} a request; ${beside('p50')}, ${beside('p99')}`,
    )
    noteRow(`backup: ${name}`, more[0], '% more processor', { wanted: WANTED })
  }
} finally {
  for (const { child, folder } of servers) {
    child.kill()
    await child.exited
    rmSync(folder, { recursive: true, force: true })
  }
  s3.kill()
  await receiver.stop(true)
}
