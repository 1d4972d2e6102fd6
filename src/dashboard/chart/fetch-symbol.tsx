// What is said where a symbol is looked for that has no bars: from where they can be had, a button each. Nothing is asked of
// a provider before somebody chooses one.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { intervalText, nameOf } from '../format.ts'
import { useAnswer } from '../frame/page.tsx'
import { href } from '../router.ts'
import { Button, Empty, Progress, toastError } from '../ui/ui.tsx'
import type { Cell } from './cell.ts'
import { symbolSearch } from './chart-state.ts'
import { fetchMarket } from './fetch-market.ts'
import { market, type Market } from '../workspace.ts'
import { likelyFirst } from './likely-places.ts'
import s from './chart.module.css'

interface FetchProps {
  /** What was typed: a symbol, or its exchange before it. */
  readonly text: string
  readonly onFetched: (market: Market) => void
  readonly onLeave: () => void
}

export function FetchSymbol({ text, onFetched, onLeave }: FetchProps) {
  const fetchable = useFetchable(text)
  return (
    <Empty
      title={text.trim() === '' ? 'No bars yet' : `No bars of “${text.trim()}” are stored`}
      action={
        <FetchOffers of={fetchable} interval={market.value.interval} onFetched={onFetched}>
          <a href={href('/markets/sources')} onClick={onLeave}>
            Import a file
          </a>
        </FetchOffers>
      }
    >
      {fetchable.exchanges.length > 0
        ? 'Fetch its bars from one of these, or import them from a file.'
        : 'Symbols appear here once bars of them are stored: drop a CSV file, or fetch some with a provider.'}
    </Empty>
  )
}

/** What may be fetched of what was typed, a symbol, or its exchange before it; and where, the likeliest first. */
export function useFetchable(text: string) {
  // Without providers there is the import.
  const { data: places, error } = useAnswer('GET /api/platform/feeds', {}, 'providers')
  const [, named = '', symbol = ''] = /^(?:([^:\s]+):)?([A-Z0-9._!-]{1,64})$/u.exec(text.trim()) ?? []
  return {
    symbol,
    /** Whether it is known where: before, nothing is offered that would give way to something else. */
    isKnown: places !== null || error !== null,
    exchanges:
      symbol === '' ? [] : likelyFirst(symbol, places ?? []).filter((one) => named === '' || one === named),
  }
}

/** Fetches bars of one market at a time, and says how far it is; `then`: what follows once they are there. */
export function useFetching() {
  const [fetching, tell] = useState<{ readonly market: Market; readonly fraction: number } | null>(null)
  const fetchIt = (market: Market, then: (market: Market) => void) => {
    if (fetching) return
    fetchMarket(market, (fraction) => tell({ market, fraction }))
      .then(() => then(market), toastError)
      .finally(() => tell(null))
  }
  return { fetching, fetchIt }
}

/** What a chart says of a market without bars: where they can be had, and the ways to another symbol and to an import. */
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

interface OffersProps {
  readonly of: ReturnType<typeof useFetchable>
  readonly interval: string
  readonly onFetched: (market: Market) => void
  readonly children: ComponentChildren
}

/** How many places are offered before somebody asks for the others. */
const OFFERED = 6

/** A button for each place where bars can be had, and other ways out behind them. */
function FetchOffers({ of: { symbol, exchanges }, interval, onFetched, children }: OffersProps) {
  const { fetching, fetchIt } = useFetching()
  const [allOf, setAllOf] = useState('')
  const shown = allOf === symbol ? exchanges : exchanges.slice(0, OFFERED)
  return (
    <>
      {fetching && (
        <Progress
          fraction={fetching.fraction}
          label={`Fetching ${symbol} from ${fetching.market.exchange}`}
        />
      )}
      <span class={s.offers}>
        {shown.map((exchange) => (
          <Button
            key={exchange}
            {...(exchanges.length === 1 && { variant: 'primary' as const })}
            disabled={fetching !== null}
            onClick={() => fetchIt({ exchange, symbol, interval }, onFetched)}
          >
            Fetch {intervalText(interval)} from {exchange}
          </Button>
        ))}
        {shown.length < exchanges.length && (
          <Button disabled={fetching !== null} onClick={() => setAllOf(symbol)}>
            Other exchanges ({exchanges.length - shown.length})
          </Button>
        )}
        {children}
      </span>
    </>
  )
}
