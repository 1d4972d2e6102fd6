// How charts can stand and what they do together, by name. The chart itself can do without.

import type { ChartLink, GridShape } from '../../wire/layout.ts'
import { placesOf } from './places.ts'

export const GRID_NAMES: Readonly<Record<GridShape, string>> = {
  '1': 'One chart',
  '2-beside': 'Two side by side',
  '2-below': 'Two, one below the other',
  '3-beside': 'Three side by side',
  '3-below': 'Three, one below the other',
  '3-left': 'Three, one large on the left',
  '3-top': 'Three, one large at the top',
  '4': 'Four',
  '4-left': 'Four, one large on the left',
  '4-top': 'Four, one large at the top',
  '5': 'Five',
  '6': 'Six, three beside each other',
  '6-below': 'Six, three below each other',
  '7': 'Seven',
  '8': 'Eight, four beside each other',
  '8-below': 'Eight, four below each other',
}

/** In the order of the panel: by their number of charts. */
export const SHAPES = (Object.keys(GRID_NAMES) as GridShape[]).toSorted((a, b) => placesOf(a) - placesOf(b))

/** In the order of the panel, each with its name and what it means. */
export const LINKS: readonly (readonly [ChartLink, string, string])[] = [
  ['symbol', 'Symbol', 'Another symbol is on all of them'],
  ['interval', 'Interval', 'Another interval is on all of them'],
  ['crosshair', 'Crosshair', 'It stands on the same time everywhere'],
  ['time', 'Time', 'A click brings its time into view'],
  ['range', 'Date range', 'Scrolling and zooming move all of them'],
]
