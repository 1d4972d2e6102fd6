// Continuous backup: whatever happens on the way, what is restored is the database as some commit left it.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { Backup } from '../../src/store/backup/backup.ts'
import { chainTo, lineName, outdated, partName, stepsOf } from '../../src/store/backup/chain.ts'
import { parsePlace, placeAt } from '../../src/store/backup/place.ts'
import { restoreDatabase } from '../../src/store/backup/restore.ts'
import type { Key } from '../../src/store/kv.ts'
import { readLmdbFile } from '../../src/store/lmdb-file.ts'
import { lmdbKv, type LmdbKv } from '../../src/store/lmdb.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { isLong, rounds } from '../long.ts'
import { rejection } from '../rejection.ts'
import { startS3, type S3Server } from './s3-server.ts'

const DAY = 86_400_000

/** Pauses pass at once; whoever waits for a silence, or for the end of a stop, waits as long as `patienceMs` says. */
function testClock() {
  const clock = {
    time: Date.UTC(2026, 10, 22),
    patienceMs: 1000,
    now: () => clock.time,
    sleep: (ms: number, signal?: AbortSignal) =>
      ms <= clock.patienceMs || signal?.aborted
        ? Promise.resolve()
        : new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve())),
  }
  return clock
}

let s3: S3Server
let folder: string
let kv: LmdbKv
let clock: ReturnType<typeof testClock>

beforeEach(() => {
  s3 = startS3()
  folder = mkdtempSync(join(tmpdir(), 'backup-'))
  kv = lmdbKv({ path: join(folder, 'db') })
  clock = testClock()
})
afterEach(async () => {
  await kv.close()
  s3.stop()
  rmSync(folder, { recursive: true, force: true })
})

const place = (address = s3.address('data', { prefix: 'backup' })) => placeAt(address, clock)

function backupOf(
  source: LmdbKv = kv,
  options: {
    address?: string
    everyMs?: number
    keepMs?: number
    instance?: string
    directory?: string
  } = {},
) {
  return new Backup({
    clock,
    random: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
    log: () => {},
    source: source.pages,
    place: place(options.address),
    directory: options.directory ?? folder,
    instance: options.instance ?? '0123456789abcdef0123456789abcdef',
    everyMs: options.everyMs ?? DAY,
    keepMs: options.keepMs ?? 7 * DAY,
  })
}

const put = (store: LmdbKv, key: Key, value: string) => store.commit({ sets: [{ key, value }] })

async function contentOf(store: LmdbKv): Promise<Map<string, string>> {
  const entries = await store.list({ prefix: [] }, { limit: 10_000 })
  return new Map(entries.map(({ key, value }) => [JSON.stringify(key), value]))
}

/** What the last restore did without. */
let lastAvoided: readonly string[] = []

/** What a restore brings back, read from a whole file. */
async function restored(until?: number, from = place()): Promise<Map<string, string>> {
  const path = join(folder, `restored-${readdirSync(folder).length}`)
  mkdirSync(path)
  const { avoided } = await restoreDatabase({
    place: from,
    path: join(path, 'data.mdb'),
    until,
    progress: () => {},
  })
  lastAvoided = avoided
  readLmdbFile(join(path, 'data.mdb'), { whole: true })
  const store = lmdbKv({ path })
  try {
    const content = await contentOf(store)
    // It can be written to, and is whole after that.
    await put(store, ['written', 'after'], '1')
    return content
  } finally {
    await store.close()
    readLmdbFile(join(path, 'data.mdb'), { whole: true })
  }
}

async function begun(options: Parameters<typeof backupOf>[1] = {}) {
  const backup = backupOf(kv, options)
  await backup.look()
  await backup.settled()
  return backup
}

describe('what is restored', () => {
  test('is the database as it was, after any writes, deletions and long values', async () => {
    const seed = Date.now() % 1e9
    const random = seededRandom(seed)
    const below = (count: number) => Math.floor(random.uniform() * count)
    const states: Map<string, string>[] = []
    const times: number[] = []
    await put(kv, ['first'], '0')
    const backup = await begun()
    for (let round = 0; round < (isLong ? 25 : 8); round++) {
      for (let i = 0; i < 40; i++) {
        const keys = Array.from({ length: 1 + below(5) }, (): Key => ['k', below(400)])
        const unique = [...new Map(keys.map((key) => [String(key[1]), key])).values()]
        const value = `"${'x'.repeat(random.uniform() < 0.1 ? below(40_000) : below(300))}"`
        if (random.uniform() < 0.3) await kv.commit({ deletes: unique })
        else await kv.commit({ sets: unique.map((key) => ({ key, value })) })
      }
      clock.time += 1000
      await backup.look()
      times.push(clock.time)
      states.push(await contentOf(kv))
    }
    const at = below(states.length)
    expect([seed, await restored(times[at])]).toEqual([seed, states[at] as Map<string, string>])
    expect([seed, await restored()]).toEqual([seed, states.at(-1) as Map<string, string>])
    expect(backup.status()).toMatchObject({ state: 'ok', lagSeconds: 0, lastAt: clock.time, problem: null })
  })

  test('has every commit of bars and documents that other processes made, too', async () => {
    await begun()
    const other = lmdbKv({ path: join(folder, 'db') })
    await put(other, ['by', 'another'], '"x"')
    await other.close()
    const backup = backupOf()
    await backup.look()
    expect(await restored()).toEqual(new Map([['["by","another"]', '"x"']]))
  })

  test('holds a snapshot that was taken while writes went on, and what was written meanwhile', async () => {
    for (let i = 0; i < 300; i++) await put(kv, ['k', i], `"${'x'.repeat(30_000)}"`)
    const held = Promise.withResolvers<null>()
    s3.before = async (method, path) =>
      method === 'PUT' && path.includes('-0000000000000000-') ? held.promise : null
    const backup = backupOf()
    await backup.look()
    expect(backup.status().state).toBe('starting')
    for (let i = 0; i < 300; i += 2) {
      await put(kv, ['k', i], '"changed"')
      if (i % 20 === 0) await backup.look()
      if (i === 200) held.resolve(null)
    }
    await backup.settled()
    await backup.look()
    expect(backup.status().state).toBe('ok')
    expect(await restored()).toEqual(await contentOf(kv))
  })

  test('needs few steps, though there were many', async () => {
    await put(kv, ['n'], '0')
    const backup = await begun()
    for (let i = 0; i < 400; i++) {
      await put(kv, ['n', i % 7], String(i))
      clock.time += 300
      await backup.look()
      await backup.settled()
    }
    const chain = chainTo(stepsOf(await place().list('')))
    expect(chain?.length).toBeLessThan(130)
    expect(await restored()).toEqual(await contentOf(kv))
  })

  test('is never newer than asked, and an earlier time than the first is refused with that time', async () => {
    await put(kv, ['n'], '1')
    const backup = await begun()
    const first = clock.time
    clock.time += 5000
    await put(kv, ['n'], '2')
    await backup.look()
    expect(await restored(first + 4999)).toEqual(new Map([['["n"]', '1']]))
    expect(String(await rejection(restored(first - 1)))).toContain(
      `begins at ${new Date(first).toISOString()}, which is later than --at`,
    )
  })
})

describe('a server that is killed', () => {
  test('leaves what was put away, and the next goes on with the same line', async () => {
    await put(kv, ['n'], '1')
    const backup = await begun()
    await put(kv, ['n'], '2')
    await backup.look()
    // Nobody put this away: the process is gone.
    await put(kv, ['n'], '3')
    expect(await restored()).toEqual(new Map([['["n"]', '2']]))
    const next = backupOf()
    await next.look()
    expect(await restored()).toEqual(new Map([['["n"]', '3']]))
    expect(new Set(stepsOf(await place().list('')).map(({ line }) => line)).size).toBe(1)
  })

  test('in the middle of a step of several parts leaves the state before it', async () => {
    await put(kv, ['n'], '1')
    const backup = await begun()
    for (let i = 0; i < 8; i++) await put(kv, ['long', i], `"${'x'.repeat(2 << 20)}"`)
    let parts = 0
    s3.before = async (method) => (method === 'PUT' && ++parts > 1 ? 'AccessDenied' : null)
    await backup.look()
    expect(parts).toBe(2)
    expect(await restored()).toEqual(new Map([['["n"]', '1']]))
    s3.before = async () => null
    await backupOf().look()
    expect((await restored()).size).toBe(9)
  })

  test('whose file was replaced by an older one begins a new line', async () => {
    await put(kv, ['n'], '1')
    await begun()
    await kv.close()
    rmSync(join(folder, 'db'), { recursive: true })
    kv = lmdbKv({ path: join(folder, 'db') })
    await put(kv, ['other'], '1')
    clock.time += 1000
    await begun()
    expect(new Set(stepsOf(await place().list('')).map(({ line }) => line)).size).toBe(2)
    expect(await restored()).toEqual(new Map([['["other"]', '1']]))
  })
})

describe('a store that fails', () => {
  test.each([
    [
      'answers 503',
      async (): Promise<string> => 'SlowDown',
      'SlowDown: the store has too much to do',
      'late',
    ],
    [
      'refuses the key',
      async (): Promise<string> => 'AccessDenied',
      'AccessDenied: the key is not allowed to do this',
      'failing',
    ],
  ] as const)(
    'and %s is named, tried again, and nothing is missing after it',
    async (_, before, problem, state) => {
      await put(kv, ['n'], '1')
      const backup = await begun()
      s3.before = before
      await put(kv, ['n'], '2')
      const since = clock.time
      await backup.look()
      clock.time += 4000
      await put(kv, ['n'], '3')
      await backup.look()
      expect(backup.status()).toMatchObject({ state, problem, lagSeconds: 4, since })
      clock.time += 57_000
      expect(backup.status()).toMatchObject({ state: 'failing', problem, lagSeconds: 61, since })
      s3.before = async () => null
      await backup.look()
      expect(backup.status()).toMatchObject({ state: 'ok', problem: null, lagSeconds: 0 })
      expect(await restored()).toEqual(new Map([['["n"]', '3']]))
    },
  )

  test('now and then is late while that is tried again, and says why and since when', async () => {
    await put(kv, ['n'], '1')
    const backup = await begun()
    await put(kv, ['n'], '2')
    const since = clock.time
    const seen: unknown[] = []
    s3.before = async () => {
      clock.time += 1500
      seen.push(backup.status())
      return seen.length < 3 ? 'SlowDown' : null
    }
    await backup.look()
    const problem = 'SlowDown: the store has too much to do'
    expect(seen).toMatchObject([
      { state: 'ok', lagSeconds: 1.5, problem: null, since: null },
      { state: 'late', lagSeconds: 3, problem, since },
      { state: 'late', lagSeconds: 4.5, problem, since },
    ])
    expect(backup.status()).toMatchObject({ state: 'ok', lagSeconds: 0, problem: null, since: null })
    // That failure is over: what is late now has another reason.
    await put(kv, ['n'], '3')
    s3.before = async () => {
      clock.time += 3000
      seen.push(backup.status())
      return null
    }
    await backup.look()
    expect(seen.at(-1)).toMatchObject({ state: 'late', problem: 'It is slower than what is written' })
  })

  test('for a second is no failure, and only then one of the first snapshot when it has lasted a minute', async () => {
    await put(kv, ['n'], '1')
    const backup = await begun()
    s3.before = async () => 'SlowDown'
    await put(kv, ['n'], '2')
    await backup.look()
    clock.time += 1100
    expect(backup.status()).toMatchObject({ state: 'ok', lagSeconds: 1.1, problem: null })
    const first = backupOf(kv, { directory: join(folder, 'db') })
    await first.look()
    expect(first.status().state).toBe('starting')
    clock.time += 60_001
    expect(first.status()).toMatchObject({ state: 'failing', since: clock.time - 60_001 })
  })

  test('is late since the same time until it is caught up with', async () => {
    await put(kv, ['n'], '1')
    const backup = await begun()
    await put(kv, ['n'], '2')
    const since = clock.time
    // While each step is put away more is written.
    s3.before = async () => {
      clock.time += 3000
      await put(kv, ['n'], `${clock.time}`)
      return null
    }
    for (let i = 0; i < 3; i++) {
      await backup.look()
      expect(backup.status()).toMatchObject({ state: 'late', since })
    }
    s3.before = async () => null
    await backup.look()
    // Nobody has asked how it is meanwhile.
    clock.time += 3000
    await put(kv, ['n'], '4')
    const again = clock.time
    s3.before = async () => {
      clock.time += 3000
      expect(backup.status()).toMatchObject({ state: 'late', since: again })
      return null
    }
    await backup.look()
    expect(backup.status()).toMatchObject({ state: 'ok', since: null })
  })

  test('for an hour lets the file use its pages again meanwhile, and is caught up with in one step', async () => {
    await put(kv, ['n', 0], '0')
    const backup = await begun()
    const parts = s3.objects.size
    // It does not answer at all, and who asks has patience.
    const silent = Promise.withResolvers<string>()
    s3.before = () => silent.promise
    clock.patienceMs = 1000
    const looking = backup.look()
    await put(kv, ['n', 1], '1')
    const held = backup.look()
    for (let i = 0; i < 60; i++) await put(kv, ['n', i % 5], `"${i}${'x'.repeat(100_000)}"`)
    clock.time += 3600_000
    // What was written comes to 6 MB.
    expect(statSync(join(folder, 'db', 'data.mdb')).size).toBeLessThan(2 << 20)
    silent.resolve('SlowDown')
    await Promise.all([looking, held])
    await backup.look()
    expect(backup.status()).toMatchObject({ state: 'failing', lagSeconds: 3600 })
    s3.before = async () => null
    clock.time += 60_000
    await backup.look()
    await backup.settled()
    expect(backup.status()).toMatchObject({ state: 'ok', lagSeconds: 0 })
    expect(s3.objects.size).toBe(parts + 1)
    expect(await restored()).toEqual(await contentOf(kv))
  })

  test('because the clock is wrong, the bucket gone or the secret wrong says so in words', async () => {
    await put(kv, ['n'], '1')
    s3.skewMs = 3600_000
    const backup = backupOf()
    await backup.look()
    expect(backup.status().problem).toContain('the clocks of this machine and of the store differ')
    s3.skewMs = 0
    const gone = backupOf(kv, { address: s3.address('missing') })
    await gone.look()
    expect(gone.status()).toMatchObject({
      state: 'failing',
      lastAt: null,
      problem: 'NoSuchBucket: there is no such bucket',
    })
    const wrong = backupOf(kv, { address: s3.address('data', { secret: 'wrong' }) })
    await wrong.look()
    expect(wrong.status().problem).toBe('SignatureDoesNotMatch: the secret of the key is wrong')
    expect(wrong.status().place).not.toContain('wrong')
  })

  test('while the first snapshot is made gets another one, and steps go on', async () => {
    await put(kv, ['n'], '1')
    s3.before = async (method) => (method === 'PUT' ? 'AccessDenied' : null)
    const backup = await begun()
    expect(backup.status()).toMatchObject({ state: 'failing', lastAt: null })
    s3.before = async () => null
    clock.time += 60_000
    await put(kv, ['n'], '2')
    await backup.look()
    await backup.settled()
    await backup.look()
    expect(backup.status()).toMatchObject({ state: 'ok', problem: null })
    expect(await restored()).toEqual(new Map([['["n"]', '2']]))
  })

  test('is written to again by the server that stops, but not waited for', async () => {
    await put(kv, ['n'], '1')
    const backup = await begun()
    await put(kv, ['n'], '2')
    const stopped = new AbortController()
    stopped.abort()
    await backup.run(stopped.signal)
    expect(await restored()).toEqual(new Map([['["n"]', '2']]))
    s3.before = () => new Promise(() => {})
    clock.patienceMs = 5000
    await put(kv, ['n'], '3')
    await backup.run(stopped.signal)
  })
})

describe('a backup that was damaged', () => {
  test('is refused with the time up to which it is good, and half a file is left for nobody', async () => {
    await put(kv, ['n'], '1')
    const backup = await begun()
    const first = new Date(clock.time).toISOString()
    clock.time += 1000
    await put(kv, ['n'], '2')
    await backup.look()
    const [name = ''] = [...s3.objects.keys()].filter((path) => !path.includes('-0000000000000000-'))
    const whole = s3.objects.get(name) ?? new Uint8Array()
    for (const bytes of [
      whole.slice(0, 90),
      whole.map((byte, i) => (i === 80 ? byte ^ 1 : byte)),
      new Uint8Array(),
    ]) {
      s3.objects.set(name, bytes)
      const said = String(await rejection(restored()))
      expect(said).toContain('its checksum is wrong')
      expect(said).toContain(`--at ${first}`)
    }
    expect(await restored(Date.parse(first))).toEqual(new Map([['["n"]', '1']]))
  })

  test('or is none is refused with a sentence', async () => {
    expect(String(await rejection(restored()))).toContain(
      'There is no backup of Chartroom in s3://data/backup/',
    )
    s3.objects.set(
      `/data/backup/${partName(lineName(0, 'ab', new Uint8Array(4)), { from: 0, to: 5, time: 1 }, 0, false)}`,
      new Uint8Array(),
    )
    expect(String(await rejection(restored()))).toContain('a backup whose first snapshot is not whole')
  })
})

describe('an object that is damaged or gone, but not needed,', () => {
  async function withWideStep(): Promise<Map<string, string>> {
    await put(kv, ['n'], '0')
    const backup = await begun()
    for (let i = 0; i < 125; i++) {
      await put(kv, ['n', i % 7], String(i))
      clock.time += 300
      await backup.look()
      await backup.settled()
    }
    return contentOf(kv)
  }
  const stepsThere = async () => stepsOf(await place().list(''))

  test.each(['damaged', 'gone'])('as a wide step that is %s beside its narrow ones, is told', async (how) => {
    const content = await withWideStep()
    const wide = (await stepsThere()).find(({ from, to }) => from > 0 && to - from > 100)
    const path = `/data/backup/${wide?.parts[0]}`
    if (how === 'damaged') s3.objects.set(path, new Uint8Array(100))
    else
      s3.before = async (method, asked) => {
        if (method === 'GET' && asked === path) s3.objects.delete(path)
        return null
      }
    expect(await restored()).toEqual(content)
    expect(lastAvoided).toHaveLength(1)
    expect(lastAvoided[0]).toContain(`${wide?.parts[0]} cannot be used: it`)
  })

  test('as the newest snapshot after an older one, is told', async () => {
    await put(kv, ['n'], '1')
    const backup = await begun({ everyMs: 1000 })
    await put(kv, ['n'], '2')
    clock.time += 2000
    await backup.look()
    await backup.settled()
    const snapshots = (await stepsThere()).filter(({ from }) => from === 0)
    expect(snapshots).toHaveLength(2)
    s3.objects.set(`/data/backup/${snapshots[1]?.parts[0]}`, new Uint8Array(100))
    expect(await restored()).toEqual(new Map([['["n"]', '2']]))
    expect(lastAvoided).toHaveLength(1)
  })
})

describe('two servers at one place', () => {
  test('with two databases: the second is refused and writes nothing', async () => {
    await put(kv, ['n'], '1')
    await begun()
    const objects = [...s3.objects.keys()]
    const other = backupOf(kv, { instance: 'f'.repeat(32), directory: join(folder, 'db') })
    await other.look()
    await other.settled()
    expect(other.status()).toMatchObject({ state: 'failing', lastAt: null })
    expect(other.status().problem).toContain('the backup of another database is there')
    expect([...s3.objects.keys()]).toEqual(objects)
  })

  test('whose backups were mixed before: none is guessed, and none loses what the other keeps', async () => {
    await put(kv, ['n'], '1')
    await begun()
    const name = partName(
      lineName(clock.time, 'f'.repeat(32), new Uint8Array(4)),
      { from: 0, to: 5, time: clock.time },
      0,
      true,
    )
    s3.objects.set(`/data/backup/${name}`, new Uint8Array())
    expect(String(await rejection(restored()))).toContain('There are backups of 2 databases')
    const line = stepsOf(await place().list('')).find(({ parts }) => !parts.includes(name))?.line ?? ''
    const gone = outdated(stepsOf(await place().list('')), { now: clock.time + 99 * DAY, keepMs: DAY, line })
    expect(gone).toEqual([])
  })

  test('with copies of one database: it is said', async () => {
    await put(kv, ['n'], '1')
    const backup = await begun()
    const twin = backupOf(kv, { directory: join(folder, 'db') })
    clock.time += 3600_000
    await twin.look()
    await twin.settled()
    await backup.look()
    await backup.settled()
    expect(backup.status()).toMatchObject({ state: 'failing' })
    expect(backup.status().problem).toContain('Another server copies the same database to this place')
    // It has gone, and what it wrote is old.
    clock.time += 3 * 3600_000
    await backup.look()
    await backup.settled()
    expect(backup.status()).toMatchObject({ state: 'ok', problem: null })
  })
})

describe('snapshots', () => {
  test('that are outdated are deleted while steps go on, and a refusal is said', async () => {
    await put(kv, ['n'], '0')
    const backup = await begun({ everyMs: DAY, keepMs: DAY })
    for (let day = 1; day <= 4; day++) {
      clock.time += DAY
      await put(kv, ['n'], String(day))
      const held = Promise.withResolvers<string | null>()
      s3.before = async (method) => (method === 'DELETE' ? held.promise : null)
      await backup.look()
      await put(kv, ['n'], `${day}.5`)
      await backup.look()
      expect(backup.status().lagSeconds).toBe(0)
      held.resolve(day === 4 ? 'AccessDenied' : null)
      await backup.settled()
    }
    expect(backup.status().problem).toContain('What is outdated cannot be deleted (AccessDenied')
    expect(await restored()).toEqual(new Map([['["n"]', '4.5']]))
  })

  test('are made again after BACKUP_EVERY, and outdated ones are deleted after BACKUP_KEEP', async () => {
    await put(kv, ['n'], '0')
    const backup = await begun({ everyMs: DAY, keepMs: 3 * DAY })
    const begin = clock.time
    for (let hour = 1; hour <= 10 * 24; hour += 4) {
      clock.time = begin + hour * 3600_000
      await put(kv, ['n'], String(hour))
      await backup.look()
      await backup.settled()
    }
    const steps = stepsOf(await place().list(''))
    const snapshots = steps.filter(({ from }) => from === 0)
    expect(snapshots.length).toBeGreaterThanOrEqual(4)
    expect(snapshots.length).toBeLessThanOrEqual(5)
    // Three days ago can be restored, and what is older than that is gone.
    const old = begin + 7 * DAY
    expect(Number((await restored(old)).get('["n"]'))).toBeGreaterThanOrEqual(7 * 24 - 4)
    expect(Math.min(...steps.map(({ time }) => time))).toBeGreaterThan(begin + 5 * DAY)
  })

  test('and steps can be kept in a folder as well, for its owner only', async () => {
    await put(kv, ['n'], '1')
    const address = join(folder, 'elsewhere')
    const backup = await begun({ address })
    await put(kv, ['n'], '2')
    await backup.look()
    const files = readdirSync(address, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    )
    expect(files.length).toBe(2)
    for (const file of files) expect(statSync(join(file.parentPath, file.name)).mode & 0o777).toBe(0o600)
    writeFileSync(join(address, 'mine.txt'), 'not of a backup')
    expect(await restored(undefined, place(address))).toEqual(new Map([['["n"]', '2']]))
    expect(existsSync(join(address, 'mine.txt'))).toBe(true)
  })
})

test('what is outdated is never needed for any time within BACKUP_KEEP', () => {
  const seed = Date.now() % 1e9
  const random = seededRandom(seed)
  const below = (count: number) => Math.floor(random.uniform() * count)
  for (let round = 0; round < rounds(20); round++) {
    const keepMs = (1 + below(5)) * DAY
    let names: string[] = []
    let [now, to, wideFrom, line] = [30 * DAY, 0, 0, '']
    const begin = () => {
      now++
      line = lineName(
        now,
        'ab',
        new Uint8Array(4).map(() => below(256)),
      )
      to = wideFrom = 1 + below(5)
      names.push(partName(line, { from: 0, to, time: now }, 0, true))
    }
    begin()
    for (let i = 0; i < 200; i++) {
      now += below(random.uniform() < 0.5 ? 60_000 : DAY / 6)
      const from = to
      to += 1 + below(3)
      names.push(partName(line, { from, to, time: now }, 0, true))
      const dice = random.uniform()
      if (dice < 0.1) names.push(partName(line, { from: dice < 0.05 ? wideFrom : 0, to, time: now }, 0, true))
      if (dice < 0.1) wideFrom = to
      if (dice > 0.98) begin()
      // A wide step of one narrow one has its name.
      names = [...new Set(names)]
      if (dice < 0.3) {
        const before = stepsOf(names)
        const gone = new Set(outdated(before, { now, keepMs, line }))
        names = names.filter((name) => !gone.has(name))
        const after = stepsOf(names)
        for (let probe = 0; probe < 10; probe++) {
          const until = now - random.uniform() * keepMs
          // All is there that was written two minutes before, or before the very moment where it is not a day ago.
          const was = chainTo(before, until > now - DAY ? until : until - 120_000)?.at(-1)
          const is = chainTo(after, until)?.at(-1)
          expect([seed, round, (is?.time ?? 0) >= (was?.time ?? 0)]).toEqual([seed, round, true])
        }
        expect([seed, round, chainTo(after)?.at(-1)?.to]).toEqual([seed, round, to])
      }
    }
  }
})

describe('the chain', () => {
  const line = '20261122T000000Z-ab-00000000'
  const step = (from: number, to: number, time = to) => partName(line, { from, to, time }, 0, true)
  const lead = (names: readonly string[], until?: number) =>
    chainTo(stepsOf(names), until)?.map(({ from, to }) => [from, to]) ?? null

  test('takes the newest snapshot and the widest steps, and ends at a gap', () => {
    const names = [step(0, 5), step(5, 6), step(6, 7), step(5, 9), step(7, 8), step(8, 12), step(13, 14)]
    expect(lead(names)).toEqual([
      [0, 5],
      [5, 9],
      [8, 12],
    ])
    expect(lead([...names, step(0, 11)])).toEqual([
      [0, 11],
      [8, 12],
    ])
    expect(lead(names, 8)).toEqual([
      [0, 5],
      [5, 6],
      [6, 7],
      [7, 8],
    ])
    expect(lead([step(5, 6)])).toBeNull()
  })

  test('leaves out a step of which a part is missing, and names that are none of ours', () => {
    const parts = [0, 1, 2].map((part) => partName(line, { from: 5, to: 7, time: 7 }, part, part === 2))
    expect(lead([step(0, 5), ...parts, 'x', '../y', `${line}/z`])).toEqual([
      [0, 5],
      [5, 7],
    ])
    for (const missing of parts)
      expect(lead([step(0, 5), ...parts.filter((part) => part !== missing)])).toEqual([[0, 5]])
  })

  test('loses narrow steps after a day where a wide one stands for them, and nothing that leads anywhere', () => {
    const names = [step(0, 5), step(5, 6), step(6, 7), step(5, 7), step(7, 8, 2 * DAY)]
    const gone = outdated(stepsOf(names), { now: 2 * DAY, keepMs: 7 * DAY, line })
    expect(gone).toEqual([step(5, 6), step(6, 7)])
  })

  test('of another file of the same database goes only when this one has a snapshot and it is too old', () => {
    const other = partName('20250101T000000Z-ab-00000001', { from: 0, to: 3, time: 1 }, 0, true)
    const now = { now: 9 * DAY, keepMs: 7 * DAY, line }
    expect(outdated(stepsOf([other]), now)).toEqual([])
    expect(outdated(stepsOf([other, step(0, 5, 9 * DAY)]), now)).toEqual([other])
  })
})

test('a place is an S3 address or a folder, and a mistake is said', () => {
  expect(parsePlace('/mnt/nas/chartroom')).toBe('/mnt/nas/chartroom')
  expect(() => parsePlace('s3://bucket/prefix')).toThrow('expected an address like s3://KEY:SECRET@bucket')
  expect(() => parsePlace('https://example.com')).toThrow('or a folder')
})
