// What an answer with a result says of the tries behind it.

import { Type } from '@sinclair/typebox'
import { nullable, type Wire } from './schema.ts'

const number = (description: string) => Type.Number({ description })
const maybe = (description: string) => nullable(number(description))

/** The deflated Sharpe ratio of one result. */
export const judgedSharpe = {
  bars: Type.Integer(),
  sharpe: number('A bar: not annualised.'),
  skewness: Type.Number(),
  kurtosis: number('3 for the normal.'),
  deviation: number("Of all trials' Sharpe ratios."),
  probabilistic: maybe('Chance that the true ratio is above 0, if this had been the only trial.'),
  benchmark: number('What the best of so many worthless trials shows by luck.'),
  deflated: maybe('Chance that the true ratio is above that benchmark.'),
  leastBars: maybe('Bars needed to be 95% sure of it; null if no number of bars is enough.'),
}

export const LeastLength = Type.Object(
  {
    years: number('Least backtest length for this Sharpe ratio and this many trials.'),
    bound: Type.Number(),
    have: number('Years of bars there are.'),
    annualSharpe: Type.Number(),
  },
  { description: 'Bailey, Borwein, López de Prado, Zhu 2014.' },
)

export const Trials = Type.Object(
  {
    counted: Type.Integer({
      description:
        'Distinct choices of inputs and settings that the caller has tried with this script on this market, this one among them: by sweep, by scan, in a portfolio, by hand, by preview, by an agent. A script is the same in any layout, with other comments and other defaults of its inputs.',
    }),
    sentence: Type.String({ description: 'The same, and how much of the result may be luck, for traders.' }),
    sharpe: nullable(
      Type.Object(judgedSharpe, {
        description: 'Null if there is no trade, and for results from before this was kept.',
      }),
    ),
    length: nullable(LeastLength),
  },
  {
    $id: 'Trials',
    description:
      'How often the script was tried on its market, and what that leaves of the result. The whole verdict is at `/api/platform/backtests/{id}/verdict`.',
  },
)
export type Trials = Wire<typeof Trials>
