// Which side a source was on before anything is known of it.

import { expect, test } from 'bun:test'
import { Cross } from '../../../src/language/builtins/ta/crosses.ts'

test.each([
  [
    'equal, then below: nothing was crossed',
    [
      [1, 1],
      [0, 1],
    ],
    [false, false],
  ],
  [
    'equal, then above: nothing was crossed',
    [
      [1, 1],
      [2, 1],
    ],
    [false, false],
  ],
  [
    'below, equal, above',
    [
      [0, 1],
      [1, 1],
      [2, 1],
    ],
    [false, false, true],
  ],
  [
    'above, na, below',
    [
      [2, 1],
      [NaN, 1],
      [0, 1],
    ],
    [false, false, true],
  ],
] as const)('%s', (_name, pairs, expected) => {
  const cross = new Cross()
  expect(pairs.map(([one, other]) => cross.next(one, other))).toEqual([...expected])
})
