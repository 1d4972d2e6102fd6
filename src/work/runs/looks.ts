// What is found out about a finished backtest: it runs again, or its report is read again. Nothing of it is stored.

import { rowLayout, wholeRun } from '../../broker/measured.ts'
import type { SharpeRecord } from '../../broker/statistics/probabilistic-sharpe.ts'
import type { TextBytes } from '../workers/answer.ts'
import type { ExplainJob } from '../workers/job.ts'
import { storedHost } from '../workers/stored-text.ts'
import type { JobOptions } from '../workers/task.ts'
import { withLuck } from '../workers/verdict.ts'
import { Problem } from '../../lib/problem.ts'
import { lowerBound, type Bars } from '../../market/bars.ts'
import { barsRunOn } from '../../market/seen-bars.ts'
import type { LargeText } from '../../store/large-text.ts'
import type { Verification } from '../../wire/backtest.ts'
import type { Stretch } from '../../wire/judgement.ts'
import type { Verdict } from '../../wire/sweep.ts'
import { keyOf, type LiveRun, type Plan, type PlanDeps, type RunPlans } from './plan.ts'
import { notFound, type Run } from './records.ts'
import type { JobScript } from '../jobs/records.ts'

/** The most bars before a run's first among which an earlier beginning is looked for. */
const EARLIER_MAX = 100_000

const STRETCH_FIGURES = [
  'trades',
  'netProfit',
  'netProfitPct',
  'winRate',
  'profitFactor',
  'maxDrawdownPct',
] as const

/** A run that knows on which bars it ran. */
export type DoneRun = Run & { readonly range: NonNullable<Run['range']> }

/** Stored runs, as these looks need them. */
interface StoredRuns {
  done(userId: string, id: string): Promise<DoneRun>
  script(userId: string, id: string): Promise<JobScript>
  report(userId: string, id: string): Promise<LargeText | null>
  tracks(userId: string, id: string): Promise<LargeText | null>
  attended<R>(run: Run, signal: AbortSignal, work: (live: LiveRun) => Promise<R>): Promise<R>
}

type Work<R> = (job: ReturnType<RunPlans['jobOf']>, options: JobOptions, plan: Plan) => Promise<R>

export class RunLooks {
  readonly #deps: Pick<PlanDeps, 'bars' | 'pool' | 'limits'>
  readonly #plans: RunPlans
  readonly #runs: StoredRuns

  constructor(deps: Pick<PlanDeps, 'bars' | 'pool' | 'limits'>, plans: RunPlans, runs: StoredRuns) {
    this.#deps = deps
    this.#plans = plans
    this.#runs = runs
  }

  /** Runs it again on its bars, as they are now, and compares the reports. */
  async verify(userId: string, id: string, signal: AbortSignal): Promise<Verification> {
    return this.#again(userId, id, signal, async (job, options) => {
      const stored = await this.#runs.report(userId, id)
      // It was removed together with the run.
      if (stored === null) throw notFound()
      const host = { ...options.host, ...storedHost({ report: stored.parts }) }
      return this.#deps.pool.do('verify', job, { ...options, host })
    })
  }

  /** The verdict on it: what is left of it without luck, given how many trials were made. */
  verdict(
    userId: string,
    id: string,
    signal: AbortSignal,
    tried: { readonly counted: number; readonly deviation: number },
  ): Promise<Verdict> {
    const { pool } = this.#deps
    return this.#again(userId, id, signal, async (run, options) => {
      const measured = wholeRun(run.bars.length)
      const job = { ...run, points: [{ inputs: {}, overrides: {} }], measured }
      const { rows, failures } = await pool.do('trials', job, options)
      const [failure] = failures
      if (failure) throw new Problem(422, 'script_runtime_error', failure.message)
      const alone = {
        steps: new Int32Array(0),
        axes: [],
        cells: [],
        winners: [],
        failed: 0,
        filtered: 0,
        seed: 1,
      }
      const judge = { ...job, ...alone, ...tried, rows, luck: 'here' as const }
      const { judged, luck } = await pool.do('judge', judge, options)
      return withLuck(judged, luck)
    })
  }

  /** Figures of the bars from one time to before another, with the moments of their returns; null where it has none there. */
  stretch(
    userId: string,
    id: string,
    { from, to }: { readonly from: number; readonly to: number },
    signal: AbortSignal,
  ): Promise<{ readonly stretch: Stretch; readonly record: SharpeRecord } | null> {
    return this.#again(userId, id, signal, async (run, options) => {
      const { time } = run.bars
      const inside = { from: lowerBound(time, from), to: lowerBound(time, to) }
      const bars = inside.to - inside.from
      if (bars <= 0) return null
      const measured = {
        ...wholeRun(run.bars.length),
        figures: STRETCH_FIGURES,
        inside,
        pieces: Math.min(64, bars),
      }
      const job = { ...run, points: [{ inputs: {}, overrides: {} }], measured }
      const { rows, failures } = await this.#deps.pool.do('trials', job, options)
      const [failure] = failures
      if (failure) throw new Problem(422, 'script_runtime_error', failure.message)
      const layout = rowLayout(measured)
      const at = (column: number) => (Number.isFinite(rows[column]) ? rows[column]! : 0)
      const record = {
        count: at(layout.bars),
        sharpe: at(layout.sharpe),
        skewness: at(layout.skewness),
        kurtosis: at(layout.kurtosis),
      }
      const figures = Object.fromEntries(
        STRETCH_FIGURES.map((name, i) => [name, at(layout.figures + i)]),
      ) as Pick<Stretch, (typeof STRETCH_FIGURES)[number]>
      const stretch = {
        from: time[inside.from]!,
        to: time[inside.to - 1]!,
        bars,
        ...figures,
        sharpe: record.sharpe,
      }
      return { stretch, record }
    })
  }

  /** JSON text of where it sees the future or repaints (`broker/repaint.ts`). */
  repaint(userId: string, id: string, signal: AbortSignal): Promise<string> {
    return this.#again(userId, id, signal, (job, options) => this.#deps.pool.do('repaint', job, options))
  }

  /** JSON text of why it differs from an export; `null` if it does not. */
  explain(
    userId: string,
    id: string,
    list: Pick<ExplainJob, 'exported' | 'lost' | 'timezone'>,
    signal: AbortSignal,
  ): Promise<string> {
    return this.#again(userId, id, signal, async (job, options, plan) =>
      this.#deps.pool.do('explain', { ...job, ...list, earlier: await this.#earlierBars(plan) }, options),
    )
  }

  /** JSON text of what may be published of it (`work/workers/publish-job.ts`). */
  async published(userId: string, id: string, signal: AbortSignal): Promise<TextBytes> {
    const { pool, limits: budget } = this.#deps
    const run = await this.#runs.done(userId, id)
    const bars = await this.#barsOf(run)
    if (bars.length !== run.range.bars)
      throw new Problem(
        409,
        'conflict',
        'The bars of this backtest have changed since. Run it again, and publish that one.',
      )
    const [report, tracks] = [await this.#runs.report(userId, id), await this.#runs.tracks(userId, id)]
    // They were removed together with the run.
    if (!report || !tracks) throw notFound()
    const host = storedHost({ report: report.parts, tracks: tracks.parts })
    return pool.do('publish', { bars }, { user: userId, lane: 'prompt', budget, host, signal })
  }

  /** The bars that it ran on, as they are now. */
  async barsOf(userId: string, id: string): Promise<Bars> {
    return this.#barsOf(await this.#runs.done(userId, id))
  }

  #barsOf(run: DoneRun): Promise<Bars> {
    const { range } = run
    return barsRunOn(this.#deps.bars, run.userId, keyOf(run), { from: range.from, to: range.to + 1 })
  }

  /** Does `work` with a job that runs it again on the same bars. */
  async #again<R>(userId: string, id: string, signal: AbortSignal, work: Work<R>): Promise<R> {
    const run = await this.#runs.done(userId, id)
    const bars = await this.#barsOf(run)
    const plan = await this.#plans.again(run, await this.#runs.script(userId, id), bars)
    return this.#runs.attended(run, signal, (live) =>
      work(this.#plans.jobOf(plan), this.#plans.optionsFor(live, plan, 'long'), plan),
    )
  }

  /** All bars up to a run's last; null where it had them all. */
  async #earlierBars({ run, key, bars }: Plan): Promise<Bars | null> {
    const range = { to: (bars.time.at(-1) ?? 0) + 1, last: bars.length + EARLIER_MAX }
    const all = await barsRunOn(this.#deps.bars, run.userId, key, range)
    return all.length > bars.length ? all : null
  }
}
