// A replay session, made of bars and of what a backtest has told of them.

import { describe, expect, test } from 'bun:test'
import { idSource } from '../../../src/lib/ids.ts'
import { BarCache } from '../../../src/market/bar-cache.ts'
import { emptyBars, type Bars } from '../../../src/market/bars.ts'
import {
  backtestSession,
  endReplays,
  marketSession,
  type ReplayedBacktest,
} from '../../../src/work/replay/session.ts'
import { transact } from '../../../src/store/transaction.ts'
import { TEST_SYMBOL } from '../../broker/drive.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { rejection } from '../../rejection.ts'
import { testBars, testKv } from '../../store/test-store.ts'

const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 1)

function hours(count: number, price: number, from = START): Bars {
  const bars = emptyBars(count)
  for (let i = 0; i < count; i++) bars.time[i] = from + i * HOUR
  for (const field of ['open', 'high', 'low', 'close'] as const) bars[field].fill(price)
  return bars
}

async function world() {
  const kv = testKv()
  const clock = new HandClock()
  let byte = 0
  const newId = idSource({ clock, random: { bytes: (n) => new Uint8Array(n).map(() => byte++) } })
  const bars = new BarCache(testBars())
  await bars.upsert({ exchange: 'X', symbol: 'A', interval: '1h' }, hours(5, 1))
  await bars.upsert({ exchange: 'Y', symbol: 'A', interval: '1h' }, hours(3, 2))
  await bars.upsert({ owner: 'ann', exchange: 'Y', symbol: 'A', interval: '1h' }, hours(4, 3))
  return { kv, deps: { kv, clock, newId, bars } }
}
const backtest: ReplayedBacktest = {
  id: 'bt_1',
  userId: 'ann',
  symbol: 'A',
  exchange: 'X',
  interval: '1h',
  range: { from: START + HOUR, to: START + 3 * HOUR },
}
const shown = async (bars: Bars) => ({ trades: `[${bars.length}]`, tracks: '[]', equity: '[1]' })

test('of the market alone it is bars from the first to the last', () => {
  const key = { exchange: 'X', symbol: 'A', interval: '1h' }
  expect(
    marketSession({ ...TEST_SYMBOL, timezone: 'Europe/Riga', mintick: 0.5 }, key, hours(3, 1)),
  ).toMatchObject({
    ...key,
    id: null,
    source: 'market',
    backtestId: null,
    timezone: 'Europe/Riga',
    mintick: 0.5,
    start: '2026-01-01T00:00:00.000Z',
    end: '2026-01-01T02:00:00.000Z',
    trades: '[]',
    tracks: '[]',
    equity: '[]',
  })
})

describe('of a backtest', () => {
  test('it is the bars from the first to the last that it ran on, under one id however often it is made', async () => {
    const { deps } = await world()
    const { session, cut } = await backtestSession(deps, backtest, 'x', shown)
    expect(session).toMatchObject({
      source: 'backtest',
      backtestId: 'bt_1',
      exchange: 'X',
      start: '2026-01-01T01:00:00.000Z',
      end: '2026-01-01T03:00:00.000Z',
      trades: '[3]',
      equity: '[1]',
    })
    expect([cut, session.bars.length, session.id.startsWith('rp_')]).toEqual([0, 3, true])
    const [again, both] = await Promise.all([
      backtestSession(deps, backtest, 'X', shown),
      backtestSession(deps, backtest, 'X', shown),
    ])
    expect([again.session.id, both.session.id]).toEqual([session.id, session.id])
  })
  test('two that make it at once for the first time have the same id', async () => {
    const { deps } = await world()
    const made = await Promise.all([1, 2].map(() => backtestSession(deps, backtest, 'X', shown)))
    expect(new Set(made.map(({ session }) => session.id)).size).toBe(1)
  })
  test('on another exchange it takes the bars that the user sees there, and another id', async () => {
    const { deps } = await world()
    const own = (await backtestSession(deps, backtest, 'X', shown)).session
    const other = (await backtestSession(deps, backtest, 'y', shown)).session
    expect([other.exchange, other.bars.close[0], other.id === own.id]).toEqual(['Y', 3, false])
    const bob = (await backtestSession(deps, { ...backtest, id: 'bt_2', userId: 'bob' }, 'y', shown)).session
    expect([bob.bars.close[0], bob.bars.length]).toEqual([2, 2])
  })
  test('of a formula it works the bars out again, from the series that the user sees', async () => {
    const { deps } = await world()
    const formula = { ...backtest, exchange: 'SPREAD', symbol: 'X:A+Y:A*10' }
    const { session } = await backtestSession(deps, formula, 'SPREAD', shown)
    expect([session.exchange, session.symbol, session.bars.length]).toEqual(['SPREAD', 'X:A+Y:A*10', 3])
    expect(session.bars.close[0]).toBe(31)
    const bob = { ...formula, id: 'bt_2', userId: 'bob' }
    expect((await backtestSession(deps, bob, 'SPREAD', shown)).session.bars.close[0]).toBe(21)
  })
  test('it has the zone and the tick of the symbol on the exchange that is played', async () => {
    const { deps } = await world()
    for (const [exchange, mintick, timezone] of [
      ['X', 0.25, 'America/New_York'],
      ['Y', 5, 'Europe/Riga'],
    ] as const)
      await deps.bars.store.putSymbol({ ...TEST_SYMBOL, exchange, symbol: 'A', mintick, timezone })
    for (const [exchange, mintick, timezone] of [
      ['X', 0.25, 'America/New_York'],
      ['Y', 5, 'Europe/Riga'],
    ] as const)
      expect((await backtestSession(deps, backtest, exchange, shown)).session).toMatchObject({
        mintick,
        timezone,
      })
  })
  test('on its own exchange it takes the very series it ran on, whatever the name means by now', async () => {
    const { deps } = await world()
    const onY = { ...backtest, exchange: 'Y' }
    const shared = (await backtestSession(deps, onY, 'Y', shown)).session
    const own = (await backtestSession(deps, { ...onY, id: 'bt_2', seriesOwner: 'ann' }, 'Y', shown)).session
    expect([shared.bars.close[0], own.bars.close[0]]).toEqual([2, 3])
  })
  test('whose bars are gone it says whose they were', async () => {
    const { deps } = await world()
    const gone = async (seriesOwner?: string) => {
      const of = { ...backtest, exchange: 'Z', ...(seriesOwner !== undefined && { seriesOwner }) }
      return rejection(backtestSession(deps, of, 'Z', shown))
    }
    expect(await gone()).toMatchObject({
      status: 404,
      code: 'bars_not_found',
      message:
        'There are no bars of this exchange over the time of the backtest. There are no bars for this symbol and interval. Cached are X:A 1h, Y:A 1h.',
    })
    expect(await gone('ann')).toMatchObject({
      message:
        'The backtest ran on your own bars, which were removed or shared since. Import them again, or run the backtest again.',
    })
    expect(await deps.kv.list({ prefix: ['replays'] }, { limit: 9 })).toEqual([])
  })
  test('longer than 50,000 bars it is the last of them, and says how many were left out', async () => {
    const { deps } = await world()
    await deps.bars.upsert({ exchange: 'L', symbol: 'A', interval: '1h' }, hours(50_003, 1))
    const long = { ...backtest, exchange: 'L', range: { from: START, to: START + 50_002 * HOUR } }
    const { session, cut } = await backtestSession(deps, long, 'L', shown)
    expect([session.bars.length, cut, session.trades, session.bars.time[0]]).toEqual([
      50_000,
      3,
      '[50000]',
      START + 3 * HOUR,
    ])
  })
  test('that is removed its sessions are forgotten with it, and no others', async () => {
    const { kv, deps } = await world()
    await backtestSession(deps, backtest, 'X', shown)
    await backtestSession(deps, backtest, 'Y', shown)
    const { session } = await backtestSession(deps, { ...backtest, id: 'bt_2' }, 'X', shown)
    await transact(kv, (tx) => endReplays(kv, tx, 'bt_1'))
    const left = await kv.list({ prefix: ['replays', 'id'] }, { limit: 9 })
    expect(left.map(({ key }) => key.at(-1))).toEqual([session.id])
    const again = await backtestSession(deps, backtest, 'X', shown)
    expect(again.session.id).not.toBe(session.id)
  })
})
