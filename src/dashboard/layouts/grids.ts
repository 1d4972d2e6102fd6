// How charts can stand: names, and where each place of a grid lies.

import type { ChartLink, GridShape } from '../../wire/layout.ts'
import { placesOf } from './places.ts'

interface Grid {
  readonly name: string
  /** Rows of letters, as in `grid-template-areas` of CSS: each letter is a chart that covers its rectangle. */
  readonly rows: readonly string[]
}

export const GRIDS: Readonly<Record<GridShape, Grid>> = {
  '1': { name: 'One chart', rows: ['a'] },
  '2-beside': { name: 'Two side by side', rows: ['ab'] },
  '2-below': { name: 'Two, one below the other', rows: ['a', 'b'] },
  '3-beside': { name: 'Three side by side', rows: ['abc'] },
  '3-below': { name: 'Three, one below the other', rows: ['a', 'b', 'c'] },
  '3-left': { name: 'Three, one large on the left', rows: ['ab', 'ac'] },
  '3-top': { name: 'Three, one large at the top', rows: ['aa', 'bc'] },
  '4': { name: 'Four', rows: ['ab', 'cd'] },
  '4-left': { name: 'Four, one large on the left', rows: ['aab', 'aac', 'aad'] },
  '4-top': { name: 'Four, one large at the top', rows: ['aaa', 'aaa', 'bcd'] },
  '5': { name: 'Five', rows: ['aaabbb', 'ccddee'] },
  '6': { name: 'Six, three beside each other', rows: ['abc', 'def'] },
  '6-below': { name: 'Six, three below each other', rows: ['ab', 'cd', 'ef'] },
  '7': { name: 'Seven', rows: ['aaaabbbbcccc', 'dddeeefffggg'] },
  '8': { name: 'Eight, four beside each other', rows: ['abcd', 'efgh'] },
  '8-below': { name: 'Eight, four below each other', rows: ['ab', 'cd', 'ef', 'gh'] },
}

/** In the order of the panel: by their number of charts. */
export const SHAPES = (Object.keys(GRIDS) as GridShape[]).toSorted((a, b) => placesOf(a) - placesOf(b))

/** In the order of the panel, each with its name and what it means. */
export const LINKS: readonly (readonly [ChartLink, string, string])[] = [
  ['symbol', 'Symbol', 'Another symbol is on all of them'],
  ['interval', 'Interval', 'Another interval is on all of them'],
  ['crosshair', 'Crosshair', 'It stands on the same time everywhere'],
  ['time', 'Time', 'A click brings its time into view'],
  ['range', 'Date range', 'Scrolling and zooming move all of them'],
]

interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Where the places lie, in reading order, as shares of the whole. */
export function areasOf(shape: GridShape): readonly Area[] {
  const { rows } = GRIDS[shape]
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
  GRIDS[shape].rows.map((row) => `"${row.split('').join(' ')}"`).join(' ')
/** The letter of a place. */
export const areaName = (place: number): string => String.fromCharCode(97 + place)
