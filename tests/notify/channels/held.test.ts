// What a channel holds back, and how it goes out: nothing is lost, nothing arrives twice, whatever comes in between.

import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { insteadOfSending } from '../../../src/notify/channels/held.ts'
import { transact } from '../../../src/store/transaction.ts'
import { TAKEN, world, type World } from './channel-world.ts'

// A busy machine is no failure.
setDefaultTimeout(900_000)

const MINUTE = 60_000
const HOUR = 60 * MINUTE
// The clock begins on 2026-01-01 at 00:00 UTC.
const NIGHT = { from: '22:00', to: '07:00', timezone: 'UTC' }

let all: World
beforeEach(async () => {
  all = await world()
})
const texts = () => all.sent.map(({ text }) => JSON.parse(text) as { title: string; message: string })
const states = async (id: string) => (await all.log(id)).map(({ state }) => state).toSorted()

test('what fires in quiet hours goes out as one message when they are over', async () => {
  const { id } = await all.ntfy({ quiet: NIGHT })
  for (let i = 0; i < 3; i++) {
    await all.fire([id], { title: `alert ${i}`, text: `it happened ${i}\nmore` })
    await all.clock.pass(HOUR)
  }
  expect(all.sent).toEqual([])
  await all.clock.pass(4 * HOUR)
  expect(texts()).toEqual([
    expect.objectContaining({
      title: '3 alerts',
      message: [0, 1, 2].map((i) => `0${i}:00 alert ${i}: it happened ${i}, BTCUSDT close 70001`).join('\n'),
    }),
  ])
  const log = await all.log(id)
  const digest = log.find(({ state }) => state === 'delivered')
  expect([digest?.digest?.count, log.filter(({ digestId }) => digestId === digest?.id)]).toEqual([
    3,
    [expect.anything(), expect.anything(), expect.anything()],
  ])
  await all.stop()
})

test('what a server whose clock is ahead planned is as old as it is due, also if its clock moves meanwhile', async () => {
  const { id, ownerId } = await all.ntfy({})
  const { now } = all.clock
  let reads = 0
  all.clock.now = () => now.call(all.clock) + reads++
  await transact(all.kv, (tx) => all.channels.enqueue(tx, ownerId, [id], [{ notice: all.notice({}) }]))
  all.clock.now = now
  const [made] = await all.log(id)
  expect(made?.nextAt).toBe(made!.createdAt)
  await all.stop()
})

test('a digest that is too long for its service counts what it has no room for, too', async () => {
  const { id } = await all.ntfy({ quiet: NIGHT })
  for (let i = 0; i < 25; i++) await all.fire([id], { title: `n${i}`, text: `${'щ'.repeat(150)} end` })
  await all.clock.pass(8 * HOUR)
  const [{ title, message } = { title: '', message: '' }] = texts()
  const lines = message.split('\n')
  const rest = lines.pop()
  expect([title, rest]).toEqual(['25 alerts', `… and ${25 - lines.length} more`])
  expect(lines.length).toBeGreaterThan(9)
  for (const line of lines) expect(line).toEndWith(' end, BTCUSDT close 70001')
  await all.stop()
})

test('a digest leads to the chart of each line and pauses its alert, one of an old record and one sent again too', async () => {
  const { id } = await all.channels.create('usr_1', {
    name: 'chat',
    kind: 'telegram',
    settings: { token: '123:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', chat: '5' },
    quiet: NIGHT,
  })
  const told = () => all.sent.map(({ text }) => (JSON.parse(text) as { text: string }).text)
  for (const i of [1, 2]) {
    const url = `https://room.example/chart/X${i}`
    await all.fire([id], { title: `n${i}`, url, alertId: `al_${i}`, firingId: `fir_${i}` })
  }
  await all.clock.pass(8 * HOUR)
  const linked = [1, 2].map(
    (i) =>
      `00:00 n${i}, BTCUSDT close 70001 · <a href="https://room.example/chart/X${i}">Chart</a> · <a href="https://room.example/tap#pause-al_${i}">Pause</a>`,
  )
  const digest = `<b>2 alerts</b>\n${linked.join('\n')}\n<a href="https://room.example/alerts">All alerts</a>`
  expect(told()).toEqual([digest])
  const delivered = (await all.log(id)).find(({ state }) => state === 'delivered')!
  await all.channels.resend('usr_1', delivered.id)
  all.wake()
  await all.clock.settle()
  expect(told()).toEqual([digest, digest])
  // Nothing that may be done by a link is stored.
  expect(JSON.stringify(await all.kv.list({ prefix: ['notifications'] }, { limit: 100 }))).not.toContain(
    'tap#',
  )

  const texts = delivered.digest!.lines.map((line) => (typeof line === 'string' ? line : line.text))
  const [{ key } = { key: [] }] = (
    await all.kv.list({ prefix: ['notifications', 'id'] }, { limit: 100 })
  ).filter(({ value }) => JSON.parse(value).id === delivered.id)
  const old = { ...delivered, digest: { ...delivered.digest, lines: texts } }
  await all.kv.commit({ sets: [{ key, value: JSON.stringify(old) }] })
  await all.channels.resend('usr_1', delivered.id)
  all.wake()
  await all.clock.settle()
  expect(told().at(-1)).toBe(
    `<b>2 alerts</b>\n${texts.join('\n')}\n<a href="https://room.example/alerts">All alerts</a>`,
  )
  await all.stop()
})

test('alerts that come at once are told one by one where there is no digest, also outside of quiet hours', async () => {
  await all.clock.pass(12 * HOUR)
  for (const pace of [{}, { quiet: NIGHT }]) {
    const { id } = await all.ntfy(pace)
    await all.fire([id, id, id, id], { title: 'burst' })
    await all.clock.pass(MINUTE)
    expect(await states(id)).toEqual(['delivered', 'delivered', 'delivered', 'delivered'])
  }
  expect(texts().map(({ title }) => title)).toEqual(Array.from({ length: 8 }, () => 'burst'))
  await all.stop()
})

test('one alert in quiet hours goes out as itself', async () => {
  const { id } = await all.ntfy({ quiet: NIGHT })
  await all.fire([id], { title: 'lonely' })
  await all.clock.pass(8 * HOUR)
  expect(texts().map(({ title }) => title)).toEqual(['lonely'])
  await all.stop()
})

test('a test and what is sent again do not wait', async () => {
  const channel = await all.ntfy({ quiet: NIGHT, digestMinutes: 60 })
  await all.channels.test(channel, all.notice({ title: 'test' }))
  all.wake()
  await all.clock.settle()
  await all.channels.resend('usr_1', (await all.log(channel.id))[0]?.id ?? '')
  all.wake()
  await all.clock.settle()
  expect(texts().map(({ title }) => title)).toEqual(['test', 'test'])
  await all.stop()
})

test('a digest sends the first at once and at most one message in its minutes', async () => {
  await all.clock.pass(12 * HOUR)
  const { id } = await all.ntfy({ digestMinutes: 10 })
  const at: number[] = []
  const begun = all.clock.now()
  for (let i = 0; i < 15; i++) {
    await all.fire([id], { title: `n${i}` })
    await all.clock.pass(2 * MINUTE)
  }
  await all.clock.pass(HOUR)
  for (const { at: when } of all.sent) at.push((when - begun) / MINUTE)
  expect(at).toEqual([0, 10, 20, 30])
  expect(texts().map(({ title }) => title)).toEqual(['n0', '4 alerts', '5 alerts', '5 alerts'])
  await all.stop()
})

test('a digest that is refused for the time being is repeated as it is, and takes nothing more', async () => {
  await all.clock.pass(12 * HOUR)
  const { id } = await all.ntfy({ digestMinutes: 10 })
  await all.fire([id], { title: 'first' })
  for (let i = 0; i < 2; i++) await all.fire([id], { title: `n${i}` })
  all.respond = () => ({ status: 429, retryAfter: '60', excerpt: '', failure: null })
  await all.clock.pass(10 * MINUTE)
  await all.fire([id], { title: 'later' })
  all.respond = () => ({ status: 200, retryAfter: null, excerpt: TAKEN, failure: null })
  await all.clock.pass(2 * MINUTE)
  await all.clock.pass(HOUR)
  expect(texts().map(({ title }) => title)).toEqual(['first', '2 alerts', 'later', '2 alerts'])
  expect(await states(id)).toEqual(['cancelled', 'cancelled', 'delivered', 'delivered', 'delivered'])
  await all.stop()
})

test('hundreds of alerts of one night are one message that counts them all', async () => {
  const { id } = await all.ntfy({ quiet: NIGHT })
  await all.fire(
    Array.from({ length: 450 }, () => id),
    { title: '警报 🚨' },
  )
  await all.clock.pass(8 * HOUR)
  expect(texts().map(({ title }) => title)).toEqual(['450 alerts'])
  expect(texts()[0]?.message).toContain('… and 430 more')
  expect((await states(id)).filter((state) => state === 'pending')).toEqual([])
  await all.stop()
})

test('without quiet hours again, what waited goes out now; a digest keeps what it is', async () => {
  const { id } = await all.ntfy({ quiet: NIGHT })
  for (let i = 0; i < 2; i++) await all.fire([id], { title: `n${i}` })
  await all.channels.change('usr_1', id, { quiet: null })
  all.wake()
  await all.clock.settle()
  expect(texts().map(({ title }) => title)).toEqual(['2 alerts'])
  await all.stop()
})

test('a channel of before there were quiet hours sends at once', async () => {
  const { id } = await all.ntfy({})
  const [{ value, key } = { value: '', key: [] }] = await all.kv.list(
    { prefix: ['channels', 'id'] },
    { limit: 1 },
  )
  const { quiet: _quiet, digestMinutes: _digest, ...old } = JSON.parse(value)
  await all.kv.commit({ sets: [{ key, value: JSON.stringify(old) }] })
  await all.fire([id], { title: 'now' })
  expect(texts().map(({ title }) => title)).toEqual(['now'])
  await all.stop()
})

describe('an escalation', () => {
  const HIGH = { title: 'Not acknowledged: high', alertId: 'al_1', firingId: 'fir_1' }

  test('is sent when its minutes are over, with no link to acknowledge nothing', async () => {
    await all.clock.pass(12 * HOUR)
    const { id } = await all.ntfy({})
    await all.fire([id], HIGH, all.clock.now() + 10 * MINUTE)
    await all.clock.pass(9 * MINUTE)
    expect(all.sent).toEqual([])
    await all.clock.pass(2 * MINUTE)
    expect(texts()).toEqual([
      expect.objectContaining({
        title: HIGH.title,
        actions: [
          {
            action: 'view',
            clear: true,
            label: 'Pause the alert',
            url: 'https://room.example/tap#pause-al_1',
          },
        ],
      }),
    ])
    await all.stop()
  })

  test('is cancelled if somebody has seen the alert, also if it was held back since', async () => {
    const { id } = await all.ntfy({ quiet: NIGHT })
    await all.fire([id], HIGH, all.clock.now() + 10 * MINUTE)
    await all.fire([id], { ...HIGH, firingId: 'fir_2' }, all.clock.now() + 10 * MINUTE)
    await all.fire([id], { title: 'another' })
    await all.clock.pass(HOUR)
    all.acknowledged.add('fir_1')
    all.acknowledged.add('fir_2')
    await all.clock.pass(8 * HOUR)
    expect(texts().map(({ title }) => title)).toEqual(['another'])
    expect(await states(id)).toEqual(['cancelled', 'cancelled', 'delivered'])
    await all.stop()
  })

  test('does not come sooner when the quiet hours of its channel are changed', async () => {
    await all.clock.pass(12 * HOUR)
    const { id } = await all.ntfy({ quiet: NIGHT })
    await all.fire([id], HIGH, all.clock.now() + 10 * MINUTE)
    await all.channels.change('usr_1', id, { quiet: null })
    all.wake()
    await all.clock.settle()
    expect(all.sent).toEqual([])
    await all.clock.pass(11 * MINUTE)
    expect(all.sent).toHaveLength(1)
    await all.stop()
  })
})

describe('what may have been sent once', () => {
  test.each([
    { attempts: [{ at: 0, status: 500, durationMs: 1, failure: null, excerpt: '' }] },
    { begunAt: 5 },
  ])('is not joined with others: %j', async (part) => {
    const channel = await all.ntfy({ digestMinutes: 10 })
    await all.fire([channel.id], { title: 'a' })
    const [one] = await all.log(channel.id)
    const instead = insteadOfSending(
      {
        clock: all.clock,
        newId: () => 'ntc_x',
        notifications: {} as never,
        publicUrl: null,
        isAcknowledged: async () => false,
      },
      {} as never,
      { ...channel, lastSuccessAt: null },
      { ...one!, isHeld: true, attempts: [], ...part },
    )
    expect(await instead).toBeNull()
    await all.stop()
  })
})
