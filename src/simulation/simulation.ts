// A whole server in a world that comes out of a seed: its users, its bars, its faults, and checks of what it promises. The
// same seed and options make the same run, to the line.

import { migrate } from '../store/migrate.ts'
import { Disk } from './disk.ts'
import { History, type Finding } from './history.ts'
import { feedBars, Person } from './people.ts'
import { Receivers } from './receivers.ts'
import { Server, type Keeping } from './servers.ts'
import { EPOCH, Timeline } from './timeline.ts'

export interface SimulationOptions {
  readonly seed: number
  /** For how long there are users and faults, in hours of the simulated time. */
  readonly hours: number
  readonly users: number
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

export const FAULTS = {
  kill: 'a server is killed',
  stop: 'a server is asked to stop, and started again',
  cut: 'nothing that clients send or are sent arrives',
  full: 'the disk is full',
  broken: 'some writes fail',
  slow: 'flushes take up to two seconds',
  receivers: 'receivers are late, refuse, or are not heard',
  clock: 'the clock of a server is set',
} as const
export type Fault = keyof typeof FAULTS
export const ALL_FAULTS = Object.keys(FAULTS) as Fault[]

export async function simulate({ seed, hours, users, faults }: SimulationOptions): Promise<Outcome> {
  const timeline = new Timeline(seed)
  const history = new History(timeline)
  const receivers = new Receivers(timeline, history)
  const disk = new Disk(timeline)
  await disk.prepare()
  const server = new Server('server-1', timeline, aloneOn(disk, timeline), receivers, {
    aheadMs: 0,
    drift: faults.includes('clock') ? 1e-5 * (timeline.random.uniform() - 0.5) : 0,
  })
  void server.keepUp()
  const people = Array.from({ length: users }, (_, i) => new Person(i + 1, timeline, history, [server]))
  const [owner] = people
  const end = EPOCH + hours * HOUR
  const isOver = () => timeline.now >= end
  // The first who signs up owns the server, and what the owner feeds is everybody's.
  void (async () => {
    await owner?.arrive()
    if (owner) void feedBars(owner, timeline, history, isOver)
    for (const person of people) void person.live()
  })()
  const world: Faulty = { server, disk, receivers, history, timeline }
  if (faults.length > 0) void haveFaults(world, faults, isOver)
  for (let at = EPOCH + CHECK_MS; at <= end && history.findings.length === 0; at += CHECK_MS) {
    await timeline.run(Math.min(at, end), () => history.findings.length > 0)
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
  readonly server: Server
  readonly disk: Disk
  readonly receivers: Receivers
  readonly history: History
  readonly timeline: Timeline
}

function aloneOn(disk: Disk, timeline: Timeline): Keeping {
  return {
    async open(life) {
      const kv = disk.kvOf(life)
      await migrate(kv)
      return {
        kv,
        bars: disk.barsOf(life),
        pages: null,
        lost: new Promise(() => {}),
        feed: null,
        fleet: null,
        lastKnown: null,
        close: async () => {},
      }
    },
    async crashed(life) {
      const lost = await disk.crash()
      timeline.tell(life.name, `${lost} commits were not flushed`)
    },
  }
}

async function haveFaults(world: Faulty, faults: readonly Fault[], isOver: () => boolean): Promise<void> {
  const { timeline } = world
  for (;;) {
    await timeline.pause(timeline.between(10_000, HOUR / 2))
    if (isOver()) return
    await haveFault(world, timeline.pick(faults))
  }
}

async function haveFault(
  { server, disk, receivers, history, timeline }: Faulty,
  fault: Fault,
): Promise<void> {
  const lasting = () => timeline.pause(timeline.between(1000, 600_000))
  // What ends a server does most harm while something is under way.
  if ((fault === 'kill' || fault === 'stop') && !timeline.once(4)) {
    await Promise.race([receivers.nextAttempt(), timeline.pause(HOUR / 4)])
    await timeline.pause(timeline.between(0, 200))
  }
  timeline.tell('FAULT', FAULTS[fault])
  if (fault === 'kill') return server.kill()
  if (fault === 'stop') return server.stop()
  if (fault === 'clock') {
    server.skew.aheadMs = timeline.between(-5000, 5000)
    return
  }
  const isOfStore = fault === 'full' || fault === 'broken' || fault === 'slow'
  if (isOfStore) history.storeFaults.push({ from: timeline.now, to: Infinity })
  if (fault === 'cut') server.isCutOff = true
  if (fault === 'full') disk.isFull = true
  if (fault === 'broken') disk.failing = timeline.between(1, 60)
  history.isStoreBroken = disk.failing > 0
  if (fault === 'slow') disk.flushMs = 2000
  if (fault === 'receivers') receivers.troubles = timeline.between(10, 100)
  await lasting()
  if (isOfStore) history.storeFaults.at(-1)!.to = timeline.now
  server.isCutOff = false
  disk.isFull = false
  disk.failing = 0
  history.isStoreBroken = false
  disk.flushMs = 8
  receivers.troubles = 0
  timeline.tell('FAULT', 'is over')
}

/** What holds at any time. */
async function check({ disk, history }: Faulty, isLast: boolean): Promise<void> {
  await history.checkFirings(disk.kv, isLast)
  await history.checkCounts(disk.kv)
}

/** Nobody does anything any more, and nothing is in the way of what is pending. */
async function settle(world: Faulty, people: readonly Person[]): Promise<void> {
  const { timeline, history, disk } = world
  timeline.tell('FAULT', 'there are none from here on')
  for (const person of people) person.isDone = true
  const looked = { isDone: false }
  void (async () => {
    for (const person of people) await person.lookAtAll()
    looked.isDone = true
  })()
  const until = timeline.now + SETTLING_MS
  let pending: readonly string[] = []
  do {
    await timeline.run(timeline.now + HOUR)
    pending = await history.pending(disk.kv)
  } while (timeline.now < until && (!looked.isDone || pending.length > 0))
  if (!looked.isDone) history.found('settled', 'a day after the last fault, not everybody has an answer')
  for (const what of pending) history.found('settled', `a day after the last fault ${what} is still pending`)
  await check(world, true)
}
