// `chartroom copy` between a data directory and a PostgreSQL, as its user meets it.

import { afterAll, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { settleKey } from '../../src/store/instance-key.ts'
import { lockData } from '../../src/store/server-lock.ts'
import { oldDataFolder } from '../store/old-data.ts'
import { postgresStores, realClock } from '../store/postgres-stores.ts'
import { inFolder } from '../store/own-database.ts'
import { type Outcome, temporaryFolder, withClock } from './run.ts'

const postgres = await postgresStores()
const sql = new SQL(postgres.url, { max: 1 })
afterAll(async () => {
  await sql.close()
  await postgres.stop()
})

async function database(): Promise<string> {
  const name = `copy_${crypto.randomUUID().replaceAll('-', '')}`
  await sql.unsafe(`create database ${name}`)
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  return url.href
}

/** With a clock that runs, since a database is asked. */
const copy = (...args: string[]): Promise<Outcome> =>
  withClock(realClock, inFolder(temporaryFolder()), 'copy', ...args)

test('a folder of version 0.1.0 goes into a database and comes back, with its key', async () => {
  const from = oldDataFolder(temporaryFolder())
  const url = await database()
  const there = await copy('--from', from, '--to', url)
  expect(there).toMatchObject({ code: 0, err: expect.not.stringContaining('not') })
  const [counts = '', digest = '', key] = there.out.split('\n')
  expect(counts).toMatch(/^Copied: [\d,]+ documents, [\d,]+ bars in 9 series, \d+ symbols/)
  expect(digest).toMatch(/^Read again and compared, both: SHA-256 [0-9a-f]{64}\.$/)
  expect(key).toBe(`Its servers need the key of its secrets: start them with KEY_FILE=${from}/instance.key.`)

  const back = temporaryFolder()
  expect(await copy('--from', url, '--to', back)).toMatchObject({
    code: 1,
    err: expect.stringContaining('Name the right file with --key-file'),
  })
  const again = await copy('--from', url, '--to', back, '--key-file', `${from}/instance.key`)
  expect(again).toMatchObject({ code: 0, err: '' })
  expect(again.out.split('\n').slice(0, 2)).toEqual([counts, digest])
  expect(readFileSync(`${back}/instance.key`)).toEqual(readFileSync(`${from}/instance.key`))

  expect(await copy('--from', from, '--to', url)).toMatchObject({
    code: 1,
    err: expect.stringContaining('The target is not empty'),
  })
})

test('a folder that is served, and a key that is another, are refused before anything is copied', async () => {
  const from = temporaryFolder()
  const kv = lmdbKv({ path: `${from}/db` })
  const random = { bytes: (length: number) => new Uint8Array(length).fill(7) }
  await settleKey(kv, `${from}/instance.key`, { kind: 'missing' }, random)
  await kv.close()
  const to = temporaryFolder()
  const lock = lockData(from)
  expect(await copy('--from', from, '--to', to)).toMatchObject({
    code: 1,
    err: expect.stringContaining('is serving this data directory'),
  })
  lock.release()

  writeFileSync(`${to}/instance.key`, 'another')
  expect(await copy('--from', from, '--to', to)).toMatchObject({
    code: 1,
    err: `${to}/instance.key is another key. Nothing was copied. Move it away, or name another --to.`,
  })
  const wrong = `${temporaryFolder()}/wrong.key`
  copyFileSync(`${to}/instance.key`, wrong)
  expect(await copy('--from', from, '--to', to, '--key-file', wrong)).toMatchObject({
    code: 1,
    err: expect.stringContaining('wrong.key is not the key'),
  })
  expect(existsSync(`${to}/db`)).toBe(false)
})

test.each([
  [[], '--from'],
  [['--from', '/nowhere', '--to', '/x'], 'There is no database in /nowhere'],
  [['--from', 'mysql://h/x', '--to', '/x'], '--from: expected an address like postgres://'],
  [['--from', '/nowhere'], '--to'],
])('%j is told what it lacks', async (args, said) => {
  const { code, err } = await copy(...args)
  expect(code).toBe(2)
  expect(err).toContain(said)
})
