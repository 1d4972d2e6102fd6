// Section "starvation" lets one user take all there is of something, while another's turn must still come: webhooks beside
// receivers that never answer; runs, imports, streams and searches beside floods of them; and requests beside connections
// that are held open for nothing.
//
// It asserts an order, not a time: the other user's turn comes while the flood still lasts.

import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import type { Reply, Client } from './client.ts'
import { Market } from './market.ts'
import { Random } from './random.ts'
import { Receiver } from './receiver.ts'
import type { Scene } from './scene.ts'
import { start, type Server } from './server.ts'
import type { Tally } from './tally.ts'

const platform = '/api/platform'
const HOLES = 20
const STREAMS = 60
/** The most streams that one user may have open. */
const STREAMS_ALLOWED = 20
const SLOW_SOCKETS = 300
const SLOW = [
  '//@version=6',
  'strategy("slow")',
  'n = 0.0',
  'for i = 0 to 3000',
  '    n += math.sin(i)',
  'plot(n)',
].join('\n')
const QUICK = '//@version=6\nstrategy("quick")\nplot(close)'

const runOf = (source: string, name = 'run') => ({
  name,
  symbol: 'SPX',
  exchange: 'SP',
  interval: '1d',
  bars: 5000,
  source,
  inputs: {},
})

export async function starvation(scene: Scene, tally: Tally): Promise<void> {
  const folder = mkdtempSync('/tmp/chartroom-torture-')
  const flags = ['--script-time-ms', '3000']
  try {
    for (let round = 0; round < scene.rounds(10); round++) {
      const data = `${folder}/data${round}`
      const server = await start({ ...scene, data, flags, tally })
      const guest = server.client()
      const owner = await guest.signUp('owner@example.com')
      const greedy = [await guest.signUp('greedy0@example.com'), await guest.signUp('greedy1@example.com')]
      const table = { scene, tally, server, owner, greedy, step: `round ${round + 1}` }
      await deadReceivers(table)
      await floodedRuns(table)
      await heldImports(table)
      await manyStreams(table)
      await floodedSearches(table)
      await slowSockets(table)
      tally.rounds++
      const exit = await server.stop()
      if (exit.code !== 0) tally.find('did not stop as asked', `${exit.signal ?? exit.code}`, table.step)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Table {
  readonly scene: Scene
  readonly tally: Tally
  readonly server: Server
  /** The user who must not starve. */
  readonly owner: Client
  readonly greedy: readonly Client[]
  readonly step: string
}

const register = (client: Client, url: string) =>
  client.post(`${platform}/webhooks`, { name: 'hook', url, events: ['backtest.reportReady'] })

/** Some receivers take a request and never answer; another user's event must arrive before any of those is given up. */
async function deadReceivers({ tally, owner, greedy, step }: Table): Promise<void> {
  const hole = new Hole()
  const receiver = new Receiver()
  await hole.open()
  for (let i = 0; i < HOLES; i++) {
    const client = greedy[i % greedy.length]
    if (!client) continue
    const { json } = await register(client, hole.url)
    await client.post(`${platform}/webhooks/${String(json['id'])}/test`)
    tally.faults++
  }
  await register(owner, receiver.url)
  const { json } = await owner.post(`${platform}/backtests`, runOf(QUICK))
  const started = performance.now()
  const key = `backtest.reportReady ${String(json['id'])}`
  while (receiver.of(key).ids === 0 && hole.givenUp === 0 && performance.now() - started < 30_000)
    await Bun.sleep(10)
  if (receiver.of(key).ids === 0)
    tally.find('a webhook waits for receivers that never answer', `${hole.held} held`, step)
  else tally.figure('webhook beside dead receivers', `${Math.round(performance.now() - started)} ms`)
  hole.close()
  await receiver.close()
}

/** Accepts connections and never answers. */
class Hole {
  readonly #sockets = new Set<Socket>()
  givenUp = 0
  readonly #server = createServer((socket) => {
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#sockets.delete(socket)
      this.givenUp++
    })
    socket.resume()
  })

  get held(): number {
    return this.#sockets.size
  }

  get url(): string {
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/hole`
  }

  open(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }
}

/** Two users start as many slow runs as they may; another's run must not wait for all of them. */
async function floodedRuns({ tally, owner, greedy, step }: Table): Promise<void> {
  let done = 0
  const isOver = { yes: false }
  const flood = greedy.flatMap((client) =>
    Array.from({ length: 11 }, async () => {
      tally.faults++
      const answer = await client.post(`${platform}/backtests`, runOf(SLOW, 'flood'))
      if (!isOver.yes && answer.status === 200) done++
    }),
  )
  await Bun.sleep(100)
  const mine = await owner.post(`${platform}/backtests`, runOf(QUICK))
  isOver.yes = true
  if (mine.status !== 200)
    tally.find("somebody else's run is refused", `${mine.status} ${mine.text.slice(0, 200)}`, step)
  // Each greedy user's turn may come once or twice before.
  else if (done > 2 * greedy.length + 1)
    tally.find("a run waits for somebody else's", `${done} of ${flood.length} came first`, step)
  tally.figure('run beside a flood', `${Math.round(mine.ms)} ms`)
  await Promise.all(flood)
}

/**
 * One user starts as many imports as allowed, each sending a byte now and then; another's import must go through meanwhile.
 * One user holds at most half of the places; two of them can hold all, for the half minute until such imports are given up.
 */
async function heldImports({ scene, tally, owner, greedy, step }: Table): Promise<void> {
  const stop = new AbortController()
  let givenUp = 0
  const held = greedy.slice(0, 1).flatMap((client, user) =>
    Array.from({ length: 16 }, (_, i) => {
      tally.faults++
      const series = { exchange: 'HELD', symbol: `H${user}N${i}`, interval: '1m' }
      return client
        .importCsv(series, trickle(stop.signal), { timeoutMs: 120_000 })
        .then(({ status }) => (givenUp += [429, 503].includes(status) ? 0 : 1))
    }),
  )
  await Bun.sleep(100)
  const market = new Market('MINE', new Random(scene.seed))
  const mine = await market.import(owner, 500)
  const before = givenUp
  stop.abort()
  if (mine.status !== 200)
    tally.find("somebody else's import is refused", `${mine.status} ${mine.text.slice(0, 200)}`, step)
  // Imports that were refused at once, as too many of one user, held nothing.
  else if (before > 0)
    tally.find("an import waits for somebody else's", `until ${before} were given up`, step)
  tally.figure('import beside held ones', `${Math.round(mine.ms)} ms`)
  await Promise.all(held)
}

function trickle(signal: AbortSignal): ReadableStream<Uint8Array> {
  const text = new TextEncoder().encode('time,open,high,low,close,volume\n')
  let at = 0
  return new ReadableStream({
    async pull(controller) {
      await Bun.sleep(50)
      if (signal.aborted) return controller.close()
      controller.enqueue(text.subarray(at, ++at))
      if (at >= text.length) at = 0
    },
  })
}

/** One user opens more streams than allowed; another's must still open, and plain requests must be answered. */
async function manyStreams({ tally, server, owner, greedy, step }: Table): Promise<void> {
  const [client] = greedy
  if (!client) return
  const stop = new AbortController()
  const open = (who: Client) =>
    fetch(`${server.base}${platform}/stream`, { headers: who.headers, signal: stop.signal }).then(
      ({ status }) => status,
      () => 0,
    )
  const statuses = await Promise.all(Array.from({ length: STREAMS }, () => open(client)))
  tally.faults += STREAMS
  tally.requests += STREAMS + 1
  const opened = statuses.filter((status) => status === 200).length
  if (opened > STREAMS_ALLOWED) tally.find('too many streams for one user', `${opened} are open`, step)
  const mine = await open(owner)
  if (mine !== 200) tally.find("somebody else's stream is refused", String(mine), step)
  const plain = await client.get(`${platform}/symbols`)
  if (plain.status !== 200) tally.find('a request fails beside streams', String(plain.status), step)
  stop.abort()
}

async function floodedSearches({ tally, owner, greedy, step }: Table): Promise<void> {
  const isOver = { yes: false }
  const flood = greedy.flatMap((client) =>
    Array.from({ length: 20 }, async () => {
      while (!isOver.yes) {
        tally.faults++
        await client.get(`/api/search?q=${'ab cd ef '.repeat(25)}`)
      }
    }),
  )
  const answers: Reply[] = []
  for (let i = 0; i < 10; i++) answers.push(await owner.get('/api/search?q=turtle'))
  isOver.yes = true
  const bad = answers.find(({ status }) => status !== 200)
  if (bad) tally.find('a search fails beside a flood', `${bad.status} ${bad.text.slice(0, 200)}`, step)
  tally.figure('search beside a flood', `${Math.round(Math.max(...answers.map(({ ms }) => ms)))} ms`)
  await Promise.all(flood)
}

/** Opens connections that begin a request and never end it. */
async function slowSockets({ tally, server, owner, step }: Table): Promise<void> {
  const port = Number(new URL(server.base).port)
  const sockets = await Promise.all(
    Array.from(
      { length: SLOW_SOCKETS },
      () =>
        new Promise<Socket>((resolve) => {
          const socket = connect(port, '127.0.0.1', () => {
            socket.write(
              'POST /api/platform/scripts/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9999\r\n',
            )
            resolve(socket)
          })
          socket.on('error', () => resolve(socket))
        }),
    ),
  )
  tally.faults += SLOW_SOCKETS
  const { status, ms } = await owner.get(`${platform}/symbols`)
  if (status !== 200) tally.find('a request fails beside held connections', String(status), step)
  tally.figure(`request beside ${SLOW_SOCKETS} held connections`, `${Math.round(ms)} ms`)
  for (const socket of sockets) socket.destroy()
}
