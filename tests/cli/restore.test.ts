// `chartroom restore --from`: from where a server copies to continuously, into an empty data directory.

import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, statSync } from 'node:fs'
import { Backup } from '../../src/store/backup/backup.ts'
import { placeAt } from '../../src/store/backup/place.ts'
import { readInstance, settleKey } from '../../src/store/instance-key.ts'
import { openStore } from '../../src/store/open-store.ts'
import { startS3 } from '../store/s3-server.ts'
import { inFolder } from '../store/own-database.ts'
import { temporaryFolder, withClock } from './run.ts'

const clock = {
  time: Date.UTC(2026, 10, 22, 21, 30),
  now: () => clock.time,
  sleep: (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve())),
}
const chartroom = (directory: string, ...args: string[]) => withClock(clock, inFolder(directory), ...args)
const random = { bytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)) }

/** A data directory with two values, a minute apart, that was copied to a place. */
async function copiedTo(address: string): Promise<string> {
  const directory = temporaryFolder()
  await chartroom(directory, 'user', 'list')
  const kv = await openStore({ directory })
  await settleKey(kv, `${directory}/instance.key`, { kind: 'missing' }, random)
  const instance = (await readInstance(kv))?.id ?? ''
  const backup = new Backup({
    clock,
    random,
    log: () => {},
    source: kv.pages,
    place: placeAt(address, clock),
    directory,
    instance,
    everyMs: 86_400_000,
    keepMs: 86_400_000,
  })
  await kv.commit({ sets: [{ key: ['of', 'the', 'test'], value: '"first"' }] })
  await backup.look()
  await backup.settled()
  clock.time += 60_000
  await kv.commit({ sets: [{ key: ['of', 'the', 'test'], value: '"second"' }] })
  await backup.look()
  await kv.close()
  return directory
}

async function valueIn(directory: string): Promise<string | undefined> {
  const kv = await openStore({ directory })
  try {
    return (await kv.get(['of', 'the', 'test']))?.value
  } finally {
    await kv.close()
  }
}

test('the last state, or that of a time, is brought back from a bucket for its owner only', async () => {
  const s3 = startS3()
  try {
    const address = s3.address('data', { prefix: 'chartroom' })
    const from = ['restore', '--from', address]
    const begin = clock.time
    const original = await copiedTo(address)
    const target = temporaryFolder()
    copyFileSync(`${original}/instance.key`, `${target}/instance.key`)
    const done = await chartroom(target, ...from)
    expect(done).toMatchObject({ code: 0, err: '' })
    expect(done.out).toMatch(/^Restored to .*: .*B, the state of 2026-11-22T21:31:00.000Z\.$/)
    expect(await valueIn(target)).toBe('"second"')
    expect(statSync(`${target}/db/data.mdb`).mode & 0o777).toBe(0o600)
    expect((await chartroom(target, ...from)).err).toContain('has a database already')

    const listed = await chartroom(temporaryFolder(), ...from, '--list')
    expect(listed.code).toBe(0)
    expect(listed.out).toMatch(
      /^snapshot 2026-11-22T21:30:00.000Z, any time up to 2026-11-22T21:31:00.000Z, database [0-9a-f]{1,16}$/m,
    )
    const earlier = temporaryFolder()
    const keyless = await chartroom(earlier, ...from, '--at', new Date(begin + 1000).toISOString())
    expect(keyless.code).toBe(1)
    expect(keyless.err).toContain('instance.key is missing')
    expect(await valueIn(earlier)).toBe('"first"')
  } finally {
    s3.stop()
  }
})

test('what cannot be restored leaves no database, and says what to do', async () => {
  const s3 = startS3()
  try {
    const address = s3.address('data', { prefix: 'chartroom' })
    const attempt = async (...args: string[]) => {
      const directory = temporaryFolder()
      const { code, err } = await chartroom(directory, 'restore', ...args)
      expect(existsSync(`${directory}/db`)).toBe(false)
      return `${code} ${err}`
    }
    expect(await attempt('--from', address)).toContain(
      '1 There is no backup of Chartroom in s3://data/chartroom/',
    )
    expect(await attempt('--from', s3.address('missing'))).toContain('NoSuchBucket: there is no such bucket')
    expect(await attempt('--from', s3.address('data', { secret: 'x' }))).toContain(
      'the secret of the key is wrong',
    )
    expect(await attempt('--from', 's3://data')).toContain(
      '2 --from: expected an address like s3://KEY:SECRET@',
    )
    expect(await attempt('--from', address, '--at', 'noon')).toContain('--at takes a time like')
    expect(await attempt('--at', '2026-11-22')).toContain('--at and --list want --from')
    expect(await attempt('folder', '--from', address)).toContain('Name a folder or --from, not both')
    const folder = temporaryFolder()
    await copiedTo(folder)
    expect(await attempt(folder)).toContain(`give --from ${folder}`)
  } finally {
    s3.stop()
  }
})
