// The long work of `bun run fleet-test --servers N`: sweeps, scans, a forward run, and notices through a channel, of alerts and
// of an inbox. Each is taken over by another server when its own is gone, so each is asked for what it must be all the same.
//
// A sweep, and a scan, is the same one again and again: whoever works on it, and however often, must find the same results.

import type { Service } from './fleet-services.ts'
import { resultOf, type Message, type ServerHistory } from './fleet-verdict.ts'

export interface Asking {
  readonly isOver: boolean
  readonly wrong: string[]
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
    // oxlint-disable-next-line typescript/no-explicit-any
  ): Promise<{ readonly status: number; readonly json: any; readonly tries: number }>
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
  readonly messages: Message[] = []
  /** What the work of each kind came to, and which of it. */
  readonly results = {
    sweep: { rows: 118, came: new Map<string, number[]>() },
    scan: { rows: MARKETS.length, came: new Map<string, number[]>() },
  }
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
      const { came } = this.results[noun]
      const result = resultOf(json)
      came.set(result, [...(came.get(result) ?? []), i])
      const old = ids.length > KEPT ? ids.shift() : undefined
      if (old !== undefined) await this.#load.ask('DELETE', `${platform}/${noun}s/${old}`)
    }
  }

  /** `done` with nothing that failed, or all that is said of it once nothing has gone on for a while. */
  async #ended(noun: string, id: string): Promise<string> {
    let before = ''
    for (let until = 0; ; await Bun.sleep(100)) {
      const { json } = await this.#load.ask('GET', `${platform}/${noun}s/${id}`)
      const { state, failed } = json[noun] as { readonly state: string; readonly failed: number }
      const said = JSON.stringify(json[noun])
      if (said !== before) until = performance.now() + PATIENCE_MS
      before = said
      if (state === 'done' && failed === 0) return state
      if ((state !== 'queued' && state !== 'running') || performance.now() > until) return said.slice(0, 1500)
    }
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
      const { status, tries } = await this.#load.ask('POST', this.#inboxPath, text, {
        'content-type': 'text/plain',
      })
      this.messages.push({ text, tries, isTaken: status === 200 })
      if (status !== 200 && status !== 429) this.#load.wrong.push(`${text} was answered ${status}`)
      await Bun.sleep(MESSAGE_MS)
    }
  }

  /** Waits until the forward run has seen all bars. */
  async forward(): Promise<ServerHistory['forward']> {
    // The newest bar of the warm-up was not over, nor is the newest now.
    const wanted = this.#forwardBars - WARM_UP
    const path = `${platform}/forward-runs/${this.#forwardId}`
    let seen = -1
    let run = { bars: 0, state: '' }
    for (
      let until = performance.now() + PATIENCE_MS;
      seen < wanted && performance.now() < until;
      await Bun.sleep(100)
    ) {
      run = (await this.#load.ask('GET', path)).json.forwardRun
      if (run.state !== 'running') break
      if (run.bars > seen) until = performance.now() + PATIENCE_MS
      seen = run.bars
    }
    const of = async (part: string) => (await this.#load.ask('GET', `${path}/${part}`)).json
    const { orders } = await of('orders')
    const { report } = await of('report')
    const { divergence } = await of('divergence')
    const told = orders.filter(({ event }: { event: string }) => event === 'order.filled')
    return {
      ...divergence,
      wanted,
      seen,
      state: run.state,
      told: fillsOf(told, 0),
      // Those of the warm-up it told nobody of, whose newest bar was not over.
      fills: fillsOf(report.orders, START + (WARM_UP - 1) * HOUR_MS),
    }
  }

  get said(): string {
    return `${this.done.sweeps} sweeps and ${this.done.scans} scans with the same results, ${this.#forwardBars - WARM_UP} bars of a forward run, ${this.messages.filter(({ isTaken }) => isTaken).length} messages of an inbox, ${this.#phone.taken.size} notices, ${this.#phone.repeated} of them sent again`
  }
}

interface Fill {
  readonly time: string | number
  readonly side: string
  readonly qty: number
  readonly price: number
}

const fillsOf = (orders: readonly Fill[], from: number) =>
  orders
    .filter(({ time }) => new Date(time).getTime() >= from)
    .map(({ time, side, qty, price }) => `${new Date(time).toISOString()} ${side} ${qty} at ${price}`)
