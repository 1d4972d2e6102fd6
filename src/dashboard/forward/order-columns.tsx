// What is said of orders of forward runs in every table: what an order is, its side, size and price.

import { quantity } from '../format.ts'
import { numbers, type Column } from '../ui/data-table.tsx'
import type { WaitingOrder } from '../../wire/forward-run.ts'

type Order = Pick<WaitingOrder, 'side' | 'qty'> & {
  readonly price: number | null
  readonly type: string | null
}

/** Without the noise of binary fractions: 100.24775000000001 is 100.24775. */
const priceText = (price: number | null | undefined) =>
  price === null || price === undefined ? 'market' : String(Number(price.toPrecision(12)))

export const orderColumns = <R extends Order>(): readonly Column<R>[] => [
  { of: 'type', head: 'Type', cell: ({ type }) => type ?? '' },
  { of: 'side', head: 'Side', cell: ({ side }) => side },
  numbers('qty', 'Size', ({ qty }) => qty, quantity),
  numbers('price', 'Price', ({ price }) => price, priceText),
]
