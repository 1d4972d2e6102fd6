// The palette (⌘K): commands, symbols, stored objects, help. Commands and symbols are found at once, the server's results a
// moment later.

import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { watchBackup } from '../account/watch-backup.ts'
import { call } from '../api-client.ts'
import { commands } from '../commands.ts'
import { keyText } from '../keys.ts'
import { Icon } from '../ui/icon.tsx'
import { allSymbols } from '../watchlists/quotes.ts'
import { paletteOpen, typedAhead } from './overlays.ts'
import { itemsFor, type Item, type Offered } from './palette-items.ts'
import s from './palette.module.css'

// The first page has no room for it, and this file comes a moment after it whatever happens.
watchBackup()

const ASK_DELAY_MS = 90
const NOTHING: Offered = { symbols: [], indicators: [], articles: [], hits: [], fitting: [] }

/** What there is to choose from, for what was typed so far. */
function useOffered(query: string): Offered {
  const [offered, setOffered] = useState(NOTHING)
  // When the server does not answer, commands and symbols are still found.
  const know = (part: Promise<Partial<Offered>>) =>
    void part.then(
      (known) => setOffered((before) => ({ ...before, ...known })),
      () => undefined,
    )
  useEffect(() => {
    know(allSymbols().then((symbols) => ({ symbols })))
    know(import('../studies/library.ts').then(({ LIBRARY }) => ({ indicators: LIBRARY })))
    know(call('GET /api/support/articles'))
  }, [])
  useEffect(() => {
    const q = query.trim().slice(0, 256)
    const abort = new AbortController()
    const { signal } = abort
    const ask = () => {
      know(
        call('GET /api/search', { query: { q, limit: 12 }, signal }).then(({ results: hits }) => ({ hits })),
      )
      const fitting = call('GET /api/support/articles', { query: { q }, signal })
      know(fitting.then(({ articles }) => ({ fitting: articles })))
    }
    if (q === '') know(Promise.resolve({ hits: [], fitting: [] }))
    const timer = q === '' ? undefined : setTimeout(ask, ASK_DELAY_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [query])
  return offered
}

export function Palette() {
  const [query, setQuery] = useState(typedAhead.peek())
  /** Key of the item one has chosen: it stays so when answers come. Null = the first, whichever that is. */
  const [selected, setSelected] = useState<string | null>(null)
  const list = useRef<HTMLDivElement>(null)
  const box = useRef<HTMLDivElement>(null)
  useFocusBack(box)
  const close = () => (paletteOpen.value = false)
  const offered = useOffered(query)
  const items = useMemo(() => itemsFor(query, offered), [query, offered, commands.value])
  const selectedAt = items.findIndex(({ key }) => key === selected)
  const at = Math.max(0, selectedAt)
  const run = (item: Item | undefined) => {
    if (!item) return
    close()
    item.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (event.key === 'Escape') close()
    else if (event.key === 'Enter') run(items[at])
    else if (event.key === 'Tab' || step !== 0) {
      const move = step !== 0 ? step : event.shiftKey ? -1 : 1
      const next = (at + move + items.length) % Math.max(1, items.length)
      setSelected(items[next]?.key ?? null)
      list.current?.querySelector(`#palette-${next}`)?.scrollIntoView({ block: 'nearest' })
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
  // Set both together: resetting the selection in an effect could undo an arrow key pressed right after the letter.
  const type = (text: string) => {
    setSelected(null)
    setQuery(text)
  }
  return (
    <div class={s.backdrop} onMouseDown={(event) => event.target === event.currentTarget && close()}>
      <div
        ref={box}
        class={s.box}
        role="dialog"
        aria-modal="true"
        aria-label="Search everything"
        onKeyDown={onKeyDown}
      >
        {queryField(query, items.length > 0 ? `palette-${at}` : undefined, type)}
        <div ref={list} id="palette-list" class={s.results} role="listbox" aria-label="Results" tabIndex={-1}>
          {items.length === 0 && <p class={s.none}>Nothing fits “{query}”.</p>}
          {items.map((item, i) => (
            <Result
              key={item.key}
              item={item}
              index={i}
              isFirst={item.group !== items[i - 1]?.group}
              isChosen={i === at}
              onPoint={() => i !== at && setSelected(item.key)}
              onRun={() => run(item)}
            />
          ))}
        </div>
        <div class={s.foot} aria-hidden="true">
          <span>↑ ↓ choose</span>
          <span>Enter open</span>
          <span>Esc close</span>
        </div>
      </div>
    </div>
  )
}

const focus = (element: HTMLElement | null): void => element?.focus()

const queryField = (text: string, chosen: string | undefined, onInput: (text: string) => void) => (
  <div class={s.query}>
    <Icon name="search" />
    <input
      ref={focus}
      role="combobox"
      aria-label="Search"
      aria-expanded="true"
      aria-controls="palette-list"
      aria-activedescendant={chosen}
      placeholder="Symbol, command, script, backtest, idea, help…"
      value={text}
      maxLength={256}
      autocomplete="off"
      spellcheck={false}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  </div>
)

/** What was chosen may have taken the focus to where it belongs now; else it goes back to where it was. */
function useFocusBack(box: { readonly current: HTMLElement | null }): void {
  // Asked before its own field takes the focus, which an effect would find there.
  const [before] = useState(() => document.activeElement as HTMLElement | null)
  // In a layout effect: who takes Esc at once may be before the other kind.
  useLayoutEffect(
    () => () => {
      const { activeElement: now, body } = document
      if (now === null || now === body || box.current?.contains(now)) before?.focus()
    },
    [],
  )
}

interface ResultProps {
  readonly item: Item
  readonly index: number
  /** Of its group, whose name stands above it. */
  readonly isFirst: boolean
  readonly isChosen: boolean
  readonly onPoint: () => void
  readonly onRun: () => void
}

const Result = ({ item, index, isFirst, isChosen, onPoint, onRun }: ResultProps) => (
  <div role="presentation">
    {isFirst && (
      <div class={s.group} role="presentation">
        {item.group}
      </div>
    )}
    <div
      id={`palette-${index}`}
      class={s.item}
      role="option"
      aria-selected={isChosen}
      onMouseMove={onPoint}
      onClick={onRun}
    >
      <Icon name={item.icon} />
      <span>
        <span class={s.title}>
          <Marked text={item.title} at={item.at} />
        </span>
        {item.note && <small>{item.note}</small>}
      </span>
      {item.keys ? <kbd>{keyText(item.keys)}</kbd> : <span class={s.side}>{item.side}</span>}
    </div>
  </div>
)

function Marked({ text, at }: { readonly text: string; readonly at: readonly number[] }) {
  if (at.length === 0) return <>{text}</>
  const marked = new Set(at)
  const parts: ComponentChildren[] = []
  for (let i = 0; i < text.length;) {
    const hit = marked.has(i)
    let end = i + 1
    while (end < text.length && marked.has(end) === hit) end++
    parts.push(hit ? <b key={i}>{text.slice(i, end)}</b> : text.slice(i, end))
    i = end
  }
  return <>{parts}</>
}
