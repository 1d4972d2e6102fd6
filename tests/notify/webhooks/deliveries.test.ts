// The outbox and the loop, on a clock that the test turns and against receivers that misbehave on purpose.

import { afterAll, beforeEach, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { idSource } from '../../../src/lib/ids.ts'
import { ALL_SHARDS, type Shards } from '../../../src/lib/shards.ts'
import { transact } from '../../../src/store/transaction.ts'
import { countSealed, markSecretsLost, opensSecrets } from '../../../src/server/sealed-secrets.ts'
import { Damage, documentName } from '../../../src/store/damage.ts'
import type { Key, Kv } from '../../../src/store/kv.ts'
import { storageFull } from '../../../src/store/memory.ts'
import { parseAllowList } from '../../../src/notify/webhooks/address.ts'
import { Outbox, type Delivery } from '../../../src/notify/webhooks/deliveries.ts'
import { createWebhookDeliverer } from '../../../src/notify/webhooks/post.ts'
import { Receivers } from '../../../src/notify/webhooks/receivers.ts'
import { createSecretBox } from '../../../src/notify/webhooks/secret-box.ts'
import type { Reply, Attempt } from '../../../src/notify/webhooks/send.ts'
import { serviceSignature } from '../../../src/notify/webhooks/signing.ts'
import { Turns, type Turn } from '../../../src/notify/webhooks/turns.ts'
import type { ReceiverData } from '../../../src/wire/event.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { rejection } from '../../rejection.ts'
import { testKv } from '../../store/test-store.ts'
import { isUnderWay } from '../../store/under-way.ts'

/** What an event carries is nothing to the outbox. */
const ready = (data: Record<string, unknown>) => data as ReceiverData['backtest.reportReady']

// A busy machine is no failure.
setDefaultTimeout(900_000)

const HOUR = 3_600_000
const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }

/** Signing and sealing are done on other threads: what is on its way there. All else is over when the event loop is. */
const onOtherThreads = new Set<Promise<unknown>>()
const { subtle } = crypto
const spies = (['importKey', 'sign', 'encrypt', 'decrypt'] as const).map((name) => {
  const real = subtle[name].bind(subtle) as (...args: unknown[]) => Promise<unknown>
  return spyOn(subtle, name as 'sign').mockImplementation(((...args: unknown[]) => {
    const work = real(...args).finally(() => onOtherThreads.delete(work))
    onOtherThreads.add(work)
    return work
  }) as unknown as typeof subtle.sign)
})
afterAll(() => {
  for (const spy of spies) spy.mockRestore()
})

class TestClock extends HandClock {
  override async settle(): Promise<void> {
    do {
      await Promise.allSettled(onOtherThreads)
      for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve))
    } while (onOtherThreads.size > 0 || isUnderWay())
  }
}

const ok: Reply = { status: 200, retryAfter: null, excerpt: 'ok', failure: null }
const answer = (status: number, retryAfter: string | null = null): Reply => ({
  ...ok,
  status,
  retryAfter,
  excerpt: '',
})
const broken = (failure: string): Reply => ({ ...ok, status: 0, excerpt: '', failure })

let clock: TestClock
let kv: Kv
let sent: (Attempt & { at: number })[]
let respond: (attempt: Attempt) => Reply | Promise<Reply>
let dns: string[]
let resolved: () => Promise<string[]>
let logged: string[]

async function world(store: Kv = testKv(), shards: Shards = ALL_SHARDS) {
  kv = store
  const newId = idSource({ clock, random })
  const box = await createSecretBox(new Uint8Array(32).fill(7), random.bytes)
  const allow = parseAllowList('')
  const resolve = () => resolved()
  const receivers = new Receivers({ kv, clock, random, newId, box, allow, resolve })
  const outbox = new Outbox({ kv, clock, newId })
  const deliverer = createWebhookDeliverer({
    kv,
    clock,
    spread: () => 0.5,
    box,
    allow,
    resolve,
    userAgent: 'Chartroom/test',
    shards,
    log: (level, message) => void (level !== 'debug' && logged.push(message)),
    send: async (attempt) => {
      sent.push({ ...attempt, at: clock.now() })
      return respond(attempt)
    },
  })
  const stop = new AbortController()
  const running = deliverer.run(stop.signal)
  return {
    receivers,
    box,
    outbox,
    deliverer,
    async stop() {
      stop.abort()
      await clock.settle()
      await running
    },
    register: (fields = {}, ownerId = 'usr_1') =>
      receivers.create(ownerId, {
        name: 'mine',
        url: 'https://hooks.example/in',
        events: ['backtest.reportReady'],
        ...fields,
      }),
    async report(data: Record<string, unknown> = { backtestId: 'bt_1' }, ownerId = 'usr_1') {
      await transact(kv, (tx) => outbox.enqueue(tx, ownerId, 'backtest.reportReady', [ready(data)]))
      deliverer.wake(ownerId)
      await clock.settle()
    },
    log: async (receiverId: string): Promise<readonly Delivery[]> =>
      (await outbox.log(receiverId, { limit: 100 })).items,
  }
}

beforeEach(() => {
  clock = new TestClock()
  sent = []
  logged = []
  respond = () => ok
  dns = ['93.184.215.14']
  resolved = async () => dns
})
const bodyOf = (attempt: Attempt) =>
  JSON.parse(new TextDecoder().decode(attempt.body)) as Record<string, unknown>

describe('a delivery', () => {
  test('carries the event, signed, to the checked address', async () => {
    const { register, report, log, stop } = await world()
    const { receiver, secret } = await register()
    await report({ backtestId: 'bt_1', trades: 3 })
    expect(sent).toHaveLength(1)
    const [attempt] = sent
    if (!attempt) throw new Error('nothing was sent')
    expect(bodyOf(attempt)).toEqual({
      event: 'backtest.reportReady',
      delivered_at: '2026-01-01T00:00:00.000Z',
      data: { backtestId: 'bt_1', trades: 3 },
    })
    expect(attempt.address).toBe('93.184.215.14')
    expect(attempt.headers['X-Service-Signature']).toBe(serviceSignature(secret, attempt.body))
    expect(attempt.headers['X-Service-Attempt']).toBe('1')
    expect(await log(receiver.id)).toMatchObject([
      { state: 'delivered', attempts: [{ status: 200, excerpt: 'ok' }] },
    ])
    await stop()
  })
  test('of a user who went to another server waits there, and this one has nothing left to do', async () => {
    let asked = 0
    let ours = true
    const giving: (() => Promise<void>)[] = []
    let names = (): string[] => []
    const shards: Shards = {
      ...ALL_SHARDS,
      holds() {
        if (++asked > 1000) throw new Error('asked without end')
        return ours
      },
      beforeGiving(settled, underWay) {
        giving.push(settled)
        names = () => [...underWay!()]
      },
    }
    const { register, report, log, stop } = await world(testKv(), shards)
    const { receiver } = await register()
    const answered = Promise.withResolvers<Reply>()
    respond = () => answered.promise
    await report({ backtestId: 'bt_1' })
    await report({ backtestId: 'bt_2' })
    expect(names()).toEqual(['usr_1'])
    ours = false
    const given = Promise.all(giving.map((settled) => settled()))
    answered.resolve(ok)
    await given
    expect(names()).toEqual([])
    await clock.pass(50_000)
    expect(logged).toEqual([])
    expect((await log(receiver.id)).map(({ state }) => state).sort()).toEqual(['delivered', 'pending'])
    // It went while the outbox was being read.
    ours = true
    const { list } = kv
    kv.list = async (...page) => {
      const found = await list(...page)
      ours = false
      return found
    }
    await report({ backtestId: 'bt_3' })
    await clock.pass(50_000)
    expect(logged).toEqual([])
    expect(sent).toHaveLength(1)
    await stop()
  })
  test('that a server whose clock is ahead planned is sent at once', async () => {
    const { register, report, stop } = await world(testKv(), { ...ALL_SHARDS })
    await register()
    await report()
    let reads = 0
    const theirs = { now: () => clock.now() + HOUR + reads++, sleep: async () => {} }
    const ahead = new Outbox({ kv, clock: theirs, newId: idSource({ clock: theirs, random }) })
    const more = Array.from({ length: 450 }, (_, i) => ready({ backtestId: `bt_${i}` }))
    await transact(kv, (tx) => ahead.enqueue(tx, 'usr_1', 'backtest.reportReady', more))
    await report()
    await clock.pass(1000)
    expect(sent).toHaveLength(452)
    await stop()
  })
  test('of a user who comes from another server is sent at once, also if they come while the outbox is read', async () => {
    let ours = false
    let gained = () => {}
    const before = await world()
    await before.register()
    await before.stop()
    await transact(kv, (tx) => before.outbox.enqueue(tx, 'usr_1', 'backtest.reportReady', [ready({})]))
    const { list } = kv
    kv.list = async (...page) => {
      const found = await list(...page)
      if (ours) return found
      ours = true
      gained()
      return []
    }
    const { stop } = await world(kv, {
      ...ALL_SHARDS,
      holds: () => ours,
      onGained: (listener) => (gained = listener),
    })
    await clock.settle()
    expect(sent).toHaveLength(1)
    await stop()
  })
  test.each([
    ['a redirect', answer(302)],
    ['a client error', answer(400)],
    ['a server error', answer(503)],
    ['a time-out', broken('timeout')],
    ['a reset', broken('connection_reset')],
    ['a bad certificate', broken('tls')],
  ])(
    'is repeated after %s at 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, under one id',
    async (_name, bad) => {
      const { register, report, log, stop } = await world()
      const { receiver } = await register()
      respond = () => bad
      await report()
      const due = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
      for (const seconds of due) {
        await clock.leap(Math.max(0, 1000 * (seconds - 60)))
        await clock.pass(1000 * Math.min(seconds, 60))
      }
      await clock.leap(100 * HOUR)
      const gaps = sent.slice(1).map((attempt, i) => (attempt.at - (sent[i]?.at ?? 0)) / 1000)
      expect(gaps).toEqual(due)
      expect(new Set(sent.map((attempt) => attempt.headers['webhook-id'])).size).toBe(1)
      expect(sent.map((attempt) => attempt.headers['X-Service-Attempt'])).toEqual([
        '1',
        '2',
        '3',
        '4',
        '5',
        '6',
        '7',
        '8',
        '9',
        '10',
      ])
      expect(await log(receiver.id)).toMatchObject([{ state: 'failed', nextAt: null }])
      await stop()
    },
  )
  test('is pending between two attempts, and failed behind the last', async () => {
    const { register, report, log, receivers, stop } = await world()
    const { receiver } = await register()
    // One that works now and then is not disabled for what fails beside it.
    respond = (attempt) => (bodyOf(attempt)['data'] ? answer(500) : ok)
    await report()
    const states = async () => (await log(receiver.id)).map(({ state, nextAt }) => [state, nextAt !== null])
    for (const hours of [0, 1, 2, 5, 10, 14, 20]) {
      await clock.pass(hours * HOUR)
      expect(await states()).toEqual([['pending', true]])
      await receivers.change('usr_1', receiver.id, { status: 'active' })
    }
    await clock.leap(30 * HOUR)
    expect(await states()).toEqual([['failed', false]])
    expect(sent).toHaveLength(10)
    await stop()
  })
  test('says when this attempt was made, not the first', async () => {
    const { register, report, stop } = await world()
    await register()
    respond = () => answer(sent.length === 1 ? 503 : 200)
    await report()
    await clock.pass(HOUR)
    expect(sent.map((attempt) => bodyOf(attempt)['delivered_at'])).toEqual([
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:05.000Z',
    ])
    await stop()
  })
  test('goes to every receiver of the user at once', async () => {
    const { register, report, stop } = await world()
    const urls = ['https://a.example/', 'https://b.example/', 'https://c.example/']
    for (const url of urls) await register({ url })
    await report()
    expect(sent.map(({ url }) => url.href).toSorted()).toEqual(urls)
    await stop()
  })
  test('goes to receivers that are active, listen to it and, where some are named, are among them', async () => {
    const { register, receivers, outbox, stop } = await world()
    const made = async (name: string, events: string[], ownerId = 'usr_1') =>
      (await register({ name, events }, ownerId)).receiver.id
    const [one, both, deaf, off] = [
      await made('one', ['backtest.reportReady']),
      await made('both', ['alert.triggered', 'backtest.reportReady']),
      await made('deaf', ['alert.triggered']),
      await made('off', ['backtest.reportReady']),
    ]
    const foreign = await made('foreign', ['backtest.reportReady'], 'usr_2')
    await receivers.change('usr_1', off, { status: 'disabled' })
    const reached = async (...only: string[]) => {
      const before = new Set((await outbox.list('usr_1', { limit: 100 })).items.map(({ id }) => id))
      await transact(kv, (tx) => outbox.enqueue(tx, 'usr_1', 'backtest.reportReady', [ready({})], only))
      const { items } = await outbox.list('usr_1', { limit: 100 })
      return items.filter(({ id }) => !before.has(id)).map(({ receiverId }) => receiverId)
    }
    expect((await reached()).toSorted()).toEqual([one, both].toSorted())
    expect(await reached(both, deaf, off, foreign)).toEqual([both])
    expect(await reached(deaf)).toEqual([])
    expect((await outbox.list('usr_2', { limit: 100 })).items).toEqual([])
    await stop()
  })
  test('waits as long as Retry-After says', async () => {
    const { register, report, stop } = await world()
    await register()
    respond = () => (sent.length === 1 ? answer(429, '90') : ok)
    await report()
    await clock.pass(HOUR)
    expect(sent.map((attempt) => attempt.at - (sent[0]?.at ?? 0))).toEqual([0, 90_000])
    await stop()
  })
  test('keeps to its schedule though a 429 asks to come sooner, and holds up no other', async () => {
    const { register, report, stop } = await world()
    await register()
    respond = () => (sent.length === 1 || sent.length === 3 ? answer(429, '5') : ok)
    await report()
    await report({ backtestId: 'bt_2' })
    await clock.pass(HOUR)
    expect(sent.map((attempt) => attempt.at - (sent[0]?.at ?? 0))).toEqual([0, 0, 5000, 305_000])
    await stop()
  })
  test('goes out, and is tried again, as soon as ever when the clock is set back by hours', async () => {
    respond = () => answer(503)
    const { register, report, log, stop } = await world()
    const { receiver } = await register()
    await report()
    expect(sent.length).toBe(1)
    clock.setBack(3 * HOUR)
    await clock.pass(70_000)
    expect(sent.length).toBe(2)
    respond = () => ok
    clock.setBack(3 * HOUR)
    await clock.pass(4 * 60_000)
    // The second retry waits five minutes, also from a time that was set back.
    expect(sent.length).toBe(2)
    await clock.pass(4 * 60_000)
    expect((await log(receiver.id)).map(({ state }) => state)).toEqual(['delivered'])
    await stop()
  })
  test('that was due by a clock that is hours behind at the next start goes out at once', async () => {
    const before = await world()
    await before.register()
    await before.stop()
    await transact(kv, (tx) =>
      before.outbox.enqueue(tx, 'usr_1', 'backtest.reportReady', [ready({ backtestId: 'bt_1' })]),
    )
    clock.setBack(3 * HOUR)
    // What came since does not stand before it until the next look at all there is.
    await transact(kv, (tx) =>
      before.outbox.enqueue(tx, 'usr_1', 'backtest.reportReady', [ready({ backtestId: 'bt_2' })]),
    )
    const { stop } = await world(kv)
    await clock.settle()
    expect(sent.length).toBe(2)
    await stop()
  })
  test('goes to the next address when one refuses', async () => {
    dns = ['93.184.215.14', '93.184.215.15']
    const { register, report, stop } = await world()
    await register()
    respond = ({ address }) => (address.endsWith('14') ? broken('connection_refused') : ok)
    await report()
    expect(sent.map((attempt) => attempt.address)).toEqual(['93.184.215.14', '93.184.215.15'])
    await stop()
  })
  test('does not leave when the name now leads inside', async () => {
    const { register, report, log, stop } = await world()
    const { receiver } = await register()
    dns = ['127.0.0.1']
    await report()
    expect(sent).toEqual([])
    expect((await log(receiver.id))[0]?.attempts).toMatchObject([{ status: 0, failure: 'blocked' }])
    await stop()
  })
  test('waits while another is on its way to the same receiver', async () => {
    const { register, report, stop } = await world()
    await register()
    const gates: (() => void)[] = []
    respond = () => new Promise((resolve) => gates.push(() => resolve(ok)))
    await report({ backtestId: 'bt_1' })
    await report({ backtestId: 'bt_2' })
    expect(sent).toHaveLength(1)
    gates[0]?.()
    await clock.settle()
    expect(sent.map((attempt) => (bodyOf(attempt)['data'] as { backtestId: string }).backtestId)).toEqual([
      'bt_1',
      'bt_2',
    ])
    gates[1]?.()
    await stop()
  })
  test('is waited for at a stop for as long as it takes, and what became of it is kept', async () => {
    const { register, report, log, stop } = await world()
    const { receiver } = await register()
    const { promise: answered, resolve } = Promise.withResolvers<Reply>()
    respond = () => answered
    await report({ backtestId: 'bt_1' })
    await report({ backtestId: 'bt_2' })
    let isOver = false
    const stopped = stop().then(() => (isOver = true))
    await clock.pass(14_900)
    expect(isOver).toBe(false)
    resolve(ok)
    await stopped
    expect(clock.asleep).toBe(0)
    // The second is left to the next start, and the first is not sent again then.
    expect((await log(receiver.id)).map(({ state }) => state).sort()).toEqual(['delivered', 'pending'])
    expect(sent).toHaveLength(1)
    const next = await world(kv)
    await clock.settle()
    expect(sent.map((attempt) => (bodyOf(attempt)['data'] as { backtestId: string }).backtestId)).toEqual([
      'bt_1',
      'bt_2',
    ])
    await next.stop()
  })
  test('leaves again, with the same id, when the process died before the outcome was kept', async () => {
    const first = await world()
    const { receiver } = await first.register()
    respond = never
    await first.report()
    const id = sent[0]?.headers['webhook-id']
    respond = () => ok
    const second = await world(kv)
    await clock.settle()
    expect(sent.map((attempt) => attempt.headers['webhook-id'])).toEqual([id, id])
    expect(await second.log(receiver.id)).toMatchObject([{ state: 'delivered' }])
    await second.stop()
  })
})

describe('a receiver', () => {
  test('that works again after it failed is told of once, each way', async () => {
    const { register, report, stop } = await world()
    await register()
    await report()
    expect(logged).toEqual([])
    respond = () => answer(500)
    await report()
    await report()
    respond = () => ok
    await report()
    await report()
    expect(logged).toEqual(['a webhook fails', 'a webhook works again'])
    await stop()
  })
  test('is given whole seconds that have begun, and what is left of the 15 s for a further address', async () => {
    clock.time += 900
    dns = ['93.184.215.14', '93.184.215.15']
    respond = ({ address }) => {
      if (address.endsWith('15')) return ok
      clock.time += 4000
      return broken('connection_refused')
    }
    const { register, report, stop } = await world()
    await register()
    await report()
    const [first, second] = sent
    expect(first?.headers['webhook-timestamp']).toBe(String(Date.UTC(2026, 0, 1) / 1000))
    expect([first?.budgetMs, second?.budgetMs]).toEqual([15_000, 11_000])
    await stop()
  })
  test('is disabled at once by 410', async () => {
    const { register, report, receivers, stop } = await world()
    const { receiver } = await register()
    respond = () => answer(410)
    await report()
    expect(await receivers.get('usr_1', receiver.id)).toMatchObject({
      status: 'disabled',
      disabledReason: 'gone',
    })
    await report()
    expect(sent).toHaveLength(1)
    await stop()
  })
  test('is disabled after 120 hours of nothing but failures, and forgiven when enabled', async () => {
    const { register, report, receivers, stop } = await world()
    const { receiver } = await register()
    respond = () => answer(500)
    await report()
    await clock.leap(119 * HOUR)
    expect((await receivers.get('usr_1', receiver.id)).status).toBe('active')
    await report()
    await clock.pass(3 * HOUR)
    expect(await receivers.get('usr_1', receiver.id)).toMatchObject({
      status: 'disabled',
      disabledReason: 'failing',
    })
    expect(await receivers.change('usr_1', receiver.id, { status: 'active' })).toMatchObject({
      status: 'active',
      failingSince: null,
    })
    await stop()
  })
  test('is one of ten', async () => {
    const { register, stop } = await world()
    for (let i = 0; i < 10; i++) await register()
    expect(register()).rejects.toMatchObject({ code: 'quota_exceeded' })
    await stop()
  })
  test.each([
    [{ url: 'https://10.0.0.1/' }, 'webhook_url_blocked'],
    [{ events: [] }, 'validation_failed'],
    [{ events: ['order.lost'] }, 'validation_failed'],
  ])('with %p is refused: %s', async (fields, code) => {
    const { register, stop } = await world()
    expect(register(fields)).rejects.toMatchObject({ status: 422, code })
    await stop()
  })
  test('of somebody else is not there', async () => {
    const { register, receivers, stop } = await world()
    const { receiver } = await register()
    expect(await rejection(receivers.get('usr_2', receiver.id))).toMatchObject({
      status: 404,
      code: 'webhook_not_found',
      message: expect.stringContaining('no such webhook') as string,
    })
    await stop()
  })
  test('gets both signatures during a rotation, and the old header until it is confirmed', async () => {
    const { register, report, receivers, stop } = await world()
    const { receiver, secret: old } = await register()
    const { secret } = await receivers.rotate('usr_1', receiver.id)
    expect(receivers.rotate('usr_1', receiver.id)).rejects.toMatchObject({ status: 409 })
    await report()
    const last = () => sent.at(-1) as Attempt
    expect(last().headers['webhook-signature']?.split(' ')).toHaveLength(2)
    expect(last().headers['X-Service-Signature']).toBe(serviceSignature(old, last().body))
    await clock.leap(23 * HOUR)
    await report()
    expect(last().headers['webhook-signature']?.split(' ')).toHaveLength(2)
    await clock.pass(2 * HOUR)
    await report()
    expect(last().headers['webhook-signature']?.split(' ')).toHaveLength(1)
    expect(last().headers['X-Service-Signature']).toBe(serviceSignature(old, last().body))
    await receivers.confirmRotation('usr_1', receiver.id)
    await report()
    expect(last().headers['X-Service-Signature']).toBe(serviceSignature(secret, last().body))
    await stop()
  })
})

describe('the log', () => {
  test('of two rotations at once one is taken, and its secret is the one that signs', async () => {
    const { register, receivers, report, stop } = await world()
    const { receiver } = await register()
    const both = await Promise.allSettled([1, 2].map(() => receivers.rotate('usr_1', receiver.id)))
    const taken = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value.secret] : []))
    const refused = both.flatMap((one) => (one.status === 'rejected' ? [one.reason as object] : []))
    expect([taken.length, refused]).toEqual([1, [expect.objectContaining({ status: 409, code: 'conflict' })]])
    await receivers.confirmRotation('usr_1', receiver.id)
    await report()
    expect(sent[0]?.headers['X-Service-Signature']).toBe(
      serviceSignature(taken[0] ?? '', sent[0]?.body ?? new Uint8Array()),
    )
    await stop()
  })
  test('is its owner’s, and of nobody else', async () => {
    const { register, receivers, stop } = await world()
    const { receiver } = await register()
    const owned = ['usr_1', 'usr_2'].map((owner) => receivers.has(owner, receiver.id))
    expect(await Promise.all([...owned, receivers.has('usr_1', 'wh_none')])).toEqual([true, false, false])
    await stop()
  })
  test('whose secret is lost with the key is disabled until it is rotated', async () => {
    const { register, receivers, report, stop } = await world()
    const { receiver } = await register()
    await register({}, 'usr_2')
    await receivers.rotate('usr_1', receiver.id)
    clock.time += HOUR
    expect(await countSealed(kv)).toEqual({ webhooks: 2, channels: 0, bridges: 0, providers: 0 })
    expect(await markSecretsLost(kv, clock)).toEqual({ webhooks: 2, channels: 0, bridges: 0, providers: 0 })
    expect(await receivers.get('usr_1', receiver.id)).toMatchObject({
      status: 'disabled',
      disabledReason: 'secret_lost',
      sealedOldSecret: null,
      oldSecretUntil: null,
      updatedAt: clock.now(),
    })
    await report()
    expect(sent).toEqual([])
    const { secret } = await receivers.rotate('usr_1', receiver.id)
    expect(await receivers.get('usr_1', receiver.id)).toMatchObject({
      status: 'active',
      disabledReason: null,
    })
    await report()
    expect(sent[0]?.headers['X-Service-Signature']).toBe(
      serviceSignature(secret, sent[0]?.body ?? new Uint8Array()),
    )
    await stop()
  })
  test('whether a key is the right one, those secrets say that are not lost', async () => {
    const { receivers, register, box } = await world()
    const boxOf = () => createSecretBox(random.bytes(32), (count) => random.bytes(count))
    expect(await opensSecrets(kv, await boxOf())).toBeNull()
    const lost = await register()
    await markSecretsLost(kv, clock)
    expect(await opensSecrets(kv, await boxOf())).toBeNull()
    await register()
    expect(await opensSecrets(kv, await boxOf())).toBe(false)
    expect(await opensSecrets(kv, box)).toBe(true)
    // One that got a new secret counts again.
    await receivers.rotate('usr_1', lost.receiver.id)
    expect(await opensSecrets(kv, await boxOf())).toBe(false)
  })
  test('sends again by hand, as a delivery of its own', async () => {
    const { register, report, outbox, deliverer, log, stop } = await world()
    const { receiver } = await register()
    await report({ backtestId: 'bt_9' })
    const again = await outbox.resend('usr_1', (await log(receiver.id))[0]?.id ?? '')
    deliverer.wake('usr_1')
    await clock.settle()
    expect(again.resendOf).toBe((await log(receiver.id))[1]?.id ?? 'none')
    expect(bodyOf(sent[1] as Attempt)['data']).toEqual({ backtestId: 'bt_9' })
    await stop()
  })
  test('shows and sends again nothing of somebody else', async () => {
    const { register, report, outbox, log, stop } = await world()
    const { receiver } = await register()
    await report()
    const id = (await log(receiver.id))[0]?.id ?? ''
    expect(await outbox.get('usr_1', id)).toMatchObject({ id })
    const notTheirs = { status: 404, code: 'delivery_not_found' }
    expect(await rejection(outbox.get('usr_2', id))).toMatchObject(notTheirs)
    expect(await rejection(outbox.resend('usr_2', id))).toMatchObject(notTheirs)
    await stop()
  })
  test('is kept for 30 days', async () => {
    const { register, report, outbox, log, stop } = await world()
    const { receiver } = await register()
    await report()
    await clock.leap(29 * 24 * HOUR)
    expect(await outbox.purge()).toBe(0)
    await clock.leap(2 * 24 * HOUR)
    expect(await outbox.purge()).toBe(1)
    expect(await log(receiver.id)).toEqual([])
    await stop()
  })
})

/** A store that takes no writes while `full`, and counts what was asked of it. */
function fillable(inner: Kv) {
  const state = { full: false, refused: 0, reads: 0 }
  const store: Kv = {
    ...inner,
    get: (key) => {
      state.reads++
      return inner.get(key)
    },
    list: (selector, options) => {
      state.reads++
      return inner.list(selector, options)
    },
    commit: (commit) => {
      if (!state.full) return inner.commit(commit)
      state.refused++
      return Promise.reject(storageFull())
    },
  }
  return { state, store }
}
test('what is damaged of a receiver holds up nobody else, and its deliveries go out once it is whole', async () => {
  const store = testKv()
  const { get, getMany } = store
  let damaged = ''
  const whole = (keys: readonly Key[]) => {
    for (const key of keys) if (key[1] === 'id' && key[2] === damaged) throw new Damage(documentName(key))
  }
  Object.assign(store, {
    get: async (key: Key) => (whole([key]), get(key)),
    getMany: async (keys: readonly Key[]) => (whole(keys), getMany(keys)),
  })
  const { register, report, stop } = await world(store)
  const { receiver } = await register()
  await register({}, 'usr_2')
  respond = () => answer(500)
  await report()
  damaged = receiver.id
  respond = () => ok
  await clock.pass(2 * HOUR)
  await report({}, 'usr_2')
  expect(sent).toHaveLength(2)
  expect(logged).toContain('what is damaged is left out')
  damaged = ''
  await clock.pass(60_000)
  expect(sent).toHaveLength(3)
  await stop()
})

test('an owner whose outbox could not be read is looked at again before long', async () => {
  const state = { unreadable: false }
  const inner = testKv()
  const list: Kv['list'] = (selector, options) =>
    state.unreadable ? Promise.reject(new Error('no reading')) : inner.list(selector, options)
  const { register, outbox, deliverer, stop } = await world({ ...inner, list })
  await register()
  await transact(kv, (tx) => outbox.enqueue(tx, 'usr_1', 'backtest.reportReady', [ready({})]))
  state.unreadable = true
  deliverer.wake('usr_1')
  await clock.settle()
  expect([sent.length, logged.length]).toEqual([0, 1])
  state.unreadable = false
  // All owners are looked at once a minute, whoever was told of.
  await clock.pass(30_000)
  expect(sent).toHaveLength(1)
  await stop()
})

const never = () => new Promise<Reply>(() => undefined)

describe('when the store is full', () => {
  test('nothing is sent, the store is asked ever less often, and one line says so', async () => {
    const { state, store } = fillable(testKv())
    const { register, report, stop } = await world(store)
    await register()
    respond = () => answer(500)
    await report()
    sent = []
    logged = []
    state.full = true
    await clock.pass(15_000)
    expect([sent.length, state.refused]).toEqual([0, 4])
    expect(logged).toEqual(['writing down deliveries fails and is tried again'])
    state.full = false
    respond = () => ok
    await clock.pass(60_000)
    expect(sent).toHaveLength(1)
    expect(logged).toContain('writing down deliveries works again')
    await stop()
  })
  test('what was sent before it filled up is not sent again, and its outcome is kept once there is room', async () => {
    const { state, store } = fillable(testKv())
    const { register, report, log, stop } = await world(store)
    const { receiver } = await register()
    respond = () => {
      state.full = true
      return ok
    }
    await report()
    await clock.pass(120_000)
    expect(sent).toHaveLength(1)
    expect(state.refused).toBeLessThan(12)
    state.full = false
    await clock.pass(60_000)
    expect(sent).toHaveLength(1)
    expect(await log(receiver.id)).toMatchObject([{ state: 'delivered', attempts: [{ status: 200 }] }])
    await stop()
  })
})

describe('slots', () => {
  test('16 receivers that never answer hold up nobody else', async () => {
    const { register, report, stop } = await world()
    for (let i = 0; i < 16; i++) await register({}, `usr_bad${i >> 3}`)
    await register({ url: 'https://good.example/' }, 'usr_good')
    respond = ({ url }) => (url.hostname === 'good.example' ? ok : never())
    await report({}, 'usr_bad0')
    await report({}, 'usr_bad1')
    sent = []
    await report({}, 'usr_good')
    expect(sent.map(({ url }) => url.hostname)).toEqual(['good.example'])
    void stop()
  })
  test('are shared out: users take turns, one holds at most half, a quarter is for receivers that are known to answer', () => {
    const turns = new Turns(8)
    const heads = (name: string, count: number, proven = false) =>
      Array.from({ length: count }, (_, i) => ({ receiverId: `${name}${i}`, at: 0, proven }))
    turns.learn('a', heads('a', 6))
    turns.learn('b', heads('b', 1))
    const takeAll = () => {
      const taken: Turn[] = []
      for (let turn = turns.take(1); turn; turn = turns.take(1)) taken.push(turn)
      return taken
    }
    const first = takeAll()
    expect(first.map(({ receiverId }) => receiverId)).toEqual(['a0', 'b0', 'a1', 'a2', 'a3'])
    for (const turn of first) turns.done(turn)
    turns.learn('b', heads('b', 6, true))
    const second = takeAll().map(({ receiverId }) => receiverId)
    // The last quarter: b3 and not a3. Then b has its half.
    expect(second).toEqual(['b0', 'a0', 'b1', 'a1', 'b2', 'a2', 'b3'])
  })
  test('are no more than there are, however many receivers answer', () => {
    const turns = new Turns(2)
    for (const owner of ['a', 'b', 'c']) turns.learn(owner, [{ receiverId: owner, at: 0, proven: true }])
    expect([turns.take(1)?.ownerId, turns.take(1)?.ownerId, turns.take(1)]).toEqual(['a', 'b', null])
  })
  test('a name that is never resolved costs its receiver 5 seconds, and nobody else anything', async () => {
    const { register, report, log, stop } = await world()
    const { receiver } = await register()
    await register({ url: 'https://93.184.215.14/' }, 'usr_2')
    resolved = () => new Promise(() => undefined)
    await report()
    await report({}, 'usr_2')
    expect(sent).toHaveLength(1)
    await clock.pass(5000)
    expect((await log(receiver.id))[0]?.attempts).toMatchObject([{ failure: 'timeout', durationMs: 5000 }])
    await stop()
  })
  test('what one user has waiting is not read on the way to what another has', async () => {
    const { state, store } = fillable(testKv())
    const { register, report, stop } = await world(store)
    await register()
    await register({ url: 'https://good.example/' }, 'usr_2')
    respond = ({ url }) => (url.hostname === 'good.example' ? ok : never())
    const pile = async (count: number) => {
      const outbox = new Outbox({ kv: store, clock, newId: idSource({ clock, random }) })
      for (let i = 0; i < count; i++)
        await transact(store, (tx) => outbox.enqueue(tx, 'usr_1', 'backtest.reportReady', [ready({})]))
    }
    await report()
    await pile(40)
    const cost = async () => {
      state.reads = 0
      await report({}, 'usr_2')
      return state.reads
    }
    const few = await cost()
    await pile(400)
    expect(await cost()).toBe(few)
    void stop()
  })
  test('what waits for a receiver that was deleted is cancelled', async () => {
    const { register, report, receivers, log, stop } = await world()
    const { receiver } = await register()
    respond = () => answer(500)
    await report()
    await receivers.remove('usr_1', receiver.id)
    await clock.pass(60_000)
    expect(await log(receiver.id)).toMatchObject([{ state: 'cancelled', nextAt: null }])
    await stop()
  })
})

test('a secret that cannot be read is an outcome, retried on the schedule and told of once', async () => {
  const { register, report, log, stop } = await world()
  const { receiver } = await register()
  const stored = await kv.get(['webhooks', 'id', receiver.id])
  const spoiled = { ...JSON.parse(stored?.value ?? '{}'), sealedSecret: 'AAAA' }
  await kv.commit({ sets: [{ key: ['webhooks', 'id', receiver.id], value: JSON.stringify(spoiled) }] })
  await report()
  await clock.pass(60_000)
  expect(sent).toEqual([])
  expect((await log(receiver.id))[0]?.attempts.map(({ failure }) => failure)).toEqual([
    'secret_unreadable',
    'secret_unreadable',
  ])
  expect(logged).toEqual(['a webhook fails'])
  await stop()
})

test('a stop does not wait for ever for a receiver that never answers', async () => {
  const { register, report, stop } = await world()
  await register()
  respond = never
  await report()
  const stopped = stop()
  await clock.pass(20_000)
  await stopped
})
