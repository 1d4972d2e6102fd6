// Writes bars as JSON columns, a few thousand numbers at a time. There may be fifty thousand bars, and writing them all at
// once would hold up other requests for 50 ms.

import { numbersText } from '../lib/number-text.ts'
import { turn } from '../lib/turn.ts'
import { spanThere } from '../market/bar-cache.ts'
import type { SeriesInfo } from '../market/bar-store.ts'
import { BAR_FIELDS, type Bars } from '../market/bars.ts'
import type { Pieces } from './json-text.ts'

/** Numbers written in one turn of the event loop, about a millisecond of work. */
const NUMBERS = 8192
/** An answer with up to this many numbers is written at once, without letting others go first. */
const FEW = 1000
/** The average length of a number, roughly. */
const LETTERS = 10

export function barColumns(bars: Bars): Pieces {
  return {
    length: BAR_FIELDS.length * LETTERS * bars.length,
    parts: { [Symbol.asyncIterator]: () => columnTexts(bars) },
  }
}

/** For an answer about a span without bars: which there are. */
export function spanWarning({ length }: Bars, series: SeriesInfo | null) {
  return length > 0 || !series ? {} : { warnings: [{ code: 'no_bars_in_span', message: spanThere(series) }] }
}

/** A hash of the bars' numbers. */
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
      yield (from > 0 ? ',' : '') + numbersText(numbers)
    }
  }
  yield ']}'
}
