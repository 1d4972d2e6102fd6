// The outbox of letters and the loop that empties it, against mail servers that fail on purpose, on a clock that is turned.

import { beforeEach, describe, expect, test } from 'bun:test'
import { idSource } from '../../../src/lib/ids.ts'
import { Mail, LetterRefused, type Letter, type Transport } from '../../../src/notify/mail/mail.ts'
import { transact } from '../../../src/store/transaction.ts'
import type { Kv } from '../../../src/store/kv.ts'
import { storageFull } from '../../../src/store/memory.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { testKv } from '../../store/test-store.ts'

const MINUTE = 60_000
const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }

let clock: HandClock
let sent: string[]
let logged: string[]
let transport: Transport
const PNG = new Uint8Array([137, 80, 78, 71])

beforeEach(() => {
  clock = new HandClock()
  sent = []
  logged = []
  transport = async ({ subject }) => void sent.push(subject)
})

function world(kv: Kv = testKv()) {
  const mail = new Mail({
    kv,
    clock,
    newId: idSource({ clock, random }),
    transport: (letter, picture) => transport(letter, picture),
    pictureOf: async (picture) => ('gone' in picture ? null : PNG),
    log: (level, message) => void (level !== 'debug' && logged.push(message)),
  })
  const stop = new AbortController()
  const running = mail.run(stop.signal)
  return {
    write: (subject: string, ownerId = 'usr_1', picture?: object) =>
      transact(kv, () =>
        mail.enqueue({ ownerId, to: 'a@example.com', subject, text: '', ...(picture && { picture }) }),
      ),
    async wake() {
      mail.wake()
      await clock.settle()
    },
    letters: async (ownerId = 'usr_1'): Promise<readonly Letter[]> =>
      (await mail.list(ownerId, { limit: 100 })).items,
    async stop() {
      stop.abort()
      await clock.pass(6000)
      await running
    },
  }
}

test('users take turns: a thousand letters of one do not stand before the first of another', async () => {
  const { write, wake, stop } = world()
  for (let i = 0; i < 1000; i++) await write(`many ${i}`)
  await write('one', 'usr_2')
  // While a slow store takes letters in, the first of them go out.
  const before = sent.length
  await wake()
  expect(sent.slice(before, before + 3)).toContain('one')
  await stop()
})

test('a mail server that is down is asked ever less often, and one line says so', async () => {
  const { write, wake, letters, stop } = world()
  for (let i = 0; i < 100; i++) await write(`letter ${i}`)
  let asked = 0
  transport = async () => {
    asked++
    throw new Error('connection refused')
  }
  await wake()
  await clock.pass(59_000)
  expect(asked).toBe(6)
  expect(logged).toEqual(['sending mail fails and is tried again'])
  transport = async ({ subject }) => void sent.push(subject)
  await clock.pass(10 * MINUTE)
  expect([sent.length, new Set(sent).size]).toEqual([100, 100])
  expect((await letters()).every(({ state }) => state === 'sent')).toBe(true)
  expect(logged).toContain('sending mail works again')
  await stop()
})

test('a letter that the server does not want is retried by itself, and keeps nobody waiting', async () => {
  const { write, wake, letters, stop } = world()
  transport = async ({ subject }) => {
    if (subject === 'bad') throw new LetterRefused('550 no such mailbox')
    sent.push(subject)
  }
  await write('bad')
  await write('good')
  await wake()
  expect(sent).toEqual(['good'])
  await clock.pass(24 * 60 * MINUTE)
  expect((await letters()).find(({ subject }) => subject === 'bad')).toMatchObject({
    state: 'failed',
    attempts: 6,
    problem: '550 no such mailbox',
  })
  expect(logged).toEqual([])
  await stop()
})

test('a clock that is set back by hours keeps no letter waiting for that hour to come again', async () => {
  transport = async ({ subject }) => {
    sent.push(subject)
    throw sent.length === 1 ? new LetterRefused('not now') : new Error('down')
  }
  const { write, wake, letters, stop } = world()
  await write('old')
  await wake()
  await write('waiting')
  clock.setBack(3 * 60 * MINUTE)
  await clock.pass(2 * MINUTE)
  // A letter that nobody tried yet is due at once, another as long from now as it was to wait.
  expect(sent.slice(0, 2)).toEqual(['old', 'waiting'])
  transport = async ({ subject }) => void sent.push(subject)
  clock.setBack(3 * 60 * MINUTE)
  await clock.pass(10 * MINUTE)
  expect((await letters()).map(({ state }) => state)).toEqual(['sent', 'sent'])
  await stop()
})

test('a mail server that hangs is given up on after a minute', async () => {
  const { write, wake, letters, stop } = world()
  transport = () => new Promise(() => undefined)
  await write('hello')
  await wake()
  await clock.pass(MINUTE)
  expect(await letters()).toMatchObject([
    { state: 'waiting', attempts: 1, problem: expect.stringContaining('minute') },
  ])
  await stop()
})

test('a stop does not wait for a mail server that hangs', async () => {
  const { write, wake, stop } = world()
  transport = () => new Promise(() => undefined)
  await write('hello')
  await wake()
  await stop()
})

test('on a full store no letter goes out, and one that went before it filled up goes once', async () => {
  const inner = testKv()
  let full = false
  const { write, wake, letters, stop } = world({
    ...inner,
    commit: (commit) => (full ? Promise.reject(storageFull()) : inner.commit(commit)),
  })
  transport = async ({ subject }) => {
    sent.push(subject)
    full = true
  }
  await write('one')
  await write('two')
  await wake()
  await clock.pass(30 * MINUTE)
  expect(sent).toEqual(['one'])
  full = false
  transport = async ({ subject }) => void sent.push(subject)
  await clock.pass(2 * MINUTE)
  expect(sent).toEqual(['one', 'two'])
  expect((await letters()).map(({ state }) => state)).toEqual(['sent', 'sent'])
  await stop()
})

test('a refused letter is tried again after 1, 5, 30, 120 and 480 minutes, and then no more', async () => {
  const { write, wake, letters, stop } = world()
  const at: number[] = []
  transport = async () => {
    at.push(clock.now())
    throw new LetterRefused(`550 ${'no '.repeat(200)}`)
  }
  await write('bad')
  await wake()
  expect(await letters()).toMatchObject([
    { state: 'waiting', attempts: 1, nextAt: clock.now() + MINUTE, sentAt: null },
  ])
  await clock.pass(3 * 24 * 60 * MINUTE)
  expect(at.slice(1).map((time, i) => (time - at[i]!) / MINUTE)).toEqual([1, 5, 30, 120, 480])
  const [letter] = await letters()
  expect(letter).toMatchObject({ state: 'failed', attempts: 6, nextAt: null, sentAt: null })
  expect(letter?.problem?.length).toBe(300)
  await stop()
})

test('a letter that is accepted is sent once, and says when', async () => {
  const { write, wake, letters, stop } = world()
  let isDown = true
  transport = async ({ subject }) => {
    if (isDown) throw new LetterRefused('later')
    sent.push(subject)
  }
  await write('one')
  await wake()
  isDown = false
  await clock.pass(MINUTE)
  const sentAt = clock.now()
  await clock.pass(24 * 60 * MINUTE)
  expect(sent).toEqual(['one'])
  expect(await letters()).toMatchObject([{ state: 'sent', attempts: 2, nextAt: null, problem: null, sentAt }])
  await stop()
})

test('a subject is one line of 200 characters at most, so that nobody writes headers into it', async () => {
  const { write, letters, stop } = world()
  await write('first\r\nBcc: everybody@example.com\n\nlast')
  await write('🎉'.repeat(201))
  const [long, lines] = await letters()
  expect(lines?.subject).toBe('first Bcc: everybody@example.com last')
  expect(long?.subject).toBe('🎉'.repeat(200))
  await stop()
})

test('letters are forgotten when they are 30 days old, whatever became of them', async () => {
  const kv = testKv()
  const newId = idSource({ clock, random })
  const mail = new Mail({ kv, clock, newId, transport: null, log: () => undefined })
  const write = (subject: string) =>
    transact(kv, () => mail.enqueue({ ownerId: 'usr_1', to: 'a@example.com', subject, text: '' }))
  const subjects = async () => (await mail.list('usr_1', { limit: 9 })).items.map(({ subject }) => subject)
  await write('old')
  clock.time += 1
  await write('older than it was')
  clock.time += 30 * 24 * 60 * MINUTE - 2
  expect([await mail.purge(), await subjects()]).toEqual([0, ['older than it was', 'old']])
  clock.time += 1
  expect([await mail.purge(), await subjects()]).toEqual([1, ['older than it was']])
  // Without a mail server they wait for one, and nothing is tried.
  expect(mail.configured).toBe(false)
  await mail.run(new AbortController().signal)
  expect((await mail.list('usr_1', { limit: 9 })).items).toMatchObject([{ state: 'waiting', attempts: 0 }])
})

describe('a letter with a picture', () => {
  /** What was handed over: with its picture or without. */
  const handed: string[] = []
  const noted = (subject: string, picture: Uint8Array | null) =>
    handed.push(`${subject} ${picture === null ? 'alone' : picture.length}`)
  beforeEach(() => void handed.splice(0))

  test('has it, and one that cannot be drawn, or that has none, goes alone', async () => {
    transport = async ({ subject }, picture) => void noted(subject, picture)
    const { write, wake, stop } = world()
    await write('chart', 'usr_1', { of: 'a firing' })
    await write('no bars', 'usr_1', { gone: true })
    await write('plain')
    await wake()
    expect(handed).toEqual(['chart 4', 'no bars alone', 'plain alone'])
    await stop()
  })

  test('goes alone in the same try where the server refuses it', async () => {
    transport = async ({ subject }, picture) => {
      noted(subject, picture)
      if (picture) throw new LetterRefused('552 too large')
    }
    const { write, wake, letters, stop } = world()
    await write('chart', 'usr_1', { of: 'a firing' })
    await wake()
    expect(handed).toEqual(['chart 4', 'chart alone'])
    expect((await letters())[0]).toMatchObject({ state: 'sent', attempts: 1, problem: null })
    await stop()
  })

  test('goes alone from the third try on where the server breaks at it', async () => {
    transport = async ({ subject }, picture) => {
      noted(subject, picture)
      if (picture) throw new Error('connection reset')
    }
    const { write, wake, letters, stop } = world()
    await write('chart', 'usr_1', { of: 'a firing' })
    await wake()
    await clock.pass(60 * MINUTE)
    expect(handed).toEqual(['chart 4', 'chart 4', 'chart alone'])
    expect((await letters())[0]).toMatchObject({ state: 'sent', attempts: 3 })
    await stop()
  })

  test('that the server refuses either way is refused as others are', async () => {
    transport = async ({ subject }, picture) => {
      noted(subject, picture)
      throw new LetterRefused('550 no such mailbox')
    }
    const { write, wake, letters, stop } = world()
    await write('chart', 'usr_1', { of: 'a firing' })
    await wake()
    expect(handed).toEqual(['chart 4', 'chart alone'])
    expect((await letters())[0]).toMatchObject({ state: 'waiting', problem: '550 no such mailbox' })
    await stop()
  })
})
