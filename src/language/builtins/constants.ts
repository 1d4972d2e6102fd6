// Constants that are no more than names for an option: what they stand for is the last part of their own name, as
// TradingView shows it in str.tostring(): `size.small` is "small", `line.style_dashed` "dashed".

import { constant } from './define.ts'
import type { BuiltinEntry } from './registry.ts'

/** Namespace and prefix, names, what they are. */
const NAMES: readonly (readonly [string, string, string])[] = [
  ['size.', 'auto tiny small normal large huge', 'A size of text and shapes.'],
  [
    'position.',
    'top_left top_center top_right middle_left middle_center middle_right bottom_left bottom_center bottom_right',
    'A place of a table.',
  ],
  ['text.align_', 'left center right top bottom', 'Where text stands in its box.'],
  ['text.wrap_', 'none auto', 'Whether text is broken into lines.'],
  // Joined with +: bold and italic is "bolditalic".
  ['text.format_', 'none bold italic', 'How text looks.'],
  ['font.family_', 'default monospace', 'A font.'],
  ['xloc.', 'bar_index bar_time', 'What x means: the number of a bar or a time.'],
  ['yloc.', 'price abovebar belowbar', 'What y means: a price, or above or below the bar.'],
  ['extend.', 'none left right both', 'Where a line goes on.'],
  [
    'line.style_',
    'solid dotted dashed arrow_left arrow_right arrow_both',
    'The pattern or the ends of a line.',
  ],
  [
    'label.style_',
    'none xcross cross triangleup triangledown flag circle arrowup arrowdown label_up label_down label_left ' +
      'label_right label_lower_left label_lower_right label_upper_left label_upper_right label_center square ' +
      'diamond text_outline',
    'The shape of a label.',
  ],
  ['order.', 'ascending descending', 'An order to sort in.'],
  ['adjustment.', 'none splits dividends', 'What prices are adjusted for.'],
  ['backadjustment.', 'inherit on off', 'Whether continuous futures are adjusted.'],
  ['settlement_as_close.', 'inherit on off', 'Whether the settlement price is the close.'],
  ['session.', 'regular extended', 'Trading hours.'],
  ['strategy.', 'long short', 'Direction of an order.'],
  ['strategy.', 'fixed cash percent_of_equity', 'What a quantity is counted in.'],
  ['strategy.direction.', 'all long short', 'Directions a strategy may trade in.'],
  ['strategy.oca.', 'none cancel reduce', 'What orders of one group do to each other.'],
  ['strategy.commission.', 'percent cash_per_contract cash_per_order', 'What commission is counted by.'],
  [
    'currency.',
    'NONE AED ARS AUD BDT BHD BRL BTC CAD CHF CLP CNY COP CZK DKK EGP ETH EUR GBP HKD HUF IDR ILS INR ISK JPY KES KRW ' +
      'KWD LKR MAD MXN MYR NGN NOK NZD PEN PHP PKR PLN QAR RON RSD RUB SAR SEK SGD THB TND TRY TWD USD USDT VES VND ZAR',
    'A currency.',
  ],
]

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const

export const CONSTANTS: readonly BuiltinEntry[] = [
  ...NAMES.flatMap(([space, names, doc]) =>
    names.split(' ').map((name) => constant(space + name, doc, 'const string', name)),
  ),
  ...WEEKDAYS.map((name, i) => constant(`dayofweek.${name}`, 'A day of the week.', 'const int', i + 1)),
]
