// Who uses the servers: people who keep things, arm alerts and sign in and out, and one who feeds bars to all of them.

import type { BarStore } from '../market/bar-store.ts'
import { type Doc, type FedBar, type History, PROMPT_MS } from './history.ts'
import { type Call, Jobs } from './jobs.ts'
import type { Keeping } from './keeping.ts'
import type { Answer, Server } from './servers.ts'
import type { Timeline } from './timeline.ts'

const PASSWORD = 'correct horse battery'
/** A person thinks about that long between two things. */
const THINKING_MS = 60_000
const BAR_MS = 300_000
const SERIES = 3
const LEVEL = 100
/** How long before its end all of a bar is told that was told by halves, and how far clocks are wrong at most. */
const LAST_MS = 30_000
const CLOCKS_MS = 6000
/** What of a kind one person keeps at most. */
const KEPT = 6
const BARS_READ = 10
/** So many documents at most are looked at where not all are. */
const SOME = 6

/** Where a kind of document is, what makes one of that name, and what its answers call it. */
interface Kind {
  readonly path: string
  readonly made?: string
  readonly as: string
  readonly field: string
  /** `channels`: the user's own. */
  body(name: string, timeline: Timeline, channels: readonly string[]): object
}
const KINDS: readonly Kind[] = [
  {
    path: 'watchlists',
    made: 'watchlists/import',
    as: 'watchlist',
    field: 'name',
    body: (name) => ({ name, items: [] }),
  },
  {
    path: 'ideas',
    as: 'idea',
    field: 'title',
    body: (title) => ({ title, body: 'It rose before.', tags: [], visibility: 'private' }),
  },
  {
    path: 'webhooks',
    as: 'webhook',
    field: 'name',
    body: (name) => ({
      name,
      url: `https://${name.replace(/\W/g, '-')}.example/in`,
      events: ['alert.triggered'],
    }),
  },
  {
    path: 'channels',
    as: 'channel',
    field: 'name',
    body: (name) => ({
      name,
      kind: 'http',
      settings: { url: `https://${name.replace(/\W/g, '-')}.example/told` },
    }),
  },
  {
    path: 'alerts',
    as: 'alert',
    field: 'name',
    body: (name, timeline, channels) => ({
      name,
      ...seriesOf(timeline.random.below(SERIES)),
      kind: 'price',
      op: 'above',
      price: LEVEL,
      frequency: timeline.once(3) ? 'once_per_bar_close' : 'every_time',
      channels: ['webhook', 'email'],
      channelIds: channels.slice(0, 2),
    }),
  },
]

const seriesOf = (series: number) => ({ exchange: 'SIM', symbol: `S${series}`, interval: '5m' })

export class Person {
  readonly email: string
  isDone = false
  #cookie: string | undefined
  /** The session may be over before the answer says so, and others ask by it meanwhile. */
  #isLeaving = false
  readonly #ended: string[] = []
  readonly #timeline: Timeline
  readonly #history: History
  readonly #servers: readonly Server[]
  #names = 0
  readonly call: Call = (...asked) => this.#call(...asked)
  readonly jobs: Jobs

  constructor(number: number, timeline: Timeline, history: History, servers: readonly Server[]) {
    this.email = `person${number}@example.com`
    this.#timeline = timeline
    this.#history = history
    this.#servers = servers
    this.jobs = new Jobs(this.call, timeline, history)
  }

  /** Signs up, however often it has to be tried. */
  async arrive(): Promise<void> {
    for (;;) {
      const body = { email: this.email, password: PASSWORD }
      const made = await this.#call('POST', '/api/auth/sign-up', body)
      if (made?.status === 409 || made?.status === 403) await this.#signIn()
      else if (made?.status === 200) this.#cookie = made.cookie ?? undefined
      if (this.#cookie !== undefined) return
      await this.#timeline.pause(1000)
    }
  }

  async live(): Promise<void> {
    await this.arrive()
    while (!this.isDone) {
      await this.#timeline.pause(this.#timeline.between(1000, 2 * THINKING_MS))
      if (!this.isDone) await this.#doSomething()
    }
  }

  /** Posts bars until they are taken. */
  async feed(rows: readonly string[], series: number): Promise<void> {
    const csv = `time,open,high,low,close,volume\n${rows.join('\n')}\n`
    const { exchange, symbol, interval } = seriesOf(series)
    const path = `/api/platform/bars/import?exchange=${exchange}&symbol=${symbol}&interval=${interval}`
    for (;;) {
      if (this.#timeline.once(2)) this.#history.isMoment('bars')
      const answer = await this.#call('POST', path, csv)
      this.#history.isMoment('bars')
      if (answer?.status === 200) return
      await this.#timeline.pause(2000)
    }
  }

  /** Reads the last bars of a series from every server, while nobody writes any. */
  async readBars(bars: BarStore, series: number): Promise<void> {
    const key = seriesOf(series)
    const { time, close } = (await bars.read(key, { last: BARS_READ })).bars
    const stored = [...time, ...close].join()
    const path = `/api/platform/bars?exchange=${key.exchange}&symbol=${key.symbol}&interval=${key.interval}&limit=${BARS_READ}`
    for (const server of this.#servers) {
      const answer = await this.#call('GET', path, undefined, false, server)
      if (answer?.status !== 200 || answer.isOld) continue
      const seen = [...answer.json.bars.time, ...answer.json.bars.close].join()
      if (seen !== stored)
        this.#history.found(
          'looked',
          `${server.name} shows ${seen} of ${key.symbol}, and ${stored} is stored`,
        )
    }
  }

  /** Reads all that is this person's once more, and what was. */
  async lookAtAll(): Promise<void> {
    for (const doc of this.#docs()) await this.#look(doc)
  }

  /** Reads some of it. */
  async lookAtSome(): Promise<void> {
    const docs = this.#docs()
    const seen = docs.length === 0 ? [] : Array.from({ length: SOME }, () => this.#timeline.pick(docs))
    for (const doc of new Set(seen)) await this.#look(doc)
  }

  async #doSomething(): Promise<void> {
    const dice = this.#timeline.random.below(100)
    const docs = this.#docs().filter(({ value }) => value !== null)
    const doc = docs.length > 0 ? this.#timeline.pick(docs) : null
    if (this.#timeline.once(8))
      await this.jobs.deal(this.#name(), seriesOf(this.#timeline.random.below(SERIES)))
    else if (dice < 25 || !doc) await this.#make()
    else if (dice < 50) await this.#change(doc)
    else if (dice < 60) await this.#remove(doc)
    else if (dice < 80) await this.#look(doc)
    else if (dice < 90) await this.#pry()
    else if (dice < 96) await this.#signOut()
    else await this.#useEnded()
  }

  #docs(): Doc[] {
    return [...this.#history.docs.values()].filter(({ user }) => user === this.email)
  }

  async #make(): Promise<void> {
    const kind = this.#timeline.pick(KINDS)
    if (this.#docs().filter(({ path, value }) => path === kind.path && value !== null).length >= KEPT) return
    // Two at once are counted by the same counter.
    await Promise.all(Array.from({ length: this.#timeline.between(1, 2) }, () => this.#makeOne(kind)))
  }

  async #makeOne(kind: Kind): Promise<void> {
    const name = this.#name()
    const channels = this.#docs().filter(({ path, value }) => path === 'channels' && value !== null)
    const body = kind.body(
      name,
      this.#timeline,
      channels.map(({ id }) => id),
    )
    const answer = await this.#call('POST', `/api/platform/${kind.made ?? kind.path}`, body)
    const id = answer?.status === 200 ? String(answer.json.id) : null
    if (id === null) return
    const { docs, alerts } = this.#history
    docs.set(id, {
      id,
      user: this.email,
      path: kind.path,
      value: name,
      maybe: [],
      by: answer?.life ?? null,
      openUntil: 0,
    })
    if (kind.path !== 'alerts') return
    const series = Number((body as { symbol: string }).symbol.slice(1))
    const isOfCloses = (body as { frequency?: string }).frequency === 'once_per_bar_close'
    alerts.set(id, { id, series, isOfCloses, armedAt: this.#timeline.now, endedAt: null })
  }

  async #change(doc: Doc): Promise<void> {
    const name = this.#name()
    const { field } = KINDS.find(({ path }) => path === doc.path)!
    await this.#write(doc, name, 'PATCH', { [field]: name })
  }

  async #remove(doc: Doc): Promise<void> {
    const alert = this.#history.alerts.get(doc.id)
    if (alert) this.#history.alerts.set(doc.id, { ...alert, endedAt: this.#timeline.now })
    await this.#write(doc, null, 'DELETE')
  }

  async #write(doc: Doc, value: string | null, method: string, body?: unknown): Promise<void> {
    if (this.#timeline.now < doc.openUntil) return
    // From here on it may be read as either.
    doc.maybe.push(value)
    const answer = await this.#call(method, pathOf(doc), body)
    if (answer && answer.status < 300) {
      doc.value = value
      doc.by = answer.life
      doc.maybe = []
    } else if (answer?.status === 404) this.#history.read(doc, null)
    else doc.openUntil = this.#timeline.now + 60_000
    if (answer) await this.#look(doc)
  }

  async #look(doc: Doc): Promise<void> {
    const cookie = this.#cookie
    const answer = await this.#call('GET', pathOf(doc))
    if (cookie === undefined || !this.#isStill(cookie)) return
    const { as, field } = KINDS.find(({ path }) => path === doc.path)!
    // While the database is away, what it said before is shown, and said to be old; but not to who knows better.
    if (answer?.isOld === true && answer.life !== doc.by) return
    if (answer?.status === 200) this.#history.read(doc, String(answer.json[as][field]))
    else if (answer?.status === 404) this.#history.read(doc, null)
  }

  /** Looks for what is another's. */
  async #pry(): Promise<void> {
    const others = [...this.#history.docs.values()].filter(({ user }) => user !== this.email)
    if (others.length === 0) return
    const doc = this.#timeline.pick(others)
    const answer = await this.#call(this.#timeline.once(3) ? 'DELETE' : 'GET', pathOf(doc))
    if (answer && answer.status < 300)
      this.#history.found('private', `${this.email} got at ${doc.path}/${doc.id} of ${doc.user}`)
  }

  async #signOut(): Promise<void> {
    const cookie = this.#cookie
    this.#isLeaving = true
    let status = 0
    // Without an answer it may be over, or not.
    while (status !== 200 && status !== 401) {
      status = (await this.#call('POST', '/api/auth/sign-out'))?.status ?? 0
      await this.#timeline.pause(500)
    }
    this.#isLeaving = false
    if (status === 200 && cookie !== undefined) this.#ended.push(cookie)
    this.#cookie = undefined
    while (this.#cookie === undefined) {
      await this.#signIn()
      await this.#timeline.pause(500)
    }
  }

  async #signIn(): Promise<void> {
    const answer = await this.#call('POST', '/api/auth/sign-in', { email: this.email, password: PASSWORD })
    if (answer?.status === 200) this.#cookie = answer.cookie ?? undefined
  }

  async #useEnded(): Promise<void> {
    const cookie = this.#ended.at(-1)
    if (cookie === undefined) return
    const server = this.#server()
    const answer = await server.call('GET', '/api/platform/watchlists', { cookie })
    if (answer && answer.status < 300 && !answer.isOld)
      this.#history.found(
        'revoked',
        `a session of ${this.email} that was ended is answered by ${server.name}`,
      )
  }

  async #call(
    method: string,
    path: string,
    body?: unknown,
    isForLater = false,
    server = this.#server(),
  ): Promise<Answer | null> {
    const { counts } = this.#history
    const cookie = this.#cookie
    const answer = await server.call(method, path, { body, cookie, isForLater })
    counts.calls++
    if (!answer) counts.unanswered++
    else if (answer.status >= 500) counts.refused++
    const said = typeof body === 'string' ? ' bars' : ''
    this.#timeline.tell(
      this.email,
      `${method} ${path}${said} at ${server.name}: ${answer?.status ?? 'no answer'}`,
    )
    // Nobody can say more of a disk that breaks.
    if (answer?.status === 500 && !this.#history.isRefused(this.email))
      this.#history.found(
        'answered',
        `${method} ${path} of ${server.name} is answered by 500: ${JSON.stringify(answer.json)}`,
      )
    // A session is ended by nobody but its user.
    if (
      answer?.status === 401 &&
      cookie !== undefined &&
      this.#isStill(cookie) &&
      !path.startsWith('/api/auth')
    )
      this.#history.found('durable', `the session of ${this.email} is not known any more to ${server.name}`)
    return answer
  }

  #isStill(cookie: string): boolean {
    return this.#cookie === cookie && !this.#isLeaving
  }

  #server(): Server {
    const able = this.#servers.filter(({ answers }) => answers)
    return this.#timeline.pick(able.length > 0 ? able : this.#servers)
  }

  #name(): string {
    return `${this.email.split('@')[0]} ${++this.#names}`
  }
}

const pathOf = ({ path, id }: Doc) => `/api/platform/${path}/${id}`

/** Feeds a bar to each series as it closes, now above what the alerts wait for and now below it, and corrects some. */
export async function feedBars(
  feeder: Person,
  timeline: Timeline,
  history: History,
  { kv, bars }: Keeping,
  isOver: () => boolean,
): Promise<void> {
  await feeder.arrive()
  for (;;) {
    // The market rests, so that nothing comes after what came last.
    if (timeline.once(4)) {
      await timeline.pause(2 * BAR_MS)
      await history.checkLooked(kv, bars)
      for (let series = 0; series < SERIES; series++) await feeder.readBars(bars, series)
    }
    const next = (Math.floor(timeline.now / BAR_MS) + 1) * BAR_MS
    // Of some bars one half is told before, which may look otherwise.
    const forming = timeline.once(3) ? timeline.random.below(SERIES) : null
    await timeline.pause((next - timeline.now) / 2)
    if (isOver()) return
    const barOf = (series: number, halfHigh: boolean | null): FedBar => ({
      series,
      time: next - BAR_MS,
      isHigh: timeline.once(3),
      halfHigh,
      askedAt: timeline.now,
      storedAt: null,
      isWholeAtClose: false,
    })
    const half = forming === null ? null : barOf(forming, timeline.once(2))
    if (half) {
      history.bars.push(half)
      await feeder.feed([rowOf(half.time, half.halfHigh === true, 2)], half.series)
      // All of it is told before it is over, by whichever clock.
      await timeline.pause(next - LAST_MS - timeline.now)
      await feeder.feed([rowOf(half.time, half.isHigh, 5)], half.series)
      half.storedAt = timeline.now
      half.isWholeAtClose = timeline.now < next - CLOCKS_MS
    }
    await timeline.pause(next - timeline.now + timeline.between(500, 20_000))
    if (isOver()) return
    for (let series = 0; series < SERIES; series++) {
      if (half?.series === series) continue
      const bar = barOf(series, null)
      history.bars.push(bar)
      const before = history.bars.findLast((one) => one.series === series && one.time < bar.time)
      // What is corrected comes at about the same time, while the other is looked at or before.
      const correct = async (time: number, isHigh: boolean) => {
        await timeline.pause(timeline.between(0, 40))
        await feeder.feed([rowOf(time, isHigh, 7)], series)
      }
      await Promise.all([
        before && timeline.once(2) && correct(before.time, before.isHigh),
        timeline
          .pause(timeline.between(0, 80))
          .then(() => feeder.feed([rowOf(bar.time, bar.isHigh, 5)], series)),
      ])
      bar.storedAt = timeline.now
      timeline.after(PROMPT_MS, () => void history.checkPrompt(kv, bar))
    }
  }
}

function rowOf(time: number, isHigh: boolean, volume: number): string {
  const close = isHigh ? LEVEL + 10 : LEVEL - 10
  return [time, close, close + 1, close - 1, close, volume].join(',')
}
