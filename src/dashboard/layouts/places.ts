// Apart from the grids, whose names and drawings the first page can do without.

import type { GridShape } from '../../wire/layout.ts'

/** How many charts a grid has places for. */
export const placesOf = (shape: GridShape): number => Number.parseInt(shape)
