// Why TradingView's list of trades differs from a backtest's: the changes tried, and those that make the lists agree.

import { Type } from '@sinclair/typebox'
import { nullable, oneOf, Time, type Wire } from './schema.ts'
import { words } from '../lib/words.ts'

const Settings = Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Boolean()]))

const agreement = {
  exact: Type.Integer({ description: 'Trades that agree then.' }),
  found: Type.Integer({ description: 'Closed trades of the run then.' }),
  agrees: Type.Boolean({ description: 'All trades of the export agree, and none is too many.' }),
}

const changes = {
  overrides: Settings,
  symbol: Type.Record(Type.String(), Type.Union([Type.Number(), Type.String()]), {
    description: 'Facts of the symbol, by the names of `PUT /bars/symbols`.',
  }),
  inputs: Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Boolean()]), {
    description: 'Values of inputs, by title.',
  }),
  bars: nullable(Type.Integer({ description: 'How many of the newest bars; null = as many as before.' })),
  asOf: nullable(
    Type.String({ description: 'The day of whose TradingView it is then; null = the same as before.' }),
  ),
}

export const ExplanationCause = Type.Object({
  kind: oneOf(
    words(
      'as_of initial_capital default_qty pyramiding process_orders_on_close calc_on_order_fills',
      'calc_on_every_history_tick fill_limits bar_magnifier margin commission slippage close_entries_rule',
      'currency inputs contradiction script_version other_feed history_missing more_history less_history session',
      'smallest_quantity tick_size point_value',
    ),
  ),
  message: Type.String(),
  ...changes,
})
export type ExplanationCause = Wire<typeof ExplanationCause>

export const Explanation = Type.Object(
  {
    message: Type.String({ description: 'What was found, as a sentence or two.' }),
    expected: Type.Integer({ description: 'Closed trades of the export.' }),
    ...agreement,
    causes: Type.Array(
      Type.Object({
        ...ExplanationCause.properties,
        since: nullable(
          Type.Object(
            { time: Time, bar: Type.Integer({ description: 'Its number in the run, from 0.' }) },
            { description: 'The first bar on which the lists differ without it.' },
          ),
        ),
      }),
      {
        description:
          'What has to change together for that, the likeliest first; `contradiction` (a row that cannot be, whatever made it), `script_version`, `other_feed` and `history_missing` are named by the lists alone and change nothing.',
      },
    ),
    ...changes,
    tried: Type.Array(Type.Object({ ...ExplanationCause.properties, ...agreement }), {
      description: 'Changes that alone bring the lists nearer, the best first; at most 20.',
    }),
    notes: Type.Array(Type.Object({ code: Type.String(), message: Type.String() }), {
      description: 'What can be seen without a run.',
    }),
    runs: Type.Integer({ description: 'How often the script was run for it.' }),
    complete: Type.Boolean({ description: 'false: the time was over before everything likely was tried.' }),
  },
  { $id: 'Explanation' },
)
export type Explanation = Wire<typeof Explanation>
