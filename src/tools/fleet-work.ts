// The long work of `bun run fleet-test --servers N`: sweeps, scans, a forward run, and notices through a channel, of alerts and
// of an inbox. Each is taken over by another server when its own is gone, so each is asked for what it must be all the same.
//
// A sweep, and a scan, is the same one again and again: whoever works on it, and however often, must find the same results.

import type { Notification } from '../channels/channels.ts'
import type { InboxMessage } from '../channels/inboxes.ts'
import type { Firing } from '../alerts/alert.ts'
import type { Service } from './fleet-services.ts'

export interface Asking {
  readonly isOver: boolean
  readonly wrong: string[]
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
    // oxlint-disable-next-line typescript/no-explicit-any
  ): Promise<{ readonly status: number; readonly json: any }>
}

const platform = '/api/platform'
const SERIES = { exchange: 'T', symbol: 'FORWARD', interval: '1h' }
const START = Date.UTC(2020, 0, 1)
const HOUR_MS = 3_600_000
const WARM_UP = 50
const STRATEGY = `//@version=6
strategy("Work", overlay = true)
length = input.int(5, "Length")
average = ta.sma(close, length)
if ta.crossover(close, average)
    strategy.entry("Long", strategy.long)
if ta.crossunder(close, average)
    strategy.close("Long")
`
const SCREEN =
  '//@version=6\nindicator("Screen")\nplot(ta.rsi(close, 14), "RSI")\nplot(ta.sma(close, 50), "Mean")\n'
const MARKETS = [
  { exchange: 'SP', symbol: 'SPX' },
  { exchange: 'NASDAQ', symbol: 'AAPL' },
]
const SWEEP = {
  ...MARKETS[0],
  name: 'sweep',
  interval: '1d',
  bars: 1500,
  source: STRATEGY,
  space: [{ input: 'Length', min: 3, max: 120, step: 1 }],
}
const SCAN = { name: 'scan', interval: '1d', bars: 500, source: SCREEN, symbols: MARKETS }
/** What a user may keep; older ones are deleted. */
const KEPT = 5
const PATIENCE_MS = 200_000
/** An inbox takes no more of them a minute. */
const MESSAGE_MS = 1500

export class Work {
  readonly #load: Asking
  readonly #phone: Service
  channelId = ''
  #inboxPath = ''
  #forwardId = ''
  #forwardBars = WARM_UP
  readonly #messages: string[] = []
  /** What each kind of work came to the first time. */
  readonly #results = new Map<string, string>()
  readonly done = { sweeps: 0, scans: 0 }

  constructor(load: Asking, phone: Service) {
    this.#load = load
    this.#phone = phone
  }

  async prepare(): Promise<void> {
    const settings = { url: this.#phone.url, body: '{"text":"{{text}}"}' }
    const channel = await this.#made('/channels', { name: 'phone', kind: 'http', settings })
    this.channelId = channel.id
    const inbox = await this.#made('/inboxes', { name: 'inbox', channelIds: [channel.id] })
    this.#inboxPath = inbox.path
    await this.#importBars(0, WARM_UP)
    const run = { ...SERIES, name: 'forward', source: STRATEGY, warmup: WARM_UP }
    this.#forwardId = (await this.#made('/forward-runs', run)).id
  }

  /** Until it is over. */
  async run(): Promise<void> {
    const [sweep, scan] = [this.#repeat('sweep', SWEEP), this.#repeat('scan', SCAN)]
    await Promise.all([sweep, scan, this.#bars(), this.#send()])
  }

  async #made(path: string, body: object, headers: Record<string, string> = {}) {
    const { status, json } = await this.#load.ask('POST', platform + path, body, headers)
    if (status !== 200 && status !== 202) throw new Error(`POST ${path}: ${status} ${JSON.stringify(json)}`)
    return json as { readonly id: string; readonly path: string }
  }

  /** The same work again and again. */
  async #repeat(noun: 'sweep' | 'scan', body: object): Promise<void> {
    const ids: string[] = []
    for (let i = 0; !this.#load.isOver; i++) {
      const { id } = await this.#made(`/${noun}s`, body, { 'idempotency-key': `${noun} ${i}` })
      ids.push(id)
      const said = await this.#ended(noun, id)
      if (said !== 'done') {
        this.#load.wrong.push(`${noun} ${i} is ${said}`)
        continue
      }
      this.done[`${noun}s`]++
      const { json } = await this.#load.ask('GET', `${platform}/${noun}s/${id}/results?limit=1000`)
      this.#sameAsBefore(noun, i, resultOf(json))
      const old = ids.length > KEPT ? ids.shift() : undefined
      if (old !== undefined) await this.#load.ask('DELETE', `${platform}/${noun}s/${old}`)
    }
  }

  /** `done`, or all that is said of it once nothing has gone on for a while. */
  async #ended(noun: string, id: string): Promise<string> {
    let before = ''
    for (let until = 0; ; await Bun.sleep(100)) {
      const { json } = await this.#load.ask('GET', `${platform}/${noun}s/${id}`)
      const { state } = json[noun] as { readonly state: string }
      const said = JSON.stringify(json[noun])
      if (said !== before) until = performance.now() + PATIENCE_MS
      before = said
      if (state === 'done') return state
      if ((state !== 'queued' && state !== 'running') || performance.now() > until) return said.slice(0, 1500)
    }
  }

  #sameAsBefore(noun: string, i: number, result: string): void {
    const before = this.#results.get(noun)
    if (before === undefined) this.#results.set(noun, result)
    else if (before !== result)
      this.#load.wrong.push(
        `${noun} ${i} has other results: ${result.slice(0, 300)} for ${before.slice(0, 300)}`,
      )
  }

  async #bars(): Promise<void> {
    for (; !this.#load.isOver; this.#forwardBars++) {
      await this.#importBars(this.#forwardBars, 1)
      await Bun.sleep(50)
    }
  }

  async #importBars(from: number, count: number): Promise<void> {
    const rows = Array.from({ length: count }, (_, i) => {
      const close = 100 + (((from + i) * 7) % 11)
      return `${START + (from + i) * HOUR_MS},${close},${close + 1},${close - 1},${close},5`
    })
    const query = new URLSearchParams(SERIES).toString()
    const csv = `time,open,high,low,close,volume\n${rows.join('\n')}\n`
    const { status, json } = await this.#load.ask('POST', `${platform}/bars/import?${query}`, csv, {
      'content-type': 'text/csv',
    })
    if (status !== 200) this.#load.wrong.push(`a bar was answered ${status}: ${JSON.stringify(json)}`)
  }

  async #send(): Promise<void> {
    for (let i = 0; !this.#load.isOver; i++) {
      const text = `message ${i}.`
      const { status } = await this.#load.ask('POST', this.#inboxPath, text, { 'content-type': 'text/plain' })
      if (status === 200) this.#messages.push(text)
      else if (status !== 429) this.#load.wrong.push(`${text} was answered ${status}`)
      await Bun.sleep(MESSAGE_MS)
    }
  }

  /** Waits until the forward run has seen all bars; says what is wrong with it. */
  async forwardFindings(): Promise<string[]> {
    // The newest bar of the warm-up was not over, nor is the newest now.
    const wanted = this.#forwardBars - WARM_UP
    const path = `${platform}/forward-runs/${this.#forwardId}`
    let seen = -1
    for (let until = performance.now() + PATIENCE_MS; seen < wanted && performance.now() < until;) {
      const { json } = await this.#load.ask('GET', path)
      const { bars, state } = json.forwardRun as { readonly bars: number; readonly state: string }
      if (state !== 'running') return [`the forward run is ${state}`]
      if (bars > seen) until = performance.now() + PATIENCE_MS
      seen = bars
      await Bun.sleep(100)
    }
    const { json } = await this.#load.ask('GET', `${path}/divergence`)
    const { equal, corrected, said } = json.divergence as {
      readonly equal: boolean
      readonly corrected: number
      readonly said: string
    }
    return [
      ...(seen === wanted ? [] : [`the forward run has seen ${seen} of ${wanted} bars`]),
      ...(equal && corrected === 0 ? [] : [`the forward run differs from a backtest: ${said}`]),
    ]
  }

  /** One notice a firing and a message, each taken under its own id, with one success in the log. */
  noticeFindings(
    notifications: readonly Notification[],
    firings: readonly Firing[],
    messages: readonly InboxMessage[],
  ): string[] {
    const texts = messages.map(({ text }) => text)
    const of = Map.groupBy(notifications, ({ notice: { firingId, text } }) => firingId ?? text)
    const wanted = [...firings.map(({ id }) => id), ...new Set(texts)]
    const count = (name: string) => texts.filter((text) => text === name).length || 1
    return [
      ...this.#messages.filter((text) => !texts.includes(text)).map((text) => `lost: ${text}`),
      ...wanted
        .filter((name) => of.get(name)?.length !== count(name))
        .map((name) => `${name} has ${of.get(name)?.length ?? 0} notices, not ${count(name)}`),
      ...notifications
        .filter(({ attempts }) => attempts.filter(({ status }) => status === 200).length !== 1)
        .map(
          ({ id, state, attempts }) =>
            `notice ${id} (${state}) has ${attempts.length} attempts, not one success`,
        ),
      ...notifications
        .filter(({ id }) => !this.#phone.taken.has(id))
        .map(({ id }) => `notice ${id} never came`),
      ...[...this.#phone.taken.keys()]
        .filter((id) => !notifications.some((one) => one.id === id))
        .map((id) => `a notice came under an id that nobody knows: ${id}`),
    ]
  }

  get said(): string {
    return `${this.done.sweeps} sweeps and ${this.done.scans} scans with the same results, ${this.#forwardBars - WARM_UP} bars of a forward run, ${this.#messages.length} messages of an inbox, ${this.#phone.taken.size} notices, ${this.#phone.repeated} of them sent again`
  }
}

/** Without what is of one run alone. */
function resultOf(json: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(json, (key, value: unknown) =>
    /^(?:id|requestId|at|.*At|.*Ms|nextCursor)$/.test(key) ? undefined : value,
  )
}
