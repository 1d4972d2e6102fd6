// Portfolios: from being asked for to the result, over one job in a worker that runs all parts together.
//
// Nothing is kept of a portfolio that was interrupted: what a part does depends on all the others, so it begins again, with
// the bars that are stored by then.

import type { ScriptHost } from '../workers/desk.ts'
import type { PortfolioJob, PortfolioOutput } from '../workers/job.ts'
import type { JobPool } from '../workers/pool.ts'
import type { LiveJob } from '../jobs/live-jobs.ts'
import type { JobScript } from '../jobs/records.ts'
import { StoredJobs, type JobDeps } from '../jobs/stored-jobs.ts'
import { problemOfPart } from '../../lib/part-problem.ts'
import { invalidField, Problem } from '../../lib/problem.ts'
import { barsNotFound, type BarCache } from '../../market/bar-cache.ts'
import { ownerOf, seriesKey, seriesName, type SeriesKey } from '../../market/bar-store.ts'
import type { Bars } from '../../market/bars.ts'
import { requireInterval } from '../../market/interval.ts'
import { barsSeenBy, seriesOf, type SeenBars } from '../../market/seen-bars.ts'
import { askedDay } from '../../language/behaviour.ts'
import type { Limits } from '../../language/runtime/limits.ts'
import type { Key, Reader } from '../../store/kv.ts'
import { dropText, largeText, stageText, textKeys, type LargeText } from '../../store/large-text.ts'
import type { Also, Changes } from '../../store/transaction.ts'
import type { PortfolioBody, PortfolioResult } from '../../wire/portfolio.ts'
import {
  portfolios,
  reportKey,
  resultKey,
  scriptsKey,
  tracksKey,
  tradesKey,
  type StoredPart,
  type Portfolio,
} from './records.ts'

export type { Portfolio } from './records.ts'

export interface PortfolioDeps extends JobDeps {
  readonly bars: BarCache
  readonly pool: JobPool
  readonly limits: Limits
  /** What a script of this user may ask for while it runs on these bars. */
  readonly hostFor: (seen: SeenBars, userId: string, key: SeriesKey, bars: Bars) => ScriptHost
  /** Counts what was tried: each part is a trial of its script on its market. */
  readonly tried: (userId: string, market: string, tried: PortfolioOutput['tried'][number]) => void
}

export interface PortfolioProgress extends Pick<Portfolio, 'state'> {
  /** How many bars are done, and how many there are, in all parts together. */
  readonly bar: number
  readonly bars: number
}

/** The limit holds for all parts together. */
const BARS_MAX = 2_000_000
/** The portfolio has these settings, and its parts have none of their own. */
const OF_THE_WHOLE = ['initial_capital', 'currency'] as const

export class Portfolios extends StoredJobs<Portfolio, PortfolioProgress, readonly JobScript[]> {
  readonly #deps: PortfolioDeps

  constructor(deps: PortfolioDeps) {
    super(deps, {
      one: 'portfolio',
      many: 'portfolios',
      missing: 'portfolio_not_found',
      records: portfolios,
      scriptKey: scriptsKey,
    })
    this.#deps = deps
  }

  protected override progressOf({ state }: Portfolio): PortfolioProgress {
    return { state, bar: 0, bars: 0 }
  }

  protected override async keysOf({ id, parts }: Portfolio, reader: Reader): Promise<Key[]> {
    const texts = [tradesKey(id), ...parts.flatMap((_, part) => [reportKey(id, part), tracksKey(id, part)])]
    const keys = await Promise.all(texts.map((key) => textKeys(reader, key)))
    return [resultKey(id), ...keys.flat()]
  }

  /** Checks what can be checked without a worker, keeps the portfolio as queued, and returns. */
  async create(userId: string, body: PortfolioBody, also?: Also<Portfolio>): Promise<Portfolio> {
    const { clock, newId, bars: cache } = this.#deps
    const seen = barsSeenBy(cache, userId)
    const parts: StoredPart[] = []
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
      const isThere = (await seen.source(key)) !== null
      const { length } = isThere ? await seen.read(key, { last: part.bars }) : { length: 0 }
      if (length === 0) throw problemOfPart(await barsNotFound(seen, key), i, body.parts.length)
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
      asOf: askedDay(body.asOf, clock.now()),
      parts,
      netProfit: null,
      maxDrawdownPct: null,
      error: null,
    }
    const scripts = body.parts.map(({ source, inputs = {}, overrides = {} }) => ({
      source,
      inputs,
      overrides,
    }))
    const { job, host } = await this.#jobOf(portfolio, scripts)
    // What is wrong with a part is said in the answer to this request, not later in a failed job.
    await this.#deps.pool.do('checkPortfolio', job, { ...this.#optionsFor(portfolio, host), lane: 'quick' })
    return this.add(portfolio, scripts, also)
  }

  /** null while there is none. */
  async result(userId: string, id: string): Promise<PortfolioResult | null> {
    await this.get(userId, id)
    return this.valueAt(resultKey(id))
  }

  /** JSON text of a part's report. */
  async report(userId: string, id: string, part: number): Promise<LargeText> {
    const { parts } = await this.get(userId, id)
    const text = parts[part] ? await largeText(this.#deps.kv, reportKey(id, part)) : null
    if (!text) throw new Problem(404, 'portfolio_not_found', 'The portfolio has no report of such a part.')
    return text
  }

  /** JSON text of a part's tracks. */
  async tracks(userId: string, id: string, part: number): Promise<LargeText> {
    const { parts } = await this.get(userId, id)
    const text = parts[part] ? await largeText(this.#deps.kv, tracksKey(id, part)) : null
    if (!text)
      throw new Problem(
        404,
        'portfolio_not_found',
        'There is no chart of such a part: the portfolio is not done, or from before charts were kept, or the charts of all parts would have been too much to keep.',
      )
    return text
  }

  /** The trades of all parts as CSV. */
  async trades(userId: string, id: string): Promise<LargeText> {
    await this.get(userId, id)
    const text = await largeText(this.#deps.kv, tradesKey(id))
    if (!text) throw new Problem(404, 'portfolio_not_found', 'The portfolio has no list of trades.')
    return text
  }

  protected override async work(id: string, live: LiveJob<Portfolio, PortfolioProgress>): Promise<void> {
    const { pool, tried } = this.#deps
    const portfolio = await this.started(id)
    if (!portfolio) return
    const { job, host, bars } = await this.#jobOf(portfolio, await this.scriptOf(id))
    const tell = (bar: number) => live.tell({ state: 'running', bar, bars })
    tell(0)
    const found = await pool.do('portfolio', job, {
      ...this.#optionsFor(portfolio, host),
      signal: live.signal,
      progress: tell,
    })
    await this.#keep(portfolio, found)
    for (const [i, part] of portfolio.parts.entries())
      tried(portfolio.userId, seriesName(part), found.tried[i]!)
  }

  #optionsFor({ userId, parts }: Portfolio, host: ScriptHost) {
    const { limits } = this.#deps
    const budget = { timeMs: limits.timeMs * parts.length, memoryBytes: limits.memoryBytes }
    return { user: userId, lane: 'long' as const, budget, host }
  }

  async #jobOf({ userId, parts, capital, currency, asOf }: Portfolio, scripts: readonly JobScript[]) {
    const { bars: cache, hostFor, limits } = this.#deps
    const seen = barsSeenBy(cache, userId)
    const jobs: PortfolioJob['parts'][number][] = []
    const hosts: ScriptHost[] = []
    for (const [i, part] of parts.entries()) {
      const key = seriesOf(part, part.seriesOwner)
      const bars = await seen.read(key, { last: part.bars })
      if (bars.length === 0) throw await barsNotFound(seen, key)
      const symbol = await seen.symbol(key.exchange, key.symbol)
      const { interval, priority } = part
      jobs.push({ ...scripts[i]!, asOf, bars, symbol, interval, limits, priority })
      hosts.push(hostFor(seen, userId, key, bars))
    }
    const host: ScriptHost = { ...hosts[0]!, finer: (part = 0) => hosts[part]?.finer() ?? null }
    return {
      job: { parts: jobs, capital, currency },
      host,
      bars: jobs.reduce((sum, { bars }) => sum + bars.length, 0),
    }
  }

  async #keep({ id }: Portfolio, { result, reports, partTracks, trades }: PortfolioOutput): Promise<void> {
    const { kv } = this.#deps
    const texts = [
      { key: tradesKey(id), text: trades },
      ...reports.map((text, part) => ({ key: reportKey(id, part), text })),
      ...partTracks.flatMap((text, part) => (text ? [{ key: tracksKey(id, part), text }] : [])),
    ]
    let isKept = false
    try {
      const staged: Changes[] = []
      for (const { key, text } of texts) staged.push(await stageText(kv, key, text))
      const { capital, currency, whole } = result
      const { netProfit, maxDrawdownPct } = whole
      const changed = await this.done(id, { capital, currency, netProfit, maxDrawdownPct }, () => ({
        sets: [
          { key: resultKey(id), value: JSON.stringify(result) },
          ...staged.flatMap(({ sets = [] }) => sets),
        ],
        deletes: staged.flatMap(({ deletes = [] }) => deletes),
      }))
      isKept = changed !== null
    } finally {
      // It was cancelled or removed a moment too late to be stopped.
      if (!isKept) for (const { key } of texts) await dropText(kv, key)
    }
  }
}
