// Bars on the wire: columns, as everywhere. Written as text, since there may be fifty thousand of them, and a few thousand
// numbers a turn: all of them at once would hold everybody up for 50 ms.

import { turn } from '../lib/turn.ts'
import { BAR_FIELDS, type Bars } from '../market/bars.ts'
import type { Pieces } from './json-text.ts'

/** Numbers made text in one turn, about a millisecond of work. */
const NUMBERS = 8192
/** Few enough to wait for no turn at all. */
const FEW = 1000
/** Letters of a number, about. */
const LETTERS = 10

export function barColumns(bars: Bars): Pieces {
  return {
    length: BAR_FIELDS.length * LETTERS * bars.length,
    parts: { [Symbol.asyncIterator]: () => columnTexts(bars) },
  }
}

/** The same for the same numbers. */
export function barsTag(bars: Bars): string {
  return BAR_FIELDS.map((field) => Bun.hash(bars[field]).toString(36)).join(' ')
}

async function* columnTexts(bars: Bars): AsyncGenerator<string> {
  let left = FEW
  let before = '{'
  for (const field of BAR_FIELDS) {
    const column = bars[field]
    yield `${before}"${field}":[`
    before = '],'
    for (let from = 0; from < column.length; from += NUMBERS) {
      const numbers = column.subarray(from, from + NUMBERS)
      if (numbers.length > left) {
        await turn()
        left = NUMBERS
      }
      left -= numbers.length
      yield (from > 0 ? ',' : '') + numbers.join(',')
    }
  }
  yield ']}'
}
