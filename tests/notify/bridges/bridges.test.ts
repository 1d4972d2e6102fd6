// Orders to a broker: each once, under a key that stays, and what comes of receivers that fail.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { checkBody } from '../../../src/notify/bridges/body.ts'
import { differenceOf, orderKey } from '../../../src/notify/bridges/rules.ts'
import { transact } from '../../../src/store/transaction.ts'
import {
  NUMBER_PLACEHOLDERS,
  ORDER_TEMPLATES,
  TEMPLATE_NAMES,
  TEXT_PLACEHOLDERS,
} from '../../../src/wire/order-templates.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { rejection } from '../../rejection.ts'
import { testKv } from '../../store/test-store.ts'
import { isLong } from '../../long.ts'
import { answer, bridgeWorld, broken, HOUR, Life, OK, RUN, seeded, SOURCE } from './bridge-world.ts'

// A busy machine is no failure.
setDefaultTimeout(900_000)

const buy = { event: 'order.placed', side: 'buy', qty: 1 } as const
const filled = (position: number, side: 'buy' | 'sell' = 'buy', qty = 1, orderId = 'L') =>
  ({ event: 'order.filled', type: null, side, qty, position, orderId, price: 10 }) as const

describe('a template', () => {
  test('of each service passes its own check', () => {
    for (const name of TEMPLATE_NAMES) checkBody(ORDER_TEMPLATES[name], ORDER_TEMPLATES[name].body)
  })
  test.each([
    ['traderspost', '{"ticker": "{{ticker}}"}', 'TradersPost needs the field action. Add it.'],
    [
      'traderspost',
      '{"ticker": "A", "action": "long"}',
      'The field action must be one of buy, sell, exit, cancel, add for TradersPost.',
    ],
    [
      'alpaca',
      '{"symbol": "A", "side": "{{strategy.order.action}}", "type": "market", "time_in_force": "day", "client_order_id": 7}',
      'The field client_order_id must be a text in quotes for Alpaca.',
    ],
    [
      'pickmytrade',
      '{"symbol":"A","date":"x","data":"buy","quantity":"many","token":"t"}',
      'The field quantity must be a number for PickMyTrade.',
    ],
    [
      'generic',
      '{"a": {{ticker}}}',
      'The placeholder {{ticker}} is a text: write it in quotes, "{{ticker}}".',
    ],
    [
      'generic',
      '[1]',
      'It is no JSON object once its placeholders are filled. Check braces, quotes and commas.',
    ],
    [
      'generic',
      '{"a": "{{strategy.order.acton}}"}',
      `There is no placeholder {{strategy.order.acton}}. There are ${[...TEXT_PLACEHOLDERS, ...NUMBER_PLACEHOLDERS].join(', ')}, each in {{…}}.`,
    ],
    [
      'generic',
      '{"a": "{{ticker"}',
      `There is no placeholder {{ticker". There are ${[...TEXT_PLACEHOLDERS, ...NUMBER_PLACEHOLDERS].join(', ')}, each in {{…}}.`,
    ],
  ] as const)('of %s refuses %s by name and remedy', (name, body, message) => {
    let said = ''
    try {
      checkBody(ORDER_TEMPLATES[name], body)
    } catch (error) {
      said = (error as Error).message
    }
    expect(said).toBe(message)
  })
})

describe('an order', () => {
  test('at the market is sent when it is placed, and not again when it has filled', async () => {
    const { made, bar, clock, sent, orders, bridges, stop } = bridgeWorld()
    const bridge = await made()
    await bar([buy])
    await clock.settle()
    expect(sent.map(({ body }) => body)).toEqual([
      expect.objectContaining({ symbol: 'E:S', action: 'buy', quantity: 1, position: 1, order: 'L' }),
    ])
    const key = orderKey(bridge.id, RUN, clock.now() - HOUR, 'L', 0)
    expect(sent[0]).toMatchObject({ key, body: { key } })
    await clock.pass(HOUR)
    await bar([filled(1)])
    await clock.settle()
    expect(sent.length).toBe(1)
    expect((await orders()).map(({ state, side, qty }) => [state, side, qty])).toEqual([
      ['delivered', 'buy', 1],
    ])
    expect(await bridges.get('usr_1', bridge.id)).toMatchObject({ expected: 1, held: 1 })
    await stop()
  })
  test('that rests is sent when it has filled; one that is not over is not', async () => {
    const { made, bar, clock, sent, stop } = bridgeWorld()
    await made()
    await bar([
      { ...buy, type: 'limit', price: 9 },
      { ...filled(1), status: 'provisional' },
    ])
    await clock.settle()
    expect(sent).toEqual([])
    await bar([{ ...filled(1), status: 'confirmed' }])
    await clock.settle()
    expect(sent.map(({ body }) => [body['action'], body['quantity']])).toEqual([['buy', 1]])
    await stop()
  })
  test('that is placed again replaces the one before, and what waits beyond that is sent as well', async () => {
    const { made, bar, clock, sent, bridges, stop } = bridgeWorld()
    const { id } = await made()
    await bar([buy])
    await bar([{ ...buy, qty: 3 }])
    await clock.settle()
    const one = { id: 'L', type: 'market' as const, side: 'buy' as const, price: null }
    await bar([{ ...buy, qty: 3 }], {
      waiting: [
        { ...one, qty: 3 },
        { ...one, qty: 2 },
      ],
    })
    await clock.settle()
    expect(sent.map(({ body }) => body['quantity'])).toEqual([1, 2, 2])
    expect(await bridges.get('usr_1', id)).toMatchObject({ expected: 5, held: 5 })
    await stop()
  })
  test('is counted though its bridge is changed at the same moment', async () => {
    const { made, bar, clock, sent, bridges, at, stop } = bridgeWorld()
    const { id } = await made()
    const { resolve } = at
    const looked = Promise.withResolvers<string[]>()
    at.resolve = () => looked.promise
    const changing = bridges.change('usr_1', id, { name: 'other', url: 'https://broker.example/b' })
    await clock.settle()
    at.resolve = resolve
    await bar([buy])
    await clock.settle()
    looked.resolve(['93.184.215.14'])
    await changing
    expect([sent.length, await bridges.get('usr_1', id)]).toMatchObject([
      1,
      { expected: 1, held: 1, name: 'other' },
    ])
    await stop()
  })
  test('is not sent in a dry run, which is how a bridge begins', async () => {
    const { made, bar, clock, sent, orders, bridges, stop } = bridgeWorld()
    const { id } = await made({ dryRun: false }, false)
    await bar([buy])
    await clock.pass(HOUR)
    expect([sent.length, (await orders()).map(({ state, reason }) => [state, reason])]).toEqual([
      0,
      [['cancelled', 'dry_run']],
    ])
    expect(await bridges.get('usr_1', id)).toMatchObject({ dryRun: true, expected: 1, held: 1 })
    await stop()
  })
  test('whose texts are hostile stays one JSON text', async () => {
    const { made, bar, clock, sent, stop } = bridgeWorld()
    await made({
      body: '{"c": "{{strategy.order.comment}}", "id": "{{strategy.order.id}}", "q": {{strategy.order.contracts}}}',
    })
    await bar([{ ...buy, orderId: '{{secret}}', comment: '", "q": 1000, "x": "\u0000' }])
    await clock.settle()
    expect(sent[0]?.body).toEqual({ c: '", "q": 1000, "x": "\u0000', id: '{{secret}}', q: 1 })
    await stop()
  })
  test('of a strategy that holds a position waits until it is flat', async () => {
    const { made, bar, clock, sent, orders, bridges, stop } = bridgeWorld({
      source: { ...SOURCE, position: 2 },
    })
    const { id } = await made()
    await bar([filled(1, 'sell')])
    await bar([{ ...buy, side: 'sell' }])
    await bar([filled(0, 'sell')])
    await clock.settle()
    expect(sent).toEqual([])
    await bar([buy])
    await clock.settle()
    expect((await orders()).map(({ reason }) => reason)).toEqual(['before_flat', 'nothing_to_do', null])
    expect([sent.length, await bridges.get('usr_1', id)]).toMatchObject([
      1,
      { expected: 1, held: 1, waitsForFlat: false },
    ])
    await stop()
  })
})

describe('a limit', () => {
  test('of the size cuts an order, and its exit closes what there is', async () => {
    const { made, bar, bridges, clock, sent, told, stop } = bridgeWorld()
    await made({ maxPosition: 2 }, false)
    const { id } = await made({ maxPosition: 2 })
    await bar([{ ...buy, qty: 5 }])
    await clock.settle()
    // A limit of its owner is no difference, in a dry run neither.
    expect([told, differenceOf(await bridges.get('usr_1', id))]).toEqual([[], 0])
    await bar([filled(5, 'buy', 5), { ...buy, side: 'sell', qty: 5 }])
    await clock.settle()
    expect(told).toEqual([])
    expect(sent.map(({ body }) => [body['action'], body['quantity']])).toEqual([
      ['buy', 2],
      ['sell', 2],
    ])
    await stop()
  })
  test('of the day’s loss lets exits through and no entry; a reversal only closes', async () => {
    const { made, bar, clock, sent, orders, stop } = bridgeWorld()
    await made({ maxDayLoss: 100 })
    const lossy = { equity: 9900, day: { date: 0, equity: 10_000 } }
    await bar([buy], { ...lossy, equity: 9901 })
    await bar([filled(1), { ...buy, side: 'sell', qty: 2 }], lossy)
    await bar([filled(-1, 'sell', 2), { ...buy, side: 'sell' }], lossy)
    await clock.settle()
    expect(sent.map(({ body }) => [body['action'], body['quantity']])).toEqual([
      ['buy', 1],
      ['sell', 1],
    ])
    expect((await orders()).map(({ reason }) => reason)).toEqual([null, null, 'loss'])
    await stop()
  })
  test('of market hours holds an order until the market opens', async () => {
    const { made, bar, clock, sent, orders, stop } = bridgeWorld({
      opensAt: (time) => Math.max(time, Date.UTC(2026, 0, 1, 2)),
    })
    await made({ marketHours: true })
    await bar([buy])
    await clock.pass(HOUR)
    expect(sent).toEqual([])
    await clock.pass(HOUR)
    expect(sent.map(({ at }) => at)).toEqual([Date.UTC(2026, 0, 1, 2)])
    // A bar of long ago comes too late also where the market has been closed since.
    await clock.pass(HOUR)
    await bar([{ ...buy, orderId: 'M', time: Date.UTC(2026, 0, 1) }])
    await clock.settle()
    expect((await orders()).map(({ state, reason }) => [state, reason])).toEqual([
      ['delivered', null],
      ['failed', 'late'],
    ])
    await stop()
  })
  test('by the switch of the user or of the bridge stops what waits, and nothing goes', async () => {
    const { made, bar, clock, sent, orders, bridges, at, stop } = bridgeWorld()
    const { id } = await made()
    at.respond = () => answer(503)
    await bar([buy])
    await clock.settle()
    await bridges.stop('usr_1', true)
    await clock.pass(HOUR)
    expect([sent.length, (await orders())[0]]).toMatchObject([1, { state: 'cancelled', reason: 'stopped' }])
    await bridges.stop('usr_1', false)
    await bridges.change('usr_1', id, { status: 'disabled' })
    await bar([{ ...buy, orderId: 'M' }])
    await clock.pass(HOUR)
    expect([sent.length, (await orders()).length]).toEqual([1, 1])
    await stop()
  })
})

describe('a receiver', () => {
  test('that refuses has its exit not sent, and the difference is told once', async () => {
    const { made, bar, clock, sent, orders, told, at, stop } = bridgeWorld()
    await made()
    at.respond = () => answer(422)
    await bar([buy])
    await clock.settle()
    expect(told).toEqual(['The receiver of mine should have 1 S, and by its answers has 0.'])
    await bar([filled(1), { ...buy, side: 'sell' }])
    await clock.pass(HOUR)
    expect([sent.length, told.length]).toEqual([1, 1])
    expect((await orders()).map(({ reason }) => reason)).toEqual(['refused', 'nothing_to_do'])
    await stop()
  })
  test('that is busy gets it again under the same key and in the same words, before any later one', async () => {
    const { made, bar, clock, sent, at, stop } = bridgeWorld()
    await made()
    at.respond = () =>
      sent.length === 1 ? answer(429, { retryAfter: '10' }) : sent.length === 2 ? answer(503) : OK
    await bar([buy])
    await clock.settle()
    await clock.pass(1000)
    await bar([{ ...buy, orderId: 'M' }])
    await clock.pass(60_000)
    expect(sent.map(({ body }) => body['order'])).toEqual(['L', 'L', 'L', 'M'])
    expect(new Set(sent.slice(0, 3).map(({ attempt }) => new TextDecoder().decode(attempt.body))).size).toBe(
      1,
    )
    expect(sent[1]!.at - sent[0]!.at).toBeGreaterThanOrEqual(10_000)
    await stop()
  })
  test('that says nothing and honours no keys is not asked twice; its owner sends it again, or says what it has', async () => {
    const { made, bar, clock, sent, orders, told, bridges, at, stop } = bridgeWorld()
    const { id } = await made()
    at.respond = () => broken('timeout')
    await bar([buy])
    await clock.pass(HOUR)
    expect([sent.length, (await orders())[0]]).toMatchObject([1, { state: 'failed', reason: 'unsure' }])
    expect(told.length).toBe(1)
    at.respond = () => OK
    const again = await bridges.resend('usr_1', (await orders())[0]!.id)
    expect(again).toMatchObject({ state: 'pending', key: sent[0]!.key })
    await clock.pass(60_000)
    expect(sent.map(({ key }) => key)).toEqual([sent[0]!.key, sent[0]!.key])
    expect(await bridges.get('usr_1', id)).toMatchObject({ expected: 1, held: 1 })
    // Now it says that the first one was taken, too.
    await bridges.change('usr_1', id, { held: 2 })
    await bar([filled(1), { ...buy, side: 'sell' }])
    await clock.settle()
    expect(sent.map(({ body }) => body['quantity'])).toEqual([1, 1, 2])
    expect(await bridges.get('usr_1', id)).toMatchObject({ expected: 0, held: 0 })
    await stop()
  })
  test('of Alpaca that has the order already counts as having taken it', async () => {
    const { made, bar, clock, sent, orders, at, stop } = bridgeWorld()
    await made({ template: 'alpaca', account: 'KEYID', secret: 'very-secret-key' })
    at.respond = () =>
      sent.length === 1
        ? broken('timeout')
        : answer(422, { excerpt: '{"message":"client_order_id must be unique, very-secret-key"}' })
    await bar([buy])
    await clock.pass(HOUR)
    expect(sent.map(({ body, key }) => body['client_order_id'] === key)).toEqual([true, true])
    expect(sent[0]?.attempt.headers).toMatchObject({
      'apca-api-key-id': 'KEYID',
      'apca-api-secret-key': 'very-secret-key',
    })
    const [order] = await orders()
    expect(order?.state).toBe('delivered')
    expect(JSON.stringify(order)).not.toContain('very-secret-key')
    await stop()
  })
  test('gets nothing that is late, and its exit finds nothing to close', async () => {
    const { made, bar, clock, sent, orders, at, stop } = bridgeWorld()
    await made({ validSeconds: 60 })
    at.respond = () => broken('connection_refused')
    await bar([buy])
    await clock.pass(HOUR)
    expect(sent.at(-1)!.at - sent[0]!.at).toBeLessThanOrEqual(60_000)
    at.respond = () => OK
    const before = sent.length
    await bar([filled(1), { ...buy, side: 'sell' }])
    await clock.settle()
    expect([sent.length, (await orders()).map(({ reason }) => reason)]).toEqual([
      before,
      ['late', 'nothing_to_do'],
    ])
    await stop()
  })
})

test.each([
  [true, 'delivered', null],
  [false, 'failed', 'unsure'],
] as const)(
  'a server that dies before the answer (keys are honoured: %p) leaves the order %s',
  async (honoursKeys, state, reason) => {
    const [clock, kv] = [new HandClock(), testKv()]
    const life = new Life(10_000)
    const first = bridgeWorld({ clock, kv, life })
    await first.made({ honoursKeys })
    first.at.respond = () => {
      life.end()
      return OK
    }
    await first.bar([buy])
    await clock.settle()
    const second = bridgeWorld({ clock, kv })
    await clock.settle()
    expect(second.sent.map(({ key }) => key)).toEqual(honoursKeys ? [first.sent[0]!.key] : [])
    expect((await second.orders()).map((order) => [order.state, order.reason])).toEqual([[state, reason]])
    await second.stop()
  },
)

test('firings of an alert are orders of its bridge’s side and size', async () => {
  const { made, bridges, clock, sent, wake, kv, stop } = bridgeWorld()
  await rejection(made({ sourceId: 'al_1' }))
  const bridge = await made({ sourceId: 'al_1', side: 'sell', qty: 2 })
  const firing = { barTime: clock.now(), firedAt: clock.now(), price: 10, message: 'Привет' }
  await transact(kv, (tx) =>
    bridges.ofFirings(tx, { id: 'al_1', ownerId: 'usr_1', firings: 2 }, [firing, firing]),
  )
  wake()
  await clock.settle()
  expect(sent.map(({ body }) => [body['action'], body['quantity'], body['comment']])).toEqual([
    ['sell', 2, 'Привет'],
    ['sell', 2, 'Привет'],
  ])
  expect(new Set(sent.map(({ key }) => key)).size).toBe(2)
  expect(await bridges.get('usr_1', bridge.id)).toMatchObject({ expected: -4, held: -4 })
  await stop()
})

test.each([true, false])('a firing of a bar of long ago counts for nothing (live: %p)', async (live) => {
  const { made, bridges, clock, sent, told, wake, orders, kv, stop } = bridgeWorld()
  const { id } = await made({ sourceId: 'al_1', side: 'buy', qty: 2, maxPosition: 2 }, live)
  const fire = async (barTime: number, firings: number) => {
    const firing = { barTime, firedAt: clock.now(), price: 10, message: '' }
    await transact(kv, (tx) => bridges.ofFirings(tx, { id: 'al_1', ownerId: 'usr_1', firings }, [firing]))
    wake()
    await clock.settle()
  }
  await fire(clock.now() - 1000 * HOUR, 1)
  expect((await orders()).map(({ state, reason }) => [state, reason])).toEqual([['cancelled', 'late']])
  expect([await bridges.get('usr_1', id), told]).toMatchObject([{ expected: 0, goal: 0, held: 0 }, []])
  // Nor does it use up the largest position.
  await fire(clock.now() - HOUR, 2)
  expect((await orders()).at(-1)).toMatchObject(
    live ? { state: 'delivered', reason: null } : { state: 'cancelled', reason: 'dry_run' },
  )
  expect([sent.length, await bridges.get('usr_1', id)]).toMatchObject([live ? 1 : 0, { held: 2 }])
  await stop()
})

test('a bridge is its owner’s alone, of a source of theirs', async () => {
  const { made, bridges, stop } = bridgeWorld()
  const { id } = await made()
  for (const work of [
    () => bridges.get('usr_2', id),
    () => bridges.change('usr_2', id, {}),
    () => bridges.remove('usr_2', id),
  ])
    expect(await rejection(work())).toMatchObject({ status: 404, code: 'bridge_not_found' })
  const foreign = bridges.create('usr_2', {
    name: 'x',
    template: 'generic',
    sourceId: RUN,
    url: 'https://a.example/',
  })
  expect(await rejection(foreign)).toMatchObject({
    status: 422,
    message: 'You have no such forward run or alert.',
  })
  const moved = bridges.change('usr_1', (await made({ secret: 's3cret-s3cret' })).id, {
    url: 'https://evil.example/',
  })
  expect(await rejection(moved)).toMatchObject({
    message: 'The address is another server now. Enter the secret again.',
  })
  await stop()
})

test('a dry run begins without a network, and its address is looked at when it ends', async () => {
  const { made, bridges, at, stop } = bridgeWorld()
  at.resolve = () => Promise.reject(new Error('no network'))
  const { id } = await made({}, false)
  const end = () => bridges.change('usr_1', id, { dryRun: false })
  expect(await rejection(end())).toMatchObject({
    status: 422,
    message: expect.stringMatching(/^The host name .* cannot be resolved\.$/),
  })
  at.resolve = async () => ['10.0.0.1']
  for (const work of [end, () => made({}, false)])
    expect(await rejection(work())).toMatchObject({ code: 'webhook_url_blocked' })
  at.resolve = async () => ['93.184.215.14']
  expect((await end()).dryRun).toBe(false)
  await stop()
})

test.each([
  [{ expected: 5, goal: 2, held: 2 }, 0],
  [{ expected: 5, goal: 2, held: 0 }, 2],
  [{ expected: 5, goal: 5, held: 2 }, 3],
  [{ expected: -3, goal: 0, held: 0 }, 0],
  [{ expected: -3, goal: 0, held: 1 }, -1],
  // One that was disabled while its strategy left.
  [{ expected: 0, goal: 2, held: 2 }, -2],
  [{ expected: -1, goal: 2, held: 2 }, -3],
])('of %p the receiver lacks %p', (bridge, lacks) => {
  expect(differenceOf({ ...bridge, waitsForFlat: false })).toBe(lacks)
})

test('a test is named so, is for no contracts, and counts for nothing; a dry run sends none', async () => {
  const { made, bridges, clock, sent, wake, stop } = bridgeWorld()
  const dry = await made({}, false)
  expect(await bridges.test(dry)).toMatchObject({
    state: 'cancelled',
    reason: 'test',
    body: expect.stringContaining('TEST'),
  })
  const { id } = await bridges.change('usr_1', dry.id, { dryRun: false })
  await bridges.test(await bridges.get('usr_1', id))
  wake()
  await clock.settle()
  expect(sent.map(({ body }) => [body['order'], body['quantity']])).toEqual([['TEST', 0]])
  expect(await bridges.get('usr_1', id)).toMatchObject({ expected: 0, held: 0 })
  await stop()
})

const SEED = Number(process.env['SEED'] ?? 20261128)

/** Deals bars to servers that die, until `count` orders are there and settled. Answers what the receiver has, and the orders. */
async function killed({
  honoursKeys,
  count,
  kills,
  seed,
}: {
  honoursKeys: boolean
  count: number
  kills: number
  seed: number
}) {
  const random = seeded(seed)
  const clock = new HandClock()
  const kv = testKv()
  const accepted = new Map<string, number>()
  const refused = new Set<string>()
  let position = 0
  const respond = ({ key, body }: { key: string; body: Record<string, unknown> }) => {
    const luck = random()
    const accept = () => {
      if (refused.has(key) || (honoursKeys && accepted.has(key))) return
      accepted.set(key, (accepted.get(key) ?? 0) + 1)
      position += (body['action'] === 'buy' ? 1 : -1) * Number(body['quantity'])
    }
    if (luck < 0.08) return answer(429, { retryAfter: '1' })
    if (luck < 0.13) return answer(503)
    if (luck < 0.18) return broken('connection_refused')
    if (luck < 0.23) return broken('timeout')
    if (luck < 0.26 && !accepted.has(key)) refused.add(key)
    if (refused.has(key)) return answer(422)
    accept()
    return luck < 0.36 ? broken('timeout') : luck < 0.4 ? answer(500) : OK
  }
  const first = bridgeWorld({ clock, kv })
  const { id } = await first.made({ honoursKeys, validSeconds: 604_800 })
  await first.stop()
  await clock.settle()
  const orders = () => first.orders()
  let deaths = 0
  let done = 0
  while (done < count || (await orders()).some(({ state }) => state === 'pending')) {
    const dies = deaths < kills
    const life = dies
      ? new Life(Math.ceil(random() * 2 * Math.ceil((count * 40) / kills)), random() < 0.5)
      : new Life()
    const world = bridgeWorld({ clock, kv, life })
    world.at.respond = respond
    while (!life.isOver) {
      const step = Number((await kv.get(['sim']))?.value ?? 0)
      done = step
      if (step < count) {
        const side = step % 2 === 0 ? 'buy' : 'sell'
        // The fill of the order before, and a new one, as a bar has them.
        const before =
          step === 0 ? [] : [filled(step % 2, step % 2 === 1 ? 'buy' : 'sell', 1, `o${step - 1}`)]
        const also = { key: ['sim'], value: String(step + 1) }
        const committed = world.bar([...before, { ...buy, side, orderId: `o${step}` }], {}, also)
        await Promise.race([committed, clock.pass(2000)])
      } else if (!(await orders()).some(({ state }) => state === 'pending')) break
      await clock.pass(step < count ? 2000 : 60_000)
    }
    if (life.isOver) deaths++
    else await world.stop()
  }
  const bridge = await first.bridges.get('usr_1', id)
  return { accepted, refused, position, orders: await orders(), bridge, deaths }
}

describe.each([[true], [false]])(
  'over kills, refusals, time-outs and 429, where keys are honoured: %p',
  (honoursKeys) => {
    test('none is lost, and each key is accepted once', async () => {
      const [count, kills] = isLong ? [10_000, 500] : [120, 12]
      const { accepted, refused, position, orders, bridge, deaths } = await killed({
        honoursKeys,
        count,
        kills,
        seed: SEED,
      })
      const seen = `seed ${SEED}, ${deaths} kills`
      expect(orders.filter(({ orderId }) => orderId !== 'TEST').length, seen).toBeGreaterThanOrEqual(count)
      expect(new Set(orders.map(({ key }) => key)).size, seen).toBe(orders.length)
      expect(
        [...accepted.values()].every((times) => times === 1),
        seen,
      ).toBe(true)
      for (const { key, state, reason } of orders) {
        if (state === 'delivered') expect(accepted.has(key), seen).toBe(true)
        else if (reason !== 'unsure') expect(accepted.has(key), `${seen}: ${state} ${reason}`).toBe(false)
      }
      const unsure = orders.filter(({ reason }) => reason === 'unsure')
      if (honoursKeys) expect([bridge.held, unsure.length], seen).toEqual([position, 0])
      expect(refused.size + accepted.size, seen).toBeGreaterThan(0)
    })
  },
)
