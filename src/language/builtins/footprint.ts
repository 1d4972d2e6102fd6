// Order flow: what of a bar was bought and what was sold, and at which prices. It is known of bars that were made of trades with
// sides, and of bars put together from those; of all others the footprint is na. Its rows need finer ones of these as well.

import { noSides } from '../messages/running.ts'
import { PineArray } from '../runtime/collections.ts'
import {
  checkFootprintArguments,
  type Footprint,
  type PriceRows,
  type VolumeRow,
} from '../runtime/footprint.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { fn } from './define.ts'
import type { BuiltinEntry } from './registry.ts'

/** Of a footprint, and of a row besides its place in an array. */
const BYTES = 80

function footprintOf(
  runtime: Runtime,
  ticksPerRow: number,
  vaPercent: number,
  imbalancePercent: number,
): Footprint | null {
  checkFootprintArguments(ticksPerRow, vaPercent, imbalancePercent)
  const { bars, bar } = runtime
  const bought = bars.bought?.[bar] ?? Number.NaN
  if (bought >= 0) {
    runtime.budget.take(BYTES)
    return runtime.footprints.of(
      bought,
      bars.volume[bar]!,
      Math.floor(ticksPerRow),
      vaPercent,
      imbalancePercent,
    )
  }
  // What asks bars of another interval has to be ready for those without sides.
  if (!bars.bought && runtime.interval === runtime.main.interval) runtime.warn(noSides())
  return null
}

function rowOf(
  runtime: Runtime,
  footprint: Footprint | null,
  pick: (rows: PriceRows) => VolumeRow | null,
): VolumeRow | null {
  const rows = footprint && runtime.footprints.rows(footprint)
  runtime.budget.take(BYTES)
  return rows && pick(rows)
}

const FIGURES: readonly (readonly [string, string, (footprint: Footprint) => number])[] = [
  ['buy_volume', 'What was bought: traded at the price of a waiting seller.', ({ bought }) => bought],
  [
    'sell_volume',
    'What was sold: traded at the price of a waiting buyer.',
    ({ bought, volume }) => volume - bought,
  ],
  ['total_volume', 'What was bought and what was sold together.', ({ volume }) => volume],
  ['delta', 'What was bought less what was sold.', ({ bought, volume }) => bought - (volume - bought)],
]

const ROWS: readonly (readonly [string, string, (rows: PriceRows) => VolumeRow | null])[] = [
  ['poc', 'The point of control: the row with the most volume.', (rows) => rows.poc],
  ['vah', 'The highest row of the value area.', (rows) => rows.vah],
  ['val', 'The lowest row of the value area.', (rows) => rows.val],
]

const OF_ROW: readonly (readonly [string, string, (row: VolumeRow) => number])[] = [
  ['up_price', 'Where the row ends, and the one above it begins.', ({ upPrice }) => upPrice],
  ['down_price', 'The lowest price of the row.', ({ downPrice }) => downPrice],
  ['buy_volume', 'What was bought at its prices.', ({ bought }) => bought],
  ['sell_volume', 'What was sold at its prices.', ({ sold }) => sold],
  [
    'total_volume',
    'What was bought and what was sold at its prices together.',
    ({ bought, sold }) => bought + sold,
  ],
  ['delta', 'What was bought at its prices less what was sold.', ({ bought, sold }) => bought - sold],
]

const IMBALANCES: readonly (readonly [string, string, (row: VolumeRow) => boolean])[] = [
  [
    'has_buy_imbalance',
    'Whether at least `imbalance_percent` was bought of what was sold in the row below.',
    ({ buyImbalance }) => buyImbalance,
  ],
  [
    'has_sell_imbalance',
    'Whether at least `imbalance_percent` was sold of what was bought in the row above.',
    ({ sellImbalance }) => sellImbalance,
  ],
]

export const FOOTPRINT: readonly BuiltinEntry[] = [
  fn(
    'request.footprint',
    'What of the bar was bought and sold, where trades with sides were imported; else na. Its rows of `ticks_per_row` ticks come from the finest stored bars that know their sides: import the trades also as 1s.',
    '(simple int ticks_per_row, simple float va_percent = 70, simple float imbalance_percent = 300) series footprint',
    { fn: footprintOf, runtime: true },
  ),
  ...FIGURES.map(([name, doc, figure]) =>
    fn(`footprint.${name}`, doc, '(series footprint id) series float', {
      fn: (footprint: Footprint | null) => (footprint === null ? Number.NaN : figure(footprint)),
      pure: true,
    }),
  ),
  ...ROWS.map(([name, doc, row]) =>
    fn(`footprint.${name}`, doc, '(series footprint id) series volume_row', {
      fn: (runtime: Runtime, footprint: Footprint | null) => rowOf(runtime, footprint, row),
      runtime: true,
    }),
  ),
  fn(
    'footprint.rows',
    'All rows from the lowest price to the highest; na where no finer bars tell them.',
    '(series footprint id) series array<volume_row>',
    {
      fn(runtime: Runtime, footprint: Footprint | null) {
        const rows = footprint && runtime.footprints.rows(footprint)
        if (rows === null) return null
        runtime.budget.take(BYTES * rows.count)
        return new PineArray<VolumeRow | null>(rows.all, null, runtime.budget)
      },
      runtime: true,
    },
  ),
  fn(
    'footprint.get_row_by_price',
    'The row that has the price; na if none has.',
    '(series footprint id, series float price) series volume_row',
    {
      fn: (runtime: Runtime, footprint: Footprint | null, price: number) =>
        rowOf(runtime, footprint, (rows) => rows.at(price)),
      runtime: true,
    },
  ),
  ...OF_ROW.map(([name, doc, figure]) =>
    fn(`volume_row.${name}`, doc, '(series volume_row id) series float', {
      fn: (row: VolumeRow | null) => (row === null ? Number.NaN : figure(row)),
      pure: true,
    }),
  ),
  ...IMBALANCES.map(([name, doc, has]) =>
    fn(`volume_row.${name}`, doc, '(series volume_row id) series bool', {
      fn: (row: VolumeRow | null) => row !== null && has(row),
      pure: true,
    }),
  ),
]
