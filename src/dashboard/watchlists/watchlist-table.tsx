// The rows of a watchlist: symbol, last price, change, and the last forty closes as a line.
//
// Rows are put in order by dragging their handle, with Alt and the arrow keys, or from their menu. The order is the list's
// own, so it is stored with it.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { nameOf, count, price, time, tone, gain } from '../format.ts'
import { showsClock } from '../chart/bars.ts'
import { showMarket } from '../chart/chart-state.ts'
import { onLive } from '../live.ts'
import { Icon } from '../ui/icon.tsx'
import { openDialog } from '../ui/dialogs.tsx'
import { item as menuItem, Menu } from '../ui/menu.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Spark } from '../ui/spark.tsx'
import { Field } from '../ui/ui.tsx'
import { market } from '../workspace.ts'
import { arrange, moved, type Watchlist, type WatchlistItem } from './lists.ts'
import { attempt } from '../frame/page.tsx'
import { arePressed, keysForReaders, ownKeysShown } from '../own-keys.ts'
import { forgetQuote, loadQuotes, quotes, type Quote } from './quotes.ts'
import s from './watchlists.module.css'

/** Above this many rows, quotes are not requested for all of them. */
const QUOTED_MAX = 200
/** Rows drawn at first, and added each time one scrolls to their end: a list may have 5,000. */
const ROWS = 200
const NOTE_MAX = 1000

export function WatchlistRows({ list, wide = false }: { readonly list: Watchlist; readonly wide?: boolean }) {
  const rows = useRef<HTMLUListElement>(null)
  /** The row whose button gets the focus back: a row loses it when it is moved. */
  const focused = useRef('')
  const [said, setSaid] = useState('')
  const [shown, setShown] = useState(ROWS)
  const { order, dragged, grab } = useDrag(rows, list.items, (items) => save(items))
  useEffect(() => {
    const quoted = list.items.slice(0, QUOTED_MAX)
    const loadAgain = (changed: readonly Pick<WatchlistItem, 'symbol'>[]) => {
      for (const { symbol } of changed) forgetQuote(symbol)
      attempt(loadQuotes(quoted))
    }
    loadAgain([])
    return onLive(
      'bars',
      (bars) => loadAgain([bars]),
      () => loadAgain(quoted),
    )
  }, [list])
  useLayoutEffect(() => {
    if (focused.current === '') return
    const row = rows.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused.current)}"]`)
    row?.querySelector('button')?.focus()
    row?.scrollIntoView({ block: 'nearest' })
    focused.current = ''
  }, [list.items])

  const save = (items: readonly WatchlistItem[]) => {
    if (items !== list.items) attempt(arrange(list, items))
  }
  const move = (item: WatchlistItem, by: number) => {
    const to = list.items.indexOf(item) + by
    if (to < 0 || to >= list.items.length) return
    focused.current = nameOf(item)
    if (to >= shown) setShown(to + ROWS)
    setSaid(`${item.symbol} is number ${count(to + 1)} of ${count(list.items.length)} now.`)
    save(moved(list.items, to - by, to))
  }
  const remove = (at: number) => {
    const left = list.items.toSpliced(at, 1)
    const next = left[Math.min(at, left.length - 1)]
    focused.current = next ? nameOf(next) : ''
    save(left)
  }
  return (
    <>
      <ul ref={rows} class={s.rows} data-wide={wide} data-dragging={dragged !== null} aria-label={list.name}>
        {order.slice(0, shown).map((item, i) => (
          <Row
            key={nameOf(item)}
            item={item}
            quote={quotes.value.get(nameOf(item))}
            dragged={item === dragged}
            first={i === 0}
            last={i === order.length - 1}
            wide={wide}
            onGrab={(event) => grab(item, event)}
            onMove={(by) => move(item, by)}
            onNote={() => openDialog(<NoteDialog list={list} item={item} />)}
            onRemove={() => remove(i)}
          />
        ))}
        {order.length > shown && (
          <MoreRows left={order.length - shown} onMore={() => setShown((before) => before + ROWS)} />
        )}
      </ul>
      <span class="visually-hidden" role="status">
        {said}
      </span>
    </>
  )
}

/** Placed after the last row drawn; draws more when it comes into view. */
function MoreRows({ left, onMore }: { readonly left: number; readonly onMore: () => void }) {
  const end = useRef<HTMLLIElement>(null)
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && onMore())
    if (end.current) observer.observe(end.current)
    return () => observer.disconnect()
  }, [left])
  return (
    <li ref={end} class={s.row}>
      <button type="button" class={s.open} onClick={onMore}>
        <span class="muted">{count(left)} more</span>
      </button>
    </li>
  )
}

/** The order of the rows while one is dragged. Escape restores the old one. */
function useDrag(
  rows: { readonly current: HTMLElement | null },
  items: readonly WatchlistItem[],
  onDrop: (items: readonly WatchlistItem[]) => void,
) {
  const [state, setState] = useState<{ readonly item: WatchlistItem; readonly order: typeof items } | null>(
    null,
  )
  const grab = (item: WatchlistItem, down: PointerEvent) => {
    if (down.button !== 0) return
    down.preventDefault()
    let order = items
    setState({ item, order })
    const follow = ({ clientY }: PointerEvent) => {
      const boxes = [...(rows.current?.children ?? [])].map((row) => row.getBoundingClientRect())
      const under = boxes.findIndex(({ top, bottom }) => clientY >= top && clientY < bottom)
      const end = clientY < (boxes[0]?.top ?? 0) ? 0 : boxes.length - 1
      const from = order.indexOf(item)
      const to = under < 0 ? end : under
      if (to !== from) setState({ item, order: (order = moved(order, from, to)) })
      rows.current?.children[to]?.scrollIntoView({ block: 'nearest' })
    }
    const stop = (dropped: boolean) => {
      ended.abort()
      setState(null)
      if (dropped) onDrop(order)
    }
    // Listens on the window: the row moves while it is dragged, which would end a pointer capture.
    const ended = new AbortController()
    const { signal } = ended
    window.addEventListener('pointermove', follow, { signal })
    window.addEventListener('pointerup', () => stop(true), { signal })
    for (const kind of ['pointercancel', 'blur']) window.addEventListener(kind, () => stop(false), { signal })
    window.addEventListener(
      'keydown',
      (event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        stop(false)
      },
      { signal, capture: true },
    )
  }
  return { order: state?.order ?? items, dragged: state?.item ?? null, grab }
}

const keys = (act: string) => ({ hint: ownKeysShown(`watchlist:${act}`) })

interface RowProps {
  readonly item: WatchlistItem
  /** undefined = not known yet, null = there are no bars. */
  readonly quote: Quote | null | undefined
  readonly dragged: boolean
  readonly first: boolean
  readonly last: boolean
  readonly wide: boolean
  readonly onGrab: (event: PointerEvent) => void
  readonly onMove: (by: number) => void
  readonly onNote: () => void
  readonly onRemove: () => void
}

function Row({ item, quote, dragged, first, last, wide, onGrab, onMove, onNote, onRemove }: RowProps) {
  const { symbol, note } = item
  const exchange = item.exchange || quote?.exchange || ''
  const current = market.value.symbol === symbol && (exchange === '' || market.value.exchange === exchange)
  const open = () => {
    if (quote === null) return
    const next = { exchange, symbol, interval: quote ? intervalFor(quote) : market.value.interval }
    if (wide) showMarket(next)
    else market.value = next
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (arePressed(event, 'watchlist:up')) onMove(-1)
    else if (arePressed(event, 'watchlist:down')) onMove(1)
    else if (arePressed(event, 'watchlist:note')) onNote()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <li
      class={s.row}
      data-key={nameOf(item)}
      data-dragged={dragged}
      aria-current={current ? 'true' : undefined}
    >
      <button
        type="button"
        class={s.open}
        onClick={open}
        onKeyDown={onKeyDown}
        aria-disabled={quote === null}
        aria-keyshortcuts={keysForReaders(['watchlist:up', 'watchlist:down', 'watchlist:note'])}
      >
        <span class={s.symbol}>
          <strong>{symbol}</strong>
          <small title={note ?? undefined}>
            {wide ? [exchange, note].filter(Boolean).join(' · ') : (note ?? exchange)}
          </small>
        </span>
        {wide && <Spark values={quote?.closes ?? []} />}
        <span class={s.price}>
          {quote ? (
            <>
              <span class="num">{price(quote.last, quote.mintick)}</span>
              <span class={`num ${tone(quote.change)}`}>
                <DayOf quote={quote} /> {gain(quote.change)}
              </span>
            </>
          ) : (
            <small>{quote === null ? 'No bars' : ''}</small>
          )}
        </span>
      </button>
      <span class={s.grip} title="Drag to put in order" aria-hidden="true" onPointerDown={onGrab}>
        <Icon name="grip" size={14} />
      </span>
      <span class={s.more}>
        <Menu
          label={`More for ${symbol}`}
          size="small"
          items={[
            menuItem(note === null ? 'Add a note' : 'Edit the note', 'note', onNote, keys('note')),
            menuItem('Move up', 'up', () => onMove(-1), { ...keys('up'), disabled: first }),
            menuItem('Move down', 'down', () => onMove(1), { ...keys('down'), disabled: last }),
            '-',
            menuItem('Remove', 'trash', onRemove, { danger: true }),
          ]}
        />
      </span>
    </li>
  )
}

/** The day of a price that is not of today. */
function DayOf({ quote: { at, interval } }: { readonly quote: Quote }) {
  const day = time(at, 'UTC', false)
  if (day === time(Date.now(), 'UTC', false)) return null
  return <small title={`The bar of ${time(at, 'UTC', showsClock(interval))} UTC`}>{day}</small>
}

function NoteDialog({ list, item }: { readonly list: Watchlist; readonly item: WatchlistItem }) {
  // Find the row by its symbol: the list may have been loaded again since.
  const at = list.items.findIndex((one) => nameOf(one) === nameOf(item))
  const form = useForm({
    wire: { note: { kind: 'text', required: false, max: NOTE_MAX, lines: true } },
    start: { note: item.note ?? '' },
    async send(values) {
      const note = values.note.trim() === '' ? null : values.note.trim()
      if (at >= 0 && note !== item.note) await arrange(list, list.items.with(at, { ...item, note }))
    },
  })
  return (
    <FormDialog of={form} title={`Note on ${item.symbol}`} action="Save" width={440}>
      <Field
        label="Note"
        rows={4}
        autofocus
        hint="Why you watch it. Stands under the symbol, and in the exported file."
        {...form.field('note', { also: [`items/${at}`] })}
      />
    </FormDialog>
  )
}

/** The interval to open a symbol with: the chart's, unless the symbol has no daily bars, then that of its quote. */
const intervalFor = (quote: Quote): string =>
  quote.interval === '1d' ? market.value.interval : quote.interval
