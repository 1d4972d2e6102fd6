// The verdicts of `bun run torture`: what was kept has no findings, and each broken promise has its own.

import { describe, expect, test } from 'bun:test'
import { arrivalFindings, logFindings } from '../../src/tools/torture/channels.ts'
import type { Json } from '../../src/tools/torture/client.ts'
import { compare, compareAnswers, type Stored } from '../../src/tools/torture/copies.ts'
import { unwanted } from '../../src/tools/torture/crash.ts'
import { Market } from '../../src/tools/torture/market.ts'
import { Promises } from '../../src/tools/torture/promises.ts'
import { Random } from '../../src/tools/torture/random.ts'
import { Receiver } from '../../src/tools/torture/receiver.ts'
import { Tally } from '../../src/tools/torture/tally.ts'
import { encodeKey } from '../../src/store/key.ts'

const found = (judge: (tally: Tally) => void) => {
  const tally = new Tally('copies', 1, () => {})
  judge(tally)
  return tally.findings.map(({ what }) => what)
}

describe('what a server kept', () => {
  const kept = { id: 'i1', title: 'first', body: 'text' }
  const listing = (...rows: Json[]) => ({ all: () => Promise.resolve(rows) })
  /** i1 was written, i2 written and deleted. */
  function promised() {
    const promises = new Promises('/ideas', 'ideas')
    promises.made('i1', { title: 'first', body: 'text' })
    promises.made('i2', { title: 'other', body: '' })
    promises.removed('i2', true)
    return promises
  }

  test('is all that was acknowledged', async () => {
    expect(await promised().broken(listing(kept))).toEqual([])
  })

  test.each<[string, Json[], string[]]>([
    ['a write that is lost', [], ['i1 of ideas is lost']],
    ['a field that is lost', [{ ...kept, body: '' }], ['body of i1 is "", promised was "text"']],
    ['a deletion that is lost', [kept, { id: 'i2' }], ['i2 of ideas was deleted and is there']],
  ])('%s is found', async (_, rows, findings) => {
    expect(await promised().broken(listing(...rows))).toEqual(findings)
  })

  test('of a change without an answer is either value, but never both one after the other', async () => {
    for (const [one, other] of [
      ['first', 'second'],
      ['second', 'first'],
    ]) {
      const promises = promised()
      promises.changed('i1', { title: 'second' }, false)
      expect(await promises.broken(listing({ ...kept, title: 'third' }))).toEqual([
        'title of i1 is "third", promised was "first" or "second"',
      ])
      expect(await promises.broken(listing({ ...kept, title: one }))).toEqual([])
      expect(await promises.broken(listing({ ...kept, title: other }))).toEqual([
        `title of i1 is "${other}", promised was "${one}"`,
      ])
    }
  })

  test('of an acknowledged change is the new value alone', async () => {
    const promises = promised()
    promises.changed('i1', { title: 'second' }, true)
    expect(await promises.broken(listing(kept))).toEqual(['title of i1 is "first", promised was "second"'])
  })

  test('of a deletion without an answer is the whole object or none of it', async () => {
    const promises = promised()
    promises.removed('i1', false)
    expect(promises.kept()).toEqual([])
    expect(await promises.broken(listing())).toEqual([])
    expect(await promises.broken(listing(kept))).toEqual([])
    expect(await promises.broken(listing({ ...kept, title: 'x' }))).toEqual([
      'title of i1 is "x", promised was "first"',
    ])
  })
})

describe('bars that a server kept', () => {
  function market() {
    const made = new Market('S', new Random(1))
    made.ahead(6)
    made.stored = 3
    made.pending = 2
    return made
  }
  const bars = ({ closes, timeOf }: Market, count: number) => ({
    time: Array.from({ length: count }, (_, bar) => timeOf(bar)),
    close: closes.slice(0, count),
  })
  const settled = (made: Market, shown: object, status = 200) =>
    made.settle({
      get: () => Promise.resolve({ status, headers: new Headers(), text: '', ms: 0, json: { bars: shown } }),
    })

  test.each([3, 5])(
    'are those acknowledged, and of an import without an answer all or none: %d',
    async (count) => {
      const made = market()
      expect(await settled(made, bars(made, count))).toBeNull()
      expect(made.stored).toBe(count)
    },
  )

  test.each([2, 4, 6])('are not %d', async (count) => {
    const made = market()
    expect(await settled(made, bars(made, count))).toBe(`S has ${count} bars, acknowledged were 3 or 5`)
  })

  test('are the same ones, in their order', async () => {
    const made = market()
    const shown = bars(made, 3)
    shown.close[1] = 7
    expect(await settled(made, shown)).toBe('bar 1 of S is another one')
    const turned = bars(made, 3)
    turned.time.reverse()
    expect(await settled(made, turned)).toBe('bar 0 of S is another one')
    expect(await settled(made, {}, 404)).toStartWith('bars of S are lost: 404')
  })
})

test('an alert that fired on another bar, or twice, is found', () => {
  expect(unwanted(['a', 'b'], ['b', 'a'])).toBeUndefined()
  expect(unwanted(['a', 'b'], ['a'])).toBeUndefined()
  expect(unwanted(['a', 'b'], ['a', 'c'])).toBe('c')
  expect(unwanted(['a', 'b'], ['a', 'b', 'a'])).toBe('a')
})

test('an event under two ids is found, and one that came twice under its own is none', async () => {
  const receiver = new Receiver()
  const send = async (barTime: string, id: string) => {
    const body = JSON.stringify({ event: 'alert.triggered', data: { alertId: 'al', barTime } })
    await fetch(receiver.url, { method: 'POST', body, headers: { 'webhook-id': id } })
  }
  for (const [barTime, id] of ['1a', '1a', '2b', '2c'].map((text) => [text[0]!, text[1]!] as const))
    await send(barTime, id)
  expect(receiver.doubled()).toEqual(['alert.triggered al 2'])
  expect(receiver.of('alert.triggered al 1')).toEqual({ ids: 1, times: 2 })
  expect(receiver.of('alert.triggered al 3').ids).toBe(0)
  await receiver.close()
})

test.each<[string, number[], string[], string[]]>([
  ['once', [10], ['a'], []],
  ['twice with a death between', [10, 30], ['a'], []],
  ['never', [], [], ['a firing was told nobody']],
  [
    'twice though the server lived',
    [10, 15, 30],
    ['a'],
    ['a service got a notification twice though the server lived'],
  ],
  ['under two ids', [10, 30], ['a', 'b'], ['a notification came under two ids']],
])('a notification that came %s', (_, at, ids, findings) => {
  expect(arrivalFindings({ at, ids: new Set(ids) }, [5, 20, 40])).toEqual(findings)
})

describe('the log of a channel', () => {
  const one = (id: string, ...statuses: number[]) => ({
    id,
    state: statuses.at(-1) === 200 ? 'delivered' : 'failed',
    attempts: statuses.map((status) => ({ status })),
  })
  const told = [one('n1', 429, 200), one('n2', 200)]
  const firings = [
    { alertId: 'al', barTime: 1 },
    { alertId: 'al', barTime: 2 },
  ]

  test.each<[string, Json[], Json[], string[]]>([
    ['of all firings', told, firings, []],
    [
      'without a notification',
      told.slice(1),
      firings,
      ['the log has other than one notification a firing: 1 of 2'],
    ],
    [
      'with one too many',
      [...told, one('n3', 200)],
      firings,
      ['the log has other than one notification a firing: 3 of 2'],
    ],
    [
      'with two successes',
      [told[0]!, one('n2', 200, 200)],
      firings,
      ['the log has other than one success: n2 is delivered with 2'],
    ],
    [
      'without a success',
      [told[0]!, one('n2', 429)],
      firings,
      ['the log has other than one success: n2 is failed with 0'],
    ],
    ['without a firing', told, firings.slice(1), ['bars fired other than once an alert: 1, of 1 bars, of 2']],
    [
      'with one firing twice in place of another',
      told,
      [firings[0]!, firings[0]!],
      ['bars fired other than once an alert: 2, of 1 bars, of 2'],
    ],
  ])('%s', (_, notifications, fired, findings) => {
    expect(logFindings(2, notifications, fired).map((finding) => finding.join(': '))).toEqual(findings)
  })
})

describe('a copy', () => {
  const hex = (...parts: string[]) => Buffer.from(encodeKey(parts)).toString('hex')
  const key = (name: string) => hex('ideas', 'id', name)
  const original = (): Stored & Record<keyof Stored, Map<string, string>> => ({
    documents: new Map([
      [key('a'), 'hash of a'],
      [key('b'), 'hash of b'],
    ]),
    series: new Map([['\nSP\nSPX\n1d', '[facts,[0 hash]]']]),
    facts: new Map([[hex('symbol', '', 'SP', 'SPX'), 'hash']]),
  })

  test.each<[string, (copy: ReturnType<typeof original>) => void, string[]]>([
    ['of everything', () => {}, []],
    [
      'without a document',
      ({ documents }) => documents.delete(key('b')),
      ['documents of the copy differ: ["ideas","id","b"]: undefined for hash of b'],
    ],
    [
      'with another document in its place',
      ({ documents }) => documents.set(key('a'), 'hash of c'),
      ['documents of the copy differ: ["ideas","id","a"]: hash of c for hash of a'],
    ],
    [
      'with a document too many',
      ({ documents }) => documents.set(key('c'), 'hash'),
      ['documents of the copy are too many: ["ideas","id","c"]'],
    ],
    [
      'without a series',
      ({ series }) => series.clear(),
      ['series of the copy differ: \nSP\nSPX\n1d: undefined for [facts,[0 hash]]'],
    ],
    [
      'with other bars',
      ({ series }) => series.set('\nSP\nSPX\n1d', '[facts,[0 other]]'),
      ['series of the copy differ: \nSP\nSPX\n1d: [facts,[0 other]] for [facts,[0 hash]]'],
    ],
    [
      'with a series too many',
      ({ series }) => series.set('\nSP\nSPX\n1h', '[]'),
      ['series of the copy are too many: \nSP\nSPX\n1h'],
    ],
    [
      'without the facts of a symbol',
      ({ facts }) => facts.clear(),
      ['facts of the copy differ: ["symbol","","SP","SPX"]: undefined for hash'],
    ],
  ])('%s', (_, change, findings) => {
    const copy = original()
    change(copy)
    expect(found((tally) => compare(tally, original(), copy, 'the copy', 'round 0'))).toEqual(findings)
  })

  test('that has facts in tables of its own is not asked for them', () => {
    const copy = { ...original(), facts: null }
    expect(found((tally) => compare(tally, original(), copy, 'the copy', 'round 0'))).toEqual([])
  })

  test('whose server answers otherwise, or whose original only refused, is found', () => {
    const answers = (status: number, json: object) => new Map([['/a', { status, json }]])
    const judged = (before: ReturnType<typeof answers>, after: ReturnType<typeof answers>) =>
      found((tally) => compareAnswers(tally, before, after, 'the copy', 'round 0'))
    expect(judged(answers(200, { a: [1] }), answers(200, { a: [1] }))).toEqual([])
    expect(judged(answers(200, { a: [1] }), answers(200, { a: [2] }))).toEqual([
      'a server on the copy answers otherwise: /a: {"status":200,"json":{"a":[2]}} for {"status":200,"json":{"a":[1]}}',
    ])
    expect(judged(answers(401, {}), answers(401, {}))).toEqual(['the original does not answer: /a: 401'])
  })
})
