import { expect, test } from 'bun:test'
import { barsHash } from '../../../src/broker/report/hash.ts'
import { previewJob } from '../../../src/work/workers/run-job.ts'
import type { RunJob } from '../../../src/work/workers/job.ts'
import type { Desk } from '../../../src/work/workers/desk.ts'
import { emptyBars, sliceBars } from '../../../src/market/bars.ts'
import { defaultSymbol } from '../../../src/market/symbols.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import { BarHashes } from '../../../src/work/runs/bar-hashes.ts'
import { barsOfCloses } from '../../language/library/script.ts'

test('a hash is that of its stretch alone, and of the stretches of a series the newest are known', () => {
  const hashes = new BarHashes()
  const room = emptyBars(100, { shared: true })
  const stretch = (from: number, to: number) => sliceBars(room, from, to)
  hashes.note(stretch(0, 50), 'a')
  hashes.note(stretch(1, 51), 'b')
  expect([hashes.of(stretch(0, 50)), hashes.of(stretch(1, 51))]).toEqual(['a', 'b'])
  expect([hashes.of(stretch(0, 51)), hashes.of(sliceBars(emptyBars(100), 0, 50))]).toEqual([null, null])
  for (let end = 52; end < 100; end++) hashes.note(stretch(0, end), `${end}`)
  expect([hashes.of(stretch(0, 99)), hashes.of(stretch(0, 50))]).toEqual(['99', null])
})

test('a run tells the hash of its bars, and one that is told it gives the same report', async () => {
  const host = { library: async () => null, series: async () => null, finer: async () => null }
  const desk: Desk = { host: host as unknown as Desk['host'], progress: () => {}, used: () => {} }
  const job = (): RunJob => ({
    source: '//@version=6\nstrategy("x")\nplot(close)',
    inputs: {},
    overrides: {},
    bars: barsOfCloses([1, 2, 3]),
    symbol: defaultSymbol('X', 'Y'),
    interval: '1d',
    limits: DEFAULT_LIMITS,
  })
  const hashOf = (text: string) => /"hash":"\w+"/.exec(text)?.[0]
  const first = await previewJob(job(), desk)
  expect(first.barsHash).toBe(barsHash(job().bars))
  const second = await previewJob({ ...job(), barsHash: first.barsHash }, desk)
  expect(hashOf(second.result.text)).toBe(hashOf(first.result.text))
  const other = await previewJob({ ...job(), barsHash: 'told' }, desk)
  expect(hashOf(other.result.text)).not.toBe(hashOf(first.result.text))
})
