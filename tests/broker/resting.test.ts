// What a replay shows as dashed lines: which order waited at which price, from which bar to which.

import { expect, test } from 'bun:test'
import { blankOrder, HAS_STOP, type Order } from '../../src/broker/emulator/orders.ts'
import type { Book } from '../../src/broker/emulator/book.ts'
import { RestingNotes, type RestingOrder } from '../../src/broker/emulator/resting.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import type { BacktestRequest } from '../../src/broker/backtest.ts'
import { openBacktest, runBacktest } from '../../src/broker/run.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { expectText } from '../expected.ts'
import { barsFrom, TEST_SYMBOL } from './drive.ts'

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
    const order = blankOrder(null)
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
