// The bar being executed: its prices and its number. `time` and its kin are in `time.ts`.

import { variable } from './define.ts'
import type { BuiltinEntry } from './registry.ts'

function column(name: string, doc: string, type = 'float'): BuiltinEntry {
  return variable(name, doc, `series ${type}`, { column: name })
}

/** What the broker would quote now; there is no quote in history. */
function quote(name: string): BuiltinEntry {
  return variable(
    name,
    `The ${name} price; known live only, na here.`,
    'series float',
    { get: () => Number.NaN, fixed: true },
    'source',
  )
}

export const BARS: readonly BuiltinEntry[] = [
  column('open', 'The price the bar opened at.'),
  column('high', 'The highest price of the bar.'),
  column('low', 'The lowest price of the bar.'),
  column('close', 'The price the bar closed at.'),
  column('volume', 'What was traded during the bar.'),
  column('hl2', 'The mean of high and low.'),
  column('hlc3', 'The mean of high, low and close.'),
  column('ohlc4', 'The mean of open, high, low and close.'),
  column('hlcc4', 'The mean of high, low and twice close.'),
  column('bar_index', 'The number of the bar; the first is 0.', 'int'),
  variable('last_bar_index', 'The number of the last bar known.', 'series int', {
    get: (runtime) => runtime.lastBar,
  }),
  quote('bid'),
  quote('ask'),
]
