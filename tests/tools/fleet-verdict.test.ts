// The checker of `bun run fleet-test`: a history in which everything was kept has no findings, and each fault has its own.

import { describe, expect, test } from 'bun:test'
import { Live } from '../../src/tools/fleet-live.ts'
import { Load } from '../../src/tools/fleet-load.ts'
import { write } from '../../src/tools/fleet-node.ts'
import { FIRES_EVERY, HIGH, liveRow, SECOND_MS } from '../../src/tools/fleet-services.ts'
import {
  nodeFindings,
  NodeHistory,
  Overlap,
  resultOf,
  serverFindings,
  Silence,
  type Series,
  type ServerHistory,
} from '../../src/tools/fleet-verdict.ts'

type Mutable<T> =
  T extends ReadonlyMap<infer K, infer V>
    ? Map<K, Mutable<V>>
    : T extends ReadonlySet<infer V>
      ? Set<V>
      : T extends (...args: never[]) => unknown
        ? T
        : T extends object
          ? { -readonly [K in keyof T]: Mutable<T[K]> }
          : T

const attempt = (status: number) => ({ at: 0, status, durationMs: 1, failure: null, excerpt: '' })
const sent = (id: string) => ({ id, state: 'delivered' as const, attempts: [attempt(503), attempt(200)] })

/** Bars 0 to 2 of one row each; the alert fires on 1 and 2, and may on 0. */
function series(name: string): Series {
  const rows = new Map([0, 1, 2].map((time) => [time, `10,12,9,11,${time}`]))
  return {
    name,
    alertId: `alert of ${name}`,
    rows,
    fires: [1, 2],
    mayFire: (time) => rows.has(time),
    nameOf: (time) => `bar ${time}`,
  }
}

const bars = () => ({
  time: [0, 1, 2],
  open: [10, 10, 10],
  high: [12, 12, 12],
  low: [9, 9, 9],
  close: [11, 11, 11],
  volume: [0, 1, 2],
})

/** Of two series, of which the phone is told of S0 alone. */
function clean() {
  const firing = (symbol: string, exchange: string, barTime: number) => ({
    id: `f ${symbol} ${barTime}`,
    alertId: `alert of ${symbol}`,
    exchange,
    barTime,
  })
  const firings = [1, 2].flatMap((time) => [firing('S0', 'T', time), firing('LIVE0', 'BINANCE', time)])
  const silence = new Silence()
  silence.look(0, [0])
  silence.look(10_000, [10_000])
  const history: ServerHistory = {
    wrong: [],
    reads: [
      { subject: 'idea 0.0', wanted: 'second', status: 200, shown: 'second' },
      { subject: 'idea 0.1 second', wanted: null, status: 404, shown: 'undefined' },
      { subject: 'the newest bar of S0', wanted: '2,10,12,9,11,2', status: 200, shown: '2,10,12,9,11,2' },
    ],
    kept: new Map([['i0', 'idea 0.0 second']]),
    deleted: new Map([['i1', 'idea 0.1 second']]),
    ideas: [{ id: 'i0', title: 'idea 0.0', body: 'second' }],
    series: ['S0', 'LIVE0'].map((name) => [
      series(name),
      new Map([
        ['s0', bars()],
        ['s1', bars()],
      ]),
    ]),
    firings,
    deliveries: firings.map(({ id }) => sent(`d ${id}`)),
    hook: {
      ids: new Map(firings.map(({ id }) => [id, new Set([`d ${id}`])])),
      // A server that dies before it has written a success down sends again.
      taken: new Map(firings.map(({ id }, i) => [`d ${id}`, i === 0 ? 2 : 1])),
    },
    notifications: [
      { ...sent('n1'), notice: { firingId: 'f S0 1', text: 'S0' } },
      { ...sent('n2'), notice: { firingId: 'f S0 2', text: 'S0' } },
      { ...sent('n3'), notice: { text: 'message 0.' } },
      { ...sent('n4'), notice: { text: 'message 1.' } },
      { ...sent('n5'), notice: { text: 'message 1.' } },
    ],
    phone: { ids: new Map(), taken: new Map(['n1', 'n2', 'n3', 'n4', 'n5'].map((id) => [id, 1])) },
    phoneExchange: 'T',
    asked: [
      { text: 'message 0.', isTaken: true, tries: 1 },
      { text: 'message 1.', isTaken: true, tries: 2 },
      { text: 'message 2.', isTaken: false, tries: 1 },
    ],
    messages: [{ text: 'message 0.' }, { text: 'message 1.' }, { text: 'message 1.' }],
    results: {
      sweep: { rows: 2, came: new Map([['{"trials":[1,2]}', [0, 1]]]) },
      scan: { rows: 1, came: new Map([['{"rows":[1]}', [0]]]) },
    },
    forward: {
      wanted: 9,
      seen: 9,
      state: 'running',
      equal: true,
      corrected: 0,
      said: 'Alike.',
      told: ['buy 1', 'sell 1'],
      fills: ['buy 1', 'sell 1'],
    },
    subscriptions: 1,
    longestTwiceMs: 5000,
    silence,
    withinMs: 10_000,
  }
  return history as Mutable<ServerHistory>
}

const shownOf = (history: Mutable<ServerHistory>, of: number, server: string) =>
  history.series[of]![1].get(server)!

const FAULTS: Readonly<Record<string, [(history: Mutable<ServerHistory>) => void, ...string[]]>> = {
  'an answer that should not have been': [
    ({ wrong }) => wrong.push('a bar was answered 400'),
    'a bar was answered 400',
  ],

  'an idea older than the own change': [
    ({ reads }) => (reads[0]!.shown = 'first'),
    'stale: idea 0.0 is 200 first on the server that has just stored second',
  ],
  'an own idea that is not there yet': [
    ({ reads }) => Object.assign(reads[0]!, { status: 404, shown: 'undefined' }),
    'stale: idea 0.0 is 404 undefined on the server that has just stored second',
  ],
  'an idea that is shown after its deletion': [
    ({ reads }) => Object.assign(reads[1]!, { status: 200, shown: 'second' }),
    'stale: idea 0.1 second is 200 second on the server that has just deleted it',
  ],
  'a newest bar older than the own import': [
    ({ reads }) => (reads[2]!.shown = '1,10,12,9,11,1'),
    'stale: the newest bar of S0 is 200 1,10,12,9,11,1 on the server that has just stored 2,10,12,9,11,2',
  ],

  'an acknowledged idea that is lost': [
    ({ kept }) => kept.set('i2', 'idea 0.2 first'),
    'lost: idea 0.2 first, stored is undefined',
  ],
  'an acknowledged change that is lost': [
    ({ ideas }) => (ideas[0]!.body = 'first'),
    'lost: idea 0.0 second, stored is idea 0.0 first',
  ],
  'an acknowledged deletion that is lost': [
    ({ ideas }) => ideas.push({ id: 'i1', title: 'idea 0.1', body: 'second' }),
    'lost: the end of idea 0.1 second, which is stored',
  ],
  'an idea that is stored twice': [
    ({ ideas }) => ideas.push({ id: 'i9', title: 'idea 0.0', body: 'first' }),
    'idea 0.0 first is stored as i9, which nobody was answered',
  ],

  'a bar that is missing on one server': [
    (history) => shownOf(history, 0, 's1').time.pop(),
    'lost: 1 bars of S0 on s1: bar 2 is undefined instead of 10,12,9,11,2',
  ],
  'a bar whose correction is lost': [
    (history) => (shownOf(history, 0, 's0').volume[1] = 0),
    'lost: 1 bars of S0 on s0: bar 1 is 10,12,9,11,0 instead of 10,12,9,11,1',
  ],
  'a bar that is there twice': [
    (history) => {
      for (const column of Object.values(shownOf(history, 1, 's0'))) column.push(column.at(-1)!)
    },
    'LIVE0 has 4 bars on s0, not 3',
  ],
  'a bar that nobody sent': [
    (history) => {
      for (const column of Object.values(shownOf(history, 1, 's1'))) column.push(7)
    },
    'LIVE0 has 4 bars on s1, not 3',
  ],
  'a series that cannot be read': [
    (history) => history.series[1]![1].set('s1', null),
    'LIVE0 could not be read on s1',
  ],

  'a firing that is missing': [
    ({ firings, deliveries, hook }) => {
      const { id } = firings.pop()!
      deliveries.pop()
      hook.ids.delete(id)
      hook.taken.delete(`d ${id}`)
    },
    'bar 2 of LIVE0 did not fire',
  ],
  'a firing that is there twice': [
    ({ firings, hook, deliveries }) => {
      firings.push({ ...firings[1]!, id: 'again' })
      deliveries.push(sent('d again'))
      hook.ids.set('again', new Set(['d again']))
      hook.taken.set('d again', 1)
    },
    'fired 2 times: alert of LIVE0 1',
  ],
  'a firing on a bar that must not fire': [
    ({ firings }) => (firings[1]!.barTime = 3),
    'bar 1 of LIVE0 did not fire',
    'fired without a reason: alert of LIVE0 bar 3',
  ],
  'a firing of an alert that nobody set': [
    ({ firings }) => (firings[1]!.alertId = 'another'),
    'bar 1 of LIVE0 did not fire',
    'fired without a reason: another 1',
  ],

  'a webhook under two ids': [
    ({ hook, deliveries }) => {
      hook.ids.get('f S0 1')!.add('d again')
      hook.taken.set('d again', 1)
      deliveries.push(sent('d again'))
    },
    'firing f S0 1 was sent under 2 ids',
  ],
  'a webhook that was never sent': [
    ({ hook, deliveries }) => {
      hook.ids.delete('f S0 1')
      hook.taken.delete('d f S0 1')
      deliveries.shift()
    },
    'firing f S0 1 was never sent',
  ],
  'a webhook of a firing that is lost': [
    ({ hook, deliveries }) => {
      hook.ids.set('gone', new Set(['d gone']))
      hook.taken.set('d gone', 1)
      deliveries.push(sent('d gone'))
    },
    'firing gone was sent and is not stored',
  ],
  'a webhook with two successes': [
    ({ deliveries }) => deliveries[0]!.attempts.push(attempt(200)),
    'delivery d f S0 1 (delivered) has 2 successes in 3 attempts, not one success',
  ],
  'a webhook without a success': [
    ({ deliveries }) => Object.assign(deliveries[0]!, { state: 'failed', attempts: [attempt(503)] }),
    'delivery d f S0 1 (failed) has 0 successes in 1 attempts, not one success',
  ],
  'a webhook whose success is made up: its receiver has only refused it': [
    ({ hook }) => hook.taken.delete('d f S0 1'),
    'delivery d f S0 1 never came',
  ],
  'a webhook under an id that is not stored': [
    ({ hook }) => hook.taken.set('d unknown', 1),
    'a delivery came under an id that nobody knows: d unknown',
  ],

  'a notice that is missing': [
    ({ notifications, phone }) => {
      notifications.shift()
      phone.taken.delete('n1')
    },
    'f S0 1 has 0 notices, not 1',
  ],
  'a notice too many': [
    ({ notifications, phone }) => {
      notifications.push({ ...sent('n6'), notice: { firingId: 'f S0 1', text: 'S0' } })
      phone.taken.set('n6', 1)
    },
    'f S0 1 has 2 notices, not 1',
  ],
  'a notice of a firing that the phone is not to be told of': [
    ({ notifications, phone }) => {
      notifications.push({ ...sent('n6'), notice: { firingId: 'f LIVE0 1', text: 'LIVE0' } })
      phone.taken.set('n6', 1)
    },
    'f LIVE0 1 has 1 notices, not 0',
  ],
  'a notice with two successes': [
    ({ notifications }) => notifications[0]!.attempts.push(attempt(200)),
    'notice n1 (delivered) has 2 successes in 3 attempts, not one success',
  ],
  'a notice that never came': [({ phone }) => phone.taken.delete('n1'), 'notice n1 never came'],
  'a notice under an id that nobody knows': [
    ({ phone }) => phone.taken.set('n7', 1),
    'a notice came under an id that nobody knows: n7',
  ],
  'a message that is lost': [
    ({ messages, notifications, phone }) => {
      messages.shift()
      notifications.splice(2, 1)
      phone.taken.delete('n3')
    },
    'lost: message 0.',
  ],
  'a message that is stored more often than it was sent': [
    ({ messages, notifications, phone }) => {
      messages.push({ text: 'message 0.' })
      notifications.push({ ...sent('n6'), notice: { text: 'message 0.' } })
      phone.taken.set('n6', 1)
    },
    'message 0. was sent 1 times and is stored more often',
  ],

  'a sweep with another trial': [
    ({ results }) => results['sweep']!.came.set('{"trials":[1,3]}', [2]),
    'sweep 2 has other results: {"trials":[1,3]} for {"trials":[1,2]}',
  ],
  'a sweep without one of its trials, every time': [
    ({ results }) => (results['sweep']!.came = new Map([['{"trials":[1]}', [0, 1]]])),
    'sweep 0,1 has 1 results, not 2',
  ],
  'a scan whose results are refused every time': [
    ({ results }) => (results['scan']!.came = new Map([['{"error":{}}', [0, 1]]])),
    'scan 0,1 has undefined results, not 1',
  ],

  'a forward run that missed a bar': [
    ({ forward }) => forward.seen--,
    'the forward run has seen 8 of 9 bars',
  ],
  'a forward run that saw a bar twice': [
    ({ forward }) => forward.seen++,
    'the forward run has seen 10 of 9 bars',
  ],
  'a forward run that ended': [({ forward }) => (forward.state = 'failed'), 'the forward run is failed'],
  'a forward run that trades otherwise': [
    ({ forward }) => Object.assign(forward, { equal: false, said: 'A fill differs.' }),
    'the forward run differs from a backtest: A fill differs.',
  ],
  'a forward run that saw another bar': [
    ({ forward }) => Object.assign(forward, { corrected: 1, said: 'One bar differs.' }),
    'the forward run differs from a backtest: One bar differs.',
  ],

  'a forward run that told of a fill twice': [
    ({ forward }) => forward.told.push('sell 1'),
    'the forward run told of sell 1, which is one too many',
  ],
  'a forward run that told nobody of a fill': [
    ({ forward }) => forward.told.pop(),
    'the forward run told of undefined instead of sell 1',
  ],
  'a forward run that told of another fill': [
    ({ forward }) => (forward.told[0] = 'buy 2'),
    'the forward run told of buy 2 instead of buy 1',
  ],
  'a series that is streamed to two servers': [
    (history) => (history.longestTwiceMs = 5500),
    'a series was streamed to two servers for 5.5 s',
  ],
  'a takeover after 10.5 s': [
    (history) => (history.silence.longestMs = 10_500),
    'a shard had no server for 10.5 s',
  ],
  'shards that nobody could look at': [
    (history) => (history.silence = new Silence()),
    'it was never seen that every shard has a server',
  ],
}

describe('servers', () => {
  test('a history in which everything was kept has no findings', () => {
    expect(serverFindings(clean())).toEqual([])
  })

  test.each(Object.entries(FAULTS))('%s', (_, [make, ...findings]) => {
    const history = clean()
    make(history)
    expect(serverFindings(history)).toEqual(findings)
  })

  test('a history in which nothing happened keeps no promise', () => {
    const empty = new Map<never, never>()
    const findings = serverFindings({
      ...clean(),
      reads: [],
      kept: empty,
      deleted: empty,
      ideas: [],
      firings: [],
      deliveries: [],
      notifications: [],
      messages: [],
      asked: [],
      subscriptions: 0,
      series: [[{ ...series('S0'), rows: empty, fires: [] }, empty]],
      hook: { ids: empty, taken: empty },
      phone: { ids: empty, taken: empty },
      results: { sweep: { rows: 2, came: empty } },
      forward: { ...clean().forward, wanted: 0, seen: 0, told: [], fills: [] },
      silence: new Silence(),
    })
    expect(findings).toEqual([
      'no change was read back',
      'no idea was kept',
      'no alert fired',
      'no delivery was made',
      'no notice was made',
      'no message was taken',
      'no bar was seen by the forward run',
      'no order of the forward run filled',
      'no series was streamed',
      'no sweep was done',
      'no bar of S0 came',
      'it was never seen that every shard has a server',
    ])
  })

  test('of results counts what is found, and not when', () => {
    const of = (score: number, id: string, at: number) =>
      resultOf({ trials: [{ trial: 0, score, id, startedAt: at, ranMs: at }], requestId: id })
    expect(of(1, 'a', 5)).toBe(of(1, 'b', 6))
    expect(of(1, 'a', 5)).not.toBe(of(2, 'a', 5))
  })
})

describe('a takeover', () => {
  test('is measured from the last sign of life to the next server', () => {
    const silence = new Silence()
    silence.look(0, [0, 0])
    silence.look(20_000, [500, 0])
    // Its lease is still there, and then its shards have no holder, until another takes them.
    silence.look(24_000, [4500, 0])
    silence.look(30_000, [null, 900])
    silence.look(30_050, [100, 100])
    expect(silence.longestMs).toBe(10_500)
  })

  test('of one shard is not added to that of another which begins before it ends', () => {
    const silence = new Silence()
    silence.look(0, [0, 0, 0])
    silence.look(6000, [null, 0, 0])
    silence.look(6500, [0, null, 0])
    silence.look(12_000, [0, null, 0])
    silence.look(12_500, [0, 0, null])
    silence.look(18_000, [null, 0, null])
    silence.look(18_500, [0, 0, 0])
    expect([silence.longestMs, silence.isSeen]).toEqual([6000, true])
  })

  test('of one shard counts, however often others are taken over meanwhile', () => {
    const silence = new Silence()
    silence.look(0, [0, 0])
    for (let now = 1000; now <= 11_000; now += 1000) silence.look(now, [null, now % 2000 === 0 ? null : 0])
    expect(silence.longestMs).toBe(11_000)
  })

  test('by a server that was silent itself has not ended', () => {
    const silence = new Silence()
    silence.look(0, [0])
    silence.look(6000, [null])
    silence.look(6050, [3000])
    silence.look(11_000, [7950])
    expect(silence.longestMs).toBe(7950)
    // An earlier sign of life than one that was seen already is none.
    silence.look(11_050, [20_000])
    expect(silence.longestMs).toBe(8000)
  })

  test('does not count while the database is away', () => {
    const silence = new Silence()
    silence.look(0, [0, 0])
    silence.look(50, [])
    silence.look(12_000, [12_000, 12_000])
    silence.look(13_000, [13_000, 13_000])
    silence.look(13_050, [0, 0])
    silence.look(13_100, [])
    silence.look(25_000, [null, 0])
    silence.look(25_050, [0, 0])
    expect([silence.longestMs, silence.isSeen]).toEqual([1000, true])
  })

  test('that never comes is seen, also right after the database was away', () => {
    const silence = new Silence()
    silence.look(0, [])
    silence.look(100, [null, 0])
    silence.look(10_600, [null, 0])
    expect([silence.longestMs, silence.isSeen]).toEqual([10_500, false])
  })
})

test('for how long something is in two places at once', () => {
  const overlap = new Overlap()
  for (const [now, all] of [
    [0, ['a', 'b']],
    [100, ['a', 'b', 'a']],
    [600, ['a', 'a', 'b', 'b']],
    [700, ['a', 'b', 'b']],
    [800, ['b']],
    [900, ['a', 'a']],
  ] as const)
    overlap.look(now, all)
  // What is not there in between begins anew.
  expect(overlap.longestMs).toBe(500)
})

describe('nodes', () => {
  function kept() {
    const history = new NodeHistory()
    for (const [now, line] of ['ready', 'ack a', 'tick 1', 'away', 'ack b', 'tick 2'].entries())
      history.hear(line, 10_000 + now * 1000)
    history.lastBlow()
    history.hear('tick 3', 16_000)
    // c was stored by a node that died before it could say so.
    const store = {
      writes: new Set(['a', 'b', 'c']),
      ticks: new Set(['1', '2', '3']),
      counted: 3,
      heard: new Map(['a', 'b', 'c'].map((id) => [id, 1])),
    }
    return { history, store }
  }
  type Kept = ReturnType<typeof kept>

  test('a history in which everything was kept has no findings', () => {
    const { history, store } = kept()
    expect(nodeFindings(history, store)).toEqual([])
    expect([history.acked.size, history.away, history.longestGapMs]).toEqual([2, 1, 3000])
  })

  test.each<[string, (kept: Kept) => void, string[]]>([
    [
      'a lost write',
      ({ history }) => history.hear('ack d', 0),
      ['lost: d was acknowledged and is not stored'],
    ],
    ['a stale read after an own write', ({ history }) => history.hear('stale a', 0), ['stale a']],
    ['a write that found itself stored', ({ history }) => history.hear('twice a', 0), ['twice a']],
    ['a counter that counted twice', ({ store }) => store.counted++, ['the counters say 4, stored are 3']],
    [
      'a write the feed is silent about',
      ({ store }) => store.heard.delete('c'),
      ['the feed told of c 0 times'],
    ],
    [
      'a write the feed tells of twice',
      ({ store }) => store.heard.set('c', 2),
      ['the feed told of c 2 times'],
    ],
    [
      'a write that only the feed knows',
      ({ store }) => store.heard.set('d', 1),
      ['the feed told of d 1 times'],
    ],
    ['a tick by two holders', ({ history }) => history.hear('tick 3', 0), ['tick 3 came twice']],
    [
      'a tick that was left out',
      ({ history, store }) => (
        (store.ticks = new Set(['1', '3', '4'])),
        history.hear('tick 4', 0),
        history.ticks.delete('2')
      ),
      ['tick 2 is missing'],
    ],
    ['a last tick that is lost', ({ store }) => store.ticks.delete('3'), ['tick 3 is missing']],
    [
      'work that nobody takes over any more',
      ({ history }) => history.lastBlow(),
      ['no tick came after the last blow'],
    ],
  ])('%s', (_, make, findings) => {
    const all = kept()
    make(all)
    expect(nodeFindings(all.history, all.store)).toEqual(findings)
  })

  test('a history in which nothing happened keeps no promise', () => {
    const store = {
      writes: new Set<string>(),
      ticks: new Set<string>(),
      counted: 0,
      heard: new Map<string, number>(),
    }
    expect(nodeFindings(new NodeHistory(), store)).toEqual([
      'no write was acknowledged',
      'no tick came after the last blow',
    ])
  })

  test.each<[string, boolean, string | null, string[]]>([
    ['kept', true, 'a', ['ack a']],
    ['lost', true, null, ['ack a', 'stale a']],
    ['another', true, 'b', ['ack a', 'stale a']],
    ['there before', false, 'a', ['twice a']],
  ])('a node says of a write that is %s what it must', async (_, stored, read, lines) => {
    const said: string[] = []
    const kv = {
      commit: () => Promise.resolve(stored),
      get: () =>
        Promise.resolve(read === null ? null : { key: ['op', 'a'], value: read, version: 1 as never }),
    }
    await write(kv, (line) => said.push(line), 'a', 0)
    expect(said).toEqual(lines)
  })
})

describe('the load, of a server that lies', () => {
  /** Keeps ideas as the platform does, but for the one lie; ends the load after so many have been made. */
  async function wrongOf(
    lie: {
      readonly reads?: string
      readonly change?: number
      readonly deletion?: number
      readonly age?: string
    },
    count = 1,
  ) {
    const ideas = new Map<string, Record<string, string>>()
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const id = new URL(request.url).pathname.split('/')[4] ?? `i${ideas.size}`
        if (request.method === 'GET') {
          const idea = { ...ideas.get(id), ...(lie.reads !== undefined && { body: lie.reads }) }
          const headers: Record<string, string> = lie.age === undefined ? {} : { age: lie.age }
          return Response.json({ idea }, { status: ideas.has(id) ? 200 : 404, headers })
        }
        if (request.method === 'DELETE') {
          if (lie.deletion === undefined) ideas.delete(id)
          return Response.json({}, { status: lie.deletion ?? 200 })
        }
        if (request.method === 'PATCH' && lie.change !== undefined)
          return Response.json({}, { status: lie.change })
        ideas.set(id, { ...ideas.get(id), ...((await request.json()) as Record<string, string>) })
        load.isOver = ideas.size >= count
        return Response.json({ id })
      },
    })
    const asked = { name: 's0', base: `http://127.0.0.1:${server.port}` }
    const load = new Load(
      [asked],
      () => 0,
      () => Promise.resolve(),
    )
    await load.write(0)
    await server.stop(true)
    const { reads, wrong, kept, deleted } = load
    const stored = [...ideas].map(([id, idea]) => ({ id, title: idea['title']!, body: idea['body']! }))
    return serverFindings({ ...clean(), reads, wrong, kept, deleted, ideas: stored })
  }

  test('one that does what it says is believed', async () => {
    expect(await wrongOf({})).toEqual([])
  })

  test('one that shows what was before its own change is found out', async () => {
    expect(await wrongOf({ reads: 'first' })).toEqual([
      'stale: idea 0.0 is 200 first on the server that has just stored second',
    ])
  })

  test('one that refuses a change, or answers it and forgets it, is found out', async () => {
    expect(await wrongOf({ change: 403 })).toEqual(['changing idea 0.0 was answered 403'])
    expect(await wrongOf({ change: 200, reads: 'second' })).toEqual([
      'stale: idea 0.0 is 200 second on the server that has just stored first',
      'lost: idea 0.0 second, stored is idea 0.0 first',
    ])
  })

  test('one that does not delete what it should is found out', async () => {
    expect(await wrongOf({}, 401)).toEqual([])
    expect(await wrongOf({ deletion: 200 }, 401)).toEqual([
      'stale: idea 0.0 second is 200 second on the server that has just deleted it',
      'lost: the end of idea 0.0 second, which is stored',
    ])
    expect(await wrongOf({ deletion: 403 }, 401)).toContain('deleting idea 0.0 second was answered 403')
  }, 60_000)

  test('what is said to be of before is not held against a server, unless there is nothing else', async () => {
    expect(await wrongOf({ reads: 'first', age: '3' })).toEqual(['no change was read back'])
  })
})

test('a streamed series has every second, and its alert fires on those that are high', async () => {
  const high = FIRES_EVERY * SECOND_MS
  const from = (Math.ceil(Date.now() / high) + 1) * high
  const exchange = { from, to: from + 2 * high, subscriptions: 6, twice: new Overlap() }
  const made = { status: 200, json: { alert: { id: 'al' } }, tries: 1 }
  const live = new Live({ ask: () => Promise.resolve(made) }, exchange)
  await live.prepare()
  const rows = Array.from({ length: 2 * FIRES_EVERY }, (_, i) => from + i * SECOND_MS)
  const [[first] = []] = await live.shown(({ symbol = '' }) => {
    const all = rows.map((time) => liveRow(Number(/\d/.exec(symbol)), time))
    const column = (i: number) => all.map((row) => row[i]!)
    const [open, high, low, close, volume] = [0, 1, 2, 3, 4].map(column)
    return Promise.resolve(
      new Map([['s0', { time: rows, open: open!, high: high!, low: low!, close: close!, volume: volume! }]]),
    )
  })
  expect(first).toMatchObject({ name: 'LIVE0USDT', alertId: 'al', fires: [from, from + high] })
  expect(first?.rows.size).toBe(40)
  expect([...first!.rows].filter(([, row]) => row.split(',')[3] === `${HIGH}`).map(([time]) => time)).toEqual(
    first!.fires as number[],
  )
  expect([from - high, from, from + SECOND_MS, from + 2 * high, from + 3 * high].map(first!.mayFire)).toEqual(
    [false, true, false, true, false],
  )
})
