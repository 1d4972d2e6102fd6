// What the XLSX of TradingView's strategy tester says beside its trades: how the strategy was set, and its figures.

import { Type } from '@sinclair/typebox'
import { nullable, oneOf, type Wire } from './schema.ts'

const texts = (description: string) => Type.Array(Type.String(), { description })

export const ExportSettings = Type.Object(
  {
    exchange: nullable(Type.String()),
    symbol: nullable(Type.String()),
    interval: nullable(Type.String()),
    range: nullable(
      Type.Object(
        { from: Type.String(), to: Type.String() },
        {
          description:
            'First and last time, on the clock of the chart that was exported: `2026-03-31 17:45`.',
        },
      ),
    ),
    bars: nullable(
      Type.Integer({
        description: 'So many of the newest bars begin where the range does; null without a range.',
      }),
    ),
    inputs: Type.Record(Type.String(), Type.Unknown(), { description: 'By their titles.' }),
    overrides: Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Boolean()]), {
      description: 'The properties, as arguments of `strategy()`.',
    }),
    facts: Type.Record(Type.String(), Type.Number(), {
      description: 'Of the symbol: `mintick`, `pointvalue`.',
    }),
    differs: texts('What of these the compared run has otherwise.'),
    unknown: texts('What of the file is not understood, or cannot be set, and why.'),
  },
  { $id: 'ExportSettings' },
)
export type ExportSettings = Wire<typeof ExportSettings>

export const FIGURE_SIDES = ['all', 'long', 'short'] as const

export const ExportFigure = Type.Object(
  {
    sheet: Type.String(),
    name: Type.String({ description: 'As the sheet calls it.' }),
    of: oneOf(FIGURE_SIDES, 'All, long or short trades.'),
    isShare: Type.Boolean({ description: 'Both are in per cent.' }),
    expected: Type.Number({ description: 'In the export.' }),
    found: nullable(Type.Number({ description: 'In the report; null where it has none.' })),
    agrees: Type.Boolean({ description: 'Within half of the last digit that exports show.' }),
  },
  { $id: 'ExportFigure' },
)
export type ExportFigure = Wire<typeof ExportFigure>
