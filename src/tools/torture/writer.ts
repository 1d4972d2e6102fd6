// A user who writes all the time: every kind of record, in random order, until the server is gone. What was acknowledged is
// recorded as a promise; requests without an answer may have been carried out or not.

import type { Reply, Client, Json } from './client.ts'
import { codeOf } from './client.ts'
import { bodyOf, Market, OPERATORS, type Watch } from './market.ts'
import { Promises } from './promises.ts'
import type { Random } from './random.ts'

export interface ArmedAlert {
  readonly id: string
  readonly market: Market
  readonly watch: Watch
  /** The number of bars stored when the alert was set. */
  readonly armed: number
  /** Reported already, so nobody waits for it again. */
  givenUp: boolean
}

export interface Keyed {
  readonly key: string
  readonly body: Json
  /** null = the request got no answer. */
  id: string | null
}

/** The values that a cursor or bookmark may have, by where it is stored. */
export type CursorValues = Map<string, (string | null)[]>

const STRATEGY = [
  '//@version=6',
  'strategy("torture")',
  'fast = ta.sma(close, 5)',
  'slow = ta.sma(close, 20)',
  'if ta.crossover(fast, slow)',
  '    strategy.entry("L", strategy.long)',
  'if ta.crossunder(fast, slow)',
  '    strategy.close("L")',
].join('\n')
const WORDS = ['rhubarb', 'Ворота', '開高走低', 'e\u0301te\u0301', '🦀📈', 'O\'Brien \\ "x"', '‮rtl', 'ÅÄÖ']
/** Sizes of imports: one bar, more than the window of a look, more than a chunk. */
const SIZES = [1, 1, 2, 7, 40, 200, 200, 1000, 1400, 3000]
const MARKET_BARS = 15_000
const ALERTS_MAX = 120
/** What has not come by then counts as lost. */
export const PATIENCE_MS = 30_000

const platform = '/api/platform'

export class Writer {
  readonly name: string
  readonly client: Client
  readonly random: Random
  readonly ideas = new Promises(`${platform}/ideas`, 'ideas')
  readonly scripts = new Promises(`${platform}/scripts`, 'scripts')
  readonly watchlists = new Promises(`${platform}/watchlists`, 'watchlists')
  readonly webhooks = new Promises(`${platform}/webhooks`, 'webhooks')
  readonly tokens = new Promises(`${platform}/tokens`, 'tokens')
  readonly alerts = new Promises(`${platform}/alerts`, 'alerts')
  readonly backtests = new Promises(`${platform}/backtests`, 'backtests')
  readonly armed: ArmedAlert[] = []
  readonly markets: Market[] = []
  readonly keyed: Keyed[] = []
  readonly secrets: string[] = []
  readonly bookmarks: CursorValues = new Map()
  readonly cursors: CursorValues = new Map()
  /** Answers that a well-formed request should not get. */
  readonly refusals: string[] = []
  acknowledged = 0
  #made = 0

  constructor(name: string, client: Client, random: Random) {
    this.name = name
    this.client = client
    this.random = random
  }

  get promises(): readonly Promises[] {
    return [
      this.ideas,
      this.scripts,
      this.watchlists,
      this.webhooks,
      this.tokens,
      this.alerts,
      this.backtests,
    ]
  }

  /** Writes until the server no longer answers or `isOver` says so. */
  async write(client: Client, isOver: () => boolean): Promise<void> {
    for (let alive = true; alive && !isOver();) alive = await this.#step(client)
  }

  /** Does one random write; answers false if no answer came. */
  #step(client: Client): Promise<boolean> {
    const steps = [
      () => this.#idea(client),
      () => this.#script(client),
      () => this.#watchlist(client),
      () => this.#webhook(client),
      () => this.#token(client),
      () => this.#backtest(client),
      () => this.#bookmark(client),
      () => this.#cursor(client),
      () => this.#withKey(client),
      () => this.#change(client, this.ideas, 'title'),
      () => this.#change(client, this.scripts, 'name'),
      () => this.#remove(client, this.random.pick([this.ideas, this.scripts, this.watchlists])),
      // Alerts have to prove the most, so half of the work is theirs.
      ...Array.from({ length: 8 }, () => () => this.#barsPastAlerts(client)),
    ]
    return this.random.pick(steps)()
  }

  /** Counts an answer. true = done, false = refused, null = unknown. */
  #judge(answer: Reply, expected: readonly string[] = []): boolean | null {
    const { status } = answer
    if (status >= 200 && status < 300) {
      this.acknowledged++
      return true
    }
    if (status === 0 || status === 503) return null
    if (!expected.includes(codeOf(answer))) this.refusals.push(`${status} ${answer.text.slice(0, 300)}`)
    return false
  }

  #name(): string {
    return `${this.random.pick(WORDS)} ${this.name}-${this.#made++}`
  }

  async #create(client: Client, kind: Promises, path: string, body: Json, kept: Json): Promise<boolean> {
    const answer = await client.post(path, body)
    const done = this.#judge(answer, ['quota_exceeded', 'concurrency_limited'])
    if (done === true) kind.made(String(answer.json['id']), kept)
    return done !== null
  }

  #idea(client: Client): Promise<boolean> {
    const idea = {
      title: this.#name(),
      body: `**${this.#name()}**`,
      tags: ['torture'],
      visibility: 'private',
    }
    return this.#create(client, this.ideas, `${platform}/ideas`, idea, { title: idea.title, body: idea.body })
  }

  #script(client: Client): Promise<boolean> {
    const script = { name: this.#name(), source: `${STRATEGY}\n// ${this.#name()}` }
    return this.#create(client, this.scripts, `${platform}/scripts`, script, script)
  }

  #watchlist(client: Client): Promise<boolean> {
    const items = Array.from({ length: this.random.integer(0, 30) }, (_, i) => ({
      symbol: `S${i}`,
      exchange: 'TORTURE',
      note: i % 2 === 0 ? null : this.#name(),
    }))
    const list = { name: this.#name(), items }
    return this.#create(client, this.watchlists, `${platform}/watchlists/import`, list, list)
  }

  #webhook(client: Client): Promise<boolean> {
    if (this.webhooks.size >= 4) return this.#change(client, this.webhooks, 'name')
    // Nothing listens there; the attack is on whether the receiver is kept.
    const hook = { name: this.#name(), url: 'http://127.0.0.1:9/hook', events: ['alert.triggered'] }
    return this.#create(client, this.webhooks, `${platform}/webhooks`, hook, { name: hook.name })
  }

  async #token(client: Client): Promise<boolean> {
    if (this.tokens.size >= 40) return true
    const name = this.#name()
    const answer = await client.post(`${platform}/tokens`, { name, scopes: ['replay:read'] })
    const done = this.#judge(answer)
    if (done === true) {
      this.tokens.made(String(answer.json['id']), { name })
      this.secrets.push(String(answer.json['secret']))
    }
    return done !== null
  }

  async #backtest(client: Client): Promise<boolean> {
    const name = this.#name()
    const body = {
      name,
      symbol: 'SPX',
      exchange: 'SP',
      interval: '1d',
      bars: 400,
      source: STRATEGY,
      inputs: {},
    }
    const later = this.random.chance(0.5)
    const answer = await client.post(`${platform}/backtests`, body, {
      headers: later ? { prefer: 'respond-async' } : {},
    })
    const done = this.#judge(answer, ['concurrency_limited', 'quota_exceeded'])
    if (done === true)
      this.backtests.made(String(answer.json['id']), later ? { name } : { name, state: 'done' })
    return done !== null
  }

  async #bookmark(client: Client): Promise<boolean> {
    const bar = this.random.integer(0, 20)
    const note = this.#name()
    const query = `symbol=SPX&interval=1d&bar=${bar}`
    const done = this.#judge(await client.post(`${platform}/replay/bookmarks?${query}`, { note }))
    promise(this.bookmarks, String(bar), note, done)
    return done !== null
  }

  async #cursor(client: Client): Promise<boolean> {
    const symbol = this.random.pick(['SPX', 'AAPL'])
    const cursorBar = this.random.integer(0, 1000)
    const body = { symbol, interval: '1d', cursorBar, speed: 2, start: '2000-01-01', end: '2020-01-01' }
    const done = this.#judge(await client.post(`${platform}/replay/resume`, body))
    promise(this.cursors, symbol, String(cursorBar), done)
    return done !== null
  }

  async #withKey(client: Client): Promise<boolean> {
    const keyed: Keyed = {
      key: `${this.name}-${this.#made++}`,
      body: { title: this.#name(), body: '', tags: [], visibility: 'private' },
      id: null,
    }
    this.keyed.push(keyed)
    return (await this.sendKeyed(client, keyed)) !== 0
  }

  /** Sends an idea for the first time or again; every answer has to show the same idea. */
  async sendKeyed(client: Client, keyed: Keyed): Promise<number> {
    const sent = () =>
      client.post(`${platform}/ideas`, keyed.body, { headers: { 'idempotency-key': keyed.key } })
    let answer = await sent()
    // On a database a server that was killed counts as gone, and its requests as over, once its lease has run out.
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; answer = await sent()) {
      if (codeOf(answer) !== 'idempotency_in_progress') break
      await Bun.sleep(100)
    }
    if (this.#judge(answer) === true) {
      const id = String(answer.json['id'])
      if (keyed.id !== id) this.ideas.made(id, { title: keyed.body['title'] })
      keyed.id = id
    }
    return answer.status
  }

  async #change(client: Client, kind: Promises, field: string): Promise<boolean> {
    const kept = kind.kept()
    if (kept.length === 0) return true
    const id = this.random.pick(kept)
    const value = { [field]: this.#name() }
    const done = this.#judge(await client.call('PATCH', `${kind.path}/${id}`, value))
    if (done !== false) kind.changed(id, value, done === true)
    return done !== null
  }

  async #remove(client: Client, kind: Promises): Promise<boolean> {
    const kept = kind.kept().filter((id) => !this.keyed.some((keyed) => keyed.id === id))
    if (kept.length === 0) return true
    const id = this.random.pick(kept)
    const done = this.#judge(await client.call('DELETE', `${kind.path}/${id}`))
    if (done !== false) kind.removed(id, done === true)
    return done !== null
  }

  /** Sets alerts on bars about to come, then sends those bars, in one import or in many back to back. */
  async #barsPastAlerts(client: Client): Promise<boolean> {
    const market = await this.#market(client)
    if (!market) return false
    const sizes = Array.from({ length: this.random.integer(1, 6) }, () => this.random.pick(SIZES))
    const coming = sizes.reduce((sum, size) => sum + size, 0)
    for (let i = this.random.integer(0, 4); i > 0; i--)
      if (!(await this.#alert(client, market, coming))) return false
    for (const size of sizes) if (!(await this.#import(client, market, size))) return false
    return true
  }

  async #import(client: Client, market: Market, size: number): Promise<boolean> {
    return this.#judge(await market.import(client, size)) === true
  }

  /** The market it writes to now, which has at least one bar; a full one is replaced by a new one. */
  async #market(client: Client): Promise<Market | null> {
    const now = this.markets.at(-1)
    if (now && now.stored > 0 && now.stored < MARKET_BARS) return now
    const fresh = new Market(`${this.name}${this.markets.length}`.toUpperCase(), this.random.fork())
    this.markets.push(fresh)
    return (await this.#import(client, fresh, this.random.pick(SIZES))) ? fresh : null
  }

  async #alert(client: Client, market: Market, coming: number): Promise<boolean> {
    if (this.alerts.kept().length >= ALERTS_MAX) return this.#removeAlert(client)
    market.ahead(market.stored + coming)
    const near = market.closes[market.stored + this.random.integer(0, coming - 1)] ?? 100
    const watch: Watch = {
      op: this.random.pick(OPERATORS),
      // A few levels are where no bar comes.
      price: Math.round((near + (this.random.chance(0.1) ? 5000 : 0)) * 10) / 10 + 0.05,
      frequency: this.random.chance(0.8) ? 'once' : 'once_per_bar',
    }
    const name = this.#name()
    const answer = await client.post(`${platform}/alerts`, bodyOf(market, watch, name))
    const done = this.#judge(answer, ['quota_exceeded'])
    if (done !== true) return done !== null
    const id = String(answer.json['id'])
    this.alerts.made(id, { name, price: watch.price })
    this.armed.push({ id, market, watch, armed: market.stored, givenUp: false })
    return true
  }

  /** Removes the oldest alert; earlier rounds have checked what it fired. */
  async #removeAlert(client: Client): Promise<boolean> {
    const oldest = this.armed.shift()
    if (!oldest) return true
    const done = this.#judge(await client.call('DELETE', `${platform}/alerts/${oldest.id}`))
    if (done !== false) this.alerts.removed(oldest.id, done === true)
    return done !== null
  }
}

function promise(place: CursorValues, key: string, value: string, done: boolean | null): void {
  if (done === true) place.set(key, [value])
  else if (done === null) place.set(key, [...(place.get(key) ?? [null]), value])
}
