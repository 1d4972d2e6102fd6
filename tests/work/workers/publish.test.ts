// What is published of a run that is larger than what is published: the newest trades and bars, and how many there were.

import { expect, test } from 'bun:test'
import { publishJob } from '../../../src/work/workers/publish-job.ts'
import type { Desk } from '../../../src/work/workers/desk.ts'
import { emptyBars } from '../../../src/market/bars.ts'

test('of more trades and bars than are published the newest are, and their numbers say so', async () => {
  const report = {
    script: { title: 'T', pineVersion: 6, kind: 'strategy', declaration: {} },
    trades: Array.from({ length: 5002 }, (_, i) => ({ n: i + 1 })),
  }
  const column = (kind: string, data: readonly number[]) => ({ kind, data })
  const tracks = [
    column('time', [1, 2, 3]),
    column('equity', [10, 20, 30]),
    column('buyhold', [11, 21, 31]),
    column('drawdown', [12, 22, 32]),
  ]
  const texts = { report: [JSON.stringify(report)], tracks: [JSON.stringify(tracks)] }
  const host = { part: async (what: keyof typeof texts) => texts[what].shift() ?? null }
  const bars = emptyBars(20_003)
  for (let i = 0; i < bars.length; i++) bars.close[i] = i
  const answer = await publishJob({ bars }, { host, used: () => {} } as unknown as Desk)
  const snapshot = JSON.parse(Buffer.concat(answer).toString())
  expect(snapshot.tradeCount).toBe(5002)
  expect(snapshot.trades).toHaveLength(5000)
  expect([snapshot.trades[0].n, snapshot.trades.at(-1).n]).toEqual([3, 5002])
  expect(snapshot.barsFrom).toBe(3)
  expect([snapshot.bars.close.length, snapshot.bars.close[0], snapshot.bars.close.at(-1)]).toEqual([
    20_000, 3, 20_002,
  ])
  expect(snapshot.curve).toEqual({
    time: [1, 2, 3],
    equity: [10, 20, 30],
    buyHold: [11, 21, 31],
    drawdown: [12, 22, 32],
  })
})
