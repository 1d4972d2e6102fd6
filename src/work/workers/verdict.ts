// A sweep's verdict as it is stored and shown: what was judged of its trials, with what was found of luck, and the sentence.

import { luckSentence, percentText } from '../../broker/statistics/luck-text.ts'
import { overfittingOf, type Overfitting } from '../../broker/statistics/overfitting.ts'
import { snoopingOf, type SnoopingTest } from '../../broker/statistics/reality-check.ts'
import type { Verdict } from '../../wire/sweep.ts'
import type { LuckFound } from './luck.ts'

/** A verdict that lacks what was found of luck. */
export interface Judged {
  readonly verdict: Omit<Verdict, 'sentence'>
  /** Whether a single backtest is judged. */
  readonly isOne: boolean
  /** Whether the best loses money. */
  readonly loses: boolean
  /** Whether holding would have made more than the best. */
  readonly lags: boolean
  /** Distinct trials of this sweep alone, with those that halving sorted out. */
  readonly own: number
}

/** As many points of a scatter plot as an eye can tell apart. */
const SHOWN_MAX = 1000
const BINS = 30

/** `found` are all parts, in their order. */
export function withLuck({ verdict: judged, ...of }: Judged, found: readonly LuckFound[]): Verdict {
  const split = overfittingOf(joined(found.map(({ pairs }) => pairs)))
  const tests = snoopingOf(found.map(({ histories }) => histories))
  const verdict = {
    ...judged,
    overfitting: split && shownOverfitting(split),
    snooping: tests && {
      trials: Math.max(...found.map(({ snooped }) => snooped)),
      white: shownTest(tests.white),
      hansen: shownTest(tests.hansen),
    },
  }
  return { ...verdict, sentence: of.isOne ? sentenceOfOne(verdict, of) : sentenceOf(verdict, of) }
}

function joined(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

const shownTest = ({ statistic, lower, consistent, upper }: SnoopingTest) => ({
  statistic,
  lower,
  consistent,
  upper,
})

function shownOverfitting(found: Overfitting): NonNullable<Verdict['overfitting']> {
  const { splits, probability, slope, intercept, loss, logits, inSample, outOfSample } = found
  const finite = logits.filter(Number.isFinite)
  const edge = Math.max(1, ...finite.map(Math.abs))
  const counts = Array.from({ length: BINS }, () => 0)
  for (const logit of finite) counts[Math.min(BINS - 1, Math.floor(((logit + edge) / (2 * edge)) * BINS))]!++
  const every = Math.ceil(splits / SHOWN_MAX)
  const points: [number, number][] = []
  for (let i = 0; i < splits; i += every) points.push([inSample[i]!, outOfSample[i]!])
  return { splits, probability, slope, intercept, loss, logits: { from: -edge, to: edge, counts }, points }
}

/** The sentence that a trader reads first. */
function sentenceOf(
  verdict: Omit<Verdict, 'sentence'>,
  { loses, lags, own }: Omit<Judged, 'verdict'>,
): string {
  const { best, trials, counted, sharpe } = verdict
  if (trials === 0) return 'Nothing was tried: no choice of values meets the conditions.'
  const tried = own.toLocaleString('en')
  if (!best || !sharpe) return `${tried} tried, and none meets the objective and its constraints.`
  const head = own === 1 ? 'One tried' : `Best of ${tried} tried`
  const before = counted > own ? ` (${counted.toLocaleString('en')} with those before)` : ''
  const says = [
    `${head}${before}${loses ? ', and it loses money' : ''}.`,
    luckSentence(sharpe.deflated, lags),
  ]
  const luck = sharpe.deflated === null ? null : 1 - sharpe.deflated
  const doubt =
    luck === null
      ? 'too few bars tell it from luck'
      : luck > LUCK_MOST
        ? `luck is likelier than ${percentText(LUCK_MOST)}`
        : null
  const test = testOf(verdict)
  if (test) {
    // The reason that decides is named where the figure alone would speak for it.
    const but = test.but ?? (test.passes ? doubt : null)
    says.push(`${test.says}${but === null ? '' : `, but ${but}`}: ${judged(test.passes && doubt === null)}.`)
  }
  return says.join(' ')
}

const LUCK_MOST = 0.05

interface Test {
  readonly says: string
  readonly passes: boolean
  /** Why it does not pass, where its figure does not tell. */
  readonly but?: string | null
}

/** What the best did on bars that it was not chosen by; null if nothing was held back. */
function testOf({
  walkForward: forward,
  heldOut,
  overfitting: split,
}: Omit<Verdict, 'sentence'>): Test | null {
  const [cell] = forward?.cells ?? []
  if (forward && forward.cells.length > 1)
    return {
      says: `Walk-forward passes in ${forward.passed} of ${forward.cells.length} cells`,
      passes: forward.passed >= forward.cells.length / 2,
    }
  if (cell) {
    const { efficiency, profit, passes, passed } = cell
    if (efficiency === null) return { says: 'Walk-forward had no profit to keep', passes: passed }
    if (efficiency <= 0)
      return {
        says: `Walk-forward ${profit < 0 ? 'loses money' : 'earns nothing'} out of sample`,
        passes: passed,
      }
    return {
      says: `Walk-forward keeps ${percentText(efficiency)} of the profit`,
      passes: passed,
      but: passes.efficiency ? (FAILS.find(([rule]) => !passes[rule])?.[1] ?? null) : null,
    }
  }
  if (heldOut) {
    const { efficiency, netProfit } = heldOut
    if (efficiency === null) return { says: 'The bars held out had no profit to keep', passes: false }
    if (efficiency <= 0)
      return { says: `The bars held out ${netProfit < 0 ? 'lose money' : 'earn nothing'}`, passes: false }
    return {
      says: `The bars held out keep ${percentText(efficiency)} of the profit`,
      passes: efficiency >= 0.5,
    }
  }
  return (
    split && {
      says: `The probability of overfitting is ${percentText(split.probability)}`,
      passes: split.probability < 0.1,
    }
  )
}

/** The rules of a walk-forward that can fail although most of the profit is kept. */
const FAILS = [
  ['runs', 'fewer than half of its windows earn'],
  ['spread', 'one window earns more than half of it'],
  ['drawdown', 'a window falls by more than 40%'],
] as const

/** The sentence for a single backtest, which is one of so many tries. */
function sentenceOfOne(
  { counted, sharpe, monteCarlo }: Omit<Verdict, 'sentence'>,
  { lags }: Pick<Judged, 'lags'>,
): string {
  const tries =
    counted <= 1 ? 'The only try of this script here.' : `One of ${counted.toLocaleString('en')} tried.`
  const loss = monteCarlo
    ? ` Drawn at random again, its trades lose in ${percentText(monteCarlo.loss)} of the histories.`
    : ''
  return `${tries} ${luckSentence(sharpe?.deflated ?? null, lags)}${loss}`
}

const judged = (isRobust: boolean) => (isRobust ? 'robust' : 'not robust')
