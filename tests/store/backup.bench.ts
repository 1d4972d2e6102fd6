// How fast a snapshot is put into a local S3 server and brought back, and what a step costs beside the writes it holds.
//
//     bun tests/store/backup.bench.ts 1000        so many MB

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Backup } from '../../src/store/backup/backup.ts'
import { placeAt } from '../../src/store/backup/place.ts'
import { restoreDatabase } from '../../src/store/backup/restore.ts'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { startS3 } from './s3-server.ts'

const megabytes = Number(process.argv[2] ?? 300)
const clock = { now: () => Date.now(), sleep: (ms: number) => Bun.sleep(ms) }
const random = { bytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)) }
const folder = mkdtempSync(`${tmpdir()}/backup-bench-`)
mkdirSync(`${folder}/restored`)
const s3 = startS3()
const kv = lmdbKv({ path: `${folder}/db` })

/** Prices like those of bars, which pack to a half. */
const chunk = () =>
  Buffer.from(
    Float64Array.from({ length: 12_000 }, () => Math.round(Math.random() * 1e4) / 100).buffer,
  ).toString('base64')
for (let i = 0; i < megabytes * 8; i++) await kv.commit({ sets: [{ key: ['chunk', i], value: chunk() }] })

const place = placeAt(s3.address('bench'), clock)
const times = { everyMs: 1e9, keepMs: 1e9 }
const backup = new Backup({
  clock,
  random,
  log: () => {},
  source: kv.pages,
  place,
  directory: folder,
  instance: 'ab',
  ...times,
})

async function measured(what: string, work: () => Promise<unknown>): Promise<void> {
  const [begun, before] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(before)
  const seconds = (performance.now() - begun) / 1000
  console.log(`${what}: ${seconds.toFixed(2)} s, ${((user + system) / 1e6).toFixed(2)} s of processor`)
}

await measured(`snapshot of ${megabytes} MB`, async () => {
  await backup.look()
  await backup.settled()
})
await measured(`restore of ${megabytes} MB`, () =>
  restoreDatabase({ place, path: `${folder}/restored/data.mdb`, progress: () => {} }),
)
const write = () =>
  Promise.all(
    Array.from({ length: 1000 }, () =>
      kv.commit({ sets: [{ key: ['idea', Math.floor(Math.random() * 50_000)], value: 'x'.repeat(600) }] }),
    ),
  )
for (let i = 0; i < 20; i++) {
  await write()
  await backup.look()
}
await measured('1,000 writes', write)
await measured('the step that holds them', () => backup.look())
await kv.close()
s3.stop()
rmSync(folder, { recursive: true })
