// The lock of a data directory, between this process and another.

import { afterEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { inUse, LOCK_FILE, lockData, PID_FILE, processWithDatabase } from '../../src/store/server-lock.ts'

const folders: string[] = []
function folder(): string {
  const made = mkdtempSync(`${tmpdir()}/chartroom-lock-`)
  folders.push(made)
  return made
}
afterEach(() => {
  for (const made of folders.splice(0)) rmSync(made, { recursive: true })
})

function refusal(work: () => unknown): string {
  try {
    work()
    return 'nothing was refused'
  } catch (error) {
    return String(error)
  }
}

test('one holds it, a second one is told who, and it is free again once it is released', () => {
  const data = folder()
  const lock = lockData(data)
  expect(lock.wasLeft).toBe(false)
  expect(readFileSync(`${data}/${PID_FILE}`, 'utf8')).toBe(`${process.pid} ${hostname()}\n`)
  expect(statSync(`${data}/${PID_FILE}`).mode & 0o777).toBe(0o600)
  expect(refusal(() => lockData(data))).toContain(
    `Process ${process.pid} is serving this data directory already`,
  )
  lock.release()
  expect(existsSync(`${data}/${PID_FILE}`)).toBe(false)
  const again = lockData(data)
  expect(again.wasLeft).toBe(false)
  again.release()
})

test.each([
  [`1234 ${hostname()}\n`, 'Process 1234 is'],
  ['1234 elsewhere\n', 'Process 1234 on elsewhere is'],
])('the holder is named by where it runs: %p', (text, said) => {
  const data = folder()
  const lock = lockData(data)
  writeFileSync(`${data}/${PID_FILE}`, text)
  expect(refusal(() => lockData(data))).toContain(said)
  rmSync(`${data}/${PID_FILE}`)
  expect(refusal(() => lockData(data))).toContain('Another process is serving')
  lock.release()
})

test('a holder that was killed leaves its name, and no lock', () => {
  const data = folder()
  writeFileSync(`${data}/${PID_FILE}`, `1234 ${hostname()}\n`)
  const lock = lockData(data)
  expect(lock.wasLeft).toBe(true)
  lock.release()
})

test('a process that ends has let go', async () => {
  const data = folder()
  const module = new URL('../../src/store/server-lock.ts', import.meta.url).href
  const child = Bun.spawn(
    [
      process.execPath,
      '-e',
      `(await import('${module}')).lockData('${data}'); console.log('held'); await new Promise((r) => setInterval(r, 1e6))`,
    ],
    { stdout: 'pipe' },
  )
  const { value } = await child.stdout.getReader().read()
  expect(new TextDecoder().decode(value)).toBe('held\n')
  expect(refusal(() => lockData(data))).toContain(`Process ${child.pid} is`)
  child.kill('SIGKILL')
  await child.exited
  const lock = lockData(data)
  expect(lock.wasLeft).toBe(true)
  lock.release()
})

test('a file in its place that is none is refused, and so is a directory that is not there', () => {
  const data = folder()
  writeFileSync(`${data}/${LOCK_FILE}`, 'something else, and long enough to be looked at '.repeat(200))
  expect(refusal(() => lockData(data))).toContain('is no lock file of Chartroom')
  expect(refusal(() => lockData(`${data}/nowhere`))).toContain('The directory must be writable')
})

test('another process that has the database open is found, and this process is not counted', async () => {
  const data = folder()
  expect(processWithDatabase(data)).toBeNull()
  const kv = lmdbKv({ path: data })
  expect(processWithDatabase(data)).toBeNull()
  await kv.close()
  expect(String(inUse(null))).toContain('Another process is')
})
