// What a replay shows as dashed lines: which order waited at which price, from which bar to which.

import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { BrokerEmulator } from '../../src/broker/emulator/broker.ts'
import { brokerSettings } from '../../src/broker/emulator/settings.ts'
import { blankOrder, HAS_STOP, type Order } from '../../src/broker/emulator/orders.ts'
import type { Book } from '../../src/broker/emulator/book.ts'
import { RestingNotes, type RestingOrder } from '../../src/broker/emulator/resting.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import type { BacktestRequest } from '../../src/broker/backtest.ts'
import { openBacktest, runBacktest } from '../../src/broker/run.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { expectText } from '../expected.ts'
import { barsOf, walk } from '../language/run-script.ts'
import { rounds } from '../long.ts'
import { barsFrom, daysOf, drive, fillLines, step, TEST_SYMBOL, type TestScript } from './drive.ts'

const BARS = barsFrom(
  '100/101/99/100 100/101/98/99 99/103/99/102 102/105/102/104 104/104/100/101 101/102/95/96 96/103/96/102',
  86_400_000,
)

function request(body: string): BacktestRequest {
  return {
    source: `//@version=6\nstrategy("S")\n${body}`,
    inputs: {},
    bars: BARS,
    symbol: TEST_SYMBOL,
    interval: '1d',
    limits: DEFAULT_LIMITS,
    series: () => null,
  }
}

/** `from-to type qty @ price`, a line a row. */
function restingOf(tracks: ReturnType<typeof runBacktest>['tracks']): string {
  const track = tracks.find(({ kind }) => kind === 'resting') as unknown as
    | (Record<'from' | 'to' | 'type' | 'price' | 'qty' | 'name', number[]> &
        Record<'names' | 'types', string[]>)
    | undefined
  if (!track) return ''
  return track.from
    .map((from, i) => {
      const { to, names, name, types, type, qty, price } = track
      return `${from}-${to[i]} ${names[name[i]!]} ${types[type[i]!]} ${qty[i]} @ ${price[i]}`
    })
    .join('\n')
}
const check = (body: string, expected: string) =>
  expectText(import.meta.path, body, restingOf(runBacktest(request(body)).tracks), expected)

test('market orders never rest', () => {
  check('if bar_index == 1\n    strategy.entry("L", strategy.long)', '')
})

test('a limit rests until the bar it fills on', () => {
  check('if bar_index == 0\n    strategy.entry("L", strategy.long, limit=96)', '0-5 L limit 1 @ 96')
})

test('an order given again at the same price is one row, at another price the next', () => {
  check(
    'strategy.entry("L", strategy.long, limit=bar_index < 3 ? 90 : 91)',
    '0-3 L limit 1 @ 90\n3--1 L limit 1 @ 91',
  )
})

test('a bracket rests with both its legs, and both go when one fills', () => {
  check(
    `if bar_index == 0
    strategy.entry("L", strategy.long)
strategy.exit("X", "L", stop=96, limit=110)`,
    '1-5 X limit -1 @ 110\n1-5 X stop -1 @ 96',
  )
})

test('a cancelled order rests no longer', () => {
  check(
    `if bar_index == 1
    strategy.entry("L", strategy.long, stop=200)
if bar_index == 4
    strategy.cancel("L")`,
    '1-4 L stop 1 @ 200',
  )
})

test('an add that pyramiding refuses rests until the next bar', () => {
  check(
    `if bar_index == 0
    strategy.entry("L", strategy.long)
if bar_index < 5
    if bar_index % 2 == 0
        strategy.entry("A", strategy.long, stop=200 + bar_index)
    else
        strategy.entry("B", strategy.long, 2, limit=50 + bar_index)
else
    strategy.entry("A", strategy.long, stop=200, limit=210)`,
    '0-1 A stop 1 @ 200\n1-2 B limit 2 @ 51\n2-3 A stop 1 @ 202\n3-4 B limit 2 @ 53\n4-5 A stop 1 @ 204\n5-6 A stop 1 @ 200\n6--1 A stop 1 @ 200',
  )
})

test('a run taken up from a snapshot notes the same', () => {
  const asked = request(`if bar_index == 0
    strategy.entry("L", strategy.long)
strategy.exit("X", "L", stop=90 + bar_index, limit=110)`)
  const expected = restingOf(runBacktest(asked).tracks)
  const backtest = openBacktest(asked)
  backtest.advance(3)
  const saved = backtest.snapshot()
  backtest.advance(6)
  backtest.restore(saved)
  backtest.advance(BARS.length)
  expect(restingOf(backtest.result().tracks)).toBe(expected)
})

test('rows of any size are noted: many names and sizes, long waits, late ones, levels between ticks', () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  const { uniform: random, below: pick } = seededRandom(seed)
  const book = { orders: [] as Order[], legs: [] }
  const notes = new RestingNotes(book as Pick<Book, 'orders' | 'legs'> as Book, 0.5)
  const expected: RestingOrder[] = []
  let bar = 0
  for (let round = 0; round < 3000; round++) {
    const many = round % 1000 > 900
    const order = blankOrder()
    order.kind = 'entry'
    order.id = `order ${pick(many ? 60 : 3)}`
    order.units = (1 + pick(many ? 60 : 3)) * 1e8
    order.levels = HAS_STOP
    order.stop = [pick(1e5), -pick(1e5), pick(1e5) + 0.5, 2 ** 35 + pick(1e5)][pick(4)]!
    book.orders = [order]
    notes.after(bar)
    const from = bar
    bar += random() < 0.05 ? pick(4000) + 1 : pick(3) + 1
    book.orders = []
    notes.after(bar)
    expected.push({
      id: order.id,
      type: 'stop',
      qty: order.units / 1e8,
      price: order.stop / 2,
      from,
      to: bar,
    })
    bar += random() < 0.05 ? pick(4000) + 1 : pick(3)
  }
  expect({ seed, orders: notes.orders(bar) }).toEqual({ seed, orders: expected })
})

test('a stop is gone when it has become too dear, though nothing was done meanwhile', () => {
  const bars = barsFrom(
    [...Array(9).fill(100), 150, 300, 500, 700, 700]
      .map((price) => `${price}/${price}/${price}/${price}`)
      .join(' '),
  )
  const script: TestScript = ({ bar, long }) => {
    if (bar === 0) long('L', { stop: 1000 })
  }
  const { broker } = drive(bars, { initial_capital: 600 }, script, { notesResting: true })
  expect(broker.restingOrders()).toEqual([{ id: 'L', type: 'stop', qty: 1, price: 1000, from: 0, to: 12 }])
})

test('bars that need no look, since nothing that waits is near, leave fills, rows and what waits as they are', () => {
  const counts = [0, 0]
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      // Far enough for an order that could be paid to become too dear.
      const bars = barsOf(walk(300, seed).map((close) => Math.max(5, 6 * close - 500)))
      const random = seededRandom(seed)
      // A file may say so.
      if (seed % 3 === 0) for (let i = 0; i < bars.length; i += 7) bars.open[i]! += 30
      const args = { pyramiding: 1 + random.below(3), initial_capital: [150, 400, 1e6][random.below(3)]! }
      const calls = Array.from({ length: bars.length }, () =>
        random.uniform() < 0.93 ? null : [random.below(9), random.uniform(), random.uniform()],
      )
      const script: TestScript = ({ bar, broker, long, short, exit, order }) => {
        const call = calls[bar]
        const price = bars.close[bar]!
        if (!call) return
        const [kind, far, near] = call as [number, number, number]
        if (kind === 0) long('L', { stop: price * (1 + far) })
        if (kind === 1) short('S', { limit: price * (1 + far), ...(near < 0.3 && { stop: price }) })
        if (kind === 2) long('L')
        if (kind === 3)
          exit('X', near < 0.5 ? null : 'L', { stop: price * (1 - far / 2), limit: price * (1 + near) })
        if (kind === 4) exit('T', 'L', { trailPoints: 500 * far, trailOffset: 300 * near })
        if (kind === 5) broker.desk.cancel(near < 0.5 ? 'L' : 'X')
        if (kind === 6) short('S', { qty: 3 * near })
        if (kind === 8) broker.desk.cancelAll()
        if (kind === 7) order('O', far < 0.5 ? 1 : -1, { qty: near, limit: price * (0.5 + far) })
      }
      const symbol = { ...TEST_SYMBOL, mintick: 0.5 }
      const settings = brokerSettings({ margin_long: 30, margin_short: 30, ...args }, symbol, 6)
      const run = (isLookedAt: boolean) => {
        const broker = new BrokerEmulator({ ...daysOf(bars), bars, symbol, settings, notesResting: true })
        for (let bar = 0; bar < bars.length; bar++) {
          // To keep a state ends the silence.
          if (isLookedAt) broker.snapshot()
          const { callAbove, callBelow } = broker
          const looks = broker.busy || !(bars.high[bar]! < callAbove && bars.low[bar]! > callBelow)
          if (looks) counts[isLookedAt ? 0 : 1]!++
          step(broker, bar, script, [])
        }
        return [fillLines(broker), broker.restingOrders(), Buffer.from(broker.dealings()).toString('hex')]
      }
      expect(run(false)).toEqual(run(true))
    }),
    { numRuns: rounds(150) },
  )
  expect(counts[1]! / counts[0]!).toBeLessThan(0.9)
})
