// Section "corrupt" starts the server on damaged data directories. The server refuses each with a sentence and an exit
// code, or starts and serves. It never dies of a signal, and it leaves what it refuses as it was.

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Market } from './market.ts'
import { Random } from './random.ts'
import type { Scene } from './scene.ts'
import { Server, start, tryStart, type Exit } from './server.ts'
import type { Tally } from './tally.ts'
import { Writer } from './writer.ts'

const PAGE = 4096
/** A sentence rather than a stack, for a reader who only wanted to start the server. */
const SENTENCE = /[A-Z][^\n]{20,}\./
const STACK = /\n\s+at .+:\d+:\d+|^\s*\d+ \| /m

interface Damage {
  readonly name: string
  /** The data cannot be right any more, so starting would be a mistake. */
  readonly mustRefuse: boolean
  readonly do: (data: string, random: Random) => void
}

const isPastPromise = ({ name }: Damage): boolean => /^(64|4096) flipped/.test(name)

const database = (data: string) => `${data}/db/data.mdb`
const key = (data: string) => `${data}/instance.key`

function overwrite(file: string, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(file)
  change(bytes)
  writeFileSync(file, bytes)
}

const DAMAGES: readonly Damage[] = [
  { name: 'an empty database', mustRefuse: true, do: (data) => truncateSync(database(data), 0) },
  { name: 'one byte of a database', mustRefuse: true, do: (data) => truncateSync(database(data), 1) },
  { name: 'one page of a database', mustRefuse: true, do: (data) => truncateSync(database(data), PAGE) },
  {
    name: 'half a database',
    mustRefuse: true,
    do: (data) => truncateSync(database(data), Math.floor(statSync(database(data)).size / 2 / PAGE) * PAGE),
  },
  {
    name: 'a database that ends within a page',
    mustRefuse: true,
    do: (data) => truncateSync(database(data), Math.floor(statSync(database(data)).size / 3) | 1),
  },
  { name: 'zeroes', mustRefuse: true, do: (data) => overwrite(database(data), (bytes) => bytes.fill(0)) },
  {
    name: 'both heads zeroed',
    mustRefuse: true,
    do: (data) => overwrite(database(data), (bytes) => bytes.fill(0, 0, 2 * PAGE)),
  },
  {
    name: 'a text file',
    mustRefuse: true,
    do: (data) => writeFileSync(database(data), 'This is no database.\n'.repeat(5000)),
  },
  {
    name: 'an SQLite file',
    mustRefuse: true,
    do: (data) => writeFileSync(database(data), `SQLite format 3\0${'\0'.repeat(100_000)}`),
  },
  {
    name: 'random bytes',
    mustRefuse: true,
    do: (data, random) =>
      overwrite(database(data), (bytes) => {
        for (let i = 0; i < bytes.length; i++) bytes[i] = random.integer(0, 255)
      }),
  },
  {
    name: 'a newer version of LMDB',
    mustRefuse: true,
    do: (data) =>
      overwrite(database(data), (bytes) => {
        // The version follows the magic number in each of the heads.
        for (let at = 0; at < 2 * PAGE; at++)
          if (bytes.readUInt32LE(at) === 0xbeefc0de) bytes.writeUInt32LE(99, at + 4)
      }),
  },
  ...[1, 8, 64, 4096].map((count) => ({
    name: `${count} flipped bits`,
    mustRefuse: false,
    do: (data: string, random: Random) =>
      overwrite(database(data), (bytes) => {
        for (let i = 0; i < count; i++) {
          const at = random.integer(0, bytes.length - 1)
          bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(0, 7))
        }
      }),
  })),
  ...[1, 16].map((count) => ({
    name: `${count} zeroed pages`,
    mustRefuse: false,
    do: (data: string, random: Random) =>
      overwrite(database(data), (bytes) => {
        for (let i = 0; i < count; i++) {
          const at = random.integer(2, bytes.length / PAGE - 1) * PAGE
          bytes.fill(0, at, at + PAGE)
        }
      }),
  })),
  { name: 'a lost key file', mustRefuse: true, do: (data) => rmSync(key(data)) },
  { name: 'a short key file', mustRefuse: true, do: (data) => truncateSync(key(data), 7) },
  { name: 'an empty key file', mustRefuse: true, do: (data) => truncateSync(key(data), 0) },
  {
    name: 'a foreign key file',
    mustRefuse: true,
    do: (data, random) =>
      overwrite(key(data), (bytes) => {
        for (let i = 0; i < bytes.length; i++) bytes[i] = random.integer(0, 255)
      }),
  },
  {
    name: 'a folder where the database should be',
    mustRefuse: true,
    do: (data) => {
      rmSync(database(data))
      mkdirSync(database(data))
    },
  },
  {
    name: 'a database that points nowhere',
    mustRefuse: true,
    do: (data) => {
      rmSync(database(data))
      symlinkSync('/nonexistent/data.mdb', database(data))
    },
  },
]

export async function corrupt(scene: Scene, tally: Tally): Promise<void> {
  const folder = mkdtempSync('/tmp/chartroom-torture-')
  const random = new Random(scene.seed)
  try {
    await fill(scene, tally, `${folder}/good`, random.fork())
    const repeats = scene.isShort ? 1 : scene.rounds(10)
    for (let i = 0; i < repeats; i++)
      for (const damage of DAMAGES) {
        // Only random damage differs the next time.
        if (i > 0 && damage.mustRefuse && damage.name !== 'random bytes') continue
        // LMDB trusts what it maps: bits flipped where the start does not look may end or hold up the process, about one
        // time in a hundred. That is for the long run to find; the short one is of what is promised.
        if (scene.isShort && isPastPromise(damage)) continue
        await suffer(scene, tally, folder, damage, random.fork(), `damage ${tally.rounds}`)
      }
    await readOnly(scene, tally, folder)
    await secondServer(scene, tally, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Makes a good directory with every kind of record in it, and secrets that need its key. */
async function fill(scene: Scene, tally: Tally, data: string, random: Random): Promise<void> {
  const server = await start({ ...scene, data, tally })
  const client = await server.client().signUp('owner@example.com')
  await client.post('/api/platform/webhooks', {
    name: 'hook',
    url: 'http://127.0.0.1:9/hook',
    events: ['backtest.reportReady'],
  })
  const writer = new Writer('filler', client, random)
  let steps = 0
  await writer.write(client, () => steps++ > 30)
  await new Market('FILL', random).import(client, 20_000)
  await server.stop()
}

async function suffer(
  scene: Scene,
  tally: Tally,
  folder: string,
  damage: Damage,
  random: Random,
  step: string,
): Promise<void> {
  const data = `${folder}/bad`
  rmSync(data, { recursive: true, force: true })
  cpSync(`${folder}/good`, data, { recursive: true })
  rmSync(`${data}/db/lock.mdb`, { force: true })
  damage.do(data, random)
  tally.rounds++
  tally.faults++
  const before = hashOf(data)
  const started = await tryStart({ ...scene, data, tally })
  if (started instanceof Server) {
    if (damage.mustRefuse) tally.find('bad data was taken', damage.name, step)
    await use(started, tally, damage, step)
    return
  }
  judgeRefusal(tally, damage.name, started, step)
  if (hashOf(data) !== before) tally.find('refused data was changed', damage.name, step)
}

function judgeRefusal(tally: Tally, name: string, { code, signal, text }: Exit, step: string): void {
  const says = text.trim().slice(-200)
  if (signal !== null || (code ?? 0) > 128)
    tally.find('died of a signal', `${name}: ${signal ?? code} ${says}`, step)
  else if (code === 0) tally.find('a refusal with exit code 0', name, step)
  else if (!SENTENCE.test(text) || STACK.test(text)) tally.find('no sentence', `${name}: ${says}`, step)
}

/** The server started all the same, so reading everything must not kill it. */
async function use(server: Server, tally: Tally, { name }: Damage, step: string): Promise<void> {
  const client = server.client()
  for (const path of [
    '/api/health',
    '/api/search?q=rhubarb',
    '/api/platform/replay?symbol=FILL&interval=1m&exchange=TORTURE',
  ])
    await client.get(path, { timeoutMs: 10_000 })
  await client.post('/api/auth/sign-in', { email: 'owner@example.com', password: 'wrong password' })
  const { code, signal, text } = server.isDead ? await server.exit() : await server.stop()
  if (signal !== null || (code ?? 0) > 128)
    tally.find('died of a signal', `${name}, when used: ${signal ?? code} ${text.slice(-200)}`, step)
}

/** Starts on a directory that is read-only. Root may write anywhere, so running as root proves nothing. */
async function readOnly(scene: Scene, tally: Tally, folder: string): Promise<void> {
  if (process.getuid?.() === 0) return
  const data = `${folder}/readonly`
  cpSync(`${folder}/good`, data, { recursive: true })
  for (const path of filesOf(data)) chmodSync(path, 0o400)
  for (const path of [`${data}/db`, data]) chmodSync(path, 0o500)
  tally.rounds++
  const started = await tryStart({ ...scene, data, tally })
  for (const path of [data, `${data}/db`]) chmodSync(path, 0o700)
  if (started instanceof Server) {
    tally.find('a directory it cannot write was taken', 'read-only', 'at the end')
    await started.kill()
  } else judgeRefusal(tally, 'a read-only directory', started, 'at the end')
}

/** A second server on the same data must be refused, and the first one must not notice. */
async function secondServer(scene: Scene, tally: Tally, folder: string): Promise<void> {
  const data = `${folder}/good`
  const first = await start({ ...scene, data, tally })
  tally.rounds++
  tally.faults++
  const second = await tryStart({ ...scene, data, tally })
  if (second instanceof Server) {
    tally.find('a second server on the same data', 'it started', 'at the end')
    await second.kill()
  } else {
    judgeRefusal(tally, 'a second server', second, 'at the end')
    if (!second.text.includes(String(first.pid))) tally.find('no pid', second.text.slice(-200), 'at the end')
  }
  const { status } = await first.client().get('/api/ready')
  if (status !== 200) tally.find('the first server suffered', String(status), 'at the end')
  await first.kill()
  // A lock left behind by the death of its owner must not stop the next server.
  const next = await tryStart({ ...scene, data, tally })
  if (next instanceof Server) await next.stop()
  else tally.find('a dead server locks the data', next.text.slice(-200), 'at the end')
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}

/** A hash of every file's name and content, except locks, which change with every look. */
function hashOf(data: string): string {
  const hasher = new Bun.CryptoHasher('sha256')
  for (const file of filesOf(data))
    if (!/lock/.test(file)) hasher.update(file).update(existsSync(file) ? readFileSync(file) : '')
  return hasher.digest('hex')
}
