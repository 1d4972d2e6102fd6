// A sweep's verdict as it is stored and shown: what was judged of its trials, with what was found of luck, and the sentence.

import { luckSentence, percentText } from '../../broker/statistics/luck.ts'
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
}

/** As many points of a scatter plot as an eye can tell apart. */
const SHOWN_MAX = 1000
const BINS = 30

/** `found` are all parts, in their order. */
export function withLuck({ verdict: judged, isOne, loses }: Judged, found: readonly LuckFound[]): Verdict {
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
  return { ...verdict, sentence: isOne ? sentenceOfOne(verdict) : sentenceOf(verdict, loses) }
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
function sentenceOf(verdict: Omit<Verdict, 'sentence'>, loses: boolean): string {
  const { best, trials, counted, sharpe, walkForward: forward, heldOut, overfitting: split } = verdict
  if (trials === 0) return 'Nothing was tried: no choice of values meets the conditions.'
  const count = counted.toLocaleString('en')
  if (!best || !sharpe) return `${count} tried, and none meets the objective and its constraints.`
  const luck = sharpe.deflated === null ? null : 1 - sharpe.deflated
  const head = counted === 1 ? 'One tried' : `Best of ${count} tried`
  const says = [loses ? `${head}, and it loses money.` : `${head}.`, luckSentence(sharpe.deflated)]
  const isLucky = luck === null || luck > 0.05
  const [cell] = forward?.cells ?? []
  if (forward && forward.cells.length > 1) {
    const isRobust = forward.passed >= forward.cells.length / 2 && !isLucky
    says.push(
      `Walk-forward passes in ${forward.passed} of ${forward.cells.length} cells: ${judged(isRobust)}.`,
    )
  } else if (cell) {
    const kept =
      cell.efficiency === null
        ? 'had no profit to keep'
        : cell.efficiency <= 0
          ? `${cell.profit < 0 ? 'loses money' : 'earns nothing'} out of sample`
          : `keeps ${percentText(cell.efficiency)} of the profit`
    says.push(`Walk-forward ${kept}: ${judged(cell.passed && !isLucky)}.`)
  } else if (heldOut) {
    const { efficiency } = heldOut
    const kept =
      efficiency === null
        ? 'had no profit to keep'
        : efficiency <= 0
          ? heldOut.netProfit < 0
            ? 'lose money'
            : 'earn nothing'
          : `keep ${percentText(efficiency)} of the profit`
    says.push(`The bars held out ${kept}: ${judged(efficiency !== null && efficiency >= 0.5 && !isLucky)}.`)
  } else if (split) {
    const isRobust = split.probability < 0.1 && !isLucky
    says.push(`Probability of overfitting: ${percentText(split.probability)}: ${judged(isRobust)}.`)
  }
  return says.join(' ')
}

/** The sentence for a single backtest, which is one of so many tries. */
function sentenceOfOne({ counted, sharpe, monteCarlo }: Omit<Verdict, 'sentence'>): string {
  const tries =
    counted <= 1 ? 'The only try of this script here.' : `One of ${counted.toLocaleString('en')} tried.`
  const loss = monteCarlo
    ? ` Drawn at random again, its trades lose in ${percentText(monteCarlo.loss)} of the histories.`
    : ''
  return `${tries} ${luckSentence(sharpe?.deflated ?? null)}${loss}`
}

const judged = (isRobust: boolean) => (isRobust ? 'robust' : 'not robust')
