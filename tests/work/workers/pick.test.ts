import { expect, test } from 'bun:test'
import { pickJob } from '../../../src/work/workers/pick-job.ts'
import type { Desk } from '../../../src/work/workers/desk.ts'

function deskWith(answer: unknown): Desk {
  const bytes = new TextEncoder().encode(JSON.stringify(answer))
  const pieces = [bytes.subarray(0, 10), bytes.subarray(10)]
  const host = { piece: async () => pieces.shift() ?? null } as unknown as Desk['host']
  return { host, progress: () => {}, used: () => {} }
}
const TRADES = Array.from({ length: 3000 }, (_, n) => ({ n, exitTime: n }))
const ANSWER = { ok: true, id: 'bt_1', result: { report: { hash: 'h', trades: TRADES, orders: [1] } } }

test('an agent is shown a report without its long lists', async () => {
  expect(JSON.parse(await pickJob({ what: 'figures' }, deskWith(ANSWER)))).toEqual({
    id: 'bt_1',
    report: { hash: 'h', tradeCount: 3000, orderCount: 1, logCount: 0, alertCount: 0 },
  })
})

test('of trades an agent is shown the last that closed before a time, and how many there are', async () => {
  const { trades, tradeCount } = JSON.parse(
    await pickJob({ what: { trades: 2000, before: 2999 } }, deskWith(ANSWER)),
  )
  expect([trades.length, trades.at(-1), tradeCount]).toEqual([2000, { n: 2998, exitTime: 2998 }, 2999])
  expect(JSON.parse(await pickJob({ what: { trades: 50, before: 9 } }, deskWith({ result: null })))).toEqual({
    trades: [],
    tradeCount: 0,
  })
})
