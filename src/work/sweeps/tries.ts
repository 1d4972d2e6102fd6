// What stands beside a single result: how often its script was tried on its market, and what luck leaves of it.

import { lazily } from '../../lib/memo.ts'
import { seriesName, type SeriesKey } from '../../market/bar-store.ts'
import type { BacktestOutput } from '../workers/job.ts'
import type { SharpeRecord } from '../../broker/statistics/probabilistic-sharpe.ts'
import type { Trials } from '../../wire/trials.ts'
import type { Ledger, TriedScript } from './ledger.ts'

/** A result, as stored backtests are. */
export interface Result extends SeriesKey {
  readonly userId: string
  /** The script's name in the ledger; missing in records from before there was one. */
  readonly tried?: string
  /** null if nothing was traded, missing in records from before they were kept. */
  readonly moments?: SharpeRecord | null
  /** Whether holding would have made more. */
  readonly lags?: boolean
  readonly range: { readonly from: number; readonly to: number; readonly bars: number } | null
}

/** Statistics bring a library, which is loaded with the first result. Asking for what is loaded costs each result 100 µs. */
const statistics = lazily(async () => ({
  ...(await import('../../broker/statistics/judged-sharpe.ts')),
  ...(await import('../../broker/statistics/deflated-sharpe.ts')),
  ...(await import('../../broker/statistics/luck-text.ts')),
}))

/** Counts a result that was just made, and answers what the count says of it. */
export async function resultTried(
  ledger: Ledger,
  result: Result,
  { script, formerly, trial, moments, lags }: BacktestOutput['tried'],
): Promise<Trials> {
  const known = { ...result, tried: script, moments, lags }
  const of = { ...triedScript(known)!, formerly }
  await ledger.rename(of)
  ledger.note({ ...of, trial, ...(moments && { sharpe: moments.sharpe }) })
  return (await triesOf(ledger, known))!
}

/** The tries so far, those that are noted and not written yet too; null for a result that the ledger does not know. */
export async function triesOf(ledger: Ledger, result: Result): Promise<Trials | null> {
  const { moments, range, lags = false } = result
  const tried = await triedOf(ledger, result)
  if (!tried || !range) return null
  const { counted } = tried
  const market = seriesName(result)
  const tries =
    counted === 1
      ? `The only combination of this script tried on ${market}.`
      : `Tried ${grouped(counted)} combinations of this script on ${market}.`
  if (!moments) return { counted, sentence: tries, sharpe: null, length: null }
  const { judgedSharpe, judgedLength, luckSentence } = await statistics()
  const sharpe = judgedSharpe(moments, counted, tried.deviation)
  return {
    counted,
    sentence: `${tries} ${luckSentence(sharpe.deflated, lags)}`,
    sharpe,
    length: judgedLength(sharpe, counted, range.to - range.from),
  }
}

/** How many trials a result was chosen from, and how far their Sharpe ratios lie apart. */
export async function triedOf(
  ledger: Ledger,
  result: Result,
): Promise<{ readonly counted: number; readonly deviation: number } | null> {
  const of = triedScript(result)
  if (!of) return null
  const { count, deviation } = await ledger.counted(of)
  const { deviationByLuck } = await statistics()
  return {
    // A server that stopped suddenly may have lost the one trial that this result is.
    counted: Math.max(1, count),
    deviation: deviation ?? deviationByLuck(result.range?.bars ?? 0),
  }
}

export function triedScript({ userId, tried: script, ...series }: Result): TriedScript | null {
  return script === undefined ? null : { userId, script, market: seriesName(series) }
}

/** How often the scripts of these results were tried; null for results that the ledger does not know. */
export async function countsOf(
  ledger: Ledger,
  results: readonly Result[],
): Promise<(result: Result) => number | null> {
  const scripts = new Map(
    results.flatMap((result) => {
      const of = triedScript(result)
      return of ? [[`${of.market} ${of.script}`, of] as const] : []
    }),
  )
  const counts = await ledger.counts([...scripts.values()])
  const found = new Map([...scripts.keys()].map((name, i) => [name, counts[i]!]))
  return (result) => found.get(`${seriesName(result)} ${result.tried}`) ?? null
}

/** As `toLocaleString('en')` has it, which takes 30 µs. */
const grouped = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
