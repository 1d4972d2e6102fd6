// Whole servers in a world that comes out of a seed: their users, bars and faults, and checks of what they promise. The
// same seed and options make the same run, to the line.

import { SHARDS } from '../lib/shards.ts'
import { Exchange } from './exchange.ts'
import { CHANGING_MS, History, MOMENTS, QUIET_MS, THAW_MS, type Finding } from './history.ts'
import { aloneOnDisk, type Keeping, STORE_FAULTS, togetherOnPostgres } from './keeping.ts'
import { loadAll } from './loaded.ts'
import { feedBars, Person } from './people.ts'
import { Receivers } from './receivers.ts'
import { Server } from './servers.ts'
import { EPOCH, Timeline } from './timeline.ts'

export interface SimulationOptions {
  readonly seed: number
  /** For how long there are users and faults, in hours of the simulated time. */
  readonly hours: number
  readonly users: number
  /** One has a disk of its own, several share a database. */
  readonly servers: number
  /** Which faults there are. */
  readonly faults: readonly Fault[]
}

export interface Outcome {
  readonly findings: readonly Finding[]
  readonly digest: string
  readonly trace: readonly string[]
  readonly happened: number
  readonly counts: History['counts']
}

const HOUR = 3_600_000
const CHECK_MS = HOUR
/** Whatever is pending when the faults have stopped has come to its end after this. */
const SETTLING_MS = 26 * HOUR
const SETTLING_STEP_MS = HOUR / 4

export const FAULTS = {
  kill: 'a server is killed',
  stop: 'a server is asked to stop, and started again',
  freeze: 'a server stands still for up to 20 seconds',
  cut: 'nothing that clients of a server send or are sent arrives',
  receivers: 'receivers are late, refuse, or are not heard',
  exchange: 'an exchange is late, silent, repeats itself, cuts or refuses',
  clock: 'the clock of a server is set',
  ...STORE_FAULTS,
} as const
export type Fault = keyof typeof FAULTS
export const ALL_FAULTS = Object.keys(FAULTS) as Fault[]

export async function simulate(options: SimulationOptions): Promise<Outcome> {
  await loadAll()
  const timeline = new Timeline(options.seed)
  // Workers, which are on this thread here, measure by it how long they take.
  const realNow = performance.now
  performance.now = () => timeline.now - EPOCH
  try {
    return await liveThrough(timeline, options)
  } finally {
    performance.now = realNow
  }
}

async function liveThrough(timeline: Timeline, options: SimulationOptions): Promise<Outcome> {
  const { hours, users, faults } = options
  const history = new History(timeline)
  const exchange = new Exchange(timeline, history)
  const receivers = new Receivers(timeline, history, exchange)
  const keeping = options.servers === 1 ? await aloneOnDisk(timeline) : togetherOnPostgres(timeline, history)
  const servers = Array.from({ length: options.servers }, (_, i) => {
    const drift = faults.includes('clock') ? 1e-5 * (timeline.random.uniform() - 0.5) : 0
    return new Server(`server-${i + 1}`, timeline, history, keeping, receivers, { aheadMs: 0, drift })
  })
  for (const server of servers) void server.keepUp()
  const people = Array.from({ length: users }, (_, i) => new Person(i + 1, timeline, history, servers))
  const [owner] = people
  const end = EPOCH + hours * HOUR
  const isOver = () => timeline.now >= end
  // The first who signs up owns the servers, and what the owner feeds is everybody's.
  void (async () => {
    await owner?.arrive()
    if (owner) void feedBars(owner, timeline, history, keeping, isOver)
    if (owner) void exchange.run(owner.call)
    for (const person of people) void person.live()
  })()
  const world: Faulty = { servers, people, keeping, receivers, exchange, history, timeline }
  receivers.isDeadly = faults.includes('kill')
  if (faults.length > 0) void haveFaults(world, faults, isOver)
  if (servers.length > 1) void watchShards(world)
  for (let at = EPOCH; at < end && history.findings.length === 0;) {
    at = Math.min(at + CHECK_MS, end)
    await timeline.run(at, () => history.findings.length > 0)
    await check(world, false)
  }
  if (history.findings.length === 0) await settle(world, people)
  return {
    findings: history.findings,
    digest: timeline.digest,
    trace: timeline.trace(),
    happened: timeline.happened,
    counts: history.counts,
  }
}

interface Faulty {
  readonly servers: readonly Server[]
  readonly people: readonly Person[]
  readonly keeping: Keeping
  readonly receivers: Receivers
  readonly exchange: Exchange
  readonly history: History
  readonly timeline: Timeline
}

async function haveFaults(world: Faulty, faults: readonly Fault[], isOver: () => boolean): Promise<void> {
  const { timeline, keeping } = world
  const possible = faults.filter((fault) => !(fault in STORE_FAULTS) || fault in keeping.faults)
  if (possible.length === 0) return
  for (;;) {
    await timeline.pause(timeline.between(10_000, HOUR / 4))
    if (isOver()) return
    await haveFault(world, timeline.pick(possible))
  }
}

async function haveFault(world: Faulty, fault: Fault): Promise<void> {
  const { servers, history, timeline } = world
  const server = timeline.pick(servers)
  // What ends a server does most harm while something is under way.
  if ((fault === 'kill' || fault === 'stop' || fault === 'freeze') && !timeline.once(4)) {
    await Promise.race([history.nextMoment(timeline.pick(MOMENTS)), timeline.pause(HOUR / 4)])
    await timeline.pause(timeline.between(0, timeline.once(2) ? 20 : 200))
  }
  timeline.tell('FAULT', FAULTS[fault])
  history.quietSince = Infinity
  await befall(world, fault, server)
  history.quietSince = timeline.now + QUIET_MS
}

async function befall(
  { people, keeping, receivers, exchange, history, timeline }: Faulty,
  fault: Fault,
  server: Server,
): Promise<void> {
  if (fault === 'kill') return server.kill()
  if (fault === 'old') keeping.faults.old?.(server.name, [])
  if (fault === 'stop' || fault === 'old') return server.stop()
  if (fault === 'clock') {
    server.skew.aheadMs = timeline.between(-5000, 5000)
    return
  }
  // Of what a server cannot store it, or another server, may not know.
  const span = { from: timeline.now, to: Infinity }
  let end = () => {}
  if (fault === 'cut') {
    server.isCutOff = true
    end = () => (server.isCutOff = false)
  } else if (fault === 'receivers') {
    receivers.troubles = timeline.between(10, 100)
    end = () => (receivers.troubles = 0)
  } else if (fault === 'exchange') {
    exchange.troubles = timeline.between(10, 100)
    end = () => (exchange.troubles = 0)
  } else if (fault === 'flip') {
    const doc = timeline.pick([...history.docs.values(), null])
    if (!doc) return
    timeline.tell('disk', `a bit flips in ${doc.path}/${doc.id} of ${doc.user}`)
    history.isDamaged(doc)
    for (const person of people) void (person.email === doc.user ? person.lookAtAll() : person.lookAtSome())
    const heal = keeping.faults.flip?.(server.name, [doc.path, 'id', doc.id])
    end = () => {
      heal?.()
      history.isHealed()
    }
  } else {
    history.storeFaults.push(span)
    history.isStoreBroken = fault === 'broken'
    history.wasStoreBroken ||= history.isStoreBroken
    if (fault === 'freeze') server.standStill(timeline.between(100, 20_000))
    else end = keeping.faults[fault]?.(server.name, []) ?? end
    // What a server shows without its store is what it should still know.
    for (const person of people) void person.lookAtSome()
  }
  const longestMs = fault === 'freeze' ? 20_000 : timeline.once(3) ? 600_000 : 60_000
  await timeline.pause(timeline.between(1000, longestMs))
  span.to = timeline.now
  history.isStoreBroken = false
  end()
  timeline.tell('FAULT', 'is over')
}

const WATCH_MS = 1000

/** No two servers do the work of the same shard, as far as they can know. */
async function watchShards({ servers, keeping, history, timeline }: Faulty): Promise<void> {
  for (;;) {
    await timeline.pause(WATCH_MS)
    if (timeline.now > keeping.shardsChangedAt() + CHANGING_MS) continue
    const able = servers.flatMap(({ name, fleet, life }) =>
      fleet && life && !life.isOver && timeline.now > life.standsUntil + THAW_MS && !fleet.isCutOff
        ? [{ name, held: fleet.held }]
        : [],
    )
    const holders = new Map<number, string>()
    for (const { name, held } of able)
      for (const shard of held) {
        const other = holders.get(shard)
        if (other !== undefined)
          return history.found(
            'exclusive',
            `${name} and ${other} both do the work of shard ${shard} of ${SHARDS}`,
          )
        holders.set(shard, name)
      }
  }
}

/** What holds at any time. */
async function check({ keeping, history }: Faulty, isLast: boolean): Promise<void> {
  await history.checkFirings(keeping.kv, isLast)
  await history.checkCounts(keeping.kv)
}

/** Nobody does anything any more, and nothing is in the way of what is pending. */
async function settle(world: Faulty, people: readonly Person[]): Promise<void> {
  const { timeline, history, keeping, receivers, exchange } = world
  timeline.tell('FAULT', 'there are none from here on')
  for (const person of people) person.isDone = true
  receivers.isDeadly = false
  const until = timeline.now + SETTLING_MS
  let pending: readonly string[] | null = null
  do {
    const looked: { pending: readonly string[] | null } = { pending: null }
    void (async () => {
      await timeline.pause(SETTLING_STEP_MS / 2)
      const left: string[] = []
      for (const person of people) {
        await person.lookAtAll()
        left.push(...(await person.jobs.judge()))
      }
      if (people[0]) left.push(...(await exchange.judge(people[0].call)))
      looked.pending = left
    })()
    await timeline.run(timeline.now + SETTLING_STEP_MS, () => history.findings.length > 0)
    pending = looked.pending && [...looked.pending, ...(await history.pending(keeping.kv))]
  } while (timeline.now < until && history.findings.length === 0 && pending?.length !== 0)
  if (!pending && history.findings.length === 0)
    history.found('settled', 'a day after the last fault, not everybody has an answer')
  for (const what of pending ?? [])
    history.found('settled', `a day after the last fault ${what} is still pending`)
  await check(world, true)
}
