// The figures of a verdict, each with a value to compare it with.

import { count, percent, ratio } from '../format.ts'
import j from '../jobs/jobs.module.css'
import { href } from '../router.ts'
import { cx } from '../ui/ui.tsx'
import type { Verdict } from '../../wire/sweep.ts'
import s from './sweeps.module.css'

export function VerdictFigures({ verdict }: { readonly verdict: Verdict }) {
  const { counted, sharpe, length, overfitting, snooping, plateau, heldOut, monteCarlo, costs } = verdict
  const rows: readonly (readonly [string, string, string] | null | false)[] = [
    ['Trials counted', count(counted), 'Distinct choices of this script on this market, ever'],
    sharpe && [
      'Deflated Sharpe ratio',
      percent(sharpe.deflated),
      'Chance that it is better than luck; above 95% convinces',
    ],
    sharpe && [
      '… with independent tries',
      percent(sharpe.deflatedIndependent),
      `${count(sharpe.independent)} of them`,
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
    snooping && ['White’s reality check, p', ratio(snooping.white.upper, 3), 'Below 0.05 convinces'],
    snooping && ['Hansen’s test, p', ratio(snooping.hansen.consistent, 3), 'Below 0.05 convinces'],
    plateau && ['Plateau', ratio(plateau.median), `1 is flat, 0 a needle; least ${ratio(plateau.least)}`],
    heldOut && [
      'Profit held out',
      ratio(heldOut.netProfit),
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
  return (
    <section class={j.section}>
      <h2>What is left</h2>
      <p class={cx(j.note, s.means)}>
        <a href={href('/help/sweep-verdict')}>What each of these means</a>
      </p>
      <dl class={cx(j.figures, s.wide)}>
        {rows
          .filter((row) => row !== null && row !== false)
          .map(([name, value, note]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {value}
                <small>{note}</small>
              </dd>
            </div>
          ))}
      </dl>
    </section>
  )
}
