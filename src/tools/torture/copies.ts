// Section "copies" copies a data directory with everything in it into a PostgreSQL and back by `chartroom copy`, while the
// copier is killed, the database is killed, and the way to it is cut, all at random moments. In the end every document and
// every bar must be there, byte for byte, and a server on the copy must answer as the one on the original did.
//
// What is compared is read by other code than the copier's: the pages of LMDB's file, and the rows of the database.

import { SQL } from 'bun'
import { mkdtempSync, rmSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { IN_FOLDER, Place } from '../../../tests/executable/server.ts'
import { everything, OWNER } from '../../../tests/store/everything.ts'
import { type OwnPostgres, startPostgres } from '../../../tests/store/postgres-server.ts'
import { postgresProxy, type Proxy } from '../../../tests/store/postgres-proxy.ts'
import { identities } from '../../people/accounts/accounts.ts'
import { emptyBars } from '../../market/bars.ts'
import { decodeKey, encodeKey } from '../../store/key.ts'
import type { Kv } from '../../store/kv.ts'
import { stageText } from '../../store/large-text.ts'
import { lmdbBars, RECORDS } from '../../store/lmdb-bars.ts'
import { CHUNKS } from '../../store/lmdb-chunks.ts'
import { readLmdbFile } from '../../store/lmdb-file.ts'
import { DOCUMENTS, lmdbKv } from '../../store/lmdb.ts'
import { transact } from '../../store/transaction.ts'
import { Random } from './random.ts'
import type { Scene } from './scene.ts'
import type { Tally } from './tally.ts'

const BLOWS = ['kill', 'kill', 'kill', 'kill', 'crash', 'cut'] as const
type Blow = (typeof BLOWS)[number]
/** What is done to one copy before it may come to its end. */
const BLOWS_A_COPY = 3
const SHORT_BULK = { documents: 1000, series: 4 }
const BULK = { documents: 40_000, series: 100 }
const BARS_A_SERIES = 9000
/** A document's value in LMDB begins with its version. */
const VERSION_BYTES = 8
const CUT_MS = 1500

export async function copies(scene: Scene, tally: Tally): Promise<void> {
  const random = new Random(scene.seed)
  const postgres = await startPostgres()
  const place = new Place('executable', IN_FOLDER, scene.binary)
  const world: World = {
    scene,
    tally,
    random,
    postgres,
    place,
    proxy: postgresProxy(postgres.url),
    wholeMs: 500,
  }
  try {
    await torture(world)
  } finally {
    world.proxy.stop()
    place.remove()
    await postgres.stop()
  }
}

interface World {
  readonly scene: Scene
  readonly tally: Tally
  readonly random: Random
  readonly postgres: OwnPostgres
  readonly place: Place
  readonly proxy: Proxy
  /** How long a copy takes that nothing is done to; a guess at first. */
  wholeMs: number
}

async function torture(world: World): Promise<void> {
  const { scene, tally, place, random } = world
  const from = `${place.folder}/data`
  const paths = await filled(world, from)
  const answers = await answersOf(world, paths, '--data-dir', from)
  const original = contentsOfFolder(from)
  tally.figure('documents', original.documents.size.toLocaleString('en'))
  tally.figure('kinds of them', String(new Set([...original.documents.keys()].map(kindOf)).size))
  tally.figure('series', original.series.size.toLocaleString('en'))
  tally.figure('facts of symbols', String(original.facts?.size))
  const blows = new Map<string, number>()
  const rounds = scene.rounds(20)
  for (let round = 0; round < rounds; round++) {
    const step = `round ${round}`
    const database = await freshDatabase(world)
    await copied(world, ['--from', from, '--to', database.near], blows, step)
    compare(tally, original, await contentsOfDatabase(database.direct), 'the database', step)
    const back = mkdtempSync(`${place.folder}/back-`)
    const key = `${from}/instance.key`
    await copied(world, ['--from', database.near, '--to', back, '--key-file', key], blows, step)
    compare(tally, original, contentsOfFolder(back), 'the folder that it came back to', step)
    if (round === rounds - 1) {
      const there = await answersOf(world, paths, '--store', database.direct, '--key-file', key)
      compareAnswers(tally, answers, there, 'the database', step)
      compareAnswers(tally, answers, await answersOf(world, paths, '--data-dir', back), 'the folder', step)
    }
    rmSync(back, { recursive: true })
    await dropped(world, database.name)
    tally.rounds++
    if (random.chance(0.2)) scene.print(`  copies: ${tally.rounds} rounds, ${JSON.stringify([...blows])}`)
  }
  for (const [blow, times] of blows) tally.figure(blow, String(times))
  tally.figure('what was left of a copy', `${world.wholeMs.toFixed(0)} ms`)
}

/** Makes the data, and answers the addresses to ask about it. */
async function filled({ scene, place }: World, directory: string): Promise<readonly string[]> {
  const server = await place.serve('--data-dir', directory)
  const { paths } = await everything(server)
  await server.stop()
  const kv = lmdbKv({ path: `${directory}/db` })
  await bringFromNetworks(kv)
  const bulk = scene.isShort ? SHORT_BULK : BULK
  for (let i = 0; i < bulk.documents; i += 100)
    await kv.commit({
      sets: Array.from({ length: 100 }, (_, j) => ({
        key: ['bulk', i + j, `№ ${j}\0😀`],
        value: JSON.stringify('текст \u0000 '.repeat(1 + ((i + j) % 60))),
      })),
    })
  const bars = emptyBars(BARS_A_SERIES)
  for (let series = 0; series < bulk.series; series++) {
    for (let i = 0; i < BARS_A_SERIES; i++) {
      bars.time[i] = Date.UTC(2020, 0, 1) + i * 60_000
      const price = 100 + Math.sin(i / 50 + series)
      for (const column of [bars.open, bars.high, bars.low, bars.close]) column[i] = price
    }
    await lmdbBars(kv).upsert({ exchange: 'BULK', symbol: `Ω${series}`, interval: '1m' }, bars)
  }
  await kv.close()
  return paths
}

/** What only a network makes: feeds, lists of symbols, keys that a provider has accepted, and who an identity provider knows. */
async function bringFromNetworks(kv: Kv): Promise<void> {
  const documents = {
    'follows BINANCE BTCUSDT 1m': {},
    'feeds told BINANCE BTCUSDT 1m': { state: 'live', at: 1 },
    'providers chosen': ['Binance'],
    'provider-keys Tiingo': { sealed: 'v1.x', setAt: 1 },
    'symbol-lists Binance': {
      fetchedAt: 7,
      count: 2,
      failures: 0,
      lastError: null,
      retryAt: 0,
      busyUntil: 0,
    },
  }
  const sets = Object.entries(documents).map(([key, value]) => ({
    key: key.split(' '),
    value: JSON.stringify(value),
  }))
  await kv.commit({ sets })
  const list = Buffer.from('BTCUSDT\tBitcoin 平安\n'.repeat(100_000))
  const staged = await stageText(kv, ['symbol-list-text', 'Binance', 7], [list])
  const [user] = await kv.list({ prefix: ['users', 'id'] }, { limit: 1 })
  const identity = {
    id: 'idn_1',
    userId: String(user?.key[2]),
    issuer: 'https://id.example',
    subject: 'ö\0',
    email: null,
    createdAt: 1,
    lastUsedAt: null,
  }
  await transact(kv, () => [staged, identities(kv).insert(identity)])
}

/** Carries out the copy whatever happens to it; finds what it should not have said or done. */
async function copied(
  world: World,
  args: readonly string[],
  blows: Map<string, number>,
  step: string,
): Promise<void> {
  const { random, tally } = world
  const way = args[1]?.startsWith('postgres') ? 'out of the database' : 'into the database'
  for (let blow = 0; blow < BLOWS_A_COPY; blow++) {
    const kind = random.pick(BLOWS)
    const { code, err, isDone } = await struck(world, args, kind, random.next() * world.wholeMs)
    const hit = isDone ? 'came too late' : `${kind} ${way}`
    blows.set(hit, (blows.get(hit) ?? 0) + 1)
    if (!isDone) tally.faults++
    if (code === 0) return
    if (code !== null && !/^[^\n]*(does not answer|Give .* again|has come to its end)[^\n]*\n?$/.test(err))
      tally.find(
        'a copy that was hit says something else',
        `${code} ${err.slice(0, 500)}`,
        `${step}, ${kind}`,
      )
  }
  const started = performance.now()
  const { code, err } = await world.place.run('copy', ...args)
  if (code !== 0) tally.find('a copy does not go on', `${code} ${err.slice(0, 500)}`, step)
  world.wholeMs = (world.wholeMs + performance.now() - started) / 2
}

/** `code` is null if the copier was killed. */
async function struck(
  { place, postgres, proxy }: World,
  args: readonly string[],
  blow: Blow,
  afterMs: number,
) {
  const copier = place.spawn(['copy', ...args])
  const said = new Response(copier.stderr).text()
  await Promise.race([copier.exited, Bun.sleep(afterMs)])
  const isDone = copier.exitCode !== null
  if (!isDone && blow === 'kill') copier.kill('SIGKILL')
  if (!isDone && blow === 'crash') await postgres.crash()
  if (!isDone && blow === 'cut') {
    proxy.close()
    await Promise.race([copier.exited, Bun.sleep(CUT_MS)])
    proxy.open()
  }
  await copier.exited
  return { code: copier.exitCode, err: await said, isDone }
}

/** All that is stored, by name; values are hashes of bytes. */
export interface Stored {
  readonly documents: ReadonlyMap<string, string>
  readonly series: ReadonlyMap<string, string>
  /** Notes and facts of symbols; null: it has them in tables of its own, for which a server's answers are compared. */
  readonly facts: ReadonlyMap<string, string> | null
}

const hash = (bytes: Uint8Array) => Bun.CryptoHasher.hash('sha1', bytes, 'hex')
const kindOf = (key: string) => String(decodeKey(Buffer.from(key, 'hex'))[0])
const isOfTheStore = (key: string) => ['lease'].includes(kindOf(key)) || key === COPY

const COPY = Buffer.from(encodeKey(['meta', 'copy'])).toString('hex')

interface NamedSeries {
  readonly owner?: string
  readonly exchange: string
  readonly symbol: string
  readonly interval: string
  readonly id: number
}

function contentsOfFolder(directory: string): Stored {
  const documents = new Map<string, string>()
  const chunks = new Map<number, string[]>()
  const series = new Map<string, string>()
  const facts = new Map<string, string>()
  const named: NamedSeries[] = []
  readLmdbFile(`${directory}/db/data.mdb`, {
    whole: true,
    entry(table, key, value) {
      if (table === DOCUMENTS.name) documents.set(key.toString('hex'), hash(value.subarray(VERSION_BYTES)))
      if (table === CHUNKS.name) {
        const [id, first] = decodeKey(key).map(Number)
        chunks.set(id!, [...(chunks.get(id!) ?? []), `${first} ${hash(value)}`])
      }
      if (table !== RECORDS.name) return
      const [kind] = decodeKey(key)
      if (kind === 'series') named.push(JSON.parse(value.toString()) as NamedSeries)
      if (kind === 'note' || kind === 'symbol') facts.set(key.toString('hex'), hash(Buffer.from(value)))
    },
  })
  for (const { id, owner = '', exchange, symbol, interval, ...rest } of named)
    series.set([owner, exchange, symbol, interval].join('\n'), said(rest, chunks.get(id) ?? []))
  return { documents: withoutOwn(documents), series, facts }
}

async function contentsOfDatabase(url: string): Promise<Stored> {
  const sql = new SQL(url, { max: 1 })
  const documents = new Map<string, string>()
  for (let after: Buffer = Buffer.alloc(0); ;) {
    const rows =
      (await sql`select key, value from chartroom.documents where key > ${after} order by key limit 2000`) as {
        key: Buffer
        value: Buffer
      }[]
    for (const { key, value } of rows) documents.set(key.toString('hex'), hash(value))
    const last = rows.at(-1)
    if (!last) break
    after = last.key
  }
  const series = new Map<string, string>()
  const all = (await sql`select * from chartroom.bar_series`) as Record<string, unknown>[]
  for (const { id, key, change, count, first, last, begun } of all) {
    const rows =
      (await sql`select first, bytes from chartroom.bar_chunks where series = ${id} order by first`) as {
        first: number
        bytes: Uint8Array
      }[]
    const facts = { count, first, last, change: Number(change), ...(begun !== null && { begun }) }
    series.set(
      decodeKey(key as Buffer).join('\n'),
      said(
        facts,
        rows.map((row) => `${row.first} ${hash(row.bytes)}`),
      ),
    )
  }
  await sql.close()
  return { documents: withoutOwn(documents), series, facts: null }
}

const said = (facts: Readonly<Record<string, unknown>>, chunks: readonly string[]) =>
  JSON.stringify([Object.entries(facts).toSorted(([a], [b]) => (a < b ? -1 : 1)), chunks])

const withoutOwn = (documents: ReadonlyMap<string, string>) =>
  new Map([...documents].filter(([key]) => !isOfTheStore(key)))

export function compare(tally: Tally, original: Stored, copy: Stored, where: string, step: string): void {
  for (const of of ['documents', 'series', 'facts'] as const) {
    const [there, here] = [original[of], copy[of]]
    if (there === null || here === null) continue
    for (const [name, value] of there)
      if (here.get(name) !== value)
        tally.find(
          `${of} of ${where} differ`,
          `${shown(of, name)}: ${String(here.get(name)).slice(0, 200)} for ${value.slice(0, 200)}`,
          step,
        )
    for (const name of here.keys())
      if (!there.has(name)) tally.find(`${of} of ${where} are too many`, shown(of, name), step)
  }
}

const shown = (of: keyof Stored, name: string) =>
  of === 'series' ? name : JSON.stringify(decodeKey(Buffer.from(name, 'hex')))

interface Answer {
  readonly status: number
  readonly json: unknown
}

type Answers = ReadonlyMap<string, Answer>

async function answersOf(
  { place, tally }: World,
  paths: readonly string[],
  ...flags: readonly string[]
): Promise<Answers> {
  const server = await place.serve(...flags)
  const signedIn = await server.call('POST', '/api/auth/sign-in', OWNER)
  server.headers = { cookie: /^[^;]+/.exec(signedIn.headers.get('set-cookie') ?? '')?.[0] ?? '' }
  const answers = new Map<string, Answer>()
  for (const path of paths) {
    tally.requests++
    const { status, json } = await server.call('GET', path)
    answers.set(path, { status, json: json as unknown })
  }
  await server.stop()
  return answers
}

export function compareAnswers(
  tally: Tally,
  original: Answers,
  copy: Answers,
  where: string,
  step: string,
): void {
  for (const [path, answer] of original) {
    // Two refusals are alike, whatever they hide.
    if (answer.status !== 200) tally.find('the original does not answer', `${path}: ${answer.status}`, step)
    if (!isDeepStrictEqual(copy.get(path), answer))
      tally.find(
        `a server on ${where} answers otherwise`,
        `${path}: ${JSON.stringify(copy.get(path)).slice(0, 500)} for ${JSON.stringify(answer).slice(0, 500)}`,
        step,
      )
  }
}

/** An empty one: `near` is by the way that may be cut. */
async function freshDatabase({ postgres, proxy }: World) {
  const name = `copied_${crypto.randomUUID().replaceAll('-', '')}`
  await asked(postgres, `create database ${name}`)
  const named = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href
  return { name, near: named(proxy.url), direct: named(postgres.url) }
}

async function dropped({ postgres }: World, name: string): Promise<void> {
  await asked(postgres, `drop database ${name} with (force)`)
}

async function asked(postgres: OwnPostgres, statement: string): Promise<void> {
  const sql = new SQL(postgres.url, { max: 1 })
  await sql.unsafe(statement)
  await sql.close()
}
