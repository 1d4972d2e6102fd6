// What search costs the server: building the public index, a first search of somebody with much, and many people's indexes.
//
//     bun run bench search           this source
//     bun run bench search PROGRAM   an executable or a source folder
//
// Limits stand beside what was measured. Stalls are of the server's own thread: how much later than in a quiet moment it
// answers `GET /api/health`. Linux only.

import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import type { Idea } from '../../../src/people/ideas/ideas.ts'
import { idSource } from '../../../src/lib/ids.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { collection } from '../../../src/store/collection.ts'
import { lmdbKv } from '../../../src/store/lmdb.ts'
import { transact } from '../../../src/store/transaction.ts'
import { users } from '../../../src/people/accounts/accounts.ts'
import { noteRow } from '../../bench-rows.ts'
import { OWNER } from '../../executable/server.ts'

const { positionals } = parseArgs({ args: process.argv.slice(2), allowPositionals: true })
const place = positionals[0] ?? `${import.meta.dir}/../../..`
const PUBLIC = 50_000
const OWN = 5000
const PEOPLE = 200
const OWN_OF_OTHERS = 500
/** Words there are, of which a few make most of a text, as in any language. */
const WORDS = 20_000

const random = seededRandom(7)
const vocabulary = Array.from({ length: WORDS }, () =>
  Array.from({ length: 3 + random.below(8) }, () => String.fromCharCode(97 + random.below(26))).join(''),
)
const text = (words: number) =>
  Array.from({ length: words }, () => vocabulary[Math.floor(WORDS * random.uniform() ** 3)]).join(' ')

/** As the room has them. */
const INDEXES = {
  owner: ({ ownerId }: Idea) => [ownerId],
  feed: ({ visibility }: Idea) => (visibility === 'public' ? [] : null),
}

interface Running {
  readonly child: Bun.Subprocess
  readonly address: string
}

async function start(folder: string): Promise<Running> {
  const command = statSync(place).isDirectory() ? [process.execPath, `${place}/src/main.ts`] : [place]
  const none = ['anonymous', 'user', 'search'].flatMap((rate) => [`--rate-${rate}`, '0'])
  const flags = ['--port', '0', '--feeds', 'off', '--signup', 'open', '--data-dir', folder, ...none]
  const child = Bun.spawn([...command, 'serve', ...flags], { stdout: 'ignore', stderr: 'pipe' })
  let said = ''
  for await (const chunk of child.stderr) {
    said += new TextDecoder().decode(chunk)
    const port = /"port":(\d+)/.exec(said)?.[1]
    if (port) return { child, address: `http://127.0.0.1:${port}` }
  }
  throw new Error(`it did not start: ${said}`)
}

async function stop({ child }: Running): Promise<void> {
  child.kill()
  await child.exited
}

/** Of the process's own: pages of the database that it has read are the system's to take back. */
function megabytes({ child }: Running): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

async function peak(server: Running, busy: Promise<unknown>): Promise<number> {
  const over = new AbortController()
  void busy.finally(() => over.abort())
  let most = 0
  for (; !over.signal.aborted; await Bun.sleep(20)) most = Math.max(most, megabytes(server))
  return most
}

async function signUp({ address }: Running, email: string): Promise<string> {
  const answer = await fetch(`${address}/api/auth/sign-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...OWNER, email }),
  })
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}

async function find({ address }: Running, q: string, cookie = ''): Promise<number> {
  const answer = await fetch(`${address}/api/search?q=${q}`, { headers: { cookie } })
  return ((await answer.json()) as { results: unknown[] }).results.length
}

/** Milliseconds that each of many requests took while `busy` went on. */
async function latencies({ address }: Running, busy: Promise<unknown>): Promise<number[]> {
  const over = new AbortController()
  void busy.finally(() => over.abort())
  const all: number[] = []
  while (!over.signal.aborted) {
    const began = performance.now()
    await (await fetch(`${address}/api/health`)).arrayBuffer()
    all.push(performance.now() - began)
    await Bun.sleep(1)
  }
  return all.toSorted((a, b) => a - b)
}

const median = (sorted: readonly number[]) => sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
const quiet = (server: Running) => latencies(server, Bun.sleep(2000))

function row(name: string, measured: string, limit: string): void {
  console.log(`${name.padEnd(52)} ${measured.padStart(12)}   limit ${limit}`)
}

async function timed<T>(work: Promise<T>): Promise<number> {
  const began = performance.now()
  await work
  return performance.now() - began
}

const folder = mkdtempSync(`${tmpdir()}/chartroom-search-`)
let server: Running | null = null
try {
  server = await start(folder)
  for (let i = 0; i <= PEOPLE; i++) await signUp(server, `p${i}@example.com`)
  await Bun.sleep(500)
  const idle = megabytes(server)
  await stop(server)

  const clock = { now: () => Date.now(), sleep: (ms: number) => Bun.sleep(ms) }
  const bytes = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
  const newId = idSource({ clock, random: bytes })
  let people: string[] = []
  const publish = async (count: number, ownerOf: (i: number) => string, visibility: 'public' | 'private') => {
    const kv = lmdbKv({ path: `${folder}/db` })
    people = await Array.fromAsync(users(kv).each(), ({ id }) => id)
    // Without the quota, which is 2,000 of one kind.
    const ideas = collection<Idea>(kv, 'ideas', { indexes: INDEXES })
    const insert = (title: string, ownerId: string) => {
      const shown = {
        id: newId('idea'),
        ownerId,
        author: 'ann',
        title,
        body: text(100),
        tags: [text(1)],
        visibility,
      }
      const rest = {
        symbol: 'SPX',
        exchange: null,
        interval: null,
        backtestId: null,
        createdAt: 0,
        updatedAt: 0,
      }
      return transact(kv, () => ideas.insert({ ...shown, ...rest }))
    }
    for (let at = 0; at < count; at += 200)
      await Promise.all(
        Array.from({ length: Math.min(200, count - at) }, (_, i) => insert(text(6), ownerOf(at + i))),
      )
    if (visibility === 'public') await insert('zzlast', 'usr_last')
    await kv.close()
  }

  await publish(PUBLIC, (i) => `usr_${i % 100}`, 'public')
  server = await start(folder)
  const building = server
  const built = (async () => {
    while ((await find(building, 'zzlast')) === 0) await Bun.sleep(20)
  })()
  const [buildMs, most, during] = await Promise.all([
    timed(built),
    peak(building, built),
    latencies(building, built),
  ])
  await Bun.sleep(300)
  row(`${PUBLIC} public ideas: built`, `${(buildMs / 1000).toFixed(1)} s`, '6 s')
  noteRow('search, 50,000 public ideas: built', buildMs / 1000, 's', { wanted: '≤ 6 s' })
  noteRow('search, their memory above idle', most - idle, 'MB', { wanted: '≤ 350 MB' })
  row('  memory above idle, at most', `${(most - idle).toFixed(0)} MB`, '350 MB')
  row('  memory above idle, behind it', `${(megabytes(building) - idle).toFixed(0)} MB`, '-')
  const calm = await quiet(building)
  const [usual, latest] = [median(calm), calm.at(-1) ?? 0]
  noteRow('search, GET /api/health meanwhile', median(during), 'ms', {
    limit: usual,
    wanted: '≥ 0.5 of quiet',
  })
  row(
    '  GET /api/health meanwhile, median',
    `×${(median(during) / usual).toFixed(2)}`,
    `×2 (of ${usual.toFixed(2)} ms)`,
  )
  row('  its latest', `${(during.at(-1) ?? 0).toFixed(0)} ms`, `- (${latest.toFixed(0)} ms when quiet)`)
  await stop(building)

  const [ann = '', ...others] = people
  await publish(OWN, () => ann, 'private')
  await publish(others.length * OWN_OF_OTHERS, (i) => others[i % others.length] ?? '', 'private')
  server = await start(folder)
  const running = server
  while ((await find(running, 'zzlast')) === 0) await Bun.sleep(20)
  const cookies: string[] = []
  for (let i = 0; i <= PEOPLE; i++) cookies.push(await signIn(running, `p${i}@example.com`))
  await Bun.sleep(500)
  const before = megabytes(running)
  const first = find(running, vocabulary[3] ?? '', cookies[0])
  const [firstMs, late] = await Promise.all([timed(first), latencies(running, first)])
  row(`first search of a user with ${OWN} private items`, `${firstMs.toFixed(0)} ms`, '-')
  const stalled = Math.max(0, (late.at(-1) ?? 0) - latest)
  noteRow('search, first of 5,000 private items: longest stall', stalled, 'ms', { wanted: '≤ 20 ms' })
  row(
    '  latest GET /api/health meanwhile',
    `${(late.at(-1) ?? 0).toFixed(0)} ms`,
    `20 ms over (${latest.toFixed(0)} ms when quiet)`,
  )
  const rest = (async () => {
    for (const cookie of cookies.slice(1)) await find(running, vocabulary[3] ?? '', cookie)
  })()
  const grown = (await peak(running, rest)) - before
  noteRow(`search, ${PEOPLE} users' indexes`, grown, 'MB', { wanted: '≤ 256 MB' })
  row(`${PEOPLE} users' indexes of ${OWN_OF_OTHERS} ideas each, at most`, `${grown.toFixed(0)} MB`, '256 MB')
} finally {
  if (server) await stop(server)
  rmSync(folder, { recursive: true, force: true })
}

async function signIn({ address }: Running, email: string): Promise<string> {
  const answer = await fetch(`${address}/api/auth/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...OWNER, email }),
  })
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}
