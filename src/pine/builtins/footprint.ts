// Order flow: what of a bar was bought and what was sold. It is known of bars that were made of trades with sides, and of bars
// put together from those; of all others the footprint is na. What traded at each price within the bar nobody knows here, so
// its rows are na.

import type { Runtime } from '../runtime/runtime.ts'
import { noSides } from '../messages/running.ts'
import { fn } from './define.ts'
import type { BuiltinEntry } from './registry.ts'

/** As a list, which a kept run takes along. */
type Footprint = readonly [bought: number, volume: number]

function footprintOf(runtime: Runtime): Footprint | null {
  const { bars, bar } = runtime
  const bought = bars.bought?.[bar] ?? Number.NaN
  if (bought >= 0) return [bought, bars.volume[bar]!]
  // What asks bars of another interval has to be ready for those without sides.
  if (!bars.bought && runtime.interval === runtime.main.interval) runtime.warn(noSides())
  return null
}

const FIGURES: readonly (readonly [string, string, (footprint: Footprint) => number])[] = [
  ['buy_volume', 'What was bought: traded at the price of a waiting seller.', ([bought]) => bought],
  ['sell_volume', 'What was sold: traded at the price of a waiting buyer.', ([bought, all]) => all - bought],
  ['total_volume', 'What was bought and what was sold together.', ([, all]) => all],
  ['delta', 'What was bought less what was sold.', ([bought, all]) => bought - (all - bought)],
]

const ROWS: readonly (readonly [string, string])[] = [
  ['footprint.poc', '(series footprint id) series volume_row'],
  ['footprint.vah', '(series footprint id) series volume_row'],
  ['footprint.val', '(series footprint id) series volume_row'],
  ['footprint.rows', '(series footprint id) series array<volume_row>'],
  ['footprint.get_row_by_price', '(series footprint id, series float price) series volume_row'],
  ...['up_price', 'down_price', 'buy_volume', 'sell_volume', 'total_volume', 'delta'].map(
    (name) => [`volume_row.${name}`, '(series volume_row id) series float'] as const,
  ),
  ...['has_buy_imbalance', 'has_sell_imbalance'].map(
    (name) => [`volume_row.${name}`, '(series volume_row id) series bool'] as const,
  ),
]

export const FOOTPRINT: readonly BuiltinEntry[] = [
  fn(
    'request.footprint',
    'What of the bar was bought and sold, where trades with sides were imported; else na.',
    '(simple int ticks_per_row, simple float va_percent = 70, simple float imbalance_percent = 300) series footprint',
    { fn: footprintOf, runtime: true },
  ),
  ...FIGURES.map(([name, doc, figure]) =>
    fn(`footprint.${name}`, doc, '(series footprint id) series float', {
      fn: (footprint: Footprint | null) => (footprint === null ? Number.NaN : figure(footprint)),
      pure: true,
    }),
  ),
  ...ROWS.map(([name, signature]) => {
    const na = signature.endsWith('float') ? Number.NaN : signature.endsWith('bool') ? false : null
    const doc = 'What traded at one price, which is not known here: na.'
    return fn(name, doc, signature, { fn: () => na, pure: true }, 'source')
  }),
]
