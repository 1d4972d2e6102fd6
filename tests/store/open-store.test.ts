// Opening the store: what is refused holds nothing open and writes nothing, and what is made is for its owner alone.

import { afterEach, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { openServerStore, openStore, openToCopy } from '../../src/store/open-store.ts'
import { rejection } from '../rejection.ts'

const folders: string[] = []
function folder(): string {
  const made = mkdtempSync(`${tmpdir()}/chartroom-open-`)
  folders.push(made)
  return made
}
afterEach(() => {
  for (const made of folders.splice(0)) rmSync(made, { recursive: true })
})

/** The files of the directory that this process holds open; only Linux says so. */
function held(directory: string): string[] {
  if (!existsSync('/proc/self/fd')) return []
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${name}`)
      return path.startsWith(directory) ? [path] : []
    } catch {
      // It was the one of the listing itself.
      return []
    }
  })
}

const admit = () => Promise.resolve()

/** A directory whose database says this of itself. */
async function saying(key: string, value: string): Promise<string> {
  const directory = folder()
  const kv = await openStore({ directory })
  await kv.commit({ sets: [{ key: ['meta', key], value }] })
  await kv.close()
  return directory
}

test('a store that was closed holds nothing open, started by a server or by a command', async () => {
  const directory = folder()
  for (let start = 0; start < 2; start++) {
    const { kv, lock } = await openServerStore({ directory, admit })
    await kv.commit({ sets: [{ key: ['things', start], value: 'x' }] })
    await kv.close()
    lock.release()
    expect(held(directory)).toEqual([])
  }
  const kv = await openStore({ directory })
  expect((await kv.get(['things', 1]))?.value).toBe('x')
  await kv.close()
  expect(held(directory)).toEqual([])
})

test('one that is not admitted is let go of, unchanged', async () => {
  const directory = await saying('mine', '1')
  const refuses = () => Promise.reject(new Error('not admitted'))
  expect(await rejection(openServerStore({ directory, admit: refuses }))).toMatchObject({
    message: 'not admitted',
  })
  expect(held(directory)).toEqual([])
  // The lock was let go of, too.
  const { kv, lock } = await openServerStore({
    directory,
    admit: async (found) => expect((await found.get(['meta', 'mine']))?.value).toBe('1'),
  })
  await kv.close()
  lock.release()
})

test.each([
  ['schema', '99', 'has layout 99'],
  ['copy', '{}', 'did not come to its end'],
])('a database with "%s" of %s is refused and let go of', async (key, value, said) => {
  const directory = await saying(key, value)
  const message = expect.stringContaining(said)
  expect(await rejection(openServerStore({ directory, admit }))).toMatchObject({ message })
  expect(await rejection(openStore({ directory }))).toMatchObject({ message })
  expect(held(directory)).toEqual([])
  // It is as it was.
  const kv = lmdbKv({ path: `${directory}/db` })
  expect((await kv.get(['meta', key]))?.value).toBe(value)
  await kv.close()
})

test('only a copy may be gone on with where it is not whole', async () => {
  const directory = await saying('copy', '{}')
  const kv = await openToCopy({ directory })
  expect((await kv.get(['meta', 'copy']))?.value).toBe('{}')
  await kv.close()
})

test('nobody else may read it, also where somebody could before', async () => {
  const directory = `${folder()}/below/data`
  const modes = () =>
    ['', '/db', '/db/data.mdb', '/db/lock.mdb', '/server.lock'].map(
      (name) => statSync(directory + name).mode & 0o077,
    )
  const serve = async () => {
    const { kv, lock } = await openServerStore({ directory, admit })
    await kv.close()
    lock.release()
  }
  await serve()
  expect(modes()[0]).toBe(0)
  expect(modes()[4]).toBe(0)
  for (const name of ['', '/db']) chmodSync(directory + name, 0o755)
  for (const name of ['/db/data.mdb', '/db/lock.mdb', '/server.lock']) chmodSync(directory + name, 0o644)
  await serve()
  expect(modes()).toEqual([0, 0, 0, 0, 0])
})

test('a command that does not find the locks of a running server leaves its database alone', async () => {
  const directory = folder()
  const { kv, lock } = await openServerStore({ directory, admit: async () => {} })
  rmSync(`${directory}/db/lock.mdb`)
  for (const open of [openStore, openToCopy])
    expect(String(await rejection(open({ directory })))).toMatch(
      new RegExp(`lock.mdb was deleted while process ${process.pid} serves.*Restart the server`),
    )
  rmSync(`${directory}/server.pid`)
  expect(String(await rejection(openStore({ directory })))).toContain(
    'lock.mdb was deleted while another process serves',
  )
  expect(existsSync(`${directory}/db/lock.mdb`)).toBe(false)
  await kv.close()
  lock.release()
  // A server that was killed leaves its number behind, and so does a container that is gone.
  for (const left of [`${process.pid} ${hostname()}\n`, '7 elsewhere\n']) {
    writeFileSync(`${directory}/server.pid`, left)
    await (await openStore({ directory })).close()
    expect(existsSync(`${directory}/db/lock.mdb`)).toBe(true)
    rmSync(`${directory}/db/lock.mdb`)
  }
})

test('a directory that cannot be made is refused with what can be done', async () => {
  const file = `${folder()}/file`
  writeFileSync(file, '')
  const directory = `${file}/data`
  for (const open of [openStore, openServerStore])
    expect(await rejection(open({ directory, admit }))).toMatchObject({
      message: expect.stringMatching(/^The data directory \/.*\/file\/data cannot be made \(.*--data-dir\.$/),
    })
})

test('a lock file that cannot be written is refused with what can be done', async () => {
  const directory = folder()
  await (await openStore({ directory })).close()
  rmSync(`${directory}/db/lock.mdb`)
  mkdirSync(`${directory}/db/lock.mdb`)
  for (const open of [openStore, openServerStore])
    expect(await rejection(open({ directory, admit }))).toMatchObject({
      message: expect.stringMatching(/cannot be opened \(EISDIR.*The directory must be writable/),
    })
  expect(held(directory)).toEqual([])
})
