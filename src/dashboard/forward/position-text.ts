// A position in words, for lists that show no table of orders.

import { quantity } from '../format.ts'

/** A position of so many contracts, below 0 where they were sold. */
export const positionText = (position: number): string =>
  position === 0 ? 'flat' : `${position > 0 ? 'long' : 'short'} ${quantity(Math.abs(position))}`
