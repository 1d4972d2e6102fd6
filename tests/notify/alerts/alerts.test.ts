// Conditions as a table, and alerts on a clock and bars that the test makes.

import { beforeEach, describe, expect, test } from 'bun:test'
import type { Alert, AlertFields, Firing } from '../../../src/notify/alerts/alert.ts'
import { Alerts } from '../../../src/notify/alerts/alerts.ts'
import type { ScriptEvents } from '../../../src/notify/alerts/scripts.ts'
import { holds } from '../../../src/notify/alerts/condition.ts'
import { FREQUENCIES, type Operator } from '../../../src/wire/alert.ts'
import type { Closing } from '../../../src/notify/alerts/look-queue.ts'
import { fillMessage } from '../../../src/notify/alerts/message.ts'
import { Problem } from '../../../src/lib/problem.ts'
import { idSource } from '../../../src/lib/ids.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { emptyBars, selectBars, type Bars } from '../../../src/market/bars.ts'
import type { Kv } from '../../../src/store/kv.ts'
import { testKv } from '../../store/test-store.ts'
import { rejection } from '../../rejection.ts'

const nan = Number.NaN

describe('a condition', () => {
  // op, [price, price2, percent], previous, [value, high, low], past, closed → holds
  type Row = [Operator, [number, number, number], number, [number, number, number], number, boolean, boolean]
  test.each<Row>([
    ['above', [10, nan, nan], 9, [11, 11, 11], nan, true, true],
    ['above', [10, nan, nan], 9, [10, 12, 9], nan, false, false],
    ['below', [10, nan, nan], 11, [9, 11, 9], nan, true, true],
    ['crossing_up', [10, nan, nan], 10, [11, 11, 10], nan, true, true],
    ['crossing_up', [10, nan, nan], 9, [9.5, 12, 9], nan, true, false],
    ['crossing_up', [10, nan, nan], 9, [9.5, 12, 9], nan, false, true],
    ['crossing_up', [10, nan, nan], 10, [9.5, 12, 9], nan, false, false],
    ['crossing_up', [10, nan, nan], nan, [11, 11, 10], nan, true, false],
    ['crossing_down', [10, nan, nan], 10, [9, 10, 9], nan, true, true],
    ['crossing_down', [10, nan, nan], 11, [10.5, 12, 10], nan, false, true],
    ['crossing', [10, nan, nan], 11, [9, 11, 9], nan, true, true],
    ['crossing', [10, nan, nan], 9, [11, 11, 9], nan, true, true],
    ['inside_channel', [12, 10, nan], 9, [11, 11, 11], nan, true, true],
    ['outside_channel', [10, 12, nan], 11, [13, 13, 13], nan, true, true],
    ['entering_channel', [10, 12, nan], 9, [11, 11, 9], nan, true, true],
    ['entering_channel', [10, 12, nan], 11, [11, 11, 11], nan, true, false],
    ['entering_channel', [10, 12, nan], 9, [9.5, 10, 9], nan, false, true],
    ['exiting_channel', [10, 12, nan], 11, [13, 13, 11], nan, true, true],
    ['exiting_channel', [10, 12, nan], 11, [11, 13, 11], nan, true, false],
    ['exiting_channel', [10, 12, nan], 11, [11, 13, 11], nan, false, true],
    // At a bound itself.
    ['above', [10, nan, nan], 9, [10, 10, 10], nan, true, false],
    ['below', [10, nan, nan], 11, [10, 10, 10], nan, true, false],
    ['crossing_up', [10, nan, nan], 9, [10, 10, 9], nan, true, false],
    ['crossing_up', [10, nan, nan], 9, [9.5, 10, 9], nan, false, true],
    ['crossing_down', [10, nan, nan], 11, [10, 11, 10], nan, true, false],
    ['crossing_down', [10, nan, nan], 11, [10.5, 11, 10], nan, false, true],
    ['crossing_down', [10, nan, nan], 10, [10.5, 11, 9], nan, false, false],
    ['inside_channel', [10, 12, nan], 9, [10, 10, 10], nan, true, true],
    ['inside_channel', [10, 12, nan], 9, [12, 12, 12], nan, true, true],
    ['outside_channel', [10, 12, nan], 11, [10, 10, 10], nan, true, false],
    ['outside_channel', [10, 12, nan], 11, [12, 12, 12], nan, true, false],
    ['outside_channel', [10, 12, nan], 11, [9, 9, 9], nan, true, true],
    ['entering_channel', [10, 12, nan], 12, [11, 12, 11], nan, true, false],
    ['entering_channel', [10, 12, nan], 13, [12, 13, 12], nan, true, true],
    ['entering_channel', [10, 12, nan], 13, [12.5, 13, 12], nan, false, true],
    ['entering_channel', [10, 12, nan], 13, [12.5, 13, 12.1], nan, false, false],
    ['exiting_channel', [10, 12, nan], 10, [9, 10, 9], nan, true, true],
    ['exiting_channel', [10, 12, nan], 11, [12, 12, 11], nan, true, false],
    ['exiting_channel', [10, 12, nan], 11, [11, 12, 10], nan, false, false],
    ['exiting_channel', [10, 12, nan], 11, [11, 12, 9.9], nan, false, true],
    ['exiting_channel', [10, 12, nan], 13, [14, 14, 13], nan, true, false],
    ['moving_up', [5, nan, nan], nan, [15, 15, 15], 10, true, true],
    ['moving_down', [5, nan, nan], nan, [5.1, 5.1, 5.1], 10, true, false],
    ['moving_down_pct', [nan, nan, 10], nan, [9, 9, 9], 10, true, true],
    ['moving_up_pct', [nan, nan, 10], nan, [10.9, 10.9, 10.9], 10, true, false],
    ['moving_up', [5, nan, nan], nan, [14, 14, 14], 10, true, false],
    ['moving_down', [5, nan, nan], nan, [5, 5, 5], 10, true, true],
    ['moving_up_pct', [nan, nan, 10], nan, [11, 11, 11], 10, true, true],
    ['moving_down_pct', [nan, nan, 10], nan, [9.1, 9.1, 9.1], 10, true, false],
    ['moving_up_pct', [nan, nan, 10], nan, [0.6, 0.6, 0.6], 0.5, true, true],
    ['moving_down_pct', [nan, nan, 10], nan, [0.4, 0.4, 0.4], 0.5, true, true],
    ['moving_up_pct', [nan, nan, 10], nan, [1, 1, 1], 0, true, false],
    ['moving_down_pct', [nan, nan, 10], nan, [-1, -1, -1], 0, true, false],
  ])(
    '%s %p: %p → %p (past %p, closed %p) is %p',
    (op, [price, price2, percent], previous, [value, high, low], past, closed, expected) => {
      expect(holds({ op, price, price2, percent }, { value, high, low, previous, past, closed })).toBe(
        expected,
      )
    },
  )
})

test('a message fills what it knows and leaves the rest', () => {
  const values = {
    ticker: 'SPX',
    exchange: 'SP',
    interval: '1d',
    open: 1,
    high: 2,
    low: 0.5,
    close: 1.5,
    volume: 7,
    time: 0,
    price: 3,
    name: 'n',
    plots: { RSI: 71, 'a b': 2 },
  }
  expect(
    fillMessage(
      '{{ticker}} {{ close }} at {{time}} {{plot("RSI")}} {{plot_1}} {{constructor}} {{nope}} {{plot("x")}}',
      values,
    ),
  ).toBe('SPX 1.5 at 1970-01-01T00:00:00.000Z 71 2 {{constructor}} {{nope}} {{plot("x")}}')
  expect(
    fillMessage('{{exchange}} {{interval}} {{open}} {{high}} {{low}} {{volume}} {{price}} {{name}}', values),
  ).toBe('SP 1d 1 2 0.5 7 3 n')
  expect(fillMessage('[{{price}}]', { ...values, price: null })).toBe('[]')
})

const DAY = 86_400_000
const START = Date.UTC(2026, 0, 1)
let now: number
let barMs: number
let closes: number[]
let fired: Firing[]
let ends: Closing[]
let script: (bars: Bars, alert: Alert) => ScriptEvents
/** Whether the newest bar is told of while it forms. */
let isForming: boolean
/** Whose series the name means. */
let seriesOwner: string

function barsOf(values: readonly number[]): Bars {
  const bars = emptyBars(values.length)
  for (const [i, close] of values.entries()) {
    bars.time[i] = START + i * barMs
    for (const field of ['open', 'high', 'low', 'close'] as const) bars[field][i] = close
    bars.volume[i] = 100 + i
  }
  return bars
}

const MARK = ['alerts', 'mark', '', 'SP', 'SPX', '1d']

function world(kv: Kv = testKv()) {
  let byte = 0
  const clock = { now: () => now, sleep: () => Promise.resolve() }
  const alerts = new Alerts({
    kv,
    clock,
    newId: idSource({ clock, random: { bytes: (n) => new Uint8Array(n).map(() => byte++) } }),
    bars: async (series, range) => ({ bars: selectBars(barsOf(closes), range), source: sourceOf(series) }),
    source: async (series) => sourceOf(series),
    requireStored: async () => {},
    resolve: async (_userId, { exchange, symbol, interval }) => ({
      exchange,
      symbol,
      interval,
      ...(seriesOwner !== '' && { owner: seriesOwner }),
    }),
    closesAt: async () => (time) => time + barMs,
    alertsMax: 400,
    ownsReceiver: async (_userId, id) => id === 'wh_1',
    ownsChannel: async (_userId, id) => id === 'wh_1',
    wrongInput: async () => null,
    runScript: async (alert, bars) => script(bars, alert),
    deliver: async (_tx, _alert, firings) =>
      firings.map(({ id }) => ({ sets: [{ key: ['outbox', id], value: 'null' }] })),
    log: silentLog,
    fired: (firings) => fired.push(...firings),
    lookAtEnd: (closing) => ends.push(closing),
  })
  let change = 0
  // Weeks are made of the days that arrive.
  const sourceOf = ({ interval }: { readonly interval: string }) => ({
    interval: interval === '1d' || interval === '1w' ? '1d' : interval,
    change,
    isForming,
  })
  async function arrived(): Promise<void> {
    change++
    const series = { exchange: 'SP', symbol: 'SPX', interval: '1d' }
    for (const look of alerts.lanes) await Array.fromAsync(look(series))
  }
  return {
    kv,
    alerts,
    arrived,
    /** Bars came that nobody has looked at yet. */
    unseen: (...values: number[]) => {
      closes.push(...values)
      change++
    },
    set: (fields: Partial<AlertFields> = {}) =>
      alerts.create('usr_1', {
        symbol: 'spx',
        exchange: 'SP',
        interval: 'D',
        kind: 'price',
        op: 'above',
        price: 10,
        channels: ['webhook'],
        ...fields,
      }),
    /** The next bars form, one after the other; the clock stands inside the last. */
    async bar(...values: number[]) {
      for (const close of values) {
        closes.push(close)
        now = START + (closes.length - 1) * DAY + DAY / 2
        await arrived()
      }
    },
    /** The forming bar changes. */
    async tick(close: number) {
      closes[closes.length - 1] = close
      await arrived()
    },
  }
}
/** The bars that fired, by number. */
const days = () => fired.map((firing) => (firing.barTime - START) / DAY)

beforeEach(() => {
  barMs = DAY
  closes = [8, 9]
  now = START + 1.5 * DAY
  fired = []
  ends = []
  seriesOwner = ''
  isForming = false
  script = () => ({ plot: null, plots: {}, events: [] })
})

describe('an alert', () => {
  test('fires when its level is passed, once, and rests', async () => {
    const { alerts, set, bar } = world()
    const { id } = await set()
    await bar(9.5, 11, 12)
    expect(days()).toEqual([3])
    expect(fired[0]?.message).toBe('SPX is above 10')
    expect(await alerts.get('usr_1', id)).toMatchObject({ state: 'triggered', firings: 1 })
  })
  test('without a name is named by what it waits for, also when that changes, and says what has happened', async () => {
    const { alerts, set, bar } = world()
    const { id, name } = await set({ op: 'crossing_up' })
    expect(name).toBe('SPX crosses above 10')
    expect((await alerts.change('usr_1', id, { price: 12 })).name).toBe('SPX crosses above 12')
    // A form sends the name that it was given.
    expect((await alerts.change('usr_1', id, { name: 'SPX crosses above 12', op: 'above' })).name).toBe(
      'SPX is above 12',
    )
    await alerts.change('usr_1', id, { op: 'crossing' })
    await bar(13)
    expect(fired[0]?.message).toBe('SPX crossed 12')
  })
  test('keeps the name that it was given', async () => {
    const { alerts, set, bar } = world()
    const { id } = await set({ op: 'crossing_up', name: 'Breakout' })
    expect((await alerts.change('usr_1', id, { price: 12 })).name).toBe('Breakout')
    await bar(13)
    expect(fired[0]?.message).toBe('Breakout')
    expect((await alerts.change('usr_1', id, { name: '' })).name).toBe('SPX crosses above 12')
  })
  test('that an older version named as if it had fired is not taken for named by somebody', async () => {
    const { alerts, set } = world()
    const { id } = await set({ op: 'crossing_up', name: 'SPX crossed up through 10' })
    expect((await alerts.change('usr_1', id, { price: 12 })).name).toBe('SPX crosses above 12')
  })
  test('fires at once when it is true already', async () => {
    const { set } = world()
    await set({ price: 5 })
    expect(days()).toEqual([1])
  })
  test('does not fire for a crossing that happened before it was set', async () => {
    const { set, bar } = world()
    await set({ op: 'crossing_up', price: 8.5 })
    expect(days()).toEqual([])
    await bar(8, 9)
    expect(days()).toEqual([3])
  })
  test('fires once a bar however often the forming bar is updated', async () => {
    const { set, bar, tick } = world()
    await set({ frequency: 'every_time' })
    await bar(11)
    await tick(12)
    await tick(9)
    await tick(11)
    await bar(12)
    expect(days()).toEqual([2, 3])
  })
  test('with once_per_bar needs the step from false to true', async () => {
    const { set, bar } = world()
    await set({ frequency: 'once_per_bar' })
    await bar(11, 12, 9, 11)
    expect(days()).toEqual([2, 5])
  })
  test('with once_per_bar_close waits until the bar is over', async () => {
    const { set, bar, tick } = world()
    await set({ frequency: 'once_per_bar_close' })
    await bar(11)
    await tick(9)
    await bar(11)
    expect(days()).toEqual([])
    await bar(9)
    expect(days()).toEqual([3])
  })
  test('with once_per_bar_close asks to be looked at when its bar is over, also after a restart', async () => {
    const { kv, set, bar, arrived } = world()
    await set({ frequency: 'once_per_bar_close' })
    await set({ kind: 'script', op: undefined, price: undefined, scriptId: 'scr_1', symbol: 'NDX' })
    expect(ends.map(({ key, at }) => [key.symbol, (at - START) / DAY])).toEqual([
      ['SPX', 2 + 5000 / DAY],
      ['NDX', 2 + 5000 / DAY],
    ])
    await bar(12)
    expect(ends.at(-1)?.at).toBe(START + 3 * DAY + 5000)
    const again = world(kv)
    expect(await Array.fromAsync(again.alerts.formingBars(), (closing) => closing?.at)).toContain(
      START + 3 * DAY + 5000,
    )
    now = START + 3 * DAY + 5000
    await arrived()
    expect(days()).toEqual([2])
    const awaited = await Array.fromAsync(again.alerts.formingBars(), (closing) => closing?.key.symbol)
    expect(awaited).not.toContain('SPX')
  })
  test('of a script writes nothing on a bar that means nothing to it', async () => {
    const kv = testKv()
    let writes = 0
    const counted: Kv = {
      ...kv,
      commit(commit) {
        if (commit.sets?.some(({ key }) => key[0] === 'alerts' && key[1] === 'id')) writes++
        return kv.commit(commit)
      },
    }
    const fields = { kind: 'script', op: undefined, price: undefined, scriptId: 'scr_1' } as const
    const { set, bar } = world(counted)
    await set({ ...fields, frequency: 'once_per_bar' })
    await bar(11)
    writes = 0
    const seen: (number | null)[] = []
    script = (_bars, alert) => {
      seen.push(alert.seenBar)
      return { plot: null, plots: {}, events: [] }
    }
    await bar(12, 13, 14)
    expect(writes).toBe(0)
    // It does not go back to the bar that was written down.
    expect(seen.map((time) => ((time ?? 0) - START) / DAY)).toEqual([1, 2, 3])
    // After a stop it does, and misses nothing.
    script = () => ({ plot: null, plots: {}, events: [{ bar: 5, message: 'now' }] })
    await world(counted).bar(15, 16)
    expect(days()).toEqual([5])
  })
  test('is not fired by history imported behind the newest bar', async () => {
    const { set, arrived } = world()
    await set({ frequency: 'every_time' })
    closes = [11, 9]
    await arrived()
    expect(days()).toEqual([])
  })
  test('on a series that was empty looks only at its newest bar', async () => {
    closes = []
    const { set, arrived } = world()
    await set({ frequency: 'every_time' })
    closes = [11, 12, 13]
    await arrived()
    expect(days()).toEqual([2])
  })
  test('evaluated again after a crash fires nothing again', async () => {
    const { kv, set, bar, arrived } = world()
    await set({ frequency: 'every_time' })
    await bar(11)
    await arrived()
    await arrived()
    expect(days()).toEqual([2])
    expect(await kv.list({ prefix: ['outbox'] }, { limit: 10 })).toHaveLength(1)
  })
  test('is throttled after more than 15 firings in 3 minutes, by when its bars closed', async () => {
    const { alerts, set, arrived } = world()
    const { id } = await set({ frequency: 'every_time' })
    closes.push(...Array.from({ length: 30 }, () => 11))
    now = START + 40 * DAY
    await arrived()
    // Days that come all at once are days apart.
    expect(fired).toHaveLength(30)
    expect((await alerts.get('usr_1', id)).state).toBe('active')
    fired = []
    barMs = 10_000
    closes = [8, 9]
    now = START + barMs * 60
    const quick = world()
    const other = await quick.set({ frequency: 'every_time' })
    closes.push(...Array.from({ length: 30 }, () => 11))
    await quick.arrived()
    expect(fired).toHaveLength(16)
    expect((await quick.alerts.get('usr_1', other.id)).state).toBe('throttled')
  })
  test('keeps its cool-down', async () => {
    const { set, bar } = world()
    await set({ frequency: 'every_time', cooldownSec: 2 * 86_400 })
    await bar(11, 11, 11, 11, 11)
    expect(days()).toEqual([2, 4, 6])
  })
  test('expires', async () => {
    const { alerts, set, bar } = world()
    const { id } = await set({ expiresAt: START + 2 * DAY })
    await bar(11)
    expect(days()).toEqual([])
    expect((await alerts.get('usr_1', id)).state).toBe('expired')
  })
  test('paused does not fire, resumed starts from the newest bar', async () => {
    const { alerts, set, bar } = world()
    const { id } = await set({ op: 'crossing_up' })
    await alerts.change('usr_1', id, { state: 'paused' })
    await bar(11, 9)
    await alerts.change('usr_1', id, { state: 'active' })
    expect(days()).toEqual([])
    await bar(11)
    expect(days()).toEqual([4])
  })
  test('set again after a crossing does not fire for it', async () => {
    const { alerts, set, bar } = world()
    const { id } = await set({ op: 'crossing_up' })
    await alerts.change('usr_1', id, { state: 'paused' })
    await bar(11)
    await alerts.change('usr_1', id, { state: 'active' })
    expect(days()).toEqual([])
    await bar(9, 11)
    expect(days()).toEqual([4])
  })
  test('that is changed at the moment its bar closes has fired for it', async () => {
    const { alerts, set, unseen } = world()
    const { id } = await set({ frequency: 'once_per_bar_close' })
    unseen(11)
    now = START + 3 * DAY - 1
    await alerts.change('usr_1', id, { price: 10.5 })
    expect(days()).toEqual([])
    now++
    await alerts.change('usr_1', id, { price: 1000 })
    expect(days()).toEqual([2])
  })
  test('whose name means another series again tells what fires there', async () => {
    seriesOwner = 'usr_1'
    const { alerts, set } = world()
    const { id } = await set({ op: 'below', price: 5 })
    expect(await alerts.get('usr_1', id)).toMatchObject({ seriesOwner: 'usr_1' })
    // What was the user's own is gone, and everybody's stands at 4.
    seriesOwner = ''
    closes = [4, 4]
    const own = { owner: 'usr_1', exchange: 'SP', symbol: 'SPX', interval: '1d' }
    await Array.fromAsync(alerts.look(own))
    expect(await alerts.get('usr_1', id)).toMatchObject({ seriesOwner: '', state: 'triggered' })
    expect(days()).toEqual([1])
  })
  test('changed to another level forgets what it saw of the old one', async () => {
    const { alerts, set, bar } = world()
    const { id } = await set({ op: 'above', price: 10, frequency: 'once_per_bar' })
    await bar(11)
    await alerts.change('usr_1', id, { price: 10.5 })
    await bar(12, 9, 12)
    expect(days()).toEqual([2, 5])
  })
  test('on weeks that are made of the days that arrive is looked at too', async () => {
    const { set, bar } = world()
    await set({ interval: '1w', frequency: 'every_time' })
    await bar(11)
    expect(days()).toEqual([2])
  })
  test('on a market whose bars did not come is left alone', async () => {
    const { set, bar } = world()
    for (const other of [{ interval: '1h' }, { symbol: 'NDX' }, { exchange: 'NASDAQ' }]) await set(other)
    await bar(11)
    expect(days()).toEqual([])
  })
  test('on weeks asks for a look at the days that make them', async () => {
    const { set } = world()
    await set({ interval: '1w', frequency: 'once_per_bar_close' })
    expect(ends.map(({ key, at }) => [key.interval, (at - START) / DAY])).toEqual([['1d', 2 + 5000 / DAY]])
  })
  test('on bars of twelve seconds is looked at a second behind their end, not five', async () => {
    barMs = 12_000
    now = START + 1.5 * barMs
    const { set } = world()
    await set({ frequency: 'once_per_bar_close' })
    expect(ends.map(({ at }) => at - START)).toEqual([2 * barMs + 1000])
  })
  test('of a script runs from the first bar there is', async () => {
    closes = [9]
    now = START + DAY / 2
    const { set, bar } = world()
    const seen: number[] = []
    script = (bars) => {
      seen.push(bars.length)
      return { plot: null, plots: {}, events: [] }
    }
    await set({
      kind: 'script',
      op: undefined,
      price: undefined,
      scriptId: 'scr_1',
      frequency: 'once_per_bar',
    })
    await bar(10)
    await bar(10)
    expect(seen).toEqual([1, 2])
  })
  test('of a script does not look through more than a hundred others for one that it equals', async () => {
    closes = Array.from({ length: 6000 }, () => 9)
    now = START + 5999.5 * DAY
    const { alerts, set, bar } = world()
    const fields = { kind: 'script', op: undefined, price: undefined } as const
    for (let i = 0; i < 99; i++) await set({ ...fields, scriptId: 'scr_1' })
    const nearest = await set({ ...fields, scriptId: 'scr_2' })
    const beyond = await set({ ...fields, scriptId: 'scr_3' })
    await bar(10)
    const since = async ({ id }: Alert) => (await alerts.get('usr_1', id)).since
    const again = async (scriptId: string) => since(await set({ ...fields, scriptId }))
    expect(await again('scr_2')).toBe(await since(nearest))
    expect(await again('scr_3')).toBe(((await since(beyond)) ?? 0) + DAY)
  })
  test('of volume and of change', async () => {
    const { set, bar } = world()
    await set({ kind: 'volume', op: 'above', price: 102.5 })
    await set({ kind: 'change', op: 'above', price: 20 })
    await bar(9, 11)
    expect(fired.map((firing) => firing.message).toSorted()).toEqual([
      'SPX change is above 20',
      'SPX volume is above 102.5',
    ])
  })
  test('of a script fires on its own calls, and stops with its error', async () => {
    const { alerts, set, bar } = world()
    script = (bars) => ({
      plot: null,
      plots: {},
      events: [{ bar: bars.length - 1, message: 'says the script' }],
    })
    const { id } = await set({
      kind: 'script',
      op: undefined,
      price: undefined,
      scriptId: 'scr_1',
      frequency: 'once_per_bar',
    })
    expect(days()).toEqual([])
    await bar(11, 12)
    expect(fired.map((firing) => firing.message)).toEqual(['says the script', 'says the script'])
    script = () => {
      throw new Error('line 3: array index out of range')
    }
    await bar(13)
    expect(await alerts.get('usr_1', id)).toMatchObject({
      state: 'error',
      problem: 'line 3: array index out of range',
    })
  })
  describe.each(FREQUENCIES)('of a script, %s,', (frequency) => {
    const says = (bars: Bars): ScriptEvents => ({
      plot: null,
      plots: {},
      events: Array.from(bars.close, (close, bar) => ({ bar, message: `${close}` })),
    })
    const said = () => fired.map(({ barTime, message }) => [(barTime - START) / DAY, message])
    const closesOf = (...all: [number, string][]) => (frequency === 'once' ? all.slice(0, 1) : all)

    test.each(['script', 'strategy'] as const)('is told by a %s of each bar at its close', async (kind) => {
      script = says
      const { set, bar, tick, arrived } = world()
      await set({ kind, op: undefined, price: undefined, scriptId: 'scr_1', frequency })
      await tick(9.5)
      expect(said()).toEqual([])
      // The bar on which it was set is over when the next one comes.
      await bar(11)
      expect(said()).toEqual([[1, '9.5']])
      await tick(12)
      await tick(13)
      expect(said()).toEqual([[1, '9.5']])
      // No other bar comes: it is looked at when its end has passed.
      expect(ends.some(({ at }) => at === START + 3 * DAY + 5000)).toBe(true)
      now = START + 3 * DAY + 5000
      await arrived()
      await arrived()
      expect(said()).toEqual(closesOf([1, '9.5'], [2, '13']))
      await bar(14)
      expect(said()).toEqual(closesOf([1, '9.5'], [2, '13']))
      await bar(15)
      expect(said()).toEqual(closesOf([1, '9.5'], [2, '13'], [3, '14']))
    })
    test('leaves a bar alone that forms after its end, since its provider is late', async () => {
      script = says
      const { set, bar, tick, arrived } = world()
      await set({ kind: 'script', op: undefined, price: undefined, scriptId: 'scr_1', frequency })
      await bar(11)
      const before = said()
      isForming = true
      now = START + 3 * DAY + 5000
      await tick(12)
      expect(said()).toEqual(before)
      isForming = false
      closes[2] = 13
      await arrived()
      expect(said()).toEqual(closesOf([1, '9'], [2, '13']))
    })
    test('leaves a bar that is made of others alone until the last of them may have come', async () => {
      script = says
      barMs = 7 * DAY
      const { set, tick } = world()
      now = START + 10 * DAY
      await set({
        kind: 'script',
        op: undefined,
        price: undefined,
        scriptId: 'scr_1',
        frequency,
        interval: '1w',
      })
      now = START + 14 * DAY + 4999
      await tick(10)
      expect(said()).toEqual([])
      now++
      await tick(11)
      expect(fired.map(({ message }) => message)).toEqual(['11'])
    })
  })
  test('of a script waits while the server is busy, and is not to blame', async () => {
    const { alerts, set, bar } = world()
    script = () => {
      throw new Problem(503, 'shutting_down', 'The server is stopping.')
    }
    const { id } = await set({ kind: 'script', op: undefined, price: undefined, scriptId: 'scr_1' })
    expect(bar(13)).rejects.toThrow('The server is stopping.')
    expect(await alerts.get('usr_1', id)).toMatchObject({ state: 'active', problem: null })
  })
  test('of a script begins where an equal one began, so that they are one run', async () => {
    closes = Array.from({ length: 6000 }, () => 9)
    now = START + 5999.5 * DAY
    const { alerts, set, bar } = world()
    script = () => ({ plot: null, plots: {}, events: [] })
    const fields = { kind: 'script', op: undefined, price: undefined, scriptId: 'scr_1' } as const
    const first = await set(fields)
    await bar(10, 11, 12)
    const equal = await set(fields)
    const other = await set({ ...fields, inputs: { Length: 5 } })
    const since = async ({ id }: Alert) => (await alerts.get('usr_1', id)).since
    expect(await since(equal)).toBe(await since(first))
    expect(await since(other)).toBe(((await since(first)) ?? 0) + 3 * DAY)
  })
  test('of a script runs it from the same bar each time, so that its past stays what it was', async () => {
    closes = Array.from({ length: 6000 }, () => 9)
    now = START + 5999.5 * DAY
    const { set, bar } = world()
    const seen: [number, number][] = []
    script = (bars) => {
      seen.push([((bars.time[0] ?? 0) - START) / DAY, bars.length])
      return { plot: null, plots: {}, events: [] }
    }
    await set({
      kind: 'script',
      op: undefined,
      price: undefined,
      scriptId: 'scr_1',
      frequency: 'once_per_bar',
    })
    await bar(10, 11)
    expect(seen).toEqual([
      [1000, 4999],
      [1000, 5000],
      [1000, 5001],
    ])
  })
  test('that was changed is told in the same ways, and watches by the same names', async () => {
    const { alerts, set } = world()
    const { id } = await set()
    for (const [fields, path] of [
      [{ channels: [] }, '/channels'],
      [{ webhookIds: ['wh_of_another'] }, '/webhookIds/0'],
    ] as const)
      expect(alerts.change('usr_1', id, fields)).rejects.toMatchObject({
        status: 422,
        details: { fields: [{ path }] },
      })
    expect(await alerts.change('usr_1', id, { symbol: 'ndx', exchange: 'nasdaq' })).toMatchObject({
      symbol: 'NDX',
      exchange: 'NASDAQ',
    })
  })
  test('that has fired is set again by a change of any one field', async () => {
    const { alerts, set, bar } = world()
    const { id } = await set()
    await bar(11, 9)
    expect(await alerts.get('usr_1', id)).toMatchObject({ state: 'triggered' })
    expect(await alerts.change('usr_1', id, { name: 'again' })).toMatchObject({ state: 'active' })
    await bar(12)
    expect(days()).toEqual([2, 4])
  })
  test('that has fired on a bar fires on it again in another market, and not in its own', async () => {
    const { alerts, set, bar } = world()
    const { id } = await set({ frequency: 'once_per_bar' })
    await bar(11)
    await alerts.change('usr_1', id, { price: 10.5 })
    expect(days()).toEqual([2])
    for (const fields of [{ symbol: 'NDX' }, { exchange: 'NASDAQ' }, { interval: '1w' }])
      await alerts.change('usr_1', id, fields)
    expect(days()).toEqual([2, 2, 2, 2])
    expect(fired.map(({ symbol, exchange, interval }) => `${exchange}:${symbol} ${interval}`)).toEqual([
      'SP:SPX 1d',
      'SP:NDX 1d',
      'NASDAQ:NDX 1d',
      'NASDAQ:NDX 1w',
    ])
  })
  test.each([{ symbol: 'NDX' }, { exchange: 'NASDAQ' }, { interval: '1w' }])(
    'that moves to %p when a look has found it is not judged by the bars it left',
    async (fields) => {
      const kv = testKv()
      let move = () => Promise.resolve()
      const { alerts, set, arrived } = world({
        ...kv,
        async getMany(keys) {
          const moving = move
          move = () => Promise.resolve()
          await moving()
          return kv.getMany(keys)
        },
      })
      const { id } = await set({ op: 'crossing_up', frequency: 'once_per_bar' })
      closes.push(11)
      now += DAY
      let moved = false
      move = async () => {
        await alerts.change('usr_1', id, fields)
        moved = true
      }
      await arrived()
      // It was judged by them before it moved.
      expect([moved, days()]).toEqual([true, [2]])
    },
  )
  test('that is deleted is gone, also when the disk is full before its firings are', async () => {
    const kv = testKv()
    let room = Infinity
    const { alerts, set } = world({
      ...kv,
      commit: async (changes) => {
        if (room-- <= 0) throw new Problem(507, 'storage_full', 'The disk is full.')
        return kv.commit(changes)
      },
    })
    const { id } = await set()
    room = 1
    await alerts.remove('usr_1', id)
    room = Infinity
    // What is left is known, and goes with the next start.
    const left = async () => JSON.stringify(await kv.list({ prefix: ['alerts'] }, { limit: 100 }))
    expect(await left()).toContain(id)
    await alerts.sweep()
    expect(await left()).not.toContain(id)
  })
  test('that is deleted leaves nothing behind', async () => {
    const { kv, alerts, set, bar } = world()
    const { id } = await set({
      op: 'inside_channel',
      price2: 12,
      frequency: 'every_time',
      expiresAt: now * 2,
    })
    await bar(11, 11, 11)
    expect(days()).toEqual([2, 3, 4])
    await alerts.remove('usr_1', id)
    const pages = await Promise.all(
      ['alerts', 'firings'].map((name) => kv.list({ prefix: [name] }, { limit: 100 })),
    )
    const stays = ['mark', 'joined', 'stamp']
    expect(pages.flat().filter(({ key }) => !stays.includes(String(key[1])))).toEqual([])
  })
  test('whose commit falls into a look that did not know it misses nothing', async () => {
    const kv = testKv()
    const insertion = Promise.withResolvers<boolean>()
    const { set, arrived } = world({
      ...kv,
      async commit(commit) {
        // The second alert is written when the look is about to move the mark past the bar that fires it.
        const keys = (commit.sets ?? []).map(({ key }) => key.join(' '))
        if (keys.includes('alerts joined  SP SPX 1d') && closes.length === 2 && (await kv.get(MARK))) {
          asked.resolve()
          await insertion.promise
          const made = await kv.commit(commit)
          written.resolve()
          return made
        }
        if (keys.includes(MARK.join(' ')) && closes.length === 3) {
          insertion.resolve(true)
          await written.promise
        }
        return kv.commit(commit)
      },
    })
    const asked = Promise.withResolvers<void>()
    const written = Promise.withResolvers<void>()
    await set({ price: 50 })
    const setting = set({ op: 'crossing_up', price: 10 })
    await asked.promise
    closes.push(11)
    now += DAY
    await Promise.all([setting, arrived()])
    expect(days()).toEqual([2])
  })
  test('whose commit comes when the look that should have known it is over misses nothing', async () => {
    const kv = testKv()
    const asked = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    const { set, arrived } = world({
      ...kv,
      async commit(commit) {
        const isAlert = commit.sets?.some(({ key }) => key[0] === 'alerts' && key[1] === 'id')
        if (!isAlert || closes.length !== 3) return kv.commit(commit)
        asked.resolve()
        await over.promise
        return kv.commit(commit)
      },
    })
    await set({ price: 50 })
    // Its series was not looked at up to here yet.
    closes.push(9)
    const setting = set({ op: 'above', price: 10 })
    await asked.promise
    closes.push(11)
    now += 2 * DAY
    await arrived()
    over.resolve()
    await setting
    expect(days()).toEqual([3])
  })
  test('of somebody else is not there', async () => {
    const { alerts, set } = world()
    const { id } = await set()
    expect(await rejection(alerts.get('usr_2', id))).toHaveProperty(
      'message',
      expect.stringContaining('no such alert'),
    )
    expect(alerts.change('usr_2', id, { name: 'x' })).rejects.toMatchObject({
      code: 'alert_not_found',
    })
  })
  test.each<[Partial<AlertFields>, string]>([
    [{ interval: 'soon' }, '/interval'],
    [{ op: undefined }, '/op'],
    [{ price: undefined }, '/price'],
    [{ op: 'inside_channel' }, '/price2'],
    [{ op: 'moving_up_pct' }, '/percent'],
    [{ kind: 'script' }, '/scriptId'],
    [{ expiresAt: 1 }, '/expiresAt'],
    [{ channels: [] }, '/channels'],
    [{ webhookIds: ['wh_1', 'wh_of_another'] }, '/webhookIds/1'],
  ])('with %p is refused at %s', async (fields, path) => {
    const { set } = world()
    expect(set(fields)).rejects.toMatchObject({ status: 422, details: { fields: [{ path }] } })
  })
})
