// Long work that people ask for, and what has to come of it: a backtest and a sweep end as done, whoever has worked on
// them, a sweep has tried each choice once, and a forward run says what a backtest of the same bars does.

import type { History } from './history.ts'
import type { Answer } from './servers.ts'
import type { Timeline } from './timeline.ts'

export type Call = (
  method: string,
  path: string,
  body?: unknown,
  isForLater?: boolean,
) => Promise<Answer | null>

interface Job {
  readonly path: Kind
  readonly id: string
  readonly series: object
}

const SOURCE = `//@version=6
strategy("Above and below", overlay = true)
length = input.int(3, "Length")
fast = ta.sma(close, length)
if close > fast
    strategy.entry("Up", strategy.long)
if close < fast
    strategy.close("Up")
`
/** What is asked for beside name, series and source. A sweep is wide enough for pieces that other servers do. */
const LENGTHS = Array.from({ length: 240 }, (_, i) => i + 2)
const KINDS = {
  backtests: { bars: 200 },
  sweeps: { bars: 60, space: [{ input: 'Length', values: LENGTHS }] },
  'forward-runs': { warmup: 50 },
} as const
type Kind = keyof typeof KINDS
const AS: Readonly<Record<Kind, string>> = {
  backtests: 'backtest',
  sweeps: 'sweep',
  'forward-runs': 'forwardRun',
}
/** What of a kind one person asks for at most. */
const MOST = 3

export class Jobs {
  readonly #call: Call
  readonly #timeline: Timeline
  readonly #history: History
  readonly #jobs: Job[] = []

  constructor(call: Call, timeline: Timeline, history: History) {
    this.#call = call
    this.#timeline = timeline
    this.#history = history
  }

  /** Asks for one, or looks at one. */
  async deal(name: string, followed: object): Promise<void> {
    const path = this.#timeline.pick(Object.keys(KINDS) as Kind[])
    const known = this.#jobs.filter((job) => job.path === path)
    if (known.length >= MOST) return void (await this.#get(this.#timeline.pick(known)))
    const series = path === 'forward-runs' ? followed : { exchange: 'NASDAQ', symbol: 'AAPL', interval: '1d' }
    const body = { name, ...series, ...KINDS[path], source: SOURCE }
    const answer = await this.#call('POST', `/api/platform/${path}`, body, path === 'backtests')
    if (answer?.status === 200 || answer?.status === 202)
      this.#jobs.push({ path, id: String(answer.json.id), series })
  }

  /** When nothing is in the way any more. Answers what is not over yet. */
  async judge(): Promise<readonly string[]> {
    const pending: string[] = []
    for (const job of this.#jobs) {
      const found = await this.#get(job)
      const what = `${job.path}/${job.id}`
      if (!found) pending.push(`${what} (no answer)`)
      else if (job.path === 'forward-runs') {
        const left = await this.#judgeFollowed(job, found)
        if (left !== null) pending.push(left)
      } else if (found.state === 'queued' || found.state === 'running')
        pending.push(`${what} (${found.state})`)
      else if (
        found.state !== 'done' &&
        !(found.error?.code === 'internal_error' && this.#history.wasStoreBroken)
      )
        this.#found(`${what} ended as ${found.state}: ${JSON.stringify(found.error)}`)
      else if (found.state === 'done' && job.path === 'sweeps') await this.#judgeSweep(job)
    }
    return pending
  }

  async #judgeSweep({ id }: Job): Promise<void> {
    const answer = await this.#call('GET', `/api/platform/sweeps/${id}/results?limit=1000`)
    const trials = (answer?.json?.trials ?? []) as { choices: number[] }[]
    const tried = trials.map(({ choices }) => choices[0] ?? 0).sort((a, b) => a - b)
    if (answer?.status === 200 && tried.join() !== LENGTHS.join())
      this.#found(`sweeps/${id} has tried ${tried.join()}, each of 2 to ${LENGTHS.at(-1)} was asked for once`)
  }

  /** Answers what it has not followed yet; null if nothing. */
  // oxlint-disable-next-line typescript/no-explicit-any
  async #judgeFollowed({ id, series }: Job, run: any): Promise<string | null> {
    const what = `forward-runs/${id}`
    if (run.state !== 'running') {
      this.#found(`${what} ended as ${run.state}: ${JSON.stringify(run.error)}`)
      return null
    }
    const bars = this.#history.bars.filter((bar) => `S${bar.series}` === run.symbol && bar.storedAt !== null)
    // Nobody says of the newest when it is over.
    const last = bars.at(-2)?.time ?? 0
    if (run.last < last) return `${what}: it has seen ${run.last}, and ${last} is stored`
    const report = await this.#call('GET', `/api/platform/forward-runs/${id}/report`)
    const again = await this.#call('POST', '/api/platform/backtests', {
      name: 'again',
      ...series,
      source: SOURCE,
      bars: run.warmup + run.bars + bars.filter(({ time }) => time > run.last).length,
    })
    if (report?.status !== 200 || again?.status !== 200) return `${what} has no report`
    // By a clock that is wrong half of a bar may be taken for the whole.
    if (bars.some(({ halfHigh, isWholeAtClose }) => halfHigh !== null && !isWholeAtClose)) return null
    const own = JSON.stringify(report.json.report.orders)
    const orders = again.json.result.report.orders as readonly { readonly time: number }[]
    const same = JSON.stringify(orders.filter(({ time }) => time <= run.last))
    if (own !== same) this.#found(`${what} has the orders ${own}, and a backtest of its bars ${same}`)
    return null
  }

  // oxlint-disable-next-line typescript/no-explicit-any
  async #get({ path, id }: Job): Promise<any> {
    const answer = await this.#call('GET', `/api/platform/${path}/${id}`)
    if (answer?.status === 404) this.#history.found('durable', `${path}/${id} is gone; it was acknowledged`)
    return answer?.status === 200 && !answer.isOld ? answer.json[AS[path]] : null
  }

  #found(says: string): void {
    this.#history.found('worked', says)
  }
}
