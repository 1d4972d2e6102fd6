// Section "soak" applies mixed load for minutes. In the end the process's own memory, its open files and its threads must
// be flat.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { Client } from './client.ts'
import { Random } from './random.ts'
import { Receiver } from './receiver.ts'
import type { Scene } from './scene.ts'
import { start, type Server } from './server.ts'
import { percentile, type Tally } from './tally.ts'
import { Writer } from './writer.ts'

const SECONDS = 360
const USERS = 3
const SAMPLE_MS = 1000
/** A leak grows without end, caches do not. */
const GROWTH_BYTES = 128 * 2 ** 20
const GROWTH_SHARE = 1.3
const FILES_MORE = 10
const platform = '/api/platform'

interface Sample {
  readonly bytes: number
  readonly files: number
  readonly threads: number
}

export async function soak(scene: Scene, tally: Tally): Promise<void> {
  const folder = mkdtempSync('/tmp/chartroom-torture-')
  const receiver = new Receiver()
  try {
    const server = await start({ ...scene, data: `${folder}/data`, tally })
    const random = new Random(scene.seed)
    const clients: Client[] = []
    for (let user = 0; user < USERS; user++)
      clients.push(await server.client().signUp(`soak${user}@example.com`))
    for (const client of clients)
      await client.post(`${platform}/webhooks`, {
        name: 'soak',
        url: receiver.url,
        events: ['alert.triggered', 'backtest.reportReady'],
      })
    const before = handlesOf(server)
    const samples = await load(scene, server, clients, random)
    tally.rounds = samples.length
    // Closed connections take a moment to disappear.
    for (let i = 0; i < 50 && handlesOf(server).files > before.files + FILES_MORE; i++) await Bun.sleep(100)
    judge(scene, tally, samples, before, handlesOf(server))
    const exit = await server.stop()
    if (exit.code !== 0)
      tally.find(
        'did not stop as asked',
        `${exit.signal ?? exit.code} ${exit.text.slice(-300)}`,
        'at the end',
      )
  } finally {
    await receiver.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function load(
  scene: Scene,
  server: Server,
  clients: readonly Client[],
  random: Random,
): Promise<Sample[]> {
  const end = performance.now() + scene.rounds(SECONDS) * 1000
  const isOver = () => performance.now() > end || server.isDead
  const samples: Sample[] = []
  const sampler = async () => {
    for (; !isOver(); await Bun.sleep(SAMPLE_MS)) samples.push(handlesOf(server))
  }
  const writers = clients.map((client, i) => new Writer(`s${i}`, client, random.fork()))
  await Promise.all([
    ...writers.map((writer) => writer.write(writer.client, isOver)),
    ...clients.map((client) => readAll(client, isOver)),
    ...clients.map((client) => openStreams(server, client, isOver)),
    sampler(),
  ])
  return samples
}

async function readAll(client: Client, isOver: () => boolean): Promise<void> {
  const paths = [
    '/api/search?q=rhubarb',
    `${platform}/symbols`,
    `${platform}/alerts`,
    `${platform}/ideas?limit=20`,
    `${platform}/backtests?limit=20`,
    `${platform}/replay?symbol=SPX&interval=1d`,
    '/',
    '/api/openapi.json',
  ]
  for (let i = 0; !isOver(); i++) {
    await client.get(paths[i % paths.length] ?? '/')
    await Bun.sleep(20)
  }
}

/** Opens streams and drops them without closing them properly. */
async function openStreams(server: Server, client: Client, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const letGo = new AbortController()
    await fetch(`${server.base}${platform}/stream`, { headers: client.headers, signal: letGo.signal }).catch(
      () => null,
    )
    await Bun.sleep(50)
    letGo.abort()
  }
}

/** Memory without the pages of the database, which belong to the disk. */
function handlesOf(server: Server): Sample {
  if (server.isDead) return { bytes: 0, files: 0, threads: 0 }
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  const bytes = Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
  return { bytes, ...server.handles() }
}

function judge(scene: Scene, tally: Tally, samples: readonly Sample[], before: Sample, after: Sample): void {
  if (after.threads === 0) tally.find('the server died', 'under mixed load', 'throughout')
  if (after.files > before.files + FILES_MORE)
    tally.find('files stay open', `${before.files} before, ${after.files} after`, 'at the end')
  const quarter = (from: number) => samples.slice(samples.length * from, samples.length * (from + 0.25))
  const bytes = (from: number) =>
    percentile(
      quarter(from).map((one) => one.bytes),
      0.5,
    )
  const threads = (from: number) => Math.max(0, ...quarter(from).map((one) => one.threads))
  const [early, late] = [bytes(0.25), bytes(0.75)]
  const megabytes = (value: number) => `${Math.round(value / 2 ** 20)} MB`
  tally.figure('own memory', `${megabytes(early)} → ${megabytes(late)}`)
  tally.figure('files', `${before.files} → ${after.files}`)
  tally.figure('threads', `${threads(0.25)} → ${threads(0.75)}`)
  if (scene.isShort) return
  if (late > early * GROWTH_SHARE && late > early + GROWTH_BYTES)
    tally.find('memory grows', `${megabytes(early)} to ${megabytes(late)}`, 'in the last quarter')
  if (threads(0.75) > threads(0.25))
    tally.find('threads grow', `${threads(0.25)} to ${threads(0.75)}`, 'throughout')
}
