// Portfolios: from being asked for to the result, over one job in a worker that runs all parts together.
//
// Nothing is kept of one that was interrupted: what a part does depends on all the others, so it begins again, with the bars
// that are stored by then.

import type { PortfolioJob, PortfolioOutput, ScriptHost } from '../engine/job.ts'
import type { JobPool } from '../engine/pool.ts'
import { UserJobs, type JobFailure, type LiveJob } from '../jobs/user-jobs.ts'
import type { Clock } from '../lib/clock.ts'
import type { NewId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { invalidField, Problem } from '../lib/problem.ts'
import { barsNotFound, type BarCache } from '../market/bar-cache.ts'
import { ownerOf, seriesKey, seriesName, type SeriesKey } from '../market/bar-store.ts'
import type { Bars } from '../market/bars.ts'
import { requireInterval } from '../market/interval.ts'
import { barsSeenBy, seriesOf, type SeenBars } from '../market/seen-bars.ts'
import type { Limits } from '../pine/runtime/runtime.ts'
import type { Kv } from '../store/kv.ts'
import { dropText, largeText, stageText, textKeys, type LargeText } from '../store/large-text.ts'
import { transact, type Also, type Changes } from '../store/transaction.ts'
import type { PortfolioBody, PortfolioResult } from '../wire/portfolio.ts'
import {
  portfolios,
  reportKey,
  resultKey,
  scriptsKey,
  type Part,
  type PartScript,
  type Portfolio,
} from './records.ts'
import { isUnderWay } from '../wire/job-state.ts'

export type { Portfolio } from './records.ts'

export interface PortfolioDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
  readonly log: Log
  readonly bars: BarCache
  readonly pool: JobPool
  readonly limits: Limits
  /** What a script of this user may ask for while it runs on these bars. */
  readonly hostFor: (seen: SeenBars, userId: string, key: SeriesKey, bars: Bars) => ScriptHost
  /** Counts what was tried: each part is a trial of its script on its market. */
  readonly tried: (userId: string, market: string, tried: PortfolioOutput['tried'][number]) => void
}

export interface PortfolioProgress extends Pick<Portfolio, 'state'> {
  /** Bars of all parts together: those that are done, and all. */
  readonly bar: number
  readonly bars: number
}

/** The limit holds for all parts together. */
const BARS_MAX = 2_000_000
/** The portfolio has these settings, and its parts have none of their own. */
const OF_THE_WHOLE = ['initial_capital', 'currency'] as const

export class Portfolios {
  readonly #deps: PortfolioDeps
  readonly #jobs: UserJobs<Portfolio, PortfolioProgress>

  constructor(deps: PortfolioDeps) {
    this.#deps = deps
    this.#jobs = new UserJobs({
      noun: ['portfolio', 'portfolios'],
      log: deps.log,
      find: (id) => portfolios(deps.kv).get(id),
      progressOf: ({ state }) => ({ state, bar: 0, bars: 0 }),
      work: (id, live) => this.#run(id, live),
      fail: (id, failure) => this.#fail(id, failure),
    })
  }

  /** Checks what can be checked without a worker, keeps the portfolio as queued, and returns. */
  async create(userId: string, body: PortfolioBody, also?: Also<Portfolio>): Promise<Portfolio> {
    const { kv, clock, newId, bars: cache } = this.#deps
    const seen = barsSeenBy(cache, userId)
    const parts: Part[] = []
    let bars = 0
    for (const [i, part] of body.parts.entries()) {
      for (const name of OF_THE_WHOLE)
        if (part.overrides && name in part.overrides)
          throw invalidField(
            `/parts/${i}/overrides/${name}`,
            'of_the_whole',
            `All parts have the portfolio's: give \`${name === 'currency' ? 'currency' : 'capital'}\` instead.`,
          )
      const interval = requireInterval(part.interval, 'body', `/parts/${i}/interval`)
      const key = await seen.resolve(seriesKey(part.exchange, part.symbol, interval))
      if (!(await seen.source(key))) throw await barsNotFound(seen, key)
      const { length } = await seen.read(key, { last: part.bars })
      if (length === 0) throw await barsNotFound(seen, key)
      bars += length
      const { name, priority = 1 } = part
      parts.push({ name, ...seriesOf(key, ''), bars: part.bars, priority, seriesOwner: ownerOf(key) })
    }
    if (bars > BARS_MAX)
      throw invalidField(
        '/parts',
        'too_many_bars',
        `The parts have ${bars.toLocaleString('en')} bars; ${BARS_MAX.toLocaleString('en')} are allowed together.`,
      )
    const portfolio: Portfolio = {
      id: newId('pf'),
      userId,
      name: body.name,
      state: 'queued',
      createdAt: clock.now(),
      startedAt: null,
      finishedAt: null,
      capital: body.capital ?? null,
      currency: body.currency ?? null,
      parts,
      netProfit: null,
      maxDrawdownPct: null,
      error: null,
    }
    const scripts: PartScript[] = body.parts.map(({ source, inputs = {}, overrides = {} }) => ({
      source,
      inputs,
      overrides,
    }))
    return this.#jobs.admit(userId, async () => {
      await transact(kv, (tx) => [
        portfolios(kv).insert(portfolio),
        { sets: [{ key: scriptsKey(portfolio.id), value: JSON.stringify(scripts) }] },
        also?.(portfolio, tx),
      ])
      return portfolio
    })
  }

  async get(userId: string, id: string): Promise<Portfolio> {
    const portfolio = await this.find(userId, id)
    if (!portfolio) throw notFound()
    return portfolio
  }

  async find(userId: string, id: string): Promise<Portfolio | null> {
    const portfolio = await portfolios(this.#deps.kv).get(id)
    return portfolio?.userId === userId ? portfolio : null
  }

  list(userId: string, page: { readonly limit: number; readonly cursor?: string }) {
    return portfolios(this.#deps.kv).list('user', [userId], page)
  }

  /** Answers the scripts of its parts. */
  async scripts(userId: string, id: string): Promise<readonly PartScript[]> {
    await this.get(userId, id)
    return this.#scriptsOf(id)
  }

  /** null while there is none. */
  async result(userId: string, id: string): Promise<PortfolioResult | null> {
    await this.get(userId, id)
    const entry = await this.#deps.kv.get(resultKey(id))
    return entry && (JSON.parse(entry.value) as PortfolioResult)
  }

  /** JSON text of a part's report. */
  async report(userId: string, id: string, part: number): Promise<LargeText> {
    const { parts } = await this.get(userId, id)
    const text = parts[part] ? await largeText(this.#deps.kv, reportKey(id, part)) : null
    if (!text) throw new Problem(404, 'portfolio_not_found', 'The portfolio has no report of such a part.')
    return text
  }

  async cancel(userId: string, id: string): Promise<Portfolio> {
    await this.get(userId, id)
    const finishedAt = this.#deps.clock.now()
    const changed = await this.#change(id, (portfolio) => ({ ...portfolio, state: 'cancelled', finishedAt }))
    this.#jobs.end(id)
    return changed ?? this.get(userId, id)
  }

  async remove(userId: string, id: string): Promise<void> {
    const { kv } = this.#deps
    const { parts } = await this.get(userId, id)
    let isGone = false
    await transact(kv, async (tx) => {
      const stored = await portfolios(kv).at(tx).stored(id)
      isGone = stored !== null
      if (!stored) return []
      const reports = await Promise.all(parts.map((_, part) => textKeys(tx, reportKey(id, part))))
      return [portfolios(kv).remove(stored), { deletes: [scriptsKey(id), resultKey(id), ...reports.flat()] }]
    })
    this.#jobs.end(id)
    if (!isGone) throw notFound()
  }

  /** Calls `watch` with where it is now and with every change, until it is over or the signal aborts. */
  async watch(
    userId: string,
    id: string,
    signal: AbortSignal,
    watch: (progress: PortfolioProgress) => void,
  ): Promise<void> {
    await this.#jobs.watch(await this.get(userId, id), signal, watch)
  }

  /** At start: begins again with what an earlier server did not finish. */
  async recover(): Promise<void> {
    for await (const portfolio of portfolios(this.#deps.kv).each('unfinished')) this.#jobs.begin(portfolio)
  }

  stop(): Promise<void> {
    return this.#jobs.stop()
  }

  async #run(id: string, live: LiveJob<PortfolioProgress>): Promise<void> {
    const { clock, pool, limits, tried } = this.#deps
    const portfolio = await this.#change(id, (one) => ({
      ...one,
      state: 'running',
      startedAt: one.startedAt ?? clock.now(),
    }))
    if (!portfolio) return
    const { job, host, bars } = await this.#jobOf(portfolio)
    const tell = (bar: number) => live.tell({ state: 'running', bar, bars })
    tell(0)
    const found = await pool.do('portfolio', job, {
      user: portfolio.userId,
      lane: 'long',
      budget: { timeMs: limits.timeMs * job.parts.length, memoryBytes: limits.memoryBytes },
      host,
      signal: live.signal,
      progress: tell,
    })
    await this.#keep(portfolio, found)
    for (const [i, part] of portfolio.parts.entries())
      tried(portfolio.userId, seriesName(part), found.tried[i]!)
  }

  async #jobOf({ id, userId, parts, capital, currency }: Portfolio) {
    const { bars: cache, hostFor, limits } = this.#deps
    const seen = barsSeenBy(cache, userId)
    const scripts = await this.#scriptsOf(id)
    const jobs: PortfolioJob['parts'][number][] = []
    const hosts: ScriptHost[] = []
    for (const [i, part] of parts.entries()) {
      const key = seriesOf(part, part.seriesOwner)
      const bars = await seen.read(key, { last: part.bars })
      if (bars.length === 0) throw await barsNotFound(seen, key)
      const symbol = await seen.symbol(key.exchange, key.symbol)
      const { interval, priority } = part
      jobs.push({ ...scripts[i]!, bars, symbol, interval, limits, priority })
      hosts.push(hostFor(seen, userId, key, bars))
    }
    const host: ScriptHost = { ...hosts[0]!, finer: (part = 0) => hosts[part]?.finer() ?? null }
    return {
      job: { parts: jobs, capital, currency },
      host,
      bars: jobs.reduce((sum, { bars }) => sum + bars.length, 0),
    }
  }

  async #keep({ id }: Portfolio, { result, reports }: PortfolioOutput): Promise<void> {
    const { kv, clock } = this.#deps
    const keys = reports.map((_, part) => reportKey(id, part))
    let isKept = false
    try {
      const staged: Changes[] = []
      for (const [part, key] of keys.entries()) staged.push(await stageText(kv, key, reports[part]!))
      const finishedAt = clock.now()
      const { capital, currency, whole } = result
      const { netProfit, maxDrawdownPct } = whole
      const changed = await this.#change(
        id,
        (one) => ({ ...one, state: 'done', finishedAt, capital, currency, netProfit, maxDrawdownPct }),
        () => ({
          sets: [
            { key: resultKey(id), value: JSON.stringify(result) },
            ...staged.flatMap(({ sets = [] }) => sets),
          ],
          deletes: staged.flatMap(({ deletes = [] }) => deletes),
        }),
      )
      isKept = changed !== null
    } finally {
      // Cancelled or removed a moment too late to be stopped.
      if (!isKept) for (const key of keys) await dropText(kv, key)
    }
  }

  #fail(id: string, error: JobFailure): Promise<Portfolio | null> {
    const finishedAt = this.#deps.clock.now()
    return this.#change(id, (portfolio) => ({ ...portfolio, state: 'failed', finishedAt, error }))
  }

  /** null if it is over already, or was removed. */
  #change(
    id: string,
    change: (portfolio: Portfolio) => Portfolio,
    also?: Also<Portfolio>,
  ): Promise<Portfolio | null> {
    return portfolios(this.#deps.kv).update(id, (one) => (isUnderWay(one) ? change(one) : null), also)
  }

  async #scriptsOf(id: string): Promise<readonly PartScript[]> {
    const entry = await this.#deps.kv.get(scriptsKey(id))
    if (!entry) throw notFound()
    return JSON.parse(entry.value) as PartScript[]
  }
}

function notFound(): Problem {
  return new Problem(404, 'portfolio_not_found', 'There is no such portfolio.')
}
