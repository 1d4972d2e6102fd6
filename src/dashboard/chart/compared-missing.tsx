// What the legend says of a compared symbol without bars, with the way to get some.

import { useState } from 'preact/hooks'
import { intervalText } from '../format.ts'
import { navigate } from '../router.ts'
import { Button, toastError } from '../ui/ui.tsx'
import type { Market } from '../charts.ts'
import s from './chart.module.css'
import { fetchMarket } from './fetch-market.ts'
import { useFetchable } from './fetch-symbol.tsx'

export function ComparedMissing({ of, about }: { readonly of: Market; readonly about: string }) {
  const { exchange, symbol, interval } = of
  const { exchanges, isKnown } = useFetchable(`${exchange}:${symbol}`)
  const [done, setDone] = useState<number | null>(null)
  const fetchThem = () => {
    setDone(0)
    // The chart hears of new bars by itself.
    fetchMarket(of, setDone)
      .catch(toastError)
      .finally(() => setDone(null))
  }
  return (
    <>
      <span class="down" title={about}>
        no bars at {intervalText(interval)}
      </span>
      {!isKnown ? null : exchanges.includes(exchange) ? (
        <Button size="small" class={s.fold ?? ''} disabled={done !== null} onClick={fetchThem}>
          {done === null ? `Fetch from ${exchange}` : `Fetching, ${Math.round(done * 100)}%`}
        </Button>
      ) : (
        <Button size="small" class={s.fold ?? ''} onClick={() => navigate('/markets/sources')}>
          Import bars
        </Button>
      )}
    </>
  )
}
