import { expect, test } from 'bun:test'
import { ToldForming } from '../../../src/people/feeds/told-forming.ts'
import { FormingBars } from '../../../src/market/live/forming-bars.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { testKv } from '../../store/test-store.ts'

const KEY = { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1m' }
const rowWith = (close: number) => [0, 1, 9, 1, close, 1] as const

test('the server with the stream tells of a forming bar every ten seconds at most, and the others show what they heard', async () => {
  const kv = testKv()
  const clock = new HandClock()
  let writes = 0
  const counted = {
    ...kv,
    commit: (commit: Parameters<typeof kv.commit>[0]) => (writes++, kv.commit(commit)),
  }
  const [ours, theirs] = [new FormingBars(0), new FormingBars(0)]
  const teller = new ToldForming({ kv: counted, clock, forming: ours, isOurs: () => true })
  const hearer = new ToldForming({ kv: counted, clock, forming: theirs, isOurs: () => false })
  for (let second = 0; second < 25; second++) {
    ours.set(KEY, rowWith(second + 1))
    await clock.pass(1000)
  }
  expect(writes).toBe(3)
  await hearer.heard(KEY)
  expect(theirs.get(KEY)?.row).toEqual(rowWith(21))
  // Nobody tells what was heard, nor hears of what is known better.
  await teller.heard(KEY)
  await clock.settle()
  expect([writes, ours.get(KEY)?.row]).toEqual([3, rowWith(25)])
  const sided = [...rowWith(25), 0.25] as const
  await clock.pass(10_000)
  ours.set(KEY, sided)
  await clock.settle()
  await hearer.heard(KEY)
  expect(theirs.get(KEY)).toMatchObject({ row: sided, delayMs: 0 })
  const ofOlder = {
    key: ['feeds', 'forming', 'BINANCE', 'BTCUSDT', '1m'],
    value: JSON.stringify([...rowWith(26), 900]),
  }
  await kv.commit({ sets: [ofOlder] })
  await hearer.heard(KEY)
  expect(theirs.get(KEY)).toMatchObject({ row: rowWith(26), delayMs: 900 })
  await hearer.heard({ ...KEY, symbol: 'NONE' })
  expect(theirs.get({ ...KEY, symbol: 'NONE' })).toBeNull()
})

test('series that nothing is told of any more are forgotten, in memory and in the store', async () => {
  const kv = testKv()
  const clock = new HandClock()
  const forming = new FormingBars(0)
  const teller = new ToldForming({ kv, clock, forming, isOurs: () => true })
  for (let i = 0; i < 1000; i++) {
    forming.set({ ...KEY, symbol: `S${i}` }, rowWith(i + 1))
    await clock.pass(10_000)
  }
  expect(teller.size).toBeLessThan(600)
  const stored = await kv.list({ prefix: ['feeds', 'forming'] }, { limit: 1000 })
  expect(stored).toHaveLength(teller.size)
  expect(stored.map(({ key }) => key[3])).toContain('S999')
})
