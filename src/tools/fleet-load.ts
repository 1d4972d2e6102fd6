// What `bun run fleet-test --servers N` asks of its servers without a pause, and what it knows from their answers: ideas that
// are written, changed and deleted, and bars that are imported and corrected. After each change the server that has answered
// it is asked what it shows, which must not be older.

import { rowsOf, type OwnRead, type Series, type Shown, type ShownBars } from './fleet-verdict.ts'

const SYMBOLS = 6
const HOUR_MS = 3_600_000
const START = Date.UTC(2020, 0, 1)
/** How many ideas a writer keeps; the oldest are deleted. All writers together stay below what a user may have. */
const IDEAS_KEPT = 400
/** One bar in so many is corrected. */
const CORRECTED = 3
const PATIENCE_MS = 200_000
/** A request whose server was stopped in the middle of it is given up after this long. */
const REQUEST_MS = 15_000
/** How often we say what an unanswered request is waiting for. */
const SLOW_MS = 20_000

/** A server as who asks it knows it. */
interface Asked {
  readonly name: string
  /** null: it does not serve. */
  readonly base: string | null
}

interface Answered<Server> {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
  readonly server: Server
  /** It comes from what the server remembers while the database is away, and says so. */
  readonly isOld: boolean
  /** How often it was asked for; an earlier request may still be done after this one. */
  readonly tries: number
}

export class Load<Server extends Asked> {
  readonly #servers: readonly Server[]
  readonly #random: (below: number) => number
  readonly #waiting: (path: string, answers: ReadonlyMap<string, number>) => Promise<void>
  #headers: Readonly<Record<string, string>> = {}
  /** Title and body of ideas that must be there, by the id that was answered, and of those that must not. */
  readonly kept = new Map<string, string>()
  readonly deleted = new Map<string, string>()
  readonly wrong: string[] = []
  /** What a server answered after a change of its own. */
  readonly reads: OwnRead[] = []
  /** Such answers that the server said are of before. */
  remembered = 0
  /** Bars that were acknowledged, by symbol: values as they are shown. */
  readonly bars: string[][] = Array.from({ length: SYMBOLS }, () => [])
  readonly #alerts: string[] = []
  /** When each bar was acknowledged. */
  readonly #ackedAt = new Map<string, string>()
  acknowledged = 0
  repeated = 0
  isOver = false
  /** The longest time that a request went without an answer, from whichever server. */
  longestMs = 0

  /** `waiting` is told of a request that nobody answers, with how often it was refused and how. */
  constructor(
    servers: readonly Server[],
    random: (below: number) => number,
    waiting: (path: string, answers: ReadonlyMap<string, number>) => Promise<void>,
  ) {
    this.#servers = servers
    this.#random = random
    this.#waiting = waiting
  }

  get barCount(): number {
    return this.bars.reduce((sum, { length }) => sum + length, 0)
  }

  /** Asks one server after the other until one answers something other than a refusal, and not from memory. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answered<Server>> {
    const from = performance.now()
    let toldAt = from
    const answers = new Map<string, number>()
    for (let tries = 1; ; tries++) {
      const server = this.#servers[this.#random(this.#servers.length)]
      const answered = server?.base ? await this.#asked(server, method, path, body, headers) : null
      const now = performance.now()
      if (answered && !answered.isOld && answered.status < 500 && answered.status !== 409) {
        this.longestMs = Math.max(this.longestMs, now - from)
        return { ...answered, tries }
      }
      const said = `${server?.name} ${answered ? `${answered.status} ${answered.json?.error?.code}` : (server?.base ?? 'no port')}`
      answers.set(said, (answers.get(said) ?? 0) + 1)
      if (now - from > PATIENCE_MS) {
        this.wrong.push(`${method} ${path} was never answered`)
        throw new Error(`${method} ${path} was not answered`)
      }
      if (now - toldAt > SLOW_MS) {
        toldAt = now
        await this.#waiting(`${method} ${path} for ${((now - from) / 1000).toFixed(1)} s`, answers)
      }
      this.repeated++
      await Bun.sleep(50)
    }
  }

  async #asked(
    server: Server,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answered<Server> | null> {
    try {
      const response = await fetch(server.base + path, {
        method,
        headers: { 'content-type': 'application/json', ...this.#headers, ...headers },
        signal: AbortSignal.timeout(REQUEST_MS),
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      const cookie = /^[^;]+/.exec(response.headers.get('set-cookie') ?? '')?.[0]
      if (cookie !== undefined) this.#headers = { cookie }
      return {
        status: response.status,
        json: text.startsWith('{') ? JSON.parse(text) : null,
        server,
        isOld: response.headers.has('age'),
        tries: 1,
      }
    } catch {
      return null
    }
  }

  /** Asks the server that has made a change for it, unless it does not answer, or from memory. */
  async #readBack(
    { server }: Answered<Server>,
    path: string,
    change: Pick<OwnRead, 'subject' | 'wanted'>,
    // oxlint-disable-next-line typescript/no-explicit-any
    shownOf: (json: any) => unknown,
  ): Promise<void> {
    const read = await this.#asked(server, 'GET', path)
    if (read?.isOld === true) this.remembered++
    if (!read || read.isOld || read.status >= 500) return
    this.reads.push({ ...change, status: read.status, shown: String(shownOf(read.json)) })
  }

  /** Ideas, each of which is written, changed, and deleted when it is one of the oldest. */
  async write(writer: number): Promise<void> {
    const mine: string[] = []
    for (let i = 0; !this.isOver; i++) {
      const title = `idea ${writer}.${i}`
      const made = await this.ask(
        'POST',
        '/api/platform/ideas',
        { title, body: 'first', visibility: 'private' },
        { 'idempotency-key': title },
      )
      if (made.status !== 200) {
        this.wrong.push(`${title} was answered ${made.status}: ${JSON.stringify(made.json)}`)
        continue
      }
      const { id } = made.json as { readonly id: string }
      const path = `/api/platform/ideas/${id}`
      this.acknowledged++
      this.kept.set(id, `${title} first`)
      mine.push(id)
      await this.#readIdea(made, path, title, 'first')
      const changed = await this.ask('PATCH', path, { body: 'second' })
      if (changed.status !== 200) this.wrong.push(`changing ${title} was answered ${changed.status}`)
      else {
        this.acknowledged++
        this.kept.set(id, `${title} second`)
        await this.#readIdea(changed, path, title, 'second')
      }
      const oldest = mine.length > IDEAS_KEPT ? mine.shift() : undefined
      if (oldest !== undefined) await this.#delete(oldest)
    }
  }

  #readIdea(by: Answered<Server>, path: string, subject: string, wanted: string | null): Promise<void> {
    return this.#readBack(by, path, { subject, wanted }, (json) => json?.idea?.body)
  }

  async #delete(id: string): Promise<void> {
    const path = `/api/platform/ideas/${id}`
    const text = this.kept.get(id) ?? ''
    const gone = await this.ask('DELETE', path)
    // It may have been deleted by a request that was not answered.
    if (gone.status !== 200 && !(gone.status === 404 && gone.tries > 1))
      this.wrong.push(`deleting ${text} was answered ${gone.status}`)
    this.acknowledged++
    this.deleted.set(id, text)
    this.kept.delete(id)
    await this.#readIdea(gone, path, text, null)
  }

  /** One bar after the other, each of which fires the alert of its symbol; some are then corrected. */
  async feed(symbol: number): Promise<void> {
    const bars = this.bars[symbol]!
    while (!this.isOver) {
      const i = bars.length
      const imported = await this.#import(symbol, i, 5)
      // A first try that is still under way would be stored after the correction.
      if (imported?.tries === 1 && i % CORRECTED === 0) await this.#import(symbol, i, 6)
      await Bun.sleep(20)
    }
  }

  async #import(symbol: number, i: number, volume: number): Promise<Answered<Server> | null> {
    const row = `10,12,9,${10 + (i % 2)},${volume}`
    const time = START + i * HOUR_MS
    const imported = await this.ask(
      'POST',
      `/api/platform/bars/import?${queryOf(symbol)}`,
      `time,open,high,low,close,volume\n${time},${row}\n`,
      { 'content-type': 'text/csv' },
    )
    if (imported.status !== 200) {
      this.wrong.push(`a bar was answered ${imported.status}: ${JSON.stringify(imported.json)}`)
      return null
    }
    this.acknowledged++
    this.bars[symbol]![i] = row
    this.#ackedAt.set(`${symbol} ${i}`, new Date().toISOString())
    await this.#readBack(
      imported,
      `/api/platform/bars?${queryOf(symbol)}&limit=1`,
      { subject: `the newest bar of S${symbol}`, wanted: `${time},${row}` },
      (json) => [...(json?.bars ? rowsOf(json.bars as ShownBars) : [])].join(' '),
    )
    return imported
  }

  /** Bars as charts ask for them, of any server, so that all of them have them in memory. */
  async look(): Promise<void> {
    while (!this.isOver) {
      const server = this.#servers[this.#random(this.#servers.length)]
      const path = `/api/platform/bars?${queryOf(this.#random(SYMBOLS))}&limit=300`
      if (server?.base) await this.#asked(server, 'GET', path)
      await Bun.sleep(50)
    }
  }

  /** A series as each server shows it; null where it cannot be read. */
  async read(series: Readonly<Record<string, string>>): Promise<Shown> {
    const path = `/api/platform/bars?${new URLSearchParams(series).toString()}`
    const shown = new Map<string, ShownBars | null>()
    for (const server of this.#servers) {
      const read = await this.#asked(server, 'GET', path)
      shown.set(server.name, read?.status === 200 ? (read.json.bars as ShownBars) : null)
    }
    return shown
  }

  /** All series, as each server shows them. */
  allShown(): Promise<(readonly [Series, Shown])[]> {
    return Promise.all(
      this.bars.map(async (bars, symbol) => {
        const shown = await this.read({ exchange: 'T', symbol: `S${symbol}`, interval: '1h' })
        return [this.#seriesOf(bars, symbol), shown] as const
      }),
    )
  }

  #seriesOf(bars: readonly string[], symbol: number): Series {
    const rows = new Map(bars.map((row, i) => [START + i * HOUR_MS, row]))
    return {
      name: `S${symbol}`,
      alertId: this.#alerts[symbol]!,
      rows,
      fires: [...rows.keys()],
      mayFire: (time) => rows.has(time),
      nameOf: (time) => {
        const i = (time - START) / HOUR_MS
        return `bar ${i}, acknowledged ${this.#ackedAt.get(`${symbol} ${i}`)},`
      },
    }
  }

  /** Everything at once, until it is over. */
  async run(writers: number): Promise<void> {
    await Promise.all([
      ...Array.from({ length: writers }, (_, writer) => this.write(writer)),
      ...Array.from({ length: SYMBOLS }, (_, symbol) => this.feed(symbol)),
      this.look(),
    ])
  }

  /** Sets an alert a symbol. */
  async setAlerts(channelId: string): Promise<void> {
    for (let symbol = 0; symbol < SYMBOLS; symbol++) {
      const alert = await this.ask('POST', '/api/platform/alerts', {
        name: `alert ${symbol}`,
        symbol: `S${symbol}`,
        exchange: 'T',
        interval: '1h',
        kind: 'price',
        op: 'above',
        price: 1,
        frequency: 'every_time',
        channels: ['webhook'],
        channelIds: [channelId],
      })
      if (alert.status !== 200) throw new Error(`no alert: ${JSON.stringify(alert.json)}`)
      this.#alerts.push(alert.json.alert.id)
    }
  }
}

const queryOf = (symbol: number) => `exchange=T&symbol=S${symbol}&interval=1h`
