// The rows of a watchlist: symbol, last price, change, and the last forty closes as a line.

import { useEffect } from 'preact/hooks'
import { percent, price, tone } from '../format.ts'
import { onLive } from '../live.ts'
import { navigate } from '../router.ts'
import { Button } from '../ui/ui.tsx'
import { market } from '../workspace.ts'
import { changeList, type Watchlist, type WatchlistItem } from './lists.ts'
import { attempt } from './page.tsx'
import { forgetQuote, loadQuotes, quoteKey, quotes, type Quote } from './quotes.ts'
import s from './watchlists.module.css'

/** Beyond this a list is not watched but kept. */
const QUOTED_MAX = 200

export function WatchlistRows({ list, wide = false }: { readonly list: Watchlist; readonly wide?: boolean }) {
  useEffect(() => {
    const load = () => attempt(loadQuotes(list.items.slice(0, QUOTED_MAX)))
    load()
    return onLive('bars', ({ symbol }) => {
      forgetQuote(symbol)
      load()
    })
  }, [list])
  const remove = (item: WatchlistItem) =>
    attempt(changeList(list.id, { items: list.items.filter((one) => one !== item) }))
  return (
    <ul class={s.rows} data-wide={wide} aria-label={list.name}>
      {list.items.map((item) => (
        <Row
          key={quoteKey(item)}
          item={item}
          quote={quotes.value.get(quoteKey(item))}
          onRemove={() => remove(item)}
          wide={wide}
        />
      ))}
    </ul>
  )
}

interface RowProps {
  readonly item: WatchlistItem
  /** undefined = not known yet, null = there are no bars. */
  readonly quote: Quote | null | undefined
  readonly onRemove: () => void
  readonly wide: boolean
}

function Row({ item, quote, onRemove, wide }: RowProps) {
  const { symbol } = item
  const exchange = item.exchange || quote?.exchange || ''
  const current = market.value.symbol === symbol && (exchange === '' || market.value.exchange === exchange)
  const open = () => {
    market.value = { exchange, symbol, interval: quote ? intervalFor(quote) : market.value.interval }
    if (wide) navigate(`/chart/${encodeURIComponent(`${exchange}:${symbol}`)}/${market.value.interval}`)
  }
  return (
    <li class={s.row} aria-current={current ? 'true' : undefined}>
      <button type="button" class={s.open} onClick={open} disabled={quote === null}>
        <span class={s.symbol}>
          <strong>{symbol}</strong>
          <small>{item.note ?? exchange}</small>
        </span>
        {wide && <Spark quote={quote} />}
        {quote ? (
          <span class={s.price}>
            <span class="num">{price(quote.last, quote.mintick)}</span>
            <span class={`num ${tone(quote.change)}`}>{percent(quote.change, { plus: true })}</span>
          </span>
        ) : (
          <span class={s.price}>
            <small>{quote === null ? 'No bars' : ''}</small>
          </span>
        )}
      </button>
      <Button
        size="small"
        variant="quiet"
        icon="close"
        label={`Remove ${symbol}`}
        class={s.remove ?? ''}
        onClick={onRemove}
      />
    </li>
  )
}

/** The chart keeps its interval where the quote's is no finer choice. */
const intervalFor = (quote: Quote): string =>
  quote.interval === '1d' ? market.value.interval : quote.interval

function Spark({ quote }: { readonly quote: Quote | null | undefined }) {
  if (!quote || quote.closes.length < 2) return <span class={s.spark} />
  const low = Math.min(...quote.closes)
  const span = Math.max(...quote.closes) - low || 1
  const points = quote.closes.map(
    (close, i) =>
      `${((i / (quote.closes.length - 1)) * 100).toFixed(1)},${(22 - ((close - low) / span) * 20).toFixed(1)}`,
  )
  const up = (quote.closes.at(-1) ?? 0) >= (quote.closes[0] ?? 0)
  return (
    <svg class={s.spark} viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke={up ? 'var(--up)' : 'var(--down)'}
        stroke-width="1.3"
        vector-effect="non-scaling-stroke"
      />
    </svg>
  )
}
