// What several servers on one PostgreSQL give, beside one: sweeps and reads a second.
//
//     bun run bench fleet                            this source
//     bun run bench fleet dist/chartroom --nodes 5   an executable, and another number of servers
//     bun run bench fleet --users 1 --each 1 --only sweeps
//                                                    a sweep that has all servers to itself, from its first trial to its verdict
//
// Servers on one machine take its processors from each other. Where the system lets us (root on Linux: control groups), each
// server therefore gets an equal part of one processor and no more, as if it had a slow machine to itself, and the
// database and those who ask get what is left: three servers and a database want two processors that are idle otherwise.
// Elsewhere a machine needs a processor for each server and one for the database, and the bench says that it has none of this.
// Also printed is what the sharing costs: processor time of all servers and of the database for the same work, and commits.
// Linux only.

import { SQL } from 'bun'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { SHARDS } from '../../src/lib/shards.ts'
import { noteRow } from '../bench-rows.ts'
import { portOf, roundsOf, spentMs, type BenchServer } from '../executable/bench-server.ts'
import { barsCsv, CROSS } from '../work/sweeps/sweep-server.ts'
import { type OwnPostgres, startPostgres } from './postgres-server.ts'

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    nodes: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    share: { type: 'string', default: '0.2' },
    users: { type: 'string', default: '6' },
    only: { type: 'string', default: 'sweeps,reads' },
    /** One after the other: what a server waits for at the end, when the last sweep is judged, is no part of a steady load. */
    each: { type: 'string', default: '2' },
  },
})
const rounds = roundsOf(values.rounds)
const counts = [1, Number(values.nodes)]
const SHARE = Number(values.share)
const USERS = Number(values.users)
const SWEEPS_EACH = Number(values.each)
const [BARS, READS_MS] = [20_000, 8000]
const WANTED = 2.5
/** How many requests are under way for each server. */
const READERS = 8
const PERIOD_US = 20_000
const LOOK_MS = 100
/** How often is asked whether a sweep is done: each answer costs more than a trial. */
const ASK_MS = 1000
const PASSWORD = 'correct horse battery'
const SWEEP = {
  name: 'cross',
  exchange: 'X',
  symbol: 'ABC',
  interval: '1h',
  bars: BARS,
  source: CROSS,
  space: [
    { input: 'Fast', min: 2, max: 41, step: 1 },
    { input: 'Slow', min: 50, max: 99, step: 1 },
  ],
}
const TRIALS = 2000
const PATHS = ['bars?exchange=X&symbol=ABC&interval=1h&limit=500', 'ideas', 'backtests', 'scripts']

/** What some work took. */
interface Cost {
  readonly seconds: number
  /** How much of something was done: trials, or answers. */
  readonly done: number
  /** Processor time of each server, in ms. */
  readonly servers: readonly number[]
  readonly databaseMs: number
  readonly commits: number
}

interface Fleet {
  readonly servers: readonly BenchServer[]
  readonly postgres: OwnPostgres
  readonly sql: SQL
  readonly cookies: readonly string[]
}

const all = counts.map(() => ({ sweeps: [] as Cost[], reads: [] as Cost[] }))
const works = (['sweeps', 'reads'] as const).filter((work) => values.only.split(',').includes(work))
const hasParts = canPart()
console.log(
  hasParts
    ? `each server has ${SHARE} of a processor of ${availableParallelism()}`
    : `${availableParallelism()} processors, shared by all: take the factors for what they are only where there are ${(counts[1] ?? 0) + 1} or more`,
)
for (let round = 0; round < rounds; round++)
  for (const [i, count] of counts.entries()) await measured(count, all[i]!)
for (const work of works) {
  const unit = work === 'sweeps' ? 'trial' : 'answer'
  for (const [i, count] of counts.entries()) {
    const of = (figure: (cost: Cost) => number) => median(all[i]![work].map(figure))
    const servers = of((cost) => (1000 * sum(cost.servers)) / cost.done)
    const largest = of((cost) => Math.max(...cost.servers) / sum(cost.servers))
    console.log(
      `${work}, ${count} of servers: ${of(rateOf).toFixed(0)} ${unit}s a second; a ${unit} takes ${servers.toFixed(0)} µs of servers (the busiest ${(100 * largest).toFixed(0)} %) and ${of((cost) => (1000 * cost.databaseMs) / cost.done).toFixed(1)} µs of the database; ${of((cost) => (1000 * cost.commits) / cost.done).toFixed(0)} transactions in 1,000 ${unit}s`,
    )
    noteRow(`fleet of ${count}: ${work}, processor of servers`, servers, `µs a ${unit}`)
  }
  const factor = median(all[1]![work].map(rateOf)) / median(all[0]![work].map(rateOf))
  const costs = all.map((one) => median(one[work].map((cost) => sum(cost.servers) / cost.done)))
  console.log(
    `${work}: ${factor.toFixed(2)} times with ${counts[1]} servers (wanted with three: ${WANTED}); by processor time alone ${((counts[1]! * costs[0]!) / costs[1]!).toFixed(2)} times`,
  )
}

function rateOf({ done, seconds }: Cost): number {
  return done / seconds
}

async function measured(
  count: number,
  into: { readonly sweeps: Cost[]; readonly reads: Cost[] },
): Promise<void> {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-bench-`)
  const postgres = await startPostgres()
  const sql = new SQL(postgres.url, { max: 1 })
  const servers: BenchServer[] = []
  const parts: string[] = []
  try {
    if (hasParts) parts.push(parted(postmasterOf(postgres), null))
    for (let i = 0; i < count; i++) servers.push(await started(postgres.url, `${folder}/${i}`))
    const cookies = await prepared(servers[0]!)
    await sharedOut(sql, count)
    if (hasParts) for (const { child } of servers) parts.push(parted(child.pid, SHARE))
    const fleet = { servers, postgres, sql, cookies }
    // Machine code comes with the first of them.
    for (const work of works) {
      if (work === 'sweeps') await sweeps(fleet, 1)
      else await reads(fleet, READS_MS)
      into[work].push(await (work === 'sweeps' ? sweeps(fleet, SWEEPS_EACH) : reads(fleet, READS_MS)))
    }
  } finally {
    for (const { child } of servers) child.kill('SIGKILL')
    await Promise.all(servers.map(({ child }) => child.exited))
    await sql.close()
    await postgres.stop()
    for (const part of parts) rmdirSync(part)
    rmSync(folder, { recursive: true, force: true })
  }
}

async function started(url: string, folder: string): Promise<BenchServer> {
  const place = positionals[0]
  const command = place === undefined ? [process.execPath, 'src/main.ts'] : [place]
  mkdirSync(folder)
  const flags = `--port 0 --feeds off --signup open --workers 2 --rate-user 0 --rate-anonymous 0 --rate-backtests 0`
  const child = Bun.spawn(
    [
      ...command,
      'serve',
      ...flags.split(' '),
      '--data-dir',
      folder,
      '--key-file',
      `${folder}/../key`,
      '--store',
      url,
    ],
    { stdout: 'ignore', stderr: 'pipe' },
  )
  const address = `http://127.0.0.1:${await portOf(child.stderr, 'a server')}`
  return { name: folder, child, address, cookie: '', folder }
}

/** Signs users up, and answers their cookies; the first is the owner, whose bars all of them see. */
async function prepared({ address }: BenchServer): Promise<string[]> {
  const cookies: string[] = []
  for (let user = 0; user < USERS; user++) {
    const answer = await fetch(`${address}/api/auth/sign-up`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: `bench${user}@example.com`, password: PASSWORD }),
    })
    if (!answer.ok) throw new Error(await answer.text())
    cookies.push(/^[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0] ?? '')
  }
  const csv = barsCsv(BARS)
  await ask(
    `${address}/api/platform/bars/import?exchange=X&symbol=ABC&interval=1h`,
    cookies[0]!,
    csv,
    'text/csv',
  )
  return cookies
}

async function sharedOut(sql: SQL, count: number): Promise<void> {
  for (;;) {
    const rows =
      (await sql`select count(*)::int as shards from chartroom.shards where holder is not null group by holder`) as {
        readonly shards: number
      }[]
    if (rows.length === count && sum(rows.map(({ shards }) => shards)) === SHARDS) return
    await Bun.sleep(LOOK_MS)
  }
}

/** Sweeps of all users at the same time, so many of each one after the other. */
function sweeps(fleet: Fleet, each: number): Promise<Cost> {
  const { servers, cookies } = fleet
  return cost(fleet, async () => {
    const tried = await Promise.all(
      cookies.map(async (cookie, user) => {
        const { address } = servers[user % servers.length]!
        const all: Swept[] = []
        for (let i = 0; i < each; i++) all.push(await swept(address, cookie))
        return all
      }),
    )
    const all = tried.flat()
    const done = sum(all.map((one) => one.trials))
    if (done !== USERS * each * TRIALS) throw new Error(`${done} trials`)
    const from = Math.min(...all.map((one) => one.from))
    return { done, seconds: (Math.max(...all.map(({ to }) => to)) - from) / 1000 }
  })
}

interface Swept {
  readonly trials: number
  readonly from: number
  readonly to: number
}

/** Runs a sweep to its end. Its times are its record's: this asks too seldom to know them. */
async function swept(address: string, cookie: string): Promise<Swept> {
  const { id } = await ask(`${address}/api/platform/sweeps`, cookie, JSON.stringify(SWEEP))
  for (;;) {
    const { sweep } = await ask(`${address}/api/platform/sweeps/${id}`, cookie)
    if (sweep.state === 'done') return { trials: sweep.tried, from: sweep.createdAt, to: sweep.finishedAt }
    if (sweep.state === 'failed') throw new Error(JSON.stringify(sweep))
    await Bun.sleep(ASK_MS)
  }
}

/** Everybody reads what a page of the dashboard does, from any server. */
function reads(fleet: Fleet, forMs: number): Promise<Cost> {
  const { servers, cookies } = fleet
  return cost(fleet, async () => {
    const from = performance.now()
    const until = from + forMs
    let done = 0
    const reader = async (i: number) => {
      const { address } = servers[i % servers.length]!
      for (let n = i; performance.now() < until; n++, done++)
        await ask(`${address}/api/platform/${PATHS[n % PATHS.length]}`, cookies[i % USERS]!)
    }
    await Promise.all(Array.from({ length: READERS * servers.length }, (_, i) => reader(i)))
    return { done, seconds: (performance.now() - from) / 1000 }
  })
}

async function cost(
  { servers, postgres, sql }: Fleet,
  work: () => Promise<Pick<Cost, 'done' | 'seconds'>>,
): Promise<Cost> {
  const before = {
    servers: servers.map(spentMs),
    database: databaseMs(postgres),
    commits: await commitsOf(sql),
  }
  const done = await work()
  const now = servers.map(spentMs)
  return {
    ...done,
    servers: now.map((ms, i) => ms - before.servers[i]!),
    databaseMs: databaseMs(postgres) - before.database,
    commits: (await commitsOf(sql)) - before.commits,
  }
}

async function commitsOf(sql: SQL): Promise<number> {
  const [row] = await sql`select sum(xact_commit)::int as commits from pg_stat_database`
  return row.commits
}

function postmasterOf({ url }: OwnPostgres): number {
  const folder = new URL(url).searchParams.get('path')
  return Number(readFileSync(`${folder}/data/postmaster.pid`, 'utf8').split('\n')[0])
}

/** Processor time of all processes of the database so far. */
function databaseMs(postgres: OwnPostgres): number {
  const parent = String(postmasterOf(postgres))
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      if (pid === parent || fields[1] === parent) ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // It has ended meanwhile.
    }
  return ticks * 10
}

// oxlint-disable-next-line typescript/no-explicit-any
async function ask(url: string, cookie: string, body?: string, type = 'application/json'): Promise<any> {
  const posted = body === undefined ? {} : { method: 'POST', body }
  const answer = await fetch(url, {
    ...posted,
    headers: { cookie, ...(body !== undefined && { 'content-type': type }) },
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url}: ${text}`)
  return JSON.parse(text)
}

/** Whether processes can be given a part of a processor here. */
function canPart(): boolean {
  try {
    rmdirSync(parted(null, null))
    return true
  } catch {
    return false
  }
}

/**
 * Makes a control group, puts the process into it, and answers its folder. `share`: the most that it gets of a processor; null:
 * what it wants, as the database does.
 */
function parted(pid: number | null, share: number | null): string {
  const old = '/sys/fs/cgroup/cpu'
  const folder = `${existsSync(old) ? old : '/sys/fs/cgroup'}/chartroom-bench-${process.pid}-${pid ?? 0}`
  mkdirSync(folder)
  const most = share === null ? null : Math.round(share * PERIOD_US)
  if (existsSync(old)) {
    writeFileSync(`${folder}/cpu.cfs_period_us`, String(PERIOD_US))
    writeFileSync(`${folder}/cpu.cfs_quota_us`, String(most ?? -1))
    // What else the machine does shall not take it from them.
    writeFileSync(`${folder}/cpu.shares`, '200000')
  } else {
    writeFileSync(`${folder}/cpu.max`, `${most ?? 'max'} ${PERIOD_US}`)
    writeFileSync(`${folder}/cpu.weight`, '10000')
  }
  if (pid !== null) writeFileSync(`${folder}/cgroup.procs`, String(pid))
  return folder
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN
}
