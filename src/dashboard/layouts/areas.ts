// Where each place of a grid of charts lies.

import type { GridShape } from '../../wire/layout.ts'

/** Rows of letters, as in `grid-template-areas` of CSS: each letter is a chart that covers its rectangle. */
const ROWS: Readonly<Record<GridShape, readonly string[]>> = {
  '1': ['a'],
  '2-beside': ['ab'],
  '2-below': ['a', 'b'],
  '3-beside': ['abc'],
  '3-below': ['a', 'b', 'c'],
  '3-left': ['ab', 'ac'],
  '3-top': ['aa', 'bc'],
  '4': ['ab', 'cd'],
  '4-left': ['aab', 'aac', 'aad'],
  '4-top': ['aaa', 'aaa', 'bcd'],
  '5': ['aaabbb', 'ccddee'],
  '6': ['abc', 'def'],
  '6-below': ['ab', 'cd', 'ef'],
  '7': ['aaaabbbbcccc', 'dddeeefffggg'],
  '8': ['abcd', 'efgh'],
  '8-below': ['ab', 'cd', 'ef', 'gh'],
}

/** Where the places lie, in reading order, as shares of the whole. */
export function areasOf(shape: GridShape) {
  const rows = ROWS[shape]
  const columns = rows[0]!.length
  const letters = [...new Set(rows.join(''))].sort()
  return letters.map((letter) => {
    const within = rows.filter((row) => row.includes(letter))
    const row = within[0]!
    const across = row.lastIndexOf(letter) - row.indexOf(letter) + 1
    return {
      x: row.indexOf(letter) / columns,
      y: rows.indexOf(row) / rows.length,
      width: across / columns,
      height: within.length / rows.length,
    }
  })
}

/** The areas in the notation of CSS. */
export const areasText = (shape: GridShape): string =>
  ROWS[shape].map((row) => `"${row.split('').join(' ')}"`).join(' ')
/** The letter of a place. */
export const areaName = (place: number): string => String.fromCharCode(97 + place)
