// Bars in runs come out as if they had been sorted at once.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BarRuns } from '../../src/market/bar-runs.ts'
import { type BarStore, memoryBars, seriesKey } from '../../src/market/bar-store.ts'
import { type Bars, BAR_FIELDS, concatBars, emptyBars, sliceBars } from '../../src/market/bars.ts'
import { lmdbBars } from '../../src/store/lmdb-bars.ts'
import { type LmdbKv, lmdbKv } from '../../src/store/lmdb.ts'

const KEY = seriesKey('BINANCE', 'BTCUSDT', '1m')
const seed = Number(process.env['SEED'] ?? Date.now() % 100_000)
console.log(`SEED=${seed}`)

let folder = ''
let kv: LmdbKv
const stores: Record<string, () => BarStore> = { memory: memoryBars, lmdb: () => lmdbBars(kv) }
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runs-'))
  kv = lmdbKv({ path: folder })
})
afterAll(async () => {
  await kv.close()
  await rm(folder, { recursive: true })
})

/** Bars of these times; all else says which number they had. */
function barsOf(times: readonly number[]): Bars {
  const bars = emptyBars(times.length)
  for (const field of BAR_FIELDS) bars[field].set(times.map((_, i) => i))
  bars.time.set(times)
  return bars
}

function shuffled(length: number): number[] {
  let state = seed + 1
  const times = Array.from({ length }, (_, i) => i * 60_000)
  for (let i = length - 1; i > 0; i--) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    const j = state % (i + 1)
    ;[times[i], times[j]] = [times[j] ?? 0, times[i] ?? 0]
  }
  return times
}

async function merged(store: BarStore, times: readonly number[], cuts: readonly number[], ordered = 0) {
  const runs = new BarRuns(() => store.draft(KEY))
  const twice: [number, number][] = []
  const tell = (bar: number, before: number) => void twice.push([bar, before])
  const all = barsOf(times)
  const descending = ordered > 0 && (times[0] ?? 0) > (times[1] ?? 0)
  for (let at = 0; at < ordered; at += 10_000) {
    const part = concatBars([sliceBars(all, at, Math.min(ordered, at + 10_000)), emptyBars(0)])
    if (descending) for (const field of BAR_FIELDS) part[field].reverse()
    await runs.append(part, { descending })
  }
  for (const [i, cut] of [ordered, ...cuts].entries()) {
    const part = sliceBars(all, cut, [...cuts, times.length][i] ?? 0)
    await runs.add(concatBars([part, emptyBars(0)]), tell)
  }
  expect(runs.length).toBe(times.length)
  const windows = await Array.fromAsync(runs.merged(tell))
  await runs.discard()
  return { bars: concatBars(windows), windows: windows.length, twice }
}

describe.each(Object.keys(stores))('%s', (name) => {
  test('runs of bars in no order are merged', async () => {
    const times = shuffled(150_000)
    const { bars, windows, twice } = await merged(stores[name]!(), times, [40_000, 40_001, 110_000])
    expect(twice).toEqual([])
    expect(windows).toBeGreaterThan(1)
    expect(bars.time).toEqual(Float64Array.from(times).sort())
    expect([...bars.volume].every((number, i) => times[number] === bars.time[i])).toBe(true)
  })

  test.each(['ascending', 'descending'])('what came in order first, %s, is the first run', async (order) => {
    const times = shuffled(100_000)
    const head = times.slice(0, 45_000).sort((a, b) => (order === 'ascending' ? a - b : b - a))
    const all = [...head, ...times.slice(45_000)]
    const { bars, twice } = await merged(stores[name]!(), all, [80_000], 45_000)
    expect(twice).toEqual([])
    expect(bars.time).toEqual(Float64Array.from(all).sort())
    expect([...bars.volume].every((number, i) => all[number] === bars.time[i])).toBe(true)
    // A time that comes again, in another run, is told of by the numbers of both.
    const [early, late] = [seed % 45_000, 80_000 + (seed % 20_000)]
    const again = await merged(stores[name]!(), all.with(late, all[early] ?? 0), [80_000], 45_000)
    expect(again.twice).toEqual([[late, early]])
  })
})
