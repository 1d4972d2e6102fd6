// What a chart says of a market without bars: from where they can be had, and the ways to another symbol and to an import.

import { nameOf, intervalText } from '../format.ts'
import { href } from '../router.ts'
import { Button, Empty } from '../ui/ui.tsx'
import type { Cell } from './cell.ts'
import { symbolSearch } from './chart-state.ts'
import { FetchOffers, useFetchable } from './fetch-symbol.tsx'

export function NoBars({ cell, about }: { readonly cell: Cell; readonly about: string }) {
  const { interval } = cell.market.value
  const name = nameOf(cell.market.value)
  const fetchable = useFetchable(name)
  return (
    <Empty
      title={`No bars of ${name} at ${intervalText(interval)}`}
      action={
        <FetchOffers of={fetchable} interval={interval} onFetched={(market) => (cell.market.value = market)}>
          <Button
            {...(fetchable.exchanges.length === 0 && { variant: 'primary' as const })}
            onClick={() => (symbolSearch.value = '')}
          >
            Choose a symbol
          </Button>
          <a href={href('/markets/sources')}>Import bars</a>
        </FetchOffers>
      }
    >
      {about}
    </Empty>
  )
}
