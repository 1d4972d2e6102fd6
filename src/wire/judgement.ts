// Is there an edge, or was it luck: bars that are held out, figures of a part of a backtest, and the judgement on it.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { idOf, namesSeries, nullable, oneOf, Text, Time, type Wire } from './schema.ts'

const HoldOut = Type.Object(
  {
    from: Type.Integer({ description: 'The first bar that is held out, UTC ms.' }),
    bars: Type.Integer({ description: 'Bars held out until now.' }),
    looks: Type.Integer({ description: 'How many results were judged on them.' }),
  },
  {
    $id: 'HoldOut',
    description:
      'The newest quarter of a market’s last 20,000 bars, which nothing is to be chosen by. With the first judgement its beginning is fixed for the caller and the market, in all intervals, so that bars which come later are held out as well.',
  },
)
export type HoldOut = Wire<typeof HoldOut>

const Stretch = Type.Object(
  {
    from: Time,
    to: Type.Integer({ description: 'Its last bar, UTC ms.' }),
    bars: Type.Integer(),
    trades: Type.Integer({ description: 'Those that closed in it.' }),
    netProfit: Type.Number({ description: 'In account currency, with open trades at its last close.' }),
    netProfitPct: Type.Number({ description: 'A fraction of the equity it began with.' }),
    winRate: Type.Number(),
    profitFactor: Type.Number(),
    maxDrawdownPct: Type.Number({ description: 'At closes.' }),
    sharpe: Type.Number({ description: 'A bar: not annualised.' }),
  },
  {
    $id: 'Stretch',
    description: 'Figures of a stretch of a run, as if it began there with the equity it had.',
  },
)
export type Stretch = Wire<typeof Stretch>

const maybe = (description: string) => Type.Union([Type.Number(), Type.Null()], { description })

const Judgement = Type.Object(
  {
    verdict: oneOf(['edge', 'no edge']),
    sentence: Type.String({ description: 'Why, for traders.' }),
    tried: Type.Integer({
      description:
        'Distinct choices that the caller has tried on this market, with any script and in any interval.',
    }),
    look: Type.Integer({ description: 'The how-manieth look at the bars held out this is.' }),
    luck: maybe('Chance that the best of so many worthless tries does as well before the bars held out.'),
    luckHeldOut: maybe('Chance that a worthless strategy does as well on the bars held out.'),
    allowed: Type.Number({ description: 'What `luckHeldOut` may be at most, at this look.' }),
    before: Stretch,
    heldOut: Stretch,
  },
  { $id: 'Judgement' },
)
export type Judgement = Wire<typeof Judgement>

export const JUDGEMENTS = {
  'GET /api/platform/hold-out': {
    access: 'session bars:read',
    summary: 'Which bars of a market are held out',
    query: Type.Object(namesSeries),
    answer: { holdOut: HoldOut },
  },
  'GET /api/platform/backtests/{id}/stretch': {
    access: 'session backtests:read',
    summary: 'Figures of a part of a backtest',
    description:
      'From the bar at `start` to the last before `end`, ISO 8601 or UTC ms; without them from its first, to its last. The script is run again over all bars of the backtest, so those before warm it up.',
    query: Type.Object({ start: Type.Optional(Text(40)), end: Type.Optional(Text(40)) }),
    answer: { id: idOf('bt'), stretch: nullable(Stretch) },
  },
  'POST /api/platform/backtests/{id}/judge': {
    access: 'session backtests:write',
    summary: 'Is there an edge, or was it luck?',
    description:
      'Judges a backtest by all that the caller has tried on its market, with any script, and by the bars held out. `edge` takes both: before them, a Sharpe ratio that the best of so many worthless tries reaches once in twenty at most; on them, one that chance reaches as rarely, and more rarely with each further look. Each backtest that is judged is one look; the same one again is the same look. Ten trades on either side are the least.',
    answer: { id: idOf('bt'), judgement: Judgement },
  },
} as const satisfies OperationTable
