// How fast a server is ready and what it takes then, how fast `--version` is, and how fast a server answers while a script runs
// into its limit. The least that an executable can take is printed first: a compiled server that answers one word.
// `bun run build` before.

import { Agent, get } from 'node:http'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { users } from '../../src/people/accounts/accounts.ts'
import type { Idea } from '../../src/people/ideas/ideas.ts'
import { collection } from '../../src/store/collection.ts'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { transact } from '../../src/store/transaction.ts'
import { noteRow } from '../bench-rows.ts'
import { backtestOf, executable, isMissing, MODES, Place } from './server.ts'

const SLOW = '//@version=6\nstrategy("x")\nn = 0.0\nfor i = 0 to 4000000\n    n += math.sin(i)\nplot(n)'
const ROUNDS = 10
/** Records of a server that is in use for long. */
const RECORDS = 100_000
const AT_ONCE = 500

const at = (sorted: readonly number[], part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN

/** Time of the process's threads since it began, in steps of 10 ms; NaN where there is no /proc. */
function spentMs(pid: number): number {
  const [, , , , , , , , , , , user, system] = factsOf(pid, 'stat')
    .replace(/^.*\) /, '')
    .split(' ')
  return 10 * (Number(user) + Number(system))
}

function residentMb(pid: number): number {
  return (Number(/VmRSS:\s+(\d+)/.exec(factsOf(pid, 'status'))?.[1]) * 1024) / 1e6
}

function factsOf(pid: number, file: 'stat' | 'status'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

const middle = (list: readonly number[]) =>
  at(
    list.toSorted((a, b) => a - b),
    0.5,
  )

/** A server that answers one word, compiled as ours is. */
async function measureLeast(): Promise<void> {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-hello-`)
  const [source, outfile] = [`${folder}/hello.ts`, `${folder}/hello`]
  await Bun.write(source, 'console.log(Bun.serve({ port: 0, fetch: () => new Response("hello") }).port)')
  await Bun.build({ entrypoints: [source], target: 'bun', bytecode: true, compile: { outfile } })
  const [starts, spent, resident]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round <= ROUNDS; round++) {
    const before = performance.now()
    const child = Bun.spawn([outfile], { stdout: 'pipe' })
    await child.stdout.getReader().read()
    if (round > 0) {
      starts.push(performance.now() - before)
      spent.push(spentMs(child.pid))
      resident.push(residentMb(child.pid))
    }
    child.kill()
    await child.exited
  }
  console.log(
    `the least: start ${middle(starts).toFixed(0)} ms, ${middle(spent).toFixed(0)} ms of processors, ` +
      `${middle(resident).toFixed(0)} MB when ready, ${(statSync(outfile).size / 1e6).toFixed(1)} MB on disk`,
  )
  rmSync(folder, { recursive: true })
}

/** Ideas of the server's owner, written beside the stopped server. */
async function fill(place: Place): Promise<void> {
  const server = await place.serve()
  await server.signUp()
  await server.stop()
  const kv = lmdbKv({ path: `${place.folder}/data/db` })
  const [owner] = await Array.fromAsync(users(kv).each(), ({ id }) => id)
  const ideas = collection<Idea>(kv, 'ideas', {
    indexes: {
      owner: ({ ownerId }) => [ownerId],
      feed: ({ visibility }) => (visibility === 'public' ? [] : null),
    },
  })
  const body = 'What the market did since, and why it may do it again. '.repeat(4)
  const shown = { ownerId: owner ?? '', author: 'ann', body, tags: [], visibility: 'public' as const }
  const market = {
    symbol: 'SPX',
    exchange: null,
    interval: null,
    backtestId: null,
    createdAt: 0,
    updatedAt: 0,
  }
  for (let from = 0; from < RECORDS; from += AT_ONCE)
    await transact(kv, () =>
      Array.from({ length: AT_ONCE }, (_, i) =>
        ideas.insert({
          ...shown,
          ...market,
          id: `idea_${String(from + i).padStart(22, '0')}`,
          title: `Idea ${from + i}`,
        }),
      ),
    )
  await kv.close()
}

/** Milliseconds until a server is ready whose store has many records. */
async function startsWithRecords(): Promise<readonly number[]> {
  const place = new Place('executable')
  try {
    await fill(place)
    const starts: number[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const before = performance.now()
      const server = await place.serve()
      if (round > 0) starts.push(performance.now() - before)
      await server.stop()
    }
    return starts.toSorted((a, b) => a - b)
  } finally {
    place.remove()
  }
}

await measureLeast()
for (const mode of MODES) {
  if (isMissing(mode)) continue
  const place = new Place(mode)
  const starts: number[] = []
  const spent: number[] = []
  const resident: number[] = []
  // The first start makes the database and loads the sample bars; those behind it are what a restart takes.
  let first = 0
  for (let round = 0; round <= ROUNDS; round++) {
    const before = performance.now()
    const server = await place.serve()
    const took = performance.now() - before
    if (round === 0) first = took
    else {
      starts.push(took)
      spent.push(spentMs(server.process.pid))
      resident.push(residentMb(server.process.pid))
    }
    await server.stop()
  }
  for (const list of [starts, spent, resident]) list.sort((a, b) => a - b)
  console.log(
    `${mode}: first start ${first.toFixed(0)} ms, then median ${at(starts, 0.5).toFixed(0)} ms of ${ROUNDS}` +
      ` (${at(starts, 0).toFixed(0)} to ${at(starts, 0.999).toFixed(0)}), ` +
      `${at(spent, 0.5).toFixed(0)} ms of processors (wanted 60), ${at(resident, 0.5).toFixed(0)} MB when ready (wanted 80)`,
  )
  const versions: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const child = place.spawn(['--version'])
    await child.exited
    versions.push(Number(child.resourceUsage()?.cpuTime.total ?? Number.NaN) / 1000)
  }
  console.log(`${mode}: --version ${middle(versions).toFixed(0)} ms of processors (wanted 20)`)
  const asked = (wanted: string) => (mode === 'executable' ? { wanted } : {})
  noteRow(`${mode}: --version, of processors`, middle(versions), 'ms', asked('≤ 20 ms'))
  noteRow(`${mode}: start`, at(starts, 0.5), 'ms', asked('≤ 60 ms'))
  noteRow(`${mode}: start, of processors`, at(spent, 0.5), 'ms')
  noteRow(`${mode}: memory when ready`, at(resident, 0.5), 'MB', asked('≤ 80 MB'))
  if (mode === 'executable') {
    const size = statSync(executable).size / 1e6
    console.log(`${mode}: ${size.toFixed(1)} MB on disk, wanted 128`)
    noteRow(`${mode}: file`, size, 'MB', asked('≤ 128 MB'))
    const full = await startsWithRecords()
    const records = `start with ${RECORDS.toLocaleString('en')} records`
    console.log(
      `${mode}: ${records} median ${at(full, 0.5).toFixed(0)} ms of ${ROUNDS} ` +
        `(${at(full, 0).toFixed(0)} to ${at(full, 0.999).toFixed(0)}), wanted 150`,
    )
    noteRow(`${mode}: ${records}`, at(full, 0.5), 'ms', asked('≤ 150 ms'))
  }

  const server = await place.serve('--script-time-ms', '3000', '--rate-user', '0')
  await server.signUp()
  const agent = new Agent({ keepAlive: true })
  const ask = () =>
    new Promise<number>((resolve, reject) => {
      const before = performance.now()
      get(`${server.base}/api/platform/symbols/SP/SPX`, { agent, headers: server.headers }, (response) => {
        response.resume()
        response.on('end', () => resolve(performance.now() - before))
      }).on('error', reject)
    })
  for (const [what, busy] of [
    ['idle', () => Bun.sleep(3000)],
    [
      'a script running into its limit',
      () => server.call('POST', '/api/platform/backtests', backtestOf(SLOW)),
    ],
  ] as const) {
    const answers: number[] = []
    const done = Promise.resolve(busy()).then(() => null)
    for (let took = await ask(); ; took = await ask()) {
      answers.push(took)
      if ((await Promise.race([done, Promise.resolve(took)])) === null) break
    }
    answers.sort((a, b) => a - b)
    console.log(
      `${mode}, ${what}: ${answers.length} answers, median ${at(answers, 0.5).toFixed(2)} ms, ` +
        `p99 ${at(answers, 0.99).toFixed(2)} ms, worst ${at(answers, 0.9999).toFixed(1)} ms`,
    )
    noteRow(`${mode}, ${what}: an answer`, at(answers, 0.5), 'ms')
  }
  agent.destroy()
  await server.stop()
  place.remove()
}
