// Prints a sweep's verdict: the sentence, the best trials, and the figures behind the sentence.

import type { Bars } from '../market/bars.ts'
import type { Sweep } from '../work/sweeps/sweeps.ts'
import type { StitchedEquity, SweepTrial, Verdict } from '../wire/sweep.ts'
import { drawdownName, trialFigure } from '../wire/sweep-figures.ts'
import { formatNumber, formatPercent, formatTime, right, tableLines } from './table.ts'

const SHOWN = 10
const RULES = {
  profit: 'profit',
  efficiency: 'efficiency',
  runs: 'runs',
  spread: 'spread',
  drawdown: 'drawdown',
} as const

export function verdictLines(
  sweep: Sweep,
  verdict: Verdict,
  trials: readonly SweepTrial[],
  bars: Bars,
  stitched: readonly StitchedEquity[],
): string[] {
  const ranked = trials
    .filter(({ score }) => score !== null)
    .toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0))
    .slice(0, SHOWN)
  return [
    verdict.sentence,
    '',
    ...trialLines(sweep, ranked),
    '',
    ...figureLines(verdict),
    ...walkForwardLines(verdict, bars, stitched),
    `As of ${sweep.asOf}.`,
  ]
}

function trialLines(sweep: Sweep, ranked: readonly SweepTrial[]): string[] {
  const names = sweep.space.map(({ input, property }) => input ?? property ?? '')
  const profit = trialFigure('Net profit', sweep)
  const columns = [...names, 'Score', 'Trades', profit, drawdownName(sweep), 'Sharpe a bar'].map(right)
  return tableLines(
    columns,
    ranked.map(({ choices, score, figures, sharpe }) => [
      ...choices.map(String),
      formatNumber(score, 4),
      formatNumber(figures['trades'], 0),
      formatNumber(figures['netProfit']),
      formatPercent(figures['maxDrawdownPct']),
      formatNumber(sharpe, 4),
    ]),
  )
}

function figureLines({
  sharpe,
  length,
  overfitting,
  snooping,
  robust,
  plateau,
  heldOut,
  monteCarlo,
  costs,
  counted,
  failed,
}: Verdict): string[] {
  const rows: (readonly [string, string] | null)[] = [
    ['Trials counted', formatNumber(counted, 0)],
    failed > 0 ? ['Failed', formatNumber(failed, 0)] : null,
    sharpe && ['Deflated Sharpe ratio', formatPercent(sharpe.deflated)],
    sharpe && [
      '… counting independent tries',
      `${formatPercent(sharpe.deflatedIndependent)} (${formatNumber(sharpe.independent, 0)})`,
    ],
    sharpe && ['Probabilistic Sharpe ratio', formatPercent(sharpe.probabilistic)],
    sharpe && [
      'Least track record',
      sharpe.leastBars === null
        ? 'none is long enough'
        : `${formatNumber(sharpe.leastBars, 0)} bars (there are ${formatNumber(sharpe.bars, 0)})`,
    ],
    length && [
      'Least backtest length',
      `${formatNumber(length.years)} years (there are ${formatNumber(length.have)})`,
    ],
    overfitting && ['Probability of overfitting', formatPercent(overfitting.probability)],
    overfitting && ['… of a loss out of sample', formatPercent(overfitting.loss)],
    snooping && ["White's reality check, p", formatNumber(snooping.white.upper, 3)],
    snooping && ["Hansen's test, p", formatNumber(snooping.hansen.consistent, 3)],
    plateau && [
      'Plateau (1 = flat, 0 = needle)',
      `${formatNumber(plateau.median)}, least ${formatNumber(plateau.least)}`,
    ],
    robust && ['Most robust trial', `${robust.trial} (score ${formatNumber(robust.score, 4)})`],
    heldOut && [
      'Profit on the bars held out',
      `${formatNumber(heldOut.netProfit)} (${formatNumber(heldOut.trades, 0)} trades)`,
    ],
    monteCarlo && [
      'Max drawdown, trades shuffled',
      `${formatPercent(monteCarlo.order.drawdownPct.middle)} (95%: ${formatPercent(monteCarlo.order.drawdownPct.high)})`,
    ],
    monteCarlo && ['Chance of a loss, trades drawn', formatPercent(monteCarlo.loss)],
    costs && [
      'Slippage that takes the profit',
      costs.breakEvenTicks === null ? '–' : `${formatNumber(costs.breakEvenTicks, 1)} ticks a fill`,
    ],
  ]
  return tableLines(
    ['Verdict', right('')],
    rows.filter((row) => row !== null),
  )
}

function walkForwardLines(
  { walkForward }: Verdict,
  bars: Bars,
  stitched: readonly StitchedEquity[],
): string[] {
  if (!walkForward) return []
  const [only, ...more] = walkForward.cells
  if (only && more.length === 0)
    return [
      '',
      ...tableLines(
        ['Judged from', right('Trial'), right('Profit in sample'), right('Profit out of sample')],
        only.windows.map(({ outside, trial, inProfit, outProfit }) => [
          formatTime(bars.time[outside.from] ?? 0),
          trial === null ? '–' : String(trial),
          formatNumber(inProfit),
          formatNumber(outProfit),
        ]),
      ),
      ...(stitched[0] ? ['', stitchedLine(stitched[0])] : []),
      '',
      `Rules: ${Object.entries(RULES)
        .map(([rule, name]) => `${name} ${only.passes[rule as keyof typeof RULES] ? 'yes' : 'no'}`)
        .join(', ')}.`,
    ]
  return [
    '',
    ...tableLines(
      [
        right('Out of sample'),
        right('Windows'),
        right('Efficiency'),
        right('Profit'),
        right('Max drawdown'),
        'Passes',
      ],
      walkForward.cells.map(({ share, runs, efficiency, profit, passed }, cell) => [
        formatPercent(share),
        String(runs),
        formatPercent(efficiency),
        formatNumber(profit),
        formatPercent(stitched[cell]?.maxDrawdownPct),
        passed ? 'yes' : 'no',
      ]),
    ),
  ]
}

function stitchedLine({
  capital,
  netProfit,
  netProfitPct,
  maxDrawdown,
  maxDrawdownPct,
}: StitchedEquity): string {
  const amounts = `${formatNumber(capital)} became ${formatNumber(capital + netProfit)}`
  return `Out of sample, one window after another, ${amounts}: ${formatPercent(netProfitPct)} profit, at most ${formatNumber(maxDrawdown)} (${formatPercent(maxDrawdownPct)}) below a peak.`
}
