// How fast a large database is put into a local S3 server, and brought back:
//
//     bun run bench restore                            2,000 MB
//     bun run bench restore 10000 dist/chartroom       so many MB, restored by an executable
//     TMPDIR=/other bun run bench restore …            where there is room for three times as much
//
// Bars and documents are written, copied as a snapshot, changed, and copied as steps. What is restored is read whole and must have
// the very entries of the original.

import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import process from 'node:process'
import { Backup } from '../../src/store/backup/backup.ts'
import { placeAt } from '../../src/store/backup/place.ts'
import { readInstance, settleKey } from '../../src/store/instance-key.ts'
import { lmdbBars } from '../../src/store/lmdb-bars.ts'
import { readLmdbFile } from '../../src/store/lmdb-file.ts'
import { openStore } from '../../src/store/open-store.ts'
import { emptyBars, sliceBars } from '../../src/market/bars.ts'
import { noteRow } from '../bench-rows.ts'

const [megabytes, executable] = [Number(process.argv[2] ?? 2000), process.argv[3]]
const chartroom = executable ? [executable] : [process.execPath, `${import.meta.dir}/../../src/main.ts`]
const clock = { now: () => Date.now(), sleep: (ms: number) => Bun.sleep(ms) }
const random = { bytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)) }
const folder = mkdtempSync(`${tmpdir()}/restore-bench-`)
const [original, restored] = [`${folder}/original`, `${folder}/restored`]
const s3 = Bun.spawn([process.execPath, `${import.meta.dir}/s3-child.ts`, `${folder}/s3`], { stdout: 'pipe' })
const { value: said } = await s3.stdout.getReader().read()
const address = new TextDecoder().decode(said).trim()

async function measured<T>(what: string, work: () => Promise<T>): Promise<T> {
  const [begun, before] = [performance.now(), process.cpuUsage()]
  const done = await work()
  const { user, system } = process.cpuUsage(before)
  const seconds = (performance.now() - begun) / 1000
  const memory = (process.memoryUsage.rss() / 2 ** 20).toFixed(0)
  console.log(
    `${what}: ${seconds.toFixed(1)} s, ${((user + system) / 1e6).toFixed(1)} s of processor, ${memory} MB`,
  )
  return done
}

async function run(name: string, ...args: string[]): Promise<void> {
  const begun = performance.now()
  const child = Bun.spawn([...chartroom, ...args], { stdout: 'inherit', stderr: 'inherit' })
  const code = await child.exited
  const used = child.resourceUsage()
  const seconds = (performance.now() - begun) / 1000
  const spent = Number(used?.cpuTime.total ?? 0) / 1e6
  console.log(
    `${name}: exit ${code}, ${seconds.toFixed(1)} s, ${spent.toFixed(1)} s of processor, at most ${((used?.maxRSS ?? 0) / 2 ** 20).toFixed(0)} MB`,
  )
  noteRow(
    `backup: ${name} of ${megabytes} MB`,
    seconds,
    's',
    name === 'restore' ? { wanted: `≤ ${(60 * megabytes) / 1e4}` } : {},
  )
}

/** Some MB of a series; prices wander, and no two series are the same. */
const LENGTH = 409_600
const [TICKS, VOLUMES] = [new Int32Array(LENGTH), new Int32Array(LENGTH)]
for (let i = 0, price = 1_000_000; i < LENGTH; i++) {
  TICKS[i] = price += Math.floor(Math.random() * 41) - 20
  VOLUMES[i] = Math.floor(Math.random() ** 3 * 1e6)
}

function seriesOf(number: number) {
  const bars = emptyBars(LENGTH)
  for (let i = 0; i < LENGTH; i++) {
    const close = TICKS[(i + number * 997) % LENGTH]! + number
    const open = close + ((i * 31 + number) % 23) - 11
    bars.time[i] = 946_684_800_000 + i * 60_000
    bars.open[i] = open / 100
    bars.close[i] = close / 100
    bars.high[i] = (Math.max(open, close) + ((i + number) % 7)) / 100
    bars.low[i] = (Math.min(open, close) - ((i * 3 + number) % 5)) / 100
    bars.volume[i] = VOLUMES[(i * 7 + number) % LENGTH]!
  }
  return bars
}

/** All entries as one number. */
function digestOf(directory: string): string {
  let [digest, entries] = [0n, 0]
  readLmdbFile(`${directory}/db/data.mdb`, {
    whole: true,
    entry(table, key, value) {
      digest = Bun.hash.xxHash64(value, Bun.hash.xxHash64(key, digest ^ Bun.hash.xxHash64(table)))
      entries++
    },
  })
  return `${entries} entries, ${digest.toString(16)}`
}

try {
  const kv = await openStore({ directory: original })
  await settleKey(kv, `${original}/instance.key`, { kind: 'missing' }, random)
  const bars = lmdbBars(kv)
  const size = () => statSync(`${original}/db/data.mdb`).size
  let series = 0
  await measured('fill', async () => {
    for (; size() < megabytes * 1e6; series++)
      await bars.upsert({ exchange: 'X', symbol: `S${series}`, interval: '1m' }, seriesOf(series))
  })
  const backup = new Backup({
    clock,
    random,
    log: (_, message, fields) => console.log(message, fields),
    source: kv.pages,
    place: placeAt(address, clock),
    directory: original,
    instance: (await readInstance(kv))?.id ?? '',
    everyMs: 1e12,
    keepMs: 1e12,
  })
  await measured('snapshot', async () => {
    await backup.look()
    await backup.settled()
  })
  await measured('150 steps', async () => {
    const first = sliceBars(seriesOf(0), 0, 4096)
    for (let step = 0; step < 150; step++) {
      first.volume.fill(step)
      for (let i = 0; i < 4; i++)
        await bars.upsert({ exchange: 'X', symbol: `S${(step * 4 + i) % series}`, interval: '1m' }, first)
      await backup.look()
    }
    await backup.settled()
    await backup.look()
  })
  console.log(`the database has ${(size() / 1e6).toFixed(0)} MB; the backup is ${backup.status().state}`)
  await kv.close()
  await Bun.write(`${restored}/instance.key`, Bun.file(`${original}/instance.key`))
  await run('restore', 'restore', '--from', address, '--data-dir', restored)
  const digests = [original, restored].map((directory) => (existsSync(directory) ? digestOf(directory) : ''))
  console.log(digests[0] === digests[1] ? `the same: ${digests[0]}` : `NOT THE SAME: ${digests.join(' | ')}`)
  await run('doctor', 'doctor', '--data-dir', restored)
} finally {
  s3.kill()
  rmSync(folder, { recursive: true, force: true })
}
