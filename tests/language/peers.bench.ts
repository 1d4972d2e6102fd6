// What others take for the same, by `bun run bench --peers`: packages that npm installs into a folder of their own for the time.
//
//   pinets            two averages and their crossings as an indicator, over the same bars
//   grademark         a strategy of the same two averages, which it is handed
//   trading-signals   the two averages alone, bar by bar
//   DuckDB            reading bars as CSV into a file, and the last 5,000 of them as columns
//
// Rounds alternate, medians are printed, and how many times ours a peer takes.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { CompiledScripts } from '../../src/broker/compiled-scripts.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { BarCache } from '../../src/market/bar-cache.ts'
import { type Bars, emptyBars } from '../../src/market/bars.ts'
import { importBars } from '../../src/market/import.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { lmdbBars } from '../../src/store/lmdb-bars.ts'
import { openStore } from '../../src/store/open-store.ts'
import { noteRow } from '../bench-rows.ts'
import { SYMBOL } from './run-script.ts'

// chai is what grademark forgets to say that it needs.
const PACKAGES = ['pinets', 'grademark', 'trading-signals', '@duckdb/node-api', 'chai@4']
const ROUNDS = 5
const RUN_BARS = 20_000
const FILE_BARS = 100_000
const READ_BARS = 5000

const SIGNALS = `fast = ta.sma(close, 10)
slow = ta.sma(close, 30)
`
const INDICATOR = `//@version=6
indicator("Averages")
${SIGNALS}plot(fast, "fast")
plot(slow, "slow")
plot(ta.crossover(fast, slow) ? 1 : 0, "up")
`
const STRATEGY = `//@version=6
strategy("Averages")
${SIGNALS}if fast > slow
    strategy.entry("Long", strategy.long)
if fast < slow
    strategy.close("Long")
`

interface PeerBar {
  readonly openTime: number
  readonly time: Date
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
  readonly fast: number
  readonly slow: number
}

/** The parts of the packages that are called here. */
interface Peers {
  readonly pinets: {
    readonly PineTS: new (bars: readonly object[]) => { run(script: string): Promise<object> }
  }
  readonly grademark: { backtest(strategy: object, bars: object): readonly object[] }
  readonly 'data-forge': {
    readonly DataFrame: new (bars: readonly object[]) => { setIndex(name: string): object }
  }
  readonly 'trading-signals': {
    readonly SMA: new (length: number) => { update(value: number, replaces: boolean): unknown }
  }
  readonly '@duckdb/node-api': {
    readonly DuckDBInstance: {
      create(file: string): Promise<{
        connect(): Promise<{
          run(sql: string): Promise<unknown>
          runAndReadAll(sql: string): Promise<{ getColumns(): readonly unknown[][] }>
        }>
      }>
    }
  }
}

type Way = readonly [name: string, work: () => unknown]

const CROSS = {
  entryRule(enter: () => void, { bar: { fast, slow } }: { readonly bar: PeerBar }) {
    if (fast > slow) enter()
  },
  exitRule(leave: () => void, { bar: { fast, slow } }: { readonly bar: PeerBar }) {
    if (fast < slow) leave()
  },
}

/** As a worker has them: a script that runs again is not compiled again. */
const scripts = new CompiledScripts()
const folder = mkdtempSync(`${tmpdir()}/chartroom-peers-`)
try {
  if (await install()) await compare()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Whether they are there: without a network there is nothing to compare with, which is said and is no failure. */
async function install(): Promise<boolean> {
  writeFileSync(`${folder}/package.json`, '{"private":true}')
  const npm =
    Bun.which('npm') === null ? [process.execPath, 'add'] : ['npm', 'install', '--no-audit', '--no-fund']
  // A script of npm hands its settings down, and npm refuses to install a project with this one from there.
  const { npm_config_allow_scripts: _, ...env } = process.env
  const child = Bun.spawn([...npm, ...PACKAGES], { cwd: folder, stdout: 'ignore', stderr: 'pipe', env })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) === 0) return true
  console.log(`The peers could not be installed: ${said.trim().split('\n').at(-1)}`)
  return false
}

async function compare(): Promise<void> {
  const require = createRequire(`${folder}/package.json`)
  const peer = <N extends keyof Peers>(name: N) => require(name) as Peers[N]
  const bars = walk(RUN_BARS)
  const others = peerBars(bars)
  const { PineTS } = peer('pinets')
  const { backtest } = peer('grademark')
  const { DataFrame } = peer('data-forge')
  const { SMA } = peer('trading-signals')
  await measure(`an indicator of two averages, ${RUN_BARS} bars`, [
    ['Chartroom', () => run(INDICATOR, bars)],
    ['pinets', () => new PineTS(others).run(INDICATOR)],
    [
      'trading-signals (averages alone)',
      () => {
        const averages = [new SMA(10), new SMA(30)]
        for (const { close } of others) for (const average of averages) average.update(close, false)
      },
    ],
  ])
  await measure(`a strategy of two averages, ${RUN_BARS} bars`, [
    ['Chartroom', () => run(STRATEGY, bars)],
    ['grademark', () => backtest(CROSS, new DataFrame(others).setIndex('time'))],
  ])
  await files(peer('@duckdb/node-api'))
}

async function files({ DuckDBInstance }: Peers['@duckdb/node-api']): Promise<void> {
  const csv = csvOf(walk(FILE_BARS))
  const file = `${folder}/bars.csv`
  writeFileSync(file, csv)
  const kv = await openStore({ directory: `${folder}/data` })
  const cache = new BarCache(lmdbBars(kv))
  const duck = await (await DuckDBInstance.create(`${folder}/bars.duckdb`)).connect()
  const key = { exchange: 'X', symbol: 'Y', interval: '1m' }
  await measure(`${FILE_BARS} bars as CSV into a file`, [
    ['Chartroom', () => importBars(cache, key, [Buffer.from(csv)], { format: 'csv' })],
    ['DuckDB', () => duck.run(`create or replace table bars as select * from read_csv('${file}')`)],
  ])
  await measure(`the last ${READ_BARS} bars as columns`, [
    // A cache of its own each time, or nothing would be read.
    ['Chartroom', () => new BarCache(lmdbBars(kv)).read(key, { last: READ_BARS })],
    [
      'DuckDB',
      async () =>
        (await duck.runAndReadAll(`select * from bars order by time desc limit ${READ_BARS}`)).getColumns(),
    ],
  ])
  await kv.close()
}

async function measure(what: string, ways: readonly Way[]): Promise<void> {
  const times = ways.map(() => [] as number[])
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++)
    for (const [i, [, work]] of ways.entries()) {
      const from = performance.now()
      await work()
      if (round > 0) times[i]!.push(performance.now() - from)
    }
  const medians = times.map((list) => list.toSorted((a, b) => a - b)[list.length >> 1]!)
  console.log(what)
  for (const [i, [name]] of ways.entries()) {
    console.log(
      `  ${medians[i]!.toFixed(2).padStart(10)} ms  ×${(medians[i]! / medians[0]!).toFixed(1).padEnd(7)} ${name}`,
    )
    if (i === 0) noteRow(what, medians[0]!, 'ms')
  }
}

function run(source: string, bars: Bars) {
  return runBacktest({
    source,
    inputs: {},
    bars,
    symbol: SYMBOL,
    interval: '1m',
    limits: DEFAULT_LIMITS,
    series: () => null,
    scripts,
  })
}

/** A random walk, the same each time. */
function walk(length: number): Bars {
  const bars = emptyBars(length)
  let [state, price] = [1, 1000]
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  for (let i = 0; i < length; i++) {
    const open = price
    price = Math.max(10, Math.round((price + (random() - 0.5) * 2) * 100) / 100)
    bars.time[i] = Date.UTC(2024, 0, 1) + i * 60_000
    bars.open[i] = open
    bars.high[i] = Math.max(open, price) + 1
    bars.low[i] = Math.min(open, price) - 1
    bars.close[i] = price
    bars.volume[i] = 100
  }
  return bars
}

function peerBars({ length, time, open, high, low, close, volume }: Bars): PeerBar[] {
  const average = (i: number, count: number) =>
    close.subarray(Math.max(0, i + 1 - count), i + 1).reduce((sum, value) => sum + value, 0) / count
  return Array.from({ length }, (_, i) => ({
    openTime: time[i]!,
    time: new Date(time[i]!),
    open: open[i]!,
    high: high[i]!,
    low: low[i]!,
    close: close[i]!,
    volume: volume[i]!,
    fast: average(i, 10),
    slow: average(i, 30),
  }))
}

function csvOf({ length, time, open, high, low, close, volume }: Bars): string {
  const rows = Array.from({ length }, (_, i) =>
    [time[i], open[i], high[i], low[i], close[i], volume[i]].join(','),
  )
  return `time,open,high,low,close,volume\n${rows.join('\n')}\n`
}
