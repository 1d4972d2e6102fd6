// What is said where a symbol is looked for that has no bars: from where they can be had, a button each. Nothing is asked of
// a provider before somebody chooses one.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { intervalText } from '../format.ts'
import { useAnswer } from '../frame/page.tsx'
import { href } from '../router.ts'
import { Button, Empty, Progress, toastError } from '../ui/ui.tsx'
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

interface Fetchable {
  readonly symbol: string
  /** Where providers may have it, the likeliest first. */
  readonly exchanges: readonly string[]
  /** Whether it is known where: before, nothing is offered that would give way to something else. */
  readonly isKnown: boolean
}

/** What may be fetched of what was typed: a symbol, or its exchange before it. */
export function useFetchable(text: string): Fetchable {
  // Without providers there is the import.
  const { data: places, error } = useAnswer('GET /api/platform/feeds', {}, 'providers')
  const [, named = '', symbol = ''] = /^(?:([^:\s]+):)?([A-Z0-9._!-]{1,64})$/u.exec(text.trim()) ?? []
  return {
    symbol,
    isKnown: places !== null || error !== null,
    exchanges:
      symbol === '' ? [] : likelyFirst(symbol, places ?? []).filter((one) => named === '' || one === named),
  }
}

/** How many places are offered before somebody asks for the others. */
const OFFERED = 6

interface OffersProps {
  readonly of: Fetchable
  readonly interval: string
  readonly onFetched: (market: Market) => void
  readonly children: ComponentChildren
}

/** A button for each place where bars can be had, and other ways out behind them. */
export function FetchOffers({ of: { symbol, exchanges }, interval, onFetched, children }: OffersProps) {
  const [fetching, setFetching] = useState('')
  const [fraction, setFraction] = useState(0)
  const [allOf, setAllOf] = useState('')
  const shown = allOf === symbol ? exchanges : exchanges.slice(0, OFFERED)
  const fetchFrom = async (exchange: string) => {
    setFetching(exchange)
    try {
      await fetchMarket({ exchange, symbol, interval }, setFraction)
      onFetched({ exchange, symbol, interval })
    } catch (error) {
      setFetching('')
      toastError(error)
    }
  }
  return (
    <>
      {fetching !== '' && <Progress fraction={fraction} label={`Fetching ${symbol} from ${fetching}`} />}
      <span class={s.offers}>
        {shown.map((exchange) => (
          <Button
            key={exchange}
            {...(exchanges.length === 1 && { variant: 'primary' as const })}
            disabled={fetching !== ''}
            onClick={() => void fetchFrom(exchange)}
          >
            Fetch {intervalText(interval)} from {exchange}
          </Button>
        ))}
        {shown.length < exchanges.length && (
          <Button disabled={fetching !== ''} onClick={() => setAllOf(symbol)}>
            Other exchanges ({exchanges.length - shown.length})
          </Button>
        )}
        {children}
      </span>
    </>
  )
}
