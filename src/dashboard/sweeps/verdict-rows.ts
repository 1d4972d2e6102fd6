// The figures of a verdict in words: name, value, and what to compare it with or what it counts.

import { count, percent, ratio, gain } from '../format.ts'
import type { Verdict } from '../../wire/sweep.ts'

export type VerdictRow = readonly [name: string, value: string, note: string]

type Wanted = VerdictRow | null | false

export function verdictRows(verdict: Verdict): readonly VerdictRow[] {
  return [...luckRows(verdict), ...otherRows(verdict)].filter((row) => row !== null && row !== false)
}

/** A verdict of one trial is that of a run: how alike the others are that are counted, it cannot know. */
function luckRows({ trials, counted, sharpe, length, overfitting, snooping, heldOut }: Verdict): Wanted[] {
  const isOne = trials === 1
  const tries = counted === 1 ? 'one try' : `all ${count(counted)} tries`
  const rest = heldOut ? ' that it was chosen by' : ''
  const snooped = `${isOne || !snooping ? 'Of this run alone' : `Of this sweep’s ${count(snooping.trials)} trials alone`}; below 0.05 convinces`
  return [
    ['Trials counted', count(counted), 'Distinct choices of this script on this market, ever'],
    sharpe && [
      'Deflated Sharpe ratio',
      percent(sharpe.deflated),
      `Chance that it is better than luck in ${tries}, on the ${count(sharpe.bars)} bars${rest}; above 95% convinces`,
    ],
    sharpe && [
      '… with independent tries',
      percent(sharpe.deflatedIndependent),
      isOne
        ? `${count(sharpe.independent)} of them: how alike they are, one run does not tell`
        : `${count(sharpe.independent)} of them: all that are counted, as alike as this sweep’s`,
    ],
    sharpe && ['Probabilistic Sharpe ratio', percent(sharpe.probabilistic), 'If it had been the only try'],
    sharpe && [
      'Least track record',
      sharpe.leastBars === null ? 'none is enough' : `${count(sharpe.leastBars)} bars`,
      `There are ${count(sharpe.bars)}`,
    ],
    length && ['Least backtest length', `${ratio(length.years)} years`, `There are ${ratio(length.have)}`],
    overfitting && [
      'Probability of overfitting',
      percent(overfitting.probability),
      'Below 10% is good; 50% is a coin',
    ],
    overfitting && ['Probability of loss', percent(overfitting.loss), 'Of the best of one half on the other'],
    snooping && ['White’s reality check, p', ratio(snooping.white.upper, 3), snooped],
    snooping && ['Hansen’s test, p', ratio(snooping.hansen.consistent, 3), snooped],
  ]
}

function otherRows({ plateau, heldOut, monteCarlo, costs }: Verdict): Wanted[] {
  return [
    plateau && [
      'Plateau',
      ratio(plateau.median),
      `1 is flat, 0 a needle${plateau.median < 0 ? ', and below 0 most neighbours score below it' : ''}; least ${ratio(plateau.least)}`,
    ],
    heldOut && [
      'Profit held out',
      gain(heldOut.netProfitPct),
      `${count(heldOut.trades)} trades on ${count(heldOut.bars)} bars`,
    ],
    heldOut && ['… of the profit a bar', percent(heldOut.efficiency, { places: 0 }), 'Above 50% is good'],
    monteCarlo && [
      'Max drawdown, shuffled',
      percent(monteCarlo.order.drawdownPct.middle),
      `95%: ${percent(monteCarlo.order.drawdownPct.high)}`,
    ],
    monteCarlo && ['Chance of a loss', percent(monteCarlo.loss), 'Trades drawn at random, with replacement'],
    costs && [
      'Slippage that takes it all',
      costs.breakEvenTicks === null ? '—' : `${ratio(costs.breakEvenTicks, 1)} ticks`,
      'A fill, on top of what was counted',
    ],
  ]
}

/** The trials that stand beside each other, by what they are; one that is both stands once. */
export function chosenOf(verdict: Verdict, robust: number | null): readonly (readonly [string, number])[] {
  const best = verdict.best?.trial ?? null
  if (best !== null && best === robust) return [['Best, and most robust', best]]
  return [
    ...(best === null ? [] : [['Best', best] as const]),
    ...(robust === null ? [] : [['Most robust', robust] as const]),
  ]
}

/** The most robust trial; null where it loses, as verdicts from before had it, or where there is none. */
export function robustOf(
  { robust }: Verdict,
  trials: readonly { readonly trial: number; readonly figures: Readonly<Record<string, number | null>> }[],
): number | null {
  const profit = trials.find(({ trial }) => trial === robust?.trial)?.figures['netProfit']
  return !robust || (profit ?? 0) < 0 ? null : robust.trial
}
